/* cmd_summary.c - `tpa summary`: the most important findings. */
#include "summary/runs.h"
#include "summary/summary.h"
#include "cli/analysis.h"
#include "cli/parts.h"
#include "derive/features.h"
#include "derive/file_set.h"
#include "memory/snapshot_analysis.h"

struct summary_args {
    struct load_args load;
    struct selection_query selection;
    struct output_args output;
    int by;
    uint64_t batch;         /* 0: as shapes tell */
    struct run_sizes sizes; /* that, and those behind files */
};

static const struct opt_choice rows_by[] = {
    [SUMMARY_BY_ALL] = { "all", "all ranks and devices together", NULL },
    [SUMMARY_BY_RANK] = { "rank", "each rank for itself", NULL },
    [SUMMARY_BY_DEVICE] = { "device", "each device for itself", NULL },
    { .name = "step", .refusal = "one screen does not hold all steps; see --steps for one, and tpa steps" },
    { .name = "stream",
      .refusal = "rules look at devices; tpa gpu --by stream and tpa gaps --by stream have streams" },
    { .name = "op",
      .aliases = "operator kernel thread module line",
      .refusal = "the summary is about the whole; tpa top has such rows" },
    { 0 },
};

static const struct summary_args summary_defaults = { .load = LOAD_DEFAULTS,
                                                      .output = { .limit = ANALYSIS_LIMIT_DEFAULT } };

static const struct opt summary_opts[] = {
    OPT_GROUP("Rows"),
    OPT_CHOICE('b', "by", struct summary_args, by, rows_by, "WHAT", "what is summed up"),
    OPT_COUNT(0, "batch", struct summary_args, batch, 1, INT32_MAX, "N",
              "samples in a batch of a rank, for the samples a second of separate runs; for one "
              "of them behind its file: bs32/@batch=32"),
    SELECTION_OPTIONS(struct summary_args, selection),
    OUTPUT_OPTIONS(struct summary_args, output),
    OPT_ALL(struct summary_args, output),
    LOAD_OPTIONS(struct summary_args, load),
    OPT_END,
};

static bool summary_own_add_tables(const struct trace *trace, const struct selection *selection,
                                   const void *args, struct result *result, struct tpa_error *err)
{
    const struct summary_args *own = args;
    if (file_set_of(trace)->jobs > 1)
        return summary_add_runs(trace, &own->selection, &own->sizes, result, err);
    return summary_add_tables(trace, selection, (enum summary_by)own->by, result, err);
}

/* A Python profile: the most expensive functions, their callers and callees; or a report of actions: the longest. */
static bool summarize_sums(const struct summary_args *args, const struct ingested *ingested,
                           struct tpa_error *err)
{
    enum { MOST = 5 };
    const struct selection_query *query = &args->selection;
    if (args->by != SUMMARY_BY_ALL || query->filter || query->exclude || query->range || query->steps.count ||
        query->devices.count || query->streams.count || query->ranks.count)
        return tpa_fail(err, TPA_NOWHERE, "a %s has no ranks, devices, steps or times to choose from",
                        ingested->profile ? "Python profile" : "report of actions");
    SCOPED_BY(result_free_at) struct result *result = result_open("tpa.summary/1");
    struct output_args output = args->output;
    output.limit = (struct limit){ 0 };
    output.answer = !output_limit_given(&args->output);
    struct limit limit = output_limit_or(&args->output, MOST);
    bool good = true;
    if (ingested->profile)
        good = profile_add_overview(result, ingested->profile, limit.is_share ? 0 : limit.count, err);
    else
        actions_add_overview(result, ingested->actions);
    good = good && output_result(result, &output, err);
    return good;
}

/* Snapshots of the allocator: why memory ran out, or its peak, and its contents. */
static int summarize_snapshots(const struct summary_args *args, const struct ingested *ingested,
                               struct tpa_error *err)
{
    const struct selection_query *query = &args->selection;
    if (args->by == SUMMARY_BY_ALL && !query->filter && !query->exclude && !query->range &&
        !query->steps.count && !query->streams.count && !query->ranks.count)
        return summary_of_snapshots(ingested, &query->devices, &args->output, err);
    tpa_fail(err, TPA_NOWHERE, "of the selections of traces, a snapshot of the allocator has only --device");
    tpa_hint(err, "tpa memory has --by and --at for snapshots");
    return EXIT_TROUBLE;
}

static int summarize(const struct invocation *call, const struct summary_args *args, struct tpa_error *err)
{
    struct analysis_call analysis = {
        .schema = "tpa.summary/1",
        .wants = &summary_wants,
        .load = &args->load,
        .query = &args->selection,
        .output = &args->output,
        .add_tables = summary_own_add_tables,
    };
    struct ingested ingested;
    if (!load_any(call, &args->load, &summary_wants, &ingested, err))
        return EXIT_TROUBLE;
    if (ingested.profile || ingested.actions) {
        bool good = summarize_sums(args, &ingested, err);
        ingested_free(&ingested);
        return good ? EXIT_FINE : EXIT_TROUBLE;
    }
    if (ingested.snapshots.of.count) {
        int exit_code = summarize_snapshots(args, &ingested, err);
        ingested_free(&ingested);
        return exit_code;
    }
    struct trace *trace = ingested_trace(&ingested, call->operands[0], err);
    return trace ? analysis_run_on(call, &analysis, trace, err) : EXIT_TROUBLE;
}

static int summary_main(const struct invocation *call, struct tpa_error *err)
{
    struct summary_args args = *(const struct summary_args *)call->args;
    struct invocation own = *call;
    own.args = &args;
    args.sizes.batch = (int64_t)args.batch;
    int exit_code = run_sizes_take(&args.sizes, call->operands, call->operand_count, err)
                        ? summarize(&own, &args, err)
                        : EXIT_TROUBLE;
    VEC_FREE(&args.sizes.labels);
    return exit_code;
}

const struct command cmd_summary = {
    .name = "summary",
    .summary = "one screen over all of it, and what to do first",
    .operands = "TRACE...",
    .description =
        "Where the time of a step goes, and what to change, with what each change would save at most; what saves most "
        "comes first. Then the operators that cost most, and what could not be looked at. --all adds the tables: "
        "figures, findings with advice, and the command that shows more of each.\n\n"
        "Of separate runs, such as a sweep over batch sizes, a row for each: time of a step, samples a second, memory, "
        "shares of the devices.\n\n"
        "Of a snapshot of the allocator: why memory ran out, or else its peak, and the lines that hold it.",
    .tables = { figures_tables, findings_tables, remarks_tables, runs_tables, profile_overview_tables,
                profile_action_tables, snapshot_tables },
    .options = summary_opts,
    COMMAND_ARGS(summary_defaults),
    .main = summary_main,
    .examples = {
        "tpa summary trace.json",
        "tpa summary --by rank runs/today/  # which rank differs",
        "tpa summary --columns finding,share,advice --wide trace.json",
        "tpa summary --batch 32 bs32-eager/ bs32-compiled/  # runs side by side",
        "tpa summary bs32/@batch=32 bs64/@batch=64",
        "tpa summary --format json trace.json",
    },
    .section = SECTION_ANALYZE,
    .needs = FEATURE_EVENTS,
    .reads_profiles = true,
    .reads_actions = true,
    .reads_traces = true,
};
