/* history.h - the history of nights, and its noise. */
#ifndef TPA_HISTORY_HISTORY_H
#define TPA_HISTORY_HISTORY_H

#include "base/memory.h"
#include <stdint.h>

/*
 * history_noise.c - the noise between nights of a series, and whether a run differs by more.
 *
 * For history.c. Larger levels are worse.
 *
 *     noise_gather(&test, &good, &past, window, &pool);     // for each series: the noise of its own nights
 *     noise_pool_settle(&pool);                             // pooled noise of all series
 *     noise_compare(&test, &pool, &now, &good, &bad, &past, window);
 *     test.p, test.p_less                                   // to be corrected for the number of series
 */

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

/* Compare NOW with BAD if it is not empty, else with GOOD; fills in all of TEST except the caller's fields. */
void noise_compare(struct noise_test *test, const struct noise_pool *pool, const struct noise_run *now,
                   const struct noise_runs *good, const struct noise_runs *bad, const struct noise_past *past,
                   size_t window);

/*
 * history.c - a metric over many nights: which changes are new, which continue, which are over.
 *
 * It knows neither traces nor files: a series is a level and its error per run (base/level.h), and the runs are those
 * of one label on one GPU, oldest first. The walk is repeated from the beginning each time, so only the measurements
 * and the accepted levels are stored.
 *
 *     struct history history = { .run_count = 15, ... };
 *     history_judge(&history, &options);
 *     history.series.at[i].now.verdict
 *
 * How it decides, in short (details in docs/definitions.md):
 *
 * - With fewer than four earlier runs nothing is called the same: HISTORY_UNKNOWN.
 * - A series has a reference: up to `window` earlier runs at its present level. One odd run in ten is left out if it
 *   lies far from their median (by median absolute deviations); the others give the reference's centre.
 * - The noise of a night is the variation of levels between nights. If over all series it is no larger than steps
 *   explain, it is estimated from the steps (which are many), else from the nights (which are few, so that Student's t
 *   requires larger changes).
 * - The last run, and the mean of the last few, are compared with the reference before them. The probability of a false
 *   alarm is divided once among all series of a night (weighted Holm): most goes to the step time, and more to large
 *   operators than to small ones.
 */

enum history_verdict {
    HISTORY_SAME,
    HISTORY_NEW,      /* worse than the reference since this run, or found with this run */
    HISTORY_EXISTING, /* as bad as in an earlier NEW run, and not accepted */
    HISTORY_FIXED,    /* was NEW or EXISTING in the run before, and is back at the reference */
    HISTORY_BETTER,   /* below the reference; becomes the reference if it persists */
    HISTORY_UNSURE,   /* perhaps worse, to be decided by later runs; or too few runs to decide */
    HISTORY_ACCEPTED, /* the first run of a level that was accepted */
    HISTORY_FIRST,    /* no earlier run to compare with */
    HISTORY_UNKNOWN,  /* cannot be judged: too few earlier runs, or the run is no baseline */
    HISTORY_ABSENT,   /* not measured in this run */
    HISTORY_VERDICTS
};

/* "same", "NEW", "cannot tell" ...: alarms are in capitals. */
const char *history_verdict_name(enum history_verdict verdict);

/* Which share of the probability of a false alarm a series gets. */
enum history_group {
    HISTORY_STEP, /* the main figure of the run: its step time */
    HISTORY_HEAD, /* other figures of whole samples */
    HISTORY_OPERATORS,
    HISTORY_KERNELS,
    HISTORY_GROUPS
};

#define HISTORY_NO_RUN ((size_t)-1)

/* The state of a series in one run. Changes are as measured: positive means larger, whether good or bad. */
struct history_finding {
    enum history_verdict verdict;
    double reference;  /* centre of the reference; NAN if there is none */
    double level;      /* level compared with it: of this run, or of the runs from first_bad on */
    double noise;      /* standard deviation of a night, as a share of the reference; NAN when unknown */
    double p;          /* p value of the change, corrected for repeated looks */
    size_t first_bad;  /* run with which the change began; HISTORY_NO_RUN if there is none */
    size_t last_good;  /* the run before it; HISTORY_NO_RUN */
    size_t references; /* runs in the reference */
    double margin;     /* half of the 95 % interval of the change; NAN: unknown */
    bool few;          /* cannot be judged because there are too few earlier runs */
    bool visited;      /* UNSURE because one earlier run was as bad */
};

struct history_series {
    enum history_group group;
    bool less_is_worse;
    double min_change;     /* smaller changes are ignored; in the unit of the series */
    double *level, *error; /* per run; level NAN: not measured; error NAN: unknown. Owned by the caller. */
    const bool *accepted;  /* per run: a new level is accepted from here on; NULL: never */
    uint8_t *verdicts;     /* per run, filled in: enum history_verdict; NULL: not needed */
    double *references;    /* per run, filled in: the centre compared with, or NAN; NULL: not needed */
    struct history_finding now; /* filled in: of the last run */
};

struct history {
    size_t run_count;
    const bool *left_out; /* per run: cannot be judged, and is never a reference; NULL: none */
    VEC_OF(struct history_series) series;
};

struct history_options {
    size_t window;           /* maximum number of runs in a reference */
    double false_alarms;     /* probability of one or more false alarms in a night, over all series */
    double min_change_share; /* smaller changes, as a share of the reference, are ignored */
};
#define HISTORY_DEFAULTS                                                                                     \
    {                                                                                                        \
        .window = 14, .false_alarms = 0.01, .min_change_share = 0.005                                        \
    }

/* Fill in the findings of every series. */
void history_judge(struct history *history, const struct history_options *options);

#endif
