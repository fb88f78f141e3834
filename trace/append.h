/*
 * append.h - a trace of several files, put together from traces that were read one after the other.
 *
 *     struct trace *all = trace_open();
 *     for each file:
 *         trace_append(all, trace, keep);     // the events of TRACE that are needed, with its tracks and metadata
 *         trace_free(trace);
 *
 * So memory holds one file and what is kept of the others.
 */
#ifndef TPA_TRACE_APPEND_H
#define TPA_TRACE_APPEND_H

#include "trace/trace.h"

/* New, of no file; trace_free. */
struct trace *trace_open(void);

/* Add to TRACE the files of OTHER: all their tracks, with the numbers of events that OTHER has on them; their notices; and those
 * events, without arguments, for which KEEP, by event of OTHER, is true (NULL: none). Flow arrows and samples are not added.
 * Order is kept: file f of OTHER is file_count + f, track t is track_count + t (both as they were before). What was derived of
 * TRACE is dropped. Nothing of OTHER is borrowed. */
void trace_append(struct trace *trace, const struct trace *other, const bool *keep);

#endif
