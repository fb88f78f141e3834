#include "profile/view.h"

#include <inttypes.h>
#include <math.h>

static const char *time_text(int64_t ns, struct arena *texts)
{
    SCOPED struct buffer text = { 0 };
    quantity_append_rounded_time(&text, (double)ns);
    return arena_strndup(texts, text.at, text.count);
}

/* "40 calls, 95.5 % of the time", as far as the report has it, behind BEFORE; "" if it has neither. */
static const char *amount_text(const struct action *action, const char *before, struct arena *texts)
{
    const char *calls = action->calls < 0 ? ""
                                          : arena_printf(texts, "in %" PRId64 " call%s", action->calls,
                                                         action->calls == 1 ? "" : "s");
    const char *share = isnan(action->share)
                            ? ""
                            : arena_printf(texts, "%.1f %% of the run", quantity_percent(action->share));
    return *calls || *share
               ? arena_printf(texts, "%s%s%s%s", before, calls, *calls && *share ? ", " : "", share)
               : "";
}

/* The action whose name is NAME, or ends in ".NAME" as with "[Strategy]SingleDeviceStrategy.backward"; NULL: none. */
static const struct action *find_action(const struct action_report *report, const char *name)
{
    size_t len = strlen(name);
    for (size_t i = 0; i < report->actions.count; i++) {
        const char *whole = report->actions.at[i].name;
        size_t at = strlen(whole);
        if (at >= len && strcmp(whole + at - len, name) == 0 && (at == len || whole[at - len - 1] == '.'))
            return &report->actions.at[i];
    }
    return NULL;
}

/* Action I in order of total time, longest first, without those that hold all others. Returns NULL behind the last. */
static const struct action *find_longest(const struct action_report *report, size_t i)
{
    const struct action *last = NULL;
    for (size_t n = 0; n <= i; n++) {
        const struct action *next = NULL;
        FOR_EACH(action, &report->actions) {
            bool behind = !last || action->total_ns < last->total_ns ||
                          (action->total_ns == last->total_ns && action > last);
            if (behind && strncmp(action->name, "run_", 4) != 0 &&
                (!next || action->total_ns > next->total_ns))
                next = action;
        }
        if (!next)
            return NULL;
        last = next;
    }
    return last;
}

static const char *verdict_of(const struct action_report *report, struct arena *texts)
{
    const struct action *batch = find_action(report, "run_training_batch");
    const struct action *next = find_action(report, "train_dataloader_next");
    const struct action *most = find_longest(report, 0);
    if (batch)
        return arena_printf(
            texts, "A training batch takes %s on average%s%s.", time_text(batch->mean_ns, texts),
            amount_text(batch, ", ", texts),
            next ? arena_printf(texts, "; loading the next one takes %s", time_text(next->mean_ns, texts))
                 : "");
    return most ? arena_printf(texts, "%s takes %s%s.", most->name, time_text(most->total_ns, texts),
                               amount_text(most, ", ", texts))
                : NULL;
}

static void actions_add_facts(const struct action_report *report, struct answer *answer, struct arena *texts)
{
    const struct answer_fact facts[] = {
        { "Stage", *report->stage ? report->stage : NULL },
        { "Recorded", report->total_ns < 0 ? NULL : time_text(report->total_ns, texts) },
        { "Calls", report->total_calls < 0 ? NULL : arena_printf(texts, "%" PRId64, report->total_calls) },
        { "Actions", arena_printf(texts, "%zu", report->actions.count) },
    };
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        if (facts[i].text)
            *VEC_PUSH(&answer->facts) = facts[i];
}

void actions_add_overview(struct result *result, const struct action_report *report)
{
    struct answer *answer = result_answer(result);
    struct arena *texts = &result->arena;
    actions_add_facts(report, answer, texts);
    answer->in_text = true;
    answer->findings_title = "The longest actions, which may run inside one another";
    const struct action *action;
    for (size_t i = 0; i < ANSWER_FIRST_FINDINGS && (action = find_longest(report, i)); i++)
        *VEC_PUSH(&answer->findings) = (struct answer_finding){
            .title = action->name,
            .saves = arena_printf(texts, "%s%s", time_text(action->total_ns, texts),
                                  amount_text(action, ", ", texts)),
            .section = "actions",
            .command = "tpa top",
            .row = i + 1,
            .named = true,
        };
    answer->verdict = verdict_of(report, texts);
    if (answer->verdict) {
        result_add_notice(result, "verdict", 1, NULL, TPA_NOWHERE, "%s", answer->verdict);
        result_make_verdict(result);
        result_make_answered(result);
    }
    actions_add_table(result, report);
}

struct bar_row {
    struct text name;
    int64_t total_ns;
};

static const struct table_column bar_columns[] = {
    COLUMN(struct bar_row, name, "name", "Action", TABLE_NAME, "the action"),
    COLUMN(struct bar_row, total_ns, "total", "Total time", TABLE_NS, "its time in all"),
};

void actions_draw(struct picture *picture, const struct action_report *report, size_t most)
{
    struct chart *chart =
        picture_add_chart(picture, "actions", "Time of actions, which may run inside one another");
    struct table *table = TABLE_OF_ROWS("actions", NULL, bar_columns, (struct bar_row *)NULL, 0);
    for (size_t i = 0; i < report->actions.count && (most == 0 || i < most); i++) {
        struct bar_row row = { as_text(report->actions.at[i].name), report->actions.at[i].total_ns };
        table_add_rows(table, &row, 1, sizeof row);
    }
    chart->horizontal = true;
    chart->y = (struct chart_axis){ .title = "Total time", .kind = TABLE_NS };
    chart->x = (struct chart_axis){ .kind = TABLE_NAME };
    chart_add_table(chart, table);
    chart_add_series(chart,
                     (struct chart_series){ .mark = CHART_BAR, .color = CHART_BLUE, .table = table, .y = 1 });
}
