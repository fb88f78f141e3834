/*
 * packed.h - a column of 64-bit numbers in few bytes, each still a few instructions away.
 *
 * Numbers that lie near one another are near in value: times ascend, streams repeat, numbers of calls count up. So a block of
 * 512 is kept as its least value and, for each, how much more it is, in 0, 1, 2, 4 or 8 bytes. Those that would take 8, which
 * are mostly doubles, are kept once each where they are few, and which it is in a byte.
 */
#ifndef TPA_TRACE_PACKED_H
#define TPA_TRACE_PACKED_H

#include <stddef.h>
#include <stdint.h>

enum {
    PACKED_VALUES = 512, /* of a block; the last has fewer */
    /* As a width: a byte for each of 512 values says which of the words behind these it is. */
    PACKED_CHOSEN = 3,
    PACKED_CHOICE_WORDS = PACKED_VALUES / sizeof(uint64_t),
    PACKED_UNBOUNDED = 64,
};
struct packed_block {
    int64_t base; /* the least */
    uint32_t at;  /* where the others are, in 8 bytes from packed.values */
    uint8_t
        width;    /* bytes that each takes: how much more than the base it is; 0: nothing; or PACKED_CHOSEN */
    uint8_t bits; /* of the largest of these; PACKED_UNBOUNDED: it is not known, nor is the base the least */
};

struct packed {
    const struct packed_block *blocks;
    const void *values;
};

/* Value I, of those that there are. Nearly all blocks of times take 4 bytes a value. */
static inline int64_t packed_value(const struct packed *packed, size_t i)
{
    const struct packed_block *block = &packed->blocks[i / PACKED_VALUES];
    const uint64_t *at = (const uint64_t *)packed->values + block->at;
    uint64_t more = 0;
    i %= PACKED_VALUES;
    if (block->width == 4)
        return (int64_t)((uint64_t)block->base + ((const uint32_t *)at)[i]);
    switch (block->width) {
    case 1: more = ((const uint8_t *)at)[i]; break;
    case 2: more = ((const uint16_t *)at)[i]; break;
    case PACKED_CHOSEN: more = at[PACKED_CHOICE_WORDS + ((const uint8_t *)at)[i]]; break;
    case 8: more = at[i]; break;
    default: break;
    }
    return (int64_t)((uint64_t)block->base + more);
}

/* No value of BLOCK is less than the one, and none is more than the other, which is less than twice as far from the base as one is. */
static inline int64_t packed_least(const struct packed_block *block)
{
    return block->bits == PACKED_UNBOUNDED ? INT64_MIN : block->base;
}

static inline int64_t packed_most(const struct packed_block *block)
{
    int64_t more = block->bits < 63 ? (INT64_C(1) << block->bits) - 1 : INT64_MAX;
    return block->bits == PACKED_UNBOUNDED || block->base > INT64_MAX - more ? INT64_MAX : block->base + more;
}

/* The blocks of COUNT values. */
static inline size_t packed_blocks(size_t count)
{
    return (count + PACKED_VALUES - 1) / PACKED_VALUES;
}

/* The COUNT values of BLOCK, all that it has, into VALUES: for a pass over many of them. */
void packed_read_block(const struct packed *packed, size_t block, size_t count, int64_t *values);

/* COUNT values from FIRST on into VALUES. */
void packed_read_values(const struct packed *packed, size_t first, size_t count, int64_t *values);

/* Write the next block, of COUNT VALUES, to TO from word *WORDS on, which is moved on behind it. It takes no more than COUNT
 * words, so that a column may be packed where it lies when VALUES is a copy. */
struct packed_block packed_write(uint64_t *to, size_t *words, const int64_t *values, size_t count);

#endif
