/* test_night.c - history/store.h: the samples of a run. */
#include "tests/unit/scratch.h"
#include "history/store.h"

#include <math.h>

/* A part with STEPS steps of RANK, numbered from 3: the step time is BASE, BASE + 10 ...; aten::mm half of that. */
static void add_rank(struct measures *measures, int64_t rank, int steps, double base)
{
    assert_true(measures_part(measures, MEASURE_TRACES, NULL));
    measures->files++;
    struct sampling *by = &measures->by_step;
    sampling_add(&measures->by_file, &(struct measure_sample){ (uint32_t)measures->parts - 1, 0, rank, -1 });
    struct measure_rows *rows = sampling_open_rows(by, "operators", "Operators", TABLE_NS);
    for (int i = 0; i < steps; i++) {
        uint32_t sample =
            sampling_add(by, &(struct measure_sample){ (uint32_t)measures->parts - 1, 0, rank, 3 + i });
        sampling_set(by, "step_time", "step time", TABLE_NS, sample, base + 10 * i);
        if (i > 0)
            measure_rows_add(rows, "aten::mm", 8, sample, (base + 10 * i) / 2, 4);
    }
}

static const struct night_figure *figure(const struct night *night, const char *name)
{
    for (size_t i = 0; i < night->figures.count; i++)
        if (strcmp(night->figures.at[i].name, name) == 0)
            return &night->figures.at[i];
    fail_msg("no figure %s", name);
    return NULL;
}

/* Rank 0 took 100 110 120, rank 1 took 104 114 124: one run with three steps of 102 112 122. */
TEST(what_ranks_say_of_a_step_is_averaged)
{
    struct measures *measures = scratch(measures_open());
    add_rank(measures, 0, 3, 100);
    add_rank(measures, 1, 3, 104);
    measures_finish(measures);
    struct night *night = scratch(night_of(measures));
    assert_int_equal(night->sample_count, 3);
    const struct night_figure *step = figure(night, "step_time");
    assert_int_equal(step->count, 3);
    assert_true(step->values[0] == 102 && step->values[1] == 112 && step->values[2] == 122);
    assert_true(step->level.centre == 112);
    assert_true(isnan(step->calls));
    /* In the first step it did not run: 0, 56, 61. Four calls in two of three steps. */
    const struct night_figure *mm = figure(night, "aten::mm");
    assert_int_equal(mm->count, 3);
    assert_true(mm->values[0] == 0 && mm->values[1] == 56 && mm->values[2] == 61);
    assert_true(fabs(mm->calls - 8.0 / 3) < 1e-12);
}

/* The same rank twice is a second recording, not a second witness of the first: all five steps are samples, in two runs. The level
 * is the mean of both runs, 105 and 210, its error half of their distance. */
TEST(the_same_rank_again_is_a_repetition)
{
    struct measures *measures = scratch(measures_open());
    add_rank(measures, 0, 2, 100);
    add_rank(measures, 0, 3, 200);
    measures_finish(measures);
    struct night *night = scratch(night_of(measures));
    assert_int_equal(night->sample_count, 5);
    const struct night_figure *step = figure(night, "step_time");
    assert_int_equal(step->count, 5);
    static const double expected[] = { 100, 110, 200, 210, 220 };
    assert_true(step->level.centre == 157.5 && fabs(step->level.error - 52.5) < 1e-9);
    for (size_t i = 0; i < 5; i++)
        assert_true(step->values[i] == expected[i]);
}

TEST(a_peak_of_the_whole_is_one_sample)
{
    struct measures *measures = scratch(measures_open());
    add_rank(measures, 0, 3, 100);
    for (uint32_t sample = 0; sample < 3; sample++)
        sampling_set(&measures->by_step, "memory_peak", "memory peak", TABLE_BYTES, sample, 1000 + sample);
    for (size_t i = 0; i < measures->by_step.metrics.count; i++)
        if (strcmp(measures->by_step.metrics.at[i].key, "memory_peak") == 0)
            measures->by_step.metrics.at[i].whole = 4096;
    measures_finish(measures);
    struct night *night = scratch(night_of(measures));
    const struct night_figure *peak = figure(night, "memory_peak");
    assert_int_equal(peak->count, 1);
    assert_true(peak->level.centre == 4096 && isnan(peak->level.error));
    assert_string_equal(night->gpu, "no GPU");
}

/* One row that occurs in one of 400 steps, and one that occurs in each: night_values gives both whole. */
TEST(a_row_that_is_mostly_absent_is_kept_as_what_it_has)
{
    enum { STEPS = 400, WHERE = 123 };
    struct measures *measures = scratch(measures_open());
    add_rank(measures, 0, STEPS, 1000);
    measure_rows_add(sampling_open_rows(&measures->by_step, "operators", "Operators", TABLE_NS), "once", 4,
                     WHERE, 7, 1);
    measures_finish(measures);
    struct night *night = scratch(night_of(measures));
    double scratch[STEPS];
    const struct night_figure *once = figure(night, "once"), *mm = figure(night, "aten::mm");
    assert_int_equal(once->count, STEPS);
    assert_int_equal(once->listed, 1);
    const double *values = night_values(once, scratch);
    for (int i = 0; i < STEPS; i++)
        assert_true(values[i] == (i == WHERE ? 7 : 0));
    assert_int_equal(mm->listed, STEPS);
    assert_ptr_equal(night_values(mm, scratch), mm->values);
}
