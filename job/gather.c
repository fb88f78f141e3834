/*
 * gather.c - the operations of recordings of profilers: see job.h and recording.h.
 *
 * An operation spans its work, from the first to the last; that work was launched (on hosts: ran) within its mark. Marks hold
 * waiting for messages as well, so their own ends tell nothing.
 */
#include "base/rows.h"
#include "job/job.h"
#include "job/recording.h"
#include "trace/span.h"

int64_t recording_step(const struct recording *of, int64_t moment_ns)
{
    if (!of->steps)
        return 0;
    const struct step *step = step_list_at(of->steps, of->file, moment_ns);
    return step ? step->number : FACTS_MISSING;
}

/* MOMENT from the start of the recording; differences and sums of two of them fit. */
static int64_t moment_of(const struct recording *of, int64_t moment_ns)
{
    const int64_t most_ns = INT64_C(1) << 52;
    int64_t since_ns;
    if (__builtin_sub_overflow(moment_ns, of->origin_ns, &since_ns))
        return most_ns;
    return since_ns > most_ns ? most_ns : since_ns < -most_ns ? -most_ns : since_ns;
}

static struct facts_operation make_row(struct recording *of, size_t number, const char *type, int64_t step,
                                       struct interval ran)
{
    int64_t start_ns = moment_of(of, ran.start_ns);
    return (struct facts_operation){ .number = (int64_t)number,
                                     .type = facts_text(of->facts, type),
                                     .step = step,
                                     .start_ns = start_ns,
                                     .duration_ns = moment_of(of, ran.end_ns) - start_ns,
                                     .stage = FACTS_MISSING,
                                     .chunk = FACTS_MISSING,
                                     .microbatch = FACTS_MISSING,
                                     .serves = FACTS_MISSING,
                                     .sequence = FACTS_MISSING,
                                     .kind = NAME_NONE,
                                     .dimension = NAME_NONE,
                                     .issued_step = FACTS_MISSING,
                                     .exposed_ns = FACTS_MISSING };
}

uint32_t recording_add(struct recording *of, const char *type, int64_t step, struct interval ran)
{
    struct facts_operation row = make_row(of, of->found.count, type, step, ran);
    *VEC_PUSH(&of->found) = (struct found){ .row = row, .type = OPERATION_OTHER };
    return (uint32_t)of->found.count - 1;
}

uint32_t recording_add_computation(struct recording *of, uint32_t type, int64_t step, struct interval issued,
                                   struct interval ran)
{
    uint32_t place = recording_add(of, operation_type_word(type), step, ran);
    struct found *found = &of->found.at[place];
    found->type = type;
    found->issued_ns = issued.start_ns;
    found->issued_end_ns = issued.end_ns;
    return place;
}

/* ---- what was recorded ---- */

enum name_use {
    NAME_IS_OPTIMIZER = 1,
    NAME_IS_OPTIMIZER_STEP = 2,
    NAME_IS_BACKWARD = 4,
    NAME_COLLECTS = 8,
    NAME_COMMUNICATES = 16,
};

static uint8_t use_of_name(const char *name)
{
    unsigned use = 0;
    use |= strncmp(name, "Optimizer.", 10) == 0 ? NAME_IS_OPTIMIZER : 0;
    use |= strncmp(name, "Optimizer.step", 14) == 0 ? NAME_IS_OPTIMIZER_STEP : 0;
    use |= strncmp(name, "autograd::engine::evaluate_function", 35) == 0 ? NAME_IS_BACKWARD : 0;
    use |= strcmp(name, "Python GC") == 0 || strstr(name, "gc.collect") ? NAME_COLLECTS : 0;
    use |= strncmp(name, "c10d::", 6) == 0 || strncmp(name, "gloo:", 5) == 0 ||
                   strncmp(name, "record_param_comms", 18) == 0
               ? NAME_COMMUNICATES
               : 0;
    return (uint8_t)use;
}

static void read_annotation(struct recording *of, const struct trace *trace, event_id e,
                            const struct mark_name *mark, unsigned use)
{
    struct interval span = { trace_start_ns(trace, e), trace_end_ns(trace, e) };
    if (mark->kind == MARK_COMPUTES)
        *VEC_PUSH(&of->marks) = (struct mark){ span.start_ns, span.end_ns, trace->track[e], *mark };
    else if (mark->kind != MARK_NONE)
        *VEC_PUSH(&of->message_marks) = (struct mark){ span.start_ns, span.end_ns, trace->track[e], *mark };
    if (use & NAME_IS_OPTIMIZER)
        intervals_add(&of->optimizers, span.start_ns, span.end_ns);
    if (use & NAME_IS_OPTIMIZER_STEP)
        *VEC_PUSH(&of->optimizer_steps) = span;
}

static const struct key marks_by_start[] = { ASC(struct mark, start_ns), ASC(struct mark, end_ns), KEY_END };
static const struct key work_by_track[] = { ASC(struct work, track), ASC(struct work, start_ns),
                                            DESC(struct work, end_ns), KEY_END };
static const struct key work_by_issue[] = { ASC(struct work, issued_ns), KEY_END };
static const struct key messages_by_issue[] = { ASC(struct message, issued_ns), ASC(struct message, start_ns),
                                                KEY_END };

static void read_host(struct recording *of, const uint8_t *uses, const struct mark_name *marks)
{
    const struct trace *trace = of->trace;
    const struct trace_file *file = &trace->files[of->file];
    bool is_host = of->form == JOB_OF_HOSTS;
    for (event_id e = file->first_event; e < file->first_event + file->event_count; e++) {
        unsigned use = uses[trace->name[e]];
        enum event_kind kind = (enum event_kind)trace->kind[e];
        if (event_on_device(kind) || (trace->flags[e] & (EVENT_POINT | EVENT_ASYNC)))
            continue;
        int64_t start_ns = trace_start_ns(trace, e), end_ns = trace_end_ns(trace, e);
        if (kind == EVENT_ANNOTATION)
            read_annotation(of, trace, e, &marks[trace->name[e]], use);
        if (use & NAME_COLLECTS)
            *VEC_PUSH(&of->collections) = (struct interval){ start_ns, end_ns };
        if (kind == EVENT_OP && (use & NAME_IS_BACKWARD))
            intervals_add(&of->backward, start_ns, end_ns);
        if (kind == EVENT_OP && is_host && !(use & NAME_COMMUNICATES))
            *VEC_PUSH(&of->work) =
                (struct work){ start_ns, end_ns, start_ns, end_ns, trace->track[e], false };
    }
    intervals_merge(&of->optimizers);
    intervals_merge(&of->backward);
    SORT(&of->marks, marks_by_start);
    SORT(&of->message_marks, marks_by_start);
}

/* The dimension of a collective; gloo's regions do not name their group. */
static uint32_t talk_dimension(const struct trace *trace, const struct collective *one, bool on_host)
{
    if (one->kind == COLLECTIVE_SEND || one->kind == COLLECTIVE_RECV)
        return JOB_PP;
    return on_host || one->group_description == NAME_NONE
               ? JOB_NO_DIMENSION
               : coordinates_dimension(names_text(trace->texts, one->group_description));
}

/* The recordings of the files of a trace. */
struct recordings {
    const struct trace *trace;
    struct recording *at; /* by file */
};

static void read_collectives(struct recordings *all, const struct collectives *collectives)
{
    const struct trace *trace = all->trace;
    SCOPED bool *launching = collective_places_launching(collectives);
    FOR_EACH(one, collectives) {
        const struct collective_place *place = &collectives->places[one->place];
        bool is_host = all->at[place->file].form == JOB_OF_HOSTS;
        bool from_before =
            one->launch == EVENT_NONE && launching[one->place]; /* of no mark, whatever runs then */
        if (!one->timed || (place->device < 0) != is_host || from_before)
            continue;
        *VEC_PUSH(&all->at[place->file].messages) =
            (struct message){ collective_issued_ns(collectives, one), trace_start_ns(trace, one->event),
                              trace_end_ns(trace, one->event),        one->kind,
                              talk_dimension(trace, one, is_host),    OPERATION_NONE };
    }
}

/* New, by event: the kind of the collective that it is; COLLECTIVE_KINDS: none. */
static uint8_t *find_kinds(const struct collectives *collectives)
{
    uint8_t *kinds = mem_alloc(collectives->trace->event_count + 1);
    memset(kinds, COLLECTIVE_KINDS, collectives->trace->event_count + 1);
    for (size_t i = 0; i < collectives->count; i++)
        kinds[collectives->at[i].event] = (uint8_t)collectives->at[i].kind;
    return kinds;
}

/* Of a device: what computes or, within an operation, communicates with the ranks that share it; not messages. */
static void read_devices(struct recordings *all, const struct collectives *collectives)
{
    const struct trace *trace = all->trace;
    const struct gpu_events *gpu = collectives->gpu;
    SCOPED uint8_t *kinds = find_kinds(collectives);
    for (size_t d = 0; d < gpu->device_count; d++) {
        struct recording *of = &all->at[gpu->devices[d].file];
        for (size_t i = gpu->devices[d].first; i < gpu->devices[d].first + gpu->devices[d].count; i++) {
            event_id e = gpu->event[i], call = gpu->call[i];
            unsigned kind = kinds[e];
            if (call == EVENT_NONE || kind == COLLECTIVE_SEND || kind == COLLECTIVE_RECV ||
                kind == COLLECTIVE_SEND_RECV)
                continue;
            *VEC_PUSH(&of->work) = (struct work){
                trace_start_ns(trace, call), trace_end_ns(trace, call), trace_start_ns(trace, e),
                trace_end_ns(trace, e),      trace->track[e],           gpu_work_communicates(gpu->work[i])
            };
        }
    }
}

/* ---- all files ---- */

/* Does FILE mark steps? Those of others are inferred. */
static bool marks_steps(const struct step_list *steps, const struct trace *trace, uint32_t file)
{
    int64_t number;
    return ANY(i, steps->count,
               steps->at[i].file == file && step_number(trace_name(trace, steps->at[i].event), &number));
}

static enum job_form form_of(const struct trace *trace, const struct gpu_events *gpu, uint32_t file)
{
    if (file_is_timeline(trace, file))
        return JOB_TIMELINE;
    if (ANY(d, gpu->device_count, gpu->devices[d].file == file && gpu->devices[d].count))
        return JOB_OF_DEVICES;
    return JOB_OF_HOSTS;
}

static void read_files(struct recordings *all, const struct collectives *collectives)
{
    const struct trace *trace = all->trace;
    size_t names = names_count(trace->names);
    uint8_t *uses = mem_alloc(names + 1);
    struct mark_name *marks = mem_alloc(mem_times(names + 1, sizeof *marks));
    for (name_id id = 0; id < names; id++) {
        uses[id] = use_of_name(names_text(trace->names, id));
        marks[id] = mark_read(names_text(trace->names, id));
    }
    for (uint32_t f = 0; f < trace->file_count; f++)
        if (all->at[f].form != JOB_TIMELINE)
            read_host(&all->at[f], uses, marks);
    free(uses);
    free(marks);
    read_collectives(all, collectives);
    read_devices(all, collectives);
    FOR_EACH_OF(of, all->at, trace->file_count) {
        for (size_t i = 0; i < of->messages.count; i++)
            if (of->messages.at[i].kind == COLLECTIVE_RECV)
                *VEC_PUSH(&of->arrivals) = of->messages.at[i].end_ns;
        SORT(&of->arrivals, rows_ascending_i64);
        SORT(&of->messages, messages_by_issue);
        SORT(&of->work, of->form == JOB_OF_HOSTS ? work_by_track : work_by_issue);
    }
}

static void *job_gather_open(const struct trace *trace, const struct collectives *collectives)
{
    struct recordings *all = mem_zalloc(1, sizeof *all);
    const struct step_list *steps = step_list_has_marks(trace) ? step_list_of(trace) : NULL;
    all->trace = trace;
    all->at = mem_zalloc(trace->file_count + 1, sizeof *all->at);
    for (uint32_t f = 0; f < trace->file_count; f++) {
        struct recording *of = &all->at[f];
        ARENA_OWNS(&of->arena, &of->marks, &of->message_marks, &of->work, &of->messages, &of->arrivals,
                   &of->optimizer_steps, &of->optimizers, &of->backward, &of->collections, &of->found);
        of->trace = trace;
        of->file = f;
        of->form = form_of(trace, collectives->gpu, f);
        of->steps = steps && marks_steps(steps, trace, f) ? steps : NULL;
        of->origin_ns = trace_file_span(trace, f).start_ns;
    }
    read_files(all, collectives);
    return all;
}

/* ---- one file ---- */

static bool has_messages(const struct recording *of)
{
    return ANY(i, of->messages.count,
               of->messages.at[i].kind == COLLECTIVE_SEND || of->messages.at[i].kind == COLLECTIVE_RECV);
}

/* Let the rows of OF tell of communication: operations, or only that. */
static void add_talks(struct recording *of)
{
    SCOPED_BY(intervals_release) struct intervals computing = { 0 };
    for (size_t i = 0; i < of->work.count && of->form == JOB_OF_DEVICES; i++)
        if (!of->work.at[i].communicates)
            intervals_add(&computing, of->work.at[i].start_ns, of->work.at[i].end_ns);
    intervals_merge(&computing);
    FOR_EACH(one, &of->messages) {
        struct interval ran = { one->start_ns, one->end_ns };
        int64_t computed_ns = intervals_length_within(&computing, ran.start_ns, ran.end_ns);
        uint32_t place = one->found;
        if (place == OPERATION_NONE)
            place = recording_add(of, NULL, FACTS_MISSING, ran);
        struct facts_operation *row = &of->found.at[place].row;
        row->kind = facts_text(of->facts, collective_kind_name(one->kind));
        row->dimension = facts_text(of->facts, job_dimension_name(one->dimension));
        row->issued_step = recording_step(of, one->issued_ns);
        row->exposed_ns = of->form == JOB_OF_HOSTS ? 0 : row->duration_ns - computed_ns;
    }
}

static void add_collections(struct recording *of)
{
    for (size_t i = 0; i < of->collections.count; i++) {
        uint32_t place = recording_add(of, NULL, FACTS_MISSING, of->collections.at[i]);
        struct facts_operation *row = &of->found.at[place].row;
        row->kind = facts_text(of->facts, JOB_COLLECTION);
        row->issued_step = recording_step(of, of->collections.at[i].start_ns);
    }
}

/* Rows in no step are left out, but keep their number; where no steps are marked, all are in one. */
static void add_found(struct recording *of)
{
    bool numbered = of->steps || of->form == JOB_TIMELINE;
    for (size_t i = 0; i < of->found.count; i++) {
        struct facts_operation row = of->found.at[i].row;
        if (numbered && row.step == FACTS_MISSING && row.issued_step == FACTS_MISSING)
            continue;
        if (numbered && row.step == FACTS_MISSING)
            row.type = NAME_NONE;
        if (numbered && row.issued_step == FACTS_MISSING)
            row.kind = row.dimension = NAME_NONE;
        if (!numbered)
            row.step = row.issued_step = FACTS_MISSING;
        facts_add(of->facts, FACTS_OPERATIONS, &row);
    }
}

static void job_gather_add(void *opened, uint32_t file, struct facts *own, struct facts_recording *row)
{
    struct recordings *all = opened;
    struct recording *of = &all->at[file];
    of->facts = own;
    if (of->form == JOB_TIMELINE) {
        timeline_add(of);
    } else if (of->marks.count || has_messages(of)) {
        if (of->marks.count)
            recording_add_marked(of);
        else
            recording_add_unmarked(of);
        of->computations = of->found.count;
        recording_add_messages(of);
    }
    add_talks(of);
    add_collections(of);
    add_found(of);
    row->form = facts_text(own, job_form_name(of->form));
    row->marked = of->form == JOB_TIMELINE || of->marks.count > 0;
    coordinates_read(all->trace, file, row);
    arena_release(&of->arena);
}

static void job_gather_close(void *opened)
{
    struct recordings *all = opened;
    free(all->at);
    free(all);
}

const struct gather_operations job_gather = { job_gather_open, job_gather_add, job_gather_close };
