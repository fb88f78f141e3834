/* test_slice.c - trace/slice.h: a part of a trace, and a trace on another clock; derive/rank_clocks.h. */
#include "tests/unit/drawn.h"

#include "derive/rank_clocks.h"
#include "trace/slice.h"

static const struct trace_wants *drawn_wants = &(const struct trace_wants){ .args = WANT(CORRELATION) };

/* Four events; the second and the last have a correlation, one of which needs 64 bits. */
static struct trace *four_events(void)
{
    draw_host("cpu_op", "aten::mm", 1, 10, 40);
    draw_host("cuda_runtime", "cudaLaunchKernel", 1, 20, 5);
    draw_arg(ARG_CORRELATION, INT64_C(1) << 40);
    draw_event("kernel", "gemm", 0, 7, 60, 20);
    draw_event("kernel", "add", 0, 7, 90, 10);
    draw_arg(ARG_CORRELATION, 6);
    return drawn();
}

TEST(what_is_kept_moves_to_the_front_with_its_arguments)
{
    struct trace *trace = four_events();
    const bool keep[] = { false, true, false, true };
    trace_keep(trace, &(struct trace_part){ .events = keep });
    assert_int_equal(trace->event_count, 2);
    assert_string_equal(trace_name(trace, 0), "cudaLaunchKernel");
    assert_string_equal(trace_name(trace, 1), "add");
    assert_true(trace_arg_or(trace, ARG_CORRELATION, 0, -1) == INT64_C(1) << 40);
    assert_int_equal(trace_arg_or(trace, ARG_CORRELATION, 1, -1), 6);
    assert_int_equal(trace->files[0].event_count, 2);
    assert_int_equal(trace->tracks[trace->track[1]].event_count, 1);
    assert_int_equal(trace->categories[trace->category[0]].event_count, 1);
}

TEST(a_file_goes_with_all_that_is_of_it)
{
    struct trace *trace = four_events();
    const bool none[] = { false };
    trace_keep(trace, &(struct trace_part){ .files = none });
    assert_int_equal(trace->file_count, 0);
    assert_int_equal(trace->event_count, 0);
    assert_int_equal(trace->track_count, 0);
}

static int64_t twice_as_fast(const void *context, int64_t moment_ns)
{
    return moment_ns / 2 + *(const int64_t *)context;
}

TEST(a_file_moves_with_both_ends_of_its_events)
{
    struct trace *trace = four_events();
    const int64_t by_ns = 1000;
    assert_true(trace_move(trace, 0, true, 77, twice_as_fast, &by_ns));
    assert_int_equal(trace_start_ns(trace, 1), 1010);
    assert_int_equal(trace_dur_ns(trace, 1), 2); /* 20..25 became 1010..1012 */
    assert_true(trace->files[0].has_base);
    assert_int_equal(trace->files[0].base_ns, 77);
    const int64_t too_far_ns = TRACE_LATEST_NS;
    assert_false(trace_move(trace, 0, true, 78, twice_as_fast, &too_far_ns));
    assert_int_equal(trace_start_ns(trace, 1), 1010);
}

TEST(arrows_of_a_category_are_replaced)
{
    struct trace *trace = four_events();
    const struct trace_flow flows[] = { { .id = 9, .phase = 's' }, { .id = 9, .phase = 'f' } };
    trace_replace_flows(trace, "collective", flows, 2);
    trace_replace_flows(trace, "other", flows, 2);
    trace_replace_flows(trace, "collective", flows, 1);
    assert_int_equal(trace->flow_count, 3);
    assert_string_equal(names_text(trace->texts, trace_flow(trace, 0).category), "other");
    assert_string_equal(names_text(trace->texts, trace_flow(trace, 2).name), "collective");
}

/* Members 0 and 1 meet COUNT times, 100 ms apart; then 1 and 2. The clock of 1 is 5000 ns ahead and gains 20 ppm, that of 2 is 900 behind
 * that of 1. */
TEST(clocks_go_by_a_chain_and_drift)
{
    enum { COUNT = 30 };
    struct clock_end ends[4 * COUNT];
    struct clock_meeting meetings[2 * COUNT];
    for (int64_t i = 0; i < COUNT; i++) {
        int64_t at_ns = i * 100000000, ahead_ns = 5000 + at_ns / 50000;
        ends[2 * i] = (struct clock_end){ 0, at_ns };
        ends[2 * i + 1] = (struct clock_end){ 1, at_ns + ahead_ns };
        meetings[i] = (struct clock_meeting){ (size_t)(2 * i), 2 };
        ends[2 * COUNT + 2 * i] = (struct clock_end){ 1, at_ns + ahead_ns };
        ends[2 * COUNT + 2 * i + 1] = (struct clock_end){ 2, at_ns + ahead_ns - 900 };
        meetings[COUNT + i] = (struct clock_meeting){ (size_t)(2 * COUNT + 2 * i), 2 };
    }
    const uint32_t hosts[] = { CLOCK_NO_HOST, CLOCK_NO_HOST, CLOCK_NO_HOST, CLOCK_NO_HOST };
    const bool meets[] = { true, true, true, false };
    struct clock_problem problem = { 4, hosts, meets, meetings, sizeof meetings / sizeof *meetings, ends };
    SCOPED struct rank_clock *clocks = rank_clocks_find(&problem);
    assert_int_equal(clocks[0].ahead_ns, 0);
    assert_in_range(clocks[1].drift, 19990000, 20000000); /* 10^-12, per ns of its own clock */
    assert_true(clocks[1].sure && clocks[2].sure);
    assert_int_equal(clocks[2].root, 0);
    for (int64_t i = 0; i < COUNT; i++) {
        assert_in_range(rank_clock_moment(&clocks[1], ends[2 * i + 1].end_ns) + 5 - ends[2 * i].end_ns, 0,
                        10);
        assert_in_range(rank_clock_moment(&clocks[2], ends[2 * COUNT + 2 * i + 1].end_ns) + 5 -
                            ends[2 * i].end_ns,
                        0, 10);
    }
    assert_true(clocks[3].ahead_ns == CLOCK_UNKNOWN);
    assert_int_equal(rank_clock_moment(&clocks[3], 123), 123);
}
