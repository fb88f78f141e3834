/*
 * float.c - top_sum_as_torch of top.h: torch's own arithmetic.
 *
 * torch holds times as float64 microseconds from the start of recording and adds them up event by event, in the
 * order of its list, children before they are taken from their parent. The sums differ from exact ones in the
 * last digits, which decides how a figure that lies between two texts is rounded. For a text equal
 * to torch's, byte for byte, the same additions are done here in the same order.
 */
#include "analyze/top/top.h"

#include "base/rows.h"
#include <math.h>

/* Python's sum() over floats: since 3.12 it carries the rounding error along (Neumaier). */
struct python_sum {
    double sum, error;
};

static void python_add(struct python_sum *sum, double value)
{
    double total = sum->sum + value;
    if (fabs(sum->sum) >= fabs(value))
        sum->error += (sum->sum - total) + value;
    else
        sum->error += (value - total) + sum->sum;
    sum->sum = total;
}

static double python_value(const struct python_sum *sum)
{
    return sum->error != 0 && isfinite(sum->error) ? sum->sum + sum->error : sum->sum;
}

/* An event of torch's list. */
struct listed {
    int64_t start_ns, end_ns;
    uint64_t order;
    event_id event;
    node_id node; /* NODE_NONE: async, on a device, or a [memory] record */
};

struct float_state {
    struct top_rows *rows;
    const struct top_events *events;
    const struct top_calls *calls;
    const struct top_links *links;
    const struct trace *trace;
    node_id *node_of;                                            /* by event */
    int64_t *origin_ns;                                          /* by file: when recording started */
    struct python_sum *kernels, *children_cpu, *children_device; /* by node */
    double *device;                                              /* by node: total */
    VEC_OF(struct listed) list;
};

static double to_us(const struct float_state *state, event_id e, int64_t ns)
{
    return (double)difference_wrapped(ns, state->origin_ns[top_file_of(state->events, e)]) / 1000.0;
}

static double duration_us(const struct float_state *state, event_id e, int64_t start_ns, int64_t end_ns)
{
    return to_us(state, e, end_ns) - to_us(state, e, start_ns);
}

static double node_duration_us(const struct float_state *state, node_id n)
{
    const struct trace *trace = state->trace;
    event_id e = state->calls->tree->event[n];
    return duration_us(state, e, trace_start_ns(trace, e), trace_end_ns(trace, e));
}

/* torch's list is sorted by (start, -end), stably, from one sorted by start, stably, from the file's order. */
static const struct key by_listed[] = { ASC(struct listed, start_ns), DESC(struct listed, end_ns),
                                        ASC(struct listed, order), KEY_END };

static const struct key by_starts[] = { ASC(struct listed, start_ns), ASC(struct listed, order), KEY_END };

static void find_origins(struct float_state *state)
{
    const struct trace *trace = state->trace;
    for (uint32_t i = 0; i < trace->file_count; i++) {
        const struct trace_file *file = &trace->files[i];
        int64_t first_ns = file->has_window ? file->window_start_ns : INT64_MAX;
        for (event_id e = 0; !file->has_window && e < file->event_count; e++)
            if (trace_start_ns(trace, file->first_event + e) < first_ns)
                first_ns = trace_start_ns(trace, file->first_event + e);
        state->origin_ns[i] = first_ns;
    }
}

/* Is E in torch's list? Then how. */
static bool list_event(const struct float_state *state, const uint64_t *leftovers, event_id e,
                       struct listed *listed)
{
    const struct trace *trace = state->trace;
    enum top_role role = top_role(state->events, e);
    bool leftover = role == ROLE_MEMORY && leftovers && leftovers[e / 64] >> (e % 64) & 1;
    if (role == ROLE_NONE || (role == ROLE_MEMORY && !leftover))
        return false;
    *listed = (struct listed){ trace_start_ns(trace, e), trace_end_ns(trace, e), top_order(state->events, e),
                               e, NODE_NONE };
    if (role == ROLE_ASYNC)
        listed->end_ns = region_end_ns(trace, state->events->open, e);
    if (leftover)
        listed->end_ns = listed->start_ns;
    if (role != ROLE_CALL && role != ROLE_OUT_OF_MEMORY)
        return true;
    listed->node = state->node_of[e];
    return !(state->calls->state[listed->node] & NODE_FOLDED);
}

static void make_list(struct float_state *state, const struct narrowings *narrowings,
                      const uint64_t *leftovers)
{
    size_t next = 0;
    struct time_scan times;
    time_scan_begin(&times, state->trace);
    for (event_id e = 0; e < state->trace->event_count; e++) {
        struct listed listed;
        if (!list_event(state, leftovers, e, &listed))
            continue;
        if (top_role(state->events, e) == ROLE_DEVICE)
            top_device_time(&times, narrowings, &next, e, &listed.start_ns, &listed.end_ns);
        *VEC_PUSH(&state->list) = listed;
    }
}

static void assign_kernel(struct float_state *state, node_id n, double duration)
{
    const struct top_calls *calls = state->calls;
    if (calls->state[n] & NODE_KERNELS_GONE)
        return;
    if (calls->state[n] & NODE_FOLDED)
        n = calls->tree->parent[n];
    python_add(&state->kernels[n], duration);
}

/* Kernels of an operator are added in order of their start. */
static void sum_kernels(struct float_state *state)
{
    const struct trace *trace = state->trace;
    const struct top_links *links = state->links;
    const node_id *node_of = state->node_of;
    SORT(&state->list, by_starts);
    FOR_EACH(listed, &state->list) {
        event_id e = listed->event;
        if (!event_is_launched((enum event_kind)trace->kind[e]))
            continue;
        int64_t id, correlation;
        bool has_id = trace_arg(trace, ARG_EXTERNAL_ID, e, &id);
        bool has_correlation = trace_arg(trace, ARG_CORRELATION, e, &correlation);
        size_t lookalike;
        struct launch_link link =
            top_link(links, e, has_id ? &id : NULL, has_correlation ? &correlation : NULL, &lookalike);
        double duration = duration_us(state, e, listed->start_ns, listed->end_ns);
        if (link.op != EVENT_NONE && node_of[link.op] != NODE_NONE)
            assign_kernel(state, node_of[link.op], duration);
        for (size_t l = lookalike; top_is_lookalike(links, lookalike, l); l++)
            assign_kernel(state, node_of[links->lookalikes.at[l].call], duration);
    }
}

/* Nodes have their callees behind them: take the last first, and give each caller its callees in order. */
static void sum_children(struct float_state *state)
{
    const struct calltree *tree = state->calls->tree;
    SCOPED node_id *first_child = mem_alloc(mem_times(tree->count + 1, sizeof *first_child));
    SCOPED node_id *next_child = mem_alloc(mem_times(tree->count + 1, sizeof *next_child));
    memset(first_child, 0xff, (tree->count + 1) * sizeof *first_child);
    for (node_id n = (node_id)tree->count; n-- > 0;) {
        if (state->calls->state[n] & NODE_FOLDED)
            continue;
        for (node_id child = first_child[n]; child != NODE_NONE; child = next_child[child]) {
            python_add(&state->children_cpu[n], node_duration_us(state, child));
            python_add(&state->children_device[n], state->device[child]);
        }
        state->device[n] = python_value(&state->kernels[n]) + python_value(&state->children_device[n]);
        node_id parent = tree->parent[n];
        if (parent == NODE_NONE)
            continue;
        next_child[n] = first_child[parent];
        first_child[parent] = n;
    }
}

static void sum_rows(struct float_state *state)
{
    SORT(&state->list, by_listed);
    FOR_EACH(listed, &state->list) {
        node_id n = listed->node;
        uint32_t index =
            n == NODE_NONE ? top_row_of(state->rows, listed->event) : top_row_of_node(state->calls, n);
        if (index == ROW_NONE)
            continue;
        struct top_float_figures *row = &state->rows->at[index].as_torch;
        double duration = duration_us(state, listed->event, listed->start_ns, listed->end_ns);
        if (event_on_device((enum event_kind)state->trace->kind[listed->event])) {
            row->device_us += duration;
            row->self_device_us += duration;
            continue;
        }
        row->cpu_us += duration;
        if (n == NODE_NONE) {
            if (top_role(state->events, listed->event) != ROLE_ASYNC)
                row->self_cpu_us += duration;
            continue;
        }
        row->self_cpu_us += duration - python_value(&state->children_cpu[n]);
        row->device_us += state->device[n];
        row->self_device_us += state->device[n] - python_value(&state->children_device[n]);
    }
}

void top_sum_as_torch(struct top_rows *rows, const struct top_calls *calls, const struct top_links *links,
                      const struct narrowings *narrowings, const uint64_t *leftovers)
{
    size_t nodes = calls->tree->count + 1;
    struct float_state state = {
        .rows = rows, .events = rows->events, .calls = calls, .links = links, .trace = rows->events->trace
    };
    state.node_of = calltree_nodes(calls->tree);
    state.origin_ns = mem_zalloc(state.trace->file_count + 1, sizeof *state.origin_ns);
    state.kernels = mem_zalloc(nodes, sizeof *state.kernels);
    state.children_cpu = mem_zalloc(nodes, sizeof *state.children_cpu);
    state.children_device = mem_zalloc(nodes, sizeof *state.children_device);
    state.device = mem_zalloc(nodes, sizeof *state.device);
    find_origins(&state);
    make_list(&state, narrowings, leftovers);
    if (state.list.count) {
        sum_kernels(&state);
        sum_children(&state);
        sum_rows(&state);
    }
    EACH(free, state.node_of, state.origin_ns, state.kernels, state.children_cpu, state.children_device,
         state.device);
    VEC_FREE(&state.list);
}
