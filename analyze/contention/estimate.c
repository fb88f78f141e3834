/* estimate.c - see strata.h. The sum falls as the factor grows, so that bisection finds where it passes a bound. */
#include "analyze/contention/strata.h"

#include "base/rows.h"
#include <math.h>

static const double least_factor = 0.25, most_factor = 8, normal_95 = 1.959964;

/* A sample as it would have run alone. */
struct alone {
    double duration;
    uint32_t stratum, bin;
};

struct comparison {
    const struct contention_sample *samples;
    struct alone *alone; /* COUNT of them */
    size_t count;
    double bound; /* of the sum, for 95 % */
};

static const struct key by_duration[] = { ASC(struct alone, duration), KEY_END };
static const struct key by_stratum[] = { ASC(struct contention_sample, stratum), KEY_END };

/* Kendall's sum over the COUNT samples of a stratum, in order of duration: pairs in which the one of more share takes longer, less the others. */
static int64_t kendall(const struct alone *at, size_t count)
{
    int64_t seen[CONTENTION_BINS] = { 0 }, sum = 0;
    FOR_RUNS(first, end, count, at[end].duration == at[first].duration) {
        for (size_t i = first; i < end; i++)
            for (uint32_t bin = 0; bin < CONTENTION_BINS; bin++)
                sum += bin < at[i].bin ? seen[bin] : bin > at[i].bin ? -seen[bin] : 0;
        for (size_t i = first; i < end; i++)
            seen[at[i].bin]++;
    }
    return sum;
}

/* The weighted sum over all strata for a factor. */
static double sum_at(const struct comparison *all, double factor)
{
    double lost = 1 - 1 / factor, sum = 0;
    for (size_t i = 0; i < all->count; i++) {
        const struct contention_sample *sample = &all->samples[i];
        all->alone[i] =
            (struct alone){ sample->duration * (1 - lost * sample->share), sample->stratum, sample->bin };
    }
    FOR_RUNS(first, end, all->count, all->alone[end].stratum == all->alone[first].stratum) {
        SORT_ARRAY(all->alone + first, end - first, by_duration); /* strata are many, and small */
        sum += (double)kendall(&all->alone[first], end - first) / (double)(end - first + 1);
    }
    return sum;
}

/* Where the sum passes BOUND: the middle of the factors for which it equals it. NaN if it does not pass. */
static double factor_at(const struct comparison *all, double bound)
{
    enum { HALVINGS = 36 };
    if (sum_at(all, least_factor) <= bound || sum_at(all, most_factor) >= bound)
        return NAN;
    double ends[2], at_end = bound; /* the last factor with a larger sum, the first with a smaller one */
    for (int smaller = 0; smaller < 2; smaller++) {
        double low = log(least_factor), high = log(most_factor);
        if (smaller && at_end < bound) { /* the sum equals the bound nowhere */
            ends[1] = ends[0];
            break;
        }
        for (int i = 0; i < HALVINGS; i++) {
            double middle = (low + high) / 2, sum = sum_at(all, exp(middle));
            if (smaller ? sum >= bound : sum > bound) {
                low = middle;
            } else {
                high = middle;
                at_end = sum;
            }
        }
        ends[smaller] = high;
    }
    return exp((ends[0] + ends[1]) / 2);
}

/* The variance of the weighted sum if the share makes no difference; *LARGEST becomes the largest weight. */
static double variance_of(const struct contention_sample *at, size_t count, double *largest)
{
    double variance = 0;
    *largest = 0;
    FOR_RUNS(first, end, count, at[end].stratum == at[first].stratum) {
        double ties[CONTENTION_BINS] = { 0 };
        for (size_t i = first; i < end; i++)
            ties[at[i].bin]++;
        double n = (double)(end - first), own = n * (n - 1) * (2 * n + 5);
        for (int bin = 0; bin < CONTENTION_BINS; bin++)
            own -= ties[bin] * (ties[bin] - 1) * (2 * ties[bin] + 5);
        variance += own / 18 / (n + 1) / (n + 1);
        *largest = fmax(*largest, 1 / (n + 1));
    }
    return variance;
}

struct contention_estimate contention_estimate(struct contention_sample *samples, size_t count,
                                               double correlation)
{
    struct contention_estimate estimate = { NAN, NAN, NAN, 1 };
    double weight;
    SORT_ARRAY(samples, count, by_stratum);
    double deviation = sqrt(variance_of(samples, count, &weight) * (1 + correlation) / (1 - correlation));
    if (!(deviation > 0))
        return estimate;
    struct comparison all = { .samples = samples,
                              .alone = mem_alloc(mem_times(count, sizeof *all.alone)),
                              .count = count,
                              .bound = normal_95 * deviation + weight };
    estimate.factor = factor_at(&all, 0);
    estimate.low = factor_at(&all, all.bound);
    estimate.high = factor_at(&all, -all.bound);
    estimate.p = erfc(fmax(fabs(sum_at(&all, 1)) - weight, 0) / deviation / sqrt(2));
    free(all.alone);
    return estimate;
}

double false_discovery_limit(double *p, size_t count)
{
    static const double false_share = 0.05;
    double limit = -1;
    SORT_NUMBERS(p, count);
    for (size_t i = 0; i < count; i++)
        if (p[i] <= false_share * (double)(i + 1) / (double)count)
            limit = p[i];
    return limit;
}

/* ---- neighbours in time ---- */

double median_of(double *values, size_t count)
{
    SORT_NUMBERS(values, count);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

void lag_add(struct lag *lag, double *values, size_t count)
{
    if (count < 4)
        return;
    double *sorted = mem_alloc(count * sizeof *sorted), mean = 0;
    memcpy(sorted, values, count * sizeof *sorted);
    double middle = median_of(sorted, count);
    for (size_t i = 0; i < count; i++)
        sorted[i] = fabs(values[i] - middle);
    double scale = 1.4826 * median_of(sorted, count);
    free(sorted);
    if (scale <= 0)
        return;
    for (size_t i = 0; i < count; i++) {
        values[i] = fmax(-3, fmin(3, (values[i] - middle) / scale));
        mean += values[i] / (double)count;
    }
    for (size_t i = 0; i < count; i++) {
        values[i] -= mean;
        lag->squares += values[i] * values[i];
        lag->products += i ? values[i] * values[i - 1] : 0;
    }
    lag->count += count;
}

double lag_correlation(const struct lag *lag)
{
    if (lag->squares <= 0)
        return 0;
    return fmax(0, fmin(0.8, lag->products / lag->squares + 1 / (double)lag->count));
}
