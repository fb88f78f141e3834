/*
 * collectives_join.h - the collectives of files that were read one after the other, to be matched together.
 *
 *     struct collectives_join *join = collectives_join_open();
 *     for each file, read into TRACE:
 *         struct collectives *of_file = collectives_open(trace);
 *         bool *keep = collectives_join_needs(of_file);
 *         trace_append(all, trace, keep);
 *         collectives_join_add(join, of_file, keep, first_event, first_file);
 *     struct collectives *joined = collectives_join_finish(join, all);
 *     struct collective_matches *matches = collective_matches_open(joined);
 *
 * The matches are the same as if all files were read into one trace.
 */
#ifndef TPA_DERIVE_COLLECTIVES_JOIN_H
#define TPA_DERIVE_COLLECTIVES_JOIN_H

#include "derive/collectives.h"

struct collectives_join;

/* New; free with collectives_join_free, or pass to collectives_join_finish. */
struct collectives_join *collectives_join_open(void);
void collectives_join_free(struct collectives_join *join);

/*
 * New, free with free(): by event of the trace, is it needed for matching? Collectives, their launches, steps, and the
 * events in which files begin and end.
 */
bool *collectives_join_needs(const struct collectives *all);

/*
 * Add the collectives of ALL. The events in NEEDED are in the common trace from FIRST_EVENT on, in their order; the
 * first of the trace's files is FIRST_FILE there. Nothing of ALL is borrowed.
 */
void collectives_join_add(struct collectives_join *join, const struct collectives *all, const bool *needed,
                          event_id first_event, uint32_t first_file);

/*
 * All added collectives, for TRACE, which is borrowed, with the fields that collective_matches.h uses: library, type
 * and operator are missing, numbers of groups only distinguish them, places have no work. New, free with
 * collectives_free; JOIN is taken.
 */
struct collectives *collectives_join_finish(struct collectives_join *join, const struct trace *trace);

#endif
