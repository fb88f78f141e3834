/* hang.h - jobs that hang. */
#ifndef TPA_HANG_HANG_H
#define TPA_HANG_HANG_H

#include "trace/flight.h"
#include "base/result.h"

/* job.c - a stuck job: its ranks, and the graph of who waits for whom. */

/*
 * job.c - one job of Flight Recorder dumps: its groups, how far each rank is in them, and who holds up whom.
 *
 * Built stage by stage; each file fills the part of struct hang_job below its name:
 *
 *     hang_set_runs_apart(job);     // dumps of other runs are taken out
 *     hang_job_build(job);          // groups, operations, how far each rank is, dumps that are older than others
 *     hang_find_waits(job);         // operations in which a rank waits, and the members that are missing in each
 *     hang_graph_build(job);        // who waits for whom
 *     hang_find_mismatches(job);
 *     hang_find_causes(job);
 *     hang_judge(job);              // state, culprits, doubts, sentences
 *
 * Definitions: docs/commands/hang.md. Everything is linear in entries and members: a world of 10,000 ranks that waits
 * for half of itself has 25 million pairs, and no pair is ever stored. Members of a group are sorted by how far they
 * are; the members that are missing in an operation are the first so many of them.
 */

#define HANG_NONE UINT32_MAX
#define HANG_UNKNOWN ((int64_t)-1)

/* A rank in a group. */
struct hang_member {
    uint32_t rank;
    int64_t entered;   /* the last collective that it entered; HANG_UNKNOWN */
    int64_t enqueued;  /* by pg_status, as a number of collectives; HANG_UNKNOWN: not usable */
    int64_t completed; /* the same; of gloo, ended well or badly */
};

struct hang_group {
    name_id name, desc;
    const uint32_t *list; /* ranks by place; NULL: not recorded */
    size_t list_count;
    struct hang_member *members; /* by rank */
    size_t count;
    bool known;      /* these are all members */
    bool is_default; /* the group of the whole world */
    bool has_p2p;
    bool is_gloo;     /* its status counts what ended, well or badly */
    unsigned writers; /* 1 << enum flight_writer */
    size_t first_op, op_count;
    int64_t
        most_completed[2]; /* by pg_status, of two ranks; HANG_UNKNOWN. Not of gloo, which counts failures */
    uint32_t most_completed_by; /* the rank of the first */
    /* Members without a dump, then those with a dump, not stale and of known progress, by progress. */
    uint32_t *order; /* indices of members */
    size_t order_count, absent;
    uint32_t first_node; /* of the graph: node I stands for the first I + 1 members of `order` */
};

/* A collective: what the members entered as number SEQ of the group. */
struct hang_op {
    uint32_t group;
    int64_t seq;
    size_t first, count; /* of job->refs, by rank */
    uint32_t done_by[2]; /* the first two ranks all of whose entries are done; HANG_NONE */
};

/* An entry of a collective. */
struct hang_ref {
    uint32_t entry, rank;
};

enum hang_wait_kind { WAIT_PENDING, WAIT_FAILED, WAIT_ENDED, WAIT_ISSUED, WAIT_LOST };

/* An operation in which a rank waits. */
struct hang_wait {
    uint32_t rank, group;
    uint32_t entry;   /* HANG_NONE: the ring lost it */
    uint32_t peer;    /* of a send or receive; HANG_NONE: a collective, or not recorded */
    uint32_t partner; /* the entry of the peer that it belongs to; HANG_NONE: there is none */
    uint32_t op;      /* of job->ops; HANG_NONE: of a send or receive, or lost by all */
    int64_t seq;      /* HANG_UNKNOWN: a send or receive */
    size_t missing;   /* so many of the `order` of its group; of a send or receive, 1: the peer */
    enum hang_wait_kind kind;
};

/* All waits in one collective, or one wait in a send or receive. */
struct hang_wait_op {
    uint32_t group;
    int64_t seq;
    size_t first, count; /* of job->by_op */
    size_t missing;
    int64_t created_ns; /* the earliest; INT64_MAX: not recorded */
};

enum hang_class {
    HANG_MISMATCH_OP,
    HANG_MISMATCH_ORDER,
    HANG_MISMATCH_DTYPE,
    HANG_MISMATCH_SIZE,
    HANG_DEVICE_STOPPED,
    HANG_FAILED_BEFORE,
    HANG_DEADLOCK_ORDER,
    HANG_DEADLOCK,
    HANG_NEVER_ENTERED,
    HANG_NOT_STARTED,
    HANG_NO_DUMP,
    HANG_RING_TOO_SHORT,
    HANG_IN_FLIGHT,
    HANG_CLASSES,
};

/* A set of ranks, ascending; in the arena of the job. */
struct hang_ranks {
    const uint32_t *at;
    size_t count;
};

struct hang_cause {
    enum hang_class class;
    struct hang_ranks ranks; /* named as culprits or suspects */
    struct hang_ranks
        between; /* of a deadlock, an operation in flight, and a mismatch without a majority: all of them */
    uint32_t group; /* HANG_NONE: several */
    int64_t seq;    /* HANG_UNKNOWN: a send or receive, or several */
    name_id op;     /* NAME_NONE: lost, or several */
    struct hang_ranks direct, indirect;
    int64_t lag;     /* device_stopped: operations of the first rank that others have done */
    uint32_t waiter; /* of a send or receive: the rank that waits in it; HANG_NONE */
};

enum hang_state { HANG_CLEAN, HANG_MOVING, HANG_WAITING, HANG_STUCK };

enum hang_proof {
    PROOF_TIMED_OUT = 1,
    PROOF_ENDED_WITHOUT_ALL = 2,
    PROOF_OVER_TIMEOUT = 4,
    PROOF_MISMATCH = 8,
    PROOF_DEADLOCK = 16,
    PROOFS = 5,
};

enum hang_doubt {
    DOUBT_NO_DUMP,
    DOUBT_RING_TOO_SHORT,
    DOUBT_SNAPSHOTS_DIFFER,
    DOUBT_P2P_NOT_RECORDED,
    DOUBT_COMPLETION_NOT_RECORDED,
    DOUBT_MEMBERS_UNKNOWN,
    DOUBT_PEER_UNKNOWN,
    DOUBT_USUALLY_LAST,
    DOUBT_WAITS_ITSELF,
    DOUBT_ENTERED_BY_ALL_AND_PENDING,
    DOUBT_SEQUENCE_UNSURE,
    DOUBT_VERSION_UNKNOWN,
    DOUBT_STATE_UNKNOWN,
    DOUBT_NO_ENTRIES,
    DOUBT_SEVERAL_RUNS,
    DOUBT_NO_TIMES,
    HANG_DOUBTS,
};

/* The first mismatch of a group. */
struct hang_mismatch {
    uint32_t group, op;
    enum hang_class class;
    struct hang_ranks minority, entered;
};

struct hang_job {
    /* set by the caller */
    struct flight *flight;
    const char *name;
    VEC_OF(uint32_t) dumps;      /* of flight->dumps, by rank */
    VEC_OF(uint32_t) unreadable; /* of flight->unreadable */
    struct arena *arena;         /* of the hang */
    const char
        *runs_apart; /* runs.c: "23 h": the dumps are of several runs, none of which has most; else NULL */

    /* job.c */
    uint32_t world;
    uint32_t *dump_of;  /* by rank: of flight->dumps; HANG_NONE */
    uint32_t *group_of; /* by flight->groups; HANG_NONE: of another job */
    VEC_OF(struct hang_group) groups;
    struct hang_ref *refs;
    size_t ref_count;
    VEC_OF(struct hang_op) ops; /* by group and seq */
    bool *active_only;          /* by rank: the dump leaves completed entries out */
    bool *whole;                /* by rank: no entry is left out or lost */
    bool *unsure; /* by rank: torchcomms, and the place of its entries in their groups is not known */
    bool *stale;  /* by rank: older than other dumps */
    bool *
        silent; /* by rank: it used groups, and its dump has no entries though others have some that are over */

    /* waits.c */
    VEC_OF(struct hang_wait)
    waits;              /* by rank, then in the order in which they were issued; lost ones first */
    size_t *first_wait; /* by rank, and behind the last */
    uint32_t *by_op;    /* of waits: by group and seq; then sends and receives */
    VEC_OF(struct hang_wait_op) wait_ops;
    bool *older_lost; /* by rank: by its status it has an operation pending that is older than its ring */

    /* graph.c */
    struct hang_graph *graph;
    int64_t *
        stopped; /* by rank: entries that others have done and it has pending, if its device stopped; else 0 */
    uint32_t *stopped_at; /* by rank: the first of them */
    bool *waits_for_any;  /* by rank: it has an edge */

    /* mismatch.c */
    VEC_OF(struct hang_mismatch) mismatches;

    /* causes.c and verdict.c */
    VEC_OF(struct hang_cause) causes;
    uint8_t *doubts[HANG_DOUBTS]; /* by rank */
    bool has_doubt[HANG_DOUBTS];
    bool *spared;   /* by rank: a doubt makes it a suspect only */
    unsigned proof; /* enum hang_proof */
    enum hang_state state;
    struct hang_ranks culprits, suspects;
    const char *verdict;
};

/*
 * runs.c - dumps are left behind by runs before a restart. Two processes of one run issue the same collective at about the same time, and a
 * job that hangs stops as a whole. A dump is of another run, or of a host whose clock is wrong (nothing tells which), if its newest operation is ten
 * minutes or more from the median of all, and no collective of it was issued within ten minutes of the others' same.
 *
 * Where most dumps are of one run, the others are taken out of `dumps`, and listed as unreadable. Where no run has most, all stay, and
 * `runs_apart` is how far they are.
 */
void hang_set_runs_apart(struct hang_job *job);

void hang_job_build(struct hang_job *job);
void hang_find_waits(struct hang_job *job);
void hang_graph_build(struct hang_job *job);
void hang_find_mismatches(struct hang_job *job);
void hang_find_causes(struct hang_job *job);
void hang_judge(struct hang_job *job);

/* Do doubts make all ranks of CAUSE suspects only? After hang_judge. */
bool hang_is_in_doubt(const struct hang_job *job, const struct hang_cause *cause);

/* ---- what the stages share ---- */

static inline struct flight_entry *hang_entry(const struct hang_job *job, uint32_t entry)
{
    return &job->flight->entries.at[entry];
}

static inline const struct flight_dump *hang_dump(const struct hang_job *job, uint32_t rank)
{
    return rank < job->world && job->dump_of[rank] != HANG_NONE ? &job->flight->dumps.at[job->dump_of[rank]]
                                                                : NULL;
}

/* The member RANK of GROUP; NULL if it is none. */
struct hang_member *hang_member(const struct hang_group *group, uint32_t rank);

/* The collective SEQ of GROUP; HANG_NONE if no dump has an entry of it. */
uint32_t hang_find_op(const struct hang_job *job, uint32_t group, int64_t seq);

/* The first entry of RANK in OP, and *COUNT: how many it has; NULL if it has none. */
const struct hang_ref *hang_refs_of(const struct hang_job *job, const struct hang_op *op, uint32_t rank,
                                    size_t *count);

/* The text of the first entry of OP: "all_reduce". */
name_id hang_op_text(const struct hang_job *job, uint32_t op);
bool hang_op_needs_all(const struct hang_job *job, uint32_t op);

/* Has a member of GROUP other than RANK done collective SEQ, by an entry or by its status? OP: of the same; HANG_NONE. */
bool hang_others_have_done(const struct hang_job *job, uint32_t group, int64_t seq, uint32_t op,
                           uint32_t rank);

/* So many members of `order` are behind SEQ. */
size_t hang_missing(const struct hang_group *group, int64_t seq);

/* The ranks for which MARKS is not 0, in the arena of JOB. */
struct hang_ranks hang_ranks_of(struct hang_job *job, const uint8_t *marks);

/* Zeroed memory of COUNT items of SIZE in the arena of JOB. */
void *hang_zeroed(struct hang_job *job, size_t count, size_t size);

void hang_doubt(struct hang_job *job, enum hang_doubt doubt, uint32_t rank);

/*
 * graph.c - who waits for whom, as a graph of ranks and of helper nodes, linear in size.
 *
 * An operation in which the first N members of the order of its group are missing has an edge to node N - 1 of the
 * group, which has edges to that member and to node N - 2. Queue edges lead from a rank to those that have entered its
 * operation, and have it pending behind an older one that waits, or on a device that stopped.
 */

/* Mark the ranks with an edge into TARGETS in DIRECT, and all that reach it, those included, in REACHING; either may be
 * NULL. Both are by rank and must be 0; targets are not marked. */
void hang_graph_reach(const struct hang_job *job, const uint8_t *targets, uint8_t *direct, uint8_t *reaching);

/* Mark the ranks that RANK has an edge to in MARKS, by rank, which must be 0. */
void hang_graph_targets(const struct hang_job *job, uint32_t rank, uint8_t *marks);

/* Call ADD with each set of two ranks or more that wait for each other and, queue edges left aside, for nobody outside.
 * The ranks are ascending. */
void hang_graph_cycles(struct hang_job *job, void (*add)(struct hang_job *job, struct hang_ranks ranks));

/* words.c - how the results are named: for tables, pictures and sentences. All texts of struct buffer are appended. */

/* "never_entered", "stuck", "timed_out", "no_dump". */
const char *hang_class_word(enum hang_class class);
const char *hang_state_word(enum hang_state state);
const char *hang_doubt_word(enum hang_doubt doubt);

/* "timed_out, mismatch". */
void hang_add_proofs(struct buffer *out, unsigned proof);

/* A number with separators of thousands: "9,991". */
void hang_add_count(struct buffer *out, size_t count);

/* "0-2, 7", for people; "[0, 1, 2, 7]", for programs. */
void hang_add_ranks(struct buffer *out, struct hang_ranks ranks, bool for_people);

/* "rank 3", "ranks 3 and 5", "ranks 0-2 and 7", "1,024 ranks (0-1023)"; with UPPER, a capital. */
void hang_add_rank_words(struct buffer *out, struct hang_ranks ranks, bool upper);

/* "EXPERT_MODEL_PARALLEL_GROUP"; its name where it has no description. */
const char *hang_group_title(const struct hang_job *job, uint32_t group);

/* "all_reduce #6 of default_pg"; of a send or receive "recv 1<-0 of pp". */
void hang_add_operation(struct buffer *out, const struct hang_job *job, uint32_t group, int64_t seq,
                        name_id op);

/* "train.py:88" of the newest entry of RANK; NULL: not recorded. */
const char *hang_last_call(const struct hang_job *job, uint32_t rank);

/* One sentence about CAUSE, without waiters and without its stop; with UPPER, a capital. IN_DOUBT: its ranks are suspects
 * only. */
void hang_add_cause(struct buffer *out, const struct hang_job *job, const struct hang_cause *cause,
                    bool upper, bool in_doubt);

/* One sentence about a doubt of JOB. */
void hang_add_doubt(struct buffer *out, struct hang_job *job, enum hang_doubt doubt);

/* Does CAUSE name its ranks as culprits, rather than as suspects or not at all? */
bool hang_names_culprits(enum hang_class class);

/*
 * hang.c - the post-mortem of stuck distributed jobs, from dumps of the Flight Recorder.
 *
 *     struct flight *flight = flight_read(paths, count, max_ratio, err);
 *     struct hang *hang = hang_open(flight);            // a job, or several
 *     hang_add_tables(hang, for_people, result);
 *     result->picture = hang_picture(hang);
 *     arena_free(hang);
 *     flight_free(flight);
 */

struct hang {
    struct flight *flight; /* borrowed */
    VEC_OF(struct hang_job *) jobs;
};

/* Split FLIGHT, which is borrowed and changed (entries of torchcomms get numbers of their own), into jobs, and judge
 * each. New; free with arena_free. */
struct hang *hang_open(struct flight *flight);

/* The worst state of all jobs. */
enum hang_state hang_worst(const struct hang *hang);

/* Add the tables verdict, causes, groups, ranks and doubts, and notices: the verdicts, what could not be read, what to
 * do next. FOR_PEOPLE: runs of ranks are shortened. */
void hang_add_tables(struct hang *hang, bool for_people, struct result *result);
extern const struct table_shape hang_tables[];

/* Fill the answer of RESULT: of several jobs that of the first of the worst state. Texts are copied. */
void hang_add_answer(struct hang *hang, struct result *result);

/* Who waits for whom, a chart for each job with something to draw, equal ranks together; NULL if there is none. */
struct picture *hang_picture(struct hang *hang);

#endif
