/*
 * diff_screen.h - what people read of a comparison first: the account of a step on both sides, and what changed.
 *
 *     diff_add_account(diff, result);
 *     diff_add_changes(diff, 15, result);
 */
#ifndef TPA_DIFF_DIFF_SCREEN_H
#define TPA_DIFF_DIFF_SCREEN_H

#include "diff/diff.h"

/* If two ranks of one job are compared, add a notice on top of RESULT that says so. Call before all others. */
void diff_notice_one_job(const struct diff *diff, struct result *result);

/* Add the table "account": the parts of a step on both sides, which add up to it, each with a bar. False if the step or
 * its parts are not known. */
bool diff_add_account(const struct diff *diff, struct result *result);

/*
 * Add the table "changes": rows of all tables of times that changed beyond noise, the largest first, and waits after the
 * work that they wait for (cause.h); at most MOST (0: all). A notice if there are none. False if rows of DIFF cannot be
 * put into one table.
 */
bool diff_add_changes(const struct diff *diff, size_t most, struct result *result);

/* The tables that may be added, for `tpa help`; ends in { 0 }. */
extern const struct table_shape diff_screen_tables[];

#endif
