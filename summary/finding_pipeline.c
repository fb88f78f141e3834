/* finding_pipeline.c - what holds the pipeline of a job up: see finding_pipeline.h. */
#include "summary/finding_pipeline.h"

#include "job/job.h"
#include <inttypes.h>
#include <string.h>

static const char rule_name[] = "pipeline";

/* "%s" is the stage or rank. */
static const struct {
    const char *title, *action, *advice;
} words[JOB_CAUSES] = {
    [JOB_CAUSE_STAGE] = { "a stage of the pipeline computes longer than the others", "Even out the stages",
                          "move layers from it to the other stages, or give it more ranks" },
    [JOB_CAUSE_WORKER] = { "a rank computes longer than the others of its stage",
                           "Find out why a rank is slow",
                           "compare clock, temperature and neighbours of its host and device with those of the other ranks" },
    [JOB_CAUSE_SEQUENCE] = { "microbatches with long sequences hold the others up",
                             "Even out the microbatches",
                             "pack sequences so that all microbatches cost about the same" },
    [JOB_CAUSE_COMMUNICATION] = { "some messages take much longer than most of their kind",
                                  "Find out which link is slow",
                                  "tpa comm names the ranks whose messages are slow" },
    [JOB_CAUSE_DELAY] = { "hosts issue operations late, and other stages wait", "Issue operations earlier",
                          "tpa top on the slow rank shows what the host does between operations" },
    [JOB_CAUSE_GC] = { "garbage collection stops a rank, and the others wait",
                       "Collect garbage between steps",
                       "gc.disable() before the loop, and gc.collect() on all ranks in the same step" },
};

/* What a rank computes in a step, in ns, mean of all ranks, where the change does not shorten that; else 0. */
static double computing_left(const struct job *job)
{
    double sum_ns = 0;
    if (job->cause != JOB_CAUSE_DELAY && job->cause != JOB_CAUSE_COMMUNICATION && job->cause != JOB_CAUSE_GC)
        return 0;
    for (size_t i = 0; i < job->ranks.count; i++)
        sum_ns += job->ranks.at[i].parts.compute_ns;
    return job->ranks.count && job->whole.steps ? sum_ns / (double)job->ranks.count / (double)job->whole.steps
                                                : 0;
}

void pipeline_find(struct summary *summary)
{
    summary->job = job_of_trace(summary->trace, &(struct ranges){ 0 });
    const struct job *job = summary->job;
    if (!job || !job->has_pipeline || job->lacks_ranks || job->cause == JOB_CAUSE_NONE || !job->causes.count)
        return;
    double gain_ns = job->causes.at[0].time_ns;
    if (gain_ns >= FINDINGS_LEAST_SHARE * job->whole.step_ns)
        summary->pipeline_ns = gain_ns;
}

void pipeline_add_finding(const struct summary *summary, struct findings *findings)
{
    if (!findings->priced || !(summary->pipeline_ns > 0))
        return;
    const struct job *job = summary->job;
    size_t kept = 0;
    for (size_t i = 0; i < findings->count; i++) /* the waits for pauses are in the price of the job */
        if (job->cause != JOB_CAUSE_GC || !findings->at[i].code.at || !strstr(findings->at[i].code.at, "gc."))
            findings->at[kept++] = findings->at[i];
    findings->count = kept;
    if (!findings->has_steps && findings->count == 0) { /* its timeline has steps, which nothing else knows */
        findings->has_steps = true;
        findings->step_ns = findings->together_ns = (int64_t)job->whole.step_ns;
    }
    /* Spans of steps that overlap may lose more than a step takes. */
    double most_ns = (double)findings->step_ns - computing_left(job);
    int64_t saves_ns = (int64_t)(summary->pipeline_ns < most_ns ? summary->pipeline_ns : most_ns);
    if (saves_ns <= 0)
        return;
    const char *where = job->whole.where.at ? arena_printf(arena_of(findings), "%.*s",
                                                           (int)job->whole.where.len, job->whole.where.at)
                                            : NULL;
    struct priced_finding finding = {
        .rule = as_text(rule_name),
        .section = "pipeline",
        .title = as_text(words[job->cause].title),
        .action = as_text(words[job->cause].action),
        .saves_ns = saves_ns,
        .then_ns = findings->step_ns - saves_ns,
        .saves_share = (double)saves_ns / (double)findings->step_ns,
        .saves_low_ns = TABLE_INT_MISSING,
        .saves_high_ns = TABLE_INT_MISSING,
        .time_ns = TABLE_INT_MISSING,
        .count = (int64_t)job->all->count, /* operations of microbatches, and messages */
        .where = as_text(where),
        .advice = as_text(words[job->cause].advice),
        .code = as_text(job->cause == JOB_CAUSE_GC ? "gc.disable()" : NULL),
        .check = as_text("tpa job"),
    };
    size_t at = 0;
    while (at < findings->count && findings->at[at].saves_ns >= saves_ns)
        at++;
    VEC_PUSH(findings);
    memmove(findings->at + at + 1, findings->at + at, (findings->count - 1 - at) * sizeof *findings->at);
    findings->at[at] = finding;
    if (finding.then_ns < findings->together_ns) {
        findings->together_ns = finding.then_ns;
        findings->bound = (struct step_bound){ 0 }; /* is of other changes */
    }
}

const char *pipeline_schedule(const struct summary *summary, struct arena *texts)
{
    const struct job *job = summary->job;
    const double least = 0.05;
    if (!job || !job->has_pipeline || job->lacks_ranks || job->cause != JOB_CAUSE_NONE || !job->bubbles.count)
        return NULL;
    double scheduled = job->bubbles.at[BUBBLE_STRUCTURAL].share;
    return scheduled >= least && scheduled >= job->whole.bubble_share / 2
               ? arena_printf(
                     texts,
                     " Stages wait by the schedule of the pipeline, whose bubbles are %.1f %% of its time: more "
                     "microbatches shorten them.",
                     quantity_percent(scheduled))
               : NULL;
}

bool pipeline_rank(const struct summary *summary, int64_t *rank)
{
    const struct job *job = summary->job;
    if (!job || job->culprit == TABLE_INT_MISSING)
        return false;
    *rank = job->culprit;
    if (job->cause != JOB_CAUSE_STAGE)
        return true;
    size_t i = 0;
    while (i < job->ranks.count && job->ranks.at[i].pp != job->culprit)
        i++;
    if (i == job->ranks.count)
        return false;
    *rank = job->ranks.at[i].rank;
    return true;
}

const char *pipeline_verdict(const struct summary *summary, const struct findings *findings,
                             struct arena *texts)
{
    if (!findings->count || strcmp(findings->at[0].rule.at, rule_name) != 0)
        return NULL;
    const char *verdict = job_write_verdict(summary->job, texts), *end = strstr(verdict, ". ");
    return end ? arena_printf(texts, "%.*s.", (int)(end - verdict), verdict) : verdict;
}
