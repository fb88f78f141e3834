/*
 * level.h - the centre of a few noisy values, and its standard error.
 *
 *     struct level level = level_of(step_times, 10);    // sorts them
 *     level.centre, level.error                         // 10.02 ms, give or take 0.06 ms
 *
 * The centre is the mean of the values that are not odd. Odd values are far from the median, measured by the median
 * absolute deviation; at most one value, or one in ten, is odd. So one step that waited for something else does not
 * move the centre, while Gaussian values keep nearly all their information; three slow steps of ten are not outliers
 * and count.
 */
#ifndef TPA_BASE_LEVEL_H
#define TPA_BASE_LEVEL_H

#include <stddef.h>

struct level {
    double centre; /* NAN when there are no values */
    double error;  /* standard error of the centre; NAN for fewer than two values */
    size_t odd;    /* odd values, which were left out */
};

/* Sort VALUES, which are finite, ascending; fast for a few values, the usual case. */
void level_sort(double *values, size_t count);

/* Sorts VALUES, which are finite. */
struct level level_of(double *values, size_t count);

/* Values from index `first` on, `count` of them. */
struct level_kept {
    size_t first, count;
};

/* Which of COUNT sorted values are not odd: the odd ones are at the ends. A value is not odd when it is within six of
 * LEAST_DEVIATION of the median, whatever the others say. Of fewer than LEAST_COUNT values, none is odd. */
struct level_kept level_set_aside(const double *sorted, size_t count, size_t least_count,
                                  double least_deviation);

/* Probabilities that Student's t is below and above a value. */
struct level_tails {
    double below, above;
};

/* Both probabilities for T, for the cost of one; DF as below. */
struct level_tails level_student_tails(double t, double df);

/* The probability that Student's t with DF degrees of freedom (more than 0; INFINITY: the normal distribution) is
 * larger than T. */
double level_student_tail(double t, double df);

#endif
