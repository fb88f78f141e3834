#include "derive/device_types.h"

#include "base/sum.h"
#include "trace/derived.h"
#include <strings.h>

static bool begins_with(const char *text, const char *prefix)
{
    return strncasecmp(text, prefix, strlen(prefix)) == 0;
}

/* The accelerator whose runtime or driver calls are of this category; DEVICE_TYPE_CPU: none. */
static enum device_type runtime_of(const char *category)
{
    return begins_with(category, "xpu_")           ? DEVICE_TYPE_XPU
           : begins_with(category, "privateuse1_") ? DEVICE_TYPE_PRIVATEUSE1
                                                   : DEVICE_TYPE_CPU;
}

/* The GPUs that ONNX Runtime's execution provider is for; NULL: not recorded. */
static enum device_type provider_type(const char *provider)
{
    static const struct {
        const char *word;
        enum device_type type;
    } words[] = { { "CUDA", DEVICE_TYPE_CUDA },
                  { "Tensorrt", DEVICE_TYPE_CUDA },
                  { "NvTensorRT", DEVICE_TYPE_CUDA },
                  { "ROCM", DEVICE_TYPE_HIP },
                  { "MIGraphX", DEVICE_TYPE_HIP } };
    for (size_t i = 0; provider && i < sizeof words / sizeof *words; i++)
        if (begins_with(provider, words[i].word))
            return words[i].type;
    return DEVICE_TYPE_GPU;
}

/* The type of the devices of FILE according to a profiler other than torch's. */
static enum device_type recorded_type(const struct trace_file *file)
{
    const char *name = file->devices.count && file->devices.at[0].name ? file->devices.at[0].name : "";
    bool is_xla = file->producer == PRODUCER_JAX || file->producer == PRODUCER_TENSORFLOW;
    if (begins_with(name, "TPU"))
        return DEVICE_TYPE_XLA;
    if (file->producer == PRODUCER_TORCH_NPU || file->producer == PRODUCER_MSPROF)
        return DEVICE_TYPE_NPU;
    if (file->producer == PRODUCER_UNITRACE)
        return DEVICE_TYPE_XPU;
    if (file->producer == PRODUCER_ROCPROF || (is_xla && begins_with(name, "AMD")))
        return DEVICE_TYPE_HIP;
    if (file->producer == PRODUCER_PROTON)
        return DEVICE_TYPE_GPU;
    return file->producer == PRODUCER_ONNX ? provider_type(trace_file_property(file, "provider"))
                                           : DEVICE_TYPE_CUDA;
}

/* The type of device that works longest in the first file of TRACE (of equals, the first). Copies of an HPU have the categories of CUDA's. */
static enum device_type longest_type(const struct trace *trace, const struct device_types *types)
{
    int64_t time_ns[UINT8_MAX + 1] = { 0 };
    size_t longest = DEVICE_TYPE_CUDA;
    for (event_id e = 0; e < trace->event_count; e++)
        if (trace->tracks[trace->track[e]].file == 0 && event_is_gpu_work((enum event_kind)trace->kind[e]))
            sum_add(&time_ns[event_device_type(trace, types, e)], trace_dur_ns(trace, e));
    for (size_t type = 0; type <= UINT8_MAX; type++)
        if (time_ns[type] > time_ns[longest])
            longest = type;
    return (enum device_type)longest;
}

static void *device_types_derive(const struct trace *trace)
{
    struct device_types *types = arena_open(sizeof *types);
    ARENA_OWNS(arena_of(types), &types->of_category, &types->of_file);
    types->of_category = mem_zalloc(trace->category_count + 1, 1);
    types->of_file = mem_alloc(trace->file_count + 1);
    for (size_t f = 0; f < trace->file_count; f++)
        types->of_file[f] = recorded_type(&trace->files[f]);
    uint8_t *runtime = mem_zalloc(trace->category_count + 1, 1);
    bool any = false, has_own_types = false;
    for (size_t c = 0; c < trace->category_count; c++) {
        const char *text = names_text(trace->texts, trace->categories[c].text);
        types->of_category[c] = begins_with(text, "mtia_")        ? DEVICE_TYPE_MTIA
                                : strcasecmp(text, "hpu_op") == 0 ? DEVICE_TYPE_HPU
                                                                  : DEVICE_TYPE_CUDA;
        has_own_types |= types->of_category[c] != DEVICE_TYPE_CUDA;
        runtime[c] = (uint8_t)runtime_of(text);
        any |= runtime[c] != DEVICE_TYPE_CPU;
    }
    event_id first_work = EVENT_NONE;
    for (event_id e = 0; e < trace->event_count && (any || first_work == EVENT_NONE); e++) {
        uint32_t file = trace->tracks[trace->track[e]].file;
        if (runtime[trace->category[e]] != DEVICE_TYPE_CPU)
            types->of_file[file] = runtime[trace->category[e]];
        if (first_work == EVENT_NONE && file == 0 && event_is_gpu_work((enum event_kind)trace->kind[e]))
            first_work = e;
    }
    free(runtime);
    types->first = first_work == EVENT_NONE
                       ? (trace->file_count ? (enum device_type)types->of_file[0] : DEVICE_TYPE_CUDA)
                   : has_own_types ? longest_type(trace, types)
                                   : event_device_type(trace, types, first_work);
    return types;
}

DERIVED(device_types, device_types_of, device_types_derive);

enum device_type trace_device_type(const struct trace *trace)
{
    return device_types_of(trace)->first;
}

const char *device_type_name(enum device_type type)
{
    switch (type) {
    case DEVICE_TYPE_CPU: return "CPU";
    case DEVICE_TYPE_CUDA: return "CUDA";
    case DEVICE_TYPE_HIP: return "HIP";
    case DEVICE_TYPE_XLA: return "TPU";
    case DEVICE_TYPE_XPU: return "XPU";
    case DEVICE_TYPE_HPU: return "HPU";
    case DEVICE_TYPE_MTIA: return "MTIA";
    case DEVICE_TYPE_PRIVATEUSE1: return "PrivateUse1";
    case DEVICE_TYPE_NPU: return "NPU";
    case DEVICE_TYPE_GPU: return "GPU";
    }
    return "";
}

const char *device_type_word(enum device_type type)
{
    switch (type) {
    case DEVICE_TYPE_XLA: return "TPU";
    case DEVICE_TYPE_NPU: return "NPU";
    case DEVICE_TYPE_HPU: return "HPU";
    case DEVICE_TYPE_MTIA: return "MTIA device";
    case DEVICE_TYPE_PRIVATEUSE1: return "device"; /* of a maker whose name torch does not record */
    default: return "GPU";                         /* NVIDIA's, AMD's, Intel's */
    }
}

const char *device_type_title(struct arena *arena, const char *title, const char *device)
{
    const char *cuda = title ? strstr(title, "CUDA") : NULL;
    if (!cuda || strcmp(device, "CUDA") == 0)
        return title;
    return arena_printf(arena, "%.*s%s%s", (int)(cuda - title), title, device, cuda + 4);
}
