/* test_verdict.c - diff/verdict.h: what is called real, and how many rows can be judged at once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "diff/verdict.h"
#include <math.h>

enum { MOST = 16 };

/* COUNT values before and after: LEVEL + 0, 1, 2 ... on the first side, LEVEL + SHIFT + 0, 1, 2 ... on the second. */
static struct finding shifted(size_t count, double level, double shift)
{
    double values[2][MOST];
    for (size_t i = 0; i < count; i++) {
        values[0][i] = level + (double)i;
        values[1][i] = level + shift + (double)i;
    }
    return finding_of(&(struct sampled){
        { { values[0], count, count }, { values[1], count, count } }, { true, true }, { NAN, NAN } });
}

static enum verdict judged(struct finding finding, double min_change)
{
    finding_judge(&finding, min_change);
    return finding.verdict;
}

static void a_real_change_has_a_direction(void **state)
{
    (void)state;
    assert_int_equal(judged(shifted(4, 1000, 50), 0), VERDICT_MORE);
    assert_int_equal(judged(shifted(4, 1000, -50), 0), VERDICT_LESS);
    assert_int_equal(judged(shifted(4, 1000, 0), 0), VERDICT_SAME);
    assert_int_equal(judged(shifted(4, 1000, 50), 51), VERDICT_SAME); /* too small to count */
    assert_int_equal(judged(shifted(4, 1000, 50), 50), VERDICT_MORE);
    assert_string_equal(verdict_name(VERDICT_MORE, TABLE_NS), "slower");
    assert_string_equal(verdict_name(VERDICT_LESS, TABLE_BYTES), "less");
}

static void three_a_side_are_too_few(void **state)
{
    (void)state;
    assert_int_equal(judged(shifted(3, 1000, 50), 0), VERDICT_UNSURE);
    assert_int_equal(judged(shifted(1, 1000, 50), 0), VERDICT_UNSURE);
    assert_int_equal(judged(shifted(3, 1000, 0), 0), VERDICT_SAME);
    assert_int_equal(verdict_samples_needed(1), 4);
}

/*
 * Twice as much, with 2 or 3 samples a side that differ by 1: 998 or 997 apart, where three times 2 % of the level is 120. Two
 * samples that are 40 wide and 60 apart may be chance: 60 is less than three times 40.
 */
static void a_change_far_beyond_any_spread_is_judged_with_two(void **state)
{
    (void)state;
    struct finding finding = shifted(3, 1000, 1000);
    finding_judge(&finding, 0);
    assert_int_equal(finding.verdict, VERDICT_MORE);
    assert_true(finding.by_spread && finding.p < 0.01);
    assert_int_equal(judged(shifted(2, 1000, 1000), 0), VERDICT_MORE);
    assert_int_equal(judged(shifted(2, 1000, -900), 0), VERDICT_LESS);
    assert_int_equal(judged(shifted(2, 1000, 1000), 1001), VERDICT_SAME); /* too small to count */
    double before[2] = { 100, 140 }, after[2] = { 200, 240 };
    struct sampled wide = { { { before, 2, 2 }, { after, 2, 2 } }, { true, true }, { NAN, NAN } };
    assert_int_equal(judged(finding_of(&wide), 0), VERDICT_UNSURE);
    finding = shifted(2, 1000, 1000); /* one of a hundred rows: p is 0.003 times 100 */
    finding.verdict = VERDICT_UNSURE;
    finding_judge_clear(&finding, 100, 0);
    assert_int_equal(finding.verdict, VERDICT_UNSURE);
}

static void what_one_side_lacks_is_new_or_gone(void **state)
{
    (void)state;
    double zeros[4] = { 0 }, values[4] = { 5, 6, 7, 8 };
    struct sampled come = { { { zeros, 4, 4 }, { values, 4, 4 } }, { false, true }, { NAN, NAN } };
    struct sampled went = { { { values, 4, 4 }, { zeros, 4, 4 } }, { true, false }, { NAN, NAN } };
    assert_int_equal(judged(finding_of(&come), 0), VERDICT_NEW);
    assert_int_equal(judged(finding_of(&went), 0), VERDICT_GONE);
    struct finding finding = finding_of(&come);
    assert_true(isinf(finding_growth(&finding)));
}

/* Means: 103 and 283; the one bad step is most of it. The shift is 0, and p is far from small. */
static void one_bad_step_changes_the_mean_and_no_verdict(void **state)
{
    (void)state;
    double before[6] = { 100, 102, 104, 101, 103, 105 }, after[6] = { 100, 102, 104, 101, 103, 1185 };
    struct sampled sampled = { { { before, 6, 6 }, { after, 6, 6 } }, { true, true }, { NAN, NAN } };
    struct finding finding = finding_of(&sampled);
    assert_true(finding.change == 180);
    assert_true(finding.shift.estimate == 0);
    assert_int_equal(judged(finding, 0), VERDICT_SAME);
    assert_true(finding_growth(&finding) == 0);
}

/* The whole is told instead of the mean: a peak of memory. */
static void a_whole_stands_for_the_mean(void **state)
{
    (void)state;
    double before[4] = { 10, 20, 10, 10 }, after[4] = { 30, 40, 30, 30 };
    struct sampled sampled = { { { before, 4, 4 }, { after, 4, 4 } }, { true, true }, { 25, 40 } };
    struct finding finding = finding_of(&sampled);
    assert_true(finding.before == 25 && finding.after == 40 && finding.change == 15);
    assert_int_equal(judged(finding, 0), VERDICT_MORE);
}

/*
 * Five a side: the least p is 2 / 252, so that 6 rows can be asked about at once (6 * 2 / 252 = 0.0476) and 7 cannot. The 6
 * largest are, whatever changed; a row that is the same everywhere is no question and takes no place.
 */
static void as_many_rows_are_judged_as_can_be(void **state)
{
    (void)state;
    struct finding findings[9], *list[9];
    double same[5] = { 9000, 9000, 9000, 9000, 9000 };
    struct sampled constant = { { { same, 5, 5 }, { same, 5, 5 } }, { true, true }, { NAN, NAN } };
    for (int i = 0; i < 8; i++)
        findings[i] = shifted(5, 1000 + 100 * i, i % 2 ? 50 : -50);
    findings[8] = finding_of(&constant);
    for (int i = 0; i < 9; i++)
        list[i] = &findings[i];
    assert_int_equal(findings_judge(list, 9, 0), 6);
    assert_int_equal(findings[0].verdict, VERDICT_UNSURE); /* the two smallest */
    assert_int_equal(findings[1].verdict, VERDICT_UNSURE);
    for (int i = 2; i < 8; i++)
        assert_int_equal(findings[i].verdict, i % 2 ? VERDICT_MORE : VERDICT_LESS);
    assert_int_equal(findings[8].verdict, VERDICT_SAME);
    assert_true(isnan(findings[0].p));
    assert_true(fabs(findings[7].p - 6 * 2.0 / 252) < 1e-12);
    /* By itself each of them can be judged. */
    assert_int_equal(findings_judge(list, 1, 0), 1);
    assert_int_equal(findings[0].verdict, VERDICT_LESS);
}

/* Rows that never took 60 in all cannot have changed by as much: they are not asked about. */
static void rows_too_small_to_matter_take_no_place(void **state)
{
    (void)state;
    struct finding findings[8], *list[8];
    for (int i = 0; i < 8; i++) {
        findings[i] = shifted(5, i < 6 ? 1000 : 1, i < 6 ? 100 : 5);
        list[i] = &findings[i];
    }
    assert_int_equal(findings_judge(list, 8, 60), 6);
    assert_int_equal(findings[7].verdict, VERDICT_SAME);
    assert_int_equal(findings[0].verdict, VERDICT_MORE);
}

/* 2 * 7 / 3432 < 0.05 / 85; 6 a side: 2 / 924 allows 23. */
static void more_rows_need_more_samples(void **state)
{
    (void)state;
    assert_int_equal(verdict_samples_needed(6), 5);
    assert_int_equal(verdict_samples_needed(7), 6);
    assert_int_equal(verdict_samples_needed(23), 6);
    assert_int_equal(verdict_samples_needed(24), 7);
    assert_int_equal(verdict_samples_needed(85), 7);
    assert_int_equal(verdict_samples_needed(86), 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_real_change_has_a_direction),
        cmocka_unit_test(three_a_side_are_too_few),
        cmocka_unit_test(a_change_far_beyond_any_spread_is_judged_with_two),
        cmocka_unit_test(what_one_side_lacks_is_new_or_gone),
        cmocka_unit_test(one_bad_step_changes_the_mean_and_no_verdict),
        cmocka_unit_test(a_whole_stands_for_the_mean),
        cmocka_unit_test(as_many_rows_are_judged_as_can_be),
        cmocka_unit_test(rows_too_small_to_matter_take_no_place),
        cmocka_unit_test(more_rows_need_more_samples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
