/*
 * segments.h - what the allocator had asked a device for when the snapshot was taken, and how much of it lies idle.
 *
 * A segment is what the allocator got from the device at once; blocks are the pieces it is cut into. Sizes of blocks
 * are rounded up, so `active` here is more than the requested bytes of a replay. Of what is inactive, whole segments go
 * back to the device with torch.cuda.empty_cache(); pieces of segments that hold other blocks cannot (inactive split).
 * The free ranges of expandable segments are neither: they can be unmapped in pages that are free as a whole.
 */
#ifndef TPA_SNAPSHOT_SEGMENTS_H
#define TPA_SNAPSHOT_SEGMENTS_H

#include "trace/snapshot.h"

struct segment_sums {
    uint32_t device;
    uint32_t pool; /* of snapshot->pools; meant in rows of segment_groups only, as are the next two */
    bool small, expandable;
    int64_t segments, blocks, free_blocks;
    int64_t small_segments, expandable_segments;
    int64_t reserved;       /* bytes of the segments */
    int64_t allocated;      /* of blocks that tensors have, rounded */
    int64_t active;         /* these, and those freed that another stream still uses */
    int64_t pending;        /* active - allocated */
    int64_t inactive;       /* reserved - active */
    int64_t inactive_split; /* of blocks in segments that hold active ones, too, and are not expandable */
    int64_t inactive_whole; /* of segments that hold none: what empty_cache() gives back */
    int64_t inactive_expandable;
    int64_t free_pages;    /* of that, pages that are free as a whole: empty_cache() unmaps them */
    int64_t requested;     /* what was requested, of the active blocks */
    int64_t rounding;      /* of the allocated blocks, what is more than was requested */
    int64_t largest_free;  /* block */
    int64_t do_not_add_up; /* segments whose blocks are more or less than the segment */
};

/* All segments of DEVICE together. */
struct segment_sums segment_sums_of(const struct snapshot *snapshot, uint32_t device);

struct segment_groups {
    VEC_OF(struct segment_sums) rows;
};

/* One row per device, pool, kind of segment (small or large) and expandable or not, by bytes. VEC_FREE the rows. */
void segment_groups_find(const struct snapshot *snapshot, struct segment_groups *groups);

#endif
