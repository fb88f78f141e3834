/* Ranges are sorted by row and duration: then each row is a stretch, its percentiles are places in it, and its outliers
 * are at its end. What a range went to is computed range by range, once; medians of the parts only for rows that have
 * outliers. */
#include "analyze/latency/latency.h"

#include "base/order.h"
#include "base/rows.h"
#include "base/stats.h"
#include "base/sum.h"
#include "derive/async_regions.h"
#include "derive/host_waits.h"
#include "derive/step_list.h"
#include "trace/span.h"
#include "trace/derived.h"
#include <math.h>

const struct trace_wants latency_wants = { .args = HOST_WAITS_WANTS | WANT(FINISHED) };

const struct latency_options latency_defaults = { .least = 2 };

enum {
    OUTLIER_RANGES = 4,    /* rows of fewer have no outliers */
    PERCENTILE_RANGES = 3, /* rows of fewer have no percentiles */
    OUTLIER_SPREADS = 3,   /* times the distance between the quartiles, above the upper */
};

/* ---- names ---- */

/* Rows by folded name and group. */
struct row_names {
    const struct trace *trace;
    struct names *folded;
    name_id *of_name; /* by name_id: in folded; NAME_NONE: not yet */
    bool exact;
};

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* NAME with '*' for every number. Digits right behind a letter are part of a word (fp8, all2all), but in steps of serving. */
static name_id fold(struct row_names *names, name_id name)
{
    if (names->of_name[name] != NAME_NONE)
        return names->of_name[name];
    const char *text = names_text(names->trace->names, name);
    size_t len = names_length(names->trace->names, name);
    struct serving_step step;
    bool all = serving_step_of(text, &step);
    SCOPED struct buffer folded = { 0 };
    FOR_RUNS(i, end, len, quantity_is_digit(text[i]) && quantity_is_digit(text[end])) {
        bool number =
            quantity_is_digit(text[i]) && !names->exact && (all || i == 0 || !is_letter(text[i - 1]));
        if (number)
            buffer_putc(&folded, '*');
        else
            buffer_add(&folded, text + i, end - i);
    }
    if (all && !names->exact) /* phases are far apart: one row for each */
        buffer_printf(&folded, " (%s)", serving_phase_name(step.phase));
    names->of_name[name] = names_add(names->folded, folded.at ? folded.at : "", folded.count);
    return names->of_name[name];
}

/* ---- ranges ---- */

struct range_query {
    const struct trace *trace;
    const struct selection *selection;
    const struct latency_options *options;
    bool *named; /* by name_id: requested by name; NULL: annotations are */
    bool *steps; /* by name_id: names of steps, which are operators in PyTorch 1.8 */
};

/* Is E a stretch of time on the host that is requested? */
static bool is_range(const struct range_query *query, event_id e)
{
    const struct trace *trace = query->trace;
    enum event_kind kind = trace->kind[e];
    if (trace->flags[e] & (EVENT_POINT | EVENT_NO_DURATION) || event_on_device(kind) || kind == EVENT_SPAN ||
        kind == EVENT_INSTANT || kind == EVENT_OVERHEAD)
        return false;
    if (query->named)
        return query->named[trace->name[e]];
    return kind == EVENT_ANNOTATION || (kind == EVENT_OTHER && trace->flags[e] & EVENT_ASYNC) ||
           query->steps[trace->name[e]];
}

/* New, by name_id: is this the name of a step of TRACE? */
static bool *names_of_steps(const struct trace *trace)
{
    const struct step_list *steps = step_list_of(trace);
    bool *named = mem_zalloc(names_count(trace->names) + 1, sizeof *named);
    for (size_t i = 0; i < steps->count; i++)
        named[trace->name[steps->at[i].event]] |= steps->at[i].evidence == STEP_IS_MARKED;
    return named;
}

static const struct key by_row_duration_event[] = { ASC(struct latency_range, row),
                                                    ASC(struct latency_range, duration_ns),
                                                    ASC(struct latency_range, event), KEY_END };

/* The row of a range from E on: of its name FOLDED and group, numbered by first sight. */
static uint32_t row_of(struct latency *latency, struct row_names *names, struct names *rows, name_id folded,
                       event_id e)
{
    uint32_t key[2] = { folded, group_of(latency->group, EVENT_NONE, EVENT_NONE, e) };
    uint32_t row = names_add(rows, (const char *)key, sizeof key);
    if (row == latency->rows.count) {
        const char *text = names_text(names->folded, key[0]);
        size_t len = names_length(names->folded, key[0]);
        *VEC_PUSH(&latency->rows) =
            (struct latency_row){ .key = group_key(latency->group, key[1]),
                                  .name = { arena_strndup(arena_of(latency), text, len), len } };
    }
    latency->rows.at[row].count++;
    return row;
}

/* Steps that no range marks are one row, or by --exact a row each. */
static void find_inferred(struct latency *latency, const struct range_query *query, struct row_names *names,
                          struct names *rows)
{
    const struct selection *selection = query->selection;
    const struct step_list *steps = step_list_of(query->trace);
    SCOPED_OBJECT struct names *texts = names_open();
    for (size_t i = 0; i < steps->count; i++)
        if (steps->at[i].name)
            names_add(texts, steps->at[i].name, strlen(steps->at[i].name));
    struct tpa_error checked = { 0 }; /* the expressions were compiled for the names of the trace */
    SCOPED bool *selected = selection_match_names(texts, selection->filter, selection->exclude, &checked);
    SCOPED bool *named = selection_match_names(texts, query->options->name, NULL, &checked);
    for (size_t i = 0; i < steps->count; i++) {
        const struct step *step = &steps->at[i];
        name_id id = step->name ? names_find(texts, step->name, strlen(step->name)) : NAME_NONE;
        if (id == NAME_NONE || !selected[id] || !named[id] || !selection_holds_place(selection, step->event))
            continue;
        const char *text = query->options->exact ? step->name : "inferred [step *]";
        name_id folded = names_add(names->folded, text, strlen(text));
        uint32_t row = row_of(latency, names, rows, folded, step->event);
        latency->rows.at[row].inferred = true;
        *VEC_PUSH(&latency->ranges) =
            (struct latency_range){ .event = step->event,
                                    .row = row,
                                    .start_ns = step->start_ns,
                                    .duration_ns = step_list_end_ns(steps, i) - step->start_ns };
    }
}

static void find_ranges(struct latency *latency, const struct range_query *query)
{
    const struct trace *trace = query->trace;
    size_t count = names_count(trace->names);
    struct row_names names = { .trace = trace, .folded = names_open(), .exact = query->options->exact };
    SCOPED_OBJECT struct names *rows = names_open();
    names.of_name = mem_alloc(mem_times(count + 1, sizeof *names.of_name));
    memset(names.of_name, 0xff, count * sizeof *names.of_name);
    for (event_id e = 0; e < trace->event_count; e++) {
        if (!is_range(query, e) || !selection_holds(query->selection, e))
            continue;
        if (trace->flags[e] & EVENT_UNFINISHED || region_was_open(trace, e)) {
            latency->open++;
            continue;
        }
        *VEC_PUSH(&latency->ranges) =
            (struct latency_range){ .event = e,
                                    .row = row_of(latency, &names, rows, fold(&names, trace->name[e]), e),
                                    .start_ns = trace_start_ns(trace, e),
                                    .duration_ns = trace_dur_ns(trace, e) };
    }
    find_inferred(latency, query, &names, rows);
    free(names.of_name);
    names_free(names.folded);
}

/* Rows of fewer ranges than requested go, with their ranges. */
static void drop_rare(struct latency *latency, int64_t least)
{
    size_t kept = 0, kept_rows = 0;
    uint32_t *renumbered = mem_alloc(mem_times(latency->rows.count + 1, sizeof *renumbered));
    for (size_t i = 0; i < latency->rows.count; i++) {
        renumbered[i] = latency->rows.at[i].count < least ? UINT32_MAX : (uint32_t)kept_rows;
        if (latency->rows.at[i].count < least)
            latency->single += latency->rows.at[i].count;
        else
            latency->rows.at[kept_rows++] = latency->rows.at[i];
    }
    for (size_t i = 0; i < latency->ranges.count; i++) {
        struct latency_range range = latency->ranges.at[i];
        range.row = renumbered[range.row];
        if (range.row != UINT32_MAX)
            latency->ranges.at[kept++] = range;
    }
    latency->ranges.count = kept;
    latency->rows.count = kept_rows;
    free(renumbered);
    SORT_ARRAY(latency->ranges.at, kept, by_row_duration_event);
    for (size_t i = kept; i-- > 0;)
        latency->rows.at[latency->ranges.at[i].row].first = i;
}

/* ---- rows ---- */

/* The smallest duration that PERCENT of 100 of COUNT ranges, by duration, do not exceed. */
static int64_t percentile(const struct latency_range *ranges, int64_t count, int64_t percent)
{
    return ranges[(count * percent + 99) / 100 - 1].duration_ns;
}

static void fill_durations(struct latency *latency, struct latency_row *row, int64_t *durations)
{
    const struct latency_range *ranges = &latency->ranges.at[row->first];
    row->min_ns = ranges[0].duration_ns;
    row->max_ns = ranges[row->count - 1].duration_ns;
    row->p50_ns = row->p90_ns = row->p95_ns = row->p99_ns = TABLE_INT_MISSING;
    if (row->count >= PERCENTILE_RANGES) {
        row->p50_ns = percentile(ranges, row->count, 50);
        row->p90_ns = percentile(ranges, row->count, 90);
        row->p95_ns = percentile(ranges, row->count, 95);
        row->p99_ns = percentile(ranges, row->count, 99);
    }
    for (int64_t i = 0; i < row->count; i++)
        durations[i] = ranges[i].duration_ns;
    struct stats stats = stats_of(durations, (size_t)row->count);
    row->total_ns = stats.sum;
    row->mean_ns = stats.mean;
    row->stddev_ns = (int64_t)llround(stats.deviation);
}

/* What a range went to, and the operations launched within it. */
struct range_work {
    int64_t parts_ns[LATENCY_PARTS], operations, operations_ns;
};

static struct range_work work_of(struct activity *activity, const struct latency_range *range)
{
    struct range_work work;
    track_id thread = activity->trace->track[range->event];
    int64_t start_ns = range->start_ns, end_ns = range->start_ns + range->duration_ns;
    size_t first, end = activity_operations(activity, thread, start_ns, end_ns, &first);
    activity_parts(activity, thread, start_ns, end_ns, work.parts_ns);
    work.operations = (int64_t)(end - first);
    work.operations_ns = activity_operations_ns(activity, end) - activity_operations_ns(activity, first);
    return work;
}

/* New, free(): of each range of ROW. They are looked at in the order of the file, where one is near the other. */
static struct range_work *work_per_range(const struct latency *latency, struct activity *activity,
                                         const struct latency_row *row)
{
    size_t count = (size_t)row->count;
    const struct latency_range *ranges = &latency->ranges.at[row->first];
    SCOPED uint32_t *order = order_open(count);
    uint64_t *events = mem_alloc(mem_times(count, sizeof *events));
    for (size_t i = 0; i < count; i++)
        events[i] = ranges[i].event;
    order_by(order, count, events);
    free(events);
    struct range_work *per_range = mem_alloc(mem_times(count, sizeof *per_range));
    for (size_t i = 0; i < count; i++)
        per_range[order[i]] = work_of(activity, &ranges[order[i]]);
    return per_range;
}

/* What the time of the ranges of ROW went to, by PER_RANGE; missing where one is of a file without work. */
static void fill_parts(struct latency *latency, const struct activity *activity, struct latency_row *row,
                       const struct range_work *per_range)
{
    const struct trace *trace = activity->trace;
    bool known = true;
    for (int64_t i = 0; i < row->count; i++) {
        const struct latency_range *range = &latency->ranges.at[row->first + (size_t)i];
        known = known && activity->has_work[trace->tracks[trace->track[range->event]].file];
        for (int part = 0; part < LATENCY_PARTS; part++)
            sum_add(&row->part_ns[part], per_range[i].parts_ns[part]);
        row->operations += per_range[i].operations;
        sum_add(&row->work_ns, per_range[i].operations_ns);
    }
    for (int part = LATENCY_COMPUTATION; part <= LATENCY_COPIES; part++)
        sum_add(&row->busy_ns, row->part_ns[part]);
    row->idle_ns = row->total_ns - row->busy_ns;
    if (known)
        return;
    row->busy_ns = row->idle_ns = row->operations = row->work_ns = TABLE_INT_MISSING;
    for (int part = 0; part < LATENCY_PARTS; part++)
        row->part_ns[part] = TABLE_INT_MISSING;
}

/* ---- outliers ---- */

struct text latency_name_of(const struct trace *trace, const struct latency_row *row,
                            const struct latency_range *range)
{
    uint32_t file = trace->tracks[trace->track[range->event]].file;
    const struct step *step = row->inferred ? step_list_at(step_list_of(trace), file, range->start_ns) : NULL;
    return step ? as_text(step_text(trace, step))
                : (struct text){ trace_name(trace, range->event),
                                 names_length(trace->names, trace->name[range->event]) };
}

/* From which duration on a range of ROW is an outlier; INT64_MAX: none is. */
static int64_t outlier_from_ns(const struct latency *latency, const struct latency_row *row)
{
    const struct latency_range *ranges = &latency->ranges.at[row->first];
    if (row->count < OUTLIER_RANGES)
        return INT64_MAX;
    int64_t lower = percentile(ranges, row->count, 25), upper = percentile(ranges, row->count, 75), from_ns;
    if (__builtin_mul_overflow(OUTLIER_SPREADS, upper - lower, &from_ns) ||
        __builtin_add_overflow(upper, from_ns, &from_ns))
        return INT64_MAX;
    int64_t tenth_more =
        row->p50_ns / 10 < INT64_MAX - row->p50_ns ? row->p50_ns + row->p50_ns / 10 : INT64_MAX;
    return from_ns > tenth_more ? from_ns : tenth_more;
}

/* Lower medians, over the ranges of ROW, of each part and of the operations launched. NUMBERS has room for a number of
 * each range. */
static struct range_work medians_of(const struct latency_row *row, const struct range_work *per_range,
                                    int64_t *numbers)
{
    struct range_work medians = { 0 };
    size_t count = (size_t)row->count;
    for (int part = 0; part < LATENCY_PARTS; part++) {
        for (size_t i = 0; i < count; i++)
            numbers[i] = per_range[i].parts_ns[part];
        medians.parts_ns[part] = stats_value_at(numbers, count, (count - 1) / 2);
    }
    for (size_t i = 0; i < count; i++)
        numbers[i] = per_range[i].operations;
    medians.operations = stats_value_at(numbers, count, (count - 1) / 2);
    return medians;
}

static struct latency_outlier outlier_of(struct latency *latency, const struct activity *activity,
                                         const struct latency_row *row, const struct latency_range *range,
                                         const struct range_work *work, const struct range_work *medians)
{
    const struct trace *trace = activity->trace;
    const struct track *track = &trace->tracks[trace->track[range->event]];
    struct buffer thread = { 0 };
    bool known = activity->has_work[track->file];
    struct latency_outlier outlier = {
        .rank = selection_rank(trace, track->file),
        .cycle = selection_cycle(trace, track->file),
        .start_ns = range->start_ns - trace_file_span(trace, track->file).start_ns,
        .duration_ns = range->duration_ns,
        .name = latency_name_of(trace, row, range),
        .median_ns = row->p50_ns,
        .longer_ns = range->duration_ns - row->p50_ns,
        .grew_ns = TABLE_INT_MISSING,
        .operations = known ? work->operations : TABLE_INT_MISSING,
        .median_operations = known ? medians->operations : TABLE_INT_MISSING,
    };
    group_append_thread(trace, trace->track[range->event], &thread);
    outlier.thread = (struct text){ arena_strndup(arena_of(latency), thread.at, thread.count), thread.count };
    buffer_release(&thread);
    for (int part = 0; part < LATENCY_PARTS; part++) {
        int64_t grew_ns = work->parts_ns[part] - medians->parts_ns[part];
        if (grew_ns <= 0 || grew_ns <= outlier.grew_ns)
            continue;
        const char *name = latency_part_name((enum latency_part)part);
        outlier.part = (struct text){ name, strlen(name) };
        outlier.grew_ns = grew_ns;
    }
    return outlier;
}

static void latency_add_outliers(struct latency *latency, const struct activity *activity,
                                 struct latency_row *row, const struct range_work *per_range,
                                 int64_t *numbers)
{
    int64_t from_ns = outlier_from_ns(latency, row);
    const struct latency_range *ranges = &latency->ranges.at[row->first];
    while (row->outliers < row->count && ranges[row->count - 1 - row->outliers].duration_ns > from_ns)
        row->outliers++;
    if (row->outliers == 0)
        return;
    struct range_work medians = medians_of(row, per_range, numbers);
    for (int64_t i = row->count - row->outliers; i < row->count; i++)
        *VEC_PUSH(&latency->outliers) =
            outlier_of(latency, activity, row, &ranges[i], &per_range[i], &medians);
}

static const struct key by_longer[] = { DESC(struct latency_outlier, longer_ns), KEY_END };

/* ---- histogram ---- */

/* The next of 1, 2, 5, 10, 20, 50 ... */
static int64_t next_edge(int64_t edge_ns)
{
    int64_t power = 1;
    while (power <= edge_ns / 10)
        power *= 10;
    if (edge_ns == 0)
        return 1;
    return edge_ns < 2 * power ? 2 * power : edge_ns < 5 * power ? 5 * power : 10 * power;
}

static void latency_add_bars(struct latency *latency, const struct latency_row *row)
{
    const struct latency_range *ranges = &latency->ranges.at[row->first];
    int64_t from_ns = 0, to_ns = 1;
    for (int64_t first = 0, end; first < row->count; first = end) {
        while (to_ns <= ranges[first].duration_ns && to_ns <= INT64_MAX / 10) {
            from_ns = to_ns;
            to_ns = next_edge(to_ns);
        }
        if (to_ns <= ranges[first].duration_ns) {
            from_ns = to_ns;
            to_ns = INT64_MAX;
        }
        for (end = first; end < row->count && (ranges[end].duration_ns < to_ns || to_ns == INT64_MAX);)
            end++;
        *VEC_PUSH(&latency->bars) =
            (struct latency_bar){ .key = row->key,
                                  .name = row->name,
                                  .from_ns = from_ns,
                                  .to_ns = to_ns,
                                  .count = end - first,
                                  .share = (double)(end - first) / (double)row->count };
    }
}

static const struct key by_total[] = { DESC(struct latency_row, total_ns), KEY_END };

static void fill_rows(struct latency *latency, struct activity *activity)
{
    SCOPED int64_t *numbers = mem_alloc(mem_times(latency->ranges.count + 1, sizeof *numbers));
    for (size_t i = 0; i < latency->rows.count; i++)
        fill_durations(latency, &latency->rows.at[i], numbers);
    SORT(&latency->rows, by_total);
    for (size_t i = 0; i < latency->rows.count; i++) {
        SCOPED struct range_work *per_range = work_per_range(latency, activity, &latency->rows.at[i]);
        fill_parts(latency, activity, &latency->rows.at[i], per_range);
        latency_add_outliers(latency, activity, &latency->rows.at[i], per_range, numbers);
    }
    SORT(&latency->outliers, by_longer);
}

static struct latency *analyze(const struct trace *trace, const struct selection *selection, unsigned by,
                               const struct latency_options *options, struct tpa_error *err)
{
    struct range_query query = { .trace = trace, .selection = selection, .options = options };
    if (!options->name) {
        query.steps = names_of_steps(trace);
    } else {
        query.named = selection_match_names(trace->names, options->name, NULL, err);
        if (!query.named)
            return NULL;
    }
    struct latency *latency = arena_open(sizeof *latency);
    ARENA_OWNS(arena_of(latency), &latency->rows, &latency->ranges, &latency->outliers, &latency->bars,
               &latency->serving.all, &latency->serving.batches);
    SCOPED_OBJECT struct activity *activity = activity_open(trace);
    latency->by = by;
    latency->group = arena_hold(arena_of(latency), group_open(trace, by));
    find_ranges(latency, &query);
    drop_rare(latency, options->least);
    fill_rows(latency, activity);
    if (options->histogram)
        for (size_t i = 0; i < latency->rows.count; i++)
            latency_add_bars(latency, &latency->rows.at[i]);
    if (!options->name)
        phases_find(&latency->serving, activity, selection, latency->group);
    EACH(free, query.named, query.steps);
    return latency;
}

/* The result that a table and its chart share. */
static struct latency *find_usual(const struct trace *trace)
{
    struct tpa_error none = { 0 }; /* without a name nothing fails */
    return analyze(trace, selection_all(trace), 0, &latency_defaults, &none);
}

static const struct latency *latency_usual(const struct trace *trace);
DERIVED(latency, latency_usual, find_usual);

static bool is_usual(const struct latency_options *options)
{
    return !options->name && !options->exact && !options->histogram &&
           options->least == latency_defaults.least;
}

const struct latency *latency_analyze(const struct trace *trace, const struct selection *selection,
                                      unsigned by, const struct latency_options *options,
                                      struct tpa_error *err)
{
    bool usual = by == 0 && is_usual(options) && selection_is_all(selection);
    return usual ? latency_usual(trace) : analyze(trace, selection, by, options, err);
}
