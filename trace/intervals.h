/*
 * intervals.h - sets of moments: when something was going on, however many things at once.
 *
 * Wall time is the length of a union, never a sum: streams and threads overlap. A set is a sorted
 * array of disjoint half-open intervals [start, end) that do not touch each other.
 *
 *     struct intervals busy = { 0 };
 *     for (...)
 *         intervals_add(&busy, trace_start_ns(trace, e), trace_end_ns(trace, e));   // in any order
 *     intervals_merge(&busy);                                                // now it is a set
 *     int64_t busy_ns = intervals_length(&busy);
 *     intervals_release(&busy);
 *
 * The algebra below takes sets (merged) and gives sets, in one pass over both.
 */
#ifndef TPA_TRACE_INTERVALS_H
#define TPA_TRACE_INTERVALS_H

#include "base/memory.h"
#include <stdint.h>

struct interval {
    int64_t start_ns, end_ns;
};

/* Zero-initialise it. */
struct intervals {
    VEC_OF(struct interval);
};

/* Free the memory; SET is empty then. */
void intervals_release(struct intervals *set);

/* Empty it and keep the memory. */
void intervals_clear(struct intervals *set);

/* For intervals_add: [START, END), which does not begin behind the interval added last. */
void intervals_add_over(struct intervals *set, int64_t start_ns, int64_t end_ns);

/* Append [START, END). Nothing when it is empty. The set must be merged before it is used. Adding in
 * order of start or of end keeps the array short: what overlaps the intervals added last is joined to them at once. */
static inline void intervals_add(struct intervals *set, int64_t start_ns, int64_t end_ns)
{
    size_t count = set->count;
    if (start_ns >= end_ns)
        return;
    if (count == 0 || start_ns > set->at[count - 1].end_ns)
        *VEC_PUSH(set) = (struct interval){ start_ns, end_ns };
    else if (start_ns < set->at[count - 1].start_ns || end_ns > set->at[count - 1].end_ns)
        intervals_add_over(set, start_ns, end_ns);
}

/* Make a set of what was added: sort, join what overlaps or touches. */
void intervals_merge(struct intervals *set);

/* Time covered. */
int64_t intervals_length(const struct intervals *set);

/* Time of [START, END) that the set covers. */
int64_t intervals_length_within(const struct intervals *set, int64_t start_ns, int64_t end_ns);

/* The same, found from *NEAR on, any number at first: fast if the stretches of successive calls follow one another. */
int64_t intervals_length_near(const struct intervals *set, int64_t start_ns, int64_t end_ns, size_t *near);

/* Time that both cover; that A covers and B does not. */
int64_t intervals_length_of_both(const struct intervals *a, const struct intervals *b);
int64_t intervals_length_outside(const struct intervals *a, const struct intervals *b);

/* Does the set cover the moment? A binary search. */
bool intervals_contain(const struct intervals *set, int64_t moment_ns);

/* Each replaces OUT, which must be none of the inputs: A or B, A and B, A without B. */
void intervals_union(const struct intervals *a, const struct intervals *b, struct intervals *out);
void intervals_intersect(const struct intervals *a, const struct intervals *b, struct intervals *out);
void intervals_subtract(const struct intervals *a, const struct intervals *b, struct intervals *out);

/* Let VISIT see when any of COUNT sets covers the time, in order: OWNER, the first that does, in [START, END). That is each
 * set without those before it, in no memory. */
typedef void intervals_visit(void *context, size_t owner, int64_t start_ns, int64_t end_ns);
void intervals_each(const struct intervals *sets, size_t count, intervals_visit *visit, void *context);

/* The part of the set within [START, END), into OUT, which must not be the set. */
void intervals_clip(const struct intervals *set, int64_t start_ns, int64_t end_ns, struct intervals *out);

#endif
