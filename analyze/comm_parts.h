/*
 * comm_parts.h - what the files of comm's analysis share; for analyze/comm*.c only.
 *
 *     comm.c        which collectives count, their rows, the command
 *     comm_ranks.c  ranks and waits
 */
#ifndef TPA_ANALYZE_COMM_PARTS_H
#define TPA_ANALYZE_COMM_PARTS_H

#include "analyze/comm.h"
#include "facts/collective_matches.h"

struct comm_query {
    const struct trace *trace;
    const struct selection *selection;
    unsigned by;
    struct collectives *collectives;
    struct collective_matches *matches;
    bool *held; /* by collective: was it asked for? */
    struct comm *comm;
};

/* "0 (default_pg)"; missing when the group has no name. */
struct text comm_group_text(const struct comm_query *query, const struct collective *one);

/* What it was: "all_reduce"; what is of no known kind goes by the name of its kernel. */
struct text comm_collective_text(const struct comm_query *query, const struct collective *one);

/* Work out comm->ranks and comm->waits, if any collective was matched. */
void comm_find_ranks(const struct comm_query *query);

/* Add the tables "ranks" and "waits". */
void comm_add_rank_tables(const struct comm *comm, struct result *result);

#endif
