/* store_read.c - see store.h: reading runs, histories and samples. */
#include "base/rows.h"
#include "history/store.h"
#include <math.h>

/* A text of any bytes, in ARENA; its length in *LENGTH if that is not NULL. */
static const char *bytes_in(struct arena *arena, struct statement *row, int column, size_t *length)
{
    size_t size;
    const void *bytes = statement_bytes(row, column, &size);
    if (length)
        *length = size;
    return arena_strndup(arena, bytes, size);
}

static const char *text_in(struct arena *arena, struct statement *row, int column)
{
    const char *text = statement_text(row, column);
    return text ? arena_strndup(arena, text, strlen(text)) : NULL;
}

static struct nightly_run store_run_of(struct statement *row, struct arena *arena)
{
    return (struct nightly_run){
        .id = statement_int(row, 0),
        .label = bytes_in(arena, row, 1, NULL),
        .gpu = bytes_in(arena, row, 2, NULL),
        .commit = text_in(arena, row, 3),
        .host = text_in(arena, row, 4),
        .unit = text_in(arena, row, 5),
        .time_ns = statement_int(row, 6),
        .sample_count = statement_int(row, 7),
        .no_baseline = statement_is_null(row, 8) ? NULL : bytes_in(arena, row, 8, NULL),
    };
}

bool store_list(struct store *store, const char *label, struct nightly *nightly, struct tpa_error *err)
{
    struct statement *runs = sql_prepare(store->sql,
                                         "SELECT " STORE_RUN_COLUMNS " FROM " STORE_RUN_TABLES
                                         " WHERE ?1 IS NULL OR label.text = ?1"
                                         " ORDER BY label.text, gpu.text, run.time_ns, run.id",
                                         err);
    if (!runs)
        return false;
    if (label)
        statement_bind_bytes(runs, 1, label, strlen(label));
    while (statement_step(runs, err))
        *VEC_PUSH(&nightly->runs) = store_run_of(runs, &nightly->arena);
    return statement_free(runs);
}

bool store_find(struct store *store, int64_t run, struct arena *arena, const char **label, const char **gpu,
                struct tpa_error *err)
{
    struct statement *find = sql_prepare(
        store->sql, "SELECT " STORE_RUN_COLUMNS " FROM " STORE_RUN_TABLES " WHERE run.id = ?", err);
    if (!find)
        return false;
    statement_bind_int(find, 1, run);
    bool found = statement_step(find, err);
    if (found) {
        struct nightly_run row = store_run_of(find, arena);
        *label = row.label;
        *gpu = row.gpu;
    } else if (!err->failed) {
        tpa_fail(err, TPA_NOWHERE, "there is no run %lld in this store", (long long)run);
        tpa_hint(err, "tpa nightly --store STORE list shows them");
        tpa_in_file(err, sql_path(store->sql));
    }
    return statement_free(find) && found;
}

/* ---- a history ---- */

struct run_index {
    int64_t id;
    size_t index;
};

static const struct key by_run_id[] = { ASC(struct run_index, id), KEY_END };

/* The index of run ID in the history; HISTORY_NO_RUN if missing. */
static size_t index_of(const struct run_index *by_id, size_t count, int64_t id)
{
    struct run_index key = { id, 0 };
    const struct run_index *found = rows_find(by_id, count, sizeof *by_id, by_run_id, &key);
    return found ? found->index : HISTORY_NO_RUN;
}

static enum table_kind kind_of(const char *word)
{
    for (int kind = TABLE_NAME; kind <= TABLE_BOOL; kind++)
        if (word && strcmp(table_kind_name((enum table_kind)kind), word) == 0)
            return (enum table_kind)kind;
    return TABLE_NUMBER;
}

static bool load_runs(struct store *store, const char *label, const char *gpu, struct nightly *nightly,
                      struct tpa_error *err)
{
    struct statement *runs =
        sql_prepare(store->sql,
                    "SELECT " STORE_RUN_COLUMNS " FROM " STORE_RUN_TABLES
                    " WHERE label.text = ? AND gpu.text = ? ORDER BY run.time_ns, run.id",
                    err);
    if (!runs)
        return false;
    statement_bind_bytes(runs, 1, label, strlen(label));
    statement_bind_bytes(runs, 2, gpu, strlen(gpu));
    while (statement_step(runs, err))
        *VEC_PUSH(&nightly->runs) = store_run_of(runs, &nightly->arena);
    nightly->history.run_count = nightly->runs.count;
    if (!statement_free(runs))
        return false;
    if (nightly->runs.count)
        return true;
    /* The caller saw them listed: they were pruned meanwhile, or the label has a NUL, which tpa never writes. */
    tpa_fail(err, TPA_NOWHERE, "this store has no runs of '%s' on '%s'", label, gpu);
    tpa_hint(err, "another program may have pruned them just now; try again");
    return tpa_in_file(err, sql_path(store->sql));
}

static bool load_acceptances(struct store *store, const struct run_index *by_id, struct nightly *nightly,
                             struct tpa_error *err)
{
    struct statement *all =
        sql_prepare(store->sql,
                    "SELECT a.run, sort.text, name.text, a.reason, a.time_ns FROM acceptance AS a "
                    "LEFT JOIN name AS sort ON sort.id = a.sort LEFT JOIN name ON name.id = a.name "
                    "ORDER BY a.id",
                    err);
    while (all && statement_step(all, err)) {
        if (index_of(by_id, nightly->runs.count, statement_int(all, 0)) == HISTORY_NO_RUN)
            continue; /* of another label */
        bool every = statement_is_null(all, 1);
        struct nightly_acceptance acceptance = { .run = statement_int(all, 0),
                                                 .time_ns = statement_int(all, 4) };
        acceptance.table = every ? NULL : bytes_in(&nightly->arena, all, 1, NULL);
        acceptance.name = every ? NULL : bytes_in(&nightly->arena, all, 2, &acceptance.length);
        acceptance.reason = text_in(&nightly->arena, all, 3);
        *VEC_PUSH(&nightly->acceptances) = acceptance;
    }
    return statement_free(all);
}

static bool load_figures(struct store *store, const struct run_index *by_id, struct nightly *nightly,
                         const char *label, const char *gpu, struct tpa_error *err)
{
    struct statement *figures = sql_prepare(
        store->sql,
        "SELECT m.series, sort.text, name.text, title.text, s.kind, m.run, m.level, m.error, m.calls "
        "FROM series AS s JOIN measurement AS m ON m.series = s.id "
        "JOIN name AS sort ON sort.id = s.sort JOIN name ON name.id = s.name "
        "LEFT JOIN name AS title ON title.id = s.title "
        "WHERE s.label = (SELECT id FROM name WHERE text = ?) AND s.gpu = (SELECT id FROM name WHERE text = ?) "
        "ORDER BY m.series, m.run",
        err);
    if (!figures)
        return false;
    statement_bind_bytes(figures, 1, label, strlen(label));
    statement_bind_bytes(figures, 2, gpu, strlen(gpu));
    int64_t last = 0;
    size_t at = 0;
    while (statement_step(figures, err)) {
        int64_t id = statement_int(figures, 0);
        if (id != last) {
            struct nightly_series series = { .kind = kind_of(statement_text(figures, 4)) };
            series.table = bytes_in(&nightly->arena, figures, 1, NULL);
            series.name = bytes_in(&nightly->arena, figures, 2, &series.length);
            series.title = statement_is_null(figures, 3) ? NULL : bytes_in(&nightly->arena, figures, 3, NULL);
            at = nightly_add_series(nightly, &series);
            last = id;
        }
        size_t run = index_of(by_id, nightly->runs.count, statement_int(figures, 5));
        if (run == HISTORY_NO_RUN)
            continue;
        nightly->history.series.at[at].level[run] = statement_double(figures, 6);
        nightly->history.series.at[at].error[run] = statement_double(figures, 7);
        nightly->series.at[at].calls[run] = statement_double(figures, 8);
    }
    return statement_free(figures);
}

static bool load(struct store *store, const char *label, const char *gpu, struct nightly *nightly,
                 struct tpa_error *err)
{
    if (!load_runs(store, label, gpu, nightly, err))
        return false;
    SCOPED struct run_index *by_id = mem_alloc(mem_times(nightly->runs.count + 1, sizeof *by_id));
    for (size_t i = 0; i < nightly->runs.count; i++)
        by_id[i] = (struct run_index){ nightly->runs.at[i].id, i };
    SORT_ARRAY(by_id, nightly->runs.count, by_run_id);
    bool good =
        load_figures(store, by_id, nightly, label, gpu, err) && load_acceptances(store, by_id, nightly, err);
    return good;
}

bool store_load(struct store *store, const char *label, const char *gpu, struct nightly *nightly,
                struct tpa_error *err)
{
    /* One transaction: concurrent additions are seen completely or not at all. */
    if (!sql_exec(store->sql, "BEGIN", err))
        return false;
    bool good = load(store, label, gpu, nightly, err);
    sql_rollback(store->sql);
    return good;
}

/* ---- one run ---- */

bool store_facts(struct store *store, int64_t run, store_fact *fact, void *context, struct tpa_error *err)
{
    struct statement *facts =
        sql_prepare(store->sql,
                    "SELECT key.text, title.text, value.text FROM fact "
                    "JOIN name AS key ON key.id = fact.key JOIN name AS title ON title.id = "
                    "fact.title JOIN name AS value ON value.id = fact.value "
                    "WHERE fact.run = ? ORDER BY key.text",
                    err);
    if (!facts)
        return false;
    statement_bind_int(facts, 1, run);
    SCOPED_ARENA struct arena arena = { 0 };
    while (statement_step(facts, err))
        fact(context, bytes_in(&arena, facts, 0, NULL), bytes_in(&arena, facts, 1, NULL),
             bytes_in(&arena, facts, 2, NULL));
    return statement_free(facts);
}

bool store_figures(struct store *store, int64_t run, store_take *take, void *context, struct tpa_error *err)
{
    struct statement *figures =
        sql_prepare(store->sql,
                    "SELECT sort.text, name.text, title.text, s.kind, m.level, m.error, "
                    "m.calls, m.samples FROM measurement AS m "
                    "JOIN series AS s ON s.id = m.series JOIN name AS sort ON sort.id = s.sort "
                    "JOIN name ON name.id = s.name LEFT JOIN name AS title ON title.id = "
                    "s.title WHERE m.run = ? ORDER BY m.series",
                    err);
    if (!figures)
        return false;
    SCOPED struct samples samples = { 0 };
    bool good = true;
    statement_bind_int(figures, 1, run);
    while (good && statement_step(figures, err)) {
        struct arena arena = { 0 };
        size_t size;
        const void *bytes = statement_bytes(figures, 7, &size);
        samples.count = 0;
        good = samples_unpack(bytes, size, &samples);
        if (!good) {
            tpa_fail(err, TPA_NOWHERE,
                     "this store is damaged: the samples of a figure of run %lld cannot be read",
                     (long long)run);
            tpa_in_file(err, sql_path(store->sql));
            break;
        }
        struct store_figure figure = {
            .kind = kind_of(statement_text(figures, 3)),
            .level = statement_double(figures, 4),
            .error = statement_double(figures, 5),
            .calls = statement_double(figures, 6),
            .values = samples.at,
            .count = samples.count,
        };
        figure.table = bytes_in(&arena, figures, 0, NULL);
        figure.name = bytes_in(&arena, figures, 1, &figure.length);
        figure.title = statement_is_null(figures, 2) ? NULL : bytes_in(&arena, figures, 2, NULL);
        take(context, &figure);
        arena_release(&arena);
    }
    return statement_free(figures) && good;
}
