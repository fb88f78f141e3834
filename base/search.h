/*
 * search.h - binary search for a number among ascending ones.
 *
 *     size_t i = search_from(starts, count, moment_ns);   // starts[0..i) are before the moment
 *
 *     SEARCH(i, count, trace_start_ns(trace, work[i]) < moment_ns);   // the same for items other than numbers
 *     SEARCH_BETWEEN(i, first, end, trace_start_ns(trace, work[i]) < moment_ns);
 */
#ifndef TPA_BASE_SEARCH_H
#define TPA_BASE_SEARCH_H

#include <stddef.h>
#include <stdint.h>

/* Set I to the first place from FIRST up to END for which LIES_BEFORE, an expression of I, is false; to END if there is
 * none. */
#define SEARCH_BETWEEN(i, first, end, lies_before)                                                           \
    do {                                                                                                     \
        size_t low_ = (first), high_ = (end);                                                                \
        while (low_ < high_) {                                                                               \
            (i) = low_ + (high_ - low_) / 2;                                                                 \
            if (lies_before)                                                                                 \
                low_ = (i) + 1;                                                                              \
            else                                                                                             \
                high_ = (i);                                                                                 \
        }                                                                                                    \
        (i) = low_;                                                                                          \
    } while (0)

/* The same for places 0 to COUNT. */
#define SEARCH(i, count, lies_before) SEARCH_BETWEEN(i, 0, count, lies_before)

/* Index of the first of COUNT ascending numbers that is LEAST or more; COUNT if there is none. */
static inline size_t search_from(const int64_t *numbers, size_t count, int64_t least)
{
    size_t i;
    SEARCH(i, count, numbers[i] < least);
    return i;
}

#endif
