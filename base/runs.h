/*
 * runs.h - sorting what is nearly sorted: a few long runs that ascend, such as threads or streams one after the other.
 *
 *     static bool starts_later(const void *context, const void *a, const void *b) { ... }
 *
 *     runs_sort(intervals, count, sizeof *intervals, starts_later, NULL);
 *
 * The runs are found in one pass and neighbours merged until one is left: as many passes as the logarithm of the number
 * of runs. Stable.
 */
#ifndef TPA_BASE_RUNS_H
#define TPA_BASE_RUNS_H

#include <stdbool.h>
#include <stddef.h>

/* Does A belong behind B? Not when they are equal. */
typedef bool runs_after(const void *context, const void *a, const void *b);

/* Sort COUNT items of SIZE bytes. */
void runs_sort(void *items, size_t count, size_t size, runs_after *after, const void *context);

#endif
