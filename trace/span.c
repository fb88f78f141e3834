/* span.c - see span.h. */
#include "trace/span.h"

#include "base/memory.h"
#include "trace/derived.h"
#include "trace/memory_change.h"
#include <stdlib.h>

int64_t trace_recorded_end_ns(const struct trace *trace, event_id e)
{
    const struct trace_file *file = &trace->files[trace->tracks[trace->track[e]].file];
    int64_t end_ns = trace_end_ns(trace, e);
    bool region = trace->kind[e] == EVENT_OP || trace->kind[e] == EVENT_ANNOTATION;
    if (!region || !file->has_window || end_ns <= file->window_end_ns)
        return end_ns;
    return file->window_end_ns > trace_start_ns(trace, e) ? file->window_end_ns : trace_start_ns(trace, e);
}

/* From the first memory record of FILE to the last. */
static struct interval span_of_memory(const struct trace *trace, const struct trace_file *file)
{
    struct memory_change_ids ids = memory_change_ids(trace);
    struct interval span = { INT64_MAX, INT64_MIN };
    for (event_id e = file->first_event; e < file->first_event + file->event_count; e++) {
        if (memory_change_of(&ids, trace, e) == MEMORY_CHANGES)
            continue;
        if (trace_start_ns(trace, e) < span.start_ns)
            span.start_ns = trace_start_ns(trace, e);
        if (trace_start_ns(trace, e) > span.end_ns)
            span.end_ns = trace_start_ns(trace, e);
    }
    return span.start_ns > span.end_ns ? (struct interval){ 0, 0 } : span;
}

static struct interval find_span(const struct trace *trace, uint32_t file)
{
    const struct trace_file *of = &trace->files[file];
    struct interval span = { INT64_MAX, INT64_MIN };
    for (event_id i = 0; i < of->event_count; i++) {
        event_id e = of->first_event + i;
        if (trace->kind[e] == EVENT_SPAN || trace->kind[e] == EVENT_INSTANT ||
            (trace->flags[e] & EVENT_POINT))
            continue;
        if (trace_start_ns(trace, e) < span.start_ns)
            span.start_ns = trace_start_ns(trace, e);
        if (trace_end_ns(trace, e) <= span.end_ns)
            continue; /* a recorded end is no later */
        int64_t end_ns = trace_recorded_end_ns(trace, e);
        if (end_ns > span.end_ns)
            span.end_ns = end_ns;
    }
    return span.start_ns > span.end_ns ? span_of_memory(trace, of) : span;
}

/* The spans of all files. */
static void *derive(const struct trace *trace)
{
    struct interval *spans = mem_alloc(mem_times(trace->file_count + 1, sizeof *spans));
    for (uint32_t file = 0; file < trace->file_count; file++)
        spans[file] = find_span(trace, file);
    return spans;
}

struct interval trace_file_span(const struct trace *trace, uint32_t file)
{
    static const struct derivation derivation = { derive, free };
    return ((const struct interval *)trace_derive(trace, &derivation))[file];
}
