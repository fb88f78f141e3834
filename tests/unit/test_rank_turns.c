/* test_rank_turns.c - unit tests for derive/rank_turns.h. */
#include "tests/unit/unit.h"
#include "derive/rank_turns.h"

enum { MOST = 8 };

/* Ranks that meet once a step, of which rank R is the last, by 10, in HELD[R] steps: do they take turns? */
static bool in_turn(const int *held, size_t count)
{
    struct rank_turn ranks[MOST] = { { 0, 0 } };
    int steps = 0;
    for (size_t i = 0; i < count; i++)
        steps += held[i];
    for (size_t i = 0; i < count; i++)
        ranks[i] = (struct rank_turn){ .caused_ns = 10 * held[i] * (int)(count - 1),
                                       .waited_ns = 10 * (steps - held[i]) };
    return ranks_take_turns(ranks, count);
}

#define IN_TURN(...) in_turn((const int[]){ __VA_ARGS__ }, sizeof((const int[]){ __VA_ARGS__ }) / sizeof(int))

TEST(ranks_that_are_last_as_often_take_turns)
{
    assert_true(IN_TURN(3, 3));
    assert_true(IN_TURN(7, 5));
    assert_true(IN_TURN(2, 2, 2, 2));
    assert_true(IN_TURN(3, 2, 2, 1));
    assert_true(IN_TURN(1, 1, 1, 1, 1, 1, 1, 1));
}

TEST(a_rank_that_is_last_more_often_is_slower)
{
    assert_false(IN_TURN(8, 0));
    assert_false(IN_TURN(8, 4));
    assert_false(IN_TURN(4, 2, 1, 1));
    assert_false(IN_TURN(3, 1, 1, 1, 1, 1, 0, 0));
}

/* Two slow ranks, of which now the one, now the other is last: they wait for nobody, the rest for both. */
TEST(two_slow_ranks_do_not_take_turns)
{
    const struct rank_turn ranks[] = { { 50, 1 }, { 50, 1 }, { 0, 49 }, { 0, 49 } };
    assert_false(ranks_take_turns(ranks, 3));
    assert_false(ranks_take_turns(ranks, 4));
}

TEST(where_nobody_waits_there_are_no_turns)
{
    assert_false(IN_TURN(0, 0));
    assert_false(IN_TURN(1));
    assert_false(ranks_take_turns(NULL, 0));
}
