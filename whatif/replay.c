#include "whatif/replay.h"

#include "base/search.h"
#include "trace/derived.h"

#include <math.h>

/* ---- the last uses of shifts ---- */

/* After which run of the order nothing asks for a block of shifts any more: the same for every replay of a graph. */

struct last_use {
    uint32_t run;   /* of graph->order */
    uint32_t block; /* of SHIFTS_OF_BLOCK moments */
};

struct last_uses {
    struct last_use *at; /* by run, then block: each block that has moments once */
    size_t count;
};

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
    struct last_uses *uses = arena_open(sizeof *uses);
    ARENA_OWNS(arena_of(uses), &uses->at);
    uses->count = (graph->moment_count + SHIFTS_OF_BLOCK - 1) / SHIFTS_OF_BLOCK;
    uses->at = mem_zalloc(uses->count + 1, sizeof *uses->at);
    for (uint32_t run = 0; run < graph->order.count; run++)
        record_run(uses, graph, run);
    for (uint32_t block = 0; block < uses->count; block++)
        uses->at[block].block = block;
    SORT(uses, by_uses);
    return uses;
}

/* Those of the replay graph of TRACE, computed when first requested. Borrowed; live as long as TRACE. */
static const struct last_uses *last_uses_of(const struct trace *trace)
{
    static const struct derivation derivation = { last_uses_derive };
    return trace_derive(trace, &derivation);
}

/* ---- changes ---- */

struct changes *changes_open(const struct replay_graph *graph)
{
    struct changes *changes = arena_open(sizeof *changes);
    ARENA_OWNS(arena_of(changes), &changes->dropped);
    changes->graph = graph;
    factors_init(&changes->piece, arena_of(changes), graph->host_count);
    factors_init(&changes->work, arena_of(changes), graph->gpu->count);
    return changes;
}

void changes_clear(struct changes *changes)
{
    factors_clear(&changes->piece);
    factors_clear(&changes->work);
    changes->keeps_queued = changes->shortens_launches = false;
    changes->least_pause_ns = 0;
    free(changes->dropped);
    changes->dropped = NULL;
}

void changes_drop_edge(struct changes *changes, size_t edge)
{
    if (!changes->dropped)
        changes->dropped = mem_zalloc(changes->graph->edges.count / 64 + 1, sizeof *changes->dropped);
    changes->dropped[edge / 64] |= UINT64_C(1) << (edge % 64);
}

bool changes_lay_over(struct changes *to, const struct changes *more)
{
    if (!factors_can_lay_over(&to->piece, &more->piece) || !factors_can_lay_over(&to->work, &more->work))
        return false;
    factors_lay_over(&to->piece, &more->piece);
    factors_lay_over(&to->work, &more->work);
    for (size_t edge = 0; more->dropped && edge < to->graph->edges.count; edge++)
        if (changes_dropped(more, edge))
            changes_drop_edge(to, edge);
    to->shortens_launches |= more->shortens_launches;
    if (more->keeps_queued) { /* what launches a graph says how long pauses are */
        to->keeps_queued = true;
        to->least_pause_ns = more->least_pause_ns;
    }
    return true;
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

/* From moment FROM to M as recorded. Of centuries it may not fit, but comes right when it is added to FROM. */
static int64_t lag_from(const struct replay_pass *pass, moment_id from, moment_id m)
{
    return (int64_t)((uint64_t)replay_moment_ns(pass->graph, m) -
                     (uint64_t)replay_moment_ns(pass->graph, from));
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

/* All of this is in shifts: by how much a moment comes later than recorded. What keeps the lag that was recorded comes later by as much
 * as what it depends on, whatever the times are. What it only has to come after delays it by no more than that, and by less the longer
 * before it was: so times are only needed where such a shift is larger than those that are kept. */

/* The shift of M by what it must not come before, from which it keeps KEPT_NS of LAG_NS; INT64_MIN: nothing, as the time between was too
 * long for a number. */
static int64_t shift_after(int64_t shift_ns, int64_t lag_ns, int64_t kept_ns)
{
    int64_t later_ns;
    return lag_ns < 0 || __builtin_sub_overflow(shift_ns, lag_ns - kept_ns, &later_ns) ? INT64_MIN : later_ns;
}

/* The shift of FROM, on which M depends. */
static int64_t shift_from(const struct replay_pass *pass, moment_id from, moment_id m)
{
    return pass->shift_from ? pass->shift_from(pass, from, m) : shifts_get(&pass->replay->shifts, from);
}

/* What the edges of a moment say. */
struct verdict {
    int64_t latest_ns; /* the largest shift that one of them asks for; INT64_MIN: there are none */
    int64_t turn_ns;   /* of threads that take turns, which counts where nothing binds; INT64_MIN: none */
    bool bound;        /* one of them binds */
    uint32_t tail; /* the last edge of those that say how long the call takes to return; UINT32_MAX: none */
};

/* Has EDGE, which leads to M, no say in the replay? */
static bool is_silent(const struct replay_pass *pass, const struct replay_edge *edge, moment_id m)
{
    bool keeps_queued = pass->changes && pass->changes->keeps_queued;
    return edge->from == m || (edge->relation == RELATION_QUEUED && !keeps_queued) ||
           (edge->relation == RELATION_ROOM && keeps_queued);
}

/* Does M keep all of the lag of EDGE, by itself or as its call is not shortened? What a thread does is no part of a collective that only
 * holds it. */
static bool keeps_lag(const struct replay_pass *pass, const struct replay_edge *edge, moment_id m,
                      float factor)
{
    if (edge->relation == RELATION_ROOM)
        return true;
    if (edge->relation == RELATION_COLLECTIVE)
        return factor == 1 || (!edge->binds && m < pass->graph->host_count);
    bool shortens = pass->changes && pass->changes->shortens_launches;
    return edge->relation != RELATION_QUEUED && edge->keeps &&
           !(shortens && edge->relation == RELATION_LAUNCH);
}

/* What M keeps of the LAG_NS of EDGE, of which it does not keep all. */
static int64_t kept_lag(const struct replay_pass *pass, const struct replay_edge *edge, moment_id m,
                        int64_t lag_ns, float factor)
{
    if (edge->relation == RELATION_QUEUED)
        return replay_queued_ns(pass->graph, edge->from, m);
    if (edge->relation == RELATION_COLLECTIVE)
        return scaled(lag_ns, factor);
    if (edge->keeps)
        return replay_launch_lag(pass->graph, pass->changes, edge->from, m);
    if (edge->relation != RELATION_STREAM)
        return 0;
    int64_t least_ns = replay_least_pause(pass->graph, pass->changes, edge->from, m),
            usual_ns = pass->usual_pause_ns < lag_ns ? pass->usual_pause_ns : lag_ns;
    return usual_ns > least_ns ? usual_ns : least_ns;
}

/* What the edges of RANGE say whose lags are kept, and which one tells of the return of a call. */
static struct verdict ask_kept(const struct replay_pass *pass, moment_id m, struct edge_range range,
                               float factor)
{
    struct verdict verdict = { INT64_MIN, INT64_MIN, false, UINT32_MAX };
    for (uint32_t k = range.first; k < range.end; k++) {
        const struct replay_edge edge = replay_edge_at(pass->graph, k);
        if (is_silent(pass, &edge, m) || changes_dropped(pass->changes, k))
            continue;
        bool keeps = keeps_lag(pass, &edge, m, factor);
        verdict.bound |= edge.keeps || edge.relation == RELATION_ROOM;
        if (edge.relation == RELATION_ROOM || (edge.relation == RELATION_SYNC && edge.keeps))
            verdict.tail = k;
        if (!keeps && edge.relation != RELATION_TURN)
            continue;
        int64_t shift_ns = shift_from(pass, edge.from, m),
                *latest_ns = edge.relation == RELATION_TURN ? &verdict.turn_ns : &verdict.latest_ns;
        *latest_ns = shift_ns > *latest_ns ? shift_ns : *latest_ns;
    }
    return verdict;
}

/* The others, in so far as they may ask for a larger shift. */
static void ask_others(const struct replay_pass *pass, moment_id m, struct edge_range range, float factor,
                       struct verdict *verdict)
{
    for (uint32_t k = range.first; k < range.end; k++) {
        const struct replay_edge edge = replay_edge_at(pass->graph, k);
        if (is_silent(pass, &edge, m) || edge.relation == RELATION_TURN ||
            keeps_lag(pass, &edge, m, factor) || changes_dropped(pass->changes, k))
            continue;
        int64_t shift_ns = shift_from(pass, edge.from, m);
        bool may_grow = edge.keeps || edge.relation == RELATION_COLLECTIVE; /* with a factor above 1 */
        if (shift_ns <= verdict->latest_ns && !may_grow)
            continue;
        int64_t lag_ns = lag_from(pass, edge.from, m);
        shift_ns = shift_after(shift_ns, lag_ns, kept_lag(pass, &edge, m, lag_ns, factor));
        verdict->latest_ns = shift_ns > verdict->latest_ns ? shift_ns : verdict->latest_ns;
    }
}

/* How long the call that ends at M takes to return, when its work is done or there is room, as TAIL says; 0 where none waited. */
static int64_t return_ns(const struct replay_pass *pass, moment_id m, uint32_t tail)
{
    if (tail == UINT32_MAX)
        return 0;
    const struct replay_edge edge = replay_edge_at(pass->graph, tail);
    return edge.relation == RELATION_ROOM ? pass->graph->usual_launch_ns : lag_from(pass, edge.from, m);
}

int64_t replay_shift_behind(int64_t before_ns, int64_t own_ns, float factor)
{
    if (factor == 1)
        return before_ns;
    return (int64_t)((uint64_t)before_ns + (uint64_t)scaled(own_ns, factor) - (uint64_t)own_ns);
}

/* The same of M, which follows the moment before. */
static int64_t shift_behind(const struct replay_pass *pass, moment_id m, int64_t before_ns, float factor)
{
    return factor == 1 ? before_ns : replay_shift_behind(before_ns, lag_from(pass, m - 1, m), factor);
}

/* The shift of M, which follows nothing, where its edges ask for LATEST_NS: see replay_graph.join_stays. */
static int64_t shift_of_first(const struct replay_graph *graph, moment_id m, int64_t latest_ns)
{
    if (latest_ns >= 0)
        return latest_ns;
    size_t joins = graph->host_count + 2 * graph->gpu->count;
    return latest_ns == INT64_MIN || (m >= joins && graph->join_stays[m - joins]) ? 0 : latest_ns;
}

int64_t replay_shift_of(const struct replay_pass *pass, moment_id m, const struct replay_before *before,
                        struct edge_range range, float factor)
{
    struct verdict verdict = ask_kept(pass, m, range, factor);
    ask_others(pass, m, range, factor, &verdict);
    if (verdict.turn_ns != INT64_MIN && !verdict.bound) {
        verdict.bound = true;
        verdict.latest_ns = verdict.turn_ns > verdict.latest_ns ? verdict.turn_ns : verdict.latest_ns;
    }
    if (!before)
        return shift_of_first(pass->graph, m, verdict.latest_ns);
    int64_t before_ns = before->shift_ns;
    if (!verdict.bound)
        before_ns = replay_shift_behind(before_ns, before->own_ns, factor);
    else if (before_ns > verdict.latest_ns) { /* the work may have ended in an earlier piece */
        int64_t own_ns = before->own_ns, tail_ns = return_ns(pass, m, verdict.tail);
        before_ns = shift_after(before_ns, own_ns, tail_ns < own_ns ? tail_ns : own_ns);
    }
    return before_ns > verdict.latest_ns ? before_ns : verdict.latest_ns;
}

/* Does M come after the moment before it, of its thread or of its work? */
static bool follows_one(const struct replay_pass *pass, moment_id m)
{
    if (m < pass->graph->host_count)
        return !(pass->first[m / 64] >> (m % 64) & 1);
    return replay_moment_kind(pass->graph, m) == MOMENT_WORK_END;
}

float replay_factor_of(const struct replay_pass *pass, moment_id m)
{
    const struct changes *changes = pass->changes;
    if (!changes)
        return 1;
    if (m < pass->graph->host_count)
        return factors_get(&changes->piece, m);
    return replay_moment_kind(pass->graph, m) == MOMENT_WORK_END
               ? factors_get(&changes->work, replay_work_of(pass->graph, m))
               : 1;
}

/* The moments of a run of the order: numbers that follow one another, so that their edges do, too. */
static void place_run(const struct replay_pass *pass, moment_id first, unsigned length)
{
    const struct replay_graph *graph = pass->graph;
    struct edge_range range = { 0, 0 };
    int64_t shift_ns = 0;
    if (follows_one(pass, first))
        shift_ns = shifts_get(&pass->replay->shifts, first - 1);
    for (moment_id m = first; m < first + length; m++) {
        bool follows = follows_one(pass, m);
        float factor = replay_factor_of(pass, m);
        if (graph->has_edges[m / 64] >> (m % 64) & 1) {
            range = range.end == 0 ? replay_edges_of(graph, m) : replay_edges_from(graph, range.end);
            struct replay_before before = { 0 };
            if (follows)
                before = (struct replay_before){ shifts_get(&pass->replay->shifts, m - 1),
                                                 lag_from(pass, m - 1, m) };
            shift_ns = replay_shift_of(pass, m, follows ? &before : NULL, range, factor);
        } else {
            shift_ns = follows ? shift_behind(pass, m, shift_ns, factor) : 0;
        }
        shifts_set(&pass->replay->shifts, m, shift_ns);
    }
}

static struct replay_pass begin_pass(const struct replay_graph *graph, const struct changes *changes)
{
    struct replay_pass pass = { .graph = graph,
                                .changes = changes,
                                .replay = mem_zalloc(1, sizeof *pass.replay) };
    pass.replay->graph = graph;
    shifts_init(&pass.replay->shifts, graph->moment_count);
    pass.first = mem_zalloc(graph->host_count / 64 + 1, sizeof *pass.first);
    for (size_t t = 0; t < graph->thread_count; t++)
        pass.first[graph->threads[t].first / 64] |= UINT64_C(1) << (graph->threads[t].first % 64);
    return pass;
}

struct replay *replay_open(const struct replay_graph *graph, const struct changes *changes)
{
    struct replay_pass pass = begin_pass(graph, changes);
    for (size_t r = 0; r < graph->order.count; r++)
        place_run(&pass, graph->order.first[r], graph->order.length[r]);
    free(pass.first);
    return pass.replay;
}

struct replay *replay_pass_by(const struct replay_graph *graph, const struct changes *changes,
                              replay_visit *visit, void *context)
{
    const struct last_uses *uses = last_uses_of(graph->trace);
    struct replay_pass pass = begin_pass(graph, changes);
    size_t next = 0;
    for (size_t r = 0; r < graph->order.count; r++) {
        place_run(&pass, graph->order.first[r], graph->order.length[r]);
        for (; next < uses->count && uses->at[next].run == r; next++) {
            if (!visit(context, pass.replay, uses->at[next].block))
                shifts_forget(&pass.replay->shifts, uses->at[next].block);
        }
    }
    free(pass.first);
    return pass.replay;
}

void replay_free(struct replay *replay)
{
    if (replay)
        shifts_release(&replay->shifts);
    free(replay);
}

struct replay_moments replay_moments_at(const struct replay_graph *graph, size_t thread, int64_t ns)
{
    const struct replay_thread *own = &graph->threads[thread];
    moment_id m = replay_moment_from(graph, thread, ns);
    if (m == MOMENT_NONE)
        return (struct replay_moments){ own->first + own->count - 1, MOMENT_NONE };
    bool is_there = replay_moment_ns(graph, m) == ns || m == own->first;
    return (struct replay_moments){ m, is_there ? MOMENT_NONE : m - 1 };
}

int64_t replay_kept_time_of(const struct replay *replay, moment_id m)
{
    if (!replay->kept)
        return replay_time_of(replay, m);
    size_t i;
    SEARCH(i, replay->kept_count, replay->kept[i] < m);
    return (int64_t)((uint64_t)replay_recorded_ns(replay->graph, m) + (uint64_t)replay->kept_ns[i]);
}

int64_t replay_time_at(const struct replay *replay, size_t thread, int64_t ns)
{
    const struct replay_graph *graph = replay->graph;
    struct replay_moments near = replay_moments_at(graph, thread, ns);
    if (near.before == MOMENT_NONE)
        return replay_kept_time_of(replay, near.at) + (ns - replay_moment_ns(graph, near.at));
    int64_t from_ns = replay_kept_time_of(replay, near.before), to_ns = replay_kept_time_of(replay, near.at);
    double share = (double)(ns - replay_moment_ns(graph, near.before)) /
                   (double)(replay_moment_ns(graph, near.at) - replay_moment_ns(graph, near.before));
    return from_ns + llround(share * (double)(to_ns - from_ns));
}
