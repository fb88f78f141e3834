/* cmd_gpu.c - `tpa gpu`: what the devices did with their time. */
#include "analyze/gpu.h"
#include "cli/analysis.h"
#include "facts/features.h"

struct gpu_args {
    struct load_args load;
    struct selection_query selection;
    struct output_args output;
    int by;
};

static const struct opt_choice rows_by[] = {
    [GPU_ROWS_DEVICE] = { "device", "all streams of a device together", "rank" },
    [GPU_ROWS_STREAM] = { "stream", "each stream for itself", NULL },
    [GPU_ROWS_STEP] = { "step", "each step: what of the device's time lies within its range on the host",
                        NULL },
    { .name = "op",
      .aliases = "operator kernel",
      .refusal =
          "idle time has no operator; tpa kernels --by op and tpa gaps --by op have rows per operator" },
    { .name = "thread",
      .refusal = "a device works for all threads at once; tpa launches --by thread has rows per thread" },
    { 0 },
};

static const struct gpu_args gpu_defaults = { .load = LOAD_DEFAULTS,
                                              .output = { .limit = ANALYSIS_LIMIT_DEFAULT } };

static const struct opt gpu_opts[] = {
    OPT_GROUP("Rows"),
    OPT_CHOICE('b', "by", struct gpu_args, by, rows_by, "WHAT", "what makes a row"),
    SELECTION_OPTIONS(struct gpu_args, selection),
    OUTPUT_OPTIONS(struct gpu_args, output),
    LOAD_OPTIONS(struct gpu_args, load),
    OPT_END,
};

static bool add_tables(const struct trace *trace, const struct selection *selection, const void *args,
                       struct result *result, struct tpa_error *err)
{
    (void)err;
    const struct gpu_args *own = args;
    gpu_add_tables(trace, selection, (enum gpu_rows)own->by, result);
    return true;
}

static int gpu_main(const struct invocation *call, struct tpa_error *err)
{
    const struct gpu_args *args = call->args;
    struct analysis_call analysis = {
        .schema = "tpa.gpu/1",
        .wants = &gpu_wants,
        .load = &args->load,
        .query = &args->selection,
        .output = &args->output,
        .add_tables = add_tables,
    };
    return analysis_run(call, &analysis, err);
}

const struct command cmd_gpu = {
    .name = "gpu",
    .summary = "what each GPU did with its time: computed, communicated, copied, idled",
    .operands = "TRACE...",
    .description =
        "One row per device, over all its streams. Each moment counts once: the device computes; else it "
        "communicates (exposed communication); else it copies (exposed copies); else it is idle. The four add up to "
        "the span, to the nanosecond.\n\n"
        "Then how well it was used: utilization, estimated SM efficiency and achieved occupancy as TensorBoard's "
        "PyTorch plugin defined them, and the share of kernel time on tensor cores. Then the copies.\n\n"
        "With --steps or --range, work is cut at the edges of what was asked for.",
    .options = gpu_opts,
    COMMAND_ARGS(gpu_defaults),
    .main = gpu_main,
    .examples = {
        "tpa gpu trace.json",
        "tpa gpu --steps 3..7 trace.json  # as a share of these steps",
        "tpa gpu --format json runs/today/  # every rank, for scripts",
        "tpa gpu --columns span,busy,idle,gaps,longest_gap trace.json",
    },
    .section = SECTION_ANALYZE,
    .needs = FEATURE_GPU,
    .reads_traces = true,
};
