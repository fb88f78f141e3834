/* gates.c - see gates.h. */
#include "cli/gates.h"

#include "base/buffer.h"
#include "base/memory.h"
#include "base/quantity.h"
#include "base/regex.h"
#include "cli/gate.h"
#include "report/cases.h"
#include "report/figures.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- results ---- */

/* clang-format off */
enum { GATES_NUMBER, GATES_GATE, GATES_NAME, GATES_FOUND, GATES_LIMIT, GATES_OUTCOME, GATES_FAILS, GATES_MESSAGE, GATES_COLUMNS };
static const struct table_column columns[GATES_COLUMNS] = {
    [GATES_NUMBER] = { CASE_NUMBER, "Number", TABLE_COUNT, "which gate", TABLE_OPTIONAL, NULL },
    [GATES_GATE] = { CASE_GATE, "Gate", TABLE_TEXT, "as it was given", 0, NULL },
    [GATES_NAME] = { CASE_NAME, "Of", TABLE_NAME, "the figure or row that it is about", 0, NULL },
    [GATES_FOUND] = { "found", "Change", TABLE_SHARE, "by how much it grew", 0, NULL },
    [GATES_LIMIT] = { "limit", "Limit", TABLE_SHARE, "by how much it may grow", 0, NULL },
    [GATES_OUTCOME] = { CASE_OUTCOME, "Outcome", TABLE_TEXT, "within or exceeded; cannot tell: too few steps", 0, NULL },
    [GATES_FAILS] = { CASE_FAILS, "Fails", TABLE_BOOL, "does it make the exit code 1?", TABLE_OPTIONAL, NULL },
    [GATES_MESSAGE] = { CASE_MESSAGE, "Message", TABLE_TEXT, "the same in a sentence", TABLE_OPTIONAL, NULL },
};
/* clang-format on */

static const char *const outcome_names[] = { CASE_WITHIN, CASE_EXCEEDED, CASE_CANNOT_TELL };

struct checker {
    const struct diff *diff;
    struct table *table;
    bool unsure_fails;
    int64_t number;
    enum gates_outcome outcome; /* the worst so far */
    int64_t unjudged;           /* rows and figures that cannot be judged */
    struct buffer why_unjudged; /* of the first */
};

/* A row or metric that a gate applies to. */
struct suspect {
    const char *name;
    size_t name_length;
    enum table_kind kind;
    const struct finding *finding;
};

static void add_share(struct buffer *out, double share, bool points)
{
    if (isinf(share))
        buffer_puts(out, "from nothing");
    else
        buffer_printf(out, "%+.1f %s", quantity_percent(share), points ? "points" : "%");
}

static void add_cannot_tell(struct buffer *out, const struct checker *checker, const struct finding *finding,
                            size_t together)
{
    char *needs = diff_needs(checker->diff, together);
    buffer_printf(out, "not enough %ss to tell: %zu against %zu, %s%s", checker->diff->unit,
                  finding->count[0], finding->count[1], needs,
                  checker->unsure_fails ? "; --unsure pass lets it through" : "");
    free(needs);
}

/*
 * "step time: 10.2ms -> 11.0ms (+7.8 %, limit 5 %): slower". If the growth is that of the medians, the figures are
 * medians as well: a mean including an odd step would not match the percentage.
 */
static void add_message(struct buffer *out, const struct checker *checker, const struct gate *gate,
                        const struct suspect *suspect, double found, enum gates_outcome outcome,
                        size_t together)
{
    const struct finding *finding = suspect->finding;
    bool medians = finding->shift.decidable && gate->sort != GATE_MEMORY &&
                   (finding->median[0] > 0 || gate->sort == GATE_IDLE);
    buffer_add(out, suspect->name, suspect->name_length);
    buffer_puts(out, medians ? ": median " : ": ");
    figure_add_value(out, suspect->kind, medians ? finding->median[0] : finding->before);
    buffer_puts(out, " -> ");
    figure_add_value(out, suspect->kind, medians ? finding->median[1] : finding->after);
    buffer_puts(out, " (");
    add_share(out, found, gate->sort == GATE_IDLE);
    buffer_puts(out, ", limit ");
    add_share(out, gate->limit, gate->sort == GATE_IDLE);
    buffer_puts(out, "): ");
    if (outcome == GATES_CANNOT_TELL) {
        add_cannot_tell(out, checker, finding, together);
        return;
    }
    buffer_puts(out, verdict_name(finding->verdict, suspect->kind));
    if (finding->by_spread)
        buffer_printf(out, ", far beyond the spread of the %ss (p = %.2g by Welch's t test)",
                      checker->diff->unit, finding->p);
}

static enum gates_outcome outcome_of(const struct finding *finding, double found, double limit,
                                     double min_change)
{
    if (isnan(found))
        return GATES_CANNOT_TELL;
    if (!(found > limit))
        return GATES_WITHIN;
    if (finding->verdict == VERDICT_UNSURE)
        return GATES_CANNOT_TELL;
    if (finding->verdict == VERDICT_NEW) { /* in one step of ten, or in all? */
        if (!(finding->shift.estimate > 0) || finding->change < min_change)
            return GATES_WITHIN;
        if (!finding->shift.decidable)
            return GATES_CANNOT_TELL;
        return finding->shift.p < 0.05 ? GATES_EXCEEDED : GATES_WITHIN;
    }
    return finding->verdict == VERDICT_MORE ? GATES_EXCEEDED : GATES_WITHIN;
}

static void check(struct checker *checker, const struct gate *gate, const struct suspect *suspect,
                  size_t together)
{
    const struct finding *finding = suspect->finding;
    double found = finding_growth(finding);
    if (gate->sort == GATE_IDLE)
        found = finding->shift.decidable ? finding->shift.estimate : finding->change;
    else if (gate->sort == GATE_MEMORY && finding->before > 0)
        found = finding->change / finding->before; /* bytes are exact: the peak itself counts */
    double min_change = table_is_time(suspect->kind) ? checker->diff->min_change : 0;
    enum gates_outcome outcome = outcome_of(finding, found, gate->limit, min_change);
    struct table *table = checker->table;
    size_t row = table_add_row(table);
    table_set_int(table, row, GATES_NUMBER, checker->number);
    table_set_text(table, row, GATES_GATE, gate->text, strlen(gate->text));
    table_set_text(table, row, GATES_NAME, suspect->name, suspect->name_length);
    if (isfinite(found)) /* else from nothing */
        table_set_number(table, row, GATES_FOUND, found);
    table_set_number(table, row, GATES_LIMIT, gate->limit);
    table_set_text(table, row, GATES_OUTCOME, outcome_names[outcome], strlen(outcome_names[outcome]));
    table_set_int(table, row, GATES_FAILS,
                  outcome == GATES_EXCEEDED || (outcome == GATES_CANNOT_TELL && checker->unsure_fails));
    struct buffer message = { 0 };
    add_message(&message, checker, gate, suspect, found, outcome, together);
    table_set_text(table, row, GATES_MESSAGE, message.at, message.count);
    buffer_release(&message);
    if (outcome == GATES_CANNOT_TELL && checker->unjudged++ == 0)
        add_cannot_tell(&checker->why_unjudged, checker, finding, together);
    if (outcome == GATES_EXCEEDED || checker->outcome == GATES_WITHIN)
        checker->outcome = outcome;
}

/* ---- the kinds of gates ---- */

static bool check_figure(struct checker *checker, const struct gate *gate, struct tpa_error *err)
{
    const struct diff_metric *metric = diff_metric(checker->diff, gate->metric);
    if (!metric && gate->sort == GATE_MEMORY)
        metric = diff_metric(checker->diff, "host_memory_peak");
    if (!metric || !metric->finding.present[0] || !metric->finding.present[1]) {
        if (gate->sort == GATE_STEP)
            tpa_fail(err, TPA_NOWHERE, "the gate %s is about the step time, and a side has no steps",
                     gate->text);
        else
            tpa_fail(err, TPA_NOWHERE, "the gate %s needs what a side does not record", gate->text);
        return gate->needs && tpa_hint(err, "%s", gate->needs);
    }
    check(checker, gate,
          &(struct suspect){ metric->title, strlen(metric->title), metric->kind, &metric->finding }, 1);
    return true;
}

/* The rows whose names match, as separate findings, which are judged by themselves. */
struct matches {
    struct matched {
        const struct diff_row *row;
        enum table_kind kind;
        struct finding finding;
    } * at;
    size_t count, capacity;
};

static bool match_rows(const struct diff *diff, const struct gate *gate, struct matches *matches,
                       struct tpa_error *err)
{
    struct regex *regex = regex_open(gate->pattern, err);
    bool good = regex != NULL;
    for (size_t t = 0; good && t < diff->tables.count; t++) {
        const struct diff_rows *table = &diff->tables.at[t];
        for (size_t i = 0; i < table->rows.count && good; i++) {
            const struct diff_row *row = &table->rows.at[i];
            bool matched = false;
            good = regex_match(regex, row->name, row->name_length, &matched, err);
            if (good && !matched && row->old_name)
                good = regex_match(regex, row->old_name, row->old_name_length, &matched, err);
            if (good && matched)
                *VEC_PUSH(matches) = (struct matched){ row, table->kind, row->finding };
        }
    }
    regex_free(regex);
    if (good && matches->count == 0)
        return tpa_fail(err, TPA_NOWHERE, "no row matches the gate %s", gate->text);
    return good;
}

static bool gates_check_rows(struct checker *checker, const struct gate *gate, struct tpa_error *err)
{
    struct matches matches = { 0 };
    bool good = match_rows(checker->diff, gate, &matches, err);
    if (good) {
        struct finding **findings = mem_alloc(mem_times(matches.count + 1, sizeof *findings));
        for (size_t i = 0; i < matches.count; i++)
            findings[i] = &matches.at[i].finding;
        findings_judge(findings, matches.count, checker->diff->min_change);
        for (size_t i = 0; i < matches.count; i++)
            finding_judge_clear(findings[i], matches.count, checker->diff->min_change);
        free(findings);
        for (size_t i = 0; i < matches.count; i++)
            check(checker, gate,
                  &(struct suspect){ matches.at[i].row->name, matches.at[i].row->name_length,
                                     matches.at[i].kind, &matches.at[i].finding },
                  matches.count);
    }
    VEC_FREE(&matches);
    return good;
}

bool gates_check(const struct diff *diff, const struct opt_list *gates, bool unsure_fails,
                 struct result *result, enum gates_outcome *outcome, struct tpa_error *err)
{
    *outcome = GATES_WITHIN;
    if (gates->count == 0)
        return true;
    struct checker checker = { .diff = diff,
                               .table = table_open("gates", "Gates", columns, GATES_COLUMNS),
                               .unsure_fails = unsure_fails };
    bool good = true;
    for (size_t i = 0; i < gates->count && good; i++) {
        struct gate gate;
        checker.number = (int64_t)i + 1;
        good = gate_parse(gates->at[i], &gate, err) &&
               (gate.sort == GATE_ROWS ? gates_check_rows(&checker, &gate, err)
                                       : check_figure(&checker, &gate, err));
    }
    result_add_table(result, checker.table);
    /* a table of "cannot tell" does not say why the exit code is 1 */
    if (checker.unjudged && unsure_fails)
        result_add_notice(result, "gates_cannot_tell", checker.unjudged, NULL, TPA_NOWHERE,
                          "gates that cannot be judged fail: %s", checker.why_unjudged.at);
    buffer_release(&checker.why_unjudged);
    *outcome = checker.outcome;
    return good;
}

const struct table_shape gates_tables[] = {
    TABLE_SHAPE("gates", columns),
    { 0 },
};
