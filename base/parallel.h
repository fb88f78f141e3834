/*
 * parallel.h - work in parts, on several threads.
 *
 *     unsigned parts = parallel_parts(trace->workers, trace->event_count);
 *     parallel_run(parts, parts, add_up, &sums);                // add_up(&sums, 0), add_up(&sums, 1) ...
 *
 *     static void add_up(void *context, size_t part)
 *     {
 *         for (size_t i = parallel_first(count, parts, part); i < parallel_first(count, parts, part + 1); i++)
 *             ...
 *     }
 *
 * Which thread does which part, and when, is unknown. So a part must not write what another part reads, and results are
 * joined in the order of the parts: then they are the same for every number of threads.
 */
#ifndef TPA_BASE_PARALLEL_H
#define TPA_BASE_PARALLEL_H

#include <stddef.h>

typedef void parallel_task(void *context, size_t part);

/* REQUESTED threads if not 0, else one per processor. */
unsigned parallel_workers(unsigned requested);

/* The least number of items for which a thread pays off. Tests lower it. */
extern size_t parallel_worth;

/* How many of WORKERS threads (0 means 1) pay off for COUNT items: at least 1. */
unsigned parallel_parts(unsigned workers, size_t count);

/* The first of COUNT items that belongs to PART of PARTS; COUNT for the part behind the last. */
static inline size_t parallel_first(size_t count, size_t parts, size_t part)
{
    return part == parts ? count : count / parts * part;
}

/* Call TASK for each of PARTS, on at most WORKERS threads, of which the caller is one; return when all are done. Each
 * thread takes the next part that is not yet begun, so parts may differ in size. With one worker, or where no thread
 * can be created, the caller runs them in order. */
void parallel_run(unsigned workers, size_t parts, parallel_task *task, void *context);

#endif
