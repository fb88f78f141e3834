#include "analyze/top/top.h"

void top_nodes_open(struct top_nodes *nodes, const struct trace *trace, struct arena *arena)
{
    *nodes = (struct top_nodes){ .words = trace->event_count / 64 + 1 };
    nodes->wanted = arena_zalloc(arena, nodes->words, sizeof *nodes->wanted);
}

void top_nodes_find(struct top_nodes *nodes, const struct calltree *tree, struct arena *arena)
{
    nodes->before = arena_alloc(arena, mem_times(nodes->words, sizeof *nodes->before));
    for (size_t word = 0; word < nodes->words; word++) {
        nodes->before[word] = (uint32_t)nodes->count;
        nodes->count += bits_count(nodes->wanted[word]);
    }
    nodes->node = arena_alloc(arena, mem_times(nodes->count + 1, sizeof *nodes->node));
    for (size_t i = 0; i < nodes->count; i++)
        nodes->node[i] = NODE_NONE;
    for (node_id n = 0; n < tree->count; n++)
        if (top_nodes_wants(nodes, tree->event[n]))
            nodes->node[top_nodes_index(nodes, tree->event[n])] = n;
}
