/*
 * chart_diff.c - the way from before to after, as a waterfall: a bar for the whole before, one for each change that
 * begins where the last ended, and one for the whole after.
 *
 * The changes are rows of the tables of a comparison. Those that are not shown are one bar, so the ways always meet.
 */
#include "analyze/chart_parts.h"
#include "analyze/diff.h"
#include <stdlib.h>

enum column { COLUMN_NAME, COLUMN_FROM, COLUMN_WHOLE, COLUMN_SLOWER, COLUMN_FASTER, COLUMN_UNSURE, COLUMNS };

static const struct table_column columns[COLUMNS] = {
    { "name", "Name", TABLE_NAME, "what changed", 0, NULL },
    { "from", "From", TABLE_NS, "where the bar begins: the time before this change", 0, NULL },
    { "whole", "Before, after", TABLE_NS, "the time of a side", 0, NULL },
    { "slower", "Slower, or new", TABLE_NS, "the time after a change for the worse", 0, NULL },
    { "faster", "Faster, or gone", TABLE_NS, "the time after a change for the better", 0, NULL },
    { "unsure", "Not told from chance", TABLE_NS, "the time after a change that may be none", 0, NULL },
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

static void add_whole(struct fall *fall, const char *name, int64_t time_ns)
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
    while (len > 0 && *name == ' ') { /* parts of a step are indented */
        name++;
        len--;
    }
    table_set_text(fall->table, row, COLUMN_NAME, name, len);
    table_set_int(fall->table, row, COLUMN_FROM, fall->level_ns);
    reach(fall, fall->level_ns + change_ns);
    table_set_int(fall->table, row,
                  !real           ? COLUMN_UNSURE
                  : change_ns > 0 ? COLUMN_SLOWER
                                  : COLUMN_FASTER,
                  fall->level_ns);
}

static bool is_real(const struct table *table, size_t row)
{
    const char *verdict = table_cell(table, row, DIFF_VERDICT)->text.at;
    return strcmp(verdict, diff_verdict_name(DIFF_SAME)) != 0 &&
           strcmp(verdict, diff_verdict_name(DIFF_UNSURE)) != 0;
}

static int64_t cell_ns(const struct table *table, size_t row, enum diff_column column)
{
    int64_t value = table_cell(table, row, column)->i;
    return value == TABLE_INT_MISSING ? 0 : value;
}

/* Bars for the rows of TABLE from FIRST on that changed, the largest changes first as they stand; BARS of them at most. */
static void add_changes(struct fall *fall, const struct table *table, size_t first, size_t end, size_t bars)
{
    size_t shown = 0, left = 0;
    int64_t rest_ns = 0;
    for (size_t row = first; row < end; row++) {
        int64_t change_ns = cell_ns(table, row, DIFF_CHANGE);
        const union table_cell *name = table_cell(table, row, DIFF_NAME);
        if (change_ns == 0)
            continue;
        if (bars && shown == bars) {
            rest_ns += change_ns;
            left++;
            continue;
        }
        shown++;
        add_change(fall, name->text.at, name->text.len, change_ns, is_real(table, row));
    }
    if (left) {
        char name[64];
        int len = snprintf(name, sizeof name, "(%zu more)", left);
        add_change(fall, name, (size_t)len, rest_ns, false);
    }
}

static struct chart *begin(struct picture *picture, struct fall *fall, const char *key, const char *title,
                           int64_t before_ns)
{
    struct chart *chart = picture_add_chart(picture, key, title);
    chart->horizontal = true;
    chart->x = (struct chart_axis){ .kind = TABLE_NAME };
    chart->y = (struct chart_axis){ .title = "Time per step", .kind = TABLE_NS };
    *fall = (struct fall){ .table = chart_add_table(chart, table_open(key, NULL, columns, COLUMNS)),
                           .least_ns = INT64_MAX,
                           .most_ns = INT64_MIN };
    add_whole(fall, "before", before_ns);
    return chart;
}

/* Small changes of a large time would not be seen from 0 on. */
static void cut_axis(struct chart *chart, const struct fall *fall)
{
    double range = (double)(fall->most_ns - fall->least_ns);
    if (range <= 0)
        chart->note = "nothing changed";
    if (range <= 0 || fall->least_ns <= 0 || range > 0.4 * (double)fall->most_ns)
        return;
    double least = (double)fall->least_ns - range;
    chart->y.has_least = least > 0;
    chart->y.least = least;
    if (least > 0)
        chart->note = "the axis does not begin at 0";
}

static void end(struct chart *chart, struct fall *fall, int64_t after_ns)
{
    static const enum chart_color colors[COLUMNS] = { [COLUMN_WHOLE] = CHART_GREY,
                                                      [COLUMN_SLOWER] = CHART_VERMILION,
                                                      [COLUMN_FASTER] = CHART_BLUE,
                                                      [COLUMN_UNSURE] = CHART_PALE };
    if (fall->level_ns != after_ns) /* means are rounded one by one */
        add_change(fall, "(rounding)", strlen("(rounding)"), after_ns - fall->level_ns, false);
    add_whole(fall, "after", after_ns);
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
    cut_axis(chart, fall);
}

/* The parts of a step follow its row, indented. */
static void add_steps(struct picture *picture, const struct table *head)
{
    size_t last = 1;
    if (head->row_count == 0 || strcmp(table_cell(head, 0, DIFF_NAME)->text.at, "step time") != 0)
        return;
    while (last < head->row_count && table_cell(head, last, DIFF_NAME)->text.at[0] == ' ')
        last++;
    struct fall fall;
    struct chart *chart =
        begin(picture, &fall, "steps", "The time of a step, before and after", cell_ns(head, 0, DIFF_BEFORE));
    add_changes(&fall, head, 1, last, 0);
    end(chart, &fall, cell_ns(head, 0, DIFF_AFTER));
}

static void add_rows(struct picture *picture, const struct result *diff, const char *key, const char *title,
                     const char *axis, size_t bars)
{
    const struct table *table = chart_find_table(diff, key);
    int64_t before_ns = 0, after_ns = 0, changed = 0;
    for (size_t row = 0; table && row < table->row_count; row++) {
        before_ns += cell_ns(table, row, DIFF_BEFORE);
        after_ns += cell_ns(table, row, DIFF_AFTER);
        changed += cell_ns(table, row, DIFF_CHANGE) != 0;
    }
    if (changed == 0)
        return;
    struct fall fall;
    struct chart *chart = begin(picture, &fall, key, title, before_ns);
    chart->y.title = axis;
    add_changes(&fall, table, 0, table->row_count, bars);
    end(chart, &fall, after_ns);
}

bool chart_diff(struct picture *picture, const struct result *diff, size_t bars, struct tpa_error *err)
{
    add_steps(picture, diff->tables.at[0]);
    add_rows(picture, diff, "kernels", "Time on the device by kernel, before and after", "Time per step",
             bars);
    add_rows(picture, diff, "operators", "Time on the host by operator, before and after", "Time per step",
             bars);
    add_rows(picture, diff, "functions", "Time by function, before and after", "Time", bars);
    return chart_is_drawn(picture, err, "nothing changed");
}
