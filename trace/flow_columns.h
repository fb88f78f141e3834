/* flow_columns.h - flow arrows in packed columns: a third of what they take as structs. Who reads a trace
 * calls trace_flow(). */
#ifndef TPA_TRACE_FLOW_COLUMNS_H
#define TPA_TRACE_FLOW_COLUMNS_H

#include "trace/packing.h"
#include "trace/trace.h"

enum flow_column {
    FLOW_TIME,
    FLOW_ID,
    FLOW_TRACK,
    FLOW_PHASE,
    FLOW_CATEGORY,
    FLOW_NAME,
    FLOW_BIND_ENCLOSING,
    FLOW_COLUMNS
};

struct flow_columns {
    struct packing of[FLOW_COLUMNS];
};

/* Add COUNT flows behind those already there. Zero-initialise; flow_columns_release. */
void flow_columns_add(struct flow_columns *flows, const struct trace_flow *added, size_t count);
struct trace_flow flow_columns_at(const struct flow_columns *flows, size_t i);
void flow_columns_read(const struct flow_columns *flows, size_t first, size_t count, struct trace_flow *to);
void flow_columns_finish(struct flow_columns *flows); /* give back what was reserved */
void flow_columns_release(struct flow_columns *flows);

static inline size_t flow_columns_count(const struct flow_columns *flows)
{
    return flows->of[FLOW_TIME].count;
}

#endif
