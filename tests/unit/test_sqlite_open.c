/* test_sqlite_open.c - ingest/sqlite_open.h: databases that strangers wrote. */
#include "tests/unit/unit.h"
#include "ingest/sqlite_open.h"

#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

SCRATCH_OF(source)

/* The bytes of the database that SQL makes; free with sqlite3_free. */
static unsigned char *make(const char *sql, sqlite3_int64 *size)
{
    sqlite3 *db;
    char *why = NULL;
    assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, &why) != SQLITE_OK)
        fail_msg("%s", why);
    unsigned char *bytes = sqlite3_serialize(db, "main", size, 0);
    sqlite3_close(db);
    assert_non_null(bytes);
    return bytes;
}

/* All rows of TABLE's COLUMNS as text: "1,2;3,-;" where a value is missing. And how many notes there were. */
static void read_table(struct database *db, const char *table, const char *const *columns, size_t count,
                       struct buffer *out)
{
    struct table_scan scan;
    buffer_clear(out);
    buffer_puts(out, "");
    if (table_scan_begin(db, &scan, table, columns, count))
        while (table_scan_next(&scan)) {
            for (size_t i = 0; i < count; i++) {
                int64_t value;
                if (table_scan_int(&scan, i, &value))
                    buffer_printf(out, "%s%lld", i ? "," : "", (long long)value);
                else
                    buffer_printf(out, "%s-", i ? "," : "");
            }
            buffer_putc(out, ';');
        }
    table_scan_end(&scan);
}

static void expect_rows(const char *sql, const char *table, const char *const *columns, size_t count,
                        const char *expected)
{
    sqlite3_int64 size;
    unsigned char *bytes = make(sql, &size);
    struct tpa_error err = { 0 };
    struct source *source = scratch_source(source_open_memory(bytes, (size_t)size, "test", &err));
    struct database *db = database_open(source, &err);
    if (!db)
        fail_msg("%s", err.message);
    SCRATCH_BUFFER(rows);
    read_table(db, table, columns, count, &rows);
    assert_string_equal(rows.at ? rows.at : "", expected);
    database_close(db);
    sqlite3_free(bytes);
}

static const char *const a_and_b[] = { "a", "b" };

TEST(columns_are_found_by_name)
{
    expect_rows("CREATE TABLE t (x, B, /* a, */ A); INSERT INTO t VALUES (9, 2, 1), (9, NULL, 3)", "T",
                a_and_b, 2, "1,2;3,-;");
    expect_rows("CREATE TABLE t (a); INSERT INTO t VALUES (7)", "t", a_and_b, 2, "7,-;");
    expect_rows("CREATE TABLE t (a, rowid); INSERT INTO t VALUES (7, 1), (8, 1)", "t", a_and_b, 2, "7,-;");
    expect_rows("CREATE TABLE t (b PRIMARY KEY, a) WITHOUT ROWID; INSERT INTO t VALUES (2, 5), (1, 6)", "t",
                a_and_b, 2, "6,1;5,2;");
    expect_rows("CREATE TABLE t (c)", "t", a_and_b, 2, "");
    expect_rows("CREATE TABLE u (a)", "t", a_and_b, 2, "");
}

/* Only whole numbers are numbers, however they are kept. */
TEST(wrong_types_are_missing)
{
    expect_rows(
        "CREATE TABLE t (a, b); INSERT INTO t VALUES ('12', 3.0), (' -4 ', 1.5), ('x', x'00'), (1e30, '1e3'), "
        "('99999999999999999999', '')",
        "t", a_and_b, 2, "12,3;-4,-;-,-;-,-;-,-;");
}

/* Views, virtual columns and triggers are as if they were not there. */
TEST(code_is_not_run)
{
    expect_rows(
        "CREATE TABLE u (a); CREATE VIEW t AS WITH RECURSIVE n(a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM n) "
        "SELECT a, a AS b FROM n",
        "t", a_and_b, 2, "");
    expect_rows(
        "CREATE TABLE t (a, b AS (zeroblob(200000000)), c AS (a + 1) STORED); INSERT INTO t (a) VALUES (1)",
        "t", a_and_b, 2, "1,-;");
    expect_rows("CREATE TABLE t (a, b AS (a + 1) STORED); INSERT INTO t (a) VALUES (1)", "t", a_and_b, 2,
                "1,2;");
    expect_rows(
        "CREATE TABLE t (a, b); CREATE INDEX i ON t (abs(a)); INSERT INTO t VALUES (1, 2); CREATE TRIGGER r AFTER "
        "INSERT ON t BEGIN DELETE FROM t; END",
        "t", a_and_b, 2, "1,2;");
}

/* Every row of a page comes twice when its parent points to it twice. */
TEST(rows_come_once)
{
    sqlite3_int64 size;
    /* Two leaves under one root: page 2 is the root, an interior page of type 5; its first child is in its first cell, its
     * last one at offset 8. */
    unsigned char *bytes =
        make("PRAGMA page_size = 512; CREATE TABLE t (a, b); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL "
             "SELECT i + 1 FROM n WHERE i < 100) INSERT INTO t SELECT i, i FROM n",
             &size);
    unsigned char *root = bytes + 512;
    assert_int_equal(root[0], 5);
    size_t cell = (size_t)root[12] << 8 | root[13];
    memcpy(root + 8, root + cell, 4); /* the last child is the first again */
    struct source *source = scratch_source(source_open_memory(bytes, (size_t)size, "test", NULL));
    struct database *db = database_open(source, NULL);
    assert_non_null(db);
    struct table_scan scan;
    int64_t last = 0, value;
    assert_true(table_scan_begin(db, &scan, "t", a_and_b, 2));
    while (table_scan_next(&scan)) {
        assert_true(table_scan_int(&scan, 0, &value));
        assert_true(value > last);
        last = value;
    }
    assert_true(table_scan_end(&scan) < 100);
    struct trace_builder *builder = trace_builder_open(&(struct trace_wants){ 0 });
    trace_builder_file(builder, "test", "test");
    database_notice(db, builder);
    assert_non_null(trace_builder_find_notice(builder, "damaged_table"));
    trace_builder_free(builder);
    database_close(db);
    sqlite3_free(bytes);
}

/* Each damaged table is named, and what is before the damage is read. */
TEST(damaged_tables_are_named)
{
    enum { PAGE = 512, T = 1 * PAGE, U = 2 * PAGE };
    sqlite3_int64 size;
    unsigned char *bytes = make("PRAGMA page_size = 512; CREATE TABLE t (a, b); CREATE TABLE u (a, b);"
                                "INSERT INTO t VALUES (1, 2), (3, 'four'); INSERT INTO u VALUES (5, 6)",
                                &size);
    unsigned char *cells = bytes + T + 8;
    unsigned char *row =
        bytes + T + (cells[2] << 8 | cells[3]); /* length, rowid, length of the header, types */
    assert_int_equal(row[2], 3);
    assert_int_equal(row[4], 13 + 2 * 4);
    memcpy(row + 2, "\x06\x01\xff\xff\xff\xff", 6); /* the type of b has bytes that are those of the values */
    bytes[U] = 0;                                   /* no type of page */
    struct source *source = scratch_source(source_open_memory(bytes, (size_t)size, "test", NULL));
    struct database *db = database_open(source, NULL);
    assert_non_null(db);
    SCRATCH_BUFFER(rows);
    read_table(db, "t", a_and_b, 2, &rows);
    read_table(db, "u", a_and_b, 2, &rows);
    struct trace_builder *builder = trace_builder_open(&(struct trace_wants){ 0 });
    trace_builder_file(builder, "test", "test");
    database_notice(db, builder);
    const struct trace_notice *notice = trace_builder_find_notice(builder, "damaged_table");
    assert_non_null(notice);
    assert_non_null(
        strstr(notice->text, "the table t is damaged, and what follows its first 1 row is missing"));
    assert_non_null(strstr(notice->text, "the table u is damaged, and all of it is missing"));
    trace_builder_free(builder);
    database_close(db);
    sqlite3_free(bytes);
}

/* A file is read where it lies, whatever it is called; nothing is written to it or beside it, and what is no log is none. */
TEST(a_file_is_not_touched)
{
    char folder[] = "/tmp/test_sqlite_XXXXXX", path[128], log[160], shm[160];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/what?a%%20name#1&mode=rwc.db", folder);
    snprintf(log, sizeof log, "%s-wal", path);
    snprintf(shm, sizeof shm, "%s-shm", path);
    sqlite3_int64 size;
    unsigned char *bytes = make("CREATE TABLE t (a, b); INSERT INTO t VALUES (1, 2)", &size);
    bytes[18] = bytes[19] = 2; /* as with a write-ahead log */
    FILE *out = fopen(path, "wb");
    assert_int_equal(fwrite(bytes, 1, (size_t)size, out), size);
    fclose(out);
    out = fopen(log, "wb");
    fputs("not really a log", out);
    fclose(out);
    struct tpa_error err = { 0 };
    struct source *source = scratch_source(source_open(path, &(struct source_limits){ 0 }, &err));
    assert_non_null(source);
    struct database *db = database_open(source, &err);
    if (!db)
        fail_msg("%s", err.message);
    SCRATCH_BUFFER(rows);
    read_table(db, "t", a_and_b, 2, &rows);
    assert_string_equal(rows.at, "1,2;");
    struct trace_builder *builder = trace_builder_open(&(struct trace_wants){ 0 });
    trace_builder_file(builder, "test", "test");
    database_notice(db, builder);
    assert_null(trace_builder_find_notice(builder, "wal_not_read"));
    trace_builder_free(builder);
    database_close(db);
    struct stat about;
    assert_int_equal(stat(log, &about), 0);
    assert_int_equal(about.st_size, 16);
    assert_int_equal(stat(shm, &about), -1);
    unlink(log);
    unlink(path);
    assert_int_equal(rmdir(folder), 0);
    sqlite3_free(bytes);
}

/* Rows of the table t in the file at PATH, as "1,2;3,4;". */
static char *rows_of_file(const char *path)
{
    struct tpa_error err = { 0 };
    struct source *source = scratch_source(source_open(path, &(struct source_limits){ 0 }, &err));
    assert_non_null(source);
    struct database *db = database_open(source, &err);
    if (!db)
        fail_msg("%s", err.message);
    struct buffer rows = { 0 };
    buffer_puts(&rows, "");
    read_table(db, "t", a_and_b, 2, &rows);
    database_close(db);
    return rows.at;
}

/* Write at PATH the first LEN bytes of those at BYTES, one of which is changed at DAMAGED if that is less. */
static void write_part(const char *path, char *bytes, size_t len, size_t damaged)
{
    FILE *out = fopen(path, "wb");
    assert_non_null(out);
    if (damaged < len)
        bytes[damaged] ^= 1;
    assert_int_equal(fwrite(bytes, 1, len, out), len);
    if (damaged < len)
        bytes[damaged] ^= 1;
    fclose(out);
}

static char *bytes_of_file(const char *path, size_t *len)
{
    struct source *source = scratch_source(source_open(path, &(struct source_limits){ 0 }, NULL));
    assert_non_null(source);
    enum { ENOUGH = 1 << 20 };
    char *bytes = malloc(ENOUGH);
    assert_non_null(bytes);
    *len = 0;
    for (int64_t got; (got = source_read(source, bytes + *len, ENOUGH - *len, NULL)) > 0;)
        *len += (size_t)got;
    return bytes;
}

/* A log is applied up to its last finished transaction whose checksums are right, as SQLite does. */
TEST(a_log_is_applied)
{
    enum { HEADER = 32, FRAME = 24 + 1024 };
    char folder[] = "/tmp/test_sqlite_XXXXXX", live[64], path[64], log[64];
    assert_non_null(mkdtemp(folder));
    snprintf(live, sizeof live, "%s/live.db", folder);
    snprintf(path, sizeof path, "%s/copy.db", folder);
    snprintf(log, sizeof log, "%s/copy.db-wal", folder);
    sqlite3 *handle;
    assert_int_equal(sqlite3_open(live, &handle), SQLITE_OK);
    static const char *const statements[] = {
        "PRAGMA page_size = 1024; PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;",
        "CREATE TABLE t (a, b); INSERT INTO t VALUES (1, 2); PRAGMA wal_checkpoint(TRUNCATE)",
        "INSERT INTO t VALUES (3, 4)",
        "INSERT INTO t VALUES (5, 6)",
        "CREATE TABLE u (x); INSERT INTO u SELECT hex(randomblob(3000)); DROP TABLE u;",
        "UPDATE t SET b = 7 WHERE a = 1",
    };
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++)
        assert_int_equal(sqlite3_exec(handle, statements[i], NULL, NULL, NULL), SQLITE_OK);
    char wal_of_live[80];
    snprintf(wal_of_live, sizeof wal_of_live, "%s-wal", live);
    size_t size, len;
    char *bytes = scratch_heap(bytes_of_file(live, &size)),
         *pages = scratch_heap(bytes_of_file(wal_of_live, &len));
    sqlite3_close(handle);
    const struct {
        size_t len, damaged;
        const char *rows;
    } cases[] = {
        { len, SIZE_MAX, "1,7;3,4;5,6;" },
        { len - 1, SIZE_MAX, "1,2;3,4;5,6;" },     /* the last frame is cut */
        { HEADER + FRAME, SIZE_MAX, "1,2;3,4;" },  /* one transaction */
        { len, HEADER + FRAME + 100, "1,2;3,4;" }, /* the second frame is damaged */
        { len, HEADER + FRAME + 8, "1,2;3,4;" },   /* or of an earlier use of the log */
        { len, HEADER + 16, "1,2;" },              /* none is whole */
        { len, 3, "1,2;" },                        /* not a log */
        { HEADER, SIZE_MAX, "1,2;" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_part(path, bytes, size, SIZE_MAX);
        write_part(log, pages, cases[i].len, cases[i].damaged);
        char *rows = scratch_heap(rows_of_file(path));
        assert_string_equal(rows, cases[i].rows);
    }
    unlink(log);
    unlink(path);
    unlink(live);
    assert_int_equal(rmdir(folder), 0);
}

TEST(what_is_none_says_so)
{
    struct tpa_error err = { 0 };
    char bytes[200] = "SQLite format 3";
    struct source *source = scratch_source(source_open_memory(bytes, sizeof bytes, "test", &err));
    assert_true(database_is_one(bytes, sizeof bytes));
    assert_false(database_is_one("SQLite format 4", 16));
    assert_null(database_open(source, &err));
    assert_non_null(strstr(err.message, "SQLite says"));
    assert_int_equal(err.unread, TPA_LEFT_OUT);
}
