/* test_tree_diff.c - treediff/tree_diff.h: which call of one side is which of the other. */
#include "tests/unit/drawn.h"

#include "treediff/tree_diff.h"

static const struct trace_wants *drawn_wants = &(const struct trace_wants){ .args = WANT(CORRELATION) };

/* Traces are written as text: an operator is "name[...]", an operation "name:duration", apart by blanks. */
struct writing {
    const char *at;
    int64_t now, device, correlation;
};

static void write_nodes(struct writing *writing);

static void write_node(struct writing *writing)
{
    char name[64];
    size_t length = strcspn(writing->at, "[]: ");
    snprintf(name, sizeof name, "%.*s", (int)length, writing->at);
    writing->at += length;
    if (*writing->at == ':') {
        int64_t duration = strtoll(writing->at + 1, (char **)(uintptr_t)&writing->at, 10);
        draw_host("cuda_runtime", "cudaLaunchKernel", 1, writing->now, 1);
        draw_arg(ARG_CORRELATION, ++writing->correlation);
        draw_event("kernel", name, 0, 7, writing->device, duration);
        draw_arg(ARG_CORRELATION, writing->correlation);
        writing->now += 2;
        writing->device += duration;
        return;
    }
    int64_t start = writing->now++;
    writing->at++;
    write_nodes(writing);
    writing->at++;
    writing->now++;
    draw_host("cpu_op", name, 1, start, writing->now - start);
    writing->now++;
}

static void write_nodes(struct writing *writing)
{
    while (*writing->at && *writing->at != ']') {
        while (*writing->at == ' ')
            writing->at++;
        if (*writing->at && *writing->at != ']')
            write_node(writing);
    }
}

static struct trace *trace_of(const char *text)
{
    struct writing writing = { .at = text, .device = 100000 };
    write_nodes(&writing);
    return drawn();
}

/* Both sides and what changed. */
struct compared {
    struct names *names;
    struct work_tree *trees[2];
    struct tree_diff *diff;
};

static struct compared compare(const char *before, const char *after)
{
    struct compared compared = { .names = names_open() };
    const char *const texts[2] = { before, after };
    for (int side = 0; side < 2; side++) {
        struct trace *trace = trace_of(texts[side]);
        compared.trees[side] = work_tree_open(compared.names);
        assert_true(work_tree_add(compared.trees[side], trace, &(struct work_tree_options){ 0 }, NULL));
        work_tree_finish(compared.trees[side]);
    }
    compared.diff = tree_diff_open(compared.trees[0], compared.trees[1], 0);
    return compared;
}

static void release(struct compared *compared)
{
    arena_free(compared->diff);
    arena_free(compared->trees[0]);
    arena_free(compared->trees[1]);
    names_free(compared->names);
}

static void assert_aligned(const struct compared *compared, int64_t operators, int64_t operations)
{
    const struct tree_sum *sum = &compared->diff->sums[TREE_ALIGNED];
    assert_int_equal(sum->operators[0], operators);
    assert_int_equal(sum->operators[1], operators);
    assert_int_equal(sum->operations[0], operations);
    assert_int_equal(sum->operations[1], operations);
}

/* Side by side no node is lost or there twice, and each row is as long as what stands right below it, and its own work. */
static void assert_twins_add_up(const struct tree_diff *diff)
{
    struct twin_tree *tree = tree_twins(diff, SIZE_MAX);
    for (int side = 0; side < 2; side++) {
        int64_t operators = 0, operations = 0, ns = 0;
        for (size_t i = 0; i < tree->rows.count; i++) {
            const struct twin_row *row = &tree->rows.at[i];
            bool is_match = row->label && !row->is_work && i + 1 < tree->rows.count &&
                            (strcmp(row->label, "fused") == 0 || strcmp(row->label, "split") == 0);
            *(row->is_work ? &operations : &operators) += is_match ? 0 : row->sides[side].calls;
            ns += row->depth ? 0 : row->sides[side].ns;
            int64_t below = 0;
            size_t next = i + 1;
            for (; next < tree->rows.count && tree->rows.at[next].depth > row->depth; next++)
                below += tree->rows.at[next].depth == row->depth + 1 ? tree->rows.at[next].sides[side].ns : 0;
            if (diff->by_device && !row->is_work)
                assert_int_equal(row->sides[side].ns, below);
        }
        assert_int_equal(operators, diff->aligner->trees[side]->operators);
        assert_int_equal(operations, diff->aligner->trees[side]->operations);
        if (diff->by_device)
            assert_int_equal(ns, diff->device_ns[side]);
    }
    twin_tree_free(tree);
}

static void assert_adds_up(const struct tree_diff *diff)
{
    assert_twins_add_up(diff);
    for (int side = 0; side < 2; side++) {
        int64_t sum = 0;
        for (enum tree_label label = TREE_ALIGNED; label < TREE_LABELS; label++)
            sum += diff->sums[label].device_ns[side];
        assert_int_equal(sum, diff->device_ns[side]);
    }
}

static const struct tree_path_row *path(const struct compared *compared, const char *text)
{
    for (size_t i = 0; i < compared->diff->paths.count; i++)
        if (strcmp(compared->diff->paths.at[i].path.at, text) == 0)
            return &compared->diff->paths.at[i];
    fail_msg("there is no path %s", text);
    return NULL;
}

/*
 * One operator is put first, and nothing is around them: all others keep their partners.
 *
 *     before          linear relu linear      operations 20 + 5 + 20
 *     after   dropout linear relu linear      operations 3 + 26 + 5 + 26
 */
TEST(an_operator_put_first_shifts_nothing)
{
    struct compared compared = compare("linear[t[] addmm[gemm:20]] relu[relu_k:5] linear[t[] addmm[gemm:20]]",
                                       "dropout[drop_k:3] linear[t[] addmm[gemm:26]] relu[relu_k:5] "
                                       "linear[t[] addmm[gemm:26]]");
    assert_aligned(&compared, 7, 3);
    assert_int_equal(compared.diff->sums[TREE_NEW].operators[1], 1);
    assert_int_equal(compared.diff->sums[TREE_NEW].device_ns[1], 3);
    const struct tree_path_row *row = path(&compared, "linear > addmm");
    assert_int_equal(row->aligned, 2);
    assert_int_equal(row->device_before_ns, 40);
    assert_int_equal(row->device_after_ns, 52);
    assert_true(path(&compared, "linear")->folded); /* its change is that of addmm */
    assert_false(row->folded);
    assert_adds_up(compared.diff);
    release(&compared);
}

/* [p q a] and [a r s]: a stays. Pairs by place would have unlike names, and replacing all three costs as many edits. */
TEST(a_node_common_to_both_is_found_where_all_else_differs)
{
    struct compared compared = compare("block[p[pk:4] q[qk:4] a[ak:10]]", "block[a[ak:11] r[rk:6] s[sk:6]]");
    assert_aligned(&compared, 2, 1);
    assert_int_equal(compared.diff->sums[TREE_GONE].operators[0], 2);
    assert_int_equal(compared.diff->sums[TREE_NEW].operations[1], 2);
    assert_int_equal(compared.diff->matches.count, 0);
    assert_int_equal(path(&compared, "block > a")->device_change_ns, 1);
    assert_adds_up(compared.diff);
    release(&compared);
}

/*
 *     before  block[mm[g] mul[m] add[a] sum[r1]]          g 40, m 8, a 8, r1 6
 *     after   block[linear[mm[g]] triton[t] sum[r2]]      g 40, t 9, r2 4
 *
 * Exactly aligned are block and sum. mm lies in a new linear, mul and add became one, r2 is r1 under another name.
 */
TEST(what_is_left_over_is_wrapped_fused_or_renamed)
{
    struct compared compared = compare("block[mm[g:40] mul[m:8] add[a:8] sum[r1:6]]",
                                       "block[linear[mm[g:40]] triton[t:9] sum[r2:4]]");
    const struct tree_diff *diff = compared.diff;
    assert_aligned(&compared, 2, 0);
    assert_int_equal(diff->wrapped, 1);
    assert_int_equal(diff->fused, 1);
    assert_int_equal(diff->renamed, 1);
    assert_int_equal(diff->split, 0);
    assert_int_equal(diff->sums[TREE_WRAPPED].operators[0], 1); /* mm */
    assert_int_equal(diff->sums[TREE_WRAPPED].operators[1], 2); /* linear, mm */
    assert_int_equal(diff->sums[TREE_WRAPPED].device_ns[1], 40);
    assert_int_equal(diff->sums[TREE_FUSED].device_ns[0], 16);
    assert_int_equal(diff->sums[TREE_FUSED].device_ns[1], 9);
    assert_int_equal(diff->sums[TREE_RENAMED].operations[0], 1);
    assert_int_equal(diff->sums[TREE_GONE].operators[0] + diff->sums[TREE_NEW].operators[1], 0);
    assert_string_equal(diff->matches.at[0].before.at, "mul, add"); /* the largest change first */
    assert_string_equal(diff->matches.at[0].after.at, "triton");
    assert_string_equal(diff->matches.at[1].below.at, "block > sum");
    assert_string_equal(diff->matches.at[2].before.at, "mm");
    assert_string_equal(diff->matches.at[2].after.at, "linear");
    assert_adds_up(diff);
    release(&compared);
}

/* The same sides the other way round: what was wrapped is still, and what was fused is split. */
TEST(the_other_way_round_fused_is_split)
{
    struct compared compared = compare("block[linear[mm[g:40]] triton[t:9] sum[r2:4]]",
                                       "block[mm[g:40] mul[m:8] add[a:8] sum[r1:6]]");
    assert_aligned(&compared, 2, 0);
    assert_int_equal(compared.diff->wrapped, 1);
    assert_int_equal(compared.diff->fused, 0);
    assert_int_equal(compared.diff->split, 1);
    assert_int_equal(compared.diff->sums[TREE_WRAPPED].operators[0], 2);
    assert_adds_up(compared.diff);
    release(&compared);
}

/* Running numbers may differ, and operators may have another name for the same children. */
TEST(operators_are_renamed_by_number_and_by_children)
{
    struct compared compared =
        compare("f[fused_add_3[x[]] old[y[] z[]]]", "f[fused_add_5[x[]] young[y[] z[]]]");
    assert_aligned(&compared, 1, 0);
    assert_int_equal(compared.diff->renamed + compared.diff->wrapped, 2);
    assert_int_equal(compared.diff->sums[TREE_GONE].operators[0], 0);
    assert_int_equal(compared.diff->sums[TREE_NEW].operators[1], 0);
    release(&compared);
}

/* An operator and an operation of one name are two things: a Triton operator and its kernel. */
TEST(kinds_are_compared_as_well_as_names)
{
    struct compared compared = compare("f[t[]]", "f[t:5]");
    assert_aligned(&compared, 1, 0);
    release(&compared);
}

/* Of twelve equal operators the one that lacks its kernel is found by weight: greedy pairing would lose the last. */
TEST(the_odd_one_among_equals_is_found_by_weight)
{
    char before[1024] = "", after[1024] = "";
    for (int i = 0; i < 12; i++) {
        strcat(before, "linear[addmm[gemm:20]] ");
        if (i != 4)
            strcat(after, "linear[addmm[gemm:20]] ");
    }
    strcat(after, "linear[] ");
    struct compared compared = compare(before, after);
    assert_aligned(&compared, 11 * 2 + 1, 11);
    assert_int_equal(compared.diff->sums[TREE_GONE].operations[0], 1);
    release(&compared);
}

/* ---- made-up trees, against a plain search ---- */

static uint32_t random_state = 1;

static uint32_t draw(uint32_t below)
{
    random_state = random_state * 1664525 + 1013904223;
    return (random_state >> 8) % below;
}

static void draw_nodes(char **at, int depth, uint32_t most)
{
    for (uint32_t n = draw(most + 1); n > 0; n--) {
        if (draw(3) == 0) {
            *at += sprintf(*at, "k%u:1 ", draw(2));
            continue;
        }
        *at += sprintf(*at, "o%u[", draw(2));
        if (depth > 0)
            draw_nodes(at, depth - 1, 3);
        *at += sprintf(*at, "] ");
    }
}

/* The most nodes below A and B that can be aligned: each way is tried. */
static uint64_t most_of(const struct work_tree *x, const uint32_t *a, size_t n, const struct work_tree *y,
                        const uint32_t *b, size_t m)
{
    if (n == 0 || m == 0)
        return 0;
    uint64_t best = most_of(x, a + 1, n - 1, y, b, m), other = most_of(x, a, n, y, b + 1, m - 1);
    const struct work_node *p = &x->nodes.at[*a], *q = &y->nodes.at[*b];
    best = other > best ? other : best;
    if (p->kind == q->kind && p->name == q->name) {
        uint64_t pair = 1 + most_of(x, work_children(x, *a), p->count, y, work_children(y, *b), q->count) +
                        most_of(x, a + 1, n - 1, y, b + 1, m - 1);
        best = pair > best ? pair : best;
    }
    return best;
}

TEST(random_trees_are_aligned_as_well_as_can_be)
{
    for (int i = 0; i < 300; i++) {
        char texts[2][4096] = { "o0[", "o0[" };
        for (int side = 0; side < 2; side++) {
            char *at = texts[side] + 3;
            draw_nodes(&at, 2, 6);
            strcpy(at, "]");
        }
        struct compared compared = compare(texts[0], texts[1]);
        const struct work_tree *const *trees = (const struct work_tree *const *)compared.trees;
        uint32_t roots[2] = { trees[0]->threads.at[0].node, trees[1]->threads.at[0].node };
        const struct tree_sum *sum = &compared.diff->sums[TREE_ALIGNED];
        assert_int_equal(sum->operators[0] + sum->operations[0],
                         most_of(trees[0], work_children(trees[0], roots[0]),
                                 trees[0]->nodes.at[roots[0]].count, trees[1],
                                 work_children(trees[1], roots[1]), trees[1]->nodes.at[roots[1]].count));
        assert_adds_up(compared.diff);
        release(&compared);
    }
}

/* Lists that are too long are cut: no better than exactly, never a pair of unlike nodes or out of order, and counted. */
TEST(lists_that_are_too_long_are_cut_and_counted)
{
    enum { NODES = 600 };
    char *texts[2];
    for (int side = 0; side < 2; side++) {
        char *at = texts[side] = malloc(NODES * 16);
        for (int i = 0; i < NODES; i++)
            at += sprintf(at, "o%u[k%u:1] ", draw(4), draw(6));
    }
    struct compared compared = compare(texts[0], texts[1]);
    const struct tree_sum *sum = &compared.diff->sums[TREE_ALIGNED];
    assert_int_equal(compared.diff->cut_lists, 0);
    struct tree_aligner *aligner = scratch(tree_aligner_open(compared.trees[0], compared.trees[1]));
    aligner->most_cells = 5000;
    tree_align_all(aligner);
    assert_true(aligner->cut_lists > 0);
    int64_t found = 0;
    uint32_t last = 0;
    for (uint32_t n = 0; n < compared.trees[0]->nodes.count; n++) {
        uint32_t mate = tree_mate(aligner, 0, n);
        const struct work_node *a = &compared.trees[0]->nodes.at[n];
        if (mate == WORK_NONE || a->kind == WORK_THREAD)
            continue;
        assert_int_equal(a->name, compared.trees[1]->nodes.at[mate].name);
        assert_int_equal(tree_mate(aligner, 1, mate), n);
        assert_true(a->kind != WORK_OPERATOR || mate > last);
        last = a->kind == WORK_OPERATOR ? mate : last;
        found++;
    }
    assert_true(found <= sum->operators[0] + sum->operations[0]);
    assert_true(found > (sum->operators[0] + sum->operations[0]) / 2);
    release(&compared);
    free(texts[0]);
    free(texts[1]);
}

/* The row in TREE of these names, "" where it is not on that side. */
static const struct twin_row *twin(const struct twin_tree *tree, const char *before, const char *after)
{
    for (size_t i = 0; i < tree->rows.count; i++) {
        const struct twin_side *sides = tree->rows.at[i].sides;
        if (strcmp(sides[0].name.at ? sides[0].name.at : "", before) == 0 &&
            strcmp(sides[1].name.at ? sides[1].name.at : "", after) == 0)
            return &tree->rows.at[i];
    }
    fail_msg("there is no row %s | %s", before, after);
    return NULL;
}

/*
 *     f               f                  -30
 *       mul, add        triton           -25  fused    open: the way to the largest change
 *         mul                            -20
 *           mul_k                        -20
 *         add                            -15
 *           add_k                        -15
 *                       triton           +10
 *                         triton_k       +10
 *       mm              mm                -5
 *         gemm_a          gemm_b          -5  renamed
 *                       wrapper            0  wrapped
 *       sum               sum              0
 *         sum_k             sum_k          0
 */
TEST(both_trees_stand_side_by_side)
{
    struct compared compared = compare("f[mul[mul_k:20] add[add_k:15] mm[gemm_a:20] sum[sum_k:4]]",
                                       "f[triton[triton_k:10] mm[gemm_b:15] wrapper[sum[sum_k:4]]]");
    struct twin_tree *tree = tree_twins(compared.diff, SIZE_MAX);
    static const struct {
        uint32_t depth;
        const char *before, *after, *label;
        int64_t change;
        bool open;
    } rows[] = {
        { 0, "f", "f", NULL, -30, true },
        { 1, "mul, add", "triton", "fused", -25, true },
        { 2, "mul", NULL, NULL, -20, true },
        { 3, "mul_k", NULL, NULL, -20, false },
        { 2, "add", NULL, NULL, -15, false },
        { 3, "add_k", NULL, NULL, -15, false },
        { 2, NULL, "triton", NULL, 10, false },
        { 3, NULL, "triton_k", NULL, 10, false },
        { 1, "mm", "mm", NULL, -5, false },
        { 2, "gemm_a", "gemm_b", "renamed", -5, false },
        { 1, NULL, "wrapper", "wrapped", 0, false },
        { 2, "sum", "sum", NULL, 0, false },
        { 3, "sum_k", "sum_k", NULL, 0, false },
    };
    assert_int_equal(tree->rows.count, sizeof rows / sizeof *rows);
    for (size_t i = 0; i < tree->rows.count; i++) {
        const struct twin_row *row = &tree->rows.at[i];
        const char *const names[] = { rows[i].before, rows[i].after };
        assert_int_equal(row->depth, rows[i].depth);
        for (int side = 0; side < 2; side++) {
            assert_int_equal(row->sides[side].name.at == NULL, names[side] == NULL);
            if (names[side])
                assert_string_equal(row->sides[side].name.at, names[side]);
        }
        assert_int_equal(row->label == NULL, rows[i].label == NULL);
        if (rows[i].label)
            assert_string_equal(row->label, rows[i].label);
        assert_int_equal(row->sides[1].ns - row->sides[0].ns, rows[i].change);
        assert_int_equal(row->open, rows[i].open);
    }
    twin_tree_free(tree);

    tree = tree_twins(compared.diff, 4); /* f, fused, mul and mul_k hold the largest */
    assert_int_equal(tree->rows.count, 4);
    assert_int_equal(tree->left_out, sizeof rows / sizeof *rows - 4);
    assert_int_equal(twin(tree, "mul_k", "")->depth, 3);
    twin_tree_free(tree);
    assert_adds_up(compared.diff);
    release(&compared);
}

/* Calls nested as deep as a file may hold need no stack of ours. */
TEST(deep_calls_are_no_trouble)
{
    enum { DEPTH = 20000 };
    struct work_tree *trees[2];
    struct names *names = names_open();
    for (int side = 0; side < 2; side++) {
        for (int i = 0; i < DEPTH; i++)
            draw_host("cpu_op", i % 2 ? "a" : "b", 1, i, 3 * DEPTH - 2 * i);
        draw_host("cpu_op", side ? "x" : "y", 1, DEPTH, 1);
        trees[side] = work_tree_open(names);
        assert_true(work_tree_add(trees[side], drawn(), &(struct work_tree_options){ 0 }, NULL));
        work_tree_finish(trees[side]);
    }
    struct tree_diff *diff = scratch(tree_diff_open(trees[0], trees[1], 0));
    assert_int_equal(diff->sums[TREE_ALIGNED].operators[0], DEPTH);
    assert_twins_add_up(diff);
    arena_free(trees[0]);
    arena_free(trees[1]);
    names_free(names);
}
