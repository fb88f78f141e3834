/*
 * attribution.h - which call launched a piece of GPU work, and which operator made that call.
 *
 * GPU work -> runtime or driver call: by `correlation`. Call or GPU work -> operator: by `External id`, whose meaning
 * changed over four generations of libkineto:
 *
 *   1  2020-09 .. 2021-11   "external id": the operator's id
 *   2  2021-11 .. 2024-02   the event's own correlation, always: no link at all
 *   3  2024-02 .. 2024-10   the operator's id, or the event's own correlation when there is none
 *   4  since 2024-10        the operator's id; absent when there is none
 *
 * In 1 and 4 any id is the operator's, even one that equals the event's own correlation, because the key is omitted
 * without an operator. In 3 only an id that differs from the correlation is. The model does not keep the spelling of
 * the key, but files of generation 1 spell categories "Runtime" and "Kernel"; in files of generation 4 some call has no
 * id. In 2, and in traces without such ids, the operator is the innermost one open on the calling thread when the call
 * began. Needs the arguments ATTRIBUTION_WANTS.
 *
 * Ids and correlations are numbers of one process. If several were merged into one file, each device belongs to the
 * process whose calls best explain its work: they have its numbers and its External ids, and began before it.
 */
#ifndef TPA_DERIVE_ATTRIBUTION_H
#define TPA_DERIVE_ATTRIBUTION_H

#include "trace/calltree.h"

#define ATTRIBUTION_WANTS                                                                                    \
    (WANT(CORRELATION) | WANT(EXTERNAL_ID) | WANT(ISSUED_AHEAD) | WANT(GRAPH_ID) | WANT(GRAPH_NODE_ID))

enum launch_links {
    LINKS_BY_NESTING, /* generation 2, and traces that record no ids */
    LINKS_BY_ID,      /* generations 1, 3, 4 */
};

struct attribution;

/* New; free with arena_free (NULL is allowed). */
struct attribution *attribution_open(const struct trace *trace);

/* Those of TRACE, computed when first requested. Borrowed; live as long as TRACE. */
const struct attribution *attribution_of(const struct trace *trace);

/* How FILE links calls to operators. */
enum launch_links attribution_links(const struct attribution *launches, uint32_t file);

/* The generation of FILE, 1 to 4; 0 if it has no ids. (3 and 4 cannot be distinguished if every call has an
 * operator.) */
int attribution_generation(const struct attribution *launches, uint32_t file);

/* The number of calls of FILE whose number is shared with a call of another process of the file. */
uint64_t attribution_shared_calls(const struct attribution *launches, uint32_t file);

/* The processes of all files are numbered from 0; every file has at least one. A process is a pid with calls or
 * operators with ids. The process of E is that of its track; a track without one belongs to the first process of its
 * file, a device to the process that it works for. */
size_t attribution_process_count(const struct attribution *launches);
size_t attribution_process(const struct attribution *launches, event_id e);
size_t attribution_process_of_track(const struct attribution *launches, track_id track);

/* The runtime or driver call with the correlation of E, a GPU event; EVENT_NONE if it is not in the file. */
event_id attribution_call(const struct attribution *launches, event_id e);

/* The same; EXTERNAL_ID and CORRELATION point to the arguments of E, NULL when it has none. */
event_id attribution_call_by(const struct attribution *launches, event_id e, const int64_t *external_id,
                             const int64_t *correlation);

/* The operator that E, a call or a GPU event, is linked to; EVENT_NONE when to none. */
event_id attribution_operator(const struct attribution *launches, event_id e);

/* When WORK, on a device, was issued: the recorded moment (ARG_ISSUED_AHEAD: a queue of the framework may
 * hold it before its CALL), else the start of CALL (EVENT_NONE: not in the file). False: neither is known,
 * and *NS is WORK's own start. */
bool attribution_issued(const struct trace *trace, event_id work, event_id call, int64_t *ns);

/* Both at once for E, a GPU event; EXTERNAL_ID and CORRELATION point to its arguments, NULL when it has none. */
void attribution_find(const struct attribution *launches, event_id e, const int64_t *external_id,
                      const int64_t *correlation, event_id *call, event_id *op);

/* The link from an event to the operator that made or caused it. */
struct launch_link {
    bool linked; /* there is such an operator, whether it is in the file or not */
    event_id op; /* the operator, or EVENT_NONE */
    int64_t id;  /* its External id; 0 when it has none */
};

/* As attribution_operator, with details; EXTERNAL_ID and CORRELATION point to the arguments of E, NULL when it has
 * none. */
struct launch_link attribution_link(const struct attribution *launches, event_id e,
                                    const int64_t *external_id, const int64_t *correlation);

/* Is the call, by its name, a launch of a CUDA or HIP graph (hundreds of kernels at a time)? */
bool attribution_is_graph_launch(const char *call_name);

#endif
