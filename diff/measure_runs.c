#include "diff/measure_runs.h"

#include "base/rows.h"
#include "base/search.h"
#include "derive/step_pattern.h"
#include <math.h>

/* A sample while it is sorted into runs. */
struct keyed_sample {
    const struct measure_sample *sample;
    uint32_t index, run;
};

static const struct key by_rank[] = { ASC_VIA(struct keyed_sample, sample, struct measure_sample, rank),
                                      ASC_VIA(struct keyed_sample, sample, struct measure_sample, part),
                                      ASC_VIA(struct keyed_sample, sample, struct measure_sample, file),
                                      ASC(struct keyed_sample, index), KEY_END };

static const struct key by_step[] = { ASC(struct keyed_sample, run),
                                      ASC_VIA(struct keyed_sample, sample, struct measure_sample, step),
                                      ASC(struct keyed_sample, index), KEY_END };

/* Is HERE of the run of BEFORE, a sample of the same rank? Of the same file, or another cycle of its process. */
static bool is_same_run(const struct measure_sample *before, const struct measure_sample *here)
{
    return (here->part == before->part && here->file == before->file) ||
           (here->process && here->process == before->process);
}

/* Number the runs: the n-th process of a rank, or the n-th file of unknown processes, belongs to run n. */
static void find_runs(struct keyed_sample *keyed, size_t count)
{
    SORT_ARRAY(keyed, count, by_rank);
    for (size_t i = 1; i < count; i++) {
        const struct measure_sample *before = keyed[i - 1].sample, *here = keyed[i].sample;
        if (here->rank == before->rank)
            keyed[i].run = keyed[i - 1].run + !is_same_run(before, here);
    }
}

/* The steps after which COUNT times from VALUES repeat; 1: one is missing, or nothing repeats. */
static size_t repeats_after(const double *values, size_t count)
{
    SCOPED int64_t *ns = mem_alloc(mem_times(count + 1, sizeof *ns));
    bool complete = true;
    for (size_t i = 0; i < count; i++) {
        complete &= isfinite(values[i]) && fabs(values[i]) < 0x1p62;
        ns[i] = complete ? llround(values[i]) : 0;
    }
    return complete ? step_pattern_period(ns, count) : 1;
}

/* Find the pattern of the steps by their times, where the account of the trace did not. */
static void find_periods(struct measure_runs *runs, const struct sampling *sampling)
{
    const struct measure_metric *metric = sampling_metric(sampling, "step_time");
    SCOPED double *values = metric ? measure_runs_metric(runs, metric) : NULL;
    for (size_t i = 0; i < sampling->samples.count; i++) {
        size_t run = 0, period = sampling->samples.at[i].period;
        SEARCH(run, runs->count, runs->first[run + 1] <= runs->step[i]);
        runs->period[run] = period > runs->period[run] ? period : runs->period[run];
    }
    for (size_t run = 0; run < runs->count; run++) {
        size_t first = runs->first[run], count = runs->first[run + 1] - first;
        bool of_account = runs->period[run] > 0;
        if (!of_account)
            runs->period[run] = values ? repeats_after(values + first, count) : 1;
        /* an account has whole periods; ranks with others have no common one */
        if (runs->period[run] > count || (of_account && count % runs->period[run] != 0))
            runs->period[run] = 1;
    }
}

/* Mark the steps of whole periods. */
static void find_used(struct measure_runs *runs)
{
    for (size_t run = 0; run < runs->count; run++) {
        size_t first = runs->first[run], count = runs->first[run + 1] - first;
        for (size_t i = 0; i < count; i++) {
            bool used = i < count / runs->period[run] * runs->period[run];
            runs->used[first + i] = used;
            runs->used_samples += used ? runs->members[first + i] : 0;
        }
    }
}

struct measure_runs *measure_runs_open(const struct sampling *sampling)
{
    size_t count = sampling->samples.count;
    struct measure_runs *runs = arena_open(sizeof *runs);
    struct keyed_sample *keyed = mem_zalloc(count + 1, sizeof *keyed);
    for (size_t i = 0; i < count; i++)
        keyed[i] = (struct keyed_sample){ &sampling->samples.at[i], (uint32_t)i, 0 };
    if (!sampling->of_ranks)
        find_runs(keyed, count);
    SORT_ARRAY(keyed, count, by_step);
    runs->first = arena_zalloc(arena_of(runs), count + 2, sizeof *runs->first);
    runs->period = arena_zalloc(arena_of(runs), count + 1, sizeof *runs->period);
    runs->step = arena_zalloc(arena_of(runs), count + 1, sizeof *runs->step);
    runs->members = arena_zalloc(arena_of(runs), count + 1, sizeof *runs->members);
    runs->used = arena_zalloc(arena_of(runs), count + 1, sizeof *runs->used);
    for (size_t i = 0; i < count; i++) {
        bool new_run = i == 0 || keyed[i].run != keyed[i - 1].run;
        bool joined = !new_run && !sampling->of_ranks && keyed[i].sample->step == keyed[i - 1].sample->step &&
                      keyed[i].sample->rank != keyed[i - 1].sample->rank;
        if (new_run)
            runs->first[runs->count++] = runs->step_count;
        runs->step_count += !joined;
        runs->step[keyed[i].index] = (uint32_t)runs->step_count - 1;
        runs->members[runs->step_count - 1]++;
    }
    runs->first[runs->count] = runs->step_count;
    free(keyed);
    find_periods(runs, sampling);
    find_used(runs);
    return runs;
}

double *measure_runs_metric(const struct measure_runs *runs, const struct measure_metric *metric)
{
    double *sums = mem_zalloc(runs->step_count + 1, sizeof *sums);
    SCOPED uint32_t *known = mem_zalloc(runs->step_count + 1, sizeof *known);
    for (size_t i = 0; i < metric->values.count; i++)
        if (isfinite(metric->values.at[i])) {
            sums[runs->step[i]] += metric->values.at[i];
            known[runs->step[i]]++;
        }
    for (size_t i = 0; i < runs->step_count; i++)
        sums[i] = known[i] > 0 ? sums[i] / known[i] : NAN;
    return sums;
}

size_t measure_runs_levels(const struct measure_runs *runs, const struct run_step *listed,
                           size_t listed_count, const bool *missing, struct run_level *levels)
{
    SCOPED struct run_step *own = mem_alloc(mem_times(listed_count + 1, sizeof *own));
    size_t filled = 0;
    for (size_t run = 0, at = 0; run < runs->count; run++) {
        size_t first = runs->first[run], end = runs->first[run + 1], own_count = 0, left_out = 0;
        if (missing) { /* places close up over missing steps */
            for (size_t step = first; step < end; step++) {
                if (at < listed_count && listed[at].place == step)
                    own[own_count++] = (struct run_step){ step - first - left_out, listed[at++].value };
                left_out += missing[step];
            }
        } else {
            for (; at < listed_count && listed[at].place < end; at++)
                own[own_count++] = (struct run_step){ listed[at].place - first, listed[at].value };
        }
        size_t count = end - first - left_out;
        size_t period = left_out ? 1 : runs->period[run];
        if (count > 0)
            levels[filled++] = run_level_of(own, own_count, count, period);
    }
    return filled;
}
