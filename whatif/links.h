/*
 * links.h - which threads of a process work for one another: forward and backward.
 *
 * Autograd runs the backward of an operator on a thread of its own and gives it the Sequence number of the forward. So two
 * threads are linked when one has a backward operator and the other a forward one of the same number.
 */
#ifndef TPA_WHATIF_LINKS_H
#define TPA_WHATIF_LINKS_H

#include "base/memory.h"
#include "whatif/graph.h"

/* Each pair of linked threads is there twice. Indices into graph->threads. */
struct thread_link {
    uint32_t thread, other;
};

struct thread_links {
    VEC_OF(struct thread_link); /* by thread, then other */
};

/* Of more threads that are linked to one only the first count: no program has them, and a file that claims so would make each gap
 * ask them all. */
enum { MOST_LINKS_OF_A_THREAD = 16 };

/* New, of the threads of GRAPH, whose moments are not looked at; free with thread_links_free (NULL is allowed). */
struct thread_links *thread_links_open(const struct replay_graph *graph);
void thread_links_free(struct thread_links *links);

#endif
