/* last_uses.h - after which run of the order nothing asks for a block of shifts any more: the same for every replay of a graph. */
#ifndef TPA_WHATIF_LAST_USES_H
#define TPA_WHATIF_LAST_USES_H

#include "whatif/graph.h"

struct last_use {
    uint32_t run;   /* of graph->order */
    uint32_t block; /* of SHIFTS_OF_BLOCK moments */
};

struct last_uses {
    struct last_use *at; /* by run, then block: each block that has moments once */
    size_t count;
};

/* Those of the replay graph of TRACE, computed when first requested. Borrowed; live as long as TRACE. */
const struct last_uses *last_uses_of(const struct trace *trace);

#endif
