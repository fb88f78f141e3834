#include "analyze/contention/strata.h"

#include "base/rows.h"
#include <math.h>

static const struct key by_nearness[] = { ASC(struct candidate, apart_ns), KEY_END };
static const struct key by_place[] = { ASC(struct candidate, place), KEY_END };

static void count_sides(const struct candidate *at, size_t count, size_t sides[2])
{
    sides[0] = sides[1] = 0;
    for (size_t i = 0; i < count; i++)
        sides[at[i].side]++;
}

/* Set how far each of the COUNT candidates, by start, on side EXCESS is from the nearest of the other side, which is at -1. */
static void set_distances(struct candidate *at, size_t count, enum side excess)
{
    int64_t last_ns = INT64_MIN;
    for (size_t i = 0; i < count; i++) {
        last_ns = at[i].side == excess ? last_ns : at[i].start_ns;
        at[i].apart_ns = at[i].side != excess   ? -1
                         : last_ns == INT64_MIN ? INT64_MAX
                                                : at[i].start_ns - last_ns;
    }
    last_ns = INT64_MIN;
    for (size_t i = count; i-- > 0;) {
        last_ns = at[i].side == excess ? last_ns : at[i].start_ns;
        if (at[i].side == excess && last_ns != INT64_MIN && last_ns - at[i].start_ns < at[i].apart_ns)
            at[i].apart_ns = last_ns - at[i].start_ns;
    }
}

/* Of COUNT candidates by start, keep of the side in excess those nearest in time to one of the other side, four times as many as
 * that has, or 8: or steps without company would lend their clock to the stratum. Returns how many candidates are kept, which
 * come first then. */
static size_t drop_excess(struct candidate *at, size_t count)
{
    enum { TIMES = 4, LEAST = 8 };
    size_t sides[2];
    count_sides(at, count, sides);
    enum side excess = sides[SIDE_ALONE] > sides[SIDE_BESIDE] ? SIDE_ALONE : SIDE_BESIDE;
    size_t others = sides[!excess], most = others * TIMES > LEAST ? others * TIMES : LEAST;
    if (sides[excess] <= most)
        return count;
    set_distances(at, count, excess);
    SORT_ARRAY(at, count, by_nearness);
    return others + most;
}

/* Add a stratum of the COUNT candidates, if both sides are among them. */
static void add_stratum(struct strata *strata, struct candidate *at, size_t count, bool in_time)
{
    size_t sides[2];
    count_sides(at, count, sides);
    if (!sides[SIDE_ALONE] || !sides[SIDE_BESIDE])
        return;
    count = in_time && !strata->keeps_excess ? drop_excess(at, count) : count;
    for (size_t i = 0; i < count; i++) {
        *VEC_PUSH(&strata->samples) = (struct contention_sample){ at[i].duration, at[i].share, strata->count,
                                                                  at[i].bin, at[i].side == SIDE_BESIDE };
        strata->sides[at[i].side]++;
    }
    strata->count++;
}

/* A stratum ends when it has enough of both sides, with a step if there are steps. What is left in the end belongs to the last. */
static void divide_in_time(struct strata *strata, struct candidate *at, size_t count, bool has_steps)
{
    size_t first = 0, open = 0, sides[2] = { 0 };
    for (size_t i = 0; i < count; i++) {
        sides[at[i].side]++;
        size_t least = sides[0] < sides[1] ? sides[0] : sides[1];
        bool step_ends = i + 1 == count || at[i + 1].step != at[i].step;
        if (has_steps ? !step_ends || least < 1 || i + 1 - open < 4 : least < 3)
            continue;
        if (open > first) {
            add_stratum(strata, at + first, open - first, true);
            first = open;
        }
        open = i + 1;
        sides[0] = sides[1] = 0;
    }
    add_stratum(strata, at + first, count - first, true);
}

/* Candidates in no step have no place. */
static void divide_by_place(struct strata *strata, struct candidate *at, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (at[i].step >= 0)
            at[kept++] = at[i];
    SORT_ARRAY(at, kept, by_place);
    FOR_GROUPS_OF(at, kept, by_place, first, end)
        add_stratum(strata, at + first, end - first, false);
}

/* Add the logarithms of the durations of one side to the correlation of neighbours. */
static void correlate(struct strata *strata, const struct candidate *at, size_t count, enum side side)
{
    SCOPED double *logs = mem_alloc(mem_times(count, sizeof *logs));
    size_t used = 0;
    for (size_t i = 0; i < count; i++)
        if (at[i].side == side)
            logs[used++] = log(at[i].duration);
    lag_add(&strata->lag, logs, used);
}

void strata_add_cell(struct strata *strata, struct candidate *at, size_t count, enum strata_way way)
{
    size_t sides[2];
    count_sides(at, count, sides);
    if (!sides[SIDE_ALONE] || !sides[SIDE_BESIDE])
        return;
    strata->cell_has_both = true;
    correlate(strata, at, count, SIDE_ALONE);
    correlate(strata, at, count, SIDE_BESIDE);
    if (way == STRATA_BY_PLACE)
        divide_by_place(strata, at, count);
    else
        divide_in_time(strata, at, count, way == STRATA_BY_STEPS);
}

static double side_median(const struct strata *strata, bool beside)
{
    size_t used = 0;
    SCOPED double *values = mem_alloc(mem_times(strata->samples.count + 1, sizeof *values));
    for (size_t i = 0; i < strata->samples.count; i++)
        if (strata->samples.at[i].beside == beside)
            values[used++] = strata->samples.at[i].duration;
    return used ? median_of(values, used) : NAN;
}

struct contention_estimate strata_estimate(struct strata *strata, double tick)
{
    struct contention_estimate estimate =
        contention_estimate(strata->samples.at, strata->samples.count, lag_correlation(&strata->lag));
    for (int side = 0; side < 2; side++)
        strata->medians[side] = side_median(strata, side == SIDE_BESIDE);
    double clock = 1 + tick / fmin(strata->medians[0], strata->medians[1]);
    estimate.low /= clock;
    estimate.high *= clock;
    return estimate;
}

bool strata_suffice(const struct strata *strata, const struct contention_estimate *estimate)
{
    enum { LEAST = 4 };
    return strata->sides[0] >= LEAST && strata->sides[1] >= LEAST && !isnan(estimate->factor) &&
           !isnan(estimate->low) && !isnan(estimate->high);
}

bool strata_are_long(const struct strata *strata, double tick)
{
    return fmin(strata->medians[0], strata->medians[1]) >= 20 * tick;
}

void strata_clear(struct strata *strata)
{
    strata->samples.count = 0;
    strata->lag = (struct lag){ 0 };
    strata->count = 0;
    strata->sides[0] = strata->sides[1] = 0;
    strata->cell_has_both = false;
}
