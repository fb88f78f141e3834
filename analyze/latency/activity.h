/*
 * activity.h - what a stretch of time on a thread went to: what the devices did, and while they were idle the thread.
 *
 *     struct activity *activity = activity_open(trace);
 *     int64_t parts_ns[LATENCY_PARTS];
 *     activity_parts(activity, thread, start_ns, end_ns, parts_ns);     // they add up to end_ns - start_ns
 *     activity_free(activity);
 *
 * A question costs a few searches, however long the stretch is, and little when it is near the one before: ask in the
 * order of time.
 */
#ifndef TPA_ANALYZE_LATENCY_ACTIVITY_H
#define TPA_ANALYZE_LATENCY_ACTIVITY_H

#include "derive/gpu_events.h"
#include "trace/intervals.h"

/*
 * What a moment of a range goes to: the first that was going on. They add up to the range. A row holds all that is known of a
 * part; from WAITING on the devices are idle and it is what the thread of the range does, an enum host_activity each:
 *
 *     id, word in sentences, key, title and help of its column
 */
/* clang-format off */
#define LATENCY_PART_ROWS(ROW) \
    ROW(COMPUTATION, "computation", "computation", "Computation", "of busy: a device computed") \
    ROW(COMMUNICATION, "communication", "communication", "Comm.", "of busy: else a device communicated") \
    ROW(COPIES, "copies", "copies", "Copies", "of busy: else a device copied") \
    ROW(WAITING, "waiting", "waiting", "Waiting", "of idle: the thread was in a synchronisation or a blocking copy") \
    ROW(ALLOCATION, "allocation", "allocation", "Allocation", "of idle: it allocated or freed memory") \
    ROW(DATA_LOADING, "data loading", "data_loading", "Data loading", "of idle: it waited for the next batch") \
    ROW(HOST_COMMUNICATION, "collectives", "collectives", "Collectives", "of idle: it was in an operator that communicates") \
    ROW(HOST, "host", "host", "Host", "of idle: anything else, such as Python, operators, launches")
/* clang-format on */

#define LATENCY_PART_ID(id, ...) LATENCY_##id,
enum latency_part { LATENCY_PART_ROWS(LATENCY_PART_ID) LATENCY_PARTS };

/* "computation", "waiting" ...: as in tables. */
const char *latency_part_name(enum latency_part part);

/* A set of moments whose time before a moment is known by a search. */
struct timed_set {
    struct intervals set;
    int64_t *before_ns; /* what counts of the intervals before each, and one more */
    size_t near;        /* where was searched last */
};

/* What the devices of a file do, and what each thread does while they are idle. */
struct activity {
    const struct trace *trace;
    const struct gpu_events *gpu;
    struct timed_set (*of_file)[3]; /* by file and part: computation, communication, copies; disjoint */
    bool *has_work;                 /* by file */
    struct timed_set **of_thread;   /* by track: from LATENCY_WAITING on; NULL: not requested yet */
    /* Operations by the thread and the start of the call that launched them: */
    uint32_t *operations;   /* positions in gpu_events */
    int64_t *operations_ns; /* their durations before every 16th */
    size_t *first;          /* by track, and one more */
    size_t near[2];         /* where was searched last for the first of a range and for the end */
};

/* New; free with activity_free. */
struct activity *activity_open(const struct trace *trace);
void activity_free(struct activity *activity);

/* The parts of [START, END) on THREAD; they add up to its length. */
void activity_parts(struct activity *activity, track_id thread, int64_t start_ns, int64_t end_ns,
                    int64_t parts_ns[LATENCY_PARTS]);

/* The operations launched within [START, END) on THREAD are those from *FIRST up to the one returned. */
size_t activity_operations(struct activity *activity, track_id thread, int64_t start_ns, int64_t end_ns,
                           size_t *first);

/* How long the operations before place I of activity->works ran, each counted for itself. */
int64_t activity_operations_ns(const struct activity *activity, size_t i);

#endif
