/* help.h - help texts for people and shells, generated from the commands' rows. */
#ifndef TPA_CLI_HELP_H
#define TPA_CLI_HELP_H

#include "cli/command.h"

/* `tpa help`: the commands to begin with, one line each, and the others by the question that they answer. */
void help_overview(size_t width, struct buffer *out);

/* Is the command NAME in `tpa help`? */
bool help_lists(const char *name);

/* `tpa COMMAND --help`. */
void help_command(const struct command *command, size_t width, struct buffer *out);

/* A manual page in roff: of COMMAND, or of the program if it is NULL. */
void help_man(const struct command *command, struct buffer *out);

/* Usage and option tables of COMMAND in Markdown, for docs/commands/. */
void help_markdown(const struct command *command, struct buffer *out);

/* The same rows, with the tables that commands make, for programs: of COMMAND, or of all if it is NULL. help_json.c
 * shows it. */
void help_json(const struct command *command, struct buffer *out);

/* The same in brief: what they answer, or COMMAND's options and the keys of its tables, at most HELP_JSON_MOST bytes: texts go
 * where they would be more. */
enum { HELP_JSON_MOST = 12000 };
void help_json_brief(const struct command *command, struct buffer *out);

/* The heading of SECTION in `tpa help`. */
const char *help_section_title(enum command_section section);

#endif
