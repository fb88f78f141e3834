/* comm_ranks.h - the rows per rank and per wait of comm, and texts of its rows; for analyze/comm.c only. */
#ifndef TPA_ANALYZE_COMM_RANKS_H
#define TPA_ANALYZE_COMM_RANKS_H

#include "analyze/comm_rows.h"
#include "analyze/selection.h"
#include "base/result.h"
#include "derive/collective_matches.h"

struct comm_query {
    const struct trace *trace;
    const struct selection *selection;
    unsigned by;
    struct collectives *collectives;
    struct collective_matches *matches;
    bool *held; /* by collective: is it selected? */
    struct comm *comm;
};

/* TEXT; missing when it is NULL or empty. */
struct text comm_text(const char *text);

/* "0 (default_pg)"; missing when the group has no name. */
struct text comm_group_text(const struct comm_query *query, const struct collective *one);

/* What it was: "all_reduce"; the name of the kernel if the kind is unknown. */
struct text comm_collective_text(const struct comm_query *query, const struct collective *one);

/* Compute comm->ranks and comm->waits, if any collective was matched. */
void comm_find_ranks(const struct comm_query *query);

/* Add the tables "ranks" and "waits". */
void comm_add_rank_tables(const struct comm *comm, struct result *result);

/* The tables that may be added, for `tpa help`; ends in { 0 }. */
extern const struct table_shape comm_rank_tables[];

#endif
