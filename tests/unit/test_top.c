/*
 * test_top.c - analyze/top/top.h: the figures of key_averages(), worked out by hand. Times are in ns; CUDA rows are marked
 * by a star in the helpers' names: "gemm*".
 */
#include "tests/unit/drawn.h"

#include "analyze/top/top.h"

struct top_answer {
    struct trace *trace;
    struct result *result;
    const struct table *table;
};

static struct top_answer ask(struct trace *trace, struct top_options options)
{
    struct top_answer answer = { .trace = trace };
    answer.result = scratch_result(top_result(trace, &options));
    answer.table = answer.result->tables.at[0];
    return answer;
}

static size_t column(const struct top_answer *answer, const char *key)
{
    int at = table_find_column(answer->table, key, strlen(key));
    assert_true(at >= 0);
    return (size_t)at;
}

static const char *text(const struct top_answer *answer, size_t row, const char *key)
{
    const char *found = table_cell(answer->table, row, column(answer, key))->text.at;
    return found ? found : "";
}

/* The row called NAME, on the host, or on the device when a star follows; no row: the count of rows. */
static size_t row_called(const struct top_answer *answer, const char *name)
{
    size_t len = strlen(name), row = 0;
    bool on_device = name[len - 1] == '*' && len > 1 && strcmp(name, "ProfilerStep*") != 0;
    for (; row < answer->table->row_count; row++)
        if (strlen(text(answer, row, "name")) == len - on_device &&
            strncmp(text(answer, row, "name"), name, len - on_device) == 0 &&
            (strcmp(text(answer, row, "device_type"), "CUDA") == 0) == on_device)
            break;
    return row;
}

static int64_t figure(const struct top_answer *answer, const char *name, const char *key)
{
    size_t row = row_called(answer, name);
    if (row == answer->table->row_count)
        fail_msg("there is no row %s", name);
    return table_cell(answer->table, row, column(answer, key))->i;
}

static bool has_row(const struct top_answer *answer, const char *name)
{
    return row_called(answer, name) < answer->table->row_count;
}

static void check_host(const struct top_answer *answer, const char *name, int64_t count, int64_t total,
                       int64_t self)
{
    assert_int_equal(figure(answer, name, "count"), count);
    assert_int_equal(figure(answer, name, "cpu_time_total"), total);
    assert_int_equal(figure(answer, name, "self_cpu_time_total"), self);
}

static void check_device(const struct top_answer *answer, const char *name, int64_t total, int64_t self)
{
    assert_int_equal(figure(answer, name, "cuda_time_total"), total);
    assert_int_equal(figure(answer, name, "self_cuda_time_total"), self);
}

static void check_memory(const struct top_answer *answer, const char *name, int64_t total, int64_t self)
{
    assert_int_equal(figure(answer, name, "cpu_memory_usage"), total);
    assert_int_equal(figure(answer, name, "self_cpu_memory_usage"), self);
}

static int64_t footer(const struct top_answer *answer, const char *key)
{
    for (size_t i = 0; i < answer->table->footers.count; i++)
        if (strcmp(answer->table->footers.at[i].key, key) == 0)
            return answer->table->footers.at[i].value.i;
    return -1;
}

/* How many events the notice of KIND is about; -1 when there is none. */
static int64_t noticed(const struct top_answer *answer, const char *kind)
{
    for (size_t i = 0; i < answer->result->notices.count; i++)
        if (strcmp(answer->result->notices.at[i].kind, kind) == 0)
            return answer->result->notices.at[i].count;
    return -1;
}

/* What the profiler says that it recorded. */
static void draw_window(int64_t dur_ns)
{
    struct track_key spans = {
        .pid_text = "Spans", .pid_len = 5, .tid_text = "PyTorch Profiler", .tid_len = 16
    };
    draw_on_track(spans, "Trace", "PyTorch Profiler (0)", 0, dur_ns);
}

/* A record: BYTES of host memory allocated, or freed when negative. */
static void record(int64_t thread, int64_t at_ns, int64_t bytes)
{
    draw_event("cpu_instant_event", "[memory]", DRAW_PROCESS, thread, at_ns, 0);
    draw_arg(ARG_BYTES, bytes);
    draw_arg(ARG_DEVICE_TYPE, 0);
}

static void operator_(const char *name, int64_t start_ns, int64_t dur_ns, int64_t id)
{
    draw_host("cpu_op", name, DRAW_PROCESS, start_ns, dur_ns);
    draw_arg(ARG_EXTERNAL_ID, id);
}

/* A launch at START on thread TID, and its kernel; OPERATOR 0: linked to none. */
static void launch(int64_t tid, const char *kernel, int64_t start_ns, int64_t kernel_start_ns,
                   int64_t kernel_ns, int64_t correlation, int64_t op)
{
    draw_host("cuda_runtime", "cudaLaunchKernel", tid, start_ns, 2);
    draw_arg(ARG_CORRELATION, correlation);
    if (op)
        draw_arg(ARG_EXTERNAL_ID, op);
    draw_event("kernel", kernel, 0, 7, kernel_start_ns, kernel_ns);
    draw_arg(ARG_CORRELATION, correlation);
    if (op)
        draw_arg(ARG_EXTERNAL_ID, op);
}

/*
 *   host     [linear================)        [relu====)
 *              [t=)  [addmm======)              [launch)
 *                      [launch)
 *   stream              [gemm=============)              [elementwise=)
 */
TEST(times_go_to_rows_callers_and_kernels)
{
    operator_("linear", 100, 40, 1);
    operator_("t", 104, 5, 2);
    operator_("addmm", 112, 20, 3);
    operator_("relu", 160, 16, 4);
    launch(DRAW_PROCESS, "gemm", 114, 118, 50, 901, 3);
    launch(DRAW_PROCESS, "elementwise", 164, 180, 13, 902, 4);
    struct top_answer answer = ask(drawn(), (struct top_options){ 0 });
    check_host(&answer, "linear", 1, 40, 40 - 5 - 20);
    check_host(&answer, "addmm", 1, 20, 20 - 2);
    check_host(&answer, "relu", 1, 16, 16 - 2);
    check_host(&answer, "cudaLaunchKernel", 2, 4, 4);
    check_host(&answer, "gemm*", 1, 0, 0);
    check_device(&answer, "addmm", 50, 50);
    check_device(&answer, "linear", 50, 0);
    check_device(&answer, "t", 0, 0);
    check_device(&answer, "relu", 13, 13);
    check_device(&answer, "cudaLaunchKernel", 0, 0); /* the operator has it */
    check_device(&answer, "gemm*", 50, 50);
    assert_int_equal(footer(&answer, "self_cpu_time_total"), 40 + 16);
    assert_int_equal(footer(&answer, "self_device_time_total"), 50 + 13);
    /* Rows come in order of first appearance. */
    static const char *const order[] = { "linear", "t",    "addmm",      "cudaLaunchKernel",
                                         "gemm",   "relu", "elementwise" };
    for (size_t i = 0; i < 7; i++)
        assert_string_equal(text(&answer, i, "name"), order[i]);
    assert_int_equal(noticed(&answer, "no_gpu"), -1);
}

/*
 * A recursive operator: each call's total counts, so the row's total is more than its wall time.
 *   [f==========)
 *     [g==)[f==)
 */
TEST(nested_calls_of_one_name_all_count)
{
    operator_("f", 0, 20, 1);
    operator_("g", 2, 5, 2);
    operator_("f", 10, 6, 3);
    launch(DRAW_PROCESS, "k", 11, 30, 9, 901, 3);
    struct top_answer answer = ask(drawn(), (struct top_options){ 0 });
    check_host(&answer, "f", 2, 26, 20 - 5 - 6 + 6 - 2);
    check_device(&answer, "f", 18, 9);
    assert_int_equal(noticed(&answer, "kernels_of_folded_calls"), -1);
}

/*
 *   [to==================)      launches k1 itself, and calls only to
 *      [to==========)           launches k2
 * torch counts one call, with the callee's kernels.
 */
TEST(a_call_with_one_callee_of_its_name_counts_once)
{
    operator_("to", 0, 40, 1);
    operator_("to", 10, 20, 2);
    /* linked to the outer, but made on another thread, so that it is no second child */
    draw_host("cpu_op", "other", 7, 0, 30), draw_arg(ARG_EXTERNAL_ID, 5);
    launch(DRAW_PROCESS, "k2", 12, 50, 7, 902, 2);
    draw_event("kernel", "k1", 0, 7, 60, 100);
    draw_arg(ARG_CORRELATION, 903), draw_arg(ARG_EXTERNAL_ID, 1);
    struct top_answer answer = ask(drawn(), (struct top_options){ 0 });
    check_host(&answer, "to", 1, 40, 40 - 2);
    check_device(&answer, "to", 7, 7);
    check_device(&answer, "k1*", 100, 100);
    assert_int_equal(noticed(&answer, "kernels_of_folded_calls"), 1);
}

/*
 *   main thread      [step==================)[tail)
 *                       [mm====)
 *   another thread        [query)                       no operator: counted on the main thread, in mm
 */
TEST(a_call_without_operator_runs_where_the_profiler_was_stopped)
{
    draw_host("user_annotation", "ProfilerStep#3", DRAW_PROCESS, 0, 40), draw_arg(ARG_EXTERNAL_ID, 9);
    operator_("mm", 10, 20, 1);
    draw_host("cuda_runtime", "cudaEventQuery", 555, 12, 4), draw_arg(ARG_CORRELATION, 77);
    launch(DRAW_PROCESS, "gemm", 20, 25, 5, 78, 1);
    struct top_answer answer = ask(drawn(), (struct top_options){ 0 });
    check_host(&answer, "mm", 1, 20, 20 - 4 - 2);
    check_host(&answer, "cudaEventQuery", 1, 4, 4);
    check_host(&answer, "ProfilerStep*", 1, 40, 20);
    assert_int_equal(noticed(&answer, "calls_without_operator"), 1);
}

/* As above, but the call's correlation is the id of an operator: torch gives it that operator's kernels too. */
TEST(a_call_that_has_an_operators_number_gets_its_kernels)
{
    operator_("mm", 10, 20, 1);
    launch(DRAW_PROCESS, "gemm", 20, 25, 5, 78, 1);
    draw_host("cuda_runtime", "cudaEventQuery", DRAW_PROCESS, 50, 4), draw_arg(ARG_CORRELATION, 1);
    struct top_answer answer = ask(drawn(), (struct top_options){ 0 });
    check_device(&answer, "mm", 5, 5);
    check_device(&answer, "cudaEventQuery", 5, 5);
    assert_int_equal(footer(&answer, "self_device_time_total"), 5);
}

TEST(since_torch_2_15_an_equal_number_brings_no_kernels)
{
    static const enum torch_version versions[] = { TORCH_UNKNOWN, TORCH_2_14, TORCH_2_15 };
    for (size_t i = 0; i < 3; i++) {
        operator_("mm", 10, 20, 1);
        launch(DRAW_PROCESS, "gemm", 20, 25, 5, 78, 1);
        draw_host("cuda_runtime", "cudaEventQuery", DRAW_PROCESS, 50, 4);
        draw_arg(ARG_CORRELATION, 1);
        struct top_answer answer = ask(drawn(), (struct top_options){ .torch = versions[i] });
        int64_t given = versions[i] == TORCH_2_15 ? 0 : 5;
        check_device(&answer, "mm", 5, 5);
        check_device(&answer, "cudaEventQuery", given, given);
        assert_int_equal(noticed(&answer, "kernels_by_number"), versions[i] == TORCH_UNKNOWN ? 1 : -1);
    }
}

/* What torch calls the device: by the category of the event, and by whose runtime the file calls. */
TEST(the_device_type_is_torchs)
{
    static const struct {
        const char *runtime, *work, *type, *shadow;
    } cases[] = {
        { "cuda_runtime", "kernel", "CUDA", "CUDA" },
        { "hip_runtime", "kernel", "CUDA", "CUDA" },
        { "xpu_runtime", "kernel", "XPU", "CUDA" }, /* torch calls it so */
        { "privateuse1_runtime", "kernel", "PrivateUse1", "PrivateUse1" },
        { "mtia_runtime", "mtia_ccp_events", "MTIA", "CUDA" },
        { "cuda_runtime", "hpu_op", "HPU", "CUDA" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        operator_("mm", 0, 20, 1);
        draw_host(cases[i].runtime, "launch", DRAW_PROCESS, 2, 2);
        draw_arg(ARG_CORRELATION, 7), draw_arg(ARG_EXTERNAL_ID, 1);
        draw_event(cases[i].work, "gemm", 0, 7, 10, 30);
        draw_arg(ARG_CORRELATION, 7), draw_arg(ARG_EXTERNAL_ID, 1);
        draw_event("gpu_user_annotation", "mine", 0, 7, 10, 30);
        struct top *top = scratch(top_analyze(drawn(), &(struct top_options){ 0 }));
        assert_int_equal(top->count, 4);
        assert_string_equal(top->device_name, cases[i].type);
        assert_int_equal(gpu_events_of(drawn())->count, 1); /* it occupies the device, to every command */
        for (size_t row = 0; row < top->count; row++) {
            const struct top_row *at = &top->at[row];
            const char *type = strcmp(at->name.at, "gemm") == 0   ? cases[i].type
                               : strcmp(at->name.at, "mine") == 0 ? cases[i].shadow
                                                                  : "CPU";
            assert_string_equal(at->device_type.at, type);
            if (strcmp(at->name.at, "mm") == 0)
                assert_int_equal(at->self_device_ns, 30);
        }
        assert_int_equal(top->self_device_ns, 30);
    }
}

/* Copies of an HPU have the category of CUDA's. The device that works longest heads the columns, whatever came first. */
TEST(the_device_that_works_longest_heads_the_columns)
{
    for (int longer = 0; longer < 2; longer++) {
        operator_("mm", 0, 20, 1);
        draw_host("cuda_runtime", "launch", DRAW_PROCESS, 2, 2);
        draw_event("gpu_memcpy", "Memcpy HtoD", 0, 7, 10, longer ? 40 : 5);
        draw_event("hpu_op", "gemm", 0, 7, 50, 30);
        SCOPED_OBJECT struct top *top = top_analyze(drawn(), &(struct top_options){ 0 });
        assert_string_equal(top->device_name, longer ? "CUDA" : "HPU");
    }
}

/*
 *   [allreduce====================)          its name says that it is asynchronous
 *      [mm=====)                             so mm is no callee of it
 *                         [open============ ... until after the window, which ends at 100
 */
TEST(asynchronous_and_open_regions_have_a_total_only)
{
    draw_window(100);
    draw_host("user_annotation", "nccl:all_reduce", DRAW_PROCESS, 10, 50);
    operator_("mm", 20, 10, 1);
    draw_host("user_annotation", "open", DRAW_PROCESS, 70, 500);
    operator_("add", 80, 10, 2);
    operator_("<forked function>", 90, 2, 3);
    operator_("<forked function>", 92, 2, 4);
    struct top_answer answer = ask(drawn(), (struct top_options){ 0 });
    check_host(&answer, "nccl:all_reduce", 1, 50, 0);
    check_host(&answer, "open", 1, 30, 0);
    check_host(&answer, "mm", 1, 10, 10);
    assert_int_equal(footer(&answer, "self_cpu_time_total"), 24);
    assert_int_equal(noticed(&answer, "torchscript_fork"), 2);
    assert_int_equal(figure(&answer, "add", "is_top_level"), 1);
    assert_int_equal(noticed(&answer, "async_guessed"), 1);
    assert_int_equal(noticed(&answer, "unfinished_regions"), 1);
    assert_int_equal(noticed(&answer, "no_gpu"), 0);
}

/*
 *   [outer====================)                60 long
 *      [first .......... open until after the window: ends with outer, at 60
 *          [inner=====)                         30..50
 *             [second .. open: ends with inner, at 50, though first is around it, too
 *                              [third ..        begins after outer: ends with the window, at 100
 */
TEST(an_open_region_ends_with_what_is_around_its_start)
{
    draw_window(100);
    operator_("outer", 0, 60, 1);
    draw_host("user_annotation", "first", DRAW_PROCESS, 10, 500);
    operator_("inner", 30, 20, 2);
    draw_host("user_annotation", "second", DRAW_PROCESS, 40, 500);
    draw_host("user_annotation", "third", DRAW_PROCESS, 70, 500);
    struct top_answer answer = ask(drawn(), (struct top_options){ 0 });
    check_host(&answer, "first", 1, 50, 0);
    check_host(&answer, "second", 1, 10, 0);
    check_host(&answer, "third", 1, 30, 0);
    check_host(&answer, "outer", 1, 60, 40);
}

/* Callees may overlap each other inside a caller, so what they take together may be more than it lasted. */
TEST(self_time_may_be_negative)
{
    operator_("a", 0, 20, 1);
    operator_("b", 1, 15, 2);
    operator_("c", 5, 14, 3);
    struct top_answer answer = ask(drawn(), (struct top_options){ 0 });
    check_host(&answer, "a", 1, 20, 20 - 15 - 14);
}

TEST(names_that_torch_drops_leave_their_time_to_the_caller)
{
    operator_("a", 0, 20, 1);
    operator_("aten::is_leaf", 1, 15, 2);
    operator_("b", 2, 10, 3);
    struct top_answer answer = ask(drawn(), (struct top_options){ 0 });
    assert_false(has_row(&answer, "aten::is_leaf"));
    check_host(&answer, "a", 1, 20, 10);
}

/*
 *   thread 100   [a==================)          [b====)
 *                   [c=====)
 *   records      +1 ^ +2   ^ +4     ^ +8   +16
 *   thread 9          +32, within c's time
 *
 *   a: 10..30, c: 14..20. Records at 10 (+1), 20 (+2), 30 (+4), 31 (+8); 16 on thread 9 (+32); b: 40..50, -5 at 45.
 */
TEST(memory_counts_from_start_to_end_on_any_thread)
{
    operator_("a", 10, 20, 1);
    operator_("c", 14, 6, 2);
    operator_("b", 40, 10, 3);
    record(DRAW_PROCESS, 45, -5);
    record(DRAW_PROCESS, 10, 1);
    record(DRAW_PROCESS, 20, 2);
    record(DRAW_PROCESS, 30, 4);
    record(DRAW_PROCESS, 31, 8);
    record(9, 16, 32);
    struct top_answer answer = ask(drawn(), (struct top_options){ 0 });
    check_memory(&answer, "a", 1 + 2 + 4 + 32, 1 + 4);
    check_memory(&answer, "c", 2 + 32, 2 + 32);
    check_memory(&answer, "b", -5, -5);
    check_memory(&answer, "[memory]", 8, 8);
    assert_int_equal(figure(&answer, "[memory]", "count"), 1);
    check_host(&answer, "[memory]", 1, 0, 0);
}

/*
 *   host     [## fwd ##==)
 *   stream   [## fwd ##====)     one longer at both ends than the kernels it covers
 *             [k1==)[k2==)
 */
TEST(a_region_and_its_shadow_on_a_stream_are_two_rows)
{
    draw_host("user_annotation", "## fwd ##", DRAW_PROCESS, 0, 5000), draw_arg(ARG_EXTERNAL_ID, 3);
    operator_("mm", 10, 2000, 4);
    launch(DRAW_PROCESS, "k1", 20, 10001, 3000, 61, 4);
    launch(DRAW_PROCESS, "k2", 60, 14000, 3000, 62, 4);
    draw_event("gpu_user_annotation", "## fwd ##", 0, 7, 10000, 7002), draw_arg(ARG_EXTERNAL_ID, 3);
    struct top_answer answer = ask(drawn(), (struct top_options){ 0 });
    check_device(&answer, "## fwd ##", 6000, 0); /* through mm; its shadow is no kernel of it */
    check_device(&answer, "## fwd ##*", 6999, 6999);
    assert_int_equal(footer(&answer, "self_device_time_total"), 6000);
    assert_int_equal(figure(&answer, "## fwd ##*", "is_user_annotation"), 1);
}

/* 9: launched before recording began; 8: a graph of two kernels in no operator. Nothing is lost. */
TEST(gpu_work_without_operator_keeps_its_rows)
{
    operator_("mm", 0, 20, 1);
    launch(DRAW_PROCESS, "gemm", 5, 10, 11, 901, 1);
    draw_event("kernel", "early", 0, 7, 2, 3), draw_arg(ARG_CORRELATION, 9);
    draw_host("cuda_runtime", "cudaGraphLaunch", DRAW_PROCESS, 30, 5), draw_arg(ARG_CORRELATION, 8);
    draw_event("kernel", "node", 0, 7, 40, 4), draw_arg(ARG_CORRELATION, 8);
    draw_event("kernel", "node", 0, 7, 50, 6), draw_arg(ARG_CORRELATION, 8);
    struct top_answer answer = ask(drawn(), (struct top_options){ 0 });
    check_device(&answer, "early*", 3, 3);
    check_device(&answer, "node*", 10, 10);
    assert_int_equal(footer(&answer, "self_device_time_total"), 11 + 3 + 10);
    assert_int_equal(noticed(&answer, "gpu_work_without_call"), 1);
    assert_int_equal(noticed(&answer, "gpu_work_without_operator"), 3);
    assert_int_equal(noticed(&answer, "cuda_graph"), 2);
}

TEST(python_frames_hold_but_have_no_rows_unless_requested)
{
    for (int python = 0; python < 2; python++) {
        draw_host("python_function", "train.py(3): main", DRAW_PROCESS, 0, 50), draw_arg(ARG_PYTHON_ID, 1);
        operator_("mm", 10, 20, 1);
        draw_host("python_function", "Python GC", DRAW_PROCESS, 32, 4);
        struct top_answer answer = ask(drawn(), (struct top_options){ .python = python });
        assert_int_equal(has_row(&answer, "train.py(3): main"), python);
        assert_int_equal(figure(&answer, "mm", "is_top_level"), 0);
        check_host(&answer, "Python GC", 1, 4, 4);
        assert_int_equal(footer(&answer, "self_cpu_time_total"), python ? 50 : 24);
    }
}

/* Shapes tell calls apart; lists of tensors do not. FLOPs of an (m x k)(k x n): 2 m k n. */
TEST(shapes_tell_calls_apart)
{
    drawn_file()->with_flops = 1;
    static const char *const dims[] = { "[[2,3],[3,4]]", "[[2,3],[3,5]]", "[[2,3],[3,4]]" };
    for (int i = 0; i < 3; i++) {
        operator_("aten::mm", 100 * i, 10 + i, i + 1);
        draw_text(ARG_INPUT_DIMS, dims[i]);
    }
    struct top_answer answer = ask(drawn(), (struct top_options){ .by = TOP_SHAPE });
    assert_int_equal(answer.table->row_count, 2);
    assert_string_equal(text(&answer, 0, "input_shapes"), "[[2, 3], [3, 4]]");
    assert_string_equal(text(&answer, 1, "input_shapes"), "[[2, 3], [3, 5]]");
    check_host(&answer, "aten::mm", 2, 22, 22);
    assert_int_equal(figure(&answer, "aten::mm", "flops"), 2 * 48);
}

static struct trace *two_steps(void)
{
    for (int step = 0; step < 2; step++) {
        int64_t at = 100 * step;
        draw_host("user_annotation", step ? "ProfilerStep#8" : "ProfilerStep#7", DRAW_PROCESS, at, 90);
        draw_arg(ARG_EXTERNAL_ID, 50 + step);
        operator_("mm", at + 10, 20, 1 + step);
        /* the kernel of step 7 runs while step 8 is going on */
        launch(DRAW_PROCESS, "gemm", at + 12, at + 105, 40, 901 + step, 1 + step);
    }
    operator_("after", 195, 5, 9);
    return drawn();
}

/* A step's row has what began in it and the GPU work launched from it, once. */
TEST(a_step_has_its_own_time_and_what_it_launched)
{
    struct top_answer answer = ask(two_steps(), (struct top_options){ .by = TOP_STEP });
    assert_int_equal(answer.table->row_count, 3);
    assert_string_equal(text(&answer, 0, "name"), "ProfilerStep#7");
    assert_string_equal(text(&answer, 1, "name"), "ProfilerStep#8");
    assert_string_equal(text(&answer, 2, "name"), "(outside steps)");
    check_host(&answer, "ProfilerStep#7", 4, 90, 90);
    check_device(&answer, "ProfilerStep#7", 40, 40);
    check_device(&answer, "ProfilerStep#8", 40, 40);
    check_host(&answer, "(outside steps)", 1, 5, 5);
}

/* A step is one run of it: two of one number are two rows. */
TEST(steps_of_one_number_are_two_rows)
{
    for (int64_t at = 0; at < 200; at += 100) {
        draw_host("user_annotation", "ProfilerStep#7", DRAW_PROCESS, at, 90);
        operator_("mm", at + 10, 20 + at, 1 + at);
    }
    struct top_answer answer = ask(drawn(), (struct top_options){ .by = TOP_STEP | TOP_OPERATOR });
    assert_int_equal(answer.table->row_count, 4);
    assert_int_equal(figure(&answer, "mm", "step"), 7);
    assert_int_equal(figure(&answer, "mm", "cpu_time_total"), 20);
}

TEST(choosing_a_step_takes_what_it_launched)
{
    struct trace *trace = two_steps();
    struct selection_query query = { .steps = { .at = { { 7, 7 } }, .count = 1 } };
    const struct selection *selection = scratch_selection(trace, query);
    struct top_answer answer = ask(trace, (struct top_options){ .selection = selection });
    check_host(&answer, "mm", 1, 20, 18);
    check_device(&answer, "mm", 40, 40);
    check_device(&answer, "gemm*", 40, 40);
    assert_false(has_row(&answer, "after"));
}

/* Filters choose rows; the figures and the whole that shares are of stay what they were. */
TEST(filters_choose_rows_and_change_no_figure)
{
    struct top_answer answer = ask(two_steps(), (struct top_options){ .filter = "m", .exclude = "^gemm" });
    assert_int_equal(answer.table->row_count, 1);
    check_host(&answer, "mm", 2, 40, 36);
    assert_int_equal(footer(&answer, "self_cpu_time_total"), 90 + 90 + 5);
}

TEST(files_add_up_or_are_distinguished_by_rank)
{
    for (int apart = 0; apart < 2; apart++) {
        drawn_file()->rank = 4;
        operator_("mm", 0, 20, 1);
        launch(DRAW_PROCESS, "gemm", 2, 10, 30, 901, 1);
        draw_rank(5);
        operator_("mm", 5, 10, 1); /* ids and times of the other file mean nothing here */
        launch(DRAW_PROCESS, "gemm", 7, 10, 6, 901, 1);
        struct top_answer answer = ask(drawn(), (struct top_options){ .by = apart ? TOP_RANK : 0 });
        if (apart) {
            assert_int_equal(answer.table->row_count, 6);
            assert_int_equal(figure(&answer, "mm", "rank"), 4);
            check_device(&answer, "mm", 30, 30);
        } else {
            assert_int_equal(answer.table->row_count, 3);
            check_host(&answer, "mm", 2, 30, 26);
            check_device(&answer, "mm", 36, 36);
        }
    }
}

/* One row per place: nested calls of one place count once in its total. */
TEST(places_count_nested_time_once)
{
    operator_("outer", 0, 40, 1);
    operator_("inner", 10, 20, 2);
    launch(DRAW_PROCESS, "gemm", 12, 20, 50, 901, 2);
    draw_event("gpu_memcpy", "Memcpy HtoD", 0, 9, 0, 7);
    struct top_options options = { .by = TOP_CATEGORY };
    struct top_answer answer = ask(drawn(), options);
    check_host(&answer, "cpu_op", 2, 40, 38);
    check_device(&answer, "cpu_op", 50, 50);
    check_host(&answer, "cuda_runtime", 1, 2, 2);
    check_device(&answer, "kernel*", 50, 50);

    answer = ask(drawn(), (struct top_options){ .by = TOP_THREAD });
    assert_int_equal(answer.table->row_count, 1);
    check_host(&answer, "thread 100", 3, 40, 40);
    check_device(&answer, "thread 100", 50, 50);

    answer = ask(drawn(), (struct top_options){ .by = TOP_STREAM });
    assert_int_equal(answer.table->row_count, 2);
    check_device(&answer, "GPU 0 stream 7*", 50, 50);
    check_device(&answer, "GPU 0 stream 9*", 7, 7);

    answer = ask(drawn(), (struct top_options){ .by = TOP_DEVICE });
    assert_int_equal(answer.table->row_count, 1);
    check_device(&answer, "GPU 0*", 57, 57);

    answer = ask(drawn(), (struct top_options){ .by = TOP_KERNEL });
    assert_int_equal(answer.table->row_count, 2);
    assert_false(has_row(&answer, "outer"));
    check_device(&answer, "gemm*", 50, 50);
}

/* torch's float64 figures differ from ours by no more than rounding. */
TEST(torchs_arithmetic_agrees_with_exact_sums)
{
    struct top_answer answer = ask(two_steps(), (struct top_options){ .float_times = true });
    static const char *const keys[][2] = { { "cpu_time_total", "torch_cpu_time_total" },
                                           { "self_cpu_time_total", "torch_self_cpu_time_total" },
                                           { "device_time_total", "torch_device_time_total" },
                                           { "self_device_time_total", "torch_self_device_time_total" } };
    for (size_t row = 0; row < answer.table->row_count; row++) {
        for (size_t i = 0; i < 4; i++) {
            double exact_us = (double)table_cell(answer.table, row, column(&answer, keys[i][0]))->i / 1000;
            double torch_us = table_cell(answer.table, row, column(&answer, keys[i][1]))->f;
            assert_true(torch_us > exact_us - 1e-9 && torch_us < exact_us + 1e-9);
        }
    }
}

/* torch's own rules are for torch's traces: elsewhere a recursion is two calls in the time of one. */
TEST(other_producers_get_plain_nesting)
{
    drawn_file()->producer = PRODUCER_VIZTRACER;
    draw_host("FEE", "fib", 1, 0, 30);
    draw_host("FEE", "fib", 1, 5, 20);
    draw_host("FEE", "gloo:read", 1, 40, 10);
    draw_host("FEE", "inside", 1, 42, 3);
    struct top_answer answer = ask(drawn(), (struct top_options){ 0 });
    check_host(&answer, "fib", 2, 30, 30);
    check_host(&answer, "gloo:read", 1, 10, 7);
    assert_int_equal(noticed(&answer, "async_guessed"), -1);
}

TEST(an_empty_trace_has_no_rows)
{
    draw_begin(drawn_wants);
    struct top_answer answer = ask(drawn(), (struct top_options){ .float_times = true });
    assert_int_equal(answer.table->row_count, 0);
    assert_int_equal(footer(&answer, "self_cpu_time_total"), 0);
}
