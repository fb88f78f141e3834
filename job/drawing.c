#include "job/job.h"

#include "base/rows.h"
#include "base/search.h"
#include <inttypes.h>

enum { MOST_OF_SEVERAL = 16, MOST_LINES = 64 }; /* lines of several pipelines, and of one */

struct timed_step {
    double time_ns;
    uint32_t step;
};

static const struct key by_time[] = { ASC(struct timed_step, time_ns), ASC(struct timed_step, step),
                                      KEY_END };

/* The step in the middle by time; of two the shorter. */
static uint32_t middle_step(const struct job *job)
{
    SCOPED VEC_OF(struct timed_step) order = { 0 };
    for (uint32_t s = 0; s < job->steps.count; s++)
        *VEC_PUSH(&order) = (struct timed_step){ job->steps.at[s].time_ns, s };
    SORT(&order, by_time);
    return order.count ? order.at[(order.count - 1) / 2].step : 0;
}

/* The first operation of RANK in STEP, or of what follows. */
static size_t first_of_rank(const struct operations *all, uint32_t step, uint32_t rank)
{
    return PLACE(first, all->count,
                 all->at[first].step < step || (all->at[first].step == step && all->at[first].rank < rank));
}

static bool is_of_rank(const struct operations *all, size_t i, uint32_t step, uint32_t rank)
{
    return i < all->count && all->at[i].step == step && all->at[i].rank == rank;
}

/* New, by pipeline: from the first start to the last end of its computations in STEP; none: it ends before it starts. */
static struct interval *find_phases(const struct operations *all, uint32_t step, uint32_t count)
{
    struct interval *phases = mem_alloc(mem_times((size_t)count + 1, sizeof *phases));
    for (uint32_t p = 0; p < count; p++)
        phases[p] = (struct interval){ INT64_MAX, INT64_MIN };
    for (size_t i = first_of_rank(all, step, 0); i < all->count && all->at[i].step == step; i++) {
        struct interval *phase = &phases[all->ranks.at[all->at[i].rank].others[JOB_PP]];
        if (!operation_computes(&all->at[i]))
            continue;
        phase->start_ns = all->at[i].start_ns < phase->start_ns ? all->at[i].start_ns : phase->start_ns;
        phase->end_ns = all->at[i].end_ns > phase->end_ns ? all->at[i].end_ns : phase->end_ns;
    }
    return phases;
}

struct seat {
    uint32_t pipeline, rank;
    int64_t stage;
};

static const struct key by_seat[] = { ASC(struct seat, pipeline), ASC(struct seat, stage),
                                      ASC(struct seat, rank), KEY_END };

/* Choose the ranks that get a line. */
static void choose_lines(struct drawing *drawing, const struct operations *all, const struct ranges *ranks,
                         const struct interval *phases)
{
    SCOPED VEC_OF(struct seat) seats = { 0 };
    uint32_t longest = 0, last = OPERATION_NONE;
    for (uint32_t p = 1; p < drawing->pipelines; p++)
        if (phases[p].start_ns < phases[p].end_ns &&
            (phases[longest].start_ns >= phases[longest].end_ns ||
             phases[p].end_ns - phases[p].start_ns > phases[longest].end_ns - phases[longest].start_ns))
            longest = p;
    for (uint32_t r = 0; r < all->ranks.count; r++)
        if (ranges_hold(ranks, all->ranks.at[r].number))
            *VEC_PUSH(&seats) =
                (struct seat){ all->ranks.at[r].others[JOB_PP], r, all->ranks.at[r].at[JOB_PP] };
    SORT(&seats, by_seat);
    bool several = seats.count <= MOST_OF_SEVERAL;
    drawing->longest = !several;
    FOR_EACH(seat, &seats) {
        if (!several && seat->pipeline != longest)
            continue;
        if (last != seat->pipeline && drawing->drawn++)
            *VEC_PUSH(&drawing->lines) = OPERATION_NONE;
        last = seat->pipeline;
        if (drawing->lines.count < MOST_LINES)
            *VEC_PUSH(&drawing->lines) = seat->rank;
        else
            drawing->left_out++;
    }
}

/* A line on the way. */
struct drawn_line {
    struct drawing *drawing;
    const struct job *job;
    int64_t number, origin_ns;
};

static void add_box(const struct drawn_line *line, enum drawn_kind kind, int64_t start_ns, int64_t end_ns,
                    const char *label, const char *tip)
{
    if (end_ns > start_ns)
        *VEC_PUSH(&line->drawing->boxes) =
            (struct drawn_box){ as_text(label),           as_text(tip), start_ns - line->origin_ns,
                                end_ns - line->origin_ns, line->number, kind };
}

static void add_computation(const struct drawn_line *line, const struct operation *op)
{
    static const char *const words[] = { "forward", "backward", "weights" };
    static const enum drawn_kind kinds[] = { DRAWN_FORWARD, DRAWN_BACKWARD, DRAWN_WEIGHT };
    struct arena *texts = line->drawing->texts;
    const char *tip = arena_printf(texts, "%s of microbatch %" PRId64, words[op->type], op->microbatch);
    if (op->stage != JOB_UNKNOWN)
        tip = arena_printf(texts, "%s, stage %" PRId64, tip, op->stage);
    bool later = op->chunk > 0 && op->type != WEIGHT_COMPUTE;
    add_box(line, later ? kinds[op->type] + 1 : kinds[op->type], op->start_ns, op->end_ns,
            arena_printf(texts, "%" PRId64, op->microbatch), tip);
}

/* The bubble before OP, a computation that is not the first of its rank: waiting for a result, then the rest. */
static void add_gap(const struct drawn_line *line, const struct operation *op, int64_t reached_ns)
{
    const struct operations *all = line->job->all;
    uint32_t producer = line->job->graph->producer[op - all->at];
    int64_t there_ns = producer == OPERATION_NONE ? reached_ns : all->at[producer].end_ns;
    there_ns = there_ns < reached_ns ? reached_ns : there_ns > op->start_ns ? op->start_ns : there_ns;
    if (there_ns > reached_ns)
        add_box(line, DRAWN_BUBBLE, reached_ns, there_ns, "",
                arena_printf(line->drawing->texts, "waits for rank %" PRId64,
                             all->ranks.at[all->at[producer].rank].number));
    add_box(line, DRAWN_BUBBLE, there_ns, op->start_ns, "", "transfer, or the host");
}

/* What RANK does in the step; its pipeline computes in PHASE. */
static void add_line(const struct drawn_line *line, uint32_t rank, struct interval phase)
{
    const struct operations *all = line->job->all;
    uint32_t step = line->drawing->step;
    size_t first = first_of_rank(all, step, rank);
    int64_t reached_ns = INT64_MIN;
    for (size_t i = first; is_of_rank(all, i, step, rank); i++) {
        const struct operation *op = &all->at[i];
        if (!operation_computes(op))
            continue;
        if (reached_ns == INT64_MIN)
            add_box(line, DRAWN_BUBBLE, phase.start_ns, op->start_ns, "", "warm-up");
        else if (op->start_ns > reached_ns)
            add_gap(line, op, reached_ns);
        add_computation(line, op);
        reached_ns = op->end_ns > reached_ns ? op->end_ns : reached_ns;
    }
    if (reached_ns != INT64_MIN)
        add_box(line, DRAWN_BUBBLE, reached_ns, phase.end_ns, "", "drain");
    for (size_t i = first; is_of_rank(all, i, step, rank); i++) {
        const struct operation *op = &all->at[i];
        const char *name = operation_type_name(all, op->type);
        if (op->type >= OPERATION_OTHER && op->start_ns >= reached_ns)
            add_box(line, op->meets ? DRAWN_COLLECTIVE : DRAWN_OTHER, op->start_ns, op->end_ns, name, name);
    }
}

void drawing_init(struct drawing *drawing, const struct job *job, const struct ranges *ranks,
                  struct arena *texts)
{
    const struct operations *all = job->all;
    *drawing = (struct drawing){ .step = middle_step(job), .texts = texts };
    for (size_t r = 0; r < all->ranks.count; r++)
        if (all->ranks.at[r].others[JOB_PP] >= drawing->pipelines)
            drawing->pipelines = all->ranks.at[r].others[JOB_PP] + 1;
    SCOPED struct interval *phases = find_phases(all, drawing->step, drawing->pipelines);
    choose_lines(drawing, all, ranks, phases);
    struct drawn_line line = { .drawing = drawing, .job = job, .origin_ns = INT64_MAX };
    for (size_t l = 0; l < drawing->lines.count; l++)
        if (drawing->lines.at[l] != OPERATION_NONE) {
            int64_t start_ns = phases[all->ranks.at[drawing->lines.at[l]].others[JOB_PP]].start_ns;
            line.origin_ns = start_ns < line.origin_ns ? start_ns : line.origin_ns;
        }
    for (; line.number < (int64_t)drawing->lines.count; line.number++) {
        uint32_t rank = drawing->lines.at[line.number];
        if (rank != OPERATION_NONE)
            add_line(&line, rank, phases[all->ranks.at[rank].others[JOB_PP]]);
    }
    for (size_t i = 0; i < drawing->boxes.count; i++)
        if (drawing->boxes.at[i].to_ns > drawing->length_ns)
            drawing->length_ns = drawing->boxes.at[i].to_ns;
}
