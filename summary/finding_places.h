/* finding_places.h - where in a trace the rules of findings look: which events, the calls behind them, and
 * the share of each rank. */
#ifndef TPA_SUMMARY_FINDING_PLACES_H
#define TPA_SUMMARY_FINDING_PLACES_H

#include "whatif/replay.h"
#include "summary/state.h"

/* The host time or device work that a rule is about. */
struct place {
    name_id name;     /* the name whose events took most, added up; NAME_NONE: there is none */
    event_id longest; /* of these the one that took most; EVENT_NONE */
    int64_t time_ns;  /* of that name */
    int64_t all_ns;   /* of all names */
};

/* Is E of the place? May depend on its kind and name alone. */
typedef bool place_holds(const struct trace *trace, event_id e);

/* The place of all events of TRACE that HOLDS. */
struct place place_find(const struct trace *trace, place_holds *holds);

/* Add ", mostly by aten::copy_, train.py(12): step" to OUT: the operator around most of the time of the name of PLACE, and the line
 * of the longest there, as far as they are recorded. "the most by": of several, by none of which is half. */
void place_add_caller(const struct trace *trace, const struct place *place, struct buffer *out);

/* The same of one call, on the host: ", by aten::copy_, train.py(12): step". */
void place_add_caller_of(const struct trace *trace, event_id call, struct buffer *out);

/* The longest call that took ten times what later calls of its name usually take, and was the first of it or of a kernel; EVENT_NONE: there is none. */
event_id place_first_use(const struct trace *trace);

/* By rank of SUMMARY, a share of the rank's time, 0 to 1: what the events of HOLDS took (all 0 where there is one rank, for
 * which it is not shown), and how long its devices idled for CAUSES. New; free(). */
double *shares_of_ranks(const struct summary *summary, place_holds *holds);
double *shares_of_idle_time(const struct summary *summary, const enum gap_cause *causes, size_t count);

/* Add "16 of 16 ranks, 37.0 to 42.4 %, worst rank 0" to OUT; nothing for a single rank. */
void shares_add_ranks(const struct summary *summary, const double *shares, struct buffer *out);

enum rank_longer {
    LONGER_UNKNOWN,
    LONGER_DEVICE,  /* its kernels, of all names alike, as often as on the others */
    LONGER_KERNELS, /* it runs more of them */
    LONGER_KERNEL,  /* that of one name */
    LONGER_LOADING, /* the loop waits longer for its batches */
    LONGER_EVENT,   /* operators, calls or ranges of one name on the host */
};

/* What a rank does longer than the mean of the others. */
struct rank_difference {
    enum rank_longer longer;
    name_id
        name; /* the one that explains most of it, of what nests the innermost; NAME_NONE: LONGER_UNKNOWN */
    int64_t time_ns; /* what takes longer, of that name, in all */
    double pace; /* LONGER_DEVICE: how long its kernels take relative to the others': 1.05 is 5 % longer */
    double more; /* LONGER_KERNELS: how many it runs more */
};

/* That of RANK, which is LATE_NS late in all: UNKNOWN where nothing takes a fourth of that longer, or where its
 * host only waits longer for its devices. */
struct rank_difference rank_difference_of(const struct summary *summary, int64_t rank, int64_t late_ns);

/* How long the devices of all ranks idled for CAUSES, in ns. */
int64_t idle_time_for(const struct summary *summary, const enum gap_cause *causes, size_t count);

#endif
