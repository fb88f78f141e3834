/*
 * cases.h - a table of checks: within the limit, exceeded, or nobody can tell: what JUnit and GitHub show of a result.
 *
 * Any table with these columns is one. Its rows are in order of their number; rows of one number belong to one check.
 *
 *     number   count   which check
 *     gate     text    as the user wrote it: "op=10%:^aten::"
 *     name     name    what it is about, here: "aten::mm"
 *     outcome  text    CASE_WITHIN, CASE_EXCEEDED, CASE_CANNOT_TELL
 *     fails    bool    is the build to fail for it?
 *     message  text    the same in a sentence
 *
 *     struct case_columns at;
 *     if (cases_find(table, &at))
 *         puts(table_cell(table, row, at.message)->text.at);
 */
#ifndef TPA_REPORT_CASES_H
#define TPA_REPORT_CASES_H

#include "base/table.h"

#define CASE_NUMBER "number"
#define CASE_GATE "gate"
#define CASE_NAME "name"
#define CASE_OUTCOME "outcome"
#define CASE_FAILS "fails"
#define CASE_MESSAGE "message"

#define CASE_WITHIN "within"
#define CASE_EXCEEDED "exceeded"
#define CASE_CANNOT_TELL "cannot tell"

struct case_columns {
    size_t number, gate, name, outcome, fails, message;
};

/* Where the columns of TABLE are; false if it is not a table of checks. */
bool cases_find(const struct table *table, struct case_columns *at);

/* The rows from FIRST on that belong to one check: the index behind the last. */
size_t cases_end(const struct table *table, const struct case_columns *at, size_t first);

#endif
