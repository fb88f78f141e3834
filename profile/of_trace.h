/*
 * of_trace.h - the calls of a trace, aggregated to a profile, so that analyses of Python profiles apply to traces:
 * callers and callees, with counts and times.
 *
 * Functions are names of host events with a duration (operators, annotations, Python frames, runtime calls), nested as
 * in calltree.h; steps are one, `ProfilerStep*`. In torch's traces a call whose only callee has its own name counts
 * once, and regions that are asynchronous (async_regions.h) have no callers, no callees and no own time, as in `tpa
 * top`. A recursive call, at any depth, adds to the calls but not to the cumulative time.
 *
 * Times become doubles of seconds, which hold nanoseconds exactly up to 104 days.
 */
#ifndef TPA_PROFILE_OF_TRACE_H
#define TPA_PROFILE_OF_TRACE_H

#include "analyze/selection.h"
#include "trace/profile.h"

/* The profile of the part of TRACE in SELECTION, regardless of names. New, free with profile_free; borrows from
 * TRACE. */
struct profile *trace_profile(const struct trace *trace, const struct selection *selection);

#endif
