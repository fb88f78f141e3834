/*
 * fuzz_store.c - any bytes as what a store of nights holds, asked by the commands that look into one.
 *
 * The first byte chooses. Even: the rest is rows for the tables of a store, with values of any type and size in any
 * column, which SQLite keeps without a word. Odd: the rest is the file. The second byte chooses the command.
 *
 *     row      table, then a value a column
 *     value    tag: NULL, a small number, 8 bytes as integer or double, or a text or blob with its length before it
 */
#include "history/store.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/program.h"

#include <sqlite3.h>
#include <unistd.h>

static const char *const command_lines[] = {
    "nightly show --label a --gpu g --all",
    "nightly show --format json",
    "nightly show --format html",
    "nightly show --run 1 --format csv --columns all",
    "nightly list",
    "nightly list --format json",
    "nightly export",
    "nightly export --format json",
    "nightly accept --reason r --label a",
    "nightly accept --reason r --run 2 --metric n",
    "nightly prune --keep 1",
    "nightly prune --before 2026-01-01",
    "chart --type trend",
    "chart --type trend --label a --metric n",
    "nightly show --format junit --gate step_time>1%",
};

static const char *const tables[] = {
    "INSERT OR IGNORE INTO name VALUES (?, ?)",
    "INSERT OR IGNORE INTO run VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    "INSERT OR IGNORE INTO fact VALUES (?, ?, ?, ?)",
    "INSERT OR IGNORE INTO series VALUES (?, ?, ?, ?, ?, ?, ?)",
    "INSERT OR IGNORE INTO measurement VALUES (?, ?, ?, ?, ?, ?)",
    "INSERT OR IGNORE INTO acceptance VALUES (?, ?, ?, ?, ?, ?)",
};

#define LENGTH(array) (sizeof(array) / sizeof *(array))

static char folder[64], path[80], journal[96];
static struct {
    char *at;
    size_t size;
} empty_store; /* as a store is made */

static void check_that(bool condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "not so: %s\n", what);
    abort();
}

static void remove_files(void)
{
    unlink(journal);
    unlink(path);
    rmdir(folder);
}

static void put_file(const void *bytes, size_t size)
{
    unlink(journal);
    FILE *file = fopen(path, "wb");
    check_that(file && fwrite(bytes, 1, size, file) == size && fclose(file) == 0, "a file was made");
}

/* Once: a folder of ours, in memory where that can be, and a store without runs. */
static void set_up(void)
{
    snprintf(folder, sizeof folder, "%s/fuzz_store.XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    check_that(mkdtemp(folder) != NULL, "there is a folder");
    snprintf(path, sizeof path, "%s/s", folder);
    snprintf(journal, sizeof journal, "%s-journal", path);
    atexit(remove_files);
    sqlite3 *db; /* small pages: an input that is a whole file is small */
    check_that(sqlite3_open(path, &db) == SQLITE_OK &&
                   sqlite3_exec(db, "PRAGMA page_size = 512; VACUUM", NULL, NULL, NULL) == SQLITE_OK,
               "SQLite works");
    sqlite3_close(db);
    struct tpa_error err = { 0 };
    struct store *store = store_open(path, STORE_CREATE, 0, &err);
    check_that(store != NULL, "a store was made");
    store_close(store);
    FILE *file = fopen(path, "rb");
    empty_store.at = malloc(1 << 16);
    check_that(file && empty_store.at, "the store can be read");
    empty_store.size = fread(empty_store.at, 1, 1 << 16, file);
    fclose(file);
}

struct bytes {
    const uint8_t *at;
    size_t left;
};

static const uint8_t *take(struct bytes *in, size_t count)
{
    const uint8_t *from = in->at;
    in->at += count;
    in->left -= count;
    return from;
}

static uint8_t take_byte(struct bytes *in)
{
    return in->left ? *take(in, 1) : 0;
}

static void bind_value(sqlite3_stmt *row, int column, struct bytes *in)
{
    uint8_t tag = take_byte(in);
    int64_t whole = 0;
    double real = 0;
    switch (tag % 6) {
    case 0:
        sqlite3_bind_int64(row, column, tag / 6); /* what names and runs are known by */
        break;
    case 1:
        if (in->left >= 8)
            memcpy(&whole, take(in, 8), 8);
        sqlite3_bind_int64(row, column, whole);
        break;
    case 2:
        if (in->left >= 8)
            memcpy(&real, take(in, 8), 8);
        sqlite3_bind_double(row, column, real);
        break;
    case 3: sqlite3_bind_null(row, column); break;
    default: {
        size_t len = take_byte(in) % 64;
        len = len < in->left ? len : in->left;
        const char *at = (const char *)take(in, len);
        if (tag % 6 == 4)
            sqlite3_bind_text(row, column, at, (int)len, SQLITE_TRANSIENT);
        else
            sqlite3_bind_blob(row, column, at, (int)len, SQLITE_TRANSIENT);
    }
    }
}

static void fill_store(struct bytes in)
{
    put_file(empty_store.at, empty_store.size);
    sqlite3 *db;
    sqlite3_stmt *rows[LENGTH(tables)];
    check_that(sqlite3_open(path, &db) == SQLITE_OK &&
                   sqlite3_exec(db, "PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY; BEGIN", NULL,
                                NULL, NULL) == SQLITE_OK,
               "the store can be filled");
    for (size_t i = 0; i < LENGTH(tables); i++)
        check_that(sqlite3_prepare_v2(db, tables[i], -1, &rows[i], NULL) == SQLITE_OK,
                   "the tables are known");
    while (in.left) {
        sqlite3_stmt *row = rows[take_byte(&in) % LENGTH(tables)];
        for (int column = 1; column <= sqlite3_bind_parameter_count(row); column++)
            bind_value(row, column, &in);
        sqlite3_step(row); /* a row that SQLite refuses is none */
        sqlite3_reset(row);
    }
    for (size_t i = 0; i < LENGTH(tables); i++)
        sqlite3_finalize(rows[i]);
    check_that(sqlite3_exec(db, "COMMIT", NULL, NULL, NULL) == SQLITE_OK, "the store was filled");
    sqlite3_close(db);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!*path)
        set_up();
    if (size < 2)
        return 0;
    if (data[0] % 2)
        put_file(data + 2, size - 2);
    else
        fill_store((struct bytes){ data + 2, size - 2 });
    char line[128];
    char *words[16];
    int count = 0;
    snprintf(line, sizeof line, "%s", command_lines[data[1] % LENGTH(command_lines)]);
    for (char *word = strtok(line, " "); word; word = strtok(NULL, " "))
        words[count++] = word;
    program_run(count, words, &(struct program_files){ .paths = { path, path }, .store = path });
    return 0;
}
