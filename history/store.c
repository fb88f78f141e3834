/*
 * store.c - see store.h: opening, the tables, adding a run.
 *
 * Names (of operators, labels, GPUs) are stored once in `name` and referred to by id. The figures are ordered by
 * series, then by run, because they are read one series at a time and written one run at a time; their samples are a
 * few bytes each (samples.h), and their level and error are stored beside them so that a history is judged without
 * unpacking samples.
 */
#include "history/store.h"

#include <math.h>

/* "tpan": the application id in SQLite's header (offset 68). */
enum { APPLICATION_ID = 0x7470616e };

/* Of the tables below. A store of another version is refused: an older one would need a migration here. */
enum { SCHEMA_VERSION = 1 };

static const char *const schema =
    "CREATE TABLE name ("
    "  id INTEGER PRIMARY KEY,"
    "  text BLOB NOT NULL UNIQUE);"
    "CREATE TABLE run ("
    "  id INTEGER PRIMARY KEY AUTOINCREMENT," /* never reused, so that people can refer to it */
    "  label INTEGER NOT NULL REFERENCES name,"
    "  gpu INTEGER NOT NULL REFERENCES name,"
    "  hash BLOB NOT NULL," /* of the recording: night_hash */
    "  time_ns INTEGER NOT NULL,"
    "  added_ns INTEGER NOT NULL,"
    "  commit_id TEXT,"
    "  host TEXT,"
    "  unit TEXT NOT NULL,"
    "  sample_count INTEGER NOT NULL,"
    "  UNIQUE (label, hash));"
    "CREATE INDEX run_in_order ON run (label, gpu, time_ns, id);"
    "CREATE TABLE fact ("
    "  run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,"
    "  key INTEGER NOT NULL REFERENCES name,"
    "  title INTEGER NOT NULL REFERENCES name,"
    "  value INTEGER NOT NULL REFERENCES name,"
    "  PRIMARY KEY (run, key)) WITHOUT ROWID;"
    "CREATE TABLE series ("
    "  id INTEGER PRIMARY KEY,"
    "  label INTEGER NOT NULL REFERENCES name,"
    "  gpu INTEGER NOT NULL REFERENCES name,"
    "  sort INTEGER NOT NULL REFERENCES name," /* 'head', 'operators', 'kernels' ... */
    "  name INTEGER NOT NULL REFERENCES name,"
    "  title INTEGER REFERENCES name,"
    "  kind TEXT NOT NULL," /* 'ns', 'bytes', 'share' ... */
    "  UNIQUE (label, gpu, sort, name));"
    "CREATE TABLE measurement ("
    "  series INTEGER NOT NULL REFERENCES series,"
    "  run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,"
    "  level REAL,"
    "  error REAL,"
    "  calls REAL,"
    "  samples BLOB NOT NULL,"
    "  PRIMARY KEY (series, run)) WITHOUT ROWID;"
    "CREATE INDEX measurement_of_run ON measurement (run);"
    "CREATE TABLE acceptance ("
    "  id INTEGER PRIMARY KEY,"
    "  run INTEGER NOT NULL REFERENCES run,"
    "  sort INTEGER REFERENCES name," /* NULL: of all figures */
    "  name INTEGER REFERENCES name,"
    "  reason TEXT NOT NULL,"
    "  time_ns INTEGER NOT NULL);"
    "CREATE INDEX acceptance_of_run ON acceptance (run);";

/* ---- opening ---- */

/* Is the file empty, as after its creation? */
static bool is_empty(struct sql *sql, bool *empty, struct tpa_error *err)
{
    int64_t tables = 0;
    bool good = sql_integer(sql, "SELECT count(*) FROM sqlite_schema", &tables, err);
    *empty = tables == 0;
    return good;
}

/* Create the tables, unless another run has done so meanwhile. */
static bool make_tables(struct sql *sql, struct tpa_error *err)
{
    bool empty = false;
    char header[96];
    snprintf(header, sizeof header, "PRAGMA application_id = %d; PRAGMA user_version = %d", APPLICATION_ID,
             SCHEMA_VERSION);
    bool good = sql_begin(sql, err) && is_empty(sql, &empty, err) &&
                (!empty || (sql_exec(sql, schema, err) && sql_exec(sql, header, err)));
    if (!good) {
        sql_rollback(sql);
        return false;
    }
    return sql_commit(sql, err);
}

/* Is it a store, and of our version? */
static bool check_version(struct sql *sql, struct tpa_error *err)
{
    int64_t application = 0, version = 0;
    if (!sql_integer(sql, "PRAGMA application_id", &application, err) ||
        !sql_integer(sql, "PRAGMA user_version", &version, err))
        return false;
    bool empty = false;
    if (application == 0 && !is_empty(sql, &empty, err))
        return false;
    if (empty) {
        tpa_fail(err, TPA_NOWHERE, "this store is empty");
        tpa_hint(err, "the first run makes it: tpa nightly --store STORE --label NAME TRACE");
    } else if (application != APPLICATION_ID) {
        tpa_fail(err, TPA_NOWHERE,
                 "this is a SQLite database of another program, not a store of tpa nightly");
        tpa_hint(err, "nothing was changed; name a new file with --store");
    } else if (version > SCHEMA_VERSION) {
        tpa_fail(err, TPA_NOWHERE,
                 "this store was made by a newer tpa: it has version %d, and this tpa knows %d", (int)version,
                 SCHEMA_VERSION);
        tpa_hint(err, "nothing was changed; use that tpa");
    } else if (version < SCHEMA_VERSION) {
        tpa_fail(err, TPA_NOWHERE,
                 "this store has version %d, from before the first release; this tpa knows %d", (int)version,
                 SCHEMA_VERSION);
        tpa_hint(err, "nothing was changed; begin a new store, and add the recordings again");
    } else {
        return true;
    }
    return tpa_in_file(err, sql_path(sql));
}

/* Are the tables ours? Unknown views and triggers could run arbitrary code. */
static bool check_schema(struct sql *sql, struct tpa_error *err)
{
    bool same = false;
    if (!sql_has_schema(sql, schema, &same, err))
        return false;
    if (same)
        return true;
    tpa_fail(err, TPA_NOWHERE, "the tables of this store are not as tpa nightly makes them");
    tpa_hint(err, "nothing was changed; someone else added to it, or made it: begin a new store");
    return tpa_in_file(err, sql_path(sql));
}

/* Check every page before a change: a damaged file must not be written to. */
static bool check_whole(struct sql *sql, struct tpa_error *err)
{
    struct statement *check = sql_prepare(sql, "PRAGMA quick_check(1)", err);
    bool whole = check && statement_step(check, err) && strcmp(statement_text(check, 0), "ok") == 0;
    if (check && !whole && !err->failed) {
        tpa_fail(err, TPA_NOWHERE, "this store is damaged: %s", statement_text(check, 0));
        tpa_hint(
            err,
            "nothing was changed; keep a copy, and save what is whole with: sqlite3 STORE .recover | sqlite3 "
            "NEW");
        tpa_in_file(err, sql_path(sql));
    }
    return statement_free(check) && whole;
}

struct store *store_open(const char *path, enum store_mode mode, int wait_ms, struct tpa_error *err)
{
    static const enum sql_mode modes[] = {
        [STORE_READ] = SQL_READ, [STORE_CHANGE] = SQL_CHANGE, [STORE_CREATE] = SQL_CREATE
    };
    struct store *store = mem_zalloc(1, sizeof *store);
    store->sql = sql_open(path, modes[mode], wait_ms, err);
    bool empty = false;
    bool good = store->sql && is_empty(store->sql, &empty, err) &&
                (!empty || mode != STORE_CREATE || make_tables(store->sql, err)) &&
                check_version(store->sql, err) && check_schema(store->sql, err) &&
                (mode == STORE_READ || check_whole(store->sql, err));
    if (!good) {
        store_close(store);
        return NULL;
    }
    return store;
}

void store_close(struct store *store)
{
    if (!store)
        return;
    sql_close(store->sql);
    free(store);
}

/* ---- adding ---- */

/* The statements that adding a run repeats. */
struct adding {
    struct sql *sql;
    struct statement *find_name, *add_name, *find_series, *add_series, *add_measurement, *add_fact;
    int64_t label, gpu;
};

static bool adding_open(struct adding *adding, struct sql *sql, struct tpa_error *err)
{
    *adding = (struct adding){ .sql = sql };
    adding->find_name = sql_prepare(sql, "SELECT id FROM name WHERE text = ?", err);
    adding->add_name = sql_prepare(sql, "INSERT INTO name (text) VALUES (?)", err);
    adding->find_series =
        sql_prepare(sql, "SELECT id FROM series WHERE label = ? AND gpu = ? AND sort = ? AND name = ?", err);
    adding->add_series = sql_prepare(
        sql, "INSERT INTO series (label, gpu, sort, name, title, kind) VALUES (?, ?, ?, ?, ?, ?)", err);
    adding->add_measurement = sql_prepare(
        sql, "INSERT INTO measurement (series, run, level, error, calls, samples) VALUES (?, ?, ?, ?, ?, ?)",
        err);
    adding->add_fact = sql_prepare(sql, "INSERT INTO fact (run, key, title, value) VALUES (?, ?, ?, ?)", err);
    return !err->failed;
}

/* The id of a name, added if new. */
static bool store_name_of(struct adding *adding, const char *text, size_t length, int64_t *id,
                          struct tpa_error *err)
{
    statement_bind_bytes(adding->find_name, 1, text, length);
    bool found = statement_step(adding->find_name, err);
    if (found)
        *id = statement_int(adding->find_name, 0);
    statement_reset(adding->find_name);
    if (found || err->failed)
        return found;
    statement_bind_bytes(adding->add_name, 1, text, length);
    if (!statement_run(adding->add_name, err))
        return false;
    *id = sql_last_id(adding->sql);
    return true;
}

static bool series_of(struct adding *adding, const struct night_figure *figure, int64_t *id,
                      struct tpa_error *err)
{
    int64_t sort, name, title = 0;
    if (!store_name_of(adding, figure->table, strlen(figure->table), &sort, err) ||
        !store_name_of(adding, figure->name, figure->length, &name, err) ||
        (figure->title && !store_name_of(adding, figure->title, strlen(figure->title), &title, err)))
        return false;
    struct statement *both[] = { adding->find_series, adding->add_series };
    for (int i = 0; i < 2; i++) {
        statement_bind_int(both[i], 1, adding->label);
        statement_bind_int(both[i], 2, adding->gpu);
        statement_bind_int(both[i], 3, sort);
        statement_bind_int(both[i], 4, name);
    }
    bool found = statement_step(adding->find_series, err);
    if (found)
        *id = statement_int(adding->find_series, 0);
    statement_reset(adding->find_series);
    if (found || err->failed)
        return found;
    if (figure->title)
        statement_bind_int(adding->add_series, 5, title);
    else
        statement_bind_null(adding->add_series, 5);
    statement_bind_text(adding->add_series, 6, table_kind_name(figure->kind));
    if (!statement_run(adding->add_series, err))
        return false;
    *id = sql_last_id(adding->sql);
    return true;
}

static bool add_figure(struct adding *adding, int64_t run, const struct night_figure *figure,
                       struct buffer *bytes, struct tpa_error *err)
{
    int64_t series;
    if (!series_of(adding, figure, &series, err))
        return false;
    buffer_clear(bytes);
    double *scratch = mem_alloc(mem_times(figure->count + 1, sizeof *scratch));
    samples_pack(bytes, night_values(figure, scratch), figure->count, !table_is_number(figure->kind));
    free(scratch);
    statement_bind_int(adding->add_measurement, 1, series);
    statement_bind_int(adding->add_measurement, 2, run);
    statement_bind_double(adding->add_measurement, 3, figure->level.centre);
    statement_bind_double(adding->add_measurement, 4, figure->level.error);
    statement_bind_double(adding->add_measurement, 5, figure->calls);
    statement_bind_bytes(adding->add_measurement, 6, bytes->at, bytes->count);
    return statement_run(adding->add_measurement, err);
}

static bool store_add_fact(struct adding *adding, int64_t run, const struct measure_fact *fact,
                           struct tpa_error *err)
{
    int64_t key, title, value;
    if (!store_name_of(adding, fact->key, strlen(fact->key), &key, err) ||
        !store_name_of(adding, fact->title, strlen(fact->title), &title, err) ||
        !store_name_of(adding, fact->value, strlen(fact->value), &value, err))
        return false;
    statement_bind_int(adding->add_fact, 1, run);
    statement_bind_int(adding->add_fact, 2, key);
    statement_bind_int(adding->add_fact, 3, title);
    statement_bind_int(adding->add_fact, 4, value);
    return statement_run(adding->add_fact, err);
}

static void hash_bytes(struct night_hash hash, unsigned char bytes[16])
{
    for (int i = 0; i < 8; i++) {
        bytes[i] = (unsigned char)(hash.high >> (56 - 8 * i));
        bytes[8 + i] = (unsigned char)(hash.low >> (56 - 8 * i));
    }
}

/* The run of this label with this recording; 0: none. */
static bool find_same(struct adding *adding, const unsigned char hash[16], int64_t *run,
                      struct tpa_error *err)
{
    struct statement *same = sql_prepare(adding->sql, "SELECT id FROM run WHERE label = ? AND hash = ?", err);
    *run = 0;
    if (same) {
        statement_bind_int(same, 1, adding->label);
        statement_bind_bytes(same, 2, hash, 16);
        if (statement_step(same, err))
            *run = statement_int(same, 0);
    }
    return statement_free(same);
}

static bool store_add_run(struct adding *adding, const struct night *night, const struct store_about *about,
                          const unsigned char hash[16], int64_t *run, struct tpa_error *err)
{
    struct statement *add =
        sql_prepare(adding->sql,
                    "INSERT INTO run (label, gpu, hash, time_ns, added_ns, commit_id, host, unit, "
                    "sample_count) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    err);
    if (!add)
        return false;
    statement_bind_int(add, 1, adding->label);
    statement_bind_int(add, 2, adding->gpu);
    statement_bind_bytes(add, 3, hash, 16);
    statement_bind_int(add, 4, about->time_ns);
    statement_bind_int(add, 5, about->added_ns);
    statement_bind_text(add, 6, about->commit);
    statement_bind_text(add, 7, about->host);
    statement_bind_text(add, 8, night->unit);
    statement_bind_int(add, 9, (int64_t)night->sample_count);
    bool good = statement_run(add, err);
    *run = sql_last_id(adding->sql);
    statement_free(add);
    return good;
}

static bool add_all(struct adding *adding, const struct night *night, const struct store_about *about,
                    struct store_added *added, struct tpa_error *err)
{
    unsigned char hash[16];
    hash_bytes(about->hash, hash);
    if (!store_name_of(adding, about->label, strlen(about->label), &adding->label, err) ||
        !store_name_of(adding, about->gpu, strlen(about->gpu), &adding->gpu, err) ||
        !find_same(adding, hash, &added->run, err))
        return false;
    added->was_there = added->run != 0;
    if (added->was_there)
        return true;
    SCOPED struct buffer bytes = { 0 };
    bool good = store_add_run(adding, night, about, hash, &added->run, err);
    for (size_t i = 0; i < night->facts.count && good; i++)
        good = store_add_fact(adding, added->run, &night->facts.at[i], err);
    for (size_t i = 0; i < night->figures.count && good; i++)
        good = add_figure(adding, added->run, &night->figures.at[i], &bytes, err);
    return good;
}

bool store_add(struct store *store, const struct night *night, const struct store_about *about,
               struct store_added *added, struct tpa_error *err)
{
    struct adding adding = { 0 };
    bool good = sql_begin(store->sql, err) && adding_open(&adding, store->sql, err) &&
                add_all(&adding, night, about, added, err);
    EACH(statement_free, adding.find_name, adding.add_name, adding.find_series, adding.add_series,
         adding.add_measurement, adding.add_fact);
    if (good)
        return sql_commit(store->sql, err);
    sql_rollback(store->sql);
    return false;
}
