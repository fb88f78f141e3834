/*
 * diff_tree.h - `tpa diff --tree`: reading two sides as call trees.
 *
 *     struct tree_sides sides;
 *     if (tree_sides_read(call, &args->load, &found, &options, &sides, result, err))
 *         diff = tree_diff_open(sides.trees[0], sides.trees[1], args->min_change_ns);
 *     ...
 *     tree_sides_release(&sides);
 */
#ifndef TPA_CLI_DIFF_TREE_H
#define TPA_CLI_DIFF_TREE_H

#include "cli/sides.h"
#include "treediff/work_tree.h"

struct tree_sides {
    struct names *names;
    struct work_tree *trees[2];
};

/*
 * Read both sides, file by file, so that only one is in memory. Notices about them go to RESULT. False and ERR if a
 * file cannot be read, is not a trace, or a side has no operators; SIDES is to be released either way.
 */
bool tree_sides_read(const struct invocation *call, const struct load_args *load,
                     const struct sides_found *found, const struct work_tree_options *options,
                     struct tree_sides *sides, struct result *result, struct tpa_error *err);
void tree_sides_release(struct tree_sides *sides);

/* Reduce the tables of a tree diff in RESULT for people: rows that changed and are not folded, LIMIT of each. */
void tree_shorten(struct result *result, const struct limit *limit);

#endif
