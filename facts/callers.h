/*
 * callers.h - who made a call: the operator, and the line of Python where stacks were recorded.
 *
 *     struct callers *callers = callers_open(trace, calls, count);
 *     event_id operator = callers_operator(callers, call);
 *     const char *line = callers_line(callers, call);      // "train.py(12): step", or NULL
 *     callers_free(callers);
 *
 * The operator is the one that people wrote: from the innermost up, as long as the caller is of aten too. So the copy
 * that aten::to makes by aten::_to_copy and aten::copy_ is aten::to's.
 *
 * The line is the innermost Python frame that is not PyTorch's own, else the innermost one. Frames come from
 * python_function events, else from the operator's "Call stack", innermost first.
 */
#ifndef TPA_FACTS_CALLERS_H
#define TPA_FACTS_CALLERS_H

#include "trace/calltree.h"

#define CALLERS_WANTS WANT(CALL_STACK)

struct callers;

/*
 * New; free with callers_free. It answers for the COUNT events at CALLS, which may repeat: of many calls mostly a few are
 * asked about, and only what is around those needs to be nested.
 */
struct callers *callers_open(const struct trace *trace, const event_id *calls, size_t count);
/* NULL is allowed. */
void callers_free(struct callers *callers);

/* EVENT_NONE when no operator was open. */
event_id callers_operator(const struct callers *callers, event_id call);

/* Borrowed from the trace, *LEN bytes; NULL when there is none. */
const char *callers_line(const struct callers *callers, event_id call, size_t *len);

/*
 * Without opening all callers: for each of the COUNT events at MOMENTS the Python function whose line is meant, of those
 * that are open on its thread when it begins; EVENT_NONE when none is. The later a function began, the further in it is;
 * of those that begin at once the last in the file.
 */
void callers_functions_at(const struct trace *trace, const event_id *moments, size_t count,
                          event_id *functions);

/* The line of FUNCTION, else of the "Call stack" of the operator OP; either may be EVENT_NONE. Borrowed, *LEN bytes, or NULL. */
const char *callers_line_of(const struct trace *trace, event_id function, event_id op, size_t *len);

#endif
