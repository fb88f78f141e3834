/*
 * rank_clocks.h - how far the clocks of ranks are apart, from the ends of collectives that need all ranks.
 *
 *     struct clock_problem problem = { .members = 2, .host = hosts, .meets = meets, .meetings = meetings, .count = 40, .ends = ends };
 *     struct rank_clock *clocks = rank_clocks_find(&problem);
 *     int64_t moment_ns = rank_clock_moment(&clocks[1], own_ns);     // on the clock of member 0
 *     free(clocks);
 *
 * These ends are close together, unlike starts. A clock is ahead of that of the first member by the median of how much
 * later its ends are, the lower of the middle two; members that share no meeting with the first are reached by a chain,
 * breadth first. The error is the median absolute deviation from it, the errors along a chain added up. A drift is the
 * median slope between pairs of ends (Theil and Sen), estimated from 20 or more ends over a second or more, and used if
 * it exceeds three errors. With fewer than 3 ends, or an error above 1 ms, the clock is unsure. On one host a clock
 * that is ahead by less than its error, or by less than 1 ms, is treated as the same. Members without a chain have an offset of 0.
 */
#ifndef TPA_DERIVE_RANK_CLOCKS_H
#define TPA_DERIVE_RANK_CLOCKS_H

#include "base/memory.h"
#include <stdint.h>

#define CLOCK_UNKNOWN INT64_MIN
#define CLOCK_NO_HOST UINT32_MAX

struct rank_clock {
    int64_t ahead_ns;   /* of the first member's clock; CLOCK_UNKNOWN: it meets nobody */
    int64_t applied_ns; /* the correction: AHEAD, or less if that is noise on one host */
    int64_t drift;      /* rate by which it gains, in 10^-12 (ns in 1000 s); 0 unless significant */
    int64_t middle_ns;  /* reference moment of AHEAD and drift, on its own clock */
    int64_t error_ns;   /* CLOCK_UNKNOWN: unknown */
    int64_t anchors;    /* ends that were compared */
    uint32_t root;      /* the member that it is compared with, along a chain; itself if it is the first */
    bool sure;
};

/* The end of a meeting for a member, on its own clock. */
struct clock_end {
    uint32_t member;
    int64_t end_ns;
};

struct clock_meeting {
    size_t first, count; /* of the ends; by member */
};

struct clock_problem {
    size_t members;
    const uint32_t *host; /* by member: members of one host have one number; CLOCK_NO_HOST: unknown */
    const bool *meets; /* by member: does it take part in any collective, even one in which no rank waits? */
    const struct clock_meeting *meetings;
    size_t count;
    const struct clock_end *ends;
};

/* New, by member; free with free(). Time is n log n in the number of ends. */
struct rank_clock *rank_clocks_find(const struct clock_problem *problem);

/* The median distance of COUNT values, one at least, from CENTRE, the mean of the middle two. VALUES are overwritten. */
int64_t rank_clocks_deviation(int64_t *values, size_t count, int64_t centre);

/* By how much ends of one collective may be apart besides half of its duration: of a clock from ANCHORS ends with ERROR_NS, whose correction
 * leaves LEFT_NS. Ranks are not released at the same moment: 100 us, 20 errors and what is left, at most 1 ms; 1 ms with few ends. */
int64_t rank_clocks_slack(int64_t anchors, int64_t error_ns, int64_t left_ns);

/* A moment of the member's clock as one of the first member's; unchanged if the clock is unknown. Monotonic. */
int64_t rank_clock_moment(const struct rank_clock *clock, int64_t moment_ns);

#endif
