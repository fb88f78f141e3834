/*
 * run_program.h - run a program unaffected by tpa, and receive its reports in the meantime.
 *
 *     struct program_end end;
 *     if (!run_program(argv, environment, fifo, take_line, context, &end, err))
 *         return ...
 *     ...
 *     return program_exit(&end);
 *
 * The program has our terminal, our standard streams and our process group. Signals for it that reach us are forwarded;
 * it decides how to handle them.
 */
#ifndef TPA_CLI_RUN_PROGRAM_H
#define TPA_CLI_RUN_PROGRAM_H

#include "base/error.h"
#include <stddef.h>

/* How a program ended. */
struct program_end {
    int exit_code; /* if signal is 0; 127: program not found, 126: it cannot be run */
    int signal;
};

/* A line of the fifo, without its end; may be changed. */
typedef void take_line_function(void *context, char *line);

/*
 * Run ARGV (NULL after the last word) until it ends, and pass each line written to the fifo at path FIFO (NULL: none)
 * to TAKE_LINE. False and ERR if no process could be created. A missing program is not an error here: it is reported on
 * stderr as by a shell, with 127 in END.
 */
bool run_program(char *const *argv, const char *fifo, take_line_function *take_line, void *context,
                 struct program_end *end, struct tpa_error *err);

/* May NAME be run: is it a program on PATH, or at this path? */
bool program_is_found(const char *name);

/* The equivalent exit code; if the program was killed by a signal, kills this process with it, without a core dump. */
int program_exit(const struct program_end *end);

#endif
