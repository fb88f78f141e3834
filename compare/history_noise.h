/*
 * history_noise.h - how much the nights of a series differ by themselves, and whether a run differs by more.
 *
 * For history.c. Levels are such that larger is worse.
 *
 *     noise_gather(&test, &good, &past, window, &pool);     // of each series: the noise of its own nights
 *     noise_pool_settle(&pool);                             // the noise of all together
 *     noise_compare(&test, &pool, &now, &good, &bad, &past, window);
 *     test.p, test.p_less                                   // to be corrected for the number of series
 */
#ifndef TPA_COMPARE_HISTORY_NOISE_H
#define TPA_COMPARE_HISTORY_NOISE_H

#include "base/memory.h"
#include <stdbool.h>
#include <stddef.h>

/* With fewer earlier runs than this nothing is called NEW. */
enum { HISTORY_LEAST_RUNS = 4 };

struct noise_run {
    size_t run;
    double level, error; /* error NAN: unknown */
    bool excursion;      /* was elsewhere for a night or two: counts as noise, not as a change */
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
    size_t count;       /* runs that make the centre */
    double centre;      /* mean of their levels */
    double variance;    /* of a level, from how they differ; 0 when df is 0 */
    double df;          /* degrees of freedom of it, earlier references included */
    double expected;    /* variance of a level if the steps explain it alone; NAN when unknown */
    bool has_aside;     /* was a run set aside that is worse than the centre? */
    double aside_level; /* the level of the worst of them */
};

struct noise_test {
    bool gathered, asked; /* asked: P is a number */
    struct noise_reference reference;
    double centre_before;             /* of the reference, all of it */
    double centre;                    /* what LEVEL was compared with */
    double level;                     /* of this run, or the mean of the last `back` runs */
    size_t back;                      /* 1: the change began with this run; 2: with the one before ... */
    double variance;                  /* of a night's level */
    double p, p_less;                 /* one-sided: this much worse, this much better, by chance */
    bool few;                         /* too few earlier runs to call anything new */
    bool visited;                     /* an odd earlier run was at this level, too */
    bool passed, passed_less, unsure; /* for the caller */
};

/* The noise of all series together. */
struct noise_pool {
    VEC_OF(double) ratios; /* of the variance found to the one that the steps explain */
    double df_sum;
    double ratio; /* their middle, not below 1 */
    double df;    /* how much it counts, as degrees of freedom; 0: nothing */
};

/* Centre of the last WINDOW of RUNS, odd ones set aside. NAN when there are none. */
double noise_centre(const struct noise_runs *runs, size_t window);

/* RUNS are left as a reference: their noise is kept in PAST, for up to WINDOW nights. */
void noise_remember(struct noise_past *past, const struct noise_runs *runs, size_t window);

void noise_gather(struct noise_test *test, const struct noise_runs *good, const struct noise_past *past,
                  size_t window, struct noise_pool *pool);
void noise_pool_settle(struct noise_pool *pool);
void noise_pool_release(struct noise_pool *pool);

/* Compare NOW with BAD when there are any, else with GOOD; fills in TEST except what is the caller's. */
void noise_compare(struct noise_test *test, const struct noise_pool *pool, const struct noise_run *now,
                   const struct noise_runs *good, const struct noise_runs *bad, const struct noise_past *past,
                   size_t window);

#endif
