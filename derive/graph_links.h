/*
 * graph_links.h - links from the operations of CUDA and HIP graphs to the operators of another trace that they were
 * captured from.
 *
 * A replay launches hundreds of kernels by one call, which is in no operator. The launches of a capture-time or eager
 * trace of the same program (graph_bodies.h) provide their operator, its shapes, module and line, but no times.
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
#ifndef TPA_DERIVE_GRAPH_LINKS_H
#define TPA_DERIVE_GRAPH_LINKS_H

#include "base/result.h"
#include "derive/graph_bodies.h"

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
