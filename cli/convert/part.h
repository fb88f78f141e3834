/*
 * part.h - what of a trace is converted, and by which clock: the work before any form is written.
 *
 *     free(convert_merge(trace, NULL, &numbers, &summary)); // several ranks on one clock
 *     if (!convert_cut(trace, &args->selection, &summary, err))
 *         ...                                               // the selection is wrong, or holds nothing
 */
#ifndef TPA_CLI_CONVERT_PART_H
#define TPA_CLI_CONVERT_PART_H

#include "analyze/selection.h"
#include "base/buffer.h"
#include "cli/timeline.h"
#include "facts/collectives.h"
#include "facts/rank_clocks.h"
#include "trace/trace.h"

/* Category and name of the arrows of convert_merge. */
#define CONVERT_COLLECTIVE "collective"

/* Is anything requested but all of it? */
bool convert_is_cut(const struct selection_query *query);

/*
 * Leave of TRACE only what QUERY requests (analyze/selection.h). An arrow stays where both of its ends touch events
 * that stay; a sample of a counter by its moment, track and name. False and ERR when QUERY is wrong or nothing is left.
 * SUMMARY says how much was left out.
 */
bool convert_cut(struct trace *trace, const struct selection_query *query, struct buffer *summary,
                 struct tpa_error *err);

/* How the moments of a file become those of the first rank's clock. */
struct convert_way {
    bool moves; /* false: they stay as they are */
    struct rank_clock clock;
    int64_t base_ns; /* what they count from; 0: that is unknown */
    bool root_has_base;
    int64_t root_base_ns; /* what they count from then */
};

/* A moment of the file of WAY, a struct convert_way, as trace_move wants it. */
int64_t convert_way_moment(const void *way, int64_t moment_ns);

/*
 * Set the clocks of the files of TRACE right by the ends of their collectives (facts/rank_clocks.h): all moments become
 * those of the first rank's clock and count from its base. A clock that is unsure moves only where it is off by more
 * than its error. Then draw an arrow for each collective from the rank that began it last to each other. SUMMARY says
 * how far each clock was off, and how well that is known. JOINED: the collectives, where TRACE does not hold all events
 * (facts/collectives_join.h); else NULL. NUMBERS: those that the files hold, which the arrows' differ from. New, free(): the ways, by
 * file. NULL, and nothing changes, where fewer than two files have a collective in common.
 */
struct convert_way *convert_merge(struct trace *trace, const struct collectives *joined,
                                  const struct timeline_numbers *numbers, struct buffer *summary);

/* How many flow arrows of TRACE were not added by convert_merge. */
uint64_t convert_own_flows(const struct trace *trace);

#endif
