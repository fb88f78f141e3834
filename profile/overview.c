#include "profile/view.h"

#include "derive/python_names.h"
#include <inttypes.h>
#include <math.h>

enum { PARTS = 5, COSTLIEST = 5 };

static const char *overview_name_of(const struct profile *profile, function_id id, struct arena *texts)
{
    SCOPED struct buffer text = { 0 };
    profile_function_text(&profile->functions[id], &text);
    return arena_strndup(texts, text.at ? text.at : "", text.count);
}

/* What SECONDS of PROFILE are: time, or what it measures in its place: bytes, or counts without a unit. */
static const char *time_of(const struct profile *profile, double seconds, struct arena *texts)
{
    double figure = seconds * 1e9;
    if (profile_is_timed(profile))
        return arena_printf(texts, "%s", TIME_TEXT(figure));
    return arena_printf(texts, "%s",
                        profile->figures == PROFILE_BYTES ? SIZE_TEXT(llround(figure))
                                                          : TALLY_TEXT(llround(figure)));
}

/* What shares of PROFILE are of. */
static const char *whole_of(const struct profile *profile)
{
    return profile_is_timed(profile)           ? "the time"
           : profile->figures == PROFILE_BYTES ? "the bytes"
           : profile->sampled                  ? "the samples"
                                               : "all";
}

static const char *tally_of(int64_t count, struct arena *texts)
{
    return arena_printf(texts, "%s", TALLY_TEXT(count));
}

/* The same with the path shortened to the file's folder: "model/util.py:5(norm)". */
static const char *short_name_of(const struct profile *profile, function_id id, struct arena *texts)
{
    const char *name = overview_name_of(profile, id, texts), *last = strrchr(name, '/');
    if (*name != '/' || !last)
        return name;
    while (last > name && last[-1] != '/')
        last--;
    return last;
}

/* Add the MOST functions by WORDS (view.h). */
static bool view_by(struct profile_view *view, const struct profile *profile, const char *words, size_t most,
                    struct tpa_error *err)
{
    struct profile_sort sort = { 0 };
    struct profile_restriction restriction = { .limit = { .count = most } };
    bool good =
        profile_sort_parse(&sort, words, err) && profile_view_make(view, profile, &sort, &restriction, err);
    buffer_release(&sort.description);
    return good;
}

/* Name the table that was added last. */
static void call_table(struct result *result, const char *key, const char *title)
{
    struct table *table = result->tables.at[result->tables.count - 1];
    table->key = key;
    table->title = title;
}

/* Take those in which threads wait out of VIEW; which of them is longest, in *MOST. Returns their time in seconds, added up. */
static double leave_out_waits(const struct profile *profile, struct profile_view *view, function_id *most)
{
    double waited_s = 0, longest_s = -1;
    size_t kept = 0;
    for (size_t i = 0; i < view->count; i++) {
        const struct profile_function *function = &profile->functions[view->at[i]];
        if (!python_waits(function->file, function->file_length, function->name, function->name_length)) {
            view->at[kept++] = view->at[i];
            continue;
        }
        waited_s += function->cost.total_s;
        if (function->cost.total_s > longest_s) {
            longest_s = function->cost.total_s;
            *most = view->at[i];
        }
    }
    view->count = kept;
    return waited_s;
}

/* Let VIEW be the MOST functions by their own time in which threads do not wait. */
static bool view_work(struct profile_view *view, const struct profile *profile, size_t most, double *waited_s,
                      function_id *longest, struct tpa_error *err)
{
    struct profile_view all = { 0 };
    if (!view_by(&all, profile, "tottime", 0, err))
        return false;
    size_t count = all.count;
    *waited_s = leave_out_waits(profile, &all, longest);
    size_t waits = count - all.count;
    profile_view_release(&all);
    if (!view_by(view, profile, "tottime", most ? most + waits : 0, err))
        return false;
    leave_out_waits(profile, view, &(function_id){ 0 });
    view->count = most && view->count > most ? most : view->count;
    return true;
}

/* Waiting is no work: it is told apart. */
static void notice_waits(const struct profile *profile, double waited_s, function_id most,
                         struct result *result)
{
    if (!(waited_s > 0) || !(profile->total.total_s > 0))
        return;
    ADD_NOTICE(
        result, "waits", 1,
        "threads waited %.1f %% of the time, mostly in %s: that is no work and not among the functions",
        quantity_percent(waited_s / profile->total.total_s), short_name_of(profile, most, &result->arena));
}

/* ---- the answer ---- */

/* Where threads wait for more than this share of the time, no function's own time is what the program takes. */
#define MOST_OF_IT 0.5

static void add_fact(struct answer *answer, const char *label, const char *text)
{
    *VEC_PUSH(&answer->facts) = (struct answer_fact){ label, text };
}

/* Is FUNCTION of a file of its own, not of Python or a package, and takes most of the time with what it calls? Then the file is the
 * program, or what a line of code (python -c) called. */
static bool is_most_of(const struct profile *profile, const struct profile_function *function)
{
    static const char *const others[] = { "/lib/python", "-packages/" };
    if (function->line <= 0 || !function->file_length || *function->file == '<' ||
        function->cost.cumulative_s < profile->total.total_s / 2)
        return false;
    return !ANY(i, sizeof others / sizeof *others,
                memmem(function->file, function->file_length, others[i], strlen(others[i])));
}

/* The file of the code of a module whose calls took longest, which is that of the script: imports take less. */
static const char *program_of(const struct profile *profile, struct arena *texts)
{
    const struct profile_function *most = NULL;
    FOR_EACH_OF(function, profile->functions, profile->function_count) {
        if (function->line > 0 && function->file_length && *function->file != '<' &&
            function->name_length == 8 && memcmp(function->name, "<module>", 8) == 0 &&
            (!most || function->cost.cumulative_s > most->cost.cumulative_s))
            most = function;
    }
    bool recorded = most != NULL;
    for (size_t i = 0; !recorded && i < profile->function_count; i++)
        if (is_most_of(profile, &profile->functions[i]) &&
            (!most || profile->functions[i].cost.cumulative_s > most->cost.cumulative_s))
            most = &profile->functions[i];
    if (!most)
        return "not recorded";
    uint32_t at = most->file_length;
    while (at > 0 && most->file[at - 1] != '/' && most->file[at - 1] != '\\')
        at--;
    return arena_strndup(texts, most->file + at, most->file_length - at);
}

static void add_facts(const struct profile *profile, struct answer *answer, struct arena *texts)
{
    add_fact(answer, "Program", program_of(profile, texts));
    add_fact(answer, "GPU", "not recorded: a profile of functions on the host");
    add_fact(answer, profile->sampled ? "Sampled" : "Recorded",
             time_of(profile, profile->total.total_s, texts));
    if (profile->sampled)
        add_fact(answer, "Samples", tally_of(profile->total.primitive_calls, texts));
    else
        add_fact(answer, "Calls", tally_of(profile->total.calls, texts));
    add_fact(answer, "Functions", tally_of((int64_t)profile->listed_count, texts));
    if (profile->files.count > 1)
        add_fact(answer, "Files", arena_printf(texts, "%zu, added up", profile->files.count));
}

/* Own time by function, one part for each of the first few of VIEW, and that in which threads wait. */
static void add_bar(const struct profile *profile, const struct profile_view *view, double waited_s,
                    struct answer *answer, struct arena *texts)
{
    struct answer_bar bar = { .length = 1 };
    double all_s = profile->total.total_s, rest_s = all_s - waited_s;
    for (size_t i = 0; i < view->count && i < PARTS; i++) {
        double own_s = profile->functions[view->at[i]].cost.total_s;
        if (!(own_s > 0) || !(own_s <= all_s))
            continue;
        rest_s -= own_s;
        *VEC_PUSH(&bar.parts) = (struct answer_part){ .title = short_name_of(profile, view->at[i], texts),
                                                      .figure = time_of(profile, own_s, texts),
                                                      .share = own_s / all_s,
                                                      .color = chart_color_at(i),
                                                      .section = "own" };
    }
    if (rest_s > all_s * 0.0005)
        *VEC_PUSH(&bar.parts) = (struct answer_part){ .title = "other functions",
                                                      .figure = time_of(profile, rest_s, texts),
                                                      .share = rest_s / all_s,
                                                      .color = CHART_COLOR_OF_OTHER,
                                                      .section = "own" };
    if (waited_s > all_s * 0.0005)
        *VEC_PUSH(&bar.parts) = (struct answer_part){ .title = "waiting",
                                                      .figure = time_of(profile, waited_s, texts),
                                                      .share = fmin(waited_s / all_s, 1),
                                                      .color = CHART_COLOR_OF_IDLE,
                                                      .section = "own" };
    answer->bars_title = arena_printf(texts, "%s in functions themselves, without what they call",
                                      profile_is_timed(profile)           ? "Time"
                                      : profile->figures == PROFILE_BYTES ? "Bytes"
                                                                          : "Samples");
    *VEC_PUSH(&answer->bars) = bar;
}

/* "called mostly by model/util.py:1(scale)"; NULL if nothing calls it, or by itself alone. */
static const char *main_caller(const struct profile *profile, function_id id, struct arena *texts)
{
    const struct profile_function *function = &profile->functions[id];
    const struct profile_edge *most = NULL;
    for (uint32_t i = 0; i < function->edge_count; i++) {
        const struct profile_edge *edge = &profile->edges[function->first_edge + i];
        bool more =
            !most || edge->cost.cumulative_s > most->cost.cumulative_s ||
            (!(edge->cost.cumulative_s < most->cost.cumulative_s) && edge->cost.calls > most->cost.calls);
        if (edge->caller != id && more)
            most = edge;
    }
    return !most ? NULL
           : function->edge_count > 1
               ? arena_printf(texts, "called mostly by %s", short_name_of(profile, most->caller, texts))
               : arena_printf(texts, "called by %s", short_name_of(profile, most->caller, texts));
}

/* ", in 400 calls"; "" of samples, which count a function also where it only called. */
static const char *calls_of(const struct profile *profile, const struct profile_cost *cost,
                            struct arena *texts)
{
    return profile->sampled ? ""
                            : arena_printf(texts, ", in %s call%s", tally_of(cost->calls, texts),
                                           cost->calls == 1 ? "" : "s");
}

/* The functions to look at first: those with the most time of their own. */
static void add_findings(const struct profile *profile, const struct profile_view *own, struct answer *answer,
                         struct arena *texts)
{
    static const char *const to_do = "do less in it, or call it less often";
    enum { MOST = 3 };
    double all_s = profile->total.total_s;
    for (size_t i = 0; i < own->count && i < MOST; i++) {
        const struct profile_cost *cost = &profile->functions[own->at[i]].cost;
        if (!(cost->total_s > 0) || !(cost->total_s <= all_s))
            continue;
        *VEC_PUSH(&answer->findings) = (struct answer_finding){
            .title = short_name_of(profile, own->at[i], texts),
            .saves = arena_printf(texts, "%s itself, %.1f %% of %s%s", time_of(profile, cost->total_s, texts),
                                  quantity_percent(cost->total_s / all_s), whole_of(profile),
                                  calls_of(profile, cost, texts)),
            .where = main_caller(profile, own->at[i], texts),
            .advice = to_do,
            .section = "own",
            .command = "tpa callers",
            .row = i + 1,
            .named = true,
        };
    }
    answer->findings_title = "Where to look first";
}

/* Where threads wait most of the time for processes of a pool, these do the work, and are not in the profile. */
static void add_other_processes(const struct profile *profile, double waited_s, function_id longest,
                                struct answer *answer, struct arena *texts)
{
    const char *where = short_name_of(profile, longest, texts);
    double share = waited_s / profile->total.total_s;
    if (share <= MOST_OF_IT || !(strstr(where, "multiprocessing") || strstr(where, "concurrent/futures")))
        return;
    *VEC_PUSH(&answer->findings) = (struct answer_finding){
        .title = "threads wait for other processes",
        .action = "Profile the processes that do the work",
        .where = where,
        .advice = "they are not in this profile: py-spy record --subprocesses, or cProfile within them",
        .saves =
            arena_printf(texts, "gain not known: %.1f %% of the time is waiting", quantity_percent(share)),
        .section = "own",
        .command = "tpa top",
    };
}

/* "Threads wait 93.8 % of the time, mostly in pool.py:531(_handle_tasks). ": where that is much; else "". */
static const char *waits_text(const struct profile *profile, double waited_s, function_id most,
                              struct arena *texts)
{
    const double much = 0.1;
    double share = waited_s / profile->total.total_s;
    return share < much ? ""
                        : arena_printf(texts, "Threads wait %.1f %% of the time, mostly in %s. ",
                                       quantity_percent(share), short_name_of(profile, most, texts));
}

static void add_answer(const struct profile *profile, const struct profile_view *own,
                       const struct profile_view *cumulative, double waited_s, function_id longest,
                       struct result *result)
{
    struct answer *answer = result_answer(result);
    double all_s = profile->total.total_s;
    add_facts(profile, answer, &result->arena);
    answer->in_text = true;
    if (!(all_s > 0) || !isfinite(all_s) || own->count == 0) {
        answer->nothing = isfinite(all_s) ? "No function took time."
                                          : "The times of the functions do not add up to a number.";
        return;
    }
    add_bar(profile, own, waited_s, answer, &result->arena);
    add_other_processes(profile, waited_s, longest, answer, &result->arena);
    add_findings(profile, own, answer, &result->arena);
    const struct profile_cost *first = &profile->functions[own->at[0]].cost;
    const char *most = short_name_of(profile, own->at[0], &result->arena);
    /* The largest function that is not the total: one with callers. */
    const char *under = NULL;
    double under_s = 0;
    for (size_t i = 0; i < cumulative->count && !under; i++) {
        const struct profile_function *function = &profile->functions[cumulative->at[i]];
        if (function->cost.cumulative_s >= 0.9 * all_s || waited_s > all_s / 2 ||
            cumulative->at[i] == own->at[0] || function->cost.cumulative_s < first->total_s)
            continue;
        under = short_name_of(profile, cumulative->at[i], &result->arena);
        under_s = function->cost.cumulative_s;
    }
    const char *below = under ? arena_printf(&result->arena, "%s takes %.1f %% with what it calls", under,
                                             quantity_percent(under_s / all_s))
                              : "no function takes longer than another";
    if (profile_is_timed(profile) && first->total_s > 0 && first->total_s < all_s && all_s < 1e9 &&
        waited_s <= MOST_OF_IT * all_s) {
        answer->from_ns = (int64_t)llround(all_s * 1e9);
        answer->to_ns = (int64_t)llround((all_s - first->total_s) * 1e9);
        answer->change_note = arena_printf(
            &result->arena, "all that was recorded, at best, without the own time of 1, %s", most);
    }
    answer->verdict =
        first->total_s > 0
            ? arena_printf(&result->arena, "%s%s takes %.1f %% of %s itself%s%s.",
                           waits_text(profile, waited_s, longest, &result->arena), most,
                           quantity_percent(first->total_s / all_s), whole_of(profile), under ? "; " : "",
                           under ? below : "")
            : arena_printf(&result->arena, "No function has time of its own that is not 0; %s.", below);
    const char *waits = waits_text(profile, waited_s, longest, &result->arena);
    if (*waits && waited_s > MOST_OF_IT * all_s) {
        answer->headline =
            arena_printf(&result->arena, "%.*s", (int)strlen(waits) - 1, waits); /* without its space */
        answer->because = "what takes longest besides is below.";
    }
    ADD_NOTICE(result, "verdict", 1, "%s", answer->verdict);
    result_make_verdict(result);
    result_make_answered(result);
}

bool profile_add_overview(struct result *result, const struct profile *profile, size_t most,
                          struct tpa_error *err)
{
    SCOPED_BY(profile_view_release) struct profile_view own = { 0 }, cumulative = { 0 }, costliest = { 0 };
    function_id longest = 0;
    double waited_s = 0;
    bool good = view_work(&own, profile, most, &waited_s, &longest, err) &&
                view_by(&cumulative, profile, "cumulative", most, err) &&
                view_by(&costliest, profile, "tottime", COSTLIEST, err);
    if (good) {
        notice_waits(profile, waited_s, longest, result);
        add_answer(profile, &own, &cumulative, waited_s, longest, result);
        profile_add_functions(result, profile, &own);
        call_table(result, "own", "Functions by their own time");
        profile_mark_sorted(result, false);
        profile_add_functions(result, profile, &cumulative);
        call_table(result, "cumulative", "Functions by time with what they call");
        profile_mark_sorted(result, true);
        if (profile_has_callers(profile)) {
            profile_add_calls(result, profile, &costliest, false);
            call_table(result, "callers", "Who calls the costliest");
            profile_add_calls(result, profile, &costliest, true);
            call_table(result, "callees", "Whom the costliest call");
        }
        profile_add_notices(result, profile, &costliest, true);
    }
    return good;
}

struct bar_row {
    struct text name;
    int64_t own_ns;
};

static const struct table_column bar_columns[] = {
    COLUMN(struct bar_row, name, "name", "Function", TABLE_NAME, "the function"),
    COLUMN(struct bar_row, own_ns, "own", "Own time", TABLE_NS,
           "in the function itself, without what it called"),
};

void profile_draw(struct picture *picture, const struct profile *profile, size_t most)
{
    SCOPED_BY(profile_view_release) struct profile_view own = { 0 };
    struct tpa_error ignored = { 0 };
    if (!view_by(&own, profile, "tottime", most, &ignored) || own.count == 0)
        return;
    struct chart *chart = picture_add_chart(picture, "functions", "Functions by their own time");
    struct table *table = TABLE_OF_ROWS("functions", NULL, bar_columns, (struct bar_row *)NULL, 0);
    for (size_t i = 0; i < own.count; i++) {
        struct bar_row row = { .name = as_text(overview_name_of(profile, own.at[i], &picture->arena)),
                               .own_ns = profile_ns(profile->functions[own.at[i]].cost.total_s) };
        table_add_rows(table, &row, 1, sizeof row);
    }
    chart->horizontal = true;
    chart->y = (struct chart_axis){ .title = "Own time", .kind = TABLE_NS };
    chart->x = (struct chart_axis){ .kind = TABLE_NAME };
    chart_add_table(chart, table);
    chart_add_series(chart,
                     (struct chart_series){ .mark = CHART_BAR, .color = CHART_BLUE, .table = table, .y = 1 });
}
