/* span.c - see span.h. */
#include "trace/span.h"

int64_t trace_recorded_end_ns(const struct trace *trace, event_id e)
{
    const struct trace_file *file = &trace->files[trace->tracks[trace->track[e]].file];
    int64_t end_ns = trace_end_ns(trace, e);
    bool region = trace->kind[e] == EVENT_OP || trace->kind[e] == EVENT_ANNOTATION;
    if (!region || !file->has_window || end_ns <= file->window_end_ns)
        return end_ns;
    return file->window_end_ns > trace->start_ns[e] ? file->window_end_ns : trace->start_ns[e];
}

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
        int64_t end_ns = trace_recorded_end_ns(trace, e);
        if (end_ns > span.end_ns)
            span.end_ns = end_ns;
    }
    return span.start_ns > span.end_ns ? (struct interval){ 0, 0 } : span;
}
