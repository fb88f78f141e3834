/*
 * shifts.h - by how much each moment of a replay comes later than recorded.
 *
 *     struct shifts shifts;
 *     shifts_init(&shifts, count);
 *     shifts_set(&shifts, m, ns);         // each moment once
 *     ... shifts_get(&shifts, m) ...
 *     shifts_release(&shifts);
 *
 * A change moves what comes after it, mostly all by the same time. So a block of 64 moments keeps that of the first that was set, and a
 * number for each of them only where one differs: of 32 bits, or of 64 where one is 2 s and more apart.
 */
#ifndef TPA_REPLAY_SHIFTS_H
#define TPA_REPLAY_SHIFTS_H

#include "replay/moment_times.h"
#include <stdbool.h>

enum { SHIFTS_OF_BLOCK = 64 };

/* Values of base_ns that stand for something else. */
#define SHIFTS_UNSET INT64_MAX
#define SHIFTS_ARE_WIDE INT64_MIN

struct shifts_block {
    int64_t base_ns; /* SHIFTS_ARE_WIDE: apart has whole shifts, int64_t each */
    void *apart;     /* int32_t each, from the base; NULL: all are the base */
};

struct shifts {
    struct shifts_block *blocks;
    size_t block_count;
};

/* For COUNT moments, of which none is set. Release with shifts_release. */
void shifts_init(struct shifts *shifts, size_t count);
void shifts_release(struct shifts *shifts);

/* Slow path of shifts_set: the shift is not that of the block. */
void shifts_set_apart(struct shifts_block *block, size_t i, int64_t ns);

/* Moment M shifts by NS; SHIFTS_UNSET: as if it was not set. */
static inline void shifts_set(struct shifts *shifts, moment_id m, int64_t ns)
{
    struct shifts_block *block = &shifts->blocks[m / SHIFTS_OF_BLOCK];
    if (block->base_ns != ns || block->apart || ns == SHIFTS_UNSET)
        shifts_set_apart(block, m % SHIFTS_OF_BLOCK, ns);
}

/* Give back what BLOCK, all of whose shifts were read, takes; it is as if none had been set. */
void shifts_forget(struct shifts *shifts, size_t block);

/* Are the shifts of all that were set in the block of M the same? False where that is not known. */
static inline bool shifts_are_alike(const struct shifts *shifts, moment_id m)
{
    return !shifts->blocks[m / SHIFTS_OF_BLOCK].apart;
}

/* The shift of M, which was set. */
static inline int64_t shifts_get(const struct shifts *shifts, moment_id m)
{
    const struct shifts_block *block = &shifts->blocks[m / SHIFTS_OF_BLOCK];
    if (!block->apart)
        return block->base_ns;
    return block->base_ns == SHIFTS_ARE_WIDE
               ? ((const int64_t *)block->apart)[m % SHIFTS_OF_BLOCK]
               : block->base_ns + ((const int32_t *)block->apart)[m % SHIFTS_OF_BLOCK];
}

#endif
