/* top.c - the stages in their order, which top.h lists. */
#include "analyze/top/top.h"

#include "base/parallel.h"
#include <inttypes.h>
#include <math.h>

const struct trace_wants top_least_wants = { .args = ATTRIBUTION_WANTS | WANT(BYTES) | WANT(DEVICE_TYPE) |
                                                     WANT(INPUT_DIMS) | WANT(CONCRETE_INPUTS) |
                                                     WANT(PYTHON_ID) };

struct trace_wants top_wants(const struct top_options *options)
{
    struct trace_wants wants = top_least_wants;
    if (options->by & TOP_STACK)
        wants.args |= WANT(CALL_STACK) | WANT(SEQUENCE) | WANT(FWD_THREAD);
    if (options->by & (TOP_MODULE | TOP_LINE))
        wants.args |= CODE_PATHS_WANTS;
    return wants;
}

/* ---- from sums to rows ---- */

static struct text keep(struct top *top, const char *text, size_t len)
{
    return (struct text){ names_text(top->texts, names_add(top->texts, text, len)), len };
}

static struct text keep_id(struct top *top, const struct names *names, uint32_t id)
{
    return keep(top, names_text(names, id), names_length(names, id));
}

/* Add PART to TEXT, a list with commas. */
static void add_part(struct buffer *text, const char *part)
{
    buffer_printf(text, "%s%s", text->count ? ", " : "", part);
}

/* "cpu_op", "GPU 0 stream 7", "thread 4711": the place that the key tells, except its rank unless that goes unsaid otherwise. */
static void append_place(const struct top *top, const struct group_key *key, struct buffer *text)
{
    char part[64];
    if (key->category.at)
        add_part(text, key->category.at);
    if (key->rank != TABLE_INT_MISSING && top->trace->file_count > 1 &&
        top->by & (TOP_DEVICE | TOP_STREAM | TOP_THREAD) && !(top->by & TOP_RANK)) {
        snprintf(part, sizeof part, "rank %" PRId64, key->rank);
        add_part(text, part);
    }
    if (top->by & (TOP_DEVICE | TOP_STREAM)) {
        if (key->device >= 0)
            snprintf(part, sizeof part, "GPU %" PRId64, key->device);
        add_part(text, key->device >= 0 ? part : "GPU");
    }
    if (top->by & TOP_STREAM)
        buffer_printf(text, " stream %" PRId64, key->stream);
    if (key->thread.at) {
        add_part(text, strstr(key->thread.at, "thread") ? "" : "thread ");
        buffer_puts(text, key->thread.at);
    }
}

static struct text keep_buffer(struct top *top, struct buffer *text)
{
    struct text kept = keep(top, text->at ? text->at : "", text->count);
    buffer_release(text);
    return kept;
}

/* "rank 1, GPU 0 stream 7", "ProfilerStep#3, Linear_0": the name of a row that no operator names. */
static struct text name_of_place(struct top *top, const struct top_row *row)
{
    struct buffer text = { 0 };
    const char *step = "(outside steps)";
    buffer_add(&text, row->place.at, row->place.len);
    if (row->key.step != TABLE_INT_MISSING)
        step = step_name_of(top->trace, row->key.step);
    if (top->by & TOP_STEP)
        add_part(&text, step);
    if (row->key.module.at)
        add_part(&text, row->key.module.at);
    if (row->line.at)
        add_part(&text, row->line.at);
    return keep_buffer(top, &text);
}

static int64_t divide_rounded(int64_t value, int64_t by)
{
    int64_t quotient = value / by, rest = value % by;
    if (rest >= by - rest)
        return quotient + 1;
    return -rest >= by + rest ? quotient - 1 : quotient;
}

/* A part of WHOLE; NaN when there is no whole. */
static double share_of(int64_t part, int64_t whole)
{
    return whole ? (double)part / (double)whole : NAN;
}

static void set_name(struct top *top, const struct top_rows *rows, const struct row_sums *sums,
                     struct top_row *row)
{
    const struct row_key *key = &sums->key;
    row->key = (struct group_key){ .rank = TABLE_INT_MISSING,
                                   .cycle = TABLE_INT_MISSING,
                                   .device = TABLE_INT_MISSING,
                                   .stream = TABLE_INT_MISSING,
                                   .step = TABLE_INT_MISSING };
    if (top->group)
        row->key = group_key(top->group, key->group);
    if (top->by & TOP_SHAPE)
        row->shapes = keep_id(top, rows->texts, key->shape);
    if (top->by & TOP_OVERLOAD)
        row->overload = keep_id(top, rows->texts, key->overload);
    if (top->by & TOP_STACK)
        row->stack = keep_id(top, rows->texts, key->stack);
    if (top->by & TOP_LINE)
        row->line = names_length(rows->texts, key->line) ? keep_id(top, rows->texts, key->line)
                                                         : keep(top, "(no line)", strlen("(no line)"));
    struct buffer place = { 0 };
    append_place(top, &row->key, &place);
    row->place = keep_buffer(top, &place);
    row->name = top->per_call ? keep_id(top, rows->events->names.keys, key->name) : name_of_place(top, row);
    const char *type = device_type_name((enum device_type)key->device_type);
    if (top->per_call || !(top->by & TOP_BOTH_SIDES))
        row->device_type = (struct text){ type, strlen(type) };
    row->on_device = key->device_type != DEVICE_TYPE_CPU;
    row->is_annotation = key->is_annotation;
    row->file = top_file_of(rows->events, sums->first.event);
    row->is_gpu_work = event_is_gpu_work((enum event_kind)top->trace->kind[sums->first.event]);
}

/* An operator that ran only when a graph was captured: nothing is known of its calls. */
static void forget_calls(struct top_row *row)
{
    int64_t *const figures[] = { &row->count,        &row->cpu_ns,
                                 &row->self_cpu_ns,  &row->cpu_average_ns,
                                 &row->cpu_bytes,    &row->self_cpu_bytes,
                                 &row->device_bytes, &row->self_device_bytes,
                                 &row->flops,        &row->device_average_ns };
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        *figures[i] = TABLE_INT_MISSING;
    row->self_cpu_share = row->cpu_share = NAN;
}

static struct top_row row_of(struct top *top, const struct top_rows *rows, const struct row_sums *sums)
{
    const struct top_float_figures *as_torch = &sums->as_torch;
    double calls = top->as_torch ? (double)sums->count : NAN;
    struct top_row row = {
        .count = sums->count,
        .cpu_ns = sums->cpu_ns,
        .self_cpu_ns = sums->self_cpu_ns,
        .cpu_average_ns = sums->count ? divide_rounded(sums->cpu_ns, sums->count) : 0,
        .device_ns = sums->device_ns,
        .self_device_ns = sums->self_device_ns,
        .device_average_ns = sums->count ? divide_rounded(sums->device_ns, sums->count) : 0,
        .self_cpu_share = share_of(sums->self_cpu_ns, top->self_cpu_ns),
        .cpu_share = share_of(sums->first.is_async ? 0 : sums->cpu_ns, top->self_cpu_ns),
        .self_device_share = share_of(sums->self_device_ns, top->self_device_ns),
        .cpu_bytes = sums->cpu_bytes,
        .self_cpu_bytes = sums->self_cpu_bytes,
        .device_bytes = sums->device_bytes,
        .self_device_bytes = sums->self_device_bytes,
        .flops = sums->flops,
        .is_async = sums->first.is_async,
        .is_top_level = !sums->first.has_parent,
        .node_id = -1,
        .as_torch = { as_torch->cpu_us, as_torch->self_cpu_us, as_torch->cpu_us / calls, as_torch->device_us,
                      as_torch->self_device_us, as_torch->device_us / calls },
    };
    row.captured = top->captured ? sums->captured : TABLE_INT_MISSING;
    if (sums->count == 0)
        forget_calls(&row);
    set_name(top, rows, sums, &row);
    row.scope = row.is_annotation && !row.on_device ? 7 : 0;
    /* A range on a device spans pauses between kernels: it may be no share of their time. torch's table has one. */
    if (row.is_annotation && row.self_device_share > 1 && !rows->events->files[row.file].is_torch)
        row.self_device_share = NAN;
    return row;
}

/* What headings call the devices: the type of their work; where it is of several, of that which takes longest; CUDA where there is none. */
static const char *device_name_of(const struct top_rows *rows)
{
    int64_t time_ns[UINT8_MAX + 1] = { 0 };
    enum device_type longest = DEVICE_TYPE_CPU;
    FOR_EACH(sums, rows) {
        enum device_type type = (enum device_type)sums->key.device_type;
        if (type == DEVICE_TYPE_CPU ||
            !event_is_gpu_work((enum event_kind)rows->events->trace->kind[sums->first.event]))
            continue;
        add_wrapped(&time_ns[type], sums->self_device_ns);
        if (longest == DEVICE_TYPE_CPU || time_ns[type] > time_ns[longest])
            longest = type;
    }
    return device_type_name(longest == DEVICE_TYPE_CPU ? DEVICE_TYPE_CUDA : longest);
}

struct listed_row {
    const struct trace *trace;
    const struct row_sums *sums;
};

static int compare_rows(const void *left, const void *right)
{
    const struct listed_row *a = left, *b = right;
    return top_compare_first(a->trace, &a->sums->first, &b->sums->first);
}

/* The totals of all rows, and what there is. */
static void add_up(struct top *top, const struct top_rows *rows)
{
    bool any = false;
    FOR_EACH(sums, rows) {
        top->captured += (uint64_t)sums->captured;
        if (sums->count == 0)
            continue;
        any = true;
        add_wrapped(&top->self_cpu_ns, sums->self_cpu_ns);
        top->has_host |= sums->key.device_type == DEVICE_TYPE_CPU;
        top->has_device_time |= sums->self_device_ns > 0;
        top->has_device_memory |= sums->self_device_bytes > 0;
    }
    top->has_host |= !any; /* an empty table is a host's */
    top->has_memory = top->counts.has_memory;
    top->has_flops = top->counts.has_flops;
    top->self_device_ns = top->counts.self_device_ns;
    top->device_name = device_name_of(rows);
    top->no_code = rows->lines && rows->lines->count == 1;
}

/* Take what ROWS say; in the order of torch's list. */
static void collect_rows(struct top *top, struct top_rows *rows)
{
    const struct top_names *names = &rows->events->names;
    top->group = arena_hold(arena_of(top), rows->group);
    rows->group = NULL;
    add_up(top, rows);
    SCOPED VEC_OF(struct listed_row) listed = { 0 };
    for (size_t i = 0; i < rows->count; i++)
        if (rows->at[i].count || (rows->at[i].captured && !top->as_torch))
            *VEC_PUSH(&listed) = (struct listed_row){ top->trace, &rows->at[i] };
    if (listed.count)
        qsort(listed.at, listed.count, sizeof *listed.at, compare_rows);
    for (size_t i = 0; i < listed.count; i++)
        if (!top->per_call || !names->wanted || names->wanted[listed.at[i].sums->key.name])
            *VEC_PUSH(top) = row_of(top, rows, listed.at[i].sums);
}

/* ---- the stages ---- */

struct beginning {
    const struct trace *trace;
    const struct top_options *options;
    struct top_events *events;
    struct top_calls *calls;
};

/* Attribution looks through all events, and so do the first two stages, which do not need it unless a selection asks when work
 * was launched: so it is found meanwhile. */
static void begin_part(void *context, size_t part)
{
    struct beginning *beginning = context;
    if (part == 0 && !top_chooses_events(beginning->options))
        attribution_of(beginning->trace);
    if (part == 1) {
        top_events_open(beginning->events, beginning->trace, beginning->options);
        top_calls_open(beginning->calls, beginning->events);
    }
}

/* Device work needs the host's rows: but what launched it, and when annotations end, is found while these are counted. */
struct counting {
    struct top_rows *rows;
    struct top_calls *calls;
    struct top_counts *counts;
    struct narrowings narrowings;
    struct top_launched launched;
};

enum { COUNT_HOST, COUNT_NARROW, COUNT_LAUNCHED }; /* and so many parts more */

static void count_part(void *context, size_t part)
{
    struct counting *counting = context;
    if (part == COUNT_HOST)
        top_count_host(counting->rows, counting->calls, counting->counts);
    else if (part == COUNT_NARROW)
        counting->narrowings = top_narrow_annotations(counting->rows->events);
    else
        top_launched_find(&counting->launched, part - COUNT_LAUNCHED);
}

/* What devices and memory have of the host's rows: each writes to its own. */
struct sharing {
    struct counting *counting;
    const struct top_links *links;
    struct top_memory memory;
    size_t row_count;   /* of the host */
    struct arena arena; /* of the memory */
};

static void share_part(void *context, size_t part)
{
    struct sharing *sharing = context;
    struct counting *counting = sharing->counting;
    if (part == 0)
        top_count_devices(counting->rows, counting->calls, sharing->links, &counting->launched,
                          &counting->narrowings, counting->counts);
    else
        top_memory_find(&sharing->memory, counting->calls, counting->rows->events, sharing->row_count,
                        &sharing->arena);
}

static void count_rows(struct top *top, struct top_rows *rows, struct top_calls *calls,
                       const struct top_links *links)
{
    const struct trace *trace = top->trace;
    const struct top_options *options = rows->events->options;
    unsigned workers = parallel_parts(trace->workers, trace->event_count);
    SCOPED uint64_t *leftovers =
        options->float_times ? mem_zalloc(trace->event_count / 64 + 1, sizeof *leftovers) : NULL;
    top->counts.moved_calls = links->moved_calls;
    struct counting counting = { .rows = rows, .calls = calls, .counts = &top->counts };
    top_launched_open(&counting.launched, links, rows->events);
    parallel_run(workers, COUNT_LAUNCHED + counting.launched.part_count, count_part, &counting);
    top_launched_join(&counting.launched);
    struct sharing sharing = { .counting = &counting, .links = links, .row_count = rows->count };
    parallel_run(workers, options->without_memory ? 1 : 2, share_part, &sharing);
    EACH(free, counting.launched.at, counting.launched.parts);
    VEC_FREE(&counting.launched.alike);
    if (!options->without_memory) {
        top_count_memory(rows, &sharing.memory, &top->counts, leftovers);
        arena_release(&sharing.arena);
    }
    if (options->float_times)
        top_sum_as_torch(rows, calls, links, &counting.narrowings, leftovers);
    VEC_FREE(&counting.narrowings);
}

struct top *top_analyze(const struct trace *trace, const struct top_options *options)
{
    struct top_events events; /* the query, and how each event counts */
    struct top_calls calls;   /* who called whom */
    struct top_links links;   /* who launched what */
    struct beginning beginning = { trace, options, &events, &calls };
    parallel_run(parallel_parts(trace->workers, trace->event_count), 2, begin_part, &beginning);
    top_links_open(&links, &events);
    top_calls_nest(&calls, &events, &links);
    /* which row an event belongs to, and the sums */
    SCOPED_OBJECT struct top_rows *rows =
        top_rows_open(&events, events.by & TOP_STACK ? top_borrow_stacks(&calls, &links) : NULL);

    struct top *top = arena_open(sizeof *top);
    ARENA_OWNS(arena_of(top), &top->at);
    top->texts = arena_hold(arena_of(top), names_open());
    top->trace = trace;
    top->by = events.by;
    top->per_call = events.per_call;
    top->as_torch = options->float_times;
    count_rows(top, rows, &calls, &links);
    collect_rows(top, rows);

    arena_free(calls.tree);
    EACH(free, calls.state, calls.row_of_node, calls.wide_row_of_node);
    EACH(VEC_FREE, &links.moves, &links.lookalikes);
    EACH(free, links.lookalike_filter, links.stop_thread);
    EACH(free, events.names.key_of, events.names.operator_key_of, events.names.flags,
         events.names.captured_key, events.names.wanted);
    names_free(events.names.keys);
    EACH(free, events.files, events.role, events.selected);
    VEC_FREE(&events.steps);
    return top;
}

void top_append_detail(const struct top_row *row, struct buffer *out)
{
    const struct text parts[] = { row->shapes, row->overload, row->stack };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (!parts[i].len)
            continue;
        buffer_puts(out, out->count ? "  " : "");
        buffer_add(out, parts[i].at, parts[i].len);
    }
}
