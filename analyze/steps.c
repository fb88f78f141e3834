/*
 * steps.c - see steps.h.
 *
 * For each file there is a set of moments per part, made disjoint by subtracting what has precedence. The length of
 * each within a step is then a binary search and a short walk.
 */
#include "analyze/steps.h"

#include "facts/device_steps.h"
#include "facts/gpu_events.h"
#include "facts/gpu_names.h"
#include "analyze/many_rows.h"
#include "base/stats.h"
#include "base/sum.h"
#include "trace/intervals.h"
#include "facts/attribution.h"
#include "trace/span.h"
#include "facts/step_list.h"
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct trace_wants steps_wants = { .args = GPU_EVENTS_WANTS };

/* In order of precedence. */
enum part {
    PART_KERNEL,
    PART_MEMCPY,
    PART_MEMSET,
    PART_COMMUNICATION,
    PART_RUNTIME,
    PART_DATA_LOADING,
    PART_CPU,
    PART_OTHER,
    PARTS
};

static const struct {
    const char *key, *title, *help;
} parts[PARTS] = {
    [PART_KERNEL] = { "kernel", "Kernel", "a kernel that does not communicate ran" },
    [PART_MEMCPY] = { "memcpy", "Memcpy", "else: something was copied" },
    [PART_MEMSET] = { "memset", "Memset", "else: memory was set" },
    [PART_COMMUNICATION] = { "communication", "Comm.", "else: a kernel communicated" },
    [PART_RUNTIME] = { "runtime", "Runtime", "else: a call of the runtime or driver was running" },
    [PART_DATA_LOADING] = { "data_loading", "Data loading", "else: the host waited for the next batch" },
    [PART_CPU] = { "cpu", "CPU", "else: an operator was running on the host" },
    [PART_OTHER] = { "other", "Other", "else" },
};

enum step_column {
    STEP_RANK,
    STEP_DEVICE, /* these two only where they make rows */
    STEP_STREAM,
    STEP_NAME,
    STEP_START,
    STEP_DURATION,
    STEP_FIRST_PART,
    STEP_WORK = STEP_FIRST_PART + PARTS,
    STEP_HOST,
    STEP_COMPLETE,
    STEP_OWN_COLUMNS,
    STEP_COUNT = STEP_OWN_COLUMNS, /* of rows that stand for several steps, as is the average */
    STEP_AVERAGE,
    STEP_COLUMNS
};

enum summary_column {
    SUMMARY_RANK,
    SUMMARY_PART,
    SUMMARY_AVERAGE,
    SUMMARY_SHARE,
    SUMMARY_MEDIAN,
    SUMMARY_DEVIATION,
    SUMMARY_SLOWEST,
    SUMMARY_DIFFERENCE,
    SUMMARY_MIN,
    SUMMARY_MAX,
    SUMMARY_COLUMNS
};

/* clang-format off */
static const struct table_column summary_columns[SUMMARY_COLUMNS] = {
    { "rank", "Rank", TABLE_COUNT, "rank of the file, or its place among the files", TABLE_HIDDEN, NULL },
    { "part", "Part", TABLE_NAME, "what the time of the steps went to", 0, NULL },
    { "average", "Average", TABLE_NS, "mean over the complete steps", 0, "avg mean" },
    { "share", "Share", TABLE_SHARE, "share of the time of the complete steps", 0, NULL },
    { "median", "Median", TABLE_NS, "median over the complete steps", 0, NULL },
    { "stddev", "Std dev", TABLE_NS, "standard deviation over the complete steps", 0, "deviation" },
    { "slowest", "Slowest step", TABLE_NS, "in the slowest step", 0, NULL },
    { "difference", "Over median", TABLE_NS, "in the slowest step, above the median", 0, NULL },
    { "min", "Min", TABLE_NS, "least", 0, NULL },
    { "max", "Max", TABLE_NS, "most", 0, NULL },
};
/* clang-format on */

static void make_step_columns(struct table_column columns[STEP_COLUMNS])
{
    /* clang-format off */
    columns[STEP_RANK] = (struct table_column){ "rank", "Rank", TABLE_COUNT, "rank of the file, or its place among the files", TABLE_OPTIONAL, NULL };
    columns[STEP_DEVICE] = (struct table_column){ "device", "Device", TABLE_COUNT, "number of the device", TABLE_HIDDEN, NULL };
    columns[STEP_STREAM] = (struct table_column){ "stream", "Stream", TABLE_COUNT, "number of the stream", TABLE_HIDDEN, NULL };
    columns[STEP_NAME] = (struct table_column){ "step", "Step", TABLE_NAME, "name of the step", 0, "name" };
    columns[STEP_START] = (struct table_column){ "start", "Start", TABLE_MOMENT, "when it began, from the origin of the file", TABLE_OPTIONAL, NULL };
    columns[STEP_DURATION] = (struct table_column){ "duration", "Time", TABLE_NS, "how long it took, work on devices included", 0, "time total" };
    columns[STEP_WORK] = (struct table_column){ "gpu_events", "GPU events", TABLE_COUNT, "kernels, copies and memsets that it launched", TABLE_OPTIONAL, NULL };
    columns[STEP_HOST] = (struct table_column){ "host_duration", "On the host", TABLE_NS, "how long its range on the host is", TABLE_OPTIONAL, NULL };
    columns[STEP_COMPLETE] = (struct table_column){ "complete", "Complete", TABLE_BOOL, "was it recorded to its end?", TABLE_OPTIONAL, NULL };
    columns[STEP_COUNT] = (struct table_column){ "count", "Steps", TABLE_COUNT, "how many steps the row stands for", 0, NULL };
    columns[STEP_AVERAGE] = (struct table_column){ "average", "Average", TABLE_NS, "mean time of a step", 0, NULL };
    /* clang-format on */
    for (size_t i = 0; i < PARTS; i++)
        columns[STEP_FIRST_PART + i] =
            (struct table_column){ parts[i].key, parts[i].title, TABLE_NS, parts[i].help, 0, NULL };
}

/* ---- which ranges are the steps ---- */

/* The annotations whose names match; NULL and ERR when NAME is no expression. */
static struct step_list *ranges_called(const struct trace *trace, const char *name, struct tpa_error *err)
{
    bool *wanted = selection_match_names(trace->names, name, NULL, err);
    if (!wanted)
        return NULL;
    struct step_list *ranges = mem_zalloc(1, sizeof *ranges);
    for (event_id e = 0; e < trace->event_count; e++)
        if (wanted[trace->name[e]] && !(trace->flags[e] & EVENT_POINT) &&
            (trace->kind[e] == EVENT_ANNOTATION || trace->kind[e] == EVENT_OP ||
             trace->kind[e] == EVENT_OTHER))
            *VEC_PUSH(ranges) = (struct step){ trace->tracks[trace->track[e]].file, 0, trace->start_ns[e],
                                               trace_end_ns(trace, e), e };
    free(wanted);
    return ranges;
}

/* All of each file as one step. */
static struct step_list *whole_files(const struct trace *trace)
{
    struct step_list *ranges = mem_zalloc(1, sizeof *ranges);
    for (uint32_t f = 0; f < trace->file_count; f++) {
        struct interval span = trace_file_span(trace, f);
        if (span.start_ns < span.end_ns)
            *VEC_PUSH(ranges) = (struct step){ f, 0, span.start_ns, span.end_ns, EVENT_NONE };
    }
    return ranges;
}

/* The steps of torch.profiler, as a list of our own. */
static struct step_list *profiler_steps(const struct trace *trace)
{
    const struct step_list *of_trace = step_list_of(trace);
    struct step_list *ranges = mem_zalloc(1, sizeof *ranges);
    for (size_t i = 0; i < of_trace->count; i++)
        *VEC_PUSH(ranges) = of_trace->at[i];
    return ranges;
}

static struct step_list *find_ranges(const struct trace *trace, const struct steps_options *options,
                                     struct result *result, struct tpa_error *err)
{
    struct step_list *ranges =
        options->name ? ranges_called(trace, options->name, err) : profiler_steps(trace);
    if (!ranges)
        return NULL;
    if (ranges->count == 0 && options->name) {
        step_list_free(ranges);
        tpa_fail(err, TPA_NOWHERE, "no annotation matches '%s'", options->name);
        tpa_hint(err, "tpa top --by category tells what there is; tpa top --filter shows names");
        return NULL;
    }
    if (ranges->count == 0) {
        step_list_free(ranges);
        result_add_notice(
            result, "no_steps", 0, NULL, TPA_NOWHERE,
            "the trace marks no steps, so each file is shown as one; call prof.step() after each "
            "iteration to record them, or name other ranges with --step-name");
        return whole_files(trace);
    }
    size_t dropped = step_list_drop_overlaps(ranges);
    if (dropped)
        result_add_notice(result, "overlapping_steps", (int64_t)dropped, NULL, TPA_NOWHERE,
                          "ranges overlap the one before and are left out");
    return ranges;
}

/* ---- what goes on when ---- */

/* What a name on the host stands for; asked once per name. */
enum host_name { HOST_NOT_ASKED, HOST_ORDINARY, HOST_STEP, HOST_DATA_LOADING };

static enum host_name host_name_of(const struct trace *trace, uint8_t *asked, name_id id)
{
    if (asked[id] == HOST_NOT_ASKED) {
        const char *name = names_text(trace->names, id);
        int64_t number;
        asked[id] = annotation_is_data_loading(name) ? HOST_DATA_LOADING
                    : step_number(name, &number)     ? HOST_STEP
                                                     : HOST_ORDINARY;
    }
    return (enum host_name)asked[id];
}

static enum part part_of_host_event(const struct trace *trace, uint8_t *asked, event_id e)
{
    switch (trace->kind[e]) {
    case EVENT_RUNTIME:
    case EVENT_DRIVER: return PART_RUNTIME;
    case EVENT_OP:
        switch (host_name_of(trace, asked, trace->name[e])) {
        case HOST_DATA_LOADING: return PART_DATA_LOADING;
        case HOST_STEP: return PART_OTHER;
        default: return PART_CPU;
        }
    case EVENT_ANNOTATION:
        return host_name_of(trace, asked, trace->name[e]) == HOST_DATA_LOADING ? PART_DATA_LOADING
                                                                               : PART_OTHER;
    default: return PART_OTHER;
    }
}

static enum part part_of_work(uint8_t work)
{
    switch (work) {
    case GPU_MEMCPY: return PART_MEMCPY;
    case GPU_MEMSET: return PART_MEMSET;
    case GPU_NCCL:
    case GPU_COMMUNICATION: return PART_COMMUNICATION;
    default: return PART_KERNEL;
    }
}

/* Whose work the parts of devices are: a file's, a device's or a stream's. */
struct lane {
    uint32_t file;
    const struct gpu_device *device; /* NULL: of all that the file has */
    const struct gpu_stream *stream; /* NULL: all of the device */
};

/* What the times of all lanes are worked out from. */
struct question {
    const struct trace *trace;
    const struct selection *selection;
    const struct gpu_events *gpu;
    const struct gpu_streams *streams; /* NULL unless rows are made of them */
    const struct device_steps *steps;
    uint8_t *asked; /* by name: enum host_name */
};

static bool add_work(const struct question *question, size_t at, struct intervals sets[PARTS])
{
    const struct trace *trace = question->trace;
    const struct selection *selection = question->selection;
    event_id e = question->gpu->event[at];
    if (selection->tracks && !selection->tracks[trace->track[e]])
        return false;
    intervals_add(&sets[part_of_work(question->gpu->work[at])], trace->start_ns[e], trace_end_ns(trace, e));
    return true;
}

/* Add the moments of each part that is of devices; is there any work in LANE that was asked for? */
static bool find_work(const struct question *question, const struct lane *lane, struct intervals sets[PARTS])
{
    const struct gpu_events *gpu = question->gpu;
    bool any = false;
    if (lane->stream) {
        const uint32_t *position = &question->streams->position[lane->stream->first];
        for (size_t i = 0; i < lane->stream->count; i++)
            any |= add_work(question, position[i], sets);
        return any;
    }
    size_t d = lane->device ? (size_t)(lane->device - gpu->devices) : gpu_first_device(gpu, lane->file);
    for (; d < gpu->device_count && gpu->devices[d].file == lane->file; d++) {
        const struct gpu_device *device = &gpu->devices[d];
        if (lane->device && lane->device != device)
            break;
        for (size_t i = device->first; i < device->first + device->count; i++)
            any |= add_work(question, i, sets);
    }
    return any;
}

static void find_host_parts(const struct question *question, uint32_t file, struct intervals sets[PARTS])
{
    const struct trace *trace = question->trace;
    const struct trace_file *of = &trace->files[file];
    for (event_id e = of->first_event; e < of->first_event + of->event_count; e++) {
        enum part part = part_of_host_event(trace, question->asked, e);
        if (part != PART_OTHER)
            intervals_add(&sets[part], trace->start_ns[e], trace_end_ns(trace, e));
    }
}

/* Make the parts disjoint: each without those before it. PART_OTHER stays empty. */
static void separate_parts(struct intervals sets[PARTS])
{
    struct intervals before = { 0 }, rest = { 0 };
    for (size_t p = 0; p < PART_OTHER; p++) {
        intervals_merge(&sets[p]);
        if (sets[p].count == 0)
            continue;
        intervals_subtract(&sets[p], &before, &rest);
        struct intervals both = { 0 };
        if (p + 1 < PART_OTHER)
            intervals_union(&before, &sets[p], &both);
        intervals_release(&before);
        before = both;
        intervals_release(&sets[p]);
        sets[p] = rest;
        rest = (struct intervals){ 0 };
    }
    intervals_release(&before);
}

static void release_parts(struct intervals sets[PARTS])
{
    for (size_t p = 0; p < PARTS; p++)
        intervals_release(&sets[p]);
}

/* ---- tables ---- */

static void add_step(struct table *table, const struct trace *trace, const struct lane *lane,
                     const struct device_step *step, const struct intervals sets[PARTS], int64_t origin_ns)
{
    size_t row = table_add_row(table);
    int64_t left_ns = step->end_ns - step->start_ns;
    table_set_int(table, row, STEP_RANK, selection_rank(trace, step->file));
    if (lane->device)
        table_set_int(table, row, STEP_DEVICE, lane->device->id);
    if (lane->stream)
        table_set_int(table, row, STEP_STREAM, trace->tracks[lane->stream->track].stream);
    if (step->event == EVENT_NONE)
        table_set_text(table, row, STEP_NAME, "(all)", 5);
    else
        table_set_text(table, row, STEP_NAME, trace_name(trace, step->event),
                       names_length(trace->names, trace->name[step->event]));
    table_set_int(table, row, STEP_START, step->start_ns - origin_ns);
    table_set_int(table, row, STEP_DURATION, left_ns);
    for (size_t p = 0; p < PART_OTHER; p++) {
        int64_t part_ns = intervals_length_within(&sets[p], step->start_ns, step->end_ns);
        table_set_int(table, row, STEP_FIRST_PART + p, part_ns);
        left_ns -= part_ns;
    }
    assert(left_ns >= 0);
    table_set_int(table, row, STEP_FIRST_PART + PART_OTHER, left_ns);
    if (!lane->device)
        table_set_int(table, row, STEP_WORK, (int64_t)step->work);
    table_set_int(table, row, STEP_HOST, step->host_end_ns - step->host_start_ns);
    table_set_int(table, row, STEP_COMPLETE, step->complete);
}

/* Rows of a table of steps, from the first to before the end. */
struct rows {
    size_t first, end;
};

/* The slowest complete step of ROWS, or SIZE_MAX. */
static size_t slowest_step(const struct table *steps, struct rows rows)
{
    size_t slowest = SIZE_MAX;
    for (size_t row = rows.first; row < rows.end; row++)
        if (table_cell(steps, row, STEP_COMPLETE)->i &&
            (slowest == SIZE_MAX ||
             table_cell(steps, row, STEP_DURATION)->i > table_cell(steps, slowest, STEP_DURATION)->i))
            slowest = row;
    return slowest;
}

/* A row about COLUMN of the complete steps of ROWS; by how much the slowest step is above the median. */
static int64_t summarize(struct table *summary, const struct table *steps, struct rows rows, size_t column,
                         const char *title, size_t slowest, double all_ns)
{
    VEC_OF(int64_t) values = { 0 };
    for (size_t row = rows.first; row < rows.end; row++)
        if (table_cell(steps, row, STEP_COMPLETE)->i)
            *VEC_PUSH(&values) = table_cell(steps, row, column)->i;
    struct stats stats = stats_of(values.at, values.count);
    VEC_FREE(&values);
    int64_t slowest_ns = table_cell(steps, slowest, column)->i;
    size_t row = table_add_row(summary);
    table_set_int(summary, row, SUMMARY_RANK, table_cell(steps, rows.first, STEP_RANK)->i);
    table_set_text(summary, row, SUMMARY_PART, title, strlen(title));
    table_set_int(summary, row, SUMMARY_AVERAGE, stats.mean);
    if (all_ns > 0)
        table_set_number(summary, row, SUMMARY_SHARE, (double)stats.sum / all_ns);
    table_set_int(summary, row, SUMMARY_MEDIAN, stats.median);
    table_set_int(summary, row, SUMMARY_DEVIATION, (int64_t)llround(stats.deviation));
    table_set_int(summary, row, SUMMARY_MIN, stats.least);
    table_set_int(summary, row, SUMMARY_MAX, stats.greatest);
    table_set_int(summary, row, SUMMARY_SLOWEST, slowest_ns);
    table_set_int(summary, row, SUMMARY_DIFFERENCE, slowest_ns - stats.median);
    return slowest_ns - stats.median;
}

/* Rows about all parts of the steps in ROWS; the part in which the slowest differs most from the median, or NULL. */
static const char *summarize_parts(struct table *summary, const struct table *steps, struct rows rows,
                                   size_t slowest)
{
    double all_ns = 0; /* for shares; times may be absurd */
    for (size_t row = rows.first; row < rows.end; row++)
        if (table_cell(steps, row, STEP_COMPLETE)->i)
            all_ns += (double)table_cell(steps, row, STEP_DURATION)->i;
    int64_t most_ns = 0;
    const char *why = NULL;
    for (size_t p = 0; p < PARTS; p++) {
        if (steps->columns[STEP_FIRST_PART + p].flags & TABLE_OPTIONAL)
            continue; /* the trace has nothing of it */
        int64_t above_ns =
            summarize(summary, steps, rows, STEP_FIRST_PART + p, parts[p].title, slowest, all_ns);
        if (above_ns > most_ns) {
            most_ns = above_ns;
            why = parts[p].title;
        }
    }
    summarize(summary, steps, rows, STEP_DURATION, "Step", slowest, all_ns);
    return why;
}

static struct table *open_summary(void)
{
    return table_open("summary", "Complete steps: average, spread, and the slowest", summary_columns,
                      SUMMARY_COLUMNS);
}

static struct table *make_summary(const struct table *steps)
{
    struct table *summary = open_summary();
    struct rows all = { 0, steps->row_count };
    size_t slowest = slowest_step(steps, all);
    if (slowest != SIZE_MAX) {
        int64_t complete = 0;
        for (size_t row = 0; row < steps->row_count; row++)
            complete += table_cell(steps, row, STEP_COMPLETE)->i;
        const char *why = summarize_parts(summary, steps, all, slowest);
        table_add_footer(summary, "steps", "Complete steps", TABLE_COUNT, table_int(complete));
        const union table_cell *name = table_cell(steps, slowest, STEP_NAME);
        table_add_text_footer(summary, "slowest_step", "Slowest step", name->text.at, name->text.len);
        if (why && complete > 1)
            table_add_text_footer(summary, "slowest_because", "It differs most in", why, strlen(why));
    }
    table_drop_hidden(summary);
    return summary;
}

/* The same for each rank, and without the footers. Puts the steps of a rank, which may have several files, together. */
static struct table *make_summaries(struct table *steps)
{
    table_sort(steps, STEP_RANK, true);
    struct table *summary = open_summary();
    summary->columns[SUMMARY_RANK].flags = 0;
    for (struct rows of = { 0, 0 }; of.first < steps->row_count; of.first = of.end) {
        while (of.end < steps->row_count &&
               table_cell(steps, of.end, STEP_RANK)->i == table_cell(steps, of.first, STEP_RANK)->i)
            of.end++;
        size_t slowest = slowest_step(steps, of);
        if (slowest != SIZE_MAX)
            summarize_parts(summary, steps, of, slowest);
    }
    return summary;
}

static bool is_asked_for(const struct selection *selection, const struct device_step *step)
{
    return (selection->files == NULL || selection->files[step->file]) &&
           (step->event == EVENT_NONE || selection_holds_time(selection, step->file, step->host_start_ns));
}

/* Rows of LANE for all steps of its file; how many of them are incomplete. */
static size_t add_rows(struct table *table, const struct question *question, const struct lane *lane,
                       const struct intervals sets[PARTS])
{
    int64_t origin_ns = trace_file_span(question->trace, lane->file).start_ns;
    size_t first, end = device_steps_of_file(question->steps, lane->file, &first), incomplete = 0;
    for (size_t i = first; i < end; i++)
        if (is_asked_for(question->selection, &question->steps->at[i])) {
            add_step(table, question->trace, lane, &question->steps->at[i], sets, origin_ns);
            incomplete += !question->steps->at[i].complete;
        }
    return incomplete;
}

/* Rows for all steps, file by file; how many of them are incomplete. */
static size_t add_steps(struct table *table, const struct question *question)
{
    size_t incomplete = 0, first;
    for (uint32_t file = 0; file < question->trace->file_count; file++) {
        if (device_steps_of_file(question->steps, file, &first) == first)
            continue;
        struct lane whole = { .file = file };
        struct intervals sets[PARTS] = { 0 };
        find_work(question, &whole, sets);
        find_host_parts(question, file, sets);
        separate_parts(sets);
        incomplete += add_rows(table, question, &whole, sets);
        release_parts(sets);
    }
    return incomplete;
}

/* The same for each device or stream of FILE: work is its own, the host is one for all. How many did not fit into the table. */
static int64_t add_lanes(struct table *table, const struct question *question, uint32_t file)
{
    int64_t left_out = 0;
    const struct gpu_events *gpu = question->gpu;
    const struct intervals nothing = { 0 };
    struct intervals host[PARTS] = { 0 };
    find_host_parts(question, file, host);
    for (size_t p = 0; p < PARTS; p++)
        intervals_merge(&host[p]);
    size_t count = question->streams ? question->streams->count : gpu->device_count;
    for (size_t i = 0; i < count; i++) {
        const struct gpu_stream *stream = question->streams ? &question->streams->at[i] : NULL;
        const struct gpu_device *device = &gpu->devices[stream ? stream->device : i];
        struct lane lane = { file, device, stream };
        struct intervals sets[PARTS] = { 0 };
        if (device->file != file)
            continue;
        if (many_rows(table)) {
            left_out++;
            continue;
        }
        bool any = find_work(question, &lane, sets);
        for (size_t p = 0; any && p < PARTS; p++)
            if (host[p].count)
                intervals_union(&host[p], &nothing,
                                &sets[p]); /* no part is both of the host and of devices */
        separate_parts(sets);
        if (any)
            add_rows(table, question, &lane, sets);
        release_parts(sets);
    }
    release_parts(host);
    return left_out;
}

static bool has_same_text(const struct table *table, size_t a, size_t b, size_t column)
{
    const union table_cell *left = table_cell(table, a, column), *right = table_cell(table, b, column);
    return left->text.len == right->text.len && memcmp(left->text.at, right->text.at, left->text.len) == 0;
}

enum { KEYS = 3 };
static const struct {
    unsigned by;
    enum step_column column;
} step_keys[KEYS] = { { STEP_BY_RANK | STEP_BY_DEVICE | STEP_BY_STREAM, STEP_RANK },
                      { STEP_BY_DEVICE | STEP_BY_STREAM, STEP_DEVICE },
                      { STEP_BY_STREAM, STEP_STREAM } };

/* Do two rows of steps belong together? */
static bool is_alike(const struct table *steps, size_t a, size_t b, unsigned by)
{
    for (size_t i = 0; i < KEYS; i++)
        if (by & step_keys[i].by &&
            table_cell(steps, a, step_keys[i].column)->i != table_cell(steps, b, step_keys[i].column)->i)
            return false;
    return !(by & STEP_BY_NAME) || has_same_text(steps, a, b, STEP_NAME);
}

/* Put rows that belong together beside one another: a rank may have several files, with others between them. */
static void group_steps(struct table *steps, unsigned by)
{
    for (size_t i = KEYS; i-- > 0;) /* sorting keeps the order of equals */
        if (by & step_keys[i].by)
            table_sort(steps, step_keys[i].column, true);
    if (by & STEP_BY_NAME)
        table_sort(steps, STEP_NAME, false);
}

/* New: the rows of STEPS that belong together, added up. Takes STEPS. */
static struct table *sum_up(struct table *steps, const struct table_column columns[STEP_COLUMNS], unsigned by)
{
    static const size_t sums[] = { STEP_DURATION, STEP_WORK, STEP_HOST };
    struct table *table = table_open("steps", "Steps, and where their time went", columns, STEP_COLUMNS);
    group_steps(steps, by);
    for (size_t first = 0, end; first < steps->row_count; first = end) {
        size_t row = table_add_row(table);
        for (size_t c = 0; c < STEP_FIRST_PART; c++)
            *table_cell(table, row, c) = *table_cell(steps, first, c);
        const union table_cell *name = table_cell(steps, first, STEP_NAME);
        table_set_text(table, row, STEP_NAME, name->text.at, name->text.len);
        for (size_t c = STEP_FIRST_PART; c < STEP_FIRST_PART + PARTS; c++)
            table_set_int(table, row, c, 0);
        for (size_t i = 0; i < sizeof sums / sizeof *sums; i++)
            if (!table_is_missing(steps, first, sums[i]))
                table_set_int(table, row, sums[i], 0);
        for (end = first; end < steps->row_count && is_alike(steps, first, end, by); end++) {
            for (size_t c = STEP_FIRST_PART; c < STEP_FIRST_PART + PARTS; c++)
                sum_add(&table_cell(table, row, c)->i, table_cell(steps, end, c)->i);
            for (size_t i = 0; i < sizeof sums / sizeof *sums; i++)
                if (!table_is_missing(steps, end, sums[i]))
                    sum_add(&table_cell(table, row, sums[i])->i, table_cell(steps, end, sums[i])->i);
        }
        uint64_t count = end - first, sum_ns = (uint64_t)table_cell(table, row, STEP_DURATION)->i;
        table_set_int(table, row, STEP_COUNT, (int64_t)count);
        table_set_int(table, row, STEP_AVERAGE, (int64_t)((sum_ns + count / 2) / count));
    }
    table_free(steps);
    return table;
}

/* Of the columns of sums those that mean something, what makes a row and the counts first. */
static void arrange_sums(struct table *table, unsigned by)
{
    size_t order[STEP_COLUMNS], count = 0;
    unsigned flags[STEP_COLUMNS];
    if (by & STEP_BY_NAME)
        order[count++] = STEP_NAME;
    if (by & (STEP_BY_RANK | STEP_BY_DEVICE | STEP_BY_STREAM))
        order[count++] = STEP_RANK;
    if (by & (STEP_BY_DEVICE | STEP_BY_STREAM))
        order[count++] = STEP_DEVICE;
    if (by & STEP_BY_STREAM)
        order[count++] = STEP_STREAM;
    order[count++] = STEP_COUNT;
    order[count++] = STEP_DURATION;
    order[count++] = STEP_AVERAGE;
    for (size_t c = STEP_FIRST_PART; c < STEP_COMPLETE; c++)
        order[count++] = c;
    for (size_t i = 0; i < count; i++)
        flags[i] = table->columns[order[i]].flags;
    table_select(table, order, count);
    for (size_t i = 0; i < count; i++)
        table->columns[i].flags = flags[i];
}

/* The columns that tell rows apart are shown to everybody; the rank of a device where there are several. */
static void show_keys(struct table_column columns[STEP_COLUMNS], const struct trace *trace, unsigned by)
{
    if (trace->file_count > 1 || by & STEP_BY_RANK)
        columns[STEP_RANK].flags = 0;
    if (by & (STEP_BY_DEVICE | STEP_BY_STREAM))
        columns[STEP_DEVICE].flags = 0;
    if (by & STEP_BY_STREAM)
        columns[STEP_STREAM].flags = 0;
    if (by & (STEP_BY_DEVICE | STEP_BY_STREAM))
        columns[STEP_WORK].flags = TABLE_HIDDEN;
}

static bool has_calls(const struct trace *trace)
{
    for (event_id e = 0; e < trace->event_count; e++)
        if (trace->kind[e] == EVENT_RUNTIME || trace->kind[e] == EVENT_DRIVER)
            return true;
    return false;
}

static void add_sum_footers(struct table *table)
{
    int64_t parts_ns = 0, steps_ns = 0;
    for (size_t row = 0; row < table->row_count; row++) {
        sum_add(&steps_ns, table_cell(table, row, STEP_DURATION)->i);
        for (size_t p = 0; p < PARTS; p++)
            sum_add(&parts_ns, table_cell(table, row, STEP_FIRST_PART + p)->i);
    }
    table_add_footer(table, "parts_total", "Sum of the parts", TABLE_NS, table_int(parts_ns));
    table_add_footer(table, "steps_total", "Sum of the steps", TABLE_NS, table_int(steps_ns));
}

bool steps_add_tables(const struct trace *trace, const struct selection *selection,
                      const struct steps_options *options, struct result *result, struct tpa_error *err)
{
    struct step_list *ranges = find_ranges(trace, options, result, err);
    if (!ranges)
        return false;
    unsigned by = options->by ? options->by : STEP_BY_STEP;
    bool by_lane = by & (STEP_BY_DEVICE | STEP_BY_STREAM);
    const struct gpu_events *gpu = gpu_events_of(trace);
    struct device_steps *steps = device_steps_open(ranges, gpu);
    struct question question = { trace, selection, gpu, NULL, steps, NULL };
    question.asked = mem_zalloc(names_count(trace->names) + 1, sizeof *question.asked);

    struct table_column columns[STEP_COLUMNS];
    make_step_columns(columns);
    show_keys(columns, trace, by);
    size_t first_part = gpu->count ? PART_KERNEL : has_calls(trace) ? PART_RUNTIME : PART_DATA_LOADING;
    for (size_t p = PART_KERNEL; p < first_part; p++)
        columns[STEP_FIRST_PART + p].flags = TABLE_OPTIONAL;
    struct table *table = table_open("steps", "Steps, and where their time went", columns, STEP_OWN_COLUMNS);
    size_t incomplete = add_steps(table, &question);
    struct table *summary = options->summary_by_rank ? make_summaries(table) : make_summary(table);
    int64_t left_out = 0;
    if (by_lane) {
        struct gpu_streams *streams = by & STEP_BY_STREAM ? gpu_streams_open(gpu) : NULL;
        question.streams = streams;
        table_free(table);
        table = table_open("steps", "Steps, and where their time went", columns, STEP_OWN_COLUMNS);
        for (uint32_t file = 0; file < trace->file_count; file++)
            left_out += add_lanes(table, &question, file);
        gpu_streams_free(streams);
        if (gpu->count == 0)
            result_add_notice(
                result, "no_devices", 0, NULL, TPA_NOWHERE,
                "nothing ran on a device, or it was not recorded, so there are no rows of devices");
    }
    if (!(by & STEP_BY_STEP))
        table = sum_up(table, columns, by);
    add_sum_footers(table);
    if (!(by & STEP_BY_STEP))
        arrange_sums(table, by);
    table_drop_hidden(table);
    result_add_table(result, table);
    result_add_table(result, summary);
    many_rows_tell(result, left_out);
    if (incomplete)
        result_add_notice(
            result, "incomplete_steps", (int64_t)incomplete, NULL, TPA_NOWHERE,
            "steps at the end launched far less work than the one before: recording stopped in their "
            "midst, and the summary leaves them out");
    free(question.asked);
    device_steps_free(steps);
    step_list_free(ranges);
    return true;
}
