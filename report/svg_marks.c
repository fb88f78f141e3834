/* svg_marks.c - the bars, lines, areas, dots and boxes of a chart; see svg_parts.h. */
#include "report/svg_parts.h"

#include "base/escape.h"
#include "report/figures.h"
#include "report/thin.h"
#include <math.h>

/* What a pointer resting on row I of series S tells: LABEL, series, figure. */
static void add_tip(struct svg_plot *plot, size_t s, size_t i, const union table_cell *label)
{
    const struct chart_series *series = &plot->chart->series.at[s];
    struct buffer figure = { 0 };
    figure_add(&figure, plot->y.kind, table_cell(series->table, i, series->y), TIME_FITTING);
    buffer_puts(plot->out, "<title>");
    escape_html(plot->out, label->text.at ? label->text.at : "", label->text.len);
    if (series->title && series->mark != CHART_POINT) {
        buffer_puts(plot->out, ": ");
        escape_html(plot->out, series->title, strlen(series->title));
    }
    buffer_puts(plot->out, series->mark == CHART_POINT ? ": " : " ");
    buffer_add(plot->out, figure.at, figure.count);
    buffer_puts(plot->out, "</title>");
    buffer_release(&figure);
}

void svg_add_bars(struct svg_plot *plot, size_t s, double *tops, const bool *shown)
{
    const struct table *table = plot->chart->series.at[s].table;
    double room = svg_room_of_category(plot), gap = room > 6 ? room * 0.12 : 0;
    bool thinned = room < 1; /* then those shown are a pixel each */
    for (size_t i = 0; i < table->row_count; i++) {
        double low, high;
        if (!chart_edges(plot->chart, s, i, tops, &low, &high) || high == low || !shown[i])
            continue;
        double begin = svg_begin_of_category(plot, i) + gap, thick = thinned ? 1 : room - 2 * gap;
        buffer_puts(plot->out, "<rect");
        svg_add_class(plot, s, "fill");
        if (plot->horizontal) {
            double from = svg_across(plot, &plot->y, low);
            svg_add_attribute(plot->out, "x", from);
            svg_add_attribute(plot->out, "y", begin);
            svg_add_attribute(plot->out, "width", fmax(svg_across(plot, &plot->y, high) - from, 0.3));
            svg_add_attribute(plot->out, "height", thick);
        } else {
            double from = svg_down(plot, high);
            svg_add_attribute(plot->out, "x", begin);
            svg_add_attribute(plot->out, "y", from);
            svg_add_attribute(plot->out, "width", thick);
            svg_add_attribute(plot->out, "height", fmax(svg_down(plot, low) - from, 0.3));
        }
        buffer_putc(plot->out, '>');
        add_tip(plot, s, i, svg_label_of_category(plot, i));
        buffer_puts(plot->out, "</rect>\n");
    }
}

/* One closed shape between two edges. */
static void add_shape(struct svg_plot *plot, size_t s, const double *x, const double *low, const double *high,
                      size_t count)
{
    if (count < 2)
        return;
    buffer_puts(plot->out, "<path");
    svg_add_class(plot, s, plot->chart->series.at[s].mark == CHART_BAND ? "band" : "fill");
    buffer_puts(plot->out, " d=\"");
    for (size_t i = 0; i < 2 * count; i++) {
        size_t at = i < count ? i : 2 * count - 1 - i;
        buffer_puts(plot->out, i ? "L" : "M");
        svg_add_number(plot->out, svg_across(plot, &plot->x, x[at]));
        buffer_putc(plot->out, ' ');
        svg_add_number(plot->out, svg_down(plot, i < count ? high[at] : low[at]));
    }
    buffer_puts(plot->out, "Z\"/>\n");
}

/* What is between two edges; an area keeps its edges until the next row, a band goes straight. Breaks end a shape. */
void svg_add_area(struct svg_plot *plot, size_t s, double *tops)
{
    const struct chart_series *series = &plot->chart->series.at[s];
    size_t rows = series->table->row_count, count = 0;
    double *x = mem_alloc(mem_times(2 * rows + 1, sizeof *x)),
           *low = mem_alloc(mem_times(2 * rows + 1, sizeof *low)),
           *high = mem_alloc(mem_times(2 * rows + 1, sizeof *high));
    for (size_t i = 0; i < rows; i++) {
        double at = chart_value(series->table, i, series->x), from, to;
        bool drawn = chart_edges(plot->chart, s, i, tops, &from, &to) && !isnan(at);
        bool holds = series->mark == CHART_AREA && count > 0;
        if (holds && drawn && i + 1 < rows && from == low[count - 1] && to == high[count - 1])
            continue; /* it goes on as it was */
        if (holds && !isnan(at)) {
            x[count] = at;
            low[count] = low[count - 1];
            high[count] = high[count - 1];
            count++;
        }
        if (drawn) {
            x[count] = at;
            low[count] = from;
            high[count] = to;
            count++;
        } else {
            add_shape(plot, s, x, low, high, count);
            count = 0;
        }
    }
    add_shape(plot, s, x, low, high, count);
    EACH(free, x, low, high);
}

struct points {
    double *y; /* of each row; NAN: it has no place */
    size_t *kept, count;
};

static struct points thin_points(struct svg_plot *plot, size_t s)
{
    const struct chart_series *series = &plot->chart->series.at[s];
    bool dots = series->mark == CHART_POINT;
    size_t rows = series->table->row_count;
    struct points points = { mem_alloc(mem_times(rows + 1, sizeof(double))),
                             mem_alloc(mem_times(rows + 1, sizeof(size_t))), 0 };
    double *across = mem_alloc(mem_times(rows + 1, sizeof *across)),
           *up = dots ? mem_alloc(mem_times(rows + 1, sizeof *up)) : NULL;
    for (size_t i = 0; i < rows; i++) {
        double y = chart_value(series->table, i, series->y), place = chart_scale_place(&plot->y, y);
        across[i] = chart_scale_place(&plot->x, chart_value(series->table, i, series->x));
        points.y[i] = isnan(across[i]) || isnan(place) ? NAN : y;
        if (dots)
            up[i] = place;
    }
    if (dots)
        points.count = thin_dots(across, up, rows, (double[]){ 0, 0 }, (double[]){ 1, 1 },
                                 (size_t)plot->width / 3, (size_t)plot->height / 3, points.kept);
    else
        points.count = thin_line(across, points.y, rows, 0, 1, (size_t)plot->width, points.kept);
    EACH(free, across, up);
    return points;
}

void svg_add_path(struct svg_plot *plot, size_t s)
{
    const struct chart_series *series = &plot->chart->series.at[s];
    struct points points = thin_points(plot, s);
    bool stairs = series->mark == CHART_STAIRS, drawing = false;
    buffer_puts(plot->out, "<path");
    svg_add_class(plot, s, "line");
    buffer_puts(plot->out, " d=\"");
    for (size_t k = 0; k < points.count; k++) {
        double x = chart_value(series->table, points.kept[k], series->x), y = points.y[points.kept[k]];
        if (isnan(y)) {
            drawing = false;
            continue;
        }
        if (drawing && stairs) {
            buffer_putc(plot->out, 'H');
            svg_add_number(plot->out, svg_across(plot, &plot->x, x));
            buffer_putc(plot->out, 'V');
            svg_add_number(plot->out, svg_down(plot, y));
            continue;
        }
        buffer_putc(plot->out, drawing ? 'L' : 'M');
        svg_add_number(plot->out, svg_across(plot, &plot->x, x));
        buffer_putc(plot->out, ' ');
        svg_add_number(plot->out, svg_down(plot, y));
        drawing = true;
    }
    buffer_puts(plot->out, "\"/>\n");
    EACH(free, points.y, points.kept);
}

void svg_add_dots(struct svg_plot *plot, size_t s)
{
    const struct chart_series *series = &plot->chart->series.at[s];
    size_t text_column = chart_text_column(series->table);
    double most = chart_most_size(plot->chart);
    struct points points = thin_points(plot, s);
    for (size_t k = 0; k < points.count; k++) {
        double x = chart_value(series->table, points.kept[k], series->x), y = points.y[points.kept[k]];
        if (isnan(y))
            continue;
        buffer_puts(plot->out, "<circle");
        size_t row = points.kept[k];
        svg_add_class(plot, s, "fill");
        svg_add_attribute(plot->out, "cx", svg_across(plot, &plot->x, x));
        svg_add_attribute(plot->out, "cy", svg_down(plot, y));
        if (series->size)
            buffer_puts(plot->out, " fill-opacity=\".6\"");
        svg_add_attribute(
            plot->out, "r",
            series->size ? chart_dot_diameter(chart_value(series->table, row, series->size), most) / 2 : 3);
        if (text_column != TABLE_NO_COLUMN) {
            buffer_putc(plot->out, '>');
            add_tip(plot, s, row, table_cell(series->table, row, text_column));
            buffer_puts(plot->out, "</circle>\n");
        } else {
            buffer_puts(plot->out, "/>\n");
        }
    }
    EACH(free, points.y, points.kept);
}

/* Boxes with their names in them, as far as these fit, and what they are where one points at them. */
void svg_add_boxes(struct svg_plot *plot, size_t s)
{
    enum { LETTER_IN_BOX = 7, LEAST_ROOM = 6 };
    const struct chart_series *series = &plot->chart->series.at[s];
    size_t name = chart_text_column(series->table);
    for (size_t i = 0; i < series->table->row_count; i++) {
        double low = chart_value(series->table, i, series->low),
               high = chart_value(series->table, i, series->x);
        double line = chart_value(series->table, i, series->y);
        if (isnan(low) || isnan(high) || isnan(line))
            continue;
        double from = svg_across(plot, &plot->x, low), width = svg_across(plot, &plot->x, high) - from;
        double top = plot->top + line * SVG_BOX_LINE;
        if (width < 0.3) /* not seen */
            continue;
        const union table_cell *cell = table_cell(series->table, i, name);
        const struct text *tip = series->tip ? &table_cell(series->table, i, series->tip)->text : &cell->text;
        buffer_puts(plot->out, "<rect");
        svg_add_class(plot, s, "fill");
        svg_add_attribute(plot->out, "x", from);
        svg_add_attribute(plot->out, "y", top);
        svg_add_attribute(plot->out, "width", width > 3 ? width - 1 : width);
        svg_add_attribute(plot->out, "height", SVG_BOX_LINE - 1);
        buffer_puts(plot->out, "><title>");
        escape_html(plot->out, tip->at ? tip->at : "", tip->len);
        struct buffer figure = { 0 };
        figure_add_value(&figure, plot->x.kind, high - low);
        if (plot->x.kind != TABLE_COUNT)
            buffer_printf(plot->out, ": %s, %.1f %%", figure.at,
                          100 * (high - low) / (plot->x.most - plot->x.least));
        buffer_puts(plot->out, "</title></rect>\n");
        buffer_release(&figure);
        char on[16]; /* the name has the colour that can be read on the box */
        snprintf(on, sizeof on, "on c%d", (int)series->color);
        bool whole = plot->chart->lanes.count && cell->text.len &&
                     width > (double)(LETTER_IN_BOX * cell->text.len) + 3;
        if (whole)
            svg_add_text(plot, from + width / 2, top + SVG_BOX_LINE - 6, "middle", on, cell->text.at,
                         cell->text.len, cell->text.len);
        else if (width > LETTER_IN_BOX * LEAST_ROOM + 6)
            svg_add_text(plot, from + 3, top + SVG_BOX_LINE - 6, "start", on,
                         cell->text.at ? cell->text.at : "", cell->text.len,
                         (size_t)((width - 6) / LETTER_IN_BOX));
    }
}
