/*
 * edits_recompute.c - the backward pass finds all activations in memory, and computes nothing of the forward pass again.
 *
 * Torch checkpoints activations with and without a node of its own in the graph: either way it is within a node that operators run
 * which only a forward pass calls (aten::linear, aten::layer_norm), as no formula of a derivative has them. From the start of such a
 * node to the end of the last of them it computes again; what the node is for follows.
 */
#include "whatif/editing.h"

#include "base/rows.h"
#include "base/search.h"

static const struct key by_start[] = { ASC(struct interval, start_ns), KEY_END };

static bool is_node(const char *name)
{
    return text_begins_with(name, "autograd::engine::evaluate_function");
}

static bool is_of_forward_pass(const char *name)
{
    static const char *const names[] = {
        "aten::linear",     "aten::conv1d",     "aten::conv2d", "aten::conv3d",
        "aten::layer_norm", "aten::batch_norm", "aten::gelu",   "aten::softmax",
        "aten::embedding",  "aten::dropout",    "aten::matmul", "aten::scaled_dot_product_attention"
    };
    return ANY(i, sizeof names / sizeof *names, strcmp(name, names[i]) == 0);
}

/* New, by thread of the graph: the host events whose names are in FLAGS, by start. Free with arena_free. */
static struct intervals *events_by_start(const struct editing *editing, const struct name_flags *flags)
{
    const struct replay_graph *graph = editing->graph;
    struct intervals *found = arena_open(mem_times(graph->thread_count + 1, sizeof *found));
    ARENA_OWNS_EACH(arena_of(found), found, graph->thread_count, at);
    for (event_id e = 0; e < editing->trace->event_count; e++) {
        uint32_t thread = graph->thread_of_track[editing->trace->track[e]];
        if (editing->trace->kind[e] == EVENT_OP && name_flags_has(flags, e) && thread != UINT32_MAX)
            *VEC_PUSH(&found[thread]) =
                (struct interval){ replay_event_start(graph, e), replay_event_end(graph, e) };
    }
    for (size_t t = 0; t < graph->thread_count; t++)
        SORT(&found[t], by_start);
    return found;
}

/* Leave of OPERATORS, by start, those in one of NODES, each from the start of its node. */
static void keep_in_nodes(const struct intervals *nodes, struct intervals *operators)
{
    size_t kept = 0;
    for (size_t i = 0; i < operators->count; i++) {
        const struct interval operator= operators->at[i];
        size_t n;
        SEARCH(n, nodes->count, nodes->at[n].start_ns <= operator.start_ns);
        if (n > 0 && operator.end_ns <= nodes->at[n - 1].end_ns)
            operators->at[kept++] = (struct interval){ nodes->at[n - 1].start_ns, operator.end_ns };
    }
    operators->count = kept;
    intervals_merge(operators);
}

/* Does the trace have nodes of a backward pass, and operators that may be computed again in them? */
static bool has_both(const struct trace *trace, const struct name_flags *nodes,
                     const struct name_flags *forward)
{
    return ANY(id, names_count(trace->names), nodes->flags[id]) &&
           ANY(id, names_count(trace->names), forward->flags[id]);
}

static void drop_recomputed(const struct editing *editing, const struct name_flags *of_nodes,
                            const struct name_flags *of_forward)
{
    const struct replay_graph *graph = editing->graph;
    struct intervals *nodes = events_by_start(editing, of_nodes),
                     *recomputed = events_by_start(editing, of_forward);
    for (size_t t = 0; t < graph->thread_count; t++) {
        keep_in_nodes(&nodes[t], &recomputed[t]);
        editing->effect->count += recomputed[t].count;
        editing->effect->time_ns += intervals_length(&recomputed[t]);
    }
    editing_scale_ranges(editing, recomputed, 0);
    for (size_t i = 0; i < graph->gpu->count; i++)
        if (graph->gpu->call[i] != EVENT_NONE && editing_holds(editing, recomputed, graph->gpu->call[i]))
            editing_scale_work(editing, i, 0);
    arena_free(nodes);
    arena_free(recomputed);
}

void edit_no_recompute(const struct editing *editing)
{
    struct name_flags nodes = name_flags_of(editing->trace, is_node),
                      forward = name_flags_of(editing->trace, is_of_forward_pass);
    if (has_both(editing->trace, &nodes, &forward))
        drop_recomputed(editing, &nodes, &forward);
    EACH(free, nodes.flags, forward.flags);
}
