/*
 * meetings.h - collectives as meetings of ranks: arrivals on corrected clocks, the last rank, and waiting.
 *
 *     struct fleet_meetings meetings;
 *     ARENA_OWNS(&arena, FLEET_MEETINGS_MEMORY(&meetings));
 *     fleet_meetings_judge(&meetings, &job, NULL, NULL, &err);
 *     fleet_meetings_finish(&meetings, NULL, &err);
 *     for (size_t m = 0; m < meetings.count; m++)
 *         late_ns += meetings.at[m].late_ns;
 *     arena_release(&arena);
 *
 * slice.h defines which collectives match. They are processed slice by slice; little is kept of each arrival.
 *
 * Clocks are corrected by the ends of collectives that need all ranks (derive/rank_clocks.h).
 *
 * With sure clocks the last rank is the one that began last, and each other waited from its own beginning to that;
 * LATE is the waiting time of the first. It is uncertain if it is below the error of the clocks or the distance between
 * the ends of the two. Without sure clocks the last is the one with the shortest duration, which did not wait.
 *
 * Why the last was late: what its device did since it met the same group before, compared with the median rank there.
 * If that is communication, and at least half of it was waiting in another collective, the rank that was waited for
 * there is blamed here as well, and so on backwards.
 */
#ifndef TPA_FLEET_MEETINGS_H
#define TPA_FLEET_MEETINGS_H

#include "fleet/parts.h"

enum fleet_cause {
    CAUSE_COMPUTATION,
    CAUSE_COMMUNICATION,
    CAUSE_COPIES,
    CAUSE_LOADING,
    CAUSE_HOST,
    FLEET_CAUSES
};

/* The arrival of a member. */
struct fleet_arrival {
    uint32_t member;  /* of job.members */
    int64_t device;   /* -1: on the host */
    int64_t began_ns; /* by the member's own clock */
    int64_t waited_ns;
};

struct fleet_meeting {
    size_t first, count; /* indices of meetings.arrivals; by rank and device, at least 2 */
    int64_t number;      /* in the group, or place in the order */
    int64_t step;        /* in which most ranks issued it; FACTS_MISSING: in none */
    bool by_order, by_clock, sure;
    bool
        before_recording; /* LAST was late since before its recording began: its part is not known, nobody is blamed */
    bool
        waits_outside; /* all wait on for ranks that were not recorded (collective_matches.h): nobody is blamed */
    bool tells_last;       /* the recorder of LAST says which rank arrived last */
    bool of_pipeline;      /* of ranks of one pipeline: waiting is its schedule. Set by fleet_find_pipeline */
    size_t last, earliest; /* of arrivals */
    int64_t late_ns;       /* from the start of EARLIEST to that of LAST; without clocks the longest wait */
    int64_t cost_ns;       /* what all would gain if LAST came as early as the one before it */
    int64_t waited_ns;     /* of all, added up */
    int64_t transfer_ns;   /* the duration of LAST */
    int64_t grew_ns[FLEET_CAUSES]; /* what LAST did longer than the median rank since they met before */
    int64_t carried_ns;            /* the rest of LATE */
    enum fleet_cause cause;        /* the cause that grew most; FLEET_CAUSES: unknown */
    size_t blamed;                 /* index of arrivals: LAST, or the one that had made it wait before */
    enum fleet_cause blamed_cause; /* the cause that grew most on that rank */
    /* Of LAST: */
    name_id kind;
    int64_t bytes, source, target;
    int64_t outside_rank,
        outside_ns; /* the rank that was not recorded for which all wait on, and how long; -1 and 0: not known */
    const struct facts_group *group; /* NULL: not recorded */
    int64_t start_ns;                /* on the first rank's clock */
    int64_t since_ns; /* by its own clock, the end of the collective before of this group; INT64_MIN: none */
};

/* Totals of the collectives of a rank in a group. */
struct fleet_group_sum {
    name_id name, description, ranks; /* of the group */
    int64_t rank;
    int64_t count, bytes, time_ns, exposed_ns;
    int64_t met; /* those also found on other ranks; the next two are about these */
    int64_t waited_ns, transfer_ns;
};

struct fleet_meetings {
    const struct fleet_job *job; /* borrowed */
    struct fleet_meeting *at;    /* by the start of the last */
    size_t count, capacity;
    VEC_OF(struct fleet_arrival) arrivals;
    VEC_OF(struct fleet_group_sum) groups; /* by name, description, ranks of the group, rank */
    struct rank_clock *clocks;             /* by member */
    int64_t first_ns;        /* the first start of all, on the first rank's clock; INT64_MAX: nobody met */
    int64_t exposed_wait_ns; /* waiting in complete steps in which nothing computed on the device */
    uint64_t rows;           /* collectives that were judged */
    int64_t unrecorded_ns;   /* of complete steps: exposed waiting since before a recording began */
    uint64_t unrecorded;     /* meetings that have before_recording */
    uint64_t outside;        /* meetings that have waits_outside */
    int64_t outside_ns;      /* how long, on all of their ranks */
    int64_t outside_rank,
        outside_size; /* the rank that is waited for longest, and the size of its group; -1: not known */
    int64_t exposed_outside_ns; /* of complete steps: in which nothing computed, for ranks that are known */
    uint64_t unmatched;         /* those that met no other */
    uint64_t found_groups;      /* as identities_match counts them; not in files of results */
    uint64_t refuted;           /* those that did not end together, and are no meetings */
    uint64_t absent;            /* mentioned in the facts, but in files that were not given */
    uint64_t strangers;         /* in files, of recordings whose facts were not given */
};

/* The memory of MEETINGS, for ARENA_OWNS. */
#define FLEET_MEETINGS_MEMORY(meetings)                                                                      \
    &(meetings)->at, &(meetings)->arrivals, &(meetings)->groups, &(meetings)->clocks

/* Files with the collectives of facts, or with intermediate results. */
enum fleet_file {
    FILE_SLICE, /* collectives: slice_file.h */
    FILE_ENDS,  /* the rest: rounds.h */
    FILE_CLOCKS,
    FILE_JUDGED,
    FLEET_FILES
};

struct fleet_files {
    struct facts *facts;            /* of the job, borrowed: texts are added to them */
    VEC_OF(char *) of[FLEET_FILES]; /* paths */
};

/* Judge the collectives of JOB: those in its facts or, if FILES is not NULL, those in files, of which one slice at a
 * time is in memory. CLOCKS, borrowed, are those from all ends of the job; NULL: they are computed from the ends here.
 * Blame is not determined yet. The caller frees FLEET_MEETINGS_MEMORY in any case. False and ERR if a file cannot be read.
 * Time is n log n in collectives. */
bool fleet_meetings_judge(struct fleet_meetings *meetings, const struct fleet_job *job,
                          const struct fleet_files *files, const struct fleet_clocks *clocks,
                          struct tpa_error *err);

/* Call after all slices were judged: sorts them, and attributes blame. False and ERR if there are more collectives than
 * the facts say. */
bool fleet_meetings_finish(struct fleet_meetings *meetings, const struct fleet_files *files,
                           struct tpa_error *err);

/* Add to ENDS those of the slices of FILES, or of the facts. */
bool fleet_meetings_find_ends(struct ends *ends, const struct fleet_files *files, struct tpa_error *err);

/* "computation", "communication", "copies", "data loading", "host"; NULL for FLEET_CAUSES. */
const char *fleet_cause_name(enum fleet_cause cause);

#endif
