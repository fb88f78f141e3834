/* A key has a number for each requested dimension: of a file, track, step, name or path; NO_KEY means none. The numbers
 * are interned as bytes, so that ids are dense and in order of first occurrence. */
#include "analyze/group.h"

#include "analyze/selection.h"
#include "base/demangle.h"
#include "derive/file_set.h"
#include "derive/code_paths.h"
#include "derive/shapes.h"
#include "derive/step_list.h"
#include <assert.h>

#define NO_KEY INT64_C(-1)

/* What the tracks of events tell, and whether these are of devices. */
#define BY_TRACKS (BY(RANK) | BY(CYCLE) | BY(DEVICE) | BY(STREAM) | BY(THREAD))

/* The tracks of work, its call and its operator; TRACK_NONE: there is no such event. */
struct group_tracks {
    track_id work, call, op;
    bool of_device; /* the work */
};

struct group {
    const struct trace *trace;
    const struct graph_links *links; /* NULL: no capture was given */
    const struct file_set *set;
    track_id *
        first_track; /* by track: the same of the first cycle of its rank; NULL if nobody has cycles, or they are apart */
    unsigned dimensions; /* requested */
    unsigned keyed;      /* these, and the rank if it must not be merged */
    size_t width;        /* number of keyed dimensions */
    struct names *keys;
    int64_t last_key[DIMENSIONS]; /* of LAST, the group that was found last: the next is often the same */
    uint32_t last;
    struct group_tracks last_tracks; /* of what LAST was found for, where tracks tell the group */
    const struct step_list *steps;
    bool *has_calls; /* by file, if steps contain what was launched in them; else NULL */
    const struct code_paths *modules;
};

const struct opt_choice group_words[DIMENSIONS + 1] = {
    [DIMENSION_RANK] = { "rank", "by rank" },
    [DIMENSION_CYCLE] = { "cycle", "by cycle of the profiler" },
    [DIMENSION_DEVICE] = { "device", "by device" },
    [DIMENSION_STREAM] = { "stream", "by stream" },
    [DIMENSION_THREAD] = { "thread", "by host thread" },
    [DIMENSION_STEP] = { "step", "by step in which it was launched" },
    [DIMENSION_OP] = { "op", "by operator that launched it", "operator" },
    [DIMENSION_CALL] = { "call", "by name of the runtime or driver call" },
    [DIMENSION_MODULE] = { "module", "by nn.Module that launched it" },
    [DIMENSION_KERNEL] = { "kernel", "by name of kernel, copy or memset" },
    [DIMENSION_CATEGORY] = { "category", "by category in the file" },
    [DIMENSION_SHAPE] = { "shape", "by sizes of the operator's inputs" },
};

uint64_t group_wants(unsigned dimensions)
{
    return (dimensions & BY(MODULE) ? CODE_PATHS_WANTS : 0) | (dimensions & BY(SHAPE) ? WANT(INPUT_DIMS) : 0);
}

/* New, by track: the first track with its rank and numbers. */
static track_id *find_first_tracks(const struct trace *trace, const struct file_set *set)
{
    track_id *first = mem_alloc(mem_times(trace->track_count + 1, sizeof *first));
    SCOPED_OBJECT struct names *seen = names_open();
    SCOPED VEC_OF(track_id) tracks = { 0 };
    for (track_id t = 0; t < trace->track_count; t++) {
        const struct track *track = &trace->tracks[t];
        const int64_t key[] = { set->files[track->file].rank,
                                track->kind,
                                track->device,
                                track->stream,
                                track->pid,
                                track->tid,
                                track->pid_text,
                                track->tid_text };
        name_id id = names_add(seen, (const char *)key, sizeof key);
        if (id == tracks.count)
            *VEC_PUSH(&tracks) = t;
        assert(tracks.at); /* as each id has a track */
        first[t] = tracks.at[id];
    }
    return first;
}

struct group *group_open(const struct trace *trace, unsigned dimensions)
{
    struct group *group = arena_open(sizeof *group);
    ARENA_OWNS(arena_of(group), &group->first_track, &group->has_calls);
    group->trace = trace;
    group->links = graph_links_of(trace);
    group->dimensions = dimensions;
    group->keyed = dimensions | (group_is_below_rank(dimensions) ? BY(RANK) : 0);
    for (size_t d = 0; d < DIMENSIONS; d++)
        group->width += group->keyed >> d & 1;
    group->keys = arena_hold(arena_of(group), names_open());
    group->set = file_set_of(trace);
    if (file_set_has_cycles(group->set) && !(dimensions & BY(CYCLE)))
        group->first_track = find_first_tracks(trace, group->set);
    if (dimensions & BY(STEP))
        group->steps = step_list_of(trace);
    if (dimensions & BY(MODULE))
        group->modules = code_paths_of(trace, CODE_MODULES);
    return group;
}

void group_set_steps(struct group *group, const struct step_list *steps)
{
    const struct trace *trace = group->trace;
    group->steps = steps;
    free(group->has_calls);
    group->has_calls = mem_zalloc(trace->file_count + 1, sizeof *group->has_calls);
    for (event_id e = 0; e < trace->event_count; e++)
        if (event_is_call((enum event_kind)trace->kind[e]))
            group->has_calls[trace->tracks[trace->track[e]].file] = true;
}

bool group_has_no_modules(const struct group *group)
{
    return group->modules && group->modules->count == 1;
}

/* ---- the key of an event ---- */

/* The file of E, or the first one of its rank if cycles add up. */
static uint32_t file_key(const struct group *group, event_id e)
{
    uint32_t file = group->trace->tracks[group->trace->track[e]].file;
    return group->first_track ? group->set->first[group->set->files[file].rank] : file;
}

static track_id track_key(const struct group *group, event_id e)
{
    track_id track = group->trace->track[e];
    return group->first_track ? group->first_track[track] : track;
}

/* Device numbers are below 2^31, so that file and device fit. */
static int64_t device_key(const struct group *group, event_id work)
{
    const struct track *track = &group->trace->tracks[group->trace->track[work]];
    return (int64_t)file_key(group, work) << 32 | (uint32_t)track->device;
}

static int64_t step_key(const struct group *group, event_id e)
{
    const struct trace *trace = group->trace;
    const struct step *step =
        step_list_at(group->steps, trace->tracks[trace->track[e]].file, trace_start_ns(trace, e));
    return step ? step - group->steps->at : NO_KEY;
}

static int64_t module_key(const struct group *group, event_id e)
{
    const struct code_place place = code_place_of(group->modules, e);
    return place.path == CODE_OUTSIDE ? NO_KEY : group->modules->at[place.path].label;
}

/* For work of a graph, the id of its captured operator, after the ids of the trace. */
static int64_t captured_key(const struct group *group, enum dimension dimension, event_id work)
{
    const struct captured_op *op = graph_link_op(group->links, work);
    if (dimension == DIMENSION_OP)
        return (int64_t)names_count(group->trace->names) + graph_link_name_id(group->links, work);
    if (dimension == DIMENSION_SHAPE)
        return op && op->dims != NAME_NONE ? (int64_t)names_count(group->trace->texts) + op->dims : NO_KEY;
    const struct code_place place = code_place_of_work(group->modules, NULL, work);
    return place.path == CODE_OUTSIDE ? NO_KEY : group->modules->at[place.path].label;
}

static event_id either(event_id first, event_id second)
{
    return first != EVENT_NONE ? first : second;
}

static int64_t key_of(const struct group *group, enum dimension dimension, event_id work, event_id call,
                      event_id op)
{
    const struct trace *trace = group->trace;
    event_id e = EVENT_NONE; /* the event that gives the key */
    bool of_operator =
        dimension == DIMENSION_OP || dimension == DIMENSION_SHAPE || dimension == DIMENSION_MODULE;
    if (of_operator && work != EVENT_NONE && graph_link_is_work(group->links, work))
        return captured_key(group, dimension, work);
    switch (dimension) {
    case DIMENSION_DEVICE:
    case DIMENSION_STREAM:
    case DIMENSION_KERNEL: e = work; break;
    case DIMENSION_CALL: e = call; break;
    case DIMENSION_THREAD:
    case DIMENSION_MODULE: e = either(call, op); break;
    case DIMENSION_RANK:
    case DIMENSION_CYCLE:
    case DIMENSION_STEP: e = either(call, either(work, op)); break;
    case DIMENSION_OP: e = either(op, call); break;
    case DIMENSION_CATEGORY: e = either(work, either(call, op)); break;
    case DIMENSION_SHAPE: e = op; break;
    case DIMENSIONS: break;
    }
    bool of_device = dimension == DIMENSION_DEVICE || dimension == DIMENSION_STREAM;
    if (e == EVENT_NONE || (of_device && !event_on_device(trace->kind[e])))
        return NO_KEY;
    switch (dimension) {
    case DIMENSION_RANK:
    case DIMENSION_CYCLE: return file_key(group, e);
    case DIMENSION_DEVICE: return device_key(group, e);
    case DIMENSION_STREAM:
    case DIMENSION_THREAD: return (int64_t)track_key(group, e);
    case DIMENSION_STEP:
        if (group->has_calls && e == work && event_is_launched((enum event_kind)trace->kind[e]) &&
            group->has_calls[trace->tracks[trace->track[e]].file])
            return NO_KEY;
        return step_key(group, e);
    case DIMENSION_OP:
    case DIMENSION_CALL:
    case DIMENSION_KERNEL: return (int64_t)trace->name[e];
    case DIMENSION_MODULE: return module_key(group, e);
    case DIMENSION_CATEGORY: return trace->category[e];
    case DIMENSION_SHAPE: return trace_arg_or(trace, ARG_INPUT_DIMS, e, NO_KEY);
    case DIMENSIONS: break;
    }
    return NO_KEY;
}

static track_id track_or_none(const struct trace *trace, event_id e)
{
    return e == EVENT_NONE ? TRACK_NONE : trace->track[e];
}

/* Do tracks tell the group of these events, and are they those of the group that was found last? They are kept. */
static bool is_on_last_tracks(struct group *group, event_id work, event_id call, event_id op)
{
    const struct trace *trace = group->trace;
    if (group->keyed & ~BY_TRACKS)
        return false;
    const struct group_tracks last = group->last_tracks,
                              own = { track_or_none(trace, work), track_or_none(trace, call),
                                      track_or_none(trace, op),
                                      work != EVENT_NONE && event_on_device(trace->kind[work]) };
    group->last_tracks = own;
    return names_count(group->keys) > 0 && own.work == last.work && own.call == last.call &&
           own.op == last.op && own.of_device == last.of_device;
}

uint32_t group_of(struct group *group, event_id work, event_id call, event_id op)
{
    int64_t key[DIMENSIONS];
    size_t width = 0;
    if (is_on_last_tracks(group, work, call, op))
        return group->last;
    for (unsigned left = group->keyed; left; left &= left - 1)
        key[width++] = key_of(group, (enum dimension)__builtin_ctz(left), work, call, op);
    if (names_count(group->keys) == 0 || memcmp(key, group->last_key, width * sizeof *key) != 0) {
        group->last = names_add(group->keys, (const char *)key, width * sizeof *key);
        memcpy(group->last_key, key, width * sizeof *key);
    }
    return group->last;
}

/* ---- a key as text ---- */

void group_append_thread(const struct trace *trace, track_id thread, struct buffer *out)
{
    const struct track *track = &trace->tracks[thread];
    const char *name = names_text(trace->texts, track->thread_name);
    SCOPED struct buffer number = { 0 };
    if (track->tid_text == NAME_NONE)
        buffer_printf(&number, "%lld", (long long)track->tid);
    else
        buffer_puts(&number, names_text(trace->texts, track->tid_text));
    if (!strstr(name, number.at)) /* "thread 4711 (pt_autograd_0)" */
        buffer_printf(out, "%s%s", number.at, *name ? " " : "");
    buffer_puts(out, name);
}

static struct text group_name_of(const struct names *names, name_id id)
{
    return (struct text){ names_text(names, id), names_length(names, id) };
}

/* A copy of TEXT, which is emptied; lives as long as GROUP. */
static struct text group_keep(struct group *group, struct buffer *text)
{
    struct text kept = { arena_strndup(arena_of(group), text->at ? text->at : "", text->count), text->count };
    buffer_release(text);
    return kept;
}

static struct text thread_text(struct group *group, int64_t key)
{
    struct buffer text = { 0 };
    group_append_thread(group->trace, (track_id)key, &text);
    return group_keep(group, &text);
}

static struct text group_kernel_text(struct group *group, int64_t key)
{
    struct buffer text = { 0 };
    if (!demangle_name(&text, names_text(group->trace->names, (name_id)key)))
        return group_name_of(group->trace->names, (name_id)key);
    return group_keep(group, &text);
}

/* The text KEY of OWN or, for larger ids, of the captures of graphs. */
static struct text text_behind(const struct group *group, const struct names *own, int64_t key)
{
    int64_t count = (int64_t)names_count(own);
    return key < count ? group_name_of(own, (name_id)key)
                       : group_name_of(group->links->bodies->texts, (name_id)(key - count));
}

static struct text shape_text(struct group *group, int64_t key)
{
    struct buffer text = { 0 };
    shapes_append(&text, text_behind(group, group->trace->texts, key).at);
    return group_keep(group, &text);
}

static void set_text(struct group *group, struct group_key *key, enum dimension dimension, int64_t number)
{
    const struct trace *trace = group->trace;
    bool none = number == NO_KEY;
    switch (dimension) {
    case DIMENSION_THREAD: key->thread = none ? as_text("(no thread)") : thread_text(group, number); break;
    case DIMENSION_OP:
        key->op = none ? as_text("(no operator)") : text_behind(group, trace->names, number);
        break;
    case DIMENSION_CALL:
        key->call = none ? as_text("(no call)") : group_name_of(trace->names, (name_id)number);
        break;
    case DIMENSION_MODULE:
        key->module = none ? as_text("(no module)") : group_name_of(group->modules->labels, (name_id)number);
        break;
    case DIMENSION_KERNEL:
        key->kernel = none ? as_text("(no kernel)") : group_kernel_text(group, number);
        break;
    case DIMENSION_CATEGORY:
        key->category = none ? as_text("") : group_name_of(trace->texts, trace->categories[number].text);
        if (key->category.len == 0) /* may be missing in files */
            key->category = as_text("(no category)");
        break;
    case DIMENSION_SHAPE: key->shape = none ? as_text("(no shape)") : shape_text(group, number); break;
    default: break;
    }
}

/* The file of a NUMBER of DIMENSION, which is below a rank. */
static uint32_t file_of(const struct group *group, enum dimension dimension, int64_t number)
{
    switch (dimension) {
    case DIMENSION_RANK:
    case DIMENSION_CYCLE: return (uint32_t)number;
    case DIMENSION_DEVICE: return (uint32_t)(number >> 32);
    case DIMENSION_STEP: return group->steps->at[number].file;
    default: return group->trace->tracks[number].file;
    }
}

static void set_number(const struct group *group, struct group_key *key, enum dimension dimension,
                       int64_t number)
{
    const struct trace *trace = group->trace;
    key->rank = selection_rank(trace, file_of(group, dimension, number));
    if (dimension == DIMENSION_CYCLE)
        key->cycle = group->set->files[file_of(group, dimension, number)].cycle + 1;
    if (dimension == DIMENSION_DEVICE)
        key->device = (int32_t)(uint32_t)number;
    if (dimension == DIMENSION_STREAM) {
        key->device = trace->tracks[number].device;
        key->stream = trace->tracks[number].stream;
    }
    if (dimension == DIMENSION_STEP)
        key->step = group->steps->at[number].number;
}

bool group_is_below_rank(unsigned dimensions)
{
    return dimensions & (BY(RANK) | BY(CYCLE) | BY(DEVICE) | BY(STREAM) | BY(THREAD) | BY(STEP));
}

struct group_key group_key(struct group *group, uint32_t id)
{
    struct group_key key = { .rank = TABLE_INT_MISSING,
                             .cycle = TABLE_INT_MISSING,
                             .device = TABLE_INT_MISSING,
                             .stream = TABLE_INT_MISSING,
                             .step = TABLE_INT_MISSING };
    int64_t numbers[DIMENSIONS];
    memcpy(numbers, names_text(group->keys, id), group->width * sizeof *numbers);
    size_t at = 0;
    for (unsigned d = 0; d < DIMENSIONS; d++) {
        if (!(group->keyed >> d & 1))
            continue;
        if (group_is_below_rank(1u << d) && numbers[at] != NO_KEY)
            set_number(group, &key, (enum dimension)d, numbers[at]);
        set_text(group, &key, (enum dimension)d, numbers[at]);
        at++;
    }
    return key;
}

/* ---- columns ---- */

static const size_t members[DIMENSIONS] = {
    [DIMENSION_RANK] = offsetof(struct group_key, rank),
    [DIMENSION_CYCLE] = offsetof(struct group_key, cycle),
    [DIMENSION_DEVICE] = offsetof(struct group_key, device),
    [DIMENSION_STREAM] = offsetof(struct group_key, stream),
    [DIMENSION_THREAD] = offsetof(struct group_key, thread),
    [DIMENSION_STEP] = offsetof(struct group_key, step),
    [DIMENSION_OP] = offsetof(struct group_key, op),
    [DIMENSION_CALL] = offsetof(struct group_key, call),
    [DIMENSION_MODULE] = offsetof(struct group_key, module),
    [DIMENSION_KERNEL] = offsetof(struct group_key, kernel),
    [DIMENSION_CATEGORY] = offsetof(struct group_key, category),
    [DIMENSION_SHAPE] = offsetof(struct group_key, shape),
};

/* The dimensions whose columns are shown, except an implied rank. */
static unsigned shown_dimensions(const struct group *group)
{
    return group->dimensions | (group->dimensions & BY(STREAM) ? BY(DEVICE) : 0);
}

bool group_has_column(const struct group *group, size_t offset)
{
    unsigned dimensions = shown_dimensions(group);
    if (group_is_below_rank(dimensions))
        dimensions |= BY(RANK);
    return ANY(d, DIMENSIONS, dimensions >> d & 1 && members[d] == offset);
}

void group_fill_texts(const struct group *group, struct table *table, size_t offset)
{
    unsigned dimensions = shown_dimensions(group);
    for (unsigned d = 0; d < DIMENSIONS; d++)
        if (dimensions >> d & 1)
            table->columns[table_column_at(table, offset + members[d])].flags = 0;
    if (group_is_below_rank(dimensions) && !(dimensions & BY(RANK))) /* shown if there are several */
        table->columns[table_column_at(table, offset + members[DIMENSION_RANK])].flags =
            group->set->ranks > 1 ? 0 : TABLE_OPTIONAL;
}
