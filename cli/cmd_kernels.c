/* cmd_kernels.c - `tpa kernels`: every kernel, how often, how long, how launched and by whom. */
#include "analyze/kernels.h"
#include "cli/analysis.h"
#include "facts/features.h"

struct kernels_args {
    struct load_args load;
    struct selection_query selection;
    struct output_args output;
    int by;
    const char *sort;
    bool reverse;
};

static const struct kernels_args kernels_defaults = { .load = LOAD_DEFAULTS,
                                                      .output = { .limit = ANALYSIS_LIMIT_DEFAULT } };

static const struct opt_choice rows_by[] = {
    [KERNELS_BY_NAME] = { "name", "one row per kernel", "kernel" },
    [KERNELS_BY_SHAPE] = { "shape", "per kernel and launch shape: grid, block, registers, shared memory",
                           "grid launch" },
    [KERNELS_BY_OPERATOR] = { "op", "per kernel and operator that launched it", "operator" },
    [KERNELS_BY_DEVICE] = { "device", "per kernel and device", "rank" },
    [KERNELS_BY_STREAM] = { "stream", "per kernel and stream", NULL },
    [KERNELS_BY_STEP] = { "step", "per kernel and step in which it was launched", NULL },
    { 0 },
};

static const struct opt kernels_opts[] = {
    OPT_GROUP("Rows"),
    OPT_CHOICE('b', "by", struct kernels_args, by, rows_by, "WHAT", "what makes a row, besides the name"),
    OPT_TEXT('s', "sort", struct kernels_args, sort, "KEY",
             "sort by this column, largest first; without it by total"),
    OPT_FLAG('r', "reverse", struct kernels_args, reverse, "smallest first"),
    SELECTION_OPTIONS(struct kernels_args, selection),
    OUTPUT_OPTIONS(struct kernels_args, output),
    LOAD_OPTIONS(struct kernels_args, load),
    OPT_END,
};

static bool add_tables(const struct trace *trace, const struct selection *selection, const void *args,
                       struct result *result, struct tpa_error *err)
{
    const struct kernels_args *own = args;
    struct kernels_options options = { .by = (enum kernels_by)own->by };
    kernels_add_table(trace, selection, &options, result);
    return analysis_sort(result->tables.at[0], own->sort, own->reverse, err);
}

static int kernels_main(const struct invocation *call, struct tpa_error *err)
{
    const struct kernels_args *args = call->args;
    struct analysis analysis = {
        .schema = "tpa.kernels/1",
        .wants = &kernels_wants,
        .load = &args->load,
        .query = &args->selection,
        .output = &args->output,
        .add_tables = add_tables,
    };
    return analysis_run(call, &analysis, err);
}

const struct command cmd_kernels = {
    .name = "kernels",
    .summary = "every kernel: time, spread, launch shape, occupancy, operators",
    .operands = "TRACE...",
    .description =
        "One row per kernel: how often it ran, its total, mean, median, shortest and longest time and their standard "
        "deviation; whether it uses tensor cores; the launch shape that took the most time; the operators that launch "
        "it. Copies and memsets are no kernels: tpa transfers has them.\n\n"
        "Kernels that were launched before recording began count like all others.",
    .options = kernels_opts,
    COMMAND_ARGS(kernels_defaults),
    .main = kernels_main,
    .examples = {
        "tpa kernels trace.json",
        "tpa kernels --by shape --filter gemm trace.json  # one row per grid and block",
        "tpa kernels --sort stddev --columns name,count,median,max,stddev trace.json",
        "tpa kernels --by op --limit 0 --format csv trace.json",
    },
    .section = SECTION_ANALYZE,
    .needs = FEATURE_GPU,
    .reads_traces = true,
};
