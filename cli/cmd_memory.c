/* cmd_memory.c - `tpa memory`: where memory peaked, what was alive then, who allocates. */
#include "analyze/memory.h"
#include "cli/analysis.h"
#include "trace/features.h"

struct memory_args {
    struct load_args load;
    struct selection_query selection;
    struct output_args output;
};

static const struct memory_args memory_defaults = { .load = LOAD_DEFAULTS,
                                                    .output = { .limit = ANALYSIS_LIMIT_DEFAULT } };

static const struct opt memory_opts[] = {
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
    memory_add_tables(trace, selection, &(struct memory_options){ .devices = own->selection.devices },
                      result);
    return true;
}

static int memory_main(const struct invocation *call, struct tpa_error *err)
{
    const struct memory_args *args = call->args;
    struct analysis analysis = {
        .schema = "tpa.memory/1",
        .wants = &memory_wants,
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
        "tpa memory --steps 3 --device 0 trace.json     # the peak of one step",
        "tpa memory timeline.raw.json.gz                # what export_memory_timeline wrote",
        "tpa memory --limit 0 --format json trace.json",
    },
    .section = SECTION_ANALYZE,
    .needs = FEATURE_MEMORY,
    .reads_traces = true,
};
