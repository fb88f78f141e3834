/* roofline.c - operators as dots below the roof of what the device can do. */
#include "charts/parts.h"
#include "analyze/roofline.h"
#include "facts/features.h"
#include <math.h>

static const struct table_column columns[] = {
    { "intensity", "Operations per byte", TABLE_NUMBER, "operations for each byte moved at least", 0, NULL },
    { "rate", "Per second", TABLE_FLOPS, "operations per second", 0, NULL },
};

static void add_point(struct table *table, double intensity, double gflops)
{
    size_t row = table_add_row(table);
    table_set_number(table, row, 0, intensity);
    table_set_int(table, row, 1, llround(fmin(gflops * 1e9, 9e18)));
}

/* A series of dots for each operator, those with the most time first. */
static void add_dots(struct chart *chart, const struct roofline *roofline)
{
    for (size_t i = 0; i < roofline->rows.count; i++) {
        const struct roofline_row *row = &roofline->rows.at[i];
        const char *name = row->name.at;
        struct table *table = NULL;
        for (size_t s = 0; s < chart->series.count && !table; s++)
            if (strcmp(chart->series.at[s].title, name) == 0)
                table = chart->tables.at[s];
        if (!table) {
            table = chart_add_table(chart, table_open("operator", NULL, columns, 2));
            chart_add_series(chart, (struct chart_series){ .title = arena_printf(&chart->arena, "%s", name),
                                                           .mark = CHART_POINT,
                                                           .color = chart_color_at(chart->series.count),
                                                           .table = table,
                                                           .y = 1 });
        }
        add_point(table, row->intensity, row->gflops);
    }
}

/* From LEAST to MOST operations per byte: as fast as memory allows, then as fast as PEAK. */
static void add_roof(struct chart *chart, const char *title, enum chart_color color, double peak_gflops,
                     double bandwidth_gbs, double least, double most)
{
    struct table *table = chart_add_table(chart, table_open("roof", NULL, columns, 2));
    double ridge = peak_gflops / bandwidth_gbs;
    add_point(table, least, fmin(peak_gflops, least * bandwidth_gbs));
    if (ridge > least && ridge < most)
        add_point(table, ridge, peak_gflops);
    add_point(table, most, fmin(peak_gflops, most * bandwidth_gbs));
    chart_add_series(chart, (struct chart_series){
                                .title = title, .mark = CHART_LINE, .color = color, .table = table, .y = 1 });
}

static void add_roofs(struct chart *chart, const struct chart_question *question,
                      const struct roofline *roofline)
{
    struct roof roof = roof_of(question->trace);
    bool given = question->peak_flops > 0;
    if (question->peak_bandwidth > 0)
        roof.bandwidth_gbs = question->peak_bandwidth / 1e9;
    if (given)
        roof.matrix_gflops = question->peak_flops / 1e9;
    if (roof.bandwidth_gbs <= 0 || roof.matrix_gflops <= 0) {
        chart->note = "what the device can do is not known: tell it with --peak-flops and --peak-bandwidth";
        return;
    }
    double least = 1, most = roof.matrix_gflops / roof.bandwidth_gbs * 2;
    for (size_t i = 0; i < roofline->rows.count; i++) {
        least = fmin(least, roofline->rows.at[i].intensity);
        most = fmax(most, roofline->rows.at[i].intensity);
    }
    add_roof(chart, given ? "Peak" : "Peak, matrix cores", CHART_GREY, roof.matrix_gflops, roof.bandwidth_gbs,
             least, most);
    if (!given && roof.vector_gflops > 0)
        add_roof(chart, "Peak, float32", CHART_PALE, roof.vector_gflops, roof.bandwidth_gbs, least, most);
    if (!given)
        chart->note =
            arena_printf(&chart->arena, "peaks by the data sheet of %s: %.0f and %.1f TFLOP/s, %.0f GB/s",
                         roof.device, roof.matrix_gflops / 1e3, roof.vector_gflops / 1e3, roof.bandwidth_gbs);
}

static struct trace_wants wants(void)
{
    return roofline_wants;
}

static bool draw(const struct chart_question *question, struct picture *picture, struct tpa_error *err)
{
    struct roofline roofline = roofline_analyze(question->trace, question->selection);
    if (roofline.rows.count > 0) {
        struct chart *chart = picture_add_chart(picture, "roofline", "Operators and the roof of the device");
        chart->x = (struct chart_axis){
            .title = "Operations for each byte", .kind = TABLE_NUMBER, .unit = "FLOP/B", .log = true
        };
        chart->y = (struct chart_axis){ .title = "Operations per second", .kind = TABLE_FLOPS, .log = true };
        add_dots(chart, &roofline);
        add_roofs(chart, question, &roofline);
    }
    roofline_release(&roofline);
    return chart_is_drawn(picture, err,
                          "no operator tells its operations and bytes; they are known of matrix products, "
                          "convolutions, add and mul, where shapes were recorded (record_shapes=True)");
}

const struct chart_type chart_type_roofline = {
    .name = "roofline",
    .title = "Roofline",
    .help = "operations per second against operations per byte, below what the device can do",
    .wants = wants,
    .needs = FEATURE_SHAPES,
    .draw = draw,
};
