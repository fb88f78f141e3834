/* test_account.c - derive/step_pattern.h and analyze/account.h against series and drawings whose figures are worked out by hand. */

#include "analyze/account.h"
#include "derive/step_pattern.h"
#include "tests/unit/drawn.h"

static const struct trace_wants *drawn_wants = &gaps_wants;

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- patterns ---- */

TEST(steps_that_are_alike_have_no_pattern)
{
    int64_t alike[] = { 100, 101, 100, 99, 100, 101, 100, 100 };
    assert_int_equal(step_pattern_period(alike, COUNT(alike)), 1);
    assert_int_equal(step_pattern_period(alike, 0), 1);
}

TEST(a_period_is_found_that_was_recorded_twice)
{
    int64_t third[] = { 10, 11, 40, 10, 10, 41, 11, 10, 40 };
    int64_t kinds[] = { 10, 20, 11, 20, 10, 21, 10 };
    int64_t six[] = { 10, 16, 12, 23, 11, 18, 10, 16, 12, 23, 11, 18 };
    assert_int_equal(step_pattern_period(third, COUNT(third)), 3);
    assert_int_equal(step_pattern_period(kinds, COUNT(kinds)), 2);
    assert_int_equal(step_pattern_period(six, COUNT(six)), 6);
}

/* 40 at places 1 and 6 of 8: every 5th, as one before place 1 or behind place 6 would lie outside. */
TEST(unusual_steps_that_are_as_far_apart_are_a_pattern)
{
    int64_t fifth[] = { 10, 40, 10, 11, 10, 10, 41, 10 };
    int64_t uneven[] = { 10, 40, 10, 40, 11, 10, 10, 10, 40, 10 }; /* 2 and 5 apart */
    int64_t ended[] = { 10, 40, 10, 40, 10, 10, 10, 10 };          /* it would have come again */
    assert_int_equal(step_pattern_period(fifth, COUNT(fifth)), 5);
    assert_int_equal(step_pattern_period(uneven, COUNT(uneven)), 1);
    assert_int_equal(step_pattern_period(ended, COUNT(ended)), 1);
}

TEST(counts_repeat_exactly_or_not_at_all)
{
    int64_t fifth[] = { 2, 2, 2, 3, 2, 2, 2, 2, 3, 2, 2, 2 };
    int64_t once[] = { 2, 2, 2, 3, 2, 2, 2 };
    int64_t alike[] = { 2, 2, 2, 2 };
    assert_int_equal(step_pattern_period_of_counts(fifth, COUNT(fifth)), 5);
    assert_int_equal(step_pattern_period_of_counts(once, COUNT(once)), 1);
    assert_int_equal(step_pattern_period_of_counts(alike, COUNT(alike)), 1);
}

/* A step that was lost may have been any, but has its place. */
TEST(a_lost_step_has_its_place_in_a_pattern)
{
    enum { LOST = -1 };
    int64_t usual[] = { 10, 11, 40, 10, LOST, 41, 11, 10, 40 };
    int64_t unusual[] = { 10, 11, 40, 10, 10, LOST, 11, 10, 40, 10, 11, 40 };
    int64_t two[] = { 10, 40, 10, LOST, 10, 10, 41, 10 };
    int64_t none[] = { 10, 40, 10, LOST, 40, 10, 40, 10, 10, 10, 40, 10 };
    int64_t counts[] = { 2, 3, 2, LOST, 2, 3, 2, 3 }, other[] = { 2, 2, 2, LOST, 2, 2, 3, 3 };
    int64_t *const series[] = { usual, unusual, two, none, counts, other };
    const size_t lengths[] = { COUNT(usual), COUNT(unusual), COUNT(two),
                               COUNT(none),  COUNT(counts),  COUNT(other) };
    for (size_t k = 0; k < COUNT(series); k++)
        for (size_t i = 0; i < lengths[k]; i++)
            if (series[k][i] == LOST)
                series[k][i] = STEP_PATTERN_LOST;
    assert_int_equal(step_pattern_median(usual, COUNT(usual)), 11);
    assert_int_equal(step_pattern_period(usual, COUNT(usual)), 3);
    assert_int_equal(step_pattern_period(unusual, COUNT(unusual)), 3);
    assert_int_equal(step_pattern_period(two, COUNT(two)), 5);
    assert_int_equal(step_pattern_period(none, COUNT(none)), 1);
    assert_int_equal(step_pattern_period_of_counts(counts, COUNT(counts)), 2);
    assert_int_equal(step_pattern_period_of_counts(other, COUNT(other)), 1);
}

/* ---- accounts ---- */

static void check_sum(const struct account_rank *of)
{
    int64_t sum_ns = 0, total_ns = 0;
    for (size_t part = 0; part < ACCOUNT_PARTS; part++) {
        sum_ns += account_part_ns(of, part);
        total_ns += of->part_ns[part];
    }
    assert_int_equal(sum_ns, of->step_ns);
    assert_int_equal(total_ns, of->total_ns * (int64_t)(of->device_count ? of->device_count : 1));
}

/*
 *      0 load 40  50                100 load 140
 *     [ step 0   launch            ][ step 1     launch            ][ step 2, cut
 *                  [ gemm to 100  ]               [ gemm to 200    ]
 *
 * The device idles for 40 of loading in each step, also before its first work of the recording; for 10 of the host behind that
 * before the first launch, 2 in the call, 3 queued.
 */
TEST(loading_before_the_first_work_is_loading)
{
    for (int i = 0; i < 3; i++) {
        int64_t at = 100 * i;
        draw_step(i, at, i < 2 ? 100 : 60);
        draw_host("user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 1, at,
                  40);
        draw_kernel("gemm", at + 50, 2, at + 55, 45, 10 * i + 1);
    }
    const struct account_rank *all = &account_of(drawn())->all;
    assert_int_equal(all->total_ns, 200);
    assert_int_equal(all->part_ns[ACCOUNT_IDLE + GAP_DATA_LOADING], 80);
    assert_int_equal(all->part_ns[ACCOUNT_COMPUTING], 90);
    check_sum(all);
}

/*
 * Every third of twelve steps takes 400, others 100; step LOST is not in the file, if any. Of the four periods the three that are whole
 * count: 600 for three steps. As a usual step and an unusual one may be lost, the mean of the others would be 209 or 181.
 */
TEST(a_lost_step_takes_its_period_along)
{
    static const int lost[] = { -1, 7, 5 };
    for (size_t k = 0; k < COUNT(lost); k++) {
        int64_t at = 0;
        for (int i = 0; i < 12; i++) {
            int64_t dur_ns = i % 3 == 2 ? 400 : 100;
            if (i != lost[k]) {
                draw_step(i, at, dur_ns);
                draw_host("cpu_op", "aten::mm", 1, at + 10, dur_ns - 20);
            }
            at += dur_ns;
        }
        const struct account_rank *all = &account_of(drawn())->all;
        struct buffer text = { 0 };
        account_describe_pattern(all, &text);
        assert_int_equal(all->period, 3);
        assert_int_equal(all->count, k ? 9 : 12);
        assert_int_equal(all->step_ns, 200);
        assert_int_equal(all->total_ns, k ? 1800 : 2400);
        assert_int_equal(all->missing, k ? 1 : 0);
        assert_non_null(strstr(text.at, "every 3rd step takes longer: 400ns instead of 100ns"));
        if (k) {
            char says[128];
            snprintf(says, sizeof says, "step %d was not recorded, and the others of its period do not count",
                     lost[k]);
            assert_non_null(strstr(text.at, says));
        }
        check_sum(all);
        buffer_release(&text);
    }
}

/*
 * Three steps of 100, and a fourth that ends early; each launches at 10 and waits until 80:
 *
 *     0    10   20        60   80   90  100
 *     [ step                           )[ step ...
 *          l1             sync    )
 *     dev       [ gemm )[HtoD)                   20..50, 50..60
 *
 * Of the steps 0..300 (the last, of 60, is not as long as another): computing 3 * 30, copies 3 * 10. From the copy to the next begin 40
 * idle: the host waited until 80 (20, synchronisation), then did something else (20, after the last work). Then 20 to the next work: 10
 * before it was launched, 2 in the call, 8 queued. The first step begins before the first work: 20; after the last work of the third
 * lies the work of the fourth.
 */
TEST(steps_of_a_host_that_waits)
{
    for (int i = 0; i < 4; i++) {
        int64_t at = 100 * i;
        draw_step(i, at, i < 3 ? 100 : 60);
        draw_call("cudaLaunchKernel", 1, at + 10, 2, 10 * i + 1);
        draw_call("cudaMemcpyAsync", 1, at + 14, 2, 10 * i + 2);
        draw_work("kernel", "gemm", 0, 7, at + 20, 30, 10 * i + 1);
        draw_work("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", 0, 7, at + 50, 10, 10 * i + 2);
        if (i < 3)
            draw_call("cudaStreamSynchronize", 1, at + 30, 50, 10 * i + 3);
    }
    const struct account *account = account_of(drawn());
    const struct account_rank *all = &account->all;
    assert_int_equal(account->count, 1);
    assert_int_equal(all->count, 3);
    assert_int_equal(all->total_ns, 300);
    assert_int_equal(all->step_ns, 100);
    assert_int_equal(all->limit, LIMIT_HOST);
    assert_int_equal(all->period, 1);
    assert_int_equal(all->part_ns[ACCOUNT_COMPUTING], 90);
    assert_int_equal(all->part_ns[ACCOUNT_COPIES], 30);
    assert_int_equal(all->part_ns[ACCOUNT_IDLE + GAP_SYNCHRONIZATION], 60);
    assert_int_equal(all->part_ns[ACCOUNT_AFTER_WORK], 60);
    assert_int_equal(all->part_ns[ACCOUNT_BEFORE_WORK], 20 + 10 + 10);
    assert_int_equal(all->part_ns[ACCOUNT_IDLE + GAP_LAUNCH_CALL], 4);
    assert_int_equal(all->part_ns[ACCOUNT_IDLE + GAP_LAUNCH_LATENCY], 16);
    check_sum(all);
    assert_int_equal(account->steps.at[3].role, STEP_CUT);
}

/*
 * The host takes 10 for a step, its device 30: work of step i ends at 40 + 30 i. From the end of the work of the first step, 4 steps of 30.
 */
TEST(devices_that_fall_behind_are_how_fast_the_job_is)
{
    for (int i = 0; i < 5; i++) {
        draw_step(i, 10 * i, 10);
        draw_kernel("gemm", 10 * i + 2, 2, 12 + 30 * i, 28, i + 1);
    }
    const struct account_rank *all = &account_of(drawn())->all;
    assert_int_equal(all->limit, LIMIT_DEVICES);
    assert_int_equal(all->count, 4);
    assert_int_equal(all->step_ns, 30);
    assert_int_equal(all->host_step_ns, 10);
    assert_int_equal(all->part_ns[ACCOUNT_COMPUTING], 4 * 28);
    check_sum(all);
}

/*
 * Work of 20 and of 40 by turns, without a pause. The host takes 10 for a step, but 25 for step 5, as if a queue was full: devices are how fast
 * the job is, and step 5 is like all others there. Without it six steps of 27 would count.
 */
TEST(a_long_step_of_the_host_counts_where_devices_fall_behind)
{
    int64_t at = 0, free = 12;
    for (int i = 0; i < 9; i++) {
        int64_t length = i == 5 ? 25 : 10, work = i % 2 ? 40 : 20;
        draw_step(i, at, length);
        draw_kernel("gemm", at + 2, 2, free, work, i + 1);
        at += length;
        free += work;
    }
    const struct account_rank *all = &account_of(drawn())->all;
    assert_int_equal(all->limit, LIMIT_DEVICES);
    assert_int_equal(all->singular, INT64_MIN);
    assert_int_equal(all->count, 8);
    assert_int_equal(all->period, 2);
    assert_int_equal(all->step_ns, 30);
    check_sum(all);
}

/*
 * Work of 8 in steps of 10. In step 3 the host pauses for 20 behind its launch: its step is singular, and so is the device step behind it, which
 * holds the pause. The mean of device steps is no slower than the host's.
 */
TEST(a_pause_of_the_host_is_singular_on_devices_too)
{
    int64_t at = 0;
    for (int i = 0; i < 8; i++) {
        draw_step(i, at, i == 3 ? 30 : 10);
        draw_kernel("gemm", at + 1, 1, at + 3, 8, i + 1);
        at += i == 3 ? 30 : 10;
    }
    const struct account_rank *all = &account_of(drawn())->all;
    assert_int_equal(all->limit, LIMIT_HOST);
    assert_int_equal(all->singular, 3);
    assert_int_equal(all->singular_ns, 30);
    assert_int_equal(all->count, 7);
    assert_int_equal(all->step_ns, 10);
    check_sum(all);
}

/*
 * One step of 100: up to 40 it waits for work that was launched before, then it launches what runs from 45 to 125 (the step: from 40) or
 * to 85 (the step: the host's, from 40 to 100).
 */
TEST(the_only_step_leaves_out_what_was_launched_before)
{
    for (int devices = 0; devices < 2; devices++) {
        draw_step(7, 0, 100);
        draw_call("cudaDeviceSynchronize", 1, 2, 38, 1);
        draw_work("kernel", "gemm", 0, 7, 1, 39, 99);
        draw_kernel("gemm", 42, 2, 45, devices ? 80 : 40, 2);
        const struct account_rank *all = &account_of(drawn())->all;
        assert_int_equal(all->count, 1);
        assert_int_equal(all->limit, devices ? LIMIT_DEVICES : LIMIT_HOST);
        assert_int_equal(all->step_ns, devices ? 125 - 40 : 100 - 38);
        assert_int_equal(all->part_ns[ACCOUNT_COMPUTING], devices ? 80 : 40 + 2);
        check_sum(all);
    }
}

/* Steps of 100, whose kernels of 60 begin as they end: the last at 300, so that the parts are those of the time up to 360. */
TEST(the_parts_of_a_few_steps_hold_their_work)
{
    for (int i = 0; i < 3; i++) {
        draw_step(i, 100 * i, i < 2 ? 100 : 98);
        draw_kernel("gemm", 100 * i + 95, 2, 100 * (i + 1), 60, i + 1);
    }
    const struct account_rank *all = &account_of(drawn())->all;
    assert_int_equal(all->limit, LIMIT_HOST);
    assert_int_equal(all->step_ns, 99);
    assert_int_equal(all->count, 3);
    assert_int_equal(all->part_ns[ACCOUNT_COMPUTING], 3 * 60);
    check_sum(all);
}

/* The same where the calls of half the work are not in the file: which work of a step is its last is not known. */
TEST(steps_whose_work_is_not_known_are_those_of_the_host)
{
    for (int i = 0; i < 5; i++) {
        draw_step(i, 10 * i, 10);
        draw_kernel("gemm", 10 * i + 2, 2, 12 + 30 * i, 14, i + 1);
        draw_work("kernel", "gemm", 0, 7, 26 + 30 * i, 14, 100 + i);
    }
    assert_int_equal(drawn()->files[0].lost.callless, 5);
    assert_int_equal(account_of(drawn())->all.limit, LIMIT_HOST);
    assert_int_equal(account_of(drawn())->all.step_ns, 10);
}

/* Steps of 100, every third of 400 as it runs eval: 8 and the last, not as long as any. The last two whole periods: 2 * 600 / 6. */
TEST(steps_that_differ_by_plan_count_in_whole_periods)
{
    int64_t at = 0;
    for (int i = 0; i < 9; i++) {
        int64_t length = i == 8 ? 50 : i % 3 == 1 ? 400 : 100;
        draw_step(i, at, length);
        draw_host("cpu_op", "aten::mm", 1, at + 10, 30);
        if (i % 3 == 1)
            draw_host("user_annotation", "eval", 1, at + 50, 300);
        at += length;
    }
    const struct account *account = account_of(drawn());
    const struct account_rank *all = &account->all;
    assert_int_equal(all->period, 3);
    assert_int_equal(all->count, 6);
    assert_int_equal(all->step_ns, 200);
    assert_int_equal(all->median_ns, 100);
    assert_int_equal(all->every, 3);
    assert_int_equal(all->unusual_ns, 400);
    assert_string_equal(all->reason.at, "runs eval");
    assert_int_equal(account->steps.at[1].role, STEP_OF_PART_PERIOD);
    assert_int_equal(all->device_count, 0);
    assert_int_equal(all->part_ns[ACCOUNT_HOST_OPERATORS], 6 * 30 + 2 * 300);
    check_sum(all);
    SCRATCH_BUFFER(text);
    account_describe_pattern(all, &text);
    assert_string_equal(text.at, "every 3rd step runs eval: 400ns instead of 100ns");
}

/* Six steps of 100, and step NUMBER of 700: with a range called DOES in it it may count; with NULL it is singular. */
static struct trace *draw_one_long_step(int number, const char *does)
{
    int64_t at = 0;
    for (int i = 0; i < 7; i++) {
        int64_t length = i == number ? 700 : 100;
        draw_step(i, at, length);
        draw_host("cpu_op", "aten::mm", 1, at + 10, 30);
        if (i == number && does)
            draw_host("user_annotation", does, 1, at + 50, 600);
        at += length;
    }
    return drawn();
}

TEST(a_step_that_is_long_for_no_reason_is_left_out)
{
    struct trace *trace = draw_one_long_step(3, NULL);
    const struct account *account = account_of(trace);
    assert_int_equal(account->all.count, 6);
    assert_int_equal(account->all.step_ns, 100);
    assert_int_equal(account->all.singular, 3);
    assert_int_equal(account->all.singular_ns, 700);
    assert_int_equal(account->steps.at[3].role, STEP_SINGULAR);
    check_sum(&account->all);
}

/* Later steps do not compile what the first did; what compiles later may do so again. */
TEST(a_first_step_that_compiles_is_left_out)
{
    struct trace *trace = draw_one_long_step(0, "compile_fx_inner (dynamo_timed)");
    const struct account *account = account_of(trace);
    assert_int_equal(account->all.count, 6);
    assert_int_equal(account->all.step_ns, 100);
    assert_int_equal(account->all.singular_ns, 700);
    assert_int_equal(account->steps.at[0].role, STEP_FIRST);
    check_sum(&account->all);
    SCRATCH_BUFFER(text);
    account_describe_pattern(&account->all, &text);
    assert_string_equal(text.at,
                        "step 0 does not count: it took 700ns, as programs are compiled in it, once");
    trace = draw_one_long_step(3, "compile_fx_inner (dynamo_timed)");
    assert_int_equal(account_of(trace)->all.count, 7);
    assert_int_equal(account_of(trace)->all.once, 3);
}

/* Steps 0, 1, 2, 5, 6 and 9 of 100 each were recorded: no step is as long as the time to the next that was. Where numbers jump without
 * room for a step, they are names. */
TEST(steps_between_which_others_ran_end_with_their_own_range)
{
    static const int recorded[] = { 0, 1, 2, 5, 6, 9 };
    for (size_t i = 0; i < COUNT(recorded); i++)
        draw_step(recorded[i], 100 * recorded[i], 100);
    assert_int_equal(account_of(drawn())->all.count, 6);
    assert_int_equal(account_of(drawn())->all.step_ns, 100);
    for (int i = 0; i < 6; i++)
        draw_step(10 * i, 120 * i, 100);
    assert_int_equal(account_of(drawn())->all.step_ns, 120);
}

/* COUNT steps of 100, every third of 250; every fifth waits for the device, which takes no longer. */
static const struct account_rank *draw_two_plans(int count)
{
    int64_t at = 0;
    for (int i = 0; i < count; i++) {
        int64_t ns = i % 3 == 2 ? 250 : 100;
        draw_step(i, at, ns);
        if (i % 5 == 4)
            draw_call("cudaDeviceSynchronize", 1, at + 10, 5, i + 1);
        at += ns;
    }
    return &account_of(drawn())->all;
}

/* Both repeat after 15 steps; where fewer were recorded, after how many the times do. */
TEST(two_plans_repeat_when_both_do)
{
    static const struct {
        int steps;
        size_t period, count;
    } cases[] = { { 12, 3, 12 }, { 32, 15, 30 } };
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct account_rank *all = draw_two_plans(cases[i].steps);
        assert_int_equal(all->period, cases[i].period);
        assert_int_equal(all->count, cases[i].count);
        assert_int_equal(all->every, 3);
        assert_int_equal(all->step_ns, 150);
        assert_int_equal(all->unusual_ns, 250);
        assert_int_equal(all->usual_ns, 100);
    }
}

/* Every fifth of eleven steps waits; that one step takes longer for another reason hides it not. */
TEST(a_slow_step_hides_no_plan)
{
    struct buffer text = { 0 };
    for (int i = 0; i < 11; i++) {
        draw_step(i, 100 * i + (i > 6 ? 40 : 0), i == 6 ? 140 : 100);
        if (i % 5 == 4)
            draw_call("cudaDeviceSynchronize", 1, 100 * i + (i > 6 ? 40 : 0) + 10, 5, i + 1);
    }
    const struct account_rank *all = &account_of(drawn())->all;
    assert_int_equal(all->period, 5);
    assert_int_equal(all->every, 5);
    account_describe_pattern(all, &text);
    assert_string_equal(text.at, "every 5th step waits for the device: 100ns instead of 105ns");
    buffer_release(&text);
}

/* Twelve steps on the host, of which every fourth is long; the first three launch work that takes devices far longer: two steps. */
TEST(fewer_device_steps_than_a_period_have_none)
{
    for (int i = 0; i < 12; i++) {
        int64_t at = 100 * i + 80 * (i / 4);
        draw_step(i, at, i % 4 == 3 ? 180 : 100);
        if (i > 2)
            continue;
        draw_kernel("gemm", at + 10, 2, i < 2 ? 20 + 1000 * i : 4020, i == 0 ? 1000 : 3000, i + 1);
    }
    const struct account_rank *all = &account_of(drawn())->all;
    assert_int_equal(all->limit, LIMIT_DEVICES);
    assert_int_equal(all->period, 1);
}

TEST(a_step_that_may_be_of_a_plan_counts)
{
    struct trace *trace = draw_one_long_step(3, "eval");
    const struct account_rank *all = &account_of(trace)->all;
    assert_int_equal(all->count, 7);
    assert_int_equal(all->step_ns, 186); /* 1300 / 7 */
    assert_int_equal(all->once, 3);
    assert_int_equal(all->once_without_ns, 100);
    assert_int_equal(all->singular, INT64_MIN);
    check_sum(all);
}

/* Steps of 900, 30, 10 and 20 us (the last step's end is not known): the median is no guide, but one is far longer than all others. */
TEST(one_step_far_longer_than_uneven_ones_is_named)
{
    static const int64_t lengths_us[] = { 900, 30, 10, 20 };
    struct buffer text = { 0 };
    int64_t us = 0;
    for (int n = 0; n < 4; n++) {
        draw_step(n, 1000 * us, 1000 * lengths_us[n]);
        draw_host("cpu_op", "aten::mm", 1, 1000 * us, 1000 * lengths_us[n] - 1000);
        us += lengths_us[n];
    }
    const struct account_rank *all = &account_of(drawn())->all;
    assert_int_equal(all->once, 0);
    assert_int_equal(all->once_without_ns, 20000);
    account_describe_pattern(all, &text);
    assert_string_equal(text.at,
                        "step 0 takes longer, perhaps to warm up (a longer recording tells): 900.000us "
                        "instead of 20.000us");
    buffer_release(&text);
}

/* Two steps of the host alone, 900 and 30 us: neither is known to be usual, so both count, and both times are said. Where work was launched,
 * or the second takes longer, it may wait at the end: then it is the first alone. */
TEST(of_two_steps_the_first_may_warm_up)
{
    static const struct {
        int64_t us[2];
        bool launches;
        size_t count;
    } cases[] = { { { 900, 30 }, false, 2 }, { { 900, 30 }, true, 1 }, { { 30, 900 }, false, 1 } };
    for (size_t i = 0; i < COUNT(cases); i++) {
        for (int n = 0; n < 2; n++) {
            int64_t ns = n ? 1000 * cases[i].us[0] : 0;
            draw_step(n, ns, 1000 * cases[i].us[n]);
            draw_host("cpu_op", "aten::mm", 1, ns, 10000);
            if (!cases[i].launches)
                continue;
            draw_kernel("gemm", ns + 11000, 1000, ns + 12000, 1000, n + 1);
        }
        const struct account_rank *all = &account_of(drawn())->all;
        assert_int_equal(all->count, cases[i].count);
        assert_int_equal(all->step_ns, cases[i].count == 2 ? 465000 : 1000 * cases[i].us[0]);
        check_sum(all);
        SCRATCH_BUFFER(text);
        account_describe_pattern(all, &text);
        if (cases[i].count == 2)
            assert_string_equal(text.at, "step 0 takes longer, perhaps to warm up (a longer "
                                         "recording tells): 900.000us instead of 30.000us");
        else
            assert_int_equal(text.count, 0);
    }
}

TEST(a_recording_without_steps_is_one)
{
    draw_host("cpu_op", "aten::mm", 1, 100, 40);
    draw_host("cpu_op", "aten::add", 1, 150, 50);
    const struct account *account = account_of(drawn());
    assert_false(account->has_steps);
    assert_int_equal(account->all.step_ns, 100);
    assert_int_equal(account->all.part_ns[ACCOUNT_HOST_OPERATORS], 90);
    assert_int_equal(account->all.part_ns[ACCOUNT_HOST_OUTSIDE], 10);
    check_sum(&account->all);
}

/* Rank 1 takes 120 for a step, rank 0 100: the job takes 120. */
TEST(the_slowest_rank_is_how_fast_a_job_is)
{
    for (int rank = 0; rank < 2; rank++) {
        draw_rank(rank);
        for (int i = 0; i < 3; i++) {
            draw_step(i, (100 + 20 * rank) * i, 100 + 20 * rank);
            draw_host("cpu_op", "aten::mm", 1, (100 + 20 * rank) * i + 10, 30);
        }
    }
    const struct account *account = account_of(drawn());
    assert_int_equal(account->count, 2);
    assert_int_equal(account_rank_of(account, 0)->step_ns, 100);
    assert_int_equal(account->all.step_ns, 120);
    check_sum(account_rank_of(account, 1));
}
