/*
 * info.h - what a trace holds: files, what they say of themselves, devices, categories, tracks.
 *
 *     struct result *result = result_open("tpa.info/1");
 *     info_add_tables(trace, result);
 */
#ifndef TPA_ANALYZE_INFO_H
#define TPA_ANALYZE_INFO_H

#include "base/table.h"
#include "trace/actions.h"
#include "trace/profile.h"
#include "trace/trace.h"

/* Add the tables "files", "facts", "devices", "categories" and "tracks"; those with no row are left out. */
void info_add_tables(const struct trace *trace, struct result *result);

/* Add the table "container": the blocks of .tpa files. Nothing when none was read. */
void info_add_container_table(const struct trace *trace, struct result *result);
void info_add_containers_of_sums(const struct sums_origin *origin, struct result *result);

/* The same of what holds sums and no events: the tables "files" and "profile"; the table "actions". */
void info_add_profile_tables(const struct profile *profile, struct result *result);
void info_add_action_tables(const struct action_report *report, struct result *result);

#endif
