#include "history/store.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

struct sql {
    sqlite3 *db;
    char *path;
    int64_t turns, most_turns; /* of SQLite's virtual machine */
};

struct statement {
    struct sql *sql;
    sqlite3_stmt *handle;
    bool failed;
};

enum { STEPS_OF_A_TURN = 1000000, LARGEST_VALUE = 64 << 20, LONGEST_STATEMENT = 1 << 20 };

/* ---- errors ---- */

static bool no_room(int code, int system)
{
    return code == SQLITE_FULL || system == ENOSPC || system == EDQUOT || system == EFBIG;
}

/* Describe the result code CODE of SQLite for the user. */
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
                 "this is not a store of tpa nightly: it does not begin as SQLite's databases do");
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
        tpa_fail(err, TPA_NOWHERE, "this store cannot be written: %s", text);
        tpa_hint(err, "SQLite writes a journal beside it: the directory must be writable, too");
        break;
    case SQLITE_CANTOPEN:
        if (system)
            tpa_fail(err, TPA_NOWHERE, "cannot open this store: %s", strerror(system));
        else
            tpa_fail(err, TPA_NOWHERE, "cannot open this store: %s", text);
        break;
    case SQLITE_INTERRUPT:
        tpa_fail(err, TPA_NOWHERE, "this store takes more steps to read than its size explains");
        tpa_hint(err, "nothing was changed; is it from an untrusted source?");
        break;
    case SQLITE_TOOBIG:
        tpa_fail(err, TPA_NOWHERE, "this store holds a value of more than %d MiB, which tpa never writes",
                 LARGEST_VALUE >> 20);
        tpa_hint(err, "nothing was changed; is it from an untrusted source?");
        break;
    case SQLITE_NOMEM: mem_out_of_memory(0); break;
    default:
        if (code == SQLITE_IOERR_WRITE && !system) { /* SQLite does not say why */
            tpa_fail(err, TPA_NOWHERE,
                     "this store cannot be written: there is no room left, or the disk fails");
            tpa_hint(err, "nothing was changed; what was in it before is still there");
        } else if (no_room(code & 0xff, system)) {
            tpa_fail(err, TPA_NOWHERE, "there is no room left for this store%s%s", system ? ": " : "",
                     system ? strerror(system) : "");
            tpa_hint(err, "nothing was changed; what was in it before is still there");
        } else if (system && (code & 0xff) == SQLITE_IOERR) {
            tpa_fail(err, TPA_NOWHERE, "cannot read or write this store: %s", strerror(system));
        } else {
            tpa_fail(err, TPA_NOWHERE, "this store cannot be used: %s", text);
        }
    }
    return tpa_in_file(err, sql->path);
}

/* ---- the file ---- */

/* Names that SQLite would not treat as files, so that nothing would be stored. */
static bool check_name(const char *path, struct tpa_error *err)
{
    bool is_file = *path && *path != ':' && strncmp(path, "file:", strlen("file:")) != 0;
    struct stat status;
    if (is_file && stat(path, &status) == 0 && !S_ISREG(status.st_mode)) {
        tpa_fail(err, TPA_NOWHERE, "is %s, not a store",
                 S_ISDIR(status.st_mode) ? "a directory" : "not an ordinary file");
        return tpa_in_file(err, path);
    }
    if (is_file)
        return true;
    tpa_fail(err, TPA_NOWHERE, "'%s' cannot name a store: nothing would be kept in it", path);
    return tpa_hint(err, "name a file, such as perf.db; one that is called so is ./%s",
                    *path ? path : "NAME");
}

/* A journal that a killed run left may end in the name of a super-journal, which SQLite deletes when it has rolled
 * back. Those exist only if several databases change together, which never happens here: such a name was put there
 * maliciously, to delete any file. */
static bool check_journal(const char *path, struct tpa_error *err)
{
    static const unsigned char magic[8] = { 0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7 };
    unsigned char end[16]; /* length of the name, its checksum, magic */
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    bool names_one = fd >= 0 && fstat(fd, &status) == 0 && status.st_size >= (off_t)sizeof end &&
                     pread(fd, end, sizeof end, status.st_size - (off_t)sizeof end) == (ssize_t)sizeof end &&
                     memcmp(end + 8, magic, sizeof magic) == 0 && (end[0] | end[1] | end[2] | end[3]) != 0;
    if (fd >= 0)
        close(fd);
    if (!names_one)
        return true;
    tpa_fail(err, TPA_NOWHERE,
             "this journal names another file that would be deleted with it, which tpa never writes");
    tpa_hint(
        err,
        "nothing was changed; is the store from an untrusted source? Without the journal it can be read");
    return tpa_in_file(err, path);
}

/* Files that SQLite opens beside a store must be ordinary files: it would wait forever on a fifo. */
static bool check_beside(const char *path, struct tpa_error *err)
{
    static const char *const endings[] = { "-journal", "-wal", "-shm" };
    SCOPED struct buffer name = { 0 };
    struct stat status;
    bool good = true;
    SCOPED char *file = realpath(path, NULL); /* SQLite opens files beside the target of a link */
    for (size_t i = 0; i < sizeof endings / sizeof *endings && good; i++) {
        buffer_clear(&name);
        buffer_printf(&name, "%s%s", file ? file : path, endings[i]);
        if (lstat(name.at, &status) == 0 && !S_ISREG(status.st_mode)) {
            tpa_fail(err, TPA_NOWHERE, "lies beside a store and is not an ordinary file");
            tpa_hint(
                err,
                "nothing was changed; is the store from an untrusted source? It can be read without that");
            good = tpa_in_file(err, name.at);
        } else if (i == 0) {
            good = check_journal(name.at, err);
        }
    }
    return good;
}

/* Allow only the operations of this program. Otherwise a malicious schema could run arbitrary code; the schema is
 * compared with ours as well. VACUUM attaches a database without a name. */
static int authorize(void *context, int action, const char *first, const char *second, const char *database,
                     const char *trigger)
{
    (void)context;
    (void)second;
    (void)database;
    switch (action) {
    case SQLITE_CREATE_TRIGGER:
    case SQLITE_CREATE_TEMP_TRIGGER:
    case SQLITE_CREATE_VIEW:
    case SQLITE_CREATE_TEMP_VIEW:
    case SQLITE_CREATE_VTABLE:
    case SQLITE_DROP_VTABLE:
    case SQLITE_RECURSIVE: return SQLITE_DENY;
    case SQLITE_ATTACH: return first && *first == '\0' ? SQLITE_OK : SQLITE_DENY;
    default: return trigger ? SQLITE_DENY : SQLITE_OK;
    }
}

/* Called every STEPS_OF_A_TURN steps of SQLite's machine: nonzero ends the statement. */
static int count_turn(void *context)
{
    struct sql *sql = context;
    return ++sql->turns > sql->most_turns;
}

static void guard(struct sql *sql)
{
    sqlite3 *db = sql->db;
    struct stat status;
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, LARGEST_VALUE);
    sqlite3_limit(db, SQLITE_LIMIT_SQL_LENGTH, LONGEST_STATEMENT);
    sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 1);
    sqlite3_limit(db, SQLITE_LIMIT_TRIGGER_DEPTH, 1);
    sqlite3_set_authorizer(db, authorize, NULL);
    /* No statement of ours takes more than some steps per byte of the store; 2e9 steps take about a minute. */
    int64_t bytes = stat(sql->path, &status) == 0 ? (int64_t)status.st_size : 0;
    sql->most_turns = 2000 + bytes / 500;
    sqlite3_progress_handler(db, STEPS_OF_A_TURN, count_turn, sql);
}

static int open_file(struct sql *sql, const char *path, int flags, int wait_ms)
{
    int code = sqlite3_open_v2(path, &sql->db, flags | SQLITE_OPEN_NOMUTEX, NULL);
    if (code != SQLITE_OK)
        return code;
    sqlite3_extended_result_codes(sql->db, 1);
    sqlite3_busy_timeout(sql->db, wait_ms);
    guard(sql);
    return SQLITE_OK;
}

/* Open for reading, so that nothing is written. If a killed run left a journal, its changes must be undone first, which
 * needs write access. */
static int open_for_reading(struct sql *sql, const char *path, int wait_ms)
{
    int code = open_file(sql, path, SQLITE_OPEN_READONLY, wait_ms);
    if (code == SQLITE_OK)
        code = sqlite3_exec(sql->db, "SELECT 1 FROM sqlite_schema LIMIT 1", NULL, NULL, NULL);
    if (code != SQLITE_READONLY_ROLLBACK && code != SQLITE_READONLY_RECOVERY &&
        code != SQLITE_READONLY_CANTINIT && code != SQLITE_CANTOPEN)
        return SQLITE_OK; /* other errors appear with the first statement */
    if (sql->db && code == SQLITE_CANTOPEN && sqlite3_system_errno(sql->db))
        return code;
    sqlite3_close(sql->db);
    return open_file(sql, path, SQLITE_OPEN_READWRITE, wait_ms);
}

struct sql *sql_open(const char *path, enum sql_mode mode, int wait_ms, struct tpa_error *err)
{
    if (!check_name(path, err) || !check_beside(path, err))
        return NULL;
    struct sql *sql = mem_zalloc(1, sizeof *sql);
    sql->path = mem_strdup(path);
    /* Treat such names as files, regardless of SQLite's build options. */
    struct buffer name = { 0 };
    buffer_printf(&name, "%s%s", *path == '/' ? "" : "./", path);
    int create = mode == SQL_CREATE ? SQLITE_OPEN_CREATE : 0;
    int code = mode == SQL_READ ? open_for_reading(sql, name.at, wait_ms)
                                : open_file(sql, name.at, SQLITE_OPEN_READWRITE | create, wait_ms);
    buffer_release(&name);
    if (code != SQLITE_OK) {
        fail(sql, code, err);
        if (mode != SQL_CREATE && (code & 0xff) == SQLITE_CANTOPEN && sqlite3_system_errno(sql->db) == ENOENT)
            tpa_hint(err, "a store is created when the first run is added");
        sql_close(sql);
        return NULL;
    }
    bool good = sql_exec(sql, "PRAGMA foreign_keys = ON; PRAGMA cell_size_check = ON", err) &&
                (mode != SQL_READ || sql_exec(sql, "PRAGMA query_only = ON", err));
    if (!good) {
        sql_close(sql);
        return NULL;
    }
    return sql;
}

/* Collect the rows of the statement as text. */
static bool list_schema(struct sqlite3 *db, struct buffer *list)
{
    sqlite3_stmt *rows = NULL;
    int code = sqlite3_prepare_v2(db,
                                  "SELECT type || ' ' || name || ' ' || tbl_name || ' ' || coalesce(sql, '') "
                                  "FROM sqlite_schema ORDER BY type, name",
                                  -1, &rows, NULL);
    while (code == SQLITE_OK && (code = sqlite3_step(rows)) == SQLITE_ROW) {
        const unsigned char *row = sqlite3_column_text(rows, 0);
        for (const char *at = row ? (const char *)row : ""; *at; at++)
            if (*at != ' ' && *at != '\n' && *at != '\t' && *at != '"') /* .recover may change them */
                buffer_putc(list, *at);
        buffer_putc(list, '\n');
        code = SQLITE_OK;
    }
    sqlite3_finalize(rows);
    return code == SQLITE_DONE;
}

bool sql_has_schema(struct sql *sql, const char *schema, bool *same, struct tpa_error *err)
{
    sqlite3 *ours = NULL;
    SCOPED struct buffer there = { 0 }, wanted = { 0 };
    if (sqlite3_open_v2(":memory:", &ours, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
                        NULL) != SQLITE_OK ||
        sqlite3_exec(ours, schema, NULL, NULL, NULL) != SQLITE_OK || !list_schema(ours, &wanted))
        mem_out_of_memory(0);
    bool good = list_schema(sql->db, &there) || fail(sql, sqlite3_extended_errcode(sql->db), err);
    *same = good && there.count == wanted.count && there.count > 0 &&
            memcmp(there.at, wanted.at, wanted.count) == 0;
    sqlite3_close(ours);
    return good;
}

void sql_close(struct sql *sql)
{
    if (!sql)
        return;
    sqlite3_close(sql->db);
    EACH(free, sql->path, sql);
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
