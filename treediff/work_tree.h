/*
 * work_tree.h - the call tree of a side: its operators, nested, with their device work as leaves.
 *
 *     struct names *names = names_open();                                 // shared by both sides
 *     struct work_tree *tree = work_tree_open(names);
 *     work_tree_add(tree, trace, &options);                               // one call per file or directory of ranks
 *     trace_free(trace);                                                  // nothing is borrowed from it
 *     work_tree_finish(tree);
 *     for (uint32_t i = 0; i < tree->nodes[n].count; i++)
 *         ... tree->children[tree->nodes[n].first + i] ...
 *     arena_free(tree);
 *
 * A node is a thread, an operator or a device operation (kernel, copy, memset). Operators nest as in `tpa top`: an
 * operator that outlasts its caller ends the caller. A device operation is a child of the innermost operator that was
 * open on its thread when the call that launched it began, or of the thread. Children are in the order of their calls;
 * a device operation counts at the moment of its call. Runtime calls, annotations, Python functions and steps are not
 * nodes. A thread without operators has no tree; its work is counted as outside, like work whose call is not in the
 * file.
 */
#ifndef TPA_TREEDIFF_WORK_TREE_H
#define TPA_TREEDIFF_WORK_TREE_H

#include "base/quantity.h"
#include "trace/trace.h"

#define WORK_NONE UINT32_MAX

enum work_kind { WORK_THREAD, WORK_OPERATOR, WORK_LAUNCHED };

struct work_node {
    name_id name; /* in the names given to work_tree_open; NAME_NONE: a thread */
    enum work_kind kind;
    uint32_t parent;     /* has a lower index; WORK_NONE: a thread */
    uint32_t step;       /* index into tree->steps; WORK_NONE: in none */
    uint32_t first;      /* of its children, in tree->children */
    uint32_t count;      /* of its children */
    uint32_t size;       /* nodes of its subtree, itself included */
    uint32_t operations; /* pieces of device work in its subtree */
    uint32_t number;     /* set by work_numbers.h */
    int64_t host_ns;     /* an operator's duration */
    int64_t device_ns;   /* durations of the work in its subtree */
};

/* A step that is compared. */
struct work_step {
    uint32_t file;  /* index among the files of the side */
    uint32_t place; /* index among the selected steps of its file */
    int64_t number; /* N of ProfilerStep#N */
};

struct work_thread {
    uint32_t file; /* index among the files of the side */
    uint32_t node;
};

struct work_tree {
    struct names *names; /* borrowed */
    VEC_OF(struct work_node) nodes;
    uint32_t *children;                 /* once finished: children of all nodes, node after node */
    VEC_OF(struct work_thread) threads; /* by file, then in order of their first operator */
    VEC_OF(struct work_step) steps;     /* by file and start */
    uint32_t files;
    bool only_steps; /* it holds only selected steps */
    size_t operators, operations;
    size_t outside;                  /* device operations in no tree */
    int64_t outside_ns;              /* their durations */
    VEC_OF(struct work_order) order; /* until finished: when each node was called */
};

/* When a node was called: the start of the operator, or of the call; operations of one call by their own start. */
struct work_order {
    int64_t called_ns, start_ns;
};

/* Which part of the files to use. Zero-initialised: all. */
struct work_tree_options {
    bool first_step;     /* the step with the lowest number of each file */
    struct ranges steps; /* only the steps with these numbers */
};

/* Are only steps used? */
static inline bool work_tree_only_steps(const struct work_tree_options *options)
{
    return options->first_step || options->steps.count;
}

/* The parts of a trace that its reader must decode. */
extern const struct trace_wants work_tree_wants;

/* New; free with arena_free (NULL is allowed). NAMES is borrowed. */
struct work_tree *work_tree_open(struct names *names);

/* Add the files of TRACE. False and ERR if OPTIONS request steps that a file does not have, or there are too many
 * nodes. */
bool work_tree_add(struct work_tree *tree, const struct trace *trace, const struct work_tree_options *options,
                   struct tpa_error *err);

/* Call once, after all files are added: sorts the children and adds up sizes and times. */
void work_tree_finish(struct work_tree *tree);

/* The children of NODE; borrowed. */
static inline const uint32_t *work_children(const struct work_tree *tree, uint32_t node)
{
    return tree->children + tree->nodes.at[node].first;
}

#endif
