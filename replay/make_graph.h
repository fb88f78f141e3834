/* make_graph.h - the graph of a trace. */
#ifndef TPA_REPLAY_MAKE_GRAPH_H
#define TPA_REPLAY_MAKE_GRAPH_H

#include "replay/graph.h"

/* That of TRACE, computed when first requested. Borrowed; lives as long as TRACE. */
const struct replay_graph *replay_graph_of(const struct trace *trace);

#endif
