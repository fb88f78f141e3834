/* test_sequences.c - analyze/sequences: chains that repeat, runs of short operations, operations that could be one. */

#include "analyze/sequences/sequences.h"
#include "tests/unit/drawn.h"

static const struct trace_wants *drawn_wants = &sequences_wants;

static struct sequences *sequences;

static void answer_with(struct selection_query query, unsigned by, struct sequence_options options)
{
    const struct selection *selection = scratch_selection(drawn(), query);
    sequences = scratch(sequences_analyze(drawn(), selection, by, &options, NULL));
    assert_non_null(sequences);
}

/* Works shorter than 10 are short, 3 make a run. */
static void answer(bool all)
{
    answer_with((struct selection_query){ 0 }, BY(DEVICE),
                (struct sequence_options){ .short_ns = 10, .least = 3, .all = all });
}

/* Kernels of stream 7 called by the letters of NAMES, each 20 long, with 5 before the next; ' ' is a pause of 2 ms. */
static void draw_letters(const char *names)
{
    int64_t at_ns = 0;
    for (; *names; names++) {
        if (*names == ' ') {
            at_ns += 2000000;
            continue;
        }
        draw_work("kernel", (char[]){ *names, '\0' }, 0, 7, at_ns, 20, DRAW_NO_CALL);
        at_ns += 25;
    }
}

static void assert_repeat(size_t i, const char *names, int64_t count, int64_t every, int64_t gaps_ns)
{
    assert_true(i < sequences->repeats.count);
    const struct repeat_row *row = &sequences->repeats.at[i];
    assert_string_equal(row->names.at, names);
    assert_int_equal(row->count, count);
    assert_int_equal(row->every, every);
    assert_int_equal(row->gaps_ns, gaps_ns);
    assert_int_equal(row->work_ns, 20 * row->count * row->length);
}

/* ---- chains ---- */

TEST(occurrences_do_not_overlap)
{
    draw_letters("aaaa");
    answer(true);
    assert_int_equal(sequences->repeats.count, 1); /* "aaa" fits once */
    assert_repeat(0, "a | a", 2, 2, 10);
}

/* The time of five kernels of 1 s each has more than 32 bits. */
TEST(long_operations_add_up)
{
    const int64_t long_ns = 1000000000;
    for (int i = 0; i < 10; i++)
        draw_work("kernel", (char[]){ (char)('a' + i % 5), '\0' }, 0, 7, i * (long_ns + 5), long_ns,
                  DRAW_NO_CALL);
    answer(true);
    assert_int_equal(sequences->repeats.count, 1);
    assert_int_equal(sequences->repeats.at[0].length, 5);
    assert_int_equal(sequences->repeats.at[0].work_ns, 10 * long_ns);
    assert_int_equal(sequences->repeats.at[0].gaps_ns, 2 * 4 * 5);
}

/* "ab" and "bc" occur as often as "abc" does, which says it all. */
TEST(chain_within_one_as_frequent_is_left_out)
{
    draw_letters("abcxabcy");
    answer(true);
    assert_int_equal(sequences->repeats.count, 1);
    assert_repeat(0, "a | b | c", 2, 4, 20);
}

/* "ab" occurs once more than "abc" does. */
TEST(chain_more_frequent_than_the_longer_stays)
{
    draw_letters("abcxabcyabz");
    answer(true);
    assert_int_equal(sequences->repeats.count, 2);
    assert_repeat(0, "a | b | c", 2, 4, 20);
    assert_repeat(1, "a | b", 3, 4, 15);
}

TEST(no_chain_goes_over_a_pause)
{
    draw_letters("ab abc bc");
    answer(true);
    assert_int_equal(sequences->repeats.count, 2); /* "a b c" is there once: the first has a pause in it */
    assert_repeat(0, "a | b", 2, 2, 10);
    assert_repeat(1, "b | c", 2, 2, 10);
}

/* Between operations that are exactly 1 ms apart a chain goes on. */
TEST(pause_of_a_millisecond_is_none)
{
    for (int i = 0; i < 4; i++)
        draw_work("kernel", i % 2 ? "b" : "a", 0, 7, i * (SEQUENCE_PAUSE_NS + 20), 20, DRAW_NO_CALL);
    answer(true);
    assert_int_equal(sequences->repeats.count, 1);
    assert_repeat(0, "a | b", 2, 2, 2 * SEQUENCE_PAUSE_NS);
}

/* Of a loop of three works, what begins behind the pause is shown, and not what holds it twice. */
TEST(loop_is_one_row_that_begins_where_it_does)
{
    draw_letters("x abcabcabcabc");
    answer(false);
    assert_int_equal(sequences->repeats.count, 1);
    assert_repeat(0, "a | b | c", 4, 3, 40);
    assert_true(sequences->repeats.at[0].alike >= 2);
    answer(true);
    assert_true(sequences->repeats.count > 3);
}

TEST(streams_have_chains_of_their_own)
{
    draw_work("kernel", "a", 0, 7, 0, 20, DRAW_NO_CALL);
    draw_work("kernel", "a", 0, 8, 5, 20, DRAW_NO_CALL);
    draw_work("kernel", "b", 0, 7, 25, 20, DRAW_NO_CALL);
    draw_work("kernel", "b", 0, 8, 30, 20, DRAW_NO_CALL);
    answer(true);
    assert_int_equal(sequences->repeats.count, 0); /* once on each */
}

/* More than 16 operations are cut into chains of 16, of which those that begin at a, b, ... repeat. */
TEST(chains_have_no_more_than_16_operations)
{
    draw_letters("abcdefghijklmnopq abcdefghijklmnopq");
    answer(true);
    assert_int_equal(sequences->repeats.count, 2);
    assert_int_equal(sequences->repeats.at[0].length, 16);
    assert_int_equal(sequences->repeats.at[1].length, 16);
}

/* ---- runs of short operations ---- */

/*
 *   stream 7  [k 0-5)  [k 10-15)   [k 30-35) [long 40-80) [k 90-92)
 *   stream 8                  [m 18-28)
 *
 * Three short operations, then one of 40. Idle of the device between them: 5-10, 15-18, 28-30.
 */
TEST(idle_time_is_that_of_the_device)
{
    draw_work("kernel", "k", 0, 7, 0, 5, DRAW_NO_CALL);
    draw_work("kernel", "k", 0, 7, 10, 5, DRAW_NO_CALL);
    draw_work("kernel", "m", 0, 8, 18, 10, DRAW_NO_CALL);
    draw_work("kernel", "k", 0, 7, 30, 5, DRAW_NO_CALL);
    draw_work("kernel", "long", 0, 7, 40, 40, DRAW_NO_CALL);
    draw_work("kernel", "k", 0, 7, 90, 2, DRAW_NO_CALL);
    answer(false);
    assert_int_equal(sequences->total.runs, 1);
    assert_int_equal(sequences->total.operations, 3);
    assert_int_equal(sequences->total.work_ns, 15);
    assert_int_equal(sequences->total.idle_ns, 10);
    assert_int_equal(sequences->total.late_ns, 10); /* no call is in the file */
    assert_int_equal(sequences->unlinked, 6);
    assert_int_equal(sequences->runs.at[0].gain_ns, TABLE_INT_MISSING);
}

/*
 *   host      [1: 0-2)        [2: 4000-4002)  [3: 4004-4006)
 *   stream 7     [a 10-15)                [b 4010-4015)    [c 4020-4025)
 *
 * 2 began when all before it had ended; 3 before b had. So the gap before b is the host's, that before c the device's.
 * Two of three operations were not queued: a graph would leave 1 us before each.
 */
TEST(gap_is_by_who_was_late)
{
    draw_call("cudaLaunchKernel", 1, 0, 2, 1);
    draw_call("cudaLaunchKernel", 1, 4000, 2, 2);
    draw_call("cudaLaunchKernel", 1, 4004, 2, 3);
    draw_work("kernel", "a", 0, 7, 10, 5, 1);
    draw_work("kernel", "b", 0, 7, 4010, 5, 2);
    draw_work("kernel", "c", 0, 7, 4020, 5, 3);
    answer(false);
    assert_int_equal(sequences->total.host_ns, 3995);
    assert_int_equal(sequences->total.device_ns, 5);
    assert_int_equal(sequences->total.idle_ns, 4000);
    assert_int_equal(sequences->runs.at[0].not_queued, 2);
    assert_int_equal(sequences->runs.at[0].gain_ns, 4000 - 3 * GRAPH_WORK_NS);
    assert_int_equal(sequences->graphs, 1);
}

/* Operations of one graph come from one call: whatever the clocks say, no launch was late. */
TEST(gaps_within_a_graph_are_the_devices)
{
    draw_call("cudaGraphLaunch", 1, 100, 2, 1); /* its clock is ahead */
    draw_work("kernel", "a", 0, 7, 10, 5, 1);
    draw_work("kernel", "b", 0, 7, 30, 5, 1);
    draw_work("kernel", "c", 0, 7, 50, 5, 1);
    answer(false);
    assert_int_equal(sequences->total.idle_ns, 30);
    assert_int_equal(sequences->total.device_ns, 30);
    assert_int_equal(sequences->graphs, 0);
}

/* Groups hold the operations and the idle time before them; a run is of each that has an operation in it. */
TEST(rows_add_up_to_the_runs)
{
    draw_work("kernel", "a", 0, 7, 0, 5, DRAW_NO_CALL);
    draw_work("kernel", "b", 0, 7, 10, 5, DRAW_NO_CALL);
    draw_work("kernel", "a", 0, 7, 25, 5, DRAW_NO_CALL);
    answer_with((struct selection_query){ 0 }, BY(KERNEL),
                (struct sequence_options){ .short_ns = 10, .least = 3 });
    assert_int_equal(sequences->shorts.count, 2);
    assert_string_equal(sequences->shorts.at[0].key.kernel.at, "a");
    assert_int_equal(sequences->shorts.at[0].operations, 2);
    assert_int_equal(sequences->shorts.at[0].idle_ns, 10);
    assert_int_equal(sequences->shorts.at[1].idle_ns, 5);
    assert_int_equal(sequences->shorts.at[0].runs, 1);
    assert_int_equal(sequences->shorts.at[1].runs, 1);
}

/* Two steps of two operations each: four in a row, of which none are when steps are requested. */
TEST(steps_cut_what_is_in_a_row)
{
    draw_step(1, 0, 20);
    draw_step(2, 20, 20);
    for (int i = 0; i < 4; i++) {
        draw_kernel("k", 10 * i + 1, 2, 10 * i + 5, 3, i + 1);
    }
    answer(true);
    assert_int_equal(sequences->total.operations, 4);
    assert_int_equal(sequences->repeats.count, 1);
    struct ranges both = { .at = { { 1, 2 } }, .count = 1 };
    answer_with((struct selection_query){ .steps = both }, BY(DEVICE),
                (struct sequence_options){ .short_ns = 10, .least = 3, .all = true });
    assert_int_equal(sequences->total.runs, 0);
    assert_int_equal(sequences->repeats.count, 1); /* "k k" is in each */
    assert_int_equal(sequences->repeats.at[0].count, 2);
    assert_int_equal(sequences->repeats.at[0].gaps_ns, 14);
}

/* What was not selected parts its neighbours. */
TEST(operations_left_out_part_their_neighbours)
{
    draw_letters("abxabxab");
    answer_with((struct selection_query){ .exclude = "^x$" }, BY(DEVICE),
                (struct sequence_options){ .short_ns = 100, .least = 2, .all = true });
    assert_int_equal(sequences->repeats.count, 1);
    assert_repeat(0, "a | b", 3, 2, 15);
    assert_int_equal(sequences->total.runs, 3);
}

/* ---- operations that could be one ---- */

/*
 *   host      [aten::softmax 0-100                        )
 *               [1: 1-2) [2: 11-12)  [3: 21-22)  [4: 31-32)
 *   stream 7  [max 40-50) [sub 55-75) [gemm 80-90) [div 95-99) [exp 100-103)
 *
 * max and sub: 5 between them and at most the 10 of the shorter; but 10 + 20 + 5 less the longest is 15. div and exp: 1
 * and 3.
 */
TEST(neighbours_below_one_operator_could_be_one)
{
    draw_host("cpu_op", "aten::softmax", 1, 0, 100);
    for (int i = 0; i < 5; i++)
        draw_call("cudaLaunchKernel", 1, 10 * i + 1, 1, i + 1);
    draw_work("kernel", "max", 0, 7, 40, 10, 1);
    draw_work("kernel", "sub", 0, 7, 55, 20, 2);
    draw_work("kernel", "my_gemm", 0, 7, 80, 10, 3);
    draw_work("kernel", "div", 0, 7, 95, 4, 4);
    draw_work("kernel", "exp", 0, 7, 100, 3, 5);
    answer(false);
    assert_int_equal(sequences->fusions.count, 2);
    assert_string_equal(sequences->fusions.at[0].names.at, "max | sub");
    assert_string_equal(sequences->fusions.at[0].op.at, "aten::softmax");
    assert_int_equal(sequences->fusions.at[0].gain_ns, 15);
    assert_int_equal(sequences->fusions.at[0].bytes, TABLE_INT_MISSING);
    assert_string_equal(sequences->fusions.at[1].names.at, "div | exp");
    assert_int_equal(sequences->fusions.at[1].gain_ns, 4);
    assert_int_equal(sequences->fusion_gain_ns, 19);
}

/* aten::mul writes 4 x 8 floats and aten::add reads as much; aten::sum reads another size. */
TEST(neighbours_that_share_a_tensor_could_be_one)
{
    static const struct {
        const char *op, *dims, *types;
    } ops[] = { { "aten::mul", "[[4,8],[8]]", "[\"float\",\"float\"]" },
                { "aten::add", "[[4,8],[4,8]]", "[\"float\",\"float\"]" },
                { "aten::sum", "[[4,4]]", "[\"float\"]" } };
    for (int i = 0; i < 3; i++) {
        draw_host("cpu_op", ops[i].op, 1, 20 * i, 10);
        draw_inputs(ops[i].dims, ops[i].types);
        draw_kernel(ops[i].op, 20 * i + 1, 1, 20 * i + 5, 10, i + 1);
    }
    answer(false);
    assert_int_equal(sequences->fusions.count, 1);
    assert_int_equal(sequences->fusions.at[0].length, 2);
    assert_int_equal(sequences->fusions.at[0].bytes, 4 * 8 * 4);
    assert_int_equal(sequences->fusions.at[0].gaps_ns, 10);
    assert_int_equal(sequences->fusions.at[0].host_ns, 10);
    assert_int_equal(sequences->fusions.at[0].gain_ns, 20); /* the bandwidth of the device is not known */
}

/* ---- by operator ---- */

/*
 *   host  [f 0-50                 )  [f 60-80)  [g 90-110 [f 95-105) )
 *           [f 5-20) [1) [2)            [3)                 [4)
 */
TEST(outermost_calls_of_an_operator_have_the_operations)
{
    draw_host("cpu_op", "f", 1, 0, 50);
    draw_host("cpu_op", "f", 1, 5, 15);
    draw_host("cpu_op", "f", 1, 60, 20);
    draw_host("cpu_op", "g", 1, 90, 20);
    draw_host("cpu_op", "f", 1, 95, 10);
    static const int64_t calls[] = { 10, 30, 65, 96 };
    for (int i = 0; i < 4; i++) {
        draw_kernel(i == 1 ? "b" : "a", calls[i], 1, calls[i] + 3, 10, i + 1);
    }
    answer_with((struct selection_query){ 0 }, BY(DEVICE), (struct sequence_options){ .op = "f" });
    assert_int_equal(sequences->patterns.count, 2);
    assert_string_equal(sequences->patterns.at[0].names.at, "a");
    assert_int_equal(sequences->patterns.at[0].count, 2);
    assert_int_equal(sequences->patterns.at[0].device_ns, 20);
    assert_int_equal(sequences->patterns.at[0].host_ns, 30);
    assert_string_equal(sequences->patterns.at[1].names.at, "a | b");
    assert_int_equal(sequences->patterns.at[1].host_ns, 50);
}

TEST(unknown_operator_is_an_error)
{
    draw_host("cpu_op", "aten::add", 1, 0, 50);
    draw_work("kernel", "a", 0, 7, 3, 10, DRAW_NO_CALL);
    struct tpa_error err = { 0 };
    const struct selection *selection = selection_all(drawn());
    struct sequence_options options = { .op = "aten::adds" };
    assert_null(sequences_analyze(drawn(), selection, 0, &options, &err));
    assert_non_null(strstr(err.message, "aten::adds"));
}
