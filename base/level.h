/*
 * level.h - where a handful of noisy values lies, and how well they tell it.
 *
 *     struct level level = level_of(step_times, 10);    // sorts them
 *     level.centre, level.error                         // 10.02 ms, give or take 0.06 ms
 *
 * The centre is the mean of the values that are not odd. Odd is what lies far from the median, measured by the median
 * absolute deviation; at most one value, or one in ten, is. So a step that waited for something else for once moves nothing,
 * while Gaussian values keep nearly all their information; three slow steps of ten are not outliers and count.
 */
#ifndef TPA_BASE_LEVEL_H
#define TPA_BASE_LEVEL_H

#include <stddef.h>

struct level {
    double centre; /* NAN when there are no values */
    double error;  /* standard error of the centre; NAN for fewer than two values */
    size_t odd;    /* values that were set aside */
};

/* Sort VALUES, which are finite, from small to large; quick for the few that there mostly are. */
void level_sort(double *values, size_t count);

/* Sorts VALUES, which are finite. */
struct level level_of(double *values, size_t count);

/* Values from index `first` on, `count` of them. */
struct level_kept {
    size_t first, count;
};

/*
 * Which of COUNT sorted values are not odd: the odd ones are at the ends. A value is not odd when it is within six of
 * LEAST_DEVIATION of the median, whatever the others say. Of fewer than LEAST_COUNT values none is.
 */
struct level_kept level_set_aside(const double *sorted, size_t count, size_t least_count,
                                  double least_deviation);

/* How likely Student's t is below and above a figure. */
struct level_tails {
    double below, above;
};

/* Both for T, at the price of one; DF as below. */
struct level_tails level_student_tails(double t, double df);

/* How likely Student's t with DF degrees of freedom (more than 0; INFINITY: the normal) is larger than T. */
double level_student_tail(double t, double df);

#endif
