/* stats.c - see stats.h. */
#include "base/stats.h"

#include <math.h>
#include <stdlib.h>

static int compare_values(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

/* A / B to the nearest integer, halves up; B is positive. */
static int64_t divide_rounded(int64_t a, int64_t b)
{
    int64_t quotient = a / b, rest = a % b;
    if (rest < 0) {
        rest += b;
        quotient--;
    }
    return quotient + (rest >= b - rest);
}

struct stats stats_of(int64_t *values, size_t count)
{
    struct stats stats = { .count = count };
    if (count == 0)
        return stats;
    qsort(values, count, sizeof *values, compare_values);
    stats.least = values[0];
    stats.greatest = values[count - 1];
    for (size_t i = 0; i < count; i++)
        stats.sum += values[i];
    stats.mean = divide_rounded(stats.sum, (int64_t)count);
    int64_t low = values[(count - 1) / 2], high = values[count / 2];
    stats.median = low + (high - low + 1) / 2;
    double mean = (double)stats.sum / (double)count, squares = 0;
    for (size_t i = 0; i < count; i++)
        squares += ((double)values[i] - mean) * ((double)values[i] - mean);
    stats.deviation = count > 1 ? sqrt(squares / (double)(count - 1)) : 0;
    return stats;
}
