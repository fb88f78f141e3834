/* bits.h - counting and mixing bits. */
#ifndef TPA_BASE_BITS_H
#define TPA_BASE_BITS_H

#include <stddef.h>
#include <stdint.h>

/* Number of bits that are set. The compiler's builtin is a function call unless the processor is known to have the instruction.
 * Nearly all have it: asking takes two instructions, counting by hand twelve. */
static inline size_t bits_count(uint64_t bits)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("popcnt")) {
        uint64_t count;
        __asm__("popcntq %1, %0" : "=r"(count) : "r"(bits) : "cc");
        return (size_t)count;
    }
#endif
    bits -= bits >> 1 & UINT64_C(0x5555555555555555);
    bits = (bits & UINT64_C(0x3333333333333333)) + (bits >> 2 & UINT64_C(0x3333333333333333));
    bits = (bits + (bits >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    return (size_t)(bits * UINT64_C(0x0101010101010101) >> 56);
}

/* HASH with NUMBER in it. */
static inline uint64_t bits_mix(uint64_t hash, uint64_t number)
{
    hash = (hash ^ number) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

#endif
