/* test_shifts.c - whatif/replay.h: every shift that is set comes back, alike in its block or not. */

#include "tests/unit/unit.h"
#include "whatif/replay.h"

enum { COUNT = 5 * SHIFTS_OF_BLOCK + 7 };

TEST(alike_ones_take_no_room)
{
    struct shifts shifts;
    shifts_init(&shifts, COUNT);
    for (moment_id m = COUNT; m-- > 0;)
        shifts_set(&shifts, m, (int64_t)(m / SHIFTS_OF_BLOCK) * -1000000007);
    for (moment_id m = 0; m < COUNT; m++)
        assert_int_equal(shifts_get(&shifts, m), (int64_t)(m / SHIFTS_OF_BLOCK) * -1000000007);
    for (size_t b = 0; b < shifts.block_count; b++)
        assert_null(shifts.blocks[b].apart);
    shifts_release(&shifts);
}

TEST(others_come_back)
{
    /* Around what 16, 24 and 32 bits hold, the values that stand for something else, and where a difference does not fit 64 bits. */
    static const int64_t edge_ns[] = {
        0,
        -1,
        1,
        INT32_MAX,
        (int64_t)INT32_MAX + 1,
        INT32_MIN,
        (int64_t)INT32_MIN - 1,
        INT64_MAX,
        0,
        0,
        INT64_MIN,
        INT64_MAX,
        INT64_MAX - 1,
        INT64_MIN + 1,
        0,
        INT16_MAX,
        INT16_MIN,
        0,
        INT16_MAX + 1,
        0,
        INT16_MIN - 1,
        0,
        0x7fffff,
        -0x800000,
        0,
        0x800000,
        0,
        -0x800001,
    };
    enum { EDGES = sizeof edge_ns / sizeof *edge_ns };
    for (unsigned first = 0; first < EDGES; first++) {
        for (unsigned repeated = 1; repeated <= SHIFTS_OF_BLOCK; repeated *= 4) {
            struct shifts shifts;
            shifts_init(&shifts, COUNT);
            for (moment_id m = 0; m < COUNT; m++)
                shifts_set(&shifts, m, edge_ns[(first + m / repeated) % EDGES]);
            for (moment_id m = 0; m < COUNT; m++)
                assert_true(shifts_get(&shifts, m) == edge_ns[(first + m / repeated) % EDGES]);
            shifts_release(&shifts);
        }
    }
}

TEST(numbers_are_as_wide_as_they_must)
{
    static const struct {
        int64_t apart_ns;
        unsigned bytes;
    } cases[] = {
        { 1, 2 },
        { INT16_MAX, 2 },
        { INT16_MIN, 2 },
        { INT16_MAX + 1, 3 },
        { INT16_MIN - 1, 3 },
        { 0x7fffff, 3 },
        { -0x800000, 3 },
        { 0x800000, 4 },
        { -0x800001, 4 },
        { INT32_MAX, 4 },
        { INT32_MIN, 4 },
        { INT32_MAX + (int64_t)1, 8 },
        { INT32_MIN - (int64_t)1, 8 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct shifts shifts;
        shifts_init(&shifts, SHIFTS_OF_BLOCK);
        assert_false(shifts_are_known(&shifts, 0));
        for (moment_id m = 0; m < SHIFTS_OF_BLOCK; m++)
            shifts_set(&shifts, m, m == 40 ? 1000 + cases[i].apart_ns : 1000);
        assert_true(shifts_are_known(&shifts, 0));
        assert_int_equal(shifts.blocks[0].apart->bytes, cases[i].bytes);
        for (moment_id m = 0; m < SHIFTS_OF_BLOCK; m++)
            assert_true(shifts_get(&shifts, m) == (m == 40 ? 1000 + cases[i].apart_ns : 1000));
        shifts_forget(&shifts, 0);
        assert_false(shifts_are_known(&shifts, 0));
        shifts_release(&shifts);
    }
}

/* Of the six blocks of COUNT moments the second and the last have places; the others are one, which nothing is set in. */
TEST(few_blocks_take_the_room_of_few)
{
    static const uint32_t place[] = { 2, 0, 2, 2, 2, 1 };
    enum { SECOND = SHIFTS_OF_BLOCK, LAST = 5 * SHIFTS_OF_BLOCK };
    struct shifts shifts;
    shifts_init_few(&shifts, place, 2);
    assert_int_equal(shifts.block_count, 3);
    for (moment_id m = SECOND; m < SECOND + SHIFTS_OF_BLOCK; m++)
        shifts_set(&shifts, m, 100 + m);
    for (moment_id m = LAST; m < COUNT; m++)
        shifts_set(&shifts, m, -7);
    for (moment_id m = 0; m < COUNT; m++)
        assert_int_equal(shifts_are_known(&shifts, m), m / SHIFTS_OF_BLOCK == 1 || m >= LAST);
    assert_int_equal(shifts_get(&shifts, SECOND), 100 + SECOND);
    assert_int_equal(shifts_get(&shifts, SECOND + 63), 163 + SECOND);
    assert_false(shifts_are_alike(&shifts, SECOND));
    assert_int_equal(shifts_get(&shifts, COUNT - 1), -7);
    assert_true(shifts_are_alike(&shifts, LAST));
    shifts_release(&shifts);
}
