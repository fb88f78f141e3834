/*
 * kernels.c - see kernels.h.
 *
 * Kernels are brought together by name, by counting. Within a name they are sorted by how they were launched, or by
 * what else makes a row; each run of equals is a row.
 */
#include "analyze/kernels.h"

#include "facts/gpu_events.h"
#include "facts/gpu_names.h"
#include "base/demangle.h"
#include "base/stats.h"
#include "trace/arg_scan.h"
#include "facts/attribution.h"
#include "facts/step_list.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct trace_wants kernels_wants = {
    .args = ATTRIBUTION_WANTS | WANT(GRID) | WANT(BLOCK) | WANT(REGISTERS) | WANT(SHARED_MEMORY) |
            WANT(BLOCKS_PER_SM) | WANT(OCCUPANCY),
};

enum column {
    COLUMN_NAME,
    COLUMN_OPERATOR,
    COLUMN_RANK,
    COLUMN_DEVICE,
    COLUMN_STREAM,
    COLUMN_STEP,
    COLUMN_COUNT,
    COLUMN_TOTAL,
    COLUMN_SHARE,
    COLUMN_AVERAGE,
    COLUMN_MEDIAN,
    COLUMN_MIN,
    COLUMN_MAX,
    COLUMN_DEVIATION,
    COLUMN_TENSOR,
    COLUMN_OCCUPANCY,
    COLUMN_BLOCKS_PER_SM,
    COLUMN_GRID,
    COLUMN_BLOCK,
    COLUMN_REGISTERS,
    COLUMN_SHARED_MEMORY,
    COLUMN_SHAPES,
    COLUMN_OPERATORS,
    COLUMNS
};

/* clang-format off */
static const struct table_column columns[COLUMNS] = {
    { "name", "Name", TABLE_NAME, "the kernel, demangled", 0, NULL },
    { "operator", "Operator", TABLE_NAME, "the operator that launched it", TABLE_HIDDEN, NULL },
    { "rank", "Rank", TABLE_COUNT, "rank of the file, or its place among the files", TABLE_HIDDEN, NULL },
    { "device", "Device", TABLE_COUNT, "number of the device", TABLE_HIDDEN, NULL },
    { "stream", "Stream", TABLE_COUNT, "number of the stream", TABLE_HIDDEN, NULL },
    { "step", "Step", TABLE_COUNT, "number of the step in which it was launched", TABLE_HIDDEN, NULL },
    { "count", "Count", TABLE_COUNT, "how often it ran", 0, "instances calls" },
    { "total", "Total", TABLE_NS, "its durations added up", 0, "sum" },
    { "share", "Share", TABLE_SHARE, "total as a share of the totals of all rows", 0, NULL },
    { "average", "Average", TABLE_NS, "mean duration", 0, "avg mean" },
    { "median", "Median", TABLE_NS, "median of the durations", 0, "med" },
    { "min", "Min", TABLE_NS, "shortest", 0, NULL },
    { "max", "Max", TABLE_NS, "longest", 0, NULL },
    { "stddev", "Std dev", TABLE_NS, "standard deviation of the durations, as of a sample", 0, "deviation" },
    { "tensor_core", "Tensor core", TABLE_TEXT, "yes, no or unknown, by its name", 0, NULL },
    { "occupancy", "Occupancy", TABLE_SHARE, "estimated achieved occupancy, weighted by time", 0, NULL },
    { "blocks_per_sm", "Blocks/SM", TABLE_NUMBER, "blocks per multiprocessor, weighted by time", 0, NULL },
    { "grid", "Grid", TABLE_TEXT, "blocks in x, y, z; of the launch shape that took the most time", 0, NULL },
    { "block", "Block", TABLE_TEXT, "threads of a block in x, y, z; of that shape", 0, NULL },
    { "registers", "Regs", TABLE_COUNT, "registers per thread; of that shape", 0, NULL },
    { "shared_memory", "Shared mem.", TABLE_BYTES, "shared memory per block; of that shape", 0, NULL },
    { "shapes", "Shapes", TABLE_COUNT, "how many launch shapes (grid, block, registers, shared memory) there are", 0, NULL },
    { "operators", "Operators", TABLE_TEXT, "operators that launch it, most often first", 0, NULL },
};
/* clang-format on */

/* A kernel that ran. */
struct run {
    event_id event;
    name_id grid, block; /* NAME_NONE when not told */
    int64_t registers, shared_memory;
    name_id launcher; /* name of the operator, else of the call; NAME_NONE: neither is in the file */
    int64_t key;      /* what else makes a row: name of the operator, device, track */
};

#define NOT_TOLD INT64_MIN

/* An operator or call that launched kernels of a row. */
struct launcher {
    name_id name;
    uint32_t count;
    event_id first; /* of the kernels: the first to begin */
};

struct question {
    const struct trace *trace;
    const struct selection *selection;
    enum kernels_by by;
    const struct attribution *launches;
    struct step_list *steps; /* by step; else NULL */
    struct table *table;
    uint32_t *launcher_of; /* by name: 1 + its place among the launchers of the row at hand, 0: it is none */
    struct {
        struct launcher *at;
        size_t count, capacity;
    } launchers; /* of the row at hand */
    struct {
        int64_t *at;
        size_t count, capacity;
    } durations;
    uint32_t unlinked; /* of the row at hand: kernels with no call in the file */
};

/* What is asked of every kernel; kernels of a name come in order of the file, so each scan goes forwards. */
enum run_arg {
    RUN_CORRELATION,
    RUN_EXTERNAL_ID,
    RUN_GRID,
    RUN_BLOCK,
    RUN_REGISTERS,
    RUN_SHARED_MEMORY,
    RUN_ARGS
};

/* ---- what a run is ---- */

/* The name of the operator that launched E, else of the call; NAME_NONE when neither is in the file. */
static name_id launcher_of(const struct question *question, event_id e, struct arg_scan scans[RUN_ARGS])
{
    int64_t id_value, correlation_value;
    const int64_t *id = arg_scan_get(&scans[RUN_EXTERNAL_ID], e, &id_value) ? &id_value : NULL;
    const int64_t *correlation =
        arg_scan_get(&scans[RUN_CORRELATION], e, &correlation_value) ? &correlation_value : NULL;
    event_id launcher = attribution_link(question->launches, e, id, correlation).op;
    if (launcher == EVENT_NONE)
        launcher = attribution_call_by(question->launches, e, id, correlation);
    return launcher == EVENT_NONE ? NAME_NONE : question->trace->name[launcher];
}

static int64_t scan_or(struct arg_scan *scan, event_id e, int64_t missing)
{
    arg_scan_get(scan, e, &missing);
    return missing;
}

/* Index of the step in which E was launched, or began where its call is not in the file; -1: in none. */
static int64_t step_of(const struct question *question, event_id e)
{
    event_id call = attribution_call(question->launches, e);
    const struct track *track = &question->trace->tracks[question->trace->track[e]];
    const struct step *step =
        step_list_at(question->steps, track->file, question->trace->start_ns[call == EVENT_NONE ? e : call]);
    return step ? step - question->steps->at : -1;
}

static int64_t row_key(const struct question *question, event_id e, name_id launcher)
{
    const struct track *track = &question->trace->tracks[question->trace->track[e]];
    switch (question->by) {
    case KERNELS_BY_OPERATOR: return launcher;
    case KERNELS_BY_DEVICE: return ((int64_t)track->file << 32) + track->device;
    case KERNELS_BY_STREAM: return question->trace->track[e];
    case KERNELS_BY_STEP: return step_of(question, e);
    default: return 0;
    }
}

static struct run run_of(const struct question *question, event_id e, struct arg_scan scans[RUN_ARGS])
{
    name_id launcher = launcher_of(question, e, scans);
    return (struct run){
        .event = e,
        .grid = (name_id)scan_or(&scans[RUN_GRID], e, NAME_NONE),
        .block = (name_id)scan_or(&scans[RUN_BLOCK], e, NAME_NONE),
        .registers = scan_or(&scans[RUN_REGISTERS], e, NOT_TOLD),
        .shared_memory = scan_or(&scans[RUN_SHARED_MEMORY], e, NOT_TOLD),
        .launcher = launcher,
        .key = row_key(question, e, launcher),
    };
}

static int compare_shapes(const struct run *a, const struct run *b)
{
    if (a->grid != b->grid)
        return a->grid < b->grid ? -1 : 1;
    if (a->block != b->block)
        return a->block < b->block ? -1 : 1;
    if (a->registers != b->registers)
        return a->registers < b->registers ? -1 : 1;
    return a->shared_memory < b->shared_memory ? -1 : a->shared_memory > b->shared_memory;
}

static int compare_runs(const void *left, const void *right)
{
    const struct run *a = left, *b = right;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    int order = compare_shapes(a, b);
    return order ? order : a->event < b->event ? -1 : a->event > b->event;
}

/* Did A begin before B? Of kernels that begin together the first in the file did. */
static bool ran_before(const struct trace *trace, event_id a, event_id b)
{
    return trace->start_ns[a] != trace->start_ns[b] ? trace->start_ns[a] < trace->start_ns[b] : a < b;
}

/* ---- a row ---- */

/* "[64,1,1]" as "64x1x1". */
static void set_extent(struct table *table, size_t row, enum column column, const struct trace *trace,
                       name_id extent)
{
    if (extent == NAME_NONE)
        return;
    struct buffer text = { 0 };
    for (const char *c = names_text(trace->texts, extent); *c; c++)
        if (*c == ',')
            buffer_putc(&text, 'x');
        else if (*c != '[' && *c != ']' && *c != ' ')
            buffer_putc(&text, *c);
    table_set_text(table, row, column, text.at ? text.at : "", text.count);
    buffer_release(&text);
}

/*
 * How the COUNT RUNS, sorted by shape, were launched: the shape that took the most time, of equals the one that ran
 * first, and how many there are.
 */
static void set_shape(const struct question *question, size_t row, const struct run *runs, size_t count)
{
    const struct trace *trace = question->trace;
    const struct run *most = runs; /* its first to run */
    int64_t most_ns = -1;
    size_t shapes = 0;
    for (size_t first = 0, end; first < count; first = end) {
        const struct run *earliest = &runs[first];
        int64_t total_ns = 0;
        for (end = first; end < count && compare_shapes(&runs[first], &runs[end]) == 0; end++) {
            total_ns += trace->dur_ns[runs[end].event];
            if (ran_before(trace, runs[end].event, earliest->event))
                earliest = &runs[end];
        }
        shapes++;
        if (total_ns > most_ns || (total_ns == most_ns && ran_before(trace, earliest->event, most->event))) {
            most_ns = total_ns;
            most = earliest;
        }
    }
    set_extent(question->table, row, COLUMN_GRID, trace, most->grid);
    set_extent(question->table, row, COLUMN_BLOCK, trace, most->block);
    table_set_int(question->table, row, COLUMN_REGISTERS, most->registers);
    table_set_int(question->table, row, COLUMN_SHARED_MEMORY, most->shared_memory);
    table_set_int(question->table, row, COLUMN_SHAPES, (int64_t)shapes);
}

/* Averages of what the profiler tells of each kernel, weighted by time; plain means where none took any. */
static void set_averages(const struct question *question, size_t row, const struct run *runs, size_t count)
{
    static const struct {
        enum trace_arg arg;
        enum column column;
        double scale;
    } averages[] = { { ARG_OCCUPANCY, COLUMN_OCCUPANCY, 0.01 },
                     { ARG_BLOCKS_PER_SM, COLUMN_BLOCKS_PER_SM, 1 } };
    for (size_t a = 0; a < sizeof averages / sizeof *averages; a++) {
        struct arg_scan scan = arg_scan_of(question->trace, averages[a].arg);
        double weighted = 0, weights = 0, sum = 0, number = 0;
        for (size_t i = 0; i < count; i++) {
            double value = arg_scan_decimal(&scan, runs[i].event);
            if (isnan(value))
                continue;
            double weight = (double)question->trace->dur_ns[runs[i].event];
            weighted += value * weight;
            weights += weight;
            sum += value;
            number++;
        }
        if (number > 0)
            table_set_number(question->table, row, averages[a].column,
                             averages[a].scale * (weights > 0 ? weighted / weights : sum / number));
    }
}

static void count_launchers(struct question *question, const struct run *runs, size_t count)
{
    question->launchers.count = 0;
    question->unlinked = 0;
    for (size_t i = 0; i < count; i++) {
        name_id name = runs[i].launcher;
        if (name == NAME_NONE) {
            question->unlinked++;
            continue;
        }
        uint32_t *place = &question->launcher_of[name];
        if (*place == 0) {
            *VEC_PUSH(&question->launchers) = (struct launcher){ name, 0, runs[i].event };
            *place = (uint32_t)question->launchers.count;
        }
        struct launcher *launcher = &question->launchers.at[*place - 1];
        launcher->count++;
        if (ran_before(question->trace, runs[i].event, launcher->first))
            launcher->first = runs[i].event;
    }
    for (size_t i = 0; i < question->launchers.count; i++)
        question->launcher_of[question->launchers.at[i].name] = 0;
}

/* Does A come before B in a list of launchers? */
static bool is_listed_before(const struct trace *trace, const struct launcher *a, const struct launcher *b)
{
    return a->count != b->count ? a->count > b->count : ran_before(trace, a->first, b->first);
}

/* The launchers at hand, most frequent first, of equals that of the first kernel; the rest by their number. */
static void set_launchers(struct question *question, size_t row)
{
    enum { MOST = 4 };
    const struct trace *trace = question->trace;
    struct launcher *launchers = question->launchers.at;
    struct buffer text = { 0 };
    size_t shown = 0, count = question->launchers.count;
    for (; shown < MOST && shown < count; shown++) {
        size_t best = shown;
        for (size_t i = shown + 1; i < count; i++)
            if (is_listed_before(trace, &launchers[i], &launchers[best]))
                best = i;
        struct launcher next = launchers[best];
        launchers[best] = launchers[shown];
        launchers[shown] = next;
        buffer_printf(&text, "%s%s", text.count ? ", " : "", names_text(trace->names, next.name));
    }
    if (shown < count)
        buffer_printf(&text, ", %zu more", count - shown);
    if (question->unlinked)
        buffer_printf(&text, "%s(launch not recorded)", text.count ? ", " : "");
    if (text.count)
        table_set_text(question->table, row, COLUMN_OPERATORS, text.at, text.count);
    buffer_release(&text);
}

static void set_name(const struct question *question, size_t row, name_id id)
{
    struct buffer readable = { 0 };
    const char *name = names_text(question->trace->names, id);
    if (demangle_name(&readable, name))
        table_set_text(question->table, row, COLUMN_NAME, readable.at, readable.count);
    else
        table_set_text(question->table, row, COLUMN_NAME, name, names_length(question->trace->names, id));
    buffer_release(&readable);
    const char *use = tensor_use_name(kernel_tensor_use(name));
    table_set_text(question->table, row, COLUMN_TENSOR, use, strlen(use));
}

/* What else makes the row. */
static void set_key(const struct question *question, size_t row, const struct run *run)
{
    const struct trace *trace = question->trace;
    const struct track *track = &trace->tracks[trace->track[run->event]];
    if (question->by == KERNELS_BY_OPERATOR) {
        name_id name = (name_id)run->key;
        const char *text = name == NAME_NONE ? "(launch not recorded)" : names_text(trace->names, name);
        table_set_text(question->table, row, COLUMN_OPERATOR, text, strlen(text));
    }
    if (question->by == KERNELS_BY_DEVICE || question->by == KERNELS_BY_STREAM) {
        table_set_int(question->table, row, COLUMN_RANK, selection_rank(trace, track->file));
        table_set_int(question->table, row, COLUMN_DEVICE, track->device);
    }
    if (question->by == KERNELS_BY_STREAM)
        table_set_int(question->table, row, COLUMN_STREAM, track->stream);
    if (question->by == KERNELS_BY_STEP && run->key >= 0) {
        table_set_int(question->table, row, COLUMN_RANK, selection_rank(trace, track->file));
        table_set_int(question->table, row, COLUMN_STEP, question->steps->at[run->key].number);
    }
}

/* A row for COUNT RUNS of one kernel, sorted by shape. */
static void add_row(struct question *question, const struct run *runs, size_t count)
{
    struct table *table = question->table;
    size_t row = table_add_row(table);
    set_name(question, row, question->trace->name[runs[0].event]);
    set_key(question, row, &runs[0]);
    set_shape(question, row, runs, count);
    set_averages(question, row, runs, count);
    count_launchers(question, runs, count);
    set_launchers(question, row);

    question->durations.count = 0;
    for (size_t i = 0; i < count; i++)
        *VEC_PUSH(&question->durations) = question->trace->dur_ns[runs[i].event];
    struct stats stats = stats_of(question->durations.at, count);
    table_set_int(table, row, COLUMN_COUNT, (int64_t)count);
    table_set_int(table, row, COLUMN_TOTAL, stats.sum);
    table_set_int(table, row, COLUMN_AVERAGE, stats.mean);
    table_set_int(table, row, COLUMN_MEDIAN, stats.median);
    table_set_int(table, row, COLUMN_MIN, stats.least);
    table_set_int(table, row, COLUMN_MAX, stats.greatest);
    table_set_int(table, row, COLUMN_DEVIATION, (int64_t)llround(stats.deviation));
}

/* Rows for the COUNT EVENTS, which have one name. RUNS has room for them. */
static void add_rows(struct question *question, const event_id *events, size_t count, struct run *runs)
{
    static const enum trace_arg args[RUN_ARGS] = { ARG_CORRELATION, ARG_EXTERNAL_ID, ARG_GRID,
                                                   ARG_BLOCK,       ARG_REGISTERS,   ARG_SHARED_MEMORY };
    struct arg_scan scans[RUN_ARGS];
    for (size_t a = 0; a < RUN_ARGS; a++)
        scans[a] = arg_scan_of(question->trace, args[a]);
    bool sorted = true;
    for (size_t i = 0; i < count; i++) {
        runs[i] = run_of(question, events[i], scans);
        sorted = sorted && (i == 0 || compare_runs(&runs[i - 1], &runs[i]) < 0);
    }
    if (!sorted)
        qsort(runs, count, sizeof *runs, compare_runs);
    for (size_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count; end++)
            if (runs[end].key != runs[first].key ||
                (question->by == KERNELS_BY_SHAPE && compare_shapes(&runs[first], &runs[end]) != 0))
                break;
        add_row(question, &runs[first], end - first);
    }
}

/* ---- the whole ---- */

static void show_key_columns(struct table *table, enum kernels_by by, size_t file_count)
{
    bool shown[COLUMNS] = {
        [COLUMN_OPERATOR] = by == KERNELS_BY_OPERATOR,
        [COLUMN_RANK] =
            file_count > 1 && (by == KERNELS_BY_DEVICE || by == KERNELS_BY_STREAM || by == KERNELS_BY_STEP),
        [COLUMN_DEVICE] = by == KERNELS_BY_DEVICE || by == KERNELS_BY_STREAM,
        [COLUMN_STREAM] = by == KERNELS_BY_STREAM,
        [COLUMN_STEP] = by == KERNELS_BY_STEP,
    };
    for (size_t i = 0; i < COLUMNS; i++)
        if (shown[i])
            table->columns[i].flags = 0;
    if (by == KERNELS_BY_OPERATOR)
        table->columns[COLUMN_OPERATORS].flags = TABLE_HIDDEN;
    if (by == KERNELS_BY_SHAPE)
        table->columns[COLUMN_SHAPES].flags = TABLE_HIDDEN;
}

static void set_shares(struct table *table)
{
    int64_t total_ns = 0;
    for (size_t row = 0; row < table->row_count; row++)
        total_ns += table_cell(table, row, COLUMN_TOTAL)->i;
    for (size_t row = 0; row < table->row_count && total_ns > 0; row++)
        table_set_number(table, row, COLUMN_SHARE,
                         (double)table_cell(table, row, COLUMN_TOTAL)->i / (double)total_ns);
    table_add_footer(table, "kernel_sum", "Kernel time", TABLE_NS, table_int(total_ns));
}

void kernels_add_table(const struct trace *trace, const struct selection *selection,
                       const struct kernels_options *options, struct result *result)
{
    size_t name_count = names_count(trace->names);
    struct question question = {
        .trace = trace,
        .selection = selection,
        .by = options->by,
        .launches = attribution_of(trace),
        .steps = options->by == KERNELS_BY_STEP ? step_list_open(trace) : NULL,
        .table = table_open("kernels", "Kernels", columns, COLUMNS),
        .launcher_of = mem_zalloc(name_count + 1, sizeof *question.launcher_of),
    };
    show_key_columns(question.table, options->by, trace->file_count);

    /* Kernels of one name lie together: those of name n from end[n - 1] to end[n], once all are placed. */
    size_t *end = mem_zalloc(name_count + 1, sizeof *end), kernel_count = 0, most = 0;
    for (event_id e = 0; e < trace->event_count; e++)
        if (trace->kind[e] == EVENT_KERNEL && selection_holds(selection, e))
            end[trace->name[e]]++;
    for (name_id id = 0; id < name_count; id++) {
        size_t count = end[id];
        most = count > most ? count : most;
        end[id] = kernel_count;
        kernel_count += count;
    }
    event_id *events = mem_alloc((kernel_count + 1) * sizeof *events);
    for (event_id e = 0; e < trace->event_count; e++)
        if (trace->kind[e] == EVENT_KERNEL && selection_holds(selection, e))
            events[end[trace->name[e]]++] = e;
    struct run *runs = mem_alloc((most + 1) * sizeof *runs);
    for (name_id id = 0; id < name_count; id++) {
        size_t first = id ? end[id - 1] : 0;
        if (end[id] > first)
            add_rows(&question, events + first, end[id] - first, runs);
    }
    free(runs);
    free(events);
    free(end);
    set_shares(question.table);
    table_sort(question.table, COLUMN_TOTAL, false);
    result_add_table(result, question.table);
    VEC_FREE(&question.launchers);
    VEC_FREE(&question.durations);
    free(question.launcher_of);
    step_list_free(question.steps);
}
