#include "diff/verdict.h"

#include "base/level.h"
#include <math.h>

static const double significant_below = 0.05;

/* Levels that agree better than this share of their mean agree by chance, or by the resolution of clocks. */
static const double least_deviation = 0.0005;

const char *verdict_name(enum verdict verdict, enum table_kind kind)
{
    switch (verdict) {
    case VERDICT_SAME: return "same";
    case VERDICT_MORE: return table_is_time(kind) ? "slower" : "more";
    case VERDICT_LESS: return table_is_time(kind) ? "faster" : "less";
    case VERDICT_NEW: return "new";
    case VERDICT_GONE: return "gone";
    case VERDICT_UNSURE: return "unsure";
    }
    return "";
}

/* ---- the standard error of the change ---- */

/* A sum of estimated variances, and its degrees of freedom by Welch and Satterthwaite. */
struct variance {
    double sum, squares; /* of variance^2 / df */
};

static void variance_add(struct variance *variance, double value, double df)
{
    variance->sum += value;
    variance->squares += value * value / df;
}

static double verdict_mean_of(const struct run_level *runs, size_t count)
{
    double sum = SUM(double, i, count, runs[i].mean);
    return count ? sum / (double)count : 0;
}

/* The variance of a run's level as a share of it, pooled over the sides that have the figure, and its degrees of
 * freedom; 0: a single run cannot tell. */
static double pooled_variance(const struct sampled *sampled, const double level[2], double *df)
{
    double squares = 0;
    *df = 0;
    for (int side = 0; side < 2; side++) {
        size_t count = sampled->run_count[side];
        if (!sampled->present[side] || count < 2 || level[side] == 0)
            continue;
        for (size_t i = 0; i < count; i++) {
            double share = sampled->runs[side][i].mean / level[side] - 1;
            squares += share * share;
        }
        *df += (double)count - 1;
    }
    return *df > 0 ? fmax(squares / *df, least_deviation * least_deviation) : 0;
}

/* Add the variances within the runs of SIDE; false if one is unknown. */
static bool add_within(struct variance *variance, const struct sampled *sampled, int side)
{
    double count = (double)sampled->run_count[side];
    FOR_EACH_OF(run, sampled->runs[side], sampled->run_count[side]) {
        if (!(run->df > 0))
            return false;
        double floor = least_deviation * run->mean;
        variance_add(variance, fmax(run->variance, floor * floor / (double)run->steps) / (count * count),
                     run->df);
    }
    return true;
}

/* Set the standard error and degrees of freedom of FINDING, and their basis. */
static void finding_estimate(struct finding *finding, const struct sampled *sampled,
                             const struct noise *noise, const double level[2])
{
    struct variance variance = { 0 };
    double between, df;
    bool known = true;
    if (noise && noise->share > 0) {
        finding->basis = FINDING_BY_NOISE;
        between = noise->share * noise->share;
        df = noise->df;
    } else {
        between = pooled_variance(sampled, level, &df);
        finding->basis = between > 0 ? FINDING_BY_RUNS : FINDING_BY_STEPS;
    }
    double of_levels = 0;
    for (int side = 0; side < 2; side++) {
        if (!sampled->present[side] || sampled->run_count[side] == 0)
            continue;
        of_levels += between * level[side] * level[side] / (double)sampled->run_count[side];
        if (finding->basis == FINDING_BY_STEPS)
            known &= add_within(&variance, sampled, side);
        else if (finding->basis == FINDING_BY_NOISE)
            add_within(&variance, sampled, side);
    }
    if (of_levels > 0)
        variance_add(&variance, of_levels, df);
    if (!known || (!(variance.sum > 0) && finding->basis != FINDING_BY_STEPS))
        return;
    finding->error = sqrt(variance.sum);
    finding->df = variance.squares > 0 ? variance.sum * variance.sum / variance.squares : INFINITY;
}

/* May the ranks of steps be compared? One step that takes far longer hides a change of all others from the means; ranks
 * show it. They need independent steps without a pattern. */
static bool by_ranks(const struct sampled *sampled)
{
    for (int side = 0; side < 2; side++) {
        const struct run_level *run = &sampled->runs[side][0];
        if (run->variance != run->independent || run->df + 1 != (double)sampled->steps[side].count)
            return false;
    }
    return true;
}

struct finding finding_of(const struct sampled *sampled, const struct noise *noise)
{
    struct finding finding = { .p = NAN, .error = NAN, .low = -INFINITY, .high = INFINITY, .shift = NAN };
    struct shift shift;
    double level[2], value[2];
    shift_compare_samples(&sampled->steps[0], &sampled->steps[1], &shift);
    for (int i = 0; i < 2; i++) {
        level[i] = verdict_mean_of(sampled->runs[i], sampled->run_count[i]);
        value[i] = isnan(sampled->whole[i]) ? level[i] : sampled->whole[i];
        finding.median[i] = sampled->steps[i].count ? shift.median[i] : 0;
        finding.steps[i] = sampled->steps[i].count;
        finding.runs[i] = sampled->run_count[i];
        finding.present[i] = sampled->present[i];
    }
    finding.shift = shift.estimate;
    finding.before = value[0];
    finding.after = value[1];
    finding.change = value[1] - value[0];
    if (sampled->run_count[0] > 0 && sampled->run_count[1] > 0)
        finding_estimate(&finding, sampled, noise, level);
    if (isnan(finding.error))
        return finding;
    double margin = finding.error * run_student_quantile(significant_below / 2, finding.df);
    finding.low = fmax(finding.change - margin, -fabs(finding.before)); /* nothing falls below 0 */
    finding.high = finding.change + margin;
    if (finding.error > 0)
        finding.p = 2 * level_student_tail(fabs(finding.change) / finding.error, finding.df);
    else
        finding.p = finding.change == 0 ? 1 : 0;
    if (finding.basis == FINDING_BY_STEPS && finding.present[0] && finding.present[1] && by_ranks(sampled) &&
        shift.estimate * finding.change > 0)
        finding.p = fmin(1, 2 * fmin(finding.p, shift.p));
    return finding;
}

double finding_growth(const struct finding *finding)
{
    if (!finding->present[0])
        return finding->present[1] ? INFINITY : 0;
    if (finding->before > 0)
        return finding->change / finding->before;
    return finding->change > 0 ? INFINITY : 0;
}

size_t finding_runs_needed(const struct finding *finding, double limit)
{
    enum { MOST = 1000 };
    double room = fabs(limit - finding->change),
           runs[2] = { (double)finding->runs[0], (double)finding->runs[1] };
    if (isnan(finding->error) || runs[0] < 1 || runs[1] < 1)
        return SIZE_MAX;
    /* standard deviation of the level of a run */
    double deviation = finding->error / sqrt(1 / runs[0] + 1 / runs[1]);
    size_t first = finding->basis == FINDING_BY_NOISE ? 1 : 2;
    for (size_t n = first; n <= MOST; n++) {
        double df = finding->basis == FINDING_BY_NOISE ? INFINITY : (double)(2 * n - 2);
        if (run_student_quantile(significant_below / 2, df) * deviation * sqrt(2 / (double)n) <= room)
            return n;
    }
    return SIZE_MAX;
}

/* ---- verdicts ---- */

/* P is NAN if the finding was not tested. */
static void decide(struct finding *finding, double p, double min_change)
{
    finding->p = p;
    if (finding->present[0] != finding->present[1])
        finding->verdict = finding->present[1] ? VERDICT_NEW : VERDICT_GONE;
    else if (finding->change == 0 || fabs(finding->change) < min_change)
        finding->verdict = VERDICT_SAME;
    else if (isnan(p))
        finding->verdict = VERDICT_UNSURE;
    else if (!(p < significant_below))
        finding->verdict = VERDICT_SAME;
    else
        finding->verdict = finding->change > 0 ? VERDICT_MORE : VERDICT_LESS;
}

void finding_judge(struct finding *finding, double min_change)
{
    decide(finding, finding->p, min_change);
}

void finding_judge_exact(struct finding *finding)
{
    finding->p = NAN;
    finding->low = finding->high = finding->change;
    if (finding->present[0] != finding->present[1])
        finding->verdict = finding->present[1] ? VERDICT_NEW : VERDICT_GONE;
    else
        finding->verdict = finding->change > 0   ? VERDICT_MORE
                           : finding->change < 0 ? VERDICT_LESS
                                                 : VERDICT_SAME;
}

/* Can it have changed by MIN_CHANGE? The change is at most the level of the larger side; the choice of tests must not
 * depend on which value belongs to which side. */
static bool is_tested(const struct finding *finding, double min_change)
{
    return finding->present[0] && finding->present[1] && !isnan(finding->p) &&
           (min_change <= 0 || fabs(finding->before + finding->after) >= min_change);
}

size_t findings_judge(struct finding *const *findings, size_t count, double min_change)
{
    SCOPED double *p = mem_alloc(mem_times(count + 1, sizeof *p));
    size_t tested = 0;
    for (size_t i = 0; i < count; i++) {
        bool is_one = is_tested(findings[i], min_change);
        p[i] = is_one ? findings[i]->p : NAN;
        tested += is_one;
    }
    shift_holm(p, count);
    for (size_t i = 0; i < count; i++) {
        bool one_sided = findings[i]->present[0] != findings[i]->present[1];
        decide(findings[i], one_sided ? findings[i]->p : p[i], min_change);
    }
    return tested;
}
