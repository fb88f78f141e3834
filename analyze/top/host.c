/* host.c - top_count_host of top.h: time on the host, calls and floating-point operations. */
#include "analyze/top/top.h"

#include "derive/flops.h"
#include <assert.h>

/* New; by node: the first node behind all that it called. Callees lie behind their caller. */
static node_id *ends_of_calls(const struct calltree *tree)
{
    node_id *ends = mem_alloc(mem_times(tree->count + 1, sizeof *ends));
    for (node_id n = 0; n < tree->count; n++)
        ends[n] = n + 1;
    for (node_id n = (node_id)tree->count; n-- > 0;) {
        node_id parent = tree->parent[n];
        if (parent != NODE_NONE && ends[n] > ends[parent])
            ends[parent] = ends[n];
    }
    return ends;
}

/* Node N, which takes DUR_NS, counts in row INDEX. ENDS: behind its callees; NULL where all calls of a row count. */
static void count_node(struct top_rows *rows, struct top_calls *calls, node_id n, uint32_t index,
                       int64_t dur_ns, const node_id *ends)
{
    const struct top_events *events = rows->events;
    event_id e = calls->tree->event[n];
    int64_t start_ns = trace_start_ns(events->trace, e);
    if (!top_row_count_later(rows, index, start_ns))
        top_row_count(rows, index,
                      &(struct top_occurrence){ .event = e,
                                                .start_ns = start_ns,
                                                .end_ns = start_ns + dur_ns,
                                                .order = top_order(events, e),
                                                .has_parent = calls->tree->parent[n] != NODE_NONE });
    struct row_sums *row = &rows->at[index];
    add_wrapped(&row->self_cpu_ns, dur_ns);
    if (ends && top_counts_once(events, e)) {
        if (n < row->covered_until) {
            calls->state[n] |= NODE_COVERED;
            return;
        }
        row->covered_until = ends[n];
    }
    add_wrapped(&row->cpu_ns, dur_ns);
}

static void count_calls(struct top_rows *rows, struct top_calls *calls)
{
    const struct top_events *events = rows->events;
    const struct trace *trace = events->trace;
    const struct calltree *tree = calls->tree;
    bool any_once = !events->per_call;
    for (uint32_t i = 0; i < trace->file_count; i++)
        any_once |= !events->files[i].is_torch;
    SCOPED node_id *ends = any_once ? ends_of_calls(tree) : NULL;
    top_calls_make_rows(calls);
    for (node_id n = 0; n < tree->count; n++) {
        event_id e = tree->event[n];
        if (calls->state[n] & NODE_FOLDED) {
            top_calls_set_row(calls, n, ROW_NONE);
            continue;
        }
        uint32_t row = top_row_of(rows, e);
        node_id parent = tree->parent[n];
        uint32_t parent_row = parent == NODE_NONE ? ROW_NONE : top_row_of_node(calls, parent);
        int64_t dur_ns = trace_dur_ns(trace, e);
        top_calls_set_row(calls, n, row);
        if (row != ROW_NONE)
            count_node(rows, calls, n, row, dur_ns, ends);
        if (parent_row != ROW_NONE)
            add_wrapped(&rows->at[parent_row].self_cpu_ns, -dur_ns);
    }
}

static void count_forked(const struct top_events *events, struct top_counts *counts)
{
    const struct trace *trace = events->trace;
    for (event_id e = 0; events->names.any_flags & NAME_FORKED && e < trace->event_count; e++)
        counts->forked += events->names.flags[trace->name[e]] & NAME_FORKED && top_is_selected(events, e);
}

static void count_async(struct top_rows *rows, struct top_counts *counts)
{
    const struct top_events *events = rows->events;
    const struct trace *trace = events->trace;
    for (event_id e = 0; e < trace->event_count; e++) {
        if (top_role(events, e) != ROLE_ASYNC || !top_is_selected(events, e))
            continue;
        bool open = region_was_open(trace, e);
        counts->unfinished += open;
        counts->guessed_async += !open && !(trace->flags[e] & EVENT_ASYNC);
        uint32_t row = top_row_of(rows, e);
        if (row == ROW_NONE)
            continue;
        struct top_occurrence one = { .event = e,
                                      .start_ns = trace_start_ns(trace, e),
                                      .end_ns = region_end_ns(trace, events->open, e),
                                      .order = e,
                                      .is_async = true };
        top_row_count(rows, row, &one);
        add_wrapped(&rows->at[row].cpu_ns, difference_wrapped(one.end_ns, one.start_ns));
    }
}

/* ---- floating-point operations ---- */

/* What calls with equal shapes do is computed once. */
struct flops_cache {
    struct names *keys; /* operator, text of dims, text of concrete inputs */
    VEC_OF(int64_t) counts;
};

static int64_t flops_of(struct flops_cache *cache, const struct trace *trace, enum flops_operator op,
                        name_id dims, name_id concrete)
{
    uint32_t key[3] = { op, dims, concrete };
    uint32_t id = names_add(cache->keys, (const char *)key, sizeof key);
    if (id == cache->counts.count)
        *VEC_PUSH(&cache->counts) =
            flops_count(op, names_text(trace->texts, dims),
                        concrete == NAME_NONE ? NULL : names_text(trace->texts, concrete));
    assert(id < cache->counts.count);
    return cache->counts.at[id];
}

static void count_flops(struct top_rows *rows, const struct top_calls *calls, struct top_counts *counts)
{
    const struct top_events *events = rows->events;
    const struct trace *trace = events->trace;
    struct flops_cache cache = { .keys = names_open() };
    for (node_id n = 0; n < calls->tree->count; n++) {
        event_id e = calls->tree->event[n];
        uint32_t row = top_row_of_node(calls, n);
        int64_t dims;
        if (row == ROW_NONE || !(events->names.flags[trace->name[e]] & NAME_FLOPS) ||
            !events->files[top_file_of(events, e)].counts_flops || trace->kind[e] != EVENT_OP ||
            !trace_arg(trace, ARG_INPUT_DIMS, e, &dims))
            continue;
        enum flops_operator op = flops_operator_of(names_text(events->names.keys, top_key_of(events, e)));
        name_id concrete = (name_id)trace_arg_or(trace, ARG_CONCRETE_INPUTS, e, NAME_NONE);
        int64_t flops = flops_of(&cache, trace, op, (name_id)dims, concrete);
        add_wrapped(&rows->at[row].flops, flops);
        counts->has_flops |= flops > 0;
    }
    names_free(cache.keys);
    VEC_FREE(&cache.counts);
}

void top_count_host(struct top_rows *rows, struct top_calls *calls, struct top_counts *counts)
{
    count_calls(rows, calls);
    count_async(rows, counts);
    count_forked(rows->events, counts);
    count_flops(rows, calls, counts);
}
