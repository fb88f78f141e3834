/*
 * graph.h - which operation of a job waits for which, and replays of it with other lengths.
 *
 *     struct job_graph *graph = graph_open(operations);
 *     double *step_ns = mem_zalloc(operations->steps.count, sizeof *step_ns);
 *     graph_replay(graph, graph->real_ns, step_ns, NULL);
 *     graph_free(graph);
 *
 * In a replay an operation begins as soon as all that it waits for ended, a message or collective when that is so for all who
 * take part. Lengths are means and medians of recorded ones, which are no whole nanoseconds: doubles, exact to 2^-10 ns within two hours.
 */
#ifndef TPA_JOB_GRAPH_H
#define TPA_JOB_GRAPH_H

#include "job/operations.h"

/* Operations that begin together: two ends of a message, a collective; or one that begins alone. */
struct gang {
    uint32_t first, count; /* of job_graph.member */
};

struct job_graph {
    const struct operations *all; /* borrowed */
    uint32_t *before_first;       /* by operation, and one more: of BEFORE */
    uint32_t *before;             /* the operations that it waits for */
    uint32_t
        *producer; /* by operation: the computation whose result it takes, on another rank; OPERATION_NONE */
    double *real_ns;           /* by operation: its length without waiting */
    VEC_OF(struct gang) gangs; /* each behind those that it waits for */
    uint32_t *member;
};

/* New; free with graph_free (NULL is allowed). ALL must live as long. */
struct job_graph *graph_open(const struct operations *all);
void graph_free(struct job_graph *graph);

struct replayed {
    double start_ns, end_ns;
};

/* Replay all steps with LENGTH_NS, by operation. STEP_NS, by step, gets their lengths; TIMES, by operation, is optional. */
void graph_replay(const struct job_graph *graph, const double *length_ns, double *step_ns,
                  struct replayed *times);

/* ---- its parts ---- */

struct graph_edge {
    uint32_t op, before;
};

struct graph_edges {
    VEC_OF(struct graph_edge);
};

/* links.c: fill EDGES, and PRODUCER by operation. */
void links_find(const struct operations *all, struct graph_edges *edges, uint32_t *producer);

/* gangs.c: set GANG_OF, by operation; returns the number of gangs. */
uint32_t gangs_find(const struct operations *all, uint32_t *gang_of);

#endif
