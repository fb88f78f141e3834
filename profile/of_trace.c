/*
 * of_trace.c - see view.h: aggregates a call tree.
 *
 * One pass over the tree adds each call to the totals of its pair (callee, caller). There are few pairs; storing and
 * sorting all calls took 94 bytes of memory per event, and half of the time of `tpa callers`.
 */
#include "profile/view.h"

#include "base/rows.h"
#include "base/sum.h"
#include "derive/async_regions.h"
#include "derive/step_list.h"
#include "trace/calltree.h"

/* The totals of the calls of one caller and callee. Times are integers until the end. */
struct call_sums {
    function_id callee, caller; /* caller FUNCTION_NONE: none */
    int64_t calls, primitive_calls, self_ns, cumulative_ns;
    int64_t outermost_calls, outermost_ns; /* of the callee's calls that are in no other call of it */
    uint32_t open;                         /* open calls at the current position of the pass */
};

struct summing {
    const struct trace *trace;
    const struct selection *selection;
    struct profile *profile;
    function_id *function; /* by name_id */
    bool *is_async;        /* by name_id: name of a region of c10d */
    struct names *keys;    /* callee and caller as bytes; ids are those of sums */
    VEC_OF(struct call_sums) sums;
};

/* Is E on the host, with a duration, and selected? */
static bool takes_part(const struct summing *sum, event_id e)
{
    const struct trace *trace = sum->trace;
    enum event_kind kind = (enum event_kind)trace->kind[e];
    return !event_on_device(kind) && kind != EVENT_SPAN && kind != EVENT_INSTANT &&
           !(trace->flags[e] & EVENT_POINT) && selection_holds_place(sum->selection, e);
}

/* Is it on no thread's stack? By the rules of tpa top. */
static bool is_async(const struct summing *sum, event_id e)
{
    const struct trace *trace = sum->trace;
    enum event_kind kind = (enum event_kind)trace->kind[e];
    bool is_region = kind == EVENT_OP || kind == EVENT_ANNOTATION;
    bool is_torch = trace->files[trace->tracks[trace->track[e]].file].producer == PRODUCER_KINETO;
    return trace->flags[e] & EVENT_ASYNC ||
           (is_torch && is_region && (sum->is_async[trace->name[e]] || region_was_open(trace, e)));
}

static bool takes_call(const void *context, event_id e)
{
    return takes_part(context, e) && !is_async(context, e);
}

/* The function for events of this name. */
static function_id function_of(struct summing *sum, name_id name)
{
    if (sum->function[name] != FUNCTION_NONE)
        return sum->function[name];
    struct buffer step = { 0 };
    const char *text = names_text(sum->trace->names, name);
    size_t len = names_length(sum->trace->names, name);
    int64_t number;
    if (step_number(text, &number) && step_name_add_all(&step, text)) {
        len = step.count;
        text = arena_strndup(&sum->profile->arena, step.at, len);
    }
    buffer_release(&step);
    function_id id = profile_function(sum->profile, "~", 1, PROFILE_NAME_LINE, text, len);
    return sum->function[name] = id;
}

/* In torch's traces a call of itself counts once; elsewhere each recursive call counts. */
static bool same_call(const void *context, event_id a, event_id b)
{
    const struct summing *sum = context;
    const struct trace *trace = sum->trace;
    const struct trace_file *file = &trace->files[trace->tracks[trace->track[a]].file];
    return file->producer == PRODUCER_KINETO &&
           sum->function[trace->name[a]] == sum->function[trace->name[b]];
}

static function_id node_function(const struct summing *sum, const struct calltree *tree, node_id n)
{
    return n == NODE_NONE ? FUNCTION_NONE : sum->function[sum->trace->name[tree->event[n]]];
}

/* The index of the totals of CALLEE and CALLER. */
static uint32_t sums_of(struct summing *sum, function_id callee, function_id caller)
{
    const function_id key[] = { callee, caller };
    uint32_t id = names_add(sum->keys, (const char *)key, sizeof key);
    if (id == sum->sums.count)
        *VEC_PUSH(&sum->sums) = (struct call_sums){ .callee = callee, .caller = caller };
    return id;
}

static const struct key by_sums[] = { ASC(struct call_sums, callee), ASC(struct call_sums, caller), KEY_END };

static double seconds(int64_t ns)
{
    return (double)ns / 1e9;
}

/* Add the function whose totals by caller are the COUNT at CALLS. */
static void list_function(struct profile *profile, const struct call_sums *calls, size_t count)
{
    uint32_t first_edge = (uint32_t)profile->edge_count;
    struct call_sums whole = { 0 };
    FOR_EACH_OF(pair, calls, count) {
        whole.calls += pair->calls;
        whole.self_ns += pair->self_ns;
        whole.outermost_calls += pair->outermost_calls;
        whole.outermost_ns += pair->outermost_ns;
        if (pair->caller != FUNCTION_NONE)
            profile_add_edge(
                profile, first_edge,
                &(struct profile_edge){ .caller = pair->caller,
                                        .cost = { pair->calls, pair->primitive_calls, seconds(pair->self_ns),
                                                  seconds(pair->cumulative_ns) } });
    }
    struct profile_cost cost = { whole.calls, whole.outermost_calls, seconds(whole.self_ns),
                                 seconds(whole.outermost_ns) };
    profile_list(profile, calls[0].callee, &cost, first_edge, (uint32_t)profile->edge_count - first_edge);
}

/* The open calls at the current position of the pass. */
struct open_calls {
    VEC_OF(node_id) nodes; /* each the parent of the next */
    uint32_t *pair;        /* by node: index of its totals */
    uint32_t *of_function; /* how many of each function */
};

/* Close the calls opened after PARENT, or all. */
static void close_calls(struct summing *sum, struct open_calls *open, node_id parent)
{
    while (open->nodes.count > 0 && open->nodes.at[open->nodes.count - 1] != parent) {
        struct call_sums *closed = &sum->sums.at[open->pair[open->nodes.at[--open->nodes.count]]];
        open->of_function[closed->callee]--;
        closed->open--;
    }
}

/* Add node N, which is not folded. A call within another one of its function is not an outermost one, and within
 * another one of its function and caller no primitive one. Open calls are counted, so that deep recursion costs no more
 * than flat code. */
static void add_call(struct summing *sum, const struct calltree *tree, node_id n, struct open_calls *open)
{
    node_id parent = tree->parent[n];
    int64_t dur_ns = trace_dur_ns(sum->trace, tree->event[n]);
    close_calls(sum, open, parent);
    open->pair[n] = sums_of(sum, node_function(sum, tree, n), node_function(sum, tree, parent));
    struct call_sums *call = &sum->sums.at[open->pair[n]];
    uint32_t *same = &open->of_function[call->callee];
    call->calls++;
    add_wrapped(&call->self_ns, dur_ns);
    if (parent != NODE_NONE)
        add_wrapped(&sum->sums.at[open->pair[parent]].self_ns, -dur_ns);
    call->primitive_calls += call->open == 0;
    call->cumulative_ns += call->open == 0 ? dur_ns : 0;
    call->outermost_calls += *same == 0;
    call->outermost_ns += *same == 0 ? dur_ns : 0;
    call->open++;
    ++*same;
    *VEC_PUSH(&open->nodes) = n;
}

static void add_nested(struct summing *sum, struct calltree *tree)
{
    for (node_id n = 0; n < tree->count; n++)
        function_of(sum, sum->trace->name[tree->event[n]]);
    calltree_nest(tree);
    SCOPED uint8_t *state = calltree_fold(tree, same_call, sum);
    struct open_calls open = {
        .pair = mem_alloc(mem_times(tree->count + 1, sizeof *open.pair)),
        .of_function = mem_zalloc(sum->profile->function_count + 1, sizeof *open.of_function),
    };
    for (node_id n = 0; n < tree->count; n++)
        if (!(state[n] & NODE_FOLDED))
            add_call(sum, tree, n, &open);
    VEC_FREE(&open.nodes);
    EACH(free, open.pair, open.of_function);
}

/* Regions on no thread's stack: without callers, and without own time. */
static void add_async(struct summing *sum)
{
    const struct trace *trace = sum->trace;
    const struct open_regions *open = open_regions_of(trace);
    for (event_id e = 0; e < trace->event_count; e++) {
        if (!takes_part(sum, e) || !is_async(sum, e))
            continue;
        int64_t dur_ns = region_end_ns(trace, open, e) - trace_start_ns(trace, e);
        uint32_t pair = sums_of(sum, function_of(sum, trace->name[e]), FUNCTION_NONE);
        struct call_sums *call = &sum->sums.at[pair];
        call->calls++;
        call->primitive_calls++;
        call->cumulative_ns += dur_ns;
        call->outermost_calls++;
        call->outermost_ns += dur_ns;
    }
}

struct profile *trace_profile(const struct trace *trace, const struct selection *selection)
{
    struct summing sum = {
        .trace = trace, .selection = selection, .profile = profile_open(), .keys = names_open()
    };
    size_t name_count = names_count(trace->names);
    sum.function = mem_alloc(mem_times(name_count + 1, sizeof *sum.function));
    sum.is_async = mem_alloc(mem_times(name_count + 1, sizeof *sum.is_async));
    for (name_id i = 0; i < name_count; i++) {
        sum.function[i] = FUNCTION_NONE;
        sum.is_async[i] = is_async_by_name(names_text(trace->names, i));
    }
    SCOPED_OBJECT struct calltree *tree = calltree_open(trace, takes_call, &sum);
    add_nested(&sum, tree);
    add_async(&sum);
    if (sum.sums.count)
        SORT(&sum.sums, by_sums);
    FOR_RUNS(i, end, sum.sums.count, sum.sums.at[end].callee == sum.sums.at[i].callee)
        list_function(sum.profile, &sum.sums.at[i], end - i);
    profile_finish(sum.profile);

    VEC_FREE(&sum.sums);
    names_free(sum.keys);
    EACH(free, sum.function, sum.is_async);
    return sum.profile;
}
