/*
 * tables.h - the tables of a Python profile, and of a report on actions.
 */
#ifndef TPA_PROFILE_TABLES_H
#define TPA_PROFILE_TABLES_H

#include "profile/view.h"
#include "base/result.h"
#include "trace/actions.h"

/* Add to RESULT the functions of VIEW and their costs. A million functions take some 350 MB of cells. */
void profile_add_functions(struct result *result, const struct profile *profile,
                           const struct profile_view *view);

/* Add a line to the table of functions added last about its order, by cumulative time or else by self time. */
void profile_mark_sorted(struct result *result, bool cumulative);

/* Add to RESULT the callers of the functions of VIEW or, with CALLEES, their callees. */
void profile_add_calls(struct result *result, const struct profile *profile, const struct profile_view *view,
                       bool callees);

/*
 * Add notices to RESULT about PROFILE, and about the restrictions of VIEW; not about its limit if ROWS_TELL_LIMIT: a
 * table with a row per function shows it already.
 */
void profile_add_notices(struct result *result, const struct profile *profile,
                         const struct profile_view *view, bool rows_tell_limit);

/* Add notices to RESULT about the .tpa files that aggregates came from. */
void sums_add_notices(struct result *result, const struct sums_origin *origin);

/* Add to RESULT the actions of REPORT, in its order, and notices about them. */
void actions_add_table(struct result *result, const struct action_report *report);

/* Add notices to RESULT about REPORT. */
void actions_add_notices(struct result *result, const struct action_report *report);

/* The tables that may be added, for `tpa help`; each ends in { 0 }. */
extern const struct table_shape profile_top_tables[], profile_callers_tables[], profile_callees_tables[],
    profile_overview_tables[], profile_action_tables[];

#endif
