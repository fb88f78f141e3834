/*
 * callers.h - the caller of a call: the operator, and the line of Python if stacks were recorded.
 *
 *     struct callers *callers = callers_open(trace, calls, count);
 *     event_id operator = callers_operator(callers, call);
 *     const char *line = callers_line(callers, call);      // "train.py(12): step", or NULL
 *     arena_free(callers);
 *
 * The operator is the one in the user's code: from the innermost outwards while the caller is also of aten. So a copy
 * made by aten::to through aten::_to_copy and aten::copy_ is attributed to aten::to.
 *
 * The line is the innermost Python frame that is not PyTorch's own, else the innermost one. Frames come from
 * python_function events, else from the operator's "Call stack", innermost first.
 */
#ifndef TPA_DERIVE_CALLERS_H
#define TPA_DERIVE_CALLERS_H

#include "trace/calltree.h"

#define CALLERS_WANTS WANT(CALL_STACK)

struct callers;

/* New; free with arena_free. It answers only for the COUNT events at CALLS, which may repeat: usually callers of only
 * a few calls are needed, and only events around those are nested. */
struct callers *callers_open(const struct trace *trace, const event_id *calls, size_t count);

/* The operator of CALL; EVENT_NONE if none was open. */
event_id callers_operator(const struct callers *callers, event_id call);

/* Borrowed from the trace, *LEN bytes; NULL if there is none. */
const char *callers_line(const struct callers *callers, event_id call, size_t *len);

/* Without opening callers: for each of the COUNT events at MOMENTS, the Python function whose line counts, among those
 * open on its thread at its start; EVENT_NONE if none is. The later a function began, the further in it is; of those
 * that begin at once the last in the file. */
void callers_functions_at(const struct trace *trace, const event_id *moments, size_t count,
                          event_id *functions);

/* The line of FUNCTION, else of the "Call stack" of the operator OP; either may be EVENT_NONE. Borrowed, *LEN bytes, or
 * NULL. */
const char *callers_line_of(const struct trace *trace, event_id function, event_id op, size_t *len);

#endif
