/* cmd_gaps.c - `tpa gaps`: why the devices were idle. */
#include "analyze/gaps.h"
#include "cli/analysis.h"
#include "facts/features.h"

struct gaps_args {
    struct load_args load;
    struct selection_query selection;
    struct output_args output;
    int by;
    int64_t min_ns, latency_below_ns;
};

static const struct gaps_args gaps_args_defaults = {
    .load = LOAD_DEFAULTS,
    .output = { .limit = ANALYSIS_LIMIT_DEFAULT },
    .min_ns = 10000,
    .latency_below_ns = 30000,
};

/* The words of --by, and what they stand for. */
static const struct opt_choice words[] = {
    { "device", "all streams of a device together", NULL },
    { "stream", "each stream for itself", NULL },
    { "op", "by the operator that launched the work after the gap", "operator" },
    { "step", "by the step in which that was", NULL },
    { "thread", "by the host thread that launched it", NULL },
    { "rank", "by rank", NULL },
    { 0 },
};
static const enum rows_by rows_by[] = { ROWS_BY_DEVICE, ROWS_BY_STREAM, ROWS_BY_OPERATOR,
                                        ROWS_BY_STEP,   ROWS_BY_THREAD, ROWS_BY_RANK };

static const struct opt gaps_opts[] = {
    OPT_GROUP("Gaps"),
    OPT_CHOICE('b', "by", struct gaps_args, by, words, "WHAT",
               "whose gaps, and what makes a row of the causes"),
    OPT_TIME('m', "min", struct gaps_args, min_ns, "TIME",
             "list gaps of TIME and more; shorter ones count for the causes, but are not listed"),
    OPT_TIME(0, "latency-below", struct gaps_args, latency_below_ns, "TIME",
             "a gap shorter than TIME, whose work was queued already, is launch latency"),
    SELECTION_OPTIONS(struct gaps_args, selection),
    OUTPUT_OPTIONS(struct gaps_args, output),
    LOAD_OPTIONS(struct gaps_args, load),
    OPT_END,
};

static bool add_tables(const struct trace *trace, const struct selection *selection, const void *args,
                       struct result *result, struct tpa_error *err)
{
    (void)err;
    const struct gaps_args *own = args;
    struct gaps_options options = {
        .by = rows_by[own->by],
        .min_ns = own->min_ns,
        .latency_below_ns = own->latency_below_ns,
        .most_rows = analysis_most_rows(&own->output),
    };
    gaps_add_tables(trace, selection, &options, result);
    return true;
}

static int gaps_main(const struct invocation *call, struct tpa_error *err)
{
    const struct gaps_args *args = call->args;
    bool of_places = rows_by[args->by] == ROWS_BY_DEVICE || rows_by[args->by] == ROWS_BY_STREAM;
    struct analysis_call analysis = {
        .schema = "tpa.gaps/1",
        .wants = &gaps_wants,
        .load = &args->load,
        .query = &args->selection,
        .output = &args->output,
        .limited = of_places ? "gaps" : NULL, /* devices and streams have few causes, operators many */
        .add_tables = add_tables,
    };
    return analysis_run(call, &analysis, err);
}

const struct command cmd_gaps = {
    .name = "gaps",
    .summary = "why each GPU was idle: its gaps, each with one cause",
    .operands = "TRACE...",
    .description =
        "Every time in which a device had nothing to do, between its first and its last work, has one cause: the host "
        "launched too late, launch latency, synchronisation, allocation, data loading, a wait for communication on the "
        "host, profiler overhead, or unknown. The sums per cause add up to the idle time of tpa gpu.\n\n"
        "The longest gaps are listed with the work before and after, the operator that launched the work after, and "
        "what that thread did meanwhile. Of the peers, Nsight Systems lists gaps from 500 ms, and HTA takes gaps of "
        "queued work below 30 us for launch latency.",
    .options = gaps_opts,
    COMMAND_ARGS(gaps_args_defaults),
    .main = gaps_main,
    .examples = {
        "tpa gaps trace.json",
        "tpa gaps --min 500ms trace.json  # as Nsight Systems' rule gpu_gaps",
        "tpa gaps --by op trace.json  # which operators leave the device idle before them",
        "tpa gaps --by stream --stream 7 trace.json",
        "tpa gaps --steps 3..7 --limit 5 --wide trace.json",
    },
    .section = SECTION_ANALYZE,
    .needs = FEATURE_GPU,
    .reads_traces = true,
};
