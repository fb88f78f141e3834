/* trend.c - figures over the runs of a store: their levels, and the band in which a run without any change is
 * expected. */
#include "charts/parts.h"
#include "history/nightly.h"
#include <inttypes.h>
#include <math.h>

enum column {
    COLUMN_RUN,
    COLUMN_LEVEL,
    COLUMN_USUAL,
    COLUMN_UNSURE,
    COLUMN_WORSE,
    COLUMN_LOW,
    COLUMN_HIGH,
    COLUMN_LABEL,
    COLUMN_TICK,
    COLUMNS
};

/* clang-format off */
static const struct table_column columns[COLUMNS] = {
    [COLUMN_RUN] = { "run", "Run", TABLE_COUNT, "number of the run, or its place among them", 0, NULL },
    [COLUMN_LEVEL] = { "level", "Level", TABLE_NS, "what it took", 0, NULL },
    [COLUMN_USUAL] = { "usual", "Usual", TABLE_NS, "the same, of runs that were no alarm", 0, NULL },
    [COLUMN_UNSURE] = { "unsure", "Unsure", TABLE_NS, "the same, of runs that were UNSURE", 0, NULL },
    [COLUMN_WORSE] = { "worse", "Worse", TABLE_NS, "the same, of runs that were NEW or EXISTING", 0, NULL },
    [COLUMN_LOW] = { "low", "Low", TABLE_NS, "lower edge of the band", 0, NULL },
    [COLUMN_HIGH] = { "high", "High", TABLE_NS, "upper edge", 0, NULL },
    [COLUMN_LABEL] = { "label", "Label", TABLE_TEXT, "which run it was, and the verdict on it", 0, NULL },
    [COLUMN_TICK] = { "tick", "Date and commit", TABLE_TEXT, "day of the run, and its commit", 0, NULL },
};
/* clang-format on */

/* The runs that are drawn, and how they are counted along the axis. */
struct span {
    size_t first, last;
    bool
        by_number; /* numbers grow with time; else runs were added in another order, and count by their places */
};

static struct span span_of(const struct nightly *nightly, size_t most_runs)
{
    size_t runs = nightly->judged + 1;
    struct span span = { most_runs > 0 && runs > most_runs ? runs - most_runs : 0, nightly->judged, true };
    for (size_t run = span.first; run < span.last; run++)
        span.by_number &= nightly->runs.at[run].id < nightly->runs.at[run + 1].id;
    return span;
}

static struct table *open_table(enum table_kind kind)
{
    struct table *table = table_open("trend", NULL, columns, COLUMNS);
    for (size_t column = COLUMN_LEVEL; column <= COLUMN_HIGH; column++)
        table->columns[column].kind = kind;
    return table;
}

static enum column trend_column_of(enum history_verdict verdict)
{
    switch (verdict) {
    case HISTORY_NEW:
    case HISTORY_EXISTING: return COLUMN_WORSE;
    case HISTORY_UNSURE:
    case HISTORY_UNKNOWN: return COLUMN_UNSURE;
    default: return COLUMN_USUAL;
    }
}

/* The axis begins below the lowest level by half of what the levels differ by: not at 0, which would hide that. */
static void trend_cut_axis(struct chart *chart, const struct table *table)
{
    double least = INFINITY, most = -INFINITY;
    for (size_t row = 0; row < table->row_count; row++)
        for (size_t column = COLUMN_LEVEL; column <= COLUMN_HIGH; column++) {
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

/* Which of the series of dots and the band have anything to show. */
struct seen {
    bool any[COLUMNS];
};

static void trend_add_rows(struct table *table, const struct nightly *nightly, size_t at,
                           const struct span *span, struct seen *seen)
{
    const struct history_series *series = &nightly->history.series.at[at];
    for (size_t run = span->first; run <= span->last; run++) {
        if (isnan(series->level[run]))
            continue;
        size_t row = table_add_row(table);
        enum history_verdict verdict =
            series->verdicts ? (enum history_verdict)series->verdicts[run] : HISTORY_SAME;
        enum column dot = trend_column_of(verdict);
        table_set_int(table, row, COLUMN_RUN,
                      span->by_number ? nightly->runs.at[run].id : (int64_t)(run - span->first + 1));
        table_set_figure(table, row, COLUMN_LEVEL, series->level[run]);
        table_set_figure(table, row, dot, series->level[run]);
        const char *texts[] = { nightly_run_tick(&table->arena, &nightly->runs.at[run]),
                                nightly_describe_run(&table->arena, nightly, run, verdict) };
        table_set_text(table, row, COLUMN_TICK, texts[0], strlen(texts[0]));
        table_set_text(table, row, COLUMN_LABEL, texts[1], strlen(texts[1]));
        seen->any[dot] = true;
        double low, high;
        if (!nightly_band(nightly, at, run, &low, &high))
            continue;
        table_set_figure(table, row, COLUMN_LOW, low);
        table_set_figure(table, row, COLUMN_HIGH, high);
        seen->any[COLUMN_LOW] = true;
    }
}

static void trend_add_chart(struct picture *picture, const struct nightly *nightly, size_t at,
                            const struct span *span)
{
    enum table_kind kind = nightly->series.at[at].kind;
    struct chart *chart = picture_add_chart(picture, "trend", NULL);
    struct table *table = chart_add_table(chart, open_table(kind));
    struct seen seen = { 0 };
    trend_add_rows(table, nightly, at, span, &seen);
    if (table->row_count == 0) {
        picture_drop_chart(picture);
        return;
    }
    size_t length;
    const char *name = nightly_name(nightly, at, &length);
    name = arena_strndup(&chart->arena, name, length);
    chart->key = arena_printf(&chart->arena, "trend_%zu", picture->charts.count);
    chart->title = arena_printf(&chart->arena, "%s, run by run", name);
    chart->x =
        (struct chart_axis){ .title = span->by_number ? "Run: its day and commit"
                                                      : "Runs, the oldest first: their days and commits",
                             .kind = TABLE_COUNT,
                             .names = COLUMN_TICK };
    chart->y = (struct chart_axis){ .title = name, .kind = kind };
    const struct chart_series band = { "Expected", CHART_BAND,  CHART_SKY, table,
                                       COLUMN_RUN, COLUMN_HIGH, COLUMN_LOW };
    const struct chart_series line = { NULL,       CHART_LINE,   CHART_BLUE,     table,
                                       COLUMN_RUN, COLUMN_LEVEL, TABLE_NO_COLUMN };
    const struct chart_series dots = { "Run",      CHART_POINT,  CHART_BLUE,     table,
                                       COLUMN_RUN, COLUMN_USUAL, TABLE_NO_COLUMN };
    const struct chart_series doubts = {
        "UNSURE, or cannot tell", CHART_POINT, CHART_ORANGE, table, COLUMN_RUN, COLUMN_UNSURE, TABLE_NO_COLUMN
    };
    const struct chart_series alarms = { "NEW or EXISTING", CHART_POINT,  CHART_VERMILION, table,
                                         COLUMN_RUN,        COLUMN_WORSE, TABLE_NO_COLUMN };
    if (seen.any[COLUMN_LOW])
        chart_add_series(chart, band);
    chart_add_series(chart, line);
    if (seen.any[COLUMN_USUAL])
        chart_add_series(chart, dots);
    if (seen.any[COLUMN_UNSURE])
        chart_add_series(chart, doubts);
    if (seen.any[COLUMN_WORSE])
        chart_add_series(chart, alarms);
    trend_cut_axis(chart, table);
}

static bool was_anything(const struct nightly *nightly, size_t at, const struct span *span)
{
    const double *level = nightly->history.series.at[at].level;
    for (size_t run = span->first; run <= span->last; run++)
        if (!isnan(level[run]) && level[run] != 0)
            return true;
    return false;
}

/* One more sentence in the note of the last chart. */
static void add_note(struct picture *picture, const char *text)
{
    struct chart *last = picture->charts.at[picture->charts.count - 1];
    last->note =
        arena_printf(&last->arena, "%s%s%s", last->note ? last->note : "", last->note ? "; " : "", text);
}

void chart_trends(struct picture *picture, const struct nightly *nightly, const size_t *series, size_t count,
                  size_t most_runs, size_t most_charts)
{
    struct span span = span_of(nightly, most_runs);
    SCOPED struct buffer nothing = { 0 };
    size_t wanted = 0;
    for (size_t i = 0; i < count; i++) {
        size_t length;
        const char *name = nightly_name(nightly, series[i], &length);
        if (was_anything(nightly, series[i], &span)) {
            if (wanted++ < most_charts)
                trend_add_chart(picture, nightly, series[i], &span);
        } else if (!isnan(nightly->history.series.at[series[i]].level[span.last])) {
            buffer_printf(&nothing, "%s%.*s",
                          nothing.count ? ", " : "0 in every run and not drawn: ", (int)length, name);
        }
    }
    if (picture->charts.count > 0 && wanted > most_charts) {
        char text[100];
        snprintf(text, sizeof text, "%zu of %zu figures are shown; --metric chooses another", most_charts,
                 wanted);
        add_note(picture, text);
    }
    if (picture->charts.count > 0 && nothing.count > 0)
        add_note(picture, nothing.at);
}

bool chart_trend(struct picture *picture, const struct nightly *nightly, const char *figure,
                 struct tpa_error *err)
{
    size_t *chosen = mem_alloc(mem_times(nightly->series.count + 1, sizeof *chosen)), count = 0;
    struct span span = span_of(nightly, 0);
    for (size_t i = 0; i < nightly->series.count; i++) {
        const struct nightly_series *series = &nightly->series.at[i];
        const char *title = series->title ? series->title : series->name;
        bool wanted = figure ? strcmp(figure, title) == 0 || strcmp(figure, series->name) == 0
                             : strcmp(series->table, NIGHTLY_HEAD) == 0 && series->kind != TABLE_SHARE;
        if (wanted)
            chosen[count++] = i;
    }
    if (figure) /* a requested figure is shown even if it is 0 */
        for (size_t i = 0; i < count && i < CHART_MOST_PANELS; i++)
            trend_add_chart(picture, nightly, chosen[i], &span);
    else
        chart_trends(picture, nightly, chosen, count, 0, CHART_MOST_PANELS);
    free(chosen);
    if (figure && count == 0)
        return tpa_fail(err, TPA_NOWHERE, "the runs have no figure or row called '%s'", figure);
    return chart_is_drawn(picture, err, "the runs hold no figures but 0");
}
