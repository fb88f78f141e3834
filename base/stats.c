/* The median is found by quickselect: only one of the two parts around a pivot is searched further, which takes linear
 * time unless many pivots are bad; then that part is sorted. */
#include "base/stats.h"

#include <math.h>
#include <stdbool.h>
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

static void swap(int64_t *a, int64_t *b)
{
    int64_t value = *a;
    *a = *b;
    *b = value;
}

static int64_t middle_of(int64_t a, int64_t b, int64_t c)
{
    return a < b ? (b < c ? b : a < c ? c : a) : (a < c ? a : b < c ? c : b);
}

/* Move the value that belongs at PLACE in sorted order to it; values before it are not larger, values after it not
 * smaller. */
static void select_value(int64_t *values, size_t count, size_t place)
{
    enum { FEW = 16, MOST_TURNS = 48 };
    size_t first = 0, end = count;
    for (int turns = 0; end - first > FEW && turns < MOST_TURNS; turns++) {
        int64_t pivot = middle_of(values[first], values[first + (end - first) / 2], values[end - 1]);
        size_t less = first, more = end; /* [first, less) are less than the pivot, [more, end) more */
        for (size_t i = first; i < more;)
            if (values[i] < pivot)
                swap(&values[i++], &values[less++]);
            else if (values[i] > pivot)
                swap(&values[i], &values[--more]);
            else
                i++;
        if (place >= less && place < more)
            return;
        if (place < less)
            end = less;
        else
            first = more;
    }
    qsort(values + first, end - first, sizeof *values, compare_values);
}

struct stats stats_of(int64_t *values, size_t count)
{
    struct stats stats = { .count = count };
    if (count == 0)
        return stats;
    stats.least = stats.greatest = values[0];
    double sum = 0;
    bool fits = true;
    for (size_t i = 0; i < count; i++) {
        sum += (double)values[i];
        fits = fits && !__builtin_add_overflow(stats.sum, values[i], &stats.sum);
        stats.least = values[i] < stats.least ? values[i] : stats.least;
        stats.greatest = values[i] > stats.greatest ? values[i] : stats.greatest;
    }
    if (!fits) /* invalid durations, beyond any clock */
        stats.sum = sum > 0 ? INT64_MAX : -INT64_MAX;
    double mean = (fits ? (double)stats.sum : sum) / (double)count, squares = 0;
    stats.mean =
        fits ? divide_rounded(stats.sum, (int64_t)count) : (int64_t)fmax(fmin(mean, 9.2e18), -9.2e18);
    for (size_t i = 0; i < count; i++)
        squares += ((double)values[i] - mean) * ((double)values[i] - mean);
    select_value(values, count, count / 2);
    int64_t high = values[count / 2], low = high;
    if (count % 2 == 0) { /* the largest value before it */
        low = values[0];
        for (size_t i = 1; i < count / 2; i++)
            low = values[i] > low ? values[i] : low;
    }
    uint64_t apart = (uint64_t)high - (uint64_t)low;
    stats.median = (int64_t)((uint64_t)low + apart / 2 + apart % 2);
    stats.deviation = count > 1 ? sqrt(squares / (double)(count - 1)) : 0;
    return stats;
}

int64_t stats_value_at(int64_t *values, size_t count, size_t place)
{
    select_value(values, count, place);
    return values[place];
}
