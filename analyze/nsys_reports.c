/* Every event of a report becomes a sample with the key of its row; samples are
 * sorted by row, and each run of samples gives the figures of a row. */
#include "analyze/nsys_reports.h"
#include "base/rows.h"
#include "base/search.h"
#include "base/sum.h"

#include <ctype.h>
#include <math.h>

const struct trace_wants nsys_reports_wants = { .args = WANT(CORRELATION) | WANT(LONG_NAME) | WANT(DEVICE) |
                                                        WANT(BYTES) };

/* The row of a sample, and its values. */
struct sample {
    struct nsys_row key;
    int64_t value, call, queue, kernel; /* queue < 0: none */
    int64_t range, operations, level, children;
};

struct samples {
    VEC_OF(struct sample);
};

/* ---- figures ---- */

/* The figures of VALUES, which are sorted here. */
static struct nsys_figures nsys_reports_figures_of(int64_t *values, size_t count)
{
    struct nsys_figures figures = { .count = count };
    if (count == 0)
        return figures;
    SORT_NUMBERS(values, count);
    figures.least = values[0];
    figures.greatest = values[count - 1];
    for (size_t i = 0; i < count; i++)
        if (__builtin_add_overflow(figures.total, values[i], &figures.total))
            figures.total = INT64_MAX;
    figures.mean = (double)figures.total / (double)count;
    size_t middle = count / 2;
    figures.median =
        count % 2 ? (double)values[middle] : ((double)values[middle - 1] + (double)values[middle]) / 2;
    double squares =
        SUM(double, i, count, ((double)values[i] - figures.mean) * ((double)values[i] - figures.mean));
    figures.deviation = count > 1 ? sqrt(squares / (double)(count - 1)) : 0;
    return figures;
}

static int compare_samples(const void *left, const void *right)
{
    const struct nsys_row *a = &((const struct sample *)left)->key, *b = &((const struct sample *)right)->key;
    int order = text_compare(a->domain ? a->domain : "", a->domain ? strlen(a->domain) : 0,
                             b->domain ? b->domain : "", b->domain ? strlen(b->domain) : 0);
    order = order ? order : compare_integers(a->pid, b->pid);
    order = order ? order : compare_integers(a->tid, b->tid);
    order = order ? order : compare_integers(a->device, b->device);
    order = order ? order : text_compare(a->second, a->second_len, b->second, b->second_len);
    order = order ? order : text_compare(a->name, a->name_len, b->name, b->name_len);
    return order ? order : (int)a->start_end - (int)b->start_end;
}

static const struct key by_total_first[] = { DESC(struct nsys_row, of.total), ASC(struct nsys_row, first),
                                             KEY_END };

static const struct key by_mean_first[] = { DESC(struct nsys_row, of.mean), ASC(struct nsys_row, first),
                                            KEY_END };

/* The values at OFFSET in COUNT samples, without negative ones if ONLY_POSITIVE. */
static struct nsys_figures figures_at(const struct sample *samples, size_t count, size_t offset,
                                      bool only_positive, int64_t *room)
{
    size_t taken = 0;
    for (size_t i = 0; i < count; i++) {
        int64_t value = *(const int64_t *)((const char *)&samples[i] + offset);
        if (!only_positive || value >= 0)
            room[taken++] = value;
    }
    return nsys_reports_figures_of(room, taken);
}

static void add_up(struct nsys_row *row, const struct sample *samples, size_t count)
{
    int64_t levels = 0, children = 0;
    for (size_t i = 0; i < count; i++) {
        row->range_total += samples[i].range;
        row->operations += samples[i].operations;
        levels += samples[i].level;
        children += samples[i].children;
    }
    row->mean_level = (double)levels / (double)count;
    row->mean_children = (double)children / (double)count;
}

static void make_rows(struct samples *samples, bool by_average, struct nsys_rows *rows)
{
    SCOPED int64_t *room = mem_alloc(mem_times(samples->count + 1, sizeof *room));
    if (samples->count)
        qsort(samples->at, samples->count, sizeof *samples->at, compare_samples);
    FOR_RUNS(first, next, samples->count, compare_samples(&samples->at[first], &samples->at[next]) == 0) {
        const struct sample *at = &samples->at[first];
        size_t count = next - first;
        struct nsys_row row = at->key;
        for (size_t i = 1; i < count; i++)
            row.first = at[i].key.first < row.first ? at[i].key.first : row.first;
        row.of = figures_at(at, count, offsetof(struct sample, value), false, room);
        row.call = figures_at(at, count, offsetof(struct sample, call), false, room);
        row.queue = figures_at(at, count, offsetof(struct sample, queue), true, room);
        row.kernel = figures_at(at, count, offsetof(struct sample, kernel), false, room);
        add_up(&row, at, count);
        if (__builtin_add_overflow(rows->total, row.of.total, &rows->total))
            rows->total = INT64_MAX;
        *VEC_PUSH(rows) = row;
    }
    SORT(rows, by_average ? by_mean_first : by_total_first);
    VEC_FREE(samples);
}

/* ---- names ---- */

static void set_name(struct nsys_row *row, const char *name)
{
    row->name = name;
    row->name_len = row->shown_len = strlen(name);
}

/* The name as it was recorded, if the event's own name is a part of it. */
static const char *whole_name(const struct trace *trace, event_id e)
{
    const char *whole = trace_arg_text(trace, ARG_LONG_NAME, e);
    return whole ? whole : trace_name(trace, e);
}

/* Length of a call's name without "_v" and four digits, no more and no fewer. */
static size_t call_length(const char *name)
{
    size_t len = strlen(name);
    bool versioned = len > 6 && name[len - 6] == '_' && name[len - 5] == 'v';
    for (size_t i = 4; versioned && i > 0; i--)
        versioned = isdigit((unsigned char)name[len - i]) != 0;
    return versioned ? len - 6 : len;
}

/* "Host-to-Device" of "Memcpy HtoD (Pageable -> Device)", and its prefix. */
static void set_operation(struct nsys_row *row, const struct trace *trace, event_id e)
{
    static const char *const words[][2] = {
        { "HtoD", "Host-to-Device" },  { "DtoH", "Device-to-Host" }, { "DtoD", "Device-to-Device" },
        { "HtoH", "Host-to-Host" },    { "PtoP", "Peer-to-Peer" },   { "HtoA", "Host-to-Array" },
        { "AtoH", "Array-to-Host" },   { "AtoA", "Array-to-Array" }, { "AtoD", "Array-to-Device" },
        { "DtoA", "Device-to-Array" },
    };
    const char *name = trace_name(trace, e);
    if (trace->kind[e] == EVENT_MEMSET) {
        row->domain = "[CUDA memset";
        set_name(row, "");
        return;
    }
    row->domain = strstr(name, "Unified") ? "[CUDA memcpy Unified " : "[CUDA memcpy ";
    set_name(row, name);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(name, words[i][0]))
            set_name(row, words[i][1]);
}

/* The reports of nsys include only kernels; a graph recorded as a whole is none. */
static bool is_kernel(const struct trace *trace, event_id e)
{
    return trace->kind[e] == EVENT_KERNEL && strncmp(trace_name(trace, e), "CUDA graph ", 11) != 0;
}

static bool is_gpu_operation(const struct trace *trace, event_id e)
{
    return is_kernel(trace, e) || trace->kind[e] == EVENT_MEMCPY || trace->kind[e] == EVENT_MEMSET;
}

static bool is_call(const struct trace *trace, event_id e)
{
    return trace->kind[e] == EVENT_RUNTIME || trace->kind[e] == EVENT_DRIVER;
}

static bool nsys_reports_is_range(const struct trace *trace, event_id e)
{
    return (trace->kind[e] == EVENT_ANNOTATION || trace->kind[e] == EVENT_OP) &&
           !(trace->flags[e] & EVENT_POINT);
}

static bool has_category(const struct trace *trace, event_id e, const char *category)
{
    return strcmp(names_text(trace->texts, trace->categories[trace->category[e]].text), category) == 0;
}

static bool nsys_reports_collect(const struct trace *trace, enum nsys_report report, event_id e,
                                 struct sample *sample)
{
    struct nsys_row *row = &sample->key;
    *sample =
        (struct sample){ .key = { .name = "", .second = "", .first = e }, .value = trace_dur_ns(trace, e) };
    switch (report) {
    case NSYS_API:
        set_name(row, whole_name(trace, e));
        row->shown_len = call_length(row->name);
        return is_call(trace, e);
    case NSYS_KERNELS: set_name(row, trace_name(trace, e)); return is_kernel(trace, e);
    case NSYS_MEM_TIME:
    case NSYS_MEM_SIZE:
        if (trace->kind[e] != EVENT_MEMCPY && trace->kind[e] != EVENT_MEMSET)
            return false;
        set_operation(row, trace, e);
        if (report == NSYS_MEM_SIZE)
            sample->value = trace_arg_or(trace, ARG_BYTES, e, 0);
        return true;
    case NSYS_OSRT: set_name(row, trace_name(trace, e)); return has_category(trace, e, "os_runtime_call");
    case NSYS_NVTX:
        set_name(row, whole_name(trace, e));
        row->start_end = trace->flags[e] & EVENT_ASYNC;
        return nsys_reports_is_range(trace, e);
    default: return false;
    }
}

/* ---- calls and what they launched ---- */

/* A call or an operation, by file and correlation. */
struct linked {
    uint32_t file;
    int64_t correlation;
    event_id event;
};

struct linked_list {
    VEC_OF(struct linked);
};

static const struct key by_file_correlation_event[] = { ASC(struct linked, file),
                                                        ASC(struct linked, correlation),
                                                        ASC(struct linked, event), KEY_END };

static void collect(const struct trace *trace, bool (*wanted)(const struct trace *, event_id),
                    struct linked_list *list)
{
    for (event_id e = 0; e < trace->event_count; e++) {
        int64_t correlation;
        if (wanted(trace, e) && trace_arg(trace, ARG_CORRELATION, e, &correlation))
            *VEC_PUSH(list) = (struct linked){ trace->tracks[trace->track[e]].file, correlation, e };
    }
    SORT(list, by_file_correlation_event);
}

/* Iterator over all pairs of a call and work with the same number. CALL and WORK are the current position. */
struct joining {
    struct linked_list calls, work;
    size_t call, first, at; /* the call, the first of its work, and the next one */
};

static bool next_pair(struct joining *joining, event_id *call, event_id *work)
{
    for (; joining->call < joining->calls.count; joining->call++, joining->at = joining->first) {
        const struct linked *key = &joining->calls.at[joining->call];
        struct linked least = { key->file, key->correlation, 0 };
        while (joining->first < joining->work.count &&
               rows_compare(&joining->work.at[joining->first], &least, by_file_correlation_event) < 0)
            joining->first++;
        if (joining->at < joining->first)
            joining->at = joining->first;
        const struct linked *found = &joining->work.at[joining->at];
        if (joining->at < joining->work.count && found->file == key->file &&
            found->correlation == key->correlation) {
            *call = key->event;
            *work = found->event;
            joining->at++;
            return true;
        }
    }
    return false;
}

static void collect_kern_exec(const struct trace *trace, struct samples *samples)
{
    struct joining joining = { 0 };
    event_id call, kernel;
    collect(trace, is_call, &joining.calls);
    collect(trace, is_kernel, &joining.work);
    while (next_pair(&joining, &call, &kernel)) {
        const struct track *thread = &trace->tracks[trace->track[call]];
        struct sample *sample = VEC_PUSH(samples);
        int64_t begin = trace_start_ns(trace, call), returned = trace_end_ns(trace, call),
                end = trace_end_ns(trace, kernel);
        *sample = (struct sample){
            .key = { .second = whole_name(trace, call),
                     .first = kernel,
                     .pid = thread->pid,
                     .tid = thread->tid,
                     .device = trace_arg_or(trace, ARG_DEVICE, kernel,
                                            trace->tracks[trace->track[kernel]].device) },
            .value = (end > returned ? end : returned) - begin,
            .call = trace_dur_ns(trace, call),
            .queue = trace_start_ns(trace, kernel) - returned,
            .kernel = trace_dur_ns(trace, kernel),
        };
        set_name(&sample->key, trace_name(trace, kernel));
        sample->key.second_len = call_length(sample->key.second);
    }
    EACH(VEC_FREE, &joining.calls, &joining.work);
}

/* ---- ranges as their work ran ---- */

/* A call and its work: from the first start to the last end. */
struct launch {
    track_id track;
    int64_t start_ns, end_ns, first_ns, last_ns;
    bool again; /* a driver call inside a runtime call of the same number: one operation */
};

struct projected {
    event_id range;
    track_id track;
    int64_t start_ns, end_ns, first_ns, last_ns, operations, level, children;
};

static const struct key by_track_start[] = { ASC(struct launch, track), ASC(struct launch, start_ns),
                                             KEY_END };

/* By thread and start; of equal starts the longest first, then in order of the file. */
static const struct key by_track_start_end[] = { ASC(struct projected, track),
                                                 ASC(struct projected, start_ns),
                                                 DESC(struct projected, end_ns), ASC(struct projected, range),
                                                 KEY_END };

/* Find the work of RANGE among LAUNCHES, which are sorted; false if there is none. */
static bool project(const struct launch *launches, size_t count, struct projected *range)
{
    size_t i;
    bool found = false;
    SEARCH(i, count,
           launches[i].track < range->track ||
               (launches[i].track == range->track && launches[i].start_ns < range->start_ns));
    for (; i < count && launches[i].track == range->track && launches[i].start_ns <= range->end_ns; i++) {
        const struct launch *launch = &launches[i];
        if (launch->end_ns > range->end_ns)
            continue;
        range->first_ns = launch->first_ns < range->first_ns ? launch->first_ns : range->first_ns;
        range->last_ns = launch->last_ns > range->last_ns ? launch->last_ns : range->last_ns;
        range->operations += !launch->again;
        found = true;
    }
    if (found && range->operations == 0)
        range->operations = 1;
    return found;
}

/* Levels and children of RANGES, sorted: of those that enclose a range, the shortest is its parent. */
static void nest(struct projected *ranges, size_t count)
{
    SCOPED VEC_OF(size_t) open = { 0 };
    for (size_t i = 0; i < count; i++) {
        struct projected *range = &ranges[i], *parent = NULL;
        size_t kept = 0;
        if (i > 0 && range->track != ranges[i - 1].track)
            open.count = 0;
        for (size_t o = 0; o < open.count; o++) {
            struct projected *other = &ranges[open.at[o]];
            if (other->end_ns < range->start_ns)
                continue;
            open.at[kept++] = open.at[o];
            bool shorter = !parent || other->end_ns - other->start_ns <= parent->end_ns - parent->start_ns;
            if (other->end_ns >= range->end_ns && shorter)
                parent = other;
        }
        open.count = kept;
        range->level = parent ? parent->level + 1 : 0;
        if (parent)
            parent->children++;
        *VEC_PUSH(&open) = i;
    }
}

static void collect_projected(const struct trace *trace, struct samples *samples)
{
    struct joining joining = { 0 };
    SCOPED VEC_OF(struct launch) launches = { 0 };
    SCOPED VEC_OF(struct projected) ranges = { 0 };
    event_id call, work, last = EVENT_NONE;
    int64_t number = 0, last_number = 0;
    collect(trace, is_call, &joining.calls);
    collect(trace, is_gpu_operation, &joining.work);
    while (next_pair(&joining, &call, &work)) {
        number = joining.calls.at[joining.call].correlation;
        bool again = last != EVENT_NONE && number == last_number && trace->track[last] == trace->track[call];
        if (call != last || launches.count == 0)
            *VEC_PUSH(&launches) = (struct launch){ trace->track[call],
                                                    trace_start_ns(trace, call),
                                                    trace_end_ns(trace, call),
                                                    INT64_MAX,
                                                    INT64_MIN,
                                                    again };
        last_number = number;
        struct launch *launch = &launches.at[launches.count - 1];
        int64_t start_ns = trace_start_ns(trace, work), end_ns = trace_end_ns(trace, work);
        launch->first_ns = start_ns < launch->first_ns ? start_ns : launch->first_ns;
        launch->last_ns = end_ns > launch->last_ns ? end_ns : launch->last_ns;
        last = call;
    }
    EACH(VEC_FREE, &joining.calls, &joining.work);
    SORT(&launches, by_track_start);
    for (event_id e = 0; e < trace->event_count; e++) {
        if (!nsys_reports_is_range(trace, e) || has_category(trace, e, "user_annotation_across_threads"))
            continue;
        struct projected range = { .range = e,
                                   .track = trace->track[e],
                                   .start_ns = trace_start_ns(trace, e),
                                   .end_ns = trace_end_ns(trace, e),
                                   .first_ns = INT64_MAX,
                                   .last_ns = INT64_MIN };
        if (project(launches.at, launches.count, &range))
            *VEC_PUSH(&ranges) = range;
    }
    SORT(&ranges, by_track_start_end);
    nest(ranges.at, ranges.count);
    FOR_EACH(range, &ranges) {
        struct sample *sample = VEC_PUSH(samples);
        *sample = (struct sample){ .key = { .second = "",
                                            .first = range->range,
                                            .start_end = trace->flags[range->range] & EVENT_ASYNC },
                                   .value = range->last_ns - range->first_ns,
                                   .range = trace_dur_ns(trace, range->range),
                                   .operations = range->operations,
                                   .level = range->level,
                                   .children = range->children };
        set_name(&sample->key, whole_name(trace, range->range));
    }
}

void nsys_report_open(const struct trace *trace, enum nsys_report report, struct nsys_rows *rows)
{
    struct samples samples = { 0 };
    struct sample sample;
    *rows = (struct nsys_rows){ 0 };
    if (report == NSYS_KERN_EXEC)
        collect_kern_exec(trace, &samples);
    else if (report == NSYS_PROJECTED)
        collect_projected(trace, &samples);
    else
        for (event_id e = 0; e < trace->event_count; e++)
            if (nsys_reports_collect(trace, report, e, &sample))
                *VEC_PUSH(&samples) = sample;
    make_rows(&samples, report == NSYS_KERN_EXEC, rows);
}
