/* comm_rows.h - the results of `tpa comm`, computed by comm.h. */
#ifndef TPA_ANALYZE_COMM_ROWS_H
#define TPA_ANALYZE_COMM_ROWS_H

#include "analyze/group.h"

/*
 * Collectives of one group. Times in ns, sizes in bytes; a bandwidth in bytes per ns, which are GB/s. Missing, or NaN:
 * not recorded by any of them, not requested, or, for waits, not found on other ranks.
 */
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
    int64_t at_ns; /* when the last began, on the clock of the first rank */
};

struct comm {
    VEC_OF(struct collective_row) rows; /* largest time first */
    VEC_OF(struct comm_rank) ranks;     /* largest lateness first; empty if nothing was matched, like waits */
    VEC_OF(struct comm_wait) waits;     /* largest waiting time first */
    VEC_OF(struct comm_late) lateness;  /* by time */
    /* time in which any of them ran, on each device; part of it without computation */
    int64_t union_ns, exposed_ns;
    int64_t waited_union_ns; /* of the ranks, added up */
    bool matched;            /* was any collective found on several ranks? */
    bool has_steps;
    bool several_devices; /* has a file several devices, so that the rank does not identify them? */
    int64_t untimed;      /* issued, but when they ran is unknown */
    int64_t without_size, without_group;
    int64_t without_kernel;   /* issued, but no kernel was found: not in any row */
    int64_t unmatched;        /* without a counterpart on other ranks */
    int64_t refuted;          /* same place in the order, but different ends */
    int64_t before_recording; /* began before the recording of the last to arrive did: not in any row */
    int64_t incomplete;       /* found on fewer ranks than their group has */
    struct group *group;
    struct arena texts;
};

#endif
