/* latency.h - latency of requests, of their phases, and what the devices do in them. */
#ifndef TPA_ANALYZE_LATENCY_LATENCY_H
#define TPA_ANALYZE_LATENCY_LATENCY_H

#include "derive/gpu_events.h"
#include "derive/serving_names.h"
#include "analyze/analysis.h"

/*
 * activity.c - what a stretch of time on a thread went to: what the devices did, and while they were idle the thread.
 *
 *     struct activity *activity = activity_open(trace);
 *     int64_t parts_ns[LATENCY_PARTS];
 *     activity_parts(activity, thread, start_ns, end_ns, parts_ns);     // they add up to end_ns - start_ns
 *     arena_free(activity);
 *
 * A question costs a few searches, however long the stretch is, and little when it is near the one before: ask in the
 * order of time.
 */

/*
 * What a moment of a range goes to: the first that was going on. They add up to the range. A row holds all that is known of a
 * part; from WAITING on the devices are idle and it is what the thread of the range does, an enum host_activity each:
 *
 *     id, word in sentences, key, title and help of its column
 */
/* clang-format off */
#define LATENCY_PART_ROWS(ROW) \
    ROW(COMPUTATION, "computation", "computation", "Computation", "of busy: a device computed") \
    ROW(COMMUNICATION, "communication", "communication", "Comm.", "of busy: else a device communicated") \
    ROW(COPIES, "copies", "copies", "Copies", "of busy: else a device copied") \
    ROW(WAITING, "waiting", "waiting", "Waiting", "of idle: the thread was in a synchronisation or a blocking copy") \
    ROW(ALLOCATION, "allocation", "allocation", "Allocation", "of idle: it allocated or freed memory") \
    ROW(DATA_LOADING, "data loading", "data_loading", "Data loading", "of idle: it waited for the next batch") \
    ROW(HOST_COMMUNICATION, "collectives", "collectives", "Collectives", "of idle: it was in an operator that communicates") \
    ROW(HOST, "host", "host", "Host", "of idle: anything else, such as Python, operators, launches")
/* clang-format on */

#define LATENCY_PART_ID(id, ...) LATENCY_##id,
enum latency_part { LATENCY_PART_ROWS(LATENCY_PART_ID) LATENCY_PARTS };

/* "computation", "waiting" ...: as in tables. */
const char *latency_part_name(enum latency_part part);

/* A set of moments whose time before a moment is known by a search. */
struct timed_set {
    struct intervals set;
    int64_t *before_ns; /* what counts of the intervals before each, and one more */
    size_t near;        /* where was searched last */
};

/* What the devices of a file do, and what each thread does while they are idle. */
struct activity {
    const struct trace *trace;
    const struct gpu_events *gpu;
    struct timed_set (*of_file)[3]; /* by file and part: computation, communication, copies; disjoint */
    bool *has_work;                 /* by file */
    struct timed_set **of_thread;   /* by track: from LATENCY_WAITING on; NULL: not requested yet */
    /* Operations by the thread and the start of the call that launched them: */
    uint32_t *operations;   /* positions in gpu_events */
    int64_t *operations_ns; /* their durations before every 16th */
    size_t *first;          /* by track, and one more */
    size_t near[2];         /* where was searched last for the first of a range and for the end */
};

/* New; free with arena_free. */
struct activity *activity_open(const struct trace *trace);

/* The parts of [START, END) on THREAD; they add up to its length. */
void activity_parts(struct activity *activity, track_id thread, int64_t start_ns, int64_t end_ns,
                    int64_t parts_ns[LATENCY_PARTS]);

/* The operations launched within [START, END) on THREAD are those from *FIRST up to the one returned. */
size_t activity_operations(struct activity *activity, track_id thread, int64_t start_ns, int64_t end_ns,
                           size_t *first);

/* How long the operations before place I of activity->works ran, each counted for itself. */
int64_t activity_operations_ns(const struct activity *activity, size_t i);

/*
 * phases.c - steps of serving engines by phase and batch size: prefill, decode, mixed.
 *
 *     struct phases phases = { 0 };
 *     phases_find(&phases, activity, selection, group);
 *     ...
 */

/* Steps of a serving engine, of one phase or of one phase and batch size. */
struct phase_row {
    struct group_key key;
    struct text phase;
    int64_t steps, batch;                 /* batch: requests of a step; missing in rows of all */
    int64_t requests, tokens;             /* missing where the name of a step lacks them */
    int64_t wall_ns, busy_ns, idle_ns;    /* busy and idle are missing where the file has no work */
    double tokens_per_second, mean_batch; /* NaN: unknown */
    int64_t least_batch, most_batch;
    int64_t step_ns, token_ns; /* wall time of a step, and of a token */
};

/* The step that stands for the others: of the phase that takes longest, that of median length. */
struct phase_example {
    event_id event;    /* its annotation */
    const char *phase; /* "decode"; NULL: there are no steps */
    int64_t requests;
    int64_t start_ns, end_ns; /* with the work that it launched */
};

struct phases {
    VEC_OF(struct phase_row) all, batches; /* a row for each phase; for each phase and batch size */
    struct phase_example example;
};

/* Add the rows of the annotations in SELECTION that mark steps, by GROUP. Texts are borrowed from GROUP. */
void phases_find(struct phases *phases, struct activity *activity, const struct selection *selection,
                 struct group *group);

/*
 * latency.c - how long each thing that happens again and again takes: annotations, NVTX ranges, steps, requests.
 *
 *     const struct latency *latency = latency_analyze(trace, selection, 0, &latency_defaults, &err);
 *     for (size_t i = 0; i < latency->rows.count; i++)
 *         printf("%s %" PRId64 "\n", latency->rows.at[i].name.at, latency->rows.at[i].p99_ns);
 *     arena_free(latency);
 *
 * A row is a name; names that differ only in numbers are one, which has '*' for each number. docs/definitions.md has the
 * definitions for users.
 */

extern const struct trace_wants latency_wants;

/* One range; of an inferred step, which is none, EVENT is its first event. */
struct latency_range {
    event_id event;
    uint32_t row;
    int64_t start_ns, duration_ns;
};

struct latency_row {
    struct group_key key;
    struct text name; /* with '*' for numbers */
    int64_t count, total_ns, mean_ns, stddev_ns, min_ns, p50_ns, p90_ns, p95_ns, p99_ns, max_ns;
    int64_t busy_ns, idle_ns;       /* of the devices of the file, added up; missing where it has none */
    int64_t operations, work_ns;    /* launched within, on the thread of the range; missing as above */
    int64_t part_ns[LATENCY_PARTS]; /* added up; missing as above */
    int64_t outliers;
    bool inferred; /* of steps that no range marks */
    size_t first;  /* of latency.ranges: those of the row, the shortest first */
};

/* A range that took far longer than others of its row. */
struct latency_outlier {
    int64_t rank, cycle, start_ns, duration_ns; /* cycle: missing if no rank has several */
    struct text thread, name;                   /* name as in the file */
    int64_t median_ns, longer_ns;
    struct text part; /* what is most above its median over the row; missing when nothing is */
    int64_t grew_ns;  /* by how much */
    int64_t operations, median_operations; /* launched within */
};

/* Ranges of a row whose duration lies in [FROM, TO). */
struct latency_bar {
    struct group_key key;
    struct text name;
    int64_t from_ns, to_ns, count;
    double share;
};

struct latency_options {
    const char *
        name; /* ranges that match this regular expression, operators and others among them; NULL: annotations */
    bool exact; /* names that differ in numbers are different */
    bool histogram;
    int64_t least; /* ranges of a row */
};

extern const struct latency_options latency_defaults;

struct latency {
    VEC_OF(struct latency_row) rows;         /* the most time first */
    VEC_OF(struct latency_range) ranges;     /* row after row, by duration */
    VEC_OF(struct latency_outlier) outliers; /* what is furthest above the median first */
    VEC_OF(struct latency_bar) bars;
    struct phases serving;
    int64_t open;   /* ranges left out: open when recording stopped */
    int64_t single; /* ranges of names that come less than LEAST times */
    unsigned by;
    struct group *group;
};

/* NULL and ERR when the name is not a regular expression. BY is a set of dimensions. Texts are borrowed from TRACE and the
 * result. Give back with arena_free (NULL is allowed): of all of TRACE, by nothing and with latency_defaults, it is computed
 * once and kept with TRACE. */
const struct latency *latency_analyze(const struct trace *trace, const struct selection *selection,
                                      unsigned by, const struct latency_options *options,
                                      struct tpa_error *err);

/* The name of RANGE, of ROW, as in the file; of an inferred step "inferred [step 3]". Lives as long as TRACE. */
struct text latency_name_of(const struct trace *trace, const struct latency_row *row,
                            const struct latency_range *range);

#endif
