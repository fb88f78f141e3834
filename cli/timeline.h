/*
 * timeline.h - several files on one axis: what a converted trace needs when it is written as one.
 */
#ifndef TPA_CLI_TIMELINE_H
#define TPA_CLI_TIMELINE_H

#include "base/buffer.h"
#include "trace/trace.h"

/*
 * New, free(): by file, what is to be added to its times so that all count from the same moment: the earliest origin. A
 * file that tells no origin counts from 1970. One that is further from it than TRACE_LATEST_NS is not moved.
 */
int64_t *timeline_shifts(const struct trace *trace);

/* Say in SUMMARY which files were not moved for that reason, if any. */
void timeline_tell_apart(struct buffer *summary, const struct trace *trace);

/* Add what FILE is called among the others: "rank 3", or "file 2" when ranks do not tell them apart. */
void timeline_add_file(struct buffer *out, const struct trace *trace, uint32_t file);

/* Add what TRACK is called: "python: thread 5200 (main)", with the file in front when there are several. */
void timeline_add_track(struct buffer *out, const struct trace *trace, track_id track);

#endif
