/* sides.h - the two sides of a comparison, and the limits that they are checked against. */
#ifndef TPA_CLI_SIDES_H
#define TPA_CLI_SIDES_H

#include "cli/load.h"
#include "cli/output.h"
#include "diff/diff.h"
#include "treediff/work_tree.h"

/*
 * sides.c - the two sides of a comparison: their files and measures.
 *
 *     struct sides_found found;
 *     struct measures *sides[2];
 *     if (!sides_find(call, &args->base, &args->other, &found, err) ||
 *         !sides_measure(call, &args->load, &found, &options, sides, result, err))
 *         return EXIT_TROUBLE;
 *     ...
 *     arena_free(sides[0]), arena_free(sides[1]);
 */

/* The files of both sides; borrowed from the command line. */
struct sides_found {
    const char *const *paths[2];
    size_t counts[2];
};

/* Two operands, or the files of --base and --new. False and ERR if neither is given. */
bool sides_find(const struct invocation *call, const struct opt_list *base, const struct opt_list *other,
                struct sides_found *found, struct tpa_error *err);

struct sides_options {
    struct measure_options measure;
    bool strip_dirs;                /* Python profiles name files without their directories */
    struct work_tree *const *trees; /* one per side, to which its traces are added; NULL: none */
    struct timeline *
        *timelines; /* one per side, set to that of its first file, or left NULL; NULL: none is wanted */
};

/* Measure both sides, file by file, so that only one is in memory. Notices about them go to RESULT. A trace compared
 * with a saved result is analyzed with the same command and options. New, and finished: free both with arena_free.
 * False and ERR, with both NULL, if a file cannot be read or the sides cannot be compared. */
bool sides_measure(const struct invocation *call, const struct load_args *load,
                   const struct sides_found *found, const struct sides_options *options,
                   struct measures *sides[2], struct result *result, struct tpa_error *err);

/*
 * diff_tree.c - `tpa diff --tree`: reading two sides as call trees.
 *
 *     struct tree_sides sides;
 *     if (tree_sides_read(call, &args->load, &found, &options, &sides, result, err))
 *         diff = tree_diff_open(sides.trees[0], sides.trees[1], args->min_change_ns);
 *     ...
 */

struct tree_sides {
    struct names *names;
    struct work_tree *trees[2];
};

/* Read both sides, file by file, so that only one is in memory. Notices about them go to RESULT. False and ERR if a
 * file cannot be read, is not a trace, or a side has no operators; SIDES is to be released either way. */
bool tree_sides_read(const struct invocation *call, const struct load_args *load,
                     const struct sides_found *found, const struct work_tree_options *options,
                     struct tree_sides *sides, struct result *result, struct tpa_error *err);

/* Reduce the tables of a tree diff in RESULT for people: rows that changed and are not folded, LIMIT of each. */
void tree_shorten(struct result *result, const struct limit *limit);

/*
 * gate.c - a limit on growth, as typed.
 *
 *     5%               GATE_STEP     the step time, by 5 %
 *     op=10%:REGEX     GATE_ROWS     the rows whose names match
 *     memory=2%        GATE_MEMORY   the peak of memory
 *     idle=+3pp        GATE_IDLE     the share of the step in which devices idle, by 3 percentage points
 *     busy=5%          GATE_FIGURE   and communication=, copies=, host=, device=, step=
 *
 * And other common parts of commands with gates: --unsure, and printers of the results of gates.
 */

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

/* Is FOUND more than LIMIT by more than doubles are exact? */
bool gate_exceeds(double found, double limit);

/* How many decimals FOUND and LIMIT need, as percent, so that a reader sees which is larger: 1, unless they differ by less. */
int gate_decimals(double found, double limit);

/* Where a table shows FOUND, the growth of the figure NAME of LEN bytes, and the limit of GATE as one number, though they differ: add a
 * notice with both. */
void gate_notice_close(const struct gate *gate, const char *name, size_t len, double found,
                       struct result *result);

/* --unsure: does a check that cannot be judged make the exit code 1? */
enum gate_unsure { GATE_UNSURE_AUTO, GATE_UNSURE_PASSES, GATE_UNSURE_FAILS };
extern const struct opt_choice gate_unsure_words[];

/* Evaluate --unsure. */
bool gate_unsure_fails(int unsure);

/* Without --allow-missing-ranks: are all ranks of the job present and readable, or only one file given? If not, false
 * and ERR with the number of missing ranks. WHAT names the files in the message: "the second side". */
bool gate_check_ranks(const struct measures *measures, const char *what, struct tpa_error *err);
#define ALLOW_MISSING_RANKS_HELP "judge although ranks are missing, or are others than those compared with"

extern const struct printer printer_junit, printer_github;
extern const struct printer *const gate_printers[]; /* these two; ends in NULL */

/*
 * gates.c - limits on changes, and checking a comparison against them.
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

enum gates_outcome { GATES_WITHIN, GATES_EXCEEDED, GATES_CANNOT_TELL };

/* Check DIFF against the gates as typed; adds the table "gates" (report/cases.h) to RESULT. UNSURE_FAILS:
 * unjudged checks fail as well. IGNORED: what the recordings may lack, a set of enum lacks. False and ERR if
 * a gate is invalid, or about data that the sides do not have. */
bool gates_check(const struct diff *diff, const struct opt_list *gates, bool unsure_fails, unsigned ignored,
                 struct result *result, enum gates_outcome *outcome, struct tpa_error *err);

/* The tables that may be added, for `tpa help`; ends in { 0 }. */
extern const struct table_shape gates_tables[];

#endif
