/* test_stats.c - base/stats.h. */

#include "tests/unit/unit.h"
#include "base/stats.h"

TEST(nothing_gives_zeros)
{
    struct stats stats = stats_of(NULL, 0);
    assert_int_equal(stats.count, 0);
    assert_int_equal(stats.mean, 0);
}

/* 2, 4, 4, 10: sum 20, mean 5, median 4; squares 9 + 1 + 1 + 25 = 36, over 3 is 12. */
TEST(four_values)
{
    int64_t values[] = { 10, 4, 2, 4 };
    struct stats stats = stats_of(values, 4);
    assert_int_equal(stats.sum, 20);
    assert_int_equal(stats.mean, 5);
    assert_int_equal(stats.median, 4);
    assert_int_equal(stats.least, 2);
    assert_int_equal(stats.greatest, 10);
    assert_float_equal(stats.deviation, 3.4641016151377544, 1e-12);
}

/* 1, 2: mean and median 1.5, up to 2. 1, 1, 2: mean 1.33, down. -1, -2: -1.5, up to -1. */
TEST(halves_are_rounded_up)
{
    int64_t two[] = { 2, 1 }, three[] = { 1, 2, 1 }, below[] = { -1, -2 };
    assert_int_equal(stats_of(two, 2).mean, 2);
    assert_int_equal(stats_of(two, 2).median, 2);
    assert_int_equal(stats_of(three, 3).mean, 1);
    assert_int_equal(stats_of(three, 3).median, 1);
    assert_int_equal(stats_of(below, 2).mean, -1);
    assert_int_equal(stats_of(below, 2).median, -1);
}

static int compare(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

/* Values that ascend, descend, repeat, or come anyhow: against sorting them. Some are much worse for bad pivots. */
TEST(the_median_is_that_of_the_sorted_values)
{
    enum { MOST = 3000 };
    static int64_t values[MOST], sorted[MOST];
    uint64_t random = 42;
    for (size_t round = 0; round < 200; round++) {
        size_t count = round < 60 ? round + 1 : 60 + 14 * round;
        for (size_t i = 0; i < count; i++) {
            random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
            int64_t anyhow = (int64_t)(random >> 40);
            values[i] = round % 5 == 0   ? (int64_t)i
                        : round % 5 == 1 ? -(int64_t)i
                        : round % 5 == 2 ? anyhow % 3
                        : round % 5 == 3 ? (int64_t)(i < count / 2 ? i : count - i)
                                         : anyhow - 1000000;
            sorted[i] = values[i];
        }
        qsort(sorted, count, sizeof *sorted, compare);
        struct stats stats = stats_of(values, count);
        int64_t low = sorted[(count - 1) / 2], high = sorted[count / 2];
        assert_int_equal(stats.median, low + (high - low + 1) / 2);
        assert_int_equal(stats.least, sorted[0]);
        assert_int_equal(stats.greatest, sorted[count - 1]);
        assert_int_equal(stats_value_at(values, count, count / 3), sorted[count / 3]);
    }
}

TEST(one_value_does_not_deviate)
{
    int64_t value = 7;
    assert_float_equal(stats_of(&value, 1).deviation, 0, 0);
}
