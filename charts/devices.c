/*
 * devices.c - utilization and overlap over time: what each device did in each part of its span.
 *
 * The span, from the start of the first work to the end of the last, is cut into parts, which end where steps begin
 * and are about as long as each other. Of each part the chart
 * shows the shares in which the device computed, communicated and copied, each moment once; what is left of the part it
 * was idle. With a selection the work that was launched in it makes up the span.
 */
#include "charts/parts.h"
#include "derive/device_use.h"
#include "derive/features.h"
#include "derive/step_list.h"
#include "trace/span.h"
#include <inttypes.h>
#include <math.h>

enum state { STATE_FIRST, STATE_SECOND, STATE_THIRD, STATES };

typedef VEC_OF(int64_t) moments;

/* How long a device was in each state, in each part of its span. */
struct device_states {
    struct interval span;
    moments edges;              /* where the parts end */
    int64_t (*part_ns)[STATES]; /* by part */
    int64_t all_ns[STATES];     /* of all parts */
    size_t at[STATES];          /* the part that was added to last */
};

static const struct trace_wants device_wants = { .args = GPU_EVENTS_WANTS };

/* The work of DEVICE that was requested, by start: positions in gpu->event, *COUNT of them; and its span. New; free(). */
static uint32_t *find_work(const struct chart_request *request, const struct gpu_events *gpu,
                           const struct gpu_device *device, size_t *count, struct interval *span)
{
    const struct trace *trace = request->trace;
    uint32_t *work = mem_alloc(mem_times(device->count + 1, sizeof *work));
    *span = (struct interval){ INT64_MAX, INT64_MIN };
    *count = 0;
    for (size_t i = device->first; i < device->first + device->count; i++) {
        event_id e = gpu->event[i];
        if (!selection_holds_work(request->selection, e, gpu->call[i]))
            continue;
        span->start_ns =
            trace_start_ns(trace, e) < span->start_ns ? trace_start_ns(trace, e) : span->start_ns;
        span->end_ns = trace_end_ns(trace, e) > span->end_ns ? trace_end_ns(trace, e) : span->end_ns;
        work[(*count)++] = (uint32_t)i;
    }
    return work;
}

/* Computation; communication without it; copies without both. */
static void find_utilization(const struct device_use *use, struct intervals states[STATES])
{
    for (size_t i = 0; i < DEVICE_USES; i++)
        intervals_union(&use->exposed[i], &(struct intervals){ 0 }, &states[i]);
}

/* Computation alone; with communication; communication alone. */
static void find_overlap(const struct device_use *use, struct intervals states[STATES])
{
    const struct intervals *computation = &use->of[USE_COMPUTATION],
                           *communication = &use->of[USE_COMMUNICATION];
    intervals_subtract(computation, communication, &states[0]);
    intervals_intersect(computation, communication, &states[1]);
    intervals_subtract(communication, computation, &states[2]);
}

struct kind {
    const char *key, *before, *after; /* title: BEFORE, number of the device, AFTER */
    const char *titles[STATES];
    enum chart_color colors[STATES];
    void (*find)(const struct device_use *use, struct intervals states[STATES]);
};

static const struct kind utilization = {
    .key = "utilization",
    .before = "What device ",
    .after = " did",
    .titles = { "Computation", "Exposed communication", "Exposed copies" },
    .colors = { CHART_COLOR_OF_COMPUTATION, CHART_COLOR_OF_COMMUNICATION, CHART_COLOR_OF_COPIES },
    .find = find_utilization,
};

static const struct kind overlap = {
    .key = "overlap",
    .before = "Communication and computation of device ",
    .after = "",
    .titles = { "Computation alone", "Both", "Communication alone" },
    .colors = { CHART_COLOR_OF_COMPUTATION, CHART_PURPLE, CHART_COLOR_OF_COMMUNICATION },
    .find = find_overlap,
};

/* Where part C of COLUMNS begins, in whole nanoseconds: a product of both might not fit. */
static int64_t cut_ns(int64_t start_ns, int64_t end_ns, size_t c, size_t columns)
{
    int64_t span_ns = end_ns - start_ns, parts = (int64_t)columns, part = (int64_t)c;
    return start_ns + span_ns / parts * part + span_ns % parts * part / parts;
}

static void add_edge(moments *edges, struct interval span, int64_t at_ns)
{
    if (at_ns > span.start_ns && at_ns < span.end_ns &&
        (edges->count == 0 || at_ns > edges->at[edges->count - 1]))
        *VEC_PUSH(edges) = at_ns;
}

/* From FROM to TO in as many parts of the same length as COLUMNS of the span allow, at least one; the begins of all but the first. */
static void add_equal_parts(moments *edges, struct interval span, int64_t from_ns, int64_t to_ns,
                            size_t columns)
{
    double share = (double)(to_ns - from_ns) / (double)(span.end_ns - span.start_ns);
    size_t parts = (size_t)lround(fmax(1, share * (double)columns));
    for (size_t i = 1; i < parts; i++)
        add_edge(edges, span, cut_ns(from_ns, to_ns, i, parts));
}

/* Where the parts of SPAN end, in order. Where the file has steps, they begin with parts: parts as long as the step's
 * period would otherwise show a beat of both that is not in the trace. Of more steps than COLUMNS each part has
 * several. */
static moments find_edges(const struct trace *trace, uint32_t file, struct interval span, size_t columns)
{
    const struct step_list *steps = step_list_of(trace);
    moments edges = { 0 };
    size_t inside = 0, seen = 0;
    for (size_t i = 0; i < steps->count; i++)
        inside += steps->at[i].file == file && steps->at[i].start_ns > span.start_ns &&
                  steps->at[i].start_ns < span.end_ns;
    size_t each = inside / columns + 1;
    int64_t last_ns = span.start_ns;
    for (size_t i = 0; i < steps->count; i++) {
        int64_t at_ns = steps->at[i].start_ns;
        if (steps->at[i].file != file || at_ns <= last_ns || at_ns >= span.end_ns || seen++ % each)
            continue;
        if (each == 1)
            add_equal_parts(&edges, span, last_ns, at_ns, columns);
        add_edge(&edges, span, last_ns = at_ns);
    }
    add_equal_parts(&edges, span, last_ns, span.end_ns, columns);
    *VEC_PUSH(&edges) = span.end_ns;
    return edges;
}

/* Add the moments of SET, which begin no earlier than those added before, to state S of the parts that they lie in. */
static void add_moments(struct device_states *states, size_t s, const struct intervals *set)
{
    const moments *edges = &states->edges;
    size_t *at = &states->at[s];
    for (size_t i = 0; i < set->count; i++)
        for (int64_t from_ns = set->at[i].start_ns, to_ns; from_ns < set->at[i].end_ns; from_ns = to_ns) {
            while (*at + 1 < edges->count && edges->at[*at] <= from_ns)
                ++*at;
            to_ns = set->at[i].end_ns;
            if (*at + 1 < edges->count && edges->at[*at] < to_ns)
                to_ns = edges->at[*at];
            states->part_ns[*at][s] += to_ns - from_ns;
            states->all_ns[s] += to_ns - from_ns;
        }
}

/* What the device did with the time of its COUNT pieces of WORK. */
static void find_states(const struct gpu_events *gpu, const uint32_t *work, size_t count,
                        const struct kind *kind, struct device_states *states)
{
    SCOPED_BY(device_use_release) struct device_use use = { 0 };
    struct intervals in[STATES] = { 0 };
    struct device_use_walk walk = { .gpu = gpu, .at = work, .count = count };
    states->part_ns = mem_zalloc(states->edges.count + 1, sizeof *states->part_ns);
    while (device_use_next(&walk, &use)) {
        kind->find(&use, in);
        for (size_t s = 0; s < STATES; s++)
            add_moments(states, s, &in[s]);
    }
    for (size_t s = 0; s < STATES; s++)
        intervals_release(&in[s]);
}

/* A row for each part of the span, and a last one where it ends. */
static void cut_time(struct table *table, const struct device_states *states, int64_t origin_ns)
{
    int64_t from_ns = states->span.start_ns;
    for (size_t c = 0; c <= states->edges.count; c++) {
        int64_t to_ns = c < states->edges.count ? states->edges.at[c] : states->span.end_ns;
        size_t row = table_add_row(table);
        table_set_int(table, row, 0, from_ns - origin_ns);
        for (size_t s = 0; s < STATES && c < states->edges.count; s++)
            table_set_number(table, row, s + 1, (double)states->part_ns[c][s] / (double)(to_ns - from_ns));
        from_ns = to_ns;
    }
}

/* The shares of the whole, in words. */
static void devices_describe_shares(struct chart *chart, const struct kind *kind,
                                    const struct device_states *states)
{
    double span_ns = (double)(states->span.end_ns - states->span.start_ns), length_ns[STATES];
    for (size_t s = 0; s < STATES; s++)
        length_ns[s] = (double)states->all_ns[s];
    if (kind == &overlap) {
        chart->note = arena_printf(&chart->arena, "%.1f %% of the communication runs beside computation",
                                   quantity_percent(length_ns[1] / (length_ns[1] + length_ns[2])));
        return;
    }
    double idle_ns = span_ns - length_ns[0] - length_ns[1] - length_ns[2];
    chart->note = arena_printf(
        &chart->arena, "computes %.1f %%, only communicates %.1f %%, only copies %.1f %%, idle %.1f %%",
        quantity_percent(length_ns[0] / span_ns), quantity_percent(length_ns[1] / span_ns),
        quantity_percent(length_ns[2] / span_ns), quantity_percent(idle_ns / span_ns));
}

static void devices_add_device(const struct chart_request *request, struct picture *picture,
                               const struct kind *kind, const struct gpu_device *device,
                               const struct device_states *states)
{
    const struct table_column columns[STATES + 1] = {
        { "time", "Time", TABLE_MOMENT, "begin of the part of time", 0, NULL },
        { "first", kind->titles[0], TABLE_SHARE, "share of it", 0, NULL },
        { "second", kind->titles[1], TABLE_SHARE, "share of it", 0, NULL },
        { "third", kind->titles[2], TABLE_SHARE, "share of it", 0, NULL },
    };
    struct chart *chart = picture_add_chart(picture, kind->key, kind->before);
    int64_t rank = selection_rank(request->trace, device->file);
    bool several = request->trace->file_count > 1;
    chart->key = several ? arena_printf(&chart->arena, "%s_%" PRId64 "_%d", kind->key, rank, device->id)
                         : arena_printf(&chart->arena, "%s_%d", kind->key, device->id);
    chart->title = arena_printf(&chart->arena, "%s%d%s", kind->before, device->id, kind->after);
    if (several)
        chart->title = arena_printf(&chart->arena, "%s, rank %" PRId64, chart->title, rank);
    chart->x = chart_time_axis(request, device->file);
    chart->y =
        (struct chart_axis){ .title = "Share of the time", .kind = TABLE_SHARE, .has_most = true, .most = 1 };
    struct table *table = chart_add_table(chart, table_open(kind->key, NULL, columns, STATES + 1));
    cut_time(table, states, trace_file_span(request->trace, device->file).start_ns);
    for (size_t s = 0; s < STATES; s++)
        if (states->all_ns[s] > 0)
            chart_add_series(chart, (struct chart_series){ .title = kind->titles[s],
                                                           .mark = CHART_AREA,
                                                           .color = kind->colors[s],
                                                           .table = table,
                                                           .y = s + 1 });
    devices_describe_shares(chart, kind, states);
}

static void draw_devices(const struct chart_request *request, struct picture *picture,
                         const struct kind *kind)
{
    const struct gpu_events *gpu = gpu_events_of(request->trace);
    size_t found = 0;
    FOR_EACH_OF(device, gpu->devices, gpu->device_count) {
        if (request->selection->files && !request->selection->files[device->file])
            continue;
        struct device_states states = { 0 };
        size_t count;
        SCOPED uint32_t *work = find_work(request, gpu, device, &count, &states.span);
        if (states.span.start_ns < states.span.end_ns) {
            states.edges = find_edges(request->trace, device->file, states.span, request->columns);
            find_states(gpu, work, count, kind, &states);
            bool shown = kind != &overlap || states.all_ns[1] > 0 || states.all_ns[2] > 0;
            found += shown;
            if (shown && found <= CHART_MOST_PANELS)
                devices_add_device(request, picture, kind, device, &states);
        }
        free(states.part_ns);
        VEC_FREE(&states.edges);
    }
    chart_describe_panels(picture, CHART_MOST_PANELS, found, "devices");
}

static bool draw_utilization(const struct chart_request *request, struct picture *picture,
                             struct tpa_error *err)
{
    draw_devices(request, picture, &utilization);
    return chart_is_drawn(picture, err, "nothing that was launched in the selected time ran on a device");
}

static bool draw_overlap(const struct chart_request *request, struct picture *picture, struct tpa_error *err)
{
    draw_devices(request, picture, &overlap);
    return chart_is_drawn(picture, err, "no kernel communicates");
}

const struct chart_type chart_type_utilization = {
    .name = "utilization",
    .title = "Utilization",
    .help = "what each device did over time: computed, communicated, copied, idled",
    .wants = { &device_wants },
    .needs = FEATURE_GPU,
    .draw = draw_utilization,
};

const struct chart_type chart_type_overlap = {
    .name = "overlap",
    .title = "Overlap",
    .help = "how communication and computation of each device overlap over time",
    .wants = { &device_wants },
    .needs = FEATURE_GPU,
    .draw = draw_overlap,
};
