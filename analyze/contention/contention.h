/* contention.h - kernels that slow each other down. */
#ifndef TPA_ANALYZE_CONTENTION_CONTENTION_H
#define TPA_ANALYZE_CONTENTION_CONTENTION_H

#include "derive/collectives.h"
#include "analyze/analysis.h"

/*
 * beside.c - what ran beside the work of each stream of a device: on another of its streams, at the same moment.
 *
 *     const struct beside *beside = beside_of(trace);
 *     int64_t any_ns = beside_time(beside, stream, BESIDE_ANY, start_ns, end_ns);
 *
 * A moment counts for a class if work of this class alone ran beside; a moment with several classes counts for none of them, but
 * for BESIDE_ANY.
 */

enum beside_kind { BESIDE_COMMUNICATION, BESIDE_KERNEL, BESIDE_COPY, BESIDE_MEMSET, BESIDE_KINDS };

/* "communication", "kernel", "copy", "memset". */
const char *beside_kind_name(enum beside_kind kind);

/* Communication by collective and process group; copies by direction. */
struct beside_class {
    enum beside_kind kind;
    uint32_t what;              /* enum collective_kind, or enum copy_direction */
    name_id kernel;             /* of communication of unknown kind; else NAME_NONE */
    name_id group, description; /* of the process group, in trace->texts; NAME_NONE if not recorded */
};

#define BESIDE_ANY UINT32_MAX

/* When a class, and no other, ran beside the work of a stream. */
struct beside_set {
    uint32_t class; /* of beside.classes, or BESIDE_ANY */
    struct intervals when;
    int64_t *before_ns; /* by index of when.at: lengths of those before it */
};

struct beside {
    const struct trace *trace; /* borrowed, as collectives' gpu events */
    const struct gpu_events *gpu;
    struct collectives *collectives;
    const struct gpu_streams *streams;
    VEC_OF(struct beside_class) classes;
    uint32_t *class_of; /* by position of gpu->event */
    struct beside_stream {
        VEC_OF(struct beside_set) sets;
    } * of_stream; /* by stream of STREAMS */
};

/* That of TRACE, derived when first requested. Borrowed; lives as long as TRACE. Needs the arguments COLLECTIVES_WANTS. */
const struct beside *beside_of(const struct trace *trace);

/* The time of [START, END) in which CLASS alone, or anything (BESIDE_ANY), ran beside STREAM. */
int64_t beside_time(const struct beside *beside, size_t stream, uint32_t class, int64_t start_ns,
                    int64_t end_ns);

/* What it is: "all_reduce", "HtoD"; missing for kernels and memsets. Borrowed. */
struct text beside_class_text(const struct beside *beside, uint32_t class);

/* The description of its process group; missing without. Borrowed from the trace. */
struct text beside_class_group(const struct beside *beside, uint32_t class);

/* runs.c - the executions of kernels, as contention.c compares them. */

/* An execution of a kernel that does not communicate. There are many: the order of the fields leaves no gaps. */
struct run {
    int64_t start_ns, duration_ns;
    int64_t any_ns;       /* time beside anything */
    double level;         /* of its step: what its duration is divided by, to compare places */
    uint32_t position;    /* of gpu_events.event */
    uint32_t device;      /* of gpu_events.devices */
    uint32_t kernel;      /* id of device and name */
    uint32_t cell;        /* id of what makes executions alike */
    uint32_t nth;         /* of its name in the operator call */
    uint32_t place;       /* of the cell in its step */
    event_id owner;       /* the operator or call that launched it; EVENT_NONE */
    name_id name, before; /* BEFORE: of the work before it on its stream */
    int32_t step;         /* index into the steps; -1: in none */
    uint32_t first_overlap;
    uint32_t overlaps : 30; /* of contention_runs.overlaps */
    bool has_launch : 1;    /* are grid and block recorded? */
    bool has_shapes : 1;
};

/* The time that a run spent beside a class. */
struct overlap {
    uint32_t class;
    int64_t ns;
};

struct contention_runs {
    VEC_OF(struct run) runs; /* by kernel, cell and start */
    VEC_OF(struct overlap) overlaps;
    VEC_OF(bool) has_steps;  /* by file */
    VEC_OF(int64_t) tick_ns; /* by file: resolution of its clock */
};

/* The runs of SELECTION with what ran beside them. */
struct contention_runs contention_runs_collect(const struct beside *beside,
                                               const struct selection *selection);

/* Did it run alone: beside anything for at most 1 % of its duration? */
static inline bool run_is_alone(const struct run *run)
{
    return run->any_ns * 100 <= run->duration_ns;
}

/*
 * contention.c - how much slower kernels run because other work runs beside them.
 *
 *     const struct contention *contention = contention_of(trace);
 *     for (size_t i = 0; i < contention->pairs.count; i++)
 *         if (contention->pairs.at[i].slower)
 *             printf("%s x%.2f\n", contention->pairs.at[i].name.at, contention->pairs.at[i].factor);
 *
 * A pair is a kernel of a device and a class of work that ran beside it. Executions are compared only with executions of the same
 * launch shape, operator, shapes, place in the operator and predecessor, near in time or at the same place of a step. A pair is
 * judged only if enough of them were like each other. docs/definitions.md has the rules.
 */

#define CONTENTION_WANTS                                                                                     \
    (COLLECTIVES_WANTS | WANT(GRID) | WANT(BLOCK) | WANT(REGISTERS) | WANT(SHARED_MEMORY))

/* Times in ns. Factors, and times lost, are missing if not defined. */
struct contention_pair {
    struct text name; /* demangled */
    name_id name_id;
    uint32_t device_index, class; /* of gpu_events.devices, beside.classes */
    int64_t rank, device;
    struct text beside_kind, beside, group;
    int64_t count_alone, count_beside, mixed;
    int64_t overlapped_ns;
    int64_t median_alone_ns, median_beside_ns; /* of the executions that were compared */
    double factor, factor_low, factor_high;
    int64_t lost_ns, lost_low_ns, lost_high_ns; /* of overlapped */
    bool judged, slower;
    struct text why; /* why it is not judged */
    double p, correlation;
};

/* The pairs of a class, added up, over all devices; the last of several classes of communication: all communication. */
struct contention_sum {
    enum beside_kind kind;
    uint32_t class; /* of beside.classes, or BESIDE_ANY: all communication */
    struct text beside_kind, beside, group;
    int64_t overlapped_ns, judged_ns;
    int64_t lost_ns, lost_low_ns, lost_high_ns; /* of judged; missing if nothing is */
    double factor, factor_low, factor_high;
    int64_t pairs, judged_pairs;
};

struct contention {
    const struct trace *trace; /* borrowed */
    const struct beside *beside;
    VEC_OF(struct contention_pair) pairs; /* most overlapped first */
    VEC_OF(struct contention_sum) sums;   /* by kind */
    double tick_ns;                       /* the coarsest clock of the files */
};

/* The kernels of SELECTION: contention_of(TRACE) where that is all. Free with arena_free. Texts live as long as it and TRACE. */
const struct contention *contention_analyze(const struct trace *trace, const struct selection *selection);

/* Of all of TRACE, computed when first requested. Borrowed; lives as long as TRACE. */
const struct contention *contention_of(const struct trace *trace);

/* All communication, or the only class of it; NULL if none ran beside kernels. Borrowed. */
const struct contention_sum *contention_communication(const struct contention *contention);

/* All pairs, of all classes. */
struct contention_sum contention_total(const struct contention *contention);

static inline enum beside_kind contention_pair_kind(const struct contention *contention,
                                                    const struct contention_pair *pair)
{
    return contention->beside->classes.at[pair->class].kind;
}

/* The share of overlapped time that is lost at FACTOR. */
static inline double contention_lost_share(double factor)
{
    return 1 - 1 / factor;
}

/*
 * collectives.c - how much slower collectives run because their ranks compute meanwhile.
 *
 * The execution is the transfer: from the latest start to the earliest end on all ranks, on one clock or on corrected clocks. Its share beside is that in
 * which any of its ranks computes, as the slowest rank sets the pace. On one rank the time of a collective includes waiting for
 * others that compute, so that nothing can be judged.
 */

struct contended_collective {
    struct text collective, group;
    int64_t count; /* transfers */
    double factor, factor_low, factor_high;
    bool judged, slower;
    struct text why;
    int64_t beside_waiting_ns,
        beside_transfer_ns; /* computation of its ranks, added up; missing on one rank */
    double p;
};

struct contended_collectives {
    VEC_OF(struct contended_collective) rows; /* most transfers first */
};

/* Of SELECTION (NULL: all), by time of issue. Texts live as long as TRACE and CONTENTION. New; free with arena_free. */
struct contended_collectives *contended_collectives_open(const struct contention *contention,
                                                         const struct selection *selection);

/* tables.c - the tables of contention. */

/* Add the tables "contention" and "contention_sums". */
void contention_add_tables(const struct contention *contention, struct result *result);

/* The same of judged pairs alone; nothing if there are none. */
void contention_add_judged(const struct contention *contention, struct result *result);

/* The same of communication alone, and the table "contention_collectives", of the collectives of SELECTION. If nothing is judged and
 * not ALWAYS, one notice instead, with the reasons; nothing if no kernel ran beside communication. */
void contention_add_comm_tables(const struct contention *contention, const struct selection *selection,
                                bool always, struct result *result);

/* The tables that each may add, for `tpa help`; end in { 0 }. */
extern const struct table_shape contention_table_shapes[], contention_comm_shapes[];

#endif
