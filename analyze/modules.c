/* Each moment of a host thread belongs to the innermost frame, operator or call that was open, and so to one path (see
 * code_paths.h); each operation of a device to the path it was launched from. Everything else is computed by sums over
 * the tree of paths, in which parents come before their children. */
#include "analyze/modules.h"

#include "base/rows.h"
#include "derive/device_types.h"
#include "derive/code_paths.h"
#include "derive/python_names.h"
#include "derive/features.h"
#include <inttypes.h>
#include <math.h>

const struct trace_wants modules_wants = { .args = CODE_PATHS_WANTS };

/* clang-format off */
static const struct table_column columns[] = {
    COLUMN(struct modules_row, rank, "rank", "Rank", TABLE_COUNT, "rank of the file, or its place among the files", .flags = TABLE_HIDDEN),
    COLUMN(struct modules_row, shown, "name", "Module", TABLE_NAME, "the module: its class and number; or the line of source", .aliases = "module line"),
    COLUMN(struct modules_row, calls, "count", "Calls", TABLE_TALLY, "how often it was called", .aliases = "calls"),
    COLUMN(struct modules_row, device_ns, "device_total", "CUDA total", TABLE_NS, "durations of the kernels, copies and memsets that it and all it called launched", .aliases = "cuda_time_total device_time_total cuda_total"),
    COLUMN(struct modules_row, self_device_ns, "self_device", "Self CUDA", TABLE_NS, "of these, what it launched itself, in none of the modules that it called", .aliases = "self_cuda_time_total self_device_time_total self_cuda"),
    COLUMN(struct modules_row, device_share, "device_share", "CUDA share", TABLE_SHARE, "total as a share of all work of devices", .aliases = "cuda_share"),
    COLUMN(struct modules_row, cpu_ns, "cpu_total", "CPU total", TABLE_NS, "time on the host in it and all it called, and in the backward pass of these", .aliases = "cpu_time_total"),
    COLUMN(struct modules_row, self_cpu_ns, "self_cpu", "Self CPU", TABLE_NS, "of this, what was in none of the modules that it called", .aliases = "self_cpu_time_total"),
    COLUMN(struct modules_row, cpu_share, "cpu_share", "CPU share", TABLE_SHARE, "total as a share of the time of all host threads in frames, operators and calls", .flags = TABLE_OPTIONAL),
    COLUMN(struct modules_row, device_forward_ns, "device_forward", "CUDA forward", TABLE_NS, "the part of the total that the forward pass launched", .aliases = "cuda_forward"),
    COLUMN(struct modules_row, device_backward_ns, "device_backward", "CUDA backward", TABLE_NS, "the part of the total that the backward pass launched", .aliases = "cuda_backward"),
    COLUMN(struct modules_row, cpu_forward_ns, "cpu_forward", "CPU forward", TABLE_NS, "the part of the total that is of the forward pass"),
    COLUMN(struct modules_row, cpu_backward_ns, "cpu_backward", "CPU backward", TABLE_NS, "the part of the total that is of the backward pass"),
    COLUMN(struct modules_row, operations, "works", "Kernels", TABLE_TALLY, "kernels, copies and memsets launched by it and all it called", .flags = TABLE_OPTIONAL, .aliases = "kernels operations"),
    COLUMN(struct modules_row, class_name, "class", "Class", TABLE_TEXT, "class of the module", .flags = TABLE_OPTIONAL),
    COLUMN(struct modules_row, depth, "depth", "Depth", TABLE_COUNT, "how deep in the tree: 1 for what no other module called", .flags = TABLE_OPTIONAL),
    COLUMN(struct modules_row, path, "path", "Path", TABLE_TEXT, "the modules from the outermost to this one", .flags = TABLE_OPTIONAL),
};
/* clang-format on */

enum pass { PASS_FORWARD, PASS_BACKWARD, PASSES };

struct sums {
    int64_t cpu_ns[PASSES], device_ns[PASSES], operations, calls;
};

struct modules_query {
    const struct trace *trace;
    const struct selection *selection;
    const struct modules_options *options;
    const struct code_paths *paths;
    int64_t *innermost_ns;                /* by node of the call tree */
    uint32_t file;                        /* the rows are about this file; ALL_FILES: all */
    struct sums *self, *total;            /* by path */
    uint32_t *first_child, *next_sibling; /* by path; CODE_OUTSIDE: none */
    uint32_t *depth;                      /* by path; 1 for the outermost */
    struct modules *modules;
    bool has_device;
    int64_t cpu_ns, device_ns; /* of all that the rows are about */
    int64_t order;             /* order in the tree of the last row that has one */
};

#define ALL_FILES UINT32_MAX

/* ---- totals ---- */

static void add_sums(struct sums *to, const struct sums *sums)
{
    for (int pass = 0; pass < PASSES; pass++) {
        to->cpu_ns[pass] += sums->cpu_ns[pass];
        to->device_ns[pass] += sums->device_ns[pass];
    }
    to->operations += sums->operations;
    to->calls += sums->calls;
}

static int64_t both(const int64_t ns[PASSES])
{
    return ns[PASS_FORWARD] + ns[PASS_BACKWARD];
}

static bool is_empty(const struct sums *sums)
{
    return !both(sums->cpu_ns) && !both(sums->device_ns) && !sums->operations && !sums->calls;
}

/* The time in which each node was the innermost: the last to begin of those open. An event that begins in a call and
 * ends after it is not its child, but no moment of a thread counts twice. New; free with free(). */
static int64_t *innermost_times(const struct calltree *tree)
{
    const struct trace *trace = tree->trace;
    int64_t *self_ns = mem_zalloc(tree->count + 1, sizeof *self_ns);
    SCOPED node_id *open = mem_alloc(mem_times(tree->count + 1, sizeof *open));
    FOR_EACH_OF(thread, tree->threads, tree->thread_count) {
        int64_t at_ns = INT64_MIN; /* time is attributed up to here */
        size_t depth = 0;
        for (uint32_t i = 0; i <= thread->count; i++) {
            node_id next = thread->first + i;
            int64_t start_ns = i < thread->count ? trace_start_ns(trace, tree->event[next]) : INT64_MAX;
            while (depth > 0 && at_ns < start_ns) {
                int64_t end_ns = trace_end_ns(trace, tree->event[open[depth - 1]]);
                int64_t until_ns = end_ns < start_ns ? end_ns : start_ns;
                if (until_ns > at_ns) {
                    self_ns[open[depth - 1]] += until_ns - at_ns;
                    at_ns = until_ns;
                }
                if (end_ns <= start_ns)
                    depth--;
            }
            at_ns = start_ns;
            open[depth++] = next;
        }
    }
    return self_ns;
}

static void sum_thread(struct modules_query *query, const struct calltree_thread *thread)
{
    const struct calltree *tree = query->paths->tree;
    for (node_id n = thread->first; n < thread->first + thread->count; n++) {
        event_id e = tree->event[n];
        if (!selection_holds_place(query->selection, e))
            continue;
        struct code_place place = code_place_of(query->paths, e);
        struct sums *sums = &query->self[place.path];
        sums->cpu_ns[place.backward ? PASS_BACKWARD : PASS_FORWARD] += query->innermost_ns[n];
        sums->calls += (query->paths->flags[n] & CODE_FRAME) != 0;
    }
}

/* Work of a device counts if the call that launched it is selected. */
static bool work_is_held(const struct modules_query *query, const struct attribution *launches, event_id e)
{
    const struct selection *selection = query->selection;
    const struct trace *trace = query->trace;
    event_id call = attribution_call(launches, e);
    uint32_t file = trace->tracks[trace->track[e]].file;
    return (!selection->tracks || selection->tracks[trace->track[e]]) &&
           (!selection->files || selection->files[file]) &&
           selection_holds_time(selection, file, trace_start_ns(trace, call == EVENT_NONE ? e : call));
}

/* Is there any work that counts? */
static bool modules_find_device(const struct modules_query *query)
{
    const struct attribution *launches = attribution_of(query->trace);
    return ANY(e, query->trace->event_count,
               event_is_gpu_work(query->trace->kind[e]) && work_is_held(query, launches, e));
}

static void sum_devices(struct modules_query *query, event_id first, event_id end)
{
    const struct trace *trace = query->trace;
    const struct attribution *launches = attribution_of(trace);
    for (event_id e = first; e < end; e++) {
        if (!event_is_gpu_work(trace->kind[e]) || !work_is_held(query, launches, e))
            continue;
        struct code_place place = code_place_of_work(query->paths, launches, e);
        struct sums *sums = &query->self[place.path];
        sums->device_ns[place.backward ? PASS_BACKWARD : PASS_FORWARD] += trace_dur_ns(trace, e);
        sums->operations++;
    }
}

/* The own time of each path, in the file or files that the rows are about. */
static void sum_selves(struct modules_query *query)
{
    const struct trace *trace = query->trace;
    const struct calltree *tree = query->paths->tree;
    memset(query->self, 0, query->paths->count * sizeof *query->self);
    for (size_t t = 0; t < tree->thread_count; t++)
        if (query->file == ALL_FILES || trace->tracks[tree->threads[t].track].file == query->file)
            sum_thread(query, &tree->threads[t]);
    if (!query->has_device)
        return;
    if (query->file == ALL_FILES)
        sum_devices(query, 0, (event_id)trace->event_count);
    else
        sum_devices(query, trace->files[query->file].first_event,
                    trace->files[query->file].first_event + trace->files[query->file].event_count);
}

/* Compute totals, depths and children. */
static void sum_tree(struct modules_query *query)
{
    const struct code_paths *paths = query->paths;
    query->cpu_ns = query->device_ns = 0;
    memset(query->first_child, 0, paths->count * sizeof *query->first_child);
    for (uint32_t p = 0; p < paths->count; p++) {
        query->total[p] = query->self[p];
        query->depth[p] = p == CODE_OUTSIDE ? 0 : query->depth[paths->at[p].parent] + 1;
        query->cpu_ns += both(query->self[p].cpu_ns);
        query->device_ns += both(query->self[p].device_ns);
    }
    for (uint32_t p = (uint32_t)paths->count; p-- > 1;) {
        uint32_t parent = paths->at[p].parent;
        if (parent != CODE_OUTSIDE)
            add_sums(&query->total[parent], &query->total[p]);
        query->next_sibling[p] = query->first_child[parent];
        query->first_child[parent] = p;
    }
}

/* ---- rows ---- */

static struct text modules_keep(struct modules *modules, const char *text, size_t len)
{
    return (struct text){ arena_strndup(arena_of(modules), text, len), len };
}

/* A new row, called NAME; borrowed until the next. */
static struct modules_row *modules_add_row(const struct modules_query *query, const char *name, size_t len)
{
    struct modules *modules = query->modules;
    struct modules_row *row = VEC_PUSH(&modules->rows);
    struct text text = modules_keep(modules, name, len);
    *row = (struct modules_row){ .rank = TABLE_INT_MISSING, .name = text, .shown = text };
    row->calls = row->depth = TABLE_INT_MISSING;
    if (query->file != ALL_FILES)
        row->rank = selection_rank(query->trace, query->file);
    return row;
}

static void set_sums(const struct modules_query *query, struct modules_row *row, const struct sums *self,
                     const struct sums *total)
{
    const int64_t missing = TABLE_INT_MISSING;
    bool device = query->has_device;
    if (self->calls)
        row->calls = self->calls;
    row->cpu_ns = both(total->cpu_ns);
    row->self_cpu_ns = both(self->cpu_ns);
    row->cpu_forward_ns = total->cpu_ns[PASS_FORWARD];
    row->cpu_backward_ns = total->cpu_ns[PASS_BACKWARD];
    row->cpu_share = query->cpu_ns > 0 ? (double)row->cpu_ns / (double)query->cpu_ns : NAN;
    if (query->paths->links && total->operations && !both(total->cpu_ns) && !total->calls) {
        /* only work of graphs captured from it: the path ran during the capture, not here */
        row->cpu_ns = row->self_cpu_ns = row->cpu_forward_ns = row->cpu_backward_ns = missing;
        row->cpu_share = NAN;
    }
    row->device_ns = device ? both(total->device_ns) : missing;
    row->self_device_ns = device ? both(self->device_ns) : missing;
    row->device_forward_ns = device ? total->device_ns[PASS_FORWARD] : missing;
    row->device_backward_ns = device ? total->device_ns[PASS_BACKWARD] : missing;
    row->operations = device ? total->operations : missing;
    row->device_share =
        device && query->device_ns > 0 ? (double)row->device_ns / (double)query->device_ns : NAN;
}

static struct modules_row *add_outside(const struct modules_query *query)
{
    const char *name = query->options->by == MODULES_BY_LINE ? "(outside any line)" : "(outside any module)";
    struct modules_row *row = modules_add_row(query, name, strlen(name));
    struct sums self = query->self[CODE_OUTSIDE];
    self.calls = 0;
    set_sums(query, row, &self, &self);
    return row;
}

/* "Net_0/Linear_1" */
static struct text path_text(const struct modules_query *query, uint32_t path, struct buffer *text)
{
    const struct code_paths *paths = query->paths;
    SCOPED VEC_OF(uint32_t) names = { 0 };
    for (; path != CODE_OUTSIDE; path = paths->at[path].parent)
        *VEC_PUSH(&names) = path;
    buffer_clear(text);
    for (size_t i = names.count; i-- > 0;)
        buffer_printf(text, "%s%s", code_path_name(paths, names.at[i]), i ? "/" : "");
    return modules_keep(query->modules, text->at, text->count);
}

/* Limit on shown paths, which would otherwise be as long as the tree is deep. */
enum { DEEPEST_SHOWN = 100 };

static void add_path_row(const struct modules_query *query, uint32_t path, const struct sums *self,
                         struct buffer *text)
{
    const char *name = code_path_name(query->paths, path);
    uint32_t depth = query->depth[path];
    struct modules_row *row = modules_add_row(query, name, strlen(name));
    row->depth = depth;
    row->class_name = modules_keep(query->modules, name, python_class_length(name));
    if (query->options->indent) {
        buffer_clear(text);
        buffer_pad(text, ' ', 2 * (size_t)((depth < DEEPEST_SHOWN ? depth : DEEPEST_SHOWN) - 1));
        buffer_puts(text, name);
        row->shown = modules_keep(query->modules, text->at, text->count);
    }
    if (depth <= DEEPEST_SHOWN)
        row->path = path_text(query, path, text);
    struct sums own = *self;
    own.calls = query->self[path].calls;
    set_sums(query, row, &own, &query->total[path]);
}

/* ---- the tree ---- */

/* The sort key of siblings: the value of a column as a number of which larger ones come first. */
struct sibling {
    double value;
    uint32_t path;
};

static const struct key by_value[] = { DESC(struct sibling, value), KEY_END };

/* The figure of ROW that COLUMN shows; 0 when it is missing. */
static double value_of(const struct modules_row *row, const struct table_column *column)
{
    const char *member = (const char *)row + column->offset;
    if (column->member == MEMBER_DOUBLE) {
        double value;
        memcpy(&value, member, sizeof value);
        return isnan(value) ? 0 : value;
    }
    int64_t value;
    memcpy(&value, member, sizeof value);
    return value == TABLE_INT_MISSING ? 0 : (double)value;
}

/* Number the rows of the tree: a module before its callees, siblings in the order of COLUMN, then of their first
 * calls. */
static void order_tree(struct modules_query *query, const uint32_t *row_of, const struct table_column *column)
{
    struct modules_row *rows = query->modules->rows.at;
    SCOPED VEC_OF(uint32_t) open = { 0 };
    SCOPED VEC_OF(struct sibling) siblings = { 0 };
    *VEC_PUSH(&open) = CODE_OUTSIDE;
    while (open.count) {
        uint32_t path = open.at[--open.count];
        if (path != CODE_OUTSIDE)
            rows[row_of[path]].order = ++query->order;
        siblings.count = 0;
        for (uint32_t child = query->first_child[path]; child; child = query->next_sibling[child]) {
            if (row_of[child] == UINT32_MAX)
                continue;
            double value = value_of(&rows[row_of[child]], column);
            *VEC_PUSH(&siblings) = (struct sibling){ query->options->reverse ? -value : value, child };
        }
        SORT(&siblings, by_value);
        for (size_t i = siblings.count; i-- > 0;)
            *VEC_PUSH(&open) = siblings.at[i].path;
    }
}

static void add_tree(struct modules_query *query, const struct table_column *column)
{
    const struct code_paths *paths = query->paths;
    uint32_t *row_of = mem_alloc(mem_times(paths->count + 1, sizeof *row_of));
    struct buffer text = { 0 };
    int64_t deepest = query->options->depth;
    for (uint32_t p = 0; p < paths->count; p++) {
        row_of[p] = UINT32_MAX;
        bool below = deepest > 0 && query->depth[p] > deepest;
        if (p == CODE_OUTSIDE || below || is_empty(&query->total[p]))
            continue;
        row_of[p] = (uint32_t)query->modules->rows.count;
        bool last = deepest > 0 && query->depth[p] == deepest;
        add_path_row(query, p, last ? &query->total[p] : &query->self[p], &text);
    }
    order_tree(query, row_of, column);
    buffer_release(&text);
    free(row_of);
    add_outside(query)->order = ++query->order;
}

/* Totals by group: of a path, by its label, or by its class. A path inside another of its group adds to the group's own
 * time and calls, but not again to its total. */
static void add_flat(const struct modules_query *query)
{
    const struct code_paths *paths = query->paths;
    bool by_class = query->options->by == MODULES_BY_CLASS;
    SCOPED_OBJECT struct names *groups = names_open();
    SCOPED uint32_t *group_of = mem_alloc(mem_times(paths->count + 1, sizeof *group_of));
    for (uint32_t p = 1; p < paths->count; p++) {
        const char *name = code_path_name(paths, p);
        group_of[p] = names_add(groups, name, by_class ? python_class_length(name) : strlen(name));
    }
    size_t group_count = names_count(groups);
    SCOPED struct sums *self = mem_zalloc(group_count + 1, sizeof *self);
    SCOPED struct sums *total = mem_zalloc(group_count + 1, sizeof *total);
    SCOPED uint32_t *around = mem_zalloc(group_count + 1, sizeof *around); /* open paths of the group */

    /* Visit the tree in depth-first order: a path visited for the second time is left. */
    SCOPED VEC_OF(uint32_t) open = { 0 };
    SCOPED bool *entered = mem_zalloc(paths->count + 1, sizeof *entered);
    for (uint32_t p = query->first_child[CODE_OUTSIDE]; p; p = query->next_sibling[p])
        *VEC_PUSH(&open) = p;
    while (open.count) {
        uint32_t path = open.at[open.count - 1], group = group_of[path];
        if (entered[path]) {
            around[group]--;
            open.count--;
            continue;
        }
        entered[path] = true;
        add_sums(&self[group], &query->self[path]);
        if (around[group]++ == 0)
            add_sums(&total[group], &query->total[path]);
        for (uint32_t p = query->first_child[path]; p; p = query->next_sibling[p])
            *VEC_PUSH(&open) = p;
    }
    for (uint32_t g = 0; g < group_count; g++) {
        if (is_empty(&self[g]) && is_empty(&total[g]))
            continue;
        const char *name = names_text(groups, g);
        struct modules_row *row = modules_add_row(query, name, names_length(groups, g));
        row->class_name = modules_keep(query->modules, name, python_class_length(name));
        set_sums(query, row, &self[g], &total[g]);
    }
    add_outside(query);
}

/* Remove rows whose names are not selected; the figures of the others do not change. */
static bool filter_rows(struct modules *modules, const struct modules_options *options, struct tpa_error *err)
{
    if (!options->filter && !options->exclude)
        return true;
    SCOPED_OBJECT struct names *names = names_open();
    for (size_t i = 0; i < modules->rows.count; i++)
        names_add(names, modules->rows.at[i].name.at, modules->rows.at[i].name.len);
    SCOPED bool *matched = selection_match_names(names, options->filter, options->exclude, err);
    size_t kept = 0;
    for (size_t i = 0; matched && i < modules->rows.count; i++) {
        const struct modules_row *row = &modules->rows.at[i];
        if (matched[names_find(names, row->name.at, row->name.len)])
            modules->rows.at[kept++] = *row;
    }
    modules->rows.count = kept;
    return matched != NULL;
}

static struct table *empty_table(void)
{
    return TABLE_OF_ROWS("modules", NULL, columns, (struct modules_row *)NULL, 0);
}

/* The column to sort by; NULL and ERR if there is none of that name. */
static const struct table_column *sort_column(const struct modules_options *options, bool has_device,
                                              struct tpa_error *err)
{
    const char *key = options->sort ? options->sort : has_device ? "device_total" : "cpu_total";
    struct table *table = empty_table();
    int column = table_sort_column(table, key, err);
    table_free(table);
    if (column >= 0 && options->by == MODULES_BY_TREE && table_is_text(columns[column].kind)) {
        tpa_fail(err, TPA_NOWHERE, "cannot sort a tree by '%s'", key);
        tpa_hint(err, "sort by a figure of the table, such as device_total, self_cpu or count");
        return NULL;
    }
    return column < 0 ? NULL : &columns[column];
}

/* The rows of one file, or of all. */
static void modules_add_rows(struct modules_query *query, const struct table_column *column)
{
    sum_selves(query);
    sum_tree(query);
    if (query->options->by == MODULES_BY_TREE)
        add_tree(query, column);
    else
        add_flat(query);
    query->modules->cpu_ns += query->cpu_ns;
    query->modules->device_ns += query->device_ns;
}

static const struct key by_order[] = { ASC(struct modules_row, order), KEY_END };

static void add_all_rows(struct modules_query *query, const struct table_column *column)
{
    const struct selection *selection = query->selection;
    struct modules *modules = query->modules;
    if (!query->options->by_rank)
        modules_add_rows(query, column);
    for (uint32_t f = 0; query->options->by_rank && f < query->trace->file_count; f++) {
        query->file = f;
        if (!selection->files || selection->files[f])
            modules_add_rows(query, column);
    }
    SORT(&modules->rows, by_order);
}

/* New; free with arena_free. SELECTION must select no names. NULL and ERR if a regular expression is invalid, or the
 * column to sort by does not exist. */
static struct modules *modules_analyze(const struct trace *trace, const struct selection *selection,
                                       const struct modules_options *options, struct tpa_error *err)
{
    struct modules *modules = arena_open(sizeof *modules);
    ARENA_OWNS(arena_of(modules), &modules->rows);
    struct modules_query query = {
        .trace = trace, .selection = selection, .options = options, .file = ALL_FILES, .modules = modules
    };
    query.paths = code_paths_of(trace, options->by == MODULES_BY_LINE ? CODE_LINES : CODE_MODULES);
    query.innermost_ns = innermost_times(query.paths->tree);
    size_t count = query.paths->count;
    query.self = mem_zalloc(count + 1, sizeof *query.self);
    query.total = mem_zalloc(count + 1, sizeof *query.total);
    query.first_child = mem_zalloc(count + 1, sizeof *query.first_child);
    query.next_sibling = mem_zalloc(count + 1, sizeof *query.next_sibling);
    query.depth = mem_zalloc(count + 1, sizeof *query.depth);
    query.has_device = modules_find_device(&query);
    modules->has_device = query.has_device;
    modules->device_name = device_type_name((enum device_type)device_types_of(trace)->of_file[0]);
    modules->unlinked = (int64_t)query.paths->unlinked;
    modules->any = count > 1;
    const struct table_column *column = sort_column(options, query.has_device, err);
    if (column)
        add_all_rows(&query, column);
    bool good = column && filter_rows(modules, options, err);
    EACH(free, query.innermost_ns, query.self, query.total, query.first_child, query.next_sibling,
         query.depth);
    if (good)
        return modules;
    arena_free(modules);
    return NULL;
}

/* ---- the command ---- */

static void choose_columns(struct table *table, const struct modules *modules,
                           const struct modules_options *options)
{
    enum modules_by by = options->by;
    for (size_t c = 0; c < table->column_count && modules->has_device; c++)
        table->columns[c].title =
            device_type_title(&table->arena, table->columns[c].title, modules->device_name);
    if (!modules->has_device) {
        TABLE_FLAG(table, struct modules_row, device_ns, TABLE_OPTIONAL);
        TABLE_FLAG(table, struct modules_row, self_device_ns, TABLE_OPTIONAL);
        TABLE_FLAG(table, struct modules_row, device_share, TABLE_OPTIONAL);
        TABLE_FLAG(table, struct modules_row, device_forward_ns, TABLE_OPTIONAL);
        TABLE_FLAG(table, struct modules_row, device_backward_ns, TABLE_OPTIONAL);
        TABLE_FLAG(table, struct modules_row, cpu_share, 0);
    }
    if (options->by_rank)
        TABLE_FLAG(table, struct modules_row, rank, 0);
    if (by == MODULES_BY_LINE)
        table->columns[table_column_at(table, offsetof(struct modules_row, shown))].title = "Line";
    if (by != MODULES_BY_TREE) {
        TABLE_FLAG(table, struct modules_row, depth, TABLE_HIDDEN);
        TABLE_FLAG(table, struct modules_row, path, TABLE_HIDDEN);
    }
    if (by == MODULES_BY_CLASS || by == MODULES_BY_LINE)
        TABLE_FLAG(table, struct modules_row, class_name, TABLE_HIDDEN);
}

static struct table *modules_table(const struct modules *modules, const struct modules_options *options)
{
    struct table *table = TABLE_OF_ROWS("modules", options->by == MODULES_BY_LINE ? "Lines" : "Modules",
                                        columns, modules->rows.at, modules->rows.count);
    table->none = "No module ran here.";
    choose_columns(table, modules, options);
    struct tpa_error ignored = { 0 };
    const struct table_column *column = sort_column(options, modules->has_device, &ignored);
    if (options->by != MODULES_BY_TREE)
        table_sort(table, (size_t)(column - columns), options->reverse);
    table_add_footer(table, "host_time", "Host threads", TABLE_NS, table_int(modules->cpu_ns));
    if (modules->has_device)
        table_add_footer(table, "device_time", "Kernels, copies, memsets", TABLE_NS,
                         table_int(modules->device_ns));
    table_drop_hidden(table);
    return table;
}

static void modules_add_notices(const struct modules *modules, enum modules_by by, struct result *result)
{
    if (!modules->any)
        ADD_NOTICE(result, "no_modules", 0,
                   by == MODULES_BY_LINE
                       ? "no function outside PyTorch is in the recorded stacks"
                       : "no nn.Module was called in the recorded stacks; tpa modules --by line shows "
                         "lines of source");
    if (modules->unlinked)
        ADD_NOTICE(result, "unlinked_backward", modules->unlinked,
                   "%" PRId64 " operators of the backward pass belong to forward operators that were not "
                   "recorded; they count where they ran",
                   modules->unlinked);
}

bool modules_add_table(const struct trace *trace, const struct selection *selection,
                       const struct modules_options *options, struct result *result, struct tpa_error *err)
{
    SCOPED_OBJECT struct modules *modules = modules_analyze(trace, selection, options, err);
    if (!modules)
        return false;
    result_add_table(result, modules_table(modules, options));
    modules_add_notices(modules, options->by, result);
    return true;
}

struct own_options {
    uint64_t depth;
    const char *sort;
    bool reverse;
};

static const struct own_options defaults = { 0 };

static const struct opt options[] = {
    OPT_COUNT('d', "depth", struct own_options, depth, 0, 1000000, "N",
              "show N levels of the tree; what lies deeper counts as its callers' own. 0 shows all"),
    OPT_TEXT(
        's', "sort", struct own_options, sort, "KEY",
        "sort by this column, largest first, in the tree among those of one caller; without it by total time"),
    OPT_FLAG('r', "reverse", struct own_options, reverse, "smallest first"),
    OPT_END,
};

/* In the order of enum modules_by. */
static const struct opt_choice own_words[] = {
    { "tree", "each module within those that called it", NULL },
    { "module", "each module, added up over its callers", "instance" },
    { "class", "all modules of a class together", NULL },
    { "line", "the innermost function outside PyTorch: file(line): name", "stack" },
    { .name = "step", .refusal = "a module runs in every step; see --steps, and tpa top --by module,step" },
    { .name = "device",
      .aliases = "stream",
      .refusal =
          "a module has host time, too, which lies on no device; see --device, and tpa top --by module,device" },
    { .name = "thread",
      .refusal =
          "a module's backward pass runs on other threads; tpa top --by module,thread has rows per thread" },
    { .name = "op",
      .aliases = "operator kernel",
      .refusal = "modules call operators; tpa top --by module,op has both" },
    { 0 },
};

static bool run_modules(const struct analysis_query *query, struct result *result, struct tpa_error *err)
{
    const struct own_options *own = query->options;
    unsigned kinds = query->by / BY_OWN(0);
    struct modules_options chosen = { .by = MODULES_BY_TREE,
                                      .by_rank = query->by & BY(RANK),
                                      .depth = (int64_t)own->depth,
                                      .indent = query->for_people,
                                      .sort = own->sort,
                                      .reverse = own->reverse,
                                      .filter = query->filter,
                                      .exclude = query->exclude };
    if (kinds & (kinds - 1)) {
        tpa_fail(err, TPA_NOWHERE, "--by takes one of tree, module, class and line at a time");
        return tpa_hint(err, "rank may be added to it, as in class,rank");
    }
    while (kinds >> chosen.by > 1)
        chosen.by++;
    return modules_add_table(query->trace, query->selection, &chosen, result, err);
}

static const struct table_shape tables[] = {
    TABLE_SHAPE("modules", columns),
    { 0 },
};

const struct analysis analysis_modules = {
    .name = "modules",
    .summary = "time per nn.Module and per line of source, forward and backward",
    .description =
        "One row per module of a model, indented below the module that called it. Columns are its calls and "
        "its time on the host and on devices, its own and with all that it called. The backward pass counts with the module whose "
        "forward pass caused it, and has columns of its own.\n\n"
        "--by class adds up all modules of a class, --by module all calls of a module. --by line has a row per function of "
        "your own code: the innermost one outside PyTorch.\n\n"
        "What was in no module is a row, too: its time and that of the outermost modules add up to all there is.",
    .schema = "tpa.modules/1",
    .examples = {
        "tpa modules --depth 2 trace.json",
        "tpa modules --by class trace.json  # Linear, LayerNorm ...",
        "tpa modules --by line --sort self_cpu trace.json",
        "tpa modules --steps 3 --format json trace.json",
    },
    .wants = &modules_wants,
    .needs = FEATURE_STACKS,
    .dimensions = BY(RANK),
    .own_words = own_words,
    .by_help = "what makes a row, tree when not given; rank may stand beside another. One or more of",
    .options = options,
    ANALYSIS_DEFAULTS(defaults),
    .filters_rows = true,
    .tables = { tables },
    .captures = true,
    .run = run_modules,
    .section = "Modules",
    .section_intro =
        "Time per nn.Module, forward and backward, on the host and on the devices.",
};
