#include "analyze/top/top.h"

bool top_is_frame(const struct top_events *events, event_id e)
{
    int64_t id;
    return trace_arg(events->trace, ARG_PYTHON_ID, e, &id);
}

/* torch lists records of memory in no call after all others that start then, and failures after these. */
uint64_t top_order(const struct top_events *events, event_id e)
{
    unsigned flags = events->names.flags[events->trace->name[e]];
    unsigned late = flags & NAME_NO_MEMORY ? 2 : flags & NAME_MEMORY ? 1 : 0;
    return late * (uint64_t)events->trace->event_count + e;
}

/* torch adds up all calls of a name, those within others of that name too. Elsewhere, and in rows that are not
 * operators, time that a caller in the same row has already counts once. */
bool top_counts_once(const struct top_events *events, event_id e)
{
    return !events->per_call || !top_is_torch(events, e);
}

bool top_chooses_events(const struct top_options *options)
{
    const struct selection *selection = options->selection;
    return selection && (selection->files || selection->tracks || selection->windows);
}

/* What was not chosen on the host stays in the tree and in no row: a caller's self time is without its callees,
 * chosen or not. A device chosen leaves the host's events out. */
static void select_events(struct top_events *events)
{
    const struct trace *trace = events->trace;
    if (!top_chooses_events(events->options))
        return;
    events->selected = mem_zalloc(trace->event_count / 64 + 1, sizeof *events->selected);
    for (event_id e = 0; e < trace->event_count; e++)
        if (selection_holds_place(events->options->selection, e))
            events->selected[e / 64] |= UINT64_C(1) << (e % 64);
}

/* What is listed by its name alone. */
static enum top_role role_of_record(unsigned name_flags)
{
    return name_flags & NAME_MEMORY      ? ROLE_MEMORY
           : name_flags & NAME_NO_MEMORY ? ROLE_OUT_OF_MEMORY
                                         : ROLE_NONE;
}

/* How an event of KIND with FLAGS counts, unless it was open at the end or is async by its name. */
static enum top_role role_of_kind(enum event_kind kind, unsigned flags)
{
    return event_on_device(kind) ? ROLE_DEVICE
           : kind == EVENT_SPAN  ? ROLE_NONE
           : flags & EVENT_ASYNC ? ROLE_ASYNC
                                 : ROLE_CALL;
}

/* "Iteration Start", "Record Window End": marks of Kineto's own. */
static bool is_mark(const struct trace *trace, event_id e)
{
    return trace->flags[e] & EVENT_POINT &&
           names_length(trace->texts, trace->categories[trace->category[e]].text) == 0;
}

/* Of a call of torch. *OPEN goes on to the first region of events->open that is not before E. */
static enum top_role role_of_torch(const struct top_events *events, event_id e, size_t *open)
{
    const struct trace *trace = events->trace;
    enum event_kind kind = (enum event_kind)trace->kind[e];
    if (is_mark(trace, e))
        return ROLE_NONE;
    if (kind != EVENT_OP && kind != EVENT_ANNOTATION)
        return ROLE_CALL;
    if (events->names.flags[trace->name[e]] & NAME_ASYNC)
        return ROLE_ASYNC;
    if (trace->flags[e] & EVENT_POINT)
        return region_was_open(trace, e) ? ROLE_ASYNC : ROLE_CALL;
    while (*open < events->open->count && events->open->at[*open].event < e)
        ++*open;
    bool is_open = *open < events->open->count && events->open->at[*open].event == e;
    return is_open ? ROLE_ASYNC : ROLE_CALL;
}

static void find_roles(struct top_events *events, const struct trace_file *file, bool is_torch)
{
    const struct trace *trace = events->trace;
    enum { FLAGS = 16 };
    uint8_t roles[EVENT_KINDS][FLAGS];
    for (int kind = 0; kind < EVENT_KINDS; kind++)
        for (unsigned flags = 0; flags < FLAGS; flags++)
            roles[kind][flags] = (uint8_t)role_of_kind((enum event_kind)kind, flags);
    /* Profilers of other devices record waits and marks of streams among their work; they are no work of anyone. */
    bool has_marks = file->producer >= PRODUCER_TORCH_NPU;
    for (unsigned flags = 0; flags < FLAGS && has_marks; flags++)
        roles[EVENT_SYNC][flags] = roles[EVENT_GPU_OTHER][flags] = ROLE_NONE;
    size_t open = 0;
    for (event_id e = file->first_event; e < file->first_event + file->event_count; e++) {
        enum top_role role = (enum top_role)roles[trace->kind[e]][trace->flags[e] % FLAGS];
        unsigned name_flags = events->names.flags[trace->name[e]];
        if (name_flags & NAME_STEP && !event_on_device((enum event_kind)trace->kind[e]))
            *VEC_PUSH(&events->steps) = e;
        if (name_flags & NAME_DROPPED)
            role = role_of_record(name_flags);
        else if (role == ROLE_CALL && is_torch)
            role = role_of_torch(events, e, &open);
        else if (role == ROLE_DEVICE && !top_is_selected(events, e))
            role = ROLE_NONE;
        events->role[e] = (uint8_t)role;
    }
}

static void find_files(struct top_events *events)
{
    const struct trace *trace = events->trace;
    events->files = mem_zalloc(trace->file_count + 1, sizeof *events->files);
    for (uint32_t i = 0; i < trace->file_count; i++)
        events->files[i].is_torch = trace->files[i].producer == PRODUCER_KINETO;
    for (track_id t = 0; t < trace->track_count; t++)
        events->files[trace->tracks[t].file].has_gpu |= trace->tracks[t].kind == TRACK_STREAM;
    /* torch counts operations only on request. Here the time of work on a GPU is compared with them, so every trace
     * of a GPU that holds shapes gets them. */
    for (uint32_t i = 0; i < trace->file_count; i++)
        events->files[i].counts_flops = trace->files[i].with_flops == 1 || events->files[i].has_gpu;
}

/* What makes a row, with what goes without saying. */
static void settle_dimensions(struct top_events *events)
{
    const unsigned naming = TOP_OPERATOR | TOP_SHAPE | TOP_STACK | TOP_OVERLOAD | TOP_KERNEL;
    const unsigned alone = TOP_CATEGORY | TOP_THREAD | TOP_STREAM | TOP_DEVICE | TOP_BOTH_SIDES;
    events->by = events->options->by;
    if (!(events->by & alone))
        events->by |= TOP_OPERATOR;
    events->per_call = events->by & naming;
    if (events->per_call)
        events->by |= TOP_OPERATOR;
}

void top_events_open(struct top_events *events, const struct trace *trace, const struct top_options *options)
{
    *events = (struct top_events){ .trace = trace, .options = options };
    settle_dimensions(events);
    find_files(events);
    top_names_open(&events->names, trace, options);
    events->open = open_regions_of(trace);
    select_events(events);
    events->role = mem_alloc(trace->event_count + 1);
    for (uint32_t f = 0; f < trace->file_count; f++)
        find_roles(events, &trace->files[f], events->files[f].is_torch);
}
