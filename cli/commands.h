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
    ROW(job) \
    ROW(hang)
#define COMMANDS_BEHIND(ROW) \
    ROW(chart) \
    ROW(report) \
    ROW(view) \
    ROW(convert) \
    ROW(sql) \
    ROW(check) \
    ROW(diff) \
    ROW(nightly) \
    ROW(facts) \
    ROW(capture) \
    ROW(bottleneck) \
    ROW(mcp) \
    ROW(skill) \
    ROW(completion) \
    ROW(help)
/* clang-format on */

#define DECLARE_COMMAND(name) extern const struct command cmd_##name;
COMMANDS_BEFORE(DECLARE_COMMAND)
COMMANDS_BEHIND(DECLARE_COMMAND)
#undef DECLARE_COMMAND

/* The commands in order, those of the analyses included; NULL past the last. */
const struct command *command_at(size_t index);

/* An option that asks COMMAND a question with a command of its own: `tpa top --callers NAME FILE` is `tpa callers NAME FILE`.
 * The two are one question to people, and two names to programs; `tpa help` lists the first. */
struct command_mode {
    const char *command, *option, *stands_for;
};

/* The modes of all commands; the one without a command ends them. */
extern const struct command_mode command_modes[];

/* The mode of COMMAND that WORD asks for, with or without its dashes; NULL if there is none. */
const struct command_mode *command_mode_of(const struct command *command, const char *word);

/* Does `tpa help` leave out COMMAND, because a mode of another is the same? */
bool command_is_mode(const struct command *command);

/* The command called NAME; NULL and ERR, with a suggestion, if there is none. */
const struct command *command_find(const char *name, struct tpa_error *err);

#endif
