/* test_contention.c - analyze/contention/: the estimate of a slowdown, by hand. */

#include "tests/unit/unit.h"
#include "analyze/contention/strata.h"
#include <math.h>

enum { EACH = 5 };

/* Alone and beside in turn, in one step; the first beside for 90 % of its time, the others for all of it. */
static void fill(struct candidate at[2 * EACH], const double durations[2][EACH])
{
    for (int i = 0; i < 2 * EACH; i++) {
        enum side side = i % 2 ? SIDE_BESIDE : SIDE_ALONE;
        at[i] = (struct candidate){ .start_ns = i * 1000,
                                    .duration = durations[side][i / 2],
                                    .share = side == SIDE_ALONE ? 0
                                             : i == 1           ? 0.9
                                                                : 1,
                                    .side = side,
                                    .bin = (uint32_t)side };
    }
}

/*
 * T(1): all 25 pairs positive. N = 10, the variance of T 25 * 11 / 3 / 121 = 0.7576; in units of S the bound is
 * (1.96 sqrt(0.7576) + 1 / 11) * 11 = 19.77. S(1.17) = 23, S(1.18) = 17, S(1.20) = 4, S(1.21) = -4, S(1.23) = -17, S(1.24) = -23.
 */
TEST(a_stratum_has_the_factor_by_hand)
{
    static const double durations[2][EACH] = { { 98, 99, 100, 101, 102 }, { 118, 119, 120, 121, 122 } };
    struct candidate at[2 * EACH];
    struct strata strata = { 0 };
    fill(at, durations);
    strata_add_cell(&strata, at, 2 * EACH, STRATA_BY_STEPS);
    strata.lag = (struct lag){ 0 }; /* both sides grow with time here */
    struct contention_estimate estimate = strata_estimate(&strata, 0);
    assert_int_equal(strata.count, 1);
    assert_true(strata_suffice(&strata, &estimate));
    assert_true(fabs(estimate.factor - 1.204) < 0.001);
    assert_true(fabs(estimate.low - 1.177) < 0.001);
    assert_true(fabs(estimate.high - 1.232) < 0.001);
    assert_true(estimate.p < 0.05);
    VEC_FREE(&strata.samples);
}

/* A clock of 2 with medians of 100 and 120: each end moves by 2 %. */
TEST(a_coarse_clock_widens_the_interval)
{
    static const double durations[2][EACH] = { { 98, 99, 100, 101, 102 }, { 118, 119, 120, 121, 122 } };
    struct candidate at[2 * EACH];
    struct strata strata = { 0 };
    fill(at, durations);
    strata_add_cell(&strata, at, 2 * EACH, STRATA_BY_STEPS);
    strata.lag = (struct lag){ 0 };
    struct contention_estimate fine = strata_estimate(&strata, 0), coarse = strata_estimate(&strata, 2);
    assert_true(fabs(coarse.low * 1.02 - fine.low) < 1e-9);
    assert_true(fabs(coarse.high / 1.02 - fine.high) < 1e-9);
    assert_true(strata_are_long(&strata, 5));
    assert_false(strata_are_long(&strata, 5.1));
    VEC_FREE(&strata.samples);
}

/* Steps 0 and 1 have one side each, step 2 both: they are one stratum, of which four times as many alone as beside are kept, or 8. */
TEST(the_nearest_of_a_side_in_excess_are_kept)
{
    enum { ALONE = 20 };
    struct candidate at[ALONE + 1];
    struct strata strata = { 0 };
    for (int i = 0; i <= ALONE; i++)
        at[i] = (struct candidate){ .start_ns = i * 10,
                                    .step = i / 8,
                                    .duration = i < ALONE - 8 ? 1000 : 100,
                                    .side = i == ALONE ? SIDE_BESIDE : SIDE_ALONE,
                                    .share = i == ALONE,
                                    .bin = i == ALONE };
    strata_add_cell(&strata, at, ALONE + 1, STRATA_BY_STEPS);
    assert_int_equal(strata.sides[SIDE_ALONE], 8);
    assert_int_equal(strata.sides[SIDE_BESIDE], 1);
    for (size_t i = 0; i < strata.samples.count; i++)
        assert_true(strata.samples.at[i].duration == 100);
    struct contention_estimate estimate = strata_estimate(&strata, 0);
    assert_false(strata_suffice(&strata, &estimate));
    VEC_FREE(&strata.samples);
}

/* Of 0.001, 0.02, 0.04 and 0.9 the first two are below 5 % of their number of 4: 0.0125, 0.025, 0.0375, 0.05. */
TEST(many_tests_need_smaller_probabilities)
{
    double p[] = { 0.9, 0.04, 0.001, 0.02 }, none[] = { 0.04, 0.9 };
    assert_true(false_discovery_limit(p, 4) == 0.02);
    assert_true(false_discovery_limit(none, 2) < 0);
}
