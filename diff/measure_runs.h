/*
 * measure_runs.h - the samples of a side as runs of steps.
 *
 *     struct measure_runs *runs = measure_runs_open(sampling);          // of finished measures
 *     for (size_t run = 0; run < runs->count; run++)
 *         printf("%zu steps\n", runs->first[run + 1] - runs->first[run]);
 *     arena_free(runs);
 *
 * Ranks of a job wait for each other, so the samples of one step on all of them are one step, with their mean. Files of
 * different ranks are one run, and so are the cycles that one process recorded; any other second file of a rank begins
 * another. Steps of one run share its level, so the runs are
 * independent and the steps are not.
 */
#ifndef TPA_DIFF_MEASURE_RUNS_H
#define TPA_DIFF_MEASURE_RUNS_H

#include "base/run_level.h"
#include "diff/measure.h"

struct measure_runs {
    size_t count;      /* of runs */
    size_t step_count; /* of all runs */
    size_t *first;     /* by run: its first step; first[count] is step_count */
    size_t *period;    /* by run: the steps after which its pattern repeats */
    uint32_t *step;    /* by sample: the step that it belongs to */
    uint32_t *members; /* by step: its samples */
    bool *used;        /* by step: is it within whole periods? */
    size_t used_samples;
};

/* New; free with arena_free (NULL is allowed). Borrows nothing. */
struct measure_runs *measure_runs_open(const struct sampling *sampling);

/* The values of METRIC by step, the mean of its samples; NAN where it is missing. New; free with free(). */
double *measure_runs_metric(const struct measure_runs *runs, const struct measure_metric *metric);

/* The level of each run of a figure with the LISTED_COUNT values LISTED that are not 0, of steps in ascending order
 * (PLACE counts all steps). MISSING, by step, are left out; NULL: none are. Stores the levels of the runs that have
 * steps in LEVELS, which has room for all; returns their number. */
size_t measure_runs_levels(const struct measure_runs *runs, const struct run_step *listed,
                           size_t listed_count, const bool *missing, struct run_level *levels);

#endif
