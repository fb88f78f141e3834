/*
 * gate.h - a limit on growth, as typed.
 *
 *     5%               GATE_STEP     the step time, by 5 %
 *     op=10%:REGEX     GATE_ROWS     the rows whose names match
 *     memory=2%        GATE_MEMORY   the peak of memory
 *     idle=+3pp        GATE_IDLE     the share of the step in which devices idle, by 3 percentage points
 *     busy=5%          GATE_FIGURE   and communication=, copies=, host=, device=, step=
 *
 * And other common parts of commands with gates: --unsure, and printers of the results of gates.
 */
#ifndef TPA_CLI_GATE_H
#define TPA_CLI_GATE_H

#include "base/error.h"
#include "base/options.h"
#include "diff/measure.h"
#include "report/printer.h"
#include <stdbool.h>

enum gate_sort { GATE_STEP, GATE_ROWS, GATE_MEMORY, GATE_IDLE, GATE_FIGURE };

struct gate {
    const char *text; /* as typed; borrowed, as are the others */
    enum gate_sort sort;
    double limit;        /* a share; of GATE_IDLE a difference of shares */
    const char *metric;  /* key of its metric, as in diff/measure.h; NULL: rows */
    const char *pattern; /* of rows: a regular expression */
    const char *needs;   /* what to record for the figure; NULL: nothing */
};

/* False and ERR if TEXT is not a gate. */
bool gate_parse(const char *text, struct gate *gate, struct tpa_error *err);

/* --unsure: does a check that cannot be judged make the exit code 1? */
enum gate_unsure { GATE_UNSURE_AUTO, GATE_UNSURE_PASSES, GATE_UNSURE_FAILS };
extern const struct opt_choice gate_unsure_words[];

/* Evaluate --unsure. */
bool gate_unsure_fails(int unsure);

/*
 * Without --allow-missing-ranks: are all ranks of the job present and readable, or only one file given? If not, false
 * and ERR with the number of missing ranks. WHAT names the files in the message: "the second side".
 */
bool gate_check_ranks(const struct measures *measures, const char *what, struct tpa_error *err);
#define ALLOW_MISSING_RANKS_HELP "judge although ranks are missing, or are others than those compared with"

extern const struct printer printer_junit, printer_github;
extern const struct printer *const gate_printers[]; /* these two; ends in NULL */

#endif
