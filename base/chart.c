#include "base/chart.h"

#include <assert.h>
#include <math.h>

static const char *const color_codes[CHART_COLORS] = {
    [CHART_BLUE] = "#1257b0",      [CHART_ORANGE] = "#d5800f", [CHART_GREEN] = "#0fa373",
    [CHART_VERMILION] = "#b8290a", [CHART_SKY] = "#6693ea",    [CHART_PURPLE] = "#a34ca5",
    [CHART_OLIVE] = "#5f7f2c",     [CHART_GREY] = "#434a50",   [CHART_PALE] = "#8d919b",
    [CHART_AZURE] = "#3098c8",     [CHART_BROWN] = "#804840",  [CHART_INDIGO] = "#3d1f70",
    [CHART_COFFEE] = "#481e00",
};

const char *chart_color_code(enum chart_color color)
{
    return color_codes[color];
}

enum chart_color chart_color_at(size_t i)
{
    return (enum chart_color)(i % (CHART_OLIVE + 1));
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
    EACH(VEC_FREE, &chart->tables, &chart->series, &chart->labels, &chart->lanes);
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

size_t chart_box_lines(const struct chart *chart)
{
    double lines = 0;
    FOR_EACH(series, &chart->series) {
        for (size_t row = 0; series->mark == CHART_BOX && row < series->table->row_count; row++)
            lines = fmax(lines, chart_value(series->table, row, series->y) + 1); /* fmax ignores NAN */
    }
    return (size_t)lines;
}

size_t chart_text_column(const struct table *table)
{
    for (size_t column = 0; column < table->column_count; column++)
        if (table_is_text(table->columns[column].kind))
            return column;
    return TABLE_NO_COLUMN;
}

double chart_value(const struct table *table, size_t row, size_t column)
{
    const union table_cell *cell = table_cell(table, row, column);
    switch (table->columns[column].kind) { /* not by table_is_missing: a chart may have a million cells */
    case TABLE_NAME:
    case TABLE_TEXT: return NAN;
    case TABLE_SHARE:
    case TABLE_NUMBER:
    case TABLE_RATE: return cell->f;
    case TABLE_NS:
    case TABLE_MOMENT:
    case TABLE_BYTES:
    case TABLE_COUNT:
    case TABLE_TALLY:
    case TABLE_FLOPS:
    case TABLE_BOOL: break;
    }
    return cell->i == TABLE_INT_MISSING ? NAN : (double)cell->i;
}

/* Do the axes A and B end at the same value and show the same quantity? Axes that end at their own values may have
 * different units. */
static bool is_same_axis(const struct chart_axis *a, const struct chart_axis *b)
{
    return a->kind == b->kind && a->log == b->log && a->has_most && b->has_most && a->most == b->most &&
           (a->title == b->title || (a->title && b->title && strcmp(a->title, b->title) == 0));
}

/* Are charts A and B panels that share an axis? (The x axis of each covers its own values.) */
static bool are_panels(const struct chart *a, const struct chart *b)
{
    return a->panel && b->panel && a->horizontal == b->horizontal && a->x.kind == b->x.kind &&
           is_same_axis(&a->y, &b->y);
}

struct chart_panels chart_panels_of(const struct picture *picture, size_t i)
{
    struct chart_panels panels = { i, i + 1 };
    struct chart *const *at = picture->charts.at;
    while (panels.first > 0 && are_panels(at[panels.first - 1], at[i]))
        panels.first--;
    while (panels.end < picture->charts.count && are_panels(at[i], at[panels.end]))
        panels.end++;
    return panels;
}
