/*
 * collectives.h - how much slower collectives run because their ranks compute meanwhile.
 *
 * The execution is the transfer: from the latest start to the earliest end on all ranks, on one clock or on corrected clocks. Its share beside is that in
 * which any of its ranks computes, as the slowest rank sets the pace. On one rank the time of a collective includes waiting for
 * others that compute, so that nothing can be judged.
 */
#ifndef TPA_ANALYZE_CONTENTION_COLLECTIVES_H
#define TPA_ANALYZE_CONTENTION_COLLECTIVES_H

#include "analyze/contention/contention.h"

struct contended_collective {
    struct text collective, group;
    int64_t count; /* transfers */
    double factor, factor_low, factor_high;
    bool judged, slower;
    struct text why;
    int64_t beside_waiting_ns,
        beside_transfer_ns; /* computation of its ranks, added up; missing on one rank */
    double p;
};

struct contended_collectives {
    VEC_OF(struct contended_collective) rows; /* most transfers first */
};

/* Of SELECTION (NULL: all), by time of issue. Texts live as long as TRACE and CONTENTION. Release with contended_collectives_release. */
struct contended_collectives contended_collectives_find(const struct contention *contention,
                                                        const struct selection *selection);
void contended_collectives_release(struct contended_collectives *all);

#endif
