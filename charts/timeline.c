/*
 * timeline.c - see timeline.h: the kinds of spans, the threads, and what is known of each span that was kept.
 *
 * Spans are taken in one pass without names. Whenever there are half as many again as are kept, the lighter ones go,
 * and from then on what is lighter than those that are left is not taken at all; names are looked up at the
 * end, of the kept ones, which are then still in the order of their lanes, and so mostly of the file.
 */
#include "charts/timeline.h"

#include "charts/parts.h"
#include "charts/timeline_parts.h"

#include "base/demangle.h"
#include "analyze/latency/latency.h"
#include "derive/host_waits.h"
#include "memory/memory_records.h"
#include "derive/python_names.h"
#include "trace/arg_scan.h"
#include "trace/builder.h"
#include "trace/call_stack.h"
#include "trace/span.h"
#include <inttypes.h>

enum {
    MOST_DEPTH = 250,
    BINS = 1200,
    MOST_TAKEN = TIMELINE_MOST_SPANS + TIMELINE_MOST_SPANS / 2, /* before the lighter ones go */
    MOST_SERIES = 48,
    MOST_FINER = 200
}; /* SERIES: of memory and counters */

struct trace_wants chart_timeline_wants(void)
{
    return (struct trace_wants){ .counters = true,
                                 .args = gaps_wants.args | latency_wants.args | REPLAY_WANTS |
                                         MEMORY_RECORDS_WANTS | WANT(INPUT_DIMS) | WANT(GRID) | WANT(BLOCK) |
                                         WANT(BYTES) | WANT(STREAM) | WANT(CORRELATION) | WANT(CALL_STACK) |
                                         WANT(COLLECTIVE) | WANT(GROUP_NAME) | WANT(GROUP_DESCRIPTION) };
}

/* ---- kinds ---- */

static const struct timeline_kind kinds[SPAN_IDLE] = {
    [SPAN_MATRIX] = { "matrix kernels", "device", CHART_BLUE },
    [SPAN_COMPUTATION] = { "other kernels", "device", CHART_COLOR_OF_OTHER_KERNELS },
    [SPAN_COMMUNICATION] = { "communication", "device", CHART_COLOR_OF_COMMUNICATION },
    [SPAN_COPY] = { "copies", "device", CHART_COLOR_OF_COPIES },
    [SPAN_MEMSET] = { "memset", "device", CHART_COLOR_OF_COPIES },
    [SPAN_OPERATOR] = { "operators", "host", CHART_COLOR_OF_HOST },
    [SPAN_CALL] = { "runtime calls", "host", CHART_COLOR_OF_CALLS },
    [SPAN_WAIT] = { "waiting calls", "host", CHART_COLOR_OF_WAITING },
    [SPAN_PYTHON] = { "Python", "host", CHART_COLOR_OF_PYTHON },
    [SPAN_TORCH] = { "Python of PyTorch", "host", CHART_GREY },
    [SPAN_ANNOTATION] = { "annotations", "host", CHART_COLOR_OF_ANNOTATION },
    [SPAN_LOADING] = { "loading data", "host", CHART_COLOR_OF_LOADING },
    [SPAN_HOST_COMMUNICATION] = { "host communication", "host", CHART_COLOR_OF_COMMUNICATION },
    [SPAN_OVERHEAD] = { "profiler", "host", CHART_GREY },
    [SPAN_OTHER] = { "other", "host", CHART_PALE },
};

static void add_kinds(struct timeline *timeline)
{
    for (int i = 0; i < SPAN_IDLE; i++)
        timeline_add_kind(timeline, kinds[i].title, kinds[i].group, kinds[i].color);
    for (int i = 0; i < GAP_CAUSES; i++)
        timeline_add_kind(timeline, gap_causes[i].name, "idle", gap_causes[i].color);
    timeline_add_kind(timeline, "short gaps", "idle", CHART_COLOR_OF_IDLE);
    for (int i = 0; i < PATH_PARTS; i++)
        timeline_add_kind(timeline, path_part_title((enum path_part)i), "critical path", path_colors[i]);
}

static uint8_t kind_of_kernel(const char *name)
{
    return kernel_is_product(name) || kernel_tensor_use(name) == TENSOR_YES ? SPAN_MATRIX : SPAN_COMPUTATION;
}

static uint8_t kind_of_frame(const char *name)
{
    return python_frame_of(name) == FRAME_OF_USER || python_module_of(name) ? SPAN_PYTHON : SPAN_TORCH;
}

static uint8_t kind_of_call(const char *name)
{
    return annotation_is_data_loading(name) ? SPAN_LOADING
           : collective_runs_on_host(name)  ? SPAN_HOST_COMMUNICATION
                                            : SPAN_OTHER;
}

/* The kind that FIND tells of the name of E, kept in KINDS by name. */
static uint32_t kind_by_name(const struct timeline_making *making, uint8_t *known, event_id e,
                             uint8_t (*find)(const char *name))
{
    uint8_t *kind = &known[making->trace->name[e]];
    if (*kind == SPAN_KINDS)
        *kind = find(trace_name(making->trace, e));
    return *kind;
}

/* The kind of E, an operator or annotation: by its name; OTHERWISE if the name is of no kind. */
static uint32_t kind_of_named(const struct timeline_making *making, event_id e, uint32_t otherwise)
{
    uint32_t kind = kind_by_name(making, making->kind_of_call, e, kind_of_call);
    return kind == SPAN_OTHER ? otherwise : kind;
}

uint32_t timeline_kind_of(struct timeline_making *making, event_id e)
{
    switch ((enum event_kind)making->trace->kind[e]) {
    case EVENT_OP: return kind_of_named(making, e, SPAN_OPERATOR);
    case EVENT_ANNOTATION: return kind_of_named(making, e, SPAN_ANNOTATION);
    case EVENT_PYTHON: return kind_by_name(making, making->kind_of_name, e, kind_of_frame);
    case EVENT_RUNTIME:
    case EVENT_DRIVER: return making->waits[e / 8] >> e % 8 & 1 ? SPAN_WAIT : SPAN_CALL;
    case EVENT_OVERHEAD: return SPAN_OVERHEAD;
    case EVENT_KERNEL: return kind_by_name(making, making->kind_of_name, e, kind_of_kernel);
    case EVENT_MEMCPY: return SPAN_COPY;
    case EVENT_MEMSET: return SPAN_MEMSET;
    default: return SPAN_OTHER;
    }
}

/* ---- names of tracks and files ---- */

const char *timeline_name_track(struct timeline_making *making, const struct track *track)
{
    const struct trace *trace = making->trace;
    struct buffer *out = &making->text;
    buffer_clear(out);
    if (track->kind == TRACK_STREAM) {
        buffer_printf(out, "device %" PRId32, track->device);
        if (track->stream >= 0)
            buffer_printf(out, ", stream %" PRId64, track->stream);
        return out->at;
    }
    /* PyTorch's threads are called "thread 4711 (python3)" already. */
    const char *name = track->thread_name == NAME_NONE ? "" : names_text(trace->texts, track->thread_name);
    bool whole = strncmp(name, "thread ", 7) == 0;
    if (!whole && track->tid_text != NAME_NONE)
        buffer_printf(out, "thread %s", names_text(trace->texts, track->tid_text));
    else if (!whole)
        buffer_printf(out, "thread %" PRId64, track->tid);
    buffer_printf(out, "%s%s", whole || !*name ? "" : " ", name);
    return out->at;
}

const char *timeline_name_file(struct timeline_making *making, uint32_t file)
{
    buffer_clear(&making->text);
    if (making->groups)
        return making->groups[file];
    if (making->trace->file_count == 1)
        return "";
    buffer_printf(&making->text, "rank %" PRId64, selection_rank(making->trace, file));
    return making->text.at;
}

/* ---- spans ---- */

static void drop_light(struct timeline_making *making)
{
    size_t count = making->timeline->spans.count;
    int64_t least_weight = timeline_cut(making->timeline, TIMELINE_MOST_SPANS);
    making->timeline->left_out += count - making->timeline->spans.count;
    making->least_weight = least_weight > making->least_weight ? least_weight : making->least_weight;
}

void timeline_collect(struct timeline_making *making, uint32_t file, struct timeline_span span)
{
    if (timeline_leaves_out(making, span.weight))
        return;
    span.start_ns += making->shift_ns[file];
    if (making->take) {
        making->take(making->take_context, &span);
        return;
    }
    timeline_add_span(making->timeline, &span);
    if (making->timeline->spans.count >= MOST_TAKEN)
        drop_light(making);
}

/* The details of a span. Few differ, so each text is made once. */
struct detail {
    name_id shapes, stack, operation, operation_shapes, grid, block; /* NAME_NONE: not known */
    name_id collective, group, group_description;                    /* of what communicates */
    name_id unused; /* whole structs are compared: no gap between members */
    int64_t bytes;  /* TABLE_INT_MISSING: not known */
};

static void add_detail(struct buffer *out, const char *key, const struct names *names, name_id value)
{
    if (value == NAME_NONE)
        return;
    buffer_puts(out, out->count ? "\n" : "");
    buffer_puts(out, key);
    buffer_puts(out, ": ");
    buffer_puts(out, names_text(names, value));
}

static void add_details(struct buffer *out, const struct trace *trace, const struct detail *detail)
{
    add_detail(out, "Shapes", trace->texts, detail->shapes);
    add_detail(out, "Call stack", trace->texts, detail->stack);
    add_detail(out, "Operator", trace->names, detail->operation);
    add_detail(out, "Operator's shapes", trace->texts, detail->operation_shapes);
    add_detail(out, "Grid", trace->texts, detail->grid);
    add_detail(out, "Block", trace->texts, detail->block);
    add_detail(out, "Collective", trace->texts, detail->collective);
    add_detail(out, "Group", trace->texts, detail->group);
    add_detail(out, "Description of the group", trace->texts, detail->group_description);
    if (detail->bytes != TABLE_INT_MISSING)
        buffer_printf(out, "%sBytes: %" PRId64, out->count ? "\n" : "", detail->bytes);
}

/* The arguments that details are made of. */
enum detail_arg {
    DETAIL_SHAPES,
    DETAIL_STACK,
    DETAIL_GRID,
    DETAIL_BLOCK,
    DETAIL_BYTES,
    DETAIL_COLLECTIVE,
    DETAIL_GROUP,
    DETAIL_DESCRIPTION,
    DETAIL_CORRELATION,
    DETAIL_OP_SHAPES, /* of operators, whose events lie elsewhere than those of their work */
    DETAIL_ARGS
};

static void scan_details(const struct trace *trace, struct arg_scan scans[DETAIL_ARGS])
{
    static const enum trace_arg args[DETAIL_ARGS] = {
        [DETAIL_SHAPES] = ARG_INPUT_DIMS,
        [DETAIL_STACK] = ARG_CALL_STACK,
        [DETAIL_GRID] = ARG_GRID,
        [DETAIL_BLOCK] = ARG_BLOCK,
        [DETAIL_BYTES] = ARG_BYTES,
        [DETAIL_COLLECTIVE] = ARG_COLLECTIVE,
        [DETAIL_GROUP] = ARG_GROUP_NAME,
        [DETAIL_DESCRIPTION] = ARG_GROUP_DESCRIPTION,
        [DETAIL_CORRELATION] = ARG_CORRELATION,
        [DETAIL_OP_SHAPES] = ARG_INPUT_DIMS,
    };
    for (int i = 0; i < DETAIL_ARGS; i++)
        scans[i] = arg_scan_of(trace, args[i]);
}

static int64_t detail_or(struct arg_scan *scan, event_id e, int64_t missing)
{
    arg_scan_get(scan, e, &missing);
    return missing;
}

/* The text of E, else of its operator OP. */
static name_id text_of_either(struct arg_scan *scan, event_id e, event_id op)
{
    name_id own = (name_id)detail_or(scan, e, NAME_NONE);
    return own == NAME_NONE && op != EVENT_NONE ? (name_id)detail_or(scan, op, NAME_NONE) : own;
}

/* Shapes and stack of an operator; grid, block and operator of work; bytes of a copy. */
static void describe(struct timeline_making *making, struct arg_scan scans[DETAIL_ARGS],
                     struct timeline_span *span, event_id op)
{
    const struct trace *trace = making->trace;
    event_id e = span->event;
    struct detail detail = {
        .shapes = (name_id)detail_or(&scans[DETAIL_SHAPES], e, NAME_NONE),
        .stack = (name_id)detail_or(&scans[DETAIL_STACK], e, NAME_NONE),
        .operation = op == EVENT_NONE ? NAME_NONE : trace->name[op],
        .operation_shapes =
            op == EVENT_NONE ? NAME_NONE : (name_id)detail_or(&scans[DETAIL_OP_SHAPES], op, NAME_NONE),
        .grid = (name_id)detail_or(&scans[DETAIL_GRID], e, NAME_NONE),
        .block = (name_id)detail_or(&scans[DETAIL_BLOCK], e, NAME_NONE),
        .bytes = trace->kind[e] == EVENT_MEMCPY ? detail_or(&scans[DETAIL_BYTES], e, TABLE_INT_MISSING)
                                                : TABLE_INT_MISSING,
    };
    bool communicates = span->kind == SPAN_COMMUNICATION;
    detail.collective = communicates ? text_of_either(&scans[DETAIL_COLLECTIVE], e, op) : NAME_NONE;
    detail.group = communicates ? text_of_either(&scans[DETAIL_GROUP], e, op) : NAME_NONE;
    detail.group_description = communicates ? text_of_either(&scans[DETAIL_DESCRIPTION], e, op) : NAME_NONE;
    name_id id = names_add(making->details, (const char *)&detail, sizeof detail);
    if (id == making->detail_of.count) {
        buffer_clear(&making->text);
        add_details(&making->text, trace, &detail);
        *VEC_PUSH(&making->detail_of) =
            making->text.count ? names_add(making->timeline->details, making->text.at, making->text.count)
                               : 0;
    }
    span->detail = making->detail_of.at[id];
    if (event_is_call(trace->kind[e]) || event_on_device(trace->kind[e]))
        span->correlation = detail_or(&scans[DETAIL_CORRELATION], e, 0);
}

/* The names and details of the spans that were kept; what has a name already (a gap) keeps it. */
static void name_spans(struct timeline_making *making)
{
    const struct trace *trace = making->trace;
    struct timeline *timeline = making->timeline;
    SCOPED name_id *shown = mem_alloc(mem_times(names_count(trace->names) + 1, sizeof *shown));
    memset(shown, 0xff, (names_count(trace->names) + 1) * sizeof *shown);
    struct arg_scan scans[DETAIL_ARGS];
    scan_details(trace, scans);
    FOR_EACH(span, &timeline->spans) {
        if (span->event == TIMELINE_NO_EVENT)
            continue;
        name_id name = trace->name[span->event];
        if (shown[name] == NAME_NONE) {
            buffer_clear(&making->text);
            if (!demangle_name(&making->text, names_text(trace->names, name)))
                buffer_add(&making->text, names_text(trace->names, name), names_length(trace->names, name));
            shown[name] =
                names_add(timeline->names, making->text.count ? making->text.at : "", making->text.count);
        }
        span->name = shown[name];
        describe(making, scans, span, span->operation);
    }
}

/* ---- threads ---- */

static bool timeline_takes(const void *context, event_id e)
{
    const struct timeline_making *making = context;
    const struct trace *trace = making->trace;
    enum event_kind kind = trace->kind[e];
    return !event_on_device(kind) && kind != EVENT_SPAN && kind != EVENT_INSTANT &&
           !(trace->flags[e] & (EVENT_ASYNC | EVENT_POINT)) &&
           (!making->selection || selection_holds_place(making->selection, e));
}

static int64_t weight_of_call(const struct timeline_making *making, event_id e, uint32_t kind)
{
    int64_t own_ns = trace_dur_ns(making->trace, e);
    if (kind == SPAN_TORCH)
        return own_ns / 4;
    if (making->launched_ns && (int64_t)making->launched_ns[e] * 2 > own_ns)
        return (int64_t)making->launched_ns[e] * 2;
    return own_ns;
}

static void collect_thread(struct timeline_making *making, const struct calltree *tree,
                           const struct calltree_thread *thread, uint32_t lane)
{
    const struct trace *trace = making->trace;
    SCOPED struct call_stack stack = { 0 };
    uint16_t inner[MOST_DEPTH + 1] = { 0 }; /* by depth: how many of the calls around it are folded */
    for (node_id n = thread->first; n < thread->first + thread->count; n++) {
        event_id e = tree->event[n];
        int64_t start_ns = trace_start_ns(trace, e), dur_ns = trace_dur_ns(trace, e);
        call_stack_leave(&stack, start_ns, start_ns + dur_ns);
        size_t depth = stack.count;
        call_stack_enter(&stack, start_ns + dur_ns, n);
        if (depth >= MOST_DEPTH) {
            making->timeline->left_out++;
            continue;
        }
        uint32_t kind = timeline_kind_of(making, e);
        inner[depth + 1] = (uint16_t)(inner[depth] + (kind == SPAN_TORCH));
        int64_t weight = weight_of_call(making, e, kind);
        if (timeline_leaves_out(making, weight))
            continue;
        timeline_collect(making, trace->tracks[thread->track].file,
                         (struct timeline_span){ .lane = lane,
                                                 .kind = kind,
                                                 .depth = (uint16_t)depth,
                                                 .inner = inner[depth],
                                                 .folded = kind == SPAN_TORCH,
                                                 .event = e,
                                                 .call = TIMELINE_NO_EVENT,
                                                 .operation = EVENT_NONE,
                                                 .start_ns = start_ns,
                                                 .dur_ns = dur_ns,
                                                 .weight = weight });
    }
}

struct busy_thread {
    const struct calltree_thread *thread;
    uint32_t file;
};

static const struct key by_count[] = { ASC(struct busy_thread, file),
                                       DESC_VIA(struct busy_thread, thread, struct calltree_thread, count),
                                       ASC_VIA(struct busy_thread, thread, struct calltree_thread, track),
                                       KEY_END };

/* A lane per thread: of each file those with most calls first. The later ones of many are closed at first. */
static void add_threads(struct timeline_making *making)
{
    enum { OPEN = 6 };
    const struct trace *trace = making->trace;
    SCOPED_OBJECT struct calltree *tree = calltree_open(trace, timeline_takes, making);
    calltree_forget_parents(tree);
    SCOPED struct busy_thread *busy = mem_alloc(mem_times(tree->thread_count + 1, sizeof *busy));
    for (size_t t = 0; t < tree->thread_count; t++)
        busy[t] = (struct busy_thread){ &tree->threads[t], trace->tracks[tree->threads[t].track].file };
    SORT_ARRAY(busy, tree->thread_count, by_count);
    for (size_t t = 0; t < tree->thread_count; t++) {
        const struct track *track = &trace->tracks[busy[t].thread->track];
        const char *title = arena_printf(&making->timeline->arena, "%s", timeline_name_track(making, track));
        uint32_t lane = timeline_add_lane(making->timeline, title, timeline_name_file(making, track->file),
                                          TIMELINE_HOST);
        bool first = t == 0 || busy[t - 1].file != busy[t].file;
        making->timeline->lanes.at[lane].closed =
            tree->thread_count > OPEN && (!first || trace->file_count > OPEN);
        collect_thread(making, tree, busy[t].thread, lane);
    }
}

/* What each call, and its operator, had the devices do: the longest. */
static void find_launched(struct timeline_making *making)
{
    const struct trace *trace = making->trace;
    const struct gpu_events *gpu = making->gpu;
    if (gpu->count == 0)
        return;
    making->launched_ns = mem_zalloc(trace->event_count, sizeof *making->launched_ns);
    for (size_t i = 0; i < gpu->count; i++) {
        float ns = (float)trace_dur_ns(trace, gpu->event[i]);
        event_id by[2] = { gpu->call[i], gpu->op[i] };
        for (int k = 0; k < 2; k++)
            if (by[k] != EVENT_NONE && ns > making->launched_ns[by[k]])
                making->launched_ns[by[k]] = ns;
    }
}

static void find_waits(struct timeline_making *making)
{
    const struct host_waits *waits = host_waits_of(making->trace);
    making->waits = mem_zalloc(making->trace->event_count / 8 + 1, 1);
    for (size_t i = 0; i < waits->count; i++)
        making->waits[waits->at[i].call / 8] |= (uint8_t)(1 << waits->at[i].call % 8);
}

/* Work that was launched in a window ends behind it. */
static void reach_work(const struct timeline_making *making, struct interval *span)
{
    const struct gpu_events *gpu = making->gpu;
    for (size_t d = 0; d < gpu->device_count; d++)
        for (size_t i = gpu->devices[d].first; i < gpu->devices[d].first + gpu->devices[d].count; i++) {
            int64_t end_ns =
                trace_end_ns(making->trace, gpu->event[i]) + making->shift_ns[gpu->devices[d].file];
            if (end_ns > span->end_ns && selection_holds_work(making->selection, gpu->event[i], gpu->call[i]))
                span->end_ns = end_ns;
        }
}

/* From the first begin to the last end of the files that are selected, of their windows; on one clock. */
static struct interval find_span(const struct timeline_making *making)
{
    const struct selection *selection = making->selection;
    struct interval all = { INT64_MAX, INT64_MIN };
    for (uint32_t file = 0; file < making->trace->file_count; file++) {
        struct interval span = trace_file_span(making->trace, file);
        if (span.start_ns == span.end_ns || (selection && selection->files && !selection->files[file]))
            continue;
        if (selection && selection->windows && selection->windows[file].count) {
            const struct intervals *windows = &selection->windows[file];
            int64_t first_ns = windows->at[0].start_ns, last_ns = windows->at[windows->count - 1].end_ns;
            span.start_ns = first_ns > span.start_ns ? first_ns : span.start_ns;
            span.end_ns = last_ns < span.end_ns ? last_ns : span.end_ns;
        }
        span.start_ns += making->shift_ns[file];
        span.end_ns += making->shift_ns[file];
        all.start_ns = span.start_ns < all.start_ns ? span.start_ns : all.start_ns;
        all.end_ns = span.end_ns > all.end_ns ? span.end_ns : all.end_ns;
    }
    if (selection && selection->windows && all.start_ns < all.end_ns)
        reach_work(making, &all);
    return all;
}

static void add_files(struct timeline_making *making)
{
    const struct trace *trace = making->trace;
    for (uint32_t file = 0; file < trace->file_count; file++) {
        const char *slash = strrchr(trace->files[file].path, '/');
        *VEC_PUSH(&making->timeline->files) = (struct timeline_file){
            .rank = selection_rank(trace, file),
            .origin_ns = trace_file_span(trace, file).start_ns + making->shift_ns[file],
            .shift_ns = making->shift_ns[file],
            .name = arena_printf(&making->timeline->arena, "%s", slash ? slash + 1 : trace->files[file].path),
            .group = arena_printf(&making->timeline->arena, "%s", timeline_name_file(making, file)),
        };
    }
}

static void make(struct timeline_making *making)
{
    const struct trace *trace = making->trace;
    size_t names = names_count(trace->names) + 1;
    making->kind_of_name = mem_alloc(names);
    making->kind_of_call = mem_alloc(names);
    memset(making->kind_of_name, SPAN_KINDS, names);
    memset(making->kind_of_call, SPAN_KINDS, names);
    if (!making->take)
        find_launched(making);
    find_waits(making);
    add_kinds(making->timeline);
    add_files(making);
    timeline_add_steps(making);
    if (!making->take)
        timeline_add_excerpt(making);
    timeline_add_devices(making);
    timeline_add_path(making);
    timeline_add_memory(making);
    timeline_add_counters(making);
    add_threads(making);
    timeline_add_rest(making);
    drop_light(making);
    name_spans(making);
    timeline_rank(making->timeline);
}

/* The timeline of MAKING, which has what was requested. */
static struct timeline *make_all(struct timeline_making *making)
{
    const struct trace *trace = making->trace;
    making->gpu = gpu_events_of(trace);
    making->details = names_open();
    making->shift_ns = mem_zalloc(trace->file_count + 1, sizeof *making->shift_ns);
    const int64_t *shift_ns = making->graph ? making->graph->shift_ns : making->lain_ns;
    for (size_t file = 0; file < trace->file_count && shift_ns; file++)
        making->shift_ns[file] = shift_ns[file];
    struct interval span = find_span(making);
    if (span.start_ns < span.end_ns) {
        making->timeline =
            timeline_open("The whole recording", span.start_ns, span.end_ns - span.start_ns, BINS);
        size_t series = making->gpu->device_count + MOST_SERIES, finer = making->most_cells / series / BINS;
        making->timeline->finer = finer < 1 ? 1 : finer < MOST_FINER ? finer : MOST_FINER;
        if (!making->take) /* at once: to grow would copy them */
            VEC_RESERVE(&making->timeline->spans,
                        trace->event_count < MOST_TAKEN ? trace->event_count : MOST_TAKEN);
        timeline_find_path(making);
        make(making);
    }
    arena_free(making->own_graph);
    EACH(free, making->shift_ns, making->kind_of_name, making->kind_of_call, making->launched_ns,
         making->waits);
    names_free(making->details);
    VEC_FREE(&making->detail_of);
    buffer_release(&making->text);
    return making->timeline;
}

struct timeline *chart_timeline(const struct trace *trace, const struct selection *selection)
{
    struct timeline_making making = { .trace = trace,
                                      .selection = selection_is_all(selection) ? NULL : selection,
                                      .graph = replay_graph_of(trace),
                                      .most_gaps = TIMELINE_MOST_GAPS };
    return make_all(&making);
}

struct timeline *chart_timeline_each(const struct trace *trace, timeline_taker *take, void *context,
                                     const struct timeline_ways *ways)
{
    /* whose clocks the graph lays on one */
    bool replays = !ways->shift_ns && (ways->with_path || trace->file_count > 1);
    struct replay_graph *graph =
        replays ? replay_graph_open(trace) : NULL; /* as large as the trace: not kept */
    struct timeline_making making = { .trace = trace,
                                      .graph = graph,
                                      .own_graph = graph,
                                      .take = take,
                                      .take_context = context,
                                      .most_gaps = ways->most_gaps,
                                      .most_cells = ways->most_cells,
                                      .lain_ns = ways->shift_ns,
                                      .groups = ways->groups };
    return make_all(&making);
}

/* ---- outlines ---- */

/* By the clocks of the files, from that of the first; one that is far from it lies as it is. */
static void lay_by_clocks(const struct trace *trace, int64_t *shift_ns)
{
    const struct trace_file *first = trace->files;
    for (size_t f = 1; f < trace->file_count; f++) {
        int64_t ns;
        if (first->has_base && trace->files[f].has_base &&
            !__builtin_sub_overflow(trace->files[f].base_ns, first->base_ns, &ns) && ns >= -TRACE_LATEST_NS &&
            ns <= TRACE_LATEST_NS)
            shift_ns[f] = ns;
    }
}

static void outline_lanes(struct timeline_making *making, enum track_kind kind, uint32_t *lane)
{
    const struct trace *trace = making->trace;
    enum timeline_place place = kind == TRACK_STREAM ? TIMELINE_DEVICE : TIMELINE_HOST;
    for (size_t t = 0; t < trace->track_count; t++) {
        const struct track *track = &trace->tracks[t];
        if ((track->kind == TRACK_STREAM) != (kind == TRACK_STREAM) || track->event_count == 0)
            continue;
        const char *title = arena_printf(&making->timeline->arena, "%s", timeline_name_track(making, track));
        lane[t] = timeline_add_lane(making->timeline, title, timeline_name_file(making, track->file), place);
    }
}

struct timeline *chart_timeline_outline(const struct trace *trace, const struct timeline_ways *ways,
                                        uint32_t *lane)
{
    struct timeline_making making = { .trace = trace, .groups = ways->groups };
    making.shift_ns = mem_zalloc(trace->file_count + 1, sizeof *making.shift_ns);
    if (!ways->shift_ns)
        lay_by_clocks(trace, making.shift_ns);
    for (size_t f = 0; f < trace->file_count && ways->shift_ns; f++)
        making.shift_ns[f] = ways->shift_ns[f];
    memset(lane, 0xff, trace->track_count * sizeof *lane);
    struct interval span = find_span(&making);
    if (span.start_ns < span.end_ns) {
        making.timeline =
            timeline_open("The whole recording", span.start_ns, span.end_ns - span.start_ns, BINS);
        making.timeline->left_out = trace->event_count;
        add_kinds(making.timeline);
        add_files(&making);
        outline_lanes(&making, TRACK_STREAM, lane);
        outline_lanes(&making, TRACK_THREAD, lane);
    }
    free(making.shift_ns);
    buffer_release(&making.text);
    return making.timeline;
}

static const uint8_t outline_kinds[EVENT_KINDS] = {
    [EVENT_OTHER] = SPAN_OTHER,
    [EVENT_OP] = SPAN_OPERATOR,
    [EVENT_ANNOTATION] = SPAN_ANNOTATION,
    [EVENT_PYTHON] = SPAN_PYTHON,
    [EVENT_RUNTIME] = SPAN_CALL,
    [EVENT_DRIVER] = SPAN_CALL,
    [EVENT_OVERHEAD] = SPAN_OVERHEAD,
    [EVENT_INSTANT] = TIMELINE_MOST_KINDS,
    [EVENT_KERNEL] = SPAN_COMPUTATION,
    [EVENT_MEMCPY] = SPAN_COPY,
    [EVENT_MEMSET] = SPAN_MEMSET,
    [EVENT_SYNC] = TIMELINE_MOST_KINDS,
    [EVENT_SPAN] = TIMELINE_MOST_KINDS,
    [EVENT_GPU_ANNOTATION] = TIMELINE_MOST_KINDS,
    [EVENT_GPU_OTHER] = TIMELINE_MOST_KINDS,
};

uint32_t chart_timeline_outline_kind(const struct trace *trace, event_id e)
{
    return trace->flags[e] & (EVENT_ASYNC | EVENT_POINT) ? TIMELINE_MOST_KINDS
                                                         : outline_kinds[trace->kind[e]];
}

uint64_t chart_timeline_outline_kinds(bool on_device)
{
    uint64_t found = 0;
    for (int kind = 0; kind < EVENT_KINDS; kind++)
        if (event_on_device(kind) == on_device && outline_kinds[kind] < TIMELINE_MOST_KINDS)
            found |= UINT64_C(1) << outline_kinds[kind];
    return found;
}
