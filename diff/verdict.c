/* verdict.c - see verdict.h. */
#include "diff/verdict.h"

#include "base/level.h"
#include "base/memory.h"
#include "base/rows.h"
#include <math.h>
#include <stdlib.h>

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

static double mean(const struct shift_sample *sample)
{
    double sum = 0;
    for (size_t i = 0; i < sample->listed; i++)
        sum += sample->values[i];
    return sample->count ? sum / (double)sample->count : 0;
}

/* ---- few samples, far apart ---- */

struct spread {
    double least, most, mean, variance; /* of the mean */
};

static struct spread spread_of(const struct shift_sample *sample)
{
    size_t count = sample->count, zeros = count - sample->listed;
    double any = zeros ? 0 : sample->values[0];
    struct spread spread = { any, any, mean(sample), 0 };
    double squares = (double)zeros * spread.mean * spread.mean;
    for (size_t i = 0; i < sample->listed; i++) {
        double value = sample->values[i];
        spread.least = fmin(spread.least, value);
        spread.most = fmax(spread.most, value);
        squares += (value - spread.mean) * (value - spread.mean);
    }
    /* Few samples may agree by chance: the spread is at least 1 % of the level. */
    double floor = 0.01 * fabs(spread.mean);
    spread.variance = fmax(squares / (double)(count - 1), floor * floor) / (double)count;
    return spread;
}

/* The p of Welch's t test, if SAMPLED shows a change far beyond the spread; else NAN. */
static double clear_p(const struct sampled *sampled)
{
    enum { TIMES_THE_WIDTH = 3 };
    const size_t count[2] = { sampled->sides[0].count, sampled->sides[1].count };
    if (count[0] < 2 || count[1] < 2)
        return NAN;
    struct spread a = spread_of(&sampled->sides[0]), b = spread_of(&sampled->sides[1]);
    double apart = fmax(b.least - a.most, a.least - b.most);
    double width = fmax(fmax(a.most - a.least, b.most - b.least), 0.02 * fmax(fabs(a.mean), fabs(b.mean)));
    if (!(apart > 0) || apart < TIMES_THE_WIDTH * width)
        return NAN;
    double variance = a.variance + b.variance;
    double freedom =
        variance * variance /
        (a.variance * a.variance / (double)(count[0] - 1) + b.variance * b.variance / (double)(count[1] - 1));
    return variance > 0 ? 2 * level_student_tail(fabs(b.mean - a.mean) / sqrt(variance), freedom) : NAN;
}

struct finding finding_of(const struct sampled *sampled)
{
    struct finding finding = { .p = NAN, .clear_p = clear_p(sampled) };
    double level[2];
    shift_compare_samples(&sampled->sides[0], &sampled->sides[1], &finding.shift);
    for (int i = 0; i < 2; i++) {
        level[i] = isnan(sampled->whole[i]) ? mean(&sampled->sides[i]) : sampled->whole[i];
        finding.median[i] = sampled->sides[i].count ? finding.shift.median[i] : 0;
        finding.count[i] = sampled->sides[i].count;
        finding.present[i] = sampled->present[i];
    }
    finding.before = level[0];
    finding.after = level[1];
    finding.change = level[1] - level[0];
    return finding;
}

double finding_growth(const struct finding *finding)
{
    if (!finding->present[0])
        return finding->present[1] ? INFINITY : 0;
    bool by_shift = finding->shift.decidable && finding->median[0] > 0;
    double change = by_shift ? finding->shift.estimate : finding->change;
    double level = by_shift ? finding->median[0] : finding->before;
    if (level > 0)
        return change / level;
    return change > 0 ? INFINITY : 0;
}

/* Is the change too small to count, regardless of p? */
static bool is_small(const struct finding *finding, double min_change)
{
    double shift = finding->shift.decidable ? finding->shift.estimate : finding->change;
    return shift == 0 || fabs(shift) < min_change ||
           (finding->change == 0 && finding->before == finding->after && !finding->shift.decidable);
}

/* P is NAN if the finding was not tested. */
static void decide(struct finding *finding, double p, double min_change)
{
    finding->p = p;
    if (finding->present[0] != finding->present[1])
        finding->verdict = finding->present[1] ? VERDICT_NEW : VERDICT_GONE;
    else if (is_small(finding, min_change))
        finding->verdict = VERDICT_SAME;
    else if (isnan(p))
        finding->verdict = VERDICT_UNSURE;
    else if (!(p < 0.05))
        finding->verdict = VERDICT_SAME;
    else
        finding->verdict = finding->shift.estimate > 0 ? VERDICT_MORE : VERDICT_LESS;
}

void finding_judge_clear(struct finding *finding, size_t count, double min_change)
{
    double p = finding->clear_p * (double)count;
    if (finding->verdict != VERDICT_UNSURE || !(p < 0.05) || fabs(finding->change) < min_change)
        return;
    finding->p = p;
    finding->by_spread = true;
    finding->verdict = finding->change > 0 ? VERDICT_MORE : VERDICT_LESS;
}

void finding_judge(struct finding *finding, double min_change)
{
    decide(finding, finding->shift.decidable ? finding->shift.p : NAN, min_change);
    finding_judge_clear(finding, 1, min_change);
}

void finding_judge_exact(struct finding *finding)
{
    finding->p = NAN;
    if (finding->present[0] != finding->present[1])
        finding->verdict = finding->present[1] ? VERDICT_NEW : VERDICT_GONE;
    else
        finding->verdict = finding->change > 0   ? VERDICT_MORE
                           : finding->change < 0 ? VERDICT_LESS
                                                 : VERDICT_SAME;
}

/* Is it present on both sides with differing values, so that it may have changed by MIN_CHANGE? */
static bool is_tested(const struct finding *finding, double min_change)
{
    if (!finding->present[0] || !finding->present[1] || !finding->shift.decidable)
        return false;
    /* The change is at most the value of the larger side. */
    double sum = finding->before * (double)finding->count[0] + finding->after * (double)finding->count[1];
    size_t fewest = finding->count[0] < finding->count[1] ? finding->count[0] : finding->count[1];
    return min_change <= 0 || fabs(sum) / (double)fewest >= min_change;
}

/* Mean over both sides, larger first; independent of the assignment of values to sides. */
static double pooled(const struct finding *finding)
{
    double count = (double)(finding->count[0] + finding->count[1]);
    return count > 0
               ? (finding->before * (double)finding->count[0] + finding->after * (double)finding->count[1]) /
                     count
               : 0;
}

struct hypothesis {
    double pooled;
    size_t index;
};

static const struct key by_hypotheses[] = { DESC(struct hypothesis, pooled), ASC(struct hypothesis, index),
                                            KEY_END };

size_t findings_judge(struct finding *const *findings, size_t count, double min_change)
{
    struct hypothesis *hypotheses = mem_alloc(mem_times(count + 1, sizeof *hypotheses));
    double *least_p = mem_alloc(mem_times(count + 1, sizeof *least_p));
    double *p = mem_alloc(mem_times(count + 1, sizeof *p));
    size_t tested = 0, kept = 0;
    for (size_t i = 0; i < count; i++) {
        p[i] = NAN;
        if (!is_tested(findings[i], min_change))
            continue;
        hypotheses[tested] = (struct hypothesis){ pooled(findings[i]), i };
        least_p[tested++] = findings[i]->shift.least_p;
    }
    size_t family = shift_family(least_p, tested);
    if (tested > 1)
        SORT_ARRAY(hypotheses, tested, by_hypotheses);
    for (size_t i = 0; i < tested && kept < family; i++) {
        const struct finding *finding = findings[hypotheses[i].index];
        if (finding->shift.least_p * (double)family >= 0.05)
            continue; /* too many of its values are equal */
        p[hypotheses[i].index] = finding->shift.p;
        kept++;
    }
    shift_holm(p, count);
    for (size_t i = 0; i < count; i++)
        decide(findings[i], p[i], min_change);
    free(hypotheses);
    free(least_p);
    free(p);
    return kept;
}

size_t verdict_samples_needed(size_t count)
{
    double ways = 1; /* number of ways to choose n of 2n */
    for (size_t n = 1;; n++) {
        ways = ways * (double)(2 * n) * (double)(2 * n - 1) / ((double)n * (double)n);
        if (2 / ways * (double)(count ? count : 1) < 0.05)
            return n;
    }
}
