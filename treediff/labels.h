/*
 * labels.h - a label for each node of two work trees, also for unaligned ones.
 *
 *     tree_align_all(aligner);
 *     struct tree_labels *labels = tree_labels_open(aligner);            // aligns more: see below
 *     if (labels->of[0][node] == TREE_GONE)
 *         ...
 *     tree_labels_free(labels);
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
#ifndef TPA_TREEDIFF_LABELS_H
#define TPA_TREEDIFF_LABELS_H

#include "treediff/align.h"

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

/*
 * New; free with tree_labels_free (NULL is allowed). Call after tree_align_all(ALIGNER). Wrapped and renamed nodes are
 * then aligned in ALIGNER as well; the label TREE_ALIGNED marks exact alignments.
 */
struct tree_labels *tree_labels_open(struct tree_aligner *aligner);
void tree_labels_free(struct tree_labels *labels);

#endif
