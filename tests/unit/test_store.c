/* test_store.c - store/: runs go in and come out as they were, and nothing is lost when something goes wrong. */
#include "tests/unit/unit.h"
#include "history/store.h"

#include <limits.h>
#include <math.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static char directory[] = "/tmp/test_store.XXXXXX";

static int set_up(void **state)
{
    (void)state;
    return mkdtemp(directory) && chdir(directory) == 0 ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    return chdir("/") == 0 && rmdir(directory) == 0 ? 0 : -1;
}

/* ---- nights made by hand ---- */

enum { STEPS = 4 };

static struct night *make_night(double step_ns, size_t operators)
{
    struct night *night = arena_open(sizeof *night);
    ARENA_OWNS(arena_of(night), &night->figures, &night->facts);
    night->unit = "step";
    night->gpu = "GPU 1";
    night->sample_count = STEPS;
    *VEC_PUSH(&night->facts) = (struct measure_fact){ "torch", "PyTorch", "2.9.0" };
    for (size_t i = 0; i <= operators; i++) {
        struct night_figure figure = {
            .table = i == 0 ? NIGHT_HEAD : "operators",
            .name = i == 0 ? "step_time" : arena_printf(arena_of(night), "op\\x00%zu", i),
            .title = i == 0 ? "step time" : NULL,
            .kind = TABLE_NS,
            .calls = i == 0 ? NAN : 3,
            .values = arena_alloc(arena_of(night), STEPS * sizeof(double)),
            .count = STEPS,
        };
        figure.length = strlen(figure.name);
        double sorted[STEPS];
        for (int step = 0; step < STEPS; step++)
            sorted[step] = figure.values[step] = round(step_ns * (1 + 0.01 * step) / (double)(i + 1));
        figure.level = level_of(sorted, STEPS);
        *VEC_PUSH(&night->figures) = figure;
    }
    return night;
}

static struct store *open_store(enum store_mode mode)
{
    struct tpa_error err = { 0 };
    struct store *store = store_open("perf.db", mode, 10000, &err);
    if (!store)
        fail_msg("%s", err.message);
    return store;
}

static struct store_added add_to(struct store *store, double step_ns, int day)
{
    SCOPED_OBJECT struct night *night = make_night(step_ns, 3);
    struct store_about about = {
        .label = "net",
        .gpu = night->gpu,
        .commit = "abc",
        .host = day % 2 ? "node1" : NULL,
        .hash = { (uint64_t)step_ns, (uint64_t)day },
        .time_ns = day * INT64_C(86400000000000),
    };
    struct store_added added = { 0 };
    struct tpa_error err = { 0 };
    if (!store_add(store, night, &about, &added, &err))
        fail_msg("%s", err.message);
    return added;
}

static void load(struct store *store, struct nightly *nightly)
{
    struct tpa_error err = { 0 };
    if (!store_load(store, "net", "GPU 1", nightly, &err))
        fail_msg("%s", err.message);
}

static size_t count_runs(void)
{
    struct store *store = open_store(STORE_READ);
    struct nightly nightly = { 0 };
    load(store, &nightly);
    size_t count = nightly.runs.count;
    nightly_release(&nightly);
    store_close(store);
    return count;
}

/* ---- samples ---- */

/* 100, +7, -9, +0: zigzag 200 14 17 0; 200 is c8 01. */
TEST(samples_are_a_few_bytes)
{
    static const double values[] = { 100, 107, 98, 98 };
    SCRATCH_BUFFER(bytes);
    samples_pack(&bytes, values, COUNT(values), true);
    assert_int_equal(bytes.count, 7);
    assert_memory_equal(bytes.at, "\x01\x04\xc8\x01\x0e\x11\x00", 7);
    SCOPED struct samples back = { 0 };
    assert_true(samples_unpack(bytes.at, bytes.count, &back));
    assert_int_equal(back.count, COUNT(values));
    for (size_t i = 0; i < COUNT(values); i++)
        assert_true(back.at[i] == values[i]);
    /* Cut anywhere, or of another version, they are refused. */
    for (size_t size = 0; size < bytes.count; size++)
        assert_false(samples_unpack(bytes.at, size, &back));
    bytes.at[0] = 9;
    assert_false(samples_unpack(bytes.at, bytes.count, &back));
    assert_false(samples_unpack("\x01\xff\xff\xff\xff\x0f", 6, &back)); /* four billion of them */
}

TEST(samples_keep_doubles_exactly)
{
    static const double values[] = { 0.1, -3e300, 0, 5e-324 };
    SCRATCH_BUFFER(bytes);
    SCOPED struct samples back = { 0 };
    samples_pack(&bytes, values, COUNT(values), false);
    assert_true(samples_unpack(bytes.at, bytes.count, &back));
    assert_memory_equal(back.at, values, sizeof values);
    /* What is too large for a whole number stays a double. */
    static const double large[] = { 1e300, 1 };
    buffer_clear(&bytes);
    back.count = 0;
    samples_pack(&bytes, large, COUNT(large), true);
    assert_true(samples_unpack(bytes.at, bytes.count, &back));
    assert_memory_equal(back.at, large, sizeof large);
}

/* ---- in and out ---- */

static void take(void *context, const struct store_figure *figure)
{
    size_t *seen = context;
    ++*seen;
    assert_int_equal(figure->count, STEPS);
    if (strcmp(figure->table, NIGHT_HEAD) == 0) {
        assert_string_equal(figure->title, "step time");
        assert_true(figure->values[0] == 1000 && figure->values[3] == 1030);
        assert_true(isnan(figure->calls));
    } else {
        assert_null(figure->title);
        assert_true(figure->calls == 3);
    }
}

TEST(runs_come_out_as_they_went_in)
{
    struct store *store = open_store(STORE_CREATE);
    struct store_added first = add_to(store, 1000, 2), second = add_to(store, 1100, 1);
    assert_false(first.was_there || second.was_there);
    struct nightly nightly = { 0 };
    load(store, &nightly);
    assert_int_equal(nightly.runs.count, 2);
    assert_int_equal(nightly.runs.at[0].id, second.run); /* the older one, though added later */
    assert_string_equal(nightly.runs.at[0].host, "node1");
    assert_null(nightly.runs.at[1].host);
    assert_string_equal(nightly.runs.at[1].commit, "abc");
    assert_int_equal(nightly.series.count, 4);
    size_t step = nightly_find(&nightly, NIGHT_HEAD, "step_time", 9);
    assert_int_not_equal(step, HISTORY_NO_RUN);
    /* 1000 1010 1020 1030: mean 1015, squares 225 + 25 + 25 + 225 = 500, error sqrt(500 / 12). */
    assert_true(fabs(nightly.history.series.at[step].level[1] - 1015) < 1e-9);
    assert_true(fabs(nightly.history.series.at[step].error[1] - sqrt(500.0 / 12)) < 1e-9);
    assert_true(nightly.history.series.at[step].group == HISTORY_STEP);
    nightly_release(&nightly);
    size_t seen = 0;
    struct tpa_error err = { 0 };
    assert_true(store_figures(store, first.run, take, &seen, &err));
    assert_int_equal(seen, 4);
    store_close(store);
    unlink("perf.db");
}

TEST(a_run_added_twice_is_one_run)
{
    struct store *store = open_store(STORE_CREATE);
    struct store_added first = add_to(store, 1000, 1), again = add_to(store, 1000, 1);
    assert_true(again.was_there);
    assert_int_equal(again.run, first.run);
    store_close(store);
    assert_int_equal(count_runs(), 1);
    unlink("perf.db");
}

TEST(pruning_forgets_runs_and_hands_on_what_was_accepted)
{
    struct store *store = open_store(STORE_CREATE);
    struct store_added added[5];
    for (int day = 0; day < 5; day++)
        added[day] = add_to(store, 1000 + day, day + 1);
    assert_true(store_accept(store, added[1].run, NIGHT_HEAD, "step_time", 9, "wanted", 7, NULL));
    int64_t count = 0;
    assert_true(store_prune(store, &(struct store_prune){ .label = "other", .keep = 1 }, &count, NULL));
    assert_int_equal(count, 0);
    assert_true(store_prune(store, &(struct store_prune){ .run = added[1].run }, &count, NULL));
    assert_int_equal(count, 1);
    struct nightly nightly = { 0 };
    load(store, &nightly);
    assert_int_equal(nightly.runs.count, 4);
    assert_int_equal(nightly.acceptances.count, 1);
    assert_int_equal(nightly.acceptances.at[0].run, added[2].run);
    nightly_release(&nightly);
    assert_true(store_prune(store, &(struct store_prune){ .keep = 1 }, &count, NULL));
    assert_int_equal(count, 3);
    struct nightly rest = { 0 };
    load(store, &rest);
    assert_int_equal(rest.runs.count, 1);
    assert_int_equal(rest.runs.at[0].id, added[4].run);
    nightly_release(&rest);
    store_close(store);
    unlink("perf.db");
}

/* ---- what goes wrong ---- */

static void expect_refusal(enum store_mode mode, const char *expected)
{
    struct stat before, after;
    stat("perf.db", &before);
    struct tpa_error err = { 0 };
    struct store *store = store_open("perf.db", mode, 100, &err);
    assert_null(store);
    if (!strstr(err.message, expected))
        fail_msg("\"%s\" does not say \"%s\"", err.message, expected);
    assert_true(*err.hint);
    assert_int_equal(stat("perf.db", &after), 0);
    assert_true(before.st_size == after.st_size && before.st_mtim.tv_sec == after.st_mtim.tv_sec &&
                before.st_mtim.tv_nsec == after.st_mtim.tv_nsec);
}

static void change(const char *statements)
{
    struct tpa_error err = { 0 };
    struct sql *sql = sql_open("perf.db", SQL_CREATE, 100, &err);
    assert_non_null(sql);
    if (!sql_exec(sql, statements, &err))
        fail_msg("%s", err.message);
    sql_close(sql);
}

TEST(other_versions_are_refused_untouched)
{
    struct store *store = open_store(STORE_CREATE);
    add_to(store, 1000, 1);
    store_close(store);
    change("PRAGMA user_version = 99");
    expect_refusal(STORE_CREATE, "newer tpa");
    expect_refusal(STORE_READ, "version 99");
    change("PRAGMA user_version = 0");
    expect_refusal(STORE_CHANGE, "before the first release");
    change("PRAGMA application_id = 1");
    expect_refusal(STORE_CREATE, "another program");
    unlink("perf.db");
    FILE *file = fopen("perf.db", "w");
    fputs("{\"traceEvents\": []}, and more than enough of it to be taken for a page of a database\n", file);
    fclose(file);
    expect_refusal(STORE_CREATE, "not a store of tpa nightly");
    fclose(fopen("perf.db", "w"));
    expect_refusal(STORE_READ, "this store is empty");
    unlink("perf.db");
    struct tpa_error err = { 0 };
    assert_null(store_open("perf.db", STORE_READ, 100, &err));
    assert_non_null(strstr(err.message, "No such file"));
    assert_int_not_equal(access("perf.db", F_OK), 0);
}

/* Bytes of a page in the middle are overwritten: writing fails with an error, and nothing is written. */
TEST(a_damaged_store_is_not_written_to)
{
    struct store *store = open_store(STORE_CREATE);
    for (int day = 0; day < 40; day++)
        add_to(store, 1000 + day, day + 1);
    store_close(store);
    struct stat status;
    stat("perf.db", &status);
    FILE *file = fopen("perf.db", "r+");
    for (long at = 4096; at + 4096 <= status.st_size; at += 4096) {
        fseek(file, at, SEEK_SET);
        fwrite("\x5f\x5f\x5f\x5f\x5f\x5f\x5f\x5f", 1, 8, file);
    }
    fclose(file);
    expect_refusal(STORE_CREATE, "damaged");
    unlink("perf.db");
}

/* A child adds a run and is killed before it commits: the journal is rolled back by the next one who looks. */
TEST(a_killed_run_was_never_there)
{
    struct store *store = open_store(STORE_CREATE);
    add_to(store, 1000, 1);
    store_close(store);
    pid_t child = fork();
    if (child == 0) {
        struct sql *sql = sql_open("perf.db", SQL_CHANGE, 100, NULL);
        /* A small cache makes SQLite write pages before the commit. */
        bool good = sql && sql_exec(sql, "PRAGMA cache_size = 1; PRAGMA cache_spill = 1", NULL) &&
                    sql_begin(sql, NULL) &&
                    sql_exec(sql, "DELETE FROM measurement; DELETE FROM fact; DELETE FROM run", NULL);
        for (int i = 0; i < 12 && good; i++) { /* twice as many each time */
            char text[96];
            snprintf(text, sizeof text, "INSERT INTO name (text) SELECT text || '.%d.' || id FROM name", i);
            good = sql_exec(sql, text, NULL);
        }
        if (good)
            raise(SIGKILL);
        _exit(1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    assert_int_equal(access("perf.db-journal", F_OK), 0);
    assert_int_equal(count_runs(), 1);
    store = open_store(STORE_CREATE);
    add_to(store, 1001, 2);
    store_close(store);
    assert_int_equal(count_runs(), 2);
    unlink("perf.db");
}

TEST(who_writes_is_waited_for)
{
    struct store *store = open_store(STORE_CREATE);
    add_to(store, 1000, 1);
    struct tpa_error err = { 0 };
    struct sql *other = sql_open("perf.db", SQL_CHANGE, 100, &err);
    assert_true(sql_begin(other, &err));
    store_close(store);
    store = store_open("perf.db", STORE_CHANGE, 50, &err); /* reading is allowed meanwhile */
    assert_non_null(store);
    SCOPED_OBJECT struct night *night = make_night(1001, 3);
    struct store_added added;
    assert_false(
        store_add(store, night, &(struct store_about){ .label = "net", .gpu = "GPU 1" }, &added, &err));
    assert_non_null(strstr(err.message, "another program is writing"));
    sql_rollback(other);
    sql_close(other);
    err = (struct tpa_error){ 0 };
    assert_true(
        store_add(store, night, &(struct store_about){ .label = "net", .gpu = "GPU 1" }, &added, &err));
    store_close(store);
    unlink("perf.db");
}

/* Four at once add ten runs each to a store that none of them has made yet. */
TEST(many_write_at_once)
{
    enum { WRITERS = 4, RUNS = 10 };
    pid_t children[WRITERS];
    for (int i = 0; i < WRITERS; i++) {
        children[i] = fork();
        if (children[i] != 0)
            continue;
        for (int run = 0; run < RUNS; run++) {
            struct tpa_error err = { 0 };
            struct store *store = store_open("perf.db", STORE_CREATE, 60000, &err);
            SCOPED_OBJECT struct night *night = make_night(1000 + i * 100 + run, 20);
            struct store_added added;
            struct store_about about = { .label = "net",
                                         .gpu = "GPU 1",
                                         .hash = { (uint64_t)i, (uint64_t)run } };
            if (!store || !store_add(store, night, &about, &added, &err)) {
                fprintf(stderr, "%s\n", err.message);
                _exit(1);
            }
            store_close(store);
        }
        _exit(0);
    }
    for (int i = 0; i < WRITERS; i++) {
        int status = 0;
        waitpid(children[i], &status, 0);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    assert_int_equal(count_runs(), WRITERS * RUNS);
    unlink("perf.db");
}

/* ---- stores from strangers ---- */

static void make_store(void)
{
    struct store *store = open_store(STORE_CREATE);
    add_to(store, 1000, 1);
    store_close(store);
}

TEST(a_name_that_sqlite_takes_for_no_file_is_refused)
{
    static const char *const names[] = { "", ":memory:", "file:perf.db", "file:perf.db?mode=memory" };
    for (size_t i = 0; i < COUNT(names); i++)
        for (int mode = STORE_READ; mode <= STORE_CREATE; mode++) {
            struct tpa_error err = { 0 };
            assert_null(store_open(names[i], (enum store_mode)mode, 0, &err));
            assert_non_null(strstr(err.message, "cannot name a store"));
        }
    assert_int_not_equal(access("perf.db", F_OK), 0);
}

/* Add TEXT to the schema, as a stranger would: by another connection. */
static void change_schema(const char *text)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open("perf.db", &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, text, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

TEST(a_schema_that_is_not_ours_is_refused)
{
    static const char *const changes[] = {
        "CREATE TRIGGER t AFTER INSERT ON run BEGIN DELETE FROM run WHERE id < new.id; END",
        "CREATE TABLE z(a)",
        "ALTER TABLE run RENAME TO run_x; CREATE VIEW run AS SELECT * FROM run_x",
        "DROP INDEX run_in_order; CREATE INDEX run_in_order ON run (abs(time_ns))",
        "DROP INDEX acceptance_of_run",
        "ALTER TABLE run ADD COLUMN more INTEGER AS (length(hex(zeroblob(400000000))))",
    };
    for (size_t i = 0; i < COUNT(changes); i++) {
        make_store();
        change_schema(changes[i]);
        for (int mode = STORE_READ; mode <= STORE_CREATE; mode++) {
            struct tpa_error err = { 0 };
            assert_null(store_open("perf.db", (enum store_mode)mode, 0, &err));
            assert_non_null(strstr(err.message, "not as tpa nightly makes them"));
        }
        unlink("perf.db");
    }
}

/* A journal that SQLite would roll back, and then delete the file that it names as its super-journal. */
static void put_journal(const char *victim)
{
    static const unsigned char magic[8] = { 0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7 };
    unsigned char header[512] = { 0 }, numbers[8] = { 0 };
    size_t len = strlen(victim);
    unsigned sum = 0;
    for (size_t i = 0; i < len; i++)
        sum += (unsigned char)victim[i];
    memcpy(header, magic, sizeof magic);
    header[22] = 2;  /* bytes of a sector: 512 */
    header[26] = 16; /* bytes of a page: 4096 */
    numbers[3] = (unsigned char)len;
    numbers[6] = (unsigned char)(sum >> 8);
    numbers[7] = (unsigned char)sum;
    FILE *file = fopen("perf.db-journal", "wb");
    assert_non_null(file);
    fwrite(header, 1, sizeof header, file);
    fwrite("\x00\x04\x00\x01", 1, 4, file); /* the page where locks lie, which holds nothing */
    fwrite(victim, 1, len, file);
    fwrite(numbers, 1, sizeof numbers, file);
    fwrite(magic, 1, sizeof magic, file);
    fclose(file);
}

TEST(a_journal_that_names_a_file_to_delete_is_refused)
{
    FILE *file = fopen("thesis", "w");
    assert_non_null(file);
    fclose(file);
    char path[PATH_MAX];
    assert_non_null(realpath("thesis", path));
    make_store();
    put_journal(path);
    for (int mode = STORE_READ; mode <= STORE_CREATE; mode++) {
        struct tpa_error err = { 0 };
        assert_null(store_open("perf.db", (enum store_mode)mode, 0, &err));
        assert_non_null(strstr(err.message, "names another file"));
        assert_int_equal(access("thesis", F_OK), 0);
    }
    unlink("perf.db-journal");
    unlink("perf.db");
    unlink("thesis");
}

/* A fifo would be waited for until somebody writes to it, and a link leads to what is none of ours. */
TEST(what_is_no_file_is_refused_as_a_store_and_beside_one)
{
    static const char *const names[] = { "perf.db", "perf.db-journal", "perf.db-wal", "perf.db-shm" };
    for (size_t i = 0; i < 2 * COUNT(names); i++) {
        const char *name = names[i / 2];
        if (i / 2 > 0)
            make_store();
        assert_int_equal(i % 2 ? symlink("/dev/zero", name) : mkfifo(name, 0600), 0);
        for (int mode = STORE_READ; mode <= STORE_CREATE; mode++) {
            struct tpa_error err = { 0 };
            assert_null(store_open("perf.db", (enum store_mode)mode, 0, &err));
            assert_non_null(strstr(err.message, "is not an ordinary file"));
            assert_non_null(strstr(err.file, name));
        }
        unlink(name);
        unlink("perf.db");
    }
}

TEST(statements_that_are_none_of_ours_are_refused)
{
    static const char *const statements[] = {
        "CREATE TRIGGER t AFTER INSERT ON run BEGIN SELECT 1; END",
        "CREATE VIEW v AS SELECT 1",
        "ATTACH 'other.db' AS other",
        "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c",
        "PRAGMA writable_schema = ON; DELETE FROM sqlite_schema",
        "SELECT hex(zeroblob(400000000))",
    };
    make_store();
    struct tpa_error err = { 0 };
    struct sql *sql = sql_open("perf.db", SQL_CHANGE, 0, &err);
    assert_non_null(sql);
    for (size_t i = 0; i < COUNT(statements); i++) {
        err = (struct tpa_error){ 0 };
        assert_false(sql_exec(sql, statements[i], &err));
    }
    sql_close(sql);
    assert_int_not_equal(access("other.db", F_OK), 0);
    unlink("perf.db");
}

/* What reads changes nothing: not the file, nor anything beside it. */
TEST(a_store_that_is_read_is_not_written)
{
    make_store();
    struct tpa_error err = { 0 };
    struct sql *sql = sql_open("perf.db", SQL_READ, 0, &err);
    assert_non_null(sql);
    assert_false(sql_exec(sql, "PRAGMA query_only = OFF; DELETE FROM run", &err));
    sql_close(sql);
    assert_int_equal(count_runs(), 1);
    unlink("perf.db");
}

/* A name that is there in one of 20,000 steps: 0 ... 0 7 0 ... 0. */
TEST(samples_that_are_mostly_the_same_are_a_few_bytes)
{
    enum { MANY = 20000 };
    SCOPED double *values = mem_zalloc(MANY, sizeof *values);
    values[12345] = 7;
    SCRATCH_BUFFER(bytes);
    samples_pack(&bytes, values, MANY, true);
    /* form, 20000 in three bytes, and three runs: 0 of 12345, 7 of 1, 0 of 7654: 1+2, 1+1, 1+2 bytes */
    assert_int_equal(bytes.count, 1 + 3 + 3 + 2 + 3);
    struct samples samples = { 0 };
    assert_true(samples_unpack(bytes.at, bytes.count, &samples));
    assert_int_equal(samples.count, MANY);
    assert_memory_equal(samples.at, values, MANY * sizeof *values);
    VEC_FREE(&samples);
    samples = (struct samples){ 0 };
    /* 2^28 samples in 8 bytes are no samples. */
    assert_false(samples_unpack("\x03\x80\x80\x80\x80\x01\x00\x80\x80\x80\x80\x01", 12, &samples));
    VEC_FREE(&samples);
}

TESTS_WITHIN(set_up, tear_down)
