/*
 * rounds.h - the steady state of a replay: the steps that count, round after round.
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
#ifndef TPA_WHATIF_ROUNDS_H
#define TPA_WHATIF_ROUNDS_H

#include "whatif/replay.h"

struct rounds;

/* Those of TRACE, computed when first requested; NULL: no steps on the host that count. Borrowed; live as long as TRACE. */
const struct rounds *rounds_of(const struct trace *trace);

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

#endif
