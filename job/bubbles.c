/*
 * bubbles.c - where the time of ranks goes between the first and the last computation of a pipeline, and why: see job.h.
 *
 * The bubble is what is not computation. It is taken apart by replays, each with more of what was real than the one before.
 */
#include "base/rows.h"
#include "job/job.h"
#include <math.h>

/* Computations of a step on ranks that are equal in all but the stage: a phase of a pipeline. */
struct phase_op {
    uint32_t step, pipeline, rank;
    double start_ns, end_ns;
    uint32_t op;
};

struct phase_ops {
    VEC_OF(struct phase_op);
};

static const struct key by_phase[] = { ASC(struct phase_op, step),   ASC(struct phase_op, pipeline),
                                       ASC(struct phase_op, rank),   ASC(struct phase_op, start_ns),
                                       ASC(struct phase_op, end_ns), KEY_END };
static const struct key of_phase[] = { ASC(struct phase_op, step), ASC(struct phase_op, pipeline), KEY_END };
static const struct key of_rank[] = { ASC(struct phase_op, step), ASC(struct phase_op, pipeline),
                                      ASC(struct phase_op, rank), KEY_END };

/* The computations as recorded, or at TIMES. */
static void list_phases(const struct job *job, const struct replayed *times, struct phase_ops *list)
{
    const struct operations *all = job->all;
    list->count = 0;
    for (uint32_t i = 0; i < all->count; i++) {
        const struct operation *op = &all->at[i];
        if (operation_computes(op))
            *VEC_PUSH(list) = (struct phase_op){ op->step,
                                                 all->ranks.at[op->rank].others[JOB_PP],
                                                 op->rank,
                                                 times ? times[i].start_ns : (double)op->start_ns,
                                                 times ? times[i].end_ns : (double)op->end_ns,
                                                 i };
    }
    SORT(list, by_phase);
}

struct phase {
    double start_ns, end_ns;
};

static struct phase phase_of(const struct phase_ops *list, size_t first, size_t end)
{
    struct phase phase = { INFINITY, -INFINITY };
    for (size_t i = first; i < end; i++) {
        phase.start_ns = fmin(phase.start_ns, list->at[i].start_ns);
        phase.end_ns = fmax(phase.end_ns, list->at[i].end_ns);
    }
    return phase;
}

/* The time in which the rank whose computations are [FIRST, END) computed. */
static double computed(const struct phase_ops *list, size_t first, size_t end)
{
    double sum_ns = 0, reached_ns = -INFINITY;
    for (size_t i = first; i < end; i++) {
        double from_ns = fmax(list->at[i].start_ns, reached_ns);
        if (list->at[i].end_ns > from_ns)
            sum_ns += list->at[i].end_ns - from_ns;
        reached_ns = fmax(reached_ns, list->at[i].end_ns);
    }
    return sum_ns;
}

/* Phases times ranks, and the bubble in them. */
struct bubble {
    double phases_ns, bubble_ns;
};

static struct bubble add_phase(const struct phase_ops *list, size_t first, size_t end)
{
    struct phase phase = phase_of(list, first, end);
    struct bubble sum = { 0, 0 };
    for (size_t i = first, next; i < end; i = next) {
        next = rows_group_end(list->at, list->count, sizeof *list->at, of_rank, i);
        sum.phases_ns += phase.end_ns - phase.start_ns;
        sum.bubble_ns += phase.end_ns - phase.start_ns - computed(list, i, next);
    }
    return sum;
}

/* ---- as recorded ---- */

/* What the rank with the computations [FIRST, END) did in PHASE. */
static struct job_parts parts_of(const struct job *job, const struct phase_ops *list, size_t first,
                                 size_t end, struct phase phase)
{
    struct job_parts parts = { .compute_ns = computed(list, first, end),
                               .warmup_ns = list->at[first].start_ns - phase.start_ns };
    double reached_ns = list->at[first].end_ns;
    for (size_t i = first + 1; i < end; i++) {
        const struct phase_op *one = &list->at[i];
        uint32_t producer = job->graph->producer[one->op];
        if (one->start_ns > reached_ns) {
            double there_ns = producer == OPERATION_NONE ? reached_ns : (double)job->all->at[producer].end_ns;
            double waiting_ns = fmax(0, fmin(one->start_ns, there_ns) - reached_ns);
            parts.waiting_ns += waiting_ns;
            parts.other_ns += one->start_ns - reached_ns - waiting_ns;
        }
        reached_ns = fmax(reached_ns, one->end_ns);
    }
    parts.drain_ns = phase.end_ns - reached_ns;
    return parts;
}

static void add_parts(struct job_parts *to, const struct job_parts *more)
{
    to->compute_ns += more->compute_ns;
    to->warmup_ns += more->warmup_ns;
    to->waiting_ns += more->waiting_ns;
    to->other_ns += more->other_ns;
    to->drain_ns += more->drain_ns;
}

static struct bubble find_recorded(struct job *job)
{
    SCOPED struct phase_ops list = { 0 };
    struct bubble all = { 0, 0 };
    SCOPED struct bubble *of_step = mem_zalloc(job->all->steps.count + 1, sizeof *of_step);
    job->phase_ns = mem_zalloc(job->all->ranks.count + 1, sizeof *job->phase_ns);
    list_phases(job, NULL, &list);
    FOR_GROUPS(&list, of_phase, first, end) {
        struct phase phase = phase_of(&list, first, end);
        struct bubble bubble = add_phase(&list, first, end);
        of_step[list.at[first].step].phases_ns += bubble.phases_ns;
        of_step[list.at[first].step].bubble_ns += bubble.bubble_ns;
        all.phases_ns += bubble.phases_ns;
        all.bubble_ns += bubble.bubble_ns;
        for (size_t i = first, next; i < end; i = next) {
            next = rows_group_end(list.at, list.count, sizeof *list.at, of_rank, i);
            struct job_parts parts = parts_of(job, &list, i, next, phase);
            add_parts(&job->ranks.at[list.at[i].rank].parts, &parts);
            job->phase_ns[list.at[i].rank] += phase.end_ns - phase.start_ns;
        }
    }
    for (size_t s = 0; s < job->steps.count; s++)
        job->steps.at[s].bubble_share = job_over(of_step[s].bubble_ns, of_step[s].phases_ns);
    return all;
}

static void fill_stages(struct job *job)
{
    const struct operations *all = job->all;
    FOR_EACH(row, &job->stages) {
        double sum_ns[BACKWARD_COMPUTE + 1] = { 0 }, count[BACKWARD_COMPUTE + 1] = { 0 }, phases_ns = 0;
        for (size_t i = 0; i < all->count; i++)
            if (all->at[i].type <= BACKWARD_COMPUTE && all->ranks.at[all->at[i].rank].at[JOB_PP] == row->pp) {
                sum_ns[all->at[i].type] += (double)(all->at[i].end_ns - all->at[i].start_ns);
                count[all->at[i].type]++;
            }
        for (size_t r = 0; r < job->ranks.count; r++)
            if (job->ranks.at[r].pp == row->pp) {
                add_parts(&row->parts, &job->ranks.at[r].parts);
                phases_ns += job->phase_ns[r];
            }
        row->forward_ns = job_over(sum_ns[FORWARD_COMPUTE], count[FORWARD_COMPUTE]);
        row->backward_ns = job_over(sum_ns[BACKWARD_COMPUTE], count[BACKWARD_COMPUTE]);
        row->bubble_share = job_over(phases_ns - row->parts.compute_ns, phases_ns);
    }
}

/* ---- causes of bubbles ---- */

/* The bubble of a replay with LENGTH_NS, by operation. */
static double replayed_bubble(const struct job *job, const double *length_ns)
{
    SCOPED struct replayed *times = mem_alloc(mem_times(job->all->count + 1, sizeof *times));
    SCOPED double *step_ns = mem_alloc(mem_times(job->all->steps.count + 1, sizeof *step_ns));
    SCOPED struct phase_ops list = { 0 };
    double bubble_ns = 0;
    graph_replay(job->graph, length_ns, step_ns, times);
    list_phases(job, times, &list);
    FOR_GROUPS(&list, of_phase, first, end)
        bubble_ns += add_phase(&list, first, end).bubble_ns;
    return bubble_ns;
}

/* The lengths OF computations, and 0 of all else. */
static double bubble_of_computations(const struct job *job, const double *of)
{
    SCOPED double *length_ns = mem_zalloc(job->all->count + 1, sizeof *length_ns);
    for (size_t i = 0; i < job->all->count; i++)
        length_ns[i] = operation_computes(&job->all->at[i]) ? of[i] : 0;
    return replayed_bubble(job, length_ns);
}

static void add_bubbles(struct job *job, struct bubble recorded)
{
    static const char *const names[] = { "structural", "imbalance", "variation", "communication", "delay" };
    double until_ns[JOB_BUBBLES] = { [BUBBLE_STRUCTURAL] = bubble_of_computations(job, job->structural_ns),
                                     [BUBBLE_IMBALANCE] = bubble_of_computations(job, job->median_ns),
                                     [BUBBLE_VARIATION] = bubble_of_computations(job, job->graph->real_ns),
                                     [BUBBLE_COMMUNICATION] = replayed_bubble(job, job->graph->real_ns),
                                     [BUBBLE_DELAY] = recorded.bubble_ns };
    double before_ns = 0;
    for (unsigned b = 0; b < JOB_BUBBLES; b++) {
        *VEC_PUSH(&job->bubbles) =
            (struct job_bubble_row){ as_text(names[b]), until_ns[b] - before_ns,
                                     job_over(until_ns[b] - before_ns, recorded.phases_ns) };
        before_ns = until_ns[b];
    }
}

/* ---- the schedule ---- */

/* From the computations [FIRST, END) of a rank of the last stage, by start. */
static const char *schedule_of(const struct job *job, const struct phase_ops *list, size_t first, size_t end)
{
    double last_forward = -INFINITY, first_backward = INFINITY;
    for (size_t i = first; i < end; i++) {
        if (operation_is_backward(&job->all->at[list->at[i].op]))
            first_backward = fmin(first_backward, list->at[i].start_ns);
        else
            last_forward = fmax(last_forward, list->at[i].start_ns);
    }
    if (isinf(last_forward) || isinf(first_backward))
        return NULL;
    bool chunked = job->whole.chunks > 1;
    return first_backward > last_forward ? (chunked ? "looped BFS" : "GPipe")
                                         : (chunked ? "interleaved 1F1B" : "1F1B");
}

static void find_schedule(struct job *job)
{
    SCOPED struct phase_ops list = { 0 };
    int64_t last = job->stages.count ? job->stages.at[job->stages.count - 1].pp : JOB_UNKNOWN;
    list_phases(job, NULL, &list);
    FOR_GROUPS(&list, of_rank, first, end) {
        uint32_t rank = list.at[first].rank;
        if (list.at[first].step == list.at[0].step && job->all->ranks.at[rank].at[JOB_PP] == last) {
            job->whole.schedule = as_text(schedule_of(job, &list, first, end));
            break;
        }
    }
}

struct counted {
    uint32_t step, pipeline;
    int64_t microbatch;
};

static const struct key by_microbatch[] = { ASC(struct counted, step), ASC(struct counted, pipeline),
                                            ASC(struct counted, microbatch), KEY_END };
static const struct key by_pipeline[] = { ASC(struct counted, step), ASC(struct counted, pipeline), KEY_END };

/* The most microbatches of a pipeline in a step, and the chunks of ranks. */
static void count_microbatches(struct job *job)
{
    const struct operations *all = job->all;
    SCOPED VEC_OF(struct counted) list = { 0 };
    job->whole.chunks = 1;
    job->whole.microbatches = 0;
    FOR_EACH(op, all) {
        if (!operation_computes(op))
            continue;
        *VEC_PUSH(&list) =
            (struct counted){ op->step, all->ranks.at[op->rank].others[JOB_PP], op->microbatch };
        if (op->chunk >= job->whole.chunks)
            job->whole.chunks = (int64_t)op->chunk + 1;
    }
    SORT(&list, by_microbatch);
    list.count = rows_unique(list.at, list.count, sizeof *list.at, by_microbatch);
    FOR_GROUPS(&list, by_pipeline, first, end)
        if ((int64_t)(end - first) > job->whole.microbatches)
            job->whole.microbatches = (int64_t)(end - first);
}

void job_find_bubbles(struct job *job)
{
    struct bubble recorded = find_recorded(job);
    job->whole.bubble_share = job_over(recorded.bubble_ns, recorded.phases_ns);
    fill_stages(job);
    add_bubbles(job, recorded);
    count_microbatches(job);
    find_schedule(job);
}
