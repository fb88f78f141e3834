/* replay.c - see replay.h. */
#include "replay/replay.h"

#include "base/memory.h"
#include <math.h>
#include <stdlib.h>

/* ---- changes ---- */

struct changes *changes_open(const struct replay_graph *graph)
{
    struct changes *changes = mem_zalloc(1, sizeof *changes);
    changes->graph = graph;
    changes->piece = mem_alloc((graph->host_count + 1) * sizeof *changes->piece);
    changes->work = mem_alloc((graph->gpu->count + 1) * sizeof *changes->work);
    changes->dropped = mem_alloc((graph->edge_count / 64 + 1) * sizeof *changes->dropped);
    changes_clear(changes);
    return changes;
}

void changes_free(struct changes *changes)
{
    if (!changes)
        return;
    free(changes->piece);
    free(changes->work);
    free(changes->dropped);
    free(changes);
}

void changes_clear(struct changes *changes)
{
    for (size_t m = 0; m < changes->graph->host_count; m++)
        changes->piece[m] = 1;
    for (size_t i = 0; i < changes->graph->gpu->count; i++)
        changes->work[i] = 1;
    for (size_t word = 0; word <= changes->graph->edge_count / 64; word++)
        changes->dropped[word] = 0;
}

void changes_drop_edge(struct changes *changes, size_t edge)
{
    changes->dropped[edge / 64] |= UINT64_C(1) << (edge % 64);
}

bool changes_dropped(const struct changes *changes, size_t edge)
{
    return changes && changes->dropped[edge / 64] >> (edge % 64) & 1;
}

void changes_scale_range(struct changes *changes, size_t thread, int64_t start_ns, int64_t end_ns,
                         double factor)
{
    const struct replay_graph *graph = changes->graph;
    const struct replay_thread *own = &graph->threads[thread];
    moment_id m = replay_moment_from(graph, thread, start_ns), end = own->first + own->count;
    if (m == MOMENT_NONE || start_ns >= end_ns)
        return;
    for (m = m == own->first ? m + 1 : m; m < end && graph->time_ns[m - 1] < end_ns; m++) {
        int64_t from_ns = graph->time_ns[m - 1], to_ns = graph->time_ns[m];
        int64_t covered_ns = (to_ns < end_ns ? to_ns : end_ns) - (from_ns > start_ns ? from_ns : start_ns);
        if (covered_ns <= 0)
            continue;
        double share = (double)covered_ns / (double)(to_ns - from_ns);
        changes->piece[m] = (float)(changes->piece[m] * (1 - share + share * factor));
    }
}

/* ---- the pass ---- */

/*
 * Count from the first moment, with as many bits of a nanosecond as leave room for sixteen times the recording. One of centuries
 * leaves none, and is counted from 0.
 */
static void choose_units(struct replay *replay)
{
    enum { MOST_BITS = 10 };
    uint64_t span_ns = (uint64_t)replay->graph->end_ns - (uint64_t)replay->graph->start_ns;
    if (span_ns >= UINT64_C(1) << 58)
        return;
    replay->origin_ns = replay->graph->start_ns;
    while (replay->fraction < MOST_BITS && span_ns << (replay->fraction + 1) < UINT64_C(1) << 59)
        replay->fraction++;
}

struct pass {
    const struct replay_graph *graph;
    const struct changes *changes;
    struct replay *replay;
    uint64_t *first; /* a bit for each moment of a thread: the thread's first */
};

static int64_t recorded(const struct pass *pass, moment_id m)
{
    return (pass->graph->time_ns[m] - pass->replay->origin_ns) * (INT64_C(1) << pass->replay->fraction);
}

/* From moment FROM to M as recorded. Of centuries it may not fit, but comes right when it is added to FROM. */
static int64_t lag_from(const struct pass *pass, moment_id from, moment_id m)
{
    return (int64_t)((uint64_t)recorded(pass, m) - (uint64_t)recorded(pass, from));
}

static int64_t later_by(int64_t at, int64_t lag)
{
    return (int64_t)((uint64_t)at + (uint64_t)lag);
}

/* LAG, in units of the replay, FACTOR of it. */
static int64_t scaled(int64_t lag, float factor)
{
    return factor == 1 ? lag : llround((double)lag * (double)factor);
}

/* The latest of the edges of M; *BOUND: one of them binds. INT64_MIN: there are none. */
static int64_t latest_of_edges(const struct pass *pass, moment_id m, float factor, bool *bound)
{
    const struct replay_graph *graph = pass->graph;
    int64_t latest = INT64_MIN;
    *bound = false;
    for (uint32_t k = graph->first_edge[m]; k < graph->first_edge[m + 1]; k++) {
        const struct replay_edge *edge = &graph->edges[k];
        if (edge->from == m || changes_dropped(pass->changes, k))
            continue;
        int64_t at = pass->replay->at[edge->from];
        if (edge->relation == RELATION_COLLECTIVE)
            at = later_by(at, scaled(lag_from(pass, edge->from, m), factor));
        else if (edge->binds)
            at = later_by(at, lag_from(pass, edge->from, m));
        *bound |= edge->binds;
        latest = at > latest ? at : latest;
    }
    return latest;
}

static int64_t time_of_moment(const struct pass *pass, moment_id m)
{
    const struct replay_graph *graph = pass->graph;
    const struct changes *changes = pass->changes;
    enum moment_kind kind = replay_moment_kind(graph, m);
    bool follows = kind == MOMENT_WORK_END || (kind == MOMENT_HOST && !(pass->first[m / 64] >> (m % 64) & 1));
    float factor = 1;
    if (changes && kind == MOMENT_HOST)
        factor = changes->piece[m];
    else if (changes && kind == MOMENT_WORK_END)
        factor = changes->work[replay_work_of(graph, m)];
    bool bound;
    int64_t latest = latest_of_edges(pass, m, factor, &bound);
    if (follows) {
        int64_t lag = bound ? 0 : scaled(lag_from(pass, m - 1, m), factor);
        int64_t at = later_by(pass->replay->at[m - 1], lag);
        return at > latest ? at : latest;
    }
    return latest == INT64_MIN ? recorded(pass, m) : latest;
}

struct replay *replay_open(const struct replay_graph *graph, const struct changes *changes)
{
    struct replay *replay = mem_zalloc(1, sizeof *replay);
    replay->graph = graph;
    choose_units(replay);
    replay->at = mem_alloc((graph->moment_count + 1) * sizeof *replay->at);
    struct pass pass = { .graph = graph, .changes = changes, .replay = replay };
    pass.first = mem_zalloc(graph->host_count / 64 + 1, sizeof *pass.first);
    for (size_t t = 0; t < graph->thread_count; t++)
        pass.first[graph->threads[t].first / 64] |= UINT64_C(1) << (graph->threads[t].first % 64);
    for (size_t i = 0; i < graph->moment_count; i++)
        replay->at[graph->order[i]] = time_of_moment(&pass, graph->order[i]);
    free(pass.first);
    return replay;
}

void replay_free(struct replay *replay)
{
    if (replay)
        free(replay->at);
    free(replay);
}

int64_t replay_time_of(const struct replay *replay, moment_id m)
{
    int64_t whole_ns = replay->at[m] >> replay->fraction; /* rounds down */
    return replay->origin_ns + whole_ns;
}

int64_t replay_time_at(const struct replay *replay, size_t thread, int64_t ns)
{
    const struct replay_graph *graph = replay->graph;
    const struct replay_thread *own = &graph->threads[thread];
    moment_id m = replay_moment_from(graph, thread, ns);
    if (m == MOMENT_NONE) {
        moment_id last = own->first + own->count - 1;
        return replay_time_of(replay, last) + (ns - graph->time_ns[last]);
    }
    if (graph->time_ns[m] == ns || m == own->first)
        return replay_time_of(replay, m) - (graph->time_ns[m] - ns);
    int64_t from_ns = replay_time_of(replay, m - 1), to_ns = replay_time_of(replay, m);
    double share = (double)(ns - graph->time_ns[m - 1]) / (double)(graph->time_ns[m] - graph->time_ns[m - 1]);
    return from_ns + llround(share * (double)(to_ns - from_ns));
}
