/*
 * sum.h - sums of what a file tells, which may be anything: beyond 64 bits they are as large as those hold.
 *
 * Durations need it not: trace_builder_finish sees to it that all of a trace add up. Sizes do, and times between moments.
 */
#ifndef TPA_BASE_SUM_H
#define TPA_BASE_SUM_H

#include <stdint.h>

static inline void sum_add(int64_t *sum, int64_t value)
{
    if (__builtin_add_overflow(*sum, value, sum))
        *sum = value > 0 ? INT64_MAX : -INT64_MAX; /* INT64_MIN is a missing cell */
}

#endif
