/*
 * tree_diff.h - changes between two sides by place in their call trees.
 *
 *     struct tree_diff *diff = tree_diff_open(before, after, min_change_ns);       // finished work trees; are numbered
 *     tree_diff_add_tables(diff, result);
 *     tree_diff_free(diff);
 *
 * First as many nodes as possible are aligned exactly (tree_align.h); the others get a label (tree_labels.h). Device
 * time is that of the operations in the trees; over all labels it adds up to the change. A path is the list of names
 * from the outermost operator inwards; its row adds up all aligned pairs at the path, each with everything below it on
 * its side.
 */
#ifndef TPA_TREEDIFF_TREE_DIFF_H
#define TPA_TREEDIFF_TREE_DIFF_H

#include "base/result.h"
#include "treediff/align.h"
#include "treediff/labels.h"
#include "diff/verdict.h"

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
    struct arena arena; /* owns the texts */
};

/*
 * New; free with tree_diff_free (NULL is allowed). Borrows the trees for its lifetime, and sets their numbers. Changes
 * below MIN_CHANGE_NS per step are ignored.
 */
struct tree_diff *tree_diff_open(struct work_tree *before, struct work_tree *after, int64_t min_change_ns);
void tree_diff_free(struct tree_diff *diff);

/* Add to RESULT the tables "tree", "labels", "paths", "matches" and "unaligned", and notices about them. */
void tree_diff_add_tables(const struct tree_diff *diff, struct result *result);

/* The tables that may be added, for `tpa help`; ends in { 0 }. */
extern const struct table_shape tree_tables[];

#endif
