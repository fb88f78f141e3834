#include "memory/allocator_history.h"
#include "base/rows.h"
#include "base/search.h"

enum { ROUNDING = 512, SMALL_SEGMENT = 2 << 20, KEPT_REST = 1 << 20 };

/* ---- undoing entries ---- */

static size_t find_range(const struct state *state, uint64_t addr)
{
    return PLACE(i, state->ranges.count, state->ranges.at[i].addr < addr);
}

static void insert_range(struct state *state, struct state_range range)
{
    if (range.size <= 0)
        return;
    size_t at = find_range(state, range.addr);
    VEC_PUSH(&state->ranges);
    struct state_range *ranges = state->ranges.at;
    memmove(ranges + at + 1, ranges + at, (state->ranges.count - 1 - at) * sizeof *ranges);
    ranges[at] = range;
}

static void remove_range(struct state *state, size_t at)
{
    struct state_range *ranges = state->ranges.at;
    memmove(ranges + at, ranges + at + 1, (state->ranges.count - at - 1) * sizeof *ranges);
    state->ranges.count--;
}

static struct state_range range_of_entry(const struct allocator_history *replay, uint64_t e, bool expandable)
{
    const struct snapshot_entries *entries = &replay->snapshot->entries;
    return (struct state_range){
        .addr = entries->addr[e],
        .size = entries->size[e],
        .expandable = expandable,
        .small = entries->size[e] <= SMALL_SEGMENT && !expandable,
        .pool = column_at(&entries->pool, e),
        .stream = column_at(&entries->stream, e),
    };
}

/* Remove [addr, addr + size) from the ranges of expandable segments. */
static void cut_out(struct state *state, uint64_t addr, int64_t size)
{
    uint64_t end = addr + (uint64_t)size;
    size_t at = find_range(state, addr);
    at -= at > 0 && state->ranges.at[at - 1].addr + (uint64_t)state->ranges.at[at - 1].size > addr;
    while (at < state->ranges.count && state->ranges.at[at].addr < end) {
        struct state_range range = state->ranges.at[at];
        uint64_t range_end = range.addr + (uint64_t)range.size;
        if (!range.expandable || range_end <= addr) {
            at++;
            continue;
        }
        remove_range(state, at);
        struct state_range before = range, behind = range;
        before.size = range.addr < addr ? (int64_t)(addr - range.addr) : 0;
        behind.addr = end;
        behind.size = range_end > end ? (int64_t)(range_end - end) : 0;
        insert_range(state, before);
        insert_range(state, behind);
        at += (before.size > 0) + (behind.size > 0);
    }
}

/* Add a mapped range again, merged with adjacent ones. */
static void join_in(struct state *state, struct state_range range)
{
    size_t at = find_range(state, range.addr);
    if (at > 0) {
        const struct state_range *before = &state->ranges.at[at - 1];
        if (before->expandable && before->addr + (uint64_t)before->size == range.addr) {
            range.addr = before->addr;
            range.size += before->size;
            range.small = before->small;
            remove_range(state, --at);
        }
    }
    if (at < state->ranges.count) {
        const struct state_range *behind = &state->ranges.at[at];
        if (behind->expandable && range.addr + (uint64_t)range.size == behind->addr) {
            range.size += behind->size;
            range.small = behind->small;
            remove_range(state, at);
        }
    }
    insert_range(state, range);
}

static void allocator_state_undo(const struct allocator_history *replay, uint64_t e, struct state *state)
{
    const struct snapshot_entries *entries = &replay->snapshot->entries;
    switch (entries->action[e]) {
    case ENTRY_SEGMENT_ALLOC: {
        size_t at = find_range(state, entries->addr[e]);
        if (at < state->ranges.count && state->ranges.at[at].addr == entries->addr[e])
            remove_range(state, at);
        break;
    }
    case ENTRY_SEGMENT_FREE: insert_range(state, range_of_entry(replay, e, false)); break;
    case ENTRY_SEGMENT_MAP: cut_out(state, entries->addr[e], entries->size[e]); break;
    case ENTRY_SEGMENT_UNMAP: join_in(state, range_of_entry(replay, e, true)); break;
    default: break;
    }
}

static void find_ranges(const struct allocator_history *replay, struct state *state)
{
    const struct snapshot *snapshot = replay->snapshot;
    size_t end = snapshot_end_of_segments(snapshot, replay->device->device);
    for (size_t s = snapshot_first_segment(snapshot, replay->device->device); s < end; s++) {
        const struct snapshot_segment *segment = &snapshot->segments.at[s];
        *VEC_PUSH(&state->ranges) = (struct state_range){
            .addr = segment->addr,
            .size = segment->total,
            .small = segment->small,
            .expandable = segment->expandable,
            .pool = segment->pool,
            .stream = segment->stream,
        };
    }
    for (uint64_t e = replay->device->end; e > replay->device->first + (uint64_t)(state->entry + 1); e--)
        allocator_state_undo(replay, e - 1, state);
}

/* ---- blocks ---- */

static const struct key by_pieces[] = { ASC(struct state_piece, addr), KEY_END };

static void add_free(struct state *state, struct state_range *range, uint64_t addr, int64_t size)
{
    if (size <= 0)
        return;
    *VEC_PUSH(&state->pieces) = (struct state_piece){ addr, size, LIFE_NONE, false };
    range->free += size;
    if (size > range->largest_free)
        range->largest_free = size;
}

/* Add the BLOCKS in RANGE from *NEXT on to it, and the free pieces between them. */
static void fill_range(struct state *state, struct state_range *range, const struct state_piece *blocks,
                       size_t count, size_t *next)
{
    uint64_t at = range->addr, end = range->addr + (uint64_t)range->size;
    range->first_piece = state->pieces.count;
    for (; *next < count && blocks[*next].addr < end; ++*next) {
        struct state_piece block = blocks[*next];
        if (block.addr < at) { /* outside of all ranges, or overlapping another */
            state->outside++;
            continue;
        }
        add_free(state, range, at, (int64_t)(block.addr - at));
        uint64_t limit = *next + 1 < count && blocks[*next + 1].addr < end ? blocks[*next + 1].addr : end;
        int64_t room = (int64_t)(limit - block.addr), rest = room - block.size;
        if (rest < ROUNDING || (!range->small && rest <= KEPT_REST))
            block.size = room;
        *VEC_PUSH(&state->pieces) = block;
        range->active += block.size;
        range->blocks++;
        at = block.addr + (uint64_t)block.size;
    }
    add_free(state, range, at, (int64_t)(end - at));
    range->piece_count = state->pieces.count - range->first_piece;
}

static void sum_up(struct state *state)
{
    FOR_EACH(range, &state->ranges) {
        state->reserved += range->size;
        state->active += range->active;
        state->inactive += range->free;
        if (range->largest_free > state->largest_free)
            state->largest_free = range->largest_free;
        if (range->expandable)
            state->inactive_expandable += range->free;
        else if (range->blocks)
            state->inactive_split += range->free;
        else
            state->inactive_whole += range->free;
    }
}

void state_find(const struct allocator_history *replay, int64_t entry, struct state *state)
{
    *state = (struct state){ .entry = entry };
    find_ranges(replay, state);
    VEC_OF(struct state_piece) blocks = { 0 };
    for (size_t i = 0; i < replay->lives.count; i++) {
        const struct life *life = &replay->lives.at[i];
        if (!life_is_active(life, entry))
            continue;
        int64_t size = life->size ? (life->size + ROUNDING - 1) / ROUNDING * ROUNDING : ROUNDING;
        *VEC_PUSH(&blocks) = (struct state_piece){ allocator_history_address(replay, i), size, (uint32_t)i,
                                                   !life_is_allocated(life, entry) };
    }
    if (blocks.count)
        SORT(&blocks, by_pieces);
    size_t next = 0;
    for (size_t i = 0; i < state->ranges.count; i++)
        fill_range(state, &state->ranges.at[i], blocks.at, blocks.count, &next);
    state->outside += blocks.count - next;
    VEC_FREE(&blocks);
    sum_up(state);
}
