#include "whatif/path_places.h"

struct summing {
    const struct replay_graph *graph;
    const struct code_paths *code;
    struct path_place *sums; /* by path */
};

static void add_to(const struct summing *summing, uint32_t path, int64_t time_ns)
{
    summing->sums[path].self_ns += time_ns;
    summing->sums[path].count++;
}

/* The thread of a piece of the host; UINT32_MAX: it is none. */
static uint32_t thread_of(const struct replay_graph *graph, const struct path_segment *segment)
{
    if (segment->event != EVENT_NONE)
        return event_on_device((enum event_kind)graph->trace->kind[segment->event])
                   ? UINT32_MAX
                   : graph->thread_of_track[graph->trace->track[segment->event]];
    if (segment->until == MOMENT_NONE || replay_moment_kind(graph, segment->until) != MOMENT_HOST)
        return UINT32_MAX;
    return (uint32_t)replay_thread_of(graph, segment->until);
}

/* A piece of a host thread is split where the thread came to another place. */
static void add_host(const struct summing *summing, const struct path_segment *segment, uint32_t thread)
{
    const struct replay_graph *graph = summing->graph;
    track_id track = graph->threads[thread].track;
    int64_t shift_ns = graph->shift_ns[graph->trace->tracks[track].file];
    int64_t at_ns = segment->start_ns, place_ns = at_ns;
    uint32_t path = code_place_at(summing->code, track, at_ns - shift_ns).path;
    while (at_ns < segment->end_ns) {
        int64_t until_ns = code_place_until(summing->code, track, at_ns - shift_ns);
        at_ns = until_ns < segment->end_ns - shift_ns ? until_ns + shift_ns : segment->end_ns;
        uint32_t next = code_place_at(summing->code, track, at_ns - shift_ns).path;
        if (next == path && at_ns < segment->end_ns)
            continue;
        add_to(summing, path, at_ns - place_ns);
        path = next;
        place_ns = at_ns;
    }
}

static void add_segment(const struct summing *summing, const struct path_segment *segment)
{
    const struct trace *trace = summing->graph->trace;
    uint32_t thread = thread_of(summing->graph, segment);
    int64_t time_ns = segment->end_ns - segment->start_ns;
    if (thread != UINT32_MAX)
        add_host(summing, segment, thread);
    else if (segment->event == EVENT_NONE)
        add_to(summing, CODE_OUTSIDE, time_ns);
    else if (event_on_device((enum event_kind)trace->kind[segment->event]))
        add_to(summing, code_place_of_work(summing->code, attribution_of(trace), segment->event).path,
               time_ns);
    else
        add_to(summing, code_place_of(summing->code, segment->event).path, time_ns);
}

static const struct key by_places[] = { DESC(struct path_place, self_ns), DESC(struct path_place, time_ns),
                                        ASC(struct path_place, path), KEY_END };

struct path_places path_places_of(const struct replay_graph *graph, const struct path *path,
                                  const struct code_paths *code)
{
    struct path_place *sums = mem_zalloc(code->count, sizeof *sums);
    const struct summing summing = { graph, code, sums };
    for (size_t i = 0; i < path->count; i++)
        add_segment(&summing, &path->at[i]);
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
        SORT(&places, by_places);
    return places;
}
