/* sqlite_open.h - databases of SQLite, and the readers that share one format. */
#ifndef TPA_INGEST_SQLITE_OPEN_H
#define TPA_INGEST_SQLITE_OPEN_H

#include "ingest/formats.h"

/*
 * sqlite_open.c - reading tables of an untrusted SQLite database.
 *
 *     struct database *db = database_open(source, &err);
 *     static const char *const columns[] = { "start", "end", "nameId" };
 *     FOR_ROWS(scan, table_scan_begin(db, &scan, "OSRT_API", columns, 3), true)
 *         if (table_scan_int(&scan, 0, &start_ns) ...)
 *     database_notice(db, builder);
 *     ok = database_was_read(db, &err);
 *     database_close(db);
 *
 * No code in the file is run and no file beside it is written: the file is opened read-only and as immutable, and only
 * plain tables are read, row by row, by the names of their columns. Views, triggers, virtual tables and computed
 * columns are ignored. Work is bounded by the size of the file.
 *
 * A packed or piped database is unpacked into memory.
 */

struct database;

/* Are these the first bytes of an SQLite 3 database? */
bool database_is_one(const char *bytes, size_t len);

/* New; free with database_close (NULL is allowed). SOURCE is at its beginning and outlives it. NULL and ERR on
 * failure. */
struct database *database_open(struct source *source, struct tpa_error *err);
void database_close(struct database *db);

/* Size of the unpacked database in bytes. */
int64_t database_size(const struct database *db);

/* The plain tables, by index. Names are borrowed, and compared without case. */
size_t database_table_count(const struct database *db);
const char *database_table(const struct database *db, size_t index);
bool database_has(const struct database *db, const char *table);

/* False and ERR if a system error prevented reading some of it, so that the data is incomplete. */
bool database_was_read(const struct database *db, struct tpa_error *err);

/* Add notices about odd data met since the last call to the builder's current file. */
void database_notice(struct database *db, struct trace_builder *builder);

enum { TABLE_SCAN_COLUMNS = 40 };

/* An iterator over the rows of a table. All fields are private. */
struct table_scan {
    struct database *db;
    const char *table;
    void *statement;            /* NULL: no such table, or it cannot be read */
    int at[TABLE_SCAN_COLUMNS]; /* by requested column: its index in a row; -1: the table lacks it */
    bool has_rowid;
    int rowid_at;
    int64_t last_rowid;
    uint64_t rows, odd;
};

/* Begin to read COUNT columns of TABLE; those that it lacks, or whose name is NULL, are missing in
 * every row. False if there is no such table. Call table_scan_end in any case. */
bool table_scan_begin(struct database *db, struct table_scan *scan, const char *table,
                      const char *const *columns, size_t count);
bool table_scan_has(const struct table_scan *scan, size_t column);

/* Advance to the next row. Damage ends the table early and is reported; earlier rows are kept. */
bool table_scan_next(struct table_scan *scan);

/* Get the value if it is a whole number: an integer, or a text or float with an integral value. False and *VALUE
 * unchanged if it is missing; other values are counted as odd. */
bool table_scan_int(struct table_scan *scan, size_t column, int64_t *value);

/* The same; MISSING if there is none. */
int64_t table_scan_int_or(struct table_scan *scan, size_t column, int64_t missing);

/* A number; NAN if there is none. */
double table_scan_double(struct table_scan *scan, size_t column);

/* The bytes of a text (or blob) and their number; NULL if missing. Borrowed until the next row. NUL-terminated. */
const char *table_scan_text(struct table_scan *scan, size_t column, size_t *len);

/* End the scan. Returns the number of rows read. */
uint64_t table_scan_end(struct table_scan *scan);

/* For each row of SCAN, which BEGIN, a call of table_scan_begin, begins, as long as MORE. Do not leave it otherwise. */
#define FOR_ROWS(scan, begin, more)                                                                          \
    for (struct table_scan scan, *scan##_begun = (begin) ? &(scan) : NULL;                                   \
         (scan##_begun && (more) && table_scan_next(&(scan))) || (table_scan_end(&(scan)), false);)

/*
 * sqlite_wal.c - SQLite's write-ahead log, applied to a database in memory: the file beside which it lies is not written to.
 *
 * The format: sqlite.org/fileformat2.html, "The Write-Ahead Log". A header of 32 bytes, then pages of the database, each behind a
 * header of 24; all with running checksums. A transaction ends with a page that says how many pages the database has then.
 */

/* Does the log of LEN bytes at LOG hold a transaction that was finished? */
bool sqlite_wal_has_pages(const char *log, size_t len);

/* Apply the finished transactions of the log of LEN bytes at LOG to the database of *SIZE bytes at BYTES, which was allocated.
 * Returns the bytes, which may have moved, and *SIZE of them; free(). */
char *sqlite_wal_apply(char *bytes, size_t *size, const char *log, size_t len);

/*
 * rocpd.c - the readers of AMD's SQLite databases; for sqlite.c only.
 *
 * Two formats share the prefix rocpd_: that of rocprofv3 (ROCm 7) and rocprof-sys, whose tables end in the recording
 * process's guid, and the older one of rocmProfileData, RPD, which is known by its table rocpd_op.
 */

/* Is DB either of them? */
bool rocpd_is_one(const struct database *db);

/* Read DB, the database in SOURCE, into BUILDER's current file, and a further one per further process. */
bool rocpd_read(struct database *db, struct source *source, struct trace_builder *builder,
                const struct ingest_options *options, struct tpa_error *err);

/* rpd.c - the reader of rocmProfileData's databases (NAME.rpd); for rocpd.c only. */

/* Is DB such a database? */
bool rpd_is_one(const struct database *db);

/* Read DB, the database in SOURCE, into BUILDER's current file. */
bool rpd_read(struct database *db, struct source *source, struct trace_builder *builder,
              struct tpa_error *err);

#endif
