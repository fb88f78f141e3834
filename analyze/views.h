/*
 * views.h - flame graphs of single steps.
 *
 *     struct views *views = views_open(trace, selection);
 *     for (size_t i = 0; i < views->count; i++)
 *         draw(views->at[i]);
 *     views_free(views);
 *
 * The slowest step and the median step (of an even number, the faster of the two), as they ran: device_steps.h.
 * Incomplete steps at the end of a file are skipped. A trace without steps has one view, of its first file with events.
 */
#ifndef TPA_ANALYZE_VIEWS_H
#define TPA_ANALYZE_VIEWS_H

#include "analyze/selection.h"
#include "base/timeline.h"

/* Frames below this share of the total are merged into their callers. */
#define VIEW_LEAST_SHARE 0.0005

struct views {
    VEC_OF(struct flame *); /* owned */
};

extern const struct trace_wants views_wants;

/* New; free with views_free (NULL is allowed). SELECTION restricts files and steps. */
struct views *views_open(const struct trace *trace, const struct selection *selection);
void views_free(struct views *views);

#endif
