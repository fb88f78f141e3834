/*
 * verdict.h - a figure of two sides: did it change, and is the change significant?
 *
 *     struct finding finding = finding_of(&sampled, &noise);
 *     finding_judge(&finding, min_change);                      // one test
 *     findings_judge(findings, count, min_change);              // many tests at once
 *
 * The unit is the run: steps of one run share its level, which differs from run to run. So the change is that of the
 * mean level of the runs, and its standard error comes from
 *
 *   FINDING_BY_RUNS    the spread of the levels, relative to the mean of their side and pooled over both sides, if these
 *                      have three runs or more together: Student's t test
 *   FINDING_BY_NOISE   a known noise between runs (struct noise), plus the standard error of each level
 *                      within its run (base/run_level.h); degrees of freedom by Welch and Satterthwaite
 *   FINDING_BY_STEPS   only the standard error within the run: one run a side, and no known noise. The verdict is on
 *                      these two recordings, and another pair may give another. Mann-Whitney's test of the steps, if
 *                      they are independent, shows a change that one long step hides from the means; each test gets
 *                      half of the probability of an error
 *
 * Verdicts:
 *   slower, faster   (more, less for other figures than times): p < 0.05 (for rows after Holm's correction), and a
 *                    change that is not below the minimum
 *   same             no change, or none that could be distinguished from chance
 *   new, gone        in the samples of one side only
 *   unsure           something changed, and there are too few runs or steps for any test
 */
#ifndef TPA_DIFF_VERDICT_H
#define TPA_DIFF_VERDICT_H

#include "base/run_level.h"
#include "base/shift.h"
#include "base/table.h"

enum verdict { VERDICT_SAME, VERDICT_MORE, VERDICT_LESS, VERDICT_NEW, VERDICT_GONE, VERDICT_UNSURE };

/* "slower" for an increase of a time, "more" for other figures. */
const char *verdict_name(enum verdict verdict, enum table_kind kind);

/* The noise between runs of one configuration. */
struct noise {
    double share; /* standard deviation of the level of a run, as a share of it; 0: unknown */
    double df;    /* degrees of freedom of SHARE; INFINITY: it is exact */
};

/* The values of a figure in both sides, before and after. */
struct sampled {
    const struct run_level *runs[2];
    size_t run_count[2];
    struct shift_sample steps[2]; /* all steps, for medians */
    bool present[2];              /* does it occur on this side? */
    double whole[2];              /* value to compare instead of the mean; NAN: the mean */
};

enum finding_basis { FINDING_BY_STEPS, FINDING_BY_RUNS, FINDING_BY_NOISE };

struct finding {
    double before, after, change; /* means of the levels of the runs, or `whole` */
    double median[2];             /* of the steps */
    double shift;                 /* median of all differences of steps (Hodges-Lehmann); NAN: not computed */
    size_t steps[2], runs[2];
    bool present[2];
    enum finding_basis basis;
    double error, df; /* standard error of the change, and its degrees of freedom; NAN and 0: unknown */
    double low,
        high; /* 95 % interval of the change, which is no less than -BEFORE; -INFINITY, INFINITY: unknown */
    double p; /* two-sided; of rows after Holm's correction; NAN: not tested */
    enum verdict verdict;
};

/* The finding of SAMPLED, not judged yet. NOISE NULL: unknown. */
struct finding finding_of(const struct sampled *sampled, const struct noise *noise);

/* The change as a share of before. INFINITY for a new figure; 0 without change. */
double finding_growth(const struct finding *finding);

/* The number of runs a side at which the interval of the change would no longer reach LIMIT, if the change and the noise
 * stay as they are; 0: it does not reach it now; SIZE_MAX: more than a thousand, or unknown. */
size_t finding_runs_needed(const struct finding *finding, double limit);

/* Judge one; a change below MIN_CHANGE is ignored. */
void finding_judge(struct finding *finding, double min_change);

/* Judge a figure of exact values instead of samples, such as counted bytes: any change is real. */
void finding_judge_exact(struct finding *finding);

/* Judge COUNT of them together, by Holm. Returns how many could be tested. */
size_t findings_judge(struct finding *const *findings, size_t count, double min_change);

#endif
