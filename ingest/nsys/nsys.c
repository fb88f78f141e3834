/*
 * nsys.c - see nsys.h: processes, threads and names, and the order in which the tables are read.
 *
 * The builder needs files one after the other, but the tables mix processes. So the first process with GPU work or
 * calls is passed on while reading; others wait in their recorders until the end. Most exports have one.
 */
#include "ingest/nsys/nsys.h"
#include "base/search.h"
#include "base/rows.h"

#include <ctype.h>
#include <inttypes.h>

/* ---- strings ---- */

static const struct key strings_by_id[] = { ASC(struct nsys_string, id), KEY_END };

static void read_strings(struct nsys *nsys)
{
    static const char *const columns[] = { "id", "value" };
    int64_t least = 0, most = -1;
    FOR_ROWS(scan, table_scan_begin(nsys->db, &scan, "StringIds", columns, 2), true) {
        int64_t id;
        size_t len;
        const char *text = table_scan_text(&scan, 1, &len);
        if (!table_scan_int(&scan, 0, &id) || !text || len > UINT32_MAX)
            continue;
        const char *kept = arena_strndup(&nsys->arena, text, len);
        *VEC_PUSH(&nsys->strings) =
            (struct nsys_string){ id, kept, (uint32_t)len, len < 64 && recorder_is_memory_call(kept) };
        least = id < least ? id : least;
        most = id > most ? id : most;
    }
    if (least < 0 || most < 0 || (uint64_t)most > 8 * (uint64_t)nsys->strings.count + 4096) {
        SORT(&nsys->strings, strings_by_id);
        return;
    }
    nsys->string_ids = most + 1;
    nsys->string_at = mem_zalloc((size_t)nsys->string_ids, sizeof *nsys->string_at);
    for (size_t i = nsys->strings.count; i-- > 0;) /* of duplicate ids the first counts */
        nsys->string_at[nsys->strings.at[i].id] = (uint32_t)(i + 1);
}

const struct nsys_string *nsys_string(const struct nsys *nsys, int64_t id)
{
    if (nsys->string_at) {
        uint32_t place = id >= 0 && id < nsys->string_ids ? nsys->string_at[id] : 0;
        return place ? &nsys->strings.at[place - 1] : NULL;
    }
    size_t i = PLACE(k, nsys->strings.count, nsys->strings.at[k].id < id);
    return i < nsys->strings.count && nsys->strings.at[i].id == id ? &nsys->strings.at[i] : NULL;
}

/* Length of a call's name without the version of its interface: cudaLaunchKernel_v7000. But cuMemAlloc_v2 stays. */
static size_t call_length(const char *text, size_t len)
{
    size_t digits = len;
    while (digits > 0 && isdigit((unsigned char)text[digits - 1]))
        digits--;
    bool versioned = len - digits >= 4 && digits > 2 && memcmp(text + digits - 2, "_v", 2) == 0;
    return versioned ? digits - 2 : len;
}

name_id nsys_name(struct nsys *nsys, struct nsys_process *process, int64_t id, bool call)
{
    const struct nsys_string *string = nsys_string(nsys, id);
    if (!string) {
        char text[48];
        int len = snprintf(text, sizeof text, "[name %" PRId64 " is missing]", id);
        nsys->dangling++;
        return recorder_name(process->recorder, text, (size_t)len);
    }
    size_t place = (size_t)(string - nsys->strings.at);
    while (process->names.count < nsys->strings.count) {
        *VEC_PUSH(&process->names) = NAME_NONE;
        *VEC_PUSH(&process->calls) = NAME_NONE;
    }
    name_id *known = call ? &process->calls.at[place] : &process->names.at[place];
    if (*known == NAME_NONE)
        *known = recorder_name(process->recorder, string->text,
                               call ? call_length(string->text, string->len) : string->len);
    return *known;
}

/* ---- processes and threads ---- */

/* The name of the process in PROCESSES; NULL if there is none. */
static char *process_name(struct nsys *nsys, int64_t global)
{
    static const char *const columns[] = { "globalPid", "name" };
    char *name = NULL;
    FOR_ROWS(scan, table_scan_begin(nsys->db, &scan, "PROCESSES", columns, 2), !name) {
        int64_t found;
        size_t len;
        const char *text = table_scan_text(&scan, 1, &len);
        if (text && len && table_scan_int(&scan, 0, &found) && found == global)
            name = mem_strndup(text, len);
    }
    return name;
}

struct nsys_process *nsys_process_of(struct nsys *nsys, int64_t global, bool create)
{
    global &= ~INT64_C(0xFFFFFF);
    for (size_t tried = 0; tried < nsys->processes.count; tried++) {
        size_t i = (nsys->last_process + tried) % nsys->processes.count;
        if (nsys->processes.at[i].global == global) {
            nsys->last_process = i;
            return &nsys->processes.at[i];
        }
    }
    /* Limit on processes, for damaged files with random numbers. */
    enum { MOST_PROCESSES = 1024 };
    if (nsys->processes.count && (!create || nsys->processes.count >= MOST_PROCESSES))
        return &nsys->processes.at[0];
    char *name = process_name(nsys, global);
    struct nsys_process *process = VEC_PUSH(&nsys->processes);
    *process = (struct nsys_process){ .global = global,
                                      .recorder = recorder_open(nsys->builder, nsys_pid(global), name) };
    memset(process->copies, 0xff, sizeof process->copies); /* NAME_NONE */
    memset(process->sets, 0xff, sizeof process->sets);
    free(name);
    FOR_EACH(device, &nsys->head.devices)
        recorder_device(process->recorder, device->id, device->sm_count, device->warp_size);
    nsys->last_process = nsys->processes.count - 1;
    return process;
}

static size_t thread_hash(const struct nsys *nsys, int64_t global)
{
    return (uint64_t)global * UINT64_C(0x9E3779B97F4A7C15) >> 24 & (nsys->threads.count - 1);
}

static void add_thread(struct nsys *nsys, const struct nsys_thread *thread)
{
    size_t i = thread_hash(nsys, thread->global);
    while (nsys->threads.at[i].track != TRACK_NONE)
        i = (i + 1) & (nsys->threads.count - 1);
    nsys->threads.at[i] = *thread;
    nsys->last_thread = i;
}

static void grow_threads(struct nsys *nsys)
{
    struct nsys_thread *old = nsys->threads.at;
    size_t count = nsys->threads.count;
    nsys->threads.count = nsys->threads.capacity = count ? 2 * count : 256;
    nsys->threads.at = mem_alloc(mem_times(nsys->threads.count, sizeof *old));
    for (size_t i = 0; i < nsys->threads.count; i++)
        nsys->threads.at[i].track = TRACK_NONE;
    for (size_t i = 0; i < count; i++)
        if (old[i].track != TRACK_NONE)
            add_thread(nsys, &old[i]);
    free(old);
}

const struct nsys_thread *nsys_find_thread(struct nsys *nsys, int64_t global)
{
    if (2 * nsys->thread_count >= nsys->threads.count)
        grow_threads(nsys);
    size_t i = nsys->last_thread;
    if (nsys->threads.at[i].track == TRACK_NONE || nsys->threads.at[i].global != global)
        i = thread_hash(nsys, global);
    while (nsys->threads.at[i].track != TRACK_NONE && nsys->threads.at[i].global != global)
        i = (i + 1) & (nsys->threads.count - 1);
    nsys->last_thread = i;
    return nsys->threads.at[i].track != TRACK_NONE ? &nsys->threads.at[i] : NULL;
}

track_id nsys_thread_of(struct nsys *nsys, int64_t global, bool create, struct nsys_process **process)
{
    const struct nsys_thread *known = nsys_find_thread(nsys, global);
    if (known) {
        *process = &nsys->processes.at[known->process];
        return known->track;
    }
    *process = nsys_process_of(nsys, global, create);
    track_id track = recorder_thread_of((*process)->recorder, nsys_pid(global), nsys_tid(global));
    nsys->thread_count++;
    add_thread(nsys, &(struct nsys_thread){ global, (size_t)(*process - nsys->processes.at), track });
    return track;
}

int64_t nsys_gpu_of(struct nsys *nsys, const struct nsys_process *process, int64_t ordinal)
{
    int64_t pid = nsys_pid(process->global);
    for (int exact = 1; exact >= 0; exact--)
        FOR_EACH(device, &nsys->devices)
            if (device->ordinal == ordinal && device->pid == (exact ? pid : -1))
                return device->gpu;
    nsys->unknown_devices++;
    return ordinal;
}

bool nsys_flush(struct nsys *nsys, struct tpa_error *err)
{
    struct recorder *first = nsys->processes.count ? nsys->processes.at[0].recorder : NULL;
    return !first || recorder_flush(first, err);
}

/* Copy the common properties of the export to the file begun last. */
static void fill_file(struct nsys *nsys)
{
    struct trace_file *file = trace_builder_current_file(nsys->builder);
    const struct trace_file *head = &nsys->head;
    file->producer = PRODUCER_NSYS;
    file->packing = head->packing;
    file->packed_size = head->packed_size;
    file->size = head->size;
    file->has_base = head->has_base;
    file->base_ns = head->base_ns;
    file->host_name = head->host_name;
    for (size_t i = 0; i < head->devices.count; i++)
        *VEC_PUSH(&file->devices) = head->devices.at[i];
    for (size_t i = 0; i < head->properties.count; i++)
        *VEC_PUSH(&file->properties) = head->properties.at[i];
}

/* Pass on all waiting events, process by process. */
static bool append_all(struct nsys *nsys, const char *path, struct tpa_error *err)
{
    bool ok = true;
    for (size_t i = 0; i < nsys->processes.count && ok; i++) {
        struct recorder *recorder = nsys->processes.at[i].recorder;
        if (i > 0) {
            trace_builder_file(nsys->builder, path, "Nsight Systems SQLite");
            fill_file(nsys);
        }
        recorder_finish(recorder);
        ok = recorder_append(recorder, err);
        recorder_describe(recorder);
    }
    return ok;
}

static void release(struct nsys *nsys)
{
    for (size_t i = 0; i < nsys->processes.count; i++) {
        recorder_free(nsys->processes.at[i].recorder);
        EACH(VEC_FREE, &nsys->processes.at[i].names, &nsys->processes.at[i].calls,
             &nsys->processes.at[i].contexts);
    }
    EACH(VEC_FREE, &nsys->processes, &nsys->devices, &nsys->threads, &nsys->strings, &nsys->head.devices,
         &nsys->head.properties);
    free(nsys->string_at);
    arena_release(&nsys->arena);
}

bool nsys_is_one(const struct database *db)
{
    static const char *const tables[] = { "META_DATA_EXPORT",
                                          "EXPORT_META_DATA",
                                          "CUPTI_ACTIVITY_KIND_KERNEL",
                                          "CUPTI_ACTIVITY_KIND_RUNTIME",
                                          "NVTX_EVENTS",
                                          "OSRT_API",
                                          "TARGET_INFO_SESSION_START_TIME" };
    if (database_has(db, "StringTable")) /* nvprof's */
        return false;
    return ANY(i, sizeof tables / sizeof *tables, database_has(db, tables[i]));
}

bool nsys_read(struct database *db, struct source *source, struct trace_builder *builder,
               const struct ingest_options *options, struct tpa_error *err)
{
    struct nsys nsys = { .db = db, .builder = builder };
    nsys.head.packing = source_packing(source);
    nsys.head.packed_size = source_packed_size(source);
    nsys.head.size = database_size(db);
    trace_builder_current_file(builder)->format = "Nsight Systems SQLite";
    read_strings(&nsys);
    nsys_read_facts(&nsys);
    fill_file(&nsys);
    bool ok = nsys_read_work(&nsys, err) && nsys_read_calls(&nsys, err) && nsys_read_ranges(&nsys, err);
    if (ok) {
        if (options->wants.counters)
            nsys_read_counters(&nsys);
        nsys_name_threads(&nsys);
        nsys_describe_facts(&nsys);
        database_notice(db, builder);
        ok = append_all(&nsys, source_name(source), err);
    }
    release(&nsys);
    return ok;
}
