/*
 * code_paths.h - the module, or line of source, that the host was in at an event.
 *
 *     const struct code_paths *paths = code_paths_of(trace, CODE_MODULES);
 *     struct code_place place = code_place_of(paths, e);            // of an operator, a call, a frame
 *     puts(code_path_name(paths, place.path));                      // "Linear_0"
 *     for (uint32_t p = place.path; p != CODE_OUTSIDE; p = paths->at[p].parent)
 *         ...                                                       // from the inside out
 *
 * A path is a frame inside its enclosing frames: the module Linear_0 in MLP_0 is another path than the same one in
 * Head_0. Frames come from python_function events by nesting; in files without these, from the stack that each operator
 * carries ("Call stack"; a memory record may carry one, too), else from its "Module Hierarchy" (TorchScript).
 *
 * The backward pass runs on a thread of its own, far from the code that caused it. An operator of it (one with a `Fwd
 * thread id`), and everything in it, gets the path of the forward operator with its sequence number: the last to begin
 * of those on that thread, which is the one that created the node of the graph. torch numbers threads differently from
 * the file: a number is matched to the thread that exclusively has most of its sequence numbers.
 */
#ifndef TPA_DERIVE_CODE_PATHS_H
#define TPA_DERIVE_CODE_PATHS_H

#include "derive/attribution.h"

#define CODE_PATHS_WANTS                                                                                     \
    (ATTRIBUTION_WANTS | WANT(SEQUENCE) | WANT(FWD_THREAD) | WANT(CALL_STACK) | WANT(MODULE_HIERARCHY))

enum code_frames {
    CODE_MODULES,     /* nn.Module */
    CODE_LINES,       /* functions in Python files other than PyTorch's own */
    CODE_ANNOTATIONS, /* the program's own annotations, except steps. The backward pass is where it ran */
    CODE_FRAMES
};

#define CODE_OUTSIDE 0 /* the path outside of all frames; the root of all others */

struct code_path {
    uint32_t parent; /* has a lower index; CODE_OUTSIDE for the outermost */
    uint32_t label;  /* in code_paths.labels */
};

struct code_place {
    uint32_t path;
    bool backward; /* in the backward pass */
};

struct graph_links;
struct code_records;

struct code_paths {
    const struct trace *trace; /* borrowed */
    enum code_frames frames;
    struct calltree *tree;    /* frames, operators, runtime calls; for CODE_ANNOTATIONS only those */
    node_id *node;            /* by event; NULL for annotations, where events are looked up by time */
    node_id *skips;           /* by node: see calltree_around */
    uint32_t *path;           /* by node */
    uint8_t *flags;           /* by node: enum code_flags */
    VEC_OF(struct code_path); /* at[0] is CODE_OUTSIDE */
    struct names *labels, *keys;
    const struct graph_links *links; /* links of graph operations, borrowed; NULL: no capture was given */
    uint32_t *captured;              /* by path of the capture: the path here */
    struct code_records *records;    /* records with a stack of their own; NULL: none */
    uint64_t unlinked;               /* operators with a forward operator that was not found */
};

enum code_flags {
    CODE_BACKWARD = 1,
    CODE_FRAME = 2, /* the node itself is a frame: a call of its path */
};

/* Computed when first requested; borrowed, lives as long as TRACE. */
const struct code_paths *code_paths_of(const struct trace *trace, enum code_frames frames);

/* The place of host event E; for one that does not nest (an annotation, a memory record), the place of its thread when
 * it began. A record with its own stack, such as those from memory snapshots, has the place of that stack. */
struct code_place code_place_of(const struct code_paths *paths, event_id e);

/* The place of the thread of TRACK at NS, on the clock of its file. */
struct code_place code_place_at(const struct code_paths *paths, track_id track, int64_t ns);

/* The time in ns until which that place holds: the next time after NS at which a frame, an operator or a call of TRACK
 * begins or the innermost ends; INT64_MAX: forever. */
int64_t code_place_until(const struct code_paths *paths, track_id track, int64_t ns);

/* The place where GPU work E was launched: that of its call, else of the operator it is linked to; outside if neither
 * is known. For work of a graph, if a capture was given (graph_links.h): the place in the capture. */
struct code_place code_place_of_work(const struct code_paths *paths, const struct attribution *launches,
                                     event_id e);

/* "Linear_0", "train.py(12): step"; "" for CODE_OUTSIDE. Borrowed. */
const char *code_path_name(const struct code_paths *paths, uint32_t path);

#endif
