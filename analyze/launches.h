/*
 * launches.h - the cost of launching work: time in the call, in the queue, on the device.
 *
 *     call       [ cudaLaunchKernel )
 *     device                                [ kernel      )
 *                |<-- call time --->|<-----|<-kernel time>|
 *                                   queue time
 *
 * A launch is a call and everything it launched: usually one kernel, copy or memset, for a graph many. Calls that
 * should launch kernels count even if no work of theirs is in the file, except those that only recorded into a graph
 * (derive/launch_calls.h).
 */
#ifndef TPA_ANALYZE_LAUNCHES_H
#define TPA_ANALYZE_LAUNCHES_H

#include "analyze/analysis.h"

extern const struct trace_wants launches_wants;

/* The analysis's own word of --by: what was launched; a graph is one thing. Its text is in key.kernel of the row. */
#define LAUNCHES_BY_KERNEL BY_OWN(0)
#define LAUNCHES_BY_DEFAULT (BY(CALL) | LAUNCHES_BY_KERNEL)

/* Times are in nanoseconds, averages rounded, halves up. TABLE_INT_MISSING: not known for any launch of the row. */
struct launch_row {
    struct group_key key; /* kernel: "(graph)", "(no work in the file)" or a name */
    int64_t count;
    int64_t call_ns, call_average_ns;
    int64_t queued, queue_ns,
        queue_average_ns;                 /* launches whose work began after the call, average of these */
    int64_t kernel_ns, kernel_average_ns; /* the work of a launch added up; average of those with work */
    int64_t launch_bound;                 /* of those with a kernel: work shorter than the call */
    int64_t total_ns;                     /* from the start of each call to the end of call and work */
};

/* The queue of a stream: a launch is in it from the start of its call to the start of its work. Only launches with work
 * in the file count. */
struct queue_row {
    int64_t rank, device, stream, launches;
    int64_t max_depth, span_ns;     /* span: from the first launch to the start of the last work */
    double mean_depth, empty, full; /* over the span; NaN if it is 0. Full: CUDA blocks launches */
};

struct graph_row {
    struct text call;
    int64_t graph; /* its number; missing if not recorded or without its work */
    int64_t launches;
    int64_t min_operations,
        max_operations; /* kernels, copies and memsets of a launch; of those with work in the file */
    int64_t call_average_ns, queue_average_ns, work_average_ns;
    int64_t span_average_ns; /* from the start of the first work to the end of the last */
};

/* The changes in depth of one stream's queue. */
struct queue_depth {
    int64_t time_ns; /* from the origin of the file */
    int64_t depth;   /* launches that wait from then on */
};

struct queue_depths {
    track_id stream;
    int64_t launches;
    VEC_OF(struct queue_depth) changes;
};

struct launches {
    VEC_OF(struct launch_row) rows;  /* largest call time first */
    VEC_OF(struct queue_row) queues; /* most launches first */
    VEC_OF(struct graph_row) graphs; /* most launches first */
    int64_t count, launch_bound;
    int64_t unlinked; /* work on devices whose call is not in the file */
    int64_t captured; /* calls that recorded into a graph and are not launches */
    struct group *group;
    struct queue_depths *depths; /* most changes first */
    size_t depth_count;
};

/* The launches of SELECTION; a row for each group of BY, dimensions and LAUNCHES_BY_KERNEL. New; free with arena_free (NULL
 * is allowed). Texts live as long as the answer and TRACE. */
struct launches *launches_analyze(const struct trace *trace, const struct selection *selection, unsigned by);

/* Add the tables "launches", "queues" and, where there are any, "graphs", and notices. BY as above. */
void launches_add_result(const struct launches *launches, const struct trace *trace, unsigned by,
                         struct result *result);

#endif
