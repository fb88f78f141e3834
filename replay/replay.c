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
    factors_init(&changes->piece, graph->host_count);
    factors_init(&changes->work, graph->gpu->count);
    changes->dropped = mem_zalloc(graph->edges.count / 64 + 1, sizeof *changes->dropped);
    return changes;
}

void changes_free(struct changes *changes)
{
    if (!changes)
        return;
    factors_release(&changes->piece);
    factors_release(&changes->work);
    free(changes->dropped);
    free(changes);
}

void changes_clear(struct changes *changes)
{
    factors_clear(&changes->piece);
    factors_clear(&changes->work);
    changes->keeps_queued = changes->shortens_launches = false;
    changes->least_pause_ns = 0;
    for (size_t word = 0; word <= changes->graph->edges.count / 64; word++)
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
    for (m = m == own->first ? m + 1 : m; m < end && replay_moment_ns(graph, m - 1) < end_ns; m++) {
        int64_t from_ns = replay_moment_ns(graph, m - 1), to_ns = replay_moment_ns(graph, m);
        int64_t covered_ns = (to_ns < end_ns ? to_ns : end_ns) - (from_ns > start_ns ? from_ns : start_ns);
        if (covered_ns <= 0)
            continue;
        double share = (double)covered_ns / (double)(to_ns - from_ns);
        factors_scale(&changes->piece, m, 1 - share + share * factor);
    }
}

/* ---- the pass ---- */

struct pass {
    const struct replay_graph *graph;
    const struct changes *changes;
    struct replay *replay;
    uint64_t *first; /* a bit for each moment of a thread: the thread's first */
};

/* From moment FROM to M as recorded. Of centuries it may not fit, but comes right when it is added to FROM. */
static int64_t lag_from(const struct pass *pass, moment_id from, moment_id m)
{
    return (int64_t)((uint64_t)replay_moment_ns(pass->graph, m) -
                     (uint64_t)replay_moment_ns(pass->graph, from));
}

static int64_t later_by(int64_t at_ns, int64_t lag_ns)
{
    return (int64_t)((uint64_t)at_ns + (uint64_t)lag_ns);
}

/* FACTOR of LAG, rounded down. */
static int64_t scaled(int64_t lag_ns, float factor)
{
    return factor == 1 ? lag_ns : (int64_t)((double)lag_ns * (double)factor);
}

int64_t replay_launch_lag(const struct replay_graph *graph, const struct changes *changes, moment_id from,
                          moment_id m)
{
    int64_t lag_ns =
        (int64_t)((uint64_t)replay_moment_ns(graph, m) - (uint64_t)replay_moment_ns(graph, from));
    event_id call = graph->gpu->call[replay_work_of(graph, m)];
    for (moment_id piece = from + 1;
         changes && changes->shortens_launches && piece < graph->host_count && graph->inner[piece] == call &&
         replay_moment_ns(graph, piece - 1) < replay_moment_ns(graph, m);
         piece++) {
        int64_t until_ns = replay_moment_ns(graph, piece) < replay_moment_ns(graph, m)
                               ? replay_moment_ns(graph, piece)
                               : replay_moment_ns(graph, m);
        int64_t own_ns = until_ns - replay_moment_ns(graph, piece - 1);
        lag_ns -= own_ns - scaled(own_ns, factors_get(&changes->piece, piece));
    }
    return lag_ns;
}

int64_t replay_least_pause(const struct replay_graph *graph, const struct changes *changes, moment_id from,
                           moment_id m)
{
    int64_t recorded_ns =
        (int64_t)((uint64_t)replay_moment_ns(graph, m) - (uint64_t)replay_moment_ns(graph, from));
    int64_t least_ns = changes ? changes->least_pause_ns : 0;
    return least_ns < recorded_ns ? least_ns : recorded_ns;
}

/* What the edges of a moment say. */
struct verdict {
    int64_t latest_ns; /* INT64_MIN: there are none */
    bool bound;        /* one of them binds */
    int64_t
        tail_ns; /* how long a call took to return when its work was done, or there was room; 0 where none waited */
};

static struct verdict ask_edges(const struct pass *pass, moment_id m, float factor)
{
    const struct replay_graph *graph = pass->graph;
    struct verdict verdict = { .latest_ns = INT64_MIN };
    int64_t turn_ns = INT64_MIN;
    struct edge_range range = replay_edges_of(graph, m);
    for (uint32_t k = range.first; k < range.end; k++) {
        const struct replay_edge of = replay_edge_at(graph, k), *edge = &of;
        if (edge->from == m || changes_dropped(pass->changes, k))
            continue;
        int64_t at_ns = replay_time_of(pass->replay, edge->from), lag_ns = lag_from(pass, edge->from, m);
        if (edge->relation == RELATION_TURN) {
            at_ns = later_by(at_ns, lag_ns);
            turn_ns = at_ns > turn_ns ? at_ns : turn_ns;
            continue;
        }
        if (edge->relation == RELATION_ROOM) {
            if (pass->changes && pass->changes->keeps_queued)
                continue;
            verdict.bound = true;
            verdict.tail_ns = graph->usual_launch_ns;
            at_ns = later_by(at_ns, lag_ns);
        } else if (edge->relation == RELATION_QUEUED) {
            if (!pass->changes || !pass->changes->keeps_queued)
                continue;
            at_ns = later_by(at_ns, replay_queued_ns(graph, edge->from, m));
        } else if (edge->relation == RELATION_COLLECTIVE)
            at_ns = later_by(at_ns, scaled(lag_ns, factor));
        else if (edge->binds && edge->relation == RELATION_LAUNCH)
            at_ns = later_by(at_ns, replay_launch_lag(graph, pass->changes, edge->from, m));
        else if (edge->binds)
            at_ns = later_by(at_ns, lag_ns);
        else if (edge->relation == RELATION_STREAM)
            at_ns = later_by(at_ns, replay_least_pause(graph, pass->changes, edge->from, m));
        if (edge->binds && edge->relation == RELATION_SYNC)
            verdict.tail_ns = lag_ns;
        verdict.bound |= edge->binds;
        verdict.latest_ns = at_ns > verdict.latest_ns ? at_ns : verdict.latest_ns;
    }
    if (turn_ns != INT64_MIN && !verdict.bound) {
        verdict.bound = true;
        verdict.latest_ns = turn_ns > verdict.latest_ns ? turn_ns : verdict.latest_ns;
    }
    return verdict;
}

/* Has EDGE, which leads to M, no say in the replay? */
static bool is_silent(const struct pass *pass, const struct replay_edge *edge, moment_id m)
{
    bool keeps_queued = pass->changes && pass->changes->keeps_queued;
    return edge->from == m || (edge->relation == RELATION_QUEUED && !keeps_queued) ||
           (edge->relation == RELATION_ROOM && keeps_queued);
}

/* By how much those come later that a moment depends on; INT64_MIN: there are none. */
struct shifts_before {
    int64_t kept_ns; /* the latest of those from which it keeps all that was recorded */
    int64_t rest_ns; /* the latest of those that it only has to come after, or that it keeps a part from */
    bool bound, turns;
};

static void look_at_edge(struct shifts_before *before, const struct replay_edge *edge, int64_t shift_ns)
{
    bool binds = edge->binds || edge->relation == RELATION_ROOM;
    int64_t *latest_ns = binds || edge->relation == RELATION_COLLECTIVE ? &before->kept_ns : &before->rest_ns;
    *latest_ns = shift_ns > *latest_ns ? shift_ns : *latest_ns;
    before->bound |= binds;
    before->turns |= edge->relation == RELATION_TURN;
}

/*
 * Does M, of which nothing is changed and which FOLLOWS the moment before or not, move along with what bound it, by *SHIFT_NS? As
 * it came when it was recorded without changes, it does unless something else comes even later now. That is so for most moments,
 * and asked faster than times.
 */
static bool moves_along(const struct pass *pass, moment_id m, bool follows, int64_t *shift_ns)
{
    const struct replay_graph *graph = pass->graph;
    struct shifts_before before = { .kept_ns = INT64_MIN, .rest_ns = INT64_MIN };
    struct edge_range range = replay_edges_of(graph, m);
    for (uint32_t k = range.first; k < range.end; k++) {
        const struct replay_edge edge = replay_edge_at(graph, k);
        if (is_silent(pass, &edge, m))
            continue;
        if (changes_dropped(pass->changes, k) ||
            (edge.relation == RELATION_LAUNCH && pass->changes && pass->changes->shortens_launches))
            return false;
        look_at_edge(&before, &edge, shifts_get(&pass->replay->shifts, edge.from));
    }
    if (follows) {
        const struct replay_edge own = { .from = m - 1, .binds = !before.bound };
        look_at_edge(&before, &own, shifts_get(&pass->replay->shifts, m - 1));
    }
    bool free = before.kept_ns == INT64_MIN && before.rest_ns == INT64_MIN;
    *shift_ns = free ? 0 : before.kept_ns;
    return !before.turns && (free || before.kept_ns >= before.rest_ns) &&
           (free || before.kept_ns != INT64_MIN);
}

static int64_t time_of_moment(const struct pass *pass, moment_id m, bool follows, float factor)
{
    const struct replay_graph *graph = pass->graph;
    struct verdict verdict = ask_edges(pass, m, factor);
    if (follows) {
        int64_t own_ns = lag_from(pass, m - 1, m);
        int64_t tail_ns =
            verdict.tail_ns < own_ns ? verdict.tail_ns : own_ns; /* the work ended in an earlier piece */
        int64_t lag_ns = verdict.bound ? tail_ns : scaled(own_ns, factor);
        int64_t at_ns = later_by(replay_time_of(pass->replay, m - 1), lag_ns);
        return at_ns > verdict.latest_ns ? at_ns : verdict.latest_ns;
    }
    return verdict.latest_ns == INT64_MIN ? replay_moment_ns(graph, m) : verdict.latest_ns;
}

static void place(const struct pass *pass, moment_id m)
{
    const struct replay_graph *graph = pass->graph;
    const struct changes *changes = pass->changes;
    enum moment_kind kind = replay_moment_kind(graph, m);
    bool follows = kind == MOMENT_WORK_END || (kind == MOMENT_HOST && !(pass->first[m / 64] >> (m % 64) & 1));
    float factor = 1;
    if (changes && kind == MOMENT_HOST)
        factor = factors_get(&changes->piece, m);
    else if (changes && kind == MOMENT_WORK_END)
        factor = factors_get(&changes->work, replay_work_of(graph, m));
    int64_t shift_ns;
    if (factor != 1 || !moves_along(pass, m, follows, &shift_ns))
        shift_ns = (int64_t)((uint64_t)time_of_moment(pass, m, follows, factor) -
                             (uint64_t)replay_recorded_ns(graph, m));
    shifts_set(&pass->replay->shifts, m, shift_ns);
}

struct replay *replay_open(const struct replay_graph *graph, const struct changes *changes)
{
    struct replay *replay = mem_zalloc(1, sizeof *replay);
    replay->graph = graph;
    shifts_init(&replay->shifts, graph->moment_count);
    struct pass pass = { .graph = graph, .changes = changes, .replay = replay };
    pass.first = mem_zalloc(graph->host_count / 64 + 1, sizeof *pass.first);
    for (size_t t = 0; t < graph->thread_count; t++)
        pass.first[graph->threads[t].first / 64] |= UINT64_C(1) << (graph->threads[t].first % 64);
    for (size_t r = 0; r < graph->order.count; r++)
        for (moment_id m = graph->order.first[r]; m < graph->order.first[r] + graph->order.length[r]; m++)
            place(&pass, m);
    free(pass.first);
    return replay;
}

void replay_free(struct replay *replay)
{
    if (replay)
        shifts_release(&replay->shifts);
    free(replay);
}

int64_t replay_time_at(const struct replay *replay, size_t thread, int64_t ns)
{
    const struct replay_graph *graph = replay->graph;
    const struct replay_thread *own = &graph->threads[thread];
    moment_id m = replay_moment_from(graph, thread, ns);
    if (m == MOMENT_NONE) {
        moment_id last = own->first + own->count - 1;
        return replay_time_of(replay, last) + (ns - replay_moment_ns(graph, last));
    }
    if (replay_moment_ns(graph, m) == ns || m == own->first)
        return replay_time_of(replay, m) - (replay_moment_ns(graph, m) - ns);
    int64_t from_ns = replay_time_of(replay, m - 1), to_ns = replay_time_of(replay, m);
    double share = (double)(ns - replay_moment_ns(graph, m - 1)) /
                   (double)(replay_moment_ns(graph, m) - replay_moment_ns(graph, m - 1));
    return from_ns + llround(share * (double)(to_ns - from_ns));
}
