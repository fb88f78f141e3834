#include "cli/sides.h"

#include "base/regex.h"
#include "report/cases.h"
#include <math.h>

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
    const char *damage; /* why nothing can be judged; NULL: it can */
    const char *unlike; /* why nothing is within its limit; NULL: it may be */
    struct table *table;
    struct result *result;
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

static void add_share(struct buffer *out, double share, int decimals, bool points)
{
    if (isinf(share))
        buffer_puts(out, "from nothing");
    else
        buffer_printf(out, "%+.*f %s", decimals, decimals > 1 ? share * 100 : quantity_percent(share),
                      points ? "points" : "%");
}

/* A check, and how it came out. */
struct judged {
    const struct gate *gate;
    const struct suspect *suspect;
    double found, low, high; /* growth, and its 95 % interval */
    enum gates_outcome outcome;
    bool unlike; /* it would be within its limit */
};

/* "12 more runs a side would tell", the number of runs after which the interval no longer reaches the limit. */
static void add_runs_needed(struct buffer *out, const struct judged *judged)
{
    const struct finding *finding = judged->suspect->finding;
    double limit = judged->gate->limit * (judged->gate->sort == GATE_IDLE ? 1 : finding->before);
    size_t fewer = finding->runs[0] < finding->runs[1] ? finding->runs[0] : finding->runs[1];
    size_t needed = finding->present[0] ? finding_runs_needed(finding, limit) : SIZE_MAX;
    if (isnan(finding->error))
        buffer_puts(out, "; give 3 runs a side");
    else if (needed == SIZE_MAX)
        buffer_puts(out, "; more than 1000 runs a side would be needed to tell");
    else if (needed > fewer)
        buffer_printf(out, "; about %zu more run%s a side would tell", needed - fewer,
                      needed - fewer == 1 ? "" : "s");
    else
        buffer_puts(out, "; another run a side would tell");
}

static void add_cannot_tell(struct buffer *out, const struct checker *checker, const struct judged *judged)
{
    const struct finding *finding = judged->suspect->finding;
    bool points = judged->gate->sort == GATE_IDLE;
    buffer_puts(out, "cannot tell: ");
    if (checker->damage) {
        buffer_printf(out, "%s; record again", checker->damage);
        return;
    }
    if (judged->unlike) {
        buffer_printf(out, "within the limit, but %s%s", checker->unlike,
                      checker->unsure_fails ? "; --unsure pass lets it through" : "");
        return;
    }
    if (isnan(finding->error)) {
        buffer_printf(out, "%zu %s%s against %zu do not show how much the figure varies", finding->steps[0],
                      checker->diff->unit, finding->steps[0] == 1 ? "" : "s", finding->steps[1]);
    } else if (!finding->present[0]) {
        buffer_puts(out, "it is new, and not in all steps");
    } else {
        buffer_puts(out, "the change is between ");
        add_share(out, judged->low, 1, points);
        buffer_puts(out, " and ");
        add_share(out, judged->high, gate_decimals(judged->high, judged->gate->limit), points);
    }
    add_runs_needed(out, judged);
    if (checker->unsure_fails)
        buffer_puts(out, "; --unsure pass lets it through");
}

/* "step time: 10.2ms -> 11.0ms (+7.8 %, limit 5 %): slower". */
static void add_message(struct buffer *out, const struct checker *checker, const struct judged *judged)
{
    const struct suspect *suspect = judged->suspect;
    const struct finding *finding = suspect->finding;
    bool points = judged->gate->sort == GATE_IDLE;
    buffer_add(out, suspect->name, suspect->name_length);
    buffer_puts(out, ": ");
    figure_add_value(out, suspect->kind, finding->before);
    buffer_puts(out, " -> ");
    figure_add_value(out, suspect->kind, finding->after);
    buffer_puts(out, " (");
    int decimals = isfinite(judged->found) ? gate_decimals(judged->found, judged->gate->limit) : 1;
    add_share(out, judged->found, decimals, points);
    buffer_puts(out, ", limit ");
    add_share(out, judged->gate->limit, 1, points);
    buffer_puts(out, "): ");
    if (judged->outcome == GATES_CANNOT_TELL) {
        add_cannot_tell(out, checker, judged);
        return;
    }
    buffer_puts(out, verdict_name(finding->verdict, suspect->kind));
    if (*diff_between(finding) && finding->verdict != VERDICT_SAME && !diff_is_exact(checker->diff))
        buffer_printf(out, " %s", diff_between(finding));
}

/* Exceeded: a significant change beyond the limit. Within: the interval does not reach the limit; of several rows that
 * one gate matches, the change does not. Everything else cannot be told. */
static enum gates_outcome outcome_of(const struct judged *judged, size_t together, double min_change)
{
    const struct finding *finding = judged->suspect->finding;
    double found = judged->found, limit = judged->gate->limit;
    if (isnan(found))
        return GATES_CANNOT_TELL;
    if (finding->verdict == VERDICT_NEW && finding->change < min_change)
        return GATES_WITHIN;
    if (gate_exceeds(found, limit) &&
        (finding->verdict == VERDICT_MORE || (finding->verdict == VERDICT_NEW && finding->p < 0.05)))
        return GATES_EXCEEDED;
    bool ignored = finding->verdict == VERDICT_SAME && fabs(finding->change) < min_change;
    double reach = together > 1 ? found : judged->high;
    return finding->change == 0 || ignored || !gate_exceeds(reach, limit) ? GATES_WITHIN : GATES_CANNOT_TELL;
}

static void check(struct checker *checker, const struct gate *gate, const struct suspect *suspect,
                  size_t together)
{
    const struct finding *finding = suspect->finding;
    double before = gate->sort == GATE_IDLE ? 1 : finding->before;
    struct judged judged = { .gate = gate, .suspect = suspect, .found = finding_growth(finding) };
    if (gate->sort == GATE_IDLE)
        judged.found = finding->change;
    judged.low = before > 0 ? finding->low / before : judged.found;
    judged.high = before > 0 ? finding->high / before : judged.found;
    double min_change = table_is_time(suspect->kind) ? checker->diff->min_change : 0;
    double found = judged.found;
    judged.outcome = checker->damage ? GATES_CANNOT_TELL : outcome_of(&judged, together, min_change);
    judged.unlike = judged.outcome == GATES_WITHIN && checker->unlike;
    enum gates_outcome outcome = judged.outcome = judged.unlike ? GATES_CANNOT_TELL : judged.outcome;
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
    add_message(&message, checker, &judged);
    table_set_text(table, row, GATES_MESSAGE, message.at, message.count);
    buffer_release(&message);
    if (outcome == GATES_EXCEEDED)
        gate_notice_close(gate, suspect->name, suspect->name_length, found, checker->result);
    if (outcome == GATES_CANNOT_TELL && checker->unjudged++ == 0)
        add_cannot_tell(&checker->why_unjudged, checker, &judged);
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

/* Append which sides are not complete; nothing if both are. */
static void append_damage(struct buffer *out, const struct diff *diff, unsigned ignored)
{
    static const char *const names[2] = { "first", "second" };
    for (int i = 0; i < 2; i++) {
        unsigned lacks = diff->sides[i]->lacks & ~ignored;
        if (lacks == 0)
            continue;
        buffer_printf(out, "%sthe recording of the %s side is not complete (", out->count ? ", and " : "",
                      names[i]);
        lacks_append_meaning(out, lacks);
        buffer_putc(out, ')');
    }
}

bool gates_check(const struct diff *diff, const struct opt_list *gates, bool unsure_fails, unsigned ignored,
                 struct result *result, enum gates_outcome *outcome, struct tpa_error *err)
{
    *outcome = GATES_WITHIN;
    if (gates->count == 0)
        return true;
    SCOPED struct buffer damage = { 0 }, unlike = { 0 };
    append_damage(&damage, diff, ignored);
    diff_append_unlike(diff, &unlike);
    struct checker checker = { .diff = diff,
                               .table = table_open("gates", "Gates", columns, GATES_COLUMNS),
                               .result = result,
                               .unsure_fails = unsure_fails,
                               .damage = damage.at,
                               .unlike = unlike.at };
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
        ADD_NOTICE(result, "gates_cannot_tell", checker.unjudged, "gates that cannot be judged fail: %s",
                   checker.why_unjudged.at);
    buffer_release(&checker.why_unjudged);
    *outcome = checker.outcome;
    return good;
}

const struct table_shape gates_tables[] = {
    TABLE_SHAPE("gates", columns),
    { 0 },
};
