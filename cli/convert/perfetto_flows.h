/*
 * perfetto_flows.h - the arrows of a Perfetto file: from a call to each piece of work that it launched, from forward to
 * backward, and between the members of one collective on several ranks.
 */
#ifndef TPA_CLI_PERFETTO_FLOWS_H
#define TPA_CLI_PERFETTO_FLOWS_H

#include "base/buffer.h"
#include "base/memory.h"
#include "derive/collectives.h"
#include "trace/trace.h"

/* Ids of flows: the kind in the upper bits, and a running number. */
enum { FLOW_LAUNCH = 1, FLOW_BACKWARD = 2, FLOW_COLLECTIVE = 3, FLOW_PATH = 4, FLOW_KIND_SHIFT = 56 };

/* A flow touches an event; those of one id are joined, in order of time. */
struct perfetto_flow_end {
    event_id event;
    uint32_t number; /* added to the first id of its kind */
};

/* The ends of one kind, by event, then number. */
struct perfetto_flow_ends {
    VEC_OF(struct perfetto_flow_end);
    uint64_t first_id;
};

/*
 * Launches are stored by their calls; that of a piece of work, whose number is the event, is a bit. Zero-initialise it.
 * ARROWS: how many there are.
 */
struct perfetto_flows {
    struct perfetto_flow_ends launches, backward, collectives;
    uint64_t *is_launched; /* a bit for each event; NULL: none is */
    size_t arrows;
};

/* Where the last event was found in each kind. Zero-initialise it. */
struct perfetto_flow_scan {
    size_t launches, backward, collectives;
};

/* The next unused ids. Zero-initialise it. */
struct perfetto_flow_ids {
    uint64_t launch, backward;
};

/*
 * Find those within TRACE, which was read with correlations and flow arrows, and those between ranks that touch it: ends
 * in COLLECTIVES, which are of TRACE by event and are taken. IDS are advanced.
 */
void perfetto_flows_find(struct perfetto_flows *flows, const struct trace *trace,
                         struct perfetto_flow_ids *ids, struct perfetto_flow_ends *collectives);

/* The arrows between ranks: one for each collective that several of ALL took part in. Ends are events of its trace.
 * Returns how many arrows there are. Free ENDS by VEC_FREE. */
size_t perfetto_flows_between(struct perfetto_flow_ends *ends, const struct collectives *all);

/* Index of the first end at E; if E has none, that of a later event. */
size_t perfetto_flows_first(const struct perfetto_flow_ends *ends, event_id e);

/* Append the ids of the flows of E to OUT, a TrackEvent. */
void perfetto_flows_append(const struct perfetto_flows *flows, struct perfetto_flow_scan *scan, event_id e,
                           struct buffer *out);

/* Free what FLOWS owns. */
void perfetto_flows_release(struct perfetto_flows *flows);

#endif
