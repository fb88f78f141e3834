/* The difficulty is to estimate the noise of a night from a few nights. If nights do not differ, the error of
 * a level follows from the spread of its steps: 14 nights of 10 steps give it to a few percent. But machines
 * have good and bad nights, which steps do not show; nights do, but 14 of them give a standard deviation only
 * to about 20 %. So all series are tested together (as in Smyth's moderated t, 2004): if over all of them
 * nights differ no more than steps explain, the estimate from steps is used. If they differ more, each series
 * has only its own nights, and a change must be larger to be significant. A series that is clearly noisier
 * than the others never uses the pooled estimate. */
#include "history/history.h"

#include "base/level.h"
#include "base/rows.h"
#include "base/shift.h"
#include <math.h>

/* With fewer runs, none is left out. */
enum { LEAST_RUNS_FOR_ODD = 5 };

/* A night is wild if the square of its error is this many times the median one: by chance, one of 30,000 nights of ten
 * steps is. Its level is uncertain: up to a quarter of the nights are left out for that reason. */
static const double wild_from = 4;
enum { RUNS_PER_WILD = 4 };

/* Degrees of freedom that the pool adds: if steps explain the nights, and if they do not. */
static const double df_of_steps = 100, df_of_nights = 4;

/* A series is noisier than the others if the probability of that is below 1 in 700 (in standard deviations of a normal
 * distribution). */
static const double noisier_from = 3;

/* Looking back: the maximum number of runs compared together, and the share of the probability of a false
 * alarm that each look gets. Only done if this run itself is worse by half a standard deviation of a night
 * (squared here). */
enum { LOOK_BACK = 6 };
static const double look_shares[LOOK_BACK + 1] = { 0, 0.9, 0.04, 0.015, 0.015, 0.015, 0.015 };
static const double worth_looking = 0.25;

/* ---- the centre ---- */

/* The median of the squared errors of the nights; NAN if no error is known. SCRATCH has room for COUNT. */
static double middling_error(const struct noise_run *runs, size_t count, double *scratch)
{
    size_t known = 0;
    for (size_t i = 0; i < count; i++)
        if (!isnan(runs[i].error))
            scratch[known++] = runs[i].error * runs[i].error;
    level_sort(scratch, known);
    return shift_median(scratch, known);
}

/* Were the steps of a night with this ERROR much more spread than those of a median night? */
static bool is_wild(double error, double middling)
{
    return error * error > wild_from * middling; /* false if either is unknown */
}

/* The noise of COUNT runs. LEVELS is scratch space for as many. */
static struct noise_reference inspect_runs(const struct noise_run *runs, size_t count, double *levels)
{
    struct noise_reference reference = { .centre = NAN, .expected = middling_error(runs, count, levels) };
    size_t wild = 0, n = 0, known = 0;
    double middling = reference.expected, errors = 0;
    for (size_t i = 0; i < count; i++)
        wild += is_wild(runs[i].error, middling);
    bool leave_out = wild <= count / RUNS_PER_WILD; /* if there are more, they are not exceptional */
    for (size_t i = 0; i < count; i++) {
        if (leave_out && is_wild(runs[i].error, middling))
            continue;
        levels[n++] = runs[i].level;
        errors += isnan(runs[i].error) ? 0 : runs[i].error * runs[i].error;
        known += !isnan(runs[i].error);
    }
    reference.expected = known > 0 ? errors / (double)known : NAN;
    level_sort(levels, n);
    double least = isnan(reference.expected) ? 0 : sqrt(reference.expected);
    struct level_kept kept = level_set_aside(levels, n, LEAST_RUNS_FOR_ODD, least);
    reference.count = kept.count;
    reference.has_aside = kept.first + kept.count < n;
    reference.aside_level = reference.has_aside ? levels[n - 1] : NAN;
    double sum = 0, squares = 0;
    for (size_t i = 0; i < kept.count; i++)
        sum += levels[kept.first + i];
    if (kept.count > 0)
        reference.centre = sum / (double)kept.count;
    for (size_t i = 0; i < kept.count; i++) {
        double distance = levels[kept.first + i] - reference.centre;
        squares += distance * distance;
    }
    reference.df = kept.count > 0 ? (double)(kept.count - 1) : 0;
    reference.variance = reference.df > 0 ? squares / reference.df : 0;
    return reference;
}

/* The noise of only the last WINDOW of the first COUNT of RUNS. */
static struct noise_reference history_noise_inspect(const struct noise_run *runs, size_t count, size_t window)
{
    if (count > window) {
        runs += count - window;
        count = window;
    }
    enum { USUAL_WINDOW = 32 };
    double usual[USUAL_WINDOW],
        *levels = count <= USUAL_WINDOW ? usual : mem_alloc(mem_times(count, sizeof *levels));
    struct noise_reference reference = inspect_runs(runs, count, levels);
    if (levels != usual)
        free(levels);
    return reference;
}

double noise_centre(const struct noise_runs *runs, size_t window)
{
    return history_noise_inspect(runs->at, runs->count, window).centre;
}

/* ---- noise at earlier levels ---- */

void noise_remember(struct noise_past *past, const struct noise_runs *runs, size_t window)
{
    struct noise_reference reference = history_noise_inspect(runs->at, runs->count, window);
    if (!(reference.df > 0) || reference.centre == 0)
        return;
    past->squares += reference.variance * reference.df / (reference.centre * reference.centre);
    past->df += reference.df;
    if (past->df > (double)window) {
        past->squares *= (double)window / past->df;
        past->df = (double)window;
    }
}

/* As history_noise_inspect(); if there are too few runs here, the noise of earlier levels is added. */
static struct noise_reference look_with_past(const struct noise_run *runs, size_t count,
                                             const struct noise_past *past, size_t window)
{
    struct noise_reference reference = history_noise_inspect(runs, count, window);
    double room = (double)window - 1 - reference.df, lent = fmin(past->df, fmax(room, 0));
    if (lent > 0 && reference.count > 0) {
        double variance = past->squares / past->df * reference.centre * reference.centre;
        reference.variance = (reference.variance * reference.df + variance * lent) / (reference.df + lent);
        reference.df += lent;
    }
    return reference;
}

/* ---- all series together ---- */

/* The median of a chi-squared variable over its DF (Wilson and Hilferty). */
static double chi_median(double df)
{
    return pow(1 - 2 / (9 * df), 3);
}

void noise_gather(struct noise_test *test, const struct noise_runs *good, const struct noise_past *past,
                  size_t window, struct noise_pool *pool)
{
    test->gathered = true;
    test->reference = look_with_past(good->at, good->count, past, window);
    test->centre_before = test->reference.centre;
    const struct noise_reference *reference = &test->reference;
    if (reference->df >= HISTORY_LEAST_RUNS - 1 && reference->expected > 0) {
        *VEC_PUSH(&pool->ratios) = reference->variance / reference->expected / chi_median(reference->df);
        pool->df_sum += reference->df;
    }
}

void noise_pool_settle(struct noise_pool *pool)
{
    pool->ratio = 1;
    pool->df = 0;
    if (pool->ratios.count == 0)
        return;
    SORT_NUMBERS(pool->ratios.at, pool->ratios.count);
    double middle = shift_median(pool->ratios.at, pool->ratios.count);
    /* If nights do not differ, the median is 1 +- 1.25 sqrt(2/df). */
    double by_chance = 1 + 0.05 + 2.5 * 1.25 * sqrt(2 / pool->df_sum);
    bool explained = middle <= by_chance;
    pool->ratio = explained ? 1 : middle;
    pool->df = explained ? df_of_steps : df_of_nights;
}

/* Variance of a night's level and its degrees of freedom: from the nights of REFERENCE and from POOL. */
static double variance_of(const struct noise_reference *reference, const struct noise_pool *pool, double *df)
{
    *df = reference->df;
    if (isnan(reference->expected) || pool->df == 0) {
        *df = fmax(*df, 1);
        return reference->df > 0 ? reference->variance : INFINITY;
    }
    double lent = pool->ratio * reference->expected;
    if (reference->df > 0 && lent > 0) {
        double third = pow(reference->variance / lent, 1.0 / 3), spread = 2 / (9 * reference->df);
        if ((third - (1 - spread)) / sqrt(spread) > noisier_from)
            return reference->variance;
    }
    *df += pool->df;
    return (reference->variance * reference->df + lent * pool->df) / *df;
}

/* ---- one run ---- */

/* The extra variance of the level of RUN if its steps have an exceptional spread. */
static double wilder(const struct noise_run *run, const struct noise_reference *reference)
{
    bool wild = is_wild(run->error, reference->expected);
    return wild ? run->error * run->error - reference->expected : 0;
}

/* CHANGE in standard errors; no noise at all makes any change certain. */
static double t_of(double change, double variance)
{
    if (change == 0)
        return 0;
    return variance > 0 ? change / sqrt(variance) : copysign(INFINITY, change);
}

/* Was an odd earlier run at LEVEL as well? (Three in a row are significant in any case.) */
static bool was_visited(const struct noise_reference *reference, double level, size_t back, double variance)
{
    return reference->has_aside && back < 3 && fabs(level - reference->aside_level) < 3 * sqrt(2 * variance);
}

/* Test NOW and the last BACK - 1 runs of GOOD together; keep the finding if it is the strongest so far. */
static void look_back(struct noise_test *test, size_t back, const struct noise_pool *pool,
                      const struct noise_run *now, const struct noise_runs *good,
                      const struct noise_past *past, size_t window)
{
    if (good->count < back)
        return;
    size_t head = good->count - (back - 1);
    double sum = now->level;
    for (size_t i = head; i < good->count; i++) {
        if (good->at[i].excursion)
            return;
        sum += good->at[i].level;
    }
    struct noise_reference reference = look_with_past(good->at, head, past, window);
    if (reference.count == 0 || reference.df < HISTORY_LEAST_RUNS - 1)
        return;
    double level = sum / (double)back, change = level - reference.centre, df;
    if (!(now->level - reference.centre > change / 2))
        return; /* this run is no longer worse */
    double variance = variance_of(&reference, pool, &df);
    double of_tail = (double)back * variance + wilder(now, &reference);
    for (size_t i = head; i < good->count; i++)
        of_tail += wilder(&good->at[i], &reference);
    double t = t_of(change, of_tail / (double)(back * back) + variance / (double)reference.count);
    double p = fmin(1, level_student_tail(t, df) / look_shares[back]);
    if (p < test->p) {
        test->p = p;
        test->back = back;
        test->centre = reference.centre;
        test->level = level;
        test->visited = was_visited(&reference, level, back, variance);
    }
}

void noise_compare(struct noise_test *test, const struct noise_pool *pool, const struct noise_run *now,
                   const struct noise_runs *good, const struct noise_runs *bad, const struct noise_past *past,
                   size_t window)
{
    const struct noise_reference *reference = &test->reference;
    double df;
    test->variance = variance_of(reference, pool, &df);
    test->few = reference->df < HISTORY_LEAST_RUNS - 1;
    test->tested = true;
    test->back = 1;
    test->level = now->level;
    test->centre = reference->centre;
    size_t count = reference->count;
    double variance = test->variance;
    if (bad->count > 0) {
        struct noise_reference of_bad = history_noise_inspect(bad->at, bad->count, window);
        test->centre = of_bad.centre;
        count = of_bad.count;
        if (reference->centre > 0 && of_bad.centre > reference->centre)
            variance *= (of_bad.centre / reference->centre) * (of_bad.centre / reference->centre);
    }
    double change = now->level - test->centre;
    double t = t_of(change, variance + wilder(now, reference) + variance / (double)count);
    struct level_tails tails = level_student_tails(t, df);
    test->error = sqrt(variance + wilder(now, reference) + variance / (double)count);
    test->df = df;
    test->p_less = tails.below;
    test->p = tails.above;
    if (bad->count > 0)
        return;
    test->p = fmin(1, test->p / look_shares[1]);
    test->visited = was_visited(reference, now->level, 1, test->variance);
    if (!(change * change > worth_looking * variance) || change < 0)
        return;
    for (size_t back = 2; back <= LOOK_BACK; back++)
        look_back(test, back, pool, now, good, past, window);
}
