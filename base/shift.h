/*
 * shift.h - is a change real? Small samples, no assumption about their distribution.
 *
 *     struct shift shift;
 *     shift_compare_samples(&before, &after, &shift);
 *     if (shift.p < 0.05 && shift.low > 0) ...   // it got slower, by at least shift.low
 *
 * Definitions are those of R's wilcox.test and SciPy's mannwhitneyu, against which the tests check.
 */
#ifndef TPA_BASE_SHIFT_H
#define TPA_BASE_SHIFT_H

#include <stdbool.h>
#include <stddef.h>

/* Sort VALUES from small to large. */
void shift_sort(double *values, size_t count);

/* The quantile Q (0..1) of COUNT sorted values, by linear interpolation (R's type 7); NAN when COUNT is 0. */
double shift_quantile(const double *sorted, size_t count, double q);

/* The middle of COUNT sorted values; NAN when COUNT is 0. */
double shift_median(const double *sorted, size_t count);

/* A sample of COUNT values: LISTED of them are in VALUES, in any order and borrowed; the others are 0. */
struct shift_sample {
    const double *values;
    size_t listed, count;
};

/* How two samples differ. Positive: the second one is larger. */
struct shift {
    double estimate; /* Hodges-Lehmann: the median of all differences between a value after and one before */
    double low,
        high; /* 95 % confidence interval of the shift; -INFINITY, INFINITY when the samples are too small */
    double median[2]; /* of the values before and after; NAN if there are none */
    double u;         /* Mann-Whitney U: pairs in which the value after is larger, ties count half */
    double p;         /* two-sided; 1 when one of the samples is empty */
    /* p is exact, from all arrangements; else from the normal approximation, corrected for ties */
    bool exact;
    double least_p; /* the least p that any assignment of these values to the two samples gives */
    bool decidable; /* least_p < 0.05: this many values can show a change at all */
};

/* Compare BEFORE with AFTER, which are not changed. Time depends on the listed values only. */
void shift_compare_samples(const struct shift_sample *before, const struct shift_sample *after,
                           struct shift *shift);

/* Holm's correction of COUNT p values of as many tests: P is replaced by values that may be
 * compared with 0.05 one by one. NAN marks a test that was not made, and stays. */
void shift_holm(double *p, size_t count);

#endif
