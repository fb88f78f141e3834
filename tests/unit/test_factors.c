/* test_factors.c - whatif/replay.h: every factor that is set comes back, whether few or many are known, and laying over is scaling. */

#include "tests/unit/unit.h"
#include "whatif/replay.h"

enum { COUNT = 40 * FACTORS_OF_BLOCK + 7 };

static float factor_of(size_t i, unsigned kinds)
{
    return i % 3 ? (float)(i % kinds) / 7 : 1;
}

/* More kinds than the table holds: then blocks that know others hold floats, and those before keep their places. */
TEST(all_come_back)
{
    for (unsigned kinds = 1; kinds <= 2048; kinds *= 2) {
        struct factors factors;
        SCOPED_ARENA struct arena arena = { 0 };
        factors_init(&factors, &arena, COUNT);
        for (size_t i = FACTORS_OF_BLOCK; i < COUNT; i++)
            factors_set(&factors, i, factor_of(i, kinds));
        for (size_t i = 0; i < COUNT; i++)
            assert_true(factors_get(&factors, i) == (i < FACTORS_OF_BLOCK ? 1 : factor_of(i, kinds)));
        assert_true(factors_are_one(&factors, 0));
        assert_int_equal(factors.values.count > 0, kinds > FACTORS_OF_TABLE);
        for (size_t i = 0; i < COUNT; i++) /* and change in place */
            factors_set(&factors, i, factor_of(i + 1, kinds));
        for (size_t i = 0; i < COUNT; i++)
            assert_true(factors_get(&factors, i) == factor_of(i + 1, kinds));
        factors_clear(&factors);
        for (size_t i = 0; i < COUNT; i++)
            assert_true(factors_get(&factors, i) == 1);
    }
}

/* A block that was filled in order with one factor takes no room, until one of it changes. */
TEST(blocks_of_one_factor_take_no_room)
{
    struct factors factors;
    SCOPED_ARENA struct arena arena = { 0 };
    factors_init(&factors, &arena, COUNT);
    for (size_t i = 0; i < COUNT; i++)
        factors_set(&factors, i, i < FACTORS_OF_BLOCK ? 0.25F : 0);
    assert_int_equal(factors.places.count, 1); /* of the last, which is not full */
    factors_set(&factors, 3, 0.25F);
    assert_int_equal(factors.places.count, 1);
    factors_set(&factors, 3, 1);
    for (size_t i = 0; i < COUNT; i++)
        assert_true(factors_get(&factors, i) == (i == 3 ? 1 : i < FACTORS_OF_BLOCK ? 0.25F : 0));
    assert_int_equal(factors.places.count, 2);
    for (size_t i = 0; i < 2 * FACTORS_OF_TABLE; i++) /* the table is full: floats */
        factors_set(&factors, FACTORS_OF_BLOCK + 1, (float)(i + 2));
    assert_true(factors_get(&factors, FACTORS_OF_BLOCK) == 0);
    assert_true(factors_get(&factors, FACTORS_OF_BLOCK + 1) == 2 * FACTORS_OF_TABLE + 1);
}

TEST(laying_over_is_scaling)
{
    struct factors to, more, scaled;
    SCOPED_ARENA struct arena arena = { 0 };
    factors_init(&to, &arena, COUNT);
    factors_init(&more, &arena, COUNT);
    factors_init(&scaled, &arena, COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        /* 0 with anything; else at most one of both is not 1. */
        float own = i % 5 == 0 ? 0 : i % 5 == 1 ? 0.1F : 1, other = i % 5 == 1 ? 1 : factor_of(i, 1000);
        factors_set(&to, i, own);
        factors_set(&more, i, other);
        factors_set(&scaled, i, own);
        factors_scale(&scaled, i, (double)other);
    }
    assert_true(factors_can_lay_over(&to, &more));
    factors_lay_over(&to, &more);
    for (size_t i = 0; i < COUNT; i++)
        assert_true(factors_get(&to, i) == factors_get(&scaled, i));
    factors_set(&to, COUNT - 1, 0.5F);
    factors_set(&more, COUNT - 1, 0.5F);
    assert_false(factors_can_lay_over(&to, &more));
}
