#include "treediff/tree_diff.h"

#include "base/rows.h"
#include <assert.h>
#include <math.h>

/* Limits for short texts: names reported of each end of a deep path, and bytes of a long name. */
enum { PATH_END = 12, NAME_BYTES = 1000 };

/* A path: a name below another path. */
struct path {
    uint32_t parent; /* WORK_NONE: none */
    uint32_t head;   /* itself, or its ancestor at the depth PATH_END - 1 */
    name_id name;
    uint32_t depth;
};

/* Device time of a path in a step. */
struct path_sample {
    uint32_t path, step;
    int side;
    int64_t ns;
};

/* A diff while it is made. */
struct making {
    struct tree_diff *diff;
    const struct names *names;
    VEC_OF(struct path) paths;
    struct names *path_keys; /* parent and name of each path */
    uint32_t *path_of; /* by node of the first side: its path, for operators that were aligned exactly */
    /* by node of the first side: path of the innermost such operator, itself included */
    uint32_t *path_around;
    VEC_OF(struct path_sample) samples;
};

static const struct work_node *tree_diff_node_at(const struct tree_diff *diff, int side, uint32_t node)
{
    return &diff->aligner->trees[side]->nodes.at[node];
}

static void add_sums(struct tree_diff *diff)
{
    for (int side = 0; side < 2; side++) {
        const struct work_tree *tree = diff->aligner->trees[side];
        diff->outside[side] = (int64_t)tree->outside;
        diff->outside_ns[side] = tree->outside_ns;
        diff->steps[side] = tree->steps.count;
        for (size_t n = 0; n < tree->nodes.count; n++) {
            const struct work_node *node = &tree->nodes.at[n];
            struct tree_sum *sum = &diff->sums[diff->labels->of[side][n]];
            if (node->kind == WORK_OPERATOR)
                sum->operators[side]++;
            if (node->kind != WORK_LAUNCHED)
                continue;
            sum->operations[side]++;
            sum->device_ns[side] += node->device_ns;
            diff->device_ns[side] += node->device_ns;
        }
    }
    diff->by_device = diff->aligner->trees[0]->operations || diff->aligner->trees[1]->operations;
}

/* ---- paths ---- */

static uint32_t path_below(struct making *making, uint32_t parent, name_id name)
{
    const uint32_t key[] = { parent, name };
    uint32_t id = names_add(making->path_keys, (const char *)key, sizeof key);
    if (id < making->paths.count)
        return id;
    assert(parent == WORK_NONE || making->paths.at);
    const struct path *above = parent == WORK_NONE ? NULL : &making->paths.at[parent];
    uint32_t depth = above ? above->depth + 1 : 0, head = depth < PATH_END ? id : above->head;
    *VEC_PUSH(&making->paths) = (struct path){ parent, head, name, depth };
    return id;
}

static void add_name(const struct making *making, struct buffer *text, name_id name)
{
    size_t length = names_length(making->names, name);
    buffer_add(text, names_text(making->names, name), length < NAME_BYTES ? length : NAME_BYTES);
    buffer_puts(text, length > NAME_BYTES ? "..." : "");
}

/* Add the names from PATH, the innermost, out to the one that begins at DEPTH. */
static void add_names(const struct making *making, struct buffer *text, uint32_t path, uint32_t depth)
{
    uint32_t ids[2 * PATH_END];
    size_t count = 0;
    for (uint32_t at = path;
         at != WORK_NONE && making->paths.at[at].depth >= depth && count < sizeof ids / sizeof *ids;
         at = making->paths.at[at].parent)
        ids[count++] = at;
    while (count-- > 0) {
        buffer_puts(text, text->count ? " > " : "");
        add_name(making, text, making->paths.at[ids[count]].name);
    }
}

/* "aten::linear > aten::addmm"; "(thread)" for work without a caller. */
static struct text path_text(struct making *making, uint32_t path)
{
    if (path == WORK_NONE)
        return (struct text){ "(thread)", strlen("(thread)") };
    assert(making->paths.at);
    uint32_t levels = making->paths.at[path].depth + 1;
    SCOPED struct buffer text = { 0 };
    if (levels > 2 * PATH_END) {
        add_names(making, &text, making->paths.at[path].head, 0);
        buffer_printf(&text, " > (%u more)", levels - 2 * PATH_END);
        add_names(making, &text, path, levels - PATH_END);
    } else {
        add_names(making, &text, path, 0);
    }
    struct text kept = { arena_strndup(arena_of(making->diff), text.at, text.count), text.count };
    return kept;
}

static struct text name_text(const struct making *making, name_id name)
{
    return (struct text){ names_text(making->names, name), names_length(making->names, name) };
}

static void add_sample(struct making *making, uint32_t path, int side, uint32_t node)
{
    const struct work_node *at = tree_diff_node_at(making->diff, side, node);
    if (at->step == WORK_NONE)
        return;
    int64_t ns = making->diff->by_device ? at->device_ns : at->host_ns;
    *VEC_PUSH(&making->samples) = (struct path_sample){ path, at->step, side, ns };
}

/* Every operator that was aligned exactly, at its path. */
static void add_paths(struct making *making)
{
    struct tree_diff *diff = making->diff;
    const struct work_tree *before = diff->aligner->trees[0];
    making->path_of = mem_alloc(mem_times(before->nodes.count + 1, sizeof *making->path_of));
    making->path_around = mem_alloc(mem_times(before->nodes.count + 1, sizeof *making->path_around));
    for (uint32_t n = 0; n < before->nodes.count; n++) { /* parents come first */
        const struct work_node *a = &before->nodes.at[n];
        making->path_of[n] = WORK_NONE;
        making->path_around[n] = a->parent == WORK_NONE ? WORK_NONE : making->path_around[a->parent];
        if (a->kind != WORK_OPERATOR || diff->labels->of[0][n] != TREE_ALIGNED)
            continue;
        uint32_t mate = tree_mate(diff->aligner, 0, n),
                 path = path_below(making, making->path_of[a->parent], a->name);
        const struct work_node *b = tree_diff_node_at(diff, 1, mate);
        making->path_of[n] = making->path_around[n] = path;
        if (path == diff->paths.count)
            *VEC_PUSH(&diff->paths) =
                (struct tree_path_row){ .id = path, .parent = making->path_of[a->parent] };
        struct tree_path_row *row = &diff->paths.at[path];
        row->aligned++;
        row->host_before_ns += a->host_ns;
        row->host_after_ns += b->host_ns;
        row->device_before_ns += a->device_ns;
        row->device_after_ns += b->device_ns;
        add_sample(making, path, 0, n);
        add_sample(making, path, 1, mate);
    }
    for (uint32_t i = 0; i < diff->paths.count; i++) {
        struct tree_path_row *row = &diff->paths.at[i];
        row->path = path_text(making, i);
        row->name = name_text(making, making->paths.at[i].name);
        row->depth = making->paths.at[i].depth;
        row->host_change_ns = row->host_after_ns - row->host_before_ns;
        row->device_change_ns = row->device_after_ns - row->device_before_ns;
    }
}

static int64_t change_of(const struct tree_diff *diff, const struct tree_path_row *row)
{
    return diff->by_device ? row->device_change_ns : row->host_change_ns;
}

/* A row whose change equals that of one row below it is redundant. The host time of an operator includes its own time,
 * so such rows are rare without devices. */
static void fold_paths(struct tree_diff *diff)
{
    for (size_t i = 0; i < diff->paths.count; i++) { /* still sorted by path: parents come first */
        const struct tree_path_row *row = &diff->paths.at[i];
        if (row->parent == WORK_NONE)
            continue;
        struct tree_path_row *parent = &diff->paths.at[row->parent];
        if (change_of(diff, row) && change_of(diff, row) == change_of(diff, parent))
            parent->folded = true;
    }
}

/* ---- verdicts ---- */

static const struct key by_path[] = { ASC(struct path_sample, path), ASC(struct path_sample, side),
                                      ASC(struct path_sample, step), KEY_END };

/* The samples of PATH on SIDE from *AT on, step by step, into LISTED; returns how many. */
static size_t collect_samples(const struct making *making, size_t *at, uint32_t path, int side,
                              struct run_step *listed)
{
    size_t count = 0;
    for (; *at < making->samples.count; (*at)++) {
        const struct path_sample *sample = &making->samples.at[*at];
        if (sample->path != path || sample->side != side)
            break;
        if (count && listed[count - 1].place == sample->step)
            listed[count - 1].value += (double)sample->ns;
        else
            listed[count++] = (struct run_step){ sample->step, (double)sample->ns };
    }
    return count;
}

/* One step gives no spread. */
enum { FEWEST_STEPS = 2 };

/* Judge all paths together, by the steps of both sides. */
static void judge_paths(struct making *making, int64_t min_change_ns)
{
    struct tree_diff *diff = making->diff;
    size_t count = diff->paths.count, at = 0;
    if (diff->steps[0] < FEWEST_STEPS || diff->steps[1] < FEWEST_STEPS || !count)
        return;
    SORT(&making->samples, by_path);
    SCOPED struct finding *findings = mem_alloc(mem_times(count, sizeof *findings));
    struct finding **all = mem_alloc(mem_times(count, sizeof *all));
    size_t most = diff->steps[0] > diff->steps[1] ? diff->steps[0] : diff->steps[1];
    SCOPED struct run_step *listed = mem_alloc(mem_times(most + 1, sizeof *listed));
    for (uint32_t path = 0; path < count; path++) {
        struct sampled sampled = { .present = { true, true }, .whole = { NAN, NAN } };
        struct run_level runs[2]; /* each side is one run */
        for (int side = 0; side < 2; side++) {
            size_t steps = collect_samples(making, &at, path, side, listed);
            runs[side] = run_level_of(listed, steps, diff->steps[side], 1);
            sampled.runs[side] = &runs[side];
            sampled.run_count[side] = 1;
        }
        findings[path] = finding_of(&sampled, NULL);
        all[path] = &findings[path];
    }
    findings_judge(all, count, (double)min_change_ns);
    for (size_t path = 0; path < count; path++) {
        const char *name = verdict_name(findings[path].verdict, TABLE_NS);
        diff->paths.at[path].verdict = (struct text){ name, strlen(name) };
    }
    free(all);
}

/* ---- unaligned nodes ---- */

/* One subtree or one match, with the keys of its row. */
struct piece {
    uint32_t below; /* path */
    int side;       /* TREE_LABELS of matches: none */
    enum tree_label label;
    enum work_kind kind;
    name_id name, other; /* of a match: its names before and after, in `lists` */
    int64_t nodes, device_ns[2];
};

typedef VEC_OF(struct piece) pieces;

static const struct key by_piece[] = { ASC(struct piece, side),
                                       ASC(struct piece, below),
                                       ASC(struct piece, kind),
                                       ASC(struct piece, name),
                                       ASC(struct piece, other),
                                       ASC(struct piece, label),
                                       KEY_END };

static void add_rest(struct making *making)
{
    struct tree_diff *diff = making->diff;
    SCOPED pieces found = { 0 };
    for (int side = 0; side < 2; side++) {
        const struct work_tree *tree = diff->aligner->trees[side];
        const uint8_t *labels = diff->labels->of[side];
        for (uint32_t n = 0; n < tree->nodes.count; n++) {
            const struct work_node *node = &tree->nodes.at[n];
            if (labels[n] == TREE_ALIGNED || node->kind == WORK_THREAD)
                continue;
            bool is_root =
                labels[node->parent] == TREE_ALIGNED || tree->nodes.at[node->parent].kind == WORK_THREAD;
            if (!is_root)
                continue;
            uint32_t parent = side ? tree_mate(diff->aligner, 1, node->parent) : node->parent;
            uint32_t below = parent == WORK_NONE ? WORK_NONE : making->path_of[parent];
            *VEC_PUSH(&found) =
                (struct piece){ below, side,       (enum tree_label)labels[n], node->kind, node->name,
                                0,     node->size, { node->device_ns, 0 } };
        }
    }
    SORT(&found, by_piece);
    FOR_GROUPS(&found, by_piece, i, end) {
        const struct piece *piece = &found.at[i];
        const char *side = piece->side ? "after" : "before", *label = tree_label_name(piece->label);
        const char *kind = piece->kind == WORK_LAUNCHED ? "work" : "operator";
        struct tree_rest_row row = { .side = { side, strlen(side) },
                                     .below = path_text(making, piece->below),
                                     .kind = { kind, strlen(kind) },
                                     .name = name_text(making, piece->name),
                                     .label = { label, strlen(label) } };
        for (size_t k = i; k < end; k++) {
            row.count++;
            row.nodes += found.at[k].nodes;
            row.device_ns += found.at[k].device_ns[0];
        }
        *VEC_PUSH(&diff->rest) = row;
    }
}

/* Longer lists are shortened to this many names and the number of the rest. */
enum { MOST_NAMES = 8 };

/* The names of one side of MATCH, as an id of LISTS; adds its device time to *NS. */
static name_id tree_diff_match_names(const struct making *making, const struct tree_match *match, int side,
                                     struct names *lists, int64_t *ns)
{
    SCOPED struct buffer text = { 0 };
    for (size_t i = 0; i < match->count[side]; i++) {
        uint32_t id = making->diff->labels->matched[side].at[match->first[side] + i];
        const struct work_node *node = tree_diff_node_at(making->diff, side, id);
        *ns += node->device_ns;
        if (i < MOST_NAMES) {
            buffer_puts(&text, i ? ", " : "");
            add_name(making, &text, node->name);
        }
    }
    if (match->count[side] > MOST_NAMES)
        buffer_printf(&text, " and %zu more", match->count[side] - MOST_NAMES);
    return names_add(lists, text.at ? text.at : "", text.count);
}

static int64_t *matches_of(struct tree_diff *diff, enum tree_label label)
{
    return label == TREE_WRAPPED   ? &diff->wrapped
           : label == TREE_RENAMED ? &diff->renamed
           : label == TREE_FUSED   ? &diff->fused
                                   : &diff->split;
}

static void add_matches(struct making *making)
{
    struct tree_diff *diff = making->diff;
    const struct tree_labels *labels = diff->labels;
    SCOPED_OBJECT struct names *lists = names_open();
    SCOPED pieces found = { 0 };
    FOR_EACH(match, &labels->matches) {
        struct piece piece = { .below = making->path_around[match->below.before], .label = match->label };
        piece.name = tree_diff_match_names(making, match, 0, lists, &piece.device_ns[0]);
        piece.other = tree_diff_match_names(making, match, 1, lists, &piece.device_ns[1]);
        *VEC_PUSH(&found) = piece;
        ++*matches_of(diff, match->label);
    }
    SORT(&found, by_piece);
    FOR_GROUPS(&found, by_piece, i, end) {
        const struct piece *piece = &found.at[i];
        const char *label = tree_label_name(piece->label);
        struct tree_match_row row = { .label = { label, strlen(label) },
                                      .below = path_text(making, piece->below) };
        struct text *texts[2] = { &row.before, &row.after };
        const name_id ids[2] = { piece->name, piece->other };
        for (int side = 0; side < 2; side++) {
            size_t length = names_length(lists, ids[side]);
            *texts[side] =
                (struct text){ arena_strndup(arena_of(diff), names_text(lists, ids[side]), length), length };
        }
        for (size_t k = i; k < end; k++) {
            row.count++;
            row.device_before_ns += found.at[k].device_ns[0];
            row.device_after_ns += found.at[k].device_ns[1];
        }
        row.device_change_ns = row.device_after_ns - row.device_before_ns;
        *VEC_PUSH(&diff->matches) = row;
    }
}

/* ---- order ---- */

static const struct key by_change[] = {
    DESC_MAGNITUDE(struct tree_path_row, device_change_ns),
    /* all the same without devices */ DESC_MAGNITUDE(struct tree_path_row, host_change_ns),
    ASC(struct tree_path_row, path.at), KEY_END
};

static const struct key by_time[] = { DESC(struct tree_rest_row, device_ns),
                                      DESC(struct tree_rest_row, count), ASC(struct tree_rest_row, name.at),
                                      ASC(struct tree_rest_row, below.at), KEY_END };

static const struct key by_change_of_match[] = { DESC_MAGNITUDE(struct tree_match_row, device_change_ns),
                                                 ASC(struct tree_match_row, before.at),
                                                 ASC(struct tree_match_row, after.at),
                                                 ASC(struct tree_match_row, below.at), KEY_END };

static void sort_rows(struct tree_diff *diff)
{
    SORT(&diff->paths, by_change);
    SORT(&diff->rest, by_time);
    SORT(&diff->matches, by_change_of_match);
}

struct tree_diff *tree_diff_open(struct work_tree *before, struct work_tree *after, int64_t min_change_ns)
{
    struct tree_diff *diff = arena_open(sizeof *diff);
    ARENA_OWNS(arena_of(diff), &diff->paths, &diff->rest, &diff->matches);
    work_numbers_set(before, after);
    diff->aligner = arena_hold(arena_of(diff), tree_aligner_open(before, after));
    tree_align_all(diff->aligner);
    diff->labels = arena_hold(arena_of(diff), tree_labels_open(diff->aligner));
    diff->cut_lists = diff->aligner->cut_lists;
    struct making making = { .diff = diff, .names = before->names, .path_keys = names_open() };
    add_sums(diff);
    add_paths(&making);
    fold_paths(diff);
    judge_paths(&making, min_change_ns);
    add_rest(&making);
    add_matches(&making);
    sort_rows(diff);
    EACH(VEC_FREE, &making.paths, &making.samples);
    EACH(free, making.path_of, making.path_around);
    names_free(making.path_keys);
    return diff;
}
