/* test_findings.c - summary/findings.h: what each finding saves. */
#include <math.h>

#include "derive/teardown.h"
#include "summary/finding_kit.h"
#include "tests/unit/summarized.h"

/*
 * Findings with a price. Each drawing has three steps of 1000 us, one after the other; US is the begin of one. What is
 * not drawn is Python. Where devices work, the host waits for them at the end of each step, so that the device decides
 * how long it takes.
 */

/* The loop waits 200 us, or 4, for its batch; then an operator. Without the wait a step takes 800 us. */
static void draw_data_loading(bool wrong, int64_t us, int64_t n)
{
    int64_t wait_us = wrong ? 200 : 4;
    (void)n;
    draw_loading_us(us, wait_us);
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
    draw_kernel_us("elementwise", us + 200, 10, us + 210, wrong ? 480 : 92, 2 * n + 1);
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
static void draw_two_operations(bool wrong, const char *category, const char *first, int64_t us, int64_t n)
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
    draw_two_operations(wrong, "gpu_memcpy", "Memcpy DtoD (Device -> Device)", us, n);
}

static void draw_copies_between_devices(bool wrong, int64_t us, int64_t n)
{
    draw_two_operations(wrong, "gpu_memcpy", "Memcpy PtoP (Device -> Device)", us, n);
}

static void draw_pinned_copies(bool wrong, int64_t us, int64_t n)
{
    draw_two_operations(wrong, "gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", us, n);
}

static void draw_communication(bool wrong, int64_t us, int64_t n)
{
    draw_two_operations(wrong, "kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", us, n);
}

/*
 *   host    eight launches, cudaDeviceSynchronize          [ 990 us of an operator
 *   stream 7    1 ns later, which tells that the clock is fine: four gemms of 150 us, four of 100 us       the first four beside all_reduce, on stream 20
 *
 * Three steps: 11 gemms beside with the same gemm before them and 12 alone. They take 1.5 times as long: without contention 200 us less.
 */
static void draw_contention(bool wrong, int64_t us, int64_t n)
{
    int64_t beside_us = wrong ? 150 : 100, at_us = us + 60;
    for (int64_t i = 0; i < 8; i++) {
        draw_op_us("cpu_op", "aten::mm", us + 6 * i, 5);
        draw_text(ARG_INPUT_DIMS, "[[64, 64], [64, 64]]");
        draw_call_us("cudaLaunchKernel", us + 6 * i + 1, 3, 10 * n + i + 1);
        draw_work("kernel", "gemm", 0, 7, 1000 * at_us + 1, 1000 * (i < 4 ? beside_us : 100), 10 * n + i + 1);
        draw_text(ARG_GRID, "[64,1,1]");
        draw_text(ARG_BLOCK, "[128,1,1]");
        at_us += i < 4 ? beside_us : 100;
    }
    draw_call_us("cudaLaunchKernel", us + 49, 3, 10 * n + 9);
    draw_work("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 0, 20, 1000 * (us + 60),
              1000 * 4 * beside_us, 10 * n + 9);
    draw_call_us("cudaDeviceSynchronize", us + 54, at_us - us - 50, 10 * n + 10);
    draw_op_us("cpu_op", "aten::add", at_us + 5, us + 2000 - at_us - 5);
}

/* Ten launches 50 us apart, from 0 to 460, of kernels of 10 us. As one graph they take no time of the host: 540 us. Fine: the
 * device is busy all the time, and waited for. */
static void draw_launches(bool wrong, int64_t us, int64_t n)
{
    if (!wrong) {
        draw_two_operations(false, "kernel", "elementwise", us, n);
        return;
    }
    for (int64_t i = 0; i < 10; i++) {
        draw_kernel_us("elementwise", us + 50 * i, 10, us + 50 * i + 12, 10, 10 * n + i + 1);
    }
    draw_op_us("cpu_op", "aten::add", us + 500, 490);
}

/* cudaMalloc takes 300 us, or 2, between two launches; then an operator of 400 us: 700 us without it. */
static void draw_allocation(bool wrong, int64_t us, int64_t n)
{
    int64_t malloc_us = wrong ? 300 : 2;
    draw_kernel_us("elementwise", us, 10, us + 12, 10, 3 * n + 1);
    draw_call_us("cudaMalloc", us + 20, malloc_us, 3 * n + 2);
    draw_kernel_us("elementwise", us + 20 + malloc_us, 10, us + 32 + malloc_us, 10, 3 * n + 3);
    draw_op_us("cpu_op", "aten::add", us + 600, 400);
}

/* A matrix product of 600 us, which the host waits for: on the tensor cores of a V100, with 125 TFLOP/s for 15.7, 75.36 us. Fine: it uses
 * them. */
static void draw_tensor_cores(bool wrong, int64_t us, int64_t n)
{
    if (n == 0)
        draw_device(0);
    draw_op_us("cpu_op", "aten::mm", us, 30);
    draw_kernel_us(wrong ? "volta_sgemm_128x64_nn" : "volta_fp16_s884gemm_fp16_128x128_ldg8_f2f_nn", us + 10,
                   10, us + 20, 600, 2 * n + 1);
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
        draw_kernel_us("elementwise", us + 20 * i, 10, us + 20 * i + 12, 5, 4 * n + i + 1);
    }
    snprintf(name, sizeof name, "reduce_%d", (int)n);
    draw_kernel_us(name, us + 60, load_us, us + 62 + load_us, 5, 4 * n + 4);
    draw_op_us("cpu_op", "aten::add", us + 600, 400);
}

/*
 *   host     0 launch 10  20 [ aten::to: cudaMemcpyAsync                 ) 700          1000
 *   device        12 [ elementwise   ) 312 [ copy to the host       ) 690
 *
 * If the host does not wait, it takes 320 us of a step, and the device, which is never idle then, its 300 and 378: 678 a step, 322 less.
 * Without the copy the call is over at 322: 378 less. Fine: the kernel takes 3 us and the copy 2, and the call is over at 27.
 */
static void draw_download(bool wrong, int64_t us, int64_t n)
{
    int64_t kernel_us = wrong ? 300 : 3, copy_us = wrong ? 378 : 2, end_us = wrong ? 700 : 27;
    draw_kernel_us("elementwise", us, 10, us + 12, kernel_us, 2 * n + 1);
    draw_op_us("cpu_op", "aten::to", us + 20, end_us - 20);
    draw_call_us("cudaMemcpyAsync", us + 20, end_us - 20, 2 * n + 2);
    draw_work_us("gpu_memcpy", "Memcpy DtoH (Device -> Pageable)", us + (wrong ? 312 : 23), copy_us,
                 2 * n + 2);
    draw_op_us("cpu_op", "aten::add", us + end_us, 1000 - end_us);
}

/* The host pins memory for 300 us, or 2, while the device, which takes 100 us of a step, does not wait: 700 us without. */
static void draw_pinning(bool wrong, int64_t us, int64_t n)
{
    int64_t pin_us = wrong ? 300 : 2;
    draw_kernel_us("elementwise", us, 10, us + 12, 100, 2 * n + 1);
    draw_call_us("cudaHostAlloc", us + 20, pin_us, 2 * n + 2);
    draw_op_us("cpu_op", "aten::add", us + 20 + pin_us, 980 - pin_us);
}

/*
 * A product that the device could do in next to no time takes 600 us, which the host waits for; the shortest kernel takes 100, and none is
 * taken to be shorter: 500 less. Fine: of matrices of 1024 the product takes 2^31 operations, at 15.7 * 10^12 a second of a V100
 * 136.8 us, which are 22.8 % of its time. Slow is what is below 20 %.
 */
static void draw_slow_product(bool wrong, int64_t us, int64_t n)
{
    if (n == 0)
        draw_device(0);
    draw_op_us("cpu_op", "aten::mm", us, 30);
    draw_inputs(wrong ? "[[8, 8], [8, 8]]" : "[[1024, 1024], [1024, 1024]]", "[\"float\",\"float\"]");
    draw_kernel_us("product", us + 10, 10, us + 20, 600, 3 * n + 1);
    draw_kernel_us("elementwise", us + 35, 10, us + 620, 100, 3 * n + 2);
    draw_call_us("cudaDeviceSynchronize", us + 45, 685, 3 * n + 3);
    draw_op_us("cpu_op", "aten::add", us + 730, 270);
}

/*
 *   rank 0   [ product, 300 us       )[ all-reduce: waits, then transfers      ) 700   the host waits for it until 710, and goes on
 *   rank 1   [ product, 500 us                      )[ all-reduce             ) 700
 *
 * With a product of 300 us on rank 1, too, all of it comes 200 us earlier. Fine: both take 300 us, and 300 us more of communication.
 */
static void draw_two_ranks(bool wrong, int64_t us, int64_t n)
{
    int64_t product_us = wrong && drawn_file()->rank == 1 ? 500 : 300;
    draw_kernel_us("product", us, 10, us + 12, product_us, 3 * n + 1);
    draw_kernel_us("ncclDevKernel_AllReduce_Sum_f32_RING_LL", us + 10, 10, us + 12 + product_us,
                   688 - product_us, 3 * n + 2);
    draw_reduces(2, n + 1);
    draw_call_us("cudaDeviceSynchronize", us + 20, 690, 3 * n + 3);
    draw_op_us("cpu_op", "aten::add", us + 710, 290);
}

/*
 *   host     0 [ tokenize, 300 us, or 4 ) launch  [ cudaDeviceSynchronize, 610 us ) [ aten::add ) 1000
 *   device                                    12 later [ elementwise, 600 us )
 *
 * Nothing is launched in tokenize: without it a step takes 700 us.
 */
static const char *tokenize_name = "tokenize";

static void draw_tokenize(bool wrong, int64_t us, int64_t n)
{
    int64_t first_us = wrong ? 300 : 4;
    draw_op_us("user_annotation", tokenize_name, us, first_us);
    draw_kernel_us("elementwise", us + first_us, 10, us + first_us + 12, 600, 2 * n + 1);
    draw_call_us("cudaDeviceSynchronize", us + first_us + 10, 610, 2 * n + 2);
    draw_op_us("cpu_op", "aten::add", us + first_us + 620, 380 - first_us);
}

/* The same with aten::normal_ on the host for 300 us; fine: 90 us are what a tensor may take to be prepared. The last operator launches
 * work, so that it does not compute on the host. */
static const char *host_operator = "aten::normal_";

static void draw_host_operator(bool wrong, int64_t us, int64_t n)
{
    int64_t first_us = wrong ? 300 : 90, then_us = us + first_us + 1, last_us = then_us + 620;
    draw_op_us("cpu_op", host_operator, us, first_us);
    draw_kernel_us("elementwise", then_us, 10, then_us + 12, 600, 3 * n + 1);
    draw_call_us("cudaDeviceSynchronize", then_us + 10, 610, 3 * n + 2);
    draw_op_us("cpu_op", "aten::add", last_us, 379 - first_us);
    draw_kernel_us("elementwise", last_us, 10, last_us + 12, 5, 3 * n + 3);
}

/*
 *   host     0 [ aten::_foreach_mul_      launch 10 us  ) 2500       3000
 *
 * The 2490 us of its own are no time of one launch. Fine: of three launches they may be.
 */
static void draw_launching_operator(bool wrong, int64_t us, int64_t n)
{
    draw_op_us("cpu_op", "aten::_foreach_mul_", us, 2500);
    for (int64_t i = 0; i < (wrong ? 1 : 3); i++) {
        draw_kernel_us("elementwise", us + 2400 + 20 * i, 10, us + 2412 + 20 * i, 5, 3 * n + i + 1);
    }
}

/* In steps of 4000 us the host does nothing that was recorded for 1500 us after a launch; fine: for 900, which Python may take. */
static void draw_pause(bool wrong, int64_t us, int64_t n)
{
    int64_t pause_us = wrong ? 1500 : 900;
    draw_kernel_us("elementwise", us, 10, us + 12, 10, n + 1);
    draw_op_us("cpu_op", "aten::add", us + 10 + pause_us, 3990 - pause_us);
}

/*
 *   host     0 [ mul: launch )[ add: launch ) 20  [ cudaDeviceSynchronize  ) 640      1000
 *   device        22 [ elementwise, 300 us )[ elementwise, 300 us ) 622
 *
 * What mul writes and add reads are 90 MB, which a V100 writes and reads in 180 / 900 ms: in one kernel a step takes 200 us less. Fine: 900
 * bytes.
 */
static void draw_two_elementwise(bool wrong, int64_t us, int64_t n)
{
    if (n == 0)
        draw_device(0);
    for (int64_t i = 0; i < 2; i++) {
        draw_op_us("cpu_op", i ? "aten::add" : "aten::mul", us + 10 * i, 10);
        draw_inputs(wrong ? "[[22500000], [22500000]]" : "[[225], [225]]", "[\"float\",\"float\"]");
        draw_kernel_us("elementwise", us + 10 * i, 10, us + 22 + 300 * i, 300, 3 * n + i + 1);
    }
    draw_call_us("cudaDeviceSynchronize", us + 25, 615, 3 * n + 3);
    draw_op_us("cpu_op", "aten::add", us + 640, 360);
}

/*
 *   host     0 [ mul )[ exp, 300 us )[ add ) 500 [ mm )   1000
 *
 * Without devices: all three as one take as long as exp, and 200 us less. Fine: what is between is not element-wise.
 */
static void draw_host_elementwise(bool wrong, int64_t us, int64_t n)
{
    (void)n;
    draw_op_us("cpu_op", "aten::mul", us, 100);
    draw_op_us("cpu_op", wrong ? "aten::exp" : "aten::_softmax", us + 100, 300);
    draw_op_us("cpu_op", "aten::add", us + 400, 100);
    draw_op_us("cpu_op", "aten::mm", us + 500, 500);
}

/* The same with sizes: exp takes 80 us, which are saved beside the 200 of mul. Fine: they are not of one size. */
static void draw_sized_elementwise(bool wrong, int64_t us, int64_t n)
{
    (void)n;
    draw_op_us("cpu_op", "aten::mul", us, 200);
    draw_inputs("[[1000], [1000]]", "[\"float\",\"float\"]");
    draw_op_us("cpu_op", "aten::exp", us + 200, 80);
    draw_inputs(wrong ? "[[1000]]" : "[[999]]", "[\"float\"]");
    draw_op_us("cpu_op", "aten::mm", us + 280, 720);
}

/*
 *   host     0 [ bmm )[ _softmax )[ bmm ) 30  [ cudaDeviceSynchronize                              ) 560      1000
 *   device        32 [ product, 100 us )[ softmax, 300 us )[ product, 100 us ) 532
 *
 * Of float32, which has no rate of tensor cores, the products keep their time, and the softmax goes. Fine: the second product does not read
 * what the softmax wrote.
 */
static void draw_attention(bool wrong, int64_t us, int64_t n)
{
    static const char *const names[] = { "aten::bmm", "aten::_softmax", "aten::bmm" };
    const char *dims[] = { "[[1, 512, 64], [1, 64, 512]]",
                           wrong ? "[[1, 512, 512], [], []]" : "[[1, 512, 256], [], []]",
                           "[[1, 512, 512], [1, 512, 64]]" };
    for (int64_t i = 0, at_us = 32; i < 3; i++) {
        int64_t dur_us = i == 1 ? 300 : 100;
        draw_op_us("cpu_op", names[i], us + 10 * i, 10);
        draw_inputs(dims[i], i == 1 ? "[\"float\",\"Scalar\",\"Scalar\"]" : "[\"float\",\"float\"]");
        draw_kernel_us(i == 1 ? "softmax" : "product", us + 10 * i, 10, us + at_us, dur_us, 4 * n + i + 1);
        at_us += dur_us;
    }
    draw_call_us("cudaDeviceSynchronize", us + 35, 525, 4 * n + 4);
    draw_op_us("cpu_op", "aten::add", us + 560, 440);
}

/* A step compiles for 300 us, as its shapes are new, and runs what was compiled. Fine: it was compiled before. */
static void draw_compilation(bool wrong, int64_t us, int64_t n)
{
    (void)n;
    draw_op_us("cpu_op", wrong ? "entire_frame_compile" : "Torch-Compiled Region: 0/0", us, 300);
    draw_op_us("cpu_op", wrong ? "_compile.compile_inner (dynamo_timed)" : "aten::mm", us + 10, 280);
    draw_op_us("cpu_op", "aten::add", us + 300, 700);
}

/*
 *   host     [ ten times aten::add_ of 40 us, a launch in each, every 50 us ) 500 sync 510 [ aten::mm   1000
 *   device         ten kernels of 10 us, each 2 us behind its launch
 *
 * One call for all takes 40 us, a tenth of the 100 between, and half a microsecond for each of nine that go: 445.5 less (factors are kept in steps of 1 in 4096). Fine: ten calls for lists of tensors.
 */
static void draw_optimizer(bool wrong, int64_t us, int64_t n)
{
    enum { CALLS = 10 };
    draw_op_us("user_annotation", "Optimizer.step#AdamW.step", us, 500);
    for (int64_t i = 0; i < CALLS; i++) {
        draw_op_us("cpu_op", wrong ? "aten::add_" : "aten::_foreach_add_", us + 50 * i, 40);
        draw_kernel_us("elementwise", us + 50 * i + 10, 10, us + 50 * i + 22, 10, 20 * n + i + 1);
    }
    draw_call_us("cudaDeviceSynchronize", us + 500, 10, 20 * n + CALLS + 1);
    draw_op_us("cpu_op", "aten::mm", us + 510, 490);
}

/*
 *   host   [ ten times aten::sqrt and aten::mul_, 10 us each, or 24 us of large tensors, every 25 us ) 500 [ aten::mm   1000
 *
 * Of 500 us are left: 10 us for a call of each name, 5 times 14 us that mul_ computes beyond that, in place, a tenth of the 160 between, and
 * half a microsecond for each of 18 that go: 115 us. The root is a temporary tensor, which is not made any more.
 */
static void draw_host_optimizer(bool wrong, int64_t us, int64_t n)
{
    (void)n;
    draw_op_us("user_annotation", "Optimizer.step#AdamW.step", us, 500);
    for (int64_t i = 0; i < 20; i++)
        draw_op_us("cpu_op",
                   wrong   ? i % 2 ? "aten::mul_" : "aten::sqrt"
                   : i % 2 ? "aten::_foreach_mul_"
                           : "aten::_foreach_sqrt",
                   us + 25 * i, i / 2 % 2 ? 24 : 10);
    draw_op_us("cpu_op", "aten::mm", us + 510, 490);
}

/*
 *   0 [ aten::linear ) 100   200 [ evaluate_function: AddmmBackward0                       ) 700  [ aten::add_   1000
 *                                    220 [ aten::linear ) 420   450 [ aten::mm        ) 700
 *
 * From the start of the node to the end of what only a forward pass calls: 220 us. Fine: a product of the derivative in its place.
 */
static void draw_recomputation(bool wrong, int64_t us, int64_t n)
{
    (void)n;
    draw_op_us("cpu_op", "aten::linear", us, 100);
    draw_op_us("cpu_op", "autograd::engine::evaluate_function: AddmmBackward0", us + 200, 500);
    draw_op_us("cpu_op", wrong ? "aten::linear" : "aten::mm", us + 220, 200);
    draw_op_us("cpu_op", "aten::mm", us + 450, 250);
    draw_op_us("cpu_op", "aten::add_", us + 700, 300);
}

static void draw_product_us(int64_t us, int64_t dur_us, const char *dims)
{
    draw_op_us("cpu_op", "aten::mm", us, dur_us);
    draw_text(ARG_INPUT_DIMS, dims);
    draw_text(ARG_INPUT_TYPES, "[\"float\",\"float\"]");
}

/* Of two products of 10 by 10, 2,000 operations and 1,200 bytes, each takes 1.5 ms. Fine: they are of 200 by 200, for 16 million. */
static void draw_slow_threads(bool wrong, int64_t us, int64_t n)
{
    (void)n;
    for (int64_t i = 0; i < 2; i++)
        draw_product_us(us + 1500 * i, 1500, wrong ? "[[10, 10], [10, 10]]" : "[[200, 200], [200, 200]]");
    draw_op_us("cpu_op", "aten::relu", us + 3000, 1000);
}

/*
 *   0 [ aten::mm of 10 by 10, 14 ms ) 14 [ the same, 900 us ) 14.9  15 [ aten::relu ) 16
 *
 * The first product prepares what the second uses: 14 ms less 3.2 us. Fine: they are of 500 by 500.
 */
static void draw_first_call(bool wrong, int64_t us, int64_t n)
{
    (void)n;
    const char *dims = wrong ? "[[10, 10], [10, 10]]" : "[[500, 500], [500, 500]]";
    draw_product_us(us, 14000, dims);
    draw_product_us(us + 14000, 900, dims);
    draw_op_us("cpu_op", "aten::relu", us + 15000, 1000);
}

/*
 *   host   0 [ aten::clone: aten::copy_ ) 300 [ aten::mm       1000
 *
 * Without the copy the step takes 700 us. Fine: another operator copies.
 */
static void draw_host_copies(bool wrong, int64_t us, int64_t n)
{
    (void)n;
    if (!wrong)
        draw_op_us("cpu_op", "aten::reshape", us, 310);
    draw_op_us("cpu_op", "aten::clone", us, 300);
    draw_op_us("cpu_op", "aten::copy_", us + 10, 280);
    draw_op_us("cpu_op", "aten::mm", us + 310, 690);
}

/* The product of 600 us is of float64, and takes half in float32. Fine: a number is of it, which has no sizes. */
static void draw_float64(bool wrong, int64_t us, int64_t n)
{
    (void)n;
    draw_op_us("cpu_op", "aten::mm", us, 600);
    draw_text(ARG_INPUT_DIMS, wrong ? "[[256, 256], [256, 256]]" : "[[256, 256], []]");
    draw_text(ARG_INPUT_TYPES, wrong ? "[\"double\",\"double\"]" : "[\"float\",\"double\"]");
    draw_op_us("cpu_op", "aten::addmm", us + 600, 400);
    draw_text(ARG_INPUT_DIMS, "[[256], [256, 256], [256, 256]]");
    draw_text(ARG_INPUT_TYPES, "[\"float\",\"float\",\"float\"]");
}

/*
 *   host     0 [ launch of the product, launch, cudaDeviceSynchronize                 ) 980   1000
 *   device           20 [ product ) 420 [ elementwise ) 820
 *
 * Of a B200, whose peaks are 37 TFLOP/s in float64 and 75 in float32: the product takes 197.33 us, and what moves bytes 200.
 */
static void draw_float64_on_device(bool wrong, int64_t us, int64_t n)
{
    if (n == 0)
        *VEC_PUSH(&drawn_file()->devices) =
            (struct trace_device){ .id = 0, .name = "NVIDIA B200", .sm_count = 148 };
    for (int64_t i = 0; i < 2; i++) {
        draw_op_us("cpu_op", i ? "aten::relu" : "aten::mm", us + 8 * i, 8);
        draw_text(ARG_INPUT_DIMS, "[[256, 256], [256, 256]]");
        draw_text(ARG_INPUT_TYPES, wrong ? "[\"double\",\"double\"]" : "[\"float\",\"float\"]");
        draw_kernel_us(i ? "elementwise" : "dgemm", us + 8 * i + 1, 5, us + 20 + 400 * i, 400, 3 * n + i + 1);
    }
    draw_call_us("cudaDeviceSynchronize", us + 20, 960, 3 * n + 3);
}

/*
 *   host   0 [ aten::embedding_dense_backward: aten::zeros 300 ) 400 [ aten::add_, in SGD 200 ) 600 [ aten::mm   1000
 *
 * Of 1000 rows 100 are used: nothing is filled, and the optimizer takes a tenth. Fine: 600 are used.
 */
static void draw_dense_gradient(bool wrong, int64_t us, int64_t n)
{
    (void)n;
    draw_op_us("cpu_op", "aten::embedding_dense_backward", us, 400);
    draw_text(ARG_INPUT_DIMS, wrong ? "[[100, 64], [100], [], [], []]" : "[[600, 64], [600], [], [], []]");
    draw_text(ARG_INPUT_TYPES, "[\"float\",\"long int\",\"Scalar\",\"Scalar\",\"Scalar\"]");
    draw_text(ARG_CONCRETE_INPUTS, "[\"\",\"\",\"1000\",\"-1\",\"False\"]");
    draw_op_us("cpu_op", "aten::zeros", us + 10, 300);
    draw_op_us("user_annotation", "Optimizer.step#SGD.step", us + 400, 200);
    draw_op_us("cpu_op", "aten::add_", us + 400, 200);
    draw_text(ARG_INPUT_DIMS, "[[1000, 64], [1000, 64], []]");
    draw_text(ARG_INPUT_TYPES, "[\"float\",\"float\",\"Scalar\"]");
    draw_op_us("cpu_op", "aten::mm", us + 600, 400);
}

/* The same without sizes: the table is filled for most of its gradient. Fine: for less than half. */
static void draw_unsized_dense_gradient(bool wrong, int64_t us, int64_t n)
{
    (void)n;
    draw_op_us("cpu_op", "aten::embedding_dense_backward", us, 400);
    draw_op_us("cpu_op", "aten::zeros", us + 10, wrong ? 210 : 190);
    draw_op_us("cpu_op", "aten::mm", us + 600, 400);
}

/*
 *   host     0 [ aten::embedding_dense_backward: launch, launch ) 20 [ cudaDeviceSynchronize  ) 980 1000
 *   device           20 [ fill 600 us )[ elementwise, 300 us )
 *
 * Fine: the fill takes 3 us.
 */
static void draw_dense_gradient_on_device(bool wrong, int64_t us, int64_t n)
{
    int64_t fill_us = wrong ? 600 : 3;
    draw_op_us("cpu_op", "aten::embedding_dense_backward", us, 20);
    draw_op_us("cpu_op", "aten::zero_", us, 11);
    draw_kernel_us("fill", us, 10, us + 20, fill_us, 3 * n + 1);
    draw_kernel_us("embedding_backward", us + 12, 5, us + 20 + fill_us, 900 - fill_us, 3 * n + 2);
    draw_call_us("cudaDeviceSynchronize", us + 20, 930, 3 * n + 3);
}

/* Eight gradients of x[i], each of which fills 30 us and adds 20: 400 us. Fine: seven. */
static void draw_index_gradient(bool wrong, int64_t us, int64_t n)
{
    (void)n;
    for (int64_t i = 0, at_us = us; i < (wrong ? 8 : 7); i++, at_us += 70) {
        draw_op_us("cpu_op", "autograd::engine::evaluate_function: SelectBackward0", at_us, 70);
        draw_op_us("cpu_op", "aten::select_backward", at_us + 1, 40);
        draw_op_us("cpu_op", "aten::zeros", at_us + 2, 30);
        draw_op_us("cpu_op", "aten::add_", at_us + 45, 20);
    }
    draw_op_us("cpu_op", "aten::mm", us + 600, 400);
}

static const struct price_case {
    enum finding_rule rule;
    void (*draw)(bool wrong, int64_t us, int64_t n); /* what goes on in step N, which begins at US */
    double saves_us;
    int ranks;          /* 0: one */
    const char *advice; /* a word of it; NULL: any */
    int64_t step_us;    /* 0: 1000 */
    bool no_steps;      /* no step is marked: it is drawn once */
} price_cases[] = {
    { FINDING_DATA_LOADING, draw_data_loading, 200, .advice = "larger batches" },
    { FINDING_HOST_TIME, draw_tokenize, 300, .advice = "in the workers of the loader" },
    { FINDING_HOST_OPERATORS, draw_host_operator, 300, .advice = "on the device" },
    { FINDING_HOST_OPERATORS, draw_launching_operator, 2490, .step_us = 3000 },
    { FINDING_PAUSES, draw_pause, 1500, .advice = "with_stack=True", .step_us = 4000 },
    { FINDING_FUSION, draw_two_elementwise, 200, .advice = "torch.compile" },
    { FINDING_FUSION, draw_host_elementwise, 200, .advice = "was not recorded" },
    { FINDING_FUSION, draw_sized_elementwise, 80, .advice = "their tensors are of one size" },
    { FINDING_ATTENTION, draw_attention, 300, .advice = "scaled_dot_product_attention" },
    { FINDING_COMPILATION, draw_compilation, 300, .advice = "dynamic=True" },
    { FINDING_OPTIMIZER, draw_optimizer, 445.54, .advice = "fused=True" },
    { FINDING_OPTIMIZER, draw_host_optimizer, 385, .advice = "makes no temporary tensors" },
    { FINDING_RECOMPUTATION, draw_recomputation, 220, .advice = "checkpoint fewer blocks" },
    { FINDING_HOST_COPIES, draw_host_copies, 300, .advice = "leave out clone()" },
    { FINDING_FLOAT64, draw_float64, 300, .advice = "float32 where its precision suffices" },
    { FINDING_FLOAT64, draw_float64_on_device, 402.667 },
    { FINDING_DENSE_GRADIENT, draw_dense_gradient, 480, .advice = "sparse=True" },
    { FINDING_DENSE_GRADIENT, draw_unsized_dense_gradient, 210 },
    { FINDING_DENSE_GRADIENT, draw_dense_gradient_on_device, 600 },
    { FINDING_INDEX_GRADIENT, draw_index_gradient, 400, .advice = "x.unbind(0)" },
    { FINDING_THREADS, draw_slow_threads, 2993.6, .advice = "OMP_NUM_THREADS=1", .step_us = 4000 },
    { FINDING_FIRST_CALLS, draw_first_call, 13996.8, .advice = "before the recording", .step_us = 16000,
      .no_steps = true },
    { FINDING_HOST_WAIT, draw_host_wait, 400, .advice = "keep the value on the device" },
    { FINDING_HOST_WAIT, draw_download, 322, .advice = "to(\"cpu\", non_blocking=True)" },
    { FINDING_PAGEABLE_COPIES, draw_pageable_copies, 390, .advice = "pin_memory=True" },
    { FINDING_PINNED_COPIES, draw_pinned_copies, 300, .advice = "prefetch" },
    { FINDING_COPIES_TO_HOST, draw_download, 378, .advice = "reduce on the device" },
    { FINDING_DEVICE_COPIES, draw_device_copies, 300, .advice = "contiguous()" },
    { FINDING_OTHER_COPIES, draw_copies_between_devices, 300, .advice = "while the device computes" },
    { FINDING_FIRST_USE, draw_first_use, 300 },
    { FINDING_ALLOCATION, draw_allocation, 300, .advice = "keep shapes constant" },
    { FINDING_ALLOCATION, draw_pinning, 300, .advice = "pin memory once" },
    { FINDING_TENSOR_CORES, draw_tensor_cores, 524.64, .advice = "torch.autocast" },
    { FINDING_BELOW_PEAK, draw_slow_product, 500 },
    { FINDING_COMMUNICATION, draw_communication, 300 },
    { FINDING_CONTENTION, draw_contention, 200, .advice = "fewer channels", .step_us = 2000 },
    { FINDING_SLOW_RANKS, draw_two_ranks, 200, .ranks = 2 },
    { FINDING_LAUNCHES, draw_launches, 460 },
};

static void draw_case(const struct price_case *of, bool wrong)
{
    for (int rank = 0; rank < (of->ranks ? of->ranks : 1); rank++) {
        draw_rank(rank);
        int64_t step_us = of->step_us ? of->step_us : 1000;
        for (int64_t n = 0; n < (of->no_steps ? 1 : 3); n++) {
            if (!of->no_steps)
                draw_step_us(n, step_us * n, step_us);
            of->draw(wrong, step_us * n, n);
        }
    }
}

TEST(every_finding_has_its_price)
{
    for (size_t i = 0; i < sizeof price_cases / sizeof *price_cases; i++)
        for (int wrong = 0; wrong < 2; wrong++) {
            const struct price_case *of = &price_cases[i];
            const char *rule = finding_rules[of->rule].name;
            draw_case(of, wrong);
            answer();
            size_t row = row_of(rule);
            if ((row != SIZE_MAX) != wrong)
                fail_msg("case %zu: %s is %sfound where it is %s", i, rule, wrong ? "not " : "",
                         wrong ? "wrong" : "fine");
            if (wrong) {
                const struct table *findings = table_called(result, "findings");
                if (llabs(int_called(findings, row, "saves") - llround(1000 * of->saves_us)) > 1)
                    fail_msg("case %zu: %s saves %lld ns", i, rule,
                             (long long)int_called(findings, row, "saves"));
                assert_float_equal(number_called(findings, row, "saves_share"),
                                   of->saves_us / (double)(of->step_us ? of->step_us : 1000), 2e-6);
                assert_non_null(strstr(text_called(findings, row, "advice"), of->advice ? of->advice : ""));
                assert_true(strncmp(text_called(findings, row, "check"), "tpa ", 4) == 0);
            }
        }
}

TEST(a_first_call_is_not_how_later_ones_run)
{
    for (int64_t steps = 0; steps < 2; steps++) {
        if (steps)
            draw_step_us(0, 0, 16000);
        draw_first_call(true, 0, 0);
        answer();
        const struct answer *on_screen = result_answer(result);
        assert_int_equal(row_of("first_calls") != SIZE_MAX, steps == 0);
        assert_int_equal(row_of("threads"), SIZE_MAX);
        assert_int_equal(strstr(on_screen->verdict, "is first calls of operators") != NULL, steps == 0);
        if (steps == 0)
            assert_string_equal(on_screen->findings.at[0].where, "14.000ms for 3.200us of work: aten::mm");
    }
}

/*
 *   host     [ run.py(7): replay                                    ) 101
 *              1 [ aten::copy_ [ the same, 2..100          ) )            or from 60 on
 *   device 0 [ a ) 1                                        101 [ b )
 *
 * Calls were not recorded; the operator that lasts from one kernel to the next tells where the host was, or else the function.
 */
TEST(where_calls_are_missing_operators_tell_what_the_host_did)
{
    for (int half = 0; half < 2; half++) {
        draw_op_us("python_function", "run.py(7): replay", 0, 101000);
        draw_arg(ARG_PYTHON_ID, 1);
        draw_op_us("cpu_op", "aten::copy_", half ? 60000 : 1000, half ? 40000 : 99500);
        draw_op_us("cpu_op", "aten::copy_", half ? 60000 : 2000, half ? 39000 : 98000);
        draw_work_us("kernel", "a", 0, 1000, DRAW_NO_CALL);
        draw_work_us("kernel", "b", 101000, 1000, DRAW_NO_CALL);
        answer();
        const struct answer *on_screen = result_answer(result);
        assert_string_equal(
            on_screen->because,
            half ? "in one gap of 100.000ms; meanwhile the host is in run.py(7): replay."
                 : "in one gap of 100.000ms; meanwhile the host is in aten::copy_, run.py(7): replay.");
    }
}

/* Seven steps of 100 us; the first takes 700, or the fourth: it compiles for 600. The first is left out, and said; the fourth is slow. */
TEST(a_first_step_that_compiles_is_left_out)
{
    for (int64_t compiles = 0; compiles <= 3; compiles += 3) {
        int64_t us = 0;
        for (int64_t n = 0; n < 7; n++) {
            int64_t more_us = n == compiles ? 600 : 0;
            draw_step_us(n, us, 100 + more_us);
            draw_op_us("cpu_op", "aten::mm", us + 10, 30);
            if (more_us)
                draw_op_us("user_annotation", "compile_fx_inner (dynamo_timed)", us + 50, more_us);
            us += 100 + more_us;
        }
        answer();
        const char *said = result_answer(result)->pattern;
        assert_string_equal(
            said, compiles == 0
                      ? "Step 0 does not count: it took 700.000us, as programs are compiled in it, once."
                      : "Step 3 runs compile_fx_inner (dynamo_timed), perhaps by plan (a longer "
                        "recording tells): 700.000us instead of 100.000us.");
        assert_int_equal(row_of_rule("remarks", "slow_step") != SIZE_MAX, compiles != 0);
    }
}

/*
 *   host     0 [ launches, 210 us          nothing is recorded            5070
 *   device       70 [ 50 kernels of 100 us, one after the other      ) 5070
 *
 * One step: the host may have waited for the device without a record, and the next step may begin before its end. Of three steps it
 * is known that each begins behind the pause, which costs 70 us of 5070.
 */
TEST(a_pause_at_the_end_of_one_step_is_no_advice)
{
    for (int64_t steps = 1; steps <= 3; steps += 2) {
        for (int64_t n = 0; n < steps; n++) {
            int64_t us = 5070 * n;
            draw_step_us(n, us, 5070);
            for (int64_t i = 0; i < 50; i++) {
                draw_kernel_us("elementwise", us + 10 + 4 * i, 3, us + 70 + 100 * i, 100, 100 * n + i + 1);
            }
        }
        answer();
        assert_int_equal(row_of("pauses") != SIZE_MAX, steps > 1);
        assert_int_equal(row_of("launches") != SIZE_MAX, steps > 1);
    }
}

/*
 *   host     0 [ aten::mm, 10 ms ) pause [ aten::add, 1 ms )
 *
 * Half of aten::mm is 5 ms: where the pause takes less, a faster product comes first; where it takes more, the pause does, alone.
 */
TEST(what_takes_longest_comes_before_shorter_pauses)
{
    for (int64_t pause_us = 4900; pause_us <= 5100; pause_us += 200) {
        bool is_shorter = pause_us < 5000;
        draw_op_us("cpu_op", "aten::mm", 0, 10000);
        draw_op_us("cpu_op", "aten::add", 10000 + pause_us, 1000);
        answer();
        const struct answer *on_screen = result_answer(result);
        assert_int_equal(on_screen->findings.count, is_shorter ? 2 : 1);
        assert_string_equal(on_screen->findings.at[0].action,
                            is_shorter ? "Make aten::mm faster" : "Find out why the host pauses");
        assert_string_equal(on_screen->findings.at[is_shorter].action, "Find out why the host pauses");
        assert_int_equal(strncmp(notice_of("answer"), "a faster operation would save most", 34) == 0,
                         is_shorter);
        if (is_shorter)
            assert_string_equal(on_screen->findings.at[0].gain, "if it took half its time: 5.000ms, 31.4 %");
    }
}

/* The user's range around all takes longest itself, 6 of 10 ms; half of it would be half of aten::mm, too, which is named. */
TEST(an_annotation_is_not_what_could_be_faster)
{
    draw_op_us("user_annotation", "outer", 0, 10000);
    for (int64_t us = 0; us < 6000; us += 50)
        draw_op_us("cpu_op", "aten::add", us, 1);
    draw_op_us("cpu_op", "aten::mm", 6000, 4000);
    answer();
    const struct answer *on_screen = result_answer(result);
    assert_string_equal(on_screen->findings.at[0].action, "Make aten::mm faster");
    assert_string_equal(on_screen->findings.at[0].gain, "if it took half its time: 2.000ms, 20.0 %");
}

/*
 *   host     each step [ next batch, 4.9 or 5.1 ms ) [ aten::mm, 10 ms )
 *
 * Half of aten::mm is 5 ms: a faster product stands behind the change that saves less, not behind the one that saves more.
 */
TEST(what_takes_longest_stands_behind_small_changes)
{
    for (int64_t load_us = 4900; load_us <= 5100; load_us += 200) {
        for (int64_t n = 0; n < 4; n++) {
            int64_t us = (load_us + 10000) * n;
            draw_step_us(n, us, load_us + 10000);
            draw_loading_us(us, load_us);
            draw_op_us("cpu_op", "aten::mm", us + load_us, 10000);
        }
        answer();
        const struct answer *on_screen = result_answer(result);
        assert_string_equal(on_screen->findings.at[0].action, "Load batches beside the loop");
        assert_int_equal(on_screen->findings.count, load_us < 5000 ? 2 : 1);
        if (load_us < 5000)
            assert_string_equal(on_screen->findings.at[1].action, "Make aten::mm faster");
    }
}

/*
 *   host     each step [ next batch, 2.4 or 2.6 ms ) [ aten::mm, 10 ms )
 *
 * Half of aten::mm is 5 ms: where the change saves less than half of that, a faster product comes first, and the sentence does not lead to the
 * change.
 */
TEST(what_takes_longest_comes_before_changes_of_less_than_half)
{
    for (int64_t load_us = 2400; load_us <= 2600; load_us += 200) {
        for (int64_t n = 0; n < 4; n++) {
            int64_t us = (load_us + 10000) * n;
            draw_step_us(n, us, load_us + 10000);
            draw_loading_us(us, load_us);
            draw_op_us("cpu_op", "aten::mm", us + load_us, 10000);
        }
        answer();
        const struct answer *on_screen = result_answer(result);
        bool first = load_us < 2500;
        assert_int_equal(on_screen->findings.count, 2);
        assert_string_equal(on_screen->findings.at[!first].action, "Make aten::mm faster");
        assert_string_equal(on_screen->findings.at[first].action, "Load batches beside the loop");
        assert_int_equal(strstr(on_screen->verdict, "No change was found") == NULL, first);
        assert_int_equal(strncmp(notice_of("answer"), "a faster operation would save most", 34) == 0, first);
        assert_non_null(strstr(on_screen->change_note, first ? "change 2" : "change 1"));
    }
}

/*
 *   host     0 [ bmm, 300 )[ _softmax, 200 )[ bmm, 300 ) 800 [ aten::add ) 1000
 *
 * The products take longest. Attention in one kernel is in their place, though its price on CPUs is the softmax alone.
 */
TEST(a_change_that_replaces_what_takes_longest_is_not_elsewhere)
{
    static const char *const names[] = { "aten::bmm", "aten::_softmax", "aten::bmm" };
    static const char *const dims[] = { "[[1, 512, 64], [1, 64, 512]]", "[[1, 512, 512], [], []]",
                                        "[[1, 512, 512], [1, 512, 64]]" };
    for (int64_t n = 0; n < 3; n++) {
        draw_step_us(n, 1000 * n, 1000);
        for (int64_t i = 0, us = 1000 * n; i < 3; us += i++ == 1 ? 200 : 300) {
            draw_op_us("cpu_op", names[i], us, i == 1 ? 200 : 300);
            draw_text(ARG_INPUT_DIMS, dims[i]);
        }
        draw_op_us("cpu_op", "aten::add", 1000 * n + 800, 200);
    }
    answer();
    const struct answer *on_screen = result_answer(result);
    assert_int_equal(strncmp(on_screen->verdict, "aten::bmm takes 60.0 %", 22), 0);
    assert_null(strstr(on_screen->verdict, "No change was found"));
    assert_string_equal(on_screen->findings.at[0].action, "Compute attention in one kernel");
}

/* The change of the optimizer saves more than the root takes, or the product, whichever takes longest: the first sentence is about it. Or
 * the product takes more, and that change leaves it as it is. */
TEST(a_change_that_saves_more_than_any_operator_takes_is_said_first)
{
    static const int64_t products_us[] = { 250, 400, 480 };
    for (size_t i = 0; i < 3; i++) {
        int64_t product_us = products_us[i];
        const char *begins =
            i < 2 ? "The optimizer updates parameters one by one, which costs" : "aten::mm takes 48.0 %";
        for (int64_t n = 0; n < 3; n++) {
            draw_step_us(n, 1000 * n, 1000);
            draw_op_us("user_annotation", "Optimizer.step#AdamW.step", 1000 * n, 500);
            for (int64_t k = 0; k < 10; k++)
                draw_op_us("cpu_op", "aten::sqrt", 1000 * n + 50 * k, k % 2 ? 48 : 20);
            draw_op_us("cpu_op", "aten::mm", 1000 * n + 500, product_us);
            draw_op_us("cpu_op", "aten::addmm", 1000 * n + 500 + product_us, 500 - product_us);
        }
        answer();
        const char *verdict = result_answer(result)->verdict;
        assert_int_equal(strncmp(verdict, begins, strlen(begins)), 0);
        assert_int_equal(strstr(verdict, "No change was found that makes this faster") != NULL, i == 2);
    }
}

/*
 *   host     launch [ cudaDeviceSynchronize   20 ms ) touches pages, 6 ms [ cudaFree
 *   device   10 us [ add, 20 ms                     )  page  page  page
 *
 * The kernel has one block on 108 multiprocessors, and pages move for 1 ms of it. Half of it saves more than what the host does
 * with pages afterwards; in front of both there is no advice to record again.
 */
TEST(unified_memory_is_advised_to_move_ahead)
{
    drawn_file()->producer = PRODUCER_NSYS;
    *VEC_PUSH(&drawn_file()->devices) = (struct trace_device){ .id = 0, .name = "A100", .sm_count = 108 };
    draw_kernel_us("add(float *)", 0, 10, 10, 20000, 1);
    draw_decimal(ARG_BLOCKS_PER_SM, 1.0 / 108);
    draw_text(ARG_BLOCK, "[1,1,1]");
    draw_work("gpu_memcpy", "Memcpy HtoD (Unified memory)", 0, 9, 5000000, 1000000, DRAW_NO_CALL);
    draw_call_us("cudaDeviceSynchronize", 20, 20000, 2);
    for (int64_t i = 0; i < 6; i++)
        draw_work("gpu_memcpy", "Memcpy DtoH (Unified memory)", 0, 9, 20500000 + 1000000 * i, 100000,
                  DRAW_NO_CALL);
    draw_call_us("cudaFree", 26020, 10, 3);
    answer();
    const struct answer *on_screen = result_answer(result);
    assert_int_equal(on_screen->findings.count, 2);
    assert_string_equal(on_screen->findings.at[0].action, "Make add(float *) faster");
    assert_string_equal(
        on_screen->findings.at[0].advice,
        "its 1 block of 1 thread leaves most of the 108 multiprocessors idle: compute in more blocks; pages of "
        "unified memory move for 1.000ms while it runs, and it waits for each: move them before "
        "(cudaMemPrefetchAsync, cudaMemAdvise)");
    assert_string_equal(on_screen->findings.at[1].action, "Move pages to the host before it uses them");
    assert_int_equal(row_of("launches"), SIZE_MAX);
}

/*
 * Products take 3 ms, and what they computed is deleted for 20. Behind all else that is the end of the program, and the products take
 * longest; before another product, or in a step, it is what the program does.
 */
TEST(to_release_at_the_end_is_not_what_takes_longest)
{
    enum { LAST, BEFORE, IN_STEP, CASES };
    for (int at = LAST; at < CASES; at++) {
        if (at == IN_STEP)
            for (int64_t n = 0; n < 2; n++)
                draw_op_us("user_annotation", n ? "ProfilerStep#1" : "ProfilerStep#0", 12000 * n, 12000);
        draw_op_us("cpu_op", "aten::mm", 0, 2000);
        draw_op_us("cpu_op", "aten::mm", 2000, 1000);
        draw_op_us("cpu_op", "TFE_DeleteTensorHandle", 3000, 20000);
        if (at == BEFORE)
            draw_op_us("cpu_op", "aten::mm", 23000, 100);
        answer();
        const char *verdict = result_answer(result)->verdict;
        assert_non_null(
            strstr(verdict, at == LAST ? "aten::mm takes 100.0 %" : "TFE_DeleteTensorHandle takes "));
        assert_int_equal(strncmp(notice_of("teardown"), "20.000ms behind all else", 24) == 0, at == LAST);
        assert_int_equal(teardown_of(drawn())->count, at == LAST);
    }
}

/* Words of a name, not letters within others. */
TEST(calls_that_release_are_told_by_words)
{
    static const char *const releases[] = { "TFE_DeleteTensorHandle", "cudaFreeHost", "destroy_process_group",
                                            "torch/x.py(3): __del__", "MPI_Finalize" };
    static const char *const others[] = { "aten::freeze", "aten::mm", "Undeleted", "carefree",
                                          "FreezeLayers" };
    for (size_t i = 0; i < sizeof releases / sizeof *releases; i++)
        assert_true(teardown_releases(releases[i]));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(teardown_releases(others[i]));
}

/* Four steps of 4 ms. A pause of 2 ms in one of them costs each step 500 us. A pause of 3.98 ms in each, beside kernels of 3.5 ms, saves
 * about 500 us, as then the kernels are the limit. */
TEST(the_longest_pause_is_compared_with_the_saving)
{
    for (int each = 0; each < 2; each++) {
        for (int64_t n = 0; n < 4; n++) {
            int64_t us = 4000 * n, pause_us = each ? 3980 : n == 1 ? 2000 : 500;
            draw_step_us(n, us, 4000);
            draw_kernel_us("elementwise", us, 10, us + 12, each ? 3500 : 10, n + 1);
            draw_op_us("cpu_op", "aten::add", us + 10 + pause_us, 3990 - pause_us);
        }
        answer();
        assert_string_equal(
            finding_text("pauses", "where"),
            each
                ? "4 in 4 steps, the longest begins at 10.000us, after cudaLaunchKernel, before aten::add; it takes 3.980ms, "
                  "but without them the devices are the limit"
                : "1 in 4 steps, at 4.010ms, after cudaLaunchKernel, before aten::add; it takes 2.000ms, 500.000us a "
                  "step");
    }
}

/*
 *   host     [ DataLoader 200 [ tokenize 500 launch [ aten::mm                1000
 *   device                              512 [ kernel                 1462
 *
 * Without either the device is the limit: 950 us. That is one saving of 50 us under two names, and is said.
 */
TEST(two_changes_that_save_the_same_time_are_named)
{
    for (int64_t n = 0; n < 5; n++) {
        draw_step_us(n, 1000 * n, 1000);
        draw_loading_us(1000 * n, 200);
        draw_op_us("user_annotation", "tokenize", 1000 * n + 200, 300);
        draw_kernel_us("elementwise", 1000 * n + 500, 10, 1000 * n + 512, 950, n + 1);
        draw_op_us("cpu_op", "aten::mm", 1000 * n + 520, 480);
    }
    answer();
    assert_int_equal(saves_of("data_loading"), saves_of("host_time"));
    assert_non_null(strstr(notice_of("together"), " save the same time"));
}

/* A file of Nsight Systems with calls of the operating system alone: that is said, rather than that nothing would save much. */
TEST(calls_of_the_system_tell_nothing_of_the_program)
{
    for (int call = 0; call < 2; call++) {
        drawn_file()->producer = PRODUCER_NSYS;
        draw_op_us("osrt", "poll", 0, 1000);
        if (call)
            draw_call_us("cudaMalloc", 1100, 100, 1);
        answer();
        assert_int_equal(strstr(notice_of("verdict"), "what the operating system did") != NULL, !call);
    }
}

/* Kernels below the bandwidth of the memory gain more than what fusion is priced with: that is an estimate, of which no screen says that it is the
 * most. */
TEST(fusion_is_an_estimate)
{
    static const struct price_case of = { FINDING_FUSION, draw_two_elementwise, 200 };
    draw_case(&of, true);
    answer();
    const struct answer *on_screen = result_answer(result);
    size_t found = 0;
    for (size_t i = 0; i < on_screen->findings.count; i++) {
        bool fuses = strcmp(on_screen->findings.at[i].action, "Fuse operations on the device") == 0;
        found += fuses;
        assert_int_equal(strncmp(on_screen->findings.at[i].gain, "about ", 6) == 0, fuses);
    }
    assert_int_equal(found, 1);
}

/* What a process does before it launches anything is done once, where the recorder begins with it: 5 ms of 9 that no loop repeats. Between
 * two launches they are time of the host. */
TEST(what_comes_before_the_first_launch_is_of_no_loop)
{
    for (int later = 0; later < 2; later++) {
        drawn_file()->producer = PRODUCER_NSYS;
        draw_host("user_annotation", "prepare", 1, later ? 2100000 : 0, 5000000);
        for (int64_t n = 0; n < 2; n++) {
            int64_t us = n == 0 ? (later ? 100 : 6000) : 7500;
            draw_kernel_us("elementwise", us, 10, us + 20, 1000, n + 1);
        }
        answer();
        assert_int_equal(row_of("host_time") != SIZE_MAX, later);
    }
}

/* The same time in the step of an optimizer, which is no part of a loop that can go. */
TEST(an_optimizer_is_no_time_of_the_host_alone)
{
    const struct price_case of = { FINDING_HOST_TIME, draw_tokenize, 300 };
    tokenize_name = "Optimizer.step#AdamW.step";
    draw_case(&of, true);
    answer();
    assert_true(row_of(finding_rules[of.rule].name) == SIZE_MAX);

    tokenize_name = "tokenize";
}

/* A call of the program itself is not stopped by gc.disable(); a range of that name may be Python's own collection. */
TEST(to_collect_garbage_is_advised_less_often)
{
    static const char *const names[][2] = { { "<built-in function collect>",
                                              "if step % 1000 == 0: gc.collect()" },
                                            { "gc", "gc.disable(); gc.freeze()" } };
    const struct price_case of = { FINDING_HOST_TIME, draw_tokenize, 300 };
    for (size_t i = 0; i < 2; i++) {
        tokenize_name = names[i][0];
        draw_case(&of, true);
        answer();
        assert_string_equal(finding_text("host_time", "action"), "Collect garbage less often");
        assert_string_equal(finding_text("host_time", "code"), names[i][1]);
    }
    tokenize_name = "tokenize";
}

/* Where no call of the runtime was recorded, or some were but not that of the work behind the gap: a longer warmup helps in the latter case. */
TEST(a_longer_warmup_is_advised_where_calls_are_recorded)
{
    for (int calls = 0; calls < 2; calls++) {
        draw_op_us("cpu_op", "aten::add", 0, 10);
        for (int64_t i = 0; i < 20 && calls; i++)
            draw_kernel_us("elementwise", 10 * i, 5, 10 * i + 6, 4, i + 1);
        draw_work("kernel", "elementwise", 0, 7, 200000, 10000, DRAW_NO_CALL);
        draw_work("kernel", "elementwise", 0, 7, 90000000, 10000, DRAW_NO_CALL);
        answer();
        const struct answer_finding *first = &result_answer(result)->findings.at[0];
        assert_string_equal(first->action, "Record the calls that launch");
        assert_int_equal(strstr(first->advice, "warmup") != NULL, calls);
    }
}

/*
 * us          1000                                                       6000
 * host        [ run_until_complete                                      ]
 *              [ _run_once ]   [ _run_once: IN_LOOP, 3450             ]
 *                [ coroutine 0                                  ]
 *                    [ coroutine 1                                 ]
 *
 * Coroutines cross functions and one another: nothing is their own. What waits for events is no work, nor a pause; the program is no finding.
 * Work in the same place is one.
 */
static void draw_event_loop(const char *in_loop)
{
    draw_op_us("python_function", "main.py(1): <module>", 0, 8000);
    draw_op_us("python_function", "asyncio/base_events.py(617): run_until_complete", 1000, 5000);
    draw_op_us("python_function", "asyncio/base_events.py(1845): _run_once", 1200, 300);
    draw_op_us("user_annotation", "coroutine 0", 1300, 4000);
    draw_op_us("cpu_op", "aten::ones", 1310, 10);
    draw_op_us("user_annotation", "coroutine 1", 1400, 4100);
    draw_op_us("python_function", "asyncio/base_events.py(1845): _run_once", 1700, 3500);
    draw_op_us("python_function", in_loop, 1710, 3450);
    draw_op_us("cpu_op", "aten::sum", 5220, 50);
}

TEST(an_event_loop_that_waits_is_no_work)
{
    draw_event_loop("<built-in method poll of select.epoll object at 0x7f1a402495d0>");
    answer();
    assert_true(row_of("host_time") == SIZE_MAX);
    assert_true(row_of("pauses") == SIZE_MAX);
    const struct table *operators = table_called(result, "operators");
    for (size_t row = 0; row < operators->row_count; row++) {
        assert_true(number_called(operators, row, "share_of_all") <= 1);
        assert_null(strstr(text_called(operators, row, "name"), "coroutine"));
    }
    draw_event_loop("main.py(7): prepare");
    answer();
    assert_non_null(strstr(finding_text("host_time", "finding"), "prepare"));
}

/* An operator that reads a number of a tensor waits for the device, also where no call in it was recorded. Neither it nor a range around it
 * is computation of the host. */
TEST(reading_a_number_is_no_computation_of_the_host)
{
    const char *const names[] = { "aten::_local_scalar_dense", "aten::item", "aten::is_nonzero" };
    const struct price_case of = { FINDING_HOST_OPERATORS, draw_host_operator, 300 };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        host_operator = names[i];
        draw_case(&of, true);
        answer();
        assert_true(row_of(finding_rules[FINDING_HOST_OPERATORS].name) == SIZE_MAX);
        assert_true(row_of(finding_rules[FINDING_HOST_TIME].name) == SIZE_MAX);
    }
    host_operator = "aten::normal_";
}

/* A rule comes with a trace in which it must find something, and one in which it must not. */
TEST(no_rule_is_without_a_case)
{
    for (size_t rule = 0; rule < FINDING_RULES; rule++) {
        size_t cases = 0;
        for (size_t i = 0; i < sizeof price_cases / sizeof *price_cases; i++)
            cases += price_cases[i].rule == rule;
        if (cases == 0)
            fail_msg("%s has no case in price_cases", finding_rules[rule].name);
    }
}

TEST(every_rule_is_documented)
{
    static char page[1 << 16];
    FILE *file = fopen("docs/commands/summary.md", "r");
    assert_non_null(file);
    page[fread(page, 1, sizeof page - 1, file)] = '\0';
    fclose(file);
    for (size_t rule = 0; rule < FINDING_RULES; rule++) {
        char row[64];
        snprintf(row, sizeof row, "\n| `%s` | ", finding_rules[rule].name);
        if (!strstr(page, row))
            fail_msg("%s is not in docs/commands/summary.md", finding_rules[rule].name);
    }
}

/*
 *   host     0 [ loader ) 300 cudaDeviceSynchronize 310     ten launches of 10 us, 60 us apart, from 400     1000
 *   device                                                  ten kernels of 50 us, each 12 us after its launch began
 *
 * Without the loader's wait a step takes 700 us. As a graph, with or without it, the device decides: from the
 * synchronisation 90 us to the launch, 12 to the first kernel, 500 of kernels and 9 between them, as each waited for its launch, make
 * 611. So the graph alone saves 389, since the batch is loaded beside the device: more than the loader's 300, and it comes first.
 */
TEST(every_price_is_of_the_change_alone)
{
    for (int64_t n = 0; n < 4; n++) {
        int64_t us = 1000 * n;
        draw_step_us(n, us, 1000);
        draw_loading_us(us, 300);
        draw_call_us("cudaDeviceSynchronize", us + 300, 10, 100 * n + 1);
        for (int64_t i = 0; i < 10; i++) {
            draw_kernel_us("elementwise", us + 400 + 60 * i, 10, us + 412 + 60 * i, 50, 100 * n + i + 2);
        }
    }
    answer();
    const struct table *findings = table_called(result, "findings");
    assert_int_equal(findings->row_count, 2);
    size_t loading = row_of("data_loading"), graph = row_of("launches");
    assert_int_equal(graph, 0);
    assert_int_equal(int_called(findings, loading, "saves"), 300000);
    assert_string_equal(findings->footers.at[1].key, "together");
    assert_int_equal(findings->footers.at[1].value.i, 611000);
    assert_row(findings, graph, "saves=389000, check=tpa whatif --cuda-graph");
}

/*
 *   host     0 launch 10    [ the profiler, 60-360  )    460 launch 470 [ aten::add                            ) 1000
 *   device        12 [ elementwise ) 22                               472 [ elementwise, 518 us         ) 990
 *
 * On two ranks at once. As a graph, the host takes none of the first 470 us but the profiler's 300: 170 less.
 */
TEST(a_graph_leaves_the_profiler_its_time)
{
    for (int rank = 0; rank < 2; rank++) {
        draw_rank(rank);
        for (int64_t n = 0; n < 3; n++) {
            int64_t us = 1000 * n;
            draw_step_us(n, us, 1000);
            draw_kernel_us("elementwise", us, 10, us + 12, 10, 3 * n + 1);
            draw_event("overhead", "Activity Buffer Request", -1, 0, 1000 * (us + 60), 300000);
            draw_kernel_us("elementwise", us + 460, 10, us + 472, 518, 3 * n + 2);
            draw_op_us("cpu_op", "aten::add", us + 470, 530);
        }
    }
    answer();
    assert_int_equal(saves_of("launches"), 170000);
}

/*
 * Three times: a launch, cudaMalloc for FIRST_US, then LATER_US and LATER_US, and another launch, which at first takes LOAD_US.
 * The answer's first sentence.
 */
static const char *verdict_of_mallocs(int64_t first_us, int64_t later_us, int64_t load_us)
{
    for (int64_t n = 0, us = 0; n < 3; n++) {
        int64_t malloc_us = n == 0 ? first_us : later_us, launch_us = n == 0 ? load_us : 10;
        draw_kernel_us("elementwise", us, 10, us + 12, 5, 3 * n + 1);
        draw_call_us("cudaMalloc", us + 20, malloc_us, 3 * n + 2);
        draw_kernel_us(n == 0 ? "reduce" : "elementwise", us + 20 + malloc_us, launch_us,
                       us + 22 + malloc_us + launch_us, 5, 3 * n + 3);
        us += 28 + malloc_us + launch_us;
    }
    answer();
    return notice_of("verdict");
}

/*
 * A first cudaMalloc of 900 us where 1 is usual, and a first launch of 200 us where 10 are. Without both that launch is at 21-31, and
 * its kernel, 2 after that call as recorded, at 33-38: the first turn takes 39 instead of 1128, and 1089 of 1205 us are saved. Without
 * cudaMalloc besides all that comes 3 us earlier, which is no finding; alone it would be 902.
 */
TEST(allocation_is_priced_on_top_of_first_use)
{
    assert_non_null(
        strstr(verdict_of_mallocs(900, 1, 200), "allocates or frees memory: mostly at first use."));
    assert_int_equal(saves_of("first_use"), 1089000);
    assert_int_equal(row_of("allocation"), SIZE_MAX);

    assert_non_null(strstr(verdict_of_mallocs(300, 300, 10), "allocates or frees memory."));
    assert_int_equal(row_of("first_use"), SIZE_MAX);
    assert_int_equal(saves_of("allocation"), 900000);
    assert_non_null(strstr(finding_text("allocation", "advice"), "leave the first steps"));
}

/* What first use takes is not now and then: later steps do not have it. That is nearly all of this recording, 1089 of 1205 us. */
TEST(what_only_first_steps_have_is_no_saving)
{
    verdict_of_mallocs(900, 1, 200);
    const struct answer *of = result->answer;
    assert_string_equal(
        of->headline,
        "90.4 % of the recording is first use: modules are loaded, memory is allocated; record later steps.");
    assert_string_equal(of->findings.at[0].action, "Record later steps, which load nothing");
    assert_non_null(strstr(of->findings.at[0].saves, "once, in the beginning: what comes later"));
    assert_int_equal(of->findings.at[0].saves_ns, 0);
    assert_int_equal(of->from_ns, 0);
    assert_null(strstr(of->now_and_then, "->"));
}

/* Three steps: eleven launches 48 us apart of kernels of 10 us, and within them a wait of LOADS_US for the batch. */
static void draw_loads_between_launches(int64_t loads_us)
{
    for (int64_t n = 0; n < 3; n++) {
        int64_t us = (550 + loads_us) * n;
        draw_step_us(n, us, 550 + loads_us);
        draw_loading_us(us + 150, loads_us);
        for (int64_t i = 0; i < 11; i++) {
            int64_t at_us = us + 10 + 48 * i + (i < 3 ? 0 : loads_us);
            draw_kernel_us("elementwise", at_us, 10, at_us + 12, 10, 20 * n + i + 1);
        }
    }
}

/* Most idle time is the loader's, but as one graph the launches take no time, and the host loads meanwhile. */
TEST(the_headline_leads_to_the_first_change)
{
    draw_loads_between_launches(450);
    answer();
    const struct answer *of = result->answer;
    assert_int_equal(row_of("launches"), 0);
    assert_int_equal(row_of("data_loading"), 1);
    assert_non_null(
        strstr(of->headline, ": the host waits for the next batch; change 1, fewer launches, saves more."));
    assert_non_null(strstr(of->because, "% for data loading"));
    assert_non_null(strstr(of->because,
                           "Change 2 removes that, but saves less than change 1, with which the host "
                           "loads while devices compute."));
    assert_non_null(strstr(of->verdict, "Change 2 removes that"));

    draw_loads_between_launches(480);
    answer();
    of = result->answer;
    assert_int_equal(row_of("data_loading"), 1);
    assert_non_null(strstr(of->because, "Change 2 is about that, and saves about as much as change 1."));
}

/* A product of 600 us without tensor cores saves more than 100 us of copies beside nothing: the first sentence is about computing, 1800 us of 2360. */
TEST(computing_leads_where_it_can_be_faster)
{
    for (int64_t n = 0; n < 3; n++) {
        int64_t us = 800 * n;
        draw_op_us("cpu_op", "aten::mm", us, 30);
        if (n == 0)
            draw_device(0);
        draw_kernel_us("volta_sgemm_128x64_nn", us + 10, 10, us + 20, 600, 3 * n + 1);
        draw_call_us("cudaMemcpyAsync", us + 20, 10, 3 * n + 2);
        draw_work_us("gpu_memcpy", "Memcpy DtoD (Device -> Device)", us + 620, 100, 3 * n + 2);
        draw_call_us("cudaDeviceSynchronize", us + 40, 690, 3 * n + 3);
        draw_op_us("cpu_op", "aten::add", us + 730, 30);
    }
    answer();
    assert_int_equal(row_of("tensor_cores"), 0);
    assert_string_equal(
        result->answer->verdict,
        "76.3 % of the GPU's time is computing, partly products without tensor cores; 12.7 % is copies that no "
        "computation hides.");
}

/* Three times: 100 us of computing, 700 us of communication: there is little to hide it behind, and the first sentence says so. */
TEST(little_computation_hides_little_communication)
{
    for (int64_t n = 0; n < 3; n++) {
        int64_t us = 1000 * n;
        draw_call_us("cudaLaunchKernel", us, 10, 3 * n + 1);
        draw_call_us("cudaLaunchKernel", us + 10, 10, 3 * n + 2);
        draw_work_us("kernel", "elementwise", us + 20, 100, 3 * n + 1);
        draw_work("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 0, 20, 1000 * (us + 120), 700000,
                  3 * n + 2);
        draw_call_us("cudaDeviceSynchronize", us + 20, 830, 3 * n + 3);
        draw_op_us("cpu_op", "aten::add", us + 850, 150);
    }
    answer();
    assert_int_equal(row_of("communication"), 0);
    assert_non_null(strstr(result->answer->headline, "is communication that no computation hides."));
    assert_non_null(strstr(result->answer->because, " Of the communication, change 1 saves up to "));
    assert_non_null(strstr(result->answer->because, "as there is no more computation to hide it behind."));
}

/* A device that works for 10 us of 1 ms is not idle for what the host does. */
TEST(devices_that_hardly_work_are_named)
{
    for (int64_t n = 0; n < 10; n++) {
        draw_call_us("cudaLaunchKernel", 100 * n, 5, 2 * n + 1);
        draw_work("kernel", "elementwise", 0, 7, 100000 * n + 10000, 98000, 2 * n + 1);
        draw_call_us("cudaLaunchKernel", 100 * n + 10, 5, 2 * n + 2);
        draw_work("kernel", "elementwise", 1, 7, 100000 * n + 20000, 1000, 2 * n + 2);
    }
    answer();
    assert_string_equal(
        result->answer->verdict,
        "1 of 2 GPUs hardly works; GPU 1 for 10.000us, GPU 0 for 980.000us of 998.000us. 47.9 % of their time is idle.");
}

/* The others idle for 300 us of 1000 and communicate for 288, of which they wait 200 for one rank: to even them out saves most. */
TEST(a_rank_that_holds_the_others_up_comes_first)
{
    static const struct price_case of = { FINDING_SLOW_RANKS, draw_two_ranks, 200, .ranks = 2 };
    draw_case(&of, true);
    answer();
    assert_int_equal(row_of("slow_ranks"), 0);
    assert_non_null(
        strstr(result->answer->verdict, "is exposed communication; the others wait 600.000us for rank 1"));
}

/* What makes rank 1 late, by about 200 us. */
enum slowness { SLOW_DEVICE, SLOW_MORE_KERNELS, SLOW_KERNEL, SLOW_LOADING, SLOW_OPERATOR, SLOW_UNKNOWN };

/*
 *   host     0 next batch 50 [ aten::mm 50 ) launches  [ cudaDeviceSynchronize                )
 *   device           110 [ gemm 100 )[ relu 60 )[ all-reduce: waits, then transfers 200 )
 *
 * Of rank 1 both kernels take twice as long, or gemm three times, or there are four, or the batch comes 200 us later, or the operator takes
 * 200 us longer, or the host does for 200 us what is not recorded.
 */
static void draw_slow_rank(enum slowness slowness, bool slow, int64_t us, int64_t n)
{
    int64_t batch_us = slow && slowness == SLOW_LOADING ? 250 : 50,
            operator_us = slow && slowness == SLOW_OPERATOR ? 250 : 50,
            pause_us = slow && slowness == SLOW_UNKNOWN ? 200 : 0,
            gemm_us = slow && slowness == SLOW_KERNEL   ? 300
                      : slow && slowness == SLOW_DEVICE ? 200
                                                        : 100,
            relu_us = slow && slowness == SLOW_DEVICE ? 120 : 60, at_us = us + batch_us,
            kernels = slow && slowness == SLOW_MORE_KERNELS ? 4 : 2, last_us = us + 510;
    draw_loading_us(us, batch_us);
    draw_op_us("cpu_op", "aten::mm", at_us, operator_us);
    at_us += operator_us + pause_us;
    for (int64_t i = 0; i < kernels; i++)
        draw_call_us("cudaLaunchKernel", at_us + i, 1, 10 * n + i + 1);
    draw_call_us("cudaLaunchKernel", at_us + 4, 1, 10 * n + 9);
    draw_call_us("cudaDeviceSynchronize", at_us + 5, last_us + 205 - at_us - 5, 10 * n + 10);
    for (int64_t i = 0, start_us = at_us + 10; i < kernels; i++) {
        int64_t dur_us = i % 2 ? relu_us : gemm_us;
        draw_work_us("kernel", i % 2 ? "relu" : "gemm", start_us, dur_us, 10 * n + i + 1);
        start_us += dur_us;
        if (i + 1 == kernels) {
            draw_work_us("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", start_us,
                         last_us + 200 - start_us, 10 * n + 9);
            draw_reduces(2, n + 1);
        }
    }
}

TEST(what_a_late_rank_does_longer_is_named)
{
    static const struct {
        const char *action, *where;
    } cases[] = {
        [SLOW_DEVICE] = { "Check the device of rank 1",
                          "mostly rank 1: its kernels take 100 % longer than the same on the others" },
        [SLOW_MORE_KERNELS] = { "Give rank 1 as much work as the others",
                                "mostly rank 1: it runs 2 kernels more in a step, mostly gemm" },
        [SLOW_KERNEL] = { "Even out the work of rank 1",
                          "mostly rank 1: gemm; it takes 200.000us of a step longer than on the others" },
        [SLOW_LOADING] = { "Load the batches of rank 1 faster",
                           "mostly rank 1: enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__; it takes "
                           "200.000us of a step longer than on the others" },
        [SLOW_OPERATOR] = { "See why the host of rank 1 is slow",
                            "mostly rank 1: aten::mm; it takes 200.000us of a step longer than on the others" },
        [SLOW_UNKNOWN] = { "See what rank 1 does longer", "mostly rank 1" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int rank = 0; rank < 2; rank++) {
            draw_rank(rank);
            for (int n = 0; n < 4; n++) {
                /* a first step that begins earlier is no reason */
                int64_t early_us = rank == 1 && n == 0 && i == SLOW_UNKNOWN ? 250 : 0;
                draw_step_us(n, 800 * n - early_us, 800 + early_us);
                draw_slow_rank((enum slowness)i, rank == 1, 800 * n, n);
            }
        }
        answer();
        const struct answer_finding *finding = NULL;
        for (size_t f = 0; f < result->answer->findings.count; f++)
            if (result->answer->findings.at[f].of_ranks)
                finding = &result->answer->findings.at[f];
        assert_non_null(finding);
        assert_string_equal(finding->action, cases[i].action);
        assert_string_equal(finding->where, cases[i].where);
    }
}

/*
 *   each rank   [ 1 us )[ all-reduce, 600 us )     the host waits for it, and 300 us for the next batch; 1000 us
 *
 * Most is communication, with nothing to hide it behind; RANKS that its group has, or of the job, tell whether all were recorded.
 */
static const char *verdict_of_communication(int64_t group, int64_t job, struct arena *texts)
{
    for (int rank = 0; rank < 2; rank++) {
        draw_rank(rank);
        drawn_file()->world_size = job;
        for (int n = 0; n < 4; n++) {
            int64_t us = 1000 * n;
            draw_step_us(n, us, 1000);
            draw_loading_us(us, 300);
            draw_kernel_us("product", us + 310, 10, us + 322, 1, 3 * n + 1);
            draw_kernel_us("ncclDevKernel_AllReduce_Sum_f32_RING_LL", us + 320, 5, us + 326, 600, 3 * n + 2);
            draw_text(ARG_COLLECTIVE, "allreduce");
            draw_text(ARG_GROUP_NAME, "0");
            if (group)
                draw_arg(ARG_GROUP_SIZE, group);
            draw_arg(ARG_SEQ_IN_GROUP, n + 1);
            draw_call_us("cudaDeviceSynchronize", us + 330, 660, 3 * n + 3);
        }
    }
    answer();
    const char *verdict = arena_strndup(texts, result->answer->verdict, strlen(result->answer->verdict));

    return verdict;
}

/* Of 2 of 8 ranks, or of an unknown number, nobody knows whether they wait for one that is not here. */
TEST(ranks_that_are_not_recorded_may_be_waited_for)
{
    static const struct {
        int64_t group, job;
        bool missing;
    } cases[] = { { 2, 2, false }, { 2, 0, false }, { 2, 8, true }, { 8, 0, true }, { 0, 0, true } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        SCOPED_ARENA struct arena texts = { 0 };
        const char *verdict = verdict_of_communication(cases[i].group, cases[i].job, &texts);
        bool missing =
                 strstr(verdict, "The recordings of all ranks would tell whether it waits for a slower one"),
             none = strstr(verdict, "No change was found that is about the communication");
        assert_int_equal(missing, cases[i].missing);
        assert_int_equal(none, !cases[i].missing);
    }
}

/* Two devices that work for 1 ms at once: the bar is of the mean device, not of 2 ms, and nothing is written of others beside it. */
TEST(bars_are_of_the_mean_device)
{
    for (int device = 0; device < 2; device++) {
        draw_call_us("cudaLaunchKernel", 10 * device, 5, device + 1);
        draw_work("kernel", "elementwise", device, 7, 20000, 1000000, device + 1);
    }
    answer();
    assert_string_equal(result->answer->bars_title,
                        "What a GPU did from its first to its last work, 1.000ms, on average of 2");
    assert_int_equal(result->answer->bars_ns, 1000000);
    assert_string_equal(result->answer->findings.at[0].action, "Make elementwise faster");
    /* Not a share: the bar is of 1 ms, the replay from the first call at 0 to the end of the kernels at 1.02. */
    assert_string_equal(result->answer->findings.at[0].gain,
                        "if it took half its time: 500.000us of 1.020ms replayed");
}

/* Steps in which nothing is launched, and a kernel after the last of them: the bar is of the recording, not of a step. */
TEST(a_bar_is_of_no_step_without_work)
{
    for (int64_t n = 0; n < 3; n++) {
        draw_step_us(n, 1000 * n, 1000);
        draw_op_us("cpu_op", "aten::add", 1000 * n, 900);
    }
    draw_kernel_us("elementwise", 4000, 10, 4020, 500, 1);
    answer();
    assert_string_equal(result->answer->bars_of, "what the GPU did from the first to the last work");
    assert_string_equal(result->answer->bars_title,
                        "What the GPU did from its first to its last work, 500.000us");
    assert_int_equal(result->answer->bars_ns, 500000);
}

/* Ranges of a program take 1 ms of 10, or 6: a share of what was recorded is none of the bar, which says what it is of. */
TEST(a_bar_of_ranges_is_of_what_was_recorded)
{
    for (int64_t most_us = 500; most_us <= 5500; most_us += 5000) {
        bool little = most_us == 500;
        drawn_file()->producer = PRODUCER_CHROME;
        draw_op_us("", "mix", 0, 500);
        draw_op_us("", "mix", 10000 - most_us, most_us);
        answer();
        assert_string_equal(result->answer->bars_title,
                            little ? "Own time of ranges on the host, 1.000ms of 10.000ms recorded"
                                   : "Own time of ranges on the host, 6.000ms recorded");
        assert_int_equal(strstr(result->answer->verdict,
                                "90.0 % of the time from the first range to the last is outside of any") !=
                             NULL,
                         little);
    }
}

/* ONNX Runtime records no calls: the profiler of the device would, but no option of torch's. */
TEST(what_launches_is_recorded_as_the_producer_can)
{
    for (int onnx = 0; onnx < 2; onnx++) {
        drawn_file()->producer = onnx ? PRODUCER_ONNX : PRODUCER_KINETO;
        for (int64_t n = 0; n < 3; n++)
            draw_work_us("kernel", "a", 1000 * n, 100, DRAW_NO_CALL);
        answer();
        assert_string_equal(result->answer->findings.at[0].action, "Record the calls that launch");
        assert_int_equal(strstr(result->answer->findings.at[0].advice, "ProfilerActivity") != NULL, !onnx);
    }
}

/* With one rank nothing is known of waits for collectives on the host: their price is unknown, not 0. */
TEST(communication_on_the_host_of_one_rank_is_not_looked_at)
{
    for (int on_host = 0; on_host < 2; on_host++) {
        draw_op_us("cpu_op", "aten::mm", 0, 100);
        draw_host("user_annotation", on_host ? "gloo:all_reduce" : "reduce", 2, 100000, 500000);
        draw_op_us("cpu_op", "aten::add", 700, 100);
        answer();
        bool said = false;
        for (size_t i = 0; i < result->notices.count; i++)
            said |= strstr(result->notices.at[i].text, "communication on the host") != NULL;
        assert_int_equal(said, on_host);
    }
}

/*
 *   host     0 launch 10     100 [ cudaDeviceSynchronize      ) 900
 *   device        20 [ elementwise                         ) 890
 *
 * Nothing is launched after the wait: it is the end of the recording and saves nothing.
 */
TEST(the_wait_that_ends_the_recording_saves_nothing)
{
    draw_kernel_us("elementwise", 0, 10, 20, 870, 1);
    draw_call_us("cudaDeviceSynchronize", 100, 800, 2);
    answer();
    assert_true(row_of("host_wait") == SIZE_MAX);
    size_t reported = 0;
    for (size_t i = 0; i < result->notices.count; i++)
        reported += strcmp(result->notices.at[i].kind, "end_of_recording") == 0;
    assert_int_equal(reported, 1);
}

/* Copies of 30 us by aten::clone, ten or two, then one of 50 by aten::cat and one by aten::stack: 300 us of 400, or 60 of 160. */
TEST(the_operator_that_copies_most_is_named)
{
    for (int clones = 10; clones > 0; clones -= 8) {
        int64_t us = 12;
        for (int i = 0; i < clones + 2; i++) {
            int64_t dur_us = i < clones ? 30 : 50;
            draw_op_us("cpu_op",
                       i < clones    ? "aten::clone"
                       : i == clones ? "aten::cat"
                                     : "aten::stack",
                       10 * i, 8);
            draw_call_us("cudaMemcpyAsync", 10 * i + 1, 5, i + 1);
            draw_work_us("gpu_memcpy", "Memcpy DtoD (Device -> Device)", us, dur_us, i + 1);
            us += dur_us;
        }
        draw_call_us("cudaDeviceSynchronize", 130, us - 120, 100);
        answer();
        assert_non_null(strstr(finding_text("device_copies", "where"),
                               clones == 10 ? ", mostly by aten::clone" : ", the most by aten::clone"));
    }
}

/* To pin the memory is what pageable_copies is about, and its price: not that the host waits no more. */
TEST(a_copy_from_pageable_memory_is_one_finding)
{
    const struct price_case of = { FINDING_PAGEABLE_COPIES, draw_pageable_copies, 390, 0, NULL };
    draw_case(&of, true);
    answer();
    assert_true(row_of("pageable_copies") != SIZE_MAX);
    assert_true(row_of("host_wait") == SIZE_MAX);
}

/* The same of JAX: a batch that jax.device_put copied ahead takes none of the 380 us of its copy, which the call waits for. There is no
 * memory to pin. */
TEST(jax_copies_ahead)
{
    drawn_file()->producer = PRODUCER_JAX;
    for (int64_t n = 0; n < 3; n++) {
        draw_step_us(n, 1000 * n, 1000);
        draw_pageable_copies(true, 1000 * n, n);
    }
    answer();
    assert_true(row_of("pageable_copies") == SIZE_MAX);
    assert_int_equal(saves_of("pinned_copies"), 380000);
    assert_non_null(strstr(finding_text("pinned_copies", "advice"), "jax.device_put"));
    assert_string_equal(finding_text("pinned_copies", "action"), "Copy ahead of the computation");
}

/* Six programs of 100 us are started one after the other, which takes 80 or 20 of them; the rest is computed. */
TEST(jax_starts_several_steps_at_once)
{
    for (int64_t starts_us = 20; starts_us <= 80; starts_us += 60) {
        drawn_file()->producer = PRODUCER_JAX;
        for (int64_t n = 0; n < 6; n++) {
            draw_op_us("", "PjitFunction(step)", 100 * n, starts_us);
            draw_op_us("cpu_op", "dot.2", 100 * n + starts_us, 100 - starts_us);
        }
        answer();
        const struct answer *on_screen = result_answer(result);
        bool found = on_screen->findings.count > 0 &&
                     strcmp(on_screen->findings.at[0].action, "Do several steps in one program") == 0;
        assert_int_equal(found, starts_us == 80);
        if (found)
            assert_string_equal(on_screen->findings.at[0].saves,
                                "gain not known: it takes 80.0 % of the time of operators");
    }
}

/* Ten copies to the device block the host for 20 us each, where a launch takes 10, and one to the host for 150: it saves more. */
TEST(the_wait_that_would_save_most_stands_for_its_operator)
{
    for (int64_t i = 0; i < 11; i++) {
        int64_t us = 50 * i, copy_us = i < 10 ? 20 : 150;
        draw_call_us("cudaMemcpy", us, copy_us, 2 * i + 1);
        draw_work_us("gpu_memcpy",
                     i < 10 ? "Memcpy HtoD (Pageable -> Device)" : "Memcpy DtoH (Device -> Pageable)", us + 5,
                     copy_us - 8, 2 * i + 1);
        draw_kernel_us("elementwise", us + copy_us, 10, us + copy_us + 12, 5, 2 * i + 2);
    }
    answer();
    assert_string_equal(finding_text("host_wait", "where"), "cudaMemcpy, synchronous copy (DtoH pageable)");
    assert_non_null(strstr(finding_text("host_wait", "advice"), "x.to(\"cpu\", non_blocking=True)"));
}

/* What a rule needs is in the trace, and it found nothing; or it is not, and the rule could not look. */
TEST(rules_that_could_not_look_are_named)
{
    for (int launches = 0; launches < 2; launches++) {
        if (launches)
            draw_call_us("cudaLaunchKernel", 0, 5, 1);
        draw_work_us("kernel", "elementwise", 10, 500, 1);
        answer();
        static const char *const subjects[] = { "waits", "allocation", "first use", "launches" };
        for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++) {
            assert_int_equal(strstr(notice_of("nothing_found"), subjects[i]) != NULL, launches);
            assert_int_equal(strstr(notice_of("not_looked_at"), subjects[i]) == NULL, launches);
        }
        assert_int_equal(strstr(notice_of("answer"), "launches were not recorded") == NULL, launches);
        assert_non_null(strstr(notice_of("not_looked_at"),
                               "data loading, tensor cores (profile with ProfilerActivity.CPU)"));
    }
}

/*
 * Five kernels, each launched four times in a row: by calls of 10 us that begin 20 apart; the first of each loads its code, for 1000, 1100
 * and so on, or for 10 like all others. To launch them at once is a change of its own only where no code was loaded.
 */
static void draw_launches_of_five(bool loads)
{
    static const char *const kernels[] = { "a", "b", "c", "d", "e" };
    for (int64_t k = 0, us = 0, id = 1; k < 5; k++)
        for (int again = 0; again < 4; again++, id++) {
            int64_t call_us = loads && again == 0 ? 1000 + 100 * k : 10;
            draw_kernel_us(kernels[k], us, call_us, us + call_us + 2, 4, id);
            us += call_us + 10;
        }
    answer();
}

TEST(loading_code_is_no_cost_of_launches)
{
    draw_launches_of_five(true);
    assert_int_equal(row_of("launches"), SIZE_MAX);
    assert_non_null(strstr(finding_text("first_use", "where"), "longest: cudaLaunchKernel"));
    assert_non_null(strstr(finding_text("first_use", "where"), "1.400ms"));

    draw_launches_of_five(false);
    assert_int_not_equal(row_of("launches"), SIZE_MAX);
    assert_int_equal(row_of("first_use"), SIZE_MAX);
}

/* The longest of the loads of modules is named, though another came first and the launch is the longest call of its name. */
TEST(the_longest_load_of_a_module_is_named)
{
    for (int64_t n = 0, us = 0; n < 5; n++) {
        int64_t call_us = n == 1 ? 500 : 10;
        draw_call_us("cuLaunchKernel", us, call_us, n + 1);
        draw_work_us("kernel", n == 0 ? "reduce" : "elementwise", us + call_us + 2, 5, n + 1);
        us += call_us + 10;
        if (n == 0) {
            draw_call_us("cuModuleLoadData", us, 300, 10);
            draw_call_us("cuModuleLoadData", us + 300, 2000, 11);
            us += 2310;
        }
    }
    answer();
    assert_non_null(strstr(finding_text("first_use", "where"), "longest: cuModuleLoadData, 2.000ms"));
}

/* What is priced together is named together: memory of the host that is pinned, and that of devices. */
TEST(pinning_is_priced_with_memory_of_devices)
{
    for (int devices = 0; devices < 2; devices++) {
        draw_call_us("cudaHostAlloc", 0, 900, 1);
        draw_call_us(devices ? "cudaMalloc" : "cudaHostAlloc", 900, 100, 2);
        draw_kernel_us("elementwise", 1010, 10, 1022, 100, 3);
        answer();
        assert_string_equal(finding_text("allocation", "finding"),
                            devices ? "host memory is pinned, and memory of devices allocated"
                                    : "host memory is pinned");
        assert_string_equal(finding_text("allocation", "where"),
                            devices ? "mostly cudaHostAlloc" : "cudaHostAlloc");
    }
}

/* Advice about pauses is in terms of the program that was recorded: JAX's are no help in one of CUDA alone. */
TEST(pauses_are_marked_as_the_framework_does)
{
    static const struct {
        enum trace_producer producer;
        const char *by, *not_by;
    } programs[] = { { PRODUCER_NSYS, "NVTX", "jax" }, { PRODUCER_JAX, "jax.profiler", "NVTX" } };
    for (size_t i = 0; i < 2; i++) {
        drawn_file()->producer = programs[i].producer;
        for (int64_t n = 0; n < 3; n++) {
            draw_kernel_us("elementwise", 10000 * n, 10, 10000 * n + 12, 100, n + 1);
        }
        answer();
        const char *advice = finding_text("pauses", "advice");
        assert_non_null(strstr(advice, programs[i].by));
        assert_null(strstr(advice, programs[i].not_by));
    }
}

/* Between begin and end of a capture nothing is launched, so the time there says nothing of launches. */
TEST(the_capture_of_a_graph_is_no_slow_launch)
{
    for (int captures = 0; captures < 2; captures++) {
        draw_kernel_us("elementwise", 0, 5, 10, 10, 1);
        draw_call_us(captures ? "cudaStreamBeginCapture" : "cudaEventRecord", 30, 5, 2);
        draw_call_us(captures ? "cudaStreamEndCapture" : "cudaEventRecord", 900, 5, 3);
        draw_kernel_us("elementwise", 910, 5, 920, 10, 4);
        answer();
        assert_int_equal(row_of("launches") == SIZE_MAX, captures);
        assert_int_equal(strstr(notice_of("not_looked_at"), "the capture of a graph") != NULL, captures);
    }
}

/* Marks alone take no time. */
TEST(where_nothing_takes_time_that_is_the_answer)
{
    draw_memory(5, 1, 0, 0xF00, 60, 60);
    answer();
    assert_non_null(strstr(notice_of("answer"), "nothing that takes time was recorded"));
}

/* In us: both ranks are in the first collective until 150, for others of the eight, as the second, which moves as much, takes 20. There is no
 * computation to hide that behind. */
TEST(ranks_that_are_waited_for_are_to_be_recorded)
{
    for (int64_t rank = 0; rank < 2; rank++) {
        draw_rank(rank);
        drawn_file()->has_base = true;
        for (int64_t number = 1; number <= 2; number++) {
            draw_work("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", rank, 20, number == 1 ? 0 : 150000,
                      number == 1 ? 150000 : 20000, DRAW_NO_CALL);
            draw_reduces(8, number);
            draw_arg(ARG_IN_ELEMENTS, 1000);
            draw_arg(ARG_OUT_ELEMENTS, 1000);
            draw_text(ARG_DTYPE, "Float");
        }
    }
    answer();
    const struct answer_finding *first = &result_answer(result)->findings.at[0];
    assert_string_equal(first->action, "Record all ranks");
    assert_int_equal(first->saves_ns, 0);
}
