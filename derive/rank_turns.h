/*
 * rank_turns.h - do the ranks of a job wait for one of them, or for each in turn?
 *
 *     struct rank_turn ranks[] = { { 120, 110 }, { 110, 120 } };
 *     ranks_take_turns(ranks, 2); // true: each waits as long as others wait for it
 */
#ifndef TPA_DERIVE_RANK_TURNS_H
#define TPA_DERIVE_RANK_TURNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rank_turn {
    int64_t caused_ns; /* others waited for it in collectives, added up */
    int64_t waited_ns; /* it waited for others */
};

/* Is none of the COUNT RANKS slower than the rest, although they wait for one another? Then others wait for at least two of them
 * about as long, for none at least twice as long as for the rank in the mean (of two ranks: 1.2 times), and each waits for others
 * nearly as long as the mean. */
bool ranks_take_turns(const struct rank_turn *ranks, size_t count);

#endif
