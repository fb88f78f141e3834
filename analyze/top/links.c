#include "analyze/top/top.h"

#include "base/parallel.h"
#include "base/rows.h"
#include "base/search.h"
#include "trace/arg_scan.h"

/* ---- the thread that stopped the profiler ---- */

/* Is the track's thread the first of its process: are pid and tid the same number? */
static bool is_main_thread(const struct track *track)
{
    return track->kind == TRACK_THREAD && track->pid == track->tid && track->pid != 0;
}

/* Of each process the thread of its first step, where it has any. */
static void find_threads_of_steps(struct top_links *links, const struct top_events *events, size_t processes)
{
    const struct trace *trace = events->trace;
    SCOPED int64_t *first_ns = mem_zalloc(processes + 1, sizeof *first_ns);
    for (size_t i = 0; i < events->steps.count; i++) {
        event_id e = events->steps.at[i];
        size_t p = attribution_process(links->launches, e);
        if (links->stop_thread[p] != TRACK_NONE && trace_start_ns(trace, e) >= first_ns[p])
            continue;
        links->stop_thread[p] = trace->track[e];
        first_ns[p] = trace_start_ns(trace, e);
    }
}

/* Of each process that has none yet the main thread, else a thread that has no track. */
static void find_main_threads(struct top_links *links, const struct trace *trace, size_t processes)
{
    SCOPED uint32_t *most = mem_zalloc(processes + 1, sizeof *most);
    SCOPED bool *by_step = mem_zalloc(processes + 1, sizeof *by_step);
    for (size_t p = 0; p < processes; p++)
        by_step[p] = links->stop_thread[p] != TRACK_NONE;
    for (track_id t = 0; t < trace->track_count; t++) {
        const struct track *track = &trace->tracks[t];
        size_t p = attribution_process_of_track(links->launches, t);
        if (by_step[p] || !is_main_thread(track) || track->event_count <= most[p])
            continue;
        most[p] = track->event_count;
        links->stop_thread[p] = t;
    }
    for (size_t p = 0; p < processes; p++)
        if (links->stop_thread[p] == TRACK_NONE)
            links->stop_thread[p] = (track_id)(trace->track_count + p);
}

/* It is not recorded. It is the thread of the first ProfilerStep mark, else the main thread. */
static void find_stop_threads(struct top_links *links, const struct top_events *events)
{
    size_t processes = attribution_process_count(links->launches);
    links->stop_thread = mem_alloc(mem_times(processes + 1, sizeof *links->stop_thread));
    for (size_t p = 0; p < processes; p++)
        links->stop_thread[p] = TRACK_NONE;
    find_threads_of_steps(links, events, processes);
    find_main_threads(links, events->trace, processes);
}

/* ---- lookalikes ---- */

/* Bits of the filter for each lookalike: of other ids few come through. */
enum { FILTER_BITS_EACH = 16 };

bool top_may_have_lookalike(const struct top_links *links, int64_t id)
{
    size_t bit = (size_t)id & links->lookalike_mask;
    return links->lookalike_filter && links->lookalike_filter[bit / 8] >> (bit % 8) & 1;
}

static void make_filter(struct top_links *links)
{
    size_t bits = 64;
    while (bits / FILTER_BITS_EACH < links->lookalikes.count)
        bits *= 2;
    links->lookalike_mask = bits - 1;
    links->lookalike_filter = mem_zalloc(bits / 8, 1);
    for (size_t i = 0; i < links->lookalikes.count; i++) {
        size_t bit = (size_t)links->lookalikes.at[i].id & links->lookalike_mask;
        links->lookalike_filter[bit / 8] |= (uint8_t)(1 << (bit % 8));
    }
}

static const struct key by_lookalikes[] = { ASC(struct lookalike, process), ASC(struct lookalike, id),
                                            ASC(struct lookalike, call), KEY_END };

/* The first lookalike of ID, or their count. */
static size_t find_lookalike(const struct top_links *links, uint32_t process, int64_t id)
{
    if (!top_may_have_lookalike(links, id))
        return links->lookalikes.count;
    const struct lookalike *at = links->lookalikes.at;
    size_t low = PLACE(i, links->lookalikes.count,
                       at[i].process < process || (at[i].process == process && at[i].id < id));
    bool found = low < links->lookalikes.count && links->lookalikes.at[low].process == process &&
                 links->lookalikes.at[low].id == id;
    return found ? low : links->lookalikes.count;
}

/* Whose number the id of LINK, that of E, is. */
static uint32_t process_of_link(const struct top_links *links, event_id e, const struct launch_link *link)
{
    return (uint32_t)attribution_process(links->launches, link->op != EVENT_NONE ? link->op : e);
}

struct launch_link top_link(const struct top_links *links, event_id e, const int64_t *external_id,
                            const int64_t *correlation, size_t *lookalike)
{
    struct launch_link link = attribution_link(links->launches, e, external_id, correlation);
    *lookalike = link.linked ? find_lookalike(links, process_of_link(links, e, &link), link.id)
                             : links->lookalikes.count;
    return link;
}

/* ---- which torch ---- */

static bool has_property(const struct trace_file *file, const char *key)
{
    return ANY(i, file->properties.count, strcmp(file->properties.at[i].key, key) == 0);
}

/* Files of torch 2.15 look like those of 2.14, but where its Python half wrote them (use_python_export=True): that
 * gives no trace_id, lists devices only since 2.15, and alone says how graphs were annotated. */
static bool tells_2_15(const struct trace_file *file)
{
    return has_property(file, "cudaGraphInlineAnnotated") ||
           (file->has_base && !file->trace_id && has_property(file, "cuda_runtime_version"));
}

/* Do the rules of 2.15 hold for E? */
static bool is_2_15(const struct top_events *events, event_id e)
{
    return events->options->torch == TORCH_2_15 ||
           (events->options->torch == TORCH_UNKNOWN &&
            tells_2_15(&events->trace->files[top_file_of(events, e)]));
}

bool top_version_is_open(const struct top_links *links, const struct top_events *events, event_id e)
{
    uint32_t file = top_file_of(events, e);
    return events->options->torch == TORCH_UNKNOWN && attribution_generation(links->launches, file) == 4;
}

/* ---- the threads of calls ---- */

/* What was found among some events in a row. Parts are joined in their order. */
struct links_part {
    VEC_OF(struct calltree_move) moves;
    VEC_OF(struct lookalike) lookalikes;
    uint64_t moved_calls;
};

static const struct key by_moves[] = { ASC(struct calltree_move, event), KEY_END };

/* Does A come before B in the list torch walks, which is sorted by start? */
static bool listed_before(const struct trace *trace, event_id a, event_id b)
{
    if (trace_start_ns(trace, a) != trace_start_ns(trace, b))
        return trace_start_ns(trace, a) < trace_start_ns(trace, b);
    return a < b;
}

/* Of the lookalikes from AT on that stand for one operator the one listed last; they are in order of the file. */
static event_id last_lookalike(const struct top_links *links, const struct trace *trace, size_t at)
{
    event_id last = links->lookalikes.at[at].call;
    for (size_t i = at; top_is_lookalike(links, at, i); i++)
        if (listed_before(trace, last, links->lookalikes.at[i].call))
            last = links->lookalikes.at[i].call;
    return last;
}

/* Calls whose operator has lookalikes: the last of all these in torch's list decides on the thread. */
static void drag_calls(struct top_links *links, const struct top_events *events)
{
    const struct trace *trace = events->trace;
    size_t moved_before = links->moves.count; /* these are in order of event */
    struct arg_scan ids = arg_scan_of(trace, ARG_EXTERNAL_ID);
    struct arg_scan correlations = arg_scan_of(trace, ARG_CORRELATION);
    for (event_id e = 0; e < trace->event_count; e++) {
        if (!event_is_call((enum event_kind)trace->kind[e]) || top_role(events, e) != ROLE_CALL)
            continue;
        int64_t id, correlation;
        bool has_id = arg_scan_get(&ids, e, &id),
             has_correlation = arg_scan_get(&correlations, e, &correlation);
        bool by_id = attribution_links(links->launches, top_file_of(events, e)) == LINKS_BY_ID;
        if (by_id && !(has_id && top_may_have_lookalike(links, id)))
            continue;
        size_t at;
        struct launch_link link =
            top_link(links, e, has_id ? &id : NULL, has_correlation ? &correlation : NULL, &at);
        if (at == links->lookalikes.count)
            continue;
        bool operator_rules = link.op != EVENT_NONE && top_role(events, link.op) == ROLE_CALL &&
                              listed_before(trace, last_lookalike(links, trace, at), link.op);
        if (operator_rules)
            continue;
        struct calltree_move wanted = { e, links->stop_thread[attribution_process(links->launches, e)] };
        struct calltree_move *known =
            moved_before ? rows_find(links->moves.at, moved_before, sizeof wanted, by_moves, &wanted) : NULL;
        if (known)
            known->track = wanted.track;
        else if (trace->track[e] != wanted.track)
            *VEC_PUSH(&links->moves) = wanted;
    }
}

static void move(struct links_part *part, const struct trace *trace, event_id e, track_id to)
{
    if (trace->track[e] != to)
        *VEC_PUSH(&part->moves) = (struct calltree_move){ e, to };
}

struct settling {
    const struct top_links *links;
    const struct top_events *events;
    unsigned count;
    struct links_part *parts;
};

/* Where torch counts E, a call or overhead of its own traces; and whether it may be a lookalike. */
static void settle_call(const struct settling *settling, event_id e, const int64_t *id,
                        const int64_t *correlation, struct links_part *part)
{
    const struct top_links *links = settling->links;
    const struct top_events *events = settling->events;
    const struct trace *trace = events->trace;
    bool is_call = event_is_call((enum event_kind)trace->kind[e]);
    struct launch_link link = attribution_link(links->launches, e, id, correlation);
    if (link.linked) {
        if (is_call && link.op != EVENT_NONE && top_role(events, link.op) == ROLE_CALL)
            move(part, trace, e, trace->track[link.op]);
        return;
    }
    uint32_t process = (uint32_t)attribution_process(links->launches, e);
    track_id stop_thread = links->stop_thread[process];
    part->moved_calls += is_call && top_is_selected(events, e) && trace->track[e] != stop_thread;
    move(part, trace, e, stop_thread);
    if (is_call && correlation && *correlation != 0 && !is_2_15(events, e))
        *VEC_PUSH(&part->lookalikes) = (struct lookalike){ process, *correlation, e };
}

static void settle_part(void *context, size_t index)
{
    const struct settling *settling = context;
    const struct top_events *events = settling->events;
    const struct trace *trace = events->trace;
    struct links_part *part = &settling->parts[index];
    struct arg_scan ids = arg_scan_of(trace, ARG_EXTERNAL_ID);
    struct arg_scan correlations = arg_scan_of(trace, ARG_CORRELATION);
    event_id end = (event_id)parallel_first(trace->event_count, settling->count, index + 1);
    for (event_id e = (event_id)parallel_first(trace->event_count, settling->count, index); e < end; e++) {
        enum event_kind kind = (enum event_kind)trace->kind[e];
        if ((!event_is_call(kind) && kind != EVENT_OVERHEAD) || top_role(events, e) != ROLE_CALL ||
            !top_is_torch(events, e))
            continue;
        int64_t id, correlation;
        bool has_id = arg_scan_get(&ids, e, &id);
        bool has_correlation = arg_scan_get(&correlations, e, &correlation);
        settle_call(settling, e, has_id ? &id : NULL, has_correlation ? &correlation : NULL, part);
    }
}

/* Add what PART found, which is freed, to LINKS. */
static void join_part(struct top_links *links, struct links_part *part)
{
    links->moved_calls += part->moved_calls;
    VEC_RESERVE(&links->moves, part->moves.count);
    for (size_t i = 0; i < part->moves.count; i++)
        links->moves.at[links->moves.count++] = part->moves.at[i];
    VEC_RESERVE(&links->lookalikes, part->lookalikes.count);
    for (size_t i = 0; i < part->lookalikes.count; i++)
        links->lookalikes.at[links->lookalikes.count++] = part->lookalikes.at[i];
    EACH(VEC_FREE, &part->moves, &part->lookalikes);
}

/* All lookalikes are there. */
static void settle_lookalikes(struct top_links *links, const struct top_events *events)
{
    if (links->lookalikes.count == 0)
        return;
    make_filter(links);
    SORT(&links->lookalikes, by_lookalikes);
    drag_calls(links, events);
    if (links->moves.count)
        SORT(&links->moves, by_moves);
}

void top_links_open(struct top_links *links, const struct top_events *events)
{
    const struct trace *trace = events->trace;
    *links = (struct top_links){ .launches = attribution_of(trace) };
    find_stop_threads(links, events);
    struct settling settling = { links, events, parallel_parts(trace->workers, trace->event_count), NULL };
    settling.parts = mem_zalloc(settling.count, sizeof *settling.parts);
    parallel_run(settling.count, settling.count, settle_part, &settling);
    for (unsigned i = 0; i < settling.count; i++)
        join_part(links, &settling.parts[i]);
    free(settling.parts);
    settle_lookalikes(links, events);
}
