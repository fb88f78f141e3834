#include "derive/callers.h"

#include "base/rows.h"
#include "derive/python_names.h"
#include "base/search.h"
#include "derive/step_list.h"

/* A call whose callers are wanted; its node. */
struct called {
    event_id event;
    node_id node;
};

struct callers {
    const struct trace *trace;
    struct calltree *tree;
    struct called *called; /* by event: those that were requested */
    size_t called_count;
    uint8_t *frame;      /* by name: enum python_frame + 1; 0: not determined yet */
    event_id *op, *line; /* by node, of what it called; EVENT_NONE: none */
};

/* The starts of the calls of a thread whose callers are requested. */
struct requested_calls {
    VEC_OF(int64_t); /* ascending */
    size_t hint;     /* where the last search ended: events are nearly in order */
};

struct taking {
    const struct trace *trace;
    struct requested_calls *requested; /* by track */
};

/* Did one of those calls begin in START..END? */
static bool is_around(struct requested_calls *requested, int64_t start_ns, int64_t end_ns)
{
    size_t hint = requested->hint;
    if ((hint > 0 && requested->at[hint - 1] >= start_ns) ||
        (hint < requested->count && requested->at[hint] < start_ns)) {
        hint = requested->hint = search_from(requested->at, requested->count, start_ns);
    }
    return hint < requested->count && requested->at[hint] <= end_ns;
}

/* Select only those calls and the events around them. */
static bool callers_takes_part(const void *context, event_id e)
{
    const struct taking *taking = context;
    const struct trace *trace = taking->trace;
    struct requested_calls *requested = &taking->requested[trace->track[e]];
    enum event_kind kind = trace->kind[e];
    return requested->count && (kind == EVENT_OP || kind == EVENT_PYTHON || event_is_call(kind)) &&
           !(trace->flags[e] & (EVENT_ASYNC | EVENT_POINT)) &&
           is_around(requested, trace_start_ns(trace, e), trace_end_ns(trace, e));
}

static bool is_of_aten(const struct trace *trace, event_id e)
{
    return strncmp(trace_name(trace, e), "aten::", 6) == 0;
}

/* The operator of NODE's callees: NODE itself if it is an operator, unless both it and its caller are aten's; else its
 * caller's. */
static event_id operator_of(const struct callers *callers, node_id node)
{
    const struct trace *trace = callers->trace;
    const struct calltree *tree = callers->tree;
    event_id e = tree->event[node];
    node_id parent = tree->parent[node];
    event_id above = parent == NODE_NONE ? EVENT_NONE : callers->op[parent];
    int64_t step;
    if (trace->kind[e] != EVENT_OP ||
        step_number(trace_name(trace, e), &step)) /* which old files call operators */
        return above;
    bool passes = parent != NODE_NONE && trace->kind[tree->event[parent]] == EVENT_OP &&
                  is_of_aten(trace, e) && is_of_aten(trace, tree->event[parent]);
    return passes ? above : e;
}

static enum python_frame frame_of(const struct callers *callers, name_id name)
{
    if (callers->frame[name] == 0)
        callers->frame[name] = (uint8_t)(python_frame_of(names_text(callers->trace->names, name)) + 1);
    return (enum python_frame)(callers->frame[name] - 1);
}

static bool has_stack(const struct trace *trace, event_id e)
{
    const char *stack = trace_arg_text(trace, ARG_CALL_STACK, e);
    return stack && *stack;
}

/* Of "inner;outer;..." the first entry in the user's code; without one, the first. */
static const char *line_of_stack(const struct trace *trace, event_id e, size_t *len)
{
    const char *stack = trace_arg_text(trace, ARG_CALL_STACK, e);
    if (!stack || !*stack)
        return NULL;
    for (const char *entry = stack; *entry; entry += *len + (entry[*len] == ';')) {
        *len = strcspn(entry, ";");
        char *name = mem_strndup(entry, *len);
        enum python_frame frame = python_frame_of(name);
        free(name);
        if (frame == FRAME_OF_USER)
            return entry;
    }
    *len = strcspn(stack, ";");
    return stack;
}

static bool is_line_of_user(const struct callers *callers, event_id e)
{
    return callers->trace->kind[e] == EVENT_PYTHON &&
           frame_of(callers, callers->trace->name[e]) == FRAME_OF_USER;
}

/* The event with the line of NODE's callees: a frame of the user's code, else one of PyTorch's or an operator with a
 * stack. */
static event_id line_at(const struct callers *callers, node_id node)
{
    const struct trace *trace = callers->trace;
    event_id e = callers->tree->event[node];
    node_id parent = callers->tree->parent[node];
    event_id above = parent == NODE_NONE ? EVENT_NONE : callers->line[parent];
    if (is_line_of_user(callers, e))
        return e;
    if (above != EVENT_NONE && is_line_of_user(callers, above))
        return above;
    bool tells = trace->kind[e] == EVENT_PYTHON ? frame_of(callers, trace->name[e]) == FRAME_OF_TORCH
                                                : trace->kind[e] == EVENT_OP && has_stack(trace, e);
    return tells ? e : above;
}

static const struct key by_event[] = { ASC(struct called, event), KEY_END };

/* The place of CALL among those that were requested, or where it would be. */
static size_t callers_place_of(const struct callers *callers, event_id call)
{
    return PLACE(i, callers->called_count, callers->called[i].event < call);
}

static void callers_find_nodes(struct callers *callers, const event_id *calls, size_t count)
{
    callers->called = mem_alloc(mem_times(count + 1, sizeof *callers->called));
    for (size_t i = 0; i < count; i++)
        callers->called[i] = (struct called){ calls[i], NODE_NONE };
    SORT_ARRAY(callers->called, count, by_event);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || callers->called[i].event != callers->called[callers->called_count - 1].event)
            callers->called[callers->called_count++] = callers->called[i];
    for (node_id n = 0; n < callers->tree->count; n++) {
        size_t i = callers_place_of(callers, callers->tree->event[n]);
        if (i < callers->called_count && callers->called[i].event == callers->tree->event[n])
            callers->called[i].node = n;
    }
}

/* The caller's node of CALL, which was requested. */
static node_id caller_of(const struct callers *callers, event_id call)
{
    size_t i = callers_place_of(callers, call);
    bool is_there = i < callers->called_count && callers->called[i].event == call;
    node_id node = is_there ? callers->called[i].node : NODE_NONE;
    return node == NODE_NONE ? NODE_NONE : callers->tree->parent[node];
}

struct callers *callers_open(const struct trace *trace, const event_id *calls, size_t count)
{
    struct callers *callers = arena_open(sizeof *callers);
    ARENA_OWNS(arena_of(callers), &callers->called, &callers->frame, &callers->op, &callers->line);
    struct taking taking = { trace, mem_zalloc(trace->track_count + 1, sizeof *taking.requested) };
    struct intervals moments = { 0 };
    for (size_t i = 0; i < count; i++) {
        int64_t start_ns = trace_start_ns(trace, calls[i]);
        *VEC_PUSH(&taking.requested[trace->track[calls[i]]]) = start_ns;
        intervals_add(&moments, start_ns, start_ns + 1);
    }
    intervals_merge(&moments);
    for (track_id t = 0; t < trace->track_count; t++)
        SORT_NUMBERS(taking.requested[t].at, taking.requested[t].count);
    callers->trace = trace;
    callers->tree =
        arena_hold(arena_of(callers), calltree_open_within(trace, &moments, callers_takes_part, &taking));
    intervals_release(&moments);
    for (track_id t = 0; t < trace->track_count; t++)
        VEC_FREE(&taking.requested[t]);
    free(taking.requested);
    calltree_nest(callers->tree);
    callers_find_nodes(callers, calls, count);
    callers->frame = mem_zalloc(names_count(trace->names) + 1, 1);
    callers->op = mem_alloc(mem_times(callers->tree->count + 1, sizeof *callers->op));
    callers->line = mem_alloc(mem_times(callers->tree->count + 1, sizeof *callers->line));
    for (node_id n = 0; n < callers->tree->count; n++) { /* callers come first */
        callers->op[n] = operator_of(callers, n);
        callers->line[n] = line_at(callers, n);
    }
    return callers;
}

event_id callers_operator(const struct callers *callers, event_id call)
{
    node_id parent = caller_of(callers, call);
    return parent == NODE_NONE ? EVENT_NONE : callers->op[parent];
}

const char *callers_line(const struct callers *callers, event_id call, size_t *len)
{
    const struct trace *trace = callers->trace;
    node_id parent = caller_of(callers, call);
    event_id e = parent == NODE_NONE ? EVENT_NONE : callers->line[parent];
    if (trace->kind[call] == EVENT_OP && has_stack(trace, call) &&
        (e == EVENT_NONE || !is_line_of_user(callers, e)))
        e = call;
    if (e == EVENT_NONE)
        return NULL;
    if (trace->kind[e] == EVENT_OP)
        return line_of_stack(trace, e, len);
    *len = names_length(trace->names, trace->name[e]);
    return trace_name(trace, e);
}

/* ---- moments ---- */

/* A Python function that begins, or a moment whose caller is requested. */
struct beginning {
    track_id track;
    event_id event;
    size_t moment; /* its number; SIZE_MAX: a function */
    int64_t at_ns;
};

/* By thread and time; a function that begins at a moment is open at that moment. */
static const struct key by_track_time[] = { ASC(struct beginning, track), ASC(struct beginning, at_ns),
                                            DESC(struct beginning, moment), KEY_END };

/* Functions that have begun, each later than the one below. */
struct begun {
    VEC_OF(event_id);
};

/* The one that began last and is open at AT_NS, or EVENT_NONE. Moments ascend, so ended functions are dropped. */
static event_id last_open(const struct trace *trace, struct begun *begun, int64_t at_ns)
{
    while (begun->count > 0 && trace_end_ns(trace, begun->at[begun->count - 1]) <= at_ns)
        begun->count--;
    return begun->count > 0 ? begun->at[begun->count - 1] : EVENT_NONE;
}

void callers_functions_at(const struct trace *trace, const event_id *moments, size_t count,
                          event_id *functions)
{
    SCOPED VEC_OF(struct beginning) all = { 0 };
    SCOPED bool *is_requested = mem_zalloc(trace->track_count + 1, sizeof *is_requested);
    for (size_t i = 0; i < count; i++)
        is_requested[trace->track[moments[i]]] = true;
    for (event_id e = 0; e < trace->event_count; e++)
        if (trace->kind[e] == EVENT_PYTHON && is_requested[trace->track[e]])
            *VEC_PUSH(&all) = (struct beginning){ trace->track[e], e, SIZE_MAX, trace_start_ns(trace, e) };
    for (size_t i = 0; i < count; i++)
        *VEC_PUSH(&all) =
            (struct beginning){ trace->track[moments[i]], moments[i], i, trace_start_ns(trace, moments[i]) };
    SORT(&all, by_track_time);

    SCOPED struct begun users = { 0 }, torchs = { 0 };
    for (size_t i = 0; i < all.count; i++) {
        const struct beginning *one = &all.at[i];
        if (i > 0 && one->track != all.at[i - 1].track)
            users.count = torchs.count = 0;
        if (one->moment == SIZE_MAX) {
            enum python_frame frame = python_frame_of(trace_name(trace, one->event));
            if (frame != FRAME_NO_LINE)
                *VEC_PUSH(frame == FRAME_OF_USER ? &users : &torchs) = one->event;
            continue;
        }
        event_id user = last_open(trace, &users, one->at_ns), torch = last_open(trace, &torchs, one->at_ns);
        functions[one->moment] = user != EVENT_NONE ? user : torch;
    }
}

const char *callers_line_of(const struct trace *trace, event_id function, event_id op, size_t *len)
{
    if (function == EVENT_NONE)
        return op == EVENT_NONE ? NULL : line_of_stack(trace, op, len);
    *len = names_length(trace->names, trace->name[function]);
    return trace_name(trace, function);
}
