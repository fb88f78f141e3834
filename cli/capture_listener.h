/*
 * cli/capture_listener.h - what the capture library says from the processes that it records (capture/report.h), put
 * into words on stderr.
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

/* That were printed: every rank has the same. */
struct capture_sentences {
    VEC_OF(char *) at;
};

/* Zero means that nothing was reported, except for the first two. Release with capture_listener_release. */
struct capture_listener {
    const char *folder;  /* of all the logs; NULL: they have none of their own */
    const char *missing; /* from the log of a process that was killed */
    VEC_OF(struct capture_log) logs;
    struct capture_sentences troubles, notes;
};

/* Take "begin \t PID \t FIELDS" or another line of report.h, which is changed. CONTEXT is the listener. */
void capture_take_line(void *context, char *line);

/* Print SENTENCE, as if the library had said it. */
void capture_tell_trouble(struct capture_listener *listener, const char *sentence);

/* Print which logs there are, or why there is none, and what to run next. */
void capture_tell(const struct capture_listener *listener, const struct program_end *end);

void capture_listener_release(struct capture_listener *listener);

#endif
