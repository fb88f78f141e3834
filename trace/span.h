/*
 * span.h - from when to when a trace reaches.
 *
 * Points in time count from the origin of a file, which is where its span begins.
 */
#ifndef TPA_TRACE_SPAN_H
#define TPA_TRACE_SPAN_H

#include "trace/intervals.h"
#include "trace/trace.h"

/* The end of E. Kineto stretches regions that are open when recording stops to the end of its own window, which may lie
 * far behind: they end where the recording does. */
int64_t trace_recorded_end_ns(const struct trace *trace, event_id e);

/* From the first start to the last (recorded) end of the events of FILE that take time. Instants do not count
 * (PyTorch's "Record Window End" may lie a day later), nor does the profiler's own recording window (EVENT_SPAN), which
 * begins before anything is recorded. A file of nothing but memory records reaches from the first to the last of them.
 * Else empty, at 0, when there are no such events. */
struct interval trace_file_span(const struct trace *trace, uint32_t file);

/* For passes that look for what begins early or ends late: events come in blocks of TRACE_BLOCK, of which none begins before
 * the span of its block, or ends after it, whatever the events of the block are. Without looking at them. */
enum { TRACE_BLOCK = PACKED_VALUES };
struct interval trace_block_span(const struct trace *trace, size_t block);

#endif
