/*
 * twin_tree.h - two call trees side by side, with matching calls in one row: a description for a renderer to draw.
 *
 *     for (size_t i = 0; i < tree->rows.count; i++)
 *         ... tree->rows.at[i].depth, .sides[0].name, .sides[1].name ...
 *     twin_tree_free(tree);
 *
 * Rows are in display order: parents before children, siblings by size of change.
 */
#ifndef TPA_BASE_TWIN_TREE_H
#define TPA_BASE_TWIN_TREE_H

#include "base/table.h"

struct twin_side {
    struct text name; /* missing: it is not on this side */
    int64_t calls;
    int64_t ns; /* including all rows below it on this side */
};

struct twin_row {
    uint32_t depth; /* 0: root */
    struct twin_side sides[2];
    const char *label; /* "gone", "fused"; NULL: on both sides, or as its parent; a literal */
    bool is_work;      /* a kernel, copy or memset; else an operator */
    bool open;         /* its children are shown initially */
};

struct twin_tree {
    const char *time; /* meaning of its times: "GPU time" */
    VEC_OF(struct twin_row) rows;
    size_t steps[2];    /* number of steps whose times each side adds up; 0: no steps */
    size_t left_out;    /* rows left out because of the limit, those with the smallest changes */
    struct arena arena; /* owns the names */
};

/* Limit on rows: more make a page slow. */
enum { TWIN_ROWS_OF_PAGE = 1000 };

/* Free TREE; NULL is allowed. */
void twin_tree_free(struct twin_tree *tree);

#endif
