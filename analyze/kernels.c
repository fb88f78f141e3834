/* One pass in order of the file collects the data of each kernel, and groups kernels by name with a counting sort.
 * Within a name they are sorted by group and launch shape; each run of equal keys is a row. */
#include "analyze/kernels.h"

#include "analyze/contention/contention.h"

#include "base/demangle.h"
#include "base/rows.h"
#include "base/stats.h"
#include "base/sum.h"
#include "derive/code_paths.h"
#include "derive/device_types.h"
#include "derive/features.h"
#include "trace/arg_scan.h"

const struct trace_wants kernels_wants = {
    .args = ATTRIBUTION_WANTS | WANT(GRID) | WANT(BLOCK) | WANT(REGISTERS) | WANT(SHARED_MEMORY) |
            WANT(BLOCKS_PER_SM) | WANT(OCCUPANCY),
};

/* clang-format off */
static const struct table_column columns[] = {
    COLUMN(struct kernel_row, name, "name", "Name", TABLE_NAME, "the kernel, demangled"),
    GROUP_COLUMNS(struct kernel_row, key),
    COLUMN(struct kernel_row, durations.total_ns, "total", "Total", TABLE_NS, "its durations added up", .aliases = "sum"),
    COLUMN(struct kernel_row, operators, "operators", "Operators", TABLE_TEXT, "operators that launch it, most often first", .flags = TABLE_LIST),
    COLUMN(struct kernel_row, durations.count, "count", "Runs", TABLE_TALLY, "how often it ran", .aliases = "instances calls"),
    COLUMN(struct kernel_row, share, "share", "Share", TABLE_SHARE, "total as a share of the totals of all rows"),
    COLUMN(struct kernel_row, durations.average_ns, "average", "Average", TABLE_NS, "mean duration", .aliases = "avg mean"),
    COLUMN(struct kernel_row, durations.median_ns, "median", "Median", TABLE_NS, "median of the durations", .aliases = "med"),
    COLUMN(struct kernel_row, durations.min_ns, "min", "Min", TABLE_NS, "shortest"),
    COLUMN(struct kernel_row, durations.max_ns, "max", "Max", TABLE_NS, "longest"),
    COLUMN(struct kernel_row, durations.stddev_ns, "stddev", "Std dev", TABLE_NS, "standard deviation of the durations, as of a sample", .aliases = "deviation"),
    COLUMN(struct kernel_row, tensor_core, "tensor_core", "Tensor core", TABLE_TEXT, "yes, no or unknown, by its name"),
    COLUMN(struct kernel_row, occupancy, "occupancy", "Occupancy", TABLE_SHARE, "estimated achieved occupancy, weighted by time"),
    COLUMN(struct kernel_row, blocks_per_sm, "blocks_per_sm", "Blocks/SM", TABLE_NUMBER, "blocks per multiprocessor, weighted by time"),
    COLUMN(struct kernel_row, grid, "grid", "Grid", TABLE_TEXT, "blocks in x, y, z; of the launch shape that took the most time"),
    COLUMN(struct kernel_row, block, "block", "Block", TABLE_TEXT, "threads of a block in x, y, z; of that shape"),
    COLUMN(struct kernel_row, registers, "registers", "Regs", TABLE_COUNT, "registers per thread; of that shape"),
    COLUMN(struct kernel_row, shared_memory_bytes, "shared_memory", "Shared mem.", TABLE_BYTES, "shared memory per block; of that shape"),
    COLUMN(struct kernel_row, shapes, "shapes", "Shapes", TABLE_COUNT, "how many launch shapes (grid, block, registers, shared memory) there are"),
};
/* clang-format on */

/* How a kernel was launched. */
struct shape {
    int64_t registers, shared_memory;
    name_id grid, block; /* NAME_NONE when not recorded */
    uint32_t id;         /* in order of first occurrence */
};

/* A kernel that ran. */
struct kernel_run {
    event_id event;
    uint32_t shape;   /* id, later the index among the sorted shapes */
    name_id launcher; /* name of the operator, else of the call; NAME_NONE: neither is in the file */
    uint32_t group;
};

/* An operator or call that launched kernels of a row. */
struct launcher {
    name_id name;
    uint32_t count;
    event_id first; /* the first kernel to begin */
};

struct kernel_query {
    const struct trace *trace;
    const struct attribution *launches;
    const struct graph_links *links; /* NULL: no capture was given */
    struct kernels *kernels;
    struct names *shape_ids; /* keys: bytes of each shape before its id */
    VEC_OF(struct shape) shapes;
    uint32_t
        *last_shape; /* by name of a kernel: 1 + the id of the shape that it had last; 0: it had none yet */
    uint32_t *launcher_of; /* by name: 1 + its index among the launchers of the current row; 0: none */
    VEC_OF(struct launcher) launchers; /* of the current row */
    VEC_OF(int64_t) durations;
    uint32_t unlinked; /* of the current row: kernels without a call in the file */
    struct text name;  /* of the kernel that RUNS are of, for people */
    enum tensor_use tensor_use;
};

/* The arguments of one kernel. */
enum run_arg {
    RUN_CORRELATION,
    RUN_EXTERNAL_ID,
    RUN_GRID,
    RUN_BLOCK,
    RUN_REGISTERS,
    RUN_SHARED_MEMORY,
    RUN_ARGS
};

/* ---- data of a run ---- */

static int64_t scan_or(struct arg_scan *scan, event_id e, int64_t missing)
{
    arg_scan_get(scan, e, &missing);
    return missing;
}

/* The name of the launcher of E: of LAUNCHER or, after all names of the trace, of the captured operator of a graph. */
static name_id launcher_of(const struct kernel_query *query, event_id e, event_id launcher)
{
    if (graph_link_is_work(query->links, e))
        return (name_id)names_count(query->trace->names) + graph_link_name_id(query->links, e);
    return launcher == EVENT_NONE ? NAME_NONE : query->trace->name[launcher];
}

static const char *launcher_name(const struct kernel_query *query, name_id id)
{
    size_t own = names_count(query->trace->names);
    return id < own ? names_text(query->trace->names, id)
                    : names_text(query->links->bodies->texts, id - (name_id)own);
}

static bool same_shape(const struct shape *a, const struct shape *b)
{
    return a->registers == b->registers && a->shared_memory == b->shared_memory && a->grid == b->grid &&
           a->block == b->block;
}

static uint32_t shape_of(struct kernel_query *query, event_id e, struct arg_scan scans[RUN_ARGS])
{
    uint32_t *last = &query->last_shape[query->trace->name[e]];
    struct shape shape = {
        .registers = scan_or(&scans[RUN_REGISTERS], e, TABLE_INT_MISSING),
        .shared_memory = scan_or(&scans[RUN_SHARED_MEMORY], e, TABLE_INT_MISSING),
        .grid = (name_id)scan_or(&scans[RUN_GRID], e, NAME_NONE),
        .block = (name_id)scan_or(&scans[RUN_BLOCK], e, NAME_NONE),
    };
    if (*last && same_shape(&shape, &query->shapes.at[*last - 1])) /* as mostly: nothing is looked up */
        return *last - 1;
    shape.id = names_add(query->shape_ids, (const char *)&shape, offsetof(struct shape, id));
    if (shape.id == query->shapes.count)
        *VEC_PUSH(&query->shapes) = shape;
    *last = shape.id + 1;
    return shape.id;
}

static struct kernel_run run_of(struct kernel_query *query, event_id e, struct arg_scan scans[RUN_ARGS])
{
    int64_t id_value, correlation_value;
    const int64_t *id = arg_scan_get(&scans[RUN_EXTERNAL_ID], e, &id_value) ? &id_value : NULL;
    const int64_t *correlation =
        arg_scan_get(&scans[RUN_CORRELATION], e, &correlation_value) ? &correlation_value : NULL;
    event_id op = attribution_link(query->launches, e, id, correlation).op;
    event_id call = attribution_call_by(query->launches, e, id, correlation);
    return (struct kernel_run){
        .event = e,
        .shape = shape_of(query, e, scans),
        .launcher = launcher_of(query, e, op == EVENT_NONE ? call : op),
        .group = group_of(query->kernels->group, e, call, op),
    };
}

static const struct key by_shapes[] = { ASC(struct shape, grid), ASC(struct shape, block),
                                        ASC(struct shape, registers), ASC(struct shape, shared_memory),
                                        KEY_END };

static const struct key by_group_shape_event[] = { ASC(struct kernel_run, group),
                                                   ASC(struct kernel_run, shape),
                                                   ASC(struct kernel_run, event), KEY_END };

/* Did A begin before B? Ties are broken by the order of the file. */
static bool ran_before(const struct trace *trace, event_id a, event_id b)
{
    return trace_start_ns(trace, a) != trace_start_ns(trace, b)
               ? trace_start_ns(trace, a) < trace_start_ns(trace, b)
               : a < b;
}

/* ---- a row ---- */

/* A copy of TEXT, which is emptied; lives as long as KERNELS. Missing if it is empty. */
static struct text kernels_keep(struct kernels *kernels, struct buffer *text)
{
    struct text kept = { NULL, text->count };
    if (text->count)
        kept.at = names_text(kernels->texts, names_add(kernels->texts, text->at, text->count));
    buffer_release(text);
    return kept;
}

/* "[64,1,1]" as "64x1x1". */
static struct text extent_of(const struct kernel_query *query, name_id extent)
{
    struct buffer text = { 0 };
    for (const char *c = extent == NAME_NONE ? "" : names_text(query->trace->texts, extent); *c; c++)
        if (*c == ',')
            buffer_putc(&text, 'x');
        else if (*c != '[' && *c != ']' && *c != ' ')
            buffer_putc(&text, *c);
    return kernels_keep(query->kernels, &text);
}

/* The first to begin of the RUNS that are of the shape of the first of them, of which there are COUNT up to some other's. */
static event_id earliest_of_shape(const struct trace *trace, const struct kernel_run *runs, size_t count)
{
    event_id earliest = runs[0].event;
    for (size_t i = 1; i < count && runs[i].shape == runs[0].shape; i++)
        if (ran_before(trace, runs[i].event, earliest))
            earliest = runs[i].event;
    return earliest;
}

/* The launch shapes of the COUNT RUNS, sorted by shape: the one with the most time (on ties, the one that ran first),
 * and their number. */
static void set_shape(const struct kernel_query *query, struct kernel_row *row, const struct kernel_run *runs,
                      size_t count)
{
    const struct trace *trace = query->trace;
    size_t shapes = 0, most = 0; /* its first run */
    int64_t most_ns = -1;
    FOR_RUNS(first, end, count, runs[end].shape == runs[first].shape) {
        int64_t total_ns = SUM(int64_t, i, end - first, query->durations.at[first + i]);
        shapes++;
        if (total_ns > most_ns ||
            (total_ns == most_ns && ran_before(trace, earliest_of_shape(trace, runs + first, count - first),
                                               earliest_of_shape(trace, runs + most, count - most)))) {
            most_ns = total_ns;
            most = first;
        }
    }
    const struct shape *shape = &query->shapes.at[runs[most].shape];
    row->grid = extent_of(query, shape->grid);
    row->block = extent_of(query, shape->block);
    row->registers = shape->registers;
    row->shared_memory_bytes = shape->shared_memory;
    row->shapes = (int64_t)shapes;
}

/* The average of a figure that the profiler recorded for each kernel, weighted by time; the plain mean if all times are
 * 0. */
static double average_of(const struct kernel_query *query, enum trace_arg arg, const struct kernel_run *runs,
                         size_t count)
{
    struct arg_scan scan = arg_scan_of(query->trace, arg);
    double weighted = 0, weights = 0, sum = 0, number = 0;
    for (size_t i = 0; i < count; i++) {
        double value = arg_scan_decimal(&scan, runs[i].event);
        if (isnan(value))
            continue;
        double weight = (double)query->durations.at[i];
        weighted += value * weight;
        weights += weight;
        sum += value;
        number++;
    }
    if (number == 0)
        return NAN;
    return weights > 0 ? weighted / weights : sum / number;
}

static void count_launchers(struct kernel_query *query, const struct kernel_run *runs, size_t count)
{
    query->launchers.count = 0;
    query->unlinked = 0;
    for (size_t i = 0; i < count; i++) {
        name_id name = runs[i].launcher;
        if (name == NAME_NONE) {
            query->unlinked++;
            continue;
        }
        uint32_t *place = &query->launcher_of[name];
        if (*place == 0) {
            *VEC_PUSH(&query->launchers) = (struct launcher){ name, 0, runs[i].event };
            *place = (uint32_t)query->launchers.count;
        }
        query->launchers.at[*place - 1].count++;
    }
    for (size_t i = 0; i < count && query->launchers.count > 1; i++) { /* only an order needs the first */
        if (runs[i].launcher == NAME_NONE)
            continue;
        struct launcher *launcher = &query->launchers.at[query->launcher_of[runs[i].launcher] - 1];
        if (ran_before(query->trace, runs[i].event, launcher->first))
            launcher->first = runs[i].event;
    }
    for (size_t i = 0; i < query->launchers.count; i++)
        query->launcher_of[query->launchers.at[i].name] = 0;
}

/* Does A come before B in a list of launchers? */
static bool is_listed_before(const struct trace *trace, const struct launcher *a, const struct launcher *b)
{
    return a->count != b->count ? a->count > b->count : ran_before(trace, a->first, b->first);
}

/* The current launchers, most frequent first, then by earliest kernel; the rest as a number. */
static struct text launchers_text(struct kernel_query *query)
{
    enum { MOST = 4 };
    const struct trace *trace = query->trace;
    struct launcher *launchers = query->launchers.at;
    struct buffer text = { 0 };
    size_t shown = 0, count = query->launchers.count;
    for (; shown < MOST && shown < count; shown++) {
        size_t best = shown;
        for (size_t i = shown + 1; i < count; i++)
            if (is_listed_before(trace, &launchers[i], &launchers[best]))
                best = i;
        struct launcher next = launchers[best];
        launchers[best] = launchers[shown];
        launchers[shown] = next;
        buffer_puts(&text, text.count ? ", " : "");
        buffer_puts(&text, launcher_name(query, next.name));
    }
    if (shown < count)
        buffer_printf(&text, ", %zu more", count - shown);
    if (query->unlinked)
        buffer_printf(&text, "%s(launch not recorded)", text.count ? ", " : "");
    return kernels_keep(query->kernels, &text);
}

static struct text kernels_name_of(const struct kernel_query *query, name_id id)
{
    const struct names *names = query->trace->names;
    struct buffer readable = { 0 };
    if (demangle_name(&readable, names_text(names, id)))
        return kernels_keep(query->kernels, &readable);
    return (struct text){ names_text(names, id), names_length(names, id) };
}

/* Collect the durations of the COUNT RUNS, in their order. */
static void read_durations(struct kernel_query *query, const struct kernel_run *runs, size_t count)
{
    query->durations.count = 0;
    VEC_RESERVE(&query->durations, count);
    for (size_t i = 0; i < count; i++)
        query->durations.at[i] = trace_dur_ns(query->trace, runs[i].event);
    query->durations.count = count;
}

/* Of the durations, whose order changes. */
static struct kernel_durations durations_of(struct kernel_query *query)
{
    size_t count = query->durations.count;
    struct stats stats = stats_of(query->durations.at, count);
    return (struct kernel_durations){ .count = (int64_t)count,
                                      .total_ns = stats.sum,
                                      .average_ns = stats.mean,
                                      .median_ns = stats.median,
                                      .min_ns = stats.least,
                                      .max_ns = stats.greatest,
                                      .stddev_ns = (int64_t)llround(stats.deviation) };
}

/* Add a row for COUNT RUNS of one kernel, sorted by shape. */
static void kernels_add_row(struct kernel_query *query, const struct kernel_run *runs, size_t count)
{
    const struct trace *trace = query->trace;
    name_id name = trace->name[runs[0].event];
    read_durations(query, runs, count);
    struct kernel_row row = {
        .name = query->name,
        .name_id = name,
        .key = group_key(query->kernels->group, runs[0].group),
        .share = NAN,
        .tensor_use = query->tensor_use,
        .occupancy = 0.01 * average_of(query, ARG_OCCUPANCY, runs, count),
        .blocks_per_sm = average_of(query, ARG_BLOCKS_PER_SM, runs, count),
    };
    const char *use = tensor_use_name(row.tensor_use);
    row.tensor_core = (struct text){ use, strlen(use) };
    set_shape(query, &row, runs, count);
    row.durations = durations_of(query);
    count_launchers(query, runs, count);
    row.operators = launchers_text(query);
    *VEC_PUSH(query->kernels) = row;
}

/* Add rows for the COUNT RUNS, which have one name and are in order of the file. */
static void kernels_add_rows(struct kernel_query *query, struct kernel_run *runs, size_t count, bool by_shape)
{
    if (count) {
        name_id name = query->trace->name[runs[0].event];
        query->name = kernels_name_of(query, name);
        query->tensor_use = kernel_tensor_use(names_text(query->trace->names, name));
    }
    SORT_ARRAY(runs, count, by_group_shape_event);
    FOR_RUNS(first, end, count,
             runs[end].group == runs[first].group && (!by_shape || runs[end].shape == runs[first].shape))
        kernels_add_row(query, &runs[first], end - first);
}

/* Kernels of one name are adjacent in RUNS: those of name n from end[n - 1] to end[n]. */
struct by_name {
    struct kernel_run *runs;
    size_t *end;
};

/* The start of the kernels of each name in RUNS, which has room for all. */
static struct by_name make_room(const struct trace *trace, const struct selection *selection)
{
    size_t name_count = names_count(trace->names), kernel_count = 0;
    struct by_name by_name = { .end = mem_zalloc(name_count + 1, sizeof *by_name.end) };
    for (event_id e = 0; e < trace->event_count; e++)
        if (trace->kind[e] == EVENT_KERNEL && selection_holds(selection, e))
            by_name.end[trace->name[e]]++;
    for (name_id id = 0; id < name_count; id++) {
        size_t count = by_name.end[id];
        by_name.end[id] = kernel_count;
        kernel_count += count;
    }
    by_name.runs = mem_alloc(mem_times(kernel_count + 1, sizeof *by_name.runs));
    return by_name;
}

/* Replace shape ids of runs by indices among the sorted shapes. */
static void sort_shapes(struct kernel_query *query, struct kernel_run *runs, size_t count)
{
    if (query->shapes.count == 0)
        return;
    SCOPED uint32_t *place = mem_alloc(mem_times(query->shapes.count, sizeof *place));
    SORT(&query->shapes, by_shapes);
    for (size_t i = 0; i < query->shapes.count; i++)
        place[query->shapes.at[i].id] = (uint32_t)i;
    for (size_t i = 0; i < count; i++)
        runs[i].shape = place[runs[i].shape];
}

static struct by_name bring_together(struct kernel_query *query, const struct selection *selection)
{
    static const enum trace_arg args[RUN_ARGS] = {
        [RUN_CORRELATION] = ARG_CORRELATION,
        [RUN_EXTERNAL_ID] = ARG_EXTERNAL_ID,
        [RUN_GRID] = ARG_GRID,
        [RUN_BLOCK] = ARG_BLOCK,
        [RUN_REGISTERS] = ARG_REGISTERS,
        [RUN_SHARED_MEMORY] = ARG_SHARED_MEMORY,
    };
    const struct trace *trace = query->trace;
    struct by_name by_name = make_room(trace, selection);
    struct arg_scan scans[RUN_ARGS];
    size_t count = 0;
    for (size_t a = 0; a < RUN_ARGS; a++)
        scans[a] = arg_scan_of(trace, args[a]);
    for (event_id e = 0; e < trace->event_count; e++)
        if (trace->kind[e] == EVENT_KERNEL && selection_holds(selection, e)) {
            by_name.runs[by_name.end[trace->name[e]]++] = run_of(query, e, scans);
            count++;
        }
    sort_shapes(query, by_name.runs, count);
    return by_name;
}

/* The largest total first; rows of equal totals stay in order of name and group. */
static const struct key by_total[] = { DESC(struct kernel_row, durations.total_ns), KEY_END };

static void finish(struct kernels *kernels)
{
    for (size_t i = 0; i < kernels->count; i++)
        sum_add(&kernels->total_ns, kernels->at[i].durations.total_ns);
    for (size_t i = 0; i < kernels->count && kernels->total_ns > 0; i++)
        kernels->at[i].share = (double)kernels->at[i].durations.total_ns / (double)kernels->total_ns;
    SORT(kernels, by_total);
}

struct kernels *kernels_analyze(const struct trace *trace, const struct selection *selection, unsigned by)
{
    const struct graph_links *links = graph_links_of(trace);
    size_t name_count = names_count(trace->names), captured = links ? names_count(links->bodies->texts) : 0;
    struct kernels *kernels = arena_open(sizeof *kernels);
    ARENA_OWNS(arena_of(kernels), &kernels->at);
    kernels->texts = arena_hold(arena_of(kernels), names_open());
    kernels->trace = trace;
    kernels->group = arena_hold(arena_of(kernels), group_open(trace, by & ~KERNELS_BY_SHAPE));
    struct kernel_query query = {
        .trace = trace,
        .launches = attribution_of(trace),
        .links = links,
        .kernels = kernels,
        .shape_ids = names_open(),
        .last_shape = mem_zalloc(name_count + 1, sizeof *query.last_shape),
        .launcher_of = mem_zalloc(name_count + captured + 1, sizeof *query.launcher_of),
    };
    struct by_name by_name = bring_together(&query, selection);
    for (name_id id = 0; id < name_count; id++) {
        size_t first = id ? by_name.end[id - 1] : 0;
        if (by_name.end[id] > first)
            kernels_add_rows(&query, by_name.runs + first, by_name.end[id] - first, by & KERNELS_BY_SHAPE);
    }
    finish(kernels);
    EACH(free, by_name.runs, by_name.end, query.last_shape, query.launcher_of);
    EACH(VEC_FREE, &query.launchers, &query.durations, &query.shapes);
    names_free(query.shape_ids);
    return kernels;
}

struct table *kernels_table(const struct kernels *kernels, unsigned by)
{
    struct table *table = TABLE_OF_ROWS("kernels", "Kernels", columns, kernels->at, kernels->count);
    table->none = "No kernel ran here.";
    group_fill_texts(kernels->group, table, offsetof(struct kernel_row, key));
    if (by & BY(OP))
        TABLE_FLAG(table, struct kernel_row, operators, TABLE_HIDDEN);
    if (by & KERNELS_BY_SHAPE)
        TABLE_FLAG(table, struct kernel_row, shapes, TABLE_HIDDEN);
    if (!device_type_has_cuda(trace_device_type(kernels->trace))) { /* no tensor cores, no multiprocessors */
        TABLE_FLAG(table, struct kernel_row, tensor_core, TABLE_FOREIGN);
        TABLE_FLAG(table, struct kernel_row, occupancy, TABLE_FOREIGN);
        TABLE_FLAG(table, struct kernel_row, blocks_per_sm, TABLE_FOREIGN);
    }
    table->sort_column = table_column_at(table, offsetof(struct kernel_row, durations.total_ns));
    table_add_footer(table, "kernel_sum", "Kernel time", TABLE_NS, table_int(kernels->total_ns));
    return table;
}

struct kernels_options {
    bool contention;
};

static const struct kernels_options defaults = { 0 };

static const struct opt options[] = {
    OPT_FLAG(0, "contention", struct kernels_options, contention,
             "how much slower each kernel runs beside communication, copies and other kernels"),
    OPT_END,
};

static uint64_t kernels_more_args(const void *own)
{
    return ((const struct kernels_options *)own)->contention ? CONTENTION_WANTS : 0;
}

static bool run_kernels(const struct analysis_query *query, struct result *result, struct tpa_error *err)
{
    (void)err;
    const struct kernels_options *own = query->options;
    struct kernels *kernels = kernels_analyze(query->trace, query->selection, query->by);
    result_add_table(result, kernels_table(kernels, query->by));
    arena_free(kernels);
    if (own && own->contention) {
        SCOPED_OBJECT const struct contention *contention =
            contention_analyze(query->trace, query->selection);
        contention_add_tables(contention, result);
    }
    return true;
}

static const struct opt_choice own_words[] = {
    { "shape", "per launch shape: grid, block, registers, shared memory", "grid launch" },
    { "name", "one row per kernel", "kernel" },
    { 0 },
};

static const struct table_shape tables[] = {
    TABLE_SHAPE("kernels", columns),
    { 0 },
};

const struct analysis analysis_kernels = {
    .name = "kernels",
    .summary = "every kernel: time, spread, launch shape, occupancy, operators",
    .description =
        "One row per kernel: how often it ran, its total, mean, median, shortest and longest time and their standard "
        "deviation; whether it uses tensor cores; the launch shape that took the most time; the operators that launch "
        "it. Copies and memsets are not kernels: tpa transfers has them.\n\n"
        "Kernels that were launched before recording began count like all others.",
    .schema = "tpa.kernels/1",
    .examples = {
        "tpa kernels trace.json",
        "tpa kernels --by shape --filter gemm trace.json  # one row per grid and block",
        "tpa kernels --sort stddev --columns name,count,median,max,stddev trace.json",
        "tpa kernels --by op,rank --limit 0 --format csv rank*.json",
    },
    .wants = &kernels_wants,
    .more_args = kernels_more_args,
    .options = options,
    ANALYSIS_DEFAULTS(defaults),
    .compares = true,
    .needs = FEATURE_GPU,
    .dimensions = BY(RANK) | BY(CYCLE) | BY(DEVICE) | BY(STREAM) | BY(THREAD) | BY(STEP) | BY(OP) | BY(CALL) | BY(MODULE) |
                  BY(CATEGORY),
    .own_words = own_words,
    .by_help = "what makes a row, besides the name",
    .sorts = true,
    .tables = { tables, contention_table_shapes },
    .captures = true,
    .run = run_kernels,
    .section = "Kernels",
    .section_intro =
        "A row per kernel: how often, how long, how launched, and by which operators.",
    .charts = "kernels",
};
