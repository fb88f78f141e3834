/*
 * shift.c - see shift.h.
 *
 * With few values all ways to deal them out to the two samples are counted, ties included: ranks of
 * tied values are means, so twice a rank is an integer, and the sums of doubled ranks are counted by a
 * table over (how many chosen, their sum). With many values the normal approximation is as good.
 *
 * The differences between all pairs are never listed: there may be a hundred million. Their k-th smallest is found by
 * halving the range of doubles it lies in; how many pairs differ by at most d is one walk along both sorted samples.
 */
#include "base/shift.h"

#include "base/memory.h"
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Up to so many values in both samples together, arrangements are counted. */
enum { EXACT_UP_TO = 60 };

static int compare_doubles(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return a < b ? -1 : a > b;
}

void shift_sort(double *values, size_t count)
{
    if (count > 1)
        qsort(values, count, sizeof *values, compare_doubles);
}

double shift_quantile(const double *sorted, size_t count, double q)
{
    if (count == 0)
        return NAN;
    double place = q * (double)(count - 1);
    size_t below = (size_t)place;
    if (below + 1 >= count)
        return sorted[count - 1];
    return sorted[below] + (place - (double)below) * (sorted[below + 1] - sorted[below]);
}

double shift_median(const double *sorted, size_t count)
{
    return shift_quantile(sorted, count, 0.5);
}

/* ---- ranks ---- */

struct ranked {
    double value;
    bool is_after;
};

static int compare_ranked(const void *left, const void *right)
{
    double a = ((const struct ranked *)left)->value, b = ((const struct ranked *)right)->value;
    return a < b ? -1 : a > b;
}

/* Twice the rank of each value of both samples, in order; ties share the mean. */
struct ranks {
    size_t count, after_count;
    uint32_t *doubled;
    uint64_t after_sum; /* of the doubled ranks of the values after */
    double ties;        /* sum of t^3 - t over groups of t tied values */
};

static struct ranks rank(const double *before, size_t before_count, const double *after, size_t after_count)
{
    struct ranks ranks = { .count = before_count + after_count, .after_count = after_count };
    struct ranked *all = mem_alloc(ranks.count * sizeof *all);
    for (size_t i = 0; i < before_count; i++)
        all[i] = (struct ranked){ before[i], false };
    for (size_t i = 0; i < after_count; i++)
        all[before_count + i] = (struct ranked){ after[i], true };
    qsort(all, ranks.count, sizeof *all, compare_ranked);
    ranks.doubled = mem_alloc(ranks.count * sizeof *ranks.doubled);
    for (size_t first = 0, end; first < ranks.count; first = end) {
        for (end = first; end < ranks.count && all[end].value == all[first].value; end++)
            ;
        double tied = (double)(end - first);
        ranks.ties += tied * tied * tied - tied;
        for (size_t i = first; i < end; i++) {
            ranks.doubled[i] = (uint32_t)(first + end + 1); /* twice the mean of first+1 .. end */
            if (all[i].is_after)
                ranks.after_sum += ranks.doubled[i];
        }
    }
    free(all);
    return ranks;
}

/* ---- Mann-Whitney ---- */

/* Sums of the doubled ranks of the values after: the one found, and the least and greatest there could be. */
struct sums {
    uint64_t found, least, greatest;
};

static struct sums sums_of(const struct ranks *ranks)
{
    struct sums sums = { .found = ranks->after_sum };
    for (size_t i = 0; i < ranks->after_count; i++) {
        sums.least += ranks->doubled[i];
        sums.greatest += ranks->doubled[ranks->count - 1 - i];
    }
    return sums;
}

/*
 * How likely a sum of doubled ranks as extreme as the one found is: twice the smaller tail, as in SciPy. *LEAST_P is
 * that of the most extreme sum.
 */
static double exact_p(const struct ranks *ranks, double *least_p)
{
    size_t n = ranks->count, m = ranks->after_count;
    struct sums sums = sums_of(ranks);
    bool even = true; /* without ties all doubled ranks are: then their halves do */
    for (size_t i = 0; i < n && even; i++)
        even = ranks->doubled[i] % 2 == 0;
    unsigned half = even;
    size_t width = (sums.greatest >> half) + 1;
    size_t *below = mem_zalloc(n + 1, sizeof *below); /* sum of the first so many */
    for (size_t i = 0; i < n; i++)
        below[i + 1] = below[i] + (ranks->doubled[i] >> half);
    double *ways = mem_zalloc((m + 1) * width, sizeof *ways); /* by how many chosen, and their sum */
    ways[0] = 1;
    for (size_t i = 0; i < n; i++) {
        size_t value = ranks->doubled[i] >> half;
        for (size_t k = i + 1 < m ? i + 1 : m; k > 0; k--) {
            /* Of the i values so far, k - 1 add up to no less than the first and no more than the last of them. */
            const double *from = ways + (k - 1) * width;
            double *to = ways + k * width + value;
            size_t last = below[i] - below[i - (k - 1)];
            for (size_t sum = below[k - 1]; sum <= last; sum++)
                to[sum] += from[sum];
        }
    }
    const double *whole = ways + m * width;
    double all = 0, lower = 0, upper = 0;
    for (size_t sum = sums.least >> half; sum < width; sum++) {
        all += whole[sum];
        lower += sum <= sums.found >> half ? whole[sum] : 0;
        upper += sum >= sums.found >> half ? whole[sum] : 0;
    }
    *least_p = fmin(1, 2 * fmin(whole[sums.least >> half], whole[sums.greatest >> half]) / all);
    free(ways);
    free(below);
    double p = 2 * (lower < upper ? lower : upper) / all;
    return p < 1 ? p : 1;
}

static double u_of(const struct ranks *ranks, uint64_t sum)
{
    double m = (double)ranks->after_count;
    return (double)sum / 2 - m * (m + 1) / 2;
}

static double normal_p(const struct ranks *ranks, double u)
{
    double n = (double)ranks->count, m = (double)ranks->after_count, other = n - m;
    double variance = m * other / 12 * (n + 1 - ranks->ties / (n * (n - 1)));
    if (variance <= 0)
        return 1;
    double distance = fabs(u - m * other / 2) - 0.5; /* continuity */
    if (distance < 0)
        distance = 0;
    return erfc(distance / sqrt(variance) / sqrt(2));
}

/* Number of ways to choose K of N, as a double. */
static double choose(size_t n, size_t k)
{
    double ways = 1;
    for (size_t i = 1; i <= k; i++)
        ways = ways * (double)(n - k + i) / (double)i;
    return ways;
}

/* ---- Hodges-Lehmann ---- */

/* What was asked last: row after row has as many samples. */
static _Thread_local struct {
    size_t before_count, after_count;
    int64_t rank;
} last_interval;

static int64_t find_interval_rank(size_t before_count, size_t after_count)
{
    size_t n = before_count + after_count, pairs = before_count * after_count;
    if (n > EXACT_UP_TO) {
        double middle = (double)pairs / 2;
        double spread = sqrt((double)pairs * (double)(n + 1) / 12);
        double c = floor(middle - 1.959963984540054 * spread);
        return c < 0 ? -1 : (int64_t)c;
    }
    /* Without ties: the distribution of U, ways[k][u] over k of the first i values. */
    double *ways = mem_zalloc((after_count + 1) * (pairs + 1), sizeof *ways);
    ways[0] = 1;
    for (size_t i = 0; i < n; i++)
        for (size_t k = i + 1 < after_count ? i + 1 : after_count; k > 0; k--) {
            size_t below = i + 1 - k; /* values before that are smaller than this one, the k-th after */
            if (below > before_count)
                continue;
            for (size_t u = pairs + 1; u-- > below;)
                ways[k * (pairs + 1) + u] += ways[(k - 1) * (pairs + 1) + u - below];
        }
    double all = choose(n, after_count), sum = 0;
    int64_t c = -1;
    for (size_t u = 0; u <= pairs; u++) {
        sum += ways[after_count * (pairs + 1) + u];
        if (sum / all > 0.025)
            break;
        c = (int64_t)u;
    }
    free(ways);
    return c;
}

/* The number C of smallest differences that lie outside of the 95 % interval on each side; -1: no interval. */
static int64_t interval_rank(size_t before_count, size_t after_count)
{
    if (last_interval.before_count != before_count || last_interval.after_count != after_count) {
        last_interval.rank = find_interval_rank(before_count, after_count);
        last_interval.before_count = before_count;
        last_interval.after_count = after_count;
    }
    return last_interval.rank;
}

static double *sorted_copy(const double *values, size_t count)
{
    double *copy = mem_alloc(count * sizeof *copy);
    for (size_t i = 0; i < count; i++)
        copy[i] = values[i];
    shift_sort(copy, count);
    return copy;
}

/* Two sorted samples. */
struct pairs {
    double *from, *to;
    size_t from_count, to_count;
};

/* How many of the differences to - from are at most LIMIT? */
static size_t count_up_to(const struct pairs *pairs, double limit)
{
    size_t count = 0, first = 0; /* from this one on, the differences with to[i] are small enough */
    for (size_t i = 0; i < pairs->to_count; i++) {
        while (first < pairs->from_count && pairs->to[i] - pairs->from[first] > limit)
            first++;
        count += pairs->from_count - first;
    }
    return count;
}

/* Doubles as integers in the same order, and back. */
static uint64_t order_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
}

static double value_at(uint64_t order)
{
    uint64_t bits = order >> 63 ? order & ~(UINT64_C(1) << 63) : ~order;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* The difference that RANK others, or more, are not above: the RANK-th from 0 on, were they sorted. */
static double difference_at(const struct pairs *pairs, size_t rank)
{
    uint64_t low = order_of(pairs->to[0] - pairs->from[pairs->from_count - 1]);
    uint64_t high = order_of(pairs->to[pairs->to_count - 1] - pairs->from[0]);
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (count_up_to(pairs, value_at(middle)) > rank)
            high = middle;
        else
            low = middle + 1;
    }
    return value_at(low) + 0.0; /* no -0 */
}

static void find_shift(const double *before, size_t before_count, const double *after, size_t after_count,
                       struct shift *shift)
{
    struct pairs pairs = { sorted_copy(before, before_count), sorted_copy(after, after_count), before_count,
                           after_count };
    size_t count = before_count * after_count;
    double below = difference_at(&pairs, (count - 1) / 2);
    double above = count % 2 ? below : difference_at(&pairs, count / 2);
    shift->estimate = below + (above - below) / 2;
    int64_t c = interval_rank(before_count, after_count);
    if (c >= 0) {
        shift->low = difference_at(&pairs, (size_t)c);
        shift->high = difference_at(&pairs, count - 1 - (size_t)c);
    }
    free(pairs.from);
    free(pairs.to);
}

void shift_compare(const double *before, size_t before_count, const double *after, size_t after_count,
                   struct shift *shift)
{
    *shift = (struct shift){
        .estimate = NAN, .low = -INFINITY, .high = INFINITY, .p = 1, .exact = true, .least_p = 1
    };
    if (before_count == 0 || after_count == 0)
        return;
    struct ranks ranks = rank(before, before_count, after, after_count);
    struct sums sums = sums_of(&ranks);
    shift->u = u_of(&ranks, sums.found);
    shift->exact = ranks.count <= EXACT_UP_TO;
    if (shift->exact) {
        shift->p = exact_p(&ranks, &shift->least_p);
    } else {
        shift->p = normal_p(&ranks, shift->u);
        shift->least_p =
            fmin(normal_p(&ranks, u_of(&ranks, sums.least)), normal_p(&ranks, u_of(&ranks, sums.greatest)));
    }
    shift->decidable = shift->least_p < 0.05;
    free(ranks.doubled);
    find_shift(before, before_count, after, after_count, shift);
}

/* ---- Holm ---- */

struct question {
    double p;
    size_t index;
};

static int compare_questions(const void *left, const void *right)
{
    const struct question *a = left, *b = right;
    if (a->p != b->p)
        return a->p < b->p ? -1 : 1;
    return a->index < b->index ? -1 : 1;
}

void shift_holm(double *p, size_t count)
{
    struct question *questions = mem_alloc(count * sizeof *questions);
    size_t asked = 0;
    for (size_t i = 0; i < count; i++)
        if (!isnan(p[i]))
            questions[asked++] = (struct question){ p[i], i };
    if (asked > 1)
        qsort(questions, asked, sizeof *questions, compare_questions);
    double largest = 0;
    for (size_t i = 0; i < asked; i++) {
        double corrected = questions[i].p * (double)(asked - i);
        if (corrected > 1)
            corrected = 1;
        if (corrected > largest)
            largest = corrected; /* never smaller than that of a smaller p */
        p[questions[i].index] = largest;
    }
    free(questions);
}

size_t shift_family(double *least_p, size_t count)
{
    shift_sort(least_p, count);
    size_t family = 0;
    for (size_t size = 1; size <= count; size++) {
        /* Of a family of so many, those that could be answered. They come first. */
        size_t able = 0;
        for (size_t high = count; able < high;) {
            size_t middle = able + (high - able) / 2;
            if (least_p[middle] * (double)size < 0.05)
                able = middle + 1;
            else
                high = middle;
        }
        size_t asked = able < size ? able : size;
        family = asked > family ? asked : family;
    }
    return family;
}
