/*
 * modules.c - see modules.h.
 *
 * Each moment of a host thread belongs to the innermost frame, operator or call that was open, and so to one path (see
 * code_paths.h); each work of a device to the path it was launched from. All else is sums over the tree of paths, in
 * which parents come before their children.
 */
#include "analyze/modules.h"

#include "facts/code_paths.h"
#include "facts/python_names.h"
#include "base/buffer.h"
#include "base/memory.h"
#include "base/suggest.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const struct trace_wants modules_wants = { .args = CODE_PATHS_WANTS };

enum column {
    COLUMN_RANK,
    COLUMN_NAME,
    COLUMN_COUNT,
    COLUMN_DEVICE_TOTAL,
    COLUMN_DEVICE_SELF,
    COLUMN_DEVICE_SHARE,
    COLUMN_CPU_TOTAL,
    COLUMN_CPU_SELF,
    COLUMN_CPU_SHARE,
    COLUMN_DEVICE_FORWARD,
    COLUMN_DEVICE_BACKWARD,
    COLUMN_CPU_FORWARD,
    COLUMN_CPU_BACKWARD,
    COLUMN_WORKS,
    COLUMN_CLASS,
    COLUMN_DEPTH,
    COLUMN_PATH,
    COLUMN_ORDER,
    COLUMNS
};

/* clang-format off */
static const struct table_column columns[COLUMNS] = {
    { "rank", "Rank", TABLE_COUNT, "rank of the file, or its place among the files", TABLE_HIDDEN, NULL },
    { "name", "Module", TABLE_NAME, "the module: its class and number; or the line of source", 0, "module line" },
    { "count", "Calls", TABLE_COUNT, "how often it was called", 0, "calls" },
    { "device_total", "CUDA total", TABLE_NS, "durations of the kernels, copies and memsets that it and all it called launched", 0, "cuda_time_total device_time_total cuda_total" },
    { "self_device", "Self CUDA", TABLE_NS, "of these, what it launched itself, in none of the modules that it called", 0, "self_cuda_time_total self_device_time_total self_cuda" },
    { "device_share", "CUDA share", TABLE_SHARE, "total as a share of all work of devices", 0, "cuda_share" },
    { "cpu_total", "CPU total", TABLE_NS, "time on the host in it and all it called, and in the backward pass of these", 0, "cpu_time_total" },
    { "self_cpu", "Self CPU", TABLE_NS, "of this, what was in none of the modules that it called", 0, "self_cpu_time_total" },
    { "cpu_share", "CPU share", TABLE_SHARE, "total as a share of the time of all host threads in frames, operators and calls", TABLE_OPTIONAL, NULL },
    { "device_forward", "CUDA forward", TABLE_NS, "the part of the total that the forward pass launched", 0, "cuda_forward" },
    { "device_backward", "CUDA backward", TABLE_NS, "the part of the total that the backward pass launched", 0, "cuda_backward" },
    { "cpu_forward", "CPU forward", TABLE_NS, "the part of the total that is of the forward pass", 0, NULL },
    { "cpu_backward", "CPU backward", TABLE_NS, "the part of the total that is of the backward pass", 0, NULL },
    { "works", "Kernels", TABLE_COUNT, "kernels, copies and memsets launched by it and all it called", TABLE_OPTIONAL, "kernels" },
    { "class", "Class", TABLE_TEXT, "class of the module", TABLE_OPTIONAL, NULL },
    { "depth", "Depth", TABLE_COUNT, "how deep in the tree: 1 for what no other module called", TABLE_OPTIONAL, NULL },
    { "path", "Path", TABLE_TEXT, "the modules from the outermost to this one", TABLE_OPTIONAL, NULL },
    { "order", "Order", TABLE_COUNT, "place in the tree, counted down", TABLE_HIDDEN, NULL },
};
/* clang-format on */

enum pass { PASS_FORWARD, PASS_BACKWARD, PASSES };

struct sums {
    int64_t cpu_ns[PASSES], device_ns[PASSES], works, calls;
};

struct question {
    const struct trace *trace;
    const struct selection *selection;
    const struct modules_options *options;
    struct code_paths *paths;
    int64_t *innermost_ns;                /* by node of the call tree */
    uint32_t file;                        /* the rows are about this one; ALL_FILES */
    struct sums *self, *total;            /* by path */
    uint32_t *first_child, *next_sibling; /* by path; CODE_OUTSIDE: none */
    uint32_t *depth;                      /* by path; 1 for the outermost */
    struct table *table;
    bool has_device;
    int64_t cpu_ns, device_ns; /* of all that the rows are about */
    int64_t place;             /* in the tree, of the last row that has one */
};

#define ALL_FILES UINT32_MAX

/* ---- sums ---- */

static void add_sums(struct sums *to, const struct sums *sums)
{
    for (int pass = 0; pass < PASSES; pass++) {
        to->cpu_ns[pass] += sums->cpu_ns[pass];
        to->device_ns[pass] += sums->device_ns[pass];
    }
    to->works += sums->works;
    to->calls += sums->calls;
}

static int64_t both(const int64_t ns[PASSES])
{
    return ns[PASS_FORWARD] + ns[PASS_BACKWARD];
}

static bool is_empty(const struct sums *sums)
{
    return !both(sums->cpu_ns) && !both(sums->device_ns) && !sums->works && !sums->calls;
}

/*
 * How long each node was the innermost: of those open at a moment, the last to begin. An event that begins in a call and
 * ends after it is no child of it, yet no moment of a thread counts twice. New; free with free().
 */
static int64_t *innermost_times(const struct calltree *tree)
{
    const struct trace *trace = tree->trace;
    int64_t *self_ns = mem_zalloc(tree->count + 1, sizeof *self_ns);
    node_id *open = mem_alloc((tree->count + 1) * sizeof *open);
    for (size_t t = 0; t < tree->thread_count; t++) {
        const struct calltree_thread *thread = &tree->threads[t];
        int64_t at_ns = INT64_MIN; /* up to here, moments have been given away */
        size_t depth = 0;
        for (uint32_t i = 0; i <= thread->count; i++) {
            node_id next = thread->first + i;
            int64_t start_ns = i < thread->count ? trace->start_ns[tree->event[next]] : INT64_MAX;
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
    free(open);
    return self_ns;
}

static void sum_thread(struct question *question, const struct calltree_thread *thread)
{
    const struct calltree *tree = question->paths->tree;
    for (node_id n = thread->first; n < thread->first + thread->count; n++) {
        event_id e = tree->event[n];
        if (!selection_holds_place(question->selection, e))
            continue;
        struct code_place place = code_place_of(question->paths, e);
        struct sums *sums = &question->self[place.path];
        sums->cpu_ns[place.backward ? PASS_BACKWARD : PASS_FORWARD] += question->innermost_ns[n];
        sums->calls += (question->paths->flags[n] & CODE_FRAME) != 0;
    }
}

/* Work of a device counts when the call that launched it was asked for. */
static bool work_is_held(const struct question *question, const struct attribution *launches, event_id e)
{
    const struct selection *selection = question->selection;
    const struct trace *trace = question->trace;
    event_id call = attribution_call(launches, e);
    uint32_t file = trace->tracks[trace->track[e]].file;
    return (!selection->tracks || selection->tracks[trace->track[e]]) &&
           (!selection->files || selection->files[file]) &&
           selection_holds_time(selection, file, trace->start_ns[call == EVENT_NONE ? e : call]);
}

/* Is there any work that counts? */
static bool find_device(const struct question *question)
{
    const struct attribution *launches = attribution_of(question->trace);
    for (event_id e = 0; e < question->trace->event_count; e++)
        if (event_is_gpu_work(question->trace->kind[e]) && work_is_held(question, launches, e))
            return true;
    return false;
}

static void sum_devices(struct question *question, event_id first, event_id end)
{
    const struct trace *trace = question->trace;
    const struct attribution *launches = attribution_of(trace);
    for (event_id e = first; e < end; e++) {
        if (!event_is_gpu_work(trace->kind[e]) || !work_is_held(question, launches, e))
            continue;
        struct code_place place = code_place_of_work(question->paths, launches, e);
        struct sums *sums = &question->self[place.path];
        sums->device_ns[place.backward ? PASS_BACKWARD : PASS_FORWARD] += trace->dur_ns[e];
        sums->works++;
    }
}

/* What each path has itself, of the file or files that the rows are about. */
static void sum_selves(struct question *question)
{
    const struct trace *trace = question->trace;
    const struct calltree *tree = question->paths->tree;
    memset(question->self, 0, question->paths->count * sizeof *question->self);
    for (size_t t = 0; t < tree->thread_count; t++)
        if (question->file == ALL_FILES || trace->tracks[tree->threads[t].track].file == question->file)
            sum_thread(question, &tree->threads[t]);
    if (!question->has_device)
        return;
    if (question->file == ALL_FILES)
        sum_devices(question, 0, (event_id)trace->event_count);
    else
        sum_devices(question, trace->files[question->file].first_event,
                    trace->files[question->file].first_event + trace->files[question->file].event_count);
}

/* Totals, depths, and who is in whom. */
static void sum_tree(struct question *question)
{
    const struct code_paths *paths = question->paths;
    question->cpu_ns = question->device_ns = 0;
    memset(question->first_child, 0, paths->count * sizeof *question->first_child);
    for (uint32_t p = 0; p < paths->count; p++) {
        question->total[p] = question->self[p];
        question->depth[p] = p == CODE_OUTSIDE ? 0 : question->depth[paths->at[p].parent] + 1;
        question->cpu_ns += both(question->self[p].cpu_ns);
        question->device_ns += both(question->self[p].device_ns);
    }
    for (uint32_t p = (uint32_t)paths->count; p-- > 1;) {
        uint32_t parent = paths->at[p].parent;
        if (parent != CODE_OUTSIDE)
            add_sums(&question->total[parent], &question->total[p]);
        question->next_sibling[p] = question->first_child[parent];
        question->first_child[parent] = p;
    }
}

/* ---- rows ---- */

static size_t add_row(const struct question *question)
{
    size_t row = table_add_row(question->table);
    if (question->file != ALL_FILES)
        table_set_int(question->table, row, COLUMN_RANK, selection_rank(question->trace, question->file));
    return row;
}

static void set_sums(const struct question *question, size_t row, const struct sums *self,
                     const struct sums *total)
{
    struct table *table = question->table;
    table_set_int(table, row, COLUMN_CPU_TOTAL, both(total->cpu_ns));
    table_set_int(table, row, COLUMN_CPU_SELF, both(self->cpu_ns));
    table_set_int(table, row, COLUMN_CPU_FORWARD, total->cpu_ns[PASS_FORWARD]);
    table_set_int(table, row, COLUMN_CPU_BACKWARD, total->cpu_ns[PASS_BACKWARD]);
    if (question->cpu_ns > 0)
        table_set_number(table, row, COLUMN_CPU_SHARE,
                         (double)both(total->cpu_ns) / (double)question->cpu_ns);
    if (!question->has_device)
        return;
    table_set_int(table, row, COLUMN_DEVICE_TOTAL, both(total->device_ns));
    table_set_int(table, row, COLUMN_DEVICE_SELF, both(self->device_ns));
    table_set_int(table, row, COLUMN_DEVICE_FORWARD, total->device_ns[PASS_FORWARD]);
    table_set_int(table, row, COLUMN_DEVICE_BACKWARD, total->device_ns[PASS_BACKWARD]);
    table_set_int(table, row, COLUMN_WORKS, total->works);
    if (question->device_ns > 0)
        table_set_number(table, row, COLUMN_DEVICE_SHARE,
                         (double)both(total->device_ns) / (double)question->device_ns);
}

static size_t add_outside(const struct question *question)
{
    const char *name =
        question->options->by == MODULES_BY_LINE ? "(outside any line)" : "(outside any module)";
    size_t row = add_row(question);
    table_set_text(question->table, row, COLUMN_NAME, name, strlen(name));
    set_sums(question, row, &question->self[CODE_OUTSIDE], &question->self[CODE_OUTSIDE]);
    return row;
}

/* "Net_0/Linear_1" */
static void show_path(const struct code_paths *paths, uint32_t path, struct buffer *out)
{
    VEC_OF(uint32_t) names = { 0 };
    for (; path != CODE_OUTSIDE; path = paths->at[path].parent)
        *VEC_PUSH(&names) = path;
    buffer_clear(out);
    for (size_t i = names.count; i-- > 0;)
        buffer_printf(out, "%s%s", code_path_name(paths, names.at[i]), i ? "/" : "");
    VEC_FREE(&names);
}

static void set_class(struct table *table, size_t row, const char *module)
{
    table_set_text(table, row, COLUMN_CLASS, module, python_class_length(module));
}

/* Paths that are shown whole would make rows as long as the tree is deep. */
enum { DEEPEST_SHOWN = 100 };

static void add_path_row(const struct question *question, uint32_t path, const struct sums *self,
                         struct buffer *text)
{
    const char *name = code_path_name(question->paths, path);
    uint32_t depth = question->depth[path];
    size_t row = add_row(question);
    buffer_clear(text);
    if (question->options->indent)
        buffer_pad(text, ' ', 2 * (size_t)((depth < DEEPEST_SHOWN ? depth : DEEPEST_SHOWN) - 1));
    buffer_puts(text, name);
    table_set_text(question->table, row, COLUMN_NAME, text->at, text->count);
    table_set_int(question->table, row, COLUMN_DEPTH, depth);
    set_class(question->table, row, name);
    if (depth <= DEEPEST_SHOWN) {
        show_path(question->paths, path, text);
        table_set_text(question->table, row, COLUMN_PATH, text->at, text->count);
    }
    if (question->self[path].calls)
        table_set_int(question->table, row, COLUMN_COUNT, question->self[path].calls);
    set_sums(question, row, self, &question->total[path]);
}

/* ---- the tree ---- */

/* What siblings are sorted by: the value of a cell as a number of which larger ones come first. */
struct sibling {
    double value;
    uint32_t path;
};

static int compare_siblings(const void *left, const void *right)
{
    const struct sibling *a = left, *b = right;
    if (a->value != b->value)
        return a->value > b->value ? -1 : 1;
    return a->path < b->path ? -1 : a->path > b->path; /* as first called */
}

/* Number the rows of the tree: a module before those it called, of one caller's in the order of COLUMN. */
static void order_tree(struct question *question, const uint32_t *row_of, size_t column)
{
    struct table *table = question->table;
    VEC_OF(uint32_t) open = { 0 };
    VEC_OF(struct sibling) siblings = { 0 };
    *VEC_PUSH(&open) = CODE_OUTSIDE;
    while (open.count) {
        uint32_t path = open.at[--open.count];
        if (path != CODE_OUTSIDE)
            table_set_int(table, row_of[path], COLUMN_ORDER, --question->place);
        siblings.count = 0;
        for (uint32_t child = question->first_child[path]; child; child = question->next_sibling[child]) {
            if (row_of[child] == UINT32_MAX)
                continue;
            const union table_cell *cell = table_cell(table, row_of[child], column);
            enum table_kind kind = table->columns[column].kind;
            double value = table_cell_is_missing(cell, kind) ? 0
                           : table_is_number(kind)           ? cell->f
                                                             : (double)cell->i;
            *VEC_PUSH(&siblings) = (struct sibling){ question->options->reverse ? -value : value, child };
        }
        if (siblings.count)
            qsort(siblings.at, siblings.count, sizeof *siblings.at, compare_siblings);
        for (size_t i = siblings.count; i-- > 0;)
            *VEC_PUSH(&open) = siblings.at[i].path;
    }
    VEC_FREE(&open);
    VEC_FREE(&siblings);
}

static void add_tree(struct question *question, size_t column)
{
    const struct code_paths *paths = question->paths;
    uint32_t *row_of = mem_alloc((paths->count + 1) * sizeof *row_of);
    struct buffer text = { 0 };
    int64_t deepest = question->options->depth;
    for (uint32_t p = 0; p < paths->count; p++) {
        row_of[p] = UINT32_MAX;
        bool below = deepest > 0 && question->depth[p] > deepest;
        if (p == CODE_OUTSIDE || below || is_empty(&question->total[p]))
            continue;
        row_of[p] = (uint32_t)question->table->row_count;
        bool last = deepest > 0 && question->depth[p] == deepest;
        add_path_row(question, p, last ? &question->total[p] : &question->self[p], &text);
    }
    order_tree(question, row_of, column);
    buffer_release(&text);
    free(row_of);
    table_set_int(question->table, add_outside(question), COLUMN_ORDER, --question->place);
}

/* ---- without the tree ---- */

/*
 * Sums by group: of a path, by its label, or by the class that is in it. A path within another of its group adds to
 * the group's own time and calls, but not a second time to its total.
 */
static void add_flat(const struct question *question)
{
    const struct code_paths *paths = question->paths;
    bool by_class = question->options->by == MODULES_BY_CLASS;
    struct names *groups = names_open();
    uint32_t *group_of = mem_alloc((paths->count + 1) * sizeof *group_of);
    for (uint32_t p = 1; p < paths->count; p++) {
        const char *name = code_path_name(paths, p);
        group_of[p] = names_add(groups, name, by_class ? python_class_length(name) : strlen(name));
    }
    size_t group_count = names_count(groups);
    struct sums *self = mem_zalloc(group_count + 1, sizeof *self);
    struct sums *total = mem_zalloc(group_count + 1, sizeof *total);
    uint32_t *around = mem_zalloc(group_count + 1, sizeof *around); /* how many paths of it are open */

    /* Down the tree and up again: a path that is met a second time is left. */
    VEC_OF(uint32_t) open = { 0 };
    bool *entered = mem_zalloc(paths->count + 1, sizeof *entered);
    for (uint32_t p = question->first_child[CODE_OUTSIDE]; p; p = question->next_sibling[p])
        *VEC_PUSH(&open) = p;
    while (open.count) {
        uint32_t path = open.at[open.count - 1], group = group_of[path];
        if (entered[path]) {
            around[group]--;
            open.count--;
            continue;
        }
        entered[path] = true;
        add_sums(&self[group], &question->self[path]);
        if (around[group]++ == 0)
            add_sums(&total[group], &question->total[path]);
        for (uint32_t p = question->first_child[path]; p; p = question->next_sibling[p])
            *VEC_PUSH(&open) = p;
    }
    for (uint32_t g = 0; g < group_count; g++) {
        if (is_empty(&self[g]) && is_empty(&total[g]))
            continue;
        size_t row = add_row(question);
        const char *name = names_text(groups, g);
        table_set_text(question->table, row, COLUMN_NAME, name, names_length(groups, g));
        set_class(question->table, row, name);
        if (self[g].calls)
            table_set_int(question->table, row, COLUMN_COUNT, self[g].calls);
        set_sums(question, row, &self[g], &total[g]);
    }
    add_outside(question);
    VEC_FREE(&open);
    free(entered);
    free(around);
    free(self);
    free(total);
    free(group_of);
    names_free(groups);
}

/* ---- the whole ---- */

/* Rows whose names were not asked for go; the figures of the others stay. */
static bool filter_rows(struct table *table, const struct modules_options *options, struct tpa_error *err)
{
    if (!options->filter && !options->exclude)
        return true;
    struct names *names = names_open();
    uint32_t *name_of = mem_alloc((table->row_count + 1) * sizeof *name_of);
    for (size_t row = 0; row < table->row_count; row++) {
        const char *name = table_cell(table, row, COLUMN_NAME)->text.at;
        name += strspn(name, " ");
        name_of[row] = names_add(names, name, strlen(name));
    }
    bool *matched = selection_match_names(names, options->filter, options->exclude, err);
    bool *keep = mem_zalloc(table->row_count + 1, sizeof *keep);
    for (size_t row = 0; matched && row < table->row_count; row++)
        keep[row] = matched[name_of[row]];
    if (matched)
        table_filter(table, keep);
    free(keep);
    free(name_of);
    names_free(names);
    bool good = matched != NULL;
    free(matched);
    return good;
}

static void choose_columns(struct table *table, const struct question *question)
{
    enum modules_by by = question->options->by;
    static const enum column of_devices[] = { COLUMN_DEVICE_TOTAL, COLUMN_DEVICE_SELF, COLUMN_DEVICE_SHARE,
                                              COLUMN_DEVICE_FORWARD, COLUMN_DEVICE_BACKWARD };
    for (size_t i = 0; i < sizeof of_devices / sizeof *of_devices && !question->has_device; i++)
        table->columns[of_devices[i]].flags = TABLE_OPTIONAL;
    if (!question->has_device)
        table->columns[COLUMN_CPU_SHARE].flags = 0;
    if (question->options->by_rank)
        table->columns[COLUMN_RANK].flags = 0;
    if (by == MODULES_BY_LINE)
        table->columns[COLUMN_NAME].title = "Line";
    if (by != MODULES_BY_TREE)
        table->columns[COLUMN_DEPTH].flags = table->columns[COLUMN_PATH].flags = TABLE_HIDDEN;
    if (by == MODULES_BY_CLASS || by == MODULES_BY_LINE)
        table->columns[COLUMN_CLASS].flags = TABLE_HIDDEN;
}

/* The column to sort by; SIZE_MAX and ERR when there is none of that name. */
static size_t sort_column(const struct question *question, struct tpa_error *err)
{
    const char *key = question->options->sort;
    if (!key)
        return question->has_device ? COLUMN_DEVICE_TOTAL : COLUMN_CPU_TOTAL;
    int column = table_find_column(question->table, key, strlen(key));
    if (column >= 0 && column != COLUMN_ORDER &&
        (question->options->by != MODULES_BY_TREE || !table_is_text(columns[column].kind)))
        return (size_t)column;
    struct suggest near = suggest_for(key, strlen(key));
    table_suggest_column(question->table, &near);
    tpa_fail(err, TPA_NOWHERE, "cannot sort by '%s'%s%s%s", key, near.best ? "; did you mean " : "",
             near.best ? near.best : "", near.best ? "?" : "");
    tpa_hint(err, "sort by a figure of the table, such as device_total, self_cpu or count");
    return SIZE_MAX;
}

static void add_notices(const struct question *question, struct result *result)
{
    if (question->paths->count == 1)
        result_add_notice(result, "no_modules", 0, NULL, TPA_NOWHERE,
                          question->options->by == MODULES_BY_LINE
                              ? "no function outside PyTorch is in the recorded stacks"
                              : "no nn.Module was called in the recorded stacks; tpa modules --by line tells "
                                "lines of source");
    if (question->paths->unlinked)
        result_add_notice(result, "unlinked_backward", (int64_t)question->paths->unlinked, NULL, TPA_NOWHERE,
                          "%" PRIu64
                          " operators of the backward pass belong to forward operators that were not "
                          "recorded; they count where they ran",
                          question->paths->unlinked);
}

/* The rows of one file, or of all; what they add up to is added to *CPU_NS and *DEVICE_NS. */
static void add_rows(struct question *question, size_t column, int64_t *cpu_ns, int64_t *device_ns)
{
    sum_selves(question);
    sum_tree(question);
    if (question->options->by == MODULES_BY_TREE)
        add_tree(question, column);
    else
        add_flat(question);
    *cpu_ns += question->cpu_ns;
    *device_ns += question->device_ns;
}

static void add_all_rows(struct question *question, size_t column)
{
    const struct selection *selection = question->selection;
    struct table *table = question->table;
    int64_t cpu_ns = 0, device_ns = 0;
    if (!question->options->by_rank)
        add_rows(question, column, &cpu_ns, &device_ns);
    for (uint32_t f = 0; question->options->by_rank && f < question->trace->file_count; f++) {
        question->file = f;
        if (!selection->files || selection->files[f])
            add_rows(question, column, &cpu_ns, &device_ns);
    }
    bool tree = question->options->by == MODULES_BY_TREE;
    table_sort(table, tree ? COLUMN_ORDER : column, tree ? false : question->options->reverse);
    if (tree)
        table->sort_column = TABLE_NO_COLUMN;
    table_add_footer(table, "host_time", "Host threads", TABLE_NS, table_int(cpu_ns));
    if (question->has_device)
        table_add_footer(table, "device_time", "Kernels, copies, memsets", TABLE_NS, table_int(device_ns));
}

bool modules_add_table(const struct trace *trace, const struct selection *selection,
                       const struct modules_options *options, struct result *result, struct tpa_error *err)
{
    enum code_frames frames = options->by == MODULES_BY_LINE ? CODE_LINES : CODE_MODULES;
    struct question question = {
        .trace = trace, .selection = selection, .options = options, .file = ALL_FILES
    };
    question.paths = code_paths_open(trace, frames);
    question.innermost_ns = innermost_times(question.paths->tree);
    size_t count = question.paths->count;
    question.self = mem_zalloc(count + 1, sizeof *question.self);
    question.total = mem_zalloc(count + 1, sizeof *question.total);
    question.first_child = mem_zalloc(count + 1, sizeof *question.first_child);
    question.next_sibling = mem_zalloc(count + 1, sizeof *question.next_sibling);
    question.depth = mem_zalloc(count + 1, sizeof *question.depth);
    question.has_device = find_device(&question);

    question.table = table_open("modules", frames == CODE_LINES ? "Lines" : "Modules", columns, COLUMNS);
    choose_columns(question.table, &question);
    size_t column = sort_column(&question, err);
    bool good = column != SIZE_MAX;
    if (good)
        add_all_rows(&question, column);
    good = good && filter_rows(question.table, options, err);
    if (good) {
        table_drop_hidden(question.table);
        result_add_table(result, question.table);
        add_notices(&question, result);
    } else {
        table_free(question.table);
    }
    free(question.innermost_ns);
    free(question.self);
    free(question.total);
    free(question.first_child);
    free(question.next_sibling);
    free(question.depth);
    code_paths_free(question.paths);
    return good;
}
