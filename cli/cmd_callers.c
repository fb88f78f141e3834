/* cmd_callers.c - `tpa callers` and `tpa callees`: the callers or callees of a function, with costs. The two commands
 * differ only in direction. */
#include "cli/kept.h"
#include "cli/parts.h"
#include <unistd.h>

struct calls_args {
    const char *sort;
    bool reverse, strip_dirs;
    struct selection_query selection;
    struct output_args output;
    struct load_args load;
};

static const struct printer *const own_formats[] = { &profile_pstats_text, NULL };

OUTPUT_FORMATS(calls_format_at, own_formats);

static const struct calls_args calls_defaults = {
    .output = { .own = own_formats, .limit = { .share = LIMIT_NOT_GIVEN } },
    .load = LOAD_DEFAULTS,
};

/* clang-format off */
static const struct opt calls_opts[] = {
    OPT_GROUP("Rows"),
    OPT_WORD('s', "sort", struct calls_args, sort, profile_sort_word, "KEYS",
             "order of the functions: words of pstats, separated by commas, or none; without it tottime"),
    OPT_FLAG('r', "reverse", struct calls_args, reverse, "reverse the order"),
    OPT_FLAG(0, "strip-dirs", struct calls_args, strip_dirs,
             "Python profiles: drop directories from file names; functions that become identical are merged"),
    SELECTION_OPTIONS(struct calls_args, selection),
    LOAD_OPTIONS(struct calls_args, load),
    OUTPUT_OPTIONS_WITH(struct calls_args, output, calls_format_at),
    OPT_END
};
/* clang-format on */

/* Replace the trace by its profile. */
static bool sum_up_trace(struct ingested *ingested, const struct selection_query *query,
                         struct tpa_error *err)
{
    struct selection_query places = *query;
    places.filter = places.exclude = NULL; /* these select functions, after aggregation */
    SCOPED_OBJECT struct selection *selection = selection_open(ingested->trace, &places, err);
    if (!selection)
        return false;
    ingested->profile = trace_profile(ingested->trace, selection);
    return true;
}

static bool check_selection(const struct selection_query *query, struct tpa_error *err)
{
    bool of_trace = query->range || query->steps.count || query->devices.count || query->streams.count ||
                    query->ranks.count;
    return !of_trace || tpa_fail(err, TPA_NOWHERE,
                                 "--steps, --range, --device, --stream and --rank are for traces; a Python "
                                 "profile holds sums and no events");
}

static int callers_answer(enum pstats_report report, const struct invocation *call, struct tpa_error *err)
{
    const struct calls_args *args = call->args;
    struct ingested ingested;
    struct result *known =
        profile_wants_pstats(&args->output) ? NULL : kept_find(&(struct kept_query){ call, .is_cut = true });
    if (known) {
        struct output_args rows = args->output;
        rows.limit = (struct limit){ 0 };
        return output_result(known, &rows, err) ? EXIT_FINE : EXIT_TROUBLE;
    }
    if (!load_any(call, &args->load, &(struct trace_wants){ 0 }, &ingested, err)) {
        if (call->operand_count > 1 && err->file[0] && strcmp(err->file, call->operands[0]) == 0 &&
            access(err->file, F_OK) != 0)
            tpa_hint(err, "operands are files; a function is chosen by --filter: tpa %s --filter NAME %s",
                     call->command->name, call->operands[1]);
        return EXIT_TROUBLE;
    }
    bool fine = false;
    if (ingested.trace) {
        fine = sum_up_trace(&ingested, &args->selection, err);
    } else if (ingested.profile && !profile_has_callers(ingested.profile)) {
        tpa_fail(err, TPA_NOWHERE, "the text of print_stats() does not say who called whom");
        tpa_hint(err, "the profile itself does: python -m cProfile -o FILE.prof PROGRAM");
        tpa_in_file(err, call->operands[0]);
    } else if (ingested.profile) {
        fine = check_selection(&args->selection, err);
    } else {
        tpa_fail(err, TPA_NOWHERE, "%s does not record who called whom",
                 ingested.snapshots.of.count ? "a memory snapshot" : "a report on actions");
        tpa_in_file(err, call->operands[0]);
    }
    int exit_code = EXIT_TROUBLE;
    if (fine) {
        struct profile_query query = {
            .sort = args->sort,
            .reverse = args->reverse,
            .filter = args->selection.filter,
            .exclude = args->selection.exclude,
            .strip_dirs = args->strip_dirs,
        };
        exit_code = profile_report(call, report, &ingested, &query, &args->output, err);
    }
    ingested_free(&ingested);
    return exit_code;
}

#define CALLS_DESCRIPTION                                                                                      \
    "In a Python profile (cProfile, profile, yappi; several add up) these are its functions; in a trace, the " \
    "operators, annotations, Python frames and runtime calls of the host, as they nest in time.\n\n"           \
    "Functions come in the order of --sort; within each, what took longest comes first. --limit counts "       \
    "functions, 25 without it; CSV, JSON and the text of pstats hold all. --filter and --exclude choose the "  \
    "functions in the first column, not those that called them or that they called."

static int callers_main(const struct invocation *call, struct tpa_error *err)
{
    return callers_answer(PSTATS_CALLERS, call, err);
}

const struct command cmd_callers = {
    .name = "callers",
    .summary = "who called a function, and what that cost",
    .operands = "FILE...",
    .description = CALLS_DESCRIPTION,
    .section = SECTION_ANALYZE,
    .reads_profiles = true,
    .needs_callers = true,
    .tables = { profile_callers_tables },
    .options = calls_opts,
    COMMAND_ARGS(calls_defaults),
    .main = callers_main,
    .reads_traces = true,
    .examples = { "tpa callers prof.stats --filter collate",
                  "tpa callers trace.json --filter '^aten::copy_$'",
                  "tpa callers prof.stats --sort cumulative --limit 5 --strip-dirs",
                  "tpa callers prof.stats --format pstats  # what Python's pstats prints" },
};

static int callees_main(const struct invocation *call, struct tpa_error *err)
{
    return callers_answer(PSTATS_CALLEES, call, err);
}

const struct command cmd_callees = {
    .name = "callees",
    .summary = "which functions a function called, and what that cost",
    .operands = "FILE...",
    .description = CALLS_DESCRIPTION,
    .section = SECTION_ANALYZE,
    .reads_profiles = true,
    .needs_callers = true,
    .tables = { profile_callees_tables },
    .options = calls_opts,
    COMMAND_ARGS(calls_defaults),
    .main = callees_main,
    .reads_traces = true,
    .examples = { "tpa callees prof.stats --filter collate",
                  "tpa callees trace.json --filter '^aten::copy_$'",
                  "tpa callees prof.stats --sort cumulative --limit 5 --strip-dirs",
                  "tpa callees prof.stats --format pstats  # what Python's pstats prints" },
};
