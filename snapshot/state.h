/*
 * state.h - the segments and blocks of a device at an earlier moment than the snapshot's own.
 *
 *     struct state state;
 *     state_find(replay, entry, &state);       // after this entry
 *     for (size_t i = 0; i < state.ranges.count; i++)
 *         ... state.pieces.at[state.ranges.at[i].first_piece] ...
 *     state_release(&state);
 *
 * The segments of the snapshot, from which the later entries are taken back. Into them the blocks are put that were
 * active at the moment; between them memory is free. History tells what was requested: a block is that, rounded up to
 * 512 bytes. In a segment for large requests the allocator leaves a rest of up to 1 MiB with the block that is cut from
 * it, so such a gap behind a block belongs to the block here. Free memory can therefore be larger than reported, by up
 * to 1 MiB a block.
 */
#ifndef TPA_SNAPSHOT_STATE_H
#define TPA_SNAPSHOT_STATE_H

#include "snapshot/replay.h"

struct state_piece {
    uint64_t addr;
    int64_t size;
    uint32_t life; /* LIFE_NONE: it is free */
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
    VEC_OF(struct state_piece) pieces; /* by address; those of a range follow one another and fill it */
    int64_t reserved, active, inactive, inactive_split, inactive_whole, inactive_expandable, largest_free;
    uint64_t outside; /* active blocks that lie in none of the ranges: the segments' entries are missing */
};

void state_find(const struct memory_replay *replay, int64_t entry, struct state *state);
void state_release(struct state *state);

#endif
