#include "history/nightly.h"

#include "base/moment.h"
#include "base/rows.h"
#include <inttypes.h>
#include <math.h>

/* ---- the figures ---- */

void nightly_release(struct nightly *nightly)
{
    EACH(VEC_FREE, &nightly->runs, &nightly->series, &nightly->acceptances, &nightly->history.series);
    arena_release(&nightly->arena);
}

static double *missing_figures(struct nightly *nightly)
{
    double *figures = arena_alloc(&nightly->arena, (nightly->runs.count + 1) * sizeof *figures);
    for (size_t i = 0; i < nightly->runs.count; i++)
        figures[i] = NAN;
    return figures;
}

static enum history_group group_of(const struct nightly_series *series)
{
    static const char *const first[] = { "step_time", "window", "functions_time", "total_time" };
    if (strcmp(series->table, NIGHTLY_HEAD) != 0)
        return strncmp(series->table, "kernel", strlen("kernel")) == 0 ? HISTORY_KERNELS : HISTORY_OPERATORS;
    if (ANY(i, sizeof first / sizeof *first, strcmp(series->name, first[i]) == 0))
        return HISTORY_STEP;
    return HISTORY_HEAD;
}

size_t nightly_add_series(struct nightly *nightly, const struct nightly_series *series)
{
    struct nightly_series *added = VEC_PUSH(&nightly->series);
    *added = *series;
    added->calls = missing_figures(nightly);
    uint8_t *verdicts = arena_alloc(&nightly->arena, nightly->runs.count + 1);
    memset(verdicts, HISTORY_ABSENT, nightly->runs.count + 1);
    *VEC_PUSH(&nightly->history.series) = (struct history_series){
        .group = group_of(added),
        .level = missing_figures(nightly),
        .error = missing_figures(nightly),
        .verdicts = verdicts,
        .references = missing_figures(nightly),
    };
    return nightly->series.count - 1;
}

size_t nightly_find(const struct nightly *nightly, const char *table, const char *name, size_t length)
{
    for (size_t i = 0; i < nightly->series.count; i++) {
        const struct nightly_series *series = &nightly->series.at[i];
        if (strcmp(series->table, table) == 0 && series->length == length &&
            memcmp(series->name, name, length) == 0)
            return i;
    }
    return HISTORY_NO_RUN;
}

size_t nightly_earlier(const struct nightly *nightly)
{
    return SUM(size_t, run, nightly->judged, !nightly->runs.at[run].no_baseline);
}

size_t nightly_count(const struct nightly *nightly, size_t run, enum history_verdict verdict)
{
    return SUM(size_t, i, nightly->history.series.count,
               nightly->history.series.at[i].verdicts[run] == verdict);
}

/* ---- judging ---- */

static bool is_about(const struct nightly_acceptance *acceptance, const struct nightly_series *series)
{
    return !acceptance->table ||
           (strcmp(acceptance->table, series->table) == 0 && acceptance->length == series->length &&
            memcmp(acceptance->name, series->name, series->length) == 0);
}

/* Mark the runs from which on a new level of SERIES is accepted; if a run lacks the series, the next one is marked. */
static void apply_acceptances(struct nightly *nightly, size_t at)
{
    const struct nightly_series *series = &nightly->series.at[at];
    struct history_series *figures = &nightly->history.series.at[at];
    bool *accepted = NULL;
    FOR_EACH(acceptance, &nightly->acceptances) {
        if (!is_about(acceptance, series))
            continue;
        size_t run = 0;
        while (run < nightly->runs.count && nightly->runs.at[run].id != acceptance->run)
            run++;
        while (run < nightly->runs.count && isnan(figures->level[run]))
            run++;
        if (run == nightly->runs.count)
            continue;
        if (!accepted) {
            accepted = arena_alloc(&nightly->arena, nightly->runs.count * sizeof *accepted);
            memset(accepted, 0, nightly->runs.count * sizeof *accepted);
        }
        accepted[run] = true;
    }
    figures->accepted = accepted;
}

static bool same_commit(const struct nightly *nightly, size_t a, size_t b)
{
    const char *commit = nightly->runs.at[a].commit, *other = nightly->runs.at[b].commit;
    return commit && other && strcmp(commit, other) == 0;
}

/* A regression of a commit is NEW in each run of that commit. */
static void keep_new(const struct nightly *nightly, struct history_series *series)
{
    size_t began = HISTORY_NO_RUN;
    for (size_t run = 0; run <= nightly->judged; run++) {
        if (series->verdicts[run] == HISTORY_NEW)
            began = run;
        else if (series->verdicts[run] == HISTORY_EXISTING && began != HISTORY_NO_RUN &&
                 same_commit(nightly, began, run))
            series->verdicts[run] = HISTORY_NEW;
    }
    if (series->now.verdict == HISTORY_EXISTING && series->verdicts[nightly->judged] == HISTORY_NEW)
        series->now.verdict = HISTORY_NEW;
}

void nightly_judge(struct nightly *nightly, size_t run, const struct history_options *options)
{
    for (size_t i = 0; i < nightly->series.count; i++)
        apply_acceptances(nightly, i);
    nightly->judged = run;
    nightly->history.run_count = run + 1;
    bool *left_out = arena_alloc(&nightly->arena, (nightly->runs.count + 1) * sizeof *left_out);
    for (size_t i = 0; i < nightly->runs.count; i++)
        left_out[i] = nightly->runs.at[i].no_baseline != NULL;
    nightly->history.left_out = left_out;
    history_judge(&nightly->history, options);
    for (size_t i = 0; i < nightly->history.series.count; i++)
        keep_new(nightly, &nightly->history.series.at[i]);
}

/* ---- tables ---- */

const char *nightly_time_text(struct arena *arena, int64_t time_ns)
{
    SCOPED struct buffer text = { 0 };
    moment_append(&text, time_ns);
    return arena_strndup(arena, text.at, text.count);
}

const char *nightly_describe_run(struct arena *arena, const struct nightly *nightly, size_t run,
                                 enum history_verdict verdict)
{
    const struct nightly_run *of = &nightly->runs.at[run];
    return arena_printf(arena, "run %" PRId64 ", %s%s%s, %s", of->id, nightly_time_text(arena, of->time_ns),
                        of->commit ? ", commit " : "", of->commit ? of->commit : "",
                        history_verdict_name(verdict));
}

const char *nightly_run_tick(struct arena *arena, const struct nightly_run *run)
{
    return arena_printf(arena, "%.10s%s%.8s", nightly_time_text(arena, run->time_ns), run->commit ? " " : "",
                        run->commit ? run->commit : "");
}

bool nightly_band(const struct nightly *nightly, size_t series, size_t run, double *low, double *high)
{
    const double deviations = 2;
    const struct history_series *of = &nightly->history.series.at[series];
    if (!of->references || isnan(of->references[run]) || !(of->now.noise > 0))
        return false;
    *low = of->references[run] * (1 - deviations * of->now.noise);
    *high = of->references[run] * (1 + deviations * of->now.noise);
    return true;
}

/* Levels have the kind of the table. */
struct nightly_row {
    struct text name, verdict;
    double before, now, change, change_share, noise;
    int64_t first_bad;
    struct text first_bad_commit;
    int64_t last_good;
    struct text last_good_commit;
    double calls, p;
};

/* clang-format off */
static const struct table_column columns[] = {
    COLUMN(struct nightly_row, name, "name", "Name", TABLE_NAME, "what was measured"),
    COLUMN(struct nightly_row, verdict, "verdict", "Verdict", TABLE_TEXT, "NEW, EXISTING, FIXED, UNSURE, better, accepted, appeared, gone, cannot tell or same"),
    COLUMN(struct nightly_row, before, "before", "Before", TABLE_NS, "level of the earlier runs, the reference", .aliases = "reference"),
    COLUMN(struct nightly_row, now, "now", "Now", TABLE_NS, "level of this run; of all runs since a change"),
    COLUMN(struct nightly_row, change, "change", "Change", TABLE_NS, "now minus before: positive is worse"),
    COLUMN(struct nightly_row, change_share, "change_share", "Change %", TABLE_SHARE, "change as a share of before"),
    COLUMN(struct nightly_row, noise, "noise", "Noise", TABLE_SHARE, "standard deviation of a night, as a share of before"),
    COLUMN(struct nightly_row, first_bad, "first_bad", "First bad", TABLE_COUNT, "the run with which the change began"),
    COLUMN(struct nightly_row, first_bad_commit, "first_bad_commit", "Commit", TABLE_TEXT, "its commit"),
    COLUMN(struct nightly_row, last_good, "last_good", "Last good", TABLE_COUNT, "the run before it", .flags = TABLE_OPTIONAL),
    COLUMN(struct nightly_row, last_good_commit, "last_good_commit", "Good commit", TABLE_TEXT, "its commit", .flags = TABLE_OPTIONAL),
    COLUMN(struct nightly_row, calls, "calls", "Calls", TABLE_NUMBER, "calls per step in this run", .flags = TABLE_OPTIONAL),
    COLUMN(struct nightly_row, p, "p", "p", TABLE_NUMBER, "probability of such a change by chance, for this figure alone", .flags = TABLE_OPTIONAL),
};
/* clang-format on */

/* A figure that is missing in earlier runs is "appeared", rather than "first". */
const char *nightly_verdict(const struct nightly *nightly, size_t at)
{
    const struct history_finding *now = &nightly->history.series.at[at].now;
    if (now->verdict == HISTORY_FIRST && nightly_earlier(nightly) > 0)
        return "appeared";
    return now->verdict == HISTORY_ABSENT ? "gone" : history_verdict_name(now->verdict);
}

const char *nightly_name(const struct nightly *nightly, size_t at, size_t *length)
{
    const struct nightly_series *series = &nightly->series.at[at];
    *length = series->title ? strlen(series->title) : series->length;
    return series->title ? series->title : series->name;
}

/* Is the series worth a row? Not if it was missing in the run before as well. */
static bool is_shown(const struct nightly *nightly, size_t at)
{
    const struct history_series *series = &nightly->history.series.at[at];
    return series->now.verdict != HISTORY_ABSENT ||
           (nightly->judged > 0 && !isnan(series->level[nightly->judged - 1]));
}

static int64_t run_id(const struct nightly *nightly, size_t run)
{
    return run == HISTORY_NO_RUN ? TABLE_INT_MISSING : nightly->runs.at[run].id;
}

static struct text run_commit(const struct nightly *nightly, size_t run)
{
    return as_text(run == HISTORY_NO_RUN ? NULL : nightly->runs.at[run].commit);
}

static void nightly_add_row(const struct nightly *nightly, struct table *table, size_t at)
{
    const struct nightly_series *series = &nightly->series.at[at];
    const struct history_finding *now = &nightly->history.series.at[at].now;
    /* Levels are rounded first, and the change is their difference, so that a row adds up. */
    bool whole = !table_is_number(series->kind);
    double before = whole ? round(now->reference) : now->reference,
           after = whole ? round(now->level) : now->level;
    struct nightly_row row = { .verdict = as_text(nightly_verdict(nightly, at)),
                               .before = before,
                               .now = after,
                               .change = after - before,
                               .change_share = before != 0 ? (after - before) / before : NAN,
                               .noise = now->noise,
                               .first_bad = run_id(nightly, now->first_bad),
                               .first_bad_commit = run_commit(nightly, now->first_bad),
                               .last_good = run_id(nightly, now->last_good),
                               .last_good_commit = run_commit(nightly, now->last_good),
                               .calls = series->calls[nightly->judged],
                               .p = now->p };
    row.name.at = nightly_name(nightly, at, &row.name.len);
    table_add_rows(table, &row, 1, sizeof row);
}

/* Rows that require attention come first. */
static int urgency(const struct history_finding *now)
{
    static const int ranks[HISTORY_VERDICTS] = {
        [HISTORY_NEW] = 0,     [HISTORY_UNSURE] = 1,   [HISTORY_EXISTING] = 2, [HISTORY_FIXED] = 3,
        [HISTORY_BETTER] = 4,  [HISTORY_ACCEPTED] = 5, [HISTORY_FIRST] = 6,    [HISTORY_ABSENT] = 7,
        [HISTORY_UNKNOWN] = 8, [HISTORY_SAME] = 9,
    };
    return ranks[now->verdict];
}

struct ordered {
    size_t at;
    int urgency;
    double size;
};

static const struct key by_ordered[] = { ASC(struct ordered, urgency), DESC(struct ordered, size),
                                         ASC(struct ordered, at), KEY_END };

static double size_of(const struct history_finding *now)
{
    double change = fabs(now->level - now->reference);
    return isfinite(change) ? change : isfinite(now->level) ? fabs(now->level) : 0;
}

static struct table *open_table(const char *key, const char *title, enum table_kind kind)
{
    struct table *table = TABLE_OF_ROWS(key, title, columns, (struct nightly_row *)NULL, 0);
    table->single = SINGLE_ROW;
    size_t first = table_column_at(table, offsetof(struct nightly_row, before)),
           last = table_column_at(table, offsetof(struct nightly_row, change));
    for (size_t column = first; column <= last; column++)
        table->columns[column].kind = kind;
    return table;
}

/* Figures of whole samples of one KIND, in the order in which they were measured. */
static void add_head(const struct nightly *nightly, struct result *result, enum table_kind kind,
                     const char *key, const char *title)
{
    struct table *table = open_table(key, title, kind);
    TABLE_FLAG(table, struct nightly_row, calls, TABLE_OPTIONAL | TABLE_HIDDEN);
    for (size_t i = 0; i < nightly->series.count; i++)
        if (strcmp(nightly->series.at[i].table, NIGHTLY_HEAD) == 0 && nightly->series.at[i].kind == kind &&
            is_shown(nightly, i))
            nightly_add_row(nightly, table, i);
    if (table->row_count > 0)
        result_add_table(result, table);
    else
        table_free(table);
}

/* Titles of the tables of rows. */
static const char *title_of(const char *key)
{
    static const struct {
        const char *key, *title;
    } titles[] = {
        { "operators", "Operators, by time on the host" },
        { "kernels", "Kernels, by time on the device" },
        { "kernel_medians", "Kernels, by their median run" },
        { "operator_medians", "Operators, by their median run" },
        { "waiting", "Ranks, by the waiting that they caused" },
        { "functions", "Functions" },
        { "actions", "Actions" },
    };
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        if (strcmp(titles[i].key, key) == 0)
            return titles[i].title;
    return key;
}

static bool is_quiet(const struct history_finding *now)
{
    return now->verdict == HISTORY_SAME || now->verdict == HISTORY_FIRST || now->verdict == HISTORY_UNKNOWN ||
           now->verdict == HISTORY_ABSENT;
}

/* The rows called KEY, of which series FIRST is the first; unchanged ones only with ALL. */
static void nightly_add_rows(const struct nightly *nightly, bool all, struct result *result, const char *key,
                             size_t first)
{
    SCOPED struct ordered *order = mem_alloc(mem_times(nightly->series.count + 1, sizeof *order));
    size_t count = 0, same = 0, unknown = 0;
    for (size_t i = first; i < nightly->series.count; i++) {
        if (strcmp(nightly->series.at[i].table, key) != 0 || !is_shown(nightly, i))
            continue;
        const struct history_finding *now = &nightly->history.series.at[i].now;
        bool quiet = now->verdict == HISTORY_SAME || now->verdict == HISTORY_UNKNOWN ||
                     (now->verdict == HISTORY_FIRST && nightly_earlier(nightly) == 0);
        same += quiet && now->verdict != HISTORY_UNKNOWN;
        unknown += now->verdict == HISTORY_UNKNOWN;
        if (all || !quiet)
            order[count++] = (struct ordered){ i, urgency(now), size_of(now) };
    }
    if (count > 1)
        SORT_ARRAY(order, count, by_ordered);
    struct table *table = open_table(arena_strndup(&result->arena, key, strlen(key)),
                                     arena_strndup(&result->arena, title_of(key), strlen(title_of(key))),
                                     nightly->series.at[first].kind);
    for (size_t i = 0; i < count; i++)
        nightly_add_row(nightly, table, order[i].at);
    if (!all && count > 0 && unknown > 0)
        table_add_footer(table, "unknown", "Rows that cannot be judged yet", TABLE_TALLY,
                         table_int((int64_t)unknown));
    if (!all && count > 0 && same > 0)
        table_add_footer(table, "same", "Rows that are the same", TABLE_TALLY, table_int((int64_t)same));
    if (!all && count == 0) { /* a line is enough */
        char text[64];
        if (unknown > 0)
            snprintf(text, sizeof text, "cannot tell yet of %zu", unknown);
        else
            snprintf(text, sizeof text, nightly_earlier(nightly) == 0 ? "%zu kept" : "all %zu the same",
                     same);
        char *heading = arena_strndup(&result->arena, key, strlen(key)); /* a damaged store may have "" */
        if (*heading >= 'a' && *heading <= 'z')
            *heading = (char)(*heading - 'a' + 'A');
        for (char *c = heading; *c; c++)
            *c = *c == '_' ? ' ' : *c;
        table_add_text_footer(result->tables.at[0], table->key, heading, text, strlen(text));
        table_free(table);
    } else {
        result_add_table(result, table);
    }
}

static void add_footer_text(struct table *table, const char *key, const char *title, const char *text)
{
    if (text)
        table_add_text_footer(table, key, title, text, strlen(text));
}

static void nightly_add_run(const struct nightly *nightly, struct result *result)
{
    const struct nightly_run *run = &nightly->runs.at[nightly->judged];
    struct table *table = table_open("run", NULL, NULL, 0);
    result_add_table(result, table);
    table_add_footer(table, "run", "Run", TABLE_COUNT, table_int(run->id));
    add_footer_text(table, "label", "Label", run->label);
    add_footer_text(table, "commit", "Commit", run->commit);
    add_footer_text(table, "time", "Time",
                    arena_printf(&result->arena, "%s UTC", nightly_time_text(&result->arena, run->time_ns)));
    add_footer_text(table, "host", "Host", run->host);
    add_footer_text(table, "gpu", "GPU", run->gpu);
    add_footer_text(table, "samples", "Samples",
                    arena_printf(&result->arena, "%" PRId64 " %s%s", run->sample_count, run->unit,
                                 run->sample_count == 1 ? "" : "s"));
    table_add_footer(table, "earlier_runs", "Earlier runs", TABLE_COUNT,
                     table_int((int64_t)nightly_earlier(nightly)));
    static const enum history_verdict counted[] = { HISTORY_NEW, HISTORY_UNSURE, HISTORY_EXISTING,
                                                    HISTORY_FIXED, HISTORY_UNKNOWN };
    static const char *const keys[] = { "new", "unsure", "existing", "fixed", "cannot_tell" };
    for (size_t i = 0; i < sizeof counted / sizeof *counted; i++)
        table_add_footer(
            table, keys[i], counted[i] == HISTORY_UNKNOWN ? "Cannot tell" : history_verdict_name(counted[i]),
            TABLE_COUNT, table_int((int64_t)nightly_count(nightly, nightly->judged, counted[i])));
}

bool nightly_begins_rows(const struct nightly *nightly, size_t series)
{
    const char *table = nightly->series.at[series].table;
    if (series > 0 && strcmp(nightly->series.at[series - 1].table, table) == 0)
        return false; /* very many rows: rows of a table are mostly adjacent */
    size_t first = 0;
    while (strcmp(nightly->series.at[first].table, table) != 0)
        first++;
    return first == series && strcmp(table, NIGHTLY_HEAD) != 0;
}

void nightly_add_tables(const struct nightly *nightly, bool all, struct result *result)
{
    nightly_add_run(nightly, result);
    add_head(nightly, result, TABLE_NS, "head",
             arena_printf(&result->arena, "Per %s", nightly->runs.at[nightly->judged].unit));
    add_head(nightly, result, TABLE_BYTES, "memory", "Memory");
    add_head(nightly, result, TABLE_SHARE, "shares", "Shares");
    add_head(nightly, result, TABLE_COUNT, "counts", "Counts");
    for (size_t i = 0; i < nightly->series.count; i++)
        if (nightly_begins_rows(nightly, i))
            nightly_add_rows(nightly, all, result, nightly->series.at[i].table, i);
}

/* ---- trends ---- */

/* Levels have the kind of the table. */
struct trend_row {
    struct text name;
    int64_t run;
    struct text time, commit;
    double level, error, reference;
    struct text verdict;
};

/* clang-format off */
static const struct table_column trend_columns[] = {
    COLUMN(struct trend_row, name, "name", "Name", TABLE_NAME, "what was measured"),
    COLUMN(struct trend_row, run, "run", "Run", TABLE_COUNT, "number of the run"),
    COLUMN(struct trend_row, time, "time", "Time", TABLE_TEXT, "when it ran, UTC"),
    COLUMN(struct trend_row, commit, "commit", "Commit", TABLE_TEXT, "its commit"),
    COLUMN(struct trend_row, level, "value", "Level", TABLE_NS, "mean of its steps without odd ones"),
    COLUMN(struct trend_row, error, "error", "Error", TABLE_NS, "standard error of the level, from its steps"),
    COLUMN(struct trend_row, reference, "reference", "Compared with", TABLE_NS, "level of the earlier runs"),
    COLUMN(struct trend_row, verdict, "verdict", "Verdict", TABLE_TEXT, "NEW, EXISTING, FIXED, UNSURE, better, accepted, first, cannot tell or same"),
};
/* clang-format on */

size_t nightly_choose(const struct nightly *nightly, size_t *series)
{
    enum { MOST_ROWS = 30 };
    SCOPED struct ordered *order = mem_alloc(mem_times(nightly->series.count + 1, sizeof *order));
    size_t count = 0, heads = 0;
    for (size_t i = 0; i < nightly->series.count; i++) {
        const struct history_finding *now = &nightly->history.series.at[i].now;
        bool head = strcmp(nightly->series.at[i].table, NIGHTLY_HEAD) == 0;
        heads += head;
        if (head || !is_quiet(now)) /* all of the head, in its order */
            order[count++] = (struct ordered){ i, head ? -1 : urgency(now), head ? 0 : size_of(now) };
    }
    if (count > 1)
        SORT_ARRAY(order, count, by_ordered);
    if (count > heads + MOST_ROWS)
        count = heads + MOST_ROWS;
    for (size_t i = 0; i < count; i++)
        series[i] = order[i].at;
    return count;
}

static void add_trend(const struct nightly *nightly, struct table *table, size_t at, size_t first)
{
    const struct history_series *series = &nightly->history.series.at[at];
    struct trend_row row = { 0 };
    row.name.at = nightly_name(nightly, at, &row.name.len);
    for (size_t run = first; run <= nightly->judged; run++) {
        if (isnan(series->level[run]))
            continue;
        const struct nightly_run *of = &nightly->runs.at[run];
        row.run = of->id;
        row.time = as_text(nightly_time_text(&table->arena, of->time_ns));
        row.commit = as_text(of->commit);
        row.level = series->level[run];
        row.error = series->error[run];
        row.reference = series->references[run];
        row.verdict = as_text(history_verdict_name((enum history_verdict)series->verdicts[run]));
        table_add_rows(table, &row, 1, sizeof row);
    }
}

void nightly_add_trends(const struct nightly *nightly, size_t most_runs, struct result *result)
{
    static const struct {
        enum table_kind kind;
        const char *key;
    } tables[] = { { TABLE_NS, "trend" },
                   { TABLE_BYTES, "trend_bytes" },
                   { TABLE_SHARE, "trend_shares" },
                   { TABLE_COUNT, "trend_counts" } };
    size_t first = most_runs > 0 && nightly->judged + 1 > most_runs ? nightly->judged + 1 - most_runs : 0;
    SCOPED size_t *chosen = mem_alloc(mem_times(nightly->series.count + 1, sizeof *chosen));
    size_t count = nightly_choose(nightly, chosen);
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++) {
        struct table *table =
            TABLE_OF_ROWS(tables[t].key, "Over the runs", trend_columns, (struct trend_row *)NULL, 0);
        size_t first_level = table_column_at(table, offsetof(struct trend_row, level));
        for (size_t column = first_level; column < first_level + 3; column++)
            table->columns[column].kind = tables[t].kind;
        for (size_t i = 0; i < count; i++)
            if (nightly->series.at[chosen[i]].kind == tables[t].kind)
                add_trend(nightly, table, chosen[i], first);
        if (table->row_count > 0)
            result_add_table(result, table);
        else
            table_free(table);
    }
}

const struct table_shape nightly_tables[] = {
    TABLE_SHAPE("head", columns),
    TABLE_SHAPE("memory", columns, .figures = TABLE_BYTES),
    TABLE_SHAPE("shares", columns, .figures = TABLE_SHARE),
    TABLE_SHAPE("counts", columns, .figures = TABLE_COUNT),
    TABLE_SHAPE("operators", columns),
    TABLE_SHAPE("kernels", columns),
    TABLE_SHAPE("kernel_medians", columns, .of = "facts"),
    TABLE_SHAPE("operator_medians", columns, .of = "facts"),
    TABLE_SHAPE("waiting", columns, .of = "facts"),
    TABLE_SHAPE("functions", columns),
    TABLE_SHAPE("actions", columns),
    TABLE_SHAPE("trend", trend_columns),
    TABLE_SHAPE("trend_bytes", trend_columns, .figures = TABLE_BYTES),
    TABLE_SHAPE("trend_shares", trend_columns, .figures = TABLE_SHARE),
    TABLE_SHAPE("trend_counts", trend_columns, .figures = TABLE_COUNT),
    { 0 },
};
