/* A walk over both trees at once makes the rows, parents first. A pair is visited from
 * the row of its two parents or, if it was wrapped, from the wrapper. */
#include "treediff/tree_diff.h"

#include "base/rows.h"

/* A row while it is made. */
struct folded {
    struct twin_row row;
    enum tree_label label; /* TREE_ALIGNED: none */
    uint32_t parent;       /* WORK_NONE: none */
    int64_t change;        /* after minus before */
    int64_t weight;        /* the largest change of it and all rows below it */
    uint32_t order;        /* its index among all */
};

struct visit {
    uint32_t nodes[2]; /* WORK_NONE: not on that side */
    uint32_t row;      /* WORK_NONE: of threads */
};

struct folding {
    const struct tree_diff *diff;
    const struct names *names;
    struct names *keys, *lists; /* keys of rows; joined names of fused or split nodes */
    VEC_OF(struct folded) rows;
    VEC_OF(struct visit) waiting;
    uint32_t *match_of[2]; /* by node: the match that it was fused or split in; WORK_NONE: none */
    bool *seen;            /* by node of the first side: its pair was visited from a wrapper */
    struct arena *arena;   /* of the tree */
};

static const struct work_node *twins_node_at(const struct folding *folding, int side, uint32_t node)
{
    return &folding->diff->aligner->trees[side]->nodes.at[node];
}

/* ---- rows ---- */

/* The row with this key below PARENT, created if new. Kinds: 0 and 1 for nodes by their kind, 2 for a match. */
static uint32_t row_below(struct folding *folding, uint32_t parent, uint32_t kind, enum tree_label label,
                          const struct names *texts, const name_id names[2])
{
    const uint32_t key[] = { parent, kind, label, names[0], names[1] };
    uint32_t id = names_add(folding->keys, (const char *)key, sizeof key);
    if (id < folding->rows.count)
        return id;
    struct folded *made = VEC_PUSH(&folding->rows);
    *made = (struct folded){ .parent = parent, .order = id };
    made->row.depth = parent == WORK_NONE ? 0 : folding->rows.at[parent].row.depth + 1;
    const struct folded *above = parent == WORK_NONE ? NULL : &folding->rows.at[parent];
    bool inherits = above && above->label != TREE_ALIGNED && (names[0] == NAME_NONE || names[1] == NAME_NONE);
    made->label = label == TREE_ALIGNED && inherits ? above->label : label;
    if (label != TREE_ALIGNED && !(inherits && above->label == label))
        made->row.label = tree_label_name(label);
    made->row.is_work = kind == 1;
    for (int side = 0; side < 2; side++) {
        if (names[side] == NAME_NONE)
            continue;
        size_t length = names_length(texts, names[side]);
        const char *text = arena_strndup(folding->arena, names_text(texts, names[side]), length);
        made->row.sides[side].name = (struct text){ text, length };
    }
    return id;
}

/* The names of one side of MATCH, as an id of folding->lists. */
static name_id twins_match_names(struct folding *folding, const struct tree_match *match, int side)
{
    enum { MOST = 8 };
    SCOPED struct buffer text = { 0 };
    for (size_t i = 0; i < match->count[side] && i < MOST; i++) {
        name_id name =
            twins_node_at(folding, side, folding->diff->labels->matched[side].at[match->first[side] + i])
                ->name;
        buffer_puts(&text, i ? ", " : "");
        buffer_add(&text, names_text(folding->names, name), names_length(folding->names, name));
    }
    if (match->count[side] > MOST)
        buffer_printf(&text, " and %zu more", match->count[side] - MOST);
    return names_add(folding->lists, text.at ? text.at : "", text.count);
}

/* The row of the match in which NODE of SIDE was fused or split; PARENT if there is none. */
static uint32_t row_of_match(struct folding *folding, uint32_t parent, int side, uint32_t node)
{
    uint32_t index = folding->match_of[side][node];
    if (index == WORK_NONE)
        return parent;
    const struct tree_match *match = &folding->diff->labels->matches.at[index];
    const name_id names[] = { twins_match_names(folding, match, 0), twins_match_names(folding, match, 1) };
    uint32_t row = row_below(folding, parent, 2, match->label, folding->lists, names);
    struct twin_side *of = &folding->rows.at[row].row.sides[side];
    of->calls += folding->diff->labels->matched[side].at[match->first[side]] == node;
    if (!folding->diff->by_device)
        of->ns += twins_node_at(folding, side, node)->host_ns;
    return row;
}

/* The label of the nodes of VISIT, a pair or a single node. */
static enum tree_label label_of(const struct folding *folding, const struct visit *visit,
                                const name_id names[2])
{
    for (int side = 0; side < 2; side++)
        if (visit->nodes[side] == WORK_NONE) /* fused or split nodes are below a row with that label */
            return folding->match_of[!side][visit->nodes[!side]] != WORK_NONE
                       ? TREE_ALIGNED
                       : (enum tree_label)folding->diff->labels->of[!side][visit->nodes[!side]];
    return names[0] == names[1] ? TREE_ALIGNED : TREE_RENAMED;
}

/* Add the nodes of VISIT below its row, and make theirs the current row. */
static void twins_add_nodes(struct folding *folding, struct visit *visit)
{
    name_id names[2] = { NAME_NONE, NAME_NONE };
    enum work_kind kind = WORK_THREAD;
    uint32_t parent = visit->row;
    for (int side = 0; side < 2; side++) {
        if (visit->nodes[side] == WORK_NONE)
            continue;
        names[side] = twins_node_at(folding, side, visit->nodes[side])->name;
        kind = twins_node_at(folding, side, visit->nodes[side])->kind;
        if (visit->nodes[!side] == WORK_NONE)
            parent = row_of_match(folding, parent, side, visit->nodes[side]);
    }
    visit->row = row_below(folding, parent, kind == WORK_LAUNCHED, label_of(folding, visit, names),
                           folding->names, names);
    for (int side = 0; side < 2; side++) {
        if (visit->nodes[side] == WORK_NONE)
            continue;
        const struct work_node *node = twins_node_at(folding, side, visit->nodes[side]);
        struct twin_side *of = &folding->rows.at[visit->row].row.sides[side];
        of->calls++;
        if (!folding->diff->by_device)
            of->ns += node->host_ns;
        else if (node->kind == WORK_LAUNCHED)
            of->ns += node->device_ns;
    }
}

static void add_children(struct folding *folding, const struct visit *visit)
{
    const struct tree_aligner *aligner = folding->diff->aligner;
    for (int side = 0; side < 2; side++) {
        uint32_t node = visit->nodes[side], other = visit->nodes[!side];
        struct tree_list list = { 0 };
        if (node != WORK_NONE)
            list = tree_children(aligner, side, node);
        for (size_t i = 0; i < list.count; i++) {
            struct visit next = { { WORK_NONE, WORK_NONE }, visit->row };
            uint32_t mate = tree_mate(aligner, side, list.at[i]);
            next.nodes[side] = list.at[i];
            next.nodes[!side] = mate;
            bool is_pair = mate != WORK_NONE,
                 shares = is_pair && twins_node_at(folding, !side, mate)->parent == other;
            if (is_pair && shares && side == 1) /* visited from the first side */
                continue;
            if (is_pair && !shares) {
                if (other != WORK_NONE || folding->seen[next.nodes[0]]) /* visited from its wrapper */
                    continue;
                folding->seen[next.nodes[0]] = true;
            }
            *VEC_PUSH(&folding->waiting) = next;
        }
    }
}

static void add_all(struct folding *folding)
{
    for (int side = 0; side < 2; side++) {
        const struct work_tree *tree = folding->diff->aligner->trees[side];
        for (size_t i = 0; i < tree->threads.count; i++) {
            uint32_t node = tree->threads.at[i].node, mate = tree_mate(folding->diff->aligner, side, node);
            struct visit visit = { .row = WORK_NONE };
            visit.nodes[side] = node;
            visit.nodes[!side] = mate;
            if (side == 0 || mate == WORK_NONE)
                add_children(folding, &visit);
        }
    }
    while (folding->waiting.count) {
        struct visit visit = folding->waiting.at[--folding->waiting.count];
        twins_add_nodes(folding, &visit);
        add_children(folding, &visit);
    }
}

static void find_matches(struct folding *folding)
{
    const struct tree_labels *labels = folding->diff->labels;
    for (int side = 0; side < 2; side++) {
        size_t count = folding->diff->aligner->trees[side]->nodes.count;
        folding->match_of[side] = mem_alloc(mem_times(count + 1, sizeof *folding->match_of[side]));
        memset(folding->match_of[side], 0xff, count * sizeof *folding->match_of[side]);
    }
    for (uint32_t m = 0; m < labels->matches.count; m++) {
        const struct tree_match *match = &labels->matches.at[m];
        if (match->label != TREE_FUSED && match->label != TREE_SPLIT)
            continue;
        for (int side = 0; side < 2; side++)
            for (size_t i = 0; i < match->count[side]; i++)
                folding->match_of[side][labels->matched[side].at[match->first[side] + i]] = m;
    }
}

/* ---- times, choice and order ---- */

static int64_t twins_magnitude(int64_t ns)
{
    return ns < 0 ? -ns : ns;
}

static void add_up(struct folding *folding)
{
    for (size_t i = folding->rows.count; i-- > 0;) { /* children come after their parents */
        struct folded *of = &folding->rows.at[i];
        of->change = of->row.sides[1].ns - of->row.sides[0].ns;
        if (of->weight < twins_magnitude(of->change))
            of->weight = twins_magnitude(of->change);
        if (of->parent == WORK_NONE)
            continue;
        struct folded *parent = &folding->rows.at[of->parent];
        for (int side = 0; side < 2 && folding->diff->by_device; side++)
            parent->row.sides[side].ns += of->row.sides[side].ns;
        if (parent->weight < of->weight)
            parent->weight = of->weight;
    }
}

static const struct key by_weight[] = { DESC_OF(struct folded, weight), ASC_OF(struct folded, order),
                                        KEY_END };

static int64_t longest(const struct folded *of)
{
    return of->row.sides[0].ns > of->row.sides[1].ns ? of->row.sides[0].ns : of->row.sides[1].ns;
}

/* Append the COUNT rows of SORTED, sorted as siblings, to TREE, parents before children. */
static void twins_sort(struct folding *folding, struct folded **sorted, size_t count, struct twin_tree *tree)
{
    size_t all = folding->rows.count;
    SCOPED size_t *next =
        mem_alloc(mem_times(all + 1, sizeof *next)); /* by parent: its next child in SORTED; [all]: on top */
    for (size_t i = 0; i <= all; i++)
        next[i] = count;
    for (size_t i = count; i-- > 0;)
        next[sorted[i]->parent == WORK_NONE ? all : sorted[i]->parent] = i;
    uint32_t at = WORK_NONE; /* the row whose children are being listed */
    bool to_largest = true;  /* the rows so far are the path to the largest change */
    for (;;) {
        size_t *place = &next[at == WORK_NONE ? all : at];
        if (*place < count && sorted[*place]->parent == at) {
            struct folded *of = sorted[(*place)++];
            struct twin_row *row = VEC_PUSH(&tree->rows);
            *row = of->row;
            at = of->order;
            row->open = to_largest && of->weight > 0 && next[at] < count;
            to_largest = row->open;
        } else if (at == WORK_NONE) {
            break;
        } else {
            at = folding->rows.at[at].parent;
        }
    }
}

struct twin_tree *tree_twins(const struct tree_diff *diff, size_t most)
{
    struct twin_tree *tree = mem_zalloc(1, sizeof *tree);
    const struct work_tree *before = diff->aligner->trees[0];
    struct folding folding = { .diff = diff,
                               .names = before->names,
                               .keys = names_open(),
                               .lists = names_open(),
                               .seen = mem_zalloc(before->nodes.count + 1, sizeof *folding.seen),
                               .arena = &tree->arena };
    find_matches(&folding);
    add_all(&folding);
    add_up(&folding);
    size_t all = folding.rows.count, count = all < most ? all : most;
    struct folded **sorted = mem_alloc(mem_times(all + 1, sizeof *sorted));
    for (size_t i = 0; i < all; i++)
        sorted[i] = &folding.rows.at[i];
    SORT_ARRAY(sorted, all, by_weight);          /* parents come before children */
    SORT_BY(sorted, count, i, sorted[i]->order); /* siblings are adjacent, the largest change first */
    SORT_BY(sorted, count, i, ~longest(sorted[i]));
    SORT_BY(sorted, count, i, ~sorted[i]->weight);
    SORT_BY(sorted, count, i, ~twins_magnitude(sorted[i]->change));
    SORT_BY(sorted, count, i, sorted[i]->parent);
    tree->time = diff->by_device ? "GPU time" : "CPU time";
    tree->steps[0] = diff->steps[0];
    tree->steps[1] = diff->steps[1];
    tree->left_out = all - count;
    twins_sort(&folding, sorted, count, tree);
    EACH(free, sorted, folding.match_of[0], folding.match_of[1], folding.seen);
    EACH(VEC_FREE, &folding.rows, &folding.waiting);
    EACH(names_free, folding.keys, folding.lists);
    return tree;
}
