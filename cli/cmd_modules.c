/* cmd_modules.c - `tpa modules`: time per nn.Module and per line of source. */
#include "analyze/modules.h"
#include "cli/analysis.h"
#include "facts/features.h"

struct modules_args {
    struct load_args load;
    struct selection_query selection;
    struct output_args output;
    unsigned by; /* a bit for each of ROWS_BY */
    bool flat;
    uint64_t depth;
    const char *sort;
    bool reverse;
};

static const struct modules_args modules_defaults = { .load = LOAD_DEFAULTS,
                                                      .output = { .limit = ANALYSIS_LIMIT_DEFAULT } };

static const struct opt_choice rows_by[] = {
    [MODULES_BY_TREE] = { "tree", "each module within those that called it", NULL },
    [MODULES_BY_INSTANCE] = { "module", "each module, whoever called it", "instance" },
    [MODULES_BY_CLASS] = { "class", "all modules of a class together", NULL },
    [MODULES_BY_LINE] = { "line", "the innermost function outside PyTorch: file(line): name", "stack" },
    { "rank", "each rank apart; alone or with one of the others", NULL },
    { .name = "step", .refusal = "a module runs in every step; see --steps, and tpa top --by module,step" },
    { .name = "device",
      .aliases = "stream",
      .refusal =
          "a module has host time, too, which lies on no device; see --device, and tpa top --by module,device" },
    { .name = "thread",
      .refusal =
          "a module's backward pass runs on other threads; tpa top --by module,thread tells them apart" },
    { .name = "op",
      .aliases = "operator kernel",
      .refusal = "modules call operators; tpa top --by module,op has both" },
    { 0 },
};
enum { BY_RANK = 1 << (MODULES_BY_LINE + 1) };

/* What makes a row besides the rank; MODULES_BY_TREE unless something else was asked for. */
static enum modules_by kind_of_rows(const struct modules_args *args)
{
    unsigned kinds = args->by & ~(unsigned)BY_RANK;
    enum modules_by by = MODULES_BY_TREE;
    while (kinds >> by > 1)
        by++;
    return by == MODULES_BY_TREE && args->flat ? MODULES_BY_CLASS : by;
}

static const struct opt modules_opts[] = {
    OPT_GROUP("Rows"),
    OPT_CHOICES('b', "by", struct modules_args, by, rows_by, "WHAT",
                "what makes a row, tree when not given; rank may stand beside another. One or more of"),
    OPT_FLAG(0, "flat", struct modules_args, flat, "no tree: as --by class"),
    OPT_COUNT('d', "depth", struct modules_args, depth, 0, 1000000, "N",
              "show N levels of the tree; what lies deeper counts as its callers' own. 0 shows all"),
    OPT_TEXT(
        's', "sort", struct modules_args, sort, "KEY",
        "sort by this column, largest first, in the tree among those of one caller; without it by total time"),
    OPT_FLAG('r', "reverse", struct modules_args, reverse, "smallest first"),
    SELECTION_OPTIONS(struct modules_args, selection),
    OUTPUT_OPTIONS(struct modules_args, output),
    LOAD_OPTIONS(struct modules_args, load),
    OPT_END,
};

static bool add_tables(const struct trace *trace, const struct selection *selection, const void *args,
                       struct result *result, struct tpa_error *err)
{
    const struct modules_args *own = args;
    struct modules_options options = {
        .by = kind_of_rows(own),
        .by_rank = own->by & BY_RANK,
        .depth = (int64_t)own->depth,
        .indent = output_is_for_people(&own->output),
        .sort = own->sort,
        .reverse = own->reverse,
        .filter = own->selection.filter,
        .exclude = own->selection.exclude,
    };
    return modules_add_table(trace, selection, &options, result, err);
}

static int modules_main(const struct invocation *call, struct tpa_error *err)
{
    const struct modules_args *args = call->args;
    struct selection_query query = args->selection;
    query.filter = query.exclude = NULL; /* they are about modules, not about events */
    struct analysis_call analysis = {
        .schema = "tpa.modules/1",
        .wants = &modules_wants,
        .load = &args->load,
        .query = &query,
        .output = &args->output,
        .add_tables = add_tables,
    };
    unsigned kinds = args->by & ~(unsigned)BY_RANK;
    if (kinds & (kinds - 1)) {
        tpa_fail(err, TPA_NOWHERE, "--by takes one of tree, module, class and line at a time");
        tpa_hint(err, "rank may stand beside it, as in class,rank");
        return EXIT_TROUBLE;
    }
    return analysis_run(call, &analysis, err);
}

const struct command cmd_modules = {
    .name = "modules",
    .summary = "time per nn.Module and per line of source, forward and backward",
    .operands = "TRACE...",
    .description =
        "One row per module of a model, indented below the module that called it: how often it was called, and its time "
        "on the host and on devices, its own and with all that it called. The backward pass counts with the module whose "
        "forward pass caused it, and has columns of its own.\n\n"
        "--flat adds up all modules of a class, --by module all calls of a module. --by line has a row per function of "
        "your own code: the innermost one outside PyTorch.\n\n"
        "What was in no module is a row, too: its time and that of the outermost modules add up to all there is.",
    .options = modules_opts,
    COMMAND_ARGS(modules_defaults),
    .main = modules_main,
    .examples = {
        "tpa modules --depth 2 trace.json",
        "tpa modules --flat trace.json  # per class: Linear, LayerNorm ...",
        "tpa modules --by line --sort self_cpu trace.json",
        "tpa modules --steps 3 --format json trace.json",
    },
    .section = SECTION_ANALYZE,
    .needs = FEATURE_STACKS,
    .reads_traces = true,
};
