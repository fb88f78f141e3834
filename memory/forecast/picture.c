
#include "memory/forecast/forecast.h"
#include <inttypes.h>
#include <math.h>

/* A forecast at one size. */
struct peak_point {
    double size;
    int64_t by_kind[GROWTH_KINDS]; /* of the peak */
    int64_t reserved_bytes, capacity_bytes;
    int64_t recorded_bytes; /* missing if no recording has the size */
};

/* clang-format off */
#define KIND_COLUMN(kind, key, title) \
    COLUMN(struct peak_point, by_kind[kind], key, title, TABLE_BYTES, "bytes of the peak whose growth is " key)
static const struct table_column columns[] = {
    COLUMN(struct peak_point, size, "size", "Size", TABLE_NUMBER, "the size"),
    KIND_COLUMN(GROWTH_CONSTANT, "constant", "Constant"),
    KIND_COLUMN(GROWTH_LINEAR, "linear", "Linear"),
    KIND_COLUMN(GROWTH_QUADRATIC, "quadratic", "Quadratic"),
    KIND_COLUMN(GROWTH_PRODUCT, "product", "Product of sizes"),
    KIND_COLUMN(GROWTH_AFFINE, "affine", "Affine"),
    KIND_COLUMN(GROWTH_MIXED, "mixed", "Mixed"),
    KIND_COLUMN(GROWTH_IRREGULAR, "irregular", "Irregular"),
    COLUMN(struct peak_point, reserved_bytes, "reserved", "Reserved by the allocator", TABLE_BYTES, "what the caching allocator holds then"),
    COLUMN(struct peak_point, capacity_bytes, "capacity", "Capacity", TABLE_BYTES, "as given"),
    COLUMN(struct peak_point, recorded_bytes, "recorded", "Recorded", TABLE_BYTES, "the peak that was recorded"),
};
/* clang-format on */
enum {
    COLUMN_SIZE,
    COLUMN_KINDS,
    COLUMN_RESERVED = COLUMN_KINDS + GROWTH_KINDS,
    COLUMN_CAPACITY,
    COLUMN_RECORDED
};

struct curve {
    const struct forecast_device *device;
    double sizes[FORECAST_SIZES]; /* the other sizes */
    size_t number;                /* of the size that varies */
    const char *name;
    int64_t capacity, largest; /* 0: not given */
    struct chart *chart;
    struct table *table;
    int64_t used[GROWTH_KINDS];
    const char *why; /* not sure at some size */
};

/* The peak of the recording of size VALUE and with the other sizes of CURVE. */
static int64_t recorded_peak(const struct curve *curve, double value)
{
    FOR_EACH(recording, &curve->device->recordings) {
        bool same = recording->size[curve->number] == value;
        for (size_t i = 0; i < FORECAST_SIZES; i++)
            same &= i == curve->number || recording->size[i] == curve->sizes[i];
        if (same)
            return recording->peak_bytes;
    }
    return TABLE_INT_MISSING;
}

static void curve_add(struct curve *curve, double value)
{
    curve->sizes[curve->number] = value;
    SCOPED_OBJECT struct forecast *forecast =
        forecast_at(curve->device->recordings.at, curve->device->recordings.count, curve->sizes);
    struct peak_point point = { .size = value,
                                .reserved_bytes = forecast->reserved_bytes,
                                .capacity_bytes = curve->capacity ? curve->capacity : TABLE_INT_MISSING,
                                .recorded_bytes = recorded_peak(curve, value) };
    for (size_t i = 0; i < forecast->grown.count; i++)
        for (int kind = 0; kind < GROWTH_KINDS; kind++)
            point.by_kind[kind] += forecast->grown.at[i].by_kind[kind];
    for (int kind = 0; kind < GROWTH_KINDS; kind++)
        curve->used[kind] += point.by_kind[kind];
    curve->why = curve->why ? curve->why : forecast->why;
    table_add_rows(curve->table, &point, 1, sizeof point);
    if (value == (double)curve->largest)
        chart_add_label(curve->chart, value,
                        (double)(forecast->reserved_bytes == TABLE_INT_MISSING ? forecast->peak_bytes
                                                                               : forecast->reserved_bytes),
                        arena_printf(&curve->chart->arena, "%s %" PRId64 " fits, %" PRId64 " does not",
                                     curve->name, curve->largest, curve->largest + 1));
}

/* Add whole sizes from LEAST to MOST, evenly, and those at which something is known. */
static void curve_add_points(struct curve *curve, double least, double most)
{
    enum { POINTS = 48 };
    const struct forecast_device *device = curve->device;
    double at = least;
    size_t i = 0;
    while (at <= most) {
        curve_add(curve, at);
        double known = INFINITY; /* the next */
        for (size_t r = 0; r < device->recordings.count; r++)
            if (device->recordings.at[r].size[curve->number] > at)
                known = fmin(known, device->recordings.at[r].size[curve->number]);
        for (int64_t next = curve->largest; next && next <= curve->largest + 1; next++)
            if ((double)next > at)
                known = fmin(known, (double)next);
        while (i <= POINTS && floor(least + (most - least) * (double)i / POINTS) <= at)
            i++;
        if (i <= POINTS)
            known = fmin(known, floor(least + (most - least) * (double)i / POINTS));
        at = fmax(known, at + 1e-9);
    }
}

static void curve_add_series(struct curve *curve)
{
    static const enum chart_color colors[GROWTH_KINDS] = {
        [GROWTH_CONSTANT] = CHART_BLUE,  [GROWTH_LINEAR] = CHART_SKY,   [GROWTH_QUADRATIC] = CHART_PURPLE,
        [GROWTH_PRODUCT] = CHART_GREEN,  [GROWTH_AFFINE] = CHART_OLIVE, [GROWTH_MIXED] = CHART_GREY,
        [GROWTH_IRREGULAR] = CHART_PALE,
    };
    struct chart_series series = { .mark = CHART_AREA, .table = curve->table, .x = COLUMN_SIZE };
    bool has_reserved = false;
    for (size_t kind = 0; kind < GROWTH_KINDS; kind++)
        if (curve->used[kind]) {
            series.title = columns[COLUMN_KINDS + kind].title;
            series.color = colors[kind];
            series.y = COLUMN_KINDS + kind;
            chart_add_series(curve->chart, series);
        }
    for (size_t row = 0; row < curve->table->row_count; row++)
        has_reserved |= !isnan(chart_value(curve->table, row, COLUMN_RESERVED));
    series.mark = CHART_STAIRS;
    for (size_t column = COLUMN_RESERVED; column <= COLUMN_RECORDED; column++) {
        if (column == COLUMN_RESERVED ? !has_reserved : column == COLUMN_CAPACITY && !curve->capacity)
            continue;
        series.mark = column == COLUMN_RECORDED ? CHART_POINT : CHART_STAIRS;
        series.color = column == COLUMN_CAPACITY ? CHART_VERMILION : CHART_ORANGE;
        series.title = columns[column].title;
        series.y = column;
        chart_add_series(curve->chart, series);
    }
}

/* Draw DEVICE over size NUMBER; SIZES are the others, and MOST the largest target. */
static void draw_device(const struct forecast_query *query, const struct forecast_device *device,
                        size_t number, const double *sizes, double most, int64_t capacity,
                        struct picture *picture)
{
    enum { FAR = 64 }; /* times the largest recorded size: what fits beyond is not drawn */
    double least = INFINITY, recorded = 0;
    struct curve curve = { .device = device,
                           .number = number,
                           .name = query->size_names[number],
                           .capacity = capacity,
                           .chart = picture_add_chart(picture, "forecast", NULL) };
    struct arena *arena = &curve.chart->arena;
    curve.name = arena_printf(arena, "%s", curve.name); /* a picture outlives its query */
    memcpy(curve.sizes, sizes, sizeof curve.sizes);
    for (size_t r = 0; r < device->recordings.count; r++) {
        least = fmin(least, device->recordings.at[r].size[number]);
        recorded = fmax(recorded, device->recordings.at[r].size[number]);
    }
    int64_t largest = capacity ? forecast_largest(device, sizes, number, capacity) : 0;
    curve.largest = (double)largest <= FAR * recorded ? largest : 0;
    most = fmax(fmax(most, recorded), ceil(1.1 * (double)curve.largest));
    curve.table =
        chart_add_table(curve.chart, TABLE_OF_ROWS("forecast", NULL, columns, (struct peak_point *)NULL, 0));
    curve.chart->key = arena_printf(arena, "forecast_%zu", picture->charts.count);
    curve.chart->title =
        device->is_host ? arena_printf(arena, "Peak of the host's memory by %s", curve.name)
                        : arena_printf(arena, "Peak of device %" PRId64 " by %s", device->id, curve.name);
    curve.chart->x =
        (struct chart_axis){ .title = arena_printf(arena, "%s", curve.name), .kind = TABLE_NUMBER };
    curve.chart->y = (struct chart_axis){ .title = "Memory", .kind = TABLE_BYTES, .has_least = true };
    curve_add_points(&curve, least, most);
    curve_add_series(&curve);
    SCOPED struct buffer note = { 0 };
    for (size_t i = 0; i < query->size_count; i++)
        if (i != number)
            buffer_printf(&note, "%s%s=%g", note.count ? ", " : "at ", query->size_names[i], sizes[i]);
    if (capacity && largest == 0)
        buffer_printf(&note, "%sno %s fits", note.count ? "; " : "", curve.name);
    if (curve.why)
        buffer_printf(&note, "%snot sure: %s", note.count ? "; " : "", curve.why);
    curve.chart->note = note.count ? arena_strndup(arena, note.at, note.count) : NULL;
}

bool forecast_draw(struct forecast_query *query, const char *const *targets, size_t count, int64_t capacity,
                   struct picture *picture, struct tpa_error *err)
{
    double most[FORECAST_SIZES] = { 0 }, first[FORECAST_SIZES] = { 0 }, target[FORECAST_SIZES];
    if (!forecast_prepare(query, err))
        return false;
    for (size_t t = 0; t < count; t++) {
        if (!forecast_read_target(query, targets[t], target, err))
            return false;
        for (size_t i = 0; i < FORECAST_SIZES; i++) {
            first[i] = t ? first[i] : target[i];
            most[i] = fmax(most[i], target[i]);
        }
    }
    FOR_EACH(device, &query->devices) {
        const struct forecast_recording *largest = &device->recordings.at[0];
        for (size_t r = 1; r < device->recordings.count; r++)
            if (device->recordings.at[r].peak_bytes > largest->peak_bytes)
                largest = &device->recordings.at[r];
        for (size_t i = 0; i < query->size_count; i++)
            if (forecast_size_varies(device, i))
                draw_device(query, device, i, count ? first : largest->size, most[i], capacity, picture);
    }
    return picture->charts.count ||
           tpa_fail(err, TPA_NOWHERE, "there is nothing to draw: all recordings have the same sizes");
}
