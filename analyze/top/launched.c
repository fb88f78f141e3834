/* launched.c - see launched.h. */
#include "analyze/top/launched.h"

#include "trace/arg_scan.h"

void top_launched_open(struct top_launched *launched, const struct top_links *links,
                       const struct top_events *events)
{
    const struct trace *trace = events->trace;
    struct arg_scan ids = arg_scan_of(trace, ARG_EXTERNAL_ID);
    struct arg_scan correlations = arg_scan_of(trace, ARG_CORRELATION);
    *launched = (struct top_launched){ 0 };
    for (event_id e = 0; e < trace->event_count; e++) {
        if (!top_is_launched(events, e))
            continue;
        int64_t id_value, correlation_value;
        const int64_t *id = arg_scan_get(&ids, e, &id_value) ? &id_value : NULL;
        const int64_t *correlation =
            arg_scan_get(&correlations, e, &correlation_value) ? &correlation_value : NULL;
        size_t lookalike;
        event_id op = top_link(links, e, id, correlation, &lookalike).op;
        event_id call = correlation ? attribution_call_by(links->launches, e, id, correlation) : EVENT_NONE;
        *VEC_PUSH(launched) = (struct top_launched_work){ call, op, (uint32_t)lookalike };
    }
}
