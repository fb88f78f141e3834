/* database.h - the reader of Ascend's SQLite databases; for sqlite.c only. */
#ifndef TPA_INGEST_ASCEND_DATABASE_H
#define TPA_INGEST_ASCEND_DATABASE_H

#include "ingest/sqlite_open.h"

/* Is DB a recording, by its tables and their columns? */
bool ascend_database_is_one(struct database *db);

/* Does DB hold results of a recording only (analysis.db)? */
bool ascend_database_is_analysis(const struct database *db);

/* Read DB, the database in SOURCE, into BUILDER's current file. */
bool ascend_database_read(struct database *db, struct source *source, struct trace_builder *builder,
                          const struct ingest_options *options, struct tpa_error *err);

#endif
