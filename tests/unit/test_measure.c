/* test_measure.c - diff/measure.h: steps and files as samples, and what is taken of each. */

#include "diff/measure.h"
#include "tests/unit/drawn.h"
#include <math.h>

static struct measures *measures;

static void measure(struct trace *trace, const struct measure_options *options)
{
    assert_true(measure_trace(measures, trace, options, NULL));
}

static void check_metric(const struct sampling *sampling, const char *key, size_t count, ...)
{
    const struct measure_metric *metric = sampling_metric(sampling, key);
    if (!metric)
        fail_msg("there is no %s", key);
    assert_int_equal(metric->values.count, count);
    va_list values;
    va_start(values, count);
    for (size_t i = 0; i < count; i++) {
        double expected = va_arg(values, int);
        if (metric->values.at[i] != expected)
            fail_msg("%s of sample %zu is %g, not %g", key, i, metric->values.at[i], expected);
    }
    va_end(values);
}

/* The row's value in SAMPLE, 0 when it has none; its calls to *CALLS. */
static double value_of(const struct sampling *sampling, const char *table, const char *name, uint32_t sample,
                       double *calls)
{
    const struct measure_rows *rows = sampling_rows(sampling, table);
    assert_non_null(rows);
    name_id id = names_find(rows->names, name, strlen(name));
    for (size_t i = 0; i < rows->values.count; i++)
        if (rows->values.at[i].row == id && rows->values.at[i].sample == sample) {
            *calls = rows->values.at[i].calls;
            return rows->values.at[i].value;
        }
    *calls = 0;
    return 0;
}

static void check_row(const struct sampling *sampling, const char *table, const char *name, uint32_t sample,
                      double value, double calls)
{
    double found_calls, found = value_of(sampling, table, name, sample, &found_calls);
    if (found != value || found_calls != calls)
        fail_msg("%s in sample %u: %g in %g calls, not %g in %g", name, sample, found, found_calls, value,
                 calls);
}

/*
 *               0    10   20   30   40   50   60   70   80
 *   host        [ ProfilerStep#1        )[ #2     )             0..50, 50..70
 *                    [ aten::mm     )      [mm  )               mm 14..40, 52..60
 *                          l1   sync....)  l2                   l1 16..18, sync 22..38, l2 54..56
 *   stream 7                [ gemm )          [gemm   )         20..30, 58..75
 *   stream 9                  [ HtoD  )                         24..34
 *   stream 20                       [ nccl )                    32..44
 *
 * Step 1 is 0..50: gemm computes for 10; nccl is exposed for all of its 12; of the copy, 30..32 is under neither: 2;
 * idle is the rest, 26. Step 2 is the last and far shorter than step 1, so it does not count (analyze/account.h).
 * The file is 0..75: 27, 12, 2 and 34.
 * Time of mm without what it called: 26 - 2 - 16 = 8, and 8 - 2 = 6.
 */
static struct trace *draw(const struct measure_options *options, int64_t gemm_ns)
{
    struct trace_wants wants = measure_wants(options);
    draw_begin(&wants);
    draw_step(1, 0, 50);
    draw_step(2, 50, 20);
    draw_host("cpu_op", "aten::mm", 1, 14, 26);
    draw_host("cpu_op", "aten::mm", 1, 52, 8);
    draw_call("cudaLaunchKernel", 1, 16, 2, 1);
    draw_call("cudaStreamSynchronize", 1, 22, 16, 2);
    draw_call("cudaLaunchKernel", 1, 54, 2, 3);
    draw_work("kernel", "gemm", 0, 7, 20, gemm_ns, 1);
    draw_work("kernel", "gemm", 0, 7, 58, 17, 3);
    draw_work("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", 0, 9, 24, 10, DRAW_NO_CALL);
    draw_work("kernel", "ncclDevKernel", 0, 20, 32, 12, DRAW_NO_CALL);
    return drawn();
}

TEST(steps_and_files_are_samples)
{
    struct measure_options options = { 0 };
    measures = scratch(measures_open());
    measure(draw(&options, 10), &options);
    measures_finish(measures);
    assert_ptr_equal(measures_sampling(measures), &measures->by_step);

    const struct sampling *steps = &measures->by_step;
    assert_int_equal(steps->samples.count, 1);
    assert_int_equal(steps->samples.at[0].step, 1);
    check_metric(steps, "step_time", 1, 50);
    check_metric(steps, "gpu_busy", 1, 24);
    check_metric(steps, "computation", 1, 10);
    check_metric(steps, "exposed_communication", 1, 12);
    check_metric(steps, "exposed_copies", 1, 2);
    check_metric(steps, "gpu_idle", 1, 26);
    check_row(steps, "operators", "aten::mm", 0, 8, 1);
    check_row(steps, "kernels", "gemm", 0, 10, 1);
    check_row(steps, "kernels", "ncclDevKernel", 0, 0, 0); /* launched before the recording: in no step */
    check_metric(steps, "device_time", 1, 10);
    assert_true(isnan(sampling_metric(steps, "step_time")->whole));

    const struct sampling *files = &measures->by_file;
    assert_int_equal(files->samples.count, 1);
    check_metric(files, "window", 1, 75);
    check_metric(files, "computation", 1, 27);
    check_metric(files, "exposed_communication", 1, 12);
    check_metric(files, "exposed_copies", 1, 2);
    check_metric(files, "gpu_idle", 1, 34);
    check_row(files, "operators", "aten::mm", 0, 14, 2);
    check_metric(files, "device_time", 1, 49);
    assert_string_equal(measures_fact(measures, "gpu"), "unknown GPU");
}

/*
 *               0    10   20   30   40   50   60   70   80
 *   host        [ ProfilerStep#1   )                             0..40
 *                    [ ProfilerStep#9   )                        12..52: overlaps the first and is no sample
 *                       [ a)                                     16..24: in step 1 all the same
 *                              l1    [b )                        l1 30..32; b 44..50: in no sample
 *                                         [ ProfilerStep#1 )     60..90: its number was there already
 *                                              [ b  )            64..74: in no sample
 *   stream 7                       [ gemm  )                     34..48
 *
 * Step 1 has all that begins in it: its own 40, of which a takes 8 and the launch 2, and on another thread step 9.
 */
TEST(what_begins_in_a_sample_is_its_own_whatever_overlaps_or_repeats_it)
{
    struct measure_options options = { 0 };
    struct trace_wants wants = measure_wants(&options);
    draw_begin(&wants);
    draw_step(1, 0, 40);
    draw_host("user_annotation", "ProfilerStep#9", 2, 12, 40);
    draw_host("cpu_op", "a", 1, 16, 8);
    draw_call("cudaLaunchKernel", 1, 30, 2, 1);
    draw_host("cpu_op", "b", 1, 44, 6);
    draw_step(1, 60, 30);
    draw_host("cpu_op", "b", 1, 64, 10);
    draw_work("kernel", "gemm", 0, 7, 34, 14, 1);
    measures = scratch(measures_open());
    measure(drawn(), &options);
    measures_finish(measures);
    const struct sampling *steps = &measures->by_step;
    assert_int_equal(steps->samples.count, 1);
    check_row(steps, "operators", "a", 0, 8, 1);
    check_row(steps, "operators", "cudaLaunchKernel", 0, 2, 1);
    check_row(steps, "operators", "ProfilerStep*", 0, 70, 2); /* 40 - 8 - 2, and 40 on the other thread */
    check_row(steps, "operators", "b", 0, 0, 0);
    check_row(steps, "kernels", "gemm", 0, 14, 1);
    check_metric(steps, "host_time", 1, 80);
    check_metric(steps, "device_time", 1, 14);
}

TEST(parts_of_a_side_add_samples)
{
    struct measure_options options = { .by = MEASURE_BY_KERNEL };
    measures = scratch(measures_open());
    measure(draw(&options, 10), &options);
    measure(draw(&options, 12), &options);
    measures_finish(measures);
    const struct sampling *steps = &measures->by_step;
    assert_int_equal(steps->samples.count, 2);
    check_metric(steps, "computation", 2, 10, 12);
    check_row(steps, "kernels", "gemm", 1, 12, 1);
    SCRATCH_BUFFER(text);
    measure_sample_text(measures, &steps->samples.at[1], &text);
    assert_string_equal(text.at, "file 2, step 1");
    buffer_clear(&text);
    measure_sample_text(measures, &measures->by_file.samples.at[1], &text);
    assert_string_equal(text.at, "file 2");
}

TEST(first_step_alone_with_what_it_called)
{
    struct measure_options options = { .by = MEASURE_BY_NAME, .first_step = true, .inclusive = true };
    measures = scratch(measures_open());
    measure(draw(&options, 10), &options);
    measures_finish(measures);
    const struct sampling *steps = &measures->by_step;
    assert_int_equal(steps->samples.count, 1);
    check_row(steps, "rows", "aten::mm", 0, 26, 1);
    check_row(steps, "rows", "gemm", 0, 10, 1);
}

/* A file without steps makes files the samples: a step cannot be compared with a whole file. */
TEST(without_steps_a_file_is_a_sample)
{
    struct measure_options options = { 0 };
    struct trace_wants wants = measure_wants(&options);
    measures = scratch(measures_open());
    measure(draw(&options, 10), &options);
    draw_begin(&wants);
    draw_host("cpu_op", "aten::mm", 1, 100, 40);
    measure(drawn(), &options);
    measures_finish(measures);
    assert_ptr_equal(measures_sampling(measures), &measures->by_file);
    check_metric(&measures->by_file, "window", 2, 75, 40);
    check_row(&measures->by_file, "operators", "aten::mm", 1, 40, 1);
    assert_true(isnan(sampling_metric(&measures->by_file, "gpu_idle")->values.at[1]));
}

TEST(sorts_of_input_do_not_mix)
{
    struct measure_options options = { 0 };
    struct tpa_error err = { 0 };
    measures = scratch(measures_open());
    measure(draw(&options, 10), &options);
    struct profile *profile = profile_open();
    assert_false(measure_profile(measures, profile, &options, &err));
    assert_string_equal(err.message, "this is a Python profile, but the rest of its side is a trace");
    profile_free(profile);
}
