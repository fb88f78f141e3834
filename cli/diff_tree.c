#include "cli/sides.h"

#include "treediff/tree_diff.h"

static bool read_file(const struct invocation *call, const struct load_args *load, const char *path,
                      const struct work_tree_options *options, struct work_tree *tree, struct result *result,
                      struct tpa_error *err)
{
    struct invocation of_file = *call;
    char *operand = (char *)(uintptr_t)path;
    of_file.operands = &operand;
    of_file.operand_count = 1;
    SCOPED_BY(trace_free_at) struct trace *trace = load_traces(&of_file, load, &work_tree_wants, err);
    if (!trace)
        return false;
    bool good = work_tree_add(tree, trace, options, err);
    if (good)
        load_add_notices(trace, result);
    return good;
}

static bool check_operators(const struct tree_sides *sides, struct tpa_error *err)
{
    static const char *const names[2] = { "first", "second" };
    for (int side = 0; side < 2; side++) {
        if (sides->trees[side]->operators)
            continue;
        tpa_fail(err, TPA_NOWHERE, "the %s side has no operators, and so no call tree to compare",
                 names[side]);
        return tpa_hint(err, "tpa diff without --tree compares kernels by their names");
    }
    return true;
}

bool tree_sides_read(const struct invocation *call, const struct load_args *load,
                     const struct sides_found *found, const struct work_tree_options *options,
                     struct tree_sides *sides, struct result *result, struct tpa_error *err)
{
    *sides = (struct tree_sides){ .names = names_open() };
    for (int side = 0; side < 2; side++) {
        sides->trees[side] = work_tree_open(sides->names);
        for (size_t i = 0; i < found->counts[side]; i++)
            if (!read_file(call, load, found->paths[side][i], options, sides->trees[side], result, err))
                return false;
        work_tree_finish(sides->trees[side]);
    }
    return check_operators(sides, err);
}

/* ---- output for people ---- */

static int64_t integer_at(const struct table *table, size_t row, const char *key)
{
    int column = table_find_column(table, key, strlen(key));
    return column < 0 ? 0 : table_cell(table, row, (size_t)column)->i;
}

/* Drop paths whose change is shown by another row, or that did not change. */
static void fold_rows(struct table *paths)
{
    const char *change = paths->columns[paths->sort_column].key;
    bool *keep = mem_zalloc(paths->row_count + 1, sizeof *keep);
    size_t unchanged = 0, folded = 0;
    for (size_t row = 0; row < paths->row_count; row++) {
        bool is_folded = integer_at(paths, row, "folded") != 0,
             has_changed = integer_at(paths, row, change) != 0;
        keep[row] = has_changed && !is_folded;
        unchanged += !has_changed;
        folded += is_folded && has_changed;
    }
    table_filter(paths, keep);
    free(keep);
    if (folded)
        table_add_footer(paths, "folded", "Rows whose change is that of one row below them, not shown",
                         TABLE_COUNT, table_int((int64_t)folded));
    if (unchanged)
        table_add_footer(paths, "unchanged", "Rows without any change, not shown", TABLE_TALLY,
                         table_int((int64_t)unchanged));
}

/* Nodes with a match are shown with the matches. */
static void keep_gone_and_new(struct table *rest)
{
    int label = table_find_column(rest, "label", strlen("label"));
    bool *keep = mem_zalloc(rest->row_count + 1, sizeof *keep);
    size_t hidden = 0;
    for (size_t row = 0; row < rest->row_count; row++) {
        const char *text = table_cell(rest, row, (size_t)label)->text.at;
        keep[row] =
            strcmp(text, tree_label_name(TREE_GONE)) == 0 || strcmp(text, tree_label_name(TREE_NEW)) == 0;
        hidden += !keep[row];
    }
    table_filter(rest, keep);
    free(keep);
    if (hidden)
        table_add_footer(rest, "told", "Rows that are counted above, not shown", TABLE_TALLY,
                         table_int((int64_t)hidden));
}

void tree_shorten(struct result *result, const struct limit *limit)
{
    for (size_t i = 0; i < result->tables.count; i++) {
        struct table *table = result->tables.at[i];
        if (!limit->is_share && limit->count == 0)
            return; /* all was requested */
        if (strcmp(table->key, "paths") == 0)
            fold_rows(table);
        if (strcmp(table->key, "unaligned") == 0)
            keep_gone_and_new(table);
        if (!table->uncut)
            table_truncate(table, limit_rows(limit, table->row_count));
    }
}
