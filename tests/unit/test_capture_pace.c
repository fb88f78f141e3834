/* What recording leaves out: capture/pace.h. Times are written in ms and turned into ns. */
#include "tests/unit/unit.h"
#include "capture/pace.h"

#define MS(n) ((int64_t)((double)(n)*1e6))

/*
 * Steps of 10 ms; a recorded one takes MORE ms more, and switching on and off SWITCHING ms, half at its begin and
 * half at the next step's. How many of COUNT steps are recorded.
 */
static int64_t play(struct pace *pace, int64_t count, int64_t more, int64_t switching, int64_t *now_ns)
{
    int64_t before = pace->recorded;
    static int64_t number;
    if (pace->seen == 0)
        number = 0;
    for (int64_t i = 0; i < count; i++) {
        bool was_open = pace->open, open = pace_step(pace, number++, *now_ns);
        int64_t took = (open != was_open) * MS(switching) / 2;
        pace->switched_ns += took;
        *now_ns += took;
        pace_step_begun(pace, *now_ns);
        *now_ns += MS(10) + (open ? MS(more) : 0);
    }
    return pace->recorded - before;
}

TEST(a_sample_without_a_budget_is_one_in_so_many)
{
    struct capture_settings settings = { .sample = 4, .first_step = 1 };
    struct pace pace;
    int64_t now = MS(1000);
    pace_init(&pace, &settings);
    assert_int_equal(play(&pace, 10, 50, 0, &now), 3); /* 0, 4, 8 */
    char text[256];
    pace_describe(&pace, text, sizeof text);
    assert_string_equal(text, "3 of 10 steps were recorded, and 7 left out");
}

/* 3 ms more and 2 ms of switching on steps of 10 ms: at 5 %, one in 5 / (10 x 0.05) = 10. */
TEST(a_budget_counts_switching_too)
{
    struct capture_settings settings = { .sample = 1, .budget = 0.05, .first_step = 1 };
    struct pace pace;
    int64_t now = MS(1000);
    pace_init(&pace, &settings);
    play(&pace, 200, 3, 2, &now);
    assert_int_equal(pace.base_ns, MS(10));
    assert_true(pace.cost_ns > MS(4.8) &&
                pace.cost_ns <= MS(5)); /* the last one is switched on and not off yet */
    assert_int_equal(pace.every, 10);
}

/* It costs less later: after 31 cheap ones, recorded steps are frequent again, but never more than one in two. */
TEST(a_budget_grows_again_when_recording_gets_cheap)
{
    struct capture_settings settings = { .sample = 1, .budget = 0.1, .first_step = 1 };
    struct pace pace;
    int64_t now = MS(1000);
    pace_init(&pace, &settings);
    play(&pace, 400, 8, 0, &now);
    assert_int_equal(pace.every, 8);
    play(&pace, 400, 0, 0, &now);
    assert_int_equal(pace.every, 2);
}

static void assert_describes(const struct pace *pace, const char *begin)
{
    char text[300];
    pace_describe(pace, text, sizeof text);
    text[strlen(begin)] = '\0';
    assert_string_equal(text, begin);
}

/* Costs of 25 ms a window of 100 ms, in 1 s: 2.5 %. For 1 % it must be 2.5 s. */
TEST(a_budget_makes_windows_rarer)
{
    struct capture_settings settings = { .window_ns = MS(100), .period_ns = MS(1000), .budget = 0.01 };
    struct pace pace;
    pace_init(&pace, &settings);
    pace_tick(&pace, MS(5000), 0);
    assert_true(pace.open);
    assert_int_equal(pace_next_change(&pace), MS(5100));
    pace_tick(&pace, MS(5100), MS(20));
    assert_false(pace.open);
    assert_int_equal(pace_next_change(&pace), MS(6000));
    pace_tick(&pace, MS(6000), MS(25));
    assert_false(pace.open);
    assert_int_equal(pace_next_change(&pace), MS(7500));
    assert_describes(&pace, "1 window of 0.100 s was recorded, and the time outside it left out");
    pace_tick(&pace, MS(7499), MS(25));
    assert_false(pace.open);
    pace_tick(&pace, MS(7500), MS(25));
    assert_true(pace.open);
    /* This one costs 1 ms: the next is as early as was requested. */
    pace_tick(&pace, MS(7600), MS(26));
    pace_tick(&pace, MS(10000), MS(26));
    assert_true(pace.open);
    assert_int_equal(pace.recorded, 3);
    assert_describes(&pace, "3 windows of 0.100 s were recorded, and the time between them left out");
    assert_int_equal(pace.every, MS(1000));
}

TEST(a_step_is_slow_against_the_median_of_those_before)
{
    struct capture_settings settings = { .slow = 1.5, .ring_bytes = 1 };
    struct pace pace;
    int64_t usual;
    pace_init(&pace, &settings);
    for (int i = 0; i < PACE_SLOW_AFTER; i++)
        assert_false(pace_is_slow(&pace, MS(i == 3 ? 100 : 10), &usual)); /* too few to say so */
    assert_false(pace_is_slow(&pace, MS(15), &usual));
    assert_true(pace_is_slow(&pace, MS(15) + 1, &usual));
    assert_int_equal(usual, MS(10));
    /* When all have become slow, that is the usual. */
    int slow = 0;
    for (int i = 0; i < 2 * PACE_TIMES; i++)
        slow += pace_is_slow(&pace, MS(20), &usual);
    assert_true(slow < PACE_TIMES);
    assert_int_equal(usual, MS(20));
}
