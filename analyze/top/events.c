/* events.c - see events.h. */
#include "analyze/top/events.h"

#include "base/memory.h"
#include <stdlib.h>

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

/*
 * torch adds up all calls of a name, those within others of that name too. Elsewhere, and in rows that are not
 * operators, time that a caller in the same row has already counts once.
 */
bool top_counts_once(const struct top_events *events, event_id e)
{
    return !events->per_call || !top_is_torch(events, e);
}

bool top_chooses_events(const struct top_options *options)
{
    const struct selection *selection = options->selection;
    return selection && (selection->files || selection->tracks || selection->windows);
}

/*
 * What was not chosen on the host stays in the tree and in no row: a caller's self time is without its callees,
 * chosen or not. A device chosen leaves the host's events out.
 */
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

static enum top_role role_of(const struct top_events *events, event_id e)
{
    const struct trace *trace = events->trace;
    enum event_kind kind = (enum event_kind)trace->kind[e];
    unsigned flags = trace->flags[e], name_flags = events->names.flags[trace->name[e]];
    if (name_flags & NAME_DROPPED)
        return name_flags & NAME_MEMORY      ? ROLE_MEMORY
               : name_flags & NAME_NO_MEMORY ? ROLE_OUT_OF_MEMORY
                                             : ROLE_NONE;
    if (event_on_device(kind))
        return top_is_selected(events, e) ? ROLE_DEVICE : ROLE_NONE;
    if (kind == EVENT_SPAN)
        return ROLE_NONE;
    if (flags & EVENT_ASYNC)
        return ROLE_ASYNC;
    if (!top_is_torch(events, e))
        return ROLE_CALL;
    if (flags & EVENT_POINT && names_length(trace->texts, trace->categories[trace->category[e]].text) == 0)
        return ROLE_NONE; /* "Iteration Start", "Record Window End": marks of Kineto's own */
    if ((kind == EVENT_OP || kind == EVENT_ANNOTATION) &&
        (name_flags & NAME_ASYNC || region_was_open(trace, e)))
        return ROLE_ASYNC;
    return ROLE_CALL;
}

static void find_files(struct top_events *events)
{
    const struct trace *trace = events->trace;
    events->files = mem_zalloc(trace->file_count + 1, sizeof *events->files);
    for (uint32_t i = 0; i < trace->file_count; i++)
        events->files[i].is_torch = trace->files[i].producer == PRODUCER_KINETO;
    for (track_id t = 0; t < trace->track_count; t++)
        events->files[trace->tracks[t].file].has_gpu |= trace->tracks[t].kind == TRACK_STREAM;
    /* torch counts operations only when told to; for work on a GPU they are what its time is compared with,
     * so there every trace that holds shapes gets them. */
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
    for (event_id e = 0; e < trace->event_count; e++)
        events->role[e] = (uint8_t)role_of(events, e);
}

void top_events_release(struct top_events *events)
{
    top_names_release(&events->names);
    free(events->files);
    free(events->role);
    free(events->selected);
}
