/* test_gpu.c - analyze/gpu.h: each moment of a device counts once. */

#include "analyze/gpu.h"
#include "analyze/registry.h"
#include "derive/gpu_names.h"
#include "tests/unit/drawn.h"
#include "derive/communication.h"
#include "trace/span.h"

static const struct trace_wants *drawn_wants = &gpu_wants;

static struct result *result;
static struct table *devices, *efficiency, *copies;

static void analyze_by(struct selection_query query, unsigned by)
{
    const struct selection *selection = scratch_selection(drawn(), query);
    result = scratch_result(result_open("tpa.gpu/1"));
    ask_analysis(&analysis_gpu, drawn(), selection, by, result);
    devices = table_called(result, "devices");
    efficiency = table_called(result, "efficiency");
    copies = table_called(result, "copies");
}

static void analyze(struct selection_query query)
{
    analyze_by(query, BY(DEVICE));
}

/*
 *               0    10   20   30   40   50   60   70   80   90   100
 *   stream 7    [ gemm   )          [ gemm   )          |    [add)
 *   stream 20        [ nccl    )                        set
 *   stream 21             [ HtoD    )    [ DtoH        )
 *
 * computes       0..20, 40..60, 80..80 (no time), 90..100     50
 * communicates  10..30: exposed 20..30                        20, 10
 * copies        20..40, 50..75: exposed 30..40, 60..75        45, 25
 * idle          75..80, 80..90                                15
 */
static void draw_operations(void)
{
    draw_work("kernel", "gemm", 0, 7, 0, 20, DRAW_NO_CALL);
    draw_work("kernel", "gemm", 0, 7, 40, 20, DRAW_NO_CALL);
    draw_work("gpu_memcpy", "Memcpy DtoH (Device -> Pinned)", 0, 21, 50, 25, DRAW_NO_CALL);
    draw_arg(ARG_BYTES, 1000);
    draw_work("kernel", "ncclDevKernel_AllReduce", 0, 20, 10, 20, DRAW_NO_CALL);
    draw_work("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", 0, 21, 20, 20, DRAW_NO_CALL);
    draw_arg(ARG_BYTES, 4096);
    draw_work("gpu_memset", "Memset (Device)", 0, 20, 80, 0, DRAW_NO_CALL);
    draw_work("kernel", "add", 0, 7, 90, 10, DRAW_NO_CALL);
}

static void draw_streams(void)
{
    draw_operations();
}

TEST(each_moment_counts_once)
{
    draw_streams();
    analyze((struct selection_query){ 0 });
    assert_int_equal(devices->row_count, 1);
    assert_row(devices, 0,
               "span=100, busy=85, computation=50, communication=20, "
               "exposed_communication=10, memcpy=45, exposed_memcpy=25, idle=15, kernels=4, "
               "kernel_sum=70, kernel_union=60, events=7");
    assert_string_equal(text_called(devices, 0, "streams"), "7, 20, 21");
}

/* The memset takes no time, but the gap ends there: 75..80 and 80..90. */
TEST(work_without_duration_ends_a_gap)
{
    draw_streams();
    analyze((struct selection_query){ 0 });
    assert_row(devices, 0, "gaps=2, longest_gap=10");
}

/* HtoD 20..40 runs under kernels but for 30..40; DtoH 50..75 under one until 60. */
TEST(copies_are_exposed_where_no_kernel_runs)
{
    draw_streams();
    analyze((struct selection_query){ 0 });
    assert_int_equal(copies->row_count, 2);
    assert_row(copies, 0, "name=Memcpy DtoH (Device -> Pinned), bytes=1000, sum=25, exposed=15");
    assert_row(copies, 1, "name=Memcpy HtoD (Pinned -> Device), exposed=10");
}

/*
 * Work is chosen by its launch, or where its call is not in the file by its own start, and counts whole: in 15..55 HtoD
 * 20..40, gemm 40..60 and DtoH 50..75 begin.
 */
TEST(a_range_chooses_work_by_its_launch)
{
    draw_streams();
    analyze((struct selection_query){ .range = "15ns..55ns" });
    assert_row(devices, 0,
               "span=55, computation=20, exposed_communication=0, exposed_memcpy=35, idle=0, "
               "kernels=1");
    assert_int_equal(int_called(efficiency, 0, "window"), 55);
    /* both are launched by 12, and run later */
    draw_call("cudaLaunchKernel", 1, 5, 1, 1);
    draw_call("cudaLaunchKernel", 1, 11, 1, 2);
    draw_work("kernel", "gemm", 0, 7, 20, 10, 1);
    draw_work("kernel", "add", 0, 7, 40, 15, 2);
    analyze((struct selection_query){ .range = "5ns..7ns" });
    assert_int_equal(int_called(devices, 0, "span"), 15);
    analyze((struct selection_query){ .range = "0ns..5ns" });
    assert_int_equal(int_called(devices, 0, "span"), 10);
}

/* Stream 7 alone: busy 0..20, 40..60, 90..100 of 100. */
TEST(a_stream_alone)
{
    draw_streams();
    analyze((struct selection_query){ .streams = { { { 7, 7 } }, 1 } });
    assert_row(devices, 0, "span=100, busy=50, gaps=2, streams=7");
}

/* Streams 7 (busy 50 of 100), 20 (20 of 10..80) and 21 (45 of 20..75), each with gaps of its own. */
TEST(each_stream_for_itself)
{
    draw_streams();
    analyze_by((struct selection_query){ 0 }, BY(STREAM));
    assert_int_equal(devices->row_count, 3);
    int64_t spans = 0, busy = 0, idle = 0;
    for (size_t row = 0; row < 3; row++) {
        spans += int_called(devices, row, "span");
        busy += int_called(devices, row, "busy");
        idle += int_called(devices, row, "idle");
    }
    assert_int_equal(spans, 100 + 70 + 55);
    assert_int_equal(busy, 50 + 20 + 45);
    assert_int_equal(idle, spans - busy);
    assert_int_equal(int_called(devices, 0, "stream"), 7);
}

/*
 *                        0    10   20   30
 *   device 0 stream 0    [ a      )
 *   device 1 stream 0              [ b )
 *   device 0, other file      [ c )
 */
TEST(equal_streams_of_two_devices_are_two)
{
    draw_work("kernel", "a", 0, 0, 0, 20, DRAW_NO_CALL);
    draw_work("kernel", "b", 1, 0, 20, 10, DRAW_NO_CALL);
    draw_file("rank1.json");
    draw_work("kernel", "c", 0, 0, 10, 10, DRAW_NO_CALL);
    analyze((struct selection_query){ 0 });
    assert_int_equal(devices->row_count, 3);
    assert_int_equal(int_called(devices, 0, "busy"), 20);
    assert_row(devices, 1, "device=1, busy=10");
    assert_row(devices, 2, "rank=1, idle=0");
}

/*
 *              0    10   20   30   40   50   60   70   80   90   100
 *   host       [ ProfilerStep#1   )[ ProfilerStep#2  )
 *               l1                l2 l3
 *   stream 7   [old)    [ k1      )[ k2     )      [ k3 )
 *
 * Steps as they ran: 1 begins at 10, when the kernel launched before was over, and ends with k1 at 40; 2 ends with k3
 * at 90. Window 10..90: kernels run 20 + 20 + 15 = 55 of 80 (k1 20..40, k2 40..60, k3 75..90).
 * blocks per SM: k1 0.5, k2 2 (counts as 1), k3 none: (20 * 0.5 + 20 * 1) / 80.
 * occupancy: k1 50 %, k2 25 %: (20 * 0.5 + 20 * 0.25) / 40.
 */
TEST(efficiency_looks_at_the_steps_as_they_ran)
{
    draw_step(1, 0, 35);
    draw_step(2, 35, 35);
    draw_call("cudaLaunchKernel", 1, 2, 3, 1);
    draw_call("cudaLaunchKernel", 1, 36, 2, 2);
    draw_call("cudaLaunchKernel", 1, 39, 2, 3);
    draw_work("kernel", "old", 0, 7, 0, 10, 77);
    draw_work("kernel", "volta_s884gemm", 0, 7, 20, 20, 1);
    draw_decimal(ARG_BLOCKS_PER_SM, 0.5);
    draw_decimal(ARG_OCCUPANCY, 50);
    draw_work("kernel", "volta_sgemm", 0, 7, 40, 20, 2);
    draw_decimal(ARG_BLOCKS_PER_SM, 2);
    draw_decimal(ARG_OCCUPANCY, 25);
    draw_work("kernel", "mystery", 0, 7, 75, 15, 3);
    analyze((struct selection_query){ 0 });
    assert_int_equal(int_called(efficiency, 0, "window"), 80);
    assert_float_equal(number_called(efficiency, 0, "utilization"), 55.0 / 80, 1e-12);
    assert_float_equal(number_called(efficiency, 0, "sm_efficiency"), 30.0 / 80, 1e-12);
    assert_float_equal(number_called(efficiency, 0, "occupancy"), 0.375, 1e-12);
    assert_float_equal(number_called(efficiency, 0, "tensor_core_share"), 20.0 / 65, 1e-12);
    assert_float_equal(number_called(efficiency, 0, "tensor_core_unknown_share"), 25.0 / 65, 1e-12);
    assert_int_equal(notice_called(result, "unlinked_gpu_work"), 1);
}

/*
 *              0    10   20   30   40   50   60   70   80   90
 *   thread 1   [ ProfilerStep#1              )                  launches gemm at 2
 *   thread 2             [ ProfilerStep#2                  )    overlaps the first, and does not count
 *   stream 7        [ gemm  )                 [late)            20 of 60 in the window
 *
 * gemm does not tell its blocks per SM; what the late kernel tells is not of the window.
 */
TEST(of_steps_that_overlap_the_first_is_the_window)
{
    draw_step(1, 0, 60);
    draw_host("user_annotation", "ProfilerStep#2", 2, 20, 70);
    draw_kernel("gemm", 2, 3, 10, 20, 1);
    draw_work("kernel", "late", 0, 7, 65, 10, DRAW_NO_CALL);
    draw_decimal(ARG_BLOCKS_PER_SM, 2);
    analyze((struct selection_query){ 0 });
    assert_int_equal(int_called(efficiency, 0, "window"), 60);
    assert_float_equal(number_called(efficiency, 0, "utilization"), 20.0 / 60, 1e-12);
    assert_true(table_is_missing(efficiency, 0, (size_t)table_find_column(efficiency, "sm_efficiency", 13)));
}

/* A step of no length at 50: the operators from 0 to 40 are the window, in which a kernel ran for 20. */
TEST(steps_that_took_no_time_are_no_window)
{
    draw_step(1, 50, 0);
    draw_host("cpu_op", "aten::mm", 1, 0, 40);
    draw_work("kernel", "gemm", 0, 7, 10, 20, DRAW_NO_CALL);
    analyze((struct selection_query){ 0 });
    assert_int_equal(int_called(efficiency, 0, "window"), 40);
    assert_float_equal(number_called(efficiency, 0, "utilization"), 0.5, 1e-12);
}

/*
 * The profiler was on from 0 to 100 ns; an operator was still open then, and is written as if it had lasted a day. The
 * operators reach from 10 to 100, in which a kernel ran for 45.
 */
TEST(an_open_operator_ends_with_the_recording)
{
    draw_host("Trace", "PyTorch Profiler (0)", 1, 0, 100);
    draw_host("cpu_op", "aten::mm", 1, 10, INT64_C(86400000000000));
    draw_work("kernel", "gemm", 0, 7, 30, 45, 1);
    assert_int_equal(trace_file_span(drawn(), 0).end_ns, 100);
    analyze((struct selection_query){ 0 });
    assert_int_equal(int_called(efficiency, 0, "window"), 90);
    assert_float_equal(number_called(efficiency, 0, "utilization"), 0.5, 1e-12);
}

/* The name says nothing: it is the operator (by its id), or the arguments of the kernel, that tell. */
TEST(communication_is_recognised_by_operator_and_arguments)
{
    draw_host("cpu_op", "symm_mem::one_shot", 1, 0, 10);
    draw_arg(ARG_EXTERNAL_ID, 5);
    draw_host("cpu_op", "aten::add", 1, 10, 10);
    draw_arg(ARG_EXTERNAL_ID, 6);
    draw_work("kernel", "k", 0, 7, 0, 10, 1);
    draw_arg(ARG_EXTERNAL_ID, 5);
    draw_work("kernel", "k", 0, 7, 20, 10, 2);
    draw_arg(ARG_EXTERNAL_ID, 6);
    draw_work("kernel", "k", 0, 7, 40, 10, 3);
    draw_text(ARG_COLLECTIVE, "allreduce");
    analyze((struct selection_query){ 0 });
    assert_row(devices, 0, "communication=20, computation=10, nccl_union=0, idle=20");
}

TEST(no_work_gives_empty_tables)
{
    draw_host("cpu_op", "aten::mm", 1, 0, 10);
    analyze((struct selection_query){ 0 });
    assert_int_equal(devices->row_count, 0);
}

TEST(names_of_kernels)
{
    assert_true(kernel_is_nccl("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"));
    assert_true(kernel_is_nccl("rcclGenericKernel"));
    assert_false(kernel_is_nccl("void vllm::cross_device_reduce_1stage<c10::BFloat16, 8>(...)"));
    assert_true(kernel_is_communication("void vllm::cross_device_reduce_1stage<c10::BFloat16, 8>(...)"));
    assert_true(kernel_is_communication(
        "void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16, 16>()"));
    assert_true(kernel_is_communication("nvshmemi_transfer_rma"));
    assert_true(kernel_is_communication("allreduce_fusion_kernel_oneshot_lamport"));
    assert_false(kernel_is_communication("void at::native::reduce_kernel<512, 1>()"));
    assert_true(operator_is_communication("nccl:all_reduce"));
    assert_true(operator_is_communication("c10d::allreduce_"));
    assert_true(operator_is_communication("sgl_kernel::all_reduce"));
    assert_false(operator_is_communication("aten::all"));
    assert_false(operator_is_communication("symm_mem::fused_all_gather_matmul"));
    assert_false(operator_is_communication("train.py(12): all_reduce_grads"));

    assert_int_equal(kernel_tensor_use("volta_h884gemm_64x64_ldg8_nn"), TENSOR_YES);
    assert_int_equal(kernel_tensor_use("nvjet_tst_64x64_64x16_2x1_2cta_v_bz_bias_TNT"), TENSOR_YES);
    assert_int_equal(kernel_tensor_use("cutlass3x_sm100_tensorop_s64x64gemm"), TENSOR_YES);
    assert_int_equal(kernel_tensor_use("void flash::flash_fwd_kernel<...>"), TENSOR_YES);
    assert_int_equal(kernel_tensor_use("Cijk_Alik_Bljk_SB_MT64x16x32_MI16x16x1_SN"), TENSOR_YES);
    assert_int_equal(kernel_tensor_use("ampere_sgemm_128x64_nn"), TENSOR_NO);
    assert_int_equal(kernel_tensor_use("void cutlass::Kernel2<cutlass_80_simt_sgemm_128x32_8x5_nn_align1>"),
                     TENSOR_NO);
    assert_int_equal(kernel_tensor_use("triton_poi_fused_add_0"), TENSOR_NO);
    assert_int_equal(kernel_tensor_use("SubTensorOpWithScalar1d"), TENSOR_NO);
    assert_int_equal(kernel_tensor_use("_attn_fwd"), TENSOR_UNKNOWN);
}

/*
 * The streams above, with steps at 15..45 and 50..95 on the host; no call is in the file, so work is of the step in which it
 * began.
 *
 *                 span           computes        communicates   copies        idle
 *   step 1        20..60   40    40..60    20              0    20..40  20     0
 *   step 2        50..100  50    90..100   10              0    50..75  25    75..80, 80..90  15
 *   outside       0..30    30    0..20     20    20..30   10             0     0
 */
TEST(a_row_of_a_step_is_the_work_it_launched)
{
    static const int64_t figures[3][8] = { { 1, 40, 20, 0, 20, 0, 0, 2 },
                                           { 2, 50, 10, 0, 25, 15, 2, 3 },
                                           { TABLE_INT_MISSING, 30, 20, 10, 0, 0, 0, 2 } };
    static const char *const keys[] = { "step",           "span", "computation", "exposed_communication",
                                        "exposed_memcpy", "idle", "gaps",        "events" };
    draw_step(1, 15, 30);
    draw_step(2, 50, 45);
    draw_operations();
    analyze_by((struct selection_query){ 0 }, BY(STEP));
    assert_int_equal(devices->row_count, 3);
    for (size_t row = 0; row < 3; row++)
        for (size_t i = 0; i < 8; i++)
            assert_int_equal(int_called(devices, row, keys[i]), figures[row][i]);
    assert_float_equal(number_called(efficiency, 1, "utilization"), 10.0 / 50.0, 1e-12);

    for (int64_t step = 1; step <= 2; step++) { /* --steps says the same of a step */
        analyze((struct selection_query){ .steps = { .at = { { step, step } }, .count = 1 } });
        for (size_t i = 1; i < 8; i++)
            assert_int_equal(int_called(devices, 0, keys[i]), figures[step - 1][i]);
    }
    analyze_by((struct selection_query){ 0 }, BY(STEP) | BY(STREAM));
    assert_int_equal(devices->row_count,
                     7); /* streams 7 and 21 of both steps, 20 of the second, 7 and 20 of none */
}

/*
 * No steps; the operators are over at 20, but what they launched runs 30..130: the window reaches to there. The kernel of
 * 200 was launched after them.
 */
TEST(the_window_of_operators_reaches_to_the_end_of_their_work)
{
    draw_host("cpu_op", "aten::mm", 1, 0, 20);
    draw_call("cudaLaunchKernel", 1, 10, 2, 1);
    draw_call("cudaLaunchKernel", 1, 150, 2, 2);
    draw_work("kernel", "gemm", 0, 7, 30, 100, 1);
    draw_work("kernel", "add", 0, 7, 200, 10, 2);
    analyze((struct selection_query){ 0 });
    assert_int_equal(int_called(efficiency, 0, "window"), 130);
    assert_float_equal(number_called(efficiency, 0, "utilization"), 100.0 / 130, 1e-12);
}

/* Three devices that work 140 years apart: their spans together are more than 64 bits hold. */
TEST(spans_of_many_devices_do_not_overflow)
{
    const int64_t far_ns = INT64_C(2200000000000000000);
    for (int device = 0; device < 3; device++) {
        draw_work("kernel", "gemm", device, 7, -far_ns, 1, DRAW_NO_CALL);
        draw_work("kernel", "gemm", device, 7, far_ns, 1, DRAW_NO_CALL);
    }
    analyze((struct selection_query){ 0 });
    assert_int_equal(devices->row_count, 3);
    assert_int_equal(int_called(devices, 0, "span"), 2 * far_ns + 1);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(devices->footers.at[i].value.i, INT64_MAX);
}

/* ROCm numbers properties among the devices that the process sees, work among all: where there is one of each, they are of one device. */
TEST(the_only_properties_are_those_of_the_only_device)
{
    for (int second = 0; second < 2; second++) {
        *VEC_PUSH(&drawn_file()->devices) =
            (struct trace_device){ .id = 0, .name = "MI300X", .compute_major = 9 };
        draw_work("kernel", "gemm", 9, 7, 0, 20, DRAW_NO_CALL);
        if (second)
            draw_work("kernel", "gemm", 8, 7, 0, 20, DRAW_NO_CALL);
        const struct gpu_events *gpu = gpu_events_of(drawn());
        assert_int_equal(gpu->device_count, 1 + second);
        if (second) {
            assert_null(gpu->devices[0].properties);
            assert_null(gpu->devices[1].properties);
        } else {
            assert_string_equal(gpu->devices[0].properties->name, "MI300X");
        }
    }
}
