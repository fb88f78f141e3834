/*
 * cause.h - of the rows that changed, which to name as the cause: work rather than the wait for it.
 *
 *     double weight = change * cause_weight(cause_class_of(name, len));      // the row with the largest is named
 *
 * If a kernel takes longer, so do the calls that wait for it, and often by more than the kernel. If a rank is late, so is
 * each collective on the others; diff.c sees that by the rank for which it takes no longer.
 */
#ifndef TPA_DIFF_CAUSE_H
#define TPA_DIFF_CAUSE_H

#include <stdbool.h>
#include <stddef.h>

enum cause_class {
    CAUSE_WORK, /* an operator, kernel, copy or function */
    CAUSE_SHARED, /* communication, which waits for other ranks; launches and copies, whose calls wait for room */
    CAUSE_READ, /* an operator that reads a value from a device, and so waits for it: names the wait better than its call */
    CAUSE_WAIT,    /* a synchronisation, a synchronous copy */
    CAUSE_HELD_UP, /* communication that is proven to wait for a rank that comes late */
    CAUSE_STEP,    /* the step itself, or what surrounds it: explains nothing */
};

/* The class of the row NAME, of LEN bytes. */
enum cause_class cause_class_of(const char *name, size_t len);

/* Does the text NAME say that it is communication: a kernel of NCCL, an operator of c10d? */
bool cause_is_communication(const char *name);

/*
 * What a change of a row of CLASS counts in the order of causes: 1 for work. A wait is named before work only if it changed
 * five times as much.
 */
double cause_weight(enum cause_class class);

#endif
