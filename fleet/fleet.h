/*
 * fleet.h - answers about a job of many ranks, from their facts.
 *
 *     struct fleet *fleet = fleet_open(facts);
 *     for (size_t i = 0; i < fleet->ranks.count; i++)
 *         printf("%" PRId64 ": %" PRId64 " ns\n", fleet->ranks.at[i].rank, fleet->ranks.at[i].caused_ns);
 *     fleet_free(fleet);
 *
 * Equal facts give equal answers, however they came together. Times are in ns; what is unknown is FACTS_MISSING,
 * NaN or a text without AT. Texts live as long as the answer and the facts. Time is n log n in rows of the facts,
 * memory that of the facts and of a row for each rank, step and collective.
 */
#ifndef TPA_FLEET_FLEET_H
#define TPA_FLEET_FLEET_H

#include "base/memory.h"
#include "base/result.h"
#include "fleet/medians.h"
#include "fleet/meetings.h"

/* How what a rank is last for is spread over the steps. */
enum fleet_habit {
    HABIT_NONE,   /* it holds nobody up */
    HABIT_SELDOM, /* it holds the job up most in less than half of the steps */
    HABIT_MOSTLY, /* in half of them and more */
    HABIT_ALWAYS, /* in nine of ten and more */
};

/* A rank. Sums are over its steps and devices; where a step was cut it counts for nothing but collectives. */
struct fleet_rank_row {
    int64_t rank;
    struct text host, device, file;
    int64_t recordings, steps;
    int64_t step_ns; /* median of its complete steps, the lower of two */
    int64_t total_ns, computation_ns, overlapped_ns, exposed_ns, copies_ns,
        idle_ns;                           /* of its complete steps */
    int64_t idle_loading_ns, idle_host_ns; /* of the idle time: for data; for the host or its launches */
    int64_t collectives;
    int64_t waited_ns; /* it waited for others in collectives */
    int64_t caused_ns; /* others waited for it */
    double caused_share;
    int64_t last;                           /* how often it was the last */
    int64_t cost_ns;                        /* what all would gain had it come as the one before it */
    int64_t caused_by_ns[FLEET_CAUSES + 1]; /* of CAUSED: by what had grown most; the last: unknown */
    struct text why;
    enum fleet_habit habit;
    struct text pattern;
    bool other_steps;                /* it has steps, none of which is common */
    int64_t steps_held_up, in_a_row; /* steps in which it caused the most waiting; the longest run of such */
    double
        gpu; /* how long its kernels take against those of the same name on all such devices: 1.05 is 5 % slower */
    double gpu_score; /* how far that lies out: robust z */
    bool slow_gpu;
    double gpu_early,
        gpu_late; /* its computation over the median rank's: in the first and the last third of the steps */
    double host_pace; /* the same as GPU of operators on the host */
    double host_score;
    bool slow_host;
    int64_t clock_ns, clock_error_ns, anchors;
    double drift; /* parts per million */
    bool clock_sure;
    int64_t peak_bytes;  /* most bytes in use by the allocator, on any of its devices */
    int64_t differing;   /* names of kernels whose count is not that of most ranks */
    struct text differs; /* the one with most time among them */
    struct text bar;     /* computation, exposed communication, copies and idle as a picture */
};

struct fleet_step_row {
    int64_t step;
    int64_t ranks, median_ns, min_ns, max_ns;
    bool common;     /* half as many ranks have it as the step that most have, or more */
    double spread;   /* (max - min) / median */
    int64_t slowest; /* rank */
    int64_t waited_ns;
    int64_t blamed; /* the rank that caused the most of it; missing: none */
    double blamed_share;
    struct text why;
};

struct fleet_collective_row {
    struct text kind, group;
    int64_t number, step, bytes, ranks;
    int64_t start_ns; /* of the last, from the first start of all, on the first rank's clock */
    int64_t last, first, last_device;
    int64_t blamed; /* the rank that made LAST late, mostly itself; missing where that is not sure */
    int64_t late_ns, waited_ns, cost_ns, transfer_ns;
    bool sure, by_clock;
    struct text why;
    int64_t grew_ns[FLEET_CAUSES], carried_ns;
};

/* All process groups of one purpose: of one description, else of one name. */
struct fleet_group_row {
    struct text group;
    int64_t groups, ranks, count, bytes;
    int64_t time_ns, exposed_ns, waited_ns,
        transfer_ns; /* of all ranks; the last two of those found on several */
};

struct fleet_host_row {
    struct text host;
    int64_t ranks, caused_ns, waited_ns;
    double caused_share, gpu, host_pace, score;
    bool slow;
};

/* Equal collectives of one process group: the ring or pair of hosts that they go over. */
struct fleet_link_row {
    struct text hosts, group, kind;
    int64_t ranks, bytes, count;
    int64_t transfer_ns; /* median of the transfers */
    double bandwidth;    /* bus bandwidth, GB/s */
    double against;      /* transfer against the median of equal groups: 1.5 is 50 % slower */
    double score;
    bool slow;
};

/* What the devices' time went into that was no computation. */
struct fleet_waste_row {
    struct text what;
    int64_t time_ns;
    double share;
    double hours; /* device hours in an hour of the whole job */
};

/* Steps of a rank, or of neighbouring ranks, as a picture: a character for a step. */
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
    VEC_OF(struct fleet_rank_row) ranks;             /* who holds others up most first, then by rank */
    VEC_OF(struct fleet_step_row) steps;             /* by number */
    VEC_OF(struct fleet_collective_row) collectives; /* by time */
    VEC_OF(struct fleet_group_row) groups;           /* the most exposed first */
    VEC_OF(struct fleet_host_row) hosts;             /* who holds others up most first */
    VEC_OF(struct fleet_link_row) links;             /* the slowest against its equals first */
    VEC_OF(struct fleet_waste_row) waste;            /* the most first */
    VEC_OF(struct fleet_heat_row) heat;              /* by rank */
    int64_t *heat_more; /* the fields of HEAT: heat_columns for each row; how much longer than
                                                      * usual a step in it took, in thousandths; -1: unknown */
    size_t heat_columns;
    VEC_OF(struct fleet_left_out_row) left_out;
    /* All ranks: */
    int64_t step_ns, step_low_ns,
        step_high_ns; /* of common steps: median over steps of the median rank; what 5 % and 95 % of them do not exceed */
    int64_t device_count, total_ns,
        computation_ns;                      /* time of devices within steps, and of that computation */
    int64_t waited_ns, blamed_ns, unsure_ns; /* waited = blamed on ranks + left open */
    struct arena texts;
};

/*
 * New; free with fleet_free (NULL is allowed). FACTS is finished, and must live as long. Where FILES is not NULL collectives are in files apart;
 * NULL and ERR when one cannot be read.
 */
struct fleet *fleet_open(const struct facts *facts);
struct fleet *fleet_open_apart(const struct facts *facts, const struct fleet_files *files,
                               struct tpa_error *err);
void fleet_free(struct fleet *fleet);

/* Add its tables to RESULT, and notices about what is missing or was left out. FLEET must live as long. */
void fleet_add_result(const struct fleet *fleet, struct result *result);

/* New: a bar for each rank, and the heat map of ranks and steps; NULL where no steps are known. */
struct picture *fleet_picture(const struct fleet *fleet);

/* ---- parts of fleet_open, each in a file of its own ---- */

void fleet_find_steps(struct fleet *fleet); /* fleet_steps.c: steps, heat, and the shares of ranks in them */
void fleet_find_blame(struct fleet *fleet); /* fleet_blame.c: collectives, groups, who caused waiting */
void fleet_find_pace(struct fleet *fleet);  /* fleet_pace.c: slow devices and hosts, differing work */
void fleet_find_links(struct fleet *fleet); /* fleet_links.c */

/* The row of RANK among fleet->ranks, which are by rank until fleet_open ends. */
struct fleet_rank_row *fleet_rank(struct fleet *fleet, int64_t rank);

/* The tables that may come of it, for `tpa help`; ends in { 0 }. */
extern const struct table_shape fleet_tables[];

#endif
