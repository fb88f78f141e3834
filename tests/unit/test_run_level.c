/* test_run_level.c - base/run_level.h and diff/measure_runs.h: the level of a run, and which steps are one run. */

#include "tests/unit/scratch.h"
#include "diff/measure_runs.h"
#include <math.h>

static struct run_level level_of_values(const double *values, size_t count, size_t period)
{
    struct run_step steps[32];
    for (size_t i = 0; i < count; i++)
        steps[i] = (struct run_step){ i, values[i] };
    return run_level_of(steps, count, count, period);
}

/* 1 2 3 4: mean 2.5, squares 5, variance of the mean 5 / 3 / 4. By periods of 2: 1.5 and 3.5, squares 2, 2 / 1 / 2. */
TEST(the_error_comes_from_periods)
{
    const double values[] = { 1, 2, 3, 4 };
    struct run_level level = level_of_values(values, 4, 1);
    assert_true(level.mean == 2.5 && fabs(level.variance - 5.0 / 12) < 1e-12 && level.df == 3);
    level = level_of_values(values, 4, 2);
    assert_true(level.mean == 2.5 && fabs(level.variance - 1) < 1e-12 && level.df == 1);
    level = level_of_values(values, 1, 1);
    assert_true(level.mean == 1 && isnan(level.variance) && level.df == 0);
    assert_true(isnan(level_of_values(values, 0, 1).mean));
}

/* Each third of 13 steps takes 30 more: 12 steps are whole periods, all with the mean 14.5. */
TEST(whole_periods_are_throughput)
{
    double values[13];
    for (size_t i = 0; i < 13; i++)
        values[i] = i % 3 == 2 ? 34.5 : 4.5;
    struct run_level level = level_of_values(values, 13, 3);
    assert_true(fabs(level.mean - 14.5) < 1e-12 && level.variance < 1e-20 && level.df == 3);
}

/*
 * 1 1 1 1 2 2 2 2: distances of 0.5, squares 2, products of neighbours 3/4 - 1/4 + 3/4 = 1.25: autocorrelation 0.625, which
 * is 1.77 over the root of 8. The variance 2 / 7 / 8 is widened by 1.625 / 0.375.
 */
TEST(autocorrelation_widens_the_error)
{
    const double values[] = { 1, 1, 1, 1, 2, 2, 2, 2 };
    struct run_level level = level_of_values(values, 8, 1);
    assert_true(fabs(level.independent - 2.0 / 56) < 1e-12);
    assert_true(fabs(level.variance - 2.0 / 56 * 1.625 / 0.375) < 1e-12);
    assert_true(fabs(level.df - 7 * 0.375 / 1.625) < 1e-12);
}

/* Steps that are not listed are 0: the same level as with all steps. */
TEST(steps_without_the_row_are_0)
{
    const double values[] = { 0, 3, 0, 0, 5, 4, 0, 0, 0, 2, 0, 7 };
    struct run_step listed[12];
    size_t count = 0;
    for (size_t i = 0; i < 12; i++)
        if (values[i] != 0)
            listed[count++] = (struct run_step){ i, values[i] };
    for (size_t period = 1; period <= 4; period++) {
        struct run_level all = level_of_values(values, 12, period),
                         some = run_level_of(listed, count, 12, period);
        assert_true(fabs(all.mean - some.mean) < 1e-12 && fabs(all.variance - some.variance) < 1e-12);
        assert_true(fabs(all.df - some.df) < 1e-12);
    }
    struct run_level none = run_level_of(NULL, 0, 12, 1);
    assert_true(none.mean == 0 && none.variance == 0);
}

/* Of Student's tables. */
TEST(quantiles_are_those_of_tables)
{
    assert_true(fabs(run_student_quantile(0.025, 4) - 2.776445) < 1e-6);
    assert_true(fabs(run_student_quantile(0.025, 1) - 12.706205) < 1e-5);
    assert_true(fabs(run_student_quantile(0.025, INFINITY) - 1.959964) < 1e-6);
}

/* Ranks 0 and 1 of one run, two steps each; and a second file of rank 0, which is another run. */
TEST(a_second_file_of_a_rank_is_another_run)
{
    struct measures *measures = scratch(measures_open());
    struct sampling *sampling = &measures->by_step;
    const struct measure_sample samples[] = {
        { 0, 0, 0, 1, 1 }, { 0, 0, 0, 2, 1 }, { 1, 0, 1, 1, 1 }, { 1, 0, 1, 2, 1 }, { 2, 0, 0, 1, 1 }
    };
    const double times[] = { 10, 20, 12, 24, 50 };
    for (size_t i = 0; i < 5; i++)
        sampling_set(sampling, "step_time", "step time", TABLE_NS, sampling_add(sampling, &samples[i]),
                     times[i]);
    measures_finish(measures);
    struct measure_runs *runs = scratch(measure_runs_open(sampling));
    assert_int_equal(runs->count, 2);
    assert_int_equal(runs->step_count, 3);
    assert_int_equal(runs->members[0], 2);
    SCOPED double *values = measure_runs_metric(runs, sampling_metric(sampling, "step_time"));
    assert_true(values[0] == 11 && values[1] == 22 && values[2] == 50);
}
