/*
 * nsys_reports.h - the reports that `nsys stats` (2023.4) prints, computed from a trace.
 *
 * Definitions are those of NVIDIA's report scripts: all durations are end - start in ns, medians the mean of the middle
 * two, deviations those of a sample (0 for one). Rows are sorted by total (kern_exec: average), largest first, then in
 * order of the file. Differences from tpa's own analyses: graphs recorded as a whole are not kernels, work without a
 * call has no row in kern_exec.
 */
#ifndef TPA_ANALYZE_NSYS_REPORTS_H
#define TPA_ANALYZE_NSYS_REPORTS_H

#include "trace/trace.h"

extern const struct trace_wants nsys_reports_wants;

enum nsys_report {
    NSYS_API,       /* cuda_api_sum: calls of CUDA */
    NSYS_KERNELS,   /* cuda_gpu_kern_sum */
    NSYS_MEM_TIME,  /* cuda_gpu_mem_time_sum: copies and sets, by operation */
    NSYS_MEM_SIZE,  /* cuda_gpu_mem_size_sum: the same in bytes */
    NSYS_OSRT,      /* osrt_sum: calls of the operating system's libraries */
    NSYS_NVTX,      /* nvtx_sum */
    NSYS_KERN_EXEC, /* cuda_kern_exec_sum: call, queue and kernel, per thread, device, call and kernel */
    NSYS_PROJECTED, /* nvtx_gpu_proj_sum: ranges as their work ran on devices */
    NSYS_REPORTS
};

/* Figures of COUNT values. */
struct nsys_figures {
    size_t count;
    int64_t total, least, greatest;
    double mean, median, deviation;
};

struct nsys_row {
    const char *name, *second; /* borrowed from the trace; second: the call of NSYS_KERN_EXEC */
    size_t name_len, second_len;
    size_t shown_len;   /* of NAME: calls are distinguished by interface version, which is not shown */
    const char *domain; /* text around the name of an operation: NULL, or "[CUDA memcpy " ... */
    bool start_end;     /* the style of a range */
    event_id first;     /* of the row's events: orders rows of the same total */
    int64_t pid, tid, device;
    struct nsys_figures of; /* the subject of the report; for KERN_EXEC, from call start to kernel end */
    struct nsys_figures call, queue, kernel; /* of KERN_EXEC */
    int64_t range_total, operations;         /* of PROJECTED: as recorded, and GPU operations */
    double mean_level, mean_children;
};

struct nsys_rows {
    VEC_OF(struct nsys_row);
    int64_t total; /* of all rows: the base of shares */
};

/* Compute rows in ROWS; free with VEC_FREE. None if nothing of the kind was recorded. */
void nsys_report_open(const struct trace *trace, enum nsys_report report, struct nsys_rows *rows);

#endif
