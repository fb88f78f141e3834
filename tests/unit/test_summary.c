/* test_summary.c - analyze/summary.h: what the rules find, and that they are quiet otherwise. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analyze/summary.h"
#include "tests/unit/drawn.h"

static struct trace *trace;
static struct result *result;

static void answer(void)
{
    struct tpa_error err = { 0 };
    struct selection *selection = selection_open(trace, &(struct selection_query){ 0 }, &err);
    assert_non_null(selection);
    result = result_open("tpa.summary/1");
    assert_true(summary_add_tables(trace, selection, result, &err));
    selection_free(selection);
}

static void release(void)
{
    result_free(result);
    trace_free(trace);
}

/*
 *              0                                   100
 *   host       [ mm                                 )    launches at 0..2
 *   stream 7    [ gemm                              )    2..100
 */
static void a_busy_device_is_no_finding(void **state)
{
    (void)state;
    draw_begin(&summary_wants);
    draw_host("cpu_op", "aten::mm", 1, 0, 100);
    draw_call("cudaLaunchKernel", 1, 0, 2, 1);
    draw_work("kernel", "gemm", 0, 7, 2, 98, 1);
    trace = draw_end();
    answer();
    assert_int_equal(result->tables.count, 1); /* the overview alone */
    assert_string_equal(result->tables.at[0]->key, "overview");
    assert_int_equal(result->notices.count, 0);
    release();
}

/*
 *              0    10   20   30   40   50   60   70   80   90   100
 *   host       [ ProfilerStep#1                                  )
 *              [ next    )[ mm                                   )
 *                         l    [ cudaDeviceSynchronize        )         launch 20..22, wait 30..95
 *   stream 7                [ gemm              )                       25..65
 *
 * The wait takes 65, of which a launch would take 2: 63 %. No kernel runs in 60 % of the step; 20 % of it loads data.
 */
static void what_costs_most_comes_first(void **state)
{
    (void)state;
    draw_begin(&summary_wants);
    draw_host("user_annotation", "ProfilerStep#1", 1, 0, 100);
    draw_host("user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 1, 0, 20);
    draw_host("cpu_op", "aten::mm", 1, 20, 80);
    draw_call("cudaLaunchKernel", 1, 20, 2, 1);
    draw_call("cudaDeviceSynchronize", 1, 30, 65, 2);
    draw_work("kernel", "gemm", 0, 7, 25, 40, 1);
    trace = draw_end();
    answer();
    struct table *findings = table_called(result, "findings");
    assert_int_equal(findings->row_count, 3);
    assert_string_equal(text_called(findings, 0, "rule"), "stall");
    assert_string_equal(text_called(findings, 0, "finding"), "the host waits: aten::mm, wait for kernels");
    assert_int_equal(int_called(findings, 0, "time"), 63);
    assert_float_equal(number_called(findings, 0, "share"), 0.63, 1e-12);
    assert_string_equal(text_called(findings, 0, "see"), "tpa transfers");
    assert_string_equal(text_called(findings, 1, "rule"), "utilization");
    assert_float_equal(number_called(findings, 1, "share"), 0.60, 1e-12);
    assert_float_equal(number_called(findings, 1, "threshold"), 0.50, 1e-12);
    assert_string_equal(text_called(findings, 1, "device"), "0");
    assert_string_equal(text_called(findings, 2, "rule"), "data_loading");
    assert_float_equal(number_called(findings, 2, "share"), 0.20, 1e-12);
    assert_int_equal(int_called(findings, 2, "time"), 20);
    assert_int_equal(result->notices.count, 3); /* advice for each */
    release();
}

/*
 *              0         100        200        300        400        500
 *   host       [ Step#0  )[ Step#1  )[ Step#2  )[ Step#3  )[ Step#4  )     each allocates 9 of the device's 100
 *   stream 7   [ volta_sgemm, launched by mm                          )    in use: 50, 59, 68, 77, 86, 95
 */
static void memory_comes_after_time(void **state)
{
    (void)state;
    draw_begin(&summary_wants);
    *VEC_PUSH(&trace_builder_current_file(draw_builder)->devices) =
        (struct trace_device){ .name = "V100", .total_memory = 100, .compute_major = 7 };
    draw_host("cpu_op", "aten::mm", 2, 0, 500);
    draw_call("cudaLaunchKernel", 2, 0, 1, 1);
    draw_work("kernel", "volta_sgemm_128x64_nn", 0, 7, 1, 499, 1);
    static const char *const steps[] = { "ProfilerStep#0", "ProfilerStep#1", "ProfilerStep#2",
                                         "ProfilerStep#3", "ProfilerStep#4" };
    for (int i = 0; i < 5; i++) {
        draw_host("user_annotation", steps[i], 1, 100 * i, 100);
        struct chunk_event record = {
            .phase = 'i',
            .start_ns = 100 * i + 50,
            .dur_ns = -1,
            .name = trace_chunk_name(draw_chunk, "[memory]", 8),
            .track = trace_chunk_track(draw_chunk, &(struct track_key){ .pid = DRAW_PROCESS, .tid = 1 }),
            .category = trace_chunk_category(draw_chunk, "cpu_instant_event", 17),
        };
        trace_chunk_event(draw_chunk, &record);
        draw_arg(ARG_DEVICE_TYPE, 1);
        draw_arg(ARG_DEVICE_ID, 0);
        draw_arg(ARG_BYTES, 9);
        draw_arg(ARG_ADDRESS, 0xA00 + i);
        draw_arg(ARG_TOTAL_ALLOCATED, 59 + 9 * i);
    }
    trace = draw_end();
    answer();
    struct table *findings = table_called(result, "findings");
    assert_int_equal(findings->row_count, 3);
    assert_string_equal(text_called(findings, 0, "rule"), "tensor_cores");
    assert_float_equal(number_called(findings, 0, "share"), 1.0, 1e-12);
    assert_string_equal(text_called(findings, 1, "rule"), "memory_full");
    assert_float_equal(number_called(findings, 1, "share"), 0.95, 1e-12);
    assert_int_equal(int_called(findings, 1, "bytes"), 95);
    assert_string_equal(text_called(findings, 1, "device"), "cuda:0");
    assert_string_equal(text_called(findings, 2, "rule"), "memory_grows");
    assert_int_equal(int_called(findings, 2, "bytes"), 9);
    release();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_busy_device_is_no_finding),
        cmocka_unit_test(what_costs_most_comes_first),
        cmocka_unit_test(memory_comes_after_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
