/*
 * command_run.h - one run of a command: its words read, its operands counted, its main called.
 *
 *     struct command_outcome outcome = command_run(command, count, argv, &document, &err);
 *
 * Nothing is printed about an error: that is for the caller, who gets it as data, too.
 */
#ifndef TPA_CLI_COMMAND_RUN_H
#define TPA_CLI_COMMAND_RUN_H

#include "cli/command.h"

struct command_outcome {
    int exit_code;
    bool help_wanted; /* nothing ran: its help is to be shown */
};

/* Run COMMAND on the COUNT words of ARGV that follow its name; their order changes. If it fails before it has printed a result and was
 * to print JSON, the error is appended to DOCUMENT as JSON, with the end of the line. */
struct command_outcome command_run(const struct command *command, int count, char **argv,
                                   struct buffer *document, struct tpa_error *err);

/* Append ERR as JSON to DOCUMENT, if the COUNT words of ARGV ask for JSON. COMMAND NULL: there is none. */
void command_error_document(const struct command *command, int count, char *const *argv,
                            struct tpa_error *err, struct buffer *document);

#endif
