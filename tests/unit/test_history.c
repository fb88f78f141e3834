/*
 * test_history.c - history/history.h: what a run of nights is called, night by night.
 *
 * The levels are drawn by hand: 100 with a wobble of 0.5, each known to 0.5. So a night's noise is about half a percent,
 * and 105 is ten times that.
 */
#include "tests/unit/unit.h"
#include "history/history.h"

#include <math.h>

enum { MOST_RUNS = 64 };

struct case_of {
    double level[MOST_RUNS], error[MOST_RUNS], references[MOST_RUNS];
    bool accepted[MOST_RUNS];
    uint8_t verdicts[MOST_RUNS];
    size_t count;
    double min_change;
};

static const double wobble[] = { 0, 0.5, -0.4, 0.2, -0.6, 0.4, -0.1, 0.6, -0.5, 0.1 };

static void add(struct case_of *nights, double level, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t at = nights->count++;
        nights->level[at] = level * (1 + wobble[at % 10] / 100);
        nights->error[at] = level * 0.005;
    }
}

static struct history_finding judge(struct case_of *nights, const struct history_options *options)
{
    static const struct history_options usual = HISTORY_DEFAULTS;
    struct history history = { .run_count = nights->count };
    *VEC_PUSH(&history.series) = (struct history_series){
        .group = HISTORY_STEP,
        .level = nights->level,
        .error = nights->error,
        .accepted = nights->accepted,
        .verdicts = nights->verdicts,
        .references = nights->references,
        .min_change = nights->min_change,
    };
    history_judge(&history, options ? options : &usual);
    struct history_finding now = history.series.at[0].now;
    VEC_FREE(&history.series);
    return now;
}

/* The verdicts EXPECTED of runs or ranges of them: "14 NEW, 15-19 EXISTING". */
static void expect(const struct case_of *nights, const char *expected)
{
    while (*expected) {
        size_t first, last;
        if (sscanf(expected, "%zu-%zu", &first, &last) == 1)
            last = first;
        expected += strcspn(expected, " ") + 1;
        size_t len = strcspn(expected, ",");
        for (size_t i = first; i <= last; i++) {
            const char *verdict = history_verdict_name(nights->verdicts[i]);
            if (strlen(verdict) != len || strncmp(verdict, expected, len) != 0)
                fail_msg("run %zu is %s, not %.*s", i, verdict, (int)len, expected);
        }
        expected += len + strspn(expected + len, ", ");
    }
}

/* Add LEVELS to NIGHTS, "14*100 5*105" for fourteen nights of 100 and five of 105, and judge them all; they must have these VERDICTS. */
static struct history_finding judged(struct case_of *nights, const char *levels, const char *verdicts)
{
    double level;
    for (int count, used; sscanf(levels, "%d*%lf%n", &count, &level, &used) == 2; levels += used)
        add(nights, level, (size_t)count);
    assert_string_equal(levels, "");
    struct history_finding now = judge(nights, NULL);
    expect(nights, verdicts);
    return now;
}

TEST(steady_nights_are_the_same)
{
    struct case_of nights = { .count = 0 };
    /* four nights tell how much they vary */
    struct history_finding now = judged(&nights, "40*100", "0 first, 1-3 cannot tell, 4-39 same");
    assert_true(fabs(now.reference - 100) < 0.3);
    assert_true(now.noise > 0.003 && now.noise < 0.007);
    assert_int_equal(now.first_bad, HISTORY_NO_RUN);
}

/* ..............5555  NEW, then EXISTING; the reference stays what it was; the first bad run is named. */
TEST(a_step_is_new_once_and_existing_after)
{
    struct case_of nights = { .count = 0 };
    struct history_finding now = judged(&nights, "14*100 30*105", "4-13 same, 14 NEW, 15-43 EXISTING");
    assert_int_equal(now.first_bad, 14);
    assert_int_equal(now.last_good, 13);
    assert_true(fabs(now.reference - 100) < 0.3);
    assert_true(fabs(now.level - 105) < 0.3);
    assert_int_equal(now.references, 14);
}

TEST(going_back_is_fixed_once)
{
    struct case_of nights = { .count = 0 };
    struct history_finding now = judged(&nights, "14*100 5*105 5*100", "14 NEW, 19 FIXED, 20-23 same");
    assert_int_equal(now.first_bad, HISTORY_NO_RUN);
    /* Five bad nights were a level of their own: when it comes back it is as new as before. */
    judged(&nights, "1*105", "24 NEW");
}

TEST(a_second_step_up_is_new_again)
{
    struct case_of nights = { .count = 0 };
    struct history_finding now =
        judged(&nights, "14*100 5*105 3*111", "15-18 EXISTING, 19 NEW, 20-21 EXISTING");
    assert_int_equal(now.first_bad, 19);
    assert_true(fabs(now.reference - 100) < 0.3); /* still that of the first step */
}

TEST(an_accepted_level_is_the_reference)
{
    struct case_of nights = { .count = 0 };
    add(&nights, 100, 14);
    add(&nights, 105, 6);
    nights.accepted[14] = true;
    struct history_finding now = judge(&nights, NULL);
    expect(&nights, "14 accepted");
    for (size_t i = 15; i < 20; i++)
        assert_true(nights.verdicts[i] == HISTORY_SAME || nights.verdicts[i] == HISTORY_UNSURE);
    assert_int_equal(now.first_bad, HISTORY_NO_RUN);
    assert_true(fabs(now.reference - 105) < 0.5);
    /* What earlier nights told of the noise is not forgotten: a step is found at once. */
    judged(&nights, "1*110", "20 NEW");
}

TEST(one_odd_night_hides_no_step)
{
    struct case_of nights = { .count = 0 };
    judged(&nights, "7*100 1*112 6*100 2*104", "7 NEW, 8 FIXED, 9-13 same, 14 NEW, 15 EXISTING");
}

/* The night before the step was better than the others: it is good, though it is no part of their level. */
TEST(a_better_night_is_the_last_good_one)
{
    struct case_of nights = { .count = 0 };
    struct history_finding now = judged(&nights, "12*100 1*90 1*110", "12 better, 13 NEW");
    assert_int_equal(now.first_bad, 13);
    assert_int_equal(now.last_good, 12);
}

/* Three nights in a row are slower, but by too little to count: the row is about this night. */
TEST(what_is_the_same_is_reported_of_this_night_alone)
{
    struct case_of nights = { .count = 0, .min_change = 5 };
    struct history_finding now = judged(&nights, "20*100 3*102", "20-22 same");
    assert_true(now.level == nights.level[22]);
}

/* Better is the reference from its third night on, so that losing it is NEW; one lucky night is not. */
TEST(better_becomes_the_reference_when_it_stays)
{
    struct case_of nights = { .count = 0 };
    judged(&nights, "14*100 1*95 3*100", "14 better, 15-17 same");
    judged(&nights, "6*92 1*100", "18-20 better, 21-23 same, 24 NEW");
}

TEST(too_few_runs_cannot_be_judged)
{
    struct case_of nights = { .count = 0 };
    struct history_finding now = judged(&nights, "3*100 1*110", "3 cannot tell");
    assert_true(now.few);
    /* The fourth night of the old level makes the fifth decidable. */
    struct case_of more = { .count = 0 };
    judged(&more, "4*100 1*110", "4 NEW");
}

/* A damaged night among the others is neither judged nor compared with; so is one that is twice as fast. */
TEST(a_run_that_is_left_out_is_no_reference)
{
    struct case_of nights = { .count = 0 };
    bool left_out[MOST_RUNS] = { [5] = true, [14] = true };
    add(&nights, 100, 16);
    nights.level[5] = 50;
    nights.level[14] = 200;
    struct history history = { .run_count = nights.count, .left_out = left_out };
    static const struct history_options usual = HISTORY_DEFAULTS;
    *VEC_PUSH(&history.series) = (struct history_series){ .group = HISTORY_STEP,
                                                          .level = nights.level,
                                                          .error = nights.error,
                                                          .verdicts = nights.verdicts,
                                                          .references = nights.references };
    history_judge(&history, &usual);
    expect(&nights, "5 cannot tell, 14 cannot tell, 15 same");
    assert_true(fabs(nights.references[15] - 100) < 0.3);
    assert_int_equal(history.series.at[0].now.references, 14);
    VEC_FREE(&history.series);
}

/* 101.2 is too little for one night; the nights together tell, and the change is placed where it began. */
TEST(a_small_step_is_found_later_and_placed_where_it_began)
{
    struct case_of nights = { .count = 0 };
    add(&nights, 100, 20);
    add(&nights, 101.2, 5);
    struct history_finding now = judge(&nights, NULL);
    assert_true(nights.verdicts[20] != HISTORY_NEW);
    size_t news = 0;
    for (size_t i = 0; i < nights.count; i++)
        news += nights.verdicts[i] == HISTORY_NEW;
    assert_int_equal(news, 1);
    assert_int_equal(now.first_bad, 20);
    assert_int_equal(now.last_good, 19);
}

TEST(what_is_too_small_is_no_change)
{
    struct case_of nights = { .count = 0 };
    struct history_options options = HISTORY_DEFAULTS;
    nights.min_change = 6;
    add(&nights, 100, 14);
    add(&nights, 105, 3);
    judge(&nights, &options);
    expect(&nights, "4-16 same");
    nights.min_change = 0;
    options.min_change_share = 0.06;
    judge(&nights, &options);
    expect(&nights, "4-16 same");
    options.min_change_share = 0.04;
    judge(&nights, &options);
    expect(&nights, "14 NEW");
}

/* No noise at all: any change that is large enough is certain; without errors (no steps) the nights tell it. */
TEST(exact_and_unknown_figures_are_judged_too)
{
    struct case_of nights = { .count = 0 };
    add(&nights, 100, 14);
    add(&nights, 101, 1);
    for (size_t i = 0; i < nights.count; i++) {
        nights.level[i] = i < 14 ? 100 : 101;
        nights.error[i] = 0;
    }
    struct history_finding now = judge(&nights, NULL);
    expect(&nights, "14 NEW");
    assert_true(now.p == 0);
    struct case_of unknown = { .count = 0 };
    add(&unknown, 100, 14);
    add(&unknown, 105, 1);
    for (size_t i = 0; i < unknown.count; i++)
        unknown.error[i] = NAN;
    judge(&unknown, NULL);
    expect(&unknown, "4-13 same, 14 NEW");
}

TEST(gaps_and_less_is_worse)
{
    struct case_of nights = { .count = 0 };
    add(&nights, 100, 14);
    add(&nights, 105, 1);
    nights.level[5] = NAN;
    judge(&nights, NULL);
    expect(&nights, "5 absent, 14 NEW");

    static const struct history_options usual = HISTORY_DEFAULTS;
    struct history history = { .run_count = nights.count };
    *VEC_PUSH(&history.series) = (struct history_series){
        .less_is_worse = true, .level = nights.level, .error = nights.error, .verdicts = nights.verdicts
    };
    history_judge(&history, &usual);
    expect(&nights, "14 better");
    assert_true(history.series.at[0].now.reference > 99);
    VEC_FREE(&history.series);
}

TEST(many_series_share_the_chance_of_an_alarm)
{
    /* Of the step time alone, 101.95 is four standard errors: NEW. As one of 200 operators even 102.1 is UNSURE. */
    struct case_of nights = { .count = 0 };
    add(&nights, 100, 20);
    nights.level[19] = 101.95;
    judge(&nights, NULL);
    expect(&nights, "19 NEW");
    nights.level[19] = 102.1;
    struct case_of steady = { .count = 0 };
    add(&steady, 100, 20);
    static const struct history_options usual = HISTORY_DEFAULTS;
    struct history history = { .run_count = 20 };
    for (int i = 0; i < 200; i++)
        *VEC_PUSH(&history.series) = (struct history_series){
            .group = HISTORY_OPERATORS,
            .level = i == 77 ? nights.level : steady.level,
            .error = nights.error,
        };
    history_judge(&history, &usual);
    assert_int_equal(history.series.at[77].now.verdict, HISTORY_UNSURE);
    assert_int_equal(history.series.at[78].now.verdict, HISTORY_SAME);
    VEC_FREE(&history.series);
}
