/* comm_late.h - what made the last rank of a collective late; for analyze/comm.c only. */
#ifndef TPA_ANALYZE_COMM_LATE_H
#define TPA_ANALYZE_COMM_LATE_H

#include "analyze/comm_ranks.h"

/* Compute comm->lateness, if any collective was matched. */
void comm_find_lateness(const struct comm_query *query);

/* Add the table "lateness", if it has rows. */
void comm_add_lateness_table(const struct comm *comm, struct result *result);

/* The table that may be added, for `tpa help`; ends in { 0 }. */
extern const struct table_shape comm_late_tables[];

#endif
