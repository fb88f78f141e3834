/*
 * step_guess.h - which ranges of the user look most like the steps, in files in which nothing marks them (NVTX, roctx).
 *
 *     struct step_guess *guess = step_guess_open();
 *     step_guess_note(guess, "step 12", 7, thread, start_ns, end_ns);     // each range of a thread's stack
 *     step_guess_tell(guess, builder);
 *     step_guess_free(guess);
 */
#ifndef TPA_INGEST_STEP_GUESS_H
#define TPA_INGEST_STEP_GUESS_H

#include "trace/builder.h"

struct step_guess;

struct step_guess *step_guess_open(void);
void step_guess_free(struct step_guess *guess);

/* One number for a process and a thread of it. */
static inline int64_t step_guess_thread(int64_t pid, int64_t tid)
{
    return (int64_t)((uint64_t)pid << 32 ^ (uint64_t)tid);
}

/* A range called TEXT (LEN bytes, copied) ran on THREAD, any number that tells threads apart. Its times may be any that a file holds;
 * a range that ends before it starts, or that has moments that no trace may have, does not count. */
void step_guess_note(struct step_guess *guess, const char *text, size_t len, int64_t thread, int64_t start_ns,
                     int64_t end_ns);

/*
 * Let the ranges that look like steps be the steps of every file of BUILDER that was begun, with a notice: a name, in which
 * numbers may differ, that comes at least three times on a thread, one after the other, and fills at least half of the time from
 * its first range to its last; of several the one that fills the most. The regular expression of these names, which lives as
 * long as the trace; NULL, and nothing done, when none does.
 */
const char *step_guess_tell(struct step_guess *guess, struct trace_builder *builder);

#endif
