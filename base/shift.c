/*
 * With few values, all ways to distribute them over the two samples are counted, ties included: ranks of tied values
 * are means, so twice a rank is an integer, and sums of doubled ranks are counted by a table over (how many chosen,
 * their sum). With many values, the normal approximation is accurate enough.
 *
 * Equal values are stored once, with their count: an event in a few of thousands of steps costs only as much as those
 * steps.
 *
 * The differences between all pairs are never listed: there may be a hundred million. Their k-th smallest is found by
 * halving the range of doubles it lies in; counting the pairs that differ by at most d takes one pass over both sorted
 * samples.
 */
#include "base/shift.h"

#include "base/rows.h"
#include <assert.h>
#include <math.h>

/* Up to this many values in both samples together, arrangements are counted. */
enum { EXACT_UP_TO = 60 };

static int compare_doubles(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return a < b ? -1 : a > b;
}

void shift_sort(double *values, size_t count)
{
    /* Most of thousands of values may be 0: zeros are not sorted. */
    size_t below = 0, above = count;
    for (size_t i = 0; i < above;) {
        double value = values[i];
        if (value < 0) {
            values[i++] = values[below];
            values[below++] = value;
        } else if (value == 0) {
            i++;
        } else {
            values[i] = values[--above];
            values[above] = value;
        }
    }
    if (below > 1)
        qsort(values, below, sizeof *values, compare_doubles);
    if (count - above > 1)
        qsort(values + above, count - above, sizeof *values, compare_doubles);
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

/* ---- values that are the same ---- */

/* COUNT times the same value. */
struct run {
    double value;
    size_t count;
};

/* A sorted sample: its distinct values. */
struct runs {
    struct run *at;
    size_t count;
};

static void push_run(struct runs *runs, double value, size_t count)
{
    if (runs->count && runs->at[runs->count - 1].value == value)
        runs->at[runs->count - 1].count += count;
    else if (count)
        runs->at[runs->count++] = (struct run){ value, count };
}

/* New; free with VEC_FREE(&runs). */
static struct runs runs_of(const struct shift_sample *sample)
{
    SCOPED double *sorted = mem_alloc(mem_times(sample->listed + 1, sizeof *sorted));
    for (size_t i = 0; i < sample->listed; i++)
        sorted[i] = sample->values[i];
    shift_sort(sorted, sample->listed);
    struct runs runs = { .at = mem_alloc(mem_times(sample->listed + 1, sizeof *runs.at)) };
    size_t i = 0;
    for (; i < sample->listed && sorted[i] < 0; i++)
        push_run(&runs, sorted[i], 1);
    push_run(&runs, 0, sample->count - sample->listed);
    for (; i < sample->listed; i++)
        push_run(&runs, sorted[i], 1);
    return runs;
}

/* Of COUNT values; NAN if there are none. */
static double median_of(const struct runs *runs, size_t count)
{
    double middle[2] = { 0, 0 }; /* the values at (count - 1) / 2 and count / 2 */
    size_t passed = 0;
    if (count == 0)
        return NAN;
    for (size_t i = 0; i < runs->count; passed += runs->at[i++].count)
        for (size_t half = 0; half < 2; half++) {
            size_t place = (count - 1 + half) / 2;
            if (place >= passed && place - passed < runs->at[i].count)
                middle[half] = runs->at[i].value;
        }
    return middle[0] == middle[1] ? middle[0] : middle[0] + 0.5 * (middle[1] - middle[0]);
}

/* Equal values of both samples get the mean of their ranks; twice that is an integer. */
struct tie {
    uint64_t doubled;
    size_t count, after_count;
};

struct ranks {
    size_t count, after_count, tie_count;
    struct tie *tied;   /* in order */
    uint64_t after_sum; /* of the doubled ranks of the values after */
    double ties;        /* sum of t^3 - t over groups of t tied values */
};

/* New; free ranks.tied. */
static struct ranks rank(const struct runs *before, const struct runs *after)
{
    struct ranks ranks = { .tied =
                               mem_alloc(mem_times(before->count + after->count + 1, sizeof *ranks.tied)) };
    for (size_t b = 0, a = 0; b < before->count || a < after->count;) {
        bool is_before =
            b < before->count && (a == after->count || !(after->at[a].value < before->at[b].value));
        bool is_after =
            a < after->count && (b == before->count || !(before->at[b].value < after->at[a].value));
        size_t of_before = is_before ? before->at[b++].count : 0,
               of_after = is_after ? after->at[a++].count : 0;
        size_t first = ranks.count, end = first + of_before + of_after;
        double tied = (double)(end - first);
        struct tie tie = { (uint64_t)first + end + 1, end - first,
                           of_after }; /* twice the mean of first+1 .. end */
        ranks.ties += tied * tied * tied - tied;
        ranks.after_sum += tie.doubled * of_after;
        ranks.after_count += of_after;
        ranks.count = end;
        ranks.tied[ranks.tie_count++] = tie;
    }
    return ranks;
}

/* ---- Mann-Whitney ---- */

/* Sums of the doubled ranks of the values after: the observed one, and the least and greatest possible. */
struct sums {
    uint64_t found, least, greatest;
};

static struct sums sums_of(const struct ranks *ranks)
{
    struct sums sums = { .found = ranks->after_sum };
    size_t low = ranks->after_count, high = ranks->after_count; /* left to take from either end */
    for (size_t i = 0; i < ranks->tie_count; i++) {
        const struct tie *first = &ranks->tied[i], *last = &ranks->tied[ranks->tie_count - 1 - i];
        size_t from_first = first->count < low ? first->count : low;
        size_t from_last = last->count < high ? last->count : high;
        sums.least += first->doubled * from_first;
        sums.greatest += last->doubled * from_last;
        low -= from_first;
        high -= from_last;
    }
    return sums;
}

/* Probability of a sum of doubled ranks as extreme as the observed one: twice the smaller tail, as in SciPy. *LEAST_P
 * is that of the most extreme sum. */
static double exact_p(const struct ranks *ranks, double *least_p)
{
    size_t n = ranks->count, m = ranks->after_count, placed = 0;
    size_t doubled[EXACT_UP_TO];
    for (size_t i = 0; i < ranks->tie_count; i++)
        for (size_t k = 0; k < ranks->tied[i].count; k++)
            doubled[placed++] = ranks->tied[i].doubled;
    assert(placed == n && n <= EXACT_UP_TO);
    struct sums sums = sums_of(ranks);
    /* Without ties all doubled ranks are even: then their halves suffice. */
    bool even = ALL(i, n, doubled[i] % 2 == 0);
    unsigned half = even;
    size_t width = (sums.greatest >> half) + 1;
    SCOPED size_t *below = mem_zalloc(n + 1, sizeof *below); /* sum of the first so many */
    for (size_t i = 0; i < n; i++)
        below[i + 1] = below[i] + (doubled[i] >> half);
    SCOPED double *ways =
        mem_zalloc((m + 1) * width, sizeof *ways); /* by number of values chosen, and their sum */
    ways[0] = 1;
    for (size_t i = 0; i < n; i++) {
        size_t value = doubled[i] >> half;
        for (size_t k = i + 1 < m ? i + 1 : m; k > 0; k--) {
            /* The sums of k - 1 of the i values so far are between the smallest k - 1 and the largest k - 1. */
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
    double distance = fabs(u - m * other / 2) - 0.5; /* continuity correction */
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

/* Cache of the last query: consecutive rows have the same sample sizes. */
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
    SCOPED double *ways = mem_zalloc((after_count + 1) * (pairs + 1), sizeof *ways);
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
    return c;
}

/* The number C of differences outside the 95 % interval on each side; -1: no interval. */
static int64_t interval_rank(size_t before_count, size_t after_count)
{
    if (last_interval.before_count != before_count || last_interval.after_count != after_count) {
        last_interval.rank = find_interval_rank(before_count, after_count);
        last_interval.before_count = before_count;
        last_interval.after_count = after_count;
    }
    return last_interval.rank;
}

/* Two samples in order. */
struct pairs {
    struct runs from, to;
    size_t from_count; /* values in FROM */
};

/* How many of the differences to - from are at most LIMIT? */
static size_t count_up_to(const struct pairs *pairs, double limit)
{
    size_t count = 0, first = 0,
           left = pairs->from_count; /* the differences of values from FIRST on are small enough */
    for (size_t i = 0; i < pairs->to.count; i++) {
        while (first < pairs->from.count && pairs->to.at[i].value - pairs->from.at[first].value > limit)
            left -= pairs->from.at[first++].count;
        count += pairs->to.at[i].count * left;
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

/* The difference at index RANK of all sorted differences. For values that are mostly 0 it is nearly always 0, so that
 * case is checked first. */
static double difference_at(const struct pairs *pairs, size_t rank)
{
    uint64_t low = order_of(pairs->to.at[0].value - pairs->from.at[pairs->from.count - 1].value);
    uint64_t high = order_of(pairs->to.at[pairs->to.count - 1].value - pairs->from.at[0].value);
    if (count_up_to(pairs, 0) <= rank)
        low = low > order_of(0) ? low : order_of(0) + 1;
    else if (count_up_to(pairs, value_at(order_of(-0.0) - 1)) <= rank)
        return 0;
    else
        high = high < order_of(-0.0) ? high : order_of(-0.0) - 1;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (count_up_to(pairs, value_at(middle)) > rank)
            high = middle;
        else
            low = middle + 1;
    }
    return value_at(low) + 0.0; /* avoid -0 */
}

static void find_shift(const struct pairs *pairs, size_t after_count, struct shift *shift)
{
    size_t before_count = pairs->from_count, count = before_count * after_count;
    double below = difference_at(pairs, (count - 1) / 2);
    double above = count % 2 ? below : difference_at(pairs, count / 2);
    shift->estimate = below + (above - below) / 2;
    int64_t c = interval_rank(before_count, after_count);
    if (c >= 0) {
        shift->low = difference_at(pairs, (size_t)c);
        shift->high = difference_at(pairs, count - 1 - (size_t)c);
    }
}

/* Compute all fields of SHIFT but the medians, for two samples that are not empty. */
static void compare_pairs(const struct pairs *pairs, size_t after_count, struct shift *shift)
{
    struct ranks ranks = rank(&pairs->from, &pairs->to);
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
    free(ranks.tied);
    find_shift(pairs, after_count, shift);
}

void shift_compare_samples(const struct shift_sample *before, const struct shift_sample *after,
                           struct shift *shift)
{
    *shift = (struct shift){
        .estimate = NAN, .low = -INFINITY, .high = INFINITY, .p = 1, .exact = true, .least_p = 1
    };
    struct pairs pairs = { runs_of(before), runs_of(after), before->count };
    shift->median[0] = median_of(&pairs.from, before->count);
    shift->median[1] = median_of(&pairs.to, after->count);
    if (before->count > 0 && after->count > 0)
        compare_pairs(&pairs, after->count, shift);
    EACH(free, pairs.from.at, pairs.to.at);
}

struct hypothesis {
    double p;
    size_t index;
};

static const struct key by_p[] = { ASC(struct hypothesis, p), KEY_END };

void shift_holm(double *p, size_t count)
{
    SCOPED struct hypothesis *hypotheses = mem_alloc(mem_times(count, sizeof *hypotheses));
    size_t tested = 0;
    for (size_t i = 0; i < count; i++)
        if (!isnan(p[i]))
            hypotheses[tested++] = (struct hypothesis){ p[i], i };
    if (tested > 1)
        SORT_ARRAY(hypotheses, tested, by_p);
    double largest = 0;
    for (size_t i = 0; i < tested; i++) {
        double corrected = hypotheses[i].p * (double)(tested - i);
        if (corrected > 1)
            corrected = 1;
        if (corrected > largest)
            largest = corrected; /* never below the corrected value of a smaller p */
        p[hypotheses[i].index] = largest;
    }
}
