/*
 * gates.h - limits on what may change, and whether a comparison exceeds one.
 *
 *     5%                  the step time may grow by 5 %
 *     op=10%:REGEX        so may the time of each row whose name matches REGEX
 *     memory=2%           so may the peak of memory; and busy=, communication=, copies=, host=, device=
 *     idle=+3pp           the share of the step in which devices idle may grow by 3 percentage points
 *
 * A gate is exceeded by a change that is larger than its limit and real: its verdict is slower, more or new. Where
 * there are too few samples to tell whether a larger change is real, nobody can tell, which fails unless the user says
 * otherwise. How much a figure grew is known by the shift of its samples, which one outlier does not move. The rows
 * that a gate names are judged together, and not with the rows that no gate names.
 */
#ifndef TPA_CLI_GATES_H
#define TPA_CLI_GATES_H

#include "compare/diff.h"
#include "base/options.h"
#include "base/result.h"

enum gates_outcome { GATES_WITHIN, GATES_EXCEEDED, GATES_CANNOT_TELL };

/*
 * Hold DIFF to the gates as typed; adds the table "gates" (report/cases.h) to RESULT. UNSURE_FAILS: so does what is
 * unsure. False and ERR when a gate is not understood, or asks about what the sides do not hold.
 */
bool gates_check(const struct diff *diff, const struct opt_list *gates, bool unsure_fails,
                 struct result *result, enum gates_outcome *outcome, struct tpa_error *err);

/* The tables that may come of it, for `tpa help`; ends in { 0 }. */
extern const struct table_shape gates_tables[];

#endif
