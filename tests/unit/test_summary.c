/* test_summary.c - summary/summary.h: what the rules find, and that they are quiet otherwise. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "summary/summary.h"
#include "summary/rules.h"
#include "tests/unit/drawn.h"
#include <stdio.h>

static struct trace *trace;
static struct result *result;

static void answer_by(enum summary_by by)
{
    struct tpa_error err = { 0 };
    struct selection *selection = selection_open(trace, &(struct selection_query){ 0 }, &err);
    assert_non_null(selection);
    result = result_open("tpa.summary/1");
    assert_true(summary_add_tables(trace, selection, by, result, &err));
    selection_free(selection);
}

static void answer(void)
{
    answer_by(SUMMARY_BY_ALL);
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
    assert_int_equal(result->tables.count, 2); /* no findings */
    assert_string_equal(result->tables.at[0]->key, "overview");
    assert_string_equal(result->tables.at[1]->key, "operators");
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

/* ---- every rule finds something in one drawing, and nothing in nearly the same ---- */

/* A step of 100 on the host, with a launch at its begin that starts a kernel at START for DUR. */
static void draw_step(int number, int64_t start_ns, int64_t dur_ns)
{
    char name[32];
    snprintf(name, sizeof name, "ProfilerStep#%d", number);
    draw_host("user_annotation", name, 1, 100 * number, 100);
    draw_call("cudaLaunchKernel", 1, 100 * number, 1, number + 1);
    draw_work("kernel", "elementwise", 0, 7, start_ns, dur_ns, number + 1);
}

/* Kernels at 0..40 and from 80 or 44 on, 40 long; the second is launched at LAUNCHED. The host does NAME meanwhile. */
static void draw_gap(bool wrong, int64_t launched_ns, const char *category, const char *name,
                     int64_t start_ns, int64_t dur_ns)
{
    draw_call("cudaLaunchKernel", 1, 0, 1, 1);
    draw_work("kernel", "elementwise", 0, 7, 1, 39, 1);
    if (name)
        draw_host(category, name, 1, start_ns, dur_ns);
    draw_call("cudaLaunchKernel", 1, wrong || launched_ns < 40 ? launched_ns : 43, 1, 2);
    draw_work("kernel", "elementwise", 0, 7, wrong ? 80 : 44, 40, 2);
}

/* 60 of 100, or 20 of 100, without a kernel. */
static void draw_utilization(bool wrong)
{
    draw_host("user_annotation", "ProfilerStep#0", 1, 0, 100);
    draw_host("cpu_op", "aten::add", 1, 0, 100);
    draw_call("cudaLaunchKernel", 1, 0, 1, 1);
    draw_work("kernel", "elementwise", 0, 7, 10, wrong ? 40 : 80, 1);
}

/* 20 of 100, or 4, in which the step does nothing but load data. */
static void draw_data_loading(bool wrong)
{
    draw_host("user_annotation", "ProfilerStep#0", 1, 0, 100);
    draw_host("user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 1, 0,
              wrong ? 20 : 4);
    draw_host("cpu_op", "aten::add", 1, wrong ? 20 : 4, wrong ? 80 : 96);
}

/* 20 of 100, or 5, of all-reduce alone. */
static void draw_communication(bool wrong)
{
    draw_step(0, 1, wrong ? 79 : 94);
    draw_call("cudaLaunchKernel", 1, 2, 1, 99);
    draw_work("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 0, 8, 10, 90, 99);
}

/* Four steps of 100; the last lasts until 600 on the device, which is 200 more than the median, of 600. */
static void draw_slow_step(bool wrong)
{
    for (int i = 0; i < 4; i++)
        draw_step(i, 100 * i + 1, wrong && i == 3 ? 299 : 99);
}

/* 20 of 100, or 5 of 85, of copying alone. */
static void draw_copies(bool wrong)
{
    draw_call("cudaLaunchKernel", 1, 0, 1, 1);
    draw_work("kernel", "elementwise", 0, 7, 1, 79, 1);
    draw_call("cudaMemcpyAsync", 1, 1, 1, 2);
    draw_work("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", 0, 7, 80, wrong ? 20 : 5, 2);
}

static void draw_idle_host(bool wrong)
{
    draw_gap(wrong, 78, NULL, NULL, 0, 0);
}

static void draw_idle_latency(bool wrong)
{
    draw_gap(wrong, 10, NULL, NULL, 0, 0);
}

static void draw_idle_synchronisation(bool wrong)
{
    draw_gap(wrong, 78, "cuda_runtime", "cudaDeviceSynchronize", 10, wrong ? 60 : 31);
}

static void draw_idle_allocation(bool wrong)
{
    draw_gap(wrong, 78, "cuda_runtime", "cudaMalloc", 41, wrong ? 34 : 2);
}

static void draw_idle_data_loading(bool wrong)
{
    draw_gap(wrong, 78, "user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 41,
             wrong ? 34 : 2);
}

static void draw_idle_communication(bool wrong)
{
    draw_gap(wrong, 78, "cpu_op", "c10d::allreduce_", 41, wrong ? 34 : 2);
}

static void draw_idle_profiler(bool wrong)
{
    draw_gap(wrong, 78, "overhead", "Activity Buffer Request", 41, wrong ? 34 : 2);
}

/* Kernels of 39 us, the second from 80 us or 44 us on, launched by a call at CALL_US for DUR_US. */
static void draw_late(bool wrong, const char *second, int64_t call_us, int64_t dur_us)
{
    draw_call("cudaLaunchKernel", 1, 0, 1, 1);
    draw_work("kernel", "elementwise", 0, 7, 1000, 39000, 1);
    draw_call("cudaLaunchKernel", 1, 1000 * call_us, 1000 * dur_us, 2);
    draw_work("kernel", second, 0, 7, wrong ? 80000 : 44000, 39000, 2);
}

static void draw_idle_launch_call(bool wrong)
{
    draw_late(wrong, "elementwise", 40, wrong ? 38 : 2);
}

static void draw_idle_first_use(bool wrong)
{
    draw_late(true, wrong ? "softmax" : "elementwise", 40, 38);
}

static void draw_idle_stream_wait(bool wrong)
{
    draw_call("cudaStreamWaitEvent", 1, 28000, 1000, 9);
    draw_late(wrong, "elementwise", 30, 1);
}

static void draw_idle_queued(bool wrong)
{
    draw_late(wrong, "elementwise", 30, 1);
}

static void draw_idle_graph(bool wrong)
{
    draw_call("cudaGraphLaunch", 1, 0, 1, 1);
    draw_work("kernel", "elementwise", 0, 7, 1, 39, 1);
    draw_work("kernel", "elementwise", 0, 7, wrong ? 80 : 44, 39, 1);
}

/* A synchronization of 31 of 100, or of 4. */
static void draw_stall(bool wrong)
{
    draw_host("cpu_op", "aten::item", 1, 0, 100);
    draw_call("cudaLaunchKernel", 1, 0, 1, 1);
    draw_call("cudaStreamSynchronize", 1, 10, wrong ? 31 : 4, 2);
    draw_work("kernel", "elementwise", 0, 7, 1, wrong ? 39 : 12, 1);
}

static void draw_device(int64_t memory)
{
    *VEC_PUSH(&trace_builder_current_file(draw_builder)->devices) =
        (struct trace_device){ .name = "V100", .total_memory = memory, .compute_major = 7 };
}

static void draw_tensor_cores(bool wrong)
{
    draw_device(0);
    draw_host("cpu_op", "aten::mm", 1, 0, 100);
    draw_call("cudaLaunchKernel", 1, 0, 1, 1);
    draw_work("kernel", wrong ? "volta_sgemm_128x64_nn" : "volta_fp16_s884gemm_fp16_128x128_ldg8_f2f_nn", 0,
              7, 1, 99, 1);
}

static void draw_data_parallel(bool wrong)
{
    draw_host("user_annotation", "DataParallel.forward", 1, 0, 30);
    draw_call("cudaLaunchKernel", 1, 0, 1, 1);
    draw_work("kernel", "elementwise", 0, 7, 1, 99, 1);
    draw_call("cudaLaunchKernel", 1, 1, 1, 2);
    draw_work("kernel", "elementwise", wrong ? 1 : 0, wrong ? 7 : 8, 2, 98, 2);
}

static void draw_backend(bool wrong)
{
    trace_builder_current_file(draw_builder)->backend =
        trace_builder_strndup(draw_builder, wrong ? "gloo" : "cpu:gloo,cuda:nccl", wrong ? 4 : 18);
    draw_host("user_annotation", "gloo:all_reduce", 1, 0, 30);
    draw_call("cudaLaunchKernel", 1, 0, 1, 1);
    draw_work("kernel", "elementwise", 0, 7, 1, 99, 1);
}

/* Rank 1 arrives at 60, or at 11, where rank 0 has been since 10. */
static void draw_straggler(bool wrong)
{
    for (int rank = 0; rank < 2; rank++) {
        if (rank == 1)
            draw_file("rank1.json");
        int64_t start_ns = rank == 0 ? 10 : wrong ? 60 : 11;
        trace_builder_current_file(draw_builder)->rank = rank;
        draw_host("cpu_op", "aten::add", 1, 0, 100);
        draw_call("cudaLaunchKernel", 1, 1, 1, 1);
        draw_work("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 0, 7, start_ns, 90 - start_ns, 1);
        draw_text(ARG_COLLECTIVE, "allreduce");
        draw_text(ARG_GROUP_NAME, "0");
        draw_arg(ARG_GROUP_SIZE, 2);
        draw_arg(ARG_SEQ_IN_GROUP, 1);
    }
}

/* 95 of the device's 100 bytes, or 80. */
static void draw_memory_full(bool wrong)
{
    draw_device(100);
    draw_host("cpu_op", "aten::empty", 1, 0, 100);
    draw_memory(50, 1, 0, 0xA00, 10, wrong ? 95 : 80);
}

/* Five steps that keep 9 each; or the fourth frees it. */
static void draw_memory_grows(bool wrong)
{
    int64_t in_use = 0;
    for (int i = 0; i < 5; i++) {
        draw_step(i, 100 * i + 1, 99);
        draw_memory(100 * i + 50, 1, 0, 0xA00 + i, 9, in_use += 9);
        if (!wrong && i == 3)
            draw_memory(100 * i + 60, 1, 0, 0xA00 + i, -9, in_use -= 9);
    }
}

/*
 * No steps, and the operators are over before the work that they queued begins: kernels take all of the device's span,
 * 30..230. None runs while the operators do, which says nothing.
 */
static void work_that_outlasts_the_operators_is_work(void **state)
{
    (void)state;
    draw_begin(&summary_wants);
    draw_host("cpu_op", "aten::add", 1, 0, 20);
    draw_call("cudaLaunchKernel", 1, 0, 1, 1);
    draw_call("cudaLaunchKernel", 1, 2, 1, 2);
    draw_work("kernel", "elementwise", 0, 7, 30, 100, 1);
    draw_work("kernel", "elementwise", 0, 7, 130, 100, 2);
    trace = draw_end();
    answer();
    for (size_t t = 0; t < result->tables.count; t++)
        assert_string_not_equal(result->tables.at[t]->key, "findings");
    release();
}

static void every_rule_finds_and_is_quiet(void **state)
{
    (void)state;
    static const struct {
        const char *rule;
        void (*draw)(bool wrong);
    } cases[] = {
        { "utilization", draw_utilization },
        { "data_loading", draw_data_loading },
        { "communication", draw_communication },
        { "slow_step", draw_slow_step },
        { "copies", draw_copies },
        { "idle_host", draw_idle_host },
        { "idle_launch_latency", draw_idle_latency },
        { "idle_synchronisation", draw_idle_synchronisation },
        { "idle_allocation", draw_idle_allocation },
        { "idle_data_loading", draw_idle_data_loading },
        { "idle_communication", draw_idle_communication },
        { "idle_profiler", draw_idle_profiler },
        { "idle_launch_call", draw_idle_launch_call },
        { "idle_first_use", draw_idle_first_use },
        { "idle_stream_wait", draw_idle_stream_wait },
        { "idle_graph", draw_idle_graph },
        { "idle_queued", draw_idle_queued },
        { "stall", draw_stall },
        { "tensor_cores", draw_tensor_cores },
        { "data_parallel", draw_data_parallel },
        { "backend", draw_backend },
        { "straggler", draw_straggler },
        { "memory_full", draw_memory_full },
        { "memory_grows", draw_memory_grows },
    };
    assert_int_equal(sizeof cases / sizeof *cases, RULES);
    for (size_t i = 0; i < RULES; i++) {
        assert_string_equal(cases[i].rule, summary_rules[i].key);
        for (int wrong = 0; wrong < 2; wrong++) {
            draw_begin(&summary_wants);
            cases[i].draw(wrong);
            trace = draw_end();
            answer();
            size_t found = 0;
            for (size_t t = 0; t < result->tables.count; t++)
                for (size_t row = 0; strcmp(result->tables.at[t]->key, "findings") == 0 &&
                                     row < result->tables.at[t]->row_count;
                     row++) {
                    const struct table *findings = result->tables.at[t];
                    if (strcmp(text_called(findings, row, "rule"), cases[i].rule) != 0)
                        continue;
                    found++;
                    assert_true(number_called(findings, row, "share") >
                                number_called(findings, row, "threshold"));
                    assert_true(strncmp(text_called(findings, row, "see"), "tpa ", 4) == 0);
                    assert_non_null(text_called(findings, row, "advice"));
                }
            if (found != (size_t)wrong)
                fail_msg("%s is found %zu times where it is %s", cases[i].rule, found,
                         wrong ? "wrong" : "fine");
            release();
        }
    }
}

/*
 *   0    10   20   30   40   50
 *   [ train.py(10): step     )      a Python frame, which is no operator
 *    [ aten::mm     )               4..34, of which the two in it take 20 and 18, for they overlap: 30 - 38 is less than 0
 *    [ a      )
 *         [ b       )
 *
 * All of the operators' own times are -8 + 20 + 18 = 30, of which shares are, as in tpa top.
 */
static void without_devices_operators_come_by_their_own_time(void **state)
{
    (void)state;
    draw_begin(&summary_wants);
    draw_host("python_function", "train.py(10): step", 1, 0, 50);
    draw_arg(ARG_PYTHON_ID, 1);
    draw_host("cpu_op", "aten::mm", 1, 4, 30);
    draw_host("cpu_op", "a", 1, 5, 20);
    draw_host("cpu_op", "b", 1, 16, 18);
    trace = draw_end();
    answer();
    struct table *operators = table_called(result, "operators");
    assert_int_equal(operators->row_count, 2);
    assert_string_equal(text_called(operators, 0, "name"), "a");
    assert_int_equal(int_called(operators, 0, "time"), 20);
    assert_float_equal(number_called(operators, 0, "share_of_all"), 20 / 30.0, 1e-12);
    assert_string_equal(text_called(operators, 1, "name"), "b");
    release();
}

/* mm launches 60 and 20, a graph launch without an operator 15, and 5 have no call in the file. */
static void the_most_expensive_operators_come_first(void **state)
{
    (void)state;
    draw_begin(&summary_wants);
    draw_host("cpu_op", "aten::mm", 1, 0, 10);
    draw_call("cudaLaunchKernel", 1, 0, 1, 1);
    draw_call("cudaLaunchKernel", 1, 2, 1, 2);
    draw_call("cudaGraphLaunch", 1, 20, 1, 3);
    draw_work("kernel", "gemm", 0, 7, 1, 60, 1);
    draw_work("gpu_memcpy", "Memcpy DtoD (Device -> Device)", 0, 7, 61, 20, 2);
    draw_work("kernel", "gemm", 0, 7, 81, 15, 3);
    draw_work("kernel", "gemm", 0, 7, 96, 5, DRAW_NO_CALL);
    trace = draw_end();
    answer();
    struct table *operators = table_called(result, "operators");
    assert_int_equal(operators->row_count, 3);
    assert_string_equal(text_called(operators, 0, "name"), "aten::mm");
    assert_int_equal(int_called(operators, 0, "time"), 80);
    assert_float_equal(number_called(operators, 0, "share_of_all"), 0.8, 1e-12);
    assert_int_equal(int_called(operators, 0, "count"), 2);
    assert_string_equal(text_called(operators, 1, "name"), "cudaGraphLaunch");
    assert_string_equal(text_called(operators, 2, "name"), "(launch not recorded)");
    release();
}

/*
 * rank 0         0    10   20   30   40   50   60   70   80   90  100
 *   host         [ ProfilerStep#1                                 )
 *                [ mm   )[ add       )                                   launches at 0..2, 17..19, 20..22
 *   device 0     .[ gemm                                          )      2..100
 *   device 1               [add)          [add)                          20..30, 50..60
 *
 * rank 1
 *   host         [ ProfilerStep#1                                 )
 *                [ item ...                                       )      launch at 0..2, wait 5..95
 *   device 0          [gemm)                                             10..20
 *
 * Device 1 idles 30..50 of its 40. Both devices of rank 0 compute 98 + 20 of 98 + 40.
 * Of the wait of 90 on rank 1 a launch would have taken 2.
 */
static void draw_two_ranks(void)
{
    draw_begin(&summary_wants);
    draw_host("user_annotation", "ProfilerStep#1", 1, 0, 100);
    draw_host("cpu_op", "aten::mm", 1, 0, 15);
    draw_call("cudaLaunchKernel", 1, 0, 2, 1);
    draw_host("cpu_op", "aten::add", 1, 16, 24);
    draw_call("cudaLaunchKernel", 1, 17, 2, 2);
    draw_call("cudaLaunchKernel", 1, 20, 2, 3);
    draw_work("kernel", "gemm", 0, 7, 2, 98, 1);
    draw_work("kernel", "add", 1, 7, 20, 10, 2);
    draw_work("kernel", "add", 1, 7, 50, 10, 3);
    draw_file("second.json");
    draw_host("user_annotation", "ProfilerStep#1", 1, 0, 100);
    draw_host("cpu_op", "aten::item", 1, 0, 99);
    draw_call("cudaLaunchKernel", 1, 0, 2, 1);
    draw_call("cudaDeviceSynchronize", 1, 5, 90, 2);
    draw_work("kernel", "gemm", 0, 7, 10, 10, 1);
    trace = draw_end();
}

static size_t row_of_rule(const struct table *findings, const char *rule)
{
    for (size_t row = 0; row < findings->row_count; row++)
        if (strcmp(text_called(findings, row, "rule"), rule) == 0)
            return row;
    fail_msg("nothing found by %s", rule);
    return 0;
}

static void each_rank_has_figures_and_findings_of_its_own(void **state)
{
    (void)state;
    draw_two_ranks();
    answer_by(SUMMARY_BY_RANK);
    struct table *overview = table_called(result, "overview"), *operators = table_called(result, "operators"),
                 *findings = table_called(result, "findings");
    static const int64_t figures[2][6] = { { 0, 100, 1, 100, 2, 0 }, { 1, 100, 1, 100, 1, 90 } };
    static const char *const keys[] = { "rank",         "host_time", "steps",
                                        "step_average", "devices",   "host_blocked" };
    assert_int_equal(overview->row_count, 2);
    for (size_t row = 0; row < 2; row++)
        for (size_t i = 0; i < 6; i++)
            assert_int_equal(int_called(overview, row, keys[i]), figures[row][i]);
    assert_float_equal(number_called(overview, 0, "computing"), 118.0 / 138.0, 1e-12);
    assert_float_equal(number_called(overview, 0, "idle"), 20.0 / 138.0, 1e-12);
    assert_float_equal(number_called(overview, 1, "computing"), 1.0, 1e-12);

    assert_int_equal(operators->row_count, 3); /* mm and add of rank 0, item of rank 1 */
    assert_string_equal(text_called(operators, 0, "name"), "aten::mm");
    assert_float_equal(number_called(operators, 0, "share_of_all"), 98.0 / 118.0, 1e-12);
    assert_int_equal(int_called(operators, 1, "time"), 20);
    assert_int_equal(int_called(operators, 2, "rank"), 1);
    assert_int_equal(int_called(operators, 2, "time"), 10);

    size_t stall = row_of_rule(findings, "stall");
    assert_int_equal(int_called(findings, stall, "rank"), 1);
    assert_float_equal(number_called(findings, stall, "share"), 0.88, 1e-12);
    result_free(result);

    answer();
    findings = table_called(result, "findings");
    stall = row_of_rule(findings, "stall");
    assert_int_equal(int_called(findings, stall, "rank"), TABLE_INT_MISSING);
    assert_float_equal(number_called(findings, stall, "share"), 0.44, 1e-12); /* of both files */
    release();
}

static void each_device_has_figures_of_its_own(void **state)
{
    (void)state;
    draw_two_ranks();
    answer_by(SUMMARY_BY_DEVICE);
    struct table *overview = table_called(result, "overview"), *operators = table_called(result, "operators");
    static const int64_t places[3][2] = { { 0, 0 }, { 0, 1 }, { 1, 0 } };
    static const double computing[3] = { 1.0, 0.5, 1.0 };
    assert_int_equal(overview->row_count, 3);
    assert_int_equal(operators->row_count, 3);
    for (size_t row = 0; row < 3; row++) {
        assert_int_equal(int_called(overview, row, "rank"), places[row][0]);
        assert_int_equal(int_called(overview, row, "device"), places[row][1]);
        assert_float_equal(number_called(overview, row, "computing"), computing[row], 1e-12);
        assert_int_equal(int_called(operators, row, "device"), places[row][1]);
        assert_float_equal(number_called(operators, row, "share_of_all"), 1.0, 1e-12);
    }
    assert_string_equal(text_called(operators, 1, "name"), "aten::add");
    assert_int_equal(int_called(operators, 1, "count"), 2);
    release();
}

/* Two files that say that they are of one rank are one row. */
static void files_of_one_rank_share_a_row(void **state)
{
    (void)state;
    for (enum summary_by by = SUMMARY_BY_RANK; by <= SUMMARY_BY_DEVICE; by++) {
        draw_begin(&summary_wants);
        for (int file = 0; file < 3; file++) {
            if (file)
                draw_file("another.json");
            trace_builder_current_file(draw_builder)->rank = file == 1 ? 5 : 4;
            draw_host("cpu_op", "aten::mm", 1, 0, 20);
            draw_call("cudaLaunchKernel", 1, 0, 2, 1);
            draw_work("kernel", "gemm", 0, 7, 10, 10, 1);
        }
        trace = draw_end();
        answer_by(by);
        struct table *overview = table_called(result, "overview");
        assert_int_equal(overview->row_count, 2);
        assert_int_equal(int_called(overview, 0, "rank"), 4);
        assert_int_equal(int_called(overview, 1, "rank"), 5);
        release();
    }
}

/* Rank 1 is given before rank 0: steps of 100 and of 40. */
static void ranks_come_in_any_order(void **state)
{
    (void)state;
    for (enum summary_by by = SUMMARY_BY_RANK; by <= SUMMARY_BY_DEVICE; by++) {
        draw_begin(&summary_wants);
        for (int rank = 1; rank >= 0; rank--) {
            if (rank == 0)
                draw_file("another.json");
            trace_builder_current_file(draw_builder)->rank = rank;
            draw_host("user_annotation", "ProfilerStep#1", 1, 0, rank ? 100 : 40);
            draw_call("cudaLaunchKernel", 1, 0, 2, 1);
            draw_work("kernel", "gemm", 0, 7, 2, 20, 1);
        }
        trace = draw_end();
        answer_by(by);
        const struct table *overview = table_called(result, "overview");
        assert_int_equal(overview->row_count, 2);
        for (size_t row = 0; row < 2; row++) {
            int64_t rank = int_called(overview, row, "rank");
            assert_int_equal(rank, 1 - row);
            assert_int_equal(int_called(overview, row, "steps"), 1);
            assert_int_equal(int_called(overview, row, "step_average"), rank ? 100 : 40);
        }
        release();
    }
}

/*
 * Two cycles of rank 4 around one of rank 5; the second is TIMES as long. In each:
 *
 *                    0    10   20   30   40   50   60   70   80   90  100
 *   host             [ ProfilerStep#1                                 )
 *                    [ mm                                             )     launch at 0..2, wait 10..60
 *   device 0         .[ gemm                                          )     2..100
 */
static void draw_cycle(int64_t rank, int64_t times)
{
    trace_builder_current_file(draw_builder)->rank = rank;
    draw_device(0);
    draw_host("user_annotation", "ProfilerStep#1", 1, 0, 100 * times);
    draw_host("cpu_op", "aten::mm", 1, 0, 100 * times);
    draw_call("cudaLaunchKernel", 1, 0, 2, 1);
    draw_call("cudaStreamSynchronize", 1, 10 * times, 50 * times, 2);
    draw_work("kernel", "volta_sgemm_128x64_nn", 0, 7, 2, 100 * times - 2, 1);
}

/* The row of RANK that RULE found; it must be the only one. */
static size_t only_row(const struct table *findings, const char *rule, int64_t rank)
{
    size_t found = SIZE_MAX;
    for (size_t row = 0; row < findings->row_count; row++)
        if (strcmp(text_called(findings, row, "rule"), rule) == 0 &&
            int_called(findings, row, "rank") == rank) {
            assert_true(found == SIZE_MAX);
            found = row;
        }
    assert_true(found != SIZE_MAX);
    return found;
}

/*
 * Rank 4 is 100 + 1000 long, and so are its steps; its waits take 50 + 500, of which two launches would have taken 4.
 * All of the time of its kernels, 98 + 998, which is all of the spans of its device, is of aten::mm.
 */
static void cycles_of_a_rank_are_added_up(void **state)
{
    (void)state;
    for (enum summary_by by = SUMMARY_BY_RANK; by <= SUMMARY_BY_DEVICE; by++) {
        draw_begin(&summary_wants);
        draw_cycle(4, 1);
        draw_file("second.json");
        draw_cycle(5, 1);
        draw_file("third.json");
        draw_cycle(4, 10);
        trace = draw_end();
        answer_by(by);
        const struct table *overview = table_called(result, "overview"),
                           *operators = table_called(result, "operators"),
                           *findings = table_called(result, "findings");
        assert_int_equal(overview->row_count, 2);
        assert_int_equal(int_called(overview, 0, "host_time"), 1100);
        assert_int_equal(int_called(overview, 1, "host_time"), 100);
        assert_int_equal(int_called(overview, 0, "steps"), 2);
        assert_int_equal(int_called(overview, 0, "step_average"), 550);
        assert_int_equal(int_called(overview, 1, "step_average"), 100);
        if (by == SUMMARY_BY_RANK) {
            assert_int_equal(int_called(overview, 0, "devices"), 1);
            assert_int_equal(int_called(overview, 0, "host_blocked"), 550);
        }
        assert_int_equal(operators->row_count, 2);
        assert_int_equal(int_called(operators, 0, "rank"), 4);
        assert_int_equal(int_called(operators, 0, "time"), 98 + 998);
        assert_int_equal(int_called(operators, 0, "count"), 2);
        assert_float_equal(number_called(operators, 0, "share_of_all"), 1.0, 1e-12);
        assert_int_equal(int_called(operators, 1, "rank"), 5);

        size_t row = only_row(findings, "stall", 4);
        assert_int_equal(int_called(findings, row, "time"), 546);
        assert_float_equal(number_called(findings, row, "share"), 546.0 / 1100.0, 1e-12);
        row = only_row(findings, "tensor_cores", 4);
        assert_int_equal(int_called(findings, row, "time"), 98 + 998);
        assert_float_equal(number_called(findings, row, "share"), 1.0, 1e-12);
        only_row(findings, "tensor_cores", 5);
        result_free(result);

        answer(); /* of all: two devices, and three files */
        overview = table_called(result, "overview");
        assert_string_equal(overview->footers.at[0].key, "host_time");
        assert_int_equal(overview->footers.at[0].value.i, 1200);
        assert_string_equal(overview->footers.at[3].key, "devices");
        assert_int_equal(overview->footers.at[3].value.i, 2);
        release();
    }
}

/* A device that idles for the whole of the second, ten times as long, of two cycles: 12..970 of 980 + 98. */
static void idle_time_of_cycles_is_a_share_of_both(void **state)
{
    (void)state;
    draw_begin(&summary_wants);
    for (int cycle = 0; cycle < 2; cycle++) {
        if (cycle)
            draw_file("second.json");
        trace_builder_current_file(draw_builder)->rank = 4;
        draw_call("cudaLaunchKernel", 1, 0, 1, 1);
        draw_work("kernel", "elementwise", 0, 7, 2, cycle ? 10 : 98, 1);
        if (cycle) {
            draw_call("cudaLaunchKernel", 1, 970, 1, 2);
            draw_work("kernel", "elementwise", 0, 7, 972, 10, 2);
        }
    }
    trace = draw_end();
    answer();
    const struct table *findings = table_called(result, "findings");
    size_t row = only_row(findings, "idle_host", 4);
    assert_int_equal(int_called(findings, row, "time"), 958);
    assert_float_equal(number_called(findings, row, "share"), 958.0 / (980.0 + 98.0), 1e-12);
    release();
}

/* The most on a device is no peak of the host; that is told of files without any on a device. */
static void memory_of_the_host_is_not_of_a_device(void **state)
{
    (void)state;
    static const struct {
        int64_t host, device, peak;
        const char *title;
    } cases[] = {
        { 5000, 100, 100, "Most memory on a device" },
        { 5000, 0, 5000, "Most memory on the host" },
        { 0, 100, 100, "Most memory on a device" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int64_t host_number = -1; host_number <= 0; host_number++) {
            draw_begin(&summary_wants);
            draw_host("cpu_op", "aten::empty", 1, 0, 100);
            draw_call("cudaLaunchKernel", 1, 1, 1, 1);
            draw_work("kernel", "gemm", 0, 7, 2, 98, 1);
            if (cases[i].host)
                draw_memory(40, 0, host_number, 0xB00, cases[i].host, cases[i].host);
            if (cases[i].device)
                draw_memory(50, 1, 0, 0xA00, cases[i].device, cases[i].device);
            trace = draw_end();
            answer();
            const struct table *overview = table_called(result, "overview");
            const struct table_footer *last = &overview->footers.at[overview->footers.count - 1];
            assert_string_equal(last->title, cases[i].title);
            assert_int_equal(last->value.i, cases[i].peak);
            result_free(result);

            answer_by(SUMMARY_BY_RANK);
            assert_int_equal(int_called(table_called(result, "overview"), 0, "peak_memory"), cases[i].peak);
            result_free(result);

            answer_by(SUMMARY_BY_DEVICE);
            assert_int_equal(int_called(table_called(result, "overview"), 0, "peak_memory"),
                             cases[i].device ? cases[i].device : TABLE_INT_MISSING);
            release();
        }
}

/* Three ranks of 140 years each, in which a kernel runs at the begin and the other at the end of all. */
static void sums_of_long_files_do_not_overflow(void **state)
{
    (void)state;
    const int64_t far_ns = INT64_C(2200000000000000000);
    static const char *const steps[] = { "ProfilerStep#1", "ProfilerStep#2", "ProfilerStep#3" };
    for (enum summary_by by = SUMMARY_BY_ALL; by <= SUMMARY_BY_DEVICE; by++) {
        draw_begin(&summary_wants);
        for (int file = 0; file < 3; file++) {
            if (file)
                draw_file("another.json");
            draw_work("kernel", "gemm", 0, 7, -far_ns, 1, DRAW_NO_CALL);
            for (int i = 0; i < 3; i++) {
                draw_host("user_annotation", steps[i], 1, 10 * i - far_ns, 10);
                draw_call("cudaLaunchKernel", 1, 10 * i - far_ns, 2, i + 1);
                draw_work("kernel", "ncclDevKernel_AllReduce", 0, 7, far_ns + 10 * i, 1, i + 1);
            }
        }
        trace = draw_end();
        answer_by(by);
        struct table *overview = table_called(result, "overview");
        if (by == SUMMARY_BY_ALL) {
            assert_string_equal(overview->footers.at[0].key, "host_time");
            assert_int_equal(overview->footers.at[0].value.i, INT64_MAX);
        } else {
            assert_int_equal(overview->row_count, 3);
            assert_int_equal(int_called(overview, 2, "host_time"), 2 * far_ns + 21);
        }
        struct table *findings = table_called(result, "findings");
        for (size_t row = 0; row < findings->row_count; row++) {
            double share = number_called(findings, row, "share");
            if (share < 0 || share > 1 || int_called(findings, row, "time") < 0)
                fail_msg("%s: a share of %g", text_called(findings, row, "rule"), share);
        }
        release();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_busy_device_is_no_finding),
        cmocka_unit_test(what_costs_most_comes_first),
        cmocka_unit_test(memory_comes_after_time),
        cmocka_unit_test(every_rule_finds_and_is_quiet),
        cmocka_unit_test(work_that_outlasts_the_operators_is_work),
        cmocka_unit_test(without_devices_operators_come_by_their_own_time),
        cmocka_unit_test(the_most_expensive_operators_come_first),
        cmocka_unit_test(each_rank_has_figures_and_findings_of_its_own),
        cmocka_unit_test(each_device_has_figures_of_its_own),
        cmocka_unit_test(files_of_one_rank_share_a_row),
        cmocka_unit_test(ranks_come_in_any_order),
        cmocka_unit_test(cycles_of_a_rank_are_added_up),
        cmocka_unit_test(idle_time_of_cycles_is_a_share_of_both),
        cmocka_unit_test(memory_of_the_host_is_not_of_a_device),
        cmocka_unit_test(sums_of_long_files_do_not_overflow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
