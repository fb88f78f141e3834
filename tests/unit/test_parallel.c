/* test_parallel.c - each part is done once, whatever the number of threads. */
#include "tests/unit/unit.h"
#include "base/parallel.h"

enum { PARTS = 1000 };

static void count_part(void *context, size_t part)
{
    int *times = context;
    times[part]++;
}

TEST(every_part_is_done_once)
{
    static const unsigned workers[] = { 0, 1, 2, 7, 64, 1000 };
    for (size_t w = 0; w < sizeof workers / sizeof *workers; w++) {
        int times[PARTS] = { 0 };
        parallel_run(workers[w], PARTS, count_part, times);
        for (size_t i = 0; i < PARTS; i++)
            assert_int_equal(times[i], 1);
    }
    parallel_run(2, 0, count_part, NULL); /* nothing to do */
}

/* Ten items are worth three threads of three, of which the last takes four: 0 1 2 | 3 4 5 | 6 7 8 9. */
TEST(parts_share_out_all_items)
{
    size_t worth = parallel_worth;
    parallel_worth = 3;
    assert_int_equal(parallel_parts(64, 10), 3);
    assert_int_equal(parallel_parts(2, 10), 2);
    assert_int_equal(parallel_parts(64, 2), 1);
    assert_int_equal(parallel_parts(0, 10), 1);
    assert_int_equal(parallel_parts(1, 10), 1);
    assert_int_equal(parallel_first(10, 3, 0), 0);
    assert_int_equal(parallel_first(10, 3, 1), 3);
    assert_int_equal(parallel_first(10, 3, 2), 6);
    assert_int_equal(parallel_first(10, 3, 3), 10);
    parallel_worth = worth;
}

TEST(a_requested_number_of_workers_is_used)
{
    assert_int_equal(parallel_workers(5), 5);
    assert_true(parallel_workers(0) >= 1);
}
