/* replay.h - the graph of a recording, and its replay with changes. */
#ifndef TPA_WHATIF_REPLAY_H
#define TPA_WHATIF_REPLAY_H

#include "derive/collective_matches.h"

/*
 * moment_times.c - a time for each moment, in half the memory that 64 bits each take.
 *
 *     struct moment_times times = { 0 };
 *     moment_times_resize(&times, count);
 *     moment_times_set(&times, m, ns);
 *     ... moment_times_get(&times, m) ...
 *     moment_times_release(&times);
 *
 * Moments lie in blocks of 64. A block has a base, the time that was set first in it, and each of its moments 32 bits from
 * there. Times further away, 2 s, have 64 bits in a list of their block.
 */

typedef uint32_t moment_id;
#define MOMENT_NONE UINT32_MAX

enum { MOMENTS_OF_BLOCK = 64 };
#define MOMENT_IS_FAR INT32_MIN

/* The times of a block that are too far from its base; NULL: there are none. */
struct far_times {
    int64_t *at_ns; /* MOMENTS_OF_BLOCK of them */
};

struct moment_times {
    int32_t *from_base_ns; /* by moment; MOMENT_IS_FAR: see far */
    int64_t *base_ns;      /* by block; INT64_MIN: nothing was set there */
    struct far_times *far; /* by block; NULL: no block has any */
    size_t count;          /* of moments */
};

/* Let TIMES be of COUNT moments. Times that were set stay; of the others nothing is known. Only moments that were not set may go. */
void moment_times_resize(struct moment_times *times, size_t count);

/* M comes at NS. */
void moment_times_set(struct moment_times *times, moment_id m, int64_t ns);

/* Free all; TIMES is empty then. */
void moment_times_release(struct moment_times *times);

/* The time that was set of M. */
static inline int64_t moment_times_get(const struct moment_times *times, moment_id m)
{
    int32_t from_base_ns = times->from_base_ns[m];
    return from_base_ns == MOMENT_IS_FAR ? times->far[m / MOMENTS_OF_BLOCK].at_ns[m % MOMENTS_OF_BLOCK]
                                         : times->base_ns[m / MOMENTS_OF_BLOCK] + from_base_ns;
}

/*
 * shifts.c - by how much each moment of a replay comes later than recorded.
 *
 *     struct shifts shifts;
 *     shifts_init(&shifts, count);
 *     shifts_set(&shifts, m, ns);         // each moment once
 *     ... shifts_get(&shifts, m) ...
 *     shifts_release(&shifts);
 *
 * A change moves what comes after it, mostly all by the same time. So a block of 64 moments keeps that of the first that was set, and a
 * number for each of them only where one differs: of 16 bits, of 24 where one is 32 us and more apart, of 32 from 8 ms on, and of
 * 64 from 2 s on. As a graph launches all of a step at once, blocks of 16 and 24 bits take 190 bytes on average, and 272 where
 * each number has 32.
 */

enum { SHIFTS_OF_BLOCK = 64 };

/* Values of base_ns that stand for something else. */
#define SHIFTS_UNSET INT64_MAX
#define SHIFTS_ARE_WIDE INT64_MIN

/* By how much the shifts of a block differ from its base. */
struct shifts_apart {
    uint16_t bytes; /* of a number: 2, 3, 4 or 8 */
    union {
        struct {
            uint16_t low[SHIFTS_OF_BLOCK]; /* of 2 bytes the number, else its lower ones */
            int8_t high[SHIFTS_OF_BLOCK];  /* of 3; not there of 2 */
        };
        int32_t four[SHIFTS_OF_BLOCK];
        int64_t whole[SHIFTS_OF_BLOCK]; /* of 8: from 0, not from the base */
    };
};

struct shifts_block {
    int64_t base_ns;            /* SHIFTS_ARE_WIDE: of 8 bytes each */
    struct shifts_apart *apart; /* NULL: all are the base */
};

struct shifts {
    struct shifts_block *blocks;
    size_t block_count;
    const uint32_t *place; /* by block of moments: where it is in BLOCKS; NULL: there */
};

/* For COUNT moments, of which none is set. Release with shifts_release. */
void shifts_init(struct shifts *shifts, size_t count);
void shifts_release(struct shifts *shifts);

/* The same where few moments are ever set: COUNT of their blocks have a place of their own in PLACE, from 0; all others have the place
 * COUNT. PLACE is borrowed. */
void shifts_init_few(struct shifts *shifts, const uint32_t *place, size_t count);

/* That of moment M. */
static inline struct shifts_block *shifts_block_of(const struct shifts *shifts, moment_id m)
{
    size_t block = m / SHIFTS_OF_BLOCK;
    return &shifts->blocks[shifts->place ? shifts->place[block] : block];
}

/* Slow path of shifts_set: the shift is not that of the block. */
void shifts_set_apart(struct shifts_block *block, size_t i, int64_t ns);

/* Moment M shifts by NS; SHIFTS_UNSET: as if it was not set. */
static inline void shifts_set(struct shifts *shifts, moment_id m, int64_t ns)
{
    struct shifts_block *block = shifts_block_of(shifts, m);
    if (block->base_ns != ns || block->apart || ns == SHIFTS_UNSET)
        shifts_set_apart(block, m % SHIFTS_OF_BLOCK, ns);
}

/* Give back what BLOCK, all of whose shifts were read, takes; it is as if none had been set. */
void shifts_forget(struct shifts *shifts, size_t block);

/* Was the shift of M set, and not forgotten? */
static inline bool shifts_are_known(const struct shifts *shifts, moment_id m)
{
    const struct shifts_block *block = shifts_block_of(shifts, m);
    return block->base_ns != SHIFTS_UNSET || block->apart;
}

/* Are the shifts of all that were set in the block of M the same? False where that is not known. */
static inline bool shifts_are_alike(const struct shifts *shifts, moment_id m)
{
    return !shifts_block_of(shifts, m)->apart;
}

/* The shift at I of BLOCK, which has numbers. */
static inline int64_t shifts_apart_get(const struct shifts_block *block, size_t i)
{
    const struct shifts_apart *apart = block->apart;
    if (apart->bytes == 3)
        return block->base_ns + (int64_t)apart->high[i] * 65536 + apart->low[i];
    if (apart->bytes == 2)
        return block->base_ns + (int16_t)apart->low[i];
    return apart->bytes == 4 ? block->base_ns + apart->four[i] : apart->whole[i];
}

/* The shift of M, which was set. */
static inline int64_t shifts_get(const struct shifts *shifts, moment_id m)
{
    const struct shifts_block *block = shifts_block_of(shifts, m);
    return block->apart ? shifts_apart_get(block, m % SHIFTS_OF_BLOCK) : block->base_ns;
}

/*
 * factors.c - a factor for each of many, of which most are 1.
 *
 *     struct factors factors;
 *     factors_init(&factors, arena, count);
 *     factors_scale(&factors, i, 0.5);
 *     ... factors_get(&factors, i) ...
 *
 * Only blocks with another factor take memory. An edit mostly knows a few factors, such as 1 and 0: then a byte for each of the
 * block says which of a table it is, and nothing more is kept of a block that was filled in order with a single factor. Only where there are more than the table holds each takes a float.
 */

enum {
    FACTORS_OF_BLOCK = 64,
    FACTORS_OF_TABLE = 256,
    FACTORS_BIT = 1u << 31,    /* of a block: its factors are floats */
    ONE_FACTOR_BIT = 1u << 30, /* all are the one at its place in the table */
};

struct factor_places {
    uint8_t at[FACTORS_OF_BLOCK]; /* in the table */
};
struct factor_values {
    float at[FACTORS_OF_BLOCK];
};

struct factors {
    uint32_t *
        block; /* 0: all are 1; else 1 and its place in PLACES, or with FACTORS_BIT in VALUES; or ONE_FACTOR_BIT */
    size_t block_count;
    VEC_OF(struct factor_places) places;
    VEC_OF(struct factor_values) values;
    float table[FACTORS_OF_TABLE]; /* the first is 1 */
    unsigned table_count;
    uint16_t slots[2 * FACTORS_OF_TABLE]; /* 1 and the place in TABLE of a factor, by its hash; 0: free */
};

/* COUNT of them, all 1. Their memory is of ARENA, and FACTORS must stay where it is as long. */
void factors_init(struct factors *factors, struct arena *arena, size_t count);

/* Let all be 1 again. */
void factors_clear(struct factors *factors);

/* Let that of I be FACTOR. */
void factors_set(struct factors *factors, size_t i, float factor);

/* Are the factors of all in the block of I 1? */
static inline bool factors_are_one(const struct factors *factors, size_t i)
{
    return factors->block[i / FACTORS_OF_BLOCK] == 0;
}

/* The factor of I. */
static inline float factors_get(const struct factors *factors, size_t i)
{
    uint32_t block = factors->block[i / FACTORS_OF_BLOCK];
    if (block == 0)
        return 1;
    if (block & FACTORS_BIT)
        return factors->values.at[(block ^ FACTORS_BIT) - 1].at[i % FACTORS_OF_BLOCK];
    if (block & ONE_FACTOR_BIT)
        return factors->table[block ^ ONE_FACTOR_BIT];
    return factors->table[factors->places.at[block - 1].at[i % FACTORS_OF_BLOCK]];
}

/* Multiply that of I by FACTOR. */
static inline void factors_scale(struct factors *factors, size_t i, double factor)
{
    factors_set(factors, i, (float)((double)factors_get(factors, i) * factor));
}

/* Can all of TO be multiplied by those of MORE, of as many, and give what scaling one after the other does? Where both are other than 1
 * the roundings of several scalings may differ, unless one is 0. */
bool factors_can_lay_over(const struct factors *to, const struct factors *more);

/* Do so, which must be possible. */
void factors_lay_over(struct factors *to, const struct factors *more);

/*
 * graph.c - what waited for what: the moments of a trace and the relations between them.
 *
 *     const struct replay_graph *graph = replay_graph_of(trace);
 *     for (size_t r = 0; r < graph->order.count; r++)
 *         for (moment_id m = graph->order.first[r]; m < graph->order.first[r] + graph->order.length[r]; m++) {
 *             struct edge_range edges = replay_edges_of(graph, m);   // what m depends on came before
 *             for (uint32_t k = edges.first; k < edges.end; k++)
 *                 ... replay_edge_at(graph, k).from ...
 *         }
 *
 * Moments are
 *
 * - of a host thread: every time at which one of its spans begins or ends, each time once, ascending. Spans are
 *   operators and calls of the runtime or driver, on program threads only: those with an operator, or with a call that
 *   launched work. In a file that has neither, every host event with a duration is a span. The ends of steps, and the moments at
 *   which another thread took over, are moments too;
 * - of device work: its start and its end;
 * - of a collective that was found on several ranks: when the last of them began.
 *
 * The time between a moment of a thread and the one before is a piece; it belongs to the innermost span that is open,
 * which is the one that began last, or to none: then it is a gap.
 *
 * A moment depends on the one before it (of its thread; the end of work on its start) and on what its edges say. One of
 * these binds: it was the last to be ready. The definitions are those of docs/definitions.md. What binds keeps the lag
 * that was recorded; the others only say that the moment cannot come before them. So replay.h gets every moment back
 * where it was recorded when nothing is changed.
 *
 * Times are nanoseconds on one clock: of several files, the times of each are moved by shift_ns.
 */

enum relation {
    RELATION_LAUNCH,   /* from the begin of the call that launched the work */
    RELATION_STREAM,   /* from the end of the work before it on its stream */
    RELATION_EVENT,    /* from the end of work on another stream that its stream had to wait for */
    RELATION_SYNC,     /* from the end of the work that a call waited for, to a moment of the call's thread */
    RELATION_HANDOVER, /* from the last moment at which a linked thread was busy, to the end of a gap */
    RELATION_TURN, /* the same between threads that nothing links, but that take turns, or of which one awaits the other: a guess that the replay alone makes */
    RELATION_QUEUED, /* from the end of the work before it on its device, while which idled for long after the call had returned: no reason is recorded. Holds where changes->keeps_queued says */
    RELATION_ROOM, /* from the end of work, to the end of a launching call that had to wait for a place in the queue: a guess that the replay alone makes, and which does not hold where changes->keeps_queued says that a graph is launched */
    RELATION_COLLECTIVE, /* from the moment the last rank arrived, to the end of the collective on each rank, or of the gap in which a thread waited for it */
    RELATION_ARRIVAL,    /* from the start of a collective on a rank, to the moment the last rank arrived */
    RELATIONS
};

struct replay_edge {
    moment_id from;   /* MOMENT_NONE: there is no edge */
    uint8_t relation; /* enum relation */
    bool binds;       /* it was ready last */
    bool keeps;       /* a replay keeps its lag: what binds; of a late launch the launch (see device.c) */
};

/* The same in fewer bytes, in arrays side by side: replay_edge_at. */
struct replay_edges {
    moment_id *from;
    uint8_t *kind; /* enum relation, and the bits below */
    size_t count, room;
};
enum {
    EDGE_BINDS = 0x80,
    EDGE_IS_LAST = 0x40, /* of those that lead to its moment */
    EDGE_SWAPS = 0x20,   /* what binds does not keep its lag, or what keeps it does not bind */
    EDGE_RELATION = 0x1f
};

/* For the edges of a moment those before it in a block of so many are gone through. */
enum { MOMENTS_OF_FIRST_EDGE = 16 };

/* Moments in runs that follow one another in the order as they do in number. */
struct moment_order {
    moment_id *first;
    uint8_t *length;
    size_t count, room; /* of runs */
};

/* Edges from FIRST up to END. */
struct edge_range {
    uint32_t first, end;
};

struct replay;
struct changes;

struct replay_thread {
    track_id track;
    uint32_t process; /* attribution_process */
    moment_id first;
    uint32_t count; /* of moments; at least one */
};

struct replay_graph {
    const struct trace *trace; /* borrowed, as is the next */
    const struct gpu_events *gpu;
    struct replay_thread *threads; /* by track */
    size_t thread_count;
    uint32_t *thread_of_track; /* index into threads; UINT32_MAX: no program thread */

    /* Moments: those of threads, one thread after the other; two for each operation, in the order of gpu->event; the joins. */
    size_t host_count, moment_count;
    struct moment_times times; /* of threads, then of joins: replay_recorded_ns; events tell those of work */
    const struct shifts *shifts; /* of a view: from these times to replay_moment_ns; else NULL */
    event_id
        *inner; /* by moment of a thread: the span that the piece before it belongs to; EVENT_NONE: a gap */
    struct replay_edges edges; /* by the moment they lead to: replay_edges_of */
    uint64_t *has_edges;       /* a bit for each moment: few have any */
    uint32_t *first_edge;      /* by block of MOMENTS_OF_FIRST_EDGE moments */
    struct moment_order order; /* all moments, each after those it depends on */

    const struct replay
        *view_of; /* the graph is a view (view.c) of this replay with these changes, else NULL */
    const struct changes *view_with;
    bool *
        view_lacks; /* set if a time was requested that the replay of a view forgot: results with it are wrong */

    /* Collectives over ranks; NULL: there are not several files, or nothing matches. */
    struct collectives *collectives;
    struct collective_matches *matches;
    moment_id
        *join_last; /* by join: the last to arrive: the start of an operation, or a moment of a thread */
    event_id *join_event; /* by join: the collective, of the last to arrive */
    bool *
        join_stays; /* by join: all wait on for ranks that were not recorded, so that coming earlier gains nothing: it does not */
    size_t join_count;

    int64_t *shift_ns;        /* by file */
    uint32_t *group;          /* by file: files with the same number have matched collectives */
    int64_t start_ns, end_ns; /* of all moments; both 0 when there are none */

    int64_t
        usual_launch_ns; /* what a launching call takes that does not wait for room; 0: queues were never full */

    bool too_large; /* the trace has more events than moments can be counted for: the graph is empty */

    /* Relations that the recording contradicts: what waited came before what it waited for. */
    size_t early_work;     /* operations that began before the call that launched them */
    size_t dropped_edges;  /* edges left out because they would close a circle within one nanosecond */
    size_t unlinked_work;  /* operations whose call is not in the file */
    size_t unknown_starts; /* of these, operations before which nothing ran on their stream */
};

/* What the graph looks at of arguments. Sizes of collectives are not needed. */
#define REPLAY_WANTS                                                                                         \
    (GPU_EVENTS_WANTS | WANT(SEQUENCE) | WANT(FWD_THREAD) | WANT(STREAM) | WANT(WAIT_ON_STREAM) |            \
     WANT(WAIT_ON_CORRELATION) | WANT(GROUP_SIZE) | WANT(GROUP_NAME) | WANT(GROUP_DESCRIPTION) |             \
     WANT(GROUP_RANKS) | WANT(SEQ_IN_GROUP) | WANT(IN_ELEMENTS) | WANT(OUT_ELEMENTS) | WANT(DTYPE) |         \
     WANT(WAITED_RANK) | WANT(WAITED_NS))

/* trace_wants.work_bytes: half of what path and whatif take where a third of the events are kernels. */
enum { REPLAY_WORK_BYTES = 20 };

/* NS of FILE on the clock of the graph. */
static inline int64_t replay_time(const struct replay_graph *graph, uint32_t file, int64_t ns)
{
    return ns + graph->shift_ns[file];
}

/* When event E of FILE begins and ends on the clock of the graph; an end that no number can hold is the last there is. */
static inline int64_t replay_event_start(const struct replay_graph *graph, event_id e)
{
    return replay_time(graph, graph->trace->tracks[graph->trace->track[e]].file,
                       trace_start_ns(graph->trace, e));
}
static inline int64_t replay_event_end(const struct replay_graph *graph, event_id e)
{
    int64_t end_ns;
    return __builtin_add_overflow(replay_event_start(graph, e), trace_dur_ns(graph->trace, e), &end_ns)
               ? INT64_MAX
               : end_ns;
}

/* When M comes, no moment of a thread: a start or an end of work as its event tells, or a join. */
static inline int64_t replay_device_ns(const struct replay_graph *graph, moment_id m)
{
    size_t i = m - graph->host_count, of_work = 2 * graph->gpu->count;
    if (i >= of_work)
        return moment_times_get(&graph->times, (moment_id)(m - of_work));
    event_id work = graph->gpu->event[i / 2];
    return i % 2 ? replay_event_end(graph, work) : replay_event_start(graph, work);
}

/* When moment M comes, and came as recorded: the same, but in a view (view.c) of a replay. On the clock of the graph. */
static inline int64_t replay_recorded_ns(const struct replay_graph *graph, moment_id m)
{
    return m < graph->host_count ? moment_times_get(&graph->times, m) : replay_device_ns(graph, m);
}
static inline int64_t replay_moment_ns(const struct replay_graph *graph, moment_id m)
{
    int64_t ns = replay_recorded_ns(graph, m);
    if (!graph->shifts)
        return ns;
    if (!shifts_are_known(graph->shifts, m))
        *graph->view_lacks = true;
    return (int64_t)((uint64_t)ns + (uint64_t)shifts_get(graph->shifts, m));
}

/* The moments of work I (an index into gpu->event). */
static inline moment_id replay_work_start(const struct replay_graph *graph, size_t i)
{
    return (moment_id)(graph->host_count + 2 * i);
}
static inline moment_id replay_work_end(const struct replay_graph *graph, size_t i)
{
    return (moment_id)(graph->host_count + 2 * i + 1);
}

enum moment_kind { MOMENT_HOST, MOMENT_WORK_START, MOMENT_WORK_END, MOMENT_JOIN };

/* What M is a moment of. */
static inline enum moment_kind replay_moment_kind(const struct replay_graph *graph, moment_id m)
{
    if (m < graph->host_count)
        return MOMENT_HOST;
    size_t i = m - graph->host_count;
    if (i >= 2 * graph->gpu->count)
        return MOMENT_JOIN;
    return i % 2 ? MOMENT_WORK_END : MOMENT_WORK_START;
}

/* The work that M, no moment of a thread and no join, is of. */
static inline size_t replay_work_of(const struct replay_graph *graph, moment_id m)
{
    return (m - graph->host_count) / 2;
}

/* Edge K. */
static inline struct replay_edge replay_edge_at(const struct replay_graph *graph, size_t k)
{
    uint8_t kind = graph->edges.kind[k];
    bool binds = (kind & EDGE_BINDS) != 0, swaps = (kind & EDGE_SWAPS) != 0;
    return (struct replay_edge){ graph->edges.from[k], kind & EDGE_RELATION, binds, binds != swaps };
}

/* The edges of one moment, the first of which is K. */
static inline struct edge_range replay_edges_from(const struct replay_graph *graph, uint32_t k)
{
    struct edge_range range = { k, k };
    while (!(graph->edges.kind[range.end++] & EDGE_IS_LAST))
        ;
    return range;
}

/* The edges that lead to M, for replay_edge_at. */
static inline struct edge_range replay_edges_of(const struct replay_graph *graph, moment_id m)
{
    if (!(graph->has_edges[m / 64] >> (m % 64) & 1))
        return (struct edge_range){ 0, 0 };
    uint64_t before = graph->has_edges[m / 64] & ((UINT64_C(1) << (m % 64)) - 1);
    struct edge_range range = { .end = graph->first_edge[m / MOMENTS_OF_FIRST_EDGE] };
    for (before >>= m % 64 / MOMENTS_OF_FIRST_EDGE * MOMENTS_OF_FIRST_EDGE; before; before &= before - 1)
        while (!(graph->edges.kind[range.end++] & EDGE_IS_LAST))
            ;
    return replay_edges_from(graph, range.end);
}

/* Is E nested in OUTER, another event or EVENT_NONE? */
static inline bool replay_lies_in(const struct replay_graph *graph, event_id e, event_id outer)
{
    const struct trace *trace = graph->trace;
    return outer != EVENT_NONE && e != outer && trace->track[e] == trace->track[outer] &&
           trace_start_ns(trace, e) >= trace_start_ns(trace, outer) &&
           trace_end_ns(trace, e) <= trace_end_ns(trace, outer);
}

/* The thread that M, a moment of one, is of. A binary search. */
size_t replay_thread_of(const struct replay_graph *graph, moment_id m);

/* The first moment of THREAD recorded at NS or later; MOMENT_NONE when there is none. */
moment_id replay_moment_from(const struct replay_graph *graph, size_t thread, int64_t ns);

/* The same, found from *NEAR on, any number at first: fast if successive moments of THREAD lie near each other. */
moment_id replay_moment_near(const struct replay_graph *graph, size_t thread, int64_t ns, size_t *near);

/* The edge of M that binds, in a view by which it comes then; from MOMENT_NONE: none, so that the moment before binds, if there is
 * one. */
struct replay_edge replay_binding(const struct replay_graph *graph, moment_id m);

/* The collective that JOIN, a moment at which the last rank arrived, is of: on that rank. */
static inline event_id replay_collective_of(const struct replay_graph *graph, moment_id join)
{
    return graph->join_event[join - graph->host_count - 2 * graph->gpu->count];
}

/* How long the work that begins at M was queued for no known reason, as its device idled: in ns, of an edge of RELATION_QUEUED. */
int64_t replay_queued_ns(const struct replay_graph *graph, moment_id from, moment_id m);

/*
 * what the files that make the graph share: each adds moments or relations to it.
 *
 * In this order: clocks (shift_ns), threads (moments of the host), device (those of work, stream waits and awaited work, full
 * queues), collectives (joins), and last order, which asks the device for the launches and streams of each piece of work.
 */

/* An edge before all are sorted by the moment they lead to. */
struct loose_edge {
    moment_id to;
    struct replay_edge edge;
};

/* A thread had nothing to do until WAIT, an event in which XLA waited for devices, was over. */
struct ready_wait {
    uint32_t thread; /* of the graph */
    event_id wait;
    int64_t
        until_ns; /* a moment of the thread: the end of WAIT, or if the host did nothing from there on, of the thread's gap */
    bool is_host_time; /* the former: what follows takes the host's time */
};

struct graph_maker {
    struct replay_graph *graph;
    const struct attribution *launches;
    VEC_OF(struct ready_wait) ready;
    VEC_OF(struct loose_edge) loose;   /* except those to the start of work, which are most */
    VEC_OF(struct replay_edge) starts; /* those to the start of one piece of work */
    struct graph_device *device;       /* what tells these */
    unsigned char *call_sorts;         /* by name: enum call_sort */
    const uint64_t *
        only; /* a bit for each moment: those that are put in order, and get edges to the start of work; NULL: all */
};

/* TO does not come before FROM, for the reason RELATION; BINDS as in struct replay_edge. Not for starts of work. */
static inline void graph_add_edge(struct graph_maker *maker, moment_id from, moment_id to,
                                  enum relation relation, bool binds)
{
    *VEC_PUSH(&maker->loose) = (struct loose_edge){ to, { from, (uint8_t)relation, binds, binds } };
}

/* Find the moments of host threads, their pieces, where linked threads hand over, and which waited for devices without a call. */
void graph_add_threads(struct graph_maker *maker);

/* Add the moments of device work; find what streams waited for, and which calls waited for work. */
void graph_add_device(struct graph_maker *maker);

/* Put the edges to the start of work I, none of which leads back in time, into maker->starts: to be called for one after the other.
 * graph_forget_device then frees what they were found with. */
void graph_find_starts(struct graph_maker *maker, size_t i);
/* The same where they are not needed: work I is only looked at. */
void graph_pass_starts(struct graph_maker *maker, size_t i);
void graph_forget_device(struct graph_maker *maker);

/* Find which launching calls waited for a place in a full queue. After the device. */
void graph_add_full_queues(struct graph_maker *maker);

/* Match collectives over files: graph->matches, shift_ns and group. Before threads. */
void graph_match_ranks(struct graph_maker *maker);

/* Add the joins and their edges. After the device. */
void graph_add_joins(struct graph_maker *maker);

/* Bring the edges in order of where they lead to, and the moments in theirs; leave out the edges that close circles. */
void graph_order(struct graph_maker *maker);

/* make_graph.c - the graph of a trace. */

/* That of TRACE, computed when first requested. Borrowed; lives as long as TRACE. */
const struct replay_graph *replay_graph_of(const struct trace *trace);

/* The same for the caller alone: free with arena_free (NULL is allowed). */
struct replay_graph *replay_graph_open(const struct trace *trace);

/* The same, whose order and edges to the start of work are only of the moments that ONLY says, a new bit for each, NULL: all. It is
 * called when the moments are known. All else is there, and moments have the same numbers. */
typedef uint64_t *replay_graph_choose(void *context, const struct replay_graph *graph);
struct replay_graph *replay_graph_open_for(const struct trace *trace, replay_graph_choose *only,
                                           void *context);

/* That of TRACE, if it was computed before; else NULL. */
const struct replay_graph *replay_graph_known(const struct trace *trace);

/*
 * replay.c - when everything would have happened, had some of it taken another time.
 *
 *     struct changes *changes = changes_open(graph);
 *     factors_scale(&changes->work, i, 0.5);             // this kernel twice as fast
 *     struct replay *replay = replay_open(graph, changes);
 *     int64_t end_ns = replay_time_of(replay, replay_work_end(graph, i));
 *     replay_free(replay);
 *     arena_free(changes);
 *
 * One pass over the moments in order: each comes as early as what it depends on allows. What bound it in the recording keeps the
 * lag that was recorded; everything else it depends on only has to come before. So without changes every moment is where it was
 * recorded, to the nanosecond. What depends on nothing, such as the first moment of a thread, stays where it was. A call that
 * waited for work keeps its recorded delay after the work, or after its own begin. Changed times are rounded down to
 * nanoseconds.
 */

/* What takes how much of its recorded time: 1 is as recorded, 0 is gone. Changes multiply. */
struct changes {
    const struct replay_graph *graph; /* borrowed */
    struct factors piece; /* by moment of a thread: the piece of the host that leads to it; gaps too */
    struct factors work;  /* by work */
    uint64_t *dropped;    /* a bit for each edge: the moment does not depend on it any more; NULL: none */
    bool
        shortens_launches; /* work begins as much sooner after the begin of its launch as that call is shorter */
    bool
        keeps_queued; /* work that was queued for no known reason while its device idled waits as long again */
    int64_t
        least_pause_ns; /* of a stream between operations that did not follow one another at once; at most the recorded one */
};

/* New, nothing changed; free with arena_free (NULL is allowed). */
struct changes *changes_open(const struct replay_graph *graph);

/* Undo all changes. */
void changes_clear(struct changes *changes);

/* Let its moment not depend on EDGE any more; was that done? CHANGES may be NULL in the latter: nothing was. */
void changes_drop_edge(struct changes *changes, size_t edge);
static inline bool changes_dropped(const struct changes *changes, size_t edge)
{
    return changes && changes->dropped && changes->dropped[edge / 64] >> (edge % 64) & 1;
}

/* Make MORE, the changes of one edit of the same graph, beside those of TO, as if the edit had been applied to TO. False, and TO is
 * as it was, where that is not known to give the same to the last bit: then the edit has to be applied. */
bool changes_lay_over(struct changes *to, const struct changes *more);

/* Let thread THREAD take FACTOR of its time within [START, END), on the clock of the graph: every piece, in so far as it lies there. */
void changes_scale_range(struct changes *changes, size_t thread, int64_t start_ns, int64_t end_ns,
                         double factor);

/* How long after moment FROM, at which the call began that launched it, the work that begins at M does so: as recorded, or less
 * with changes->shortens_launches. CHANGES may be NULL. */
int64_t replay_launch_lag(const struct replay_graph *graph, const struct changes *changes, moment_id from,
                          moment_id m);

/* What work that begins at M leaves free after that of its stream which ended at FROM, and did not bind it. CHANGES may be NULL. */
int64_t replay_least_pause(const struct replay_graph *graph, const struct changes *changes, moment_id from,
                           moment_id m);

/* When every moment comes. */
struct replay {
    const struct replay_graph *graph; /* borrowed */
    struct shifts shifts; /* of each moment, from when it was recorded; forgotten where KEPT is set */
    const moment_id *
        kept; /* ascending, borrowed: the only moments that replay_kept_time_of and replay_time_at may ask about; NULL: all */
    const int64_t *kept_ns; /* their shifts; borrowed */
    size_t kept_count;
};

/* New; free with replay_free (NULL is allowed). CHANGES may be NULL: none. Linear time. */
struct replay *replay_open(const struct replay_graph *graph, const struct changes *changes);
void replay_free(struct replay *replay);

/* The same, of which few moments matter: VISIT sees each block of SHIFTS_OF_BLOCK moments once all of these have come and nothing else
 * asks for them, and says whether to keep it; else it is forgotten. Thus the replay takes the memory of what is under way, not of the
 * whole recording. */
typedef bool replay_visit(void *context, const struct replay *replay, size_t block);
struct replay *replay_pass_by(const struct replay_graph *graph, const struct changes *changes,
                              replay_visit *visit, void *context);

/* When moment M comes, on the clock of the graph. */
static inline int64_t replay_time_of(const struct replay *replay, moment_id m)
{
    return (int64_t)((uint64_t)replay_recorded_ns(replay->graph, m) +
                     (uint64_t)shifts_get(&replay->shifts, m));
}

/* The moments that replay_time_at asks for: AT, and the one before where BEFORE is not MOMENT_NONE. */
struct replay_moments {
    moment_id at, before;
};
struct replay_moments replay_moments_at(const struct replay_graph *graph, size_t thread, int64_t ns);

/* When M comes, one of those that REPLAY kept; on the clock of its graph. */
int64_t replay_kept_time_of(const struct replay *replay, moment_id m);

/* When thread THREAD would be where it was at NS: between two moments in proportion; before the first and behind the last as far
 * from these as recorded. */
int64_t replay_time_at(const struct replay *replay, size_t thread, int64_t ns);

/* ---- the pass, moment by moment, for rounds.c ---- */

struct replay_pass {
    const struct replay_graph *graph;
    const struct changes *changes; /* NULL: none */
    struct replay *replay;         /* the shifts so far */
    int64_t
        usual_pause_ns; /* of a stream between operations that did not follow one another at once; at most the recorded one */
    uint64_t *first; /* a bit for each moment of a thread: the thread's first */
    /* The shift of FROM, on which M depends, INT64_MIN: it does not matter; NULL: that of the replay. */
    int64_t (*shift_from)(const struct replay_pass *pass, moment_id from, moment_id m);
};

/* What a moment follows: the moment before it, by how much that is shifted, and how long after it the moment was recorded. */
struct replay_before {
    int64_t shift_ns, own_ns;
};

/* The factor of the piece that leads to M, or of the work that ends at M; 1 for others. */
float replay_factor_of(const struct replay_pass *pass, moment_id m);

/* The shift of M, with edges RANGE, which follows BEFORE; NULL: nothing. */
int64_t replay_shift_of(const struct replay_pass *pass, moment_id m, const struct replay_before *before,
                        struct edge_range range, float factor);

/* The shift of a moment that depends on nothing but the one OWN_NS before it, shifted by BEFORE_NS. */
int64_t replay_shift_behind(int64_t before_ns, int64_t own_ns, float factor);

/*
 * view.c - a replay seen as a graph of its own: what would be critical then.
 *
 *     struct replay_graph *view = view_open(replay, changes, NULL);
 *     struct path *path = path_open_at(view, &window, m);      // the window on the clock of the replay
 *     arena_free(path);
 *     free(view);
 *
 * The moments are those of the recording; they come when the replay has them, and of each that relation binds by which it comes so
 * late: the one that bound in the recording if it does, else the moment before, else the first of the edges.
 */

/* New; free with free(). Borrows REPLAY, its graph, CHANGES, which may be NULL, and LACKS, which is
 * set to true if a time is requested that REPLAY forgot; NULL for one that forgot nothing. */
struct replay_graph *view_open(const struct replay *replay, const struct changes *changes, bool *lacks);

/* The edge by which M comes so late in VIEW; from MOMENT_NONE: none, it is the moment before. It is found when requested: a path asks
 * of few moments. replay_binding calls this. */
struct replay_edge view_binding(const struct replay_graph *view, moment_id m);

/* stream_work.c - the work of each stream in the order of its launches, and as it ended: what ran before
 * what. */

struct work_stream {
    uint32_t file;
    int32_t device;
    int64_t stream;
    size_t first, count; /* of stream_work.launched */
    size_t near;         /* where was searched last in it */
};

struct stream_work {
    struct work_stream *at; /* by file, device and stream */
    size_t count;
    uint32_t *stream_of_track; /* index into AT; of tracks with work */
    uint32_t *launched;        /* work, stream after stream, by launch; what has no call is not there */
    uint32_t
        *by_thread; /* the same by the track of the call, then by launch; NULL until it is first needed */
    size_t launched_count;
    const struct replay_graph *graph;
};

/* New; to be freed by stream_work_before. Needs the moments of work. */
struct stream_work *stream_work_open(const struct replay_graph *graph);

/* Index into AT of the stream that WORK ran on. */
uint32_t stream_work_of(const struct stream_work *streams, uint32_t work);

/* Index of the stream, SIZE_MAX when no work ran there. */
size_t stream_work_find(const struct stream_work *streams, uint32_t file, int32_t device, int64_t stream);

/* When the call of WORK began, which has one. */
int64_t stream_work_launched_ns(const struct stream_work *streams, uint32_t work);

/* The last work on the stream at INDEX (SIZE_MAX: no such stream) launched before NS; the first after it. SIZE_MAX: none. */
size_t stream_work_launched_before(struct stream_work *streams, size_t index, int64_t ns);
size_t stream_work_launched_after(struct stream_work *streams, size_t index, int64_t ns);

/* The last work that calls of TRACK launched before NS; SIZE_MAX: none. The first who asks has it sorted by thread. */
size_t stream_work_launched_by(struct stream_work *streams, track_id track, int64_t ns);

/* New, free with free(): by work, the work of its stream that ended last of those that ended by its start;
 * UINT32_MAX: none. Of operations that ended together, the last to begin. STREAMS, which is freed, need not
 * take memory beside that. */
uint32_t *stream_work_before(struct stream_work *streams);

#endif
