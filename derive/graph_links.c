/* Replays whose operations have the same names, stream by stream, are one kind; bodies likewise. Kinds are matched
 * once, so that a thousand replays of a graph cost little more than reading them. */
#include "derive/code_paths.h"

#include "base/lcs.h"
#include "base/quantity.h"
#include "base/rows.h"
#include "base/search.h"
#include "trace/derived.h"
#include <inttypes.h>

/* Sequences that differ in more are not matched, as the result would be unreliable. */
enum { MOST_EDITS = 8000 };

#define NO_LAUNCH UINT32_MAX

/* Work of a graph. */
struct replayed {
    event_id call, work;
    track_id track;
};

/* The operations of one stream of a replay, or of all streams if TRACK is unused. */
struct part {
    size_t first, count; /* in matching->operations */
};

struct replay {
    size_t first, count; /* in matching->operations: stream after stream, each by start */
    int64_t graph_id;    /* -1: not recorded */
    uint32_t sort;
};

/* The match of a kind of replays with the bodies that fit them best. */
struct sort {
    size_t replay;         /* the first replay of the kind */
    size_t by_node;        /* operations of each that are matched by their nodes */
    size_t matched;        /* launches of each of the best bodies that match */
    VEC_OF(uint32_t) best; /* kinds of bodies that match equally well */
    bool by_place;
    uint32_t *launch_of; /* by work of the replay: place in the current body */
    uint32_t known_body; /* kind of body that launch_of is for; UINT32_MAX: none */
};

struct matching {
    const struct trace *trace;
    struct graph_links *links;
    VEC_OF(struct replayed) operations;
    VEC_OF(uint32_t) names; /* by work */
    uint32_t *by_node;      /* by work: place in bodies->launches of its node; NO_LAUNCH */
    VEC_OF(struct replay) replays;
    VEC_OF(struct sort) sorts;
    struct names *sort_keys, *body_keys, *ids;
    uint32_t *body_sort;         /* by body */
    VEC_OF(uint32_t) first_body; /* by kind of body: the first of its bodies */
    VEC_OF(uint32_t) body_of_id; /* by graph id: 1 + its body */
    size_t last_body;            /* the body used last; SIZE_MAX: none yet */
};

/* ---- replays ---- */

static const struct key by_call_track[] = { ASC(struct replayed, call), ASC(struct replayed, track),
                                            KEY_END };

static void find_operations(struct matching *matching)
{
    const struct trace *trace = matching->trace;
    const struct attribution *launches = attribution_of(trace);
    uint8_t *is_graph = mem_zalloc(names_count(trace->names) + 1, 1);
    for (name_id id = 0; id < names_count(trace->names); id++)
        is_graph[id] = attribution_is_graph_launch(names_text(trace->names, id));
    for (event_id e = 0; e < trace->event_count; e++) {
        event_id call = event_is_gpu_work(trace->kind[e]) ? attribution_call(launches, e) : EVENT_NONE;
        if (call == EVENT_NONE || !is_graph[trace->name[call]])
            continue;
        *VEC_PUSH(&matching->operations) = (struct replayed){ call, e, trace->track[e] };
        matching->links->launch_of[e] = 1;
        matching->links->operations++;
        matching->links->operations_ns += trace_dur_ns(trace, e);
    }
    free(is_graph);
    struct replayed *at = matching->operations.at;
    SORT_BY(at, matching->operations.count, i, trace_start_ns(trace, at[i].work));
    SORT(&matching->operations, by_call_track);
    SORT_BY(at, matching->operations.count, i, trace_start_ns(trace, at[i].call));
}

/* The number of operations of REPLAY that are matched by their nodes. */
static size_t count_by_node(const struct matching *matching, const struct replay *replay)
{
    size_t count = 0;
    for (size_t i = replay->first; i < replay->first + replay->count; i++)
        count += matching->by_node[i] != NO_LAUNCH;
    return count;
}

/* The kind of REPLAY: replays with the same names on as many streams, and the same known nodes, are of one kind. */
static uint32_t sort_of(struct matching *matching, const struct replay *replay)
{
    SCOPED VEC_OF(uint32_t) key = { 0 };
    bool has_nodes = count_by_node(matching, replay) > 0;
    for (size_t i = replay->first; i < replay->first + replay->count; i++) {
        bool next_stream =
            i > replay->first && matching->operations.at[i].track != matching->operations.at[i - 1].track;
        if (next_stream)
            *VEC_PUSH(&key) = LCS_NOTHING;
        *VEC_PUSH(&key) = matching->names.at[i];
        if (has_nodes)
            *VEC_PUSH(&key) = matching->by_node[i];
    }
    return names_add(matching->sort_keys, (const char *)key.at, key.count * sizeof *key.at);
}

static void name_operations(struct matching *matching)
{
    const struct trace *trace = matching->trace;
    SCOPED uint32_t *known =
        mem_alloc(mem_times(names_count(trace->names) + 1, sizeof *known)); /* of kernels, by name */
    memset(known, 0xff, names_count(trace->names) * sizeof *known);
    for (size_t i = 0; i < matching->operations.count; i++) {
        event_id e = matching->operations.at[i].work;
        uint32_t *name = &known[trace->name[e]];
        if (*name == NAME_NONE)
            *name = graph_work_name(matching->links->bodies, trace->kind[e], trace_name(trace, e));
        *VEC_PUSH(&matching->names) = *name;
    }
}

static void find_replays(struct matching *matching)
{
    const struct trace *trace = matching->trace;
    FOR_RUNS(i, end, matching->operations.count,
             matching->operations.at[end].call == matching->operations.at[i].call) {
        struct replay replay = { i, end - i,
                                 trace_arg_or(trace, ARG_GRAPH_ID, matching->operations.at[i].work, -1), 0 };
        replay.sort = sort_of(matching, &replay);
        if (replay.sort == matching->sorts.count)
            *VEC_PUSH(&matching->sorts) = (struct sort){ .replay = matching->replays.count,
                                                         .by_node = count_by_node(matching, &replay),
                                                         .known_body = UINT32_MAX };
        *VEC_PUSH(&matching->replays) = replay;
    }
    matching->links->replays = matching->replays.count;
}

/* ---- one replay and one body ---- */

/* The streams of REPLAY, that with most operations first. New, free with free(). */
static struct part *parts_of(const struct matching *matching, const struct replay *replay, size_t *count)
{
    VEC_OF(struct part) parts = { 0 };
    size_t end = replay->first + replay->count;
    for (size_t i = replay->first; i < end; i++) {
        if (i == replay->first || matching->operations.at[i].track != matching->operations.at[i - 1].track)
            *VEC_PUSH(&parts) = (struct part){ i, 0 };
        parts.at[parts.count - 1].count++;
    }
    for (size_t i = 1; i < parts.count; i++) { /* a graph has few streams */
        struct part part = parts.at[i];
        size_t j = i;
        for (; j > 0 && parts.at[j - 1].count < part.count; j--)
            parts.at[j] = parts.at[j - 1];
        parts.at[j] = part;
    }
    *count = parts.count;
    return parts.at;
}

static const struct body_launch *launches_of(const struct matching *matching, const struct graph_body *body)
{
    return matching->links->bodies->launches.at + body->first;
}

/* A sequence of names, with the original place of each. */
struct sequence {
    uint32_t *names, *places;
    size_t count;
};

static struct sequence sequence_open(size_t most, struct arena *arena)
{
    return (struct sequence){ .names = arena_alloc(arena, mem_times(most + 1, sizeof(uint32_t))),
                              .places = arena_alloc(arena, mem_times(most + 1, sizeof(uint32_t))) };
}

static void sequence_add(struct sequence *sequence, uint32_t name, size_t place)
{
    sequence->names[sequence->count] = name;
    sequence->places[sequence->count++] = (uint32_t)place;
}

/* The launches of BODY that are not TAKEN; they live as long as ARENA. */
static struct sequence launches_left(const struct matching *matching, const struct graph_body *body,
                                     const bool *taken, struct arena *arena)
{
    const struct body_launch *launches = launches_of(matching, body);
    struct sequence left = sequence_open(body->count, arena);
    for (size_t i = 0; i < body->count; i++)
        if (!taken[i])
            sequence_add(&left, launches[i].name, i);
    return left;
}

/* Match the operations of PART without a node with the launches of BODY that are not TAKEN. */
static size_t match_part(const struct matching *matching, const struct part *part,
                         const struct graph_body *body, size_t first_work, bool *taken, uint32_t *launch_of)
{
    SCOPED_ARENA struct arena scratch = { 0 };
    struct sequence ran = sequence_open(part->count, &scratch),
                    captured = launches_left(matching, body, taken, &scratch);
    for (size_t i = part->first; i < part->first + part->count; i++)
        if (matching->by_node[i] == NO_LAUNCH)
            sequence_add(&ran, matching->names.at[i], i - first_work);
    SCOPED struct lcs_pairs pairs = { 0 };
    size_t matched = 0;
    if (lcs_find(ran.names, ran.count, captured.names, captured.count, MOST_EDITS, &pairs)) {
        for (size_t i = 0; i < pairs.count; i++) {
            uint32_t place = captured.places[pairs.at[i].b];
            launch_of[ran.places[pairs.at[i].a]] = place;
            taken[place] = true;
        }
        matched = pairs.count;
    }
    return matched;
}

/* The launches of BODY that are matched to operations of REPLAY by their nodes. New, by place in the body; free with
 * free(). */
static bool *taken_by_node(const struct matching *matching, const struct replay *replay,
                           const struct graph_body *body)
{
    bool *taken = mem_zalloc(body->count + 1, sizeof *taken);
    for (size_t i = replay->first; i < replay->first + replay->count; i++) {
        size_t launch = matching->by_node[i];
        if (launch != NO_LAUNCH && launch >= body->first && launch < body->first + body->count)
            taken[launch - body->first] = true;
    }
    return taken;
}

/* Match by names: set LAUNCH_OF of the operations of REPLAY. Returns how many matched. */
static size_t match_by_names(const struct matching *matching, const struct replay *replay,
                             const struct graph_body *body, uint32_t *launch_of)
{
    size_t part_count, matched = 0;
    SCOPED struct part *parts = parts_of(matching, replay, &part_count);
    SCOPED bool *taken = taken_by_node(matching, replay, body);
    memset(launch_of, 0xff, replay->count * sizeof *launch_of);
    for (size_t i = 0; i < part_count; i++)
        matched += match_part(matching, &parts[i], body, replay->first, taken, launch_of);
    return matched;
}

/* The operations of REPLAY that have no node, in order of start over all streams; they live as long as
 * ARENA. */
static struct sequence operations_by_start(const struct matching *matching, const struct replay *replay,
                                           struct arena *arena)
{
    struct sequence operations = sequence_open(replay->count, arena);
    for (size_t i = 0; i < replay->count; i++)
        if (matching->by_node[replay->first + i] == NO_LAUNCH)
            operations.places[operations.count++] = (uint32_t)i;
    const struct replayed *at = matching->operations.at + replay->first;
    SORT_BY(operations.places, operations.count, i,
            trace_start_ns(matching->trace, at[operations.places[i]].work));
    for (size_t i = 0; i < operations.count; i++)
        operations.names[i] = matching->names.at[replay->first + operations.places[i]];
    return operations;
}

/* Match by place: only if the numbers of operations are equal, and all known names. */
static size_t match_by_place(const struct matching *matching, const struct replay *replay,
                             const struct graph_body *body, uint32_t *launch_of)
{
    SCOPED bool *taken = taken_by_node(matching, replay, body);
    SCOPED_ARENA struct arena scratch = { 0 };
    struct sequence ran = operations_by_start(matching, replay, &scratch),
                    captured = launches_left(matching, body, taken, &scratch);
    const struct names *names = matching->links->bodies->names;
    uint32_t copy = names_find(names, "copy", 4), memset_name = names_find(names, "memset", 6);
    bool fits = ran.count == captured.count;
    memset(launch_of, 0xff, replay->count * sizeof *launch_of);
    for (size_t i = 0; i < ran.count && fits; i++) {
        bool is_kernel = ran.names[i] != copy && ran.names[i] != memset_name;
        fits = captured.names[i] == LCS_NOTHING ? is_kernel : captured.names[i] == ran.names[i];
        launch_of[ran.places[i]] = captured.places[i];
    }
    return fits ? ran.count : 0;
}

static size_t match(const struct matching *matching, const struct replay *replay,
                    const struct graph_body *body, uint32_t *launch_of)
{
    return body->nameless ? match_by_place(matching, replay, body, launch_of)
                          : match_by_names(matching, replay, body, launch_of);
}

/* ---- choice of a body ---- */

/* Bodies with the same names are one kind. */
static void sort_bodies(struct matching *matching)
{
    const struct graph_bodies *bodies = matching->links->bodies;
    matching->body_sort = mem_alloc(mem_times(bodies->count + 1, sizeof *matching->body_sort));
    SCOPED VEC_OF(uint32_t) key = { 0 };
    for (uint32_t b = 0; b < bodies->count; b++) {
        key.count = 0;
        for (size_t i = 0; i < bodies->at[b].count; i++)
            *VEC_PUSH(&key) = bodies->launches.at[bodies->at[b].first + i].name;
        matching->body_sort[b] =
            names_add(matching->body_keys, (const char *)key.at, key.count * sizeof *key.at);
        if (matching->body_sort[b] == matching->first_body.count)
            *VEC_PUSH(&matching->first_body) = b;
    }
}

static size_t apart(size_t a, size_t b)
{
    return a > b ? a - b : b - a;
}

/* The body of the nodes of REPLAY; if there are several, that of the first node. */
static uint32_t body_of_nodes(const struct matching *matching, const struct replay *replay)
{
    const struct graph_bodies *bodies = matching->links->bodies;
    size_t i = replay->first;
    while (matching->by_node[i] == NO_LAUNCH)
        i++;
    uint32_t body = 0;
    SEARCH(body, bodies->count, bodies->at[body].first <= matching->by_node[i]);
    return body - 1;
}

/* Find the kinds of bodies that match SORT best: the most operations, then the closest length. */
static void find_best(struct matching *matching, struct sort *sort)
{
    const struct graph_bodies *bodies = matching->links->bodies;
    const struct replay *replay = &matching->replays.at[sort->replay];
    size_t nearest = 0;
    for (uint32_t s = 0; s < matching->first_body.count; s++) {
        const struct graph_body *body = &bodies->at[matching->first_body.at[s]];
        size_t most = body->count < replay->count ? body->count : replay->count;
        if (most < sort->matched || most == 0)
            continue; /* it cannot be better */
        size_t matched = match(matching, replay, body, sort->launch_of),
               far = apart(body->count, replay->count);
        bool is_better = matched > sort->matched || (matched == sort->matched && far < nearest);
        if (matched == 0 || (!is_better && (matched < sort->matched || far > nearest)))
            continue;
        if (is_better)
            sort->best.count = 0;
        sort->matched = matched;
        nearest = far;
        sort->by_place = body->nameless;
        *VEC_PUSH(&sort->best) = s;
    }
}

/* The best kinds are in ascending order. */
static bool is_among(const struct sort *sort, uint32_t body_sort)
{
    size_t i = PLACE(k, sort->best.count, sort->best.at[k] < body_sort);
    return i < sort->best.count && sort->best.at[i] == body_sort;
}

/* The next body after the one used last that is among the best, else the first of them. */
static size_t next_body(const struct matching *matching, const struct sort *sort)
{
    size_t count = matching->links->bodies->count;
    size_t from = matching->last_body == SIZE_MAX ? 0 : matching->last_body + 1;
    for (size_t i = 0; i < count; i++) {
        size_t body = (from + i) % count;
        if (is_among(sort, matching->body_sort[body]))
            return body;
    }
    return SIZE_MAX;
}

/* The body of REPLAY: that of its nodes or of an earlier replay of its graph, else the next. */
static size_t choose_body(struct matching *matching, const struct replay *replay)
{
    const struct sort *sort = &matching->sorts.at[replay->sort];
    if (sort->by_node)
        return body_of_nodes(matching, replay);
    if (replay->graph_id < 0)
        return next_body(matching, sort);
    const int64_t key[2] = { replay->graph_id, replay->sort };
    uint32_t id = names_add(matching->ids, (const char *)key, sizeof key);
    if (id == matching->body_of_id.count)
        *VEC_PUSH(&matching->body_of_id) = (uint32_t)next_body(matching, sort);
    return matching->body_of_id.at[id];
}

/* ---- results ---- */

static void collect_launch(struct matching *matching, size_t work, uint32_t launch)
{
    struct graph_links *links = matching->links;
    event_id e = matching->operations.at[work].work;
    links->launch_of[e] = 2 + launch;
    links->matched++;
    links->matched_ns += trace_dur_ns(matching->trace, e);
}

static void graph_links_collect(struct matching *matching, const struct replay *replay, size_t body_index)
{
    struct graph_links *links = matching->links;
    struct sort *sort = &matching->sorts.at[replay->sort];
    const struct graph_body *body = &links->bodies->at[body_index];
    if (sort->known_body != matching->body_sort[body_index]) {
        match(matching, &matching->replays.at[sort->replay], body, sort->launch_of);
        sort->known_body = matching->body_sort[body_index];
    }
    for (size_t i = 0; i < replay->count; i++) {
        if (sort->launch_of[i] == NO_LAUNCH)
            continue;
        collect_launch(matching, replay->first + i, (uint32_t)body->first + sort->launch_of[i]);
        links->by_place += sort->by_place || sort->by_node;
    }
    matching->last_body = body_index;
}

static void add_name(struct buffer *text, const struct names *names, uint32_t name)
{
    enum { MOST_BYTES = 200 };
    const char *at = name == LCS_NOTHING ? "(a kernel without a name)" : names_text(names, name);
    size_t length = strlen(at);
    buffer_add(text, at, length < MOST_BYTES ? length : MOST_BYTES);
    buffer_puts(text, length > MOST_BYTES ? "..." : "");
}

/* Add the first difference in names between REPLAY and the body that fits it best, or the first body. */
static char *reason_of(struct matching *matching, const struct replay *replay)
{
    const struct sort *sort = &matching->sorts.at[replay->sort];
    const struct graph_bodies *bodies = matching->links->bodies;
    const struct graph_body *body =
        &bodies->at[matching->first_body.at[sort->best.count ? sort->best.at[0] : 0]];
    const struct body_launch *launches = launches_of(matching, body);
    size_t place = 0, most = body->count < replay->count ? body->count : replay->count;
    while (place < most && launches[place].name == matching->names.at[replay->first + place])
        place++;
    struct buffer text = { 0 };
    buffer_printf(&text, "%zu of its %zu operations are among the %zu launches captured", sort->matched,
                  replay->count, body->count);
    if (place < most) {
        buffer_printf(&text, "; the first that differs is number %zu: ", place + 1);
        add_name(&text, bodies->names, launches[place].name);
        buffer_puts(&text, " was captured, and ");
        add_name(&text, bodies->names, matching->names.at[replay->first + place]);
        buffer_puts(&text, " ran");
    }
    return text.at; /* now owned by the caller */
}

static void refuse(struct matching *matching, const struct replay *replay)
{
    struct graph_links *links = matching->links;
    if (links->refused++ == 0)
        links->reason = reason_of(matching, replay);
}

/* A node of a graph and its launch. */
struct node_launch {
    int64_t node_id;
    uint32_t launch;
};

static const struct key by_nodes[] = { ASC(struct node_launch, node_id), ASC(struct node_launch, launch),
                                       KEY_END };

/* The launches whose node is known, sorted by node. New, free with free(). */
static struct node_launch *graph_links_find_nodes(const struct graph_bodies *bodies, size_t *count)
{
    VEC_OF(struct node_launch) nodes = { 0 };
    for (size_t i = 0; i < bodies->launches.count; i++)
        if (bodies->launches.at[i].node_id >= 0)
            *VEC_PUSH(&nodes) = (struct node_launch){ bodies->launches.at[i].node_id, (uint32_t)i };
    if (nodes.count)
        SORT(&nodes, by_nodes);
    *count = nodes.count;
    return nodes.at;
}

/* Match operations whose node is known on both sides. Programs number nodes from the same start: if the names differ,
 * the node is of another program or run. */
static void match_nodes(struct matching *matching)
{
    const struct graph_bodies *bodies = matching->links->bodies;
    size_t count;
    SCOPED struct node_launch *nodes = graph_links_find_nodes(bodies, &count);
    for (size_t i = 0; i < matching->operations.count; i++) {
        int64_t node;
        matching->by_node[i] = NO_LAUNCH;
        if (count == 0 ||
            !trace_arg(matching->trace, ARG_GRAPH_NODE_ID, matching->operations.at[i].work, &node))
            continue;
        size_t at = 0;
        SEARCH(at, count, nodes[at].node_id < node);
        for (; at < count && nodes[at].node_id == node; at++) {
            uint32_t name = bodies->launches.at[nodes[at].launch].name;
            if (name != LCS_NOTHING && name != matching->names.at[i])
                continue;
            matching->by_node[i] = nodes[at].launch;
            collect_launch(matching, i, nodes[at].launch);
            break;
        }
    }
}

/* Match the rest of REPLAY by sequence in the body of its nodes, if at least half of all operations match in this
 * way. */
static void find_rest(struct matching *matching, struct sort *sort)
{
    const struct replay *replay = &matching->replays.at[sort->replay];
    uint32_t body = body_of_nodes(matching, replay);
    sort->known_body = matching->body_sort[body];
    sort->matched =
        sort->by_node + match(matching, replay, &matching->links->bodies->at[body], sort->launch_of);
}

static void match_replays(struct matching *matching)
{
    find_replays(matching);
    sort_bodies(matching);
    FOR_EACH(sort, &matching->sorts) {
        sort->launch_of =
            arena_alloc(arena_of(matching),
                        mem_times(matching->replays.at[sort->replay].count + 1, sizeof *sort->launch_of));
        if (sort->by_node)
            find_rest(matching, sort);
        else
            find_best(matching, sort);
    }
    FOR_EACH(replay, &matching->replays) {
        const struct sort *sort = &matching->sorts.at[replay->sort];
        bool is_enough = sort->matched > 0 && 2 * sort->matched >= replay->count;
        if (!is_enough && !sort->by_node)
            refuse(matching, replay);
        else if (is_enough)
            graph_links_collect(matching, replay, choose_body(matching, replay));
    }
}

/* ---- kept with the trace ---- */

static void *graph_links_derive(const struct trace *trace)
{
    (void)trace;
    return NULL; /* links cannot be computed on demand, only attached */
}

static const struct derivation derivation = { graph_links_derive };

const struct graph_links *graph_links_of(const struct trace *trace)
{
    return trace_derive(trace, &derivation);
}

void graph_links_attach(const struct trace *trace, struct graph_bodies *bodies)
{
    struct graph_links *links = arena_open(sizeof *links);
    ARENA_OWNS(arena_of(links), &links->launch_of, &links->reason);
    links->bodies = arena_hold(arena_of(links), bodies);
    links->unmatched = names_add(bodies->texts, GRAPH_UNMATCHED, strlen(GRAPH_UNMATCHED));
    links->launch_of = mem_zalloc(trace->event_count + 1, sizeof *links->launch_of);
    struct matching *matching = arena_open(sizeof *matching);
    struct arena *arena = arena_of(matching);
    ARENA_OWNS(arena, &matching->operations, &matching->names, &matching->by_node, &matching->replays,
               &matching->sorts, &matching->body_sort, &matching->first_body, &matching->body_of_id);
    matching->trace = trace;
    matching->links = links;
    matching->sort_keys = arena_hold(arena, names_open());
    matching->body_keys = arena_hold(arena, names_open());
    matching->ids = arena_hold(arena, names_open());
    matching->last_body = SIZE_MAX;
    find_operations(matching);
    if (bodies->count) {
        name_operations(matching);
        matching->by_node = mem_alloc(mem_times(matching->operations.count + 1, sizeof *matching->by_node));
        match_nodes(matching);
        match_replays(matching);
    }
    ARENA_OWNS_EACH(arena, matching->sorts.at, matching->sorts.count, best);
    arena_free(matching);
    trace_attach(trace, &derivation, links);
}

name_id graph_link_name_id(const struct graph_links *links, event_id e)
{
    const struct captured_op *op = graph_link_op(links, e);
    return op ? op->name : links->unmatched;
}

void graph_links_notice(const struct graph_links *links, struct result *result)
{
    if (!links)
        return;
    if (links->operations == 0) {
        ADD_NOTICE(result, "no_graphs", 0, "--capture has no effect: no work was launched by a graph");
        return;
    }
    const char *time = TIME_TEXT(links->operations_ns);
    if (links->matched)
        ADD_NOTICE(
            result, "graph_works", (int64_t)links->matched,
            "%zu of %zu operations of graphs (%s) have the operator, shapes and module of the capture; "
            "shapes are those of the capture, which padding makes larger than those of the request%s",
            links->matched, links->operations, time,
            links->matched < links->operations ? ". The others are called " GRAPH_UNMATCHED : "");
    else
        ADD_NOTICE(result, "graph_works", 0,
                   "none of the %zu operations of graphs (%s) was found in the capture: they are "
                   "called " GRAPH_UNMATCHED,
                   links->operations, time);
    if (links->by_place)
        ADD_NOTICE(result, "graph_by_place", (int64_t)links->by_place,
                   "%zu of them by place, not verified: the capture does not record the names of its kernels",
                   links->by_place);
    if (links->refused)
        ADD_NOTICE(
            result, "graph_refused", (int64_t)links->refused,
            "%zu of %zu launches of graphs were not matched, because less than half of the operations would be: "
            "%s",
            links->refused, links->replays, links->reason);
}
