/* test_forecast.c - memory/forecast/: growth of blocks and the simulated allocator, by hand. */

#include "tests/unit/unit.h"
#include "memory/forecast/forecast.h"

enum { BATCH, SEQ, BOTH = 1 << BATCH | 1 << SEQ };
#define MIB ((int64_t)1 << 20)

/* One size, at 2 and 4, predicted at 8. */
static struct growth growth_from_two(double at_2, double at_4)
{
    static const double sizes[2][FORECAST_SIZES] = { { 2 }, { 4 } }, target[FORECAST_SIZES] = { 8 };
    double values[] = { at_2, at_4 };
    return growth_of(values, sizes, 2, 1, 1 << BATCH, target);
}

TEST(the_lowest_power_that_fits_is_taken)
{
    struct growth constant = growth_from_two(1e6, 1e6 + 512), linear = growth_from_two(1e6, 2e6),
                  quadratic = growth_from_two(1e6, 4e6), mixed = growth_from_two(1e6, 1.5e6);
    assert_int_equal(constant.kind, GROWTH_CONSTANT);
    assert_int_equal(linear.kind, GROWTH_LINEAR);
    assert_true(linear.then == 4e6 && linear.low == linear.high);
    assert_int_equal(quadratic.kind, GROWTH_QUADRATIC);
    assert_true(quadratic.then == 16e6);
    /* 500,000 + 250,000 x: 2.5e6 at 8; with the square 833,333 + 41,667 x^2: 3.5e6 */
    assert_int_equal(mixed.kind, GROWTH_MIXED);
    assert_true(mixed.then == 2.5e6 && mixed.low == 2.5e6);
    assert_true(mixed.high > 3.49e6 && mixed.high < 3.51e6);
}

/* batch x seq x seq x 100 bytes; three points confirm 1 MB + batch x 1e5. */
TEST(products_and_constants_are_told_apart)
{
    static const double sizes[3][FORECAST_SIZES] = { { 2, 64 }, { 4, 64 }, { 2, 128 } },
                        target[FORECAST_SIZES] = { 8, 256 },
                        three[3][FORECAST_SIZES] = { { 2 }, { 4 }, { 6 } }, at_10[FORECAST_SIZES] = { 10 };
    double product[] = { 819200, 1638400, 3276800 }, affine[] = { 1.2e6, 1.4e6, 1.6e6 },
           none[] = { 1e6, 3e6, 2e6 };
    struct growth growth = growth_of(product, sizes, 3, 0, BOTH, target);
    assert_int_equal(growth.kind, GROWTH_PRODUCT);
    assert_int_equal(growth.power[BATCH], 1);
    assert_int_equal(growth.power[SEQ], 2);
    assert_true(growth.then == 8.0 * 256 * 256 * 100);
    growth = growth_of(affine, three, 3, 2, 1 << BATCH, at_10);
    assert_int_equal(growth.kind, GROWTH_AFFINE);
    assert_true(growth.then > 2e6 - 1 && growth.then < 2e6 + 1);
    growth = growth_of(none, three, 3, 2, 1 << BATCH, at_10);
    assert_int_equal(growth.kind, GROWTH_IRREGULAR);
    assert_true(growth.low <= 1e6 && growth.high >= 3e6);
}

TEST(segments_are_those_of_pytorch)
{
    struct allocator *allocator = allocator_open();
    uint32_t small = allocator_take(allocator, 1, 0); /* 512 of 2 MiB */
    assert_int_equal(allocator_reserved(allocator), 2 * MIB);
    allocator_take(allocator, MIB, 0); /* of the rest */
    assert_int_equal(allocator_reserved(allocator), 2 * MIB);
    uint32_t large = allocator_take(allocator, 3 * MIB, 0); /* of 20 MiB */
    assert_int_equal(allocator_reserved(allocator), 22 * MIB);
    allocator_take(allocator, 11 * MIB, 0); /* of the rest, which is large enough */
    assert_int_equal(allocator_reserved(allocator), 22 * MIB);
    allocator_take(allocator, 10 * MIB + 1, 0); /* a segment of its own, rounded to 2 MiB */
    assert_int_equal(allocator_reserved(allocator), 34 * MIB);
    allocator_take(allocator, 1, 1); /* another stream */
    assert_int_equal(allocator_reserved(allocator), 36 * MIB);
    allocator_give(allocator, large);
    allocator_give(allocator, small);
    assert_int_equal(allocator_take(allocator, 3 * MIB, 0), large); /* the piece that fits best */
    assert_int_equal(allocator_reserved(allocator), 36 * MIB);
    assert_int_equal(allocator_take(allocator, 0, 0), PIECE_NONE);
    allocator_free(allocator);
}

/* Three pieces of 6 MiB and a rest of 2 MiB: given back in any order they are one of 20 MiB again. */
TEST(free_neighbours_are_joined)
{
    struct allocator *allocator = allocator_open();
    uint32_t piece[3];
    for (int i = 0; i < 3; i++)
        piece[i] = allocator_take(allocator, 6 * MIB, 0);
    allocator_give(allocator, piece[0]);
    allocator_give(allocator, piece[2]);
    allocator_give(allocator, piece[1]);
    allocator_take(allocator, 20 * MIB, 0);
    assert_int_equal(allocator_reserved(allocator), 20 * MIB);
    allocator_free(allocator);
}
