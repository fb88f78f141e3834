/*
 * twins.h - a diff of call trees, folded to one tree with both sides in each row.
 *
 *     result->twins = tree_twins(diff, 1000);
 *
 * Nodes of one name at one path make one row. Aligned and renamed pairs are one row for both sides; gone and new nodes
 * have one side only; fused or split nodes are below a row that names both lists; the content of a wrapper is below the
 * wrapper. A row's time is that of the device work below it on each side, so siblings add up to their parent; without
 * device work on either side it is the duration of the operators, callees included.
 */
#ifndef TPA_TREEDIFF_TWINS_H
#define TPA_TREEDIFF_TWINS_H

#include "base/twin_tree.h"
#include "treediff/tree_diff.h"

/*
 * New; free with twin_tree_free. At most MOST rows, those with the largest changes; the path to the largest one is
 * unfolded. Borrows nothing.
 */
struct twin_tree *tree_twins(const struct tree_diff *diff, size_t most);

#endif
