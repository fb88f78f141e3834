/*
 * history_noise.h - the noise between nights of a series, and whether a run differs by more.
 *
 * For history.c. Larger levels are worse.
 *
 *     noise_gather(&test, &good, &past, window, &pool);     // for each series: the noise of its own nights
 *     noise_pool_settle(&pool);                             // pooled noise of all series
 *     noise_compare(&test, &pool, &now, &good, &bad, &past, window);
 *     test.p, test.p_less                                   // to be corrected for the number of series
 */
#ifndef TPA_HISTORY_HISTORY_NOISE_H
#define TPA_HISTORY_HISTORY_NOISE_H

#include "base/memory.h"
#include <stdbool.h>
#include <stddef.h>

/* With fewer earlier runs, nothing is NEW. */
enum { HISTORY_LEAST_RUNS = 4 };

struct noise_run {
    size_t run;
    double level, error; /* error NAN: unknown */
    bool excursion;      /* was at another level for a night or two: counts as noise, not as a change */
};

struct noise_runs {
    VEC_OF(struct noise_run); /* oldest first, except excursions */
};

/* The noise of earlier levels: sum of squares of shares of the centre, and its degrees of freedom. */
struct noise_past {
    double squares, df;
};

/* The noise of the nights of one reference. */
struct noise_reference {
    size_t count;       /* runs in the centre */
    double centre;      /* mean of their levels */
    double variance;    /* of a level, from differences between nights; 0 if df is 0 */
    double df;          /* degrees of freedom of it, earlier references included */
    double expected;    /* variance of a level if steps alone explain it; NAN if unknown */
    bool has_aside;     /* was a run left out that is worse than the centre? */
    double aside_level; /* the level of the worst of them */
};

struct noise_test {
    bool gathered, tested; /* tested: P is valid */
    struct noise_reference reference;
    double centre_before; /* of the reference, all of it */
    double centre;        /* the centre that LEVEL was compared with */
    double level;         /* of this run, or mean of the last `back` runs */
    size_t back;          /* 1: the change began with this run; 2: with the one before ... */
    double variance;      /* of a night's level */
    double error, df;     /* standard error of the change of this run, and its degrees of freedom */
    double p, p_less;     /* one-sided p of being worse, of being better */
    bool few;             /* too few earlier runs to report NEW */
    bool visited;         /* an odd earlier run was at this level as well */
    bool passed, passed_less, unsure; /* set by the caller */
};

/* The noise of all series together. */
struct noise_pool {
    VEC_OF(double) ratios; /* of the observed variance to the one that steps explain */
    double df_sum;
    double ratio; /* their median, at least 1 */
    double df;    /* its weight as degrees of freedom; 0: none */
};

/* Centre of the last WINDOW of RUNS, without odd ones. NAN if there are none. */
double noise_centre(const struct noise_runs *runs, size_t window);

/* Add the noise of RUNS, which are no longer the reference, to PAST, for up to WINDOW nights. */
void noise_remember(struct noise_past *past, const struct noise_runs *runs, size_t window);

/* Step 1, for each series: gather its noise in TEST and add it to POOL. Step 2: settle the pool of all series. */
void noise_gather(struct noise_test *test, const struct noise_runs *good, const struct noise_past *past,
                  size_t window, struct noise_pool *pool);
void noise_pool_settle(struct noise_pool *pool);
void noise_pool_release(struct noise_pool *pool);

/* Compare NOW with BAD if it is not empty, else with GOOD; fills in all of TEST except the caller's fields. */
void noise_compare(struct noise_test *test, const struct noise_pool *pool, const struct noise_run *now,
                   const struct noise_runs *good, const struct noise_runs *bad, const struct noise_past *past,
                   size_t window);

#endif
