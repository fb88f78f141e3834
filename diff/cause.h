/*
 * cause.h - of the rows that changed, which to name as the cause: work rather than the wait for it.
 *
 *     if (cause_is_before(cause_class_of("gemm", 4), 0.010, CAUSE_WAIT, 0.011)) ...    // gemm, not cudaDeviceSynchronize
 *
 * If a kernel takes longer, so do the calls that wait for it, and often by more than the kernel. If a rank is late, so is
 * each collective on the others.
 */
#ifndef TPA_DIFF_CAUSE_H
#define TPA_DIFF_CAUSE_H

#include <stdbool.h>
#include <stddef.h>

enum cause_class {
    CAUSE_WORK, /* an operator, kernel, copy or function */
    CAUSE_SHARED, /* communication, which waits for other ranks; launches and copies, whose calls wait for room */
    CAUSE_WAIT, /* a synchronisation, a synchronous copy */
    CAUSE_STEP, /* the step itself, or what surrounds it: explains nothing */
};

/* The class of the row NAME, of LEN bytes. */
enum cause_class cause_class_of(const char *name, size_t len);

/*
 * Is a row of class LEFT whose change is LEFT_SIZE (0 or more) to be named before one of class RIGHT? A row of a better
 * class is, unless its change is less than a fifth of the other's.
 */
bool cause_is_before(enum cause_class left, double left_size, enum cause_class right, double right_size);

#endif
