/*
 * stacks.h - call stacks inferred from a Python profile, for flame graphs.
 *
 * A profile holds calls between pairs of functions and their costs, not stacks. If a function has one caller, its time
 * belongs to one stack exactly. If it has several, the time of its callees is divided among them by the cumulative time
 * of the function's calls from each: if train() caused half of load(), half of the reads in load() are attributed to
 * train(), which is an estimate.
 *
 * Time that is not placed on a stack (recursion through several functions; stacks below the threshold) is reported as a
 * stack of the function alone, marked STACK_UNPLACED. So the times of all stacks that end in a function add up to its
 * tottime, to the nanosecond.
 */
#ifndef TPA_PROFILE_STACKS_H
#define TPA_PROFILE_STACKS_H

#include "trace/profile.h"

enum stack_kind { STACK_EXACT, STACK_APPORTIONED, STACK_UNPLACED, STACK_KINDS };

struct profile_stack {
    const function_id *frames; /* the outermost first */
    size_t depth;
    size_t exact_depth; /* number of exact frames; the time of inner ones is estimated */
    int64_t time_ns;    /* in the innermost frame itself */
    enum stack_kind kind;
};

typedef void profile_stack_visit(void *context, const struct profile_stack *stack);

struct profile_stack_sums {
    size_t stacks[STACK_KINDS];
    int64_t time_ns[STACK_KINDS];
};

/*
 * Call VISIT for every stack with time of its own, callers before callees. Calls below MIN_SHARE of the whole time are
 * not followed. Returns the totals by kind.
 */
struct profile_stack_sums profile_stacks(const struct profile *profile, double min_share,
                                         profile_stack_visit *visit, void *context);

#endif
