/* cmd_job.c - `tpa job`: a parallel job as such: its pipeline, its stragglers, their cause. */
#include "cli/command_line.h"
#include "cli/commands.h"
#include "derive/features.h"
#include "cli/fleet_map.h"
#include "cli/kept.h"
#include "cli/terminal.h"
#include "derive/file_set.h"
#include "fleet/fleet.h"
#include "job/job.h"
#include "report/page.h"
#include "report/svg.h"
#include <unistd.h>

struct job_args {
    struct ranges steps;
    struct output_args output;
    struct load_args load;
};

static const struct printer *const own_printers[] = { &printer_html, &printer_svg, NULL };

static const struct job_args job_defaults = {
    .output = { .own = own_printers, .limit = { .share = LIMIT_NOT_GIVEN } },
    .load = LOAD_DEFAULTS,
};

OUTPUT_FORMATS(job_format_at, own_printers);

static const struct opt job_opts[] = {
    OPT_GROUP("Selection"),
    OPT_RANGES(0, "steps", struct job_args, steps, "A..B", SELECTION_STEPS_HELP),
    OUTPUT_OPTIONS_WITH(struct job_args, output, job_format_at),
    OPT_ALL(struct job_args, output),
    LOAD_OPTIONS(struct job_args, load),
    OPT_END,
};

static const struct trace_wants job_wants = { .args = OPERATIONS_WANTS, .work_bytes = 64 };

/* Room for the schedule of a step beside the numbers of ranks and stages. */
static size_t schedule_columns(const struct output_args *output)
{
    enum { NUMBERS = 14, LEAST = 40, WHEREVER = 86 };
    size_t width = output->path ? 0 : terminal_width(STDOUT_FILENO);
    return width == 0 ? WHEREVER : width < LEAST + NUMBERS ? LEAST : width - NUMBERS;
}

static void add_job(struct job *job, const struct job_args *args, struct result *result)
{
    job_draw_schedule(job, schedule_columns(&args->output));
    job_add_result(job, result);
    result->picture = job_picture(job);
}

static void add_one_rank(const struct job *job, struct result *result, const char *instead)
{
    if (job->all->ranks.count < 2)
        command_line_cannot(result, trace_feature_reason(FEATURE_RANKS),
                            "a job of one rank has nobody to wait for",
                            "give the traces of several ranks, or their directory", instead);
}

static struct output_args job_output(const struct job_args *args)
{
    enum { ROWS_FOR_PEOPLE = 10 };
    struct output_args output = args->output;
    output.limit = output_limit_or(&args->output, ROWS_FOR_PEOPLE);
    return output;
}

/* Print RESULT, which is taken. */
static bool print_job(const struct invocation *call, struct result *result, struct tpa_error *err)
{
    struct output_args output = job_output(call->args);
    return kept_output(&(struct kept_query){ call }, result, &output, err);
}

/* Of traces together. */
static bool run_on_traces(const struct invocation *call, struct tpa_error *err)
{
    const struct job_args *args = call->args;
    SCOPED_BY(trace_free_at) struct trace *trace = load_traces(call, &args->load, &job_wants, err);
    if (!trace || !file_set_check_job(trace, err))
        return false;
    SCOPED_OBJECT struct job *job = job_of_trace(trace, &args->steps);
    struct result *result = result_open("tpa.job/1");
    add_job(job, args, result);
    load_add_notices(trace, result);
    if (job->all->left_out)
        ADD_NOTICE(result, "other_recordings", job->all->left_out,
                   "recordings are left out: tpa fleet names them");
    if (!load_cannot_if_empty(trace, result))
        add_one_rank(job, result, "summary");
    return print_job(call, result, err);
}

/* Of facts, or of traces one after another. */
static bool run_on_facts(const struct invocation *call, struct tpa_error *err)
{
    const struct job_args *args = call->args;
    SCOPED_BY(fleet_map_release)
    struct fleet_map map = { .load = args->load, .apart = true, .for_job = true };
    bool good = fleet_map(call->operands, call->operand_count, &map, err);
    SCOPED_OBJECT struct job *job =
        good ? job_open(map.facts, fleet_map_apart(&map), &args->steps, err) : NULL;
    load_bound_results(args->load.max_ratio);
    if (job) {
        struct result *result = result_open("tpa.job/1");
        struct arena scratch = { 0 };
        struct fleet_job ranks;
        add_job(job, args, result);
        fleet_job_init(&ranks, map.facts, &scratch);
        fleet_map_notice_job(&map, &ranks, result);
        fleet_notice_missing(&ranks, "", result);
        arena_release(&scratch);
        add_one_rank(job, result, map.facts_read == map.files ? NULL : "summary");
        result->cannot.of_facts = map.facts_read == map.files;
        good = print_job(call, result, err);
    }
    good = good && job;
    return good;
}

static int job_main(const struct invocation *call, struct tpa_error *err)
{
    struct result *known = kept_find(&(struct kept_query){ call });
    if (known) {
        struct output_args output = job_output(call->args);
        return output_result(known, &output, err) ? EXIT_FINE : EXIT_TROUBLE;
    }
    bool mapped = fleet_map_wanted(call->operands, call->operand_count);
    return (mapped ? run_on_facts : run_on_traces)(call, err) ? EXIT_FINE : EXIT_TROUBLE;
}

const struct command cmd_job = {
    .name = "job",
    .summary = "which rank or stage holds a parallel job up: bubbles of its pipeline, stragglers, their cause",
    .operands = "FILE...",
    .description =
        "Takes the traces of the ranks of a job with a pipeline, one file each or merged into one, timelines of such "
        "jobs, and what tpa facts made of them. Finds the coordinates of the ranks, the computations of each microbatch, and who waited for whom. Then the "
        "steps are replayed with some lengths as recorded and others equal: so it is known what a stage, a rank, long "
        "sequences, communication, garbage collection and delays of hosts cost. Bubbles are told apart by their reasons.\n\n"
        "Microbatches are known by the marks of torch.distributed.pipelining, or told apart by the messages between stages. "
        "For jobs without a pipeline there is tpa fleet.",
    .tables = { job_tables },
    .options = job_opts,
    COMMAND_ARGS(job_defaults),
    .main = job_main,
    .examples = {
        "tpa job ranks/",
        "tpa job --steps 3.. rank*.json.gz",
        "tpa job --table heat --limit 0 --format csv ranks/ > heat.csv  # slowdown of each rank in each step",
        "tpa job --format json timeline.json > job.json",
        "tpa job *.facts  # what tpa facts made, on other machines maybe",
    },
    .section = SECTION_ANALYZE,
    .reads_traces = true,
};
