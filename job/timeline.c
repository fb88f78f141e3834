/*
 * timeline.c - the operations of timelines: see recording.h and operations.h.
 *
 * Learnt from analyzer/to_timeline.py of ByteDance-Seed/StragglerAnalysis. A slice is an operation; its name is the type:
 *
 *     args.step, seq_id (among equal types of a rank and step), mb_id, model_chunk (-1 or null: none)
 *
 * Slices of messages do not name their microbatch: the n-th of a type serves the n-th computation that has such a message.
 */
#include "base/rows.h"
#include "job/recording.h"

static void add_slice(struct recording *of, event_id e)
{
    const struct trace *trace = of->trace;
    int64_t step, chunk = trace_arg_or(trace, ARG_MODEL_CHUNK, e, 0);
    if (!trace_arg(trace, ARG_STEP, e, &step) || event_on_device((enum event_kind)trace->kind[e]))
        return;
    uint32_t place = recording_add(of, trace_name(trace, e), step,
                                   (struct interval){ trace_start_ns(trace, e), trace_end_ns(trace, e) });
    struct facts_operation *row = &of->found.at[place].row;
    row->chunk = chunk > 0 && chunk < UINT16_MAX ? chunk : 0;
    row->microbatch = trace_arg_or(trace, ARG_MICROBATCH, e, FACTS_MISSING);
    row->sequence = trace_arg_or(trace, ARG_SEQ_ID, e, 0);
}

void timeline_add(struct recording *of)
{
    const struct trace_file *file = &of->trace->files[of->file];
    for (event_id e = file->first_event; e < file->first_event + file->event_count; e++)
        add_slice(of, e);
}

/* ---- messages ---- */

/* An operation by its place. */
struct served_slice {
    uint32_t step, rank, type;
    int64_t order; /* the start of a computation, the number of a message */
    uint32_t place;
};

static const struct key by_type[] = { ASC(struct served_slice, step), ASC(struct served_slice, rank),
                                      ASC(struct served_slice, type), ASC(struct served_slice, order),
                                      KEY_END };
static const struct key of_type[] = { ASC(struct served_slice, step), ASC(struct served_slice, rank),
                                      ASC(struct served_slice, type), KEY_END };

struct served_slices {
    VEC_OF(struct served_slice);
};

/* Let the messages in [FIRST, END), of one type, serve the computations that have one. */
static void serve_messages(struct operations *all, const struct served_slices *slices, size_t first,
                           size_t end, int64_t last_stage)
{
    struct served_slice wanted = slices->at[first];
    bool backward = wanted.type >= BACKWARD_SEND;
    bool sends = wanted.type == FORWARD_SEND || wanted.type == BACKWARD_SEND;
    int64_t none_at = backward == sends ? 0 : last_stage; /* the stage that has no such message */
    wanted.type = backward ? BACKWARD_COMPUTE : FORWARD_COMPUTE;
    const struct served_slice *computation =
        rows_find(slices->at, slices->count, sizeof *slices->at, of_type, &wanted);
    const struct served_slice *stop = slices->at + slices->count;
    for (size_t i = first; i < end; i++, computation += computation != NULL) {
        while (computation && computation < stop && rows_compare(computation, &wanted, of_type) == 0 &&
               all->at[computation->place].stage == none_at)
            computation++;
        if (!computation || computation >= stop || rows_compare(computation, &wanted, of_type) != 0)
            return;
        all->at[slices->at[i].place].serves = computation->place;
    }
}

void timeline_find_served(struct operations *all)
{
    SCOPED struct served_slices slices = { 0 };
    int64_t last_chunk = 0;
    for (uint32_t i = 0; i < all->count; i++) {
        struct operation *op = &all->at[i];
        int64_t stage = all->ranks.at[op->rank].at[JOB_PP];
        last_chunk = op->chunk > last_chunk ? op->chunk : last_chunk;
        if (operation_computes(op) && stage >= 0 && stage < INT32_MAX)
            op->stage = op->chunk * all->size[JOB_PP] + stage;
        if (op->type < OPERATION_OTHER)
            *VEC_PUSH(&slices) =
                (struct served_slice){ op->step, op->rank, op->type,
                                       operation_computes(op) ? op->start_ns : op->number, i };
    }
    SORT(&slices, by_type);
    FOR_GROUPS(&slices, of_type, first, end)
        if (slices.at[first].type >= FORWARD_SEND)
            serve_messages(all, &slices, first, end, (last_chunk + 1) * all->size[JOB_PP] - 1);
}
