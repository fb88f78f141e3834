/*
 * part.h - the part of a trace to convert, and its clock: preparation for all formats.
 *
 *     free(convert_merge(trace, NULL, &numbers, &summary)); // several ranks on one clock
 *     if (!convert_cut(trace, &args->selection, &summary, err))
 *         ...                                               // the selection is wrong, or holds nothing
 */
#ifndef TPA_CLI_CONVERT_PART_H
#define TPA_CLI_CONVERT_PART_H

#include "analyze/selection.h"
#include "cli/timeline.h"
#include "derive/collectives.h"
#include "derive/rank_clocks.h"

/* Category and name of the arrows of convert_merge. */
#define CONVERT_COLLECTIVE "collective"

/* Is anything requested but all of it? */
bool convert_is_cut(const struct selection_query *query);

/* Reduce TRACE to the part that QUERY selects (analyze/selection.h). An arrow is kept if both of its ends touch kept
 * events; a sample of a counter by its moment, track and name. False and ERR if QUERY is invalid or nothing is left.
 * SUMMARY reports how much was left out. */
bool convert_cut(struct trace *trace, const struct selection_query *query, struct buffer *summary,
                 struct tpa_error *err);

/* The conversion of a file's moments to the first rank's clock. */
struct convert_way {
    bool moves; /* false: they are unchanged */
    struct rank_clock clock;
    int64_t base_ns; /* their origin; 0: unknown */
    bool root_has_base;
    int64_t root_base_ns; /* their origin afterwards */
};

/* A moment of the file of WAY, a struct convert_way, as trace_move wants it. */
int64_t convert_way_moment(const void *way, int64_t moment_ns);

/* Correct the clocks of the files of TRACE by the ends of their collectives (derive/rank_clocks.h): all moments are
 * converted to the first rank's clock and its base. An unsure clock is changed only if its offset exceeds its error.
 * Then draw an arrow for each collective from the rank that began it last to each other. SUMMARY reports the offset and
 * error of each clock. JOINED: the collectives, if TRACE does not hold all events (derive/collectives.h); else
 * NULL. NUMBERS: numbers used by the files, which arrows must avoid. Returns the ways, by file; new, free with free().
 * NULL, without changes, if fewer than two files have a collective in common. */
struct convert_way *convert_merge(struct trace *trace, const struct collectives *joined,
                                  const struct timeline_numbers *numbers, struct buffer *summary);

/* How many flow arrows of TRACE were not added by convert_merge. */
uint64_t convert_own_flows(const struct trace *trace);

#endif
