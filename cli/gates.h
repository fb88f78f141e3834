/*
 * gates.h - limits on what may change, and whether a comparison passed one.
 *
 *     5%                  the step time may grow by 5 %
 *     op=10%:REGEX        so may the time of each row whose name matches REGEX
 *     idle=+3pp           the share of the step that is not on devices may grow by 3 percentage points
 *
 * A gate is passed by a change that is larger than its limit and real: its verdict is slower (or new).
 */
#ifndef TPA_CLI_GATES_H
#define TPA_CLI_GATES_H

#include "base/options.h"
#include "base/table.h"

enum gates_outcome { GATES_HELD, GATES_PASSED, GATES_UNSURE };

/*
 * Hold RESULT, of diff_analyze, to the gates as typed; adds the table "gates" to it. False and ERR when
 * a gate is not understood, or asks about what RESULT does not hold.
 */
bool gates_check(struct result *result, const struct opt_list *gates, enum gates_outcome *outcome,
                 struct tpa_error *err);

#endif
