/*
 * align.h - exact alignment of the nodes of two operation trees: a maximum number of nodes.
 *
 *     struct tree_aligner *aligner = tree_aligner_open(before, after);    // finished and numbered
 *     tree_align_all(aligner);
 *     if (tree_mate(aligner, 0, node) != WORK_NONE)
 *         ...
 *     tree_aligner_free(aligner);
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
#ifndef TPA_TREEDIFF_ALIGN_H
#define TPA_TREEDIFF_ALIGN_H

#include "treediff/work_tree.h"

struct tree_list {
    const uint32_t *at; /* nodes of one side */
    size_t count;
};

struct tree_pair {
    uint32_t before, after;
};
typedef VEC_OF(struct tree_pair) tree_pairs;

/* Cache of weights, by the numbers of two subtrees. */
struct tree_weights {
    uint64_t *keys; /* 1 + (number before << 32 | number after); 0: free */
    uint32_t *values;
    size_t count, size;
};

struct tree_aligner {
    const struct work_tree *trees[2]; /* borrowed */
    uint32_t *mates[2];               /* by node: the node of the other side; WORK_NONE: none */
    struct tree_weights weights;
    bool only_steps;
    uint64_t budget;     /* cells that may still be visited */
    uint64_t most_cells; /* ... for one pair of lists; tests lower it */
    size_t cut_lists;
    tree_pairs waiting; /* aligned pairs whose children are not aligned yet */
};

/* New; free with tree_aligner_free (NULL is allowed). The trees are borrowed, finished and numbered together. */
struct tree_aligner *tree_aligner_open(const struct work_tree *before, const struct work_tree *after);
void tree_aligner_free(struct tree_aligner *aligner);

/* Align the threads of both trees and all below them. */
void tree_align_all(struct tree_aligner *aligner);

/* The number of nodes of two lists, not necessarily children of aligned nodes, that can be aligned. Does not align
 * them. */
uint64_t tree_align_value(struct tree_aligner *aligner, struct tree_list before, struct tree_list after);

/*
 * Align two lists and all below them. The pairs of the lists themselves are added to PAIRS, in order, if that is not
 * NULL.
 */
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

#endif
