/*
 * collective_matches.h - matches the collectives of several ranks: the last to arrive, and waiting times.
 *
 *     struct collective_matches *matches = collective_matches_open(collectives);
 *     for (size_t m = 0; m < matches->count; m++)
 *         longest_ns = max(longest_ns, matches->at[m].wait_ns);
 *     arena_free(matches);
 *
 * Collectives of several places (devices, hosts) match if they have the same process group and number (`Seq`) in it; if
 * not all of a group have numbers, if they are the n-th of their kind (and size, if that is the same on all ranks) in
 * the group, or in the step if all files have steps. Sends and receives are matched by source and target, in order. A
 * file whose rank is that of an earlier file is left out.
 *
 * A rank's kernel begins when the rank arrives, and ends for all when the last has arrived and the data is there. So
 * the shortest is that of the last to arrive, and takes only the transfer; the extra time of the others is waiting.
 * This needs no common clock, which ranks of different hosts do not have.
 *
 * Ranks of one host (equal host names, or one file) have a common clock. There the last to arrive is the one that began
 * last, and a rank waited from its own beginning to that of the last.
 *
 * If a group may have ranks that were not recorded, the last of the job to arrive may be one of them: then all wait on after LAST has
 * arrived. A collective that takes several times as long from there as another of its kind and group with at least as many bytes waits
 * so, and no recorded rank is to blame for when it ends. Where the recorder says which rank arrived last (HCCL), that is known.
 *
 * Because a collective ends for all at about the same time, clock offsets are the median of end differences over all
 * collectives in which every rank has to arrive. A match by order only whose members did not end together by the
 * corrected clocks, on a host were not all in it at one moment, is dropped: the order was wrong, because a recording lacks some collectives.
 */
#ifndef TPA_DERIVE_COLLECTIVE_MATCHES_H
#define TPA_DERIVE_COLLECTIVE_MATCHES_H

#include "base/rows.h"
#include "derive/collectives.h"
#include "derive/rank_clocks.h"

#define MATCH_NONE SIZE_MAX

struct collective_match {
    size_t first;        /* of collective_matches.member */
    size_t count;        /* at least 2, by place */
    size_t last;         /* the collective of the last to arrive; on ties, the first */
    size_t earliest;     /* the collective of the first to arrive */
    int64_t transfer_ns; /* the duration of LAST; without a common clock the shortest */
    int64_t wait_ns;     /* the longest wait, that of EARLIEST; 0: all arrived at the same time */
    int64_t
        outside_ns; /* the part of TRANSFER_NS in which all waited for ranks that were not recorded; 0: none, or not known */
    int64_t outside_rank; /* the rank of the job that they waited for; -1: not known */
    bool one_clock;       /* by the clock of one host, else by durations */
    int64_t number;       /* Seq, or place in the order */
    bool by_order;
    /* LAST was late since before its recording began, for most of WAIT_NS: what it did then is not recorded, and nobody is to blame */
    bool before_recording;
};

struct collective_matches {
    const struct collectives *collectives; /* borrowed */
    VEC_OF(struct collective_match);
    size_t *member;   /* indices into collectives->at */
    size_t *match_of; /* by collective; MATCH_NONE */
    int64_t *
        /* by collective: the part of its duration in which another rank had not arrived; from its start */
        waited_ns;
    /* By place: how far its clock is ahead of that of the first place with matches, in ns; CLOCK_UNKNOWN if it has
     * none. */
    int64_t *clock_ns;
    int64_t *deviation_ns,
        *anchors; /* by place: the median distance of such ends from that, and how many there are */
    struct rank_clock
        /* by file: the same, from the matches that were kept, with one clock for all places of a file */
        *clocks;
    uint64_t found_groups; /* of hosts that record none, by who ends together, where not all do; else 0 */
    uint64_t refuted;      /* collectives whose match was dropped because of the clocks */
};

/* The transfer of a collective of a group that may have more ranks than were recorded. */
struct group_transfer {
    name_id group_name, group_ranks; /* only compared, as is the kind */
    uint32_t kind;
    int64_t bytes, ns;
    size_t index;       /* of the caller */
    int64_t outside_ns; /* as of a match */
};

/* How long members of a collective with a TRANSFER waited for a rank that was not recorded, by what the recorder says of the last of
 * them to arrive: it waited for WAITED_NS. 0: as long as messages take. */
int64_t group_transfer_outside(int64_t transfer_ns, int64_t waited_ns);

/* A wait for a rank of the job. */
struct rank_wait {
    int64_t rank, size; /* of its group; -1: unknown, as RANK */
    int64_t ns;
};

/* The rank that the COUNT waits, which are sorted anew, waited for longest, and how long all of these did; ns is 0 if there are none. */
struct rank_wait rank_wait_longest(struct rank_wait *at, size_t count);

/* Set the outside_ns of COUNT transfers, which are sorted anew. */
void group_transfers_judge(struct group_transfer *at, size_t count);

/* Exposed communication that waited for a rank whose recording had not begun: what that rank did is not recorded, so it is neither
 * work nor waste. */
struct unrecorded_wait {
    event_id event; /* on a device; its first ns are the wait */
    uint32_t file;
    int32_t device;
    int64_t start_ns, ns; /* ns: in which nothing was computed */
};

struct unrecorded_waits {
    size_t count;
    struct unrecorded_wait at[]; /* by unrecorded_wait_by_device */
};

/* File, device, event. */
extern const struct key unrecorded_wait_by_device[];

/* Those of TRACE, derived when first requested; reads COLLECTIVES_WANTS. Borrowed; live as long as TRACE. */
const struct unrecorded_waits *unrecorded_waits_of(const struct trace *trace);

/* How long those of FILE began from FROM_NS on and before TO_NS, in ns, on the device where it is most. */
int64_t unrecorded_waits_between(const struct unrecorded_waits *waits, uint32_t file, int64_t from_ns,
                                 int64_t to_ns);

/* New; free with arena_free (NULL is allowed). */
struct collective_matches *collective_matches_open(const struct collectives *collectives);

#endif
