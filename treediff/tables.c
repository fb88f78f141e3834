/* tables.c - a diff of trees as tables and notices; see tree_diff.h. */
#include "treediff/tree_diff.h"

#include <inttypes.h>
#include <math.h>

/* ---- counts ---- */

struct count_row {
    int64_t aligned_operators, aligned_operations, removed_operators, removed_operations, added_operators,
        added_operations;
    int64_t wrapped, renamed, fused, split;
    int64_t device_before_ns, device_after_ns, device_change_ns;
};

static const struct table_column count_columns[] = {
    COLUMN(struct count_row, aligned_operators, "aligned_operators", "Operators aligned", TABLE_COUNT,
           "operators of the first side that are aligned exactly with one of the second"),
    COLUMN(struct count_row, aligned_operations, "aligned_works", "Operations aligned", TABLE_COUNT,
           "kernels, copies and memsets that are aligned exactly", .aliases = "aligned_operations"),
    COLUMN(struct count_row, removed_operators, "removed_operators", "Operators removed", TABLE_COUNT,
           "operators of the first side that are not aligned exactly"),
    COLUMN(struct count_row, removed_operations, "removed_works", "Operations removed", TABLE_COUNT,
           "operations of the first side that are not aligned exactly", .aliases = "removed_operations"),
    COLUMN(struct count_row, added_operators, "added_operators", "Operators added", TABLE_COUNT,
           "operators of the second side that are not aligned exactly"),
    COLUMN(struct count_row, added_operations, "added_works", "Operations added", TABLE_COUNT,
           "operations of the second side that are not aligned exactly", .aliases = "added_operations"),
    COLUMN(struct count_row, wrapped, "wrapped", "Wrapped", TABLE_COUNT,
           "operators of one side whose children are without them on the other"),
    COLUMN(struct count_row, renamed, "renamed", "Renamed", TABLE_COUNT, "pairs of nodes that were renamed"),
    COLUMN(struct count_row, fused, "fused", "Fused", TABLE_TALLY, "places where several nodes became fewer"),
    COLUMN(struct count_row, split, "split", "Split", TABLE_COUNT, "places where several nodes became more"),
    COLUMN(struct count_row, device_before_ns, "device_before", "Device before", TABLE_NS,
           "durations of all operations in the trees of the first side"),
    COLUMN(struct count_row, device_after_ns, "device_after", "Device after", TABLE_NS,
           "durations of all operations in the trees of the second side"),
    COLUMN(struct count_row, device_change_ns, "device_change", "Change", TABLE_NS, "after less before"),
};

static int64_t sum_of(const struct tree_diff *diff, int side, bool operations)
{
    int64_t sum = 0;
    for (enum tree_label label = TREE_ALIGNED + 1; label < TREE_LABELS; label++)
        sum += operations ? diff->sums[label].operations[side] : diff->sums[label].operators[side];
    return sum;
}

static struct table *count_table(const struct tree_diff *diff)
{
    struct count_row row = {
        .aligned_operators = diff->sums[TREE_ALIGNED].operators[0],
        .aligned_operations = diff->sums[TREE_ALIGNED].operations[0],
        .removed_operators = sum_of(diff, 0, false),
        .removed_operations = sum_of(diff, 0, true),
        .added_operators = sum_of(diff, 1, false),
        .added_operations = sum_of(diff, 1, true),
        .wrapped = diff->wrapped,
        .renamed = diff->renamed,
        .fused = diff->fused,
        .split = diff->split,
        .device_before_ns = diff->device_ns[0],
        .device_after_ns = diff->device_ns[1],
        .device_change_ns = diff->device_ns[1] - diff->device_ns[0],
    };
    struct table *table = TABLE_OF_ROWS("tree", "Nodes of the call trees", count_columns, &row, 1);
    table->uncut = true;
    return table;
}

struct label_row {
    struct text label;
    int64_t operators_before, operators_after, operations_before, operations_after;
    int64_t device_before_ns, device_after_ns, device_change_ns;
    double part;
};

static const struct table_column label_columns[] = {
    COLUMN(struct label_row, label, "label", "Nodes", TABLE_NAME, "label of the nodes"),
    COLUMN(struct label_row, operators_before, "operators_before", "Ops before", TABLE_COUNT,
           "operators of the first side"),
    COLUMN(struct label_row, operators_after, "operators_after", "after", TABLE_COUNT,
           "operators of the second side"),
    COLUMN(struct label_row, operations_before, "works_before", "Kernels before", TABLE_COUNT,
           "kernels, copies and memsets of the first side", .aliases = "operations_before"),
    COLUMN(struct label_row, operations_after, "works_after", "after", TABLE_COUNT,
           "those of the second side", .aliases = "operations_after"),
    COLUMN(struct label_row, device_before_ns, "device_before", "Device before", TABLE_NS,
           "durations of these operations of the first side"),
    COLUMN(struct label_row, device_after_ns, "device_after", "after", TABLE_NS, "... of the second side"),
    COLUMN(struct label_row, device_change_ns, "device_change", "Change", TABLE_NS, "after less before"),
    COLUMN(struct label_row, part, "part", "Of all", TABLE_SHARE, "of the change of all operations"),
};

static struct table *label_table(const struct tree_diff *diff)
{
    struct table *table =
        TABLE_OF_ROWS("labels", "Device time by label", label_columns, (struct label_row *)NULL, 0);
    int64_t whole = diff->device_ns[1] - diff->device_ns[0];
    for (enum tree_label label = TREE_ALIGNED; label < TREE_LABELS; label++) {
        const struct tree_sum *sum = &diff->sums[label];
        const char *name = tree_label_name(label);
        struct label_row row = {
            .label = { name, strlen(name) },
            .operators_before = sum->operators[0],
            .operators_after = sum->operators[1],
            .operations_before = sum->operations[0],
            .operations_after = sum->operations[1],
            .device_before_ns = sum->device_ns[0],
            .device_after_ns = sum->device_ns[1],
            .device_change_ns = sum->device_ns[1] - sum->device_ns[0],
        };
        row.part = whole ? (double)row.device_change_ns / (double)whole : NAN;
        if (row.operators_before || row.operators_after || row.operations_before || row.operations_after)
            table_add_rows(table, &row, 1, sizeof row);
    }
    table_add_footer(table, "change", "Change of all", TABLE_NS, table_int(whole));
    table->uncut = true;
    return table;
}

/* ---- rows ---- */

static const struct table_column path_columns[] = {
    COLUMN(struct tree_path_row, path, "path", "Path", TABLE_NAME,
           "the operator and what called it, outermost first"),
    COLUMN(struct tree_path_row, aligned, "aligned", "Aligned", TABLE_COUNT,
           "pairs of operators that are aligned here"),
    COLUMN(struct tree_path_row, device_before_ns, "device_before", "Device before", TABLE_NS,
           "operations below the operators of the first side"),
    COLUMN(struct tree_path_row, device_after_ns, "device_after", "after", TABLE_NS,
           "... of the second side"),
    COLUMN(struct tree_path_row, device_change_ns, "device_change", "Change", TABLE_NS, "after less before"),
    COLUMN(struct tree_path_row, verdict, "verdict", "Verdict", TABLE_TEXT,
           "is the change significant, by the spread over the steps", .flags = TABLE_IF_ANY),
    COLUMN(struct tree_path_row, host_before_ns, "host_before", "Host before", TABLE_NS,
           "durations of the operators of the first side"),
    COLUMN(struct tree_path_row, host_after_ns, "host_after", "after", TABLE_NS, "... of the second side"),
    COLUMN(struct tree_path_row, host_change_ns, "host_change", "Change", TABLE_NS, "after less before",
           .flags = TABLE_OPTIONAL),
    COLUMN(struct tree_path_row, name, "name", "Name", TABLE_NAME, "the operator", .flags = TABLE_OPTIONAL),
    COLUMN(struct tree_path_row, depth, "depth", "Depth", TABLE_COUNT, "how many operators called it",
           .flags = TABLE_OPTIONAL),
    COLUMN(struct tree_path_row, folded, "folded", "Folded", TABLE_BOOL,
           "its change equals that of one row below it; text output shows only that row",
           .flags = TABLE_OPTIONAL),
};

static const struct table_column match_columns[] = {
    COLUMN(struct tree_match_row, label, "label", "What", TABLE_TEXT, "wrapped, renamed, fused or split"),
    COLUMN(struct tree_match_row, before, "before", "Before", TABLE_NAME, "the nodes of the first side"),
    COLUMN(struct tree_match_row, after, "after", "After", TABLE_NAME, "the nodes of the second side"),
    COLUMN(struct tree_match_row, count, "count", "Times", TABLE_TALLY, "how often it occurs"),
    COLUMN(struct tree_match_row, device_before_ns, "device_before", "Device before", TABLE_NS,
           "operations of the nodes of the first side"),
    COLUMN(struct tree_match_row, device_after_ns, "device_after", "after", TABLE_NS,
           "... of the second side"),
    COLUMN(struct tree_match_row, device_change_ns, "device_change", "Change", TABLE_NS, "after less before"),
    COLUMN(struct tree_match_row, below, "below", "Below", TABLE_NAME,
           "the innermost aligned operator around them"),
};

static const struct table_column rest_columns[] = {
    COLUMN(struct tree_rest_row, side, "side", "Side", TABLE_TEXT, "before or after"),
    COLUMN(struct tree_rest_row, label, "label", "What", TABLE_TEXT, "label of the nodes"),
    COLUMN(struct tree_rest_row, name, "name", "Name", TABLE_NAME, "the outermost node of the subtree"),
    COLUMN(struct tree_rest_row, kind, "kind", "Kind", TABLE_TEXT, "operator or work"),
    COLUMN(struct tree_rest_row, count, "count", "Times", TABLE_TALLY, "how many such subtrees"),
    COLUMN(struct tree_rest_row, nodes, "nodes", "Nodes", TABLE_TALLY,
           "operators and device operations in all of them"),
    COLUMN(struct tree_rest_row, device_ns, "device", "Device", TABLE_NS, "durations of their operations"),
    COLUMN(struct tree_rest_row, below, "below", "Below", TABLE_NAME, "the aligned operator around them"),
};

/* ---- notices ---- */

/* The most specific row: the largest change that is not that of one row below it; NULL if nothing changed. */
static const struct tree_path_row *first_path(const struct tree_diff *diff)
{
    FOR_EACH(row, &diff->paths) {
        int64_t change = diff->by_device ? row->device_change_ns : row->host_change_ns;
        if (!row->folded && change)
            return row;
    }
    return NULL;
}

static void add_signed_time(struct buffer *text, int64_t ns)
{
    buffer_puts(text, ns < 0 ? "-" : "+");
    quantity_append_rounded_time(text, (double)(ns < 0 ? -ns : ns));
}

static void notice_answer(const struct tree_diff *diff, struct result *result)
{
    const struct tree_path_row *row = first_path(diff);
    SCOPED struct buffer text = { 0 };
    int64_t change = diff->device_ns[1] - diff->device_ns[0];
    if (diff->by_device && change) {
        buffer_printf(&text, "device time went from %s to %s (", TIME_TEXT(diff->device_ns[0]),
                      TIME_TEXT(diff->device_ns[1]));
        add_signed_time(&text, change);
        buffer_puts(&text, ")");
    } else if (diff->by_device) {
        buffer_printf(&text, "device time is the same on both sides: %s", TIME_TEXT(diff->device_ns[0]));
    } else {
        buffer_puts(&text, "neither side has device work below its operators, so host time is compared");
    }
    if (row) {
        buffer_puts(&text, "; largest change of aligned operators: ");
        add_signed_time(&text, diff->by_device ? row->device_change_ns : row->host_change_ns);
        buffer_printf(&text, " in %.*s", (int)row->path.len, row->path.at);
    }
    ADD_NOTICE(result, "answer", 0, "%s", text.at);
    result_make_clause(result);
}

static void notice_limits(const struct tree_diff *diff, struct result *result)
{
    static const char *const sides[2] = { "first", "second" };
    for (int side = 0; side < 2; side++) {
        if (diff->outside[side])
            ADD_NOTICE(result, "outside_trees", diff->outside[side],
                       "%" PRId64
                       " operations of the %s side, %s, are in no tree: their call is not in the file, or "
                       "was made on a thread without operators",
                       diff->outside[side], sides[side], TIME_TEXT(diff->outside_ns[side]));
    }
    if (diff->cut_lists)
        ADD_NOTICE(
            result, "cut_lists", (int64_t)diff->cut_lists,
            "some lists of calls were too long to be aligned as a whole: they were cut at steps or at "
            "equal calls first, and more nodes might be aligned; --first-step or --steps compares less");
}

void tree_diff_add_tables(const struct tree_diff *diff, struct result *result)
{
    notice_answer(diff, result);
    result_add_table(result, count_table(diff));
    result_add_table(result, label_table(diff));
    struct table *paths =
        TABLE_OF_ROWS("paths", "Aligned operators, by path", path_columns, diff->paths.at, diff->paths.count);
    if (diff->by_device) {
        TABLE_FLAG(paths, struct tree_path_row, host_before_ns, TABLE_OPTIONAL);
        TABLE_FLAG(paths, struct tree_path_row, host_after_ns, TABLE_OPTIONAL);
    } else {
        TABLE_FLAG(paths, struct tree_path_row, host_change_ns, 0);
        TABLE_FLAG(paths, struct tree_path_row, device_before_ns, TABLE_OPTIONAL);
        TABLE_FLAG(paths, struct tree_path_row, device_after_ns, TABLE_OPTIONAL);
        TABLE_FLAG(paths, struct tree_path_row, device_change_ns, TABLE_OPTIONAL);
    }
    paths->sort_column =
        table_column_at(paths, diff->by_device ? offsetof(struct tree_path_row, device_change_ns)
                                               : offsetof(struct tree_path_row, host_change_ns));
    result_add_table(result, paths);
    if (diff->matches.count)
        result_add_table(result, TABLE_OF_ROWS("matches", "Wrapped, renamed, fused, split", match_columns,
                                               diff->matches.at, diff->matches.count));
    if (diff->rest.count)
        result_add_table(result, TABLE_OF_ROWS("unaligned", "Subtrees that are not aligned exactly",
                                               rest_columns, diff->rest.at, diff->rest.count));
    notice_limits(diff, result);
}

const struct table_shape tree_tables[] = {
    TABLE_SHAPE("tree", count_columns),     TABLE_SHAPE("labels", label_columns),
    TABLE_SHAPE("paths", path_columns),     TABLE_SHAPE("matches", match_columns),
    TABLE_SHAPE("unaligned", rest_columns), { 0 },
};
