/* finding_places.c - see finding_places.h. */
#include "summary/finding_places.h"

#include "base/quantity.h"
#include "base/runs.h"
#include "facts/attribution.h"
#include "facts/callers.h"
#include "facts/gpu_events.h"
#include "summary/findings.h"
#include <math.h>
#include <stdlib.h>

/* Whether an event is in the place may depend on its name alone, but names are few: each is asked once. */
struct place place_find(const struct trace *trace, place_holds *holds)
{
    struct place place = { .longest = EVENT_NONE, .name = NAME_NONE };
    int64_t *sums = mem_zalloc(names_count(trace->names) + 1, sizeof *sums);
    uint8_t *asked = mem_zalloc(names_count(trace->names) + 1, sizeof *asked);
    enum { NOT_ASKED, NO, YES };
    for (event_id e = 0; e < trace->event_count; e++) {
        uint8_t *answer = &asked[trace->name[e]];
        if (*answer == NOT_ASKED)
            *answer = holds(trace, e) ? YES : NO;
        if (*answer != YES)
            continue;
        sums[trace->name[e]] += trace_dur_ns(trace, e);
        place.all_ns += trace_dur_ns(trace, e);
        if (place.longest == EVENT_NONE || trace_dur_ns(trace, e) > trace_dur_ns(trace, place.longest))
            place.longest = e;
    }
    for (name_id id = 0; id < names_count(trace->names); id++)
        if (sums[id] > place.time_ns) {
            place.time_ns = sums[id];
            place.name = id;
        }
    free(sums);
    free(asked);
    return place;
}

/* "aten::copy_ (train.py(12): step)": the operator around E and its line, as far as they are recorded. */
void place_add_caller(const struct trace *trace, event_id e, struct buffer *out)
{
    const struct attribution *launches = attribution_of(trace);
    event_id call = event_on_device((enum event_kind)trace->kind[e]) ? attribution_call(launches, e) : e;
    if (call == EVENT_NONE)
        return;
    struct callers *callers = callers_open(trace, &call, 1);
    event_id op = callers_operator(callers, call);
    size_t len = 0;
    const char *line = callers_line(callers, call, &len);
    if (op != EVENT_NONE && op != e)
        buffer_printf(out, "%s%s", out->count ? ", mostly by " : "", trace_name(trace, op));
    if (line)
        buffer_printf(out, "%s%.*s", out->count ? ", " : "", (int)len, line);
    callers_free(callers);
}

/* "16 of 16 ranks, 37.0 to 42.4 %, worst rank 0": SHARES of the time of each rank. Nothing for a single one. */
void shares_add_ranks(const struct summary *summary, const double *shares, struct buffer *out)
{
    size_t worst = 0, found = 0;
    double least = INFINITY;
    if (summary->rank_count < 2)
        return;
    for (size_t r = 0; r < summary->rank_count; r++) {
        if (!(shares[r] >= FINDINGS_LEAST_SHARE))
            continue;
        found++;
        least = fmin(least, shares[r]);
        worst = shares[r] > shares[worst] ? r : worst;
    }
    if (found == 0)
        return;
    buffer_printf(out, "%s%zu of %zu ranks, %.1f", out->count ? "; " : "", found, summary->rank_count,
                  quantity_percent(least));
    if (shares[worst] > least)
        buffer_printf(out, " to %.1f", quantity_percent(shares[worst]));
    buffer_printf(out, " %%, worst rank %lld", (long long)summary->ranks[worst].rank);
}

/*
 * By rank, the share of its time that the events of HOLDS took; all 0 where there is one rank, of which nothing is
 * said. New; free(). HOLDS requests name and kind alone, so each pair is asked once: for every kernel it was a sixth
 * of `tpa summary`.
 */
double *shares_of_ranks(const struct summary *summary, place_holds *holds)
{
    const struct trace *trace = summary->trace;
    double *shares = mem_zalloc(summary->rank_count + 1, sizeof *shares);
    if (summary->rank_count < 2)
        return shares;
    enum { NOT_ASKED, NO, YES };
    uint8_t *asked = mem_zalloc(names_count(trace->names) + 1, EVENT_KINDS);
    for (event_id e = 0; e < trace->event_count; e++) {
        uint8_t *answer = &asked[(size_t)trace->name[e] * EVENT_KINDS + trace->kind[e]];
        if (*answer == NOT_ASKED)
            *answer = holds(trace, e) ? YES : NO;
        if (*answer == NO)
            continue;
        const struct summary_rank *rank =
            summary_rank_of(summary, selection_rank(trace, trace->tracks[trace->track[e]].file));
        if (rank && rank->time_ns > 0)
            shares[rank - summary->ranks] += (double)trace_dur_ns(trace, e) / (double)rank->time_ns;
    }
    free(asked);
    return shares;
}

/* By rank, the share of the span of its devices in which they idled for CAUSES. New; free(). */
double *shares_of_idle_time(const struct summary *summary, const enum gap_cause *causes, size_t count)
{
    double *shares = mem_zalloc(summary->rank_count + 1, sizeof *shares);
    double *spans = mem_zalloc(summary->rank_count + 1, sizeof *spans);
    for (size_t i = 0; i < summary->gpu->count; i++) {
        const struct summary_rank *rank = summary_rank_of(summary, summary->gpu->at[i].key.rank);
        if (rank)
            spans[rank - summary->ranks] += (double)summary->gpu->at[i].span_ns;
    }
    for (size_t i = 0; i < summary->gaps->cause_count; i++) {
        const struct gap_cause_row *row = &summary->gaps->causes[i];
        const struct summary_rank *rank = summary_rank_of(summary, row->key.rank);
        for (size_t c = 0; rank && c < count; c++)
            if (row->cause == causes[c] && spans[rank - summary->ranks] > 0)
                shares[rank - summary->ranks] += (double)row->time_ns / spans[rank - summary->ranks];
    }
    free(spans);
    return shares;
}

/* A time in which a device idled for a cause, on the clock of all ranks. */
struct pause {
    int64_t start_ns, end_ns;
};

static bool starts_later(const void *context, const void *a, const void *b)
{
    (void)context;
    return ((const struct pause *)a)->start_ns > ((const struct pause *)b)->start_ns;
}

/* Sorts PAUSES. */
static int64_t union_of(struct pause *pauses, size_t count)
{
    int64_t union_ns = 0, until_ns = INT64_MIN;
    runs_sort(pauses, count, sizeof *pauses, starts_later, NULL);
    for (size_t i = 0; i < count; i++) {
        int64_t start_ns = pauses[i].start_ns > until_ns ? pauses[i].start_ns : until_ns;
        if (pauses[i].end_ns > start_ns) {
            union_ns += pauses[i].end_ns - start_ns;
            until_ns = pauses[i].end_ns;
        }
    }
    return union_ns;
}

double share_of_idle_time(const struct summary *summary, const struct replay_graph *graph,
                          const enum gap_cause *causes, size_t count)
{
    const struct trace *trace = summary->trace;
    struct gaps_options options = gaps_defaults;
    options.min_ns = 0;
    options.in_order = true;
    const struct gaps *gaps = gaps_analyze(trace, summary->selection, BY(DEVICE), &options);
    struct pause *pauses = mem_alloc(mem_times(gaps->count + 1, sizeof *pauses));
    int64_t span_ns = 0;
    for (size_t i = 0; i < gaps->count; i++) {
        const struct gap *gap = &gaps->at[i];
        int64_t idle_ns = 0,
                end_ns = replay_time(graph, gpu_events_of(trace)->devices[gap->device].file, gap->end_ns);
        for (size_t c = 0; c < count; c++)
            idle_ns += gap->part_ns[causes[c]];
        pauses[i] = (struct pause){ end_ns - idle_ns, end_ns };
    }
    for (size_t i = 0; i < summary->gpu->count; i++)
        span_ns = summary->gpu->at[i].span_ns > span_ns ? summary->gpu->at[i].span_ns : span_ns;
    double share = span_ns > 0 ? (double)union_of(pauses, gaps->count) / (double)span_ns : 0;
    free(pauses);
    gaps_free(gaps);
    return share < 1 ? share : 1;
}

struct rank_excess rank_excess_of(const struct summary *summary, int64_t rank)
{
    const struct trace *trace = summary->trace;
    const double nearly_all = 0.8;
    struct rank_excess excess = { NAME_NONE, 0 };
    size_t name_count = names_count(trace->names), others = summary->rank_count - 1;
    double *own = mem_zalloc(name_count + 1, sizeof *own), *rest = mem_zalloc(name_count + 1, sizeof *rest);
    double most = 0;
    if (summary->rank_count < 2)
        others = 1;
    for (event_id e = 0; e < trace->event_count; e++) {
        bool is_own = selection_rank(trace, trace->tracks[trace->track[e]].file) == rank;
        (is_own ? own : rest)[trace->name[e]] += (double)trace_dur_ns(trace, e);
    }
    for (name_id id = 0; id < name_count; id++)
        most = fmax(most, own[id] - rest[id] / (double)others);
    for (name_id id = 0; id < name_count && most > 0; id++) {
        double longer = own[id] - rest[id] / (double)others;
        if (longer < nearly_all * most || (excess.name != NAME_NONE && own[id] > own[excess.name]))
            continue;
        excess = (struct rank_excess){ id, (int64_t)fmin(longer, 9.2e18) };
    }
    free(own);
    free(rest);
    return excess;
}

int64_t idle_time_for(const struct summary *summary, const enum gap_cause *causes, size_t count)
{
    int64_t sum_ns = 0;
    for (size_t c = 0; summary->gaps && c < count; c++)
        sum_ns += summary->gaps->part_ns[causes[c]];
    return sum_ns;
}
