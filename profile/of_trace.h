/*
 * of_trace.h - the calls of a trace, aggregated to a profile, so that analyses of Python profiles apply to traces: callers and
 * callees, with counts and times.
 *
 * Functions are names of host events with a duration (operators, annotations, Python frames, runtime calls), nested as
 * calltree.h has it; steps are one, `ProfilerStep*`. In torch's traces a call whose only callee has its own name counts
 * once, and regions that are asynchronous (async_regions.h) are called by nobody, call nobody and have no time of their own, as
 * in `tpa top`. A call from within itself, however deep, adds to the calls but not to the cumulative time.
 *
 * Times become doubles of seconds, which hold nanoseconds exactly up to 104 days.
 */
#ifndef TPA_PROFILE_OF_TRACE_H
#define TPA_PROFILE_OF_TRACE_H

#include "analyze/selection.h"
#include "trace/profile.h"
#include "trace/trace.h"

/* The profile of the part of TRACE that SELECTION holds, whatever the names. New; borrows from TRACE. */
struct profile *trace_profile(const struct trace *trace, const struct selection *selection);

#endif
