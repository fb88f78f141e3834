/* info.h - `tpa info` on files with aggregates instead of events: Python profiles and reports of actions. */
#ifndef TPA_PROFILE_INFO_H
#define TPA_PROFILE_INFO_H

#include "base/result.h"
#include "trace/actions.h"
#include "trace/profile.h"

/* Add the tables "files" and "profile" to RESULT; or the table "actions". */
void info_add_profile_tables(const struct profile *profile, struct result *result);
void info_add_action_tables(const struct action_report *report, struct result *result);

/* The tables that may be added, for `tpa help`; ends in { 0 }. */
extern const struct table_shape profile_info_tables[];

#endif
