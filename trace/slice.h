/*
 * slice.h - cut a trace to a part of it, or move it to another clock, before any analysis.
 *
 *     bool *keep = ...;                                  // by event
 *     trace_keep(trace, &(struct trace_part){ .events = keep, .files = files, .flows = flows, .samples = samples });
 *
 *     trace_move(trace, 1, true, base_ns, moment, &clock); // file 1: every moment is what MOMENT says
 *
 * Everything else stays as it was read. What was derived of the trace before (derived.h) is dropped.
 */
#ifndef TPA_TRACE_SLICE_H
#define TPA_TRACE_SLICE_H

#include "trace/trace.h"

/* What stays, each by index; NULL: all. */
struct trace_part {
    const bool *events, *files, *flows, *samples;
};

/* Drop what PART does not keep. What is of a file that goes, goes with it: events, tracks, flows, samples, notices. In
 * place; linear. */
void trace_keep(struct trace *trace, const struct trace_part *part);

/* A moment of a file, in ns from its base, as one from another base. Must not bring moments out of order. */
typedef int64_t trace_moment(const void *context, int64_t moment_ns);

/* Let the moments of FILE be what MOMENT makes of them, and count from BASE_NS where HAS_BASE. Durations lie between their moved
 * ends. False, and nothing changes, when one would be further from 0 than TRACE_LATEST_NS (builder.h). */
bool trace_move(struct trace *trace, uint32_t file, bool has_base, int64_t base_ns, trace_moment *moment,
                const void *context);

/* Add a notice about FILE, or about no single file where OF_ALL: COUNT cases of KIND, a literal; TEXT is copied. Sets what the
 * file lacks, or all do, if KIND is a lack (base/lacks.h). */
void trace_tell(struct trace *trace, uint32_t file, bool of_all, const char *kind, const char *text,
                uint64_t count);

/* Replace the flow arrows of CATEGORY by COUNT others, whose category and name are set to it. */
void trace_replace_flows(struct trace *trace, const char *category, const struct trace_flow *flows,
                         size_t count);

#endif
