/* Aligned pairs are visited from the top. The unaligned nodes between the children of a pair are holes; each
 * phase pairs some of them, in order, and leaves smaller holes to the next phase. New pairs are visited like
 * any other. */
#include "treediff/tree_diff.h"

#include "diff/renames.h"

const char *tree_label_name(enum tree_label label)
{
    static const char *const names[TREE_LABELS] = {
        [TREE_ALIGNED] = "aligned", [TREE_WRAPPED] = "wrapped", [TREE_RENAMED] = "renamed",
        [TREE_FUSED] = "fused",     [TREE_SPLIT] = "split",     [TREE_GONE] = "gone",
        [TREE_NEW] = "new",
    };
    return names[label];
}

/* A hole with more pairs of nodes to examine than this is not processed. */
enum { LARGEST_HOLE = 1000000 };

/* A hole, the unaligned nodes at one place: nodes of either side, in labeling->left. */
struct hole {
    size_t first[2], count[2];
};

typedef VEC_OF(struct hole) holes;

/* An aligned pair to be visited. */
struct visit {
    struct tree_pair pair;
    enum tree_label label;
};

struct labeling {
    struct tree_labels *labels;
    struct tree_aligner *aligner;
    VEC_OF(struct visit) visits;
    struct tree_pair below;   /* the pair whose children are examined */
    VEC_OF(uint32_t) left[2]; /* nodes of holes */
    holes holes, smaller;
    struct names *masks;           /* masked names (renames.h) */
    name_id *masked[RENAME_KINDS]; /* by name; NAME_NONE: not determined yet */
};

static const struct work_node *labels_node_at(const struct labeling *labeling, int side, uint32_t node)
{
    return &labeling->aligner->trees[side]->nodes.at[node];
}

static struct tree_list list_of(const struct labeling *labeling, const struct hole *hole, int side)
{
    return (struct tree_list){ labeling->left[side].at + hole->first[side], hole->count[side] };
}

static uint32_t left_at(const struct labeling *labeling, const struct hole *hole, int side, size_t i)
{
    return labeling->left[side].at[hole->first[side] + i];
}

static bool is_pair(const struct labeling *labeling, int side, uint32_t node)
{
    return tree_mate(labeling->aligner, side, node) != WORK_NONE;
}

/* ---- labels ---- */

static void label_subtree(struct labeling *labeling, int side, uint32_t root, enum tree_label label)
{
    SCOPED VEC_OF(uint32_t) waiting = { 0 };
    *VEC_PUSH(&waiting) = root;
    while (waiting.count) {
        uint32_t node = waiting.at[--waiting.count];
        labeling->labels->of[side][node] = (uint8_t)label;
        struct tree_list children = tree_children(labeling->aligner, side, node);
        for (size_t i = 0; i < children.count; i++)
            *VEC_PUSH(&waiting) = children.at[i];
    }
}

static void visit_later(struct labeling *labeling, uint32_t before, uint32_t after, enum tree_label label)
{
    *VEC_PUSH(&labeling->visits) = (struct visit){ { before, after }, label };
}

static struct tree_match *add_match(struct labeling *labeling, enum tree_label label)
{
    struct tree_labels *labels = labeling->labels;
    struct tree_match *match = VEC_PUSH(&labels->matches);
    *match = (struct tree_match){ .label = label, .below = labeling->below };
    for (int side = 0; side < 2; side++)
        match->first[side] = labels->matched[side].count;
    return match;
}

static void add_matched(struct labeling *labeling, struct tree_match *match, int side, uint32_t node)
{
    *VEC_PUSH(&labeling->labels->matched[side]) = node;
    match->count[side]++;
}

static void rename_pair(struct labeling *labeling, uint32_t before, uint32_t after)
{
    struct tree_match *match = add_match(labeling, TREE_RENAMED);
    add_matched(labeling, match, 0, before);
    add_matched(labeling, match, 1, after);
    tree_align_pair(labeling->aligner, before, after);
    visit_later(labeling, before, after, TREE_RENAMED);
}

/* ---- holes ---- */

static struct hole open_hole(const struct labeling *labeling)
{
    return (struct hole){ .first = { labeling->left[0].count, labeling->left[1].count } };
}

static void add_to_hole(struct labeling *labeling, struct hole *hole, int side, uint32_t node)
{
    *VEC_PUSH(&labeling->left[side]) = node;
    hole->count[side]++;
}

static void keep_hole(holes *to, const struct hole *hole)
{
    if (hole->count[0] || hole->count[1])
        *VEC_PUSH(to) = *hole;
}

/* The holes between the children of the pair that is visited, and a visit to each pair of children. */
static void find_holes(struct labeling *labeling, enum tree_label label)
{
    struct tree_list lists[2] = { tree_children(labeling->aligner, 0, labeling->below.before),
                                  tree_children(labeling->aligner, 1, labeling->below.after) };
    size_t at[2] = { 0, 0 };
    while (at[0] < lists[0].count || at[1] < lists[1].count) {
        struct hole hole = open_hole(labeling);
        for (int side = 0; side < 2; side++)
            for (; at[side] < lists[side].count && !is_pair(labeling, side, lists[side].at[at[side]]);
                 at[side]++)
                add_to_hole(labeling, &hole, side, lists[side].at[at[side]]);
        keep_hole(&labeling->holes, &hole);
        if (at[0] < lists[0].count && at[1] < lists[1].count)
            visit_later(labeling, lists[0].at[at[0]], lists[1].at[at[1]], label);
        at[0]++;
        at[1]++;
    }
}

/* Add the parts of HOLE between PAIRS, places that ascend on both sides, to the smaller holes. */
static void split_hole(struct labeling *labeling, const struct hole *hole, const struct tree_pair *pairs,
                       size_t count)
{
    size_t a = 0, b = 0;
    for (size_t i = 0; i <= count; i++) {
        size_t to_a = i < count ? pairs[i].before : hole->count[0],
               to_b = i < count ? pairs[i].after : hole->count[1];
        struct hole part = { { hole->first[0] + a, hole->first[1] + b }, { to_a - a, to_b - b } };
        keep_hole(&labeling->smaller, &part);
        a = to_a + 1;
        b = to_b + 1;
    }
}

static void collect_smaller(struct labeling *labeling)
{
    holes taken = labeling->holes;
    labeling->holes = labeling->smaller;
    labeling->smaller = taken;
    labeling->smaller.count = 0;
}

/* ---- wrapped ---- */

struct wrapper {
    int side;
    size_t place;   /* in the hole */
    uint64_t value; /* number of nodes aligned by its children; 0: none */
};

static uint64_t wrapper_value(struct labeling *labeling, const struct hole *hole, int side, uint32_t node)
{
    struct tree_list children = tree_children(labeling->aligner, side, node);
    struct tree_list other = list_of(labeling, hole, 1 - side);
    return side ? tree_align_value(labeling->aligner, other, children)
                : tree_align_value(labeling->aligner, children, other);
}

/* The operator of HOLE whose children can be aligned with the most nodes of the other side. */
static struct wrapper find_wrapper(struct labeling *labeling, const struct hole *hole)
{
    struct wrapper best = { 0 };
    uint64_t cells = 0;
    for (int side = 1; side >= 0; side--) {
        for (size_t i = 0; i < hole->count[side] && hole->count[1 - side]; i++) {
            uint32_t node = left_at(labeling, hole, side, i);
            cells += (uint64_t)labels_node_at(labeling, side, node)->count * hole->count[1 - side];
            if (cells > LARGEST_HOLE || labeling->aligner->budget == 0) {
                labeling->aligner->cut_lists++;
                return best;
            }
            uint64_t value =
                labels_node_at(labeling, side, node)->count ? wrapper_value(labeling, hole, side, node) : 0;
            if (value > best.value)
                best = (struct wrapper){ side, i, value };
        }
    }
    return best;
}

/* Append a hole with the nodes FROM..TO of LISTS to the waiting holes. */
static void add_part(struct labeling *labeling, const struct tree_list lists[2], const size_t from[2],
                     const size_t to[2])
{
    struct hole hole = open_hole(labeling);
    for (int side = 0; side < 2; side++)
        for (size_t i = from[side]; i < to[side]; i++)
            add_to_hole(labeling, &hole, side, lists[side].at[i]);
    keep_hole(&labeling->holes, &hole);
}

/* Append the holes between PAIRS of LISTS, from FROM to TO. */
static void add_parts_between(struct labeling *labeling, const struct tree_list lists[2],
                              const tree_pairs *pairs, size_t from[2], const size_t to[2])
{
    for (size_t i = 0; i < pairs->count; i++) {
        size_t ends[2] = { from[0], from[1] };
        while (lists[0].at[ends[0]] != pairs->at[i].before)
            ends[0]++;
        while (lists[1].at[ends[1]] != pairs->at[i].after)
            ends[1]++;
        add_part(labeling, lists, from, ends);
        from[0] = ends[0] + 1;
        from[1] = ends[1] + 1;
    }
    add_part(labeling, lists, from, to);
}

/* The places of LIST, of SIDE, around PAIRS. */
static void find_span(struct tree_list list, int side, const tree_pairs *pairs, size_t *first, size_t *end)
{
    uint32_t one = side ? pairs->at[0].after : pairs->at[0].before;
    const struct tree_pair *last_pair = &pairs->at[pairs->count - 1];
    uint32_t last = side ? last_pair->after : last_pair->before;
    for (*first = 0; list.at[*first] != one;)
        (*first)++;
    for (*end = *first; list.at[*end] != last;)
        (*end)++;
    (*end)++;
}

/* Align the children of WRAPPER, in HOLE, with the nodes OUTSIDE it on the other side; the rest makes holes. */
static void unwrap(struct labeling *labeling, const struct hole *hole, struct wrapper wrapper,
                   struct tree_list siblings, struct tree_list outside)
{
    int side = wrapper.side, other = 1 - side;
    uint32_t node = siblings.at[wrapper.place];
    struct tree_list lists[2];
    lists[side] = tree_children(labeling->aligner, side, node);
    lists[other] = outside;
    SCOPED tree_pairs pairs = { 0 };
    tree_align_lists(labeling->aligner, lists[0], lists[1], &pairs);
    labeling->labels->of[side][node] = TREE_WRAPPED;
    struct tree_match *match = add_match(labeling, TREE_WRAPPED);
    match->wrapper = side;
    add_matched(labeling, match, side, node);
    for (size_t i = 0; i < pairs.count; i++) {
        add_matched(labeling, match, other, side ? pairs.at[i].before : pairs.at[i].after);
        visit_later(labeling, pairs.at[i].before, pairs.at[i].after, TREE_WRAPPED);
    }
    size_t first, end, from[2] = { 0, 0 }, to[2];
    find_span(outside, other, &pairs, &first, &end);
    bool is_first = wrapper.place == 0, is_last = wrapper.place + 1 == hole->count[side];
    to[side] = lists[side].count;
    from[other] = is_first ? 0 : first; /* without siblings of the wrapper, the rest belongs to its inside */
    to[other] = is_last ? outside.count : end;
    const size_t inner_first = from[other], inner_end = to[other];
    add_parts_between(labeling, lists, &pairs, from, to);
    lists[side] = siblings;
    size_t start[2], stop[2];
    start[0] = start[1] = 0;
    stop[side] = wrapper.place;
    stop[other] = inner_first;
    add_part(labeling, lists, start, stop);
    start[side] = wrapper.place + 1;
    start[other] = inner_end;
    stop[side] = siblings.count;
    stop[other] = outside.count;
    add_part(labeling, lists, start, stop);
}

static uint32_t *copy_of(struct tree_list list)
{
    uint32_t *copy = mem_alloc(mem_times(list.count + 1, sizeof *copy));
    memcpy(copy, list.at, list.count * sizeof *copy);
    return copy;
}

/* Repeat until no hole has a wrapper. */
static void find_wrapped(struct labeling *labeling)
{
    while (labeling->holes.count) {
        struct hole hole = labeling->holes.at[--labeling->holes.count];
        struct wrapper wrapper = find_wrapper(labeling, &hole);
        if (wrapper.value == 0) {
            keep_hole(&labeling->smaller, &hole);
            continue;
        }
        /* holes are added to labeling->left, which may move */
        struct tree_list siblings = list_of(labeling, &hole, wrapper.side);
        struct tree_list outside = list_of(labeling, &hole, 1 - wrapper.side);
        SCOPED uint32_t *inside_copy = copy_of(siblings), *outside_copy = copy_of(outside);
        siblings.at = inside_copy;
        outside.at = outside_copy;
        unwrap(labeling, &hole, wrapper, siblings, outside);
    }
    collect_smaller(labeling);
}

/* ---- renamed ---- */

/* The only device operation of SIDE in all holes: its hole and place; false if there are none or several. */
static bool find_only_work(const struct labeling *labeling, int side, size_t *in, size_t *at)
{
    size_t found = 0;
    for (size_t h = 0; h < labeling->holes.count; h++) {
        const struct hole *hole = &labeling->holes.at[h];
        for (size_t i = 0; i < hole->count[side]; i++) {
            if (labels_node_at(labeling, side, left_at(labeling, hole, side, i))->kind != WORK_LAUNCHED)
                continue;
            *in = h;
            *at = i;
            found++;
        }
    }
    return found == 1;
}

static void remove_from_hole(struct labeling *labeling, size_t h, int side, size_t at)
{
    struct hole *hole = &labeling->holes.at[h];
    uint32_t *nodes = labeling->left[side].at + hole->first[side];
    memmove(nodes + at, nodes + at + 1, (hole->count[side] - at - 1) * sizeof *nodes);
    hole->count[side]--;
}

/* One device operation before and one after below an operator are different kernels for the same purpose. */
static void rename_only_work(struct labeling *labeling)
{
    size_t in[2], at[2];
    if (labels_node_at(labeling, 0, labeling->below.before)->kind != WORK_OPERATOR ||
        !find_only_work(labeling, 0, &in[0], &at[0]) || !find_only_work(labeling, 1, &in[1], &at[1]))
        return;
    rename_pair(labeling, left_at(labeling, &labeling->holes.at[in[0]], 0, at[0]),
                left_at(labeling, &labeling->holes.at[in[1]], 1, at[1]));
    if (in[0] != in[1]) {
        remove_from_hole(labeling, in[0], 0, at[0]);
        remove_from_hole(labeling, in[1], 1, at[1]);
        return;
    }
    for (size_t h = 0; h < labeling->holes.count; h++) {
        struct tree_pair place = { (uint32_t)at[0], (uint32_t)at[1] };
        split_hole(labeling, &labeling->holes.at[h], &place, h == in[0]);
    }
    collect_smaller(labeling);
}

/* The name of NODE without the parts that KIND ignores. */
static name_id mask_of(struct labeling *labeling, int side, uint32_t node, enum rename_kind kind)
{
    const struct names *names = labeling->aligner->trees[0]->names;
    name_id name = labels_node_at(labeling, side, node)->name;
    if (!labeling->masked[kind]) {
        size_t size = mem_times(names_count(names) + 1, sizeof **labeling->masked);
        labeling->masked[kind] = mem_alloc(size);
        memset(labeling->masked[kind], 0xff, size);
    }
    name_id *mask = &labeling->masked[kind][name];
    if (*mask == NAME_NONE) {
        SCOPED struct buffer text = { 0 };
        rename_mask(&text, names_text(names, name), names_length(names, name), kind);
        *mask = names_add(labeling->masks, text.at ? text.at : "", text.count);
    }
    return *mask;
}

static bool have_equal_children(const struct labeling *labeling, uint32_t before, uint32_t after)
{
    struct tree_list a = tree_children(labeling->aligner, 0, before),
                     b = tree_children(labeling->aligner, 1, after);
    if (a.count == 0 || a.count != b.count)
        return false;
    return !ANY(i, a.count,
                labels_node_at(labeling, 0, a.at[i])->number != labels_node_at(labeling, 1, b.at[i])->number);
}

/* Is AFTER a renamed BEFORE? KIND RENAME_KINDS: compare their children. */
static bool is_renamed(struct labeling *labeling, uint32_t before, uint32_t after, enum rename_kind kind)
{
    if (labels_node_at(labeling, 0, before)->kind != labels_node_at(labeling, 1, after)->kind)
        return false;
    return kind == RENAME_KINDS ? have_equal_children(labeling, before, after)
                                : mask_of(labeling, 0, before, kind) == mask_of(labeling, 1, after, kind);
}

/* All template arguments are ignored: only if each side has a single such name. */
static bool is_sure(struct labeling *labeling, const struct hole *hole, uint32_t before,
                    enum rename_kind kind)
{
    if (kind != RENAME_TEMPLATE)
        return true;
    for (int side = 0; side < 2; side++) {
        size_t alike = SUM(size_t, i, hole->count[side],
                           mask_of(labeling, side, left_at(labeling, hole, side, i), kind) ==
                               mask_of(labeling, 0, before, kind));
        if (alike != 1)
            return false;
    }
    return true;
}

/* Pair renamed nodes in HOLE, in order; the rest makes smaller holes. */
static void rename_in(struct labeling *labeling, const struct hole *hole, enum rename_kind kind)
{
    SCOPED tree_pairs places = { 0 };
    bool is_too_large = hole->count[0] * (uint64_t)hole->count[1] > LARGEST_HOLE;
    labeling->aligner->cut_lists += is_too_large;
    size_t next = 0;
    for (size_t i = 0; i < hole->count[0] && !is_too_large; i++) {
        uint32_t before = left_at(labeling, hole, 0, i);
        size_t j = next;
        while (j < hole->count[1] && !is_renamed(labeling, before, left_at(labeling, hole, 1, j), kind))
            j++;
        if (j == hole->count[1] || !is_sure(labeling, hole, before, kind))
            continue;
        *VEC_PUSH(&places) = (struct tree_pair){ (uint32_t)i, (uint32_t)j };
        next = j + 1;
    }
    for (size_t i = 0; i < places.count; i++)
        rename_pair(labeling, left_at(labeling, hole, 0, places.at[i].before),
                    left_at(labeling, hole, 1, places.at[i].after));
    split_hole(labeling, hole, places.at, places.count);
}

static void find_renamed(struct labeling *labeling)
{
    rename_only_work(labeling);
    for (enum rename_kind kind = RENAME_NUMBERS; kind <= RENAME_KINDS; kind++) {
        for (size_t h = 0; h < labeling->holes.count; h++) {
            struct hole hole = labeling->holes.at[h];
            rename_in(labeling, &hole, kind);
        }
        collect_smaller(labeling);
    }
}

/* ---- fused, split, gone, new ---- */

static size_t count_with_work(const struct labeling *labeling, const struct hole *hole, int side)
{
    return SUM(size_t, i, hole->count[side],
               labels_node_at(labeling, side, left_at(labeling, hole, side, i))->operations > 0);
}

static void label_rest(struct labeling *labeling, const struct hole *hole)
{
    size_t with_work[2] = { count_with_work(labeling, hole, 0), count_with_work(labeling, hole, 1) };
    bool is_group = with_work[0] && with_work[1] && with_work[0] != with_work[1];
    enum tree_label label = with_work[0] > with_work[1] ? TREE_FUSED : TREE_SPLIT;
    struct tree_match *match = is_group ? add_match(labeling, label) : NULL;
    for (int side = 0; side < 2; side++) {
        for (size_t i = 0; i < hole->count[side]; i++) {
            uint32_t node = left_at(labeling, hole, side, i);
            bool is_in_group = match && labels_node_at(labeling, side, node)->operations;
            label_subtree(labeling, side, node, is_in_group ? label : side ? TREE_NEW : TREE_GONE);
            if (is_in_group)
                add_matched(labeling, match, side, node);
        }
    }
}

static void visit(struct labeling *labeling, const struct visit *at)
{
    labeling->labels->of[0][at->pair.before] = labeling->labels->of[1][at->pair.after] = (uint8_t)at->label;
    labeling->below = at->pair;
    labeling->holes.count = labeling->left[0].count = labeling->left[1].count = 0;
    find_holes(labeling, at->label);
    if (labeling->holes.count == 0)
        return;
    find_wrapped(labeling);
    find_renamed(labeling);
    for (size_t h = 0; h < labeling->holes.count; h++)
        label_rest(labeling, &labeling->holes.at[h]);
}

/* Threads that the other side lacks. */
static void label_lonely_threads(struct labeling *labeling)
{
    for (int side = 0; side < 2; side++) {
        const struct work_tree *tree = labeling->aligner->trees[side];
        for (size_t t = 0; t < tree->threads.count; t++)
            if (!is_pair(labeling, side, tree->threads.at[t].node))
                label_subtree(labeling, side, tree->threads.at[t].node, side ? TREE_NEW : TREE_GONE);
    }
}

struct tree_labels *tree_labels_open(struct tree_aligner *aligner)
{
    struct tree_labels *labels = arena_open(sizeof *labels);
    ARENA_OWNS(arena_of(labels), &labels->matches, &labels->matched[0], &labels->matched[1]);
    for (int side = 0; side < 2; side++)
        labels->of[side] = arena_zalloc(arena_of(labels), aligner->trees[side]->nodes.count + 1, 1);
    struct labeling labeling = { .labels = labels, .aligner = aligner, .masks = names_open() };
    const struct work_tree *before = aligner->trees[0];
    for (size_t t = before->threads.count; t-- > 0;) {
        uint32_t node = before->threads.at[t].node;
        if (tree_mate(aligner, 0, node) != WORK_NONE)
            visit_later(&labeling, node, tree_mate(aligner, 0, node), TREE_ALIGNED);
    }
    label_lonely_threads(&labeling);
    while (labeling.visits.count) {
        struct visit next = labeling.visits.at[--labeling.visits.count];
        visit(&labeling, &next);
    }
    EACH(VEC_FREE, &labeling.visits, &labeling.holes, &labeling.smaller, &labeling.left[0],
         &labeling.left[1]);
    for (int kind = 0; kind < RENAME_KINDS; kind++)
        free(labeling.masked[kind]);
    names_free(labeling.masks);
    return labels;
}
