/*
 * sum.h - the rules for sums that overflow 64 bits. Values from a file may be anything.
 *
 *     Durations need no check: trace_builder_finish() bounds the sum of all of a trace.
 *     Sizes, counts and times between moments saturate: sum_add(), sum_plus().
 *     Sums from which parts are subtracted again wrap: add_wrapped() etc. Additions and subtractions cancel.
 *     A figure of one event that does not fit is missing: __builtin_*_overflow(), then TABLE_INT_MISSING or a notice.
 */
#ifndef TPA_BASE_SUM_H
#define TPA_BASE_SUM_H

#include <stdint.h>

/* Saturating addition; the result is never INT64_MIN, which marks a missing cell. */
static inline int64_t sum_plus(int64_t a, int64_t b)
{
    int64_t sum;
    if (!__builtin_add_overflow(a, b, &sum) && sum != INT64_MIN)
        return sum;
    return a > 0 ? INT64_MAX : -INT64_MAX;
}

/* *SUM = sum_plus(*SUM, VALUE). */
static inline void sum_add(int64_t *sum, int64_t value)
{
    *sum = sum_plus(*sum, value);
}

/* Addition that wraps. */
static inline int64_t sum_wrapped(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

/* A - B, which wraps. */
static inline int64_t difference_wrapped(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a - (uint64_t)b);
}

/* *SUM = sum_wrapped(*SUM, VALUE). */
static inline void add_wrapped(int64_t *sum, int64_t value)
{
    *sum = sum_wrapped(*sum, value);
}

static inline int64_t greater_of(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* A - B, saturating. */
static inline int64_t difference_saturated(int64_t a, int64_t b)
{
    int64_t apart;
    return !__builtin_sub_overflow(a, b, &apart) ? apart : a > b ? INT64_MAX : -INT64_MAX;
}

/* PART of WHOLE; 0 of nothing. */
static inline double sum_share(int64_t part, int64_t whole)
{
    return whole > 0 ? (double)part / (double)whole : 0;
}

/* The sign of A - B. */
static inline int compare_integers(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

#endif
