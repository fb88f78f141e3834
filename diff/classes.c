/* classes.c - kernels by what they compute and in which precision, on both sides; and operators whose kernels changed class. */
#include "diff/diff.h"

#include "base/rows.h"
#include "derive/kernel_class.h"
#include <math.h>

/* A kernel on a side. */
struct classed {
    const char *op, *name; /* op: NULL: not known */
    size_t name_len;
    int64_t side, class;
    const struct diff_row *row; /* on both sides, if it was renamed */
    double ns;
};

struct classed_kernels {
    VEC_OF(struct classed) at;
};

struct class_row {
    struct text class;
    double before, after, change, change_share;
    int64_t kernels_before, kernels_after;
    struct text gone, new;
};

struct moved_row {
    struct text op, class_before, class_after;
    double before, after, change;
    struct text kernel_before, kernel_after;
};

/* clang-format off */
static const struct table_column class_columns[] = {
    COLUMN(struct class_row, class, "class", "Class of kernel", TABLE_NAME, "what kernels compute; of products and convolutions in which precision, and whether on tensor cores"),
    COLUMN(struct class_row, before, "before", "Before", TABLE_NS, "mean per step of the first side", .aliases = "base"),
    COLUMN(struct class_row, after, "after", "After", TABLE_NS, "mean per step of the second side"),
    COLUMN(struct class_row, change, "change", "Change", TABLE_NS, "after minus before"),
    COLUMN(struct class_row, change_share, "change_share", "Change %", TABLE_SHARE, "change as a share of before"),
    COLUMN(struct class_row, kernels_before, "kernels_before", "Kernels before", TABLE_COUNT, "kernels of different names", .flags = TABLE_OPTIONAL),
    COLUMN(struct class_row, kernels_after, "kernels_after", "After", TABLE_COUNT, "the same of the second side", .flags = TABLE_OPTIONAL),
    COLUMN(struct class_row, gone, "gone", "Gone", TABLE_NAME, "the kernel of most time that the second side lacks"),
    COLUMN(struct class_row, new, "new", "New", TABLE_NAME, "the kernel of most time that the first side lacks"),
};

static const struct table_column moved_columns[] = {
    COLUMN(struct moved_row, op, "op", "Operator", TABLE_NAME, "whose kernels are mostly of another class on the second side", .aliases = "operator"),
    COLUMN(struct moved_row, class_before, "class_before", "Class before", TABLE_NAME, "of most time on the first side"),
    COLUMN(struct moved_row, class_after, "class_after", "Class after", TABLE_NAME, "of most time on the second side"),
    COLUMN(struct moved_row, before, "before", "Before", TABLE_NS, "of all its kernels, mean per step of the first side"),
    COLUMN(struct moved_row, after, "after", "After", TABLE_NS, "the same of the second side"),
    COLUMN(struct moved_row, change, "change", "Change", TABLE_NS, "after minus before"),
    COLUMN(struct moved_row, kernel_before, "kernel_before", "Kernel before", TABLE_NAME, "of most time on the first side", .flags = TABLE_OPTIONAL),
    COLUMN(struct moved_row, kernel_after, "kernel_after", "Kernel after", TABLE_NAME, "of most time on the second side", .flags = TABLE_OPTIONAL),
};
/* clang-format on */

static int64_t number_of_class(struct kernel_class class)
{
    return ((int64_t) class.family * KERNEL_PRECISIONS + class.precision) * 3 + class.tensor_use;
}

/* "matrix product, bf16, tensor cores" */
static struct text text_of_class(int64_t number, struct arena *texts)
{
    SCOPED struct buffer text = { 0 };
    const char *precision = kernel_precision_name((enum kernel_precision)(number / 3 % KERNEL_PRECISIONS));
    buffer_puts(&text, kernel_family_name((enum kernel_family)(number / 3 / KERNEL_PRECISIONS)));
    if (*precision)
        buffer_printf(&text, ", %s", precision);
    if (number % 3 == TENSOR_YES)
        buffer_puts(&text, ", tensor cores");
    struct text kept = { arena_strndup(texts, text.at, text.count), text.count };
    return kept;
}

/* The kernels of both sides. Release with VEC_FREE. */
static struct classed_kernels find_kernels(const struct diff *diff)
{
    struct classed_kernels kernels = { 0 };
    FOR_EACH(table, &diff->tables) {
        for (size_t i = 0; i < table->rows.count && strcmp(table->key, "kernels") == 0; i++) {
            const struct diff_row *row = &table->rows.at[i];
            for (int side = 0; side < 2; side++) {
                bool old = side == 0 && row->old_name;
                const char *name = old ? row->old_name : row->name;
                double ns = side ? row->finding.after : row->finding.before;
                if (row->finding.present[side] && ns > 0)
                    *VEC_PUSH(&kernels.at) =
                        (struct classed){ .op = measures_launcher(diff->sides[side], name),
                                          .name = name,
                                          .name_len = old ? row->old_name_length : row->name_length,
                                          .side = side,
                                          .row = row,
                                          .class = number_of_class(kernel_class_of(name)),
                                          .ns = ns };
            }
        }
    }
    return kernels;
}

static const struct key by_class[] = { ASC(struct classed, class), DESC(struct classed, ns), KEY_END };

/* The first of COUNT kernels, of a class and most time first, that SIDE has and the other lacks. */
static struct text only_on(const struct classed *kernels, size_t count, int64_t side)
{
    for (size_t i = 0; i < count; i++) {
        bool both = false;
        for (size_t k = 0; k < count && kernels[i].side == side; k++)
            both |= kernels[k].side != side && kernels[k].row == kernels[i].row;
        if (kernels[i].side == side && !both)
            return (struct text){ kernels[i].name, kernels[i].name_len };
    }
    return (struct text){ 0 };
}

static void add_classes(struct classed_kernels *kernels, struct result *result)
{
    static const struct key groups[] = { ASC(struct classed, class), KEY_END };
    struct table *table =
        TABLE_OF_ROWS("classes", "Classes of kernels", class_columns, (struct class_row *)NULL, 0);
    SORT(&kernels->at, by_class);
    FOR_GROUPS(&kernels->at, groups, first, end) {
        const struct classed *of = &kernels->at.at[first];
        struct class_row row = { .class = text_of_class(of->class, &result->arena),
                                 .gone = only_on(of, end - first, 0),
                                 .new = only_on(of, end - first, 1) };
        for (size_t i = first; i < end; i++) {
            const struct classed *one = &kernels->at.at[i];
            *(one->side ? &row.after : &row.before) += one->ns;
            *(one->side ? &row.kernels_after : &row.kernels_before) += 1;
        }
        row.change = row.after - row.before;
        row.change_share = row.before > 0 ? row.change / row.before : NAN;
        table_add_rows(table, &row, 1, sizeof row);
    }
    TABLE_SORT(table, struct class_row, change);
    result_add_table(result, table);
}

/* Of COUNT kernels of an operator, by class: that of most time on SIDE, its kernel of most time, and the time of all; class -1: none. */
static struct classed most_on(const struct classed *kernels, size_t count, int64_t side)
{
    struct classed most = { .class = -1 };
    double most_ns = 0, all_ns = 0;
    for (size_t first = 0; first < count;) {
        double ns = 0;
        size_t end = first;
        const struct classed *longest = NULL;
        for (; end < count && kernels[end].class == kernels[first].class; end++) {
            if (kernels[end].side != side)
                continue;
            ns += kernels[end].ns;
            longest = longest ? longest : &kernels[end];
        }
        if (longest && ns > most_ns) {
            most = *longest;
            most_ns = ns;
        }
        all_ns += ns;
        first = end;
    }
    most.ns = all_ns;
    return most;
}

/* "matrix products: fp32 -> bf16, tensor cores": the change of class with most time, and its operators. */
static void notice_moved(const struct moved_row *rows, size_t count, double whole_ns, struct result *result)
{
    enum { NAMED = 3 };
    const double least_share = 0.01;
    size_t largest = 0, others = 0, named = 0;
    double most_ns = 0, before_ns = 0, after_ns = 0;
    for (size_t i = 0; i < count; i++)
        if (rows[i].before + rows[i].after > most_ns) {
            most_ns = rows[i].before + rows[i].after;
            largest = i;
        }
    if (most_ns <= least_share * whole_ns)
        return;
    SCOPED struct buffer ops = { 0 };
    for (size_t i = 0; i < count; i++) {
        if (strcmp(rows[i].class_before.at, rows[largest].class_before.at) != 0 ||
            strcmp(rows[i].class_after.at, rows[largest].class_after.at) != 0)
            continue;
        before_ns += rows[i].before;
        after_ns += rows[i].after;
        if (named == NAMED)
            others++;
        else
            buffer_printf(&ops, "%s%.*s", named++ ? ", " : "", (int)rows[i].op.len, rows[i].op.at);
    }
    if (others)
        buffer_printf(&ops, " and %zu more", others);
    ADD_NOTICE(result, "kernel_classes", (int64_t)named + (int64_t)others,
               "kernels of another class: %s -> %s (%s; %s -> %s)", rows[largest].class_before.at,
               rows[largest].class_after.at, ops.at, TIME_TEXT(before_ns), TIME_TEXT(after_ns));
    result->notices.at[result->notices.count - 1].on_top = true;
}

static void add_moved(struct classed_kernels *kernels, struct result *result)
{
    static const struct key by_op[] = { ASC(struct classed, op), ASC(struct classed, class),
                                        DESC(struct classed, ns), KEY_END };
    static const struct key groups[] = { ASC(struct classed, op), KEY_END };
    SCOPED VEC_OF(struct moved_row) rows = { 0 };
    double whole_ns = 0;
    size_t kept = 0;
    for (size_t i = 0; i < kernels->at.count; i++) {
        whole_ns += kernels->at.at[i].ns;
        if (kernels->at.at[i].op)
            kernels->at.at[kept++] = kernels->at.at[i];
    }
    kernels->at.count = kept;
    SORT(&kernels->at, by_op);
    FOR_GROUPS(&kernels->at, groups, first, end) {
        struct classed before = most_on(&kernels->at.at[first], end - first, 0),
                       after = most_on(&kernels->at.at[first], end - first, 1);
        if (before.class >= 0 && after.class >= 0 && before.class != after.class)
            *VEC_PUSH(&rows) =
                (struct moved_row){ .op = as_text(before.op),
                                    .class_before = text_of_class(before.class, &result->arena),
                                    .class_after = text_of_class(after.class, &result->arena),
                                    .before = before.ns,
                                    .after = after.ns,
                                    .change = after.ns - before.ns,
                                    .kernel_before = { before.name, before.name_len },
                                    .kernel_after = { after.name, after.name_len } };
    }
    if (rows.count) {
        struct table *table = TABLE_OF_ROWS("moved", "Operators whose kernels changed class", moved_columns,
                                            rows.at, rows.count);
        TABLE_SORT(table, struct moved_row, change);
        notice_moved(rows.at, rows.count, whole_ns, result);
        result_add_table(result, table);
    }
}

void diff_add_classes(const struct diff *diff, struct result *result)
{
    struct classed_kernels kernels = find_kernels(diff);
    bool sides[2] = { false, false };
    for (size_t i = 0; i < kernels.at.count; i++)
        sides[kernels.at.at[i].side] = true;
    if (sides[0] && sides[1]) {
        add_classes(&kernels, result);
        add_moved(&kernels, result);
    }
    VEC_FREE(&kernels.at);
}

const struct table_shape diff_class_tables[] = {
    TABLE_SHAPE("classes", class_columns),
    TABLE_SHAPE("moved", moved_columns),
    { 0 },
};
