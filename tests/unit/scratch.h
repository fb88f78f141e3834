/* scratch.h - what a test makes of traces, freed after it. */
#ifndef TPA_TESTS_UNIT_SCRATCH_H
#define TPA_TESTS_UNIT_SCRATCH_H

#include "tests/unit/unit.h"
#include "analyze/selection.h"
#include "base/result.h"
#include <string.h>

/* OBJECT, of arena_open; NULL is allowed. */
static inline void *scratch(const void *object)
{
    return arena_hold(&unit_scratch, object);
}

SCRATCH_OF(trace)
SCRATCH_OF(result)

/* The first notice of KIND of TRACE; NULL if it has none. */
static inline const struct trace_notice *find_notice(const struct trace *trace, const char *kind)
{
    for (size_t i = 0; i < trace->notice_count; i++)
        if (strcmp(trace->notices[i].kind, kind) == 0)
            return &trace->notices[i];
    return NULL;
}

/* The first event called NAME; EVENT_NONE if there is none. */
static inline event_id event_called(const struct trace *trace, const char *name)
{
    for (event_id e = 0; e < trace->event_count; e++)
        if (strcmp(trace_name(trace, e), name) == 0)
            return e;
    return EVENT_NONE;
}

/* What QUERY selects of TRACE; the test fails where it is invalid. */
static inline const struct selection *scratch_selection(const struct trace *trace,
                                                        struct selection_query query)
{
    const struct selection *selection = scratch(selection_open(trace, &query, NULL));
    assert_non_null(selection);
    return selection;
}

#endif
