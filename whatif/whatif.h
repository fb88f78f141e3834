/* whatif.h - times of steps after changes. */
#ifndef TPA_WHATIF_WHATIF_H
#define TPA_WHATIF_WHATIF_H

#include "whatif/edits.h"
#include "whatif/path.h"

/*
 * step_times.c - the time of each step, recorded and replayed.
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
    /* The step time: that of the account (analyze/account.h), and the same in the steady state of the replay (rounds.c). Where there
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

/* The steps as REPLAY, which was made with CHANGES, has them; WHOLE: the recording as one. New; free with arena_free (NULL is
 * allowed). */
struct step_times *step_times_open(const struct replay *replay, const struct changes *changes, bool whole);
/* The same of a replay with CHANGES, of which nothing else is kept, so that it takes little memory. */
struct step_times *step_times_with(const struct changes *changes);

/* The step time alone, now and then, with CHANGES: the members of struct step_times that are no steps. */
struct step_gain step_times_gain(const struct changes *changes);

/* The graph that changes have to be of for step_times_gain: rounds_graph_of where the rounds tell the step time, which then takes less
 * time and memory to make than replay_graph_of; else that. Borrowed; lives as long as TRACE. */
const struct replay_graph *step_times_graph_of(const struct trace *trace);

/*
 * rounds.c - the steady state of a replay: the steps that count, round after round.
 *
 *     const struct rounds *rounds = rounds_of(trace);
 *     struct steady steady;
 *     if (rounds && rounds_replay(rounds, changes, &steady))
 *         printf("a step would take %" PRId64 " ns\n", steady.step_ns);
 *
 * A recording is too short to tell how fast a changed job would be: a host that has less to do runs ahead of its devices, a backlog
 * drains, ranks catch up. So the steps that count (analyze/account.h), a whole number of periods of what they repeat in, are replayed
 * again and again, each round behind the one before:
 *
 * - A thread goes on where it was at the end of the round before. One that was idle then also waits for the thread of the steps.
 * - A stream goes on with the work of the next round when that of the round before has ended.
 *   Operations that were launched one by one leave as much time between them as queued ones do, once they are.
 * - What depends on work from before the round, as a wait or a launch into a full queue, depends on the work as many places back in the
 *   round before.
 * - A wait before anything was launched in the recording waits for all work of the round before.
 * - Steps between those that count are left out: what follows them follows the step before them.
 *
 * A round takes as long as the slowest of the threads of the steps, and of the streams, needs from its end to the next: of all ranks.
 * Each cycle of a rank has rounds of its own, and the step of the rank is their mean.
 * Rounds are replayed until two take the same, and all that work waits for is of such rounds. Then a step takes that over the steps of a round. No part of that can be faster than
 * the work that is left, the host's own time or another rank, as each round has all of them.
 */

struct rounds;

/* Those of TRACE, computed when first requested; NULL: no steps on the host that count. Borrowed; live as long as TRACE. */
const struct rounds *rounds_of(const struct trace *trace);

/* The graph that they are of: where they leave out steps of many, its order and its edges to the start of work are of their moments
 * only (replay_graph_open_for), unless the whole is known already. Borrowed; lives as long as TRACE. */
const struct replay_graph *rounds_graph_of(const struct trace *trace);

enum steady_limit { STEADY_HOST, STEADY_DEVICE };

/* How long a step of a job takes in its steady state, and what it is as fast as. */
struct steady {
    double step_ns;
    enum steady_limit limit;
    uint32_t file; /* of the limit */
    double
        host_ns; /* the least that a host needs for a step: all pieces that wait for nothing; of the slowest rank */
    double device_ns;     /* the least that a stream does: its work; of the busiest */
    unsigned round_count; /* that were replayed */
    bool settled;         /* the last two took the same time (0.01 %) */
};

/* CHANGES may be NULL. */
struct steady rounds_replay(const struct rounds *rounds, const struct replay_graph *graph,
                            const struct changes *changes);

/* The same without changes, computed when first requested. */
const struct steady *rounds_recorded(const struct trace *trace);

/* The least that a step takes with CHANGES, in ns: the work that is left of its busiest stream, without collectives. */
double rounds_least(const struct rounds *rounds, const struct replay_graph *graph,
                    const struct changes *changes);

/*
 * moved.c - when every event of a trace comes in a replay: the predicted timeline.
 *
 *     struct moved *moved = moved_open(replay);
 *     struct moved_times times = moved_times_of(moved, e);
 *     arena_free(moved);
 */

struct moved;

/* New: of REPLAY, which is borrowed and kept all moments. Free with arena_free (NULL is allowed). */
struct moved *moved_open(const struct replay *replay);

struct moved_times {
    int64_t start_ns, end_ns;
};

/* When event E begins and ends, on the clock of its file, in ns; it never ends before it begins. Spans and work come when the replay
 * says, other events of their threads in proportion. What only marks work of devices, such as a step that only they mark, an annotation's
 * shadow or an operator of XLA, begins as much sooner as the first work that began within it, and ends as the last that ended: of its
 * stream, else of its device, and of its file for a mark that lies on no stream. Without any it moves with the work before it. Events of other
 * threads stay. */
struct moved_times moved_times_of(const struct moved *moved, event_id e);

/*
 * whatif.c - what a set of edits would gain: the step time now and then.
 *
 *     struct edit edits[] = { { .kind = EDIT_NO_DATA_WAIT } };
 *     struct whatif *whatif = whatif_open(graph, edits, 1, false, &err);
 *     int64_t saved_ns = whatif->steps->now_ns - whatif->steps->then_ns;
 *     arena_free(whatif);
 *
 * For one figure alone, as the price of a finding:
 *
 *     struct step_gain gain;
 *     if (!whatif_gain(graph, edits, 1, &gain, &err)) ...
 *
 * Gains of single edits do not add up: two that hide the same idle time gain it once, and one may only help when another is made.
 */

/* What one of the edits would gain alone. */
struct edit_gain {
    struct edit_effect effect;
    int64_t then_ns; /* the step time */
};

struct whatif {
    const struct replay_graph *graph; /* borrowed */
    struct step_times *steps;         /* with all edits made */
    struct edit_gain *gains;          /* of each edit, as many as were given */
    size_t edit_count;
    double batch; /* times the samples of a step, as edits say; 1: as recorded */
    /* The step time at the least and the most that contention costs, if communication is hidden, or that a larger batch takes;
     * INT64_MIN: not known. */
    int64_t then_low_ns, then_high_ns;
    /* How sure: of the critical path of the median step, the share of time that the recording does not explain and the replay
     * keeps as it was: gaps of the host, except those of the loading of data, of modules and annotations that edits shorten; pauses
     * of streams, what is unknown. */
    double unexplained_share;
    /* The critical path of that step, from its begin to the next on the host: what it is made of, now and then. All 0 where no
     * thread runs the steps. */
    int64_t now_parts_ns[PATH_PARTS], then_parts_ns[PATH_PARTS];
};

/* New; free with arena_free. WHOLE: the recording is one step. NULL and ERR when an edit does not fit the trace. */
struct whatif *whatif_open(const struct replay_graph *graph, const struct edit *edits, size_t count,
                           bool whole, struct tpa_error *err);

/* The replay with all of EDITS made. New; free with replay_free. NULL and ERR when an edit does not fit the trace. */
struct replay *whatif_replay(const struct replay_graph *graph, const struct edit *edits, size_t count,
                             struct tpa_error *err);

/* False and ERR when an edit does not fit the trace. One replay: linear time. See step_times_gain for changes that the caller
 * made. */
bool whatif_gain(const struct replay_graph *graph, const struct edit *edits, size_t count,
                 struct step_gain *gain, struct tpa_error *err);

/* whatif_tables.c - what a set of edits would gain, as tables: "result", "steps", "edits"; and a sweep. */

/* Add the tables to RESULT, with a sentence on top that is the answer, and what the prediction takes for granted. */
void whatif_add_tables(const struct whatif *whatif, const struct edit *edits, struct result *result);

/* One factor of a sweep. */
struct sweep_point {
    double factor;
    int64_t now_ns, then_ns;
};

/* Add the table "sweep", and a picture of it, to RESULT. WHAT is swept, in words, kept by RESULT. */
void whatif_add_sweep(const struct sweep_point *points, size_t count, const char *what,
                      struct result *result);

/* The tables that may come of it, for `tpa help`; ends in { 0 }. */
extern const struct table_shape whatif_tables[];

#endif
