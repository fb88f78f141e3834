/*
 * process.h - run another program with given input, and collect its output.
 *
 *     struct process_result result;
 *     if (!process_run((const char *const[]){ "gnuplot", "-", NULL }, script.at, script.count, 60, &result, err))
 *         return false;                                  // it could not be started, or took too long
 *     if (result.status != 0)
 *         ...                                            // result.errors says why
 *     process_release(&result);
 */
#ifndef TPA_CLI_PROCESS_H
#define TPA_CLI_PROCESS_H

#include "base/buffer.h"

struct process_result {
    struct buffer output, errors; /* its standard output and error; errors: the first 64 KiB */
    int status;                   /* its exit status; 128 + N if signal N ended it, as in shells */
    bool not_found;               /* the program was not found */
};

/* Run ARGV[0], looked up on PATH unless it holds a '/', with LEN bytes of INPUT on its standard input. False and ERR if
 * it cannot be started, or is not done within TIMEOUT_S seconds and is killed. Release RESULT in any case. */
bool process_run(const char *const argv[], const char *input, size_t len, int timeout_s,
                 struct process_result *result, struct tpa_error *err);

/* Free what RESULT owns. */
void process_release(struct process_result *result);

#endif
