/* code_paths.h - the code that work was launched from, also that in CUDA graphs. */
#ifndef TPA_DERIVE_CODE_PATHS_H
#define TPA_DERIVE_CODE_PATHS_H

#include "derive/attribution.h"
#include "base/result.h"

/*
 * code_paths.c - the module, or line of source, that the host was in at an event.
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
    /* Frames, operators and runtime calls, for CODE_ANNOTATIONS only those. It, NODE and SKIPS are borrowed. */
    struct calltree *tree;
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
 * is known. For work of a graph, if a capture was given (graph_links.c): the place in the capture. */
struct code_place code_place_of_work(const struct code_paths *paths, const struct attribution *launches,
                                     event_id e);

/* "Linear_0", "train.py(12): step"; "" for CODE_OUTSIDE. Borrowed. */
const char *code_path_name(const struct code_paths *paths, uint32_t path);

/*
 * graph_bodies.c - the launches of a capture-time or eager trace in order, from which the graphs of another trace were
 * made.
 *
 *     struct graph_bodies *bodies = graph_bodies_open();
 *     graph_bodies_add(bodies, trace);                       // one call per file; nothing is borrowed from it
 *     for (size_t i = 0; i < bodies->at[b].count; i++)
 *         ... bodies->launches.at[bodies->at[b].first + i] ...
 *     arena_free(bodies);
 *
 * A body is the list of launches of a thread between StreamBeginCapture and StreamEndCapture. In a file without
 * captures it is the list of launches in each step or, without steps, in the whole file. Launches are the calls that
 * launch a kernel, copy or set memory, in order of their start; one within another is part of it.
 *
 * The name of a launch is that of its work if it is in the file, else the argument `kernel` of the call; all copies
 * have one name, and all memsets. LCS_NOTHING: unknown.
 */

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

/* New, empty; free with arena_free (NULL is allowed). */
struct graph_bodies *graph_bodies_open(void);

/* Add the bodies of TRACE, which was read with GRAPH_BODIES_WANTS. Returns how many. */
size_t graph_bodies_add(struct graph_bodies *bodies, const struct trace *trace);

/* The name, as an id of names, for a launch of work of KIND called NAME. */
uint32_t graph_work_name(struct graph_bodies *bodies, enum event_kind kind, const char *name);

/*
 * graph_links.c - links from the operations of CUDA and HIP graphs to the operators of another trace that they were
 * captured from.
 *
 * A replay launches hundreds of kernels by one call, which is in no operator. The launches of a capture-time or eager
 * trace of the same program (graph_bodies.c) provide their operator, its shapes, module and line, but no times.
 *
 *     graph_links_attach(trace, bodies);                                     // once, before any analysis; BODIES are
 *                                                                            taken
 *     const struct graph_links *links = graph_links_of(trace);               // NULL: no capture was given
 *     const struct captured_op *op = graph_link_op(links, e);                // NULL: E is no such work, or was not
 *                                                                            matched
 *     if (op)
 *         puts(names_text(links->bodies->texts, op->name));
 *
 * Operations are matched as sequences, never by groups of one name: those of a replay, in order of start, with a body.
 * First by the node of the graph, if both sides record it and known names are equal; the rest of such a replay is
 * matched with the remaining launches of the body of its nodes. Otherwise the operations of a stream are matched by the
 * longest common subsequence of names, starting with the stream with the most operations, each with the launches not
 * yet matched. Of several bodies, the one with the most matched operations is chosen, then the one with the closest
 * length, then the next after the one used last (parts of a model are captured and replayed in the same order; a graph
 * with an id keeps its body), then the first. A body without any kernel names is matched by place, if it has as many
 * launches as the replay has operations and copies are at the same places; this is not verified. If less than half of
 * the operations match, none is used.
 */

#define GRAPH_LINKS_WANTS ATTRIBUTION_WANTS

/* The name of operations that were not matched. */
#define GRAPH_UNMATCHED "(graph)"

struct graph_links {
    struct graph_bodies *bodies; /* owned */
    uint32_t *
        /* by event: 2 + its place in bodies->launches; 1: of a graph, but not matched; 0: not of a graph */
        launch_of;
    size_t replays, operations, matched,
        by_place; /* operations of graphs; matched ones; those matched only by place */
    int64_t operations_ns, matched_ns;
    name_id unmatched; /* GRAPH_UNMATCHED, in bodies->texts */
    size_t refused;    /* replays of which less than half matched */
    char *reason;      /* reason for the first of these; NULL: none. Owned */
};

/* Match the graphs of TRACE, read with GRAPH_LINKS_WANTS, with BODIES, which are taken, and attach the links to
 * TRACE. */
void graph_links_attach(const struct trace *trace, struct graph_bodies *bodies);

/* Those of TRACE; NULL if none were attached. Borrowed; live as long as TRACE. */
const struct graph_links *graph_links_of(const struct trace *trace);

/* The launch that E was captured from; NULL if not matched. LINKS may be NULL. */
static inline const struct body_launch *graph_link_launch(const struct graph_links *links, event_id e)
{
    return links && links->launch_of[e] > 1 ? &links->bodies->launches.at[links->launch_of[e] - 2] : NULL;
}

/* The operator of E; NULL if it has none. LINKS may be NULL. */
static inline const struct captured_op *graph_link_op(const struct graph_links *links, event_id e)
{
    const struct body_launch *launch = graph_link_launch(links, e);
    return launch ? &links->bodies->ops.at[launch->op] : NULL;
}

/* Is E work of a graph? False without captures. */
static inline bool graph_link_is_work(const struct graph_links *links, event_id e)
{
    return links && links->launch_of[e] > 0;
}

/* The name of E's operator, GRAPH_UNMATCHED if it was not matched, as an id of links->bodies->texts; E must be work of a
 * graph. */
name_id graph_link_name_id(const struct graph_links *links, event_id e);

/* The text of the name or of an argument of an operator; NULL if it was not recorded. Borrowed. */
static inline const char *graph_link_text(const struct graph_links *links, name_id text)
{
    return text == NAME_NONE ? NULL : names_text(links->bodies->texts, text);
}

/* Add notices to RESULT on what was matched, and what was not and why. LINKS may be NULL. */
void graph_links_notice(const struct graph_links *links, struct result *result);

#endif
