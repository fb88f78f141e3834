/*
 * partial_replays.h - counts replays of graphs of which a part of the work is not in the file.
 *
 *     uint64_t partial = partial_replays_count(trace, file, is_replay, &calls);
 */
#ifndef TPA_TRACE_PARTIAL_REPLAYS_H
#define TPA_TRACE_PARTIAL_REPLAYS_H

#include "trace/trace.h"

/* Does the call of NUMBER launch a graph, all of whose work must have run? */
typedef bool replay_check(const void *context, int64_t number);

/* Number of replays in FILE that lack work. Needs the arguments CORRELATION, GRAPH_ID and GRAPH_NODE_ID. */
uint64_t partial_replays_count(const struct trace *trace, const struct trace_file *file,
                               replay_check *is_replay, const void *context);

#endif
