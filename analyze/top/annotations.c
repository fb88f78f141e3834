/*
 * annotations.c - top_narrow_annotations of top.h: annotations on streams, as long as the work they cover.
 *
 * There are few annotations and much work: their moments are sorted, and each edge of work is laid between two of them. To sort
 * the edges was a seventh of `tpa top` of a .tpa file, and its peak of memory.
 */
#include "analyze/top/top.h"

#include "base/rows.h"
#include "base/search.h"

/* Kineto adds up to 1 us at an end; what is further from any other event of the stream is left as it is. */
enum { WIDENING_NS = 1000 };

/* Moments of the annotations of a stream, ascending, and the edges of work next to them. */
struct snaps {
    VEC_OF(int64_t);
    int64_t *before_ns; /* the last edge before each moment; INT64_MIN: there is none */
    int64_t *after_ns;  /* the first at or after it; INT64_MAX: there is none */
    /* The gap between two moments, [from, to), in which the edge added last lies, before moment LAST; edges of it so far */
    size_t last;
    int64_t from_ns, to_ns, first_ns, last_ns;
};

/* Where annotations of one stream begin and end. */
struct stream_snaps {
    struct snaps starts, ends;
};

/* All moments are there. */
static void snaps_sort(struct snaps *snaps, struct arena *arena)
{
    bool sorted = ALL_FROM(i, 1, snaps->count, snaps->at[i - 1] <= snaps->at[i]); /* most streams are */
    if (!sorted)
        SORT_NUMBERS(snaps->at, snaps->count);
    snaps->before_ns = arena_alloc(arena, mem_times(snaps->count + 1, sizeof *snaps->before_ns));
    snaps->after_ns = arena_alloc(arena, mem_times(snaps->count + 1, sizeof *snaps->after_ns));
    for (size_t i = 0; i < snaps->count; i++) {
        snaps->before_ns[i] = INT64_MIN;
        snaps->after_ns[i] = INT64_MAX;
    }
    snaps->from_ns = snaps->to_ns = INT64_MAX; /* no gap yet */
    snaps->first_ns = INT64_MAX;
    snaps->last_ns = INT64_MIN;
}

/* Note the edges of the gap with the moments on both sides of it. */
static void snaps_leave_gap(struct snaps *snaps)
{
    size_t i = snaps->last;
    if (i < snaps->count && snaps->last_ns > snaps->before_ns[i])
        snaps->before_ns[i] = snaps->last_ns;
    if (i > 0 && snaps->first_ns < snaps->after_ns[i - 1])
        snaps->after_ns[i - 1] = snaps->first_ns;
}

/* Find the gap of EDGE, mostly near the last one: look there first, in doubling steps. */
static void snaps_enter_gap(struct snaps *snaps, int64_t edge_ns)
{
    size_t low = snaps->last, high = low, step = 1, i;
    for (; low > 0 && snaps->at[low - 1] > edge_ns; step *= 2) {
        high = low - 1;
        low = high > step ? high - step : 0;
    }
    for (; high < snaps->count && snaps->at[high] <= edge_ns; step *= 2) {
        low = high + 1;
        high = snaps->count - low > step ? low + step : snaps->count;
    }
    SEARCH_BETWEEN(i, low, high, snaps->at[i] <= edge_ns);
    snaps->last = i;
    snaps->from_ns = i > 0 ? snaps->at[i - 1] : INT64_MIN;
    snaps->to_ns = i < snaps->count ? snaps->at[i] : INT64_MAX;
    snaps->first_ns = snaps->last_ns = edge_ns;
}

/* Work begins or ends at EDGE, mostly in the gap of the edge before. */
static inline void snaps_add(struct snaps *snaps, int64_t edge_ns)
{
    if (edge_ns < snaps->from_ns || edge_ns >= snaps->to_ns) {
        snaps_leave_gap(snaps);
        snaps_enter_gap(snaps, edge_ns);
        return;
    }
    snaps->first_ns = edge_ns < snaps->first_ns ? edge_ns : snaps->first_ns;
    snaps->last_ns = edge_ns > snaps->last_ns ? edge_ns : snaps->last_ns;
}

/* All edges are there: what has none of its own next to it has that of its neighbour. */
static void snaps_settle(struct snaps *snaps)
{
    snaps_leave_gap(snaps);
    for (size_t i = 1; i < snaps->count; i++)
        if (snaps->before_ns[i] < snaps->before_ns[i - 1])
            snaps->before_ns[i] = snaps->before_ns[i - 1];
    for (size_t i = snaps->count; i-- > 1;)
        if (snaps->after_ns[i - 1] > snaps->after_ns[i])
            snaps->after_ns[i - 1] = snaps->after_ns[i];
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

/* Annotations by event, and what of their tracks there is. */
struct annotations {
    VEC_OF(event_id);
    bool *wanted; /* by track: has it any? */
    struct stream_snaps *streams;
};

/* Those of torch's traces. */
static void find_annotations(const struct top_events *events, struct annotations *annotations)
{
    const struct trace *trace = events->trace;
    annotations->wanted =
        arena_zalloc(arena_of(annotations), trace->track_count + 1, sizeof *annotations->wanted);
    for (size_t next = 0; next < trace->event_count; next++) {
        const uint8_t *at = memchr(&trace->kind[next], EVENT_GPU_ANNOTATION, trace->event_count - next);
        if (!at)
            break;
        next = (size_t)(at - trace->kind);
        event_id e = (event_id)next;
        if (top_is_torch(events, e)) {
            annotations->wanted[trace->track[e]] = true;
            *VEC_PUSH(annotations) = e;
        }
    }
}

/* Lay the edges of work between the moments. What waits on the stream is not work: annotations span none of it. */
static void add_edges(const struct trace *trace, struct annotations *annotations)
{
    struct time_scan times;
    time_scan_begin(&times, trace);
    for (event_id e = 0; e < trace->event_count; e++) {
        track_id track = trace->track[e];
        if (!event_is_launched((enum event_kind)trace->kind[e]) || trace->kind[e] == EVENT_SYNC ||
            !annotations->wanted[track])
            continue;
        snaps_add(&annotations->streams[track].starts, time_scan_start_ns(&times, e));
        snaps_add(&annotations->streams[track].ends, time_scan_end_ns(&times, e));
    }
    for (track_id t = 0; t < trace->track_count; t++) {
        snaps_settle(&annotations->streams[t].starts);
        snaps_settle(&annotations->streams[t].ends);
    }
}

static void lay_edges(const struct trace *trace, struct annotations *annotations)
{
    struct arena *arena = arena_of(annotations);
    annotations->streams = arena_zalloc(arena, trace->track_count + 1, sizeof *annotations->streams);
    ARENA_OWNS_EACH(arena, annotations->streams, trace->track_count, starts);
    ARENA_OWNS_EACH(arena, annotations->streams, trace->track_count, ends);
    for (size_t i = 0; i < annotations->count; i++) {
        event_id e = annotations->at[i];
        *VEC_PUSH(&annotations->streams[trace->track[e]].starts) = trace_start_ns(trace, e);
        *VEC_PUSH(&annotations->streams[trace->track[e]].ends) = trace_end_ns(trace, e);
    }
    for (track_id t = 0; t < trace->track_count; t++) {
        snaps_sort(&annotations->streams[t].starts, arena);
        snaps_sort(&annotations->streams[t].ends, arena);
    }
    add_edges(trace, annotations);
}

struct narrowings top_narrow_annotations(const struct top_events *events)
{
    const struct trace *trace = events->trace;
    struct narrowings narrowings = { 0 };
    SCOPED_OBJECT struct annotations *annotations = arena_open(sizeof *annotations);
    ARENA_OWNS(arena_of(annotations), &annotations->at);
    find_annotations(events, annotations);
    if (annotations->count)
        lay_edges(trace, annotations);
    for (size_t i = 0; i < annotations->count; i++) {
        event_id e = annotations->at[i];
        const struct stream_snaps *of = &annotations->streams[trace->track[e]];
        int64_t start_ns = snap(&of->starts, trace_start_ns(trace, e)),
                end_ns = snap(&of->ends, trace_end_ns(trace, e));
        *VEC_PUSH(&narrowings) = (struct narrowed){ e, start_ns, end_ns > start_ns ? end_ns : start_ns };
    }
    return narrowings;
}
