/* findings_analyze.c - see findings.h: the rules in their order, and what they save together. */
#include "summary/findings.h"

#include "analyze/contention/contention.h"
#include "analyze/roofline.h"
#include "analyze/sequences/sequences.h"
#include "base/quantity.h"
#include "base/rows.h"
#include "derive/features.h"
#include "derive/host_state.h"
#include "derive/step_list.h"
#include "summary/finding_kit.h"
#include "summary/finding_rules.h"
#include "trace/lost_work.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct key by_saves[] = { DESC(struct priced_finding, saves_ns), KEY_END };

/* Changes may get into one another's way: at best is what the best of them reaches alone where all of them reach less. */
static void price_together(struct pricing *pricing)
{
    struct findings *findings = pricing->findings;
    struct step_gain gain = pricing_gain_of_later(pricing);
    findings->step_ns = gain.now_ns;
    findings->together_ns = gain.then_ns;
    findings->bound = gain.bound;
    for (size_t i = 0; i < findings->count; i++)
        if (finding_is_change(&findings->at[i]) && findings->at[i].then_ns < findings->together_ns)
            findings->together_ns = findings->at[i].then_ns;
}

/* Is the finding about what the host does, which a profiler slows down? */
static bool is_of_host(const struct priced_finding *finding)
{
    static const char *const rules[] = { "launches",     "host_time", "host_operators", "pauses",
                                         "data_loading", "optimizer", "compilation" };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (strcmp(finding->rule.at, rules[i]) == 0)
            return true;
    return false;
}

/* "tpa COMMAND shows 6.575ms FOR in the whole recording: WHY", if TIME_NS is more than FIRST_NS. */
static void add_elsewhere(struct findings *findings, double first_ns, double time_ns, const char *command,
                          const char *of, const char *why)
{
    struct buffer *text = &findings->elsewhere;
    if (time_ns <= first_ns)
        return;
    buffer_printf(text, "%stpa %s shows ", text->count ? "; " : "", command);
    quantity_append_rounded_time(text, time_ns);
    buffer_printf(text, "%s in the whole recording%s", of, why);
}

/* Communication that nothing hides, as tpa comm adds it up over ranks. */
static double exposed_communication(const struct summary *summary)
{
    double exposed_ns = summary->comm ? (double)summary->comm->exposed_ns : 0;
    for (size_t i = 0; !summary->comm && summary->gpu && i < summary->gpu->count; i++)
        exposed_ns += (double)summary->gpu->at[i].exposed_communication_ns;
    return exposed_ns;
}

/* What kernels lost, of those kinds of company for which that is sure. */
static double lost_to_contention(const struct summary *summary)
{
    const struct contention *contention = summary->gpu ? contention_of(summary->trace) : NULL;
    double lost_ns = 0;
    for (size_t i = 0; contention && i < contention->sums.count; i++)
        if (contention->sums.at[i].lost_low_ns > 0)
            lost_ns = fmax(lost_ns, (double)contention->sums.at[i].lost_ns);
    return lost_ns;
}

static double time_below_peak(const struct summary *summary)
{
    double won_ns = 0;
    if (!summary->gpu || !(summary->features & FEATURE_SHAPES))
        return 0;
    const struct roofline *roofline = roofline_of(summary->trace);
    for (size_t d = 0; d < roofline->devices.count; d++)
        won_ns += roofline->devices.at[d].rated_ns > 0 ? (double)roofline->devices.at[d].won_ns : 0;
    return won_ns;
}

/* Figures of other commands that are more than the first saving makes of the recording, and why a replay saves less. */
static void describe_elsewhere(const struct summary *summary, struct findings *findings)
{
    double first_ns = 0, recorded_ns = 0;
    const struct stall_row *stall = NULL;
    for (size_t i = 0; i < summary->rank_count; i++)
        recorded_ns = fmax(recorded_ns, (double)summary->ranks[i].time_ns);
    if (findings->count)
        first_ns = findings->at[0].saves_share * recorded_ns;
    for (size_t i = 0; summary->transfers && i < summary->transfers->stalls.count; i++)
        if (!stall || summary->transfers->stalls.at[i].saving_ns > stall->saving_ns)
            stall = &summary->transfers->stalls.at[i];
    if (stall) {
        const char *of = arena_printf(arena_of(findings), " for %s", stall->op.at);
        add_elsewhere(
            findings, first_ns, (double)stall->saving_ns, "transfers", of,
            ": for so long the host was blocked; less is saved, as what it waited for is needed, or the devices "
            "were busy meanwhile");
    }
    const char *below = arena_printf(
        arena_of(findings),
        ", as if every operator reached the peak, which none does: what is priced here is %.0f %% of it for those "
        "that are below",
        100 * ROOFLINE_SLOW);
    add_elsewhere(findings, first_ns, time_below_peak(summary), "roofline", "", below);
    if (summary->gpu) {
        const struct sequences *sequences = sequences_gains_of(summary->trace);
        const char *command = findings->has_steps ? "sequences --by step" : "sequences";
        add_elsewhere(
            findings, first_ns, (double)sequences->fusion_gain_ns, command, " for fusion",
            ": gaps, and tensors that are written and read; a step gains less where it waits for the host, or the "
            "gaps are there for another reason");
        add_elsewhere(
            findings, first_ns, (double)sequences->graph_gain_ns, command, " for graphs of short operations",
            ": so long devices idle between these; a graph saves less where the host waits, allocates or computes "
            "meanwhile");
    }
    add_elsewhere(findings, first_ns, exposed_communication(summary), "comm", " of exposed communication",
                  ": less is saved, as the host or computation is the limit without it");
    add_elsewhere(findings, first_ns, lost_to_contention(summary), "kernels --contention",
                  " of slower kernels", ": less is saved, as most of a step does not wait for them");
    if (summary_is_pipeline(summary) && !(summary->pipeline_ns > 0))
        buffer_printf(
            &findings->elsewhere,
            "%sranks send each other messages, as stages of a pipeline do: tpa job tells which stage or rank holds it up, "
            "and what its bubbles cost",
            findings->elsewhere.count ? "; " : "");
}

/* What the recording cannot tell, and what recording it cost. */
static void describe_recording(const struct summary *summary, struct findings *findings)
{
    const struct host_state *host = host_state_of(summary->trace);
    double overhead_ns = 0, all_ns = 0;
    for (uint32_t f = 0; f < summary->trace->file_count; f++) {
        overhead_ns += (double)intervals_length(&host->overhead[f]);
        all_ns += (double)summary_file_time(summary, f);
    }
    findings->overhead_share = all_ns > 0 ? overhead_ns / all_ns : 0;
    findings->has_frames = summary->has_frames;
    for (size_t i = 0; i < findings->count; i++)
        findings->priced_host |= is_of_host(&findings->at[i]);
    unexplained_describe(summary, &findings->unexplained, &findings->of_unexplained);
}

/* Work that is missing, or that nothing links to the host, leaves waits and idle time unexplained. */
static const char *reason_to_withhold(const struct summary *summary, struct findings *findings)
{
    int64_t recorded_ns;
    if (trace_lost_much(summary->trace) || trace_left_out_much(summary->trace))
        return "work of devices is missing from the file; record again: fewer steps at a time, larger buffers, and no "
               "other profiler beside it";
    if (account_is_unrecorded(summary->trace, summary->account, &recorded_ns))
        return "most of a step was not recorded; record again, and end the recording after a step has ended";
    if (trace_knows_no_durations(summary->trace))
        return "how long much of the work of devices took is not known";
    if (!summary->gpu || !trace_misses_calls(summary->trace))
        return NULL;
    struct buffer text = { 0 };
    trace_describe_callless(summary->trace, &text);
    const char *reason = arena_strndup(arena_of(findings), text.at, text.count);
    buffer_release(&text);
    return reason;
}

struct findings *findings_analyze(struct summary *summary)
{
    struct findings *findings = arena_open(sizeof *findings);
    ARENA_OWNS(arena_of(findings), &findings->at, &findings->quiet, &findings->blind, &findings->unexplained,
               &findings->elsewhere);
    struct pricing pricing;
    pricing_init(&pricing, summary, findings);
    findings->has_steps = step_list_of(summary->trace)->count > 0;
    findings->no_launches = summary->gpu && !(summary->features & FEATURE_LAUNCHES);
    findings->priced = pricing.graph->moment_count > 0;
    findings->withheld = reason_to_withhold(summary, findings);
    if (findings->priced && !findings->withheld) {
        finding_rules_look(&pricing);
        describe_recording(summary, findings);
        SORT(findings, by_saves);
        price_together(&pricing);
        describe_elsewhere(summary, findings);
        findings->single_step = step_list_of(summary->trace)->count == 1;
    } else {
        findings->priced = false;
        findings->only_memory = summary->features & FEATURE_MEMORY;
        findings->recipe = findings->only_memory ? "only memory was, and tpa memory tells what held it"
                                                 : trace_feature_recipe(summary->trace, FEATURE_OPS);
    }
    pricing_release(&pricing);
    return findings;
}

/* ---- tables ---- */

/* clang-format off */
static const struct table_column columns[] = {
    COLUMN(struct priced_finding, title, "finding", "Finding", TABLE_NAME, "what costs time"),
    COLUMN(struct priced_finding, saves_ns, "saves", "Saves up to", TABLE_NS, "of a step at best, by replaying the trace without it"),
    COLUMN(struct priced_finding, then_ns, "then", "Then", TABLE_NS, "what a step takes then: the step time less the saving"),
    COLUMN(struct priced_finding, saves_share, "saves_share", "Of a step", TABLE_SHARE, "the same as a share of the step time"),
    COLUMN(struct priced_finding, where, "where", "Where", TABLE_TEXT, "operator, line of source, ranks", .flags = TABLE_LINE),
    COLUMN(struct priced_finding, advice, "advice", "What to do", TABLE_TEXT, "the change", .flags = TABLE_LINE),
    COLUMN(struct priced_finding, check, "check", "Prediction", TABLE_TEXT, "a command that shows it; then tpa diff before and after", .flags = TABLE_LINE),
    COLUMN(struct priced_finding, action, "action", "Change", TABLE_TEXT, "the finding as something to do", .flags = TABLE_OPTIONAL),
    COLUMN(struct priced_finding, was, "code_before", "Code before", TABLE_TEXT, "the line of code that is changed; missing: it is new", .flags = TABLE_OPTIONAL),
    COLUMN(struct priced_finding, code, "code", "Code", TABLE_TEXT, "that line after the change; missing: none is known", .flags = TABLE_OPTIONAL),
    COLUMN(struct priced_finding, saves_low_ns, "saves_low", "Saves, low", TABLE_NS, "saves at the end of the interval of what contention costs at which it is least; missing if none was measured", .flags = TABLE_OPTIONAL),
    COLUMN(struct priced_finding, saves_high_ns, "saves_high", "Saves, high", TABLE_NS, "saves at its other end", .flags = TABLE_OPTIONAL),
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

/* "176.535ms -> 116.714ms". */
static void append_now_and_then(struct buffer *text, int64_t now_ns, int64_t then_ns)
{
    quantity_append_rounded_time(text, (double)now_ns);
    buffer_puts(text, " -> ");
    quantity_append_rounded_time(text, (double)then_ns);
}

/* Does the answer say what to do instead of a change, or all that the notice added last says? HAS_MORE: the notice has more than that no
 * change would save enough. */
static void make_answered_instead(struct result *result, bool has_more)
{
    const struct answer *answer = result_answer(result);
    if (answer->nothing && (answer->findings.count || !has_more))
        result_make_answered(result);
}

/* Where nothing would save enough. */
static void notice_no_change(const struct findings *findings, const char *of, struct result *result)
{
    struct buffer half = { 0 };
    if (findings->half.at)
        buffer_printf(&half, ". Only a faster %s would: halving the longest saves %.1f %%: %s",
                      findings->longest, quantity_percent(findings->half_saves_share), findings->half.at);
    result_add_notice(result, "answer", 0, NULL, TPA_NOWHERE,
                      "no single change would save %.1f %% of %s%s%s%s%s%s%s", 100 * FINDINGS_LEAST_SHARE, of,
                      doubt_of(findings), findings->unpriced ? "; not priced: " : "",
                      findings->unpriced ? findings->unpriced : "", half.at ? half.at : "",
                      findings->unexplained.count ? ". But " : "",
                      findings->unexplained.count ? findings->unexplained.at : "");
    buffer_release(&half);
    on_top(result);
    make_answered_instead(result, *doubt_of(findings) || findings->unpriced || findings->half.at ||
                                      findings->unexplained.count);
}

/* The first sentence is the answer. */
static void notice_answer(const struct findings *findings, struct result *result)
{
    const char *of = findings->has_steps ? "a step" : "the recording";
    if (findings->is_capture) {
        result_add_notice(
            result, "answer", (int64_t)findings->count, NULL, TPA_NOWHERE,
            "most of the recording is the capture of a graph, which is done once: record the launches of the graph, after "
            "its capture, to see what pays");
        on_top(result);
        return;
    }
    if (findings->count == 0) {
        notice_no_change(findings, of, result);
        return;
    }
    const struct priced_finding *first = &findings->at[0];
    struct buffer step = { 0 };
    if (first->once) {
        result_add_notice(
            result, "answer", 1, NULL, TPA_NOWHERE,
            findings->has_steps
                ? "what takes most: %s; up to %.1f %% of %s, in the first step only, so later steps gain nothing: %s"
                : "what takes most: %s; up to %.1f %% of %s, once, in the beginning, so what comes later gains nothing: %s",
            first->title.at, quantity_percent(first->saves_share), of, first->advice.at);
        on_top(result);
        result_make_answered(result);
        return;
    }
    struct buffer most = { 0 };
    if (findings_longest_first(findings))
        buffer_printf(&most,
                      "a faster %s would save most: halving the longest saves %.1f %% of %s: %s; besides",
                      findings->longest, quantity_percent(findings->half_saves_share), of, findings->half.at);
    if (first->unexplained) { /* to find out why saves nothing */
        quantity_append_rounded_time(&step, (double)first->saves_ns);
        result_add_notice(result, "answer", 1, NULL, TPA_NOWHERE,
                          "%s: %s; up to %.1f %% of %s, %s, is unexplained: %s",
                          most.at ? most.at : "what takes most", first->title.at,
                          quantity_percent(first->saves_share), of, step.at, first->advice.at);
    } else {
        append_now_and_then(&step, findings->step_ns, findings->step_ns - first->saves_ns);
        result_add_notice(result, "answer", 1, NULL, TPA_NOWHERE,
                          "%s: %s; without that %s %.1f %% of %s is saved, %s%s: %s",
                          most.at ? most.at : "what pays most", first->title.at, finding_price_word(first),
                          quantity_percent(first->saves_share), of, step.at, doubt_of(findings),
                          first->advice.at);
    }
    on_top(result);
    result_make_answered(result);
    buffer_release(&most);
    buffer_release(&step);
    if (findings->unexplained.count) {
        result_add_notice(result, "unexplained", 1, NULL, TPA_NOWHERE, "%s", findings->unexplained.at);
        on_top(result);
        result_make_answered(result);
        result_answer(result)->unexplained = result->notices.at[result->notices.count - 1].text;
    }
}

/* Savings overlap; and where each change alone leaves what another holds up, together they may save far more than one by one. */
static void notice_together(const struct findings *findings, struct result *result)
{
    static const char *const limits[] = { [BOUND_UNKNOWN] = "",
                                          [BOUND_HOST] = ", then the host is the limit",
                                          [BOUND_DEVICE] = ", then the devices are the limit",
                                          [BOUND_WORK] = ", then the devices' work is the limit" };
    const double far_more = 1.2;
    int64_t sum_ns = 0, together_ns = findings->step_ns - findings->together_ns, count = 0;
    size_t same =
        0; /* place, from 1, of the first change that saves what the one before it does: each alone reaches one limit */
    for (size_t i = 0; i < findings->count; i++) {
        bool is_change = finding_is_change(&findings->at[i]);
        sum_ns += is_change ? findings->at[i].saves_ns : 0;
        count += is_change;
        if (i > 0 && same == 0 && is_change && finding_is_change(&findings->at[i - 1]) &&
            findings->at[i].saves_ns == findings->at[i - 1].saves_ns)
            same = i + 1;
    }
    if (count < 2)
        return;
    struct buffer step = { 0 }, overlap = { 0 };
    append_now_and_then(&step, findings->step_ns, findings->together_ns);
    if ((double)together_ns > far_more * (double)sum_ns)
        buffer_puts(&overlap, "; more than one by one, as each alone leaves what another holds up");
    else if (together_ns < sum_ns && same > 0)
        buffer_printf(&overlap, "; %zu and %zu save the same time", same - 1, same);
    else if (together_ns < sum_ns)
        buffer_puts(&overlap, "; savings overlap");
    result_add_notice(result, "together", count, NULL, TPA_NOWHERE, "together, at best: %s%s%s", step.at,
                      limits[findings->bound.kind], overlap.at ? overlap.at : "");
    buffer_release(&overlap);
    result_make_answered(result);
    result_answer(result)->together =
        result->notices.at[result->notices.count - 1].text + strlen("together, ");
    buffer_release(&step);
}

/* What the host does takes longer while it is recorded. */
static void notice_profiled(const struct findings *findings, struct result *result)
{
    if (!findings->priced_host)
        return;
    struct buffer known = { 0 };
    if (findings->overhead_share > 0)
        buffer_printf(&known, "; the profiler's own events take %.1f %% of the recording",
                      quantity_percent(findings->overhead_share));
    result_add_notice(
        result, "profiled", 0, NULL, TPA_NOWHERE,
        "a profiler slows the host down, %s%s: without it, what the host does takes less, and so do these savings",
        findings->has_frames ? "about 2 times with Python functions, as here" : "about 1.4 times",
        known.at ? known.at : "");
    result_make_minor(result);
    buffer_release(&known);
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
    if (findings->elsewhere.count) {
        result_add_notice(result, "elsewhere", 0, NULL, TPA_NOWHERE, "%s", findings->elsewhere.at);
        result_make_minor(result);
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
        result_make_answered(result);
        result_answer(result)->blind =
            result->notices.at[result->notices.count - 1].text + strlen("not looked at: ");
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
    if (findings->withheld) {
        result_add_notice(result, "answer", 0, NULL, TPA_NOWHERE, "no change is priced, as %s",
                          findings->withheld);
        on_top(result);
        make_answered_instead(result, true);
        return;
    }
    if (!findings->priced) {
        result_add_notice(result, "answer", 0, NULL, TPA_NOWHERE, "nothing that takes time was recorded: %s",
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
    notice_together(findings, result);
    notice_profiled(findings, result);
    notice_rest(findings, result);
}

const struct table_shape findings_tables[] = {
    TABLE_SHAPE("findings", columns),
    { 0 },
};
