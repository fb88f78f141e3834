/* test_gaps.c - analyze/gaps.h: one cause for every gap, and the sums are the idle time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analyze/gaps.h"
#include "tests/unit/drawn.h"

static struct trace *trace;
static struct result *result;
static struct table *causes, *gaps;

static void answer_with(struct selection_query query, struct gaps_options options)
{
    struct tpa_error err = { 0 };
    struct selection *selection = selection_open(trace, &query, &err);
    assert_non_null(selection);
    result = result_open("tpa.gaps/1");
    gaps_add_tables(trace, selection, &options, result);
    selection_free(selection);
    causes = table_called(result, "causes");
    gaps = table_called(result, "gaps");
}

/* Lists every gap; queued work is launch latency below 10. */
static void answer(void)
{
    answer_with((struct selection_query){ 0 }, (struct gaps_options){ .latency_below_ns = 10 });
}

static void release(void)
{
    result_free(result);
    trace_free(trace);
}

/* The trace has one gap, LENGTH long, and this is its CAUSE. */
static void assert_one_gap(int64_t length_ns, const char *cause)
{
    assert_int_equal(gaps->row_count, 1);
    assert_int_equal(int_called(gaps, 0, "length"), length_ns);
    assert_string_equal(text_called(gaps, 0, "cause"), cause);
    assert_int_equal(causes->row_count, 1);
    assert_int_equal(causes->footers.at[0].value.i, length_ns);
}

/* Two kernels of stream 7 with a gap from 20 to 50; the second is launched by a call at CALL_NS. */
static void draw_gap(int64_t call_ns)
{
    draw_begin(&gaps_wants);
    draw_call("cudaLaunchKernel", 1, 0, 2, 1);
    draw_work("kernel", "a", 0, 7, 10, 10, 1);
    draw_call("cudaLaunchKernel", 1, call_ns, 2, 2);
    draw_work("kernel", "b", 0, 7, 50, 10, 2);
}

/*
 *              0    10   20   30   40   50   60
 *   host       l1                  l2              l2 at 40
 *   stream 7        [ a )               [ b )
 */
static void the_host_is_late(void **state)
{
    (void)state;
    draw_gap(40);
    draw_host("cpu_op", "aten::mm", 1, 38, 6);
    draw_host("user_annotation", "thinking", 1, 22, 14);
    trace = draw_end();
    answer();
    assert_one_gap(30, "host");
    assert_string_equal(text_called(gaps, 0, "before"), "a");
    assert_string_equal(text_called(gaps, 0, "after"), "b");
    assert_string_equal(text_called(gaps, 0, "call"), "cudaLaunchKernel");
    assert_string_equal(text_called(gaps, 0, "operator"), "aten::mm");
    assert_int_equal(int_called(gaps, 0, "start"), 20);
    release();
}

/* "thinking" takes 14 of the 30, less than half; "step" holds the whole gap, "ProfilerStep#1" does not count. */
static void what_the_host_did_meanwhile(void **state)
{
    (void)state;
    draw_gap(40);
    draw_host("user_annotation", "ProfilerStep#1", 1, 0, 70);
    draw_host("user_annotation", "step", 1, 5, 60);
    draw_host("user_annotation", "thinking", 1, 22, 14);
    trace = draw_end();
    answer();
    assert_string_equal(text_called(gaps, 0, "meanwhile"), "step");
    release();
    draw_gap(40);
    draw_host("user_annotation", "step", 1, 5, 60);
    draw_host("user_annotation", "thinking", 1, 22, 15);
    trace = draw_end();
    answer();
    assert_string_equal(text_called(gaps, 0, "meanwhile"), "thinking");
    release();
}

/*
 *            0    10   20   30   40   50   60   70   80
 *   stream        [ a  )              [ b  )               the gap is 20..50
 *   host                [first)  [    second    )          22..34, 40..70
 *                                  [     third      )      45..80: begins in the second and ends after it
 *
 * In the gap first took 12, second 10, third 5: that the second lasts longest does not matter.
 */
static void what_goes_on_after_the_gap_took_part_of_it(void **state)
{
    (void)state;
    draw_gap(40);
    draw_host("cpu_op", "first", 1, 22, 12);
    draw_host("cpu_op", "second", 1, 40, 30);
    draw_host("cpu_op", "third", 1, 45, 35);
    trace = draw_end();
    answer();
    assert_string_equal(text_called(gaps, 0, "meanwhile"), "first");
    release();
}

/* Both were going on as the gap began, and took as much of it: 20..35. */
static void of_equals_the_outermost_is_shown(void **state)
{
    (void)state;
    draw_gap(40);
    draw_host("cpu_op", "outer", 1, 10, 25);
    draw_host("cpu_op", "inner", 1, 12, 23);
    trace = draw_end();
    answer();
    assert_string_equal(text_called(gaps, 0, "meanwhile"), "outer");
    release();
}

/* l2 at 15: queued before the device ran dry; a gap of 30 is too long for latency, unless told otherwise. */
static void queued_work_is_latency_if_short(void **state)
{
    (void)state;
    draw_gap(15);
    trace = draw_end();
    answer();
    assert_one_gap(30, "unknown");
    result_free(result);
    answer_with((struct selection_query){ 0 }, (struct gaps_options){ .latency_below_ns = 31 });
    assert_one_gap(30, "launch latency");
    release();
}

/* The call begins as the device runs dry: it was queued. */
static void a_call_at_the_edge_was_queued(void **state)
{
    (void)state;
    draw_gap(20);
    trace = draw_end();
    answer_with((struct selection_query){ 0 }, (struct gaps_options){ .latency_below_ns = 31 });
    assert_one_gap(30, "launch latency");
    release();
}

/* The host sits in a synchronisation from 12 to 24, in which the device runs dry, and only then launches. */
static void synchronisation(void **state)
{
    (void)state;
    draw_gap(40);
    draw_call("cudaStreamSynchronize", 1, 12, 12, 3);
    trace = draw_end();
    answer();
    assert_one_gap(30, "synchronisation");
    release();
    /* The other thread's does not count. */
    draw_gap(40);
    draw_call("cudaStreamSynchronize", 2, 12, 12, 3);
    trace = draw_end();
    answer();
    assert_one_gap(30, "host");
    release();
}

/*
 *              0    10   20   30   40   50
 *   host       l1     [memcpy )l2                  pageable, 15..28, of 10 from 16 to 26
 *   stream 7        [ a )                          10..20
 *   stream 9          [ DtoH )                     16..26
 *   stream 7                     [ b )             40..50: gap 26..40
 */
static void a_blocking_copy_synchronises(void **state)
{
    (void)state;
    draw_begin(&gaps_wants);
    draw_call("cudaLaunchKernel", 1, 0, 2, 1);
    draw_work("kernel", "a", 0, 7, 10, 10, 1);
    draw_call("cudaMemcpyAsync", 1, 15, 13, 2);
    draw_work("gpu_memcpy", "Memcpy DtoH (Device -> Pageable)", 0, 9, 16, 10, 2);
    draw_call("cudaLaunchKernel", 1, 30, 2, 3);
    draw_work("kernel", "b", 0, 7, 40, 10, 3);
    trace = draw_end();
    answer();
    assert_one_gap(14, "synchronisation");
    assert_string_equal(text_called(gaps, 0, "before"), "Memcpy DtoH (Device -> Pageable)");
    release();
}

/* Of 20..40 the thread spends 10, just half, in cudaMalloc; with 9 it is the host. */
static void allocation(void **state)
{
    (void)state;
    draw_gap(40);
    draw_call("cudaMalloc", 1, 25, 10, 3);
    trace = draw_end();
    answer();
    assert_one_gap(30, "allocation");
    release();
    draw_gap(40);
    draw_call("cudaMalloc", 1, 25, 9, 3);
    trace = draw_end();
    answer();
    assert_one_gap(30, "host");
    release();
}

static void data_loading(void **state)
{
    (void)state;
    draw_gap(40);
    draw_host("user_annotation", "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", 1, 18, 20);
    trace = draw_end();
    answer();
    assert_one_gap(30, "data loading");
    release();
}

/* The thread waits in gloo until 35. In an operator that launches the work itself it does not wait. */
static void communication_wait(void **state)
{
    (void)state;
    draw_gap(40);
    draw_host("user_annotation", "gloo:all_reduce", 1, 18, 17);
    trace = draw_end();
    answer();
    assert_one_gap(30, "communication wait");
    release();
    draw_gap(40);
    draw_host("cpu_op", "c10d::allreduce_", 1, 18, 30);
    trace = draw_end();
    answer();
    assert_one_gap(30, "host");
    release();
}

/* The profiler covers 15 of the 30; it comes before all other causes. */
static void profiler_overhead(void **state)
{
    (void)state;
    draw_gap(40);
    draw_call("cudaMalloc", 1, 20, 20, 3);
    draw_event("overhead", "Activity Buffer Request", -1, 0, 30, 15);
    trace = draw_end();
    answer();
    assert_one_gap(30, "profiler overhead");
    release();
}

static void a_launch_that_is_not_in_the_file_is_unknown(void **state)
{
    (void)state;
    draw_begin(&gaps_wants);
    draw_work("kernel", "a", 0, 7, 10, 10, 1);
    draw_work("kernel", "b", 0, 7, 50, 10, 2);
    trace = draw_end();
    answer();
    assert_one_gap(30, "unknown");
    assert_true(table_is_missing(gaps, 0, (size_t)table_find_column(gaps, "call", 4)));
    release();
}

/* By the clocks' skew the call seems to begin at 55, after its kernel did at 50. */
static void a_call_after_its_kernel(void **state)
{
    (void)state;
    draw_gap(55);
    draw_call("cudaMalloc", 1, 20, 15, 3); /* half of 20..50 */
    trace = draw_end();
    answer();
    assert_one_gap(30, "allocation");
    release();
}

/*
 *              0    10   20   30   40   50   60
 *   device 0 stream 0   [ a  )[ b )                10..20, 20..30: they touch
 *            stream 7        [ c      )            15..35
 *            stream 0                 [d) |        40..45, a memset of no time at 50, k 60..65
 *   device 1 stream 0         [ e )     [ f )      20..30, 42..50
 *
 * Device 0: 35..40, 45..50, 50..60. Device 1: 30..42.
 */
static void streams_devices_and_empty_work(void **state)
{
    (void)state;
    draw_begin(&gaps_wants);
    draw_work("kernel", "a", 0, 0, 10, 10, DRAW_NO_CALL);
    draw_work("kernel", "b", 0, 0, 20, 10, DRAW_NO_CALL);
    draw_work("kernel", "c", 0, 7, 15, 20, DRAW_NO_CALL);
    draw_work("kernel", "d", 0, 0, 40, 5, DRAW_NO_CALL);
    draw_work("gpu_memset", "Memset (Device)", 0, 0, 50, 0, DRAW_NO_CALL);
    draw_work("kernel", "k", 0, 0, 60, 5, DRAW_NO_CALL);
    draw_work("kernel", "e", 1, 0, 20, 10, DRAW_NO_CALL);
    draw_work("kernel", "f", 1, 0, 42, 8, DRAW_NO_CALL);
    trace = draw_end();
    answer();
    assert_int_equal(gaps->row_count, 4);
    assert_int_equal(int_called(gaps, 0, "length"), 12);
    assert_int_equal(int_called(gaps, 0, "device"), 1);
    assert_int_equal(int_called(gaps, 1, "length"), 10);
    assert_string_equal(text_called(gaps, 1, "before"), "Memset (Device)");
    assert_int_equal(int_called(gaps, 2, "length"), 5);
    assert_int_equal(int_called(gaps, 3, "length"), 5);
    assert_int_equal(causes->row_count, 2);
    assert_int_equal(int_called(causes, 0, "time"), 20);
    assert_int_equal(int_called(causes, 1, "time"), 12);
    result_free(result);

    /* Stream by stream, stream 0 of device 0 is idle 30..40 too; stream 7 never. */
    answer_with((struct selection_query){ .devices = { { { 0, 0 } }, 1 } },
                (struct gaps_options){ .by = ROWS_BY_STREAM });
    assert_int_equal(causes->row_count, 1);
    assert_int_equal(int_called(causes, 0, "time"), 10 + 5 + 10);
    release();
}

/* The gap is 20..50. Of it 0..30 holds 10, 45..70 holds 5: gaps at both ends of what was asked for. */
static void a_range_cuts_gaps(void **state)
{
    (void)state;
    draw_gap(40);
    trace = draw_end();
    answer_with((struct selection_query){ .range = "0..30ns" }, (struct gaps_options){ 0 });
    assert_one_gap(10, "host");
    result_free(result);
    answer_with((struct selection_query){ .range = "45ns..70ns" }, (struct gaps_options){ 0 });
    assert_one_gap(5, "host");
    release();
}

/* A graph launched by one call at 5: 502 kernels of 10, each 1 after the one before; and a launch without a kernel. */
static void one_launch_of_502_kernels(void **state)
{
    (void)state;
    draw_begin(&gaps_wants);
    draw_call("cudaGraphLaunch", 1, 5, 3, 1);
    draw_call("cudaLaunchKernel", 1, 9, 3, 2);
    for (int64_t i = 0; i < 502; i++)
        draw_work("kernel", "node", 0, 7, 10 + 11 * i, 10, 1);
    trace = draw_end();
    answer_with((struct selection_query){ 0 }, (struct gaps_options){ .min_ns = 2, .latency_below_ns = 10 });
    assert_int_equal(gaps->row_count, 0);
    assert_int_equal(causes->row_count, 1);
    assert_string_equal(text_called(causes, 0, "cause"), "launch latency");
    assert_int_equal(int_called(causes, 0, "count"), 501);
    assert_int_equal(gaps->footers.at[0].value.i, 501);
    assert_int_equal(gaps->footers.at[1].value.i, 501);
    release();
}

/* Gaps of 1, 2 and 3: with two rows the longest two are listed, and the table tells of three. */
static void the_longest_are_listed(void **state)
{
    (void)state;
    draw_begin(&gaps_wants);
    draw_work("kernel", "a", 0, 7, 0, 10, DRAW_NO_CALL);
    draw_work("kernel", "b", 0, 7, 11, 10, DRAW_NO_CALL);
    draw_work("kernel", "c", 0, 7, 23, 10, DRAW_NO_CALL);
    draw_work("kernel", "d", 0, 7, 36, 10, DRAW_NO_CALL);
    trace = draw_end();
    answer_with((struct selection_query){ 0 }, (struct gaps_options){ .most_rows = 2 });
    assert_int_equal(gaps->row_count, 2);
    assert_int_equal(gaps->total_rows, 3);
    assert_int_equal(int_called(gaps, 0, "length"), 3);
    assert_int_equal(int_called(gaps, 1, "length"), 2);
    release();
}

/*
 *              0    10   20   30   40   50
 *   stream 7   [ k )     [ k )     [ k )[ k )     launched by mm in step 1, mm, add, on threads 1, 1, 2; gaps of 10, 10
 */
static void causes_are_summed_up_by_operator_step_and_thread(void **state)
{
    (void)state;
    static const struct {
        enum rows_by by;
        size_t rows;
        int64_t first;
    } cases[] = { { ROWS_BY_DEVICE, 1, 20 },
                  { ROWS_BY_OPERATOR, 2, 10 },
                  { ROWS_BY_STEP, 2, 10 },
                  { ROWS_BY_THREAD, 2, 10 },
                  { ROWS_BY_RANK, 1, 20 } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        draw_begin(&gaps_wants);
        draw_host("user_annotation", "ProfilerStep#1", 1, 0, 25);
        draw_host("cpu_op", "aten::mm", 1, 0, 20);
        draw_host("cpu_op", "aten::add", 2, 30, 20);
        draw_call("cudaLaunchKernel", 1, 0, 1, 1);
        draw_call("cudaLaunchKernel", 1, 15, 1, 2);
        draw_call("cudaLaunchKernel", 2, 35, 1, 3);
        draw_work("kernel", "k", 0, 7, 0, 10, 1);
        draw_work("kernel", "k", 0, 7, 20, 10, 2);
        draw_work("kernel", "k", 0, 7, 40, 10, 3);
        trace = draw_end();
        answer_with((struct selection_query){ 0 }, (struct gaps_options){ .by = cases[i].by });
        const struct table *table = table_called(result, "causes");
        assert_int_equal(table->row_count, cases[i].rows);
        assert_int_equal(int_called(table, 0, "time"), cases[i].first);
        assert_float_equal(number_called(table, 0, "share"), 1.0, 1e-12);
        assert_int_equal(table->footers.at[0].value.i, 20);
        if (cases[i].by == ROWS_BY_OPERATOR)
            assert_string_equal(text_called(table, 0, "op"), "aten::mm");
        if (cases[i].by == ROWS_BY_STEP)
            assert_int_equal(int_called(table, 1, "step"), 1); /* the other is in no step */
        release();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_host_is_late),
        cmocka_unit_test(what_the_host_did_meanwhile),
        cmocka_unit_test(what_goes_on_after_the_gap_took_part_of_it),
        cmocka_unit_test(of_equals_the_outermost_is_shown),
        cmocka_unit_test(queued_work_is_latency_if_short),
        cmocka_unit_test(a_call_at_the_edge_was_queued),
        cmocka_unit_test(synchronisation),
        cmocka_unit_test(a_blocking_copy_synchronises),
        cmocka_unit_test(allocation),
        cmocka_unit_test(data_loading),
        cmocka_unit_test(communication_wait),
        cmocka_unit_test(profiler_overhead),
        cmocka_unit_test(a_launch_that_is_not_in_the_file_is_unknown),
        cmocka_unit_test(a_call_after_its_kernel),
        cmocka_unit_test(streams_devices_and_empty_work),
        cmocka_unit_test(a_range_cuts_gaps),
        cmocka_unit_test(one_launch_of_502_kernels),
        cmocka_unit_test(the_longest_are_listed),
        cmocka_unit_test(causes_are_summed_up_by_operator_step_and_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
