#include "diff/diff.h"

#include "base/rows.h"
#include <math.h>

/* ---- two ranks of one job ---- */

/* Were both sides recorded at the same time? */
static bool recorded_together(const struct measures *before, const struct measures *after)
{
    if (!before->has_absolute_times || !after->has_absolute_times)
        return false;
    int64_t start_ns = before->start_ns > after->start_ns ? before->start_ns : after->start_ns,
            end_ns = before->end_ns < after->end_ns ? before->end_ns : after->end_ns;
    int64_t one_ns = before->end_ns - before->start_ns, other_ns = after->end_ns - after->start_ns;
    int64_t shorter_ns = one_ns < other_ns ? one_ns : other_ns;
    return end_ns > start_ns && end_ns - start_ns > shorter_ns / 2;
}

void diff_notice_one_job(const struct diff *diff, struct result *result)
{
    const char *ranks[2] = { measures_fact(diff->sides[0], "ranks"), measures_fact(diff->sides[1], "ranks") };
    if (!ranks[0] || !ranks[1] || strcmp(ranks[0], ranks[1]) == 0 ||
        !recorded_together(diff->sides[0], diff->sides[1]))
        return;
    ADD_NOTICE(result, "one_job", 1,
               "ranks of one job are compared, %s with %s, recorded at the same time: differences are those "
               "between its ranks, not between two runs",
               ranks[0], ranks[1]);
    result->notices.at[result->notices.count - 1].on_top = true;
}

/* ---- the account of a step ---- */

struct account_row {
    struct text part;
    double before, after, change, change_share;
    struct text verdict, bar_before, bar_after;
};

/* clang-format off */
static const struct table_column account_columns[] = {
    COLUMN(struct account_row, part, "step_part", "Part of a step", TABLE_NAME, "part of the time of the steps that count, as in tpa steps"),
    COLUMN(struct account_row, before, "before", "Before", TABLE_NS, "in a step of the first side; the parts add up to the step"),
    COLUMN(struct account_row, after, "after", "After", TABLE_NS, "in a step of the second side"),
    COLUMN(struct account_row, change, "change", "Change", TABLE_NS, "after minus before"),
    COLUMN(struct account_row, change_share, "change_share", "Change %", TABLE_SHARE, "change as a share of before", .flags = TABLE_OPTIONAL),
    COLUMN(struct account_row, verdict, "verdict", "Verdict", TABLE_TEXT, "slower, faster, same or unsure; missing: the part is only known of whole runs", .flags = TABLE_IF_ANY),
    COLUMN(struct account_row, bar_before, "bar_before", "Before", TABLE_TEXT, "the first side as a bar"),
    COLUMN(struct account_row, bar_after, "bar_after", "After", TABLE_TEXT, "the second side as a bar"),
};
/* clang-format on */

enum { BAR_WIDTH = 12 };

static struct text bar_of(double value, double longest, struct arena *texts)
{
    size_t length = longest > 0 && value > 0 ? (size_t)llround(BAR_WIDTH * value / longest) : 0;
    char *bar = arena_alloc(texts, BAR_WIDTH + 1);
    memset(bar, '#', length);
    bar[length] = '\0';
    return (struct text){ bar, length };
}

/* The metric with the same time as PART; NULL: none. */
static const struct diff_metric *metric_of_part(const struct diff *diff, size_t part)
{
    switch (part) {
    case ACCOUNT_COMPUTING: return diff_metric(diff, "computation");
    case ACCOUNT_COMMUNICATION: return diff_metric(diff, "exposed_communication");
    case ACCOUNT_COPIES: return diff_metric(diff, "exposed_copies");
    default: return NULL;
    }
}

/* So many causes of idle time are parts of their own: those that changed most; the others are one part. */
enum { IDLE_PARTS = 2 };

/* The parts of a step on both sides, in ns, rounded so that they add up to the rounded step. */
struct account_parts {
    double ns[2][ACCOUNT_PARTS];
    double step_ns[2], other_ns[2]; /* causes of idle time that are one part */
};

/* Keep the cause of idle time that changed most, or else is largest, of those that are not yet KEPT. */
static void keep_idle_part(const struct account_parts *parts, bool *kept)
{
    size_t most = ACCOUNT_PARTS;
    double most_change = -1, most_ns = 0;
    for (size_t part = 0; part < ACCOUNT_PARTS; part++) {
        double change = fabs(parts->ns[1][part] - parts->ns[0][part]),
               ns = parts->ns[0][part] + parts->ns[1][part];
        if (!account_part_is_idle(part) || kept[part] || !(ns > 0))
            continue;
        if (change > most_change || (change >= most_change && ns > most_ns)) {
            most = part;
            most_change = change;
            most_ns = ns;
        }
    }
    if (most < ACCOUNT_PARTS)
        kept[most] = true;
}

static struct account_parts parts_of(const struct diff *diff, const struct finding *step)
{
    struct account_parts parts = { .step_ns = { round(step->before), round(step->after) } };
    for (int side = 0; side < 2; side++) {
        const struct measures *measures = diff->sides[side];
        double share = 0, last_ns = 0;
        for (size_t part = 0; part < ACCOUNT_PARTS; part++) {
            share += measures->part_share[part] / (double)measures->accounts;
            double until_ns = round(parts.step_ns[side] * fmin(share, 1));
            parts.ns[side][part] = until_ns - last_ns;
            last_ns = until_ns;
        }
    }
    bool kept[ACCOUNT_PARTS] = { false };
    for (size_t n = 0; n < IDLE_PARTS; n++)
        keep_idle_part(&parts, kept);
    for (size_t part = 0; part < ACCOUNT_PARTS; part++)
        for (int side = 0; side < 2 && account_part_is_idle(part) && !kept[part]; side++) {
            parts.other_ns[side] += parts.ns[side][part];
            parts.ns[side][part] = 0;
        }
    return parts;
}

static struct account_row account_row_of(const char *name, double before, double after, double longest,
                                         const struct diff_metric *metric, struct arena *texts)
{
    return (struct account_row){
        .part = as_text(name),
        .before = before,
        .after = after,
        .change = after - before,
        .change_share = before > 0 ? (after - before) / before : NAN,
        .verdict = metric ? as_text(verdict_name(metric->finding.verdict, TABLE_NS)) : (struct text){ 0 },
        .bar_before = bar_of(before, longest, texts),
        .bar_after = bar_of(after, longest, texts),
    };
}

bool diff_add_account(const struct diff *diff, struct result *result)
{
    const struct diff_metric *step = diff_metric(diff, "step_time");
    if (!step || diff->sides[0]->accounts == 0 || diff->sides[1]->accounts == 0 ||
        !step->finding.present[0] || !step->finding.present[1] ||
        !(fabs(step->finding.before) + fabs(step->finding.after) < 0x1p62))
        return false;
    struct account_parts parts = parts_of(diff, &step->finding);
    double longest = fmax(parts.step_ns[0], parts.step_ns[1]);
    SCOPED VEC_OF(struct account_row) rows = { 0 };
    for (size_t part = 0; part < ACCOUNT_PARTS; part++)
        if (parts.ns[0][part] > 0 || parts.ns[1][part] > 0)
            *VEC_PUSH(&rows) = account_row_of(account_part_name(part), parts.ns[0][part], parts.ns[1][part],
                                              longest, metric_of_part(diff, part), &result->arena);
    if (parts.other_ns[0] > 0 || parts.other_ns[1] > 0)
        *VEC_PUSH(&rows) = account_row_of("idle: other causes", parts.other_ns[0], parts.other_ns[1], longest,
                                          NULL, &result->arena);
    *VEC_PUSH(&rows) =
        account_row_of("a step", parts.step_ns[0], parts.step_ns[1], longest, step, &result->arena);
    struct table *table =
        TABLE_OF_ROWS("account", "Where the time of a step goes", account_columns, rows.at, rows.count);
    table->uncut = true;
    result_add_table(result, table);
    return true;
}

/* ---- what changed ---- */

struct change_row {
    struct text name, on;
    double before, after, change, change_share;
    struct text verdict;
    double calls_before, calls_after;
    struct text launcher, old_name;
};

/* clang-format off */
static const struct table_column change_columns[] = {
    COLUMN(struct change_row, name, "name", "Name", TABLE_NAME, "the row; of a renamed one, the new name"),
    COLUMN(struct change_row, on, "where", "On", TABLE_TEXT, "host or device", .flags = TABLE_IF_ANY),
    COLUMN(struct change_row, before, "before", "Before", TABLE_NS, "mean per step of the first side"),
    COLUMN(struct change_row, after, "after", "After", TABLE_NS, "mean per step of the second side"),
    COLUMN(struct change_row, change, "change", "Change", TABLE_NS, "after minus before: positive is slower"),
    COLUMN(struct change_row, change_share, "change_share", "Change %", TABLE_SHARE, "change as a share of before"),
    COLUMN(struct change_row, verdict, "verdict", "Verdict", TABLE_TEXT, "slower, faster, new, gone; unsure: too few steps to decide"),
    COLUMN(struct change_row, launcher, "launched_by", "Launched by", TABLE_NAME, "of a kernel: the operator that launches most of its time", .flags = TABLE_IF_ANY),
    COLUMN(struct change_row, calls_before, "calls_before", "Calls before", TABLE_NUMBER, "calls per step of the first side", .flags = TABLE_IF_ANY),
    COLUMN(struct change_row, calls_after, "calls_after", "after", TABLE_NUMBER, "calls per step of the second side", .flags = TABLE_IF_ANY),
    COLUMN(struct change_row, old_name, "old_name", "Name before", TABLE_NAME, "its name on the first side, if it was renamed", .flags = TABLE_IF_ANY),
};
/* clang-format on */

/* A row that changed, and its rank among the others. */
struct changed {
    const struct diff_rows *table;
    const struct diff_row *row;
    double weight; /* larger ones come first */
};

static const struct key by_weight[] = { DESC(struct changed, weight),
                                        ASC_VIA(struct changed, row, struct diff_row, name), KEY_END };

/* A row that only some steps of one side have may be there by chance. */
static bool is_beyond_noise(const struct finding *finding)
{
    bool one_sided = finding->verdict == VERDICT_NEW || finding->verdict == VERDICT_GONE;
    return finding->change != 0 && finding->verdict != VERDICT_SAME && !(one_sided && finding->p >= 0.05);
}

static bool is_merged(const struct diff_rows *table)
{
    return table->kind == TABLE_NS && !table->alone && table->whole;
}

static struct text place_of_rows(const struct diff_rows *table)
{
    return strcmp(table->key, "operators") == 0 ? as_text("host")
           : strcmp(table->key, "kernels") == 0 ? as_text("device")
                                                : (struct text){ 0 };
}

/* The operator that launches the kernel ROW on the second side; if it is not there, on the first. */
static struct text launcher_of(const struct diff *diff, const struct diff_row *row)
{
    const char *launcher = measures_launcher(diff->sides[1], row->name);
    if (!launcher)
        launcher = measures_launcher(diff->sides[0], row->old_name ? row->old_name : row->name);
    return launcher ? as_text(launcher) : (struct text){ 0 };
}

static struct change_row change_row_of(const struct diff *diff, const struct changed *changed)
{
    const struct diff_row *row = changed->row;
    double before = round(row->finding.before), after = round(row->finding.after);
    bool calls = fmax(row->calls[0], row->calls[1]) > 0; /* NaN: not recorded */
    return (struct change_row){
        .name = { row->name, row->name_length },
        .on = place_of_rows(changed->table),
        .before = before,
        .after = after,
        .change = after - before,
        .change_share = before > 0 ? (after - before) / before : NAN,
        .verdict = as_text(verdict_name(row->finding.verdict, TABLE_NS)),
        .calls_before = calls ? row->calls[0] : NAN,
        .calls_after = calls ? row->calls[1] : NAN,
        .launcher = strcmp(changed->table->key, "kernels") == 0 ? launcher_of(diff, row) : (struct text){ 0 },
        .old_name = { row->old_name, row->old_name_length },
    };
}

bool diff_add_changes(const struct diff *diff, size_t most, struct result *result)
{
    SCOPED VEC_OF(struct changed) changed = { 0 };
    size_t all = 0;
    bool judged = false; /* is any row? */
    FOR_EACH(table, &diff->tables) {
        if (!is_merged(table))
            return false;
        all += table->rows.count;
        FOR_EACH(row, &table->rows) {
            judged |= !isnan(row->finding.p);
            if (is_beyond_noise(&row->finding))
                *VEC_PUSH(&changed) = (struct changed){ table, row, row->weight };
        }
    }
    SORT(&changed, by_weight);
    size_t shown = most && most < changed.count ? most : changed.count;
    SCOPED VEC_OF(struct change_row) rows = { 0 };
    for (size_t i = 0; i < shown; i++)
        *VEC_PUSH(&rows) = change_row_of(diff, &changed.at[i]);
    if (shown) {
        struct table *table =
            TABLE_OF_ROWS("changes", judged ? "What changed beyond noise" : "What changed most",
                          change_columns, rows.at, rows.count);
        if (shown < changed.count)
            table_add_footer(table, "more", "More rows that changed, not shown", TABLE_TALLY,
                             table_int((int64_t)(changed.count - shown)));
        else
            table_add_footer(table, "same", "Rows that are the same, not shown", TABLE_TALLY,
                             table_int((int64_t)(all - changed.count)));
        result_add_table(result, table);
    } else {
        ADD_NOTICE(result, "unchanged", (int64_t)all,
                   "none of %zu rows changed beyond noise; --all shows them", all);
    }
    return true;
}

const struct table_shape diff_screen_tables[] = {
    TABLE_SHAPE("account", account_columns),
    TABLE_SHAPE("changes", change_columns),
    { 0 },
};
