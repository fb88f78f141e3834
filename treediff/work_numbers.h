/*
 * work_numbers.h - equal subtrees have equal numbers, within a tree and across both.
 *
 *     work_numbers_set(before, after);
 *     bool equal = before->nodes.at[a].number == after->nodes.at[b].number;
 *
 * Two subtrees are equal when their roots are of one kind and name and their children are equal one by one.
 */
#ifndef TPA_TREEDIFF_WORK_NUMBERS_H
#define TPA_TREEDIFF_WORK_NUMBERS_H

#include "treediff/work_tree.h"

/* Set the numbers of all nodes of both trees, which share their names and are finished. Linear time. */
void work_numbers_set(struct work_tree *before, struct work_tree *after);

#endif
