/*
 * sql.h - SQLite in the manner of this program: errors say which file, what is wrong with it and what to do.
 *
 *     struct sql *sql = sql_open("perf.db", SQL_CHANGE, wait_ms, &err);
 *     struct statement *runs = sql_prepare(sql, "SELECT id, host FROM run WHERE label = ?", &err);
 *     statement_bind_int(runs, 1, label);
 *     while (statement_step(runs, &err))
 *         ... statement_int(runs, 0), statement_text(runs, 1)
 *     if (!statement_free(runs, &err))      // also tells whether stepping ended well
 *         ...
 */
#ifndef TPA_STORE_SQL_H
#define TPA_STORE_SQL_H

#include "base/error.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sql;
struct statement;

enum sql_mode {
    SQL_READ, /* the file must be there; it is opened for reading, unless a killed run left something half done */
    SQL_CHANGE, /* the file must be there */
    SQL_CREATE, /* it is made when it is not there */
};

/*
 * New; free with sql_close. The file may be anybody's: its schema can run nothing, statements other than ours are
 * refused, values and the work of a statement are limited, and a journal beside it that would delete other files is an
 * error. A name that SQLite would take for no file is one, too. Whoever else is writing is waited for up to WAIT_MS.
 * NULL and ERR when that fails.
 */
struct sql *sql_open(const char *path, enum sql_mode mode, int wait_ms, struct tpa_error *err);
void sql_close(struct sql *sql);

/* Has the file the tables and indexes that SCHEMA makes, and nothing else? False: that is unknown. */
bool sql_has_schema(struct sql *sql, const char *schema, bool *same, struct tpa_error *err);

const char *sql_path(const struct sql *sql);

/* Run statements that give no rows. */
bool sql_exec(struct sql *sql, const char *text, struct tpa_error *err);

/* The integer that a statement of one row and column gives. */
bool sql_integer(struct sql *sql, const char *text, int64_t *value, struct tpa_error *err);

/* Begin a change that no other can interrupt; end it, or undo it. A failed commit is undone. */
bool sql_begin(struct sql *sql, struct tpa_error *err);
bool sql_commit(struct sql *sql, struct tpa_error *err);
void sql_rollback(struct sql *sql);

int64_t sql_last_id(struct sql *sql);

/* New; free with statement_free. NULL and ERR when that fails. */
struct statement *sql_prepare(struct sql *sql, const char *text, struct tpa_error *err);

/* Parameters count from 1. Texts and bytes are borrowed until the next step ends; NULL is NULL. NAN is NULL. */
void statement_bind_int(struct statement *statement, int index, int64_t value);
void statement_bind_double(struct statement *statement, int index, double value);
void statement_bind_text(struct statement *statement, int index, const char *text);
void statement_bind_bytes(struct statement *statement, int index, const void *bytes, size_t size);
void statement_bind_null(struct statement *statement, int index);

/* Is there a further row? False at the end, and when it failed: ERR is filled in then. */
bool statement_step(struct statement *statement, struct tpa_error *err);

/* Run a statement that gives no rows, and make it ready for other parameters. */
bool statement_run(struct statement *statement, struct tpa_error *err);

/* To the beginning again, with the same parameters. */
void statement_reset(struct statement *statement);

/* Columns count from 0. Texts are borrowed until the next step; NULL when missing. A missing double is NAN. */
int64_t statement_int(struct statement *statement, int column);
double statement_double(struct statement *statement, int column);
const char *statement_text(struct statement *statement, int column);
const void *statement_bytes(struct statement *statement, int column, size_t *size);
bool statement_is_null(struct statement *statement, int column);

/* Free it; false when its last step failed. NULL is allowed, and false. */
bool statement_free(struct statement *statement);

#endif
