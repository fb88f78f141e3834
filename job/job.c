/* job.c - see job.h. */
#include "job/job.h"

#include <math.h>

static int64_t size_or_missing(const struct operations *all, unsigned dimension)
{
    return all->size[dimension] ? all->size[dimension] : TABLE_INT_MISSING;
}

static bool has_computations(const struct operations *all)
{
    return ANY(i, all->count, operation_computes(&all->at[i]));
}

/* Do messages go to ranks of the job that are not here? */
static bool lacks_ranks(const struct job *job)
{
    if (job->all->world_size <= (int64_t)job->all->ranks.count || job->all->form == JOB_TIMELINE)
        return false;
    FOR_EACH(gang, &job->graph->gangs)
        if (gang->count == 1 && operation_is_message(&job->all->at[job->graph->member[gang->first]]))
            return true;
    return false;
}

struct job *job_open(struct facts *facts, const struct fleet_files *files, const struct ranges *steps,
                     struct tpa_error *err)
{
    struct operations *all = operations_open(facts, files, steps, err);
    if (!all)
        return NULL;
    struct job *job = arena_open(sizeof *job);
    ARENA_OWNS(arena_of(job), &job->ranks, &job->steps, &job->stages, &job->replicas, &job->types,
               &job->bubbles, &job->causes, &job->heat, &job->heat_map, &job->lines, &job->dimensions);
    ARENA_OWNS(arena_of(job), &job->ideal_ns, &job->median_ns, &job->structural_ns, &job->step_ns,
               &job->simulated_ns, &job->ideal_step_ns, &job->phase_ns);
    job->all = arena_hold(arena_of(job), all);
    job->whole = (struct job_row){ .ranks = (int64_t)all->ranks.count,
                                   .steps = (int64_t)all->steps.count,
                                   .dp = size_or_missing(all, JOB_DP),
                                   .pp = size_or_missing(all, JOB_PP),
                                   .tp = size_or_missing(all, JOB_TP),
                                   .cp = size_or_missing(all, JOB_CP),
                                   .ep = size_or_missing(all, JOB_EP),
                                   .microbatches = TABLE_INT_MISSING,
                                   .chunks = TABLE_INT_MISSING,
                                   .step_ns = NAN,
                                   .simulated_ns = NAN,
                                   .ideal_ns = NAN,
                                   .slowdown = NAN,
                                   .delay_slowdown = NAN,
                                   .bubble_share = NAN,
                                   .slowest_share = NAN,
                                   .last_stage_share = NAN,
                                   .correlation = NAN };
    job->cause = JOB_CAUSE_NONE;
    job->culprit = TABLE_INT_MISSING;
    job->has_pipeline = has_computations(all);
    job->graph = arena_hold(arena_of(job), graph_open(all));
    job->lacks_ranks = lacks_ranks(job);
    job->none_wanted = steps->count && !all->steps.count;
    job_find_lengths(job);
    job_find_slowdowns(job);
    if (job->has_pipeline) {
        job_find_bubbles(job);
        job_find_causes(job);
        job_draw_heat(job);
    }
    job_find_dimensions(job);
    return job;
}

struct job *job_of_trace(const struct trace *trace, const struct ranges *steps)
{
    SCOPED_OBJECT struct facts *facts = facts_open();
    struct tpa_error none = { 0 };
    facts_gather(facts, trace,
                 &(struct gather_options){ .operations = &job_gather, .only_operations = true });
    facts_finish(facts);
    return job_open(facts, NULL, steps, &none);
}
