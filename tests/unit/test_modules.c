/* test_modules.c - analyze/modules.h: time per nn.Module and per line, forward and backward. */

#include "analyze/modules.h"
#include "derive/python_names.h"
#include "analyze/top/top.h"
#include "tests/unit/drawn.h"
#include <math.h>

/* tpa top tells frames from the collector's pauses by their ids. */
static const struct trace_wants *drawn_wants =
    &(const struct trace_wants){ .args = CODE_PATHS_WANTS | WANT(PYTHON_ID) };

static struct result *result;
static struct table *modules;

static void answer_with(struct selection_query query, struct modules_options options)
{
    const struct selection *selection = scratch_selection(drawn(), query);
    result = scratch_result(result_open("tpa.modules/1"));
    assert_true(modules_add_table(drawn(), selection, &options, result, NULL));
    modules = table_called(result, "modules");
}

static void answer_by(enum modules_by by)
{
    answer_with((struct selection_query){ 0 }, (struct modules_options){ .by = by });
}

static size_t row_called(const char *name)
{
    for (size_t row = 0; row < modules->row_count; row++)
        if (strcmp(text_called(modules, row, "name"), name) == 0)
            return row;
    fail_msg("no row %s", name);
    return 0;
}

static int64_t figure(const char *name, const char *key)
{
    return int_called(modules, row_called(name), key);
}

static void draw_frame(const char *name, int64_t thread, int64_t start_ns, int64_t dur_ns)
{
    draw_host("python_function", name, thread, start_ns, dur_ns);
    draw_arg(ARG_PYTHON_ID, 1);
}

static void draw_module(const char *name, int64_t thread, int64_t start_ns, int64_t dur_ns)
{
    char text[100];
    snprintf(text, sizeof text, "nn.Module: %s", name);
    draw_frame(text, thread, start_ns, dur_ns);
}

/* An operator of the forward pass that begins when the graph has SEQUENCE nodes. */
static void draw_forward(const char *name, int64_t thread, int64_t start_ns, int64_t dur_ns, int64_t sequence)
{
    draw_host("cpu_op", name, thread, start_ns, dur_ns);
    draw_arg(ARG_SEQUENCE, sequence);
    draw_arg(ARG_FWD_THREAD, 0);
}

static void draw_backward(const char *name, int64_t thread, int64_t start_ns, int64_t dur_ns,
                          int64_t sequence, int64_t forward_thread)
{
    draw_host("cpu_op", name, thread, start_ns, dur_ns);
    draw_arg(ARG_SEQUENCE, sequence);
    draw_arg(ARG_FWD_THREAD, forward_thread);
}

/* The figures of all rows but those in others add up to all there is; the self figures of all rows do too. */
static void assert_parts_add_up(void)
{
    int64_t tops_ns = 0, selfs_ns = 0, device_tops_ns = 0, device_selfs_ns = 0;
    bool has_device = modules->footers.count > 1;
    for (size_t row = 0; row < modules->row_count; row++) {
        int64_t depth = int_called(modules, row, "depth");
        bool top = depth == 1 || depth == TABLE_INT_MISSING;
        selfs_ns += int_called(modules, row, "self_cpu");
        tops_ns += top ? int_called(modules, row, "cpu_total") : 0;
        assert_int_equal(int_called(modules, row, "cpu_forward") + int_called(modules, row, "cpu_backward"),
                         int_called(modules, row, "cpu_total"));
        if (!has_device)
            continue;
        device_selfs_ns += int_called(modules, row, "self_device");
        device_tops_ns += top ? int_called(modules, row, "device_total") : 0;
    }
    assert_int_equal(selfs_ns, modules->footers.at[0].value.i);
    assert_int_equal(tops_ns, modules->footers.at[0].value.i);
    if (has_device) {
        assert_int_equal(device_selfs_ns, modules->footers.at[1].value.i);
        assert_int_equal(device_tops_ns, modules->footers.at[1].value.i);
    }
}

/*
 * Thread 1:  train.py(1): step  0..100
 *              Net_0            10..70
 *                Linear_0       20..40    aten::linear 22..38, launching kernel a (8 ns) at 25
 *                Linear_1       45..60    aten::linear 46..56, launching kernel b (5 ns) at 50
 *                aten::relu     62..68    launching kernel c (3 ns) at 64
 *            aten::mse          80..90    launching kernel d (2 ns) at 82
 * Kernel e (11 ns) was launched before recording began.
 *
 * Thread 2, the backward pass: MseBackward (sequence 4, of no module) 100..110;
 *   ReluBackward0 (3) 110..120, launching f (7 ns); evaluate_function 120..150, in it AddmmBackward0 (2) 122..148,
 *   launching g (20 ns); AddmmBackward0 (1) 150..165; AccumulateGrad 170..175 without a number
 *
 * Host: 100 + 10 + 10 + 30 + 15 + 5 = 170. Net_0: 60 forward, of which 25 its own (60 - 20 - 15), and relu's 10
 * backward.
 */
static void draw(void)
{
    draw_frame("train.py(1): step", 1, 0, 100);
    draw_module("Net_0", 1, 10, 60);
    draw_module("Linear_0", 1, 20, 20);
    draw_forward("aten::linear", 1, 22, 16, 1);
    draw_call("cudaLaunchKernel", 1, 25, 2, 1);
    draw_module("Linear_1", 1, 45, 15);
    draw_forward("aten::linear", 1, 46, 10, 2);
    draw_call("cudaLaunchKernel", 1, 50, 2, 2);
    draw_forward("aten::relu", 1, 62, 6, 3);
    draw_call("cudaLaunchKernel", 1, 64, 2, 3);
    draw_forward("aten::mse", 1, 80, 10, 4);
    draw_call("cudaLaunchKernel", 1, 82, 2, 4);
    draw_backward("MseBackward", 2, 100, 10, 4, 1);
    draw_backward("ReluBackward0", 2, 110, 10, 3, 1);
    draw_call("cudaLaunchKernel", 2, 112, 2, 6);
    draw_backward("autograd::engine::evaluate_function: AddmmBackward0", 2, 120, 30, 2, 1);
    draw_backward("AddmmBackward0", 2, 122, 26, 2, 1);
    draw_call("cudaLaunchKernel", 2, 130, 2, 7);
    draw_backward("AddmmBackward0", 2, 150, 15, 1, 1);
    draw_host("cpu_op", "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad", 2, 170, 5);
    static const int64_t durations[] = { 8, 5, 3, 2, 11, 7, 20 };
    for (int64_t i = 0; i < 7; i++)
        draw_work("kernel", "k", 0, 7, 300 + 50 * i, durations[i], i == 4 ? DRAW_NO_CALL : i + 1);
}

TEST(time_goes_to_the_innermost_module)
{
    draw();
    answer_by(MODULES_BY_TREE);
    assert_int_equal(modules->row_count, 4);
    assert_int_equal(figure("Net_0", "cpu_forward"), 60);
    assert_int_equal(figure("Net_0", "self_cpu"), 25 + 10);
    assert_int_equal(figure("Net_0", "cpu_total"), 60 + 10 + 30 + 15);
    assert_int_equal(figure("Linear_0", "cpu_forward"), 20);
    assert_int_equal(figure("Linear_0", "cpu_backward"), 15);
    assert_int_equal(figure("Linear_1", "cpu_backward"), 30);
    assert_int_equal(figure("(outside any module)", "cpu_total"), 40 + 10 + 5);
    assert_int_equal(figure("(outside any module)", "cpu_backward"), 15);
    assert_int_equal(figure("Linear_0", "count"), 1);
    assert_int_equal(figure("(outside any module)", "count"), TABLE_INT_MISSING);
    assert_int_equal(figure("Linear_0", "depth"), 2);
    assert_string_equal(text_called(modules, row_called("Linear_0"), "path"), "Net_0/Linear_0");
    assert_string_equal(text_called(modules, row_called("Linear_0"), "class"), "Linear");
    assert_int_equal(modules->footers.at[0].value.i, 170);
    assert_int_equal(notice_called(result, "unlinked_backward"), 0); /* adding up gradients has no forward */
    assert_parts_add_up();
}

TEST(kernels_go_to_the_module_that_launched_them)
{
    draw();
    answer_by(MODULES_BY_TREE);
    assert_int_equal(figure("Net_0", "device_total"), 8 + 5 + 3 + 7 + 20);
    assert_int_equal(figure("Net_0", "self_device"), 3 + 7);
    assert_int_equal(figure("Net_0", "works"), 5);
    assert_int_equal(figure("Linear_0", "device_total"), 8);
    assert_int_equal(figure("Linear_1", "device_forward"), 5);
    assert_int_equal(figure("Linear_1", "device_backward"), 20);
    assert_int_equal(figure("(outside any module)", "device_total"), 2 + 11);
    assert_true(number_called(modules, row_called("Linear_1"), "device_share") == 25.0 / 56);
    /* by time on the device, the outside last: Net_0 43, in it Linear_1 25 and Linear_0 8 */
    assert_string_equal(text_called(modules, 0, "name"), "Net_0");
    assert_string_equal(text_called(modules, 1, "name"), "Linear_1");
    assert_string_equal(text_called(modules, 2, "name"), "Linear_0");
}

TEST(classes_add_up_their_modules)
{
    draw();
    answer_by(MODULES_BY_CLASS);
    assert_int_equal(modules->row_count, 3);
    assert_int_equal(figure("Linear", "count"), 2);
    assert_int_equal(figure("Linear", "cpu_total"), 20 + 15 + 15 + 30);
    assert_int_equal(figure("Linear", "device_total"), 8 + 25);
    assert_int_equal(figure("Net", "self_device"), 10);
    int64_t selfs_ns = 0; /* totals hold one another here, but the time of their own is all there is */
    for (size_t row = 0; row < modules->row_count; row++)
        selfs_ns += int_called(modules, row, "self_cpu");
    assert_int_equal(selfs_ns, 170);
}

TEST(deeper_modules_count_as_their_callers_own)
{
    draw();
    answer_with((struct selection_query){ 0 }, (struct modules_options){ .depth = 1, .indent = true });
    assert_int_equal(modules->row_count, 2);
    assert_int_equal(figure("Net_0", "self_cpu"), figure("Net_0", "cpu_total"));
    assert_int_equal(figure("Net_0", "self_device"), 43);
    assert_parts_add_up();
}

TEST(the_tree_is_indented_and_sorted_among_siblings)
{
    draw();
    answer_with((struct selection_query){ 0 },
                (struct modules_options){ .indent = true, .sort = "cpu_forward", .reverse = true });
    assert_string_equal(text_called(modules, 0, "name"), "Net_0");
    assert_string_equal(text_called(modules, 1, "name"), "  Linear_1"); /* 15 before 20 */
    assert_string_equal(text_called(modules, 2, "name"), "  Linear_0");
    assert_string_equal(text_called(modules, 3, "name"), "(outside any module)");
}

TEST(unknown_columns_to_sort_by_are_refused)
{
    draw();
    static const char *const keys[] = { "nonsense", "order", "path" };
    struct selection_query query = { 0 };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        struct tpa_error err = { 0 };
        struct modules_options options = { .sort = keys[i] };
        const struct selection *selection = scratch_selection(drawn(), query);
        result = scratch_result(result_open("tpa.modules/1"));
        assert_false(modules_add_table(drawn(), selection, &options, result, &err));
    }
}

TEST(filters_choose_rows_and_change_no_figure)
{
    draw();
    answer_with((struct selection_query){ 0 },
                (struct modules_options){ .indent = true, .filter = "^Linear", .exclude = "_1$" });
    assert_int_equal(modules->row_count, 1);
    assert_row(modules, 0, "name=  Linear_0, device_total=8");
}

/* A row per function outside PyTorch. train 0..100 calls torch/nn/functional.py 10..50, which calls helper 20..40. */
TEST(lines_are_those_outside_pytorch)
{
    draw_frame("train.py(1): step", 1, 0, 100);
    draw_frame("torch/nn/functional.py(9): linear", 1, 10, 40);
    draw_frame("/usr/lib/python3/dist-packages/own/model.py(7): helper", 1, 20, 20);
    draw_frame("<built-in method add>", 1, 25, 5);
    draw_host("cpu_op", "aten::add", 1, 26, 3);
    answer_by(MODULES_BY_LINE);
    assert_int_equal(modules->row_count, 3);
    assert_int_equal(figure("train.py(1): step", "cpu_total"), 100);
    assert_int_equal(figure("train.py(1): step", "self_cpu"), 80);
    assert_int_equal(figure("own/model.py(7): helper", "self_cpu"), 20);
    assert_int_equal(figure("(outside any line)", "self_cpu"), 0);
}

/*
 * Block_0 0..100 calls Block_1 10..90 (other number, same class), and that calls Block_0 again 20..50, and Linear_0
 * 60..80; afterwards Linear_0 is called by nobody, 110..120.
 */
TEST(recursion_counts_once_in_totals)
{
    draw_module("Block_0", 1, 0, 100);
    draw_module("Block_1", 1, 10, 80);
    draw_module("Block_0", 1, 20, 30);
    draw_module("Linear_0", 1, 60, 20);
    draw_module("Linear_0", 1, 110, 10);
    answer_by(MODULES_BY_CLASS);
    assert_int_equal(figure("Block", "count"), 3);
    assert_int_equal(figure("Block", "cpu_total"), 100);
    assert_int_equal(figure("Block", "self_cpu"), 80);
    assert_int_equal(figure("Linear", "cpu_total"), 30);
    answer_by(MODULES_BY_INSTANCE);
    assert_int_equal(figure("Block_0", "count"), 2);
    assert_int_equal(figure("Block_0", "cpu_total"), 100);
    assert_int_equal(figure("Block_0", "self_cpu"), 20 + 30);
    assert_int_equal(figure("Block_1", "cpu_total"), 80);
    assert_int_equal(figure("Linear_0", "count"), 2);
    answer_by(MODULES_BY_TREE); /* two rows Block_0, two rows Linear_0: by path */
    assert_int_equal(modules->row_count, 6);
    assert_int_equal(int_called(modules, 2, "depth"), 3);
    assert_parts_add_up();
}

/*
 * aten::to of Net_0 begins with the number that the node of Linear_0's operator gets: the one that begins last made
 * the node.
 */
TEST(the_last_forward_operator_made_the_node)
{
    draw_module("Net_0", 1, 0, 50);
    draw_forward("aten::to", 1, 5, 2, 9);
    draw_module("Linear_0", 1, 10, 20);
    draw_forward("aten::linear", 1, 11, 18, 9);
    draw_forward("aten::addmm", 1, 12, 15, 9);
    draw_backward("AddmmBackward0", 2, 60, 10, 9, 1);
    answer_by(MODULES_BY_TREE);
    assert_int_equal(figure("Linear_0", "cpu_backward"), 10);
    assert_int_equal(figure("Net_0", "self_cpu"), 30);
}

/*
 * torch's number 4 is thread 1, as nodes 2 and 3 tell. Its node 9 was made before recording began; that thread 2 has a
 * node 9 of its own does not matter: the 4 ns count where they were spent.
 */
TEST(a_node_of_another_thread_is_another_node)
{
    draw_module("A_0", 1, 0, 50);
    draw_forward("aten::mm", 1, 10, 5, 2);
    draw_forward("aten::mm", 1, 20, 5, 3);
    draw_module("B_0", 2, 0, 50);
    draw_forward("aten::mm", 2, 10, 5, 9);
    draw_backward("MmBackward0", 3, 100, 1, 3, 4);
    draw_backward("MmBackward0", 3, 110, 2, 2, 4);
    draw_backward("MmBackward0", 3, 120, 4, 9, 4);
    answer_by(MODULES_BY_TREE);
    assert_int_equal(figure("A_0", "cpu_backward"), 3);
    assert_int_equal(figure("B_0", "cpu_backward"), 0);
    assert_int_equal(figure("(outside any module)", "cpu_backward"), 4);
    assert_parts_add_up();
}

/*
 * Two threads number their nodes from 1, thread 1 up to 3, thread 2 up to 2. torch calls thread 2 its number 5: the
 * node 3 of number 4 is found on thread 1 alone; node 2 of number 5 is on both, and number 5 is known by node 7.
 */
TEST(equal_numbers_of_two_threads_are_distinguished)
{
    draw_module("A_0", 1, 0, 50);
    draw_forward("aten::mm", 1, 10, 5, 2);
    draw_forward("aten::mm", 1, 20, 5, 3);
    draw_module("B_0", 2, 0, 50);
    draw_forward("aten::mm", 2, 10, 5, 2);
    draw_forward("aten::mm", 2, 20, 5, 7);
    draw_backward("MmBackward0", 3, 100, 1, 3, 4);
    draw_backward("MmBackward0", 3, 110, 2, 2, 4);
    draw_backward("MmBackward0", 4, 100, 4, 7, 5);
    draw_backward("MmBackward0", 4, 110, 8, 2, 5);
    answer_by(MODULES_BY_TREE);
    assert_int_equal(figure("A_0", "cpu_backward"), 3);
    assert_int_equal(figure("B_0", "cpu_backward"), 12);
}

/* Checkpointing runs the forward pass again within the backward one: a module there is in that of the forward operator. */
TEST(code_that_runs_again_is_backward_within_its_module)
{
    draw_module("Net_0", 1, 0, 50);
    draw_forward("CheckpointFunction", 1, 10, 30, 5);
    draw_backward("CheckpointFunctionBackward", 2, 100, 50, 5, 1);
    draw_module("Linear_0", 2, 110, 30);
    draw_host("cpu_op", "aten::linear", 2, 115, 10);
    answer_by(MODULES_BY_TREE);
    assert_string_equal(text_called(modules, row_called("Linear_0"), "path"), "Net_0/Linear_0");
    assert_int_equal(figure("Linear_0", "cpu_backward"), 30);
    assert_int_equal(figure("Linear_0", "cpu_forward"), 0);
    assert_int_equal(figure("Net_0", "cpu_backward"), 50);
    assert_int_equal(modules->row_count, 3);
    assert_parts_add_up();
}

/* No frames were recorded as events: each operator carries its stack, from the inside out. */
TEST(stacks_of_operators_tell_modules_too)
{
    draw_host("cpu_op", "aten::linear", 1, 0, 20);
    draw_text(ARG_CALL_STACK,
              "torch/nn/modules/linear.py(114): forward;nn.Module: Linear_0;model.py(7): forward;"
              "nn.Module: Net_0;train.py(12): <module>");
    draw_host("cpu_op", "aten::addmm", 1, 5, 10);
    draw_host("cpu_op", "aten::add", 1, 30, 5);
    draw_text(ARG_CALL_STACK, "train.py(13): <module>");
    answer_by(MODULES_BY_TREE);
    assert_int_equal(figure("Net_0", "cpu_total"), 20);
    assert_int_equal(figure("Linear_0", "self_cpu"), 20);
    assert_int_equal(figure("Linear_0", "count"), TABLE_INT_MISSING); /* calls are not recorded */
    assert_int_equal(figure("(outside any module)", "self_cpu"), 5);
    answer_by(MODULES_BY_LINE);
    assert_int_equal(figure("model.py(7): forward", "self_cpu"), 20);
    assert_int_equal(figure("train.py(12): <module>", "cpu_total"), 20);
    assert_int_equal(figure("train.py(13): <module>", "self_cpu"), 5);
}

/* TorchScript: SELF is a method that calls another of the same module. */
TEST(module_hierarchies_are_paths)
{
    draw_host("cpu_op", "aten::mul", 1, 0, 20);
    draw_text(ARG_MODULE_HIERARCHY, "TOP(C)::forward.A0(A)::forward.SELF(A)::forward_impl_.");
    draw_host("cpu_op", "aten::add", 1, 30, 5);
    draw_text(ARG_MODULE_HIERARCHY, "TOP(C)::forward.");
    draw_host("cpu_op", "aten::sub", 1, 40, 3);
    draw_text(ARG_MODULE_HIERARCHY, "");
    answer_by(MODULES_BY_TREE);
    assert_string_equal(text_called(modules, row_called("A0(A)"), "path"), "TOP(C)/A0(A)");
    assert_int_equal(figure("A0(A)", "self_cpu"), 20);
    assert_int_equal(figure("TOP(C)", "cpu_total"), 25);
    assert_int_equal(figure("(outside any module)", "self_cpu"), 3);
}

/* Only what begins in 60..: the second call of Net_0, and its kernel, which runs long after. */
TEST(a_range_chooses_by_when_things_began)
{
    struct selection_query query = { .range = "60ns.." };
    draw_module("Net_0", 1, 0, 50);
    draw_call("cudaLaunchKernel", 1, 10, 2, 1);
    draw_module("Net_0", 1, 60, 30);
    draw_call("cudaLaunchKernel", 1, 70, 2, 2);
    draw_work("kernel", "k", 0, 7, 100, 8, 1);
    draw_work("kernel", "k", 0, 7, 200, 16, 2);
    answer_with(query, (struct modules_options){ 0 });
    assert_int_equal(figure("Net_0", "count"), 1);
    assert_int_equal(figure("Net_0", "cpu_total"), 30);
    assert_int_equal(figure("Net_0", "device_total"), 16);
    assert_parts_add_up();
}

TEST(backward_operators_without_their_forward_count_where_they_ran)
{
    draw_module("Net_0", 1, 0, 50);
    draw_backward("MmBackward0", 1, 10, 5, 3, 1);
    draw_backward("MmBackward0", 2, 10, 7, 4, 1);
    draw_forward("aten::mm", 3, 100, 5, 4); /* began after it: of another round */
    answer_by(MODULES_BY_TREE);
    assert_int_equal(notice_called(result, "unlinked_backward"), 2);
    assert_int_equal(figure("Net_0", "cpu_backward"), 5);
    assert_int_equal(figure("(outside any module)", "cpu_backward"), 7);
    assert_parts_add_up();
}

TEST(a_trace_without_modules_has_all_outside)
{
    draw_host("cpu_op", "aten::add", 1, 0, 5);
    answer_by(MODULES_BY_TREE);
    assert_int_equal(modules->row_count, 1);
    assert_int_equal(int_called(modules, 0, "self_cpu"), 5);
    assert_int_equal(notice_called(result, "unlinked_backward"), 0);
    assert_int_equal(result->notices.count, 1); /* no nn.Module */
}

/* tpa top has the operators of a module, without those of the modules it called, and no frames. */
TEST(top_makes_rows_of_modules)
{
    draw();
    struct top_options options = { .by = TOP_MODULE };
    result = scratch_result(top_result(drawn(), &options));
    modules = table_called(result, "operators");
    assert_int_equal(modules->row_count, 4);
    assert_int_equal(figure("Linear_1", "self_device_time_total"), 5 + 20);
    assert_int_equal(figure("Linear_1", "cpu_time_total"), 10 + 30);
    assert_int_equal(figure("Net_0", "self_device_time_total"), 3 + 7);
    assert_int_equal(figure("Net_0", "cpu_time_total"), 6 + 10);
    assert_int_equal(figure("(no module)", "self_device_time_total"), 2 + 11);

    options.by = TOP_MODULE | TOP_OPERATOR;
    result = scratch_result(top_result(drawn(), &options));
    modules = table_called(result, "operators");
    int64_t linears = 0;
    for (size_t row = 0; row < modules->row_count; row++)
        if (strcmp(text_called(modules, row, "name"), "aten::linear") == 0) {
            linears++;
            assert_memory_equal(text_called(modules, row, "module"), "Linear_", 7);
        }
    assert_int_equal(linears, 2);

    options.by = TOP_LINE;
    result = scratch_result(top_result(drawn(), &options));
    modules = table_called(result, "operators");
    assert_int_equal(figure("train.py(1): step", "self_device_time_total"), 8 + 5 + 3 + 2 + 7 + 20);
}

/* An annotation nests in no frame, yet it was somewhere: within Net_0, 10..40, and after Linear_0, 15..20. */
/*
 *     thread 1   [ Linear_0          )0..100
 *                          [ aten::mm     )60..140      begins in the module, ends after it
 *                            [ aten::add )70..80
 */
TEST(no_moment_of_a_thread_counts_twice)
{
    draw_module("Linear_0", 1, 0, 100);
    draw_host("cpu_op", "aten::mm", 1, 60, 80);
    draw_host("cpu_op", "aten::add", 1, 70, 10);
    answer_by(MODULES_BY_INSTANCE);
    assert_int_equal(figure("Linear_0", "self_cpu"), 60);
    assert_int_equal(figure("(outside any module)", "self_cpu"), 80);
}

TEST(annotations_are_where_they_began)
{
    struct top_options options = { .by = TOP_MODULE | TOP_OPERATOR };
    draw_module("Net_0", 1, 10, 30);
    draw_module("Linear_0", 1, 15, 5);
    draw_host("user_annotation", "mine", 1, 20, 50);
    draw_host("user_annotation", "late", 1, 40, 5);
    result = scratch_result(top_result(drawn(), &options));
    modules = table_called(result, "operators");
    assert_string_equal(text_called(modules, row_called("mine"), "module"), "Net_0");
    assert_string_equal(text_called(modules, row_called("late"), "module"), "(no module)");
}

TEST(names_of_frames_tell_module_and_class)
{
    assert_string_equal(python_module_of("nn.Module: Linear_0"), "Linear_0");
    assert_null(python_module_of("train.py(3): nn.Module: x"));
    assert_int_equal(python_class_length("Linear_12"), 6);
    assert_int_equal(python_class_length("Conv2d_0"), 6);
    assert_int_equal(python_class_length("Conv2d"), 6);
    assert_int_equal(python_class_length("_7"), 2);
    assert_int_equal(python_frame_of("train.py(12): step"), FRAME_OF_USER);
    assert_int_equal(python_frame_of("/x/site-packages/torch/optim/sgd.py(12): step"), FRAME_OF_TORCH);
    assert_int_equal(python_frame_of("<built-in function len>"), FRAME_NO_LINE);
    assert_int_equal(python_frame_of("nn.Module: Linear_0"), FRAME_NO_LINE);
}
