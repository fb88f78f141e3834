/* allocator_history.h - the history of an allocator, replayed. */
#ifndef TPA_MEMORY_ALLOCATOR_HISTORY_H
#define TPA_MEMORY_ALLOCATOR_HISTORY_H

#include "trace/snapshot.h"

/*
 * allocator_history.c - the state of a device's caching allocator after each entry of a snapshot's history.
 *
 *     struct allocator_history *replay = allocator_history_open(snapshot, device);
 *     printf("%lld bytes at the peak, after entry %lld\n", replay->allocated.peak, replay->allocated.peak_entry);
 *     for (size_t i = 0; i < replay->lives.count; i++)
 *         if (life_is_allocated(&replay->lives.at[i], replay->allocated.peak_entry))
 *             ... this was in use at the peak ...
 *     arena_free(replay);
 *
 * History records changes, not the initial state. So the memory in use at its beginning is computed from both ends:
 * addresses freed before they are allocated, and blocks in use at the end without an allocation in the history. Every
 * use of memory is a life: from an allocation, or from before the first entry, to its free.
 *
 * Two figures are kept apart, as PyTorch does. *Allocated* falls when the tensor dies (free_requested), *active* when
 * no stream uses the memory any more (free_completed); if entries of one kind were not recorded, the other is used for
 * both. All are requested bytes, before the allocator rounds up. torch.cuda.max_memory_allocated() is in rounded bytes,
 * and cannot be computed exactly from history.
 *
 * An entry is identified by its index in its device's list, from 0; HISTORY_BEFORE_FIRST (-1) is the initial state. Of
 * several moments with the same bytes the first is the peak.
 */

#define HISTORY_BEFORE_FIRST (-1)
#define LIFE_GOES_ON INT32_MAX /* not freed in the history */
#define LIFE_NONE UINT32_MAX

/* A block in use; see allocator_history_address for its address. */
struct life {
    int64_t size;   /* requested */
    stack_id stack; /* STACK_NONE: not recorded */
    int32_t born;   /* its alloc; HISTORY_BEFORE_FIRST: it existed before */
    /* allocated before this entry; HISTORY_BEFORE_FIRST: the tensor had died before the first one */
    int32_t freed;
    int32_t completed; /* active before this entry */
};

/* Is LIFE allocated, active, after ENTRY? */
static inline bool life_is_allocated(const struct life *life, int64_t entry)
{
    return life->born <= entry && life->freed > entry;
}
static inline bool life_is_active(const struct life *life, int64_t entry)
{
    return life->born <= entry && life->completed > entry;
}

/* One figure over time, in bytes. */
struct course {
    int64_t start, peak, end;
    int64_t peak_entry; /* the first entry after which it had its peak */
};

struct allocator_history {
    const struct snapshot *snapshot; /* borrowed */
    const struct snapshot_device *device;
    int64_t entry_count;
    VEC_OF(struct life) lives;      /* by entry of birth; those from before the first entry come at the end */
    size_t first_old;               /* index of the first of those */
    VEC_OF(uint64_t) old_addresses; /* of those */
    uint32_t *life_of;              /* per entry: the life it begins or ends; LIFE_NONE: none */
    VEC_OF(uint32_t)
    replaced; /* lives that end because an alloc reuses their address, in the order of these allocs */
    enum entry_action leaves_at; /* of allocated: free_requested, or free_completed if there are no others */
    struct course allocated, active, reserved;
    int64_t actions[ENTRY_ACTIONS], action_bytes[ENTRY_ACTIONS];
    uint64_t realloc_of_live; /* allocs of an address that was in use: its free is missing */
    uint64_t frees_ignored;   /* of an address that was not in use */
    /* where the end of the history and the segments differ */
    uint64_t live_not_in_segments, segments_not_live;
    uint64_t time_goes_back;
    uint64_t with_stack; /* entries */
    bool has_times;
    bool has_history; /* allocs or frees */
};

/* Replay the entries of DEVICE. New; free with arena_free. SNAPSHOT must outlive it. */
struct allocator_history *allocator_history_open(const struct snapshot *snapshot,
                                                 const struct snapshot_device *device);

/* An iterator over the figures after each entry. */
struct walk {
    const struct allocator_history *replay;
    int64_t entry; /* the current entry; initially HISTORY_BEFORE_FIRST */
    int64_t allocated, active, reserved;
    size_t replaced; /* next of replay->replaced */
};
struct walk walk_begin(const struct allocator_history *replay);
bool walk_next(struct walk *walk); /* false after the last entry */

/* Advance to ENTRY, which must not be before the current one. */
void walk_to(struct walk *walk, int64_t entry);

/* The last entry at or before TIME_US; HISTORY_BEFORE_FIRST: none. If times decrease, the last such entry in the
 * list. */
int64_t allocator_history_entry_at(const struct allocator_history *replay, int64_t time_us);

/* Time of ENTRY in us since 1970; SNAPSHOT_NO_TIME if unknown, also for HISTORY_BEFORE_FIRST. */
int64_t allocator_history_time(const struct allocator_history *replay, int64_t entry);

/* The number of the device, for tables: pinned host memory has none (INT64_MIN, TABLE_INT_MISSING). */
static inline int64_t allocator_history_device_number(const struct allocator_history *replay)
{
    return replay->device->device == SNAPSHOT_HOST ? INT64_MIN : (int64_t)replay->device->device;
}

/* The address of life number LIFE. */
static inline uint64_t allocator_history_address(const struct allocator_history *replay, size_t life)
{
    return life >= replay->first_old
               ? replay->old_addresses.at[life - replay->first_old]
               : replay->snapshot->entries
                     .addr[replay->device->first + (uint64_t)replay->lives.at[life].born];
}

/* The change of reserved bytes by ENTRY; 0 unless it is a segment entry. */
static inline int64_t allocator_history_reserved_change(const struct snapshot *snapshot, uint64_t entry)
{
    switch (snapshot->entries.action[entry]) {
    case ENTRY_SEGMENT_ALLOC:
    case ENTRY_SEGMENT_MAP: return snapshot->entries.size[entry];
    case ENTRY_SEGMENT_FREE:
    case ENTRY_SEGMENT_UNMAP: return -snapshot->entries.size[entry];
    default: return 0;
    }
}

/*
 * allocator_state.c - the segments and blocks of a device at an earlier moment than the snapshot's own.
 *
 *     struct state state;
 *     state_find(replay, entry, &state);       // after this entry
 *     for (size_t i = 0; i < state.ranges.count; i++)
 *         ... state.pieces.at[state.ranges.at[i].first_piece] ...
 *     EACH(VEC_FREE, &state.ranges, &state.pieces);
 *
 * Later entries are undone in the segments of the snapshot. Then the blocks active at the moment are placed in them;
 * memory between them is free. History records requested sizes: a block is the request rounded up to 512 bytes. In a
 * segment for large requests the allocator leaves a rest of up to 1 MiB with the block that is split off, so such a gap
 * after a block belongs to the block here. Free memory can therefore be larger than reported, by up to 1 MiB per block.
 */

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

/* Compute the state after ENTRY (HISTORY_BEFORE_FIRST: the initial one). The caller frees ranges and pieces. */
void state_find(const struct allocator_history *replay, int64_t entry, struct state *state);

/*
 * alive.c - memory in use at a moment, by the code that allocated it.
 *
 *     struct alive *alive = alive_find(replay, replay->allocated.peak_entry, ALIVE_BY_LINE);
 *     for (size_t i = 0; i < alive->rows.count; i++)
 *         printf("%s %lld\n", alive->rows.at[i].name, alive->rows.at[i].bytes);
 *     arena_free(alive);
 *
 * Memory from before recording began without a stack is a separate row, "[before recording]"; later allocations without
 * one are "[no frames]".
 */

enum alive_by {
    ALIVE_BY_LINE,       /* snapshot_user_frame */
    ALIVE_BY_STACK,      /* all frames, innermost first, with " <- " between them */
    ALIVE_BY_ANNOTATION, /* the innermost user scope in which it was allocated; needs times */
    ALIVE_BY_CATEGORY,   /* parameter, gradient ...; recorded by _profile_to_snapshot */
    ALIVE_BY_POOL,
    ALIVE_BY_STREAM,
    ALIVE_BY_CONTEXT, /* of torch.compile: the number of the graph */
    ALIVE_BY_METADATA,
    ALIVE_BY_COUNT
};

extern const char alive_before_recording[], alive_no_frames[];

struct alive_row {
    const char *name; /* in the arena */
    size_t length;
    stack_id stack; /* of the largest block; STACK_NONE: none */
    int64_t bytes;  /* requested */
    int64_t count;
};

struct alive {
    VEC_OF(struct alive_row) rows; /* by bytes, then by name */
    int64_t bytes, count;
    int64_t before_bytes, before_count; /* part of these from before recording began */
};

/* Find the memory allocated after ENTRY (HISTORY_BEFORE_FIRST .. the last). New; free with arena_free. */
struct alive *alive_find(const struct allocator_history *replay, int64_t entry, enum alive_by by);

/* ---- for other aggregations of lives ---- */

/* Names of lives: dense ids, equal for equal names. Computed once per replay, because every stack is
 * visited. */
struct life_names {
    const struct allocator_history *replay;
    enum alive_by by;
    uint32_t *of_stack;    /* for line and stack: by stack, for those of the device */
    uint32_t *of_life;     /* else: by life */
    struct names *names;   /* the texts */
    uint32_t before, none; /* "[before recording]" and "[no frames]" */
};
/* New; free with arena_free. */
struct life_names *life_names_open(const struct allocator_history *replay, enum alive_by by);

/* New, free with free(): by stack, does an entry or a life of REPLAY have it? A device has few of all stacks. */
bool *allocator_history_stacks(const struct allocator_history *replay);

/* The name of life number LIFE, as an id of names->names. */
uint32_t life_name(const struct life_names *names, size_t life);

/* "a:1:f <- b:2:g": the frames of STACK, innermost first, appended to OUT. */
struct buffer;
void snapshot_stack_text(const struct snapshot *snapshot, stack_id stack, struct buffer *out);

#endif
