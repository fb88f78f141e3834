/*
 * graph_links.h - the operations of CUDA and HIP graphs, and the operators of another trace that they were captured
 * from.
 *
 * A replay launches hundreds of kernels by one call, which is in no operator. What a capture-time or an eager trace of
 * the same program launched (graph_bodies.h) tells what they are: their operator, its shapes, module and line; never
 * times.
 *
 *     graph_links_attach(trace, bodies);                                     // once, before any analysis; BODIES are taken
 *     const struct graph_links *links = graph_links_of(trace);               // NULL: no capture was given
 *     const struct captured_op *op = graph_link_op(links, e);                // NULL: E is no such work, or was not matched
 *     if (op)
 *         puts(names_text(links->bodies->texts, op->name));
 *
 * Operations are matched as sequences, never by groups of one name: those of a replay, in order of start, with a body.
 * First by the node of the graph, where both sides give it and the names, where both are known, are equal; what is left
 * of such a replay within the launches left of the body of its nodes. Else a stream's operations by the longest common
 * subsequence of names, of several streams the one with most operations first, each with what those before it left. Of
 * several bodies that with most operations matched, then the one whose length is nearest, then the next behind that
 * used last (pieces of a model are captured and replayed in one order; a graph that has an id keeps its body), then the
 * first. A body none of whose kernels has a name is matched by place, if it has as many launches as the replay has
 * operations, and copies are where copies are: that is not verified. If less than half of the operations match, none is
 * taken.
 */
#ifndef TPA_FACTS_GRAPH_LINKS_H
#define TPA_FACTS_GRAPH_LINKS_H

#include "base/result.h"
#include "facts/graph_bodies.h"

#define GRAPH_LINKS_WANTS (ATTRIBUTION_WANTS | WANT(GRAPH_ID) | WANT(GRAPH_NODE_ID))

/* How operations that were not matched are called. */
#define GRAPH_UNMATCHED "(graph)"

struct graph_links {
    struct graph_bodies *bodies; /* owned */
    uint32_t *
        launch_of; /* by event: 2 + its place in bodies->launches; 1: of a graph, and not matched; 0: of none */
    size_t replays, works, matched,
        by_place; /* operations of graphs; of these matched, and matched by place alone */
    int64_t works_ns, matched_ns;
    name_id unmatched; /* GRAPH_UNMATCHED, in bodies->texts */
    size_t refused;    /* replays of which less than half matched */
    char *reason;      /* why the first of these was refused; NULL: none was. Owned */
};

/* Match the graphs of TRACE, read with GRAPH_LINKS_WANTS, with BODIES, which are taken, and keep the answer with TRACE. */
void graph_links_attach(const struct trace *trace, struct graph_bodies *bodies);

/* Those of TRACE; NULL when none were attached. Borrowed; live as long as TRACE. */
const struct graph_links *graph_links_of(const struct trace *trace);

/* The launch that E was captured from; NULL where none was matched. LINKS may be NULL. */
static inline const struct body_launch *graph_link_launch(const struct graph_links *links, event_id e)
{
    return links && links->launch_of[e] > 1 ? &links->bodies->launches.at[links->launch_of[e] - 2] : NULL;
}

/* The operator of E; NULL where it has none. LINKS may be NULL. */
static inline const struct captured_op *graph_link_op(const struct graph_links *links, event_id e)
{
    const struct body_launch *launch = graph_link_launch(links, e);
    return launch ? &links->bodies->ops.at[launch->op] : NULL;
}

/* Is E work of a graph? Without captures nobody asked. */
static inline bool graph_link_is_work(const struct graph_links *links, event_id e)
{
    return links && links->launch_of[e] > 0;
}

/* As graph_link_name, as an id of links->bodies->texts. */
name_id graph_link_name_id(const struct graph_links *links, event_id e);

/* The name of E's operator, GRAPH_UNMATCHED where it was not matched; E is work of a graph. Borrowed. */
const char *graph_link_name(const struct graph_links *links, event_id e);

/* The text of an argument of an operator; NULL when it was not recorded. Borrowed. */
static inline const char *graph_link_text(const struct graph_links *links, name_id text)
{
    return text == NAME_NONE ? NULL : names_text(links->bodies->texts, text);
}

/* Say in RESULT what was matched, and what was refused and why. LINKS may be NULL. */
void graph_links_tell(const struct graph_links *links, struct result *result);

#endif
