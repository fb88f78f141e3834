/*
 * test_corners.c - one small trace full of corners, and what each question makes of it.
 *
 *                        0         20        40        60        80        100       120 ...
 *   thread 1             [ aten::x        )[ -------- the rest of ProfilerStep#1, to 2000 ---------
 *     calls              1  2   3  4                5  6 [ 7                )  [8  )
 *   device 0, stream 0         [ a       )[ -- )[ a   )                              a: 10..30 and 50..60
 *   device 0, stream 7              [ b          )    |z                 [g[g[g ...  b: 20..50; z: at 60, of no time
 *   device 1, stream 7                       [ b            )[ copy    )            b: 40..70; copy: 70..90
 *
 * Streams 0 and 7 of device 0 overlap at 20..30; the second a touches the end of b, z that of a; stream 7 is there twice. Call 5
 * begins at 45, after its kernel (b of device 1, at 40): the clocks differ. Call 6 launched nothing that is in the
 * file. Call 7, 60..92, copies pageable memory. Call 8, 100..110, launches a graph of 502 kernels g of 2 each, 4 apart: the
 * last ends at 120 + 501 * 4 + 2 = 2126.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analyze/comm.h"
#include "analyze/gaps.h"
#include "analyze/gpu.h"
#include "analyze/kernels.h"
#include "analyze/launch_times.h"
#include "analyze/memory.h"
#include "analyze/step_times.h"
#include "analyze/transfers.h"
#include "tests/unit/drawn.h"

static struct trace *trace;
static struct selection *selection;
static struct result *result;

static void draw_corners(struct selection_query query)
{
    struct tpa_error err = { 0 };
    struct trace_wants wants = { .args = gpu_wants.args | gaps_wants.args | kernels_wants.args |
                                         launch_times_wants.args | transfers_wants.args |
                                         step_times_wants.args | comm_wants.args | memory_wants.args };
    draw_begin(&wants);
    draw_host("user_annotation", "ProfilerStep#1", 1, 0, 2000);
    draw_host("cpu_op", "aten::x", 1, 0, 20);
    draw_call("cudaLaunchKernel", 1, 0, 5, 1);
    draw_call("cudaLaunchKernel", 1, 6, 3, 2);
    draw_call("cudaLaunchKernel", 1, 10, 3, 3);
    draw_call("cudaLaunchKernel", 1, 14, 2, 4);
    draw_call("cudaLaunchKernel", 1, 45, 3, 5);
    draw_call("cudaLaunchKernel", 1, 50, 2, 6);
    draw_call("cudaMemcpyAsync", 1, 60, 32, 7);
    draw_call("cudaGraphLaunch", 1, 100, 10, 8);
    draw_work("kernel", "a", 0, 0, 10, 20, 1);
    draw_work("kernel", "b", 0, 7, 20, 30, 2);
    draw_work("kernel", "a", 0, 0, 50, 10, 3);
    draw_work("kernel", "z", 0, 7, 60, 0, 4);
    draw_work("kernel", "b", 1, 7, 40, 30, 5);
    draw_work("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", 1, 7, 70, 20, 7);
    draw_arg(ARG_BYTES, 40);
    for (int64_t i = 0; i < 502; i++)
        draw_work("kernel", "g", 0, 7, 120 + 4 * i, 2, 8);
    trace = draw_end();
    selection = selection_open(trace, &query, &err);
    assert_non_null(selection);
    result = result_open("tpa.corners/1");
}

static void release(void)
{
    result_free(result);
    selection_free(selection);
    trace_free(trace);
}

/* The row in which the column KEY holds VALUE. */
static size_t row_with(const struct table *table, const char *key, int64_t value)
{
    for (size_t row = 0; row < table->row_count; row++)
        if (int_called(table, row, key) == value)
            return row;
    fail_msg("no row whose %s is %d", key, (int)value);
    return 0;
}

static size_t row_named(const struct table *table, const char *key, const char *text)
{
    for (size_t row = 0; row < table->row_count; row++)
        if (text_called(table, row, key) && strcmp(text_called(table, row, key), text) == 0)
            return row;
    fail_msg("no row whose %s is %s", key, text);
    return 0;
}

/*
 * Device 0: span 10..2126, busy 10..60 and 502 times 2; idle 60 (60..120) and 501 times 2; the gap before z has no length.
 * Kernel durations 20 + 30 + 10 + 0 + 1004. Device 1 works all of 40..90; b and the copy touch, so the copy is exposed.
 */
static void devices_share_no_stream(void **state)
{
    (void)state;
    draw_corners((struct selection_query){ 0 });
    gpu_add_tables(trace, selection, GPU_ROWS_DEVICE, result);
    const struct table *devices = table_called(result, "devices");
    assert_int_equal(devices->row_count, 2);
    size_t row = row_with(devices, "device", 0);
    assert_int_equal(int_called(devices, row, "span"), 2116);
    assert_int_equal(int_called(devices, row, "busy"), 1054);
    assert_int_equal(int_called(devices, row, "computation"), 1054);
    assert_int_equal(int_called(devices, row, "idle"), 1062);
    assert_int_equal(int_called(devices, row, "gaps"), 502);
    assert_int_equal(int_called(devices, row, "longest_gap"), 60);
    assert_int_equal(int_called(devices, row, "kernels"), 506);
    assert_int_equal(int_called(devices, row, "kernel_sum"), 1064);
    assert_string_equal(text_called(devices, row, "streams"), "0, 7");
    row = row_with(devices, "device", 1);
    assert_int_equal(int_called(devices, row, "span"), 50);
    assert_int_equal(int_called(devices, row, "computation"), 30);
    assert_int_equal(int_called(devices, row, "exposed_memcpy"), 20);
    assert_int_equal(int_called(devices, row, "idle"), 0);
    assert_int_equal(int_called(devices, row, "gaps"), 0);
    release();
}

/*
 * Stream 0 of device 0: 10..60, busy 30, idle 30..50. Stream 7 of device 0: 20..2126, busy 30 + 0 + 1004; idle 50..60,
 * 60..120, and 501 times 2. Stream 7 of device 1 has no gap.
 */
static void streams_are_told_apart_by_device(void **state)
{
    (void)state;
    draw_corners((struct selection_query){ 0 });
    gpu_add_tables(trace, selection, GPU_ROWS_STREAM, result);
    const struct table *streams = table_called(result, "devices");
    assert_int_equal(streams->row_count, 3);
    size_t row = row_with(streams, "stream", 0);
    assert_int_equal(int_called(streams, row, "span"), 50);
    assert_int_equal(int_called(streams, row, "busy"), 30);
    assert_int_equal(int_called(streams, row, "idle"), 20);
    row = row_with(streams, "span", 2106);
    assert_int_equal(int_called(streams, row, "stream"), 7);
    assert_int_equal(int_called(streams, row, "device"), 0);
    assert_int_equal(int_called(streams, row, "busy"), 1034);
    assert_int_equal(int_called(streams, row, "idle"), 1072);
    assert_int_equal(int_called(streams, row, "gaps"), 503);
    row = row_with(streams, "device", 1);
    assert_int_equal(int_called(streams, row, "stream"), 7);
    assert_int_equal(int_called(streams, row, "idle"), 0);
    release();
}

/*
 * As device 0 ran dry at 60 the thread went into the blocking copy and launched the graph afterwards: synchronisation.
 * The 501 gaps within the graph were queued long before: latency.
 */
static void each_gap_has_one_cause(void **state)
{
    (void)state;
    draw_corners((struct selection_query){ 0 });
    gaps_add_tables(trace, selection, &gaps_defaults, result);
    const struct table *causes = table_called(result, "causes");
    size_t waited = row_named(causes, "cause", "synchronisation"),
           queued = row_named(causes, "cause", "launch latency");
    assert_int_equal(int_called(causes, waited, "time"), 60);
    assert_int_equal(int_called(causes, waited, "count"), 1);
    assert_int_equal(int_called(causes, queued, "time"), 1002);
    assert_int_equal(int_called(causes, queued, "count"), 501);
    int64_t sum_ns = 0;
    for (size_t row = 0; row < causes->row_count; row++)
        sum_ns += int_called(causes, row, "time");
    assert_int_equal(sum_ns, 1062);
    release();
}

/* 65..123 of device 0: a gap to 120, work to 122, a gap to the end. Both are cut; so are they in `gpu`. */
static void a_range_may_begin_and_end_in_a_gap(void **state)
{
    (void)state;
    draw_corners(
        (struct selection_query){ .range = "65ns..123ns", .devices = { .at = { { 0, 0 } }, .count = 1 } });
    gpu_add_tables(trace, selection, GPU_ROWS_DEVICE, result);
    gaps_add_tables(trace, selection, &gaps_defaults, result);
    const struct table *devices = table_called(result, "devices"), *causes = table_called(result, "causes");
    assert_int_equal(devices->row_count, 1);
    assert_int_equal(int_called(devices, 0, "span"), 58);
    assert_int_equal(int_called(devices, 0, "busy"), 2);
    assert_int_equal(int_called(devices, 0, "idle"), 56);
    assert_int_equal(int_called(devices, 0, "gaps"), 2);
    int64_t sum_ns = 0;
    for (size_t row = 0; row < causes->row_count; row++)
        sum_ns += int_called(causes, row, "time");
    assert_int_equal(sum_ns, 56);
    release();
}

/* b ran on both devices, 30 each; z took no time and counts. By stream, streams 7 are two rows of b. */
static void kernels_count_whatever_their_length_and_place(void **state)
{
    (void)state;
    draw_corners((struct selection_query){ 0 });
    kernels_add_table(trace, selection, &(struct kernels_options){ .by = KERNELS_BY_NAME }, result);
    const struct table *kernels = table_called(result, "kernels");
    assert_int_equal(kernels->row_count, 4);
    assert_string_equal(text_called(kernels, 0, "name"), "g");
    assert_int_equal(int_called(kernels, 0, "count"), 502);
    assert_int_equal(int_called(kernels, 0, "total"), 1004);
    size_t a = row_named(kernels, "name", "a"), b = row_named(kernels, "name", "b"),
           z = row_named(kernels, "name", "z");
    assert_int_equal(int_called(kernels, a, "total"), 30);
    assert_int_equal(int_called(kernels, a, "average"), 15);
    assert_int_equal(int_called(kernels, b, "count"), 2);
    assert_int_equal(int_called(kernels, b, "total"), 60);
    assert_int_equal(int_called(kernels, z, "count"), 1);
    assert_int_equal(int_called(kernels, z, "total"), 0);
    release();

    draw_corners((struct selection_query){ 0 });
    kernels_add_table(trace, selection, &(struct kernels_options){ .by = KERNELS_BY_STREAM }, result);
    kernels = table_called(result, "kernels");
    assert_int_equal(kernels->row_count, 5); /* a; b, z and g of device 0; b of device 1 */
    size_t of_b = 0;
    for (size_t row = 0; row < kernels->row_count; row++)
        if (strcmp(text_called(kernels, row, "name"), "b") == 0) {
            assert_int_equal(int_called(kernels, row, "stream"), 7);
            assert_int_equal(int_called(kernels, row, "total"), 30);
            of_b++;
        }
    assert_int_equal(of_b, 2);
    release();
}

/*
 * Launches of b: that of device 0 waited 20 - 9 = 11; that of device 1 began before its call ended: nothing queued. The
 * graph is one launch of 502 works, its queue time 120 - 110; the call without work is there.
 */
static void launches_with_none_one_and_502_kernels(void **state)
{
    (void)state;
    draw_corners((struct selection_query){ 0 });
    launch_times_add_tables(trace, selection, LAUNCHES_BY_KERNEL, result);
    const struct table *launches = table_called(result, "launches");
    size_t b = row_named(launches, "kernel", "b"),
           none = row_named(launches, "kernel", "(no work in the file)");
    assert_int_equal(int_called(launches, b, "count"), 2);
    assert_int_equal(int_called(launches, b, "queue_time"), 11);
    assert_int_equal(int_called(launches, b, "kernel_time"), 60);
    assert_int_equal(int_called(launches, none, "count"), 1);
    assert_int_equal(int_called(launches, none, "call_time"), 2);
    size_t graph = row_named(launches, "call", "cudaGraphLaunch");
    assert_int_equal(int_called(launches, graph, "count"), 1);
    assert_int_equal(int_called(launches, graph, "queue_time"), 10);
    assert_int_equal(int_called(launches, graph, "kernel_time"), 1004);
    const struct table *queues = table_called(result, "queues");
    assert_int_equal(queues->row_count, 3); /* streams 0 and 7 of device 0, 7 of device 1 */
    release();
}

/* The copy runs on device 1 after b, at whose end it begins: all of its 20 are exposed; the host sat in the call for 32. */
static void a_copy_that_touches_a_kernel_is_exposed(void **state)
{
    (void)state;
    draw_corners((struct selection_query){ 0 });
    transfers_add_tables(trace, selection, TRANSFERS_BY_KIND, result);
    const struct table *transfers = table_called(result, "transfers");
    assert_int_equal(transfers->row_count, 1);
    assert_int_equal(int_called(transfers, 0, "device"), 1);
    assert_int_equal(int_called(transfers, 0, "bytes"), 40);
    assert_int_equal(int_called(transfers, 0, "time"), 20);
    assert_int_equal(int_called(transfers, 0, "exposed"), 20);
    assert_int_equal(int_called(transfers, 0, "blocked"), 32);
    assert_true(number_called(transfers, 0, "bandwidth") == 2);
    release();
}

/*
 * The step lasts from 0 to 2126, the end of the last kernel it launched. Kernels of both devices: 10..70 and 1004; the
 * copy: 70..90; calls beside them: 0..5, 6..9, 90..92, 100..110; aten::x beside those: 5..6, 9..10; the rest is other.
 */
static void a_step_is_the_sum_of_its_parts(void **state)
{
    (void)state;
    struct tpa_error err = { 0 };
    draw_corners((struct selection_query){ 0 });
    assert_true(step_times_add_tables(trace, selection, &(struct step_times_options){ 0 }, result, &err));
    const struct table *steps = table_called(result, "steps");
    assert_int_equal(steps->row_count, 1);
    assert_int_equal(int_called(steps, 0, "duration"), 2126);
    assert_int_equal(int_called(steps, 0, "kernel"), 1064);
    assert_int_equal(int_called(steps, 0, "memcpy"), 20);
    assert_int_equal(int_called(steps, 0, "memset"), 0);
    assert_int_equal(int_called(steps, 0, "communication"), 0);
    assert_int_equal(int_called(steps, 0, "runtime"), 20);
    assert_int_equal(int_called(steps, 0, "data_loading"), 0);
    assert_int_equal(int_called(steps, 0, "cpu"), 2);
    assert_int_equal(int_called(steps, 0, "other"), 1020);
    assert_int_equal(int_called(steps, 0, "gpu_events"), 508); /* a, b, a, z, b, the copy and 502 times g */
    release();
}

/* Nothing communicates and no allocator was recorded: empty tables, no guesses. */
static void what_is_not_there_gives_no_rows(void **state)
{
    (void)state;
    struct tpa_error err = { 0 };
    draw_corners((struct selection_query){ 0 });
    assert_true(comm_add_tables(trace, selection, &(struct comm_options){ 0 }, result, &err));
    assert_int_equal(table_called(result, "collectives")->row_count, 0);
    size_t count = result->tables.count;
    memory_add_tables(trace, selection, &(struct memory_options){ 0 }, result);
    assert_int_equal(result->tables.count, count); /* `tpa memory` adds no empty table */
    release();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(devices_share_no_stream),
        cmocka_unit_test(streams_are_told_apart_by_device),
        cmocka_unit_test(each_gap_has_one_cause),
        cmocka_unit_test(a_range_may_begin_and_end_in_a_gap),
        cmocka_unit_test(kernels_count_whatever_their_length_and_place),
        cmocka_unit_test(launches_with_none_one_and_502_kernels),
        cmocka_unit_test(a_copy_that_touches_a_kernel_is_exposed),
        cmocka_unit_test(a_step_is_the_sum_of_its_parts),
        cmocka_unit_test(what_is_not_there_gives_no_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
