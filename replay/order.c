/*
 * order.c - the moments in an order in which each comes after those it depends on.
 *
 * A moment is put in order after all that it depends on, which are put in order first; with a stack of its own, since a
 * chain of these may be as long as the trace. No sorting is needed. A moment depends on none that was recorded later,
 * so a circle can only lie within one nanosecond; the edge that closes it is left out.
 */
#include "replay/graph_maker.h"

#include <stdlib.h>

/* Hand the edges out to the moments they lead to. Those that lead back in time are left out. */
static void sort_edges(struct graph_maker *maker)
{
    struct replay_graph *graph = maker->graph;
    size_t words = graph->moment_count / 64 + 1, having = 0;
    graph->has_edges = mem_zalloc(words, sizeof *graph->has_edges);
    graph->having_before = mem_alloc(mem_times(words, sizeof *graph->having_before));
    for (size_t k = 0; k < maker->edges.edge_count; k++) {
        struct loose_edge *one = graph_loose_edge(maker, k);
        if (one->edge.from == MOMENT_NONE || one->to == MOMENT_NONE ||
            replay_moment_ns(graph, one->edge.from) > replay_moment_ns(graph, one->to)) {
            graph->dropped_edges++;
            one->to = MOMENT_NONE;
            continue;
        }
        graph->has_edges[one->to / 64] |= UINT64_C(1) << (one->to % 64);
        graph->edge_count++;
    }
    for (size_t word = 0; word < words; word++) {
        graph->having_before[word] = (uint32_t)having;
        having += bits_count(graph->has_edges[word]);
    }
    /* Counts lie two further on, so that they add up to first edges one further on, and filling moves these to their place. */
    graph->first_edge = mem_zalloc(having + 2, sizeof *graph->first_edge);
    graph->edges = mem_alloc(mem_times(graph->edge_count + 1, sizeof *graph->edges));
    for (size_t k = 0; k < maker->edges.edge_count; k++)
        if (graph_loose_edge(maker, k)->to != MOMENT_NONE)
            graph->first_edge[replay_having_before(graph, graph_loose_edge(maker, k)->to) + 2]++;
    for (size_t i = 0; i < having; i++)
        graph->first_edge[i + 2] += graph->first_edge[i + 1];
    for (size_t part = 0; part < maker->edges.count; part++) {
        for (size_t k = part * EDGES_OF_PART; k < (part + 1) * EDGES_OF_PART && k < maker->edges.edge_count;
             k++) {
            const struct loose_edge *one = graph_loose_edge(maker, k);
            if (one->to != MOMENT_NONE)
                graph->edges[graph->first_edge[replay_having_before(graph, one->to) + 1]++] = one->edge;
        }
        column_free(maker->edges.at[part], EDGE_PART_BYTES);
    }
    VEC_FREE(&maker->edges);
}

/* A moment that waits for those it depends on: of its edges those from NEXT up to END are to be looked at. */
struct pending {
    moment_id m;
    uint32_t next, end;
};

struct ordering {
    struct replay_graph *graph;
    /* A bit for each moment: it is on the stack; it is in order. Of threads: it is the thread's first. */
    uint64_t *pending, *placed, *first;
    VEC_OF(struct pending) stack;
    VEC_OF(struct moment_run) order;
};

/* Let the latest of the edges that M has left bind it, where nothing else does: a start of work, a join. */
static void bind_anew(struct replay_graph *graph, moment_id m)
{
    struct replay_edge *latest = NULL;
    struct edge_range range = replay_edges_of(graph, m);
    for (uint32_t k = range.first; k < range.end; k++) {
        struct replay_edge *edge = &graph->edges[k];
        if (edge->from != m &&
            (!latest || replay_moment_ns(graph, edge->from) > replay_moment_ns(graph, latest->from)))
            latest = edge;
    }
    if (latest)
        latest->binds = true;
}

static void drop_edge(struct replay_graph *graph, uint32_t k, moment_id m)
{
    /* It leads from the moment to itself, which asks nothing of anybody. */
    bool bound = graph->edges[k].binds;
    graph->edges[k].from = m;
    graph->edges[k].binds = false;
    graph->dropped_edges++;
    if (bound && replay_moment_kind(graph, m) != MOMENT_HOST &&
        replay_moment_kind(graph, m) != MOMENT_WORK_END)
        bind_anew(graph, m);
}

static bool has_bit(const uint64_t *bits, moment_id m)
{
    return bits[m / 64] >> (m % 64) & 1;
}

static void flip_bit(uint64_t *bits, moment_id m)
{
    bits[m / 64] ^= UINT64_C(1) << (m % 64);
}

static void push(struct ordering *ordering, moment_id m)
{
    flip_bit(ordering->pending, m);
    struct edge_range edges = replay_edges_of(ordering->graph, m);
    *VEC_PUSH(&ordering->stack) = (struct pending){ m, edges.first, edges.end };
}

/* The moment before M that it depends on without an edge: of its thread, or the start of its work. MOMENT_NONE: there is none. */
static moment_id before(const struct ordering *ordering, moment_id m)
{
    const struct replay_graph *graph = ordering->graph;
    if (m >= graph->host_count)
        return replay_moment_kind(graph, m) == MOMENT_WORK_END ? m - 1 : MOMENT_NONE;
    return has_bit(ordering->first, m) ? MOMENT_NONE : m - 1;
}

/* The moment on top of the stack cannot come before the one below it, which requested that: leave this edge out. */
static void give_up(struct ordering *ordering)
{
    flip_bit(ordering->pending, ordering->stack.at[--ordering->stack.count].m);
    struct pending *asked = &ordering->stack.at[ordering->stack.count - 1];
    drop_edge(ordering->graph, asked->next - 1, asked->m);
}

/* M is next in the order. */
static void append(struct ordering *ordering, moment_id m)
{
    size_t count = ordering->order.count;
    if (count > 0 && ordering->order.at[count - 1].first + ordering->order.at[count - 1].count == m)
        ordering->order.at[count - 1].count++;
    else
        *VEC_PUSH(&ordering->order) = (struct moment_run){ m, 1 };
}

/* Put M in order, and before it what it depends on. */
static void place(struct ordering *ordering, moment_id m)
{
    struct replay_graph *graph = ordering->graph;
    push(ordering, m);
    while (ordering->stack.count) {
        struct pending *top = &ordering->stack.at[ordering->stack.count - 1];
        moment_id own = top->m, previous = before(ordering, own);
        if (previous != MOMENT_NONE && !has_bit(ordering->placed, previous)) {
            if (has_bit(ordering->pending, previous))
                give_up(ordering); /* its own start waits for it */
            else
                push(ordering, previous);
            continue;
        }
        if (top->next == top->end) {
            flip_bit(ordering->pending, own);
            flip_bit(ordering->placed, own);
            append(ordering, own);
            ordering->stack.count--;
            continue;
        }
        uint32_t k = top->next++;
        moment_id from = graph->edges[k].from;
        if (has_bit(ordering->pending, from))
            drop_edge(graph, k, own);
        else if (!has_bit(ordering->placed, from))
            push(ordering, from);
    }
}

static void find_ends(struct replay_graph *graph)
{
    for (size_t m = 0; m < graph->moment_count; m++) {
        if (m == 0 || replay_moment_ns(graph, m) < graph->start_ns)
            graph->start_ns = replay_moment_ns(graph, m);
        if (m == 0 || replay_moment_ns(graph, m) > graph->end_ns)
            graph->end_ns = replay_moment_ns(graph, m);
    }
}

void graph_order(struct graph_maker *maker)
{
    struct replay_graph *graph = maker->graph;
    sort_edges(maker);
    find_ends(graph);
    size_t words = graph->moment_count / 64 + 1;
    struct ordering ordering = { .graph = graph };
    ordering.pending = mem_zalloc(words, sizeof *ordering.pending);
    ordering.placed = mem_zalloc(words, sizeof *ordering.placed);
    ordering.first = mem_zalloc(words, sizeof *ordering.first);
    for (size_t t = 0; t < graph->thread_count; t++)
        ordering.first[graph->threads[t].first / 64] |= UINT64_C(1) << (graph->threads[t].first % 64);
    for (size_t m = 0; m < graph->moment_count; m++)
        if (!has_bit(ordering.placed, (moment_id)m))
            place(&ordering, (moment_id)m);
    graph->order = ordering.order.at;
    graph->order_count = ordering.order.count;
    VEC_FREE(&ordering.stack);
    free(ordering.pending);
    free(ordering.placed);
    free(ordering.first);
}
