/*
 * trace_slice.h - a part of a trace: what goes on in some steps or in a stretch of time.
 *
 * It holds the events that overlap the time, however long ago they began, and the work that was launched then,
 * however late it ran; of flow arrows and counter samples those of the time.
 */
#ifndef TPA_CLI_TRACE_SLICE_H
#define TPA_CLI_TRACE_SLICE_H

#include "analyze/selection.h"
#include "trace/trace.h"

struct trace_slice {
    bool *events, *flows, *samples; /* by their numbers: is it in the slice? */
    size_t event_count, flow_count, sample_count;
    size_t first_event, first_flow,
        first_sample; /* the lowest numbers that are; how many there are in all where none is */
};

/* What of TRACE is in SELECTION; free with trace_slice_release. */
void trace_slice_make(const struct trace *trace, const struct selection *selection,
                      struct trace_slice *slice);
void trace_slice_release(struct trace_slice *slice);

#endif
