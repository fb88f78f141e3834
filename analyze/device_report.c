/* device_report.c - see device_report.h. */
#include "analyze/device_report.h"

#include "facts/gpu_names.h"
#include "base/sum.h"
#include "trace/span.h"
#include <stdlib.h>

void gpu_question_open(struct gpu_question *question, const struct trace *trace,
                       const struct selection *selection)
{
    *question = (struct gpu_question){ .trace = trace, .selection = selection, .gpu = gpu_events_of(trace) };
    question->tensor = mem_zalloc(names_count(trace->names) + 1, sizeof *question->tensor);
    question->copies_slot = mem_zalloc(names_count(trace->names) + 1, sizeof *question->copies_slot);
}

void gpu_question_close(struct gpu_question *question)
{
    free(question->tensor);
    free(question->copies_slot);
}

static enum tensor_use tensor_use_of(struct gpu_question *question, name_id id)
{
    uint8_t *use = &question->tensor[id];
    if (*use == 0)
        *use = (uint8_t)(kernel_tensor_use(names_text(question->trace->names, id)) + 1);
    return (enum tensor_use)(*use - 1);
}

static struct device_copies *copies_called(struct gpu_question *question, struct device_report *report,
                                           name_id name)
{
    uint32_t *slot = &question->copies_slot[name];
    if (*slot == 0) {
        *VEC_PUSH(&report->copies) = (struct device_copies){ .name = name };
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
        struct device_copies *copies = copies_called(question, report, question->trace->name[e]);
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

const struct interval device_report_no_span = { INT64_MAX, INT64_MIN };

void device_report_extend(struct interval *span, const struct trace *trace, event_id e)
{
    if (trace->start_ns[e] < span->start_ns)
        span->start_ns = trace->start_ns[e];
    if (trace_end_ns(trace, e) > span->end_ns)
        span->end_ns = trace_end_ns(trace, e);
}

void device_report_fill(struct device_report *report, struct gpu_question *question)
{
    const struct trace *trace = question->trace;
    const struct gpu_events *gpu = question->gpu;
    const struct selection *selection = question->selection;
    const struct intervals *windows = report->windows;
    for (size_t i = 0; i < report->work_count; i++) {
        size_t at = device_report_work(report, i);
        event_id e = gpu->event[at];
        if (!selection_holds_whenever(selection, e))
            continue;
        device_report_extend(&report->span, trace, e);
        add_to_sets(question, report, e, gpu->work[at]);
        if (!windows || intervals_contain(windows, trace->start_ns[e]))
            count_event(question, report, e, gpu->work[at]);
    }
    intervals_add(&report->asked, report->span.start_ns, report->span.end_ns);
    if (windows)
        intervals_keep(&report->asked, windows);
    for (int work = 0; work < GPU_WORKS; work++) {
        intervals_merge(&report->of_work[work]); /* added by start, so there is nothing to sort */
        if (windows)
            intervals_keep(&report->of_work[work], windows);
    }
    unite_sets(report);
    for (size_t i = 0; i < report->copies.count; i++) {
        struct device_copies *copies = &report->copies.at[i];
        question->copies_slot[copies->name] = 0;
        intervals_merge(&copies->when);
        if (windows)
            intervals_keep(&copies->when, windows);
    }
}

void device_report_release(struct device_report *report)
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

static void add_gap(struct device_gaps *gaps, const struct intervals *asked, int64_t start_ns, int64_t end_ns)
{
    int64_t length_ns = start_ns < end_ns ? intervals_length_within(asked, start_ns, end_ns) : 0;
    gaps->count += length_ns > 0;
    gaps->sum_ns += length_ns;
    if (length_ns > gaps->longest_ns)
        gaps->longest_ns = length_ns;
}

struct device_gaps device_report_gaps(const struct device_report *report, const struct gpu_question *question)
{
    const struct trace *trace = question->trace;
    struct device_gaps gaps = { 0 };
    if (report->asked.count == 0)
        return gaps;
    int64_t idle_since_ns = report->asked.at[0].start_ns;
    for (size_t i = 0; i < report->work_count; i++) {
        event_id e = question->gpu->event[device_report_work(report, i)];
        if (!selection_holds_whenever(question->selection, e))
            continue;
        add_gap(&gaps, &report->asked, idle_since_ns, trace->start_ns[e]);
        if (trace_end_ns(trace, e) > idle_since_ns)
            idle_since_ns = trace_end_ns(trace, e);
    }
    add_gap(&gaps, &report->asked, idle_since_ns, report->asked.at[report->asked.count - 1].end_ns);
    return gaps;
}

void device_report_name(const struct device_report *report, const struct gpu_question *question,
                        struct table *table, size_t row)
{
    table_set_int(table, row, REPORT_RANK, selection_rank(question->trace, report->device->file));
    table_set_int(table, row, REPORT_DEVICE, report->device->id);
    if (report->stream)
        table_set_int(table, row, REPORT_STREAM, question->trace->tracks[report->stream->track].stream);
    if (report->step)
        table_set_int(table, row, REPORT_STEP, report->step->number);
}
