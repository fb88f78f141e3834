#include "trace/span.h"

#include "base/sum.h"
#include "trace/derived.h"
#include "trace/memory_change.h"

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

/* Does E take time, as part of what was recorded? */
static bool takes_time(const struct trace *trace, event_id e)
{
    return trace->kind[e] != EVENT_SPAN && trace->kind[e] != EVENT_INSTANT &&
           !(trace->flags[e] & EVENT_POINT);
}

struct interval trace_block_span(const struct trace *trace, size_t block)
{
    struct interval span = { packed_least(&trace->start_ns.blocks[block]),
                             packed_most(&trace->start_ns.blocks[block]) };
    sum_add(&span.end_ns, packed_most(&trace->dur_ns.blocks[block]));
    return span;
}

/* When the first of the events from FIRST up to END that take time begins; START_NS: none does before. */
static int64_t first_start(const struct trace *trace, event_id first, event_id end, int64_t start_ns)
{
    for (event_id e = first; e < end; e++)
        if (takes_time(trace, e) && trace_start_ns(trace, e) < start_ns)
            start_ns = trace_start_ns(trace, e);
    return start_ns;
}

/* When the last of them ends; END_NS: none does later. */
static int64_t last_end(const struct trace *trace, event_id first, event_id end, int64_t end_ns)
{
    for (event_id e = first; e < end; e++)
        if (takes_time(trace, e) && trace_end_ns(trace, e) > end_ns && /* a recorded end is no later */
            trace_recorded_end_ns(trace, e) > end_ns)
            end_ns = trace_recorded_end_ns(trace, e);
    return end_ns;
}

/* Files are nearly in order of time: the first blocks tell the start and the last ones the end, and few others may. */
static struct interval find_span(const struct trace *trace, uint32_t file)
{
    const struct trace_file *of = &trace->files[file];
    struct interval span = { INT64_MAX, INT64_MIN };
    size_t first = of->first_event, end = first + of->event_count;
    size_t first_block = first / TRACE_BLOCK, blocks = (end + TRACE_BLOCK - 1) / TRACE_BLOCK;
    for (size_t block = first_block; block < blocks; block++) {
        size_t from = block * TRACE_BLOCK, to = from + TRACE_BLOCK;
        if (trace_block_span(trace, block).start_ns < span.start_ns)
            span.start_ns = first_start(trace, (event_id)(from > first ? from : first),
                                        (event_id)(to < end ? to : end), span.start_ns);
    }
    for (size_t block = blocks; block-- > first_block;) {
        size_t from = block * TRACE_BLOCK, to = from + TRACE_BLOCK;
        if (trace_block_span(trace, block).end_ns > span.end_ns)
            span.end_ns = last_end(trace, (event_id)(from > first ? from : first),
                                   (event_id)(to < end ? to : end), span.end_ns);
    }
    return span.start_ns > span.end_ns ? span_of_memory(trace, of) : span;
}

/* The spans of all files. */
static void *derive(const struct trace *trace)
{
    struct interval *spans = arena_open(mem_times(trace->file_count + 1, sizeof *spans));
    for (uint32_t file = 0; file < trace->file_count; file++)
        spans[file] = find_span(trace, file);
    return spans;
}

struct interval trace_file_span(const struct trace *trace, uint32_t file)
{
    static const struct derivation derivation = { derive };
    return ((const struct interval *)trace_derive(trace, &derivation))[file];
}
