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
 * python_function events, else from the operator's "Call stack".
 */
#ifndef TPA_ANALYZE_CALLERS_H
#define TPA_ANALYZE_CALLERS_H

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
const char *callers_line(struct callers *callers, event_id call, size_t *len);

/*
 * The line of one moment, without opening all callers: of the Python functions that are open on E's thread when it
 * begins, else of the "Call stack" of the operator OP (or EVENT_NONE). A look at every event. Borrowed, *LEN bytes, or NULL.
 */
const char *callers_line_at(const struct trace *trace, event_id e, event_id op, size_t *len);

#endif
