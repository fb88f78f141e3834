/*
 * chrome_head.h - what stands before the events in the Chrome JSON that `tpa convert` writes.
 */
#ifndef TPA_CLI_CHROME_HEAD_H
#define TPA_CLI_CHROME_HEAD_H

#include "base/buffer.h"
#include "trace/trace.h"

/* Add to OUT all from the first brace to the bracket of the events. Times of several files begin at the earliest base. */
void chrome_head_put(const struct trace *trace, struct buffer *out);

#endif
