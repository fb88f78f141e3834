/* gates.c - see gates.h. */
#include "cli/gates.h"

#include "analyze/diff.h"
#include "base/quantity.h"
#include "base/regex.h"
#include <math.h>
#include <string.h>

enum gate_kind { GATE_STEP, GATE_OP, GATE_IDLE };

struct gate {
    enum gate_kind kind;
    double limit;        /* a share; for GATE_IDLE a difference of shares */
    const char *pattern; /* GATE_OP */
};

static bool not_a_gate(const char *text, struct tpa_error *err)
{
    tpa_fail(err, TPA_NOWHERE, "'%s' is no gate", text);
    return tpa_hint(err, "a gate is 5%% (the step time), op=10%%:REGEX (rows), or idle=+3pp (idle share)");
}

static bool parse_gate(const char *text, struct gate *gate, struct tpa_error *err)
{
    *gate = (struct gate){ 0 };
    const char *value = text, *end = text + strlen(text);
    if (strncmp(text, "op=", 3) == 0) {
        gate->kind = GATE_OP;
        value = text + 3;
        const char *colon = strchr(value, ':');
        if (!colon)
            return not_a_gate(text, err);
        gate->pattern = colon + 1;
        end = colon;
    } else if (strncmp(text, "idle=", 5) == 0) {
        gate->kind = GATE_IDLE;
        value = text + 5 + (text[5] == '+');
        if (end - value < 3 || strcmp(end - 2, "pp") != 0)
            return not_a_gate(text, err);
        char percent[32];
        size_t len = (size_t)(end - 2 - value);
        if (len + 2 > sizeof percent)
            return not_a_gate(text, err);
        memcpy(percent, value, len);
        percent[len] = '%';
        return quantity_parse_share(percent, len + 1, &gate->limit) || not_a_gate(text, err);
    }
    return quantity_parse_share(value, (size_t)(end - value), &gate->limit) || not_a_gate(text, err);
}

/* clang-format off */
enum { GATES_GATE, GATES_NAME, GATES_FOUND, GATES_LIMIT, GATES_OUTCOME, GATES_COLUMNS };
static const struct table_column columns[GATES_COLUMNS] = {
    [GATES_GATE] = { "gate", "Gate", TABLE_TEXT, "as it was given", 0, NULL },
    [GATES_NAME] = { "name", "Of", TABLE_NAME, "the figure or row that it is about", 0, NULL },
    [GATES_FOUND] = { "found", "Change", TABLE_SHARE, "by how much it grew", 0, NULL },
    [GATES_LIMIT] = { "limit", "Limit", TABLE_SHARE, "by how much it may grow", 0, NULL },
    [GATES_OUTCOME] = { "outcome", "Outcome", TABLE_TEXT, "held, passed, or unsure: too few steps to tell", 0, NULL },
};
/* clang-format on */

static const char *const outcome_names[] = { "held", "passed", "unsure" };

struct checker {
    struct table *table;
    enum gates_outcome outcome; /* the worst so far */
};

static void add_outcome(struct checker *checker, const char *gate, const char *name, double found,
                        double limit, enum gates_outcome outcome)
{
    size_t row = table_add_row(checker->table);
    table_set_text(checker->table, row, GATES_GATE, gate, strlen(gate));
    table_set_text(checker->table, row, GATES_NAME, name, strlen(name));
    table_set_number(checker->table, row, GATES_FOUND, found);
    table_set_number(checker->table, row, GATES_LIMIT, limit);
    table_set_text(checker->table, row, GATES_OUTCOME, outcome_names[outcome],
                   strlen(outcome_names[outcome]));
    if (outcome == GATES_PASSED || checker->outcome == GATES_HELD)
        checker->outcome = outcome;
}

/* What a row of a table of diff means for a limit on its growth. */
static enum gates_outcome row_outcome(const struct table *table, size_t row, double found, double limit)
{
    const char *verdict = table_cell(table, row, DIFF_VERDICT)->text.at;
    if (!(found > limit))
        return GATES_HELD;
    if (strcmp(verdict, diff_verdict_name(DIFF_UNSURE)) == 0)
        return GATES_UNSURE;
    bool real = strcmp(verdict, diff_verdict_name(DIFF_SLOWER)) == 0 ||
                strcmp(verdict, diff_verdict_name(DIFF_NEW)) == 0;
    return real ? GATES_PASSED : GATES_HELD;
}

static double growth(const struct table *table, size_t row)
{
    double share = table_cell(table, row, DIFF_CHANGE_SHARE)->f;
    return isnan(share) ? INFINITY : share; /* new: from nothing */
}

static bool check_step(struct checker *checker, const struct result *result, const char *text,
                       const struct gate *gate, struct tpa_error *err)
{
    const struct table *head = result->tables.at[0];
    if (head->row_count == 0 || strcmp(table_cell(head, 0, DIFF_NAME)->text.at, "step time") != 0) {
        tpa_fail(err, TPA_NOWHERE, "the gate %s is about the step time, and a side has no steps", text);
        return tpa_hint(err, "call prof.step() in the profiled loop, or use op=%s:REGEX", text);
    }
    double found = growth(head, 0);
    add_outcome(checker, text, "step time", found, gate->limit, row_outcome(head, 0, found, gate->limit));
    return true;
}

static bool check_rows(struct checker *checker, const struct result *result, const char *text,
                       const struct gate *gate, struct tpa_error *err)
{
    struct regex *regex = regex_open(gate->pattern, err);
    if (!regex)
        return false;
    bool good = true;
    size_t matches = 0;
    for (size_t t = 1; t < result->tables.count && good; t++) {
        const struct table *table = result->tables.at[t];
        for (size_t row = 0; row < table->row_count && good; row++) {
            const union table_cell *name = table_cell(table, row, DIFF_NAME);
            bool matched = false;
            good = regex_match(regex, name->text.at, name->text.len, &matched, err);
            if (!good || !matched)
                continue;
            matches++;
            double found = growth(table, row);
            add_outcome(checker, text, name->text.at, found, gate->limit,
                        row_outcome(table, row, found, gate->limit));
        }
    }
    regex_free(regex);
    if (good && matches == 0)
        return tpa_fail(err, TPA_NOWHERE, "no row matches the gate %s", text);
    return good;
}

/* Idle share of a step: what is neither kernel, copy nor communication. */
static bool check_idle(struct checker *checker, const struct result *result, const char *text,
                       const struct gate *gate, struct tpa_error *err)
{
    static const char *const busy[] = { "  Kernel", "  Memcpy", "  Memset", "  Comm." };
    const struct table *head = result->tables.at[0];
    if (head->row_count == 0 || strcmp(table_cell(head, 0, DIFF_NAME)->text.at, "step time") != 0)
        return tpa_fail(err, TPA_NOWHERE, "the gate %s is about steps, and a side has none", text);
    double time[2] = { (double)table_cell(head, 0, DIFF_BEFORE)->i,
                       (double)table_cell(head, 0, DIFF_AFTER)->i };
    double idle[2] = { time[0], time[1] };
    for (size_t row = 1; row < head->row_count; row++)
        for (size_t i = 0; i < sizeof busy / sizeof *busy; i++)
            if (strcmp(table_cell(head, row, DIFF_NAME)->text.at, busy[i]) == 0) {
                idle[0] -= (double)table_cell(head, row, DIFF_BEFORE)->i;
                idle[1] -= (double)table_cell(head, row, DIFF_AFTER)->i;
            }
    double found = (time[1] > 0 ? idle[1] / time[1] : 0) - (time[0] > 0 ? idle[0] / time[0] : 0);
    /* Shares have no samples of their own: the step time's tell whether there were enough. */
    const char *verdict = table_cell(head, 0, DIFF_VERDICT)->text.at;
    bool unsure = strcmp(verdict, diff_verdict_name(DIFF_UNSURE)) == 0;
    add_outcome(checker, text, "idle share of the step", found, gate->limit,
                found > gate->limit ? unsure ? GATES_UNSURE : GATES_PASSED : GATES_HELD);
    return true;
}

bool gates_check(struct result *result, const struct opt_list *gates, enum gates_outcome *outcome,
                 struct tpa_error *err)
{
    *outcome = GATES_HELD;
    if (gates->count == 0)
        return true;
    struct checker checker = { .table = table_open("gates", "Gates", columns, GATES_COLUMNS) };
    bool good = true;
    for (size_t i = 0; i < gates->count && good; i++) {
        struct gate gate;
        good = parse_gate(gates->at[i], &gate, err);
        if (good && gate.kind == GATE_STEP)
            good = check_step(&checker, result, gates->at[i], &gate, err);
        else if (good && gate.kind == GATE_OP)
            good = check_rows(&checker, result, gates->at[i], &gate, err);
        else if (good)
            good = check_idle(&checker, result, gates->at[i], &gate, err);
    }
    result_add_table(result, checker.table);
    *outcome = checker.outcome;
    return good;
}
