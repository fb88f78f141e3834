/* Events are distributed to their devices by counting sort, then each device's are sorted by start. A profiler writes a
 * device's work buffer after buffer, so that it is nearly sorted already. */
#include "derive/gpu_events.h"

#include "base/rows.h"
#include "base/search.h"
#include "base/runs.h"
#include "trace/arg_scan.h"
#include "derive/communication.h"
#include "derive/device_types.h"
#include "trace/derived.h"

static const struct key by_file_id[] = { ASC(struct gpu_device, file), ASC(struct gpu_device, id), KEY_END };

/* The properties of each device are those of its number. A file that describes a single device, and has work of a single one, is about one
 * device, whatever their numbers: ROCm numbers properties among the devices that the process sees, and work among all of the machine. */
static void find_properties(struct gpu_events *gpu)
{
    FOR_EACH_OF(device, gpu->devices, gpu->device_count) {
        const struct trace_file *file = &gpu->trace->files[device->file];
        size_t d = (size_t)(device - gpu->devices);
        bool is_alone = (d == 0 || device[-1].file != device->file) &&
                        (d + 1 == gpu->device_count || device[1].file != device->file);
        device->properties = trace_file_device(file, device->id);
        if (!device->properties && is_alone && file->devices.count == 1)
            device->properties = &file->devices.at[0];
    }
}

/* Fill in the devices, given the number of operations of each track; sets device->count. */
static void find_devices(struct gpu_events *gpu, const uint32_t *work_on_track)
{
    const struct trace *trace = gpu->trace;
    gpu->devices = mem_zalloc(trace->track_count + 1, sizeof *gpu->devices);
    size_t count = 0;
    for (track_id t = 0; t < trace->track_count; t++)
        if (work_on_track[t])
            gpu->devices[count++] =
                (struct gpu_device){ .file = trace->tracks[t].file, .id = trace->tracks[t].device };
    SORT_ARRAY(gpu->devices, count, by_file_id);
    gpu->device_count = rows_unique(gpu->devices, count, sizeof *gpu->devices, by_file_id);

    gpu->device_of_track = mem_alloc(mem_times(trace->track_count + 1, sizeof *gpu->device_of_track));
    for (track_id t = 0; t < trace->track_count; t++) {
        gpu->device_of_track[t] = UINT32_MAX;
        if (!work_on_track[t])
            continue;
        struct gpu_device key = { .file = trace->tracks[t].file, .id = trace->tracks[t].device };
        struct gpu_device *device = rows_find(gpu->devices, gpu->device_count, sizeof key, by_file_id, &key);
        device->count += work_on_track[t];
        device->stream_count++;
        gpu->device_of_track[t] = (uint32_t)(device - gpu->devices);
    }
    size_t first = 0;
    for (size_t d = 0; d < gpu->device_count; d++) {
        gpu->devices[d].first = first;
        first += gpu->devices[d].count;
    }
    find_properties(gpu);
}

static bool gpu_events_starts_after(const void *context, const void *a, const void *b)
{
    const struct trace *trace = context;
    return trace_start_ns(trace, *(const event_id *)a) > trace_start_ns(trace, *(const event_id *)b);
}

/* ---- kinds of work ---- */

enum name_facts {
    NAME_CHECKED = 1,
    NAME_NCCL = 2,
    NAME_COMMUNICATES = 4,
    OPERATOR_CHECKED = 8,
    OPERATOR_COMMUNICATES = 16
};

static unsigned kernel_facts(uint8_t *facts, const struct names *names, name_id id)
{
    if (!(facts[id] & NAME_CHECKED)) {
        const char *name = names_text(names, id);
        facts[id] |= NAME_CHECKED;
        facts[id] |= kernel_is_nccl(name) ? NAME_NCCL : 0;
        facts[id] |= kernel_is_communication(name) ? NAME_COMMUNICATES : 0;
    }
    return facts[id];
}

static bool operator_communicates(uint8_t *facts, const struct names *names, name_id id)
{
    if (!(facts[id] & OPERATOR_CHECKED)) {
        facts[id] |= OPERATOR_CHECKED;
        facts[id] |= operator_is_communication(names_text(names, id)) ? OPERATOR_COMMUNICATES : 0;
    }
    return facts[id] & OPERATOR_COMMUNICATES;
}

/* The kind of work of E, a kernel. OP is the operator that launched it; COLLECTIVE: it has the arguments of one. */
static enum gpu_work work_of_kernel(const struct trace *trace, uint8_t *facts, event_id e, event_id op,
                                    bool collective)
{
    unsigned name = kernel_facts(facts, trace->names, trace->name[e]);
    if (name & NAME_NCCL)
        return GPU_NCCL;
    bool communicates = name & NAME_COMMUNICATES || collective ||
                        (op != EVENT_NONE && operator_communicates(facts, trace->names, trace->name[op]));
    return communicates ? GPU_COMMUNICATION : GPU_COMPUTATION;
}

/* Fill in calls, operators and kinds of work. */
static void link_work(struct gpu_events *gpu, const struct attribution *launches)
{
    const struct trace *trace = gpu->trace;
    SCOPED uint8_t *facts = mem_zalloc(names_count(trace->names) + 1, 1);
    struct arg_scan correlations = arg_scan_of(trace, ARG_CORRELATION),
                    ids = arg_scan_of(trace, ARG_EXTERNAL_ID),
                    collectives = arg_scan_of(trace, ARG_COLLECTIVE);
    for (size_t i = 0; i < gpu->count; i++) {
        event_id e = gpu->event[i];
        int64_t id_value, correlation_value, unused;
        const int64_t *id = arg_scan_get(&ids, e, &id_value) ? &id_value : NULL;
        const int64_t *correlation =
            arg_scan_get(&correlations, e, &correlation_value) ? &correlation_value : NULL;
        gpu->call[i] = gpu->op[i] = EVENT_NONE;
        if (launches)
            attribution_find(launches, e, id, correlation, &gpu->call[i], &gpu->op[i]);
        gpu->work[i] =
            trace->kind[e] == EVENT_MEMCPY ? GPU_MEMCPY
            : trace->kind[e] == EVENT_MEMSET
                ? GPU_MEMSET
                : work_of_kernel(trace, facts, e, gpu->op[i], arg_scan_get(&collectives, e, &unused));
    }
}

static void *gpu_events_derive(const struct trace *trace)
{
    struct gpu_events *gpu = arena_open(sizeof *gpu);
    ARENA_OWNS(arena_of(gpu), &gpu->devices, &gpu->event, &gpu->work, &gpu->call, &gpu->op,
               &gpu->device_of_track);
    gpu->trace = trace;
    uint32_t *work_on_track = mem_zalloc(trace->track_count + 1, sizeof *work_on_track);
    for (event_id e = 0; e < trace->event_count; e++)
        if (event_is_gpu_work(trace->kind[e])) {
            work_on_track[trace->track[e]]++;
            gpu->count++;
        }
    find_devices(gpu, work_on_track);
    free(work_on_track);

    gpu->event = mem_alloc(mem_times(gpu->count + 1, sizeof *gpu->event));
    size_t *next = mem_alloc(mem_times(gpu->device_count + 1, sizeof *next));
    for (size_t d = 0; d < gpu->device_count; d++)
        next[d] = gpu->devices[d].first;
    for (event_id e = 0; e < trace->event_count; e++)
        if (event_is_gpu_work(trace->kind[e]))
            gpu->event[next[gpu->device_of_track[trace->track[e]]]++] = e;
    free(next);
    for (size_t d = 0; d < gpu->device_count; d++)
        runs_sort(gpu->event + gpu->devices[d].first, gpu->devices[d].count, sizeof *gpu->event,
                  gpu_events_starts_after, trace);

    gpu->work = mem_alloc(gpu->count + 1);
    gpu->call = mem_alloc(mem_times(gpu->count + 1, sizeof *gpu->call));
    gpu->op = mem_alloc(mem_times(gpu->count + 1, sizeof *gpu->op));
    link_work(gpu, attribution_of(trace));
    return gpu;
}

DERIVED(gpu_events, gpu_events_of, gpu_events_derive);

size_t gpu_first_device(const struct gpu_events *gpu, uint32_t file)
{
    return PLACE(i, gpu->device_count, gpu->devices[i].file < file);
}

/* ---- streams ---- */

struct gpu_streams *gpu_streams_open(const struct gpu_events *gpu)
{
    const struct trace *trace = gpu->trace;
    struct gpu_streams *streams = arena_open(sizeof *streams);
    ARENA_OWNS(arena_of(streams), &streams->at, &streams->position);
    SCOPED uint32_t *stream_of =
        mem_alloc(mem_times(trace->track_count + 1, sizeof *stream_of)); /* by track */
    SCOPED uint32_t *next =
        mem_zalloc(gpu->device_count + 1, sizeof *next); /* by device: place of its next stream */
    for (size_t d = 0; d < gpu->device_count; d++)
        next[d + 1] = next[d] + gpu->devices[d].stream_count;
    streams->at = mem_zalloc((size_t)next[gpu->device_count] + 1, sizeof *streams->at);
    streams->count = next[gpu->device_count];
    for (track_id t = 0; t < trace->track_count; t++) {
        uint32_t device = gpu->device_of_track[t];
        if (device == UINT32_MAX)
            continue;
        stream_of[t] = next[device]++;
        streams->at[stream_of[t]] = (struct gpu_stream){ .device = device, .track = t };
    }
    for (size_t i = 0; i < gpu->count; i++)
        streams->at[stream_of[trace->track[gpu->event[i]]]].count++;
    for (size_t s = 1; s < streams->count; s++)
        streams->at[s].first = streams->at[s - 1].first + streams->at[s - 1].count;
    SCOPED size_t *filled = mem_zalloc(streams->count + 1, sizeof *filled);
    streams->position = mem_alloc(mem_times(gpu->count + 1, sizeof *streams->position));
    for (size_t i = 0; i < gpu->count; i++) {
        uint32_t stream = stream_of[trace->track[gpu->event[i]]];
        streams->position[streams->at[stream].first + filled[stream]++] = (uint32_t)i;
    }
    return streams;
}

static void *gpu_streams_derive(const struct trace *trace)
{
    return gpu_streams_open(gpu_events_of(trace));
}

DERIVED(gpu_streams, gpu_streams_of, gpu_streams_derive);

const char *trace_device_word(const struct trace *trace)
{
    const struct gpu_events *gpu = gpu_events_of(trace);
    return device_type_word(gpu->count ? event_device_type(trace, device_types_of(trace), gpu->event[0])
                                       : DEVICE_TYPE_CUDA);
}
