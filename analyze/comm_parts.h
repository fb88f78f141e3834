/*
 * comm_parts.h - what the files of comm's analysis share; for analyze/comm*.c only.
 *
 *     comm.c        which collectives count, the table of them, the notices
 *     comm_ranks.c  the tables of ranks and of waits
 */
#ifndef TPA_ANALYZE_COMM_PARTS_H
#define TPA_ANALYZE_COMM_PARTS_H

#include "facts/collective_matches.h"
#include "analyze/comm.h"

struct comm {
    const struct trace *trace;
    const struct selection *selection;
    struct collectives *collectives;
    struct collective_matches *matches;
    bool *held; /* by collective: was it asked for? */
};

/* Duration of a collective. */
static inline int64_t comm_time(const struct comm *comm, const struct collective *one)
{
    return comm->trace->dur_ns[one->event];
}

/* "0 (default_pg)"; empty when the group has no name. */
void comm_show_group(const struct comm *comm, const struct collective *one, struct buffer *out);

/* Add the tables "ranks" and "waits" if any collective was matched. */
void comm_add_rank_tables(const struct comm *comm, struct result *result);

#endif
