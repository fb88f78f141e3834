/*
 * causes.c - what makes the job slow: see job.h.
 *
 * The reference is a replay_cause in which all computations of a type are equal and communication is ideal. The gain of a cause is how
 * much longer a replay_cause takes in which only it is real. Gains overlap: they need not add up to what is lost.
 */
#include "base/rows.h"
#include "base/search.h"
#include "job/job.h"
#include <math.h>

static const char *const cause_names[] = { "stage", "worker", "sequence", "communication",
                                           "delay", "gc",     "none" };

struct causing {
    struct job *job;
    double *worker;   /* by operation: how much longer computations of its rank take in the step */
    double *sequence; /* by operation: how much longer its microbatch takes on all stages */
    double *length_ns, *step_ns;
    uint32_t slowest;   /* the rank with the highest WORKER */
    uint32_t when;      /* an operation of it in that step */
    uint32_t collector; /* the rank that collects garbage longest */
    double gain_ns[JOB_CAUSES];
};

struct ratios {
    VEC_OF(double);
};

/* A computation's length relative to the median of its type, chunk and stage; NaN if that is 0. */
static double ratio_of(const struct job *job, size_t i)
{
    return job_over(job->graph->real_ns[i], job->median_ns[i]);
}

/* ---- ranks ---- */

static const struct key of_step[] = { ASC(struct operation, step), KEY_END };
static const struct key of_rank[] = { ASC(struct operation, step), ASC(struct operation, rank), KEY_END };

static void find_workers(struct causing *causing)
{
    const struct operations *all = causing->job->all;
    SCOPED struct ratios ratios = { 0 };
    FOR_GROUPS(all, of_rank, first, end) {
        ratios.count = 0;
        for (size_t i = first; i < end; i++)
            if (operation_computes(&all->at[i]) && !isnan(ratio_of(causing->job, i)))
                *VEC_PUSH(&ratios) = ratio_of(causing->job, i);
        double factor = ratios.count ? job_median(ratios.at, ratios.count) : 1;
        for (size_t i = first; i < end; i++)
            causing->worker[i] = factor;
    }
}

/* The rank with the highest factor in a step. */
static void find_slowest(struct causing *causing)
{
    const struct operations *all = causing->job->all;
    double most = 0;
    for (uint32_t i = 0; i < all->count; i++)
        if (operation_computes(&all->at[i]) && causing->worker[i] > most) {
            most = causing->worker[i];
            causing->slowest = all->at[i].rank;
            causing->when = i;
        }
}

/* Take all ranks of the pipeline of the slowest rank as long in its step? Then it is the work, rather than the rank. */
static bool is_slow_together(const struct causing *causing)
{
    const struct operations *all = causing->job->all;
    double most = all->count ? causing->worker[causing->when] : 1, least = most;
    bool alone = true;
    for (size_t i = 0; i < all->count; i++)
        if (all->at[i].step == all->at[causing->when].step && all->at[i].rank != causing->slowest &&
            all->ranks.at[all->at[i].rank].others[JOB_PP] == all->ranks.at[causing->slowest].others[JOB_PP]) {
            alone = false;
            least = fmin(least, causing->worker[i]);
        }
    return !alone && least - 1 > (most - 1) / 2;
}

/* ---- microbatches ---- */

struct part {
    uint32_t step, pipeline;
    int64_t microbatch;
    uint32_t type, op;
    double ratio;
};

static const struct key by_microbatch[] = { ASC(struct part, step), ASC(struct part, pipeline),
                                            ASC(struct part, microbatch), KEY_END };

/* Pairs of the mean ratio of the forward and of the backward computations of a microbatch. */
struct pairs {
    VEC_OF(double) forward;
    VEC_OF(double) backward;
};

static void add_pair(struct pairs *pairs, const struct part *parts, size_t count)
{
    double sum[BACKWARD_COMPUTE + 1] = { 0 }, number[BACKWARD_COMPUTE + 1] = { 0 };
    for (size_t i = 0; i < count; i++)
        if (parts[i].type <= BACKWARD_COMPUTE) {
            sum[parts[i].type] += parts[i].ratio;
            number[parts[i].type]++;
        }
    if (number[FORWARD_COMPUTE] > 0 && number[BACKWARD_COMPUTE] > 0) {
        *VEC_PUSH(&pairs->forward) = sum[FORWARD_COMPUTE] / number[FORWARD_COMPUTE];
        *VEC_PUSH(&pairs->backward) = sum[BACKWARD_COMPUTE] / number[BACKWARD_COMPUTE];
    }
}

/* Pearson's; NaN if one of the two does not vary. */
static double correlate(const struct pairs *pairs)
{
    size_t count = pairs->forward.count;
    double x = job_mean(pairs->forward.at, count), y = job_mean(pairs->backward.at, count);
    double xx = 0, yy = 0, xy = 0;
    for (size_t i = 0; i < count; i++) {
        double dx = pairs->forward.at[i] - x, dy = pairs->backward.at[i] - y;
        xx += dx * dx;
        yy += dy * dy;
        xy += dx * dy;
    }
    /* equal lengths differ by rounding only */
    return count > 1 && xx > 1e-20 * (double)count && yy > 1e-20 * (double)count ? xy / sqrt(xx * yy) : NAN;
}

static void find_sequences(struct causing *causing)
{
    const struct operations *all = causing->job->all;
    SCOPED VEC_OF(struct part) parts = { 0 };
    SCOPED struct ratios ratios = { 0 };
    struct pairs pairs = { 0 };
    for (uint32_t i = 0; i < all->count; i++) {
        const struct operation *op = &all->at[i];
        causing->sequence[i] = 1;
        if (operation_computes(op) && !isnan(ratio_of(causing->job, i)) && causing->worker[i] > 0)
            *VEC_PUSH(&parts) = (struct part){
                op->step, all->ranks.at[op->rank].others[JOB_PP],        op->microbatch, op->type,
                i,        ratio_of(causing->job, i) / causing->worker[i]
            };
    }
    SORT(&parts, by_microbatch);
    FOR_GROUPS(&parts, by_microbatch, first, end) {
        ratios.count = 0;
        for (size_t i = first; i < end; i++)
            *VEC_PUSH(&ratios) = parts.at[i].ratio;
        double factor = job_median(ratios.at, ratios.count);
        for (size_t i = first; i < end; i++)
            causing->sequence[parts.at[i].op] = factor;
        add_pair(&pairs, &parts.at[first], end - first);
    }
    causing->job->whole.correlation = correlate(&pairs);
    EACH(VEC_FREE, &pairs.forward, &pairs.backward);
}

/* What all ranks of a pipeline take longer in a step. */
struct common {
    uint32_t ranks, last; /* LAST: the rank counted last */
    double least, most;
};

/* Where half of the microbatches of a step are long, or more, each rank of the pipeline takes longer by its median. That it is
 * the work, rather than the ranks, tells the correlation: what the ranks share is then the microbatches'. */
static void pass_to_sequences(struct causing *causing)
{
    const struct operations *all = causing->job->all;
    if (!(causing->job->whole.correlation >= 0.9))
        return;
    SCOPED struct common *common =
        mem_alloc(mem_times(all->ranks.count + 1, sizeof *common)); /* by pipeline */
    FOR_GROUPS(all, of_step, first, end) {
        for (uint32_t p = 0; p < all->ranks.count; p++)
            common[p] = (struct common){ 0, OPERATION_NONE, INFINITY, 0 };
        for (size_t i = first; i < end; i++) {
            struct common *of = &common[all->ranks.at[all->at[i].rank].others[JOB_PP]];
            of->ranks += of->last != all->at[i].rank;
            of->last = all->at[i].rank;
            of->least = fmin(of->least, causing->worker[i]);
            of->most = fmax(of->most, causing->worker[i]);
        }
        for (size_t i = first; i < end; i++) {
            const struct common *of = &common[all->ranks.at[all->at[i].rank].others[JOB_PP]];
            if (of->ranks < 2 || of->least < 1.1 || of->least - 1 < (of->most - 1) / 2)
                continue;
            causing->worker[i] /= of->least;
            causing->sequence[i] *= of->least;
        }
    }
}

/* ---- garbage ---- */

/* The part of a collection that is in no computation of its rank. */
static double outside_of_computations(const struct operations *all, const struct collection *one)
{
    SCOPED_BY(intervals_release) struct intervals computing = { 0 };
    size_t first =
        PLACE(k, all->count,
              all->at[k].step < one->step || (all->at[k].step == one->step && all->at[k].rank < one->rank));
    for (size_t i = first; i < all->count && all->at[i].step == one->step && all->at[i].rank == one->rank;
         i++)
        if (operation_computes(&all->at[i]))
            intervals_add(&computing, all->at[i].start_ns, all->at[i].end_ns);
    intervals_merge(&computing);
    int64_t inside_ns = intervals_length_within(&computing, one->start_ns, one->end_ns);
    return (double)(one->end_ns - one->start_ns - inside_ns);
}

/* Returns, of the longest rank in each step, the mean. */
static double find_collections(struct causing *causing)
{
    struct job *job = causing->job;
    const struct operations *all = job->all;
    size_t steps = all->steps.count, ranks = all->ranks.count;
    double *of = mem_zalloc(mem_times(steps, ranks) + 1, sizeof *of), sum_ns = 0;
    for (size_t i = 0; i < all->collections.count; i++)
        of[all->collections.at[i].step * ranks + all->collections.at[i].rank] +=
            outside_of_computations(all, &all->collections.at[i]);
    uint32_t type = operation_type_find(all, "gc");
    for (size_t i = 0; i < all->count && type != OPERATION_NONE; i++)
        if (all->at[i].type == type)
            of[all->at[i].step * ranks + all->at[i].rank] += job->graph->real_ns[i];
    for (size_t s = 0; s < steps; s++) {
        double longest_ns = 0;
        for (size_t r = 0; r < ranks; r++) {
            longest_ns = fmax(longest_ns, of[s * ranks + r]);
            job->ranks.at[r].gc_ns += of[s * ranks + r];
        }
        sum_ns += longest_ns;
    }
    for (uint32_t r = 0; r < ranks; r++)
        if (job->ranks.at[r].gc_ns > job->ranks.at[causing->collector].gc_ns)
            causing->collector = r;
    free(of);
    return steps ? sum_ns / (double)steps : 0;
}

/* ---- gains ---- */

enum computations { AS_STRUCTURE, AS_STAGES, AS_WORKERS, AS_SEQUENCES };

/* The mean step if computations have these lengths, and all else its ideal one, or the real one. */
static double replay_cause(struct causing *causing, enum computations how, const double *others_ns)
{
    const struct job *job = causing->job;
    for (size_t i = 0; i < job->all->count; i++) {
        double factor = how == AS_WORKERS     ? causing->worker[i]
                        : how == AS_SEQUENCES ? causing->sequence[i]
                                              : 1;
        causing->length_ns[i] = !operation_computes(&job->all->at[i]) ? others_ns[i]
                                : how == AS_STAGES                    ? job->median_ns[i]
                                                                      : job->structural_ns[i] * factor;
    }
    graph_replay(job->graph, causing->length_ns, causing->step_ns, NULL);
    return job_mean(causing->step_ns, job->all->steps.count);
}

static double find_gains(struct causing *causing)
{
    struct job *job = causing->job;
    double *gain_ns = causing->gain_ns;
    double delay_ns = job->whole.step_ns - job->whole.simulated_ns;
    double reference_ns = replay_cause(causing, AS_STRUCTURE, job->ideal_ns);
    gain_ns[JOB_CAUSE_STAGE] = replay_cause(causing, AS_STAGES, job->ideal_ns) - reference_ns;
    gain_ns[JOB_CAUSE_WORKER] = replay_cause(causing, AS_WORKERS, job->ideal_ns) - reference_ns;
    gain_ns[JOB_CAUSE_SEQUENCE] = replay_cause(causing, AS_SEQUENCES, job->ideal_ns) - reference_ns;
    gain_ns[JOB_CAUSE_COMMUNICATION] =
        replay_cause(causing, AS_STRUCTURE, job->graph->real_ns) - reference_ns;
    gain_ns[JOB_CAUSE_GC] = fmin(find_collections(causing), fmax(0, delay_ns));
    gain_ns[JOB_CAUSE_DELAY] = delay_ns - gain_ns[JOB_CAUSE_GC];
    return reference_ns;
}

static const struct key by_time[] = { DESC(struct job_cause_row, time_ns), ASC(struct job_cause_row, which),
                                      KEY_END };

static void add_rows(struct causing *causing, double reference_ns)
{
    struct job *job = causing->job;
    job->lost_ns = job->whole.step_ns - reference_ns;
    for (unsigned c = 0; c < JOB_CAUSES; c++) {
        double share = fabs(job->lost_ns) > 1e-3 ? causing->gain_ns[c] / job->lost_ns : NAN;
        *VEC_PUSH(&job->causes) =
            (struct job_cause_row){ as_text(cause_names[c]), causing->gain_ns[c], share, c };
    }
    SORT(&job->causes, by_time);
}

static void name_cause(struct causing *causing, double reference_ns)
{
    enum { LEAST_PERCENT = 105 }; /* of the reference: less is no slowdown worth a cause */
    struct job *job = causing->job;
    job->culprit = TABLE_INT_MISSING;
    job->cause = job->whole.step_ns * 100 < reference_ns * LEAST_PERCENT
                     ? JOB_CAUSE_NONE
                     : (enum job_cause)job->causes.at[0].which;
    if (job->lacks_ranks) { /* waiting for them would be taken for a long transfer */
        job->cause = JOB_CAUSE_NONE;
        return;
    }
    job->whole.cause = as_text(cause_names[job->cause]);
    const char *what = "rank";
    if (job->cause == JOB_CAUSE_WORKER) {
        job->culprit = job->all->ranks.at[causing->slowest].number;
        job->slow_together = is_slow_together(causing);
    } else if (job->cause == JOB_CAUSE_GC) {
        job->culprit = job->all->ranks.at[causing->collector].number;
    } else if (job->cause == JOB_CAUSE_STAGE && job->stages.count) {
        size_t slowest = 0;
        for (size_t s = 1; s < job->stages.count; s++)
            if (job->stages.at[s].slowdown > job->stages.at[slowest].slowdown)
                slowest = s;
        job->culprit = job->stages.at[slowest].pp;
        what = "stage";
    }
    if (job->culprit != TABLE_INT_MISSING)
        job->whole.where = as_text(arena_printf(arena_of(job), "%s %lld", what, (long long)job->culprit));
}

void job_find_causes(struct job *job)
{
    size_t count = job->all->count + 1;
    struct causing causing = { .job = job };
    causing.worker = mem_alloc(mem_times(count, sizeof *causing.worker));
    causing.sequence = mem_alloc(mem_times(count, sizeof *causing.sequence));
    causing.length_ns = mem_alloc(mem_times(count, sizeof *causing.length_ns));
    causing.step_ns = mem_alloc(mem_times(job->all->steps.count + 1, sizeof *causing.step_ns));
    find_workers(&causing);
    find_sequences(&causing);
    pass_to_sequences(&causing);
    find_slowest(&causing);
    double reference_ns = find_gains(&causing);
    add_rows(&causing, reference_ns);
    name_cause(&causing, reference_ns);
    EACH(free, causing.worker, causing.sequence, causing.length_ns, causing.step_ns);
}
