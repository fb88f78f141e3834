/*
 * marks.h - the critical path of the whole recording, as marks on a timeline.
 *
 * convert_each_mark() gives the pieces; convert_append_marks() writes them as Chrome's JSON: a track "critical path" holds
 * the pieces, of category critical_path, named by part and by what ran. Arrows of the same category lead from the last
 * event of the path on one track to the next on another. Readers of tpa ignore both.
 */
#ifndef TPA_CLI_CONVERT_MARKS_H
#define TPA_CLI_CONVERT_MARKS_H

#include "base/buffer.h"
#include "whatif/path.h"
#include "trace/trace.h"

/* What each piece is given to. LAST: the piece before on another track, whose event ran; NULL: this is not a change of
 * tracks. */
typedef void convert_mark_fn(void *context, const struct replay_graph *graph,
                             const struct path_segment *piece, const struct path_segment *last);

/* Call VISIT for each piece of the critical path of TRACE (read for REPLAY_WANTS at least), in order of time. */
void convert_each_mark(const struct trace *trace, convert_mark_fn *visit, void *context);

/* Append the name of PIECE to OUT: "kernel: gemm". */
void convert_mark_name(const struct trace *trace, const struct path_segment *piece, struct buffer *out);

/* Data of the writer: how it writes a moment of a file, and a track. */
struct convert_marks {
    const struct trace *trace; /* read for REPLAY_WANTS at least */
    const void *context;
    void (*put_time)(const void *context, struct buffer *out, uint32_t file, int64_t ns);
    void (*put_place)(const void *context, struct buffer *out, track_id track);
};

/* Append the events for the whole recording to OUT, each after a comma. Returns how many. */
size_t convert_append_marks(const struct convert_marks *marks, struct buffer *out);

#endif
