/* output_tables.h - the tables of a result one by one: which of them are requested, and a file for each in a
 * folder. */
#ifndef TPA_CLI_OUTPUT_TABLES_H
#define TPA_CLI_OUTPUT_TABLES_H

#include "report/printer.h"

/* Get the next word of a comma-separated list; false at the end. Blanks around it are ignored. */
bool output_next_word(const char **list, const char **word, size_t *len);

/* Keep the tables of RESULT whose keys are in the list KEYS. False and ERR, with a suggestion, for a key that no table
 * has; a result without any table has a notice with the reason. */
bool output_select_tables(struct result *result, const char *keys, struct tpa_error *err);

/* Is PATH (NULL: standard output) a folder: does it end in a slash, or exist as one? */
bool output_is_folder(const char *path);

/* Print each table of RESULT into a file of its own in the folder PATH, which is created if missing: operators.csv. The
 * second of two tables with one key is operators.2.csv. Each file appears completely or not at all. False and ERR on
 * failure. */
bool output_to_folder(const struct printer *printer, const struct result *result,
                      const struct print_options *options, const char *path, struct tpa_error *err);

/* Warn on stderr that several tables of RESULT were written in sequence, if readers of the format expect a single
 * one. */
void output_print_joined(const struct result *result);

#endif
