/*
 * calls_command.h - what `tpa callers` and `tpa callees` share: all but the direction.
 */
#ifndef TPA_CLI_CALLS_COMMAND_H
#define TPA_CLI_CALLS_COMMAND_H

#include "cli/command.h"
#include "cli/load.h"
#include "cli/profile_report.h"

struct calls_args {
    struct profile_query query;
    struct output_args output;
    struct load_args load;
};

extern const struct calls_args calls_defaults;
extern const struct opt calls_opts[];

#define CALLS_DESCRIPTION                                                                                    \
    "Reads Python profiles (cProfile, profile, yappi). Several files add up.\n\n"                            \
    "Functions come in the order of --sort; within each, the one that took longest comes first. --limit "    \
    "counts functions."

int calls_command(enum pstats_report report, const struct invocation *call, struct tpa_error *err);

#endif
