/* cmd_diff.c - `tpa diff`: what changed, and is it real. */
#include "analyze/diff.h"
#include "analyze/top.h"
#include "cli/analysis.h"
#include "cli/gates.h"
#include <string.h>

enum unsure { UNSURE_PASS, UNSURE_FAIL };

struct diff_args {
    struct load_args load;
    struct output_args output;
    struct opt_list base, other, gates;
    int by;
    int unsure;
    int64_t min_change_ns;
};

static const struct diff_args diff_defaults = { .load = LOAD_DEFAULTS,
                                                .output = { .limit = ANALYSIS_LIMIT_DEFAULT } };

static const struct opt_choice by_words[] = {
    { "op", "operators by time on the host, and kernels by time on the device", NULL },
    { "shape", "operators by shapes of their inputs", NULL },
    { "kernel", "kernels, copies and memsets", NULL },
    { "category", NULL, NULL },
    { "thread", NULL, NULL },
    { "stream", NULL, NULL },
    { "device", NULL, NULL },
    { 0 },
};
static const unsigned by_dimensions[] = {
    0, TOP_OPERATOR | TOP_SHAPE, TOP_KERNEL, TOP_CATEGORY, TOP_THREAD, TOP_STREAM, TOP_DEVICE
};

static const struct opt_choice unsure_words[] = {
    [UNSURE_PASS] = { "pass", "exit with 0", NULL },
    [UNSURE_FAIL] = { "fail", "exit with 1", NULL },
    { 0 },
};

static const struct opt diff_opts[] = {
    OPT_GROUP("Sides"),
    OPT_FILES(0, "base", struct diff_args, base, "FILE", "files of the first side, up to the next option"),
    OPT_FILES(0, "new", struct diff_args, other, "FILE", "files of the second side"),
    OPT_GROUP("Rows"),
    OPT_CHOICE('b', "by", struct diff_args, by, by_words, "WHAT", "what makes a row"),
    OPT_TIME(0, "min-change", struct diff_args, min_change_ns, "TIME",
             "a change per step smaller than TIME is no change, e.g. 50us"),
    OPT_GROUP("Gates"),
    OPT_LIST(
        'g', "gate", struct diff_args, gates, "GATE",
        "exit with 1 when this is passed by a real change: 5% (the step time), op=10%:REGEX (rows), idle=+3pp; "
        "several at once"),
    OPT_CHOICE(0, "unsure", struct diff_args, unsure, unsure_words, "WHAT",
               "what to do when there are too few steps to tell"),
    OUTPUT_OPTIONS(struct diff_args, output),
    LOAD_OPTIONS(struct diff_args, load),
    OPT_END,
};

/* Read one side as if its files were all operands. */
static bool load_side(const struct invocation *call, const struct diff_args *args,
                      const struct diff_options *options, const char *const *paths, size_t count,
                      struct ingested *side, struct tpa_error *err)
{
    struct invocation of_side = *call;
    of_side.operands = (char **)(uintptr_t)paths;
    of_side.operand_count = count;
    struct trace_wants wants = diff_wants(options);
    return load_any(&of_side, &args->load, &wants, side, err);
}

/* New; NULL and ERR when the sides can not be compared. */
static struct result *compare_sides(const struct ingested sides[2], const struct diff_options *options,
                                    struct tpa_error *err)
{
    if (sides[0].trace && sides[1].trace) {
        struct result *result = diff_analyze(sides[0].trace, sides[1].trace, options, err);
        for (int i = 0; i < 2 && result; i++)
            load_add_notices(sides[i].trace, result);
        return result;
    }
    if (sides[0].profile && sides[1].profile)
        return diff_profiles(sides[0].profile, sides[1].profile, options);
    tpa_fail(err, TPA_NOWHERE,
             "a trace can be compared with a trace, and a Python profile with a Python profile");
    return NULL;
}

/* The head and the gates are always shown whole. */
static void limit_rows_of_diff(struct result *result, const struct limit *limit)
{
    for (size_t i = 1; i < result->tables.count; i++)
        if (strcmp(result->tables.at[i]->key, "gates") != 0)
            table_truncate(result->tables.at[i], limit_rows(limit, result->tables.at[i]->row_count));
}

static int exit_code(enum gates_outcome outcome, int unsure)
{
    if (outcome == GATES_PASSED || (outcome == GATES_UNSURE && unsure == UNSURE_FAIL))
        return EXIT_LIMIT_PASSED;
    return EXIT_FINE;
}

/* Which files make which side: two operands, or --base and --new. */
static bool find_sides(const struct invocation *call, const struct diff_args *args,
                       const char *const *paths[2], size_t counts[2], struct tpa_error *err)
{
    bool by_options = args->base.count || args->other.count;
    if (by_options && (call->operand_count || !args->base.count || !args->other.count)) {
        tpa_fail(err, TPA_NOWHERE, "--base and --new go together, and without other files");
        return tpa_hint(err, "tpa diff --base a1.json a2.json --new b1.json b2.json");
    }
    if (!by_options && call->operand_count != 2) {
        tpa_fail(err, TPA_NOWHERE, "two sides are needed, and %zu were given", call->operand_count);
        return tpa_hint(err, "tpa diff BASE NEW, or several files a side with --base and --new");
    }
    const char *const *operands = (const char *const *)call->operands;
    paths[0] = by_options ? args->base.at : operands;
    paths[1] = by_options ? args->other.at : operands + 1;
    counts[0] = by_options ? args->base.count : 1;
    counts[1] = by_options ? args->other.count : 1;
    return true;
}

static int diff_main(const struct invocation *call, struct tpa_error *err)
{
    const struct diff_args *args = call->args;
    struct diff_options options = { .by = by_dimensions[args->by], .min_change_ns = args->min_change_ns };
    const char *const *paths[2];
    size_t counts[2];
    if (!find_sides(call, args, paths, counts, err))
        return EXIT_TROUBLE;
    struct ingested sides[2] = { { 0 }, { 0 } };
    int code = EXIT_TROUBLE;
    bool good = true;
    for (int i = 0; i < 2 && good; i++)
        good = load_side(call, args, &options, paths[i], counts[i], &sides[i], err);
    struct result *result = good ? compare_sides(sides, &options, err) : NULL;
    if (result) {
        enum gates_outcome outcome;
        good = gates_check(result, &args->gates, &outcome, err);
        struct output_args output = args->output;
        struct limit limit = analysis_limit(&args->output);
        limit_rows_of_diff(result, &limit);
        output.limit = (struct limit){ 0 };
        if (good && output_result(result, &output, err))
            code = exit_code(outcome, args->unsure);
        result_free(result);
    }
    ingested_free(&sides[0]);
    ingested_free(&sides[1]);
    return code;
}

const struct command cmd_diff = {
    .name = "diff",
    .summary = "what changed between two sides, and whether it is real",
    .operands = "[TRACE...]",
    .description =
        "Compares the second side with the first: the time of a step and its parts, then operators by their own time "
        "on the host and kernels by their time on the device, largest change first. A side is a trace, or several "
        "with --base and --new; all figures are means per step, so sides of different length can be compared.\n\n"
        "The verdict comes from the spread over the steps (Mann-Whitney U, corrected for the number of rows): slower "
        "and faster are real changes, same is none that could be told from chance, unsure means too few steps.\n\n"
        "Python profiles (cProfile) are compared too, by the time in each function; they hold no spread.\n\n"
        "Exits with 0; with 1 when a --gate was passed by a real change; with 2 when the sides can not be compared.",
    .options = diff_opts,
    COMMAND_ARGS(diff_defaults),
    .main = diff_main,
    .examples = {
        "tpa diff baseline.json optimized.json",
        "tpa diff --gate 5% baseline.json optimized.json || echo slower",
        "tpa diff --base a1.json.gz a2.json.gz --new b1.json.gz b2.json.gz --gate 5%",
        "tpa diff before.prof after.prof  # Python profiles",
        "tpa diff --by kernel --format md baseline.json optimized.json  # for a pull request",
    },
    .section = SECTION_COMPARE,
    .reads_traces = true,
};
