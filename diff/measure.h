/*
 * measure.h - the measurements of one side of a comparison, by sample: the figures that `tpa diff` compares and a
 * history stores.
 *
 *     struct measures *side = measures_open();
 *     struct trace *trace = ingest_read(..., .wants = measure_wants(&options), ...);
 *     if (!measure_trace(side, trace, &options, &err))     // one call per file, or per directory of ranks
 *         ...
 *     trace_free(trace);                                   // nothing is borrowed from it
 *     measures_finish(side);
 *     const struct sampling *by = measures_sampling(side);
 *     for (size_t m = 0; m < by->metrics.count; m++)
 *         printf("%s: %zu values\n", by->metrics.at[m].title, by->metrics.at[m].values.count);
 *
 * A *sample* is one step (ProfilerStep#N of one file) or, without steps, one file. Both samplings are made, because a
 * side with steps may be compared with one without. A *metric* is a figure of a whole sample ("step time"); a *row* is
 * a figure of a name in it ("aten::mm").
 *
 * Times are doubles of nanoseconds here, for statistics, and exact up to 104 days.
 */
#ifndef TPA_DIFF_MEASURE_H
#define TPA_DIFF_MEASURE_H

#include "analyze/account.h"
#include "derive/file_set.h"
#include "figures/facts.h"
#include "trace/actions.h"
#include "trace/profile.h"
#include "trace/snapshot.h"

/* The origin of a value. */
struct measure_sample {
    uint32_t part;    /* index of the measure_* call, that is of the file or directory on its side */
    uint32_t file;    /* index within the part */
    int64_t rank;     /* of the file; if not recorded, the index within the part */
    int64_t step;     /* N of ProfilerStep#N; -1 if the sample is a file */
    size_t period;    /* the steps of its rank repeat after so many; 0: unknown */
    uint32_t process; /* that was recorded, from 1, once finished: its cycles are one run; 0: unknown */
};

/* A figure of whole samples. */
struct measure_metric {
    const char *key;       /* "step_time": stable, for scripts and stores */
    const char *title;     /* "step time" */
    enum table_kind kind;  /* TABLE_NS, TABLE_BYTES, TABLE_SHARE, TABLE_COUNT: its unit */
    VEC_OF(double) values; /* by sample; NAN if missing */
    double whole; /* of all samples together, if that is not their mean, such as a peak of memory; else NAN */
};

/* One row in one sample. */
struct measure_value {
    name_id row;
    uint32_t sample;
    double value, calls;
};

/* Rows of one kind, such as kernels. A row has the value 0 in the samples that are not listed. */
struct measure_rows {
    const char *key;      /* "operators", "kernels": stable */
    const char *title;    /* "Time on the host, by operator" */
    enum table_kind kind; /* of the values */
    bool may_be_renamed;  /* names contain parts made by a compiler: see renames.h */
    struct names *names;
    VEC_OF(struct measure_value) values; /* sorted by row and sample once finished, one for each pair */
    bool only_listed;                    /* samples that are not listed are missing, not 0 */
    bool alone;                          /* the rows are not parts of a figure of whole samples */
};

/* All measurements in samples of one kind. */
struct sampling {
    const char *unit; /* unit of a sample: "step", "file", "profile" */
    bool of_ranks;    /* the samples are the ranks of one run */
    VEC_OF(struct measure_sample) samples;
    VEC_OF(struct measure_metric) metrics;
    struct names *keys; /* keys of the metrics, which are indexed by id; NULL: none */
    VEC_OF(struct measure_rows *) tables;
};

/* A fact recorded about a side: GPU, versions, recording settings. */
struct measure_fact {
    const char *key, *title; /* "gpu", "GPU" */
    const char *value;       /* of all parts; several values are joined by ", " */
};

enum measure_source {
    MEASURE_NOTHING,
    MEASURE_TRACES,
    MEASURE_PROFILES,
    MEASURE_ACTIONS,
    MEASURE_RESULTS,
    MEASURE_SNAPSHOTS,
    MEASURE_FLEETS
};

/* A rank, host or link of a fleet that is slow. */
struct measure_slow {
    const char *what, *trouble; /* "rank 12", "slow GPU" */
    /* pace relative to the others; for ranks that hold up the job, their share of the waiting */
    double figure;
};

/* A block in use at the end of a memory snapshot; texts are in measures->block_texts. */
struct measure_block {
    uint32_t device;
    uint64_t addr;
    int64_t bytes;
    name_id stack, line; /* stack NAME_NONE: not recorded */
};

/* The time of a kernel that an operator launches. */
struct measure_launcher {
    const char *kernel, *op;
    int64_t time_ns;
};

struct measures {
    enum measure_source source;
    struct sampling by_step, by_file;
    struct sampling by_rank; /* metrics and rows of a fleet with one value per rank */
    VEC_OF(struct measure_slow) slow;
    size_t parts, files;
    size_t files_without_steps;
    size_t files_unread;    /* files of a directory that cannot be read, or are empty: each may be a rank */
    const char *why_unread; /* reason for the first; NULL: none */
    double part_share[ACCOUNT_PARTS]; /* parts of a step, each summed over the runs as a share of it */
    size_t accounts;                  /* runs in PART_SHARE */
    bool has_absolute_times;          /* of any file: */
    int64_t start_ns, end_ns;         /* from the first begin to the last end, since 1970 */
    const char *schema;               /* of saved results: "tpa.top/1"; NULL for others */
    unsigned lacks;                   /* what the recordings lack: a set of enum lacks (base/lacks.h) */
    bool has_gpu;
    VEC_OF(int64_t) ranks;             /* recorded ranks of the files; once finished, sorted and unique */
    int64_t world_size;                /* ranks of the job; 0: not recorded */
    VEC_OF(struct set_record) records; /* where the files of traces come from */
    VEC_OF(size_t) first_record;       /* by part: of its first file */
    struct names *seen;                /* what files hold: measures_hold */
    struct rank_step_list steps;       /* marked ones; their source is the record of the file */
    struct rank_steps lacking; /* once finished: ranks in files of their own that lack steps of the others */
    VEC_OF(struct measure_fact) facts;
    struct names *facts_said; /* key and value of each fact, until finished */
    VEC_OF(struct measure_launcher)
    launchers;                           /* once finished, of each kernel the one of most time, by its name */
    VEC_OF(struct measure_block) blocks; /* of memory snapshots */
    struct names *block_texts;           /* NULL: none */
};

/* What rows are. */
enum measure_by {
    MEASURE_BY_OPERATOR, /* operators by time on the host, and kernels by time on the device */
    MEASURE_BY_SHAPE,    /* operators and the shapes of their inputs */
    MEASURE_BY_KERNEL,   /* kernels, copies, memsets */
    MEASURE_BY_NAME,     /* everything with a name, on the host and on devices, each from start to end */
    MEASURE_BY_CATEGORY,
    MEASURE_BY_STEP, /* rows are steps: step 3 is compared with step 3 */
    MEASURE_BY_MODULE,
    MEASURE_BY_THREAD,
    MEASURE_BY_STREAM,
    MEASURE_BY_DEVICE,
};

struct measure_options {
    enum measure_by by;
    bool inclusive;  /* times of operators include callees */
    bool first_step; /* only the step with the lowest number of each file */
};

/* ---- adding parts ---- */

/* New; free with arena_free (NULL is allowed). */
struct measures *measures_open(void);

/* The parts of a trace that its reader must decode. */
struct trace_wants measure_wants(const struct measure_options *options);

/* Add a part to MEASURES. Nothing is borrowed. All parts must be of one kind: false and ERR if not, or if the part
 * lacks data that OPTIONS require. */
bool measure_trace(struct measures *measures, const struct trace *trace,
                   const struct measure_options *options, struct tpa_error *err);
bool measure_profile(struct measures *measures, const struct profile *profile,
                     const struct measure_options *options, struct tpa_error *err);
bool measure_actions(struct measures *measures, const struct action_report *report, struct tpa_error *err);
bool measure_snapshots(struct measures *measures, const struct snapshots *snapshots, struct tpa_error *err);
bool measure_result(struct measures *measures, const struct result *result, struct tpa_error *err);

/* The same for a job of many ranks. UNREAD is the number of unreadable files, WHY the reason for the first. Samples are
 * steps of the job; the values of names are the medians of their runs, by rank. */
bool measure_fleet(struct measures *measures, const struct facts *facts, size_t unread, const char *why,
                   struct tpa_error *err);

/* As measure_result, for the result that the command of SAVED gives for a file, so that the file can be compared with a
 * saved result. False and ERR if that command cannot be repeated. */
bool measure_trace_like(struct measures *measures, const struct trace *trace, const struct result *saved,
                        struct tpa_error *err);
bool measure_profile_like(struct measures *measures, const struct profile *profile,
                          const struct result *saved, struct tpa_error *err);
bool measure_actions_like(struct measures *measures, const struct action_report *report,
                          const struct result *saved, struct tpa_error *err);

/* The parts of a trace that its reader must decode for that. */
struct trace_wants measure_wants_like(const char *schema);

/* Are all files of TRACE copies of files that this was called with before? */
bool measures_hold(struct measures *measures, const struct trace *trace);

/* Call once, after all parts are added: sorts the values, and finds what the files of a job lack that are parts of their own. */
void measures_finish(struct measures *measures);

/* Add a notice to RESULT for each rank that lacks steps of the others, in another part. Once finished. */
void measures_add_lacks(const struct measures *measures, struct result *result);

/* ---- reading ---- */

/* The samples to judge by: steps if every file has some; else files. */
const struct sampling *measures_sampling(const struct measures *measures);

/* The metric or rows called KEY; NULL if there are none. */
struct measure_metric *sampling_metric(const struct sampling *sampling, const char *key);
struct measure_rows *sampling_rows(const struct sampling *sampling, const char *key);

/* The value of the fact "gpu" if the recording does not name the GPU. */
#define MEASURE_UNKNOWN_GPU "unknown GPU"

/* The fact whether calls that launched work are recorded: its key, and its title. */
#define MEASURE_LAUNCHES "launches"
#define MEASURE_LAUNCHES_TITLE "recording of launches"

/* The fact KEY of the side; NULL if there is none. */
const char *measures_fact(const struct measures *measures, const char *key);

/* The operator that launches the most time of KERNEL; NULL if none is known. */
const char *measures_launcher(const struct measures *measures, const char *kernel);

/* Number of ranks of the job without a file; 0 if none or unknown. */
int64_t measures_missing_ranks(const struct measures *measures);

/* "step 3", "rank 1, step 3", "file 2": SAMPLE as text. */
void measure_sample_text(const struct measures *measures, const struct measure_sample *sample,
                         struct buffer *out);

/* ---- for code that adds parts ---- */

/* Begin a part of the given kind. */
bool measures_part(struct measures *measures, enum measure_source source, struct tpa_error *err);

/* "a trace", "a job of many ranks". */
const char *measure_source_name(enum measure_source source);

/* Add a sample. Returns its index. */
uint32_t sampling_add(struct sampling *sampling, const struct measure_sample *sample);

/* Set a metric, which is created with its first value. KEY and TITLE are literals. */
void sampling_set(struct sampling *sampling, const char *key, const char *title, enum table_kind kind,
                  uint32_t sample, double value);

/* The rows called KEY, created if missing. */
struct measure_rows *sampling_open_rows(struct sampling *sampling, const char *key, const char *title,
                                        enum table_kind kind);

/* Add VALUE to the row NAME in SAMPLE. */
void measure_rows_add(struct measure_rows *rows, const char *name, size_t len, uint32_t sample, double value,
                      double calls);

/* Record VALUE (LEN bytes, copied) for the fact KEY of the side. */
void measures_add_fact(struct measures *measures, const char *key, const char *title, const char *value,
                       size_t len);

#endif
