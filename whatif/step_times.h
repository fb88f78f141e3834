/*
 * step_times.h - the time of each step, recorded and replayed.
 *
 * A step takes from its begin on the host to the begin of the next: the period in which the job repeats. The last step has no
 * next; its range on the host stands for it, and does not count for the median when others do. A recording without steps is one
 * step, from the first begin to the last end.
 *
 * Where only devices mark steps, one begins with the first of its work and ends with the last.
 *
 * A host that has less to do runs ahead of its devices, but not for ever. So a step takes no less than its devices need: from
 * when the work of the step before was done to when its own is; a first step what the next like it needs; a single step, which may begin
 * with a wait for what was launched before it, from its begin on the host. By how much they needed more than the host in the
 * recording, because it ran ahead there already, they may need more in the replay.
 *
 * Of three periods and more that follow another, one that takes the devices longer than the host is followed by others that take them
 * less. So together they take what the host takes for all of them, or what the devices need for all, whichever is more.
 *
 * Where that is so for all steps of a file, whose devices take longer for them than the host (together 5 % and more), the devices fall
 * behind until the host waits for them once at the end, or for room in a full queue. Then a step takes what they need, now and then:
 * that is what the job repeats in.
 *
 * Nor is the host the measure where it is uneven, as it runs ahead in some steps and is held up in others, while its devices are not:
 * its periods are apart from their mean by more than 5 % of it, and those of the devices by less than half as much. Then, too, a step
 * takes what the devices need.
 *
 * In both cases an edit that shortens a step by ending it sooner begins the next sooner, which then seems longer. Where the devices
 * need the same for all steps, each takes the share that is left of the time of all of them. Which of these cases it is depends on
 * the recording alone, not on the edits.
 *
 * Of several ranks the slowest is how fast the job is: ranks that wait for one another take as long, and where an edit lets them
 * not wait, a mean of them would promise what no job gets.
 */
#ifndef TPA_WHATIF_STEP_TIMES_H
#define TPA_WHATIF_STEP_TIMES_H

#include "whatif/replay.h"

struct step_time {
    uint32_t file;
    int64_t number;        /* INT64_MIN: it is all that was recorded */
    bool is_period;        /* from its begin to that of the next */
    int64_t start_ns;      /* recorded, on the clock of the graph */
    int64_t begin_then_ns; /* when its replay begins; earlier where what came before takes less */
    moment_id start, end;  /* of its thread; MOMENT_NONE: there are no such moments */
    int64_t now_ns, then_ns;
    int64_t host_then_ns; /* then, if the devices do not matter */
    int64_t device_now_ns,
        device_then_ns; /* what the devices needed; 0: nothing is known, or they did nothing */
    int64_t devices_begin_ns,
        devices_begin_then_ns; /* of their first work; then: of the first step of a file only */
    int64_t devices_end_now_ns, devices_end_then_ns;
};

/* What keeps a step from being faster. */
enum step_bound_kind {
    BOUND_UNKNOWN, /* there are no rounds */
    BOUND_HOST,    /* the thread of the steps */
    BOUND_DEVICE,  /* a stream: its work, and its pauses */
    BOUND_WORK     /* the work of a device alone: a replay that takes less is wrong */
};

struct step_bound {
    enum step_bound_kind kind;
    int64_t rank;
    int64_t work_ns; /* of a step on the busiest stream, then */
};

struct step_times {
    VEC_OF(struct step_time); /* by file and start */
    /* The step time: that of the account (analyze/account.h), and the same in the steady state of the replay (rounds.h). Where there
     * are no rounds, the mean of the periods of a rank, of all its steps where it has no period; of several ranks that of the slowest.
     * 0: nothing was recorded. And the median of these periods. */
    int64_t now_ns, then_ns;
    int64_t median_now_ns, median_then_ns;
    struct step_bound bound; /* what the step is as fast as then */
    size_t overlapping;      /* ranges of steps left out, as they overlap others */
};

/* The step time now and after a set of edits. */
struct step_gain {
    int64_t now_ns, then_ns;
    struct step_bound bound;
    size_t count; /* events that the edits touched */
};

/* The steps as REPLAY, which was made with CHANGES, has them; WHOLE: the recording as one. New; free with step_times_free (NULL is
 * allowed). */
struct step_times *step_times_open(const struct replay *replay, const struct changes *changes, bool whole);
/* The same of a replay with CHANGES, of which nothing else is kept, so that it takes little memory. */
struct step_times *step_times_with(const struct changes *changes);
void step_times_free(struct step_times *times);

/* The step time alone, now and then, with CHANGES: the members of struct step_times that are no steps. */
struct step_gain step_times_gain(const struct changes *changes);

#endif
