/* test_roofline.c - analyze/roofline.h: which device work belongs to which operator, and its share of the peak. */

#include "analyze/roofline.h"
#include "tests/unit/drawn.h"
#include <math.h>

static const struct trace_wants *drawn_wants = &roofline_wants;

static const struct roofline *roofline;

static void draw_operator(const char *name, int64_t start_ns, int64_t dur_ns, const char *dims,
                          const char *types)
{
    draw_host("cpu_op", name, 1, start_ns, dur_ns);
    draw_inputs(dims, types);
}

/* A product of bfloat16, 8 x 8 x 8: 1024 operations, 384 bytes. */
static void draw_product(int64_t start_ns, int64_t dur_ns)
{
    draw_operator("aten::mm", start_ns, dur_ns, "[[8,8],[8,8]]", "[\"c10::BFloat16\",\"c10::BFloat16\"]");
}

static void answer_by(struct selection_query query, unsigned by, const struct device_peaks *peaks)
{
    const struct selection *selection = scratch_selection(drawn(), query);
    roofline = scratch(roofline_analyze(drawn(), selection, by, peaks));
}

static void answer(const struct device_peaks *peaks)
{
    answer_by((struct selection_query){ 0 }, BY(OP) | BY(SHAPE), peaks);
}

static void assert_roofline_row(size_t row, const char *name, int64_t count, int64_t flops, int64_t bytes,
                                int64_t time_ns)
{
    const struct roofline_row *of = &roofline->rows.at[row];
    assert_true(row < roofline->rows.count);
    assert_string_equal(of->name.at, name);
    assert_int_equal(of->count, count);
    assert_int_equal(of->flops, flops);
    assert_int_equal(of->bytes, bytes);
    assert_int_equal(of->time_ns, time_ns);
}

/*
 * host     [relu                       ][cat        ][mm    ]
 *            [clamp_min  ][my_op     ]    [copy_ ]
 *             launch 1      launch 2       launch 3   launch 4
 *
 * Launch 1 is clamp_min's; launch 2, in an operator without a model, is relu's. cat's sizes are not recorded: copy_ has
 * its own work. Two equal calls are one row. Launch 5 is in no operator.
 */
TEST(work_belongs_to_the_innermost_modelled)
{
    for (int64_t i = 0; i < 2; i++) {
        int64_t at = 1000 * i, id = 10 * i;
        draw_operator("aten::relu", at, 100, "[[4]]", "[\"float\"]");
        draw_operator("aten::clamp_min", at + 10, 20, "[[4],[]]", "[\"float\",\"Scalar\"]");
        draw_call("cudaLaunchKernel", 1, at + 15, 5, id + 1);
        draw_host("cpu_op", "my_op", 1, at + 40, 20);
        draw_call("cudaLaunchKernel", 1, at + 45, 5, id + 2);
        draw_operator("aten::cat", at + 200, 100, "[[[4],[4]],[]]", "[\"\",\"Scalar\"]");
        draw_operator("aten::copy_", at + 210, 20, "[[4],[4],[]]", "[\"float\",\"float\",\"Scalar\"]");
        draw_call("cudaMemcpyAsync", 1, at + 215, 5, id + 3);
        draw_product(at + 300, 50);
        draw_call("cudaLaunchKernel", 1, at + 310, 5, id + 4);
        draw_call("cudaLaunchKernel", 1, at + 360, 5, id + 5);
        draw_work("kernel", "clamp", 0, 7, at + 400, 3, id + 1);
        draw_work("kernel", "mine", 0, 7, at + 410, 5, id + 2);
        draw_work("gpu_memcpy", "Memcpy DtoD", 0, 7, at + 420, 7, id + 3);
        draw_work("kernel", "gemm", 0, 7, at + 430, 11, id + 4);
        draw_work("kernel", "other", 0, 7, at + 450, 13, id + 5);
    }
    answer(NULL);
    assert_int_equal(roofline->rows.count, 4);
    assert_roofline_row(0, "aten::mm", 2, 2048, 768, 22);
    assert_roofline_row(1, "aten::copy_", 2, 0, 64, 14);
    assert_roofline_row(2, "aten::relu", 2, 8, 64, 10);
    assert_roofline_row(3, "aten::clamp_min", 2, 8, 64, 6);
    assert_int_equal(roofline->time_ns, 2 * (3 + 5 + 7 + 11 + 13));
    assert_int_equal(roofline->modelled_ns, 2 * (3 + 5 + 7 + 11));
    assert_int_equal(roofline->rest.count, 1);
    assert_string_equal(roofline->rest.at[0].name.at, "cudaLaunchKernel");
    assert_int_equal(roofline->rest.at[0].time_ns, 26);
    assert_true(isnan(roofline->rows.at[0].share)); /* the device is not recorded */
    assert_int_equal(roofline->rows.at[0].won_ns, TABLE_INT_MISSING);
}

/*
 * Work that tells what it costs is a call by itself, launched or not; a loop, which holds others, a collective and a copy are none.
 *
 * stream   [while         ][all-reduce][copy-done][dot.1]
 *           [dot.1][dot.1]
 */
TEST(work_that_tells_its_cost_is_a_call)
{
    static const struct {
        const char *category, *name;
        int64_t start_ns, dur_ns;
    } operations[] = {
        { "kernel", "while", 0, 50 },         { "kernel", "dot.1", 5, 10 },
        { "kernel", "dot.1", 20, 10 },        { "kernel", "all-reduce", 60, 5 },
        { "gpu_memcpy", "copy-done", 70, 5 }, { "kernel", "dot.1", 80, 10 },
    };
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
        draw_work(operations[i].category, operations[i].name, 0, 3, operations[i].start_ns,
                  operations[i].dur_ns, 100 + (int64_t)i);
        draw_arg(ARG_FLOPS, 1024);
        draw_arg(ARG_BYTES_ACCESSED, 384);
    }
    answer(NULL);
    assert_int_equal(roofline->rows.count, 1);
    assert_roofline_row(0, "dot.1", 3, 3 * 1024, 3 * 384, 30);
    assert_int_equal(roofline->modelled_ns, 30);
    assert_int_equal(roofline->steps.at[0].flops, 3 * 1024);
}

/*
 * 1024 operations at 100 GFLOP/s take 10.24 ns, 384 bytes at 96 GB/s 4 ns: 10 ns at the peak, bound by compute. Of 40
 * ns that is a quarter. With 16 GB/s the bytes take 24 ns.
 */
TEST(shares_are_of_the_longer)
{
    struct device_peaks peaks = { .bandwidth = 96e9 };
    peaks.flops[PEAK_BF16] = 100e9;
    for (int round = 0; round < 2; round++) {
        draw_product(0, 50);
        draw_kernel("gemm", 10, 5, 60, 40, 1);
        answer(&peaks);
        const struct roofline_row *row = &roofline->rows.at[0];
        assert_string_equal(row->bound.at, round ? "memory" : "compute");
        assert_string_equal(row->units.at, "bf16 matrix");
        assert_int_equal(row->at_peak_ns, round ? 24 : 10);
        assert_int_equal(row->won_ns, round ? 16 : 30);
        assert_true(row->share == (round ? 0.6 : 0.25));
        assert_true(row->tflops == 1024.0 / 40 / 1e3);
        assert_true(row->intensity == 1024.0 / 384);
        assert_int_equal(roofline->devices.at[0].slow_ns, 0);

        peaks.bandwidth = 16e9;
    }
}

/* float32 products: on matrix units where the kernel says TF32, else on vector units; what is faster than the peak says so. */
TEST(tf32_is_what_the_kernel_says)
{
    struct device_peaks peaks = { .bandwidth = 1e15 };
    peaks.flops[PEAK_TF32] = 100e9;
    peaks.flops[PEAK_FP32] = 10e9;
    static const char *const kernels[] = { "sm80_xmma_gemm_f32f32_tf32f32_f32", "ampere_sgemm_128x64_nn" };
    for (int round = 0; round < 2; round++) {
        draw_operator("aten::mm", 0, 50, "[[8,8],[8,8]]", "[\"float\",\"float\"]");
        draw_kernel(kernels[round], 10, 5, 60, 64, 1);
        answer(&peaks);
        assert_string_equal(roofline->rows.at[0].units.at, round ? "fp32 vector" : "tf32 matrix");
        assert_int_equal(roofline->rows.at[0].at_peak_ns, round ? 102 : 10);
        assert_int_equal(roofline->rows.at[0].won_ns, round ? 0 : 54);
        assert_int_equal(roofline->rows.at[0].above, round);
    }
}

/*
 * ProfilerStep#3, 1000 ns: a product, then, in a backward pass that recomputes, the same again, and the backward pass
 * of that.
 *
 *     [step 3                                                                          ]
 *       [mm]  [evaluate_function: CheckpointFunctionBackward                         ]
 *              [CheckpointFunctionBackward                                          ]
 *                [mm: recomputed]  [evaluate_function: MmBackward0 [mm: a gradient ]]
 *
 * 3 * 1024 operations of which 1024 are recomputed; at 100 GFLOP/s 30.72 and 20.48 ns of 1000.
 */
TEST(recomputed_operations_are_no_model_flops)
{
    struct device_peaks peaks = { .bandwidth = 1e15 };
    peaks.flops[PEAK_BF16] = 100e9;
    draw_step(3, 0, 1000);
    draw_product(10, 50);
    draw_call("cudaLaunchKernel", 1, 20, 5, 1);
    draw_host("cpu_op", "autograd::engine::evaluate_function: CheckpointFunctionBackward", 1, 100, 800);
    draw_host("cpu_op", "CheckpointFunctionBackward", 1, 110, 700);
    draw_product(120, 50);
    draw_call("cudaLaunchKernel", 1, 130, 5, 2);
    draw_host("cpu_op", "autograd::engine::evaluate_function: MmBackward0", 1, 200, 300);
    draw_product(210, 50);
    draw_call("cudaLaunchKernel", 1, 220, 5, 3);
    for (int64_t i = 1; i <= 3; i++)
        draw_work("kernel", "gemm", 0, 7, 100 * i, 60, i);
    answer(&peaks);
    assert_int_equal(roofline->steps.count, 1);
    const struct roofline_step *step = &roofline->steps.at[0];
    assert_int_equal(step->step, 3);
    assert_int_equal(step->duration_ns, 1000);
    assert_int_equal(step->flops, 3072);
    assert_int_equal(step->model_flops, 2048);
    assert_true(fabs(step->hfu - 0.03072) < 1e-12);
    assert_true(fabs(step->mfu - 0.02048) < 1e-12);
}

/* conv contains conv2 which launches: both have operations, the step counts those of the inner one. */
TEST(nested_matrix_operators_count_once)
{
    draw_product(0, 100);
    draw_call("cudaLaunchKernel", 1, 5, 5, 1);
    draw_operator("aten::bmm", 20, 50, "[[1,8,8],[1,8,8]]", "[\"c10::BFloat16\",\"c10::BFloat16\"]");
    draw_call("cudaLaunchKernel", 1, 25, 5, 2);
    draw_work("kernel", "pad", 0, 7, 100, 10, 1);
    draw_work("kernel", "gemm", 0, 7, 120, 40, 2);
    answer(NULL);
    assert_roofline_row(0, "aten::bmm", 1, 1024, 384, 40);
    assert_roofline_row(1, "aten::mm", 1, 1024, 384, 10);
    assert_int_equal(roofline->steps.at[0].flops, 1024);
}

/*
 * As torch 1.9 records it, without strides:
 *
 *     [cudnn_convolution]  [cudnn_convolution_backward                      ]
 *        launch 1            [.. backward_input: launch 2]  launch 3
 *
 * An image of 3 x 32 x 32, 16 filters of 3 x 3 x 3, an output of 16 x 16 by the gradient: 2 * 432 * 256 = 221184 operations each. The step
 * of 1000 ns has three of them: at 10^12 a second 663.552 of 1000 ns.
 */
TEST(convolutions_of_old_versions_have_the_sizes_of_their_gradients)
{
    struct device_peaks peaks = { .bandwidth = 1e18 };
    peaks.flops[PEAK_FP16] = 1e12;
    draw_step(3, 0, 1000);
    draw_operator("aten::cudnn_convolution", 10, 50, "[[1,3,32,32],[16,3,3,3],[],[],[],[]]",
                  "[\"c10::Half\",\"c10::Half\",\"\",\"\",\"\",\"\"]");
    draw_call("cudaLaunchKernel", 1, 20, 5, 1);
    draw_operator("aten::cudnn_convolution_backward", 100, 300,
                  "[[1,3,32,32],[1,16,16,16],[16,3,3,3],[],[],[]]",
                  "[\"c10::Half\",\"c10::Half\",\"c10::Half\",\"\",\"\",\"\"]");
    draw_operator("aten::cudnn_convolution_backward_input", 110, 100, "[[],[1,16,16,16],[16,3,3,3],[],[],[]]",
                  "[\"\",\"c10::Half\",\"c10::Half\",\"\",\"\",\"\"]");
    draw_call("cudaLaunchKernel", 1, 120, 5, 2);
    draw_call("cudaLaunchKernel", 1, 300, 5, 3);
    for (int64_t i = 1; i <= 3; i++)
        draw_work("kernel", "wgrad_engine", 0, 7, 100 * i, 60, i);
    answer(&peaks);
    const struct roofline_step *step = &roofline->steps.at[0];
    assert_int_equal(step->flops, 3 * 221184);
    assert_true(fabs(step->mfu - 0.663552) < 1e-9);
    assert_false(step->at_least);
}

/* Of three products of 60 ns the operations of two are known: MFU is a lower bound; of one of three: it is not known. */
TEST(mfu_of_a_part_is_a_lower_bound)
{
    struct device_peaks peaks = { .bandwidth = 1e15 };
    peaks.flops[PEAK_BF16] = 100e9;
    for (int known = 1; known <= 3; known++) {
        draw_step(3, 0, 1000);
        for (int64_t i = 0; i < 3; i++) {
            if (i < known)
                draw_product(10 + 100 * i, 50);
            else
                draw_host("cpu_op", "moe::gemm", 1, 10 + 100 * i, 50);
            draw_kernel("my_gemm", 20 + 100 * i, 5, 100 * (i + 1), 60, i + 1);
        }
        answer(&peaks);
        const struct roofline_step *step = &roofline->steps.at[0];
        assert_true(fabs(step->modelled - known / 3.0) < 1e-9);
        assert_int_equal(step->at_least, known < 3);
        assert_int_equal(isnan(step->mfu), known == 1);
    }
}

/* Whatever makes the rows, their times add up; a missing figure stays missing in a sum. */
TEST(rows_add_up)
{
    draw_product(0, 50);
    draw_call("cudaLaunchKernel", 1, 10, 5, 1);
    draw_operator("aten::mm", 100, 50, "[[4,8],[8,8]]", "[\"c10::BFloat16\",\"c10::BFloat16\"]");
    draw_call("cudaLaunchKernel", 1, 110, 5, 2);
    draw_operator("triton_poi_fused_add_0", 200, 50, "[[8],[8]]", "[\"float\",\"float\"]");
    draw_call("cudaLaunchKernel", 1, 210, 5, 3);
    draw_work("kernel", "gemm", 0, 7, 300, 40, 1);
    draw_work("kernel", "gemm", 0, 8, 310, 30, 2);
    draw_work("kernel", "triton", 0, 8, 350, 20, 3);
    answer(NULL);
    assert_int_equal(roofline->rows.count, 3);
    assert_roofline_row(2, "triton_poi_fused_add_0", 1, TABLE_INT_MISSING, 64, 20);
    answer_by((struct selection_query){ 0 }, BY(OP), NULL);
    assert_int_equal(roofline->rows.count, 2);
    assert_roofline_row(0, "aten::mm", 2, 1024 + 512, 384 + 2 * (32 + 64 + 32), 70);
    assert_null(roofline->rows.at[0].shapes.at);
    answer_by((struct selection_query){ 0 }, BY(STREAM), NULL);
    assert_int_equal(roofline->rows.count, 2);
    assert_int_equal(roofline->rows.at[0].key.stream, 8);
    assert_int_equal(roofline->rows.at[0].time_ns, 50);
    assert_int_equal(roofline->rows.at[0].flops, TABLE_INT_MISSING);
    assert_int_equal(roofline->rows.at[1].flops, 1024);
    answer_by((struct selection_query){ .range = "100ns..180ns" }, BY(OP), NULL);
    assert_int_equal(roofline->rows.count, 1);
    assert_roofline_row(0, "aten::mm", 1, 512, 2 * (32 + 64 + 32), 30);
    assert_int_equal(roofline->time_ns, 30);
}

/* Without a GPU the host's time counts, each call's without the modelled ones in it. */
TEST(without_a_device_the_host_counts)
{
    draw_operator("aten::relu", 0, 100, "[[4]]", "[\"float\"]");
    draw_operator("aten::clamp_min", 10, 30, "[[4],[]]", "[\"float\",\"Scalar\"]");
    answer(NULL);
    assert_roofline_row(0, "aten::relu", 1, 4, 32, 70);
    assert_roofline_row(1, "aten::clamp_min", 1, 4, 32, 30);
    assert_false(roofline->calls.on_device);
}

/* A step of vLLM tells what its attention computes. */
TEST(serving_steps_tell_attention)
{
    draw_host("user_annotation", "execute_5_context_2(sq4sk10sqsq8sqsk20)_generation_3(sq3sk30sqsq3sqsk30)",
              1, 0, 500);
    draw_operator("vllm::unified_attention_with_output", 10, 50, "[[7,2,8],[7,1,8],[7,1,8],[7,2,8],[],[],[]]",
                  "[\"c10::BFloat16\",\"c10::BFloat16\",\"c10::BFloat16\",\"c10::BFloat16\",\"\",\"\",\"\"]");
    draw_call("cudaLaunchKernel", 1, 20, 5, 1);
    draw_operator("vllm::unified_attention_with_output", 600, 50,
                  "[[7,2,8],[7,1,8],[7,1,8],[7,2,8],[],[],[]]",
                  "[\"c10::BFloat16\",\"c10::BFloat16\",\"c10::BFloat16\",\"c10::BFloat16\",\"\",\"\",\"\"]");
    draw_call("cudaLaunchKernel", 1, 620, 5, 2);
    draw_work("kernel", "fmha", 0, 7, 100, 40, 1);
    draw_work("kernel", "fmha", 0, 7, 700, 40, 2);
    answer(NULL);
    assert_int_equal(roofline->rows.count, 1);
    assert_roofline_row(0, "vllm::unified_attention_with_output", 1, 2 * (2 * 20 - 8 + 2 * 30) * 16,
                        TABLE_INT_MISSING, 40);
    assert_int_equal(roofline->modelled_ns, 40);
}
