/*
 * history.h - a metric over many nights: what is new, what was there before, what went away.
 *
 * It knows neither traces nor files: a series is a level and its error per run (base/level.h), and the runs are those
 * of one label on one GPU, oldest first. The walk over them is the same each time, so nothing is remembered but the
 * measurements and what was accepted.
 *
 *     struct history history = { .run_count = 15, ... };
 *     history_judge(&history, &options);
 *     history.series.at[i].now.verdict
 *
 * How it decides, in short (docs/definitions.md has the whole of it):
 *
 * - A series has a reference: up to `window` earlier runs at its present level. One odd run in ten is set aside when
 *   it lies far from their median (by median absolute deviations); the others give the reference's centre.
 * - The noise of a night is what the levels of the nights differ by. Where over all series they differ no more than
 *   their steps explain, the steps tell it (they are many); where they differ more, the nights tell it (they are few,
 *   and Student's t requires more).
 * - The last run, and the mean of the last few, are compared with the reference before them. The chance of a false
 *   alarm is given out once for all series of a night (weighted Holm): most to the step time, to an operator the more
 *   the larger it is.
 */
#ifndef TPA_COMPARE_HISTORY_H
#define TPA_COMPARE_HISTORY_H

#include "base/memory.h"
#include "compare/history_noise.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum history_verdict {
    HISTORY_SAME,
    HISTORY_NEW,      /* worse than the reference since this run, or found with this run */
    HISTORY_EXISTING, /* as bad as in an earlier run that was NEW, and not accepted */
    HISTORY_FIXED,    /* was NEW or EXISTING in the run before, and is back */
    HISTORY_BETTER,   /* below the reference; it becomes the reference when it stays */
    HISTORY_UNSURE,   /* perhaps worse: the next runs will tell; or too few runs to tell */
    HISTORY_ACCEPTED, /* the first run of a level that was accepted */
    HISTORY_FIRST,    /* no earlier run to compare with */
    HISTORY_ABSENT,   /* not measured in this run */
    HISTORY_VERDICTS
};

/* "same", "NEW", "EXISTING" ...: alarms are in capitals. */
const char *history_verdict_name(enum history_verdict verdict);

/* Which share of the chance of a false alarm a series has. */
enum history_group {
    HISTORY_STEP, /* the figure that the run is about: its step time */
    HISTORY_HEAD, /* the other figures of the whole */
    HISTORY_OPERATORS,
    HISTORY_KERNELS,
    HISTORY_GROUPS
};

#define HISTORY_NO_RUN ((size_t)-1)

/* The state of a series in one run. Changes are as measured: positive is a larger figure, whether good or bad. */
struct history_finding {
    enum history_verdict verdict;
    double reference; /* centre of the reference; NAN when there is none */
    double level;     /* what was compared with it: of this run, or of the runs from first_bad on */
    double noise;     /* standard deviation of a night, as a share of the reference; NAN when unknown */
    double
        p; /* chance of such a change, or a larger one, without cause; corrected for looking several times */
    size_t first_bad;  /* run with which the change began; HISTORY_NO_RUN when there is none */
    size_t last_good;  /* the run before it; HISTORY_NO_RUN */
    size_t references; /* runs in the reference */
    bool few;          /* UNSURE because there are too few earlier runs */
    bool visited;      /* UNSURE because one earlier run was as bad */
};

struct history_series {
    enum history_group group;
    bool less_is_worse;
    double min_change;     /* smaller changes are ignored; in the unit of the series */
    double *level, *error; /* per run; level NAN: not measured; error NAN: unknown. Owned by the caller. */
    const bool *accepted;  /* per run: from here on a new level is wanted; NULL: never */
    uint8_t *verdicts;     /* per run, filled in: enum history_verdict; NULL: not wanted */
    double *references;    /* per run, filled in: the centre compared with, or NAN; NULL: not wanted */
    struct history_finding now; /* filled in: of the last run */
};

struct history {
    size_t run_count;
    VEC_OF(struct history_series) series;
};

struct history_options {
    size_t window;           /* runs in a reference, at most */
    double false_alarms;     /* chance of one or more false alarms in a night, over all series */
    double min_change_share; /* smaller changes, as a share of the reference, are ignored */
};
#define HISTORY_DEFAULTS                                                                                     \
    {                                                                                                        \
        .window = 14, .false_alarms = 0.01, .min_change_share = 0.005                                        \
    }

/* Fill in the findings of every series. */
void history_judge(struct history *history, const struct history_options *options);

#endif
