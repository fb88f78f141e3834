/* test_roofline.c - analyze/roofline.h: operations, bytes and time of operators. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analyze/roofline.h"
#include "tests/unit/drawn.h"

static struct trace *trace;
static struct roofline roofline;

static void draw_operator(const char *name, int64_t start_ns, int64_t dur_ns, const char *dims,
                          const char *types)
{
    draw_host("cpu_op", name, 1, start_ns, dur_ns);
    draw_text(ARG_INPUT_DIMS, dims);
    draw_text(ARG_INPUT_TYPES, types);
}

static void answer(void)
{
    struct tpa_error err = { 0 };
    trace = draw_end();
    struct selection *selection = selection_open(trace, &(struct selection_query){ 0 }, &err);
    assert_non_null(selection);
    roofline = roofline_analyze(trace, selection);
    selection_free(selection);
}

static void release(void)
{
    roofline_release(&roofline);
    trace_free(trace);
}

static void assert_row(size_t row, const char *name, int64_t flops, int64_t bytes, int64_t time_ns)
{
    const struct roofline_row *of = &roofline.rows.at[row];
    assert_string_equal(of->name.at, name);
    assert_int_equal(of->flops, flops);
    assert_int_equal(of->bytes, bytes);
    assert_int_equal(of->time_ns, time_ns);
    assert_true(of->intensity == (double)flops / (double)bytes);
    assert_true(of->gflops == (double)flops / (double)time_ns);
}

/*
 * Without a GPU the durations count. In float32:
 *
 *   mm        2x3 times 3x4: 2*2*3*4 = 48 operations; 6 + 12 read, 8 written: 26 elements
 *   addmm     the same with a bias of 4: 30 elements
 *   bmm       5 of these: 240; 5 * 26 = 130 elements
 *   add       [4,1] and [3] make [4,3]: torch counts the 4 of the first; 4 + 3 + 12 = 19 elements
 *   conv2d    1x2x5x5 with 3 of 2x3x3: output 1x3x3x3 = 27, each 2*2*3*3 = 36 operations: 972; 50 + 54 + 27 = 131
 *   mm, half  48 operations in 26 * 2 bytes
 */
static void operations_and_bytes(void **state)
{
    (void)state;
    draw_begin(&roofline_wants);
    draw_operator("aten::mm", 0, 60, "[[2,3],[3,4]]", "[\"float\",\"float\"]");
    draw_operator("aten::addmm", 100, 50, "[[4],[2,3],[3,4],[],[]]",
                  "[\"float\",\"float\",\"float\",\"Scalar\",\"Scalar\"]");
    draw_operator("aten::bmm", 200, 40, "[[5,2,3],[5,3,4]]", "[\"float\",\"float\"]");
    draw_operator("aten::add", 300, 30, "[[4,1],[3],[]]", "[\"float\",\"float\",\"Scalar\"]");
    draw_operator("aten::conv2d", 400, 20, "[[1,2,5,5],[3,2,3,3],[],[],[],[],[]]",
                  "[\"float\",\"float\",\"\",\"ScalarList\",\"ScalarList\",\"ScalarList\",\"Scalar\"]");
    draw_text(ARG_CONCRETE_INPUTS, "[\"\",\"\",\"\",\"[1, 1]\",\"[0, 0]\",\"[1, 1]\",\"1\"]");
    draw_operator("aten::mm", 500, 10, "[[2,3],[3,4]]", "[\"c10::Half\",\"c10::Half\"]");
    answer();
    assert_int_equal(roofline.rows.count, 6);
    assert_row(0, "aten::mm", 48, 26 * 4, 60);
    assert_row(1, "aten::addmm", 48, 30 * 4, 50);
    assert_row(2, "aten::bmm", 240, 130 * 4, 40);
    assert_row(3, "aten::add", 4, 19 * 4, 30);
    assert_row(4, "aten::conv2d", 972, 131 * 4, 20);
    assert_row(5, "aten::mm", 48, 26 * 2, 10);
    release();
}

/*
 * host     [conv2d                            ][mm    ]
 *            [cudnn_convolution][mul  ]
 *               launch 1           launch 2      launch 3
 *
 * The kernel of the convolution is conv2d's; that of mul, which counts for itself, is not. Two equal calls are one row.
 */
static void kernels_belong_to_the_nearest(void **state)
{
    (void)state;
    draw_begin(&roofline_wants);
    for (int64_t i = 0; i < 2; i++) {
        int64_t at = 1000 * i;
        draw_operator("aten::conv2d", at, 100, "[[1,2,5,5],[3,2,3,3],[],[],[],[],[]]",
                      "[\"float\",\"float\",\"\",\"\",\"\",\"\",\"Scalar\"]");
        draw_text(ARG_CONCRETE_INPUTS, "[\"\",\"\",\"\",\"[1, 1]\",\"[0, 0]\",\"[1, 1]\",\"1\"]");
        draw_host("cpu_op", "aten::cudnn_convolution", 1, at + 10, 40);
        draw_call("cudaLaunchKernel", 1, at + 15, 5, 10 * i + 1);
        draw_operator("aten::mul", at + 60, 20, "[[4],[]]", "[\"float\",\"Scalar\"]");
        draw_call("cudaLaunchKernel", 1, at + 65, 5, 10 * i + 2);
        draw_work("kernel", "conv", 0, 7, at + 30, 300, 10 * i + 1);
        draw_work("kernel", "mul", 0, 7, at + 400, 8, 10 * i + 2);
    }
    answer();
    assert_int_equal(roofline.rows.count, 2);
    assert_row(0, "aten::conv2d", 2 * 972, 2 * 131 * 4, 600);
    assert_int_equal(roofline.rows.at[0].calls, 2);
    assert_row(1, "aten::mul", 8, 2 * 8 * 4, 16);
    release();
}

/* No types, types that are none, no time, or absurd sizes: no row, and nothing breaks. */
static void what_does_not_tell_is_left_out(void **state)
{
    (void)state;
    draw_begin(&roofline_wants);
    draw_host("cpu_op", "aten::mm", 1, 0, 10);
    draw_text(ARG_INPUT_DIMS, "[[2,3],[3,4]]");
    draw_operator("aten::mm", 20, 10, "[[2,3],[3,4]]", "[\"tensor of mine\",\"\"]");
    draw_operator("aten::mm", 40, 0, "[[2,3],[3,4]]", "[\"float\",\"float\"]");
    draw_operator("aten::mm", 60, 10, "[[],[]]", "[\"float\",\"float\"]");
    draw_operator("aten::mm", 80, 10, "[[0,3],[3,4]]", "[\"float\",\"float\"]");
    draw_operator("aten::add", 100, 10, "[[-5],[7]]", "[\"float\",\"float\"]");
    draw_operator("aten::mul", 110, 5, "[[4000000000,1],[1,4000000000]]", "[\"float\",\"float\"]");
    draw_operator("aten::mm", 120, 10, "nonsense", "[\"float\"");
    draw_operator("aten::relu", 140, 10, "[[4]]", "[\"float\"]");
    answer();
    assert_int_equal(roofline.rows.count, 0);
    release();
}

static void roofs_are_found_by_name(void **state)
{
    (void)state;
    assert_true(roof_of_device("NVIDIA A100-SXM4-80GB").bandwidth_gbs == 2039);
    assert_true(roof_of_device("NVIDIA A100-SXM4-40GB").bandwidth_gbs == 1555);
    assert_true(roof_of_device("NVIDIA H100 80GB HBM3").matrix_gflops == 989.4e3);
    assert_true(roof_of_device("NVIDIA H100 PCIe").bandwidth_gbs == 2000);
    assert_true(roof_of_device("NVIDIA GeForce GTX 1080").bandwidth_gbs == 0);
    assert_true(roof_of_device("").bandwidth_gbs == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operations_and_bytes),
        cmocka_unit_test(kernels_belong_to_the_nearest),
        cmocka_unit_test(what_does_not_tell_is_left_out),
        cmocka_unit_test(roofs_are_found_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
