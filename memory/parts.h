/* parts.h - what the views of a snapshot share. */
#ifndef TPA_MEMORY_PARTS_H
#define TPA_MEMORY_PARTS_H

#include "base/table.h"
#include "memory/allocator_history.h"

/* churn.c - allocations and frees by line of code: counts, lifetimes, and requests to the device. */

/* A line of code on a device. Allocations of the line count, regardless of what freed them. */
struct churn_row {
    struct text file, line;
    int64_t device;
    int64_t allocations, allocated_bytes; /* requested, all together */
    int64_t freed, freed_bytes;           /* of these */
    int64_t average_bytes, largest_bytes;
    int64_t lifetime_median_ns, lifetime_p90_ns,
        lifetime_longest_ns; /* of freed memory; TABLE_INT_MISSING without times */
    int64_t segments,
        segment_bytes;      /* that the allocator got from the device for it: each a cudaMalloc or cuMemMap */
    int64_t segments_freed; /* that it gave back within calls of this line: each waits for the device */
};

struct churn {
    VEC_OF(struct churn_row) rows; /* by bytes allocated, all devices together */
    struct arena arena;
};

/* Add the lines of the device of REPLAY to CHURN. FILE is borrowed. */
void churn_find(const struct allocator_history *replay, const char *file, struct churn *churn);

/*
 * ooms.c - every out-of-memory error: the request, the memory in use just before, and why it did not fit.
 *
 * The state is that before the entry `oom`, by replay. By then the allocator has returned all it could to the device
 * (entries segment_free and segment_unmap precede it), and the snapshot itself may be of a later moment, after an
 * exception handler has freed everything.
 */

enum oom_verdict {
    OOM_FRAGMENTATION, /* no free block is large enough, but all together are */
    OOM_SPREAD,        /* only the device's free memory and the free blocks together are */
    OOM_OUT_OF_MEMORY, /* all of that together is less than what was requested */
    OOM_OTHER_POOL,    /* a free block is large enough, but of another pool or stream */
    OOM_UNKNOWN,       /* neither segments nor device_free are recorded */
};

struct oom_row {
    struct text file;
    int64_t device, entry;
    int64_t time_us; /* since 1970; TABLE_INT_MISSING */
    int64_t request, device_free;
    int64_t allocated, active, reserved;            /* just before; the first two as requested */
    int64_t largest_free, inactive, inactive_split; /* in segments just before */
    /* bytes by which it did not fit: the part of the request that is not free anywhere, else 0 */
    int64_t missing;
    struct text verdict, line; /* the line that made the request */
    enum oom_verdict kind;
};

struct ooms {
    VEC_OF(struct oom_row) rows; /* in order */
    int64_t left_out;            /* beyond OOMS_SHOWN */
    struct arena arena;
};
enum { OOMS_SHOWN = 50 };

/* Add those of REPLAY to OOMS. FILE is borrowed. */
void ooms_find(const struct allocator_history *replay, const char *file, struct ooms *ooms);

/*
 * segments.c - memory that the allocator had reserved on a device when the snapshot was taken, and its unused part.
 *
 * A segment is memory that the allocator got from the device in one call; blocks are its parts. Sizes of blocks are
 * rounded up, so `active` here is more than the requested bytes of a replay. Of inactive memory,
 * torch.cuda.empty_cache() returns whole segments to the device; parts of segments with other blocks cannot be returned
 * (inactive split). The free ranges of expandable segments are neither: they can be unmapped in pages that are
 * completely free.
 */

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

/* snapshot_devices.c - one row per device: its state when the snapshot is taken, and the peaks of its history. */

/* TABLE_INT_MISSING if the history has no entry. */
struct device_row {
    struct text file;
    int64_t device;   /* TABLE_INT_MISSING: pinned host memory */
    struct text name; /* "0", "host" */
    struct segment_sums sums;
    int64_t allocated_peak, active_peak, reserved_peak; /* requested, requested, and in segments */
    int64_t peak_entry, active_peak_entry, reserved_peak_entry;
    int64_t peak_time_us;   /* since 1970 */
    int64_t peak_moment_ns; /* since the first entry of the device */
    struct text peak_scope; /* innermost annotation at the peak */
    int64_t peak_count;     /* blocks in use at the peak */
    int64_t start, end;     /* allocated before the first entry, and after the last */
    int64_t before_at_peak; /* part of the peak from before recording began */
    int64_t entries;
};

struct device_rows {
    VEC_OF(struct device_row) rows;
    struct arena arena;
};

/* Add the row of REPLAY's device to ROWS. FILE is borrowed; names of annotations live as long as the snapshot. */
void device_row_add(const struct allocator_history *replay, const char *file, struct device_rows *rows);

/*
 * snapshot_scopes.c - memory at the beginning and the end of every user scope, and code whose memory grows with every step.
 *
 * Scopes are the snapshot's annotations: ProfilerStep#3, Optimizer.step#AdamW.step, record_function's names. The state
 * at a time is that after the last entry at or before it. The peak is the maximum between beginning and end, inclusive.
 */

struct scope_row {
    struct text file, name;
    int64_t device;
    int64_t start_us,
        /* since 1970; end TABLE_INT_MISSING: it was not closed, and is assumed to extend to the last entry */
        end_us;
    int64_t duration_ns;
    int64_t start_bytes, peak_bytes, end_bytes, growth_bytes; /* allocated; growth is end - start */
    int64_t peak_entry;
    int64_t start_entry, end_entry; /* the last at or before */
};

struct scope_rows {
    VEC_OF(struct scope_row) rows; /* by device and start, outer ones first */
};

/* Add those of the device of REPLAY to ROWS. Texts live as long as the snapshot. */
void scopes_find(const struct allocator_history *replay, const char *file, struct scope_rows *rows);

/* A stack whose bytes in use at the end of a step grew in every step after the first two, in which permanent memory
 * (parameters, optimizer states) is allocated. */
struct leak_row {
    struct text file, line, stack;
    int64_t device;
    int64_t first_bytes, last_bytes; /* in use at the end of the second step, and of the last one */
    int64_t slope; /* bytes per step: their difference divided by the number of steps between them */
    int64_t steps; /* between them */
    int64_t count; /* blocks in use at the end of the last step */
    stack_id stack_id;
};

enum { LEAK_FEWEST_STEPS = 4 }; /* two at the beginning, and two that grow: with fewer, there are no leaks */

struct leaks {
    VEC_OF(struct leak_row) rows; /* by slope */
    int64_t longest;              /* number of step ends, of the device with the most */
    struct arena arena;
};

/* Add the leaks of the device of REPLAY to LEAKS. SCOPES is the result of scopes_find; those of this device are the
 * steps. */
void leaks_find(const struct allocator_history *replay, const char *file, const struct scope_rows *scopes,
                struct leaks *leaks);

#endif
