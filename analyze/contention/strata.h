/* strata.h - strata of runs, and estimates of what contention costs. */
#ifndef TPA_ANALYZE_CONTENTION_STRATA_H
#define TPA_ANALYZE_CONTENTION_STRATA_H

#include "base/memory.h"
#include <stdint.h>

/*
 * estimate.c - the factor by which executions slow down with the share of them that ran beside other work.
 *
 *     struct lag lag = { 0 };
 *     lag_add(&lag, logs, count);                          // of each series, in order of time
 *     struct contention_estimate estimate = contention_estimate(samples, count, lag_correlation(&lag));
 *
 * Beside other work an execution advances at 1/s of its speed: alone it takes d (1 - (1 - 1/s) f), with its duration d and its
 * share f beside. Only within a stratum are executions compared. The factor is the s for which those of more share take, so
 * corrected, neither longer nor shorter: the sum over all strata of Kendall's sum, weighted by 1/(N + 1) (van Elteren), passes 0.
 * With two bins, alone and beside, that is the stratified estimate of Hodges and Lehmann. docs/definitions.md has the rule.
 */

enum { CONTENTION_BINS = 11 };

/* An execution. */
struct contention_sample {
    double duration, share; /* any unit; 0..1 */
    uint32_t stratum, bin;  /* bin of the share, below CONTENTION_BINS */
    bool beside;            /* its side */
};

/* NaN if not defined: the sum does not pass the bound between factors of 1/4 and 8. */
struct contention_estimate {
    double factor, low, high; /* interval of 95 % */
    double p;                 /* that the factor is 1, of both sides; 1 without samples */
};

/* CORRELATION of neighbours in time widens the interval. Changes the order of SAMPLES. */
struct contention_estimate contention_estimate(struct contention_sample *samples, size_t count,
                                               double correlation);

/* The correlation of neighbours, pooled over series. Zero-initialise it. */
struct lag {
    double products, squares;
    size_t count;
};

/* Add a series in order of time; of fewer than 4, or of equal values, nothing. Changes VALUES. */
void lag_add(struct lag *lag, double *values, size_t count);

/* Within 0 .. 0.8, rather too large. */
double lag_correlation(const struct lag *lag);

/* Benjamini and Hochberg: the largest of COUNT probabilities P for which, among those up to it, a share of 5 % or less is due to
 * chance; negative if there is none. Sorts P. */
double false_discovery_limit(double *p, size_t count);

/* The median of COUNT > 0 values; of an even number the mean of the middle two. Changes their order. */
double median_of(double *values, size_t count);

/*
 * strata.c - executions that may be compared, divided into strata that were alike: near in time, or at the same place of a step.
 *
 *     struct strata strata = { 0 };
 *     strata_add_cell(&strata, candidates, count, STRATA_BY_STEPS);     // for each cell
 *     struct contention_estimate estimate = strata_estimate(&strata);
 *     VEC_FREE(&strata.samples);
 */

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

#endif
