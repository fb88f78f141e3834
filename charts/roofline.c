/* roofline.c - operators as dots below the roof of what the device can do. */
#include "charts/parts.h"
#include "analyze/roofline.h"
#include "derive/features.h"
#include <math.h>

static const struct table_column columns[] = {
    { "intensity", "Operations per byte", TABLE_NUMBER, "operations for each byte moved at least", 0, NULL },
    { "rate", "Per second", TABLE_FLOPS, "operations per second", 0, NULL },
    { "time", "Time", TABLE_NS, "time of its operations", 0, NULL },
    { "label", "Label", TABLE_TEXT, "which operator it is, with its shapes and share of the time", 0, NULL },
};

enum { COLUMN_TIME = 2, COLUMN_LABEL, COLUMNS };

static size_t add_point(struct table *table, double intensity, double gflops)
{
    size_t row = table_add_row(table);
    table_set_number(table, row, 0, intensity);
    table_set_int(table, row, 1, llround(fmin(gflops * 1e9, 9e18)));
    return row;
}

/* Can ROW be drawn? */
static bool has_place(const struct roofline_row *row)
{
    return row->intensity > 0 && row->tflops > 0 && row->time_ns > 0; /* false of NAN */
}

/* Where the dots lie. What is five decades below the others and takes less than a hundredth of the time is not a part of it. */
struct extent {
    double least[2], most[2]; /* of operations per byte, and of TFLOP/s */
    size_t beyond;            /* dots that lie further out */
    double beyond_share;      /* of the time of all */
};

static struct extent find_extent(const struct roofline *roofline)
{
    enum { DECADES = 5 };
    struct extent extent = { { INFINITY, INFINITY }, { 0, 0 }, 0, 0 };
    double whole = 0;
    FOR_EACH(row, &roofline->rows) {
        if (!has_place(row))
            continue;
        whole += (double)row->time_ns;
        extent.most[0] = fmax(extent.most[0], row->intensity);
        extent.most[1] = fmax(extent.most[1], row->tflops);
    }
    double lowest[2] = { extent.most[0] / pow(10, DECADES), extent.most[1] / pow(10, DECADES) };
    FOR_EACH(row, &roofline->rows) {
        if (!has_place(row))
            continue;
        bool far =
            (row->intensity < lowest[0] || row->tflops < lowest[1]) && (double)row->time_ns < whole / 100;
        if (far) {
            extent.beyond++;
            extent.beyond_share += (double)row->time_ns / whole;
            continue;
        }
        extent.least[0] = fmin(extent.least[0], row->intensity);
        extent.least[1] = fmin(extent.least[1], row->tflops);
    }
    return extent;
}

enum { MOST_NAMES = 7 }; /* of operators, that have a colour of their own: no more than there are */

/* "aten::mm [64,64][64,64]: 12.3 % of the device time that is modelled". */
static void roofline_describe(struct table *table, size_t at, const struct roofline_row *row, double whole_ns)
{
    SCOPED struct buffer text = { 0 };
    buffer_add(&text, row->name.at, row->name.len);
    if (row->shapes.at)
        buffer_printf(&text, " %s", row->shapes.at);
    buffer_printf(&text, ", %.1f %% of the time of all dots", 100 * (double)row->time_ns / whole_ns);
    table_set_text(table, at, COLUMN_LABEL, text.at, text.count);
}

/* A series of dots for each operator, those with the most time first; the others share one. */
static void add_dots(struct chart *chart, const struct roofline *roofline, const struct extent *extent)
{
    double whole_ns = SUM(double, i, roofline->rows.count,
                          has_place(&roofline->rows.at[i]) ? (double)roofline->rows.at[i].time_ns : 0);
    FOR_EACH(row, &roofline->rows) {
        const char *name = row->name.at;
        struct table *table = NULL;
        if (!has_place(row) || row->intensity < extent->least[0] || row->tflops < extent->least[1])
            continue;
        for (size_t s = 0; s < chart->series.count && !table; s++)
            if (s == MOST_NAMES || strcmp(chart->series.at[s].title, name) == 0)
                table = chart->tables.at[s];
        if (!table) {
            bool own = chart->series.count < MOST_NAMES;
            table = chart_add_table(chart, table_open("operator", NULL, columns, COLUMNS));
            chart_add_series(chart,
                             (struct chart_series){
                                 .title = own ? arena_printf(&chart->arena, "%s", name) : "other operators",
                                 .mark = CHART_POINT,
                                 .color = own ? chart_color_at(chart->series.count) : CHART_PALE,
                                 .table = table,
                                 .y = 1,
                                 .size = COLUMN_TIME });
        }
        size_t at = add_point(table, row->intensity, row->tflops * 1e3);
        table_set_int(table, at, COLUMN_TIME, row->time_ns);
        roofline_describe(table, at, row, whole_ns);
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
    const int64_t *times = roofline->rate_ns;
    enum peak_rate most = PEAK_NONE;
    for (int r = 0; r < PEAK_FP32; r++)
        if (times[r] > (most == PEAK_NONE ? 0 : times[most]))
            most = (enum peak_rate)r;
    return most;
}

/* Of the first device whose memory's bandwidth is known; NULL: of none. */
static const struct device_peaks *known_peaks(const struct roofline *roofline)
{
    return FIND_OF(one, roofline->calls.peaks, roofline->devices.count, one->bandwidth > 0);
}

/* "peaks by ...: 989 and 66.9 TFLOP/s, 3350 GB/s", of matrix and vector units as far as they are drawn. */
static const char *record_of(struct chart *chart, const struct device_peaks *peaks, double matrix,
                             double vector, double bandwidth)
{
    if (matrix > 0 && vector > 0)
        return arena_printf(&chart->arena, "peaks by %s: %.0f and %.1f TFLOP/s, %.0f GB/s", peaks->source,
                            matrix / 1e12, vector / 1e12, bandwidth / 1e9);
    return arena_printf(&chart->arena, "peaks by %s: %.1f TFLOP/s, %.0f GB/s", peaks->source,
                        fmax(matrix, vector) / 1e12, bandwidth / 1e9);
}

/* Above both roofs and the dots, below the slowest dot; from the least intensity to right of the ridge. */
static void set_axes(struct chart *chart, double least_tflops, double least, double most, double peak_tflops)
{
    chart->x.has_least = chart->x.has_most = true;
    chart->x.least = least / 1.5;
    chart->x.most = most * 1.5;
    chart->y.has_least = chart->y.has_most = true;
    chart->y.least = least_tflops * 1e12 / 1.5;
    chart->y.most = peak_tflops * 1e12 * 1.5;
}

static void add_roofs(struct chart *chart, const struct chart_request *request,
                      const struct roofline *roofline, const struct extent *extent)
{
    const struct device_peaks *peaks = known_peaks(roofline);
    enum peak_rate rate = main_rate(roofline);
    bool given = request->peak_flops > 0;
    double bandwidth = request->peak_bandwidth > 0 ? request->peak_bandwidth : peaks ? peaks->bandwidth : 0;
    double matrix = given ? request->peak_flops : peaks && rate != PEAK_NONE ? peaks->flops[rate] : 0;
    double vector = !given && peaks ? peaks->flops[PEAK_FP32] : 0;
    if (bandwidth <= 0 || (matrix <= 0 && vector <= 0)) {
        chart->note = "what the device can do is not known: give it with --peak-flops and --peak-bandwidth";
        set_axes(chart, extent->least[1], extent->least[0], extent->most[0], extent->most[1]);
        return;
    }
    double least = extent->least[0], most = fmax(extent->most[0], fmax(matrix, vector) / bandwidth * 2);
    set_axes(chart, extent->least[1], least, most, fmax(extent->most[1], fmax(matrix, vector) / 1e12));
    if (matrix > 0)
        add_roof(chart,
                 given ? "Peak"
                       : arena_printf(&chart->arena, "Peak, %s on matrix units", peak_rate_name(rate)),
                 CHART_GREY, matrix / 1e9, bandwidth / 1e9, least, most);
    if (vector > 0)
        add_roof(chart, "Peak, float32 on vector units", CHART_PALE, vector / 1e9, bandwidth / 1e9, least,
                 most);
    if (!given && peaks)
        chart->note = record_of(chart, peaks, matrix, vector, bandwidth);
}

/* How much of the device time the dots stand for, and what lies outside. */
static void roofline_describe_shares(struct chart *chart, const struct roofline *roofline,
                                     const struct extent *extent)
{
    int64_t shown_ns = 0, time_ns = roofline->time_ns;
    for (size_t i = 0; i < roofline->rows.count; i++)
        if (has_place(&roofline->rows.at[i]))
            shown_ns += roofline->rows.at[i].time_ns;
    SCOPED struct buffer note = { 0 };
    if (time_ns > 0)
        buffer_printf(&note, "the dots are %.1f %% of the device time; ",
                      quantity_percent((double)shown_ns / (double)time_ns));
    buffer_puts(&note, "the area of a dot is its time");
    if (extent->beyond)
        buffer_printf(&note, "; left out, as they lie far below: %zu with %.1f %% of the time of all",
                      extent->beyond, quantity_percent(extent->beyond_share));
    if (chart->note)
        buffer_printf(&note, "; %s", chart->note);
    chart->note = arena_strndup(&chart->arena, note.at, note.count);
}

static bool roofline_draw(const struct chart_request *request, struct picture *picture, struct tpa_error *err)
{
    SCOPED_OBJECT const struct roofline *roofline =
        roofline_analyze(request->trace, request->selection, ROOFLINE_BY_DEFAULT, NULL);
    bool any = false;
    for (size_t i = 0; i < roofline->rows.count && !any; i++)
        any = has_place(&roofline->rows.at[i]);
    if (any) {
        struct chart *chart = picture_add_chart(picture, "roofline", "Operators and the roof of the device");
        chart->x = (struct chart_axis){
            .title = "Operations for each byte", .kind = TABLE_NUMBER, .unit = "FLOP/B", .log = true
        };
        chart->y = (struct chart_axis){ .title = "Operations per second", .kind = TABLE_FLOPS, .log = true };
        struct extent extent = find_extent(roofline);
        add_dots(chart, roofline, &extent);
        add_roofs(chart, request, roofline, &extent);
        roofline_describe_shares(chart, roofline, &extent);
    }
    return chart_is_drawn(
        picture, err,
        "no operator has known operations, bytes and time; shapes are needed (record_shapes=True)");
}

const struct chart_type chart_type_roofline = {
    .name = "roofline",
    .title = "Roofline",
    .help = "operations per second against operations per byte, below what the device can do",
    .wants = { &roofline_wants },
    .needs = FEATURE_SHAPES,
    .draw = roofline_draw,
};
