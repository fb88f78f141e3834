#include "base/level.h"

#include "base/memory.h"
#include "base/shift.h"
#include <math.h>

/* Odd: further from the median than this many standard deviations, which are 1.4826 MAD for Gaussian values. */
static const double odd_from = 6;
static const double mad_to_deviation = 1.4826;

/* At most one value, or one in ten, is odd. The MAD of fewer than eight values is unreliable. */
enum { VALUES_PER_ODD = 10, LEAST_VALUES = 8 };

/* The median of the distances from MEDIAN, found by walking from the middle of SORTED to both sides. */
static double median_distance(const double *sorted, size_t count, double median)
{
    size_t above = 0;
    while (above < count && sorted[above] < median)
        above++;
    size_t below = above; /* the next one below is below - 1 */
    double last = 0, distance = 0;
    for (size_t taken = 0; taken <= count / 2; taken++) {
        last = distance;
        if (above == count || (below > 0 && median - sorted[below - 1] < sorted[above] - median))
            distance = median - sorted[--below];
        else
            distance = sorted[above++] - median;
    }
    return count % 2 ? distance : (last + distance) / 2;
}

struct level_kept level_set_aside(const double *sorted, size_t count, size_t least_count,
                                  double least_deviation)
{
    struct level_kept kept = { 0, count };
    if (count < least_count)
        return kept;
    size_t most = count / VALUES_PER_ODD > 1 ? count / VALUES_PER_ODD : 1;
    for (; most > 0; most--) {
        const double *first = sorted + kept.first, *last = first + kept.count - 1;
        double median = shift_median(first, kept.count);
        double limit =
            odd_from * fmax(least_deviation, mad_to_deviation * median_distance(first, kept.count, median));
        if (fmax(median - *first, *last - median) <= limit)
            break;
        kept.first += median - *first > *last - median;
        kept.count--;
    }
    return kept;
}

void level_sort(double *values, size_t count)
{
    enum { FEW = 32 };
    if (count > FEW) {
        shift_sort(values, count);
        return;
    }
    /* Each goes to its rank. For so few values, comparing all pairs is fastest, as no branch depends on the values. */
    double unsorted[FEW];
    memcpy(unsorted, values, count * sizeof *values);
    for (size_t i = 0; i < count; i++) {
        size_t rank = SUM(size_t, j, i, unsorted[j] <= unsorted[i]);
        for (size_t j = i + 1; j < count; j++)
            rank += unsorted[j] < unsorted[i];
        values[rank] = unsorted[i];
    }
}

struct level level_of(double *values, size_t count)
{
    struct level level = { NAN, NAN, 0 };
    if (count == 0)
        return level;
    level_sort(values, count);
    struct level_kept kept = level_set_aside(values, count, LEAST_VALUES, 0);
    double sum = 0, squares = 0, n = (double)kept.count;
    for (size_t i = 0; i < kept.count; i++)
        sum += values[kept.first + i];
    level.centre = sum / n;
    for (size_t i = 0; i < kept.count; i++) {
        double distance = values[kept.first + i] - level.centre;
        squares += distance * distance;
    }
    if (kept.count > 1)
        level.error = sqrt(squares / (n - 1) / n);
    level.odd = count - kept.count;
    return level;
}

/* ---- Student ---- */

/* The continued fraction of the incomplete beta function, by Lentz's method (Abramowitz and Stegun 26.5.8). */
static double beta_fraction(double a, double b, double x)
{
    const double tiny = 1e-300;
    double c = 1, d = 1 - (a + b) * x / (a + 1);
    d = 1 / (fabs(d) < tiny ? tiny : d);
    double fraction = d;
    for (int m = 1; m < 500; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        d = 1 + even * d;
        d = 1 / (fabs(d) < tiny ? tiny : d);
        c = 1 + even / c;
        c = fabs(c) < tiny ? tiny : c;
        fraction *= d * c;
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 + odd * d;
        d = 1 / (fabs(d) < tiny ? tiny : d);
        c = 1 + odd / c;
        c = fabs(c) < tiny ? tiny : c;
        fraction *= d * c;
        if (fabs(d * c - 1) < 1e-15)
            break;
    }
    return fraction;
}

/* I_x(a, b). */
static double beta_share(double a, double b, double x)
{
    if (x <= 0 || x >= 1)
        return x <= 0 ? 0 : 1;
    double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
    if (x < (a + 1) / (a + b + 2))
        return front * beta_fraction(a, b, x) / a;
    return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

struct level_tails level_student_tails(double t, double df)
{
    if (isnan(t))
        return (struct level_tails){ NAN, NAN };
    if (isinf(t))
        return (struct level_tails){ t > 0, t < 0 };
    if (isinf(df))
        return (struct level_tails){ erfc(-t / sqrt(2)) / 2, erfc(t / sqrt(2)) / 2 };
    double tail = beta_share(df / 2, 0.5, df / (df + t * t)) / 2; /* of one side, beyond the magnitude of t */
    return t >= 0 ? (struct level_tails){ 1 - tail, tail } : (struct level_tails){ tail, 1 - tail };
}

double level_student_tail(double t, double df)
{
    return level_student_tails(t, df).above;
}
