/*
 * collective_identity.h - which records of collectives are one: the identity of each as a few numbers. Sorted by these,
 * matching ones are adjacent. For events of a trace (collective_matches.h) and facts of ranks (fleet/parts.h).
 *
 *     identities_match(at, count);
 *     FOR_GROUPS_OF(at, count, identities_by_collective, first, end)
 *         ... at[first] to at[end - 1] are one collective ...
 *
 * Where three hosts or more record no process groups, those whose collectives end together count as a group: the members of a
 * collective leave it together, however late one of them came.
 */
#ifndef TPA_DERIVE_COLLECTIVE_IDENTITY_H
#define TPA_DERIVE_COLLECTIVE_IDENTITY_H

#include "base/names.h"
#include "base/rows.h"
#include "derive/collective_names.h"

/* SIZE of identities: the kind does not have one size on all ranks; the size is not recorded, or ignored. */
enum { IDENTITY_NO_SIZE = -2, IDENTITY_ANY_SIZE = -1 };

/* The step of those before the first step that all seats of a group have, which identities_match sets where one has any before its steps. */
#define IDENTITY_BEFORE (INT64_MIN + 1)

struct identity {
    uint32_t job;
    name_id group_name, group_ranks;
    bool paired;            /* a send or receive whose two sides are known */
    int64_t source, target; /* of paired ones; else -1 */
    int64_t kind;
    int64_t size;             /* if it must be the same on all ranks */
    int64_t step;             /* INT64_MIN: in none, or ignored */
    int64_t number;           /* in the group; -1: not recorded, or ignored */
    uint32_t round;           /* of the recording; 0 for numbered ones, as numbers go on */
    uint64_t seat;            /* rank and device */
    bool on_host;             /* it is of a library on the host */
    bool is_message;          /* a send or receive */
    bool joins_all;           /* it ends for all members together */
    int64_t start_ns, end_ns; /* by a clock of the seat */
    uint32_t
        apart; /* set by identities_match: which group of those that are not recorded, from 1; 0: all are in one, or it is recorded */
    size_t
        order; /* set by identities_match: index among those of one seat that are equal in the fields above the seat; before the steps from the last on */
    size_t index; /* of the record; those of a seat are in order of time */
};

/* By process group or pair, then by index; those of one seat in a group or pair are equal. */
extern const struct key identity_by_group[], identity_of_seat[];

/* Is the size of KIND the same on all ranks? Then it distinguishes collectives issued by several threads. */
bool collective_has_one_size(enum collective_kind kind);

/* Settle what counts, and sort COUNT identities so that those of one collective are adjacent, by index. If all of a group
 * have a number, only the number counts; else the n-th of its kind does. Returns how many groups were found where none are recorded and
 * not all ranks are in one; else 0. */
size_t identities_match(struct identity *at, size_t count);

extern const struct key identities_by_collective[];

#endif
