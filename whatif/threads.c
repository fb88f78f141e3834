/*
 * threads.c - the moments of host threads, and where one thread goes on because another was done.
 *
 * Spans of a thread come ordered by start, the longer first. So a stack, from which a span that has ended is taken when it is
 * on top, always shows the span that began last; this needs no nesting, and one pass. Ends are sorted only where spans
 * overlap without nesting, which shows when the stack hands them out in disorder.
 */
#include "base/search.h"
#include "derive/host_state.h"
#include "trace/arg_scan.h"
#include "trace/step_name.h"
#include "whatif/replay.h"

/* ---- links ---- */

/* Threads of a process work for one another: Autograd runs the backward of an operator on a thread of its own and gives it
 * the Sequence number of the forward. So two threads are linked when one has a backward operator and the other a forward
 * one of the same number. */

/* Each pair of linked threads is there twice. Indices into graph->threads. */
struct thread_link {
    uint32_t thread, other;
};

struct thread_links {
    VEC_OF(struct thread_link); /* by thread, then other */
};

/* Of more threads that are linked to one only the first count: no program has them, and a file that claims so would make each gap
 * ask them all. */
enum { MOST_LINKS_OF_A_THREAD = 16 };

struct numbered {
    uint32_t process, thread;
    int64_t number; /* twice the Sequence number, plus 1 for a backward operator */
};

struct numbered_list {
    VEC_OF(struct numbered);
};

/* New, by name: does it begin as autograd names what it evaluates? */
static bool *find_evaluations(const struct names *names)
{
    static const char prefix[] = "autograd::engine::evaluate_function";
    bool *is_evaluation = mem_zalloc(names_count(names) + 1, sizeof *is_evaluation);
    for (name_id id = 0; id < names_count(names); id++)
        is_evaluation[id] = strncmp(names_text(names, id), prefix, sizeof prefix - 1) == 0;
    return is_evaluation;
}

static void collect(const struct replay_graph *graph, struct numbered_list *list)
{
    const struct trace *trace = graph->trace;
    bool *is_evaluation = find_evaluations(trace->names);
    struct arg_scan numbers = arg_scan_of(trace, ARG_SEQUENCE), forwards = arg_scan_of(trace, ARG_FWD_THREAD);
    for (event_id e = 0; e < trace->event_count; e++) {
        int64_t number, forward;
        if (trace->kind[e] != EVENT_OP || !arg_scan_get(&numbers, e, &number) || number < 0 ||
            number > INT64_MAX / 4)
            continue;
        uint32_t thread = graph->thread_of_track[trace->track[e]];
        if (thread == UINT32_MAX)
            continue;
        bool backward =
            is_evaluation[trace->name[e]] || (arg_scan_get(&forwards, e, &forward) && forward != 0);
        struct numbered one = { graph->threads[thread].process, thread, 2 * number + backward };
        const struct numbered *last = list->count ? &list->at[list->count - 1] : NULL;
        if (!last || last->thread != thread || last->number != one.number)
            *VEC_PUSH(list) = one;
    }
    free(is_evaluation);
}

static const struct key by_process_number_thread[] = { ASC(struct numbered, process),
                                                       ASC(struct numbered, number),
                                                       ASC(struct numbered, thread), KEY_END };

static const struct key by_thread_other[] = { ASC(struct thread_link, thread), ASC(struct thread_link, other),
                                              KEY_END };

static void add_links(struct thread_links *links, uint32_t a, uint32_t b)
{
    if (a == b || (links->count > 0 && links->at[links->count - 1].thread == b &&
                   links->at[links->count - 1].other == a))
        return;
    *VEC_PUSH(links) = (struct thread_link){ a, b };
    *VEC_PUSH(links) = (struct thread_link){ b, a };
}

/* The threads of one number: forwards in [first, middle), backwards in [middle, end). */
static void link_number(struct thread_links *links, const struct numbered *at, size_t first, size_t middle,
                        size_t end)
{
    size_t most_forward = middle - first > MOST_LINKS_OF_A_THREAD ? MOST_LINKS_OF_A_THREAD : middle - first;
    size_t most_backward = end - middle > MOST_LINKS_OF_A_THREAD ? MOST_LINKS_OF_A_THREAD : end - middle;
    for (size_t i = 0; i < most_forward; i++)
        for (size_t k = 0; k < most_backward; k++)
            add_links(links, at[first + i].thread, at[middle + k].thread);
}

/* Each pair once, and of each thread no more than the most. */
static void drop_repeats(struct thread_links *links)
{
    SORT(links, by_thread_other);
    size_t kept = 0, of_thread = 0;
    for (size_t i = 0; i < links->count; i++) {
        struct thread_link link = links->at[i];
        if (kept && links->at[kept - 1].thread == link.thread && links->at[kept - 1].other == link.other)
            continue;
        of_thread = kept && links->at[kept - 1].thread == link.thread ? of_thread + 1 : 0;
        if (of_thread < MOST_LINKS_OF_A_THREAD)
            links->at[kept++] = link;
    }
    links->count = kept;
}

/* Sort what was numbered, each thread once for a number. */
static void sort_numbered(struct numbered_list *list)
{
    SORT(list, by_process_number_thread);
    if (list->count > 1)
        list->count = rows_unique(list->at, list->count, sizeof *list->at, by_process_number_thread);
}

static bool same_sequence(const struct numbered *a, const struct numbered *b)
{
    return a->process == b->process && a->number / 2 == b->number / 2;
}

/* New, of the threads of GRAPH, whose moments are not looked at; free with arena_free (NULL is allowed). */
static struct thread_links *thread_links_open(const struct replay_graph *graph)
{
    struct thread_links *links = arena_open(sizeof *links);
    ARENA_OWNS(arena_of(links), &links->at);
    struct numbered_list list = { 0 };
    collect(graph, &list);
    sort_numbered(&list);
    for (size_t first = 0, middle, end; first < list.count; first = end) {
        for (middle = first; middle < list.count && same_sequence(&list.at[first], &list.at[middle]) &&
                             list.at[middle].number % 2 == 0;)
            middle++;
        for (end = middle; end < list.count && same_sequence(&list.at[first], &list.at[end]);)
            end++;
        link_number(links, list.at, first, middle, end);
    }
    VEC_FREE(&list);
    drop_repeats(links);
    return links;
}

/* ---- threads ---- */

struct cut {
    uint32_t thread;
    int64_t time_ns;
};

struct open_span {
    event_id event;
    int64_t end_ns;
};

struct threads {
    struct graph_maker *maker;
    const struct trace *trace;
    bool *program;   /* by track */
    bool *any_event; /* by file: it has no operators and no launches, so that all host events are spans */
    bool *is_mark;   /* by name: of a step, which old versions of torch recorded as an operator */
    struct calltree *spans;
    VEC_OF(struct cut) cuts;
    struct moment_times *times; /* of the graph */
    size_t moment_count;
    int64_t last_ns; /* of the last moment, while spans nest */
    VEC_OF(int64_t) ends;
    VEC_OF(struct open_span) open;
    struct intervals *bursts; /* by thread: when it is busy; of linked threads */
};

/* ---- spans ---- */

static bool is_host_event(enum event_kind kind)
{
    return kind <= EVENT_DRIVER;
}

static bool is_span(const void *context, event_id e)
{
    const struct threads *threads = context;
    const struct trace *trace = threads->trace;
    enum event_kind kind = trace->kind[e];
    if (!is_host_event(kind) || trace->flags[e] & (EVENT_ASYNC | EVENT_POINT | EVENT_NO_DURATION))
        return false;
    track_id track = trace->track[e];
    if (threads->any_event[trace->tracks[track].file])
        return true;
    return threads->program[track] &&
           ((kind == EVENT_OP && !threads->is_mark[trace->name[e]]) || event_is_call(kind));
}

static void find_marks(struct threads *threads)
{
    const struct names *names = threads->trace->names;
    int64_t number;
    threads->is_mark = mem_zalloc(names_count(names) + 1, sizeof *threads->is_mark);
    for (name_id id = 0; id < names_count(names); id++)
        threads->is_mark[id] = step_number(names_text(names, id), &number);
}

static void find_programs(struct threads *threads)
{
    const struct trace *trace = threads->trace;
    const struct gpu_events *gpu = threads->maker->graph->gpu;
    threads->program = mem_zalloc(trace->track_count + 1, sizeof *threads->program);
    threads->any_event = mem_zalloc(trace->file_count + 1, sizeof *threads->any_event);
    for (event_id e = 0; e < trace->event_count; e++)
        if (trace->kind[e] == EVENT_OP && !(trace->flags[e] & EVENT_ASYNC))
            threads->program[trace->track[e]] = true;
    for (size_t i = 0; i < gpu->count; i++)
        if (gpu->call[i] != EVENT_NONE)
            threads->program[trace->track[gpu->call[i]]] = true;
    for (uint32_t f = 0; f < trace->file_count; f++)
        threads->any_event[f] = true;
    for (track_id t = 0; t < trace->track_count; t++)
        if (threads->program[t])
            threads->any_event[trace->tracks[t].file] = false;
}

static void add_threads(struct threads *threads)
{
    struct replay_graph *graph = threads->maker->graph;
    const struct calltree *spans = threads->spans;
    graph->threads = mem_alloc(mem_times(spans->thread_count + 1, sizeof *graph->threads));
    graph->thread_count = spans->thread_count;
    graph->thread_of_track =
        mem_alloc(mem_times(threads->trace->track_count + 1, sizeof *graph->thread_of_track));
    for (track_id t = 0; t < threads->trace->track_count; t++)
        graph->thread_of_track[t] = UINT32_MAX;
    for (size_t i = 0; i < spans->thread_count; i++) {
        track_id track = spans->threads[i].track;
        graph->thread_of_track[track] = (uint32_t)i;
        graph->threads[i] = (struct replay_thread){
            .track = track,
            .process = (uint32_t)attribution_process_of_track(threads->maker->launches, track),
        };
    }
}

static int64_t threads_start_of(const struct threads *threads, event_id e)
{
    return replay_event_start(threads->maker->graph, e);
}

static int64_t threads_end_of(const struct threads *threads, event_id e)
{
    return replay_event_end(threads->maker->graph, e);
}

/* ---- cuts: moments within the spans of a thread ---- */

static void add_cut(struct threads *threads, uint32_t thread, int64_t time_ns)
{
    *VEC_PUSH(&threads->cuts) = (struct cut){ thread, time_ns };
}

/* Steps and other annotations begin and end at moments, so that they can be followed. */
static void cut_at_annotations(struct threads *threads)
{
    const struct trace *trace = threads->trace;
    for (event_id e = 0; e < trace->event_count; e++) {
        bool is_range = trace->kind[e] == EVENT_ANNOTATION ||
                        (trace->kind[e] == EVENT_OP && threads->is_mark[trace->name[e]]);
        if (!is_range || trace->flags[e] & (EVENT_ASYNC | EVENT_POINT))
            continue;
        uint32_t thread = threads->maker->graph->thread_of_track[trace->track[e]];
        if (thread == UINT32_MAX)
            continue;
        add_cut(threads, thread, threads_start_of(threads, e));
        add_cut(threads, thread, threads_end_of(threads, e));
    }
}

static const struct key by_thread_time[] = { ASC(struct cut, thread), ASC(struct cut, time_ns), KEY_END };

static void sort_cuts(struct threads *threads)
{
    SORT(&threads->cuts, by_thread_time);
}

/* ---- linked threads ---- */

/* Add the bursts of thread T, unless they are there. */
static void add_bursts(struct threads *threads, uint32_t t)
{
    const struct calltree_thread *thread = &threads->spans->threads[t];
    if (threads->bursts[t].count)
        return;
    int64_t shift_ns = threads->maker->graph->shift_ns[threads->trace->tracks[thread->track].file];
    for (node_id n = thread->first; n < thread->first + thread->count; n++) {
        int64_t start_ns = trace_start_ns(threads->trace, threads->spans->event[n]) + shift_ns, end_ns;
        if (__builtin_add_overflow(start_ns, trace_dur_ns(threads->trace, threads->spans->event[n]), &end_ns))
            end_ns = INT64_MAX;
        intervals_add(&threads->bursts[t], start_ns, end_ns);
    }
    intervals_merge(&threads->bursts[t]);
}

static void find_bursts(struct threads *threads, const struct thread_links *links)
{
    threads->bursts = mem_zalloc(threads->spans->thread_count + 1, sizeof *threads->bursts);
    for (size_t l = 0; l < links->count; l++)
        add_bursts(threads, links->at[l].thread);
}

static void forget_bursts(struct threads *threads)
{
    for (size_t t = 0; t < threads->spans->thread_count; t++)
        intervals_release(&threads->bursts[t]);
    free(threads->bursts);
}

/* Index of the first burst that begins at NS or later. */
static size_t burst_from(const struct intervals *bursts, int64_t ns)
{
    size_t i;
    SEARCH(i, bursts->count, bursts->at[i].start_ns < ns);
    return i;
}

/* The last moment up to NS at which a thread was busy; false when there was none. NEAR: where the one before was found. */
static bool busy_until_near(const struct intervals *bursts, int64_t ns, int64_t *until_ns, size_t *near)
{
    size_t after;
    SEARCH_NEAR(after, *near, bursts->count, bursts->at[after].start_ns < ns);
    *near = after;
    if (after == 0)
        return false;
    *until_ns = bursts->at[after - 1].end_ns < ns ? bursts->at[after - 1].end_ns : ns;
    return true;
}

static bool busy_until(const struct intervals *bursts, int64_t ns, int64_t *until_ns)
{
    return busy_until_near(bursts, ns, until_ns, &(size_t){ 0 });
}

enum { THREAD_BITS = INT32_MAX }; /* a thread has events of its own, of which there are fewer */

/* The end of a gap of THREAD; OTHER was busy until FROM_NS. */
struct handover {
    uint32_t thread, other : 31, later : 1; /* LATER: than THREAD itself was busy */
    int64_t to_ns, from_ns;
};

struct handovers {
    VEC_OF(struct handover);
};

/* NEAR: where the moments before were found, of the thread and of the other; 0 at first. */
static void add_handover(struct threads *threads, struct handovers *handovers, struct thread_link link,
                         int64_t to_ns, size_t near[2])
{
    const struct intervals *own = &threads->bursts[link.thread], *others = &threads->bursts[link.other];
    int64_t from_ns, own_ns;
    if (!busy_until_near(others, to_ns, &from_ns, &near[1]))
        return;
    bool later = !busy_until_near(own, to_ns, &own_ns, &near[0]) || from_ns > own_ns;
    *VEC_PUSH(handovers) = (struct handover){ link.thread, link.other & THREAD_BITS, later, to_ns, from_ns };
}

/* For each link, what it says about the gaps of its thread, by time: before its bursts, and before cuts within them. Cuts are
 * sorted. */
static void find_handovers(struct threads *threads, const struct thread_links *links,
                           struct handovers *handovers)
{
    size_t cut_count = threads->cuts.count;
    for (size_t l = 0; l < links->count; l++) {
        struct thread_link link = links->at[l];
        const struct intervals *own = &threads->bursts[link.thread];
        size_t cut, next = 0, near[2] = { 0, 0 };
        SEARCH(cut, cut_count, threads->cuts.at[cut].thread < link.thread);
        for (; cut < cut_count && threads->cuts.at[cut].thread == link.thread; cut++) {
            int64_t cut_ns = threads->cuts.at[cut].time_ns;
            for (; next < own->count && own->at[next].start_ns < cut_ns; next++)
                add_handover(threads, handovers, link, own->at[next].start_ns, near);
            bool is_start = next < own->count && own->at[next].start_ns == cut_ns;
            if (!is_start && (next == 0 || own->at[next - 1].end_ns < cut_ns))
                add_handover(threads, handovers, link, cut_ns, near);
        }
        for (; next < own->count; next++)
            add_handover(threads, handovers, link, own->at[next].start_ns, near);
    }
    for (size_t i = 0; i < handovers->count;
         i++) /* else it is the end of a burst, which is a moment anyway */
        if (handovers->at[i].from_ns == handovers->at[i].to_ns)
            add_cut(threads, handovers->at[i].other, handovers->at[i].from_ns);
}

/* ---- threads that take turns ---- */

/* Is hardly ever more than one of the two busy? */
static bool threads_alternate(const struct intervals *a, const struct intervals *b)
{
    enum { MOST_TOGETHER_PERCENT = 2 };
    int64_t a_ns = intervals_length(a), b_ns = intervals_length(b), less_ns = a_ns < b_ns ? a_ns : b_ns;
    return less_ns > 0 && intervals_length_of_both(a, b) <= less_ns / 100 * MOST_TOGETHER_PERCENT;
}

/* The gaps of LINK's thread that ended after the other thread had been busy last. */
static void add_turns_of(struct threads *threads, struct handovers *turns, struct thread_link link)
{
    const struct intervals *own = &threads->bursts[link.thread];
    size_t near[2] = { 0, 0 };
    for (size_t b = 0; b < own->count; b++) {
        size_t count = turns->count;
        add_handover(threads, turns, link, own->at[b].start_ns, near);
        if (turns->count > count &&
            (!turns->at[count].later || turns->at[count].from_ns == turns->at[count].to_ns))
            turns->count = count; /* it was not the last to be busy, or still is */
    }
}

/* ---- threads that are waited for ---- */

enum { REST_NS = 1000000 }; /* a thread that was idle for longer had nothing to do */

/* The end of the run of bursts that begins with FIRST: up to the next rest. */
static size_t run_end(const struct intervals *bursts, size_t first)
{
    size_t end = first + 1;
    while (end < bursts->count && bursts->at[end].start_ns - bursts->at[end - 1].end_ns < REST_NS)
        end++;
    return end;
}

/* Did the thread of BURSTS rest until another was done at NS, and go on at once, at *TO_NS? */
static bool waited_until(const struct intervals *bursts, int64_t ns, int64_t *to_ns)
{
    size_t next = burst_from(bursts, ns);
    if (next == 0 || next == bursts->count || bursts->at[next - 1].end_ns >= ns)
        return false;
    int64_t idle_ns = ns - bursts->at[next - 1].end_ns;
    *to_ns = bursts->at[next].start_ns;
    return idle_ns >= REST_NS && *to_ns - ns <= idle_ns / 10;
}

static void add_turn(struct threads *threads, struct handovers *turns, uint32_t thread, uint32_t other,
                     int64_t to_ns, int64_t from_ns)
{
    *VEC_PUSH(turns) = (struct handover){ thread, other & THREAD_BITS, true, to_ns, from_ns };
    add_cut(threads, other, from_ns);
}

/* THREAD is taken to be started and awaited by OTHER, for each of its runs, if OTHER waited for half of these or more. */
static void add_runs(struct threads *threads, struct handovers *turns, uint32_t thread, uint32_t other)
{
    const struct intervals *own = &threads->bursts[thread], *others = &threads->bursts[other];
    size_t runs = 0, awaited = 0;
    int64_t to_ns, from_ns;
    for (size_t b = 0; b < own->count; b = run_end(own, b), runs++)
        awaited += waited_until(others, own->at[run_end(own, b) - 1].end_ns, &to_ns);
    if (awaited == 0 || awaited < runs - awaited)
        return;
    for (size_t b = 0, end; b < own->count; b = end) {
        end = run_end(own, b);
        if (busy_until(others, own->at[b].start_ns, &from_ns))
            add_turn(threads, turns, thread, other, own->at[b].start_ns, from_ns);
        if (waited_until(others, own->at[end - 1].end_ns, &to_ns))
            add_turn(threads, turns, other, thread, to_ns, own->at[end - 1].end_ns);
    }
}

/* Without Sequence numbers, as in logs of calls alone, nothing says that the backward thread works for the
 * main one. A thread that launched work and is linked to none is taken to do so when it and the busiest
 * thread of its process take turns. Nor does anything say that a thread of the program works beside the
 * busiest one and is awaited by it, but that it goes on when the other is done. */
static void find_turns(struct threads *threads, const struct thread_links *links, struct handovers *turns)
{
    const struct replay_graph *graph = threads->maker->graph;
    uint32_t *busiest =
        mem_alloc(mem_times(attribution_process_count(threads->maker->launches) + 1, sizeof *busiest));
    bool *launches = mem_zalloc(graph->thread_count + 1, sizeof *launches);
    bool *linked = mem_zalloc(graph->thread_count + 1, sizeof *linked);
    memset(busiest, 0xff, (attribution_process_count(threads->maker->launches) + 1) * sizeof *busiest);
    for (size_t i = 0; i < graph->gpu->count; i++) {
        event_id call = graph->gpu->call[i];
        uint32_t thread =
            call == EVENT_NONE ? UINT32_MAX : graph->thread_of_track[threads->trace->track[call]];
        if (thread != UINT32_MAX)
            launches[thread] = true;
    }
    for (uint32_t t = 0; t < graph->thread_count; t++) {
        uint32_t *best = &busiest[graph->threads[t].process];
        if (*best == UINT32_MAX || threads->spans->threads[t].count > threads->spans->threads[*best].count)
            *best = t;
    }
    for (size_t l = 0; l < links->count; l++)
        linked[links->at[l].thread] = true;
    size_t pairs = 0;
    for (uint32_t t = 0; t < graph->thread_count; t++) {
        uint32_t other = busiest[graph->threads[t].process];
        if (linked[t] || other == t)
            continue;
        add_bursts(threads, t);
        add_bursts(threads, other);
        if (!launches[t] || pairs == MOST_LINKS_OF_A_THREAD ||
            !threads_alternate(&threads->bursts[t], &threads->bursts[other])) {
            add_runs(threads, turns, t, other);
            continue;
        }
        pairs++;
        add_turns_of(threads, turns, (struct thread_link){ t, other });
        add_turns_of(threads, turns, (struct thread_link){ other, t });
    }
    EACH(free, linked, busiest, launches);
}

static void add_turn_edges(struct threads *threads, const struct handovers *turns)
{
    const struct replay_graph *graph = threads->maker->graph;
    for (size_t i = 0; i < turns->count; i++)
        graph_add_edge(threads->maker, replay_moment_from(graph, turns->at[i].other, turns->at[i].from_ns),
                       replay_moment_from(graph, turns->at[i].thread, turns->at[i].to_ns), RELATION_TURN,
                       false);
}

/* ---- waits of XLA ---- */

/* XLA waits for its devices in functions, not in calls, and its threads launch for one another: a program takes its place in the
 * queue on one thread ("Acquire semaphore") and is launched by another, which has nothing to do until then. */

struct xla_wait {
    uint32_t file;
    track_id track;
    event_id event;
    int64_t end_ns;
};

struct xla_waits {
    VEC_OF(struct xla_wait);        /* by file, then end */
    struct intervals *in_functions; /* by track */
    struct intervals *waiting;      /* by file: when any thread waits */
};

static const struct key by_file_end[] = { ASC(struct xla_wait, file), ASC(struct xla_wait, end_ns),
                                          ASC(struct xla_wait, event), KEY_END };

static bool is_function(enum event_kind kind)
{
    return kind == EVENT_PYTHON || kind == EVENT_OTHER || kind == EVENT_ANNOTATION;
}

enum { LEAST_WAIT_NS = 10000 }; /* what returned sooner had nothing to wait for */

static void find_xla_waits(const struct threads *threads, const bool *is_wait, struct xla_waits *waits)
{
    const struct trace *trace = threads->trace;
    waits->in_functions = mem_zalloc(trace->track_count + 1, sizeof *waits->in_functions);
    waits->waiting = mem_zalloc(trace->file_count + 1, sizeof *waits->waiting);
    for (event_id e = 0; e < trace->event_count; e++) {
        if (!is_function(trace->kind[e]) || trace->flags[e] & (EVENT_ASYNC | EVENT_POINT | EVENT_NO_DURATION))
            continue;
        uint32_t file = trace->tracks[trace->track[e]].file;
        if (threads->maker->graph->thread_of_track[trace->track[e]] != UINT32_MAX)
            intervals_add(&waits->in_functions[trace->track[e]], threads_start_of(threads, e),
                          threads_end_of(threads, e));
        if (!is_wait[trace->name[e]] || trace_dur_ns(trace, e) < LEAST_WAIT_NS)
            continue;
        *VEC_PUSH(waits) = (struct xla_wait){ file, trace->track[e], e, threads_end_of(threads, e) };
        intervals_add(&waits->waiting[file], threads_start_of(threads, e), threads_end_of(threads, e));
    }
    if (waits->count)
        SORT(waits, by_file_end);
    for (uint32_t f = 0; f < trace->file_count; f++)
        intervals_merge(&waits->waiting[f]);
    for (track_id t = 0; t < trace->track_count; t++)
        intervals_merge(&waits->in_functions[t]);
}

/* The last wait in FILE that ended after FROM_NS and by TO_NS, which TRACK may have been for: in a function of its own, or in none. NULL:
 * there is none. */
static const struct xla_wait *last_wait(const struct xla_waits *waits, uint32_t file, track_id track,
                                        int64_t from_ns, int64_t to_ns)
{
    enum { MOST_WAITS_BACK = 64 };
    size_t i, steps = 0;
    SEARCH(i, waits->count,
           waits->at[i].file < file || (waits->at[i].file == file && waits->at[i].end_ns <= to_ns));
    for (; i-- > 0 && waits->at[i].file == file && waits->at[i].end_ns > from_ns && steps < MOST_WAITS_BACK;
         steps++)
        if (waits->at[i].track == track ||
            !intervals_contain(&waits->in_functions[track], waits->at[i].end_ns - 1))
            return &waits->at[i];
    return NULL;
}

/* The gap of THREAD from FROM_NS, INT64_MIN before its first span, to TO_NS was a wait if threads of the file waited during most of it.
 * Cut it where the first of them began, and where the last ended. */
static void cut_at_wait(struct threads *threads, const struct xla_waits *waits, uint32_t thread,
                        int64_t from_ns, int64_t to_ns)
{
    track_id track = threads->maker->graph->threads[thread].track;
    uint32_t file = threads->trace->tracks[track].file;
    const struct intervals *waiting = &waits->waiting[file];
    const struct xla_wait *wait = last_wait(waits, file, track, from_ns, to_ns);
    if (!wait)
        return;
    size_t i; /* the set of waits that this one is of */
    SEARCH(i, waiting->count, waiting->at[i].end_ns < wait->end_ns);
    while (i > 0 && waiting->at[i].start_ns > from_ns &&
           waiting->at[i].start_ns - waiting->at[i - 1].end_ns < REST_NS)
        i--; /* between two waits they are about to wait again */
    bool is_first = from_ns == INT64_MIN;
    int64_t start_ns = waiting->at[i].start_ns > from_ns ? waiting->at[i].start_ns : from_ns;
    from_ns = is_first ? start_ns : from_ns;
    if (intervals_length_within(waiting, from_ns, to_ns) < (to_ns - from_ns) / 2)
        return;
    if (start_ns > from_ns)
        add_cut(threads, thread, start_ns);
    /* Where threads wait again meanwhile, the host does not work from there on. */
    bool is_host_time =
        intervals_length_within(waiting, wait->end_ns, to_ns) < (to_ns - wait->end_ns + 1) / 2;
    if (is_host_time)
        add_cut(threads, thread, wait->end_ns);
    *VEC_PUSH(&threads->maker->ready) =
        (struct ready_wait){ thread, wait->event, is_host_time ? wait->end_ns : to_ns, is_host_time };
}

static void find_ready_waits(struct threads *threads)
{
    const struct names *names = threads->trace->names;
    struct xla_waits waits = { 0 };
    bool *is_wait = mem_zalloc(names_count(names) + 1, sizeof *is_wait), any = false;
    for (name_id id = 0; id < names_count(names); id++)
        any |= is_wait[id] = host_blocks_until_ready(names_text(names, id));
    if (any)
        find_xla_waits(threads, is_wait, &waits);
    for (uint32_t t = 0; t < threads->maker->graph->thread_count && waits.count; t++) {
        const struct intervals *own = &threads->bursts[t];
        add_bursts(threads, t);
        for (size_t b = 0; b < own->count; b++)
            cut_at_wait(threads, &waits, t, b ? own->at[b - 1].end_ns : INT64_MIN, own->at[b].start_ns);
    }
    for (uint32_t f = 0; f < threads->trace->file_count && any; f++)
        intervals_release(&waits.waiting[f]);
    for (track_id t = 0; t < threads->trace->track_count && any; t++)
        intervals_release(&waits.in_functions[t]);
    VEC_FREE(&waits);
    EACH(free, waits.in_functions, waits.waiting, is_wait);
}

/* Of those at one time the latest first: it is the one that may bind. Of alike ones that of the first link, by other thread. */
static const struct key handovers_by_time[] = { ASC(struct handover, thread), ASC(struct handover, to_ns),
                                                DESC(struct handover, from_ns), KEY_END };

static void add_handover_edges(struct threads *threads, struct handovers *handovers)
{
    const struct replay_graph *graph = threads->maker->graph;
    size_t *near_from = mem_zalloc(graph->thread_count + 1, sizeof *near_from), near_to = 0;
    SORT(handovers, handovers_by_time); /* mostly they are */
    for (size_t i = 0; i < handovers->count; i++) {
        const struct handover *one = &handovers->at[i];
        bool first =
            i == 0 || handovers->at[i - 1].thread != one->thread || handovers->at[i - 1].to_ns != one->to_ns;
        moment_id from = replay_moment_near(graph, one->other, one->from_ns, &near_from[one->other]),
                  to = replay_moment_near(graph, one->thread, one->to_ns, &near_to);
        graph_add_edge(threads->maker, from, to, RELATION_HANDOVER, first && one->later);
    }
    free(near_from);
}

/* ---- moments ---- */

static void open_span(struct threads *threads, event_id e)
{
    *VEC_PUSH(&threads->open) = (struct open_span){ e, threads_end_of(threads, e) };
}

/* Take the spans that have ended by NS from the top of the stack. */
static void close_spans(struct threads *threads, int64_t ns)
{
    while (threads->open.count && threads->open.at[threads->open.count - 1].end_ns <= ns)
        threads->open.count--;
}

/* The ends of a thread's spans, ascending. */
static void sort_ends(struct threads *threads, const struct calltree_thread *thread)
{
    bool sorted = true;
    threads->ends.count = 0;
    VEC_RESERVE(&threads->ends, thread->count);
    for (node_id n = thread->first; n <= thread->first + thread->count; n++) {
        bool last = n == thread->first + thread->count;
        int64_t ns = last ? INT64_MAX : threads_start_of(threads, threads->spans->event[n]);
        while (threads->open.count) {
            int64_t end_ns = threads->open.at[threads->open.count - 1].end_ns;
            if (end_ns > ns)
                break;
            if (threads->ends.count && threads->ends.at[threads->ends.count - 1] > end_ns)
                sorted = false;
            *VEC_PUSH(&threads->ends) = end_ns;
            threads->open.count--;
        }
        if (!last)
            open_span(threads, threads->spans->event[n]);
    }
    if (!sorted)
        SORT_NUMBERS(threads->ends.at, threads->ends.count);
}

static void threads_add_time(struct threads *threads, size_t first, int64_t ns)
{
    size_t count = threads->moment_count;
    if (count == first || moment_times_get(threads->times, (moment_id)count - 1) != ns)
        moment_times_set(threads->times, (moment_id)threads->moment_count++, ns);
}

/* The moments of the thread at INDEX, whose spans may overlap without nesting: its starts, ends and cuts, merged. *CUT is the first of
 * them not yet taken. */
static void add_times(struct threads *threads, size_t index, size_t *cut)
{
    const struct calltree_thread *thread = &threads->spans->threads[index];
    size_t first = threads->moment_count, end = 0;
    node_id start = thread->first;
    sort_ends(threads, thread);
    for (;;) {
        int64_t start_ns = start < thread->first + thread->count
                               ? threads_start_of(threads, threads->spans->event[start])
                               : INT64_MAX;
        int64_t end_ns = end < threads->ends.count ? threads->ends.at[end] : INT64_MAX;
        bool has_cut = *cut < threads->cuts.count && threads->cuts.at[*cut].thread == index;
        int64_t cut_ns = has_cut ? threads->cuts.at[*cut].time_ns : INT64_MAX;
        if (has_cut && cut_ns <= start_ns && cut_ns <= end_ns) {
            threads_add_time(threads, first, cut_ns);
            ++*cut;
        } else if (start < thread->first + thread->count && start_ns <= end_ns) {
            threads_add_time(threads, first, start_ns);
            start++;
        } else if (end < threads->ends.count) {
            threads_add_time(threads, first, end_ns);
            end++;
        } else {
            break;
        }
    }
    struct replay_thread *own = &threads->maker->graph->threads[index];
    own->first = (moment_id)first;
    own->count = (uint32_t)(threads->moment_count - first);
}

/* To which span each piece of the thread at INDEX belongs. */
static void add_pieces(struct threads *threads, size_t index)
{
    const struct calltree_thread *thread = &threads->spans->threads[index];
    const struct replay_graph *graph = threads->maker->graph;
    const struct replay_thread *own = &graph->threads[index];
    node_id next = thread->first;
    threads->open.count = 0;
    for (moment_id m = own->first; m < own->first + own->count; m++) {
        graph->inner[m] = threads->open.count ? threads->open.at[threads->open.count - 1].event : EVENT_NONE;
        int64_t ns = moment_times_get(threads->times, m);
        for (; next < thread->first + thread->count; next++) {
            event_id e = threads->spans->event[next];
            if (threads_start_of(threads, e) > ns)
                break;
            if (trace_dur_ns(threads->trace, e) > 0)
                open_span(threads, e);
        }
        close_spans(threads, ns);
    }
}

/* A moment at NS, unless the last one is: the piece that leads to it is of the innermost span. FIRST: of its thread. */
static void add_nested(struct threads *threads, size_t first, int64_t ns)
{
    size_t m = threads->moment_count;
    if (m > first && threads->last_ns == ns)
        return;
    threads->last_ns = ns;
    threads->maker->graph->inner[m] =
        threads->open.count ? threads->open.at[threads->open.count - 1].event : EVENT_NONE;
    moment_times_set(threads->times, (moment_id)threads->moment_count++, ns);
}

/* The ends and cuts up to NS; *CUT is the first cut not yet taken of those before CUT_END. */
static void add_nested_until(struct threads *threads, size_t first, size_t *cut, size_t cut_end, int64_t ns)
{
    for (;;) {
        int64_t end_ns = threads->open.count ? threads->open.at[threads->open.count - 1].end_ns : INT64_MAX;
        int64_t cut_ns = *cut < cut_end ? threads->cuts.at[*cut].time_ns : INT64_MAX;
        bool is_cut = *cut < cut_end && cut_ns <= end_ns;
        if ((is_cut ? cut_ns : end_ns) > ns || (!is_cut && threads->open.count == 0))
            return;
        add_nested(threads, first, is_cut ? cut_ns : end_ns);
        if (is_cut)
            ++*cut;
        close_spans(threads, is_cut ? cut_ns : end_ns);
    }
}

/* The moments of the thread at INDEX and their pieces in one pass, as its spans nest, so that the one on top of the stack ends first. False,
 * and all is as it was: they do not. */
static bool add_nested_moments(struct threads *threads, size_t index, size_t *cut)
{
    const struct calltree_thread *thread = &threads->spans->threads[index];
    const struct trace *trace = threads->trace;
    struct replay_graph *graph = threads->maker->graph;
    int64_t shift_ns = graph->shift_ns[trace->tracks[thread->track].file];
    size_t first = threads->moment_count, first_cut = *cut, cut_end = first_cut;
    while (cut_end < threads->cuts.count && threads->cuts.at[cut_end].thread == index)
        cut_end++;
    threads->open.count = 0;
    for (node_id n = thread->first; n < thread->first + thread->count; n++) {
        event_id e = threads->spans->event[n];
        int64_t start_ns = trace_start_ns(trace, e) + shift_ns, dur_ns = trace_dur_ns(trace, e), end_ns;
        if (__builtin_add_overflow(start_ns, dur_ns, &end_ns))
            end_ns = INT64_MAX;
        add_nested_until(threads, first, cut, cut_end, start_ns);
        if (threads->open.count && threads->open.at[threads->open.count - 1].end_ns < end_ns) {
            threads->moment_count = first;
            *cut = first_cut;
            return false;
        }
        add_nested(threads, first, start_ns);
        if (dur_ns > 0)
            *VEC_PUSH(&threads->open) = (struct open_span){ e, end_ns };
    }
    add_nested_until(threads, first, cut, cut_end, INT64_MAX);
    graph->threads[index].first = (moment_id)first;
    graph->threads[index].count = (uint32_t)(threads->moment_count - first);
    return true;
}

void graph_add_threads(struct graph_maker *maker)
{
    struct replay_graph *graph = maker->graph;
    struct threads threads = { .maker = maker, .trace = graph->trace };
    find_marks(&threads);
    find_programs(&threads);
    threads.spans = calltree_open(graph->trace, is_span, &threads);
    calltree_forget_parents(threads.spans);
    add_threads(&threads);
    cut_at_annotations(&threads);
    sort_cuts(&threads);
    struct thread_links *links = thread_links_open(graph);
    struct handovers handovers = { 0 }, turns = { 0 };
    find_bursts(&threads, links);
    find_handovers(&threads, links, &handovers);
    find_turns(&threads, links, &turns);
    find_ready_waits(&threads);
    forget_bursts(&threads);
    arena_free(links);
    sort_cuts(&threads);

    size_t cut = 0;
    threads.times = &graph->times;
    size_t most = 2 * threads.spans->count + threads.cuts.count;
    moment_times_resize(threads.times, most);
    graph->inner = mem_alloc(mem_times(most + 1, sizeof *graph->inner));
    for (size_t i = 0; i < graph->thread_count; i++) {
        if (add_nested_moments(&threads, i, &cut))
            continue;
        add_times(&threads, i, &cut);
        add_pieces(&threads, i);
    }
    moment_times_resize(threads.times, threads.moment_count);
    graph->host_count = threads.moment_count;
    graph->inner = mem_realloc(graph->inner, mem_times(graph->host_count + 1, sizeof *graph->inner));
    EACH(VEC_FREE, &threads.cuts, &threads.ends, &threads.open);
    add_handover_edges(&threads, &handovers);
    VEC_FREE(&handovers);
    add_turn_edges(&threads, &turns);
    VEC_FREE(&turns);
    arena_free(threads.spans);
    EACH(free, threads.program, threads.any_event, threads.is_mark);
}
