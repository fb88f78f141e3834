/* diff_notices.c - differences between the sides' recordings, which readers must know to interpret figures; see
 * diff.h. */
#include "diff/diff.h"

#include <math.h>

/* Move the notice added last above the figures. */
static void diff_notices_raise(struct result *result)
{
    result->notices.at[result->notices.count - 1].on_top = true;
}

/* Move the notice added last above the answer: gates are not judged for it. */
static void diff_notices_put_first(struct result *result)
{
    result->notices.at[result->notices.count - 1].of_input = true;
}

/* A fact known of both sides that differs; then gates compare the machines, or what was recorded. */
static const struct unlike {
    const char *key, *title;
} unlikes[] = { { "gpu", "GPU" }, { MEASURE_LAUNCHES, MEASURE_LAUNCHES_TITLE } };

void diff_append_unlike(const struct diff *diff, struct buffer *out)
{
    for (size_t i = 0; i < sizeof unlikes / sizeof *unlikes; i++) {
        const char *fact[2] = { measures_fact(diff->sides[0], unlikes[i].key),
                                measures_fact(diff->sides[1], unlikes[i].key) };
        if (!fact[0] || !fact[1] || strcmp(fact[0], fact[1]) == 0 ||
            strcmp(fact[0], MEASURE_UNKNOWN_GPU) == 0 || strcmp(fact[1], MEASURE_UNKNOWN_GPU) == 0)
            continue;
        buffer_printf(out, "%snot the same %s: %s against %s", out->count ? ", and " : "", unlikes[i].title,
                      fact[0], fact[1]);
    }
}

static bool has_notice(const struct result *result, const char *kind)
{
    return ANY(i, result->notices.count, strcmp(result->notices.at[i].kind, kind) == 0);
}

static void notice_gpus(const struct diff *diff, struct result *result)
{
    const char *gpu[2];
    for (int i = 0; i < 2; i++)
        gpu[i] = measures_fact(diff->sides[i], "gpu");
    if (!gpu[0] && !gpu[1])
        return;
    if (!gpu[0] || !gpu[1]) {
        ADD_NOTICE(result, "other_gpu", 1,
                   "not the same GPU: %s against %s; only the %s side has work on a GPU",
                   gpu[0] ? gpu[0] : "none", gpu[1] ? gpu[1] : "none", gpu[0] ? "first" : "second");
        diff_notices_raise(result);
    } else if (strcmp(gpu[0], gpu[1]) != 0) {
        ADD_NOTICE(result, "other_gpu", 1, "not the same GPU: %s against %s", gpu[0], gpu[1]);
        diff_notices_put_first(result);
    }
}

/* Versions and recording settings: facts known of both sides that differ. */
static void notice_facts(const struct diff *diff, struct result *result)
{
    const struct measures *before = diff->sides[0];
    FOR_EACH(fact, &before->facts) {
        const char *after = measures_fact(diff->sides[1], fact->key);
        if (!after || strcmp(fact->key, "gpu") == 0 || strcmp(fact->key, "cut") == 0 ||
            strcmp(fact->value, after) == 0 ||
            (strcmp(fact->key, "ranks") == 0 && has_notice(result, "one_job")))
            continue;
        ADD_NOTICE(result, "other_fact", 1, "not the same %s: %s against %s", fact->title, fact->value,
                   after);
        if (strcmp(fact->key, MEASURE_LAUNCHES) == 0)
            diff_notices_put_first(result);
        else
            diff_notices_raise(result);
    }
}

/* Results saved with --limit lack rows, which then appear to be new or gone. */
static void notice_cuts(const struct diff *diff, struct result *result)
{
    for (int i = 0; i < 2; i++) {
        const char *cut = measures_fact(diff->sides[i], "cut");
        if (!cut)
            continue;
        ADD_NOTICE(result, "cut", 1,
                   "the %s side was saved with --limit and holds %s: the other rows are missing",
                   i ? "second" : "first", cut);
        diff_notices_raise(result);
    }
}

/* Mean of a metric over all files. */
static double diff_notices_mean_of(const struct measures *side, const char *key)
{
    const struct measure_metric *metric = sampling_metric(&side->by_file, key);
    double sum = 0;
    size_t count = metric ? metric->values.count : 0;
    for (size_t i = 0; i < count; i++)
        sum += metric->values.at[i];
    return count ? sum / (double)count : 0;
}

/* Compare the lengths of the recordings, which are compared as they are without steps. */
static void notice_windows(const struct diff *diff, struct result *result)
{
    double before = diff_notices_mean_of(diff->sides[0], "window"),
           after = diff_notices_mean_of(diff->sides[1], "window");
    double shorter = fmin(before, after), longer = fmax(before, after);
    if (!(longer > shorter * 1.1))
        return;
    ADD_NOTICE(
        result, "other_window", 1,
        "not the same window: %s against %s recorded; without steps on both sides, windows are compared as they are",
        TIME_TEXT(before), TIME_TEXT(after));
    diff_notices_raise(result);
}

static void notice_sizes(const struct diff *diff, struct result *result)
{
    const struct measures *const *sides = diff->sides;
    size_t before = diff->samplings[0]->samples.count, after = diff->samplings[1]->samples.count;
    bool by_step = diff->samplings[0] == &sides[0]->by_step;
    if (sides[0]->files != sides[1]->files) {
        ADD_NOTICE(result, "other_files", 1, "not the same number of files: %zu against %zu", sides[0]->files,
                   sides[1]->files);
        diff_notices_raise(result);
    }
    if (by_step && before != after) {
        ADD_NOTICE(result, "other_steps", 1,
                   "not the same number of steps: %zu against %zu; figures are per step", before, after);
        result_make_minor(result);
    }
    size_t steps[2] = { sides[0]->by_step.samples.count, sides[1]->by_step.samples.count };
    if (diff->sides[0]->source == MEASURE_TRACES && (steps[0] == 0) != (steps[1] == 0)) {
        ADD_NOTICE(result, "steps_on_one_side", 1,
                   "only the %s side marks steps: whole files are compared, not steps",
                   steps[0] ? "first" : "second");
        diff_notices_raise(result);
    }
    bool with_steps = steps[0] && steps[1];
    if (diff->sides[0]->source == MEASURE_TRACES && !with_steps)
        notice_windows(diff, result);
}

void diff_notice_differences(const struct diff *diff, struct result *result)
{
    notice_gpus(diff, result);
    notice_facts(diff, result);
    notice_sizes(diff, result);
    notice_cuts(diff, result);
}
