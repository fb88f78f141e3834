/* comm_rows.h - what `tpa comm` answers; comm.h works it out. */
#ifndef TPA_ANALYZE_COMM_ROWS_H
#define TPA_ANALYZE_COMM_ROWS_H

#include "analyze/group.h"
#include "base/arena.h"
#include "base/memory.h"
#include "base/table.h"

/*
 * Collectives of one group. Times in ns, sizes in bytes; a bandwidth in bytes per ns, which are GB/s. Missing, or NaN,
 * is what none of them tells, what was not requested, and, of the waits, what was not found on other ranks.
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

/* A device, or the host of a file, and the collectives that were found on others, too. */
struct comm_rank {
    int64_t rank, device; /* device: missing on the host */
    int64_t count;
    int64_t time_ns, transfer_ns, waited_ns; /* time = transfer + waited */
    int64_t waited_union_ns;                 /* when at least one of them waited: wall time */
    int64_t last;                            /* how often it arrived last */
    double last_share;
    int64_t late_ns, late_median_ns, late_max_ns; /* over these: how long the first to arrive waited for it */
    struct text meanwhile;                        /* "71 % gemm": what it ran while it was late */
    /* By when collectives ended: see facts/rank_clocks.h. */
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

/* A collective that was found on several ranks: what the last of them had done longer than the rank in the middle. */
struct comm_late {
    struct text collective;
    int64_t number, step;
    int64_t last, number_of_last; /* rank and device; by starts on clocks corrected */
    int64_t late_ns, apart_ns, cost_ns;
    int64_t last_by_duration, late_by_duration_ns;
    bool sure;
    int64_t part_ns[LATE_PARTS],
        before_ns; /* they add up to LATE; missing where there is no collective before */
    struct text grew;
    int64_t grew_ns;
    int64_t at_ns; /* when the last began, on the clock of the first rank */
};

struct comm {
    VEC_OF(struct collective_row) rows; /* the most time first */
    VEC_OF(struct comm_rank) ranks;     /* the latest first; empty where nothing was matched, as waits */
    VEC_OF(struct comm_wait) waits;     /* the most waiting first */
    VEC_OF(struct comm_late) lateness;  /* by time */
    int64_t union_ns, exposed_ns;       /* when any of them ran, on each device; and nothing computed */
    int64_t waited_union_ns;            /* of the ranks, added up */
    bool matched;                       /* was any collective found on several ranks? */
    bool has_steps;
    bool several_devices; /* has a file several? Then its rank does not distinguish them */
    int64_t untimed;      /* issued, but when they ran is unknown */
    int64_t without_size, without_group;
    int64_t without_kernel; /* issued, but no kernel was found: they are in no row */
    int64_t unmatched;      /* without a counterpart on other ranks */
    int64_t refuted;        /* same place in the order, but they did not end together */
    int64_t incomplete;     /* found on fewer ranks than their group has */
    struct group *group;
    struct arena texts;
};

#endif
