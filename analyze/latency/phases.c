/*
 * phases.c - steps of serving engines: prefill, decode, mixed.
 *
 * The outermost annotation that marks a step is the step; those within it on its thread only supply what it lacks. The
 * host runs ahead: a step lasts until the last work that it launched has ended, and begins no earlier than the one before
 * it on its thread ended.
 */
#include "analyze/latency/latency.h"

#include "base/rows.h"
#include "base/sum.h"
#include "derive/async_regions.h"
#include <assert.h>
#include <math.h>

struct phase_step {
    event_id event;
    struct serving_step step;
    int64_t start_ns, end_ns, busy_ns;
    uint32_t group;
    bool has_work; /* does the file? */
};

struct phase_query {
    const struct trace *trace;
    struct activity *activity;
    const struct selection *selection;
    struct group *group;
    struct phases *phases;
    VEC_OF(struct phase_step) steps;
};

/* Every annotation that marks a step; each name is examined once. */
static void find_annotations(struct phase_query *query)
{
    enum { NOT_CHECKED, NOT_STEP, IS_STEP };
    const struct trace *trace = query->trace;
    size_t count = names_count(trace->names);
    SCOPED uint8_t *known = mem_zalloc(count + 1, 1);
    SCOPED struct serving_step *of_name = mem_alloc(mem_times(count + 1, sizeof *of_name));
    for (event_id e = 0; e < trace->event_count; e++) {
        name_id name = trace->name[e];
        if (trace->kind[e] != EVENT_ANNOTATION || trace->flags[e] & (EVENT_POINT | EVENT_NO_DURATION) ||
            region_was_open(trace, e))
            continue;
        if (known[name] == NOT_CHECKED)
            known[name] =
                serving_step_of(names_text(trace->names, name), &of_name[name]) ? IS_STEP : NOT_STEP;
        if (known[name] == IS_STEP && selection_holds(query->selection, e))
            *VEC_PUSH(&query->steps) = (struct phase_step){ .event = e, .step = of_name[name] };
    }
    SORT_BY(query->steps.at, query->steps.count, i, ~trace_dur_ns(trace, query->steps.at[i].event));
    SORT_BY(query->steps.at, query->steps.count, i, trace_start_ns(trace, query->steps.at[i].event));
    SORT_BY(query->steps.at, query->steps.count, i, trace->track[query->steps.at[i].event]);
}

/* Keep the outermost; those within complete them. */
static void drop_inner(struct phase_query *query)
{
    const struct trace *trace = query->trace;
    size_t kept = 0;
    FOR_EACH(step, &query->steps) {
        struct phase_step *outer = kept ? &query->steps.at[kept - 1] : NULL;
        if (outer && trace->track[outer->event] == trace->track[step->event] &&
            trace_start_ns(trace, step->event) < trace_end_ns(trace, outer->event)) {
            if (outer->step.tokens < 0)
                outer->step.tokens = step->step.tokens;
            continue;
        }
        query->steps.at[kept++] = *step;
    }
    query->steps.count = kept;
}

/* When the step ran, and how long the devices worked for it meanwhile. */
static void time_step(struct phase_query *query, struct phase_step *step, const struct phase_step *before,
                      struct intervals *busy)
{
    const struct trace *trace = query->trace;
    struct activity *activity = query->activity;
    track_id thread = trace->track[step->event];
    step->start_ns = trace_start_ns(trace, step->event);
    step->end_ns = trace_end_ns(trace, step->event);
    step->has_work = activity->has_work[trace->tracks[thread].file];
    size_t first, end = activity_operations(activity, thread, step->start_ns, step->end_ns, &first);
    intervals_clear(busy);
    for (size_t i = first; i < end; i++) {
        event_id work = activity->gpu->event[activity->operations[i]];
        int64_t end_ns = trace_end_ns(trace, work);
        intervals_add(busy, trace_start_ns(trace, work), end_ns);
        step->end_ns = end_ns > step->end_ns ? end_ns : step->end_ns;
    }
    if (before && trace->track[before->event] == thread && before->end_ns > step->start_ns)
        step->start_ns = before->end_ns < step->end_ns ? before->end_ns : step->end_ns;
    intervals_merge(busy);
    step->busy_ns = intervals_length_within(busy, step->start_ns, step->end_ns);
}

/* ---- rows ---- */

static void add_step(struct phase_row *row, const struct phase_step *step)
{
    int64_t wall_ns = step->end_ns - step->start_ns, batch = step->step.requests;
    row->least_batch = row->steps == 0 || batch < row->least_batch ? batch : row->least_batch;
    row->most_batch = row->steps == 0 || batch > row->most_batch ? batch : row->most_batch;
    row->steps++;
    sum_add(&row->requests, batch);
    if (step->step.tokens < 0)
        row->tokens = TABLE_INT_MISSING;
    else if (row->tokens != TABLE_INT_MISSING)
        sum_add(&row->tokens, step->step.tokens);
    sum_add(&row->wall_ns, wall_ns);
    if (!step->has_work) {
        row->busy_ns = row->idle_ns = TABLE_INT_MISSING;
    } else if (row->busy_ns != TABLE_INT_MISSING) {
        sum_add(&row->busy_ns, step->busy_ns);
        sum_add(&row->idle_ns, wall_ns - step->busy_ns);
    }
}

static int64_t per(int64_t ns, int64_t count)
{
    return count > 0 ? ns / count + (2 * (ns % count) >= count) : TABLE_INT_MISSING;
}

static void finish_row(struct phase_row *row)
{
    bool known = row->tokens != TABLE_INT_MISSING;
    row->mean_batch = (double)row->requests / (double)row->steps;
    row->step_ns = per(row->wall_ns, row->steps);
    row->token_ns = known ? per(row->wall_ns, row->tokens) : TABLE_INT_MISSING;
    row->tokens_per_second =
        known && row->wall_ns > 0 ? (double)row->tokens / (double)row->wall_ns * 1e9 : NAN;
}

static const struct key by_group_phase_requests[] = { ASC(struct phase_step, group),
                                                      ASC(struct phase_step, step.phase),
                                                      ASC(struct phase_step, step.requests), KEY_END };

static struct phase_row new_row(struct group *group, const struct phase_step *step, int64_t batch)
{
    const char *phase = serving_phase_name(step->step.phase);
    return (struct phase_row){ .key = group_key(group, step->group),
                               .phase = { phase, strlen(phase) },
                               .batch = batch };
}

static void add_rows(struct phase_query *query)
{
    struct phases *phases = query->phases;
    SORT(&query->steps, by_group_phase_requests);
    for (size_t i = 0; i < query->steps.count; i++) {
        const struct phase_step *step = &query->steps.at[i], *before = i ? step - 1 : NULL;
        bool same = before && before->group == step->group && before->step.phase == step->step.phase;
        if (!same)
            *VEC_PUSH(&phases->all) = new_row(query->group, step, TABLE_INT_MISSING);
        if (!same || before->step.requests != step->step.requests)
            *VEC_PUSH(&phases->batches) = new_row(query->group, step, step->step.requests);
        add_step(&phases->all.at[phases->all.count - 1], step);
        add_step(&phases->batches.at[phases->batches.count - 1], step);
    }
    for (size_t i = 0; i < phases->all.count; i++)
        finish_row(&phases->all.at[i]);
    for (size_t i = 0; i < phases->batches.count; i++)
        finish_row(&phases->batches.at[i]);
}

/* Steps lie by group and phase, as the rows do. */
static void choose_example(struct phase_query *query)
{
    const struct phases *phases = query->phases;
    size_t most = 0, first = 0;
    for (size_t i = 1; i < phases->all.count; i++)
        most = phases->all.at[i].wall_ns > phases->all.at[most].wall_ns ? i : most;
    if (phases->all.count == 0)
        return;
    for (size_t i = 0; i < most; i++)
        first += (size_t)phases->all.at[i].steps;
    size_t count = (size_t)phases->all.at[most].steps;
    if (count == 0)
        return;
    assert(query->steps.at);
    struct phase_step *own = query->steps.at + first;
    SORT_BY(own, count, i, own[i].end_ns - own[i].start_ns);
    const struct phase_step *median = &own[(count - 1) / 2];
    query->phases->example = (struct phase_example){ .event = median->event,
                                                     .phase = serving_phase_name(median->step.phase),
                                                     .requests = median->step.requests,
                                                     .start_ns = median->start_ns,
                                                     .end_ns = median->end_ns };
}

void phases_find(struct phases *phases, struct activity *activity, const struct selection *selection,
                 struct group *group)
{
    struct phase_query query = { .trace = activity->trace,
                                 .activity = activity,
                                 .selection = selection,
                                 .group = group,
                                 .phases = phases };
    SCOPED_BY(intervals_release) struct intervals busy = { 0 };
    find_annotations(&query);
    drop_inner(&query);
    for (size_t i = 0; i < query.steps.count; i++) {
        time_step(&query, &query.steps.at[i], i ? &query.steps.at[i - 1] : NULL, &busy);
        query.steps.at[i].group = group_of(group, EVENT_NONE, EVENT_NONE, query.steps.at[i].event);
    }
    add_rows(&query);
    choose_example(&query);
    VEC_FREE(&query.steps);
}
