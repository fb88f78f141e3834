/* test_shift.c - base/shift.h against R 4 (wilcox.test, p.adjust) and SciPy 1.17 (mannwhitneyu). */
#include "tests/unit/unit.h"
#include "base/shift.h"

#include <math.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static void check_near(double found, double expected)
{
    if (!(fabs(found - expected) <= 1e-12 * fmax(1, fabs(expected))))
        fail_msg("%.17g, not %.17g", found, expected);
}

static void compare(const double *before, size_t before_count, const double *after, size_t after_count,
                    struct shift *shift)
{
    shift_compare_samples(&(struct shift_sample){ before, before_count, before_count },
                          &(struct shift_sample){ after, after_count, after_count }, shift);
}

TEST(quantiles_interpolate)
{
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
TEST(small_samples_are_counted_exactly)
{
    static const double x[] = { 0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46 };
    static const double y[] = { 1.15, 0.88, 0.90, 0.74, 1.21 };
    struct shift shift;
    compare(y, COUNT(y), x, COUNT(x), &shift);
    assert_true(shift.exact && shift.decidable);
    check_near(shift.u, 35);
    check_near(shift.p, 0.2544122544122544);
    check_near(shift.estimate, 0.305);
    check_near(shift.low, -0.15);
    check_near(shift.high, 0.76);
    /* The other way round everything changes its sign and nothing else. */
    compare(x, COUNT(x), y, COUNT(y), &shift);
    check_near(shift.u, 15);
    check_near(shift.p, 0.2544122544122544);
    check_near(shift.estimate, -0.305);
    check_near(shift.low, -0.76);
    check_near(shift.high, 0.15);
}

/* SciPy: mannwhitneyu(d, c, method=PermutationMethod()) goes through all 462 arrangements. */
TEST(ties_are_handled_exactly)
{
    static const double c[] = { 1, 2, 2, 3, 5 }, d[] = { 2, 4, 4, 6, 7, 7 };
    struct shift shift;
    compare(c, COUNT(c), d, COUNT(d), &shift);
    check_near(shift.u, 25);
    check_near(shift.p, 0.0735930735930736);
    static const double same[] = { 4, 4, 4, 4, 4 };
    compare(same, 5, same, 5, &shift);
    check_near(shift.p, 1);
    check_near(shift.estimate, 0);
}

/* Three against three cannot be distinguished at 5 %: the smallest p is 2/20. Four against four can: 2/70. */
TEST(samples_too_small_to_tell_are_known)
{
    static const double low[] = { 1, 2, 3, 4 }, high[] = { 5, 6, 7, 8 };
    struct shift shift;
    compare(low, 3, high, 3, &shift);
    assert_false(shift.decidable);
    check_near(shift.p, 0.1);
    assert_true(isinf(shift.low) && isinf(shift.high));
    compare(low, 4, high, 4, &shift);
    assert_true(shift.decidable);
    check_near(shift.p, 0.02857142857142857);
    check_near(shift.low, 1);
    check_near(shift.high, 7);
    compare(low, 0, high, 4, &shift);
    assert_false(shift.decidable);
    check_near(shift.p, 1);
}

/* SciPy: method='asymptotic', which corrects for continuity and for ties. */
TEST(large_samples_use_the_normal_approximation)
{
    double before[70], after[70];
    for (int i = 0; i < 70; i++) {
        before[i] = (i * 37) % 71;
        after[i] = (i * 53) % 73 + 4;
    }
    struct shift shift;
    compare(before, 70, after, 70, &shift);
    assert_false(shift.exact);
    check_near(shift.u, 2764.5);
    check_near(shift.p, 0.19063345002795917);
    for (int i = 0; i < 50; i++)
        before[i] = (i * 37) % 11;
    for (int i = 0; i < 40; i++)
        after[i] = (i * 53) % 13;
    compare(before, 50, after, 40, &shift);
    check_near(shift.u, 1136.5);
    check_near(shift.p, 0.26781868595714176);
}

/* R: p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm") */
TEST(holm_pays_for_asking_often)
{
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

/* Samples of N a side without ties, whose U is exactly U: as many of the values after as can be are moved to the top. */
static void deal(size_t n, size_t u, double *before, double *after)
{
    /* A value after is larger than the first u[i] values before: u split as evenly as greedily possible. */
    for (size_t i = 0; i < n; i++)
        before[i] = (double)(i * 1000);
    for (size_t i = 0; i < n; i++) {
        size_t above = u < n ? u : n;
        u -= above;
        after[i] = (double)above * 1000 - 500 + (double)i; /* above that many of them */
    }
}

/*
 * The table printed in textbooks since Mann and Whitney (1947) and Auble (1953): the largest U of the smaller tail at
 * which two samples of n differ at the 5 % level, two-sided. One more, and they do not.
 */
TEST(critical_values_are_those_of_the_printed_table)
{
    static const struct {
        size_t n, u;
    } table[] = {
        { 4, 0 },   { 5, 2 },   { 6, 5 },   { 7, 8 },    { 8, 13 },   { 9, 17 },
        { 10, 23 }, { 11, 30 }, { 12, 37 }, { 13, 45 },  { 14, 55 },  { 15, 64 },
        { 16, 75 }, { 17, 87 }, { 18, 99 }, { 19, 113 }, { 20, 127 },
    };
    for (size_t i = 0; i < COUNT(table); i++) {
        double before[20], after[20];
        struct shift shift;
        deal(table[i].n, table[i].u, before, after);
        compare(before, table[i].n, after, table[i].n, &shift);
        check_near(shift.u, (double)table[i].u);
        if (!(shift.p <= 0.05))
            fail_msg("n = %zu, U = %zu: p = %g", table[i].n, table[i].u, shift.p);
        deal(table[i].n, table[i].u + 1, before, after);
        compare(before, table[i].n, after, table[i].n, &shift);
        if (!(shift.p > 0.05))
            fail_msg("n = %zu, U = %zu: p = %g", table[i].n, table[i].u + 1, shift.p);
    }
}

/* SciPy 1.17: mannwhitneyu(after, before, method='exact'), and 'asymptotic' for the larger ones. */
TEST(p_values_are_those_of_scipy)
{
    double before[200], after[300];
    struct shift shift;
    for (int i = 0; i < 20; i++)
        before[i] = (i * 37) % 97;
    for (int i = 0; i < 25; i++)
        after[i] = (i * 53) % 97 + 12.5;
    compare(before, 20, after, 25, &shift);
    check_near(shift.u, 293);
    check_near(shift.p, 0.33512151928152045);
    for (int i = 0; i < 30; i++) {
        before[i] = (i * 37) % 97;
        after[i] = (i * 53) % 97 + 20.5;
    }
    compare(before, 30, after, 30, &shift);
    check_near(shift.u, 617);
    check_near(shift.p, 0.013074133796514679);
    for (int i = 0; i < 200; i++)
        before[i] = (i * 37) % 19;
    for (int i = 0; i < 300; i++)
        after[i] = (i * 53) % 19 + (i % 3 == 0);
    compare(before, 200, after, 300, &shift);
    check_near(shift.u, 30415.5);
    check_near(shift.p, 0.7928873563068086);
    for (int i = 0; i < 100; i++) {
        before[i] = 1000 + i % 7;
        after[i] = 1000 + i % 7 + i % 2;
    }
    compare(before, 100, after, 100, &shift);
    check_near(shift.u, 5662);
    check_near(shift.p, 0.10277290369023713);
}

static int compare_doubles(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return a < b ? -1 : a > b;
}

/* All differences, listed and sorted, give what the search for their k-th smallest gives: with and without ties. */
TEST(the_shift_is_the_median_of_all_differences)
{
    uint32_t random = 1;
    for (int round = 0; round < 200; round++) {
        double before[12], after[12], differences[144];
        size_t counts[2] = { 4 + (size_t)round % 9, 4 + (size_t)round / 9 % 9 }, pairs = 0;
        for (int i = 0; i < 24; i++) {
            random = random * 1664525 + 1013904223;
            double value = round % 2 ? (double)(random >> 28) : (double)(random >> 8) * 1e-3 - 1e3;
            *(i < 12 ? &before[i] : &after[i - 12]) = value;
        }
        for (size_t i = 0; i < counts[1]; i++)
            for (size_t k = 0; k < counts[0]; k++)
                differences[pairs++] = after[i] - before[k];
        qsort(differences, pairs, sizeof *differences, compare_doubles);
        struct shift shift;
        compare(before, counts[0], after, counts[1], &shift);
        check_near(shift.estimate, shift_median(differences, pairs));
        if (isinf(shift.low))
            continue;
        size_t low = 0, high = pairs; /* as far in on one side as on the other */
        while (low < pairs && differences[low] < shift.low)
            low++;
        while (high > 0 && differences[high - 1] > shift.high)
            high--;
        assert_true(differences[low] == shift.low && differences[high - 1] == shift.high);
        if (round % 2 == 0) /* no ties */
            assert_int_equal(low, pairs - high);
    }
}

/* The critical value of the printed table is also how many differences lie outside of the interval on each side. */
TEST(intervals_leave_out_as_many_differences_as_the_table_says)
{
    double before[10], after[10];
    for (int i = 0; i < 10; i++) {
        before[i] = i * 100;
        after[i] = 7 + i * 101;
    }
    double differences[100];
    for (int i = 0; i < 100; i++)
        differences[i] = after[i / 10] - before[i % 10];
    qsort(differences, 100, sizeof *differences, compare_doubles);
    struct shift shift;
    compare(before, 10, after, 10, &shift);
    check_near(shift.low, differences[23]);
    check_near(shift.high, differences[76]);
}

/*
 * 4 a side: 2/70. Of 1 2 2 2 and 2 2 3 4 the largest four are 4, 3 and two of five twos, which are 10 ways to choose:
 * 20/70. Ten values that are one value: no deal of them tells anything.
 */
TEST(the_least_p_depends_on_counts_and_ties)
{
    static const double low[] = { 1, 2, 3, 4 }, high[] = { 5, 6, 7, 8 };
    struct shift shift;
    compare(high, 4, low, 4, &shift);
    check_near(shift.least_p, 2.0 / 70);
    static const double twos[] = { 1, 2, 2, 2 }, more[] = { 2, 2, 3, 4 };
    compare(twos, 4, more, 4, &shift);
    check_near(shift.least_p, 20.0 / 70);
    assert_false(shift.decidable);
    static const double same[] = { 4, 4, 4, 4, 4 };
    compare(same, 5, same, 5, &shift);
    check_near(shift.least_p, 1);
    assert_false(shift.decidable);
}

/* Ten thousand steps a side: a tenth of a second, not a list of a hundred million differences. */
TEST(many_samples_are_compared_in_no_time)
{
    enum { MANY = 10000 };
    SCOPED double *before = malloc(MANY * sizeof *before), *after = malloc(MANY * sizeof *after);
    for (int i = 0; i < MANY; i++) {
        before[i] = (i * 7919) % MANY;
        after[i] = (i * 7919) % MANY + 100;
    }
    struct shift shift;
    compare(before, MANY, after, MANY, &shift);
    check_near(shift.estimate, 100);
    assert_true(shift.low > 0 && shift.low < 100 && shift.high > 100 && shift.high < 200);
}

/* Samples that list only what is not 0 answer as those that list all, of 5 to 200 values of which some are 0. */
TEST(values_that_are_not_listed_are_zero)
{
    unsigned random = 1;
    for (size_t count = 5; count < 200; count += 13) {
        double all[2][200], listed[2][200];
        struct shift_sample sparse[2];
        for (int side = 0; side < 2; side++) {
            size_t kept = 0;
            for (size_t i = 0; i < count; i++) {
                random = random * 1664525u + 1013904223u;
                all[side][i] = random >> 30 ? 0 : (double)(int)(random >> 20 & 15) - 5 + 3 * side;
                if (all[side][i] != 0)
                    listed[side][kept++] = all[side][i];
            }
            sparse[side] = (struct shift_sample){ listed[side], kept, count };
        }
        struct shift a, b;
        compare(all[0], count, all[1], count, &a);
        shift_compare_samples(&sparse[0], &sparse[1], &b);
        assert_memory_equal(&a.estimate, &b.estimate, sizeof a.estimate);
        assert_true(a.low == b.low && a.high == b.high && a.u == b.u && a.p == b.p && a.least_p == b.least_p);
        for (int side = 0; side < 2; side++) {
            shift_sort(all[side], count);
            assert_true(shift_median(all[side], count) == b.median[side]);
        }
    }
}
