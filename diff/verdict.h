/*
 * verdict.h - a figure of two sides: did it change, and is the change significant?
 *
 *     struct finding finding = finding_of(&samples);
 *     finding_judge(&finding, min_change);                      // one test
 *     findings_judge(findings, count, min_change);              // many tests at once
 *
 * Verdicts:
 *   slower, faster   (more, less for other figures than times): p < 0.05 after Holm's correction, and a change that is
 *                    not below the minimum
 *   same             no change, or none that could be distinguished from chance
 *   new, gone        in the samples of one side only
 *   unsure           something changed, and there are too few samples to decide: ranks of fewer than four a side are
 *                    never significant, and the change is not far beyond the spread
 *
 * Multiple testing: with few samples and hundreds of rows, Holm's correction makes even the p of the clearest change
 * too large. So only as many rows are tested as can be significant, those with the largest mean over both sides; the
 * choice does not depend on changes, so the error rate holds. The others are unsure.
 */
#ifndef TPA_DIFF_VERDICT_H
#define TPA_DIFF_VERDICT_H

#include "base/shift.h"
#include "base/table.h"
#include <stdbool.h>
#include <stddef.h>

enum verdict { VERDICT_SAME, VERDICT_MORE, VERDICT_LESS, VERDICT_NEW, VERDICT_GONE, VERDICT_UNSURE };

/* "slower" for an increase of a time, "more" for other figures. */
const char *verdict_name(enum verdict verdict, enum table_kind kind);

/* The values of a figure in the samples of both sides, before and after. */
struct sampled {
    struct shift_sample sides[2];
    bool present[2]; /* does it occur on this side? */
    double whole[2]; /* value to compare instead of the means; NAN: the means */
};

struct finding {
    double before, after, change; /* means, or `whole` */
    double median[2];
    size_t count[2];
    bool present[2];
    struct shift shift;
    double p;       /* after Holm's correction; NAN: not tested */
    double clear_p; /* p of Welch's t test, for a change far beyond the spread; NAN: no such change */
    bool by_spread; /* verdict and p are those of finding_judge_clear */
    enum verdict verdict;
};

/* The finding of SAMPLED, not judged yet. */
struct finding finding_of(const struct sampled *sampled);

/* The size of the change, robust against outliers, as a share of before: shift over median if there are enough samples,
 * else from the means. INFINITY for a new figure; 0 without change. */
double finding_growth(const struct finding *finding);

/* Judge one; a change below MIN_CHANGE is ignored. */
void finding_judge(struct finding *finding, double min_change);

/*
 * Judge one that is unsure, among COUNT tested together, by the spread of its samples: significant if both sides have
 * two samples or more, their ranges are disjoint and their distance is at least three times the wider range (at least 2
 * % of the level), and Welch's t test, with Bonferroni's correction, gives p < 0.05. finding_judge does this by itself.
 */
void finding_judge_clear(struct finding *finding, size_t count, double min_change);
/* Judge a figure of exact values instead of samples, such as counted bytes: any change is real. */
void finding_judge_exact(struct finding *finding);

/* Judge COUNT of them together. Returns how many could be tested. */
size_t findings_judge(struct finding *const *findings, size_t count, double min_change);

/* The number of samples a side needed to judge COUNT rows at once. */
size_t verdict_samples_needed(size_t count);

#endif
