/* findings.c - see findings.h. */
#include "summary/findings.h"

#include "base/quantity.h"
#include "base/runs.h"
#include "derive/features.h"
#include "derive/step_list.h"
#include "summary/finding_rules.h"
#include <math.h>
#include <stdlib.h>

static bool saves_less(const void *context, const void *a, const void *b)
{
    (void)context;
    return ((const struct priced_finding *)a)->saves_ns < ((const struct priced_finding *)b)->saves_ns;
}

static void price_together(struct pricing *pricing)
{
    struct step_gain gain = pricing_gain_together(pricing);
    pricing->findings->step_ns = gain.now_ns;
    pricing->findings->together_ns = gain.then_ns;
}

struct findings *findings_analyze(struct summary *summary)
{
    struct findings *findings = mem_zalloc(1, sizeof *findings);
    struct pricing pricing;
    pricing_init(&pricing, summary, findings);
    findings->has_steps = step_list_of(summary->trace)->count > 0;
    findings->no_launches = summary->gpu && !(summary->features & FEATURE_LAUNCHES);
    findings->priced = pricing.graph->moment_count > 0;
    if (findings->priced) {
        finding_rules_look(&pricing);
        runs_sort(findings->at, findings->count, sizeof *findings->at, saves_less, NULL);
        price_together(&pricing);
        findings->single_step = step_list_of(summary->trace)->count == 1;
    } else {
        findings->recipe = trace_feature_recipe(summary->trace, FEATURE_OPS);
    }
    pricing_release(&pricing);
    return findings;
}

void findings_free(struct findings *findings)
{
    if (!findings)
        return;
    buffer_release(&findings->quiet);
    buffer_release(&findings->blind);
    arena_release(&findings->texts);
    free(findings->at);
    free(findings);
}

/* ---- tables ---- */

/* clang-format off */
static const struct table_column columns[] = {
    COLUMN(struct priced_finding, title, "finding", "Finding", TABLE_NAME, "what costs time"),
    COLUMN(struct priced_finding, saves_ns, "saves", "Saves", TABLE_NS, "of a step at best, by replaying the trace without it"),
    COLUMN(struct priced_finding, saves_share, "saves_share", "Of a step", TABLE_SHARE, "the same as a share of the step time"),
    COLUMN(struct priced_finding, where, "where", "Where", TABLE_TEXT, "operator, line of source, ranks", .flags = TABLE_LINE),
    COLUMN(struct priced_finding, advice, "advice", "What to do", TABLE_TEXT, "the change", .flags = TABLE_LINE),
    COLUMN(struct priced_finding, check, "check", "Prediction", TABLE_TEXT, "a command that shows it; then tpa diff before and after", .flags = TABLE_LINE),
    COLUMN(struct priced_finding, count, "events", "Events", TABLE_TALLY, "what the change touches in the recording", .flags = TABLE_OPTIONAL),
    COLUMN(struct priced_finding, time_ns, "time", "Time", TABLE_NS, "time of these, added up", .flags = TABLE_OPTIONAL),
    COLUMN(struct priced_finding, rule, "rule", "Rule", TABLE_TEXT, "its name, for scripts", .flags = TABLE_OPTIONAL),
};
/* clang-format on */

static void on_top(struct result *result)
{
    result->notices.at[result->notices.count - 1].on_top = true;
}

static const char *doubt_of(const struct findings *findings)
{
    return findings->no_launches ? "; launches were not recorded, so what waits for what is mostly unknown"
                                 : "";
}

/* The first sentence is the answer. */
static void notice_answer(const struct findings *findings, struct result *result)
{
    const char *of = findings->has_steps ? "a step" : "the recording";
    if (findings->count == 0) {
        struct buffer half = { 0 };
        if (findings->half.at)
            buffer_printf(&half, "; were what takes longest to take half, %s would take %.1f %% less: %s", of,
                          quantity_percent(findings->half_saves_share), findings->half.at);
        result_add_notice(result, "answer", 0, NULL, TPA_NOWHERE,
                          "no change that tpa knows of would save %.1f %% of %s%s%s%s%s",
                          100 * FINDINGS_LEAST_SHARE, of, doubt_of(findings),
                          findings->unpriced ? "; not priced: " : "",
                          findings->unpriced ? findings->unpriced : "", half.at ? half.at : "");
        buffer_release(&half);
        on_top(result);
        return;
    }
    const struct priced_finding *first = &findings->at[0];
    struct buffer then = { 0 }, now = { 0 };
    quantity_append_rounded_time(&then, (double)(findings->step_ns - first->saves_ns));
    quantity_append_rounded_time(&now, (double)findings->step_ns);
    result_add_notice(
        result, "answer", 1, NULL, TPA_NOWHERE,
        "what pays most: %s; without that, %s would at best take %s instead of %s (%.1f %% less)%s: %s",
        first->title.at, of, then.at, now.at, quantity_percent(first->saves_share), doubt_of(findings),
        first->advice.at);
    on_top(result);
    buffer_release(&then);
    buffer_release(&now);
}

/* Each change alone leaves what another holds up, so that together they may save far more than one by one. */
static void notice_more_together(const struct findings *findings, struct result *result)
{
    const double far_more = 1.2;
    int64_t sum_ns = 0, together_ns = findings->step_ns - findings->together_ns;
    for (size_t i = 0; i < findings->count; i++)
        sum_ns += findings->at[i].saves_ns;
    if (findings->count < 2 || !((double)together_ns > far_more * (double)sum_ns))
        return;
    struct buffer saves = { 0 };
    quantity_append_rounded_time(&saves, (double)together_ns);
    result_add_notice(
        result, "together", (int64_t)findings->count, NULL, TPA_NOWHERE,
        "all of these changes together save %s, more than one by one: each alone leaves what another holds up",
        saves.at);
    result_make_minor(result);
    buffer_release(&saves);
}

static void notice_rest(const struct findings *findings, struct result *result)
{
    if (findings->count > 0) {
        result_add_notice(result, "check", 0, NULL, TPA_NOWHERE,
                          "after a change, to see what it saved: tpa diff BEFORE AFTER");
        result_make_minor(result);
    }
    if (findings->end_wait_ns > 0) {
        struct buffer time = { 0 };
        quantity_append_rounded_time(&time, (double)findings->end_wait_ns);
        result_add_notice(
            result, "end_of_recording", 1, NULL, TPA_NOWHERE,
            "the last wait (%s, %s) is the end of the recording: nothing is launched after it, so it saves nothing",
            findings->end_wait.at, time.at);
        result_make_minor(result);
        buffer_release(&time);
    }
    if (findings->quiet.count) {
        result_add_notice(result, "nothing_found", 0, NULL, TPA_NOWHERE,
                          "looked at, and not worth a change: %s", findings->quiet.at);
        result_make_minor(result);
    }
    if (findings->blind.count) {
        result_add_notice(result, "not_looked_at", 0, NULL, TPA_NOWHERE, "not looked at: %s",
                          findings->blind.at);
        result_make_minor(result);
    }
}

/* Without steps the prices are those of all that was recorded. */
static void describe_of_recording(struct table *table)
{
    struct table_column
        *saves = &table->columns[table_column_at(table, offsetof(struct priced_finding, saves_ns))],
        *share = &table->columns[table_column_at(table, offsetof(struct priced_finding, saves_share))];
    saves->help = "of the recording at best, by replaying the trace without it";
    share->title = "Of all";
    share->help = "the same as a share of the recording";
}

void findings_add_result(const struct findings *findings, struct result *result)
{
    if (!findings->priced) {
        result_add_notice(
            result, "answer", 0, NULL, TPA_NOWHERE,
            "nothing that takes time was recorded, so there is nothing to change; to record it, %s",
            findings->recipe);
        on_top(result);
        return;
    }
    notice_answer(findings, result);
    if (findings->count > 0) {
        struct table *table = TABLE_OF_ROWS("findings", "What to change, what saves most first", columns,
                                            findings->at, findings->count);
        table->sort_column = table_column_at(table, offsetof(struct priced_finding, saves_ns));
        if (!findings->has_steps)
            describe_of_recording(table);
        table_add_footer(table, "step", findings->has_steps ? "A step takes" : "What is replayed takes",
                         TABLE_NS, table_int(findings->step_ns));
        table_add_footer(table, "together", "With all of these", TABLE_NS, table_int(findings->together_ns));
        result_add_table(result, table);
    }
    notice_more_together(findings, result);
    notice_rest(findings, result);
}

const struct table_shape findings_tables[] = {
    TABLE_SHAPE("findings", columns),
    { 0 },
};
