/*
 * edits_optimizer.c - the step of an optimizer that calls operators for each parameter does each operation once for all parameters.
 *
 * Torch marks each step: "Optimizer.step#Adam.step". It is a loop over parameters if one operator is called eight times or more by it,
 * and none that takes a list of tensors (_foreach_add_, _fused_adam_). What remains is a call of each name and its share of the time
 * between calls, and of each call that goes LEFT_OF_A_CALL: a parameter, its gradient and its state are still read into lists, one by
 * one. The shortest of a name's calls, and of a kernel's runs, is what a call costs whatever the tensor is: only the first
 * has it. The devices' work beyond that stays. Without devices what the host computes beyond that stays, too; but an optimizer that
 * torch has a fused form of reads and writes each tensor once: what operators compute that make temporary tensors goes, as the root and
 * the quotient of Adam do. Those in place, called name_, stay: there are as many as tensors that the step writes.
 */
#include "whatif/editing.h"

#include "base/search.h"

enum { LEAST_CALLS = 8 };

/* ns; of recorded steps of torch 2.15 with fused=True: 1.1 us a parameter of SGD with 3 calls for each, 7 us of Adam with 9 to 13. */
#define LEFT_OF_A_CALL 500

/* Does an operator called NAME take lists of tensors, all parameters at once? */
static bool takes_lists(const char *name)
{
    return strstr(name, "_foreach_") || strstr(name, "_fused_");
}

/* Does the operator NAME write one of its inputs? */
static bool is_in_place(const char *name)
{
    size_t len = strlen(name);
    return len > 0 && name[len - 1] == '_';
}

static bool is_operator(const void *context, event_id e)
{
    const struct name_flags *names = context;
    return names->trace->kind[e] == EVENT_OP && !name_flags_has(context, e);
}

/* An operator that a step calls, or a kernel that it launches: of a NAME in a RANGE, which is one of its thread. */
struct part {
    uint32_t thread, name;
    size_t range, item; /* ITEM: the event, or the work */
    int64_t dur_ns;
};

struct parts {
    VEC_OF(struct part);
    size_t near; /* the range that was found last */
};

static const struct key by_range[] = { ASC(struct part, thread), ASC(struct part, range), KEY_END };
static const struct key by_calls[] = { ASC(struct part, thread), ASC(struct part, range),
                                       ASC(struct part, name), KEY_END };
static const struct key by_range_and_name[] = { ASC(struct part, thread), ASC(struct part, range),
                                                ASC(struct part, name), ASC(struct part, item), KEY_END };

/* The range of RANGES, by thread, in which the host event E begins; NULL: in none. NEAR: where the last one was found. */
static const struct interval *range_around(const struct editing *editing, const struct intervals *ranges,
                                           event_id e, size_t *near)
{
    const struct replay_graph *graph = editing->graph;
    uint32_t thread = graph->thread_of_track[editing->trace->track[e]];
    int64_t start_ns = replay_event_start(graph, e);
    if (thread == UINT32_MAX)
        return NULL;
    const struct intervals *own = &ranges[thread];
    size_t at;
    SEARCH_NEAR(at, *near, own->count, own->at[at].end_ns <= start_ns);
    *near = at;
    return at < own->count && own->at[at].start_ns <= start_ns ? &own->at[at] : NULL;
}

/* Add PART, called or launched by event E, if it lies in one of RANGES. */
static void add_part(struct parts *parts, const struct editing *editing, const struct intervals *ranges,
                     event_id e, struct part part)
{
    const struct interval *range = range_around(editing, ranges, e, &parts->near);
    part.thread = editing->graph->thread_of_track[editing->trace->track[e]];
    if (!range)
        return;
    part.range = (size_t)(range - ranges[part.thread].at);
    *VEC_PUSH(parts) = part;
}

static struct part operator_part(const struct trace *trace, event_id e)
{
    return (struct part){ .name = trace->name[e], .item = e, .dur_ns = trace_dur_ns(trace, e) };
}

/* Is any operator that takes no list called so often in one of RANGES that it may loop? Inner ones count as well: which are the outermost
 * takes much longer to find. */
static bool any_may_loop(const struct editing *editing, const struct intervals *ranges,
                         const struct name_flags *steps, const struct name_flags *lists)
{
    const struct trace *trace = editing->trace;
    struct parts parts = { 0 };
    bool any = false;
    for (event_id e = 0; e < trace->event_count; e++)
        if (trace->kind[e] == EVENT_OP && !name_flags_has(lists, e) && is_operator(steps, e))
            add_part(&parts, editing, ranges, e, (struct part){ .name = trace->name[e] });
    SORT(&parts, by_range_and_name);
    FOR_GROUPS(&parts, by_calls, first, end) {
        any |= end - first >= LEAST_CALLS;
    }
    VEC_FREE(&parts);
    return any;
}

/* The outermost operators in RANGES, sorted by range and name. */
static struct parts operators_of(const struct editing *editing, const struct intervals *ranges,
                                 const struct name_flags *names)
{
    struct parts parts = { 0 };
    struct calltree *tree = calltree_open(editing->trace, is_operator, names);
    calltree_nest(tree);
    size_t near = 0;
    for (node_id n = 0; n < tree->count; n++) {
        size_t count = parts.count;
        add_part(&parts, editing, ranges, tree->event[n], operator_part(editing->trace, tree->event[n]));
        if (parts.count > count && tree->parent[n] != NODE_NONE &&
            range_around(editing, ranges, tree->event[tree->parent[n]], &near))
            parts.count = count; /* it lies in another */
    }
    arena_free(tree);
    SORT(&parts, by_range_and_name);
    return parts;
}

static struct parts optimizer_work_of(const struct editing *editing, const struct intervals *ranges)
{
    struct parts parts = { 0 };
    const struct gpu_events *gpu = editing->graph->gpu;
    for (size_t i = 0; i < gpu->count; i++)
        if (gpu->call[i] != EVENT_NONE)
            add_part(&parts, editing, ranges, gpu->call[i],
                     (struct part){ .name = editing->trace->name[gpu->event[i]],
                                    .item = i,
                                    .dur_ns = trace_dur_ns(editing->trace, gpu->event[i]) });
    SORT(&parts, by_range_and_name);
    return parts;
}

/* New, by name; free(): the shortest of its PARTS. */
static int64_t *shortest_of(const struct trace *trace, const struct parts *parts)
{
    int64_t *shortest = mem_zalloc(names_count(trace->names) + 1, sizeof *shortest);
    for (size_t i = 0; i < parts->count; i++) {
        int64_t *of = &shortest[parts->at[i].name];
        if (*of == 0 || parts->at[i].dur_ns < *of)
            *of = parts->at[i].dur_ns;
    }
    return shortest;
}

/* Does the step that calls PARTS loop over parameters? */
static bool is_loop(const struct name_flags *lists, const struct part *parts, size_t count)
{
    size_t most = 0, alike = 0;
    for (size_t i = 0; i < count; i++) {
        if (lists->flags[parts[i].name])
            return false;
        alike = i > 0 && parts[i].name == parts[i - 1].name ? alike + 1 : 1;
        most = alike > most ? alike : most;
    }
    return most >= LEAST_CALLS;
}

/* What the host needs for the step of LENGTH_NS that calls PARTS, if each name is called once. FUSED: they pass over each tensor once. */
static double host_left_ns(const struct editing *editing, const struct part *parts, size_t count,
                           const int64_t *shortest, double length_ns, bool fused)
{
    double inside_ns = 0, left_ns = 0;
    size_t names = 0;
    for (size_t i = 0; i < count; i++) {
        bool is_first = i == 0 || parts[i].name != parts[i - 1].name;
        int64_t least_ns = shortest[parts[i].name];
        inside_ns += (double)parts[i].dur_ns;
        left_ns += is_first ? (double)least_ns : 0;
        if (editing->graph->gpu->count == 0 &&
            (!fused || is_in_place(names_text(editing->trace->names, parts[i].name))))
            left_ns += (double)(parts[i].dur_ns - least_ns);
        names += is_first;
    }
    return left_ns + (length_ns - inside_ns) * (double)names / (double)count +
           LEFT_OF_A_CALL * (double)(count - names);
}

/* The device's part: as long as WORK of a kernel takes beyond its shortest run. LOOPS: the ranges that loop, by thread. */
static void shorten_work(const struct editing *editing, const struct intervals *loops)
{
    struct parts work = optimizer_work_of(editing, loops);
    int64_t *shortest = shortest_of(editing->trace, &work);
    for (size_t i = 1; i < work.count; i++) {
        const struct part *part = &work.at[i];
        if (part->dur_ns > 0 && part->name == part[-1].name && rows_compare(part, &part[-1], by_range) == 0)
            editing_scale_work(editing, part->item, 1 - (double)shortest[part->name] / (double)part->dur_ns);
    }
    free(shortest);
    VEC_FREE(&work);
}

static bool is_step_with_fused(const char *name)
{
    return edit_is_optimizer_step(name) && edit_optimizer_has_fused(name);
}

void edit_fuse_optimizer(const struct editing *editing)
{
    struct edit_effect ignored = { 0, 0 };
    struct editing quiet = *editing;
    quiet.effect = &ignored;
    struct name_flags names = name_flags_of(editing->trace, edit_is_optimizer_step),
                      lists = name_flags_of(editing->trace, takes_lists);
    struct name_flags has_fused = name_flags_of(editing->trace, is_step_with_fused);
    struct intervals *ranges = editing_ranges(&quiet, name_flags_has, &names),
                     *fused = editing_ranges(&quiet, name_flags_has, &has_fused);
    struct intervals *loops = arena_open(mem_times(editing->graph->thread_count + 1, sizeof *loops));
    ARENA_OWNS_EACH(arena_of(loops), loops, editing->graph->thread_count, at);
    struct parts parts = { 0 };
    if (ignored.count > 0 && any_may_loop(editing, ranges, &names, &lists))
        parts = operators_of(editing, ranges, &names);
    int64_t *shortest = shortest_of(editing->trace, &parts);
    FOR_GROUPS(&parts, by_range, i, end) {
        const struct interval range = ranges[parts.at[i].thread].at[parts.at[i].range];
        double length_ns = (double)(range.end_ns - range.start_ns);
        if (!is_loop(&lists, &parts.at[i], end - i))
            continue;
        bool is_fused = intervals_length_within(&fused[parts.at[i].thread], range.start_ns, range.end_ns) > 0;
        double left_ns = host_left_ns(editing, &parts.at[i], end - i, shortest, length_ns, is_fused);
        if (left_ns < length_ns)
            changes_scale_range(editing->changes, parts.at[i].thread, range.start_ns, range.end_ns,
                                left_ns / length_ns);
        intervals_add(&loops[parts.at[i].thread], range.start_ns, range.end_ns);
        editing->effect->count += end - i;
        editing->effect->time_ns += range.end_ns - range.start_ns;
    }
    for (size_t t = 0; t < editing->graph->thread_count; t++)
        intervals_merge(&loops[t]);
    if (parts.count > 0)
        shorten_work(editing, loops);
    arena_free(loops);
    arena_free(ranges);
    arena_free(fused);
    EACH(free, shortest, names.flags, lists.flags, has_fused.flags);
    VEC_FREE(&parts);
}
