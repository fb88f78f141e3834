/* last_uses.c - see last_uses.h. One look at all edges, as a replay has. */
#include "whatif/last_uses.h"

#include "base/memory.h"
#include "base/rows.h"
#include "whatif/make_graph.h"
#include "trace/derived.h"
#include <stdlib.h>

static void use(struct last_uses *uses, moment_id m, uint32_t run)
{
    uses->at[m / SHIFTS_OF_BLOCK].run = run;
}

/* Note what the moments of RUN ask for: themselves, the one before them, and where their edges come from. */
static void record_run(struct last_uses *uses, const struct replay_graph *graph, uint32_t run)
{
    moment_id first = graph->order.first[run], end = first + graph->order.length[run];
    struct edge_range range = { 0, 0 };
    use(uses, first ? first - 1 : first, run);
    for (moment_id m = first; m < end; m++) {
        use(uses, m, run);
        if (!(graph->has_edges[m / 64] >> (m % 64) & 1))
            continue;
        range = range.end == 0 ? replay_edges_of(graph, m) : replay_edges_from(graph, range.end);
        for (uint32_t k = range.first; k < range.end; k++)
            use(uses, graph->edges.from[k], run);
    }
}

static const struct key by_uses[] = { ASC(struct last_use, run), ASC(struct last_use, block), KEY_END };

static void *last_uses_derive(const struct trace *trace)
{
    const struct replay_graph *graph = replay_graph_of(trace);
    struct last_uses *uses = mem_zalloc(1, sizeof *uses);
    uses->count = (graph->moment_count + SHIFTS_OF_BLOCK - 1) / SHIFTS_OF_BLOCK;
    uses->at = mem_zalloc(uses->count + 1, sizeof *uses->at);
    for (uint32_t run = 0; run < graph->order.count; run++)
        record_run(uses, graph, run);
    for (uint32_t block = 0; block < uses->count; block++)
        uses->at[block].block = block;
    SORT(uses, by_uses);
    return uses;
}

static void last_uses_release(void *value)
{
    struct last_uses *uses = value;
    free(uses->at);
    free(uses);
}

const struct last_uses *last_uses_of(const struct trace *trace)
{
    static const struct derivation derivation = { last_uses_derive, last_uses_release };
    return trace_derive(trace, &derivation);
}
