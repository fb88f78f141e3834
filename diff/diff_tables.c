/* diff_tables.c - the differences as tables; see diff.h. */
#include "diff/diff.h"

#include <inttypes.h>
#include <math.h>

/* clang-format off */
static const struct table_column columns[DIFF_COLUMNS] = {
    [DIFF_NAME] = { "name", "Name", TABLE_NAME, "what is compared", 0, NULL },
    [DIFF_BEFORE] = { "before", "Before", TABLE_NS, "mean per step of the first side", 0, "base" },
    [DIFF_AFTER] = { "after", "After", TABLE_NS, "mean per step of the second side", 0, "new" },
    [DIFF_CHANGE] = { "change", "Change", TABLE_NS, "after minus before: positive is slower", 0, NULL },
    [DIFF_CHANGE_SHARE] = { "change_share", "Change %", TABLE_SHARE, "change as a share of before", 0, "change_percent" },
    [DIFF_VERDICT] = { "verdict", "Verdict", TABLE_TEXT, "slower, faster, same, new, gone or unsure (too few steps to decide); more or less for figures that are not times", 0, NULL },
    [DIFF_PART] = { "part", "Of all", TABLE_SHARE, "change as a share of the change of the step time", 0, "total_share" },
    [DIFF_LOW] = { "low", "95 % from", TABLE_NS, "lower end of the 95 % interval of the change", 0, NULL },
    [DIFF_HIGH] = { "high", "to", TABLE_NS, "upper end of it", 0, NULL },
    [DIFF_CALLS_BEFORE] = { "calls_before", "Calls before", TABLE_NUMBER, "calls per step of the first side", 0, NULL },
    [DIFF_CALLS_AFTER] = { "calls_after", "Calls after", TABLE_NUMBER, "calls per step of the second side", 0, NULL },
    [DIFF_CALL_BEFORE] = { "call_before", "Per call before", TABLE_NS, "time of one call on the first side", 0, NULL },
    [DIFF_CALL_AFTER] = { "call_after", "Per call after", TABLE_NS, "time of one call on the second side", 0, NULL },
    [DIFF_MEDIAN_BEFORE] = { "median_before", "Median before", TABLE_NS, "median over the steps of the first side", TABLE_OPTIONAL, NULL },
    [DIFF_MEDIAN_AFTER] = { "median_after", "Median after", TABLE_NS, "median over the steps of the second side", TABLE_OPTIONAL, NULL },
    [DIFF_SHIFT] = { "shift", "Shift", TABLE_NS, "change that outliers do not affect: median of all differences (Hodges-Lehmann)", TABLE_OPTIONAL, NULL },
    [DIFF_P] = { "p", "p", TABLE_NUMBER, "Student's t of the change by the noise between runs and steps, two-sided; for rows after Holm's correction", TABLE_OPTIONAL, NULL },
    [DIFF_OLD_NAME] = { "old_name", "Name before", TABLE_NAME, "its name on the first side, if it was renamed", TABLE_OPTIONAL, NULL },
};
/* clang-format on */

/* ---- one row ---- */

static struct table *open_table(const char *key, const char *title, enum table_kind kind, bool rows)
{
    struct table *table = table_open(key, title, columns, DIFF_COLUMNS);
    for (int column = 0; column < DIFF_COLUMNS; column++)
        if (table->columns[column].kind == TABLE_NS)
            table->columns[column].kind = kind;
    if (rows) { /* the interval of a row is shown on request only */
        table->columns[DIFF_LOW].flags = table->columns[DIFF_HIGH].flags = TABLE_OPTIONAL;
    } else {
        for (int column = DIFF_CALLS_BEFORE; column <= DIFF_CALL_AFTER; column++)
            table->columns[column].flags = TABLE_OPTIONAL;
    }
    return table;
}

/* VALUE as an integer; one that is beyond all measure as nearly 2^62, so that differences fit, too. */
static int64_t whole_number(double value)
{
    const double most = 4611686018427387392.0; /* the largest double below 2^62 */
    return (int64_t)llround(fmax(fmin(value, most), -most));
}

static void set_share(struct table *table, size_t row, size_t column, double part, double whole)
{
    if (whole != 0)
        table_set_number(table, row, column, part == 0 ? 0 : part / whole);
}

/* PART as a share of the change of the WHOLE; missing if it is larger, as changes of other rows cancel it. */
static void set_part(struct table *table, size_t row, double part, double whole)
{
    if (fabs(part) <= fabs(whole))
        set_share(table, row, DIFF_PART, part, whole);
}

/* Before, after, and the difference of the rounded values, so that a row adds up. */
static void set_change(struct table *table, size_t row, double before, double after)
{
    table_set_figure(table, row, DIFF_BEFORE, before);
    table_set_figure(table, row, DIFF_AFTER, after);
    if (table_is_number(table->columns[DIFF_CHANGE].kind))
        table_set_number(table, row, DIFF_CHANGE, after - before);
    else
        table_set_int(table, row, DIFF_CHANGE, whole_number(after) - whole_number(before));
}

/* Add a row. WHOLE is the total change, of which all rows are parts; 0 if unknown. Returns the row's index. */
static size_t add_finding(struct table *table, const char *name, size_t len, const struct finding *finding,
                          double whole)
{
    size_t row = table_add_row(table);
    table_set_text(table, row, DIFF_NAME, name, len);
    set_change(table, row, finding->before, finding->after);
    set_share(table, row, DIFF_CHANGE_SHARE, finding->after - finding->before, finding->before);
    for (int i = 0; i < 2; i++) { /* an absent metric has no value; an absent row took no time */
        if (!finding->present[i])
            continue;
        table_set_figure(table, row, i ? DIFF_MEDIAN_AFTER : DIFF_MEDIAN_BEFORE, finding->median[i]);
    }
    const char *verdict = verdict_name(finding->verdict, table->columns[DIFF_CHANGE].kind);
    table_set_text(table, row, DIFF_VERDICT, verdict, strlen(verdict));
    set_part(table, row, finding->change, whole);
    table_set_figure(table, row, DIFF_LOW, finding->low);
    table_set_figure(table, row, DIFF_HIGH, finding->high);
    table_set_figure(table, row, DIFF_SHIFT, finding->shift);
    table_set_number(table, row, DIFF_P, finding->p);
    return row;
}

/* If a side lacks the figure, its value is missing, not 0, and there is no change. */
static void forget_missing(struct table *table, size_t row, const struct finding *finding)
{
    const size_t cells[] = { finding->present[0] ? DIFF_AFTER : DIFF_BEFORE, DIFF_CHANGE };
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++)
        if (table_is_number(table->columns[cells[i]].kind))
            table_set_number(table, row, cells[i], NAN);
        else
            table_set_int(table, row, cells[i], TABLE_INT_MISSING);
    table_set_number(table, row, DIFF_CHANGE_SHARE, NAN);
    table_set_number(table, row, DIFF_PART, NAN);
    table_set_text(table, row, DIFF_VERDICT, NULL, 0);
}

/* One table for each kind of figure: times, sizes, shares. */
static void add_head(const struct diff *diff, struct result *result, const char *key, const char *title,
                     enum table_kind kind)
{
    struct table *head = open_table(key, title, kind, false);
    double whole = diff->metrics.count ? diff->metrics.at[0].finding.change : 0;
    for (size_t m = 0; m < diff->metrics.count; m++) {
        const struct diff_metric *metric = &diff->metrics.at[m];
        if (metric->kind != kind)
            continue;
        bool is_part = m > 0 && kind == diff->metrics.at[0].kind;
        size_t row =
            add_finding(head, metric->title, strlen(metric->title), &metric->finding, is_part ? whole : 0);
        if (!metric->finding.present[0] || !metric->finding.present[1])
            forget_missing(head, row, &metric->finding);
    }
    head->columns[DIFF_PART].flags = TABLE_OPTIONAL;
    if (head->row_count)
        result_add_table(result, head);
    else
        table_free(head);
}

/* ---- rows ---- */

struct sums {
    double before, after;
};

/* Add the rest of the first metric that the rows do not explain, so that all rows add up to it. */
static void add_unexplained(struct table *table, const struct finding *whole, const struct sums *sums)
{
    double before = (double)whole_number(whole->before) - sums->before;
    double after = (double)whole_number(whole->after) - sums->after;
    size_t row = table_add_row(table);
    table_set_text(table, row, DIFF_NAME, DIFF_UNEXPLAINED, strlen(DIFF_UNEXPLAINED));
    set_change(table, row, before, after);
    set_part(table, row, after - before, whole->change);
}

static void add_rows(const struct diff *diff, const struct diff_rows *rows, struct result *result)
{
    struct table *table = open_table(rows->key, rows->title, rows->kind, true);
    const struct diff_metric *metric = rows->whole ? diff_metric(diff, rows->whole) : NULL;
    const struct finding *whole = metric ? &metric->finding : NULL;
    bool changed = whole && whole->verdict != VERDICT_SAME && whole->verdict != VERDICT_UNSURE;
    struct sums sums = { 0, 0 };
    FOR_EACH(from, &rows->rows) {
        size_t row =
            add_finding(table, from->name, from->name_length, &from->finding, changed ? whole->change : 0);
        for (int side = 0; side < 2; side++) {
            if (!from->finding.present[side])
                continue;
            if (fmax(from->calls[0], from->calls[1]) > 0 && !isnan(from->calls[side]))
                table_set_number(table, row, side ? DIFF_CALLS_AFTER : DIFF_CALLS_BEFORE, from->calls[side]);
            if (from->calls[side] > 0)
                table_set_figure(table, row, side ? DIFF_CALL_AFTER : DIFF_CALL_BEFORE,
                                 (side ? from->finding.after : from->finding.before) / from->calls[side]);
        }
        if (from->old_name)
            table_set_text(table, row, DIFF_OLD_NAME, from->old_name, from->old_name_length);
        sums.before += (double)whole_number(from->finding.before);
        sums.after += (double)whole_number(from->finding.after);
    }
    table->sort_column = DIFF_CHANGE;
    if (whole && !table_is_number(rows->kind))
        add_unexplained(table, whole, &sums);
    if (!table_is_number(rows->kind) && !rows->alone)
        table_add_footer(table, "rows_change", "Changes of the rows", rows->kind,
                         table_int(whole_number(sums.after - sums.before)));
    result_add_table(result, table);
}

enum {
    OUTLIER_SIDE,
    OUTLIER_SAMPLE,
    OUTLIER_VALUE,
    OUTLIER_MEDIAN,
    OUTLIER_OVER,
    OUTLIER_SHARE,
    OUTLIER_COLUMNS
};
/* clang-format off */
static const struct table_column outlier_columns[OUTLIER_COLUMNS] = {
    [OUTLIER_SIDE] = { "side", "Side", TABLE_TEXT, "before or after", 0, NULL },
    [OUTLIER_SAMPLE] = { "sample", "Step", TABLE_NAME, "which step, rank and file; it is included in all figures", 0, "step" },
    [OUTLIER_VALUE] = { "time", "Time", TABLE_NS, "how long it took", 0, NULL },
    [OUTLIER_MEDIAN] = { "median", "Median", TABLE_NS, "of all steps of the side", 0, NULL },
    [OUTLIER_OVER] = { "over_median", "Over median", TABLE_NS, "time less median", 0, NULL },
    [OUTLIER_SHARE] = { "over_share", "Over %", TABLE_SHARE, "the same as a share of the median", 0, NULL },
};
/* clang-format on */

static void add_outliers(const struct diff *diff, struct result *result)
{
    if (diff->outliers.count == 0)
        return;
    struct table *table =
        table_open("outliers", "Steps far from the others", outlier_columns, OUTLIER_COLUMNS);
    FOR_EACH(outlier, &diff->outliers) {
        SCOPED struct buffer text = { 0 };
        size_t row = table_add_row(table);
        measure_sample_text(diff->sides[outlier->side], outlier->sample, &text);
        const char *side = outlier->side ? "after" : "before";
        table_set_text(table, row, OUTLIER_SIDE, side, strlen(side));
        table_set_text(table, row, OUTLIER_SAMPLE, text.at ? text.at : "", text.count);
        table_set_figure(table, row, OUTLIER_VALUE, outlier->value);
        table_set_figure(table, row, OUTLIER_MEDIAN, outlier->median);
        table_set_figure(table, row, OUTLIER_OVER, outlier->value - outlier->median);
        set_share(table, row, OUTLIER_SHARE, outlier->value - outlier->median, outlier->median);
    }
    result_add_table(result, table);
}

enum { RENAMED_BEFORE, RENAMED_AFTER, RENAMED_HOW, RENAMED_COLUMNS };
/* clang-format off */
static const struct table_column renamed_columns[RENAMED_COLUMNS] = {
    [RENAMED_BEFORE] = { "before", "Before", TABLE_NAME, "its name on the first side, with which it was matched", 0, NULL },
    [RENAMED_AFTER] = { "after", "After", TABLE_NAME, "its name on the second side, which its row has", 0, NULL },
    [RENAMED_HOW] = { "differ", "Differ in", TABLE_TEXT, "parts of the names that were ignored in matching them", 0, NULL },
};
/* clang-format on */

static void add_renames(const struct diff *diff, struct result *result)
{
    struct table *table = table_open("renamed", "Renamed", renamed_columns, RENAMED_COLUMNS);
    for (size_t t = 0; t < diff->tables.count; t++)
        FOR_EACH(from, &diff->tables.at[t].rows) {
            if (!from->old_name)
                continue;
            size_t row = table_add_row(table);
            const char *how = rename_kind_text(from->renamed);
            table_set_text(table, row, RENAMED_BEFORE, from->old_name, from->old_name_length);
            table_set_text(table, row, RENAMED_AFTER, from->name, from->name_length);
            table_set_text(table, row, RENAMED_HOW, how, strlen(how));
        }
    if (table->row_count)
        result_add_table(result, table);
    else
        table_free(table);
}

const char *diff_between(const struct finding *finding)
{
    return finding->basis == FINDING_BY_STEPS ? "between these two recordings" : "";
}

/* What the verdicts rest on: too little, steps of two recordings, or runs. */
static void notice_basis(const struct diff *diff, struct result *result)
{
    if (diff_is_same(diff) || diff_is_exact(diff) || diff->metrics.count == 0)
        return;
    const struct finding *finding = &diff->metrics.at[0].finding;
    const char *unit = diff->unit;
    if (isnan(finding->error))
        ADD_NOTICE(result, "too_few_samples", 1,
                   "unsure: %zu %s%s against %zu %s too few to tell a change from noise; give more runs "
                   "of each side (--base A1 A2 A3 --new B1 B2 B3), or their noise (--noise 3%%)",
                   finding->steps[0], unit, finding->steps[0] == 1 ? "" : "s", finding->steps[1],
                   finding->steps[0] + finding->steps[1] == 2 ? "is" : "are");
    else if (finding->basis == FINDING_BY_STEPS)
        ADD_NOTICE(
            result, "one_run", 1,
            "one run a side: noise between runs is unknown; give more runs, --noise 3%% or --store perf.db");
}

void diff_add_tables(const struct diff *diff, struct result *result)
{
    diff_notice_differences(diff, result);
    struct buffer title = { 0 };
    buffer_printf(&title, "Per %s", diff->unit);
    add_head(diff, result, "head", arena_strndup(&result->arena, title.at, title.count), TABLE_NS);
    buffer_release(&title);
    add_head(diff, result, "memory", "Memory", TABLE_BYTES);
    for (size_t t = 0; t < diff->tables.count; t++)
        add_rows(diff, &diff->tables.at[t], result);
    if (!diff_is_same(diff)) {
        diff_add_classes(diff, result);
        add_outliers(diff, result);
    }
    add_renames(diff, result);
    notice_basis(diff, result);
}

const struct table_shape diff_tables[] = {
    TABLE_SHAPE("head", columns),
    TABLE_SHAPE("memory", columns, .figures = TABLE_BYTES),
    TABLE_SHAPE("operators", columns),
    TABLE_SHAPE("kernels", columns),
    TABLE_SHAPE("waiting", columns, .of = "facts"),
    TABLE_SHAPE("kernel_medians", columns, .of = "facts"),
    TABLE_SHAPE("operator_medians", columns, .of = "facts"),
    TABLE_SHAPE("functions", columns),
    TABLE_SHAPE("actions", columns),
    TABLE_SHAPE("outliers", outlier_columns),
    TABLE_SHAPE("renamed", renamed_columns),
    { 0 },
};
