/*
 * launches.h - what it cost to launch work: time in the call, in the queue, on the device.
 *
 *     launches_add_tables(trace, selection, LAUNCHES_BY_KERNEL, result);
 *
 *     call       [ cudaLaunchKernel )
 *     device                                [ kernel      )
 *                |<-- call time --->|<-----|<-kernel time>|
 *                                   queue time
 */
#ifndef TPA_ANALYZE_LAUNCHES_H
#define TPA_ANALYZE_LAUNCHES_H

#include "analyze/selection.h"
#include "base/result.h"
#include "trace/trace.h"

extern const struct trace_wants launches_wants;

/* What makes a row of the table of launches. */
enum launches_by {
    LAUNCHES_BY_KERNEL, /* call and kernel */
    LAUNCHES_BY_CALL,
    LAUNCHES_BY_OPERATOR,
    LAUNCHES_BY_DEVICE,
    LAUNCHES_BY_STREAM,
    LAUNCHES_BY_THREAD,
    LAUNCHES_BY_STEP, /* in which the call began */
};

/*
 * Add the tables "launches" (per call and kernel, or as BY says), "queues" (per stream) and, when graphs were launched, "graphs" to
 * RESULT. A call that launched several works is one launch: that of a graph.
 */
void launches_add_tables(const struct trace *trace, const struct selection *selection, enum launches_by by,
                         struct result *result);

/*
 * How deep the queues were over time: a table for each stream of the table "queues", most launches first, titled
 * "device 0, stream 7". A row for each moment at which the depth changed: "time" from the origin of the file, and
 * "depth" from then on. New; free with result_free.
 */
struct result *launches_depths(const struct trace *trace, const struct selection *selection);

#endif
