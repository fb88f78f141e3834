#include "derive/code_paths.h"

#include "base/demangle.h"
#include "base/lcs.h"
#include "base/rows.h"
#include "base/search.h"
#include "trace/call_names.h"
#include "derive/step_list.h"

struct graph_bodies *graph_bodies_open(void)
{
    struct graph_bodies *bodies = arena_open(sizeof *bodies);
    ARENA_OWNS(arena_of(bodies), &bodies->at, &bodies->launches, &bodies->ops, &bodies->paths[0],
               &bodies->paths[1]);
    bodies->names = arena_hold(arena_of(bodies), names_open());
    bodies->texts = arena_hold(arena_of(bodies), names_open());
    bodies->op_keys = arena_hold(arena_of(bodies), names_open());
    for (int frames = 0; frames < 2; frames++) {
        bodies->path_keys[frames] = arena_hold(arena_of(bodies), names_open());
        *VEC_PUSH(&bodies->paths[frames]) = (struct captured_path){ CODE_OUTSIDE, NAME_NONE };
    }
    return bodies;
}

/* ---- names ---- */

static uint32_t add_text(struct names *names, const char *text)
{
    return names_add(names, text, strlen(text));
}

static uint32_t kernel_name(struct graph_bodies *bodies, const char *name)
{
    if (strstr(name, "copyBuffer"))
        return add_text(bodies->names, "copy");
    if (strstr(name, "fillBuffer"))
        return add_text(bodies->names, "memset");
    SCOPED struct buffer readable = { 0 };
    bool mangled = demangle_name(&readable, name);
    return add_text(bodies->names, mangled ? readable.at : name);
}

uint32_t graph_work_name(struct graph_bodies *bodies, enum event_kind kind, const char *name)
{
    return kind == EVENT_MEMCPY   ? add_text(bodies->names, "copy")
           : kind == EVENT_MEMSET ? add_text(bodies->names, "memset")
                                  : kernel_name(bodies, name);
}

/* ---- a trace ---- */

/* A capture or a step: the launches in it are a body. */
struct body_span {
    track_id track; /* TRACK_NONE: all threads of the file */
    uint32_t file;
    int64_t start_ns, end_ns;
};

/* A trace while it is added. */
struct adding {
    struct graph_bodies *bodies;
    const struct trace *trace;
    unsigned char *sorts; /* of calls, by name */
    event_id *work_of;    /* by event: the first work of a call; EVENT_NONE */
    struct calltree *operators;
    node_id *skips;
    const struct code_paths *paths[2];
    uint32_t *path_of[2]; /* by path of the trace: that of the bodies; UINT32_MAX: not determined yet */
    VEC_OF(struct body_span) spans;
};

static bool is_launch(const struct adding *adding, event_id e)
{
    const struct trace *trace = adding->trace;
    if (!event_is_call(trace->kind[e]))
        return false;
    enum call_sort sort = (enum call_sort)adding->sorts[trace->name[e]];
    return sort == CALL_COPY || sort == CALL_COPY_SYNC || sort == CALL_MEMSET ||
           (sort == CALL_LAUNCH && strstr(trace_name(trace, e), "Kernel"));
}

/* The calls that TAKES, by start. New; free with free(). */
static event_id *graph_bodies_find_calls(const struct adding *adding, bool launches, size_t *count)
{
    const struct trace *trace = adding->trace;
    VEC_OF(event_id) calls = { 0 };
    for (event_id e = 0; e < trace->event_count; e++) {
        unsigned char sort = adding->sorts[trace->name[e]];
        bool is_edge =
            event_is_call(trace->kind[e]) && (sort == CALL_CAPTURE_BEGIN || sort == CALL_CAPTURE_END);
        if (launches ? is_launch(adding, e) : is_edge)
            *VEC_PUSH(&calls) = e;
    }
    SORT_BY(calls.at, calls.count, i, trace_start_ns(trace, calls.at[i]));
    *count = calls.count;
    return calls.at;
}

/* The spans between the beginning and the end of captures on one thread. One without an end lasts to the end of the
 * file. */
static void find_captures(struct adding *adding)
{
    const struct trace *trace = adding->trace;
    size_t count;
    SCOPED event_id *edges = graph_bodies_find_calls(adding, false, &count);
    SCOPED uint32_t *open =
        mem_alloc(mem_times(trace->track_count + 1, sizeof *open)); /* by track: 1 + its span */
    memset(open, 0, trace->track_count * sizeof *open);
    for (size_t i = 0; i < count; i++) {
        event_id e = edges[i];
        track_id track = trace->track[e];
        if (adding->sorts[trace->name[e]] == CALL_CAPTURE_BEGIN && !open[track]) {
            *VEC_PUSH(&adding->spans) =
                (struct body_span){ track, trace->tracks[track].file, trace_start_ns(trace, e), INT64_MAX };
            open[track] = (uint32_t)adding->spans.count;
        } else if (adding->sorts[trace->name[e]] == CALL_CAPTURE_END && open[track]) {
            adding->spans.at[open[track] - 1].end_ns = trace_start_ns(trace, e);
            open[track] = 0;
        }
    }
}

/* In files without captures: steps, or else the whole file. */
static void find_eager_spans(struct adding *adding)
{
    const struct trace *trace = adding->trace;
    SCOPED_OBJECT struct step_list *steps = step_list_open(trace);
    SCOPED bool *has_spans = mem_zalloc(trace->file_count + 1, sizeof *has_spans);
    for (size_t i = 0; i < adding->spans.count; i++)
        has_spans[adding->spans.at[i].file] = true;
    step_list_drop_overlaps(steps);
    for (uint32_t file = 0, s = 0; file < trace->file_count; file++) {
        size_t before = adding->spans.count;
        for (; s < steps->count && steps->at[s].file == file; s++)
            if (!has_spans[file])
                *VEC_PUSH(&adding->spans) =
                    (struct body_span){ TRACK_NONE, file, steps->at[s].start_ns, steps->at[s].end_ns };
        if (!has_spans[file] && adding->spans.count == before)
            *VEC_PUSH(&adding->spans) = (struct body_span){ TRACK_NONE, file, INT64_MIN, INT64_MAX };
    }
}

/* ---- properties of a launch ---- */

static name_id text_arg(const struct adding *adding, enum trace_arg arg, event_id e)
{
    const char *text = trace_arg_text(adding->trace, arg, e);
    return text ? add_text(adding->bodies->texts, text) : NAME_NONE;
}

static uint32_t path_of(struct adding *adding, enum code_frames frames, uint32_t path)
{
    const struct code_paths *paths = adding->paths[frames];
    struct captured_paths *to = &adding->bodies->paths[frames];
    if (path == CODE_OUTSIDE)
        return CODE_OUTSIDE;
    uint32_t *known = &adding->path_of[frames][path];
    if (*known != UINT32_MAX)
        return *known;
    SCOPED VEC_OF(uint32_t) chain = { 0 }; /* from the innermost outwards */
    for (uint32_t at = path; at != CODE_OUTSIDE && adding->path_of[frames][at] == UINT32_MAX;
         at = paths->at[at].parent)
        *VEC_PUSH(&chain) = at;
    for (size_t i = chain.count; i-- > 0;) {
        uint32_t above = paths->at[chain.at[i]].parent;
        uint32_t parent = above == CODE_OUTSIDE ? CODE_OUTSIDE : adding->path_of[frames][above];
        uint32_t key[2] = { parent, add_text(adding->bodies->texts, code_path_name(paths, chain.at[i])) };
        uint32_t id = names_add(adding->bodies->path_keys[frames], (const char *)key, sizeof key) + 1;
        if (id == to->count)
            *VEC_PUSH(to) = (struct captured_path){ key[0], key[1] };
        adding->path_of[frames][chain.at[i]] = id;
    }
    return *known;
}

/* The innermost operator in which CALL was made; EVENT_NONE: in none. */
static event_id operator_around(const struct adding *adding, event_id call)
{
    const struct trace *trace = adding->trace;
    const struct calltree *tree = adding->operators;
    size_t low = PLACE(i, tree->thread_count, tree->threads[i].track < trace->track[call]);
    if (low == tree->thread_count || tree->threads[low].track != trace->track[call])
        return EVENT_NONE;
    node_id node = calltree_open_at(tree, adding->skips, &tree->threads[low], trace_start_ns(trace, call));
    return node == NODE_NONE ? EVENT_NONE : tree->event[node];
}

/* E is the event of CALL: its operator or, without one, CALL itself. */
static uint32_t op_of(struct adding *adding, event_id call, event_id e)
{
    struct graph_bodies *bodies = adding->bodies;
    struct captured_op op = {
        .name = add_text(bodies->texts, trace_name(adding->trace, e)),
        .dims = text_arg(adding, ARG_INPUT_DIMS, e),
        .types = text_arg(adding, ARG_INPUT_TYPES, e),
        .strides = text_arg(adding, ARG_INPUT_STRIDES, e),
        .concrete = text_arg(adding, ARG_CONCRETE_INPUTS, e),
        .modules = path_of(adding, CODE_MODULES, code_place_of(adding->paths[CODE_MODULES], call).path),
        .lines = path_of(adding, CODE_LINES, code_place_of(adding->paths[CODE_LINES], call).path),
    };
    uint32_t id = names_add(bodies->op_keys, (const char *)&op, sizeof op);
    if (id == bodies->ops.count)
        *VEC_PUSH(&bodies->ops) = op;
    return id;
}

static uint32_t name_of(struct adding *adding, event_id call)
{
    const struct trace *trace = adding->trace;
    struct graph_bodies *bodies = adding->bodies;
    event_id work = adding->work_of[call];
    if (work != EVENT_NONE)
        return graph_work_name(bodies, trace->kind[work], trace_name(trace, work));
    enum call_sort sort = (enum call_sort)adding->sorts[trace->name[call]];
    if (sort == CALL_COPY || sort == CALL_COPY_SYNC)
        return add_text(bodies->names, "copy");
    if (sort == CALL_MEMSET)
        return add_text(bodies->names, "memset");
    const char *kernel = trace_arg_text(trace, ARG_LAUNCHED_KERNEL, call);
    return kernel && *kernel ? kernel_name(bodies, kernel) : LCS_NOTHING;
}

static bool is_kernel_launch(const struct adding *adding, event_id call)
{
    return adding->sorts[adding->trace->name[call]] == CALL_LAUNCH;
}

static bool lies_in(const struct adding *adding, const struct body_span *span, event_id call)
{
    const struct trace *trace = adding->trace;
    track_id track = trace->track[call];
    return (span->track == TRACK_NONE ? trace->tracks[track].file == span->file : track == span->track) &&
           trace_start_ns(trace, call) >= span->start_ns && trace_start_ns(trace, call) < span->end_ns;
}

/* Calls by the spans of their track or file: each span examines only its own. */
static bool add_body(struct adding *adding, const struct body_span *span, const event_id *calls, size_t count)
{
    struct graph_bodies *bodies = adding->bodies;
    const struct trace *trace = adding->trace;
    struct graph_body body = { .first = bodies->launches.count, .nameless = true };
    int64_t *busy_until_ns = mem_alloc(mem_times(trace->track_count + 1, sizeof *busy_until_ns));
    for (track_id t = 0; t < trace->track_count; t++)
        busy_until_ns[t] = INT64_MIN;
    size_t from = PLACE(k, count, trace_start_ns(trace, calls[k]) < span->start_ns);
    for (size_t i = from; i < count && trace_start_ns(trace, calls[i]) < span->end_ns; i++) {
        event_id call = calls[i];
        track_id track = trace->track[call];
        if (!lies_in(adding, span, call) || trace_start_ns(trace, call) < busy_until_ns[track])
            continue;
        busy_until_ns[track] = trace_end_ns(trace, call);
        event_id around = operator_around(adding, call), e = around == EVENT_NONE ? call : around;
        uint32_t name = name_of(adding, call);
        body.nameless = body.nameless && !(is_kernel_launch(adding, call) && name != LCS_NOTHING);
        *VEC_PUSH(&bodies->launches) =
            (struct body_launch){ name, op_of(adding, call, e), bodies->calls + e,
                                  trace_arg_or(trace, ARG_GRAPH_NODE_ID, call, -1) };
    }
    free(busy_until_ns);
    body.count = bodies->launches.count - body.first;
    if (body.count)
        *VEC_PUSH(bodies) = body;
    return body.count > 0;
}

static event_id *operations_of_calls(const struct trace *trace)
{
    const struct attribution *launches = attribution_of(trace);
    event_id *operations = mem_alloc(mem_times(trace->event_count + 1, sizeof *operations));
    memset(operations, 0xff, trace->event_count * sizeof *operations);
    for (event_id e = (event_id)trace->event_count; e-- > 0;) {
        event_id call = event_is_gpu_work(trace->kind[e]) ? attribution_call(launches, e) : EVENT_NONE;
        if (call != EVENT_NONE)
            operations[call] = e;
    }
    return operations;
}

size_t graph_bodies_add(struct graph_bodies *bodies, const struct trace *trace)
{
    struct adding adding = { .bodies = bodies,
                             .trace = trace,
                             .sorts = call_sorts_open(trace->names),
                             .work_of = operations_of_calls(trace),
                             .operators = calltree_open(trace, calltree_takes_operators, trace) };
    calltree_nest(adding.operators);
    adding.skips = calltree_skips(adding.operators);
    for (int frames = 0; frames < 2; frames++) {
        adding.paths[frames] = code_paths_of(trace, (enum code_frames)frames);
        size_t size = mem_times(adding.paths[frames]->count + 1, sizeof *adding.path_of[frames]);
        adding.path_of[frames] = mem_alloc(size);
        memset(adding.path_of[frames], 0xff, size);
    }
    find_captures(&adding);
    find_eager_spans(&adding);
    size_t count, added = 0;
    event_id *calls = graph_bodies_find_calls(&adding, true, &count);
    for (size_t i = 0; i < adding.spans.count; i++)
        added += add_body(&adding, &adding.spans.at[i], calls, count);
    free(calls);
    bodies->calls += (uint32_t)trace->event_count;
    VEC_FREE(&adding.spans);
    for (int frames = 0; frames < 2; frames++)
        free(adding.path_of[frames]);
    EACH(free, adding.skips, adding.work_of, adding.sorts);
    arena_free(adding.operators);
    return added;
}
