/*
 * test_doubt.c - records that the rest of a file contradicts: impossible times, late ends, lost work, numbers that link.
 * Times are in us, which us() makes ns.
 */

#include "derive/host_waits.h"
#include "derive/unlinked_work.h"
#include "tests/unit/drawn.h"
#include "trace/lost_work.h"

#define us(n) (INT64_C(1000) * (n))
#define SECOND us(1000000)
#define WANTS (HOST_WAITS_WANTS)

static const struct trace_wants *drawn_wants = &(const struct trace_wants){ .args = WANTS };

static void add_call(const char *name, int64_t number, int64_t start_ns, int64_t dur_ns)
{
    draw_host("cuda_runtime", name, 1, start_ns, dur_ns);
    if (number)
        draw_arg(ARG_CORRELATION, number);
}

static void add_kernel(const char *name, int64_t number, int64_t start_ns, int64_t dur_ns)
{
    draw_event("kernel", name, 0, 7, start_ns, dur_ns);
    if (number >= 0)
        draw_arg(ARG_CORRELATION, number);
}

/* A day after the origin the host works for 1 ms. Of four kernels one has time 0, one is two minutes late. */
TEST(work_far_from_the_recording_is_left_out)
{
    int64_t day_ns = 86400 * SECOND;
    add_call("cudaLaunchKernel", 1, day_ns, us(5));
    add_call("cudaLaunchKernel", 2, day_ns + us(995), us(5));
    add_kernel("untimed", 3, 0, 0);
    add_kernel("good", 1, day_ns + us(10), us(20));
    add_kernel("late", 4, day_ns + 120 * SECOND, us(20));
    add_kernel("queued", 2, day_ns + 30 * SECOND, us(20));
    assert_int_equal(drawn()->event_count, 4);
    assert_int_equal(event_called(drawn(), "untimed"), EVENT_NONE);
    assert_int_equal(event_called(drawn(), "late"), EVENT_NONE);
    assert_int_equal(trace_start_ns(drawn(), event_called(drawn(), "good")), day_ns + us(10));
    assert_int_equal(find_notice(drawn(), "untimed_work")->count, 2);
    assert_true(drawn()->files[0].lacks & LACKS_RECORDS);
    assert_true(trace_left_out_much(drawn()));
}

/* One call and one copy, hours apart: neither tells that the other is wrong. */
TEST(work_far_from_a_few_records_stays)
{
    add_call("hipMalloc", 2, 86400 * SECOND, us(5));
    add_kernel("far", 7, 3600 * SECOND, us(20));
    assert_int_equal(drawn()->event_count, 2);
}

/* Time 0 is a time like others where others are near. */
TEST(time_zero_is_a_time_near_others)
{
    add_call("cudaLaunchKernel", 1, 0, us(5));
    add_kernel("first", 1, 0, us(20));
    assert_int_equal(drawn()->event_count, 2);
    assert_int_equal(drawn()->notice_count, 0);
}

/*
 *     0      100    200    300    400       us, one stream
 *     [ a 60 ][ b 60 [ a: 10 s ..............
 *                            [ b 60  [ b 60
 * The third cannot run over the two behind it: it ends where the fourth begins (100 us later) or as the longest other "a" (60).
 * "once", which has no other run, ends where the next begins.
 */
TEST(ends_behind_followers_are_bounded)
{
    add_kernel("a", 1, 0, us(60));
    add_kernel("b", 2, us(100), us(60));
    add_kernel("a", 3, us(200), 10 * SECOND);
    add_kernel("b", 4, us(300), us(60));
    add_kernel("b", 5, us(400), us(60));
    add_kernel("once", 6, us(500), 10 * SECOND);
    add_kernel("b", 7, us(600), us(60));
    assert_int_equal(trace_dur_ns(drawn(), 2), us(60));
    assert_int_equal(trace_dur_ns(drawn(), 5), us(100));
    assert_int_equal(trace_dur_ns(drawn(), 6), us(60));
    assert_int_equal(find_notice(drawn(), "late_end")->count, 2);
}

/*
 *     0      100    200    300    400       us, one stream of each of two files
 *     [ a 30 ][ b    [ a: 10 s .........     a fast rank
 *     [ a 90 ][ b    [ a: 10 s .........     a slow one
 * The late "a" is taken to last as long as the other of its own file: the ranks differ in speed. The late "c" of the first file has no
 * other run there: it lasts as that of the second, 20.
 */
TEST(ends_are_bounded_by_the_runs_of_their_file)
{
    for (int file = 0; file < 2; file++) {
        if (file == 1)
            draw_rank(1);
        add_kernel("a", 1, 0, us(file ? 90 : 30));
        add_kernel("b", 2, us(100), us(60));
        add_kernel("a", 3, us(200), 10 * SECOND);
        add_kernel("b", 4, us(300), us(60));
        add_kernel("b", 5, us(400), us(60));
        add_kernel("c", 6, us(500), file ? us(20) : 10 * SECOND);
        add_kernel("b", 7, us(600), us(60));
        add_kernel("b", 8, us(700), us(60));
    }
    assert_int_equal(trace_dur_ns(drawn(), 2), us(30));
    assert_int_equal(trace_dur_ns(drawn(), 5), us(20));
    assert_int_equal(trace_dur_ns(drawn(), 10), us(90));
}

/* Nodes of one graph run side by side, a dependent launch begins 20 us early, and a stream that always overlaps is none. */
TEST(work_that_may_overlap_is_believed)
{
    add_kernel("node", 1, 0, us(1000));
    add_kernel("node", 1, us(100), us(200));
    add_kernel("next", 2, us(1000), us(100));
    add_kernel("dependent", 3, us(1080), us(10));
    assert_int_equal(trace_dur_ns(drawn(), 0), us(1000));
    assert_int_equal(trace_dur_ns(drawn(), 2), us(100));
    assert_null(find_notice(drawn(), "late_end"));
    for (int i = 0; i < 10; i++)
        add_kernel("side by side", 10 + i, us(1000 * i), us(1500 + 900 * (i % 2)));
    assert_null(find_notice(drawn(), "late_end"));
}

/* Of three graphs the work of two is missing, though the host waited for it; the last launch may still have been queued. */
TEST(launches_without_work_are_lost)
{
    for (int i = 0; i < 3; i++) {
        add_call("cudaGraphLaunch", 1 + i, us(100 * i), us(10));
        add_call("cudaStreamSynchronize", 0, us(100 * i + 20), us(70));
    }
    add_call("cudaGraphLaunch", 9, us(400), us(10));
    add_kernel("node", 1, us(30), us(10));
    add_kernel("node", 1, us(40), us(10));
    const struct trace_lost *lost = &drawn()->files[0].lost;
    assert_int_equal(lost->graphs, 3);
    assert_int_equal(lost->lost_graphs, 2);
    assert_int_equal(lost->launches, 0);
    assert_true(trace_lost_much(drawn()));
    SCRATCH_BUFFER(text);
    trace_describe_lost(drawn(), &text);
    buffer_putc(&text, '\0');
    assert_string_equal(
        text.at,
        "2 of 3 graph replays have no work in the file: the profiler lost it, or its buffers were full");
    const struct host_waits *waits = host_waits_of(drawn());
    assert_int_equal(waits->count, 3);
    assert_int_equal(waits->at[0].kind, WAIT_FOR_KERNEL);
    assert_int_equal(waits->at[1].kind, WAIT_FOR_UNKNOWN); /* not: for nothing */
}

/* Nodes are made, not run, while a graph is captured; work without a number may be that of a launch. */
TEST(captures_and_unnumbered_work_are_not_lost)
{
    add_call("cudaStreamBeginCapture", 1, us(0), us(5));
    add_call("cudaLaunchKernel", 2, us(10), us(5));
    add_call("cudaStreamEndCapture", 3, us(20), us(5));
    add_call("cudaLaunchKernel", 4, us(30), us(5));
    add_call("cudaLaunchHostFunc", 5, us(40), us(5));
    add_call("cudaDeviceSynchronize", 6, us(50), us(50));
    add_kernel("ncclDevKernel", 0, us(60), us(10)); /* 0: no number */
    assert_int_equal(drawn()->files[0].lost.launches, 1);
    assert_int_equal(drawn()->files[0].lost.lost_launches, 0);
    assert_false(trace_lost_much(drawn()));
    event_id kernel = event_called(drawn(), "ncclDevKernel");
    assert_int_equal(attribution_call(attribution_of(drawn()), kernel), EVENT_NONE);
    assert_int_equal(unlinked_sort_of(unlinked_work_of(drawn()), kernel), UNLINKED_NO_NUMBER);
}

/* Pages of unified memory, which no call launches, are no lack: neither of calls, nor in place of work of a launch that was lost. */
TEST(pages_of_unified_memory_lack_no_call)
{
    add_call("cudaLaunchKernel", 1, us(0), us(5));
    add_call("cudaLaunchKernel", 2, us(10), us(5));
    add_call("cudaDeviceSynchronize", 3, us(20), us(80));
    add_kernel("add", 1, us(30), us(50));
    for (int i = 0; i < 4; i++)
        draw_event("gpu_memcpy", "Memcpy HtoD (Unified memory)", 0, 9, us(31 + i), us(1));
    const struct trace_lost *lost = &drawn()->files[0].lost;
    assert_int_equal(lost->work, 1);
    assert_int_equal(lost->callless, 0);
    assert_int_equal(lost->launches, 2);
    assert_int_equal(lost->lost_launches, 1);
    assert_false(trace_misses_calls(drawn()));
}

/* Without correlations the External id that a call shares with its work links them, and the operator is the one around it. */
TEST(ids_link_where_correlations_are_missing)
{
    draw_host("cpu_op", "aten::mm", 1, us(0), us(50));
    draw_arg(ARG_EXTERNAL_ID, 3);
    draw_host("cuda_runtime", "hipLaunchKernel", 1, us(10), us(5));
    draw_arg(ARG_EXTERNAL_ID, 1000);
    draw_host("cuda_runtime", "hipLaunchKernel", 1, us(60), us(5));
    draw_arg(ARG_EXTERNAL_ID, 1001);
    draw_event("kernel", "gemm", 0, 7, us(20), us(30));
    draw_arg(ARG_EXTERNAL_ID, 1000);
    const struct attribution *launches = attribution_of(drawn());
    assert_int_equal(attribution_call(launches, 3), 1);
    assert_int_equal(attribution_operator(launches, 3), 0);
}

/* A stream keeps order: only what runs before all work whose call is in the file was launched before recording began. */
TEST(work_behind_recorded_launches_was_not_early)
{
    add_call("cudaLaunchKernel", 2, us(15), us(5));
    add_kernel("early", 1, us(10), us(5));
    add_kernel("known", 2, us(20), us(5));
    add_kernel("orphan", 3, us(30), us(5));
    const struct unlinked_work *unlinked = unlinked_work_of(drawn());
    assert_int_equal(unlinked_sort_of(unlinked, event_called(drawn(), "early")), UNLINKED_EARLY);
    assert_int_equal(unlinked_sort_of(unlinked, event_called(drawn(), "orphan")), UNLINKED_LOST);
}

/* Launch a graph of COUNT nodes at START_NS, 10 us each, 1 us apart; those whose bit of LOST is set are not recorded. */
static void replay_graph(int64_t number, int64_t start_ns, int count, unsigned lost)
{
    static const char *const names[] = { "norm", "gemm", "relu", "softmax", "copy", "add" };
    add_call("cudaGraphLaunch", number, start_ns, us(5));
    for (int i = 0; i < count; i++)
        if (!(lost >> i & 1))
            add_kernel(names[i], number, start_ns + us(20 + 11 * i), us(10));
}

static uint64_t partial_graphs(void)
{
    add_call("cudaDeviceSynchronize", 0, us(5000), us(100));
    uint64_t count = drawn()->files[0].lost.partial_graphs;
    assert_int_equal(trace_lost_much(drawn()), count > 0);
    return count;
}

/*
 * norm gemm relu softmax
 * norm      relu softmax     the hole of 12 us between norm and relu is that of a gemm
 * norm           softmax     of two nodes
 */
TEST(replays_with_holes_lack_work)
{
    for (int i = 0; i < 4; i++)
        replay_graph(1 + i, us(100 * i), 4, 0);
    replay_graph(5, us(500), 4, 1 << 1);
    replay_graph(6, us(600), 4, 1 << 1 | 1 << 2);
    assert_int_equal(partial_graphs(), 2);
}

/* Graphs of one, two ... six nodes; and one whose norm is next to its relu, and waited once. */
TEST(other_graphs_lack_nothing)
{
    for (int i = 1; i <= 6; i++)
        replay_graph(i, us(100 * i), i, 0);
    for (int i = 0; i < 3; i++) {
        add_call("cudaGraphLaunch", 10 + i, us(1000 + 100 * i), us(5));
        add_kernel("norm", 10 + i, us(1020 + 100 * i), us(10));
        add_kernel("relu", 10 + i, us(1031 + 100 * i + (i == 2 ? 11 : 0)), us(10));
    }
    assert_int_equal(partial_graphs(), 0);
}

/* Of three replays of nine kernels of one name, one lost two, and took as long as the others. */
TEST(replays_of_one_kernel_lack_work)
{
    for (int k = 0; k < 3; k++) {
        add_call("cudaGraphLaunch", 1 + k, us(200 * k), us(5));
        for (int i = 0; i < 9; i++)
            if (k < 2 || (i != 2 && i != 5))
                add_kernel("norm", 1 + k, us(200 * k + 20 + 11 * i), us(10));
    }
    assert_int_equal(partial_graphs(), 1);
}

/* Nodes 1 to 3 of graph 7, of which each replay lost one; graph 8 has other nodes. */
TEST(replays_lack_nodes_that_others_have)
{
    for (int k = 0; k < 4; k++) {
        add_call("cudaGraphLaunch", 1 + k, us(100 * k), us(5));
        for (int i = 1; i <= 3; i++) {
            if (k < 3 && i == 1 + k)
                continue;
            add_kernel("gemm", 1 + k, us(100 * k + 20 + 11 * i), us(10));
            draw_arg(ARG_GRAPH_ID, k < 3 ? 7 : 8);
            draw_arg(ARG_GRAPH_NODE_ID, i);
        }
    }
    /* All have equally many, which is told by no count: one more that is whole. */
    add_call("cudaGraphLaunch", 9, us(900), us(5));
    for (int i = 1; i <= 3; i++) {
        add_kernel("gemm", 9, us(920 + 11 * i), us(10));
        draw_arg(ARG_GRAPH_ID, 7);
        draw_arg(ARG_GRAPH_NODE_ID, i);
    }
    assert_int_equal(partial_graphs(), 3);
}

/* The same kernel three times, once of another call, and a short one of another call. */
TEST(doubles_count_once)
{
    add_kernel("a", 1, us(10), us(20));
    add_kernel("b", 2, us(40), us(20));
    add_kernel("a", 1, us(10), us(20));
    add_kernel("a", 1, us(10), us(20));
    add_kernel("a", 3, us(10), us(20));
    assert_int_equal(drawn()->event_count, 3);
    assert_int_equal(find_notice(drawn(), "doubled_work")->count, 2);
}

/* Shorter than 1 us, with a part of a microsecond, and with a longer one between both. Of whole microseconds both count. */
TEST(short_doubles_count_once)
{
    add_kernel("short", 1, us(10), 500);
    add_kernel("longer", 1, us(10), 700);
    add_kernel("short", 1, us(10), 500);
    add_kernel("whole", 2, us(20), us(1));
    add_kernel("whole", 2, us(20), us(1));
    assert_int_equal(drawn()->event_count, 4);
    assert_int_equal(find_notice(drawn(), "doubled_work")->count, 1);
}

/* Ten kernels on a stream, a call for each: the second and third lack theirs, or all have one number. */
TEST(launches_that_are_gone_or_have_one_number_are_said)
{
    for (int one_number = 0; one_number < 2; one_number++) {
        for (int i = 0; i < 10; i++) {
            int64_t number = one_number ? 7 : i + 1;
            if (i == 0 || i > 2 || one_number)
                add_call("cudaLaunchKernel", number, us(100 * i), us(5));
            add_kernel("a", number, us(100 * i + 10), us(20));
        }
        const struct trace_notice *gone = find_notice(drawn(), "dropped_unknown"),
                                  *odd = find_notice(drawn(), "odd_values");
        assert_int_equal(gone ? gone->count : 0, one_number ? 0 : 2);
        assert_int_equal(odd ? odd->count : 0, one_number ? 10 : 0);
    }
}

/*
 *     [ 1      ][ 2     ]|3|     [ 5  ]     step 3 has no length; 4 has no mark, but a call
 *                          wait(4)
 */
TEST(marks_tell_nothing_of_work)
{
    add_call("cudaLaunchKernel", 1, us(2), us(5));
    add_kernel("a", 1, us(10), us(20));
    draw_step(1, 0, us(100));
    draw_step(2, us(100), us(100));
    draw_step(3, us(200), 0);
    add_call("cudaDeviceSynchronize", 2, us(220), us(5));
    draw_step(5, us(300), us(100));
    assert_int_equal(find_notice(drawn(), "missing_steps")->count, 1);
    assert_null(find_notice(drawn(), "late_end")); /* step 2 ends where step 3 begins */
    const struct host_waits *waits = host_waits_of(drawn());
    assert_int_equal(waits->count, 1);
    assert_int_equal(waits->at[0].kind, WAIT_FOR_NOTHING); /* the work is all there */
}

/* Calls that begin minutes after their work, or before it and all other records; not those of work that waited for minutes. */
TEST(calls_far_from_their_work_are_left_out)
{
    draw_host("cpu_op", "aten::mm", 1, 1000 * SECOND, us(50));
    add_call("after", 1, 1200 * SECOND, us(5));
    add_call("before", 2, 800 * SECOND, us(5));
    add_call("near", 3, 1000 * SECOND, us(5));
    add_call("without_work", 4, 800 * SECOND, us(5));
    for (int i = 0; i < 3; i++)
        add_kernel("kernel", 1 + i, 1000 * SECOND + us(20 + 20 * i), us(10));
    assert_int_equal(drawn()->event_count, 6);
    assert_int_equal(event_called(drawn(), "after"), EVENT_NONE);
    assert_int_equal(event_called(drawn(), "before"), EVENT_NONE);
    assert_int_equal(find_notice(drawn(), "untimed")->count, 2);
}

/* One copy at time 0 ends 1 ms before its call, and the other work begins after its calls. */
TEST(work_at_zero_before_its_call_is_left_out)
{
    for (int i = 1; i <= 3; i++)
        add_call("cudaLaunchKernel", i, us(1000 * i), us(5));
    add_kernel("zero", 1, 0, us(20));
    add_kernel("good", 2, us(2010), us(20));
    add_kernel("good", 3, us(3010), us(1000));
    assert_int_equal(event_called(drawn(), "zero"), EVENT_NONE);
    assert_int_equal(find_notice(drawn(), "untimed_work")->count, 1);
    assert_true(trace_left_out_much(drawn())); /* one of three */
}

/* The last kernel of a stream, launched before the host waited for the device, ends 10 s after that; the other behind the recording. */
TEST(ends_behind_the_recording_are_bounded)
{
    draw_host("Trace", "PyTorch Profiler (0)", 9, 0, us(1500));
    add_call("cudaLaunchKernel", 1, us(10), us(5));
    add_call("cudaDeviceSynchronize", 0, us(100), us(900));
    add_call("cudaLaunchKernel", 2, us(1100), us(5));
    add_kernel("waited_for", 1, us(200), 10 * SECOND);
    draw_event("kernel", "last", 0, 8, us(1200), 10 * SECOND);
    draw_arg(ARG_CORRELATION, 2);
    assert_int_equal(trace_dur_ns(drawn(), event_called(drawn(), "waited_for")), us(800));
    assert_int_equal(trace_dur_ns(drawn(), event_called(drawn(), "last")), us(300));
    assert_int_equal(find_notice(drawn(), "late_end")->count, 2);
    assert_non_null(find_notice(drawn(), "unknown_time"));
    assert_true(trace_knows_no_durations(drawn()));
}

/* What the host may have copied itself is told, and is never much. */
TEST(copies_of_hip_may_be_of_the_host)
{
    add_call("hipMemcpyWithStream", 1, us(0), us(20));
    add_call("hipMemcpyWithStream", 2, us(100), us(20));
    draw_event("gpu_memcpy", "Memcpy HtoD", 0, 7, us(10), us(5));
    draw_arg(ARG_CORRELATION, 1);
    assert_string_equal(
        find_notice(drawn(), "lost_few")->text,
        "1 of 2 copies of HIP has no work in the file: made by the host, or lost by the profiler");
    assert_false(trace_lost_much(drawn()));
    assert_int_equal(drawn()->files[0].lost.lost_copies, 0);
}
