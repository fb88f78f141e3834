/* Defences against malicious files: the schema may hold code (views, triggers, virtual tables, computed columns): none
 * is ever used, and an authorizer allows only reading columns. B-trees may loop or share pages so that rows repeat:
 * reading stops at the first rowid that does not ascend, and the steps of the virtual machine are bounded by the size
 * of the file. A rollback journal or write-ahead log beside it would make SQLite write: `immutable` prevents that. A log with
 * pages is applied to a copy in memory; a journal is reported. */
#include "ingest/sqlite_open.h"
#include "base/escape.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <sqlite3.h>
#include <sys/stat.h>

enum {
    OPS_PER_CALL = 65536,          /* steps of SQLite's machine between two checks of the limit */
    LONGEST_VALUE = 256 << 20,     /* bytes of a text */
    LONGEST_STATEMENT = 256 << 10, /* bytes of SQL: in CREATE TABLE as well as in our statements */
};

struct database_note {
    const char *kind;
    char *text;
    uint64_t count;
};

struct database {
    sqlite3 *handle;
    char *bytes; /* an unpacked database; NULL if it is in a file */
    int64_t size;
    uint64_t calls, max_calls; /* of the progress handler */
    bool is_unread;            /* a system call failed during reading */
    int system;                /* errno of that, or 0 */
    VEC_OF(char *) tables;
    VEC_OF(struct database_note) notes;
};

bool database_is_one(const char *bytes, size_t len)
{
    return len >= 16 && memcmp(bytes, "SQLite format 3", 16) == 0;
}

static void add_note(struct database *db, const char *kind, char *text, uint64_t count)
{
    *VEC_PUSH(&db->notes) = (struct database_note){ kind, text, count };
}

void database_notice(struct database *db, struct trace_builder *builder)
{
    FOR_EACH(note, &db->notes) {
        trace_builder_notice(builder, note->kind,
                             trace_builder_strndup(builder, note->text, strlen(note->text)), note->count,
                             TPA_NOWHERE);
        free(note->text);
    }
    db->notes.count = 0;
}

/* ---- limits ---- */

/* Allowed are only reading columns of plain tables, and listing columns. */
static int authorize(void *context, int action, const char *first, const char *second, const char *third,
                     const char *fourth)
{
    (void)context, (void)second, (void)third, (void)fourth;
    if (action == SQLITE_SELECT || action == SQLITE_READ)
        return SQLITE_OK;
    return action == SQLITE_PRAGMA && strcmp(first, "table_xinfo") == 0 ? SQLITE_OK : SQLITE_DENY;
}

static int count_work(void *context)
{
    struct database *db = context;
    return ++db->calls > db->max_calls;
}

static void set_limits(struct database *db)
{
    static const struct {
        int option, value;
    } options[] = {
        { SQLITE_DBCONFIG_DEFENSIVE, 1 },
        { SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0 },
        { SQLITE_DBCONFIG_ENABLE_VIEW, 0 },
        { SQLITE_DBCONFIG_ENABLE_TRIGGER, 0 },
        { SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0 },
        { SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0 },
    };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        sqlite3_db_config(db->handle, options[i].option, options[i].value, NULL);
    sqlite3_limit(db->handle, SQLITE_LIMIT_LENGTH, LONGEST_VALUE);
    sqlite3_limit(db->handle, SQLITE_LIMIT_SQL_LENGTH, LONGEST_STATEMENT);
    sqlite3_limit(db->handle, SQLITE_LIMIT_ATTACHED, 0);
    sqlite3_limit(db->handle, SQLITE_LIMIT_WORKER_THREADS, 0);
    sqlite3_exec(db->handle, "PRAGMA cell_size_check=ON", NULL, NULL, NULL);
    sqlite3_set_authorizer(db->handle, authorize, NULL);
    /* A row takes at least two bytes of the file, and at most three steps for each of its columns. */
    db->max_calls = 16 + (uint64_t)db->size / 2 * ((uint64_t)3 * TABLE_SCAN_COLUMNS) / OPS_PER_CALL;
    sqlite3_progress_handler(db->handle, OPS_PER_CALL, count_work, db);
}

/* ---- opening ---- */

/* PATH as an unambiguous URI for SQLite, with any characters escaped. */
static char *uri_of(const char *path)
{
    struct buffer uri = { 0 };
    buffer_puts(&uri, "file:");
    while (path[0] == '/' && path[1] == '/') /* would begin an authority */
        path++;
    for (const char *at = path; *at; at++) {
        if (isalnum((unsigned char)*at) || strchr("/._-", *at))
            buffer_putc(&uri, *at);
        else
            buffer_printf(&uri, "%%%02X", (unsigned char)*at);
    }
    buffer_puts(&uri, "?mode=ro&immutable=1");
    return uri.at;
}

/* Why SQLite failed, as an error about the file. */
static bool fail_with(struct database *db, int code, const char *what, struct tpa_error *err)
{
    const char *why = db->handle ? sqlite3_errmsg(db->handle) : sqlite3_errstr(code);
    tpa_fail(err, TPA_NOWHERE, "%s: SQLite says \"%s\"", what, why);
    if (code == SQLITE_CORRUPT || code == SQLITE_NOTADB)
        tpa_hint(
            err,
            "was the file copied whole, and after the profiler had finished? 'sqlite3 FILE .recover' may "
            "save what is left of it");
    return tpa_unread(err, TPA_LEFT_OUT);
}

/* A journal beside the file holds changes that SQLite must undo. */
static void look_for_journal(struct database *db, const char *path)
{
    SCOPED struct buffer name = { 0 };
    struct stat about;
    buffer_printf(&name, "%s-journal", path);
    if (stat(name.at, &about) == 0 && about.st_size > 0)
        add_note(
            db, "journal_not_read",
            mem_strdup(
                "a rollback journal lies beside this database: its writer was stopped halfway, and figures may "
                "be of a half-written state; opening it once with sqlite3 takes that back"),
            1);
}

/* All bytes of SOURCE, *COUNT of them; free(); NULL: they cannot be read. */
static char *read_all(struct source *source, size_t *count, struct tpa_error *err)
{
    size_t capacity = 1 << 20;
    char *bytes = mem_alloc(capacity);
    int64_t got;
    *count = 0;
    while ((got = source_read(source, bytes + *count, capacity - *count, err)) > 0) {
        *count += (size_t)got;
        if (*count == capacity) {
            capacity = mem_times(capacity, 2);
            bytes = mem_realloc(bytes, capacity);
        }
    }
    if (got == 0)
        return bytes;
    free(bytes);
    return NULL;
}

/* The write-ahead log beside PATH, if it holds pages of the database: *LEN bytes; free(). NULL: there is none. */
static char *find_log(struct database *db, const char *path, size_t *len)
{
    struct buffer name = { 0 };
    struct stat about;
    struct tpa_error err = { 0 };
    buffer_printf(&name, "%s-wal", path);
    char *log = NULL;
    if (stat(name.at, &about) == 0 && about.st_size > 0) {
        struct source *source = source_open(name.at, NULL, &err);
        log = source ? read_all(source, len, &err) : NULL;
        source_free(source);
        if (!log)
            add_note(
                db, "wal_not_read",
                mem_strdup(
                    "a write-ahead log lies beside this database and cannot be read: rows that are only in it "
                    "are missing here"),
                1);
    }
    buffer_release(&name);
    if (!log || sqlite_wal_has_pages(log, *len))
        return log;
    free(log); /* its pages are in the database already, or it has none */
    return NULL;
}

/* Open the bytes of SOURCE, with the log of LEN bytes at LOG applied to them if it is not NULL. */
static bool open_bytes(struct database *db, struct source *source, const char *log, size_t len,
                       struct tpa_error *err)
{
    enum { WRITE_VERSION = 18, READ_VERSION = 19, HEADER = 100 };
    size_t size;
    db->bytes = read_all(source, &size, err);
    if (!db->bytes)
        return false;
    if (source_damage(source))
        add_note(db, lack_word(LACK_DAMAGED), mem_strdup(source_damage(source)), 1);
    if (log)
        db->bytes = sqlite_wal_apply(db->bytes, &size, log, len);
    db->size = (int64_t)size;
    /* A database in memory can have no write-ahead log; the pages are the same. */
    if (db->size >= HEADER && db->bytes[WRITE_VERSION] == 2 && db->bytes[READ_VERSION] == 2)
        db->bytes[WRITE_VERSION] = db->bytes[READ_VERSION] = 1;
    int code = sqlite3_open_v2(":memory:", &db->handle,
                               SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY | SQLITE_OPEN_NOMUTEX, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_deserialize(db->handle, "main", (unsigned char *)db->bytes, db->size, db->size,
                                   SQLITE_DESERIALIZE_READONLY);
    return code == SQLITE_OK || fail_with(db, code, "cannot open this database in memory", err);
}

static bool open_file(struct database *db, struct source *source, struct tpa_error *err)
{
    size_t len;
    const char *path = source_name(source);
    char *log = find_log(db, path, &len);
    look_for_journal(db, path);
    if (log) {
        bool ok = open_bytes(db, source, log, len, err);
        free(log);
        return ok;
    }
    char *uri = uri_of(path);
    int code =
        sqlite3_open_v2(uri, &db->handle, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, NULL);
    free(uri);
    db->size = source_packed_size(source);
    return code == SQLITE_OK || fail_with(db, code, "cannot open this database", err);
}

/* Is SOURCE a plain file that can be opened by its name? Standard input may be a file without a name. */
static bool lies_in_file(const struct source *source)
{
    struct source_id id;
    struct stat about;
    return source_packing(source) == SOURCE_PLAIN && source_id(source, &id) &&
           stat(source_name(source), &about) == 0 && about.st_dev == id.device && about.st_ino == id.inode;
}

static bool list_tables(struct database *db, struct tpa_error *err)
{
    static const char query[] = "SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0";
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(db->handle, query, -1, &statement, NULL);
    while (code == SQLITE_OK || code == SQLITE_ROW) {
        code = sqlite3_step(statement);
        const char *name = code == SQLITE_ROW ? (const char *)sqlite3_column_text(statement, 0) : NULL;
        if (name)
            *VEC_PUSH(&db->tables) = mem_strdup(name);
    }
    if (code != SQLITE_DONE)
        fail_with(db, code, "cannot read the list of tables of this database", err);
    sqlite3_finalize(statement);
    return code == SQLITE_DONE;
}

struct database *database_open(struct source *source, struct tpa_error *err)
{
    struct database *db = mem_zalloc(1, sizeof *db);
    bool ok = lies_in_file(source) ? open_file(db, source, err) : open_bytes(db, source, NULL, 0, err);
    if (ok) {
        set_limits(db);
        ok = list_tables(db, err);
    }
    if (ok)
        return db;
    database_close(db);
    return NULL;
}

void database_close(struct database *db)
{
    if (!db)
        return;
    sqlite3_close(db->handle);
    free(db->bytes);
    for (size_t i = 0; i < db->tables.count; i++)
        free(db->tables.at[i]);
    VEC_FREE(&db->tables);
    for (size_t i = 0; i < db->notes.count; i++)
        free(db->notes.at[i].text);
    VEC_FREE(&db->notes);
    free(db);
}

int64_t database_size(const struct database *db)
{
    return db->size;
}

size_t database_table_count(const struct database *db)
{
    return db->tables.count;
}

const char *database_table(const struct database *db, size_t index)
{
    return db->tables.at[index];
}

bool database_has(const struct database *db, const char *table)
{
    return ANY(i, db->tables.count, sqlite3_stricmp(db->tables.at[i], table) == 0);
}

/* ---- tables ---- */

/* Ends the program if memory ran out, as SQLite reports. It also reports that for some damaged records: a row
 * whose header gives impossible lengths. So an allocation is tried here that is at least as large as any of
 * SQLite's. */
static void check_memory(void)
{
    void *piece = malloc((size_t)2 * LONGEST_VALUE);
    if (!piece)
        mem_out_of_memory((size_t)2 * LONGEST_VALUE);
    free(piece);
}

/* Did SQLite fail because of the system, rather than damage? Memory that ran out ends the program. */
static bool system_failed(struct database *db)
{
    int code = sqlite3_errcode(db->handle) & 0xff;
    if (code == SQLITE_NOMEM)
        check_memory();
    if (code != SQLITE_IOERR)
        return false;
    db->is_unread = true;
    db->system = sqlite3_system_errno(db->handle);
    return true;
}

bool database_was_read(const struct database *db, struct tpa_error *err)
{
    if (!db->is_unread)
        return true;
    errno = db->system;
    return tpa_fail_errno(err, "cannot read this database");
}

/* Add a notice that TABLE ended early, after ROWS rows. */
static void record_damage(struct database *db, const char *table, uint64_t rows, const char *why)
{
    if (system_failed(db))
        return;
    const char *kind = lack_word(LACK_DAMAGED_TABLE); /* one notice for all tables */
    struct database_note *before = FIND(note, &db->notes, strcmp(note->kind, kind) == 0);
    struct buffer text = { 0 };
    if (before)
        buffer_printf(&text, "%s; ", before->text);
    buffer_printf(&text, "the table %s is damaged, and ", table);
    if (rows > 0)
        buffer_printf(&text, "what follows its first %llu row%s", (unsigned long long)rows,
                      rows == 1 ? "" : "s");
    else
        buffer_puts(&text, "all of it");
    buffer_printf(&text, " is missing (%s)", why);
    if (before) {
        free(before->text);
        before->text = text.at;
        before->count++;
    } else {
        add_note(db, kind, text.at, 1);
    }
}

/* Find the requested columns that the table has; computed ones do not count. QUERY gets the SQL to select them, *PLACES
 * their number. */
static bool find_columns(struct table_scan *scan, const char *const *columns, size_t count,
                         struct buffer *query, int *places)
{
    enum { NAME = 1, HIDDEN = 6, PLAIN = 0, STORED = 3 };
    struct buffer pragma = { 0 };
    sqlite3_stmt *statement = NULL;
    buffer_puts(&pragma, "PRAGMA table_xinfo(");
    escape_sql_name(&pragma, scan->table);
    buffer_putc(&pragma, ')');
    int code = sqlite3_prepare_v2(scan->db->handle, pragma.at, -1, &statement, NULL);
    buffer_release(&pragma);
    while (code == SQLITE_OK || code == SQLITE_ROW) {
        code = sqlite3_step(statement);
        const char *name = code == SQLITE_ROW ? (const char *)sqlite3_column_text(statement, NAME) : NULL;
        int hidden = code == SQLITE_ROW ? sqlite3_column_int(statement, HIDDEN) : 0;
        for (size_t i = 0; name && i < count && (hidden == PLAIN || hidden == STORED); i++) {
            if (!columns[i] || scan->at[i] >= 0 || sqlite3_stricmp(name, columns[i]) != 0)
                continue;
            buffer_puts(query, *places ? ", " : "");
            escape_sql_name(query, name);
            scan->at[i] = (*places)++;
        }
    }
    if (code != SQLITE_DONE)
        record_damage(scan->db, scan->table, 0, sqlite3_errmsg(scan->db->handle));
    sqlite3_finalize(statement);
    return code == SQLITE_DONE;
}

/* Prepare to read COLUMNS, a list in SQL, of the table; preceded by the rowid if it has one. */
static bool prepare(struct table_scan *scan, const char *columns, bool rowid)
{
    struct buffer query = { 0 };
    sqlite3_stmt *statement = NULL;
    buffer_printf(&query, "SELECT %s%s FROM main.", columns, rowid ? ", rowid" : "");
    escape_sql_name(&query, scan->table);
    buffer_puts(&query, " NOT INDEXED");
    int code = sqlite3_prepare_v2(scan->db->handle, query.at, -1, &statement, NULL);
    buffer_release(&query);
    scan->statement = statement;
    scan->has_rowid = rowid;
    scan->rowid_at = statement ? sqlite3_column_count(statement) - 1 : 0;
    return code == SQLITE_OK;
}

static const char *own_name(const struct database *db, const char *table)
{
    for (size_t i = 0; i < db->tables.count; i++)
        if (sqlite3_stricmp(db->tables.at[i], table) == 0)
            return db->tables.at[i];
    return NULL;
}

bool table_scan_begin(struct database *db, struct table_scan *scan, const char *table,
                      const char *const *columns, size_t count)
{
    *scan = (struct table_scan){ .db = db, .table = own_name(db, table), .last_rowid = INT64_MIN };
    for (size_t i = 0; i < TABLE_SCAN_COLUMNS; i++)
        scan->at[i] = -1;
    if (!scan->table)
        return false;
    SCOPED struct buffer query = { 0 };
    int places = 0;
    bool ok = find_columns(scan, columns, count, &query, &places);
    /* A column may be called rowid, and a table may have no rowid. */
    if (ok && places && !prepare(scan, query.at, true) && !prepare(scan, query.at, false)) {
        record_damage(db, scan->table, 0, sqlite3_errmsg(db->handle));
        ok = false;
    }
    return ok && places;
}

bool table_scan_has(const struct table_scan *scan, size_t column)
{
    return scan->at[column] >= 0;
}

bool table_scan_next(struct table_scan *scan)
{
    sqlite3_stmt *statement = scan->statement;
    if (!statement)
        return false;
    int code = sqlite3_step(statement);
    if (code == SQLITE_DONE)
        return false;
    if (code != SQLITE_ROW) {
        record_damage(scan->db, scan->table, scan->rows,
                      code == SQLITE_INTERRUPT ? "it has more rows than the file has room for"
                      : code == SQLITE_NOMEM   ? "a row has impossible lengths"
                                               : sqlite3_errmsg(scan->db->handle));
        return false;
    }
    if (scan->has_rowid) {
        int64_t rowid = sqlite3_column_int64(statement, scan->rowid_at);
        if (rowid <= scan->last_rowid && scan->rows > 0) {
            record_damage(scan->db, scan->table, scan->rows, "rows come again that were there before");
            return false;
        }
        scan->last_rowid = rowid;
    }
    scan->rows++;
    return true;
}

/* Parse TEXT as a whole number. */
static bool whole_number(const char *text, int64_t *value)
{
    char *end;
    while (isspace((unsigned char)*text))
        text++;
    if (!isdigit((unsigned char)*text) && *text != '-' && *text != '+')
        return false;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    while (isspace((unsigned char)*end))
        end++;
    if (*end || errno)
        return false;
    *value = number;
    return true;
}

static bool odd_int(struct table_scan *scan, int place, int type, int64_t *value)
{
    if (type == SQLITE_FLOAT) {
        double number = sqlite3_column_double(scan->statement, place);
        if (number >= -0x1p63 && number < 0x1p63 && number == floor(number)) {
            *value = (int64_t)number;
            return true;
        }
    } else if (type == SQLITE_TEXT) {
        const char *text = (const char *)sqlite3_column_text(scan->statement, place);
        if (text && whole_number(text, value))
            return true;
    }
    scan->odd++;
    return false;
}

bool table_scan_int(struct table_scan *scan, size_t column, int64_t *value)
{
    int place = scan->at[column];
    if (place < 0)
        return false;
    sqlite3_value *cell = sqlite3_column_value(scan->statement, place); /* one lookup for both */
    int type = sqlite3_value_type(cell);
    if (type == SQLITE_INTEGER) {
        *value = sqlite3_value_int64(cell);
        return true;
    }
    return type != SQLITE_NULL && odd_int(scan, place, type, value);
}

int64_t table_scan_int_or(struct table_scan *scan, size_t column, int64_t missing)
{
    int64_t value = missing;
    table_scan_int(scan, column, &value);
    return value;
}

double table_scan_double(struct table_scan *scan, size_t column)
{
    int place = scan->at[column];
    int type = place < 0 ? SQLITE_NULL : sqlite3_column_type(scan->statement, place);
    return type == SQLITE_INTEGER || type == SQLITE_FLOAT ? sqlite3_column_double(scan->statement, place)
                                                          : (double)NAN;
}

const char *table_scan_text(struct table_scan *scan, size_t column, size_t *len)
{
    int place = scan->at[column];
    if (place < 0 || sqlite3_column_type(scan->statement, place) == SQLITE_NULL)
        return NULL;
    const char *text = (const char *)sqlite3_column_text(scan->statement, place);
    if (!text)
        system_failed(scan->db);
    *len = text ? (size_t)sqlite3_column_bytes(scan->statement, place) : 0;
    return text;
}

uint64_t table_scan_end(struct table_scan *scan)
{
    if (scan->odd) {
        struct buffer text = { 0 };
        buffer_printf(&text,
                      "values in the table %s should be whole numbers and are not; they count as missing",
                      scan->table);
        add_note(scan->db, lack_word(LACK_WRONG_TYPES), text.at, scan->odd);
    }
    sqlite3_finalize(scan->statement);
    scan->statement = NULL;
    return scan->rows;
}
