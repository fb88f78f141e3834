#include "cli/sides.h"

#include <math.h>

const struct opt_choice gate_unsure_words[] = {
    [GATE_UNSURE_AUTO] = { "auto", "exit with 1: what cannot be judged does not pass", NULL },
    [GATE_UNSURE_PASSES] = { "pass", "exit with 0, for the first nights of a history", NULL },
    [GATE_UNSURE_FAILS] = { "fail", "as auto", NULL },
    { 0 },
};

bool gate_unsure_fails(int unsure)
{
    return unsure != GATE_UNSURE_PASSES;
}

bool gate_check_ranks(const struct measures *measures, const char *what, struct tpa_error *err)
{
    if (measures->files_unread) {
        tpa_fail(err, TPA_NOWHERE,
                 measures->files_unread == 1 ? "%s lacks %zu file that may be a rank of the job (%s)"
                                             : "%s lacks %zu files that may be ranks of the job (%s)",
                 what, measures->files_unread, measures->why_unread);
        return tpa_hint(
            err, "mend or remove %s, or give --allow-missing-ranks to judge by the files that can be read",
            measures->files_unread == 1 ? "it" : "them");
    }
    bool one_by_choice = measures->files == 1;
    if (measures_missing_ranks(measures) == 0 || one_by_choice)
        return true;
    tpa_fail(err, TPA_NOWHERE, "%s has %zu of %lld ranks (%s)", what, measures->ranks.count,
             (long long)measures->world_size, measures_fact(measures, "ranks"));
    return tpa_hint(err,
                    "give the files of all ranks, or --allow-missing-ranks to judge by those that are there");
}

const struct printer *const gate_printers[] = { &printer_junit, &printer_github, NULL };

/* Gates of figures of a whole step, by the word in front of '='. */
static const struct {
    const char *word, *metric;
    enum gate_sort sort;
    const char *needs;
} figures[] = {
    { "step", "step_time", GATE_STEP,
      "give the profiler a schedule= and call prof.step() in the loop, or use op=10%:REGEX" },
    { "spread", "step_spread", GATE_FIGURE, "give the facts of all ranks: tpa facts makes them" },
    { "waiting", "waiting", GATE_FIGURE, "give the facts of all ranks: tpa facts makes them" },
    { "busy", "gpu_busy", GATE_FIGURE, "profile with ProfilerActivity.CUDA" },
    { "communication", "exposed_communication", GATE_FIGURE, "profile with ProfilerActivity.CUDA" },
    { "copies", "exposed_copies", GATE_FIGURE, "profile with ProfilerActivity.CUDA" },
    { "host", "host_time", GATE_FIGURE, NULL },
    { "device", "device_time", GATE_FIGURE, "profile with ProfilerActivity.CUDA" },
    { "memory", "memory_peak", GATE_MEMORY, "profile with profile_memory=True" },
    { "idle", "idle_share", GATE_IDLE, "profile with ProfilerActivity.CUDA" },
};
enum { FIGURES = sizeof figures / sizeof *figures };

static void about(struct gate *gate, size_t figure)
{
    gate->sort = figures[figure].sort;
    gate->metric = figures[figure].metric;
    gate->needs = figures[figure].needs;
}

static bool not_a_gate(const char *text, struct tpa_error *err)
{
    tpa_fail(err, TPA_NOWHERE, "'%s' is not a gate", text);
    return tpa_hint(
        err,
        "a gate is 5%% (the step time), op=10%%:REGEX (rows), memory=2%% (or busy=, "
        "communication=, copies=, host=, device=, of fleets spread=, waiting=), or idle=+3pp (idle share)");
}

/* "+3pp" or "3pp". */
static bool parse_points(const char *value, size_t len, double *limit)
{
    char percent[32];
    if (len > 0 && *value == '+')
        value++, len--;
    if (len < 3 || len > sizeof percent || memcmp(value + len - 2, "pp", 2) != 0)
        return false;
    memcpy(percent, value, len - 2);
    percent[len - 2] = '%';
    return quantity_parse_share(percent, len - 1, limit);
}

bool gate_parse(const char *text, struct gate *gate, struct tpa_error *err)
{
    *gate = (struct gate){ .text = text };
    size_t word = strcspn(text, "=:"), figure = 0; /* a limit alone applies to the step time */
    const char *value = text, *end = text + strlen(text);
    if (text[word] == '=') {
        value = text + word + 1;
        while (figure < FIGURES &&
               !(strlen(figures[figure].word) == word && memcmp(figures[figure].word, text, word) == 0))
            figure++;
    }
    if (figure < FIGURES) {
        about(gate, figure);
    } else {
        const char *colon = strchr(value, ':');
        if (word != 2 || memcmp(text, "op", 2) != 0 || !colon)
            return not_a_gate(text, err);
        gate->sort = GATE_ROWS;
        gate->pattern = colon + 1;
        end = colon;
    }
    bool fine = gate->sort == GATE_IDLE
                    ? parse_points(value, (size_t)(end - value), &gate->limit)
                    : quantity_parse_share(*value == '+' ? value + 1 : value,
                                           (size_t)(end - value) - (*value == '+'), &gate->limit);
    return fine || not_a_gate(text, err);
}

bool gate_exceeds(double found, double limit)
{
    return found - limit > 1e-10;
}

int gate_decimals(double found, double limit)
{
    enum { MOST = 6 };
    int decimals = 1;
    while (decimals < MOST && fabs(found - limit) > 1e-10 &&
           round(found * pow(10, decimals + 2)) == round(limit * pow(10, decimals + 2)))
        decimals++;
    return decimals;
}

void gate_notice_close(const struct gate *gate, const char *name, size_t len, double found,
                       struct result *result)
{
    int decimals = isfinite(found) ? gate_decimals(found, gate->limit) : 1;
    const char *unit = gate->sort == GATE_IDLE ? "points" : "%";
    if (decimals == 1)
        return;
    ADD_NOTICE(result, "gate_close", 1, "gate %s: the change of %.*s is %.*f %s, %s than %g %s", gate->text,
               (int)len, name, decimals, found * 100, unit, found > gate->limit ? "more" : "less",
               gate->limit * 100, unit);
    result->notices.at[result->notices.count - 1].on_top = true;
}
