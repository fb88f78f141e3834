#include "trace/flow_columns.h"

static void add_some(struct flow_columns *flows, const struct trace_flow *added, size_t count)
{
    int64_t values[PACKED_VALUES] = { 0 };
#define ADD(column, value)                                                                                   \
    for (size_t i = 0; i < count; i++)                                                                       \
        values[i] = value;                                                                                   \
    packing_add_all(&flows->of[column], values, count)
    ADD(FLOW_TIME, added[i].ts_ns);
    ADD(FLOW_ID, added[i].id);
    ADD(FLOW_TRACK, added[i].track);
    ADD(FLOW_PHASE, (unsigned char)added[i].phase);
    ADD(FLOW_CATEGORY, added[i].category);
    ADD(FLOW_NAME, added[i].name);
    ADD(FLOW_BIND_ENCLOSING, added[i].bind_enclosing);
#undef ADD
}

void flow_columns_add(struct flow_columns *flows, const struct trace_flow *added, size_t count)
{
    for (size_t i = 0; i < count; i += PACKED_VALUES)
        add_some(flows, added + i, count - i < PACKED_VALUES ? count - i : PACKED_VALUES);
}

struct trace_flow flow_columns_at(const struct flow_columns *flows, size_t i)
{
    return (struct trace_flow){
        .ts_ns = packing_value(&flows->of[FLOW_TIME], i),
        .id = packing_value(&flows->of[FLOW_ID], i),
        .track = (track_id)packing_value(&flows->of[FLOW_TRACK], i),
        .phase = (char)packing_value(&flows->of[FLOW_PHASE], i),
        .category = (name_id)packing_value(&flows->of[FLOW_CATEGORY], i),
        .name = (name_id)packing_value(&flows->of[FLOW_NAME], i),
        .bind_enclosing = packing_value(&flows->of[FLOW_BIND_ENCLOSING], i),
    };
}

/* COUNT flows from FIRST on, of one block, of columns that are finished. */
void flow_columns_read(const struct flow_columns *flows, size_t first, size_t count, struct trace_flow *to)
{
    int64_t values[PACKED_VALUES];
#define READ(column, member, type)                                                                           \
    packing_read(&flows->of[column], first, count, values);                                                  \
    for (size_t i = 0; i < count; i++)                                                                       \
    to[i].member = (type)values[i]
    READ(FLOW_TIME, ts_ns, int64_t);
    READ(FLOW_ID, id, int64_t);
    READ(FLOW_TRACK, track, track_id);
    READ(FLOW_PHASE, phase, char);
    READ(FLOW_CATEGORY, category, name_id);
    READ(FLOW_NAME, name, name_id);
    READ(FLOW_BIND_ENCLOSING, bind_enclosing, bool);
#undef READ
}

void flow_columns_finish(struct flow_columns *flows)
{
    for (int column = 0; column < FLOW_COLUMNS; column++)
        packing_finish(&flows->of[column]);
}

void flow_columns_release(struct flow_columns *flows)
{
    for (int column = 0; column < FLOW_COLUMNS; column++)
        packing_release(&flows->of[column]);
}
