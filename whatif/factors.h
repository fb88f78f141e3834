/*
 * factors.h - a factor for each of many, of which most are 1.
 *
 *     struct factors factors;
 *     factors_init(&factors, count);
 *     factors_scale(&factors, i, 0.5);
 *     ... factors_get(&factors, i) ...
 *     factors_release(&factors);
 *
 * Only blocks with another factor take memory. An edit mostly knows a few factors, such as 1 and 0: then a byte for each of the
 * block says which of a table it is, and nothing more is kept of a block that was filled in order with a single factor. Only where there are more than the table holds each takes a float.
 */
#ifndef TPA_WHATIF_FACTORS_H
#define TPA_WHATIF_FACTORS_H

#include "base/memory.h"
#include <stdbool.h>
#include <stdint.h>

enum {
    FACTORS_OF_BLOCK = 64,
    FACTORS_OF_TABLE = 256,
    FACTORS_BIT = 1u << 31,    /* of a block: its factors are floats */
    ONE_FACTOR_BIT = 1u << 30, /* all are the one at its place in the table */
};

struct factor_places {
    uint8_t at[FACTORS_OF_BLOCK]; /* in the table */
};
struct factor_values {
    float at[FACTORS_OF_BLOCK];
};

struct factors {
    uint32_t *
        block; /* 0: all are 1; else 1 and its place in PLACES, or with FACTORS_BIT in VALUES; or ONE_FACTOR_BIT */
    size_t block_count;
    VEC_OF(struct factor_places) places;
    VEC_OF(struct factor_values) values;
    float table[FACTORS_OF_TABLE]; /* the first is 1 */
    unsigned table_count;
    uint16_t slots[2 * FACTORS_OF_TABLE]; /* 1 and the place in TABLE of a factor, by its hash; 0: free */
};

/* COUNT of them, all 1. Release with factors_release. */
void factors_init(struct factors *factors, size_t count);
void factors_release(struct factors *factors);

/* Let all be 1 again. */
void factors_clear(struct factors *factors);

/* Let that of I be FACTOR. */
void factors_set(struct factors *factors, size_t i, float factor);

/* Are the factors of all in the block of I 1? */
static inline bool factors_are_one(const struct factors *factors, size_t i)
{
    return factors->block[i / FACTORS_OF_BLOCK] == 0;
}

/* The factor of I. */
static inline float factors_get(const struct factors *factors, size_t i)
{
    uint32_t block = factors->block[i / FACTORS_OF_BLOCK];
    if (block == 0)
        return 1;
    if (block & FACTORS_BIT)
        return factors->values.at[(block ^ FACTORS_BIT) - 1].at[i % FACTORS_OF_BLOCK];
    if (block & ONE_FACTOR_BIT)
        return factors->table[block ^ ONE_FACTOR_BIT];
    return factors->table[factors->places.at[block - 1].at[i % FACTORS_OF_BLOCK]];
}

/* Multiply that of I by FACTOR. */
static inline void factors_scale(struct factors *factors, size_t i, double factor)
{
    factors_set(factors, i, (float)((double)factors_get(factors, i) * factor));
}

/*
 * Can all of TO be multiplied by those of MORE, of as many, and give what scaling one after the other does? Where both are other than 1
 * the roundings of several scalings may differ, unless one is 0.
 */
bool factors_can_lay_over(const struct factors *to, const struct factors *more);

/* Do so, which must be possible. */
void factors_lay_over(struct factors *to, const struct factors *more);

#endif
