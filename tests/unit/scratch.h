/* scratch.h - what a test makes of traces, freed after it. */
#ifndef TPA_TESTS_UNIT_SCRATCH_H
#define TPA_TESTS_UNIT_SCRATCH_H

#include "tests/unit/unit.h"
#include "analyze/selection.h"
#include "base/result.h"

/* OBJECT, of arena_open; NULL is allowed. */
static inline void *scratch(const void *object)
{
    return arena_hold(&unit_scratch, object);
}

SCRATCH_OF(trace)
SCRATCH_OF(result)

/* What QUERY selects of TRACE; the test fails where it is invalid. */
static inline const struct selection *scratch_selection(const struct trace *trace,
                                                        struct selection_query query)
{
    const struct selection *selection = scratch(selection_open(trace, &query, NULL));
    assert_non_null(selection);
    return selection;
}

#endif
