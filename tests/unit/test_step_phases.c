/* test_step_phases.c - analyze/step_phases.h against drawings whose figures are worked out by hand. */

#include "analyze/step_phases.h"
#include "analyze/steps.h"
#include "tests/unit/drawn.h"

static const struct trace_wants *drawn_wants = &steps_wants;

enum { STEPS = 3, LENGTH = 100 };

/* Draws a step of 100 that begins at AT_NS. */
typedef void draw_body(int64_t at_ns, int64_t number);

/* Three steps of BODY: each, and the step of the account, has the phases EXPECTED. */
static void check(draw_body *body, const int64_t expected[PHASES])
{
    for (int64_t i = 0; i < STEPS; i++) {
        draw_step(i, i * LENGTH, LENGTH);
        body(i * LENGTH, i);
    }
    struct step_phases *phases = scratch(step_phases_open(drawn(), account_of(drawn())));
    assert_true(phases->told);
    assert_int_equal(phases->all.step_ns, LENGTH);
    assert_int_equal(phases->steps.count, STEPS);
    for (size_t p = 0; p < PHASES; p++) {
        assert_int_equal(phases->all.phase_ns[p], expected[p]);
        for (size_t i = 0; i < STEPS; i++)
            assert_int_equal(phases->steps.at[i].phase_ns[p], expected[p]);
    }
}

/*
 *     0         10 12      20 24   30 34   40 44   50 55     70   80  85    100
 *     [ loading )  [ linear ) [ mse ) [ autograd x 2 ) [ Optimizer )  [ item )
 *
 * The operators before the backward pass are its forward pass, with the time between them: 18. Autograd's two nodes, with theirs: 16.
 * The operator behind the optimizer is no forward pass.
 */
static void draw_cpu(int64_t at, int64_t autograd_thread)
{
    draw_host("user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 1, at, 10);
    draw_host("cpu_op", "aten::linear", 1, at + 12, 8);
    draw_host("cpu_op", "aten::mse_loss", 1, at + 24, 6);
    draw_host("cpu_op", "autograd::engine::evaluate_function: MseLossBackward0", autograd_thread, at + 34, 6);
    draw_host("cpu_op", "aten::mse_loss_backward", autograd_thread, at + 35, 4);
    draw_host("cpu_op", "autograd::engine::evaluate_function: AddmmBackward0", autograd_thread, at + 44, 6);
    draw_host("user_annotation", "Optimizer.step#SGD.step", 1, at + 55, 15);
    draw_host("cpu_op", "aten::add_", 1, at + 56, 10);
    draw_host("cpu_op", "aten::item", 1, at + 80, 5);
}

static void draw_one_thread(int64_t at, int64_t number)
{
    (void)number;
    draw_cpu(at, 1);
}

static void draw_two_threads(int64_t at, int64_t number)
{
    (void)number;
    draw_cpu(at, 2);
}

TEST(operators_before_a_backward_pass_are_forward)
{
    const int64_t expected[PHASES] = { 18, 16, 15, 10, 41 };
    check(draw_one_thread, expected);
    check(draw_two_threads, expected);
}

/*
 *     12       22 24      28 30   32         40 50          60
 *     [ linear )  [ zeroed )  [ ones ) autograd )  [ Optimizer )
 *
 * Gradients that are zeroed between the forward and the backward pass end neither; zeroed before the forward pass, they part it from
 * what ran before.
 */
static void draw_zeroed_between(int64_t at, int64_t number)
{
    (void)number;
    draw_host("cpu_op", "aten::linear", 1, at + 12, 10);
    draw_host("user_annotation", "Optimizer.zero_grad#SGD.zero_grad", 1, at + 24, 4);
    draw_host("cpu_op", "aten::ones_like", 1, at + 30, 2);
    draw_host("cpu_op", "autograd::engine::evaluate_function: AddmmBackward0", 1, at + 32, 8);
    draw_host("user_annotation", "Optimizer.step#SGD.step", 1, at + 50, 10);
}

static void draw_zeroed_before(int64_t at, int64_t number)
{
    (void)number;
    draw_host("cpu_op", "aten::item", 1, at, 4);
    draw_host("user_annotation", "Optimizer.zero_grad#SGD.zero_grad", 1, at + 6, 4);
    draw_host("cpu_op", "aten::linear", 1, at + 12, 10);
    draw_host("cpu_op", "autograd::engine::evaluate_function: AddmmBackward0", 1, at + 22, 8);
    draw_host("user_annotation", "Optimizer.step#SGD.step", 1, at + 50, 10);
}

TEST(zeroed_gradients_end_no_forward_pass)
{
    const int64_t between[PHASES] = { 12, 8, 14, 0, 66 }, before[PHASES] = { 10, 8, 14, 0, 68 };
    check(draw_zeroed_between, between);
    check(draw_zeroed_before, before);
}

/* Two microbatches: the second forward pass, 30..40, parts the two backward passes, 10..20 and 40..50. */
static void draw_accumulation(int64_t at, int64_t number)
{
    (void)number;
    draw_host("cpu_op", "aten::linear", 1, at, 10);
    draw_host("cpu_op", "autograd::engine::evaluate_function: AddmmBackward0", 1, at + 10, 10);
    draw_host("cpu_op", "aten::linear", 1, at + 30, 10);
    draw_host("cpu_op", "autograd::engine::evaluate_function: AddmmBackward0", 1, at + 40, 10);
    draw_host("user_annotation", "Optimizer.step#Adam.step", 1, at + 60, 10);
}

TEST(passes_of_microbatches_are_apart)
{
    const int64_t expected[PHASES] = { 20, 20, 10, 0, 50 };
    check(draw_accumulation, expected);
}

/* Frames say more than operators: the module 12..32, backward 33..54, the optimizer 55..70. */
static void draw_stacks(int64_t at, int64_t number)
{
    (void)number;
    draw_cpu(at, 1);
    draw_host("python_function", "nn.Module: Net_0", 1, at + 12, 20);
    draw_host("python_function", "torch/_tensor.py(570): backward", 1, at + 33, 21);
    draw_host("python_function", "torch/optim/optimizer.py(484): wrapper", 1, at + 55, 15);
}

TEST(stacks_say_where_phases_begin_and_end)
{
    const int64_t expected[PHASES] = { 20, 21, 15, 10, 34 };
    check(draw_stacks, expected);
}

/* Lightning: the optimizer's range, 10..80, holds the closure with the other two. */
static void draw_closure(int64_t at, int64_t number)
{
    (void)number;
    draw_host("user_annotation", "[pl][profile][_TrainingEpochLoop].train_dataloader_next", 1, at, 5);
    draw_host("user_annotation", "[pl][profile]run_training_batch", 1, at + 8, 80);
    draw_host("user_annotation", "[pl][profile][LightningModule]Net.optimizer_step", 1, at + 10, 70);
    draw_host("user_annotation", "[pl][profile][Strategy]SingleDeviceStrategy.training_step", 1, at + 12, 18);
    draw_host("user_annotation", "[pl][profile][Strategy]SingleDeviceStrategy.backward", 1, at + 32, 28);
}

TEST(a_closure_leaves_the_optimizer_the_rest)
{
    const int64_t expected[PHASES] = { 18, 28, 24, 5, 25 };
    check(draw_closure, expected);
}

/*
 *     host     [   )[ linear )[ autograd )[ Optimizer )
 *              0   10        20          30          40
 *     device                             [ fwd ... )[ bwd ... )[ opt )
 *                                        30         60         90   100
 *
 * Work counts for the phase that launched it; the device is idle for 30: 10 in other code, 10 in each of the first two phases.
 */
static void draw_device(int64_t at, int64_t number)
{
    draw_host("cpu_op", "aten::linear", 1, at + 10, 10);
    draw_host("cpu_op", "autograd::engine::evaluate_function: AddmmBackward0", 2, at + 20, 10);
    draw_host("user_annotation", "Optimizer.step#SGD.step", 1, at + 30, 10);
    draw_call("cudaLaunchKernel", 1, at + 12, 2, 10 * number + 1);
    draw_call("cudaLaunchKernel", 2, at + 22, 2, 10 * number + 2);
    draw_call("cudaLaunchKernel", 1, at + 32, 2, 10 * number + 3);
    draw_work("kernel", "gemm", 0, 7, at + 30, 30, 10 * number + 1);
    draw_work("kernel", "gemm", 0, 7, at + 60, 30, 10 * number + 2);
    draw_work("kernel", "adam", 0, 7, at + 90, 10, 10 * number + 3);
}

TEST(work_counts_for_the_phase_that_launched_it)
{
    const int64_t expected[PHASES] = { 40, 40, 10, 0, 10 };
    check(draw_device, expected);
}

/* Nothing says what is forward: all is other, and that is said. */
TEST(what_is_not_known_is_other)
{
    draw_step(0, 0, 100);
    draw_host("cpu_op", "aten::linear", 1, 10, 50);
    struct step_phases *phases = scratch(step_phases_open(drawn(), account_of(drawn())));
    assert_false(phases->told);
    assert_int_equal(phases->all.phase_ns[PHASE_OTHER], 100);
}
