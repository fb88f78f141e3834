/*
 * latest.c - see latest.h. The tree is an array as of a heap: the leaves, a power of two of them, come last. Each node
 * holds the earliest launch below it, and the earliest on any other stream than that one's. A leaf stands for a block
 * of operations, which are examined one by one: a node for each took more memory than anything else of the replay, and so did keeping
 * what is known of each.
 */
#include "whatif/latest.h"

#include "base/memory.h"
#include <stdbool.h>
#include <stdlib.h>

struct node {
    int64_t first_ns, other_ns; /* INT64_MAX: none */
    uint32_t first_stream;
};

enum { BLOCK = 16 };

struct latest {
    uint32_t *operations;
    size_t count, leaves;
    latest_tell *tell;
    const void *context;
    struct node *nodes; /* from 1; leaf i is leaves + i, and stands for works from i * BLOCK on */
};

static struct latest_item item(const struct latest *latest, size_t i)
{
    return latest->tell(latest->context, latest->operations[i]);
}

static struct node join(const struct node *a, const struct node *b)
{
    const struct node *first = a->first_ns <= b->first_ns ? a : b, *second = first == a ? b : a;
    struct node node = { first->first_ns, first->other_ns, first->first_stream };
    int64_t rival_ns = second->first_stream == first->first_stream ? second->other_ns : second->first_ns;
    if (rival_ns < node.other_ns)
        node.other_ns = rival_ns;
    return node;
}

static struct node node_of_block(const struct latest *latest, size_t block)
{
    struct node node = { INT64_MAX, INT64_MAX, LATEST_ANY_STREAM };
    for (size_t i = block * BLOCK; i < latest->count && i < (block + 1) * BLOCK; i++) {
        struct latest_item of = item(latest, i);
        struct node one = { of.launched_ns, INT64_MAX, of.stream };
        node = join(&node, &one);
    }
    return node;
}

struct latest *latest_open(uint32_t *operations, size_t count, latest_tell *tell, const void *context)
{
    struct latest *latest = mem_zalloc(1, sizeof *latest);
    *latest = (struct latest){ .operations = operations, .count = count, .tell = tell, .context = context };
    latest->leaves = 1;
    while (latest->leaves < count / BLOCK + 1)
        latest->leaves *= 2;
    latest->nodes = mem_alloc(mem_times(2 * latest->leaves, sizeof *latest->nodes));
    for (size_t i = 0; i < latest->leaves; i++)
        latest->nodes[latest->leaves + i] = node_of_block(latest, i);
    for (size_t n = latest->leaves; n-- > 1;)
        latest->nodes[n] = join(&latest->nodes[2 * n], &latest->nodes[2 * n + 1]);
    return latest;
}

void latest_free(struct latest *latest)
{
    if (!latest)
        return;
    free(latest->operations);
    free(latest->nodes);
    free(latest);
}

/* Is there work below NODE that was launched in time, and not on EXCEPT? */
static bool holds_one(const struct node *node, int64_t launched_before_ns, uint32_t except)
{
    return (node->first_stream == except ? node->other_ns : node->first_ns) < launched_before_ns;
}

/* How many operations come before those of GROUP that end after END_NS. */
static size_t count_until(const struct latest *latest, uint32_t group, int64_t end_ns)
{
    size_t low = 0, high = latest->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        struct latest_item of = item(latest, middle);
        if (of.group < group || (of.group == group && of.end_ns <= end_ns))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The node that covers the last candidates before block END, and no block from there on; 0 when no candidate is left. */
static size_t find_node(const struct latest *latest, size_t end, int64_t launched_before_ns, uint32_t except)
{
    /* From the leaf behind the last candidate upwards: what lies just before it is the left sibling of a right child. */
    for (size_t node = latest->leaves + end; node > 1; node /= 2)
        if (node % 2 == 1 && holds_one(&latest->nodes[node - 1], launched_before_ns, except))
            return node - 1;
    return 0;
}

/* The last candidate of BLOCK before the work at END; LATEST_NONE: there is none. */
static size_t find_in_block(const struct latest *latest, size_t block, size_t end, int64_t launched_before_ns,
                            uint32_t except)
{
    for (size_t i = end; i-- > block * BLOCK;) {
        struct latest_item of = item(latest, i);
        if (of.stream != except && of.launched_ns < launched_before_ns)
            return i;
    }
    return LATEST_NONE;
}

/* The last candidate before the work at END. */
static size_t find_before(const struct latest *latest, size_t end, int64_t launched_before_ns,
                          uint32_t except)
{
    size_t found = find_in_block(latest, end / BLOCK, end, launched_before_ns, except);
    size_t node = found == LATEST_NONE ? find_node(latest, end / BLOCK, launched_before_ns, except) : 0;
    if (node == 0)
        return found;
    while (node < latest->leaves)
        node = holds_one(&latest->nodes[2 * node + 1], launched_before_ns, except) ? 2 * node + 1 : 2 * node;
    size_t block = node - latest->leaves;
    return find_in_block(latest, block, (block + 1) * BLOCK, launched_before_ns, except);
}

size_t latest_find(const struct latest *latest, uint32_t group, int64_t launched_before_ns,
                   int64_t ended_by_ns, uint32_t except)
{
    size_t end = count_until(latest, group, ended_by_ns);
    size_t found = find_before(latest, end, launched_before_ns, except);
    return found != LATEST_NONE && item(latest, found).group == group ? latest->operations[found]
                                                                      : LATEST_NONE;
}
