/* cmd_steps.c - `tpa steps`: where the time of each step went. */
#include "analyze/steps.h"
#include "cli/analysis.h"
#include "facts/features.h"

struct steps_args {
    struct load_args load;
    struct selection_query selection;
    struct output_args output;
    unsigned by; /* enum step_dimension, or-ed */
    const char *step_name, *sort;
    bool reverse;
};

/* In the order of the bits of enum step_dimension. */
static const struct opt_choice rows_by[] = {
    { "step", "each step", NULL },
    { "name", "all steps of a name together, such as the ranges of --step-name", NULL },
    { "rank", "all steps of a rank together", NULL },
    { "device", "all steps together, as each device and the host had them", NULL },
    { "stream", "all steps together, as each stream and the host had them", NULL },
    { .name = "op",
      .aliases = "operator kernel",
      .refusal =
          "a moment of a step counts once, for a part and not for names; tpa top --by op,step has names" },
    { .name = "thread",
      .refusal = "the host is one in a step; tpa top --by thread,step tells its threads apart" },
    { 0 },
};

static const struct steps_args steps_defaults = { .load = LOAD_DEFAULTS,
                                                  .output = { .limit = ANALYSIS_LIMIT_DEFAULT } };

static const struct opt steps_opts[] = {
    OPT_GROUP("Rows"),
    OPT_CHOICES(
        'b', "by", struct steps_args, by, rows_by, "WHAT",
        "what makes a row of the first table; or several, as in step,device. Without it each step. One or "
        "more of"),
    OPT_TEXT(0, "step-name", struct steps_args, step_name, "REGEX",
             "the annotations and NVTX ranges that match REGEX are the steps, instead of ProfilerStep#N"),
    OPT_TEXT('s', "sort", struct steps_args, sort, "KEY",
             "sort by this column, largest first; without it in order of time"),
    OPT_FLAG('r', "reverse", struct steps_args, reverse, "smallest first"),
    SELECTION_OPTIONS(struct steps_args, selection),
    OUTPUT_OPTIONS(struct steps_args, output),
    LOAD_OPTIONS(struct steps_args, load),
    OPT_END,
};

static bool add_tables(const struct trace *trace, const struct selection *selection, const void *args,
                       struct result *result, struct tpa_error *err)
{
    const struct steps_args *own = args;
    struct steps_options options = { .by = own->by, .name = own->step_name };
    return steps_add_tables(trace, selection, &options, result, err) &&
           (own->sort == NULL || analysis_sort(result->tables.at[0], own->sort, own->reverse, err));
}

static int steps_main(const struct invocation *call, struct tpa_error *err)
{
    const struct steps_args *args = call->args;
    struct analysis_call analysis = {
        .schema = "tpa.steps/1",
        .wants = &steps_wants,
        .load = &args->load,
        .query = &args->selection,
        .output = &args->output,
        .limited = "steps",
        .add_tables = add_tables,
    };
    return analysis_run(call, &analysis, err);
}

const struct command cmd_steps = {
    .name = "steps",
    .summary = "where the time of each step went, and why the slowest was slow",
    .operands = "TRACE...",
    .description =
        "One row per step. A step ends when the work that it launched on devices has ended, and the next begins no "
        "earlier. Each moment of it counts once: a kernel ran; else a copy; else a memset; else communication; else a "
        "runtime call; else data loading; else an operator; else other. So the parts add up to the step.\n\n"
        "Below, average and spread of each part over the complete steps, and how the slowest step differs from the "
        "median.\n\n"
        "Steps are what torch.profiler marks as ProfilerStep#N. Without them, name other ranges with --step-name; "
        "else each file is one step.",
    .options = steps_opts,
    COMMAND_ARGS(steps_defaults),
    .main = steps_main,
    .examples = {
        "tpa steps trace.json",
        "tpa steps --sort duration --limit 5 trace.json  # the slowest",
        "tpa steps --step-name '^iteration [0-9]+$' trace.json  # ranges of your own",
        "tpa steps --by name --step-name '^(forward|backward)$' trace.json",
        "tpa steps --format csv runs/today/  # every step of every rank",
    },
    .section = SECTION_ANALYZE,
    .needs = FEATURE_EVENTS,
    .reads_traces = true,
};
