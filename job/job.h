/* job.h - the pipeline of a job. */
#ifndef TPA_JOB_JOB_H
#define TPA_JOB_JOB_H

#include "job/operations.h"

/*
 * graph.c - which operation of a job waits for which, and replays of it with other lengths.
 *
 *     struct job_graph *graph = graph_open(operations);
 *     double *step_ns = mem_zalloc(operations->steps.count, sizeof *step_ns);
 *     graph_replay(graph, graph->real_ns, step_ns, NULL);
 *     arena_free(graph);
 *
 * In a replay an operation begins as soon as all that it waits for ended, a message or collective when that is so for all who
 * take part. Lengths are means and medians of recorded ones, which are no whole nanoseconds: doubles, exact to 2^-10 ns within two hours.
 */

/* Operations that begin together: two ends of a message, a collective; or one that begins alone. */
struct gang {
    uint32_t first, count; /* of job_graph.member */
};

struct job_graph {
    const struct operations *all; /* borrowed */
    uint32_t *before_first;       /* by operation, and one more: of BEFORE */
    uint32_t *before;             /* the operations that it waits for */
    uint32_t
        *producer; /* by operation: the computation whose result it takes, on another rank; OPERATION_NONE */
    double *real_ns;           /* by operation: its length without waiting */
    VEC_OF(struct gang) gangs; /* each behind those that it waits for */
    uint32_t *member;
};

/* New; free with arena_free (NULL is allowed). ALL must live as long. */
struct job_graph *graph_open(const struct operations *all);

struct replayed {
    double start_ns, end_ns;
};

/* Replay all steps with LENGTH_NS, by operation. STEP_NS, by step, gets their lengths; TIMES, by operation, is optional. */
void graph_replay(const struct job_graph *graph, const double *length_ns, double *step_ns,
                  struct replayed *times);

/* ---- its parts ---- */

struct graph_edge {
    uint32_t op, before;
};

struct graph_edges {
    VEC_OF(struct graph_edge);
};

/* links.c: fill EDGES, and PRODUCER by operation. */
void links_find(const struct operations *all, struct graph_edges *edges, uint32_t *producer);

/* gangs.c: set GANG_OF, by operation; returns the number of gangs. */
uint32_t gangs_find(const struct operations *all, uint32_t *gang_of);

/*
 * job.c - what holds a parallel job up: slowdowns, the bubbles of its pipelines, and the cause.
 *
 *     struct job *job = job_of_trace(trace, &steps);
 *     printf("%g\n", job->whole.slowdown);
 *     arena_free(job);
 *
 * Times are in ns; means and results of replays are doubles. What is unknown is NaN, TABLE_INT_MISSING or a text without AT.
 */

enum job_cause {
    JOB_CAUSE_STAGE,
    JOB_CAUSE_WORKER,
    JOB_CAUSE_SEQUENCE,
    JOB_CAUSE_COMMUNICATION,
    JOB_CAUSE_DELAY,
    JOB_CAUSE_GC,
    JOB_CAUSES,
    JOB_CAUSE_NONE = JOB_CAUSES
};

enum job_bubble {
    BUBBLE_STRUCTURAL,
    BUBBLE_IMBALANCE,
    BUBBLE_VARIATION,
    BUBBLE_COMMUNICATION,
    BUBBLE_DELAY,
    JOB_BUBBLES
};

struct job_row {
    int64_t ranks, steps, dp, pp, tp, cp, ep, microbatches, chunks;
    struct text schedule;
    double step_ns, simulated_ns, ideal_ns, slowdown, delay_slowdown, bubble_share, slowest_share,
        last_stage_share, correlation;
    struct text cause, where;
};

/* Where the time of a rank goes between the first and the last computation of its pipeline. */
struct job_parts {
    double compute_ns, warmup_ns, waiting_ns, other_ns, drain_ns;
};

struct job_rank_row {
    int64_t rank, dp, pp, tp, cp, ep;
    double slowdown, estimate;
    struct job_parts parts;
    double gc_ns;
};

struct job_step_row {
    int64_t step;
    double time_ns, simulated_ns, ideal_ns, slowdown, bubble_share;
};

struct job_stage_row {
    int64_t pp;
    double slowdown, forward_ns, backward_ns;
    struct job_parts parts;
    double bubble_share;
};

struct job_replica_row {
    int64_t dp;
    double slowdown;
};

struct job_type_row {
    struct text type;
    int64_t count;
    double slowdown;
};

struct job_bubble_row {
    struct text cause;
    double time_ns, share;
};

struct job_cause_row {
    struct text cause;
    double time_ns, share;
    int64_t which; /* enum job_cause */
};

struct job_heat_row {
    int64_t step, rank;
    double slowdown;
};

/* The slowdowns of a rank, or of neighbours, as a picture. */
struct job_map_row {
    struct text ranks, steps;
    double slowdown; /* the largest */
};

/* What a rank does in the step in the middle, a character for each part of it. */
struct job_line_row {
    int64_t step, rank, pp;
    struct text drawn;
};

struct job_dimension_row {
    struct text dimension;
    int64_t size, count;
    double time_ns, exposed_ns, waited_ns, transfer_ns;
};

/* A length for each (type, chunk, stage of ranks) of computations: its median. */
struct job_cell {
    uint32_t type, chunk;
    int64_t pp;
    double median_ns;
};

struct job {
    struct operations *all;
    struct job_graph *graph;
    bool lacks_ranks; /* messages went to ranks that are missing: who waited for whom is not known */
    bool none_wanted; /* steps were asked for, and none of them was recorded */
    bool
        has_pipeline; /* there are computations of microbatches: without them only whole, ranks and dimensions are known */
    struct job_row whole;
    enum job_cause cause;
    bool slow_together; /* the slow rank is as slow as the others of its pipeline: long sequences, rather */
    int64_t culprit;    /* the stage or rank of WHERE; TABLE_INT_MISSING */
    double lost_ns;     /* the mean step less one in which all is equal and nothing waits */
    VEC_OF(struct job_rank_row) ranks;
    VEC_OF(struct job_step_row) steps;
    VEC_OF(struct job_stage_row) stages;
    VEC_OF(struct job_replica_row) replicas;
    VEC_OF(struct job_type_row) types;
    VEC_OF(struct job_bubble_row) bubbles;
    VEC_OF(struct job_cause_row) causes; /* the largest first */
    VEC_OF(struct job_heat_row) heat;    /* by step and rank */
    VEC_OF(struct job_map_row) heat_map;
    VEC_OF(struct job_line_row) lines; /* of job_draw_schedule */
    VEC_OF(struct job_dimension_row) dimensions;

    /* Between the parts of job_open: by operation, and by step. */
    double *ideal_ns, *median_ns, *structural_ns; /* the last two of computations */
    double *step_ns, *simulated_ns, *ideal_step_ns;
    double *phase_ns; /* by rank: added up over the steps */
};

/* Of STEPS in FACTS, as operations_open takes them. New; free with arena_free (NULL is allowed). NULL and ERR as there. The same of the
 * files of TRACE, whose arguments OPERATIONS_WANTS are there. */
struct job *job_open(struct facts *facts, const struct fleet_files *files, const struct ranges *steps,
                     struct tpa_error *err);
struct job *job_of_trace(const struct trace *trace, const struct ranges *steps);

/* Draw the schedule of a step for the table of it, in COLUMNS characters. Nothing where there is no pipeline. */
void job_draw_schedule(struct job *job, size_t columns);

/* Add a chart to PICTURE: a step as people draw it, of those among RANKS; slowdowns of ranks in steps. Nothing where there is no pipeline. */
void job_add_schedule_chart(const struct job *job, const struct ranges *ranks, struct picture *picture);
void job_add_heat_chart(const struct job *job, struct picture *picture);

/* New, free with picture_free: both; NULL where there is no pipeline. */
struct picture *job_picture(const struct job *job);

/* Add its tables to RESULT, and notices. JOB must outlive RESULT. */
void job_add_result(const struct job *job, struct result *result);
extern const struct table_shape job_tables[];

/* job_words.c: the cause, its size and what it takes, in a sentence; lives in TEXTS. */
const char *job_write_verdict(const struct job *job, struct arena *texts);

/* ---- parts of job_open, each in a file of its own ---- */

void job_find_lengths(struct job *job);    /* lengths.c: ideal, medians */
void job_find_slowdowns(struct job *job);  /* slowdowns.c: the what-if */
void job_find_bubbles(struct job *job);    /* bubbles.c: parts of ranks, bubbles and their causes */
void job_find_causes(struct job *job);     /* causes.c */
void job_draw_heat(struct job *job);       /* heat_map.c */
void job_find_dimensions(struct job *job); /* dimensions.c */

/* The mean of COUNT values; NaN of none. */
double job_mean(const double *values, size_t count);

/* The median of COUNT values, which are sorted by this; NaN of none. */
double job_median(double *values, size_t count);

/* A over B; NaN if B is 0. */
double job_over(double a, double b);

/*
 * drawing.c - a step of pipelines as people draw it: a line for each rank, a numbered box for each microbatch, bubbles between.
 *
 *     struct drawing drawing;
 *     drawing_init(&drawing, job, &all_ranks, &arena);
 *     for (size_t i = 0; i < drawing.boxes.count; i++)
 *         ...                                       // from_ns to to_ns of the step, in line `line`
 *     EACH(VEC_FREE, &drawing.lines, &drawing.boxes);
 *
 * Drawn is the step in the middle by time. Of many ranks only the pipeline that takes longest in it is drawn.
 */

/* LATER: of chunks behind the first of a rank. */
enum drawn_kind {
    DRAWN_BUBBLE,
    DRAWN_FORWARD,
    DRAWN_LATER_FORWARD,
    DRAWN_BACKWARD,
    DRAWN_LATER_BACKWARD,
    DRAWN_WEIGHT,
    DRAWN_COLLECTIVE,
    DRAWN_OTHER,
    DRAWN_KINDS
};

struct drawn_box {
    struct text label, tip; /* what is written in it; what it is */
    int64_t from_ns, to_ns; /* from the start of the drawing */
    int64_t line;           /* from the top */
    uint32_t kind;          /* enum drawn_kind */
};

struct drawing {
    uint32_t step;          /* its index among the steps */
    int64_t length_ns;      /* of all that is drawn */
    VEC_OF(uint32_t) lines; /* indices of ranks; OPERATION_NONE: free, between two pipelines */
    VEC_OF(struct drawn_box) boxes;
    uint32_t pipelines, drawn; /* that the step has, and how many of them are drawn */
    bool longest;              /* the one that takes longest was chosen */
    size_t left_out;           /* ranks of these that have no line */
    struct arena *texts;       /* borrowed */
};

/* Lay out JOB, which has a pipeline and must live as long, as far as its ranks are in RANKS. Texts are in
 * TEXTS. The caller frees lines and boxes. */
void drawing_init(struct drawing *drawing, const struct job *job, const struct ranges *ranks,
                  struct arena *texts);

#endif
