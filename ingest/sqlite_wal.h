/*
 * sqlite_wal.h - SQLite's write-ahead log, applied to a database in memory: the file beside which it lies is not written to.
 *
 * The format: sqlite.org/fileformat2.html, "The Write-Ahead Log". A header of 32 bytes, then pages of the database, each behind a
 * header of 24; all with running checksums. A transaction ends with a page that says how many pages the database has then.
 */
#ifndef TPA_INGEST_SQLITE_WAL_H
#define TPA_INGEST_SQLITE_WAL_H

#include <stdbool.h>
#include <stddef.h>

/* Does the log of LEN bytes at LOG hold a transaction that was finished? */
bool sqlite_wal_has_pages(const char *log, size_t len);

/*
 * Apply the finished transactions of the log of LEN bytes at LOG to the database of *SIZE bytes at BYTES, which was allocated.
 * Returns the bytes, which may have moved, and *SIZE of them; free().
 */
char *sqlite_wal_apply(char *bytes, size_t *size, const char *log, size_t len);

#endif
