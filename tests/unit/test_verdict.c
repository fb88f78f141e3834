/* test_verdict.c - diff/verdict.h: what is called real, by runs, by a known noise and by the steps of two recordings. */

#include "tests/unit/unit.h"
#include "diff/verdict.h"
#include <math.h>

enum { MOST = 4 };

/* COUNT runs a side, with the LEVELS of both; the spread of their steps is not known. */
static struct finding compared(const double before[], const double after[], size_t count,
                               const struct noise *noise)
{
    struct run_level levels[2][MOST];
    for (size_t i = 0; i < count; i++) {
        levels[0][i] =
            (struct run_level){ .mean = before[i], .variance = NAN, .independent = NAN, .steps = 1 };
        levels[1][i] =
            (struct run_level){ .mean = after[i], .variance = NAN, .independent = NAN, .steps = 1 };
    }
    struct finding finding = finding_of(&(struct sampled){ .runs = { levels[0], levels[1] },
                                                           .run_count = { count, count },
                                                           .present = { true, true },
                                                           .whole = { NAN, NAN } },
                                        noise);
    return finding;
}

/* One run a side, whose mean has a variance of 1 with 9 degrees of freedom. */
static struct finding recorded(double before, double after, const struct noise *noise)
{
    struct run_level levels[2] = { { .mean = before, .variance = 1, .independent = 1, .df = 9, .steps = 10 },
                                   { .mean = after, .variance = 1, .independent = 1, .df = 9, .steps = 10 } };
    return finding_of(&(struct sampled){ .runs = { &levels[0], &levels[1] },
                                         .run_count = { 1, 1 },
                                         .present = { true, true },
                                         .whole = { NAN, NAN } },
                      noise);
}

/* Steps of 43 and 45, whose mean has a variance of 1, against one of 225: with a degree of freedom the margin is 12.7 standard errors of
 * 100 and more, but a step cannot take less than no time. */
TEST(an_interval_does_not_fall_below_nothing)
{
    struct run_level levels[2] = {
        { .mean = 44, .variance = 1, .independent = 1, .df = 1, .steps = 2 },
        { .mean = 225, .variance = 400, .independent = 400, .df = 1, .steps = 2 }
    };
    struct finding finding = finding_of(&(struct sampled){ .runs = { &levels[0], &levels[1] },
                                                           .run_count = { 1, 1 },
                                                           .present = { true, true },
                                                           .whole = { NAN, NAN } },
                                        NULL);
    assert_true(finding.low == -44);
    assert_true(finding.high > 181 + 12 * 20);
}

static enum verdict judged(struct finding finding, double min_change)
{
    finding_judge(&finding, min_change);
    return finding.verdict;
}

/*
 * Levels 100, 102, 104 against 110, 112, 114: shares of their means 0, +-2/102 and 0, +-2/112. The pooled variance is
 * (2 (2/102)^2 + 2 (2/112)^2) / 4 = 0.000351672, that of the change 0.000351672 (102^2 + 112^2) / 3 = 2.690055: error
 * 1.640139, t = 6.0971 with 4 degrees of freedom, whose 97.5 % point is 2.776445.
 */
TEST(runs_are_the_samples)
{
    const double before[] = { 100, 102, 104 }, after[] = { 110, 112, 114 };
    struct finding finding = compared(before, after, 3, NULL);
    assert_int_equal(finding.basis, FINDING_BY_RUNS);
    assert_true(fabs(finding.error - 1.640139) < 1e-5 && finding.df == 4);
    assert_true(fabs(finding.low - (10 - 4.553757)) < 1e-4 && fabs(finding.high - (10 + 4.553757)) < 1e-4);
    assert_true(fabs(finding.p - 0.0036605) < 1e-6);
    assert_int_equal(judged(finding, 0), VERDICT_MORE);
    assert_int_equal(judged(finding, 11), VERDICT_SAME); /* too small to count */
    assert_int_equal(judged(compared(after, before, 3, NULL), 0), VERDICT_LESS);
    /* 5 % of noise between runs: 12 % apart, and no change can be told */
    const double noisy[] = { 100, 95, 108 }, other[] = { 112, 104, 115 };
    assert_int_equal(judged(compared(noisy, other, 3, NULL), 0), VERDICT_SAME);
    assert_string_equal(verdict_name(VERDICT_MORE, TABLE_NS), "slower");
    assert_string_equal(verdict_name(VERDICT_LESS, TABLE_BYTES), "less");
}

/* 100 against 105 with 1 %: the variance is 0.0001 (100^2 + 105^2) = 2.1025, z = 5 / 1.45 = 3.4483. */
TEST(a_known_noise_judges_single_runs)
{
    const struct noise noise = { 0.01, INFINITY };
    const double before[] = { 100 }, after[] = { 105 };
    struct finding finding = compared(before, after, 1, &noise);
    assert_int_equal(finding.basis, FINDING_BY_NOISE);
    assert_true(fabs(finding.error - 1.45) < 1e-9 && fabs(finding.p - 0.000564) < 2e-6);
    assert_int_equal(judged(finding, 0), VERDICT_MORE);
    const struct noise more = { 0.03, INFINITY };
    assert_int_equal(judged(compared(before, after, 1, &more), 0), VERDICT_SAME);
    /* the spread within the runs adds to it: 2.1025 + 2 */
    assert_true(fabs(recorded(100, 105, &noise).error - sqrt(4.1025)) < 1e-9);
}

/* 100 against 105, each with an error of 1: t = 5 / sqrt(2) = 3.5355 with 18 degrees of freedom by Welch. */
TEST(one_run_a_side_is_judged_by_its_steps)
{
    struct finding finding = recorded(100, 105, NULL);
    assert_int_equal(finding.basis, FINDING_BY_STEPS);
    assert_true(fabs(finding.df - 18) < 1e-9 && fabs(finding.p - 0.002363) < 1e-6);
    assert_int_equal(judged(finding, 0), VERDICT_MORE);
    assert_int_equal(judged(recorded(100, 102, NULL), 0), VERDICT_SAME);
    const double before[] = { 100 }, after[] = { 300 };
    assert_int_equal(judged(compared(before, after, 1, NULL), 0), VERDICT_UNSURE); /* one step a side */
    assert_int_equal(judged(compared(before, before, 1, NULL), 0), VERDICT_SAME);
}

TEST(what_one_side_lacks_is_new_or_gone)
{
    struct run_level none = { .mean = 0, .variance = 0, .df = 9, .steps = 10 },
                     some = { .mean = 5, .variance = 1, .df = 9, .steps = 10 };
    struct sampled come = {
        .runs = { &none, &some }, .run_count = { 1, 1 }, .present = { false, true }, .whole = { NAN, NAN }
    };
    struct sampled went = {
        .runs = { &some, &none }, .run_count = { 1, 1 }, .present = { true, false }, .whole = { NAN, NAN }
    };
    struct finding finding = finding_of(&come, NULL);
    assert_int_equal(judged(finding, 0), VERDICT_NEW);
    assert_true(isinf(finding_growth(&finding)) && finding.p < 0.05); /* t = 5 with 9 degrees of freedom */
    finding = finding_of(&went, NULL);
    assert_int_equal(judged(finding, 0), VERDICT_GONE);
    assert_true(finding_growth(&finding) == -1);
}

/* p of 0.03 and 0.04: of two together, Holm doubles the first, and the second is no smaller. */
TEST(rows_are_judged_together)
{
    struct finding one = recorded(100, 105, NULL), two = recorded(100, 105, NULL);
    one.p = 0.03;
    two.p = 0.04;
    struct finding *both[] = { &one, &two };
    assert_int_equal(findings_judge(both, 2, 0), 2);
    assert_int_equal(one.verdict, VERDICT_SAME);
    assert_true(fabs(one.p - 0.06) < 1e-9 && fabs(two.p - 0.06) < 1e-9);
    one.p = 0.02;
    two.p = 0.04;
    findings_judge(both, 2, 0);
    assert_int_equal(one.verdict, VERDICT_MORE);
    assert_int_equal(two.verdict, VERDICT_MORE);
}

/*
 * The first case: a run has a standard deviation of 1.640139 / sqrt(2/3) = 2.00875. The limit of 5.1 is 4.9 from the
 * change: with 2 runs a side the interval is 4.302653 * 2.00875 = 8.6 wide, with 3 it is 4.55. To 9 it is 1 from the
 * change: 4.303 ... 2.0244 * 2.00875 * sqrt(2/n) <= 1 from 33 runs on (64 degrees of freedom, 1.99773: 0.98788); 32: 1.00386.
 */
TEST(the_runs_that_would_tell_are_counted)
{
    const double before[] = { 100, 102, 104 }, after[] = { 110, 112, 114 };
    struct finding finding = compared(before, after, 3, NULL);
    assert_int_equal(finding_runs_needed(&finding, 5.1), 3);
    assert_int_equal(finding_runs_needed(&finding, 9), 33);
    assert_true(finding_runs_needed(&finding, 10) == SIZE_MAX);
    const double one[] = { 100 }, other[] = { 105 };
    finding = compared(one, other, 1, NULL);
    assert_true(finding_runs_needed(&finding, 1) == SIZE_MAX); /* nothing is known of the noise */
}

TEST(growth_is_the_change_of_the_mean)
{
    struct finding finding = recorded(4.5, 14.5, NULL);
    assert_true(fabs(finding_growth(&finding) - 10 / 4.5) < 1e-12);
    finding_judge_exact(&finding);
    assert_int_equal(finding.verdict, VERDICT_MORE);
    assert_true(isnan(finding.p) && finding.low == finding.change && finding.high == finding.change);
}
