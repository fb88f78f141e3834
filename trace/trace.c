/* trace.c - looking into a finished trace; see trace.h. */
#include "trace/trace.h"

#include "base/search.h"
#include "base/bits.h"
#include <math.h>

const struct trace_device *trace_file_device(const struct trace_file *file, int64_t id)
{
    size_t i = PLACE(k, file->devices.count, file->devices.at[k].id < id);
    return i < file->devices.count && file->devices.at[i].id == id ? &file->devices.at[i] : NULL;
}

bool trace_arg(const struct trace *trace, enum trace_arg arg, event_id e, int64_t *value)
{
    const struct trace_arg_column *column = &trace->args[arg];
    if (column->count == 0)
        return false;
    size_t word = e / 64;
    uint64_t bit = UINT64_C(1) << (e % 64);
    if (!(column->present[word] & bit))
        return false;
    size_t rank = column->rank[e / 512];
    for (size_t w = word / 8 * 8; w < word; w++)
        rank += bits_count(column->present[w]);
    rank += bits_count(column->present[word] & (bit - 1));
    *value = trace_arg_value(column, rank);
    return true;
}

int64_t trace_arg_or(const struct trace *trace, enum trace_arg arg, event_id e, int64_t missing)
{
    int64_t value = missing;
    trace_arg(trace, arg, e, &value);
    return value;
}

double trace_arg_decimal(const struct trace *trace, enum trace_arg arg, event_id e)
{
    int64_t bits;
    double value;
    if (!trace_arg(trace, arg, e, &bits))
        return NAN;
    memcpy(&value, &bits, sizeof value);
    return value;
}

const char *trace_arg_text(const struct trace *trace, enum trace_arg arg, event_id e)
{
    int64_t id;
    return trace_arg(trace, arg, e, &id) ? names_text(trace->texts, (name_id)id) : NULL;
}

const char *event_kind_name(enum event_kind kind)
{
    static const char *const names[EVENT_KINDS] = {
        [EVENT_OTHER] = "other",
        [EVENT_OP] = "operator",
        [EVENT_ANNOTATION] = "annotation",
        [EVENT_PYTHON] = "python",
        [EVENT_RUNTIME] = "runtime call",
        [EVENT_DRIVER] = "driver call",
        [EVENT_OVERHEAD] = "overhead",
        [EVENT_INSTANT] = "instant",
        [EVENT_KERNEL] = "kernel",
        [EVENT_MEMCPY] = "memcpy",
        [EVENT_MEMSET] = "memset",
        [EVENT_SYNC] = "synchronization",
        [EVENT_GPU_ANNOTATION] = "GPU annotation",
        [EVENT_GPU_OTHER] = "other GPU event",
        [EVENT_SPAN] = "recording window",
    };
    return names[kind];
}

unsigned trace_lacks(const struct trace *trace)
{
    unsigned lacks = trace->lacks_of_all;
    for (size_t f = 0; f < trace->file_count; f++)
        lacks |= trace->files[f].lacks;
    return lacks;
}

const char *trace_file_property(const struct trace_file *file, const char *key)
{
    for (size_t i = file->properties.count; i-- > 0;) /* of several the last */
        if (strcmp(file->properties.at[i].key, key) == 0)
            return file->properties.at[i].value;
    return NULL;
}

const char *trace_producer_name(enum trace_producer producer)
{
    static const char *const names[] = {
        [PRODUCER_UNKNOWN] = "unknown",        [PRODUCER_KINETO] = "PyTorch (Kineto)",
        [PRODUCER_TENSORFLOW] = "TensorFlow",  [PRODUCER_JAX] = "JAX",
        [PRODUCER_VIZTRACER] = "VizTracer",    [PRODUCER_CHROME] = "Chrome",
        [PRODUCER_TPA] = "tpa capture",        [PRODUCER_NSYS] = "Nsight Systems",
        [PRODUCER_ROCPROF] = "AMD rocprof",    [PRODUCER_TORCH_NPU] = "torch_npu (Ascend)",
        [PRODUCER_MSPROF] = "msprof (Ascend)", [PRODUCER_UNITRACE] = "Intel unitrace",
        [PRODUCER_ONNX] = "ONNX Runtime",      [PRODUCER_PROTON] = "Proton (Triton)",
    };
    return names[producer];
}
