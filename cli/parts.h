/* parts.h - what commands share. */
#ifndef TPA_CLI_PARTS_H
#define TPA_CLI_PARTS_H

#include "cli/load.h"
#include "treediff/work_tree.h"
#include "diff/diff.h"
#include "cli/output.h"
#include "memory/alive.h"
#include "memory/forecast/query.h"
#include "profile/view.h"

/* cmd_report.c - the page of `tpa report`, for a command that compares it with another. */

/* Write the page that `tpa report` makes of COUNT TRACES without options but those of LOAD. False and ERR on failure. */
bool report_page(char **traces, size_t count, const struct load_args *load, FILE *into,
                 struct tpa_error *err);

/*
 * sides.c - the two sides of a comparison: their files and measures.
 *
 *     struct sides_found found;
 *     struct measures *sides[2];
 *     if (!sides_find(call, &args->base, &args->other, &found, err) ||
 *         !sides_measure(call, &args->load, &found, &options, sides, result, err))
 *         return EXIT_TROUBLE;
 *     ...
 *     measures_free(sides[0]), measures_free(sides[1]);
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

/*
 * Measure both sides, file by file, so that only one is in memory. Notices about them go to RESULT. A trace compared
 * with a saved result is analyzed with the same command and options. New, and finished: free both with measures_free.
 * False and ERR, with both NULL, if a file cannot be read or the sides cannot be compared.
 */
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
 *     tree_sides_release(&sides);
 */

struct tree_sides {
    struct names *names;
    struct work_tree *trees[2];
};

/*
 * Read both sides, file by file, so that only one is in memory. Notices about them go to RESULT. False and ERR if a
 * file cannot be read, is not a trace, or a side has no operators; SIDES is to be released either way.
 */
bool tree_sides_read(const struct invocation *call, const struct load_args *load,
                     const struct sides_found *found, const struct work_tree_options *options,
                     struct tree_sides *sides, struct result *result, struct tpa_error *err);
void tree_sides_release(struct tree_sides *sides);

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

/*
 * Check DIFF against the gates as typed; adds the table "gates" (report/cases.h) to RESULT. UNSURE_FAILS: unjudged
 * checks fail as well. IGNORED: what the recordings may lack, a set of enum lacks. False and ERR if a gate is invalid, or about data that the sides do not have.
 */
bool gates_check(const struct diff *diff, const struct opt_list *gates, bool unsure_fails, unsigned ignored,
                 struct result *result, enum gates_outcome *outcome, struct tpa_error *err);

/* The tables that may be added, for `tpa help`; ends in { 0 }. */
extern const struct table_shape gates_tables[];

/* memory_snapshot.c - `tpa memory` and `tpa summary` for snapshots of the allocator instead of traces. */

struct memory_snapshot_query {
    const char *at; /* NULL: the peak */
    enum alive_by by;
    bool segments;
    struct ranges devices;
};

/* Print the results for the snapshots in INGESTED. Returns the exit code. */
int memory_of_snapshots(const struct ingested *ingested, const struct memory_snapshot_query *query,
                        const struct output_args *output, struct tpa_error *err);

/* One screen of results: the first out-of-memory error of each device, or else its peak, the lines with the most
 * memory, and leaks. */
int summary_of_snapshots(const struct ingested *ingested, const struct ranges *devices,
                         const struct output_args *output, struct tpa_error *err);

/* forecast_files.c - the operands of a forecast: recordings of a job with their sizes, "a.pickle@batch=16". */

/* Read the operands of CALL into QUERY. False and ERR if one cannot be read, has no size, or recorded no memory. */
bool forecast_files_read(const struct invocation *call, const struct load_args *load,
                         struct forecast_query *query, struct tpa_error *err);

/* Does the name of each operand of CALL end in sizes? */
bool forecast_files_are_sized(const struct invocation *call);

/*
 * pstats_text.c - print a profile byte for byte as Python's pstats does, for --format pstats.
 *
 * The text is that of CPython 3.6 to 3.14: print_stats(), print_callers() and print_callees() of
 * pstats.Stats(FILE, ...).sort_stats(KEY, ...), restricted in the order of struct profile_restriction.
 */

enum pstats_report { PSTATS_STATS, PSTATS_CALLERS, PSTATS_CALLEES };

/* Write the report on the functions of VIEW, which was sorted by SORT. False and ERR on failure. */
bool pstats_text_print(enum pstats_report report, const struct profile *profile,
                       const struct profile_view *view, const struct profile_sort *sort, FILE *out,
                       struct tpa_error *err);

/*
 * profile_report.c - `tpa top`, `callers` and `callees` for a Python profile or a report on actions instead of a trace.
 *
 *     if (ingested.profile)
 *         return profile_report(PSTATS_STATS, &ingested, &query, &args->output, err);
 */

/* The limit among the output options is on functions, not on rows. Zero-initialised: all, by tottime. */
struct profile_query {
    const char *sort; /* as profile_sort_parse; NULL: by tottime, or in pstats' text the order of the file */
    bool reverse;
    const char *filter, *exclude; /* regular expressions over "file:line(name)" */
    bool strip_dirs;
};

/* Print the profile in INGESTED, as text of pstats or according to OUTPUT. Returns the exit code. */
int profile_report(enum pstats_report report, struct ingested *ingested, const struct profile_query *query,
                   const struct output_args *output, struct tpa_error *err);

/* Print the actions in INGESTED. Returns the exit code. */
int actions_report(const struct ingested *ingested, const struct profile_query *query,
                   const struct output_args *output, struct tpa_error *err);

/* The printer of --format pstats; and was it selected? */
extern const struct printer profile_pstats_text;
bool profile_wants_pstats(const struct output_args *output);

/*
 * run_program.c - run a program unaffected by tpa, and receive its reports in the meantime.
 *
 *     struct program_end end;
 *     if (!run_program(argv, environment, fifo, take_line, context, &end, err))
 *         return ...
 *     ...
 *     return program_exit(&end);
 *
 * The program has our terminal, our standard streams and our process group. Signals for it that reach us are forwarded;
 * it decides how to handle them.
 */

/* How a program ended. */
struct program_end {
    int exit_code; /* if signal is 0; 127: program not found, 126: it cannot be run */
    int signal;
};

/* A line of the fifo, without its end; may be changed. */
typedef void take_line_function(void *context, char *line);

/*
 * Run ARGV (NULL after the last word) until it ends, and pass each line written to the fifo at path FIFO (NULL: none)
 * to TAKE_LINE. False and ERR if no process could be created. A missing program is not an error here: it is reported on
 * stderr as by a shell, with 127 in END.
 */
bool run_program(char *const *argv, const char *fifo, take_line_function *take_line, void *context,
                 struct program_end *end, struct tpa_error *err);

/* May NAME be run: is it a program on PATH, or at this path? */
bool program_is_found(const char *name);

/* The equivalent exit code; if the program was killed by a signal, kills this process with it, without a core dump. */
int program_exit(const struct program_end *end);

/* version information written by cmake/version.cmake with every build. */

extern const char version_commit[];   /* "commit 0123456789", with "-dirty" where files were changed since */
extern const char version_features[]; /* "zstd, PCRE2, SQLite 3.40.1, ISA-L, capture" */

#endif
