/*
 * order.c - the moments in an order in which each comes after those it depends on.
 *
 * A moment depends on none that was recorded later, so the order is that of time. Only moments of one nanosecond need a closer
 * look: each is put behind those of the same time that it depends on, with a stack of its own, since there may be a million of
 * them. Where that runs in a circle, the edge that closes it is left out.
 */
#include "replay/graph_parts.h"

#include "base/runs.h"
#include <stdlib.h>

static bool is_later(const void *context, const void *left, const void *right)
{
    const struct replay_graph *graph = context;
    moment_id a = *(const moment_id *)left, b = *(const moment_id *)right;
    return graph->time_ns[a] != graph->time_ns[b] ? graph->time_ns[a] > graph->time_ns[b] : a > b;
}

/* Hand the edges out to the moments they lead to. Those that lead back in time are left out. */
static void sort_edges(struct graph_maker *maker)
{
    struct replay_graph *graph = maker->graph;
    size_t count = graph->moment_count;
    graph->first_edge = mem_zalloc(count + 2, sizeof *graph->first_edge);
    graph->edges = mem_alloc((maker->edges.count + 1) * sizeof *graph->edges);
    for (size_t k = 0; k < maker->edges.count; k++) {
        struct loose_edge *one = &maker->edges.at[k];
        if (one->edge.from == MOMENT_NONE || one->to == MOMENT_NONE ||
            graph->time_ns[one->edge.from] > graph->time_ns[one->to]) {
            graph->dropped_edges++;
            one->to = MOMENT_NONE;
            continue;
        }
        graph->first_edge[one->to + 1]++;
        graph->edge_count++;
    }
    for (size_t m = 0; m < count; m++)
        graph->first_edge[m + 1] += graph->first_edge[m];
    uint32_t *next = mem_alloc((count + 1) * sizeof *next);
    memcpy(next, graph->first_edge, (count + 1) * sizeof *next);
    for (size_t k = 0; k < maker->edges.count; k++)
        if (maker->edges.at[k].to != MOMENT_NONE)
            graph->edges[next[maker->edges.at[k].to]++] = maker->edges.at[k].edge;
    free(next);
    VEC_FREE(&maker->edges);
}

/* A moment that waits for those it depends on: edge NEXT is to be looked at. */
struct pending {
    moment_id m;
    uint32_t next;
};

struct ordering {
    struct replay_graph *graph;
    uint8_t *state; /* by moment: 0 not met, 1 pending, 2 in order */
    struct {
        struct pending *at;
        size_t count, capacity;
    } stack;
    size_t done;
};

static void drop_edge(struct replay_graph *graph, uint32_t k, moment_id m)
{
    /* It leads from the moment to itself, which asks nothing of anybody. */
    graph->edges[k].from = m;
    graph->edges[k].binds = false;
    graph->dropped_edges++;
}

static void push(struct ordering *ordering, moment_id m)
{
    ordering->state[m] = 1;
    *VEC_PUSH(&ordering->stack) = (struct pending){ m, ordering->graph->first_edge[m] };
}

/* The moment before M that it depends on without an edge, when that has the same time; only the end of work has such. */
static moment_id start_of_instant(const struct replay_graph *graph, moment_id m)
{
    bool same = replay_moment_kind(graph, m) == MOMENT_WORK_END && graph->time_ns[m - 1] == graph->time_ns[m];
    return same ? m - 1 : MOMENT_NONE;
}

/* The moment on top of the stack can not come before the one below it, which asked for that: leave this edge out. */
static void give_up(struct ordering *ordering)
{
    ordering->state[ordering->stack.at[--ordering->stack.count].m] = 0;
    struct pending *asked = &ordering->stack.at[ordering->stack.count - 1];
    drop_edge(ordering->graph, asked->next - 1, asked->m);
}

/* Put M in order, and before it what it depends on of the same time. */
static void place(struct ordering *ordering, moment_id m)
{
    struct replay_graph *graph = ordering->graph;
    push(ordering, m);
    while (ordering->stack.count) {
        struct pending *top = &ordering->stack.at[ordering->stack.count - 1];
        moment_id own = top->m, start = start_of_instant(graph, own);
        if (start != MOMENT_NONE && ordering->state[start] == 0) {
            push(ordering, start);
            continue;
        }
        if (start != MOMENT_NONE && ordering->state[start] == 1) {
            give_up(ordering); /* its own start waits for it */
            continue;
        }
        if (top->next == graph->first_edge[own + 1]) {
            ordering->state[own] = 2;
            graph->order[ordering->done++] = own;
            ordering->stack.count--;
            continue;
        }
        uint32_t k = top->next++;
        moment_id from = graph->edges[k].from;
        if (graph->time_ns[from] != graph->time_ns[own] || ordering->state[from] == 2)
            continue;
        if (ordering->state[from] == 1)
            drop_edge(graph, k, own);
        else
            push(ordering, from);
    }
}

void graph_order(struct graph_maker *maker)
{
    struct replay_graph *graph = maker->graph;
    sort_edges(maker);
    struct ordering ordering = { .graph = graph,
                                 .state = mem_zalloc(graph->moment_count + 1, sizeof *ordering.state) };
    moment_id *by_time = mem_alloc((graph->moment_count + 1) * sizeof *by_time);
    for (size_t m = 0; m < graph->moment_count; m++)
        by_time[m] = (moment_id)m;
    runs_sort(by_time, graph->moment_count, sizeof *by_time, is_later, graph);
    graph->order = mem_alloc((graph->moment_count + 1) * sizeof *graph->order);
    for (size_t i = 0; i < graph->moment_count; i++)
        if (ordering.state[by_time[i]] == 0)
            place(&ordering, by_time[i]);
    if (graph->moment_count) {
        graph->start_ns = graph->time_ns[by_time[0]];
        graph->end_ns = graph->time_ns[by_time[graph->moment_count - 1]];
    }
    VEC_FREE(&ordering.stack);
    free(ordering.state);
    free(by_time);
}
