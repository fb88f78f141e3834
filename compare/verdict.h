/*
 * verdict.h - a figure of two sides: did it change, and is the change real?
 *
 *     struct finding finding = finding_of(&samples);
 *     finding_judge(&finding, min_change);                      // a question of its own
 *     findings_judge(findings, count, min_change);              // many questions at once
 *
 * Verdicts:
 *   slower, faster   (more, less for what is not a time): p < 0.05 after Holm's correction, and a change no smaller than
 *                    the least one that counts
 *   same             no change, or none that could be distinguished from chance
 *   new, gone        in the samples of one side only
 *   unsure           something changed, and there are too few samples to decide: below four a side no ranks can, and the
 *                    change is not far beyond any spread either
 *
 * Multiple testing: with few samples even the clearest change has a p that Holm's correction makes too large when there
 * are hundreds of rows. So only as many rows are tested as can be decided, those that took most on both sides
 * together; the choice does not depend on what changed, so the error rate holds. The others are unsure.
 */
#ifndef TPA_COMPARE_VERDICT_H
#define TPA_COMPARE_VERDICT_H

#include "base/shift.h"
#include "base/table.h"
#include <stdbool.h>
#include <stddef.h>

enum verdict { VERDICT_SAME, VERDICT_MORE, VERDICT_LESS, VERDICT_NEW, VERDICT_GONE, VERDICT_UNSURE };

/* "slower" for more of a time, "more" for more of anything else. */
const char *verdict_name(enum verdict verdict, enum table_kind kind);

/* The values of a figure in the samples of both sides, before and after. */
struct sampled {
    struct shift_sample sides[2];
    bool present[2]; /* does it occur on this side? */
    double whole[2]; /* what to compare in place of the means; NAN: the means */
};

struct finding {
    double before, after, change; /* means, or the whole */
    double median[2];
    size_t count[2];
    bool present[2];
    struct shift shift;
    double p;       /* after Holm's correction; NAN: not tested */
    double clear_p; /* of a change far beyond any spread, by Welch's t test; NAN: it is not such a change */
    bool by_spread; /* verdict and p are those of finding_judge_clear */
    enum verdict verdict;
};

/* What SAMPLED shows, not judged yet. */
struct finding finding_of(const struct sampled *sampled);

/* The size of the change that outliers do not move, as a share of what was: of the shift and the median where there
 * are samples enough, else of the means. INFINITY for what is new; 0 when nothing changed. */
double finding_growth(const struct finding *finding);

/* Judge one; a change below MIN_CHANGE is ignored. */
void finding_judge(struct finding *finding, double min_change);

/*
 * Judge one that is unsure, among COUNT tested together, by the spread of its samples: where both sides have two samples
 * or more, their ranges are disjoint and at least three times as far apart as the wider of them is wide (2 % of the
 * level at least), and Welch's t test, with Bonferroni's correction, gives p < 0.05. finding_judge does this by itself.
 */
void finding_judge_clear(struct finding *finding, size_t count, double min_change);
/* Judge one of two sides that are not samples but the thing itself, such as bytes that were counted: any change is real. */
void finding_judge_exact(struct finding *finding);

/* Judge COUNT of them together. Returns how many could be tested. */
size_t findings_judge(struct finding *const *findings, size_t count, double min_change);

/* How many samples a side it takes to judge COUNT rows at once. */
size_t verdict_samples_needed(size_t count);

#endif
