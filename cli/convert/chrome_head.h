/*
 * chrome_head.h - the part before the events of the Chrome JSON that `tpa convert` writes.
 */
#ifndef TPA_CLI_CHROME_HEAD_H
#define TPA_CLI_CHROME_HEAD_H

#include "base/buffer.h"
#include "trace/trace.h"
#include <stdbool.h>

/* Append the pid of TRACK as JSON; if SHARED with processes of other files, prefixed by the file. */
void chrome_append_pid(struct buffer *out, const struct trace *trace, const struct track *track, bool shared);

/* Append to OUT everything from the first brace to the bracket of the events. Times of several files begin at the
 * earliest base. */
void chrome_head_append(const struct trace *trace, struct buffer *out);

#endif
