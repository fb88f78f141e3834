/*
 * step_pattern.h - after how many steps a series of steps repeats.
 *
 *     size_t period = step_pattern_period(host_ns, count);      // 5: every 5th step is of the same kind
 *
 * Steps differ by plan: every 5th writes a log line and waits for the device, every 4th ends an accumulation of gradients, long and
 * short batches alternate. The mean of such steps is that of the job only over whole periods.
 */
#ifndef TPA_DERIVE_STEP_PATTERN_H
#define TPA_DERIVE_STEP_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Stands for the time, or count, of a step that was not recorded between others, or does not count: it may be any. */
#define STEP_PATTERN_LOST INT64_MIN

/* A time further than this share of the median from it is unusual. */
#define STEP_UNUSUAL 0.25

/*
 * After how many of COUNT successive times they repeat; 1: they are alike, or nothing repeats. A period is known when
 *
 * - it was recorded twice, the times differ by 2 % of their mean, and times a period apart by at most a fifth of that: the smallest
 *   such period; of many the last 4,096 times are looked at; differences are mean distances from a mean, that of each place in the period corrected for being its own;
 * - or unusual times, two or more, are as many steps apart everywhere, and no other would have been recorded before or after.
 */
size_t step_pattern_period(const int64_t *ns, size_t count);

/* The same of what COUNT steps did: how many calls waited, how many operations were launched. They repeat exactly, and no value but the
 * most frequent occurs once. */
size_t step_pattern_period_of_counts(const int64_t *counts, size_t count);

/* Is NS unusual where the median is MEDIAN_NS? */
bool step_pattern_is_unusual(int64_t ns, int64_t median_ns);

/* The median of those of COUNT values that were not lost, the lower of the middle two; 0 if there are none. */
int64_t step_pattern_median(const int64_t *ns, size_t count);

#endif
