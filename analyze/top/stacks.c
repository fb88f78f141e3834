/*
 * stacks.c - Python stacks of the backward pass.
 *
 * Autograd runs backward operators on a thread of its own, where no Python is on the stack. torch lists each, and
 * all it calls, under the stack of the forward operator with the same sequence number. Which events run a
 * backward node is not in the file; the engine names the call around each after it, so
 *
 *     autograd::engine::evaluate_function: MmBackward0
 *         MmBackward0                                       <- a backward node
 */
#include "analyze/top/parts.h"
#include <stdlib.h>

struct forward {
    size_t process;
    int64_t sequence;
    int64_t start_ns, end_ns;
    event_id event;
};

static int compare_forwards(const void *left, const void *right)
{
    const struct forward *a = left, *b = right;
    if (a->process != b->process)
        return a->process < b->process ? -1 : 1;
    if (a->sequence != b->sequence)
        return a->sequence < b->sequence ? -1 : 1;
    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns ? -1 : 1;
    if (a->end_ns != b->end_ns)
        return a->end_ns > b->end_ns ? -1 : 1;
    return a->event < b->event ? -1 : a->event > b->event;
}

/* The first forward operator with the number, in torch's order; EVENT_NONE when there is none. */
static event_id find_forward(const struct forward *at, size_t count, size_t process, int64_t sequence)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (at[middle].process < process || (at[middle].process == process && at[middle].sequence < sequence))
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && at[low].process == process && at[low].sequence == sequence ? at[low].event
                                                                                     : EVENT_NONE;
}

static bool is_backward_node(const struct top *top, node_id n)
{
    static const char prefix[] = "autograd::engine::evaluate_function: ";
    node_id parent = top->tree->parent[n];
    if (parent == NODE_NONE)
        return false;
    const char *around = trace_name(top->trace, top->tree->event[parent]);
    return strncmp(around, prefix, sizeof prefix - 1) == 0 &&
           strcmp(around + sizeof prefix - 1, trace_name(top->trace, top->tree->event[n])) == 0;
}

void top_borrow_stacks(struct top *top)
{
    const struct trace *trace = top->trace;
    const struct calltree *tree = top->tree;
    node_id *backward =
        mem_alloc((tree->count + 1) * sizeof *backward); /* the backward node around, or itself */
    VEC_OF(struct forward) forwards = { 0 };
    for (node_id n = 0; n < tree->count; n++) {
        event_id e = tree->event[n];
        node_id parent = tree->parent[n];
        int64_t sequence;
        backward[n] = parent == NODE_NONE ? NODE_NONE : backward[parent];
        if (top->state[n] & NODE_FOLDED)
            continue;
        if (is_backward_node(top, n))
            backward[n] = n;
        if (backward[n] == NODE_NONE && trace_arg(trace, ARG_SEQUENCE, e, &sequence))
            *VEC_PUSH(&forwards) = (struct forward){ attribution_process(top->launches, e), sequence,
                                                     trace->start_ns[e], trace_end_ns(trace, e), e };
    }
    if (forwards.count)
        qsort(forwards.at, forwards.count, sizeof *forwards.at, compare_forwards);
    top->stack_event = mem_alloc((trace->event_count + 1) * sizeof *top->stack_event);
    for (event_id e = 0; e < trace->event_count; e++)
        top->stack_event[e] = e;
    for (node_id n = 0; n < tree->count; n++) {
        if (backward[n] == NODE_NONE)
            continue;
        event_id e = tree->event[n], node = tree->event[backward[n]];
        int64_t sequence;
        bool has_forward = trace_arg(trace, ARG_SEQUENCE, node, &sequence) &&
                           trace_arg_or(trace, ARG_FWD_THREAD, node, 0) != 0;
        top->stack_event[e] = has_forward ? find_forward(forwards.at, forwards.count,
                                                         attribution_process(top->launches, e), sequence)
                                          : EVENT_NONE;
    }
    VEC_FREE(&forwards);
    free(backward);
}
