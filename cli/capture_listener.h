/*
 * cli/capture_listener.h - prints reports of the capture library from the recorded processes (capture/report.h) on
 * stderr.
 */
#ifndef TPA_CLI_CAPTURE_LISTENER_H
#define TPA_CLI_CAPTURE_LISTENER_H

#include "base/memory.h"
#include "cli/run_program.h"
#include <stdbool.h>
#include <stdint.h>

/* A log that was begun. */
struct capture_log {
    char *path;
    bool ended;
    int64_t bytes, records, dropped;
};

/* Already printed: every rank reports the same. */
struct capture_sentences {
    VEC_OF(char *) at;
};

/* Zero-initialise all but the first two. Release with capture_listener_release. */
struct capture_listener {
    const char *folder;  /* folder of all logs; NULL: no common folder */
    const char *missing; /* from the log of a process that was killed */
    VEC_OF(struct capture_log) logs;
    struct capture_sentences troubles, notes;
};

/* Process "begin \t PID \t FIELDS" or another line of report.h, which is changed. CONTEXT is the listener. */
void capture_collect_line(void *context, char *line);

/* Print SENTENCE, as if reported by the library. */
void capture_print_trouble(struct capture_listener *listener, const char *sentence);

/* Print the list of logs, or why there is none, and what to run next. */
void capture_print(const struct capture_listener *listener, const struct program_end *end);

/* Free the list of logs and the sentences. */
void capture_listener_release(struct capture_listener *listener);

#endif
