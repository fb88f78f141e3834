#include "report/chart_scale.h"

#include "base/sum.h"
#include "report/figures.h"
#include <math.h>

/* ---- from where to where ---- */

static void reach(struct chart_scale *scale, double value)
{
    if (isnan(value) || (scale->log && value <= 0))
        return;
    if (isnan(scale->least) || value < scale->least)
        scale->least = value;
    if (isnan(scale->most) || value > scale->most)
        scale->most = value;
}

bool chart_edges(const struct chart *chart, size_t s, size_t row, double *tops, double *low, double *high)
{
    const struct chart_series *series = &chart->series.at[s];
    double y = chart_value(series->table, row, series->y);
    if (series->mark == CHART_SPAN || series->mark == CHART_BAND) {
        double from = chart_value(series->table, row, series->low);
        *low = fmin(from, y);
        *high = fmax(from, y);
        return !isnan(from) && !isnan(y);
    }
    *low = tops[row];
    *high = tops[row] + y;
    if (isnan(y))
        return false;
    tops[row] = *high;
    return true;
}

bool chart_category_figure(const struct chart *chart, size_t i, double *top, struct buffer *out)
{
    int64_t whole = 0;
    double sum = 0;
    bool any = false;
    *top = 0;
    for (size_t s = 0; s < chart->series.count; s++) {
        const struct chart_series *series = &chart->series.at[s];
        bool is_span = series->mark == CHART_SPAN;
        if (table_is_missing(series->table, i, series->y) ||
            (is_span && table_is_missing(series->table, i, series->low)))
            continue;
        any = true;
        double from = is_span ? chart_value(series->table, i, series->low) : 0;
        double to = chart_value(series->table, i, series->y);
        sum += to - from;
        if (!table_is_number(chart->y.kind))
            sum_add(&whole, sum_plus(table_cell(series->table, i, series->y)->i,
                                     is_span ? -table_cell(series->table, i, series->low)->i : 0));
        *top = is_span ? fmax(*top, fmax(from, to)) : sum;
    }
    union table_cell cell = table_is_number(chart->y.kind) ? table_number(sum) : table_int(whole);
    if (any)
        figure_add(out, chart->y.kind, &cell, TIME_FITTING);
    return any;
}

static void reach_series(struct chart_scale *scale, const struct chart *chart, size_t s, double *tops)
{
    const struct chart_series *series = &chart->series.at[s];
    for (size_t row = 0; row < series->table->row_count; row++) {
        double low, high;
        switch (series->mark) {
        case CHART_LINE:
        case CHART_STAIRS:
        case CHART_POINT: reach(scale, chart_value(series->table, row, series->y)); break;
        default:
            if (chart_edges(chart, s, row, tops, &low, &high)) {
                reach(scale, low);
                reach(scale, high);
            }
        }
    }
}

static size_t most_rows(const struct chart *chart)
{
    size_t most = 0;
    for (size_t s = 0; s < chart->series.count; s++)
        if (chart->series.at[s].table->row_count > most)
            most = chart->series.at[s].table->row_count;
    return most;
}

/* The least of 1, 1.2, 1.5, 2 ... times a power of ten that VALUE > 0 does not pass. */
static double round_end(double value)
{
    static const double steps[] = { 1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10 };
    double power = pow(10, floor(log10(value)));
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (steps[i] * power >= value * (1 - 1e-9))
            return steps[i] * power;
    return 10 * power;
}

/* Powers of two for bytes, of ten for the rest, and some room beyond the outermost dots. */
static void widen_log(struct chart_scale *scale, const struct chart_axis *axis)
{
    double base = scale->kind == TABLE_BYTES ? 2 : 10;
    if (!axis->has_least)
        scale->least = pow(base, floor(log(scale->least) / log(base) - 0.05));
    if (!axis->has_most)
        scale->most = pow(base, ceil(log(scale->most) / log(base) + 0.05));
}

static void choose_unit(struct chart_scale *scale, const struct chart_axis *axis)
{
    static const struct {
        double size;
        const char *word;
    } times[] = { { 1e9, "s" }, { 1e6, "ms" }, { 1e3, "us" }, { 1, "ns" } },
      sizes[] = { { 1099511627776.0, "TB" },
                  { 1073741824, "GB" },
                  { 1048576, "MB" },
                  { 1024, "KB" },
                  { 1, "B" } },
      operations[] = {
          { 1e12, "TFLOP" }, { 1e9, "GFLOP" }, { 1e6, "MFLOP" }, { 1e3, "kFLOP" }, { 1, "FLOP" }
      };
    double size = fmax(fabs(scale->least), fabs(scale->most));
    size_t i = 0;
    scale->divisor = 1;
    scale->unit = axis->unit;
    if (scale->log)
        return;
    switch (scale->kind) {
    case TABLE_NS:
    case TABLE_MOMENT:
        while (i < 3 && size < times[i].size)
            i++;
        scale->divisor = times[i].size;
        scale->unit = times[i].word;
        break;
    case TABLE_BYTES:
        while (i < 4 && size < sizes[i].size)
            i++;
        scale->divisor = sizes[i].size;
        scale->unit = sizes[i].word;
        break;
    case TABLE_FLOPS:
        while (i < 4 && size < operations[i].size)
            i++;
        scale->divisor = operations[i].size;
        scale->unit = operations[i].word;
        break;
    case TABLE_SHARE:
        scale->divisor = 0.01;
        scale->unit = "%";
        break;
    default: break;
    }
}

/* FROM_ZERO: the axis begins at 0 and ends at a round figure; else it is as long as its figures. */
static void finish(struct chart_scale *scale, const struct chart_axis *axis, bool from_zero)
{
    if (isnan(scale->least)) {
        scale->least = scale->log ? 1 : 0;
        scale->most = scale->log ? 10 : 1;
    }
    if (axis->has_least)
        scale->least = axis->least;
    if (axis->has_most)
        scale->most = axis->most;
    if (scale->log) {
        widen_log(scale, axis);
    } else if (from_zero) {
        if (!axis->has_least && scale->least > 0)
            scale->least = 0;
    }
    if (!(scale->most > scale->least))
        scale->most = scale->least + (scale->kind == TABLE_SHARE ? 0.01 : 1);
    choose_unit(scale, axis);
    if (scale->log || !from_zero)
        return;
    if (!axis->has_most && scale->most > 0 && !axis->has_least)
        scale->most = round_end(scale->most / scale->divisor) * scale->divisor;
    if (!axis->has_least && scale->least < 0)
        scale->least = -round_end(-scale->least / scale->divisor) * scale->divisor;
}

static struct chart_scale new_scale(const struct chart_axis *axis)
{
    return (struct chart_scale){ .least = NAN, .most = NAN, .log = axis->log, .kind = axis->kind };
}

struct chart_scale chart_scale_x(const struct chart *chart)
{
    struct chart_scale scale = new_scale(&chart->x);
    if (chart_has_categories(chart)) {
        size_t count = chart_category_count(chart);
        return (struct chart_scale){
            .least = -0.5, .most = (double)(count ? count : 1) - 0.5, .kind = TABLE_NAME, .divisor = 1
        };
    }
    for (size_t s = 0; s < chart->series.count; s++) {
        const struct chart_series *series = &chart->series.at[s];
        for (size_t row = 0; row < series->table->row_count; row++) {
            reach(&scale, chart_value(series->table, row, series->x));
            if (series->mark == CHART_BOX)
                reach(&scale, chart_value(series->table, row, series->low));
        }
    }
    finish(&scale, &chart->x, false);
    return scale;
}

struct chart_scale chart_scale_y(const struct chart *chart)
{
    struct chart_scale scale = new_scale(&chart->y);
    size_t lines = chart_box_lines(chart);
    if (lines)
        return (struct chart_scale){ .least = 0, .most = (double)lines, .kind = chart->y.kind, .divisor = 1 };
    double *tops = mem_zalloc(most_rows(chart) + 1, sizeof *tops);
    for (size_t s = 0; s < chart->series.count; s++)
        reach_series(&scale, chart, s, tops);
    for (size_t i = 0; i < chart->labels.count; i++) /* room for the texts above */
        if (!chart->y.log)
            reach(&scale, chart->labels.at[i].y * 1.1);
    free(tops);
    finish(&scale, &chart->y, true);
    return scale;
}

double chart_scale_place(const struct chart_scale *scale, double value)
{
    if (!scale->log)
        return (value - scale->least) / (scale->most - scale->least);
    return value > 0 ? log(value / scale->least) / log(scale->most / scale->least) : NAN;
}

/* ---- ticks ---- */

/* 1, 2 and 5 times powers of ten, for axes that are too short for powers alone. */
static size_t short_log_ticks(const struct chart_scale *scale, double tick[CHART_MOST_TICKS])
{
    static const double factors[] = { 1, 2, 5 };
    size_t count = 0;
    for (int power = (int)floor(log10(scale->least)); pow(10, power) <= scale->most; power++)
        for (size_t i = 0; i < 3; i++) {
            double at = factors[i] * pow(10, power);
            if (at >= scale->least && at <= scale->most && count < CHART_MOST_TICKS)
                tick[count++] = at;
        }
    return count;
}

static size_t log_ticks(const struct chart_scale *scale, size_t wanted, double tick[CHART_MOST_TICKS])
{
    double base = scale->kind == TABLE_BYTES ? 2 : 10;
    int first = (int)ceil(log(scale->least) / log(base) - 1e-9);
    int last = (int)floor(log(scale->most) / log(base) + 1e-9), step = 1;
    if (base > 2 && last - first < 2)
        return short_log_ticks(scale, tick);
    while (last - first >= step * (int)wanted || (last - first) / step >= CHART_MOST_TICKS)
        step += base < 3 && step >= 5 ? 5 : 1;
    size_t count = 0;
    for (int power = first; power <= last; power++)
        if (power % step == 0)
            tick[count++] = pow(base, power);
    return count;
}

size_t chart_scale_ticks(const struct chart_scale *scale, size_t wanted, double tick[CHART_MOST_TICKS])
{
    if (wanted < 2)
        wanted = 2;
    if (wanted > CHART_MOST_TICKS - 2)
        wanted = CHART_MOST_TICKS - 2;
    if (scale->log)
        return log_ticks(scale, wanted, tick);
    double least = scale->least / scale->divisor, most = scale->most / scale->divisor;
    double step = pow(10, floor(log10((most - least) / (double)wanted)));
    static const double factors[] = { 2, 2.5, 2 }; /* 1, 2, 5, 10 */
    for (size_t i = 0; (most - least) / step > (double)wanted * (1 + 1e-9); i++)
        step *= factors[i % 3];
    if (scale->kind == TABLE_COUNT && step < 1)
        step = 1;
    size_t count = 0;
    double n = ceil(least / step - 1e-9);
    while (n * step <= most * (1 + 1e-9) + 1e-12 && count < CHART_MOST_TICKS)
        tick[count++] = n++ * step * scale->divisor;
    return count;
}

bool *chart_bars_shown(const struct chart *chart, size_t columns)
{
    size_t count = chart_category_count(chart);
    bool *shown = mem_zalloc(count + 1, sizeof *shown);
    if (count <= columns) {
        memset(shown, true, count);
        return shown;
    }
    double *height = mem_zalloc(count, sizeof *height);
    for (size_t s = 0; s < chart->series.count; s++) {
        const struct chart_series *series = &chart->series.at[s];
        for (size_t i = 0; i < count; i++) {
            double y = chart_value(series->table, i, series->y);
            height[i] += isnan(y) ? 0 : y;
        }
    }
    for (size_t c = 0; c < columns; c++) {
        size_t highest = c * count / columns;
        for (size_t i = highest + 1; i < (c + 1) * count / columns; i++)
            highest = height[i] > height[highest] ? i : highest;
        shown[highest] = true;
    }
    free(height);
    return shown;
}

double chart_most_size(const struct chart *chart)
{
    double most = 0;
    for (size_t s = 0; s < chart->series.count; s++) {
        const struct chart_series *series = &chart->series.at[s];
        for (size_t i = 0; series->size && i < series->table->row_count; i++)
            most = fmax(most, chart_value(series->table, i, series->size));
    }
    return most;
}

double chart_dot_diameter(double size, double most)
{
    enum { SMALLEST = 5, LARGEST = 40 };
    return size > 0 && most > 0 ? fmax(SMALLEST, LARGEST * sqrt(size / most)) : SMALLEST;
}

size_t chart_label_step(size_t count, size_t most)
{
    static const size_t factors[] = { 2, 5, 10 };
    size_t power = 1, step = 1;
    for (size_t i = 0; most > 0 && (count + step - 1) / step > most; i++) {
        step = power * factors[i % 3];
        power *= i % 3 == 2 ? 10 : 1;
    }
    return step;
}

size_t chart_scale_names(const struct chart *chart, size_t wanted, size_t row[CHART_MOST_TICKS])
{
    if (chart->x.names == 0 || chart->series.count == 0)
        return 0;
    size_t rows = chart->series.at[0].table->row_count, count = 0;
    if (wanted > CHART_MOST_TICKS)
        wanted = CHART_MOST_TICKS;
    size_t step = 1 + (wanted ? (rows - (rows > 0)) / wanted : rows);
    for (size_t i = (rows - (rows > 0)) % step; i < rows && count < CHART_MOST_TICKS; i += step)
        row[count++] = i; /* the last one always */
    return count;
}

void chart_scale_add_tick(struct buffer *out, const struct chart_scale *scale, double tick)
{
    static const char *const sizes[] = { "B", "KB", "MB", "GB", "TB", "PB" };
    static const char *const times[] = { "ns", "us", "ms", "s" };
    static const char *const operations[] = { "FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP", "PFLOP" };
    static const char *const rates[] = { "B/s", "KB/s", "MB/s", "GB/s", "TB/s" };
    int unit = 0;
    double shown = tick / scale->divisor;
    if (scale->log && scale->kind == TABLE_BYTES) {
        for (; shown >= 1024 && unit < 5; unit++)
            shown /= 1024;
        buffer_printf(out, "%.6g %s", shown, sizes[unit]);
    } else if (scale->log && table_is_time(scale->kind)) {
        for (; shown >= 999.5 && unit < 3; unit++)
            shown /= 1000;
        buffer_printf(out, "%.6g%s", shown, times[unit]);
    } else if (scale->log && scale->kind == TABLE_FLOPS) {
        for (; shown >= 999.5 && unit < 5; unit++)
            shown /= 1000;
        buffer_printf(out, "%.6g %s", shown, operations[unit]);
    } else if (scale->log && scale->kind == TABLE_RATE) {
        for (shown *= 1e9; shown >= 999.5 && unit < 4; unit++)
            shown /= 1000;
        buffer_printf(out, "%.6g %s", shown, rates[unit]);
    } else {
        buffer_printf(out, fabs(shown) < 1e7 ? "%.7g" : "%.3g", fabs(shown) < 1e-12 ? 0.0 : shown);
    }
}

void chart_scale_add_title(struct buffer *out, const struct chart_scale *scale, const struct chart_axis *axis)
{
    if (axis->title == NULL)
        return;
    buffer_puts(out, axis->title);
    if (scale->unit)
        buffer_printf(out, " (%s)", scale->unit);
}
