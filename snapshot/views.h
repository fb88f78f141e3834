/* views.h - what a page shows of a device to zoom into: its blocks over time, and the stacks in use at the peak. */
#ifndef TPA_SNAPSHOT_VIEWS_H
#define TPA_SNAPSHOT_VIEWS_H

#include "base/timeline.h"
#include "snapshot/replay.h"

/*
 * The largest blocks, each from its allocation to its free, named by size and line of code: what is above each other was in use
 * at the same time. New; free with timeline_free. NULL: the history has no times or no blocks. Blocks beyond the
 * largest ones, and those that no row is free for, are counted in left_out.
 */
struct timeline *snapshot_blocks_timeline(const struct memory_replay *replay);

/* Bytes in use at the peak by stack, outermost frame first. New; free with flame_free. NULL: nothing was in use. */
struct flame *snapshot_flame(const struct memory_replay *replay);

#endif
