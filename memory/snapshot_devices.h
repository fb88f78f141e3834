/* snapshot_devices.h - one row per device: its state when the snapshot is taken, and the peaks of its history. */
#ifndef TPA_MEMORY_SNAPSHOT_DEVICES_H
#define TPA_MEMORY_SNAPSHOT_DEVICES_H

#include "base/table.h"
#include "memory/allocator_history.h"
#include "memory/segments.h"

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

#endif
