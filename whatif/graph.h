/*
 * graph.h - what waited for what: the moments of a trace and the relations between them.
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
#ifndef TPA_WHATIF_GRAPH_H
#define TPA_WHATIF_GRAPH_H

#include "derive/collective_matches.h"
#include "whatif/shifts.h"

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
        *view_of; /* the graph is a view (view.h) of this replay with these changes, else NULL */
    const struct changes *view_with;
    bool *
        view_lacks; /* set if a time was requested that the replay of a view forgot: results with it are wrong */

    /* Collectives over ranks; NULL: there are not several files, or nothing matches. */
    struct collectives *collectives;
    struct collective_matches *matches;
    moment_id
        *join_last; /* by join: the last to arrive: the start of an operation, or a moment of a thread */
    event_id *join_event; /* by join: the collective, of the last to arrive */
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
     WANT(GROUP_RANKS) | WANT(SEQ_IN_GROUP) | WANT(IN_ELEMENTS) | WANT(OUT_ELEMENTS) | WANT(DTYPE))

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

/* When moment M comes, and came as recorded: the same, but in a view (view.h) of a replay. On the clock of the graph. */
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

#endif
