/* tables.h - the tables of contention. */
#ifndef TPA_ANALYZE_CONTENTION_TABLES_H
#define TPA_ANALYZE_CONTENTION_TABLES_H

#include "analyze/contention/contention.h"

/* Add the tables "contention" and "contention_sums". */
void contention_add_tables(const struct contention *contention, struct result *result);

/* The same of judged pairs alone; nothing if there are none. */
void contention_add_judged(const struct contention *contention, struct result *result);

/*
 * The same of communication alone, and the table "contention_collectives", of the collectives of SELECTION. If nothing is judged and
 * not ALWAYS, one notice instead, with the reasons; nothing if no kernel ran beside communication.
 */
void contention_add_comm_tables(const struct contention *contention, const struct selection *selection,
                                bool always, struct result *result);

/* The tables that each may add, for `tpa help`; end in { 0 }. */
extern const struct table_shape contention_table_shapes[], contention_comm_shapes[];

#endif
