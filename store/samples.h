/*
 * samples.h - the samples of one figure as a few bytes.
 *
 *     offset  size  meaning
 *     0       1     version and form: 1 whole numbers, 2 doubles, 3 whole numbers in runs of equal ones
 *     1       var   how many
 *     then    var   form 1: the first, then each less the one before, as zigzag: 0 -1 1 -2 are 0 1 2 3
 *             8     form 2: each, little-endian
 *             var   form 3: for each run its number less that of the run before, as in form 1, and how long it is
 *
 * A variable-length number has seven bits in a byte, the lowest first; the eighth bit says that more follow. Ten step
 * times that differ by a few percent take about 35 bytes. Form 3 holds at most SAMPLES_PER_BYTE samples a byte.
 */
#ifndef TPA_STORE_SAMPLES_H
#define TPA_STORE_SAMPLES_H

#include "base/buffer.h"
#include "base/memory.h"
#include <stdbool.h>
#include <stddef.h>

enum { SAMPLES_PER_BYTE = 4096 };

struct samples {
    VEC_OF(double);
};

/* Append COUNT values to OUT: as whole numbers when WHOLE (they are rounded), else as they are. */
void samples_pack(struct buffer *out, const double *values, size_t count, bool whole);

/* Append what BYTES hold to SAMPLES; false when they are damaged, or of a version we do not know. */
bool samples_unpack(const void *bytes, size_t size, struct samples *samples);

#endif
