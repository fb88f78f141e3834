/* test_latency.c - analyze/latency: how long what repeats takes, what it went to, phases of serving. */

#include "analyze/latency/latency.h"
#include "tests/unit/drawn.h"

static const struct trace_wants *drawn_wants = &latency_wants;

static const struct latency *latency;

static void answer_with(struct selection_query query, unsigned by, struct latency_options options)
{
    const struct selection *selection = scratch_selection(drawn(), query);
    latency = scratch(latency_analyze(drawn(), selection, by, &options, NULL));
    assert_non_null(latency);
    for (size_t i = 0; i < latency->rows.count; i++) {
        const struct latency_row *row = &latency->rows.at[i];
        int64_t parts_ns = 0;
        for (int part = 0; part < LATENCY_PARTS && row->busy_ns != TABLE_INT_MISSING; part++)
            parts_ns += row->part_ns[part];
        assert_int_equal(parts_ns, row->busy_ns == TABLE_INT_MISSING ? 0 : row->total_ns);
    }
}

static void answer(void)
{
    answer_with((struct selection_query){ 0 }, 0, latency_defaults);
}

/* COUNT annotations called NAME one after the other, FIRST long, each longer than the one before by MORE. */
static int64_t draw_ranges(const char *name, int64_t at_ns, int count, int64_t first_ns, int64_t more_ns)
{
    for (int i = 0; i < count; i++) {
        draw_host("user_annotation", name, 1, at_ns, first_ns + i * more_ns);
        at_ns += first_ns + i * more_ns + 10;
    }
    return at_ns;
}

/* ---- durations ---- */

/* 1, 2 ... 20: half do not exceed 10, 90 % 18, 95 % 19, 99 % only all of them. Variance of a sample: 20 * 21 / 12 = 35. */
TEST(percentiles_are_durations_that_occurred)
{
    draw_ranges("a", 0, 20, 1, 1);
    answer();
    assert_int_equal(latency->rows.count, 1);
    const struct latency_row *row = &latency->rows.at[0];
    assert_int_equal(row->count, 20);
    assert_int_equal(row->min_ns, 1);
    assert_int_equal(row->p50_ns, 10);
    assert_int_equal(row->p90_ns, 18);
    assert_int_equal(row->p95_ns, 19);
    assert_int_equal(row->p99_ns, 20);
    assert_int_equal(row->max_ns, 20);
    assert_int_equal(row->total_ns, 210);
    assert_int_equal(row->mean_ns, 11);                /* 10.5 */
    assert_int_equal(row->stddev_ns, 6);               /* sqrt(35) */
    assert_int_equal(row->busy_ns, TABLE_INT_MISSING); /* there is no device */
    assert_int_equal(row->outliers, 0);
}

TEST(names_that_differ_in_numbers_are_one_row)
{
    draw_step(9, 0, 10);
    draw_step(10, 20, 10);
    draw_host("user_annotation", "fp8 all2all", 1, 40, 10);
    draw_host("user_annotation", "fp8 all2all", 1, 60, 10);
    draw_host("user_annotation", "fp16 all2all", 1, 80, 10); /* another word */
    answer();
    assert_int_equal(latency->rows.count, 2);
    assert_string_equal(latency->rows.at[0].name.at, "ProfilerStep#*");
    assert_string_equal(latency->rows.at[1].name.at, "fp8 all2all");
    assert_int_equal(latency->single, 1);
    answer_with((struct selection_query){ 0 }, 0, (struct latency_options){ .least = 1, .exact = true });
    assert_int_equal(latency->rows.count, 4);
}

TEST(operators_are_selected_by_name)
{
    draw_host("cpu_op", "aten::mm", 1, 0, 10);
    draw_host("cpu_op", "aten::mm", 1, 20, 30);
    draw_host("cpu_op", "aten::add", 1, 60, 30);
    answer();
    assert_int_equal(latency->rows.count, 0);
    answer_with((struct selection_query){ 0 }, 0, (struct latency_options){ .least = 2, .name = "mm$" });
    assert_int_equal(latency->rows.count, 1);
    assert_int_equal(latency->rows.at[0].total_ns, 40);
}

/* ---- what they went to ---- */

/*
 *   thread 1   [a 0-50                         )  [a 100-150)
 *                [launch 5-10) [cudaStreamSynchronize 30-48)
 *   stream 7              [k 20-40)                 [k 120-130)
 *
 * The first: 20 of computation; of the 30 left the thread waited for 8 (40-48). The second: 10 of computation, which it did not
 * launch.
 */
TEST(parts_add_up_to_the_range)
{
    draw_host("user_annotation", "a", 1, 0, 50);
    draw_host("user_annotation", "a", 1, 100, 50);
    draw_call("cudaLaunchKernel", 1, 5, 5, 1);
    draw_call("cudaStreamSynchronize", 1, 30, 18, 2);
    draw_work("kernel", "k", 0, 7, 20, 20, 1);
    draw_work("kernel", "k", 0, 7, 120, 10, DRAW_NO_CALL);
    answer();
    const struct latency_row *row = &latency->rows.at[0];
    assert_int_equal(row->busy_ns, 30);
    assert_int_equal(row->idle_ns, 70);
    assert_int_equal(row->part_ns[LATENCY_COMPUTATION], 30);
    assert_int_equal(row->part_ns[LATENCY_WAITING], 8);
    assert_int_equal(row->part_ns[LATENCY_HOST], 62);
    assert_int_equal(row->operations, 1);
    assert_int_equal(row->work_ns, 20);
}

/* Six ranges of 100 and one of 300, in which a copy takes 150. */
TEST(outlier_tells_what_grew)
{
    int64_t at_ns = draw_ranges("a", 0, 6, 100, 0);
    draw_host("user_annotation", "a", 1, at_ns, 300);
    draw_work("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", 0, 7, at_ns + 50, 150, DRAW_NO_CALL);
    answer();
    assert_int_equal(latency->rows.at[0].outliers, 1);
    assert_int_equal(latency->outliers.count, 1);
    const struct latency_outlier *outlier = &latency->outliers.at[0];
    assert_int_equal(outlier->duration_ns, 300);
    assert_int_equal(outlier->median_ns, 100);
    assert_int_equal(outlier->longer_ns, 200);
    assert_string_equal(outlier->part.at, "copies");
    assert_int_equal(outlier->grew_ns, 150);
}

/* By a tenth and no more is no outlier, however alike the others are. */
TEST(a_tenth_longer_is_no_outlier)
{
    int64_t at_ns = draw_ranges("a", 0, 6, 100, 0);
    draw_host("user_annotation", "a", 1, at_ns, 110);
    answer();
    assert_int_equal(latency->outliers.count, 0);
}

/* 1, 2, 3 and 700: from 1, 2 (twice) and 500 on. */
TEST(histogram_has_bars_with_something_in_them)
{
    static const int64_t from[] = { 1, 2, 500 }, to[] = { 2, 5, 1000 }, count[] = { 1, 2, 1 };
    int64_t at_ns = draw_ranges("a", 0, 3, 1, 1);
    draw_host("user_annotation", "a", 1, at_ns, 700);
    answer_with((struct selection_query){ 0 }, 0, (struct latency_options){ .least = 2, .histogram = true });
    assert_int_equal(latency->bars.count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(latency->bars.at[i].from_ns, from[i]);
        assert_int_equal(latency->bars.at[i].to_ns, to[i]);
        assert_int_equal(latency->bars.at[i].count, count[i]);
    }
}

/* ---- phases ---- */

/*
 *   host      [prefill 0-20)    [decode 30-50 [step[DECODE]) )  [decode 50-70)
 *                [1: 5-6)           [2: 35-36)                    [3: 55-56)
 *   stream 7         [a 10-60)              [b 60-90)                  [c 90-100)
 *
 * Prefill lasts until 60, the first decode from 60 to 90, the second from 90 to 100. The inner annotation is no step.
 */
TEST(steps_last_until_their_work_has_ended)
{
    draw_host("user_annotation", "execute_context_1(512)_generation_0(0)", 1, 0, 20);
    draw_host("user_annotation", "execute_context_0(0)_generation_4(4)", 1, 30, 20);
    draw_host("user_annotation", "step[DECODE bs=4]", 1, 32, 10);
    draw_host("user_annotation", "execute_context_0(0)_generation_6(6)", 1, 50, 20);
    for (int i = 0; i < 3; i++)
        draw_call("cudaGraphLaunch", 1, (int64_t[]){ 5, 35, 55 }[i], 1, i + 1);
    draw_work("kernel", "a", 0, 7, 10, 50, 1);
    draw_work("kernel", "b", 0, 7, 60, 30, 2);
    draw_work("kernel", "c", 0, 7, 90, 10, 3);
    answer();
    assert_int_equal(latency->serving.all.count, 2);
    const struct phase_row *prefill = &latency->serving.all.at[0], *decode = &latency->serving.all.at[1];
    assert_string_equal(prefill->phase.at, "prefill");
    assert_int_equal(prefill->tokens, 512);
    assert_int_equal(prefill->wall_ns, 60);
    assert_int_equal(prefill->busy_ns, 50);
    assert_int_equal(decode->steps, 2);
    assert_int_equal(decode->requests, 10);
    assert_int_equal(decode->tokens, 10);
    assert_int_equal(decode->wall_ns, 40);
    assert_int_equal(decode->idle_ns, 0);
    assert_int_equal(decode->token_ns, 4);
    assert_int_equal(decode->step_ns, 20);
    assert_int_equal(decode->least_batch, 4);
    assert_int_equal(decode->most_batch, 6);
    assert_int_equal(latency->serving.batches.count, 3);
}

/* SGLang's outer annotation does not tell the tokens, the inner one does. */
TEST(inner_annotation_tells_what_the_outer_lacks)
{
    draw_host("user_annotation", "step[EXTEND bs=2]", 1, 0, 100);
    draw_host("user_annotation", "execute_context_2(70)_generation_0(0)", 1, 10, 50);
    answer();
    assert_int_equal(latency->serving.all.count, 1);
    assert_int_equal(latency->serving.all.at[0].steps, 1);
    assert_int_equal(latency->serving.all.at[0].requests, 2);
    assert_int_equal(latency->serving.all.at[0].tokens, 70);
    assert_int_equal(latency->serving.all.at[0].wall_ns, 100);
    assert_int_equal(latency->serving.all.at[0].busy_ns, TABLE_INT_MISSING);
}

TEST(tokens_are_missing_where_a_step_does_not_tell)
{
    draw_host("user_annotation", "step[MIXED bs=2 toks=7]", 1, 0, 100);
    draw_host("user_annotation", "step[MIXED bs=2]", 1, 100, 100);
    answer();
    assert_int_equal(latency->serving.all.at[0].requests, 4);
    assert_int_equal(latency->serving.all.at[0].tokens, TABLE_INT_MISSING);
    assert_int_equal(latency->serving.all.at[0].token_ns, TABLE_INT_MISSING);
}

/* PyTorch 1.8 records steps as operators; operators of other names are no ranges unless requested. */
TEST(steps_recorded_as_operators_are_ranges)
{
    draw_host("Operator", "ProfilerStep#1", 1, 0, 10);
    draw_host("Operator", "aten::mm", 1, 2, 3);
    draw_host("Operator", "aten::mm", 1, 6, 3);
    draw_host("Operator", "ProfilerStep#2", 1, 20, 30);
    answer();
    assert_int_equal(latency->rows.count, 1);
    assert_string_equal(latency->rows.at[0].name.at, "ProfilerStep#*");
    assert_int_equal(latency->rows.at[0].total_ns, 40);
}
