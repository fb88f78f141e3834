/* The binding relations are in the graph; this only follows them. */
#include "whatif/path.h"

#include "analyze/gap_finder.h"
#include "base/search.h"
#include <assert.h>

static const struct {
    const char *name, *title, *help;
} parts[PATH_PARTS] = {
    [PART_OPERATOR] = { "operator", "operators on the host",
                        "operators on the host, without what they called" },
    [PART_CALL] = { "call", "runtime calls", "calls of the runtime or driver" },
    [PART_KERNEL] = { "kernel", "kernels", "kernels" },
    [PART_COPY] = { "copy", "copies", "copies" },
    [PART_MEMSET] = { "memset", "memsets", "memsets" },
    [PART_COMMUNICATION] = { "communication", "communication",
                             "kernels of NCCL or RCCL, collectives on the host" },
    [PART_LAUNCH] = { "launch", "launch latency", "from the end of a launching call to its work" },
    [PART_QUEUED] = { "queued", "time in queues",
                      "the same, 30 us or more: behind an event or unknown work" },
    [PART_STREAM] = { "stream", "pauses of a stream", "from one operation of a stream to the next" },
    [PART_EVENT] = { "event", "waits between streams",
                     "from work to work of another stream that waited for it" },
    [PART_SYNC] = { "sync", "returns from waits", "from work to the end of the call that waited for it" },
    [PART_GAP] = { "gap", "host gaps", "nothing recorded on the thread: Python, waiting" },
    [PART_UNKNOWN] = { "unknown", "unknown", "before work whose predecessor is unknown" },
};

const char *path_part_name(enum path_part part)
{
    return parts[part].name;
}

const char *path_part_title(enum path_part part)
{
    return parts[part].title;
}

const char *path_part_help(enum path_part part)
{
    return parts[part].help;
}

enum path_part path_part_of_work(const struct replay_graph *graph, size_t i)
{
    switch (graph->gpu->work[i]) {
    case GPU_MEMCPY: return PART_COPY;
    case GPU_MEMSET: return PART_MEMSET;
    case GPU_NCCL: return PART_COMMUNICATION;
    default: return PART_KERNEL;
    }
}

/* Where the walk is: at AT_NS, in the piece that leads to moment M. */
struct walk {
    const struct replay_graph *graph;
    const struct path_window *window;
    struct path *path;
    moment_id m;
    int64_t at_ns;
    size_t steps_left;   /* no walk visits a moment twice: for what a mistake in the graph could do */
    size_t most, pieces; /* once there were more PIECES than MOST, only those of LEAST_NS or more are kept */
    int64_t least_ns;
};

/* Is the piece that was added last, which comes after, of the same thing? */
static bool goes_on(const struct path *path, enum path_part part, event_id event, uint32_t file)
{
    if (path->count == 0)
        return false;
    const struct path_segment *after = &path->at[path->count - 1];
    return after->part == part && after->event == event && after->file == file;
}

/* The pieces behind FIRST have their whole length: keep what is long enough of them. */
static void drop_short(struct path *path, size_t first, int64_t least_ns)
{
    size_t kept = first;
    for (size_t i = first; i < path->count; i++)
        if (path->at[i].end_ns - path->at[i].start_ns >= least_ns)
            path->at[kept++] = path->at[i];
    path->count = kept;
}

/* All that were added have their whole length. */
static void finish_pieces(struct walk *walk)
{
    size_t count = walk->path->count;
    if (walk->pieces > walk->most)
        drop_short(walk->path, walk->pieces == walk->most + 1 || !count ? 0 : count - 1, walk->least_ns);
}

/* Go back to START_NS, or to the begin of the window. A piece that goes on with what the one after it was of is one with it.
 * Returns one that is new, or NULL. */
static struct path_segment *add(struct walk *walk, enum path_part part, event_id event, uint32_t file,
                                int64_t start_ns)
{
    int64_t end_ns = walk->at_ns;
    if (start_ns < walk->window->start_ns)
        start_ns = walk->window->start_ns;
    if (start_ns >= end_ns)
        return NULL;
    struct path *path = walk->path;
    walk->at_ns = start_ns;
    if (goes_on(path, part, event, file)) {
        path->at[path->count - 1].start_ns = start_ns;
        return NULL;
    }
    finish_pieces(walk);
    walk->pieces++;
    struct path_segment *piece = VEC_PUSH(path);
    *piece = (struct path_segment){ part, file, start_ns, end_ns, event, event, walk->m };
    return piece;
}

static uint32_t path_file_of(const struct walk *walk, event_id e)
{
    return walk->graph->trace->tracks[walk->graph->trace->track[e]].file;
}

static event_id event_of(const struct walk *walk, moment_id m)
{
    return walk->graph->gpu->event[replay_work_of(walk->graph, m)];
}

static void finish(struct walk *walk, enum path_part part, uint32_t file)
{
    add(walk, part, EVENT_NONE, file, walk->window->start_ns);
    walk->at_ns = walk->window->start_ns;
}

static void go_to(struct walk *walk, moment_id m)
{
    walk->m = m;
    if (replay_moment_ns(walk->graph, m) < walk->at_ns)
        walk->at_ns = replay_moment_ns(walk->graph, m);
}

/* On a host thread, in a piece of a span or in a gap. */
static void walk_host(struct walk *walk)
{
    const struct replay_graph *graph = walk->graph;
    moment_id m = walk->m;
    const struct replay_thread *thread = &graph->threads[replay_thread_of(graph, m)];
    uint32_t file = graph->trace->tracks[thread->track].file;
    event_id span = graph->inner[m];
    const struct replay_edge binding = replay_binding(graph, m);
    const struct replay_edge *edge = binding.from == MOMENT_NONE ? NULL : &binding;
    if (edge && walk->at_ns < replay_moment_ns(graph, m) && replay_moment_ns(graph, edge->from) > walk->at_ns)
        edge = NULL; /* from within the piece, before what ended it */
    if (edge && (edge->relation == RELATION_HANDOVER || edge->relation == RELATION_TURN) &&
        walk->at_ns == replay_moment_ns(graph, m)) {
        add(walk, PART_GAP, EVENT_NONE, file, replay_moment_ns(graph, edge->from));
        go_to(walk, edge->from);
    } else if (edge && edge->relation == RELATION_COLLECTIVE) {
        struct path_segment *piece =
            add(walk, PART_COMMUNICATION, EVENT_NONE, file, replay_moment_ns(graph, edge->from));
        if (piece)
            piece->named = replay_collective_of(graph, edge->from);
        go_to(walk, edge->from);
    } else if (edge && edge->relation == RELATION_SYNC) {
        add(walk, PART_SYNC, span, file, replay_moment_ns(graph, edge->from));
        go_to(walk, edge->from);
    } else if (m == thread->first) {
        finish(walk, PART_GAP, file);
    } else {
        enum path_part part = span == EVENT_NONE                        ? PART_GAP
                              : event_is_call(graph->trace->kind[span]) ? PART_CALL
                                                                        : PART_OPERATOR;
        add(walk, part, span, file, replay_moment_ns(graph, m - 1));
        go_to(walk, m - 1);
    }
}

/* From the start of work to the call that launched it. */
static void walk_launch(struct walk *walk, moment_id from)
{
    const struct replay_graph *graph = walk->graph;
    size_t i = replay_work_of(graph, walk->m);
    event_id work = graph->gpu->event[i], call = graph->gpu->call[i];
    uint32_t file = path_file_of(walk, call);
    if (replay_event_start(graph, call) >
        replay_recorded_ns(graph, walk->m)) { /* it began within a piece of the thread */
        bool is_first = graph->threads[replay_thread_of(graph, from)].first == from;
        walk->m = replay_moment_ns(graph, from) < walk->at_ns || is_first ? from + 1 : from;
        return;
    }
    moment_id end = replay_moment_from(graph, replay_thread_of(graph, from), replay_event_end(graph, call));
    if (end != MOMENT_NONE && replay_moment_ns(graph, end) < walk->at_ns)
        add(walk,
            replay_moment_ns(graph, walk->m) - replay_moment_ns(graph, end) < GAP_LATENCY_BELOW_NS
                ? PART_LAUNCH
                : PART_QUEUED,
            work, file, replay_moment_ns(graph, end));
    add(walk, PART_CALL, call, file, replay_moment_ns(graph, from));
    go_to(walk, from);
}

static void walk_work_start(struct walk *walk)
{
    const struct replay_edge edge = replay_binding(walk->graph, walk->m);
    event_id work = event_of(walk, walk->m);
    if (edge.from == MOMENT_NONE) {
        finish(walk, PART_UNKNOWN, path_file_of(walk, work));
    } else if (edge.relation == RELATION_LAUNCH) {
        walk_launch(walk, edge.from);
    } else {
        add(walk, edge.relation == RELATION_EVENT ? PART_EVENT : PART_STREAM, work, path_file_of(walk, work),
            replay_moment_ns(walk->graph, edge.from));
        go_to(walk, edge.from);
    }
}

static void walk_work_end(struct walk *walk)
{
    const struct replay_graph *graph = walk->graph;
    const struct replay_edge edge = replay_binding(graph, walk->m);
    event_id work = event_of(walk, walk->m);
    moment_id from = edge.from == MOMENT_NONE ? walk->m - 1 : edge.from;
    add(walk, path_part_of_work(graph, replay_work_of(graph, walk->m)), work, path_file_of(walk, work),
        replay_moment_ns(graph, from));
    go_to(walk, from);
}

/* To the last rank to arrive. Between its thread and a collective on the host lies what nothing tells about. */
static void walk_join(struct walk *walk)
{
    const struct replay_graph *graph = walk->graph;
    moment_id last = graph->join_last[walk->m - graph->host_count - 2 * graph->gpu->count];
    if (last < graph->host_count)
        add(walk, PART_GAP, EVENT_NONE,
            graph->trace->tracks[graph->threads[replay_thread_of(graph, last)].track].file,
            replay_moment_ns(graph, last));
    go_to(walk, last);
}

static void walk_back(struct walk *walk)
{
    const struct replay_graph *graph = walk->graph;
    while (walk->at_ns > walk->window->start_ns && walk->steps_left-- > 0) {
        switch (replay_moment_kind(graph, walk->m)) {
        case MOMENT_HOST: walk_host(walk); break;
        case MOMENT_WORK_START: walk_work_start(walk); break;
        case MOMENT_WORK_END: walk_work_end(walk); break;
        case MOMENT_JOIN: walk_join(walk); break;
        }
    }
    assert(walk->at_ns <= walk->window->start_ns);
}

/* Is the moment one at which a span or work ended or began, of a file of the window's group? */
static bool is_of_group(const struct replay_graph *graph, moment_id m, uint32_t file)
{
    enum moment_kind kind = replay_moment_kind(graph, m);
    if (kind == MOMENT_JOIN)
        return false;
    track_id track = kind == MOMENT_HOST ? graph->threads[replay_thread_of(graph, m)].track
                                         : graph->trace->track[graph->gpu->event[replay_work_of(graph, m)]];
    return graph->group[graph->trace->tracks[track].file] == graph->group[file];
}

static bool busy_before(const struct replay_graph *graph, moment_id m)
{
    return replay_moment_kind(graph, m) != MOMENT_HOST || graph->inner[m] != EVENT_NONE;
}

static event_id event_at(const struct replay_graph *graph, moment_id m)
{
    return replay_moment_kind(graph, m) == MOMENT_HOST ? graph->inner[m]
                                                       : graph->gpu->event[replay_work_of(graph, m)];
}

/* Does A come before B, of two that ended together: the host before a device, then in order of the file? */
static bool ends_first(const struct replay_graph *graph, moment_id a, moment_id b)
{
    bool a_host = a < graph->host_count, b_host = b < graph->host_count;
    return a_host != b_host ? a_host : event_at(graph, a) < event_at(graph, b);
}

/* The first moment of THREAD at or after NS on the clock of GRAPH, which of a view is that of the replay; MOMENT_NONE: none. */
static moment_id moment_from(const struct replay_graph *graph, size_t thread, int64_t ns)
{
    const struct replay_thread *own = &graph->threads[thread];
    size_t at;
    SEARCH(at, own->count, replay_moment_ns(graph, own->first + (moment_id)at) < ns);
    return at < own->count ? own->first + (moment_id)at : MOMENT_NONE;
}

/* What ended last by the end of the window; a thread that is busy then ends there. MOMENT_NONE: nothing. */
static moment_id find_last(const struct replay_graph *graph, const struct path_window *window, int64_t *at_ns)
{
    moment_id best = MOMENT_NONE;
    for (size_t t = 0; t < graph->thread_count; t++) {
        const struct replay_thread *thread = &graph->threads[t];
        if (graph->group[graph->trace->tracks[thread->track].file] != graph->group[window->file])
            continue;
        moment_id m = moment_from(graph, t, window->end_ns);
        if (m == MOMENT_NONE)
            m = thread->first + thread->count - 1;
        while (m > thread->first && !busy_before(graph, m))
            m--;
        int64_t ns =
            replay_moment_ns(graph, m) < window->end_ns ? replay_moment_ns(graph, m) : window->end_ns;
        if (!busy_before(graph, m))
            continue;
        if (best == MOMENT_NONE || ns > *at_ns || (ns == *at_ns && ends_first(graph, m, best))) {
            best = m;
            *at_ns = ns;
        }
    }
    for (size_t i = 0; i < graph->gpu->count; i++) {
        moment_id m = replay_work_end(graph, i);
        int64_t ns = replay_moment_ns(graph, m);
        if (ns <= window->end_ns && is_of_group(graph, m, window->file) &&
            (best == MOMENT_NONE || ns > *at_ns || (ns == *at_ns && ends_first(graph, m, best)))) {
            best = m;
            *at_ns = ns;
        }
    }
    return best;
}

/* Where the walk begins: on the window's thread at its end, or at what ended last. */
static void begin(struct walk *walk)
{
    const struct replay_graph *graph = walk->graph;
    const struct path_window *window = walk->window;
    if (window->thread != UINT32_MAX) {
        const struct replay_thread *thread = &graph->threads[window->thread];
        walk->m = moment_from(graph, window->thread, window->end_ns);
        if (walk->m != MOMENT_NONE)
            return;
        walk->m = thread->first + thread->count - 1;
        add(walk, PART_GAP, EVENT_NONE, window->file, replay_moment_ns(graph, walk->m));
        return;
    }
    int64_t ns = window->start_ns;
    walk->m = find_last(graph, window, &ns);
    if (walk->m == MOMENT_NONE) {
        finish(walk, PART_GAP, window->file);
        return;
    }
    add(walk, PART_GAP, EVENT_NONE, window->file, ns);
}

moment_id path_last_moment(const struct replay_graph *graph, const struct path_window *window)
{
    int64_t ns = window->start_ns;
    if (window->thread == UINT32_MAX)
        return find_last(graph, window, &ns);
    const struct replay_thread *thread = &graph->threads[window->thread];
    moment_id m = moment_from(graph, window->thread, window->end_ns);
    return m != MOMENT_NONE ? m : thread->first + thread->count - 1;
}

static void turn_round(struct path *path)
{
    for (size_t i = 0, k = path->count; i + 1 < k; i++) {
        struct path_segment segment = path->at[i];
        path->at[i] = path->at[--k];
        path->at[k] = segment;
    }
}

static struct path *open_path(struct walk walk)
{
    walk.path = arena_open(sizeof *walk.path);
    ARENA_OWNS(arena_of(walk.path), &walk.path->at);
    walk.at_ns = walk.window->end_ns;
    walk.steps_left = 2 * walk.graph->moment_count + 2;
    if (walk.m == MOMENT_NONE)
        begin(&walk);
    walk_back(&walk);
    finish_pieces(&walk);
    turn_round(walk.path);
    return walk.path;
}

struct path *path_open_at(const struct replay_graph *graph, const struct path_window *window, moment_id m)
{
    return open_path((struct walk){ .graph = graph, .window = window, .m = m, .most = SIZE_MAX });
}

struct path *path_open_long(const struct replay_graph *graph, const struct path_window *window, size_t most,
                            int64_t least_ns)
{
    return open_path((struct walk){
        .graph = graph, .window = window, .m = MOMENT_NONE, .most = most, .least_ns = least_ns });
}

struct path *path_open(const struct replay_graph *graph, const struct path_window *window)
{
    return path_open_at(graph, window, MOMENT_NONE);
}

void path_add_up(const struct path *path, int64_t *sums_ns)
{
    for (int part = 0; part < PATH_PARTS; part++)
        sums_ns[part] = 0;
    for (size_t i = 0; i < path->count; i++)
        sums_ns[path->at[i].part] += path->at[i].end_ns - path->at[i].start_ns;
}

/* A name and part, and the event it was seen of: an event that the path left and came back to counts once. */
struct seen {
    enum path_part part;
    name_id name;
    event_id event;
    int64_t time_ns;
};

static const struct key by_seen[] = { ASC(struct seen, part), ASC(struct seen, name), ASC(struct seen, event),
                                      KEY_END };

static const struct key by_items[] = { DESC(struct path_item, time_ns), ASC(struct path_item, part),
                                       ASC(struct path_item, name), KEY_END };

struct path_items *path_items_open(const struct replay_graph *graph, const struct path *path)
{
    struct path_items *items = arena_open(sizeof *items);
    ARENA_OWNS(arena_of(items), &items->at);
    struct seen *seen = mem_alloc(mem_times(path->count + 1, sizeof *seen));
    for (size_t i = 0; i < path->count; i++) {
        const struct path_segment *segment = &path->at[i];
        name_id name = segment->named == EVENT_NONE ? NAME_NONE : graph->trace->name[segment->named];
        seen[i] = (struct seen){ segment->part, name, segment->event, segment->end_ns - segment->start_ns };
    }
    if (path->count)
        SORT_ARRAY(seen, path->count, by_seen);
    for (size_t i = 0; i < path->count; i++) {
        struct path_item *item = items->count ? &items->at[items->count - 1] : NULL;
        bool same_item = item && item->part == seen[i].part && item->name == seen[i].name;
        if (!same_item) {
            item = VEC_PUSH(items);
            *item = (struct path_item){ .part = seen[i].part, .name = seen[i].name };
        }
        item->time_ns += seen[i].time_ns;
        item->count += !same_item || seen[i].event == EVENT_NONE || seen[i].event != seen[i - 1].event;
    }
    free(seen);
    if (items->count)
        SORT(items, by_items);
    return items;
}
