/*
 * measure.h - what one side of a comparison took, sample by sample: the figures that `tpa diff` compares and that a
 * history keeps.
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
 * A *sample* is one step (ProfilerStep#N of one file) or, where there are no steps, one file. Both samplings are taken,
 * because a side with steps may have to be compared with one that marks none. A *metric* is a figure of a whole sample
 * ("step time"); a *row* one of a name in it ("aten::mm").
 *
 * Times are doubles of nanoseconds here, for statistics, and exact up to 104 days.
 */
#ifndef TPA_COMPARE_MEASURE_H
#define TPA_COMPARE_MEASURE_H

#include "base/arena.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/names.h"
#include "base/result.h"
#include "fleet/facts.h"
#include "trace/actions.h"
#include "trace/profile.h"
#include "trace/snapshot.h"
#include "trace/trace.h"

/* Where a value was taken. */
struct measure_sample {
    uint32_t part; /* which call of measure_*: the place of the file, or directory, on its side */
    uint32_t file; /* among those of the part */
    int64_t rank;  /* of the file; its place in the part where it tells none */
    int64_t step;  /* N of ProfilerStep#N; -1 when the sample is a file */
};

/* A figure of whole samples. */
struct measure_metric {
    const char *key;       /* "step_time": stable, for scripts and stores */
    const char *title;     /* "step time" */
    enum table_kind kind;  /* TABLE_NS, TABLE_BYTES, TABLE_SHARE, TABLE_COUNT: its unit */
    VEC_OF(double) values; /* by sample; NAN where the sample has none */
    double whole; /* of all samples together, when it is not their mean: the peak of memory. Else NAN */
};

/* One row in one sample. */
struct measure_value {
    name_id row;
    uint32_t sample;
    double value, calls;
};

/* Rows of one kind, say kernels. A row has the value 0 in the samples that are not listed. */
struct measure_rows {
    const char *key;      /* "operators", "kernels": stable */
    const char *title;    /* "Time on the host, by operator" */
    enum table_kind kind; /* of the values */
    bool may_be_renamed;  /* names hold what a compiler made: see kernel_pairs.h */
    struct names *names;
    VEC_OF(struct measure_value) values; /* by row and sample once finished, one for each pair */
    bool only_listed;                    /* samples that are not listed are missing, not 0 */
    bool alone;                          /* the rows are not parts of a figure of whole samples */
};

/* All that was taken in samples of one kind. */
struct sampling {
    const char *unit; /* what a sample is: "step", "file", "profile" */
    VEC_OF(struct measure_sample) samples;
    VEC_OF(struct measure_metric) metrics;
    struct names *keys; /* of the metrics, whose places are their ids; NULL: there is none */
    VEC_OF(struct measure_rows *) tables;
};

/* What a side says about itself: GPU, versions, how it was recorded. */
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
    double figure; /* how slow: pace against the others; of who holds the job up, the share of the waiting */
};

/* A block in use at the end of a memory snapshot; texts are in measures->block_texts. */
struct measure_block {
    uint32_t device;
    uint64_t addr;
    int64_t bytes;
    name_id stack, line; /* stack NAME_NONE: not recorded */
};

struct measures {
    enum measure_source source;
    struct sampling by_step, by_file;
    struct sampling by_rank; /* metrics and rows of a fleet that are one figure for each rank */
    VEC_OF(struct measure_slow) slow;
    size_t parts, files;
    size_t files_without_steps;
    size_t files_unread; /* found in a directory and not to be read, or without events: each may be a rank */
    const char *why_unread; /* of the first of them; NULL: none */
    const char *schema;     /* of saved results: "tpa.top/1"; else NULL */
    bool has_gpu;
    VEC_OF(int64_t) ranks; /* of the files that say theirs; once finished in order, each once */
    int64_t world_size;    /* ranks of the job; 0: not recorded */
    VEC_OF(struct measure_fact) facts;
    struct names *facts_said;            /* key and value of each, until all is taken */
    VEC_OF(struct measure_block) blocks; /* of memory snapshots */
    struct names *block_texts;           /* NULL: none */
    struct arena arena;                  /* owns the texts */
};

/* What makes a row. */
enum measure_by {
    MEASURE_BY_OPERATOR, /* operators by time on the host, and kernels by time on the device */
    MEASURE_BY_SHAPE,    /* operators and the shapes of their inputs */
    MEASURE_BY_KERNEL,   /* kernels, copies, memsets */
    MEASURE_BY_NAME,     /* whatever has a name, on the host and on devices, each from start to end */
    MEASURE_BY_CATEGORY,
    MEASURE_BY_STEP, /* step 3 with step 3 */
    MEASURE_BY_MODULE,
    MEASURE_BY_THREAD,
    MEASURE_BY_STREAM,
    MEASURE_BY_DEVICE,
};

struct measure_options {
    enum measure_by by;
    bool inclusive;  /* times of operators with what they called */
    bool first_step; /* only the step with the lowest number of each file */
};

/* ---- taking ---- */

/* New; free with measures_free (NULL is allowed). */
struct measures *measures_open(void);
void measures_free(struct measures *measures);

/* What the reader of a trace must decode. */
struct trace_wants measure_wants(const struct measure_options *options);

/*
 * Add a part to MEASURES. Nothing is borrowed from it. All parts must be of one kind: false and ERR when they are not,
 * or when the part lacks what OPTIONS request.
 */
bool measure_trace(struct measures *measures, const struct trace *trace,
                   const struct measure_options *options, struct tpa_error *err);
bool measure_profile(struct measures *measures, const struct profile *profile,
                     const struct measure_options *options, struct tpa_error *err);
bool measure_actions(struct measures *measures, const struct action_report *report, struct tpa_error *err);
bool measure_snapshots(struct measures *measures, const struct snapshots *snapshots, struct tpa_error *err);
bool measure_result(struct measures *measures, const struct result *result, struct tpa_error *err);

/* As these, of a job of many ranks. UNREAD files cannot be read, the first for WHY. Steps of the job are samples; names
 * have the median of their runs, by rank. */
bool measure_fleet(struct measures *measures, const struct facts *facts, size_t unread, const char *why,
                   struct tpa_error *err);

/*
 * As measure_result, of what the command that SAVED came from answers about a file: so that can be compared with a
 * saved result. False and ERR when that command cannot be asked the same again.
 */
bool measure_trace_like(struct measures *measures, const struct trace *trace, const struct result *saved,
                        struct tpa_error *err);
bool measure_profile_like(struct measures *measures, const struct profile *profile,
                          const struct result *saved, struct tpa_error *err);
bool measure_actions_like(struct measures *measures, const struct action_report *report,
                          const struct result *saved, struct tpa_error *err);

/* What the reader must decode for that. */
struct trace_wants measure_wants_like(const char *schema);

/* To be called once, when all parts are in: puts the values in order. */
void measures_finish(struct measures *measures);

/* ---- looking ---- */

/* The samples to judge by: steps, when every file has some; else files. */
const struct sampling *measures_sampling(const struct measures *measures);

/* The metric or rows called KEY; NULL when there are none. */
struct measure_metric *sampling_metric(const struct sampling *sampling, const char *key);
struct measure_rows *sampling_rows(const struct sampling *sampling, const char *key);

/* What the fact "gpu" is where the recording does not name it. */
#define MEASURE_UNKNOWN_GPU "unknown GPU"

/* The fact KEY of the side; NULL if there is none. */
const char *measures_fact(const struct measures *measures, const char *key);

/* How many ranks of the job are missing from the files, as far as these say how many there are; 0: none. */
int64_t measures_missing_ranks(const struct measures *measures);

/* "step 3", "rank 1, step 3", "file 2": SAMPLE, as people read it. */
void measure_sample_text(const struct measures *measures, const struct measure_sample *sample,
                         struct buffer *out);

/* ---- for those who take ---- */

/* Begin a part of the given sort. */
bool measures_part(struct measures *measures, enum measure_source source, struct tpa_error *err);

/* "a trace", "a job of many ranks". */
const char *measure_source_name(enum measure_source source);

/* A new sample; its number. */
uint32_t sampling_add(struct sampling *sampling, const struct measure_sample *sample);

/* Set a metric, which comes into being with its first value. KEY and TITLE are literals. */
void sampling_set(struct sampling *sampling, const char *key, const char *title, enum table_kind kind,
                  uint32_t sample, double value);

/* The rows called KEY, made where there are none. */
struct measure_rows *sampling_open_rows(struct sampling *sampling, const char *key, const char *title,
                                        enum table_kind kind);

/* Add VALUE to what the row called NAME has in SAMPLE. */
void measure_rows_add(struct measure_rows *rows, const char *name, size_t len, uint32_t sample, double value,
                      double calls);

/* Note that the side says VALUE (LEN bytes, copied) of KEY. */
void measures_add_fact(struct measures *measures, const char *key, const char *title, const char *value,
                       size_t len);

#endif
