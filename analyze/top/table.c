/*
 * table.c - rows as a table: columns, footers, notices.
 *
 * Column keys are torch's attribute names, so that scripts and people sort by the words they know; where torch
 * says `device`, `cuda`, `xpu` and `privateuse1` are understood as well.
 */
#include "analyze/top/parts.h"
#include "base/buffer.h"
#include <math.h>
#include <stdlib.h>

/* In this order: a narrow terminal shows the first of them. */
enum column {
    COLUMN_NAME,
    COLUMN_DEVICE_TYPE,
    COLUMN_ANNOTATION,
    COLUMN_SHAPES,
    COLUMN_OVERLOAD,
    COLUMN_STACK,
    COLUMN_PLACE,
    COLUMN_STEP,
    COLUMN_MODULE,
    COLUMN_LINE,
    COLUMN_RANK,
    COLUMN_SELF_CPU,
    COLUMN_CPU,
    COLUMN_SELF_DEVICE,
    COLUMN_DEVICE,
    COLUMN_COUNT,
    COLUMN_SELF_CPU_SHARE,
    COLUMN_SELF_DEVICE_SHARE,
    COLUMN_CPU_AVERAGE,
    COLUMN_DEVICE_AVERAGE,
    COLUMN_CPU_SHARE,
    COLUMN_SELF_CPU_MEMORY,
    COLUMN_CPU_MEMORY,
    COLUMN_SELF_DEVICE_MEMORY,
    COLUMN_DEVICE_MEMORY,
    COLUMN_FLOPS,
    COLUMN_IS_ASYNC,
    COLUMN_TOP_LEVEL,
    COLUMN_NODE_ID,
    COLUMN_SCOPE,
    COLUMN_TORCH_CPU,
    COLUMN_TORCH_SELF_CPU,
    COLUMN_TORCH_DEVICE,
    COLUMN_TORCH_SELF_DEVICE,
    COLUMN_TORCH_CPU_AVERAGE,
    COLUMN_TORCH_DEVICE_AVERAGE,
    COLUMNS
};

#define DEVICE_ALIASES(before, after)                                                                        \
    before "cuda" after " " before "xpu" after " " before "privateuse1" after

/* clang-format off */
static const struct table_column all_columns[COLUMNS] = {
    [COLUMN_NAME] = { "name", "Name", TABLE_NAME, "operator, annotation, runtime call or kernel; or what --by names", 0, "key" },
    [COLUMN_DEVICE_TYPE] = { "device_type", "Device", TABLE_TEXT, "CPU for what ran on the host, CUDA for what ran on a device", TABLE_OPTIONAL, NULL },
    [COLUMN_ANNOTATION] = { "is_user_annotation", "Annotation", TABLE_BOOL, "a region that somebody named: record_function, or its shadow on a stream", TABLE_OPTIONAL, NULL },
    [COLUMN_SHAPES] = { "input_shapes", "Input Shapes", TABLE_TEXT, "sizes of the inputs; [] for what is no tensor", 0, "shapes" },
    [COLUMN_OVERLOAD] = { "overload_name", "Overload Name", TABLE_TEXT, "which overload of the operator ran", 0, "overload" },
    [COLUMN_STACK] = { "source_location", "Source Location", TABLE_TEXT, "innermost Python frames, separated by ';'", 0, "stack" },
    [COLUMN_PLACE] = { "place", "Place", TABLE_TEXT, "category, thread, stream or device", 0, "category thread stream device" },
    [COLUMN_STEP] = { "step", "Step", TABLE_TEXT, "the ProfilerStep# it began, or was launched, in", 0, NULL },
    [COLUMN_MODULE] = { "module", "Module", TABLE_TEXT, "the innermost nn.Module it was called, or launched, in; of the backward pass, that of its forward operator", 0, NULL },
    [COLUMN_LINE] = { "line", "Line", TABLE_TEXT, "the innermost Python function outside PyTorch it was called, or launched, in", 0, NULL },
    [COLUMN_RANK] = { "rank", "Rank", TABLE_COUNT, "rank of the file; its place among the files where it tells none", 0, NULL },
    [COLUMN_SELF_CPU_SHARE] = { "self_cpu_percent", "Self CPU %", TABLE_SHARE, "part of the self CPU time of all rows", 0, NULL },
    [COLUMN_SELF_CPU] = { "self_cpu_time_total", "Self CPU", TABLE_NS, "time on the host without what it called", 0, "self_cpu" },
    [COLUMN_CPU_SHARE] = { "cpu_percent", "CPU total %", TABLE_SHARE, "total CPU time as a part of the self CPU time of all rows", 0, "total_cpu_percent" },
    [COLUMN_CPU] = { "cpu_time_total", "CPU total", TABLE_NS, "time on the host from start to end, what it called included", 0, "cpu_total" },
    [COLUMN_CPU_AVERAGE] = { "cpu_time", "CPU time avg", TABLE_NS, "CPU total of one call", 0, NULL },
    [COLUMN_SELF_DEVICE] = { "self_device_time_total", "Self CUDA", TABLE_NS, "time on the device: of a kernel its own, of an operator that of the kernels it launched itself", 0, DEVICE_ALIASES("self_", "_time_total") " self_cuda" },
    [COLUMN_SELF_DEVICE_SHARE] = { "self_device_percent", "Self CUDA %", TABLE_SHARE, "part of the time of all device rows that are no annotations", 0, "self_cuda_percent" },
    [COLUMN_DEVICE] = { "device_time_total", "CUDA total", TABLE_NS, "time on the device of all it launched, through what it called too", 0, DEVICE_ALIASES("", "_time_total") " cuda_total" },
    [COLUMN_DEVICE_AVERAGE] = { "device_time", "CUDA time avg", TABLE_NS, "CUDA total of one call", 0, DEVICE_ALIASES("", "_time") },
    [COLUMN_CPU_MEMORY] = { "cpu_memory_usage", "CPU Mem", TABLE_BYTES, "host memory allocated less freed while it ran, on any thread", 0, "cpu_mem" },
    [COLUMN_SELF_CPU_MEMORY] = { "self_cpu_memory_usage", "Self CPU Mem", TABLE_BYTES, "host memory allocated less freed while it ran, without that of what it called", 0, "self_cpu_mem" },
    [COLUMN_DEVICE_MEMORY] = { "device_memory_usage", "CUDA Mem", TABLE_BYTES, "device memory allocated less freed while it ran, on any thread", 0, DEVICE_ALIASES("", "_memory_usage") " cuda_mem" },
    [COLUMN_SELF_DEVICE_MEMORY] = { "self_device_memory_usage", "Self CUDA Mem", TABLE_BYTES, "device memory allocated less freed while it ran, without that of what it called", 0, DEVICE_ALIASES("self_", "_memory_usage") " self_cuda_mem" },
    [COLUMN_COUNT] = { "count", "# of Calls", TABLE_COUNT, "how often it ran", 0, "calls" },
    [COLUMN_FLOPS] = { "flops", "Total FLOPs", TABLE_FLOPS, "floating-point operations of conv2d, mm, addmm, bmm, baddbmm, mul and add, from the shapes", 0, NULL },
    [COLUMN_IS_ASYNC] = { "is_async", "Async", TABLE_BOOL, "the first of its calls belongs to no thread's stack: no self time, no callees", TABLE_HIDDEN, NULL },
    [COLUMN_TOP_LEVEL] = { "is_top_level", "Top level", TABLE_BOOL, "the first of its calls was called by nobody", TABLE_HIDDEN, NULL },
    [COLUMN_NODE_ID] = { "node_id", "Node ID", TABLE_COUNT, "torch's number of the machine: always -1", TABLE_HIDDEN, NULL },
    [COLUMN_SCOPE] = { "scope", "Scope", TABLE_COUNT, "torch's kind of region, as far as the file tells: 7 for a region of the user, else 0", TABLE_HIDDEN, NULL },
    [COLUMN_TORCH_CPU] = { "torch_cpu_time_total", "CPU total (us)", TABLE_NUMBER, "CPU total in torch's arithmetic", TABLE_HIDDEN, NULL },
    [COLUMN_TORCH_SELF_CPU] = { "torch_self_cpu_time_total", "Self CPU (us)", TABLE_NUMBER, "Self CPU in torch's arithmetic", TABLE_HIDDEN, NULL },
    [COLUMN_TORCH_DEVICE] = { "torch_device_time_total", "CUDA total (us)", TABLE_NUMBER, "CUDA total in torch's arithmetic", TABLE_HIDDEN, NULL },
    [COLUMN_TORCH_SELF_DEVICE] = { "torch_self_device_time_total", "Self CUDA (us)", TABLE_NUMBER, "Self CUDA in torch's arithmetic", TABLE_HIDDEN, NULL },
    [COLUMN_TORCH_CPU_AVERAGE] = { "torch_cpu_time", "CPU time avg (us)", TABLE_NUMBER, "CPU time avg in torch's arithmetic", TABLE_HIDDEN, NULL },
    [COLUMN_TORCH_DEVICE_AVERAGE] = { "torch_device_time", "CUDA time avg (us)", TABLE_NUMBER, "CUDA time avg in torch's arithmetic", TABLE_HIDDEN, NULL },
};
/* clang-format on */

/* ---- texts of places ---- */

static void show_rank(const struct top *top, uint32_t file, struct buffer *out)
{
    buffer_printf(out, "rank %lld", (long long)selection_rank(top->trace, file));
}

static void show_thread(const struct top *top, const struct track *track, struct buffer *out)
{
    const struct names *texts = top->trace->texts;
    if (track->thread_name != NAME_NONE)
        buffer_puts(out, names_text(texts, track->thread_name));
    else if (track->tid_text != NAME_NONE)
        buffer_printf(out, "thread %s", names_text(texts, track->tid_text));
    else
        buffer_printf(out, "thread %lld", (long long)track->tid);
}

static void show_device(const struct track *track, struct buffer *out)
{
    if (track->device >= 0)
        buffer_printf(out, "GPU %d", (int)track->device);
    else
        buffer_puts(out, "GPU");
}

/* Category, thread, stream, device: where the row's events are. Nothing when nobody asked. */
static void show_place(const struct top *top, const struct row_key *key, struct buffer *out)
{
    const struct trace *trace = top->trace;
    const struct track *track = key->track    ? &trace->tracks[key->track - 1]
                                : key->device ? &trace->tracks[key->device - 1]
                                              : NULL;
    if (key->category) {
        const char *text = names_text(trace->texts, trace->categories[key->category - 1].text);
        buffer_puts(out, *text ? text : "(none)");
    }
    if (!track)
        return;
    if (out->count)
        buffer_puts(out, ", ");
    if (trace->file_count > 1 && !key->file) {
        show_rank(top, track->file, out);
        buffer_puts(out, ", ");
    }
    if (key->device || track->kind == TRACK_STREAM)
        show_device(track, out);
    if (key->track && track->kind == TRACK_STREAM)
        buffer_printf(out, " stream %lld", (long long)track->stream);
    else if (key->track)
        show_thread(top, track, out);
}

static const char *step_text(const struct top *top, const struct row_key *key)
{
    const char *text = names_text(top->texts, key->step - 1);
    return *text ? text : "(outside steps)";
}

/* The text of a module or line; CODE is its number in the key. */
static const char *code_text(const struct top *top, uint32_t code, const char *outside)
{
    const char *text = names_text(top->texts, code - 1);
    return *text ? text : outside;
}

static const char *module_text(const struct top *top, const struct row_key *key)
{
    return code_text(top, key->module, "(outside any module)");
}

static const char *line_text(const struct top *top, const struct row_key *key)
{
    return code_text(top, key->line, "(outside any line)");
}

/* The name of a row that no operator names: its place, step, module and line. */
static void show_name(const struct top *top, const struct row_key *key, struct buffer *out)
{
    show_place(top, key, out);
    const char *parts[] = { key->step ? step_text(top, key) : NULL,
                            key->module ? module_text(top, key) : NULL,
                            key->line ? line_text(top, key) : NULL };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i])
            buffer_printf(out, "%s%s", out->count ? ", " : "", parts[i]);
}

/* ---- filling ---- */

/* The table, and where each column is in it; -1 for those that are not there. */
struct filling {
    struct table *table;
    const struct top *top;
    int at[COLUMNS];
    int64_t self_cpu_ns; /* of all rows */
};

static void set_int(const struct filling *to, size_t row, enum column column, int64_t value)
{
    if (to->at[column] >= 0)
        table_set_int(to->table, row, (size_t)to->at[column], value);
}

static void set_number(const struct filling *to, size_t row, enum column column, double value)
{
    if (to->at[column] >= 0)
        table_set_number(to->table, row, (size_t)to->at[column], value);
}

static void set_text(const struct filling *to, size_t row, enum column column, const char *text, size_t len)
{
    if (to->at[column] >= 0)
        table_set_text(to->table, row, (size_t)to->at[column], text, len);
}

static int compare_first(const void *left, const void *right)
{
    const struct top_row *a = *(const struct top_row *const *)left,
                         *b = *(const struct top_row *const *)right;
    if (a->first_file != b->first_file)
        return a->first_file < b->first_file ? -1 : 1;
    if (a->first_start_ns != b->first_start_ns)
        return a->first_start_ns < b->first_start_ns ? -1 : 1;
    if (a->first_end_ns != b->first_end_ns)
        return a->first_end_ns > b->first_end_ns ? -1 : 1;
    return a->first_order < b->first_order ? -1 : a->first_order > b->first_order;
}

static int64_t divide_rounded(int64_t value, int64_t by)
{
    int64_t quotient = value / by, rest = value % by;
    if (rest >= by - rest)
        return quotient + 1;
    return -rest >= by + rest ? quotient - 1 : quotient;
}

/* A part of WHOLE; missing when there is no whole. */
static void set_share(const struct filling *to, size_t row, enum column column, int64_t part, int64_t whole)
{
    if (whole)
        set_number(to, row, column, (double)part / (double)whole);
}

static void set_text_id(const struct filling *to, size_t row, enum column column, uint32_t id)
{
    set_text(to, row, column, names_text(to->top->texts, id), names_length(to->top->texts, id));
}

static void fill_name(const struct filling *to, size_t row, const struct top_row *from)
{
    const struct top *top = to->top;
    const struct row_key *key = &from->key;
    struct buffer text = { 0 };
    if (top->per_call) {
        set_text(to, row, COLUMN_NAME, names_text(top->names.keys, key->name),
                 names_length(top->names.keys, key->name));
        show_place(top, key, &text);
        if (text.count)
            set_text(to, row, COLUMN_PLACE, text.at, text.count);
    } else {
        show_name(top, key, &text);
        set_text(to, row, COLUMN_NAME, text.count ? text.at : "", text.count);
    }
    buffer_release(&text);
    if (top->per_call || !(top->by & TOP_BOTH_SIDES)) {
        const char *device_type = key->on_device ? "CUDA" : "CPU";
        set_text(to, row, COLUMN_DEVICE_TYPE, device_type, strlen(device_type));
    }
    set_int(to, row, COLUMN_ANNOTATION, key->is_annotation);
    set_text_id(to, row, COLUMN_SHAPES, key->shape);
    set_text_id(to, row, COLUMN_STACK, key->stack);
    set_text_id(to, row, COLUMN_OVERLOAD, key->overload);
    if (key->step)
        set_text(to, row, COLUMN_STEP, step_text(top, key), strlen(step_text(top, key)));
    if (key->module)
        set_text(to, row, COLUMN_MODULE, module_text(top, key), strlen(module_text(top, key)));
    if (key->line)
        set_text(to, row, COLUMN_LINE, line_text(top, key), strlen(line_text(top, key)));
    if (key->file)
        set_int(to, row, COLUMN_RANK, selection_rank(top->trace, key->file - 1));
}

static void fill_row(const struct filling *to, const struct top_row *from)
{
    const struct top *top = to->top;
    size_t row = table_add_row(to->table);
    fill_name(to, row, from);
    set_int(to, row, COLUMN_COUNT, from->count);
    set_int(to, row, COLUMN_CPU, from->cpu_ns);
    set_int(to, row, COLUMN_SELF_CPU, from->self_cpu_ns);
    set_int(to, row, COLUMN_CPU_AVERAGE, divide_rounded(from->cpu_ns, from->count));
    set_int(to, row, COLUMN_DEVICE, from->device_ns);
    set_int(to, row, COLUMN_SELF_DEVICE, from->self_device_ns);
    set_int(to, row, COLUMN_DEVICE_AVERAGE, divide_rounded(from->device_ns, from->count));
    set_share(to, row, COLUMN_SELF_CPU_SHARE, from->self_cpu_ns, to->self_cpu_ns);
    set_share(to, row, COLUMN_CPU_SHARE, from->first_is_async ? 0 : from->cpu_ns, to->self_cpu_ns);
    set_share(to, row, COLUMN_SELF_DEVICE_SHARE, from->self_device_ns, top->self_device_ns);
    set_int(to, row, COLUMN_CPU_MEMORY, from->cpu_bytes);
    set_int(to, row, COLUMN_SELF_CPU_MEMORY, from->self_cpu_bytes);
    set_int(to, row, COLUMN_DEVICE_MEMORY, from->device_bytes);
    set_int(to, row, COLUMN_SELF_DEVICE_MEMORY, from->self_device_bytes);
    set_int(to, row, COLUMN_FLOPS, from->flops);
    set_int(to, row, COLUMN_IS_ASYNC, from->first_is_async);
    set_int(to, row, COLUMN_TOP_LEVEL, !from->first_has_parent);
    set_int(to, row, COLUMN_NODE_ID, -1);
    set_int(to, row, COLUMN_SCOPE, from->key.is_annotation && !from->key.on_device ? 7 : 0);
    if (top->float_rows) {
        const struct top_float_row *figures = &top->float_rows[from - top->rows.at];
        double count = (double)from->count;
        set_number(to, row, COLUMN_TORCH_CPU, figures->cpu_us);
        set_number(to, row, COLUMN_TORCH_SELF_CPU, figures->self_cpu_us);
        set_number(to, row, COLUMN_TORCH_DEVICE, figures->device_us);
        set_number(to, row, COLUMN_TORCH_SELF_DEVICE, figures->self_device_us);
        set_number(to, row, COLUMN_TORCH_CPU_AVERAGE, figures->cpu_us / count);
        set_number(to, row, COLUMN_TORCH_DEVICE_AVERAGE, figures->device_us / count);
    }
}

/* Columns of other ways to group are not there at all. */
static bool has_column(const struct top *top, enum column column)
{
    const unsigned places = TOP_CATEGORY | TOP_THREAD | TOP_STREAM | TOP_DEVICE;
    switch (column) {
    case COLUMN_SHAPES: return top->by & TOP_SHAPE;
    case COLUMN_OVERLOAD: return top->by & TOP_OVERLOAD;
    case COLUMN_STACK: return top->by & TOP_STACK;
    case COLUMN_PLACE: return top->per_call && top->by & places;
    case COLUMN_STEP: return top->per_call && top->by & TOP_STEP;
    case COLUMN_MODULE: return top->per_call && top->by & TOP_MODULE;
    case COLUMN_LINE: return top->per_call && top->by & TOP_LINE;
    case COLUMN_RANK: return top->by & TOP_RANK;
    default: return column < COLUMN_TORCH_CPU || top->float_rows;
    }
}

struct present {
    bool host, device, device_memory;
};

/* Columns that hold nothing in this trace stay out of what people read, as in torch; scripts always get them. */
static bool is_empty_column(const struct top *top, enum column column, const struct present *any)
{
    switch (column) {
    case COLUMN_SELF_CPU:
    case COLUMN_SELF_CPU_SHARE:
    case COLUMN_CPU:
    case COLUMN_CPU_AVERAGE:
    case COLUMN_CPU_SHARE: return !any->host;
    case COLUMN_SELF_DEVICE:
    case COLUMN_SELF_DEVICE_SHARE:
    case COLUMN_DEVICE:
    case COLUMN_DEVICE_AVERAGE: return !any->device;
    case COLUMN_CPU_MEMORY:
    case COLUMN_SELF_CPU_MEMORY: return !top->has_memory || !any->host;
    case COLUMN_DEVICE_MEMORY:
    case COLUMN_SELF_DEVICE_MEMORY: return !top->has_memory || !any->device_memory;
    case COLUMN_FLOPS: return !top->has_flops;
    default: return false;
    }
}

/* What the rows are. */
static const char *title_of(const struct top *top)
{
    if (top->by & TOP_KERNEL)
        return "Kernels";
    switch (top->by & ~(unsigned)TOP_RANK) {
    case TOP_CATEGORY: return "Categories";
    case TOP_THREAD: return "Threads";
    case TOP_STREAM: return "Streams";
    case TOP_DEVICE: return "Devices";
    case TOP_STEP: return "Steps";
    case TOP_MODULE: return "Modules";
    case TOP_LINE: return "Lines";
    default: return top->per_call ? "Operators" : "Time";
    }
}

static struct filling open_table(const struct top *top, const struct present *any)
{
    struct filling to = { .top = top };
    struct table_column columns[COLUMNS];
    size_t count = 0;
    for (int c = 0; c < COLUMNS; c++) {
        to.at[c] = -1;
        if (!has_column(top, (enum column)c))
            continue;
        to.at[c] = (int)count;
        columns[count] = all_columns[c];
        if (is_empty_column(top, (enum column)c, any))
            columns[count].flags |= TABLE_OPTIONAL;
        count++;
    }
    to.table = table_open("operators", title_of(top), columns, count);
    return to;
}

/* ---- notices ---- */

static double milliseconds(int64_t ns)
{
    return (double)ns / 1e6;
}

/* What --by stack, module and line did not find in the trace, and where it may be. */
static void add_notices_about_code(const struct top *top, struct result *result)
{
    const struct trace *trace = top->trace;
    bool frames = false;
    for (size_t i = 0; i < trace->category_count && !frames; i++)
        frames = trace->categories[i].kind == EVENT_PYTHON && trace->categories[i].event_count > 0;
    if (top->by & TOP_STACK && frames && trace->args[ARG_CALL_STACK].count == 0)
        result_add_notice(
            result, "no_call_stacks", 0, NULL, TPA_NOWHERE,
            "Python frames are events of their own in this trace, and no operator carries its stack, "
            "which is what torch goes by; --by line and --by module go by the events");
    if ((top->modules && top->modules->count == 1) || (top->lines && top->lines->count == 1))
        result_add_notice(result, "no_code", 0, NULL, TPA_NOWHERE,
                          "no %s is in the recorded stacks; profile with with_stack=True",
                          top->modules && top->modules->count == 1 ? "nn.Module"
                                                                   : "function outside PyTorch");
}

/* What is special about COUNT kernels and copies: MANY of them, or ONE. */
static void add_work_notice(struct result *result, const char *kind, uint64_t count, int64_t time_ns,
                            const char *many, const char *one)
{
    if (count == 1)
        result_add_notice(result, kind, 1, NULL, TPA_NOWHERE, "1 kernel or copy (%.3f ms) %s",
                          milliseconds(time_ns), one);
    else if (count)
        result_add_notice(result, kind, (int64_t)count, NULL, TPA_NOWHERE,
                          "%llu kernels and copies (%.3f ms) %s", (unsigned long long)count,
                          milliseconds(time_ns), many);
}

static void add_notices(const struct top *top, struct result *result)
{
    const struct top_counts *counts = &top->counts;
    const struct trace *trace = top->trace;
    add_notices_about_code(top, result);
    if (!top->has_device)
        result_add_notice(result, "no_gpu", 0, NULL, TPA_NOWHERE,
                          "nothing ran on a device, or it was not recorded");
    add_work_notice(
        result, "gpu_work_without_call", counts->callless_gpu, counts->callless_gpu_ns,
        "were launched by a call that is not in the file, mostly before recording began: they have "
        "rows of their own and belong to no operator",
        "was launched by a call that is not in the file, mostly before recording began: it has a row "
        "of its own and belongs to no operator");
    if (counts->unlinked_gpu > counts->callless_gpu)
        add_work_notice(result, "gpu_work_without_operator", counts->unlinked_gpu, counts->unlinked_gpu_ns,
                        "belong to no recorded operator: they have rows of their own",
                        "belongs to no recorded operator: it has a row of its own");
    add_work_notice(
        result, "cuda_graph", counts->graph_gpu, counts->graph_gpu_ns,
        "ran as parts of CUDA graphs; the operator that launched the graph, if one did, has their time",
        "ran as part of a CUDA graph; the operator that launched the graph, if one did, has its time");
    add_work_notice(
        result, "kernels_of_folded_calls", counts->lost_gpu, counts->lost_gpu_ns,
        "were launched by an operator whose only callee has its own name: as in torch the two are one "
        "call, with the callee's kernels only",
        "was launched by an operator whose only callee has its own name: as in torch the two are one "
        "call, with the callee's kernels only");
    if (counts->moved_calls)
        result_add_notice(
            result, "calls_without_operator", (int64_t)counts->moved_calls, NULL, TPA_NOWHERE,
            counts->moved_calls == 1
                ? "%llu runtime call of another thread belongs to no operator: as in torch it is counted "
                  "on the thread that stopped the profiler"
                : "%llu runtime calls of other threads belong to no operator: as in torch they are counted "
                  "on the thread that stopped the profiler",
            (unsigned long long)counts->moved_calls);
    if (counts->unfinished)
        result_add_notice(
            result, "unfinished_regions", (int64_t)counts->unfinished, NULL, TPA_NOWHERE,
            counts->unfinished == 1
                ? "%llu region was still open when recording stopped: it ends there and has no self time"
                : "%llu regions were still open when recording stopped: they end there and have no self time",
            (unsigned long long)counts->unfinished);
    if (counts->guessed_async)
        result_add_notice(
            result, "async_guessed", (int64_t)counts->guessed_async, NULL, TPA_NOWHERE,
            counts->guessed_async == 1
                ? "%llu region is taken for asynchronous by its name (nccl:, gloo: ...), as the file "
                  "does not tell: it has no self time"
                : "%llu regions are taken for asynchronous by their names (nccl:, gloo: ...), as the file "
                  "does not tell: they have no self time",
            (unsigned long long)counts->guessed_async);
    for (uint32_t i = 0; i < trace->file_count; i++) {
        const char *path = trace->files[i].path;
        uint64_t shared = attribution_shared_calls(top->launches, i);
        if (shared)
            result_add_notice(
                result, "shared_numbers", (int64_t)shared, path, TPA_NOWHERE,
                "the file holds several processes whose calls (%llu) share their correlations: device work is "
                "given to the process that explains its device's best; a file for each process leaves no doubt",
                (unsigned long long)shared);
        if (attribution_generation(top->launches, i) == 2)
            result_add_notice(
                result, "links_by_nesting", 0, path, TPA_NOWHERE,
                "traces of this age do not record which operator launched a kernel: it is the innermost "
                "one around the launching call");
    }
}

/* ---- the result ---- */

struct result *top_result(struct top *top)
{
    const struct top_row **order = mem_alloc((top->rows.count + 1) * sizeof *order);
    size_t count = 0;
    int64_t self_cpu_ns = 0;
    struct present any = { false, false, false };
    for (size_t i = 0; i < top->rows.count; i++) {
        const struct top_row *row = &top->rows.at[i];
        if (row->count == 0)
            continue;
        order[count++] = row;
        add_to(&self_cpu_ns, row->self_cpu_ns);
        any.host |= !row->key.on_device;
        any.device |= row->self_device_ns > 0;
        any.device_memory |= row->self_device_bytes > 0;
    }
    if (count)
        qsort(order, count, sizeof *order, compare_first);
    any.host |= count == 0; /* an empty table is a host's */
    struct filling to = open_table(top, &any);
    to.self_cpu_ns = self_cpu_ns;
    for (size_t i = 0; i < count; i++)
        if (!top->per_call || !top->names.wanted || top->names.wanted[order[i]->key.name])
            fill_row(&to, order[i]);
    free(order);
    if (any.host || !any.device)
        table_add_footer(to.table, "self_cpu_time_total", "Self CPU time total", TABLE_NS,
                         (union table_cell){ .i = self_cpu_ns });
    if (any.device)
        table_add_footer(to.table, "self_device_time_total", "Self CUDA time total", TABLE_NS,
                         (union table_cell){ .i = top->self_device_ns });
    to.table->total_rows = to.table->row_count;
    struct result *result = result_open("tpa.top/1");
    result_add_table(result, to.table);
    add_notices(top, result);
    return result;
}

/* ---- the rows without a table ---- */

/* What tells rows of one name apart, as people read it. */
static void show_detail(const struct top *top, const struct row_key *key, struct buffer *out)
{
    const uint32_t texts[] = { key->shape, key->overload, key->stack };
    const unsigned dimensions[] = { TOP_SHAPE, TOP_OVERLOAD, TOP_STACK };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (!(top->by & dimensions[i]) || names_length(top->texts, texts[i]) == 0)
            continue;
        buffer_puts(out, out->count ? "  " : "");
        buffer_add(out, names_text(top->texts, texts[i]), names_length(top->texts, texts[i]));
    }
    if (top->by & (TOP_CATEGORY | TOP_THREAD | TOP_STREAM | TOP_DEVICE)) {
        struct buffer place = { 0 };
        show_place(top, key, &place);
        buffer_puts(out, out->count && place.count ? "  " : "");
        buffer_add(out, place.at, place.count);
        buffer_release(&place);
    }
}

void top_give_rows(struct top *top, top_take *take, void *context)
{
    struct buffer place = { 0 }, detail = { 0 };
    for (size_t i = 0; i < top->rows.count; i++) {
        const struct top_row *row = &top->rows.at[i];
        if (row->count == 0)
            continue;
        struct top_figures figures = {
            .detail = "",
            .on_device = row->key.on_device,
            .is_annotation = row->key.is_annotation,
            .is_gpu_work = event_is_gpu_work(top->trace->kind[row->first_event]),
            .file = row->key.file ? row->key.file - 1 : 0,
            .count = row->count,
            .cpu_ns = row->cpu_ns,
            .self_cpu_ns = row->self_cpu_ns,
            .device_ns = row->device_ns,
            .self_device_ns = row->self_device_ns,
        };
        if (row->key.step)
            figures.in_step = step_number(names_text(top->texts, row->key.step - 1), &figures.step);
        if (top->per_call) {
            figures.name = names_text(top->names.keys, row->key.name);
            figures.name_length = names_length(top->names.keys, row->key.name);
            buffer_clear(&detail);
            show_detail(top, &row->key, &detail);
            figures.detail = detail.count ? detail.at : "";
        } else {
            buffer_clear(&place);
            show_place(top, &row->key, &place);
            figures.name = place.count ? place.at : "";
            figures.name_length = place.count;
        }
        take(context, &figures);
    }
    buffer_release(&place);
    buffer_release(&detail);
}
