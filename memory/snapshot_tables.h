/* snapshot_tables.h - the analyses of memory snapshots as tables, with their first sentence. */
#ifndef TPA_MEMORY_SNAPSHOT_TABLES_H
#define TPA_MEMORY_SNAPSHOT_TABLES_H

#include "base/result.h"
#include "memory/snapshot_analysis.h"

struct snapshot_tables_options {
    const char *at;   /* as typed; NULL: the peak */
    enum alive_by by; /* as in the question */
    bool segments;    /* also the map of segments at the moment */
};

/*
 * Add the tables devices, alive_at_peak (or alive, at another moment), ooms, steps, leaks, fragmentation, churn, and
 * segments if requested. Empty tables are added as well, so that programs find them; they are hidden from people if
 * EMPTY is false.
 */
void snapshot_add_tables(const struct snapshot_answers *answers,
                         const struct snapshot_tables_options *options, bool empty, struct result *result);

/* Add notices on missing data. */
void snapshot_add_notices(const struct snapshots *snapshots, const struct snapshot_answers *answers,
                          struct result *result);

/* The tables snapshots, actions and settings: the contents of the files, for `tpa info`. */
void snapshot_add_info(const struct snapshots *snapshots, struct result *result);

/* Add notices about the files only. */
void snapshot_add_file_notices(const struct snapshots *snapshots, struct result *result);

/* The tables that may be added, for `tpa help`; each ends in { 0 }. */
extern const struct table_shape snapshot_tables[], snapshot_info_tables[];

#endif
