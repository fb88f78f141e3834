/* tables.h - the answers about memory snapshots as tables, and the sentence they begin with. */
#ifndef TPA_SNAPSHOT_TABLES_H
#define TPA_SNAPSHOT_TABLES_H

#include "base/result.h"
#include "snapshot/analysis.h"

struct snapshot_tables_options {
    const char *at;   /* as it was typed; NULL: the peak */
    enum alive_by by; /* as in the question */
    bool segments;    /* the map of segments at the moment, too */
};

/*
 * Add the tables devices, alive_at_peak (or alive, at another moment), ooms, steps, leaks, fragmentation, churn, and
 * segments where requested. Tables with nothing in them are added too, so that programs find them; people do not see
 * them where EMPTY is false.
 */
void snapshot_add_tables(const struct snapshot_answers *answers,
                         const struct snapshot_tables_options *options, bool empty, struct result *result);

/* Notices: why something is not there. */
void snapshot_add_notices(const struct snapshots *snapshots, const struct snapshot_answers *answers,
                          struct result *result);

/* The tables snapshots, actions and settings: what the files hold, for `tpa info`. */
void snapshot_add_info(const struct snapshots *snapshots, struct result *result);

/* What was odd about the files alone. */
void snapshot_add_file_notices(const struct snapshots *snapshots, struct result *result);

/* The tables that may come of them, for `tpa help`; each ends in { 0 }. */
extern const struct table_shape snapshot_tables[], snapshot_info_tables[];

#endif
