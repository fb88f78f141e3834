/*
 * gnuplot_text.c - charts as text, for gnuplot's terminal "dumb".
 *
 * What dumb makes of bars and areas are outlines that cannot be told apart. So the cells are worked out here
 * (chart_cells.h) and given to gnuplot as points, one character per series. All coordinates are cells:
 *
 *     row  height - 1            title with the name of the file, which has a line of its own when it does not fit
 *          ..                    note, if any
 *          top + 1               title of the upright axis
 *          bottom .. top         the chart; 0 of both axes is on their lines
 *          bottom - 1            ticks
 *          bottom - 2            title of the other axis
 *          .. 0                  legend
 */
#include "report/gnuplot_parts.h"

#include "base/escape.h"
#include "report/shorten.h"
#include "base/unicode.h"

#include "report/chart_cells.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    DEFAULT_WIDTH = 100,
    DEFAULT_HEIGHT = 24,
    LEAST_WIDTH = 40,
    LEAST_ROWS = 4,
    MOST_LYING = 40, /* more categories than these stand, whatever the chart asks for */
    FIGURE_WIDTH = 12,
};

/* As unlike as can be; one per colour, so that a meaning has one character too. */
static const char marks[CHART_COLORS] = {
    [CHART_BLUE] = '#',      [CHART_ORANGE] = '+', [CHART_GREEN] = '=',
    [CHART_VERMILION] = '*', [CHART_SKY] = 'o',    [CHART_PURPLE] = '%',
    [CHART_YELLOW] = '@',    [CHART_GREY] = '-',   [CHART_PALE] = '.',
};

struct layout {
    size_t width, height;
    size_t left, columns; /* columns before the upright axis; of the chart */
    size_t bottom, rows;  /* lines below the other axis; of the chart */
    bool own_line;        /* the name of the file has a line of its own */
};

/*
 * Where CELL is among so many, as gnuplot tells places on the screen: from the first, 0, to the last, 1. It rounds down
 * where margins are concerned, hence the third of a cell more.
 */
static double cell_share(size_t cell, size_t cells)
{
    return ((double)cell + 0.3) / (double)(cells - 1);
}

/* ---- legend ---- */

/* Entries "# Kernel" in lines from the bottom; LINE counts them from the top. Returns how many lines there are. */
static size_t lay_legend(struct gnuplot_parts *parts, size_t width, size_t lines)
{
    const struct chart *chart = parts->chart;
    size_t line = 0, column = 1;
    if (!gnuplot_has_legend(chart))
        return 0;
    for (size_t s = 0; s < chart->series.count; s++) {
        const struct chart_series *series = &chart->series.at[s];
        if (!series->title)
            continue;
        struct buffer safe = { 0 }, entry = { 0 };
        escape_terminal(&safe, series->title, strlen(series->title));
        buffer_putc(&entry, marks[series->color]);
        buffer_putc(&entry, ' ');
        size_t taken = 2 + shorten_middle(&entry, safe.at ? safe.at : "", safe.count, width - 6);
        if (column > 1 && column + taken > width) {
            line++;
            column = 1;
        }
        if (lines) {
            gnuplot_begin_label(parts, gnuplot_text(parts, entry.at, entry.count, width));
            buffer_printf(&parts->commands, "screen %.6f,%.6f left noenhanced textcolor rgb \"%s\"\n",
                          cell_share(column, width), cell_share(lines - 1 - line, parts->options->height),
                          chart_color_code(series->color));
        }
        column += taken + 3;
        buffer_release(&safe);
        buffer_release(&entry);
    }
    return line + 1;
}

/* ---- where things are ---- */

/* Room for ticks of the upright axis. */
static size_t widest_tick(const struct gnuplot_parts *parts, size_t wanted)
{
    double tick[CHART_MOST_TICKS];
    struct buffer text = { 0 };
    size_t count = chart_scale_ticks(&parts->y, wanted, tick), widest = 0;
    for (size_t i = 0; i < count; i++) {
        buffer_clear(&text);
        chart_scale_add_tick(&text, &parts->y, tick[i]);
        widest = text.count > widest ? text.count : widest;
    }
    buffer_release(&text);
    return widest;
}

/* Room for labels of lying bars: what the longest needs, and no more than half of the width. */
static size_t widest_category(const struct gnuplot_parts *parts, size_t width)
{
    const struct chart_series *series = &parts->chart->series.at[0];
    size_t widest = 0, most = width * 45 / 100;
    for (size_t i = 0; i < chart_category_count(parts->chart); i++) {
        const union table_cell *cell = table_cell(series->table, i, series->x);
        struct buffer safe = { 0 };
        size_t taken = escape_terminal(&safe, cell->text.at ? cell->text.at : "", cell->text.len);
        widest = taken > widest ? taken : widest;
        buffer_release(&safe);
    }
    return widest < most ? widest : most;
}

static struct layout lay_out(struct gnuplot_parts *parts, const struct picture *picture)
{
    const struct gnuplot_options *options = parts->options;
    struct layout layout = { .width = options->width ? options->width : DEFAULT_WIDTH };
    if (layout.width < LEAST_WIDTH)
        layout.width = LEAST_WIDTH;
    size_t lines = options->height ? options->height : DEFAULT_HEIGHT;
    size_t legend = lay_legend(parts, layout.width, 0);
    layout.own_line = !gnuplot_title_fits(parts->chart, picture, layout.width - 2);
    size_t above = 2 + (parts->chart->note != NULL) + layout.own_line;
    layout.bottom = legend + 2;
    if (parts->horizontal) {
        layout.rows = chart_category_count(parts->chart);
        layout.left = widest_category(parts, layout.width) + 2;
        layout.columns = layout.width - layout.left - 2 - FIGURE_WIDTH;
    } else {
        layout.rows =
            lines > layout.bottom + above + LEAST_ROWS ? lines - layout.bottom - above - 1 : LEAST_ROWS;
        layout.left = widest_tick(parts, layout.rows / 3) + 2;
        layout.columns = layout.width - layout.left - 3;
    }
    layout.height = layout.bottom + layout.rows + 1 + above;
    return layout;
}

/* ---- axes ---- */

/* AXIS of the paper; CELLS of it. */
static void add_figure_ticks(struct gnuplot_parts *parts, char axis, const struct chart_scale *scale,
                             size_t wanted, size_t cells)
{
    double tick[CHART_MOST_TICKS];
    size_t count = chart_scale_ticks(scale, wanted, tick);
    buffer_printf(&parts->commands, "set %ctics nomirror scale 0 (", axis);
    for (size_t i = 0; i < count; i++) {
        buffer_puts(&parts->commands, i ? ", \"" : "\"");
        chart_scale_add_tick(&parts->commands, scale, tick[i]);
        buffer_printf(&parts->commands, "\" %.6g", chart_scale_place(scale, tick[i]) * (double)cells);
    }
    buffer_puts(&parts->commands, ")\n");
}

static void add_lying_categories(struct gnuplot_parts *parts, const struct layout *layout)
{
    buffer_puts(&parts->commands, "set ytics nomirror scale 0 noenhanced (");
    for (size_t i = 0; i < layout->rows; i++)
        buffer_printf(&parts->commands, "%sText(%zu) %zu", i ? ", " : "",
                      gnuplot_category_text(parts, i, layout->left - 2), layout->rows - i);
    buffer_puts(&parts->commands, ")\n");
}

/* As many labels as fit below bars that stand. */
static void add_standing_categories(struct gnuplot_parts *parts, const struct layout *layout)
{
    enum { LABEL_WIDTH = 8 };
    size_t count = chart_category_count(parts->chart), step = 1;
    while (count / step > layout->columns / (LABEL_WIDTH + 2))
        step++;
    buffer_puts(&parts->commands, "set xtics nomirror scale 0 noenhanced (");
    for (size_t i = 0; i < count; i += step)
        buffer_printf(&parts->commands, "%sText(%zu) %.6g", i ? ", " : "",
                      gnuplot_category_text(parts, i, LABEL_WIDTH),
                      ((double)i + 0.5) / (double)count * (double)layout->columns);
    buffer_puts(&parts->commands, ")\n");
}

static void add_text_at(struct gnuplot_parts *parts, const struct layout *layout, size_t text, size_t column,
                        size_t row)
{
    gnuplot_begin_label(parts, text);
    buffer_printf(&parts->commands, "screen %.6f,%.6f left noenhanced\n", cell_share(column, layout->width),
                  cell_share(row, layout->height));
}

static void add_axis_titles(struct gnuplot_parts *parts, const struct layout *layout)
{
    const struct chart *chart = parts->chart;
    struct buffer title = { 0 };
    const struct chart_scale *up = parts->horizontal ? &parts->x : &parts->y;
    const struct chart_scale *across = parts->horizontal ? &parts->y : &parts->x;
    chart_scale_add_title(&title, up, parts->horizontal ? &chart->x : &chart->y);
    if (title.count)
        add_text_at(parts, layout, gnuplot_text(parts, title.at, title.count, layout->width - 2), 1,
                    layout->bottom + layout->rows + 1);
    buffer_clear(&title);
    chart_scale_add_title(&title, across, parts->horizontal ? &chart->y : &chart->x);
    if (title.count) {
        size_t width = unicode_text_width(title.at, title.count);
        size_t middle = layout->left + layout->columns / 2;
        size_t column = middle > width / 2 + 1 ? middle - width / 2 : 1;
        if (column + width >= layout->width)
            column = width + 2 < layout->width ? layout->width - width - 1 : 1;
        add_text_at(parts, layout, gnuplot_text(parts, title.at, title.count, layout->width - 2), column,
                    layout->bottom - 2);
    }
    buffer_release(&title);
}

/* ---- the chart ---- */

/* Block $cN_S with the cells of series S; false, and no block, when it has none. */
static bool add_block(struct gnuplot_parts *parts, const struct chart_cells *cells, size_t s)
{
    size_t before = parts->blocks.count;
    for (size_t r = 0; r < cells->rows; r++)
        for (size_t c = 0; c < cells->columns; c++)
            if (cells->at[r * cells->columns + c] == s + 1) {
                if (parts->blocks.count == before)
                    buffer_printf(&parts->blocks, "$c%zu_%zu << EOD\n", parts->number, s + 1);
                buffer_printf(&parts->blocks, "%zu %zu\n", c + 1, r + 1);
            }
    if (parts->blocks.count == before)
        return false;
    buffer_puts(&parts->blocks, "EOD\n");
    return true;
}

static void add_figures(struct gnuplot_parts *parts, const struct layout *layout)
{
    struct buffer figure = { 0 };
    double top;
    for (size_t i = 0; i < layout->rows; i++) {
        buffer_clear(&figure);
        if (!chart_category_figure(parts->chart, i, &top, &figure))
            continue;
        size_t end = (size_t)lround(chart_scale_place(&parts->y, top) * (double)layout->columns);
        gnuplot_begin_label(parts, gnuplot_text(parts, figure.at, figure.count, FIGURE_WIDTH));
        buffer_printf(&parts->commands, "%zu,%zu left noenhanced\n", end + 2, layout->rows - i);
    }
    buffer_release(&figure);
}

/* A text beside its point, on the side where there is room. */
static void add_labels(struct gnuplot_parts *parts, const struct layout *layout)
{
    for (size_t i = 0; i < parts->chart->labels.count; i++) {
        const struct chart_label *label = &parts->chart->labels.at[i];
        double x = chart_scale_place(&parts->x, label->x), y = chart_scale_place(&parts->y, label->y);
        if (isnan(x) || isnan(y))
            continue;
        size_t column = (size_t)lround(x * (double)layout->columns);
        size_t row = (size_t)lround(y * (double)layout->rows) + 2;
        bool right = x > 0.5;
        size_t room = right ? column : layout->columns - column;
        gnuplot_begin_label(parts, gnuplot_label_text(parts, label, room > 8 ? room : 8));
        buffer_printf(&parts->commands, "%zu,%zu %s front noenhanced\n", column + !right,
                      row < layout->rows ? row : layout->rows, right ? "right" : "left");
    }
}

static void add_plot(struct gnuplot_parts *parts, const struct chart_cells *cells)
{
    const struct chart *chart = parts->chart;
    buffer_puts(&parts->commands, "plot NaN notitle");
    for (size_t s = 0; s < chart->series.count; s++)
        if (add_block(parts, cells, s))
            buffer_printf(&parts->commands,
                          ", \\\n  $c%zu_%zu using 1:2 with points pt \"%c\" lc rgb \"%s\" notitle",
                          parts->number, s + 1, marks[chart->series.at[s].color],
                          chart_color_code(chart->series.at[s].color));
    buffer_putc(&parts->commands, '\n');
}

/* Title, name of the file, note. */
static void add_heading(struct gnuplot_parts *parts, const struct layout *layout,
                        const struct picture *picture)
{
    size_t row = layout->height - 1, room = layout->width - 2;
    const char *title = parts->chart->title, *note = parts->chart->note;
    if (layout->own_line) {
        add_text_at(parts, layout, gnuplot_text(parts, title, strlen(title), room), 1, row--);
        add_text_at(parts, layout, gnuplot_text(parts, picture->source, strlen(picture->source), room), 1,
                    row--);
    } else {
        add_text_at(parts, layout, gnuplot_title(parts, picture, room), 1, row--);
    }
    if (note)
        add_text_at(parts, layout, gnuplot_text(parts, note, strlen(note), room), 1, row);
}

static void add_chart(struct gnuplot_parts *parts, const struct picture *picture)
{
    struct buffer *commands = &parts->commands;
    struct layout layout = lay_out(parts, picture);
    struct gnuplot_options options = *parts->options;
    options.height = layout.height; /* of this chart, which the places of the legend are shares of */
    const struct gnuplot_options *whole = parts->options;
    parts->options = &options;
    buffer_printf(commands, "\n# %s\nset terminal dumb noenhanced feed size %zu,%zu %s\n", parts->chart->key,
                  layout.width, layout.height, options.color ? "ansi256" : "mono");
    add_heading(parts, &layout, picture);
    buffer_printf(
        commands,
        "set lmargin at screen %.6f\nset rmargin at screen %.6f\nset bmargin at screen %.6f\n"
        "set tmargin at screen %.6f\nset border 3\nunset key\nset xrange [0:%zu]\nset yrange [0:%zu]\n",
        cell_share(layout.left, layout.width), cell_share(layout.left + layout.columns, layout.width),
        cell_share(layout.bottom, layout.height), cell_share(layout.bottom + layout.rows, layout.height),
        layout.columns, layout.rows);
    if (parts->horizontal) {
        add_lying_categories(parts, &layout);
        add_figure_ticks(parts, 'x', &parts->y, layout.columns / 12, layout.columns);
        add_figures(parts, &layout);
    } else {
        add_figure_ticks(parts, 'y', &parts->y, layout.rows / 3, layout.rows);
        if (chart_has_categories(parts->chart))
            add_standing_categories(parts, &layout);
        else
            add_figure_ticks(parts, 'x', &parts->x, layout.columns / 12, layout.columns);
    }
    add_axis_titles(parts, &layout);
    add_labels(parts, &layout);
    lay_legend(parts, layout.width, lay_legend(parts, layout.width, 0));
    struct chart_cells cells = chart_cells_draw(parts->chart, parts->horizontal, layout.columns, layout.rows);
    add_plot(parts, &cells);
    chart_cells_release(&cells);
    buffer_puts(commands, "unset label\n");
    parts->options = whole;
}

void gnuplot_text_charts(struct gnuplot_parts *parts, const struct picture *picture)
{
    for (size_t i = 0; i < picture->charts.count; i++) {
        const struct chart *chart = picture->charts.at[i];
        size_t categories = chart_category_count(chart);
        gnuplot_begin_chart(parts, chart, categories > 0 && categories <= MOST_LYING);
        add_chart(parts, picture);
    }
}
