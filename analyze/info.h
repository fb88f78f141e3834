/*
 * info.h - the contents of a trace: files, their metadata, devices, categories, tracks.
 *
 *     struct result *result = result_open("tpa.info/1");
 *     info_add_tables(trace, result);
 */
#ifndef TPA_ANALYZE_INFO_H
#define TPA_ANALYZE_INFO_H

#include "base/result.h"
#include "trace/profile.h"
#include "trace/trace.h"

/* Add the tables "files", "facts", "devices", "categories" and "tracks"; tables without rows are left out. */
void info_add_tables(const struct trace *trace, struct result *result);

/* Add the table "container": the blocks of .tpa files. Adds nothing if none was read. */
void info_add_container_table(const struct trace *trace, struct result *result);

/* "2026-11-20 03:00:00": the time of the first event of FILE, in UTC; allocated in TEXTS. NULL if the file does not
 * record a date. */
const char *info_begin(const struct trace *trace, uint32_t file, struct arena *texts);

/* "12.8" for "12080", as CUDA writes its versions; other texts as they are. Allocated in TEXTS; NULL for NULL. */
const char *info_cuda_version(const char *value, struct arena *texts);

/* The tables that may be added, for `tpa help`; each ends in { 0 }. */
extern const struct table_shape info_tables[], info_container_tables[];

#endif
