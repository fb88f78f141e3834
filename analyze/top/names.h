/* names.h - what follows from an event's name alone, computed once per name. */
#ifndef TPA_ANALYZE_TOP_NAMES_H
#define TPA_ANALYZE_TOP_NAMES_H

#include "analyze/top/options.h"

enum top_name_flags {
    NAME_DROPPED = 1,   /* torch leaves it out */
    NAME_MEMORY = 2,    /* [memory] */
    NAME_NO_MEMORY = 4, /* [OutOfMemory] */
    NAME_ASYNC = 8,     /* begins like a region that c10d flags asynchronous */
    NAME_FLOPS = 16,    /* torch counts its operations */
    NAME_GRAPH = 32,    /* launches a graph */
    NAME_FORKED = 64,   /* what TorchScript calls a function that torch.jit.fork started */
    NAME_STEP = 128,    /* a step's: ProfilerStep#3 */
    NAME_RECORD = NAME_MEMORY | NAME_NO_MEMORY,
};

struct top_names {
    uint32_t *key_of;          /* by name_id: row key; equal for what torch gives one name */
    uint32_t *operator_key_of; /* the same for operators, whose names may carry an overload */
    uint8_t *flags;            /* enum top_name_flags */
    uint8_t any_flags;         /* of all names together */
    struct names *keys;        /* texts of the keys; copied */
    uint32_t *
        captured_key; /* by text of a capture (derive/graph_links.h): row key of the operator; NULL: none was given */
    bool *wanted; /* by key: do --filter and --exclude keep it? NULL: all are kept */
};

/* Compute the keys of all names of TRACE. Release with top_names_release. */
void top_names_open(struct top_names *names, const struct trace *trace, const struct top_options *options);
void top_names_release(struct top_names *names);

#endif
