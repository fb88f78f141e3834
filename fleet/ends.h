/*
 * ends.h - when collectives that all must arrive for ended, and the clocks that follow from it.
 *
 *     struct ends ends;
 *     ends_init(&ends, &job);
 *     ends_add(&ends, &slice);                       // of each slice
 *     ends_find_clocks(&ends, &clocks);
 *     uint64_t refuted = ends_refute(&ends, clocks.first);
 *     ends_release(&ends);
 *
 * Clocks are found twice: by all ends, and by those of meetings that the first do not refute. What was matched by its order, but did not end
 * together, is no meeting.
 */
#ifndef TPA_FLEET_ENDS_H
#define TPA_FLEET_ENDS_H

#include "facts/rank_clocks.h"
#include "fleet/slice.h"

/* A meeting that all must arrive for, and the ends of its ranks. */
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
    bool *meets; /* by member: somebody, where nobody must wait for all */
};

/* By member. */
struct fleet_clocks {
    struct rank_clock *first;   /* by all ends */
    struct rank_clock *settled; /* without the meetings that FIRST refutes */
};

/* Release with ends_release. */
void ends_init(struct ends *ends, const struct fleet_job *job);
void ends_release(struct ends *ends);

/* Add those of SLICE: a joining for each of its meetings that ends_has, in their order. */
void ends_add(struct ends *ends, const struct slice *slice);
bool ends_has(const struct slice *slice, const struct slice_meeting *meeting);

/* New, both to be freed with free(). n log n. */
void ends_find_clocks(struct ends *ends, struct fleet_clocks *clocks);

/* Mark the meetings that FIRST refutes, and return how many collectives they are. */
uint64_t ends_refute(struct ends *ends, const struct rank_clock *first);

#endif
