/* Files are nearly sorted: a profiler writes operators in order, then runtime calls in order, and so
 * on. So each thread is sorted by merging the runs that are there, and merging skips what does not
 * overlap. Only indices move, into an array that afterwards holds the parents. */
#include "trace/calltree.h"

#include "base/rows.h"
#include "base/parallel.h"
#include "base/search.h"
#include "trace/call_stack.h"
#include "trace/derived.h"
#include <assert.h>

/* Shorter runs are first made this long by insertion. */
enum { SHORTEST_RUN = 24 };

/* An event among those that are sorted; its duration is read only where two begin at once. */
struct sorted {
    event_id event;
    int64_t start_ns;
};

static inline struct sorted sorted_at(const struct trace *trace, event_id e)
{
    return (struct sorted){ e, trace_start_ns(trace, e) };
}

static inline bool comes_before(const struct trace *trace, struct sorted a, struct sorted b)
{
    if (a.start_ns != b.start_ns)
        return a.start_ns < b.start_ns;
    int64_t a_dur_ns = trace_dur_ns(trace, a.event), b_dur_ns = trace_dur_ns(trace, b.event);
    return a_dur_ns != b_dur_ns ? a_dur_ns > b_dur_ns : a.event < b.event;
}

/* How many of the COUNT sorted events at AT come before E. */
static size_t calltree_count_before(const struct trace *trace, const event_id *at, size_t count, event_id e)
{
    struct sorted one = sorted_at(trace, e);
    return PLACE(i, count, comes_before(trace, sorted_at(trace, at[i]), one));
}

/* Merge the sorted halves [0, MIDDLE) and [MIDDLE, COUNT) of AT. */
static void merge_halves(const struct trace *trace, event_id *at, size_t middle, size_t count,
                         event_id *spare)
{
    size_t first = calltree_count_before(trace, at, middle, at[middle]);
    if (first == middle)
        return;
    size_t end = middle + calltree_count_before(trace, at + middle, count - middle, at[middle - 1]);
    size_t left_count = middle - first;
    memcpy(spare, at + first, left_count * sizeof *at);
    size_t left = 0, right = middle, to = first;
    struct sorted from_left = sorted_at(trace, spare[0]), from_right = sorted_at(trace, at[middle]);
    for (;;) {
        if (comes_before(trace, from_right, from_left)) {
            at[to++] = from_right.event;
            if (++right == end)
                break;
            from_right = sorted_at(trace, at[right]);
        } else {
            at[to++] = from_left.event;
            if (++left == left_count)
                break;
            from_left = sorted_at(trace, spare[left]);
        }
    }
    memcpy(at + to, spare + left, (left_count - left) * sizeof *at);
}

static void insert_last(const struct trace *trace, event_id *at, size_t last)
{
    struct sorted one = sorted_at(trace, at[last]);
    size_t to = last;
    for (; to > 0 && comes_before(trace, one, sorted_at(trace, at[to - 1])); to--)
        at[to] = at[to - 1];
    at[to] = one.event;
}

/* How many events at AT, of COUNT, are in order. */
static size_t sorted_run(const struct trace *trace, const event_id *at, size_t count)
{
    struct sorted last = sorted_at(trace, at[0]);
    for (size_t i = 1; i < count; i++) {
        struct sorted next = sorted_at(trace, at[i]);
        if (!comes_before(trace, last, next))
            return i;
        last = next;
    }
    return count;
}

static void sort_events(const struct trace *trace, event_id *at, size_t count, event_id *spare)
{
    SCOPED VEC_OF(size_t) ends = { 0 }; /* of the runs */
    for (size_t start = 0, end; start < count; start = end) {
        end = start + sorted_run(trace, at + start, count - start);
        while (end < count && end - start < SHORTEST_RUN) {
            insert_last(trace, at + start, end - start);
            end++;
        }
        *VEC_PUSH(&ends) = end;
    }
    while (ends.count > 1) {
        size_t kept = 0, start = 0;
        for (size_t i = 0; i + 1 < ends.count; i += 2) {
            merge_halves(trace, at + start, ends.at[i] - start, ends.at[i + 1] - start, spare);
            start = ends.at[i + 1];
            ends.at[kept++] = start;
        }
        if (ends.count % 2)
            ends.at[kept++] = count;
        ends.count = kept;
    }
}

/* ---- thread by thread ---- */

static void sort_thread(void *context, size_t thread)
{
    struct calltree *tree = context;
    node_id first = tree->threads[thread].first;
    sort_events(tree->trace, tree->event + first, tree->threads[thread].count, tree->parent + first);
}

/* Threads have nothing to do with one another: TASK looks at one of them. */
static void each_thread(struct calltree *tree, parallel_task *task, void *context)
{
    parallel_run(parallel_parts(tree->trace->workers, tree->count), tree->thread_count, task, context);
}

/* ---- opening ---- */

bool calltree_takes_operators(const void *context, event_id e)
{
    const struct trace *trace = context;
    return trace->kind[e] == EVENT_OP && !(trace->flags[e] & (EVENT_ASYNC | EVENT_POINT));
}

/* The events of every host thread in the order of nodes, thread after thread: who asks for many trees sorts once. */
struct call_order {
    event_id *event;
    size_t *first; /* by track: its place in EVENT; that of the next one is its end. A stream's is empty */
};

struct ordering {
    const struct trace *trace;
    struct call_order *order;
    event_id *spare;
};

static void order_track(void *context, size_t track)
{
    const struct ordering *ordering = context;
    const size_t *first = &ordering->order->first[track];
    sort_events(ordering->trace, ordering->order->event + first[0], first[1] - first[0],
                ordering->spare + first[0]);
}

static struct call_order *call_order_open(const struct trace *trace)
{
    struct call_order *order = arena_open(sizeof *order);
    ARENA_OWNS(arena_of(order), &order->event, &order->first);
    order->first = mem_zalloc(trace->track_count + 2, sizeof *order->first);
    size_t *next = order->first + 1; /* of a track while its events are added: the end of it afterwards */
    size_t count = 0;
    for (track_id track = 0; track < trace->track_count; track++) {
        next[track] = count;
        count += trace->tracks[track].kind == TRACK_STREAM ? 0 : trace->tracks[track].event_count;
    }
    order->event = mem_alloc(mem_times(count + 1, sizeof *order->event));
    for (event_id e = 0; e < trace->event_count; e++)
        if (trace->tracks[trace->track[e]].kind != TRACK_STREAM)
            order->event[next[trace->track[e]]++] = e;
    SCOPED event_id *spare = mem_alloc(mem_times(count + 1, sizeof *spare));
    parallel_run(parallel_parts(trace->workers, count), trace->track_count, order_track,
                 &(struct ordering){ trace, order, spare });
    return order;
}

static const struct call_order *call_order_of(const struct trace *trace);
DERIVED(call_order, call_order_of, call_order_open);

void calltree_keep_order(const struct trace *trace)
{
    call_order_of(trace);
}

/* The events of TAKEN, a bit for each, on TRACK: at EVENT in their order, COUNT of them. */
static void pick_in_order(const struct call_order *order, track_id track, const uint64_t *taken,
                          event_id *event, size_t count)
{
    const event_id *from = order->event + order->first[track];
    for (size_t n = 0; n < count; from++) { /* without a branch: what is taken mixes with what is not */
        event[n] = *from;
        n += taken[*from / 64] >> (*from % 64) & 1;
    }
}

/* The same of tracks that ORDER does not hold, or all (ORDER is NULL): in the order of the file. NEXT is by track and counts
 * up to the end. */
static void pick_in_file(const struct trace *trace, const struct call_order *order, const uint64_t *taken,
                         event_id *event, uint32_t *next)
{
    for (size_t word = 0; word <= trace->event_count / 64; word++)
        for (uint64_t bits = taken[word]; bits; bits &= bits - 1) {
            event_id e = (event_id)(word * 64 + (size_t)__builtin_ctzll(bits));
            track_id track = trace->track[e];
            if (!order || order->first[track] == order->first[track + 1])
                event[next[track]++] = e;
        }
}

/* May any event of BLOCK, which the times are packed in, overlap WITHIN? NULL is all time. *NEAR is as of SEARCH_NEAR. */
static bool block_reaches(const struct trace *trace, size_t block, const struct intervals *within,
                          size_t *near)
{
    int64_t start_ns = packed_least(&trace->start_ns.blocks[block]), end_ns;
    size_t i;
    if (!within)
        return true;
    if (__builtin_add_overflow(packed_most(&trace->start_ns.blocks[block]),
                               packed_most(&trace->dur_ns.blocks[block]), &end_ns))
        end_ns = INT64_MAX;
    SEARCH_NEAR(i, *near, within->count, within->at[i].end_ns < start_ns);
    *near = i;
    return i < within->count && within->at[i].start_ns <= end_ns;
}

/* A bit for each event that TAKES takes; how many of each track are added to COUNTS. New, free with free(). */
static uint64_t *take_events(const struct trace *trace, const struct intervals *within, calltree_takes *takes,
                             const void *context, uint32_t *counts)
{
    uint64_t *taken = mem_zalloc(trace->event_count / 64 + 1, sizeof *taken);
    size_t near = 0;
    for (size_t block = 0; block < packed_blocks(trace->event_count); block++) {
        size_t first = block * PACKED_VALUES, left = trace->event_count - first;
        if (!block_reaches(trace, block, within, &near))
            continue;
        for (size_t i = first; i < first + (left < PACKED_VALUES ? left : PACKED_VALUES); i++) {
            event_id e = (event_id)i;
            if (!takes(context, e))
                continue;
            taken[e / 64] |= UINT64_C(1) << (e % 64);
            counts[trace->track[e]]++;
        }
    }
    return taken;
}

struct calltree *calltree_open_within(const struct trace *trace, const struct intervals *within,
                                      calltree_takes *takes, const void *context)
{
    struct calltree *tree = arena_open(sizeof *tree);
    ARENA_OWNS(arena_of(tree), &tree->event, &tree->parent, &tree->threads);
    tree->trace = trace;
    const struct call_order *order = trace_derived(trace, &call_order_of_derivation);
    uint32_t *next = mem_zalloc(trace->track_count + 1, sizeof *next);
    uint64_t *taken = take_events(trace, within, takes, context, next);
    for (track_id track = 0; track < trace->track_count; track++)
        tree->count += next[track];
    tree->event = mem_alloc(mem_times(tree->count + 1, sizeof *tree->event));
    tree->parent = mem_alloc(mem_times(tree->count + 1, sizeof *tree->parent));
    tree->threads = mem_alloc(mem_times(trace->track_count + 1, sizeof *tree->threads));
    node_id first = 0;
    bool all_in_order = order != NULL;
    for (track_id track = 0; track < trace->track_count; track++) {
        uint32_t count = next[track];
        next[track] = first;
        if (count == 0)
            continue;
        tree->threads[tree->thread_count++] = (struct calltree_thread){ track, first, count };
        if (order && order->first[track] < order->first[track + 1])
            pick_in_order(order, track, taken, tree->event + first, count);
        else
            all_in_order = false;
        first += count;
    }
    if (!all_in_order)
        pick_in_file(trace, order, taken, tree->event, next);
    EACH(free, next, taken);
    if (!all_in_order)
        each_thread(tree, sort_thread, tree);
    return tree;
}

struct calltree *calltree_open(const struct trace *trace, calltree_takes *takes, const void *context)
{
    return calltree_open_within(trace, NULL, takes, context);
}

void calltree_forget_parents(struct calltree *tree)
{
    free(tree->parent);
    tree->parent = NULL;
}

static const struct key by_threads[] = { ASC(struct calltree_thread, track), KEY_END };

/* Index of the thread of TRACK, which is among them. */
static size_t find_thread(const struct calltree_thread *threads, size_t count, track_id track)
{
    size_t i = PLACE(k, count, threads[k].track < track);
    assert(i < count && threads[i].track == track);
    return i;
}

struct arrivals {
    struct calltree *tree;
    const uint32_t *counts; /* by thread */
};

static void sort_arrivals(void *context, size_t thread)
{
    const struct arrivals *arrivals = context;
    if (arrivals->counts[thread])
        sort_thread(arrivals->tree, thread);
}

/* Rebuild the threads' lists: what stays, then what arrives, merged as two runs. */
void calltree_move(struct calltree *tree, const struct calltree_move *moves, size_t count)
{
    if (count == 0)
        return;
    const struct trace *trace = tree->trace;
    size_t old_count = tree->thread_count;
    struct calltree_thread *threads = mem_alloc(mem_times(old_count + count, sizeof *threads));
    memcpy(threads, tree->threads, old_count * sizeof *threads);
    for (size_t i = 0; i < count; i++)
        threads[old_count + i] = (struct calltree_thread){ .track = moves[i].track };
    rows_sort(threads + old_count, count, sizeof *threads, by_threads);
    size_t kept = old_count, low = 0;
    for (size_t i = 0; i < count; i++) { /* a target that has no nodes yet becomes a thread */
        track_id track = threads[old_count + i].track;
        while (low < old_count && threads[low].track < track)
            low++;
        bool known = (low < old_count && threads[low].track == track) ||
                     (kept > old_count && threads[kept - 1].track == track);
        if (!known)
            threads[kept++] = (struct calltree_thread){ .track = track, .first = (node_id)tree->count };
    }
    SORT_ARRAY(threads, kept, by_threads);

    SCOPED uint32_t *arrivals = mem_zalloc(kept + 1, sizeof *arrivals);
    for (size_t i = 0; i < count; i++)
        arrivals[find_thread(threads, kept, moves[i].track)]++;
    event_id *to = tree->parent; /* the other array takes the new order, then the two change roles */
    SCOPED node_id *page_writing_emit = mem_alloc(mem_times(kept + 1, sizeof *page_writing_emit));
    SCOPED uint64_t *moved = mem_zalloc(trace->event_count / 64 + 1, sizeof *moved);
    for (size_t i = 0; i < count; i++)
        moved[moves[i].event / 64] |= UINT64_C(1) << (moves[i].event % 64);
    node_id at = 0;
    for (size_t i = 0; i < kept; i++) {
        node_id first = at;
        for (uint32_t n = 0; n < threads[i].count; n++) {
            event_id e = tree->event[threads[i].first + n];
            if (!(moved[e / 64] >> (e % 64) & 1))
                to[at++] = e;
        }
        threads[i] = (struct calltree_thread){ threads[i].track, first, at - first + arrivals[i] };
        page_writing_emit[i] = at;
        at += arrivals[i];
    }
    assert(at == tree->count);
    for (size_t i = 0; i < count; i++)
        to[page_writing_emit[find_thread(threads, kept, moves[i].track)]++] = moves[i].event;
    tree->parent = tree->event;
    tree->event = to;
    free(tree->threads);
    tree->threads = threads;
    tree->thread_count = 0;
    for (size_t i = 0; i < kept; i++) {
        if (threads[i].count == 0) /* its last call has left it */
            continue;
        arrivals[tree->thread_count] = arrivals[i];
        threads[tree->thread_count++] = threads[i];
    }
    each_thread(tree, sort_arrivals, &(struct arrivals){ tree, arrivals });
}

struct nesting {
    struct calltree *tree;
    size_t *overlaps; /* by thread */
};

static void nest_thread(void *context, size_t thread)
{
    const struct nesting *nesting = context;
    struct calltree *tree = nesting->tree;
    const struct trace *trace = tree->trace;
    SCOPED struct call_stack stack = { 0 };
    node_id first = tree->threads[thread].first, end = first + tree->threads[thread].count;
    for (node_id n = first; n < end; n++) {
        int64_t start_ns = trace_start_ns(trace, tree->event[n]);
        int64_t end_ns = start_ns + trace_dur_ns(trace, tree->event[n]);
        call_stack_leave(&stack, start_ns, end_ns);
        tree->parent[n] = stack.count ? stack.at[stack.count - 1].node : NODE_NONE;
        call_stack_enter(&stack, end_ns, n);
    }
    nesting->overlaps[thread] = stack.overlaps;
}

void calltree_nest(struct calltree *tree)
{
    struct nesting nesting = { tree, mem_zalloc(tree->thread_count + 1, sizeof *nesting.overlaps) };
    each_thread(tree, nest_thread, &nesting);
    for (size_t i = 0; i < tree->thread_count; i++)
        tree->overlaps += nesting.overlaps[i];
    free(nesting.overlaps);
}

node_id *calltree_nodes(const struct calltree *tree)
{
    node_id *nodes = mem_alloc(mem_times(tree->trace->event_count + 1, sizeof *nodes));
    memset(nodes, 0xff, (tree->trace->event_count + 1) * sizeof *nodes);
    for (node_id n = 0; n < tree->count; n++)
        nodes[tree->event[n]] = n;
    return nodes;
}

/* Skew-binary jump pointers (Myers, 1983): a node skips as far as its parent's two skips together when these are of one
 * length, else to its parent. */
node_id *calltree_skips(const struct calltree *tree)
{
    node_id *skips = mem_alloc(mem_times(tree->count + 1, sizeof *skips));
    SCOPED uint32_t *depth = mem_alloc(mem_times(tree->count + 1, sizeof *depth));
    for (node_id n = 0; n < tree->count; n++) {
        node_id parent = tree->parent[n];
        if (parent == NODE_NONE) {
            skips[n] = n;
            depth[n] = 0;
            continue;
        }
        node_id once = skips[parent], twice = skips[once];
        depth[n] = depth[parent] + 1;
        skips[n] = depth[parent] - depth[once] == depth[once] - depth[twice] ? twice : parent;
    }
    return skips;
}

/* What is around a node ends when it does or later: so all that ends too early lies between it and the one that is looked for. */
node_id calltree_around(const struct calltree *tree, const node_id *skips, node_id node, int64_t moment_ns)
{
    while (node != NODE_NONE && trace_end_ns(tree->trace, tree->event[node]) <= moment_ns) {
        node_id skip = skips[node];
        bool too_early = skip != node && trace_end_ns(tree->trace, tree->event[skip]) <= moment_ns;
        node = too_early ? skip : tree->parent[node];
    }
    return node;
}

node_id calltree_open_at(const struct calltree *tree, const node_id *skips,
                         const struct calltree_thread *thread, int64_t moment_ns)
{
    node_id low = thread->first,
            high = thread->first + thread->count; /* the first that begins after the moment */
    while (low < high) {
        node_id middle = low + (high - low) / 2;
        if (trace_start_ns(tree->trace, tree->event[middle]) <= moment_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return calltree_around(tree, skips, low == thread->first ? NODE_NONE : low - 1, moment_ns);
}

struct folding {
    struct calltree *tree;
    calltree_same *same;
    const void *context;
    uint8_t *state; /* by node */
};

/* Parents come first, so one pass does all the folding torch repeats until nothing changes: when a
 * node is looked at, its parent has taken its final shape except this child. The number of children
 * (0, 1, many) is kept in two bits of the state until the pass is over. */
static void fold_thread(void *context, size_t thread)
{
    enum { CHILD = 4, CHILDREN = 8, CHILD_BITS = CHILD | CHILDREN };
    const struct folding *folding = context;
    struct calltree *tree = folding->tree;
    uint8_t *state = folding->state;
    node_id first = tree->threads[thread].first, end = first + tree->threads[thread].count;
    for (node_id n = first; n < end; n++)
        if (tree->parent[n] != NODE_NONE)
            state[tree->parent[n]] |= state[tree->parent[n]] & CHILD ? CHILDREN : CHILD;
    for (node_id n = first; n < end; n++) {
        node_id caller = tree->parent[n], parent = caller;
        if (parent == NODE_NONE)
            continue;
        if (state[parent] & NODE_FOLDED)
            parent = tree->parent[n] = tree->parent[parent];
        if ((state[parent] & CHILD_BITS) != CHILD ||
            !folding->same(folding->context, tree->event[parent], tree->event[n]))
            continue;
        state[caller] |= NODE_KERNELS_GONE;
        state[parent] = (uint8_t)((state[parent] & ~CHILD_BITS) | (state[n] & CHILD_BITS));
        state[n] |= NODE_FOLDED;
    }
    for (node_id n = first; n < end; n++)
        state[n] &= (uint8_t)~CHILD_BITS;
}

uint8_t *calltree_fold(struct calltree *tree, calltree_same *same, const void *context)
{
    struct folding folding = { tree, same, context, mem_zalloc(tree->count + 1, 1) };
    each_thread(tree, fold_thread, &folding);
    return folding.state;
}
