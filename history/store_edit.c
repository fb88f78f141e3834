/* store_edit.c - see store.h: accepted levels, and deleted runs. */
#include "history/store.h"

bool store_accept(struct store *store, int64_t run, const char *table, const char *name, size_t length,
                  const char *reason, int64_t time_ns, struct tpa_error *err)
{
    if (!sql_begin(store->sql, err))
        return false;
    struct statement *add =
        sql_prepare(store->sql,
                    "INSERT INTO acceptance (run, sort, name, reason, time_ns) VALUES (?, "
                    "(SELECT id FROM name WHERE text = ?), (SELECT id FROM name WHERE text = ?), ?, ?)",
                    err);
    bool good = add != NULL;
    if (good) {
        statement_bind_int(add, 1, run);
        if (table) {
            statement_bind_bytes(add, 2, table, strlen(table));
            statement_bind_bytes(add, 3, name, length);
        }
        statement_bind_text(add, 4, reason);
        statement_bind_int(add, 5, time_ns);
        good = statement_run(add, err);
        statement_free(add);
    }
    if (good)
        return sql_commit(store->sql, err);
    sql_rollback(store->sql);
    return false;
}

/* ---- prune ---- */

/* The runs to delete, as a temporary table of this connection. */
static bool mark(struct sql *sql, const struct store_prune *what, struct tpa_error *err)
{
    if (!sql_exec(sql, "CREATE TEMP TABLE forgotten (id INTEGER PRIMARY KEY)", err))
        return false;
    struct statement *choose = sql_prepare(
        sql,
        "INSERT INTO forgotten SELECT id FROM ("
        "  SELECT run.id AS id, run.time_ns AS time_ns,"
        "    row_number() OVER (PARTITION BY run.label, run.gpu ORDER BY run.time_ns DESC, run.id DESC) AS place"
        "  FROM run JOIN name AS label ON label.id = run.label WHERE ?1 IS NULL OR label.text = ?1)"
        " WHERE (?2 > 0 AND place > ?2) OR time_ns < ?3 OR id = ?4",
        err);
    if (!choose)
        return false;
    if (what->label)
        statement_bind_bytes(choose, 1, what->label, strlen(what->label));
    statement_bind_int(choose, 2, (int64_t)what->keep);
    statement_bind_int(choose, 3, what->has_before ? what->before_ns : INT64_MIN);
    statement_bind_int(choose, 4, what->run);
    bool good = statement_run(choose, err);
    statement_free(choose);
    return good;
}

/* A level accepted with a deleted run moves to the next remaining run; if there is none, it is deleted. */
static const char *const forget =
    "UPDATE acceptance SET run = coalesce("
    "  (SELECT later.id FROM run AS gone JOIN run AS later ON later.label = gone.label AND later.gpu = gone.gpu"
    "    WHERE gone.id = acceptance.run AND later.id NOT IN (SELECT id FROM forgotten)"
    "      AND (later.time_ns, later.id) > (gone.time_ns, gone.id)"
    "    ORDER BY later.time_ns, later.id LIMIT 1), run)"
    "  WHERE run IN (SELECT id FROM forgotten);"
    "DELETE FROM acceptance WHERE run IN (SELECT id FROM forgotten);"
    "DELETE FROM measurement WHERE run IN (SELECT id FROM forgotten);"
    "DELETE FROM run WHERE id IN (SELECT id FROM forgotten);"
    "DELETE FROM series WHERE NOT EXISTS (SELECT 1 FROM measurement WHERE series = series.id);"
    "DELETE FROM name WHERE id NOT IN (SELECT label FROM run UNION SELECT gpu FROM run"
    "  UNION SELECT key FROM fact UNION SELECT title FROM fact UNION SELECT value FROM fact"
    "  UNION SELECT label FROM series UNION SELECT gpu FROM series UNION SELECT sort FROM series"
    "  UNION SELECT name FROM series UNION SELECT title FROM series WHERE title IS NOT NULL"
    "  UNION SELECT sort FROM acceptance WHERE sort IS NOT NULL"
    "  UNION SELECT name FROM acceptance WHERE name IS NOT NULL);";

bool store_prune(struct store *store, const struct store_prune *what, int64_t *count, struct tpa_error *err)
{
    *count = 0;
    if (!sql_begin(store->sql, err))
        return false;
    bool good = mark(store->sql, what, err) &&
                sql_integer(store->sql, "SELECT count(*) FROM forgotten", count, err) &&
                sql_exec(store->sql, forget, err) && sql_exec(store->sql, "DROP TABLE forgotten", err);
    if (!good) {
        sql_rollback(store->sql);
        return false;
    }
    if (!sql_commit(store->sql, err))
        return false;
    /* The runs are deleted; failing to shrink the file, which needs room, is not an error. */
    struct tpa_error ignored = { 0 };
    if (*count > 0)
        sql_exec(store->sql, "VACUUM", &ignored);
    return true;
}
