/*
 * measure_trace.c - the samples of a trace; see measure.h.
 *
 * The figures of whole steps come from one interval set per device and use, whose length within each step is found by
 * binary search; the rows come from the analysis of tpa top, by step and file, with the same definitions.
 */

#include "derive/device_use.h"
#include "diff/measure_parts.h"
#include "memory/memory_records.h"
#include "analyze/top/top.h"
#include "trace/span.h"
#include "base/rows.h"
#include "base/search.h"
#include <assert.h>
#include <inttypes.h>
#include <math.h>

/* ---- samples ---- */

static const struct key by_step[] = { ASC_VIA(struct measured_step, step, struct device_step, file),
                                      ASC_VIA(struct measured_step, step, struct device_step, number),
                                      ASC_VIA(struct measured_step, step, struct device_step, start_ns),
                                      KEY_END };

/* The step NUMBER of FILE; NULL if it is not a sample. */
static const struct measured_step *measured_step_of(const struct measuring *measuring, uint32_t file,
                                                    int64_t number)
{
    const struct measured_step *at = measuring->steps.at;
    size_t low = PLACE(i, measuring->steps.count,
                       at[i].step->file < file || (at[i].step->file == file && at[i].step->number < number));
    const struct measured_step *found = &measuring->steps.at[low];
    bool is_it = low < measuring->steps.count && found->step->file == file && found->step->number == number;
    return is_it ? found : NULL;
}

const struct measured_step *measured_step_at(const struct measuring *measuring, uint32_t file,
                                             int64_t moment_ns)
{
    const struct step *range = step_list_at(measuring->ranges, file, moment_ns);
    if (!range)
        return NULL;
    const struct measured_step *step = measured_step_of(measuring, file, range->number);
    bool is_it = step && step->step == &measuring->device_steps->at[range - measuring->ranges->at];
    return is_it ? step : NULL;
}

/* The window of STEP, the same as ONE of the account: of devices if these are the limit of its rank. */
static struct measured_step measured_step_window(const struct account *account,
                                                 const struct account_step *one,
                                                 const struct device_step *step)
{
    const struct account_rank *rank = account_rank_of(account, one->rank);
    bool of_devices = rank->limit == LIMIT_DEVICES;
    int64_t length_ns = of_devices ? one->device_ns : one->host_ns;
    int64_t end_ns = of_devices && one->work ? one->work_end_ns : one->start_ns + length_ns;
    return (struct measured_step){ .step = step, .start_ns = end_ns - length_ns, .end_ns = end_ns };
}

/* The steps that are samples: those that count in the account; with FIRST_ONLY the first complete one of each file. Each
 * number once per file. */
static void choose_steps(struct measuring *measuring, bool first_only)
{
    const struct account *account = account_of(measuring->trace);
    for (size_t i = 0; i < measuring->device_steps->count; i++) {
        const struct device_step *step = &measuring->device_steps->at[i];
        const struct account_step *one = i < account->steps.count ? &account->steps.at[i] : NULL;
        if (first_only && step->complete)
            *VEC_PUSH(&measuring->steps) =
                (struct measured_step){ .step = step, .start_ns = step->start_ns, .end_ns = step->end_ns };
        else if (!first_only && one && one->event == step->event && one->role == STEP_COUNTS)
            *VEC_PUSH(&measuring->steps) = measured_step_window(account, one, step);
    }
    SORT(&measuring->steps, by_step);
    size_t kept = 0;
    for (size_t i = 0; i < measuring->steps.count; i++) {
        const struct device_step *step = measuring->steps.at[i].step;
        const struct device_step *last = kept ? measuring->steps.at[kept - 1].step : NULL;
        if (!last || last->file != step->file || (last->number != step->number && !first_only))
            measuring->steps.at[kept++] = measuring->steps.at[i];
    }
    measuring->steps.count = kept;
}

/* Note when FILE, of SPAN, was recorded, if its times are since 1970 (as of tpa info: after the year 2001). */
static void measure_moment(struct measures *measures, const struct trace_file *file, struct interval span)
{
    const int64_t after_2001_ns = INT64_C(1000000000000000000);
    int64_t start_ns = span.start_ns, end_ns = span.end_ns;
    if (file->has_base) {
        sum_add(&start_ns, file->base_ns);
        sum_add(&end_ns, file->base_ns);
    }
    if (start_ns < after_2001_ns)
        return;
    bool first = !measures->has_absolute_times;
    measures->has_absolute_times = true;
    measures->start_ns = first || start_ns < measures->start_ns ? start_ns : measures->start_ns;
    measures->end_ns = first || end_ns > measures->end_ns ? end_ns : measures->end_ns;
}

/* The parts of a step, as shares of it, and when it was recorded. */
static void measure_account(const struct measuring *measuring)
{
    struct measures *measures = measuring->measures;
    const struct account_rank *all = &account_of(measuring->trace)->all;
    double whole = SUM(double, part, ACCOUNT_PARTS, (double)all->part_ns[part]);
    if (whole > 0)
        measures->accounts++;
    for (size_t part = 0; part < ACCOUNT_PARTS && whole > 0; part++)
        measures->part_share[part] += (double)all->part_ns[part] / whole;
    for (uint32_t f = 0; f < measuring->trace->file_count; f++)
        if (measured_file(measuring, f))
            measure_moment(measures, &measuring->trace->files[f], trace_file_span(measuring->trace, f));
}

static size_t period_of(const struct trace *trace, uint32_t file)
{
    const struct account_rank *rank = account_rank_of(account_of(trace), selection_rank(trace, file));
    return rank ? rank->period : 1;
}

static void add_samples(struct measuring *measuring)
{
    struct measures *measures = measuring->measures;
    const struct trace *trace = measuring->trace;
    measuring->first_file_sample = (uint32_t)measures->by_file.samples.count;
    measuring->file_sample = mem_zalloc(trace->file_count + 1, sizeof *measuring->file_sample);
    size_t files = 0, with_steps = 0;
    for (uint32_t file = 0; file < trace->file_count; file++) {
        if (!measured_file(measuring, file))
            continue;
        measuring->file_sample[file] =
            sampling_add(&measures->by_file, &(struct measure_sample){ (uint32_t)measures->parts - 1, file,
                                                                       selection_rank(trace, file), -1, 1 });
        files++;
    }
    for (size_t i = 0; i < measuring->steps.count; i++) {
        struct measured_step *step = &measuring->steps.at[i];
        step->sample =
            sampling_add(&measures->by_step,
                         &(struct measure_sample){ (uint32_t)measures->parts - 1, step->step->file,
                                                   selection_rank(trace, step->step->file),
                                                   step->step->number, period_of(trace, step->step->file) });
        with_steps += i == 0 || measuring->steps.at[i - 1].step->file != step->step->file;
    }
    measures->files += trace->file_count;
    measures->files_without_steps += files - with_steps;
}

/* ---- what devices did ---- */

static const struct {
    const char *key, *title;
} use_metrics[DEVICE_USES] = {
    [USE_COMPUTATION] = { "computation", "computation" },
    [USE_COMMUNICATION] = { "exposed_communication", "exposed communication" },
    [USE_COPIES] = { "exposed_copies", "exposed copies" },
};

static void find_use(const struct gpu_events *gpu, const struct gpu_device *device, struct device_use *use)
{
    for (size_t i = device->first; i < device->first + device->count; i++)
        device_use_add(use, gpu->work[i], trace_start_ns(gpu->trace, gpu->event[i]),
                       trace_end_ns(gpu->trace, gpu->event[i]));
    device_use_finish(use);
}

/* The interval of a sample. */
struct stretch {
    struct sampling *sampling;
    uint32_t sample, file;
    int64_t start_ns, end_ns;
    double busy_ns[DEVICE_USES]; /* summed over the devices of the file */
};

typedef VEC_OF(struct stretch) stretches;

static const struct key by_stretches[] = { ASC(struct stretch, file), ASC(struct stretch, sample), KEY_END };

/* All samples and their intervals, file by file. */
static void list_stretches(const struct measuring *measuring, stretches *list)
{
    struct measures *measures = measuring->measures;
    for (uint32_t file = 0; file < measuring->trace->file_count; file++) {
        if (!measured_file(measuring, file))
            continue;
        struct interval span = trace_file_span(measuring->trace, file);
        *VEC_PUSH(list) = (struct stretch){ .sampling = &measures->by_file,
                                            .sample = measuring->file_sample[file],
                                            .file = file,
                                            .start_ns = span.start_ns,
                                            .end_ns = span.end_ns };
    }
    FOR_EACH(step, &measuring->steps) {
        *VEC_PUSH(list) = (struct stretch){ .sampling = &measures->by_step,
                                            .sample = step->sample,
                                            .file = step->step->file,
                                            .start_ns = step->start_ns,
                                            .end_ns = step->end_ns };
    }
    if (list->count)
        SORT(list, by_stretches);
}

static void add_use(struct stretch *stretch, const struct device_use *use)
{
    assert(stretch);
    for (int kind = 0; kind < DEVICE_USES; kind++)
        stretch->busy_ns[kind] +=
            (double)intervals_length_within(&use->exposed[kind], stretch->start_ns, stretch->end_ns);
}

/* Index over the steps of a file, to find those in which a device did anything. */
struct step_finder {
    struct stretch *whole;          /* that of the file */
    VEC_OF(struct stretch *) steps; /* by start */
    int64_t *latest_ns;             /* by step: the latest end of it and of those before */
    uint32_t *device;               /* by step: 1 + the device that was added last */
};

static const struct key by_start[] = { ASC_OF(struct stretch, start_ns), KEY_END };

static void finder_open(struct step_finder *finder, const struct measuring *measuring, stretches *list,
                        size_t first, size_t end)
{
    finder->steps.count = 0;
    for (size_t i = first; i < end; i++)
        if (list->at[i].sampling == &measuring->measures->by_step)
            *VEC_PUSH(&finder->steps) = &list->at[i];
        else
            finder->whole = &list->at[i];
    size_t count = finder->steps.count;
    SORT_ARRAY(finder->steps.at, count, by_start);
    finder->latest_ns = mem_realloc(finder->latest_ns, mem_times(count + 1, sizeof *finder->latest_ns));
    free(finder->device);
    finder->device = mem_zalloc(count + 1, sizeof *finder->device);
    for (size_t i = 0; i < count; i++) {
        int64_t end_ns = finder->steps.at[i]->end_ns;
        finder->latest_ns[i] = i > 0 && finder->latest_ns[i - 1] > end_ns ? finder->latest_ns[i - 1] : end_ns;
    }
}

/* Add what device D did to the steps in which it did anything: with many devices and steps, most devices are idle in
 * most steps. */
static void add_to_steps(struct step_finder *finder, const struct device_use *use, uint32_t d)
{
    size_t intervals = 0, count = finder->steps.count;
    for (int kind = 0; kind < DEVICE_USES; kind++)
        intervals += use->exposed[kind].count;
    for (size_t i = 0; i < count && intervals >= count; i++)
        add_use(finder->steps.at[i], use);
    for (int kind = 0; kind < DEVICE_USES && intervals < count; kind++) {
        size_t end = 0;
        FOR_EACH(busy, &use->exposed[kind]) {
            SEARCH_BETWEEN(end, end, count, finder->steps.at[end]->start_ns < busy->end_ns);
            for (size_t i = end; i-- > 0 && finder->latest_ns[i] > busy->start_ns;) {
                if (finder->device[i] != d + 1)
                    add_use(finder->steps.at[i], use);
                finder->device[i] = d + 1;
            }
        }
    }
}

/* Add what the devices of each file did in each stretch; store the number of devices of each file in DEVICES. */
static void add_up_busy(const struct measuring *measuring, stretches *list, uint32_t *devices)
{
    const struct gpu_events *gpu = measuring->gpu;
    struct step_finder finder = { 0 };
    size_t first = 0, end = 0; /* stretches of the file; devices are sorted by file as well */
    for (size_t d = 0; d < gpu->device_count; d++) {
        SCOPED_BY(device_use_release) struct device_use use = { 0 };
        find_use(gpu, &gpu->devices[d], &use);
        uint32_t file = gpu->devices[d].file;
        if (devices[file]++ == 0) {
            for (first = end; first < list->count && list->at[first].file < file;)
                first++;
            for (end = first; end < list->count && list->at[end].file == file;)
                end++;
            finder_open(&finder, measuring, list, first, end);
        }
        add_to_steps(&finder, &use, (uint32_t)d);
        add_use(finder.whole, &use); /* a file with a device has events */
    }
    VEC_FREE(&finder.steps);
    EACH(free, finder.latest_ns, finder.device);
}

static void set_stretch(const struct measuring *measuring, const struct stretch *stretch, uint32_t devices)
{
    struct sampling *to = stretch->sampling;
    uint32_t sample = stretch->sample;
    double length_ns = (double)(stretch->end_ns - stretch->start_ns), busy_ns = 0;
    if (to == &measuring->measures->by_step)
        sampling_set(to, "step_time", "step time", TABLE_NS, sample, length_ns);
    else
        sampling_set(to, "window", "window", TABLE_NS, sample, length_ns);
    if (devices == 0)
        return;
    for (int kind = 0; kind < DEVICE_USES; kind++)
        busy_ns += stretch->busy_ns[kind] / devices;
    sampling_set(to, "gpu_busy", "GPU busy", TABLE_NS, sample, busy_ns);
    for (int kind = 0; kind < DEVICE_USES; kind++)
        sampling_set(to, use_metrics[kind].key, use_metrics[kind].title, TABLE_NS, sample,
                     stretch->busy_ns[kind] / devices);
    sampling_set(to, "gpu_idle", "GPU idle", TABLE_NS, sample, length_ns - busy_ns);
    if (length_ns > 0)
        sampling_set(to, "idle_share", "GPU idle, share of the time", TABLE_SHARE, sample,
                     (length_ns - busy_ns) / length_ns);
}

static void measure_times(const struct measuring *measuring)
{
    SCOPED stretches list = { 0 };
    SCOPED uint32_t *devices = mem_zalloc(measuring->trace->file_count + 1, sizeof *devices);
    list_stretches(measuring, &list);
    add_up_busy(measuring, &list, devices);
    for (size_t i = 0; i < list.count; i++)
        set_stretch(measuring, &list.at[i], devices[list.at[i].file]);
}

/* ---- rows ---- */

static unsigned measure_trace_dimensions_of(enum measure_by by)
{
    switch (by) {
    case MEASURE_BY_SHAPE: return TOP_OPERATOR | TOP_SHAPE;
    case MEASURE_BY_CATEGORY: return TOP_CATEGORY;
    case MEASURE_BY_THREAD: return TOP_THREAD;
    case MEASURE_BY_STREAM: return TOP_STREAM;
    case MEASURE_BY_DEVICE: return TOP_DEVICE;
    default: return TOP_OPERATOR;
    }
}

/* Destinations of the rows of top, and their total time by sample. */
struct taking {
    const struct measuring *measuring;
    const struct measure_options *options;
    double *host_ns[2], *device_ns[2]; /* of steps, of files */
    struct buffer name;                /* of the current row */
};

static void measure_trace_add(struct sampling *sampling, const char *key, const char *title,
                              const struct taking *taking, uint32_t sample, double value, double calls)
{
    struct measure_rows *rows = sampling_open_rows(sampling, key, title, TABLE_NS);
    enum measure_by by = taking->options->by;
    rows->may_be_renamed = strcmp(key, "kernels") == 0 || strcmp(key, "operators") == 0 ||
                           by == MEASURE_BY_THREAD || by == MEASURE_BY_STREAM || by == MEASURE_BY_DEVICE;
    measure_rows_add(rows, taking->name.at ? taking->name.at : "", taking->name.count, sample, value, calls);
}

/* The table of a row, and its time there; false if it has none. */
static bool place_row(const struct top_row *row, const struct measure_options *options, const char **key,
                      const char **title, double *time_ns)
{
    int64_t host_ns = options->inclusive ? row->cpu_ns : row->self_cpu_ns;
    bool on_device = row->on_device || options->by == MEASURE_BY_STREAM || options->by == MEASURE_BY_DEVICE;
    *time_ns = (double)(on_device ? row->self_device_ns : host_ns);
    *key = "rows";
    switch (options->by) {
    case MEASURE_BY_OPERATOR:
    case MEASURE_BY_SHAPE:
    case MEASURE_BY_KERNEL:
        if (row->on_device && !row->is_gpu_work)
            return false; /* waits, and shadows of annotations, span the time of others */
        *key = row->on_device ? "kernels" : "operators";
        *title = row->on_device ? "Time on devices, by kernel" : "Time on the host, by operator";
        return true;
    case MEASURE_BY_CATEGORY: *title = "Time by category"; return true;
    case MEASURE_BY_THREAD: *title = "Time on the host, by thread"; return true;
    case MEASURE_BY_STREAM: *title = "Time on devices, by stream"; return true;
    case MEASURE_BY_DEVICE: *title = "Time on devices, by device"; return true;
    default: return false;
    }
}

/* Add to the total time, independent of the kind of rows. */
static void add_to_whole(struct taking *taking, int sort, uint32_t sample, const struct top_row *row)
{
    if (!row->on_device)
        taking->host_ns[sort][sample] += (double)row->self_cpu_ns;
    else if (row->is_gpu_work)
        taking->device_ns[sort][sample] += (double)row->self_device_ns;
}

static void collect_row(struct taking *taking, const struct top_row *row, uint32_t file)
{
    const struct measuring *measuring = taking->measuring;
    uint32_t of_file = measuring->file_sample[file];
    const struct measured_step *step =
        row->key.step != TABLE_INT_MISSING ? measured_step_of(measuring, file, row->key.step) : NULL;
    add_to_whole(taking, 1, of_file, row);
    if (step)
        add_to_whole(taking, 0, step->sample, row);
    const char *key, *title;
    double time_ns;
    if (!place_row(row, taking->options, &key, &title, &time_ns))
        return;
    buffer_clear(&taking->name);
    const struct text *name =
        row->place.len ? &row->place : &row->name; /* a row is an operator or a place here */
    buffer_add(&taking->name, name->at, name->len);
    top_append_detail(row, &taking->name);
    measure_trace_add(&measuring->measures->by_file, key, title, taking, of_file, time_ns,
                      (double)row->count);
    if (step)
        measure_trace_add(&measuring->measures->by_step, key, title, taking, step->sample, time_ns,
                          (double)row->count);
}

/* Rows by place hold host work, device work, or both mixed. */
static bool tells_whole(enum measure_by by)
{
    return by == MEASURE_BY_OPERATOR || by == MEASURE_BY_SHAPE || by == MEASURE_BY_KERNEL ||
           by == MEASURE_BY_NAME || by == MEASURE_BY_STEP || by == MEASURE_BY_MODULE;
}

/* Work in a step that is no sample, because it overlaps another or repeats its number, is in no sample. */
static struct step_list ranges_of_samples(const struct measuring *measuring)
{
    const struct step_list *ranges = measuring->ranges;
    struct step_list sampled = { 0 };
    for (size_t i = 0; i < ranges->count; i++) {
        const struct measured_step *step =
            measured_step_of(measuring, ranges->at[i].file, ranges->at[i].number);
        if (step && step->step == &measuring->device_steps->at[i])
            *VEC_PUSH(&sampled) = ranges->at[i];
    }
    return sampled;
}

static void measure_rows(const struct measuring *measuring, const struct measure_options *options)
{
    struct measures *measures = measuring->measures;
    struct sampling *sorts[2] = { &measures->by_step, &measures->by_file };
    struct taking taking = { .measuring = measuring, .options = options };
    for (int i = 0; i < 2; i++) {
        taking.host_ns[i] = mem_zalloc(sorts[i]->samples.count + 1, sizeof *taking.host_ns[i]);
        taking.device_ns[i] = mem_zalloc(sorts[i]->samples.count + 1, sizeof *taking.device_ns[i]);
    }
    struct top_options of_rows = { .by = measure_trace_dimensions_of(options->by) | TOP_RANK,
                                   .without_memory = true };
    struct step_list sampled = ranges_of_samples(measuring);
    if (measuring->steps.count) {
        of_rows.by |= TOP_STEP;
        of_rows.steps = &sampled;
    }
    struct top *top = top_analyze(measuring->trace, &of_rows);
    for (size_t i = 0; i < top->count; i++)
        collect_row(&taking, &top->at[i], top->at[i].file);
    arena_free(top);
    VEC_FREE(&sampled);
    const size_t first[2] = { measures->by_step.samples.count - measuring->steps.count,
                              measuring->first_file_sample };
    for (int i = 0; i < 2; i++) {
        for (size_t sample = first[i]; sample < sorts[i]->samples.count && tells_whole(options->by);
             sample++) {
            sampling_set(sorts[i], "host_time", "host time", TABLE_NS, (uint32_t)sample,
                         taking.host_ns[i][sample]);
            if (measuring->gpu->count)
                sampling_set(sorts[i], "device_time", "device time", TABLE_NS, (uint32_t)sample,
                             taking.device_ns[i][sample]);
        }
        EACH(free, taking.host_ns[i], taking.device_ns[i]);
    }
    buffer_release(&taking.name);
}

/* Which operators launch each kernel, and for how long. */
static void measure_launchers(const struct measuring *measuring)
{
    struct launched {
        name_id kernel, op;
        int64_t time_ns;
    };
    static const struct key by_names[] = { ASC(struct launched, kernel), ASC(struct launched, op), KEY_END };
    static const struct fold sum[] = { SUM_OF(struct launched, time_ns, struct launched, time_ns), FOLD_END };
    const struct trace *trace = measuring->trace;
    const struct gpu_events *gpu = measuring->gpu;
    struct measures *measures = measuring->measures;
    SCOPED VEC_OF(struct launched) all = { 0 };
    for (size_t i = 0; i < gpu->count; i++)
        if (gpu->op[i] != EVENT_NONE)
            *VEC_PUSH(&all) = (struct launched){ trace->name[gpu->event[i]], trace->name[gpu->op[i]],
                                                 trace_dur_ns(trace, gpu->event[i]) };
    SORT(&all, by_names);
    FOR_GROUPS(&all, by_names, first, end) {
        struct launched of = all.at[first];
        rows_fold(&of, sum, &all.at[first], end - first, sizeof *all.at);
        const char *kernel = names_text(trace->names, of.kernel), *op = names_text(trace->names, of.op);
        *VEC_PUSH(&measures->launchers) =
            (struct measure_launcher){ arena_strndup(arena_of(measures), kernel, strlen(kernel)),
                                       arena_strndup(arena_of(measures), op, strlen(op)), of.time_ns };
    }
}

/* Compare steps by number: a sample is a file, and a row is a step. */
static void measure_trace_measure_steps(const struct measuring *measuring)
{
    struct measure_rows *rows =
        sampling_open_rows(&measuring->measures->by_file, "rows", "Time of the steps", TABLE_NS);
    SCOPED double *sums = mem_zalloc(measuring->trace->file_count + 1, sizeof *sums);
    for (size_t i = 0; i < measuring->steps.count; i++) {
        const struct device_step *step = measuring->steps.at[i].step;
        double time_ns = (double)(measuring->steps.at[i].end_ns - measuring->steps.at[i].start_ns);
        const char *name = step->name ? step->name : trace_name(measuring->trace, step->event);
        measure_rows_add(rows, name, strlen(name), measuring->file_sample[step->file], time_ns, 1);
        sums[step->file] += time_ns;
    }
    for (uint32_t file = 0; file < measuring->trace->file_count; file++)
        if (measured_file(measuring, file))
            sampling_set(&measuring->measures->by_file, "steps_time", "time of all steps", TABLE_NS,
                         measuring->file_sample[file], sums[file]);
}

struct trace_wants measure_wants(const struct measure_options *options)
{
    struct top_options top = { .by = measure_trace_dimensions_of(options->by) | TOP_STEP | TOP_RANK };
    struct trace_wants wants = top_wants(&top);
    wants.args |= GPU_EVENTS_WANTS | MEMORY_RECORDS_WANTS;
    return wants;
}

static const char *keep_text(struct measures *measures, const char *text)
{
    return text ? arena_strndup(arena_of(measures), text, strlen(text)) : NULL;
}

/* Keep where the files come from. */
static void keep_records(struct measures *measures, const struct trace *trace)
{
    SCOPED struct set_record *records = file_set_records(trace);
    file_set_add_steps(trace, measures->records.count, &measures->steps);
    *VEC_PUSH(&measures->first_record) = measures->records.count;
    for (uint32_t f = 0; f < trace->file_count; f++) {
        struct set_record record = records[f];
        record.file = (uint32_t)measures->records.count;
        record.host = keep_text(measures, record.host);
        record.path = keep_text(measures, record.path);
        record.backend = keep_text(measures, record.backend);
        record.pid_text = keep_text(measures, record.pid_text);
        *VEC_PUSH(&measures->records) = record;
    }
}

bool measures_hold(struct measures *measures, const struct trace *trace)
{
    bool all = trace->file_count > 0;
    measures->seen = measures->seen ? measures->seen : arena_hold(arena_of(measures), names_open());
    for (uint32_t f = 0; f < trace->file_count; f++) {
        uint64_t key[] = { file_set_fingerprint(trace, f), (uint64_t)trace->files[f].rank };
        size_t known = names_count(measures->seen);
        names_add(measures->seen, (const char *)key, sizeof key);
        all = all && names_count(measures->seen) == known && trace->files[f].event_count > 0;
    }
    return all;
}

bool measure_trace(struct measures *measures, const struct trace *trace,
                   const struct measure_options *options, struct tpa_error *err)
{
    if (!measures_part(measures, MEASURE_TRACES, err))
        return false;
    keep_records(measures, trace);
    struct measuring measuring = { .measures = measures, .trace = trace };
    measuring.ranges = step_list_open(trace);
    step_list_drop_overlaps(measuring.ranges); /* a file may hold the steps of several threads */
    measuring.launches = attribution_of(trace);
    measuring.gpu = gpu_events_of(trace);
    measuring.device_steps = device_steps_open(measuring.ranges, measuring.gpu);
    choose_steps(&measuring, options->first_step);
    add_samples(&measuring);
    measures->has_gpu |= measuring.gpu->count > 0;
    measure_times(&measuring);
    measure_account(&measuring);
    measure_rows(&measuring, options);
    measure_launchers(&measuring);
    bool good = true;
    if (options->by == MEASURE_BY_STEP)
        measure_trace_measure_steps(&measuring);
    else if (options->by == MEASURE_BY_NAME)
        measure_names(&measuring);
    else if (options->by == MEASURE_BY_MODULE)
        good = measure_modules(&measuring, options->inclusive, err);
    measure_memory(&measuring);
    measure_trace_facts(&measuring);
    VEC_FREE(&measuring.steps);
    free(measuring.file_sample);
    arena_free(measuring.device_steps);
    arena_free(measuring.ranges);
    return good;
}
