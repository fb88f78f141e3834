/*
 * modules.h - the virtual tables by which SQLite reads the tables of sql_tables.h, and tables that functions gave.
 */
#ifndef TPA_SQL_MODULES_H
#define TPA_SQL_MODULES_H

#include "sql/sql_tables.h"

/* Give DB every table of sql_tables, under its name with PREFIX in front. SOURCE is borrowed. SQLite's code. */
int sql_add_tables(sqlite3 *db, struct sql_source *source, const char *prefix);

/* Give DB the table called NAME with the rows of TABLE, which is borrowed and lives as long as DB. */
int sql_add_answer(sqlite3 *db, const char *name, const struct table *table);

#endif
