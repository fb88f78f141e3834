/*
 * run_level.h - the level of a run: the mean of its steps, and the standard error that their spread allows.
 *
 *     size_t period = step_pattern_period(times_ns, 40);            // 3: each third step evaluates the model
 *     struct run_level level = run_level_of(steps, 40, 40, period);
 *     level.mean, sqrt(level.variance)                              // 14.5 ms, give or take 0.02 ms
 *
 * The mean is that of whole periods, which is throughput: steps that differ by plan (evaluation in each third step,
 * accumulation of gradients) neither hide in a median nor count as noise. The standard error comes from the means of the
 * periods, and is widened by their autocorrelation where that is more than chance: neighbours may resemble each other.
 */
#ifndef TPA_BASE_RUN_LEVEL_H
#define TPA_BASE_RUN_LEVEL_H

#include <stddef.h>

/* The value of one step; PLACE counts the steps of the run from 0. */
struct run_step {
    size_t place;
    double value;
};

struct run_level {
    double mean;        /* of whole periods; NAN without steps */
    double variance;    /* of the mean; NAN for fewer than two periods */
    double df;          /* degrees of freedom of the variance; 0 if it is NAN */
    double independent; /* the variance if its periods were independent */
    size_t steps;       /* of the run */
};

/* The level of a run of COUNT steps, whose pattern repeats after PERIOD of them (1: no pattern). LISTED are the steps
 * that are not 0, by place, LISTED_COUNT of them; the time depends on these only. */
struct run_level run_level_of(const struct run_step *listed, size_t listed_count, size_t count,
                              size_t period);

/* The value that Student's t with DF degrees of freedom (more than 0; INFINITY: the normal distribution) exceeds with
 * probability P, 0 < P < 0.5. */
double run_student_quantile(double p, double df);

#endif
