/*
 * convert_part.h - what of a trace is converted, and by which clock: the work before any form is written.
 *
 *     convert_merge(trace, &summary);                       // several ranks on one clock
 *     if (!convert_cut(trace, &args->selection, &summary, err))
 *         ...                                               // the selection is wrong, or holds nothing
 */
#ifndef TPA_CLI_CONVERT_PART_H
#define TPA_CLI_CONVERT_PART_H

#include "analyze/selection.h"
#include "base/buffer.h"
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

/*
 * Set the clocks of the files of TRACE right by the ends of their collectives (facts/rank_clocks.h): all moments become
 * those of the first rank's clock and count from its base. A clock that is unsure moves only where it is off by more
 * than its error. Then draw an arrow for each collective from the rank that began it last to each other. SUMMARY says
 * how far each clock was off, and how well that is known. Nothing changes where fewer than two files have a collective
 * in common.
 */
void convert_merge(struct trace *trace, struct buffer *summary);

#endif
