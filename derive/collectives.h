/* collectives.h - collectives of the ranks of a job, and their groups. */
#ifndef TPA_DERIVE_COLLECTIVES_H
#define TPA_DERIVE_COLLECTIVES_H

#include "derive/collective_names.h"
#include "derive/gpu_events.h"

/*
 * process_groups.c - the process group of collectives that do not record it.
 *
 *     struct process_groups *groups = process_groups_open(trace);
 *     const struct trace_group *group = process_group_of(groups, file, NAME_NONE, "gloo");
 *     int64_t ranks = group ? group->size : process_group_size(groups, file, "gloo");
 *     arena_free(groups);
 *
 * A file may list the groups of its rank (trace_file.groups). A collective with a group name ran in that group. One
 * without ran in the only group served by its library, if there is just one: gloo in that with the backends
 * "cpu:gloo,cuda:nccl", not in that of "cuda:nccl". If several are possible, only their size is known, if it is the
 * same for all.
 */

struct process_groups;

/* New, of all files of TRACE, which must live as long; free with arena_free (NULL is allowed). */
struct process_groups *process_groups_open(const struct trace *trace);

/* The group of a collective of FILE with the group name NAME (NAME_NONE: none) and LIBRARY (NULL: not recorded).
 * Borrowed; NULL if unknown. */
const struct trace_group *process_group_of(struct process_groups *groups, uint32_t file, name_id name,
                                           const char *library);

/* The number of ranks in each group of FILE that LIBRARY serves; -1 if unknown, or if they differ. */
int64_t process_group_size(struct process_groups *groups, uint32_t file, const char *library);

/*
 * collectives.c - the collectives of a trace: kind, size, participants and time of each.
 *
 *     struct collectives *all = collectives_open(trace);
 *     for (size_t i = 0; i < all->count; i++)
 *         if (all->at[i].kind == COLLECTIVE_ALL_REDUCE)
 *             bytes += all->at[i].size_bytes;
 *     arena_free(all);
 *
 * A collective is a kernel that communicates (gpu_events.h), or a region of a library that communicates on the host
 * ("gloo:all_reduce"; "ucc:" and "mpi:", which serve devices, too, where no work on a device is theirs). In a file without any GPU work, collectives issued to NCCL count as well: when they ran is
 * unknown.
 *
 * Its properties come, in this order, from the arguments of the kernel, of the operator that its launch is linked to,
 * and of the operators and annotations around the launch, from the innermost outwards (record_param_comms,
 * nccl:all_reduce, c10d::allreduce_); finally from the kernel's name. Sizes come from the arguments, else from recorded
 * shapes. Unknown properties are missing; no collective is left out because of that.
 */

#define COLLECTIVES_WANTS                                                                                    \
    (GPU_EVENTS_WANTS | WANT(COLLECTIVE) | WANT(DTYPE) | WANT(IN_ELEMENTS) | WANT(OUT_ELEMENTS) |            \
     WANT(GROUP_SIZE) | WANT(GROUP_NAME) | WANT(GROUP_DESCRIPTION) | WANT(GROUP_RANKS) |                     \
     WANT(SEQ_IN_GROUP) | WANT(INPUT_DIMS) | WANT(INPUT_TYPES) | WANT(WAITED_RANK) | WANT(WAITED_NS))

struct collective {
    event_id event;  /* the kernel, or the region on the host */
    event_id launch; /* the call that launched the kernel; EVENT_NONE when not in the file */
    event_id op;     /* the outermost operator or annotation that communicates; EVENT_NONE */
    uint32_t place;  /* where it ran: index into collectives.places */
    enum collective_kind kind;
    bool timed;          /* false: only issued; when it ran is unknown */
    const char *library; /* NULL when not recorded */
    const char *type;    /* of the elements; borrowed; NULL when not recorded */
    /* The process group, in trace->texts; NAME_NONE when not recorded. */
    name_id group_name, group_description, group_ranks;
    int64_t group_size; /* ranks in the group; -1 */
    int64_t sequence;   /* number within the group, the same on every rank; -1 */
    int64_t size_bytes; /* as collective_size; -1 */
    /* Whom it waited for, as the recorder says: the number of the last rank to arrive in the job, and how long from its own start; -1. */
    int64_t waited_rank, waited_ns;
    /* Sends and receives: source and target rank within the group; -1. */
    int64_t source, target;
};

/* Where collectives run: a device of a file, or the host of a file. Each is a rank of its own. Of one without collectives
 * only FILE and DEVICE are known. */
struct collective_place {
    uint32_t file;
    int32_t device;               /* -1: the host */
    struct intervals computation; /* kernels that do not communicate, and memsets; on the host: operators */
    int64_t *computed_before_ns;  /* by index of computation.at: lengths of those before it */
    event_id *work;               /* work that does not communicate, by start */
    int64_t *ends_ns;             /* by index of work: the latest end of it and those before it */
    size_t work_count;
};

struct collectives {
    const struct trace *trace;          /* borrowed */
    const struct attribution *launches; /* borrowed from the trace, as gpu */
    const struct gpu_events *gpu;
    VEC_OF(struct collective);       /* place after place, by start */
    struct collective_place *places; /* the devices in order of gpu->devices, then the hosts of the files */
    size_t place_count;
    uint64_t without_kernel; /* recorded calls of a collective whose kernel is not in the file */
};

/* New; free with arena_free (NULL is allowed). */
struct collectives *collectives_open(const struct trace *trace);

/* New, empty: a place for each of ALL->place_count, which lives as long as ALL. */
struct collective_place *collective_places_open(const struct collectives *all);

/* The moment in ns at which it was issued: the start of the launch, else of the collective itself. */
int64_t collective_issued_ns(const struct collectives *all, const struct collective *one);

/* New, by place: is the launch of one of its collectives recorded? Then those without launch were issued before recording began, and are of
 * no step although they ran during one. Free with free(). */
bool *collective_places_launching(const struct collectives *all);

/* The time within [START, END) in which PLACE computed, in ns. */
int64_t collective_place_computed(const struct collective_place *place, int64_t start_ns, int64_t end_ns);

/*
 * collectives_join.c - the collectives of files that were read one after the other, to be matched together.
 *
 *     struct collectives_join *join = collectives_join_open();
 *     for each file, read into TRACE:
 *         struct collectives *of_file = collectives_open(trace);
 *         bool *keep = collectives_join_needs(of_file);
 *         trace_append(all, trace, keep);
 *         collectives_join_add(join, of_file, keep, first_event, first_file);
 *     struct collectives *joined = collectives_join_finish(join, all);
 *     struct collective_matches *matches = collective_matches_open(joined);
 *
 * The matches are the same as if all files were read into one trace.
 */

struct collectives_join;

/* New; free with arena_free, or pass to collectives_join_finish. */
struct collectives_join *collectives_join_open(void);

/* New, free with free(): by event of the trace, is it needed for matching? Collectives, their launches, steps, and the
 * events in which files begin and end. */
bool *collectives_join_needs(const struct collectives *all);

/* Add the collectives of ALL. The events in NEEDED are in the common trace from FIRST_EVENT on, in their order; the
 * first of the trace's files is FIRST_FILE there. Nothing of ALL is borrowed. */
void collectives_join_add(struct collectives_join *join, const struct collectives *all, const bool *needed,
                          event_id first_event, uint32_t first_file);

/* All added collectives, for TRACE, which is borrowed, with the fields that collective_matches.h uses: library, type
 * and operator are missing, numbers of groups only distinguish them, places have no work. New, free with
 * arena_free; JOIN is taken. */
struct collectives *collectives_join_finish(struct collectives_join *join, const struct trace *trace);

#endif
