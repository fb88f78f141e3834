/*
 * links.c - which operator launched what, and on which thread torch counts a call.
 *
 * torch puts a runtime call on the thread of the operator it is linked to, and a call linked to none on the
 * thread that stopped the profiler, whatever thread made it: the event queries of an NCCL watchdog nest
 * inside operators of the main thread. The overhead records of CUPTI go there too.
 *
 * And torch looks up kernels by the id of every unlinked host event. The id of an unlinked runtime call is its
 * correlation, another range of numbers that overlaps with the operators' ids: such a lookalike is given
 * the operator's kernels too, and may drag the operator's calls to its own thread.
 */
#include "analyze/top/parts.h"
#include "base/search.h"
#include "trace/arg_scan.h"
#include <stdlib.h>

/* ---- the thread that stopped the profiler ---- */

/* Is the track's thread the first of its process: are pid and tid the same number, however written? */
static bool is_main_thread(const struct trace *trace, const struct track *track)
{
    if (track->kind != TRACK_THREAD)
        return false;
    int64_t pid = track->pid, tid = track->tid;
    if (track->pid_text != NAME_NONE)
        pid = strtoll(names_text(trace->texts, track->pid_text), NULL, 10);
    if (track->tid_text != NAME_NONE)
        tid = strtoll(names_text(trace->texts, track->tid_text), NULL, 10);
    return pid == tid && pid != 0;
}

/*
 * Not told by the file. It is the thread of the first ProfilerStep mark, else the main thread, else a thread
 * that has no track.
 */
static void find_stop_threads(struct top *top)
{
    const struct trace *trace = top->trace;
    size_t count = attribution_process_count(top->launches);
    top->stop_thread = mem_alloc((count + 1) * sizeof *top->stop_thread);
    for (size_t p = 0; p < count; p++)
        top->stop_thread[p] = TRACK_NONE;
    bool *is_step = mem_zalloc(names_count(trace->names) + 1, sizeof *is_step);
    bool any = false;
    for (name_id id = 0; id < names_count(trace->names); id++) {
        is_step[id] = strncmp(names_text(trace->names, id), "ProfilerStep#", 13) == 0;
        any |= is_step[id];
    }
    int64_t *first_ns = mem_alloc((count + 1) * sizeof *first_ns);
    for (event_id e = 0; any && e < trace->event_count; e++) {
        if (!is_step[trace->name[e]] || event_on_device(trace->kind[e]))
            continue;
        size_t p = attribution_process(top->launches, e);
        if (top->stop_thread[p] != TRACK_NONE && trace->start_ns[e] >= first_ns[p])
            continue;
        top->stop_thread[p] = trace->track[e];
        first_ns[p] = trace->start_ns[e];
    }
    free(first_ns);
    free(is_step);
    uint32_t *most = mem_zalloc(count + 1, sizeof *most);
    bool *by_step = mem_zalloc(count + 1, sizeof *by_step);
    for (size_t p = 0; p < count; p++)
        by_step[p] = top->stop_thread[p] != TRACK_NONE;
    for (track_id t = 0; t < trace->track_count; t++) {
        const struct track *track = &trace->tracks[t];
        size_t p = attribution_process_of_track(top->launches, t);
        if (by_step[p] || !is_main_thread(trace, track) || track->event_count <= most[p])
            continue;
        most[p] = track->event_count;
        top->stop_thread[p] = t;
    }
    for (size_t p = 0; p < count; p++)
        if (top->stop_thread[p] == TRACK_NONE)
            top->stop_thread[p] = (track_id)(trace->track_count + p);
    free(most);
    free(by_step);
}

/* ---- lookalikes ---- */

static bool filter_has(const uint8_t *filter, int64_t id)
{
    return filter[(uint64_t)id % LOOKALIKE_BITS / 8] >> ((uint64_t)id % 8) & 1;
}

static void filter_add(uint8_t *filter, int64_t id)
{
    filter[(uint64_t)id % LOOKALIKE_BITS / 8] |= (uint8_t)(1 << ((uint64_t)id % 8));
}

static int compare_lookalikes(const void *left, const void *right)
{
    const struct lookalike *a = left, *b = right;
    if (a->process != b->process)
        return a->process < b->process ? -1 : 1;
    if (a->id != b->id)
        return a->id < b->id ? -1 : 1;
    return a->call < b->call ? -1 : a->call > b->call;
}

/* The first lookalike of ID, or their count. */
static size_t find_lookalike(const struct top *top, uint32_t process, int64_t id)
{
    if (!top->lookalike_filter || !filter_has(top->lookalike_filter, id))
        return top->lookalikes.count;
    size_t low = 0, high = top->lookalikes.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct lookalike *at = &top->lookalikes.at[middle];
        if (at->process < process || (at->process == process && at->id < id))
            low = middle + 1;
        else
            high = middle;
    }
    bool found = low < top->lookalikes.count && top->lookalikes.at[low].process == process &&
                 top->lookalikes.at[low].id == id;
    return found ? low : top->lookalikes.count;
}

/* Whose number the id of LINK, that of E, is. */
static uint32_t process_of_link(const struct top *top, event_id e, const struct launch_link *link)
{
    return (uint32_t)attribution_process(top->launches, link->op != EVENT_NONE ? link->op : e);
}

struct launch_link top_link(const struct top *top, event_id e, const int64_t *external_id,
                            const int64_t *correlation, size_t *lookalike)
{
    struct launch_link link = attribution_link(top->launches, e, external_id, correlation);
    *lookalike =
        link.linked ? find_lookalike(top, process_of_link(top, e, &link), link.id) : top->lookalikes.count;
    return link;
}

/* ---- the threads of calls ---- */

struct moves {
    struct calltree_move *at;
    size_t count, capacity;
};

static int compare_moves(const void *left, const void *right)
{
    const struct calltree_move *a = left, *b = right;
    return a->event < b->event ? -1 : a->event > b->event;
}

/* Does A come before B in the list torch walks, which is sorted by start? */
static bool listed_before(const struct trace *trace, event_id a, event_id b)
{
    if (trace->start_ns[a] != trace->start_ns[b])
        return trace->start_ns[a] < trace->start_ns[b];
    return a < b;
}

static void move(struct moves *moves, const struct trace *trace, event_id e, track_id to)
{
    if (trace->track[e] != to)
        *VEC_PUSH(moves) = (struct calltree_move){ e, to };
}

/*
 * Calls whose operator has lookalikes: the last of all these in torch's list decides on the thread.
 */
static void drag_calls(struct top *top, struct moves *moves)
{
    const struct trace *trace = top->trace;
    size_t moved_before = moves->count; /* these are in order of event */
    struct arg_scan ids = arg_scan_of(trace, ARG_EXTERNAL_ID);
    struct arg_scan correlations = arg_scan_of(trace, ARG_CORRELATION);
    for (event_id e = 0; e < trace->event_count; e++) {
        if (!event_is_call(trace->kind[e]) || top_role(top, e) != ROLE_CALL)
            continue;
        int64_t id, correlation;
        bool has_id = arg_scan_get(&ids, e, &id),
             has_correlation = arg_scan_get(&correlations, e, &correlation);
        size_t at;
        struct launch_link link =
            top_link(top, e, has_id ? &id : NULL, has_correlation ? &correlation : NULL, &at);
        if (at == top->lookalikes.count)
            continue;
        size_t last = at; /* of one id they are in order of the file; find the one listed last */
        for (size_t i = at; top_is_lookalike(top, at, i); i++)
            if (listed_before(trace, top->lookalikes.at[last].call, top->lookalikes.at[i].call))
                last = i;
        bool operator_rules = link.op != EVENT_NONE && top_role(top, link.op) == ROLE_CALL &&
                              listed_before(trace, top->lookalikes.at[last].call, link.op);
        if (operator_rules)
            continue;
        track_id to = top->stop_thread[attribution_process(top->launches, e)];
        struct calltree_move wanted = { e, to };
        struct calltree_move *known =
            moved_before ? bsearch(&wanted, moves->at, moved_before, sizeof wanted, compare_moves) : NULL;
        if (known)
            known->track = to;
        else
            move(moves, trace, e, to);
    }
}

void top_link_calls(struct top *top)
{
    const struct trace *trace = top->trace;
    struct moves moves = { 0 };
    uint8_t *linked_ids = mem_zalloc(LOOKALIKE_BITS / 8, 1);
    uint8_t *lookalike_ids = mem_zalloc(LOOKALIKE_BITS / 8, 1);
    struct arg_scan ids = arg_scan_of(trace, ARG_EXTERNAL_ID);
    struct arg_scan correlations = arg_scan_of(trace, ARG_CORRELATION);
    find_stop_threads(top);
    for (event_id e = 0; e < trace->event_count; e++) {
        enum event_kind kind = trace->kind[e];
        bool is_call = event_is_call(kind);
        if (!is_call && kind != EVENT_OVERHEAD && !event_is_launched(kind))
            continue;
        uint32_t file = top_file_of(top, e), process = (uint32_t)attribution_process(top->launches, e);
        int64_t id, correlation;
        bool has_id = arg_scan_get(&ids, e, &id),
             has_correlation = arg_scan_get(&correlations, e, &correlation);
        struct launch_link link =
            attribution_link(top->launches, e, has_id ? &id : NULL, has_correlation ? &correlation : NULL);
        if (link.linked && link.id)
            filter_add(linked_ids, link.id);
        if (!top->files[file].is_torch || event_on_device(kind) || top_role(top, e) != ROLE_CALL)
            continue;
        if (!link.linked) {
            top->counts.moved_calls +=
                is_call && top_is_selected(top, e) && trace->track[e] != top->stop_thread[process];
            move(&moves, trace, e, top->stop_thread[process]);
            if (is_call && has_correlation && correlation != 0) {
                *VEC_PUSH(&top->lookalikes) = (struct lookalike){ process, correlation, e };
                filter_add(lookalike_ids, correlation);
            }
        } else if (is_call && link.op != EVENT_NONE && top_role(top, link.op) == ROLE_CALL) {
            move(&moves, trace, e, trace->track[link.op]);
        }
    }
    bool collide = false;
    for (size_t i = 0; i < LOOKALIKE_BITS / 8; i++)
        collide |= linked_ids[i] & lookalike_ids[i];
    free(linked_ids);
    if (collide) {
        top->lookalike_filter = lookalike_ids;
        qsort(top->lookalikes.at, top->lookalikes.count, sizeof *top->lookalikes.at, compare_lookalikes);
        drag_calls(top, &moves);
        if (moves.count)
            qsort(moves.at, moves.count, sizeof *moves.at, compare_moves);
    } else {
        free(lookalike_ids);
    }
    calltree_move(top->tree, moves.at, moves.count);
    VEC_FREE(&moves);
}

/* ---- annotations on streams ---- */

/* Kineto adds up to 1 us at an end; what is further from any other event of the stream is left as it is. */
enum { WIDENING_NS = 1000 };

struct edges {
    int64_t *at;
    size_t count, capacity;
};

/* Where work begins and ends on one stream. What waits on the stream is no work: annotations span none of it. */
struct stream_edges {
    struct edges starts, ends;
};

static int compare_times(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return a < b ? -1 : a > b;
}

static void sort_edges(struct edges *edges)
{
    if (edges->count)
        qsort(edges->at, edges->count, sizeof *edges->at, compare_times);
}

/* The edge nearest to MOMENT, the earlier of two as near; MOMENT when none is near enough. */
static int64_t snap(const struct edges *edges, int64_t moment_ns)
{
    size_t low = search_from(edges->at, edges->count, moment_ns);
    int64_t best = moment_ns;
    uint64_t distance = WIDENING_NS + 1;
    if (low > 0 && (uint64_t)moment_ns - (uint64_t)edges->at[low - 1] < distance) {
        best = edges->at[low - 1];
        distance = (uint64_t)moment_ns - (uint64_t)best;
    }
    if (low < edges->count && (uint64_t)edges->at[low] - (uint64_t)moment_ns < distance)
        best = edges->at[low];
    return best;
}

void top_narrow_annotations(struct top *top)
{
    const struct trace *trace = top->trace;
    struct stream_edges *edges = mem_zalloc(trace->track_count + 1, sizeof *edges);
    bool *wanted = mem_zalloc(trace->track_count + 1, sizeof *wanted);
    bool any = false;
    for (event_id e = 0; e < trace->event_count; e++)
        if (trace->kind[e] == EVENT_GPU_ANNOTATION && top->files[top_file_of(top, e)].is_torch)
            any = wanted[trace->track[e]] = true;
    for (event_id e = 0; any && e < trace->event_count; e++) {
        if (!event_is_launched(trace->kind[e]) || trace->kind[e] == EVENT_SYNC || !wanted[trace->track[e]])
            continue;
        struct stream_edges *of = &edges[trace->track[e]];
        *VEC_PUSH(&of->starts) = trace->start_ns[e];
        *VEC_PUSH(&of->ends) = trace_end_ns(trace, e);
    }
    for (track_id t = 0; any && t < trace->track_count; t++) {
        sort_edges(&edges[t].starts);
        sort_edges(&edges[t].ends);
    }
    for (event_id e = 0; any && e < trace->event_count; e++) {
        if (trace->kind[e] != EVENT_GPU_ANNOTATION || !wanted[trace->track[e]])
            continue;
        const struct stream_edges *of = &edges[trace->track[e]];
        int64_t start_ns = snap(&of->starts, trace->start_ns[e]),
                end_ns = snap(&of->ends, trace_end_ns(trace, e));
        *VEC_PUSH(&top->narrowed) = (struct narrowed){ e, start_ns, end_ns > start_ns ? end_ns : start_ns };
    }
    for (track_id t = 0; t < trace->track_count; t++) {
        VEC_FREE(&edges[t].starts);
        VEC_FREE(&edges[t].ends);
    }
    free(edges);
    free(wanted);
}
