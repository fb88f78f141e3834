/*
 * slowdowns.c - the what-if of a job: see job.h.
 *
 * As published ("Understanding Stragglers in Large Model Training Using What-if Analysis", OSDI'25): the step is replayed with the real
 * lengths of some operations and ideal ones of all others, and compared with the replay_trial in which all are ideal.
 */
#include "base/rows.h"
#include "base/sum.h"
#include "job/job.h"
#include <assert.h>
#include <math.h>

enum { MOST_EXACT_RANKS = 256, SLOWEST_PERCENT = 3 };

struct trial {
    struct job *job;
    double *length_ns; /* by operation */
    double *step_ns;   /* by step: the result */
};

static double replay_trial(struct trial *trial)
{
    graph_replay(trial->job->graph, trial->length_ns, trial->step_ns, NULL);
    return job_mean(trial->step_ns, trial->job->all->steps.count);
}

/* What can be real, or ideal, alone. */
enum choice { BY_RANK, BY_STAGE, BY_REPLICA, BY_TYPE };

/* Both messages of a direction are one type. */
static uint32_t merged_type(uint32_t type)
{
    return type == FORWARD_RECV ? FORWARD_SEND : type == BACKWARD_RECV ? BACKWARD_SEND : type;
}

static int64_t value_of(const struct operations *all, const struct operation *op, enum choice choice)
{
    const struct job_rank *rank = &all->ranks.at[op->rank];
    switch (choice) {
    case BY_RANK: return op->rank;
    case BY_STAGE: return rank->at[JOB_PP];
    case BY_REPLICA: return rank->at[JOB_DP] == JOB_UNKNOWN ? 0 : rank->at[JOB_DP];
    case BY_TYPE: break;
    }
    return merged_type(op->type);
}

/* The mean step if only operations whose CHOICE is VALUE have their real lengths. */
static double replay_only(struct trial *trial, enum choice choice, int64_t value)
{
    const struct job *job = trial->job;
    for (size_t i = 0; i < job->all->count; i++)
        trial->length_ns[i] =
            value_of(job->all, &job->all->at[i], choice) == value ? job->graph->real_ns[i] : job->ideal_ns[i];
    return replay_trial(trial);
}

/* ---- tables ---- */

struct values {
    VEC_OF(int64_t);
};

static void list_values(const struct job *job, enum choice choice, struct values *values)
{
    FOR_EACH(rank, &job->all->ranks) {
        int64_t value = choice == BY_STAGE                ? rank->at[JOB_PP]
                        : rank->at[JOB_DP] == JOB_UNKNOWN ? 0
                                                          : rank->at[JOB_DP];
        if (value != JOB_UNKNOWN)
            *VEC_PUSH(values) = value;
    }
    SORT(values, rows_ascending_i64);
    values->count = rows_unique(values->at, values->count, sizeof *values->at, rows_ascending_i64);
}

/* By step and stage, by step and replica: the time of the step if only that is real. */
struct groups {
    struct values stages, replicas;
    double *by_stage, *by_replica;
};

static void find_groups(struct trial *trial, struct groups *groups)
{
    struct job *job = trial->job;
    size_t steps = job->all->steps.count;
    list_values(job, BY_STAGE, &groups->stages);
    list_values(job, BY_REPLICA, &groups->replicas);
    groups->by_stage = mem_alloc(mem_times(groups->stages.count * steps + 1, sizeof(double)));
    groups->by_replica = mem_alloc(mem_times(groups->replicas.count * steps + 1, sizeof(double)));
    for (size_t i = 0; i < groups->stages.count; i++) {
        assert(groups->stages.at);
        double mean_ns = replay_only(trial, BY_STAGE, groups->stages.at[i]);
        memcpy(groups->by_stage + i * steps, trial->step_ns, steps * sizeof(double));
        *VEC_PUSH(&job->stages) =
            (struct job_stage_row){ .pp = groups->stages.at[i],
                                    .slowdown = job_over(mean_ns, job->whole.ideal_ns) };
    }
    for (size_t i = 0; i < groups->replicas.count; i++) {
        assert(groups->replicas.at);
        double mean_ns = replay_only(trial, BY_REPLICA, groups->replicas.at[i]);
        memcpy(groups->by_replica + i * steps, trial->step_ns, steps * sizeof(double));
        *VEC_PUSH(&job->replicas) =
            (struct job_replica_row){ groups->replicas.at[i], job_over(mean_ns, job->whole.ideal_ns) };
    }
}

static size_t place_of(const struct values *values, int64_t value)
{
    const int64_t *found =
        rows_find(values->at, values->count, sizeof *values->at, rows_ascending_i64, &value);
    return found ? (size_t)(found - values->at) : SIZE_MAX;
}

static double least(double a, double b)
{
    return isnan(a) || b < a ? b : a;
}

/* The smaller slowdown of the stage and the replica of RANK: of all steps if STEP is SIZE_MAX. */
static double estimate(const struct job *job, const struct groups *groups, size_t rank, size_t step)
{
    const struct job_rank *of = &job->all->ranks.at[rank];
    size_t steps = job->all->steps.count;
    size_t stage = place_of(&groups->stages, of->at[JOB_PP]);
    size_t replica = place_of(&groups->replicas, of->at[JOB_DP] == JOB_UNKNOWN ? 0 : of->at[JOB_DP]);
    double slowdown = NAN;
    assert(step == SIZE_MAX || (groups->by_stage && groups->by_replica));
    if (stage != SIZE_MAX)
        slowdown = step == SIZE_MAX
                       ? job->stages.at[stage].slowdown
                       : job_over(groups->by_stage[stage * steps + step], job->ideal_step_ns[step]);
    return least(slowdown, step == SIZE_MAX ? job->replicas.at[replica].slowdown
                                            : job_over(groups->by_replica[replica * steps + step],
                                                       job->ideal_step_ns[step]));
}

static int64_t coordinate(const struct job_rank *rank, unsigned dimension)
{
    return rank->at[dimension] == JOB_UNKNOWN ? TABLE_INT_MISSING : rank->at[dimension];
}

static void add_ranks(struct trial *trial, const struct groups *groups)
{
    struct job *job = trial->job;
    size_t ranks = job->all->ranks.count;
    for (size_t r = 0; r < ranks; r++) {
        const struct job_rank *rank = &job->all->ranks.at[r];
        struct job_rank_row row = { .rank = rank->number,
                                    .dp = coordinate(rank, JOB_DP),
                                    .pp = coordinate(rank, JOB_PP),
                                    .tp = coordinate(rank, JOB_TP),
                                    .cp = coordinate(rank, JOB_CP),
                                    .ep = coordinate(rank, JOB_EP),
                                    .slowdown = NAN,
                                    .estimate = NAN };
        if (!job->has_pipeline) {
            row.parts = (struct job_parts){ NAN, NAN, NAN, NAN, NAN };
            row.gc_ns = NAN;
        } else {
            row.estimate = estimate(job, groups, r, SIZE_MAX);
            if (ranks <= MOST_EXACT_RANKS)
                row.slowdown = job_over(replay_only(trial, BY_RANK, (int64_t)r), job->whole.ideal_ns);
        }
        *VEC_PUSH(&job->ranks) = row;
    }
    for (size_t s = 0; s < job->all->steps.count && job->has_pipeline; s++)
        for (size_t r = 0; r < ranks; r++)
            *VEC_PUSH(&job->heat) =
                (struct job_heat_row){ job->all->steps.at[s], job->all->ranks.at[r].number,
                                       estimate(job, groups, r, s) };
}

static const char *merged_name(const struct operations *all, uint32_t type)
{
    return type == FORWARD_SEND    ? "forward-pp-comm"
           : type == BACKWARD_SEND ? "backward-pp-comm"
                                   : operation_type_name(all, type);
}

static const struct key types_by_name[] = { ASC(struct job_type_row, type.at), KEY_END };

static void add_types(struct trial *trial)
{
    struct job *job = trial->job;
    uint32_t types = OPERATION_OTHER + (uint32_t)names_count(job->all->types);
    SCOPED int64_t *count = mem_zalloc(types, sizeof *count);
    for (size_t i = 0; i < job->all->count; i++)
        count[merged_type(job->all->at[i].type)]++;
    for (uint32_t type = 0; type < types; type++)
        if (count[type])
            *VEC_PUSH(&job->types) =
                (struct job_type_row){ as_text(merged_name(job->all, type)), count[type],
                                       job_over(replay_only(trial, BY_TYPE, type), job->whole.ideal_ns) };
    SORT(&job->types, types_by_name);
}

/* ---- who makes the job slow ---- */

/* The part of the slowdown that is gone if the ranks with IDEAL have ideal lengths. */
static double share_without(struct trial *trial, const bool *ideal)
{
    const struct job *job = trial->job;
    for (size_t i = 0; i < job->all->count; i++)
        trial->length_ns[i] = ideal[job->all->at[i].rank] ? job->ideal_ns[i] : job->graph->real_ns[i];
    double without_ns = replay_trial(trial), lost_ns = job->whole.simulated_ns - job->whole.ideal_ns;
    return fabs(lost_ns) > 1e-6 ? (job->whole.simulated_ns - without_ns) / lost_ns : NAN;
}

struct slow_rank {
    double estimate;
    uint32_t rank;
};

static const struct key by_estimate[] = { DESC(struct slow_rank, estimate), ASC(struct slow_rank, rank),
                                          KEY_END };

static void find_shares(struct trial *trial)
{
    struct job *job = trial->job;
    size_t ranks = job->ranks.count, slowest = (ranks * SLOWEST_PERCENT + 99) / 100;
    SCOPED bool *ideal = mem_zalloc(ranks + 1, sizeof *ideal);
    SCOPED VEC_OF(struct slow_rank) order = { 0 };
    for (uint32_t r = 0; r < ranks; r++)
        *VEC_PUSH(&order) = (struct slow_rank){ job->ranks.at[r].estimate, r };
    SORT(&order, by_estimate);
    for (size_t i = 0; i < slowest; i++)
        ideal[order.at[i].rank] = true;
    job->whole.slowest_share = share_without(trial, ideal);
    int64_t last = job->stages.count ? job->stages.at[job->stages.count - 1].pp : TABLE_INT_MISSING;
    for (size_t r = 0; r < ranks; r++)
        ideal[r] = last != TABLE_INT_MISSING && job->ranks.at[r].pp == last;
    job->whole.last_stage_share = job->stages.count ? share_without(trial, ideal) : NAN;
}

/* ---- steps ---- */

/* New, by operation: when it counts from. On devices a message that was launched ahead waits there, perhaps since the step before: it counts from
 * when both ends are there. */
static int64_t *find_begins(const struct job *job)
{
    const struct operations *all = job->all;
    const struct job_graph *graph = job->graph;
    int64_t *begins_ns = mem_alloc(mem_times(all->count + 1, sizeof *begins_ns));
    for (size_t i = 0; i < all->count; i++)
        begins_ns[i] = all->at[i].start_ns;
    for (size_t g = 0; g < graph->gangs.count && all->form == JOB_OF_DEVICES; g++) {
        const uint32_t *member = graph->member + graph->gangs.at[g].first;
        int64_t latest_ns = INT64_MIN;
        for (uint32_t m = 0; m < graph->gangs.at[g].count; m++)
            latest_ns = greater_of(latest_ns, all->at[member[m]].start_ns);
        for (uint32_t m = 0; m < graph->gangs.at[g].count; m++)
            if (operation_is_message(&all->at[member[m]]))
                begins_ns[member[m]] = latest_ns;
    }
    return begins_ns;
}

static void find_steps(struct job *job)
{
    const struct operations *all = job->all;
    SCOPED int64_t *begins_ns = find_begins(job);
    size_t steps = all->steps.count;
    SCOPED int64_t *start_ns = mem_alloc(mem_times(steps + 1, sizeof *start_ns));
    SCOPED int64_t *end_ns = mem_alloc(mem_times(steps + 1, sizeof *end_ns));
    for (size_t s = 0; s < steps; s++) {
        start_ns[s] = INT64_MAX;
        end_ns[s] = INT64_MIN;
    }
    for (size_t i = 0; i < all->count; i++) {
        const struct operation *op = &all->at[i];
        if (begins_ns[i] < start_ns[op->step])
            start_ns[op->step] = begins_ns[i];
        if (op->end_ns > end_ns[op->step])
            end_ns[op->step] = op->end_ns;
    }
    graph_replay(job->graph, job->graph->real_ns, job->simulated_ns, NULL);
    graph_replay(job->graph, job->ideal_ns, job->ideal_step_ns, NULL);
    for (size_t s = 0; s < steps; s++) {
        job->step_ns[s] = (double)(end_ns[s] - start_ns[s]);
        *VEC_PUSH(&job->steps) =
            (struct job_step_row){ .step = all->steps.at[s],
                                   .time_ns = job->step_ns[s],
                                   .simulated_ns = job->simulated_ns[s],
                                   .ideal_ns = job->ideal_step_ns[s],
                                   .slowdown = job_over(job->simulated_ns[s], job->ideal_step_ns[s]),
                                   .bubble_share = NAN };
    }
    job->whole.step_ns = job_mean(job->step_ns, steps);
    job->whole.simulated_ns = job_mean(job->simulated_ns, steps);
    job->whole.ideal_ns = job_mean(job->ideal_step_ns, steps);
    job->whole.slowdown = job_over(job->whole.simulated_ns, job->whole.ideal_ns);
    job->whole.delay_slowdown = job_over(job->whole.step_ns, job->whole.simulated_ns);
}

void job_find_slowdowns(struct job *job)
{
    size_t steps = job->all->steps.count + 1;
    struct groups groups = { 0 };
    struct trial trial = { .job = job };
    trial.length_ns = mem_alloc(mem_times(job->all->count + 1, sizeof *trial.length_ns));
    trial.step_ns = mem_alloc(mem_times(steps, sizeof *trial.step_ns));
    job->step_ns = mem_zalloc(steps, sizeof *job->step_ns);
    job->simulated_ns = mem_zalloc(steps, sizeof *job->simulated_ns);
    job->ideal_step_ns = mem_zalloc(steps, sizeof *job->ideal_step_ns);
    if (job->has_pipeline) {
        find_steps(job);
        find_groups(&trial, &groups);
        add_types(&trial);
    }
    add_ranks(&trial, &groups);
    if (job->has_pipeline)
        find_shares(&trial);
    EACH(VEC_FREE, &groups.stages, &groups.replicas);
    EACH(free, groups.by_stage, groups.by_replica, trial.length_ns, trial.step_ns);
}
