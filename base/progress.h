/*
 * progress.h - one line on a terminal that shows the progress of long work.
 *
 * Nothing is shown without a terminal or in the first second; it is updated at most six times a second; the
 * line is gone before anything else is printed.
 *
 *     struct progress progress = progress_begin(stderr);
 *     while (...)
 *         progress_print(&progress, "reading rank0.json", done, total);
 *     progress_end(&progress);
 */
#ifndef TPA_BASE_PROGRESS_H
#define TPA_BASE_PROGRESS_H

#include "base/buffer.h"

struct progress {
    FILE *out;        /* NULL: show nothing */
    int64_t begun_ns; /* of the monotonic clock, as below */
    int64_t shown_ns; /* time of the last display; 0: never */
};

/* For a stream that is not a terminal, returns a progress that shows nothing. */
struct progress progress_begin(FILE *out);

/* DONE of TOTAL bytes of WHAT; TOTAL is -1 when unknown. Cheap if the next update is not yet due. */
void progress_print(struct progress *progress, const char *what, int64_t done, int64_t total);

/* Wipe the line. */
void progress_end(struct progress *progress);

/* Append the line as shown ELAPSED_NS after the beginning: "reading a.json  45%  312 MB/s  0:03 left". */
void progress_line(struct buffer *out, const char *what, int64_t done, int64_t total, int64_t elapsed_ns);

#endif
