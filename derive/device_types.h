/*
 * device_types.h - torch's type of the device that an event ran on: CUDA (AMD's, too), XPU, MTIA, HPU, PrivateUse1; and
 * TPU and HIP, if recorded by the profilers of XLA and AMD.
 *
 *     const struct device_types *types = device_types_of(trace);
 *     enum device_type type = event_device_type(trace, types, e);
 *     const char *name = device_type_name(type);       // "CUDA"
 *
 * From torch/csrc/profiler/kineto_shim.cpp, deviceTypeFromActivity: categories of MTIA and HPU name their device type.
 * Kernels, copies and memsets of an XPU, and all device events of a custom backend (PrivateUse1), are written with the
 * names of CUDA's; the runtime calls of the file identify them (`xpu_runtime`, `privateuse1_runtime`).
 */
#ifndef TPA_DERIVE_DEVICE_TYPES_H
#define TPA_DERIVE_DEVICE_TYPES_H

#include "trace/trace.h"

/* Numbered as c10::DeviceType. */
enum device_type {
    DEVICE_TYPE_CPU = 0,
    DEVICE_TYPE_CUDA = 1,
    DEVICE_TYPE_HIP = 6, /* AMD's, in recordings of AMD's or XLA's own profiler: torch calls them CUDA */
    DEVICE_TYPE_XLA = 9, /* a TPU, which XLA's own profiler recorded */
    DEVICE_TYPE_XPU = 12,
    DEVICE_TYPE_HPU = 15,
    DEVICE_TYPE_MTIA = 19,
    DEVICE_TYPE_PRIVATEUSE1 = 20,
    DEVICE_TYPE_NPU = 100, /* Huawei's, in recordings of its own profilers; to torch PrivateUse1 */
    DEVICE_TYPE_GPU = 101, /* of NVIDIA or AMD: the file does not say which */
};

struct device_types {
    uint8_t *of_category; /* enum device_type, of device events in a file of CUDA */
    uint8_t *of_file; /* DEVICE_TYPE_CUDA, HIP, XLA, XPU, PRIVATEUSE1, NPU or GPU: whose runtime it calls */
    enum device_type first; /* see trace_device_type */
};

/* Those of TRACE, computed when first requested. Borrowed; live as long as TRACE. */
const struct device_types *device_types_of(const struct trace *trace);

/* The type of the device that E ran on; CPU for events of the host. */
static inline enum device_type event_device_type(const struct trace *trace, const struct device_types *types,
                                                 event_id e)
{
    if (!event_on_device((enum event_kind)trace->kind[e]))
        return DEVICE_TYPE_CPU;
    enum device_type own = (enum device_type)types->of_category[trace->category[e]],
                     accelerator = (enum device_type)types->of_file[trace->tracks[trace->track[e]].file];
    if (accelerator == DEVICE_TYPE_XPU)
        return own == DEVICE_TYPE_CUDA && event_is_gpu_work((enum event_kind)trace->kind[e]) ? accelerator
                                                                                             : own;
    if (accelerator == DEVICE_TYPE_XLA || accelerator == DEVICE_TYPE_HIP || accelerator == DEVICE_TYPE_NPU ||
        accelerator == DEVICE_TYPE_GPU)
        return accelerator;
    return accelerator == DEVICE_TYPE_PRIVATEUSE1 && own != DEVICE_TYPE_HPU ? accelerator : own;
}

/* The type of the devices of TRACE: that of the first work of its first file; where categories name types, of the work that takes
 * longest there; CUDA if it has none and calls no other runtime. */
enum device_type trace_device_type(const struct trace *trace);

/* Is it programmed in terms of CUDA, as AMD's devices are in PyTorch, too? */
static inline bool device_type_has_cuda(enum device_type type)
{
    return type == DEVICE_TYPE_CUDA || type == DEVICE_TYPE_HIP;
}

/* "CPU", "CUDA", "MTIA" ...: torch's names; "TPU", "HIP", "NPU", "GPU". */
const char *device_type_name(enum device_type type);

/* How people call a device of TYPE: "GPU", "TPU", "NPU" ... */
const char *device_type_word(enum device_type type);

/* The option of tpa whatif for launching a step as one graph, by the name that users of devices of TYPE know. */
static inline const char *device_type_graph_option(enum device_type type)
{
    return type == DEVICE_TYPE_CUDA ? "--cuda-graph" : "--graph";
}

/* TITLE with DEVICE, the name of a type, for "CUDA"; it lies in ARENA if that is another. */
const char *device_type_title(struct arena *arena, const char *title, const char *device);

#endif
