/*
 * run_program.h - run a program unaffected by tpa, and receive its reports in the meantime.
 *
 *     struct program_end end;
 *     if (!run_program(argv, environment, fifo, take_line, context, &end, err))
 *         return ...
 *     ...
 *     return program_exit(&end);
 *
 * The program has our terminal, our standard streams and our process group. Signals that are meant for it and reach us
 * are passed on; it decides what becomes of them.
 */
#ifndef TPA_CLI_RUN_PROGRAM_H
#define TPA_CLI_RUN_PROGRAM_H

#include "base/error.h"
#include <stddef.h>

/* How a program ended. */
struct program_end {
    int exit_code; /* when signal is 0; 127: there is no such program, 126: it cannot be run */
    int signal;
};

/* A line of the fifo, without its end; may be changed. */
typedef void take_line_function(void *context, char *line);

/*
 * Run ARGV (NULL behind the last word) until it ends, and give TAKE_LINE each line that anybody writes into the fifo at
 * path FIFO (NULL: none). False and ERR when no process could be made. A program that does not exist is not an error of
 * ours: it is reported on stderr as a shell does, and END says 127.
 */
bool run_program(char *const *argv, const char *fifo, take_line_function *take_line, void *context,
                 struct program_end *end, struct tpa_error *err);

/* The exit code that says the same; when the program was killed by a signal, so are we, without a core of ours. */
int program_exit(const struct program_end *end);

#endif
