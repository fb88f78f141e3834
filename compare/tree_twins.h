/*
 * tree_twins.h - a diff of call trees, folded to one tree with both sides in each row.
 *
 *     result->twins = tree_twins(diff, 1000);
 *
 * Nodes of one name at one path make one row. Aligned and renamed pairs are one row for both sides; what is gone or new has
 * one side only; what was fused or split stands below a row that holds both lists; what a wrapper holds stands below the
 * wrapper. A row's time is that of the device work below it on each side, so rows of one depth add up to the row above
 * them; where no side has device work it is the operators' own duration, with what they called.
 */
#ifndef TPA_COMPARE_TREE_TWINS_H
#define TPA_COMPARE_TREE_TWINS_H

#include "base/twin_tree.h"
#include "compare/tree_diff.h"

/*
 * New; free with twin_tree_free. At most MOST rows, those that hold the largest changes; those that lead to the largest one
 * are open. Borrows nothing.
 */
struct twin_tree *tree_twins(const struct tree_diff *diff, size_t most);

#endif
