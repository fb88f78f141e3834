/*
 * replay.h - what a device's caching allocator held after each entry of a snapshot's history.
 *
 *     struct memory_replay *replay = memory_replay_open(snapshot, device);
 *     printf("%lld bytes at the peak, after entry %lld\n", replay->allocated.peak, replay->allocated.peak_entry);
 *     for (size_t i = 0; i < replay->lives.count; i++)
 *         if (life_is_allocated(&replay->lives.at[i], replay->allocated.peak_entry))
 *             ... this was in use then ...
 *     memory_replay_free(replay);
 *
 * History tells what changed, and not what there was before. So what was in use when it begins is computed from both
 * ends: addresses that are freed before they are allocated, and blocks in use at the end of which history has no
 * allocation. Every use of memory is a life: from an allocation, or from before the first entry, to its free.
 *
 * Two figures are kept apart, as PyTorch does. *Allocated* falls when the tensor dies (free_requested), *active* when
 * no stream uses the memory any more (free_completed); where entries of one kind were not recorded, the other stands
 * for both. All are requested bytes: what was requested, before the allocator rounds up.
 * torch.cuda.max_memory_allocated() is in rounded bytes, and cannot be computed exactly from history.
 *
 * An entry is named by its number in its device's list, from 0; before_first (-1) is the state before any. Of several
 * moments with the same bytes the first is the peak.
 */
#ifndef TPA_SNAPSHOT_REPLAY_H
#define TPA_SNAPSHOT_REPLAY_H

#include "trace/snapshot.h"

#define REPLAY_BEFORE_FIRST (-1)
#define LIFE_GOES_ON INT32_MAX /* not freed as long as history goes */
#define LIFE_NONE UINT32_MAX

/* A block in use; memory_replay_address tells where. */
struct life {
    int64_t size;   /* requested */
    stack_id stack; /* STACK_NONE: not recorded */
    int32_t born;   /* its alloc; REPLAY_BEFORE_FIRST: it was there before */
    int32_t
        freed; /* allocated before this entry; REPLAY_BEFORE_FIRST: the tensor had died before the first one */
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

/* The course of one figure, in bytes. */
struct course {
    int64_t start, peak, end;
    int64_t peak_entry; /* the first after which it had the peak */
};

struct memory_replay {
    const struct snapshot *snapshot; /* borrowed */
    const struct snapshot_device *device;
    int64_t entry_count;
    VEC_OF(struct life) lives;      /* by entry of birth; those from before the first entry come at the end */
    size_t first_old;               /* index of the first of those */
    VEC_OF(uint64_t) old_addresses; /* of those */
    uint32_t *life_of;              /* per entry: the life it begins or ends; LIFE_NONE: none */
    VEC_OF(uint32_t)
    replaced; /* lives that end because an alloc has their address, in the order of these allocs */
    enum entry_action
        leaves_at; /* of allocated: free_requested, or free_completed where there are no others */
    struct course allocated, active, reserved;
    int64_t actions[ENTRY_ACTIONS], action_bytes[ENTRY_ACTIONS];
    uint64_t realloc_of_live; /* allocs of an address that was in use: its free is missing */
    uint64_t frees_ignored;   /* of an address that was not in use */
    uint64_t live_not_in_segments, segments_not_live; /* where history's end and the segments differ */
    uint64_t time_goes_back;
    uint64_t with_stack; /* entries */
    bool has_times;
    bool has_history; /* allocs or frees */
};

/* Replay the entries of DEVICE. New; free with replay_free. SNAPSHOT must outlive it. */
struct memory_replay *memory_replay_open(const struct snapshot *snapshot,
                                         const struct snapshot_device *device);
void memory_replay_free(struct memory_replay *replay);

/* The figures after one entry after the other. */
struct walk {
    const struct memory_replay *replay;
    int64_t entry; /* the last one walked over; REPLAY_BEFORE_FIRST at first */
    int64_t allocated, active, reserved;
    size_t replaced; /* next of replay->replaced */
};
struct walk walk_begin(const struct memory_replay *replay);
bool walk_next(struct walk *walk); /* false behind the last entry */

/* Walk on to ENTRY, which is not before where WALK is. */
void walk_to(struct walk *walk, int64_t entry);

/* The last entry at or before TIME_US; REPLAY_BEFORE_FIRST: none. Where time goes back, the last such in the list. */
int64_t memory_replay_entry_at(const struct memory_replay *replay, int64_t time_us);

/* Time of ENTRY, or SNAPSHOT_NO_TIME; also for REPLAY_BEFORE_FIRST. */
int64_t memory_replay_time(const struct memory_replay *replay, int64_t entry);

/* The number of the device, for tables: pinned host memory has none (INT64_MIN, TABLE_INT_MISSING). */
static inline int64_t memory_replay_device_number(const struct memory_replay *replay)
{
    return replay->device->device == SNAPSHOT_HOST ? INT64_MIN : (int64_t)replay->device->device;
}

/* The address of life number LIFE. */
static inline uint64_t memory_replay_address(const struct memory_replay *replay, size_t life)
{
    return life >= replay->first_old
               ? replay->old_addresses.at[life - replay->first_old]
               : replay->snapshot->entries
                     .addr[replay->device->first + (uint64_t)replay->lives.at[life].born];
}

/* What ENTRY adds to reserved bytes: of segment entries, else 0. */
static inline int64_t memory_replay_reserved_change(const struct snapshot *snapshot, uint64_t entry)
{
    switch (snapshot->entries.action[entry]) {
    case ENTRY_SEGMENT_ALLOC:
    case ENTRY_SEGMENT_MAP: return snapshot->entries.size[entry];
    case ENTRY_SEGMENT_FREE:
    case ENTRY_SEGMENT_UNMAP: return -snapshot->entries.size[entry];
    default: return 0;
    }
}

#endif
