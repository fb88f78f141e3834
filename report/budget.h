/*
 * budget.h - a result in a number of bytes: what is left out, in which order, and how that is said.
 *
 *     budget_print_json(result, 5000, "tpa gaps --format json --limit 0 trace.json", true, out, err);
 *
 *     {"schema":"tpa.gaps/1","tables":[{"key":"gaps","columns":["kernel","duration_ns"],"rows":[["a",7],["b",5]],"total_rows":9,
 *     "footer":{}}],"notices":[],"truncated":{"rows":{"gaps":7},"columns":[],"notices":0,"more":"tpa gaps ..."}}
 *
 * Sums and counts are those of the whole result. Rows are lists in the order of "columns"; columns without a value, titles and
 * helps are left out. What still does not fit goes in one order, so that more bytes never show less: notices beyond the first two
 * (the result in a sentence is first), optional columns, rows of the longest table, the other notices, tables from the last.
 * The rows that stay are the first ones; of a table in order of time or number, those that cost most, in the order of the table.
 */
#ifndef TPA_REPORT_BUDGET_H
#define TPA_REPORT_BUDGET_H

#include "report/printer.h"

/* A token of an assistant is counted as 2.5 bytes. */
enum { BUDGET_LEAST_TOKENS = 200, BUDGET_LEAST_BYTES = 500 };

/* Print RESULT as JSON of at most MOST bytes (at least BUDGET_LEAST_BYTES), the line's end included. MORE is the command that
 * shows the rest. BEGINNING: what is shown of each table is its beginning, whatever its order. */
bool budget_print_json(const struct result *result, size_t most, const char *more, bool beginning, FILE *out,
                       struct tpa_error *err);

/* The same with PRINTER, which is for people: its last line says how many rows there are, and that MORE shows all. */
bool budget_print_text(const struct printer *printer, const struct result *result,
                       const struct print_options *options, size_t most, const char *more, bool beginning,
                       FILE *out, struct tpa_error *err);

#endif
