/* rpd.h - the reader of rocmProfileData's databases (NAME.rpd); for rocpd.c only. */
#ifndef TPA_INGEST_RPD_H
#define TPA_INGEST_RPD_H

#include "ingest/formats.h"
#include "ingest/sqlite_open.h"

/* Is DB such a database? */
bool rpd_is_one(const struct database *db);

/* Read DB, the database in SOURCE, into BUILDER's current file. */
bool rpd_read(struct database *db, struct source *source, struct trace_builder *builder,
              struct tpa_error *err);

#endif
