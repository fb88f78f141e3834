/*
 * The weight of a pair of nodes is the largest number of nodes that can be aligned if these two are: 1 plus the value
 * of their lists of children. The value of two lists is that of the best path through the table of their suffixes: each
 * move skips a node of either side, or aligns a pair and adds its weight. Weights are cached by the numbers of the
 * subtrees, because programs repeat themselves.
 *
 * The cost of a path is the total size of the subtrees it skips, and the best path has the least cost. A cell can be on
 * a path of cost LIMIT only if the sizes of its prefixes, and of its suffixes, differ by no more: a band around the
 * diagonal. The limit is doubled until the best path within the band costs no more than it.
 */
#include "treediff/tree_diff.h"

#include "base/rows.h"
#include "base/search.h"
#include "base/order.h"

enum {
    DEEPEST = 1000,          /* maximum depth of lists when computing weights */
    SMALL_TABLE = 4096,      /* cells that need no band */
    CELLS_OF_A_WEIGHT = 200, /* cost of looking up a weight, in cells */
    CELLS_OF_A_NODE = 16,    /* cost of visiting a node of a list, in cells */
    CELLS_AT_LEAST = 16,     /* minimum for each node of two lists, regardless of the budget */
    CUTS_AT_SUBTREES = 8,    /* how often pieces are cut at subtrees before they are cut in the middle */
};

#define MOST_CELLS (UINT64_C(1) << 25)
#define BUDGET (UINT64_C(1) << 29)

struct tree_aligner *tree_aligner_open(const struct work_tree *before, const struct work_tree *after)
{
    struct tree_aligner *aligner = arena_open(sizeof *aligner);
    ARENA_OWNS(arena_of(aligner), &aligner->waiting, &aligner->weights.direct, &aligner->weights.keys,
               &aligner->weights.places);
    aligner->trees[0] = before;
    aligner->trees[1] = after;
    for (int side = 0; side < 2; side++) {
        size_t size = mem_times(aligner->trees[side]->nodes.count + 1, sizeof *aligner->mates[side]);
        aligner->mates[side] = arena_alloc(arena_of(aligner), size);
        memset(aligner->mates[side], 0xff, size);
    }
    aligner->only_steps = before->only_steps && after->only_steps;
    aligner->budget = BUDGET;
    aligner->most_cells = MOST_CELLS;
    return aligner;
}

static const struct work_node *align_node_at(const struct tree_aligner *aligner, int side, uint32_t node)
{
    return &aligner->trees[side]->nodes.at[node];
}

static bool is_same_name(const struct work_node *a, const struct work_node *b)
{
    return a->name == b->name && a->kind == b->kind;
}

static void spend(struct tree_aligner *aligner, uint64_t cells)
{
    aligner->budget -= cells < aligner->budget ? cells : aligner->budget;
}

/* ---- weights ---- */

static uint64_t align(struct tree_aligner *aligner, struct tree_list before, struct tree_list after,
                      int depth, tree_pairs *pairs);

/* The weight of two nodes of the same name, whose subtrees differ. */
static uint64_t find_weight(struct tree_aligner *aligner, uint32_t before, uint32_t after, int depth)
{
    struct tree_list a = tree_children(aligner, 0, before), b = tree_children(aligner, 1, after);
    uint64_t weight = 1;
    for (; a.count == 1 && b.count == 1; weight++) { /* a chain needs no table, and may be long */
        const struct work_node *x = align_node_at(aligner, 0, *a.at), *y = align_node_at(aligner, 1, *b.at);
        if (!is_same_name(x, y))
            return weight;
        spend(aligner, 1);
        a = tree_children(aligner, 0, *a.at);
        b = tree_children(aligner, 1, *b.at);
    }
    return weight + align(aligner, a, b, depth + 1, NULL);
}

static uint64_t weight_of(struct tree_aligner *aligner, uint32_t before, uint32_t after, int depth)
{
    const struct work_node *a = align_node_at(aligner, 0, before), *b = align_node_at(aligner, 1, after);
    if (a->number == b->number)
        return a->size;
    if (a->count == 0 || b->count == 0)
        return 1;
    uint64_t key = (uint64_t)a->number << 32 | b->number;
    uint32_t known = id_table_find(&aligner->weights, key);
    if (known != ID_TABLE_NONE)
        return known;
    if (depth >= DEEPEST || aligner->budget == 0) {
        aligner->cut_lists++;
        return 1;
    }
    spend(aligner, CELLS_OF_A_WEIGHT);
    uint64_t weight = find_weight(aligner, before, after, depth);
    id_table_set(&aligner->weights, key, (uint32_t)weight);
    return weight;
}

/* ---- a table ---- */

enum way { WAY_PAIR, WAY_SKIP_BEFORE, WAY_SKIP_AFTER };

struct table_row {
    size_t low, high; /* cells of the band, inclusive */
    size_t first;     /* index of its first cell among all cells of the band */
};

/* Two lists, of N and M nodes, and their band. */
struct align_table {
    struct tree_aligner *aligner;
    int depth;
    const uint32_t *a, *b;
    size_t n, m;
    uint64_t *sizes_a, *sizes_b; /* of the nodes before each place; n + 1 and m + 1 */
    struct table_row *rows;      /* n + 1 */
    uint8_t *ways;               /* by cell of the band; NULL: only the value is needed */
    int64_t *next, *current;     /* values of two rows, by place + 1; -1: not in the band */
};

static uint64_t *sizes_before(const struct tree_aligner *aligner, int side, const uint32_t *nodes,
                              size_t count)
{
    uint64_t *sizes = mem_alloc(mem_times(count + 1, sizeof *sizes));
    sizes[0] = 0;
    for (size_t i = 0; i < count; i++)
        sizes[i + 1] = sizes[i] + align_node_at(aligner, side, nodes[i])->size;
    return sizes;
}

static uint64_t apart(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

/* Set the rows of the band for paths of cost LIMIT or less. Returns its number of cells. */
static uint64_t set_band(struct align_table *table, uint64_t limit)
{
    uint64_t a = table->sizes_a[table->n], b = table->sizes_b[table->m];
    uint64_t reach = (limit - apart(a, b)) / 2, more_b = b > a ? b - a : 0, more_a = a > b ? a - b : 0;
    size_t low = 0, high = 0;
    uint64_t cells = 0;
    for (size_t i = 0; i <= table->n; i++) {
        uint64_t least = table->sizes_a[i] > more_a + reach ? table->sizes_a[i] - more_a - reach : 0;
        uint64_t most = table->sizes_a[i] + more_b + reach;
        while (low < table->m && table->sizes_b[low] < least)
            low++;
        while (high < table->m && table->sizes_b[high + 1] <= most)
            high++;
        if (high < low)
            high = low;
        table->rows[i] = (struct table_row){ low, high, cells };
        cells += high - low + 1;
    }
    return cells;
}

/* Compute the values and moves of row I; NEXT holds the values of the row below. */
static void fill_row(struct align_table *table, size_t i)
{
    const struct table_row *row = &table->rows[i];
    const struct tree_aligner *aligner = table->aligner;
    int64_t *current = table->current + 1, *next = table->next + 1;
    const struct work_node *x = i < table->n ? align_node_at(aligner, 0, table->a[i]) : NULL;
    uint8_t *ways = table->ways ? table->ways + row->first : NULL;
    current[row->high + 1] = -1;
    for (size_t j = row->high + 1; j-- > row->low;) {
        int64_t best = next[j];
        enum way way = WAY_SKIP_BEFORE;
        if (current[j + 1] > best) {
            best = current[j + 1];
            way = WAY_SKIP_AFTER;
        }
        if (x == NULL || j == table->m) {
            best = x == NULL ? 0 : best;
        } else if (next[j + 1] >= 0) {
            const struct work_node *y = align_node_at(aligner, 1, table->b[j]);
            int64_t most = x->size < y->size ? x->size : y->size;
            if (is_same_name(x, y) && next[j + 1] + most >= best) {
                int64_t value =
                    next[j + 1] + (int64_t)weight_of(table->aligner, table->a[i], table->b[j], table->depth);
                if (value >= best) {
                    best = value;
                    way = WAY_PAIR;
                }
            }
        }
        current[j] = best;
        if (ways)
            ways[j - row->low] = (uint8_t)way;
    }
    if (row->low > 0)
        current[row->low - 1] = -1;
}

/* Set cells of NEXT outside the band that the row above reads. */
static void mark_outside(struct align_table *table, size_t i)
{
    const struct table_row *row = &table->rows[i], *below = &table->rows[i + 1];
    for (size_t j = row->low; j < below->low; j++)
        table->next[j + 1] = -1;
    for (size_t j = below->high + 1; j <= row->high + 1; j++)
        table->next[j + 1] = -1;
}

/* The value of the best path within the band. */
static uint64_t fill_table(struct align_table *table)
{
    for (size_t i = table->n + 1; i-- > 0;) {
        if (i < table->n)
            mark_outside(table, i);
        fill_row(table, i);
        int64_t *filled = table->current;
        table->current = table->next;
        table->next = filled;
    }
    return table->next[1] < 0 ? 0 : (uint64_t)table->next[1];
}

static void follow_ways(const struct align_table *table, tree_pairs *pairs)
{
    for (size_t i = 0, j = 0; i < table->n && j < table->m;) {
        const struct table_row *row = &table->rows[i];
        enum way way = (enum way)table->ways[row->first + j - row->low];
        if (way == WAY_PAIR)
            *VEC_PUSH(pairs) = (struct tree_pair){ table->a[i], table->b[j] };
        i += way != WAY_SKIP_AFTER;
        j += way != WAY_SKIP_BEFORE;
    }
}

/* Find the best path; false if the table is too large. */
static bool solve(struct align_table *table, uint64_t *value, tree_pairs *pairs)
{
    struct tree_aligner *aligner = table->aligner;
    uint64_t a = table->sizes_a[table->n], b = table->sizes_b[table->m];
    uint64_t allowed = aligner->budget < aligner->most_cells ? aligner->budget : aligner->most_cells;
    uint64_t least = CELLS_AT_LEAST * (uint64_t)(table->n + table->m);
    if (allowed < least)
        allowed = least;
    bool small = (uint64_t)table->n * table->m <= SMALL_TABLE;
    uint64_t limit = small ? a + b : apart(a, b) + (a + b) / 8;
    for (;;) {
        uint64_t cells = set_band(table, limit);
        if (cells > allowed)
            return false;
        spend(aligner, cells);
        free(table->ways);
        table->ways = pairs ? mem_alloc(cells) : NULL;
        *value = fill_table(table);
        uint64_t cost = a + b - 2 * *value;
        if (cost <= limit)
            break;
        limit = cost < 4 * limit ? cost : 2 * limit;
    }
    if (pairs)
        follow_ways(table, pairs);
    return true;
}

/* ---- lists that are too long ---- */

static struct tree_list part_of(struct tree_list list, size_t from, size_t to)
{
    return (struct tree_list){ list.at + from, to - from };
}

/* The zone of NODE of SIDE among steps: 2 * place + 1 in a step, else even; AFTER is the last zone of its list. */
static uint32_t zone_of(const struct tree_aligner *aligner, int side, uint32_t node, uint32_t after)
{
    uint32_t step = align_node_at(aligner, side, node)->step;
    uint32_t zone =
        step == WORK_NONE ? (after + 1) / 2 * 2 : 2 * aligner->trees[side]->steps.at[step].place + 1;
    return zone > after ? zone : after;
}

/* The end of the nodes of LIST from FROM on that are in the first zone; *ZONE is set to it. */
static size_t end_of_zone(const struct tree_aligner *aligner, int side, struct tree_list list, size_t from,
                          uint32_t *zone)
{
    uint32_t first = from < list.count ? zone_of(aligner, side, list.at[from], *zone) : UINT32_MAX;
    size_t end = from;
    while (end < list.count && zone_of(aligner, side, list.at[end], first) == first)
        end++;
    *zone = first;
    return end;
}

/* Do the lists begin on threads, and span more than one step? */
static bool can_cut_by_step(const struct tree_aligner *aligner, const struct tree_list lists[2])
{
    for (int side = 0; side < 2; side++) {
        if (aligner->trees[side]->steps.count == 0 || lists[side].count == 0 ||
            align_node_at(aligner, side, align_node_at(aligner, side, lists[side].at[0])->parent)->kind !=
                WORK_THREAD)
            return false;
    }
    for (int side = 0; side < 2; side++) {
        uint32_t zone = 0;
        if (end_of_zone(aligner, side, lists[side], 0, &zone) < lists[side].count)
            return true;
    }
    return false;
}

/* Align each step with the step of the same place, and nodes between steps with those between the same steps. */
static uint64_t cut_by_step(struct tree_aligner *aligner, const struct tree_list lists[2], int depth,
                            tree_pairs *pairs)
{
    size_t from[2] = { 0, 0 }, to[2];
    uint32_t last[2] = { 0, 0 };
    uint64_t value = 0;
    while (from[0] < lists[0].count && from[1] < lists[1].count) {
        uint32_t zone[2] = { last[0], last[1] };
        for (int side = 0; side < 2; side++)
            to[side] = end_of_zone(aligner, side, lists[side], from[side], &zone[side]);
        if (zone[0] == zone[1])
            value += align(aligner, part_of(lists[0], from[0], to[0]), part_of(lists[1], from[1], to[1]),
                           depth, pairs);
        for (int side = 0; side < 2; side++) {
            if (zone[side] > zone[1 - side])
                continue;
            from[side] = to[side];
            last[side] = zone[side];
        }
    }
    return value;
}

/* A node by its number. */
struct numbered {
    uint32_t number, place;
};

static const struct key by_numbers[] = { ASC(struct numbered, number), ASC(struct numbered, place), KEY_END };

/* The nodes of LIST whose subtree occurs once in it, by number; new, free with free(). */
static struct numbered *lonely_nodes(const struct tree_aligner *aligner, int side, struct tree_list list,
                                     size_t *count)
{
    struct numbered *all = mem_alloc(mem_times(list.count + 1, sizeof *all));
    for (size_t i = 0; i < list.count; i++)
        all[i] = (struct numbered){ align_node_at(aligner, side, list.at[i])->number, (uint32_t)i };
    if (list.count)
        SORT_ARRAY(all, list.count, by_numbers);
    *count = 0;
    FOR_RUNS(i, end, list.count, all[end].number == all[i].number) {
        if (end == i + 1)
            all[(*count)++] = all[i];
    }
    return all;
}

/* Places of subtrees that occur once on either side, whose longest ascending sequence is needed. */
struct anchor {
    uint32_t before, after;
    uint32_t last; /* the previous anchor in the best sequence that ends here; WORK_NONE: none */
};

static const struct key by_anchors[] = { ASC(struct anchor, before), KEY_END };

/* Keep a longest sequence of ANCHORS that ascends on both sides; returns how many. */
static size_t keep_ascending(struct anchor *anchors, size_t count)
{
    if (count)
        SORT_ARRAY(anchors, count, by_anchors);
    SCOPED uint32_t *ends =
        /* by length: end of the sequence with the lowest end */
        mem_alloc(mem_times(count + 1, sizeof *ends));
    size_t longest = 0;
    for (size_t i = 0; i < count; i++) {
        size_t length = PLACE(k, longest, anchors[ends[k]].after < anchors[i].after);
        anchors[i].last = length ? ends[length - 1] : WORK_NONE;
        ends[length] = (uint32_t)i;
        longest += length == longest;
    }
    uint32_t at = longest ? ends[longest - 1] : WORK_NONE;
    for (size_t i = longest; i-- > 0; at = anchors[at].last)
        ends[i] = at;
    for (size_t i = 0; i < longest; i++)
        anchors[i] = anchors[ends[i]];
    return longest;
}

/* The subtrees that occur once in either list, in order; new, free with free(). */
static struct anchor *find_anchors(const struct tree_aligner *aligner, const struct tree_list lists[2],
                                   size_t *count)
{
    size_t counts[2], found = 0;
    struct numbered *lonely[2];
    for (int side = 0; side < 2; side++)
        lonely[side] = lonely_nodes(aligner, side, lists[side], &counts[side]);
    struct anchor *anchors = mem_alloc(mem_times(counts[0] + 1, sizeof *anchors));
    for (size_t i = 0, j = 0; i < counts[0] && j < counts[1];) {
        uint32_t x = lonely[0][i].number, y = lonely[1][j].number;
        if (x == y)
            anchors[found++] = (struct anchor){ lonely[0][i].place, lonely[1][j].place, WORK_NONE };
        i += x <= y;
        j += y <= x;
    }
    EACH(free, lonely[0], lonely[1]);
    *count = keep_ascending(anchors, found);
    return anchors;
}

static uint64_t cut(struct tree_aligner *aligner, struct tree_list before, struct tree_list after, int depth,
                    int cuts, tree_pairs *pairs);

/* Align the nodes between ANCHORS. */
static uint64_t cut_at(struct tree_aligner *aligner, const struct tree_list lists[2],
                       const struct anchor *anchors, size_t count, int depth, int cuts, tree_pairs *pairs)
{
    uint64_t value = 0;
    size_t a = 0, b = 0;
    for (size_t i = 0; i <= count; i++) {
        size_t to_a = i < count ? anchors[i].before : lists[0].count;
        size_t to_b = i < count ? anchors[i].after : lists[1].count;
        value += cut(aligner, part_of(lists[0], a, to_a), part_of(lists[1], b, to_b), depth, cuts, pairs);
        if (i == count)
            break;
        value += align_node_at(aligner, 0, lists[0].at[to_a])->size;
        if (pairs)
            *VEC_PUSH(pairs) = (struct tree_pair){ lists[0].at[to_a], lists[1].at[to_b] };
        a = to_a + 1;
        b = to_b + 1;
    }
    return value;
}

static bool align_table(struct tree_aligner *aligner, struct tree_list before, struct tree_list after,
                        int depth, uint64_t *value, tree_pairs *pairs);

/* Align the pieces of two lists whose table is too large. */
static uint64_t cut(struct tree_aligner *aligner, struct tree_list before, struct tree_list after, int depth,
                    int cuts, tree_pairs *pairs)
{
    uint64_t value = 0;
    if (before.count == 0 || after.count == 0 || align_table(aligner, before, after, depth, &value, pairs))
        return value;
    const struct tree_list lists[2] = { before, after };
    size_t count = 0;
    SCOPED struct anchor *anchors = cuts < CUTS_AT_SUBTREES ? find_anchors(aligner, lists, &count) : NULL;
    if (count) {
        value = cut_at(aligner, lists, anchors, count, depth, cuts + 1, pairs);
    } else {
        size_t a = (before.count + 1) / 2, b = (after.count + 1) / 2;
        value = cut(aligner, part_of(before, 0, a), part_of(after, 0, b), depth, cuts, pairs) +
                cut(aligner, part_of(before, a, before.count), part_of(after, b, after.count), depth, cuts,
                    pairs);
    }
    return value;
}

/* ---- lists ---- */

static uint64_t name_key(const struct work_node *node)
{
    return (uint64_t)node->name << 2 | node->kind;
}

/* The nodes of BEFORE whose name occurs in AFTER: others cannot be aligned, and leaving them out does not change the
 * result. New, free with free(). */
static uint32_t *candidates(const struct tree_aligner *aligner, struct tree_list before,
                            struct tree_list after, size_t *count)
{
    uint32_t *nodes = mem_alloc(mem_times(before.count + 1, sizeof *nodes));
    SCOPED uint64_t *names = mem_alloc(mem_times(after.count + 1, sizeof *names));
    size_t distinct = 0;
    for (size_t j = 0; j < after.count; j++)
        names[j] = name_key(align_node_at(aligner, 1, after.at[j]));
    if (after.count)
        order_values(names, after.count);
    for (size_t j = 0; j < after.count; j++)
        if (j == 0 || names[j] != names[j - 1])
            names[distinct++] = names[j];
    *count = 0;
    for (size_t i = 0; i < before.count; i++) {
        uint64_t key = name_key(align_node_at(aligner, 0, before.at[i]));
        size_t at = PLACE(k, distinct, names[k] < key);
        if (at < distinct && names[at] == key)
            nodes[(*count)++] = before.at[i];
    }
    return nodes;
}

/* Align two lists exactly; false if their table is too large. */
static bool align_table(struct tree_aligner *aligner, struct tree_list before, struct tree_list after,
                        int depth, uint64_t *value, tree_pairs *pairs)
{
    struct align_table table = { .aligner = aligner, .depth = depth, .b = after.at, .m = after.count };
    spend(aligner, CELLS_OF_A_NODE * (uint64_t)(before.count + after.count));
    SCOPED uint32_t *nodes = candidates(aligner, before, after, &table.n);
    table.a = nodes;
    table.sizes_a = sizes_before(aligner, 0, table.a, table.n);
    table.sizes_b = sizes_before(aligner, 1, table.b, table.m);
    table.rows = mem_alloc(mem_times(table.n + 1, sizeof *table.rows));
    table.next = mem_alloc(mem_times(table.m + 3, sizeof *table.next));
    table.current = mem_alloc(mem_times(table.m + 3, sizeof *table.current));
    memset(table.next, 0xff, (table.m + 3) * sizeof *table.next);
    memset(table.current, 0xff, (table.m + 3) * sizeof *table.current);
    bool solved = solve(&table, value, pairs);
    EACH(free, table.sizes_a, table.sizes_b, table.rows, table.next, table.current, table.ways);
    return solved;
}

/* Align equal subtrees at the head and tail of both lists, which always belong together. */
static void count_equal_ends(const struct tree_aligner *aligner, struct tree_list before,
                             struct tree_list after, size_t *head, size_t *tail)
{
    size_t most = before.count < after.count ? before.count : after.count;
    *head = *tail = 0;
    while (*head < most && align_node_at(aligner, 0, before.at[*head])->number ==
                               align_node_at(aligner, 1, after.at[*head])->number)
        (*head)++;
    while (*tail < most - *head && align_node_at(aligner, 0, before.at[before.count - 1 - *tail])->number ==
                                       align_node_at(aligner, 1, after.at[after.count - 1 - *tail])->number)
        (*tail)++;
}

static uint64_t collect_equal(const struct tree_aligner *aligner, struct tree_list before,
                              struct tree_list after, tree_pairs *pairs)
{
    uint64_t value = 0;
    for (size_t i = 0; i < before.count; i++) {
        value += align_node_at(aligner, 0, before.at[i])->size;
        if (pairs)
            *VEC_PUSH(pairs) = (struct tree_pair){ before.at[i], after.at[i] };
    }
    return value;
}

/* The value of two lists; the pairs of the lists themselves are added to PAIRS, in order, if that is not NULL. */
static uint64_t align(struct tree_aligner *aligner, struct tree_list before, struct tree_list after,
                      int depth, tree_pairs *pairs)
{
    const struct tree_list lists[2] = { before, after };
    if (aligner->only_steps && can_cut_by_step(aligner, lists))
        return cut_by_step(aligner, lists, depth, pairs);
    size_t head, tail;
    count_equal_ends(aligner, before, after, &head, &tail);
    const struct tree_list middles[2] = { part_of(before, head, before.count - tail),
                                          part_of(after, head, after.count - tail) };
    uint64_t value = collect_equal(aligner, part_of(before, 0, head), part_of(after, 0, head), pairs),
             middle = 0;
    if (middles[0].count && middles[1].count &&
        !align_table(aligner, middles[0], middles[1], depth, &middle, pairs)) {
        aligner->cut_lists++;
        middle = can_cut_by_step(aligner, middles) ? cut_by_step(aligner, middles, depth, pairs)
                                                   : cut(aligner, middles[0], middles[1], depth, 0, pairs);
    }
    value += middle;
    return value + collect_equal(aligner, part_of(before, before.count - tail, before.count),
                                 part_of(after, after.count - tail, after.count), pairs);
}

uint64_t tree_align_value(struct tree_aligner *aligner, struct tree_list before, struct tree_list after)
{
    return align(aligner, before, after, 0, NULL);
}

/* Align the children of the waiting pairs. */
static void align_waiting(struct tree_aligner *aligner)
{
    while (aligner->waiting.count) {
        struct tree_pair pair = aligner->waiting.at[--aligner->waiting.count];
        aligner->mates[0][pair.before] = pair.after;
        aligner->mates[1][pair.after] = pair.before;
        struct tree_list a = tree_children(aligner, 0, pair.before),
                         b = tree_children(aligner, 1, pair.after);
        if (a.count && b.count)
            align(aligner, a, b, 0, &aligner->waiting);
    }
}

void tree_align_pair(struct tree_aligner *aligner, uint32_t before, uint32_t after)
{
    *VEC_PUSH(&aligner->waiting) = (struct tree_pair){ before, after };
    align_waiting(aligner);
}

void tree_align_lists(struct tree_aligner *aligner, struct tree_list before, struct tree_list after,
                      tree_pairs *pairs)
{
    SCOPED tree_pairs own = { 0 };
    tree_pairs *to = pairs ? pairs : &own;
    size_t first = to->count;
    align(aligner, before, after, 0, to);
    for (size_t i = first; i < to->count; i++)
        tree_align_pair(aligner, to->at[i].before, to->at[i].after);
}

void tree_align_all(struct tree_aligner *aligner)
{
    const struct work_tree *before = aligner->trees[0], *after = aligner->trees[1];
    for (size_t i = 0, j = 0; i < before->threads.count && j < after->threads.count;) {
        uint32_t x = before->threads.at[i].file, y = after->threads.at[j].file;
        if (x == y)
            tree_align_pair(aligner, before->threads.at[i].node, after->threads.at[j].node);
        i += x <= y;
        j += y <= x;
    }
}
