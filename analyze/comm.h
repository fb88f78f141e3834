/* comm.h - communication: collectives, their members on ranks, and who is late. */
#ifndef TPA_ANALYZE_COMM_H
#define TPA_ANALYZE_COMM_H

#include "derive/collective_matches.h"
#include "analyze/analysis.h"

/* Collectives of one group. Times in ns, sizes in bytes; a bandwidth in bytes per ns, which are GB/s. Missing, or NaN:
 * not recorded by any of them, not requested, or, for waits, not found on other ranks. */
struct collective_row {
    struct group_key key;
    struct text collective, library, group, members, type;
    int64_t group_size, size_bytes;
    int64_t count, bytes;
    int64_t time_ns, average_ns, min_ns, max_ns; /* of those whose time is known */
    int64_t exposed_ns;                          /* of the time, when nothing computed on the device */
    int64_t waited_ns; /* of the time, when another rank had not arrived; overlapping waits add up */
    double overlapped; /* share of the time that is not exposed */
    double bandwidth, bus_bandwidth, best_bus_bandwidth, transfer_bus_bandwidth;
};

/* A device, or the host of a file, and its collectives that were also found on others. */
struct comm_rank {
    int64_t rank, device; /* device: missing on the host */
    int64_t count;
    int64_t time_ns, transfer_ns, waited_ns; /* time = transfer + waited */
    int64_t waited_union_ns;                 /* wall time in which at least one of them waited */
    int64_t last;                            /* how often it arrived last */
    double last_share;
    int64_t late_ns, late_median_ns, late_max_ns; /* over these: how long the first to arrive waited for it */
    struct text meanwhile;                        /* "71 % gemm": what it ran while it was late */
    /* From the ends of collectives: see derive/rank_clocks.h. */
    int64_t clock_ns, clock_error_ns; /* ahead of the first rank's; missing when unknown */
    double drift;                     /* parts per million */
    bool clock_sure;
};

/* A collective that was found on several ranks. */
struct comm_wait {
    struct text collective, group;
    int64_t number, step, size_bytes, seen; /* seen: on how many ranks */
    int64_t transfer_ns, longest_wait_ns, waited_ns;
    struct text last,
        first;        /* "3", or "3, device 1" where a file has several; missing when all arrived together */
    int64_t start_ns; /* when the last rank arrived, from the origin of its file */
    double transfer_bus_bandwidth;
};

enum late_part {
    LATE_COMPUTATION,
    LATE_COPIES,
    LATE_COMMUNICATION,
    LATE_OPERATORS,
    LATE_HOST_GAPS,
    LATE_DEVICE_GAPS,
    LATE_PARTS
};

/* A collective that was found on several ranks: what the last of them had done longer than the median rank. */
struct comm_late {
    struct text collective;
    int64_t number, step;
    int64_t last, number_of_last; /* rank and device; by starts on corrected clocks */
    int64_t late_ns, apart_ns, cost_ns;
    int64_t last_by_duration, late_by_duration_ns;
    bool sure;
    int64_t part_ns[LATE_PARTS],
        before_ns; /* they add up to LATE; missing if there is no collective before */
    struct text grew;
    int64_t grew_ns;
    int64_t at_ns;               /* when the last began, on the clock of the first rank */
    size_t match, index_of_last; /* of collective_matches; of collectives */
};

/* A rank, and the waiting for it: in collectives that it was last to, or whose last it had made wait in another one before. */
struct comm_blame {
    int64_t rank;
    int64_t caused_ns; /* of all others, added up */
    int64_t waited_ns; /* it waited for others */
};

struct comm {
    VEC_OF(struct collective_row) rows; /* largest time first */
    VEC_OF(struct comm_rank) ranks;     /* largest lateness first; empty if nothing was matched, like waits */
    VEC_OF(struct comm_wait) waits;     /* largest waiting time first */
    VEC_OF(struct comm_late) lateness;  /* by time */
    VEC_OF(struct comm_blame) blame;    /* most waiting caused first; empty if nobody waited */
    bool in_turn;                       /* ranks_take_turns: none of BLAME is slower than the rest */
    /* time in which any of them ran, on each device; part of it without computation */
    int64_t union_ns, exposed_ns;
    int64_t waited_union_ns; /* of the ranks, added up */
    bool matched;            /* was any collective found on several ranks? */
    bool has_steps;
    bool several_devices; /* has a file several devices, so that the rank does not identify them? */
    int64_t untimed;      /* issued, but when they ran is unknown */
    int64_t without_size, without_group;
    int64_t without_kernel; /* issued, but no kernel was found: not in any row */
    int64_t unmatched;      /* without a counterpart on other ranks */
    int64_t
        found_groups; /* of hosts that record none, where not all end together: see collective_identity.h */
    int64_t refuted;  /* same place in the order, but different ends */
    int64_t before_recording; /* began before the recording of the last to arrive did: not in any row */
    int64_t outside,
        outside_ns; /* waited on for ranks that were not recorded: how many, and how long on all of their ranks */
    int64_t outside_rank; /* the one that was waited for longest; -1: not known */
    int64_t outside_size; /* the ranks of its group; -1: not known */
    size_t recorded_ranks;
    int64_t incomplete; /* found on fewer ranks than their group has */
    struct group *group;
};

/* Append whom collectives waited for: "rank 6, which was not recorded (2 of 8 ranks are here)". */
void comm_append_outside(const struct comm *comm, struct buffer *out);

/* comm_ranks.c - the rows per rank and per wait of comm, and texts of its rows; for analyze/comm.c only. */

struct comm_query {
    const struct trace *trace;
    const struct selection *selection;
    unsigned by;
    struct collectives *collectives;
    struct collective_matches *matches;
    bool *held; /* by collective: is it selected? */
    struct comm *comm;
};

/* How long the collective at INDEX waited for others, recorded or not, in ns. */
int64_t comm_waited_ns(const struct comm_query *query, size_t index);

/* TEXT; missing when it is NULL or empty. */
struct text comm_text(const char *text);

/* "0 (default_pg)"; missing when the group has no name. */
struct text comm_group_text(const struct comm_query *query, const struct collective *one);

/* What it was: "all_reduce"; the name of the kernel if the kind is unknown. */
struct text comm_collective_text(const struct comm_query *query, const struct collective *one);

/* Compute comm->ranks and comm->waits, if any collective was matched. */
void comm_find_ranks(const struct comm_query *query);

/* Add the tables "ranks" and "waits". */
void comm_add_rank_tables(const struct comm *comm, struct result *result);

/* The tables that may be added, for `tpa help`; ends in { 0 }. */
extern const struct table_shape comm_rank_tables[];

/* comm_late.c - what made the last rank of a collective late; for analyze/comm.c only. */

/* Compute comm->lateness, if any collective was matched. */
void comm_find_lateness(const struct comm_query *query);

/* Add the table "lateness", if it has rows. */
void comm_add_lateness_table(const struct comm *comm, struct result *result);

/* The table that may be added, for `tpa help`; ends in { 0 }. */
extern const struct table_shape comm_late_tables[];

/* comm_blame.c - whom the ranks waited for; for analyze/comm.c only. */

/* Compute comm->blame, of comm->lateness. */
void comm_find_blame(const struct comm_query *query);

/*
 * comm.c - collectives: size, bandwidth, exposed time, and, over several ranks, who waited for whom.
 *
 *     struct comm_options options = { .by = COMM_BY_DEFAULT };
 *     struct comm *comm = comm_analyze(trace, selection, &options, &err);
 *     if (!comm)
 *         ...                                           // filter or exclude is not a valid regular expression
 *     arena_free(comm);
 */

extern const struct trace_wants comm_wants;

/* The analysis's own words of --by, which add to the dimensions. */
#define COMM_BY_COLLECTIVE BY_OWN(0)
#define COMM_BY_LIBRARY BY_OWN(1)
#define COMM_BY_GROUP BY_OWN(2) /* process group */
#define COMM_BY_TYPE BY_OWN(3)
#define COMM_BY_SIZE BY_OWN(4)
#define COMM_BY_DEFAULT (COMM_BY_COLLECTIVE | COMM_BY_LIBRARY | COMM_BY_GROUP | COMM_BY_TYPE | COMM_BY_SIZE)

struct comm_options {
    unsigned by; /* dimensions and the words above; 0: COMM_BY_DEFAULT */
    /* Regular expressions; NULL: none. They match the collective ("all_reduce"), the kernel and the operator. */
    const char *filter, *exclude;
};

/* The collectives of SELECTION, which must select no names; steps and ranges select by the time of issue. New; free
 * with arena_free (NULL is allowed). NULL and ERR if an expression is invalid. Texts live as long as the result and
 * TRACE. */
struct comm *comm_analyze(const struct trace *trace, const struct selection *selection,
                          const struct comm_options *options, struct tpa_error *err);

#endif
