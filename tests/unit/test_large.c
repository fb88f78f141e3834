/*
 * test_large.c - as many streams, gaps and steps as no run has: what takes a second when it is linear takes hours when it
 * is quadratic, and is killed before.
 */

#include "analyze/kernels.h"
#include "analyze/registry.h"
#include "analyze/launches.h"
#include "summary/summary.h"
#include "tests/unit/drawn.h"
#include <unistd.h>

enum { MANY = 100000, MOST_SECONDS = 300 };

static const struct selection *selection;
static struct result *result;

static void open_result(void)
{
    selection = selection_all(drawn());
    result = scratch_result(result_open(""));
    alarm(MOST_SECONDS);
}

/* Each stream has a copy and, when all others had theirs, a kernel: its gap lies over all that the host does. */
TEST(streams)
{
    draw_begin(&transfers_wants);
    for (int i = 0; i < MANY; i++) {
        draw_host("cpu_op", "aten::mm", 1, 100 * i, 50);
        draw_call("cudaMemcpyAsync", 1, 100 * i + 10, 5, 2 * i);
        draw_work("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", 0, i, 100 * i + 20, 30, 2 * i);
        draw_call("cudaLaunchKernel", 1, 100 * (MANY + i) + 10, 5, 2 * i + 1);
        draw_work("kernel", "gemm", 0, i, 100 * (MANY + i) + 20, 30, 2 * i + 1);
    }
    open_result();
    ask_analysis(&analysis_gpu, drawn(), selection, BY(STREAM), result);
    assert_int_equal(table_called(result, "devices")->row_count, MANY);
    SCOPED_OBJECT const struct gaps *gaps =
        gaps_analyze(drawn(), selection, BY(STREAM), &(struct gaps_options){ 0 });
    assert_int_equal(gaps->count, MANY);
    ask_analysis(&analysis_transfers, drawn(), selection, BY(STREAM), result);
    assert_int_equal(table_called(result, "transfers")->row_count, MANY);
    ask_analysis(&analysis_launches, drawn(), selection, BY(STREAM), result);
    assert_int_equal(table_called(result, "queues")->row_count, MANY);
    ask_analysis(&analysis_kernels, drawn(), selection, BY(STREAM), result);
    assert_int_equal(table_called(result, "kernels")->row_count, MANY);
    alarm(0);
}

/* Each step launches a kernel, a gap after the last, and allocates a block. */
TEST(steps_and_gaps)
{
    draw_begin(&summary_wants);
    for (int i = 0; i < MANY; i++) {
        draw_step(i, 100 * i, 99);
        draw_host("cpu_op", "aten::mm", 1, 100 * i, 50);
        draw_kernel("gemm", 100 * i + 10, 5, 100 * i + 20, 30, i);
        draw_event("cpu_instant_event", "[memory]", DRAW_PROCESS, 1, 100 * i + 20, 0);
        draw_arg(ARG_DEVICE_TYPE, 1);
        draw_arg(ARG_DEVICE_ID, 0);
        draw_arg(ARG_BYTES, 64);
        draw_arg(ARG_ADDRESS, 64 * i);
        draw_arg(ARG_TOTAL_ALLOCATED, 64 * (i + 1));
    }
    open_result();
    SCOPED_OBJECT const struct steps *steps =
        steps_analyze(drawn(), selection, &(struct steps_options){ 0 }, NULL);
    assert_int_equal(steps->count, MANY);
    SCOPED_OBJECT const struct gaps *gaps =
        gaps_analyze(drawn(), selection, BY(DEVICE), &(struct gaps_options){ 0 });
    assert_int_equal(gaps->count, MANY - 1);
    memory_add_tables(drawn(), selection, &(struct memory_options){ 0 }, result);
    assert_int_equal(int_called(table_called(result, "unfreed"), 0, "count"), MANY);
    ask_analysis(&analysis_kernels, drawn(), selection, BY(STEP), result);
    assert_int_equal(table_called(result, "kernels")->row_count, MANY);
    assert_true(summary_add_tables(drawn(), selection, SUMMARY_BY_ALL, result, NULL));
    alarm(0);
}
