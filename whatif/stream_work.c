#include "whatif/replay.h"

#include "base/search.h"

static const struct key by_stream[] = { ASC(struct work_stream, file), ASC(struct work_stream, device),
                                        ASC(struct work_stream, stream), KEY_END };

/* The streams, each once: of tracks that a file spells in two ways, too. */
static void find_streams(struct stream_work *streams, const struct gpu_events *gpu)
{
    const struct trace *trace = gpu->trace;
    streams->at = mem_alloc(mem_times(trace->track_count + 1, sizeof *streams->at));
    size_t count = 0;
    for (track_id t = 0; t < trace->track_count; t++)
        if (gpu->device_of_track[t] != UINT32_MAX)
            streams->at[count++] = (struct work_stream){ .file = trace->tracks[t].file,
                                                         .device = trace->tracks[t].device,
                                                         .stream = trace->tracks[t].stream };
    SORT_ARRAY(streams->at, count, by_stream);
    streams->count = rows_unique(streams->at, count, sizeof *streams->at, by_stream);
}

size_t stream_work_find(const struct stream_work *streams, uint32_t file, int32_t device, int64_t stream)
{
    struct work_stream key = { .file = file, .device = device, .stream = stream };
    const struct work_stream *found =
        streams->count ? rows_find(streams->at, streams->count, sizeof key, by_stream, &key) : NULL;
    return found ? (size_t)(found - streams->at) : SIZE_MAX;
}

uint32_t stream_work_of(const struct stream_work *streams, uint32_t work)
{
    const struct replay_graph *graph = streams->graph;
    return streams->stream_of_track[graph->trace->track[graph->gpu->event[work]]];
}

int64_t stream_work_launched_ns(const struct stream_work *streams, uint32_t work)
{
    return replay_event_start(streams->graph, streams->graph->gpu->call[work]);
}

static track_id launching_track(const struct replay_graph *graph, uint32_t work)
{
    return graph->trace->track[graph->gpu->call[work]];
}

struct stream_work *stream_work_open(const struct replay_graph *graph)
{
    const struct gpu_events *gpu = graph->gpu;
    const struct trace *trace = graph->trace;
    struct stream_work *streams = mem_zalloc(1, sizeof *streams);
    streams->graph = graph;
    find_streams(streams, gpu);
    streams->stream_of_track = mem_alloc(mem_times(trace->track_count + 1, sizeof *streams->stream_of_track));
    for (track_id t = 0; t < trace->track_count; t++)
        streams->stream_of_track[t] = (uint32_t)stream_work_find(
            streams, trace->tracks[t].file, trace->tracks[t].device, trace->tracks[t].stream);
    streams->launched = mem_alloc(mem_times(gpu->count + 1, sizeof *streams->launched));
    for (size_t i = 0; i < gpu->count; i++)
        if (gpu->call[i] != EVENT_NONE)
            streams->at[stream_work_of(streams, (uint32_t)i)].count++;
    for (size_t s = 0; s < streams->count; s++) {
        streams->at[s].first = streams->launched_count;
        streams->launched_count += streams->at[s].count;
        streams->at[s].count = 0;
    }
    for (size_t i = 0; i < gpu->count; i++) {
        struct work_stream *stream = &streams->at[stream_work_of(streams, (uint32_t)i)];
        if (gpu->call[i] != EVENT_NONE)
            streams->launched[stream->first + stream->count++] = (uint32_t)i;
    }
    for (size_t s = 0; s < streams->count; s++) { /* work begins as it was launched, mostly */
        uint32_t *at = streams->launched + streams->at[s].first;
        SORT_BY(at, streams->at[s].count, i, stream_work_launched_ns(streams, at[i]));
    }
    return streams;
}

/* How many operations of the stream at INDEX were launched before NS, or, with INCLUDED, by then. */
static size_t count_launched(struct stream_work *streams, size_t index, int64_t ns, bool included)
{
    struct work_stream *stream = &streams->at[index];
    const uint32_t *at = streams->launched + stream->first;
    size_t i;
    SEARCH_NEAR(i, stream->near, stream->count,
                stream_work_launched_ns(streams, at[i]) < ns ||
                    (included && stream_work_launched_ns(streams, at[i]) == ns));
    stream->near = i;
    return i;
}

size_t stream_work_launched_before(struct stream_work *streams, size_t index, int64_t ns)
{
    size_t before = index == SIZE_MAX ? 0 : count_launched(streams, index, ns, false);
    return before ? streams->launched[streams->at[index].first + before - 1] : SIZE_MAX;
}

size_t stream_work_launched_after(struct stream_work *streams, size_t index, int64_t ns)
{
    if (index == SIZE_MAX)
        return SIZE_MAX;
    size_t before = count_launched(streams, index, ns, true);
    return before < streams->at[index].count ? streams->launched[streams->at[index].first + before]
                                             : SIZE_MAX;
}

static void sort_by_thread(struct stream_work *streams)
{
    streams->by_thread = mem_alloc(mem_times(streams->launched_count + 1, sizeof *streams->by_thread));
    memcpy(streams->by_thread, streams->launched, streams->launched_count * sizeof *streams->by_thread);
    SORT_NUMBERS(streams->by_thread, streams->launched_count);
    SORT_BY(streams->by_thread, streams->launched_count, i,
            stream_work_launched_ns(streams, streams->by_thread[i]));
    SORT_BY(streams->by_thread, streams->launched_count, i,
            launching_track(streams->graph, streams->by_thread[i]));
}

size_t stream_work_launched_by(struct stream_work *streams, track_id track, int64_t ns)
{
    if (!streams->by_thread)
        sort_by_thread(streams);
    track_id of;
    size_t low;
    SEARCH(low, streams->launched_count,
           (of = launching_track(streams->graph, streams->by_thread[low]),
            of < track || (of == track && stream_work_launched_ns(streams, streams->by_thread[low]) < ns)));
    if (low == 0 || launching_track(streams->graph, streams->by_thread[low - 1]) != track)
        return SIZE_MAX;
    return streams->by_thread[low - 1];
}

/* ---- what ran before ---- */

static int64_t stream_work_end_ns(const struct stream_work *streams, uint32_t work)
{
    return replay_moment_ns(streams->graph, replay_work_end(streams->graph, work));
}

/* The place in BY_END of WORK, of the stream whose work lies from FIRST to END there. */
static size_t stream_work_place_of(const struct stream_work *streams, const uint32_t *by_end, size_t first,
                                   size_t end, uint32_t work)
{
    int64_t end_ns = stream_work_end_ns(streams, work), ns;
    size_t place;
    SEARCH_BETWEEN(place, first, end,
                   (ns = stream_work_end_ns(streams, by_end[place]),
                    ns < end_ns || (ns == end_ns && by_end[place] < work)));
    return place;
}

/* Fill BEFORE where on each stream an operation begins when the one before has ended, as mostly. False: somewhere it does not. */
static bool find_in_turn(const struct stream_work *streams, uint32_t *before)
{
    const struct replay_graph *graph = streams->graph;
    uint32_t *last = mem_alloc(mem_times(streams->count + 1, sizeof *last));
    memset(last, 0xff, (streams->count + 1) * sizeof *last);
    bool in_turn = true;
    for (size_t i = 0; i < graph->gpu->count && in_turn; i++) {
        uint32_t s = stream_work_of(streams, (uint32_t)i);
        before[i] = last[s];
        in_turn = last[s] == UINT32_MAX || replay_moment_ns(graph, replay_work_end(graph, last[s])) <=
                                               replay_moment_ns(graph, replay_work_start(graph, i));
        last[s] = (uint32_t)i;
    }
    free(last);
    return in_turn;
}

/* The same where operations of a stream overlap. */
static void stream_work_find_before(const struct stream_work *streams, uint32_t *before)
{
    const struct replay_graph *graph = streams->graph;
    size_t count = graph->gpu->count;
    uint32_t *by_end = mem_alloc(mem_times(count + 1, sizeof *by_end));
    size_t *next = mem_zalloc(streams->count + 1, sizeof *next),
           *end = mem_zalloc(streams->count + 1, sizeof *end);
    for (size_t i = 0; i < count; i++)
        end[stream_work_of(streams, (uint32_t)i)]++;
    for (size_t s = 1; s < streams->count; s++)
        end[s] += end[s - 1];
    for (size_t s = 0; s < streams->count; s++)
        next[s] = s ? end[s - 1] : 0;
    for (size_t i = 0; i < count; i++)
        by_end[next[stream_work_of(streams, (uint32_t)i)]++] = (uint32_t)i;
    SORT_BY(by_end, count, i, stream_work_end_ns(streams, by_end[i]));
    SORT_BY(by_end, count, i, stream_work_of(streams, by_end[i]));
    for (size_t s = 0; s < streams->count; s++)
        next[s] = s ? end[s - 1] : 0;
    /* Operations come by start, so what has ended by then only grows. Of those that take no time, each follows the one before. */
    for (size_t i = 0; i < count; i++) {
        uint32_t s = stream_work_of(streams, (uint32_t)i);
        int64_t start_ns = replay_moment_ns(graph, replay_work_start(graph, i));
        bool instant = replay_moment_ns(graph, replay_work_end(graph, i)) == start_ns;
        while (next[s] < end[s] &&
               replay_moment_ns(graph, replay_work_end(graph, by_end[next[s]])) <= start_ns)
            next[s]++;
        size_t first = s ? end[s - 1] : 0,
               behind = instant ? stream_work_place_of(streams, by_end, first, end[s], (uint32_t)i) : next[s];
        before[i] = behind > first ? by_end[behind - 1] : UINT32_MAX;
    }
    EACH(free, by_end, next, end);
}

uint32_t *stream_work_before(struct stream_work *streams)
{
    EACH(free, streams->launched, streams->by_thread);
    uint32_t *before = mem_alloc(mem_times(streams->graph->gpu->count + 1, sizeof *before));
    if (!find_in_turn(streams, before))
        stream_work_find_before(streams, before);
    EACH(free, streams->at, streams->stream_of_track, streams);
    return before;
}
