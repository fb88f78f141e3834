/*
 * order.c - the moments in an order in which each comes after those it depends on.
 *
 * A moment is put in order after all that it depends on, which are put in order first; with a stack of its own, since a
 * chain of these may be as long as the trace. No sorting is needed. A moment depends on none that was recorded later,
 * so a circle can only lie within one nanosecond; the edge that closes it is left out.
 */
#include "whatif/replay.h"

static bool has_bit(const uint64_t *bits, moment_id m)
{
    return bits[m / 64] >> (m % 64) & 1;
}

static const struct key by_to[] = { ASC(struct loose_edge, to), KEY_END };

static size_t room_after(size_t room)
{
    enum { FIRST = 1024 };
    return room ? room * 2 : FIRST;
}

static void grow(struct replay_edges *edges)
{
    size_t room = room_after(edges->room);
    edges->from = column_resize(edges->from, mem_times(edges->room, sizeof *edges->from),
                                mem_times(room, sizeof *edges->from));
    edges->kind = column_resize(edges->kind, edges->room, room);
    edges->room = room;
}

/* EDGE leads to M, which is none before that of the last edge. */
static void collect_edge(struct replay_graph *graph, moment_id m, struct replay_edge edge)
{
    struct replay_edges *edges = &graph->edges;
    if (edges->count == edges->room)
        grow(edges);
    if (graph->has_edges[m / 64] >> (m % 64) & 1)
        edges->kind[edges->count - 1] &= (uint8_t)~EDGE_IS_LAST;
    graph->has_edges[m / 64] |= UINT64_C(1) << (m % 64);
    edges->from[edges->count] = edge.from;
    edges->kind[edges->count++] = (uint8_t)(edge.relation | (edge.binds ? EDGE_BINDS : 0) |
                                            (edge.binds != edge.keeps ? EDGE_SWAPS : 0) | EDGE_IS_LAST);
    graph->first_edge[m / MOMENTS_OF_FIRST_EDGE + 1] = (uint32_t)edges->count;
}

/* Take the loose edges from *NEXT on that lead to moments before END, but for those that lead back in time. */
static void collect_loose(const struct graph_maker *maker, size_t *next, size_t end)
{
    struct replay_graph *graph = maker->graph;
    for (; *next < maker->loose.count && maker->loose.at[*next].to < end; ++*next) {
        const struct loose_edge *loose = &maker->loose.at[*next];
        if (loose->edge.from == MOMENT_NONE || loose->to == MOMENT_NONE ||
            replay_moment_ns(graph, loose->edge.from) > replay_moment_ns(graph, loose->to))
            graph->dropped_edges++;
        else
            collect_edge(graph, loose->to, loose->edge);
    }
}

/* Give back the memory of the COUNT loose edges that were taken, which are nearly all once those to threads are. */
static void forget_loose(struct graph_maker *maker, size_t count)
{
    struct loose_edge *rest = mem_alloc(mem_times(maker->loose.count - count + 1, sizeof *rest));
    if (count < maker->loose.count)
        memcpy(rest, maker->loose.at + count, (maker->loose.count - count) * sizeof *rest);
    free(maker->loose.at);
    maker->loose.at = rest;
    maker->loose.count -= count;
    maker->loose.capacity = maker->loose.count + 1;
}

/* Bring the edges in order of the moments they lead to. */
static void sort_edges(struct graph_maker *maker)
{
    struct replay_graph *graph = maker->graph;
    size_t blocks = graph->moment_count / MOMENTS_OF_FIRST_EDGE + 1, next = 0;
    graph->has_edges = mem_zalloc(graph->moment_count / 64 + 1, sizeof *graph->has_edges);
    graph->first_edge = mem_zalloc(blocks + 1, sizeof *graph->first_edge);
    SORT(&maker->loose, by_to);
    collect_loose(maker, &next, graph->host_count);
    forget_loose(maker, next);
    next = 0;
    for (size_t i = 0; i < graph->gpu->count; i++) {
        moment_id start = replay_work_start(graph, i);
        collect_loose(maker, &next, start);
        if (maker->only && !has_bit(maker->only, start)) {
            graph_pass_starts(maker, i);
            continue;
        }
        graph_find_starts(maker, i);
        for (size_t k = 0; k < maker->starts.count; k++)
            collect_edge(graph, start, maker->starts.at[k]);
    }
    graph_forget_device(maker);
    collect_loose(maker, &next, MOMENT_NONE);
    graph->dropped_edges += maker->loose.count - next;
    VEC_FREE(&maker->loose);
    for (size_t block = 1; block <= blocks; block++)
        if (graph->first_edge[block] < graph->first_edge[block - 1])
            graph->first_edge[block] = graph->first_edge[block - 1];
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
};

/* Let the latest of the edges that M has left bind it, where nothing else does: a start of work, a join. */
static void bind_anew(struct replay_graph *graph, moment_id m)
{
    struct edge_range range = replay_edges_of(graph, m);
    uint32_t latest = range.end;
    for (uint32_t k = range.first; k < range.end; k++) {
        moment_id from = graph->edges.from[k];
        if (from != m && (latest == range.end ||
                          replay_moment_ns(graph, from) > replay_moment_ns(graph, graph->edges.from[latest])))
            latest = k;
    }
    if (latest != range.end)
        graph->edges.kind[latest] |= EDGE_BINDS;
}

static void drop_edge(struct replay_graph *graph, uint32_t k, moment_id m)
{
    /* It leads from the moment to itself, which asks nothing of anybody. */
    bool bound = replay_edge_at(graph, k).binds;
    graph->edges.from[k] = m;
    graph->edges.kind[k] &= (uint8_t)~EDGE_BINDS;
    struct edge_range range = replay_edges_of(graph, m);
    for (uint32_t i = range.first; i < range.end; i++)
        graph->edges.kind[i] &= (uint8_t)~EDGE_SWAPS;
    graph->dropped_edges++;
    if (bound && replay_moment_kind(graph, m) != MOMENT_HOST &&
        replay_moment_kind(graph, m) != MOMENT_WORK_END)
        bind_anew(graph, m);
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
    struct pending *below = &ordering->stack.at[ordering->stack.count - 1];
    drop_edge(ordering->graph, below->next - 1, below->m);
}

/* M is next in the order. */
static void append(struct ordering *ordering, moment_id m)
{
    struct moment_order *order = &ordering->graph->order;
    size_t last = order->count - 1;
    if (order->count > 0 && order->first[last] + order->length[last] == m &&
        order->length[last] < UINT8_MAX) {
        order->length[last]++;
        return;
    }
    if (order->count == order->room) {
        size_t room = room_after(order->room);
        order->first = column_resize(order->first, mem_times(order->room, sizeof *order->first),
                                     mem_times(room, sizeof *order->first));
        order->length = column_resize(order->length, order->room, room);
        order->room = room;
    }
    order->first[order->count] = m;
    order->length[order->count++] = 1;
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
        moment_id from = graph->edges.from[k];
        if (has_bit(ordering->pending, from))
            drop_edge(graph, k, own);
        else if (!has_bit(ordering->placed, from))
            push(ordering, from);
    }
}

static void extend_to(struct replay_graph *graph, moment_id m)
{
    int64_t ns = replay_recorded_ns(graph, m);
    graph->start_ns = ns < graph->start_ns ? ns : graph->start_ns;
    graph->end_ns = ns > graph->end_ns ? ns : graph->end_ns;
}

/* The moments of a thread ascend. */
static void find_ends(struct replay_graph *graph)
{
    if (graph->moment_count)
        graph->start_ns = graph->end_ns = replay_recorded_ns(graph, 0);
    for (size_t t = 0; t < graph->thread_count; t++) {
        extend_to(graph, graph->threads[t].first);
        extend_to(graph, graph->threads[t].first + graph->threads[t].count - 1);
    }
    size_t of_work = 2 * graph->gpu->count;
    for (size_t i = 0; i < graph->gpu->count; i++) {
        int64_t start_ns = replay_event_start(graph, graph->gpu->event[i]), end_ns;
        if (__builtin_add_overflow(start_ns, trace_dur_ns(graph->trace, graph->gpu->event[i]), &end_ns))
            end_ns = INT64_MAX;
        graph->start_ns = start_ns < graph->start_ns ? start_ns : graph->start_ns;
        graph->end_ns = end_ns > graph->end_ns ? end_ns : graph->end_ns;
    }
    for (moment_id m = (moment_id)(graph->host_count + of_work); m < graph->moment_count; m++)
        extend_to(graph, m);
}

/* Put M in order, if all that it waits for is. Most do. */
static bool place_at_once(struct ordering *ordering, moment_id m)
{
    moment_id previous = before(ordering, m);
    if (previous != MOMENT_NONE && !has_bit(ordering->placed, previous))
        return false;
    if (has_bit(ordering->graph->has_edges, m)) {
        struct edge_range edges = replay_edges_of(ordering->graph, m);
        if (ANY_FROM(k, edges.first, edges.end, !has_bit(ordering->placed, ordering->graph->edges.from[k])))
            return false;
    }
    flip_bit(ordering->placed, m);
    append(ordering, m);
    return true;
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
    for (size_t w = 0; w < words && maker->only; w++)
        ordering.placed[w] = ~maker->only[w];
    for (size_t t = 0; t < graph->thread_count; t++)
        ordering.first[graph->threads[t].first / 64] |= UINT64_C(1) << (graph->threads[t].first % 64);
    for (moment_id m = 0; m < graph->moment_count; m++)
        if (!has_bit(ordering.placed, m) && !place_at_once(&ordering, m))
            place(&ordering, m);
    VEC_FREE(&ordering.stack);
    EACH(free, ordering.pending, ordering.placed, ordering.first);
}
