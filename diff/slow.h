/* slow.h - which ranks, hosts and links of a job are slow on both sides of a comparison, and which on only one. */
#ifndef TPA_DIFF_SLOW_H
#define TPA_DIFF_SLOW_H

#include "base/result.h"
#include "diff/measure.h"

/* Add the table "slow" of two fleets; nothing if neither has any. BEFORE and AFTER must live as long as RESULT. */
void slow_add_table(const struct measures *before, const struct measures *after, struct result *result);

/* The tables that may be added, for `tpa help`; ends in { 0 }. */
extern const struct table_shape slow_tables[];

#endif
