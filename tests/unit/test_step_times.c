/* test_step_times.c - analyze/steps.h: the parts of a step add up, and a step lasts as long as its work. */

#include "analyze/steps.h"
#include "tests/unit/drawn.h"

static const struct trace_wants *drawn_wants = &steps_wants;

static struct result *result;
static struct table *steps, *summary;
static unsigned step_by;

static bool analyze(struct selection_query query, const char *name, struct tpa_error *err)
{
    const struct selection *selection = scratch(selection_open(drawn(), &query, err));
    struct steps_options options = { .by = step_by, .name = name };
    result = scratch_result(result_open("tpa.steps/1"));
    const struct steps *answer = scratch(steps_analyze(drawn(), selection, &options, err));
    if (!answer)
        return false;
    steps_add_result(answer, result);
    steps = table_called(result, "steps");
    summary = table_called(result, "summary");
    return true;
}

static void answer(struct selection_query query, const char *name)
{
    assert_true(analyze(query, name, NULL));
}

/*
 *               0    10   20   30   40   50   60   70   80
 *   host        [ ProfilerStep#1        )[ #2     )             0..50, 50..70
 *               [ next )[ aten::mm     )   [mm  )              next: the DataLoader, 0..12; mm 14..40, 52..60
 *                          l1   sync....)  l2                   l1 16..18, sync 22..38, l2 54..56
 *   stream 7                [ gemm )          [gemm   )         20..30, 58..75
 *   stream 9                  [ HtoD  )                         24..34
 *   stream 20                       [ nccl )                    32..44
 *
 * Step 1, 0..50:  kernel 20..30 = 10, copy 30..34 = 4, communication 34..44 = 10, runtime 16..18 = 2 (sync lies under
 *                 the rest), data loading 0..12 = 12, CPU 14..16 and 18..20 = 4, other 12..14 and 44..50 = 8
 * Step 2, 50..75: kernel 58..75 = 17, runtime 54..56 = 2, CPU 52..54 and 56..58 = 4, other 50..52 = 2
 */
static void draw(void)
{
    draw_step(1, 0, 50);
    draw_step(2, 50, 20);
    draw_host("user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 1, 0, 12);
    draw_host("cpu_op", "aten::mm", 1, 14, 26);
    draw_host("cpu_op", "aten::mm", 1, 52, 8);
    draw_call("cudaLaunchKernel", 1, 16, 2, 1);
    draw_call("cudaStreamSynchronize", 1, 22, 16, 2);
    draw_call("cudaLaunchKernel", 1, 54, 2, 3);
    draw_work("kernel", "gemm", 0, 7, 20, 10, 1);
    draw_work("kernel", "gemm", 0, 7, 58, 17, 3);
    draw_work("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", 0, 9, 24, 10, DRAW_NO_CALL);
    draw_work("kernel", "ncclDevKernel", 0, 20, 32, 12, DRAW_NO_CALL);
}

TEST(each_moment_counts_for_what_has_precedence)
{
    draw();
    answer((struct selection_query){ 0 }, NULL);
    assert_int_equal(steps->row_count, 2);
    assert_row(steps, 0,
               "duration=50, kernel=10, memcpy=4, memset=0, communication=10, runtime=2, "
               "data_loading=12, cpu=4, other=8");
}

TEST(a_step_lasts_as_long_as_its_work)
{
    draw();
    answer((struct selection_query){ 0 }, NULL);
    assert_row(steps, 1, "start=50, duration=25, host_duration=20, kernel=17, runtime=2, cpu=4, other=2");
}

/*
 * Only the devices mark the step, 20..75, whose first kernel was launched before it. The copy before the first kernel is of the
 * step, and the kernel after it, launched within it, is not.
 */
TEST(a_step_of_the_devices_is_their_range)
{
    draw_host("user_annotation", "device [step 3]", 9, 20, 55);
    draw_call("cudaLaunchKernel", 1, 10, 2, 1);
    draw_call("cudaLaunchKernel", 1, 50, 2, 3);
    draw_work("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", 0, 9, 20, 4, DRAW_NO_CALL);
    draw_work("kernel", "gemm", 0, 7, 26, 14, 1);
    draw_work("kernel", "gemm", 0, 7, 80, 10, 3);
    answer((struct selection_query){ 0 }, NULL);
    assert_int_equal(steps->row_count, 1);
    assert_int_equal(int_called(steps, 0, "start"), 10); /* since the first event */
    assert_row(steps, 0, "duration=55, kernel=14, memcpy=4");
}

/* Steps of 50 and 25: mean and median 37.5; step 1 is over the median most in data loading, by 12 - 6. */
TEST(the_slowest_step_is_explained)
{
    draw();
    answer((struct selection_query){ 0 }, NULL);
    size_t last = summary->row_count - 1;
    assert_row(summary, last, "part=Step as it ran, average=38, difference=12");
    assert_string_equal(summary->footers.at[1].value.text.at, "ProfilerStep#1");
    assert_string_equal(summary->footers.at[2].value.text.at, "Data loading");
}

TEST(steps_are_selected_by_number)
{
    draw();
    answer((struct selection_query){ .steps = { { { 2, 2 } }, 1 } }, NULL);
    assert_int_equal(steps->row_count, 1);
    assert_string_equal(text_called(steps, 0, "step"), "ProfilerStep#2");
}

/*
 *               0    10   20   30   40
 *   host        [ #1  )[ #2  )[ #3 )      3 launches nothing, 2 launches 1 kernel, 1 launched 2
 *                 l l    l
 *   stream 7        [k][k]  [k]
 */
TEST(steps_cut_by_the_end_of_recording_are_left_out)
{
    draw_step(1, 0, 12);
    draw_step(2, 12, 12);
    draw_step(3, 24, 10);
    draw_call("cudaLaunchKernel", 1, 2, 1, 1);
    draw_call("cudaLaunchKernel", 1, 4, 1, 2);
    draw_call("cudaLaunchKernel", 1, 14, 1, 3);
    draw_work("kernel", "k", 0, 7, 4, 3, 1);
    draw_work("kernel", "k", 0, 7, 7, 3, 2);
    draw_work("kernel", "k", 0, 7, 17, 3, 3);
    answer((struct selection_query){ 0 }, NULL);
    assert_int_equal(steps->row_count, 3);
    assert_int_equal(int_called(steps, 0, "complete"), 1);
    assert_int_equal(int_called(steps, 1, "complete"), 0);
    assert_int_equal(int_called(steps, 2, "complete"), 0);
    assert_int_equal(notice_called(result, "incomplete_steps"), 2);
    assert_int_equal(int_called(summary, summary->row_count - 1, "max"), 12);
}

/* "outer" holds one "iter" and overlaps the other: of ranges that overlap the first counts. */
TEST(other_ranges_can_be_steps)
{
    draw_host("user_annotation", "iter 0", 1, 0, 10);
    draw_host("user_annotation", "iter 1", 1, 10, 10);
    draw_host("user_annotation", "iter 1b", 1, 12, 20);
    draw_host("cpu_op", "aten::mm", 1, 2, 5);
    answer((struct selection_query){ 0 }, "^iter");
    assert_int_equal(steps->row_count, 2);
    assert_row(steps, 0, "cpu=5, other=5");
    assert_int_equal(notice_called(result, "overlapping_steps"), 1);

    struct tpa_error err = { 0 };
    assert_false(analyze((struct selection_query){ 0 }, "^epoch", &err));
    assert_string_equal(err.message, "no annotation matches '^epoch'");
}

/* The first ends 1 ns after the second begins: its start and its duration were both rounded up. */
TEST(steps_that_overlap_by_rounding_count)
{
    draw_step(1, 0, 1001);
    draw_step(2, 1000, 1000);
    draw_step(3, 1950, 1000);
    answer((struct selection_query){ 0 }, NULL);
    assert_int_equal(steps->row_count, 2);
    assert_int_equal(int_called(steps, 0, "duration"), 1000);
    assert_int_equal(int_called(steps, 1, "duration"), 1000);
    assert_int_equal(notice_called(result, "overlapping_steps"), 1);
}

TEST(without_steps_all_is_one)
{
    draw_host("cpu_op", "aten::mm", 1, 5, 10);
    draw_host("cpu_op", "aten::mm", 1, 20, 5);
    answer((struct selection_query){ 0 }, NULL);
    assert_int_equal(steps->row_count, 1);
    assert_row(steps, 0, "step=(all), duration=20, cpu=15");
}

/* forward at 0..10 and 30..36, backward at 10..30: by name two rows, by rank one; the parts add up to the time. */
/*
 *          0    10   20   30
 *   host   [ aten::mm    )[cudaMalloc)    0..20, 20..30; nothing runs on a device
 *
 * The summary has what the file can have: runtime 10, data loading 0, CPU 20, other 0, the step 30.
 */
TEST(calls_count_without_work_on_devices)
{
    static const char *const titles[] = { "Runtime", "Data loading", "CPU", "Other", "Step as it ran" };
    static const int64_t times[] = { 10, 0, 20, 0, 30 };
    draw_host("cpu_op", "aten::mm", 1, 0, 20);
    draw_call("cudaMalloc", 1, 20, 10, 1);
    answer((struct selection_query){ 0 }, NULL);
    assert_int_equal(summary->row_count, 5);
    for (size_t i = 0; i < 5; i++) {
        assert_string_equal(text_called(summary, i, "part"), titles[i]);
        assert_int_equal(int_called(summary, i, "average"), times[i]);
    }
}

/*
 *          0    10   20   30   40
 *   host   [ ProfilerStep#1        )    0..40: no part of itself
 *          [ train            )         0..35, a user's annotation: CPU
 *            [gloo:all_reduce )         5..30: communication
 *
 * As TensorBoard's plugin has it: communication 25, CPU 0..5 and 30..35 = 10, other 5. The finding is of 62.5 %.
 */
TEST(collectives_on_the_host_communicate)
{
    draw_step(1, 0, 40);
    draw_host("user_annotation", "train", 1, 0, 35);
    draw_host("user_annotation", "gloo:all_reduce", 1, 5, 25);
    answer((struct selection_query){ 0 }, NULL);
    assert_row(steps, 0, "communication=25, cpu=10, other=5");
    assert_string_equal(text_called(summary, 0, "part"), "Comm.");
}

TEST(rows_are_added_up)
{
    static const unsigned words[] = { STEPS_BY_NAME, BY(RANK) };
    for (size_t i = 0; i < 2; i++) {
        step_by = words[i];
        draw_host("user_annotation", "forward", 1, 0, 10);
        draw_host("user_annotation", "backward", 1, 10, 20);
        draw_host("user_annotation", "forward", 1, 30, 6);
        draw_host("cpu_op", "aten::mm", 1, 2, 3);
        draw_host("cpu_op", "aten::mm", 1, 32, 1);
        answer((struct selection_query){ 0 }, "forward|backward");
        bool by_name = step_by == STEPS_BY_NAME;
        size_t forward = by_name ? 1 : 0;
        assert_int_equal(steps->row_count, by_name ? 2 : 1);
        assert_int_equal(int_called(steps, forward, "count"), by_name ? 2 : 3);
        assert_int_equal(int_called(steps, forward, "duration"), by_name ? 16 : 36);
        assert_int_equal(int_called(steps, forward, "average"), by_name ? 8 : 12);
        assert_int_equal(int_called(steps, forward, "cpu"), 4);
        assert_int_equal(int_called(steps, forward, "other"), by_name ? 12 : 32);
        assert_int_equal(summary->footers.at[0].value.i, 3); /* the summary is still about steps */
    }
    step_by = 0;
}

static size_t row_of_stream(int64_t stream, size_t from)
{
    for (size_t row = from; row < steps->row_count; row++)
        if (int_called(steps, row, "stream") == stream)
            return row;
    fail_msg("no row of stream %d", (int)stream);
    return 0;
}

/*
 * Stream 9 has the copy alone, 24..34. Step 1, 0..50: memcpy 10, runtime 16..18, 22..24, 34..38 = 8, data loading 12,
 * CPU 14..16, 18..22, 38..40 = 8, other 12..14, 40..50 = 12. Step 2, 50..75: runtime 54..56 = 2, CPU 52..54, 56..60 = 6,
 * other 50..52, 60..75 = 17. The summary below stays that of the whole steps.
 */
TEST(a_stream_has_the_host_and_its_own_work)
{
    step_by = BY(STEP) | BY(STREAM);
    draw();
    answer((struct selection_query){ 0 }, NULL);
    assert_int_equal(steps->row_count, 3 * 2);
    size_t first = row_of_stream(9, 0), second = row_of_stream(9, first + 1);
    static const struct {
        const char *key;
        int64_t first, second;
    } parts[] = { { "duration", 50, 25 }, { "kernel", 0, 0 },  { "memcpy", 10, 0 },
                  { "memset", 0, 0 },     { "runtime", 8, 2 }, { "communication", 0, 0 },
                  { "cpu", 8, 6 },        { "other", 12, 17 }, { "data_loading", 12, 0 },
                  { "device", 0, 0 } };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        assert_int_equal(int_called(steps, first, parts[i].key), parts[i].first);
        assert_int_equal(int_called(steps, second, parts[i].key), parts[i].second);
    }
    assert_int_equal(int_called(summary, 0, "max"), 17); /* kernel */

    step_by = BY(STREAM);
    draw();
    answer((struct selection_query){ .streams = { .at = { { 9, 9 } }, .count = 1 } }, NULL);
    assert_int_equal(steps->row_count, 1);
    assert_row(steps, 0, "count=2, duration=75, memcpy=10, runtime=10, other=29");

    step_by = 0;
}

/* Two devices have a stream 7 each: kernels at 10..20 of device 0 and 15..40 of device 1, in a step 0..50. */
TEST(devices_with_one_stream_number_stay_apart)
{
    static const unsigned words[] = { BY(DEVICE), BY(STREAM) };
    for (size_t i = 0; i < 2; i++) {
        step_by = words[i];
        draw_step(1, 0, 50);
        draw_work("kernel", "gemm", 0, 7, 10, 10, DRAW_NO_CALL);
        draw_work("kernel", "gemm", 1, 7, 15, 25, DRAW_NO_CALL);
        answer((struct selection_query){ 0 }, NULL);
        assert_int_equal(steps->row_count, 2);
        for (size_t row = 0; row < 2; row++) {
            assert_int_equal(int_called(steps, row, "device"), row);
            assert_int_equal(int_called(steps, row, "kernel"), row ? 25 : 10);
            assert_int_equal(int_called(steps, row, "other"), row ? 25 : 40);
        }
        assert_int_equal(int_called(summary, 0, "max"), 30); /* a kernel on either: 10..40 */
    }
    step_by = 0;
}

/* Two cycles of rank 4 around one of rank 5, with a step of 50 each: a kernel runs for 10, 20 and 30 of it. */
TEST(steps_of_all_files_of_a_rank_are_added_up)
{
    static const unsigned words[] = { BY(RANK), BY(DEVICE), BY(STREAM) };
    for (size_t i = 0; i < 3; i++) {
        step_by = words[i];
        for (int file = 0; file < 3; file++) {
            if (file)
                draw_file("another.json");
            drawn_file()->rank = file == 1 ? 5 : 4;
            draw_step(1, 0, 50);
            draw_work("kernel", "gemm", 0, 7, 10, 10 * (file + 1), DRAW_NO_CALL);
        }
        answer((struct selection_query){ 0 }, NULL);
        assert_int_equal(steps->row_count, 2);
        assert_row(steps, 0, "rank=4, count=2, duration=100, kernel=40");
        assert_row(steps, 1, "rank=5, kernel=20");
    }
    step_by = 0;
}

/* Three steps of 140 years each: the kernel that each launches runs so late. The mean is that of what 64 bits hold. */
TEST(sums_of_long_steps_do_not_overflow)
{
    const int64_t far_ns = INT64_C(2200000000000000000);
    step_by = STEPS_BY_NAME;
    for (int file = 0; file < 3; file++) {
        if (file)
            draw_file("another.json");
        draw_step(1, -far_ns, 10);
        draw_kernel("gemm", -far_ns, 2, far_ns, 1, 1);
        draw_host("user_annotation", "end", 2, far_ns, 1); /* the host records for as long */
    }
    answer((struct selection_query){ 0 }, NULL);
    assert_int_equal(steps->row_count, 1);
    assert_int_equal(int_called(steps, 0, "count"), 3);
    assert_int_equal(int_called(steps, 0, "duration"), INT64_MAX);
    assert_int_equal(int_called(steps, 0, "other"), INT64_MAX);
    assert_int_equal(int_called(steps, 0, "kernel"), 3);
    assert_int_equal(int_called(steps, 0, "average"), INT64_MAX / 3);

    step_by = 0;
}
