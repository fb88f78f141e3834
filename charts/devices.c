/*
 * devices.c - utilization and overlap over time: what each device did in each part of its span.
 *
 * The span, from the start of the first work to the end of the last, is cut into parts, which end where steps begin
 * and are about as long as each other. Of each part the chart
 * shows the shares in which the device computed, communicated and copied, each moment once; what is left of the part it
 * was idle. With a selection the work that was launched in it makes up the span.
 */
#include "charts/parts.h"
#include "base/quantity.h"
#include "facts/device_use.h"
#include "facts/features.h"
#include "facts/step_list.h"
#include "trace/intervals.h"
#include "trace/span.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum state { STATE_FIRST, STATE_SECOND, STATE_THIRD, STATES };

/* The moments of a device in each state, disjoint, and its span. */
struct device_states {
    struct interval span;
    struct intervals in[STATES];
};

/* What DEVICE did with its time, of the work that was requested; false when there is none that took time. */
static const struct trace_wants device_wants = { .args = GPU_EVENTS_WANTS };

static bool find_use(const struct chart_question *question, const struct gpu_events *gpu,
                     const struct gpu_device *device, struct device_use *use, struct interval *span)
{
    const struct trace *trace = question->trace;
    *span = (struct interval){ INT64_MAX, INT64_MIN };
    for (size_t i = device->first; i < device->first + device->count; i++) {
        event_id e = gpu->event[i];
        if (!selection_holds_work(question->selection, e, gpu->call[i]))
            continue;
        span->start_ns =
            trace_start_ns(trace, e) < span->start_ns ? trace_start_ns(trace, e) : span->start_ns;
        span->end_ns = trace_end_ns(trace, e) > span->end_ns ? trace_end_ns(trace, e) : span->end_ns;
        device_use_add(use, gpu->work[i], trace_start_ns(trace, e), trace_end_ns(trace, e));
    }
    device_use_finish(use);
    return span->start_ns < span->end_ns;
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

typedef VEC_OF(int64_t) moments;

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

/*
 * Where the parts of SPAN end, in order. Where the file has steps, they begin with parts: parts as long as the step's
 * period would otherwise show a beat of both that is not in the trace. Of more steps than COLUMNS each part has
 * several.
 */
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

/* A row for each part of SPAN, which end at EDGES, and a last one where it ends. */
static void cut_time(struct table *table, struct interval span, const struct intervals states[STATES],
                     int64_t origin_ns, const moments *edges)
{
    int64_t from_ns = span.start_ns;
    for (size_t c = 0; c <= edges->count; c++) {
        int64_t to_ns = c < edges->count ? edges->at[c] : span.end_ns;
        size_t row = table_add_row(table);
        table_set_int(table, row, 0, from_ns - origin_ns);
        for (size_t s = 0; s < STATES && c < edges->count; s++)
            table_set_number(table, row, s + 1,
                             (double)intervals_length_within(&states[s], from_ns, to_ns) /
                                 (double)(to_ns - from_ns));
        from_ns = to_ns;
    }
}

/* The shares of the whole, in words. */
static void tell_shares(struct chart *chart, const struct kind *kind, const struct device_states *states)
{
    double span_ns = (double)(states->span.end_ns - states->span.start_ns), length_ns[STATES];
    for (size_t s = 0; s < STATES; s++)
        length_ns[s] = (double)intervals_length(&states->in[s]);
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

static void add_device(const struct chart_question *question, struct picture *picture,
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
    int64_t rank = selection_rank(question->trace, device->file);
    bool several = question->trace->file_count > 1;
    chart->key = several ? arena_printf(&chart->arena, "%s_%" PRId64 "_%d", kind->key, rank, device->id)
                         : arena_printf(&chart->arena, "%s_%d", kind->key, device->id);
    chart->title = arena_printf(&chart->arena, "%s%d%s", kind->before, device->id, kind->after);
    if (several)
        chart->title = arena_printf(&chart->arena, "%s, rank %" PRId64, chart->title, rank);
    chart->x = chart_time_axis(question, device->file);
    chart->y =
        (struct chart_axis){ .title = "Share of the time", .kind = TABLE_SHARE, .has_most = true, .most = 1 };
    struct table *table = chart_add_table(chart, table_open(kind->key, NULL, columns, STATES + 1));
    moments edges = find_edges(question->trace, device->file, states->span, question->columns);
    cut_time(table, states->span, states->in, trace_file_span(question->trace, device->file).start_ns,
             &edges);
    VEC_FREE(&edges);
    for (size_t s = 0; s < STATES; s++)
        if (states->in[s].count > 0)
            chart_add_series(chart, (struct chart_series){ .title = kind->titles[s],
                                                           .mark = CHART_AREA,
                                                           .color = kind->colors[s],
                                                           .table = table,
                                                           .y = s + 1 });
    tell_shares(chart, kind, states);
}

static void draw_devices(const struct chart_question *question, struct picture *picture,
                         const struct kind *kind)
{
    const struct gpu_events *gpu = gpu_events_of(question->trace);
    size_t found = 0;
    for (size_t d = 0; d < gpu->device_count; d++) {
        const struct gpu_device *device = &gpu->devices[d];
        if (question->selection->files && !question->selection->files[device->file])
            continue;
        struct device_states states = { 0 };
        struct device_use use = { 0 };
        bool any = find_use(question, gpu, device, &use, &states.span);
        bool shown = any && (kind != &overlap || use.of[USE_COMMUNICATION].count > 0);
        found += shown;
        if (shown && found <= CHART_MOST_PANELS) {
            kind->find(&use, states.in);
            add_device(question, picture, kind, device, &states);
        }
        device_use_release(&use);
        for (size_t i = 0; i < STATES; i++)
            intervals_release(&states.in[i]);
    }
    chart_tell_panels(picture, CHART_MOST_PANELS, found, "devices");
}

static bool draw_utilization(const struct chart_question *question, struct picture *picture,
                             struct tpa_error *err)
{
    draw_devices(question, picture, &utilization);
    return chart_is_drawn(picture, err, "no device worked for what was launched in the time asked for");
}

static bool draw_overlap(const struct chart_question *question, struct picture *picture,
                         struct tpa_error *err)
{
    draw_devices(question, picture, &overlap);
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
