/*
 * shape.h - events that are written like one that was read before.
 *
 * A producer writes all events of a kind with the same keys, the same blanks, the same order: only the
 * values differ. A shape is such a form, learnt from an event that was read the careful way
 * (event.c): bytes that must be the same, and between them values that may differ. An event that
 * fits a shape is read without an index, at a fraction of the cost; one that does not fit, in a single
 * byte, is read the careful way. So shapes change how fast a file is read and never what is read.
 */
#ifndef TPA_INGEST_CHROME_SHAPE_H
#define TPA_INGEST_CHROME_SHAPE_H

#include "ingest/chrome/chrome.h"

/* Read the event whose '{' is at AT if it fits a known shape. Returns where it ends (behind its '}'),
 * NULL when it fits none. */
const char *chrome_shape_read(struct chrome_reader *reader, const char *at);

/* Have events of PHASE a shape? Counters have one for each list of series, which may be many: only so many are learnt. */
static inline bool chrome_shape_can_learn(const struct chrome_shapes *shapes, char phase)
{
    enum { MOST_COUNTERS = 16 };
    return phase && strchr("XBEistfC", phase) != NULL && (phase != 'C' || shapes->counters < MOST_COUNTERS);
}

/* Learn from the event that was just read the careful way: its brackets are at FIRST and LAST of reader->index. */
void chrome_shape_learn(struct chrome_reader *reader, size_t first, size_t last);

#endif
