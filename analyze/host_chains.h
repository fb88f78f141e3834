/*
 * host_chains.h - element-wise operators of the host that follow one another, which one operator could do.
 *
 *     struct host_chains chains = host_chains_find(trace);
 *     for (size_t i = 0; i < chains.count; i++)
 *         ...                                     // chains.at[i].op takes chains.at[i].factor of its time
 *     VEC_FREE(&chains);
 *
 * A chain is of two operators or more of a thread, each of HOST_CHAIN_LEAST_NS or more, within the same annotations, with nothing
 * between them that takes as long but is not element-wise; where sizes were recorded, all are of as many elements. One operator for
 * all passes over the memory once, but computes what all do: it is priced as the longest of them, so that the passes of the others are
 * saved, at most. Optimizers, the accumulation of gradients and the loading of data are left out. Which reads what of which is not
 * recorded.
 */
#ifndef TPA_ANALYZE_HOST_CHAINS_H
#define TPA_ANALYZE_HOST_CHAINS_H

#include "derive/op_cost.h"
#include "trace/trace.h"

/* What takes less is the dispatch of an operator, not its passes over memory. */
#define HOST_CHAIN_LEAST_NS 10000

struct host_chain_part {
    event_id op;
    double factor; /* what is left of its time, 0 to 1 */
};

struct host_chains {
    VEC_OF(struct host_chain_part); /* chain after chain */
    size_t chains;
    size_t first, length; /* of the chain that saves most, in these */
    bool sized;           /* sizes were recorded of all chains */
};

/* None where devices worked. Reads the arguments OP_COST_WANTS. Release with VEC_FREE. */
struct host_chains host_chains_find(const struct trace *trace);

#endif
