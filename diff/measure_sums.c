/* measure_sums.c - inputs that hold aggregates instead of events, as a sample: Python profiles, reports of actions; see
 * measure.h. */
#include "diff/measure.h"

#include <math.h>

/* The sample for the whole part. */
static uint32_t add_sample(struct measures *measures)
{
    measures->files++;
    measures->files_without_steps++;
    return sampling_add(&measures->by_file,
                        &(struct measure_sample){ (uint32_t)measures->parts - 1, 0, 0, -1 });
}

bool measure_profile(struct measures *measures, const struct profile *profile,
                     const struct measure_options *options, struct tpa_error *err)
{
    if (!profile_is_timed(profile)) {
        tpa_fail(err, TPA_NOWHERE, "the profile holds %s instead of times, and only times can be compared",
                 profile->figures == PROFILE_BYTES ? "bytes" : "weights without a unit");
        return tpa_hint(err, "record with a unit: py-spy record --format speedscope");
    }
    if (!measures_part(measures, MEASURE_PROFILES, err))
        return false;
    uint32_t sample = add_sample(measures);
    struct measure_rows *rows = sampling_open_rows(
        &measures->by_file, "functions",
        options->inclusive ? "Time in functions, including callees" : "Time in functions, excluding callees",
        TABLE_NS);
    rows->may_be_renamed = true; /* their names hold line numbers */
    struct buffer name = { 0 };
    double all_s = 0;
    for (size_t i = 0; i < profile->listed_count; i++) {
        const struct profile_function *function = &profile->functions[profile->listed[i]];
        double time_s = options->inclusive ? function->cost.cumulative_s : function->cost.total_s;
        if (isfinite(function->cost.total_s))
            all_s += function->cost.total_s;
        if (!isfinite(time_s))
            continue;
        buffer_clear(&name);
        profile_function_text(function, &name);
        measure_rows_add(rows, name.at ? name.at : "", name.count, sample, time_s * 1e9,
                         (double)function->cost.calls);
    }
    buffer_release(&name);
    if (!profile_has_callers(
            profile)) /* the heading of the text has a total that is not rounded row by row */
        all_s = profile->total.total_s;
    sampling_set(&measures->by_file, "functions_time", "time in all functions", TABLE_NS, sample,
                 all_s * 1e9);
    return true;
}

bool measure_actions(struct measures *measures, const struct action_report *report, struct tpa_error *err)
{
    if (!measures_part(measures, MEASURE_ACTIONS, err))
        return false;
    uint32_t sample = add_sample(measures);
    struct measure_rows *rows =
        sampling_open_rows(&measures->by_file, "actions", "Time of actions, which overlap", TABLE_NS);
    FOR_EACH(action, &report->actions) {
        measure_rows_add(rows, action->name, strlen(action->name), sample, (double)action->total_ns,
                         action->calls < 0 ? NAN : (double)action->calls);
    }
    if (report->total_ns >= 0)
        sampling_set(&measures->by_file, "total_time", "total time", TABLE_NS, sample,
                     (double)report->total_ns);
    return true;
}
