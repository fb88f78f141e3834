/*
 * command_line.h - the command that runs, as a line to paste: what shows the rest of a cut result, or what else to ask.
 *
 *     command_line_set(&call);                       // once, by main
 *     command_line_add_more(out);                    // tpa gaps --format json --limit 0 trace.json
 *     command_line_add_other(out, "top");            // tpa top trace.json
 *
 * The words are quoted for a shell (base/shell_word.h). Nothing is appended before command_line_set.
 */
#ifndef TPA_CLI_COMMAND_LINE_H
#define TPA_CLI_COMMAND_LINE_H

#include "base/result.h"
#include "cli/command.h"

/* CALL is what runs; borrowed until the next call, NULL at the end. */
void command_line_set(const struct invocation *call);

/* Append it without a budget, and with --limit 0: all that there is. Inputs of more than 300 bytes are "...". */
void command_line_add_more(struct buffer *out);

/* Append the options of CALL that are not their defaults, but for those whose names stand between blanks in WITHOUT. */
void command_line_add_options(struct buffer *out, const struct invocation *call, const char *without);

/* Append `tpa COMMAND` and the inputs of what runs. */
void command_line_add_other(struct buffer *out, const char *command);

/* Say that RESULT cannot answer (base/result.h), and offer the commands INSTEAD, separated by blanks (NULL: none). */
void command_line_cannot(struct result *result, const char *reason, const char *text, const char *needs,
                         const char *instead);

/* "rank0.json" of "runs/rank0.json"; a folder that ends in a slash as it is. Within PATH. */
const char *command_line_base_name(const char *path);

/* "rank0.json and 3 more" of several files; in TEXTS, or within the first path. */
const char *command_line_name_files(struct arena *texts, const char *const *paths, size_t count);

/* Does what runs print JSON (--format json)? */
bool command_line_is_json(const struct command *command, const void *args);

#endif
