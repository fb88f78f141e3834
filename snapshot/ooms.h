/*
 * ooms.h - every time memory ran out: what was requested, what was in use just before, and why it did not fit.
 *
 * The state is that before the entry `oom`, by replay. The allocator has then returned what it could to the device
 * already (its entries segment_free and segment_unmap come before), and the snapshot itself may be of a later
 * moment, when an exception handler has let everything go.
 */
#ifndef TPA_SNAPSHOT_OOMS_H
#define TPA_SNAPSHOT_OOMS_H

#include "base/table.h"
#include "snapshot/replay.h"

enum oom_verdict {
    OOM_FRAGMENTATION, /* no free block is large enough, all of them together are */
    OOM_SPREAD,        /* only what the device has free and the free blocks together are */
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
    int64_t missing; /* bytes by which it did not fit: all of the request that is not free anywhere, else 0 */
    struct text verdict, line; /* the line that asked */
    enum oom_verdict kind;
};

struct ooms {
    VEC_OF(struct oom_row) rows; /* in order */
    int64_t left_out;            /* beyond OOMS_TOLD */
    struct arena arena;
};
enum { OOMS_TOLD = 50 };

/* Those of REPLAY, added to OOMS. FILE is borrowed. */
void ooms_find(const struct memory_replay *replay, const char *file, struct ooms *ooms);
void ooms_release(struct ooms *ooms);

#endif
