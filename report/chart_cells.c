/* Each mark has a function that fills the cells of one series. */
#include "report/chart_cells.h"

#include "report/chart_scale.h"
#include <math.h>

struct drawing {
    const struct chart *chart;
    struct chart_cells cells;
    struct chart_scale x, y;
    double *tops; /* by row: how high the bars or areas so far reach */
};

static void fill(struct drawing *drawing, size_t column, size_t row, size_t s)
{
    drawing->cells.at[row * drawing->cells.columns + column] = (uint8_t)(s + 1);
}

/* PLACE, 0 to 1, as an edge between PARTS cells. */
static size_t edge(double place, size_t parts)
{
    if (!(place > 0))
        return 0;
    return place >= 1 ? parts : (size_t)lround(place * (double)parts);
}

/* The cell that PLACE lies in, of PARTS. */
static size_t cell_at(double place, size_t parts)
{
    if (!(place > 0))
        return 0;
    size_t cell = place >= 1 ? parts : (size_t)(place * (double)parts);
    return cell < parts ? cell : parts - 1;
}

/* The sum of the bars of CATEGORY, or the highest of its spans. */
static double height_of(const struct chart *chart, size_t category)
{
    double sum = 0, highest = 0;
    for (size_t s = 0; s < chart->series.count; s++) {
        double y = chart_value(chart->series.at[s].table, category, chart->series.at[s].y);
        if (isnan(y))
            continue;
        if (chart->series.at[s].mark == CHART_BAR)
            sum += y;
        else if (y > highest)
            highest = y;
    }
    return sum > highest ? sum : highest;
}

/* The category shown in COLUMN of a chart whose categories stand side by side: where there are more of them than
 * columns, the highest of those that share it. */
static size_t chart_cells_category(const struct chart *chart, size_t column, size_t columns)
{
    size_t count = chart_category_count(chart);
    size_t first = column * count / columns, end = (column + 1) * count / columns;
    size_t highest = first;
    for (size_t i = first + 1; i < end; i++)
        if (height_of(chart, i) > height_of(chart, highest))
            highest = i;
    return highest;
}

static void lay_bars(struct drawing *drawing, size_t s)
{
    double low, high;
    for (size_t i = 0; i < drawing->cells.rows && i < drawing->chart->series.at[s].table->row_count; i++) {
        if (!chart_edges(drawing->chart, s, i, drawing->tops, &low, &high))
            continue;
        size_t end = edge(chart_scale_place(&drawing->y, high), drawing->cells.columns);
        for (size_t c = edge(chart_scale_place(&drawing->y, low), drawing->cells.columns); c < end; c++)
            fill(drawing, c, drawing->cells.rows - 1 - i, s);
    }
}

/* With room for it, bars do not touch. */
static bool is_between_bars(const struct drawing *drawing, size_t column)
{
    size_t count = chart_category_count(drawing->chart), columns = drawing->cells.columns;
    return columns >= 3 * count && (column + 1) * count / columns != column * count / columns;
}

static void stand_bars(struct drawing *drawing, size_t s)
{
    size_t count = drawing->chart->series.at[s].table->row_count, rows = drawing->cells.rows;
    double *low = mem_alloc(mem_times(count + 1, sizeof *low)),
           *high = mem_alloc(mem_times(count + 1, sizeof *high));
    for (size_t i = 0; i < count; i++)
        if (!chart_edges(drawing->chart, s, i, drawing->tops, &low[i], &high[i]))
            low[i] = high[i] = NAN;
    for (size_t c = 0; c < drawing->cells.columns && count > 0; c++) {
        size_t i = chart_cells_category(drawing->chart, c, drawing->cells.columns);
        if (isnan(high[i]) || is_between_bars(drawing, c))
            continue;
        size_t end = edge(chart_scale_place(&drawing->y, high[i]), rows);
        for (size_t r = edge(chart_scale_place(&drawing->y, low[i]), rows); r < end; r++)
            fill(drawing, c, r, s);
    }
    EACH(free, low, high);
}

/* The x at the left edge of COLUMN, or so many columns further. */
static double x_at(const struct drawing *drawing, size_t column, double further)
{
    double place = ((double)column + further) / (double)drawing->cells.columns;
    if (drawing->x.log)
        return drawing->x.least * pow(drawing->x.most / drawing->x.least, place);
    return drawing->x.least + place * (drawing->x.most - drawing->x.least);
}

/* The mean of the edges in the rows that begin in a column; of the row before, where none does. */
static void fill_areas(struct drawing *drawing, size_t s)
{
    const struct chart_series *series = &drawing->chart->series.at[s];
    size_t count = series->table->row_count, rows = drawing->cells.rows;
    double last_low = NAN, last_high = NAN;
    for (size_t c = 0, i = 0; c < drawing->cells.columns; c++) {
        double end_x = x_at(drawing, c + 1, 0), low = 0, high = 0, edges[2];
        size_t begun = 0;
        for (; i < count && chart_value(series->table, i, series->x) < end_x; i++) {
            last_low = last_high = NAN;
            if (!chart_edges(drawing->chart, s, i, drawing->tops, &edges[0], &edges[1]))
                continue;
            low += last_low = edges[0];
            high += last_high = edges[1];
            begun++;
        }
        low = begun ? low / (double)begun : last_low;
        high = begun ? high / (double)begun : last_high;
        if (isnan(high))
            continue;
        size_t end = edge(chart_scale_place(&drawing->y, high), rows);
        for (size_t r = edge(chart_scale_place(&drawing->y, low), rows); r < end; r++)
            fill(drawing, c, r, s);
    }
}

/* Lowest and highest y on the way through each column. */
static void trace_line(struct drawing *drawing, size_t s)
{
    const struct chart_series *series = &drawing->chart->series.at[s];
    const struct table *table = series->table;
    size_t rows = drawing->cells.rows, i = 0;
    double last_x = NAN, last_y = NAN;
    for (size_t c = 0; c < drawing->cells.columns; c++) {
        double low = NAN, high = NAN, end_x = x_at(drawing, c + 1, 0);
        if (series->mark == CHART_STAIRS)
            low = high = last_y;
        bool is_last = c + 1 == drawing->cells.columns;
        for (; i < table->row_count; i++) {
            double x = chart_value(table, i, series->x), y = chart_value(table, i, series->y);
            if (x >= end_x && !is_last)
                break;
            last_x = x;
            last_y = y;
            low = isnan(low) || y < low ? y : low;
            high = isnan(high) || y > high ? y : high;
        }
        if (series->mark == CHART_LINE && isnan(low) && !isnan(last_y) && i < table->row_count) {
            double x = chart_value(table, i, series->x), y = chart_value(table, i, series->y);
            low = high = last_y + (y - last_y) * (x_at(drawing, c, 0.5) - last_x) / (x - last_x);
        }
        if (isnan(low) || (series->mark == CHART_STAIRS && i == table->row_count && isnan(last_y)))
            continue;
        size_t top = cell_at(chart_scale_place(&drawing->y, high), rows);
        for (size_t r = cell_at(chart_scale_place(&drawing->y, low), rows); r <= top; r++)
            fill(drawing, c, r, s);
    }
}

static void emit_dots(struct drawing *drawing, size_t s)
{
    const struct chart_series *series = &drawing->chart->series.at[s];
    for (size_t i = 0; i < series->table->row_count; i++) {
        double x = chart_scale_place(&drawing->x, chart_value(series->table, i, series->x));
        double y = chart_scale_place(&drawing->y, chart_value(series->table, i, series->y));
        if (!isnan(x) && !isnan(y))
            fill(drawing, cell_at(x, drawing->cells.columns), cell_at(y, drawing->cells.rows), s);
    }
}

struct chart_cells chart_cells_draw(const struct chart *chart, bool horizontal, size_t columns, size_t rows)
{
    struct drawing drawing = { .chart = chart, .x = chart_scale_x(chart), .y = chart_scale_y(chart) };
    drawing.cells = (struct chart_cells){ columns, rows, mem_zalloc(columns * rows, 1) };
    size_t most = 1;
    for (size_t s = 0; s < chart->series.count; s++)
        if (chart->series.at[s].table->row_count > most)
            most = chart->series.at[s].table->row_count;
    drawing.tops = mem_zalloc(most, sizeof *drawing.tops);
    for (size_t s = 0; s < chart->series.count; s++)
        switch (chart->series.at[s].mark) {
        case CHART_BAR:
        case CHART_SPAN:
            if (horizontal)
                lay_bars(&drawing, s);
            else
                stand_bars(&drawing, s);
            break;
        case CHART_AREA:
        case CHART_BAND: fill_areas(&drawing, s); break;
        case CHART_LINE:
        case CHART_STAIRS: trace_line(&drawing, s); break;
        case CHART_POINT: emit_dots(&drawing, s); break;
        case CHART_BOX: break; /* they hold texts, which cells do not */
        }
    free(drawing.tops);
    return drawing.cells;
}
