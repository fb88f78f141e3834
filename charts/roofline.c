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

enum { MOST_NAMES = 8 }; /* of operators, that have a colour of their own */

/* A series of dots for each operator, those with the most time first; the others share one. */
static void add_dots(struct chart *chart, const struct roofline *roofline)
{
    for (size_t i = 0; i < roofline->rows.count; i++) {
        const struct roofline_row *row = &roofline->rows.at[i];
        const char *name = row->name.at;
        struct table *table = NULL;
        if (isnan(row->intensity) || isnan(row->tflops))
            continue;
        for (size_t s = 0; s < chart->series.count && !table; s++)
            if (s == MOST_NAMES || strcmp(chart->series.at[s].title, name) == 0)
                table = chart->tables.at[s];
        if (!table) {
            bool own = chart->series.count < MOST_NAMES;
            table = chart_add_table(chart, table_open("operator", NULL, columns, 2));
            chart_add_series(chart,
                             (struct chart_series){
                                 .title = own ? arena_printf(&chart->arena, "%s", name) : "other operators",
                                 .mark = CHART_POINT,
                                 .color = own ? chart_color_at(chart->series.count) : CHART_PALE,
                                 .table = table,
                                 .y = 1 });
        }
        add_point(table, row->intensity, row->tflops * 1e3);
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

/* The rate of matrix units that most of the time is held to; PEAK_NONE: nothing uses them. */
static enum peak_rate main_rate(const struct roofline *roofline)
{
    int64_t times[PEAK_RATES + 1] = { 0 };
    enum peak_rate most = PEAK_NONE;
    for (size_t c = 0; c < roofline->calls.count; c++)
        times[roofline->calls.at[c].rate] += roofline->calls.at[c].time_ns;
    for (int r = 0; r < PEAK_FP32; r++)
        if (times[r] > (most == PEAK_NONE ? 0 : times[most]))
            most = (enum peak_rate)r;
    return most;
}

/* Of the first device whose memory's bandwidth is known; NULL: of none. */
static const struct device_peaks *known_peaks(const struct roofline *roofline)
{
    for (size_t d = 0; d < roofline->devices.count; d++)
        if (roofline->calls.peaks[d].bandwidth > 0)
            return &roofline->calls.peaks[d];
    return NULL;
}

/* "peaks by ...: 989 and 66.9 TFLOP/s, 3350 GB/s", of matrix and vector units as far as they are drawn. */
static const char *note_of(struct chart *chart, const struct device_peaks *peaks, double matrix,
                           double vector, double bandwidth)
{
    if (matrix > 0 && vector > 0)
        return arena_printf(&chart->arena, "peaks by %s: %.0f and %.1f TFLOP/s, %.0f GB/s", peaks->source,
                            matrix / 1e12, vector / 1e12, bandwidth / 1e9);
    return arena_printf(&chart->arena, "peaks by %s: %.1f TFLOP/s, %.0f GB/s", peaks->source,
                        fmax(matrix, vector) / 1e12, bandwidth / 1e9);
}

static void add_roofs(struct chart *chart, const struct chart_question *question,
                      const struct roofline *roofline)
{
    const struct device_peaks *peaks = known_peaks(roofline);
    enum peak_rate rate = main_rate(roofline);
    bool given = question->peak_flops > 0;
    double bandwidth = question->peak_bandwidth > 0 ? question->peak_bandwidth : peaks ? peaks->bandwidth : 0;
    double matrix = given ? question->peak_flops : peaks && rate != PEAK_NONE ? peaks->flops[rate] : 0;
    double vector = !given && peaks ? peaks->flops[PEAK_FP32] : 0;
    if (bandwidth <= 0 || (matrix <= 0 && vector <= 0)) {
        chart->note = "the peaks of the device are unknown: give them with --peak-flops and --peak-bandwidth";
        return;
    }
    double least = 1, most = fmax(matrix, vector) / bandwidth * 2;
    for (size_t i = 0; i < roofline->rows.count; i++) { /* fmin and fmax pass over what is missing */
        least = fmin(least, roofline->rows.at[i].intensity);
        most = fmax(most, roofline->rows.at[i].intensity);
    }
    if (matrix > 0)
        add_roof(chart,
                 given ? "Peak"
                       : arena_printf(&chart->arena, "Peak, %s on matrix units", peak_rate_name(rate)),
                 CHART_GREY, matrix / 1e9, bandwidth / 1e9, least, most);
    if (vector > 0)
        add_roof(chart, "Peak, float32 on vector units", CHART_PALE, vector / 1e9, bandwidth / 1e9, least,
                 most);
    if (!given && peaks)
        chart->note = note_of(chart, peaks, matrix, vector, bandwidth);
}

static struct trace_wants wants(void)
{
    return roofline_wants;
}

static bool draw(const struct chart_question *question, struct picture *picture, struct tpa_error *err)
{
    struct roofline *roofline =
        roofline_analyze(question->trace, question->selection, BY(OP) | BY(SHAPE), NULL);
    bool any = false;
    for (size_t i = 0; i < roofline->rows.count && !any; i++)
        any = !isnan(roofline->rows.at[i].intensity) && !isnan(roofline->rows.at[i].tflops);
    if (any) {
        struct chart *chart = picture_add_chart(picture, "roofline", "Operators and the roof of the device");
        chart->x = (struct chart_axis){
            .title = "Operations for each byte", .kind = TABLE_NUMBER, .unit = "FLOP/B", .log = true
        };
        chart->y = (struct chart_axis){ .title = "Operations per second", .kind = TABLE_FLOPS, .log = true };
        add_dots(chart, roofline);
        add_roofs(chart, question, roofline);
    }
    roofline_free(roofline);
    return chart_is_drawn(
        picture, err,
        "no operator has known operations, bytes and time; shapes are needed (record_shapes=True)");
}

const struct chart_type chart_type_roofline = {
    .name = "roofline",
    .title = "Roofline",
    .help = "operations per second against operations per byte, below what the device can do",
    .wants = wants,
    .needs = FEATURE_SHAPES,
    .draw = draw,
};
