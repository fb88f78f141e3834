/*
 * tables.h - the tables of a Python profile, and of a report on actions.
 */
#ifndef TPA_PROFILE_TABLES_H
#define TPA_PROFILE_TABLES_H

#include "profile/view.h"
#include "base/result.h"
#include "trace/actions.h"

/* Add to RESULT the functions of VIEW and what they cost. A million functions take some 350 MB of cells. */
void profile_add_functions(struct result *result, const struct profile *profile,
                           const struct profile_view *view);

/* The table of functions that was added last is sorted by cumulative time, or else by self time: add a line that says so. */
void profile_mark_sorted(struct result *result, bool cumulative);

/* Add to RESULT who called the functions of VIEW, or, with CALLEES, whom they called. */
void profile_add_calls(struct result *result, const struct profile *profile, const struct profile_view *view,
                       bool callees);

/*
 * Add to RESULT what is special about PROFILE, and by what VIEW was reduced; not by its limit when ROWS_TELL_LIMIT: a
 * table with a row per function has such a line already.
 */
void profile_add_notices(struct result *result, const struct profile *profile,
                         const struct profile_view *view, bool rows_tell_limit);

/* Add to RESULT what was odd about the .tpa files that sums came from. */
void sums_add_notices(struct result *result, const struct sums_origin *origin);

/* Add to RESULT the actions of REPORT, in its order, and what is special about them. */
void actions_add_table(struct result *result, const struct action_report *report);

/* Add to RESULT what is special about REPORT. */
void actions_add_notices(struct result *result, const struct action_report *report);

/* The tables that may come of them, for `tpa help`; each ends in { 0 }. */
extern const struct table_shape profile_top_tables[], profile_callers_tables[], profile_callees_tables[],
    profile_overview_tables[];

#endif
