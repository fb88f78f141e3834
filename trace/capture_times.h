/*
 * capture_times.h - when graphs were captured.
 *
 * Between cudaStreamBeginCapture and cudaStreamEndCapture nothing is launched: calls add nodes to a graph. A capture whose
 * end was not recorded lasts to the end of the file, one whose begin was not recorded begins with it.
 */
#ifndef TPA_TRACE_CAPTURE_TIMES_H
#define TPA_TRACE_CAPTURE_TIMES_H

#include "trace/intervals.h"
#include "trace/trace.h"

struct capture_times {
    struct intervals *of_file; /* on the clock of the file */
    size_t file_count;
};

/* The captures of TRACE, computed when first requested. Borrowed; live as long as TRACE. */
const struct capture_times *capture_times_of(const struct trace *trace);

#endif
