/*
 * strata.h - executions that may be compared, divided into strata that were alike: near in time, or at the same place of a step.
 *
 *     struct strata strata = { 0 };
 *     strata_add_cell(&strata, candidates, count, STRATA_BY_STEPS);     // for each cell
 *     struct contention_estimate estimate = strata_estimate(&strata);
 *     strata_release(&strata);
 */
#ifndef TPA_ANALYZE_CONTENTION_STRATA_H
#define TPA_ANALYZE_CONTENTION_STRATA_H

#include "analyze/contention/estimate.h"
#include "base/memory.h"

enum side { SIDE_NONE = -1, SIDE_ALONE, SIDE_BESIDE };

/* An execution of a cell. */
struct candidate {
    int64_t start_ns, step; /* step: -1 if in none */
    double duration, share; /* share: of it, beside */
    enum side side;
    uint32_t bin, place; /* bin: of the share; place: in its step */
    int64_t apart_ns;    /* from the nearest of the other side; for strata.c */
};

enum strata_way {
    STRATA_IN_TIME,  /* three of each side */
    STRATA_BY_STEPS, /* in time: whole steps, with one of each side and four in all */
    STRATA_BY_PLACE, /* the same place in different steps */
};

/* Zero-initialise it. */
struct strata {
    bool keeps_excess; /* set before the first cell: are all executions of a side in excess compared? */
    VEC_OF(struct contention_sample) samples; /* that are compared */
    struct lag lag;
    uint32_t count;
    size_t sides[2];    /* samples of each side */
    double medians[2];  /* of their durations, set by strata_estimate; NaN without any */
    bool cell_has_both; /* does any cell have both sides? */
};

/* Add COUNT candidates of one cell, by start. Their order changes. */
void strata_add_cell(struct strata *strata, struct candidate *at, size_t count, enum strata_way way);

/* The factor with its interval, which is widened by the resolution TICK of the durations. */
struct contention_estimate strata_estimate(struct strata *strata, double tick);

/* Can STRATA be judged: at least four of each side, a factor with its interval? */
bool strata_suffice(const struct strata *strata, const struct contention_estimate *estimate);

/* Are both medians at least 20 ticks? */
bool strata_are_long(const struct strata *strata, double tick);

void strata_clear(struct strata *strata);
void strata_release(struct strata *strata);

#endif
