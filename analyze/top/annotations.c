/*
 * annotations.c - top_narrow_annotations of counts.h: annotations on streams, as long as the work they cover.
 *
 * There are few annotations and much work: their moments are sorted, and each edge of work is laid between two of them. To sort
 * the edges was a seventh of `tpa top` of a .tpa file, and its peak of memory.
 */
#include "analyze/top/counts.h"

#include "base/memory.h"
#include "base/search.h"
#include <stdlib.h>

/* Kineto adds up to 1 us at an end; what is further from any other event of the stream is left as it is. */
enum { WIDENING_NS = 1000 };

/* Moments of the annotations of a stream, ascending, and the edges of work next to them. */
struct snaps {
    VEC_OF(int64_t);
    int64_t *before_ns; /* the last edge before each moment; INT64_MIN: there is none */
    int64_t *after_ns;  /* the first at or after it; INT64_MAX: there is none */
    size_t last;        /* where the edge added last lies */
};

/* Where annotations of one stream begin and end. */
struct stream_snaps {
    struct snaps starts, ends;
};

static int compare_times(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return a < b ? -1 : a > b;
}

/* All moments are there. */
static void snaps_sort(struct snaps *snaps)
{
    if (snaps->count)
        qsort(snaps->at, snaps->count, sizeof *snaps->at, compare_times);
    snaps->before_ns = mem_alloc(mem_times(snaps->count + 1, sizeof *snaps->before_ns));
    snaps->after_ns = mem_alloc(mem_times(snaps->count + 1, sizeof *snaps->after_ns));
    for (size_t i = 0; i < snaps->count; i++) {
        snaps->before_ns[i] = INT64_MIN;
        snaps->after_ns[i] = INT64_MAX;
    }
}

/* Work begins or ends at EDGE: note it with the moments on both sides of it. */
static void snaps_add(struct snaps *snaps, int64_t edge_ns)
{
    size_t i = snaps->last; /* the first moment behind the edge: mostly that of the edge before */
    bool fits = (i == 0 || snaps->at[i - 1] <= edge_ns) && (i == snaps->count || snaps->at[i] > edge_ns);
    if (!fits)
        SEARCH(i, snaps->count, snaps->at[i] <= edge_ns);
    snaps->last = i;
    if (i < snaps->count && edge_ns > snaps->before_ns[i])
        snaps->before_ns[i] = edge_ns;
    if (i > 0 && edge_ns < snaps->after_ns[i - 1])
        snaps->after_ns[i - 1] = edge_ns;
}

/* All edges are there: what has none of its own next to it has that of its neighbour. */
static void snaps_settle(struct snaps *snaps)
{
    for (size_t i = 1; i < snaps->count; i++)
        if (snaps->before_ns[i] < snaps->before_ns[i - 1])
            snaps->before_ns[i] = snaps->before_ns[i - 1];
    for (size_t i = snaps->count; i-- > 1;)
        if (snaps->after_ns[i - 1] > snaps->after_ns[i])
            snaps->after_ns[i - 1] = snaps->after_ns[i];
}

static void snaps_release(struct snaps *snaps)
{
    VEC_FREE(snaps);
    free(snaps->before_ns);
    free(snaps->after_ns);
}

/* The edge nearest to MOMENT, the earlier of two as near; MOMENT when none is near enough. */
static int64_t snap(const struct snaps *snaps, int64_t moment_ns)
{
    size_t i = search_from(snaps->at, snaps->count, moment_ns);
    int64_t best = moment_ns, before_ns = snaps->before_ns[i], after_ns = snaps->after_ns[i];
    uint64_t distance = WIDENING_NS + 1;
    if (before_ns != INT64_MIN && (uint64_t)moment_ns - (uint64_t)before_ns < distance) {
        best = before_ns;
        distance = (uint64_t)moment_ns - (uint64_t)best;
    }
    if (after_ns != INT64_MAX && (uint64_t)after_ns - (uint64_t)moment_ns < distance)
        best = after_ns;
    return best;
}

static bool is_annotation(const struct trace *trace, const bool *wanted, event_id e)
{
    return trace->kind[e] == EVENT_GPU_ANNOTATION && wanted[trace->track[e]];
}

/* Lay the edges of work between the moments. What waits on the stream is not work: annotations span none of it. */
static void add_edges(const struct trace *trace, const bool *wanted, struct stream_snaps *streams)
{
    for (event_id e = 0; e < trace->event_count; e++) {
        if (!event_is_launched((enum event_kind)trace->kind[e]) || trace->kind[e] == EVENT_SYNC ||
            !wanted[trace->track[e]])
            continue;
        snaps_add(&streams[trace->track[e]].starts, trace_start_ns(trace, e));
        snaps_add(&streams[trace->track[e]].ends, trace_end_ns(trace, e));
    }
    for (track_id t = 0; t < trace->track_count; t++) {
        snaps_settle(&streams[t].starts);
        snaps_settle(&streams[t].ends);
    }
}

struct narrowings top_narrow_annotations(const struct top_events *events)
{
    const struct trace *trace = events->trace;
    struct narrowings narrowings = { 0 };
    bool *wanted = mem_zalloc(trace->track_count + 1, sizeof *wanted);
    bool any = false;
    for (event_id e = 0; e < trace->event_count; e++)
        if (trace->kind[e] == EVENT_GPU_ANNOTATION && top_is_torch(events, e))
            any = wanted[trace->track[e]] = true;
    struct stream_snaps *streams = any ? mem_zalloc(trace->track_count + 1, sizeof *streams) : NULL;
    for (event_id e = 0; any && e < trace->event_count; e++)
        if (is_annotation(trace, wanted, e)) {
            *VEC_PUSH(&streams[trace->track[e]].starts) = trace_start_ns(trace, e);
            *VEC_PUSH(&streams[trace->track[e]].ends) = trace_end_ns(trace, e);
        }
    for (track_id t = 0; any && t < trace->track_count; t++) {
        snaps_sort(&streams[t].starts);
        snaps_sort(&streams[t].ends);
    }
    if (any)
        add_edges(trace, wanted, streams);
    for (event_id e = 0; any && e < trace->event_count; e++) {
        if (!is_annotation(trace, wanted, e))
            continue;
        const struct stream_snaps *of = &streams[trace->track[e]];
        int64_t start_ns = snap(&of->starts, trace_start_ns(trace, e)),
                end_ns = snap(&of->ends, trace_end_ns(trace, e));
        *VEC_PUSH(&narrowings) = (struct narrowed){ e, start_ns, end_ns > start_ns ? end_ns : start_ns };
    }
    for (track_id t = 0; any && t < trace->track_count; t++) {
        snaps_release(&streams[t].starts);
        snaps_release(&streams[t].ends);
    }
    free(streams);
    free(wanted);
    return narrowings;
}

void top_device_time(const struct trace *trace, const struct narrowings *narrowings, size_t *next, event_id e,
                     int64_t *start_ns, int64_t *end_ns)
{
    while (*next < narrowings->count && narrowings->at[*next].event < e)
        ++*next;
    bool is_narrowed = *next < narrowings->count && narrowings->at[*next].event == e;
    *start_ns = is_narrowed ? narrowings->at[*next].start_ns : trace_start_ns(trace, e);
    *end_ns = is_narrowed ? narrowings->at[*next].end_ns : trace_end_ns(trace, e);
}
