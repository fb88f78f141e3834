/*
 * tpafile_seconds.h - times of a profile, which are doubles of seconds, as the two numbers that .tpa files keep of each.
 *
 * Profilers count ns or us and write the quotient, so the nearest ns is a small number and the difference of the bits
 * is 0, or 1 where times were added up. Any double is restored to its last bit, even NaN.
 */
#ifndef TPA_TRACE_TPAFILE_SECONDS_H
#define TPA_TRACE_TPAFILE_SECONDS_H

#include <math.h>
#include <stdint.h>
#include <string.h>

/* The bits of the double of NS as seconds. */
static inline uint64_t tpafile_bits_of_ns(int64_t ns)
{
    double seconds = (double)ns / 1e9;
    uint64_t bits;
    memcpy(&bits, &seconds, sizeof bits);
    return bits;
}

/* The bits of a double, and back: these two functions. */
static inline int64_t tpafile_bits_of(double number)
{
    int64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

static inline double tpafile_double_of(int64_t bits)
{
    double number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

/* SECONDS as the nearest number of nanoseconds and the difference of the bits, and back: these two functions. */
static inline void tpafile_split_seconds(double seconds, int64_t *ns, int64_t *bits)
{
    double exact = seconds * 1e9;
    *ns = exact > -0x1p62 && exact < 0x1p62 ? llrint(exact) : 0;
    uint64_t whole = (uint64_t)tpafile_bits_of(seconds);
    *ns += whole - tpafile_bits_of_ns(*ns) == UINT64_C(1) << 63; /* of -0: in a file, that is "unknown" */
    *bits = (int64_t)(whole - tpafile_bits_of_ns(*ns));
}

static inline double tpafile_join_seconds(int64_t ns, int64_t bits)
{
    return tpafile_double_of((int64_t)(tpafile_bits_of_ns(ns) + (uint64_t)bits));
}

#endif
