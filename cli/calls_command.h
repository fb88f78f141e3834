/*
 * calls_command.h - what `tpa callers` and `tpa callees` share: all but the direction.
 */
#ifndef TPA_CLI_CALLS_COMMAND_H
#define TPA_CLI_CALLS_COMMAND_H

#include "cli/command.h"
#include "cli/load.h"
#include "cli/profile_report.h"

struct calls_args {
    const char *sort;
    bool reverse, strip_dirs;
    struct selection_query selection;
    struct output_args output;
    struct load_args load;
};

extern const struct calls_args calls_defaults;
extern const struct opt calls_opts[];

#define CALLS_DESCRIPTION                                                                                      \
    "In a Python profile (cProfile, profile, yappi; several add up) these are its functions; in a trace, the " \
    "operators, annotations, Python frames and runtime calls of the host, as they nest in time.\n\n"           \
    "Functions come in the order of --sort; within each, what took longest comes first. --limit counts "       \
    "functions, 25 without it; CSV, JSON and the text of pstats hold all. --filter and --exclude choose the "  \
    "functions asked about, not those that called them or that they called."

int calls_command(enum pstats_report report, const struct invocation *call, struct tpa_error *err);

#endif
