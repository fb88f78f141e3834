/* cmd_transfers.c - `tpa transfers`: copies, and who had to wait for them. */
#include "analyze/transfers.h"
#include "cli/analysis.h"
#include "facts/features.h"

struct transfers_args {
    struct load_args load;
    struct selection_query selection;
    struct output_args output;
    int by;
};

static const struct transfers_args transfers_defaults = { .load = LOAD_DEFAULTS,
                                                          .output = { .limit = ANALYSIS_LIMIT_DEFAULT } };

static const struct opt_choice rows_by[] = {
    [TRANSFERS_BY_KIND] = { "kind", "direction and host memory, per device", "direction device" },
    [TRANSFERS_BY_RANK] = { "rank", "the same; and of the waits the rank", NULL },
    [TRANSFERS_BY_STREAM] = { "stream", "the same per stream", NULL },
    [TRANSFERS_BY_STEP] = { "step", "the same per step in which the copy was launched", NULL },
    [TRANSFERS_BY_OPERATOR] = { "op", "the same per operator that copied", "operator" },
    { .name = "thread", .refusal = "copies are the device's; --by op has those who asked for them" },
    { 0 },
};

static const struct opt transfers_opts[] = {
    OPT_GROUP("Rows"),
    OPT_CHOICE('b', "by", struct transfers_args, by, rows_by, "WHAT", "what makes a row of the copies"),
    SELECTION_OPTIONS(struct transfers_args, selection),
    OUTPUT_OPTIONS(struct transfers_args, output),
    LOAD_OPTIONS(struct transfers_args, load),
    OPT_END,
};

static bool add_tables(const struct trace *trace, const struct selection *selection, const void *args,
                       struct result *result, struct tpa_error *err)
{
    (void)err;
    const struct transfers_args *own = args;
    transfers_add_tables(trace, selection, (enum transfers_by)own->by, result);
    return true;
}

static int transfers_main(const struct invocation *call, struct tpa_error *err)
{
    const struct transfers_args *args = call->args;
    struct analysis_call analysis = {
        .schema = "tpa.transfers/1",
        .wants = &transfers_wants,
        .load = &args->load,
        .query = &args->selection,
        .output = &args->output,
        .limited = "stalls",
        .add_tables = add_tables,
    };
    return analysis_run(call, &analysis, err);
}

const struct command cmd_transfers = {
    .name = "transfers",
    .summary = "copies between host and devices: how fast, what they stall, and what to do",
    .operands = "TRACE...",
    .description =
        "Per direction and host memory: how many copies, their bytes, time and bandwidth, for how long no kernel ran "
        "beside them, and for how long a host thread sat and waited for one of them.\n\n"
        "Then the stalls, costliest first: the operator (and the line of Python, where stacks were recorded) in which "
        "the host waited, in a synchronous or pageable copy, in a synchronisation, or while memory was pinned; with "
        "what to do about it and what that could win at most.",
    .options = transfers_opts,
    COMMAND_ARGS(transfers_defaults),
    .main = transfers_main,
    .examples = {
        "tpa transfers trace.json",
        "tpa transfers --wide --columns operator,line,blocked,could_be_won,advice trace.json",
        "tpa transfers --steps 3..7 --format json trace.json",
    },
    .section = SECTION_ANALYZE,
    .needs = FEATURE_GPU,
    .reads_traces = true,
};
