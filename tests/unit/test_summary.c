/* test_summary.c - summary/summary.h: what the rules find, and that they are quiet otherwise. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "summary/findings.h"
#include "summary/rules.h"
#include "summary/summary.h"
#include "tests/unit/drawn.h"
#include <inttypes.h>
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
    assert_string_equal(result->notices.at[0].kind, "verdict");
    assert_string_equal(result->answer->verdict,
                        "100.0 % of the GPU's time is computing; aten::mm takes 100.0 % of the work.");
    assert_int_equal(result->answer->bars.count, 1);
    assert_int_equal(result->answer->bars.at[0].parts.count, 1);
    assert_true(result->answer->bars.at[0].parts.at[0].share == 1);
    assert_int_equal(result->answer->findings.count, 0);
    assert_non_null(result->answer->nothing);
    assert_string_equal(result->notices.at[1].kind, "answer"); /* which is that there is none */
    release();
}

static void draw_call_us(const char *name, int64_t start_us, int64_t dur_us, int64_t correlation)
{
    draw_call(name, 1, 1000 * start_us, 1000 * dur_us, correlation);
}

static void draw_work_us(const char *category, const char *name, int64_t start_us, int64_t dur_us,
                         int64_t correlation)
{
    draw_work(category, name, 0, 7, 1000 * start_us, 1000 * dur_us, correlation);
}

static const char *verdict(void)
{
    answer();
    return result->answer->verdict;
}

/* Of each step 30 of 100 in mm and 60 in a collective, or 60 in mm: the step's own time is no operator's. */
static void on_the_host_the_largest_part_of_a_step_is_the_verdict(void **state)
{
    (void)state;
    for (int communicates = 0; communicates < 2; communicates++) {
        draw_begin(&summary_wants);
        for (int64_t step = 0; step < 3; step++) {
            char name[40];
            snprintf(name, sizeof name, "ProfilerStep#%" PRId64, step);
            draw_host("user_annotation", name, 1, 100 * step, 100);
            draw_host("cpu_op", "aten::mm", 1, 100 * step, communicates ? 30 : 60);
            if (communicates)
                draw_host("user_annotation", "gloo:all_reduce", 1, 100 * step + 30, 60);
        }
        trace = draw_end();
        assert_string_equal(verdict(),
                            communicates
                                ? "60.0 % of a step is communication; no GPU was recorded."
                                : "aten::mm takes 60.0 % of the operators' own time; no GPU was recorded.");
        release();
    }
}

/* Kernels of 1 ms with one pause of 10 ms between the second and the third, or pauses of 5 ms between all. */
static void one_long_gap_is_named(void **state)
{
    (void)state;
    for (int once = 0; once < 2; once++) {
        draw_begin(&summary_wants);
        for (int64_t n = 0, us = 0; n < 3; n++) {
            draw_call_us("cudaLaunchKernel", us, 10, n + 1);
            draw_work_us("kernel", "gemm", us + 12, 1000, n + 1);
            us += once ? n == 1 ? 11002 : 1002 : 6002;
        }
        trace = draw_end();
        assert_int_equal(strstr(verdict(), ", in one gap of ") != NULL, once);
        release();
    }
}

/* Neither work whose launch is not in the file, nor a call that launches, is an operator that takes most of the work. */
static void what_is_no_operator_is_not_named(void **state)
{
    (void)state;
    for (int launched = 0; launched < 2; launched++) {
        draw_begin(&summary_wants);
        draw_host("cpu_op", "aten::mm", 2, 0, 100);
        if (launched)
            draw_call("cudaLaunchKernel", 1, 0, 2, 1);
        draw_work("kernel", "gemm", 0, 7, 2, 98, 1);
        trace = draw_end();
        assert_string_equal(verdict(), "100.0 % of the GPU's time is computing.");
        release();
    }
}

static void draw_device(int64_t memory)
{
    *VEC_PUSH(&trace_builder_current_file(draw_builder)->devices) =
        (struct trace_device){ .name = "V100", .total_memory = memory, .compute_major = 7 };
}

/*
 *              0         100        200        300        400        500
 *   host       [ Step#0  )[ Step#1  )[ Step#2  )[ Step#3  )[ Step#4  )     each allocates 9 of the device's 100
 *   stream 7   [ volta_sgemm, launched by mm                          )    in use: 50, 59, 68, 77, 86, 95
 */
static void memory_that_is_nearly_full_and_grows_is_a_remark(void **state)
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
    struct table *remarks = table_called(result, "remarks");
    assert_int_equal(remarks->row_count, 2);
    assert_string_equal(text_called(remarks, 0, "rule"), "memory_full");
    assert_float_equal(number_called(remarks, 0, "share"), 0.95, 1e-12);
    assert_int_equal(int_called(remarks, 0, "bytes"), 95);
    assert_string_equal(text_called(remarks, 0, "device"), "cuda:0");
    assert_string_equal(text_called(remarks, 1, "rule"), "memory_grows");
    assert_int_equal(int_called(remarks, 1, "bytes"), 9);
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

/* Four steps of 100; the last lasts until 600 on the device, which is 200 more than the median, of 600. */
static void draw_slow_step(bool wrong)
{
    for (int i = 0; i < 4; i++)
        draw_step(i, 100 * i + 1, wrong && i == 3 ? 299 : 99);
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

/* Five steps that keep 1 each. The first needs 60 for a while, the last, which ends with 5 in use, no more than these. */
static void growth_is_a_share_of_the_largest_step(void **state)
{
    (void)state;
    draw_begin(&summary_wants);
    draw_device(1000);
    draw_memory(5, 1, 0, 0xF00, 60, 60);
    draw_memory(6, 1, 0, 0xF00, -60, 0);
    for (int i = 0; i < 5; i++) {
        draw_step(i, 100 * i + 1, 99);
        draw_memory(100 * i + 50, 1, 0, 0xA00 + i, 1, i + 1);
    }
    trace = draw_end();
    answer();
    struct table *remarks = table_called(result, "remarks");
    assert_int_equal(remarks->row_count, 1);
    assert_string_equal(text_called(remarks, 0, "rule"), "memory_grows");
    assert_float_equal(number_called(remarks, 0, "share"), 1 / 60.0, 1e-12);
    release();
}

/*
 * Findings with a price. Each drawing has three steps of 1000 us, one after the other; US is the begin of one. What is
 * not drawn is Python. Where devices work, the host waits for them at the end of each step, so that the device decides
 * how long it takes.
 */

static void draw_op_us(const char *category, const char *name, int64_t start_us, int64_t dur_us)
{
    draw_host(category, name, 1, 1000 * start_us, 1000 * dur_us);
}

/* The loop waits 200 us, or 4, for its batch; then an operator. Without the wait a step takes 800 us. */
static void draw_data_loading(bool wrong, int64_t us, int64_t n)
{
    int64_t wait_us = wrong ? 200 : 4;
    (void)n;
    draw_op_us("user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", us, wait_us);
    draw_op_us("cpu_op", "aten::add", us + wait_us, 1000 - wait_us);
}

/*
 *   host       200 launch 210   300 [ aten::item: cudaStreamSynchronize ) 700                 1000
 *   device           210 [ elementwise                         ) 690
 *
 * Without the wait the host goes on at 300: a step takes 600 us. Fine: the work is over at 302, and so is the wait at
 * 304.
 */
static void draw_host_wait(bool wrong, int64_t us, int64_t n)
{
    draw_call_us("cudaLaunchKernel", us + 200, 10, 2 * n + 1);
    draw_work_us("kernel", "elementwise", us + 210, wrong ? 480 : 92, 2 * n + 1);
    draw_op_us("cpu_op", "aten::item", us + 300, wrong ? 400 : 4);
    draw_call_us("cudaStreamSynchronize", us + 300, wrong ? 400 : 4, 2 * n + 2);
    draw_op_us("cpu_op", "aten::add", us + (wrong ? 700 : 304), wrong ? 300 : 696);
}

/*
 *   host     0 launch 10 launch 20 [ cudaDeviceSynchronize                     ) 950       1000
 *   device                20 [ FIRST, 300 us )[ elementwise, 600 us       ) 920
 *
 * Without the first work the second begins at 20: a step takes 700 us. Fine: the first takes 3 us.
 */
static void draw_two_works(bool wrong, const char *category, const char *first, int64_t us, int64_t n)
{
    int64_t first_us = wrong ? 300 : 3;
    draw_call_us(strcmp(category, "kernel") == 0 ? "cudaLaunchKernel" : "cudaMemcpyAsync", us, 10, 3 * n + 1);
    draw_call_us("cudaLaunchKernel", us + 10, 10, 3 * n + 2);
    draw_work_us(category, first, us + 20, first_us, 3 * n + 1);
    draw_work_us("kernel", "elementwise", us + 20 + first_us, 900 - first_us, 3 * n + 2);
    draw_call_us("cudaDeviceSynchronize", us + 20, 930, 3 * n + 3);
}

static void draw_device_copies(bool wrong, int64_t us, int64_t n)
{
    draw_two_works(wrong, "gpu_memcpy", "Memcpy DtoD (Device -> Device)", us, n);
}

static void draw_pinned_copies(bool wrong, int64_t us, int64_t n)
{
    draw_two_works(wrong, "gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", us, n);
}

static void draw_communication(bool wrong, int64_t us, int64_t n)
{
    draw_two_works(wrong, "kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", us, n);
}

/* Ten launches 50 us apart, from 0 to 460, of kernels of 10 us. As one graph they take no time of the host: 540 us. Fine: the
 * device is busy all the time, and waited for. */
static void draw_launches(bool wrong, int64_t us, int64_t n)
{
    if (!wrong) {
        draw_two_works(false, "kernel", "elementwise", us, n);
        return;
    }
    for (int64_t i = 0; i < 10; i++) {
        draw_call_us("cudaLaunchKernel", us + 50 * i, 10, 10 * n + i + 1);
        draw_work_us("kernel", "elementwise", us + 50 * i + 12, 10, 10 * n + i + 1);
    }
    draw_op_us("cpu_op", "aten::add", us + 500, 490);
}

/* cudaMalloc takes 300 us, or 2, between two launches; then an operator of 400 us: 700 us without it. */
static void draw_allocation(bool wrong, int64_t us, int64_t n)
{
    int64_t malloc_us = wrong ? 300 : 2;
    draw_call_us("cudaLaunchKernel", us, 10, 3 * n + 1);
    draw_work_us("kernel", "elementwise", us + 12, 10, 3 * n + 1);
    draw_call_us("cudaMalloc", us + 20, malloc_us, 3 * n + 2);
    draw_call_us("cudaLaunchKernel", us + 20 + malloc_us, 10, 3 * n + 3);
    draw_work_us("kernel", "elementwise", us + 32 + malloc_us, 10, 3 * n + 3);
    draw_op_us("cpu_op", "aten::add", us + 600, 400);
}

/* A matrix product of 600 us, which the host waits for. In half the time: 700 us a step. Fine: it uses tensor cores. */
static void draw_tensor_cores(bool wrong, int64_t us, int64_t n)
{
    if (n == 0)
        draw_device(0);
    draw_op_us("cpu_op", "aten::mm", us, 30);
    draw_call_us("cudaLaunchKernel", us + 10, 10, 2 * n + 1);
    draw_work_us("kernel", wrong ? "volta_sgemm_128x64_nn" : "volta_fp16_s884gemm_fp16_128x128_ldg8_f2f_nn",
                 us + 20, 600, 2 * n + 1);
    draw_call_us("cudaDeviceSynchronize", us + 30, 600, 2 * n + 2);
    draw_op_us("cpu_op", "aten::add", us + 630, 370);
}

/* A copy whose call blocks from 100 to 500; 10 us is what a call takes that does not. Fine: it is of pinned memory. */
static void draw_pageable_copies(bool wrong, int64_t us, int64_t n)
{
    draw_call_us("cudaMemcpyAsync", us + 100, wrong ? 400 : 10, n + 1);
    draw_work_us("gpu_memcpy", wrong ? "Memcpy HtoD (Pageable -> Device)" : "Memcpy HtoD (Pinned -> Device)",
                 us + 110, 380, n + 1);
    draw_op_us("cpu_op", "aten::add", us + 500, 500);
}

/* Three launches of 10 us; then one of 310 us, or 12, which loads a kernel that is new in each step: 700 us without that. */
static void draw_first_use(bool wrong, int64_t us, int64_t n)
{
    int64_t load_us = wrong ? 310 : 12;
    char name[32];
    for (int64_t i = 0; i < 3; i++) {
        draw_call_us("cudaLaunchKernel", us + 20 * i, 10, 4 * n + i + 1);
        draw_work_us("kernel", "elementwise", us + 20 * i + 12, 5, 4 * n + i + 1);
    }
    snprintf(name, sizeof name, "reduce_%d", (int)n);
    draw_call_us("cudaLaunchKernel", us + 60, load_us, 4 * n + 4);
    draw_work_us("kernel", name, us + 62 + load_us, 5, 4 * n + 4);
    draw_op_us("cpu_op", "aten::add", us + 600, 400);
}

/* ROW of the findings that has RULE; SIZE_MAX when none has. */
static size_t row_of(const char *rule)
{
    for (size_t t = 0; t < result->tables.count; t++)
        for (size_t row = 0;
             strcmp(result->tables.at[t]->key, "findings") == 0 && row < result->tables.at[t]->row_count;
             row++)
            if (strcmp(text_called(result->tables.at[t], row, "rule"), rule) == 0)
                return row;
    return SIZE_MAX;
}

static void every_finding_has_its_price(void **state)
{
    (void)state;
    static const struct {
        const char *rule;
        void (*draw)(bool wrong, int64_t us, int64_t n);
        int64_t saves_us;
    } cases[] = {
        { "data_loading", draw_data_loading, 200 },
        { "host_wait", draw_host_wait, 400 },
        { "pageable_copies", draw_pageable_copies, 390 },
        { "pinned_copies", draw_pinned_copies, 300 },
        { "device_copies", draw_device_copies, 300 },
        { "communication", draw_communication, 300 },
        { "launches", draw_launches, 460 },
        { "allocation", draw_allocation, 300 },
        { "tensor_cores", draw_tensor_cores, 300 },
        { "first_use", draw_first_use, 300 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int wrong = 0; wrong < 2; wrong++) {
            draw_begin(&summary_wants);
            for (int64_t n = 0; n < 3; n++) {
                char name[32];
                snprintf(name, sizeof name, "ProfilerStep#%d", (int)n);
                draw_host("user_annotation", name, 1, 1000000 * n, 1000000);
                cases[i].draw(wrong, 1000 * n, n);
            }
            trace = draw_end();
            answer();
            size_t row = row_of(cases[i].rule);
            if ((row != SIZE_MAX) != wrong)
                fail_msg("%s is %sfound where it is %s", cases[i].rule, wrong ? "not " : "",
                         wrong ? "wrong" : "fine");
            if (wrong) {
                const struct table *findings = table_called(result, "findings");
                if (llabs(int_called(findings, row, "saves") - 1000 * cases[i].saves_us) > 1)
                    fail_msg("%s saves %lld ns", cases[i].rule,
                             (long long)int_called(findings, row, "saves"));
                assert_float_equal(number_called(findings, row, "saves_share"),
                                   (double)cases[i].saves_us / 1000, 2e-6);
                assert_non_null(text_called(findings, row, "advice"));
                assert_true(strncmp(text_called(findings, row, "check"), "tpa ", 4) == 0);
            }
            release();
        }
}

/*
 *   host     0 [ loader ) 300 cudaDeviceSynchronize 310     ten launches of 10 us, 60 us apart, from 400     1000
 *   device                                                  ten kernels of 50 us, each 12 us after its launch began
 *
 * Without the loader's wait a step takes 700 us. As a graph, with or without it, the device decides: from the
 * synchronisation 90 us to the launch, 12 to the first kernel, 500 of kernels and 90 between them make 692. The graph
 * alone saves 308, since the batch is loaded beside the device; on top of the loader it saves 8.
 */
static void a_graph_is_priced_on_top_of_the_others(void **state)
{
    (void)state;
    draw_begin(&summary_wants);
    for (int64_t n = 0; n < 4; n++) {
        char name[32];
        int64_t us = 1000 * n;
        snprintf(name, sizeof name, "ProfilerStep#%d", (int)n);
        draw_op_us("user_annotation", name, us, 1000);
        draw_op_us("user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", us, 300);
        draw_call_us("cudaDeviceSynchronize", us + 300, 10, 100 * n + 1);
        for (int64_t i = 0; i < 10; i++) {
            draw_call_us("cudaLaunchKernel", us + 400 + 60 * i, 10, 100 * n + i + 2);
            draw_work_us("kernel", "elementwise", us + 412 + 60 * i, 50, 100 * n + i + 2);
        }
    }
    trace = draw_end();
    answer();
    const struct table *findings = table_called(result, "findings");
    assert_int_equal(findings->row_count, 2);
    size_t loading = row_of("data_loading"), graph = row_of("launches");
    assert_int_equal(loading, 0);
    assert_int_equal(int_called(findings, loading, "saves"), 300000);
    assert_string_equal(findings->footers.at[1].key, "together");
    assert_int_equal(findings->footers.at[1].value.i, 692000);
    assert_int_equal(int_called(findings, graph, "saves"), 8000);
    assert_string_equal(text_called(findings, graph, "check"), "tpa whatif --no-data-wait --cuda-graph");
    release();
}

/*
 * Three times: a launch, cudaMalloc for FIRST_US, then LATER_US and LATER_US, and another launch, which at first takes LOAD_US.
 * The answer's first sentence.
 */
static const char *verdict_of_mallocs(int64_t first_us, int64_t later_us, int64_t load_us)
{
    draw_begin(&summary_wants);
    for (int64_t n = 0, us = 0; n < 3; n++) {
        int64_t malloc_us = n == 0 ? first_us : later_us, launch_us = n == 0 ? load_us : 10;
        draw_call_us("cudaLaunchKernel", us, 10, 3 * n + 1);
        draw_work_us("kernel", "elementwise", us + 12, 5, 3 * n + 1);
        draw_call_us("cudaMalloc", us + 20, malloc_us, 3 * n + 2);
        draw_call_us("cudaLaunchKernel", us + 20 + malloc_us, launch_us, 3 * n + 3);
        draw_work_us("kernel", n == 0 ? "reduce" : "elementwise", us + 22 + malloc_us + launch_us, 5,
                     3 * n + 3);
        us += 28 + malloc_us + launch_us;
    }
    trace = draw_end();
    answer();
    for (size_t i = 0; i < result->notices.count; i++)
        if (strcmp(result->notices.at[i].kind, "verdict") == 0)
            return result->notices.at[i].text;
    return "";
}

/*
 * A first cudaMalloc of 900 us where 1 is usual, and a first launch of 200 us where 10 are. Without both that launch is at 21-31, and
 * its kernel, 2 after that call as recorded, at 33-38: the first turn takes 39 instead of 1128, and 1089 of 1205 us are saved. Without
 * cudaMalloc besides all that comes 3 us earlier, which is no finding; alone it would be 902.
 */
static void allocation_is_priced_on_top_of_first_use(void **state)
{
    (void)state;
    assert_non_null(
        strstr(verdict_of_mallocs(900, 1, 200), "allocates or frees memory: mostly at first use."));
    const struct table *findings = table_called(result, "findings");
    assert_int_equal(int_called(findings, row_of("first_use"), "saves"), 1089000);
    assert_int_equal(row_of("allocation"), SIZE_MAX);
    release();
    assert_non_null(strstr(verdict_of_mallocs(300, 300, 10), "allocates or frees memory."));
    assert_int_equal(row_of("first_use"), SIZE_MAX);
    findings = table_called(result, "findings");
    assert_int_equal(int_called(findings, row_of("allocation"), "saves"), 900000);
    release();
}

/* With one rank nothing is known of waits for collectives on the host: their price is unknown, not 0. */
static void communication_on_the_host_of_one_rank_is_not_looked_at(void **state)
{
    (void)state;
    for (int on_host = 0; on_host < 2; on_host++) {
        draw_begin(&summary_wants);
        draw_op_us("cpu_op", "aten::mm", 0, 100);
        draw_host("user_annotation", on_host ? "gloo:all_reduce" : "reduce", 2, 100000, 500000);
        draw_op_us("cpu_op", "aten::add", 700, 100);
        trace = draw_end();
        answer();
        bool said = false;
        for (size_t i = 0; i < result->notices.count; i++)
            said |= strstr(result->notices.at[i].text, "communication on the host") != NULL;
        assert_int_equal(said, on_host);
        release();
    }
}

/*
 *   host     0 launch 10     100 [ cudaDeviceSynchronize      ) 900
 *   device        20 [ elementwise                         ) 890
 *
 * Nothing is launched after the wait: it is the end of the recording and saves nothing.
 */
static void the_wait_that_ends_the_recording_saves_nothing(void **state)
{
    (void)state;
    draw_begin(&summary_wants);
    draw_call_us("cudaLaunchKernel", 0, 10, 1);
    draw_work_us("kernel", "elementwise", 20, 870, 1);
    draw_call_us("cudaDeviceSynchronize", 100, 800, 2);
    trace = draw_end();
    answer();
    assert_true(row_of("host_wait") == SIZE_MAX);
    size_t told = 0;
    for (size_t i = 0; i < result->notices.count; i++)
        told += strcmp(result->notices.at[i].kind, "end_of_recording") == 0;
    assert_int_equal(told, 1);
    release();
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
        { "slow_step", draw_slow_step },     { "data_parallel", draw_data_parallel },
        { "backend", draw_backend },         { "straggler", draw_straggler },
        { "memory_full", draw_memory_full }, { "memory_grows", draw_memory_grows },
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
                for (size_t row = 0; strcmp(result->tables.at[t]->key, "remarks") == 0 &&
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
 *   [ train.py(10): step     )      a Python function: 50 - 30 = 20
 *    [ aten::mm     )               4..34, of which the two in it take 20 and 18, for they overlap: 30 - 38 is less than 0
 *    [ a      )
 *         [ b       )
 *
 * All own times are 20 - 8 + 20 + 18 = 50, of which shares are, as in tpa top --python.
 */
static void without_devices_operators_and_functions_come_by_their_own_time(void **state)
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
    assert_int_equal(operators->row_count, 3);
    assert_string_equal(text_called(operators, 0, "name"), "a");
    assert_int_equal(int_called(operators, 0, "time"), 20);
    assert_float_equal(number_called(operators, 0, "share_of_all"), 20 / 50.0, 1e-12);
    assert_string_equal(text_called(operators, 1, "name"), "train.py(10): step");
    assert_int_equal(int_called(operators, 1, "time"), 20);
    assert_string_equal(text_called(operators, 2, "name"), "b");
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

static void each_rank_has_figures_of_its_own(void **state)
{
    (void)state;
    draw_two_ranks();
    answer_by(SUMMARY_BY_RANK);
    struct table *overview = table_called(result, "overview"), *operators = table_called(result, "operators");
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

/*
 * Rank 4 is 100 + 1000 long, and so are its steps; its waits take 50 + 500. All of the time of its kernels, 98 + 998,
 * is of aten::mm. Of all ranks, which ran side by side, the recording is as long as that of the longest.
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
                           *operators = table_called(result, "operators");
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
        result_free(result);

        answer(); /* of all: two devices, and three files */
        overview = table_called(result, "overview");
        assert_string_equal(overview->footers.at[0].key, "host_time");
        assert_int_equal(overview->footers.at[0].value.i, 1100);
        assert_string_equal(overview->footers.at[3].key, "devices");
        assert_int_equal(overview->footers.at[3].value.i, 2);
        release();
    }
}

/* The most on a device is no peak of the host; that is reported of files without any on a device. */
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
            assert_int_equal(overview->footers.at[0].value.i, 2 * far_ns + 21);
        } else {
            assert_int_equal(overview->row_count, 3);
            assert_int_equal(int_called(overview, 2, "host_time"), 2 * far_ns + 21);
        }
        for (size_t t = 0; t < result->tables.count; t++)
            for (size_t row = 0;
                 strcmp(result->tables.at[t]->key, "findings") == 0 && row < result->tables.at[t]->row_count;
                 row++) {
                const struct table *findings = result->tables.at[t];
                double share = number_called(findings, row, "saves_share");
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
        cmocka_unit_test(on_the_host_the_largest_part_of_a_step_is_the_verdict),
        cmocka_unit_test(one_long_gap_is_named),
        cmocka_unit_test(what_is_no_operator_is_not_named),
        cmocka_unit_test(every_finding_has_its_price),
        cmocka_unit_test(a_graph_is_priced_on_top_of_the_others),
        cmocka_unit_test(allocation_is_priced_on_top_of_first_use),
        cmocka_unit_test(communication_on_the_host_of_one_rank_is_not_looked_at),
        cmocka_unit_test(the_wait_that_ends_the_recording_saves_nothing),
        cmocka_unit_test(memory_that_is_nearly_full_and_grows_is_a_remark),
        cmocka_unit_test(growth_is_a_share_of_the_largest_step),
        cmocka_unit_test(every_rule_finds_and_is_quiet),
        cmocka_unit_test(work_that_outlasts_the_operators_is_work),
        cmocka_unit_test(without_devices_operators_and_functions_come_by_their_own_time),
        cmocka_unit_test(the_most_expensive_operators_come_first),
        cmocka_unit_test(each_rank_has_figures_of_its_own),
        cmocka_unit_test(each_device_has_figures_of_its_own),
        cmocka_unit_test(files_of_one_rank_share_a_row),
        cmocka_unit_test(ranks_come_in_any_order),
        cmocka_unit_test(cycles_of_a_rank_are_added_up),
        cmocka_unit_test(memory_of_the_host_is_not_of_a_device),
        cmocka_unit_test(sums_of_long_files_do_not_overflow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
