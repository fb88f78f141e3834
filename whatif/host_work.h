/*
 * host_work.h - operators that compute on the host in a program whose devices do the rest.
 *
 *     const struct host_work *work = host_work_of(graph);
 *     if (host_work_holds(work, graph, m))
 *         ... the piece that leads to moment M is computation of the host ...
 *
 * An operator computes on the host if nothing is launched in any call of its name, or so little that it takes a millisecond of its own and
 * more for each launch, if a call takes 100 us of its own on average (those
 * that only prepare tensors, such as empty and view, take less), and if that is four fifths of its time (others call operators for
 * each of many tensors).
 */
#ifndef TPA_WHATIF_HOST_WORK_H
#define TPA_WHATIF_HOST_WORK_H

#include "whatif/replay.h"

/* Shorter gaps are what Python takes between operators. */
enum { HOST_PAUSE_NS = 1000000 };

struct host_work {
    bool *computes; /* by name */
    int64_t
        *own_ns; /* by name: its own time, without waits; also of operators that do not compute on the host */
};

/* Of GRAPH, and of any other graph of its trace: computed when first requested. Borrowed; lives as long as the trace. */
const struct host_work *host_work_of(const struct replay_graph *graph);

static inline bool host_work_holds(const struct host_work *work, const struct replay_graph *graph,
                                   moment_id m)
{
    event_id span = graph->inner[m];
    return span != EVENT_NONE && graph->trace->kind[span] == EVENT_OP &&
           work->computes[graph->trace->name[span]];
}

/* New, by track of TRACE: when an event loop waited there for anything to happen, in Python functions. That is no work of the host. Free
 * with event_waits_free. */
struct intervals *event_waits_open(const struct trace *trace);
void event_waits_free(const struct trace *trace, struct intervals *waits);

/* Moments that end pauses: gaps of a thread of HOST_PAUSE_NS or more, in which no operator or call was open and nothing was waited for.
 * Gaps while a batch is loaded, while something communicates, while the profiler works, while the event loop of the thread waits and
 * while another thread runs operators are
 * known by other names and left out, as are gaps between steps, which are those of the profiler. Where Python functions were
 * recorded, threads that run none have no pauses: they have nothing to do. Neither has a process that starts, where the recorder begins
 * with it. */
struct host_pauses {
    VEC_OF(moment_id); /* ascending */
};

/* New, by file of TRACE, free with free(): when its first work was launched, on its clock, if the recorder begins with the process: until
 * then it starts, which is done once. INT64_MIN of others. */
int64_t *host_starts_open(const struct trace *trace);

/* Of GRAPH. Release with VEC_FREE. */
struct host_pauses host_pauses_find(const struct replay_graph *graph);

#endif
