/*
 * Where the nodes of graphs have numbers, a replay lacks the nodes that other replays of its graph have.
 *
 * Else replays on one stream are judged, as their nodes follow one another closely. A long sequence of names that recurs is
 * whole. Another lacks work where it has holes that the missing work would fill: kernels A and B are neighbours with a hole
 * between them, and elsewhere the nodes between A and B take about as long (not if A and B are close neighbours somewhere: a
 * graph has them so, and the hole has another reason); or the replay is a subsequence of another, and idles longer than
 * that by about the time of the nodes that it does not have, as do the others of its sequence.
 */
#include "trace/partial_replays.h"

#include "base/rows.h"
#include "trace/arg_scan.h"
#include <assert.h>

/* A hole is at least so long, and so many times the median distance of neighbours. */
#define LEAST_HOLE_NS INT64_C(2000)
enum { LEAST_HOLE_MEDIANS = 3 };

/* So many nodes may be missing in a hole. */
enum { MOST_MISSING = 16 };

/* A sequence in which the name changes so often is whole if it recurs: chance does not lose the same of so many nodes. */
enum { WHOLE_CHANGES = 8 };

/* A replay is compared with so many before it and so many behind it. */
enum { COMPARED = 16 };

/* The work of FILE that graphs launched. */
struct replays {
    const struct trace *trace;
    const struct trace_file *file;
    replay_check *is_replay;
    const void *context;
};

/* ---- what replays have in common ---- */

/* Work of one replay that stands beside one another in the file; or all of it. */
struct replay_run {
    int64_t call, graph;      /* number of its call; graph -1: nodes have no numbers */
    uint64_t sequence, power; /* hash of its names; the power of HASH_BASE that appends them to others */
    event_id first;
    uint32_t count, changes; /* of work; of the name */
};

#define HASH_BASE UINT64_C(0x9e3779b97f4a7c15)

struct replay_runs {
    VEC_OF(struct replay_run);
};

static void run_add(struct replay_run *run, name_id name, bool changes)
{
    run->sequence = run->sequence * HASH_BASE + name + 1;
    run->power *= HASH_BASE;
    run->changes += changes;
    run->count++;
}

static void collect_runs(const struct replays *replays, struct replay_runs *runs)
{
    const struct trace *trace = replays->trace;
    struct arg_scan correlations = arg_scan_of(trace, ARG_CORRELATION);
    int64_t last = 0;
    name_id last_name = NAME_NONE;
    bool is_replay = false;
    for (event_id e = replays->file->first_event; e < replays->file->first_event + replays->file->event_count;
         e++) {
        int64_t number;
        if (!event_is_gpu_work(trace->kind[e]) || !arg_scan_get(&correlations, e, &number))
            continue;
        if (number != last) {
            is_replay = replays->is_replay(replays->context, number);
            last = number;
            last_name = NAME_NONE;
            int64_t graph;
            if (is_replay)
                *VEC_PUSH(runs) = (struct replay_run){
                    number,
                    trace_arg(trace, ARG_GRAPH_NODE_ID, e, &graph) ? trace_arg_or(trace, ARG_GRAPH_ID, e, -1) : -1,
                    0,
                    1,
                    e,
                    0,
                    0
                };
        }
        if (is_replay)
            run_add(&runs->at[runs->count - 1], trace->name[e], trace->name[e] != last_name);
        last_name = trace->name[e];
    }
}

/* Join the runs of each call, and sort them by graph and sequence. */
static void join_runs(struct replay_runs *runs)
{
    static const struct key by_call[] = { ASC(struct replay_run, call), ASC(struct replay_run, first),
                                          KEY_END },
                            by_graph[] = { ASC(struct replay_run, graph), ASC(struct replay_run, sequence),
                                           KEY_END };
    size_t count = 0;
    bool sorted = ALL_FROM(i, 1, runs->count, runs->at[i].call >= runs->at[i - 1].call);
    if (!sorted)
        SORT(runs, by_call);
    for (size_t i = 0; i < runs->count; i++) {
        struct replay_run *to = &runs->at[count - (count > 0)], from = runs->at[i];
        if (count == 0 || to->call != from.call) {
            runs->at[count++] = from;
            continue;
        }
        to->sequence = to->sequence * from.power + from.sequence;
        to->count += from.count;
        to->changes += from.changes;
        to->graph = to->graph == from.graph ? to->graph : -1;
    }
    runs->count = count;
    SORT(runs, by_graph);
}

/* Has each replay whose nodes have numbers as much work as the others of its graph? */
static bool counts_are_equal(const struct replay_runs *runs)
{
    return !ANY_FROM(i, 1, runs->count,
                     runs->at[i].graph >= 0 && runs->at[i].graph == runs->at[i - 1].graph &&
                         runs->at[i].count != runs->at[i - 1].count);
}

/* Has each other replay a sequence that recurs and is whole? */
static bool sequences_recur(const struct replay_runs *runs)
{
    for (size_t i = 0; i < runs->count && runs->at[i].graph < 0; i++) {
        const struct replay_run *run = &runs->at[i];
        bool recurs = (i > 0 && run[-1].sequence == run->sequence) ||
                      (i + 1 < runs->count && run[1].graph < 0 && run[1].sequence == run->sequence);
        if (run->changes < WHOLE_CHANGES || !recurs)
            return false;
    }
    return true;
}

/* ---- a look at the names ---- */

/* The sequences of names of the replays whose nodes have no numbers, one after the other. */
struct sequences {
    VEC_OF(name_id) names;
    VEC_OF(size_t) ends;
};

/* More sequences, or names in them, are not compared by names alone. */
enum { MOST_SEQUENCES = 64, MOST_NAMES = 2048 };

static void add_sequence(const struct replays *replays, const struct replay_run *run,
                         struct sequences *sequences)
{
    const struct trace *trace = replays->trace;
    uint32_t left = run->count;
    for (event_id e = run->first; left > 0; e++) {
        int64_t number;
        if (!event_is_gpu_work(trace->kind[e]) || !trace_arg(trace, ARG_CORRELATION, e, &number) ||
            number != run->call)
            continue;
        *VEC_PUSH(&sequences->names) = trace->name[e];
        left--;
    }
    *VEC_PUSH(&sequences->ends) = sequences->names.count;
}

/* Does B follow A in any sequence, with other names between them? */
static bool are_apart(const struct sequences *sequences, name_id a, name_id b)
{
    for (size_t s = 0, first = 0; s < sequences->ends.count; first = sequences->ends.at[s++])
        for (size_t i = first; i < sequences->ends.at[s]; i++)
            for (size_t k = i + 2;
                 sequences->names.at[i] == a && k < sequences->ends.at[s] && k <= i + 1 + MOST_MISSING; k++)
                if (sequences->names.at[k] == b)
                    return true;
    return false;
}

/* May a sequence be another without some of its names? Only if two neighbours are further apart elsewhere, or if it repeats a name. */
static bool may_lack_names(const struct sequences *sequences)
{
    for (size_t s = 0, first = 0; s < sequences->ends.count; first = sequences->ends.at[s++])
        for (size_t i = first + 1; i < sequences->ends.at[s]; i++)
            if (sequences->names.at[i] == sequences->names.at[i - 1] ||
                are_apart(sequences, sequences->names.at[i - 1], sequences->names.at[i]))
                return true;
    return false;
}

/* Can it be told by the names alone that no replay without numbers of nodes lacks any? RUNS: by sequence. */
static bool names_are_whole(const struct replays *replays, const struct replay_runs *runs)
{
    struct sequences sequences = { 0 };
    bool fits = true;
    for (size_t i = 0; i < runs->count && fits; i++) {
        const struct replay_run *run = &runs->at[i];
        if (run->graph >= 0 || (i > 0 && run->graph == run[-1].graph && run->sequence == run[-1].sequence))
            continue;
        fits = sequences.ends.count < MOST_SEQUENCES && sequences.names.count + run->count <= MOST_NAMES;
        if (fits)
            add_sequence(replays, run, &sequences);
    }
    bool whole = fits && (sequences.ends.count <= 1 || !may_lack_names(&sequences));
    EACH(VEC_FREE, &sequences.names, &sequences.ends);
    return whole;
}

/* ---- by the numbers of nodes ---- */

struct replay_node {
    int64_t graph, call, node;
};

struct replay_nodes {
    VEC_OF(struct replay_node);
};

/* Work of a replay whose nodes have no numbers. */
struct replay_work {
    int64_t call;
    int64_t start_ns, end_ns;
    track_id track;
    name_id name;
    bool is_kernel;
};

struct replay_works {
    VEC_OF(struct replay_work);
};

static void collect_replay_work(const struct replays *replays, struct replay_nodes *nodes,
                                struct replay_works *work)
{
    const struct trace *trace = replays->trace;
    struct arg_scan correlations = arg_scan_of(trace, ARG_CORRELATION),
                    graphs = arg_scan_of(trace, ARG_GRAPH_ID),
                    numbers = arg_scan_of(trace, ARG_GRAPH_NODE_ID);
    for (event_id e = replays->file->first_event; e < replays->file->first_event + replays->file->event_count;
         e++) {
        int64_t call, graph, node;
        if (!event_is_gpu_work(trace->kind[e]) || !arg_scan_get(&correlations, e, &call) ||
            !replays->is_replay(replays->context, call))
            continue;
        if (arg_scan_get(&graphs, e, &graph) && arg_scan_get(&numbers, e, &node))
            *VEC_PUSH(nodes) = (struct replay_node){ graph, call, node };
        else
            *VEC_PUSH(work) = (struct replay_work){
                call,           trace_start_ns(trace, e),      trace_end_ns(trace, e), trace->track[e],
                trace->name[e], trace->kind[e] == EVENT_KERNEL
            };
    }
}

static uint64_t count_by_numbers(struct replay_nodes *nodes)
{
    static const struct key by_graph[] = { ASC(struct replay_node, graph), KEY_END },
                            by_node[] = { ASC(struct replay_node, graph), ASC(struct replay_node, node),
                                          KEY_END },
                            by_call[] = { ASC(struct replay_node, graph), ASC(struct replay_node, call),
                                          KEY_END },
                            by_all[] = { ASC(struct replay_node, graph), ASC(struct replay_node, call),
                                         ASC(struct replay_node, node), KEY_END };
    struct graph_size {
        int64_t graph;
        size_t nodes;
    };
    SCOPED VEC_OF(struct graph_size) graphs = { 0 };
    uint64_t partial = 0;
    size_t graph = 0, size = sizeof *nodes->at;
    SORT(nodes, by_node);
    FOR_GROUPS(nodes, by_graph, first, end)
        *VEC_PUSH(&graphs) =
            (struct graph_size){ nodes->at[first].graph,
                                 rows_count_groups(&nodes->at[first], end - first, size, by_node) };
    SORT(nodes, by_all);
    FOR_GROUPS(nodes, by_call, first, end) {
        graph += nodes->at[first].graph != graphs.at[graph].graph;
        partial += rows_count_groups(&nodes->at[first], end - first, size, by_all) < graphs.at[graph].nodes;
    }
    return partial;
}

/* ---- by holes ---- */

struct replay {
    size_t first, end;        /* of its work */
    uint64_t sequence;        /* hash of the names */
    size_t changes;           /* of the name */
    int64_t busy_ns, span_ns; /* sum of its work; from its begin to its end */
    bool is_sequential;       /* all on one stream, one after another */
    bool is_whole;
};

/* Kernels that are neighbours with a hole between them somewhere. */
struct hole_pair {
    name_id before, behind;
    int64_t closest_ns;              /* least distance of neighbours */
    int64_t shortest_ns, longest_ns; /* distance where other nodes fill it; INT64_MAX and 0: nowhere */
};

struct hole_search {
    const struct replay_work *work; /* by call, by start */
    size_t count;
    int64_t least_ns; /* of a hole */
    VEC_OF(struct replay) replays;
    VEC_OF(struct hole_pair) pairs; /* by names */
};

static const struct key by_names[] = { ASC(struct hole_pair, before), ASC(struct hole_pair, behind),
                                       KEY_END };

static void sort_work(struct replay_works *work)
{
    static const struct key by_call[] = { ASC(struct replay_work, call), ASC(struct replay_work, start_ns),
                                          KEY_END };
    const struct replay_work *at = work->at;
    for (size_t i = 1; i < work->count; i++)
        if (at[i].call < at[i - 1].call ||
            (at[i].call == at[i - 1].call && at[i].start_ns < at[i - 1].start_ns)) {
            SORT(work, by_call);
            return;
        }
}

static struct replay describe_replay(const struct hole_search *search, size_t first)
{
    const struct replay_work *at = search->work;
    struct replay replay = { .first = first, .end = first, .is_sequential = true };
    for (; replay.end < search->count && at[replay.end].call == at[first].call; replay.end++) {
        const struct replay_work *work = &at[replay.end];
        replay.is_sequential &= work->track == at[first].track;
        replay.sequence = replay.sequence * HASH_BASE + work->name + 1;
        replay.changes += replay.end == first || work->name != work[-1].name;
        replay.busy_ns += work->end_ns - work->start_ns;
        replay.span_ns = work->end_ns - at[first].start_ns;
    }
    return replay;
}

/* Find the replays, and which sequences recur. */
static void find_replays(struct hole_search *search)
{
    static const struct key ascending[] = { { ROWS_U64, 0, false }, KEY_END };
    SCOPED VEC_OF(uint64_t) sequences = { 0 };
    for (size_t first = 0; first < search->count; first = search->replays.at[search->replays.count - 1].end)
        *VEC_PUSH(&search->replays) = describe_replay(search, first);
    for (size_t i = 0; i < search->replays.count; i++)
        *VEC_PUSH(&sequences) = search->replays.at[i].sequence;
    SORT(&sequences, ascending);
    FOR_EACH(replay, &search->replays) {
        const uint64_t *found =
            rows_find(sequences.at, sequences.count, sizeof *found, ascending, &replay->sequence);
        replay->is_whole = replay->changes >= WHOLE_CHANGES && found + 1 < sequences.at + sequences.count &&
                           found[1] == found[0];
    }
}

/* Distance of work I from the work before it. */
static int64_t distance_ns(const struct hole_search *search, size_t i)
{
    return search->work[i].start_ns - search->work[i - 1].end_ns;
}

/* Is there a hole between kernel I and the kernel before it? */
static bool is_hole(const struct hole_search *search, size_t i)
{
    return distance_ns(search, i) >= search->least_ns && search->work[i].is_kernel &&
           search->work[i - 1].is_kernel;
}

/* Decide from the distances of some neighbours how long a hole is. */
static void measure_distances(struct hole_search *search)
{
    enum { SOME = 1000 };
    int64_t distances_ns[SOME];
    size_t step = search->count / SOME + 1, count = 0;
    for (size_t i = 1; i < search->count && count < SOME; i += step)
        if (search->work[i].call == search->work[i - 1].call &&
            search->work[i].track == search->work[i - 1].track)
            distances_ns[count++] = distance_ns(search, i);
    search->least_ns = LEAST_HOLE_NS;
    if (count == 0)
        return;
    SORT_NUMBERS(distances_ns, count);
    if (distances_ns[count / 2] > LEAST_HOLE_NS / LEAST_HOLE_MEDIANS)
        search->least_ns = distances_ns[count / 2] * LEAST_HOLE_MEDIANS;
}

static void collect_pairs(struct hole_search *search)
{
    FOR_EACH(replay, &search->replays) {
        for (size_t i = replay->first + 1; i < replay->end && replay->is_sequential && !replay->is_whole; i++)
            if (is_hole(search, i))
                *VEC_PUSH(&search->pairs) =
                    (struct hole_pair){ search->work[i - 1].name, search->work[i].name, INT64_MAX, INT64_MAX,
                                        0 };
    }
    SORT(&search->pairs, by_names);
    search->pairs.count =
        rows_unique(search->pairs.at, search->pairs.count, sizeof *search->pairs.at, by_names);
}

static struct hole_pair *find_pair(const struct hole_search *search, name_id before, name_id behind)
{
    struct hole_pair wanted = { .before = before, .behind = behind };
    return rows_find(search->pairs.at, search->pairs.count, sizeof wanted, by_names, &wanted);
}

/* Update the pairs that work I begins, from the work behind it up to END or to a hole. */
static void measure_pairs_from(struct hole_search *search, size_t i, size_t end)
{
    for (size_t k = i + 1; k < end && k <= i + 1 + MOST_MISSING; k++) {
        bool is_next = k == i + 1, has_hole = distance_ns(search, k) >= search->least_ns;
        int64_t apart_ns = search->work[k].start_ns - search->work[i].end_ns;
        struct hole_pair *pair = find_pair(search, search->work[i].name, search->work[k].name);
        if (pair && is_next) {
            pair->closest_ns = apart_ns < pair->closest_ns ? apart_ns : pair->closest_ns;
        } else if (pair && !has_hole) {
            pair->shortest_ns = apart_ns < pair->shortest_ns ? apart_ns : pair->shortest_ns;
            pair->longest_ns = apart_ns > pair->longest_ns ? apart_ns : pair->longest_ns;
        }
        if (has_hole)
            return;
    }
}

static void measure_pairs(struct hole_search *search)
{
    assert(search->pairs.count > 0 && search->pairs.at);
    name_id most = search->pairs.at[search->pairs.count - 1].before;
    SCOPED bool *begins_pair = mem_zalloc((size_t)most + 1, sizeof *begins_pair);
    for (size_t i = 0; i < search->pairs.count; i++)
        begins_pair[search->pairs.at[i].before] = true;
    FOR_EACH(replay, &search->replays) {
        for (size_t i = replay->first; i < replay->end && replay->is_sequential; i++)
            if (search->work[i].name <= most && begins_pair[search->work[i].name])
                measure_pairs_from(search, i, replay->end);
    }
}

/* Did other nodes run in a hole of REPLAY, by what lies between the same kernels elsewhere? */
static bool has_filled_hole(const struct hole_search *search, const struct replay *replay)
{
    for (size_t i = replay->first + 1; i < replay->end; i++) {
        const struct hole_pair *pair =
            is_hole(search, i) ? find_pair(search, search->work[i - 1].name, search->work[i].name) : NULL;
        if (pair && pair->longest_ns > 0 && pair->closest_ns >= pair->shortest_ns / 2 &&
            distance_ns(search, i) <= 2 * pair->longest_ns)
            return true;
    }
    return false;
}

static int64_t idle_time(const struct replay *replay)
{
    return replay->span_ns - replay->busy_ns;
}

/* Is REPLAY a subsequence of OTHER, and idles longer by about the time of what it lacks? */
static bool lacks_nodes_of(const struct hole_search *search, const struct replay *replay,
                           const struct replay *other)
{
    int64_t missing_ns = 0, idle_ns = idle_time(replay) - idle_time(other);
    size_t next = replay->first;
    if (!other->is_sequential || other->end - other->first <= replay->end - replay->first ||
        idle_ns < search->least_ns)
        return false;
    for (size_t i = other->first; i < other->end; i++)
        if (next < replay->end && search->work[i].name == search->work[next].name)
            next++;
        else
            missing_ns += search->work[i].end_ns - search->work[i].start_ns;
    return next == replay->end && idle_ns >= missing_ns / 2 && idle_ns <= 2 * missing_ns;
}

/* Does the replay at R lack nodes of one before or behind it, and none of the same sequence idles less? */
static bool lacks_nodes_of_any(const struct hole_search *search, size_t r)
{
    const struct replay *replay = &search->replays.at[r];
    size_t first = r > COMPARED ? r - COMPARED : 0, end = r + COMPARED + 1;
    bool lacks = false;
    for (size_t i = first; i < end && i < search->replays.count; i++) {
        const struct replay *other = &search->replays.at[i];
        if (other->sequence == replay->sequence && other->is_sequential &&
            idle_time(other) + search->least_ns <= idle_time(replay))
            return false;
        lacks = lacks || lacks_nodes_of(search, replay, other);
    }
    return lacks;
}

static uint64_t count_by_holes(struct replay_works *work)
{
    struct hole_search search = { .count = work->count };
    uint64_t partial = 0;
    sort_work(work);
    search.work = work->at;
    find_replays(&search);
    measure_distances(&search);
    collect_pairs(&search);
    if (search.pairs.count)
        measure_pairs(&search);
    for (size_t r = 0; r < search.replays.count && search.pairs.count; r++) {
        const struct replay *replay = &search.replays.at[r];
        partial += replay->is_sequential && !replay->is_whole &&
                   (has_filled_hole(&search, replay) || lacks_nodes_of_any(&search, r));
    }
    EACH(VEC_FREE, &search.replays, &search.pairs);
    return partial;
}

uint64_t partial_replays_count(const struct trace *trace, const struct trace_file *file,
                               replay_check *is_replay, const void *context)
{
    const struct replays replays = { trace, file, is_replay, context };
    SCOPED struct replay_runs runs = { 0 };
    SCOPED struct replay_nodes nodes = { 0 };
    SCOPED struct replay_works work = { 0 };
    uint64_t partial = 0;
    collect_runs(&replays, &runs);
    join_runs(&runs);
    if (!counts_are_equal(&runs) || !(sequences_recur(&runs) || names_are_whole(&replays, &runs))) {
        collect_replay_work(&replays, &nodes, &work);
        partial = count_by_numbers(&nodes) + count_by_holes(&work);
    }
    return partial;
}
