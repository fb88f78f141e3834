/*
 * temporary.h - a limit on the temporary files of SQLite, into which it sorts.
 *
 *     const char *vfs = temporary_vfs();         // for sqlite3_open_v2; NULL: SQLite's own
 *
 * A statement whose temporary file would pass temporary_most bytes fails with SQLITE_FULL.
 */
#ifndef TPA_SQL_TEMPORARY_H
#define TPA_SQL_TEMPORARY_H

#include <stdint.h>

/* Bytes of one temporary file: 4 GiB. Tests lower it. */
extern int64_t temporary_most;

/* The name of a file system of SQLite with the limit; NULL if it cannot be made. */
const char *temporary_vfs(void);

#endif
