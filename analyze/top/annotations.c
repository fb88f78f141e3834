/* annotations.c - top_narrow_annotations of counts.h: annotations on streams, as long as the work they cover. */
#include "analyze/top/counts.h"

#include "base/memory.h"
#include "base/search.h"
#include <stdlib.h>

/* Kineto adds up to 1 us at an end; what is further from any other event of the stream is left as it is. */
enum { WIDENING_NS = 1000 };

struct edges {
    VEC_OF(int64_t);
};

/* Where work begins and ends on one stream. What waits on the stream is no work: annotations span none of it. */
struct stream_edges {
    struct edges starts, ends;
};

static int compare_times(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return a < b ? -1 : a > b;
}

static void sort_edges(struct edges *edges)
{
    if (edges->count)
        qsort(edges->at, edges->count, sizeof *edges->at, compare_times);
}

/* The edge nearest to MOMENT, the earlier of two as near; MOMENT when none is near enough. */
static int64_t snap(const struct edges *edges, int64_t moment_ns)
{
    size_t low = search_from(edges->at, edges->count, moment_ns);
    int64_t best = moment_ns;
    uint64_t distance = WIDENING_NS + 1;
    if (low > 0 && (uint64_t)moment_ns - (uint64_t)edges->at[low - 1] < distance) {
        best = edges->at[low - 1];
        distance = (uint64_t)moment_ns - (uint64_t)best;
    }
    if (low < edges->count && (uint64_t)edges->at[low] - (uint64_t)moment_ns < distance)
        best = edges->at[low];
    return best;
}

struct narrowings top_narrow_annotations(const struct top_events *events)
{
    const struct trace *trace = events->trace;
    struct narrowings narrowings = { 0 };
    struct stream_edges *edges = mem_zalloc(trace->track_count + 1, sizeof *edges);
    bool *wanted = mem_zalloc(trace->track_count + 1, sizeof *wanted);
    bool any = false;
    for (event_id e = 0; e < trace->event_count; e++)
        if (trace->kind[e] == EVENT_GPU_ANNOTATION && top_is_torch(events, e))
            any = wanted[trace->track[e]] = true;
    for (event_id e = 0; any && e < trace->event_count; e++) {
        if (!event_is_launched((enum event_kind)trace->kind[e]) || trace->kind[e] == EVENT_SYNC ||
            !wanted[trace->track[e]])
            continue;
        struct stream_edges *of = &edges[trace->track[e]];
        *VEC_PUSH(&of->starts) = trace_start_ns(trace, e);
        *VEC_PUSH(&of->ends) = trace_end_ns(trace, e);
    }
    for (track_id t = 0; any && t < trace->track_count; t++) {
        sort_edges(&edges[t].starts);
        sort_edges(&edges[t].ends);
    }
    for (event_id e = 0; any && e < trace->event_count; e++) {
        if (trace->kind[e] != EVENT_GPU_ANNOTATION || !wanted[trace->track[e]])
            continue;
        const struct stream_edges *of = &edges[trace->track[e]];
        int64_t start_ns = snap(&of->starts, trace_start_ns(trace, e)),
                end_ns = snap(&of->ends, trace_end_ns(trace, e));
        *VEC_PUSH(&narrowings) = (struct narrowed){ e, start_ns, end_ns > start_ns ? end_ns : start_ns };
    }
    for (track_id t = 0; t < trace->track_count; t++) {
        VEC_FREE(&edges[t].starts);
        VEC_FREE(&edges[t].ends);
    }
    free(edges);
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
