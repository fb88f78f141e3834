/*
 * timeline.c - the operations of timelines: see operations_read.h.
 *
 * Learnt from analyzer/to_timeline.py of ByteDance-Seed/StragglerAnalysis. A slice is an operation; its name is the type:
 *
 *     args.step, seq_id (among equal types of a rank and step), mb_id, model_chunk (-1 or null: none)
 *
 * Slices of messages do not name their microbatch: the n-th of a type serves the n-th computation that has such a message.
 */
#include "base/rows.h"
#include "job/operations_read.h"
#include <string.h>

static bool track_is_of_timeline(const struct trace *trace, const struct track *track)
{
    return track->thread_name != NAME_NONE && track->process_name != NAME_NONE &&
           strncmp(names_text(trace->texts, track->thread_name), "PP rank ", 8) == 0 &&
           strncmp(names_text(trace->texts, track->process_name), "DP rank [", 9) == 0;
}

bool timeline_is(const struct trace *trace)
{
    bool any = false;
    for (track_id t = 0; t < trace->track_count; t++) {
        if (trace->tracks[t].event_count && !track_is_of_timeline(trace, &trace->tracks[t]))
            return false;
        any |= trace->tracks[t].event_count > 0;
    }
    return any;
}

static bool type_meets(const char *name)
{
    static const char *const words[] = { "params-all-gather", "grads-reduce-scatter",
                                         "separate-grads-all-reduce", "embedding-grads-all-reduce",
                                         "optimizer-clip-main-grad" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i], name) == 0)
            return true;
    return false;
}

static void add_slice(struct reading *reading, uint32_t rank, event_id e, int64_t *last_chunk)
{
    const struct trace *trace = reading->all->trace;
    int64_t step, chunk = trace_arg_or(trace, ARG_MODEL_CHUNK, e, 0);
    if (!trace_arg(trace, ARG_STEP, e, &step) || event_on_device((enum event_kind)trace->kind[e]))
        return;
    uint32_t place =
        reading_add(reading, operation_type_add(reading->all, trace_name(trace, e)), rank, step,
                    reading_clamp(trace_start_ns(trace, e)), reading_clamp(trace_end_ns(trace, e)));
    struct operation *op = &reading->all->at[place];
    op->chunk = chunk > 0 && chunk < UINT16_MAX ? (uint32_t)chunk : 0;
    op->microbatch = trace_arg_or(trace, ARG_MICROBATCH, e, JOB_UNKNOWN);
    op->number = trace_arg_or(trace, ARG_SEQ_ID, e, 0);
    op->meets = type_meets(trace_name(trace, e));
    *last_chunk = op->chunk > *last_chunk ? op->chunk : *last_chunk;
}

/* ---- messages ---- */

/* An operation by its place in the reading. */
struct slice {
    int64_t step;
    uint32_t rank, type;
    int64_t order; /* the start of a computation, the number of a message */
    uint32_t place;
};

static const struct key by_type[] = { ASC(struct slice, step), ASC(struct slice, rank),
                                      ASC(struct slice, type), ASC(struct slice, order), KEY_END };
static const struct key of_type[] = { ASC(struct slice, step), ASC(struct slice, rank),
                                      ASC(struct slice, type), KEY_END };

struct slices {
    VEC_OF(struct slice);
};

/* Let the messages in [FIRST, END), of one type, serve the computations that have one. */
static void serve_messages(struct operations *all, const struct slices *slices, size_t first, size_t end,
                           int64_t last_stage)
{
    struct slice wanted = slices->at[first];
    bool backward = wanted.type >= BACKWARD_SEND;
    bool sends = wanted.type == FORWARD_SEND || wanted.type == BACKWARD_SEND;
    int64_t none_at = backward == sends ? 0 : last_stage; /* the stage that has no such message */
    wanted.type = backward ? BACKWARD_COMPUTE : FORWARD_COMPUTE;
    const struct slice *computation =
        rows_find(slices->at, slices->count, sizeof *slices->at, of_type, &wanted);
    const struct slice *stop = slices->at + slices->count;
    for (size_t i = first; i < end; i++, computation += computation != NULL) {
        while (computation && computation < stop && rows_compare(computation, &wanted, of_type) == 0 &&
               all->at[computation->place].stage == none_at)
            computation++;
        if (!computation || computation >= stop || rows_compare(computation, &wanted, of_type) != 0)
            return;
        all->at[slices->at[i].place].serves = computation->place;
    }
}

static void timeline_find_served(struct reading *reading, int64_t last_stage)
{
    struct operations *all = reading->all;
    struct slices slices = { 0 };
    for (uint32_t i = 0; i < all->count; i++) {
        const struct operation *op = &all->at[i];
        if (op->type < OPERATION_OTHER)
            *VEC_PUSH(&slices) = (struct slice){ reading->step_of.at[i], op->rank, op->type,
                                                 operation_computes(op) ? op->start_ns : op->number, i };
    }
    SORT(&slices, by_type);
    FOR_GROUPS(&slices, of_type, first, end)
    if (slices.at[first].type >= FORWARD_SEND)
        serve_messages(all, &slices, first, end, last_stage);
    VEC_FREE(&slices);
}

void timeline_read(struct reading *reading)
{
    struct operations *all = reading->all;
    const struct trace *trace = all->trace;
    all->form = JOB_TIMELINE;
    all->marked = true;
    coordinates_finish(all, true);
    int64_t last_chunk = 0;
    for (uint32_t f = 0; f < trace->file_count; f++)
        for (event_id e = trace->files[f].first_event;
             e < trace->files[f].first_event + trace->files[f].event_count; e++)
            add_slice(reading, reading->rank_of[f], e, &last_chunk);
    for (size_t i = 0; i < all->count; i++) {
        int64_t stage = all->ranks.at[all->at[i].rank].at[JOB_PP];
        if (operation_computes(&all->at[i]) && stage >= 0 && stage < INT32_MAX)
            all->at[i].stage = all->at[i].chunk * all->size[JOB_PP] + stage;
    }
    timeline_find_served(reading, (last_chunk + 1) * all->size[JOB_PP] - 1);
    for (size_t i = 0; i < all->count; i++) {
        if (operation_is_message(&all->at[i]) && all->at[i].serves != OPERATION_NONE) {
            all->at[i].microbatch = all->at[all->at[i].serves].microbatch;
            all->at[i].stage = all->at[all->at[i].serves].stage;
            all->at[i].chunk = all->at[all->at[i].serves].chunk;
        }
    }
}
