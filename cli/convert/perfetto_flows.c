/* perfetto_flows.c - see perfetto_flows.h. */
#include "cli/convert/perfetto_flows.h"

#include "base/runs.h"
#include "base/search.h"
#include "facts/attribution.h"
#include "facts/collective_matches.h"
#include <stdlib.h>
#include <string.h>

static void add_flow(struct perfetto_flows *flows, uint64_t id, event_id from, event_id to)
{
    *VEC_PUSH(flows) = (struct perfetto_flow_end){ from, id };
    *VEC_PUSH(flows) = (struct perfetto_flow_end){ to, id };
    flows->arrows++;
}

static uint64_t flow_id(int kind, uint64_t number)
{
    return (uint64_t)kind << FLOW_KIND_SHIFT | number;
}

static void add_launches(struct perfetto_flows *flows, const struct trace *trace, uint64_t *next)
{
    struct attribution *launches = attribution_open(trace);
    for (event_id e = 0; e < trace->event_count; e++) {
        event_id call = event_is_launched(trace->kind[e]) ? attribution_call(launches, e) : EVENT_NONE;
        if (call != EVENT_NONE)
            add_flow(flows, flow_id(FLOW_LAUNCH, *next + e), call, e);
    }
    attribution_free(launches);
    *next += trace->event_count;
}

/* One end of an arrow of the trace. */
struct arrow_end {
    int64_t id, ts_ns;
    track_id track;
    uint32_t file;
    char phase;
};

static int compare_arrow_ends(const void *left, const void *right)
{
    const struct arrow_end *a = left, *b = right;
    if (a->file != b->file)
        return a->file < b->file ? -1 : 1;
    if (a->id != b->id)
        return a->id < b->id ? -1 : 1;
    return a->ts_ns < b->ts_ns ? -1 : a->ts_ns > b->ts_ns;
}

/* A BEGIN of the plan by place and time. */
struct begin_at {
    track_id track;
    event_id event;
    int64_t start_ns;
};

static int compare_begins(const void *left, const void *right)
{
    const struct begin_at *a = left, *b = right;
    if (a->track != b->track)
        return a->track < b->track ? -1 : 1;
    return a->start_ns < b->start_ns ? -1 : a->start_ns > b->start_ns;
}

/* The operator at an end of an arrow: the one that begins there. */
static event_id event_of(const struct begin_at *begins, size_t count, const struct arrow_end *end)
{
    struct begin_at key = { .track = end->track, .start_ns = end->ts_ns };
    const struct begin_at *found = count ? bsearch(&key, begins, count, sizeof key, compare_begins) : NULL;
    return found ? found->event : EVENT_NONE;
}

/* Arrows of the trace other than from a launch: from forward to backward. They point to the beginnings of operators. */
static void add_backward(struct perfetto_flows *flows, const struct trace *trace, uint64_t *next)
{
    VEC_OF(struct arrow_end) ends = { 0 };
    VEC_OF(struct begin_at) begins = { 0 };
    for (size_t i = 0; i < trace->flow_count; i++) {
        const struct trace_flow flow = trace_flow(trace, i);
        if (strncmp(names_text(trace->texts, flow.category), "fwdbwd", 6) == 0)
            *VEC_PUSH(&ends) = (struct arrow_end){ flow.id, flow.ts_ns, flow.track,
                                                   trace->tracks[flow.track].file, flow.phase };
    }
    for (event_id e = 0; e < trace->event_count && ends.count; e++)
        if (trace->kind[e] == EVENT_OP)
            *VEC_PUSH(&begins) = (struct begin_at){ trace->track[e], e, trace_start_ns(trace, e) };
    if (begins.count)
        qsort(begins.at, begins.count, sizeof *begins.at, compare_begins);
    if (ends.count)
        qsort(ends.at, ends.count, sizeof *ends.at, compare_arrow_ends);
    for (size_t i = 0; i + 1 < ends.count; i++) {
        const struct arrow_end *from = &ends.at[i], *to = from + 1;
        if (from->phase != 's' || to->id != from->id || to->file != from->file)
            continue;
        event_id a = event_of(begins.at, begins.count, from), b = event_of(begins.at, begins.count, to);
        if (a != EVENT_NONE && b != EVENT_NONE)
            add_flow(flows, flow_id(FLOW_BACKWARD, *next + i), a, b);
    }
    *next += ends.count;
    VEC_FREE(&ends);
    VEC_FREE(&begins);
}

static bool is_later_flow(const void *context, const void *left, const void *right)
{
    (void)context;
    const struct perfetto_flow_end *a = left, *b = right;
    return a->event > b->event || (a->event == b->event && a->id > b->id);
}

static void sort_flows(struct perfetto_flows *flows)
{
    if (flows->count)
        runs_sort(flows->at, flows->count, sizeof *flows->at, is_later_flow, NULL);
}

void perfetto_flows_find(struct perfetto_flows *flows, const struct trace *trace,
                         struct perfetto_flow_ids *ids, const struct perfetto_flows *collectives)
{
    add_launches(flows, trace, &ids->launch);
    add_backward(flows, trace, &ids->backward);
    for (size_t i = 0; i < collectives->count; i++)
        *VEC_PUSH(flows) = collectives->at[i];
    sort_flows(flows);
}

/* One collective on all ranks: from the first of its members to each of the others. */
void perfetto_flows_between(struct perfetto_flows *flows, const struct collectives *all)
{
    struct collective_matches *matches = collective_matches_open(all);
    for (size_t m = 0; m < matches->count; m++) {
        const struct collective_match *match = &matches->at[m];
        for (size_t i = 0; i < match->count; i++)
            *VEC_PUSH(flows) = (struct perfetto_flow_end){ all->at[matches->member[match->first + i]].event,
                                                           flow_id(FLOW_COLLECTIVE, m) };
        flows->arrows++;
    }
    collective_matches_free(matches);
    sort_flows(flows);
}

size_t perfetto_flows_first(const struct perfetto_flows *flows, event_id e)
{
    size_t i;
    SEARCH(i, flows->count, flows->at[i].event < e);
    return i;
}

void perfetto_flows_release(struct perfetto_flows *flows)
{
    VEC_FREE(flows);
}
