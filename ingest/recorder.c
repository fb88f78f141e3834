/* Categories, names of tracks and arguments are those of libkineto's Chrome traces. */
#include "ingest/recorder.h"
#include "base/rows.h"

#include <inttypes.h>
#include <math.h>

static const char *const category_words[RECORDER_KINDS] = {
    [RECORDER_KERNEL] = "kernel",
    [RECORDER_MEMCPY] = "gpu_memcpy",
    [RECORDER_MEMSET] = "gpu_memset",
    [RECORDER_SYNC] = "cuda_sync",
    [RECORDER_RUNTIME] = "cuda_runtime",
    [RECORDER_DRIVER] = "cuda_driver",
    [RECORDER_HIP] = "hip_runtime",
    [RECORDER_HSA] = "hsa_driver",
    [RECORDER_OVERHEAD] = "overhead",
    [RECORDER_OPERATOR] = "cpu_op",
    [RECORDER_ANNOTATION] = "user_annotation",
    [RECORDER_ANNOTATION_ACROSS] = "user_annotation_across_threads",
    [RECORDER_INSTANT] = "cpu_instant_event",
    [RECORDER_SYSTEM] = "os_runtime_call",
    [RECORDER_LIBRARY] = "library_call",
    [RECORDER_PYTHON] = "python_function",
    [RECORDER_CANN] = "cann_runtime",
    [RECORDER_TASK_QUEUE] = "npu_queue_runtime",
    [RECORDER_LEVEL_ZERO] = "xpu_runtime",
    [RECORDER_GPU_OTHER] = "gpu_other",
    [RECORDER_GPU_ANNOTATION] = "gpu_user_annotation",
};

/* c10::DeviceType; and derive/device_types.h for NPUs, which are to torch a private backend like any other. */
enum { TYPE_HOST = 0, TYPE_CUDA = 1, TYPE_HIP = 6, TYPE_NPU = 100 };

/* "[x,y,z]" of the last few triples, by a hash of the numbers. */
enum { TRIPLES = 256 };
struct triple {
    int64_t x, y, z;
    name_id id;
};

/* Tracks of the last few streams and threads, by a hash of their numbers. */
enum { KNOWN_TRACKS = 64 };
struct known_track {
    int64_t of, number; /* device and stream, process and thread */
    track_id track;     /* TRACK_NONE: none yet */
};

struct recorder_device_facts {
    int64_t device, multiprocessors, warp_size;
};

struct memory_call {
    int64_t correlation, tid;
};

/* Memory in use: a block, or the total of a kind on a device. */
struct memory_block {
    int64_t device, address, bytes;
};
struct memory_usage {
    int64_t device, memory_kind, in_use;
};

struct recorder {
    struct trace_builder *builder;
    struct trace_chunk *chunk;
    int64_t pid;
    char *name;
    const char *device_word;
    int64_t first_tid;
    uint16_t categories[RECORDER_KINDS]; /* UINT16_MAX: not requested yet */
    struct triple triples[TRIPLES];
    VEC_OF(track_id) named; /* by track: 1 if its process was named */
    struct known_track streams[KNOWN_TRACKS], threads[KNOWN_TRACKS];
    VEC_OF(struct recorder_device_facts) devices;
    VEC_OF(struct recorder_memory) memory;
    VEC_OF(struct memory_call) memory_calls;
    uint64_t no_time, not_timed, backwards, unknown_releases;
};

struct recorder *recorder_open(struct trace_builder *builder, int64_t pid, const char *name)
{
    struct recorder *recorder = mem_zalloc(1, sizeof *recorder);
    recorder->builder = builder;
    recorder->chunk = trace_chunk_open(builder);
    recorder->pid = pid;
    recorder->name = name ? mem_strdup(name) : NULL;
    recorder->device_word = "GPU";
    recorder->first_tid = RECORDER_NONE;
    for (size_t i = 0; i < KNOWN_TRACKS; i++)
        recorder->streams[i].track = recorder->threads[i].track = TRACK_NONE;
    for (size_t i = 0; i < RECORDER_KINDS; i++)
        recorder->categories[i] = UINT16_MAX;
    for (size_t i = 0; i < TRIPLES; i++)
        recorder->triples[i].id = NAME_NONE;
    return recorder;
}

void recorder_free(struct recorder *recorder)
{
    if (!recorder)
        return;
    trace_chunk_free(recorder->chunk);
    EACH(VEC_FREE, &recorder->named, &recorder->devices, &recorder->memory, &recorder->memory_calls);
    EACH(free, recorder->name, recorder);
}

void recorder_call_devices(struct recorder *recorder, const char *word)
{
    recorder->device_word = word;
}

int64_t recorder_pid(const struct recorder *recorder)
{
    return recorder->pid;
}

struct trace_chunk *recorder_chunk(struct recorder *recorder)
{
    return recorder->chunk;
}

bool recorder_append(struct recorder *recorder, struct tpa_error *err)
{
    return trace_builder_append(recorder->builder, recorder->chunk, err);
}

bool recorder_flush(struct recorder *recorder, struct tpa_error *err)
{
    enum { FLUSH_EVENTS = 32768 };
    return trace_chunk_count_events(recorder->chunk) < FLUSH_EVENTS || recorder_append(recorder, err);
}

static void tell(const struct recorder *recorder, const char *kind, const char *text, uint64_t count)
{
    if (count)
        trace_builder_notice(recorder->builder, kind, text, count, TPA_NOWHERE);
}

void recorder_describe(const struct recorder *recorder)
{
    tell(recorder, "no_time", "records have no start, or one beyond 73 years, and were left out",
         recorder->no_time);
    tell(recorder, "not_timed",
         "kernels, copies or sets were not timed by the profiler (their times are 0), and were left out",
         recorder->not_timed);
    tell(recorder, lack_word(LACK_NEGATIVE_DURATION),
         "records end before they begin; their durations are taken as 0", recorder->backwards);
    tell(recorder, "unknown_release",
         "releases of memory whose allocation was not recorded do not say how much",
         recorder->unknown_releases);
}

bool recorder_wants(const struct recorder *recorder, enum trace_arg arg)
{
    return trace_builder_wants(recorder->builder, arg);
}

name_id recorder_name(struct recorder *recorder, const char *text, size_t len)
{
    return trace_chunk_name(recorder->chunk, text, len);
}

const char *recorder_name_text(const struct recorder *recorder, name_id name)
{
    return trace_chunk_name_text(recorder->chunk, name);
}

name_id recorder_text(struct recorder *recorder, const char *text)
{
    return trace_chunk_text(recorder->chunk, text, strlen(text));
}

/* ---- tracks ---- */

/* Is TRACK used for the first time? */
static bool is_new(struct recorder *recorder, track_id track)
{
    while (recorder->named.count <= track)
        *VEC_PUSH(&recorder->named) = 0;
    bool first = recorder->named.at[track] == 0;
    recorder->named.at[track] = 1;
    return first;
}

/* Where the track is remembered: it has TRACK_NONE if another one was there. */
static struct known_track *known_track(struct known_track *tracks, int64_t of, int64_t number)
{
    struct known_track *known =
        &tracks[((uint64_t)of * 31 + (uint64_t)number) * UINT64_C(0x9E3779B97F4A7C15) >> 58];
    if (known->of != of || known->number != number)
        *known = (struct known_track){ of, number, TRACK_NONE };
    return known;
}

static void name_process(struct recorder *recorder, track_id track)
{
    if (recorder->name)
        trace_chunk_fact(recorder->chunk, track, FACT_PROCESS_NAME, 0,
                         recorder_text(recorder, recorder->name));
}

track_id recorder_thread_of(struct recorder *recorder, int64_t pid, int64_t tid)
{
    struct known_track *known = known_track(recorder->threads, pid, tid);
    if (known->track != TRACK_NONE)
        return known->track;
    known->track = trace_chunk_track(recorder->chunk, &(struct track_key){ .pid = pid, .tid = tid });
    if (is_new(recorder, known->track) && pid == recorder->pid)
        name_process(recorder, known->track);
    if (recorder->first_tid == RECORDER_NONE && pid == recorder->pid)
        recorder->first_tid = tid;
    return known->track;
}

track_id recorder_thread(struct recorder *recorder, int64_t tid)
{
    return recorder_thread_of(recorder, recorder->pid, tid);
}

track_id recorder_stream(struct recorder *recorder, int64_t device, int64_t stream)
{
    device = device == RECORDER_NONE ? 0 : device;
    stream = stream == RECORDER_NONE ? -1 : stream;
    struct known_track *known = known_track(recorder->streams, device, stream);
    if (known->track != TRACK_NONE)
        return known->track;
    /* The device number may coincide with that of the process or of a thread. */
    char pid_text[40], tid_text[40];
    int pid_len = snprintf(pid_text, sizeof pid_text, "%s %" PRId64, recorder->device_word, device);
    int tid_len = snprintf(tid_text, sizeof tid_text, "stream %" PRId64, stream);
    track_id track = trace_chunk_track(
        recorder->chunk,
        &(struct track_key){ .pid_text = pid_text, .pid_len = (size_t)pid_len, .tid = stream });
    if (is_new(recorder, track)) {
        name_process(recorder, track);
        trace_chunk_fact(recorder->chunk, track, FACT_PROCESS_LABELS, 0, recorder_text(recorder, pid_text));
        if (stream >= 0)
            trace_chunk_fact(recorder->chunk, track, FACT_THREAD_NAME, 0,
                             trace_chunk_text(recorder->chunk, tid_text, (size_t)tid_len));
    }
    return known->track = track;
}

void recorder_name_thread(struct recorder *recorder, track_id thread, const char *name)
{
    trace_chunk_fact(recorder->chunk, thread, FACT_THREAD_NAME, 0, recorder_text(recorder, name));
}

void recorder_device(struct recorder *recorder, int64_t device, int64_t multiprocessors, int64_t warp_size)
{
    *VEC_PUSH(&recorder->devices) = (struct recorder_device_facts){ device, multiprocessors, warp_size };
}

/* ---- events ---- */

static uint16_t category_of(struct recorder *recorder, enum recorder_kind kind)
{
    if (recorder->categories[kind] == UINT16_MAX)
        recorder->categories[kind] =
            trace_chunk_category(recorder->chunk, category_words[kind], strlen(category_words[kind]));
    return recorder->categories[kind];
}

static bool is_moment(int64_t ns)
{
    return ns >= -TRACE_LATEST_NS && ns <= TRACE_LATEST_NS;
}

bool recorder_event(struct recorder *recorder, enum recorder_kind kind, track_id track, name_id name,
                    int64_t start_ns, int64_t end_ns, unsigned flags)
{
    if (!is_moment(start_ns)) {
        recorder->no_time++;
        return false;
    }
    bool is_point = flags & EVENT_POINT;
    bool known = is_point || (is_moment(end_ns) && end_ns >= start_ns);
    if (!known) {
        flags |= EVENT_NO_DURATION;
        recorder->backwards += is_moment(end_ns);
    }
    trace_chunk_event(recorder->chunk, &(struct chunk_event){
                                           .phase = is_point ? 'i' : 'X',
                                           .start_ns = start_ns,
                                           .dur_ns = known && !is_point ? end_ns - start_ns : 0,
                                           .name = name,
                                           .track = track,
                                           .category = category_of(recorder, kind),
                                           .flags = (uint8_t)flags,
                                       });
    return true;
}

void recorder_arg(struct recorder *recorder, enum trace_arg arg, int64_t value)
{
    if (value != RECORDER_NONE)
        trace_chunk_arg(recorder->chunk, arg, value);
}

static name_id triple_of(struct recorder *recorder, const int64_t numbers[3])
{
    int64_t x = numbers[0], y = numbers[1], z = numbers[2];
    uint64_t hash = ((uint64_t)x * 31 + (uint64_t)y) * 31 + (uint64_t)z;
    struct triple *known = &recorder->triples[hash * UINT64_C(0x9E3779B97F4A7C15) >> 56];
    if (known->id != NAME_NONE && known->x == x && known->y == y && known->z == z)
        return known->id;
    char text[80];
    int len = snprintf(text, sizeof text, "[%" PRId64 ",%" PRId64 ",%" PRId64 "]", x, y, z);
    *known = (struct triple){ x, y, z, trace_chunk_text(recorder->chunk, text, (size_t)len) };
    return known->id;
}

/* The blocks of a launch per multiprocessor of its device. */
static void set_spread(struct recorder *recorder, const struct recorder_work *work)
{
    double blocks = (double)work->grid[0] * (double)work->grid[1] * (double)work->grid[2],
           threads = (double)work->block[0] * (double)work->block[1] * (double)work->block[2];
    FOR_EACH(facts, &recorder->devices) {
        if (facts->device != work->device || facts->multiprocessors <= 0)
            continue;
        double share = blocks / (double)facts->multiprocessors;
        if (recorder_wants(recorder, ARG_BLOCKS_PER_SM))
            trace_chunk_arg_decimal(recorder->chunk, ARG_BLOCKS_PER_SM, share);
        if (facts->warp_size > 0 && recorder_wants(recorder, ARG_WARPS_PER_SM))
            trace_chunk_arg_decimal(recorder->chunk, ARG_WARPS_PER_SM,
                                    share * threads / (double)facts->warp_size);
        return;
    }
}

static void set_launch(struct recorder *recorder, const struct recorder_work *work)
{
    bool has_grid = work->grid[0] != RECORDER_NONE, has_block = work->block[0] != RECORDER_NONE;
    recorder_arg(recorder, ARG_REGISTERS, work->registers);
    if (work->static_shared != RECORDER_NONE || work->dynamic_shared != RECORDER_NONE) {
        uint64_t fixed = work->static_shared == RECORDER_NONE ? 0 : (uint64_t)work->static_shared;
        uint64_t given = work->dynamic_shared == RECORDER_NONE ? 0 : (uint64_t)work->dynamic_shared;
        recorder_arg(recorder, ARG_SHARED_MEMORY, (int64_t)(fixed + given));
    }
    if (has_grid && recorder_wants(recorder, ARG_GRID))
        recorder_arg(recorder, ARG_GRID, triple_of(recorder, work->grid));
    if (has_block && recorder_wants(recorder, ARG_BLOCK))
        recorder_arg(recorder, ARG_BLOCK, triple_of(recorder, work->block));
    if (has_grid && has_block)
        set_spread(recorder, work);
}

bool recorder_work(struct recorder *recorder, const struct recorder_work *work)
{
    if (work->start_ns == 0 && work->end_ns == 0) {
        recorder->not_timed++;
        return false;
    }
    track_id track = recorder_stream(recorder, work->device, work->stream);
    if (!recorder_event(recorder, work->kind, track, work->name, work->start_ns, work->end_ns, 0))
        return false;
    recorder_arg(recorder, ARG_CORRELATION, work->correlation);
    recorder_arg(recorder, ARG_DEVICE, work->ordinal == RECORDER_NONE ? work->device : work->ordinal);
    recorder_arg(recorder, ARG_CONTEXT, work->context);
    recorder_arg(recorder, ARG_STREAM, work->stream);
    recorder_arg(recorder, ARG_GRAPH_ID, work->graph ? work->graph : RECORDER_NONE);
    recorder_arg(recorder, ARG_GRAPH_NODE_ID, work->graph_node ? work->graph_node : RECORDER_NONE);
    if (work->kind == RECORDER_KERNEL)
        set_launch(recorder, work);
    if (work->bytes != RECORDER_NONE) {
        recorder_arg(recorder, ARG_BYTES, work->bytes);
        /* GB/s, which are bytes per nanosecond. */
        bool timed = is_moment(work->end_ns) && work->end_ns > work->start_ns;
        if (work->bytes > 0 && timed && recorder_wants(recorder, ARG_BANDWIDTH))
            trace_chunk_arg_decimal(recorder->chunk, ARG_BANDWIDTH,
                                    (double)work->bytes / (double)(work->end_ns - work->start_ns));
    }
    return true;
}

/* ---- memory ---- */

void recorder_memory(struct recorder *recorder, const struct recorder_memory *memory)
{
    *VEC_PUSH(&recorder->memory) = *memory;
}

void recorder_memory_call(struct recorder *recorder, int64_t correlation, int64_t tid)
{
    *VEC_PUSH(&recorder->memory_calls) = (struct memory_call){ correlation, tid };
}

static const struct key by_correlation[] = { ASC(struct memory_call, correlation), KEY_END };

/* By time; on ties in the order of the file, by the address of the row. */
static int compare_memory(const void *left, const void *right)
{
    const struct recorder_memory *const *a = left, *const *b = right;
    if ((*a)->time_ns != (*b)->time_ns)
        return (*a)->time_ns < (*b)->time_ns ? -1 : 1;
    return *a < *b ? -1 : *a > *b;
}

static int64_t recorder_own_thread_of(const struct recorder *recorder, const struct recorder_memory *memory)
{
    if (memory->tid != RECORDER_NONE)
        return memory->tid;
    struct memory_call key = { memory->correlation, 0 };
    const struct memory_call *call =
        rows_find(recorder->memory_calls.at, recorder->memory_calls.count, sizeof key, by_correlation, &key);
    if (call)
        return call->tid;
    return recorder->first_tid != RECORDER_NONE ? recorder->first_tid : recorder->pid;
}

/* The blocks in use, by address within the process: a table with linear probing; bytes < 0: empty slot. */
struct memory_blocks {
    struct memory_block *at;
    size_t size, used;
};

static struct memory_block *find_block(const struct memory_blocks *blocks, int64_t address)
{
    uint64_t hash = (uint64_t)address * UINT64_C(0x9E3779B97F4A7C15);
    for (size_t i = hash >> 20;; i++) {
        struct memory_block *block = &blocks->at[i & (blocks->size - 1)];
        if (block->bytes < 0 || block->address == address)
            return block;
    }
}

/* Apply CHANGE. Returns the memory in use on the device afterwards, over all kinds. */
static int64_t count_usage(struct memory_usage **usages, size_t *count, const struct recorder_memory *memory,
                           int64_t change)
{
    struct memory_usage *usage = FIND_OF(
        one, *usages, *count, one->device == memory->device && one->memory_kind == memory->memory_kind);
    if (!usage) {
        *usages = mem_realloc(*usages, mem_times(*count + 1, sizeof **usages));
        usage = &(*usages)[(*count)++];
        *usage = (struct memory_usage){ memory->device, memory->memory_kind, 0 };
    }
    if (__builtin_add_overflow(usage->in_use, change, &usage->in_use) || usage->in_use < 0)
        usage->in_use = 0; /* it released memory allocated before the recording began */
    int64_t sum = 0;
    for (size_t i = 0; i < *count; i++)
        if ((*usages)[i].device == memory->device && __builtin_add_overflow(sum, (*usages)[i].in_use, &sum))
            sum = INT64_MAX;
    return sum;
}

static void recorder_add_memory(struct recorder *recorder, const struct recorder_memory *memory,
                                int64_t change, int64_t in_use)
{
    track_id thread = recorder_thread_of(recorder, memory->pid, recorder_own_thread_of(recorder, memory));
    name_id name = recorder_name(recorder, "[memory]", 8);
    if (!recorder_event(recorder, RECORDER_INSTANT, thread, name, memory->time_ns, memory->time_ns,
                        EVENT_POINT))
        return;
    recorder_arg(recorder, ARG_BYTES, change);
    bool is_amd = trace_builder_current_file(recorder->builder)->producer == PRODUCER_ROCPROF;
    recorder_arg(recorder, ARG_DEVICE_TYPE, memory->device < 0 ? TYPE_HOST : is_amd ? TYPE_HIP : TYPE_CUDA);
    recorder_arg(recorder, ARG_DEVICE_ID, memory->device);
    recorder_arg(recorder, ARG_ADDRESS, memory->address);
    recorder_arg(recorder, ARG_TOTAL_ALLOCATED, in_use);
}

void recorder_finish(struct recorder *recorder)
{
    size_t count = recorder->memory.count, usage_count = 0;
    if (count == 0)
        return;
    SORT(&recorder->memory_calls, by_correlation);
    const struct recorder_memory **order = mem_alloc(mem_times(count, sizeof *order));
    for (size_t i = 0; i < count; i++)
        order[i] = &recorder->memory.at[i];
    qsort(order, count, sizeof *order, compare_memory);
    struct memory_blocks blocks = { NULL, 64, 0 };
    while (blocks.size < 2 * count)
        blocks.size *= 2;
    blocks.at = mem_alloc(mem_times(blocks.size, sizeof *blocks.at));
    for (size_t i = 0; i < blocks.size; i++)
        blocks.at[i].bytes = -1;
    struct memory_usage *usages = NULL;
    for (size_t i = 0; i < count; i++) {
        struct recorder_memory found = *order[i], *memory = &found;
        int64_t bytes = memory->bytes > 0 ? memory->bytes : 0;
        struct memory_block *block = find_block(&blocks, memory->address);
        if (memory->release) {
            bool known = block->bytes >= 0;
            if (memory->device == RECORDER_NONE)
                memory->device = known ? block->device : 0;
            recorder->unknown_releases += !known && bytes == 0;
            bytes = bytes == 0 && known ? block->bytes : bytes;
            if (known)
                block->bytes = 0;
        } else {
            *block = (struct memory_block){ memory->device, memory->address, bytes };
        }
        int64_t change = memory->release ? -bytes : bytes;
        recorder_add_memory(recorder, memory, change, count_usage(&usages, &usage_count, memory, change));
    }
    EACH(free, usages, blocks.at, order);
    recorder->memory.count = 0;
}

bool recorder_block(struct recorder *recorder, track_id thread, const struct recorder_block *block)
{
    name_id name = recorder_name(recorder, "[memory]", 8);
    if (!recorder_event(recorder, RECORDER_INSTANT, thread, name, block->time_ns, block->time_ns,
                        EVENT_POINT))
        return false;
    recorder_arg(recorder, ARG_BYTES, block->bytes);
    recorder_arg(recorder, ARG_DEVICE_TYPE, TYPE_NPU);
    recorder_arg(recorder, ARG_DEVICE_ID, block->device);
    recorder_arg(recorder, ARG_ADDRESS, block->address);
    recorder_arg(recorder, ARG_TOTAL_ALLOCATED, block->allocated);
    recorder_arg(recorder, ARG_TOTAL_RESERVED, block->reserved);
    return true;
}

/* ---- counters ---- */

void recorder_sample(struct recorder *recorder, track_id track, const char *counter, int64_t time_ns,
                     double value)
{
    if (!is_moment(time_ns) || isnan(value))
        return;
    trace_chunk_sample(recorder->chunk, &(struct trace_sample){ .ts_ns = time_ns,
                                                                .value = value,
                                                                .counter = recorder_text(recorder, counter),
                                                                .track = track });
}

track_id recorder_counters(struct recorder *recorder, int64_t device)
{
    char process[48];
    int len = snprintf(process, sizeof process, "GPU %" PRId64 " counters", device);
    return trace_chunk_track(recorder->chunk, &(struct track_key){ .pid_text = process,
                                                                   .pid_len = (size_t)len,
                                                                   .tid_text = "counters",
                                                                   .tid_len = 8 });
}

bool recorder_is_memory_call(const char *name)
{
    static const char *const words[] = { "alloc",      "Alloc",  "Free",    "MemCreate",
                                         "MemRelease", "MemMap", "MemUnmap" };
    return ANY(i, sizeof words / sizeof *words, strstr(name, words[i]));
}
