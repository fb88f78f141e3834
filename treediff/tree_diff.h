/* tree_diff.h - two trees of calls, compared. */
#ifndef TPA_TREEDIFF_TREE_DIFF_H
#define TPA_TREEDIFF_TREE_DIFF_H

#include "treediff/work_tree.h"
#include "base/result.h"
#include "diff/verdict.h"
#include "base/id_table.h"

/*
 * align.c - exact alignment of the nodes of two operation trees: a maximum number of nodes.
 *
 *     struct tree_aligner *aligner = tree_aligner_open(before, after);    // finished and numbered
 *     tree_align_all(aligner);
 *     if (tree_mate(aligner, 0, node) != WORK_NONE)
 *         ...
 *     arena_free(aligner);
 *
 * Definition. Aligned nodes are of equal kind and name, their parents are aligned, and they have the same order on both
 * sides. Threads are aligned in order, file by file; where only steps were chosen, nodes of a step only with nodes of
 * the step of the same place. Among all such alignments this is one with the most nodes. Ties are broken from the
 * front: first equal subtrees at the head and the tail of both lists of children are aligned, then two nodes are
 * aligned if that loses nothing, else the node of the first side is skipped.
 *
 * Cost. A pair of lists of children is a table of one cell per pair. Only cells near the diagonal, which the best path
 * can cross, are visited; equal subtrees need none. If a table is still too large, the lists are cut: at steps, then at
 * subtrees that occur once on either side, then in the middle; each piece is exact. Such lists are counted in
 * aligner->cut_lists.
 */

struct tree_list {
    const uint32_t *at; /* nodes of one side */
    size_t count;
};

struct tree_pair {
    uint32_t before, after;
};
typedef VEC_OF(struct tree_pair) tree_pairs;

struct tree_aligner {
    const struct work_tree *trees[2]; /* borrowed */
    uint32_t *mates[2];               /* by node: the node of the other side; WORK_NONE: none */
    struct id_table weights;          /* that were found: by number before << 32 | number after */
    bool only_steps;
    uint64_t budget;     /* cells that may still be visited */
    uint64_t most_cells; /* ... for one pair of lists; tests lower it */
    size_t cut_lists;
    tree_pairs waiting; /* aligned pairs whose children are not aligned yet */
};

/* New; free with arena_free (NULL is allowed). The trees are borrowed, finished and numbered together. */
struct tree_aligner *tree_aligner_open(const struct work_tree *before, const struct work_tree *after);

/* Align the threads of both trees and all below them. */
void tree_align_all(struct tree_aligner *aligner);

/* The number of nodes of two lists, not necessarily children of aligned nodes, that can be aligned. Does not align
 * them. */
uint64_t tree_align_value(struct tree_aligner *aligner, struct tree_list before, struct tree_list after);

/* Align two lists and all below them. The pairs of the lists themselves are added to PAIRS, in order, if that is not
 * NULL. */
void tree_align_lists(struct tree_aligner *aligner, struct tree_list before, struct tree_list after,
                      tree_pairs *pairs);

/* Align BEFORE and AFTER, regardless of their names, and the nodes below them. */
void tree_align_pair(struct tree_aligner *aligner, uint32_t before, uint32_t after);

/* The node that NODE of SIDE is aligned with; WORK_NONE: none. */
static inline uint32_t tree_mate(const struct tree_aligner *aligner, int side, uint32_t node)
{
    return aligner->mates[side][node];
}

/* The children of NODE of SIDE; borrowed. */
static inline struct tree_list tree_children(const struct tree_aligner *aligner, int side, uint32_t node)
{
    const struct work_tree *tree = aligner->trees[side];
    return (struct tree_list){ work_children(tree, node), tree->nodes.at[node].count };
}

/*
 * labels.c - a label for each node of two work trees, also for unaligned ones.
 *
 *     tree_align_all(aligner);
 *     struct tree_labels *labels = tree_labels_open(aligner);            // aligns more: see below
 *     if (labels->of[0][node] == TREE_GONE)
 *         ...
 *     arena_free(labels);
 *
 * A place is the gap between two aligned neighbours, or the end of their lists. Unaligned nodes there are labelled in
 * this order:
 *
 *   wrapped   an operator exists on one side only, and some of its children can be aligned with unaligned nodes of the
 *             other. As many as possible are aligned; of several such operators the one with the most comes first
 *   renamed   one device operation is unaligned on each side below an aligned operator; or two names are equal by
 *             renames.h; or two operators have equal children (at least one)
 *   fused     more nodes with device work before than after, and at least one after
 *   split     the other way round
 *   gone, new the rest
 *
 * Nodes below a wrapped or renamed pair that can be aligned get the label of the pair.
 */

enum tree_label {
    TREE_ALIGNED,
    TREE_WRAPPED,
    TREE_RENAMED,
    TREE_FUSED,
    TREE_SPLIT,
    TREE_GONE,
    TREE_NEW,
    TREE_LABELS
};

/* "aligned", "wrapped" ... */
const char *tree_label_name(enum tree_label label);

/* Nodes that belong together although they were not aligned. A wrapper is alone on its side, its content is on the
 * other. */
struct tree_match {
    enum tree_label label;     /* TREE_WRAPPED, TREE_RENAMED, TREE_FUSED or TREE_SPLIT */
    struct tree_pair below;    /* the aligned pair whose children they are, or the wrapper's are */
    size_t first[2], count[2]; /* of the nodes of each side, in labels->matched */
    int wrapper;               /* TREE_WRAPPED: the side of the wrapper */
};

struct tree_labels {
    uint8_t *of[2]; /* enum tree_label, by node */
    VEC_OF(struct tree_match) matches;
    VEC_OF(uint32_t) matched[2];
};

/* New; free with arena_free (NULL is allowed). Call after tree_align_all(ALIGNER). Wrapped and renamed nodes are
 * then aligned in ALIGNER as well; the label TREE_ALIGNED marks exact alignments. */
struct tree_labels *tree_labels_open(struct tree_aligner *aligner);

/*
 * tree_diff.c - changes between two sides by place in their call trees.
 *
 *     struct tree_diff *diff = tree_diff_open(before, after, min_change_ns);       // finished work trees; are numbered
 *     tree_diff_add_tables(diff, result);
 *     arena_free(diff);
 *
 * First as many nodes as possible are aligned exactly (tree_align.h); the others get a label (tree_labels.h). Device
 * time is that of the operations in the trees; over all labels it adds up to the change. A path is the list of names
 * from the outermost operator inwards; its row adds up all aligned pairs at the path, each with everything below it on
 * its side.
 */

/* All nodes of one label. */
struct tree_sum {
    int64_t operators[2], operations[2];
    int64_t device_ns[2];
};

/* The operators that were aligned exactly at one path. */
struct tree_path_row {
    struct text path; /* the names, joined by " > " */
    struct text name; /* the innermost name */
    int64_t depth;    /* 0: no caller */
    int64_t aligned;
    int64_t host_before_ns, host_after_ns, host_change_ns;
    int64_t device_before_ns, device_after_ns, device_change_ns;
    struct text verdict; /* from the steps; missing if a side has fewer than two */
    bool folded;         /* its change equals that of one row below it */
    uint32_t id, parent; /* ids of paths; WORK_NONE: none */
};

/* The subtrees of one name below one path that were not aligned exactly, and their labels. */
struct tree_rest_row {
    struct text side; /* "before", "after" */
    struct text below;
    struct text kind; /* "operator", "work" */
    struct text name;
    struct text label;
    int64_t count, nodes, device_ns;
};

/* Matches of nodes that were not aligned exactly, with the same names below one path. */
struct tree_match_row {
    struct text label;
    struct text below;
    struct text before, after; /* names, joined by ", " */
    int64_t count;
    int64_t device_before_ns, device_after_ns, device_change_ns;
};

struct tree_diff {
    struct tree_sum sums[TREE_LABELS];
    int64_t device_ns[2];
    int64_t outside[2], outside_ns[2];      /* operations in no tree */
    int64_t fused, split, renamed, wrapped; /* matches of each kind */
    size_t steps[2];
    size_t cut_lists; /* lists that were too long to be aligned exactly */
    bool by_device;   /* rows are sorted and judged by device time; false without device work: by host time */
    VEC_OF(struct tree_path_row) paths; /* largest change first */
    VEC_OF(struct tree_rest_row) rest;  /* most device time first */
    VEC_OF(struct tree_match_row) matches;
    struct tree_aligner *aligner; /* and the label of each node */
    struct tree_labels *labels;
};

/* New; free with arena_free (NULL is allowed). Borrows the trees for its lifetime, and sets their numbers. Changes
 * below MIN_CHANGE_NS per step are ignored. */
struct tree_diff *tree_diff_open(struct work_tree *before, struct work_tree *after, int64_t min_change_ns);

/* Add to RESULT the tables "tree", "labels", "paths", "matches" and "unaligned", and notices about them. */
void tree_diff_add_tables(const struct tree_diff *diff, struct result *result);

/* The tables that may be added, for `tpa help`; ends in { 0 }. */
extern const struct table_shape tree_tables[];

/*
 * twins.c - a diff of call trees, folded to one tree with both sides in each row.
 *
 *     result->twins = tree_twins(diff, 1000);
 *
 * Nodes of one name at one path make one row. Aligned and renamed pairs are one row for both sides; gone and new nodes
 * have one side only; fused or split nodes are below a row that names both lists; the content of a wrapper is below the
 * wrapper. A row's time is that of the device work below it on each side, so siblings add up to their parent; without
 * device work on either side it is the duration of the operators, callees included.
 */

/* New; free with twin_tree_free. At most MOST rows, those with the largest changes; the path to the largest one is
 * unfolded. Borrows nothing. */
struct twin_tree *tree_twins(const struct tree_diff *diff, size_t most);

/*
 * work_numbers.c - equal subtrees have equal numbers, within a tree and across both.
 *
 *     work_numbers_set(before, after);
 *     bool equal = before->nodes.at[a].number == after->nodes.at[b].number;
 *
 * Two subtrees are equal when their roots are of one kind and name and their children are equal one by one.
 */

/* Set the numbers of all nodes of both trees, which share their names and are finished. Linear time. */
void work_numbers_set(struct work_tree *before, struct work_tree *after);

#endif
