/*
 * flame.c - what calls what, as boxes: each below its caller, as wide as its time.
 *
 * Calls with the same callers, by name, are one box. A trace has a chart of the time on the host and one of the time on
 * devices, where an operation is below the call that launched it (derive/attribution.h). A Python profile has stacks as
 * profile/stacks.h finds them.
 */
#include "base/rows.h"
#include "base/sum.h"
#include "charts/parts.h"
#include "derive/features.h"
#include "derive/gpu_events.h"
#include "derive/step_list.h"
#include "profile/view.h"

typedef uint32_t box_id;

enum { ROOT, MOST_LINES = 60 }; /* box 0 holds all others; deeper lines are not drawn */

/* Boxes narrower than this share of the whole would not be seen. */
#define LEAST_SHARE 0.0004

struct box_key {
    box_id parent;
    uint32_t frame; /* a name_id, or a function_id */
};

struct box {
    box_id id, parent;
    uint32_t frame, line;
    enum event_kind kind;
    int64_t time_ns, start_ns; /* with what is below; where it begins across */
    int64_t filled_ns;         /* by boxes below, so far */
};

struct flame_boxes {
    struct names *keys; /* struct box_key as bytes -> box_id */
    VEC_OF(struct box) boxes;
    void (*show)(const void *context, uint32_t frame, struct buffer *out);
    const void *context;
};

static const struct trace_wants flame_wants = { .args = GPU_EVENTS_WANTS };

/* New; free with arena_free. CONTEXT, for SHOW, must live as long. */
static struct flame_boxes *flame_boxes_open(void (*show)(const void *, uint32_t, struct buffer *),
                                            const void *context)
{
    struct flame_boxes *flame = arena_open(sizeof *flame);
    ARENA_OWNS(arena_of(flame), &flame->boxes);
    flame->keys = arena_hold(arena_of(flame), names_open());
    flame->show = show;
    flame->context = context;
    names_add(flame->keys, "", 0); /* the number of the root */
    *VEC_PUSH(&flame->boxes) = (struct box){ .kind = EVENT_OTHER };
    return flame;
}

/* The box of FRAME below PARENT. */
static box_id find_box(struct flame_boxes *flame, box_id parent, uint32_t frame, enum event_kind kind)
{
    struct box_key key = { parent, frame };
    box_id id = names_add(flame->keys, (const char *)&key, sizeof key);
    if (id == flame->boxes.count) {
        uint32_t line = flame->boxes.at[parent].line + 1;
        *VEC_PUSH(&flame->boxes) =
            (struct box){ .id = id, .parent = parent, .frame = frame, .line = line, .kind = kind };
    }
    return id;
}

static const struct key widest_first[] = { ASC(struct box, parent), DESC(struct box, time_ns),
                                           ASC(struct box, id), KEY_END };

/* Side by side below their parents, the widest on the left. A parent has a lower number than its boxes. */
static void place(struct flame_boxes *flame)
{
    size_t count = flame->boxes.count;
    SCOPED struct box *order = mem_alloc(mem_times(count, sizeof *order));
    memcpy(order, flame->boxes.at, count * sizeof *order);
    SORT_ARRAY(order, count, widest_first);
    for (size_t i = 0; i < count; i++) {
        struct box *box = &flame->boxes.at[order[i].id];
        struct box *parent = &flame->boxes.at[box->parent];
        if (box->id == ROOT)
            continue;
        box->start_ns = parent->start_ns + parent->filled_ns;
        sum_add(&parent->filled_ns, box->time_ns);
    }
}

/* ---- the chart ---- */

struct box_row {
    struct text name;
    int64_t from_ns, to_ns, line;
};

static const struct table_column columns[] = {
    COLUMN(struct box_row, name, "name", "Name", TABLE_NAME, "what was called"),
    COLUMN(struct box_row, from_ns, "from", "From", TABLE_NS,
           "left edge: no moment, boxes are sorted by their time"),
    COLUMN(struct box_row, to_ns, "to", "To", TABLE_NS, "right edge"),
    COLUMN(struct box_row, line, "line", "Line", TABLE_COUNT, "how many callers it has"),
};

/* Which of the series a box belongs to. */
enum part { PART_PYTHON, PART_OPERATOR, PART_ANNOTATION, PART_CALL, PART_WORK, PART_ALL, PARTS };

static const struct {
    const char *title;
    enum chart_color color;
} parts[PARTS] = {
    [PART_PYTHON] = { "Python", CHART_COLOR_OF_PYTHON },
    [PART_OPERATOR] = { "Operators", CHART_COLOR_OF_HOST },
    [PART_ANNOTATION] = { "Annotations and steps", CHART_COLOR_OF_ANNOTATION },
    [PART_CALL] = { "Runtime calls", CHART_ORANGE },
    [PART_WORK] = { "On devices", CHART_COLOR_OF_COMPUTATION },
    [PART_ALL] = { "Other", CHART_GREY },
};

static enum part part_of(enum event_kind kind)
{
    if (event_is_gpu_work(kind))
        return PART_WORK;
    switch (kind) {
    case EVENT_PYTHON: return PART_PYTHON;
    case EVENT_OP: return PART_OPERATOR;
    case EVENT_ANNOTATION: return PART_ANNOTATION;
    case EVENT_RUNTIME:
    case EVENT_DRIVER: return PART_CALL;
    default: return PART_ALL;
    }
}

static void add_boxes(struct chart *chart, const struct flame_boxes *flame)
{
    struct table *tables[PARTS] = { NULL };
    SCOPED struct buffer name = { 0 };
    double whole = (double)flame->boxes.at[ROOT].time_ns;
    size_t narrow = 0, deep = 0;
    for (size_t i = 0; i < flame->boxes.count; i++) {
        const struct box *box = &flame->boxes.at[i];
        deep += box->line >= MOST_LINES;
        narrow += box->line < MOST_LINES && (double)box->time_ns < whole * LEAST_SHARE;
        if (box->line >= MOST_LINES || (double)box->time_ns < whole * LEAST_SHARE)
            continue;
        enum part part = part_of(box->kind);
        if (!tables[part])
            tables[part] =
                chart_add_table(chart, TABLE_OF_ROWS("boxes", NULL, columns, (struct box_row *)NULL, 0));
        buffer_clear(&name);
        if (i == ROOT)
            buffer_puts(&name, "all");
        else
            flame->show(flame->context, box->frame, &name);
        struct box_row row = { { name.at, name.count }, box->start_ns, box->start_ns, box->line };
        sum_add(&row.to_ns, box->time_ns);
        table_add_rows(tables[part], &row, 1, sizeof row);
    }
    for (size_t part = 0; part < PARTS; part++)
        if (tables[part])
            chart_add_series(chart,
                             (struct chart_series){ .title = part == PART_ALL ? NULL : parts[part].title,
                                                    .mark = CHART_BOX,
                                                    .color = parts[part].color,
                                                    .table = tables[part],
                                                    .x = 2,
                                                    .y = 3,
                                                    .low = 1 });
    if (narrow || deep)
        chart->note =
            deep ? arena_printf(&chart->arena, "%zu boxes are too narrow and %zu too deep to be drawn",
                                narrow, deep)
                 : arena_printf(&chart->arena, "%zu box%s too narrow to be drawn", narrow,
                                narrow == 1 ? " is" : "es are");
}

/* Of FLAME, whose boxes have their times; none when these are 0. */
static void flame_add_chart(struct picture *picture, struct flame_boxes *flame, const char *key,
                            const char *title)
{
    int64_t whole_ns = 0;
    for (size_t i = 1; i < flame->boxes.count; i++)
        if (flame->boxes.at[i].parent == ROOT)
            sum_add(&whole_ns, flame->boxes.at[i].time_ns);
    flame->boxes.at[ROOT].time_ns = whole_ns;
    if (whole_ns <= 0)
        return;
    place(flame);
    struct chart *chart = picture_add_chart(picture, key, title);
    chart->x = (struct chart_axis){ .title = "Time, of all threads added up",
                                    .kind = TABLE_NS,
                                    .has_least = true,
                                    .has_most = true,
                                    .most = (double)whole_ns };
    chart->y = (struct chart_axis){ .kind = TABLE_COUNT };
    add_boxes(chart, flame);
}

/* ---- traces ---- */

struct trace_frames {
    const struct trace *trace;
    const struct selection *selection;
    name_id step; /* stands for all steps; NAME_NONE: there are none */
};

static bool takes_call(const void *context, event_id e)
{
    const struct trace_frames *frames = context;
    const struct trace *trace = frames->trace;
    enum event_kind kind = (enum event_kind)trace->kind[e];
    return !event_on_device(kind) && kind != EVENT_SPAN && !(trace->flags[e] & (EVENT_POINT | EVENT_ASYNC)) &&
           selection_holds(frames->selection, e);
}

static void append_name(const void *context, uint32_t frame, struct buffer *out)
{
    const struct trace_frames *frames = context;
    const char *name = names_text(frames->trace->names, frame);
    if (frame == frames->step)
        buffer_printf(out, "%.*s*", (int)strcspn(name, "#"), name);
    else
        buffer_add(out, name, names_length(frames->trace->names, frame));
}

/* By name: the frame it is, which of steps is that of the first. */
static name_id *find_frames(struct trace_frames *frames)
{
    size_t count = names_count(frames->trace->names);
    name_id *frame = mem_alloc(mem_times(count + 1, sizeof *frame));
    frames->step = NAME_NONE;
    for (name_id id = 0; id < count; id++) {
        int64_t number;
        bool is_step = step_number(names_text(frames->trace->names, id), &number);
        if (is_step && frames->step == NAME_NONE)
            frames->step = id;
        frame[id] = is_step ? frames->step : id;
    }
    return frame;
}

/* New, free(): the box of each node of TREE; times are added WITH_TIMES only. */
static box_id *add_calls(struct flame_boxes *flame, const struct trace *trace, const struct calltree *tree,
                         const name_id *frame, bool with_times)
{
    box_id *box = mem_alloc(mem_times(tree->count + 1, sizeof *box));
    for (node_id n = 0; n < tree->count; n++) {
        event_id e = tree->event[n];
        box_id parent = tree->parent[n] == NODE_NONE ? ROOT : box[tree->parent[n]];
        box[n] = find_box(flame, parent, frame[trace->name[e]], (enum event_kind)trace->kind[e]);
        if (with_times)
            sum_add(&flame->boxes.at[box[n]].time_ns, trace_dur_ns(trace, e));
    }
    return box;
}

/* Operations, and their times in all boxes around the calls that launched them. */
static void add_operations(struct flame_boxes *flame, const struct trace_frames *frames,
                           const struct calltree *tree, const box_id *box, const name_id *frame)
{
    const struct trace *trace = frames->trace;
    const struct gpu_events *gpu = gpu_events_of(trace);
    SCOPED node_id *node = calltree_nodes(tree);
    for (size_t i = 0; i < gpu->count; i++) {
        event_id e = gpu->event[i], by = gpu->call[i];
        enum event_kind kind = (enum event_kind)trace->kind[e];
        if (!event_is_gpu_work(kind) || !selection_holds_work(frames->selection, e, by))
            continue;
        if (by == EVENT_NONE || node[by] == NODE_NONE)
            by = gpu->op[i];
        box_id around = by != EVENT_NONE && node[by] != NODE_NONE ? box[node[by]] : ROOT;
        box_id id = find_box(flame, around, frame[trace->name[e]], kind);
        for (; id != ROOT; id = flame->boxes.at[id].parent)
            sum_add(&flame->boxes.at[id].time_ns, trace_dur_ns(trace, e));
    }
}

static bool flame_draw(const struct chart_request *request, struct picture *picture, struct tpa_error *err)
{
    struct trace_frames frames = { request->trace, request->selection, NAME_NONE };
    SCOPED name_id *frame = find_frames(&frames);
    SCOPED_OBJECT struct calltree *tree = calltree_open(request->trace, takes_call, &frames);
    calltree_nest(tree);
    for (int on_device = 0; on_device < 2; on_device++) {
        SCOPED_OBJECT struct flame_boxes *flame = flame_boxes_open(append_name, &frames);
        SCOPED box_id *box = add_calls(flame, request->trace, tree, frame, !on_device);
        if (on_device)
            add_operations(flame, &frames, tree, box, frame);
        flame_add_chart(picture, flame, on_device ? "flame_devices" : "flame_host",
                        on_device ? "Time on devices, by what launched the work" : "Time on the host");
    }
    return chart_is_drawn(picture, err, "no call took any time");
}

const struct chart_type chart_type_flame = {
    .name = "flame",
    .title = "Flame graph",
    .help = "what calls what, each box as wide as its time: on the host, on devices; of profiles, too",
    .wants = { &flame_wants },
    .needs = FEATURE_EVENTS,
    .draw = flame_draw,
};

/* ---- profiles ---- */

static void append_function(const void *context, uint32_t frame, struct buffer *out)
{
    const struct profile *profile = context;
    profile_function_text(&profile->functions[frame], out);
}

static void add_stack(void *context, const struct profile_stack *stack)
{
    struct flame_boxes *flame = context;
    box_id id = ROOT;
    for (size_t i = 0; i < stack->depth; i++) {
        id = find_box(flame, id, stack->frames[i], EVENT_PYTHON);
        sum_add(&flame->boxes.at[id].time_ns, stack->time_ns);
    }
}

void chart_flame_profile(struct picture *picture, const struct profile *profile)
{
    SCOPED_OBJECT struct flame_boxes *flame = flame_boxes_open(append_function, profile);
    struct profile_stack_sums sums = profile_stacks(profile, LEAST_SHARE / 4, add_stack, flame);
    size_t before = picture->charts.count;
    flame_add_chart(picture, flame, "flame", "Time by caller");
    if (picture->charts.count > before) {
        struct chart *chart = picture->charts.at[before];
        double whole = SUM(double, kind, STACK_KINDS, (double)sums.time_ns[kind]);
        chart->x.title = profile_is_timed(profile) ? "Time" : "Weight";
        chart->x.kind = profile_is_timed(profile)           ? TABLE_NS
                        : profile->figures == PROFILE_BYTES ? TABLE_BYTES
                                                            : TABLE_COUNT;
        chart->note = arena_printf(
            &chart->arena,
            "a profile holds calls from function to function, not stacks: %.1f %% of the time is exact, %.1f %% is "
            "apportioned among the callers of a function, %.1f %% stands without them%s%s",
            quantity_percent((double)sums.time_ns[STACK_EXACT] / whole),
            quantity_percent((double)sums.time_ns[STACK_APPORTIONED] / whole),
            quantity_percent((double)sums.time_ns[STACK_UNPLACED] / whole), chart->note ? "; " : "",
            chart->note ? chart->note : "");
    }
}
