/* cmd_launches.c - `tpa launches`: what it cost to launch work. */
#include "analyze/launches.h"
#include "cli/analysis.h"
#include "facts/features.h"

struct launches_args {
    struct load_args load;
    struct selection_query selection;
    struct output_args output;
    int by;
    const char *sort;
    bool reverse;
};

static const struct launches_args launches_defaults = { .load = LOAD_DEFAULTS,
                                                        .output = { .limit = ANALYSIS_LIMIT_DEFAULT } };

static const struct opt_choice rows_by[] = {
    [LAUNCHES_BY_KERNEL] = { "kernel", "per call and what it launched", NULL },
    [LAUNCHES_BY_CALL] = { "call", "per call", NULL },
    [LAUNCHES_BY_OPERATOR] = { "op", "per operator that launched", "operator" },
    [LAUNCHES_BY_DEVICE] = { "device", "per device", "rank" },
    [LAUNCHES_BY_STREAM] = { "stream", "per stream", NULL },
    [LAUNCHES_BY_THREAD] = { "thread", "per host thread that called", NULL },
    [LAUNCHES_BY_STEP] = { "step", "per step in which the call began", NULL },
    { 0 },
};

static const struct opt launches_opts[] = {
    OPT_GROUP("Rows"),
    OPT_CHOICE('b', "by", struct launches_args, by, rows_by, "WHAT", "what makes a row of the launches"),
    OPT_TEXT('s', "sort", struct launches_args, sort, "KEY",
             "sort the launches by this column, largest first; without it by call_time"),
    OPT_FLAG('r', "reverse", struct launches_args, reverse, "smallest first"),
    SELECTION_OPTIONS(struct launches_args, selection),
    OUTPUT_OPTIONS(struct launches_args, output),
    LOAD_OPTIONS(struct launches_args, load),
    OPT_END,
};

static bool add_tables(const struct trace *trace, const struct selection *selection, const void *args,
                       struct result *result, struct tpa_error *err)
{
    const struct launches_args *own = args;
    launches_add_tables(trace, selection, (enum launches_by)own->by, result);
    return analysis_sort(result->tables.at[0], own->sort, own->reverse, err);
}

static int launches_main(const struct invocation *call, struct tpa_error *err)
{
    const struct launches_args *args = call->args;
    struct analysis_call analysis = {
        .schema = "tpa.launches/1",
        .wants = &launches_wants,
        .load = &args->load,
        .query = &args->selection,
        .output = &args->output,
        .limited = "launches",
        .add_tables = add_tables,
    };
    return analysis_run(call, &analysis, err);
}

const struct command cmd_launches = {
    .name = "launches",
    .summary = "what launching costs: calls, queues, kernels shorter than their launch, graphs",
    .operands = "TRACE...",
    .description =
        "Per call and kernel the three phases of a launch, as in Nsight Systems: the time in the call, the time in the "
        "queue (from the end of the call to the start of the kernel, where that is later), the time on the device; and "
        "how many launches took longer than what they launched.\n\n"
        "Then the queues: how many launches waited in each stream. A queue that is mostly empty means that the host "
        "does not keep the device busy. Then the graphs, one launch for many kernels.",
    .options = launches_opts,
    COMMAND_ARGS(launches_defaults),
    .main = launches_main,
    .examples = {
        "tpa launches trace.json",
        "tpa launches --sort launch_bound --limit 10 trace.json",
        "tpa launches --by op trace.json  # who launches too little at a time",
        "tpa launches --columns stream,mean_depth,max_depth,empty trace.json",
    },
    .section = SECTION_ANALYZE,
    .needs = FEATURE_GPU | FEATURE_LAUNCHES,
    .reads_traces = true,
};
