/* facts.c - facts in an export of Nsight Systems about machine, devices, threads, and its own recording. */
#include "ingest/nsys/nsys.h"

#include <inttypes.h>

static const char *keep(struct nsys *nsys, const char *text, size_t len)
{
    return text ? trace_builder_strndup(nsys->builder, text, len) : NULL;
}

static int known_int(int64_t value)
{
    return value > 0 && value <= INT32_MAX ? (int)value : 0;
}

static void add_property(struct nsys *nsys, const char *key, const char *text, size_t len)
{
    *VEC_PUSH(&nsys->head.properties) = (struct trace_property){ key, keep(nsys, text, len), true };
}

/* ---- devices ---- */

/* The GPUs of the machine, and, without better information, their CUDA device numbers. */
static void read_gpus(struct nsys *nsys)
{
    enum { ID, NAME, MEMORY, SMS, WARP, MAJOR, MINOR, CUDA, BLOCK, REGISTERS, SHARED, WARPS, COLUMNS };
    static const char *const columns[COLUMNS] = { "id",
                                                  "name",
                                                  "totalMemory",
                                                  "smCount",
                                                  "threadsPerWarp",
                                                  "computeMajor",
                                                  "computeMinor",
                                                  "cuDevice",
                                                  "maxThreadsPerBlock",
                                                  "maxRegistersPerSm",
                                                  "maxShmemPerSm",
                                                  "maxWarpsPerSm" };
    struct table_scan scan;
    if (table_scan_begin(nsys->db, &scan, "TARGET_INFO_GPU", columns, COLUMNS))
        while (table_scan_next(&scan) && nsys->head.devices.count < 1024) {
            size_t len;
            const char *name = table_scan_text(&scan, NAME, &len);
            int64_t id = table_scan_int_or(&scan, ID, -1), cuda = table_scan_int_or(&scan, CUDA, -1);
            if (id < 0 || id > INT32_MAX)
                continue;
            int warp = known_int(table_scan_int_or(&scan, WARP, 32));
            int64_t memory = table_scan_int_or(&scan, MEMORY, 0),
                    shared = table_scan_int_or(&scan, SHARED, 0);
            int64_t warps = table_scan_int_or(&scan, WARPS, 0);
            *VEC_PUSH(&nsys->head.devices) = (struct trace_device){
                .id = (int32_t)id,
                .name = keep(nsys, name, name ? len : 0),
                .total_memory = memory > 0 ? memory : 0,
                .compute_major = known_int(table_scan_int_or(&scan, MAJOR, 0)),
                .compute_minor = known_int(table_scan_int_or(&scan, MINOR, 0)),
                .sm_count = known_int(table_scan_int_or(&scan, SMS, 0)),
                .warp_size = warp,
                .max_threads_per_sm = warps > 0 && warps < 1024 ? (int)warps * warp : 0,
                .max_threads_per_block = known_int(table_scan_int_or(&scan, BLOCK, 0)),
                .regs_per_sm = known_int(table_scan_int_or(&scan, REGISTERS, 0)),
                .shared_memory_per_sm = shared > 0 ? shared : 0,
            };
            if (cuda >= 0)
                *VEC_PUSH(&nsys->devices) = (struct nsys_device){ -1, cuda, id };
        }
    table_scan_end(&scan);
}

/* 2020: the devices by CUDA's own number. */
static void read_old_gpus(struct nsys *nsys)
{
    enum { DEVICE, NAME, COLUMNS };
    static const char *const columns[COLUMNS] = { "deviceId", "name" };
    struct table_scan scan;
    if (nsys->head.devices.count == 0 &&
        table_scan_begin(nsys->db, &scan, "TARGET_INFO_CUDA_GPU", columns, COLUMNS)) {
        while (table_scan_next(&scan) && nsys->head.devices.count < 1024) {
            size_t len;
            const char *name = table_scan_text(&scan, NAME, &len);
            int64_t id = table_scan_int_or(&scan, DEVICE, -1);
            if (id < 0 || id > INT32_MAX || trace_file_device(&nsys->head, id))
                continue;
            *VEC_PUSH(&nsys->head.devices) =
                (struct trace_device){ .id = (int32_t)id, .name = keep(nsys, name, name ? len : 0) };
            *VEC_PUSH(&nsys->devices) = (struct nsys_device){ -1, id, id };
        }
        table_scan_end(&scan);
    }
}

/* The device numbers of GPUs in a process: CUDA_VISIBLE_DEVICES and CUDA's order of speed make them differ. */
static void read_ordinals(struct nsys *nsys)
{
    enum { GPU, CUDA, PID, COLUMNS };
    static const char *const columns[COLUMNS] = { "gpuId", "cudaId", "pid" };
    struct table_scan scan;
    if (table_scan_begin(nsys->db, &scan, "TARGET_INFO_CUDA_DEVICE", columns, COLUMNS))
        while (table_scan_next(&scan) && nsys->devices.count < 65536) {
            int64_t gpu, cuda, pid;
            if (table_scan_int(&scan, GPU, &gpu) && table_scan_int(&scan, CUDA, &cuda) &&
                table_scan_int(&scan, PID, &pid))
                *VEC_PUSH(&nsys->devices) = (struct nsys_device){ pid & 0xFFFFFF, cuda, gpu };
        }
    table_scan_end(&scan);
}

/* ---- the recording ---- */

static void read_clock(struct nsys *nsys)
{
    static const char *const columns[] = { "utcEpochNs" };
    struct table_scan scan;
    if (table_scan_begin(nsys->db, &scan, "TARGET_INFO_SESSION_START_TIME", columns, 1) &&
        table_scan_next(&scan))
        nsys->head.has_base = table_scan_int(&scan, 0, &nsys->head.base_ns);
    table_scan_end(&scan);
}

static void read_host(struct nsys *nsys)
{
    static const char *const columns[] = { "name", "value" };
    FOR_ROWS(scan, table_scan_begin(nsys->db, &scan, "TARGET_INFO_SYSTEM_ENV", columns, 2),
             !nsys->head.host_name) {
        size_t name_len, len;
        const char *name = table_scan_text(&scan, 0, &name_len), *value = table_scan_text(&scan, 1, &len);
        if (name && value && strcmp(name, "Hostname") == 0)
            nsys->head.host_name = keep(nsys, value, len);
    }
}

static void read_versions(struct nsys *nsys, const char *table)
{
    enum { NEWEST_SCHEMA = 3 }; /* the newest supported major number */
    static const char *const columns[] = { "name", "value" };
    FOR_ROWS(scan, table_scan_begin(nsys->db, &scan, table, columns, 2), true) {
        size_t name_len, len;
        const char *name = table_scan_text(&scan, 0, &name_len), *value = table_scan_text(&scan, 1, &len);
        if (!name || !value)
            continue;
        if (strcmp(name, "EXPORT_PRODUCT_VERSION") == 0)
            add_property(nsys, "Nsight Systems", value, len);
        if (strcmp(name, "EXPORT_SCHEMA_VERSION") != 0)
            continue;
        add_property(nsys, "export schema", value, len);
        if (strtol(value, NULL, 10) > NEWEST_SCHEMA)
            trace_builder_notice(
                nsys->builder, "newer_schema",
                "the schema of this export is newer than those that tpa knows; what has kept its "
                "name is read",
                1, TPA_NOWHERE);
    }
}

void nsys_read_facts(struct nsys *nsys)
{
    read_gpus(nsys);
    read_old_gpus(nsys);
    read_ordinals(nsys);
    read_clock(nsys);
    read_host(nsys);
    read_versions(nsys, "EXPORT_META_DATA");
    read_versions(nsys, "META_DATA_EXPORT");
}

void nsys_name_threads(struct nsys *nsys)
{
    enum { NAME, TID, COLUMNS };
    static const char *const columns[COLUMNS] = { "nameId", "globalTid" };
    FOR_ROWS(scan, table_scan_begin(nsys->db, &scan, "ThreadNames", columns, COLUMNS), true) {
        int64_t global = table_scan_int_or(&scan, TID, -1);
        const struct nsys_string *name = nsys_string(nsys, table_scan_int_or(&scan, NAME, -1));
        const struct nsys_thread *thread = name ? nsys_find_thread(nsys, global) : NULL;
        if (thread)
            recorder_name_thread(nsys->processes.at[thread->process].recorder, thread->track, name->text);
    }
}

/* ---- warnings of the recorder ---- */

/* Is warning TEXT about what is not read here, or about what the program itself did not do? */
static bool is_remark(const char *text)
{
    static const char *const parts[] = { "perf event paranoid", "Failed to load symbols", "OpenGL", "Vulkan",
                                         "events collected. Does the process use" };
    return ANY(i, sizeof parts / sizeof *parts, strstr(text, parts[i]));
}

static void describe_diagnostics(struct nsys *nsys)
{
    enum { SEVERITY, TEXT, COLUMNS, WARNING = 2, MOST = 8 };
    static const char *const columns[COLUMNS] = { "severity", "text" };
    uint64_t reported = 0, more = 0;
    FOR_ROWS(scan, table_scan_begin(nsys->db, &scan, "DIAGNOSTIC_EVENT", columns, COLUMNS), true) {
        size_t len;
        const char *text = table_scan_text(&scan, TEXT, &len);
        if (!text || table_scan_int_or(&scan, SEVERITY, 0) < WARNING)
            continue;
        if (strncmp(text, "Not all CUDA events", strlen("Not all CUDA events")) == 0) {
            trace_builder_lacks(nsys->builder, LACK_DROPPED_UNKNOWN,
                                "Nsight Systems warned that it may not have all events of CUDA", 1,
                                TPA_NOWHERE);
            continue;
        }
        bool remark = is_remark(text);
        if (!remark && reported++ >= MOST) {
            more++;
            continue;
        }
        /* Warnings are one sentence or a page: the first lines are the essential part. */
        size_t kept = len < 300 ? len : 300;
        while (kept < len && kept > 0 && ((unsigned char)text[kept] & 0xC0) == 0x80)
            kept--;
        char *line = arena_printf(&nsys->arena, "Nsight Systems warned: %.*s%s", (int)kept, text,
                                  kept < len ? " ..." : "");
        for (char *at = line; *at; at++)
            *at = *at == '\n' || *at == '\r' || *at == '\t' ? ' ' : *at;
        trace_builder_tell(nsys->builder, remark ? "recorder_remark" : "recorder_warning", line, 1);
    }
    if (more)
        trace_builder_tell(nsys->builder, "recorder_warning",
                           "Nsight Systems warned of more, which is in its table "
                           "DIAGNOSTIC_EVENT",
                           more);
}

/* Tables with events that no analysis uses. */
static void describe_not_read(struct nsys *nsys)
{
    static const struct {
        const char *table, *what;
    } known[] = {
        { "SCHED_EVENTS", "scheduling" },
        { "COMPOSITE_EVENTS", "CPU samples" },
        { "GPU_CONTEXT_SWITCH_EVENTS", "context switches of the GPU" },
        { "VULKAN_API", "Vulkan" },
        { "OPENGL_API", "OpenGL" },
        { "NET_NIC_METRIC", "network counters" },
    };
    static const char *const columns[] = { "start", "timestamp", "globalPid", "globalTid" };
    SCOPED struct buffer text = { 0 };
    struct table_scan scan;
    uint64_t count = 0;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (table_scan_begin(nsys->db, &scan, known[i].table, columns, 4) && table_scan_next(&scan)) {
            buffer_printf(&text, "%s%s", count ? ", " : "", known[i].what);
            count++;
        }
        table_scan_end(&scan);
    }
    if (count) {
        const char *line =
            arena_printf(&nsys->arena, "this export also holds what tpa does not read: %s", text.at);
        trace_builder_notice(nsys->builder, "not_read", keep(nsys, line, strlen(line)), count, TPA_NOWHERE);
    }
}

static void facts_describe(struct nsys *nsys, const char *kind, const char *text, uint64_t count)
{
    if (count)
        trace_builder_notice(nsys->builder, kind, text, count, TPA_NOWHERE);
}

void nsys_describe_facts(struct nsys *nsys)
{
    facts_describe(nsys, lack_word(LACK_DANGLING_NAMES), "names of events are missing in the table StringIds",
                   nsys->dangling);
    if (nsys->failed_calls) {
        const char *line = arena_printf(
            &nsys->arena, "CUDA calls returned an error; the first was %.80s, which returned %" PRId64,
            nsys->first_failed, nsys->first_failed_result);
        facts_describe(nsys, "failed_calls", keep(nsys, line, strlen(line)), nsys->failed_calls);
    }
    if (nsys->processes.count > 1)
        facts_describe(
            nsys, "unknown_gpus",
            "the export does not record which GPU this work ran on, only each process's number of it: GPUs of "
            "different processes are kept apart, though some may be the same",
            nsys->unknown_devices);
    facts_describe(
        nsys, "graph_traces",
        "CUDA graphs were recorded as a whole (--cuda-graph-trace=graph): their kernels are not recorded",
        nsys->graph_traces);
    describe_diagnostics(nsys);
    describe_not_read(nsys);
}
