/*
 * gnuplot.c - see gnuplot.h: pictures in pixels. Text for terminals is in plain_text.c.
 *
 * Bars are boxes with given edges, areas are filled between two curves: stacking, ranges and ticks are computed here
 * and not left to gnuplot, so that a picture depends on its version as little as possible.
 */
#include "report/gnuplot.h"

#include "base/escape.h"
#include "report/chart_labels.h"
#include "report/figures.h"
#include "report/chart_scale.h"
#include "report/shorten.h"
#include "report/thin.h"
#include <inttypes.h>
#include <math.h>

enum {
    DEFAULT_WIDTH = 960,
    CHART_HEIGHT = 400,
    BAR_HEIGHT = 24,    /* of a lying bar, with what is between */
    FRAME_HEIGHT = 104, /* of a chart of lying bars without them */
    BELOW_AXIS = 58,    /* ticks and title of the lower axis */
    LEGEND_HEIGHT = 24, /* of a line of the legend */
    LONGEST_LABEL = 56, /* of a category, in characters */
    LONGEST_TITLE = 100,
    LONGEST_LEGEND = 40,
    STANDING_LABEL_WIDTH = 40, /* pixels that a label below a standing bar gets at least */
    NAME_WIDTH = 160,          /* the same of the name of a row below a line */
    BOX_LINE = 20,             /* pixels of a line of boxes */
    LETTER = 7,
};

/* A script in the making: its texts, its data blocks, its commands. */
struct script {
    const struct gnuplot_options *options;
    struct buffer texts, blocks, commands;
    size_t text_count;
    const struct chart *chart; /* the one at hand */
    size_t number;             /* of it, from 1 */
    bool horizontal;           /* its bars lie */
    struct chart_scale x, y;
};

/* ---- texts ---- */

/* Begin the next chart: fill in what is about it. */
static void begin_chart(struct script *parts, const struct chart *chart, bool horizontal)
{
    parts->chart = chart;
    parts->number++;
    parts->horizontal = horizontal;
    parts->x = chart_scale_x(chart);
    parts->y = chart_scale_y(chart);
}

/* The texts of ticks are formats to gnuplot, so a % is doubled. */
enum text_use { TEXT_PLAIN, TEXT_LABEL, TEXT_CATEGORY };

static size_t keep_shown(struct script *parts, const struct buffer *shown, enum text_use use)
{
    buffer_putc(&parts->texts, ':');
    for (size_t i = 0; i < shown->count; i++) {
        if (use == TEXT_CATEGORY && shown->at[i] == '%')
            buffer_putc(&parts->texts, '%');
        buffer_putc(&parts->texts, shown->at[i]);
    }
    buffer_putc(&parts->texts, '\n');
    return ++parts->text_count;
}

static size_t keep_text(struct script *parts, const char *text, size_t len, size_t max, enum text_use use)
{
    struct buffer safe = { 0 }, shown = { 0 };
    escape_terminal(&safe, text, len);
    if (use != TEXT_PLAIN)
        shorten_name(&shown, safe.at ? safe.at : "", safe.count, max);
    else
        shorten_middle(&shown, safe.at ? safe.at : "", safe.count, max);
    size_t number = keep_shown(parts, &shown, use);
    EACH(buffer_release, &safe, &shown);
    return number;
}

static size_t plain_text(struct script *parts, const char *text, size_t len, size_t max)
{
    return keep_text(parts, text, len, max, TEXT_PLAIN);
}

/* Of category I: from LABELS where it lies, else in at most MAX columns. */
static size_t category_text(struct script *parts, struct chart_labels *labels, size_t i, size_t max)
{
    if (labels) {
        struct buffer shown = { 0 };
        chart_labels_add(labels, &shown, i);
        size_t number = keep_shown(parts, &shown, TEXT_CATEGORY);
        buffer_release(&shown);
        return number;
    }
    const struct chart_series *series = &parts->chart->series.at[0];
    const union table_cell *cell = table_cell(series->table, i, series->x);
    return keep_text(parts, cell->text.at ? cell->text.at : "", cell->text.len, max, TEXT_CATEGORY);
}

static size_t title_text(struct script *parts, const struct picture *picture, size_t max)
{
    enum { LEAST_SOURCE = 20 };
    struct buffer safe = { 0 }, title = { 0 };
    size_t width = strlen(parts->chart->title);
    buffer_puts(&title, parts->chart->title);
    if (picture->source && width + LEAST_SOURCE < max) {
        escape_terminal(&safe, picture->source, strlen(picture->source));
        buffer_puts(&title, " - ");
        shorten_middle(&title, safe.at ? safe.at : "", safe.count, max - width - 3);
    }
    size_t text = plain_text(parts, title.at, title.count, max);
    EACH(buffer_release, &safe, &title);
    return text;
}

static void begin_label(struct script *parts, size_t text)
{
    buffer_printf(&parts->commands, "set label %zu Text(%zu) at ", text, text);
}

static size_t label_text(struct script *parts, const struct chart_label *label, size_t max)
{
    struct buffer text = { 0 };
    figure_add_value(&text, parts->y.kind, label->y);
    buffer_printf(&text, "  %s", label->text);
    size_t number = plain_text(parts, text.at, text.count, max);
    buffer_release(&text);
    return number;
}

static bool has_legend(const struct chart *chart)
{
    for (size_t s = 0; s < chart->series.count; s++)
        if (chart->series.at[s].title)
            return true;
    return false;
}

static void add_figure(struct buffer *out, double value)
{
    if (isnan(value))
        buffer_puts(out, "NaN");
    else
        buffer_printf(out, "%.12g", value);
}

/* ---- data blocks ---- */

static void add_cells(struct buffer *out, const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (i)
            buffer_putc(out, ' ');
        add_figure(out, values[i]);
    }
    buffer_putc(out, '\n');
}

static size_t width_of(const struct script *parts)
{
    return parts->options->width ? parts->options->width : DEFAULT_WIDTH;
}

/* Lines "place low high". */
static void add_bars(struct script *parts, size_t s, double *tops, const bool *chosen)
{
    const struct table *table = parts->chart->series.at[s].table;
    for (size_t i = 0; i < table->row_count; i++) {
        double low, high;
        if (chart_edges(parts->chart, s, i, tops, &low, &high) && chosen[i] && high != low)
            add_cells(&parts->blocks,
                      (double[]){ (double)i, low / parts->y.divisor, high / parts->y.divisor }, 3);
    }
}

/* Lines "x low high". An area has upright edges: where it changes there are two lines, what was and what is from there
 * on; the last row closes what holds to the end. An empty line is a break. */
static void add_areas(struct script *parts, size_t s, double *tops)
{
    const struct chart_series *series = &parts->chart->series.at[s];
    bool is_area = series->mark == CHART_AREA, drawing = false;
    double low = NAN, high = NAN;
    for (size_t i = 0; i < series->table->row_count; i++) {
        double x = chart_value(series->table, i, series->x) / parts->x.divisor, edges[2];
        bool drawn = chart_edges(parts->chart, s, i, tops, &edges[0], &edges[1]),
             is_last = i + 1 == series->table->row_count;
        edges[0] /= parts->y.divisor;
        edges[1] /= parts->y.divisor;
        if (is_area && drawing && drawn && !is_last && edges[0] == low && edges[1] == high)
            continue; /* it goes on as it was */
        if (is_area && drawing)
            add_cells(&parts->blocks, (double[]){ x, low, high }, 3);
        low = edges[0];
        high = edges[1];
        drawing = drawn;
        if (drawn)
            add_cells(&parts->blocks, (double[]){ x, low, high }, 3);
        else
            buffer_putc(&parts->blocks, '\n');
    }
}

/* In the unit of `pointsize`. */
static double dot_size(const struct chart_series *series, size_t row, double most)
{
    return series->size ? chart_dot_diameter(chart_value(series->table, row, series->size), most) / 8 : 1;
}

/* Lines "x y", with the size of the dot where there is one; thinned; an empty one is a break. */
static void add_points(struct script *parts, size_t s)
{
    const struct chart_series *series = &parts->chart->series.at[s];
    size_t count = series->table->row_count, columns = width_of(parts);
    double *x = mem_alloc(mem_times(count + 1, sizeof *x)), *y = mem_alloc(mem_times(count + 1, sizeof *y));
    double *place[2] = { mem_alloc(mem_times(count + 1, sizeof(double))),
                         mem_alloc(mem_times(count + 1, sizeof(double))) };
    size_t *kept = mem_alloc(mem_times(count + 1, sizeof *kept)), kept_count;
    double most = chart_most_size(parts->chart);
    for (size_t i = 0; i < count; i++) {
        x[i] = chart_value(series->table, i, series->x);
        y[i] = chart_value(series->table, i, series->y);
        place[0][i] = chart_scale_place(&parts->x, x[i]);
        place[1][i] = chart_scale_place(&parts->y, y[i]);
    }
    if (series->mark == CHART_POINT && series->size) /* few, and none is to hide another */
        for (kept_count = 0; kept_count < count; kept_count++)
            kept[kept_count] = kept_count;
    else if (series->mark == CHART_POINT)
        kept_count = thin_dots(place[0], place[1], count, (double[]){ 0, 0 }, (double[]){ 1, 1 }, columns / 2,
                               CHART_HEIGHT / 2, kept);
    else
        kept_count = thin_line(place[0], y, count, 0, 1, columns, kept);
    for (size_t k = 0; k < kept_count; k++) {
        size_t i = kept[k];
        if (isnan(place[0][i]) || isnan(place[1][i]))
            buffer_putc(&parts->blocks, '\n');
        else
            add_cells(
                &parts->blocks,
                (double[]){ x[i] / parts->x.divisor, y[i] / parts->y.divisor, dot_size(series, i, most) },
                series->size ? 3 : 2);
    }
    EACH(free, x, y, place[0], place[1], kept);
}

/* Where the box of row I of SERIES begins and ends, in the unit shown; false when it is too narrow to be seen. */
static bool box_edges(const struct script *parts, const struct chart_series *series, size_t i,
                      double edges[2], double *pixels)
{
    double low = chart_value(series->table, i, series->low), high = chart_value(series->table, i, series->x);
    *pixels =
        (chart_scale_place(&parts->x, high) - chart_scale_place(&parts->x, low)) * (double)width_of(parts);
    edges[0] = low / parts->x.divisor;
    edges[1] = high / parts->x.divisor;
    return *pixels >= 0.5 && !isnan(chart_value(series->table, i, series->y));
}

/* Lines "x line low high top bottom". */
static void add_boxes(struct script *parts, size_t s)
{
    const struct chart_series *series = &parts->chart->series.at[s];
    double edges[2], pixels;
    for (size_t i = 0; i < series->table->row_count; i++) {
        double line = chart_value(series->table, i, series->y);
        if (box_edges(parts, series, i, edges, &pixels))
            add_cells(&parts->blocks,
                      (double[]){ edges[0], line, edges[0], edges[1], line + 0.06, line + 0.94 }, 6);
    }
}

/* The names of boxes that are wide enough. */
static void add_box_names(struct script *parts, size_t s)
{
    const struct chart_series *series = &parts->chart->series.at[s];
    size_t name = chart_text_column(series->table);
    double edges[2], pixels;
    for (size_t i = 0; i < series->table->row_count && name != TABLE_NO_COLUMN; i++) {
        const union table_cell *cell = table_cell(series->table, i, name);
        size_t least = parts->chart->lanes.count ? cell->text.len + 1 : 6;
        if (!box_edges(parts, series, i, edges, &pixels) || pixels < (double)(least * LETTER) ||
            !cell->text.len)
            continue;
        begin_label(parts, keep_text(parts, cell->text.at ? cell->text.at : "", cell->text.len,
                                     (size_t)pixels / LETTER - 1, TEXT_LABEL));
        add_figure(&parts->commands, edges[0]);
        buffer_printf(&parts->commands,
                      ",%g left offset 0.4,0 front font \",9\" noenhanced textcolor rgb \"#ffffff\"\n",
                      chart_value(series->table, i, series->y) + 0.5);
    }
}

/* Block $cN_S with series S of chart N; false, and no block, when there is nothing of it to draw. */
static bool add_block(struct script *parts, size_t s, double *tops, const bool *chosen)
{
    struct buffer *blocks = &parts->blocks;
    size_t begin = blocks->count;
    buffer_printf(blocks, "$c%zu_%zu << EOD\n", parts->number, s + 1);
    size_t first = blocks->count;
    switch (parts->chart->series.at[s].mark) {
    case CHART_BAR:
    case CHART_SPAN: add_bars(parts, s, tops, chosen); break;
    case CHART_AREA:
    case CHART_BAND: add_areas(parts, s, tops); break;
    case CHART_BOX: add_boxes(parts, s); break;
    default: add_points(parts, s);
    }
    buffer_puts(blocks, "EOD\n");
    if (strspn(blocks->at + first, "\n") + strlen("EOD\n") < blocks->count - first)
        return true;
    blocks->count = begin;
    return false;
}

/* ---- commands ---- */

static void add_range(struct script *parts, char axis, const struct chart_scale *scale)
{
    if (scale->log)
        buffer_printf(&parts->commands, "set logscale %c\n", axis);
    buffer_printf(&parts->commands, "set %crange [", axis);
    add_figure(&parts->commands, scale->least / scale->divisor);
    buffer_putc(&parts->commands, ':');
    add_figure(&parts->commands, scale->most / scale->divisor);
    buffer_puts(&parts->commands, "]\n");
}

/* AXIS is "x" or "y" of the paper. */
static void add_figure_ticks(struct script *parts, char axis, const struct chart_scale *scale, size_t wanted)
{
    double tick[CHART_MOST_TICKS];
    size_t count = chart_scale_ticks(scale, wanted, tick);
    buffer_printf(&parts->commands, "set %ctics nomirror out scale 0.5 (", axis);
    for (size_t i = 0; i < count; i++) {
        buffer_puts(&parts->commands, i ? ", \"" : "\"");
        chart_scale_add_tick(&parts->commands, scale, tick[i]);
        buffer_puts(&parts->commands, "\" ");
        add_figure(&parts->commands, tick[i] / scale->divisor);
    }
    buffer_puts(&parts->commands, ")\n");
    add_range(parts, axis, scale);
}

static void add_category_ticks(struct script *parts, char axis)
{
    size_t count = chart_category_count(parts->chart);
    size_t step = parts->horizontal ? 1 : chart_label_step(count, width_of(parts) / STANDING_LABEL_WIDTH);
    size_t room = width_of(parts) / 16, most = 16;
    if (parts->horizontal)
        most = room < LONGEST_LABEL ? room : LONGEST_LABEL;
    struct chart_labels *labels = parts->horizontal ? chart_labels_open(parts->chart, most) : NULL;
    buffer_printf(&parts->commands, "set %ctics nomirror scale 0 noenhanced (", axis);
    for (size_t i = 0; i < count; i += step)
        buffer_printf(&parts->commands, "%sText(%zu) %zu", i ? ", " : "",
                      category_text(parts, labels, i, most), i);
    buffer_puts(&parts->commands, ")\n");
    if (labels)
        arena_free(labels);
    if (parts->horizontal)
        buffer_printf(&parts->commands, "set %crange [%zu.5:-0.5]\n", axis, count - 1);
    else
        buffer_printf(&parts->commands, "set %crange [-0.5:%zu.5]\n", axis, count - 1);
}

/* Names of some rows along the x axis. */
static void add_name_ticks(struct script *parts)
{
    const struct chart_series *series = &parts->chart->series.at[0];
    size_t row[CHART_MOST_TICKS];
    size_t count = chart_scale_names(parts->chart, width_of(parts) / NAME_WIDTH, row);
    buffer_puts(&parts->commands, "set xtics nomirror out scale 0.5 noenhanced (");
    for (size_t i = 0; i < count; i++) {
        const union table_cell *cell = table_cell(series->table, row[i], parts->chart->x.names);
        buffer_printf(&parts->commands, "%sText(%zu) ", i ? ", " : "",
                      keep_text(parts, cell->text.at ? cell->text.at : "", cell->text.len, LONGEST_LEGEND,
                                TEXT_CATEGORY));
        add_figure(&parts->commands, chart_value(series->table, row[i], series->x) / parts->x.divisor);
    }
    buffer_puts(&parts->commands, ")\n");
}

static void add_axis_title(struct script *parts, char axis, const struct chart_scale *scale,
                           const struct chart_axis *of)
{
    struct buffer title = { 0 };
    chart_scale_add_title(&title, scale, of);
    if (title.count)
        buffer_printf(&parts->commands, "set %clabel Text(%zu) noenhanced\n", axis,
                      plain_text(parts, title.at, title.count, LONGEST_TITLE));
    buffer_release(&title);
}

static void gnuplot_add_axes(struct script *parts)
{
    const struct chart *chart = parts->chart;
    char across = parts->horizontal ? 'y' : 'x', up = parts->horizontal ? 'x' : 'y';
    if (chart_has_categories(chart))
        add_category_ticks(parts, across);
    else if (chart->x.names) {
        add_name_ticks(parts);
        add_range(parts, 'x', &parts->x);
    } else
        add_figure_ticks(parts, across, &parts->x, width_of(parts) / 80);
    add_axis_title(parts, across, &parts->x, &chart->x);
    if (chart_box_lines(chart)) {
        buffer_puts(&parts->commands, "set ytics scale 0 (");
        for (size_t i = 0; i < chart->lanes.count; i++)
            buffer_printf(&parts->commands, "%s\"%s\" %zu.5", i ? "," : "", chart->lanes.at[i], i);
        buffer_printf(&parts->commands, "%s)\nset yrange [%zu:0]\n", chart->lanes.count ? "" : "\"\" 0",
                      chart_box_lines(chart));
        return;
    }
    add_figure_ticks(parts, up, &parts->y, parts->horizontal ? width_of(parts) / 160 : 6);
    add_axis_title(parts, up, &parts->y, &chart->y);
    buffer_printf(&parts->commands, "set grid %ctics back lt 1 lw 0.6 lc rgb \"#dddddd\"\n", up);
}

/* The figure at the end of each lying bar; the scale makes room for it. */
static void gnuplot_add_bar_figures(struct script *parts)
{
    struct buffer figure = { 0 };
    double room = (parts->y.most - parts->y.least) * 0.15;
    for (size_t i = 0; i < chart_category_count(parts->chart); i++) {
        double top;
        buffer_clear(&figure);
        if (!chart_category_figure(parts->chart, i, &top, &figure))
            continue;
        begin_label(parts, plain_text(parts, figure.at, figure.count, LONGEST_LABEL));
        add_figure(&parts->commands, top / parts->y.divisor);
        buffer_printf(&parts->commands, ",%zu left offset 0.5,0 front noenhanced textcolor rgb \"#333333\"\n",
                      i);
    }
    parts->y.most += room;
    buffer_release(&figure);
}

static void gnuplot_add_labels(struct script *parts)
{
    for (size_t s = 0; s < parts->chart->series.count; s++)
        if (parts->chart->series.at[s].mark == CHART_BOX)
            add_box_names(parts, s);
    for (size_t i = 0; i < parts->chart->labels.count; i++) {
        const struct chart_label *label = &parts->chart->labels.at[i];
        bool right = chart_scale_place(&parts->x, label->x) > 0.5;
        begin_label(parts, label_text(parts, label, LONGEST_TITLE));
        add_figure(&parts->commands, label->x / parts->x.divisor);
        buffer_putc(&parts->commands, ',');
        add_figure(&parts->commands, label->y / parts->y.divisor);
        buffer_printf(&parts->commands,
                      " %s offset %s0.8,0.7 front noenhanced point pt 7 ps 0.8 lc rgb \"#000000\"\n",
                      right ? "right" : "left", right ? "-" : "");
    }
}

/* How series S is drawn. */
static void add_manner(struct script *parts, size_t s)
{
    static const int dots[] = { 7, 5, 9, 11, 13, 6, 4, 8 };
    const struct chart_series *series = &parts->chart->series.at[s];
    struct buffer *commands = &parts->commands;
    size_t count = chart_category_count(parts->chart);
    double half = count > 120 ? fmax(0.5, (double)count / (double)width_of(parts) / 2) : 0.38;
    switch (series->mark) {
    case CHART_BAR:
    case CHART_SPAN:
        if (parts->horizontal)
            buffer_printf(commands, "2:1:2:3:($1-%g):($1+%g)", half, half);
        else
            buffer_printf(commands, "1:2:($1-%g):($1+%g):2:3", half, half);
        buffer_puts(commands, " with boxxyerror fs solid 1 noborder");
        break;
    case CHART_AREA: buffer_puts(commands, "1:2:3 with filledcurves fs solid 1 noborder"); break;
    case CHART_BAND:
        buffer_puts(commands, "1:2:3 with filledcurves fs transparent solid 0.25 noborder");
        break;
    case CHART_LINE: buffer_puts(commands, "1:2 with lines lw 2"); break;
    case CHART_STAIRS: buffer_puts(commands, "1:2 with steps lw 1.5"); break;
    case CHART_POINT:
        if (series->size)
            buffer_puts(commands, "1:2:3 with points pt 7 ps variable");
        else
            buffer_printf(commands, "1:2 with points pt %d ps 0.8", dots[s % (sizeof dots / sizeof *dots)]);
        break;
    case CHART_BOX:
        buffer_printf(commands, "1:2:3:4:5:6 with boxxyerror fs %s",
                      series->idle ? "pattern 4 noborder" : "solid 1 noborder");
        break;
    }
}

static void add_plot(struct script *parts)
{
    const struct chart *chart = parts->chart;
    size_t most = 1;
    for (size_t s = 0; s < chart->series.count; s++)
        if (chart->series.at[s].table->row_count > most)
            most = chart->series.at[s].table->row_count;
    double *tops = mem_zalloc(most, sizeof *tops);
    bool *chosen = chart_bars_shown(chart, width_of(parts));
    buffer_puts(&parts->commands, "plot NaN notitle"); /* so that there is something to plot */
    for (size_t s = 0; s < chart->series.count; s++) {
        const struct chart_series *series = &chart->series.at[s];
        if (!add_block(parts, s, tops, chosen))
            continue;
        buffer_printf(&parts->commands, ", \\\n  $c%zu_%zu using ", parts->number, s + 1);
        add_manner(parts, s);
        buffer_printf(&parts->commands, " lc rgb \"%s\"", chart_color_code(series->color));
        if (series->title)
            buffer_printf(&parts->commands, " title Text(%zu) noenhanced",
                          plain_text(parts, series->title, strlen(series->title), LONGEST_LEGEND));
        else
            buffer_puts(&parts->commands, " notitle");
    }
    buffer_putc(&parts->commands, '\n');
    EACH(free, chosen, tops);
}

/* Lines of the legend: gnuplot gives each entry the room of the longest. */
static size_t legend_lines(const struct script *parts, const struct chart *chart)
{
    size_t count = 0, longest = 0;
    for (size_t s = 0; s < chart->series.count; s++) {
        size_t len = chart->series.at[s].title ? strlen(chart->series.at[s].title) : 0;
        count += chart->series.at[s].title != NULL;
        longest = len > longest ? len : longest;
    }
    longest = longest < LONGEST_LEGEND ? longest : LONGEST_LEGEND;
    size_t across = width_of(parts) * 9 / 10 / ((longest + 7) * 7);
    return count ? (count - 1) / (across ? across : 1) + 1 : 0;
}

static size_t legend_height(const struct script *parts, const struct chart *chart)
{
    return LEGEND_HEIGHT * legend_lines(parts, chart);
}

enum { NOTE_LINE = 16, NOTE_LETTER = 8 };

/* Bytes of the first line of NOTE: as many words as fit, of a word that is longer than the line a part. */
static size_t record_line(const struct script *parts, const char *note)
{
    size_t len = strlen(note), most = width_of(parts) / NOTE_LETTER, end = most;
    if (len <= most)
        return len;
    while (end > 0 && note[end] != ' ')
        end--;
    for (end = end ? end : most; end > 1 && ((unsigned char)note[end] & 0xc0) == 0x80;)
        end--; /* not within a letter */
    return end;
}

static const char *behind_line(const struct script *parts, const char *note)
{
    note += record_line(parts, note);
    return note + strspn(note, " ");
}

/* In pixels; 0 without a note. */
static size_t record_height(const struct script *parts, const struct chart *chart)
{
    size_t lines = 0;
    for (const char *at = chart->note; at && *at; at = behind_line(parts, at))
        lines++;
    return lines ? 20 + (lines - 1) * NOTE_LINE : 0;
}

/* Its first line ABOVE pixels from the bottom of WHOLE. */
static void add_note(struct script *parts, const char *note, double above, double whole)
{
    for (size_t line = 0; *note; note = behind_line(parts, note), line++) {
        size_t len = record_line(parts, note);
        begin_label(parts, plain_text(parts, note, len, len));
        buffer_printf(&parts->commands,
                      "screen 0.012, screen %.6g left font \",11\" noenhanced textcolor rgb \"#555555\"\n",
                      (above - (double)(line * NOTE_LINE)) / whole);
    }
}

/* TOP and HEIGHT in pixels, of ALL. */
static void gnuplot_add_chart(struct script *parts, const struct picture *picture, size_t top, size_t height,
                              size_t all)
{
    const struct chart *chart = parts->chart;
    struct buffer *commands = &parts->commands;
    buffer_printf(commands, "\n# %s\n", chart->key);
    if (all != height)
        buffer_printf(commands, "set origin 0,%.6g\nset size 1,%.6g\n",
                      (double)(all - top - height) / (double)all, (double)height / (double)all);
    double above = (double)(all - top), whole = (double)all;
    size_t room = width_of(parts) / 8;
    begin_label(parts, title_text(parts, picture, room < LONGEST_TITLE ? room : LONGEST_TITLE));
    buffer_printf(commands, "screen 0.012, screen %.6g left font \",14\" noenhanced\n", (above - 18) / whole);
    if (chart->note)
        add_note(parts, chart->note, above - 40, whole);
    if (parts->horizontal)
        gnuplot_add_bar_figures(parts);
    gnuplot_add_labels(parts);
    gnuplot_add_axes(parts);
    buffer_printf(commands, "set tmargin at screen %.6g\n",
                  (above - 40 - (double)record_height(parts, chart)) / whole);
    buffer_puts(commands, "set rmargin at screen 0.975\n");
    size_t below = BELOW_AXIS + legend_height(parts, chart);
    buffer_printf(commands, "set bmargin at screen %.6g\n", (above - (double)height + (double)below) / whole);
    if (has_legend(chart))
        buffer_printf(
            commands,
            "set key center center at screen 0.5, screen %.6g horizontal Left reverse noenhanced samplen 1.5 "
            "width 1 spacing 1.1 maxrows %zu\n",
            (above - (double)height + (double)legend_height(parts, chart) / 2 + 2) / whole,
            legend_lines(parts, chart));
    else
        buffer_puts(commands, "unset key\n");
    buffer_puts(commands, "set border 3 lc rgb \"#888888\"\nset tics textcolor rgb \"#333333\"\n");
    add_plot(parts);
    buffer_puts(commands, "unset label\nunset logscale\nunset xlabel\nunset ylabel\nunset grid\n");
}

static size_t natural_height(const struct script *parts, const struct chart *chart)
{
    size_t note = record_height(parts, chart), legend = legend_height(parts, chart);
    if (chart->horizontal)
        return FRAME_HEIGHT + note + legend + BAR_HEIGHT * chart_category_count(chart);
    if (chart_box_lines(chart))
        return FRAME_HEIGHT + note + legend + BOX_LINE * chart_box_lines(chart);
    return CHART_HEIGHT + note + legend;
}

static void add_terminal(struct buffer *out, const struct gnuplot_options *options, size_t width,
                         size_t height)
{
    switch (options->terminal) {
    case GNUPLOT_SVG:
        buffer_printf(
            out, "set terminal svg size %zu,%zu noenhanced font \"sans-serif,12\" background \"#ffffff\"\n",
            width, height);
        break;
    case GNUPLOT_PNG:
        buffer_printf(
            out, "set terminal pngcairo size %zu,%zu noenhanced font \"sans,10\" background \"#ffffff\"\n",
            width, height);
        break;
    default:
        buffer_printf(out, "set terminal pdfcairo size %.4gin,%.4gin noenhanced font \"sans,9\"\n",
                      (double)width / 96, (double)height / 96);
    }
}

static void add_charts(struct script *parts, const struct picture *picture, struct buffer *out)
{
    size_t all = 0, top = 0;
    for (size_t i = 0; i < picture->charts.count; i++)
        all += natural_height(parts, picture->charts.at[i]);
    double stretch = parts->options->height ? (double)parts->options->height / (double)all : 1;
    size_t height = parts->options->height ? parts->options->height : all;
    add_terminal(out, parts->options, width_of(parts), height);
    if (picture->charts.count > 1)
        buffer_puts(&parts->commands, "set multiplot\n");
    for (size_t i = 0; i < picture->charts.count; i++) {
        const struct chart *chart = picture->charts.at[i];
        size_t own = (size_t)((double)natural_height(parts, chart) * stretch);
        if (i + 1 == picture->charts.count)
            own = height - top;
        begin_chart(parts, chart, chart->horizontal);
        gnuplot_add_chart(parts, picture, top, own, height);
        top += own;
    }
    if (picture->charts.count > 1)
        buffer_puts(&parts->commands, "unset multiplot\n");
}

void gnuplot_script(const struct picture *picture, const struct gnuplot_options *options, struct buffer *out)
{
    struct script parts = { .options = options };
    buffer_printf(out,
                  "# %s, drawn by gnuplot 5.4 or later: gnuplot THIS_FILE > PICTURE\n"
                  "# Texts and figures are in the blocks below, Text(N) is line N of the first.\n"
                  "set encoding utf8\n",
                  picture->key);
    add_charts(&parts, picture, out);
    buffer_puts(out, "\n$text << EOD\n");
    buffer_add(out, parts.texts.at ? parts.texts.at : "", parts.texts.count);
    buffer_puts(out, "EOD\nText(n) = substr($text[n], 2, strlen($text[n]))\n\n");
    buffer_add(out, parts.blocks.at ? parts.blocks.at : "", parts.blocks.count);
    buffer_add(out, parts.commands.at ? parts.commands.at : "", parts.commands.count);
    EACH(buffer_release, &parts.texts, &parts.blocks, &parts.commands);
}
