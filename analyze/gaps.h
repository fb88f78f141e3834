/*
 * gaps.h - why a device was idle: every gap, split into parts with one cause each.
 *
 *     struct gaps *gaps = gaps_analyze(trace, selection, BY(DEVICE), &gaps_defaults);
 *     printf("%" PRId64 "\n", gaps->part_ns[GAP_HOST]);
 *     gaps_free(gaps);
 *
 * A gap is the time between two operations of a device (of a stream, with BY(STREAM)). The call that launched the work
 * after it cuts it into three phases, each of which may be empty:
 *
 *              gap
 *     work ][  before the call  [ in the call ]  after the call  [ work
 *              the host was late               the work was queued
 *
 * docs/definitions.md has the rule of each cause. The parts of a gap add up to its length.
 */
#ifndef TPA_ANALYZE_GAPS_H
#define TPA_ANALYZE_GAPS_H

#include "analyze/analysis.h"
#include "base/chart.h"

extern const struct trace_wants gaps_wants;

enum gap_phase { GAP_BEFORE_CALL, GAP_IN_CALL, GAP_AFTER_CALL, GAP_PHASES };

/*
 * Causes of parts of a gap, in the order of the phases: before the call (activities of its thread), in the call, after
 * the call, any. Columns of a row:
 *
 *     id, whose time, word in tables, word in the columns of tpa facts, colour,
 *     what it means, what the verdict of tpa summary says
 */
/* clang-format off */
#define GAP_CAUSE_ROWS(ROW) \
    ROW(HOST, GAP_OF_HOST, "host", "host", CHART_COLOR_OF_HOST, \
        "the host had not launched the next work yet: it was in Python or in operators", \
        "the host is in Python or in operators and launches too late") \
    ROW(DATA_LOADING, GAP_OF_LOADING, "data loading", "data_loading", CHART_PURPLE, \
        "the host waited for the next batch", \
        "the host waits for the next batch") \
    /* also in the call, if that is a blocking copy itself */ \
    ROW(SYNCHRONIZATION, GAP_OF_HOST, "synchronisation", "synchronization", CHART_OLIVE, \
        "the host was in a synchronization or a blocking copy", \
        "the host waits for the GPU or for a blocking copy") \
    ROW(ALLOCATION, GAP_OF_HOST, "allocation", "allocation", CHART_ORANGE, \
        "the host was allocating or freeing memory", \
        "the host allocates or frees memory") \
    ROW(COMMUNICATION, GAP_OF_HOST, "communication", "communication", CHART_GREY, \
        "the host was in a communication operator: it enqueued a collective or waited for one", \
        "the host is in a communication operator") \
    ROW(LAUNCH_CALL, GAP_OF_HOST, "launch call", "launch_call", CHART_ORANGE, \
        "the call that launched the next work was running", \
        "the launch call itself takes long") \
    ROW(FIRST_USE, GAP_OF_HOST, "first use", "first_use", CHART_PURPLE, \
        "so it was, for long, at the first launch of this kernel: its code was loaded", \
        "code of kernels is loaded at their first launch") \
    ROW(LAUNCH_LATENCY, GAP_OF_HOST, "launch latency", "launch_latency", CHART_OLIVE, \
        "the next work was queued and started shortly after", \
        "work that is launched starts late") \
    ROW(STREAM_WAIT, GAP_OF_DEVICE, "stream wait", "stream_wait", CHART_GREY, \
        "the next work was queued behind a wait of its stream for an event", \
        "a stream waits for an event of work that is not in the file, or of another device") \
    /* the call had launched other work already: both are nodes of a graph */ \
    ROW(GRAPH, GAP_OF_DEVICE, "graph", "graph", CHART_ORANGE, \
        "the next work is a node of a graph that was running", \
        "the time passes between the nodes of a graph") \
    ROW(QUEUED, GAP_OF_DEVICE, "queued", "queued", CHART_GREY, \
        "the next work was queued for long; the trace does not record why", \
        "work is queued, and the trace does not record why") \
    ROW(PROFILER, GAP_OF_HOST, "profiler overhead", "profiler", CHART_PURPLE, \
        "the profiler itself was at work", \
        "the profiler itself is at work") \
    ROW(UNKNOWN, GAP_OF_DEVICE, "unknown", "unknown", CHART_COLOR_OF_OTHER, \
        "the call that launched the next work is not in the file", \
        "the launch of the next work is not in the file")
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
    event_id wait; /* the call that made the stream of AFTER wait for an event; EVENT_NONE: none */
    /* The main event of the longest interval of the largest part, on the thread of the call: before and in the call,
     * the innermost call, operator, annotation or Python function that covers at least half of it; for a stream wait,
     * WAIT; else EVENT_NONE. */
    event_id meanwhile;
    struct text line; /* of source, if stacks were recorded */
};

/* The total of a cause in a group. */
struct gap_cause_row {
    struct group_key key;
    enum gap_cause cause;
    struct text name, meaning; /* of the cause */
    int64_t time_ns;           /* its parts added up */
    double share;              /* of the idle time of the group */
    int64_t count;             /* gaps with such a part */
    int64_t longest_ns;        /* the longest part */
};

enum { GAP_LENGTHS = 40 };

struct gaps {
    const struct trace *trace;
    struct gap *at;     /* gaps of at least gaps_options.min_ns, longest first unless gaps_options.in_order */
    size_t count;       /* at most gaps_options.most_gaps */
    size_t listed;      /* number of gaps of that length */
    size_t short_count; /* gaps shorter than that */
    int64_t short_ns;   /* their lengths added up */
    int64_t idle_ns;    /* lengths of all gaps added up */
    int64_t part_ns[GAP_CAUSES]; /* their parts: they add up to idle_ns */
    /* devices and streams in order, their largest cause first; others by time */
    struct gap_cause_row *causes;
    size_t cause_count;
    int64_t length_ns[GAP_LENGTHS][GAP_CAUSES]; /* parts by length of the gap: see gaps_length_from_ns */
    unsigned by;
    struct group *group;
    struct arena texts;
    struct gaps *own; /* to be freed; NULL: it is kept with the trace */
};

struct gaps_options {
    int64_t min_ns; /* shorter gaps are counted but not listed */
    /* queued work that starts within this after the call returned had launch latency */
    int64_t latency_below_ns;
    size_t most_gaps; /* list at most this many, the longest; 0: all */
    bool only_causes; /* list none */
    bool in_order;    /* list them by device and time, without descriptions; most_gaps is ignored */
    bool only_listed; /* gaps that are not listed count for nothing, not even for the causes */
};

extern const struct gaps_options gaps_defaults;

/*
 * The gaps between the work of SELECTION, and their causes for each group of BY, a set of dimensions. With BY(STREAM)
 * each stream is examined separately, else each device. Release with gaps_free (NULL is allowed): only the causes of all of
 * TRACE, by device and with the times of gaps_defaults, are computed once and kept with TRACE.
 */
const struct gaps *gaps_analyze(const struct trace *trace, const struct selection *selection, unsigned by,
                                const struct gaps_options *options);
void gaps_free(const struct gaps *gaps);

/* The tables "causes" and "gaps". New; free with table_free. */
struct table *gaps_causes_table(const struct gaps *gaps);
struct table *gaps_table(const struct gaps *gaps);

/* The least length in ns of gaps in gaps.length_ns[RANGE]: 0, 1us, 2us, 5us, 10us ... */
int64_t gaps_length_from_ns(size_t range);

#endif
