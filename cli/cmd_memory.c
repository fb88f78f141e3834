/* cmd_memory.c - `tpa memory`: peaks of memory, blocks in use at them, allocations by operator. */
#include "memory/memory.h"
#include "cli/analysis.h"
#include "cli/parts.h"
#include "memory/program_memory.h"
#include "memory/snapshot_analysis.h"
#include "derive/features.h"

struct memory_args {
    struct load_args load;
    struct selection_query selection;
    struct output_args output;
    const char *at;
    bool segments;
    struct opt_list forecasts;
    int64_t capacity;
    int by;
};

static const struct memory_args memory_defaults = { .load = LOAD_DEFAULTS,
                                                    .output = { .limit = ANALYSIS_LIMIT_DEFAULT } };

/* Words of --by after those for traces. */
enum {
    ROWS_BY_STACK = MEMORY_BY_DEVICE + 1,
    ROWS_BY_ANNOTATION,
    ROWS_BY_CATEGORY,
    ROWS_BY_POOL,
    ROWS_BY_CONTEXT,
    ROWS_BY_METADATA,
};

static const struct opt_choice rows_by[] = {
    [MEMORY_BY_OPERATOR] = { "op", "the operator that allocated", "operator" },
    [MEMORY_BY_MODULE] = { "module", "the innermost nn.Module; needs Python stacks", NULL },
    [MEMORY_BY_LINE] = { "line", "the innermost function outside PyTorch; needs Python stacks", NULL },
    [MEMORY_BY_STEP] = { "step", "the step in which it was allocated", NULL },
    [MEMORY_BY_THREAD] = { "thread", "the host thread that allocated", NULL },
    [MEMORY_BY_CYCLE] = { "cycle", "the recording of the rank in which it was allocated", NULL },
    [MEMORY_BY_DEVICE] = { "device", "all blocks of a device together", "rank" },
    [ROWS_BY_STACK] = { "stack", "all frames of it; of a trace, as line", NULL },
    [ROWS_BY_ANNOTATION] = { "annotation", "the user scope in which it was allocated; of snapshots",
                             "scope" },
    [ROWS_BY_CATEGORY] = { "category", "what it is used for: parameter, gradient ...; of snapshots", NULL },
    [ROWS_BY_POOL] = { "pool", "the allocator's pool; of snapshots", NULL },
    [ROWS_BY_CONTEXT] = { "graph", "the graph of torch.compile; of snapshots", NULL },
    [ROWS_BY_METADATA] = { "metadata", "the text set by the program; of snapshots", NULL },
    { .name = "stream",
      .refusal =
          "allocators record the device of a block, not the stream; --by device has what is recorded" },
    { .name = "kernel", .refusal = "kernels allocate nothing; --by op has the operators that launch them" },
    { 0 },
};

static const struct opt memory_opts[] = {
    OPT_GROUP("Rows"),
    OPT_CHOICE(
        'b', "by", struct memory_args, by, rows_by, "WHAT",
        "what makes a row of the blocks: of those in use at the peak, allocated and freed, never freed"),
    OPT_GROUP("Snapshots of the allocator"),
    OPT_TEXT(
        0, "at", struct memory_args, at, "MOMENT",
        "what was in use then: peak, end, oom, the number of an entry, or a time from the first, e.g. 1.5s"),
    OPT_FLAG(0, "segments", struct memory_args, segments, "show the segments at that moment, too"),
    OPT_GROUP("Forecast"),
    OPT_LIST(
        0, "forecast", struct memory_args, forecasts, "SIZE",
        "the peak at this size, e.g. batch=48, from recordings at two others: a.pickle@batch=16 b.pickle@batch=32; may be repeated"),
    OPT_SIZE(0, "capacity", struct memory_args, capacity, "BYTES", "does it fit, and which size does: 80GiB"),
    SELECTION_OPTIONS(struct memory_args, selection),
    OUTPUT_OPTIONS(struct memory_args, output),
    LOAD_OPTIONS(struct memory_args, load),
    OPT_END,
};

static bool memory_own_add_tables(const struct trace *trace, const struct selection *selection,
                                  const void *args, struct result *result, struct tpa_error *err)
{
    const struct memory_args *own = args;
    (void)err;
    struct memory_options options = {
        .by = own->by == ROWS_BY_STACK ? MEMORY_BY_LINE : (enum memory_by)own->by,
        .filtered = own->selection.filter != NULL,
        .devices = own->selection.devices,
    };
    memory_add_tables(trace, selection, &options, result);
    if (own->selection.streams.count)
        ADD_NOTICE(result, "no_streams", 0,
                   "memory belongs to no stream, so --stream changes nothing here; --device does");
    return true;
}

/* The meaning of --by for snapshots; they have no operators, so the default is by line. */
static bool rows_of_snapshots(int by, enum alive_by *rows, struct tpa_error *err)
{
    switch (by) {
    case MEMORY_BY_OPERATOR:
    case MEMORY_BY_LINE: *rows = ALIVE_BY_LINE; return true;
    case ROWS_BY_STACK: *rows = ALIVE_BY_STACK; return true;
    case MEMORY_BY_STEP:
    case ROWS_BY_ANNOTATION: *rows = ALIVE_BY_ANNOTATION; return true;
    case ROWS_BY_CATEGORY: *rows = ALIVE_BY_CATEGORY; return true;
    case ROWS_BY_POOL: *rows = ALIVE_BY_POOL; return true;
    case ROWS_BY_CONTEXT: *rows = ALIVE_BY_CONTEXT; return true;
    case ROWS_BY_METADATA: *rows = ALIVE_BY_METADATA; return true;
    default:
        tpa_fail(err, TPA_NOWHERE, "--by %s is for traces; this is a snapshot of the allocator",
                 rows_by[by].name);
        return tpa_hint(err, "a snapshot has line, stack, annotation, category, pool, graph and metadata");
    }
}

static int memory_of_files(const struct memory_args *args, const struct ingested *ingested,
                           struct tpa_error *err)
{
    const struct selection_query *selection = &args->selection;
    const char *option = selection->steps.count     ? "--steps"
                         : selection->range         ? "--range"
                         : selection->filter        ? "--filter"
                         : selection->exclude       ? "--exclude"
                         : selection->streams.count ? "--stream"
                         : selection->ranks.count   ? "--rank"
                                                    : NULL;
    struct memory_snapshot_query query = { .at = args->at,
                                           .segments = args->segments,
                                           .devices = selection->devices };
    if (option) {
        tpa_fail(err, TPA_NOWHERE, "%s is for traces; this is a snapshot of the allocator", option);
        tpa_hint(err, "--device and --at choose a part of a snapshot");
        return EXIT_TROUBLE;
    }
    if (!rows_of_snapshots(args->by, &query.by, err))
        return EXIT_TROUBLE;
    return memory_of_snapshots(ingested, &query, &args->output, err);
}

/* Are the options valid for a trace? */
static bool check_options_of_traces(const struct memory_args *args, struct tpa_error *err)
{
    const char *option = args->at                   ? "--at"
                         : args->segments           ? "--segments"
                         : args->by > ROWS_BY_STACK ? "--by with this word"
                                                    : NULL;
    return !option ||
           tpa_fail(err, TPA_NOWHERE, "%s is for snapshots of the allocator; this is a trace", option);
}

static int memory_forecast(const struct invocation *call, struct tpa_error *err)
{
    const struct memory_args *args = call->args;
    SCOPED_BY(forecast_query_release) struct forecast_query query = { .texts = forecast_texts_open() };
    SCOPED_BY(result_free_at) struct result *result = result_open("tpa.memory/1");
    struct output_args rows = args->output;
    rows.limit = analysis_limit(&args->output);
    bool good =
        forecast_files_read(call, &args->load, &query, err) &&
        forecast_answer(&query, args->forecasts.at, args->forecasts.count, args->capacity, result, err) &&
        output_result(result, &rows, err);
    return good ? EXIT_FINE : EXIT_TROUBLE;
}

static int memory_main(const struct invocation *call, struct tpa_error *err)
{
    const struct memory_args *args = call->args;
    if (args->forecasts.count)
        return memory_forecast(call, err);
    if (args->capacity) {
        tpa_fail(err, TPA_NOWHERE, "--capacity is for --forecast");
        return EXIT_TROUBLE;
    }
    bool in_code = args->by == MEMORY_BY_MODULE || args->by == MEMORY_BY_LINE || args->by == ROWS_BY_STACK;
    struct analysis_call analysis = {
        .schema = "tpa.memory/1",
        .wants = in_code ? &memory_code_wants : &memory_wants,
        .load = &args->load,
        .query = &args->selection,
        .output = &args->output,
        .add_tables = memory_own_add_tables,
    };
    struct ingested ingested;
    if (!load_any(call, &args->load, analysis.wants, &ingested, err))
        return EXIT_TROUBLE;
    int exit_code = EXIT_TROUBLE;
    if (ingested.snapshots.of.count) {
        exit_code = memory_of_files(args, &ingested, err);
    } else if (!ingested.trace || check_options_of_traces(args, err)) {
        struct trace *trace = ingested_trace(&ingested, call->operands[0], err);
        return trace ? analysis_run_on(call, &analysis, trace, err) : EXIT_TROUBLE;
    }
    ingested_free(&ingested);
    return exit_code;
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
        "peak and what memory was used for: parameters, activations, gradients ...\n\n"
        "Of an XSpace of JAX or TensorFlow, also what XLA assigned each program: its peak, parameters, results and temporary "
        "buffers, and those in use at the peak, with their instruction, operator and line.\n\n"
        "Of a snapshot (torch.cuda.memory._dump_snapshot) they come from a replay of the allocator's history, in requested "
        "bytes. They are the peak of each device, what was in use then by line of code, why memory ran out, what "
        "each step leaves behind, and how much of the segments lies idle.",
    .tables = { memory_tables, program_memory_tables, snapshot_tables, forecast_tables },
    .options = memory_opts,
    COMMAND_ARGS(memory_defaults),
    .main = memory_main,
    .examples = {
        "tpa memory trace.json",
        "tpa memory --by step trace.json                # which steps leave blocks behind",
        "tpa memory --steps 3 --device 0 trace.json     # the peak of one step",
        "tpa memory snapshot.pickle                     # what _dump_snapshot wrote",
        "tpa memory --limit 0 --format json trace.json",
        "tpa memory --forecast batch=48 --capacity 80GiB a.pickle@batch=16 b.pickle@batch=32",
    },
    .section = SECTION_ANALYZE,
    .needs = FEATURE_MEMORY,
    .reads_snapshots = true,
    .reads_traces = true,
};
