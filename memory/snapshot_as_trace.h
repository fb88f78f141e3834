/*
 * snapshot_as_trace.h - memory snapshots as a trace, for formats with events.
 *
 * Every allocation, and every free (at free_requested), is an instant "[memory]" with its bytes, address, device and
 * the totals after it, as a framework's profiler records it; allocations carry their stack. Every annotation is a user
 * annotation on a track of its device. Allocated, active and reserved bytes are counters. Without times, an entry takes
 * a microsecond.
 */
#ifndef TPA_MEMORY_SNAPSHOT_AS_TRACE_H
#define TPA_MEMORY_SNAPSHOT_AS_TRACE_H

#include "trace/snapshot.h"
#include "trace/trace.h"

/* New; free with trace_free. Borrows nothing. NULL and ERR if it would hold more events than a trace can. */
struct trace *snapshot_as_trace(const struct snapshots *snapshots, const struct trace_wants *wants,
                                struct tpa_error *err);

#endif
