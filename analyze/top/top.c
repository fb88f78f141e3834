/*
 * top.c - see top.h, and top_parts.h for the other files.
 *
 * The way of the figures: every host event is a node of its thread's call tree. Its duration goes to its row's
 * total and self time, and is taken from the self time of its parent's row; so rows are summed without a
 * figure per event. A kernel's duration goes to its own row, to the self time of the operator that launched
 * it, and up the chain of parents to everybody's total.
 */
#include "facts/flops.h"
#include "analyze/top/parts.h"
#include "trace/arg_scan.h"
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

struct trace_wants top_wants(const struct top_options *options)
{
    struct trace_wants wants = { .args = ATTRIBUTION_WANTS | WANT(BYTES) | WANT(DEVICE_TYPE) |
                                         WANT(INPUT_DIMS) | WANT(CONCRETE_INPUTS) | WANT(PYTHON_ID) };
    if (options->by & TOP_STACK)
        wants.args |= WANT(CALL_STACK) | WANT(SEQUENCE) | WANT(FWD_THREAD);
    if (options->by & (TOP_MODULE | TOP_LINE))
        wants.args |= CODE_PATHS_WANTS;
    return wants;
}

bool top_is_frame(const struct top *top, event_id e)
{
    int64_t id;
    return trace_arg(top->trace, ARG_PYTHON_ID, e, &id);
}

/* ---- who takes part ---- */

/* A region that was open when recording stopped: says so, or ends after the window. */
static bool was_open_at_stop(const struct trace *trace, event_id e)
{
    const struct trace_file *file = &trace->files[trace->tracks[trace->track[e]].file];
    return trace->flags[e] & EVENT_UNFINISHED ||
           (file->has_window && trace->start_ns[e] <= file->window_end_ns &&
            trace_end_ns(trace, e) > file->window_end_ns);
}

static enum top_role find_role(const struct top *top, event_id e)
{
    const struct trace *trace = top->trace;
    enum event_kind kind = trace->kind[e];
    unsigned flags = trace->flags[e], name_flags = top->names.flags[trace->name[e]];
    if (name_flags & NAME_DROPPED)
        return name_flags & NAME_MEMORY      ? ROLE_MEMORY
               : name_flags & NAME_NO_MEMORY ? ROLE_OUT_OF_MEMORY
                                             : ROLE_NONE;
    if (event_on_device(kind))
        return top_is_selected(top, e) ? ROLE_DEVICE : ROLE_NONE;
    if (kind == EVENT_SPAN)
        return ROLE_NONE;
    if (flags & EVENT_ASYNC)
        return ROLE_ASYNC;
    if (!top->files[top_file_of(top, e)].is_torch)
        return ROLE_CALL;
    if (flags & EVENT_POINT && names_length(trace->texts, trace->categories[trace->category[e]].text) == 0)
        return ROLE_NONE; /* "Iteration Start", "Record Window End": marks of Kineto's own */
    if ((kind == EVENT_OP || kind == EVENT_ANNOTATION) &&
        (name_flags & NAME_ASYNC || was_open_at_stop(trace, e)))
        return ROLE_ASYNC;
    return ROLE_CALL;
}

int64_t top_end_ns(const struct top *top, event_id e)
{
    const struct trace *trace = top->trace;
    const struct trace_file *file = &trace->files[top_file_of(top, e)];
    int64_t end_ns = trace_end_ns(trace, e);
    bool region = trace->kind[e] == EVENT_OP || trace->kind[e] == EVENT_ANNOTATION;
    if (region && file->has_window && end_ns > file->window_end_ns &&
        top->files[top_file_of(top, e)].is_torch)
        return file->window_end_ns > trace->start_ns[e] ? file->window_end_ns : trace->start_ns[e];
    return end_ns;
}

/* When E began or, for GPU work whose call is in the file, when it was launched. */
static int64_t called_at(const struct top *top, event_id e)
{
    event_id call = event_is_launched(top->trace->kind[e]) ? attribution_call(top->launches, e) : EVENT_NONE;
    return top->trace->start_ns[call == EVENT_NONE ? e : call];
}

const struct step *top_step_of(const struct top *top, event_id e)
{
    return step_list_at(top->steps, top_file_of(top, e), called_at(top, e));
}

/* Does it choose among events, and not just names? */
static bool chooses_events(const struct selection *selection)
{
    return selection && (selection->files || selection->tracks || selection->windows);
}

/*
 * What was not chosen on the host stays in the tree and in no row: a caller's self time is without its callees,
 * chosen or not.
 */
static void select_events(struct top *top)
{
    const struct trace *trace = top->trace;
    const struct selection *selection = top->options->selection;
    if (!chooses_events(selection))
        return;
    top->selected = mem_zalloc(trace->event_count / 64 + 1, sizeof *top->selected);
    for (event_id e = 0; e < trace->event_count; e++) {
        uint32_t file = top_file_of(top, e);
        if ((selection->files && !selection->files[file]) ||
            (selection->tracks && !selection->tracks[trace->track[e]]) ||
            !selection_holds_time(selection, file, called_at(top, e)))
            continue;
        top->selected[e / 64] |= UINT64_C(1) << (e % 64);
    }
}

static void find_roles(struct top *top)
{
    top->role = mem_alloc(top->trace->event_count + 1);
    for (event_id e = 0; e < top->trace->event_count; e++)
        top->role[e] = (uint8_t)find_role(top, e);
}

static bool takes_call(const void *context, event_id e)
{
    enum top_role role = top_role(context, e);
    return role == ROLE_CALL || role == ROLE_OUT_OF_MEMORY;
}

/* Only torch counts a call of itself once; elsewhere a recursion is as many calls as it is. */
static bool same_key(const void *context, event_id a, event_id b)
{
    const struct top *top = context;
    return top->files[top_file_of(top, a)].is_torch && top_key_of(top, a) == top_key_of(top, b);
}

/* torch lists records of memory in no call after all others that start then, and failures after these. */
uint64_t top_order(const struct top *top, event_id e)
{
    unsigned flags = top->names.flags[top->trace->name[e]];
    unsigned late = flags & NAME_NO_MEMORY ? 2 : flags & NAME_MEMORY ? 1 : 0;
    return late * (uint64_t)top->trace->event_count + e;
}

/* ---- host time ---- */

/* New; by node: the first node behind all that it called. Callees lie behind their caller. */
static node_id *ends_of_calls(const struct calltree *tree)
{
    node_id *ends = mem_alloc((tree->count + 1) * sizeof *ends);
    for (node_id n = 0; n < tree->count; n++)
        ends[n] = n + 1;
    for (node_id n = (node_id)tree->count; n-- > 0;) {
        node_id parent = tree->parent[n];
        if (parent != NODE_NONE && ends[n] > ends[parent])
            ends[parent] = ends[n];
    }
    return ends;
}

/*
 * torch adds up all calls of a name, those within others of that name too. Elsewhere, and in rows that are no
 * operators, time that a caller in the same row has already counts once.
 */
bool top_counts_once(const struct top *top, event_id e)
{
    return !top->per_call || !top->files[top_file_of(top, e)].is_torch;
}

/* What calls with equal shapes do is worked out once. */
struct flops_cache {
    struct names *keys; /* operator, text of dims, text of concrete inputs */
    VEC_OF(int64_t) counts;
};

static int64_t flops_of(struct flops_cache *cache, const struct trace *trace, enum flops_operator op,
                        name_id dims, name_id concrete)
{
    uint32_t key[3] = { op, dims, concrete };
    uint32_t id = names_add(cache->keys, (const char *)key, sizeof key);
    if (id == cache->counts.count)
        *VEC_PUSH(&cache->counts) =
            flops_count(op, names_text(trace->texts, dims),
                        concrete == NAME_NONE ? NULL : names_text(trace->texts, concrete));
    assert(id < cache->counts.count);
    return cache->counts.at[id];
}

static void count_flops(struct top *top)
{
    const struct trace *trace = top->trace;
    struct flops_cache cache = { .keys = names_open() };
    for (node_id n = 0; n < top->tree->count; n++) {
        event_id e = top->tree->event[n];
        uint32_t row = top->row_of_node[n];
        int64_t dims;
        if (row == ROW_NONE || !(top->names.flags[trace->name[e]] & NAME_FLOPS) ||
            !top->files[top_file_of(top, e)].counts_flops || trace->kind[e] != EVENT_OP ||
            !trace_arg(trace, ARG_INPUT_DIMS, e, &dims))
            continue;
        enum flops_operator op = flops_operator_of(names_text(top->names.keys, top_key_of(top, e)));
        name_id concrete = (name_id)trace_arg_or(trace, ARG_CONCRETE_INPUTS, e, NAME_NONE);
        int64_t flops = flops_of(&cache, trace, op, (name_id)dims, concrete);
        add_to(&top->rows.at[row].flops, flops);
        top->has_flops |= flops > 0;
    }
    names_free(cache.keys);
    VEC_FREE(&cache.counts);
}

static void count_calls(struct top *top)
{
    const struct trace *trace = top->trace;
    const struct calltree *tree = top->tree;
    bool any_once = !top->per_call;
    for (uint32_t i = 0; i < trace->file_count; i++)
        any_once |= !top->files[i].is_torch;
    node_id *ends = any_once ? ends_of_calls(tree) : NULL;
    top->row_of_node = mem_alloc((tree->count + 1) * sizeof *top->row_of_node);
    for (node_id n = 0; n < tree->count; n++) {
        event_id e = tree->event[n];
        int64_t duration = trace->dur_ns[e];
        node_id parent = tree->parent[n];
        uint32_t row = top->state[n] & NODE_FOLDED ? ROW_NONE : top_row_of(top, e);
        top->row_of_node[n] = row;
        if (row == ROW_NONE) {
            if (top->state[n] & NODE_FOLDED)
                continue;
        } else {
            top_row_count(top, row, e, trace->start_ns[e], trace->start_ns[e] + duration, top_order(top, e),
                          false, parent != NODE_NONE);
            struct top_row *at = &top->rows.at[row];
            add_to(&at->self_cpu_ns, duration);
            if (top_counts_once(top, e)) {
                assert(ends); /* any counts once */
                if (n < at->covered_until)
                    top->state[n] |= NODE_COVERED;
                else
                    at->covered_until = ends[n];
            }
            if (!(top->state[n] & NODE_COVERED))
                add_to(&at->cpu_ns, duration);
        }
        if (parent != NODE_NONE && top->row_of_node[parent] != ROW_NONE)
            add_to(&top->rows.at[top->row_of_node[parent]].self_cpu_ns, minus(0, duration));
    }
    free(ends);
}

static void count_async(struct top *top)
{
    const struct trace *trace = top->trace;
    for (event_id e = 0; e < trace->event_count; e++) {
        if (top_role(top, e) != ROLE_ASYNC || !top_is_selected(top, e))
            continue;
        bool open = was_open_at_stop(trace, e);
        top->counts.unfinished += open;
        top->counts.guessed_async += !open && !(trace->flags[e] & EVENT_ASYNC);
        uint32_t row = top_row_of(top, e);
        if (row == ROW_NONE)
            continue;
        int64_t end_ns = top_end_ns(top, e);
        top_row_count(top, row, e, trace->start_ns[e], end_ns, e, true, false);
        add_to(&top->rows.at[row].cpu_ns, minus(end_ns, trace->start_ns[e]));
    }
}

/* ---- device time ---- */

/* Node N launched work of DURATION: it is N's own. The call it counts for, NODE_NONE when that lost it. */
static node_id give_to_call(struct top *top, node_id n, int64_t duration_ns)
{
    if (top->state[n] & NODE_KERNELS_GONE) {
        top->counts.lost_gpu++;
        add_to(&top->counts.lost_gpu_ns, duration_ns);
        return NODE_NONE;
    }
    if (top->state[n] & NODE_FOLDED)
        n = top->tree->parent[n];
    if (top->row_of_node[n] != ROW_NONE)
        add_to(&top->rows.at[top->row_of_node[n]].self_device_ns, duration_ns);
    return n;
}

/* It is in the total of the call and all its callers. Work that STAMP stands for may be given to several calls. */
static void give_to_callers(struct top *top, node_id n, int64_t duration_ns, uint64_t stamp)
{
    n = give_to_call(top, n, duration_ns);
    if (n == NODE_NONE)
        return;
    bool once = top_counts_once(top, top->tree->event[n]);
    for (; n != NODE_NONE; n = top->tree->parent[n]) {
        if (top->row_of_node[n] == ROW_NONE)
            continue;
        struct top_row *row = &top->rows.at[top->row_of_node[n]];
        if (once && row->seen == stamp)
            continue;
        row->seen = stamp;
        add_to(&row->device_ns, duration_ns);
    }
}

/* As give_to_callers, of work that is given to one call alone: add_launched does for all such work what is left. */
static void give_later(struct top *top, node_id n, int64_t duration_ns)
{
    n = give_to_call(top, n, duration_ns);
    if (n == NODE_NONE)
        return;
    if (!top->launched_ns)
        top->launched_ns = mem_zalloc(top->tree->count + 1, sizeof *top->launched_ns);
    add_to(&top->launched_ns[n], duration_ns);
}

/* Callees lie behind their callers: each gives what it and its callees launched to its caller. */
static void add_launched(struct top *top)
{
    for (node_id n = (node_id)top->tree->count; top->launched_ns && n-- > 0;) {
        node_id parent = top->tree->parent[n];
        uint32_t row = top->row_of_node[n];
        if (row != ROW_NONE && !(top->state[n] & NODE_COVERED))
            add_to(&top->rows.at[row].device_ns, top->launched_ns[n]);
        if (parent != NODE_NONE)
            add_to(&top->launched_ns[parent], top->launched_ns[n]);
    }
    free(top->launched_ns);
    top->launched_ns = NULL;
}

static void count_launched(struct top *top, event_id e, int64_t duration_ns, const int64_t *external_id,
                           const int64_t *correlation)
{
    const struct trace *trace = top->trace;
    size_t lookalike;
    struct launch_link link = top_link(top, e, external_id, correlation, &lookalike);
    bool has_operator = link.op != EVENT_NONE && top->node_of[link.op] != NODE_NONE;
    bool both_sides_in_row =
        top->by & TOP_BOTH_SIDES && !top->per_call && !(top->by & (TOP_THREAD | TOP_CATEGORY));
    bool given_once = !top_is_lookalike(top, lookalike, lookalike);
    if (has_operator && !both_sides_in_row && given_once)
        give_later(top, top->node_of[link.op], duration_ns);
    else if (has_operator && !both_sides_in_row)
        give_to_callers(top, top->node_of[link.op], duration_ns, e + UINT64_C(1));
    for (size_t i = lookalike; top_is_lookalike(top, lookalike, i) && !both_sides_in_row; i++)
        give_to_callers(top, top->node_of[top->lookalikes.at[i].call], duration_ns, e + UINT64_C(1));

    if (!event_is_gpu_work(trace->kind[e]))
        return;
    event_id call = correlation ? attribution_call(top->launches, e) : EVENT_NONE;
    if (!has_operator) {
        top->counts.unlinked_gpu++;
        add_to(&top->counts.unlinked_gpu_ns, duration_ns);
    }
    if (call == EVENT_NONE) {
        top->counts.callless_gpu++;
        add_to(&top->counts.callless_gpu_ns, duration_ns);
    } else if (top->names.flags[trace->name[call]] & NAME_GRAPH) {
        top->counts.graph_gpu++;
        add_to(&top->counts.graph_gpu_ns, duration_ns);
    }
}

static void count_device(struct top *top)
{
    const struct trace *trace = top->trace;
    struct arg_scan ids = arg_scan_of(trace, ARG_EXTERNAL_ID);
    struct arg_scan correlations = arg_scan_of(trace, ARG_CORRELATION);
    size_t narrowed = 0;
    for (event_id e = 0; e < trace->event_count; e++) {
        if (!event_on_device(trace->kind[e]) || top_role(top, e) != ROLE_DEVICE)
            continue;
        int64_t start_ns = trace->start_ns[e], end_ns = trace_end_ns(trace, e);
        while (narrowed < top->narrowed.count && top->narrowed.at[narrowed].event < e)
            narrowed++;
        if (narrowed < top->narrowed.count && top->narrowed.at[narrowed].event == e) {
            start_ns = top->narrowed.at[narrowed].start_ns;
            end_ns = top->narrowed.at[narrowed].end_ns;
        }
        top->has_device = true;
        uint32_t index = top_row_of(top, e);
        if (index != ROW_NONE) {
            top_row_count(top, index, e, start_ns, end_ns, e, false, false);
            add_to(&top->rows.at[index].device_ns, minus(end_ns, start_ns));
            add_to(&top->rows.at[index].self_device_ns, minus(end_ns, start_ns));
        }
        /* Rows of threads hold what their calls launched: the whole is the same, though no row is a device's. */
        if ((index != ROW_NONE || top->by & TOP_THREAD) && trace->kind[e] != EVENT_GPU_ANNOTATION)
            add_to(&top->self_device_ns, minus(end_ns, start_ns));
        if (event_is_launched(trace->kind[e])) {
            int64_t id, correlation;
            bool has_id = arg_scan_get(&ids, e, &id),
                 has_correlation = arg_scan_get(&correlations, e, &correlation);
            count_launched(top, e, minus(end_ns, start_ns), has_id ? &id : NULL,
                           has_correlation ? &correlation : NULL);
        }
    }
    add_launched(top);
}

/* ---- the way through ---- */

static void *open_launches(void *context)
{
    struct top *top = context;
    top->launches = attribution_open(top->trace);
    return NULL;
}

/*
 * Both look through all events, and neither needs the other unless a selection asks when work was launched:
 * so one of them runs on a thread of its own, where there is enough to do.
 */
static void open_tree_and_launches(struct top *top)
{
    enum { WORTH_A_THREAD = 200000 };
    pthread_t thread;
    top->launches = top->options->launches;
    bool apart = !top->launches && !chooses_events(top->options->selection) &&
                 top->trace->event_count >= WORTH_A_THREAD &&
                 pthread_create(&thread, NULL, open_launches, top) == 0;
    if (!apart && !top->launches)
        open_launches(top);
    select_events(top);
    find_roles(top);
    top->tree = calltree_open(top->trace, takes_call, top);
    if (apart)
        pthread_join(thread, NULL);
}

static void find_files(struct top *top)
{
    const struct trace *trace = top->trace;
    top->files = mem_zalloc(trace->file_count + 1, sizeof *top->files);
    for (uint32_t i = 0; i < trace->file_count; i++)
        top->files[i].is_torch = trace->files[i].producer == PRODUCER_KINETO;
    for (track_id t = 0; t < trace->track_count; t++)
        top->files[trace->tracks[t].file].has_gpu |= trace->tracks[t].kind == TRACK_STREAM;
    /* torch counts operations only when told to; for work on a GPU they are what its time is compared with,
     * so there every trace that holds shapes gets them. */
    for (uint32_t i = 0; i < trace->file_count; i++)
        top->files[i].counts_flops = trace->files[i].with_flops == 1 || top->files[i].has_gpu;
}

static void top_open(struct top *top, const struct trace *trace, const struct top_options *options)
{
    *top = (struct top){ .trace = trace, .options = options };
    const unsigned naming = TOP_OPERATOR | TOP_SHAPE | TOP_STACK | TOP_OVERLOAD | TOP_KERNEL;
    const unsigned alone = TOP_CATEGORY | TOP_THREAD | TOP_STREAM | TOP_DEVICE | TOP_BOTH_SIDES;
    top->by = options->by;
    if (!(top->by & alone))
        top->by |= TOP_OPERATOR;
    top->per_call = top->by & naming;
    if (top->per_call)
        top->by |= TOP_OPERATOR;

    find_files(top);
    top_names_open(&top->names, trace, options);
    if (top->by & TOP_STEP)
        top->steps = options->steps ? options->steps : step_list_of(trace);
    top_rows_open(top);
    open_tree_and_launches(top);
    if (top->by & TOP_MODULE)
        top->modules = code_paths_open(trace, CODE_MODULES);
    if (top->by & TOP_LINE)
        top->lines = code_paths_open(trace, CODE_LINES);
    top_link_calls(top);
    calltree_nest(top->tree);
    top->state = calltree_fold(top->tree, same_key, top);
    if (top->by & TOP_STACK)
        top_borrow_stacks(top);
    count_calls(top);
    count_async(top);
    count_flops(top);
    top->node_of = calltree_nodes(top->tree);
    top_narrow_annotations(top);
    count_device(top);
    if (!options->without_memory)
        top_memory(top);
    if (options->float_times)
        top_float(top);
}

static void top_close(struct top *top)
{
    top_rows_close(top);
    top_names_release(&top->names);
    if (!top->options->launches)
        attribution_free(top->launches);
    code_paths_free(top->modules);
    code_paths_free(top->lines);
    calltree_free(top->tree);
    VEC_FREE(&top->narrowed);
    VEC_FREE(&top->lookalikes);
    free(top->lookalike_filter);
    free(top->float_rows);
    free(top->node_of);
    free(top->row_of_node);
    free(top->state);
    free(top->selected);
    free(top->role);
    free(top->stack_event);
    free(top->leftovers);
    free(top->files);
    free(top->stop_thread);
}

struct result *top_analyze(const struct trace *trace, const struct top_options *options)
{
    struct top top;
    top_open(&top, trace, options);
    struct result *result = top_result(&top);
    top_close(&top);
    return result;
}

void top_each_row(const struct trace *trace, const struct top_options *options, top_take *take, void *context)
{
    struct top top;
    top_open(&top, trace, options);
    top_give_rows(&top, take, context);
    top_close(&top);
}
