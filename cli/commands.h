/*
 * commands.h - all commands, in the order in which `tpa help` lists them.
 *
 * A command is one file cmd_NAME.c and one row here. Between the two lists come the analyses of analyze/registry.h,
 * whose commands are generated (cmd_analysis.h). Hidden ones come last.
 */
#ifndef TPA_CLI_COMMANDS_H
#define TPA_CLI_COMMANDS_H

#include "cli/command.h"

/* clang-format off */
#define COMMANDS_BEFORE(ROW) \
    ROW(info) \
    ROW(summary) \
    ROW(top) \
    ROW(callers) \
    ROW(callees) \
    ROW(path) \
    ROW(whatif) \
    ROW(memory) \
    ROW(fleet) \
    ROW(hang)
#define COMMANDS_BEHIND(ROW) \
    ROW(chart) \
    ROW(report) \
    ROW(convert) \
    ROW(sql) \
    ROW(diff) \
    ROW(nightly) \
    ROW(facts) \
    ROW(capture) \
    ROW(bottleneck) \
    ROW(completion) \
    ROW(help)
/* clang-format on */

#define DECLARE_COMMAND(name) extern const struct command cmd_##name;
COMMANDS_BEFORE(DECLARE_COMMAND)
COMMANDS_BEHIND(DECLARE_COMMAND)
#undef DECLARE_COMMAND

/* The commands in order, those of the analyses included; NULL past the last. */
const struct command *command_at(size_t index);

/* The command called NAME; NULL and ERR, with a suggestion, if there is none. */
const struct command *command_find(const char *name, struct tpa_error *err);

#endif
