/*
 * step_guess.h - guesses which ranges of the user are steps, in files without marked steps (NVTX, roctx).
 *
 *     struct step_guess *guess = step_guess_open();
 *     step_guess_record(guess, "step 12", 7, thread, start_ns, end_ns);     // each range of a thread's stack
 *     step_guess_notice(guess, builder);
 *     step_guess_free(guess);
 */
#ifndef TPA_INGEST_STEP_GUESS_H
#define TPA_INGEST_STEP_GUESS_H

#include "trace/builder.h"

struct step_guess;

/* New; free with step_guess_free (NULL is allowed). */
struct step_guess *step_guess_open(void);
void step_guess_free(struct step_guess *guess);
FREE_AT(step_guess)

/* One number for a process and a thread of it. */
static inline int64_t step_guess_thread(int64_t pid, int64_t tid)
{
    return (int64_t)((uint64_t)pid << 32 ^ (uint64_t)tid);
}

/* A range called TEXT (LEN bytes, copied) ran on THREAD, any number that identifies threads. Its times may be
 * arbitrary; a range that ends before it starts, or has invalid times, is ignored. */
void step_guess_record(struct step_guess *guess, const char *text, size_t len, int64_t thread,
                       int64_t start_ns, int64_t end_ns);

/* Make the ranges that look like steps the steps of every file begun in BUILDER, with a notice: ranges with a name,
 * except for numbers, that occurs at least three times on a thread without overlap, and covers at least half of the
 * time from its first range to its last, and does not name a part of a model (layer, block, expert); of several names, the one that
 * covers the most. Returns the regular expression
 * of these names, which lives as long as the trace; NULL, without changes, if there is none. */
const char *step_guess_notice(struct step_guess *guess, struct trace_builder *builder);

#endif
