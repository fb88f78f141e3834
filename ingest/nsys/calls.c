/* calls.c - calls of an export of Nsight Systems: of CUDA, the operating system and libraries; and memory. */
#include "ingest/nsys/nsys.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>

/* Result of polling calls: not a failure. */
enum { NOT_READY = 600 };

static void record_result(struct nsys *nsys, int64_t result, int64_t name)
{
    if (result == 0 || result == NOT_READY)
        return;
    const struct nsys_string *string = nsys_string(nsys, name);
    if (nsys->failed_calls++ == 0) {
        nsys->first_failed = string ? string->text : "a call";
        nsys->first_failed_result = result;
    }
}

/* Calls of CUDA's runtime (eventClass 0) and driver (1). */
static bool read_cuda(struct nsys *nsys, struct tpa_error *err)
{
    enum { START, END, CLASS, TID, CORRELATION, NAME, RESULT, COLUMNS };
    static const char *const columns[COLUMNS] = { "start",         "end",    "eventClass", "globalTid",
                                                  "correlationId", "nameId", "returnValue" };
    bool has_memory = database_has(nsys->db, "CUDA_GPU_MEMORY_USAGE_EVENTS");
    bool ok = true;
    FOR_ROWS(scan, table_scan_begin(nsys->db, &scan, "CUPTI_ACTIVITY_KIND_RUNTIME", columns, COLUMNS), ok) {
        int64_t global = table_scan_int_or(&scan, TID, 0), name = table_scan_int_or(&scan, NAME, -1);
        int64_t correlation = table_scan_int_or(&scan, CORRELATION, RECORDER_NONE);
        struct nsys_process *process;
        track_id track = nsys_thread_of(nsys, global, true, &process);
        const struct nsys_string *string = nsys_string(nsys, name);
        bool driver_by_name = string && string->len > 2 && memcmp(string->text, "cu", 2) == 0 &&
                              isupper((unsigned char)string->text[2]);
        bool driver = table_scan_int_or(&scan, CLASS, driver_by_name) == 1;
        name_id id = nsys_name(nsys, process, name, true);
        if (!recorder_event(process->recorder, driver ? RECORDER_DRIVER : RECORDER_RUNTIME, track, id,
                            table_scan_int_or(&scan, START, RECORDER_NONE),
                            table_scan_int_or(&scan, END, RECORDER_NONE), 0))
            continue;
        recorder_arg(process->recorder, ARG_CORRELATION, correlation);
        if (string && recorder_wants(process->recorder, ARG_LONG_NAME))
            recorder_arg(process->recorder, ARG_LONG_NAME, recorder_text(process->recorder, string->text));
        record_result(nsys, table_scan_int_or(&scan, RESULT, 0), name);
        if (has_memory && string && string->about_memory)
            recorder_memory_call(process->recorder, correlation, nsys_tid(global));
        ok = nsys_flush(nsys, err);
    }
    return ok;
}

/* Calls of a table that names them by nameId or textId. */
static bool read_others(struct nsys *nsys, const char *table, enum recorder_kind kind, struct tpa_error *err)
{
    enum { START, END, TID, NAME, TEXT, CLASS, COLUMNS, CALL_CLASS = 27 };
    static const char *const columns[COLUMNS] = { "start",  "end",    "globalTid",
                                                  "nameId", "textId", "eventClass" };
    bool ok = true;
    FOR_ROWS(scan, table_scan_begin(nsys->db, &scan, table, columns, COLUMNS) && table_scan_has(&scan, START),
             ok) {
        struct nsys_process *process;
        int64_t name = table_scan_int_or(&scan, NAME, table_scan_int_or(&scan, TEXT, -1));
        track_id track = nsys_thread_of(nsys, table_scan_int_or(&scan, TID, 0), false, &process);
        /* OSRT_API also contains notes of the profiler about itself. */
        bool own = kind == RECORDER_SYSTEM && table_scan_int_or(&scan, CLASS, CALL_CLASS) != CALL_CLASS;
        recorder_event(process->recorder, own ? RECORDER_OVERHEAD : kind, track,
                       nsys_name(nsys, process, name, false), table_scan_int_or(&scan, START, RECORDER_NONE),
                       table_scan_int_or(&scan, END, RECORDER_NONE), 0);
        ok = nsys_flush(nsys, err);
    }
    return ok;
}

/* ---- memory ---- */

/* The memory events at one address; device -1: host. */
static void read_memory(struct nsys *nsys)
{
    enum { START, PID, DEVICE, ADDRESS, BYTES, KIND, OPERATION, CORRELATION, COLUMNS };
    static const char *const columns[COLUMNS] = {
        "start",   "globalPid",           "deviceId",     "address", "bytes",
        "memKind", "memoryOperationType", "correlationId"
    };
    enum { PAGEABLE = 0, PINNED = 1, FREED = 1 };
    uint64_t timeless = 0;
    FOR_ROWS(scan, table_scan_begin(nsys->db, &scan, "CUDA_GPU_MEMORY_USAGE_EVENTS", columns, COLUMNS),
             true) {
        struct nsys_process *process = nsys_process_of(nsys, table_scan_int_or(&scan, PID, 0), true);
        int64_t kind = table_scan_int_or(&scan, KIND, -1), start = table_scan_int_or(&scan, START, 0);
        if (start == 0) {
            timeless++;
            continue;
        }
        bool host = kind == PAGEABLE || kind == PINNED;
        recorder_memory(
            process->recorder,
            &(struct recorder_memory){
                .time_ns = start,
                .address = table_scan_int_or(&scan, ADDRESS, 0),
                .bytes = table_scan_int_or(&scan, BYTES, 0),
                .device = host ? -1 : nsys_gpu_of(nsys, process, table_scan_int_or(&scan, DEVICE, 0)),
                .memory_kind = kind,
                .pid = recorder_pid(process->recorder),
                .tid = RECORDER_NONE,
                .correlation = table_scan_int_or(&scan, CORRELATION, RECORDER_NONE),
                .release = table_scan_int_or(&scan, OPERATION, 0) == FREED,
            });
    }
    if (timeless)
        trace_builder_notice(nsys->builder, "memory_without_time",
                             "allocations and frees have no time in this export and were left out", timeless,
                             TPA_NOWHERE);
}

bool nsys_read_calls(struct nsys *nsys, struct tpa_error *err)
{
    static const struct {
        const char *table;
        enum recorder_kind kind;
    } others[] = {
        { "CUPTI_ACTIVITY_KIND_OVERHEAD", RECORDER_OVERHEAD },
        { "PROFILER_OVERHEAD", RECORDER_OVERHEAD },
        { "OSRT_API", RECORDER_SYSTEM },
        { "MPI_P2P_EVENTS", RECORDER_LIBRARY },
        { "MPI_COLLECTIVES_EVENTS", RECORDER_LIBRARY },
        { "MPI_START_WAIT_EVENTS", RECORDER_LIBRARY },
        { "MPI_OTHER_EVENTS", RECORDER_LIBRARY },
        { "CUBLAS_EVENTS", RECORDER_LIBRARY },
        { "CUDNN_EVENTS", RECORDER_LIBRARY },
        { "OPENACC_DATA_EVENTS", RECORDER_LIBRARY },
        { "OPENACC_LAUNCH_EVENTS", RECORDER_LIBRARY },
        { "OPENACC_OTHER_EVENTS", RECORDER_LIBRARY },
        { "OPENMP_EVENTS", RECORDER_LIBRARY },
    };
    bool ok = read_cuda(nsys, err);
    read_memory(nsys);
    for (size_t i = 0; i < sizeof others / sizeof *others && ok; i++)
        ok = read_others(nsys, others[i].table, others[i].kind, err);
    return ok;
}

/* ---- counters ---- */

/* A metric of a GPU: typeId encodes the GPU and the set of metrics. */
struct metric {
    int64_t type, metric;
    char name[120];
};

static void read_metrics(struct nsys *nsys)
{
    enum { TIME, TYPE, METRIC, VALUE, COLUMNS, NAME = VALUE };
    static const char *const columns[COLUMNS] = { "timestamp", "typeId", "metricId", "value" };
    static const char *const names[COLUMNS] = { NULL, "typeId", "metricId", "metricName" };
    if (!database_has(nsys->db, "GPU_METRICS"))
        return;
    SCOPED VEC_OF(struct metric) metrics = { 0 };
    struct table_scan scan;
    size_t len, last = 0;
    if (table_scan_begin(nsys->db, &scan, "TARGET_INFO_GPU_METRICS", names, COLUMNS))
        while (table_scan_next(&scan) && metrics.count < 4096) {
            struct metric *metric = VEC_PUSH(&metrics);
            const char *name = table_scan_text(&scan, NAME, &len);
            *metric = (struct metric){ table_scan_int_or(&scan, TYPE, -1),
                                       table_scan_int_or(&scan, METRIC, -1), "" };
            snprintf(metric->name, sizeof metric->name, "%s", name ? name : "metric");
        }
    table_scan_end(&scan);
    struct recorder *recorder = nsys_process_of(nsys, 0, false)->recorder;
    if (table_scan_begin(nsys->db, &scan, "GPU_METRICS", columns, COLUMNS))
        while (table_scan_next(&scan)) {
            int64_t type = table_scan_int_or(&scan, TYPE, -1), number = table_scan_int_or(&scan, METRIC, -1);
            char name[40];
            track_id track = recorder_counters(recorder, type & 0xFF);
            const struct metric *metric = NULL;
            for (size_t i = 0; i < metrics.count && !metric; i++) {
                size_t at = (last + i) % metrics.count;
                bool same = metrics.at[at].metric == number &&
                            (metrics.at[at].type == type || metrics.at[at].type == -1);
                metric = same ? &metrics.at[at] : NULL;
                last = same ? at : last;
            }
            snprintf(name, sizeof name, "metric %" PRId64, number);
            recorder_sample(recorder, track, metric ? metric->name : name,
                            table_scan_int_or(&scan, TIME, RECORDER_NONE), table_scan_double(&scan, VALUE));
        }
    table_scan_end(&scan);
}

/* Page faults of unified memory, as samples of their number: recorded for GPUs, one per row for the CPU. */
static void read_page_faults(struct nsys *nsys)
{
    enum { TIME, PID, DEVICE, COUNT, COLUMNS };
    static const char *const of_gpu[COLUMNS] = { "start", "globalPid", "deviceId", "numberOfPageFaults" };
    static const char *const of_cpu[COLUMNS] = { "start", "globalPid", NULL, NULL };
    static const struct {
        const char *table, *counter;
        const char *const *columns;
    } faults[] = {
        { "CUDA_UM_GPU_PAGE_FAULT_EVENTS", "page faults of the GPU", of_gpu },
        { "CUDA_UM_CPU_PAGE_FAULT_EVENTS", "page faults of the CPU", of_cpu },
    };
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        FOR_ROWS(scan, table_scan_begin(nsys->db, &scan, faults[i].table, faults[i].columns, COLUMNS), true) {
            const struct nsys_process *process =
                nsys_process_of(nsys, table_scan_int_or(&scan, PID, 0), false);
            track_id track =
                faults[i].columns[DEVICE]
                    ? recorder_counters(process->recorder,
                                        nsys_gpu_of(nsys, process, table_scan_int_or(&scan, DEVICE, 0)))
                    : recorder_thread(process->recorder, recorder_pid(process->recorder));
            recorder_sample(process->recorder, track, faults[i].counter,
                            table_scan_int_or(&scan, TIME, RECORDER_NONE),
                            (double)table_scan_int_or(&scan, COUNT, 1));
        }
    }
}

void nsys_read_counters(struct nsys *nsys)
{
    read_metrics(nsys);
    read_page_faults(nsys);
}
