/* A row names a framework's own things only. On TPUs, there are neither graphs nor streams to speak of, and XLA's flags have
 * names of their own: where the text of JAX and TensorFlow would be wrong there, another one stands. */
#include "derive/advice.h"

#include "derive/device_types.h"
#include "derive/features.h"

struct words {
    const char *torch, *jax, *tensorflow;
    const char *tpu;       /* NULL: as above */
    const char *other;     /* CUDA itself, or a program of which nothing is known */
    const char *npu;       /* PyTorch on NPUs of Ascend; NULL: as for PyTorch */
    const char *hip;       /* HIP itself; NULL: as for CUDA */
    const char *sycl;      /* Level Zero, SYCL, OpenCL; NULL: as for CUDA */
    const char *elsewhere; /* PyTorch on devices of other makers; NULL: as for PyTorch; "": nothing */
};

/* clang-format off */
static const struct words words[ADVICES] = {
    [ADVICE_LOAD_DATA] = {
        NULL,
        "prepare batches beside the step: dataset.map(..., num_parallel_calls=tf.data.AUTOTUNE), and "
        "dataset.prefetch(tf.data.AUTOTUNE) last; or less work for each sample (decode smaller images, cache, preprocess once)",
        "prepare batches beside the step: dataset.map(..., num_parallel_calls=tf.data.AUTOTUNE), and "
        "dataset.prefetch(tf.data.AUTOTUNE) last; or less work for each sample (decode smaller images, cache, preprocess once)",
        NULL,
        NULL },
    [ADVICE_PIN_BATCHES] = {
        "pin the batches, DataLoader(..., pin_memory=True), and copy with non_blocking=True, on the same stream",
        "copy the next batch while the device computes: jax.device_put, or tf.data's prefetch_to_device, ahead of the step",
        "copy the next batch while the device computes: tf.data.experimental.prefetch_to_device, last",
        NULL,
        "pin the host memory (cudaMallocHost), and copy with cudaMemcpyAsync, on the same stream",
        .hip = "pin the host memory (hipHostMalloc), and copy with hipMemcpyAsync, on the same stream",
        .sycl = "allocate what is copied as host memory of the device (sycl::malloc_host, zeMemAllocHost), and do not wait for each copy",
        .npu = "pin the batches, DataLoader(..., pin_memory=True), and copy with non_blocking=True, on the same stream" },
    [ADVICE_COPY_AHEAD] = {
        "copy ahead, on a stream of its own, while the device computes (prefetch the next batch); keep on the device what is "
        "used again",
        "copy ahead, while the device computes (jax.device_put of the next batch); keep on the device what is used again",
        "copy ahead, while the device computes (tf.data.experimental.prefetch_to_device, last); keep on the device what is "
        "used again",
        NULL,
        "copy ahead, on a stream of its own, while the device computes (prefetch the next batch); keep on the device what is "
        "used again" },
    [ADVICE_COPY_EARLIER] = {
        "copy less, or ahead, on a stream of its own, while the device computes",
        "copy less, or ahead, while the device computes",
        "copy less, or ahead, while the device computes",
        "keep in the device's memory what is moved to the host's and back (arrays of memory kind pinned_host, what checkpoint "
        "policies offload), or offload less of it; let XLA start copies earlier (its latency-hiding scheduler)",
        "copy less, or ahead, on a stream of its own, while the device computes" },
    [ADVICE_COPY_LESS] = {
        "remove copies that only move data: contiguous(), cat, clone and layout changes between operators; write results into "
        "place",
        "remove copies that only move data: transposes, concatenations and layout changes between operators; donate arguments "
        "that are not used again (donate_argnums)",
        "remove copies that only move data: transposes, concatenations and layout changes between operators",
        NULL,
        "remove copies that only move data: exchange buffers, and write results into place" },
    [ADVICE_LAUNCH_LESS] = {
        "capture the whole step as CUDA graphs (torch.compile with mode=\"reduce-overhead\"); fused optimizers (fused=True) and "
        "larger batches save a part of it",
        "let XLA compile the whole step as one program (jax.jit), which then launches it as graphs; larger batches save a part "
        "of it",
        "let XLA compile the whole step as one program (tf.function(jit_compile=True)), which then launches it as graphs; larger "
        "batches save a part of it",
        "let XLA compile the whole step, or several, as one program (jax.jit, jax.lax.scan; in TensorFlow steps_per_execution), "
        "so that the host launches less often; larger batches save a part of it",
        "capture what is repeated as a graph (cudaStreamBeginCapture), or launch fewer and larger kernels",
        .hip = "capture what is repeated as a graph (hipStreamBeginCapture), or launch fewer and larger kernels",
        .sycl = "record what is repeated as a command graph (sycl_ext_oneapi_graph), or launch fewer and larger kernels",
        .elsewhere = "let torch.compile(model) fuse operators, or capture the step as a graph where the device has graphs; fused "
        "optimizers (fused=True) and larger batches save a part of it",
        .npu = "let torchair compile the step for the NPU (torch.compile with its backend), which launches it as a graph;"
        " fused optimizers (torch_npu.optim.NpuFusedAdamW and others), task queue level 2 (TASK_QUEUE_ENABLE=2) "
        "and larger batches save a part of it" },
    [ADVICE_USE_ONCE] = {
        "leave the first steps out of the recording (schedule(wait=..., warmup=...)); before serving, run once",
        "leave the first steps, which compile, out of the recording; before serving, run once",
        "leave the first steps, which compile, out of the recording; before serving, run once",
        NULL,
        "leave the first iterations out of the recording; load modules ahead (CUDA_MODULE_LOADING=EAGER)",
        .hip = "leave the first iterations out of the recording; load modules ahead (HIP_ENABLE_DEFERRED_LOADING=0)",
        .sycl = "leave the first iterations out of the recording; compile kernels ahead of time (-fsycl-targets)",
        .npu = "leave the first steps out of the recording (schedule(wait=..., warmup=...)), and do not compile operators"
        " at run time (torch_npu.npu.set_compile_mode(jit_compile=False)); before serving, run once" },
    [ADVICE_ALLOCATE_LESS] = {
        "keep shapes constant, so that the caching allocator can reuse its memory, or set "
        "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True; do not call empty_cache() in the loop",
        "keep shapes constant and memory preallocated (XLA_PYTHON_CLIENT_PREALLOCATE is not false)",
        "keep shapes constant and memory preallocated (no tf.config.experimental.set_memory_growth)",
        "keep shapes constant",
        "allocate once, before the loop, or from a pool (cudaMallocAsync)",
        .hip = "allocate once, before the loop, or from a pool (hipMallocAsync)",
        .sycl = "allocate once, before the loop, and use it again",
        .elsewhere = "keep shapes constant, so that the caching allocator can reuse its memory; do not call empty_cache() in the loop",
        .npu = "keep shapes constant, so that the caching allocator can reuse its memory, or set "
        "PYTORCH_NPU_ALLOC_CONF=expandable_segments:True; do not call empty_cache() in the loop" },
    [ADVICE_PIN_ONCE] = {
        "pin memory once and use it again; let DataLoader(pin_memory=True) do it",
        "pin memory once and use it again",
        "pin memory once and use it again",
        NULL,
        "pin memory once and use it again" },
    [ADVICE_OVERLAP] = {
        "start it earlier and wait later (DDP buckets, FSDP prefetch), or send less: accumulate or compress gradients",
        "let XLA overlap it (XLA_FLAGS=--xla_gpu_enable_latency_hiding_scheduler=true), or send less: accumulate gradients, "
        "shard otherwise",
        "let XLA overlap it (XLA_FLAGS=--xla_gpu_enable_latency_hiding_scheduler=true), or send less: accumulate gradients, "
        "shard otherwise",
        "let XLA overlap it (LIBTPU_INIT_ARGS=--xla_tpu_enable_latency_hiding_scheduler=true), or send less: accumulate "
        "gradients, shard otherwise",
        "start it earlier, on a stream of its own, and wait later, or send less" },
    [ADVICE_MATRIX_PRECISION] = {
        "mixed precision (torch.autocast), or torch.set_float32_matmul_precision(\"high\") for TF32 (tpa kernels shows which)",
        "bfloat16, or jax_default_matmul_precision=tensorfloat32 (tpa kernels shows which)",
        "mixed precision (tf.keras.mixed_precision), or tf.config.experimental.enable_tensor_float_32_execution(True) (tpa "
        "kernels shows which)",
        NULL,
        "half precision, or TF32 (CUBLAS_COMPUTE_32F_FAST_TF32) (tpa kernels shows which)",
        .hip = "half precision, or TF32 (HIPBLAS_COMPUTE_32F_FAST_TF32) (tpa kernels shows which)",
        .sycl = "half precision, or TF32 (MKL_BLAS_COMPUTE_MODE=FLOAT_TO_TF32) (tpa kernels shows which)",
        .npu = "mixed precision (torch.autocast(\"npu\")), or torch_npu.npu.matmul.allow_hf32 = True" },
    [ADVICE_MATRIX_HALF] = {
        "mixed precision (torch.autocast, with a GradScaler): tensor cores of this device have no TF32 (tpa kernels shows which)",
        "float16: tensor cores of this device have no TF32 (tpa kernels shows which)",
        "mixed precision (tf.keras.mixed_precision): tensor cores of this device have no TF32 (tpa kernels shows which)",
        NULL,
        "half precision: tensor cores of this device have no TF32 (tpa kernels shows which)" },
    [ADVICE_FUSE] = {
        "torch.compile(model) fuses chains of elementwise operations, norms, casts and copies; fused kernels of libraries (fused=True "
        "of optimizers, rotary embeddings, norms, losses) do so for their part",
        "compute them in one function under jax.jit, in which XLA fuses them",
        "compute them in one tf.function(jit_compile=True), in which XLA fuses them",
        NULL,
        "do them in one kernel, which keeps what lies between in registers" },
    [ADVICE_NEARER_TO_PEAK] = {
        "larger batches or fewer, fused operators (torch.compile) where they are small; a lower precision where they are bound by "
        "compute (tpa roofline shows which)",
        "larger batches where they are small; bfloat16 or int8 where they are bound by compute (tpa roofline shows which)",
        "larger batches where they are small; bfloat16 or int8 where they are bound by compute (tpa roofline shows which)",
        NULL,
        "larger batches or fewer, fused operators where they are small; a lower precision where they are bound by compute (tpa "
        "roofline shows which)" },
    [ADVICE_WAIT_FOR_NO_COPY] = {
        "copy asynchronously, with non_blocking=True",
        "copy ahead of need, and read results later: jax.Array.copy_to_host_async()",
        "copy ahead of need, and read results less often",
        NULL,
        "copy asynchronously, with cudaMemcpyAsync",
        .hip = "copy asynchronously, with hipMemcpyAsync",
        .sycl = "copy without waiting, and wait for the event of the copy where its values are used" },
    [ADVICE_WAIT_FOR_NO_UPLOAD] = {
        "copy from pinned memory with non_blocking=True",
        "copy ahead of need, while the device computes: jax.device_put, prefetch_to_device",
        "copy ahead of need, while the device computes: tf.data.experimental.prefetch_to_device",
        NULL,
        "copy from pinned memory with cudaMemcpyAsync",
        .hip = "copy from pinned memory with hipMemcpyAsync",
        .sycl = "copy from host memory of the device (sycl::malloc_host, zeMemAllocHost), and do not wait for each copy" },
    [ADVICE_WAIT_FOR_NO_PAGEABLE_UPLOAD] = {
        "pin the host memory (pin_memory=True) and copy with non_blocking=True",
        "copy ahead of need, while the device computes: jax.device_put, prefetch_to_device",
        "copy ahead of need, while the device computes: tf.data.experimental.prefetch_to_device",
        NULL,
        "pin the host memory (cudaMallocHost), and copy asynchronously",
        .hip = "pin the host memory (hipHostMalloc), and copy asynchronously",
        .sycl = "copy from host memory of the device (sycl::malloc_host, zeMemAllocHost), and do not wait for each copy" },
    [ADVICE_WAIT_FOR_NO_DOWNLOAD] = {
        "read less often, or without waiting: x.to(\"cpu\", non_blocking=True), and wait for an event before the values are used",
        "read results later: jax.Array.copy_to_host_async()",
        "read results less often, and after more steps have been launched",
        NULL,
        "copy less often, or to pinned memory with cudaMemcpyAsync, and wait for an event before the values are used",
        .hip = "copy less often, or to pinned memory with hipMemcpyAsync, and wait for an event before the values are used",
        .sycl = "copy less often, or to host memory of the device (sycl::malloc_host, zeMemAllocHost), and wait for the event of the "
        "copy before the values are used" },
    [ADVICE_RECORD_DEVICE] = {
        "profile with ProfilerActivity.CUDA",
        "profile with jax.profiler.trace() on a machine with a GPU or TPU",
        "profile with device_tracer_level=1 of tf.profiler.experimental.ProfilerOptions",
        NULL,
        "record the devices, too",
        .npu = "profile with ProfilerActivity.NPU of torch_npu.profiler",
        .elsewhere = "profile with the ProfilerActivity of the device" },
    [ADVICE_RECORD_SIZES] = {
        "PyTorch since 2.2 records it of NCCL, and record_shapes=True does for other libraries", NULL, NULL, NULL, NULL,
        .npu = "level 1 of the profiler records it (profiler_level=ProfilerLevel.Level1)",
        .elsewhere = "record_shapes=True records it" },
    [ADVICE_RECORD_GROUPS] = {
        "PyTorch since 2.2 records it of NCCL, and lists the groups of a job", NULL, NULL, NULL, NULL,
        .npu = "databases of later versions of torch_npu record the ranks of a group (export_type=ExportType.Db)" },
    [ADVICE_COMPUTE_ON_DEVICE] = {
        "create and prepare tensors on the device (device=\"cuda\"), or ahead, in the workers of the loader",
        "create and prepare arrays in the jitted step (jax.numpy), or ahead, beside the step",
        "create and prepare tensors in the tf.function, or ahead, in dataset.map",
        NULL,
        "do it on the device, or ahead, on another thread",
        .npu = "create and prepare tensors on the device (device=\"npu\"), or ahead, in the workers of the loader",
        .elsewhere = "create and prepare tensors on the device (device=...), or ahead, in the workers of the loader" },
    [ADVICE_GRAPH] = { "CUDA graph", "command buffer", "command buffer", "longer program", "CUDA graph",
        .npu = "NPU graph", .hip = "HIP graph", .sycl = "command graph", .elsewhere = "device graph" },
};
/* clang-format on */

/* clang-format off */
/* The line of code that is changed, and what it becomes; NULL where the advice names none. */
static const struct words old_code[ADVICES] = {
    /* others: code is added, not changed */
    [ADVICE_LOAD_DATA] = { NULL, "dataset.map(decode)", "dataset.map(decode)", NULL, NULL },
    [ADVICE_PIN_BATCHES] = { "DataLoader(...); batch.to(\"cuda\")", NULL, NULL, NULL, "malloc(size)",
        .npu = "DataLoader(...); batch.to(\"npu\")", .elsewhere = "DataLoader(...); batch.to(device)" },
    [ADVICE_ALLOCATE_LESS] = { NULL, NULL, NULL, NULL, "cudaMalloc(&at, size)", .hip = "hipMalloc(&at, size)" },
    [ADVICE_WAIT_FOR_NO_COPY] = { "x.to(\"cuda\")", NULL, NULL, NULL, "cudaMemcpy(...)", .hip = "hipMemcpy(...)", .npu = "x.to(\"npu\")", .elsewhere = "x.to(device)" },
    [ADVICE_WAIT_FOR_NO_UPLOAD] = { "x.to(\"cuda\")", NULL, NULL, NULL, "cudaMemcpy(...)", .hip = "hipMemcpy(...)", .npu = "x.to(\"npu\")", .elsewhere = "x.to(device)" },
    [ADVICE_WAIT_FOR_NO_PAGEABLE_UPLOAD] = { "x.to(\"cuda\")", NULL, NULL, NULL, "malloc(size)", .npu = "x.to(\"npu\")", .elsewhere = "x.to(device)" },
    [ADVICE_COMPUTE_ON_DEVICE] = { "torch.zeros(...).to(\"cuda\")", "numpy.zeros(...)", NULL, NULL, NULL,
        .npu = "torch.zeros(...).to(\"npu\")", .elsewhere = "torch.zeros(...).to(device)" },
    [ADVICE_WAIT_FOR_NO_DOWNLOAD] = { "x.cpu()", NULL, NULL, NULL, "cudaMemcpy(...)", .hip = "hipMemcpy(...)" },
};

static const struct words new_code[ADVICES] = {
    /* others: no line of code does it */
    [ADVICE_LOAD_DATA] = {
        NULL,
        "dataset.map(decode, num_parallel_calls=tf.data.AUTOTUNE).prefetch(tf.data.AUTOTUNE)",
        "dataset.map(decode, num_parallel_calls=tf.data.AUTOTUNE).prefetch(tf.data.AUTOTUNE)",
        NULL,
        NULL },
    [ADVICE_PIN_BATCHES] = {
        "DataLoader(..., pin_memory=True); batch.to(\"cuda\", non_blocking=True)",
        "next_batch = jax.device_put(next(batches))",
        "dataset.apply(tf.data.experimental.prefetch_to_device(\"/GPU:0\"))",
        NULL,
        "cudaMallocHost(&at, size)", .hip = "hipHostMalloc(&at, size)",
        .npu = "DataLoader(..., pin_memory=True); batch.to(\"npu\", non_blocking=True)",
        .elsewhere = "DataLoader(..., pin_memory=True); batch.to(device, non_blocking=True)" },
    [ADVICE_COPY_AHEAD] = {
        "with torch.cuda.stream(copies): next_batch = next_batch.to(\"cuda\", non_blocking=True)",
        "next_batch = jax.device_put(next(batches))",
        "dataset.apply(tf.data.experimental.prefetch_to_device(\"/GPU:0\"))",
        NULL,
        "cudaMemcpyAsync(to, from, size, kind, copies)", .hip = "hipMemcpyAsync(to, from, size, kind, copies)",
        .npu = "with torch.npu.stream(copies): next_batch = next_batch.to(\"npu\", non_blocking=True)",
        .elsewhere = "with torch.Stream(device): next_batch = next_batch.to(device, non_blocking=True)" },
    [ADVICE_COPY_LESS] = { NULL, "jax.jit(step, donate_argnums=0)", NULL, NULL, NULL },
    [ADVICE_LAUNCH_LESS] = {
        "model = torch.compile(model, mode=\"reduce-overhead\")",
        "step = jax.jit(step)",
        "@tf.function(jit_compile=True)",
        "jax.lax.scan(step, state, batches)",
        "cudaStreamBeginCapture(stream, mode)", .hip = "hipStreamBeginCapture(stream, mode)",
        .npu = "model = torch.compile(model, backend=torchair.get_npu_backend())", .elsewhere = "model = torch.compile(model)" },
    [ADVICE_USE_ONCE] = { "schedule(wait=1, warmup=1, active=3)", NULL, NULL, NULL, "CUDA_MODULE_LOADING=EAGER", .hip = "HIP_ENABLE_DEFERRED_LOADING=0",
        .npu = "torch_npu.npu.set_compile_mode(jit_compile=False)" },
    [ADVICE_ALLOCATE_LESS] = {
        "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",
        "XLA_PYTHON_CLIENT_PREALLOCATE=true",
        NULL,
        NULL,
        "cudaMallocAsync(&at, size, stream)", .hip = "hipMallocAsync(&at, size, stream)",
        .npu = "PYTORCH_NPU_ALLOC_CONF=expandable_segments:True", .elsewhere = "" },
    [ADVICE_PIN_ONCE] = { "DataLoader(..., pin_memory=True)", NULL, NULL, NULL, NULL },
    [ADVICE_OVERLAP] = {
        NULL,
        "XLA_FLAGS=--xla_gpu_enable_latency_hiding_scheduler=true",
        "XLA_FLAGS=--xla_gpu_enable_latency_hiding_scheduler=true",
        "LIBTPU_INIT_ARGS=--xla_tpu_enable_latency_hiding_scheduler=true",
        NULL },
    [ADVICE_MATRIX_PRECISION] = {
        "torch.set_float32_matmul_precision(\"high\")",
        "jax.config.update(\"jax_default_matmul_precision\", \"tensorfloat32\")",
        "tf.config.experimental.enable_tensor_float_32_execution(True)",
        NULL,
        "CUBLAS_COMPUTE_32F_FAST_TF32", .hip = "HIPBLAS_COMPUTE_32F_FAST_TF32",
        .npu = "torch_npu.npu.matmul.allow_hf32 = True" },
    [ADVICE_MATRIX_HALF] = {
        "with torch.autocast(\"cuda\", dtype=torch.float16): loss = model(batch)",
        "x.astype(jax.numpy.float16)",
        "tf.keras.mixed_precision.set_global_policy(\"mixed_float16\")",
        NULL,
        "CUDA_R_16F" },
    [ADVICE_FUSE] = { "model = torch.compile(model)", "step = jax.jit(step)", "@tf.function(jit_compile=True)", NULL, NULL },
    [ADVICE_WAIT_FOR_NO_COPY] = { "x.to(\"cuda\", non_blocking=True)", NULL, NULL, NULL, "cudaMemcpyAsync(..., stream)", .hip = "hipMemcpyAsync(..., stream)",
        .npu = "x.to(\"npu\", non_blocking=True)", .elsewhere = "x.to(device, non_blocking=True)" },
    [ADVICE_WAIT_FOR_NO_UPLOAD] = { "x.to(\"cuda\", non_blocking=True)", "next_batch = jax.device_put(next(batches))", NULL,
        NULL, "cudaMemcpyAsync(..., stream)", .hip = "hipMemcpyAsync(..., stream)",
        .npu = "x.to(\"npu\", non_blocking=True)", .elsewhere = "x.to(device, non_blocking=True)" },
    [ADVICE_WAIT_FOR_NO_PAGEABLE_UPLOAD] = { "x.pin_memory().to(\"cuda\", non_blocking=True)",
        "next_batch = jax.device_put(next(batches))", NULL, NULL, "cudaMallocHost(&at, size)", .hip = "hipHostMalloc(&at, size)",
        .npu = "x.pin_memory().to(\"npu\", non_blocking=True)",
        .elsewhere = "x.pin_memory().to(device, non_blocking=True)" },
    [ADVICE_COMPUTE_ON_DEVICE] = { "torch.zeros(..., device=\"cuda\")", "jax.numpy.zeros(...)", NULL, NULL, NULL,
        .npu = "torch.zeros(..., device=\"npu\")", .elsewhere = "torch.zeros(..., device=device)" },
    [ADVICE_WAIT_FOR_NO_DOWNLOAD] = { "x.to(\"cpu\", non_blocking=True)", "x.copy_to_host_async()", NULL, NULL,
        "cudaMemcpyAsync(..., stream)", .hip = "hipMemcpyAsync(..., stream)" },
};
/* clang-format on */

static bool is_on(const struct trace *trace, enum device_type type)
{
    return trace->file_count && device_types_of(trace)->of_file[0] == type;
}

/* Of ROW what is for the framework of TRACE. */
static const char *words_for(const struct trace *trace, const struct words *row)
{
    if (is_on(trace, DEVICE_TYPE_NPU))
        return row->npu ? row->npu : row->torch;
    if (trace->file_count && trace->files[0].producer == PRODUCER_UNITRACE)
        return row->sycl ? row->sycl : row->other;
    if (trace_framework(trace) == FRAMEWORK_TORCH && row->elsewhere &&
        !device_type_has_cuda(trace_device_type(trace)))
        return *row->elsewhere ? row->elsewhere : NULL;
    switch (trace_framework(trace)) {
    case FRAMEWORK_TORCH: return row->torch;
    case FRAMEWORK_XLA:
        if (row->tpu && is_on(trace, DEVICE_TYPE_XLA))
            return row->tpu;
        return trace->files[0].producer == PRODUCER_TENSORFLOW ? row->tensorflow : row->jax;
    default:
        return row->hip && trace->file_count && trace->files[0].producer == PRODUCER_ROCPROF ? row->hip
                                                                                             : row->other;
    }
}

const char *trace_advice(const struct trace *trace, enum advice advice)
{
    bool of_any_maker = advice == ADVICE_GRAPH && is_on(trace, DEVICE_TYPE_GPU);
    return of_any_maker ? words[advice].elsewhere : words_for(trace, &words[advice]);
}

struct code_change trace_code(const struct trace *trace, enum advice advice)
{
    if (trace->file_count && trace->files[0].producer == PRODUCER_UNITRACE) /* neither CUDA nor HIP */
        return (struct code_change){ 0 };
    return (struct code_change){ words_for(trace, &old_code[advice]), words_for(trace, &new_code[advice]) };
}
