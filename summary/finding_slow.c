/* Operators of the host that take far longer than the size of their tensors explains.
 *
 * A call is slow if it takes a millisecond or more, and twenty times what a slow core needs for its operations and bytes: a nanosecond
 * for each. Its work is not what takes the time: it waits for its threads, which have too few cores or are woken for too little, or it is
 * the first of its name, which prepares code, threads and memory. Copies are left out, which may read a file, and what communicates. The
 * innermost slow call counts. */
#include "summary/finding_work.h"

#include "base/quantity.h"
#include "base/rows.h"
#include "base/sum.h"
#include "derive/gpu_events.h"
#include "derive/op_cost.h"
#include "summary/finding_kit.h"
#include "trace/calltree.h"

struct slow_call {
    event_id op;     /* whose size is known */
    event_id inner;  /* the operator in it, or itself, that takes most of its own */
    int64_t over_ns; /* what OP takes beyond its operations and bytes */
    uint32_t file;
    name_id name;
    int64_t start_ns;
    bool first; /* of NAME in FILE */
};

struct slow_calls {
    VEC_OF(struct slow_call);
    size_t later; /* those that are not the first of their name */
    int64_t first_over_ns, later_over_ns;
};

enum { LEAST_NS = 1000000, TIMES = 20 };

/* A calltree_takes: what may be slow, or holds such a call. */
static bool is_long_operator(const void *context, event_id e)
{
    const struct trace *trace = context;
    return trace->kind[e] == EVENT_OP && trace_dur_ns(trace, e) >= LEAST_NS &&
           !(trace->flags[e] & (EVENT_POINT | EVENT_ASYNC));
}

/* What a slow core needs for operator E, at a nanosecond for each operation and byte; OP_UNKNOWN: not known, or E copies. */
static int64_t needed_ns(const struct trace *trace, event_id e)
{
    struct op_model model;
    struct op_call call;
    struct op_cost cost;
    const char *dims = trace_arg_text(trace, ARG_INPUT_DIMS, e);
    if (!dims || !op_model_find(trace_name(trace, e), &model) ||
        (model.class != OP_MATRIX && model.class != OP_VECTOR) ||
        !op_call_read(&call, dims, trace_arg_text(trace, ARG_INPUT_TYPES, e),
                      trace_arg_text(trace, ARG_INPUT_STRIDES, e),
                      trace_arg_text(trace, ARG_CONCRETE_INPUTS, e)) ||
        !op_cost_of(&model, &call, &cost))
        return OP_UNKNOWN;
    return count_plus(cost.flops, cost.bytes);
}

/* Is an operator of the name of E called before it in its file? */
static bool is_first_call(const struct trace *trace, event_id e)
{
    const struct trace_file *file = &trace->files[trace->tracks[trace->track[e]].file];
    return !ANY_FROM(i, file->first_event, file->first_event + file->event_count,
                     trace->name[i] == trace->name[e] && trace->kind[i] == EVENT_OP &&
                         trace_start_ns(trace, i) < trace_start_ns(trace, e));
}

static const struct key by_call[] = { ASC(struct slow_call, file), ASC(struct slow_call, name), KEY_END };
static const struct key by_first[] = { ASC(struct slow_call, file), ASC(struct slow_call, name),
                                       ASC(struct slow_call, start_ns), KEY_END };

/* Sort FOUND, and mark the first calls: of those of a name only the earliest may be one. */
static void mark_first_calls(struct slow_calls *found, const struct trace *trace)
{
    SORT(found, by_first);
    FOR_GROUPS(found, by_call, first, end) {
        (void)end;
        found->at[first].first = is_first_call(trace, found->at[first].op);
    }
}

/* None where devices worked, or without sizes. Release with VEC_FREE. */
static struct slow_calls slow_calls_find(const struct trace *trace)
{
    struct slow_calls found = { 0 };
    if (gpu_events_of(trace)->count)
        return found;
    struct calltree *tree = calltree_open(trace, is_long_operator, trace);
    calltree_nest(tree);
    struct node_times {
        int64_t children_ns, slow_ns; /* of operators in it; of slow calls in it */
        int64_t most_ns;              /* the own time of INNER, which has most of those in it */
        event_id inner;
    } *times = mem_zalloc(tree->count + 1, sizeof *times);
    for (node_id n = (node_id)tree->count; n-- > 0;) {
        event_id e = tree->event[n];
        struct node_times *of = &times[n];
        int64_t dur_ns = trace_dur_ns(trace, e), own_ns = dur_ns - of->children_ns,
                rest_ns = dur_ns - of->slow_ns,
                needs_ns = rest_ns >= LEAST_NS ? needed_ns(trace, e) : OP_UNKNOWN;
        if (own_ns > of->most_ns) {
            of->most_ns = own_ns;
            of->inner = e;
        }
        if (needs_ns != OP_UNKNOWN && rest_ns / TIMES >= needs_ns) {
            *VEC_PUSH(&found) = (struct slow_call){
                .op = e, .inner = of->inner, .over_ns = rest_ns - needs_ns, .first = is_first_call(trace, e)
            };
            of->slow_ns = dur_ns;
            of->most_ns = 0;
        }
        if (tree->parent[n] == NODE_NONE)
            continue;
        struct node_times *parent = &times[tree->parent[n]];
        parent->children_ns += dur_ns;
        parent->slow_ns += of->slow_ns;
        if (of->most_ns > parent->most_ns) {
            parent->most_ns = of->most_ns;
            parent->inner = of->inner;
        }
    }
    mark_first_calls(&found, trace);
    for (size_t i = 0; i < found.count; i++) {
        found.later += !found.at[i].first;
        sum_add(found.at[i].first ? &found.first_over_ns : &found.later_over_ns, found.at[i].over_ns);
    }
    free(times);
    arena_free(tree);
    return found;
}

/* ---- the finding ---- */

enum { MOST_NAMES = 4 };

/* What slow calls of a name take; by that, most first. */
struct slow_name {
    name_id name;
    int64_t all_ns;  /* of all calls of the name */
    int64_t over_ns; /* of its slow calls, beyond their size */
};

struct slow_names {
    VEC_OF(struct slow_name);
};

static const struct key by_time_over[] = { DESC(struct slow_name, over_ns), ASC(struct slow_name, name),
                                           KEY_END };

static const struct slow_call *longest_slow(const struct slow_calls *slow)
{
    const struct slow_call *longest = &slow->at[0];
    FOR_EACH(call, slow)
        if (call->over_ns > longest->over_ns)
            longest = call;
    return longest;
}

/* The names of the operators that take the time of SLOW, which takes most first. Release with VEC_FREE. */
static struct slow_names names_of_slow(const struct slow_calls *slow, const struct trace *trace)
{
    struct slow_names names = { 0 };
    FOR_EACH(call, slow) {
        struct slow_name *of = FIND(row, &names, row->name == trace->name[call->inner]);
        if (!of) {
            of = VEC_PUSH(&names);
            *of = (struct slow_name){ .name = trace->name[call->inner] };
        }
        sum_add(&of->over_ns, call->over_ns);
    }
    for (event_id e = 0; e < trace->event_count; e++)
        FOR_EACH(of, &names)
            if (of->name == trace->name[e] && trace->kind[e] == EVENT_OP)
                sum_add(&of->all_ns, trace_dur_ns(trace, e));
    SORT(&names, by_time_over);
    return names;
}

/* As if the slow calls took what their size explains; their NAMES are added to WHERE. */
static struct edit edit_of_slow(struct pricing *pricing, const struct slow_names *names, struct buffer *where)
{
    struct buffer pattern = { 0 };
    int64_t all_ns = 0, over_ns = 0;
    for (size_t i = 0; i < names->count && i < MOST_NAMES; i++) {
        struct text name = as_text(names_text(pricing->trace->names, names->at[i].name));
        buffer_printf(&pattern, "%s%s", i ? "|" : "", finding_pattern(pricing, name));
        buffer_printf(where, "%s %.*s", i ? "," : "", (int)name.len, name.at);
        sum_add(&all_ns, names->at[i].all_ns);
        sum_add(&over_ns, names->at[i].over_ns);
    }
    size_t len = pattern.count;
    return (struct edit){ .kind = EDIT_SCALE,
                          .target = TARGET_OP,
                          .pattern = pricing_keep(pricing, &pattern).at,
                          .pattern_len = len,
                          .factor = over_ns < all_ns ? 1 - (double)over_ns / (double)all_ns : 0 };
}

void finding_add_slow_calls(struct pricing *pricing)
{
    enum { LEAST_LATER = 3, PARTS = 5 };
    struct slow_calls slow = slow_calls_find(pricing->trace);
    double all_ns = pricing->summary->top_ns;
    bool again = slow.later >= LEAST_LATER && PARTS * (double)slow.later_over_ns >= all_ns,
         once = !again && !pricing->findings->has_steps &&
                PARTS * ((double)slow.first_over_ns + (double)slow.later_over_ns) >= all_ns;
    if (slow.count && (again || once)) {
        const struct slow_call *longest = longest_slow(&slow);
        struct slow_names names = names_of_slow(&slow, pricing->trace);
        int64_t dur_ns = trace_dur_ns(pricing->trace, longest->op);
        struct buffer where = { 0 };
        quantity_append_rounded_time(&where, (double)dur_ns);
        buffer_puts(&where, " for ");
        quantity_append_rounded_time(&where, (double)(dur_ns - longest->over_ns));
        buffer_puts(&where, " of work:");
        struct edit edit = edit_of_slow(pricing, &names, &where);
        struct priced_finding finding = {
            .title =
                as_text(again ? "operators take 20 times and more what their size explains"
                              : "first calls of operators take 20 times and more what their size explains"),
            .where = pricing_keep(pricing, &where),
            .code = as_text(again ? "torch.set_num_threads(1)" : "schedule(wait=1, warmup=1, active=3)"),
            .advice = as_text(
                again
                    ? "tensors of this size gain nothing from several threads, which wait for one another or for a core: "
                      "fewer threads (OMP_NUM_THREADS=1 in the environment), or fewer programs at once"
                    : "a first call prepares code, threads and memory: call each operator before the recording; if later calls "
                      "take as long, threads wait for one another: torch.set_num_threads(1)"),
            .once = once,
            .edit = edit,
        };
        finding_add(pricing, again ? FINDING_THREADS : FINDING_FIRST_CALLS, finding, NULL);
        VEC_FREE(&names);
    }
    VEC_FREE(&slow);
}
