/* check.c - must the build fail, and the report on it; see nightly.h. */
#include "cli/nightly/nightly.h"

#include "history/nightly_answer.h"
#include "base/regex.h"
#include "cli/sides.h"
#include "report/cases.h"
#include <math.h>

/* clang-format off */
enum { CHECK_NUMBER, CHECK_GATE, CHECK_NAME, CHECK_FOUND, CHECK_LIMIT, CHECK_OUTCOME, CHECK_FAILS, CHECK_MESSAGE, CHECK_COLUMNS };
static const struct table_column columns[CHECK_COLUMNS] = {
    [CHECK_NUMBER] = { CASE_NUMBER, "Number", TABLE_COUNT, "which check", TABLE_OPTIONAL, NULL },
    [CHECK_GATE] = { CASE_GATE, "Gate", TABLE_TEXT, "as it was given; nothing NEW where none was", 0, NULL },
    [CHECK_NAME] = { CASE_NAME, "Of", TABLE_NAME, "the figure or row that it is about", 0, NULL },
    [CHECK_FOUND] = { "found", "Change", TABLE_SHARE, "by how much it grew", 0, NULL },
    [CHECK_LIMIT] = { "limit", "Limit", TABLE_SHARE, "by how much it may grow", 0, NULL },
    [CHECK_OUTCOME] = { CASE_OUTCOME, "Outcome", TABLE_TEXT, "within or exceeded; cannot tell: UNSURE, too few earlier runs, or a damaged recording", 0, NULL },
    [CHECK_FAILS] = { CASE_FAILS, "Fails", TABLE_BOOL, "does it make the exit code 1?", TABLE_OPTIONAL, NULL },
    [CHECK_MESSAGE] = { CASE_MESSAGE, "Message", TABLE_TEXT, "the same in a sentence", TABLE_OPTIONAL, NULL },
};
/* clang-format on */

struct checker {
    const struct nightly *nightly;
    const struct nightly_args *args;
    struct table *table;
    struct result *result;
    bool unsure_fails, fails;
    int64_t number;
};

static const struct history_finding *history_finding_of(const struct checker *checker, size_t at)
{
    return &checker->nightly->history.series.at[at].now;
}

/* ---- a sentence ---- */

static void add_run(struct buffer *out, const struct nightly *nightly, size_t run)
{
    buffer_printf(out, "run %lld", (long long)nightly->runs.at[run].id);
    if (nightly->runs.at[run].commit)
        buffer_printf(out, " (commit %s)", nightly->runs.at[run].commit);
}

/* How many more runs at this level would make it NEW: the error of their mean falls with each. */
static void append_runs_needed(struct buffer *out, const struct nightly *nightly, size_t at)
{
    enum { MOST = 20 };
    const struct history_finding *now = &nightly->history.series.at[at].now;
    double change = fabs(now->level - now->reference), deviation = now->noise * fabs(now->reference);
    buffer_puts(out, ", cannot tell");
    if (!(deviation > 0) || !(change > 0) || now->references < 2)
        return;
    double certain = run_student_quantile(0.002, (double)(now->references - 1));
    size_t more = 1;
    while (more <= MOST &&
           change < certain * deviation * sqrt(1 / (double)(more + 1) + 1 / (double)now->references))
        more++;
    if (more <= MOST)
        buffer_printf(out, ": about %zu more run%s at this level would tell", more, more == 1 ? "" : "s");
    else
        buffer_printf(out, ": more than %d runs at this level would be needed", MOST);
}

/* "step time: 10.2ms -> 11.0ms (+7.8 %): NEW since run 31 (commit abc), good until run 30 (commit def)". */
static void add_message(struct buffer *out, const struct nightly *nightly, size_t at)
{
    const struct history_finding *now = &nightly->history.series.at[at].now;
    enum table_kind kind = nightly->series.at[at].kind;
    size_t length;
    const char *name = nightly_name(nightly, at, &length);
    buffer_add(out, name, length);
    buffer_puts(out, ": ");
    if (isfinite(now->reference) && isfinite(now->level)) {
        figure_add_value(out, kind, now->reference);
        buffer_puts(out, " -> ");
        figure_add_value(out, kind, now->level);
        if (now->reference != 0)
            buffer_printf(out, " (%+.1f %%)",
                          quantity_percent((now->level - now->reference) / fabs(now->reference)));
        buffer_puts(out, ": ");
    }
    buffer_puts(out, nightly_verdict(nightly, at));
    if (nightly->runs.at[nightly->judged].no_baseline)
        buffer_printf(out, ", as %s", nightly->runs.at[nightly->judged].no_baseline);
    else if (nightly_earlier(nightly) == 0)
        buffer_puts(out, " run of this label and GPU: cannot tell, as there is nothing to compare with");
    if (now->few) {
        size_t earlier = nightly_earlier(nightly);
        size_t more = earlier < HISTORY_LEAST_RUNS ? HISTORY_LEAST_RUNS - earlier : 1;
        buffer_printf(out, ", it takes %d earlier runs: %zu more would tell", HISTORY_LEAST_RUNS, more);
    }
    if (now->verdict == HISTORY_UNSURE)
        append_runs_needed(out, nightly, at);
    if (now->visited)
        buffer_puts(out, ", an earlier run was once as bad");
    if (now->first_bad != HISTORY_NO_RUN) {
        buffer_puts(out, " since ");
        add_run(out, nightly, now->first_bad);
    }
    if (now->last_good != HISTORY_NO_RUN) {
        buffer_puts(out, ", good until ");
        add_run(out, nightly, now->last_good);
    }
}

/* ---- rows of the table ---- */

/* IS_KNOWN: it was already exceeded before, which does not fail. */
static size_t add_row(struct checker *checker, const char *gate, const char *name, size_t length,
                      const char *outcome, bool is_known)
{
    struct table *table = checker->table;
    size_t row = table_add_row(table);
    bool fails = (strcmp(outcome, CASE_EXCEEDED) == 0 && !is_known) ||
                 (strcmp(outcome, CASE_CANNOT_TELL) == 0 && checker->unsure_fails);
    table_set_int(table, row, CHECK_NUMBER, checker->number);
    table_set_text(table, row, CHECK_GATE, gate, strlen(gate));
    table_set_text(table, row, CHECK_NAME, name, length);
    table_set_text(table, row, CHECK_OUTCOME, outcome, strlen(outcome));
    table_set_int(table, row, CHECK_FAILS, fails);
    checker->fails |= fails;
    return row;
}

static void add_series(struct checker *checker, const char *gate, size_t at, double found, double limit,
                       const char *outcome)
{
    size_t length;
    const char *name = nightly_name(checker->nightly, at, &length);
    bool is_known = history_finding_of(checker, at)->verdict == HISTORY_EXISTING &&
                    checker->args->fail_on != NIGHTLY_FAIL_ON_EXISTING;
    size_t row = add_row(checker, gate, name, length, outcome, is_known);
    if (!isnan(found))
        table_set_number(checker->table, row, CHECK_FOUND, found);
    if (!isnan(limit))
        table_set_number(checker->table, row, CHECK_LIMIT, limit);
    SCOPED struct buffer message = { 0 };
    add_message(&message, checker->nightly, at);
    table_set_text(checker->table, row, CHECK_MESSAGE, message.at, message.count);
}

static double growth(const struct history_finding *now)
{
    double change = now->level - now->reference;
    if (now->verdict == HISTORY_FIRST)
        return INFINITY; /* from nothing */
    return now->reference != 0 ? change / fabs(now->reference) : change > 0 ? INFINITY : 0;
}

static const char *outcome_of(const struct checker *checker, enum history_verdict verdict)
{
    if (verdict == HISTORY_NEW ||
        (verdict == HISTORY_EXISTING && checker->args->fail_on == NIGHTLY_FAIL_ON_EXISTING))
        return CASE_EXCEEDED;
    bool unjudged = verdict == HISTORY_UNSURE || verdict == HISTORY_UNKNOWN;
    if (verdict == HISTORY_FIRST && nightly_earlier(checker->nightly) == 0)
        unjudged = true;
    return unjudged ? CASE_CANNOT_TELL : CASE_WITHIN;
}

/* ---- without gates ---- */

static bool is_measured(const struct checker *checker, size_t at)
{
    return history_finding_of(checker, at)->verdict != HISTORY_ABSENT;
}

/* All rows of one kind are one check; only failed ones have a row. */
static void check_sort(struct checker *checker, const char *key, size_t first)
{
    const struct nightly *nightly = checker->nightly;
    size_t measured = 0, failed = 0, unjudged = 0;
    checker->number++;
    for (size_t i = first; i < nightly->series.count; i++) {
        if (strcmp(nightly->series.at[i].table, key) != 0 || !is_measured(checker, i))
            continue;
        measured++;
        const struct history_finding *now = history_finding_of(checker, i);
        const char *outcome = outcome_of(checker, now->verdict);
        bool unknown = now->verdict == HISTORY_UNKNOWN || now->verdict == HISTORY_FIRST;
        unjudged += unknown && strcmp(outcome, CASE_CANNOT_TELL) == 0;
        if (strcmp(outcome, CASE_WITHIN) == 0 || unknown)
            continue;
        failed++;
        add_series(checker, key, i, growth(now), NAN, outcome);
    }
    if (failed > 0)
        return;
    SCOPED struct buffer message = { 0 };
    /* a row that appeared a few runs ago is not judged yet, which closes no gate; all of them are the run's own lack */
    bool cannot_tell = measured > 0 && unjudged == measured;
    size_t row = add_row(checker, key, key, strlen(key), cannot_tell ? CASE_CANNOT_TELL : CASE_WITHIN, false);
    buffer_printf(&message, cannot_tell ? "%s: cannot tell of any of %zu" : "%s: none of %zu is NEW", key,
                  measured);
    if (unjudged > 0 && !cannot_tell)
        buffer_printf(&message, ", and %zu cannot be judged yet", unjudged);
    table_set_text(checker->table, row, CHECK_MESSAGE, message.at, message.count);
}

static void check_all(struct checker *checker)
{
    const struct nightly *nightly = checker->nightly;
    for (size_t i = 0; i < nightly->series.count; i++) {
        const struct nightly_series *series = &nightly->series.at[i];
        const struct history_finding *now = history_finding_of(checker, i);
        if (strcmp(series->table, NIGHTLY_HEAD) == 0 && is_measured(checker, i)) {
            checker->number++;
            add_series(checker, series->name, i, now->verdict == HISTORY_FIRST ? NAN : growth(now), NAN,
                       outcome_of(checker, now->verdict));
        }
    }
    for (size_t i = 0; i < nightly->series.count; i++)
        if (nightly_begins_rows(nightly, i))
            check_sort(checker, nightly->series.at[i].table, i);
}

/* ---- with gates ---- */

/* A gate is exceeded by a figure that is NEW, EXISTING or appeared, and larger than allowed. A first run cannot be
 * judged. */
static void check_limit(struct checker *checker, const struct gate *gate, size_t at)
{
    const struct history_finding *now = history_finding_of(checker, at);
    bool began = now->verdict == HISTORY_FIRST;
    bool first_run = began && nightly_earlier(checker->nightly) == 0;
    bool points = gate->sort == GATE_IDLE;
    double found = points ? now->level - now->reference : growth(now);
    double margin = points || now->reference == 0 ? now->margin : now->margin / fabs(now->reference);
    const char *outcome =
        began && gate->sort == GATE_ROWS ? CASE_EXCEEDED : outcome_of(checker, now->verdict);
    if (now->verdict == HISTORY_EXISTING)
        outcome = CASE_EXCEEDED;
    else if (now->verdict == HISTORY_UNSURE && !isnan(margin) && !gate_exceeds(found + margin, gate->limit))
        outcome = CASE_WITHIN; /* false if the margin is unknown */
    else if (now->verdict == HISTORY_SAME && gate_exceeds(found, gate->limit))
        outcome = CASE_CANNOT_TELL; /* nights vary by more than the gate allows */
    if (strcmp(outcome, CASE_EXCEEDED) == 0 && !gate_exceeds(found, gate->limit))
        outcome = CASE_WITHIN;
    if (first_run)
        outcome = CASE_CANNOT_TELL;
    if (strcmp(outcome, CASE_EXCEEDED) == 0) {
        size_t length;
        const char *name = nightly_name(checker->nightly, at, &length);
        gate_notice_close(gate, name, length, found, checker->result);
    }
    add_series(checker, gate->text, at, began && gate->sort != GATE_ROWS ? NAN : found, gate->limit, outcome);
}

static bool check_figure(struct checker *checker, const struct gate *gate, struct tpa_error *err)
{
    size_t at = nightly_find(checker->nightly, NIGHTLY_HEAD, gate->metric, strlen(gate->metric));
    if (gate->sort == GATE_MEMORY && at == HISTORY_NO_RUN)
        at = nightly_find(checker->nightly, NIGHTLY_HEAD, "host_memory_peak", strlen("host_memory_peak"));
    if (at == HISTORY_NO_RUN || !is_measured(checker, at)) {
        tpa_fail(err, TPA_NOWHERE, "the gate %s needs what this run does not record", gate->text);
        return gate->needs && tpa_hint(err, "%s", gate->needs);
    }
    check_limit(checker, gate, at);
    return true;
}

static bool check_rows(struct checker *checker, const struct gate *gate, struct tpa_error *err)
{
    const struct nightly *nightly = checker->nightly;
    struct regex *regex = regex_open(gate->pattern, err);
    bool good = regex != NULL;
    size_t matches = 0;
    for (size_t i = 0; i < nightly->series.count && good; i++) {
        const struct nightly_series *series = &nightly->series.at[i];
        bool matched = false;
        if (strcmp(series->table, NIGHTLY_HEAD) == 0 || !is_measured(checker, i))
            continue;
        good = regex_match(regex, series->name, series->length, &matched, err);
        if (!good || !matched)
            continue;
        matches++;
        check_limit(checker, gate, i);
    }
    regex_free(regex);
    if (good && matches == 0)
        return tpa_fail(err, TPA_NOWHERE, "no row matches the gate %s", gate->text);
    return good;
}

bool nightly_check(const struct nightly *nightly, const struct nightly_args *args, struct result *result,
                   bool *fails, struct tpa_error *err)
{
    struct checker checker = {
        .nightly = nightly, .args = args, .result = result, .unsure_fails = gate_unsure_fails(args->unsure)
    };
    checker.table = table_open("checks", args->gates.count ? "Gates" : "Checks", columns, CHECK_COLUMNS);
    bool good = true;
    if (args->gates.count == 0)
        check_all(&checker);
    for (size_t i = 0; i < args->gates.count && good; i++) {
        struct gate gate;
        checker.number = (int64_t)i + 1;
        good =
            gate_parse(args->gates.at[i], &gate, err) &&
            (gate.sort == GATE_ROWS ? check_rows(&checker, &gate, err) : check_figure(&checker, &gate, err));
    }
    *fails = checker.fails;
    result_add_table(result, checker.table);
    return good;
}

/* ---- notices ---- */

/* One notice for each reason for accepting levels from RUN on. */
static void notice_accepted(const struct nightly *nightly, int64_t run, struct result *result)
{
    for (size_t i = 0; i < nightly->acceptances.count; i++) {
        const struct nightly_acceptance *first = &nightly->acceptances.at[i];
        int64_t alike = 0;
        bool reported = false;
        for (size_t k = 0; k < nightly->acceptances.count; k++) {
            const struct nightly_acceptance *other = &nightly->acceptances.at[k];
            bool same = other->run == run && strcmp(other->reason, first->reason) == 0;
            reported |= same && k < i;
            alike += same;
        }
        if (first->run == run && !reported)
            ADD_NOTICE(result, "accepted", alike, "%s accepted from this run on: %s",
                       first->name ? "levels are" : "all levels are", first->reason);
    }
}

void nightly_notice(const struct nightly *nightly, const struct nightly_args *args, struct result *result)
{
    const struct nightly_run *run = &nightly->runs.at[nightly->judged];
    enum { MOST_SHOWN = 3 };
    size_t count = 0;
    size_t earlier = nightly_earlier(nightly);
    if (run->no_baseline)
        ADD_NOTICE(result, "no_baseline", 1,
                   "this run cannot be judged, and later runs are not compared with it: %s",
                   run->no_baseline);
    else if (earlier == 0)
        ADD_NOTICE(result, "first_run", 1,
                   "this is the first run of %s (%s): there is nothing to compare it with yet", run->label,
                   run->gpu);
    else if (earlier < HISTORY_LEAST_RUNS)
        ADD_NOTICE(result, "few_runs", (int64_t)earlier,
                   "too few earlier runs to judge a change: it takes %d", HISTORY_LEAST_RUNS);
    notice_accepted(nightly, run->id, result);
    struct buffer message = { 0 };
    for (size_t i = 0; i < nightly->series.count; i++) {
        if (nightly->history.series.at[i].now.verdict != HISTORY_NEW)
            continue;
        if (count++ >= MOST_SHOWN)
            continue;
        buffer_clear(&message);
        add_message(&message, nightly, i);
        ADD_NOTICE(result, "new", 1, "%s", message.at);
        result_make_answered(result);
    }
    buffer_release(&message);
    if (count > MOST_SHOWN) {
        ADD_NOTICE(result, "more_new", (int64_t)(count - MOST_SHOWN), "%zu further row%s NEW",
                   count - MOST_SHOWN, count - MOST_SHOWN == 1 ? " is" : "s are");
        result_make_answered(result);
    }
    if (count > 0)
        ADD_NOTICE(result, "accept", 0,
                   "if the new level is wanted: tpa nightly accept --store %s --label %s --reason WHY",
                   nightly_store_word(args->store, &result->arena),
                   nightly_store_word(run->label, &result->arena));
}

const struct table_shape nightly_check_tables[] = {
    TABLE_SHAPE("checks", columns),
    { 0 },
};
