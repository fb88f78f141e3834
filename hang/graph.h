/*
 * graph.h - who waits for whom, as a graph of ranks and of helper nodes, linear in size.
 *
 * An operation in which the first N members of the order of its group are missing has an edge to node N - 1 of the
 * group, which has edges to that member and to node N - 2. Queue edges lead from a rank to those that have entered its
 * operation, and have it pending behind an older one that waits, or on a device that stopped.
 */
#ifndef TPA_HANG_GRAPH_H
#define TPA_HANG_GRAPH_H

#include "hang/job.h"

/*
 * Mark the ranks with an edge into TARGETS in DIRECT, and all that reach it, those included, in REACHING; either may be
 * NULL. Both are by rank and must be 0; targets are not marked.
 */
void hang_graph_reach(const struct hang_job *job, const uint8_t *targets, uint8_t *direct, uint8_t *reaching);

/* Mark the ranks that RANK has an edge to in MARKS, by rank, which must be 0. */
void hang_graph_targets(const struct hang_job *job, uint32_t rank, uint8_t *marks);

/*
 * Call ADD with each set of two ranks or more that wait for each other and, queue edges left aside, for nobody outside.
 * The ranks are ascending.
 */
void hang_graph_cycles(struct hang_job *job, void (*add)(struct hang_job *job, struct hang_ranks ranks));

void hang_graph_free(struct hang_graph *graph);

#endif
