/*
 * moment_times.h - a time for each moment, in half the memory that 64 bits each take.
 *
 *     struct moment_times times = { 0 };
 *     moment_times_resize(&times, count);
 *     moment_times_set(&times, m, ns);
 *     ... moment_times_get(&times, m) ...
 *     moment_times_release(&times);
 *
 * Moments lie in blocks of 64. A block has a base, the time that was set first in it, and each of its moments 32 bits from
 * there. Times further away, 2 s, have 64 bits in a list of their block.
 */
#ifndef TPA_WHATIF_MOMENT_TIMES_H
#define TPA_WHATIF_MOMENT_TIMES_H

#include <stddef.h>
#include <stdint.h>

typedef uint32_t moment_id;
#define MOMENT_NONE UINT32_MAX

enum { MOMENTS_OF_BLOCK = 64 };
#define MOMENT_IS_FAR INT32_MIN

/* The times of a block that are too far from its base; NULL: there are none. */
struct far_times {
    int64_t *at_ns; /* MOMENTS_OF_BLOCK of them */
};

struct moment_times {
    int32_t *from_base_ns; /* by moment; MOMENT_IS_FAR: see far */
    int64_t *base_ns;      /* by block; INT64_MIN: nothing was set there */
    struct far_times *far; /* by block; NULL: no block has any */
    size_t count;          /* of moments */
};

/* Let TIMES be of COUNT moments. Times that were set stay; of the others nothing is known. Only moments that were not set may go. */
void moment_times_resize(struct moment_times *times, size_t count);

/* M comes at NS. */
void moment_times_set(struct moment_times *times, moment_id m, int64_t ns);

/* Free all; TIMES is empty then. */
void moment_times_release(struct moment_times *times);

/* The time that was set of M. */
static inline int64_t moment_times_get(const struct moment_times *times, moment_id m)
{
    int32_t from_base_ns = times->from_base_ns[m];
    return from_base_ns == MOMENT_IS_FAR ? times->far[m / MOMENTS_OF_BLOCK].at_ns[m % MOMENTS_OF_BLOCK]
                                         : times->base_ns[m / MOMENTS_OF_BLOCK] + from_base_ns;
}

#endif
