/*
 * notes.h - facts about a recording that users should know although nothing failed: what is left out on purpose, what
 * this device cannot measure.
 *
 * A note is reported once, by report.h, and logged as a NOTE record. Any thread may add one.
 */
#ifndef TPA_CAPTURE_NOTES_H
#define TPA_CAPTURE_NOTES_H

#include <stddef.h>
#include <stdint.h>

struct note {
    const char *word; /* for scripts; a literal */
    int64_t time_ns;  /* CLOCK_MONOTONIC */
    char text[480];
};

/* Add one sentence. If 32 notes wait for the writer, it is reported but not logged. */
__attribute__((format(printf, 2, 3))) void notes_add(const char *word, const char *fmt, ...);

/* The same, for the log only. */
__attribute__((format(printf, 2, 3))) void notes_log(const char *word, const char *fmt, ...);

/* Remove up to COUNT of the oldest notes that wait for the log. Returns how many. */
size_t notes_collect(struct note *notes, size_t count);

/* In a forked child: drop the parent's notes. */
void notes_forget(void);

#endif
