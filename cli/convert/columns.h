/*
 * columns.h - the names of the columns of events, in every form with one row per event.
 */
#ifndef TPA_CLI_CONVERT_COLUMNS_H
#define TPA_CLI_CONVERT_COLUMNS_H

#include "base/buffer.h"
#include "trace/trace.h"

/* Columns of every event; with several files, preceded by "file". */
#define CONVERT_EVENT_COLUMNS                                                                                \
    "rank,process,pid,thread,tid,device,stream,category,kind,name,start_ns,dur_ns,unfinished"

/*
 * Append the name of the column of ARG, as spelled in files. If it equals a column above, such as the stream in a
 * kernel's arguments, "args.stream".
 */
void convert_add_arg_column(struct buffer *out, enum trace_arg arg);

#endif
