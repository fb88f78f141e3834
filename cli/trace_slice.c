/* trace_slice.c - see trace_slice.h. */
#include "cli/trace_slice.h"

#include "base/memory.h"
#include "trace/intervals.h"
#include <stdlib.h>

static bool overlaps(const struct trace *trace, const struct selection *selection, event_id e)
{
    uint32_t file = trace->tracks[trace->track[e]].file;
    const struct intervals *windows = &selection->windows[file];
    return selection_holds_time(selection, file, trace->start_ns[e]) ||
           intervals_length_within(windows, trace->start_ns[e], trace_end_ns(trace, e)) > 0;
}

static bool holds_moment(const struct trace *trace, const struct selection *selection, track_id track,
                         int64_t ns)
{
    return selection_holds_time(selection, trace->tracks[track].file, ns);
}

static void keep(bool *kept, size_t i, bool held, size_t *count, size_t *first)
{
    kept[i] = held;
    if (held && (*count)++ == 0)
        *first = i;
}

void trace_slice_make(const struct trace *trace, const struct selection *selection, struct trace_slice *slice)
{
    *slice = (struct trace_slice){
        .events = mem_zalloc(trace->event_count + 1, sizeof *slice->events),
        .flows = mem_zalloc(trace->flow_count + 1, sizeof *slice->flows),
        .samples = mem_zalloc(trace->sample_count + 1, sizeof *slice->samples),
        .first_event = trace->event_count,
        .first_flow = trace->flow_count,
        .first_sample = trace->sample_count,
    };
    for (event_id e = 0; e < trace->event_count; e++)
        keep(slice->events, e,
             !selection->windows || overlaps(trace, selection, e) ||
                 (event_on_device(trace->kind[e]) && selection_holds_place(selection, e)),
             &slice->event_count, &slice->first_event);
    for (size_t i = 0; i < trace->flow_count; i++)
        keep(slice->flows, i, holds_moment(trace, selection, trace->flows[i].track, trace->flows[i].ts_ns),
             &slice->flow_count, &slice->first_flow);
    for (size_t i = 0; i < trace->sample_count; i++)
        keep(slice->samples, i,
             holds_moment(trace, selection, trace->samples[i].track, trace->samples[i].ts_ns),
             &slice->sample_count, &slice->first_sample);
}

void trace_slice_release(struct trace_slice *slice)
{
    free(slice->events);
    free(slice->flows);
    free(slice->samples);
}
