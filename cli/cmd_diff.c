/* cmd_diff.c - `tpa diff`: what changed, and is it significant. */
#include "treediff/tree_diff.h"
#include "cli/analysis.h"
#include "cli/kept.h"
#include "cli/sides.h"
#include "cli/nightly/noise.h"
#include "report/cases.h"
#include <math.h>

struct diff_args {
    struct load_args load;
    struct output_args output;
    struct opt_list base, other, gates;
    int by;
    int unsure; /* enum gate_unsure */
    int64_t min_change_ns;
    double noise;
    const char *store, *label;
    struct ranges steps;
    bool tree, inclusive, first_step, strip_dirs, missing_ranks, all;
};

static const struct diff_args diff_defaults = {
    .load = LOAD_DEFAULTS,
    .output = { .own = gate_printers, .limit = ANALYSIS_LIMIT_DEFAULT },
};

static const struct opt_choice by_words[] = {
    [MEASURE_BY_OPERATOR] = { "op", "operators by time on the host, and kernels by time on the device",
                              "operator" },
    [MEASURE_BY_SHAPE] = { "shape", "operators and the shapes of their inputs", NULL },
    [MEASURE_BY_KERNEL] = { "kernel", "kernels, copies and memsets", NULL },
    [MEASURE_BY_NAME] = { "name", "whatever has a name, on the host and on devices together", NULL },
    [MEASURE_BY_CATEGORY] = { "category", NULL, NULL },
    [MEASURE_BY_STEP] = { "step", "step 3 with step 3", NULL },
    [MEASURE_BY_MODULE] = { "module", "modules (torch.nn.Module)", NULL },
    [MEASURE_BY_THREAD] = { "thread", NULL, NULL },
    [MEASURE_BY_STREAM] = { "stream", NULL, NULL },
    [MEASURE_BY_DEVICE] = { "device", NULL, NULL },
    { 0 },
};

OUTPUT_FORMATS(diff_format_at, gate_printers);

static const struct opt diff_opts[] = {
    OPT_GROUP("Sides"),
    OPT_FILES(0, "base", struct diff_args, base, "FILE", "files of the first side, up to the next option"),
    OPT_FILES(0, "new", struct diff_args, other, "FILE", "files of the second side"),
    OPT_FLAG(0, "first-step", struct diff_args, first_step, "look at the first step of each file only"),
    OPT_RANGES(
        0, "steps", struct diff_args, steps, "A..B",
        "with --tree: only these steps (ProfilerStep#N), each with the step of the same place: 3..7, 3.., or 1,4"),
    OPT_GROUP("Noise"),
    OPT_SHARE(
        0, "noise", struct diff_args, noise, "SHARE",
        "how much runs of one configuration differ: the standard deviation of their step time, e.g. 3%"),
    OPT_FILE(0, "store", struct diff_args, store, "FILE",
             "take that from the nights of a store of tpa nightly"),
    OPT_TEXT('l', "label", struct diff_args, label, "NAME", "what ran, if the store has several labels"),
    OPT_GROUP("Rows"),
    OPT_FLAG(0, "tree", struct diff_args, tree,
             "compare the call trees: which operator, where, and which were renamed, fused or removed"),
    OPT_CHOICE('b', "by", struct diff_args, by, by_words, "WHAT", "what makes a row"),
    OPT_FLAG(0, "inclusive", struct diff_args, inclusive,
             "times of operators and functions with what they called, which then counts many times"),
    OPT_TIME(0, "min-change", struct diff_args, min_change_ns, "TIME",
             "a change per step smaller than TIME is no change, e.g. 50us"),
    OPT_FLAG('a', "all", struct diff_args, all, "show rows that are the same, too, in a table for each kind"),
    OPT_FLAG(0, "strip-dirs", struct diff_args, strip_dirs,
             "Python profiles: drop directories from file names; functions that become identical are merged"),
    OPT_GROUP("Gates"),
    OPT_LIST(
        'g', "gate", struct diff_args, gates, "GATE",
        "exit with 1 when a real change exceeds this: 5% (the step time), op=10%:REGEX (rows), memory=2%, "
        "idle=+3pp; several at once"),
    OPT_CHOICE(
        0, "unsure", struct diff_args, unsure, gate_unsure_words, "WHAT",
        "what to do where a gate cannot be judged: its interval reaches the limit, or a recording is damaged"),
    OPT_FLAG(0, "allow-missing-ranks", struct diff_args, missing_ranks, ALLOW_MISSING_RANKS_HELP),
    OUTPUT_OPTIONS_WITH(struct diff_args, output, diff_format_at),
    LOAD_OPTIONS(struct diff_args, load),
    OPT_END,
};

/* ---- output for people ---- */

static bool is_rows(const struct table *table)
{
    static const char *const others[] = { "head", "memory",  "gates",   "outliers", "renamed", "blocks",
                                          "slow", "account", "changes", "classes",  "moved" };
    return !ANY(i, sizeof others / sizeof *others, strcmp(table->key, others[i]) == 0);
}

static bool is_unexplained(const struct table *table, size_t row)
{
    const union table_cell *name = table_cell(table, row, DIFF_NAME);
    return table->row_count > 0 && strcmp(name->text.at, DIFF_UNEXPLAINED) == 0 &&
           table_is_missing(table, row, DIFF_VERDICT);
}

static double number_or_0(const struct table *table, size_t row, size_t column)
{
    return table_is_missing(table, row, column) ? 0 : table_cell(table, row, column)->f;
}

/* Remove unchanged rows unless all are requested. Returns the number of remaining rows. */
static size_t hide_unchanged(struct table *table)
{
    bool *keep = mem_zalloc(table->row_count + 1, sizeof *keep);
    size_t hidden = 0, kept = 0;
    for (size_t row = 0; row < table->row_count; row++) {
        bool is_integer = !table_is_number(table->columns[DIFF_CHANGE].kind);
        const union table_cell *change = table_cell(table, row, DIFF_CHANGE);
        keep[row] = is_unexplained(table, row) || (is_integer ? change->i != 0 : change->f != 0) ||
                    number_or_0(table, row, DIFF_CALLS_BEFORE) != number_or_0(table, row, DIFF_CALLS_AFTER);
        hidden += !keep[row];
        kept += keep[row] && !is_unexplained(table, row);
    }
    table_filter(table, keep);
    free(keep);
    if (hidden)
        table_add_footer(table, "unchanged", "Rows without any change, not shown", TABLE_TALLY,
                         table_int((int64_t)hidden));
    return kept;
}

/* Keep COUNT rows, followed by the unexplained rest. */
static void diff_limit_rows_of(struct table *table, size_t count)
{
    bool last = table->row_count > 0 && is_unexplained(table, table->row_count - 1);
    if (count + last >= table->row_count)
        return;
    if (last)
        memcpy(table_cell(table, count, 0), table_cell(table, table->row_count - 1, 0),
               table->column_count * sizeof *table->cells);
    table_truncate(table, count + last);
}

enum { ROWS_IN_MARKDOWN = 10 };

/* How much row ROW of the gates grew; growth from 0 is infinite. */
static double growth_at(const struct table *gates, size_t row, size_t found)
{
    return table_is_missing(gates, row, found) ? INFINITY : table_cell(gates, row, found)->f;
}

/* Of a gate that held for many rows, only the row closest to the limit is shown. */
static void shorten_gates(struct table *gates)
{
    struct case_columns at;
    int found = table_find_column(gates, "found", strlen("found"));
    if (!cases_find(gates, &at) || found < 0)
        return;
    bool *keep = mem_zalloc(gates->row_count + 1, sizeof *keep);
    size_t hidden = 0;
    for (size_t first = 0, end; first < gates->row_count; first = end) {
        end = cases_end(gates, &at, first);
        size_t closest = first, kept = 0;
        for (size_t row = first; row < end; row++) {
            keep[row] = strcmp(table_cell(gates, row, at.outcome)->text.at, CASE_WITHIN) != 0;
            kept += keep[row];
            if (growth_at(gates, row, (size_t)found) > growth_at(gates, closest, (size_t)found))
                closest = row;
        }
        if (kept == 0)
            keep[closest] = ++kept;
        hidden += end - first - kept;
    }
    table_filter(gates, keep);
    free(keep);
    if (hidden)
        table_add_footer(gates, "held", "Rows that held, not shown", TABLE_TALLY, table_int((int64_t)hidden));
}

/* A comment has room for the names of changed rows, the change, and its significance. */
static void narrow(struct table *table)
{
    static const int wide[] = { DIFF_PART,        DIFF_LOW,         DIFF_HIGH,      DIFF_CALLS_BEFORE,
                                DIFF_CALLS_AFTER, DIFF_CALL_BEFORE, DIFF_CALL_AFTER };
    if (table->column_count != DIFF_COLUMNS)
        return;
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
        table->columns[wide[i]].flags |= TABLE_OPTIONAL;
}

/* Remove the rest that no row explains if it is negative: rows overlap, on threads or streams, and there is no rest. */
static void drop_negative_rest(struct table *table)
{
    size_t last = table->row_count - 1;
    if (table->row_count == 0 || !is_unexplained(table, last) ||
        table_is_number(table->columns[DIFF_BEFORE].kind))
        return;
    if (table_cell(table, last, DIFF_BEFORE)->i < 0 || table_cell(table, last, DIFF_AFTER)->i < 0) {
        SCOPED bool *keep = mem_zalloc(table->row_count, sizeof *keep);
        memset(keep, true, last * sizeof *keep);
        table_filter(table, keep);
    }
}

/* Reduce the table of rows at I for people: only the most important changes. False if nothing is left. */
static bool shorten_rows(struct result *result, size_t i, const struct limit *limit)
{
    struct table *table = result->tables.at[i];
    drop_negative_rest(table);
    if (!limit->is_share && limit->count == 0)
        return true; /* all was requested */
    size_t rows = table->row_count;
    if (hide_unchanged(table) == 0) {
        ADD_NOTICE(result, "unchanged", (int64_t)rows, "%s: none of %zu rows changed", table->key, rows);
        table_free(table);
        return false;
    }
    diff_limit_rows_of(table, limit_rows(limit, table->row_count));
    return true;
}

/* Reduce the result for people; the head and the gates are always shown completely. */
static void shorten(struct result *result, const struct output_args *output)
{
    const struct printer *printer = output_printer(output);
    bool markdown = strcmp(printer->name, "md") == 0, people = output_is_for_people(output);
    if (printer == &printer_junit || printer == &printer_github)
        return; /* they show only the gates */
    struct limit limit = output_limit_or(output, markdown ? ROWS_IN_MARKDOWN : ANALYSIS_LIMIT_FOR_PEOPLE);
    size_t kept = 0;
    for (size_t i = 0; i < result->tables.count; i++) {
        struct table *table = result->tables.at[i];
        bool rows = is_rows(table);
        if (markdown && !output->wide)
            narrow(table);
        if (people && strcmp(table->key, "gates") == 0)
            shorten_gates(table);
        table->folds =
            markdown && (rows || strcmp(table->key, "renamed") == 0 || strcmp(table->key, "outliers") == 0);
        if (rows && !people && (limit.is_share || limit.count))
            diff_limit_rows_of(table, limit_rows(&limit, table->row_count));
        if (!rows || !people || shorten_rows(result, i, &limit))
            result->tables.at[kept++] = table;
    }
    result->tables.count = kept;
}

/* Move the table called KEY to place TO. */
static void move_table(struct result *result, const char *key, size_t to)
{
    for (size_t i = to; i < result->tables.count; i++) {
        struct table *table = result->tables.at[i];
        if (strcmp(table->key, key) != 0)
            continue;
        for (; i > to; i--)
            result->tables.at[i] = result->tables.at[i - 1];
        result->tables.at[to] = table;
        return;
    }
}

/* ---- the command ---- */

/* The only table of rows to make for traces or facts; NULL: all. */
static const char *only_table(enum measure_source source, enum measure_by by)
{
    if (source != MEASURE_TRACES && source != MEASURE_FLEETS)
        return NULL;
    switch (by) {
    case MEASURE_BY_SHAPE: return "operators";
    case MEASURE_BY_KERNEL: return source == MEASURE_FLEETS ? "kernel_medians" : "kernels";
    default: return NULL;
    }
}

/* Gates need comparable sides: all ranks of the job, the same on both. */
static bool diff_check_ranks(struct measures *const sides[2], const struct diff_args *args,
                             struct tpa_error *err)
{
    if (args->gates.count == 0 || args->missing_ranks)
        return true;
    const char *before = measures_fact(sides[0], "ranks"), *after = measures_fact(sides[1], "ranks");
    if (!gate_check_ranks(sides[0], "the first side", err) ||
        !gate_check_ranks(sides[1], "the second side", err))
        return false;
    if ((!before || !after) && sides[0]->files != sides[1]->files) {
        tpa_fail(err, TPA_NOWHERE, "the sides have %zu and %zu files, which do not record their ranks",
                 sides[0]->files, sides[1]->files);
        return tpa_hint(err,
                        "a rank may be missing: give as many files on both sides, or --allow-missing-ranks");
    }
    if (!before || !after || strcmp(before, after) == 0)
        return true;
    tpa_fail(err, TPA_NOWHERE, "the sides are not of the same ranks: %s against %s", before, after);
    return tpa_hint(err, "a gate compares the same ranks; --allow-missing-ranks compares these all the same");
}

/* Work on a GPU cannot be compared with the same work on the host, by any row. */
static bool diff_check_devices(struct measures *const sides[2], struct tpa_error *err)
{
    if (sides[0]->source != MEASURE_TRACES || sides[1]->source != MEASURE_TRACES ||
        sides[0]->has_gpu == sides[1]->has_gpu)
        return true;
    tpa_fail(err, TPA_NOWHERE,
             "the %s side ran on the CPU alone and the %s on a GPU: they cannot be compared",
             sides[0]->has_gpu ? "second" : "first", sides[0]->has_gpu ? "first" : "second");
    tpa_hint(err, "if both ran on a GPU, record both with ProfilerActivity.CUDA");
    return tpa_cannot(err, "not_comparable");
}

/* Rows that changed: as many as a screen has room for, beside the account of a step and what stands around both. */
enum { CHANGES_FOR_PEOPLE = 15, FEWEST_CHANGES = 3, SCREEN_LINES = 30, OTHER_LINES = 17 };

/* Is the result for people who did not ask for tables or rows of their own? */
static bool shows_screen(const struct diff_args *args)
{
    const struct limit *limit = &args->output.limit;
    bool all = args->all || (output_limit_given(&args->output) && !limit->is_share && limit->count == 0);
    return output_is_for_people(&args->output) && !all && !args->output.tables && !args->output.columns &&
           !args->output.wide;
}

static bool is_head(const struct table *table)
{
    return strcmp(table->key, "account") == 0 || strcmp(table->key, "head") == 0 ||
           strcmp(table->key, "memory") == 0;
}

/* How many rows that changed fit beside the figures of a step, in the table KEY, and the notes above. */
static size_t changes_that_fit(const struct result *result, const char *key)
{
    size_t lines = OTHER_LINES;
    for (size_t i = 0; i < result->notices.count; i++)
        lines += result->notices.at[i].on_top || result->notices.at[i].of_input;
    for (size_t i = 0; i < result->tables.count; i++)
        lines += strcmp(result->tables.at[i]->key, key) == 0 ? result->tables.at[i]->row_count : 0;
    size_t rows = lines < SCREEN_LINES ? SCREEN_LINES - lines : 0;
    return rows < FEWEST_CHANGES ? FEWEST_CHANGES : rows > CHANGES_FOR_PEOPLE ? CHANGES_FOR_PEOPLE : rows;
}

/* The account of a step and the rows that changed; tables of all rows where these are not to be had. */
static void add_screen(const struct diff *diff, const struct output_args *output, struct result *result)
{
    struct limit limit = output_limit_or(output, CHANGES_FOR_PEOPLE);
    size_t before = result->tables.count, most = limit.is_share ? CHANGES_FOR_PEOPLE : (size_t)limit.count;
    diff_add_tables(diff, result);
    size_t added = result->tables.count;
    bool account = diff_add_account(diff, result);
    if (!output_limit_given(output) && strcmp(output_printer(output)->name, "table") == 0)
        most = changes_that_fit(result, account ? "account" : "head");
    bool changes = diff_add_changes(diff, most, result);
    for (size_t i = before; i < added; i++)
        result->tables.at[i]->detail = changes && strcmp(result->tables.at[i]->key, "head") != 0;
    size_t kept = before;
    for (size_t i = before; i < result->tables.count; i++) {
        struct table *table = result->tables.at[i];
        bool replaced =
            i < added && ((account && strcmp(table->key, "head") == 0) || (changes && is_rows(table)));
        if (replaced)
            table_free(table);
        else
            result->tables.at[kept++] = table;
    }
    result->tables.count = kept;
    move_table(result, "account", before);
    size_t heads = before; /* rows follow the figures of whole steps */
    while (heads < result->tables.count && is_head(result->tables.at[heads]))
        heads++;
    move_table(result, "changes", heads);
}

/* What the findings of a comparison have in common. */
struct findings_seen {
    size_t shared, alone, unsure, sure;
};

static void see_finding(struct findings_seen *seen, const struct finding *finding)
{
    seen->shared += finding->present[0] && finding->present[1];
    seen->alone += finding->present[0] != finding->present[1];
    seen->unsure += finding->verdict == VERDICT_UNSURE;
    seen->sure += finding->verdict == VERDICT_MORE || finding->verdict == VERDICT_LESS;
}

/* Say that no answer is possible where no row is on both sides, or no change can be told from chance. */
static void check_findings(const struct diff *diff, enum gates_outcome outcome, struct result *result)
{
    struct findings_seen rows = { 0 }, step = { 0 };
    for (size_t t = 0; t < diff->tables.count; t++)
        for (size_t i = 0; i < diff->tables.at[t].rows.count; i++)
            see_finding(&rows, &diff->tables.at[t].rows.at[i].finding);
    if (diff->metrics.count)
        see_finding(&step, &diff->metrics.at[0].finding);
    bool unsure = rows.unsure + step.unsure && !(rows.sure + step.sure);
    if (rows.alone && !rows.shared)
        result_cannot_answer(result, "not_comparable", "the two sides have no row in common",
                             "compare two recordings of the same program");
    else if (unsure || outcome == GATES_CANNOT_TELL)
        result_cannot_answer(result, "too_few_steps",
                             outcome == GATES_CANNOT_TELL
                                 ? "a gate cannot be judged"
                                 : "there are too few runs or steps to tell a change from chance",
                             "record several steps on each side, or several runs with --base and --new");
}

/* Fill RESULT. False and ERR if the sides cannot be compared. */
static bool compare(const struct invocation *call, struct measures *const sides[2], struct result *result,
                    enum gates_outcome *outcome, struct tpa_error *err)
{
    const struct diff_args *args = call->args;
    struct diff_options options = { .min_change_ns = args->min_change_ns,
                                    .noise = { args->noise, INFINITY },
                                    .by_file = args->by == MEASURE_BY_STEP,
                                    .only = only_table(sides[0]->source, (enum measure_by)args->by) };
    if (!diff_check_devices(sides, err))
        return false;
    if (args->store && !nightly_noise(args->store, args->label, &options.noise, err))
        return false;
    SCOPED_OBJECT struct diff *diff = diff_open(sides[0], sides[1], &options, err);
    if (!diff)
        return false;
    diff_notice_one_job(diff, result);
    diff_add_verdict(diff, result);
    if (shows_screen(args))
        add_screen(diff, &args->output, result);
    else
        diff_add_tables(diff, result);
    slow_add_table(sides[0], sides[1], result);
    move_table(result, "slow", 1);
    blocks_add_table(sides[0], sides[1], result);
    bool good = diff_check_ranks(sides, args, err) &&
                gates_check(diff, &args->gates, gate_unsure_fails(args->unsure),
                            args->missing_ranks ? LACKS_FILES : 0, result, outcome, err);
    size_t heads = 0;
    while (heads < result->tables.count && !is_rows(result->tables.at[heads]) &&
           strcmp(result->tables.at[heads]->key, "changes") != 0)
        heads++;
    move_table(result, "gates", heads);
    if (diff_is_same(diff))
        ADD_NOTICE(result, "no_differences", 0, "no differences");
    check_findings(diff, *outcome, result);
    return good;
}

static int exit_code(enum gates_outcome outcome, const struct diff_args *args)
{
    bool fails =
        outcome == GATES_EXCEEDED || (outcome == GATES_CANNOT_TELL && gate_unsure_fails(args->unsure));
    return fails ? EXIT_LIMIT_PASSED : EXIT_FINE;
}

/* ---- trees ---- */

/* Reject options without effect: those of the other comparison, and --steps without --tree. */
static bool check_tree_options(const struct diff_args *args, struct tpa_error *err)
{
    if (!args->tree && args->steps.count) {
        tpa_fail(err, TPA_NOWHERE, "--steps is for a comparison of trees");
        return tpa_hint(err, "add --tree; without it steps are samples, and --first-step looks at one");
    }
    const char *option = args->by != MEASURE_BY_OPERATOR ? "--by"
                         : args->inclusive               ? "--inclusive"
                         : args->strip_dirs              ? "--strip-dirs"
                         : args->gates.count             ? "--gate"
                         : args->noise > 0               ? "--noise"
                         : args->store                   ? "--store"
                                                         : NULL;
    if (args->tree && option) {
        tpa_fail(err, TPA_NOWHERE, "%s has no meaning for a comparison of trees", option);
        return tpa_hint(err, "leave out %s, or --tree", option);
    }
    if (args->tree && args->first_step && args->steps.count)
        return tpa_fail(err, TPA_NOWHERE, "--first-step and --steps exclude each other");
    if (args->noise > 0 && args->store)
        return tpa_fail(err, TPA_NOWHERE, "--noise and --store exclude each other: both give the noise");
    if (args->label && !args->store)
        return tpa_fail(err, TPA_NOWHERE, "--label is for the store of --store");
    return true;
}

static bool print_tree(const struct diff_args *args, struct result *result, struct tpa_error *err)
{
    struct output_args output = args->output;
    struct limit limit = output_limit_or(&output, ANALYSIS_LIMIT_FOR_PEOPLE);
    if (output_is_for_people(&output))
        tree_shorten(result, &limit);
    output.limit = output_is_for_people(&output) ? (struct limit){ 0 } : limit;
    return output_result(result, &output, err);
}

static int tree_main(const struct invocation *call, struct tpa_error *err)
{
    const struct diff_args *args = call->args;
    const struct work_tree_options options = { .first_step = args->first_step, .steps = args->steps };
    const struct kept_query query = { call };
    bool kept = false;
    struct sides_found found;
    if (!sides_find(call, &args->base, &args->other, &found, err))
        return EXIT_TROUBLE;
    struct result *result = result_open("tpa.diff.tree/1");
    struct tree_sides sides;
    int code = EXIT_TROUBLE;
    if (tree_sides_read(call, &args->load, &found, &options, &sides, result, err)) {
        SCOPED_OBJECT struct tree_diff *diff =
            tree_diff_open(sides.trees[0], sides.trees[1], args->min_change_ns);
        tree_diff_add_tables(diff, result);
        kept = kept_put(&query, result);
        code = !kept_branch() || print_tree(args, result, err) ? EXIT_FINE : EXIT_TROUBLE;
    }
    EACH(arena_free, sides.trees[0], sides.trees[1]);
    names_free(sides.names);
    if (!kept)
        result_free(result);
    return code;
}

/* Make the tables of two memory snapshots fit on a screen: the figures that people compare, of the lines that changed most. */
static void fit_snapshots(struct result *result)
{
    enum { TITLE_LINES = 4, CUT_LINES = 2, NOTE_WIDTH = 90, FEWEST_LINES = 2 };
    size_t lines = 2,
           tables = 0; /* a blank one behind the notes above, and the one that says what else there is */
    for (size_t i = 0; i < result->notices.count; i++)
        lines += 1 + strlen(result->notices.at[i].text) / NOTE_WIDTH;
    for (size_t i = 0; i < result->tables.count; i++) {
        struct table *table = result->tables.at[i];
        if (strcmp(table->key, "blocks") == 0) {
            table->detail = true;
            continue;
        }
        narrow(table);
        lines += TITLE_LINES;
        if (is_rows(table)) {
            lines += CUT_LINES;
            tables++;
            table->single = SINGLE_ROW;
            table->footers.count = 0;
        } else {
            lines += table->row_count;
        }
    }
    size_t room = lines < SCREEN_LINES ? SCREEN_LINES - lines : 0, left = tables;
    for (size_t i = result->tables.count;
         i-- > 0 && left > 0;) { /* the last first: what it does not need is the first's */
        struct table *table = result->tables.at[i];
        if (!is_rows(table))
            continue;
        size_t share = room / left--;
        diff_limit_rows_of(table, share < FEWEST_LINES ? FEWEST_LINES : share);
        room -= table->row_count < room ? table->row_count : room;
    }
}

/* Shorten RESULT, of SNAPSHOTS or not, and print it. */
static bool print_diff(const struct diff_args *args, struct result *result, bool snapshots,
                       struct tpa_error *err)
{
    struct output_args output = args->output;
    shorten(result, &output);
    if (snapshots && shows_screen(args) && !output_limit_given(&output) &&
        strcmp(output_printer(&output)->name, "table") == 0)
        fit_snapshots(result);
    output.limit = (struct limit){ 0 };
    return output_result(result, &output, err);
}

static int diff_main(const struct invocation *call, struct tpa_error *err)
{
    const struct diff_args *args = call->args;
    if (!check_tree_options(args, err))
        return EXIT_TROUBLE;
    const struct kept_query query = { call };
    struct result *known = kept_find(&query);
    if (known)
        return (args->tree ? print_tree(args, known, err) : print_diff(args, known, false, err))
                   ? EXIT_FINE
                   : EXIT_TROUBLE;
    if (args->tree)
        return tree_main(call, err);
    struct sides_options options = {
        .measure = { .by = (enum measure_by)args->by,
                     .inclusive = args->inclusive,
                     .first_step = args->first_step },
        .strip_dirs = args->strip_dirs,
    };
    struct sides_found found;
    if (!sides_find(call, &args->base, &args->other, &found, err))
        return EXIT_TROUBLE;
    struct result *result = result_open("tpa.diff/1");
    struct measures *sides[2] = { NULL, NULL };
    enum gates_outcome outcome = GATES_WITHIN;
    int code = EXIT_TROUBLE;
    bool kept = false;
    mem_keep_small_blocks(); /* saves page faults: tables of names grow many times */
    bool good = sides_measure(call, &args->load, &found, &options, sides, result, err);
    if (good && compare(call, sides, result, &outcome, err)) {
        kept = kept_put(&query, result);
        if (!kept_branch() || print_diff(args, result, sides[0]->source == MEASURE_SNAPSHOTS, err))
            code = exit_code(outcome, args);
    }
    EACH(arena_free, sides[0], sides[1]);
    if (!kept)
        result_free(result);
    return code;
}

const struct command cmd_diff = {
    .name = "diff",
    .summary = "what changed between two sides, and whether it is real",
    .operands = "[TRACE...]",
    .description =
        "Compares the second side with the first: the time of a step and where it goes. Then come the operators (own time on "
        "the host) and kernels (time on the device) that changed beyond noise, largest change first. A side is a file, or several "
        "with --base and --new: traces, Python profiles, memory snapshots, results that were saved with --format json, or facts "
        "of a job of many ranks (tpa facts; a directory of them, too). All figures "
        "are means per step, so sides of different length can be compared; what makes them unlike is said on top.\n\n"
        "The steps of a run share its level, so runs are the samples: with two or more a side, Student's t of their levels "
        "(for rows corrected by Holm) tells a change from noise. One run a side is judged by the spread of its steps, and the verdict is "
        "on these two recordings; --noise or --store give the noise between runs.\n\n"
        "Exits with 0; with 1 when a real change exceeds a --gate, or a gate cannot be judged, as where a recording is damaged; with 2 when the sides cannot be compared.",
    .tables = { diff_screen_tables, diff_tables, diff_class_tables, tree_tables, slow_tables, blocks_tables, gates_tables },
    .options = diff_opts,
    COMMAND_ARGS(diff_defaults),
    .main = diff_main,
    .examples = {
        "tpa diff baseline.json optimized.json",
        "tpa diff --tree --first-step baseline.json optimized.json  # place by place in the call trees",
        "tpa diff --base a1.json.gz a2.json.gz --new b1.json.gz b2.json.gz --gate 5%",
        "tpa diff before.prof after.prof  # Python profiles; memory snapshots work the same way",
        "tpa diff before/ after/  # directories of facts: two jobs of many ranks",
        "tpa diff --by kernel --format md baseline.json optimized.json  # for a pull request",
        "tpa diff --gate 5% --format junit -o gates.xml baseline.json optimized.json",
    },
    .section = SECTION_COMPARE,
    .reads_snapshots = true,
    .reads_traces = true,
};
