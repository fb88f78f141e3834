/* cmd_nightly.c - `tpa nightly`: a history of runs, and changes in the last one. */
#include "history/nightly_answer.h"
#include "charts/charts.h"
#include "base/moment.h"
#include "cli/sides.h"
#include "cli/nightly/nightly.h"
#include "report/page.h"
#include <math.h>
#include <unistd.h>

/* Verdicts are shown to CI systems, and as a page. */
static const struct printer *const own_printers[] = { &printer_junit, &printer_github, &printer_html, NULL };

static const struct nightly_args nightly_defaults = {
    .window = 14,
    .false_alarms = 0.01,
    .min_change = { .share = 0.005 },
    .wait_ns = INT64_C(60000000000),
    .load = LOAD_DEFAULTS,
    .output = { .own = own_printers, .limit = { .share = LIMIT_NOT_GIVEN } },
};

static int nightly_show(const struct nightly_args *args, struct tpa_error *err);

static const struct {
    struct opt_choice word;
    int (*main)(const struct nightly_args *args, struct tpa_error *err);
} actions[] = {
    { { "list", "the runs of the store, each with what was NEW in it", NULL }, nightly_list },
    { { "show", "the verdict on a run, as it was or would be now", NULL }, nightly_show },
    { { "accept", "a new level is wanted: compare with it from now on", NULL }, nightly_accept },
    { { "prune", "forget runs", NULL }, nightly_prune },
    { { "export", "all that the store holds", NULL }, nightly_export },
};
enum { ACTIONS = sizeof actions / sizeof *actions };

static bool action_at(size_t index, struct opt_choice *choice)
{
    if (index < ACTIONS)
        *choice = actions[index].word;
    return index < ACTIONS;
}

/* ---- options ---- */

static bool parse_change(const struct opt *opt, const char *text, void *field)
{
    (void)opt;
    struct nightly_change change = { 0 };
    size_t len = strlen(text);
    if (!quantity_parse_share(text, len, &change.share) && !quantity_parse_time(text, len, &change.time_ns))
        return false;
    *(struct nightly_change *)field = change;
    return true;
}

static void append_change(const struct opt *opt, const void *field, struct buffer *out)
{
    (void)opt;
    const struct nightly_change *change = field;
    if (change->time_ns)
        quantity_append_time(out, change->time_ns);
    else if (change->share > 0)
        quantity_append_share(out, change->share);
}

static const struct opt_type opt_change = { .kind = "change",
                                            .expects = "a share such as 1% or a time such as 50us",
                                            .parse = parse_change,
                                            .show = append_change };

static const struct opt_choice fail_on_words[] = {
    [NIGHTLY_FAIL_ON_NEW] = { "new", "what became worse with this commit" },
    [NIGHTLY_FAIL_ON_EXISTING] = { "existing",
                                   "that, and what is worse since an earlier one and not accepted" },
    { 0 },
};

OUTPUT_FORMATS(nightly_format_at, own_printers);

static const struct opt nightly_opts[] = {
    OPT_GROUP("Run"),
    OPT_FILE('s', "store", struct nightly_args, store, "FILE", "the history; made with the first run"),
    OPT_TEXT('l', "label", struct nightly_args, label, "NAME",
             "what ran: only runs of one label are compared"),
    OPT_TEXT(0, "commit", struct nightly_args, commit, "SHA", "the commit that ran"),
    OPT_TEXT(0, "time", struct nightly_args, time, "WHEN",
             "when it ran, as 2026-11-20 or 2026-11-20T03:00:00Z; default: as recorded in the trace, or now"),
    OPT_TEXT(
        0, "gpu", struct nightly_args, gpu, "NAME",
        "compare with runs on this GPU; default: the one recorded in the trace; list, show, accept, export: only its runs"),
    OPT_TIME(0, "wait", struct nightly_args, wait_ns, "TIME", "wait so long for another run that is writing"),
    OPT_GROUP("Verdict"),
    OPT_COUNT(0, "window", struct nightly_args, window, 4, 1000, "N",
              "compare with the last N runs at the level"),
    OPT_VALUE(0, "min-change", struct nightly_args, min_change, struct nightly_change, opt_change, "CHANGE",
              "a smaller change is no change: 1%, or 50us per step", .flags = 0),
    OPT_SHARE(0, "false-alarms", struct nightly_args, false_alarms, "SHARE",
              "how often a night may call anything NEW without cause"),
    OPT_FLAG('a', "all", struct nightly_args, all, "show rows that are the same, too"),
    OPT_GROUP("Gates"),
    OPT_LIST(
        'g', "gate", struct nightly_args, gates, "GATE",
        "exit with 1 only when what is NEW exceeds this: 5% (the step time), op=10%:REGEX (rows), memory=2%, "
        "idle=+3pp; several at once"),
    OPT_CHOICE(
        0, "unsure", struct nightly_args, unsure, gate_unsure_words, "WHAT",
        "what to do where something cannot be judged: it is UNSURE, earlier runs are too few, or the recording is damaged"),
    OPT_CHOICE(0, "fail-on", struct nightly_args, fail_on, fail_on_words, "WHAT",
               "what makes the exit code 1"),
    OPT_FLAG(0, "allow-missing-ranks", struct nightly_args, missing_ranks, ALLOW_MISSING_RANKS_HELP),
    OPT_GROUP("accept, show, prune"),
    OPT_TEXT(0, "reason", struct nightly_args, reason, "TEXT", "accept: why the new level is wanted"),
    OPT_TEXT(0, "metric", struct nightly_args, metric, "NAME",
             "accept: only this figure or row; without it all that is NEW or EXISTING"),
    OPT_COUNT(0, "run", struct nightly_args, run, 1, INT64_MAX, "N",
              "show, export, prune: this run; accept: from this run on, rather than from the first bad one"),
    OPT_COUNT(0, "keep", struct nightly_args, keep, 1, INT64_MAX, "N",
              "prune: all but the newest N of a label and GPU"),
    OPT_TEXT(0, "before", struct nightly_args, before, "WHEN", "prune: what ran earlier"),
    OUTPUT_OPTIONS_WITH(struct nightly_args, output, nightly_format_at),
    LOAD_OPTIONS(struct nightly_args, load),
    OPT_END,
};

/* ---- showing a verdict ---- */

enum { ROWS_FOR_PEOPLE = 25 };

/* Are the checks part of the output? People have the tables; CI systems read only the checks. */
static bool shows_checks(const struct nightly_args *args, const struct printer *printer)
{
    return args->gates.count > 0 || printer == &printer_junit || printer == &printer_github ||
           strcmp(printer->name, "json") == 0;
}

bool nightly_print(struct result *result, const struct nightly_args *args, struct tpa_error *err)
{
    struct output_args output = args->output;
    output.limit = (struct limit){ 0 };
    return output_result(result, &output, err);
}

/* The head is shown whole; rows as far as --limit says. */
static void nightly_limit_rows_of(struct result *result, const struct nightly_args *args)
{
    struct limit limit = output_limit_or(&args->output, ROWS_FOR_PEOPLE);
    static const char *const whole[] = { "run", "head", "memory", "shares", "counts", "checks" };
    for (size_t t = 0; t < result->tables.count; t++) {
        struct table *table = result->tables.at[t];
        bool cut = strncmp(table->key, "trend", strlen("trend")) != 0;
        for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
            cut &= strcmp(table->key, whole[i]) != 0;
        if (cut)
            table_truncate(table, limit_rows(&limit, table->row_count));
    }
}

/* Text is one screen: without --all, nothing of the figures of a step that are the same, except the first, nor of the run itself. */
static void nightly_fit_screen(struct result *result)
{
    for (size_t i = 0; i < result->notices.count; i++) /* the tables have the same figures */
        result->notices.at[i].minor |= strcmp(result->notices.at[i].kind, "new") == 0 ||
                                       strcmp(result->notices.at[i].kind, "more_new") == 0;
    for (size_t t = 0; t < result->tables.count; t++) {
        struct table *table = result->tables.at[t];
        table->detail = strcmp(table->key, "run") == 0;
        size_t verdict = 0;
        while (verdict < table->column_count && strcmp(table->columns[verdict].key, "verdict") != 0)
            verdict++;
        if (strcmp(table->key, NIGHTLY_HEAD) != 0 || verdict == table->column_count)
            continue;
        SCOPED bool *keep = mem_zalloc(table->row_count + 1, sizeof *keep);
        for (size_t row = 0; row < table->row_count; row++) {
            struct text text = table_cell(table, row, verdict)->text;
            keep[row] = row == 0 || text.len != strlen("same") || memcmp(text.at, "same", text.len) != 0;
        }
        table_filter(table, keep);
    }
}

/* Add the values of the main series over the last runs: as tables for programs, as charts on a page. */
static void add_trends(const struct nightly *nightly, const struct printer *printer, struct result *result)
{
    enum { RUNS_DRAWN = 90 };
    if (strcmp(printer->name, "json") == 0)
        nightly_add_trends(nightly, RUNS_DRAWN, result);
    if (printer != &printer_html)
        return;
    const struct nightly_run *run = &nightly->runs.at[nightly->judged];
    struct picture *picture = picture_open("trend", "Over the runs");
    size_t *series = mem_alloc(mem_times(nightly->series.count + 1, sizeof *series));
    chart_trends(picture, nightly, series, nightly_choose(nightly, series), RUNS_DRAWN, SIZE_MAX);
    free(series);
    picture->source = arena_printf(&picture->arena, "%s on %s", run->label, run->gpu);
    result->picture = picture;
}

/* Print the verdict on the judged run. Returns the exit code. */
static int nightly_print_verdict(const struct nightly *nightly, const struct nightly_args *args,
                                 struct result *result, struct tpa_error *err)
{
    const struct printer *printer = output_printer(&args->output);
    bool fails = false;
    ADD_NOTICE(result, "verdict", 1, "%s", nightly_headline(nightly, args->store, &result->arena));
    result_make_verdict(result);
    nightly_notice(nightly, args, result);
    nightly_add_tables(nightly, args->all || !output_is_for_people(&args->output), result);
    nightly_add_answer(nightly, args->store, result);
    if (!nightly_check(nightly, args, result, &fails, err))
        return EXIT_TROUBLE;
    if (!shows_checks(args, printer))
        table_free(result->tables.at[--result->tables.count]);
    add_trends(nightly, printer, result);
    nightly_limit_rows_of(result, args);
    if (strcmp(printer->name, "table") == 0 && !args->all && !args->output.tables)
        nightly_fit_screen(result);
    if (!nightly_print(result, args, err))
        return EXIT_TROUBLE;
    return fails ? EXIT_LIMIT_PASSED : EXIT_FINE;
}

static size_t index_of(const struct nightly *nightly, int64_t id)
{
    size_t run = nightly->runs.count - 1;
    for (size_t i = 0; i < nightly->runs.count; i++)
        if (nightly->runs.at[i].id == id)
            run = i;
    return run;
}

static int nightly_show(const struct nightly_args *args, struct tpa_error *err)
{
    struct store *store = nightly_open(args, STORE_READ, err);
    SCOPED_BY(nightly_release) struct nightly nightly = { 0 };
    bool good = store && nightly_load(store, args, &nightly, err);
    int code = EXIT_TROUBLE;
    if (good) {
        SCOPED_BY(result_free_at) struct result *result = result_open("tpa.nightly/1");
        nightly_look(&nightly, args->run ? index_of(&nightly, (int64_t)args->run) : nightly.runs.count - 1,
                     args);
        code = nightly_print_verdict(&nightly, args, result, err);
    }
    store_close(store);
    return code;
}

/* ---- adding a run ---- */

/* Check the arguments before any file is read. */
static bool nightly_check_args(const struct nightly_args *args, int64_t *time_ns, struct tpa_error *err)
{
    if (!args->store) {
        tpa_fail(err, TPA_NOWHERE, "the store to add the run to is missing");
        return tpa_hint(err, "tpa nightly --store perf.db --label NAME FILE");
    }
    if (!args->label || !*args->label) {
        tpa_fail(err, TPA_NOWHERE, "the name of what ran is missing");
        return tpa_hint(err, "--label resnet50: only runs of one label are compared");
    }
    if (!nightly_may_keep("label", args->label, err) || !nightly_may_keep("commit", args->commit, err) ||
        !nightly_may_keep("gpu", args->gpu, err))
        return false;
    if (args->time && !moment_parse(args->time, time_ns)) {
        tpa_fail(err, TPA_NOWHERE, "'%s' is not a point in time", args->time);
        return tpa_hint(err, "2026-11-20, or 2026-11-20T03:00:00Z");
    }
    return true;
}

static void nightly_describe(const struct nightly_measured *measured, const struct nightly_args *args,
                             int64_t time_ns, struct store_about *about)
{
    *about = (struct store_about){
        .label = args->label,
        .gpu = args->gpu ? args->gpu : measured->night->gpu,
        .commit = args->commit,
        .host = measured->host,
        .hash = measured->hash,
        .added_ns = moment_now(),
    };
    about->time_ns = args->time ? time_ns : measured->time_ns ? measured->time_ns : about->added_ns;
}

/* The value of the fact "ranks" of a run, if it is there. */
struct ranks_of_run {
    char *ranks;
};

static void collect_ranks(void *context, const char *key, const char *title, const char *value)
{
    (void)title;
    struct ranks_of_run *of_run = context;
    if (strcmp(key, "ranks") == 0 && !of_run->ranks)
        of_run->ranks = mem_strdup(value);
}

/* A run is compared with runs of the same ranks only. */
static bool nightly_check_ranks(struct store *store, const struct nightly_measured *measured,
                                const struct store_about *about, const struct nightly_args *args,
                                struct tpa_error *err)
{
    SCOPED_BY(nightly_release) struct nightly runs = { 0 };
    struct ranks_of_run last = { 0 };
    bool good = store_list(store, about->label, &runs, err);
    for (size_t i = runs.runs.count; good && i-- > 0 && !last.ranks;)
        if (strcmp(runs.runs.at[i].gpu, about->gpu) == 0)
            good = store_facts(store, runs.runs.at[i].id, collect_ranks, &last, err);
    bool same = !good || args->missing_ranks || !last.ranks || !measured->ranks ||
                strcmp(last.ranks, measured->ranks) == 0;
    if (!same) {
        tpa_fail(err, TPA_NOWHERE, "this run is of the ranks %s, the runs of '%s' so far of %s",
                 measured->ranks, about->label, last.ranks);
        tpa_hint(err, "give the files of the same ranks, another --label, or --allow-missing-ranks");
    }
    free(last.ranks);
    return good && same;
}

/* A run before all others was recorded under a clock that went back, or is older than the history: it is no baseline. */
static bool nightly_check_time(struct store *store, struct night *night, const struct store_about *about,
                               struct tpa_error *err)
{
    struct nightly runs = { 0 };
    bool good = store_list(store, about->label, &runs, err), before_all = true;
    size_t others = 0;
    for (size_t i = 0; i < runs.runs.count && good; i++) {
        const struct nightly_run *run = &runs.runs.at[i];
        if (strcmp(run->gpu, about->gpu) != 0 || run->no_baseline)
            continue;
        before_all &= about->time_ns < run->time_ns;
        others++;
    }
    nightly_release(&runs);
    if (before_all && others >= HISTORY_LEAST_RUNS) /* fewer are no history yet: they may come in any order */
        night_mark(night, "its time is before that of all other runs: a clock went back, or it is older");
    return good;
}

/* Store the measurements and load their history. */
static bool nightly_keep(const struct nightly_measured *measured, const struct nightly_args *args,
                         int64_t time_ns, struct store_added *added, struct nightly *nightly,
                         struct tpa_error *err)
{
    struct store_about about;
    nightly_describe(measured, args, time_ns, &about);
    struct store *store = nightly_open(args, STORE_CREATE, err);
    bool good = store && nightly_check_ranks(store, measured, &about, args, err) &&
                (FIND(fact, &measured->night->facts, strcmp(fact->key, NIGHT_NO_BASELINE) == 0) ||
                 nightly_check_time(store, measured->night, &about, err)) &&
                store_add(store, measured->night, &about, added, err);
    if (good) {
        const char *label, *gpu; /* an existing run may have been added with another --gpu */
        SCOPED_ARENA struct arena arena = { 0 };
        good = store_find(store, added->run, &arena, &label, &gpu, err) &&
               store_load(store, label, gpu, nightly, err);
    }
    store_close(store);
    return good;
}

static int add_run(const struct invocation *call, struct tpa_error *err)
{
    const struct nightly_args *args = call->args;
    struct nightly_measured measured = { 0 };
    SCOPED_BY(nightly_release) struct nightly nightly = { 0 };
    struct store_added added = { 0 };
    int64_t time_ns = 0;
    int code = EXIT_TROUBLE;
    SCOPED_BY(result_free_at) struct result *result = result_open("tpa.nightly/1");
    if (nightly_check_args(args, &time_ns, err) && nightly_measure(call, &measured, result, err) &&
        nightly_keep(&measured, args, time_ns, &added, &nightly, err)) {
        if (added.was_there)
            ADD_NOTICE(result, "was_there", 1,
                       "this recording is in the store already, as run %lld: nothing was added",
                       (long long)added.run);
        nightly_look(&nightly, index_of(&nightly, added.run), args);
        code = nightly_print_verdict(&nightly, args, result, err);
    }
    nightly_measured_release(&measured);
    return code;
}

static int nightly_main(const struct invocation *call, struct tpa_error *err)
{
    const struct nightly_args *args = call->args;
    load_bound_results(args->load.max_ratio);
    for (size_t i = 0; i < ACTIONS; i++) {
        if (strcmp(call->operands[0], actions[i].word.name) != 0)
            continue;
        if (call->operand_count == 1)
            return actions[i].main(args, err);
        tpa_fail(err, TPA_NOWHERE, "%s takes no files", actions[i].word.name);
        tpa_hint(err, "a file of that name is ./%s", actions[i].word.name);
        return EXIT_TROUBLE;
    }
    /* A word is not a file, and an unknown word is not a missing file. */
    struct suggest near = suggest_for(call->operands[0], strlen(call->operands[0]));
    for (size_t i = 0; i < ACTIONS; i++)
        suggest_consider(&near, actions[i].word.name);
    if (near.best && call->operand_count == 1 && strcmp(call->operands[0], "-") != 0 &&
        access(call->operands[0], F_OK) != 0) {
        tpa_fail(err, TPA_NOWHERE, "there is no file '%s'; did you mean %s?", call->operands[0], near.best);
        return EXIT_TROUBLE;
    }
    return add_run(call, err);
}

const struct command cmd_nightly = {
    .name = "nightly",
    .summary = "a history of runs, and what is new in the last one",
    .operands = "FILE...",
    .operand_at = action_at,
    .description =
        "Adds a run (its files: a trace, the traces of its ranks, a directory) to the history in --store. Compares it "
        "with the earlier runs of the same label on the same GPU: the step time and the other figures of a step, and each "
        "operator and kernel. What became worse is NEW in every run of that commit, with the first bad run, and EXISTING from "
        "then on, until it is FIXED or accepted. UNSURE may be chance: the next runs will show. With fewer than four earlier runs nothing can be told.\n\n"
        "In place of files: list shows the runs, show the verdict on one, accept confirms a new level, prune "
        "forgets runs, export gives all that is stored.\n\n"
        "Exits with 0; with 1 when something is NEW (with --gate: when that exceeds a gate) or cannot be judged; with 2 in case of trouble.",
    .tables = { nightly_tables, nightly_check_tables, nightly_history_tables },
    .options = nightly_opts,
    COMMAND_ARGS(nightly_defaults),
    .main = nightly_main,
    .examples = {
        "tpa nightly --store perf.db --label resnet50 --commit $(git rev-parse HEAD) runs/2026-11-20/",
        "tpa nightly --store perf.db list",
        "tpa nightly --store perf.db show --format html -o trend.html",
        "tpa nightly --store perf.db accept --label resnet50 --reason 'larger batch'",
        "tpa nightly --store perf.db prune --keep 400",
    },
    .section = SECTION_COMPARE,
    .reads_snapshots = true,
    .reads_traces = true,
    .reads_profiles = true,
    .reads_actions = true,
};
