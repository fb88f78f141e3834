/* test_moment_times.c - whatif/replay.h: every time that is set comes back, near the base of its block or not. */

#include "tests/unit/unit.h"
#include "whatif/replay.h"

static int64_t time_of(moment_id m)
{
    return 1700000000000000000 + (int64_t)m * 1000;
}

TEST(near_times_come_back)
{
    struct moment_times times = { 0 };
    moment_times_resize(&times, 1000);
    for (moment_id m = 1000; m-- > 0;) /* a base is not always the earliest of its block */
        moment_times_set(&times, m, time_of(m));
    for (moment_id m = 0; m < 1000; m++)
        assert_int_equal(moment_times_get(&times, m), time_of(m));
    assert_null(times.far);
    moment_times_release(&times);
}

TEST(far_times_come_back)
{
    /* Around what 32 bits hold, and where a difference does not fit 64 bits. */
    static const int64_t edge_ns[] = {
        INT64_MIN,
        0,
        INT64_MAX,
        INT32_MAX,
        (int64_t)INT32_MAX + 1,
        INT32_MIN,
        (int64_t)INT32_MIN + 1,
        INT64_MIN,
        INT64_MAX,
        INT64_MIN + 1,
        INT64_MAX - 1,
        -1,
    };
    enum { EDGES = sizeof edge_ns / sizeof *edge_ns };
    for (unsigned first = 0; first < EDGES; first++) {
        struct moment_times times = { 0 };
        moment_times_resize(&times, (size_t)3 * MOMENTS_OF_BLOCK);
        for (moment_id m = 0; m < times.count; m++)
            moment_times_set(&times, m, edge_ns[(first + m) % EDGES]);
        for (moment_id m = 0; m < times.count; m++)
            assert_true(moment_times_get(&times, m) == edge_ns[(first + m) % EDGES]);
        moment_times_release(&times);
    }
}

TEST(growing_keeps_what_was_set)
{
    struct moment_times times = { 0 };
    moment_times_resize(&times, 70);
    for (moment_id m = 0; m < 70; m++)
        moment_times_set(&times, m, m % 7 ? time_of(m) : -time_of(m));
    moment_times_resize(&times, 500000);
    moment_times_set(&times, 499999, 5);
    moment_times_resize(&times, 600000);
    for (moment_id m = 0; m < 70; m++)
        assert_true(moment_times_get(&times, m) == (m % 7 ? time_of(m) : -time_of(m)));
    assert_int_equal(moment_times_get(&times, 499999), 5);
    moment_times_release(&times);
}
