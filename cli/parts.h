/* parts.h - what commands share. */
#ifndef TPA_CLI_PARTS_H
#define TPA_CLI_PARTS_H

#include "cli/load.h"
#include "cli/output.h"
#include "memory/allocator_history.h"
#include "memory/forecast/forecast.h"
#include "profile/view.h"
#include "view/spans.h"

/* cmd_report.c - the page of `tpa report`, for a command that compares it with another. */

/* Write the page that `tpa report` makes of COUNT TRACES without options but those of LOAD. False and ERR on failure. */
bool report_page(char **traces, size_t count, const struct load_args *load, FILE *into,
                 struct tpa_error *err);

/* view_findings.c - what tpa summary finds, and where it is. */

/* Append the findings for RANGE, as --range has it (NULL: for all), with the places of SPANS, whose trace has all of summary_wants: an array
 * of JSON. What is derived of the trace for them is freed again. False and ERR if there can be none. */
bool view_add_findings(const struct view_spans *spans, const char *range, struct buffer *out,
                       struct tpa_error *err);

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
 *         return profile_report(call, PSTATS_STATS, &ingested, &query, &args->output, err);
 */

/* The limit among the output options is on functions, not on rows. Zero-initialised: all, by tottime. */
struct profile_query {
    const char *sort; /* as profile_sort_parse; NULL: by tottime, or in pstats' text the order of the file */
    bool reverse;
    const char *filter, *exclude; /* regular expressions over "file:line(name)" */
    bool strip_dirs;
    bool by_device; /* a row for each device of a kernel or scope */
};

/* Print the profile in INGESTED, as text of pstats or according to OUTPUT. Returns the exit code. */
int profile_report(const struct invocation *call, enum pstats_report report, struct ingested *ingested,
                   const struct profile_query *query, const struct output_args *output,
                   struct tpa_error *err);

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

/* Run ARGV (NULL after the last word) until it ends, and pass each line written to the fifo at path FIFO (NULL: none)
 * to TAKE_LINE. False and ERR if no process could be created. A missing program is not an error here: it is reported on
 * stderr as by a shell, with 127 in END. */
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
