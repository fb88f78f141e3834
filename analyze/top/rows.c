/*
 * rows.c - which row an event belongs to.
 *
 * By operators alone a row follows from the name, and is found in an array. Otherwise the parts of the key are
 * put together and looked up as bytes: struct names gives equal bytes equal, dense ids.
 */
#include "facts/shapes.h"
#include "analyze/top/parts.h"
#include "base/buffer.h"
#include <assert.h>
#include <stdlib.h>

struct row_maker {
    uint32_t *row_of_key[4];   /* by host or device, annotation or not; then by key */
    struct names *composites;  /* struct row_key as bytes; ids are rows */
    uint32_t *shape_of_text;   /* by text id of Input Dims: in top->texts, +1; 0: not worked out yet */
    uint32_t *stack_of_text;   /* the same for Call stack */
    uint32_t *text_of_step;    /* by step: in top->texts, + 1; 0: not worked out yet */
    uint32_t *device_of_track; /* 0: not worked out yet */
    uint32_t no_shape, nothing;
    struct buffer buffer;
};

void top_rows_open(struct top *top)
{
    struct row_maker *maker = mem_zalloc(1, sizeof *maker);
    size_t keys = names_count(top->names.keys), texts = names_count(top->trace->texts);
    top->row_maker = maker;
    top->texts = names_open();
    maker->nothing = names_add(top->texts, "", 0);
    maker->no_shape = names_add(top->texts, "[]", 2);
    for (int i = 0; i < 4; i++) {
        maker->row_of_key[i] = mem_alloc((keys + 1) * sizeof *maker->row_of_key[i]);
        memset(maker->row_of_key[i], 0xff, (keys + 1) * sizeof *maker->row_of_key[i]);
    }
    if (top->by != TOP_OPERATOR)
        maker->composites = names_open();
    if (top->by & TOP_DEVICE)
        maker->device_of_track = mem_zalloc(top->trace->track_count + 1, sizeof *maker->device_of_track);
    if (top->by & TOP_SHAPE)
        maker->shape_of_text = mem_zalloc(texts + 1, sizeof *maker->shape_of_text);
    if (top->by & TOP_STEP)
        maker->text_of_step = mem_zalloc(top->steps->count + 1, sizeof *maker->text_of_step);
    if (top->by & TOP_STACK)
        maker->stack_of_text = mem_zalloc(texts + 1, sizeof *maker->stack_of_text);
}

void top_rows_close(struct top *top)
{
    struct row_maker *maker = top->row_maker;
    for (int i = 0; i < 4; i++)
        free(maker->row_of_key[i]);
    names_free(maker->composites);
    free(maker->device_of_track);
    free(maker->shape_of_text);
    free(maker->stack_of_text);
    free(maker->text_of_step);
    buffer_release(&maker->buffer);
    free(maker);
    VEC_FREE(&top->rows);
    names_free(top->texts);
}

/* ---- parts of the key ---- */

static uint32_t shape_of(struct top *top, event_id e)
{
    struct row_maker *maker = top->row_maker;
    int64_t text;
    if (!trace_arg(top->trace, ARG_INPUT_DIMS, e, &text))
        return maker->no_shape;
    uint32_t *known = &maker->shape_of_text[text];
    if (*known == 0) {
        buffer_clear(&maker->buffer);
        shapes_show(&maker->buffer, names_text(top->trace->texts, (name_id)text));
        *known = names_add(top->texts, maker->buffer.at, maker->buffer.count) + 1;
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
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (memmem(frame, len, pairs[i][0], strlen(pairs[i][0])) &&
            memmem(frame, len, pairs[i][1], strlen(pairs[i][1])))
            return true;
    return false;
}

/* The innermost frames, separated by ';' as in the file. */
static uint32_t stack_of(struct top *top, event_id e)
{
    struct row_maker *maker = top->row_maker;
    int64_t text;
    event_id from = top->stack_event ? top->stack_event[e] : e;
    if (from == EVENT_NONE || !trace_arg(top->trace, ARG_CALL_STACK, from, &text))
        return maker->nothing;
    uint32_t *known = &maker->stack_of_text[text];
    if (*known)
        return *known - 1;
    const char *at = names_text(top->trace->texts, (name_id)text);
    unsigned depth = top->options->stack_depth ? top->options->stack_depth : 5;
    buffer_clear(&maker->buffer);
    for (unsigned kept = 0; *at && kept < depth;) {
        size_t len = strcspn(at, ";");
        if (len && !is_own_frame(at, len)) {
            if (kept++)
                buffer_putc(&maker->buffer, ';');
            buffer_add(&maker->buffer, at, len);
        }
        at += len + (at[len] == ';');
    }
    *known = names_add(top->texts, maker->buffer.count ? maker->buffer.at : "", maker->buffer.count) + 1;
    return *known - 1;
}

static uint32_t overload_of(struct top *top, event_id e)
{
    name_id name = top->trace->name[e];
    size_t plain = names_length(top->names.keys, top_key_of(top, e));
    size_t len = names_length(top->trace->names, name);
    if (top->trace->kind[e] != EVENT_OP || top->names.key_of[name] == top->names.operator_key_of[name] ||
        len <= plain)
        return top->row_maker->nothing;
    return names_add(top->texts, names_text(top->trace->names, name) + plain + 1, len - plain - 1);
}

/* The step in which E was called or, for GPU work, launched; its text, or "". */
static uint32_t step_of(struct top *top, event_id e)
{
    const struct step *step = top_step_of(top, e);
    if (!step)
        return top->row_maker->nothing;
    uint32_t *known = &top->row_maker->text_of_step[step - top->steps->at];
    if (*known == 0) {
        char text[40];
        int len = snprintf(text, sizeof text, "ProfilerStep#%lld", (long long)step->number);
        *known = names_add(top->texts, text, (size_t)len) + 1;
    }
    return *known - 1;
}

/* The module or line in which E was called or, for GPU work, launched; its text, or "". */
static uint32_t code_of(struct top *top, const struct code_paths *paths, event_id e)
{
    struct code_place place = event_is_launched(top->trace->kind[e])
                                  ? code_place_of_work(paths, top->launches, e)
                                  : code_place_of(paths, e);
    const char *text = code_path_name(paths, place.path);
    return names_add(top->texts, text, strlen(text));
}

/* The first track of its device stands for all of them. */
static uint32_t device_of(const struct top *top, event_id e)
{
    const struct track *tracks = top->trace->tracks;
    track_id track = top->trace->track[e];
    uint32_t *known = &top->row_maker->device_of_track[track];
    for (track_id t = 0; *known == 0 && t < track; t++)
        if (tracks[t].kind == TRACK_STREAM && tracks[t].file == tracks[track].file &&
            tracks[t].device == tracks[track].device)
            *known = t + 1;
    if (*known == 0)
        *known = track + 1;
    return *known;
}

/* Where one row holds all that a device does, waits and annotations would count the same time again. */
static bool occupies_device(enum event_kind kind)
{
    return kind != EVENT_SYNC && kind != EVENT_GPU_ANNOTATION;
}

uint32_t top_row_of(struct top *top, event_id e)
{
    const struct trace *trace = top->trace;
    struct row_maker *maker = top->row_maker;
    enum event_kind kind = trace->kind[e];
    bool on_device = event_on_device(kind);
    bool is_record = top->names.flags[trace->name[e]] & NAME_RECORD; /* even a region of that name */
    bool is_annotation = kind == EVENT_GPU_ANNOTATION || (kind == EVENT_ANNOTATION && !is_record);
    struct row_key key = { .on_device = on_device, .is_annotation = is_annotation };
    uint32_t *fast = NULL;

    if (!top_is_selected(top, e) || (kind == EVENT_PYTHON && !top->options->python && top_is_frame(top, e)))
        return ROW_NONE;
    if (top->per_call) {
        key.name = top_key_of(top, e);
        fast = &maker->row_of_key[on_device * 2 + is_annotation][key.name];
        if (top->by == TOP_OPERATOR && *fast != ROW_NONE)
            return *fast;
    } else if (on_device && !(top->by & TOP_CATEGORY) && !occupies_device(kind)) {
        return ROW_NONE;
    } else if (top->names.wanted && !top->names.wanted[top_key_of(top, e)]) {
        return ROW_NONE;
    }
    if (top->by & TOP_KERNEL && !event_is_gpu_work(kind))
        return ROW_NONE;
    if (top->by & (TOP_STREAM | TOP_DEVICE) && !on_device)
        return ROW_NONE;
    if (top->by & TOP_THREAD && on_device)
        return ROW_NONE;

    if (top->by != TOP_OPERATOR) {
        if (!top->per_call)
            key.is_annotation = 0;
        if (top->by & TOP_SHAPE)
            key.shape = shape_of(top, e);
        if (top->by & TOP_STACK)
            key.stack = stack_of(top, e);
        if (top->by & TOP_OVERLOAD)
            key.overload = overload_of(top, e);
        if (top->by & TOP_CATEGORY)
            key.category = trace->category[e] + 1U;
        if (top->by & (TOP_THREAD | TOP_STREAM))
            key.track = trace->track[e] + 1;
        if (top->by & TOP_DEVICE)
            key.device = device_of(top, e);
        if (top->by & TOP_STEP)
            key.step = step_of(top, e) + 1;
        if (top->by & TOP_MODULE)
            key.module = code_of(top, top->modules, e) + 1;
        if (top->by & TOP_LINE)
            key.line = code_of(top, top->lines, e) + 1;
        if (top->by & TOP_BOTH_SIDES && !top->per_call && !(top->by & TOP_CATEGORY))
            key.on_device = 0;
        if (top->by & TOP_RANK)
            key.file = top_file_of(top, e) + 1;
        /* Most often the row is that of the last event with the name: in the same step, say. */
        if (fast && *fast != ROW_NONE && memcmp(&top->rows.at[*fast].key, &key, sizeof key) == 0)
            return *fast;
        size_t before = names_count(maker->composites);
        uint32_t row = names_add(maker->composites, (const char *)&key, sizeof key);
        if (fast)
            *fast = row;
        if (row < before)
            return row;
    } else {
        assert(fast);
        *fast = (uint32_t)top->rows.count;
    }
    struct top_row *row = VEC_PUSH(&top->rows);
    *row = (struct top_row){ .key = key };
    return (uint32_t)top->rows.count - 1;
}

void top_row_count(struct top *top, uint32_t index, event_id e, int64_t start_ns, int64_t end_ns,
                   uint64_t order, bool is_async, bool has_parent)
{
    struct top_row *row = &top->rows.at[index];
    uint32_t file = top->trace->file_count > 1 ? top_file_of(top, e) : 0;
    row->count++;
    if (row->count > 1) {
        if (file != row->first_file) {
            if (file > row->first_file)
                return;
        } else if (start_ns != row->first_start_ns) {
            if (start_ns > row->first_start_ns)
                return;
        } else if (end_ns < row->first_end_ns || (end_ns == row->first_end_ns && order > row->first_order)) {
            return;
        }
    }
    row->first_file = file;
    row->first_start_ns = start_ns;
    row->first_end_ns = end_ns;
    row->first_order = order;
    row->first_event = e;
    row->first_is_async = is_async;
    row->first_has_parent = has_parent;
}
