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

/*
 * Sums from which parts are taken away again: they wrap around, so that taking away what was added always gives back what was
 * there.
 */
static inline int64_t sum_wrapped(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

static inline int64_t difference_wrapped(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a - (uint64_t)b);
}

static inline void add_wrapped(int64_t *sum, int64_t value)
{
    *sum = sum_wrapped(*sum, value);
}

#endif
