/*
 * output_tables.h - the tables of a result one by one: which of them are requested, and a file for each in a folder.
 */
#ifndef TPA_CLI_OUTPUT_TABLES_H
#define TPA_CLI_OUTPUT_TABLES_H

#include "base/result.h"
#include "report/printer.h"

/* One more word of a list that is separated by commas; false at the end. Blanks around it do not count. */
bool output_next_word(const char **list, const char **word, size_t *len);

/*
 * Keep the tables of RESULT whose keys are in the list KEYS. False and ERR, with a suggestion, for a key that no table
 * has; a result without any table has told why.
 */
bool output_select_tables(struct result *result, const char *keys, struct tpa_error *err);

/* Does PATH (NULL: standard output) stand for a folder: does it end in a slash, or is there one? */
bool output_is_folder(const char *path);

/*
 * Print each table of RESULT into a file of its own in the folder PATH, which is made where it is missing:
 * operators.csv. The second of two tables with one key is operators.2.csv. Each file appears whole or not at all.
 */
bool output_to_folder(const struct printer *printer, const struct result *result,
                      const struct print_options *options, const char *path, struct tpa_error *err);

/* Tell on stderr that the tables of RESULT followed one another, where what reads them expects a single one. */
void output_tell_joined(const struct result *result);

#endif
