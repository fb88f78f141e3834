/* bits.h - counting bits. */
#ifndef TPA_BASE_BITS_H
#define TPA_BASE_BITS_H

#include <stddef.h>
#include <stdint.h>

/* Number of bits that are set. The compiler's builtin is a function call on processors without a known instruction. */
static inline size_t bits_count(uint64_t bits)
{
    bits -= bits >> 1 & UINT64_C(0x5555555555555555);
    bits = (bits & UINT64_C(0x3333333333333333)) + (bits >> 2 & UINT64_C(0x3333333333333333));
    bits = (bits + (bits >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    return (size_t)(bits * UINT64_C(0x0101010101010101) >> 56);
}

#endif
