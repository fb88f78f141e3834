/*
 * code_paths.h - in which module, or on which line of source, the host was when it did something.
 *
 *     const struct code_paths *paths = code_paths_of(trace, CODE_MODULES);
 *     struct code_place place = code_place_of(paths, e);            // of an operator, a call, a frame
 *     puts(code_path_name(paths, place.path));                      // "Linear_0"
 *     for (uint32_t p = place.path; p != CODE_OUTSIDE; p = paths->at[p].parent)
 *         ...                                                       // from the inside out
 *
 * A path is a frame within the frames around it: the module Linear_0 within MLP_0 is another path than the same one
 * within Head_0. Frames come from python_function events by nesting; in files without these, from the stack that each
 * operator carries ("Call stack"; a memory record may carry one, too), else from its "Module Hierarchy" (TorchScript).
 *
 * The backward pass runs on a thread of its own, far from the code that caused it. An operator of it (one with a `Fwd
 * thread id`), and all within, are where the forward operator with its sequence number was: the last to begin of those
 * on that thread, which is the one that made the node of the graph. torch's number of a thread is not the file's: it is
 * assigned to the thread on which most of its numbers are found exclusively.
 */
#ifndef TPA_FACTS_CODE_PATHS_H
#define TPA_FACTS_CODE_PATHS_H

#include "base/memory.h"
#include "trace/calltree.h"
#include "facts/attribution.h"

#define CODE_PATHS_WANTS                                                                                     \
    (ATTRIBUTION_WANTS | WANT(SEQUENCE) | WANT(FWD_THREAD) | WANT(CALL_STACK) | WANT(MODULE_HIERARCHY))

enum code_frames {
    CODE_MODULES, /* nn.Module */
    CODE_LINES,   /* functions in Python files other than PyTorch's own */
    CODE_ANNOTATIONS, /* what the program calls a stretch of its own, except steps. Here the backward pass is where it ran */
    CODE_FRAMES
};

#define CODE_OUTSIDE 0 /* the path that is in no frame; the root of all others */

struct code_path {
    uint32_t parent; /* before it in the array; CODE_OUTSIDE for the outermost */
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
    struct calltree *tree;    /* frames, operators, runtime calls; of annotations these alone */
    node_id *node;            /* by event; NULL for annotations, where events are looked up by time */
    node_id *skips;           /* by node: see calltree_around */
    uint32_t *path;           /* by node */
    uint8_t *flags;           /* by node: enum code_flags */
    VEC_OF(struct code_path); /* at[0] is CODE_OUTSIDE */
    struct names *labels, *keys;
    const struct graph_links *links; /* of operations of graphs, borrowed; NULL: no capture was given */
    uint32_t *captured;              /* by path of the capture: that of this */
    struct code_records *records;    /* those that hold their own stack; NULL: none */
    uint64_t unlinked;               /* operators with a forward operator that was not found */
};

enum code_flags {
    CODE_BACKWARD = 1,
    CODE_FRAME = 2, /* the node is itself a frame: a call of its path */
};

/* Worked out when first requested; borrowed, lives as long as TRACE. */
const struct code_paths *code_paths_of(const struct trace *trace, enum code_frames frames);

/* Where host event E was; one that does not nest (an annotation, a record of memory) where its thread was when it began. A record
 * that holds its own stack, as those made of memory snapshots do, was there. */
struct code_place code_place_of(const struct code_paths *paths, event_id e);

/* Where the thread of TRACK was at NS, on the clock of its file. */
struct code_place code_place_at(const struct code_paths *paths, track_id track, int64_t ns);

/* Until when it was there: the next time after NS at which a frame, an operator or a call of TRACK begins or the innermost ends;
 * INT64_MAX: for ever. */
int64_t code_place_until(const struct code_paths *paths, track_id track, int64_t ns);

/* Where GPU work E was launched: by its call, else by the operator it is linked to; outside when neither is known. Work
 * of a graph, where a capture was given (graph_links.h): where that launched it. */
struct code_place code_place_of_work(const struct code_paths *paths, const struct attribution *launches,
                                     event_id e);

/* "Linear_0", "train.py(12): step"; "" for CODE_OUTSIDE. Borrowed. */
const char *code_path_name(const struct code_paths *paths, uint32_t path);

#endif
