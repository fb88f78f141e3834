/*
 * rocpd.h - the readers of AMD's SQLite databases; for sqlite.c only.
 *
 * Two formats share the prefix rocpd_: that of rocprofv3 (ROCm 7) and rocprof-sys, whose tables end in the recording
 * process's guid, and the older one of rocmProfileData, RPD, which is known by its table rocpd_op.
 */
#ifndef TPA_INGEST_ROCPD_H
#define TPA_INGEST_ROCPD_H

#include "ingest/formats.h"
#include "ingest/sqlite_open.h"

/* Is DB either of them? */
bool rocpd_is_one(const struct database *db);

/* Read DB, the database in SOURCE, into BUILDER's current file, and a further one per further process. */
bool rocpd_read(struct database *db, struct source *source, struct trace_builder *builder,
                const struct ingest_options *options, struct tpa_error *err);

#endif
