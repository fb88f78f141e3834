/*
 * links.h - stage of top: which operator launched what, and on which thread torch counts a call.
 *
 * torch puts a runtime call on the thread of the operator it is linked to, and a call linked to none on the
 * thread that stopped the profiler, whatever thread made it: the event queries of an NCCL watchdog nest
 * inside operators of the main thread. The overhead records of CUPTI go there too.
 *
 * And torch, up to 2.14, looks up kernels by the id of every unlinked host event. The id of an unlinked runtime call is its
 * correlation, another range of numbers that overlaps with the operators' ids: such a lookalike is given
 * the operator's kernels too, and may drag the operator's calls to its own thread. In 2.15 it is not.
 */
#ifndef TPA_ANALYZE_TOP_LINKS_H
#define TPA_ANALYZE_TOP_LINKS_H

#include "analyze/top/events.h"
#include "derive/attribution.h"

/* A call without operator whose correlation is the id of an operator: torch takes it for that operator. */
struct lookalike {
    uint32_t process; /* of attribution.h */
    int64_t id;
    event_id call;
};

struct top_links {
    const struct attribution *launches;
    VEC_OF(struct calltree_move) moves;  /* of calls to the thread torch counts them on; by event */
    uint64_t moved_calls;                /* without operator, of other threads */
    track_id *stop_thread;               /* by process: where its unlinked calls are counted */
    VEC_OF(struct lookalike) lookalikes; /* by process, id, event; none by the rules of 2.15 */
    uint8_t *lookalike_filter;           /* a bit per id & lookalike_mask; NULL when there are none */
    size_t lookalike_mask;
};

/* Release with top_links_release. */
void top_links_open(struct top_links *links, const struct top_events *events);
void top_links_release(struct top_links *links);

/* May a call that belongs to no operator have ID, too? */
bool top_may_have_lookalike(const struct top_links *links, int64_t id);

/* The link of a device event; the calls that torch takes for its operator too are those from
 * *LOOKALIKE on, as long as top_is_lookalike; *LOOKALIKE == links->lookalikes.count for none. */
struct launch_link top_link(const struct top_links *links, event_id e, const int64_t *external_id,
                            const int64_t *correlation, size_t *lookalike);

/* Does the lookalike at I stand for the same operator as the one at FIRST? */
static inline bool top_is_lookalike(const struct top_links *links, size_t first, size_t i)
{
    return i < links->lookalikes.count &&
           links->lookalikes.at[i].process == links->lookalikes.at[first].process &&
           links->lookalikes.at[i].id == links->lookalikes.at[first].id;
}

/* May the file of E be from torch 2.15 or from one before, and do the options not say which? */
bool top_version_is_open(const struct top_links *links, const struct top_events *events, event_id e);

#endif
