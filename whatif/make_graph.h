/* make_graph.h - the graph of a trace. */
#ifndef TPA_WHATIF_MAKE_GRAPH_H
#define TPA_WHATIF_MAKE_GRAPH_H

#include "whatif/graph.h"

/* That of TRACE, computed when first requested. Borrowed; lives as long as TRACE. */
const struct replay_graph *replay_graph_of(const struct trace *trace);

#endif
