/* cmd_fleet.c - `tpa fleet`: answers about a job of many ranks. */
#include "cli/command_line.h"
#include "cli/commands.h"
#include "derive/features.h"
#include "cli/fleet_map.h"
#include "cli/kept.h"
#include "fleet/fleet.h"
#include "report/page.h"
#include "report/svg.h"

struct fleet_args {
    const char *job;
    struct output_args output;
    struct load_args load;
};

static const struct printer *const own_printers[] = { &printer_html, &printer_svg, NULL };

static const struct fleet_args fleet_defaults = {
    .output = { .own = own_printers, .limit = { .share = LIMIT_NOT_GIVEN } },
    .load = LOAD_DEFAULTS,
};

OUTPUT_FORMATS(fleet_format_at, own_printers);

static const struct opt fleet_opts[] = {
    OPT_GROUP("Job"),
    OPT_TEXT(0, "job", struct fleet_args, job, "NAME",
             "name of the job that traces are of; facts hold their own"),
    OUTPUT_OPTIONS_WITH(struct fleet_args, output, fleet_format_at),
    LOAD_OPTIONS_APART(struct fleet_args, load),
    OPT_END,
};

static int fleet_main(const struct invocation *call, struct tpa_error *err)
{
    enum { ROWS_FOR_PEOPLE = 10 };
    const struct fleet_args *args = call->args;
    struct output_args output = args->output;
    output.limit = output_limit_or(&args->output, ROWS_FOR_PEOPLE);
    const struct kept_query query = { call };
    struct result *known = kept_find(&query);
    if (known)
        return output_result(known, &output, err) ? EXIT_FINE : EXIT_TROUBLE;
    SCOPED_BY(fleet_map_release)
    struct fleet_map map = { .load = args->load, .job = args->job, .apart = true };
    bool good = fleet_map(call->operands, call->operand_count, &map, err);
    struct fleet *fleet = good ? fleet_open_apart(map.facts, fleet_map_apart(&map), err) : NULL;
    good = fleet != NULL;
    load_bound_results(args->load.max_ratio);
    if (good) {
        struct result *result = result_open("tpa.fleet/1");
        fleet_add_result(fleet, result);
        fleet_add_answer(fleet, result_answer(result), &result->arena);
        fleet_add_findings(fleet, result_answer(result), &result->arena);
        fleet_map_add_notices(&map, result);
        if (fleet->ranks.count < 2)
            command_line_cannot(result, trace_feature_reason(FEATURE_RANKS),
                                "a job of one rank has nobody to wait for",
                                "give the traces of several ranks, or their directory",
                                map.facts_read == map.files ? NULL : "summary");
        result->cannot.of_facts = map.facts_read == map.files;
        result->picture = fleet_picture(fleet);
        if (result->picture)
            result->picture->source = command_line_name_files(
                &result->arena, (const char *const *)call->operands, call->operand_count);
        good = kept_output(&query, result, &output, err);
        arena_free(fleet);
    }
    return good ? EXIT_FINE : EXIT_TROUBLE;
}

const struct command cmd_fleet = {
    .name = "fleet",
    .summary = "a job of many ranks: who holds it up and why, slow GPUs, hosts and links",
    .operands = "FILE...",
    .description =
        "Takes the traces of a job's ranks, directories of them, or what tpa facts made of them, and answers for the "
        "job as a whole. Traces are read by one process per CPU; the answer is the same whatever "
        "the order and the form. A file that cannot be read is named and left out.\n\n"
        "Who holds the job up: a collective begins on a rank when it arrives, and ends for all when the last one is "
        "there. Clocks are corrected by these ends; then the rank that begins last is the one for which the others "
        "wait, and what it did longer than the rank in the middle since they met before is why. What clocks and ends "
        "leave in doubt is attributed to no rank.",
    .tables = { fleet_tables },
    .options = fleet_opts,
    COMMAND_ARGS(fleet_defaults),
    .main = fleet_main,
    .examples = {
        "tpa fleet ranks/  # every trace in a directory",
        "tpa fleet *.facts  # what tpa facts made, on other machines maybe",
        "tpa fleet --format json ranks/ > fleet.json",
        "tpa fleet --format html -o fleet.html ranks/",
        "tpa fleet --format svg -o fleet.svg ranks/  # a bar for each rank, a heat map of ranks and steps",
        "tpa fleet --limit 0 --columns rank,caused,clock,clock_error,drift ranks/",
    },
    .section = SECTION_ANALYZE,
    .reads_traces = true,
};
