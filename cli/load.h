/*
 * load.h - reading the traces of a command: the shared options, reading, and notices about it.
 *
 *     struct top_args { struct load_args load; ... };
 *     static const struct top_args top_defaults = { .load = LOAD_DEFAULTS };
 *     static const struct opt top_opts[] = { ..., LOAD_OPTIONS(struct top_args, load), OPT_END };
 *
 *     struct trace *trace = load_traces(call, &args->load, &wants, err);
 *     if (trace == NULL)
 *         return EXIT_TROUBLE;
 *     struct result *result = result_open("tpa.top/1");
 *     ...
 *     load_add_notices(trace, result);
 */
#ifndef TPA_CLI_LOAD_H
#define TPA_CLI_LOAD_H

#include "analyze/selection.h"
#include "cli/command.h"
#include "ingest/formats.h"

struct load_args {
    struct opt_list captures; /* --capture: traces of the captures of graphs */
    uint64_t jobs;            /* 0: one per CPU */
    uint64_t max_ratio;       /* 0: no limit */
    const char *step_range;   /* NULL: not given */
    int files_are;            /* enum trace_files_are */
    bool infer_steps;
    bool progress;
    bool strict;  /* fail if a file is not complete */
    bool results; /* not an option: set by commands that also accept saved results */
};
/* Bound the results by --max-ratio times the inputs that were read; above 256 MiB. See report/output.h. */
void load_bound_results(uint64_t max_ratio);

/* The values of --as. */
extern const struct opt_choice load_files_are[];

/* clang-format off */
#define LOAD_DEFAULTS { .max_ratio = SOURCE_DEFAULT_MAX_RATIO, .infer_steps = true, .progress = true }

#define LOAD_OPTIONS(T, field) \
    OPT_GROUP("Input"), \
    OPT_TEXT(0, "step-range", T, field.step_range, "REGEX", STEP_RANGE_HELP), \
    OPT_FLAG(0, "infer-steps", T, field.infer_steps, "without marked steps there are none: infer none from what repeats"), \
    OPT_CHOICE(0, "as", T, field.files_are, load_files_are, "WHAT", "what several files are together"), \
    LOAD_OPTIONS_OF_ALL(T, field, "work with N threads; without it one per CPU")

/* For commands that read each file by itself. */
#define LOAD_OPTIONS_APART(T, field) \
    OPT_GROUP("Input"), \
    OPT_TEXT(0, "step-range", T, field.step_range, "REGEX", STEP_RANGE_HELP), \
    LOAD_OPTIONS_OF_ALL(T, field, "read N files at once; without it one per CPU")

#define LOAD_OPTIONS_OF_ALL(T, field, jobs_help) \
    OPT_COUNT('j', "jobs", T, field.jobs, 1, 1024, "N", jobs_help), \
    OPT_COUNT(0, "max-ratio", T, field.max_ratio, 0, INT64_MAX, "N", \
              "give up on a file that inflates to more than N times its size; 0 never does"), \
    OPT_FLAG(0, "strict", T, field.strict, STRICT_HELP), \
    OPT_FLAG(0, "progress", T, field.progress, "show no progress on the terminal while reading")

#define STEP_RANGE_HELP "annotations and NVTX ranges that match REGEX are the steps, instead of ProfilerStep#N"

#define STRICT_HELP "fail if a file is cut short, damaged or unreadable, or if its profiler lost records"

#define SELECTION_STEPS_HELP \
    "only these steps (ProfilerStep#N): 3..7, 3.., or 1,4; device work belongs to the step that launched it"
#define SELECTION_RANGE_HELP \
    "only this time from the beginning of the trace: 1.5s..2s, 10ms..; or the annotations or operators of this name; " \
    "device work counts where it was launched"

/* Options for a part of the traces: fill a struct selection_query, for selection_open. */
#define SELECTION_OPTIONS(T, field) \
    OPT_GROUP("Selection"), \
    OPT_TEXT('F', "filter", T, field.filter, "REGEX", "only names that match REGEX (Perl syntax)"), \
    OPT_TEXT('x', "exclude", T, field.exclude, "REGEX", "no names that match REGEX"), \
    OPT_RANGES(0, "steps", T, field.steps, "A..B", SELECTION_STEPS_HELP), \
    OPT_TEXT(0, "range", T, field.range, "A..B", SELECTION_RANGE_HELP), \
    OPT_RANGES(0, "device", T, field.devices, "N", "only these devices; what runs on the host stays"), \
    OPT_RANGES(0, "stream", T, field.streams, "N", "only these streams; what runs on the host stays"), \
    OPT_RANGES(0, "rank", T, field.ranks, "N", "only the files of these ranks")
/* clang-format on */

/* For commands whose rows are operators, shapes or modules of device work. T: the command's arguments, FIELD: its
 * load_args. */
#define CAPTURE_OPTION(T, field)                                                                                              \
    OPT_FILES(                                                                                                                \
        0, "capture", T, field.captures, "FILE",                                                                              \
        "operations of CUDA and HIP graphs get operator, shapes and module of what a trace of the capture, or an eager one, " \
        "launched in the same order; up to the next option")

/* Read the operands of CALL into one trace. New; free with trace_free. NULL and ERR if that fails. */
struct trace *load_traces(const struct invocation *call, const struct load_args *args,
                          const struct trace_wants *wants, struct tpa_error *err);

/* As load_traces, for a command that also accepts profiles and reports. False and ERR if that fails. Call
 * ingested_free(INGESTED) afterwards. */
bool load_any(const struct invocation *call, const struct load_args *args, const struct trace_wants *wants,
              struct ingested *ingested, struct tpa_error *err);

/* As load_any, but each trace is passed to VISIT as soon as it is read, and freed before the next is read. The trace of
 * INGESTED then has no files, only notices about all of them. */
bool load_each(const struct invocation *call, const struct load_args *args, const struct trace_wants *wants,
               ingest_visit *visit, void *context, struct ingested *ingested, struct tpa_error *err);

/* From now on keep the last trace that was read, for the next command that reads the same files in the same way; all is read
 * that any command may want. PROGRESS (or NULL) is told how far reading is. */
void load_keep(void (*progress)(int64_t done, int64_t total));

/* Is the kept trace that of the COUNT OPERANDS, read without options? */
bool load_keeps(char *const *operands, size_t count);

/* Add notices about the traces to RESULT. Call when the result is complete. */
void load_add_notices(const struct trace *trace, struct result *result);

/* Say that RESULT cannot answer if TRACE holds nothing at all; returns whether that is so. */
bool load_cannot_if_empty(const struct trace *trace, struct result *result);

/* Add the notices about what a profile, a report or a saved result in INGESTED lacks (base/lacks.h) to RESULT: commands
 * that compare do not add their other notices. */
void load_add_lacks(const struct ingested *ingested, struct result *result);

/* The first of the lacks in RESULT as an error, for --strict. Returns false. */
bool load_fail_strict(const struct result *result, struct tpa_error *err);

/* Replace equal notices of many files by one, at the position of the first. */
void load_gather_notices(struct result *result);

#endif
