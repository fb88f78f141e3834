/*
 * lost_work.h - launches whose work is not in the file: the profiler lost it, and the device was not idle meanwhile.
 *
 * Where much was lost (trace_file.lost.much, and LACK_LOST_WORK among the lacks of the file), the time without work is not
 * known to be idle, and a wait without work is not known to be for nothing:
 *
 *     if (trace_lost_much(trace))
 *         trace_describe_lost(trace, &text);       // "5 of 6 graph replays have no work in the file: ..."
 *
 * Nothing is lost of what was captured into a graph, of launches so late that their work may still have waited when
 * recording stopped, and of as many launches as there is work that records no call. Needs the argument CORRELATION.
 */
#ifndef TPA_TRACE_LOST_WORK_H
#define TPA_TRACE_LOST_WORK_H

#include "trace/trace.h"

/* From this share of the launches of a file on, of kernels or of graphs, much was lost. */
#define TRACE_LOST_SHARE 0.05

/* From this share of the time of all work on, of work whose time is not known, changes have no price: it would be off by as much. */
#define TRACE_UNKNOWN_SHARE 0.01

/* Was much lost in any file? */
bool trace_lost_much(const struct trace *trace);

/* Were so many records of a file left out for their time that what is left is not all? */
bool trace_left_out_much(const struct trace *trace);

/* Is how long work took unknown for so much of the time of all work of a file, a hundredth, that changes have no price? */
bool trace_knows_no_durations(const struct trace *trace);

/* Append how many records were left out for their time, without a full stop; nothing if none was. */
void trace_describe_left_out(const struct trace *trace, struct buffer *out);

/* Is so much work of a file, a quarter, without the call that launched it, although calls are in the file, that who waits for
 * what is not known? Work that was launched before recording began does not count. */
bool trace_misses_calls(const struct trace *trace);

/* Append how much work has no call, without a full stop; nothing if none. */
void trace_describe_callless(const struct trace *trace, struct buffer *out);

/* Append what was lost in all files and why, without a full stop; nothing if nothing was. */
void trace_describe_lost(const struct trace *trace, struct buffer *out);

#endif
