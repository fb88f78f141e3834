/*
 * chrome_head.h - what stands before the events in the Chrome JSON that `tpa convert` writes.
 */
#ifndef TPA_CLI_CHROME_HEAD_H
#define TPA_CLI_CHROME_HEAD_H

#include "base/buffer.h"
#include "trace/trace.h"

/* How the processes of tracks are written. */
struct chrome_pids {
    const bool *is_first;       /* by track: is it the first of its process? */
    const char *const *written; /* by track: as JSON */
};

/* Add to OUT all from the first brace to the bracket of the events. Times of several files begin at the earliest base. */
void chrome_head_put(const struct trace *trace, const struct chrome_pids *pids, struct buffer *out);

#endif
