/* sql.c - see sql.h. */
#include "store/sql.h"

#include "base/memory.h"
#include <errno.h>
#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

struct sql {
    sqlite3 *db;
    char *path;
};

struct statement {
    struct sql *sql;
    sqlite3_stmt *handle;
    bool failed;
};

/* ---- errors ---- */

static bool no_room(int code, int system)
{
    return code == SQLITE_FULL || system == ENOSPC || system == EDQUOT || system == EFBIG;
}

/* What CODE of SQLite means to the user. */
static bool fail(const struct sql *sql, int code, struct tpa_error *err)
{
    int system = sql->db ? sqlite3_system_errno(sql->db) : 0;
    const char *text = sql->db ? sqlite3_errmsg(sql->db) : sqlite3_errstr(code);
    switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        tpa_fail(err, TPA_NOWHERE, "another program is writing to this store and did not end in time");
        tpa_hint(err, "nothing was changed; try again, or wait longer with --wait");
        break;
    case SQLITE_NOTADB:
        tpa_fail(err, TPA_NOWHERE,
                 "this is no store of tpa nightly: it does not begin as SQLite's databases do");
        tpa_hint(err, "nothing was changed; name another file with --store");
        break;
    case SQLITE_CORRUPT:
        tpa_fail(err, TPA_NOWHERE, "this store is damaged: %s", text);
        tpa_hint(
            err,
            "nothing was changed; keep a copy, and save what is whole with: sqlite3 STORE .recover | sqlite3 "
            "NEW");
        break;
    case SQLITE_READONLY:
    case SQLITE_PERM:
        tpa_fail(err, TPA_NOWHERE, "this store can not be written: %s", text);
        tpa_hint(err, "SQLite writes a journal beside it: the directory must be writable, too");
        break;
    case SQLITE_CANTOPEN:
        if (system)
            tpa_fail(err, TPA_NOWHERE, "can not open this store: %s", strerror(system));
        else
            tpa_fail(err, TPA_NOWHERE, "can not open this store: %s", text);
        break;
    case SQLITE_NOMEM: mem_out_of_memory(0); break;
    default:
        if (code == SQLITE_IOERR_WRITE && !system) { /* SQLite does not say why */
            tpa_fail(err, TPA_NOWHERE,
                     "this store can not be written: there is no room left, or the disk fails");
            tpa_hint(err, "nothing was changed; what was in it before is still there");
        } else if (no_room(code & 0xff, system)) {
            tpa_fail(err, TPA_NOWHERE, "there is no room left for this store%s%s", system ? ": " : "",
                     system ? strerror(system) : "");
            tpa_hint(err, "nothing was changed; what was in it before is still there");
        } else if (system && (code & 0xff) == SQLITE_IOERR) {
            tpa_fail(err, TPA_NOWHERE, "can not read or write this store: %s", strerror(system));
        } else {
            tpa_fail(err, TPA_NOWHERE, "this store can not be used: %s", text);
        }
    }
    return tpa_in_file(err, sql->path);
}

/* ---- the file ---- */

struct sql *sql_open(const char *path, enum sql_mode mode, int wait_ms, struct tpa_error *err)
{
    struct sql *sql = mem_zalloc(1, sizeof *sql);
    sql->path = mem_strdup(path);
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | (mode == SQL_CREATE ? SQLITE_OPEN_CREATE : 0);
    int code = sqlite3_open_v2(path, &sql->db, flags, NULL);
    if (code != SQLITE_OK) {
        fail(sql, code, err);
        if (mode != SQL_CREATE && (code & 0xff) == SQLITE_CANTOPEN && sqlite3_system_errno(sql->db) == ENOENT)
            tpa_hint(err, "a store comes into being with the first run that is added to it");
        sql_close(sql);
        return NULL;
    }
    sqlite3_extended_result_codes(sql->db, 1);
    sqlite3_busy_timeout(sql->db, wait_ms);
    /* A store may come from anywhere: its schema must not run what it likes. */
    sqlite3_db_config(sql->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(sql->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    bool good = sql_exec(sql, "PRAGMA foreign_keys = ON; PRAGMA cell_size_check = ON", err) &&
                (mode != SQL_READ || sql_exec(sql, "PRAGMA query_only = ON", err));
    if (!good) {
        sql_close(sql);
        return NULL;
    }
    return sql;
}

void sql_close(struct sql *sql)
{
    if (!sql)
        return;
    sqlite3_close(sql->db);
    free(sql->path);
    free(sql);
}

const char *sql_path(const struct sql *sql)
{
    return sql->path;
}

bool sql_exec(struct sql *sql, const char *text, struct tpa_error *err)
{
    int code = sqlite3_exec(sql->db, text, NULL, NULL, NULL);
    return code == SQLITE_OK || fail(sql, code, err);
}

bool sql_integer(struct sql *sql, const char *text, int64_t *value, struct tpa_error *err)
{
    struct statement *statement = sql_prepare(sql, text, err);
    if (statement && statement_step(statement, err))
        *value = statement_int(statement, 0);
    return statement_free(statement);
}

bool sql_begin(struct sql *sql, struct tpa_error *err)
{
    return sql_exec(sql, "BEGIN IMMEDIATE", err);
}

bool sql_commit(struct sql *sql, struct tpa_error *err)
{
    if (sql_exec(sql, "COMMIT", err))
        return true;
    sql_rollback(sql);
    return false;
}

void sql_rollback(struct sql *sql)
{
    if (!sqlite3_get_autocommit(sql->db)) /* SQLite undoes some failures itself */
        sqlite3_exec(sql->db, "ROLLBACK", NULL, NULL, NULL);
}

int64_t sql_last_id(struct sql *sql)
{
    return sqlite3_last_insert_rowid(sql->db);
}

int64_t sql_changes(struct sql *sql)
{
    return sqlite3_changes(sql->db);
}

/* ---- statements ---- */

struct statement *sql_prepare(struct sql *sql, const char *text, struct tpa_error *err)
{
    sqlite3_stmt *handle = NULL;
    int code = sqlite3_prepare_v2(sql->db, text, -1, &handle, NULL);
    if (code != SQLITE_OK) {
        fail(sql, code, err);
        return NULL;
    }
    struct statement *statement = mem_zalloc(1, sizeof *statement);
    statement->sql = sql;
    statement->handle = handle;
    return statement;
}

void statement_bind_int(struct statement *statement, int index, int64_t value)
{
    sqlite3_bind_int64(statement->handle, index, value);
}

void statement_bind_double(struct statement *statement, int index, double value)
{
    if (isnan(value))
        sqlite3_bind_null(statement->handle, index);
    else
        sqlite3_bind_double(statement->handle, index, value);
}

void statement_bind_text(struct statement *statement, int index, const char *text)
{
    sqlite3_bind_text(statement->handle, index, text, -1, SQLITE_STATIC);
}

void statement_bind_bytes(struct statement *statement, int index, const void *bytes, size_t size)
{
    sqlite3_bind_blob64(statement->handle, index, bytes ? bytes : "", size, SQLITE_STATIC);
}

void statement_bind_null(struct statement *statement, int index)
{
    sqlite3_bind_null(statement->handle, index);
}

bool statement_step(struct statement *statement, struct tpa_error *err)
{
    int code = sqlite3_step(statement->handle);
    if (code == SQLITE_ROW)
        return true;
    if (code != SQLITE_DONE) {
        statement->failed = true;
        fail(statement->sql, code, err);
    }
    return false;
}

bool statement_run(struct statement *statement, struct tpa_error *err)
{
    statement_step(statement, err);
    sqlite3_reset(statement->handle);
    return !statement->failed;
}

void statement_reset(struct statement *statement)
{
    sqlite3_reset(statement->handle);
}

int64_t statement_int(struct statement *statement, int column)
{
    return sqlite3_column_int64(statement->handle, column);
}

double statement_double(struct statement *statement, int column)
{
    return statement_is_null(statement, column) ? NAN : sqlite3_column_double(statement->handle, column);
}

const char *statement_text(struct statement *statement, int column)
{
    return (const char *)sqlite3_column_text(statement->handle, column);
}

const void *statement_bytes(struct statement *statement, int column, size_t *size)
{
    const void *bytes = sqlite3_column_blob(statement->handle, column);
    *size = (size_t)sqlite3_column_bytes(statement->handle, column);
    return bytes ? bytes : "";
}

bool statement_is_null(struct statement *statement, int column)
{
    return sqlite3_column_type(statement->handle, column) == SQLITE_NULL;
}

bool statement_free(struct statement *statement)
{
    if (!statement)
        return false;
    bool good = !statement->failed;
    sqlite3_finalize(statement->handle);
    free(statement);
    return good;
}
