/* cmd_callees.c - `tpa callees`: which functions a function called, and what that cost. */
#include "cli/calls_command.h"

static int callees_main(const struct invocation *call, struct tpa_error *err)
{
    return calls_command(PSTATS_CALLEES, call, err);
}

const struct command cmd_callees = {
    .name = "callees",
    .summary = "which functions a function called, and what that cost",
    .operands = "FILE...",
    .description = CALLS_DESCRIPTION,
    .section = SECTION_ANALYZE,
    .reads_profiles = true,
    .options = calls_opts,
    COMMAND_ARGS(calls_defaults),
    .main = callees_main,
    .reads_traces = true,
    .examples = { "tpa callees prof.stats --filter collate",
                  "tpa callees trace.json --filter '^aten::copy_$'",
                  "tpa callees prof.stats --sort cumulative --limit 5 --strip-dirs",
                  "tpa callees prof.stats --format pstats  # what Python's pstats prints" },
};
