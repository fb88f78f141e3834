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
 * number for each of them only where one differs: of 16 bits, of 24 where one is 32 us and more apart, of 32 from 8 ms on, and of
 * 64 from 2 s on. As a graph launches all of a step at once, blocks of 16 and 24 bits take 190 bytes on average, and 272 where
 * each number has 32.
 */
#ifndef TPA_WHATIF_SHIFTS_H
#define TPA_WHATIF_SHIFTS_H

#include "whatif/moment_times.h"
#include <stdbool.h>

enum { SHIFTS_OF_BLOCK = 64 };

/* Values of base_ns that stand for something else. */
#define SHIFTS_UNSET INT64_MAX
#define SHIFTS_ARE_WIDE INT64_MIN

/* By how much the shifts of a block differ from its base. */
struct shifts_apart {
    uint16_t bytes; /* of a number: 2, 3, 4 or 8 */
    union {
        struct {
            uint16_t low[SHIFTS_OF_BLOCK]; /* of 2 bytes the number, else its lower ones */
            int8_t high[SHIFTS_OF_BLOCK];  /* of 3; not there of 2 */
        };
        int32_t four[SHIFTS_OF_BLOCK];
        int64_t whole[SHIFTS_OF_BLOCK]; /* of 8: from 0, not from the base */
    };
};

struct shifts_block {
    int64_t base_ns;            /* SHIFTS_ARE_WIDE: of 8 bytes each */
    struct shifts_apart *apart; /* NULL: all are the base */
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

/* Was the shift of M set, and not forgotten? */
static inline bool shifts_are_known(const struct shifts *shifts, moment_id m)
{
    const struct shifts_block *block = &shifts->blocks[m / SHIFTS_OF_BLOCK];
    return block->base_ns != SHIFTS_UNSET || block->apart;
}

/* Are the shifts of all that were set in the block of M the same? False where that is not known. */
static inline bool shifts_are_alike(const struct shifts *shifts, moment_id m)
{
    return !shifts->blocks[m / SHIFTS_OF_BLOCK].apart;
}

/* The shift at I of BLOCK, which has numbers. */
static inline int64_t shifts_apart_get(const struct shifts_block *block, size_t i)
{
    const struct shifts_apart *apart = block->apart;
    if (apart->bytes == 3)
        return block->base_ns + (int64_t)apart->high[i] * 65536 + apart->low[i];
    if (apart->bytes == 2)
        return block->base_ns + (int16_t)apart->low[i];
    return apart->bytes == 4 ? block->base_ns + apart->four[i] : apart->whole[i];
}

/* The shift of M, which was set. */
static inline int64_t shifts_get(const struct shifts *shifts, moment_id m)
{
    const struct shifts_block *block = &shifts->blocks[m / SHIFTS_OF_BLOCK];
    return block->apart ? shifts_apart_get(block, m % SHIFTS_OF_BLOCK) : block->base_ns;
}

#endif
