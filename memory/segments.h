/*
 * segments.h - memory that the allocator had reserved on a device when the snapshot was taken, and its unused part.
 *
 * A segment is memory that the allocator got from the device in one call; blocks are its parts. Sizes of blocks are
 * rounded up, so `active` here is more than the requested bytes of a replay. Of inactive memory,
 * torch.cuda.empty_cache() returns whole segments to the device; parts of segments with other blocks cannot be returned
 * (inactive split). The free ranges of expandable segments are neither: they can be unmapped in pages that are
 * completely free.
 */
#ifndef TPA_MEMORY_SEGMENTS_H
#define TPA_MEMORY_SEGMENTS_H

#include "trace/snapshot.h"

struct segment_sums {
    uint32_t device;
    uint32_t pool; /* of snapshot->pools; only set in rows of segment_groups, as are the next two */
    bool small, expandable;
    int64_t segments, blocks, free_blocks;
    int64_t small_segments, expandable_segments;
    int64_t reserved;       /* bytes of the segments */
    int64_t allocated;      /* of blocks held by tensors, rounded */
    int64_t active;         /* these, and freed ones that another stream still uses */
    int64_t pending;        /* active - allocated */
    int64_t inactive;       /* reserved - active */
    int64_t inactive_split; /* of blocks in non-expandable segments with other active blocks */
    int64_t inactive_whole; /* of segments without active blocks: returned by empty_cache() */
    int64_t inactive_expandable;
    int64_t free_pages;    /* part of that in completely free pages: unmapped by empty_cache() */
    int64_t requested;     /* what was requested, of the active blocks */
    int64_t rounding;      /* of the allocated blocks, bytes beyond the request */
    int64_t largest_free;  /* block */
    int64_t do_not_add_up; /* segments whose size differs from the sum of their blocks */
};

/* All segments of DEVICE together. */
struct segment_sums segment_sums_of(const struct snapshot *snapshot, uint32_t device);

struct segment_groups {
    VEC_OF(struct segment_sums) rows;
};

/* One row per device, pool, kind of segment (small or large) and expandable or not, by bytes. VEC_FREE the rows. */
void segment_groups_find(const struct snapshot *snapshot, struct segment_groups *groups);

#endif
