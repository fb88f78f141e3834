/*
 * convert_marks.h - the critical path as events of Chrome's JSON: a track of its own, and arrows where it changes tracks.
 *
 * The track "critical path" holds its pieces, of category critical_path, named by part and by what ran. The arrows, of the same
 * category, lead from the last event of the path on one track to the next on another.
 */
#ifndef TPA_CLI_CONVERT_MARKS_H
#define TPA_CLI_CONVERT_MARKS_H

#include "base/buffer.h"
#include "trace/trace.h"

/* What the writer knows: how it writes a moment of a file, and where a track is. */
struct convert_marks {
    const struct trace *trace; /* read for REPLAY_WANTS at least */
    const void *context;
    void (*put_time)(const void *context, struct buffer *out, uint32_t file, int64_t ns);
    void (*put_place)(const void *context, struct buffer *out, track_id track);
};

/* Add the events to OUT, each after a comma; how many. Of all that was recorded. */
size_t convert_put_marks(const struct convert_marks *marks, struct buffer *out);

#endif
