/*
 * history.h - a metric over many nights: which changes are new, which continue, which are over.
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
#ifndef TPA_HISTORY_HISTORY_H
#define TPA_HISTORY_HISTORY_H

#include "base/memory.h"
#include "history/history_noise.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
