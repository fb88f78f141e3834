#include "base/twin_tree.h"

void twin_tree_free(struct twin_tree *tree)
{
    if (!tree)
        return;
    VEC_FREE(&tree->rows);
    arena_release(&tree->arena);
    free(tree);
}
