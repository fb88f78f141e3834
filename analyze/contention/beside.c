/* One pass over the starts and ends of the work of each device keeps the classes that run on each stream. Between two of these
 * moments, the classes beside a stream are those that run anywhere, less those that run on this stream alone: their number and
 * the sum of their ids tell whether there is one, and which. */
#include "analyze/contention/contention.h"

#include "base/rows.h"
#include "base/search.h"
#include "derive/copy_names.h"
#include "trace/derived.h"

const char *beside_kind_name(enum beside_kind kind)
{
    static const char *const names[BESIDE_KINDS] = {
        [BESIDE_COMMUNICATION] = "communication",
        [BESIDE_KERNEL] = "kernel",
        [BESIDE_COPY] = "copy",
        [BESIDE_MEMSET] = "memset",
    };
    return names[kind];
}

/* ---- classes ---- */

struct communicating {
    event_id event;
    uint32_t index; /* of collectives.at */
};

static const struct key by_event[] = { ASC(struct communicating, event), KEY_END };

static uint32_t beside_add_class(struct beside *beside, struct names *ids, const struct beside_class *class)
{
    uint32_t id = names_add(ids, (const char *)class, sizeof *class);
    if (id == beside->classes.count)
        *VEC_PUSH(&beside->classes) = *class;
    return id;
}

/* DIRECTIONS: by name of a copy, 1 and its direction, 0: not known yet. */
static struct beside_class beside_class_of(const struct beside *beside, size_t position,
                                           const struct collective *collective, uint8_t *directions)
{
    const struct trace *trace = beside->trace;
    name_id name = trace->name[beside->gpu->event[position]];
    struct beside_class class = { BESIDE_KERNEL, 0, NAME_NONE, NAME_NONE, NAME_NONE };
    uint8_t work = beside->gpu->work[position];
    if (work == GPU_MEMSET) {
        class.kind = BESIDE_MEMSET;
    } else if (work == GPU_MEMCPY) {
        class.kind = BESIDE_COPY;
        if (directions[name] == 0)
            directions[name] = (uint8_t)(1 + copy_kind_of(names_text(trace->names, name)).direction);
        class.what = directions[name] - 1u;
    } else if (gpu_work_communicates(work)) {
        class.kind = BESIDE_COMMUNICATION;
        class.what = collective ? collective->kind : COLLECTIVE_UNKNOWN;
        class.kernel = class.what == COLLECTIVE_UNKNOWN ? name : NAME_NONE;
        class.group = collective ? collective->group_name : NAME_NONE;
        class.description = collective ? collective->group_description : NAME_NONE;
    }
    return class;
}

static void find_classes(struct beside *beside)
{
    const struct gpu_events *gpu = beside->gpu;
    const struct collectives *all = beside->collectives;
    SCOPED_OBJECT struct names *ids = names_open();
    SCOPED VEC_OF(struct communicating) communicating = { 0 };
    for (uint32_t i = 0; i < all->count; i++)
        *VEC_PUSH(&communicating) = (struct communicating){ all->at[i].event, i };
    SORT(&communicating, by_event);
    beside->class_of = mem_alloc(mem_times(gpu->count + 1, sizeof *beside->class_of));
    SCOPED uint8_t *directions = mem_zalloc(names_count(beside->trace->names) + 1, sizeof *directions);
    uint32_t usual[GPU_WORK_KINDS] = { 0 }; /* 1 + the class of all computations, and of all memsets */
    for (size_t i = 0; i < gpu->count; i++) {
        uint32_t *known = &usual[gpu->work[i]];
        if (*known) {
            beside->class_of[i] = *known - 1;
            continue;
        }
        struct communicating wanted = { gpu->event[i], 0 };
        const struct communicating *found =
            gpu_work_communicates(gpu->work[i])
                ? rows_find(communicating.at, communicating.count, sizeof wanted, by_event, &wanted)
                : NULL;
        struct beside_class class =
            beside_class_of(beside, i, found ? &all->at[found->index] : NULL, directions);
        beside->class_of[i] = beside_add_class(beside, ids, &class);
        if (class.kind == BESIDE_KERNEL || class.kind == BESIDE_MEMSET)
            *known = beside->class_of[i] + 1;
    }
}

struct text beside_class_text(const struct beside *beside, uint32_t class)
{
    const struct beside_class *of = &beside->classes.at[class];
    switch (of->kind) {
    case BESIDE_COPY: return as_text(copy_direction_name((enum copy_direction)of->what));
    case BESIDE_COMMUNICATION:
        return as_text(of->what == COLLECTIVE_UNKNOWN ? names_text(beside->trace->names, of->kernel)
                                                      : collective_kind_name((enum collective_kind)of->what));
    default: return as_text(NULL);
    }
}

struct text beside_class_group(const struct beside *beside, uint32_t class)
{
    name_id description = beside->classes.at[class].description;
    const char *text = description == NAME_NONE ? "" : names_text(beside->trace->texts, description);
    return as_text(*text && strcmp(text, "undefined") != 0 ? text : NULL);
}

/* ---- what runs beside ---- */

struct moment {
    int64_t ns;
    bool starts;
    uint32_t stream, class;
};

static const struct key by_time[] = { ASC(struct moment, ns), ASC(struct moment, starts), KEY_END };

/* A class that runs on a stream now, COUNT times. */
struct held {
    uint32_t stream, class, count;
};

struct sweep {
    struct beside *beside;
    VEC_OF(struct held) held; /* those of a stream are adjacent */
    uint32_t *streams_with;   /* by class: streams on which it runs now */
    uint64_t classes, id_sum; /* that run now */
};

static void sweep_move(struct sweep *sweep, const struct moment *moment)
{
    size_t i = 0, same_stream = SIZE_MAX, count = sweep->held.count;
    for (; i < count; i++) {
        const struct held *held = &sweep->held.at[i];
        if (held->stream == moment->stream && held->class == moment->class)
            break;
        if (held->stream == moment->stream)
            same_stream = i;
    }
    if (i < count) {
        sweep->held.at[i].count += moment->starts ? 1u : UINT32_MAX;
        if (sweep->held.at[i].count > 0)
            return;
        memmove(&sweep->held.at[i], &sweep->held.at[i + 1], (count - i - 1) * sizeof *sweep->held.at);
        sweep->held.count--;
        if (--sweep->streams_with[moment->class] > 0)
            return;
        sweep->classes--;
        sweep->id_sum -= moment->class;
        return;
    }
    VEC_RESERVE(&sweep->held, 1);
    sweep->held.count++;
    size_t to = same_stream == SIZE_MAX ? count : same_stream + 1;
    memmove(&sweep->held.at[to + 1], &sweep->held.at[to], (count - to) * sizeof *sweep->held.at);
    sweep->held.at[to] = (struct held){ moment->stream, moment->class, 1 };
    if (sweep->streams_with[moment->class]++ > 0)
        return;
    sweep->classes++;
    sweep->id_sum += moment->class;
}

static void stream_add(struct beside_stream *stream, uint32_t class, int64_t start_ns, int64_t end_ns)
{
    size_t i = 0;
    while (i < stream->sets.count && stream->sets.at[i].class != class)
        i++;
    if (i == stream->sets.count)
        *VEC_PUSH(&stream->sets) = (struct beside_set){ .class = class };
    intervals_add(&stream->sets.at[i].when, start_ns, end_ns);
}

/* Add what runs from START to END beside each stream that works. */
static void sweep_add(struct sweep *sweep, int64_t start_ns, int64_t end_ns)
{
    FOR_RUNS(first, end, sweep->held.count, sweep->held.at[end].stream == sweep->held.at[first].stream) {
        uint64_t others = sweep->classes, id_sum = sweep->id_sum;
        for (size_t i = first; i < end; i++)
            if (sweep->streams_with[sweep->held.at[i].class] == 1) {
                others--;
                id_sum -= sweep->held.at[i].class;
            }
        if (others == 0)
            continue;
        struct beside_stream *of = &sweep->beside->of_stream[sweep->held.at[first].stream];
        stream_add(of, BESIDE_ANY, start_ns, end_ns);
        if (others == 1)
            stream_add(of, (uint32_t)id_sum, start_ns, end_ns);
    }
}

/* The streams of one device, [FIRST, END). */
static void sweep_device(struct sweep *sweep, uint32_t first, uint32_t end)
{
    const struct beside *beside = sweep->beside;
    const struct trace *trace = beside->trace;
    SCOPED VEC_OF(struct moment) moments = { 0 };
    for (uint32_t s = first; s < end; s++)
        for (size_t i = 0; i < beside->streams->at[s].count; i++) {
            uint32_t position = beside->streams->position[beside->streams->at[s].first + i];
            event_id e = beside->gpu->event[position];
            if (trace_dur_ns(trace, e) == 0)
                continue;
            uint32_t class = beside->class_of[position];
            *VEC_PUSH(&moments) = (struct moment){ trace_start_ns(trace, e), true, s, class };
            *VEC_PUSH(&moments) = (struct moment){ trace_end_ns(trace, e), false, s, class };
        }
    SORT(&moments, by_time);
    for (size_t i = 0; i < moments.count; i++) {
        sweep_move(sweep, &moments.at[i]);
        if (i + 1 < moments.count && moments.at[i].ns < moments.at[i + 1].ns)
            sweep_add(sweep, moments.at[i].ns, moments.at[i + 1].ns);
    }
}

static void count_before(struct beside_set *set)
{
    int64_t sum_ns = 0;
    set->before_ns = mem_alloc(mem_times(set->when.count, sizeof *set->before_ns));
    for (size_t i = 0; i < set->when.count; i++) {
        set->before_ns[i] = sum_ns;
        sum_ns += set->when.at[i].end_ns - set->when.at[i].start_ns;
    }
}

static struct beside *beside_derive(const struct trace *trace)
{
    struct beside *beside = arena_open(sizeof *beside);
    ARENA_OWNS(arena_of(beside), &beside->classes, &beside->class_of);
    beside->trace = trace;
    beside->gpu = gpu_events_of(trace);
    beside->collectives = arena_hold(arena_of(beside), collectives_open(trace));
    beside->streams = gpu_streams_of(trace);
    beside->of_stream =
        arena_vectors(arena_of(beside), beside->streams->count + 1, sizeof *beside->of_stream);
    find_classes(beside);
    struct sweep sweep = { .beside = beside,
                           .streams_with =
                               mem_zalloc(beside->classes.count + 1, sizeof *sweep.streams_with) };
    FOR_RUNS(first, end, beside->streams->count,
             beside->streams->at[end].device == beside->streams->at[first].device)
        if (end - first > 1) /* nothing runs beside a stream that is alone */
            sweep_device(&sweep, (uint32_t)first, (uint32_t)end);
    FOR_EACH_OF(of, beside->of_stream, beside->streams->count) {
        for (size_t i = 0; i < of->sets.count; i++)
            count_before(&of->sets.at[i]);
        ARENA_OWNS_EACH(arena_of(beside), of->sets.at, of->sets.count, when);
        ARENA_OWNS_EACH(arena_of(beside), of->sets.at, of->sets.count, before_ns);
    }
    VEC_FREE(&sweep.held);
    free(sweep.streams_with);
    return beside;
}

DERIVED(beside, beside_of, beside_derive);

/* The time of SET before NS. */
static int64_t time_before(const struct beside_set *set, int64_t ns)
{
    size_t i = PLACE(k, set->when.count, set->when.at[k].start_ns < ns);
    if (i == 0)
        return 0;
    const struct interval *last = &set->when.at[i - 1];
    return set->before_ns[i - 1] + (ns < last->end_ns ? ns : last->end_ns) - last->start_ns;
}

int64_t beside_time(const struct beside *beside, size_t stream, uint32_t class, int64_t start_ns,
                    int64_t end_ns)
{
    const struct beside_stream *of = &beside->of_stream[stream];
    for (size_t i = 0; i < of->sets.count; i++)
        if (of->sets.at[i].class == class)
            return time_before(&of->sets.at[i], end_ns) - time_before(&of->sets.at[i], start_ns);
    return 0;
}
