/* chart.c - see chart.h. */
#include "base/chart.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const color_codes[CHART_COLORS] = {
    [CHART_BLUE] = "#0072b2",      [CHART_ORANGE] = "#e69f00", [CHART_GREEN] = "#009e73",
    [CHART_VERMILION] = "#d55e00", [CHART_SKY] = "#56b4e9",    [CHART_PURPLE] = "#cc79a7",
    [CHART_YELLOW] = "#f0e442",    [CHART_GREY] = "#7f7f7f",   [CHART_PALE] = "#dddddd",
};

const char *chart_color_code(enum chart_color color)
{
    return color_codes[color];
}

enum chart_color chart_color_at(size_t i)
{
    return (enum chart_color)(i % (CHART_YELLOW + 1));
}

struct picture *picture_open(const char *key, const char *title)
{
    struct picture *picture = mem_zalloc(1, sizeof *picture);
    picture->key = key;
    picture->title = title;
    return picture;
}

static void chart_free(struct chart *chart)
{
    for (size_t i = 0; i < chart->tables.count; i++)
        table_free(chart->tables.at[i]);
    VEC_FREE(&chart->tables);
    VEC_FREE(&chart->series);
    VEC_FREE(&chart->labels);
    arena_release(&chart->arena);
    free(chart);
}

void picture_free(struct picture *picture)
{
    if (picture == NULL)
        return;
    for (size_t i = 0; i < picture->charts.count; i++)
        chart_free(picture->charts.at[i]);
    VEC_FREE(&picture->charts);
    arena_release(&picture->arena);
    free(picture);
}

struct chart *picture_add_chart(struct picture *picture, const char *key, const char *title)
{
    struct chart *chart = mem_zalloc(1, sizeof *chart);
    chart->key = key;
    chart->title = title;
    *VEC_PUSH(&picture->charts) = chart;
    return chart;
}

void picture_drop_chart(struct picture *picture)
{
    assert(picture->charts.count > 0);
    chart_free(picture->charts.at[--picture->charts.count]);
}

struct table *chart_add_table(struct chart *chart, struct table *table)
{
    *VEC_PUSH(&chart->tables) = table;
    return table;
}

void chart_add_series(struct chart *chart, struct chart_series series)
{
    *VEC_PUSH(&chart->series) = series;
}

void chart_add_label(struct chart *chart, double x, double y, const char *text)
{
    *VEC_PUSH(&chart->labels) =
        (struct chart_label){ x, y, arena_strndup(&chart->arena, text, strlen(text)) };
}

bool chart_has_categories(const struct chart *chart)
{
    return table_is_text(chart->x.kind);
}

size_t chart_category_count(const struct chart *chart)
{
    return chart_has_categories(chart) && chart->series.count ? chart->series.at[0].table->row_count : 0;
}

double chart_value(const struct table *table, size_t row, size_t column)
{
    enum table_kind kind = table->columns[column].kind;
    if (table_is_text(kind) || table_is_missing(table, row, column))
        return NAN;
    const union table_cell *cell = table_cell(table, row, column);
    return table_is_number(kind) ? cell->f : (double)cell->i;
}
