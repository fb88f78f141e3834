/*
 * trace_profile.c - from a call tree to sums.
 *
 * Each call is written down as (callee, caller, its figures); sorted, equal pairs lie together, and so do the callers
 * of one function.
 */
#include "analyze/trace_profile.h"

#include "trace/calltree.h"
#include "trace/steps.h"

#include <stdlib.h>

/* A call, or the sum of those of one caller and callee. Times are integers until all is summed up. */
struct call {
    function_id callee, caller; /* caller FUNCTION_NONE: nobody */
    int64_t calls, primitive_calls, self_ns, cumulative_ns;
    int64_t outermost_calls, outermost_ns; /* of the callee's calls that are in no other call of it */
};

struct summing {
    const struct trace *trace;
    const struct selection *selection;
    struct profile *profile;
    function_id *function; /* by name_id */
};

static bool takes_call(const void *context, event_id e)
{
    const struct summing *sum = context;
    const struct trace *trace = sum->trace;
    enum event_kind kind = (enum event_kind)trace->kind[e];
    return !event_on_device(kind) && kind != EVENT_SPAN && kind != EVENT_INSTANT &&
           !(trace->flags[e] & (EVENT_POINT | EVENT_ASYNC)) && selection_holds_place(sum->selection, e);
}

/* The function that events of this name are. "~" and line 0 are how a profile says: the name alone. */
static function_id function_of(struct summing *sum, name_id name)
{
    if (sum->function[name] != FUNCTION_NONE)
        return sum->function[name];
    static const char step[] = "ProfilerStep*";
    const char *text = names_text(sum->trace->names, name);
    size_t len = names_length(sum->trace->names, name);
    int64_t number;
    bool is_step = step_number(text, &number);
    function_id id =
        profile_function(sum->profile, "~", 1, 0, is_step ? step : text, is_step ? sizeof step - 1 : len);
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

/* The call that node N is. */
static struct call call_of(const struct summing *sum, const struct calltree *tree, node_id n,
                           int64_t children_ns)
{
    int64_t dur_ns = sum->trace->dur_ns[tree->event[n]];
    node_id parent = tree->parent[n];
    struct call call = { .callee = node_function(sum, tree, n),
                         .caller = node_function(sum, tree, parent),
                         .calls = 1,
                         .self_ns = dur_ns - children_ns };
    bool within_itself = false, within_same_pair = false;
    for (node_id a = parent; a != NODE_NONE && !within_same_pair; a = tree->parent[a]) {
        if (node_function(sum, tree, a) != call.callee)
            continue;
        within_itself = true;
        within_same_pair = node_function(sum, tree, tree->parent[a]) == call.caller;
    }
    call.primitive_calls = !within_same_pair;
    call.cumulative_ns = within_same_pair ? 0 : dur_ns;
    call.outermost_calls = !within_itself;
    call.outermost_ns = within_itself ? 0 : dur_ns;
    return call;
}

static int compare_calls(const void *left, const void *right)
{
    const struct call *a = left, *b = right;
    if (a->callee != b->callee)
        return a->callee < b->callee ? -1 : 1;
    return (a->caller > b->caller) - (a->caller < b->caller);
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

struct profile *trace_profile(const struct trace *trace, const struct selection *selection)
{
    struct summing sum = { .trace = trace, .selection = selection, .profile = profile_open() };
    size_t name_count = names_count(trace->names);
    sum.function = mem_alloc((name_count + 1) * sizeof *sum.function);
    for (size_t i = 0; i < name_count; i++)
        sum.function[i] = FUNCTION_NONE;

    struct calltree *tree = calltree_open(trace, takes_call, &sum);
    for (node_id n = 0; n < tree->count; n++)
        function_of(&sum, trace->name[tree->event[n]]);
    calltree_nest(tree);
    uint8_t *state = calltree_fold(tree, same_call, &sum);
    int64_t *children_ns = mem_zalloc(tree->count + 1, sizeof *children_ns);
    for (node_id n = 0; n < tree->count; n++)
        if (!(state[n] & NODE_FOLDED) && tree->parent[n] != NODE_NONE)
            children_ns[tree->parent[n]] += trace->dur_ns[tree->event[n]];

    VEC_OF(struct call) calls = { 0 };
    for (node_id n = 0; n < tree->count; n++)
        if (!(state[n] & NODE_FOLDED))
            *VEC_PUSH(&calls) = call_of(&sum, tree, n, children_ns[n]);
    if (calls.count > 0)
        qsort(calls.at, calls.count, sizeof *calls.at, compare_calls);
    for (size_t i = 0, end; i < calls.count; i = end) {
        for (end = i; end < calls.count && calls.at[end].callee == calls.at[i].callee; end++)
            ;
        list_function(sum.profile, &calls.at[i], end - i);
    }
    profile_finish(sum.profile);

    VEC_FREE(&calls);
    free(children_ns);
    free(state);
    calltree_free(tree);
    free(sum.function);
    return sum.profile;
}
