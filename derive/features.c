#include "derive/features.h"

#include "derive/communication.h"
#include "derive/device_types.h"
#include "derive/code_paths.h"
#include "trace/derived.h"
#include "trace/lost_work.h"
#include "trace/memory_change.h"
#include "derive/step_list.h"

static const struct {
    const char *name, *reason, *recipe;
} features[FEATURE_COUNT] = {
#define FEATURE_ROW(id, name, reason, how) { name, reason, how },
    TRACE_FEATURES(FEATURE_ROW)
#undef FEATURE_ROW
};

static unsigned index_of(enum trace_feature feature)
{
    unsigned index = 0;
    while (index + 1 < FEATURE_COUNT && !(feature >> index & 1))
        index++;
    return index;
}

const char *trace_feature_name(enum trace_feature feature)
{
    return features[index_of(feature)].name;
}

const char *trace_feature_reason(enum trace_feature feature)
{
    return features[index_of(feature)].reason;
}

/* clang-format off */
/* How programs other than PyTorch record a feature, or that they cannot; PyTorch's way is the default. */
static const struct {
    enum trace_producer producer;
    enum trace_feature feature;
    const char *recipe;
} recipes[] = {
    { PRODUCER_UNKNOWN, FEATURE_OPS, "record the operations of the host, too" },
    { PRODUCER_UNKNOWN, FEATURE_GPU, "record the work of devices, too" },
    { PRODUCER_UNKNOWN, FEATURE_LAUNCHES, "record the calls of the runtime, too, with the numbers that link them to their work" },
    { PRODUCER_UNKNOWN, FEATURE_STEPS, "mark each iteration with a range, and name these ranges: --step-range REGEX" },
    { PRODUCER_UNKNOWN, FEATURE_MEMORY, "record allocations, too" },
    { PRODUCER_UNKNOWN, FEATURE_SHAPES, "record the shapes of operands, too" },
    { PRODUCER_UNKNOWN, FEATURE_STACKS, "record stacks, too" },
    { PRODUCER_UNKNOWN, FEATURE_ANNOTATIONS, "mark what matters with ranges" },
    { PRODUCER_NSYS, FEATURE_OPS, "run the model under torch.autograd.profiler.emit_nvtx()" },
    { PRODUCER_NSYS, FEATURE_GPU, "profile with nsys profile --trace=cuda,nvtx, on a machine with a GPU" },
    { PRODUCER_NSYS, FEATURE_LAUNCHES, "profile with nsys profile --trace=cuda,nvtx" },
    { PRODUCER_NSYS, FEATURE_STEPS, "mark each iteration with an NVTX range, and name these ranges: --step-range REGEX" },
    { PRODUCER_NSYS, FEATURE_MEMORY, "profile with nsys profile --cuda-memory-usage=true" },
    { PRODUCER_NSYS, FEATURE_SHAPES, "run the model under torch.autograd.profiler.emit_nvtx(record_shapes=True)" },
    { PRODUCER_NSYS, FEATURE_STACKS, "profile with PyTorch's own profiler, with_stack=True: NVTX ranges do not record them" },
    { PRODUCER_NSYS, FEATURE_ANNOTATIONS, "mark what matters with NVTX ranges" },
    { PRODUCER_ROCPROF, FEATURE_GPU, "profile with rocprofv3 --sys-trace, on a machine with a GPU" },
    { PRODUCER_ROCPROF, FEATURE_LAUNCHES, "profile with rocprofv3 --sys-trace" },
    { PRODUCER_ROCPROF, FEATURE_MEMORY, "profile with rocprofv3 --sys-trace" },
    { PRODUCER_ROCPROF, FEATURE_STEPS, "mark each iteration with a roctx range, and name these ranges: --step-range REGEX" },
    { PRODUCER_ROCPROF, FEATURE_OPS, "profile with PyTorch's own profiler: rocprofv3 does not record them" },
    { PRODUCER_ROCPROF, FEATURE_SHAPES, "profile with PyTorch's own profiler, record_shapes=True: rocprofv3 sees none" },
    { PRODUCER_ROCPROF, FEATURE_STACKS, "profile with PyTorch's own profiler, with_stack=True: rocprofv3 sees none" },
    { PRODUCER_ROCPROF, FEATURE_ANNOTATIONS, "mark what matters with roctx ranges" },
    { PRODUCER_TORCH_NPU, FEATURE_GPU, "profile with ProfilerActivity.NPU of torch_npu.profiler, on a machine with an NPU" },
    { PRODUCER_TORCH_NPU, FEATURE_LAUNCHES, "profile at level 1: torch_npu.profiler._ExperimentalConfig(profiler_level=ProfilerLevel.Level1)" },
    { PRODUCER_TORCH_NPU, FEATURE_OPS, "profile with ProfilerActivity.CPU of torch_npu.profiler" },
    { PRODUCER_TORCH_NPU, FEATURE_MEMORY, "profile with profile_memory=True, and give the folder of the recording" },
    { PRODUCER_MSPROF, FEATURE_GPU, "record with msprof --ascendcl=on PROGRAM, on a machine with an NPU" },
    { PRODUCER_MSPROF, FEATURE_LAUNCHES, "record with msprof --ascendcl=on --runtime-api=on PROGRAM" },
    { PRODUCER_MSPROF, FEATURE_OPS, "profile with torch_npu.profiler: msprof does not record the framework" },
    { PRODUCER_MSPROF, FEATURE_SHAPES, "profile with torch_npu.profiler, record_shapes=True: msprof does not record the framework" },
    { PRODUCER_MSPROF, FEATURE_STACKS, "profile with torch_npu.profiler, with_stack=True: msprof does not record the framework" },
    { PRODUCER_MSPROF, FEATURE_MEMORY, "profile with torch_npu.profiler, profile_memory=True" },
    { PRODUCER_MSPROF, FEATURE_STEPS, "mark each iteration with an mstx range, and name these ranges: --step-range REGEX" },
    { PRODUCER_MSPROF, FEATURE_ANNOTATIONS, "mark what matters with mstx ranges (msprof --msproftx=on)" },
    { PRODUCER_UNITRACE, FEATURE_GPU, "record with unitrace --chrome-kernel-logging, on a machine with a GPU" },
    { PRODUCER_UNITRACE, FEATURE_LAUNCHES, "record with unitrace --chrome-call-logging --chrome-kernel-logging" },
    { PRODUCER_UNITRACE, FEATURE_OPS, "profile with PyTorch's own profiler, ProfilerActivity.XPU: unitrace does not record them" },
    { PRODUCER_UNITRACE, FEATURE_SHAPES, "profile with PyTorch's own profiler, record_shapes=True: unitrace sees none" },
    { PRODUCER_UNITRACE, FEATURE_STACKS, "profile with PyTorch's own profiler, with_stack=True: unitrace sees none" },
    { PRODUCER_UNITRACE, FEATURE_MEMORY, "profile with PyTorch's own profiler, profile_memory=True: unitrace does not record it" },
    { PRODUCER_UNITRACE, FEATURE_STEPS, "mark each iteration with an ITT task, and name these: --step-range REGEX" },
    { PRODUCER_UNITRACE, FEATURE_ANNOTATIONS, "mark what matters with ITT tasks (unitrace --chrome-itt-logging)" },
    { PRODUCER_ONNX, FEATURE_GPU, "enable profiling of a session on a GPU (SessionOptions.enable_profiling), in a build with the profiler of the device" },
    { PRODUCER_ONNX, FEATURE_LAUNCHES, "record with the device's own profiler, such as nsys or rocprofv3: ONNX Runtime records no calls" },
    { PRODUCER_ONNX, FEATURE_STEPS, "steps are runs of the model: --step-range '^model_run$'" },
    { PRODUCER_ONNX, FEATURE_MEMORY, "record with the device's own profiler: ONNX Runtime records no memory" },
    { PRODUCER_ONNX, FEATURE_SHAPES, "ONNX Runtime records no shapes that tpa reads" },
    { PRODUCER_ONNX, FEATURE_STACKS, "ONNX Runtime runs no Python: there are none" },
    { PRODUCER_PROTON, FEATURE_GPU, "record with proton.start(data=\"trace\"), on a machine with a GPU" },
    { PRODUCER_PROTON, FEATURE_OPS, "name what matters with proton.scope(), or profile with PyTorch's own profiler" },
    { PRODUCER_PROTON, FEATURE_LAUNCHES, "profile with PyTorch's own profiler: Proton records no calls of the runtime" },
    { PRODUCER_PROTON, FEATURE_STEPS, "enter a proton.scope() in each iteration, and name these: --step-range REGEX" },
    { PRODUCER_PROTON, FEATURE_MEMORY, "profile with PyTorch's own profiler, profile_memory=True: Proton does not record it" },
    { PRODUCER_PROTON, FEATURE_SHAPES, "profile with PyTorch's own profiler, record_shapes=True: Proton sees none" },
    { PRODUCER_PROTON, FEATURE_STACKS, "profile with PyTorch's own profiler, with_stack=True: Proton's own are not of single events" },
    { PRODUCER_PROTON, FEATURE_ANNOTATIONS, "name what matters with proton.scope()" },
    { PRODUCER_TPA, FEATURE_STEPS, "call tpa_capture_step() in each iteration, or mark it with an NVTX range and name these: --step-range REGEX" },
    { PRODUCER_TPA, FEATURE_MEMORY, "record memory, too: tpa capture without --kinds no-memory" },
    { PRODUCER_TPA, FEATURE_ANNOTATIONS, "mark what matters with NVTX ranges" },
    { PRODUCER_JAX, FEATURE_EVENTS, "run the model within jax.profiler.trace(): the trace is empty" },
    { PRODUCER_JAX, FEATURE_OPS, "profile with host_tracer_level=2 of jax.profiler.ProfileOptions" },
    { PRODUCER_JAX, FEATURE_GPU, "profile with jax.profiler.trace() on a machine with a GPU or TPU" },
    { PRODUCER_JAX, FEATURE_LAUNCHES, "profile with host_tracer_level=2 of jax.profiler.ProfileOptions" },
    { PRODUCER_JAX, FEATURE_MEMORY, "call jax.profiler.save_device_memory_profile(), which writes a file of its own" },
    { PRODUCER_JAX, FEATURE_SHAPES, "profile to an *.xplane.pb with enable_hlo_proto of jax.profiler.ProfileOptions, its default: the compiled programs have shapes and FLOPs" },
    { PRODUCER_JAX, FEATURE_STACKS, "profile to an *.xplane.pb with enable_hlo_proto of jax.profiler.ProfileOptions, its default: the compiled programs have lines and named scopes" },
    { PRODUCER_JAX, FEATURE_STEPS, "mark each iteration with jax.profiler.StepTraceAnnotation" },
    { PRODUCER_JAX, FEATURE_ANNOTATIONS, "mark what matters with jax.profiler.TraceAnnotation" },
    { PRODUCER_TENSORFLOW, FEATURE_EVENTS, "run the model between tf.profiler.experimental.start() and stop(): the trace is empty" },
    { PRODUCER_TENSORFLOW, FEATURE_OPS, "profile with host_tracer_level=2 of tf.profiler.experimental.ProfilerOptions" },
    { PRODUCER_TENSORFLOW, FEATURE_GPU, "profile with device_tracer_level=1 of tf.profiler.experimental.ProfilerOptions, on a machine with a GPU or TPU" },
    { PRODUCER_TENSORFLOW, FEATURE_LAUNCHES, "profile with host_tracer_level=2 of tf.profiler.experimental.ProfilerOptions" },
    { PRODUCER_TENSORFLOW, FEATURE_MEMORY, "profile on a machine with a GPU or TPU, with host_tracer_level=2 of tf.profiler.experimental.ProfilerOptions: allocators of devices record what they do" },
    { PRODUCER_TENSORFLOW, FEATURE_SHAPES, "record a program compiled with tf.function(jit_compile=True): it has shapes and FLOPs" },
    { PRODUCER_TENSORFLOW, FEATURE_STACKS, "record a program compiled with tf.function(jit_compile=True): it has lines and name scopes" },
    { PRODUCER_TENSORFLOW, FEATURE_STEPS, "mark each iteration with tf.profiler.experimental.Trace(..., step_num=step)" },
    { PRODUCER_TENSORFLOW, FEATURE_ANNOTATIONS, "mark what matters with tf.profiler.experimental.Trace" },
};
/* clang-format on */

const char *trace_feature_recipe(const struct trace *trace, enum trace_feature feature)
{
    enum trace_producer producer = trace->file_count ? trace->files[0].producer : PRODUCER_UNKNOWN;
    if (feature == FEATURE_GPU && trace_lost_much(trace))
        return "find out why the profiler lost the work that was launched: another profiler beside it, missing permissions, or a driver that is too old";
    for (size_t i = 0; i < sizeof recipes / sizeof *recipes; i++)
        if (trace->file_count && recipes[i].producer == producer && recipes[i].feature == feature)
            return recipes[i].recipe;
    if ((feature == FEATURE_GPU || feature == FEATURE_LAUNCHES) &&
        !device_type_has_cuda(trace_device_type(trace)))
        return feature == FEATURE_GPU
                   ? "profile with the ProfilerActivity of the device, on a machine with one"
                   : "profile with ProfilerActivity.CPU and the ProfilerActivity of the device";
    return features[index_of(feature)].recipe;
}

const char *trace_module_word(const struct trace *trace)
{
    if (trace_framework(trace) == FRAMEWORK_TORCH)
        return "nn.Module";
    switch (trace->file_count ? trace->files[0].producer : PRODUCER_UNKNOWN) {
    case PRODUCER_JAX: return "named scope";
    case PRODUCER_TENSORFLOW: return "name scope";
    case PRODUCER_NSYS:
    case PRODUCER_TPA: return "NVTX range";
    case PRODUCER_ROCPROF: return "roctx range";
    default: return "module";
    }
}

enum trace_framework trace_framework(const struct trace *trace)
{
    switch (trace->file_count ? trace->files[0].producer : PRODUCER_UNKNOWN) {
    case PRODUCER_KINETO:
    case PRODUCER_TORCH_NPU: return FRAMEWORK_TORCH;
    case PRODUCER_JAX:
    case PRODUCER_TENSORFLOW: return FRAMEWORK_XLA;
    case PRODUCER_UNKNOWN: return FRAMEWORK_NONE;
    default:
        return trace->event_count && memchr(trace->kind, EVENT_OP, trace->event_count) ? FRAMEWORK_TORCH
                                                                                       : FRAMEWORK_NONE;
    }
}

/* What a name tells by itself. */
static unsigned features_of_name(const char *name)
{
    int64_t step;
    if (step_number(name, &step))
        return FEATURE_STEPS;
    return ANY(change, MEMORY_CHANGES, strcmp(name, memory_change_names[change]) == 0) ? FEATURE_MEMORY : 0;
}

/* The features of an event kind: always, and depending on the name. */
static const struct {
    unsigned always, by_name;
} features_of_kind[EVENT_KINDS] = {
    [EVENT_OP] = { FEATURE_OPS, FEATURE_STEPS }, [EVENT_ANNOTATION] = { FEATURE_ANNOTATIONS, FEATURE_STEPS },
    [EVENT_PYTHON] = { FEATURE_STACKS, 0 },      [EVENT_RUNTIME] = { FEATURE_LAUNCHES, 0 },
    [EVENT_DRIVER] = { FEATURE_LAUNCHES, 0 },    [EVENT_INSTANT] = { 0, FEATURE_MEMORY },
    [EVENT_KERNEL] = { FEATURE_GPU, 0 },         [EVENT_MEMCPY] = { FEATURE_GPU, 0 },
    [EVENT_MEMSET] = { FEATURE_GPU, 0 },         [EVENT_GPU_ANNOTATION] = { 0, FEATURE_STEPS },
    /* others: nothing */
};

/* Is there any communication? Names are checked only when an event has them: most are of other kinds. */
static bool has_collectives(const struct trace *trace)
{
    enum { CHECKED_AS_OPERATOR = 1, CHECKED_AS_KERNEL = 2 };
    if (trace->args[ARG_COLLECTIVE].count > 0)
        return true;
    SCOPED uint8_t *checked = mem_zalloc(names_count(trace->names) + 1, 1);
    bool found = false;
    for (event_id e = 0; e < trace->event_count && !found; e++) {
        bool kernel = trace->kind[e] == EVENT_KERNEL;
        if (!kernel && trace->kind[e] != EVENT_OP && trace->kind[e] != EVENT_ANNOTATION)
            continue;
        uint8_t *of_name = &checked[trace->name[e]], as = kernel ? CHECKED_AS_KERNEL : CHECKED_AS_OPERATOR;
        if (*of_name & as)
            continue;
        *of_name |= as;
        found = kernel ? kernel_is_communication(trace_name(trace, e))
                       : operator_is_communication(trace_name(trace, e));
    }
    return found;
}

/* Old files have the argument everywhere, mostly empty. */
static bool has_text(const struct trace *trace, enum trace_arg arg)
{
    const struct trace_arg_column *column = &trace->args[arg];
    int64_t last = NAME_NONE;
    for (size_t i = 0; i < column->count; i++) {
        int64_t text = trace_arg_value(column, i);
        if (text != last && names_length(trace->texts, (name_id)text) > 0)
            return true;
        last = text;
    }
    return false;
}

static unsigned find_features(const struct trace *trace)
{
    size_t name_count = names_count(trace->names);
    unsigned short *of_name = mem_zalloc(name_count + 1, sizeof *of_name);
    for (name_id id = 0; id < name_count; id++)
        of_name[id] = (unsigned short)features_of_name(names_text(trace->names, id));

    unsigned found = trace->event_count > 0 ? FEATURE_EVENTS : 0;
    for (event_id e = 0; e < trace->event_count; e++)
        found |= features_of_kind[trace->kind[e]].always |
                 (features_of_kind[trace->kind[e]].by_name & of_name[trace->name[e]]);
    free(of_name);
    if (trace->args[ARG_INPUT_DIMS].count > 0 || trace->args[ARG_FLOPS].count > 0)
        found |= FEATURE_SHAPES; /* or values derived from them */
    if (has_text(trace, ARG_CALL_STACK) || has_text(trace, ARG_MODULE_HIERARCHY))
        found |= FEATURE_STACKS;
    if (has_collectives(trace))
        found |= FEATURE_COLLECTIVES;
    if (!(found & FEATURE_STEPS) && step_list_of(trace)->count)
        found |= FEATURE_STEPS; /* inferred ones */
    if (trace->file_count > 1)
        found |= FEATURE_RANKS;
    const struct graph_links *links = graph_links_of(trace);
    if (links && links->bodies->paths[CODE_LINES].count + links->bodies->paths[CODE_MODULES].count > 2)
        found |= FEATURE_STACKS; /* operations of graphs have the stacks and shapes of the capture */
    for (size_t i = 0; links && i < links->bodies->ops.count; i++)
        if (links->bodies->ops.at[i].dims != NAME_NONE)
            found |= FEATURE_SHAPES;
    return found;
}

static void *features_derive(const struct trace *trace)
{
    unsigned *found = arena_open(sizeof *found);
    *found = find_features(trace);
    return found;
}

unsigned trace_features(const struct trace *trace)
{
    static const struct derivation derivation = { features_derive };
    return *(const unsigned *)trace_derive(trace, &derivation);
}
