/*
 * device_report.h - what a device did with its time, or one stream of it, or what of it lies in one step.
 *
 *     struct device_report report = { .device = device, .work_count = device->count, .span = device_report_no_span };
 *     device_report_fill(&report, &question);
 *     int64_t busy_ns = intervals_length(&report.busy);
 *     device_report_release(&report);
 *
 * The work is walked once, in order of start, into one set of moments per question ("computes", "copies from host to
 * device"); all else is the algebra of these sets. A selection in time cuts the sets, so that shares are those of
 * the time asked for. docs/definitions.md has every figure.
 */
#ifndef TPA_ANALYZE_DEVICE_REPORT_H
#define TPA_ANALYZE_DEVICE_REPORT_H

#include "facts/gpu_events.h"
#include "analyze/selection.h"
#include "base/memory.h"
#include "base/table.h"
#include "trace/intervals.h"
#include "facts/step_list.h"

/* What a report asks for beyond enum trace_wants of gpu_events.h. */
#define DEVICE_REPORT_WANTS (GPU_EVENTS_WANTS | WANT(BYTES))

/* What the reports of all devices are worked out from. Open with gpu_question_open, close with gpu_question_close. */
struct gpu_question {
    const struct trace *trace;
    const struct selection *selection;
    const struct gpu_events *gpu;
    uint8_t *tensor;       /* by name: enum tensor_use + 1; 0: not asked yet */
    uint32_t *copies_slot; /* by name: index into device_report.copies + 1 */
};

/* What copies of one name came to. */
struct device_copies {
    name_id name;
    uint64_t count;
    int64_t bytes, sum_ns;
    struct intervals when;
};

/* Who asks sets the members up to is_part, and zeroes the others. All pointers are borrowed. */
struct device_report {
    const struct gpu_device *device;
    const struct gpu_stream *stream; /* only this stream of it; NULL: all */
    const struct step *step;         /* only this step; NULL: all */
    const uint32_t *position; /* where its work is in gpu_events.event, by start; NULL: all of the device */
    size_t work_count;
    struct interval span;            /* from the start of the first work to the end of the last; grows */
    const struct intervals *windows; /* when it was asked for; NULL: always */
    bool is_part;           /* one of the rows that make up a device: idle time alone makes a row, too */
    struct intervals asked; /* what of the device's span was asked for: all, without a selection in time */
    struct intervals of_work[GPU_WORKS]; /* by enum gpu_work; what follows is put together from them */
    struct intervals busy, computation, communication, not_nccl, kernels;
    size_t events, kernel_count, nccl_count;
    int64_t kernel_sum_ns, tensor_ns, tensor_unknown_ns;
    VEC_OF(struct device_copies) copies;
};

/* The times between works, of those asked for. */
struct device_gaps {
    size_t count;
    int64_t sum_ns, longest_ns;
};

/* The first columns of every table of reports. */
enum device_report_column { REPORT_RANK, REPORT_DEVICE, REPORT_STREAM, REPORT_STEP, REPORT_COLUMNS };

/* The span of no work. */
extern const struct interval device_report_no_span;

/* Both are borrowed. */
void gpu_question_open(struct gpu_question *question, const struct trace *trace,
                       const struct selection *selection);
void gpu_question_close(struct gpu_question *question);

/* Make *SPAN hold the event, too. */
void device_report_extend(struct interval *span, const struct trace *trace, event_id e);

/* Work everything out; release with device_report_release. */
void device_report_fill(struct device_report *report, struct gpu_question *question);
void device_report_release(struct device_report *report);

/* The gaps of a filled report. Work that took no time at all ends a gap and begins another. */
struct device_gaps device_report_gaps(const struct device_report *report,
                                      const struct gpu_question *question);

/* Set the first columns, by enum device_report_column, of ROW. */
void device_report_name(const struct device_report *report, const struct gpu_question *question,
                        struct table *table, size_t row);

/* Where the I-th work of the report is in gpu_events.event. */
static inline size_t device_report_work(const struct device_report *report, size_t i)
{
    return report->position ? report->position[i] : report->device->first + i;
}

#endif
