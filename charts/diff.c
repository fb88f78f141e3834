/*
 * diff.c - the way from before to after, as a waterfall: a bar for the whole before, one for each change that
 * begins where the last ended, and one for the whole after.
 *
 * The changes are parts of a step, or rows of a comparison. Those that are not shown are one bar, so the ways always meet.
 */
#include "charts/parts.h"

#include "base/sum.h"
#include "diff/diff.h"
#include <math.h>

enum column { COLUMN_NAME, COLUMN_FROM, COLUMN_WHOLE, COLUMN_SLOWER, COLUMN_FASTER, COLUMN_UNSURE, COLUMNS };

static const struct table_column columns[COLUMNS] = {
    [COLUMN_NAME] = { "name", "Name", TABLE_NAME, "what changed", 0, NULL },
    [COLUMN_FROM] = { "from", "From", TABLE_NS, "where the bar begins: the time before this change", 0,
                      NULL },
    [COLUMN_WHOLE] = { "whole", "Before, after", TABLE_NS, "the time of a side", 0, NULL },
    [COLUMN_SLOWER] = { "slower", "Slower, or new", TABLE_NS, "the time after a change for the worse", 0,
                        NULL },
    [COLUMN_FASTER] = { "faster", "Faster, or gone", TABLE_NS, "the time after a change for the better", 0,
                        NULL },
    [COLUMN_UNSURE] = { "unsure", "Not significant", TABLE_NS, "the time after a change that may be none", 0,
                        NULL },
};

/* The waterfall in the making. */
struct fall {
    struct table *table;
    int64_t level_ns, least_ns, most_ns; /* now; the lowest and highest so far */
};

static void reach(struct fall *fall, int64_t level_ns)
{
    fall->level_ns = level_ns;
    fall->least_ns = level_ns < fall->least_ns ? level_ns : fall->least_ns;
    fall->most_ns = level_ns > fall->most_ns ? level_ns : fall->most_ns;
}

static void diff_add_whole(struct fall *fall, const char *name, int64_t time_ns)
{
    size_t row = table_add_row(fall->table);
    table_set_text(fall->table, row, COLUMN_NAME, name, strlen(name));
    table_set_int(fall->table, row, COLUMN_FROM, 0);
    table_set_int(fall->table, row, COLUMN_WHOLE, time_ns);
    reach(fall, time_ns);
}

static void add_change(struct fall *fall, const char *name, size_t len, int64_t change_ns, bool real)
{
    size_t row = table_add_row(fall->table);
    table_set_text(fall->table, row, COLUMN_NAME, name, len);
    table_set_int(fall->table, row, COLUMN_FROM, fall->level_ns);
    int64_t level_ns = fall->level_ns;
    sum_add(&level_ns, change_ns);
    reach(fall, level_ns);
    table_set_int(fall->table, row,
                  !real           ? COLUMN_UNSURE
                  : change_ns > 0 ? COLUMN_SLOWER
                                  : COLUMN_FASTER,
                  fall->level_ns);
}

/* VALUE rounded; one that is beyond all measure as 2^61, so that differences fit, and no number as 0. */
static int64_t whole_number(double value)
{
    const double most = 2305843009213693952.0;
    return isnan(value) ? 0 : llround(fmax(fmin(value, most), -most));
}

static int64_t difference(int64_t from, int64_t to)
{
    int64_t ns = to;
    sum_add(&ns, from == INT64_MIN ? INT64_MAX : -from);
    return ns;
}

/* The values of a side, rounded, 0 where it has none. */
static int64_t before_ns(const struct finding *finding)
{
    return finding->present[0] ? whole_number(finding->before) : 0;
}

static int64_t after_ns(const struct finding *finding)
{
    return finding->present[1] ? whole_number(finding->after) : 0;
}

static int64_t change_ns(const struct finding *finding)
{
    return after_ns(finding) - before_ns(finding); /* at most 2^62 */
}

static bool is_real(const struct finding *finding)
{
    return finding->verdict != VERDICT_SAME && finding->verdict != VERDICT_UNSURE;
}

static struct chart *begin(struct picture *picture, struct fall *fall, const char *key, const char *title,
                           int64_t whole_ns)
{
    struct chart *chart = picture_add_chart(picture, key, title);
    chart->horizontal = true;
    chart->x = (struct chart_axis){ .kind = TABLE_NAME };
    chart->y = (struct chart_axis){ .kind = TABLE_NS };
    *fall = (struct fall){ .table = chart_add_table(chart, table_open(key, NULL, columns, COLUMNS)),
                           .least_ns = INT64_MAX,
                           .most_ns = INT64_MIN };
    diff_add_whole(fall, "before", whole_ns);
    return chart;
}

/* Bars begin at 0, where changes that small can be seen: they are a tenth of the time or more. */
static void diff_cut_axis(struct chart *chart, const struct fall *fall)
{
    double range = (double)fall->most_ns - (double)fall->least_ns;
    if (range <= 0)
        chart->note = "nothing changed";
    if (range <= 0 || fall->least_ns <= 0 || range >= 0.1 * (double)fall->most_ns)
        return;
    double least = (double)fall->least_ns - range;
    chart->y.has_least = least > 0;
    chart->y.least = least;
    if (least > 0)
        chart->note = "the axis does not begin at 0";
}

static void end(struct chart *chart, struct fall *fall, int64_t whole_ns)
{
    static const enum chart_color colors[COLUMNS] = { /* others: no series */
                                                      [COLUMN_WHOLE] = CHART_GREY,
                                                      [COLUMN_SLOWER] = CHART_VERMILION,
                                                      [COLUMN_FASTER] = CHART_GREEN,
                                                      [COLUMN_UNSURE] = CHART_PALE
    };
    int64_t rounding = difference(fall->level_ns, whole_ns);
    if (rounding > whole_ns / 1000 || rounding < -(whole_ns / 1000)) /* means are rounded one by one */
        add_change(fall, "(rounding)", strlen("(rounding)"), rounding, false);
    diff_add_whole(fall, "after", whole_ns);
    for (size_t column = COLUMN_WHOLE; column < COLUMNS; column++) {
        bool used = false;
        for (size_t row = 0; row < fall->table->row_count; row++)
            used |= !table_is_missing(fall->table, row, column);
        if (used)
            chart_add_series(chart, (struct chart_series){ .title = columns[column].title,
                                                           .mark = CHART_SPAN,
                                                           .color = colors[column],
                                                           .table = fall->table,
                                                           .y = column,
                                                           .low = COLUMN_FROM });
    }
    diff_cut_axis(chart, fall);
}

/* What the devices did adds up to the step. */
static void add_steps(struct picture *picture, const struct diff *diff)
{
    static const char *const parts[] = { "computation", "exposed_communication", "exposed_copies",
                                         "gpu_idle" };
    const struct diff_metric *whole = diff_metric(diff, "step_time");
    if (!whole || !diff_metric(diff, "gpu_idle"))
        return;
    struct fall fall;
    struct chart *chart =
        begin(picture, &fall, "steps", "The time of a step, before and after", before_ns(&whole->finding));
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const struct diff_metric *part = diff_metric(diff, parts[i]);
        if (part && change_ns(&part->finding) != 0)
            add_change(&fall, part->title, strlen(part->title), change_ns(&part->finding),
                       is_real(&part->finding));
    }
    end(chart, &fall, after_ns(&whole->finding));
    chart->y.title = "Time per step";
}

/* The rows that changed, largest change first as they stand; BARS of them at most, and the others in one. */
static void diff_add_rows(struct picture *picture, const struct diff *diff, const struct diff_rows *rows,
                          size_t bars)
{
    int64_t before = 0, after = 0, rest = 0;
    size_t shown = 0, left = 0;
    for (size_t i = 0; i < rows->rows.count; i++) {
        sum_add(&before, before_ns(&rows->rows.at[i].finding));
        sum_add(&after, after_ns(&rows->rows.at[i].finding));
    }
    struct fall fall;
    struct chart *chart = begin(picture, &fall, rows->key, rows->title, before);
    FOR_EACH(row, &rows->rows) {
        int64_t change = change_ns(&row->finding);
        if (change == 0)
            continue;
        if (bars && shown == bars) {
            sum_add(&rest, change);
            left++;
            continue;
        }
        shown++;
        add_change(&fall, row->name, row->name_length, change, is_real(&row->finding));
    }
    if (left) {
        const char *name = arena_printf(&chart->arena, "(%zu more)", left);
        add_change(&fall, name, strlen(name), rest, false);
    }
    end(chart, &fall, after);
    chart->y.title = arena_printf(&chart->arena, "Time per %s", diff->unit);
    if (shown == 0)
        picture_drop_chart(picture);
}

/* Both sides alone, when nothing between them changed. */
static void add_sides(struct picture *picture, const struct diff *diff)
{
    const struct diff_metric *whole = diff->metrics.at;
    if (diff->metrics.count == 0 || whole->kind != TABLE_NS)
        return;
    struct fall fall;
    struct chart *chart = begin(picture, &fall, "whole", "Before and after", before_ns(&whole->finding));
    end(chart, &fall, after_ns(&whole->finding));
    chart->y.title = whole->title;
}

void chart_diff(struct picture *picture, const struct diff *diff, size_t bars)
{
    add_steps(picture, diff);
    for (size_t i = diff->tables.count; i-- > 0;) /* kernels before operators */
        if (diff->tables.at[i].kind == TABLE_NS && picture->charts.count < CHART_MOST_PANELS)
            diff_add_rows(picture, diff, &diff->tables.at[i], bars);
    if (picture->charts.count == 0)
        add_sides(picture, diff);
}
