/*
 * trace_sql.h - SQL queries over a trace: SQLite with the trace's columns as tables. Nothing is copied, and nothing is
 * written.
 *
 *     struct trace_sql *sql = trace_sql_open(&analyses);
 *     struct trace_wants wants = { 0 };
 *     trace_sql_wants(sql, "select name, sum(dur_ns) from kernels group by name", &wants);
 *     struct trace *trace = ... read for WANTS ...;
 *     trace_sql_use(sql, trace, shift_ns);
 *     while (trace_sql_next(sql, &text, 0, &table, &err))
 *         ...                                // TABLE: the rows of a statement; NULL if none is left
 *     trace_sql_free(sql);
 *
 * The tables are those of sql_tables.h. An analysis is a function that returns a table: gaps('--by op'); the caller of
 * trace_sql_open provides them. A statement that would write, attach or load anything is an error, as is one that takes
 * too long.
 */
#ifndef TPA_SQL_TRACE_SQL_H
#define TPA_SQL_TRACE_SQL_H

#include "base/result.h"
#include "trace/trace.h"
#include <stdatomic.h>

struct trace_sql;

/* The functions that return tables. */
struct trace_sql_functions {
    /* The name of function INDEX; NULL past the last. */
    const char *(*name_at)(size_t index);
    /* The result of NAME with OPTIONS, as on a command line. New; NULL and ERR if that fails. */
    struct result *(*answer)(const char *name, const char *options, const struct trace *trace,
                             struct tpa_error *err);
};

/* New; free with trace_sql_free. NULL and ERR if SQLite is not available. FUNCTIONS is borrowed. */
struct trace_sql *trace_sql_open(const struct trace_sql_functions *functions, struct tpa_error *err);
void trace_sql_free(struct trace_sql *sql);

/* Add to WANTS what the statements of TEXT read. If that is unknown, because of a function or an invalid statement, add
 * everything. */
void trace_sql_wants(struct trace_sql *sql, const char *text, struct trace_wants *wants);

/* From now on TRACE is queried. SHIFT_NS: by file, what is added to its times. Both are borrowed. */
void trace_sql_use(struct trace_sql *sql, const struct trace *trace, const int64_t *shift_ns);

/* No statement may run longer than LIMIT_NS; 0: no limit. A nonzero *INTERRUPTED ends one as well; may be NULL. GIVE_UP (may
 * be NULL) is called from another thread for one that SQLite does not end: see watchdog.h. */
void trace_sql_limit(struct trace_sql *sql, int64_t limit_ns, const atomic_int *interrupted,
                     void (*give_up)(bool too_long));

/* The rows of a statement may have BYTES together; without this a gigabyte. */
void trace_sql_limit_rows(struct trace_sql *sql, size_t bytes);

/* Run the next statement of *TEXT, which is advanced past it. TABLE is new, free with table_free: its rows, at most
 * MOST unless that is 0; NULL if there was no further statement. False and ERR if it fails. */
bool trace_sql_next(struct trace_sql *sql, const char **text, size_t most, struct table **table,
                    struct tpa_error *err);

/* Add the notices of functions evaluated since the last call. */
void trace_sql_add_notices(struct trace_sql *sql, struct result *result);

/* Is TEXT one or more whole statements, up to a semicolon outside of texts and comments? */
bool trace_sql_is_complete(const char *text);

/* Write the tables into a new SQLite database at PATH. The trace must have been read completely. False and ERR on
 * failure. */
bool trace_sql_export(struct trace_sql *sql, const char *path, struct tpa_error *err);

#endif
