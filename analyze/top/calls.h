/* calls.h - stage of top: who called whom, by torch's rules. */
#ifndef TPA_ANALYZE_TOP_CALLS_H
#define TPA_ANALYZE_TOP_CALLS_H

#include "analyze/top/links.h"

/* In state: a caller of this node is in the same row, whose totals hold what the node took. */
enum { NODE_COVERED = 4 };

struct top_calls {
    struct calltree *tree;
    uint8_t *state;        /* enum node_state and, once host time is counted, NODE_COVERED; by node */
    node_id *node_of;      /* by event */
    uint32_t *row_of_node; /* once host time is counted; ROW_NONE: counted in no row */
};

/* Find the calls; release with top_calls_release. */
void top_calls_open(struct top_calls *calls, const struct top_events *events);

/* Nest them, each on the thread that LINKS says. */
void top_calls_nest(struct top_calls *calls, const struct top_events *events, const struct top_links *links);

void top_calls_release(struct top_calls *calls);

/*
 * New, free with free(); by event: whose Python stack it is listed under. Autograd runs backward operators on a thread of its
 * own, where no Python is on the stack. torch lists each, and all it calls, under the stack of the forward operator with the
 * same sequence number.
 */
event_id *top_borrow_stacks(const struct top_calls *calls, const struct top_links *links);

#endif
