/*
 * gpu.c - see gpu.h.
 *
 * The work of a device is walked once, in order of start, into one set of moments per question ("computes", "copies
 * from host to device"); all else is the algebra of these sets. A selection in time cuts the sets, so that shares
 * are those of the time asked for.
 */
#include "analyze/gpu.h"

#include "analyze/device_steps.h"
#include "analyze/gpu_events.h"
#include "analyze/gpu_names.h"
#include "base/buffer.h"
#include "base/sum.h"
#include "trace/arg_scan.h"
#include "trace/intervals.h"
#include "trace/launches.h"
#include "trace/span.h"
#include "trace/steps.h"
#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct trace_wants gpu_wants = {
    .args = GPU_EVENTS_WANTS | WANT(BLOCKS_PER_SM) | WANT(OCCUPANCY) | WANT(BYTES),
};

/* What copies of one name and device came to. */
struct copies {
    name_id name;
    uint64_t count;
    int64_t bytes, sum_ns;
    struct intervals when;
};

/* One device or stream, as far as it was asked for. */
struct device_report {
    const struct gpu_device *device;
    const struct gpu_stream *stream; /* only this stream of it; NULL: all */
    const struct step *step;         /* only this step; NULL: all */
    const uint32_t *position; /* where its work is in gpu_events.event, by start; NULL: all of the device */
    size_t work_count;
    struct interval span;            /* from the start of the first work to the end of the last */
    const struct intervals *windows; /* when it was asked for; NULL: always */
    bool is_part;           /* one of the rows that make up a device: idle time alone makes a row, too */
    struct intervals asked; /* what of the device's span was asked for: all, without a selection in time */
    struct intervals of_work[GPU_WORKS]; /* by enum gpu_work; what follows is put together from them */
    struct intervals busy, computation, communication, not_nccl, kernels;
    size_t events, kernel_count, nccl_count;
    int64_t kernel_sum_ns, tensor_ns, tensor_unknown_ns;
    VEC_OF(struct copies) copies;
};

/* What the figures of all devices are worked out from. */
struct gpu_question {
    const struct trace *trace;
    const struct selection *selection;
    const struct gpu_events *gpu;
    struct gpu_streams *streams;      /* NULL: not asked for */
    track_id *tracks;                 /* with work, device after device */
    size_t *first_track;              /* by device, and one more */
    struct interval *operators_spans; /* by file; NULL: not worked out yet */
    uint8_t *tensor;                  /* by name: enum tensor_use + 1; 0: not asked yet */
    uint32_t *copies_slot;            /* by name: index into device_report.copies + 1 */
};

/* ---- the sets ---- */

static enum tensor_use tensor_use_of(struct gpu_question *question, name_id id)
{
    uint8_t *use = &question->tensor[id];
    if (*use == 0)
        *use = (uint8_t)(kernel_tensor_use(names_text(question->trace->names, id)) + 1);
    return (enum tensor_use)(*use - 1);
}

static struct copies *copies_called(struct gpu_question *question, struct device_report *report, name_id name)
{
    uint32_t *slot = &question->copies_slot[name];
    if (*slot == 0) {
        *VEC_PUSH(&report->copies) = (struct copies){ .name = name };
        *slot = (uint32_t)report->copies.count;
    }
    return &report->copies.at[*slot - 1];
}

/* The event counts: it is one of those asked for, and begins when asked for. */
static void count_event(struct gpu_question *question, struct device_report *report, event_id e, uint8_t work)
{
    int64_t dur_ns = question->trace->dur_ns[e];
    report->events++;
    if (gpu_work_is_kernel(work)) {
        report->kernel_count++;
        report->nccl_count += work == GPU_NCCL;
        report->kernel_sum_ns += dur_ns;
        enum tensor_use use = tensor_use_of(question, question->trace->name[e]);
        report->tensor_ns += use == TENSOR_YES ? dur_ns : 0;
        report->tensor_unknown_ns += use == TENSOR_UNKNOWN ? dur_ns : 0;
    } else if (work == GPU_MEMCPY) {
        struct copies *copies = copies_called(question, report, question->trace->name[e]);
        copies->count++;
        sum_add(&copies->bytes, trace_arg_or(question->trace, ARG_BYTES, e, 0));
        copies->sum_ns += dur_ns;
    }
}

static void add_to_sets(struct gpu_question *question, struct device_report *report, event_id e, uint8_t work)
{
    int64_t start_ns = question->trace->start_ns[e], end_ns = trace_end_ns(question->trace, e);
    intervals_add(&report->of_work[work], start_ns, end_ns);
    if (work == GPU_MEMCPY)
        intervals_add(&copies_called(question, report, question->trace->name[e])->when, start_ns, end_ns);
}

/* A set is the union of the kinds of work that its bits name. */
#define SET_OF(work) (1u << (work))

static void unite(const struct device_report *report, unsigned works, struct intervals *set)
{
    for (int work = 0; work < GPU_WORKS; work++) {
        const struct intervals *of = &report->of_work[work];
        if (!(works & SET_OF(work)) || of->count == 0)
            continue;
        struct intervals both = { 0 };
        intervals_union(set, of, &both);
        intervals_release(set);
        *set = both;
    }
}

static void unite_sets(struct device_report *report)
{
    unite(report, SET_OF(GPU_COMPUTATION) | SET_OF(GPU_MEMSET), &report->computation);
    unite(report, SET_OF(GPU_NCCL) | SET_OF(GPU_COMMUNICATION), &report->communication);
    unite(report, SET_OF(GPU_COMPUTATION) | SET_OF(GPU_MEMSET) | SET_OF(GPU_COMMUNICATION),
          &report->not_nccl);
    unite(report, SET_OF(GPU_COMPUTATION) | SET_OF(GPU_NCCL) | SET_OF(GPU_COMMUNICATION), &report->kernels);
    unite(report, SET_OF(GPU_WORKS) - 1, &report->busy);
}

static void clip(struct intervals *set, const struct intervals *to)
{
    struct intervals clipped = { 0 };
    intervals_intersect(set, to, &clipped);
    intervals_release(set);
    *set = clipped;
}

/* Where the I-th work of the report is in gpu_events.event. */
static size_t work_at(const struct device_report *report, size_t i)
{
    return report->position ? report->position[i] : report->device->first + i;
}

static const struct interval no_span = { INT64_MAX, INT64_MIN };

static void span_add(struct interval *span, const struct trace *trace, event_id e)
{
    if (trace->start_ns[e] < span->start_ns)
        span->start_ns = trace->start_ns[e];
    if (trace_end_ns(trace, e) > span->end_ns)
        span->end_ns = trace_end_ns(trace, e);
}

/* Work whose name and stream were asked for, whenever it ran. */
static bool is_wanted(const struct selection *selection, event_id e)
{
    const struct trace *trace = selection->trace;
    return selection_holds_name(selection, trace->name[e]) &&
           (selection->tracks == NULL || selection->tracks[trace->track[e]]);
}

static void fill_report(struct gpu_question *question, struct device_report *report)
{
    const struct trace *trace = question->trace;
    const struct gpu_events *gpu = question->gpu;
    const struct selection *selection = question->selection;
    const struct intervals *windows = report->windows;
    for (size_t i = 0; i < report->work_count; i++) {
        size_t at = work_at(report, i);
        event_id e = gpu->event[at];
        if (!is_wanted(selection, e))
            continue;
        span_add(&report->span, trace, e);
        add_to_sets(question, report, e, gpu->work[at]);
        if (!windows || intervals_contain(windows, trace->start_ns[e]))
            count_event(question, report, e, gpu->work[at]);
    }
    intervals_add(&report->asked, report->span.start_ns, report->span.end_ns);
    if (windows)
        clip(&report->asked, windows);
    for (int work = 0; work < GPU_WORKS; work++) {
        intervals_merge(&report->of_work[work]); /* added by start, so there is nothing to sort */
        if (windows)
            clip(&report->of_work[work], windows);
    }
    unite_sets(report);
    for (size_t i = 0; i < report->copies.count; i++) {
        struct copies *copies = &report->copies.at[i];
        question->copies_slot[copies->name] = 0;
        intervals_merge(&copies->when);
        if (windows)
            clip(&copies->when, windows);
    }
}

static void release_report(struct device_report *report)
{
    struct intervals *sets[] = { &report->asked,         &report->busy,     &report->computation,
                                 &report->communication, &report->not_nccl, &report->kernels };
    for (int work = 0; work < GPU_WORKS; work++)
        intervals_release(&report->of_work[work]);
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
        intervals_release(sets[i]);
    for (size_t i = 0; i < report->copies.count; i++)
        intervals_release(&report->copies.at[i].when);
    VEC_FREE(&report->copies);
}

/* Length of what of A is not in B. */
static int64_t length_outside(const struct intervals *a, const struct intervals *b)
{
    return intervals_length(a) - intervals_length_of_both(a, b);
}

struct gaps {
    size_t count;
    int64_t sum_ns, longest_ns;
};

static void add_gap(struct gaps *gaps, const struct intervals *asked, int64_t start_ns, int64_t end_ns)
{
    int64_t length_ns = start_ns < end_ns ? intervals_length_within(asked, start_ns, end_ns) : 0;
    gaps->count += length_ns > 0;
    gaps->sum_ns += length_ns;
    if (length_ns > gaps->longest_ns)
        gaps->longest_ns = length_ns;
}

/* The times between works. Work that took no time at all ends a gap and begins another. */
static struct gaps find_gaps(const struct gpu_question *question, const struct device_report *report)
{
    const struct trace *trace = question->trace;
    struct gaps gaps = { 0 };
    if (report->asked.count == 0)
        return gaps;
    int64_t idle_since_ns = report->asked.at[0].start_ns;
    for (size_t i = 0; i < report->work_count; i++) {
        event_id e = question->gpu->event[work_at(report, i)];
        if (!is_wanted(question->selection, e))
            continue;
        add_gap(&gaps, &report->asked, idle_since_ns, trace->start_ns[e]);
        if (trace_end_ns(trace, e) > idle_since_ns)
            idle_since_ns = trace_end_ns(trace, e);
    }
    add_gap(&gaps, &report->asked, idle_since_ns, report->asked.at[report->asked.count - 1].end_ns);
    return gaps;
}

/* ---- table: devices ---- */

enum device_column {
    DEVICE_RANK,
    DEVICE_DEVICE,
    DEVICE_STREAM,
    DEVICE_STEP,
    DEVICE_NAME,
    DEVICE_SPAN,
    DEVICE_BUSY,
    DEVICE_COMPUTATION,
    DEVICE_EXPOSED_COMMUNICATION,
    DEVICE_EXPOSED_MEMCPY,
    DEVICE_IDLE,
    DEVICE_COMMUNICATION,
    DEVICE_MEMCPY,
    DEVICE_MEMSET,
    DEVICE_GAPS,
    DEVICE_LONGEST_GAP,
    DEVICE_EVENTS,
    DEVICE_STREAMS,
    DEVICE_KERNELS,
    DEVICE_KERNEL_SUM,
    DEVICE_KERNEL_UNION,
    DEVICE_NCCL_KERNELS,
    DEVICE_NCCL,
    DEVICE_NOT_NCCL,
    DEVICE_EXPOSED_NCCL,
    DEVICE_COLUMNS
};

/* clang-format off */
static const struct table_column device_columns[DEVICE_COLUMNS] = {
    { "rank", "Rank", TABLE_COUNT, "rank of the file, or its place among the files", TABLE_OPTIONAL, NULL },
    { "device", "Device", TABLE_COUNT, "number of the device", 0, NULL },
    { "stream", "Stream", TABLE_COUNT, "number of the stream", TABLE_HIDDEN, NULL },
    { "step", "Step", TABLE_COUNT, "number of the step; missing outside of steps", TABLE_HIDDEN, NULL },
    { "name", "Name", TABLE_NAME, "model, as the file tells it", TABLE_OPTIONAL, NULL },
    { "span", "Span", TABLE_NS, "from the start of the first work to the end of the last, as far as asked for", 0, NULL },
    { "busy", "Busy", TABLE_NS, "time in which any stream worked", 0, NULL },
    { "computation", "Computation", TABLE_NS, "time in which a kernel that does not communicate ran, or a memset", 0, NULL },
    { "exposed_communication", "Exposed comm.", TABLE_NS, "communication while nothing computed", 0, NULL },
    { "exposed_memcpy", "Exposed copies", TABLE_NS, "copies while nothing computed or communicated", 0, NULL },
    { "idle", "Idle", TABLE_NS, "span without busy", 0, NULL },
    { "communication", "Communication", TABLE_NS, "time in which a kernel communicated", TABLE_OPTIONAL, NULL },
    { "memcpy_union", "Copies", TABLE_NS, "time in which something was copied", TABLE_OPTIONAL, "memcpy" },
    { "memset_union", "Memsets", TABLE_NS, "time in which memory was set", TABLE_OPTIONAL, "memset" },
    { "gaps", "Gaps", TABLE_COUNT, "how often the device was idle between two works", 0, NULL },
    { "longest_gap", "Longest gap", TABLE_NS, "the longest of them", 0, NULL },
    { "events", "Events", TABLE_COUNT, "kernels, copies and memsets", TABLE_OPTIONAL, NULL },
    { "streams", "Streams", TABLE_TEXT, "numbers of the streams that worked", TABLE_OPTIONAL, NULL },
    { "kernels", "Kernels", TABLE_COUNT, "kernels run", TABLE_OPTIONAL, NULL },
    { "kernel_sum", "Kernel sum", TABLE_NS, "durations of the kernels added up, overlaps counted twice", TABLE_OPTIONAL, NULL },
    { "kernel_union", "Kernel time", TABLE_NS, "time in which any kernel ran", TABLE_OPTIONAL, NULL },
    { "nccl_kernels", "NCCL kernels", TABLE_COUNT, "kernels called nccl or rccl", TABLE_OPTIONAL, NULL },
    { "nccl_union", "NCCL", TABLE_NS, "time in which one of them ran", TABLE_OPTIONAL, NULL },
    { "compute_and_memset_union", "Without NCCL", TABLE_NS, "time in which another kernel ran, or a memset", TABLE_OPTIONAL, NULL },
    { "exposed_nccl", "Exposed NCCL", TABLE_NS, "NCCL while no other kernel ran, nor a memset", TABLE_OPTIONAL, NULL },
};
/* clang-format on */

/* Deal the tracks out to their devices. */
static void list_tracks(struct gpu_question *question)
{
    const struct gpu_events *gpu = question->gpu;
    size_t *first = mem_zalloc(gpu->device_count + 2, sizeof *first);
    for (size_t d = 0; d < gpu->device_count; d++)
        first[d + 2] = first[d + 1] + gpu->devices[d].stream_count;
    question->tracks = mem_alloc((question->trace->track_count + 1) * sizeof *question->tracks);
    for (track_id t = 0; t < question->trace->track_count; t++)
        if (gpu->device_of_track[t] != UINT32_MAX)
            question->tracks[first[gpu->device_of_track[t] + 1]++] = t;
    question->first_track = first; /* each moved on to where the next begins, from the second on */
}

static int compare_streams(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return a < b ? -1 : a > b;
}

/* "7, 20, 21": the streams of the report that were asked for. */
static void list_streams(const struct gpu_question *question, const struct device_report *report,
                         struct buffer *out)
{
    size_t device = (size_t)(report->device - question->gpu->devices);
    const struct trace *trace = question->trace;
    VEC_OF(int64_t) streams = { 0 };
    if (report->stream)
        *VEC_PUSH(&streams) = trace->tracks[report->stream->track].stream;
    for (size_t i = question->first_track[device]; !report->stream && i < question->first_track[device + 1];
         i++)
        if (question->selection->tracks == NULL || question->selection->tracks[question->tracks[i]])
            *VEC_PUSH(&streams) = trace->tracks[question->tracks[i]].stream;
    if (streams.count)
        qsort(streams.at, streams.count, sizeof *streams.at, compare_streams);
    for (size_t i = 0; i < streams.count; i++)
        if (i == 0 || streams.at[i] != streams.at[i - 1])
            buffer_printf(out, "%s%" PRId64, out->count ? ", " : "", streams.at[i]);
    VEC_FREE(&streams);
}

/* The first columns of every table: rank, device, stream, step. */
static void name_device(struct table *table, size_t row, const struct gpu_question *question,
                        const struct device_report *report)
{
    table_set_int(table, row, 0, selection_rank(question->trace, report->device->file));
    table_set_int(table, row, 1, report->device->id);
    if (report->stream)
        table_set_int(table, row, 2, question->trace->tracks[report->stream->track].stream);
    if (report->step)
        table_set_int(table, row, 3, report->step->number);
}

static void add_device(struct table *table, struct gpu_question *question, struct device_report *report)
{
    size_t row = table_add_row(table);
    name_device(table, row, question, report);
    if (report->device->properties && report->device->properties->name)
        table_set_text(table, row, DEVICE_NAME, report->device->properties->name,
                       strlen(report->device->properties->name));

    struct intervals working = { 0 };
    intervals_union(&report->computation, &report->communication, &working);
    struct gaps gaps = find_gaps(question, report);
    int64_t span_ns = intervals_length(&report->asked), busy_ns = intervals_length(&report->busy);
    int64_t computation_ns = intervals_length(&report->computation);
    int64_t exposed_communication_ns = length_outside(&report->communication, &report->computation);
    int64_t exposed_memcpy_ns = length_outside(&report->of_work[GPU_MEMCPY], &working);
    int64_t idle_ns = gaps.sum_ns;
    assert(computation_ns + exposed_communication_ns + exposed_memcpy_ns == busy_ns);
    assert(busy_ns + idle_ns == span_ns);

    table_set_int(table, row, DEVICE_SPAN, span_ns);
    table_set_int(table, row, DEVICE_BUSY, busy_ns);
    table_set_int(table, row, DEVICE_COMPUTATION, computation_ns);
    table_set_int(table, row, DEVICE_EXPOSED_COMMUNICATION, exposed_communication_ns);
    table_set_int(table, row, DEVICE_EXPOSED_MEMCPY, exposed_memcpy_ns);
    table_set_int(table, row, DEVICE_IDLE, idle_ns);
    table_set_int(table, row, DEVICE_COMMUNICATION, intervals_length(&report->communication));
    table_set_int(table, row, DEVICE_MEMCPY, intervals_length(&report->of_work[GPU_MEMCPY]));
    table_set_int(table, row, DEVICE_MEMSET, intervals_length(&report->of_work[GPU_MEMSET]));
    table_set_int(table, row, DEVICE_GAPS, (int64_t)gaps.count);
    table_set_int(table, row, DEVICE_LONGEST_GAP, gaps.longest_ns);
    table_set_int(table, row, DEVICE_EVENTS, (int64_t)report->events);
    table_set_int(table, row, DEVICE_KERNELS, (int64_t)report->kernel_count);
    table_set_int(table, row, DEVICE_KERNEL_SUM, report->kernel_sum_ns);
    table_set_int(table, row, DEVICE_KERNEL_UNION, intervals_length(&report->kernels));
    table_set_int(table, row, DEVICE_NCCL_KERNELS, (int64_t)report->nccl_count);
    table_set_int(table, row, DEVICE_NCCL, intervals_length(&report->of_work[GPU_NCCL]));
    table_set_int(table, row, DEVICE_NOT_NCCL, intervals_length(&report->not_nccl));
    table_set_int(table, row, DEVICE_EXPOSED_NCCL,
                  length_outside(&report->of_work[GPU_NCCL], &report->not_nccl));
    struct buffer streams = { 0 };
    list_streams(question, report, &streams);
    table_set_text(table, row, DEVICE_STREAMS, streams.at ? streams.at : "", streams.count);
    buffer_release(&streams);
    intervals_release(&working);
}

/* Say under the table that the parts add up, from the cells that are shown. */
static void add_sum_footer(struct table *table)
{
    static const enum device_column parts[] = { DEVICE_COMPUTATION, DEVICE_EXPOSED_COMMUNICATION,
                                                DEVICE_EXPOSED_MEMCPY, DEVICE_IDLE };
    int64_t sum_ns = 0, span_ns = 0;
    for (size_t row = 0; row < table->row_count; row++) {
        sum_add(&span_ns, table_cell(table, row, DEVICE_SPAN)->i);
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
            sum_add(&sum_ns, table_cell(table, row, parts[i])->i);
    }
    table_add_footer(table, "parts_total", "Sum of the parts", TABLE_NS, table_int(sum_ns));
    table_add_footer(table, "span_total", "Sum of the spans", TABLE_NS, table_int(span_ns));
}

/* ---- table: efficiency ---- */

enum efficiency_column {
    EFFICIENCY_RANK,
    EFFICIENCY_DEVICE,
    EFFICIENCY_STREAM,
    EFFICIENCY_STEP,
    EFFICIENCY_WINDOW,
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

static struct interval operators_span(struct gpu_question *question, uint32_t file)
{
    if (!question->operators_spans) {
        question->operators_spans = mem_alloc((question->trace->file_count + 1) * sizeof(struct interval));
        for (uint32_t f = 0; f < question->trace->file_count; f++)
            question->operators_spans[f] = find_operators_span(question->trace, f);
    }
    return question->operators_spans[file];
}

/* The time that utilisation is a share of: what was asked for, else the steps, else the operators, else the span. */
static void find_window(struct gpu_question *question, const struct device_report *report,
                        const struct device_steps *steps, struct intervals *window)
{
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
    else {
        struct interval span = operators_span(question, file);
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
    double sm_efficiency, occupancy; /* NAN when no kernel tells */
};

/* Walk the kernels by start; between two moments at which one starts or ends, the blocks per SM are constant. */
static struct kernel_averages average_kernels(struct gpu_question *question,
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
            size_t at = work_at(report, i);
            event_id e = question->gpu->event[at];
            if (!gpu_work_is_kernel(question->gpu->work[at]) || !is_wanted(question->selection, e))
                continue;
            start_ns = trace->start_ns[e];
            end_ns = trace_end_ns(trace, e);
            blocks_per_sm = arg_scan_decimal(&blocks, e);
            double occupancy = arg_scan_decimal(&occupancies, e);
            if (!isnan(occupancy)) {
                double within_ns = (double)intervals_length_within(window, start_ns, end_ns);
                occupied_ns += occupancy / 100 * within_ns;
                kernel_ns += within_ns;
            }
            if (!(blocks_per_sm > 0))
                continue;
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
        any_blocks = true;
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

static void add_efficiency(struct table *table, struct gpu_question *question, struct device_report *report,
                           const struct device_steps *steps)
{
    size_t row = table_add_row(table);
    name_device(table, row, question, report);
    struct intervals window = { 0 };
    find_window(question, report, steps, &window);
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

/* ---- table: copies ---- */

enum copies_column {
    COPIES_RANK,
    COPIES_DEVICE,
    COPIES_STREAM,
    COPIES_STEP,
    COPIES_NAME,
    COPIES_COUNT,
    COPIES_BYTES,
    COPIES_SUM,
    COPIES_UNION,
    COPIES_EXPOSED,
    COPIES_COLUMNS
};

/* clang-format off */
static const struct table_column copies_columns[COPIES_COLUMNS] = {
    { "rank", "Rank", TABLE_COUNT, "rank of the file, or its place among the files", TABLE_OPTIONAL, NULL },
    { "device", "Device", TABLE_COUNT, "number of the device", 0, NULL },
    { "stream", "Stream", TABLE_COUNT, "number of the stream", TABLE_HIDDEN, NULL },
    { "step", "Step", TABLE_COUNT, "number of the step; missing outside of steps", TABLE_HIDDEN, NULL },
    { "name", "Copies", TABLE_NAME, "direction and kinds of memory", 0, NULL },
    { "count", "Count", TABLE_COUNT, "how many", 0, NULL },
    { "bytes", "Bytes", TABLE_BYTES, "bytes copied; 0 when the file does not tell", 0, NULL },
    { "sum", "Sum", TABLE_NS, "their durations added up", 0, NULL },
    { "union", "Time", TABLE_NS, "time in which one of them ran", TABLE_OPTIONAL, NULL },
    { "not_under_a_kernel", "Exposed", TABLE_NS, "time in which one of them ran and no kernel did", 0, "exposed" },
};
/* clang-format on */

static void add_copies(struct table *table, struct gpu_question *question, struct device_report *report)
{
    for (size_t i = 0; i < report->copies.count; i++) {
        const struct copies *copies = &report->copies.at[i];
        if (copies->count == 0 && copies->when.count == 0)
            continue; /* none when asked for */
        size_t row = table_add_row(table);
        name_device(table, row, question, report);
        table_set_text(table, row, COPIES_NAME, names_text(question->trace->names, copies->name),
                       names_length(question->trace->names, copies->name));
        table_set_int(table, row, COPIES_COUNT, (int64_t)copies->count);
        table_set_int(table, row, COPIES_BYTES, copies->bytes);
        table_set_int(table, row, COPIES_SUM, copies->sum_ns);
        table_set_int(table, row, COPIES_UNION, intervals_length(&copies->when));
        table_set_int(table, row, COPIES_EXPOSED, length_outside(&copies->when, &report->kernels));
    }
}

/* ---- the whole ---- */

/* How much of the work has no call in the file; the calls there are. Footers of TABLE. */
static void count_links(const struct gpu_question *question, struct table *table, struct result *result)
{
    const struct trace *trace = question->trace;
    bool all = selection_is_all(question->selection);
    int64_t work = 0, unlinked = 0, calls = 0, other = 0;
    for (size_t i = 0; i < question->gpu->count; i++)
        if (selection_holds(question->selection, question->gpu->event[i])) {
            work++;
            unlinked += question->gpu->call[i] == EVENT_NONE;
        }
    for (event_id e = 0; e < trace->event_count; e++) {
        calls += event_is_call(trace->kind[e]) && (all || selection_holds_place(question->selection, e));
        other += trace->kind[e] == EVENT_GPU_OTHER && selection_holds(question->selection, e);
    }
    table_add_footer(table, "gpu_events", "GPU events", TABLE_COUNT, table_int(work));
    table_add_footer(table, "gpu_events_with_no_call_in_file", "of these, calls not in the file", TABLE_COUNT,
                     table_int(unlinked));
    table_add_footer(table, "calls", "Runtime and driver calls", TABLE_COUNT, table_int(calls));
    if (unlinked)
        result_add_notice(result, "unlinked_gpu_work", unlinked, NULL, -1,
                          "kernels, copies and memsets were launched by calls that are not in the file, most "
                          "often before recording began; they count like all others");
    if (other)
        result_add_notice(result, "other_device_events", other, NULL, -1,
                          "events on devices are neither kernels nor copies nor memsets; they count nowhere");
}

struct gpu_tables {
    struct table *devices, *efficiency, *copies;
};

static struct gpu_tables open_tables(bool several_files, enum gpu_rows rows)
{
    struct gpu_tables tables = {
        table_open("devices", "Span = computation + exposed communication + exposed copies + idle",
                   device_columns, DEVICE_COLUMNS),
        table_open("efficiency", "How well it was used", efficiency_columns, EFFICIENCY_COLUMNS),
        table_open("copies", "Copies", copies_columns, COPIES_COLUMNS),
    };
    if (several_files)
        tables.devices->columns[DEVICE_RANK].flags = tables.efficiency->columns[EFFICIENCY_RANK].flags =
            tables.copies->columns[COPIES_RANK].flags = 0;
    if (rows == GPU_ROWS_STREAM)
        tables.devices->columns[DEVICE_STREAM].flags = tables.efficiency->columns[EFFICIENCY_STREAM].flags =
            tables.copies->columns[COPIES_STREAM].flags = 0;
    if (rows == GPU_ROWS_STEP)
        tables.devices->columns[DEVICE_STEP].flags = tables.efficiency->columns[EFFICIENCY_STEP].flags =
            tables.copies->columns[COPIES_STEP].flags = 0;
    return tables;
}

/* A row in each table for REPORT, which says what it is about, if there is anything to say. */
static void add_report(struct gpu_question *question, const struct gpu_tables *tables,
                       const struct device_steps *steps, struct device_report *report)
{
    fill_report(question, report);
    if (report->events || report->busy.count || (report->is_part && report->asked.count)) {
        add_device(tables->devices, question, report);
        add_efficiency(tables->efficiency, question, report, steps);
        add_copies(tables->copies, question, report);
    }
    release_report(report);
}

/* When work of FILE was asked for; NULL: always. */
static const struct intervals *windows_of(const struct gpu_question *question, uint32_t file)
{
    return question->selection->windows ? &question->selection->windows[file] : NULL;
}

/* Rows for DEVICE, or for one STREAM of it alone. */
static void add_rows(struct gpu_question *question, const struct gpu_tables *tables,
                     const struct device_steps *steps, const struct gpu_device *device,
                     const struct gpu_stream *stream)
{
    struct device_report report = { .device = device,
                                    .stream = stream,
                                    .work_count = stream ? stream->count : device->count,
                                    .span = no_span,
                                    .windows = windows_of(question, device->file) };
    if (stream)
        report.position = &question->streams->position[stream->first];
    add_report(question, tables, steps, &report);
}

struct positions {
    uint32_t *at;
    size_t count, capacity;
};

/*
 * Make WORK, which holds that of an earlier window, that of the window from START_NS to END_NS: what began before it
 * and still ran goes first. *NEXT is the first work of the device that has not been looked at.
 */
static void move_window(const struct gpu_question *question, const struct gpu_device *device,
                        int64_t start_ns, int64_t end_ns, size_t *next, struct positions *work)
{
    const struct trace *trace = question->trace;
    const event_id *event = question->gpu->event;
    size_t kept = 0;
    for (size_t i = 0; i < work->count; i++)
        if (trace_end_ns(trace, event[work->at[i]]) > start_ns)
            work->at[kept++] = work->at[i];
    work->count = kept;
    for (; *next < device->first + device->count && trace->start_ns[event[*next]] < end_ns; ++*next)
        if (trace->start_ns[event[*next]] >= start_ns || trace_end_ns(trace, event[*next]) > start_ns)
            *VEC_PUSH(work) = (uint32_t)*next;
}

/*
 * Rows for each step of DEVICE, and for what of its span is in none: together, its span. Steps that overlap end where
 * the next begins.
 */
static void add_step_rows(struct gpu_question *question, const struct gpu_tables *tables,
                          const struct device_steps *device_steps, const struct gpu_device *device)
{
    const struct trace *trace = question->trace;
    const struct steps *steps = steps_of(trace);
    const struct intervals *asked = windows_of(question, device->file);
    struct interval span = no_span;
    for (size_t i = device->first; i < device->first + device->count; i++)
        if (is_wanted(question->selection, question->gpu->event[i]))
            span_add(&span, trace, question->gpu->event[i]);
    struct positions work = { 0 };
    struct intervals outside = { 0 }, window = { 0 };
    int64_t reached_ns = span.start_ns, last_ns = span.end_ns + 1; /* work at the end may take no time */
    size_t next = device->first;
    for (size_t s = 0; s < steps->count; s++) {
        const struct step *step = &steps->at[s];
        if (step->file != device->file)
            continue;
        int64_t end_ns = steps_end_ns(steps, s);
        intervals_add(&outside, reached_ns, step->start_ns < last_ns ? step->start_ns : last_ns);
        reached_ns = end_ns > reached_ns ? end_ns : reached_ns;
        move_window(question, device, step->start_ns, end_ns, &next, &work);
        intervals_clear(&window);
        intervals_add(&window, step->start_ns, end_ns);
        if (asked)
            clip(&window, asked);
        struct device_report report = { .device = device,
                                        .step = step,
                                        .position = work.at,
                                        .work_count = work.count,
                                        .span = span,
                                        .windows = &window,
                                        .is_part = true };
        add_report(question, tables, device_steps, &report);
    }
    intervals_add(&outside, reached_ns, last_ns);
    if (asked)
        clip(&outside, asked);
    struct device_report report = {
        .device = device, .work_count = device->count, .span = span, .windows = &outside, .is_part = true
    };
    add_report(question, tables, device_steps, &report);
    intervals_release(&outside);
    intervals_release(&window);
    VEC_FREE(&work);
}

void gpu_add_tables(const struct trace *trace, const struct selection *selection, enum gpu_rows rows,
                    struct result *result)
{
    struct gpu_question question = { .trace = trace, .selection = selection };
    question.gpu = gpu_events_of(trace);
    question.tensor = mem_zalloc(names_count(trace->names) + 1, sizeof *question.tensor);
    question.copies_slot = mem_zalloc(names_count(trace->names) + 1, sizeof *question.copies_slot);
    list_tracks(&question);
    struct device_steps *steps = device_steps_open(steps_of(trace), question.gpu);

    struct gpu_tables tables = open_tables(trace->file_count > 1, rows);
    bool by_stream = rows == GPU_ROWS_STREAM;
    question.streams = by_stream ? gpu_streams_open(question.gpu) : NULL;
    size_t count = by_stream ? question.streams->count : question.gpu->device_count;
    for (size_t i = 0; i < count; i++) {
        const struct gpu_stream *stream = by_stream ? &question.streams->at[i] : NULL;
        const struct gpu_device *device = &question.gpu->devices[by_stream ? stream->device : i];
        if (selection->files && !selection->files[device->file])
            continue;
        if (rows == GPU_ROWS_STEP)
            add_step_rows(&question, &tables, steps, device);
        else
            add_rows(&question, &tables, steps, device, stream);
    }
    add_sum_footer(tables.devices);
    count_links(&question, tables.devices, result);
    table_sort(tables.copies, COPIES_SUM, false);
    result_add_table(result, tables.devices);
    result_add_table(result, tables.efficiency);
    result_add_table(result, tables.copies);
    if (rows == GPU_ROWS_STEP && steps_of(trace)->count == 0)
        result_add_notice(
            result, "no_steps", 0, NULL, TPA_NOWHERE,
            "the trace marks no steps, so there is one row; call prof.step() after each iteration to "
            "record them");

    device_steps_free(steps);
    free(question.tensor);
    free(question.copies_slot);
    free(question.tracks);
    free(question.first_track);
    free(question.operators_spans);
    gpu_streams_free(question.streams);
}
