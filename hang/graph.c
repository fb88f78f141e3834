#include "hang/hang.h"

struct edge {
    uint32_t from, to;
};

/* Edges by their first node: those of node N are to[first[N] .. first[N + 1]). */
struct adjacency {
    size_t *first;
    uint32_t *to;
};

struct hang_graph {
    size_t nodes;           /* ranks, then helpers */
    struct adjacency out;   /* without queue edges */
    struct adjacency queue; /* queue edges */
    struct adjacency in;    /* all, reversed */
    VEC_OF(struct edge) edges, queue_edges;
};

static void find_stopped(struct hang_job *job)
{
    struct flight *flight = job->flight;
    job->stopped = hang_zeroed(job, job->world, sizeof *job->stopped);
    job->stopped_at = hang_zeroed(job, job->world, sizeof *job->stopped_at);
    for (size_t i = 0; i < job->dumps.count; i++) {
        const struct flight_dump *dump = &flight->dumps.at[job->dumps.at[i]];
        if (job->stale[dump->rank] || job->unsure[dump->rank])
            continue;
        int64_t lag = 0;
        for (size_t e = dump->first; e < dump->first + dump->count; e++) {
            const struct flight_entry *entry = &flight->entries.at[e];
            uint32_t group = job->group_of[dump->first_group + entry->group];
            if (entry->p2p || entry->status != FLIGHT_PENDING || !flight_op(flight, e)->needs_all ||
                !hang_others_have_done(job, group, entry->seq, hang_find_op(job, group, entry->seq),
                                       dump->rank))
                continue;
            if (lag++ == 0)
                job->stopped_at[dump->rank] = (uint32_t)e;
        }
        job->stopped[dump->rank] = lag >= 2 ? lag : 0;
    }
}

/* ---- edges ---- */

static void add_edge(struct hang_graph *graph, uint32_t from, uint32_t to)
{
    if (graph->edges.count && graph->edges.at[graph->edges.count - 1].from == from &&
        graph->edges.at[graph->edges.count - 1].to == to)
        return; /* the same group again */
    *VEC_PUSH(&graph->edges) = (struct edge){ from, to };
}

static void add_queue_edge(struct hang_graph *graph, uint32_t from, uint32_t to)
{
    *VEC_PUSH(&graph->queue_edges) = (struct edge){ from, to };
}

/* Helpers for the first members of each group. */
static void add_group_nodes(struct hang_job *job, struct hang_graph *graph)
{
    FOR_EACH(group, &job->groups) {
        group->first_node = (uint32_t)graph->nodes;
        for (size_t i = 0; i < group->order_count; i++) {
            uint32_t node = (uint32_t)graph->nodes++;
            add_edge(graph, node, group->members[group->order[i]].rank);
            if (i > 0)
                add_edge(graph, node, node - 1);
        }
    }
}

/* By rank: the entry of the first operation that waits for someone; -1: one that the ring lost; INT64_MAX: none waits
 * for anyone. */
static int64_t *find_blocked(struct hang_job *job, struct hang_graph *graph)
{
    int64_t *blocked = mem_alloc(mem_times((size_t)job->world + 1, sizeof *blocked));
    for (uint32_t r = 0; r < job->world; r++)
        blocked[r] = INT64_MAX;
    FOR_EACH(wait, &job->waits) {
        if (wait->missing == 0)
            continue;
        const struct hang_group *group = &job->groups.at[wait->group];
        add_edge(graph, wait->rank,
                 wait->seq == HANG_UNKNOWN ? wait->peer : group->first_node + (uint32_t)wait->missing - 1);
        job->waits_for_any[wait->rank] = true;
        int64_t place = wait->entry == HANG_NONE ? -1 : (int64_t)wait->entry;
        if (place < blocked[wait->rank])
            blocked[wait->rank] = place;
    }
    return blocked;
}

/* Does ENTRY of RANK wait in the queue of its device? */
static bool is_queued(const struct hang_job *job, const int64_t *blocked, uint32_t rank, uint32_t entry)
{
    enum flight_status status = hang_entry(job, entry)->status;
    return flight_op(job->flight, entry)->writer == FLIGHT_DEVICE &&
           (status == FLIGHT_PENDING || status == FLIGHT_FAILED) &&
           (job->stopped[rank] || blocked[rank] < (int64_t)entry);
}

static void add_collective_queue(struct hang_job *job, struct hang_graph *graph, const int64_t *blocked,
                                 const struct hang_wait_op *wait_op)
{
    const struct hang_op *op = &job->ops.at[job->waits.at[job->by_op[wait_op->first]].op];
    uint32_t node = (uint32_t)graph->nodes, held = 0, last = HANG_NONE;
    for (size_t i = op->first; i < op->first + op->count; i++) {
        const struct hang_ref *ref = &job->refs[i];
        if (ref->rank == last || !is_queued(job, blocked, ref->rank, ref->entry))
            continue;
        last = ref->rank;
        held++;
        add_queue_edge(graph, node, ref->rank);
    }
    if (held == 0)
        return;
    graph->nodes++;
    for (size_t i = wait_op->first; i < wait_op->first + wait_op->count; i++) {
        uint32_t rank = job->waits.at[job->by_op[i]].rank;
        if (job->stopped[rank])
            continue;
        add_queue_edge(graph, rank, node);
        if (held > 1 || last != rank)
            job->waits_for_any[rank] = true;
    }
}

static void add_queue_edges(struct hang_job *job, struct hang_graph *graph, const int64_t *blocked)
{
    FOR_EACH(wait_op, &job->wait_ops) {
        const struct hang_wait *wait = &job->waits.at[job->by_op[wait_op->first]];
        if (wait_op->missing)
            continue;
        if (wait_op->seq != HANG_UNKNOWN && wait->op != HANG_NONE) {
            add_collective_queue(job, graph, blocked, wait_op);
        } else if (wait->partner != HANG_NONE && !job->stopped[wait->rank] && wait->peer != wait->rank &&
                   is_queued(job, blocked, wait->peer, wait->partner)) {
            add_queue_edge(graph, wait->rank, wait->peer);
            job->waits_for_any[wait->rank] = true;
        }
    }
}

/* Sort COUNT edges by FROM, or with REVERSED by TO. */
static void add_to(struct adjacency *adjacency, const struct edge *edges, size_t count, bool reversed,
                   bool counting)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t from = reversed ? edges[i].to : edges[i].from, to = reversed ? edges[i].from : edges[i].to;
        if (counting)
            adjacency->first[from + 2]++;
        else
            adjacency->to[adjacency->first[from + 1]++] = to;
    }
}

static void build_adjacency(struct adjacency *adjacency, const struct hang_graph *graph, bool plain,
                            bool queue, bool reversed)
{
    size_t count = (plain ? graph->edges.count : 0) + (queue ? graph->queue_edges.count : 0);
    adjacency->first = mem_zalloc(graph->nodes + 3, sizeof *adjacency->first);
    adjacency->to = mem_alloc(mem_times(count + 1, sizeof *adjacency->to));
    for (int counting = 1; counting >= 0; counting--) {
        if (plain)
            add_to(adjacency, graph->edges.at, graph->edges.count, reversed, counting);
        if (queue)
            add_to(adjacency, graph->queue_edges.at, graph->queue_edges.count, reversed, counting);
        for (size_t n = 0; n < graph->nodes && counting; n++)
            adjacency->first[n + 2] += adjacency->first[n + 1];
    }
}

void hang_graph_build(struct hang_job *job)
{
    struct hang_graph *graph = arena_open(sizeof *graph);
    ARENA_OWNS(arena_of(graph), &graph->out.first, &graph->out.to, &graph->queue.first, &graph->queue.to,
               &graph->in.first, &graph->in.to, &graph->edges, &graph->queue_edges);
    job->graph = arena_hold(job->arena, graph);
    graph->nodes = job->world;
    job->waits_for_any = hang_zeroed(job, job->world, sizeof *job->waits_for_any);
    find_stopped(job);
    add_group_nodes(job, graph);
    int64_t *blocked = find_blocked(job, graph);
    add_queue_edges(job, graph, blocked);
    free(blocked);
    build_adjacency(&graph->out, graph, true, false, false);
    build_adjacency(&graph->queue, graph, false, true, false);
    build_adjacency(&graph->in, graph, true, true, true);
    EACH(VEC_FREE, &graph->edges, &graph->queue_edges);
}

/* ---- questions ---- */

/* Mark what reaches the targets; with ONE_STEP, not beyond the first rank on each way. */
static void mark_reaching(const struct hang_job *job, const uint8_t *targets, uint8_t *marks, bool one_step)
{
    const struct hang_graph *graph = job->graph;
    SCOPED uint8_t *seen = mem_zalloc(graph->nodes + 1, 1);
    SCOPED VEC_OF(uint32_t) reached = { 0 };
    for (uint32_t r = 0; r < job->world; r++)
        if (targets[r]) {
            seen[r] = 1;
            *VEC_PUSH(&reached) = r;
        }
    while (reached.count) {
        uint32_t node = reached.at[--reached.count];
        for (size_t i = graph->in.first[node]; i < graph->in.first[node + 1]; i++) {
            uint32_t from = graph->in.to[i];
            if (seen[from])
                continue;
            seen[from] = 1;
            if (from < job->world)
                marks[from] = 1;
            if (from >= job->world || !one_step)
                *VEC_PUSH(&reached) = from;
        }
    }
}

void hang_graph_reach(const struct hang_job *job, const uint8_t *targets, uint8_t *direct, uint8_t *reaching)
{
    if (direct)
        mark_reaching(job, targets, direct, true);
    if (reaching)
        mark_reaching(job, targets, reaching, false);
}

void hang_graph_targets(const struct hang_job *job, uint32_t rank, uint8_t *marks)
{
    const struct hang_graph *graph = job->graph;
    const struct adjacency *both[] = { &graph->out, &graph->queue };
    for (size_t b = 0; b < 2; b++)
        for (size_t i = both[b]->first[rank]; i < both[b]->first[rank + 1]; i++) {
            uint32_t node = both[b]->to[i];
            if (node < job->world && node != rank)
                marks[node] = 1;
            while (node >= job->world) { /* the members of a helper, and its next one */
                uint32_t next = HANG_NONE;
                for (size_t k = both[b]->first[node]; k < both[b]->first[node + 1]; k++) {
                    uint32_t to = both[b]->to[k];
                    if (to >= job->world)
                        next = to;
                    else if (to != rank)
                        marks[to] = 1;
                }
                node = next == HANG_NONE ? 0 : next;
                if (next == HANG_NONE)
                    break;
            }
        }
}

/* ---- cycles: Tarjan's strongly connected components, without recursion ---- */

struct component_search {
    const struct hang_graph *graph;
    uint32_t *number, *low, *component; /* by node; 0: not visited, and not complete */
    size_t *next;                       /* by node: the edge to follow */
    VEC_OF(uint32_t) path, open;
    uint32_t numbers, components;
};

static void visit(struct component_search *search, uint32_t node)
{
    search->number[node] = search->low[node] = ++search->numbers;
    search->next[node] = search->graph->out.first[node];
    *VEC_PUSH(&search->path) = node;
    *VEC_PUSH(&search->open) = node;
}

/* NODE is finished: if it is the root of a component, number the component. */
static void close_node(struct component_search *search, uint32_t node)
{
    search->path.count--;
    if (search->path.count) {
        uint32_t parent = search->path.at[search->path.count - 1];
        if (search->low[node] < search->low[parent])
            search->low[parent] = search->low[node];
    }
    if (search->low[node] != search->number[node])
        return;
    search->components++;
    uint32_t member;
    do {
        member = search->open.at[--search->open.count];
        search->component[member] = search->components;
    } while (member != node);
}

static void find_components(struct component_search *search, uint32_t start)
{
    const struct adjacency *out = &search->graph->out;
    visit(search, start);
    while (search->path.count) {
        uint32_t node = search->path.at[search->path.count - 1];
        if (search->next[node] == out->first[node + 1]) {
            close_node(search, node);
            continue;
        }
        uint32_t to = out->to[search->next[node]++];
        if (search->number[to] == 0)
            visit(search, to);
        else if (search->component[to] == 0 && search->number[to] < search->low[node])
            search->low[node] = search->number[to];
    }
}

void hang_graph_cycles(struct hang_job *job, void (*add)(struct hang_job *job, struct hang_ranks ranks))
{
    const struct hang_graph *graph = job->graph;
    size_t nodes = graph->nodes;
    struct component_search search = { .graph = graph,
                                       .number = mem_zalloc(nodes + 1, sizeof(uint32_t)),
                                       .low = mem_zalloc(nodes + 1, sizeof(uint32_t)),
                                       .component = mem_zalloc(nodes + 1, sizeof(uint32_t)),
                                       .next = mem_zalloc(nodes + 1, sizeof(size_t)) };
    for (uint32_t r = 0; r < job->world; r++)
        if (search.number[r] == 0)
            find_components(&search, r);
    /* Of each component: its ranks, and whether an edge leaves it. */
    SCOPED size_t *ranks = mem_zalloc((size_t)search.components + 2, sizeof *ranks);
    SCOPED bool *leaves = mem_zalloc((size_t)search.components + 1, sizeof *leaves);
    SCOPED uint32_t *members = mem_alloc(mem_times((size_t)job->world + 1, sizeof *members));
    for (size_t n = 0; n < nodes; n++)
        for (size_t i = graph->out.first[n]; i < graph->out.first[n + 1] && search.component[n]; i++)
            if (search.component[graph->out.to[i]] != search.component[n])
                leaves[search.component[n]] = true;
    for (uint32_t r = 0; r < job->world; r++)
        ranks[search.component[r] + 1]++;
    for (uint32_t c = 1; c <= search.components; c++)
        ranks[c + 1] += ranks[c];
    SCOPED size_t *at = mem_alloc(mem_times((size_t)search.components + 2, sizeof *at));
    memcpy(at, ranks, ((size_t)search.components + 2) * sizeof *at);
    for (uint32_t r = 0; r < job->world; r++)
        members[at[search.component[r]]++] = r;
    for (uint32_t r = 0; r < job->world; r++) {
        uint32_t c = search.component[r];
        size_t count = ranks[c + 1] - ranks[c];
        if (count < 2 || leaves[c] || members[ranks[c]] != r)
            continue;
        uint32_t *copy = arena_alloc(job->arena, mem_times(count, sizeof *copy));
        memcpy(copy, members + ranks[c], count * sizeof *copy);
        add(job, (struct hang_ranks){ copy, count });
    }
    EACH(free, search.number, search.low, search.component, search.next);
    EACH(VEC_FREE, &search.path, &search.open);
}
