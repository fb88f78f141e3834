/*
 * views.h - a closer look at single steps: when what ran, and what called what.
 *
 *     struct views *views = views_open(trace, selection);
 *     for (size_t i = 0; i < views->count; i++)
 *         draw(views->at[i].timeline, views->at[i].flame);
 *     views_free(views);
 *
 * The slowest step and the one in the middle (of an even number the faster of the two), as they ran: device_steps.h.
 * Incomplete steps at the end of a file are passed over. A trace without steps is one view, of all that was recorded in
 * its first file that holds anything.
 */
#ifndef TPA_ANALYZE_VIEWS_H
#define TPA_ANALYZE_VIEWS_H

#include "analyze/selection.h"
#include "base/memory.h"
#include "base/timeline.h"
#include "trace/trace.h"

/* What fits a page that opens at once: spans of a timeline, lanes of threads and of streams, rows of a lane. */
enum { VIEW_MOST_SPANS = 12000, VIEW_MOST_THREADS = 16, VIEW_MOST_STREAMS = 32, VIEW_MOST_ROWS = 64 };

/* Frames below this share of the whole are left to their callers. */
#define VIEW_LEAST_SHARE 0.0005

struct view {
    struct timeline *timeline; /* owned */
    struct flame *flame;       /* owned */
};

struct views {
    VEC_OF(struct view);
};

extern const struct trace_wants views_wants;

/* New; free with views_free (NULL is allowed). SELECTION chooses among files and steps. */
struct views *views_open(const struct trace *trace, const struct selection *selection);
void views_free(struct views *views);

#endif
