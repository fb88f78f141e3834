/* snapshot_pictures.h - the bytes of a device over its history: a chart for each, and the stacks in use at the peak as a
 * flame. */
#ifndef TPA_MEMORY_SNAPSHOT_PICTURES_H
#define TPA_MEMORY_SNAPSHOT_PICTURES_H

#include "base/chart.h"
#include "memory/allocator_history.h"

/*
 * A figure of the history at one entry. Of many entries, those with the lowest and highest allocated or reserved bytes
 * in each part of the history are kept, so that no peak is lost.
 */
struct timeline_point {
    int64_t entry;
    int64_t moment_ns; /* from the first entry; without times, the number of the entry */
    int64_t allocated, active, reserved;
};
struct timeline_points {
    VEC_OF(struct timeline_point) at;
};

/*
 * Charts of the COUNT REPLAYS that have a history, at most MOST; returns how many there would be without the limit. The
 * peak and out-of-memory errors are labelled.
 */
size_t snapshot_draw(struct allocator_history *const *replays, size_t count, size_t most,
                     struct picture *picture);

#endif
