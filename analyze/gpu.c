/*
 * gpu.c - see gpu.h. A report (device_report.h) makes a row of the table of devices, one of their efficiency
 * (gpu_efficiency.h), and one for each name of copies.
 */
#include "analyze/gpu.h"

#include "analyze/device_report.h"
#include "analyze/gpu_efficiency.h"
#include "analyze/many_rows.h"
#include "base/buffer.h"
#include "base/sum.h"
#include "trace/span.h"
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const struct trace_wants gpu_wants = {
    .args = DEVICE_REPORT_WANTS | GPU_EFFICIENCY_WANTS,
};

struct gpu_tables {
    struct gpu_question *question;
    struct gpu_streams *streams; /* NULL: not asked for */
    track_id *tracks;            /* with work, device after device */
    size_t *first_track;         /* by device, and one more */
    struct table *devices, *copies;
    struct gpu_efficiency *efficiency;
    struct buffer listed; /* "7, 20, 21": the streams of the rows that are made */
};

/* ---- table: devices ---- */

enum device_column {
    DEVICE_NAME = REPORT_COLUMNS,
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
static void list_tracks(struct gpu_tables *tables)
{
    const struct trace *trace = tables->question->trace;
    const struct gpu_events *gpu = tables->question->gpu;
    size_t *first = mem_zalloc(gpu->device_count + 2, sizeof *first);
    for (size_t d = 0; d < gpu->device_count; d++)
        first[d + 2] = first[d + 1] + gpu->devices[d].stream_count;
    tables->tracks = mem_alloc((trace->track_count + 1) * sizeof *tables->tracks);
    for (track_id t = 0; t < trace->track_count; t++)
        if (gpu->device_of_track[t] != UINT32_MAX)
            tables->tracks[first[gpu->device_of_track[t] + 1]++] = t;
    tables->first_track = first; /* each moved on to where the next begins, from the second on */
}

static int compare_streams(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return a < b ? -1 : a > b;
}

/* List the streams of the device with index DEVICE that were asked for, or STREAM alone. */
static void list_streams(struct gpu_tables *tables, size_t device, const struct gpu_stream *stream)
{
    const struct gpu_question *question = tables->question;
    const struct trace *trace = question->trace;
    struct buffer *out = &tables->listed;
    VEC_OF(int64_t) streams = { 0 };
    if (stream)
        *VEC_PUSH(&streams) = trace->tracks[stream->track].stream;
    for (size_t i = tables->first_track[device]; !stream && i < tables->first_track[device + 1]; i++)
        if (selection_holds_track(question->selection, tables->tracks[i]))
            *VEC_PUSH(&streams) = trace->tracks[tables->tracks[i]].stream;
    if (streams.count)
        qsort(streams.at, streams.count, sizeof *streams.at, compare_streams);
    buffer_clear(out);
    for (size_t i = 0; i < streams.count; i++)
        if (i == 0 || streams.at[i] != streams.at[i - 1])
            buffer_printf(out, "%s%" PRId64, out->count ? ", " : "", streams.at[i]);
    VEC_FREE(&streams);
}

static void add_device(const struct gpu_tables *tables, const struct device_report *report)
{
    struct table *table = tables->devices;
    size_t row = table_add_row(table);
    device_report_name(report, tables->question, table, row);
    if (report->device->properties && report->device->properties->name)
        table_set_text(table, row, DEVICE_NAME, report->device->properties->name,
                       strlen(report->device->properties->name));

    struct intervals working = { 0 };
    intervals_union(&report->computation, &report->communication, &working);
    struct device_gaps gaps = device_report_gaps(report, tables->question);
    int64_t span_ns = intervals_length(&report->asked), busy_ns = intervals_length(&report->busy);
    int64_t computation_ns = intervals_length(&report->computation);
    int64_t exposed_communication_ns = intervals_length_outside(&report->communication, &report->computation);
    int64_t exposed_memcpy_ns = intervals_length_outside(&report->of_work[GPU_MEMCPY], &working);
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
                  intervals_length_outside(&report->of_work[GPU_NCCL], &report->not_nccl));
    table_set_text(table, row, DEVICE_STREAMS, tables->listed.at ? tables->listed.at : "",
                   tables->listed.count);
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

/* ---- table: copies ---- */

enum copies_column {
    COPIES_NAME = REPORT_COLUMNS,
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

static void add_copies(const struct gpu_tables *tables, const struct device_report *report)
{
    struct table *table = tables->copies;
    const struct names *names = tables->question->trace->names;
    for (size_t i = 0; i < report->copies.count; i++) {
        const struct device_copies *copies = &report->copies.at[i];
        if (copies->count == 0 && copies->when.count == 0)
            continue; /* none when asked for */
        size_t row = table_add_row(table);
        device_report_name(report, tables->question, table, row);
        table_set_text(table, row, COPIES_NAME, names_text(names, copies->name),
                       names_length(names, copies->name));
        table_set_int(table, row, COPIES_COUNT, (int64_t)copies->count);
        table_set_int(table, row, COPIES_BYTES, copies->bytes);
        table_set_int(table, row, COPIES_SUM, copies->sum_ns);
        table_set_int(table, row, COPIES_UNION, intervals_length(&copies->when));
        table_set_int(table, row, COPIES_EXPOSED, intervals_length_outside(&copies->when, &report->kernels));
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

static void open_tables(struct gpu_tables *tables, enum gpu_rows rows)
{
    const struct gpu_question *question = tables->question;
    tables->devices =
        table_open("devices", "Span = computation + exposed communication + exposed copies + idle",
                   device_columns, DEVICE_COLUMNS);
    tables->copies = table_open("copies", "Copies", copies_columns, COPIES_COLUMNS);
    tables->efficiency = gpu_efficiency_open(question);
    tables->streams = rows == GPU_ROWS_STREAM ? gpu_streams_open(question->gpu) : NULL;
    list_tracks(tables);

    struct table *const all[] = { tables->devices, gpu_efficiency_table(tables->efficiency), tables->copies };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (question->trace->file_count > 1)
            all[i]->columns[REPORT_RANK].flags = 0;
        if (rows == GPU_ROWS_STREAM)
            all[i]->columns[REPORT_STREAM].flags = 0;
        if (rows == GPU_ROWS_STEP)
            all[i]->columns[REPORT_STEP].flags = 0;
    }
}

/* All but the tables themselves, which are the result's. */
static void release_tables(struct gpu_tables *tables)
{
    gpu_efficiency_free(tables->efficiency);
    gpu_streams_free(tables->streams);
    free(tables->tracks);
    free(tables->first_track);
    buffer_release(&tables->listed);
}

/* A row in each table for REPORT, which says what it is about, if there is anything to say. */
static void add_report(const struct gpu_tables *tables, struct device_report *report)
{
    device_report_fill(report, tables->question);
    if (report->events || report->busy.count || (report->is_part && report->asked.count)) {
        add_device(tables, report);
        gpu_efficiency_add(tables->efficiency, report);
        add_copies(tables, report);
    }
    device_report_release(report);
}

/* When work of FILE was asked for; NULL: always. */
static const struct intervals *windows_of(const struct gpu_question *question, uint32_t file)
{
    return question->selection->windows ? &question->selection->windows[file] : NULL;
}

/* Rows for DEVICE, or for one STREAM of it alone. */
static void add_rows(const struct gpu_tables *tables, const struct gpu_device *device,
                     const struct gpu_stream *stream)
{
    struct device_report report = { .device = device,
                                    .stream = stream,
                                    .work_count = stream ? stream->count : device->count,
                                    .span = device_report_no_span,
                                    .windows = windows_of(tables->question, device->file) };
    if (stream)
        report.position = &tables->streams->position[stream->first];
    add_report(tables, &report);
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
static void add_step_rows(const struct gpu_tables *tables, const struct gpu_device *device)
{
    const struct gpu_question *question = tables->question;
    const struct trace *trace = question->trace;
    const struct step_list *steps = step_list_of(trace);
    const struct intervals *asked = windows_of(tables->question, device->file);
    struct interval span = device_report_no_span;
    for (size_t i = device->first; i < device->first + device->count; i++)
        if (selection_holds_whenever(question->selection, question->gpu->event[i]))
            device_report_extend(&span, trace, question->gpu->event[i]);
    struct positions work = { 0 };
    struct intervals outside = { 0 }, window = { 0 };
    int64_t reached_ns = span.start_ns, last_ns = span.end_ns + 1; /* work at the end may take no time */
    size_t next = device->first;
    for (size_t s = 0; s < steps->count; s++) {
        const struct step *step = &steps->at[s];
        if (step->file != device->file)
            continue;
        int64_t end_ns = step_list_end_ns(steps, s);
        intervals_add(&outside, reached_ns, step->start_ns < last_ns ? step->start_ns : last_ns);
        reached_ns = end_ns > reached_ns ? end_ns : reached_ns;
        move_window(question, device, step->start_ns, end_ns, &next, &work);
        intervals_clear(&window);
        intervals_add(&window, step->start_ns, end_ns);
        if (asked)
            intervals_keep(&window, asked);
        struct device_report report = { .device = device,
                                        .step = step,
                                        .position = work.at,
                                        .work_count = work.count,
                                        .span = span,
                                        .windows = &window,
                                        .is_part = true };
        add_report(tables, &report);
    }
    intervals_add(&outside, reached_ns, last_ns);
    if (asked)
        intervals_keep(&outside, asked);
    struct device_report report = {
        .device = device, .work_count = device->count, .span = span, .windows = &outside, .is_part = true
    };
    add_report(tables, &report);
    intervals_release(&outside);
    intervals_release(&window);
    VEC_FREE(&work);
}

void gpu_add_tables(const struct trace *trace, const struct selection *selection, enum gpu_rows rows,
                    struct result *result)
{
    struct gpu_question question;
    gpu_question_open(&question, trace, selection);
    struct gpu_tables tables = { .question = &question };
    open_tables(&tables, rows);

    int64_t left_out = 0;
    size_t count = tables.streams ? tables.streams->count : question.gpu->device_count;
    for (size_t i = 0; i < count; i++) {
        const struct gpu_stream *stream = tables.streams ? &tables.streams->at[i] : NULL;
        const struct gpu_device *device = &question.gpu->devices[stream ? stream->device : i];
        if (selection->files && !selection->files[device->file])
            continue;
        if (many_rows(tables.devices)) {
            left_out++;
            continue;
        }
        list_streams(&tables, stream ? stream->device : i, stream);
        if (rows == GPU_ROWS_STEP)
            add_step_rows(&tables, device);
        else
            add_rows(&tables, device, stream);
    }
    add_sum_footer(tables.devices);
    count_links(&question, tables.devices, result);
    table_sort(tables.copies, COPIES_SUM, false);
    result_add_table(result, tables.devices);
    result_add_table(result, gpu_efficiency_table(tables.efficiency));
    result_add_table(result, tables.copies);
    many_rows_tell(result, left_out);
    if (rows == GPU_ROWS_STEP && step_list_of(trace)->count == 0)
        result_add_notice(
            result, "no_steps", 0, NULL, TPA_NOWHERE,
            "the trace marks no steps, so there is one row; call prof.step() after each iteration to "
            "record them");
    release_tables(&tables);
    gpu_question_close(&question);
}
