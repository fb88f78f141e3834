/* cmd_comm.c - `tpa comm`: collectives, and who waited for whom. */
#include "analyze/comm.h"
#include "base/suggest.h"
#include "cli/analysis.h"
#include "trace/features.h"
#include <string.h>

struct comm_args {
    struct load_args load;
    struct selection_query selection;
    struct output_args output;
    const char *by, *sort;
    bool reverse;
};

static const struct comm_args comm_defaults = { .load = LOAD_DEFAULTS,
                                                .output = { .limit = ANALYSIS_LIMIT_DEFAULT } };

static const struct {
    const char *name;
    enum comm_dimension dimension;
} dimensions[] = {
    { "collective", COMM_COLLECTIVE },
    { "name", COMM_COLLECTIVE },
    { "library", COMM_LIBRARY },
    { "group", COMM_GROUP },
    { "dtype", COMM_TYPE },
    { "type", COMM_TYPE },
    { "size", COMM_SIZE },
    { "op", COMM_OPERATOR },
    { "operator", COMM_OPERATOR },
    { "kernel", COMM_KERNEL },
    { "rank", COMM_RANK },
    { "device", COMM_DEVICE },
    { "stream", COMM_STREAM },
    { "step", COMM_STEP },
};

static const struct opt comm_opts[] = {
    OPT_GROUP("Rows"),
    OPT_TEXT(
        'b', "by", struct comm_args, by, "WHAT",
        "what makes a row: collective, library, group, dtype, size, op, kernel, rank, device, stream, step; or "
        "several, as in collective,size. Without it collective,library,group,dtype,size"),
    OPT_TEXT('s', "sort", struct comm_args, sort, "KEY",
             "sort the first table by this column, largest first; without it by time"),
    OPT_FLAG('r', "reverse", struct comm_args, reverse, "smallest first"),
    SELECTION_OPTIONS(struct comm_args, selection),
    OUTPUT_OPTIONS(struct comm_args, output),
    LOAD_OPTIONS(struct comm_args, load),
    OPT_END,
};

static bool parse_dimensions(const char *list, unsigned *by, struct tpa_error *err)
{
    size_t len;
    for (*by = 0; list; list = list[len] ? list + len + 1 : NULL) {
        len = strcspn(list, ",");
        unsigned found = 0;
        for (size_t i = 0; i < sizeof dimensions / sizeof *dimensions; i++)
            if (strlen(dimensions[i].name) == len && memcmp(dimensions[i].name, list, len) == 0)
                found = dimensions[i].dimension;
        if (!found) {
            struct suggest near = suggest_for(list, len);
            for (size_t i = 0; i < sizeof dimensions / sizeof *dimensions; i++)
                suggest_consider(&near, dimensions[i].name);
            tpa_fail(err, TPA_NOWHERE, "--by knows no '%.*s'%s%s%s", (int)len, list,
                     near.best ? "; did you mean " : "", near.best ? near.best : "", near.best ? "?" : "");
            return tpa_hint(err,
                            "it knows collective, library, group, dtype, size, op, kernel, rank, device, "
                            "stream and step, and several of them separated by commas");
        }
        *by |= found;
    }
    return true;
}

static bool add_tables(const struct trace *trace, const struct selection *selection, const void *args,
                       struct result *result, struct tpa_error *err)
{
    const struct comm_args *own = args;
    struct comm_options options = { .filter = own->selection.filter, .exclude = own->selection.exclude };
    return parse_dimensions(own->by, &options.by, err) &&
           comm_add_tables(trace, selection, &options, result, err) &&
           analysis_sort(result->tables.at[0], own->sort, own->reverse, err);
}

static int comm_main(const struct invocation *call, struct tpa_error *err)
{
    const struct comm_args *args = call->args;
    struct selection_query query = args->selection;
    query.filter = query.exclude = NULL; /* names of collectives are more than names of events */
    struct analysis analysis = {
        .schema = "tpa.comm/1",
        .wants = &comm_wants,
        .load = &args->load,
        .query = &query,
        .output = &args->output,
        .add_tables = add_tables,
    };
    unsigned by;
    return parse_dimensions(args->by, &by, err) ? analysis_run(call, &analysis, err) : EXIT_TROUBLE;
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
