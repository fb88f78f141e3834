/* A hash table of the first node of each number; children come before parents. */
#include "treediff/tree_diff.h"
#include "base/bits.h"

/* A node of either tree. */
struct known {
    const struct work_tree *tree; /* NULL: empty slot */
    uint32_t node;
};

struct numbering {
    struct known *places;
    size_t mask; /* slots - 1 */
    uint32_t count;
};

static uint64_t hash_of(const struct work_tree *tree, uint32_t node)
{
    const struct work_node *at = &tree->nodes.at[node];
    uint64_t hash = bits_mix(at->kind + 1, at->name);
    for (uint32_t i = 0; i < at->count; i++)
        hash = bits_mix(hash, tree->nodes.at[work_children(tree, node)[i]].number);
    return bits_mix(hash, at->count);
}

static bool is_equal(const struct work_tree *tree, uint32_t node, const struct known *other)
{
    const struct work_node *a = &tree->nodes.at[node], *b = &other->tree->nodes.at[other->node];
    if (a->kind != b->kind || a->name != b->name || a->count != b->count)
        return false;
    const uint32_t *x = work_children(tree, node), *y = work_children(other->tree, other->node);
    return !ANY(i, a->count, tree->nodes.at[x[i]].number != other->tree->nodes.at[y[i]].number);
}

static void number_tree(struct numbering *numbering, struct work_tree *tree)
{
    for (size_t n = tree->nodes.count; n-- > 0;) {
        size_t place = hash_of(tree, (uint32_t)n) & numbering->mask;
        struct known *known = &numbering->places[place];
        while (known->tree && !is_equal(tree, (uint32_t)n, known)) {
            place = (place + 1) & numbering->mask;
            known = &numbering->places[place];
        }
        struct work_node *node = &tree->nodes.at[n];
        if (known->tree) {
            node->number = known->tree->nodes.at[known->node].number;
        } else {
            *known = (struct known){ tree, (uint32_t)n };
            node->number = numbering->count++;
        }
    }
}

void work_numbers_set(struct work_tree *before, struct work_tree *after)
{
    size_t size = 64;
    while (size < 2 * (before->nodes.count + after->nodes.count))
        size *= 2;
    struct numbering numbering = { mem_zalloc(size, sizeof *numbering.places), size - 1, 0 };
    number_tree(&numbering, before);
    number_tree(&numbering, after);
    free(numbering.places);
}
