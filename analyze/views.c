#include "analyze/views.h"

#include "derive/device_steps.h"
#include "base/demangle.h"
#include "base/rows.h"
#include "trace/span.h"
#include <inttypes.h>

const struct trace_wants views_wants = { .args = GPU_EVENTS_WANTS };

/* The contents of one view. */
struct window {
    uint32_t file;
    int64_t start_ns, end_ns;           /* of the timeline */
    int64_t host_start_ns, host_end_ns; /* of the flame graph: calls that begin within */
};

/* ---- choice of steps ---- */

static const struct key by_file_start[] = { ASC(struct device_step, file), ASC(struct device_step, start_ns),
                                            KEY_END };

/* The complete steps that were selected, fastest first. Release with VEC_FREE. */
static struct device_steps find_complete(const struct trace *trace, const struct selection *selection)
{
    const struct device_steps *all = device_steps_of(trace);
    struct device_steps steps = { 0 };
    FOR_EACH(step, all) {
        if (step->complete && (!selection->files || selection->files[step->file]) &&
            selection_holds_time(selection, step->file, step->host_start_ns))
            *VEC_PUSH(&steps) = *step;
    }
    SORT(&steps, by_file_start);
    SORT_BY(steps.at, steps.count, i, steps.at[i].end_ns - steps.at[i].start_ns);
    return steps;
}

static struct window window_of_step(const struct device_step *step)
{
    int64_t start_ns = step->host_start_ns < step->start_ns ? step->host_start_ns : step->start_ns;
    return (struct window){ step->file, start_ns, step->end_ns, step->host_start_ns, step->host_end_ns };
}

/* The first selected file with events; false if there is none. */
static bool find_whole(const struct trace *trace, const struct selection *selection, struct window *window)
{
    for (uint32_t file = 0; file < trace->file_count; file++) {
        struct interval span = trace_file_span(trace, file);
        if ((selection->files && !selection->files[file]) || span.start_ns == span.end_ns)
            continue;
        *window = (struct window){ file, span.start_ns, span.end_ns, span.start_ns, span.end_ns };
        return true;
    }
    return false;
}

/* ---- calls within a window ---- */

struct taking {
    const struct trace *trace;
    const struct window *window;
};

static bool takes(const void *context, event_id e)
{
    const struct taking *taking = context;
    const struct trace *trace = taking->trace;
    enum event_kind kind = trace->kind[e];
    if (event_on_device(kind) || kind == EVENT_SPAN || kind == EVENT_INSTANT ||
        trace->flags[e] & (EVENT_ASYNC | EVENT_POINT))
        return false;
    return trace->tracks[trace->track[e]].file == taking->window->file &&
           trace_start_ns(trace, e) < taking->window->end_ns &&
           trace_end_ns(trace, e) > taking->window->start_ns;
}

static void name_track(struct buffer *out, const struct trace *trace, const struct track *track)
{
    if (track->kind == TRACK_STREAM) {
        buffer_printf(out, "device %" PRId32, track->device);
        if (track->stream >= 0)
            buffer_printf(out, ", stream %" PRId64, track->stream);
        return;
    }
    /* PyTorch's threads are called "thread 4711 (python3)" already. */
    const char *name = track->thread_name == NAME_NONE ? "" : names_text(trace->texts, track->thread_name);
    bool numbered = strncmp(name, "thread ", 7) == 0;
    if (!numbered && track->tid_text != NAME_NONE)
        buffer_printf(out, "thread %s", names_text(trace->texts, track->tid_text));
    else if (!numbered)
        buffer_printf(out, "thread %" PRId64, track->tid);
    buffer_printf(out, "%s%s", numbered || !*name ? "" : " ", name);
}

/* Store the demangled name of E in TEXT. */
static void name_event(struct buffer *text, const struct trace *trace, event_id e)
{
    buffer_clear(text);
    const char *name = trace_name(trace, e);
    if (!demangle_name(text, name))
        buffer_add(text, name, names_length(trace->names, trace->name[e]));
}

/* ---- the flame ---- */

static bool begins_in_host_window(const struct trace *trace, const struct window *window, event_id e)
{
    return trace_start_ns(trace, e) >= window->host_start_ns &&
           trace_start_ns(trace, e) < window->host_end_ns;
}

/* Add the frames of all calls that begin within the window. Returns them by node, FRAME_NONE for others. New, free with
 * free(). */
static frame_id *add_calls(struct flame *flame, const struct calltree *tree, const struct window *window,
                           struct buffer *text)
{
    const struct trace *trace = tree->trace;
    frame_id *frame_of = mem_alloc(mem_times(tree->count + 1, sizeof *frame_of));
    FOR_EACH_OF(thread, tree->threads, tree->thread_count) {
        frame_id root = FRAME_NONE;
        for (node_id n = thread->first; n < thread->first + thread->count; n++) {
            event_id e = tree->event[n];
            node_id parent = tree->parent[n];
            frame_of[n] = FRAME_NONE;
            if (!begins_in_host_window(trace, window, e))
                continue;
            if (root == FRAME_NONE && tree->thread_count > 1) {
                buffer_clear(text);
                name_track(text, trace, &trace->tracks[thread->track]);
                root = flame_frame(flame, FRAME_NONE, text->at, text->count);
                flame->frames.at[root].count = 1;
            }
            frame_id caller = parent == NODE_NONE ? FRAME_NONE : frame_of[parent];
            name_event(text, trace, e);
            frame_of[n] = flame_frame(flame, caller == FRAME_NONE ? root : caller, text->at, text->count);
            struct flame_frame *frame = &flame->frames.at[frame_of[n]];
            frame->count++;
            frame->host_ns += trace_dur_ns(trace, e);
            if (caller == FRAME_NONE && root != FRAME_NONE)
                flame->frames.at[root].host_ns += trace_dur_ns(trace, e);
        }
    }
    return frame_of;
}

/* GPU work is placed below the call that launched it, or else below its operator. */
static void views_add_work(struct flame *flame, const struct calltree *tree, const frame_id *frame_of,
                           const struct window *window, struct buffer *text)
{
    const struct trace *trace = tree->trace;
    const struct gpu_events *gpu = gpu_events_of(trace);
    SCOPED node_id *node_of = calltree_nodes(tree);
    for (size_t i = 0; i < gpu->count; i++) {
        event_id e = gpu->event[i], call = gpu->call[i] != EVENT_NONE ? gpu->call[i] : gpu->op[i];
        if (call == EVENT_NONE || trace->tracks[trace->track[e]].file != window->file ||
            node_of[call] == NODE_NONE || frame_of[node_of[call]] == FRAME_NONE)
            continue;
        name_event(text, trace, e);
        frame_id frame = flame_frame(flame, frame_of[node_of[call]], text->at, text->count);
        flame->frames.at[frame].count++;
        flame->frames.at[frame].device_ns += trace_dur_ns(trace, e);
    }
}

static void add_view(struct views *views, const struct trace *trace, const char *key, const char *title,
                     const struct window *window)
{
    SCOPED struct buffer text = { 0 };
    struct flame *flame = flame_open(key, title);
    struct taking taking = { trace, window };
    struct interval stretch = { window->start_ns, window->end_ns };
    SCOPED_OBJECT struct calltree *tree = calltree_open_within(
        trace, &(struct intervals){ .at = &stretch, .count = 1, .capacity = 1 }, takes, &taking);
    calltree_nest(tree);
    SCOPED frame_id *frame_of = add_calls(flame, tree, window, &text);
    views_add_work(flame, tree, frame_of, window, &text);
    flame_finish(flame, VIEW_LEAST_SHARE);
    *VEC_PUSH(views) = flame;
}

static void add_step(struct views *views, const struct trace *trace, const char *key, const char *which,
                     const struct device_step *step)
{
    char title[160];
    int len = snprintf(title, sizeof title, "the %s step, number %" PRId64, which, step->number);
    if (trace->file_count > 1)
        snprintf(title + len, sizeof title - (size_t)len, " of rank %" PRId64,
                 selection_rank(trace, step->file));
    struct window window = window_of_step(step);
    add_view(views, trace, key, title, &window);
}

struct views *views_open(const struct trace *trace, const struct selection *selection)
{
    struct views *views = mem_zalloc(1, sizeof *views);
    SCOPED struct device_steps steps = find_complete(trace, selection);
    struct window window;
    if (steps.count) {
        add_step(views, trace, "slowest", "slowest", &steps.at[steps.count - 1]);
        if (steps.count > 1)
            add_step(views, trace, "median", "median", &steps.at[(steps.count - 1) / 2]);
    } else if (find_whole(trace, selection, &window)) {
        add_view(views, trace, "whole", "the whole recording", &window);
    }
    return views;
}

void views_free(struct views *views)
{
    if (!views)
        return;
    for (size_t i = 0; i < views->count; i++)
        flame_free(views->at[i]);
    VEC_FREE(views);
    free(views);
}
