/* test_shift.c - base/shift.h against R 4 (wilcox.test, p.adjust) and SciPy 1.17 (mannwhitneyu). */
#include "base/shift.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static void check_near(double found, double expected)
{
    if (!(fabs(found - expected) <= 1e-12 * fmax(1, fabs(expected))))
        fail_msg("%.17g, not %.17g", found, expected);
}

static void quantiles_interpolate(void **state)
{
    (void)state;
    double values[] = { 7, 1, 3, 10 };
    shift_sort(values, 4);
    check_near(shift_median(values, 4), 5);
    check_near(shift_quantile(values, 4, 0), 1);
    check_near(shift_quantile(values, 4, 1), 10);
    check_near(shift_quantile(values, 4, 0.25), 2.5); /* R: quantile(c(1,3,7,10), .25) */
    check_near(shift_median(values, 1), 1);
    assert_true(isnan(shift_median(values, 0)));
}

/* The example of R's help page of wilcox.test: W = 35, p = 0.2544, shift 0.305, interval -0.15 .. 0.76. */
static void small_samples_are_counted_exactly(void **state)
{
    (void)state;
    static const double x[] = { 0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46 };
    static const double y[] = { 1.15, 0.88, 0.90, 0.74, 1.21 };
    struct shift shift;
    shift_compare(y, COUNT(y), x, COUNT(x), &shift);
    assert_true(shift.exact && shift.decidable);
    check_near(shift.u, 35);
    check_near(shift.p, 0.2544122544122544);
    check_near(shift.estimate, 0.305);
    check_near(shift.low, -0.15);
    check_near(shift.high, 0.76);
    /* The other way round everything changes its sign and nothing else. */
    shift_compare(x, COUNT(x), y, COUNT(y), &shift);
    check_near(shift.u, 15);
    check_near(shift.p, 0.2544122544122544);
    check_near(shift.estimate, -0.305);
    check_near(shift.low, -0.76);
    check_near(shift.high, 0.15);
}

/* SciPy: mannwhitneyu(d, c, method=PermutationMethod()) goes through all 462 arrangements. */
static void ties_are_handled_exactly(void **state)
{
    (void)state;
    static const double c[] = { 1, 2, 2, 3, 5 }, d[] = { 2, 4, 4, 6, 7, 7 };
    struct shift shift;
    shift_compare(c, COUNT(c), d, COUNT(d), &shift);
    check_near(shift.u, 25);
    check_near(shift.p, 0.0735930735930736);
    static const double same[] = { 4, 4, 4, 4, 4 };
    shift_compare(same, 5, same, 5, &shift);
    check_near(shift.p, 1);
    check_near(shift.estimate, 0);
}

/* Three against three can not be told apart at 5 %: the smallest p is 2/20. Four against four can: 2/70. */
static void samples_too_small_to_tell_are_known(void **state)
{
    (void)state;
    static const double low[] = { 1, 2, 3, 4 }, high[] = { 5, 6, 7, 8 };
    struct shift shift;
    shift_compare(low, 3, high, 3, &shift);
    assert_false(shift.decidable);
    check_near(shift.p, 0.1);
    assert_true(isinf(shift.low) && isinf(shift.high));
    shift_compare(low, 4, high, 4, &shift);
    assert_true(shift.decidable);
    check_near(shift.p, 0.02857142857142857);
    check_near(shift.low, 1);
    check_near(shift.high, 7);
    shift_compare(low, 0, high, 4, &shift);
    assert_false(shift.decidable);
    check_near(shift.p, 1);
}

/* SciPy: method='asymptotic', which corrects for continuity and for ties. */
static void large_samples_use_the_normal_approximation(void **state)
{
    (void)state;
    double before[70], after[70];
    for (int i = 0; i < 70; i++) {
        before[i] = (i * 37) % 71;
        after[i] = (i * 53) % 73 + 4;
    }
    struct shift shift;
    shift_compare(before, 70, after, 70, &shift);
    assert_false(shift.exact);
    check_near(shift.u, 2764.5);
    check_near(shift.p, 0.19063345002795917);
    for (int i = 0; i < 50; i++)
        before[i] = (i * 37) % 11;
    for (int i = 0; i < 40; i++)
        after[i] = (i * 53) % 13;
    shift_compare(before, 50, after, 40, &shift);
    check_near(shift.u, 1136.5);
    check_near(shift.p, 0.26781868595714176);
}

/* R: p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm") */
static void holm_pays_for_asking_often(void **state)
{
    (void)state;
    double p[] = { 0.01, 0.04, NAN, 0.03, 0.005 };
    shift_holm(p, 5);
    check_near(p[0], 0.03);
    check_near(p[1], 0.06);
    assert_true(isnan(p[2]));
    check_near(p[3], 0.06);
    check_near(p[4], 0.02);
    double large[] = { 0.6, 0.7 };
    shift_holm(large, 2);
    check_near(large[0], 1);
    check_near(large[1], 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantiles_interpolate),
        cmocka_unit_test(small_samples_are_counted_exactly),
        cmocka_unit_test(ties_are_handled_exactly),
        cmocka_unit_test(samples_too_small_to_tell_are_known),
        cmocka_unit_test(large_samples_use_the_normal_approximation),
        cmocka_unit_test(holm_pays_for_asking_often),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
