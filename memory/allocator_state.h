/*
 * allocator_state.h - the segments and blocks of a device at an earlier moment than the snapshot's own.
 *
 *     struct state state;
 *     state_find(replay, entry, &state);       // after this entry
 *     for (size_t i = 0; i < state.ranges.count; i++)
 *         ... state.pieces.at[state.ranges.at[i].first_piece] ...
 *     state_release(&state);
 *
 * Later entries are undone in the segments of the snapshot. Then the blocks active at the moment are placed in them;
 * memory between them is free. History records requested sizes: a block is the request rounded up to 512 bytes. In a
 * segment for large requests the allocator leaves a rest of up to 1 MiB with the block that is split off, so such a gap
 * after a block belongs to the block here. Free memory can therefore be larger than reported, by up to 1 MiB per block.
 */
#ifndef TPA_MEMORY_ALLOCATOR_STATE_H
#define TPA_MEMORY_ALLOCATOR_STATE_H

#include "memory/allocator_history.h"

struct state_piece {
    uint64_t addr;
    int64_t size;
    uint32_t life; /* LIFE_NONE: free */
    bool pending;  /* freed by its tensor, in use by another stream */
};

struct state_range {
    uint64_t addr;
    int64_t size;
    bool small, expandable;
    uint32_t pool, stream;
    size_t first_piece, piece_count;
    int64_t active, free, largest_free;
    int64_t blocks; /* active ones */
};

struct state {
    int64_t entry;
    VEC_OF(struct state_range) ranges; /* by address: segments, or mapped ranges of expandable ones */
    VEC_OF(struct state_piece) pieces; /* by address; those of a range are consecutive and fill it */
    int64_t reserved, active, inactive, inactive_split, inactive_whole, inactive_expandable, largest_free;
    uint64_t outside; /* active blocks outside of all ranges: the segments' entries are missing */
};

/* Compute the state after ENTRY (HISTORY_BEFORE_FIRST: the initial one). Release with state_release. */
void state_find(const struct allocator_history *replay, int64_t entry, struct state *state);
void state_release(struct state *state);

#endif
