/* info.c - one table per kind of content of a trace. Equal values of many files (a thousand ranks on one kind of GPU)
 * become one row that counts the files. */
#include "analyze/info.h"

#include "analyze/selection.h"
#include "base/source.h"
#include "base/sum.h"
#include "trace/span.h"
#include "derive/device_types.h"
#include "derive/file_set.h"
#include "derive/step_list.h"
#include <assert.h>
#include <inttypes.h>
#include <time.h>

#define SECOND_NS INT64_C(1000000000)

/* VALUE if positive, else missing: files record only positive ones. */
static int64_t known(int64_t value)
{
    return value > 0 ? value : TABLE_INT_MISSING;
}

/* --- files --------------------------------------------------------------------------------------------------- */

struct file_row {
    struct text path, format, packing, producer, host, begin;
    int64_t packed_size, size, rank, world_size, span_ns, window_ns;
    int64_t steps, first_step, last_step, step_annotation_ns, events, notices;
};

/* clang-format off */
static const struct table_column file_columns[] = {
    COLUMN(struct file_row, path, "file", "File", TABLE_NAME, "the file"),
    COLUMN(struct file_row, format, "format", "Format", TABLE_TEXT, "how it is written"),
    COLUMN(struct file_row, packing, "packing", "Packing", TABLE_TEXT, "plain, gzip or zstd", .flags = TABLE_OPTIONAL),
    COLUMN(struct file_row, packed_size, "packed_size", "On disk", TABLE_BYTES, "size on disk"),
    COLUMN(struct file_row, size, "size", "Unpacked", TABLE_BYTES, "size of the text in it", .flags = TABLE_OPTIONAL),
    COLUMN(struct file_row, producer, "producer", "Producer", TABLE_TEXT, "the profiler that wrote it"),
    COLUMN(struct file_row, host, "host", "Host", TABLE_TEXT, "name of the machine", .flags = TABLE_OPTIONAL),
    COLUMN(struct file_row, rank, "rank", "Rank", TABLE_COUNT, "rank of the process in its job"),
    COLUMN(struct file_row, world_size, "world_size", "of", TABLE_COUNT, "number of ranks in the job", .flags = TABLE_OPTIONAL),
    COLUMN(struct file_row, begin, "begin", "Begin (UTC)", TABLE_TEXT, "date and time of the first event", .flags = TABLE_OPTIONAL),
    COLUMN(struct file_row, span_ns, "span", "Span", TABLE_NS, "from the first start to the last end of an event"),
    COLUMN(struct file_row, window_ns, "window", "Recorded", TABLE_NS, "duration of the recording according to the profiler", .flags = TABLE_OPTIONAL),
    COLUMN(struct file_row, steps, "steps", "Steps", TABLE_COUNT, "steps marked by ProfilerStep#N"),
    COLUMN(struct file_row, first_step, "first_step", "First", TABLE_COUNT, "the lowest number of a step", .flags = TABLE_OPTIONAL),
    COLUMN(struct file_row, last_step, "last_step", "Last", TABLE_COUNT, "the highest number of a step", .flags = TABLE_OPTIONAL),
    COLUMN(struct file_row, step_annotation_ns, "step_annotation_avg", "Step annotation", TABLE_NS, "mean duration of the annotations ProfilerStep#N; what steps take with the work they launched is in tpa steps", .aliases = "step_time_avg", .flags = TABLE_OPTIONAL),
    COLUMN(struct file_row, events, "events", "Events", TABLE_TALLY, "events read, without flow arrows, counters and metadata"),
    COLUMN(struct file_row, notices, "notices", "Notices", TABLE_COUNT, "kinds of oddities found, listed below", .flags = TABLE_OPTIONAL),
};
/* clang-format on */

static const char *packing_name(int packing)
{
    switch (packing) {
    case SOURCE_GZIP: return "gzip";
    case SOURCE_ZSTD: return "zstd";
    default: return "plain";
    }
}

static void set_steps(const struct step_list *steps, uint32_t file, struct file_row *row)
{
    int64_t count = 0, first = INT64_MAX, last = INT64_MIN;
    double sum_ns = 0;
    FOR_EACH(step, steps) {
        if (step->file != file)
            continue;
        count++;
        first = step->number < first ? step->number : first;
        last = step->number > last ? step->number : last;
        sum_ns += (double)(step->end_ns - step->start_ns);
    }
    row->steps = count;
    row->first_step = count ? first : TABLE_INT_MISSING;
    row->last_step = count ? last : TABLE_INT_MISSING;
    row->step_annotation_ns = count ? (int64_t)(sum_ns / (double)count + 0.5) : TABLE_INT_MISSING;
}

/* The date of the first event: from the base recorded in the file or, without one, from times that are clearly counted
 * from 1970: 2001 or later. */
/* Does an event of FILE count for its span, which is SPAN? Those that do not are of the recording itself, or moments other than
 * records of memory. */
static bool has_begin(const struct trace *trace, const struct trace_file *file, struct interval span)
{
    bool any = span.start_ns != 0 || span.end_ns != 0; /* else of nothing, or of what takes no time */
    for (event_id e = file->first_event; e < file->first_event + file->event_count && !any; e++)
        any = trace->kind[e] != EVENT_SPAN &&
              (trace->kind[e] != EVENT_INSTANT || strcmp(trace_name(trace, e), "[memory]") == 0);
    return any;
}

const char *info_begin(const struct trace *trace, uint32_t file, struct arena *texts)
{
    const struct trace_file *of = &trace->files[file];
    struct interval span = trace_file_span(trace, file);
    int64_t origin_ns = span.start_ns, at_ns = origin_ns;
    if (!has_begin(trace, of, span))
        return NULL;
    if (of->has_base && __builtin_add_overflow(of->base_ns, origin_ns, &at_ns))
        return NULL;
    if (at_ns < 1000000000 * SECOND_NS)
        return NULL;
    time_t seconds = (time_t)(at_ns / SECOND_NS);
    struct tm parts;
    char text[64];
    if (!gmtime_r(&seconds, &parts) || strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &parts) == 0)
        return NULL;
    return arena_strndup(texts, text, strlen(text));
}

static struct file_row file_row_of(const struct trace *trace, const struct step_list *steps, uint32_t f,
                                   struct arena *texts)
{
    const struct trace_file *file = &trace->files[f];
    struct interval span = trace_file_span(trace, f);
    bool has_span = span.end_ns > span.start_ns || file->event_count > 0;
    struct file_row row = {
        .path = as_text(file->path),
        .format = as_text(file->format),
        .packing = as_text(packing_name(file->packing)),
        .packed_size = file->packed_size >= 0 ? file->packed_size : TABLE_INT_MISSING,
        .size = file->size,
        .producer = as_text(trace_producer_name(file->producer)),
        .host = as_text(file->host_name),
        .rank = file->rank >= 0 ? file->rank : TABLE_INT_MISSING,
        .world_size = known(file->world_size),
        .span_ns = has_span ? span.end_ns - span.start_ns : TABLE_INT_MISSING,
        .begin = as_text(info_begin(trace, f, texts)),
        .window_ns = file->has_window ? file->window_end_ns - file->window_start_ns : TABLE_INT_MISSING,
        .events = file->event_count,
    };
    set_steps(steps, f, &row);
    return row;
}

/* Are there several files, all of one format? Then the format is not shown for each. */
static bool have_one_format(const struct trace *trace)
{
    return !ANY_FROM(f, 1, trace->file_count, strcmp(trace->files[f].format, trace->files[0].format) != 0) &&
           trace->file_count > 1;
}

static struct table *file_table(const struct trace *trace)
{
    SCOPED struct file_row *rows = mem_zalloc(trace->file_count + 1, sizeof *rows);
    SCOPED_OBJECT struct step_list *steps = step_list_open(trace);
    SCOPED_ARENA struct arena texts = { 0 };
    for (uint32_t f = 0; f < trace->file_count; f++)
        rows[f] = file_row_of(trace, steps, f, &texts);
    for (size_t i = 0; i < trace->notice_count; i++)
        if (!trace->notices[i].of_all)
            rows[trace->notices[i].file].notices++;
    struct table *table = TABLE_OF_ROWS("files", "Files", file_columns, rows, trace->file_count);
    if (have_one_format(trace))
        TABLE_FLAG(table, struct file_row, format, TABLE_OPTIONAL);
    if (trace->file_count > 1) {
        SCOPED struct buffer text = { 0 };
        file_set_describe(file_set_of(trace), &text);
        table_add_text_footer(table, "set", "Together", text.at, text.count);
    }
    return table;
}

/* --- facts --------------------------------------------------------------------------------------------------- */

struct fact_row {
    struct text name, value;
    int64_t files;
};

static const struct table_column fact_columns[] = {
    COLUMN(struct fact_row, name, "fact", "Fact", TABLE_NAME, "name of the fact"),
    COLUMN(struct fact_row, value, "value", "Value", TABLE_TEXT, "its value, as recorded"),
    COLUMN(struct fact_row, files, "files", "Files", TABLE_COUNT, "files with this value"),
};

struct facts {
    VEC_OF(struct fact_row) rows;
    struct names *keys; /* key of each row: fact, NUL, value */
    struct arena texts;
};

/* Count one more file with VALUE for NAME. */
static void add_fact(struct facts *facts, const char *name, const char *value)
{
    enum { LONGEST = 200 };
    if (value == NULL || *value == '\0')
        return;
    SCOPED struct buffer text = { 0 };
    for (const char *c = value; *c && text.count < LONGEST; c++) {
        bool is_blank = *c == ' ' || *c == '\t' || *c == '\n' || *c == '\r';
        if (!is_blank)
            buffer_putc(&text, *c);
        else if (text.count > 0 && text.at[text.count - 1] != ' ')
            buffer_putc(&text, ' ');
    }
    if (text.count == LONGEST)
        buffer_puts(&text, "...");

    SCOPED struct buffer key = { 0 };
    buffer_add(&key, name, strlen(name) + 1);
    buffer_add(&key, text.at, text.count);
    name_id row = names_add(facts->keys, key.at, key.count);
    if (row == facts->rows.count) {
        const char *kept = names_text(facts->keys, row);
        *VEC_PUSH(&facts->rows) =
            (struct fact_row){ as_text(kept), { kept + strlen(name) + 1, text.count }, 0 };
    }
    assert(facts->rows.at);
    facts->rows.at[row].files++;
}

static void add_flag(struct facts *facts, const char *name, int value)
{
    if (value >= 0)
        add_fact(facts, name, value ? "yes" : "no");
}

/* CUDA writes its versions as 1000 * major + 10 * minor. */
const char *info_cuda_version(const char *value, struct arena *texts)
{
    int64_t version;
    if (!value)
        return NULL;
    if (!quantity_parse_integer(value, strlen(value), &version) || version < 1000 || version > 1000000)
        return arena_strndup(texts, value, strlen(value));
    return arena_printf(texts, "%" PRId64 ".%" PRId64, version / 1000, version % 1000 / 10);
}

/* Top-level keys that are reported elsewhere, or that only concern how viewers draw the file. */
static bool is_shown_elsewhere(const char *key)
{
    static const char *const keys[] = { "deviceProperties", "distributedInfo",     "record_shapes",
                                        "profile_memory",   "with_stack",          "with_flops",
                                        "with_modules",     "host_name",           "traceName",
                                        "trace_id",         "baseTimeNanoseconds", "displayTimeUnit" };
    return ANY(i, sizeof keys / sizeof *keys, strcmp(keys[i], key) == 0);
}

static void add_facts(const struct trace_file *file, struct facts *facts)
{
    add_fact(facts, "host", file->host_name);
    add_fact(facts, "distributed backend", file->backend);
    add_fact(facts, "NCCL version", file->nccl_version);
    add_flag(facts, "record_shapes", file->record_shapes);
    add_flag(facts, "profile_memory", file->profile_memory);
    add_flag(facts, "with_stack", file->with_stack);
    add_flag(facts, "with_flops", file->with_flops);
    add_flag(facts, "with_modules", file->with_modules);
    FOR_EACH(property, &file->properties) {
        if (strcmp(property->key, "cuda_runtime_version") == 0)
            add_fact(facts, "CUDA runtime", info_cuda_version(property->value, &facts->texts));
        else if (strcmp(property->key, "cuda_driver_version") == 0)
            add_fact(facts, "CUDA driver", info_cuda_version(property->value, &facts->texts));
        else if (!is_shown_elsewhere(property->key))
            add_fact(facts, property->key, property->value);
    }
}

static struct table *fact_table(const struct trace *trace)
{
    struct facts facts = { .keys = names_open() };
    for (uint32_t f = 0; f < trace->file_count; f++)
        add_facts(&trace->files[f], &facts);
    struct table *table = TABLE_OF_ROWS("facts", "Facts", fact_columns, facts.rows.at, facts.rows.count);
    if (trace->file_count == 1)
        TABLE_FLAG(table, struct fact_row, files, TABLE_OPTIONAL);
    names_free(facts.keys);
    arena_release(&facts.texts);
    VEC_FREE(&facts.rows);
    return table;
}

/* --- devices ------------------------------------------------------------------------------------------------- */

struct device_row {
    int64_t id;
    struct text name, compute;
    int64_t sms, memory, warp, threads_per_sm, registers_per_sm, shared_per_sm, streams, events, files;
};

/* clang-format off */
static const struct table_column device_columns[] = {
    COLUMN(struct device_row, id, "device", "Device", TABLE_COUNT, "number of the device"),
    COLUMN(struct device_row, name, "name", "Name", TABLE_NAME, "what it is"),
    COLUMN(struct device_row, compute, "compute_capability", "Compute", TABLE_TEXT, "compute capability"),
    COLUMN(struct device_row, sms, "sm_count", "SMs", TABLE_COUNT, "streaming multiprocessors (compute units)"),
    COLUMN(struct device_row, memory, "memory", "Memory", TABLE_BYTES, "memory of the device"),
    COLUMN(struct device_row, warp, "warp_size", "Warp", TABLE_COUNT, "threads in a warp", .flags = TABLE_OPTIONAL),
    COLUMN(struct device_row, threads_per_sm, "max_threads_per_sm", "Threads/SM", TABLE_COUNT, "most threads on an SM", .flags = TABLE_OPTIONAL),
    COLUMN(struct device_row, registers_per_sm, "registers_per_sm", "Registers/SM", TABLE_COUNT, "registers of an SM", .flags = TABLE_OPTIONAL),
    COLUMN(struct device_row, shared_per_sm, "shared_memory_per_sm", "Shared/SM", TABLE_BYTES, "shared memory of an SM", .flags = TABLE_OPTIONAL),
    COLUMN(struct device_row, streams, "streams", "Streams", TABLE_COUNT, "streams with events, over all files"),
    COLUMN(struct device_row, events, "events", "Events", TABLE_TALLY, "events on it: kernels, copies, waits ..., over all files"),
    COLUMN(struct device_row, files, "files", "Files", TABLE_COUNT, "files that have it", .flags = TABLE_OPTIONAL),
};
/* clang-format on */

/* The rows of devices: by number and name, and the first of each number. */
struct device_rows {
    VEC_OF(struct device_row) rows;
    struct names *keys;    /* the number, then the name if it is by name */
    VEC_OF(size_t) row_of; /* by key */
    struct buffer key;
    struct arena texts;
};

static void set_key(struct device_rows *devices, int64_t id, const char *name)
{
    buffer_clear(&devices->key);
    buffer_add(&devices->key, (const char *)&id, sizeof id);
    if (name)
        buffer_add(&devices->key, name, strlen(name) + 1);
}

/* The row of device ID called NAME (NULL: the first one, regardless of name), or SIZE_MAX. */
static size_t info_find_device(struct device_rows *devices, int64_t id, const char *name)
{
    set_key(devices, id, name);
    name_id key = names_find(devices->keys, devices->key.at, devices->key.count);
    return key == NAME_NONE ? SIZE_MAX : devices->row_of.at[key];
}

static void remember_device(struct device_rows *devices, int64_t id, const char *name, size_t row)
{
    set_key(devices, id, name);
    if (names_add(devices->keys, devices->key.at, devices->key.count) == devices->row_of.count)
        *VEC_PUSH(&devices->row_of) = row;
}

/* A row with only the number set. NAME may be NULL. */
static size_t info_add_device(struct device_rows *devices, int64_t id, const char *name)
{
    const int64_t missing = TABLE_INT_MISSING;
    size_t row = devices->rows.count;
    *VEC_PUSH(&devices->rows) = (struct device_row){ .id = id,
                                                     .sms = missing,
                                                     .memory = missing,
                                                     .warp = missing,
                                                     .threads_per_sm = missing,
                                                     .registers_per_sm = missing,
                                                     .shared_per_sm = missing };
    remember_device(devices, id, NULL, row);
    if (name)
        remember_device(devices, id, name, row);
    return row;
}

static void describe_device(const struct trace_device *device, struct device_row *row, struct arena *texts)
{
    row->name = as_text(device->name);
    if (device->compute_major > 0)
        row->compute = as_text(arena_printf(texts, "%d.%d", device->compute_major, device->compute_minor));
    row->sms = known(device->sm_count);
    row->memory = known(device->total_memory);
    row->warp = known(device->warp_size);
    row->threads_per_sm = known(device->max_threads_per_sm);
    row->registers_per_sm = known(device->regs_per_sm);
    row->shared_per_sm = known(device->shared_memory_per_sm);
}

/* A file lists all devices of its machine, used or not. */
static void add_listed_devices(struct device_rows *devices, const struct trace_file *file)
{
    FOR_EACH(device, &file->devices) {
        size_t row = info_find_device(devices, device->id, device->name);
        if (row == SIZE_MAX) {
            row = info_add_device(devices, device->id, device->name);
            describe_device(device, &devices->rows.at[row], &devices->texts);
        }
        devices->rows.at[row].files++;
    }
}

/* A device with events may be missing in the list. */
static struct table *device_table(const struct trace *trace)
{
    struct device_rows devices = { .keys = names_open() };
    for (size_t f = 0; f < trace->file_count; f++)
        add_listed_devices(&devices, &trace->files[f]);
    FOR_EACH_OF(track, trace->tracks, trace->track_count) {
        if (track->kind != TRACK_STREAM || track->event_count == 0)
            continue;
        const struct trace_device *device = trace_file_device(&trace->files[track->file], track->device);
        size_t row = info_find_device(&devices, track->device, device ? device->name : NULL);
        if (row == SIZE_MAX)
            row = info_add_device(&devices, track->device, NULL);
        devices.rows.at[row].streams++;
        devices.rows.at[row].events += track->event_count;
    }
    struct table *table =
        TABLE_OF_ROWS("devices", "Devices", device_columns, devices.rows.at, devices.rows.count);
    bool has_multiprocessors = trace_device_type(trace) == DEVICE_TYPE_CUDA;
    for (size_t i = 0; i < devices.rows.count; i++)
        has_multiprocessors |= devices.rows.at[i].sms != TABLE_INT_MISSING;
    if (!has_multiprocessors) {
        TABLE_FLAG(table, struct device_row, compute, TABLE_FOREIGN);
        TABLE_FLAG(table, struct device_row, sms, TABLE_FOREIGN);
    }
    names_free(devices.keys);
    EACH(VEC_FREE, &devices.rows, &devices.row_of);
    buffer_release(&devices.key);
    arena_release(&devices.texts);
    return table;
}

struct category_row {
    struct text category, kind;
    int64_t events;
};

/* clang-format off */
static const struct table_column category_columns[] = {
    COLUMN(struct category_row, category, "category", "Category", TABLE_NAME, "as recorded; missing if not recorded"),
    COLUMN(struct category_row, kind, "kind", "Taken as", TABLE_TEXT, "how tpa treats such events"),
    COLUMN(struct category_row, events, "events", "Events", TABLE_TALLY, "events of it"),
};
/* clang-format on */

/* Events of one category may be treated as different kinds, so a row is a pair of the two. */
static struct table *category_table(const struct trace *trace)
{
    struct table *table =
        TABLE_OF_ROWS("categories", "Events", category_columns, (struct category_row *)NULL, 0);
    size_t pairs = trace->category_count * EVENT_KINDS;
    int64_t *events = mem_zalloc(pairs + 1, sizeof *events);
    for (event_id e = 0; e < trace->event_count; e++)
        events[trace->category[e] * (size_t)EVENT_KINDS + trace->kind[e]]++;
    for (size_t pair = 0; pair < pairs; pair++) {
        if (events[pair] == 0)
            continue;
        name_id text = trace->categories[pair / EVENT_KINDS].text;
        size_t len = names_length(trace->texts, text);
        struct category_row row = { { len ? names_text(trace->texts, text) : NULL, len },
                                    as_text(event_kind_name(pair % EVENT_KINDS)),
                                    events[pair] };
        table_add_rows(table, &row, 1, sizeof row);
    }
    free(events);
    TABLE_SORT(table, struct category_row, events);
    table_add_footer(table, "names", "Distinct names", TABLE_TALLY,
                     table_int((int64_t)names_count(trace->names)));
    table_add_footer(table, "flows", "Flow arrows", TABLE_TALLY, table_int((int64_t)trace->flows_seen));
    table_add_footer(table, "samples", "Counter samples", TABLE_TALLY,
                     table_int((int64_t)trace->samples_seen));
    table_add_footer(table, "metadata", "Metadata events", TABLE_TALLY,
                     table_int((int64_t)trace->metadata_seen));
    return table;
}

/* --- tracks -------------------------------------------------------------------------------------------------- */

struct track_row {
    struct text track, process, kind;
    int64_t device, stream, events, span_ns, rank;
    struct text file;
};

/* clang-format off */
static const struct table_column track_columns[] = {
    COLUMN(struct track_row, track, "track", "Track", TABLE_NAME, "thread or stream"),
    COLUMN(struct track_row, process, "process", "Process", TABLE_NAME, "process or device it belongs to"),
    COLUMN(struct track_row, kind, "kind", "Kind", TABLE_TEXT, "thread, stream, or other: the profiler's own bookkeeping", .flags = TABLE_OPTIONAL),
    COLUMN(struct track_row, device, "device", "Device", TABLE_COUNT, "number of the device", .flags = TABLE_OPTIONAL),
    COLUMN(struct track_row, stream, "stream", "Stream", TABLE_COUNT, "number of the stream", .flags = TABLE_OPTIONAL),
    COLUMN(struct track_row, events, "events", "Events", TABLE_TALLY, "events on it"),
    COLUMN(struct track_row, span_ns, "span", "Span", TABLE_NS, "from the first start to the last end of an event on it"),
    COLUMN(struct track_row, rank, "rank", "Rank", TABLE_COUNT, "rank of the file", .flags = TABLE_OPTIONAL),
    COLUMN(struct track_row, file, "file", "File", TABLE_NAME, "file it comes from", .flags = TABLE_OPTIONAL),
};
/* clang-format on */

static const char *track_kind_name(enum track_kind kind)
{
    switch (kind) {
    case TRACK_THREAD: return "thread";
    case TRACK_STREAM: return "stream";
    default: return "other";
    }
}

/* The recorded name of a thread, else its number or text. TEXT is emptied first. */
static struct text track_text(const struct trace *trace, const struct track *track, struct buffer *text)
{
    const char *thread = names_text(trace->texts, track->thread_name);
    const char *tid_text = names_text(trace->texts, track->tid_text);
    buffer_clear(text);
    if (track->kind == TRACK_STREAM && track->stream >= 0)
        buffer_printf(text, "stream %" PRId64, track->stream);
    else if (*thread)
        buffer_puts(text, thread);
    else if (*tid_text)
        buffer_puts(text, tid_text);
    else
        buffer_printf(text, "thread %" PRId64, track->tid);
    return (struct text){ text->at, text->count };
}

/* The same for its process: name and number. */
static struct text process_text(const struct trace *trace, const struct track *track, struct buffer *text)
{
    const char *process = names_text(trace->texts, track->process_name);
    const char *pid_text = names_text(trace->texts, track->pid_text);
    buffer_clear(text);
    if (track->kind == TRACK_STREAM && track->device >= 0)
        buffer_printf(text, "device %" PRId32, track->device);
    else if (*pid_text)
        buffer_puts(text, pid_text);
    else
        buffer_printf(text, "%s%s%" PRId64, process, *process ? " " : "", track->pid);
    return (struct text){ text->at, text->count };
}

/* New; by track: from the first start to the last end. */
static struct interval *track_spans(const struct trace *trace)
{
    struct interval *spans = mem_zalloc(trace->track_count + 1, sizeof *spans);
    for (track_id t = 0; t < trace->track_count; t++)
        spans[t] = (struct interval){ INT64_MAX, INT64_MIN };
    for (event_id e = 0; e < trace->event_count; e++) {
        struct interval *span = &spans[trace->track[e]];
        if (trace_start_ns(trace, e) < span->start_ns)
            span->start_ns = trace_start_ns(trace, e);
        int64_t end_ns = trace_recorded_end_ns(trace, e);
        if (end_ns > span->end_ns)
            span->end_ns = end_ns;
    }
    return spans;
}

static struct table *track_table(const struct trace *trace)
{
    struct table *table = TABLE_OF_ROWS("tracks", "Tracks", track_columns, (struct track_row *)NULL, 0);
    struct interval *spans = track_spans(trace);
    struct buffer name = { 0 }, process = { 0 };
    for (track_id t = 0; t < trace->track_count; t++) {
        const struct track *track = &trace->tracks[t];
        bool is_stream = track->kind == TRACK_STREAM;
        struct track_row row = { .track = track_text(trace, track, &name),
                                 .process = process_text(trace, track, &process),
                                 .kind = as_text(track_kind_name(track->kind)),
                                 .device = is_stream ? track->device : TABLE_INT_MISSING,
                                 .stream = is_stream ? track->stream : TABLE_INT_MISSING,
                                 .events = track->event_count,
                                 .span_ns = difference_wrapped(spans[t].end_ns, spans[t].start_ns),
                                 .rank = selection_rank(trace, track->file),
                                 .file = as_text(trace->files[track->file].path) };
        if (track->event_count)
            table_add_rows(table, &row, 1, sizeof row);
    }
    EACH(buffer_release, &name, &process);
    free(spans);
    TABLE_SORT(table, struct track_row, events);
    return table;
}

static void add_unless_empty(struct result *result, struct table *table)
{
    if (table->row_count > 0)
        result_add_table(result, table);
    else
        table_free(table);
}

void info_add_tables(const struct trace *trace, struct result *result)
{
    add_unless_empty(result, file_table(trace));
    add_unless_empty(result, fact_table(trace));
    add_unless_empty(result, device_table(trace));
    add_unless_empty(result, category_table(trace));
    add_unless_empty(result, track_table(trace));
    info_add_container_table(trace, result);
}

const struct table_shape info_tables[] = {
    TABLE_SHAPE("files", file_columns),     TABLE_SHAPE("facts", fact_columns),
    TABLE_SHAPE("devices", device_columns), TABLE_SHAPE("categories", category_columns),
    TABLE_SHAPE("tracks", track_columns),   { 0 },
};
