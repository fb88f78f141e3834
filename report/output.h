/* output.h - hand finished text to a stream now and then, so that a printer holds a few rows and not the
 * whole result. */
#ifndef TPA_REPORT_OUTPUT_H
#define TPA_REPORT_OUTPUT_H

#include "base/buffer.h"

/* The results of this program may have MOST bytes together; 0, as at first: any number. A result repeats a name, which the
 * input holds once, in each row about it: a file of kilobytes would give gigabytes. */
void output_set_most(uint64_t most);

/* Write TEXT to OUT and empty it when it has grown to some 64 KiB. Call it after each row. */
bool output_drain(struct buffer *text, FILE *out, struct tpa_error *err);

/* Write what is left of TEXT and free it, whether or not OK; returns whether all went well. */
bool output_finish(bool ok, struct buffer *text, FILE *out, struct tpa_error *err);

#endif
