/*
 * meetings.h - collectives as meetings of ranks: when each came, on clocks set right, who was last, and who waited.
 *
 *     struct fleet_meetings meetings;
 *     fleet_meetings_init(&meetings, &job);
 *     for (size_t m = 0; m < meetings.count; m++)
 *         late_ns += meetings.at[m].late_ns;
 *     fleet_meetings_release(&meetings);
 *
 * Collectives of several ranks are one by the rules of facts/collective_matches.h: of one process group and of its
 * number there, else the n-th of their kind in the group and step; sends and receives by who sends to whom.
 *
 * Clocks are set right by the ends of those that all must arrive for (facts/rank_clocks.h).
 *
 * With sure clocks the last rank is the one that began last, and each other waited from its own beginning to that;
 * LATE is how long the first waited. This is unsure itself where it is less than the error of the clocks or than what
 * the ends of the two lie apart. Without sure clocks the last is the one with the shortest duration, which waited for
 * nobody.
 *
 * Why the last was late: what its device did since it met the same group before, against the rank in the middle of
 * those there. Where that is communication, and at least half of it was waiting in another collective, the one that
 * was waited for there is to blame here, too, and so on back.
 */
#ifndef TPA_FLEET_MEETINGS_H
#define TPA_FLEET_MEETINGS_H

#include "facts/rank_clocks.h"
#include "fleet/job.h"

enum fleet_cause {
    CAUSE_COMPUTATION,
    CAUSE_COMMUNICATION,
    CAUSE_COPIES,
    CAUSE_LOADING,
    CAUSE_HOST,
    FLEET_CAUSES
};

struct fleet_arrival {
    uint32_t member;                           /* of job.members */
    const struct facts_collective *collective; /* borrowed */
    const struct facts_collective
        *before;              /* the one before of the same group, member and device; NULL: none */
    int64_t start_ns, end_ns; /* on the first rank's clock */
    int64_t waited_ns;
};

struct fleet_meeting {
    size_t first, count; /* of meetings.arrivals; by rank and device, at least 2 */
    int64_t number;      /* in the group, or place in the order */
    int64_t step;        /* in which most ranks issued it; FACTS_MISSING: in none */
    bool by_order, by_clock, sure;
    size_t last, earliest; /* of arrivals */
    int64_t late_ns;       /* from the start of EARLIEST to that of LAST; without clocks the longest wait */
    int64_t cost_ns;       /* what all would gain if LAST had come as the one before it */
    int64_t waited_ns;     /* of all, added up */
    int64_t transfer_ns;   /* the duration of LAST */
    int64_t
        grew_ns[FLEET_CAUSES]; /* what LAST did longer since they met before than the rank in the middle */
    int64_t carried_ns;        /* the rest of LATE */
    enum fleet_cause cause;    /* what grew most; FLEET_CAUSES: not known */
    size_t blamed;             /* of arrivals: LAST, or who had made it wait before */
    enum fleet_cause blamed_cause; /* what had grown most on that rank */
};

struct fleet_meetings {
    const struct fleet_job *job; /* borrowed */
    struct fleet_meeting *at;    /* by the start of the last */
    size_t count, capacity;
    struct fleet_arrival *arrivals;
    size_t arrival_count;
    struct rank_clock *clocks; /* by member */
    uint64_t unmatched;        /* collectives that met no other */
    uint64_t refuted;          /* that did not end together, and are no meeting */
};

/* Release with fleet_meetings_release. n log n in collectives. */
void fleet_meetings_init(struct fleet_meetings *meetings, const struct fleet_job *job);
void fleet_meetings_release(struct fleet_meetings *meetings);

/* "computation", "communication", "copies", "data loading", "host"; NULL for FLEET_CAUSES. */
const char *fleet_cause_name(enum fleet_cause cause);

#endif
