/*
 * op_count.h - arithmetic with counts that may be unknown; overflow of 64 bits is unknown as well.
 */
#ifndef TPA_DERIVE_OP_COUNT_H
#define TPA_DERIVE_OP_COUNT_H

#include "base/table.h"

/* A times B; unknown (TABLE_INT_MISSING) if either is unknown or negative, or the product does not fit. */
static inline int64_t count_times(int64_t a, int64_t b)
{
    int64_t product;
    return a < 0 || b < 0 || __builtin_mul_overflow(a, b, &product) ? TABLE_INT_MISSING : product;
}

/* A plus B, in the same way. */
static inline int64_t count_plus(int64_t a, int64_t b)
{
    int64_t sum;
    return a < 0 || b < 0 || __builtin_add_overflow(a, b, &sum) ? TABLE_INT_MISSING : sum;
}

#endif
