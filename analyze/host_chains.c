#include "analyze/host_chains.h"

#include "derive/communication.h"
#include "derive/gpu_events.h"
#include "derive/gpu_names.h"

enum name_sort {
    NAME_UNKNOWN,
    NAME_ELEMENTS, /* an element-wise operator */
    NAME_AROUND,   /* an annotation: chains end where it begins and where it ends */
    NAME_LEFT_OUT, /* nothing in it counts */
    NAME_OTHER
};

struct chain_search {
    const struct trace *trace;
    uint8_t *sorts;          /* by name: enum name_sort */
    struct op_model *models; /* by name, of element-wise ones */
    int64_t *own_ns;         /* by node of the call tree */
    node_id *around;         /* by node: the innermost annotation around it; NODE_NONE: none */
    bool *done;              /* by node: it lies in an element-wise operator, or in what is left out */
    struct host_chains *found;
    int64_t most_saved_ns;
    /* Of the current chain: */
    struct members {
        VEC_OF(event_id);
    } members;
    node_id in;       /* its annotation */
    int64_t elements; /* of each; OP_UNKNOWN: sizes were not recorded */
    int64_t all_ns, longest_ns, until_ns;
};

/* A calltree_takes: operators and annotations. */
static bool is_operator_or_annotation(const void *context, event_id e)
{
    const struct trace *trace = context;
    return (trace->kind[e] == EVENT_OP || trace->kind[e] == EVENT_ANNOTATION) &&
           !(trace->flags[e] & (EVENT_POINT | EVENT_ASYNC));
}

static enum name_sort sort_of(struct chain_search *search, event_id e)
{
    const struct trace *trace = search->trace;
    uint8_t *sort = &search->sorts[trace->name[e]];
    const char *name = trace_name(trace, e);
    if (*sort != NAME_UNKNOWN)
        return (enum name_sort) * sort;
    bool left_out = strncmp(name, "Optimizer.", strlen("Optimizer.")) == 0 ||
                    strstr(name, "AccumulateGrad") || annotation_is_data_loading(name) ||
                    operator_is_communication(name);
    *sort = left_out                                                  ? NAME_LEFT_OUT
            : trace->kind[e] == EVENT_ANNOTATION                      ? NAME_AROUND
            : op_elements_find(name, &search->models[trace->name[e]]) ? NAME_ELEMENTS
                                                                      : NAME_OTHER;
    return (enum name_sort) * sort;
}

/* The elements that operator E writes; OP_UNKNOWN: not recorded. */
static int64_t elements_of(const struct chain_search *search, event_id e)
{
    const struct trace *trace = search->trace;
    const struct op_model *model = &search->models[trace->name[e]];
    struct op_call call;
    struct op_cost cost = { .flops = OP_UNKNOWN, .bytes = OP_UNKNOWN };
    const char *dims = trace_arg_text(trace, ARG_INPUT_DIMS, e);
    if (!dims || !op_call_read(&call, dims, trace_arg_text(trace, ARG_INPUT_TYPES, e),
                               trace_arg_text(trace, ARG_INPUT_STRIDES, e),
                               trace_arg_text(trace, ARG_CONCRETE_INPUTS, e)))
        return OP_UNKNOWN;
    model->cost(model, &call, &cost);
    return cost.flops == OP_UNKNOWN ? OP_UNKNOWN : cost.flops / model->operations;
}

/* One operator takes the place of the members of the chain, if there are several. The next begins. */
static void end_chain(struct chain_search *search)
{
    struct host_chains *found = search->found;
    size_t count = search->members.count, first = found->count;
    bool is_sized = search->elements != OP_UNKNOWN;
    double factor = (double)search->longest_ns / (double)search->all_ns;
    if (count >= 2 && factor < 1) {
        for (size_t i = 0; i < count; i++)
            *VEC_PUSH(found) = (struct host_chain_part){ search->members.at[i], factor };
        int64_t saved_ns = search->all_ns - search->longest_ns;
        if (saved_ns > search->most_saved_ns) {
            search->most_saved_ns = saved_ns;
            found->first = first;
            found->length = count;
        }
        found->sized = is_sized && (found->sized || found->chains == 0);
        found->chains++;
    }
    search->members.count = 0;
    search->all_ns = search->longest_ns = 0;
}

/* E, an element-wise operator in the annotation AROUND, belongs to the chain, or begins the next. */
static void add_member(struct chain_search *search, event_id e, node_id around)
{
    enum { LONGEST_GAP_NS = 1000000 }; /* a pause of the host */
    int64_t elements = elements_of(search, e), dur_ns = trace_dur_ns(search->trace, e);
    if (search->members.count && (around != search->in || elements != search->elements ||
                                  trace_start_ns(search->trace, e) - search->until_ns >= LONGEST_GAP_NS))
        end_chain(search);
    search->longest_ns = dur_ns > search->longest_ns ? dur_ns : search->longest_ns;
    search->all_ns += dur_ns;
    search->in = around;
    search->elements = elements;
    search->until_ns = trace_end_ns(search->trace, e);
    *VEC_PUSH(&search->members) = e;
}

static void look_at(struct chain_search *search, const struct calltree *tree, node_id n)
{
    event_id e = tree->event[n];
    node_id parent = tree->parent[n];
    enum name_sort sort = sort_of(search, e);
    search->around[n] = sort == NAME_AROUND ? n : parent == NODE_NONE ? NODE_NONE : search->around[parent];
    search->done[n] =
        sort == NAME_LEFT_OUT || sort == NAME_ELEMENTS || (parent != NODE_NONE && search->done[parent]);
    if (parent != NODE_NONE && search->done[parent])
        return;
    if (sort == NAME_ELEMENTS && trace_dur_ns(search->trace, e) >= HOST_CHAIN_LEAST_NS)
        add_member(search, e, search->around[n]);
    else if (sort == NAME_LEFT_OUT || (sort == NAME_OTHER && search->own_ns[n] >= HOST_CHAIN_LEAST_NS))
        end_chain(search);
}

struct host_chains host_chains_find(const struct trace *trace)
{
    struct host_chains found = { 0 };
    if (gpu_events_of(trace)->count)
        return found;
    SCOPED_OBJECT struct calltree *tree = calltree_open(trace, is_operator_or_annotation, trace);
    SCOPED_OBJECT struct arena *own = arena_open(sizeof(struct arena *));
    struct chain_search search = {
        .trace = trace,
        .sorts = arena_zalloc(arena_of(own), names_count(trace->names) + 1, sizeof *search.sorts),
        .models = arena_zalloc(arena_of(own), names_count(trace->names) + 1, sizeof *search.models),
        .own_ns = arena_zalloc(arena_of(own), tree->count + 1, sizeof *search.own_ns),
        .around = arena_zalloc(arena_of(own), tree->count + 1, sizeof *search.around),
        .done = arena_zalloc(arena_of(own), tree->count + 1, sizeof *search.done),
        .found = &found,
    };
    calltree_nest(tree);
    for (node_id n = (node_id)tree->count; n-- > 0;) {
        search.own_ns[n] += trace_dur_ns(trace, tree->event[n]);
        if (tree->parent[n] != NODE_NONE)
            search.own_ns[tree->parent[n]] -= trace_dur_ns(trace, tree->event[n]);
    }
    for (size_t t = 0; t < tree->thread_count; t++) {
        for (node_id n = tree->threads[t].first; n < tree->threads[t].first + tree->threads[t].count; n++)
            look_at(&search, tree, n);
        end_chain(&search);
    }
    VEC_FREE(&search.members);
    return found;
}
