/*
 * tree_labels.h - what became of each node of two work trees, the unaligned ones too.
 *
 *     tree_align_all(aligner);
 *     struct tree_labels *labels = tree_labels_open(aligner);            // aligns more: see below
 *     if (labels->of[0][node] == TREE_GONE)
 *         ...
 *     tree_labels_free(labels);
 *
 * A place is what stands between two aligned neighbours, or the ends of their lists. Of the nodes that are left over there,
 * in this order:
 *
 *   wrapped   an operator stands on one side, and some of its children can be aligned with what is left over on the other.
 *             They are aligned, as many as can be; of several such operators that with the most comes first
 *   renamed   below an aligned operator one piece of device work is left over on either side; or two names that differ in
 *             what renames.h lets differ; or two operators with equal children, of which there are some
 *   fused     more nodes with device work stand before than after, and one at least after
 *   split     the other way round
 *   gone, new the rest
 *
 * What is below a wrapped or renamed pair and can be aligned has the label of the pair.
 */
#ifndef TPA_COMPARE_TREE_LABELS_H
#define TPA_COMPARE_TREE_LABELS_H

#include "compare/tree_align.h"

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

/* What belongs together though it was not aligned. A wrapper stands alone on its side, its content on the other. */
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
 * New; free with tree_labels_free (NULL is allowed). ALIGNER has aligned all; what is wrapped and renamed is aligned in it, too,
 * so who counts what was aligned exactly counts the label TREE_ALIGNED.
 */
struct tree_labels *tree_labels_open(struct tree_aligner *aligner);
void tree_labels_free(struct tree_labels *labels);

#endif
