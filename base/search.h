/*
 * search.h - binary search for a number among ascending ones.
 *
 *     size_t i = search_from(starts, count, moment_ns);   // starts[0..i) are before the moment
 *
 *     SEARCH(i, count, trace_start_ns(trace, work[i]) < moment_ns);   // the same for items other than numbers
 *     SEARCH_BETWEEN(i, first, end, trace_start_ns(trace, work[i]) < moment_ns);
 *     SEARCH_NEAR(i, i, count, trace_start_ns(trace, work[i]) < moment_ns);   // from the place that was found last
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

/* As SEARCH; the nearer the place is to NEAR, the sooner it is found. For places that are looked for one after the other. */
#define SEARCH_NEAR(i, near, count, lies_before)                                                             \
    do {                                                                                                     \
        size_t from_ = 0, to_ = (count), step_ = 1;                                                          \
        (i) = (near) < to_ ? (near) : to_;                                                                   \
        while ((i) < to_ && (lies_before)) {                                                                 \
            from_ = (i) + 1;                                                                                 \
            (i) = to_ - (i) > step_ ? (i) + step_ : to_;                                                     \
            step_ *= 2;                                                                                      \
        }                                                                                                    \
        to_ = (i);                                                                                           \
        while (from_ == 0 && (i) > 0) {                                                                      \
            (i) = (i) > step_ ? (i)-step_ : 0;                                                               \
            step_ *= 2;                                                                                      \
            if (lies_before)                                                                                 \
                from_ = (i) + 1;                                                                             \
            else                                                                                             \
                to_ = (i);                                                                                   \
        }                                                                                                    \
        SEARCH_BETWEEN(i, from_, to_, lies_before);                                                          \
    } while (0)

/* The place that SEARCH, SEARCH_BETWEEN or SEARCH_NEAR finds, as a value: size_t end = PLACE(i, count, at[i].start_ns < limit); */
#define PLACE(i, count, lies_before) PLACE_BETWEEN(i, 0, count, lies_before)
#define PLACE_BETWEEN(i, first, end, lies_before)                                                            \
    ({                                                                                                       \
        size_t i;                                                                                            \
        SEARCH_BETWEEN(i, first, end, lies_before);                                                          \
        i;                                                                                                   \
    })
#define PLACE_NEAR(i, near, count, lies_before)                                                              \
    ({                                                                                                       \
        size_t i;                                                                                            \
        SEARCH_NEAR(i, near, count, lies_before);                                                            \
        i;                                                                                                   \
    })

/* Index of the first of COUNT ascending numbers that is LEAST or more; COUNT if there is none. */
static inline size_t search_from(const int64_t *numbers, size_t count, int64_t least)
{
    return PLACE(i, count, numbers[i] < least);
}

/* The representative of the set that NUMBER is in. OF: by number, another of its set; itself. */
static inline uint32_t search_set(uint32_t *of, uint32_t number)
{
    while (of[number] != number)
        number = of[number] = of[of[number]];
    return number;
}

#endif
