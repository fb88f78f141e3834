/*
 * ends.h - the ends of collectives that need all ranks, and the clocks that follow from them.
 *
 *     struct ends ends;
 *     ends_init(&ends, &job);
 *     ends_add(&ends, &slice);                       // for each slice
 *     ends_find_clocks(&ends, &clocks);
 *     uint64_t refuted = ends_refute(&ends, clocks.first);
 *     ends_release(&ends);
 *
 * Clocks are computed twice: from all ends, and from those of meetings that are consistent with the first result.
 * Collectives matched by order that did not end together are no meeting.
 */
#ifndef TPA_FLEET_ENDS_H
#define TPA_FLEET_ENDS_H

#include "derive/rank_clocks.h"
#include "fleet/slice.h"

/* A meeting that needs all ranks, and the ends of its ranks. */
struct joining {
    size_t first, count; /* of the ends */
    int64_t shortest_ns; /* of the durations */
    bool checked;        /* it was matched by its order: it must have ended together */
    bool refuted;
};

struct ends {
    const struct fleet_job *job; /* borrowed */
    VEC_OF(struct clock_end) at; /* by the members' own clocks */
    VEC_OF(struct joining) joining;
    bool *meets; /* by member: meets another rank, also in collectives that do not need all ranks */
};

/* By member. */
struct fleet_clocks {
    struct rank_clock *first;   /* by all ends */
    struct rank_clock *settled; /* without the meetings that contradict FIRST */
};

/* Release with ends_release. */
void ends_init(struct ends *ends, const struct fleet_job *job);
void ends_release(struct ends *ends);

/* Add those of SLICE: one joining for each of its meetings for which ends_has is true, in order. */
void ends_add(struct ends *ends, const struct slice *slice);
bool ends_has(const struct slice *slice, const struct slice_meeting *meeting);

/* New; free both with free(). Time is n log n. */
void ends_find_clocks(struct ends *ends, struct fleet_clocks *clocks);

/* Mark the meetings that contradict FIRST. Returns their number of collectives. */
uint64_t ends_refute(struct ends *ends, const struct rank_clock *first);

#endif
