/* test_launch_times.c - analyze/launches.h: the phases of a launch, queues and graphs. */

#include "analyze/launches.h"
#include "analyze/registry.h"
#include "derive/launch_calls.h"
#include "tests/unit/drawn.h"

static const struct trace_wants *drawn_wants = &launches_wants;

static struct result *result;
static struct table *launches, *queues;

static void answer_by(unsigned by)
{
    const struct selection *selection = selection_all(drawn());
    result = scratch_result(result_open("tpa.launches/1"));
    ask_analysis(&analysis_launches, drawn(), selection, by, result);
    launches = table_called(result, "launches");
    queues = table_called(result, "queues");
}

static void answer(void)
{
    answer_by(LAUNCHES_BY_DEFAULT);
}

/*
 *               0    10   20   30   40   50
 *   host        [ l1 )[ l2 )[ l3 )             0..10, 12..22, 24..34
 *   stream 7            [k1)   [k2   )[k3 )    15..20, 30..45, 45..52
 *   stream 9    [old)                          0..5, launched before recording
 *
 * Queue times: 5, 8, 11: 24 of 3. Kernels: 5 (shorter than the 10 of its launch), 15, 7 (shorter). Totals: to 20, 33, 28.
 */
TEST(the_phases_of_a_launch)
{
    draw_call("cudaLaunchKernel", 1, 0, 10, 1);
    draw_call("cudaLaunchKernel", 1, 12, 10, 2);
    draw_call("cudaLaunchKernel", 1, 24, 10, 3);
    draw_work("kernel", "k", 0, 7, 15, 5, 1);
    draw_work("kernel", "k", 0, 7, 30, 15, 2);
    draw_work("kernel", "k", 0, 7, 45, 7, 3);
    draw_work("kernel", "old", 0, 9, 0, 5, 99);
    answer();
    assert_int_equal(launches->row_count, 1);
    assert_row(launches, 0,
               "call=cudaLaunchKernel, kernel=k, count=3, call_time=30, queued=3, "
               "queue_time=24, queue_average=8, kernel_time=27, kernel_average=9");
    assert_int_equal(int_called(launches, 0, "total_time"), 20 + 33 + 28);
    assert_int_equal(int_called(launches, 0, "launch_bound"), 2);
    assert_int_equal(launches->footers.at[2].value.i, 1); /* the old one */
}

/*
 * The queue of the same: from the start of each call to that of its kernel, 0..15, 12..30, 24..45.
 *
 *               0    10   20   30   40
 *               [ 1       )
 *                    [ 2       )
 *                          [ 3         )
 *   depth       1   2  1  2    1             12 * 1 + 3 * 2 + 9 * 1 + 6 * 2 + 15 * 1 = 54 over 45
 */
TEST(the_depth_of_a_queue)
{
    draw_call("cudaLaunchKernel", 1, 0, 10, 1);
    draw_call("cudaLaunchKernel", 1, 12, 10, 2);
    draw_call("cudaLaunchKernel", 1, 24, 10, 3);
    draw_work("kernel", "k", 0, 7, 15, 5, 1);
    draw_work("kernel", "k", 0, 7, 30, 15, 2);
    draw_work("kernel", "k", 0, 7, 45, 7, 3);
    answer();
    assert_int_equal(queues->row_count, 1);
    assert_int_equal(int_called(queues, 0, "max_depth"), 2);
    assert_float_equal(number_called(queues, 0, "mean_depth"), 54.0 / 45, 1e-12);
    assert_float_equal(number_called(queues, 0, "empty"), 0, 0);
}

/* Calls 0..10 and 50..60, kernels at 5 and 70: the queue is empty 5..50 of 0..70. */
TEST(an_empty_queue)
{
    draw_call("cudaLaunchKernel", 1, 0, 10, 1);
    draw_call("cudaLaunchKernel", 1, 50, 10, 2);
    draw_work("kernel", "a", 0, 0, 5, 5, 1);
    draw_work("kernel", "b", 0, 0, 70, 5, 2);
    draw_work("kernel", "c", 1, 0, 70, 5, DRAW_NO_CALL); /* stream 0 of another device */
    answer();
    assert_int_equal(queues->row_count, 1);
    assert_float_equal(number_called(queues, 0, "empty"), 45.0 / 70, 1e-12);
    /* a began within its call: it did not wait */
    for (size_t row = 0; row < launches->row_count; row++)
        assert_int_equal(int_called(launches, row, "queued"),
                         strcmp(text_called(launches, row, "kernel"), "b") == 0);
}

/* By the clocks' skew the kernel seems to begin before its call: no queue time, none below zero. */
TEST(a_kernel_before_its_call)
{
    draw_kernel("a", 20, 10, 15, 30, 1);
    answer();
    assert_row(launches, 0, "queue_time=0, total_time=25");
    assert_int_equal(int_called(queues, 0, "max_depth"), 0);
}

/* A graph of 502 kernels, launched at 0..20, each of 2 from 25 on; one launch whose kernel is not there. */
TEST(one_launch_of_502_kernels)
{
    draw_call("cudaGraphLaunch", 1, 0, 20, 1);
    draw_call("cuLaunchKernelEx", 1, 30, 6, 2);
    for (int64_t i = 0; i < 502; i++) {
        draw_work("kernel", i % 2 ? "odd" : "even", 0, 7, 25 + 3 * i, 2, 1);
        draw_arg(ARG_GRAPH_ID, 4);
    }
    answer();
    assert_int_equal(launches->row_count, 2);
    assert_row(launches, 0, "kernel=(graph), count=1, kernel_time=1004, queue_time=5");
    assert_row(launches, 1, "call=cuLaunchKernelEx, kernel=(no work in the file), call_time=6");
    struct table *graphs = table_called(result, "graphs");
    assert_row(graphs, 0, "graph=4, max_operations=502, work_average=1004");
    assert_int_equal(int_called(graphs, 0, "span_average"), 501 * 3 + 2);
}

/* A graph that sets memory, 1, and runs a kernel, 2: 3 of work for a call of 10. */
TEST(a_graph_with_a_kernel_can_be_launch_bound_whatever_comes_first)
{
    draw_call("cudaGraphLaunch", 1, 0, 10, 1);
    draw_work("gpu_memset", "Memset (Device)", 0, 7, 20, 1, 1);
    draw_work("kernel", "gemm", 0, 7, 21, 2, 1);
    answer();
    assert_int_equal(int_called(launches, 0, "launch_bound"), 1);
}

/* Copies are launched too, but a short copy is not launch-bound. */
TEST(copies_are_not_launch_bound)
{
    draw_call("cudaMemcpyAsync", 1, 0, 20, 1);
    draw_work("gpu_memcpy", "Memcpy DtoH (Device -> Pageable)", 0, 7, 5, 2, 1);
    answer();
    assert_row(launches, 0, "launch_bound=0, kernel_time=2");
}

/*
 * Two steps, two threads, two devices: in step 3 aten::mm of thread 1 launches a (call 4 ns) to device 0; in step 4
 * thread 2, in no operator, launches b (6 ns) to device 1, stream 8, and aten::mm c (8 ns) to device 0.
 */
TEST(rows_may_be_of_anything_a_launch_has)
{
    static const struct {
        unsigned by;
        size_t rows;
        const char *column;
        int64_t first, call_time; /* of the row with the most call time */
    } ways[] = {
        { BY(CALL), 1, "count", 3, 18 },    { BY(DEVICE), 2, "device", 0, 12 },
        { BY(STREAM), 2, "stream", 7, 12 }, { BY(STEP), 2, "step", 4, 14 },
        { BY(OP), 2, "count", 2, 12 },      { BY(THREAD), 2, "count", 2, 12 },
    };
    draw_step(3, 0, 50);
    draw_step(4, 50, 50);
    draw_host("cpu_op", "aten::mm", 1, 10, 20);
    draw_call("cudaLaunchKernel", 1, 12, 4, 1);
    draw_call("cudaLaunchKernel", 2, 60, 6, 2);
    draw_host("cpu_op", "aten::mm", 1, 70, 20);
    draw_call("cudaLaunchKernel", 1, 72, 8, 3);
    draw_work("kernel", "a", 0, 7, 20, 5, 1);
    draw_work("kernel", "b", 1, 8, 70, 5, 2);
    draw_work("kernel", "c", 0, 7, 85, 5, 3);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        answer_by(ways[i].by);
        assert_int_equal(launches->row_count, ways[i].rows);
        assert_int_equal(int_called(launches, 0, ways[i].column), ways[i].first);
        assert_int_equal(int_called(launches, 0, "call_time"), ways[i].call_time);
        assert_int_equal(launches->footers.at[0].value.i, 3);
    }
    answer_by(BY(OP));
    assert_string_equal(text_called(launches, 0, "op"), "aten::mm");
    assert_string_equal(text_called(launches, 1, "op"), "cudaLaunchKernel");
    answer_by(BY(THREAD));
    assert_string_equal(text_called(launches, 0, "thread"), "1");
}

/* The call of step 3 launches k, which runs in step 4; the call of step 4 has no work in the file. Each is of its own step. */
TEST(steps_choose_launches_by_their_calls)
{
    static const char *const kernels[] = { "k", "(no work in the file)" };
    draw_step(3, 0, 50);
    draw_step(4, 50, 50);
    draw_call("cudaLaunchKernel", 1, 40, 4, 1);
    draw_call("cudaLaunchKernel", 1, 70, 4, 2);
    draw_work("kernel", "k", 0, 7, 60, 5, 1);
    for (int64_t i = 0; i < 2; i++) {
        struct selection_query query = { .steps = { .at = { { 3 + i, 3 + i } }, .count = 1 } };
        const struct selection *selection = scratch_selection(drawn(), query);
        result = scratch_result(result_open("tpa.launches/1"));
        ask_analysis(&analysis_launches, drawn(), selection, LAUNCHES_BY_DEFAULT, result);
        launches = table_called(result, "launches");
        assert_int_equal(launches->row_count, 1);
        assert_string_equal(text_called(launches, 0, "kernel"), kernels[i]);
    }
}

/*
 *               0    10   20   30   40   50   60
 *   host        [B)[l1)[g)      [E)[l4)[g5)[g6)     B, E: begin and end of the capture, 0..2 and 30..32
 *   host 2             [l3)                         launches at the same time; its kernel is there
 *   stream 7               [k )  ..  [k)[m)         of l3, of l4, and one memset of the graph launch g5
 *
 * l1 and the graph launch g between are captured: no launches, as their work would never come. l3 (4), l4 (6), g5 (8) and
 * g6 (10), whose work is not in the file, are launches; both graph launches are in the row of the graph.
 */
TEST(calls_under_capture_are_no_launches)
{
    draw_call("cudaStreamBeginCapture", 1, 0, 2, 1);
    draw_call("cudaLaunchKernel", 1, 4, 2, 2);
    draw_call("cudaGraphLaunch", 1, 8, 2, 3);
    draw_call("cudaLaunchKernel", 2, 8, 4, 4);
    draw_call("cudaStreamEndCapture", 1, 30, 2, 5);
    draw_call("cudaLaunchKernel", 1, 34, 6, 6);
    draw_call("cudaGraphLaunch", 1, 42, 8, 7);
    draw_call("cudaGraphLaunch", 1, 52, 10, 8);
    draw_work("kernel", "k", 0, 7, 14, 2, 4);
    draw_work("kernel", "k", 0, 7, 42, 2, 6);
    draw_work("gpu_memset", "Memset (Device)", 0, 7, 52, 2, 7);
    answer();
    assert_int_equal(launches->footers.at[0].value.i, 4);
    assert_int_equal(launches->row_count, 2);
    assert_row(launches, 0, "kernel=(graph), count=2, call_time=18");
    assert_int_equal(int_called(launches, 1, "count"), 2);
    struct table *graphs = table_called(result, "graphs");
    assert_int_equal(graphs->row_count, 1);
    assert_row(graphs, 0, "launches=2, min_operations=1");
    assert_int_equal(notice_called(result, "captured_calls"), 2);
    /* what a launch takes: the median of 4 and 6; the captured 2 would make it 4 */
    assert_int_equal(launch_calls_median_ns(launch_calls_of(drawn()), drawn()), 5);
}
