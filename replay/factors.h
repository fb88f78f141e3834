/*
 * factors.h - a factor for each of many, of which most are 1.
 *
 *     struct factors factors;
 *     factors_init(&factors, count);
 *     factors_scale(&factors, i, 0.5);
 *     ... factors_get(&factors, i) ...
 *     factors_release(&factors);
 *
 * Only blocks with another factor take memory.
 */
#ifndef TPA_REPLAY_FACTORS_H
#define TPA_REPLAY_FACTORS_H

#include <stddef.h>

enum { FACTORS_OF_BLOCK = 64 };

struct factors {
    float **blocks; /* NULL: all are 1 */
    size_t block_count;
};

/* COUNT of them, all 1. Release with factors_release. */
void factors_init(struct factors *factors, size_t count);
void factors_release(struct factors *factors);

/* Let all be 1 again. */
void factors_clear(struct factors *factors);

void factors_set(struct factors *factors, size_t i, float factor);

static inline float factors_get(const struct factors *factors, size_t i)
{
    const float *block = factors->blocks[i / FACTORS_OF_BLOCK];
    return block ? block[i % FACTORS_OF_BLOCK] : 1;
}

/* Multiply that of I by FACTOR. */
static inline void factors_scale(struct factors *factors, size_t i, double factor)
{
    factors_set(factors, i, (float)((double)factors_get(factors, i) * factor));
}

#endif
