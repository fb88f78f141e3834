/* measure_facts.c - recorded facts about a trace that may make it hard to compare; see measure.h. */
#include "diff/measure_parts.h"

#include <inttypes.h>

static void measure_facts_add(const struct measuring *measuring, const char *key, const char *title,
                              const char *value)
{
    if (value && *value)
        measures_add_fact(measuring->measures, key, title, value, strlen(value));
}

static void add_number(const struct measuring *measuring, const char *key, const char *title, int64_t value)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRId64, value);
    measure_facts_add(measuring, key, title, text);
}

static void add_flag(const struct measuring *measuring, const char *key, const char *title, int value)
{
    if (value >= 0)
        measure_facts_add(measuring, key, title, value ? "yes" : "no");
}

/* CUDA writes its versions as 1000 * major + 10 * minor. */
static void add_cuda_version(const struct measuring *measuring, const char *key, const char *title,
                             const char *value)
{
    int64_t version;
    char text[32];
    bool known =
        quantity_parse_integer(value, strlen(value), &version) && version >= 1000 && version < 1000000;
    if (known)
        snprintf(text, sizeof text, "%" PRId64 ".%" PRId64, version / 1000, version % 1000 / 10);
    measure_facts_add(measuring, key, title, known ? text : value);
}

/* Keys of the file that hold a version of something, and its title. */
static const struct {
    const char *property, *key, *title;
} versions[] = {
    { "torch_version", "torch", "PyTorch" },
    { "pytorch_version", "torch", "PyTorch" },
    { "kineto_version", "kineto", "Kineto" },
    { "python_version", "python", "Python" },
    { "schemaVersion", "schema", "schema version of the trace" },
    { "hip_runtime_version", "hip_runtime", "HIP runtime" },
    { "hip_driver_version", "hip_driver", "HIP driver" },
    { "cupti_version", "cupti", "CUPTI" },
};

static void add_properties(const struct measuring *measuring, const struct trace_file *file)
{
    FOR_EACH(property, &file->properties) {
        if (strcmp(property->key, "cuda_runtime_version") == 0)
            add_cuda_version(measuring, "cuda_runtime", "CUDA runtime", property->value);
        else if (strcmp(property->key, "cuda_driver_version") == 0)
            add_cuda_version(measuring, "cuda_driver", "CUDA driver", property->value);
        for (size_t v = 0; v < sizeof versions / sizeof *versions; v++)
            if (strcmp(property->key, versions[v].property) == 0)
                measure_facts_add(measuring, versions[v].key, versions[v].title, property->value);
    }
}

static void add_unread(struct measures *measures, size_t count, const char *why)
{
    if (count && !measures->why_unread)
        measures->why_unread = arena_strndup(arena_of(measures), why, strlen(why));
    measures->files_unread += count;
}

/* Possible files of missing ranks: files that were left out, and files without events. */
static void find_unread(const struct measuring *measuring)
{
    const struct trace *trace = measuring->trace;
    for (size_t i = 0; i < trace->notice_count; i++)
        if (strcmp(trace->notices[i].kind, "left_out") == 0)
            add_unread(measuring->measures, trace->notices[i].count, trace->notices[i].text);
    for (size_t f = 0; f < trace->file_count && trace->file_count > 1; f++)
        if (trace->files[f].event_count == 0)
            add_unread(measuring->measures, 1, "a file holds no events");
}

/* Is the call in the file that launched some of the work? */
static bool has_launches(const struct gpu_events *gpu)
{
    return ANY(i, gpu->count, gpu->call[i] != EVENT_NONE);
}

void measure_trace_facts(const struct measuring *measuring)
{
    const struct trace *trace = measuring->trace;
    find_unread(measuring);
    for (size_t d = 0; d < measuring->gpu->device_count; d++) {
        const struct trace_device *device = measuring->gpu->devices[d].properties;
        measure_facts_add(measuring, "gpu", "GPU",
                          device && device->name && *device->name ? device->name : MEASURE_UNKNOWN_GPU);
    }
    if (measuring->gpu->count)
        add_flag(measuring, MEASURE_LAUNCHES, MEASURE_LAUNCHES_TITLE, has_launches(measuring->gpu));
    FOR_EACH_OF(file, trace->files, trace->file_count) {
        measure_facts_add(measuring, "producer", "profiler", trace_producer_name(file->producer));
        measure_facts_add(measuring, "backend", "distributed backend", file->backend);
        measure_facts_add(measuring, "nccl", "NCCL", file->nccl_version);
        if (file->rank >= 0)
            *VEC_PUSH(&measuring->measures->ranks) = file->rank;
        if (file->world_size > measuring->measures->world_size)
            measuring->measures->world_size = file->world_size;
        if (file->world_size > 0)
            add_number(measuring, "world_size", "ranks of the job", file->world_size);
        add_flag(measuring, "record_shapes", "record_shapes", file->record_shapes);
        add_flag(measuring, "profile_memory", "profile_memory", file->profile_memory);
        add_flag(measuring, "with_stack", "with_stack", file->with_stack);
        add_flag(measuring, "with_modules", "with_modules", file->with_modules);
        add_flag(measuring, "with_flops", "with_flops", file->with_flops);
        add_properties(measuring, file);
    }
}
