/*
 * stats.h - a few figures about many durations.
 *
 *     struct stats stats = stats_of(durations.at, durations.count);   // changes their order
 *     printf("%" PRId64 " +- %.0f\n", stats.mean, stats.deviation);
 */
#ifndef TPA_BASE_STATS_H
#define TPA_BASE_STATS_H

#include <stddef.h>
#include <stdint.h>

/* All zero when there are no values. Mean and median are rounded to the nearest integer, halves up. */
struct stats {
    size_t count;
    int64_t sum, least, greatest, mean, median;
    double deviation; /* of a sample: divided by count - 1; 0 for a single value */
};

/* Changes the order of VALUES. A sum beyond 64 bits saturates. Linear time. */
struct stats stats_of(int64_t *values, size_t count);

/* The value that would be at PLACE if the COUNT values, more than PLACE, were sorted. Changes their order. Linear time. */
int64_t stats_value_at(int64_t *values, size_t count, size_t place);

/* The lower of the middle two, if there are two: their sum may not fit. Changes the order of VALUES, COUNT > 0. */
static inline int64_t stats_lower_median(int64_t *values, size_t count)
{
    return stats_value_at(values, count, (count - 1) / 2);
}

#endif
