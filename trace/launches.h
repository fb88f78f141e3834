/*
 * launches.h - which call launched a piece of GPU work, and which operator made that call.
 *
 * GPU work -> runtime or driver call: by `correlation`. Call or GPU work -> operator: by what that
 * generation of trace recorded in `External id`, which has meant four things (libkineto's history):
 *
 *   1  2020-09 .. 2021-11   "external id": the operator's id
 *   2  2021-11 .. 2024-02   the event's own correlation, always: no link at all
 *   3  2024-02 .. 2024-10   the operator's id, or the event's own correlation when there is none
 *   4  since 2024-10        the operator's id; absent when there is none
 *
 * In 3 and 4 an id that differs from the event's own correlation is the operator's, in 1 any id is: the model does
 * not keep how the key was spelled, but files of that age spell categories "Runtime" and "Kernel". In 2, and in
 * traces without such ids, the operator is the innermost one open on the calling thread when the call
 * began. Needs the arguments LAUNCHES_WANTS.
 *
 * Ids and correlations are numbers of one process. Where several were merged into one file, each device belongs to
 * the process whose calls explain its work best: they have its numbers and its External ids, and began before it.
 */
#ifndef TPA_TRACE_LAUNCHES_H
#define TPA_TRACE_LAUNCHES_H

#include "trace/calltree.h"
#include "trace/trace.h"

#define LAUNCHES_WANTS (WANT(CORRELATION) | WANT(EXTERNAL_ID))

enum launch_links {
    LINKS_BY_NESTING, /* generation 2, and traces that record no ids */
    LINKS_BY_ID,      /* generations 1, 3, 4 */
};

struct launches;

/* New; free with launches_free (NULL is allowed). */
struct launches *launches_open(const struct trace *trace);
void launches_free(struct launches *launches);

/* Those of TRACE, worked out when first asked for. Borrowed; live as long as TRACE. */
const struct launches *launches_of(const struct trace *trace);

/* How FILE tells operators. */
enum launch_links launches_links(const struct launches *launches, uint32_t file);

/* The generation, 1 to 4, as far as FILE shows it (3 and 4 look alike where every call has an operator); 0 when it
 * has no ids. */
int launches_generation(const struct launches *launches, uint32_t file);

/* How many calls of FILE have a number that calls of other processes in it have, too. */
uint64_t launches_shared_calls(const struct launches *launches, uint32_t file);

/*
 * The processes of all files count up from 0; every file has one at least. A process is a pid with calls or operators
 * with ids. Of E, that of its track; a track without any belongs to the first of its file, a device to the one that
 * it works for.
 */
size_t launches_process_count(const struct launches *launches);
size_t launches_process(const struct launches *launches, event_id e);
size_t launches_process_of_track(const struct launches *launches, track_id track);

/* The runtime or driver call with the correlation of E, a GPU event; EVENT_NONE when it is not in the file. */
event_id launches_call(const struct launches *launches, event_id e);

/* The same; EXTERNAL_ID and CORRELATION point to the arguments of E, NULL when it has none. */
event_id launches_call_by(const struct launches *launches, event_id e, const int64_t *external_id,
                          const int64_t *correlation);

/* The operator that E, a call or a GPU event, is linked to; EVENT_NONE when to none. */
event_id launches_operator(const struct launches *launches, event_id e);

/* Both at once for E, a GPU event; EXTERNAL_ID and CORRELATION point to its arguments, NULL when it has none. */
void launches_find(const struct launches *launches, event_id e, const int64_t *external_id,
                   const int64_t *correlation, event_id *call, event_id *operator);

/* What is known of the operator that made or caused an event. */
struct launch_link {
    bool linked;       /* there is such an operator, whether it is in the file or not */
    event_id operator; /* it, or EVENT_NONE */
    int64_t id;        /* its External id; 0 when it has none */
};

/* As launches_operator, telling more; EXTERNAL_ID and CORRELATION point to the arguments of E, NULL when
 * it has none. */
struct launch_link launches_link(const struct launches *launches, event_id e, const int64_t *external_id,
                                 const int64_t *correlation);

/* Is it a runtime or driver call? */
static inline bool event_is_call(enum event_kind kind)
{
    return kind == EVENT_RUNTIME || kind == EVENT_DRIVER;
}

/* Is it something on a device that a call may have launched? Annotations' shadows are not. */
static inline bool event_is_launched(enum event_kind kind)
{
    return event_on_device(kind) && kind != EVENT_GPU_ANNOTATION;
}

/* Does the call's name say that it launches a CUDA or HIP graph, hundreds of kernels at a time? */
bool launches_is_graph_launch(const char *call_name);

#endif
