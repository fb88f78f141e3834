/*
 * replay.h - when everything would have happened, had some of it taken another time.
 *
 *     struct changes *changes = changes_open(graph);
 *     factors_scale(&changes->work, i, 0.5);             // this kernel twice as fast
 *     struct replay *replay = replay_open(graph, changes);
 *     int64_t end_ns = replay_time_of(replay, replay_work_end(graph, i));
 *     replay_free(replay);
 *     changes_free(changes);
 *
 * One pass over the moments in order: each comes as early as what it depends on allows. What bound it in the recording keeps the
 * lag that was recorded; everything else it depends on only has to come before. So without changes every moment is where it was
 * recorded, to the nanosecond. What depends on nothing, such as the first moment of a thread, stays where it was. A call that
 * waited for work keeps its recorded delay after the work, or after its own begin. Changed times are rounded down to
 * nanoseconds.
 */
#ifndef TPA_WHATIF_REPLAY_H
#define TPA_WHATIF_REPLAY_H

#include "whatif/factors.h"
#include "whatif/graph.h"

/* What takes how much of its recorded time: 1 is as recorded, 0 is gone. Changes multiply. */
struct changes {
    const struct replay_graph *graph; /* borrowed */
    struct factors piece; /* by moment of a thread: the piece of the host that leads to it; gaps too */
    struct factors work;  /* by work */
    uint64_t *dropped;    /* a bit for each edge: the moment does not depend on it any more; NULL: none */
    bool
        shortens_launches; /* work begins as much sooner after the begin of its launch as that call is shorter */
    bool
        keeps_queued; /* work that was queued for no known reason while its device idled waits as long again */
    int64_t
        least_pause_ns; /* of a stream between operations that did not follow one another at once; at most the recorded one */
};

/* New, nothing changed; free with changes_free (NULL is allowed). */
struct changes *changes_open(const struct replay_graph *graph);
void changes_free(struct changes *changes);

/* Undo all changes. */
void changes_clear(struct changes *changes);

/* Let its moment not depend on EDGE any more; was that done? CHANGES may be NULL in the latter: nothing was. */
void changes_drop_edge(struct changes *changes, size_t edge);
static inline bool changes_dropped(const struct changes *changes, size_t edge)
{
    return changes && changes->dropped && changes->dropped[edge / 64] >> (edge % 64) & 1;
}

/*
 * Make MORE, the changes of one edit of the same graph, beside those of TO, as if the edit had been applied to TO. False, and TO is
 * as it was, where that is not known to give the same to the last bit: then the edit has to be applied.
 */
bool changes_lay_over(struct changes *to, const struct changes *more);

/* Let thread THREAD take FACTOR of its time within [START, END), on the clock of the graph: every piece, in so far as it lies there. */
void changes_scale_range(struct changes *changes, size_t thread, int64_t start_ns, int64_t end_ns,
                         double factor);

/* How long after moment FROM, at which the call began that launched it, the work that begins at M does so: as recorded, or less
 * with changes->shortens_launches. CHANGES may be NULL. */
int64_t replay_launch_lag(const struct replay_graph *graph, const struct changes *changes, moment_id from,
                          moment_id m);

/* What work that begins at M leaves free after that of its stream which ended at FROM, and did not bind it. CHANGES may be NULL. */
int64_t replay_least_pause(const struct replay_graph *graph, const struct changes *changes, moment_id from,
                           moment_id m);

/* When every moment comes. */
struct replay {
    const struct replay_graph *graph; /* borrowed */
    struct shifts shifts; /* of each moment, from when it was recorded; forgotten where KEPT is set */
    const moment_id *
        kept; /* ascending, borrowed: the only moments that replay_kept_time_of and replay_time_at may ask about; NULL: all */
    const int64_t *kept_ns; /* their shifts; borrowed */
    size_t kept_count;
};

/* New; free with replay_free (NULL is allowed). CHANGES may be NULL: none. Linear time. */
struct replay *replay_open(const struct replay_graph *graph, const struct changes *changes);
void replay_free(struct replay *replay);

/*
 * The same, of which few moments matter: VISIT sees each block of SHIFTS_OF_BLOCK moments once all of these have come and nothing else
 * asks for them, and says whether to keep it; else it is forgotten. Thus the replay takes the memory of what is under way, not of the
 * whole recording.
 */
typedef bool replay_visit(void *context, const struct replay *replay, size_t block);
struct replay *replay_pass_by(const struct replay_graph *graph, const struct changes *changes,
                              replay_visit *visit, void *context);

/* When moment M comes, on the clock of the graph. */
static inline int64_t replay_time_of(const struct replay *replay, moment_id m)
{
    return (int64_t)((uint64_t)replay_recorded_ns(replay->graph, m) +
                     (uint64_t)shifts_get(&replay->shifts, m));
}

/* The moments that replay_time_at asks for: AT, and the one before where BEFORE is not MOMENT_NONE. */
struct replay_moments {
    moment_id at, before;
};
struct replay_moments replay_moments_at(const struct replay_graph *graph, size_t thread, int64_t ns);

/* When M comes, one of those that REPLAY kept; on the clock of its graph. */
int64_t replay_kept_time_of(const struct replay *replay, moment_id m);

/* When thread THREAD would be where it was at NS: between two moments in proportion; before the first and behind the last as far
 * from these as recorded. */
int64_t replay_time_at(const struct replay *replay, size_t thread, int64_t ns);

/* ---- the pass, moment by moment, for rounds.h ---- */

struct replay_pass {
    const struct replay_graph *graph;
    const struct changes *changes; /* NULL: none */
    struct replay *replay;         /* the shifts so far */
    int64_t
        usual_pause_ns; /* of a stream between operations that did not follow one another at once; at most the recorded one */
    uint64_t *first; /* a bit for each moment of a thread: the thread's first */
    /* The shift of FROM, on which M depends, INT64_MIN: it does not matter; NULL: that of the replay. */
    int64_t (*shift_from)(const struct replay_pass *pass, moment_id from, moment_id m);
};

/* What a moment follows: the moment before it, by how much that is shifted, and how long after it the moment was recorded. */
struct replay_before {
    int64_t shift_ns, own_ns;
};

/* The factor of the piece that leads to M, or of the work that ends at M; 1 for others. */
float replay_factor_of(const struct replay_pass *pass, moment_id m);

/* The shift of M, with edges RANGE, which follows BEFORE; NULL: nothing. */
int64_t replay_shift_of(const struct replay_pass *pass, moment_id m, const struct replay_before *before,
                        struct edge_range range, float factor);

/* The shift of a moment that depends on nothing but the one OWN_NS before it, shifted by BEFORE_NS. */
int64_t replay_shift_behind(int64_t before_ns, int64_t own_ns, float factor);

#endif
