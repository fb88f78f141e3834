/* test_memory.c - memory/memory.h: peaks, what is in use at them, who allocates, what grows. */

#include "memory/memory.h"
#include "tests/unit/drawn.h"

static struct result *result;

enum { CPU = 0, CUDA = 1 };

static enum memory_by by;

static void answer(struct selection_query query)
{
    const struct selection *selection = scratch_selection(drawn(), query);
    result = scratch_result(result_open("tpa.memory/1"));
    struct memory_options options = { .by = by, .filtered = query.filter, .devices = query.devices };
    memory_add_tables(drawn(), selection, &options, result);
}

static size_t row_of(const struct table *table, const char *device, const char *owner)
{
    for (size_t row = 0; row < table->row_count; row++)
        if (strcmp(text_called(table, row, "device"), device) == 0 &&
            (!owner || strcmp(text_called(table, row, "operator"), owner) == 0))
            return row;
    fail_msg("no row of %s with %s", device, owner ? owner : "anything");
    return 0;
}

/*
 *              0    10   20   30   40   50   60   70   80   90   100
 *   host       [ ProfilerStep#1                       )[ ProfilerStep#2             )    0..60, 60..100
 *               [ linear            )  [ loss )         [ linear            )            2..40, 44..56, 62..90
 *                 [ mm      )                              [ mm      )                   5..20, 66..80
 *   cuda:0 at     A    B        A'      C    B'  D'           E                          100 are in use before
 *              8 12 ..  A +50  (150)   in mm         70 E +90 (200)   in mm
 *             25    ..  B +30  (180)   in linear
 *             30    ..  A -50  (130)   in linear
 *             46    ..  C +40  (170)   in loss
 *             50    ..  B -30  (140)   in loss
 *             58    ..  D -30  (110)   in the step alone; D was allocated before recording
 *             70    ..  E +90  (200)   in mm: the peak. In use: C 40, E 90, and 70 of before
 *             95    ..  E -90  (110)   in the step alone
 *   cpu at    26    ..  +8 at the address of B: another memory, so no end of B; never freed
 */
static void draw_records(void)
{
    draw_step(1, 0, 60);
    draw_host("cpu_op", "aten::linear", 1, 2, 38);
    draw_host("cpu_op", "aten::mm", 1, 5, 15);
    draw_memory(8, CUDA, 0, 0xA00, 50, 150);
    draw_memory(25, CUDA, 0, 0xB00, 30, 180);
    draw_memory(26, CPU, -1, 0xB00, 8, 8);
    draw_memory(30, CUDA, 0, 0xA00, -50, 130);
    draw_host("cpu_op", "aten::loss", 1, 44, 12);
    draw_memory(46, CUDA, 0, 0xC00, 40, 170);
    draw_memory(50, CUDA, 0, 0xB00, -30, 140);
    draw_memory(58, CUDA, 0, 0xD00, -30, 110);
    draw_step(2, 60, 40);
    draw_host("cpu_op", "aten::linear", 1, 62, 28);
    draw_host("cpu_op", "aten::mm", 1, 66, 14);
    draw_memory(70, CUDA, 0, 0xE00, 90, 200);
    draw_memory(95, CUDA, 0, 0xE00, -90, 110);
}

static void draw(void)
{
    draw_begin(&memory_wants);
    draw_records();
}

/* 64 calls around a record are reported, of 65 the innermost 64. */
TEST(a_stack_at_a_peak_has_an_end)
{
    for (int64_t depth = 64; depth <= 65; depth++) {
        draw_begin(&memory_wants);
        for (int64_t i = 0; i < depth; i++)
            draw_host("cpu_op",
                      i == depth - 64  ? "first"
                      : i == depth - 1 ? "last"
                                       : "op",
                      1, i, 200 - 2 * i);
        draw_memory(80, CUDA, 0, 0xA00, 50, 150);
        answer((struct selection_query){ 0 });
        struct table *memory = table_called(result, "memory");
        const char *stack = text_called(memory, row_of(memory, "cuda:0", NULL), "peak_stack");
        const char *begin = depth == 64 ? "first > op > " : "... > first > op > ", *end = " > op > last";
        assert_memory_equal(stack, begin, strlen(begin));
        assert_string_equal(stack + strlen(stack) - strlen(end), end);
    }
}

TEST(a_peak_has_its_moment_step_and_stack)
{
    draw();
    answer((struct selection_query){ 0 });
    struct table *memory = table_called(result, "memory");
    assert_int_equal(memory->row_count, 2);
    size_t row = row_of(memory, "cuda:0", NULL);
    assert_row(memory, row,
               "peak_allocated=200, peak_time=70, peak_step=2, peak_operator=aten::mm, "
               "peak_stack=ProfilerStep#2 > aten::linear > aten::mm, peak_reserved=-, "
               "start=100, end=110");
    assert_int_equal(int_called(memory, row, "allocated"), 50 + 30 + 40 + 90);
    assert_int_equal(int_called(memory, row, "freed"), 50 + 30 + 30 + 90);
    assert_int_equal(int_called(memory, row, "frees"), 4);
}

/* 90 + 40 + 70 = 200. Block B is gone by then, though the host has one at the same address. */
TEST(what_is_in_use_adds_up_to_the_peak)
{
    draw();
    answer((struct selection_query){ 0 });
    struct table *alive = table_called(result, "alive");
    assert_int_equal(alive->row_count, 4);
    assert_int_equal(int_called(alive, row_of(alive, "cuda:0", "aten::mm"), "bytes"), 90);
    assert_int_equal(int_called(alive, row_of(alive, "cuda:0", "aten::loss"), "bytes"), 40);
    assert_int_equal(int_called(alive, row_of(alive, "cuda:0", "[before recording]"), "bytes"), 70);
    assert_int_equal(int_called(alive, row_of(alive, "cpu", "aten::linear"), "bytes"), 8);
    assert_float_equal(number_called(alive, row_of(alive, "cuda:0", "aten::mm"), "share"), 0.45, 1e-12);
}

/* linear allocates 30 itself, and 50 + 90 by mm; it frees 50. What lies in a step alone is in no operator. */
TEST(operators_have_self_and_total)
{
    draw();
    answer((struct selection_query){ 0 });
    struct table *operators = table_called(result, "operators");
    size_t linear = row_of(operators, "cuda:0", "aten::linear"), mm = row_of(operators, "cuda:0", "aten::mm");
    assert_int_equal(int_called(operators, linear, "self_allocated"), 30);
    assert_int_equal(int_called(operators, linear, "allocated"), 30 + 50 + 90);
    assert_int_equal(int_called(operators, linear, "allocations"), 3);
    assert_int_equal(int_called(operators, linear, "self_net"), 30 - 50);
    assert_int_equal(int_called(operators, linear, "net"), 170 - 50);
    assert_row(operators, mm, "self_allocated=140, allocated=140");
    size_t none = row_of(operators, "cuda:0", "[no operator]");
    assert_int_equal(int_called(operators, none, "freed"), 30 + 90);
    assert_int_equal(int_called(operators, none, "self_freed"), 30 + 90);
    assert_int_equal(operators->row_count, 5); /* mm, linear, loss, none; and linear on the host */
}

TEST(steps_grow)
{
    draw();
    answer((struct selection_query){ 0 });
    struct table *steps = table_called(result, "steps");
    assert_int_equal(steps->row_count, 4); /* two of the host, two of the device */
    assert_int_equal(int_called(steps, 0, "growth"), 8);
    assert_int_equal(int_called(steps, 1, "growth"), 0);
    assert_row(steps, 2, "start=100, peak=180, end=110, growth=10");
    assert_row(steps, 3, "peak=200, growth=0");
}

TEST(blocks_that_live_on)
{
    draw();
    answer((struct selection_query){ 0 });
    struct table *unfreed = table_called(result, "unfreed");
    assert_int_equal(unfreed->row_count, 2);
    assert_row(unfreed, 0, "operator=aten::loss, bytes=40, first=46, first_step=1");
    assert_string_equal(text_called(unfreed, 1, "device"), "cpu");
}

/* In step 1 the peak is 180, at 25: A 50, B 30, and 100 of before. */
TEST(a_step_has_its_own_peak)
{
    draw();
    struct selection_query query = { .steps = { .at = { { 1, 1 } }, .count = 1 } };
    answer(query);
    struct table *memory = table_called(result, "memory"), *alive = table_called(result, "alive");
    size_t row = row_of(memory, "cuda:0", NULL);
    assert_row(memory, row, "peak_allocated=180, end=110");
    assert_int_equal(int_called(alive, row_of(alive, "cuda:0", "aten::mm"), "bytes"), 50);
    assert_int_equal(int_called(alive, row_of(alive, "cuda:0", "aten::linear"), "bytes"), 30);
    assert_int_equal(int_called(alive, row_of(alive, "cuda:0", "[before recording]"), "bytes"), 100);
    assert_int_equal(table_called(result, "steps")->row_count, 2);
}

TEST(devices_are_chosen_and_the_host_stays)
{
    draw_begin(&memory_wants);
    draw_host("cpu_op", "aten::mm", 1, 0, 50);
    draw_work("kernel", "gemm", 0, 7, 0, 5, DRAW_NO_CALL);
    draw_work("kernel", "gemm", 1, 7, 0, 5, DRAW_NO_CALL);
    draw_memory(1, CUDA, 0, 0xA00, 10, 10);
    draw_memory(2, CUDA, 1, 0xA00, 20, 20);
    draw_memory(3, CPU, -1, 0xA00, 30, 30);
    answer((struct selection_query){ .devices = { .at = { { 1, 1 } }, .count = 1 } });
    struct table *memory = table_called(result, "memory");
    assert_int_equal(memory->row_count, 2);
    assert_int_equal(int_called(memory, row_of(memory, "cpu", NULL), "peak_allocated"), 30);
    assert_int_equal(int_called(memory, row_of(memory, "cuda:1", NULL), "peak_allocated"), 20);
}

/* Nested calls of one name count once: 10 + 20, not 10 + 20 + 20. */
TEST(nested_calls_of_a_name_count_once)
{
    draw_begin(&memory_wants);
    draw_host("cpu_op", "aten::to", 1, 0, 50);
    draw_memory(5, CPU, -1, 0xA00, 10, 10);
    draw_host("cpu_op", "aten::copy_", 1, 8, 40);
    draw_host("cpu_op", "aten::to", 1, 10, 30);
    draw_memory(20, CPU, -1, 0xB00, 20, 30);
    draw_host("cpu_op", "aten::to", 1, 60, 10);
    draw_memory(60, CPU, -1, 0xC00, 40, 70);  /* the moment it begins belongs to it */
    draw_memory(70, CPU, -1, 0xD00, 80, 150); /* the moment it ends does not */
    answer((struct selection_query){ 0 });
    struct table *operators = table_called(result, "operators");
    size_t to = row_of(operators, "cpu", "aten::to");
    assert_row(operators, to, "self_allocated=70, allocated=70");
    assert_int_equal(int_called(operators, row_of(operators, "cpu", "aten::copy_"), "allocated"), 20);
    assert_int_equal(int_called(operators, row_of(operators, "cpu", "[no operator]"), "allocated"), 80);
}

/* As PyTorch 1.8 wrote them: counted from 0 on, and nothing is known of blocks. */
TEST(records_without_totals_and_addresses)
{
    draw_begin(&memory_wants);
    draw_host("cpu_op", "aten::mm", 1, 0, 50);
    draw_memory(1, CPU, -1, 0, 10, -1);
    draw_memory(2, CPU, -1, 0, 20, -1);
    draw_memory(3, CPU, -1, 0, -10, -1);
    draw_memory(4, CPU, -1, 0, 5, -1);
    answer((struct selection_query){ 0 });
    struct table *memory = table_called(result, "memory");
    assert_row(memory, 0, "peak_allocated=30, start=0, end=25");
    assert_int_equal(notice_called(result, "untold_totals"), 4);
    assert_int_equal(notice_called(result, "untold_addresses"), 4);
    assert_int_equal(result->tables.count, 2); /* memory and operators */
}

/*
 * As a log of the driver has them: no totals, and no operator around, but the correlation of the call. Counting begins
 * with the blocks that are freed without having been allocated in the file.
 *
 *   host       [ mm    )           [ cudaMalloc )  [ cudaFree )     cudaMalloc #1 in mm, #2 alone
 *               [malloc)
 *   cuda:0      A +50 (120)         B +30 (150)      D -70 (80)    D is from before: 70
 */
TEST(records_of_the_driver_belong_to_calls)
{
    draw_begin(&memory_wants);
    draw_host("cpu_op", "aten::mm", 1, 0, 20);
    draw_call("cudaMalloc", 1, 5, 10, 1);
    draw_call("cudaMalloc", 1, 30, 10, 2);
    draw_call("cudaFree", 1, 50, 10, 3);
    static const struct {
        int64_t at_ns, address, bytes;
    } records[] = { { 8, 0xA00, 50 }, { 35, 0xB00, 30 }, { 55, 0xD00, -70 } };
    for (int i = 0; i < 3; i++) {
        draw_event("cpu_instant_event", "[memory]", DRAW_PROCESS, 99, records[i].at_ns,
                   0); /* a track of its own */
        draw_arg(ARG_DEVICE_TYPE, CUDA);
        draw_arg(ARG_DEVICE_ID, 0);
        draw_arg(ARG_BYTES, records[i].bytes);
        draw_arg(ARG_ADDRESS, records[i].address);
        draw_arg(ARG_CORRELATION, i + 1);
    }
    answer((struct selection_query){ 0 });
    struct table *memory = table_called(result, "memory"), *alive = table_called(result, "alive");
    assert_row(memory, 0, "peak_allocated=150, start=70, end=80, peak_operator=cudaMalloc");
    assert_int_equal(int_called(alive, row_of(alive, "cuda:0", "aten::mm"), "bytes"), 50);
    assert_int_equal(int_called(alive, row_of(alive, "cuda:0", "cudaMalloc"), "bytes"), 30);
    assert_int_equal(int_called(alive, row_of(alive, "cuda:0", "[before recording]"), "bytes"), 70);
    struct table *operators = table_called(result, "operators");
    assert_int_equal(int_called(operators, row_of(operators, "cuda:0", "aten::mm"), "allocated"), 50);
    assert_int_equal(int_called(operators, row_of(operators, "cuda:0", "cudaFree"), "freed"), 70);
}

/* Counted, the second block takes the place of the first, whose free was lost: 35 are in use and not 45. */
TEST(a_lost_free_is_counted)
{
    draw_begin(&memory_wants);
    draw_memory(1, CPU, -1, 0xA00, 10, -1);
    draw_memory(2, CPU, -1, 0xA00, 30, -1);
    draw_memory(3, CPU, -1, 0xB00, 5, -1);
    answer((struct selection_query){ 0 });
    assert_int_equal(int_called(table_called(result, "memory"), 0, "peak_allocated"), 35);
}

/* Reserved less in use: 100 - 40, then 100 - 90, then 200 - 95, which is the most; at the peak of 95 it is 105 of 200. */
TEST(fragmentation_is_what_is_reserved_and_not_used)
{
    draw_begin(&memory_wants);
    static const int64_t reserved[] = { 100, 100, 200 }, bytes[] = { 40, 50, 5 }, in_use[] = { 40, 90, 95 };
    draw_step(1, 0, 50);
    for (int i = 0; i < 3; i++) {
        draw_memory(INT64_C(10) * (i + 1), CUDA, 0, 0xA00 + i, bytes[i], in_use[i]);
        draw_arg(ARG_TOTAL_RESERVED, reserved[i]);
    }
    answer((struct selection_query){ 0 });
    struct table *memory = table_called(result, "memory");
    assert_float_equal(number_called(memory, 0, "unused_at_peak"), 105.0 / 200, 1e-12);
    assert_row(memory, 0, "peak_reserved=200, most_unused=105, most_unused_time=30");
    assert_int_equal(int_called(table_called(result, "steps"), 0, "reserved"), 200);
}

/* 200 are reserved between the steps; in step 2 nothing is recorded, so it ends with these. The host tells 0, which is no 0. */
TEST(what_is_reserved_between_steps_is_reserved_in_the_next)
{
    draw_begin(&memory_wants);
    draw_step(1, 0, 50);
    draw_step(2, 60, 40);
    draw_memory(10, CUDA, 0, 0xA00, 40, 40);
    draw_arg(ARG_TOTAL_RESERVED, 100);
    draw_memory(55, CUDA, 0, 0xB00, 90, 130);
    draw_arg(ARG_TOTAL_RESERVED, 200);
    draw_memory(20, CPU, -1, 0xA00, 10, 10);
    draw_arg(ARG_TOTAL_RESERVED, 0);
    answer((struct selection_query){ 0 });
    enum { HOST, GPU };
    struct table *memory = table_called(result, "memory"), *steps = table_called(result, "steps");
    assert_string_equal(text_called(memory, HOST, "device"), "cpu");
    assert_true(table_is_missing(memory, HOST, (size_t)table_find_column(memory, "most_unused", 11)));
    assert_true(table_is_missing(memory, HOST, (size_t)table_find_column(memory, "unused_at_peak", 14)));
    assert_int_equal(int_called(memory, GPU, "most_unused"), 70);
    assert_int_equal(int_called(steps, 2, "reserved"), 100);
    assert_row(steps, 3, "reserved=200, growth=0");
}

/*
 * The innermost Python function of the user's that is open at the peak; torch's own only where there is none. One that
 * ends then is over.
 */
TEST(a_peak_has_its_line)
{
    draw_begin(&memory_wants);
    draw_host("python_function", "train.py(7): main", 1, 0, 90);
    draw_host("python_function", "train.py(12): step", 1, 5, 60);
    draw_host("python_function", "torch/nn/modules/module.py(1501): _call_impl", 1, 10, 50);
    draw_host("python_function", "train.py(40): other thread", 2, 15, 30);
    draw_host("python_function", "train.py(30): before", 1, 11, 9);
    draw_host("cpu_op", "aten::mm", 1, 15, 30);
    draw_memory(20, CPU, -1, 0xA00, 10, 10);
    answer((struct selection_query){ 0 });
    assert_string_equal(text_called(table_called(result, "memory"), 0, "peak_line"), "train.py(12): step");
}

/* The free of the first block is not in the file: the second takes its place. */
TEST(a_lost_free_ends_the_block)
{
    draw_begin(&memory_wants);
    draw_host("cpu_op", "aten::mm", 1, 0, 50);
    draw_memory(1, CPU, -1, 0xA00, 10, 10);
    draw_memory(2, CPU, -1, 0xA00, 30, 30);
    answer((struct selection_query){ 0 });
    struct table *alive = table_called(result, "alive"), *unfreed = table_called(result, "unfreed");
    assert_int_equal(alive->row_count, 1);
    assert_int_equal(int_called(alive, 0, "bytes"), 30);
    assert_int_equal(unfreed->row_count, 1);
    assert_int_equal(int_called(unfreed, 0, "count"), 1);
    assert_int_equal(notice_called(result, "lost_frees"), 1);
}

/* Sizes from a damaged file do not overflow. */
TEST(absurd_sizes_are_held)
{
    draw_begin(&memory_wants);
    draw_host("cpu_op", "aten::mm", 1, 0, 50);
    draw_memory(1, CPU, -1, 0xA00, INT64_MAX, -1);
    draw_memory(2, CPU, -1, 0xB00, INT64_MAX, -1);
    draw_memory(3, CPU, -1, 0xC00, INT64_MIN, -1);
    answer((struct selection_query){ 0 });
    assert_int_equal(int_called(table_called(result, "memory"), 0, "peak_allocated"), INT64_MAX);
}

/* The row of TABLE about DEVICE in which column KEY is TEXT. */
static size_t row_with(const struct table *table, const char *device, const char *key, const char *text)
{
    for (size_t row = 0; row < table->row_count; row++)
        if (strcmp(text_called(table, row, "device"), device) == 0 &&
            strcmp(text_called(table, row, key), text) == 0)
            return row;
    fail_msg("no row of %s with %s", device, text);
    return 0;
}

static void assert_allocations(const char *key, const char *text, const int64_t figures[5])
{
    static const char *const keys[] = { "allocated", "freed", "net", "allocations", "frees" };
    struct table *allocations = table_called(result, "allocations");
    size_t row = row_with(allocations, "cuda:0", key, text);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(int_called(allocations, row, keys[i]), figures[i]);
}

/*
 * Step 1 allocates A 50, B 30 and C 40 and frees A, B and D 30; step 2 allocates and frees E 90. At the peak there are
 * C of step 1, E of step 2, and 70 of before. Of mm alone: A in step 1, E in step 2, and no frees.
 */
TEST(steps_tell_which_left_blocks_behind)
{
    by = MEMORY_BY_STEP;
    draw();
    answer((struct selection_query){ 0 });
    assert_int_equal(table_called(result, "allocations")->row_count, 3); /* the host's block, too */
    assert_allocations("step", "ProfilerStep#1", (int64_t[]){ 120, 110, 10, 3, 3 });
    assert_allocations("step", "ProfilerStep#2", (int64_t[]){ 90, 90, 0, 1, 1 });
    struct table *alive = table_called(result, "alive"), *unfreed = table_called(result, "unfreed");
    assert_int_equal(int_called(alive, row_with(alive, "cuda:0", "step", "ProfilerStep#1"), "bytes"), 40);
    assert_int_equal(int_called(alive, row_with(alive, "cuda:0", "step", "ProfilerStep#2"), "bytes"), 90);
    assert_int_equal(int_called(alive, row_with(alive, "cuda:0", "step", "[before recording]"), "bytes"), 70);
    assert_int_equal(int_called(unfreed, row_with(unfreed, "cuda:0", "step", "ProfilerStep#1"), "bytes"), 40);

    answer((struct selection_query){ .filter = "mm" });
    assert_allocations("step", "ProfilerStep#1", (int64_t[]){ 50, 0, 50, 1, 0 });
    assert_allocations("step", "ProfilerStep#2", (int64_t[]){ 90, 0, 90, 1, 0 });

    by = MEMORY_BY_OPERATOR;
}

/* All blocks of cuda:0 are one row: 200 in use at the peak, of which C and E are known. */
TEST(a_device_is_one_row)
{
    by = MEMORY_BY_DEVICE;
    draw();
    answer((struct selection_query){ 0 });
    struct table *alive = table_called(result, "alive"), *all = table_called(result, "allocations");
    size_t row = row_of(alive, "cuda:0", NULL);
    assert_int_equal(alive->row_count, 2);
    assert_row(alive, row, "bytes=200, count=2, largest=90");
    assert_int_equal(int_called(all, row_of(all, "cuda:0", NULL), "allocated"), 210);
    assert_int_equal(int_called(all, row_of(all, "cuda:0", NULL), "freed"), 200);

    by = MEMORY_BY_OPERATOR;
}

/* Linear_0 is open at 3..33, so A, B and A' are its own; train at 1..59 holds all of step 1 but its host's annotations. */
TEST(blocks_belong_to_the_innermost_module_and_line)
{
    for (by = MEMORY_BY_MODULE; by <= MEMORY_BY_LINE; by++) {
        draw_begin(&memory_code_wants);
        draw_records();
        draw_host("python_function", "train.py(7): train", 1, 1, 58);
        draw_host("python_function", "nn.Module: Linear_0", 1, 3, 30);
        answer((struct selection_query){ 0 });
        if (by == MEMORY_BY_MODULE) {
            assert_allocations("module", "Linear_0", (int64_t[]){ 80, 50, 30, 2, 1 });
            assert_allocations("module", "(outside any module)", (int64_t[]){ 130, 150, -20, 2, 3 });
        } else {
            assert_allocations("line", "train.py(7): train", (int64_t[]){ 120, 110, 10, 3, 3 });
            assert_allocations("line", "(outside any line)", (int64_t[]){ 90, 90, 0, 1, 1 });
        }
    }
    by = MEMORY_BY_OPERATOR;
}

/* As they are made of memory snapshots: "file:line:function", from the inside out; what is without a stack is where the thread was. */
TEST(records_with_a_stack_of_their_own_are_on_its_lines)
{
    by = MEMORY_BY_LINE;
    draw_begin(&memory_code_wants);
    draw_memory(10, 1, 0, 100, 70, 70);
    draw_text(ARG_CALL_STACK,
              "/job/model.py:20:forward <- /job/train.py:88:main <- /job/train.py:120:<module>");
    draw_memory(20, 1, 0, 200, 30, 100);
    draw_text(ARG_CALL_STACK, "c10/alloc.cpp:5:ns::f <- /job/train.py:88:main");
    draw_memory(30, 1, 0, 300, 5, 105);
    answer((struct selection_query){ 0 });
    assert_allocations("line", "/job/model.py(20): forward", (int64_t[]){ 70, 0, 70, 1, 0 });
    assert_allocations("line", "/job/train.py(88): main", (int64_t[]){ 30, 0, 30, 1, 0 });
    assert_allocations("line", "(outside any line)", (int64_t[]){ 5, 0, 5, 1, 0 });

    by = MEMORY_BY_OPERATOR;
}

/* Who requests names does not request what is in no operator; who leaves some out does. */
TEST(filters_leave_out_what_is_in_no_operator)
{
    draw();
    for (int with = 0; with < 2; with++) {
        answer(with ? (struct selection_query){ .exclude = "linear" }
                    : (struct selection_query){ .filter = "mm" });
        struct table *operators = table_called(result, "operators");
        bool found = false;
        for (size_t row = 0; row < operators->row_count; row++)
            found |= strcmp(text_called(operators, row, "operator"), "[no operator]") == 0;
        assert_int_equal(found, with);
    }
}
