/* The order of gangs is found once: a replay is a pass over them. */
#include "job/job.h"

#include <float.h>

/* Turn EDGES into lists by operation. */
static void list_before(struct job_graph *graph, const struct graph_edges *edges)
{
    size_t count = graph->all->count;
    graph->before_first = mem_zalloc(count + 2, sizeof *graph->before_first);
    graph->before = mem_alloc(mem_times(edges->count + 1, sizeof *graph->before));
    uint32_t *end = graph->before_first + 1; /* of each list, while it is filled */
    for (size_t i = 0; i < edges->count; i++)
        if (edges->at[i].op + 1 < count)
            end[edges->at[i].op + 1]++;
    for (size_t i = 1; i < count; i++)
        end[i] += end[i - 1];
    for (size_t i = 0; i < edges->count; i++)
        graph->before[end[edges->at[i].op]++] = edges->at[i].before;
}

/* ---- order ---- */

/* A gang on the way, and how far its waits were followed. */
struct visit {
    uint32_t gang, member, edge;
};

struct ordering {
    const struct job_graph *graph;
    const uint32_t *gang_of;
    const struct gang *gangs;
    bool *seen;
    VEC_OF(struct visit) path;
    VEC_OF(struct gang) done;
};

static void enter(struct ordering *ordering, uint32_t gang)
{
    ordering->seen[gang] = true;
    uint32_t op = ordering->graph->member[ordering->gangs[gang].first];
    *VEC_PUSH(&ordering->path) = (struct visit){ gang, 0, ordering->graph->before_first[op] };
}

/* The next gang that the last of the path waits for and that was not seen; OPERATION_NONE: none is left. */
static uint32_t next_gang(struct ordering *ordering)
{
    const struct job_graph *graph = ordering->graph;
    struct visit *visit = &ordering->path.at[ordering->path.count - 1];
    const struct gang *gang = &ordering->gangs[visit->gang];
    while (visit->member < gang->count) {
        uint32_t op = graph->member[gang->first + visit->member];
        while (visit->edge < graph->before_first[op + 1]) {
            uint32_t before = ordering->gang_of[graph->before[visit->edge++]];
            if (!ordering->seen[before])
                return before;
        }
        if (++visit->member < gang->count)
            visit->edge = graph->before_first[graph->member[gang->first + visit->member]];
    }
    return OPERATION_NONE;
}

/* Put each gang behind those that it waits for. Of a circle, which only damaged recordings have, the first stays first. */
static void order_gangs(struct job_graph *graph, const uint32_t *gang_of)
{
    struct ordering ordering = { .graph = graph, .gang_of = gang_of, .gangs = graph->gangs.at };
    ordering.seen = mem_zalloc(graph->gangs.count + 1, sizeof *ordering.seen);
    for (size_t i = 0; i < graph->all->count; i++) {
        if (!ordering.seen[gang_of[i]])
            enter(&ordering, gang_of[i]);
        while (ordering.path.count) {
            uint32_t gang = next_gang(&ordering);
            if (gang != OPERATION_NONE)
                enter(&ordering, gang);
            else
                *VEC_PUSH(&ordering.done) = graph->gangs.at[ordering.path.at[--ordering.path.count].gang];
        }
    }
    for (size_t i = 0; i < ordering.done.count; i++)
        graph->gangs.at[i] = ordering.done.at[i];
    EACH(VEC_FREE, &ordering.path, &ordering.done);
    free(ordering.seen);
}

static void list_members(struct job_graph *graph, const uint32_t *gang_of, uint32_t count)
{
    for (uint32_t g = 0; g < count; g++)
        *VEC_PUSH(&graph->gangs) = (struct gang){ 0, 0 };
    for (size_t i = 0; i < graph->all->count; i++)
        graph->gangs.at[gang_of[i]].count++;
    for (uint32_t g = 1; g < count; g++)
        graph->gangs.at[g].first = graph->gangs.at[g - 1].first + graph->gangs.at[g - 1].count;
    SCOPED uint32_t *filled = mem_zalloc((size_t)count + 1, sizeof *filled);
    graph->member = arena_alloc(arena_of(graph), mem_times(graph->all->count + 1, sizeof *graph->member));
    for (uint32_t i = 0; i < graph->all->count; i++)
        graph->member[graph->gangs.at[gang_of[i]].first + filled[gang_of[i]]++] = i;
}

/* ---- lengths without waiting ---- */

/* New, by operation: the computation before it on its rank; OPERATION_NONE. */
static uint32_t *find_previous(const struct operations *all)
{
    uint32_t *previous = mem_alloc(mem_times(all->count + 1, sizeof *previous)), last = OPERATION_NONE;
    for (uint32_t i = 0; i < all->count; i++) {
        if (i == 0 || all->at[i - 1].rank != all->at[i].rank || all->at[i - 1].step != all->at[i].step)
            last = OPERATION_NONE;
        previous[i] = last;
        if (operation_computes(&all->at[i]))
            last = i;
    }
    return previous;
}

/* Communication takes place from when all are there. */
static void shorten_gang(struct job_graph *graph, const struct gang *gang, const uint32_t *previous)
{
    const struct operations *all = graph->all;
    bool on_hosts = all->form == JOB_OF_HOSTS;
    int64_t start_ns = INT64_MIN;
    double received_ns = DBL_MAX;
    for (uint32_t m = gang->first; m < gang->first + gang->count; m++)
        if (all->at[graph->member[m]].start_ns > start_ns)
            start_ns = all->at[graph->member[m]].start_ns;
    for (uint32_t m = gang->first; m < gang->first + gang->count; m++) {
        uint32_t i = graph->member[m];
        const struct operation *op = &all->at[i];
        int64_t from_ns = start_ns;
        if (on_hosts && operation_is_recv(op) && op->serves != OPERATION_NONE &&
            previous[op->serves] != OPERATION_NONE && all->at[previous[op->serves]].end_ns > from_ns)
            from_ns = all->at[previous[op->serves]].end_ns; /* it ends when somebody waits for it */
        graph->real_ns[i] = op->end_ns > from_ns ? (double)(op->end_ns - from_ns) : 0;
        if (operation_is_recv(op) && graph->real_ns[i] < received_ns)
            received_ns = graph->real_ns[i];
    }
    for (uint32_t m = gang->first; m < gang->first + gang->count && on_hosts; m++) {
        uint32_t i = graph->member[m];
        if (operation_is_message(&all->at[i]) && !operation_is_recv(&all->at[i]) &&
            graph->real_ns[i] > received_ns)
            graph->real_ns[i] = received_ns;
    }
}

static void find_lengths(struct job_graph *graph)
{
    const struct operations *all = graph->all;
    SCOPED uint32_t *previous = find_previous(all);
    graph->real_ns = arena_alloc(arena_of(graph), mem_times(all->count + 1, sizeof *graph->real_ns));
    for (size_t i = 0; i < all->count; i++)
        graph->real_ns[i] = (double)(all->at[i].end_ns - all->at[i].start_ns);
    for (size_t g = 0; g < graph->gangs.count && all->form != JOB_TIMELINE; g++) {
        const struct operation *first = &all->at[graph->member[graph->gangs.at[g].first]];
        if (operation_is_message(first) || first->meets)
            shorten_gang(graph, &graph->gangs.at[g], previous);
    }
}

struct job_graph *graph_open(const struct operations *all)
{
    struct job_graph *graph = arena_open(sizeof *graph);
    ARENA_OWNS(arena_of(graph), &graph->gangs, &graph->before_first, &graph->before);
    SCOPED struct graph_edges edges = { 0 };
    SCOPED uint32_t *gang_of = mem_alloc(mem_times(all->count + 1, sizeof *gang_of));
    graph->all = all;
    graph->producer = arena_alloc(arena_of(graph), mem_times(all->count + 1, sizeof *graph->producer));
    links_find(all, &edges, graph->producer);
    list_before(graph, &edges);
    list_members(graph, gang_of, gangs_find(all, gang_of));
    order_gangs(graph, gang_of);
    find_lengths(graph);
    return graph;
}

void graph_replay(const struct job_graph *graph, const double *length_ns, double *step_ns,
                  struct replayed *times)
{
    const struct operations *all = graph->all;
    struct replayed *own = times ? times : mem_alloc(mem_times(all->count + 1, sizeof *own));
    for (size_t i = 0; i < all->count; i++)
        own[i].end_ns = 0;
    for (size_t s = 0; s < all->steps.count; s++)
        step_ns[s] = 0;
    for (size_t g = 0; g < graph->gangs.count; g++) {
        const uint32_t *member = graph->member + graph->gangs.at[g].first;
        uint32_t count = graph->gangs.at[g].count;
        double start_ns = 0;
        for (uint32_t m = 0; m < count; m++)
            for (uint32_t b = graph->before_first[member[m]]; b < graph->before_first[member[m] + 1]; b++)
                if (own[graph->before[b]].end_ns > start_ns)
                    start_ns = own[graph->before[b]].end_ns;
        for (uint32_t m = 0; m < count; m++) {
            own[member[m]] = (struct replayed){ start_ns, start_ns + length_ns[member[m]] };
            double *last_ns = &step_ns[all->at[member[m]].step];
            *last_ns = own[member[m]].end_ns > *last_ns ? own[member[m]].end_ns : *last_ns;
        }
    }
    if (!times)
        free(own);
}
