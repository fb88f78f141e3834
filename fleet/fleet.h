/*
 * fleet.h - analysis of a job of many ranks, from their facts.
 *
 *     struct fleet *fleet = fleet_open(facts);
 *     for (size_t i = 0; i < fleet->ranks.count; i++)
 *         printf("%" PRId64 ": %" PRId64 " ns\n", fleet->ranks.at[i].rank, fleet->ranks.at[i].caused_ns);
 *     arena_free(fleet);
 *
 * Equal facts give equal results, regardless of how they were merged. Times are in ns; what is unknown is
 * FACTS_MISSING, NaN or a text without AT. Texts live as long as the result and the facts. Time is n log n in rows of
 * the facts; memory is that of the facts plus a row for each rank, step and collective.
 */
#ifndef TPA_FLEET_FLEET_H
#define TPA_FLEET_FLEET_H

#include "fleet/meetings.h"

/* How often a rank holds up the job. */
enum fleet_habit {
    HABIT_NONE,   /* it holds up no other rank */
    HABIT_SELDOM, /* it holds the job up most in less than half of the steps */
    HABIT_MOSTLY, /* in at least half of them */
    HABIT_ALWAYS, /* in at least nine of ten */
};

/* A rank. Totals are over its steps and devices; incomplete steps count only for collectives. */
struct fleet_rank_row {
    int64_t rank;
    struct text host, device, file;
    unsigned lacks_set; /* enum lacks, of its recordings */
    struct text lacks;  /* the same as words; missing: its recordings are complete */
    int64_t recordings, steps;
    int64_t step_ns; /* median of its complete steps, the lower of two */
    int64_t total_ns, computation_ns, overlapped_ns, exposed_ns, copies_ns,
        idle_ns; /* of its complete steps */
    /* of the idle time: waiting for data; waiting for the host or its launches */
    int64_t idle_loading_ns, idle_host_ns;
    int64_t collectives;
    int64_t waited_ns; /* it waited for others in collectives */
    int64_t caused_ns; /* others waited for it */
    double caused_share;
    int64_t last;                           /* how often it was the last */
    int64_t cost_ns;                        /* what all would gain if it came as early as the one before it */
    int64_t caused_by_ns[FLEET_CAUSES + 1]; /* CAUSED by the largest growth; the last: unknown */
    struct text why;
    enum fleet_habit habit;
    struct text pattern;
    bool other_steps;                /* it has steps, none of which is common */
    int64_t steps_held_up, in_a_row; /* steps in which it caused the most waiting; the longest run of these */
    double
        /* time of its kernels relative to those of the same name on all such devices: 1.05 is 5 % slower */
        gpu;
    double gpu_score; /* robust z score of GPU */
    bool slow_gpu;
    double gpu_early,
        /* its computation relative to the median rank's, in the first and the last third of the steps */
        gpu_late;
    double host_pace; /* the same as GPU for operators on the host */
    double host_score;
    bool slow_host;
    int64_t clock_ns, clock_error_ns, anchors;
    double drift; /* parts per million */
    bool clock_sure;
    int64_t peak_bytes;  /* most bytes in use by the allocator, on any of its devices */
    int64_t differing;   /* kernel names whose count differs from that of most ranks */
    struct text differs; /* the one of these with the most time */
    struct text bar;     /* computation, exposed communication, copies and idle as a picture */
};

struct fleet_step_row {
    int64_t step;
    int64_t ranks, median_ns, min_ns, max_ns;
    bool common;     /* at least half as many ranks have it as the most common step */
    double spread;   /* (max - min) / median */
    int64_t slowest; /* rank */
    int64_t waited_ns;
    int64_t blamed; /* the rank that caused most of the waiting; missing: none */
    double blamed_share;
    struct text why;
};

struct fleet_collective_row {
    struct text kind, group;
    int64_t number, step, bytes, ranks;
    int64_t start_ns; /* of the last, from the first start of all, on the first rank's clock */
    int64_t last, first, last_device;
    int64_t blamed; /* the rank that made LAST late, usually LAST itself; missing if uncertain */
    int64_t late_ns, waited_ns, cost_ns, transfer_ns;
    bool sure, by_clock;
    struct text why;
    int64_t grew_ns[FLEET_CAUSES], carried_ns;
};

/* All process groups of one purpose: with the same description, or without one with the same name. */
struct fleet_group_row {
    struct text group;
    int64_t groups, ranks, count, bytes;
    int64_t time_ns, exposed_ns, waited_ns,
        transfer_ns; /* of all ranks; the last two for those found on several */
};

struct fleet_host_row {
    struct text host;
    int64_t ranks, caused_ns, waited_ns;
    double caused_share, gpu, host_pace, score;
    bool slow;
};

/* Equal collectives of one process group, that is of one ring or pair of hosts. */
struct fleet_link_row {
    struct text hosts, group, kind;
    int64_t ranks, bytes, count;
    int64_t transfer_ns; /* median of the transfers */
    double bandwidth;    /* bus bandwidth, GB/s */
    double against;      /* transfer relative to the median of equal groups: 1.5 is 50 % slower */
    double score;
    bool slow;
};

/* Time of devices that was not computation, by use. */
struct fleet_waste_row {
    struct text what;
    int64_t time_ns;
    double share;
    double hours; /* device hours per hour of the whole job */
};

/* Steps of a rank, or of neighbouring ranks, as a picture: one character per step. */
struct fleet_heat_row {
    struct text ranks, steps;
    int64_t longest_ns; /* the longest step among them */
};

struct fleet_left_out_row {
    int64_t rank;
    struct text file, reason;
};

struct fleet {
    struct fleet_job job;
    struct fleet_meetings meetings;
    VEC_OF(struct fleet_rank_row) ranks;             /* most waiting caused first, then by rank */
    VEC_OF(struct fleet_step_row) steps;             /* by number */
    VEC_OF(struct fleet_collective_row) collectives; /* by time */
    VEC_OF(struct fleet_group_row) groups;           /* largest exposed time first */
    VEC_OF(struct fleet_host_row) hosts;             /* most waiting caused first */
    VEC_OF(struct fleet_link_row) links;             /* slowest relative to its equals first */
    VEC_OF(struct fleet_waste_row) waste;            /* largest first */
    VEC_OF(struct fleet_heat_row) heat;              /* by rank */
    /* the fields of HEAT: heat_columns for each row; the relative excess of the longest step in it, in thousandths; -1:
     * unknown */
    int64_t *heat_more;
    size_t heat_columns;
    VEC_OF(struct fleet_left_out_row) left_out;
    /* All ranks: */
    int64_t step_ns, step_low_ns,
        step_high_ns; /* of common steps: median over steps of the median rank; 5 % and 95 % quantiles */
    int64_t device_count, total_ns,
        computation_ns; /* time of devices within steps, and its part with computation */
    int64_t
        unrecorded_ns; /* in communication before the recording of another rank began: nobody's fault that is known */
    bool in_turn;    /* ranks_take_turns: others wait for each in turn, and none is slower than the rest */
    size_t messages; /* meetings of a sender and a receiver: ranks form a pipeline */
    int64_t waited_ns, blamed_ns, unsure_ns; /* waited = attributed to ranks + unattributed */
};

/* New; free with arena_free (NULL is allowed). FACTS is finished, and must live as long. If FILES is not NULL,
 * collectives are in separate files. NULL and ERR if one cannot be read. */
struct fleet *fleet_open(const struct facts *facts);
struct fleet *fleet_open_apart(const struct facts *facts, const struct fleet_files *files,
                               struct tpa_error *err);

/* Add notices about the recordings of JOB that are not complete to RESULT. */
void fleet_notice_lacks(const struct fleet_job *job, struct result *result);

/* Add one about the ranks of JOB that are not here, if there are any; it ends in SO. */
void fleet_notice_missing(const struct fleet_job *job, const char *so, struct result *result);

/* Let ANSWER begin with the ranks that hold the job up, of which at least 5 % of the waiting is, and the
 * others as one; its headline says for whom others wait most. Nothing where no rank is known to hold others
 * up. Texts are in TEXTS, or those of FLEET. */
void fleet_add_answer(const struct fleet *fleet, struct answer *answer, struct arena *texts);

/* Add what ran and, for each rank that fleet_add_answer named, what to do, where nothing else tells these. */
void fleet_add_findings(const struct fleet *fleet, struct answer *answer, struct arena *texts);

/* Add its tables to RESULT, and notices about what is missing or was left out. FLEET must outlive RESULT. */
void fleet_add_result(const struct fleet *fleet, struct result *result);

/* New, free with picture_free: a bar for each rank, and the heat map of ranks and steps; NULL if no steps are known. */
struct picture *fleet_picture(const struct fleet *fleet);

/* ---- parts of fleet_open, each in a file of its own ---- */

void fleet_find_steps(struct fleet *fleet); /* fleet_steps.c: steps, heat, and the shares of ranks in them */
void fleet_find_pipeline(
    struct fleet *fleet);                   /* fleet_pipeline.c: meetings in which waiting is the schedule */
void fleet_find_blame(struct fleet *fleet); /* fleet_blame.c: collectives, groups, who caused waiting */
void fleet_find_pace(struct fleet *fleet);  /* fleet_pace.c: slow devices and hosts, differing work */
void fleet_find_links(struct fleet *fleet); /* fleet_links.c */

/* The row of RANK among fleet->ranks, which are sorted by rank until fleet_open ends. */
struct fleet_rank_row *fleet_rank(struct fleet *fleet, int64_t rank);

/* The tables that may be added, for `tpa help`; ends in { 0 }. */
extern const struct table_shape fleet_tables[];

#endif
