/*
 * modules.h - virtual tables through which SQLite reads the tables of sql_tables.h, and results of functions.
 */
#ifndef TPA_SQL_MODULES_H
#define TPA_SQL_MODULES_H

#include "sql/sql_tables.h"

/* Register every table of sql_tables in DB, with PREFIX before its name. SOURCE is borrowed. Returns SQLite's result
 * code. */
int sql_add_tables(sqlite3 *db, struct sql_source *source, const char *prefix);

/* Register a table NAME in DB with the rows of TABLE, which is borrowed and must outlive DB. Returns SQLite's result
 * code. */
int sql_add_answer(sqlite3 *db, const char *name, const struct table *table);

/*
 * The name that column INDEX of TABLE, a result of a function, has in SQL: its key, with _ns for times; TEXT is room for it.
 * A moment counts from the origin of its file, so `start` is at_ns, as in the tables, where start_ns is on another clock.
 */
const char *sql_answer_column(const struct table *table, size_t index, struct buffer *text);

#endif
