/* cmd_callers.c - `tpa callers`: who called a function, and what that cost. */
#include "cli/calls_command.h"

static int callers_main(const struct invocation *call, struct tpa_error *err)
{
    return calls_command(PSTATS_CALLERS, call, err);
}

const struct command cmd_callers = {
    .name = "callers",
    .summary = "who called a function, and what that cost",
    .operands = "FILE...",
    .description = CALLS_DESCRIPTION,
    .section = SECTION_ANALYZE,
    .reads_profiles = true,
    .options = calls_opts,
    COMMAND_ARGS(calls_defaults),
    .main = callers_main,
    .reads_traces = true,
    .examples = { "tpa callers prof.stats --filter collate",
                  "tpa callers trace.json --filter '^aten::copy_$'",
                  "tpa callers prof.stats --sort cumulative --limit 5 --strip-dirs",
                  "tpa callers prof.stats --format pstats  # what Python's pstats prints" },
};
