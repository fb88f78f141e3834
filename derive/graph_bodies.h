/*
 * graph_bodies.h - the launches of a capture-time or eager trace in order, from which the graphs of another trace were
 * made.
 *
 *     struct graph_bodies *bodies = graph_bodies_open();
 *     graph_bodies_add(bodies, trace);                       // one call per file; nothing is borrowed from it
 *     for (size_t i = 0; i < bodies->at[b].count; i++)
 *         ... bodies->launches.at[bodies->at[b].first + i] ...
 *     graph_bodies_free(bodies);
 *
 * A body is the list of launches of a thread between StreamBeginCapture and StreamEndCapture. In a file without
 * captures it is the list of launches in each step or, without steps, in the whole file. Launches are the calls that
 * launch a kernel, copy or set memory, in order of their start; one within another is part of it.
 *
 * The name of a launch is that of its work if it is in the file, else the argument `kernel` of the call; all copies
 * have one name, and all memsets. LCS_NOTHING: unknown.
 */
#ifndef TPA_DERIVE_GRAPH_BODIES_H
#define TPA_DERIVE_GRAPH_BODIES_H

#include "derive/code_paths.h"

#define GRAPH_BODIES_WANTS                                                                                   \
    (CODE_PATHS_WANTS | WANT(LAUNCHED_KERNEL) | WANT(GRAPH_NODE_ID) | WANT(INPUT_DIMS) | WANT(INPUT_TYPES) | \
     WANT(INPUT_STRIDES) | WANT(CONCRETE_INPUTS))

/* A module, or a line of source, within another. */
struct captured_path {
    uint32_t parent; /* has a lower index; CODE_OUTSIDE: none */
    name_id label;   /* in texts */
};

struct captured_paths {
    struct captured_path *at; /* at[0] is CODE_OUTSIDE */
    size_t count, capacity;
};

/* An operator of the other trace, with all its properties. Texts are as in its arguments; NAME_NONE: not recorded. */
struct captured_op {
    name_id name; /* in texts */
    name_id dims, types, strides, concrete;
    uint32_t modules, lines; /* paths of CODE_MODULES and CODE_LINES */
};

struct body_launch {
    uint32_t name;   /* in names; LCS_NOTHING: unknown */
    uint32_t op;     /* in ops */
    uint32_t call;   /* launches of the same call of the operator have the same number */
    int64_t node_id; /* of the graph's node; -1: not recorded */
};

struct graph_body {
    size_t first, count; /* of its launches */
    bool nameless;       /* none of its kernels has a name */
};

struct graph_bodies {
    struct graph_body *at;
    size_t count, capacity;
    VEC_OF(struct body_launch) launches;
    VEC_OF(struct captured_op) ops; /* each once */
    struct captured_paths paths[2]; /* by enum code_frames */
    struct names *names;            /* of launches: kernels as people read them, "copy", "memset" */
    struct names *texts;
    uint32_t calls; /* events of the files added so far: calls are numbered by their event */
    struct names *op_keys, *path_keys[2]; /* keys of existing entries */
};

/* New, empty; free with graph_bodies_free (NULL is allowed). */
struct graph_bodies *graph_bodies_open(void);
void graph_bodies_free(struct graph_bodies *bodies);

/* Add the bodies of TRACE, which was read with GRAPH_BODIES_WANTS. Returns how many. */
size_t graph_bodies_add(struct graph_bodies *bodies, const struct trace *trace);

/* The name, as an id of names, for a launch of work of KIND called NAME. */
uint32_t graph_work_name(struct graph_bodies *bodies, enum event_kind kind, const char *name);

#endif
