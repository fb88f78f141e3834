/* gather.h - the figures of recordings. */
#ifndef TPA_FIGURES_GATHER_H
#define TPA_FIGURES_GATHER_H

#include "derive/device_use.h"
#include "figures/facts.h"
#include "derive/collectives.h"

/*
 * device_times.c - how a device spent intervals of its time.
 *
 *     static void stop(void *step, const struct fleet_timeline *line, const struct timeline_moment *moment)
 *     {
 *         (moment->what ? timeline_end : timeline_begin)(line, step->start_ns, step->end_ns, step->part_ns);
 *     }
 *
 *     struct timeline_moment moments[] = { { step->start_ns, 0, 0 }, { step->end_ns, 0, 1 } };
 *     timeline_walk(gpu, device, finder, moments, 2, stop, step);
 *
 * Idle time is split by cause as tpa gaps does. If a gap extends beyond the interval, the part within counts for the
 * cause of the gap's largest part. Neither gaps nor what the device did are kept, as
 * there may be as many as kernels: so the intervals are known before, and the line stops where they begin and end.
 */

/* A set of intervals, with prefix sums of their lengths. */
struct measured {
    struct intervals set;
    int64_t *before_ns; /* set.count + 1 of them */
};

/* Take the intervals of SET, which is finished and left empty. The memory is of ARENA, and MEASURED must stay where it is as long. */
void measured_collect(struct measured *measured, struct intervals *set, struct arena *arena);
int64_t measured_within(const struct measured *measured, int64_t start_ns, int64_t end_ns);

/* What a device has done until a moment. */
struct fleet_timeline {
    int64_t used_ns[DEVICE_USES]; /* exposed: each moment once */
    int64_t communicated_ns;      /* overlapped communication included */
    int64_t idle_ns[GAP_CAUSES];  /* the gaps that have ended, by cause */
    const struct gap *gap; /* that the moment lies in, neither at its start nor at its end; NULL: none */
};

struct timeline_moment {
    int64_t at_ns;
    uint32_t row, what; /* for the caller */
};

typedef void timeline_stop(void *context, const struct fleet_timeline *line,
                           const struct timeline_moment *moment);

/* Let STOP see the timeline of the device of index DEVICE at each of COUNT MOMENTS, which are sorted by time. FINDER finds gaps
 * of any length, and has not visited the device. Returns how long the device was busy, in ns. */
int64_t timeline_walk(const struct gpu_events *gpu, uint32_t device, struct gap_finder *finder,
                      struct timeline_moment *moments, size_t count, timeline_stop *stop, void *context);

/* How [START, END) was spent, into PART_NS, which is 0 at first. The line stops at its start for timeline_begin and at its
 * end for timeline_end; the parts, which then add up to its length, are known after both. Before the first work of the device
 * nothing has to begin. */
void timeline_begin(const struct fleet_timeline *line, int64_t start_ns, int64_t end_ns,
                    int64_t part_ns[FACTS_PARTS]);
void timeline_end(const struct fleet_timeline *line, int64_t start_ns, int64_t end_ns,
                  int64_t part_ns[FACTS_PARTS]);

/*
 * gather.c - the facts of a trace: the data kept of each of its files for the analysis of a whole job.
 *
 *     struct facts *facts = facts_open();
 *     facts_gather(facts, trace, &(struct gather_options){ .job = "pretrain" });
 *     facts_finish(facts);
 */

/* The parts of a trace that must be read. */
extern const struct trace_wants gather_wants;

/* Adds what the rank of each file did as FACTS_OPERATIONS: of tpa job, which knows how. */
struct gather_operations {
    void *(*open)(const struct trace *trace, const struct collectives *collectives);
    /* Add those of FILE, once, to OWN, the facts of its recording, and what is known of them to ROW. */
    void (*add)(void *opened, uint32_t file, struct facts *own, struct facts_recording *row);
    void (*close)(void *opened);
};

struct gather_options {
    const char *job;                            /* name of the job; NULL: not recorded */
    const struct gather_operations *operations; /* NULL: facts without them */
    bool
        only_operations; /* leave out names, and what devices did in steps and until collectives: for tpa job alone */
};

/* Add a recording for each file of TRACE. Time is linear in events except for sorting; call facts_finish afterwards. */
void facts_gather(struct facts *facts, const struct trace *trace, const struct gather_options *options);

#endif
