/*
 * columns.h - what the columns of events are called, in every form that has a row an event.
 */
#ifndef TPA_CLI_CONVERT_COLUMNS_H
#define TPA_CLI_CONVERT_COLUMNS_H

#include "base/buffer.h"
#include "trace/trace.h"

/* Of any event; of several files, "file" comes before. */
#define CONVERT_EVENT_COLUMNS                                                                                \
    "rank,process,pid,thread,tid,device,stream,category,kind,name,start_ns,dur_ns,unfinished"

/*
 * Add what the column of ARG is called: as files spell it. Where that is the name of a column above, as of the stream that a
 * kernel says it ran on beside the one that it lies on, "args.stream".
 */
void convert_add_arg_column(struct buffer *out, enum trace_arg arg);

#endif
