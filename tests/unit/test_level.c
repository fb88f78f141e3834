/* test_level.c - base/level.h against figures worked out by hand, and Student's t where it has a closed form. */
#include "tests/unit/unit.h"
#include "base/level.h"

#include <math.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static void check_near(double found, double expected)
{
    if (!(fabs(found - expected) <= 1e-12 * fmax(1, fabs(expected))))
        fail_msg("%.17g, not %.17g", found, expected);
}

/* Mean 5; squares of the distances 9 + 1 + 1 + 9 = 20, so the variance is 20/3 and that of the mean 20/12. */
TEST(quiet_values_are_averaged)
{
    double values[] = { 8, 2, 6, 4 };
    struct level level = level_of(values, COUNT(values));
    check_near(level.centre, 5);
    check_near(level.error, sqrt(20.0 / 12));
    assert_int_equal(level.odd, 0);
}

/* Without the 90: mean 5, squares 4 + 1 + 1 + 0 + 0 + 0 + 1 + 1 + 4 = 12, variance 12/8, of the mean 12/72. */
TEST(one_odd_value_of_ten_is_set_aside)
{
    double values[] = { 3, 4, 4, 5, 90, 5, 5, 6, 6, 7 };
    struct level level = level_of(values, COUNT(values));
    check_near(level.centre, 5);
    check_near(level.error, sqrt(12.0 / 72));
    assert_int_equal(level.odd, 1);
}

/* Two of ten are too many to be accidents: the nearer one stays. (3+4+4+5+5+5+6+6+70)/9 = 12. */
TEST(a_second_odd_value_counts)
{
    double values[] = { 3, 4, 4, 5, 90, 5, 5, 6, 6, 70 };
    struct level level = level_of(values, COUNT(values));
    check_near(level.centre, 12);
    assert_int_equal(level.odd, 1);
}

TEST(few_values_are_never_odd)
{
    double values[] = { 1, 1, 1, 1, 1, 1, 8 };
    struct level level = level_of(values, COUNT(values));
    check_near(level.centre, 2);
    assert_int_equal(level.odd, 0);
    double one[] = { 7 };
    level = level_of(one, 1);
    check_near(level.centre, 7);
    assert_true(isnan(level.error));
    assert_true(isnan(level_of(one, 0).centre));
    double same[] = { 4, 4, 4 };
    level = level_of(same, 3);
    check_near(level.error, 0);
}

/* The median is 5, the distances 0 0 1 1 1 1 2 2 2 2 and 100: their median 1; odd is what is beyond 6 * 1.4826. */
TEST(what_is_odd_can_be_set_to_be_larger)
{
    const double sorted[] = { 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 105 };
    struct level_kept kept = level_set_aside(sorted, COUNT(sorted), 5, 0);
    assert_int_equal(kept.first, 0);
    assert_int_equal(kept.count, 10);
    kept = level_set_aside(sorted, COUNT(sorted), 5, 20);
    assert_int_equal(kept.count, 11);
    const double low[] = { -105, 3, 4, 4, 5, 5, 6, 6, 7, 7 };
    kept = level_set_aside(low, COUNT(low), 5, 0);
    assert_int_equal(kept.first, 1);
    assert_int_equal(kept.count, 9);
}

/* df 1: 1/2 - atan(t)/pi. df 2: 1/2 - t / (2 sqrt(2 + t^2)). df 4: 1/2 - u (1 - u^2/3) 3/4, u = t/sqrt(4 + t^2). */
TEST(student_matches_its_closed_forms)
{
    static const double at[] = { 0, 0.1, 1, 2.5, 7, 40 };
    for (size_t i = 0; i < COUNT(at); i++) {
        double t = at[i], u = t / sqrt(4 + t * t);
        check_near(level_student_tail(t, 1), 0.5 - atan(t) / 3.14159265358979323846);
        check_near(level_student_tail(t, 2), 0.5 - t / (2 * sqrt(2 + t * t)));
        check_near(level_student_tail(t, 4), 0.5 - 0.75 * u * (1 - u * u / 3));
        check_near(level_student_tail(-t, 2), 0.5 + t / (2 * sqrt(2 + t * t)));
        check_near(level_student_tail(t, INFINITY), erfc(t / sqrt(2)) / 2);
    }
    /* Simpson's rule over the density, 200,000 steps from 4 to 200 */
    assert_true(fabs(level_student_tail(4, 113) - 5.67222650273e-05) < 1e-15);
    check_near(level_student_tail(INFINITY, 5), 0);
    check_near(level_student_tail(-INFINITY, 5), 1);
}
