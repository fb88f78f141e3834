/*
 * history.c - see history.h: the walk over the runs, and the state of each series.
 *
 *     good   runs at the reference's level        bad   runs since an alarm       fast   better runs, not yet confirmed
 *
 *     NEW        good | bad begins                UNSURE  stays in good: later nights test it again
 *     EXISTING   good | bad grows                 BETTER  fast grows; after three runs it is the reference
 *     FIXED      good again; one or two bad runs were an excursion and count as noise of the reference
 *
 * history_noise.c estimates noise and tests whether a change exceeds it.
 */
#include "history/history.h"

#include "base/rows.h"
#include "base/run_level.h"
#include <math.h>

const char *history_verdict_name(enum history_verdict verdict)
{
    static const char *const names[HISTORY_VERDICTS] = {
        [HISTORY_SAME] = "same",           [HISTORY_NEW] = "NEW",       [HISTORY_EXISTING] = "EXISTING",
        [HISTORY_FIXED] = "FIXED",         [HISTORY_BETTER] = "better", [HISTORY_UNSURE] = "UNSURE",
        [HISTORY_ACCEPTED] = "accepted",   [HISTORY_FIRST] = "first",   [HISTORY_ABSENT] = "absent",
        [HISTORY_UNKNOWN] = "cannot tell",
    };
    return names[verdict];
}

/* After this many runs at a better level, that level becomes the reference; fewer bad runs in a row are an
 * excursion. */
enum { RUNS_THAT_STAY = 3 };

/* An alarm ends when the level is nearer to the reference than to the bad level: at once if the p of that is below
 * this, else with the second such run in a row. */
static const double fixed_p = 0.001;
enum { RUNS_THAT_ARE_BACK = 2 };

/* The noise itself is estimated, so part of the allowed probability of a false alarm is held in reserve. */
static const double spent_share = 0.85;

/* UNSURE is reported at a threshold this many times more permissive than that of NEW. As it closes gates, too, it must be
 * rare by chance. */
static const double unsure_factor = 3;

/* ---- the state of a series ---- */

struct state {
    const struct history_series *series;
    double sign; /* -1 if smaller is worse: levels are negated, so that larger is worse */
    struct noise_runs good, bad, fast;
    struct noise_runs back; /* the latest runs of an alarm, which may be good again */
    struct noise_past past; /* the noise of earlier references */
    struct noise_test test; /* of the current run */
};

static double level_at(const struct state *state, size_t run)
{
    return state->sign * state->series->level[run];
}

static struct noise_run run_of(const struct state *state, size_t run, bool excursion)
{
    return (struct noise_run){
        .run = run,
        .level = level_at(state, run),
        .error = state->series->error[run],
        .excursion = excursion,
    };
}

static void history_add_run(const struct state *state, struct noise_runs *runs, size_t run)
{
    *VEC_PUSH(runs) = run_of(state, run, false);
}

/* Move the runs of FROM behind those of TO. */
static void append_runs(struct noise_runs *to, struct noise_runs *from)
{
    for (size_t i = 0; i < from->count; i++)
        *VEC_PUSH(to) = from->at[i];
    from->count = 0;
}

/* Move the runs of an excursion: they add to the noise of TO. */
static void return_runs(struct noise_runs *to, struct noise_runs *from)
{
    for (size_t i = 0; i < from->count; i++)
        from->at[i].excursion = true;
    append_runs(to, from);
}

/* Make FROM the reference. */
static void move_reference(struct state *state, struct noise_runs *from,
                           const struct history_options *options)
{
    noise_remember(&state->past, &state->good, options->window);
    state->good.count = 0;
    append_runs(&state->good, from);
}

/* ---- one run of one series ---- */

/* Is the change of the level too small to count? */
static bool too_small(const struct state *state, double change, double reference,
                      const struct history_options *options)
{
    return fabs(change) < options->min_change_share * fabs(reference) ||
           fabs(change) < state->series->min_change;
}

/* The last COUNT runs of good that are not excursions were bad already: move them to bad, before its runs. */
static void collect_tail(struct state *state, size_t count)
{
    SCOPED struct noise_runs tail = { 0 };
    size_t kept = state->good.count;
    for (; kept > 0 && count > 0; kept--) {
        if (!state->good.at[kept - 1].excursion)
            count--;
        *VEC_PUSH(&tail) = state->good.at[kept - 1];
    }
    SCOPED struct noise_runs later = state->bad;
    state->bad = (struct noise_runs){ 0 };
    while (tail.count > 0)
        *VEC_PUSH(&state->bad) = tail.at[--tail.count];
    for (size_t i = 0; i < later.count; i++)
        *VEC_PUSH(&state->bad) = later.at[i];
    state->good.count = kept;
}

/* The change may have begun earlier than it was found: runs nearer to the bad level than to the good one are bad. */
static void place_change(struct state *state)
{
    while (state->good.count > HISTORY_LEAST_RUNS) {
        const struct noise_run *last = &state->good.at[state->good.count - 1];
        double good = noise_centre(&state->good, state->good.count),
               bad = noise_centre(&state->bad, SIZE_MAX);
        if (last->excursion || last->level < (good + bad) / 2)
            return;
        collect_tail(state, 1);
    }
}

static enum history_verdict judge_alarmed(struct state *state, size_t run,
                                          const struct history_options *options)
{
    const struct noise_test *test = &state->test;
    double level = level_at(state, run), change = level - test->centre;
    if (test->passed &&
        !too_small(state, change, test->centre, options)) { /* worse than the bad level as well */
        state->bad.count = state->back.count = 0;
        history_add_run(state, &state->bad, run);
        return HISTORY_NEW;
    }
    double good = test->centre_before;
    if (!(level < (good + test->centre) / 2)) {
        return_runs(&state->bad, &state->back);
        history_add_run(state, &state->bad, run);
        place_change(state);
        return HISTORY_EXISTING;
    }
    history_add_run(state, &state->back, run);
    if (!(test->p_less < fixed_p) && state->back.count < RUNS_THAT_ARE_BACK)
        return HISTORY_UNSURE;
    if (state->bad.count < RUNS_THAT_STAY)
        return_runs(&state->good, &state->bad);
    state->bad.count = 0;
    append_runs(&state->good, &state->back);
    return HISTORY_FIXED;
}

static enum history_verdict judge_calm(struct state *state, size_t run, const struct history_options *options)
{
    const struct noise_test *test = &state->test;
    if (test->passed && !too_small(state, test->level - test->centre, test->centre, options)) {
        return_runs(&state->good, &state->fast);
        history_add_run(state, &state->good, run);
        collect_tail(state, test->back);
        return HISTORY_NEW;
    }
    double level = level_at(state, run), change = level - test->centre_before;
    bool slower = test->unsure && !too_small(state, test->level - test->centre, test->centre, options);
    bool faster = test->passed_less && !too_small(state, change, test->centre_before, options);
    if (state->fast.count > 0) {
        double fast = noise_centre(&state->fast, SIZE_MAX);
        if (level < (fast + test->centre_before) / 2)
            faster = true;
        else
            return_runs(&state->good, &state->fast);
    }
    if (faster) {
        history_add_run(state, &state->fast, run);
        if (state->fast.count >= RUNS_THAT_STAY)
            move_reference(state, &state->fast, options);
        return HISTORY_BETTER;
    }
    history_add_run(state, &state->good, run);
    return test->few ? HISTORY_UNKNOWN : slower ? HISTORY_UNSURE : HISTORY_SAME;
}

/* The verdict on the series in RUN, in which it was measured. */
static enum history_verdict judge_run(struct state *state, size_t run, const struct history_options *options)
{
    if (state->series->accepted && state->series->accepted[run]) {
        SCOPED struct noise_runs accepted = { 0 };
        history_add_run(state, &accepted, run);
        move_reference(state, &accepted, options);
        state->bad.count = state->back.count = state->fast.count = 0;
        return HISTORY_ACCEPTED;
    }
    if (state->good.count == 0) {
        history_add_run(state, &state->good, run);
        return HISTORY_FIRST;
    }
    return state->bad.count > 0 ? judge_alarmed(state, run, options) : judge_calm(state, run, options);
}

/* The finding on the series after RUN got VERDICT. */
static struct history_finding finding_of(const struct state *state, size_t run, enum history_verdict verdict,
                                         double reference)
{
    const struct noise_test *test = &state->test;
    /* An uncertain change may have begun some runs ago: then the runs since are compared with those before. */
    bool in_doubt = verdict == HISTORY_UNSURE && test->gathered;
    if (in_doubt && state->bad.count == 0)
        reference = test->centre;
    struct history_finding finding = {
        .verdict = verdict,
        .reference = state->sign * reference,
        .level = NAN,
        .noise = NAN,
        .margin = NAN,
        .p = NAN,
        .first_bad = HISTORY_NO_RUN,
        .last_good = HISTORY_NO_RUN,
        .references = state->good.count,
    };
    if (verdict == HISTORY_ABSENT)
        return finding;
    finding.level = in_doubt ? state->sign * test->level : state->series->level[run];
    finding.noise = reference != 0 ? sqrt(test->variance) / fabs(reference) : NAN;
    finding.p = test->p;
    if (test->error < INFINITY) /* false if it is unknown */
        finding.margin = test->error * run_student_quantile(0.025, test->df);
    finding.few = verdict == HISTORY_UNKNOWN && test->few;
    finding.visited = verdict == HISTORY_UNSURE && test->visited;
    if (state->bad.count > 0) {
        double bad = noise_centre(&state->bad, SIZE_MAX);
        finding.level = state->sign * bad;
        finding.first_bad = state->bad.at[0].run;
        for (size_t i = state->good.count; i-- > 0 && finding.last_good == HISTORY_NO_RUN;) {
            const struct noise_run *good = &state->good.at[i];
            bool was_bad = good->excursion && !(good->level < (reference + bad) / 2);
            if (!was_bad && good->run < finding.first_bad)
                finding.last_good = good->run;
        }
    }
    return finding;
}

/* ---- distributing the probability of a false alarm ---- */

/* Most goes to the main figure; the share of an absent group is divided among the others. */
static const double group_shares[HISTORY_GROUPS] = {
    [HISTORY_STEP] = 0.7, [HISTORY_HEAD] = 0.05, [HISTORY_OPERATORS] = 0.15, [HISTORY_KERNELS] = 0.1
};

/* Weights of the COUNT series that are tested in this run; they add up to 1. Other series get 0. */
static void weigh(const struct state *states, size_t count, double *weights)
{
    double sums[HISTORY_GROUPS] = { 0 }, numbers[HISTORY_GROUPS] = { 0 }, shares = 0;
    for (size_t i = 0; i < count; i++) {
        if (!states[i].test.tested)
            continue;
        enum history_group group = states[i].series->group;
        sums[group] += fabs(states[i].test.centre_before);
        numbers[group]++;
    }
    for (int group = 0; group < HISTORY_GROUPS; group++)
        shares += numbers[group] > 0 ? group_shares[group] : 0;
    for (size_t i = 0; i < count; i++) {
        enum history_group group = states[i].series->group;
        weights[i] = 0;
        if (!states[i].test.tested)
            continue;
        double equal = 1 / numbers[group];
        double by_size = group < HISTORY_OPERATORS || sums[group] <= 0
                             ? equal
                             : fabs(states[i].test.centre_before) / sums[group];
        weights[i] = group_shares[group] / shares * (equal + by_size) / 2;
    }
}

struct hypothesis {
    double p, weight;
    size_t index;
};

/* Weighted Holm: the smallest p relative to its weight first; the weight of a test that passed is redistributed to the
 * rest. PASSED[i] is set if test i passes at LEVEL. */
static void holm(struct hypothesis *hypotheses, size_t count, double level, bool *passed)
{
    double remaining = 0;
    bool any = false;
    for (size_t i = 0; i < count; i++)
        remaining += hypotheses[i].weight;
    for (size_t i = 0; i < count && !any; i++)
        any = hypotheses[i].p <= level * hypotheses[i].weight / remaining;
    if (!any)
        return; /* the usual case: if the first does not pass, none does */
    SORT_BY_VALUE(double, rows_ascending_f64, hypotheses, count, i, hypotheses[i].p / hypotheses[i].weight);
    for (size_t i = 0; i < count; i++) {
        if (!(hypotheses[i].p <= level * hypotheses[i].weight / remaining))
            break;
        passed[hypotheses[i].index] = true;
        remaining -= hypotheses[i].weight;
        remaining = remaining > hypotheses[i].weight * 1e-9 ? remaining : hypotheses[i].weight * 1e-9;
    }
}

struct scratch {
    struct hypothesis *hypotheses;
    double *weights;
    bool *passed;
};

/* Decide which tests pass, such that the probability of one or more false positives is LEVEL. */
static void pass(const struct state *states, size_t count, double level, bool less, struct scratch *scratch)
{
    size_t tested = 0;
    for (size_t i = 0; i < count; i++) {
        const struct noise_test *test = &states[i].test;
        scratch->passed[i] = false;
        if (test->tested && scratch->weights[i] > 0 && !isnan(less ? test->p_less : test->p))
            scratch->hypotheses[tested++] =
                (struct hypothesis){ less ? test->p_less : test->p, scratch->weights[i], i };
    }
    holm(scratch->hypotheses, tested, level, scratch->passed);
}

static void correct(struct state *states, size_t count, const struct history_options *options,
                    struct scratch *scratch)
{
    double level = spent_share * options->false_alarms;
    weigh(states, count, scratch->weights);
    pass(states, count, level, false, scratch);
    for (size_t i = 0; i < count; i++)
        states[i].test.passed = scratch->passed[i] && !states[i].test.few && !states[i].test.visited;
    pass(states, count, level, true, scratch);
    for (size_t i = 0; i < count; i++)
        states[i].test.passed_less = scratch->passed[i] && !states[i].test.few;
    pass(states, count, fmin(1, level * unsure_factor), false, scratch);
    for (size_t i = 0; i < count; i++)
        states[i].test.unsure = scratch->passed[i];
}

/* ---- the walk ---- */

static void walk(struct history *history, struct state *states, const struct history_options *options)
{
    size_t count = history->series.count;
    struct scratch scratch = {
        .hypotheses = mem_alloc(mem_times(count + 1, sizeof *scratch.hypotheses)),
        .weights = mem_alloc(mem_times(count + 1, sizeof *scratch.weights)),
        .passed = mem_alloc(mem_times(count + 1, sizeof *scratch.passed)),
    };
    for (size_t run = 0; run < history->run_count; run++) {
        struct noise_pool pool = { 0 };
        bool left_out = history->left_out && history->left_out[run];
        FOR_EACH_OF(state, states, count) {
            bool measured = !isnan(state->series->level[run]) && !left_out;
            state->test = (struct noise_test){ .p = NAN, .p_less = NAN, .error = NAN };
            if (measured && state->good.count > 0)
                noise_gather(&state->test, &state->good, &state->past, options->window, &pool);
        }
        noise_pool_settle(&pool);
        for (size_t i = 0; i < count; i++)
            if (states[i].test.gathered) {
                struct noise_run now = run_of(&states[i], run, false);
                noise_compare(&states[i].test, &pool, &now, &states[i].good, &states[i].bad, &states[i].past,
                              options->window);
            }
        correct(states, count, options, &scratch);
        for (size_t i = 0; i < count; i++) {
            struct state *state = &states[i];
            struct history_series *series = &history->series.at[i];
            double reference = state->test.gathered ? state->test.reference.centre : NAN;
            enum history_verdict verdict = HISTORY_ABSENT;
            if (left_out && !isnan(series->level[run])) {
                verdict = HISTORY_UNKNOWN;
                reference = noise_centre(&state->good, options->window);
            } else if (!isnan(series->level[run])) {
                state->test.level = state->test.gathered ? state->test.level : level_at(state, run);
                verdict = judge_run(state, run, options);
            }
            if (verdict == HISTORY_NEW ||
                verdict == HISTORY_EXISTING) /* runs may have been reclassified as bad */
                reference = noise_centre(&state->good, options->window);
            if (series->verdicts)
                series->verdicts[run] = (uint8_t)verdict;
            if (series->references)
                series->references[run] = state->sign * reference;
            if (run + 1 == history->run_count)
                series->now = finding_of(state, run, verdict, reference);
        }
        VEC_FREE(&pool.ratios);
    }
    EACH(free, scratch.hypotheses, scratch.weights, scratch.passed);
}

void history_judge(struct history *history, const struct history_options *options)
{
    SCOPED struct state *states = mem_zalloc(history->series.count + 1, sizeof *states);
    for (size_t i = 0; i < history->series.count; i++) {
        states[i].series = &history->series.at[i];
        states[i].sign = history->series.at[i].less_is_worse ? -1 : 1;
    }
    walk(history, states, options);
    for (size_t i = 0; i < history->series.count; i++)
        EACH(VEC_FREE, &states[i].good, &states[i].bad, &states[i].back, &states[i].fast);
}
