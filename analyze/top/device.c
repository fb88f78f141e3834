/* device.c - top_count_devices of top.h: time on devices, of the work itself and of the calls that launched it. */
#include "analyze/top/top.h"

#include <assert.h>

/* Time of a node. */
struct node_time {
    node_id node;
    int64_t time_ns;
};

struct device_state {
    struct top_rows *rows;
    const struct top_calls *calls;
    const struct top_links *links;
    const struct top_launched *launched;
    struct top_counts *counts;
    size_t next_alike;      /* of launched->alike */
    struct top_nodes nodes; /* of the operators and calls that launched work */
    int64_t *launched_ns;   /* beside nodes.node: the work that was given to it alone */
};

static void add_work(struct top_work *work, int64_t duration_ns)
{
    work->count++;
    add_wrapped(&work->total_ns, duration_ns);
}

/* Node N launched work of DURATION: it is N's own. The call it counts for, NODE_NONE when that lost it. */
static node_id device_assign_to_call(struct device_state *state, node_id n, int64_t duration_ns)
{
    const struct top_calls *calls = state->calls;
    if (calls->state[n] & NODE_KERNELS_GONE) {
        add_work(&state->counts->lost, duration_ns);
        return NODE_NONE;
    }
    if (calls->state[n] & NODE_FOLDED)
        n = calls->tree->parent[n];
    if (top_row_of_node(calls, n) != ROW_NONE)
        add_wrapped(&state->rows->at[top_row_of_node(calls, n)].self_device_ns, duration_ns);
    return n;
}

/* It is in the total of the call and all its callers. Work that STAMP stands for may be given to several calls. */
static void assign_to_callers(struct device_state *state, node_id n, int64_t duration_ns, uint64_t stamp)
{
    const struct top_calls *calls = state->calls;
    n = device_assign_to_call(state, n, duration_ns);
    if (n == NODE_NONE)
        return;
    bool once = top_counts_once(state->rows->events, calls->tree->event[n]);
    for (; n != NODE_NONE; n = calls->tree->parent[n]) {
        if (top_row_of_node(calls, n) == ROW_NONE)
            continue;
        struct row_sums *row = &state->rows->at[top_row_of_node(calls, n)];
        if (once && row->seen == stamp)
            continue;
        row->seen = stamp;
        add_wrapped(&row->device_ns, duration_ns);
    }
}

/* As assign_to_callers, of work that is given to node INDEX of state->nodes alone: add_launched does for all such work what is left. */
static void assign_later(struct device_state *state, size_t index, int64_t duration_ns)
{
    if (device_assign_to_call(state, state->nodes.node[index], duration_ns) != NODE_NONE)
        add_wrapped(&state->launched_ns[index], duration_ns);
}

/* Callees lie behind their callers: each gives what it and its callees launched to its caller. From the last
 * to the first only callers wait for more, each within the one below it on a stack. A call that was folded
 * gives all to what it was folded into. */
static void add_launched(struct device_state *state)
{
    const struct top_calls *calls = state->calls;
    SCOPED VEC_OF(struct node_time) callers = { 0 };
    for (node_id n = (node_id)calls->tree->count; n-- > 0;) {
        node_id parent = calls->tree->parent[n];
        uint32_t row = top_row_of_node(calls, n);
        event_id e = calls->tree->event[n];
        int64_t all_ns =
            top_nodes_wants(&state->nodes, e) ? state->launched_ns[top_nodes_index(&state->nodes, e)] : 0;
        if (callers.count && callers.at[callers.count - 1].node == n)
            add_wrapped(&all_ns, callers.at[--callers.count].time_ns);
        if (row != ROW_NONE && !(calls->state[n] & NODE_COVERED))
            add_wrapped(&state->rows->at[row].device_ns, all_ns);
        if (parent == NODE_NONE || all_ns == 0)
            continue;
        if (callers.count == 0 || callers.at[callers.count - 1].node != parent) {
            assert(callers.count == 0 || callers.at[callers.count - 1].node < parent);
            *VEC_PUSH(&callers) = (struct node_time){ parent, 0 };
        }
        add_wrapped(&callers.at[callers.count - 1].time_ns, all_ns);
    }
}

/* The nodes of all that may be given work. */
static void find_nodes(struct device_state *state, struct arena *arena)
{
    top_nodes_open(&state->nodes, state->rows->events->trace, arena);
    for (size_t i = 0; i < state->launched->count; i++)
        top_nodes_want(&state->nodes, state->launched->at[i].op);
    for (size_t i = 0; i < state->links->lookalikes.count; i++)
        top_nodes_want(&state->nodes, state->links->lookalikes.at[i].call);
    top_nodes_find(&state->nodes, state->calls->tree, arena);
    state->launched_ns = arena_zalloc(arena, state->nodes.count + 1, sizeof *state->launched_ns);
}

/* Counts of work for the notes below the table. */
static void record_work(struct device_state *state, event_id e, event_id call, bool has_operator,
                        int64_t duration_ns)
{
    const struct top_events *events = state->rows->events;
    if (!event_is_gpu_work((enum event_kind)events->trace->kind[e]))
        return;
    if (!has_operator)
        add_work(&state->counts->unlinked, duration_ns);
    if (call == EVENT_NONE && !has_operator)
        add_work(&state->counts->callless[unlinked_sort_of(unlinked_work_of(events->trace), e)], duration_ns);
    else if (call != EVENT_NONE && events->names.flags[events->trace->name[call]] & NAME_GRAPH)
        add_work(&state->counts->graph, duration_ns);
}

/* Work of a graph is also that of the operator it was captured from, which did not run again. */
static void assign_to_captured(struct device_state *state, event_id e, event_id call, int64_t duration_ns)
{
    uint32_t index = call == EVENT_NONE ? ROW_NONE : top_row_of_captured(state->rows, e, call);
    if (index == ROW_NONE)
        return;
    struct row_sums *row = &state->rows->at[index];
    row->captured++;
    add_wrapped(&row->device_ns, duration_ns);
    add_wrapped(&row->self_device_ns, duration_ns);
}

/* The lookalikes of work AT of state->launched, requested in ascending order; NULL: there are none. */
static const struct top_alike_work *next_alike(struct device_state *state, size_t at)
{
    bool has_alike = state->next_alike < state->launched->alike.count &&
                     state->launched->alike.at[state->next_alike].at == at;
    return has_alike ? &state->launched->alike.at[state->next_alike++] : NULL;
}

/* E, work AT of state->launched. */
static void count_launched(struct device_state *state, event_id e, int64_t duration_ns, size_t at)
{
    const struct top_events *events = state->rows->events;
    const struct top_links *links = state->links;
    const struct top_launched_work *work = &state->launched->at[at];
    const struct top_alike_work *alike = next_alike(state, at);
    size_t index = work->op == EVENT_NONE ? 0 : top_nodes_index(&state->nodes, work->op);
    node_id op = work->op == EVENT_NONE ? NODE_NONE : state->nodes.node[index];
    if (graph_link_is_work(state->rows->links, e))
        assign_to_captured(state, e, work->call, duration_ns);
    record_work(state, e, work->call, op != NODE_NONE || graph_link_op(state->rows->links, e), duration_ns);
    if (top_rows_hold_both_sides(events))
        return; /* the row has it already */
    if (op != NODE_NONE && !alike)
        assign_later(state, index, duration_ns);
    else if (op != NODE_NONE)
        assign_to_callers(state, op, duration_ns, e + UINT64_C(1));
    for (size_t i = alike ? alike->lookalike : 0; alike && top_is_lookalike(links, alike->lookalike, i);
         i++) {
        assign_to_callers(state, top_node_of(&state->nodes, links->lookalikes.at[i].call), duration_ns,
                          e + UINT64_C(1));
        state->counts->lookalikes += top_version_is_open(links, events, e);
    }
}

/* The row of E itself. */
static void count_event(struct device_state *state, event_id e, int64_t start_ns, int64_t end_ns)
{
    struct top_rows *rows = state->rows;
    const struct top_events *events = rows->events;
    int64_t duration_ns = difference_wrapped(end_ns, start_ns);
    uint32_t index = top_row_of(rows, e);
    state->counts->has_device = true;
    if (index != ROW_NONE) {
        if (!top_row_count_later(rows, index, start_ns))
            top_row_count(rows, index, &(struct top_occurrence){ e, start_ns, end_ns, e, false, false });
        add_wrapped(&rows->at[index].device_ns, duration_ns);
        add_wrapped(&rows->at[index].self_device_ns, duration_ns);
    }
    /* Rows of threads hold what their calls launched: the whole is the same, though no row is a device's. */
    if ((index != ROW_NONE || events->by & TOP_THREAD) && events->trace->kind[e] != EVENT_GPU_ANNOTATION)
        add_wrapped(&state->counts->self_device_ns, duration_ns);
    if (index != ROW_NONE && events->trace->kind[e] == EVENT_SYNC && duration_ns > 0) {
        state->counts->waits.count++;
        add_wrapped(&state->counts->waits.total_ns, duration_ns);
    }
}

void top_count_devices(struct top_rows *rows, const struct top_calls *calls, const struct top_links *links,
                       const struct top_launched *launched, const struct narrowings *narrowings,
                       struct top_counts *counts)
{
    const struct trace *trace = rows->events->trace;
    struct device_state state = {
        .rows = rows, .calls = calls, .links = links, .launched = launched, .counts = counts
    };
    size_t next = 0, next_launched = 0;
    struct time_scan times;
    time_scan_begin(&times, trace);
    SCOPED_ARENA struct arena scratch = { 0 };
    find_nodes(&state, &scratch);
    for (event_id e = 0; e < trace->event_count; e++) {
        if (top_role(rows->events, e) != ROLE_DEVICE)
            continue;
        int64_t start_ns, end_ns;
        top_device_time(&times, narrowings, &next, e, &start_ns, &end_ns);
        count_event(&state, e, start_ns, end_ns);
        if (top_is_launched(rows->events, e)) {
            assert(next_launched < launched->count);
            count_launched(&state, e, difference_wrapped(end_ns, start_ns), next_launched++);
        }
    }
    add_launched(&state);
}
