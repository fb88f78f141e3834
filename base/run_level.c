#include "base/run_level.h"

#include "base/level.h"
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

/* The autocorrelation of more would leave less than a step of information. */
static const double most_correlated = 0.95;

/* Independent steps show an autocorrelation above this over the root of their number in one of twenty runs. */
static const double chance_correlated = 1.645;

/* Sums over the means of periods, of which those without a listed step are 0. */
struct period_sums {
    double mean, squares, neighbours; /* of distances from the mean; of products of neighbours */
    size_t last;                      /* period of the last listed one; SIZE_MAX: none */
    double last_distance;
    size_t pairs;  /* pairs of neighbours that are in NEIGHBOURS */
    size_t listed; /* periods in SQUARES */
};

/* Add the period PLACE, whose mean is VALUE. */
static void period_sums_add(struct period_sums *sums, size_t place, double value)
{
    double distance = value - sums->mean, empty = -sums->mean;
    bool follows = sums->last != SIZE_MAX && sums->last + 1 == place;
    if (sums->last != SIZE_MAX && !follows) { /* the one after the last listed is empty */
        sums->neighbours += sums->last_distance * empty;
        sums->pairs++;
    }
    if (follows || place > 0) {
        sums->neighbours += distance * (follows ? sums->last_distance : empty);
        sums->pairs++;
    }
    sums->squares += distance * distance;
    sums->listed++;
    sums->last = place;
    sums->last_distance = distance;
}

static void period_sums_finish(struct period_sums *sums, size_t count)
{
    double empty = -sums->mean;
    if (sums->last != SIZE_MAX && sums->last + 1 < count) {
        sums->neighbours += sums->last_distance * empty;
        sums->pairs++;
    }
    sums->squares += (double)(count - sums->listed) * empty * empty;
    sums->neighbours += (double)(count - 1 - sums->pairs) * empty * empty;
}

struct run_level run_level_of(const struct run_step *listed, size_t listed_count, size_t count, size_t period)
{
    struct run_level level = { .mean = NAN, .variance = NAN, .independent = NAN, .steps = count };
    if (count == 0)
        return level;
    if (period < 1 || period > count)
        period = 1;
    size_t periods = count / period, used = 0;
    double sum = 0;
    for (; used < listed_count && listed[used].place < periods * period; used++)
        sum += listed[used].value;
    level.mean = sum / (double)(periods * period);
    if (periods < 2)
        return level;
    struct period_sums sums = { .mean = level.mean, .last = SIZE_MAX };
    for (size_t first = 0, end; first < used; first = end) {
        size_t place = listed[first].place / period;
        double value = 0;
        for (end = first; end < used && listed[end].place / period == place; end++)
            value += listed[end].value;
        period_sums_add(&sums, place, value / (double)period);
    }
    period_sums_finish(&sums, periods);
    double n = (double)periods;
    double correlation = sums.squares > 0 ? sums.neighbours / sums.squares : 0;
    if (correlation * sqrt(n) < chance_correlated)
        correlation = 0;
    correlation = fmin(correlation, most_correlated);
    double widened = (1 + correlation) / (1 - correlation);
    level.independent = sums.squares / (n - 1) / n;
    level.variance = level.independent * widened;
    level.df = fmax((n - 1) / widened, 1);
    return level;
}

/* ---- Student's quantile ---- */

/* The logarithm of the density at 0, of which that at T is (1 + T^2/DF)^(-(DF+1)/2) times as much. */
static double log_student_density_of_0(double df)
{
    const double pi = 3.14159265358979323846;
    if (df > 1e6) /* the gamma functions would cancel */
        return -log(2 * pi) / 2 - 1 / (4 * df);
    return lgamma((df + 1) / 2) - lgamma(df / 2) - log(df * pi) / 2;
}

/* The quantile of the normal distribution to 0.00045, below it: Abramowitz and Stegun, Handbook of Mathematical Functions, 26.2.23. */
static double rough_normal_quantile(double p)
{
    double u = sqrt(-2 * log(p));
    double near =
        u - (2.515517 + u * (0.802853 + u * 0.010328)) / (1 + u * (1.432788 + u * (0.189269 + u * 0.001308)));
    return fmax(near - 0.00045, 0);
}

double run_student_quantile(double p, double df)
{
    /* Rows of a table mostly ask for one quantile. */
    static _Thread_local double known_p = 0.5, known_df, known;
    if (p >= 0.5)
        return 0;
    if (!isnan(p) && !isnan(df) && !(p < known_p || p > known_p || df < known_df || df > known_df))
        return known;
    /* Newton's method from the normal quantile, which is lower: the tail is convex, so that no step leads too far. */
    double log_of_0 = log_student_density_of_0(df), t = rough_normal_quantile(p);
    for (int i = 0; i < 100 && t < 1e9; i++) {
        double fallen = isinf(df) ? t * t / 2 : (df + 1) / 2 * log1p(t * t / df);
        double step = (level_student_tail(t, df) - p) / exp(log_of_0 - fallen);
        t += step;
        if (!(step > 1e-13 * t))
            break;
    }
    if (!isnan(p) && !isnan(df)) {
        known_p = p;
        known_df = df;
        known = t;
    }
    return t;
}
