/*
 * device.c - what device work waited for, and what calls waited for.
 *
 * Work waits for the begin of the call that launched it, for the work before it on its stream, and for the work of other
 * streams that its stream had to wait for. Of these the one that was ready last binds; of those ready together a wait for
 * an event before the stream before the launch.
 */
#include "base/search.h"
#include "trace/call_names.h"
#include "whatif/replay.h"

/* ---- the latest of work that was launched before ---- */

/* Of the work that was launched before one moment and had ended by another, which ended last? That is what a
 * synchronisation of the device waits for. Work is sorted by its end; a tree over it holds the earliest
 * launch of each part, so that an answer takes as many steps as the logarithm of the work, however many
 * streams there are. */

#define LATEST_NONE SIZE_MAX
#define LATEST_ANY_STREAM UINT32_MAX

struct latest_item {
    int64_t end_ns, launched_ns;
    uint32_t group, stream; /* numbers that the caller chooses */
};

/* What is known of WORK. Called many times for the same WORK, so that nothing is stored. */
typedef struct latest_item latest_tell(const void *context, uint32_t work);

struct latest;

struct node {
    int64_t first_ns, other_ns; /* INT64_MAX: none */
    uint32_t first_stream;
};

enum { BLOCK = 16 };

struct latest {
    uint32_t *operations;
    size_t count, leaves;
    latest_tell *tell;
    const void *context;
    struct node *nodes; /* from 1; leaf i is leaves + i, and stands for works from i * BLOCK on */
};

static struct latest_item item(const struct latest *latest, size_t i)
{
    return latest->tell(latest->context, latest->operations[i]);
}

static struct node join(const struct node *a, const struct node *b)
{
    const struct node *first = a->first_ns <= b->first_ns ? a : b, *second = first == a ? b : a;
    struct node node = { first->first_ns, first->other_ns, first->first_stream };
    int64_t rival_ns = second->first_stream == first->first_stream ? second->other_ns : second->first_ns;
    if (rival_ns < node.other_ns)
        node.other_ns = rival_ns;
    return node;
}

static struct node node_of_block(const struct latest *latest, size_t block)
{
    struct node node = { INT64_MAX, INT64_MAX, LATEST_ANY_STREAM };
    for (size_t i = block * BLOCK; i < latest->count && i < (block + 1) * BLOCK; i++) {
        struct latest_item of = item(latest, i);
        struct node one = { of.launched_ns, INT64_MAX, of.stream };
        node = join(&node, &one);
    }
    return node;
}

/* New, of COUNT OPERATIONS by group, end and number, which are taken (free()); CONTEXT is borrowed. Free with arena_free
 * (NULL is allowed). */
static struct latest *latest_open(uint32_t *operations, size_t count, latest_tell *tell, const void *context)
{
    struct latest *latest = arena_open(sizeof *latest);
    ARENA_OWNS(arena_of(latest), &latest->operations);
    *latest = (struct latest){ .operations = operations, .count = count, .tell = tell, .context = context };
    latest->leaves = 1;
    while (latest->leaves < count / BLOCK + 1)
        latest->leaves *= 2;
    latest->nodes = arena_alloc(arena_of(latest), mem_times(2 * latest->leaves, sizeof *latest->nodes));
    for (size_t i = 0; i < latest->leaves; i++)
        latest->nodes[latest->leaves + i] = node_of_block(latest, i);
    for (size_t n = latest->leaves; n-- > 1;)
        latest->nodes[n] = join(&latest->nodes[2 * n], &latest->nodes[2 * n + 1]);
    return latest;
}

/* Is there work below NODE that was launched in time, and not on EXCEPT? */
static bool holds_one(const struct node *node, int64_t launched_before_ns, uint32_t except)
{
    return (node->first_stream == except ? node->other_ns : node->first_ns) < launched_before_ns;
}

/* How many operations come before those of GROUP that end after END_NS. */
static size_t count_until(const struct latest *latest, uint32_t group, int64_t end_ns)
{
    struct latest_item of;
    size_t low;
    SEARCH(low, latest->count,
           (of = item(latest, low), of.group < group || (of.group == group && of.end_ns <= end_ns)));
    return low;
}

/* The node that covers the last candidates before block END, and no block from there on; 0 when no candidate is left. */
static size_t find_node(const struct latest *latest, size_t end, int64_t launched_before_ns, uint32_t except)
{
    /* From the leaf behind the last candidate upwards: what lies just before it is the left sibling of a right child. */
    for (size_t node = latest->leaves + end; node > 1; node /= 2)
        if (node % 2 == 1 && holds_one(&latest->nodes[node - 1], launched_before_ns, except))
            return node - 1;
    return 0;
}

/* The last candidate of BLOCK before the work at END; LATEST_NONE: there is none. */
static size_t find_in_block(const struct latest *latest, size_t block, size_t end, int64_t launched_before_ns,
                            uint32_t except)
{
    for (size_t i = end; i-- > block * BLOCK;) {
        struct latest_item of = item(latest, i);
        if (of.stream != except && of.launched_ns < launched_before_ns)
            return i;
    }
    return LATEST_NONE;
}

/* The last candidate before the work at END. */
static size_t find_before(const struct latest *latest, size_t end, int64_t launched_before_ns,
                          uint32_t except)
{
    size_t found = find_in_block(latest, end / BLOCK, end, launched_before_ns, except);
    size_t node = found == LATEST_NONE ? find_node(latest, end / BLOCK, launched_before_ns, except) : 0;
    if (node == 0)
        return found;
    while (node < latest->leaves)
        node = holds_one(&latest->nodes[2 * node + 1], launched_before_ns, except) ? 2 * node + 1 : 2 * node;
    size_t block = node - latest->leaves;
    return find_in_block(latest, block, (block + 1) * BLOCK, launched_before_ns, except);
}

/* The work of GROUP that ended last of that which was launched before LAUNCHED_BEFORE and ended at or before
 * ENDED_BY, on any stream but EXCEPT. Of work that ended together, the last in order of the numbers.
 * LATEST_NONE when there is none. */
static size_t latest_find(const struct latest *latest, uint32_t group, int64_t launched_before_ns,
                          int64_t ended_by_ns, uint32_t except)
{
    size_t end = count_until(latest, group, ended_by_ns);
    size_t found = find_before(latest, end, launched_before_ns, except);
    return found != LATEST_NONE && item(latest, found).group == group ? latest->operations[found]
                                                                      : LATEST_NONE;
}

/* ---- making ---- */

/* A wait of a stream for work of another. */
struct stream_wait {
    uint32_t work, source;
};

struct graph_device {
    struct graph_maker *maker;
    struct replay_graph *graph;
    const struct trace *trace;
    const struct gpu_events *gpu;
    struct stream_work *streams;
    bool *has_records;                /* by file: it has events of cuda_sync */
    bool *has_waits;                  /* by file: it has these, or calls that let a stream wait */
    VEC_OF(struct stream_wait) waits; /* sorted by work */
    VEC_OF(struct awaited) awaited;   /* by call */
    uint32_t *before;                 /* by work: the one before it on its stream; UINT32_MAX: none */
    size_t place;                     /* of gpu->devices: that of the work looked at */
    uint32_t latest; /* of the work looked at so far on this device, what ends last; UINT32_MAX: none */
    int64_t latest_end_ns;
    size_t wait;  /* of waits: the first that is not of work looked at so far */
    size_t *near; /* by thread: where the last launch was found */
};

/* What a call waited for. */
struct awaited {
    event_id call;
    uint32_t work;
};

static int64_t call_start(const struct graph_device *device, event_id call)
{
    return replay_event_start(device->graph, call);
}

static int64_t call_end(const struct graph_device *device, event_id call)
{
    return replay_event_end(device->graph, call);
}

static uint32_t device_file_of(const struct graph_device *device, event_id e)
{
    return device->trace->tracks[device->trace->track[e]].file;
}

static int64_t work_end(const struct graph_device *device, size_t i)
{
    return replay_event_end(device->graph, device->gpu->event[i]);
}

/* ---- stream waits ---- */

static void add_wait(struct graph_device *device, size_t work, size_t source)
{
    if (work != LATEST_NONE && source != LATEST_NONE && work != source &&
        work_end(device, source) <= replay_moment_ns(device->graph, replay_work_start(device->graph, work)))
        *VEC_PUSH(&device->waits) = (struct stream_wait){ (uint32_t)work, (uint32_t)source };
}

/* The call that RECORD says recorded the event it is about; EVENT_NONE: does not say. */
static event_id recording_call(const struct graph_device *device, event_id record)
{
    int64_t correlation;
    if (!trace_arg(device->trace, ARG_WAIT_ON_CORRELATION, record, &correlation) || correlation <= 0)
        return EVENT_NONE;
    return attribution_call_by(device->maker->launches, record, NULL, &correlation);
}

/* The last work launched before the event was recorded that RECORD is about, on the stream it names. */
static size_t recorded_work(const struct graph_device *device, event_id record)
{
    event_id recorded = recording_call(device, record);
    int64_t stream;
    if (recorded == EVENT_NONE || !trace_arg(device->trace, ARG_WAIT_ON_STREAM, record, &stream))
        return LATEST_NONE;
    const struct track *track = &device->trace->tracks[device->trace->track[record]];
    size_t on = stream_work_find(device->streams, track->file, track->device, stream);
    return stream_work_launched_before(device->streams, on, call_start(device, recorded));
}

static int64_t stream_of(const struct graph_device *device, event_id record)
{
    int64_t stream = device->trace->tracks[device->trace->track[record]].stream;
    return trace_arg_or(device->trace, ARG_STREAM, record, stream);
}

static void add_recorded_wait(struct graph_device *device, event_id record, event_id call)
{
    const struct track *track = &device->trace->tracks[device->trace->track[record]];
    size_t on = stream_work_find(device->streams, track->file, track->device, stream_of(device, record));
    size_t work = stream_work_launched_after(device->streams, on, call_start(device, call));
    add_wait(device, work, recorded_work(device, record));
}

/* The waits of streams that the file tells. */
static void add_recorded_waits(struct graph_device *device)
{
    const struct trace *trace = device->trace;
    device->has_records = mem_zalloc(trace->file_count + 1, sizeof *device->has_records);
    device->has_waits = mem_zalloc(trace->file_count + 1, sizeof *device->has_waits);
    for (event_id e = 0; e < trace->event_count; e++) {
        if (trace->kind[e] != EVENT_SYNC)
            continue;
        device->has_records[device_file_of(device, e)] = device->has_waits[device_file_of(device, e)] = true;
        event_id call = attribution_call(device->maker->launches, e);
        if (call != EVENT_NONE && strstr(trace_name(trace, call), "StreamWaitEvent"))
            add_recorded_wait(device, e, call);
    }
}

/* A call that makes a stream wait, in a file that does not tell which. */
struct wait_call {
    uint32_t track;
    int64_t start_ns;
};

static const struct key by_track_start[] = { ASC(struct wait_call, track), ASC(struct wait_call, start_ns),
                                             KEY_END };

struct wait_calls {
    VEC_OF(struct wait_call);
};

static void collect_wait_calls(const struct graph_device *device, struct wait_calls *calls)
{
    const struct trace *trace = device->trace;
    size_t name_count = names_count(trace->names);
    bool *waits = mem_zalloc(name_count + 1, sizeof *waits);
    for (name_id id = 0; id < name_count; id++)
        waits[id] = strstr(names_text(trace->names, id), "StreamWaitEvent") != NULL;
    for (event_id e = 0; e < trace->event_count; e++)
        if (event_is_call(trace->kind[e]) && waits[trace->name[e]] &&
            !device->has_records[device_file_of(device, e)])
            *VEC_PUSH(calls) = (struct wait_call){ trace->track[e], call_start(device, e) };
    for (size_t i = 0; i < calls->count; i++)
        device->has_waits[trace->tracks[calls->at[i].track].file] = true;
    SORT(calls, by_track_start);
    free(waits);
}

/* The last call of TRACK before NS, when it came after AFTER_NS; INT64_MIN: none. */
static int64_t last_wait_call(const struct wait_calls *calls, track_id track, int64_t after_ns, int64_t ns)
{
    size_t i;
    SEARCH(i, calls->count,
           calls->at[i].track < track || (calls->at[i].track == track && calls->at[i].start_ns < ns));
    if (i == 0 || calls->at[i - 1].track != track || calls->at[i - 1].start_ns <= after_ns)
        return INT64_MIN;
    return calls->at[i - 1].start_ns;
}

typedef uint32_t group_of_work(const struct graph_device *device, size_t work);

static struct latest_item device_describe(const struct graph_device *device, uint32_t work, uint32_t group)
{
    return (struct latest_item){ .end_ns = work_end(device, work),
                                 .launched_ns = call_start(device, device->gpu->call[work]),
                                 .group = group,
                                 .stream = device->trace->track[device->gpu->event[work]] };
}

/* New: all launched work, by the group that GROUP_OF says, then by end, and TELL_OF with it. */
static struct latest *open_latest(const struct graph_device *device, group_of_work *group_of,
                                  latest_tell *tell_of)
{
    uint32_t *operations = mem_alloc(mem_times(device->gpu->count + 1, sizeof *operations));
    size_t count = 0;
    for (size_t i = 0; i < device->gpu->count; i++)
        if (device->gpu->call[i] != EVENT_NONE)
            operations[count++] = (uint32_t)i;
    SORT_BY(operations, count, i, work_end(device, operations[i]));
    SORT_BY(operations, count, i, group_of(device, operations[i]));
    return latest_open(operations, count, tell_of, device);
}

static uint32_t device_of(const struct graph_device *device, size_t work)
{
    return device->gpu->device_of_track[device->trace->track[device->gpu->event[work]]];
}

static uint32_t process_of(const struct graph_device *device, size_t work)
{
    return (uint32_t)attribution_process(device->maker->launches, device->gpu->event[work]);
}

static struct latest_item describe_of_device(const void *context, uint32_t work)
{
    const struct graph_device *device = context;
    return device_describe(device, work, device_of(device, work));
}

static struct latest_item describe_of_process(const void *context, uint32_t work)
{
    const struct graph_device *device = context;
    return device_describe(device, work, process_of(device, work));
}

/* In a file that does not record what streams wait for: work that was launched after a wait call of its thread waited for the
 * work of the other streams, launched before that call, that ended last before it began. */
static void add_guessed_waits(struct graph_device *device)
{
    struct wait_calls calls = { 0 };
    collect_wait_calls(device, &calls);
    struct latest *latest = calls.count ? open_latest(device, device_of, describe_of_device) : NULL;
    for (size_t s = 0; calls.count && s < device->streams->count; s++) {
        const uint32_t *at = device->streams->launched + device->streams->at[s].first;
        int64_t before_ns = INT64_MIN, launched_ns;
        for (size_t k = 0; k < device->streams->at[s].count; k++, before_ns = launched_ns) {
            uint32_t work = at[k];
            event_id call = device->gpu->call[work];
            launched_ns = stream_work_launched_ns(device->streams, work);
            int64_t waited_ns = last_wait_call(&calls, device->trace->track[call], before_ns, launched_ns);
            if (waited_ns == INT64_MIN)
                continue;
            int64_t start_ns = replay_moment_ns(device->graph, replay_work_start(device->graph, work));
            track_id track = device->trace->track[device->gpu->event[work]];
            add_wait(device, work, latest_find(latest, device_of(device, work), waited_ns, start_ns, track));
        }
    }
    arena_free(latest);
    VEC_FREE(&calls);
}

static const struct key by_work[] = { ASC(struct stream_wait, work), KEY_END };

/* ---- what work waited for ---- */

/* What was ready last, of what a piece of work waited for. */
struct readiness {
    moment_id from;
    enum relation relation;
    int64_t ready_ns;
    bool any;
};

/* Of equals the first offered binds. */
static void offer(struct readiness *best, moment_id from, enum relation relation, int64_t ready_ns)
{
    if (!best->any || ready_ns > best->ready_ns)
        *best = (struct readiness){ from, relation, ready_ns, true };
}

/* Where the launch of work I is: the moment at which its call began; when the work began before it, the one before that. */
static moment_id launch_moment(struct graph_device *device, size_t i, int64_t start_ns)
{
    struct replay_graph *graph = device->graph;
    event_id call = device->gpu->call[i];
    if (call == EVENT_NONE) {
        graph->unlinked_work++;
        return MOMENT_NONE;
    }
    uint32_t thread = graph->thread_of_track[device->trace->track[call]];
    if (thread == UINT32_MAX)
        return MOMENT_NONE;
    int64_t call_ns = call_start(device, call);
    bool early = call_ns > start_ns;
    graph->early_work += early;
    moment_id m = replay_moment_near(graph, thread, early ? start_ns : call_ns, &device->near[thread]);
    if (m == MOMENT_NONE || replay_moment_ns(graph, m) > start_ns)
        return m == MOMENT_NONE || m == graph->threads[thread].first ? MOMENT_NONE : m - 1;
    return m;
}

static void add_start(struct graph_device *device, moment_id from, enum relation relation)
{
    *VEC_PUSH(&device->maker->starts) = (struct replay_edge){ from, (uint8_t)relation, false, false };
}

/* Work I was queued while its device idled, for no reason that is recorded; or, where waits of streams are
 * not recorded at all, it began as soon as work of another stream had ended, so that it may have waited for
 * that. BOUND: by what it is bound. */
static void add_queued_edge(struct graph_device *device, size_t i, const struct readiness *bound)
{
    enum { LATENCY_NS = 30000, AT_ONCE_NS = 10000 }; /* the first as of tpa gaps */
    const struct gpu_events *gpu = device->gpu;
    struct replay_graph *graph = device->graph;
    moment_id start = replay_work_start(graph, i);
    if (device->latest == UINT32_MAX || gpu->call[i] == EVENT_NONE ||
        gpu->call[i] == gpu->call[device->latest] || (bound->any && bound->relation == RELATION_EVENT))
        return;
    moment_id from = replay_work_end(graph, device->latest);
    if (replay_moment_ns(graph, from) >= replay_moment_ns(graph, start))
        return;
    bool waited = !device->has_waits[device_file_of(device, gpu->event[i])] &&
                  replay_moment_ns(graph, start) - replay_moment_ns(graph, from) < AT_ONCE_NS &&
                  call_end(device, gpu->call[i]) < replay_moment_ns(graph, from);
    if (waited || replay_queued_ns(graph, from, start) >= LATENCY_NS)
        add_start(device, from, RELATION_QUEUED);
}

/* Was the call that launched kernel I still at it when the work before on its stream ended? Then the stream, which was ready after the
 * call had begun, binds, but had nothing to do: had the call taken less, the kernel had begun sooner. */
static bool is_late_launch(const struct graph_device *device, size_t i)
{
    event_id call = device->gpu->call[i];
    return device->maker->call_sorts[device->trace->name[call]] == CALL_LAUNCH &&
           call != device->gpu->call[device->before[i]] &&
           work_end(device, device->before[i]) < call_end(device, call);
}

static void find_starts(struct graph_device *device, size_t i)
{
    struct replay_graph *graph = device->graph;
    int64_t start_ns = replay_moment_ns(graph, replay_work_start(graph, i));
    struct readiness best = { .any = false };
    for (; device->wait < device->waits.count && device->waits.at[device->wait].work == i; device->wait++) {
        moment_id from = replay_work_end(graph, device->waits.at[device->wait].source);
        add_start(device, from, RELATION_EVENT);
        offer(&best, from, RELATION_EVENT, replay_moment_ns(graph, from));
    }
    if (device->before[i] != UINT32_MAX) {
        moment_id from = replay_work_end(graph, device->before[i]);
        add_start(device, from, RELATION_STREAM);
        offer(&best, from, RELATION_STREAM, replay_moment_ns(graph, from));
    }
    moment_id from = launch_moment(device, i, start_ns);
    if (from != MOMENT_NONE) {
        int64_t call_ns = call_start(device, device->gpu->call[i]);
        add_start(device, from, RELATION_LAUNCH);
        offer(&best, from, RELATION_LAUNCH, call_ns < start_ns ? call_ns : start_ns);
    }
    graph->unknown_starts += !best.any;
    add_queued_edge(device, i, &best);
    FOR_EACH(edge, &device->maker->starts) {
        if (best.any && edge->from == best.from && edge->relation == best.relation) {
            edge->binds = edge->keeps = true;
            break;
        }
    }
    if (from != MOMENT_NONE && best.relation == RELATION_STREAM && is_late_launch(device, i))
        FOR_EACH(edge, &device->maker->starts)
            edge->keeps = edge->relation == RELATION_LAUNCH;
}

/* Work I is looked at: it may be the first of its device. */
static void begin_work(struct graph_device *device, size_t i)
{
    const struct gpu_device *devices = device->gpu->devices;
    for (; i >= devices[device->place].first + devices[device->place].count; device->place++)
        device->latest = UINT32_MAX;
}

static void end_work(struct graph_device *device, size_t i)
{
    int64_t end_ns = work_end(device, i);
    if (device->latest != UINT32_MAX && end_ns < device->latest_end_ns)
        return;
    device->latest = (uint32_t)i;
    device->latest_end_ns = end_ns;
}

void graph_find_starts(struct graph_maker *maker, size_t i)
{
    begin_work(maker->device, i);
    maker->starts.count = 0;
    find_starts(maker->device, i);
    end_work(maker->device, i);
}

void graph_pass_starts(struct graph_maker *maker, size_t i)
{
    struct graph_device *device = maker->device;
    begin_work(device, i);
    while (device->wait < device->waits.count && device->waits.at[device->wait].work == i)
        device->wait++;
    end_work(device, i);
}

/* ---- what calls waited for ---- */

static void add_awaited(struct graph_device *device, event_id call, size_t work)
{
    if (work != LATEST_NONE)
        *VEC_PUSH(&device->awaited) = (struct awaited){ call, (uint32_t)work };
}

/* The stream of the last work that the thread of CALL launched before it; SIZE_MAX: none. */
static size_t last_stream(struct graph_device *device, event_id call)
{
    size_t work =
        stream_work_launched_by(device->streams, device->trace->track[call], call_start(device, call));
    return work == LATEST_NONE ? SIZE_MAX : stream_work_of(device->streams, (uint32_t)work);
}

/* The record that the profiler kept of each synchronising call. */
struct sync_record {
    event_id call, record;
};

static const struct key by_call_record[] = { ASC(struct sync_record, call), ASC(struct sync_record, record),
                                             KEY_END };

struct sync_records {
    VEC_OF(struct sync_record);
};

static void collect_records(const struct graph_device *device, struct sync_records *records)
{
    const struct trace *trace = device->trace;
    for (event_id e = 0; e < trace->event_count; e++) {
        event_id call =
            trace->kind[e] == EVENT_SYNC ? attribution_call(device->maker->launches, e) : EVENT_NONE;
        if (call != EVENT_NONE)
            *VEC_PUSH(records) = (struct sync_record){ call, e };
    }
    SORT(records, by_call_record);
}

/* The first record of CALL; EVENT_NONE: there is none. NEAR: where the one before was found; 0 at first. */
static event_id record_of(const struct sync_records *records, event_id call, size_t *near)
{
    size_t i;
    SEARCH_NEAR(i, *near, records->count, records->at[i].call < call);
    *near = i;
    return i < records->count && records->at[i].call == call ? records->at[i].record : EVENT_NONE;
}

static size_t awaited_of_stream(struct graph_device *device, event_id call, event_id record)
{
    size_t on = SIZE_MAX;
    if (record != EVENT_NONE) {
        const struct track *track = &device->trace->tracks[device->trace->track[record]];
        on = stream_work_find(device->streams, track->file, track->device, stream_of(device, record));
    } else {
        on = last_stream(device, call);
    }
    return stream_work_launched_before(device->streams, on, call_start(device, call));
}

static void add_synchronisations(struct graph_device *device)
{
    const struct trace *trace = device->trace;
    struct sync_records records = { 0 };
    struct latest *latest = NULL;
    size_t near = 0;
    collect_records(device, &records);
    for (event_id e = 0; e < trace->event_count; e++) {
        if (!event_is_call(trace->kind[e]) || device->maker->call_sorts[trace->name[e]] != CALL_SYNC)
            continue;
        const char *name = trace_name(trace, e);
        event_id record = record_of(&records, e, &near);
        if (strstr(name, "StreamSynchronize")) {
            add_awaited(device, e, awaited_of_stream(device, e, record));
        } else if (strstr(name, "EventSynchronize")) {
            add_awaited(device, e, record == EVENT_NONE ? LATEST_NONE : recorded_work(device, record));
        } else {
            if (!latest)
                latest = open_latest(device, process_of, describe_of_process);
            add_awaited(device, e,
                        latest_find(latest, (uint32_t)attribution_process(device->maker->launches, e),
                                    call_start(device, e), call_end(device, e), LATEST_ANY_STREAM));
        }
    }
    arena_free(latest);
    VEC_FREE(&records);
}

/* A call that copies may wait for its copy. */
static void add_copies(struct graph_device *device)
{
    for (size_t i = 0; i < device->gpu->count; i++) {
        event_id call = device->gpu->call[i];
        if (device->gpu->work[i] != GPU_MEMCPY || call == EVENT_NONE)
            continue;
        unsigned char sort = device->maker->call_sorts[device->trace->name[call]];
        if (sort == CALL_COPY || sort == CALL_COPY_SYNC)
            add_awaited(device, call, i);
    }
}

/* By call; of a call that made several copies the last to end comes first, and the others go. */
static void sort_awaited(struct graph_device *device)
{
    struct awaited *at = device->awaited.at;
    SORT_BY(at, device->awaited.count, i,
            ~replay_moment_ns(device->graph, replay_work_end(device->graph, at[i].work)));
    SORT_BY(at, device->awaited.count, i, at[i].call);
    size_t kept = 0;
    for (size_t i = 0; i < device->awaited.count; i++)
        if (kept == 0 || device->awaited.at[kept - 1].call != device->awaited.at[i].call)
            device->awaited.at[kept++] = device->awaited.at[i];
    device->awaited.count = kept;
}

/* NEAR: where the call before was found; 0 at first. */
static uint32_t awaited_by(const struct graph_device *device, event_id call, size_t *near)
{
    size_t i;
    SEARCH_NEAR(i, *near, device->awaited.count, device->awaited.at[i].call < call);
    *near = i;
    return i < device->awaited.count && device->awaited.at[i].call == call ? device->awaited.at[i].work
                                                                           : UINT32_MAX;
}

/* The pieces of calls that waited: they ended because the work had. So did those of calls that these make, which wait for them:
 * hsa_signal_wait_scacquire in hipStreamSynchronize. */
static void add_sync_edges(struct graph_device *device)
{
    struct replay_graph *graph = device->graph;
    const struct trace *trace = device->trace;
    bool *may_wait = mem_zalloc(names_count(trace->names) + 1, sizeof *may_wait);
    for (size_t i = 0; i < device->awaited.count; i++)
        may_wait[trace->name[device->awaited.at[i].call]] = true;
    struct awaited waiting = { EVENT_NONE, UINT32_MAX };
    size_t near = 0;
    for (moment_id m = 0; m < graph->host_count; m++) {
        event_id call = graph->inner[m];
        if (call == EVENT_NONE || !event_is_call((enum event_kind)trace->kind[call]))
            continue;
        uint32_t work = may_wait[trace->name[call]] ? awaited_by(device, call, &near) : UINT32_MAX;
        if (work != UINT32_MAX)
            waiting = (struct awaited){ call, work };
        else if (!replay_lies_in(graph, call, waiting.call))
            continue;
        int64_t end_ns = work_end(device, waiting.work);
        if (end_ns <= replay_moment_ns(graph, m))
            graph_add_edge(device->maker, replay_work_end(graph, waiting.work), m, RELATION_SYNC,
                           end_ns > call_start(device, waiting.call));
    }
    free(may_wait);
}

/* The gaps of threads that end as XLA waited no longer: for work of their file. */
static void add_ready_edges(struct graph_device *device)
{
    struct replay_graph *graph = device->graph;
    struct latest *latest =
        device->maker->ready.count ? open_latest(device, process_of, describe_of_process) : NULL;
    for (size_t i = 0; i < device->maker->ready.count; i++) {
        struct ready_wait ready = device->maker->ready.at[i];
        int64_t start_ns = call_start(device, ready.wait);
        size_t work = latest_find(latest, (uint32_t)attribution_process(device->maker->launches, ready.wait),
                                  start_ns, ready.until_ns, LATEST_ANY_STREAM);
        moment_id m = replay_moment_from(graph, ready.thread, ready.until_ns);
        if (work != LATEST_NONE && m != MOMENT_NONE && graph->inner[m] == EVENT_NONE &&
            work_end(device, work) > start_ns)
            graph_add_edge(device->maker, replay_work_end(graph, work), m,
                           ready.is_host_time ? RELATION_SYNC : RELATION_HANDOVER, true);
    }
    arena_free(latest);
    VEC_FREE(&device->maker->ready);
}

void graph_add_device(struct graph_maker *maker)
{
    struct graph_device *device = mem_zalloc(1, sizeof *device);
    *device = (struct graph_device){ .maker = maker,
                                     .graph = maker->graph,
                                     .trace = maker->graph->trace,
                                     .gpu = maker->graph->gpu,
                                     .latest = UINT32_MAX,
                                     .near = mem_zalloc(maker->graph->thread_count + 1, sizeof(size_t)) };
    maker->device = device;
    device->graph->moment_count = device->graph->host_count + 2 * device->gpu->count;
    device->streams = stream_work_open(device->graph);
    add_recorded_waits(device);
    add_guessed_waits(device);
    SORT(&device->waits, by_work);
    add_synchronisations(device);
    add_copies(device);
    sort_awaited(device);
    add_sync_edges(device);
    add_ready_edges(device);
    VEC_FREE(&device->awaited);
    device->before = stream_work_before(device->streams);
    device->streams = NULL;
}

void graph_forget_device(struct graph_maker *maker)
{
    struct graph_device *device = maker->device;
    EACH(VEC_FREE, &device->waits, &maker->starts);
    EACH(free, device->has_records, device->has_waits, device->before, device->near, device);
    maker->device = NULL;
}
