/* wide.h - products of 64 bits times 64 bits, in 128 bits. Not every supported target has __int128. */
#ifndef TPA_BASE_WIDE_H
#define TPA_BASE_WIDE_H

#include <stdint.h>

struct wide {
    uint64_t high, low;
};

/* The product A * B, which always fits. */
static inline struct wide wide_product(uint64_t a, uint64_t b)
{
    uint64_t a_high = a >> 32, a_low = (uint32_t)a, b_high = b >> 32, b_low = (uint32_t)b;
    uint64_t low = a_low * b_low, cross = a_high * b_low + (low >> 32),
             other = a_low * b_high + (uint32_t)cross;
    return (struct wide){ .high = a_high * b_high + (cross >> 32) + (other >> 32),
                          .low = other << 32 | (uint32_t)low };
}

/* Wraps at 2^128. */
static inline void wide_add(struct wide *sum, struct wide value)
{
    sum->low += value.low;
    sum->high += value.high + (sum->low < value.low);
}

/* A / B, rounded down; UINT64_MAX on overflow, also for B = 0. */
static inline uint64_t wide_quotient(struct wide a, uint64_t b)
{
    if (a.high == 0 && b > 0)
        return a.low / b;
    if (a.high >= b)
        return UINT64_MAX;
    uint64_t rest = a.high, quotient = 0;
    for (int bit = 63; bit >= 0; bit--) {
        uint64_t carry = rest >> 63;
        rest = rest << 1 | (a.low >> bit & 1);
        quotient <<= 1;
        if (carry || rest >= b) {
            rest -= b;
            quotient |= 1;
        }
    }
    return quotient;
}

/* VALUE * PART / OF computed in 128 bits, rounded towards zero; OF > 0. Saturates to INT64_MAX or -INT64_MAX. */
static inline int64_t wide_scaled(int64_t value, int64_t part, int64_t of)
{
    uint64_t a = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    uint64_t b = part < 0 ? 0 - (uint64_t)part : (uint64_t)part;
    uint64_t scaled = wide_quotient(wide_product(a, b), (uint64_t)of);
    int64_t size = scaled > INT64_MAX ? INT64_MAX : (int64_t)scaled;
    return (value < 0) != (part < 0) ? -size : size;
}

#endif
