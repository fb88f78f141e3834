/* snapshot_views.h - zoomable views of a device: its blocks over time, and the stacks in use at the peak. */
#ifndef TPA_MEMORY_SNAPSHOT_VIEWS_H
#define TPA_MEMORY_SNAPSHOT_VIEWS_H

#include "base/timeline.h"
#include "memory/allocator_history.h"

/*
 * The largest blocks, each from its allocation to its free, named by size and line of code: blocks above each other
 * were in use at the same time. New; free with timeline_free. NULL if the history has no times or no blocks. Blocks
 * beyond the largest ones, and those without a free row, are counted in left_out.
 */
struct timeline *snapshot_blocks_timeline(const struct allocator_history *replay);

/* "device 0": what its timeline is of. Constant, or of ARENA. */
const char *snapshot_view_of(const struct allocator_history *replay, struct arena *arena);

/* Bytes in use at the peak by stack, outermost frame first, without frames of the interpreter, the C runtime and the
 * recorder of stacks. New; free with flame_free. NULL if nothing was in use. */
struct flame *snapshot_flame(const struct allocator_history *replay);

#endif
