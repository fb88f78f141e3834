/*
 * samples.h - the samples of one figure as a few bytes.
 *
 *     offset  size  meaning
 *     0       1     version and form: 1 whole numbers, 2 doubles, 3 whole numbers in runs of equal ones
 *     1       var   how many
 *     then    var   form 1: the first, then each minus the one before, as zigzag: 0 -1 1 -2 are 0 1 2 3
 *             8     form 2: each, little-endian
 *             var   form 3: for each run its number less that of the run before, as in form 1, and its length
 *
 * A variable-length number has seven bits per byte, the lowest first; the eighth bit is set if more bytes follow. Ten
 * step times that differ by a few percent take about 35 bytes. Form 3 holds at most SAMPLES_PER_BYTE samples per byte.
 */
#ifndef TPA_HISTORY_SAMPLES_H
#define TPA_HISTORY_SAMPLES_H

#include "base/buffer.h"
#include "base/memory.h"
#include <stdbool.h>
#include <stddef.h>

enum { SAMPLES_PER_BYTE = 4096 };

struct samples {
    VEC_OF(double);
};

/* Append COUNT values to OUT: as rounded whole numbers if WHOLE, else as doubles. */
void samples_pack(struct buffer *out, const double *values, size_t count, bool whole);

/* Append the samples in BYTES to SAMPLES; false if they are damaged, or of an unknown version. */
bool samples_unpack(const void *bytes, size_t size, struct samples *samples);

#endif
