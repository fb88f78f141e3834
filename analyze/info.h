/*
 * info.h - what a trace holds: files, what they say of themselves, devices, categories, tracks.
 *
 *     struct result *result = result_open("tpa.info/1");
 *     info_add_tables(trace, result);
 */
#ifndef TPA_ANALYZE_INFO_H
#define TPA_ANALYZE_INFO_H

#include "base/result.h"
#include "trace/profile.h"
#include "trace/trace.h"

/* Add the tables "files", "facts", "devices", "categories" and "tracks"; those with no row are left out. */
void info_add_tables(const struct trace *trace, struct result *result);

/* Add the table "container": the blocks of .tpa files. Nothing when none was read. */
void info_add_container_table(const struct trace *trace, struct result *result);
void info_add_containers_of_sums(const struct sums_origin *origin, struct result *result);

/* The tables that may come of them, for `tpa help`; each ends in { 0 }. */
extern const struct table_shape info_tables[], info_container_tables[];

#endif
