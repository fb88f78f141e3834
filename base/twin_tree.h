/*
 * twin_tree.h - two call trees side by side, what belongs together in one row: described, for a renderer to draw.
 *
 *     for (size_t i = 0; i < tree->rows.count; i++)
 *         ... tree->rows.at[i].depth, .sides[0].name, .sides[1].name ...
 *     twin_tree_free(tree);
 *
 * Rows are in the order they are shown in: each before those below it, siblings with the largest change first.
 */
#ifndef TPA_BASE_TWIN_TREE_H
#define TPA_BASE_TWIN_TREE_H

#include "base/arena.h"
#include "base/memory.h"
#include "base/table.h"

struct twin_side {
    struct text name; /* missing: it is not on this side */
    int64_t calls;
    int64_t ns; /* with all below it on this side */
};

struct twin_row {
    uint32_t depth; /* 0: on top */
    struct twin_side sides[2];
    const char
        *label;   /* "gone", "fused"; NULL: on both sides, or as the row that it lies in; lives for ever */
    bool is_work; /* a kernel, copy or memset; else an operator */
    bool open;    /* what is below it is shown at first */
};

struct twin_tree {
    const char *time; /* what its times are: "GPU time" */
    VEC_OF(struct twin_row) rows;
    size_t steps[2];    /* whose times each side adds up; 0: it has none */
    size_t left_out;    /* rows that would be too many, those with the smallest changes */
    struct arena arena; /* owns the names */
};

/* More rows than these make a page slow. */
enum { TWIN_ROWS_OF_PAGE = 1000 };

/* NULL is allowed. */
void twin_tree_free(struct twin_tree *tree);

#endif
