/*
 * ranks.c - several files on one clock, and the collectives that tie them together.
 *
 * A collective ends for all ranks at about the same time, which tells how far their clocks are apart: the median over all. On
 * one host that is not a clock's doing but the network's as long as it is within the spread of the differences, and nothing is
 * moved.
 */
#include "whatif/replay.h"

#include "base/search.h"
#include "base/stats.h"

/* ---- which files belong together ---- */

static uint32_t file_of_member(const struct replay_graph *graph, size_t member)
{
    return graph->collectives->places[graph->collectives->at[member].place].file;
}

/* Is the match one of several files that all have to arrive for? */
static bool ties_files(const struct replay_graph *graph, const struct collective_match *match)
{
    const size_t *member = graph->matches->member + match->first;
    bool several = false;
    for (size_t i = 0; i < match->count; i++) {
        const struct collective *one = &graph->collectives->at[member[i]];
        if (!one->timed || !collective_joins_all(one->kind))
            return false;
        several |= file_of_member(graph, member[i]) != file_of_member(graph, member[0]);
    }
    return several;
}

static void group_files(struct replay_graph *graph)
{
    FOR_EACH(match, graph->matches) {
        const size_t *member = graph->matches->member + match->first;
        for (size_t i = 1; i < match->count && ties_files(graph, match); i++) {
            uint32_t a = search_set(graph->group, file_of_member(graph, member[0])),
                     b = search_set(graph->group, file_of_member(graph, member[i]));
            graph->group[a > b ? a : b] = a > b ? b : a;
        }
    }
    for (uint32_t f = 0; f < graph->trace->file_count; f++)
        graph->group[f] = search_set(graph->group, f);
}

/* ---- clocks ---- */

/* How far FILE's clock is ahead of that of the first place with matches, by its first device that has any. */
static bool clock_of_file(const struct replay_graph *graph, uint32_t file, int64_t *clock_ns)
{
    for (size_t p = 0; p < graph->collectives->place_count; p++) {
        if (graph->collectives->places[p].file != file || graph->matches->clock_ns[p] == CLOCK_UNKNOWN)
            continue;
        *clock_ns = graph->matches->clock_ns[p];
        return true;
    }
    return false;
}

static int64_t base_of(const struct replay_graph *graph, uint32_t file)
{
    return graph->trace->files[file].has_base ? graph->trace->files[file].base_ns : 0;
}

/* How much later MEMBER ended than OTHER, in absolute time; false when that is not a number. */
static bool ends_apart(const struct replay_graph *graph, size_t member, size_t other, int64_t *apart_ns)
{
    const struct trace *trace = graph->trace;
    int64_t base_ns;
    event_id e = graph->collectives->at[member].event, o = graph->collectives->at[other].event;
    if (__builtin_sub_overflow(base_of(graph, file_of_member(graph, member)),
                               base_of(graph, file_of_member(graph, other)), &base_ns))
        return false;
    return !__builtin_add_overflow(trace_end_ns(trace, e) - trace_end_ns(trace, o), base_ns, apart_ns);
}

/* Median distance of what FILE and FIRST are apart from the median of it. */
static int64_t deviation_of(const struct replay_graph *graph, uint32_t first, uint32_t file)
{
    VEC_OF(int64_t) apart = { 0 };
    FOR_EACH(match, graph->matches) {
        const size_t *member = graph->matches->member + match->first;
        size_t of_first = SIZE_MAX, of_file = SIZE_MAX;
        for (size_t i = 0; i < match->count && ties_files(graph, match); i++) {
            if (file_of_member(graph, member[i]) == first)
                of_first = member[i];
            else if (file_of_member(graph, member[i]) == file)
                of_file = member[i];
        }
        int64_t ns;
        if (of_first != SIZE_MAX && of_file != SIZE_MAX && ends_apart(graph, of_file, of_first, &ns))
            *VEC_PUSH(&apart) = ns;
    }
    int64_t median_ns = stats_of(apart.at, apart.count).median;
    for (size_t i = 0; i < apart.count; i++)
        apart.at[i] = llabs(apart.at[i] - median_ns);
    int64_t deviation_ns = stats_of(apart.at, apart.count).median;
    VEC_FREE(&apart);
    return deviation_ns;
}

/* Do both files say that they were recorded on different hosts? */
static bool hosts_differ(const struct replay_graph *graph, uint32_t a, uint32_t b)
{
    const char *x = graph->trace->files[a].host_name, *y = graph->trace->files[b].host_name;
    return x && y && strcmp(x, y) != 0;
}

static void set_clocks(struct replay_graph *graph)
{
    for (uint32_t f = 0; f < graph->trace->file_count; f++) {
        uint32_t first = graph->group[f];
        int64_t own_ns, first_ns, base_ns, ahead_ns;
        if (first == f || __builtin_sub_overflow(base_of(graph, f), base_of(graph, first), &base_ns))
            continue;
        if (!clock_of_file(graph, f, &own_ns) || !clock_of_file(graph, first, &first_ns) ||
            __builtin_sub_overflow(own_ns, first_ns, &ahead_ns))
            ahead_ns = 0;
        if (!hosts_differ(graph, first, f) && ahead_ns > INT64_MIN &&
            llabs(ahead_ns) <= deviation_of(graph, first, f))
            ahead_ns = 0;
        if (__builtin_sub_overflow(base_ns, ahead_ns, &graph->shift_ns[f]))
            graph->shift_ns[f] = 0;
    }
}

/* Moving the file must not take any of its moments beyond what a number can hold. */
static void check_shifts(struct replay_graph *graph)
{
    const struct trace *trace = graph->trace;
    for (event_id e = 0; e < trace->event_count; e++) {
        uint32_t file = trace->tracks[trace->track[e]].file;
        int64_t ignored;
        if (graph->shift_ns[file] != 0 &&
            (__builtin_add_overflow(trace_start_ns(trace, e), graph->shift_ns[file], &ignored) ||
             __builtin_add_overflow(trace_end_ns(trace, e), graph->shift_ns[file], &ignored)))
            graph->shift_ns[file] = 0;
    }
}

void graph_match_ranks(struct graph_maker *maker)
{
    struct replay_graph *graph = maker->graph;
    size_t files = graph->trace->file_count;
    graph->shift_ns = mem_zalloc(files + 1, sizeof *graph->shift_ns);
    graph->group = mem_alloc(mem_times(files + 1, sizeof *graph->group));
    for (uint32_t f = 0; f < files; f++)
        graph->group[f] = f;
    if (files < 2)
        return;
    graph->collectives = arena_hold(arena_of(graph), collectives_open(graph->trace));
    graph->matches = arena_hold(arena_of(graph), collective_matches_open(graph->collectives));
    group_files(graph);
    set_clocks(graph);
    check_shifts(graph);
}

/* ---- joins ---- */

/* The work that EVENT is on the device at index PLACE; UINT32_MAX: none. */
static uint32_t work_of(const struct replay_graph *graph, uint32_t place, event_id event)
{
    const struct gpu_device *device = &graph->gpu->devices[place];
    const struct trace *trace = graph->trace;
    size_t i;
    SEARCH_BETWEEN(i, device->first, device->first + device->count,
                   trace_start_ns(trace, graph->gpu->event[i]) < trace_start_ns(trace, event));
    for (; i < device->first + device->count; i++)
        if (graph->gpu->event[i] == event)
            return (uint32_t)i;
    return UINT32_MAX;
}

/* The thread of FILE with the most moments, which is the one that trains; NULL: it has none. */
static const struct replay_thread *busiest_thread(const struct replay_graph *graph, uint32_t file)
{
    const struct replay_thread *best = NULL;
    FOR_EACH_OF(thread, graph->threads, graph->thread_count)
        if (graph->trace->tracks[thread->track].file == file && (!best || thread->count > best->count))
            best = thread;
    return best;
}

/* A rank's part in a collective. */
struct part {
    moment_id start,
        end;          /* when it arrived there, and what goes on when all have; MOMENT_NONE: nothing waited */
    int64_t start_ns; /* when it began */
};

/* The time of moment I of THREAD; how many of its moments come before NS. */
static int64_t time_in(const struct replay_graph *graph, const struct replay_thread *thread, size_t i)
{
    return replay_moment_ns(graph, thread->first + (moment_id)i);
}

static size_t count_moments(const struct replay_graph *graph, const struct replay_thread *thread, int64_t ns)
{
    size_t i;
    SEARCH(i, thread->count, time_in(graph, thread, i) < ns);
    return i;
}

/* A library that communicates on the host does so on a thread of its own, and what called it waits without a
 * trace: nothing is recorded until it goes on. So a gap of the thread that trains is such a wait if the
 * collective ended in it, and the thread had done nothing since the collective began, or at least been idle
 * for a good part of it: else it ended there by chance. */
static struct part part_on_host(const struct replay_graph *graph, const struct replay_thread *thread,
                                event_id event)
{
    enum { LEAST_IDLE_PERCENT = 5 };
    int64_t start_ns = replay_event_start(graph, event), end_ns = replay_event_end(graph, event);
    struct part part = { MOMENT_NONE, MOMENT_NONE, start_ns };
    if (!thread)
        return part;
    size_t begun = count_moments(graph, thread, start_ns), end = count_moments(graph, thread, end_ns);
    if (begun < thread->count && time_in(graph, thread, begun) == start_ns)
        begun++;
    if (begun == 0)
        return part;
    part.start = thread->first + (moment_id)begun - 1;
    if (end == thread->count || end == 0 || graph->inner[thread->first + end] != EVENT_NONE)
        return part;
    int64_t idle_ns = end_ns - time_in(graph, thread, end - 1),
            late_ns = time_in(graph, thread, end) - end_ns;
    if (end == begun || (idle_ns > late_ns && idle_ns >= (end_ns - start_ns) / 100 * LEAST_IDLE_PERCENT))
        part.end = thread->first + (moment_id)end;
    return part;
}

/* A collective of a host, an index, that ended in the gap which ends at MOMENT. */
struct ended_collective {
    moment_id moment;
    int64_t end_ns;
    size_t collective;
};

static const struct key ended_by_moment[] = { ASC(struct ended_collective, moment), KEY_END };
static const struct key ended_by_moment_end[] = { ASC(struct ended_collective, moment),
                                                  ASC(struct ended_collective, end_ns),
                                                  ASC(struct ended_collective, collective), KEY_END };

/* New, by collective: did another one end later in the same gap? A thread that waits for several in a row goes on after the last: what
 * other ranks did between them is not part of its way from the first. */
static bool *find_overtaken(const struct replay_graph *graph, const struct replay_thread *const *busiest)
{
    bool *overtaken = mem_zalloc(graph->collectives->count + 1, sizeof *overtaken);
    VEC_OF(struct ended_collective) ended = { 0 };
    for (size_t i = 0; i < graph->collectives->count; i++) {
        const struct collective *one = &graph->collectives->at[i];
        const struct collective_place *place = &graph->collectives->places[one->place];
        if (place->device >= 0 || graph->matches->match_of[i] == MATCH_NONE ||
            !ties_files(graph, &graph->matches->at[graph->matches->match_of[i]]))
            continue;
        struct part part = part_on_host(graph, busiest[place->file], one->event);
        if (part.end != MOMENT_NONE)
            *VEC_PUSH(&ended) = (struct ended_collective){ part.end, replay_event_end(graph, one->event), i };
    }
    if (ended.count)
        SORT(&ended, ended_by_moment_end);
    FOR_GROUPS(&ended, ended_by_moment, first, end)
        for (size_t i = first; i + 1 < end; i++)
            overtaken[ended.at[i].collective] = true;
    VEC_FREE(&ended);
    return overtaken;
}

static struct part part_on_device(const struct replay_graph *graph, const struct collective *one)
{
    uint32_t work = work_of(graph, one->place, one->event);
    if (work == UINT32_MAX)
        return (struct part){ MOMENT_NONE, MOMENT_NONE, 0 };
    moment_id start = replay_work_start(graph, work);
    return (struct part){ start, replay_work_end(graph, work), replay_moment_ns(graph, start) };
}

/* Where nothing tells which call launched a collective, nothing tells which call waited for it, either. That of ONE, which JOIN is of and
 * ends at END, waits on for ranks that were not recorded: the threads of its file, which may wait with it, do not come earlier to what
 * they do behind it. */
static void hold_threads(struct graph_maker *maker, moment_id join, const struct collective *one,
                         moment_id end)
{
    const struct replay_graph *graph = maker->graph;
    uint32_t file = graph->collectives->places[one->place].file;
    FOR_EACH_OF(thread, graph->threads, graph->thread_count) {
        size_t i = count_moments(graph, thread, replay_moment_ns(graph, end));
        if (graph->trace->tracks[thread->track].file == file && i < thread->count)
            graph_add_edge(maker, join, thread->first + (moment_id)i, RELATION_COLLECTIVE, false);
    }
}

static void add_join(struct graph_maker *maker, const struct collective_match *match,
                     const struct replay_thread *const *busiest, const bool *overtaken, struct part *parts)
{
    struct replay_graph *graph = maker->graph;
    const size_t *member = graph->matches->member + match->first;
    const struct part *last = NULL;
    event_id event = EVENT_NONE;
    for (size_t i = 0; i < match->count; i++) {
        const struct collective *one = &graph->collectives->at[member[i]];
        const struct collective_place *place = &graph->collectives->places[one->place];
        parts[i] = place->device < 0 ? part_on_host(graph, busiest[place->file], one->event)
                                     : part_on_device(graph, one);
        if (parts[i].start == MOMENT_NONE)
            return;
        parts[i].end = overtaken[member[i]] ? MOMENT_NONE : parts[i].end;
        if (last && parts[i].start_ns <= last->start_ns)
            continue;
        last = &parts[i];
        event = one->event;
    }
    if (!last)
        return;
    moment_id join = (moment_id)(graph->host_count + 2 * graph->gpu->count + graph->join_count);
    moment_times_set(&graph->times, (moment_id)(graph->host_count + graph->join_count), last->start_ns);
    graph->join_event[graph->join_count] = event;
    graph->join_stays[graph->join_count] = match->outside_ns > 0;
    graph->join_last[graph->join_count++] = last->start;
    graph->moment_count++;
    for (const struct part *part = parts; part < parts + match->count; part++) {
        bool waits = part->end != MOMENT_NONE && last->start_ns < replay_moment_ns(graph, part->end);
        graph_add_edge(maker, part->start, join, RELATION_ARRIVAL, part == last);
        if (waits)
            graph_add_edge(maker, join, part->end, RELATION_COLLECTIVE,
                           part->end < graph->host_count || part->start_ns < last->start_ns);
        const struct collective *one = &graph->collectives->at[member[part - parts]];
        if (waits && match->outside_ns > 0 && one->launch == EVENT_NONE)
            hold_threads(maker, join, one, part->end);
    }
}

void graph_add_joins(struct graph_maker *maker)
{
    struct replay_graph *graph = maker->graph;
    size_t most = graph->matches ? graph->matches->count : 0, files = graph->trace->file_count;
    graph->join_last = mem_alloc(mem_times(most + 1, sizeof *graph->join_last));
    graph->join_stays = mem_alloc(mem_times(most + 1, sizeof *graph->join_stays));
    graph->join_event = mem_alloc(mem_times(most + 1, sizeof *graph->join_event));
    if (most == 0)
        return;
    moment_times_resize(&graph->times, graph->host_count + most);
    struct part *parts = mem_alloc(mem_times(graph->collectives->count + 1, sizeof *parts));
    const struct replay_thread **busiest = mem_alloc(mem_times(files + 1, sizeof *busiest));
    for (uint32_t f = 0; f < files; f++)
        busiest[f] = busiest_thread(graph, f);
    bool *overtaken = find_overtaken(graph, busiest);
    for (size_t m = 0; m < most; m++)
        if (ties_files(graph, &graph->matches->at[m]))
            add_join(maker, &graph->matches->at[m], busiest, overtaken, parts);
    EACH(free, busiest, overtaken, parts);
}
