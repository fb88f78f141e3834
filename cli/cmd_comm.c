/* cmd_comm.c - `tpa comm`: collectives, and who waited for whom. */
#include "analyze/comm.h"
#include "cli/analysis.h"
#include "facts/features.h"

struct comm_args {
    struct load_args load;
    struct selection_query selection;
    struct output_args output;
    unsigned by; /* enum comm_dimension, or-ed */
    const char *sort;
    bool reverse;
};

static const struct comm_args comm_defaults = { .load = LOAD_DEFAULTS,
                                                .output = { .limit = ANALYSIS_LIMIT_DEFAULT } };

/* In the order of the bits of enum comm_dimension. */
static const struct opt_choice rows_by[] = {
    { "collective", "what was done: all_reduce, broadcast and so on", "name" },
    { "library", "NCCL, RCCL, gloo and so on", NULL },
    { "group", "process group", NULL },
    { "dtype", "type of the elements", "type" },
    { "size", "size of the collective", NULL },
    { "op", "operator that issued it", "operator" },
    { "kernel", "kernel that did it", NULL },
    { "rank", "rank of the file", NULL },
    { "device", "device it ran on", NULL },
    { "stream", "stream it ran on", NULL },
    { "step", "step in which it was issued", NULL },
    { 0 },
};

static const struct opt comm_opts[] = {
    OPT_GROUP("Rows"),
    OPT_CHOICES('b', "by", struct comm_args, by, rows_by, "WHAT",
                "what makes a row; or several, as in collective,size. Without it "
                "collective,library,group,dtype,size. One or more of"),
    OPT_TEXT('s', "sort", struct comm_args, sort, "KEY",
             "sort the first table by this column, largest first; without it by time"),
    OPT_FLAG('r', "reverse", struct comm_args, reverse, "smallest first"),
    SELECTION_OPTIONS(struct comm_args, selection),
    OUTPUT_OPTIONS(struct comm_args, output),
    LOAD_OPTIONS(struct comm_args, load),
    OPT_END,
};

static bool add_tables(const struct trace *trace, const struct selection *selection, const void *args,
                       struct result *result, struct tpa_error *err)
{
    const struct comm_args *own = args;
    struct comm_options options = { .by = own->by,
                                    .filter = own->selection.filter,
                                    .exclude = own->selection.exclude };
    return comm_add_tables(trace, selection, &options, result, err) &&
           analysis_sort(result->tables.at[0], own->sort, own->reverse, err);
}

static int comm_main(const struct invocation *call, struct tpa_error *err)
{
    const struct comm_args *args = call->args;
    struct selection_query query = args->selection;
    query.filter = query.exclude = NULL; /* names of collectives are more than names of events */
    struct analysis_call analysis = {
        .schema = "tpa.comm/1",
        .wants = &comm_wants,
        .load = &args->load,
        .query = &query,
        .output = &args->output,
        .add_tables = add_tables,
    };
    return analysis_run(call, &analysis, err);
}

const struct command cmd_comm = {
    .name = "comm",
    .summary = "collectives: size, bandwidth, what they expose, and who waited for whom",
    .operands = "TRACE...",
    .description =
        "One row per collective, library, process group, type and size: how often, how long, how much of it was "
        "exposed because nothing computed beside it, and the bandwidths that NCCL's tests would print. NCCL, RCCL, "
        "symmetric memory, custom all-reduce and others are known by their kernels, operators and arguments; gloo, MPI "
        "and UCC by their regions on the host.\n\n"
        "Given the traces of several ranks, the same collective is found on each. The last to arrive shows what the "
        "transfer alone takes; what the others took longer, they waited. A second table tells per rank how often it "
        "came last, by how much, and what it did meanwhile; a third the collectives that cost the most waiting.\n\n"
        "--steps and --range choose by when a collective was issued, --filter and --exclude by its name, its kernel's and "
        "its operator's.",
    .options = comm_opts,
    COMMAND_ARGS(comm_defaults),
    .main = comm_main,
    .examples = {
        "tpa comm rank0.json.gz",
        "tpa comm traces/  # every rank: who waits for whom",
        "tpa comm --by collective,step --filter all_reduce trace.json",
        "tpa comm --by op,size --sort bus_bandwidth --reverse trace.json",
    },
    .section = SECTION_ANALYZE,
    .needs = FEATURE_COLLECTIVES,
    .reads_traces = true,
};
