/*
 * ooms.h - every out-of-memory error: the request, the memory in use just before, and why it did not fit.
 *
 * The state is that before the entry `oom`, by replay. By then the allocator has returned all it could to the device
 * (entries segment_free and segment_unmap precede it), and the snapshot itself may be of a later moment, after an
 * exception handler has freed everything.
 */
#ifndef TPA_MEMORY_OOMS_H
#define TPA_MEMORY_OOMS_H

#include "base/table.h"
#include "memory/allocator_history.h"

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
void ooms_release(struct ooms *ooms);

#endif
