/*
 * work.c - device work in an export of Nsight Systems: kernels, copies, sets, graphs, and waits.
 *
 * Numbers are CUPTI's. A graph that was recorded as one (CUPTI_ACTIVITY_KIND_GRAPH_TRACE, the default) occupies its
 * device like a kernel.
 */
#include "ingest/nsys/nsys.h"

#include <inttypes.h>
#include <stdio.h>

enum work_column {
    WORK_START,
    WORK_END,
    WORK_PID,
    WORK_DEVICE,
    WORK_CONTEXT,
    WORK_STREAM,
    WORK_CORRELATION,
    WORK_GRAPH,
    WORK_GRAPH_NODE,
    WORK_COMMON,
    KERNEL_NAME = WORK_COMMON,
    KERNEL_SHORT_NAME,
    KERNEL_MANGLED_NAME,
    KERNEL_REGISTERS,
    KERNEL_STATIC_SHARED,
    KERNEL_DYNAMIC_SHARED,
    KERNEL_GRID,
    KERNEL_BLOCK = KERNEL_GRID + 3,
    KERNEL_COLUMNS = KERNEL_BLOCK + 3,
    COPY_BYTES = WORK_COMMON,
    COPY_KIND,
    COPY_FROM,
    COPY_TO,
    COPY_COLUMNS,
    SET_BYTES = WORK_COMMON,
    SET_MEMORY,
    SET_COLUMNS,
    GRAPH_COLUMNS = WORK_COMMON,
    WAIT_TYPE = WORK_COMMON,
    WAIT_OLD_TYPE,
    WAIT_COLUMNS,
};

static const char *const common_columns[WORK_COMMON] = {
    [WORK_START] = "start",
    [WORK_END] = "end",
    [WORK_PID] = "globalPid",
    [WORK_DEVICE] = "deviceId",
    [WORK_CONTEXT] = "contextId",
    [WORK_STREAM] = "streamId",
    [WORK_CORRELATION] = "correlationId",
    [WORK_GRAPH] = "graphId",
    [WORK_GRAPH_NODE] = "graphNodeId",
};

/* Begin to read the table with the common columns and MORE up to COUNT; columns of unneeded arguments are left out. */
static bool begin(struct nsys *nsys, struct table_scan *scan, const char *table, const char *const *more,
                  size_t count)
{
    const char *columns[TABLE_SCAN_COLUMNS];
    for (size_t i = 0; i < count; i++)
        columns[i] = i < WORK_COMMON ? common_columns[i] : more[i - WORK_COMMON];
    static const struct {
        enum work_column column;
        enum trace_arg arg;
    } optional[] = { { WORK_CONTEXT, ARG_CONTEXT }, { WORK_GRAPH_NODE, ARG_GRAPH_NODE_ID } };
    for (size_t i = 0; i < sizeof optional / sizeof *optional; i++)
        if (!trace_builder_wants(nsys->builder, optional[i].arg))
            columns[optional[i].column] = NULL;
    bool ok = table_scan_begin(nsys->db, scan, table, columns, count);
    if (ok && !table_scan_has(scan, WORK_START)) {
        char text[128];
        snprintf(text, sizeof text, "the table %s has no column \"start\" and was left out", table);
        trace_builder_tell(nsys->builder, "no_column", text, 1);
        table_scan_end(scan);
        return false;
    }
    return ok;
}

/* The common properties of work. */
static void take_common(struct nsys *nsys, struct table_scan *scan, struct recorder_work *work,
                        struct nsys_process **process)
{
    int64_t global = table_scan_int_or(scan, WORK_PID, 0);
    *process = nsys_process_of(nsys, global, true);
    *work = RECORDER_WORK_NONE;
    table_scan_int(scan, WORK_START, &work->start_ns);
    table_scan_int(scan, WORK_END, &work->end_ns);
    table_scan_int(scan, WORK_CONTEXT, &work->context);
    table_scan_int(scan, WORK_CORRELATION, &work->correlation);
    table_scan_int(scan, WORK_GRAPH, &work->graph);
    table_scan_int(scan, WORK_GRAPH_NODE, &work->graph_node);
    table_scan_int(scan, WORK_STREAM, &work->stream);
    if (work->stream == UINT32_MAX) /* none */
        work->stream = -1;
    work->ordinal = table_scan_int_or(scan, WORK_DEVICE, 0);
    work->device = nsys_gpu_of(nsys, *process, work->ordinal);
}

static name_id kernel_name(struct nsys *nsys, struct nsys_process *process, struct table_scan *scan)
{
    static const enum work_column columns[] = { KERNEL_NAME, KERNEL_SHORT_NAME, KERNEL_MANGLED_NAME };
    int64_t id, first = RECORDER_NONE;
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        if (!table_scan_int(scan, columns[i], &id))
            continue;
        if (nsys_string(nsys, id))
            return nsys_name(nsys, process, id, false);
        first = first == RECORDER_NONE ? id : first;
    }
    return first != RECORDER_NONE ? nsys_name(nsys, process, first, false)
                                  : recorder_name(process->recorder, "[kernel without a name]", 23);
}

static void take_three(struct table_scan *scan, size_t column, int64_t *numbers)
{
    bool all = true;
    for (size_t i = 0; i < 3; i++)
        all &= table_scan_int(scan, column + i, &numbers[i]);
    if (!all)
        numbers[0] = RECORDER_NONE;
}

static bool read_kernels(struct nsys *nsys, struct tpa_error *err)
{
    static const char *const all[] = { "demangledName",
                                       "shortName",
                                       "mangledName",
                                       "registersPerThread",
                                       "staticSharedMemory",
                                       "dynamicSharedMemory",
                                       "gridX",
                                       "gridY",
                                       "gridZ",
                                       "blockX",
                                       "blockY",
                                       "blockZ" };
    bool spread = trace_builder_wants(nsys->builder, ARG_BLOCKS_PER_SM) ||
                  trace_builder_wants(nsys->builder, ARG_WARPS_PER_SM);
    bool grid = spread || trace_builder_wants(nsys->builder, ARG_GRID);
    bool block = spread || trace_builder_wants(nsys->builder, ARG_BLOCK);
    const char *more[sizeof all / sizeof *all];
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        size_t column = WORK_COMMON + i;
        bool wanted = column >= KERNEL_BLOCK           ? block
                      : column >= KERNEL_GRID          ? grid
                      : column >= KERNEL_STATIC_SHARED ? trace_builder_wants(nsys->builder, ARG_SHARED_MEMORY)
                      : column == KERNEL_REGISTERS     ? trace_builder_wants(nsys->builder, ARG_REGISTERS)
                                                       : true;
        more[i] = wanted ? all[i] : NULL;
    }
    struct table_scan scan;
    if (!begin(nsys, &scan, "CUPTI_ACTIVITY_KIND_KERNEL", more, KERNEL_COLUMNS))
        return true;
    bool ok = true;
    while (ok && table_scan_next(&scan)) {
        struct nsys_process *process;
        struct recorder_work work;
        take_common(nsys, &scan, &work, &process);
        work.kind = RECORDER_KERNEL;
        work.name = kernel_name(nsys, process, &scan);
        table_scan_int(&scan, KERNEL_REGISTERS, &work.registers);
        table_scan_int(&scan, KERNEL_STATIC_SHARED, &work.static_shared);
        table_scan_int(&scan, KERNEL_DYNAMIC_SHARED, &work.dynamic_shared);
        take_three(&scan, KERNEL_GRID, work.grid);
        take_three(&scan, KERNEL_BLOCK, work.block);
        recorder_work(process->recorder, &work);
        ok = nsys_flush(nsys, err);
    }
    table_scan_end(&scan);
    return ok;
}

/* ---- copies and sets ---- */

enum { MEMORIES = 8, UNIFIED = 11, COPIES = 14 };

/* A kind of memory, or a placeholder. */
static size_t memory_place(int64_t kind)
{
    return kind >= 0 && kind < MEMORIES ? (size_t)kind : MEMORIES;
}

static const char *const memory_words[MEMORIES + 1] = { "Pageable",       "Pinned",  "Device",
                                                        "Array",          "Managed", "Device Static",
                                                        "Managed Static", "Unknown", "Unknown" };

/* CUpti_ActivityMemcpyKind, and from 11 on those of unified memory as Nsight Systems numbers them. */
static name_id copy_name(struct nsys_process *process, int64_t kind, int64_t from, int64_t to)
{
    static const char *const words[COPIES] = { "Unknown", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA", "AtoD",
                                               "DtoA",    "DtoD", "HtoH", "PtoP", "HtoD", "DtoH", "DtoD" };
    size_t place = kind >= 0 && kind < COPIES ? (size_t)kind : 0;
    name_id *known = &process->copies[place][memory_place(from)][memory_place(to)];
    if (*known != NAME_NONE)
        return *known;
    char name[96];
    int len = place >= UNIFIED ? snprintf(name, sizeof name, "Memcpy %s (Unified memory)", words[place])
                               : snprintf(name, sizeof name, "Memcpy %s (%s -> %s)", words[place],
                                          memory_words[memory_place(from)], memory_words[memory_place(to)]);
    return *known = recorder_name(process->recorder, name, (size_t)len);
}

static name_id set_name(struct nsys_process *process, int64_t memory)
{
    name_id *known = &process->sets[memory_place(memory)];
    if (*known != NAME_NONE)
        return *known;
    char name[48];
    int len = snprintf(name, sizeof name, "Memset (%s)", memory_words[memory_place(memory)]);
    return *known = recorder_name(process->recorder, name, (size_t)len);
}

static bool read_copies(struct nsys *nsys, struct tpa_error *err)
{
    static const char *const more[] = { "bytes", "copyKind", "srcKind", "dstKind" };
    struct table_scan scan;
    if (!begin(nsys, &scan, "CUPTI_ACTIVITY_KIND_MEMCPY", more, COPY_COLUMNS))
        return true;
    bool ok = true;
    while (ok && table_scan_next(&scan)) {
        struct nsys_process *process;
        struct recorder_work work;
        take_common(nsys, &scan, &work, &process);
        work.kind = RECORDER_MEMCPY;
        work.name = copy_name(process, table_scan_int_or(&scan, COPY_KIND, 0),
                              table_scan_int_or(&scan, COPY_FROM, -1), table_scan_int_or(&scan, COPY_TO, -1));
        table_scan_int(&scan, COPY_BYTES, &work.bytes);
        recorder_work(process->recorder, &work);
        ok = nsys_flush(nsys, err);
    }
    table_scan_end(&scan);
    return ok;
}

static bool read_sets(struct nsys *nsys, struct tpa_error *err)
{
    static const char *const more[] = { "bytes", "memKind" };
    struct table_scan scan;
    if (!begin(nsys, &scan, "CUPTI_ACTIVITY_KIND_MEMSET", more, SET_COLUMNS))
        return true;
    bool ok = true;
    while (ok && table_scan_next(&scan)) {
        struct nsys_process *process;
        struct recorder_work work;
        take_common(nsys, &scan, &work, &process);
        work.kind = RECORDER_MEMSET;
        work.name = set_name(process, table_scan_int_or(&scan, SET_MEMORY, -1));
        table_scan_int(&scan, SET_BYTES, &work.bytes);
        recorder_work(process->recorder, &work);
        ok = nsys_flush(nsys, err);
    }
    table_scan_end(&scan);
    return ok;
}

/* ---- graphs and waits ---- */

static bool read_graphs(struct nsys *nsys, struct tpa_error *err)
{
    struct table_scan scan;
    if (!begin(nsys, &scan, "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", NULL, GRAPH_COLUMNS))
        return true;
    bool ok = true;
    while (ok && table_scan_next(&scan)) {
        struct nsys_process *process;
        struct recorder_work work;
        char name[48];
        take_common(nsys, &scan, &work, &process);
        int len =
            snprintf(name, sizeof name, "CUDA graph %" PRId64, work.graph == RECORDER_NONE ? 0 : work.graph);
        work.kind = RECORDER_KERNEL;
        work.name = recorder_name(process->recorder, name, (size_t)len);
        nsys->graph_traces += recorder_work(process->recorder, &work);
        ok = nsys_flush(nsys, err);
    }
    table_scan_end(&scan);
    return ok;
}

/* Waits: their times are those of the call that waits. */
static bool read_waits(struct nsys *nsys, struct tpa_error *err)
{
    static const char *const more[] = { "syncType", "deprecatedSyncType" };
    static const char *const names[] = { "Unknown Sync", "Event Sync", "Stream Wait Event", "Stream Sync",
                                         "Context Sync" };
    struct table_scan scan;
    if (!begin(nsys, &scan, "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", more, WAIT_COLUMNS))
        return true;
    bool ok = true;
    while (ok && table_scan_next(&scan)) {
        struct nsys_process *process;
        struct recorder_work work;
        take_common(nsys, &scan, &work, &process);
        int64_t type = table_scan_int_or(&scan, WAIT_TYPE, table_scan_int_or(&scan, WAIT_OLD_TYPE, 0));
        const char *name = names[type >= 1 && type <= 4 ? type : 0];
        work.kind = RECORDER_SYNC;
        work.name = recorder_name(process->recorder, name, strlen(name));
        if (recorder_work(process->recorder, &work) && recorder_wants(process->recorder, ARG_SYNC_KIND))
            recorder_arg(process->recorder, ARG_SYNC_KIND, recorder_text(process->recorder, name));
        ok = nsys_flush(nsys, err);
    }
    table_scan_end(&scan);
    return ok;
}

bool nsys_read_work(struct nsys *nsys, struct tpa_error *err)
{
    return read_kernels(nsys, err) && read_copies(nsys, err) && read_sets(nsys, err) &&
           read_graphs(nsys, err) && read_waits(nsys, err);
}
