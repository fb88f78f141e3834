/* history.c - `tpa nightly list`, `accept`, `prune` and `export`; see nightly.h. */
#include "cli/nightly/nightly.h"

#include "base/moment.h"
#include "report/exact.h"
#include "report/page.h"
#include <math.h>

static void set_text(struct table *table, size_t row, size_t column, const char *text)
{
    if (text)
        table_set_text(table, row, column, text, strlen(text));
}

/* Print RESULT and free it. Returns the exit code. */
static int print_and_free(struct result *result, const struct nightly_args *args, struct tpa_error *err)
{
    bool good = nightly_print(result, args, err);
    result_free(result);
    return good ? EXIT_FINE : EXIT_TROUBLE;
}

/* ---- list ---- */

/* clang-format off */
enum { LIST_RUN, LIST_TIME, LIST_LABEL, LIST_GPU, LIST_COMMIT, LIST_HOST, LIST_SAMPLES, LIST_UNIT, LIST_STEP, LIST_NEW, LIST_UNSURE, LIST_EXISTING, LIST_FIXED, LIST_NO_BASELINE, LIST_COLUMNS };
static const struct table_column list_columns[LIST_COLUMNS] = {
    [LIST_RUN] = { "run", "Run", TABLE_COUNT, "number of the run in this store", 0, NULL },
    [LIST_TIME] = { "time", "Time", TABLE_TEXT, "when it ran, UTC", 0, NULL },
    [LIST_LABEL] = { "label", "Label", TABLE_NAME, "what ran", 0, NULL },
    [LIST_GPU] = { "gpu", "GPU", TABLE_NAME, "on what", 0, NULL },
    [LIST_COMMIT] = { "commit", "Commit", TABLE_TEXT, "as it was given", 0, NULL },
    [LIST_HOST] = { "host", "Host", TABLE_TEXT, "as recorded in the trace", TABLE_OPTIONAL, NULL },
    [LIST_SAMPLES] = { "samples", "Samples", TABLE_TALLY, "steps of the run, or files", 0, NULL },
    [LIST_UNIT] = { "unit", "Unit", TABLE_TEXT, "what a sample is", TABLE_OPTIONAL, NULL },
    [LIST_STEP] = { "step_time", "Step time", TABLE_NS, "level of the step time, or of what stands in its place", 0, NULL },
    [LIST_NEW] = { "new", "NEW", TABLE_COUNT, "figures and rows that were NEW in this run", 0, NULL },
    [LIST_UNSURE] = { "unsure", "UNSURE", TABLE_COUNT, "that were UNSURE", 0, NULL },
    [LIST_EXISTING] = { "existing", "EXISTING", TABLE_COUNT, "that were EXISTING", 0, NULL },
    [LIST_FIXED] = { "fixed", "FIXED", TABLE_COUNT, "that were FIXED", 0, NULL },
    [LIST_NO_BASELINE] = { "no_baseline", "No baseline", TABLE_TEXT, "why the run could not be judged, and no other is compared with it", 0, NULL },
};
/* clang-format on */

static size_t step_series(const struct nightly *nightly)
{
    for (size_t i = 0; i < nightly->history.series.count; i++)
        if (nightly->history.series.at[i].group == HISTORY_STEP)
            return i;
    return HISTORY_NO_RUN;
}

static bool same_group(const struct nightly_run *a, const struct nightly_run *b)
{
    return strcmp(a->label, b->label) == 0 && strcmp(a->gpu, b->gpu) == 0;
}

/* The runs of one label and GPU, judged. */
static void add_runs(const struct nightly *nightly, struct table *table)
{
    size_t step = step_series(nightly);
    for (size_t i = 0; i < nightly->runs.count; i++) {
        const struct nightly_run *run = &nightly->runs.at[i];
        size_t row = table_add_row(table);
        table_set_int(table, row, LIST_RUN, run->id);
        const char *time = nightly_time_text(&table->arena, run->time_ns);
        table_set_text(table, row, LIST_TIME, time, strlen(time) - strlen(":00")); /* to the minute */
        set_text(table, row, LIST_LABEL, run->label);
        set_text(table, row, LIST_GPU, run->gpu);
        set_text(table, row, LIST_COMMIT, run->commit);
        set_text(table, row, LIST_HOST, run->host);
        set_text(table, row, LIST_UNIT, run->unit);
        table_set_int(table, row, LIST_SAMPLES, run->sample_count);
        if (step != HISTORY_NO_RUN && !isnan(nightly->history.series.at[step].level[i]))
            table_set_int(table, row, LIST_STEP, llround(nightly->history.series.at[step].level[i]));
        table_set_int(table, row, LIST_NEW, (int64_t)nightly_count(nightly, i, HISTORY_NEW));
        table_set_int(table, row, LIST_UNSURE, (int64_t)nightly_count(nightly, i, HISTORY_UNSURE));
        table_set_int(table, row, LIST_EXISTING, (int64_t)nightly_count(nightly, i, HISTORY_EXISTING));
        table_set_int(table, row, LIST_FIXED, (int64_t)nightly_count(nightly, i, HISTORY_FIXED));
        set_text(table, row, LIST_NO_BASELINE, run->no_baseline);
    }
}

/* The label and GPU at FIRST of LISTED, loaded and judged. */
static bool add_group(struct store *store, const struct nightly_args *args, const struct nightly_run *first,
                      struct table *table, struct tpa_error *err)
{
    SCOPED_BY(nightly_release) struct nightly nightly = { 0 };
    bool good = store_load(store, first->label, first->gpu, &nightly, err);
    if (good) {
        nightly_look(&nightly, nightly.runs.count - 1, args);
        add_runs(&nightly, table);
    }
    return good;
}

/* Of many runs people want the newest: drop all but the last rows that --limit leaves. */
static void keep_newest(struct table *table, const struct limit *limit)
{
    size_t rows = table->row_count, keep_count = limit_rows(limit, rows);
    SCOPED bool *keep = mem_zalloc(rows + 1, sizeof *keep);
    for (size_t row = rows - keep_count; row < rows; row++)
        keep[row] = true;
    table_filter(table, keep);
    table->total_rows = rows;
}

int nightly_list(const struct nightly_args *args, struct tpa_error *err)
{
    struct store *store = nightly_open(args, STORE_READ, err);
    struct nightly listed = { 0 };
    bool good = store && store_list(store, args->label, &listed, err);
    struct table *table = table_open("runs", NULL, list_columns, LIST_COLUMNS);
    size_t groups = 0;
    for (size_t i = 0; i < listed.runs.count && good; i++) {
        const struct nightly_run *run = &listed.runs.at[i], *before = i > 0 ? run - 1 : NULL;
        bool same = before && same_group(before, run);
        if (same || (args->gpu && strcmp(args->gpu, run->gpu) != 0))
            continue;
        groups++;
        good = add_group(store, args, run, table, err);
    }
    nightly_release(&listed);
    store_close(store);
    if (!good) {
        table_free(table);
        return EXIT_TROUBLE;
    }
    struct result *result = result_open("tpa.nightly.list/1");
    struct limit limit = { .count = output_printer(&args->output) == &printer_html ? PAGE_MOST_ROWS : 0 };
    if (output_limit_given(&args->output))
        limit = args->output.limit;
    keep_newest(table, &limit);
    if (groups == 1 && table->row_count > 0) { /* they are the same in every row */
        const struct table *const listed_rows = table;
        table_add_text_footer(table, "label", "Label", table_cell(listed_rows, 0, LIST_LABEL)->text.at,
                              table_cell(listed_rows, 0, LIST_LABEL)->text.len);
        table_add_text_footer(table, "gpu", "GPU", table_cell(listed_rows, 0, LIST_GPU)->text.at,
                              table_cell(listed_rows, 0, LIST_GPU)->text.len);
        table->columns[LIST_LABEL].flags |= TABLE_OPTIONAL;
        table->columns[LIST_GPU].flags |= TABLE_OPTIONAL;
    }
    bool any_left_out = ANY(row, table->row_count, !table_is_missing(table, row, LIST_NO_BASELINE));
    if (!any_left_out)
        table->columns[LIST_NO_BASELINE].flags |= TABLE_HIDDEN;
    result_add_table(result, table);
    return print_and_free(result, args, err);
}

/* ---- accept ---- */

/* clang-format off */
enum { ACCEPT_NAME, ACCEPT_RUN, ACCEPT_BEFORE, ACCEPT_NOW, ACCEPT_COLUMNS };
static const struct table_column accept_columns[ACCEPT_COLUMNS] = {
    [ACCEPT_NAME] = { "name", "Accepted", TABLE_NAME, "figure or row", 0, NULL },
    [ACCEPT_RUN] = { "run", "From run", TABLE_COUNT, "from here on the level is compared with its new one", 0, NULL },
    [ACCEPT_BEFORE] = { "before", "Before", TABLE_TEXT, "level it was compared with until now", 0, NULL },
    [ACCEPT_NOW] = { "now", "Now", TABLE_TEXT, "level that is wanted", 0, NULL },
};
/* clang-format on */

/* VALUE as people read it: the kinds of the rows differ. */
static void set_readable(struct table *table, size_t row, size_t column, enum table_kind kind, double value)
{
    SCOPED struct buffer text = { 0 };
    figure_add_value(&text, kind, value);
    table_set_text(table, row, column, text.at, text.count);
}

static bool is_called(const struct nightly *nightly, size_t at, const char *name)
{
    size_t length;
    const char *title = nightly_name(nightly, at, &length);
    return (length == strlen(name) && memcmp(title, name, length) == 0) ||
           (nightly->series.at[at].length == strlen(name) &&
            memcmp(nightly->series.at[at].name, name, strlen(name)) == 0);
}

static bool unknown_metric(const struct nightly *nightly, const char *name, struct tpa_error *err)
{
    struct suggest near = suggest_for(name, strlen(name));
    for (size_t i = 0; i < nightly->series.count; i++) {
        suggest_consider(&near, nightly->series.at[i].name);
        if (nightly->series.at[i].title)
            suggest_consider(&near, nightly->series.at[i].title);
    }
    if (near.best)
        return tpa_fail(err, TPA_NOWHERE, "there is no figure '%s'; did you mean %s?", name, near.best);
    return tpa_fail(err, TPA_NOWHERE, "there is no figure '%s' in the runs of %s", name,
                    nightly->runs.at[0].label);
}

/* Accept the level of one series: from --run on, or from the first bad run. False and ERR on failure. */
static bool accept_one(struct store *store, const struct nightly *nightly, size_t at,
                       const struct nightly_args *args, struct table *table, struct tpa_error *err)
{
    const struct nightly_series *series = &nightly->series.at[at];
    const struct history_finding *now = &nightly->history.series.at[at].now;
    int64_t run = args->run                          ? (int64_t)args->run
                  : now->first_bad != HISTORY_NO_RUN ? nightly->runs.at[now->first_bad].id
                                                     : nightly->runs.at[nightly->judged].id;
    if (!store_accept(store, run, series->table, series->name, series->length, args->reason, moment_now(),
                      err))
        return false;
    size_t length, row = table_add_row(table);
    const char *name = nightly_name(nightly, at, &length);
    table_set_text(table, row, ACCEPT_NAME, name, length);
    table_set_int(table, row, ACCEPT_RUN, run);
    set_readable(table, row, ACCEPT_BEFORE, series->kind, now->reference);
    set_readable(table, row, ACCEPT_NOW, series->kind, now->level);
    return true;
}

/* Accept the named figures or, without names, all that are NEW or EXISTING in the last run. */
static bool accept_figures(struct store *store, const struct nightly *nightly,
                           const struct nightly_args *args, struct table *table, struct tpa_error *err)
{
    bool good = true, known = false;
    for (size_t i = 0; i < nightly->series.count && good; i++) {
        const struct history_finding *now = &nightly->history.series.at[i].now;
        bool wanted = args->metric ? is_called(nightly, i, args->metric) : now->first_bad != HISTORY_NO_RUN;
        known |= wanted;
        if (wanted)
            good = accept_one(store, nightly, i, args, table, err);
    }
    if (!good || known)
        return good;
    if (args->metric)
        return unknown_metric(nightly, args->metric, err);
    tpa_fail(err, TPA_NOWHERE, "there is nothing to accept: no figure of %s on %s is NEW or EXISTING",
             nightly->runs.at[0].label, nightly->runs.at[0].gpu);
    return tpa_hint(err, "--metric NAME accepts a figure, --run N all figures of a run");
}

/* --run without --metric: every figure, regardless of its verdict. */
static bool accept_run(struct store *store, const struct nightly_args *args, struct table *table,
                       struct tpa_error *err)
{
    if (!store_accept(store, (int64_t)args->run, NULL, NULL, 0, args->reason, moment_now(), err))
        return false;
    size_t row = table_add_row(table);
    set_text(table, row, ACCEPT_NAME, "all figures");
    table_set_int(table, row, ACCEPT_RUN, (int64_t)args->run);
    return true;
}

int nightly_accept(const struct nightly_args *args, struct tpa_error *err)
{
    if (!args->reason || !*args->reason) {
        tpa_fail(err, TPA_NOWHERE, "the reason for the new level is missing");
        tpa_hint(err, "--reason 'larger batch', so that later readers know why");
        return EXIT_TROUBLE;
    }
    if (!nightly_may_keep("reason", args->reason, err))
        return EXIT_TROUBLE;
    struct store *store = nightly_open(args, STORE_CHANGE, err);
    struct nightly nightly = { 0 };
    struct table *table = table_open("accepted", NULL, accept_columns, ACCEPT_COLUMNS);
    bool good = store && nightly_load(store, args, &nightly, err);
    if (good) {
        nightly_look(&nightly, nightly.runs.count - 1, args);
        good = args->run && !args->metric ? accept_run(store, args, table, err)
                                          : accept_figures(store, &nightly, args, table, err);
    }
    struct result *result = result_open("tpa.nightly.accept/1");
    if (good) {
        table_add_text_footer(table, "label", "Label", nightly.runs.at[0].label,
                              strlen(nightly.runs.at[0].label));
        table_add_text_footer(table, "gpu", "GPU", nightly.runs.at[0].gpu, strlen(nightly.runs.at[0].gpu));
        table_add_text_footer(table, "reason", "Reason", args->reason, strlen(args->reason));
    }
    result_add_table(result, table);
    nightly_release(&nightly);
    store_close(store);
    if (good)
        return print_and_free(result, args, err);
    result_free(result);
    return EXIT_TROUBLE;
}

int nightly_prune(const struct nightly_args *args, struct tpa_error *err)
{
    struct store_prune what = { .label = args->label, .keep = args->keep, .run = (int64_t)args->run };
    if (args->before && !moment_parse(args->before, &what.before_ns)) {
        tpa_fail(err, TPA_NOWHERE, "'%s' is not a point in time", args->before);
        tpa_hint(err, "2026-11-20, or 2026-11-20T03:00:00Z");
        return EXIT_TROUBLE;
    }
    what.has_before = args->before != NULL;
    if (!what.keep && !what.has_before && !what.run) {
        tpa_fail(err, TPA_NOWHERE, "the runs to forget are missing");
        tpa_hint(err, "--keep 400 (the newest of each label and GPU), --before 2026-01-01, or --run N");
        return EXIT_TROUBLE;
    }
    struct store *store = nightly_open(args, STORE_CHANGE, err);
    struct arena arena = { 0 };
    const char *label, *gpu;
    int64_t count = 0;
    bool good = store && (!what.run || store_find(store, what.run, &arena, &label, &gpu, err)) &&
                store_prune(store, &what, &count, err);
    arena_release(&arena);
    store_close(store);
    if (!good)
        return EXIT_TROUBLE;
    struct result *result = result_open("tpa.nightly.prune/1");
    struct table *table = table_open("pruned", NULL, NULL, 0);
    table_add_footer(table, "runs", "Runs forgotten", TABLE_COUNT, table_int(count));
    result_add_table(result, table);
    return print_and_free(result, args, err);
}

/* ---- export ---- */

/* clang-format off */
enum { LEVEL_RUN, LEVEL_SORT, LEVEL_NAME, LEVEL_REASON, LEVEL_TIME, LEVEL_COLUMNS };
static const struct table_column level_columns[LEVEL_COLUMNS] = {
    [LEVEL_RUN] = { "run", "From run", TABLE_COUNT, "the first run of the level that is wanted", 0, NULL },
    [LEVEL_SORT] = { "sort", "Sort", TABLE_TEXT, "as in the figures; missing: all of them", 0, NULL },
    [LEVEL_NAME] = { "name", "Name", TABLE_NAME, "as in the figures", 0, NULL },
    [LEVEL_REASON] = { "reason", "Reason", TABLE_TEXT, "why it is wanted", 0, NULL },
    [LEVEL_TIME] = { "time", "Accepted", TABLE_TEXT, "when that was said, UTC", 0, NULL },
};
enum { FACT_RUN, FACT_KEY, FACT_VALUE, FACT_COLUMNS };
static const struct table_column fact_columns[FACT_COLUMNS] = {
    [FACT_RUN] = { "run", "Run", TABLE_COUNT, "number of the run", 0, NULL },
    [FACT_KEY] = { "key", "Key", TABLE_TEXT, "name of the fact", 0, NULL },
    [FACT_VALUE] = { "value", "Value", TABLE_TEXT, "its value, as recorded", 0, NULL },
};
enum { FIGURE_RUN, FIGURE_SORT, FIGURE_NAME, FIGURE_KIND, FIGURE_CALLS, FIGURE_LEVEL, FIGURE_ERROR, FIGURE_SAMPLES, FIGURE_COLUMNS };
static const struct table_column figure_columns[FIGURE_COLUMNS] = {
    [FIGURE_RUN] = { "run", "Run", TABLE_COUNT, "number of the run", 0, NULL },
    [FIGURE_SORT] = { "sort", "Sort", TABLE_TEXT, "head, operators, kernels ...", 0, NULL },
    [FIGURE_NAME] = { "name", "Name", TABLE_NAME, "key of a figure of the head, or name of the row", 0, NULL },
    [FIGURE_KIND] = { "kind", "Kind", TABLE_TEXT, "ns, bytes, share or count: the unit of the figures", 0, NULL },
    [FIGURE_CALLS] = { "calls", "Calls", TABLE_NUMBER, "per sample", 0, NULL },
    [FIGURE_LEVEL] = { "level", "Level", TABLE_NUMBER, "mean of the samples, odd ones set aside", 0, NULL },
    [FIGURE_ERROR] = { "error", "Error", TABLE_NUMBER, "standard error of the level", 0, NULL },
    [FIGURE_SAMPLES] = { "samples", "Samples", TABLE_TEXT, "all of them, separated by blanks", 0, NULL },
};
/* clang-format on */

struct exporting {
    struct table *figures, *facts;
    int64_t run;
};

static void export_figure(void *context, const struct store_figure *figure)
{
    const struct exporting *exporting = context;
    struct table *table = exporting->figures;
    size_t row = table_add_row(table);
    table_set_int(table, row, FIGURE_RUN, exporting->run);
    set_text(table, row, FIGURE_SORT, figure->table);
    table_set_text(table, row, FIGURE_NAME, figure->name, figure->length);
    set_text(table, row, FIGURE_KIND, table_kind_name(figure->kind));
    table_set_number(table, row, FIGURE_CALLS, figure->calls);
    table_set_number(table, row, FIGURE_LEVEL, figure->level);
    table_set_number(table, row, FIGURE_ERROR, figure->error);
    SCOPED struct buffer text = { 0 };
    for (size_t i = 0; i < figure->count; i++) {
        buffer_puts(&text, i > 0 ? " " : "");
        exact_add_double(&text, figure->values[i]);
    }
    table_set_text(table, row, FIGURE_SAMPLES, text.at ? text.at : "", text.count);
}

static void export_fact(void *context, const char *key, const char *title, const char *value)
{
    const struct exporting *exporting = context;
    (void)title;
    size_t row = table_add_row(exporting->facts);
    table_set_int(exporting->facts, row, FACT_RUN, exporting->run);
    set_text(exporting->facts, row, FACT_KEY, key);
    set_text(exporting->facts, row, FACT_VALUE, value);
}

static void export_run(const struct nightly_run *run, struct table *table)
{
    size_t row = table_add_row(table);
    table_set_int(table, row, LIST_RUN, run->id);
    set_text(table, row, LIST_TIME, nightly_time_text(&table->arena, run->time_ns));
    set_text(table, row, LIST_LABEL, run->label);
    set_text(table, row, LIST_GPU, run->gpu);
    set_text(table, row, LIST_COMMIT, run->commit);
    set_text(table, row, LIST_HOST, run->host);
    table_set_int(table, row, LIST_SAMPLES, run->sample_count);
    set_text(table, row, LIST_UNIT, run->unit);
}

/* What was accepted in the runs of one label and GPU. */
static bool export_levels(struct store *store, const struct nightly_run *of, struct table *table,
                          struct tpa_error *err)
{
    SCOPED_BY(nightly_release) struct nightly nightly = { 0 };
    bool good = store_load(store, of->label, of->gpu, &nightly, err);
    for (size_t i = 0; i < nightly.acceptances.count && good; i++) {
        const struct nightly_acceptance *acceptance = &nightly.acceptances.at[i];
        size_t row = table_add_row(table);
        table_set_int(table, row, LEVEL_RUN, acceptance->run);
        set_text(table, row, LEVEL_SORT, acceptance->table);
        if (acceptance->name)
            table_set_text(table, row, LEVEL_NAME, acceptance->name, acceptance->length);
        set_text(table, row, LEVEL_REASON, acceptance->reason);
        set_text(table, row, LEVEL_TIME, nightly_time_text(&table->arena, acceptance->time_ns));
    }
    return good;
}

int nightly_export(const struct nightly_args *args, struct tpa_error *err)
{
    struct store *store = nightly_open(args, STORE_READ, err);
    struct nightly listed = { 0 };
    bool good = store && store_list(store, args->label, &listed, err);
    struct table *runs = table_open("runs", "Runs", list_columns, LIST_UNIT + 1);
    struct table *levels = table_open("accepted", "Levels that are wanted", level_columns, LEVEL_COLUMNS);
    const struct nightly_run *exported = NULL;
    struct exporting exporting = { table_open("figures", "Figures", figure_columns, FIGURE_COLUMNS),
                                   table_open("facts", "What recordings say", fact_columns, FACT_COLUMNS),
                                   0 };
    for (size_t i = 0; i < listed.runs.count && good; i++) {
        const struct nightly_run *run = &listed.runs.at[i];
        if ((args->gpu && strcmp(args->gpu, run->gpu) != 0) || (args->run && (int64_t)args->run != run->id))
            continue;
        exporting.run = run->id;
        export_run(run, runs);
        if (!exported || !same_group(exported, run))
            good = export_levels(store, run, levels, err);
        exported = run;
        good = good && store_facts(store, run->id, export_fact, &exporting, err) &&
               store_figures(store, run->id, export_figure, &exporting, err);
    }
    nightly_release(&listed);
    store_close(store);
    struct result *result = result_open("tpa.nightly.export/1");
    result_add_table(result, runs);
    result_add_table(result, levels);
    result_add_table(result, exporting.facts);
    result_add_table(result, exporting.figures);
    if (good)
        return print_and_free(result, args, err);
    result_free(result);
    return EXIT_TROUBLE;
}

const struct table_shape nightly_history_tables[] = {
    TABLE_SHAPE("runs", list_columns),      TABLE_SHAPE("accepted", accept_columns),
    TABLE_SHAPE("accepted", level_columns), TABLE_SHAPE("figures", figure_columns),
    TABLE_SHAPE("facts", fact_columns),     { 0 },
};
