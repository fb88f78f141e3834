/* By operators alone a row follows from the name, and is found in an array. Otherwise the parts of the key are
 * put together and looked up as bytes: struct names gives equal bytes equal, dense ids. */
#include "analyze/top/top.h"

#include "derive/shapes.h"
#include <assert.h>

/* The dimensions of group.h among BY. */
static unsigned top_group_dimensions(unsigned by)
{
    static const struct {
        unsigned of_top, of_group;
    } dimensions[] = {
        { TOP_CATEGORY, BY(CATEGORY) }, { TOP_THREAD, BY(THREAD) }, { TOP_STREAM, BY(STREAM) },
        { TOP_DEVICE, BY(DEVICE) },     { TOP_STEP, BY(STEP) },     { TOP_RANK, BY(RANK) },
        { TOP_MODULE, BY(MODULE) },     { TOP_CYCLE, BY(CYCLE) },
    };
    unsigned wanted = 0;
    for (size_t i = 0; i < sizeof dimensions / sizeof *dimensions; i++)
        wanted |= by & dimensions[i].of_top ? dimensions[i].of_group : 0;
    return wanted;
}

static struct group *open_group(const struct top_events *events)
{
    unsigned dimensions = top_group_dimensions(events->by);
    if (!dimensions)
        return NULL;
    struct group *group = group_open(events->trace, dimensions);
    if (events->options->steps)
        group_set_steps(group, events->options->steps);
    return group;
}

/* By operators alone nearly all rows follow from the name. */
static void name_rows(struct top_rows *rows)
{
    const struct top_events *events = rows->events;
    const struct top_names *names = &events->names;
    for (int kind = 0; kind < EVENT_KINDS; kind++) {
        bool on_device = event_on_device((enum event_kind)kind);
        bool may_be_record = kind == EVENT_ANNOTATION && names->any_flags & NAME_RECORD;
        bool is_annotation = kind == EVENT_ANNOTATION || kind == EVENT_GPU_ANNOTATION;
        if (events->by != TOP_OPERATOR || events->selected || kind == EVENT_PYTHON || may_be_record ||
            (on_device && rows->several_types))
            continue;
        rows->named[kind].row_of_key = rows->row_of_key[on_device * 2 + is_annotation];
        rows->named[kind].key_of = kind == EVENT_OP ? names->operator_key_of : names->key_of;
    }
}

struct top_rows *top_rows_open(const struct top_events *events, event_id *stack_event)
{
    size_t keys = names_count(events->names.keys), texts = names_count(events->trace->texts);
    struct top_rows *rows = arena_open(sizeof *rows);
    struct arena *arena = arena_of(rows);
    ARENA_OWNS(arena, &rows->at, &rows->stack_event, &rows->buffer);
    *rows = (struct top_rows){
        .events = events,
        .launches = attribution_of(events->trace),
        .types = device_types_of(events->trace),
        .stack_event = stack_event,
        .lines = events->by & TOP_LINE ? code_paths_of(events->trace, CODE_LINES) : NULL,
        .group = open_group(events),
        .texts = arena_hold(arena, names_open()),
        .links = graph_links_of(events->trace),
    };
    if (rows->links && events->by & TOP_SHAPE)
        rows->shape_of_captured =
            arena_zalloc(arena, names_count(rows->links->bodies->texts) + 1, sizeof *rows->shape_of_captured);
    for (size_t c = 0; c < events->trace->category_count; c++)
        rows->several_types |= rows->types->of_category[c] != DEVICE_TYPE_CUDA;
    for (size_t i = 0; i < events->trace->file_count; i++)
        rows->several_types |= rows->types->of_file[i] != DEVICE_TYPE_CUDA;
    rows->nothing = names_add(rows->texts, "", 0);
    rows->no_shape = names_add(rows->texts, "[]", 2);
    for (int i = 0; i < 4; i++) {
        rows->row_of_key[i] = arena_alloc(arena, mem_times(keys + 1, sizeof *rows->row_of_key[i]));
        memset(rows->row_of_key[i], 0xff, (keys + 1) * sizeof *rows->row_of_key[i]);
    }
    name_rows(rows);
    rows->composites = arena_hold(arena, names_open());
    rows->shape_of_text =
        events->by & TOP_SHAPE ? arena_zalloc(arena, texts + 1, sizeof *rows->shape_of_text) : NULL;
    rows->stack_of_text =
        events->by & TOP_STACK ? arena_zalloc(arena, texts + 1, sizeof *rows->stack_of_text) : NULL;
    return rows;
}

/* ---- parts of the key ---- */

static uint32_t shape_of(struct top_rows *rows, event_id e)
{
    const struct trace *trace = rows->events->trace;
    int64_t text;
    if (!trace_arg(trace, ARG_INPUT_DIMS, e, &text))
        return rows->no_shape;
    uint32_t *known = &rows->shape_of_text[text];
    if (*known == 0) {
        buffer_clear(&rows->buffer);
        shapes_append(&rows->buffer, names_text(trace->texts, (name_id)text));
        *known = names_add(rows->texts, rows->buffer.at, rows->buffer.count) + 1;
    }
    return *known - 1;
}

/* profiler_util._filter_stack_entry: frames of the profiler's and autograd's own. */
static bool is_own_frame(const char *frame, size_t len)
{
    static const char *const pairs[][2] = {
        { "autograd/__init__", "_make_grads" },
        { "autograd/__init__", "backward" },
        { "torch/tensor", "backward" },
        { "_internal/common_utils", "prof_callable" },
        { "_internal/common_utils", "prof_func_call" },
        { "_internal/common_utils", "prof_meth_call" },
    };
    return ANY(i, sizeof pairs / sizeof *pairs,
               memmem(frame, len, pairs[i][0], strlen(pairs[i][0])) &&
                   memmem(frame, len, pairs[i][1], strlen(pairs[i][1])));
}

/* The innermost frames, separated by ';' as in the file. */
static uint32_t stack_of(struct top_rows *rows, event_id e)
{
    const struct trace *trace = rows->events->trace;
    int64_t text;
    event_id from = rows->stack_event ? rows->stack_event[e] : e;
    if (from == EVENT_NONE || !trace_arg(trace, ARG_CALL_STACK, from, &text))
        return rows->nothing;
    uint32_t *known = &rows->stack_of_text[text];
    if (*known)
        return *known - 1;
    const char *at = names_text(trace->texts, (name_id)text);
    unsigned depth = rows->events->options->stack_depth ? rows->events->options->stack_depth : 5;
    buffer_clear(&rows->buffer);
    for (unsigned kept = 0; *at && kept < depth;) {
        size_t len = strcspn(at, ";");
        if (len && !is_own_frame(at, len)) {
            if (kept++)
                buffer_putc(&rows->buffer, ';');
            buffer_add(&rows->buffer, at, len);
        }
        at += len + (at[len] == ';');
    }
    *known = names_add(rows->texts, rows->buffer.count ? rows->buffer.at : "", rows->buffer.count) + 1;
    return *known - 1;
}

static uint32_t overload_of(struct top_rows *rows, event_id e)
{
    const struct trace *trace = rows->events->trace;
    const struct top_names *names = &rows->events->names;
    name_id name = trace->name[e];
    size_t plain = names_length(names->keys, top_key_of(rows->events, e));
    size_t len = names_length(trace->names, name);
    if (trace->kind[e] != EVENT_OP || names->key_of[name] == names->operator_key_of[name] || len <= plain)
        return rows->nothing;
    return names_add(rows->texts, names_text(trace->names, name) + plain + 1, len - plain - 1);
}

/* The line in which E was called or, for GPU work, launched; its text, or "". */
static uint32_t line_of(struct top_rows *rows, event_id e)
{
    struct code_place place = event_is_launched((enum event_kind)rows->events->trace->kind[e])
                                  ? code_place_of_work(rows->lines, rows->launches, e)
                                  : code_place_of(rows->lines, e);
    const char *text = code_path_name(rows->lines, place.path);
    return names_add(rows->texts, text, strlen(text));
}

static uint32_t group_of_event(struct top_rows *rows, event_id e)
{
    enum event_kind kind = (enum event_kind)rows->events->trace->kind[e];
    if (!event_on_device(kind))
        return group_of(rows->group, EVENT_NONE, EVENT_NONE, e);
    if (!event_is_launched(kind))
        return group_of(rows->group, e, EVENT_NONE, EVENT_NONE);
    return group_of(rows->group, e, attribution_call(rows->launches, e),
                    attribution_operator(rows->launches, e));
}

/* ---- the row ---- */

/* Where one row holds all that a device does, waits and annotations would count the same time again. */
static bool occupies_device(enum event_kind kind)
{
    return kind != EVENT_SYNC && kind != EVENT_GPU_ANNOTATION;
}

/* Is E counted in any row? */
static bool has_row(const struct top_events *events, event_id e, enum event_kind kind)
{
    bool on_device = event_on_device(kind);
    unsigned by = events->by;
    if (!top_is_selected(events, e) ||
        (kind == EVENT_PYTHON && !events->options->python && top_is_frame(events, e)))
        return false;
    if (!events->per_call && on_device && !(by & TOP_CATEGORY) && !occupies_device(kind))
        return false;
    if (!events->per_call && events->names.wanted && !events->names.wanted[top_key_of(events, e)])
        return false;
    if (by & TOP_KERNEL && !event_is_gpu_work(kind))
        return false;
    return on_device ? !(by & TOP_THREAD) : !(by & (TOP_STREAM | TOP_DEVICE));
}

static struct row_key key_of(struct top_rows *rows, event_id e, bool is_annotation)
{
    const struct top_events *events = rows->events;
    unsigned by = events->by;
    struct row_key key = { .is_annotation = events->per_call && is_annotation };
    if (!top_rows_hold_both_sides(events))
        key.device_type = (uint16_t)event_device_type(events->trace, rows->types, e);
    if (events->per_call)
        key.name = top_key_of(events, e);
    if (by & TOP_SHAPE)
        key.shape = shape_of(rows, e);
    if (by & TOP_STACK)
        key.stack = stack_of(rows, e);
    if (by & TOP_OVERLOAD)
        key.overload = overload_of(rows, e);
    if (by & TOP_LINE)
        key.line = line_of(rows, e);
    if (rows->group)
        key.group = group_of_event(rows, e);
    return key;
}

uint32_t top_find_row(struct top_rows *rows, event_id e)
{
    const struct top_events *events = rows->events;
    enum event_kind kind = (enum event_kind)events->trace->kind[e];
    bool is_record =
        events->names.flags[events->trace->name[e]] & NAME_RECORD; /* even a region of that name */
    bool is_annotation = kind == EVENT_GPU_ANNOTATION || (kind == EVENT_ANNOTATION && !is_record);
    if (!has_row(events, e, kind))
        return ROW_NONE;
    uint32_t *fast = &rows->row_of_key[event_on_device(kind) * 2 + is_annotation][top_key_of(events, e)];
    struct row_key key = key_of(rows, e, is_annotation);
    /* Most often the row is that of the last event with the name: in the same step, say. */
    if (*fast != ROW_NONE && memcmp(&rows->at[*fast].key, &key, sizeof key) == 0)
        return *fast;
    *fast = names_add(rows->composites, (const char *)&key, sizeof key);
    if (*fast == rows->count)
        *VEC_PUSH(rows) = (struct row_sums){ .key = key };
    assert(*fast < rows->count);
    return *fast;
}

static uint32_t shape_of_captured(struct top_rows *rows, const struct captured_op *op)
{
    if (!op || op->dims == NAME_NONE)
        return rows->no_shape;
    uint32_t *known = &rows->shape_of_captured[op->dims];
    if (*known == 0) {
        buffer_clear(&rows->buffer);
        shapes_append(&rows->buffer, names_text(rows->links->bodies->texts, op->dims));
        *known = names_add(rows->texts, rows->buffer.at, rows->buffer.count) + 1;
    }
    return *known - 1;
}

/* What groups work of a graph as the operator would be grouped, which has neither device nor category. */
static uint32_t group_of_captured(struct top_rows *rows, event_id e, event_id call)
{
    bool of_module = rows->events->by & TOP_MODULE;
    return group_of(rows->group, of_module ? e : EVENT_NONE, call, EVENT_NONE);
}

uint32_t top_row_of_captured(struct top_rows *rows, event_id e, event_id call)
{
    const struct top_events *events = rows->events;
    unsigned by = events->by;
    const struct captured_op *op = graph_link_op(rows->links, e);
    uint32_t name = events->names.captured_key[graph_link_name_id(rows->links, e)];
    if (!events->per_call || by & (TOP_KERNEL | TOP_CATEGORY | TOP_STREAM | TOP_DEVICE) ||
        !top_is_selected(events, e) || (events->names.wanted && !events->names.wanted[name]))
        return ROW_NONE;
    struct row_key key = { .name = name, .device_type = DEVICE_TYPE_CPU };
    if (by & TOP_SHAPE)
        key.shape = shape_of_captured(rows, op);
    if (by & TOP_STACK)
        key.stack = rows->nothing;
    if (by & TOP_OVERLOAD)
        key.overload = rows->nothing;
    if (by & TOP_LINE)
        key.line = line_of(rows, e);
    if (rows->group)
        key.group = group_of_captured(rows, e, call);
    uint32_t index = names_add(rows->composites, (const char *)&key, sizeof key);
    if (index == rows->count)
        *VEC_PUSH(rows) =
            (struct row_sums){ .key = key,
                               .first = { call, trace_start_ns(events->trace, call),
                                          trace_end_ns(events->trace, call), e, false, false } };
    return index;
}

int top_compare_first(const struct trace *trace, const struct top_occurrence *a,
                      const struct top_occurrence *b)
{
    if (trace->file_count > 1) {
        uint32_t a_file = trace->tracks[trace->track[a->event]].file,
                 b_file = trace->tracks[trace->track[b->event]].file;
        if (a_file != b_file)
            return a_file < b_file ? -1 : 1;
    }
    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns ? -1 : 1;
    if (a->end_ns != b->end_ns)
        return a->end_ns > b->end_ns ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

void top_row_count(struct top_rows *rows, uint32_t index, const struct top_occurrence *one)
{
    struct row_sums *row = &rows->at[index];
    if (row->count++ == 0 || top_compare_first(rows->events->trace, one, &row->first) < 0)
        row->first = *one;
}
