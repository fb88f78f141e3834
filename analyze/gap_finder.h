/*
 * gap_finder.h - the gaps between the work of a device one by one, each split into parts with one cause each.
 *
 *     static void add(void *sum_ns, const struct gap *gap)
 *     {
 *         *(int64_t *)sum_ns += gap->part_ns[GAP_HOST];
 *     }
 *
 *     struct gap_finder *finder = gap_finder_open(trace, selection, 0, GAP_LATENCY_BELOW_NS);
 *     for (uint32_t d = 0; d < gpu_events_of(trace)->device_count; d++)
 *         gap_finder_visit(finder, d, add, &sum_ns);
 *     arena_free(finder);
 *
 * For who keeps little of a gap: a trace may have as many gaps as kernels. gaps.h adds them up and lists them.
 */
#ifndef TPA_ANALYZE_GAP_FINDER_H
#define TPA_ANALYZE_GAP_FINDER_H

#include "analyze/selection.h"
#include "base/chart.h"
#include "derive/host_state.h"

enum gap_phase { GAP_BEFORE_CALL, GAP_IN_CALL, GAP_AFTER_CALL, GAP_PHASES };

/*
 * Causes of parts of a gap, in the order of the phases: before the call (activities of its thread), in the call, after
 * the call, any. Columns of a row:
 *
 *     id, whose time, word in tables, word in the columns of tpa facts, colour (its own on every page: idle time is
 *     hatched, so that those of what runs can be used, too; CHART_COLOR_OF_IDLE is that of causes without a name),
 *     what it means, what the verdict of tpa summary says
 */
/* clang-format off */
#define GAP_CAUSE_ROWS(ROW) \
    ROW(HOST, GAP_OF_HOST, "host", "host", CHART_COLOR_OF_HOST, \
        "the host had not launched the next work yet: it was in Python or in operators", \
        "the host is in Python or in operators and launches too late") \
    ROW(DATA_LOADING, GAP_OF_LOADING, "data loading", "data_loading", CHART_COLOR_OF_LOADING, \
        "the host waited for the next batch", \
        "the host waits for the next batch") \
    /* also in the call, if that is a blocking copy itself */ \
    ROW(SYNCHRONIZATION, GAP_OF_HOST, "synchronisation", "synchronization", CHART_COLOR_OF_WAITING, \
        "the host was in a synchronization or a blocking copy", \
        "the host waits for the GPU or for a blocking copy") \
    ROW(ALLOCATION, GAP_OF_HOST, "allocation", "allocation", CHART_BROWN, \
        "the host was allocating or freeing memory", \
        "the host allocates or frees memory") \
    ROW(COMMUNICATION, GAP_OF_HOST, "communication", "communication", CHART_COLOR_OF_COMMUNICATION, \
        "the host was in a communication operator: it enqueued a collective or waited for one", \
        "the host is in a communication operator") \
    ROW(LAUNCH_CALL, GAP_OF_HOST, "launch call", "launch_call", CHART_COLOR_OF_CALLS, \
        "the call that launched the next work was running", \
        "the launch call itself takes long") \
    ROW(FIRST_USE, GAP_OF_HOST, "first use", "first_use", CHART_PURPLE, \
        "so it was, for long, at the first launch of this kernel: its code was loaded", \
        "code of kernels is loaded at their first launch") \
    ROW(LAUNCH_LATENCY, GAP_OF_HOST, "launch latency", "launch_latency", CHART_OLIVE, \
        "the next work was queued and started shortly after", \
        "the host launches work too slowly to keep ahead of the device") \
    ROW(STREAM_WAIT, GAP_OF_DEVICE, "stream wait", "stream_wait", CHART_AZURE, \
        "the next work was queued behind a wait of its stream for an event", \
        "a stream waits for an event of work that is not in the file, or of another device") \
    /* the call had launched other work already: both are nodes of a graph */ \
    ROW(GRAPH, GAP_OF_DEVICE, "graph", "graph", CHART_BLUE, \
        "the next work is a node of a graph that was running", \
        "the time passes between the nodes of a graph") \
    ROW(QUEUED, GAP_OF_DEVICE, "queued", "queued", CHART_GREY, \
        "the next work was queued for long; the trace does not record why", \
        "work is queued, and the trace does not record why") \
    ROW(PROFILER, GAP_OF_HOST, "profiler overhead", "profiler", CHART_GREEN, \
        "the profiler itself was at work", \
        "the profiler itself is at work") \
    ROW(UNKNOWN, GAP_OF_DEVICE, "unknown", "unknown", CHART_COLOR_OF_IDLE, \
        "the call that launched the next work is not in the file", \
        "the call that launched the next work is not in the file")
/* clang-format on */

#define GAP_CAUSE_ID(id, ...) GAP_##id,
enum gap_cause { GAP_CAUSE_ROWS(GAP_CAUSE_ID) GAP_CAUSES };

/* To whom tpa fleet attributes a cause. */
enum gap_owner { GAP_OF_HOST, GAP_OF_LOADING, GAP_OF_DEVICE };

struct gap_cause_info {
    enum gap_owner owner;
    const char *name; /* "data loading" */
    enum chart_color color;
    const char *meaning, *verdict;
};
extern const struct gap_cause_info gap_causes[GAP_CAUSES];

struct gap {
    int64_t start_ns, end_ns;
    event_id before, after; /* the work that ended last before the gap; the work after it */
    event_id call, op; /* call and operator that launched the work after; EVENT_NONE if not in the file */
    uint32_t device;   /* of gpu_events_of(trace)->devices */
    int64_t phase_ns[GAP_PHASES]; /* they add up to the length; all 0 if CALL is unknown */
    int64_t part_ns[GAP_CAUSES];  /* they add up to the length */
    enum gap_cause cause;         /* of the largest part */
    event_id
        wait; /* of GAP_STREAM_WAIT: the call that made the stream of AFTER wait for an event; else EVENT_NONE */
    /* The main event of the longest interval of the largest part, on the thread of the call: before and in the call,
     * the innermost call, operator, annotation or Python function that covers at least half of it; for a stream wait,
     * WAIT; else EVENT_NONE. */
    event_id meanwhile;
    struct text line; /* of source, if stacks were recorded */
};

/* Queued work that starts within this after its call returned had launch latency, if not told otherwise. */
enum { GAP_LATENCY_BELOW_NS = 30000 };

struct gap_finder;

/* What gets the gaps; GAP is borrowed until it returns. MEANWHILE and LINE are not known yet. */
typedef void gap_taker(void *context, const struct gap *gap);

/* New; free with arena_free. For the gaps between the work of SELECTION (NULL: all), which is borrowed, that take at
 * least MIN_NS. LATENCY_BELOW_NS: see gaps_options. */
struct gap_finder *gap_finder_open(const struct trace *trace, const struct selection *selection,
                                   int64_t min_ns, int64_t latency_below_ns);

/* Let TAKE have the gaps of DEVICE, an index into gpu_events.devices, by time. Devices in order, each once at most. */
void gap_finder_visit(struct gap_finder *finder, uint32_t device, gap_taker *take, void *context);

/* The same with the gaps of each stream, stream after stream as gpu_streams_open orders them. */
void gap_finder_visit_streams(struct gap_finder *finder, gap_taker *take, void *context);

/* For a gap_taker, of the gap that it has: the parts of GAP within [START, END), added to PART_NS. The parts of stretches that make up
 * the gap add up to those of the gap. */
void gap_finder_split(const struct gap_finder *finder, const struct gap *gap, int64_t start_ns,
                      int64_t end_ns, int64_t part_ns[GAP_CAUSES]);

/* The starts of the phases of GAP, whose call is known, and its end. */
void gap_edges(const struct trace *trace, const struct gap *gap, int64_t edge_ns[GAP_PHASES + 1]);

/* The cause of the time in which the thread of the call did this. */
extern const enum gap_cause gap_cause_of_activity[HOST_ACTIVITIES];

#endif
