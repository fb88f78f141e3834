/*
 * collective_matches.h - the same collective on several ranks: who came last, who waited.
 *
 *     struct collective_matches *matches = collective_matches_open(collectives);
 *     for (size_t m = 0; m < matches->count; m++)
 *         longest_ns = max(longest_ns, matches->at[m].wait_ns);
 *     collective_matches_free(matches);
 *
 * Collectives of several places (devices, hosts) are one when they are of one process group and have its number (`Seq`)
 * there; where not all of a group tell numbers, when they are the n-th of their kind (and size, where that is the same
 * on all ranks) in the group, of the step if all files have steps. Sends and receives are matched by who sends to whom,
 * in order. A file of a rank that an earlier file is of already is left out.
 *
 * A rank's kernel begins when the rank arrives, and ends for all when the last has arrived and the data is there. So the
 * shortest is that of the last to arrive, and takes the transfer alone; what another takes longer, it waited. This
 * needs no clock in common, which ranks of different hosts do not have.
 *
 * Ranks of one host (equal host names, or one file) have a clock in common. There the last to arrive is the one that began
 * last, and a rank waited from its own beginning to that of the last.
 *
 * That it ends for all at about the same time also tells how far clocks are apart: the median over all collectives in
 * which every rank has to arrive. What was matched by its order alone, but did not end together by clocks set
 * right in this way, is not a match: the order was another, because a recording lacks some.
 */
#ifndef TPA_FACTS_COLLECTIVE_MATCHES_H
#define TPA_FACTS_COLLECTIVE_MATCHES_H

#include "base/memory.h"
#include "facts/collectives.h"
#include "facts/rank_clocks.h"

#define MATCH_NONE SIZE_MAX

struct collective_match {
    size_t first;        /* of collective_matches.member */
    size_t count;        /* at least 2, by place */
    size_t last;         /* the collective of the last to arrive; of equals, the first */
    size_t earliest;     /* of the first to arrive */
    int64_t transfer_ns; /* the duration of LAST; without a common clock the shortest */
    int64_t wait_ns;     /* the longest wait, that of EARLIEST; 0: all arrived together */
    bool one_clock;      /* by the clock of one host, else by durations */
    int64_t number;      /* Seq, or place in the order */
    bool by_order;
};

struct collective_matches {
    const struct collectives *collectives; /* borrowed */
    VEC_OF(struct collective_match);
    size_t *member;   /* indices into collectives->at */
    size_t *match_of; /* by collective; MATCH_NONE */
    int64_t *
        waited_ns; /* by collective: the part of its duration in which another rank had not arrived; it begins with it */
    /* By place: how far its clock is ahead of that of the first place with matches; CLOCK_UNKNOWN when it has none. */
    int64_t *clock_ns;
    struct rank_clock
        *clocks;      /* by file: the same, by what was not refuted, of one clock for all places of a file */
    uint64_t refuted; /* collectives whose match was none by the clock */
};

/* New; free with collective_matches_free (NULL is allowed). */
struct collective_matches *collective_matches_open(const struct collectives *collectives);
void collective_matches_free(struct collective_matches *matches);

#endif
