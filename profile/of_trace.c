/*
 * of_trace.c - see of_trace.h: from a call tree to sums.
 *
 * Each call is written down as (callee, caller, its figures); sorted, equal pairs lie together, and so do the callers
 * of one function. Which calls are recursions is then told in one pass over the tree.
 */
#include "profile/of_trace.h"

#include "facts/async_regions.h"
#include "facts/step_list.h"
#include "trace/calltree.h"

#include <stdlib.h>
#include <string.h>

/* A call, or the sum of those of one caller and callee. Times are integers until all is summed up. */
struct call {
    function_id callee, caller; /* caller FUNCTION_NONE: nobody */
    node_id node;
    int64_t calls, primitive_calls, self_ns, cumulative_ns;
    int64_t outermost_calls, outermost_ns; /* of the callee's calls that are in no other call of it */
};

struct calls {
    VEC_OF(struct call);
};

struct summing {
    const struct trace *trace;
    const struct selection *selection;
    struct profile *profile;
    function_id *function; /* by name_id */
    bool *is_async;        /* by name_id: like those of c10d's regions */
};

/* Is E on the host, of a duration, and chosen? */
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

/* The function that events of this name are. */
static function_id function_of(struct summing *sum, name_id name)
{
    if (sum->function[name] != FUNCTION_NONE)
        return sum->function[name];
    static const char step[] = "ProfilerStep*";
    const char *text = names_text(sum->trace->names, name);
    size_t len = names_length(sum->trace->names, name);
    int64_t number;
    bool is_step = step_number(text, &number);
    function_id id = profile_function(sum->profile, "~", 1, PROFILE_NAME_LINE, is_step ? step : text,
                                      is_step ? sizeof step - 1 : len);
    return sum->function[name] = id;
}

/* Torch counts a call of itself once; elsewhere a recursion is as many calls as it is. */
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

/* The call that node N is, but for what the calls around it decide. */
static struct call call_of(const struct summing *sum, const struct calltree *tree, node_id n,
                           int64_t children_ns)
{
    return (struct call){ .callee = node_function(sum, tree, n),
                          .caller = node_function(sum, tree, tree->parent[n]),
                          .node = n,
                          .calls = 1,
                          .self_ns = sum->trace->dur_ns[tree->event[n]] - children_ns };
}

static int compare_calls(const void *left, const void *right)
{
    const struct call *a = left, *b = right;
    if (a->callee != b->callee)
        return a->callee < b->callee ? -1 : 1;
    return (a->caller > b->caller) - (a->caller < b->caller);
}

/* Which of the sorted calls of a tree are open, as its nodes are passed in their order. */
struct open_calls {
    VEC_OF(node_id) nodes; /* each the parent of the next */
    uint32_t *call;        /* by node: its place among the calls */
    uint32_t *pair;        /* by call: the number of its callee and caller */
    uint32_t *of_function, *of_pair;
};

/*
 * A call within another one of its function is no outermost one, and within another one of its function and caller no
 * primitive one. What is open is counted, so that deep recursion costs no more than flat code.
 */
static void tell_recursion(const struct summing *sum, const struct calltree *tree, struct call *calls,
                           size_t count)
{
    struct open_calls open = {
        .call = mem_alloc(mem_times(tree->count + 1, sizeof *open.call)),
        .pair = mem_alloc(mem_times(count + 1, sizeof *open.pair)),
        .of_function = mem_zalloc(sum->profile->function_count + 1, sizeof *open.of_function),
        .of_pair = mem_zalloc(count + 1, sizeof *open.of_pair),
    };
    memset(open.call, 0xff, (tree->count + 1) * sizeof *open.call);
    for (size_t i = 0; i < count; i++) {
        open.call[calls[i].node] = (uint32_t)i;
        open.pair[i] = i == 0 ? 0 : open.pair[i - 1] + (compare_calls(&calls[i - 1], &calls[i]) != 0);
    }
    for (node_id n = 0; n < tree->count; n++) {
        if (open.call[n] == UINT32_MAX) /* folded into another */
            continue;
        while (open.nodes.count > 0 && open.nodes.at[open.nodes.count - 1] != tree->parent[n]) {
            uint32_t closed = open.call[open.nodes.at[--open.nodes.count]];
            open.of_function[calls[closed].callee]--;
            open.of_pair[open.pair[closed]]--;
        }
        struct call *call = &calls[open.call[n]];
        uint32_t *same = &open.of_function[call->callee], *same_pair = &open.of_pair[open.pair[open.call[n]]];
        int64_t dur_ns = sum->trace->dur_ns[tree->event[n]];
        call->primitive_calls = *same_pair == 0;
        call->cumulative_ns = *same_pair == 0 ? dur_ns : 0;
        call->outermost_calls = *same == 0;
        call->outermost_ns = *same == 0 ? dur_ns : 0;
        ++*same, ++*same_pair;
        *VEC_PUSH(&open.nodes) = n;
    }
    VEC_FREE(&open.nodes);
    free(open.call);
    free(open.pair);
    free(open.of_function);
    free(open.of_pair);
}

static double seconds(int64_t ns)
{
    return (double)ns / 1e9;
}

/* List the function whose calls, sorted, are the COUNT at CALLS. */
static void list_function(struct profile *profile, const struct call *calls, size_t count)
{
    uint32_t first_edge = (uint32_t)profile->edge_count;
    struct call whole = { 0 };
    for (size_t i = 0; i < count;) {
        struct call pair = { .caller = calls[i].caller };
        for (; i < count && calls[i].caller == pair.caller; i++) {
            pair.calls += calls[i].calls;
            pair.primitive_calls += calls[i].primitive_calls;
            pair.self_ns += calls[i].self_ns;
            pair.cumulative_ns += calls[i].cumulative_ns;
            whole.outermost_calls += calls[i].outermost_calls;
            whole.outermost_ns += calls[i].outermost_ns;
        }
        whole.calls += pair.calls;
        whole.self_ns += pair.self_ns;
        if (pair.caller != FUNCTION_NONE)
            profile_add_edge(
                profile, first_edge,
                &(struct profile_edge){ .caller = pair.caller,
                                        .cost = { pair.calls, pair.primitive_calls, seconds(pair.self_ns),
                                                  seconds(pair.cumulative_ns) } });
    }
    struct profile_cost cost = { whole.calls, whole.outermost_calls, seconds(whole.self_ns),
                                 seconds(whole.outermost_ns) };
    profile_list(profile, calls[0].callee, &cost, first_edge, (uint32_t)profile->edge_count - first_edge);
}

/* The calls of TREE, sorted. */
static void add_nested(struct summing *sum, struct calltree *tree, struct calls *calls)
{
    const struct trace *trace = sum->trace;
    for (node_id n = 0; n < tree->count; n++)
        function_of(sum, trace->name[tree->event[n]]);
    calltree_nest(tree);
    uint8_t *state = calltree_fold(tree, same_call, sum);
    int64_t *children_ns = mem_zalloc(tree->count + 1, sizeof *children_ns);
    for (node_id n = 0; n < tree->count; n++)
        if (!(state[n] & NODE_FOLDED) && tree->parent[n] != NODE_NONE)
            children_ns[tree->parent[n]] += trace->dur_ns[tree->event[n]];
    for (node_id n = 0; n < tree->count; n++)
        if (!(state[n] & NODE_FOLDED))
            *VEC_PUSH(calls) = call_of(sum, tree, n, children_ns[n]);
    if (calls->count > 0) {
        qsort(calls->at, calls->count, sizeof *calls->at, compare_calls);
        tell_recursion(sum, tree, calls->at, calls->count);
    }
    free(children_ns);
    free(state);
}

/* Regions on no thread's stack: called by nobody, and with no time of their own. */
static void add_async(struct summing *sum, struct calls *calls)
{
    const struct trace *trace = sum->trace;
    const struct open_regions *open = open_regions_of(trace);
    size_t before = calls->count;
    for (event_id e = 0; e < trace->event_count; e++) {
        if (!takes_part(sum, e) || !is_async(sum, e))
            continue;
        int64_t dur_ns = region_end_ns(trace, open, e) - trace->start_ns[e];
        *VEC_PUSH(calls) = (struct call){ .callee = function_of(sum, trace->name[e]),
                                          .caller = FUNCTION_NONE,
                                          .node = NODE_NONE,
                                          .calls = 1,
                                          .primitive_calls = 1,
                                          .cumulative_ns = dur_ns,
                                          .outermost_calls = 1,
                                          .outermost_ns = dur_ns };
    }
    if (calls->count > before)
        qsort(calls->at, calls->count, sizeof *calls->at, compare_calls);
}

struct profile *trace_profile(const struct trace *trace, const struct selection *selection)
{
    struct summing sum = { .trace = trace, .selection = selection, .profile = profile_open() };
    size_t name_count = names_count(trace->names);
    sum.function = mem_alloc(mem_times(name_count + 1, sizeof *sum.function));
    sum.is_async = mem_alloc(mem_times(name_count + 1, sizeof *sum.is_async));
    for (name_id i = 0; i < name_count; i++) {
        sum.function[i] = FUNCTION_NONE;
        sum.is_async[i] = is_async_by_name(names_text(trace->names, i));
    }
    struct calltree *tree = calltree_open(trace, takes_call, &sum);
    struct calls calls = { 0 };
    add_nested(&sum, tree, &calls);
    add_async(&sum, &calls);
    for (size_t i = 0, end; i < calls.count; i = end) {
        for (end = i; end < calls.count && calls.at[end].callee == calls.at[i].callee; end++)
            ;
        list_function(sum.profile, &calls.at[i], end - i);
    }
    profile_finish(sum.profile);

    VEC_FREE(&calls);
    calltree_free(tree);
    free(sum.function);
    free(sum.is_async);
    return sum.profile;
}
