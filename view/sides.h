/*
 * sides.h - separate runs on one axis: before and after a change, say, with the same step of each at the same moment.
 *
 *     struct view_sides sides = view_sides_of(trace, &(struct ranges){ 0 });
 *     struct view_spans *spans = view_spans_open(trace, &sides);
 *     arena_release(&sides.arena);                                // after SPANS
 *
 * A job of ranks is one side, whose files stay on the clock that they share.
 */
#ifndef TPA_VIEW_SIDES_H
#define TPA_VIEW_SIDES_H

#include "base/quantity.h"
#include "trace/trace.h"

struct view_sides {
    size_t count;       /* 1: the files are one job, and the rest is not set */
    uint32_t *side;     /* by file */
    int64_t *shift_ns;  /* by file: added to its times */
    const char **group; /* by file: what its lanes are called, "before" or "run 3, rank 1" */
    const char **label; /* by side: "before", "after"; of more than two "run 1" ... */
    bool has_step; /* all sides have a step NUMBER, which begins at one moment; else their recordings do */
    int64_t number;
    struct arena arena;
};

/* Those of TRACE. The step is the first that all have and WANTED holds. All is of the arena, which is to be released. */
struct view_sides view_sides_of(const struct trace *trace, const struct ranges *wanted);

#endif
