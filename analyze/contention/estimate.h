/*
 * estimate.h - the factor by which executions slow down with the share of them that ran beside other work.
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
#ifndef TPA_ANALYZE_CONTENTION_ESTIMATE_H
#define TPA_ANALYZE_CONTENTION_ESTIMATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/*
 * Benjamini and Hochberg: the largest of COUNT probabilities P for which, among those up to it, a share of 5 % or less is due to
 * chance; negative if there is none. Sorts P.
 */
double false_discovery_limit(double *p, size_t count);

/* The median of COUNT > 0 values; of an even number the mean of the middle two. Changes their order. */
double median_of(double *values, size_t count);

#endif
