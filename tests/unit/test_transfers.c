/* test_transfers.c - analyze/transfers.h: copies by kind, and who waits for what. */

#include "trace/call_names.h"
#include "analyze/registry.h"
#include "analyze/transfers.h"
#include "tests/unit/drawn.h"

static const struct trace_wants *drawn_wants = &transfers_wants;

static struct result *result;
static struct table *transfers, *stalls;

static void answer_by(struct selection_query query, unsigned by)
{
    const struct selection *selection = scratch_selection(drawn(), query);
    result = scratch_result(result_open("tpa.transfers/1"));
    ask_analysis(&analysis_transfers, drawn(), selection, by, result);
    transfers = table_called(result, "transfers");
    stalls = table_called(result, "stalls");
}

static void answer(struct selection_query query)
{
    answer_by(query, TRANSFERS_BY_DEFAULT);
}

/* The row of TABLE whose COLUMN is TEXT. */
static size_t row_with(const struct table *table, const char *column, const char *text)
{
    for (size_t row = 0; row < table->row_count; row++)
        if (strcmp(text_called(table, row, column), text) == 0)
            return row;
    fail_msg("no row with %s", text);
    return 0;
}

/*
 *               0    10   20   30   40   50   60   70   80   90   100
 *   host        [train.py(3): step                                      )
 *                [ to      )   [ item               )  [ sync     )         to 1..20, item 30..52, sync 60..80
 *                 [ memcpy)      l   [ memcpy ) [s  )                       memcpy 2..18; launch 31..33,
 *                                                                           memcpy 35..41, sync 42..52
 *   stream 7        [HtoD )       [ gemm   )[DtoH)   [ gemm     )           HtoD 6..16, gemm 34..44, DtoH 44..50,
 *                                                                           gemm 56..78 (launched at 54)
 *
 * to waits 16 in the copy of pageable memory; item 6 in the call that copies and 10 in the synchronisation, which waits
 * for the copy; cudaDeviceSynchronize 20, for gemm. A launch takes 2.
 */
static void draw(void)
{
    draw_host("python_function", "train.py(3): step", 1, 0, 100);
    draw_host("cpu_op", "aten::to", 1, 1, 19);
    draw_host("cpu_op", "aten::copy_", 1, 1, 18);
    draw_call("cudaMemcpyAsync", 1, 2, 16, 1);
    draw_work("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", 0, 7, 6, 10, 1);
    draw_arg(ARG_BYTES, 40);
    draw_host("python_function", "torch/_tensor.py(9): item", 1, 29, 24);
    draw_host("cpu_op", "aten::item", 1, 30, 22);
    draw_call("cudaLaunchKernel", 1, 31, 2, 2);
    draw_call("cudaMemcpyAsync", 1, 35, 6, 3);
    draw_call("cudaStreamSynchronize", 1, 42, 10, 4);
    draw_work("kernel", "gemm", 0, 7, 34, 10, 2);
    draw_work("gpu_memcpy", "Memcpy DtoH (Device -> Pageable)", 0, 7, 44, 6, 3);
    draw_arg(ARG_BYTES, 3);
    draw_kernel("gemm", 54, 2, 56, 22, 5);
    draw_call("cudaDeviceSynchronize", 1, 60, 20, 6);
}

/* HtoD: 40 bytes in 10 ns are 4 GB/s. No kernel runs beside it. */
TEST(copies_by_direction_and_memory)
{
    draw();
    answer((struct selection_query){ 0 });
    assert_int_equal(transfers->row_count, 2);
    assert_row(transfers, 0, "direction=HtoD, memory=pageable, time=10, exposed=10, blocked=16");
    assert_float_equal(number_called(transfers, 0, "bandwidth"), 4, 1e-12);
    assert_row(transfers, 1, "direction=DtoH, exposed=6");
    assert_int_equal(int_called(transfers, 1, "blocked"), 6 + 10);
}

TEST(stalls_by_operator_and_cause)
{
    draw();
    answer((struct selection_query){ 0 });
    assert_int_equal(stalls->row_count, 4);
    size_t kernel = row_with(stalls, "cause", "wait for kernels");
    assert_int_equal(kernel, 0); /* the costliest comes first */
    assert_row(stalls, kernel, "operator=cudaDeviceSynchronize, blocked=20");
    size_t to = row_with(stalls, "operator", "aten::to");
    assert_row(stalls, to, "cause=pageable copy, transfer=HtoD pageable, blocked=16");
    assert_int_equal(int_called(stalls, to, "won"), 14); /* but for a launch of 2 */
    assert_int_equal(int_called(stalls, to, "bytes"), 40);
    size_t wait = row_with(stalls, "cause", "wait for a copy");
    assert_row(stalls, wait, "operator=aten::item, blocked=10");
    assert_int_equal(stalls->footers.at[0].value.i, 20 + 16 + 6 + 10);
}

/* PyTorch's own frame is innermost, but the line is the user's. */
TEST(stalls_name_the_line)
{
    draw();
    answer((struct selection_query){ 0 });
    size_t wait = row_with(stalls, "cause", "wait for a copy");
    assert_string_equal(text_called(stalls, wait, "line"), "train.py(3): step");
}

/*
 *               0    10   20   30   40
 *   host        l l [ sync stream 7   )     waits for stream 7 only, as its event on stream 7 tells
 *   stream 7      [ gemm  )                 4..20
 *   stream 9       [ HtoD        )          5..30
 *   host 2           [HostAlloc) [memcpy)   10..18; a synchronous copy of pinned memory 25..35
 *   stream 9                       [DtoH]   30..34
 */
TEST(a_stream_is_waited_for_alone)
{
    draw_call("cudaLaunchKernel", 1, 0, 1, 1);
    draw_call("cudaMemcpyAsync", 1, 2, 1, 2);
    draw_call("cudaStreamSynchronize", 1, 4, 36, 3);
    draw_work("kernel", "gemm", 0, 7, 4, 16, 1);
    draw_work("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", 0, 9, 5, 25, 2);
    draw_work("cuda_sync", "Stream Sync", 0, 7, 4, 16, 3);
    draw_call("cudaHostAlloc", 2, 10, 8, 4);
    draw_call("cudaMemcpy", 2, 25, 10, 5);
    draw_work("gpu_memcpy", "Memcpy DtoH (Device -> Pinned)", 0, 9, 30, 4, 5);
    answer((struct selection_query){ 0 });
    assert_int_equal(stalls->row_count, 3);
    assert_string_equal(text_called(stalls, 0, "cause"), "wait for kernels");
    assert_row(stalls, 1, "cause=synchronous copy, blocked=10");
    assert_string_equal(text_called(stalls, 2, "cause"), "pinning");
    assert_int_equal(int_called(transfers, row_with(transfers, "direction", "HtoD"), "blocked"), 0);
    assert_int_equal(int_called(transfers, row_with(transfers, "direction", "DtoH"), "blocked"), 10);
}

/*
 *               0    10   20   30   40   50
 *   host        [ MyFunction                )   an operator, whose Python code synchronises
 *               [ torch/cuda.py: synchronize)
 *                [ sync                ) [H)    2..42 for streams 7 and 9, as two events tell; H: 45..49, HostAlloc, in
 *                                        [h)    which the driver's cuMemHostAlloc runs, 46..48
 *   stream 9        [ DtoH )                    4..20
 *   stream 7        [ gemm )                    3..20: of those that end together, the one that began last
 *   stream 8        [ gemm    )                 4..30: not waited for
 */
TEST(waits_for_several_streams_below_python)
{
    draw_host("cpu_op", "MyFunction", 1, 0, 50);
    draw_host("python_function", "torch/cuda/__init__.py(9): synchronize", 1, 1, 49);
    draw_work("kernel", "gemm", 0, 8, 4, 26, DRAW_NO_CALL);
    draw_work("gpu_memcpy", "Memcpy DtoH (Device -> Pinned)", 0, 9, 4, 16, DRAW_NO_CALL);
    draw_work("kernel", "gemm", 0, 7, 3, 17, DRAW_NO_CALL);
    draw_call("cudaDeviceSynchronize", 1, 2, 40, 3);
    draw_work("cuda_sync", "Stream Sync", 0, 7, 2, 40, 3);
    draw_work("cuda_sync", "Stream Sync", 0, 9, 2, 40, 3);
    draw_call("cudaHostAlloc", 1, 45, 4, 4);
    draw_call("cuMemHostAlloc", 1, 46, 2, 5);
    answer((struct selection_query){ 0 });
    assert_int_equal(stalls->row_count, 2);
    assert_row(stalls, 0, "operator=MyFunction, cause=wait for a copy");
    assert_row(stalls, 1, "operator=MyFunction, cause=pinning");
}

/* One call copies from 10 on to the host, from 20 on to device 0, whose stream comes first in the file: it counts for the first. */
TEST(a_call_that_copied_twice_counts_for_the_first_copy)
{
    draw_call("cudaMemcpy", 1, 0, 30, 1);
    draw_work("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", 0, 7, 20, 5, 1);
    draw_work("gpu_memcpy", "Memcpy DtoH (Device -> Pinned)", 0, 9, 10, 5, 1);
    answer((struct selection_query){ 0 });
    assert_int_equal(stalls->row_count, 1);
    assert_string_equal(text_called(stalls, 0, "transfer"), "DtoH pinned");
    assert_int_equal(int_called(transfers, row_with(transfers, "direction", "DtoH"), "blocked"), 30);
    assert_int_equal(int_called(transfers, row_with(transfers, "direction", "HtoD"), "blocked"), 0);
}

/*
 * The driver's calls in the runtime's. What only begins within another (25..40) is no part of it, nor is
 * what lies in it on another thread (2).
 */
TEST(a_wait_within_a_wait_does_not_count)
{
    draw_call("cuCtxSynchronize", 1, 11, 18, 2);
    draw_call("cudaDeviceSynchronize", 1, 10, 20, 1);
    draw_call("cuCtxSynchronize", 1, 10, 20, 3);
    draw_call("cudaStreamSynchronize", 1, 25, 15, 4);
    draw_call("cudaStreamSynchronize", 2, 12, 2, 5);
    answer((struct selection_query){ 0 });
    assert_int_equal(stalls->row_count, 2);
    size_t device = row_with(stalls, "call", "cudaDeviceSynchronize");
    assert_row(stalls, device, "count=1, blocked=20");
    size_t stream = row_with(stalls, "call", "cudaStreamSynchronize");
    assert_row(stalls, stream, "count=2, blocked=17");
}

/* Work launched after the synchronisation began, or over before it began, is not what it waits for; also where no work ends in it. */
TEST(a_wait_without_work_is_empty)
{
    for (int64_t start = 18; start <= 28; start += 10) {
        draw_call("cudaLaunchKernel", 1, 0, 1, 1);
        draw_call("cudaDeviceSynchronize", 1, 10, 20, 2);
        draw_call("cudaLaunchKernel", 2, 15, 1, 3);
        draw_work("kernel", "k", 0, 7, 2, 8, 1);
        draw_work("kernel", "k", 0, 7, start, 4, 3);
        answer((struct selection_query){ 0 });
        assert_int_equal(stalls->row_count, 1);
        assert_string_equal(text_called(stalls, 0, "cause"), "empty wait");
        assert_int_equal(transfers->row_count, 0);
    }
}

/* A copy that hides wholly under a kernel is not exposed; copies without a size have no bandwidth. */
TEST(hidden_copies_and_missing_sizes)
{
    draw_work("kernel", "k", 0, 7, 0, 30, DRAW_NO_CALL);
    draw_work("gpu_memcpy", "Memcpy HtoD (Host -> Device)", 0, 9, 5, 10, DRAW_NO_CALL);
    draw_work("gpu_memcpy", "Memcpy HtoD (Host -> Device)", 0, 9, 20, 20, DRAW_NO_CALL);
    answer((struct selection_query){ 0 });
    assert_row(transfers, 0, "memory=unknown, exposed=10");
    assert_true(table_is_missing(transfers, 0, (size_t)table_find_column(transfers, "bandwidth", 9)));
}

TEST(names_of_copies_and_calls)
{
    assert_int_equal(copy_kind_of("Memcpy HtoD (Pinned -> Device)").memory, MEMORY_PINNED);
    assert_int_equal(copy_kind_of("Memcpy PtoP (Device -> Device)").direction, COPY_PTOP);
    assert_int_equal(copy_kind_of("Memcpy PtoP (Device -> Device)").memory, MEMORY_NONE);
    assert_int_equal(copy_kind_of("Memcpy HtoD (Managed -> Device)").direction, COPY_MANAGED);
    assert_int_equal(copy_kind_of("MemcpyD2H").direction, COPY_DTOH);
    assert_int_equal(copy_kind_of("CopyHostToDevice").memory, MEMORY_UNKNOWN);
    assert_int_equal(copy_kind_of("something").direction, COPY_UNKNOWN);

    assert_int_equal(call_sort_of("cuLaunchKernelEx"), CALL_LAUNCH);
    assert_int_equal(call_sort_of("hipGraphLaunch"), CALL_GRAPH_LAUNCH);
    assert_int_equal(call_sort_of("cudaMemcpyAsync"), CALL_COPY);
    assert_int_equal(call_sort_of("hipMemcpyWithStream"), CALL_COPY_SYNC);
    assert_int_equal(call_sort_of("cudaMemsetAsync"), CALL_MEMSET);
    assert_int_equal(call_sort_of("cudaEventSynchronize"), CALL_SYNC);
    assert_int_equal(call_sort_of("cudaStreamWaitEvent"), CALL_OTHER);
    assert_int_equal(call_sort_of("cudaHostAlloc"), CALL_HOST_ALLOC);
    assert_true(call_loads_code("hipModuleLoadData"));
    assert_true(call_loads_code("cuLibraryLoadData"));
    assert_false(call_loads_code("hipExtModuleLaunchKernel"));
    assert_int_equal(call_sort_of("cudaMalloc"), CALL_ALLOC);
    assert_int_equal(call_sort_of("cudaMemGetInfo"), CALL_OTHER);
}

/*
 * A synchronous copy is queued behind a kernel, whose stream waits for an event: 50 ms in which the device waits as the host does. The
 * wait can only shrink by what is left.
 *
 *     host        l [l StreamWaitEvent l ][memcpy DtoH                  )      launches of 5 us, the last one of "late"
 *     stream 7     [first)                              [late  )[DtoH)         late begins 50 ms after its launch
 */
TEST(what_the_device_waits_for_as_well_is_no_saving)
{
    const int64_t us = 1000, ms = 1000000;
    draw_kernel("first", 0, 5 * us, 8 * us, 2 * us, 1);
    draw_call("cudaStreamWaitEvent", 1, 20 * us, us, 2);
    draw_call("cudaLaunchKernel", 1, 30 * us, 5 * us, 3);
    draw_host("cpu_op", "aten::copy_", 1, 36 * us, 54 * ms);
    draw_call("cudaMemcpy", 1, 40 * us, 53 * ms, 4);
    draw_work("kernel", "late", 0, 7, 50 * ms, 2 * ms, 3);
    draw_work("gpu_memcpy", "Memcpy DtoH (Device -> Pinned)", 0, 7, 52 * ms, ms, 4);
    answer((struct selection_query){ 0 });
    assert_int_equal(stalls->row_count, 1);
    assert_int_equal(int_called(stalls, 0, "blocked"), 53 * ms);
    assert_int_equal(int_called(stalls, 0, "won"), 53 * ms - (50 * ms - 40 * us) - 5 * us);
    assert_non_null(strstr(text_called(stalls, 0, "advice"), "the device waited, too"));
}

/* The same, of a wait of 0.5 ms at the end of 5 ms in which the device waits for the event: all of it lies there. */
TEST(a_short_wait_while_the_device_waits_is_no_saving)
{
    const int64_t us = 1000;
    draw_kernel("first", 0, 5 * us, 8 * us, 2 * us, 1);
    draw_call("cudaStreamWaitEvent", 1, 20 * us, us, 2);
    draw_call("cudaLaunchKernel", 1, 30 * us, 5 * us, 3);
    draw_call("cudaDeviceSynchronize", 1, 4530 * us, 500 * us, 4);
    draw_work("kernel", "late", 0, 7, 5000 * us, 20 * us, 3);
    draw_kernel("last", 5040 * us, 5 * us, 5050 * us, us, 5);
    answer((struct selection_query){ 0 });
    assert_int_equal(stalls->row_count, 1);
    assert_int_equal(int_called(stalls, 0, "blocked"), 500 * us);
    assert_int_equal(int_called(stalls, 0, "won"), 500 * us - 470 * us - 5 * us);
}

/*
 * aten::to copies 40 bytes by aten::copy_ in step 3 on stream 7, and 20 in step 4 on stream 9, where the host waits 6 in the
 * call; a copy whose call was not recorded has 10 bytes.
 */
TEST(copies_may_be_grouped_by_stream_step_and_operator)
{
    draw_step(3, 0, 50);
    draw_step(4, 50, 50);
    for (int64_t i = 0; i < 2; i++) {
        draw_host("cpu_op", "aten::to", 1, 50 * i, 20);
        draw_host("cpu_op", "aten::copy_", 1, 50 * i + 1, 18);
        draw_call("cudaMemcpyAsync", 1, 50 * i + 2, 6, i + 1);
        draw_work("gpu_memcpy", i ? "Memcpy HtoD (Pageable -> Device)" : "Memcpy HtoD (Pinned -> Device)", 0,
                  7 + 2 * i, 50 * i + 4, 3, i + 1);
        draw_arg(ARG_BYTES, 40 - 20 * i);
    }
    draw_work("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", 0, 7, 200, 1, DRAW_NO_CALL);
    draw_arg(ARG_BYTES, 10);

    answer_by((struct selection_query){ 0 }, BY(STREAM));
    assert_int_equal(transfers->row_count, 2);
    assert_row(transfers, 0, "stream=7, bytes=50");
    assert_row(transfers, 1, "stream=9, blocked=6");

    answer_by((struct selection_query){ 0 }, BY(STEP));
    assert_int_equal(transfers->row_count, 3);
    int64_t bytes_of_3 = 0, bytes_outside = 0;
    for (size_t row = 0; row < transfers->row_count; row++) {
        int64_t step = int_called(transfers, row, "step"), bytes = int_called(transfers, row, "bytes");
        bytes_of_3 += step == 3 ? bytes : 0;
        bytes_outside += step == TABLE_INT_MISSING ? bytes : 0;
    }
    assert_int_equal(bytes_of_3, 40);
    assert_int_equal(bytes_outside, 10);

    answer_by((struct selection_query){ 0 }, BY(OP));
    assert_int_equal(transfers->row_count, 3); /* pinned and pageable by aten::to, pinned by none */
    assert_int_equal(int_called(transfers, row_with(transfers, "operator", "(no operator)"), "bytes"), 10);
    assert_int_equal(int_called(transfers, row_with(transfers, "memory", "pageable"), "blocked"), 6);
    assert_string_equal(text_called(transfers, row_with(transfers, "memory", "pageable"), "operator"),
                        "aten::to");
}
