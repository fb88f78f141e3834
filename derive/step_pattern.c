#include "derive/step_pattern.h"

#include "base/memory.h"
#include "base/stats.h"
#include <math.h>

/* Fewer do not show a pattern; of more the last are looked at. */
enum { LEAST_STEPS = 4, MOST_STEPS = 4096 };

int64_t step_pattern_median(const int64_t *ns, size_t count)
{
    int64_t *copy = mem_alloc(mem_times(count + 1, sizeof *copy)), median_ns = 0;
    size_t known = 0;
    for (size_t i = 0; i < count; i++)
        if (ns[i] != STEP_PATTERN_LOST)
            copy[known++] = ns[i];
    if (known)
        median_ns = stats_value_at(copy, known, (known - 1) / 2);
    free(copy);
    return median_ns;
}

bool step_pattern_is_unusual(int64_t ns, int64_t median_ns)
{
    return fabs((double)ns - (double)median_ns) > STEP_UNUSUAL * (double)median_ns;
}

/* The mean of every PERIOD-th of COUNT values from the first on, *KNOWN of which were not lost. */
static double mean_of(const int64_t *ns, size_t count, size_t period, size_t *known)
{
    double sum_ns = 0;
    *known = 0;
    for (size_t i = 0; i < count; i += period) {
        sum_ns += ns[i] == STEP_PATTERN_LOST ? 0 : (double)ns[i];
        *known += ns[i] != STEP_PATTERN_LOST;
    }
    return *known ? sum_ns / (double)*known : 0;
}

/* The mean distance of each value from the mean of those a multiple of PERIOD apart. */
static double distance_from_means(const int64_t *ns, size_t count, size_t period)
{
    double sum_ns = 0;
    size_t all = 0, own;
    for (size_t place = 0; place < period; place++) {
        double mean_ns = mean_of(ns + place, count - place, period, &own);
        for (size_t i = place; i < count; i += period)
            sum_ns += ns[i] == STEP_PATTERN_LOST ? 0 : fabs((double)ns[i] - mean_ns);
        all += own;
    }
    return all ? sum_ns / (double)all : 0;
}

/* The smallest period that was recorded twice; 1: there is none. */
static size_t repeated_period(const int64_t *ns, size_t count)
{
    const double differs = 0.02, alike = 0.2;
    double all_ns = distance_from_means(ns, count, 1);
    size_t known;
    if (all_ns < differs * mean_of(ns, count, 1, &known))
        return 1;
    for (size_t period = 2; 2 * period <= known; period++) {
        double corrected = (double)known / (double)(known - period);
        if (distance_from_means(ns, count, period) * corrected <= alike * all_ns)
            return period;
    }
    return 1;
}

/* How many steps unusual ones are apart; 1: not as many everywhere, or fewer than two are. Lost ones are as they fit. */
static size_t period_of_unusual(const int64_t *ns, size_t count)
{
    int64_t median_ns = step_pattern_median(ns, count);
    size_t first = SIZE_MAX, last = SIZE_MAX, period = SIZE_MAX, unusual = 0;
    for (size_t i = 0; i < count; i++) {
        if (ns[i] == STEP_PATTERN_LOST || !step_pattern_is_unusual(ns[i], median_ns))
            continue;
        unusual++;
        if (last != SIZE_MAX && i - last < period)
            period = i - last;
        first = first == SIZE_MAX ? i : first;
        last = i;
    }
    if (unusual < 2 || period == 1 || 2 * unusual > count || first >= period || count - last > period)
        return 1;
    for (size_t i = 0; i < count; i++)
        if (ns[i] != STEP_PATTERN_LOST &&
            step_pattern_is_unusual(ns[i], median_ns) != (i % period == first % period))
            return 1;
    return period;
}

size_t step_pattern_period(const int64_t *ns, size_t count)
{
    if (count > MOST_STEPS)
        return step_pattern_period(ns + (count - MOST_STEPS), MOST_STEPS);
    if (count < LEAST_STEPS)
        return 1;
    size_t period = repeated_period(ns, count);
    return period > 1 ? period : period_of_unusual(ns, count);
}

/* Does each value but the median occur twice or more? */
static bool is_recorded_twice(const int64_t *counts, size_t count)
{
    int64_t median = step_pattern_median(counts, count);
    for (size_t i = 0; i < count; i++) {
        size_t alike = 0;
        if (counts[i] == median || counts[i] == STEP_PATTERN_LOST)
            continue;
        for (size_t k = 0; k < count && alike < 2; k++)
            alike += counts[k] == counts[i];
        if (alike < 2)
            return false;
    }
    return true;
}

/* Are those of COUNT values equal that lie PERIOD apart? */
static bool repeats_exactly(const int64_t *counts, size_t count, size_t period)
{
    for (size_t i = 0, last; i < count; i++) {
        if (counts[i] == STEP_PATTERN_LOST)
            continue;
        for (last = i; last >= period && (last == i || counts[last] == STEP_PATTERN_LOST); last -= period)
            ;
        if (counts[last] != STEP_PATTERN_LOST && counts[last] != counts[i])
            return false;
    }
    return true;
}

size_t step_pattern_period_of_counts(const int64_t *counts, size_t count)
{
    if (count > MOST_STEPS)
        return step_pattern_period_of_counts(counts + (count - MOST_STEPS), MOST_STEPS);
    if (count < LEAST_STEPS || !is_recorded_twice(counts, count))
        return 1;
    for (size_t period = 1; period < count - 1; period++)
        if (repeats_exactly(counts, count, period))
            return period;
    return 1;
}
