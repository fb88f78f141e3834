/* gpu_efficiency.c - see gpu_efficiency.h. */
#include "analyze/gpu_efficiency.h"

#include "facts/device_steps.h"
#include "trace/arg_scan.h"
#include "trace/span.h"
#include <math.h>
#include <stdlib.h>

struct gpu_efficiency {
    const struct gpu_question *question; /* borrowed */
    struct device_steps *steps;
    struct interval *operators_spans; /* by file; NULL: not worked out yet */
    struct table *table;
};

enum efficiency_column {
    EFFICIENCY_WINDOW = REPORT_COLUMNS,
    EFFICIENCY_UTILIZATION,
    EFFICIENCY_SM,
    EFFICIENCY_OCCUPANCY,
    EFFICIENCY_TENSOR,
    EFFICIENCY_TENSOR_UNKNOWN,
    EFFICIENCY_BUSY_SHARE,
    EFFICIENCY_COLUMNS
};

/* clang-format off */
static const struct table_column efficiency_columns[EFFICIENCY_COLUMNS] = {
    { "rank", "Rank", TABLE_COUNT, "rank of the file, or its place among the files", TABLE_OPTIONAL, NULL },
    { "device", "Device", TABLE_COUNT, "number of the device", 0, NULL },
    { "stream", "Stream", TABLE_COUNT, "number of the stream", TABLE_HIDDEN, NULL },
    { "step", "Step", TABLE_COUNT, "number of the step; missing outside of steps", TABLE_HIDDEN, NULL },
    { "window", "Window", TABLE_NS, "the time looked at: the steps, else the operators, else the device's span", 0, NULL },
    { "utilization", "Utilization", TABLE_SHARE, "share of the window in which a kernel ran", 0, "gpu_utilization" },
    { "sm_efficiency", "SM efficiency", TABLE_SHARE, "estimate: blocks per SM of all running kernels, at most 1, over the window", 0, NULL },
    { "occupancy", "Occupancy", TABLE_SHARE, "estimated achieved occupancy of the kernels, weighted by their time", 0, NULL },
    { "tensor_core_share", "Tensor cores", TABLE_SHARE, "share of kernel time in kernels known to use tensor cores", 0, NULL },
    { "tensor_core_unknown_share", "TC unknown", TABLE_SHARE, "share of kernel time in kernels whose names do not tell", 0, NULL },
    { "busy_share", "Busy", TABLE_SHARE, "busy time as a share of the device's span", 0, NULL },
};
/* clang-format on */

/* From the first start to the last end of the operators of FILE. */
static struct interval find_operators_span(const struct trace *trace, uint32_t file)
{
    struct interval span = { INT64_MAX, INT64_MIN };
    const struct trace_file *of = &trace->files[file];
    for (event_id e = of->first_event; e < of->first_event + of->event_count; e++) {
        if (trace->kind[e] != EVENT_OP)
            continue;
        if (trace->start_ns[e] < span.start_ns)
            span.start_ns = trace->start_ns[e];
        int64_t end_ns = trace_recorded_end_ns(trace, e);
        if (end_ns > span.end_ns)
            span.end_ns = end_ns;
    }
    return span;
}

static struct interval operators_span(struct gpu_efficiency *efficiency, uint32_t file)
{
    const struct trace *trace = efficiency->question->trace;
    if (!efficiency->operators_spans) {
        efficiency->operators_spans = mem_alloc((trace->file_count + 1) * sizeof(struct interval));
        for (uint32_t f = 0; f < trace->file_count; f++)
            efficiency->operators_spans[f] = find_operators_span(trace, f);
    }
    return efficiency->operators_spans[file];
}

/*
 * The time that utilisation is a share of: what was asked for, else the steps, else the operators, else the span.
 * What took no time does not count.
 */
static void find_window(struct gpu_efficiency *efficiency, const struct device_report *report,
                        struct intervals *window)
{
    const struct device_steps *steps = efficiency->steps;
    uint32_t file = report->device->file;
    if (report->windows) {
        intervals_union(&report->asked, &(struct intervals){ 0 }, window);
        return;
    }
    size_t first, end = device_steps_of_file(steps, file, &first);
    while (end > first && !steps->at[end - 1].complete)
        end--;
    if (end > first)
        intervals_add(window, steps->at[first].start_ns, steps->at[end - 1].end_ns);
    if (window->count == 0) {
        struct interval span = operators_span(efficiency, file);
        intervals_add(window, span.start_ns, span.end_ns);
    }
    if (window->count == 0)
        intervals_union(&report->asked, &(struct intervals){ 0 }, window);
}

/* Kernels that run at the moment: a heap, the first to end on top. */
struct running {
    struct running_kernel {
        int64_t end_ns;
        double blocks_per_sm;
    } * at;
    size_t count, capacity;
    double blocks_per_sm; /* of all of them */
};

static void running_push(struct running *running, int64_t end_ns, double blocks_per_sm)
{
    running->blocks_per_sm += blocks_per_sm;
    VEC_RESERVE(running, 1);
    size_t i = running->count++;
    for (; i > 0 && running->at[(i - 1) / 2].end_ns > end_ns; i = (i - 1) / 2)
        running->at[i] = running->at[(i - 1) / 2];
    running->at[i] = (struct running_kernel){ end_ns, blocks_per_sm };
}

static void running_pop(struct running *running)
{
    running->blocks_per_sm -= running->at[0].blocks_per_sm;
    struct running_kernel last = running->at[--running->count];
    if (running->count == 0)
        running->blocks_per_sm = 0; /* what rounding left over must not pile up */
    size_t i = 0;
    for (size_t child; (child = 2 * i + 1) < running->count; i = child) {
        if (child + 1 < running->count && running->at[child + 1].end_ns < running->at[child].end_ns)
            child++;
        if (running->at[child].end_ns >= last.end_ns)
            break;
        running->at[i] = running->at[child];
    }
    running->at[i] = last;
}

struct kernel_averages {
    double sm_efficiency, occupancy; /* NAN when no kernel in the window tells */
};

/* Walk the kernels by start; between two moments at which one starts or ends, the blocks per SM are constant. */
static struct kernel_averages average_kernels(const struct gpu_question *question,
                                              const struct device_report *report,
                                              const struct intervals *window)
{
    const struct trace *trace = question->trace;
    struct running running = { 0 };
    double sm_ns = 0, occupied_ns = 0, kernel_ns = 0;
    bool any_blocks = false;
    int64_t now_ns = 0;
    struct arg_scan blocks = arg_scan_of(trace, ARG_BLOCKS_PER_SM),
                    occupancies = arg_scan_of(trace, ARG_OCCUPANCY);
    size_t end = report->work_count;
    for (size_t i = 0; i <= end; i++) {
        int64_t start_ns = INT64_MAX, end_ns = INT64_MAX;
        double blocks_per_sm = NAN;
        if (i < end) {
            size_t at = device_report_work(report, i);
            event_id e = question->gpu->event[at];
            if (!gpu_work_is_kernel(question->gpu->work[at]) ||
                !selection_holds_whenever(question->selection, e))
                continue;
            start_ns = trace->start_ns[e];
            end_ns = trace_end_ns(trace, e);
            blocks_per_sm = arg_scan_decimal(&blocks, e);
            double occupancy = arg_scan_decimal(&occupancies, e);
            double within_ns = (double)intervals_length_within(window, start_ns, end_ns);
            if (!isnan(occupancy)) {
                occupied_ns += occupancy / 100 * within_ns;
                kernel_ns += within_ns;
            }
            if (!(blocks_per_sm > 0))
                continue;
            any_blocks = any_blocks || within_ns > 0;
        }
        while (running.count && running.at[0].end_ns <= start_ns) {
            sm_ns += fmin(running.blocks_per_sm, 1) *
                     (double)intervals_length_within(window, now_ns, running.at[0].end_ns);
            now_ns = running.at[0].end_ns;
            running_pop(&running);
        }
        if (i == end)
            break;
        if (running.count)
            sm_ns +=
                fmin(running.blocks_per_sm, 1) * (double)intervals_length_within(window, now_ns, start_ns);
        now_ns = start_ns;
        running_push(&running, end_ns, blocks_per_sm);
    }
    VEC_FREE(&running);
    int64_t window_ns = intervals_length(window);
    return (struct kernel_averages){
        any_blocks && window_ns ? sm_ns / (double)window_ns : NAN,
        kernel_ns > 0 ? occupied_ns / kernel_ns : NAN,
    };
}

static void set_share(struct table *table, size_t row, size_t column, double part, double whole)
{
    if (whole > 0)
        table_set_number(table, row, column, part / whole);
}

struct gpu_efficiency *gpu_efficiency_open(const struct gpu_question *question)
{
    struct gpu_efficiency *efficiency = mem_zalloc(1, sizeof *efficiency);
    efficiency->question = question;
    struct step_list *ranges = step_list_open(question->trace);
    step_list_drop_overlaps(ranges);
    efficiency->steps = device_steps_open(ranges, question->gpu);
    step_list_free(ranges);
    efficiency->table =
        table_open("efficiency", "How well it was used", efficiency_columns, EFFICIENCY_COLUMNS);
    return efficiency;
}

void gpu_efficiency_add(struct gpu_efficiency *efficiency, const struct device_report *report)
{
    const struct gpu_question *question = efficiency->question;
    struct table *table = efficiency->table;
    size_t row = table_add_row(table);
    device_report_name(report, question, table, row);
    struct intervals window = { 0 };
    find_window(efficiency, report, &window);
    int64_t window_ns = intervals_length(&window);
    table_set_int(table, row, EFFICIENCY_WINDOW, window_ns);
    set_share(table, row, EFFICIENCY_UTILIZATION, (double)intervals_length_of_both(&report->kernels, &window),
              (double)window_ns);
    struct kernel_averages averages = average_kernels(question, report, &window);
    if (!isnan(averages.sm_efficiency))
        table_set_number(table, row, EFFICIENCY_SM, averages.sm_efficiency);
    if (!isnan(averages.occupancy))
        table_set_number(table, row, EFFICIENCY_OCCUPANCY, averages.occupancy);
    set_share(table, row, EFFICIENCY_TENSOR, (double)report->tensor_ns, (double)report->kernel_sum_ns);
    set_share(table, row, EFFICIENCY_TENSOR_UNKNOWN, (double)report->tensor_unknown_ns,
              (double)report->kernel_sum_ns);
    set_share(table, row, EFFICIENCY_BUSY_SHARE, (double)intervals_length(&report->busy),
              (double)intervals_length(&report->asked));
    intervals_release(&window);
}

struct table *gpu_efficiency_table(struct gpu_efficiency *efficiency)
{
    return efficiency->table;
}

void gpu_efficiency_free(struct gpu_efficiency *efficiency)
{
    device_steps_free(efficiency->steps);
    free(efficiency->operators_spans);
    free(efficiency);
}
