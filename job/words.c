/* words.c - the verdict on a job as sentences: see job.h. */
#include "job/job.h"
#include <inttypes.h>
#include <math.h>

/* The median computations of the slow stage over those that all stages would have if they were equal. */
static double against_mean(const struct job *job)
{
    const struct operations *all = job->all;
    double own_ns = 0, equal_ns = 0;
    for (size_t i = 0; i < all->count; i++)
        if (operation_computes(&all->at[i]) && all->ranks.at[all->at[i].rank].at[JOB_PP] == job->culprit) {
            own_ns += job->median_ns[i];
            equal_ns += job->structural_ns[i];
        }
    return job_over(own_ns, equal_ns);
}

/* The mean computation of the slow rank over that of the other ranks of its stage, by type; NaN if it is alone. */
static double against_others(const struct job *job)
{
    const struct operations *all = job->all;
    double own_ns = 0, usual_ns = 0;
    int64_t stage = JOB_UNKNOWN;
    for (size_t r = 0; r < all->ranks.count; r++)
        if (all->ranks.at[r].number == job->culprit)
            stage = all->ranks.at[r].at[JOB_PP];
    for (uint32_t type = FORWARD_COMPUTE; type <= WEIGHT_COMPUTE; type++) {
        double sum_ns[2] = { 0 }, count[2] = { 0 }; /* of others, of its own */
        for (size_t i = 0; i < all->count; i++) {
            const struct job_rank *rank = &all->ranks.at[all->at[i].rank];
            if (all->at[i].type != type || rank->at[JOB_PP] != stage)
                continue;
            sum_ns[rank->number == job->culprit] += job->graph->real_ns[i];
            count[rank->number == job->culprit]++;
        }
        if (count[0] > 0 && count[1] > 0) {
            own_ns += sum_ns[1];
            usual_ns += sum_ns[0] / count[0] * count[1];
        }
    }
    return job_over(own_ns, usual_ns);
}

static void write_cause(const struct job *job, struct buffer *out)
{
    switch (job->cause) {
    case JOB_CAUSE_STAGE:
        buffer_printf(out,
                      "Stage %" PRId64
                      " holds the job up: its computations take %.0f %% longer than those of the mean stage",
                      job->culprit, 100 * (against_mean(job) - 1));
        break;
    case JOB_CAUSE_WORKER:
        if (job->slow_together) {
            buffer_printf(out,
                          "The pipeline of rank %" PRId64
                          " holds the job up: all of its ranks take longer in some steps, as "
                          "where most sequences are long",
                          job->culprit);
            break;
        }
        buffer_printf(out, "Rank %" PRId64 " holds the job up: its computations take ", job->culprit);
        if (isnan(against_others(job)))
            buffer_puts(out, "longer in some steps");
        else
            buffer_printf(out, "%.0f %% longer than those of other ranks of its stage",
                          100 * (against_others(job) - 1));
        break;
    case JOB_CAUSE_SEQUENCE:
        buffer_printf(out, "Long sequences hold the job up: microbatches that are slow are so on all stages");
        if (!isnan(job->whole.correlation))
            buffer_printf(out, ", forward and backward (correlation %.2f)", job->whole.correlation);
        break;
    case JOB_CAUSE_COMMUNICATION:
        buffer_printf(
            out, "Communication holds the job up: some transfers take much longer than most of their kind");
        break;
    case JOB_CAUSE_GC:
        buffer_printf(out, "Garbage collection by Python holds the job up, most on rank %" PRId64,
                      job->culprit);
        break;
    case JOB_CAUSE_DELAY:
        buffer_printf(out, "Delays between operations hold the job up: hosts issue them late");
        break;
    case JOB_CAUSE_NONE: break;
    }
}

static void write_gain(const struct job *job, struct buffer *out)
{
    static const char *const without[JOB_CAUSES + 1] = {
        [JOB_CAUSE_STAGE] = "with equal stages",
        [JOB_CAUSE_WORKER] = "if all ranks of a stage were as fast",
        [JOB_CAUSE_SEQUENCE] = "with microbatches of equal work",
        [JOB_CAUSE_COMMUNICATION] = "with usual transfers",
        [JOB_CAUSE_DELAY] = "without them",
        [JOB_CAUSE_GC] = "without it, or with it between steps",
        [JOB_CAUSE_NONE] = "as it is",
    };
    double gain_ns = job->causes.at[0].time_ns;
    buffer_printf(
        out,
        ". That is %.0f %% of what the job loses: %s, a step takes at most %s less, %.1f %% of its span.",
        100 * job->causes.at[0].share, without[job->cause], TIME_TEXT(gain_ns),
        quantity_percent(job_over(gain_ns, job->whole.step_ns)));
}

/* The end of the first sentence: what it rests on, where that is not all. */
static void write_lacks(const struct job *job, struct buffer *out)
{
    if (job->all->incomplete == 1)
        buffer_printf(out, ", as far as the recordings tell: that of rank %" PRId64 " is not complete",
                      job->all->incomplete_rank);
    else if (job->all->incomplete)
        buffer_printf(out, ", as far as the recordings tell: those of %" PRId64 " ranks are not complete",
                      job->all->incomplete);
}

const char *job_write_verdict(const struct job *job, struct arena *texts)
{
    SCOPED struct buffer out = { 0 };
    if (job->lacks_ranks)
        buffer_printf(
            &out, "What holds the job up is not known: stages are missing, and waiting for them looks like a "
                  "long transfer.");
    else if (job->cause == JOB_CAUSE_NONE) {
        buffer_printf(&out, "Nothing holds the job up: all stages, ranks and microbatches are about equal");
        write_lacks(job, &out);
        buffer_putc(&out, '.');
    } else {
        write_cause(job, &out);
        write_lacks(job, &out);
        write_gain(job, &out);
    }
    if (!isnan(job->whole.bubble_share) && job->bubbles.count)
        buffer_printf(&out, " Bubbles are %.1f %% of the pipelines' time, %.1f %% by the schedule alone.",
                      quantity_percent(job->whole.bubble_share),
                      quantity_percent(job->bubbles.at[BUBBLE_STRUCTURAL].share));
    return arena_strndup(texts, out.at, out.count);
}
