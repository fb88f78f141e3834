/* test_chart_types.c - charts/charts.h: the figures in the pictures. */

#include "charts/parts.h"
#include "diff/diff.h"
#include "history/nightly.h"
#include "report/svg.h"
#include "tests/unit/drawn.h"
#include "derive/gpu_events.h"
#include <math.h>

static struct picture *picture;
static struct tpa_error error;

static void free_picture(void *of)
{
    picture_free(of);
}

static void open_picture(const char *name, const char *title)
{
    picture = picture_open(name, title);
    arena_defer(&unit_scratch, free_picture, picture);
}

/* The picture of that type, with time cut into COLUMNS; whether there was something to draw. */
static bool draw(const struct chart_type *type, struct selection_query query, size_t columns, size_t bars)
{
    error = (struct tpa_error){ 0 };
    const struct selection *selection = scratch_selection(drawn(), query);
    open_picture(type->name, type->title);
    struct chart_request request = {
        .trace = drawn(), .selection = selection, .devices = query.devices, .columns = columns, .bars = bars
    };
    return type->draw(&request, picture, &error);
}

/* The figure of series S of chart C in ROW. */
static double y_of(size_t c, size_t s, size_t row)
{
    const struct chart_series *series = &picture->charts.at[c]->series.at[s];
    return chart_value(series->table, row, series->y);
}

static double x_of(size_t c, size_t s, size_t row)
{
    const struct chart_series *series = &picture->charts.at[c]->series.at[s];
    return chart_value(series->table, row, series->x);
}

static const char *label_of(size_t c, size_t row)
{
    const struct chart_series *series = &picture->charts.at[c]->series.at[0];
    return table_cell(series->table, row, series->x)->text.at;
}

/*
 *              0    10   20   30   40   50   60   70   80
 *   stream 7   [a        )         [b   )
 *   stream 8        [nccl     )              [copy     )
 *
 * In parts of 20: 0..20 computes all of it; 20..40 communicates for 10; 40..60 computes for 10; 60..80 copies all of
 * it. (The copy is 60..80.) The overlap: 0..10 computation alone, 10..20 both, 20..30 communication alone, 40..50
 * computation.
 */
static void draw_streams(void)
{
    draw_work("kernel", "a", 0, 7, 0, 20, 1);
    draw_work("kernel", "ncclKernel_AllReduce", 0, 8, 10, 20, 2);
    draw_work("kernel", "b", 0, 7, 40, 10, 3);
    draw_work("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", 0, 8, 60, 20, 4);
}

TEST(utilization_is_shares_of_each_part)
{
    draw_streams();
    assert_true(draw(&chart_type_utilization, (struct selection_query){ 0 }, 4, 0));
    assert_int_equal(picture->charts.count, 1);
    assert_int_equal(picture->charts.at[0]->series.count, 3);
    static const double wanted[3][4] = { { 1, 0, 0.5, 0 }, { 0, 0.5, 0, 0 }, { 0, 0, 0, 1 } };
    for (size_t s = 0; s < 3; s++)
        for (size_t row = 0; row < 4; row++)
            assert_true(y_of(0, s, row) == wanted[s][row]);
    assert_true(isnan(y_of(0, 0, 4))); /* the end: what was last holds until here */
    assert_true(x_of(0, 0, 4) == 80);
    assert_string_equal(picture->charts.at[0]->note,
                        "computes 37.5 %, only communicates 12.5 %, only copies 25.0 %, idle 25.0 %");
}

/* What was launched (or without a call began) in 10..50: nccl at 10..30 and b at 40..50. */
TEST(utilization_of_a_requested_time)
{
    draw_streams();
    assert_true(draw(&chart_type_utilization, (struct selection_query){ .range = "10ns..50ns" }, 2, 0));
    assert_int_equal(picture->charts.at[0]->series.count, 2);
    assert_true(x_of(0, 0, 0) == 10 && x_of(0, 0, 1) == 30);
    assert_true(y_of(0, 0, 0) == 0 && y_of(0, 0, 1) == 0.5);
    assert_true(y_of(0, 1, 0) == 1 && y_of(0, 1, 1) == 0);
}

TEST(overlap_is_alone_and_both)
{
    draw_streams();
    assert_true(draw(&chart_type_overlap, (struct selection_query){ 0 }, 8, 0));
    static const double wanted[3][8] = { { 1, 0, 0, 0, 1, 0, 0, 0 },
                                         { 0, 1, 0, 0, 0, 0, 0, 0 },
                                         { 0, 0, 1, 0, 0, 0, 0, 0 } };
    for (size_t s = 0; s < 3; s++)
        for (size_t row = 0; row < 8; row++)
            assert_true(y_of(0, s, row) == wanted[s][row]);
    assert_string_equal(picture->charts.at[0]->note, "50.0 % of the communication runs beside computation");
}

TEST(nothing_communicates)
{
    draw_work("kernel", "a", 0, 7, 0, 20, 1);
    assert_false(draw(&chart_type_overlap, (struct selection_query){ 0 }, 8, 0));
    assert_string_equal(error.message, "there is nothing to draw: no kernel communicates");
}

/* More columns than nanoseconds: parts that would be empty are left out, and nothing is divided by 0. */
TEST(a_short_span_has_few_parts)
{
    draw_work("kernel", "a", 0, 7, 5, 3, 1);
    assert_true(draw(&chart_type_utilization, (struct selection_query){ 0 }, 400, 0));
    const struct table *table = picture->charts.at[0]->tables.at[0];
    assert_int_equal(table->row_count, 4);
    for (size_t row = 0; row < 3; row++)
        assert_true(y_of(0, 0, row) == 1);
}

/*
 * Queue of one stream, from the start of each call to that of its kernel: 0..15, 12..30, 24..45.
 * Depth: 1 at 0, 2 at 12, 1 at 15, 2 at 24, 1 at 30, 0 at 45.
 */
TEST(the_depth_whenever_it_changes)
{
    draw_call("cudaLaunchKernel", 1, 0, 10, 1);
    draw_call("cudaLaunchKernel", 1, 12, 10, 2);
    draw_call("cudaLaunchKernel", 1, 24, 10, 3);
    draw_work("kernel", "k", 0, 7, 15, 5, 1);
    draw_work("kernel", "k", 0, 7, 30, 15, 2);
    draw_work("kernel", "k", 0, 7, 45, 7, 3);
    assert_true(draw(&chart_type_queue, (struct selection_query){ 0 }, 400, 0));
    assert_string_equal(picture->charts.at[0]->title, "Launches waiting for device 0, stream 7");
    static const double times[] = { 0, 12, 15, 24, 30, 45 }, depths[] = { 1, 2, 1, 2, 1, 0 };
    assert_int_equal(picture->charts.at[0]->tables.at[0]->row_count, 6);
    for (size_t row = 0; row < 6; row++) {
        assert_true(x_of(0, 0, row) == times[row]);
        assert_true(y_of(0, 0, row) == depths[row]);
    }
}

/*
 * Gaps of 900, 1000, 1999 and 30000 ns, none of whose launches are in the file: unknown. Ranges: below 1us, from 1us
 * (two: 2999), from 2us, 5us and 10us (none), from 20us.
 */
TEST(gaps_fall_into_ranges)
{
    int64_t now = 0;
    static const int64_t gaps[] = { 900, 1000, 1999, 30000 };
    for (size_t i = 0; i < 5; i++) {
        draw_work("kernel", "k", 0, 7, now, 100, DRAW_NO_CALL);
        now += 100 + (i < 4 ? gaps[i] : 0);
    }
    assert_true(draw(&chart_type_gaps, (struct selection_query){ 0 }, 400, 0));
    assert_int_equal(picture->charts.at[0]->series.count, 1);
    assert_string_equal(picture->charts.at[0]->series.at[0].title, "unknown");
    static const char *const labels[] = { "< 1us", "1us", "2us", "5us", "10us", "20us" };
    static const double sums[] = { 900, 2999, 0, 0, 0, 30000 };
    assert_int_equal(chart_category_count(picture->charts.at[0]), 6);
    for (size_t row = 0; row < 6; row++) {
        assert_string_equal(label_of(0, row), labels[row]);
        assert_true(y_of(0, 0, row) == sums[row]);
    }
}

/* 4096 B in 2048 ns are 2 GB/s; a copy that tells no size has no dot. 1000 of its 2048 ns a kernel hides. */
TEST(copies_are_dots_and_bars)
{
    draw_work("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", 0, 7, 0, 2048, 1);
    draw_arg(ARG_BYTES, 4096);
    draw_work("kernel", "k", 0, 8, 0, 1000, 2);
    draw_work("gpu_memcpy", "Memcpy DtoH (Device -> Pageable)", 0, 7, 3000, 10, 3);
    assert_true(draw(&chart_type_transfers, (struct selection_query){ 0 }, 400, 0));
    assert_int_equal(picture->charts.count, 2);
    assert_int_equal(picture->charts.at[0]->series.count, 1);
    assert_string_equal(picture->charts.at[0]->series.at[0].title, "HtoD pinned");
    assert_true(x_of(0, 0, 0) == 4096 && y_of(0, 0, 0) == 2);
    assert_string_equal(label_of(1, 0), "HtoD pinned");
    assert_true(y_of(1, 0, 0) == 1000 && y_of(1, 1, 0) == 1048);
    assert_string_equal(label_of(1, 1), "DtoH pageable");
    assert_true(y_of(1, 0, 1) == 0 && y_of(1, 1, 1) == 10);
}

/* k: 3 x 10, on tensor cores by its name; l: 20; m: 5. Two bars of three hold 50 of 55. */
TEST(kernels_are_ranked)
{
    for (int i = 0; i < 3; i++)
        draw_work("kernel", "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n", 0, 7, 100 * i, 10, i);
    draw_work("kernel", "l", 0, 7, 20, 20, 5);
    draw_work("kernel", "m", 0, 7, 50, 5, 6);
    assert_true(draw(&chart_type_kernels, (struct selection_query){ 0 }, 400, 2));
    assert_int_equal(chart_category_count(picture->charts.at[0]), 2);
    assert_string_equal(label_of(0, 1), "l");
    assert_true(y_of(0, 0, 0) == 30 && isnan(y_of(0, 0, 1)));
    assert_string_equal(picture->charts.at[0]->series.at[0].title, "Tensor cores");
    assert_string_equal(picture->charts.at[0]->note, "the first 2 of 3 kernels: 90.9 % of the time of all");
}

/* How often chart I of the picture, drawn, says TEXT. */
static size_t count_in_svg(size_t i, const char *text)
{
    SCRATCH_BUFFER(svg);
    size_t count = 0;
    svg_add_chart(&svg, picture, i);
    buffer_putc(&svg, '\0');
    for (const char *at = svg.at; (at = strstr(at, text)); at++)
        count++;
    return count;
}

/* Twenty devices: sixteen charts, and the last says so. They have one legend and one title of the axis of time. */
TEST(many_devices_are_not_all_drawn)
{
    for (int device = 0; device < 20; device++)
        draw_work(device == 3 ? "gpu_memcpy" : "kernel", "k", device, 7, 0, 10, device);
    assert_true(draw(&chart_type_utilization, (struct selection_query){ 0 }, 4, 0));
    assert_int_equal(picture->charts.count, 16);
    assert_non_null(strstr(picture->charts.at[15]->note, "16 of 20 devices are shown"));
    for (size_t i = 0; i < 16; i++) {
        assert_int_equal(count_in_svg(i, ">Computation<"), i == 0);
        assert_int_equal(count_in_svg(i, ">Exposed copies<"), i == 0);
        assert_int_equal(count_in_svg(i, ">Time from the start of the trace (ns)<"), i == 15);
    }
}

/* Twenty launches wait on stream 7; one on stream 8, whose chart would tell nothing. */
TEST(streams_that_wait_for_little_are_not_drawn)
{
    for (int i = 0; i < 21; i++) {
        draw_call("cudaLaunchKernel", 1, 2 * i, 1, i + 1);
        draw_work("kernel", "k", 0, i < 20 ? 7 : 8, 100 + 10 * i, 10, i + 1);
    }
    assert_true(draw(&chart_type_queue, (struct selection_query){ 0 }, 400, 0));
    assert_int_equal(picture->charts.count, 1);
    assert_string_equal(picture->charts.at[0]->note,
                        "not shown: 1 other stream, with no more than 1 launch waiting");
}

/* ---- diff ---- */

static struct finding changed(double before, double after, enum verdict verdict)
{
    return (struct finding){ .before = before,
                             .after = after,
                             .change = after - before,
                             .present = { before > 0, after > 0 },
                             .verdict = verdict };
}

static void add_diff_metric(struct diff *diff, const char *key, const char *title, double before,
                            double after, enum verdict verdict)
{
    *VEC_PUSH(&diff->metrics) = (struct diff_metric){ key, title, TABLE_NS, changed(before, after, verdict) };
}

static void add_diff_row(struct diff_rows *rows, const char *name, double before, double after,
                         enum verdict verdict)
{
    *VEC_PUSH(&rows->rows) = (struct diff_row){ .name = name,
                                                .name_length = strlen(name),
                                                .finding = changed(before, after, verdict) };
}

/*
 * A step of 100 becomes 90: computation 60 -> 40, idle 30 -> 41, copies as before, and 1 lost in rounding. The levels:
 * 100, to 80, to 91, to 90 by rounding, 90.
 */
TEST(a_waterfall_meets_its_end)
{
    struct diff diff = { .unit = "step" };
    add_diff_metric(&diff, "step_time", "step time", 100, 90, VERDICT_LESS);
    add_diff_metric(&diff, "computation", "computation", 60, 40, VERDICT_LESS);
    add_diff_metric(&diff, "exposed_copies", "copies", 10, 10, VERDICT_SAME);
    add_diff_metric(&diff, "gpu_idle", "idle", 30, 41, VERDICT_MORE);
    add_diff_metric(&diff, "host_time", "host time", 7, 9, VERDICT_MORE);
    open_picture("diff", "Diff");
    chart_diff(picture, &diff, 0);
    assert_int_equal(picture->charts.count, 1);
    const struct table *table = picture->charts.at[0]->tables.at[0];
    static const char *const names[] = { "before", "computation", "idle", "(rounding)", "after" };
    static const int64_t from[] = { 0, 100, 80, 91, 0 }, to[] = { 100, 80, 91, 90, 90 };
    static const size_t column[] = { 2, 4, 3, 5, 2 }; /* whole, faster, slower, unsure, whole */
    assert_int_equal(table->row_count, 5);
    for (size_t row = 0; row < 5; row++) {
        assert_string_equal(label_of(0, row), names[row]);
        assert_int_equal(table_cell(table, row, 1)->i, from[row]);
        assert_int_equal(table_cell(table, row, column[row])->i, to[row]);
    }
    assert_null(picture->charts.at[0]->note); /* 80..100 of 100: seen from 0 on */
    assert_false(picture->charts.at[0]->y.has_least);
    VEC_FREE(&diff.metrics);
    diff = (struct diff){ .unit = "step" };
    add_diff_metric(&diff, "step_time", "step time", 1000, 990, VERDICT_LESS);
    add_diff_metric(&diff, "computation", "computation", 600, 580, VERDICT_LESS);
    add_diff_metric(&diff, "gpu_idle", "idle", 30, 40, VERDICT_MORE);
    open_picture("diff", "Diff");
    chart_diff(picture, &diff, 0);
    assert_string_equal(picture->charts.at[0]->note, "the axis does not begin at 0"); /* 980..1000 of 1000 */
    assert_true(picture->charts.at[0]->y.least == 960);
    VEC_FREE(&diff.metrics);
}

/* Two of four changes are shown; the others, 3 and -1, are one bar of 2. */
TEST(a_waterfall_sums_up_the_rest)
{
    struct diff diff = { .unit = "step" };
    struct diff_rows *rows = VEC_PUSH(&diff.tables);
    *rows = (struct diff_rows){ .key = "kernels", .title = "Time on the device", .kind = TABLE_NS };
    add_diff_row(rows, "a", 10, 50, VERDICT_MORE);
    add_diff_row(rows, "b", 20, 0, VERDICT_GONE);
    add_diff_row(rows, "c", 5, 8, VERDICT_SAME);
    add_diff_row(rows, "d", 5, 4, VERDICT_SAME);
    add_diff_row(rows, "e", 5, 5, VERDICT_SAME);
    open_picture("diff", "Diff");
    chart_diff(picture, &diff, 2);
    assert_int_equal(chart_category_count(picture->charts.at[0]), 5);
    assert_string_equal(label_of(0, 3), "(2 more)");
    const struct table *table = picture->charts.at[0]->tables.at[0];
    assert_int_equal(table_cell(table, 3, 1)->i, 65); /* 45 + 40 - 20 */
    assert_int_equal(table_cell(table, 3, 5)->i, 67);
    assert_int_equal(table_cell(table, 4, 2)->i, 67);
    VEC_FREE(&rows->rows);
    VEC_FREE(&diff.tables);
}

/* ---- trend ---- */

/*
 * Six runs of a step time of 100 +- 1, then 120: the last is NEW. The band of each run is its reference, give or take
 * two standard deviations of a night.
 */
TEST(a_trend_has_levels_and_a_band)
{
    static const double levels[] = { 100e6, 101e6, 99e6, 100e6, 101e6, 99e6, 120e6 };
    enum { RUNS = sizeof levels / sizeof *levels };
    struct nightly nightly = { 0 };
    for (int64_t i = 0; i < RUNS; i++)
        *VEC_PUSH(&nightly.runs) =
            (struct nightly_run){ .id = 10 + i, .label = "net", .gpu = "GPU", .unit = "step" };
    size_t at = nightly_add_series(&nightly, &(struct nightly_series){ .table = NIGHTLY_HEAD,
                                                                       .name = "step_time",
                                                                       .length = strlen("step_time"),
                                                                       .title = "step time",
                                                                       .kind = TABLE_NS });
    struct history_series *series = &nightly.history.series.at[at];
    for (size_t i = 0; i < RUNS; i++) {
        series->level[i] = levels[i];
        series->error[i] = 0.5e6;
    }
    struct history_options options = HISTORY_DEFAULTS;
    nightly_judge(&nightly, RUNS - 1, &options);
    assert_int_equal(series->now.verdict, HISTORY_NEW);
    open_picture("trend", "Trend");
    assert_true(chart_trend(picture, &nightly, NULL, &error));
    assert_int_equal(picture->charts.count, 1);
    const struct chart *chart = picture->charts.at[0];
    assert_string_equal(chart->title, "step time, run by run");
    assert_int_equal(chart->series.count, 5);
    const struct chart_series *band = &chart->series.at[0], *doubts = &chart->series.at[3],
                              *alarms = &chart->series.at[4];
    double low = chart_value(band->table, RUNS - 1, band->low),
           high = chart_value(band->table, RUNS - 1, band->y);
    assert_true(fabs((low + high) / 2 - series->references[RUNS - 1]) < 2);
    assert_true(fabs((high - low) / 4 - series->now.noise * series->references[RUNS - 1]) < 2);
    assert_true(x_of(0, 1, 0) == 10 && y_of(0, 1, RUNS - 1) == 120e6);
    assert_string_equal(alarms->title, "NEW or EXISTING");
    assert_true(isnan(y_of(0, 4, 0)) && y_of(0, 4, RUNS - 1) == 120e6);
    assert_string_equal(doubts->title, "UNSURE, or cannot tell");
    for (size_t i = 0; i < RUNS; i++) /* every level is one dot */
        assert_int_equal(!isnan(y_of(0, 2, i)) + !isnan(y_of(0, 3, i)) + !isnan(y_of(0, 4, i)), 1);
    assert_true(y_of(0, 2, 0) == 100e6 && isnan(y_of(0, 2, RUNS - 1)));

    open_picture("trend", "Trend");
    error = (struct tpa_error){ 0 };
    assert_false(chart_trend(picture, &nightly, "aten::mm", &error));
    assert_string_equal(error.message, "the runs have no figure or row called 'aten::mm'");
    nightly_release(&nightly);
}

/* A series of NIGHTLY's head, called NAME, of LEVEL in every run. */
static size_t add_steady(struct nightly *nightly, const char *name, double level)
{
    size_t at = nightly_add_series(
        nightly,
        &(struct nightly_series){
            .table = NIGHTLY_HEAD, .name = name, .length = strlen(name), .title = name, .kind = TABLE_NS });
    for (size_t run = 0; run < nightly->runs.count; run++) {
        nightly->history.series.at[at].level[run] = level;
        nightly->history.series.at[at].error[run] = 1;
    }
    return at;
}

/* Runs 7, 3 and 9 are so in order of time: they count as 1, 2 and 3 along the axis, and the dots tell their numbers. */
TEST(a_trend_goes_with_time_and_leaves_out_what_was_never_there)
{
    static const int64_t ids[] = { 7, 3, 9 };
    struct nightly nightly = { 0 };
    for (size_t i = 0; i < 3; i++)
        *VEC_PUSH(&nightly.runs) = (struct nightly_run){
            .id = ids[i], .label = "net", .gpu = "GPU", .unit = "step", .commit = "abc"
        };
    add_steady(&nightly, "step time", 5000);
    add_steady(&nightly, "exposed copies", 0);
    size_t absent = add_steady(&nightly, "memory peak", NAN);
    struct history_options options = HISTORY_DEFAULTS;
    nightly_judge(&nightly, 2, &options);
    open_picture("trend", "Trend");
    size_t all[] = { 0, 1, absent };
    chart_trends(picture, &nightly, all, 3, 0, 9);
    assert_int_equal(picture->charts.count, 1);
    const struct chart *chart = picture->charts.at[0];
    const struct table *table = chart->series.at[0].table;
    assert_string_equal(chart->x.title, "Runs, the oldest first: their days and commits");
    assert_true(x_of(0, 0, 0) == 1 && x_of(0, 0, 1) == 2 && x_of(0, 0, 2) == 3);
    assert_non_null(strstr(table_cell(table, 1, table->column_count - 2)->text.at, "run 3, 1970-01-01"));
    assert_non_null(strstr(chart->note, "0 in every run and not drawn: exposed copies"));
    assert_null(strstr(chart->note, "memory"));

    open_picture("trend", "Trend");
    chart_trends(picture, &nightly, all, 3, 1, 9); /* the last run alone: its number grows */
    assert_string_equal(picture->charts.at[0]->x.title, "Run: its day and commit");
    assert_int_equal(picture->charts.at[0]->series.at[0].table->row_count, 1);
    assert_true(x_of(0, 0, 0) == 9);

    open_picture("trend", "Trend");
    error = (struct tpa_error){ 0 };
    assert_true(chart_trend(picture, &nightly, "exposed copies", &error)); /* requested, so drawn */
    assert_int_equal(picture->charts.count, 1);
    nightly_release(&nightly);
}

/* ---- the shape of a run ---- */

/*
 * Steps of 100 ns at 0, 100, 200, each with a kernel in its first half; the span of the device is 0..250. Four parts
 * would be 62.5 ns long and drift through the steps; parts of a step begin with it: 0, 50 | 100, 150 | 200.
 */
TEST(utilization_is_cut_at_steps)
{
    for (int64_t step = 0; step < 3; step++) {
        draw_step(step, 100 * step, 100);
        draw_kernel("gemm", 100 * step, 1, 100 * step, 50, step + 1);
    }
    assert_true(draw(&chart_type_utilization, (struct selection_query){ 0 }, 4, 0));
    static const int64_t starts[] = { 0, 50, 100, 150, 200, 250 };
    for (size_t row = 0; row < 6; row++)
        assert_true(x_of(0, 0, row) == (double)starts[row]);
    for (size_t row = 0; row < 5; row++)
        assert_true(y_of(0, 0, row) == (row % 2 ? 0 : 1));
}

static void draw_steps(int64_t odd_ns)
{
    int64_t at = 0;
    for (int64_t step = 0; step < 11; step++) { /* the last one is taken as cut */
        int64_t length = step == 4 ? odd_ns : 100;
        draw_step(step, at, length);
        at += length;
    }
    assert_true(draw(&chart_type_steps, (struct selection_query){ 0 }, 0, 0));
    assert_int_equal(picture->charts.count, 2);
}

/* Eleven steps: ten of 100 ns, one of 110. Bins are 1 ns wide, from 100 to 111: 10 in the first, 1 in the last. */
TEST(step_times_make_a_histogram)
{
    draw_steps(110);
    const struct table *table = picture->charts.at[1]->series.at[0].table;
    assert_string_equal(picture->charts.at[1]->note, "11 steps");
    double count = 0;
    for (size_t row = 0; row < table->row_count; row++)
        count += y_of(1, 0, row);
    assert_true(count == (double)picture->charts.at[0]->series.at[0].table->row_count);
    assert_true(x_of(1, 0, 0) == 100 && y_of(1, 0, 0) == count - 1);
    assert_true(x_of(1, 0, table->row_count - 2) == 110 && y_of(1, 0, table->row_count - 2) == 1);
    assert_true(y_of(1, 0, table->row_count - 1) == 0); /* where the axis ends */
}

/* One of 5 s would leave the others one bin. Nine tenths are within 100 ns, of which a twentieth is room, and the axis ends at 107: the
 * last bin, before 108, has the outlier, and the note says so. */
TEST(an_outlier_does_not_stretch_the_axis)
{
    draw_steps(INT64_C(5000000000));
    const struct table *table = picture->charts.at[1]->series.at[0].table;
    assert_string_equal(
        picture->charts.at[1]->note,
        "11 steps; 1 of them takes longer than the axis, up to 5.000s, and is counted at its end");
    assert_int_equal(table->row_count, 9);
    assert_true(x_of(1, 0, 0) == 100 && y_of(1, 0, 0) == 10);
    assert_true(x_of(1, 0, 7) == 107 && y_of(1, 0, 7) == 1);
    assert_true(x_of(1, 0, 8) == 108 && y_of(1, 0, 8) == 0);
}

/*
 * outer 0..100 calls mm 10..40 and mm 50..60, which launches a kernel of 30 ns. On the host: all and outer 100, mm 40;
 * on the device the kernel is below the launch, below mm, below outer, each 30.
 */
TEST(flames_add_up_calls_of_a_name)
{
    draw_host("cpu_op", "outer", 1, 0, 100);
    draw_host("cpu_op", "mm", 1, 10, 30);
    draw_host("cpu_op", "mm", 1, 50, 10);
    draw_kernel("gemm", 52, 4, 60, 30, 9);
    assert_true(draw(&chart_type_flame, (struct selection_query){ 0 }, 0, 0));
    assert_int_equal(picture->charts.count, 2);
    static const struct {
        const char *name;
        int64_t from, to, line;
    } wanted[2][5] = {
        { { "outer", 0, 100, 1 }, { "mm", 0, 40, 2 }, { "cudaLaunchKernel", 0, 4, 3 }, { "all", 0, 100, 0 } },
        { { "outer", 0, 30, 1 },
          { "mm", 0, 30, 2 },
          { "cudaLaunchKernel", 0, 30, 3 },
          { "gemm", 0, 30, 4 },
          { "all", 0, 30, 0 } }
    };
    for (size_t c = 0; c < 2; c++) {
        const struct chart *chart = picture->charts.at[c];
        size_t found = 0;
        for (size_t s = 0; s < chart->series.count; s++)
            for (size_t row = 0; row < chart->series.at[s].table->row_count; row++, found++) {
                const struct table *table = chart->series.at[s].table;
                size_t at = 0;
                while (at < 5 && (!wanted[c][at].name ||
                                  strcmp(wanted[c][at].name, table_cell(table, row, 0)->text.at)))
                    at++;
                assert_true(at < 5);
                assert_int_equal(table_cell(table, row, 1)->i, wanted[c][at].from);
                assert_int_equal(table_cell(table, row, 2)->i, wanted[c][at].to);
                assert_int_equal(table_cell(table, row, 3)->i, wanted[c][at].line);
            }
        assert_int_equal(found, c ? 5 : 4);
    }
}

/* Two ranks, 100 ns each: the first computes 60 and is idle 40, the second computes all the time. */
TEST(ranks_have_a_bar_each)
{
    draw_work("kernel", "gemm", 0, 7, 0, 50, DRAW_NO_CALL);
    draw_work("kernel", "gemm", 0, 7, 90, 10, DRAW_NO_CALL);
    draw_file("other.json");
    draw_work("kernel", "gemm", 0, 7, 0, 100, DRAW_NO_CALL);
    assert_true(draw(&chart_type_ranks, (struct selection_query){ 0 }, 0, 0));
    assert_int_equal(picture->charts.count, 1); /* nothing communicates */
    assert_int_equal(chart_category_count(picture->charts.at[0]), 2);
    assert_string_equal(label_of(0, 1), "1");
    assert_true(y_of(0, 0, 0) == 60 && y_of(0, 3, 0) == 40);
    assert_true(y_of(0, 0, 1) == 100 && y_of(0, 3, 1) == 0);
}
