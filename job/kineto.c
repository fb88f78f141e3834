/*
 * kineto.c - the operations of recordings of profilers: see recording.h.
 *
 * An operation spans its work, from the first to the last; that work was launched (on hosts: ran) within its mark. Marks hold
 * waiting for messages as well, so their own ends tell nothing.
 */
#include "base/rows.h"
#include "derive/collective_matches.h"
#include "derive/gpu_events.h"
#include "job/recording.h"
#include <string.h>

int64_t recording_moment(const struct recordings *all, uint32_t file, int64_t moment_ns)
{
    const struct trace *trace = all->reading->all->trace;
    const struct trace_file *of = &trace->files[file];
    const struct trace_file *first = &trace->files[0];
    int64_t shift_ns = 0, moved_ns = moment_ns;
    if (all->clocks && of->has_base && !__builtin_add_overflow(moment_ns, of->base_ns, &moved_ns))
        moved_ns = rank_clock_moment(&all->clocks[file], moved_ns);
    if (all->clocks && first->has_base)
        shift_ns = first->base_ns;
    else if (!all->clocks && of->has_base && first->has_base &&
             __builtin_sub_overflow(first->base_ns, of->base_ns, &shift_ns))
        shift_ns = 0;
    if (__builtin_sub_overflow(moved_ns, shift_ns, &moved_ns) ||
        __builtin_sub_overflow(moved_ns, all->origin_ns, &moved_ns))
        moved_ns = moment_ns;
    return reading_clamp(moved_ns);
}

int64_t recording_step(const struct recordings *all, uint32_t file, int64_t moment_ns)
{
    if (!all->steps)
        return 0;
    const struct step *step = step_list_at(all->steps, file, moment_ns);
    return step ? step->number : STEP_UNKNOWN;
}

uint32_t recording_add(struct recordings *all, const struct recording *of, uint32_t type, int64_t step,
                       struct interval issued, struct interval ran)
{
    uint32_t place =
        reading_add(all->reading, type, of->rank, step, recording_moment(all, of->file, ran.start_ns),
                    recording_moment(all, of->file, ran.end_ns));
    struct operation *op = &all->reading->all->at[place];
    op->issued_ns = issued.start_ns;
    op->issued_end_ns = issued.end_ns;
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

static void read_host(struct recordings *all, struct recording *of, const uint8_t *uses,
                      const struct mark_name *marks)
{
    const struct trace *trace = all->reading->all->trace;
    const struct trace_file *file = &trace->files[of->file];
    bool is_host = all->reading->all->form == JOB_OF_HOSTS;
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

static void read_collectives(struct recordings *all, const struct collectives *collectives)
{
    const struct trace *trace = all->reading->all->trace;
    bool is_host = all->reading->all->form == JOB_OF_HOSTS;
    for (size_t i = 0; i < collectives->count; i++) {
        const struct collective *one = &collectives->at[i];
        const struct collective_place *place = &collectives->places[one->place];
        if (!one->timed || (place->device < 0) != is_host)
            continue;
        *VEC_PUSH(&all->at[place->file].messages) =
            (struct message){ collective_issued_ns(collectives, one), trace_start_ns(trace, one->event),
                              trace_end_ns(trace, one->event), one->kind,
                              talk_dimension(trace, one, is_host) };
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
    const struct trace *trace = all->reading->all->trace;
    const struct gpu_events *gpu = collectives->gpu;
    uint8_t *kinds = find_kinds(collectives);
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
    free(kinds);
}

/* ---- messages and collectives for the dimensions ---- */

static void add_talks(struct recordings *all, const struct recording *of)
{
    struct operations *to = all->reading->all;
    struct intervals computing = { 0 };
    for (size_t i = 0; i < of->work.count && to->form == JOB_OF_DEVICES; i++)
        if (!of->work.at[i].communicates)
            intervals_add(&computing, of->work.at[i].start_ns, of->work.at[i].end_ns);
    intervals_merge(&computing);
    for (size_t i = 0; i < of->messages.count; i++) {
        const struct message *one = &of->messages.at[i];
        int64_t exposed_ns = to->form == JOB_OF_HOSTS
                                 ? 0
                                 : one->end_ns - one->start_ns -
                                       intervals_length_within(&computing, one->start_ns, one->end_ns);
        *VEC_PUSH(&to->talks) = (struct talk){ .rank = of->rank,
                                               .dimension = one->dimension,
                                               .kind = one->kind,
                                               .start_ns = recording_moment(all, of->file, one->start_ns),
                                               .end_ns = recording_moment(all, of->file, one->end_ns),
                                               .exposed_ns = exposed_ns };
        *VEC_PUSH(&all->reading->talk_step_of) = recording_step(all, of->file, one->issued_ns);
    }
    intervals_release(&computing);
}

static void add_collections(struct recordings *all, const struct recording *of)
{
    for (size_t i = 0; i < of->collections.count; i++) {
        struct interval span = of->collections.at[i];
        *VEC_PUSH(&all->reading->all->collections) =
            (struct collection){ of->rank, 0, recording_moment(all, of->file, span.start_ns),
                                 recording_moment(all, of->file, span.end_ns) };
        *VEC_PUSH(&all->reading->collection_of) = recording_step(all, of->file, span.start_ns);
    }
}

/* ---- all files ---- */

/* Have all files one clock, because they are of one host or were one file? */
static bool have_one_clock(const struct trace *trace)
{
    const struct trace_file *first = &trace->files[0];
    for (uint32_t f = 1; f < trace->file_count; f++) {
        const struct trace_file *file = &trace->files[f];
        bool one_file = strcmp(first->path, file->path) == 0;
        bool one_host = first->host_name && file->host_name && strcmp(first->host_name, file->host_name) == 0;
        if (!one_file && file->has_base && !one_host)
            return false;
    }
    return true;
}

static bool has_pipeline(const struct recordings *all, uint32_t files, bool *marked)
{
    bool messages = false;
    *marked = false;
    for (uint32_t f = 0; f < files; f++) {
        *marked |= all->at[f].marks.count > 0;
        for (size_t i = 0; i < all->at[f].messages.count; i++)
            messages |= all->at[f].messages.at[i].kind == COLLECTIVE_SEND ||
                        all->at[f].messages.at[i].kind == COLLECTIVE_RECV;
    }
    return *marked || messages;
}

static int64_t find_origin(const struct trace *trace)
{
    int64_t origin_ns = INT64_MAX;
    for (event_id e = 0; e < trace->files[0].event_count; e++)
        if (trace_start_ns(trace, e) < origin_ns)
            origin_ns = trace_start_ns(trace, e);
    return origin_ns == INT64_MAX ? 0 : origin_ns;
}

static void read_files(struct recordings *all, const struct collectives *collectives)
{
    const struct trace *trace = all->reading->all->trace;
    size_t names = names_count(trace->names);
    uint8_t *uses = mem_alloc(names + 1);
    struct mark_name *marks = mem_alloc(mem_times(names + 1, sizeof *marks));
    for (name_id id = 0; id < names; id++) {
        uses[id] = use_of_name(names_text(trace->names, id));
        marks[id] = mark_read(names_text(trace->names, id));
    }
    for (uint32_t f = 0; f < trace->file_count; f++) {
        all->at[f].file = f;
        all->at[f].rank = all->reading->rank_of[f];
        read_host(all, &all->at[f], uses, marks);
    }
    free(uses);
    free(marks);
    read_collectives(all, collectives);
    if (all->reading->all->form == JOB_OF_DEVICES)
        read_devices(all, collectives);
    for (uint32_t f = 0; f < trace->file_count; f++) {
        struct recording *of = &all->at[f];
        for (size_t i = 0; i < of->messages.count; i++)
            if (of->messages.at[i].kind == COLLECTIVE_RECV)
                *VEC_PUSH(&of->arrivals) = of->messages.at[i].end_ns;
        SORT(&of->arrivals, rows_ascending_i64);
        SORT(&of->messages, messages_by_issue);
        SORT(&of->work, all->reading->all->form == JOB_OF_HOSTS ? work_by_track : work_by_issue);
    }
}

static void release_recording(struct recording *of)
{
    VEC_FREE(&of->marks);
    VEC_FREE(&of->message_marks);
    VEC_FREE(&of->work);
    VEC_FREE(&of->messages);
    VEC_FREE(&of->arrivals);
    VEC_FREE(&of->optimizer_steps);
    VEC_FREE(&of->collections);
    intervals_release(&of->optimizers);
    intervals_release(&of->backward);
}

void kineto_read(struct reading *reading)
{
    struct operations *to = reading->all;
    const struct trace *trace = to->trace;
    struct collectives *collectives = collectives_open(trace);
    struct collective_matches *matches = NULL;
    struct recordings all = { .reading = reading };
    to->form = collectives->gpu->count ? JOB_OF_DEVICES : JOB_OF_HOSTS;
    all.steps = step_list_has_marks(trace) ? step_list_of(trace) : NULL;
    all.at = mem_zalloc(trace->file_count + 1, sizeof *all.at);
    if (!have_one_clock(trace)) {
        matches = collective_matches_open(collectives);
        all.clocks = matches->clocks;
        to->corrected = true;
    }
    all.origin_ns = find_origin(trace);
    read_files(&all, collectives);
    bool pipeline = has_pipeline(&all, (uint32_t)trace->file_count, &to->marked);
    coordinates_finish(to, pipeline);
    for (uint32_t f = 0; f < trace->file_count; f++) {
        struct recording *of = &all.at[f];
        of->first_op = (uint32_t)to->count;
        if (to->marked)
            recording_add_marked(&all, of);
        else if (pipeline)
            recording_add_unmarked(&all, of);
        of->op_count = (uint32_t)to->count - of->first_op;
        if (pipeline)
            recording_add_messages(&all, of);
        add_talks(&all, of);
        add_collections(&all, of);
        release_recording(of);
    }
    free(all.at);
    collective_matches_free(matches);
    collectives_free(collectives);
}
