/*
 * launch_calls.h - the calls that launch kernels and graphs, and which of them only added a node to a graph.
 *
 *     const struct launch_calls *calls = launch_calls_of(trace);
 *     for (size_t i = 0; i < calls->count; i++)
 *         if (!calls->at[i].captured)
 *             ...                              // it enqueued work
 *
 * Between cudaStreamBeginCapture and cudaStreamEndCapture nothing is launched: cudaLaunchKernel adds a node to the
 * graph and returns. Such a call is captured: it began while a capture of its file was open, and no work has its
 * correlation (threads that do not capture may launch at the same time). A capture whose end was not recorded lasts to
 * the end of the file, one whose beginning was not recorded begins with it.
 */
#ifndef TPA_DERIVE_LAUNCH_CALLS_H
#define TPA_DERIVE_LAUNCH_CALLS_H

#include "trace/capture_times.h"

struct launch_call {
    event_id call;
    bool is_graph; /* it launches a whole graph */
    bool has_work; /* at least one of its operations is in the file */
    bool captured;
};

struct launch_calls {
    VEC_OF(struct launch_call);
};

/* Those of TRACE in order of their ids, computed when first requested. Borrowed; live as long as TRACE. */
const struct launch_calls *launch_calls_of(const struct trace *trace);

/* The median duration of the calls that launched a kernel, no graph: what a launch costs, in ns. 0 if there are
 * none. */
int64_t launch_calls_median_ns(const struct launch_calls *calls, const struct trace *trace);

#endif
