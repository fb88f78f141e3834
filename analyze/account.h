/*
 * account.h - the account of a step: what a step is, how long it takes, and where that time goes.
 *
 *     const struct account *account = account_of(trace);
 *     printf("a step takes %" PRId64 " ns\n", account->all.step_ns);
 *     for (size_t part = 0; part < ACCOUNT_PARTS; part++)
 *         printf("%s %" PRId64 "\n", account_part_names[part], account_part_ns(&account->all, part));   // they add up to it
 *
 * Every figure about "a step" of any command is from here. docs/definitions.md has the definitions for users.
 *
 *     host     [ step 1     ][ step 2     ][ step 3     ][        host step: from its begin to the begin of the next
 *     device        [ work of 1 ]  [ work of 2 ]  [ work of 3 ]   device step: from the end of the work of the step before to
 *                   |           |<  device step >|                the end of its own
 *
 * - The marked steps are those of derive/step_list.h, without those that overlap another. Where only devices mark steps, both times
 *   are from begin to begin of the marks.
 * - The last step has no next: its range stands for its host step where all ranges before reach to the next (within 0.5 %),
 *   it was recorded to its end, and another step took about as long: at the end hosts wait for all that they launched. The second
 *   of two that launched nothing stands for itself if it is the shorter.
 * - THE STEP of a rank is the throughput of its steady state: the mean of its host steps that count; or of its device steps where
 *   these take longer by more than 2 %: then devices fall behind until the queue of launches is full, and the job is as fast as they.
 *   Of device steps those count after the last whose first work began late (2 % of a step), if these are three: at first, devices
 *   that will fall behind still wait for launches.
 * - Steps that differ by plan (step_pattern.h) count in whole periods, the last of the recording. Where nothing repeats, all steps count.
 *   A period does not count in which a step was not recorded, as numbers say, or is singular, unless none is whole.
 * - A singular step does not count: one that takes more than 1.5 times the time of all others, records the same events as they
 *   do or is the first, and neither waits longer for a batch nor has longer work on devices; or the first, if it mostly compiles. An
 *   unusual step that was recorded once and does differ counts, as it may be of a plan: once_without_ns is the mean without it.
 * - A recording without steps is one step, from the first begin to the last end of the file.
 *
 * The parts of a step are what its devices did from the begin of the first step that counts to the end of the last, without those
 * in between that do not count; of device steps from the end of the work before. They add up to that time exactly. Without devices
 * they are parts of the host. Of several ranks the slowest is how fast the job is.
 */
#ifndef TPA_ANALYZE_ACCOUNT_H
#define TPA_ANALYZE_ACCOUNT_H

#include "analyze/account_parts.h"

enum account_role {
    STEP_COUNTS,
    STEP_OF_PART_PERIOD, /* before the first whole period */
    STEP_SINGULAR,       /* see above */
    STEP_FIRST,          /* singular, and the first */
    STEP_CUT             /* not recorded to its end, or its end is not known */
};

struct account_step {
    uint32_t file;
    int64_t rank, number;
    event_id event;    /* the range on the host */
    int64_t start_ns;  /* on the clock of the file */
    int64_t host_ns;   /* 0: not known */
    int64_t device_ns; /* 0: not known */
    int64_t work_start_ns, work_end_ns;
    int64_t
        waited_before_ns; /* of the only step, within host_ns: for work launched before the recording; does not count */
    size_t work;  /* operations on devices that it launched */
    size_t waits; /* calls that waited */
    enum account_role role;
};

enum account_limit { LIMIT_HOST, LIMIT_DEVICES };

/* The account of a rank, or of all. */
struct account_rank {
    int64_t rank;  /* TABLE_INT_MISSING: all */
    uint32_t file; /* its first */
    size_t count;  /* steps that count; of a recording without steps 1 */
    bool has_steps;
    int64_t total_ns; /* of the steps that count */
    int64_t step_ns;  /* total_ns / count, rounded down */
    int64_t median_ns;
    enum account_limit limit;
    int64_t host_step_ns, device_step_ns; /* means; 0: not known */
    size_t device_count;                  /* with work in these steps; 0: the parts are those of the host */
    int64_t part_ns[ACCOUNT_PARTS];       /* of all devices added up: max(device_count, 1) * total_ns */
    int64_t recorded_ns;                  /* how long the recording of the rank is: the spans of its files */
    /* What differs by plan: */
    size_t period;      /* every so many steps; 1: steps are alike, or nothing repeats */
    size_t every;       /* each so manieth step is unusual; 0: none is, or they do not lie apart evenly */
    int64_t unusual_ns; /* their mean; 0: none is unusual */
    int64_t usual_ns;   /* the mean of the others */
    struct text
        reason; /* what the unusual ones do that others do not: "waits for the device"; empty: not known */
    size_t
        missing; /* steps that ran between those of the file and are not in it, as their numbers say; 0: none, or nothing repeats */
    int64_t missing_first; /* the number of the first of them */
    int64_t once;          /* number of the unusual step that was recorded once and counts; INT64_MIN: none */
    bool once_is_first;    /* of the recording: it may be to warm up */
    int64_t once_without_ns;
    int64_t singular; /* number of the step left out as singular; INT64_MIN: none */
    int64_t singular_ns;
    bool singular_unrecorded; /* for most of that time it waited for a rank whose recording had not begun */
    bool singular_compiles;   /* for most of it programs were compiled, and it is the first */
};

typedef VEC_OF(struct account_step) account_steps;

struct account {
    VEC_OF(struct account_rank); /* by rank */
    account_steps steps;         /* by file and start: all that are marked and do not overlap */
    struct account_rank all;     /* the slowest rank; parts, devices and total_ns are those of all ranks */
    size_t overlapping;          /* marked steps left out */
    bool has_steps;
};

/* That of all of TRACE, computed when first requested. Borrowed; lives as long as TRACE. */
const struct account *account_of(const struct trace *trace);

/* The same of the files and, by their begins on the host, steps of SELECTION. Release with arena_free (NULL is allowed). */
const struct account *account_open(const struct trace *trace, const struct selection *selection);

/* That of RANK; NULL if there is none. */
const struct account_rank *account_rank_of(const struct account *account, int64_t rank);

/* How long STEP took, by what the step of its rank is: on the host or on devices; what a step takes if that is not known. */
int64_t account_step_time(const struct account *account, const struct account_step *step);

/* When STEP was, by what the step of its rank is, on the clock of its file; false: its time is not known. */
bool account_step_window(const struct account *account, const struct account_step *step,
                         struct interval *window);

/* How long PART of a step of a mean device takes: rounded so that all parts add up to step_ns. */
int64_t account_part_ns(const struct account_rank *of, size_t part);

/* The share of a step in which its devices are idle; NaN without devices. */
double account_idle_share(const struct account_rank *of);

/* Append how steps differ, "every 5th step waits for the device: 27.533 ms, others 17.9 ms"; nothing where they do not. And
 * what was left out. */
void account_describe_pattern(const struct account_rank *of, struct buffer *text);

/* Is less than half of the time of the steps that count within what their files recorded? Then none of the rest is idle, and nothing
 * has a price. *RECORDED_NS: what was recorded of one, on average. ACCOUNT may be NULL. */
bool account_is_unrecorded(const struct trace *trace, const struct account *account, int64_t *recorded_ns);

#endif
