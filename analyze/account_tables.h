/* account_tables.h - the account of a step as a sentence and as a table. */
#ifndef TPA_ANALYZE_ACCOUNT_TABLES_H
#define TPA_ANALYZE_ACCOUNT_TABLES_H

#include "analyze/account.h"

/* Say on top of RESULT how long a step takes, of how many that count, and how steps differ. Nothing without steps. */
void account_notice(const struct account *account, struct result *result);

/* How the steps differ, and which do not count, as a sentence in TEXTS: "Every 5th step waits for the device: 26 ms instead of 17 ms.".
 * NULL: there is nothing to say. */
const char *account_pattern_sentence(const struct account *account, struct arena *texts);

/* The table "account": the parts of a step of each rank, and of all where there are several. */
void account_add_table(const struct account *account, struct result *result);

enum { ACCOUNT_COLUMNS = 4 };
extern const struct table_column account_columns[ACCOUNT_COLUMNS];

#endif
