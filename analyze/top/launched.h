/*
 * launched.h - stage of top: of all that calls launched, the call and the operator.
 *
 * Looking them up needs nothing of the rows: so it is done while host time is counted, in parts.
 *
 *     struct top_launched launched;
 *     top_launched_open(&launched, links, events);
 *     for (part = 0 up to launched.part_count)                  // by any thread each
 *         top_launched_find(&launched, part);
 *     top_launched_join(&launched);
 *     for (event_id e ...)
 *         if (top_is_launched(events, e))
 *             ... launched.at[next++] ...
 *     top_launched_release(&launched);
 */
#ifndef TPA_ANALYZE_TOP_LAUNCHED_H
#define TPA_ANALYZE_TOP_LAUNCHED_H

#include "analyze/top/links.h"

struct top_launched_work {
    event_id call; /* EVENT_NONE: it is not in the file */
    event_id op;   /* that made the call; EVENT_NONE: none is known */
};

/* Work AT is also that of the calls that torch takes for its operator, from LOOKALIKE on as top_link has it. */
struct top_alike_work {
    size_t at, lookalike;
};

struct top_launched {
    const struct top_links *links;
    const struct top_events *events;
    struct top_launched_work *at; /* in order of the file */
    size_t count;
    VEC_OF(struct top_alike_work) alike; /* of few of them; in their order */
    size_t part_count;
    struct top_launched_part *parts;
};

/* Is E among them: on a device, launched by a call, and chosen? */
static inline bool top_is_launched(const struct top_events *events, event_id e)
{
    return top_role(events, e) == ROLE_DEVICE && event_is_launched((enum event_kind)events->trace->kind[e]);
}

/* LINKS and EVENTS must live as long. Release with top_launched_release. */
void top_launched_open(struct top_launched *launched, const struct top_links *links,
                       const struct top_events *events);

/* Find those of one part. Parts write to nothing that another one looks at. */
void top_launched_find(struct top_launched *launched, size_t part);

/* All parts are found. */
void top_launched_join(struct top_launched *launched);

/* Free what LAUNCHED owns. */
void top_launched_release(struct top_launched *launched);

#endif
