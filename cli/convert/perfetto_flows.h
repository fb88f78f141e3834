/*
 * perfetto_flows.h - the arrows of a Perfetto file: from a call to each piece of work that it launched, from forward to
 * backward, and between the members of one collective on several ranks.
 */
#ifndef TPA_CLI_PERFETTO_FLOWS_H
#define TPA_CLI_PERFETTO_FLOWS_H

#include "base/memory.h"
#include "facts/collectives.h"
#include "trace/trace.h"

/* Ids of flows: the kind in the upper bits, and a running number. */
enum { FLOW_LAUNCH = 1, FLOW_BACKWARD = 2, FLOW_COLLECTIVE = 3, FLOW_PATH = 4, FLOW_KIND_SHIFT = 56 };

/* A flow touches an event; those of one id are joined, in order of time. */
struct perfetto_flow_end {
    event_id event;
    uint64_t id;
};

/* Ends by event, then id: a vector, and the number of their arrows. Zero-initialise it. */
struct perfetto_flows {
    VEC_OF(struct perfetto_flow_end);
    size_t arrows;
};

/* The next unused ids. Zero-initialise it. */
struct perfetto_flow_ids {
    uint64_t launch, backward;
};

/*
 * Find those within TRACE, which was read with correlations and flow arrows, and those between ranks that touch it:
 * ends in COLLECTIVES, which are of TRACE by event, then id. IDS are advanced.
 */
void perfetto_flows_find(struct perfetto_flows *flows, const struct trace *trace,
                         struct perfetto_flow_ids *ids, const struct perfetto_flows *collectives);

/* The arrows between ranks: one for each collective that several of ALL took part in. Ends are events of its trace. */
void perfetto_flows_between(struct perfetto_flows *flows, const struct collectives *all);

/* Index of the first end at E; if E has none, that of a later event. */
size_t perfetto_flows_first(const struct perfetto_flows *flows, event_id e);

/* Free what FLOWS owns. */
void perfetto_flows_release(struct perfetto_flows *flows);

#endif
