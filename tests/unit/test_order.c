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

TEST(nothing_is_in_order)
{
    SCOPED uint32_t *order = order_open(0);
    order_by(order, 0, NULL);
}
