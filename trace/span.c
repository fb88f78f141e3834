/* span.c - see span.h. */
#include "trace/span.h"

struct interval trace_file_span(const struct trace *trace, uint32_t file)
{
    const struct trace_file *of = &trace->files[file];
    struct interval span = { INT64_MAX, INT64_MIN };
    for (event_id i = 0; i < of->event_count; i++) {
        event_id e = of->first_event + i;
        if (trace->kind[e] == EVENT_SPAN || trace->kind[e] == EVENT_INSTANT ||
            (trace->flags[e] & EVENT_POINT))
            continue;
        if (trace->start_ns[e] < span.start_ns)
            span.start_ns = trace->start_ns[e];
        if (trace_end_ns(trace, e) > span.end_ns)
            span.end_ns = trace_end_ns(trace, e);
    }
    return span.start_ns > span.end_ns ? (struct interval){ 0, 0 } : span;
}
