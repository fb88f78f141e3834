/* snapshot_sentences.h - the most important facts about memory snapshots, in a sentence or two per device. */
#ifndef TPA_MEMORY_SNAPSHOT_SENTENCES_H
#define TPA_MEMORY_SNAPSHOT_SENTENCES_H

#include "base/result.h"
#include "memory/snapshot_analysis.h"

/*
 * Notices that stand on top of the result: every out-of-memory error with its cause, then the peak of each device. For
 * devices without a history: their state. LINES, which may be NULL, is the moment of ANSWERS; its notice names the
 * lines of code with the most memory at that moment, followed by the largest leak.
 */
void snapshot_say(const struct snapshot_answers *answers, const struct snapshot_moment *lines,
                  struct result *result);

/* "3.03 GB": BYTES in the largest suitable unit of powers of 1024, as in tables. */
struct buffer;
void append_bytes_text(struct buffer *out, int64_t bytes);

#endif
