/*
 * launched.h - stage of top: of all that calls launched, the call and the operator.
 *
 * Looking them up is half of the time of counting device work, and needs nothing of the rows: so it is done while host
 * time is counted (80 ms each for 2.25 million events).
 *
 *     struct top_launched launched;
 *     top_launched_open(&launched, links, events);
 *     for (event_id e ...)
 *         if (top_is_launched(events, e))
 *             ... launched.at[next++] ...
 *     VEC_FREE(&launched);
 */
#ifndef TPA_ANALYZE_TOP_LAUNCHED_H
#define TPA_ANALYZE_TOP_LAUNCHED_H

#include "analyze/top/links.h"

struct top_launched_work {
    event_id call;      /* EVENT_NONE: it is not in the file */
    event_id op;        /* that made the call; EVENT_NONE: none is known */
    uint32_t lookalike; /* as top_link has it */
};

struct top_launched {
    VEC_OF(struct top_launched_work); /* in order of the file */
};

/* Is E among them: on a device, launched by a call, and chosen? */
static inline bool top_is_launched(const struct top_events *events, event_id e)
{
    return top_role(events, e) == ROLE_DEVICE && event_is_launched((enum event_kind)events->trace->kind[e]);
}

/* Release with VEC_FREE. */
void top_launched_open(struct top_launched *launched, const struct top_links *links,
                       const struct top_events *events);

#endif
