/*
 * chart_trend.c - the figures of whole samples over the runs of a store: their levels, and the band in which a run
 * without any change is expected.
 */
#include "analyze/chart_parts.h"
#include "analyze/nightly.h"
#include <math.h>

enum column { COLUMN_RUN, COLUMN_LEVEL, COLUMN_USUAL, COLUMN_WORSE, COLUMN_LOW, COLUMN_HIGH, COLUMNS };

/* The last two of the reference's standard deviations on either side hold 19 of 20 runs. */
static const double band_width = 2;

static void make_columns(enum table_kind kind, struct table_column columns[COLUMNS])
{
    columns[COLUMN_RUN] = (struct table_column){ "run", "Run", TABLE_COUNT, "number of the run", 0, NULL };
    columns[COLUMN_LEVEL] = (struct table_column){ "level", "Level", kind, "what it took", 0, NULL };
    columns[COLUMN_USUAL] =
        (struct table_column){ "usual", "Usual", kind, "the same, of runs that were no alarm", 0, NULL };
    columns[COLUMN_WORSE] = (struct table_column){ "worse", "Worse",
                                                   kind,    "the same, of runs that were NEW or EXISTING",
                                                   0,       NULL };
    columns[COLUMN_LOW] = (struct table_column){ "low", "Low", kind, "lower edge of the band", 0, NULL };
    columns[COLUMN_HIGH] = (struct table_column){ "high", "High", kind, "upper edge", 0, NULL };
}

static bool is_worse(const struct history_series *series, size_t run)
{
    return series->verdicts &&
           (series->verdicts[run] == HISTORY_NEW || series->verdicts[run] == HISTORY_EXISTING);
}

/* The axis begins below the lowest level by half of what the levels differ by: not at 0, which would hide that. */
static void cut_axis(struct chart *chart, const struct table *table)
{
    double least = INFINITY, most = -INFINITY;
    for (size_t row = 0; row < table->row_count; row++)
        for (size_t column = COLUMN_LEVEL; column < COLUMNS; column++) {
            double value = chart_value(table, row, column);
            least = isnan(value) ? least : fmin(least, value);
            most = isnan(value) ? most : fmax(most, value);
        }
    double room = most > least ? (most - least) / 2 : fabs(least) / 10;
    if (!(least - room > 0))
        return;
    chart->y.has_least = chart->y.has_most = true;
    chart->y.least = least - room;
    chart->y.most = most + room;
    chart->note = "the axis does not begin at 0";
}

static void add_series(struct picture *picture, const struct nightly *nightly, size_t at)
{
    const struct nightly_series *of = &nightly->series.at[at];
    const struct history_series *series = &nightly->history.series.at[at];
    struct table_column columns[COLUMNS];
    make_columns(of->kind, columns);
    struct chart *chart = picture_add_chart(picture, "trend", NULL);
    struct table *table = chart_add_table(chart, table_open("trend", NULL, columns, COLUMNS));
    double noise = isnan(series->now.noise) ? 0 : series->now.noise;
    bool worse = false, band = false;
    for (size_t run = 0; run <= nightly->judged; run++) {
        if (isnan(series->level[run]))
            continue;
        size_t row = table_add_row(table);
        table_set_int(table, row, COLUMN_RUN, nightly->runs.at[run].id);
        table_set_figure(table, row, COLUMN_LEVEL, series->level[run]);
        table_set_figure(table, row, is_worse(series, run) ? COLUMN_WORSE : COLUMN_USUAL, series->level[run]);
        worse |= is_worse(series, run);
        if (!series->references || isnan(series->references[run]) || noise <= 0)
            continue;
        table_set_figure(table, row, COLUMN_LOW, series->references[run] * (1 - band_width * noise));
        table_set_figure(table, row, COLUMN_HIGH, series->references[run] * (1 + band_width * noise));
        band = true;
    }
    const char *name = of->title ? of->title : of->name;
    chart->key = arena_printf(&chart->arena, "trend_%zu", picture->charts.count);
    chart->title = arena_printf(&chart->arena, "%s, run by run", name);
    chart->x = (struct chart_axis){ .title = "Run", .kind = TABLE_COUNT };
    chart->y = (struct chart_axis){ .title = arena_printf(&chart->arena, "%s", name), .kind = of->kind };
    struct chart_series band_series = { "Expected", CHART_BAND,  CHART_SKY, table,
                                        COLUMN_RUN, COLUMN_HIGH, COLUMN_LOW };
    struct chart_series line = { NULL,       CHART_LINE,   CHART_BLUE,     table,
                                 COLUMN_RUN, COLUMN_LEVEL, TABLE_NO_COLUMN };
    struct chart_series dots = { "Run",      CHART_POINT,  CHART_BLUE,     table,
                                 COLUMN_RUN, COLUMN_USUAL, TABLE_NO_COLUMN };
    struct chart_series alarms = { "NEW or EXISTING", CHART_POINT,  CHART_VERMILION, table,
                                   COLUMN_RUN,        COLUMN_WORSE, TABLE_NO_COLUMN };
    if (band)
        chart_add_series(chart, band_series);
    chart_add_series(chart, line);
    chart_add_series(chart, dots);
    if (worse)
        chart_add_series(chart, alarms);
    cut_axis(chart, table);
    if (table->row_count == 0)
        picture_drop_chart(picture);
}

bool chart_trend(struct picture *picture, const struct nightly *nightly, const char *figure,
                 struct tpa_error *err)
{
    for (size_t i = 0; i < nightly->series.count && picture->charts.count < CHART_MOST_PANELS; i++) {
        const struct nightly_series *series = &nightly->series.at[i];
        const char *title = series->title ? series->title : series->name;
        bool wanted = figure ? strcmp(figure, title) == 0 || strcmp(figure, series->name) == 0
                             : strcmp(series->table, NIGHTLY_HEAD) == 0 && series->kind != TABLE_SHARE;
        if (wanted)
            add_series(picture, nightly, i);
    }
    if (picture->charts.count == 0 && figure)
        return tpa_fail(err, TPA_NOWHERE, "the runs have no figure or row called '%s'", figure);
    return chart_is_drawn(picture, err, "the runs hold no figures");
}
