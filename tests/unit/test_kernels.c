/* test_kernels.c - analyze/kernels.h: a row per kernel, over all its callers. */

#include "analyze/kernels.h"
#include "analyze/registry.h"
#include "tests/unit/drawn.h"

static const struct trace_wants *drawn_wants = &kernels_wants;

static struct result *result;
static struct table *table;

static void draw_shape(const char *grid, int64_t registers)
{
    draw_text(ARG_GRID, grid);
    draw_text(ARG_BLOCK, "[128,1,1]");
    draw_arg(ARG_REGISTERS, registers);
    draw_arg(ARG_SHARED_MEMORY, 0);
}

/*
 *               0    10   20   30   40   50   60   70
 *   host        [aten::mm )[aten::add)
 *                l1 l2      l3                            l1..l3: launches
 *   stream 7         [gemm)[ gemm    )[gemm)              10..15, 20..30 (operator mm), 30..35 (add)
 *   stream 9                               [add)          40..44, launched before recording
 *   stream 7                                    [Memset)  no kernel
 */
static void draw(unsigned by)
{
    draw_host("cpu_op", "aten::mm", 1, 0, 10);
    draw_host("cpu_op", "aten::add", 1, 10, 10);
    draw_call("cudaLaunchKernel", 1, 1, 2, 1);
    draw_call("cudaLaunchKernel", 1, 4, 2, 2);
    draw_call("cudaLaunchKernel", 1, 12, 2, 3);
    draw_work("kernel", "gemm", 0, 7, 10, 5, 1);
    draw_shape("[8,1,1]", 32);
    draw_decimal(ARG_OCCUPANCY, 50);
    draw_work("kernel", "gemm", 0, 7, 20, 10, 2);
    draw_shape("[64,2,1]", 64);
    draw_decimal(ARG_OCCUPANCY, 20);
    draw_work("kernel", "gemm", 0, 7, 30, 5, 3);
    draw_shape("[8,1,1]", 32);
    draw_work("kernel", "_ZN3addEv", 0, 9, 40, 4, 77);
    draw_work("gpu_memset", "Memset (Device)", 0, 7, 50, 10, DRAW_NO_CALL);
    const struct selection *selection = selection_all(drawn());
    result = scratch_result(result_open("tpa.kernels/1"));
    ask_analysis(&analysis_kernels, drawn(), selection, by, result);
    table = table_called(result, "kernels");
}

/* gemm: 5, 10, 5: total 20 of 24, mean 6.67, median 5; squares 2 * 2.78 + 11.11 = 16.67, over 2 is 8.33, root 2.89. */
TEST(a_row_per_kernel)
{
    draw(0);
    assert_int_equal(table->row_count, 2);
    assert_row(table, 0, "name=gemm, count=3, total=20");
    assert_float_equal(number_called(table, 0, "share"), 20.0 / 24, 1e-12);
    assert_row(table, 0, "average=7, median=5, min=5, max=10, stddev=3");
    assert_string_equal(text_called(table, 0, "operators"), "aten::mm, aten::add");
}

/* 8x1x1 took 10 in two launches, 64x2x1 took 10 in one: the first to run wins a tie. */
TEST(the_shape_is_that_with_the_most_time)
{
    draw(0);
    assert_row(table, 0, "shapes=2, grid=8x1x1, block=128x1x1, registers=32");
    assert_true(table_is_missing(table, 1, (size_t)table_find_column(table, "registers", 9)));
}

/* One launch each of two operators and two shapes, equally long; the file tells the later one first. */
TEST(of_equals_the_first_to_run_is_named_first)
{
    draw_host("cpu_op", "aten::add", 1, 10, 10);
    draw_host("cpu_op", "aten::mm", 1, 0, 10);
    draw_call("cudaLaunchKernel", 1, 11, 2, 2);
    draw_call("cudaLaunchKernel", 1, 1, 2, 1);
    draw_work("kernel", "gemm", 0, 7, 30, 5, 2);
    draw_shape("[8,1,1]", 32);
    draw_work("kernel", "gemm", 0, 7, 20, 5, 1);
    draw_shape("[64,1,1]", 64);
    const struct selection *selection = selection_all(drawn());
    result = scratch_result(result_open("tpa.kernels/1"));
    ask_analysis(&analysis_kernels, drawn(), selection, 0, result);
    table = table_called(result, "kernels");
    assert_row(table, 0, "grid=64x1x1, registers=64");
    assert_string_equal(text_called(table, 0, "operators"), "aten::mm, aten::add");
}

/* 50 % for 5, 20 % for 10: (250 + 200) / 15 = 30 %. The third tells none. */
TEST(occupancy_is_weighted_by_time)
{
    draw(0);
    assert_float_equal(number_called(table, 0, "occupancy"), 0.3, 1e-12);
}

TEST(a_kernel_launched_before_recording_is_there)
{
    draw(0);
    assert_row(table, 1, "operators=(launch not recorded), total=4");
}

TEST(rows_by_shape_operator_and_stream)
{
    draw(KERNELS_BY_SHAPE);
    assert_int_equal(table->row_count, 3);
    assert_int_equal(int_called(table, 0, "total"), 10);
    assert_int_equal(int_called(table, 1, "total"), 10);

    draw(BY(OP));
    assert_int_equal(table->row_count, 3);
    assert_row(table, 0, "op=aten::mm, total=15");
    assert_string_equal(text_called(table, 2, "op"), "(no operator)");

    draw(BY(STREAM));
    assert_int_equal(table->row_count, 2);
    assert_int_equal(int_called(table, 0, "stream"), 7);
    assert_int_equal(int_called(table, 1, "stream"), 9);
}

/* Launched in step 1, twice, and after it; the second runs only in step 2. */
TEST(steps_have_what_they_launched)
{
    draw_step(1, 0, 10);
    draw_step(2, 10, 10);
    draw_call("cudaLaunchKernel", 1, 1, 1, 1);
    draw_call("cudaLaunchKernel", 1, 2, 1, 2);
    draw_call("cudaLaunchKernel", 1, 30, 1, 3);
    draw_work("kernel", "gemm", 0, 7, 3, 5, 1);
    draw_work("kernel", "gemm", 0, 7, 12, 5, 2);
    draw_work("kernel", "gemm", 0, 7, 31, 1, 3);
    const struct selection *selection = selection_all(drawn());
    result = scratch_result(result_open("tpa.kernels/1"));
    ask_analysis(&analysis_kernels, drawn(), selection, BY(STEP), result);
    const struct table *kernels = table_called(result, "kernels");
    assert_int_equal(kernels->row_count, 2);
    assert_row(kernels, 0, "step=1, total=10");
    assert_row(kernels, 1, "step=-, total=1");
}
