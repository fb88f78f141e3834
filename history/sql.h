/*
 * sql.h - a wrapper of SQLite with this program's errors: the file, the problem, and what to do.
 *
 *     struct sql *sql = sql_open("perf.db", SQL_CHANGE, wait_ms, &err);
 *     struct statement *runs = sql_prepare(sql, "SELECT id, host FROM run WHERE label = ?", &err);
 *     statement_bind_int(runs, 1, label);
 *     while (statement_step(runs, &err))
 *         ... statement_int(runs, 0), statement_text(runs, 1)
 *     if (!statement_free(runs, &err))      // also reports whether stepping failed
 *         ...
 */
#ifndef TPA_HISTORY_SQL_H
#define TPA_HISTORY_SQL_H

#include "base/error.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sql;
struct statement;

enum sql_mode {
    SQL_READ,   /* the file must exist; opened for reading, unless a killed run left a journal */
    SQL_CHANGE, /* the file must exist */
    SQL_CREATE, /* the file is created if missing */
};

/*
 * New; free with sql_close. The file is untrusted: its schema cannot run code, statements other than ours are refused,
 * values and the work of a statement are limited, and a journal that would delete other files is an error. So is a name
 * that SQLite would not treat as a file. Other writers are waited for up to WAIT_MS. NULL and ERR on failure.
 */
struct sql *sql_open(const char *path, enum sql_mode mode, int wait_ms, struct tpa_error *err);
void sql_close(struct sql *sql);

/* Does the file have exactly the tables and indexes of SCHEMA? False and ERR if that cannot be determined. */
bool sql_has_schema(struct sql *sql, const char *schema, bool *same, struct tpa_error *err);

/* The path of the file; borrowed. */
const char *sql_path(const struct sql *sql);

/* Run statements without result rows. */
bool sql_exec(struct sql *sql, const char *text, struct tpa_error *err);

/* The integer result of a statement with one row and column. */
bool sql_integer(struct sql *sql, const char *text, int64_t *value, struct tpa_error *err);

/* Begin a change that no other can interrupt; end it, or undo it. A failed commit is undone. */
bool sql_begin(struct sql *sql, struct tpa_error *err);
bool sql_commit(struct sql *sql, struct tpa_error *err);
void sql_rollback(struct sql *sql);

/* The row id of the last insertion. */
int64_t sql_last_id(struct sql *sql);

/* New; free with statement_free. NULL and ERR if that fails. */
struct statement *sql_prepare(struct sql *sql, const char *text, struct tpa_error *err);

/* Parameters count from 1. Texts and bytes are borrowed until the next step ends; NULL is NULL. NAN is NULL. */
void statement_bind_int(struct statement *statement, int index, int64_t value);
void statement_bind_double(struct statement *statement, int index, double value);
void statement_bind_text(struct statement *statement, int index, const char *text);
void statement_bind_bytes(struct statement *statement, int index, const void *bytes, size_t size);
void statement_bind_null(struct statement *statement, int index);

/* Is there another row? False at the end, and on failure with ERR set. */
bool statement_step(struct statement *statement, struct tpa_error *err);

/* Run a statement without result rows, and reset it for other parameters. */
bool statement_run(struct statement *statement, struct tpa_error *err);

/* Reset it, keeping the parameters. */
void statement_reset(struct statement *statement);

/* Columns count from 0. Texts are borrowed until the next step; NULL if missing. A missing double is NAN. */
int64_t statement_int(struct statement *statement, int column);
double statement_double(struct statement *statement, int column);
const char *statement_text(struct statement *statement, int column);
const void *statement_bytes(struct statement *statement, int column, size_t *size);
bool statement_is_null(struct statement *statement, int column);

/* Free it; false if its last step failed. NULL is allowed, and returns false. */
bool statement_free(struct statement *statement);

#endif
