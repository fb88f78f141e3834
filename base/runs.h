/*
 * runs.h - sorting nearly sorted items: a few long ascending runs, such as threads or streams one after the other.
 *
 *     static bool starts_later(const void *context, const void *a, const void *b) { ... }
 *
 *     runs_sort(intervals, count, sizeof *intervals, starts_later, NULL);
 *
 * The runs are found in one pass, which moves an item that is a few places too late, and neighbours merged until one is left:
 * which takes log2(runs) passes. Stable.
 */
#ifndef TPA_BASE_RUNS_H
#define TPA_BASE_RUNS_H

#include <stdbool.h>
#include <stddef.h>

/* Does A belong after B? False if they are equal. */
typedef bool runs_after(const void *context, const void *a, const void *b);

/* Sort COUNT items of SIZE bytes. */
void runs_sort(void *items, size_t count, size_t size, runs_after *after, const void *context);

#endif
