#include "profile/view.h"

#include "base/rows.h"

#include <inttypes.h>
#include <math.h>

static const char *time_text(int64_t ns, struct arena *texts)
{
    return arena_printf(texts, "%s", TIME_TEXT(ns));
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

/* An action, and the part of it that no other one has. */
struct own_action {
    const struct action *action;
    size_t row; /* of the report, from 1 */
    int64_t own_ns;
    const char *part; /* "without backward, training_step": of the action; NULL: all of it */
};

struct own_actions {
    VEC_OF(struct own_action);
};

static const struct key by_own_time[] = { DESC(struct own_action, own_ns), ASC(struct own_action, row),
                                          KEY_END };

enum { MOST_INNER = 3 };

/* Which actions Lightning runs inside which: the optimizer calls the closure. */
static const struct {
    const char *outer, *inner[MOST_INNER];
} nested_actions[] = {
    { "optimizer_step", { "training_step", "backward", "optimizer_zero_grad" } },
    { "batch_to_device", { "transfer_batch_to_device" } },
};

/* Holds the rest of the run: what the report has no action for, as the callbacks of users. */
static const char epoch_name[] = "run_training_epoch";

/* Take off OWN what runs inside it, if that is called as often, and is no longer. Manual optimization nests the other way round. */
static void take_off_inner(const struct action_report *report, struct own_action *own, struct arena *texts)
{
    for (size_t n = 0; n < sizeof nested_actions / sizeof *nested_actions; n++) {
        int64_t inner_ns = 0;
        const char *names = NULL;
        if (find_action(report, nested_actions[n].outer) != own->action)
            continue;
        for (size_t i = 0; i < MOST_INNER && nested_actions[n].inner[i]; i++) {
            const struct action *inner = find_action(report, nested_actions[n].inner[i]);
            if (!inner || inner->calls != own->action->calls)
                continue;
            inner_ns += inner->total_ns;
            names = names ? arena_printf(texts, "%s, %s", names, nested_actions[n].inner[i])
                          : nested_actions[n].inner[i];
        }
        if (names && inner_ns <= own->action->total_ns) {
            own->own_ns -= inner_ns;
            own->part = arena_printf(texts, "without %s", names);
        }
    }
}

/* The actions by the time that no other one has, longest first; without those that hold all others, but with what is left of the epoch.
 * Release with VEC_FREE. */
static struct own_actions own_actions_of(const struct action_report *report, struct arena *texts)
{
    struct own_actions all = { 0 };
    const struct action *epoch = find_action(report, epoch_name);
    int64_t rest_ns = epoch ? epoch->total_ns : 0;
    FOR_EACH(action, &report->actions) {
        struct own_action own = { .action = action,
                                  .row = (size_t)(action - report->actions.at) + 1,
                                  .own_ns = action->total_ns };
        if (strncmp(action->name, "run_", 4) == 0)
            continue;
        take_off_inner(report, &own, texts);
        rest_ns -= own.own_ns;
        *VEC_PUSH(&all) = own;
    }
    if (rest_ns > 0)
        *VEC_PUSH(&all) = (struct own_action){ .action = epoch,
                                               .row = (size_t)(epoch - report->actions.at) + 1,
                                               .own_ns = rest_ns,
                                               .part = "outside of the other actions" };
    SORT(&all, by_own_time);
    return all;
}

static const char *verdict_of(const struct action_report *report, const struct own_actions *all,
                              struct arena *texts)
{
    const struct action *batch = find_action(report, "run_training_batch");
    const struct action *next = find_action(report, "train_dataloader_next");
    const struct action *most = all->count ? all->at[0].action : NULL;
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
    answer->findings_title = "The longest actions, without what runs inside them";
    struct own_actions all = own_actions_of(report, texts);
    for (size_t i = 0; i < all.count && i < ANSWER_FIRST_FINDINGS; i++) {
        struct action own = *all.at[i].action;
        own.share *= own.total_ns > 0 ? (double)all.at[i].own_ns / (double)own.total_ns : 1;
        *VEC_PUSH(&answer->findings) = (struct answer_finding){
            .title = own.name,
            .saves = arena_printf(texts, "%s%s", time_text(all.at[i].own_ns, texts),
                                  amount_text(&own, ", ", texts)),
            .where = all.at[i].part,
            .section = "actions",
            .command = "tpa top",
            .row = all.at[i].row,
            .named = true,
        };
    }
    answer->verdict = verdict_of(report, &all, texts);
    VEC_FREE(&all);
    if (answer->verdict) {
        ADD_NOTICE(result, "verdict", 1, "%s", answer->verdict);
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
