/*
 * calltree.h - who called whom: the events of each host thread, nested by time.
 *
 * A node is an event that counts as a call. Nodes are ordered by thread; within a thread by start, the
 * longer first, then in order of the file: so a parent always comes before its children, one pass
 * forwards sees callers first and one pass backwards sees callees first.
 *
 *     struct calltree *tree = calltree_open(trace, is_call, context);   // ordered
 *     calltree_nest(tree);                                              // parents found
 *     for (size_t n = tree->count; n-- > 0;)
 *         if (tree->parent[n] != NODE_NONE)
 *             children_ns[tree->parent[n]] += trace_dur_ns(trace, tree->event[n]);
 *     arena_free(tree);
 *
 * Nesting is torch's (EventList._populate_cpu_children): the stack of open calls is popped while the
 * next event starts at or after the end of the top one, or ends after it; the call that is then on top is
 * its parent. So an event that only partly overlaps a call is not a child of it and closes it for good; an
 * event may end with its parent but not start at its end; of equal events the first is the parent.
 */
#ifndef TPA_TRACE_CALLTREE_H
#define TPA_TRACE_CALLTREE_H

#include "trace/intervals.h"
#include "trace/trace.h"

typedef uint32_t node_id;
#define NODE_NONE UINT32_MAX

struct calltree_thread {
    track_id track;
    node_id first;
    uint32_t count;
};

struct calltree {
    const struct trace *trace; /* borrowed */
    event_id *event;
    node_id *parent; /* NODE_NONE: called by nobody. Meaningless before calltree_nest */
    size_t count;
    struct calltree_thread *threads; /* by track; those with at least one node */
    size_t thread_count;
    size_t overlaps; /* events that begin within a call and end after it, so that they are not its children */
};

/* Does the event count as a call? Points and device events usually do not. */
typedef bool calltree_takes(const void *context, event_id e);

/* Takes the operators that last; CONTEXT is their trace. */
calltree_takes calltree_takes_operators;

/* New: the events that TAKES says, in order; not nested yet. Free with arena_free (NULL is allowed). */
struct calltree *calltree_open(const struct trace *trace, calltree_takes *takes, const void *context);

/* The same where TAKES takes nothing but events that overlap the set WITHIN, or touch it: it is not asked about most others. */
struct calltree *calltree_open_within(const struct trace *trace, const struct intervals *within,
                                      calltree_takes *takes, const void *context);

/* Sort the events of all host threads now and keep their order with TRACE, in 4 bytes for each: every tree that is opened
 * later picks from it. For who opens many. */
void calltree_keep_order(const struct trace *trace);

/* An event to be treated as if it ran on another thread. TRACK may be a number that no track has. */
struct calltree_move {
    event_id event;
    track_id track;
};

/* Put each of MOVES (sorted by event, each a node) on its new thread. Before calltree_nest. */
void calltree_move(struct calltree *tree, const struct calltree_move *moves, size_t count);

/* For who needs the order alone: give back what calltree_nest would fill. The tree cannot be nested, moved or folded then. */
void calltree_forget_parents(struct calltree *tree);

/* Find every node's parent. */
void calltree_nest(struct calltree *tree);

/* New, free with free(): the node of each event, NODE_NONE for events that take no part. */
node_id *calltree_nodes(const struct calltree *tree);

/* New, free with free(): for each node one further out, for calltree_around; the node itself when it was
 * called by nobody. By these and the parents any node further out is a number of steps away that grows with
 * the logarithm of the depth only. */
node_id *calltree_skips(const struct calltree *tree);

/* The innermost of NODE and its ancestors that ends after MOMENT_NS. NODE_NONE if there is none; NODE may be NODE_NONE. */
node_id calltree_around(const struct calltree *tree, const node_id *skips, node_id node, int64_t moment_ns);

/* The innermost node of THREAD that is open at MOMENT_NS, its start included and its end not; NODE_NONE when none is. */
node_id calltree_open_at(const struct calltree *tree, const node_id *skips,
                         const struct calltree_thread *thread, int64_t moment_ns);

/* torch counts a call that has one child of the same name, and nothing else, once: the child is
 * folded into it, over and over, and the child's children become its own. Kernels go with it: the
 * call keeps those of the innermost one folded, and loses those it launched itself. */
enum node_state {
    NODE_FOLDED = 1,       /* no call of its own any more; parent[] is the call it was folded into */
    NODE_KERNELS_GONE = 2, /* kernels launched by this node belong to no call */
};

/* Have the two events the same name? */
typedef bool calltree_same(const void *context, event_id a, event_id b);

/* Fold. New, free with free(): enum node_state of each node. */
uint8_t *calltree_fold(struct calltree *tree, calltree_same *same, const void *context);

#endif
