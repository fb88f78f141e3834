/*
 * notes.h - what a person should know of a recording though nothing went wrong: what is left out on purpose, what
 * cannot be known on this device.
 *
 * A note is reported once, by report.h, and is in the log as a NOTE record. Any thread may add one.
 */
#ifndef TPA_CAPTURE_NOTES_H
#define TPA_CAPTURE_NOTES_H

#include <stddef.h>
#include <stdint.h>

struct note {
    const char *word; /* for scripts; a constant */
    int64_t time_ns;  /* CLOCK_MONOTONIC */
    char text[480];
};

/* Add one sentence. Beyond 32 that the writer has not taken yet it is reported and not logged. */
__attribute__((format(printf, 2, 3))) void notes_add(const char *word, const char *fmt, ...);

/* The same, for the log alone. */
__attribute__((format(printf, 2, 3))) void notes_log(const char *word, const char *fmt, ...);

/* Take the oldest, up to COUNT, out of those that wait for the log. How many. */
size_t notes_take(struct note *notes, size_t count);

/* In a forked child: they were the parent's. */
void notes_forget(void);

#endif
