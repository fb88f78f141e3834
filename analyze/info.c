/*
 * info.c - one table per thing that a trace is made of. What many files say alike (a thousand ranks on one kind of
 * GPU) becomes one row that counts the files.
 */
#include "analyze/info.h"

#include "analyze/selection.h"
#include "base/memory.h"
#include "base/names.h"
#include "base/source.h"
#include "trace/span.h"
#include "facts/step_list.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SECOND_NS INT64_C(1000000000)

static void set_text(struct table *table, size_t row, size_t column, const char *text)
{
    if (text)
        table_set_text(table, row, column, text, strlen(text));
}

/* --- files --------------------------------------------------------------------------------------------------- */

enum file_column {
    FILE_PATH,
    FILE_FORMAT,
    FILE_PACKING,
    FILE_PACKED_SIZE,
    FILE_SIZE,
    FILE_PRODUCER,
    FILE_HOST,
    FILE_RANK,
    FILE_WORLD_SIZE,
    FILE_BEGIN,
    FILE_SPAN,
    FILE_WINDOW,
    FILE_STEPS,
    FILE_FIRST_STEP,
    FILE_LAST_STEP,
    FILE_STEP_TIME,
    FILE_EVENTS,
    FILE_NOTICES,
};

/* clang-format off */
static const struct table_column file_columns[] = {
    [FILE_PATH] = { "file", "File", TABLE_NAME, "the file" },
    [FILE_FORMAT] = { "format", "Format", TABLE_TEXT, "how it is written" },
    [FILE_PACKING] = { "packing", "Packing", TABLE_TEXT, "plain, gzip or zstd", TABLE_OPTIONAL },
    [FILE_PACKED_SIZE] = { "packed_size", "On disk", TABLE_BYTES, "size on disk" },
    [FILE_SIZE] = { "size", "Unpacked", TABLE_BYTES, "size of the text in it", TABLE_OPTIONAL },
    [FILE_PRODUCER] = { "producer", "Producer", TABLE_TEXT, "the profiler that wrote it" },
    [FILE_HOST] = { "host", "Host", TABLE_TEXT, "name of the machine", TABLE_OPTIONAL },
    [FILE_RANK] = { "rank", "Rank", TABLE_COUNT, "rank of the process in its job" },
    [FILE_WORLD_SIZE] = { "world_size", "of", TABLE_COUNT, "number of ranks in the job", TABLE_OPTIONAL },
    [FILE_BEGIN] = { "begin", "Begin (UTC)", TABLE_TEXT, "date and time of the first event", TABLE_OPTIONAL },
    [FILE_SPAN] = { "span", "Span", TABLE_NS, "from the first start to the last end of an event" },
    [FILE_WINDOW] = { "window", "Recorded", TABLE_NS, "how long the profiler says it recorded", TABLE_OPTIONAL },
    [FILE_STEPS] = { "steps", "Steps", TABLE_COUNT, "steps marked by ProfilerStep#N" },
    [FILE_FIRST_STEP] = { "first_step", "First", TABLE_COUNT, "the lowest number of a step", TABLE_OPTIONAL },
    [FILE_LAST_STEP] = { "last_step", "Last", TABLE_COUNT, "the highest number of a step", TABLE_OPTIONAL },
    [FILE_STEP_TIME] = { "step_annotation_avg", "Step annotation", TABLE_NS, "mean duration of the annotations ProfilerStep#N; what steps take with the work they launched is in tpa steps", 0, "step_time_avg" },
    [FILE_EVENTS] = { "events", "Events", TABLE_COUNT, "events read, without flow arrows, counters and metadata" },
    [FILE_NOTICES] = { "notices", "Notices", TABLE_COUNT, "kinds of oddities met, told below", TABLE_OPTIONAL },
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

static void set_steps(const struct step_list *steps, uint32_t file, struct table *table, size_t row)
{
    int64_t count = 0, first = INT64_MAX, last = INT64_MIN;
    double sum_ns = 0;
    for (size_t i = 0; i < steps->count; i++) {
        const struct step *step = &steps->at[i];
        if (step->file != file)
            continue;
        count++;
        first = step->number < first ? step->number : first;
        last = step->number > last ? step->number : last;
        sum_ns += (double)(step->end_ns - step->start_ns);
    }
    table_set_int(table, row, FILE_STEPS, count);
    if (count > 0) {
        table_set_int(table, row, FILE_FIRST_STEP, first);
        table_set_int(table, row, FILE_LAST_STEP, last);
        table_set_int(table, row, FILE_STEP_TIME, (int64_t)(sum_ns / (double)count + 0.5));
    }
}

/*
 * When the first event was, as a date: from the base that the file tells, or, where there is none, from times that are
 * plainly counted from 1970: 2001 or later.
 */
static void set_begin(const struct trace *trace, uint32_t file, int64_t origin_ns, struct table *table,
                      size_t row)
{
    const struct trace_file *of = &trace->files[file];
    int64_t at_ns = origin_ns;
    if (of->has_base && __builtin_add_overflow(of->base_ns, origin_ns, &at_ns))
        return;
    if (at_ns < 1000000000 * SECOND_NS)
        return;
    time_t seconds = (time_t)(at_ns / SECOND_NS);
    struct tm parts;
    char text[64];
    if (gmtime_r(&seconds, &parts) && strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &parts) > 0)
        set_text(table, row, FILE_BEGIN, text);
}

static void add_file(const struct trace *trace, const struct step_list *steps, uint32_t f,
                     struct table *table)
{
    const struct trace_file *file = &trace->files[f];
    size_t row = table_add_row(table);
    set_text(table, row, FILE_PATH, file->path);
    set_text(table, row, FILE_FORMAT, file->format);
    set_text(table, row, FILE_PACKING, packing_name(file->packing));
    if (file->packed_size >= 0)
        table_set_int(table, row, FILE_PACKED_SIZE, file->packed_size);
    table_set_int(table, row, FILE_SIZE, file->size);
    set_text(table, row, FILE_PRODUCER, trace_producer_name(file->producer));
    set_text(table, row, FILE_HOST, file->host_name);
    if (file->rank >= 0)
        table_set_int(table, row, FILE_RANK, file->rank);
    if (file->world_size > 0)
        table_set_int(table, row, FILE_WORLD_SIZE, file->world_size);
    struct interval span = trace_file_span(trace, f);
    if (span.end_ns > span.start_ns || file->event_count > 0)
        table_set_int(table, row, FILE_SPAN, span.end_ns - span.start_ns);
    set_begin(trace, f, span.start_ns, table, row);
    if (file->has_window)
        table_set_int(table, row, FILE_WINDOW, file->window_end_ns - file->window_start_ns);
    set_steps(steps, f, table, row);
    table_set_int(table, row, FILE_EVENTS, file->event_count);
    table_set_int(table, row, FILE_NOTICES, 0);
}

static void count_notices(const struct trace *trace, struct table *table)
{
    for (size_t i = 0; i < trace->notice_count; i++)
        if (!trace->notices[i].of_all)
            table_cell(table, trace->notices[i].file, FILE_NOTICES)->i++;
}

/* Are there several files, all of one format? Then there is no need to say it of each. */
static bool have_one_format(const struct trace *trace)
{
    for (size_t f = 1; f < trace->file_count; f++)
        if (strcmp(trace->files[f].format, trace->files[0].format) != 0)
            return false;
    return trace->file_count > 1;
}

/* --- facts --------------------------------------------------------------------------------------------------- */

enum fact_column { FACT_NAME, FACT_VALUE, FACT_FILES };

static const struct table_column fact_columns[] = {
    [FACT_NAME] = { "fact", "Fact", TABLE_NAME, "what the file says about itself" },
    [FACT_VALUE] = { "value", "Value", TABLE_TEXT, "as the file says it" },
    [FACT_FILES] = { "files", "Files", TABLE_COUNT, "files that say so" },
};

struct facts {
    struct table *table;
    struct names *rows; /* of each row its fact, NUL, and its value */
};

/* Count one more file that says VALUE of NAME. */
static void add_fact(struct facts *facts, const char *name, const char *value)
{
    enum { LONGEST = 200 };
    if (value == NULL || *value == '\0')
        return;
    struct buffer text = { 0 };
    for (const char *c = value; *c && text.count < LONGEST; c++) {
        bool is_blank = *c == ' ' || *c == '\t' || *c == '\n' || *c == '\r';
        if (!is_blank)
            buffer_putc(&text, *c);
        else if (text.count > 0 && text.at[text.count - 1] != ' ')
            buffer_putc(&text, ' ');
    }
    if (text.count == LONGEST)
        buffer_puts(&text, "...");

    struct buffer key = { 0 };
    buffer_add(&key, name, strlen(name) + 1);
    buffer_add(&key, text.at, text.count);
    struct table *table = facts->table;
    size_t row = names_add(facts->rows, key.at, key.count);
    if (row == table->row_count) {
        table_add_row(table);
        set_text(table, row, FACT_NAME, name);
        set_text(table, row, FACT_VALUE, text.at);
        table_set_int(table, row, FACT_FILES, 0);
    }
    table_cell(table, row, FACT_FILES)->i++;
    buffer_release(&key);
    buffer_release(&text);
}

static void add_flag(struct facts *facts, const char *name, int value)
{
    if (value >= 0)
        add_fact(facts, name, value ? "yes" : "no");
}

/* CUDA writes its versions as 1000 * major + 10 * minor. */
static void add_cuda_version(struct facts *facts, const char *name, const char *value)
{
    char text[32];
    int64_t version;
    if (!quantity_parse_integer(value, strlen(value), &version) || version < 1000 || version > 1000000) {
        add_fact(facts, name, value);
        return;
    }
    snprintf(text, sizeof text, "%" PRId64 ".%" PRId64, version / 1000, version % 1000 / 10);
    add_fact(facts, name, text);
}

/* Top-level keys that are told elsewhere, or that only say how the file is to be drawn. */
static bool is_told_elsewhere(const char *key)
{
    static const char *const keys[] = { "deviceProperties", "distributedInfo",     "record_shapes",
                                        "profile_memory",   "with_stack",          "with_flops",
                                        "with_modules",     "host_name",           "traceName",
                                        "trace_id",         "baseTimeNanoseconds", "displayTimeUnit" };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(keys[i], key) == 0)
            return true;
    return false;
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
    for (size_t i = 0; i < file->properties.count; i++) {
        const struct trace_property *property = &file->properties.at[i];
        if (strcmp(property->key, "cuda_runtime_version") == 0)
            add_cuda_version(facts, "CUDA runtime", property->value);
        else if (strcmp(property->key, "cuda_driver_version") == 0)
            add_cuda_version(facts, "CUDA driver", property->value);
        else if (!is_told_elsewhere(property->key))
            add_fact(facts, property->key, property->value);
    }
}

/* --- devices ------------------------------------------------------------------------------------------------- */

enum device_column {
    DEVICE_ID,
    DEVICE_NAME,
    DEVICE_COMPUTE,
    DEVICE_SMS,
    DEVICE_MEMORY,
    DEVICE_WARP,
    DEVICE_THREADS_PER_SM,
    DEVICE_REGISTERS_PER_SM,
    DEVICE_SHARED_PER_SM,
    DEVICE_STREAMS,
    DEVICE_EVENTS,
    DEVICE_FILES,
};

/* clang-format off */
static const struct table_column device_columns[] = {
    [DEVICE_ID] = { "device", "Device", TABLE_COUNT, "number of the device" },
    [DEVICE_NAME] = { "name", "Name", TABLE_NAME, "what it is" },
    [DEVICE_COMPUTE] = { "compute_capability", "Compute", TABLE_TEXT, "compute capability" },
    [DEVICE_SMS] = { "sm_count", "SMs", TABLE_COUNT, "streaming multiprocessors (compute units)" },
    [DEVICE_MEMORY] = { "memory", "Memory", TABLE_BYTES, "memory of the device" },
    [DEVICE_WARP] = { "warp_size", "Warp", TABLE_COUNT, "threads in a warp", TABLE_OPTIONAL },
    [DEVICE_THREADS_PER_SM] = { "max_threads_per_sm", "Threads/SM", TABLE_COUNT, "most threads on an SM", TABLE_OPTIONAL },
    [DEVICE_REGISTERS_PER_SM] = { "registers_per_sm", "Registers/SM", TABLE_COUNT, "registers of an SM", TABLE_OPTIONAL },
    [DEVICE_SHARED_PER_SM] = { "shared_memory_per_sm", "Shared/SM", TABLE_BYTES, "shared memory of an SM", TABLE_OPTIONAL },
    [DEVICE_STREAMS] = { "streams", "Streams", TABLE_COUNT, "streams with events, over all files" },
    [DEVICE_EVENTS] = { "events", "Events", TABLE_COUNT, "events on it: kernels, copies, waits ..., over all files" },
    [DEVICE_FILES] = { "files", "Files", TABLE_COUNT, "files that have it", TABLE_OPTIONAL },
};
/* clang-format on */

static void set_known(struct table *table, size_t row, enum device_column column, int64_t value)
{
    if (value > 0)
        table_set_int(table, row, column, value);
}

/* The rows of devices: by number and name, and the first of each number. */
struct device_rows {
    struct table *table;
    struct names *keys;  /* the number, then the name if it is by name */
    VEC_OF(size_t) rows; /* of each key */
    struct buffer key;
};

static void set_key(struct device_rows *devices, int64_t id, const char *name)
{
    buffer_clear(&devices->key);
    buffer_add(&devices->key, (const char *)&id, sizeof id);
    if (name)
        buffer_add(&devices->key, name, strlen(name) + 1);
}

/* The row of device ID called NAME (NULL: the first one, whatever its name), or SIZE_MAX. */
static size_t find_device(struct device_rows *devices, int64_t id, const char *name)
{
    set_key(devices, id, name);
    name_id key = names_find(devices->keys, devices->key.at, devices->key.count);
    return key == NAME_NONE ? SIZE_MAX : devices->rows.at[key];
}

static void remember_device(struct device_rows *devices, int64_t id, const char *name, size_t row)
{
    set_key(devices, id, name);
    if (names_add(devices->keys, devices->key.at, devices->key.count) == devices->rows.count)
        *VEC_PUSH(&devices->rows) = row;
}

/* NAME may be NULL. */
static size_t add_device(struct device_rows *devices, int64_t id, const char *name)
{
    struct table *table = devices->table;
    size_t row = table_add_row(table);
    table_set_int(table, row, DEVICE_ID, id);
    table_set_int(table, row, DEVICE_STREAMS, 0);
    table_set_int(table, row, DEVICE_EVENTS, 0);
    table_set_int(table, row, DEVICE_FILES, 0);
    remember_device(devices, id, NULL, row);
    if (name)
        remember_device(devices, id, name, row);
    return row;
}

static void describe_device(const struct trace_device *device, struct table *table, size_t row)
{
    char compute[32];
    set_text(table, row, DEVICE_NAME, device->name);
    if (device->compute_major > 0) {
        snprintf(compute, sizeof compute, "%d.%d", device->compute_major, device->compute_minor);
        set_text(table, row, DEVICE_COMPUTE, compute);
    }
    set_known(table, row, DEVICE_SMS, device->sm_count);
    set_known(table, row, DEVICE_MEMORY, device->total_memory);
    set_known(table, row, DEVICE_WARP, device->warp_size);
    set_known(table, row, DEVICE_THREADS_PER_SM, device->max_threads_per_sm);
    set_known(table, row, DEVICE_REGISTERS_PER_SM, device->regs_per_sm);
    set_known(table, row, DEVICE_SHARED_PER_SM, device->shared_memory_per_sm);
}

/* A file lists all devices of its machine, used or not; a device with events may be listed nowhere. */
static void add_devices(const struct trace *trace, struct table *table)
{
    struct device_rows devices = { .table = table, .keys = names_open() };
    for (size_t f = 0; f < trace->file_count; f++) {
        for (size_t i = 0; i < trace->files[f].devices.count; i++) {
            const struct trace_device *device = &trace->files[f].devices.at[i];
            size_t row = find_device(&devices, device->id, device->name);
            if (row == SIZE_MAX) {
                row = add_device(&devices, device->id, device->name);
                describe_device(device, table, row);
            }
            table_cell(table, row, DEVICE_FILES)->i++;
        }
    }
    for (track_id t = 0; t < trace->track_count; t++) {
        const struct track *track = &trace->tracks[t];
        if (track->kind != TRACK_STREAM || track->event_count == 0)
            continue;
        const struct trace_device *device = trace_file_device(&trace->files[track->file], track->device);
        size_t row = find_device(&devices, track->device, device ? device->name : NULL);
        if (row == SIZE_MAX)
            row = add_device(&devices, track->device, NULL);
        table_cell(table, row, DEVICE_STREAMS)->i++;
        table_cell(table, row, DEVICE_EVENTS)->i += track->event_count;
    }
    names_free(devices.keys);
    VEC_FREE(&devices.rows);
    buffer_release(&devices.key);
}

/* --- categories ---------------------------------------------------------------------------------------------- */

enum category_column { CATEGORY_NAME, CATEGORY_KIND, CATEGORY_EVENTS };

static const struct table_column category_columns[] = {
    [CATEGORY_NAME] = { "category", "Category", TABLE_NAME,
                        "as the file writes it; missing where it writes none" },
    [CATEGORY_KIND] = { "kind", "Taken as", TABLE_TEXT, "what tpa takes such events for" },
    [CATEGORY_EVENTS] = { "events", "Events", TABLE_COUNT, "events of it" },
};

/* Events of one category may be taken for different kinds, so a row is a pair of the two. */
static void add_categories(const struct trace *trace, struct table *table)
{
    size_t pairs = trace->category_count * EVENT_KINDS;
    int64_t *events = mem_zalloc(pairs + 1, sizeof *events);
    for (event_id e = 0; e < trace->event_count; e++)
        events[trace->category[e] * (size_t)EVENT_KINDS + trace->kind[e]]++;
    for (size_t pair = 0; pair < pairs; pair++) {
        if (events[pair] == 0)
            continue;
        name_id text = trace->categories[pair / EVENT_KINDS].text;
        size_t row = table_add_row(table);
        if (names_length(trace->texts, text) > 0)
            table_set_text(table, row, CATEGORY_NAME, names_text(trace->texts, text),
                           names_length(trace->texts, text));
        set_text(table, row, CATEGORY_KIND, event_kind_name(pair % EVENT_KINDS));
        table_set_int(table, row, CATEGORY_EVENTS, events[pair]);
    }
    free(events);
    table_sort(table, CATEGORY_EVENTS, false);
    table_add_footer(table, "names", "Distinct names", TABLE_COUNT,
                     table_int((int64_t)names_count(trace->names)));
    table_add_footer(table, "flows", "Flow arrows", TABLE_COUNT, table_int((int64_t)trace->flows_seen));
    table_add_footer(table, "samples", "Counter samples", TABLE_COUNT,
                     table_int((int64_t)trace->samples_seen));
    table_add_footer(table, "metadata", "Metadata events", TABLE_COUNT,
                     table_int((int64_t)trace->metadata_seen));
}

/* --- tracks -------------------------------------------------------------------------------------------------- */

enum track_column {
    TRACK_NAME,
    TRACK_PROCESS,
    TRACK_KIND,
    TRACK_DEVICE,
    TRACK_STREAM_NUMBER,
    TRACK_EVENTS,
    TRACK_SPAN,
    TRACK_RANK,
    TRACK_FILE,
};

/* clang-format off */
static const struct table_column track_columns[] = {
    [TRACK_NAME] = { "track", "Track", TABLE_NAME, "thread or stream" },
    [TRACK_PROCESS] = { "process", "Process", TABLE_NAME, "process or device it belongs to" },
    [TRACK_KIND] = { "kind", "Kind", TABLE_TEXT, "thread, stream, or other: the profiler's own bookkeeping", TABLE_OPTIONAL },
    [TRACK_DEVICE] = { "device", "Device", TABLE_COUNT, "number of the device", TABLE_OPTIONAL },
    [TRACK_STREAM_NUMBER] = { "stream", "Stream", TABLE_COUNT, "number of the stream", TABLE_OPTIONAL },
    [TRACK_EVENTS] = { "events", "Events", TABLE_COUNT, "events on it" },
    [TRACK_SPAN] = { "span", "Span", TABLE_NS, "from the first start to the last end of an event on it" },
    [TRACK_RANK] = { "rank", "Rank", TABLE_COUNT, "rank of the file", TABLE_OPTIONAL },
    [TRACK_FILE] = { "file", "File", TABLE_NAME, "file it comes from", TABLE_OPTIONAL },
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

/* What a process or thread is called, as far as the file tells: its name and its number or text. */
static void set_names(const struct trace *trace, const struct track *track, struct table *table, size_t row)
{
    struct buffer text = { 0 };
    const char *thread = names_text(trace->texts, track->thread_name);
    const char *tid_text = names_text(trace->texts, track->tid_text);
    if (track->kind == TRACK_STREAM && track->stream >= 0)
        buffer_printf(&text, "stream %" PRId64, track->stream);
    else if (*thread)
        buffer_puts(&text, thread);
    else if (*tid_text)
        buffer_puts(&text, tid_text);
    else
        buffer_printf(&text, "thread %" PRId64, track->tid);
    table_set_text(table, row, TRACK_NAME, text.at, text.count);

    buffer_clear(&text);
    const char *process = names_text(trace->texts, track->process_name);
    const char *pid_text = names_text(trace->texts, track->pid_text);
    if (track->kind == TRACK_STREAM && track->device >= 0)
        buffer_printf(&text, "device %" PRId32, track->device);
    else if (*pid_text)
        buffer_puts(&text, pid_text);
    else
        buffer_printf(&text, "%s%s%" PRId64, process, *process ? " " : "", track->pid);
    table_set_text(table, row, TRACK_PROCESS, text.at, text.count);
    buffer_release(&text);
}

static void add_tracks(const struct trace *trace, struct table *table)
{
    struct interval *spans = mem_alloc((trace->track_count + 1) * sizeof *spans);
    for (track_id t = 0; t < trace->track_count; t++)
        spans[t] = (struct interval){ INT64_MAX, INT64_MIN };
    for (event_id e = 0; e < trace->event_count; e++) {
        struct interval *span = &spans[trace->track[e]];
        if (trace->start_ns[e] < span->start_ns)
            span->start_ns = trace->start_ns[e];
        int64_t end_ns = trace_recorded_end_ns(trace, e);
        if (end_ns > span->end_ns)
            span->end_ns = end_ns;
    }
    for (track_id t = 0; t < trace->track_count; t++) {
        const struct track *track = &trace->tracks[t];
        if (track->event_count == 0)
            continue;
        size_t row = table_add_row(table);
        set_names(trace, track, table, row);
        set_text(table, row, TRACK_KIND, track_kind_name(track->kind));
        if (track->kind == TRACK_STREAM) {
            table_set_int(table, row, TRACK_DEVICE, track->device);
            table_set_int(table, row, TRACK_STREAM_NUMBER, track->stream);
        }
        table_set_int(table, row, TRACK_EVENTS, track->event_count);
        table_set_int(table, row, TRACK_SPAN, spans[t].end_ns - spans[t].start_ns);
        table_set_int(table, row, TRACK_RANK, selection_rank(trace, track->file));
        set_text(table, row, TRACK_FILE, trace->files[track->file].path);
    }
    free(spans);
    table_sort(table, TRACK_EVENTS, false);
}

/* --- the whole ----------------------------------------------------------------------------------------------- */

static void add_unless_empty(struct result *result, struct table *table)
{
    if (table->row_count > 0)
        result_add_table(result, table);
    else
        table_free(table);
}

#define OPEN(key, title, columns) table_open(key, title, columns, sizeof(columns) / sizeof *(columns))

void info_add_tables(const struct trace *trace, struct result *result)
{
    struct table *files = OPEN("files", "Files", file_columns);
    struct facts facts = { OPEN("facts", "Facts", fact_columns), names_open() };
    struct table *devices = OPEN("devices", "Devices", device_columns);
    struct table *categories = OPEN("categories", "Events", category_columns);
    struct table *tracks = OPEN("tracks", "Tracks", track_columns);
    struct step_list *steps = step_list_open(trace);
    for (uint32_t f = 0; f < trace->file_count; f++) {
        add_file(trace, steps, f, files);
        add_facts(&trace->files[f], &facts);
    }
    count_notices(trace, files);
    names_free(facts.rows);
    step_list_free(steps);
    if (have_one_format(trace))
        files->columns[FILE_FORMAT].flags |= TABLE_OPTIONAL;
    if (trace->file_count == 1)
        facts.table->columns[FACT_FILES].flags |= TABLE_OPTIONAL;
    add_devices(trace, devices);
    add_categories(trace, categories);
    add_tracks(trace, tracks);
    add_unless_empty(result, files);
    add_unless_empty(result, facts.table);
    add_unless_empty(result, devices);
    add_unless_empty(result, categories);
    add_unless_empty(result, tracks);
    info_add_container_table(trace, result);
}
