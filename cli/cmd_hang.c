/* cmd_hang.c - `tpa hang`: the post-mortem of a stuck distributed job. */
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/load.h"
#include "cli/output.h"
#include "hang/hang.h"
#include "ingest/flight.h"
#include "report/page.h"
#include "report/svg.h"

struct hang_args {
    uint64_t max_ratio;
    bool strict;
    int fail_on;
    struct output_args output;
};

enum fail_on { FAIL_NEVER, FAIL_ON_STUCK, FAIL_ON_WAITING };

static const struct opt_choice fail_words[] = {
    [FAIL_NEVER] = { "never", "exit 0 whatever the verdict", NULL },
    [FAIL_ON_STUCK] = { "stuck", "exit 1 if a job is stuck", NULL },
    [FAIL_ON_WAITING] = { "waiting", "exit 1 if a job is stuck or waiting", NULL },
    { 0 },
};

static const struct printer *const own_printers[] = { &printer_html, &printer_svg, NULL };

static const struct hang_args hang_defaults = {
    .max_ratio = SOURCE_DEFAULT_MAX_RATIO,
    .output = { .own = own_printers, .limit = { .share = LIMIT_NOT_GIVEN } },
};

OUTPUT_FORMATS(format_at, own_printers);

static const struct opt hang_opts[] = {
    OPT_GROUP("Verdict"),
    OPT_CHOICE(0, "fail-on", struct hang_args, fail_on, fail_words, "STATE",
               "when to exit with 1, for scripts"),
    OUTPUT_OPTIONS_WITH(struct hang_args, output, format_at),
    OPT_GROUP("Input"),
    OPT_COUNT(0, "max-ratio", struct hang_args, max_ratio, 0, INT64_MAX, "N",
              "give up on a file that inflates to more than N times its size; 0 never does"),
    OPT_FLAG(0, "strict", struct hang_args, strict,
             "fail if a dump cannot be read, or has a version or state that is not known"),
    OPT_END,
};

static bool is_failing(enum hang_state state, int fail_on)
{
    return (fail_on == FAIL_ON_STUCK && state == HANG_STUCK) ||
           (fail_on == FAIL_ON_WAITING && state >= HANG_WAITING);
}

static int hang_main(const struct invocation *call, struct tpa_error *err)
{
    enum { ROWS_FOR_PEOPLE = 10 };
    const struct hang_args *args = call->args;
    struct flight *flight = flight_read(call->operands, call->operand_count, args->max_ratio, err);
    if (!flight)
        return EXIT_TROUBLE;
    load_bound_results(args->max_ratio);
    SCOPED_OBJECT struct hang *hang = hang_open(flight);
    if (args->strict && !flight_check_complete(flight, err)) {
        flight_free(flight);
        return EXIT_TROUBLE;
    }
    SCOPED_BY(result_free_at) struct result *result = result_open("tpa.hang/1");
    struct output_args output = args->output;
    output.limit = output_limit_or(&args->output, ROWS_FOR_PEOPLE);
    hang_add_tables(hang, output_is_for_people(&args->output), result);
    result->picture = hang_picture(hang);
    if (result->picture)
        result->picture->source =
            command_line_name_files(&result->arena, (const char *const *)call->operands, call->operand_count);
    hang_add_answer(hang, result);
    bool good = output_result(result, &output, err);
    bool failing = is_failing(hang_worst(hang), args->fail_on);
    flight_free(flight);
    return !good ? EXIT_TROUBLE : failing ? EXIT_LIMIT_PASSED : EXIT_FINE;
}

const struct command cmd_hang = {
    .name = "hang",
    .summary = "which ranks hold up a stuck job, from dumps of PyTorch's Flight Recorder",
    .operands = "DUMPS...",
    .description =
        "Takes the dumps that the process groups of a distributed job write when a collective times out: files, or folders "
        "of them, of any number of ranks. It answers which ranks hold up the job, in which operation, at which line, "
        "who waits for them, and what the files cannot tell. Pickle and JSON of NCCL, RCCL, HCCL, gloo, other backends of "
        "PyTorch, and torchcomms.\n\n"
        "A rank is named as a culprit only if the dumps leave no other explanation; otherwise it is a suspect, and a doubt "
        "tells why. A dump that is missing or cannot be read makes its rank a suspect, never a culprit. One set of dumps "
        "often cannot tell a job that is stuck from one that waits: the state says which it is.\n\n"
        "To have dumps written: TORCH_FR_BUFFER_SIZE=2000 TORCH_FR_DUMP_ON_TIMEOUT=1 and TORCH_FR_DUMP_TEMP_FILE in the "
        "environment of the job (before PyTorch 2.9: TORCH_NCCL_TRACE_BUFFER_SIZE, TORCH_NCCL_DUMP_ON_TIMEOUT and "
        "TORCH_NCCL_DEBUG_INFO_TEMP_FILE).",
    .tables = { hang_tables },
    .options = hang_opts,
    COMMAND_ARGS(hang_defaults),
    .main = hang_main,
    .examples = {
        "tpa hang dumps/",
        "tpa hang /tmp/nccl_trace_rank_*",
        "tpa hang --format json dumps/ > hang.json",
        "tpa hang --format html -o hang.html dumps/  # with a picture of who waits for whom",
        "tpa hang --fail-on stuck dumps/  # exit 1 if the dumps prove a hang",
    },
    .section = SECTION_ANALYZE,
};
