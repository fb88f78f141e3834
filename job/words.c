/* words.c - the verdict on a job as sentences: see job.h. */
#include "base/buffer.h"
#include "base/quantity.h"
#include "job/job.h"
#include <inttypes.h>
#include <math.h>

/* The median computations of a stage, or of a rank, relative to what they would be if all stages were equal. */
static double relative_length(const struct job *job, bool by_stage, const double *length_ns,
                              const double *to_ns)
{
    const struct operations *all = job->all;
    double own_ns = 0, equal_ns = 0;
    for (size_t i = 0; i < all->count; i++) {
        const struct job_rank *rank = &all->ranks.at[all->at[i].rank];
        if (operation_computes(&all->at[i]) && (by_stage ? rank->at[JOB_PP] : rank->number) == job->culprit) {
            own_ns += length_ns[i];
            equal_ns += to_ns[i];
        }
    }
    return job_over(own_ns, equal_ns);
}

static void write_cause(const struct job *job, struct buffer *out)
{
    switch (job->cause) {
    case CAUSE_STAGE:
        buffer_printf(out, "Stage %" PRId64 " holds the job up: its computations take %.2f of the mean stage",
                      job->culprit, relative_length(job, true, job->median_ns, job->structural_ns));
        break;
    case CAUSE_WORKER:
        buffer_printf(out,
                      "Rank %" PRId64 " holds the job up: its computations take %.2f of those of its stage",
                      job->culprit, relative_length(job, false, job->graph->real_ns, job->median_ns));
        break;
    case CAUSE_SEQUENCE:
        buffer_printf(out, "Long sequences hold the job up: microbatches that are slow are so on all stages");
        if (!isnan(job->whole.correlation))
            buffer_printf(out, ", forward and backward (correlation %.2f)", job->whole.correlation);
        break;
    case CAUSE_COMMUNICATION:
        buffer_printf(
            out, "Communication holds the job up: some transfers take much longer than most of their kind");
        break;
    case CAUSE_GC:
        buffer_printf(out, "Garbage collection by Python holds the job up, most on rank %" PRId64,
                      job->culprit);
        break;
    case CAUSE_DELAY:
        buffer_printf(out, "Delays between operations hold the job up: hosts issue them late");
        break;
    case CAUSE_NONE: break;
    }
}

static void write_gain(const struct job *job, struct buffer *out)
{
    static const char *const without[JOB_CAUSES + 1] = {
        [CAUSE_STAGE] = "with equal stages",
        [CAUSE_WORKER] = "if all ranks of a stage were as fast",
        [CAUSE_SEQUENCE] = "with microbatches of equal work",
        [CAUSE_COMMUNICATION] = "with usual transfers",
        [CAUSE_DELAY] = "without them",
        [CAUSE_GC] = "without it, or with it between steps",
        [CAUSE_NONE] = "as it is",
    };
    double gain_ns = job->causes.at[0].time_ns;
    buffer_printf(out, ". That is %.0f %% of what the job loses: %s, a step takes at most ",
                  100 * job->causes.at[0].share, without[job->cause]);
    quantity_append_rounded_time(out, gain_ns);
    buffer_printf(out, " less, %.1f %% of it.", quantity_percent(job_over(gain_ns, job->whole.step_ns)));
}

const char *job_write_verdict(const struct job *job, struct arena *texts)
{
    struct buffer out = { 0 };
    if (job->lacks_ranks)
        buffer_printf(
            &out, "What holds the job up is not known: stages are missing, and waiting for them looks like a "
                  "long transfer.");
    else if (job->cause == CAUSE_NONE)
        buffer_printf(&out, "Nothing holds the job up: all stages, ranks and microbatches are about equal.");
    else {
        write_cause(job, &out);
        write_gain(job, &out);
    }
    if (!isnan(job->whole.bubble_share) && job->bubbles.count)
        buffer_printf(&out, " Bubbles are %.1f %% of the pipelines' time, %.1f %% by the schedule alone.",
                      quantity_percent(job->whole.bubble_share),
                      quantity_percent(job->bubbles.at[BUBBLE_STRUCTURAL].share));
    const char *text = arena_strndup(texts, out.at, out.count);
    buffer_release(&out);
    return text;
}
