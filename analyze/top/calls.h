/* calls.h - stage of top: who called whom, by torch's rules. */
#ifndef TPA_ANALYZE_TOP_CALLS_H
#define TPA_ANALYZE_TOP_CALLS_H

#include "analyze/top/links.h"
#include "analyze/top/rows.h"

/* In state: a caller of this node is in the same row, whose totals hold what the node took. */
enum { NODE_COVERED = 4 };

#define ROW_NONE_NARROW UINT16_MAX /* ROW_NONE in 16 bits */

struct top_calls {
    struct calltree *tree;
    uint8_t *state; /* enum node_state and, once host time is counted, NODE_COVERED; by node */
    /* top_row_of_node, once host time is counted: 16 bits, which do for nearly all, or 32; the other is NULL */
    uint16_t *row_of_node;
    uint32_t *wide_row_of_node;
};

/* Find the calls; release with top_calls_release. */
void top_calls_open(struct top_calls *calls, const struct top_events *events);

/* Nest them, each on the thread that LINKS says. */
void top_calls_nest(struct top_calls *calls, const struct top_events *events, const struct top_links *links);

/* Before the rows of nodes are set, which is from the first node to the last. */
void top_calls_make_rows(struct top_calls *calls);

/* Of COUNT nodes the rows are set: hold these and all others in 32 bits. */
void top_calls_widen_rows(struct top_calls *calls, node_id count);

/* Node N counts in ROW, or in none: ROW_NONE. For nodes in order, after top_calls_make_rows. */
static inline void top_calls_set_row(struct top_calls *calls, node_id n, uint32_t row)
{
    if (!calls->wide_row_of_node && row != ROW_NONE && row >= ROW_NONE_NARROW)
        top_calls_widen_rows(calls, n);
    if (calls->wide_row_of_node)
        calls->wide_row_of_node[n] = row;
    else
        calls->row_of_node[n] = (uint16_t)row; /* ROW_NONE becomes ROW_NONE_NARROW */
}

/* The row that node N counts in; ROW_NONE: in none. */
static inline uint32_t top_row_of_node(const struct top_calls *calls, node_id n)
{
    if (calls->wide_row_of_node)
        return calls->wide_row_of_node[n];
    return calls->row_of_node[n] == ROW_NONE_NARROW ? ROW_NONE : calls->row_of_node[n];
}

/* Free what CALLS owns. */
void top_calls_release(struct top_calls *calls);

/*
 * New, free with free(); by event: whose Python stack it is listed under. Autograd runs backward operators on a thread of its
 * own, where no Python is on the stack. torch lists each, and all it calls, under the stack of the forward operator with the
 * same sequence number.
 */
event_id *top_borrow_stacks(const struct top_calls *calls, const struct top_links *links);

#endif
