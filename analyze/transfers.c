/*
 * transfers.c - see transfers.h.
 *
 * Copies, and the waits for them, are brought together by sorting them by what makes a row: device, direction and kind of
 * host memory, and what else was asked for. So are stalls, the calls of host_waits.h.
 */
#include "analyze/transfers.h"

#include "facts/call_names.h"
#include "facts/callers.h"
#include "facts/copy_names.h"
#include "facts/gpu_events.h"
#include "facts/host_waits.h"
#include "base/stats.h"
#include "base/sum.h"
#include "trace/intervals.h"
#include "facts/attribution.h"
#include "facts/step_list.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct trace_wants transfers_wants = { .args = HOST_WAITS_WANTS | CALLERS_WANTS | WANT(BYTES) };

/* ---- transfers ---- */

enum transfer_column {
    TRANSFER_RANK,
    TRANSFER_DEVICE,
    TRANSFER_STREAM,
    TRANSFER_STEP,
    TRANSFER_OPERATOR,
    TRANSFER_DIRECTION,
    TRANSFER_MEMORY,
    TRANSFER_COUNT,
    TRANSFER_BYTES,
    TRANSFER_TIME,
    TRANSFER_EXPOSED,
    TRANSFER_BLOCKED,
    TRANSFER_MEAN,
    TRANSFER_MEDIAN,
    TRANSFER_BEST,
    TRANSFER_UNION,
    TRANSFER_COLUMNS
};

/* clang-format off */
static const struct table_column transfer_columns[TRANSFER_COLUMNS] = {
    { "rank", "Rank", TABLE_COUNT, "rank of the file, or its place among the files", TABLE_OPTIONAL, NULL },
    { "device", "Device", TABLE_COUNT, "number of the device", 0, NULL },
    { "stream", "Stream", TABLE_COUNT, "number of the stream", TABLE_HIDDEN, NULL },
    { "step", "Step", TABLE_COUNT, "number of the step in which it was launched", TABLE_HIDDEN, NULL },
    { "operator", "Operator", TABLE_NAME, "the operator that launched it, as in the table of waits", TABLE_HIDDEN, "op" },
    { "direction", "Direction", TABLE_NAME, "HtoD, DtoH, DtoD, PtoP, HtoH, managed", 0, NULL },
    { "memory", "Host memory", TABLE_TEXT, "pageable, pinned, managed, or unknown", 0, NULL },
    { "count", "Count", TABLE_COUNT, "how many copies", 0, NULL },
    { "bytes", "Bytes", TABLE_BYTES, "bytes copied, as far as the file tells", 0, NULL },
    { "time", "Time", TABLE_NS, "their durations added up", 0, "total sum" },
    { "exposed", "Exposed", TABLE_NS, "time in which one of them ran and no kernel did on the device", 0, NULL },
    { "blocked", "Host blocked", TABLE_NS, "time in which a host thread sat and waited for one of them", 0, NULL },
    { "bandwidth", "GB/s", TABLE_NUMBER, "bytes over time, in units of 10^9 bytes per second", 0, "mean_bandwidth" },
    { "median_bandwidth", "Median GB/s", TABLE_NUMBER, "median of the copies' bandwidths", 0, NULL },
    { "best_bandwidth", "Best GB/s", TABLE_NUMBER, "largest of the copies' bandwidths", 0, NULL },
    { "union", "Union", TABLE_NS, "time in which one of them ran", TABLE_OPTIONAL, NULL },
};
/* clang-format on */

/* Kinds of copies that make rows of their own. */
enum { ROW_KINDS = COPY_DIRECTIONS * COPY_MEMORIES };

/* A copy, or a wait for it. */
struct part {
    uint32_t device;
    unsigned kind; /* direction and memory */
    int64_t key;   /* stream, step or operator; NOT_TOLD */
    event_id copy;
    bool is_wait; /* then BLOCKED_NS is all it adds */
    int64_t blocked_ns;
};

#define NOT_TOLD INT64_MIN

/* The sums of a row. */
struct group {
    size_t count;
    int64_t bytes, time_ns, blocked_ns;
    int64_t timed_bytes, timed_ns; /* of copies that tell their size and took time */
    struct {
        double *at; /* their bandwidths; 1 byte per nanosecond is 1 GB/s */
        size_t count, capacity;
    } bandwidths;
    struct intervals when;
};

struct question {
    const struct trace *trace;
    const struct selection *selection;
    const struct gpu_events *gpu;
    const struct host_waits *waits;
    unsigned char *sorts;    /* by name: enum call_sort */
    struct copy_kind *kinds; /* by name, where it was asked */
    bool *kinds_asked;       /* by name */
    enum transfers_by by;
    struct callers *callers; /* NULL unless the operators or the waits are asked about */
    struct step_list *steps; /* NULL unless they are */
    struct {
        struct part *at;
        size_t count, capacity;
    } parts;
};

static bool is_copy(const struct trace *trace, event_id work)
{
    return work != EVENT_NONE && trace->kind[work] == EVENT_MEMCPY;
}

static struct copy_kind kind_of(const struct question *question, event_id copy)
{
    name_id name = question->trace->name[copy];
    if (!question->kinds_asked[name])
        question->kinds[name] = copy_kind_of(names_text(question->trace->names, name));
    question->kinds_asked[name] = true;
    return copy_kind_with(question->kinds[name], trace_arg_text(question->trace, ARG_COPY_MEMORY, copy));
}

/* What makes the row of COPY besides its device and kind. */
static int64_t key_of(const struct question *question, event_id copy)
{
    const struct trace *trace = question->trace;
    event_id call = attribution_call(attribution_of(trace), copy), op;
    const struct step *step;
    switch (question->by) {
    case TRANSFERS_BY_STREAM: return trace->track[copy];
    case TRANSFERS_BY_STEP:
        step = step_list_at(question->steps, trace->tracks[trace->track[copy]].file,
                            trace->start_ns[call == EVENT_NONE ? copy : call]);
        return step ? step->number : NOT_TOLD;
    case TRANSFERS_BY_OPERATOR:
        op = call == EVENT_NONE ? EVENT_NONE : callers_operator(question->callers, call);
        if (op == EVENT_NONE)
            op = attribution_operator(attribution_of(trace), copy);
        return op == EVENT_NONE ? NOT_TOLD : trace->name[op];
    default: return 0;
    }
}

static struct part part_of(const struct question *question, event_id copy)
{
    struct copy_kind kind = kind_of(question, copy);
    return (struct part){ .device = question->gpu->device_of_track[question->trace->track[copy]],
                          .kind = (unsigned)kind.direction * COPY_MEMORIES + (unsigned)kind.memory,
                          .key = key_of(question, copy),
                          .copy = copy };
}

static int compare_rows_of_parts(const struct part *a, const struct part *b)
{
    if (a->device != b->device)
        return a->device < b->device ? -1 : 1;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    return (a->key > b->key) - (a->key < b->key);
}

static int compare_parts(const void *left, const void *right)
{
    const struct part *a = left, *b = right;
    int order = compare_rows_of_parts(a, b);
    return order ? order : (a->copy > b->copy) - (a->copy < b->copy);
}

static void add_part(struct group *group, const struct trace *trace, const struct part *part)
{
    if (part->is_wait) {
        group->blocked_ns += part->blocked_ns;
        return;
    }
    int64_t bytes = trace_arg_or(trace, ARG_BYTES, part->copy, 0), time_ns = trace->dur_ns[part->copy];
    group->count++;
    sum_add(&group->bytes, bytes);
    group->time_ns += time_ns;
    intervals_add(&group->when, trace->start_ns[part->copy], trace_end_ns(trace, part->copy));
    if (bytes > 0 && time_ns > 0) {
        sum_add(&group->timed_bytes, bytes);
        group->timed_ns += time_ns;
        *VEC_PUSH(&group->bandwidths) = (double)bytes / (double)time_ns;
    }
}

static int compare_doubles(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static void set_bandwidths(struct table *table, size_t row, struct group *group)
{
    size_t count = group->bandwidths.count;
    const double *at = group->bandwidths.at;
    if (count == 0)
        return;
    qsort(group->bandwidths.at, count, sizeof *at, compare_doubles);
    table_set_number(table, row, TRANSFER_MEAN, (double)group->timed_bytes / (double)group->timed_ns);
    table_set_number(table, row, TRANSFER_MEDIAN, (at[(count - 1) / 2] + at[count / 2]) / 2);
    table_set_number(table, row, TRANSFER_BEST, at[count - 1]);
}

static void set_key(struct table *table, size_t row, const struct question *question, const struct part *part)
{
    const struct trace *trace = question->trace;
    const struct gpu_device *device = &question->gpu->devices[part->device];
    table_set_int(table, row, TRANSFER_RANK, selection_rank(trace, device->file));
    table_set_int(table, row, TRANSFER_DEVICE, device->id);
    if (question->by == TRANSFERS_BY_STREAM)
        table_set_int(table, row, TRANSFER_STREAM, trace->tracks[part->key].stream);
    if (question->by == TRANSFERS_BY_STEP && part->key != NOT_TOLD)
        table_set_int(table, row, TRANSFER_STEP, part->key);
    if (question->by == TRANSFERS_BY_OPERATOR) {
        const char *name =
            part->key == NOT_TOLD ? "(no operator)" : names_text(trace->names, (name_id)part->key);
        table_set_text(table, row, TRANSFER_OPERATOR, name, strlen(name));
    }
}

/* A row for the COUNT parts. */
static void add_transfer(struct table *table, const struct question *question, const struct part *parts,
                         size_t count, const struct intervals *kernels)
{
    struct group group = { 0 };
    for (size_t i = 0; i < count; i++)
        add_part(&group, question->trace, &parts[i]);
    const char *direction = copy_direction_name((enum copy_direction)(parts->kind / COPY_MEMORIES));
    const char *memory = copy_memory_name((enum copy_memory)(parts->kind % COPY_MEMORIES));
    struct intervals exposed = { 0 };
    intervals_merge(&group.when);
    intervals_subtract(&group.when, kernels, &exposed);
    size_t row = table_add_row(table);
    set_key(table, row, question, parts);
    table_set_text(table, row, TRANSFER_DIRECTION, direction, strlen(direction));
    if (memory)
        table_set_text(table, row, TRANSFER_MEMORY, memory, strlen(memory));
    table_set_int(table, row, TRANSFER_COUNT, (int64_t)group.count);
    table_set_int(table, row, TRANSFER_BYTES, group.bytes);
    table_set_int(table, row, TRANSFER_TIME, group.time_ns);
    table_set_int(table, row, TRANSFER_EXPOSED, intervals_length(&exposed));
    table_set_int(table, row, TRANSFER_BLOCKED, group.blocked_ns);
    table_set_int(table, row, TRANSFER_UNION, intervals_length(&group.when));
    set_bandwidths(table, row, &group);
    intervals_release(&exposed);
    intervals_release(&group.when);
    VEC_FREE(&group.bandwidths);
}

/*
 * Row by row, in each the copies and then the waits. Mostly device and kind are all that makes a row: then the parts,
 * which come by device and start, are dealt out to their rows.
 */
static void sort_parts(struct question *question)
{
    struct part *parts = question->parts.at;
    size_t count = question->parts.count;
    if (count == 0)
        return;
    if (question->by != TRANSFERS_BY_KIND && question->by != TRANSFERS_BY_RANK) {
        qsort(parts, count, sizeof *parts, compare_parts);
        return;
    }
    size_t rows = question->gpu->device_count * ROW_KINDS;
    size_t *next = mem_zalloc(rows + 1, sizeof *next); /* by row: where its next part goes */
    for (size_t i = 0; i < count; i++)
        next[parts[i].device * ROW_KINDS + parts[i].kind + 1]++;
    for (size_t row = 1; row <= rows; row++)
        next[row] += next[row - 1];
    struct part *dealt = mem_alloc(count * sizeof *dealt);
    for (size_t i = 0; i < count; i++)
        dealt[next[parts[i].device * ROW_KINDS + parts[i].kind]++] = parts[i];
    free(next);
    VEC_FREE(&question->parts);
    question->parts.at = dealt;
    question->parts.count = question->parts.capacity = count;
}

/* The copies that were asked for, and the waits for them. */
static void find_parts(struct question *question)
{
    const struct trace *trace = question->trace;
    const struct selection *selection = question->selection;
    for (size_t i = 0; i < question->gpu->count; i++)
        if (question->gpu->work[i] == GPU_MEMCPY && selection_holds(selection, question->gpu->event[i]))
            *VEC_PUSH(&question->parts) = part_of(question, question->gpu->event[i]);
    for (size_t i = 0; i < question->waits->count; i++) {
        const struct host_wait *wait = &question->waits->at[i];
        if (!is_copy(trace, wait->work) || !selection_holds(selection, wait->work) ||
            !selection_holds_place(selection, wait->call))
            continue;
        struct part part = part_of(question, wait->work);
        part.is_wait = true;
        part.blocked_ns = trace->dur_ns[wait->call];
        *VEC_PUSH(&question->parts) = part;
    }
    sort_parts(question);
}

static void find_kernels(const struct gpu_events *gpu, uint32_t device, struct intervals *kernels)
{
    const struct gpu_device *of = &gpu->devices[device];
    intervals_clear(kernels);
    for (size_t i = of->first; i < of->first + of->count; i++)
        if (gpu_work_is_kernel(gpu->work[i]))
            intervals_add(kernels, gpu->trace->start_ns[gpu->event[i]],
                          trace_end_ns(gpu->trace, gpu->event[i]));
    intervals_merge(kernels);
}

static struct table *make_transfers(struct question *question)
{
    static const struct {
        const char *title;
        enum transfer_column column;
    } ways[] = {
        [TRANSFERS_BY_KIND] = { "Copies by direction and host memory", TRANSFER_DIRECTION },
        [TRANSFERS_BY_RANK] = { "Copies by rank", TRANSFER_RANK },
        [TRANSFERS_BY_STREAM] = { "Copies by stream", TRANSFER_STREAM },
        [TRANSFERS_BY_STEP] = { "Copies by step", TRANSFER_STEP },
        [TRANSFERS_BY_OPERATOR] = { "Copies by operator", TRANSFER_OPERATOR },
    };
    struct table *table =
        table_open("transfers", ways[question->by].title, transfer_columns, TRANSFER_COLUMNS);
    table->columns[ways[question->by].column].flags = 0;
    if (question->trace->file_count > 1)
        table->columns[TRANSFER_RANK].flags = 0;
    find_parts(question);
    struct intervals kernels = { 0 };
    const struct part *parts = question->parts.at;
    for (size_t first = 0, end; first < question->parts.count; first = end) {
        for (end = first + 1;
             end < question->parts.count && compare_rows_of_parts(&parts[first], &parts[end]) == 0;)
            end++;
        if (first == 0 || parts[first].device != parts[first - 1].device)
            find_kernels(question->gpu, parts[first].device, &kernels);
        add_transfer(table, question, &parts[first], end - first, &kernels);
    }
    intervals_release(&kernels);
    table_sort(table, TRANSFER_TIME, false);
    table_drop_hidden(table);
    return table;
}

/* ---- stalls ---- */

enum stall_column {
    STALL_RANK,
    STALL_OPERATOR,
    STALL_BLOCKED,
    STALL_WON,
    STALL_COUNT,
    STALL_CAUSE,
    STALL_TRANSFER,
    STALL_LINE,
    STALL_ADVICE,
    STALL_CALL,
    STALL_LONGEST,
    STALL_BYTES,
    STALL_COLUMNS
};

/* clang-format off */
static const struct table_column stall_columns[STALL_COLUMNS] = {
    { "rank", "Rank", TABLE_COUNT, "rank of the file, or its place among the files", TABLE_HIDDEN, NULL },
    { "operator", "Operator", TABLE_NAME, "the operator in which the host waited; the call where there is none", 0, NULL },
    { "blocked", "Host blocked", TABLE_NS, "time in which the host thread sat in the calls", 0, NULL },
    { "could_be_won", "Could be won", TABLE_NS, "of this, at most: what goes beyond the launch of as many asynchronous copies", 0, "won" },
    { "count", "Count", TABLE_COUNT, "how often", 0, NULL },
    { "cause", "Cause", TABLE_TEXT, "why the host had to wait", 0, NULL },
    { "transfer", "Transfer", TABLE_TEXT, "direction and host memory of the copy", 0, NULL },
    { "line", "Line", TABLE_NAME, "Python function and line, where stacks were recorded", 0, NULL },
    { "advice", "Advice", TABLE_TEXT, "what to do", TABLE_OPTIONAL, NULL },
    { "call", "Call", TABLE_NAME, "the call that waited", TABLE_OPTIONAL, NULL },
    { "longest", "Longest", TABLE_NS, "the longest of the waits", TABLE_OPTIONAL, NULL },
    { "bytes", "Bytes", TABLE_BYTES, "bytes of the copies", TABLE_OPTIONAL, NULL },
};
/* clang-format on */

static const struct {
    const char *cause, *advice;
} causes[WAIT_KINDS] = {
    [WAIT_SYNC_COPY] = { "synchronous copy", "copy from or to pinned memory with non_blocking=True" },
    [WAIT_PAGEABLE_COPY] = { "pageable copy",
                             "pin the host memory (pin_memory=True) and copy with non_blocking=True" },
    [WAIT_FOR_COPY] = { "wait for a copy", "wait less often, and later: after more work has been launched" },
    [WAIT_FOR_KERNEL] = { "wait for kernels",
                          "wait less often, or for an event instead of a stream or device" },
    [WAIT_FOR_NOTHING] = { "empty wait", "nothing was left to wait for: it costs only itself" },
    [WAIT_PINNING] = { "pinning", "pin memory once and use it again; let DataLoader(pin_memory=True) do it" },
};

/* A value that the host reads from the device: no pinning helps. */
static const char *const read_advice = "keep the value on the device, or read it once in many steps";

static const char *advice_for(enum host_wait_kind kind, const char *owner)
{
    static const char *const readers[] = { "aten::item",       "aten::_local_scalar_dense",
                                           "aten::is_nonzero", "aten::equal",
                                           "aten::nonzero",    "aten::masked_select" };
    if (kind == WAIT_PAGEABLE_COPY || kind == WAIT_FOR_COPY || kind == WAIT_FOR_KERNEL)
        for (size_t i = 0; i < sizeof readers / sizeof *readers; i++)
            if (strcmp(owner, readers[i]) == 0)
                return read_advice;
    return causes[kind].advice;
}

/* A wait, and what makes its row. */
struct stall {
    struct host_wait wait;
    int64_t rank;     /* 0 unless it makes rows */
    name_id owner;    /* name of the operator, else of the call */
    const char *line; /* NULL: none; equal lines of Python functions are the same pointer */
    size_t line_len;
    unsigned char transfer; /* direction and memory; 0 when no copy is part of it */
};

static int compare_lines(const struct stall *a, const struct stall *b)
{
    if (a->line == b->line && a->line_len == b->line_len)
        return 0;
    if (!a->line || !b->line)
        return a->line ? 1 : -1;
    size_t len = a->line_len < b->line_len ? a->line_len : b->line_len;
    int order = memcmp(a->line, b->line, len);
    return order ? order : a->line_len < b->line_len ? -1 : a->line_len > b->line_len;
}

/* 0: they make one row. */
static int compare_rows(const struct stall *a, const struct stall *b)
{
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    if (a->owner != b->owner)
        return a->owner < b->owner ? -1 : 1;
    if (a->wait.kind != b->wait.kind)
        return a->wait.kind < b->wait.kind ? -1 : 1;
    if (a->transfer != b->transfer)
        return a->transfer < b->transfer ? -1 : 1;
    return compare_lines(a, b);
}

static int compare_stalls(const void *left, const void *right)
{
    const struct stall *a = left, *b = right;
    int order = compare_rows(a, b);
    return order ? order : a->wait.call < b->wait.call ? -1 : a->wait.call > b->wait.call;
}

/* What a call costs that only launches something: the median of the trace's launches of kernels. */
static int64_t launch_cost(const struct question *question)
{
    const struct trace *trace = question->trace;
    VEC_OF(int64_t) costs = { 0 };
    for (event_id e = 0; e < trace->event_count; e++)
        if (event_is_call(trace->kind[e]) && question->sorts[trace->name[e]] == CALL_LAUNCH)
            *VEC_PUSH(&costs) = trace->dur_ns[e];
    int64_t median_ns = stats_of(costs.at, costs.count).median;
    VEC_FREE(&costs);
    return median_ns;
}

static void set_transfer(struct table *table, size_t row, const struct question *question,
                         const struct stall *stall)
{
    if (!is_copy(question->trace, stall->wait.work))
        return;
    struct copy_kind kind = kind_of(question, stall->wait.work);
    const char *memory = copy_memory_name(kind.memory);
    struct buffer text = { 0 };
    buffer_printf(&text, "%s%s%s", copy_direction_name(kind.direction), memory ? " " : "",
                  memory ? memory : "");
    table_set_text(table, row, STALL_TRANSFER, text.at, text.count);
    buffer_release(&text);
}

/* A row for COUNT STALLS that belong together. */
static void add_stall(struct table *table, const struct question *question, const struct stall *stalls,
                      size_t count, int64_t cost_ns)
{
    const struct trace *trace = question->trace;
    int64_t blocked_ns = 0, won_ns = 0, longest_ns = 0, bytes = 0;
    for (size_t i = 0; i < count; i++) {
        int64_t dur_ns = trace->dur_ns[stalls[i].wait.call];
        blocked_ns += dur_ns;
        won_ns += dur_ns > cost_ns ? dur_ns - cost_ns : 0;
        longest_ns = dur_ns > longest_ns ? dur_ns : longest_ns;
        if (is_copy(trace, stalls[i].wait.work))
            sum_add(&bytes, trace_arg_or(trace, ARG_BYTES, stalls[i].wait.work, 0));
    }
    size_t row = table_add_row(table);
    name_id call = trace->name[stalls[0].wait.call];
    table_set_int(table, row, STALL_RANK, stalls[0].rank);
    table_set_text(table, row, STALL_OPERATOR, names_text(trace->names, stalls[0].owner),
                   names_length(trace->names, stalls[0].owner));
    table_set_text(table, row, STALL_LINE, stalls[0].line, stalls[0].line_len);
    table_set_text(table, row, STALL_CAUSE, causes[stalls[0].wait.kind].cause,
                   strlen(causes[stalls[0].wait.kind].cause));
    const char *advice = advice_for(stalls[0].wait.kind, names_text(trace->names, stalls[0].owner));
    table_set_text(table, row, STALL_ADVICE, advice, strlen(advice));
    table_set_text(table, row, STALL_CALL, names_text(trace->names, call), names_length(trace->names, call));
    set_transfer(table, row, question, &stalls[0]);
    table_set_int(table, row, STALL_COUNT, (int64_t)count);
    table_set_int(table, row, STALL_BLOCKED, blocked_ns);
    table_set_int(table, row, STALL_WON, won_ns);
    table_set_int(table, row, STALL_LONGEST, longest_ns);
    if (is_copy(trace, stalls[0].wait.work))
        table_set_int(table, row, STALL_BYTES, bytes);
}

static struct stall stall_of(const struct question *question, struct callers *callers,
                             const struct host_wait *wait)
{
    const struct trace *trace = question->trace;
    event_id owner = callers_operator(callers, wait->call);
    struct stall stall = { .wait = *wait, .owner = trace->name[owner == EVENT_NONE ? wait->call : owner] };
    stall.line = callers_line(callers, wait->call, &stall.line_len);
    if (question->by == TRANSFERS_BY_RANK)
        stall.rank = selection_rank(trace, trace->tracks[trace->track[wait->call]].file);
    if (is_copy(trace, wait->work)) {
        struct copy_kind kind = kind_of(question, wait->work);
        stall.transfer =
            (unsigned char)(1 + (unsigned)kind.direction * COPY_MEMORIES + (unsigned)kind.memory);
    }
    return stall;
}

/* The advice for the costliest rows, in words below the tables, where there is room for them. */
static void add_advice(const struct table *stalls, struct result *result)
{
    enum { MOST = 3 };
    size_t said = 0;
    for (size_t row = 0; row < stalls->row_count && said < MOST; row++) {
        const char *advice = table_cell(stalls, row, STALL_ADVICE)->text.at;
        bool repeated = table_cell(stalls, row, STALL_WON)->i == 0;
        for (size_t before = 0; before < row && !repeated; before++)
            repeated = strcmp(table_cell(stalls, before, STALL_ADVICE)->text.at, advice) == 0;
        if (repeated)
            continue;
        result_add_notice(result, "advice", table_cell(stalls, row, STALL_COUNT)->i, NULL, TPA_NOWHERE,
                          "%s, %s: %s", table_cell(stalls, row, STALL_OPERATOR)->text.at,
                          table_cell(stalls, row, STALL_CAUSE)->text.at, advice);
        said++;
    }
}

static struct table *make_stalls(const struct question *question)
{
    const struct trace *trace = question->trace;
    struct table *table = table_open("stalls", "Where the host had to wait", stall_columns, STALL_COLUMNS);
    VEC_OF(struct stall) stalls = { 0 };
    struct callers *callers = question->callers;
    for (size_t i = 0; i < question->waits->count; i++)
        if (selection_holds_place(question->selection, question->waits->at[i].call))
            *VEC_PUSH(&stalls) = stall_of(question, callers, &question->waits->at[i]);
    if (stalls.count)
        qsort(stalls.at, stalls.count, sizeof *stalls.at, compare_stalls);
    int64_t cost_ns = launch_cost(question), blocked_ns = 0;
    for (size_t first = 0, end; first < stalls.count; first = end) {
        for (end = first + 1; end < stalls.count && compare_rows(&stalls.at[first], &stalls.at[end]) == 0;)
            end++;
        add_stall(table, question, &stalls.at[first], end - first, cost_ns);
    }
    bool any_line = false;
    for (size_t i = 0; i < stalls.count; i++) {
        blocked_ns += trace->dur_ns[stalls.at[i].wait.call];
        any_line |= stalls.at[i].line != NULL;
    }
    if (!any_line)
        table->columns[STALL_LINE].flags = TABLE_OPTIONAL;
    if (question->by == TRANSFERS_BY_RANK)
        table->columns[STALL_RANK].flags = 0;
    table_sort(table, STALL_BLOCKED, false);
    table_add_footer(table, "blocked_total", "Host threads blocked", TABLE_NS, table_int(blocked_ns));
    table_add_footer(table, "launch_cost", "A launch takes (median)", TABLE_NS, table_int(cost_ns));
    VEC_FREE(&stalls);
    return table;
}

/* ---- the whole ---- */

/* The callers of what is asked about: calls that waited, and by operator those that copied. NULL when there are none. */
static struct callers *open_callers(const struct question *question)
{
    VEC_OF(event_id) calls = { 0 };
    for (size_t i = 0; i < question->waits->count; i++)
        *VEC_PUSH(&calls) = question->waits->at[i].call;
    for (size_t i = 0; question->by == TRANSFERS_BY_OPERATOR && i < question->gpu->count; i++)
        if (question->gpu->work[i] == GPU_MEMCPY && question->gpu->call[i] != EVENT_NONE)
            *VEC_PUSH(&calls) = question->gpu->call[i];
    struct callers *callers = calls.count ? callers_open(question->trace, calls.at, calls.count) : NULL;
    VEC_FREE(&calls);
    return callers;
}

void transfers_add_tables(const struct trace *trace, const struct selection *selection, enum transfers_by by,
                          struct result *result)
{
    size_t name_count = names_count(trace->names);
    struct question question = { .trace = trace, .selection = selection, .by = by };
    question.gpu = gpu_events_of(trace);
    question.waits = host_waits_of(trace);
    question.sorts = call_sorts_open(trace->names);
    question.kinds = mem_alloc((name_count + 1) * sizeof *question.kinds);
    question.kinds_asked = mem_zalloc(name_count + 1, sizeof *question.kinds_asked);
    question.callers = open_callers(&question);
    question.steps = by == TRANSFERS_BY_STEP ? step_list_open(trace) : NULL;

    result_add_table(result, make_transfers(&question));
    struct table *stalls = make_stalls(&question);
    result_add_table(result, stalls);
    add_advice(stalls, result);
    table_drop_hidden(stalls);

    VEC_FREE(&question.parts);
    step_list_free(question.steps);
    callers_free(question.callers);
    free(question.kinds);
    free(question.kinds_asked);
    free(question.sorts);
}
