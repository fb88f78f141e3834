/* path_places.c - see path_places.h. */
#include "replay/path_places.h"

#include <stdlib.h>

static struct code_place place_of(const struct replay_graph *graph, const struct path_segment *segment,
                                  const struct code_paths *code)
{
    const struct trace *trace = graph->trace;
    if (segment->event != EVENT_NONE)
        return event_on_device((enum event_kind)trace->kind[segment->event])
                   ? code_place_of_work(code, attribution_of(trace), segment->event)
                   : code_place_of(code, segment->event);
    if (segment->until == MOMENT_NONE || replay_moment_kind(graph, segment->until) != MOMENT_HOST)
        return (struct code_place){ CODE_OUTSIDE, false };
    track_id track = graph->threads[replay_thread_of(graph, segment->until)].track;
    return code_place_at(code, track, segment->start_ns - graph->shift_ns[trace->tracks[track].file]);
}

static int compare_places(const void *left, const void *right)
{
    const struct path_place *a = left, *b = right;
    if (a->self_ns != b->self_ns)
        return a->self_ns > b->self_ns ? -1 : 1;
    if (a->time_ns != b->time_ns)
        return a->time_ns > b->time_ns ? -1 : 1;
    return a->path < b->path ? -1 : a->path > b->path;
}

struct path_places path_places_of(const struct replay_graph *graph, const struct path *path,
                                  const struct code_paths *code)
{
    struct path_place *sums = mem_zalloc(code->count, sizeof *sums);
    for (size_t i = 0; i < path->count; i++) {
        struct path_place *sum = &sums[place_of(graph, &path->at[i], code).path];
        sum->self_ns += path->at[i].end_ns - path->at[i].start_ns;
        sum->count++;
    }
    struct path_places places = { 0 };
    for (size_t p = code->count; p-- > 1;) { /* those within come after what is around them */
        sums[p].path = (uint32_t)p;
        sums[p].time_ns += sums[p].self_ns;
        sums[code->at[p].parent].time_ns += sums[p].time_ns;
        sums[code->at[p].parent].count += sums[p].count;
        if (sums[p].count)
            *VEC_PUSH(&places) = sums[p];
    }
    free(sums);
    if (places.count)
        qsort(places.at, places.count, sizeof *places.at, compare_places);
    return places;
}
