/*
 * part_file.h - a file into which other tools wrote several ranks becomes several files, whatever the order of its events.
 *
 *     uint32_t *part_of = ...;                              // by track: the part of each track of FILE
 *     trace_part_file(trace, file, part_of, 2);             // file FILE and file FILE + 1
 *
 * What a part records of itself is up to the caller: each begins as a copy of FILE. Where the whole has the parts written by
 * tpa convert, the reader restores them (trace_builder_split).
 */
#ifndef TPA_TRACE_PART_FILE_H
#define TPA_TRACE_PART_FILE_H

#include "trace/trace.h"

/* Let FILE become COUNT files, which follow it; PART_OF is by track. Events keep their order within a part. Notices stay with the
 * first part. What was derived of TRACE is dropped. Linear in the events of TRACE. */
void trace_part_file(struct trace *trace, uint32_t file, const uint32_t *part_of, uint32_t count);

/* The file, to be changed. Strings put into it must live as long as TRACE: trace->arena. */
struct trace_file *trace_file_to_change(struct trace *trace, uint32_t file);

/* Let the process of TRACK have the number PID. */
void trace_track_rename(struct trace *trace, track_id track, int64_t pid);

#endif
