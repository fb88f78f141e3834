/*
 * table.c - the rows of top as a table, and the notices below it.
 *
 * Column keys are torch's attribute names, so that scripts and people sort by the words they know; where torch
 * says `device`, `cuda`, `xpu`, `mtia` and `privateuse1` are understood as well.
 */
#include "analyze/top/top.h"

#include "base/rows.h"
#include "derive/communication.h"

#define DEVICE_ALIASES(before, after)                                                                        \
    before "cuda" after " " before "xpu" after " " before "mtia" after " " before "privateuse1" after
#define ROW struct top_row

/* In this order: a narrow terminal shows the first of them. "CUDA" in a title becomes the name of the device. */
/* clang-format off */
static const struct table_column columns[] = {
    COLUMN(ROW, name, "name", "Name", TABLE_NAME, "operator, annotation, runtime call or kernel; or what --by names", .aliases = "key"),
    COLUMN(ROW, device_type, "device_type", "Device", TABLE_TEXT, "what torch calls the device it ran on: CPU, CUDA (AMD, too), XPU, MTIA, HPU, PrivateUse1", .flags = TABLE_OPTIONAL),
    COLUMN(ROW, is_annotation, "is_user_annotation", "Annotation", TABLE_BOOL, "a region that somebody named: record_function, or its shadow on a stream", .flags = TABLE_OPTIONAL),
    COLUMN(ROW, shapes, "input_shapes", "Input Shapes", TABLE_TEXT, "sizes of the inputs; [] for what is not a tensor", .aliases = "shapes"),
    COLUMN(ROW, overload, "overload_name", "Overload Name", TABLE_TEXT, "which overload of the operator ran", .aliases = "overload"),
    COLUMN(ROW, stack, "source_location", "Source Location", TABLE_TEXT, "innermost Python frames, separated by ';'", .aliases = "stack"),
    GROUP_COLUMNS(ROW, key),
    COLUMN(ROW, line, "line", "Line", TABLE_TEXT, "the innermost Python function outside PyTorch it was called, or launched, in"),
    COLUMN(ROW, self_cpu_ns, "self_cpu_time_total", "Self CPU", TABLE_NS, "time on the host without what it called", .aliases = "self_cpu"),
    COLUMN(ROW, cpu_ns, "cpu_time_total", "CPU total", TABLE_NS, "time on the host from start to end, what it called included", .aliases = "cpu_total"),
    COLUMN(ROW, self_device_ns, "self_device_time_total", "Self CUDA", TABLE_NS, "time on the device: of a kernel its own, of an operator that of the kernels it launched itself", .aliases = DEVICE_ALIASES("self_", "_time_total") " self_cuda"),
    COLUMN(ROW, device_ns, "device_time_total", "CUDA total", TABLE_NS, "time on the device of all it launched, through what it called too", .aliases = DEVICE_ALIASES("", "_time_total") " cuda_total"),
    COLUMN(ROW, count, "count", "# of Calls", TABLE_TALLY, "how often it ran", .aliases = "calls"),
    COLUMN(ROW, captured, "graph_works", "Graph operations", TABLE_TALLY, "operations of CUDA and HIP graphs that were captured from it (--capture)", .aliases = "graph_operations"),
    COLUMN(ROW, self_cpu_share, "self_cpu_percent", "Self CPU %", TABLE_SHARE, "part of the self CPU time of all rows"),
    COLUMN(ROW, self_device_share, "self_device_percent", "Self CUDA %", TABLE_SHARE, "part of the time of all device rows that are not annotations", .aliases = "self_cuda_percent"),
    COLUMN(ROW, cpu_average_ns, "cpu_time", "CPU time avg", TABLE_NS, "CPU total of one call"),
    COLUMN(ROW, device_average_ns, "device_time", "CUDA time avg", TABLE_NS, "device total of one call", .aliases = DEVICE_ALIASES("", "_time")),
    COLUMN(ROW, cpu_share, "cpu_percent", "CPU total %", TABLE_SHARE, "total CPU time as a part of the self CPU time of all rows", .aliases = "total_cpu_percent"),
    COLUMN(ROW, self_cpu_bytes, "self_cpu_memory_usage", "Self CPU Mem", TABLE_BYTES, "host memory allocated less freed while it ran, without that of what it called", .aliases = "self_cpu_mem"),
    COLUMN(ROW, cpu_bytes, "cpu_memory_usage", "CPU Mem", TABLE_BYTES, "host memory allocated less freed while it ran, on any thread", .aliases = "cpu_mem"),
    COLUMN(ROW, self_device_bytes, "self_device_memory_usage", "Self CUDA Mem", TABLE_BYTES, "device memory allocated less freed while it ran, without that of what it called", .aliases = DEVICE_ALIASES("self_", "_memory_usage") " self_cuda_mem"),
    COLUMN(ROW, device_bytes, "device_memory_usage", "CUDA Mem", TABLE_BYTES, "device memory allocated less freed while it ran, on any thread", .aliases = DEVICE_ALIASES("", "_memory_usage") " cuda_mem"),
    COLUMN(ROW, flops, "flops", "Total FLOPs", TABLE_FLOPS, "floating-point operations of conv2d, mm, addmm, bmm, baddbmm, mul and add, from the shapes"),
    COLUMN(ROW, is_async, "is_async", "Async", TABLE_BOOL, "the first of its calls belongs to no thread's stack: no self time, no callees", .flags = TABLE_HIDDEN),
    COLUMN(ROW, is_top_level, "is_top_level", "Top level", TABLE_BOOL, "the first of its calls was called by nobody", .flags = TABLE_HIDDEN),
    COLUMN(ROW, node_id, "node_id", "Node ID", TABLE_COUNT, "torch's number of the machine: always -1", .flags = TABLE_HIDDEN),
    COLUMN(ROW, scope, "scope", "Scope", TABLE_COUNT, "torch's kind of region, as far as the file records it: 7 for a region of the user, else 0", .flags = TABLE_HIDDEN),
    COLUMN(ROW, as_torch.cpu_us, "torch_cpu_time_total", "CPU total (us)", TABLE_NUMBER, "CPU total in torch's arithmetic", .flags = TABLE_HIDDEN),
    COLUMN(ROW, as_torch.self_cpu_us, "torch_self_cpu_time_total", "Self CPU (us)", TABLE_NUMBER, "Self CPU in torch's arithmetic", .flags = TABLE_HIDDEN),
    COLUMN(ROW, as_torch.device_us, "torch_device_time_total", "CUDA total (us)", TABLE_NUMBER, "CUDA total in torch's arithmetic", .flags = TABLE_HIDDEN),
    COLUMN(ROW, as_torch.self_device_us, "torch_self_device_time_total", "Self CUDA (us)", TABLE_NUMBER, "Self CUDA in torch's arithmetic", .flags = TABLE_HIDDEN),
    COLUMN(ROW, as_torch.cpu_average_us, "torch_cpu_time", "CPU time avg (us)", TABLE_NUMBER, "CPU time avg in torch's arithmetic", .flags = TABLE_HIDDEN),
    COLUMN(ROW, as_torch.device_average_us, "torch_device_time", "CUDA time avg (us)", TABLE_NUMBER, "CUDA time avg in torch's arithmetic", .flags = TABLE_HIDDEN),
};
/* clang-format on */

/* Is the column of the member at OFFSET there at all? Those of other ways to group are not. */
static bool has_column(const struct top *top, const struct table_column *column)
{
    const struct {
        size_t offset;
        bool there;
    } choices[] = {
        { offsetof(ROW, shapes), top->by & TOP_SHAPE },
        { offsetof(ROW, overload), top->by & TOP_OVERLOAD },
        { offsetof(ROW, stack), top->by & TOP_STACK },
        { offsetof(ROW, line), top->per_call && top->by & TOP_LINE },
        { offsetof(ROW, captured), top->captured > 0 },
    };
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++)
        if (column->offset == choices[i].offset)
            return choices[i].there;
    if (column->offset >= offsetof(ROW, key) &&
        column->offset < offsetof(ROW, key) + sizeof(struct group_key))
        return top->group && group_has_column(top->group, column->offset - offsetof(ROW, key));
    return column->offset < offsetof(ROW, as_torch) || top->as_torch;
}

/* Columns that hold nothing in this trace stay out of what people read, as in torch; scripts always get them. */
static bool is_empty_column(const struct top *top, const struct table_column *column)
{
    const struct {
        size_t first, last;
        bool empty;
    } choices[] = {
        { offsetof(ROW, cpu_ns), offsetof(ROW, cpu_average_ns), !top->has_host },
        { offsetof(ROW, self_cpu_share), offsetof(ROW, cpu_share), !top->has_host },
        { offsetof(ROW, device_ns), offsetof(ROW, device_average_ns), !top->has_device_time },
        { offsetof(ROW, self_device_share), offsetof(ROW, self_device_share), !top->has_device_time },
        { offsetof(ROW, cpu_bytes), offsetof(ROW, self_cpu_bytes), !top->has_memory || !top->has_host },
        { offsetof(ROW, device_bytes), offsetof(ROW, self_device_bytes),
          !top->has_memory || !top->has_device_memory },
        { offsetof(ROW, flops), offsetof(ROW, flops), !top->has_flops },
    };
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++)
        if (column->offset >= choices[i].first && column->offset <= choices[i].last)
            return choices[i].empty;
    return false;
}

/* What the rows are. */
static const char *title_of(const struct top *top)
{
    if (top->by & TOP_KERNEL)
        return "Kernels";
    switch (top->by & ~(unsigned)(TOP_RANK | TOP_CYCLE)) {
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

/* Where rows are sorted. */
static size_t sort_offset(const struct top *top)
{
    return top->has_device_time ? offsetof(ROW, self_device_ns) : offsetof(ROW, self_cpu_ns);
}

/* ---- the order that people read first ---- */

/* Does ROW only name the work of kernels once more, which have rows of their own: is it an operator that communicates? */
static bool names_again(const struct top_row *row)
{
    return !row->on_device && row->self_device_ns > 0 && row->name.at &&
           operator_is_communication(row->name.at);
}

static bool has_communication_kernels(const struct top *top)
{
    return ANY(i, top->count,
               top->at[i].is_gpu_work && top->at[i].name.at && kernel_is_communication(top->at[i].name.at));
}

void top_sort(struct top *top)
{
    bool kernels = top->has_device_time && has_communication_kernels(top);
    FOR_EACH(row, top) {
        bool has_time = !top->has_device_time || row->self_device_ns > 0;
        row->order = row->on_device && row->is_annotation ? TOP_RANGES
                     : kernels && names_again(row)        ? TOP_NAMES_AGAIN
                     : has_time                           ? TOP_WORK
                                                          : TOP_REST;
    }
    SORT_BY(top->at, top->count, i,
            ~(top->has_device_time ? top->at[i].self_device_ns : top->at[i].self_cpu_ns));
    SORT_BY(top->at, top->count, i, top->at[i].order);
    top->sorted = true;
}

struct table *top_table(const struct top *top)
{
    enum { COLUMNS = sizeof columns / sizeof *columns };
    struct table_column chosen[COLUMNS];
    size_t count = 0;
    for (size_t c = 0; c < COLUMNS; c++) {
        if (!has_column(top, &columns[c]))
            continue;
        chosen[count] = columns[c];
        if (is_empty_column(top, &columns[c]))
            chosen[count].flags |= TABLE_OPTIONAL;
        count++;
    }
    struct table *table =
        table_of_rows("operators", title_of(top), chosen, count, top->at, top->count, sizeof *top->at);
    if (top->sorted)
        table->sort_column = table_column_at(table, sort_offset(top));
    table->none = "No operator, call or kernel ran here.";
    if (top->group)
        group_fill_texts(top->group, table, offsetof(ROW, key));
    FOR_EACH_OF(column, table->columns, count) {
        column->title = device_type_title(&table->arena, column->title, top->device_name);
        bool is_place = column->offset >= offsetof(ROW, key) &&
                        column->offset < offsetof(ROW, key) + sizeof(struct group_key);
        bool is_requested = top->per_call ||
                            (column->offset == offsetof(ROW, key.rank) && top->by & (TOP_RANK | TOP_CYCLE)) ||
                            (column->offset == offsetof(ROW, key.cycle) && top->by & TOP_CYCLE);
        if (is_place && !is_requested)
            column->flags |= TABLE_OPTIONAL; /* the name tells */
    }
    if (top->has_host || !top->has_device_time)
        table_add_footer(table, "self_cpu_time_total", "Self CPU time total", TABLE_NS,
                         table_int(top->self_cpu_ns));
    if (top->has_device_time)
        table_add_footer(table, "self_device_time_total",
                         device_type_title(&table->arena, "Self CUDA time total", top->device_name), TABLE_NS,
                         table_int(top->self_device_ns));
    return table;
}

/* ---- notices ---- */

/* What --by stack, module and line did not find in the trace, and where it may be. */
static void add_notices_about_code(const struct top *top, struct result *result)
{
    const struct trace *trace = top->trace;
    bool frames = ANY(i, trace->category_count,
                      trace->categories[i].kind == EVENT_PYTHON && trace->categories[i].event_count > 0);
    if (top->by & TOP_STACK && frames && trace->args[ARG_CALL_STACK].count == 0)
        ADD_NOTICE(result, "no_call_stacks", 0,
                   "Python frames are events of their own in this trace, and no operator carries its stack, "
                   "which torch uses; --by line and --by module go by the events");
    if (top->no_code || (top->group && group_has_no_modules(top->group)))
        ADD_NOTICE(result, "no_code", 0, "no %s is in the recorded stacks; profile with with_stack=True",
                   top->by & TOP_MODULE ? "nn.Module" : "function outside PyTorch");
}

/* What is special about COUNT kernels and copies: MANY of them, or ONE. */
static void add_work_notice(struct result *result, const char *kind, const struct top_work *work,
                            const char *many, const char *one)
{
    uint64_t count = work->count;
    if (count == 1)
        ADD_NOTICE(result, kind, 1, "1 kernel or copy (%.3f ms) %s", quantity_ms(work->total_ns), one);
    else if (count)
        ADD_NOTICE(result, kind, (int64_t)count, "%llu kernels and copies (%.3f ms) %s",
                   (unsigned long long)count, quantity_ms(work->total_ns), many);
}

/* A collective has the time of its kernels, which have rows of their own. */
static void add_nested_notice(const struct top *top, struct result *result)
{
    const char *operation = NULL;
    bool kernels = top->per_call && has_communication_kernels(top);
    for (size_t i = 0; i < top->count && kernels && !operation; i++)
        operation = names_again(&top->at[i]) ? top->at[i].name.at : NULL;
    if (operation)
        ADD_NOTICE(result, "nested", 0,
                   "rows are nested: %s has the time of the kernels that it launched, which have rows of "
                   "their own%s",
                   operation, top->sorted ? " and come first" : "");
}

void top_add_notices(const struct top *top, struct result *result)
{
    const struct top_counts *counts = &top->counts;
    const struct trace *trace = top->trace;
    const struct attribution *launches = attribution_of(trace);
    add_notices_about_code(top, result);
    if (!counts->has_device)
        ADD_NOTICE(result, "no_gpu", 0, "nothing ran on a device, or it was not recorded");
    add_nested_notice(top, result);
    add_work_notice(
        result, "gpu_work_without_call", &counts->callless[UNLINKED_EARLY],
        "were launched by a call that is not in the file, mostly before recording began: they have "
        "rows of their own and belong to no operator",
        "was launched by a call that is not in the file, mostly before recording began: it has a row "
        "of its own and belongs to no operator");
    add_work_notice(
        result, "gpu_work_without_number", &counts->callless[UNLINKED_NO_NUMBER],
        "do not record which call launched them: they have rows of their own and belong to no operator",
        "does not record which call launched it: it has a row of its own and belongs to no operator");
    add_work_notice(
        result, "gpu_work_of_lost_calls", &counts->callless[UNLINKED_LOST],
        "were launched while the recording ran, by calls that are not in the file: these were lost, or calls of their kind "
        "are not recorded; they have rows of their own and belong to no operator",
        "was launched while the recording ran, by a call that is not in the file: it was lost, or calls of its kind are not "
        "recorded; it has a row of its own and belongs to no operator");
    uint64_t callless = SUM(uint64_t, sort, UNLINKED_SORTS, counts->callless[sort].count);
    if (counts->unlinked.count > callless)
        add_work_notice(result, "gpu_work_without_operator", &counts->unlinked,
                        "belong to no recorded operator: they have rows of their own",
                        "belongs to no recorded operator: it has a row of its own");
    add_work_notice(
        result, "cuda_graph", &counts->graph,
        "ran as parts of CUDA graphs; the operator that launched the graph, if one did, has their time",
        "ran as part of a CUDA graph; the operator that launched the graph, if one did, has its time");
    add_work_notice(
        result, "kernels_of_folded_calls", &counts->lost,
        "were launched by an operator whose only callee has its own name: as in torch the two are one "
        "call, with the callee's kernels only",
        "was launched by an operator whose only callee has its own name: as in torch the two are one "
        "call, with the callee's kernels only");
    if (counts->moved_calls)
        ADD_NOTICE(
            result, "calls_without_operator", (int64_t)counts->moved_calls,
            counts->moved_calls == 1
                ? "%llu runtime call of another thread belongs to no operator: as in torch it is counted "
                  "on the thread that stopped the profiler"
                : "%llu runtime calls of other threads belong to no operator: as in torch they are counted "
                  "on the thread that stopped the profiler",
            (unsigned long long)counts->moved_calls);
    if (counts->unfinished)
        ADD_NOTICE(
            result, "unfinished_regions", (int64_t)counts->unfinished,
            counts->unfinished == 1
                ? "%llu region was still open when recording stopped: as in torch it ends with what is around it, and "
                  "has no self time"
                : "%llu regions were still open when recording stopped: as in torch they end with what is around "
                  "them, and have no self time",
            (unsigned long long)counts->unfinished);
    if (counts->guessed_async)
        ADD_NOTICE(
            result, "async_guessed", (int64_t)counts->guessed_async,
            counts->guessed_async == 1
                ? "%llu region is treated as asynchronous by its name (nccl:, gloo: ...), as the file "
                  "does not record it: it has no self time"
                : "%llu regions are treated as asynchronous by their names (nccl:, gloo: ...), as the file "
                  "does not record it: they have no self time",
            (unsigned long long)counts->guessed_async);
    if (counts->forked)
        ADD_NOTICE(
            result, "torchscript_fork", (int64_t)counts->forked,
            "TorchScript started functions with fork (%llu calls of <forked function>): a function that waits for one and "
            "goes on in another thread is asynchronous in torch and has no self time there; the file does not record "
            "that, so its self time here holds the wait",
            (unsigned long long)counts->forked);
    if (counts->lookalikes)
        ADD_NOTICE(
            result, "kernels_by_number", (int64_t)counts->lookalikes,
            "kernels were given to runtime calls that belong to no operator but have the number of one, as "
            "torch up to 2.14 gives them; 2.15 does not (--torch-version 2.15), and the file does not say "
            "which it is from");
    for (uint32_t i = 0; i < trace->file_count; i++) {
        const char *path = trace->files[i].path;
        uint64_t shared = attribution_shared_calls(launches, i);
        if (shared)
            result_add_notice(
                result, "shared_numbers", (int64_t)shared, path, TPA_NOWHERE,
                "the file holds several processes whose calls (%llu) share their correlations: device work is "
                "given to the process that explains its device's best; a file for each process leaves no doubt",
                (unsigned long long)shared);
        if (attribution_generation(launches, i) == 2)
            result_add_notice(
                result, "links_by_nesting", 0, path, TPA_NOWHERE,
                "traces of this age do not record which operator launched a kernel: it is the innermost "
                "one around the launching call");
    }
    if (counts->waits.count) {
        ADD_NOTICE(
            result, "stream_waits", (int64_t)counts->waits.count,
            "streams waited %llu %s (%.3f ms): as in torch that is in the time of devices, and of operators; "
            "tpa summary and roofline count work alone",
            (unsigned long long)counts->waits.count, counts->waits.count == 1 ? "time" : "times",
            quantity_ms(counts->waits.total_ns));
        result_make_minor(result);
    }
}

struct result *top_result(const struct trace *trace, const struct top_options *options)
{
    SCOPED_OBJECT struct top *top = top_analyze(trace, options);
    struct result *result = result_open("tpa.top/1");
    result_add_table(result, top_table(top));
    top_add_notices(top, result);
    return result;
}

const struct table_shape top_tables[] = {
    TABLE_SHAPE("operators", columns),
    { 0 },
};
