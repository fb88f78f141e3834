/* cmd_memory.c - `tpa memory`: where memory peaked, what was alive then, who allocates. */
#include "analyze/memory/memory.h"
#include "cli/analysis.h"
#include "facts/features.h"

struct memory_args {
    struct load_args load;
    struct selection_query selection;
    struct output_args output;
    int by;
};

static const struct memory_args memory_defaults = { .load = LOAD_DEFAULTS,
                                                    .output = { .limit = ANALYSIS_LIMIT_DEFAULT } };

static const struct opt_choice rows_by[] = {
    [MEMORY_BY_OPERATOR] = { "op", "the operator that allocated", "operator" },
    [MEMORY_BY_MODULE] = { "module", "the innermost nn.Module; needs Python stacks", NULL },
    [MEMORY_BY_LINE] = { "line", "the innermost function outside PyTorch; needs Python stacks", "stack" },
    [MEMORY_BY_STEP] = { "step", "the step in which it was allocated", NULL },
    [MEMORY_BY_THREAD] = { "thread", "the host thread that allocated", NULL },
    [MEMORY_BY_DEVICE] = { "device", "all blocks of a device together", "rank" },
    { .name = "stream",
      .refusal = "allocators record the device of a block, not the stream; --by device has what is told" },
    { .name = "kernel", .refusal = "kernels allocate nothing; --by op has the operators that launch them" },
    { 0 },
};

static const struct opt memory_opts[] = {
    OPT_GROUP("Rows"),
    OPT_CHOICE(
        'b', "by", struct memory_args, by, rows_by, "WHAT",
        "what makes a row of the blocks: of those in use at the peak, allocated and freed, never freed"),
    SELECTION_OPTIONS(struct memory_args, selection),
    OUTPUT_OPTIONS(struct memory_args, output),
    LOAD_OPTIONS(struct memory_args, load),
    OPT_END,
};

static bool add_tables(const struct trace *trace, const struct selection *selection, const void *args,
                       struct result *result, struct tpa_error *err)
{
    const struct memory_args *own = args;
    (void)err;
    struct memory_options options = {
        .by = (enum memory_by)own->by,
        .filtered = own->selection.filter != NULL,
        .devices = own->selection.devices,
    };
    memory_add_tables(trace, selection, &options, result);
    if (own->selection.streams.count)
        result_add_notice(result, "no_streams", 0, NULL, TPA_NOWHERE,
                          "memory belongs to no stream, so --stream changes nothing here; --device does");
    return true;
}

static int memory_main(const struct invocation *call, struct tpa_error *err)
{
    const struct memory_args *args = call->args;
    bool in_code = args->by == MEMORY_BY_MODULE || args->by == MEMORY_BY_LINE;
    struct analysis_call analysis = {
        .schema = "tpa.memory/1",
        .wants = in_code ? &memory_code_wants : &memory_wants,
        .load = &args->load,
        .query = &args->selection,
        .output = &args->output,
        .add_tables = add_tables,
    };
    return analysis_run(call, &analysis, err);
}

const struct command cmd_memory = {
    .name = "memory",
    .summary = "where memory peaked, what was in use then, and which operators allocate",
    .operands = "TRACE...",
    .description =
        "Per device, and for the host: the most bytes that were in use, when, in which step and operator; and the most "
        "that the allocator held. Then what was in use at the peak, by the operator that allocated it; what each "
        "operator allocates and frees; how memory grows from step to step; and the blocks that were not freed while "
        "recording went on.\n\n"
        "The figures of a framework's trace are those of its allocators: what NCCL or cudaMalloc take besides is not "
        "in it. Of a memory timeline (prof.export_memory_timeline, in its .json and .raw.json.gz forms) they are the "
        "peak and what memory was used for: parameters, activations, gradients ...",
    .options = memory_opts,
    COMMAND_ARGS(memory_defaults),
    .main = memory_main,
    .examples = {
        "tpa memory trace.json",
        "tpa memory --by step trace.json                # which steps leave blocks behind",
        "tpa memory --steps 3 --device 0 trace.json     # the peak of one step",
        "tpa memory timeline.raw.json.gz                # what export_memory_timeline wrote",
        "tpa memory --limit 0 --format json trace.json",
    },
    .section = SECTION_ANALYZE,
    .needs = FEATURE_MEMORY,
    .reads_traces = true,
};
