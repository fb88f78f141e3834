/* sentences.h - what is to be known first about memory snapshots, in a sentence or two per device. */
#ifndef TPA_SNAPSHOT_SENTENCES_H
#define TPA_SNAPSHOT_SENTENCES_H

#include "base/result.h"
#include "snapshot/analysis.h"

/*
 * Notices that stand on top of the result: every out-of-memory error with its cause, then the peak of each device. For
 * devices without a history: what they hold. LINES, which may be NULL: the moment that ANSWERS are about; what is said of
 * it names the lines of code that hold most then, and the largest leak follows.
 */
void snapshot_say(const struct snapshot_answers *answers, const struct snapshot_moment *lines,
                  struct result *result);

/* "3.03 GB": BYTES in the largest unit of which there is one, in steps of 1024, as tables show them. */
struct buffer;
void say_bytes(struct buffer *out, int64_t bytes);

#endif
