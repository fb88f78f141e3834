/* Operators come first, thread by thread and by start, then the operations of a file: so a parent always has a lower
 * index than its children, and one backward pass adds up sizes and times. */
#include "treediff/work_tree.h"

#include "base/rows.h"
#include "base/search.h"
#include "derive/attribution.h"
#include "derive/step_list.h"
#include <inttypes.h>

const struct trace_wants work_tree_wants = { .args = ATTRIBUTION_WANTS };

struct work_tree *work_tree_open(struct names *names)
{
    struct work_tree *tree = arena_open(sizeof *tree);
    ARENA_OWNS(arena_of(tree), &tree->nodes, &tree->threads, &tree->steps, &tree->order, &tree->children);
    tree->names = names;
    return tree;
}

/* ---- steps ---- */

/* The state of adding a trace. */
struct adding {
    struct work_tree *tree;
    const struct trace *trace;
    const struct attribution *launches;
    bool only_steps;
    struct step_list *steps; /* the selected steps; they do not overlap */
    uint32_t first_step;     /* of the tree's */
    bool *names_steps;       /* by name: is it the name of a step? */
    name_id *names;          /* by name: the tree's; NAME_NONE: not determined yet */
    uint32_t *thread_of;     /* by track: its node; WORK_NONE: it has none */
    uint32_t first_node;
};

static bool is_chosen(const struct work_tree_options *options, const struct step_list *steps, size_t i,
                      int64_t lowest)
{
    const struct step *step = &steps->at[i];
    return options->first_step ? step->number == lowest : ranges_hold(&options->steps, step->number);
}

static int64_t lowest_number(const struct step_list *steps, uint32_t file)
{
    int64_t lowest = INT64_MAX;
    for (size_t i = 0; i < steps->count; i++)
        if (steps->at[i].file == file && steps->at[i].number < lowest)
            lowest = steps->at[i].number;
    return lowest;
}

static void choose_steps(struct adding *adding, const struct work_tree_options *options)
{
    struct step_list *steps = adding->steps;
    struct work_tree *tree = adding->tree;
    for (size_t i = 0; i < steps->count; i++)
        adding->names_steps[adding->trace->name[steps->at[i].event]] = true;
    step_list_drop_overlaps(steps);
    size_t kept = 0;
    uint32_t place = 0;
    int64_t lowest = 0;
    for (size_t i = 0; i < steps->count; i++) {
        if (i == 0 || steps->at[i].file != steps->at[i - 1].file)
            lowest = options->first_step ? lowest_number(steps, steps->at[i].file) : 0;
        if (!is_chosen(options, steps, i, lowest))
            continue;
        place = kept && steps->at[kept - 1].file == steps->at[i].file ? place + 1 : 0;
        *VEC_PUSH(&tree->steps) =
            (struct work_step){ tree->files + steps->at[i].file, place, steps->at[i].number };
        steps->at[kept++] = steps->at[i];
    }
    steps->count = kept;
}

/* Does every file have one of the steps that were requested? */
static bool check_steps(const struct adding *adding, struct tpa_error *err)
{
    size_t i = 0;
    for (uint32_t file = 0; file < adding->trace->file_count; file++) {
        size_t first = i;
        while (i < adding->steps->count && adding->steps->at[i].file == file)
            i++;
        if (i > first)
            continue;
        tpa_fail(err, TPA_NOWHERE, "'%s' has none of the requested steps", adding->trace->files[file].path);
        return tpa_hint(
            err, "tpa steps lists the steps of a trace; without --first-step and --steps all is compared");
    }
    return true;
}

static uint32_t step_at(const struct adding *adding, uint32_t file, int64_t moment_ns)
{
    const struct step *step = step_list_at(adding->steps, file, moment_ns);
    return step ? adding->first_step + (uint32_t)(step - adding->steps->at) : WORK_NONE;
}

/* ---- operators ---- */

static name_id name_of(struct adding *adding, event_id e)
{
    name_id id = adding->trace->name[e];
    if (adding->names[id] == NAME_NONE)
        adding->names[id] = names_add(adding->tree->names, names_text(adding->trace->names, id),
                                      names_length(adding->trace->names, id));
    return adding->names[id];
}

static bool takes_operator(const void *context, event_id e)
{
    const struct adding *adding = context;
    const struct trace *trace = adding->trace;
    if (trace->kind[e] != EVENT_OP || trace->flags[e] & (EVENT_ASYNC | EVENT_POINT) ||
        adding->names_steps[trace->name[e]])
        return false;
    return !adding->only_steps ||
           step_at(adding, trace->tracks[trace->track[e]].file, trace_start_ns(trace, e)) != WORK_NONE;
}

static uint32_t add_node(struct work_tree *tree, const struct work_node *node, struct work_order order)
{
    *VEC_PUSH(&tree->nodes) = *node;
    *VEC_PUSH(&tree->order) = order;
    return (uint32_t)(tree->nodes.count - 1);
}

/* A node for each thread of CALLS and one for each operator, in its order. */
static void add_operators(struct adding *adding, const struct calltree *calls)
{
    struct work_tree *tree = adding->tree;
    const struct trace *trace = adding->trace;
    struct calltree_thread *threads = mem_alloc(mem_times(calls->thread_count + 1, sizeof *threads));
    memcpy(threads, calls->threads, calls->thread_count * sizeof *threads);
    SORT_BY(threads, calls->thread_count, i, trace_start_ns(trace, calls->event[threads[i].first]));
    SORT_BY(threads, calls->thread_count, i, trace->tracks[threads[i].track].file);
    for (size_t t = 0; t < calls->thread_count; t++) {
        uint32_t file = trace->tracks[threads[t].track].file;
        uint32_t node =
            add_node(tree, &(struct work_node){ NAME_NONE, WORK_THREAD, WORK_NONE, WORK_NONE, .size = 1 },
                     (struct work_order){ 0, 0 });
        adding->thread_of[threads[t].track] = node;
        *VEC_PUSH(&tree->threads) = (struct work_thread){ tree->files + file, node };
    }
    free(threads);
    adding->first_node = (uint32_t)tree->nodes.count;
    for (node_id n = 0; n < calls->count; n++) {
        event_id e = calls->event[n];
        track_id track = trace->track[e];
        uint32_t parent =
            calls->parent[n] == NODE_NONE ? adding->thread_of[track] : adding->first_node + calls->parent[n];
        add_node(tree,
                 &(struct work_node){ name_of(adding, e), WORK_OPERATOR, parent,
                                      step_at(adding, trace->tracks[track].file, trace_start_ns(trace, e)),
                                      .size = 1, .host_ns = trace_dur_ns(trace, e) },
                 (struct work_order){ trace_start_ns(trace, e), trace_start_ns(trace, e) });
    }
    tree->operators += calls->count;
}

/* ---- work ---- */

/* The operator or thread that CALL was made in; WORK_NONE if its thread has no tree. */
static uint32_t place_of(const struct adding *adding, const struct calltree *calls, const node_id *skips,
                         event_id call)
{
    const struct trace *trace = adding->trace;
    track_id track = trace->track[call];
    size_t t = PLACE(i, calls->thread_count, calls->threads[i].track < track);
    if (t == calls->thread_count || calls->threads[t].track != track)
        return WORK_NONE;
    node_id open = calltree_open_at(calls, skips, &calls->threads[t], trace_start_ns(trace, call));
    return open == NODE_NONE ? adding->thread_of[track] : adding->first_node + open;
}

static void add_work(struct adding *adding, const struct calltree *calls, const node_id *skips, event_id e)
{
    struct work_tree *tree = adding->tree;
    const struct trace *trace = adding->trace;
    event_id call = attribution_call(adding->launches, e);
    event_id when = call == EVENT_NONE ? e : call;
    uint32_t step = step_at(adding, trace->tracks[trace->track[when]].file, trace_start_ns(trace, when));
    if (adding->only_steps && step == WORK_NONE)
        return;
    uint32_t parent = call == EVENT_NONE ? WORK_NONE : place_of(adding, calls, skips, call);
    if (parent == WORK_NONE) {
        tree->outside++;
        tree->outside_ns += trace_dur_ns(trace, e);
        return;
    }
    add_node(tree,
             &(struct work_node){ name_of(adding, e), WORK_LAUNCHED, parent, step, .size = 1, .operations = 1,
                                  .device_ns = trace_dur_ns(trace, e) },
             (struct work_order){ trace_start_ns(trace, call), trace_start_ns(trace, e) });
    tree->operations++;
}

static void work_tree_add_nodes(struct adding *adding)
{
    const struct trace *trace = adding->trace;
    SCOPED_OBJECT struct calltree *calls = calltree_open(trace, takes_operator, adding);
    calltree_nest(calls);
    add_operators(adding, calls);
    SCOPED node_id *skips = calltree_skips(calls);
    for (event_id e = 0; e < trace->event_count; e++)
        if (event_is_gpu_work(trace->kind[e]))
            add_work(adding, calls, skips, e);
}

/* Indices of nodes have 32 bits. */
static bool has_room(const struct work_tree *tree, const struct trace *trace, struct tpa_error *err)
{
    size_t most = tree->nodes.count + trace->event_count + trace->track_count;
    if (most < INT32_MAX)
        return true;
    return tpa_fail(err, TPA_NOWHERE, "a side may have %d events at most to be compared as a tree",
                    INT32_MAX);
}

bool work_tree_add(struct work_tree *tree, const struct trace *trace, const struct work_tree_options *options,
                   struct tpa_error *err)
{
    if (!has_room(tree, trace, err))
        return false;
    size_t names = names_count(trace->names);
    struct adding adding = {
        .tree = tree,
        .trace = trace,
        .launches = attribution_of(trace),
        .only_steps = work_tree_only_steps(options),
        .steps = step_list_open(trace),
        .first_step = (uint32_t)tree->steps.count,
        .names_steps = mem_zalloc(names + 1, sizeof *adding.names_steps),
        .names = mem_alloc(mem_times(names + 1, sizeof *adding.names)),
        .thread_of = mem_alloc(mem_times(trace->track_count + 1, sizeof *adding.thread_of)),
    };
    memset(adding.names, 0xff, names * sizeof *adding.names);
    memset(adding.thread_of, 0xff, trace->track_count * sizeof *adding.thread_of);
    choose_steps(&adding, options);
    bool good = !adding.only_steps || check_steps(&adding, err);
    if (good)
        work_tree_add_nodes(&adding);
    tree->files += (uint32_t)trace->file_count;
    tree->only_steps = adding.only_steps;
    arena_free(adding.steps);
    EACH(free, adding.names_steps, adding.names, adding.thread_of);
    return good;
}

void work_tree_finish(struct work_tree *tree)
{
    size_t count = tree->nodes.count;
    tree->children = mem_alloc(mem_times(count + 1, sizeof *tree->children));
    for (size_t n = count; n-- > 0;) {
        const struct work_node *node = &tree->nodes.at[n];
        if (node->parent == WORK_NONE)
            continue;
        struct work_node *parent = &tree->nodes.at[node->parent];
        parent->count++;
        parent->size += node->size;
        parent->operations += node->operations;
        parent->device_ns += node->device_ns;
    }
    uint32_t first = 0;
    FOR_EACH_OF(node, tree->nodes.at, count) {
        node->first = first;
        first += node->count;
        node->count = 0;
    }
    for (uint32_t n = 0; n < count; n++) {
        if (tree->nodes.at[n].parent == WORK_NONE)
            continue;
        struct work_node *parent = &tree->nodes.at[tree->nodes.at[n].parent];
        tree->children[parent->first + parent->count++] = n;
    }
    for (size_t n = 0; n < count; n++) { /* work after the operator that launched it, by its own start */
        uint32_t *at = tree->children + tree->nodes.at[n].first;
        SORT_BY(at, tree->nodes.at[n].count, i,
                tree->nodes.at[at[i]].kind == WORK_LAUNCHED ? tree->order.at[at[i]].start_ns : INT64_MIN);
        SORT_BY(at, tree->nodes.at[n].count, i, tree->order.at[at[i]].called_ns);
    }
    VEC_FREE(&tree->order);
}
