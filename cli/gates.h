/*
 * gates.h - limits on changes, and checking a comparison against them.
 *
 *     5%                  the step time may grow by 5 %
 *     op=10%:REGEX        so may the time of each row whose name matches REGEX
 *     memory=2%           so may the peak of memory; and busy=, communication=, copies=, host=, device=
 *     idle=+3pp           the share of the step in which devices idle may grow by 3 percentage points
 *
 * A gate is exceeded by a change that is larger than its limit and significant: its verdict is slower, more or new. It is
 * within if the 95 % interval of the growth does not reach the limit. All else cannot be told, and fails unless the user
 * chooses otherwise: the interval reaches beyond the limit, the spread is unknown, or a recording is cut short or damaged.
 * The rows matched by a gate are judged together, separately from other rows: of several, only the growth is compared
 * with the limit, not its interval.
 */
#ifndef TPA_CLI_GATES_H
#define TPA_CLI_GATES_H

#include "diff/diff.h"
#include "base/options.h"
#include "base/result.h"

enum gates_outcome { GATES_WITHIN, GATES_EXCEEDED, GATES_CANNOT_TELL };

/*
 * Check DIFF against the gates as typed; adds the table "gates" (report/cases.h) to RESULT. UNSURE_FAILS: unjudged
 * checks fail as well. IGNORED: what the recordings may lack, a set of enum lacks. False and ERR if a gate is invalid, or about data that the sides do not have.
 */
bool gates_check(const struct diff *diff, const struct opt_list *gates, bool unsure_fails, unsigned ignored,
                 struct result *result, enum gates_outcome *outcome, struct tpa_error *err);

/* The tables that may be added, for `tpa help`; ends in { 0 }. */
extern const struct table_shape gates_tables[];

#endif
