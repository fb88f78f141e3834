/*
 * search.h - where a number belongs among ascending ones.
 *
 *     size_t i = search_from(starts, count, moment_ns);   // starts[0..i) lie before the moment
 *
 *     SEARCH(i, count, trace->start_ns[work[i]] < moment_ns);   // the same of what is no array of numbers
 */
#ifndef TPA_BASE_SEARCH_H
#define TPA_BASE_SEARCH_H

#include <stddef.h>
#include <stdint.h>

/* Index of the first of COUNT ascending numbers that is VALUE or more; COUNT when there is none. */
static inline size_t search_from(const int64_t *numbers, size_t count, int64_t value)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (numbers[middle] < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Set I, a size_t, to the first of COUNT places for which LIES_BEFORE, an expression of I, is false. */
#define SEARCH(i, count, lies_before)                                                                        \
    do {                                                                                                     \
        size_t low_ = 0, high_ = (count);                                                                    \
        while (low_ < high_) {                                                                               \
            (i) = low_ + (high_ - low_) / 2;                                                                 \
            if (lies_before)                                                                                 \
                low_ = (i) + 1;                                                                              \
            else                                                                                             \
                high_ = (i);                                                                                 \
        }                                                                                                    \
        (i) = low_;                                                                                          \
    } while (0)

#endif
