/*
 * stacks.c - top_borrow_stacks of top.h: Python stacks of the backward pass.
 *
 * Which events run a backward node is not in the file; the engine names the call around each after it, so
 *
 *     autograd::engine::evaluate_function: MmBackward0
 *         MmBackward0                                       <- a backward node
 */
#include "analyze/top/top.h"

#include "base/rows.h"
#include "base/search.h"

struct forward {
    size_t process;
    int64_t sequence;
    int64_t start_ns, end_ns;
    event_id event;
};

struct forwards {
    VEC_OF(struct forward);
};

static const struct key by_forwards[] = { ASC(struct forward, process),  ASC(struct forward, sequence),
                                          ASC(struct forward, start_ns), DESC(struct forward, end_ns),
                                          ASC(struct forward, event),    KEY_END };

/* The first forward operator with the number, in torch's order; EVENT_NONE when there is none. */
static event_id find_forward(const struct forwards *forwards, size_t process, int64_t sequence)
{
    const struct forward *at = forwards->at;
    size_t i = PLACE(k, forwards->count,
                     at[k].process < process || (at[k].process == process && at[k].sequence < sequence));
    bool found = i < forwards->count && at[i].process == process && at[i].sequence == sequence;
    return found ? at[i].event : EVENT_NONE;
}

static bool is_backward_node(const struct calltree *tree, node_id n)
{
    static const char prefix[] = "autograd::engine::evaluate_function: ";
    node_id parent = tree->parent[n];
    if (parent == NODE_NONE)
        return false;
    const char *around = trace_name(tree->trace, tree->event[parent]);
    return strncmp(around, prefix, sizeof prefix - 1) == 0 &&
           strcmp(around + sizeof prefix - 1, trace_name(tree->trace, tree->event[n])) == 0;
}

/* New; by node: the backward node around, or itself. The operators of the forward pass are added to FORWARDS. */
static node_id *find_backward(const struct top_calls *calls, const struct top_links *links,
                              struct forwards *forwards)
{
    const struct calltree *tree = calls->tree;
    const struct trace *trace = tree->trace;
    node_id *backward = mem_alloc(mem_times(tree->count + 1, sizeof *backward));
    for (node_id n = 0; n < tree->count; n++) {
        event_id e = tree->event[n];
        node_id parent = tree->parent[n];
        int64_t sequence;
        backward[n] = parent == NODE_NONE ? NODE_NONE : backward[parent];
        if (calls->state[n] & NODE_FOLDED)
            continue;
        if (is_backward_node(tree, n))
            backward[n] = n;
        if (backward[n] == NODE_NONE && trace_arg(trace, ARG_SEQUENCE, e, &sequence))
            *VEC_PUSH(forwards) = (struct forward){ attribution_process(links->launches, e), sequence,
                                                    trace_start_ns(trace, e), trace_end_ns(trace, e), e };
    }
    if (forwards->count)
        SORT(forwards, by_forwards);
    return backward;
}

event_id *top_borrow_stacks(const struct top_calls *calls, const struct top_links *links)
{
    const struct calltree *tree = calls->tree;
    const struct trace *trace = tree->trace;
    SCOPED struct forwards forwards = { 0 };
    SCOPED node_id *backward = find_backward(calls, links, &forwards);
    event_id *stack_event = mem_alloc(mem_times(trace->event_count + 1, sizeof *stack_event));
    for (event_id e = 0; e < trace->event_count; e++)
        stack_event[e] = e;
    for (node_id n = 0; n < tree->count; n++) {
        if (backward[n] == NODE_NONE)
            continue;
        event_id e = tree->event[n], node = tree->event[backward[n]];
        int64_t sequence;
        bool has_forward = trace_arg(trace, ARG_SEQUENCE, node, &sequence) &&
                           trace_arg_or(trace, ARG_FWD_THREAD, node, 0) != 0;
        stack_event[e] = has_forward
                             ? find_forward(&forwards, attribution_process(links->launches, e), sequence)
                             : EVENT_NONE;
    }
    return stack_event;
}
