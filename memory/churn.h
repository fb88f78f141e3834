/*
 * churn.h - allocations and frees by line of code: counts, lifetimes, and requests to the device.
 */
#ifndef TPA_MEMORY_CHURN_H
#define TPA_MEMORY_CHURN_H

#include "base/table.h"
#include "memory/allocator_history.h"

/* A line of code on a device. Allocations of the line count, regardless of what freed them. */
struct churn_row {
    struct text file, line;
    int64_t device;
    int64_t allocations, allocated_bytes; /* requested, all together */
    int64_t freed, freed_bytes;           /* of these */
    int64_t average_bytes, largest_bytes;
    int64_t lifetime_median_ns, lifetime_p90_ns,
        lifetime_longest_ns; /* of freed memory; TABLE_INT_MISSING without times */
    int64_t segments,
        segment_bytes;      /* that the allocator got from the device for it: each a cudaMalloc or cuMemMap */
    int64_t segments_freed; /* that it gave back within calls of this line: each waits for the device */
};

struct churn {
    VEC_OF(struct churn_row) rows; /* by bytes allocated, all devices together */
    struct arena arena;
};

/* Add the lines of the device of REPLAY to CHURN. FILE is borrowed. */
void churn_find(const struct allocator_history *replay, const char *file, struct churn *churn);
void churn_release(struct churn *churn);

#endif
