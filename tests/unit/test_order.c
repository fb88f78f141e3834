/* test_order.c - base/order.h: sorted by several keys, and stable. */
#include "tests/unit/unit.h"
#include "base/order.h"

TEST(the_last_key_matters_most_and_equals_stay)
{
    static const uint64_t minor[] = { 5, 1, 5, 1, 0 }, major[] = { 7, 7, 2, 7, UINT64_MAX };
    static const uint32_t expected[] = { 2, 1, 3, 0, 4 };
    SCOPED uint32_t *order = order_open(5);
    order_by(order, 5, minor);
    order_by(order, 5, major);
    assert_memory_equal(order, expected, sizeof expected);
}

TEST(signed_numbers_are_in_their_order)
{
    static const int64_t values[] = { 3, INT64_MIN, -1, INT64_MAX, 0, -5000000000 };
    static const uint32_t upwards[] = { 1, 5, 2, 4, 0, 3 };
    uint64_t keys[6];
    SCOPED uint32_t *order = order_open(6);
    for (size_t i = 0; i < 6; i++)
        keys[i] = order_key(values[i]);
    order_by(order, 6, keys);
    assert_memory_equal(order, upwards, sizeof upwards);
    for (size_t i = 0; i < 6; i++)
        keys[i] = ~keys[i];
    order_by(order, 6, keys);
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(order[i], upwards[5 - i]);
}

/* COUNT items by keys that KEY_OF returns, twice over, so that all have an equal: in order, and equals as before. */
static void check_many(size_t count, uint64_t (*key_of)(size_t i))
{
    uint64_t *keys = calloc(2 * count, sizeof *keys);
    uint32_t *order = order_open(2 * count);
    assert_non_null(keys);
    for (size_t i = 0; i < 2 * count; i++)
        keys[i] = key_of(i % count);
    order_by(order, 2 * count, keys);
    for (size_t i = 1; i < 2 * count; i++) {
        assert_true(keys[order[i - 1]] <= keys[order[i]]);
        assert_true(keys[order[i - 1]] < keys[order[i]] || order[i - 1] < order[i]);
    }
    free(order);
    free(keys);
}

/* Lanes of 400 spans, of which each begins anew; with two that lie one behind the other. */
static uint64_t key_of_lanes(size_t i)
{
    return i % 400 * 5000 + i / 400;
}

static uint64_t key_of_two(size_t i)
{
    return i % 10000 * 3;
}

/* Pairs in the wrong order, one in 300. */
static uint64_t key_of_pairs(size_t i)
{
    return i % 300 == 0 ? i + 1 : i % 300 == 1 ? i - 1 : i;
}

static uint64_t key_of_all(size_t i)
{
    return i * UINT64_C(0x9e3779b97f4a7c15);
}

TEST(many_are_sorted_whether_merged_or_by_digits)
{
    check_many(20000, key_of_lanes);
    check_many(20000, key_of_two);
    check_many(20000, key_of_pairs);
    check_many(20000, key_of_all);
}

TEST(nothing_is_in_order)
{
    SCOPED uint32_t *order = order_open(0);
    order_by(order, 0, NULL);
}
