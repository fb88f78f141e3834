/*
 * convert.h - the formats that `tpa convert` can write: one row each.
 *
 * A form is one file beside this one and one row in cmd_convert.c.
 */
#ifndef TPA_CLI_CONVERT_H
#define TPA_CLI_CONVERT_H

#include "cli/load.h"

struct convert_files;

enum convert_time { CONVERT_CPU_TIME, CONVERT_GPU_TIME };

struct convert_args {
    int form; /* index into the forms, plus 1; 0: by the name of the output */
    const char *path;
    bool strip_dirs;
    int time;           /* enum convert_time: the time that stacks of a trace add up */
    bool critical_path; /* chrome, of a trace: mark it */
    bool merge;         /* forms that are timelines, of several ranks: correct their clocks */
    struct selection_query selection;
    double stack_share;
    struct load_args load;
};

struct convert_form {
    const char *name;   /* "folded" */
    const char *help;   /* one line for --help and docs */
    const char *ending; /* of file names that mean this form, separated by '|': ".json|.json.gz" */
    /* Write TRACE, which was read for WANTS, to OUT, and add to SUMMARY, for people, what was written and what was left
     * out. False and ERR if that is impossible; the caller checks for failed writes to OUT. NULL: this form is not for
     * traces. */
    bool (*write_trace)(const struct trace *trace, const struct convert_args *args, FILE *out,
                        struct buffer *summary, struct tpa_error *err);
    /* The same of several traces, which are in memory one at a time. May be NULL. */
    bool (*write_files)(struct convert_files *files, const struct convert_args *args, FILE *out,
                        struct buffer *summary, struct tpa_error *err);
    struct trace_wants wants; /* what write_trace needs besides names, times and tracks */
    /* The same of a PROFILE; SUMMARY says how accurate the output is. */
    bool (*write_profile)(const struct profile *profile, const struct convert_args *args, FILE *out,
                          struct buffer *summary, struct tpa_error *err);
    bool is_read;   /* tpa reads this form, and the output is read back before the file gets its name */
    bool check_all; /* flow arrows and counter samples come back one by one */
    /* The same of memory SNAPSHOTS; if NULL and write_trace is set, they are written as a trace: see as_trace.h. */
    bool (*write_snapshots)(const struct snapshots *snapshots, const struct convert_args *args, FILE *out,
                            struct buffer *summary, struct tpa_error *err);
    bool marks_path;              /* can add the critical path of a trace */
    bool no_snapshots;            /* the output of write_trace for them would be empty */
    bool is_timeline;             /* ranks share one axis of time */
    bool packs;                   /* the output may be packed: the endings may be followed by .gz and .zst */
    const char *next;             /* what to do with the file: a format with one %s, its path */
    const char *next_of_snapshot; /* the same where it was a memory snapshot; NULL: the same */
};

/* All data of a trace, for convert_form.wants. */
#define CONVERT_WANTS_ALL                                                                                    \
    {                                                                                                        \
        .args = UINT64_MAX >> (64 - ARG_COUNT), .flows = true, .counters = true, .programs = true            \
    }

/* The packing of the output, by the name of the file. */
enum source_packing convert_packing(const struct convert_args *args);

extern const struct convert_form convert_chrome, convert_tpa, convert_csv, convert_folded, convert_speedscope,
    convert_perfetto, convert_arrow, convert_sqlite;

#endif
