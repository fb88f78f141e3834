/*
 * rocpd.c - the database that rocprofv3 (ROCm 7) and rocprof-sys write; for RPD see rpd.c.
 *
 * Every recorded process has a set of tables whose names end in its guid (rocpd_region_00000450_565d_...); several
 * sets may lie in a file. Views without an ending show one of them or all; they are code and are not used.
 *
 *     rocpd_event        id, category_id, stack_id, extdata     common part of regions and work
 *     rocpd_region       tid, start, end, name_id, event_id     calls; markers, whose text is in extdata
 *     rocpd_kernel_dispatch, rocpd_memory_copy, rocpd_memory_allocate, rocpd_sample, rocpd_pmc_event
 *     rocpd_string, rocpd_info_process, _thread, _agent, _kernel_symbol, _pmc, _node
 *
 * Work was launched by the call whose event has the same stack_id, not the same correlation_id. Learnt from schema
 * versions 3.0.0 to 3.0.5.
 */
#define _GNU_SOURCE /* strcasestr */
#include "ingest/sqlite_open.h"
#include "base/search.h"
#include "base/rows.h"

#include "ingest/json_text.h"
#include "ingest/rocm.h"
#include "ingest/step_guess.h"
#include <inttypes.h>
#include <strings.h>

/* A row that others refer to by its id. The meaning of the fields depends on the table. */
struct row {
    int64_t id, number, more;
    const char *text;
};

struct rows {
    VEC_OF(struct row); /* by id */
};

struct rocpd {
    struct database *db;
    struct trace_builder *builder;
    const struct ingest_options *options;
    const char *ending; /* suffix of the names of the set's tables: "_00000450_..." */
    struct recorder *recorder;
    struct step_guess *guess; /* of the file, all sets together */
    struct arena arena;
    struct rows strings, threads, agents, kernels, pmcs;
    struct rows events; /* number: category, more: stack; text: the marker's message */
    struct rows times; /* of events of work: number: when, more: the device. Only where counters are wanted */
    int64_t pid;
    uint64_t no_event, no_symbol;
};

/* ---- rows ---- */

static const struct key rocpd_by_id[] = { ASC(struct row, id), KEY_END };

/* The row of this id; NULL: none. Ids are usually consecutive. */
static const struct row *rocpd_find_row(const struct rows *rows, int64_t id)
{
    if (rows->count == 0)
        return NULL;
    uint64_t place = (uint64_t)id - (uint64_t)rows->at[0].id;
    if (place < rows->count && rows->at[place].id == id)
        return &rows->at[place];
    size_t i = PLACE(k, rows->count, rows->at[k].id < id);
    return i < rows->count && rows->at[i].id == id ? &rows->at[i] : NULL;
}

static const char *rocpd_text_of(const struct rows *rows, int64_t id, const char *missing)
{
    const struct row *row = rocpd_find_row(rows, id);
    return row && row->text ? row->text : missing;
}

static bool begin(struct rocpd *rocpd, struct table_scan *scan, const char *table, const char *const *columns,
                  size_t count)
{
    char name[160];
    snprintf(name, sizeof name, "rocpd_%s%s", table, rocpd->ending);
    return table_scan_begin(rocpd->db, scan, name, columns, count);
}

static const char *keep_text(struct rocpd *rocpd, struct table_scan *scan, size_t column)
{
    size_t len;
    const char *text = table_scan_text(scan, column, &len);
    return text ? arena_strndup(&rocpd->arena, text, len) : NULL;
}

/* Read a table with an id, one or two numbers and a text; columns may be NULL. */
static void rocpd_read_rows(struct rocpd *rocpd, const char *table, const char *number, const char *more,
                            const char *text, struct rows *rows)
{
    enum { ID, NUMBER, MORE, TEXT, COLUMNS };
    const char *const columns[COLUMNS] = { "id", number, more, text };
    FOR_ROWS(scan, begin(rocpd, &scan, table, columns, COLUMNS), true) {
        int64_t id;
        if (table_scan_int(&scan, ID, &id))
            *VEC_PUSH(rows) =
                (struct row){ id, table_scan_int_or(&scan, NUMBER, RECORDER_NONE),
                              table_scan_int_or(&scan, MORE, RECORDER_NONE), keep_text(rocpd, &scan, TEXT) };
    }
    SORT(rows, rocpd_by_id);
}

/* ---- facts ---- */

static void rocpd_read_agents(struct rocpd *rocpd)
{
    enum { ID, TYPE, INDEX, NAME, PRODUCT, COLUMNS };
    static const char *const columns[COLUMNS] = { "id", "type", "type_index", "name", "product_name" };
    struct trace_file *file = trace_builder_current_file(rocpd->builder);
    FOR_ROWS(scan, begin(rocpd, &scan, "info_agent", columns, COLUMNS), true) {
        size_t len;
        const char *type = table_scan_text(&scan, TYPE, &len);
        bool is_gpu = type && strcasecmp(type, "GPU") == 0;
        int64_t index = table_scan_int_or(&scan, INDEX, -1);
        *VEC_PUSH(&rocpd->agents) =
            (struct row){ table_scan_int_or(&scan, ID, -1), is_gpu ? index : -1, 0, NULL };
        const char *name = table_scan_text(&scan, PRODUCT, &len);
        if (!name || !len)
            name = table_scan_text(&scan, NAME, &len);
        if (is_gpu && index >= 0 && index <= INT32_MAX && file->devices.count < 1024)
            *VEC_PUSH(&file->devices) = (struct trace_device){
                .id = (int32_t)index, .name = name ? trace_builder_strndup(rocpd->builder, name, len) : NULL
            };
    }
    SORT(&rocpd->agents, rocpd_by_id);
}

/* The process: its id and command. */
static char *rocpd_read_process(struct rocpd *rocpd)
{
    enum { PID, COMMAND, COLUMNS };
    static const char *const columns[COLUMNS] = { "pid", "command" };
    struct table_scan scan;
    size_t len;
    char *command = NULL;
    if (begin(rocpd, &scan, "info_process", columns, COLUMNS) && table_scan_next(&scan)) {
        rocpd->pid = table_scan_int_or(&scan, PID, 0);
        const char *text = table_scan_text(&scan, COMMAND, &len);
        size_t word = text ? strcspn(text, " ") : 0;
        command = word ? mem_strndup(text, word) : NULL;
        if (word)
            *VEC_PUSH(&trace_builder_current_file(rocpd->builder)->properties) =
                (struct trace_property){ "command", trace_builder_strndup(rocpd->builder, text, len), true };
    }
    table_scan_end(&scan);
    return command;
}

static void rocpd_read_node(struct rocpd *rocpd)
{
    static const char *const columns[] = { "hostname" };
    struct table_scan scan;
    size_t len;
    if (begin(rocpd, &scan, "info_node", columns, 1) && table_scan_next(&scan)) {
        const char *name = table_scan_text(&scan, 0, &len);
        if (name)
            trace_builder_current_file(rocpd->builder)->host_name =
                trace_builder_strndup(rocpd->builder, name, len);
    }
    table_scan_end(&scan);
}

/* The schema, and whether it is supported. */
static bool read_schema(struct rocpd *rocpd, struct tpa_error *err)
{
    enum { TAG, VALUE, COLUMNS };
    static const char *const columns[COLUMNS] = { "tag", "value" };
    struct trace_file *file = trace_builder_current_file(rocpd->builder);
    bool ok = true;
    FOR_ROWS(scan, begin(rocpd, &scan, "metadata", columns, COLUMNS), ok) {
        const char *tag = keep_text(rocpd, &scan, TAG), *value = keep_text(rocpd, &scan, VALUE);
        if (!tag || !value)
            continue;
        if (strcmp(tag, "schema_version") == 0) {
            *VEC_PUSH(&file->properties) =
                (struct trace_property){ "rocpd schema",
                                         trace_builder_strndup(rocpd->builder, value, strlen(value)), true };
            if (strtol(value, NULL, 10) > 3)
                trace_builder_notice(
                    rocpd->builder, "newer_schema",
                    "the schema of this database is newer than those that tpa knows (3.0.x); "
                    "tables that have kept their names are read",
                    1, TPA_NOWHERE);
        } else if (strcasestr(tag, "compress") && strcasecmp(value, "none") != 0) {
            tpa_fail(err, TPA_NOWHERE,
                     "this rocpd database is compressed inside (%.60s), which tpa does not read", value);
            tpa_hint(err, "write it without compression, or as JSON: rocprofv3 --output-format json");
            ok = tpa_unread(err, TPA_LEFT_OUT);
        }
    }
    return ok;
}

/* "message" of the JSON in extdata; NULL if there is none. */
static const char *message_of(struct rocpd *rocpd, const char *json, size_t len, struct buffer *buffer)
{
    struct json_pull in = { json, json + len };
    struct json_text key, value;
    const char *message = NULL;
    if (len > 2 && json_enter(&in, '{'))
        while (json_next_key(&in, &key)) {
            if (!json_text_is(&key, "message")) {
                if (!json_skip(&in))
                    break;
                continue;
            }
            if (!json_read(&in, &value))
                break;
            json_text_decode(&value, buffer);
            message = arena_strndup(&rocpd->arena, buffer->at, strlen(buffer->at));
        }
    return message;
}

static void rocpd_read_events(struct rocpd *rocpd)
{
    enum { ID, CATEGORY, STACK, EXTRA, COLUMNS };
    static const char *const columns[COLUMNS] = { "id", "category_id", "stack_id", "extdata" };
    struct buffer buffer = { 0 };
    FOR_ROWS(scan, begin(rocpd, &scan, "event", columns, COLUMNS), true) {
        size_t len;
        int64_t id;
        const char *extra = table_scan_text(&scan, EXTRA, &len);
        if (table_scan_int(&scan, ID, &id))
            *VEC_PUSH(&rocpd->events) = (struct row){ id, table_scan_int_or(&scan, CATEGORY, RECORDER_NONE),
                                                      table_scan_int_or(&scan, STACK, RECORDER_NONE),
                                                      extra ? message_of(rocpd, extra, len, &buffer) : NULL };
    }
    buffer_release(&buffer);
    SORT(&rocpd->events, rocpd_by_id);
}

/* ---- events ---- */

static const struct row *event_of(struct rocpd *rocpd, int64_t id)
{
    static const struct row none = { 0, RECORDER_NONE, RECORDER_NONE, NULL };
    const struct row *event = rocpd_find_row(&rocpd->events, id);
    rocpd->no_event += !event;
    return event ? event : &none;
}

/* The operating system's number of a thread, which rows refer to by the id of its row. */
static track_id rocpd_thread_of(struct rocpd *rocpd, int64_t id)
{
    const struct row *thread = rocpd_find_row(&rocpd->threads, id);
    int64_t tid = thread && thread->number != RECORDER_NONE ? thread->number : id;
    return recorder_thread(rocpd->recorder, tid);
}

/* The GPU number of an agent; -1 if it is not a GPU. */
static int64_t rocpd_gpu_of(const struct rocpd *rocpd, int64_t agent)
{
    const struct row *row = rocpd_find_row(&rocpd->agents, agent);
    return row ? row->number : agent == RECORDER_NONE ? -1 : agent;
}

static bool read_regions(struct rocpd *rocpd, struct tpa_error *err)
{
    enum { TID, START, END, NAME, EVENT, COLUMNS };
    static const char *const columns[COLUMNS] = { "tid", "start", "end", "name_id", "event_id" };
    bool ok = true;
    FOR_ROWS(scan, begin(rocpd, &scan, "region", columns, COLUMNS), ok) {
        const struct row *event = event_of(rocpd, table_scan_int_or(&scan, EVENT, RECORDER_NONE));
        const char *name = rocpd_text_of(&rocpd->strings, table_scan_int_or(&scan, NAME, RECORDER_NONE),
                                         "[name is missing]");
        enum recorder_kind kind = rocm_host_kind(rocpd_text_of(&rocpd->strings, event->number, NULL), name);
        const char *shown = kind == RECORDER_ANNOTATION && event->text ? event->text : name;
        int64_t start_ns = table_scan_int_or(&scan, START, RECORDER_NONE);
        int64_t end_ns = table_scan_int_or(&scan, END, RECORDER_NONE);
        track_id thread = rocpd_thread_of(rocpd, table_scan_int_or(&scan, TID, 0));
        if (recorder_event(rocpd->recorder, kind, thread,
                           recorder_name(rocpd->recorder, shown, strlen(shown)), start_ns, end_ns, 0)) {
            if (kind == RECORDER_ANNOTATION)
                step_guess_record(rocpd->guess, shown, strlen(shown), step_guess_thread(rocpd->pid, thread),
                                  start_ns, end_ns);
            else
                recorder_arg(rocpd->recorder, ARG_CORRELATION, event->more);
        }
        ok = recorder_flush(rocpd->recorder, err);
    }
    return ok;
}

/* Marks, and calls of no length. */
static bool rocpd_read_samples(struct rocpd *rocpd, struct tpa_error *err)
{
    enum { TRACK, TIME, EVENT, COLUMNS };
    static const char *const columns[COLUMNS] = { "track_id", "timestamp", "event_id" };
    SCOPED struct rows tracks = { 0 }; /* number: thread, more: name */
    bool ok = true;
    rocpd_read_rows(rocpd, "track", "tid", "name_id", NULL, &tracks);
    FOR_ROWS(scan, begin(rocpd, &scan, "sample", columns, COLUMNS), ok) {
        const struct row *event = event_of(rocpd, table_scan_int_or(&scan, EVENT, RECORDER_NONE));
        const struct row *track = rocpd_find_row(&tracks, table_scan_int_or(&scan, TRACK, RECORDER_NONE));
        const char *name =
            rocpd_text_of(&rocpd->strings, track ? track->more : RECORDER_NONE, "[name is missing]");
        enum recorder_kind kind = rocm_host_kind(rocpd_text_of(&rocpd->strings, event->number, NULL), name);
        const char *shown = kind == RECORDER_ANNOTATION && event->text ? event->text : name;
        int64_t time = table_scan_int_or(&scan, TIME, RECORDER_NONE);
        int64_t thread = track && track->number != RECORDER_NONE ? track->number : rocpd->pid;
        recorder_event(rocpd->recorder, kind, rocpd_thread_of(rocpd, thread),
                       recorder_name(rocpd->recorder, shown, strlen(shown)), time, time,
                       kind == RECORDER_ANNOTATION ? EVENT_POINT : 0);
        ok = recorder_flush(rocpd->recorder, err);
    }
    return ok;
}

/* Remember when the event's work began, for its counters. */
static void record_time(struct rocpd *rocpd, int64_t event, const struct recorder_work *work)
{
    if (rocpd->options->wants.counters)
        *VEC_PUSH(&rocpd->times) = (struct row){ event, work->start_ns, work->device, NULL };
}

static bool read_kernels(struct rocpd *rocpd, struct tpa_error *err)
{
    enum {
        START,
        END,
        AGENT,
        QUEUE,
        STREAM,
        KERNEL,
        EVENT,
        SHARED,
        GRID,
        BLOCK = GRID + 3,
        COLUMNS = BLOCK + 3
    };
    static const char *const columns[COLUMNS] = { "start",
                                                  "end",
                                                  "agent_id",
                                                  "queue_id",
                                                  "stream_id",
                                                  "kernel_id",
                                                  "event_id",
                                                  "group_segment_size",
                                                  "grid_size_x",
                                                  "grid_size_y",
                                                  "grid_size_z",
                                                  "workgroup_size_x",
                                                  "workgroup_size_y",
                                                  "workgroup_size_z" };
    bool ok = true;
    FOR_ROWS(scan, begin(rocpd, &scan, "kernel_dispatch", columns, COLUMNS), ok) {
        struct recorder_work work = RECORDER_WORK_NONE;
        int64_t event = table_scan_int_or(&scan, EVENT, RECORDER_NONE);
        int64_t kernel = table_scan_int_or(&scan, KERNEL, RECORDER_NONE);
        char missing[48];
        snprintf(missing, sizeof missing, "[kernel %" PRId64 " has no symbol]", kernel);
        const char *name = rocpd_text_of(&rocpd->kernels, kernel, missing);
        rocpd->no_symbol += name == missing;
        work.kind = RECORDER_KERNEL;
        work.name = recorder_name(rocpd->recorder, name, strlen(name));
        table_scan_int(&scan, START, &work.start_ns);
        table_scan_int(&scan, END, &work.end_ns);
        work.device = rocpd_gpu_of(rocpd, table_scan_int_or(&scan, AGENT, 0));
        work.stream = table_scan_int_or(&scan, STREAM, table_scan_int_or(&scan, QUEUE, RECORDER_NONE));
        work.correlation = event_of(rocpd, event)->more;
        table_scan_int(&scan, SHARED, &work.static_shared);
        bool sized = true;
        for (size_t i = 0; i < 3; i++) {
            sized &= table_scan_int(&scan, BLOCK + i, &work.block[i]) &&
                     table_scan_int(&scan, GRID + i, &work.grid[i]);
            work.grid[i] = rocm_blocks(work.grid[i], work.block[i]);
            sized &= work.grid[i] != RECORDER_NONE;
        }
        if (!sized)
            work.grid[0] = work.block[0] = RECORDER_NONE;
        if (recorder_work(rocpd->recorder, &work))
            record_time(rocpd, event, &work);
        ok = recorder_flush(rocpd->recorder, err);
    }
    return ok;
}

static bool read_copies(struct rocpd *rocpd, struct tpa_error *err)
{
    enum { START, END, NAME, FROM, TO, BYTES, QUEUE, STREAM, EVENT, COLUMNS };
    static const char *const columns[COLUMNS] = { "start",        "end",          "name_id",
                                                  "src_agent_id", "dst_agent_id", "size",
                                                  "queue_id",     "stream_id",    "event_id" };
    bool ok = true;
    FOR_ROWS(scan, begin(rocpd, &scan, "memory_copy", columns, COLUMNS), ok) {
        struct recorder_work work = RECORDER_WORK_NONE;
        int64_t to = rocpd_gpu_of(rocpd, table_scan_int_or(&scan, TO, RECORDER_NONE));
        int64_t from = rocpd_gpu_of(rocpd, table_scan_int_or(&scan, FROM, RECORDER_NONE));
        const char *name =
            rocpd_text_of(&rocpd->strings, table_scan_int_or(&scan, NAME, RECORDER_NONE), "Memcpy");
        work.kind = RECORDER_MEMCPY;
        work.name = rocm_copy_name(rocpd->recorder, name);
        table_scan_int(&scan, START, &work.start_ns);
        table_scan_int(&scan, END, &work.end_ns);
        work.device = to >= 0 ? to : from >= 0 ? from : 0;
        work.stream = table_scan_int_or(&scan, STREAM, table_scan_int_or(&scan, QUEUE, RECORDER_NONE));
        work.correlation = event_of(rocpd, table_scan_int_or(&scan, EVENT, RECORDER_NONE))->more;
        table_scan_int(&scan, BYTES, &work.bytes);
        recorder_work(rocpd->recorder, &work);
        ok = recorder_flush(rocpd->recorder, err);
    }
    return ok;
}

/* A release has neither agent nor size: those of the allocation at its address are used. */
static void read_memory(struct rocpd *rocpd)
{
    enum { TIME, TID, AGENT, TYPE, LEVEL, ADDRESS, BYTES, COLUMNS };
    static const char *const columns[COLUMNS] = {
        "end", "tid", "agent_id", "type", "level", "address", "size"
    };
    FOR_ROWS(scan, begin(rocpd, &scan, "memory_allocate", columns, COLUMNS), true) {
        size_t type_len, level_len;
        const char *type = table_scan_text(&scan, TYPE, &type_len);
        const char *level = table_scan_text(&scan, LEVEL, &level_len);
        if (!rocm_is_memory(level))
            continue;
        bool release = type && (strcasecmp(type, "FREE") == 0 || strcasecmp(type, "RECLAIM") == 0);
        const struct row *thread =
            rocpd_find_row(&rocpd->threads, table_scan_int_or(&scan, TID, RECORDER_NONE));
        int64_t agent = table_scan_int_or(&scan, AGENT, RECORDER_NONE);
        recorder_memory(
            rocpd->recorder,
            &(struct recorder_memory){
                .time_ns = table_scan_int_or(&scan, TIME, RECORDER_NONE),
                .address = table_scan_int_or(&scan, ADDRESS, 0),
                .bytes = table_scan_int_or(&scan, BYTES, 0),
                .device = release && agent == RECORDER_NONE ? RECORDER_NONE : rocpd_gpu_of(rocpd, agent),
                .memory_kind = level && strcasecmp(level, "SCRATCH") == 0,
                .pid = rocpd->pid,
                .tid = thread ? thread->number : RECORDER_NONE,
                .correlation = RECORDER_NONE,
                .release = release,
            });
    }
}

/* Add the samples of work, or, of the rest, those of the events in REGIONS, which begin at `number`; their device is that
 * of the counter. Returns how many are of neither. */
static uint64_t rocpd_add_samples(struct rocpd *rocpd, const struct rows *regions)
{
    enum { EVENT, PMC, VALUE, COLUMNS };
    static const char *const columns[COLUMNS] = { "event_id", "pmc_id", "value" };
    uint64_t rest = 0;
    FOR_ROWS(scan, begin(rocpd, &scan, "pmc_event", columns, COLUMNS), true) {
        int64_t event = table_scan_int_or(&scan, EVENT, RECORDER_NONE);
        const struct row *counter =
            rocpd_find_row(&rocpd->pmcs, table_scan_int_or(&scan, PMC, RECORDER_NONE));
        const struct row *work = rocpd_find_row(&rocpd->times, event);
        const struct row *when = regions ? rocpd_find_row(regions, event) : work;
        rest += work == NULL && when == NULL;
        if (when == NULL || (regions && work))
            continue;
        int64_t device =
            regions ? rocpd_gpu_of(rocpd, counter ? counter->number : RECORDER_NONE) : when->more;
        recorder_sample(rocpd->recorder, recorder_counters(rocpd->recorder, device),
                        counter && counter->text ? counter->text : "counter", when->number,
                        table_scan_double(&scan, VALUE));
    }
    return rest;
}

/* Counters are of events: nearly always of work, rarely of regions, whose table is then read again. */
static void rocpd_read_counters(struct rocpd *rocpd)
{
    if (!rocpd->options->wants.counters)
        return;
    SORT(&rocpd->times, rocpd_by_id);
    if (rocpd_add_samples(rocpd, NULL) == 0)
        return;
    enum { EVENT, START, COLUMNS };
    static const char *const columns[COLUMNS] = { "event_id", "start" };
    struct rows regions = { 0 };
    struct table_scan scan;
    if (begin(rocpd, &scan, "region", columns, COLUMNS))
        while (table_scan_next(&scan))
            *VEC_PUSH(&regions) = (struct row){ .id = table_scan_int_or(&scan, EVENT, RECORDER_NONE),
                                                .number = table_scan_int_or(&scan, START, RECORDER_NONE) };
    table_scan_end(&scan);
    SORT(&regions, rocpd_by_id);
    uint64_t rest = rocpd_add_samples(rocpd, &regions);
    VEC_FREE(&regions);
    if (rest)
        trace_builder_notice(rocpd->builder, "sample_without_event",
                             "samples of counters belong to no event that was read, and were left out", rest,
                             TPA_NOWHERE);
}

static void name_threads(struct rocpd *rocpd)
{
    FOR_EACH(thread, &rocpd->threads) {
        if (thread->text && *thread->text && thread->number != RECORDER_NONE)
            recorder_name_thread(rocpd->recorder, recorder_thread(rocpd->recorder, thread->number),
                                 thread->text);
    }
}

static void rocpd_describe(struct rocpd *rocpd, const char *kind, const char *text, uint64_t count)
{
    if (count)
        trace_builder_notice(rocpd->builder, kind, text, count, TPA_NOWHERE);
}

/* ---- a set ---- */

static void read_facts(struct rocpd *rocpd)
{
    rocpd_read_node(rocpd);
    rocpd_read_agents(rocpd);
    rocpd_read_rows(rocpd, "string", NULL, NULL, "string", &rocpd->strings);
    rocpd_read_rows(rocpd, "info_thread", "tid", NULL, "name", &rocpd->threads);
    rocpd_read_rows(rocpd, "info_kernel_symbol", NULL, NULL, "display_name", &rocpd->kernels);
    if (rocpd->options->wants.counters)
        rocpd_read_rows(rocpd, "info_pmc", "agent_id", NULL, "name", &rocpd->pmcs);
    rocpd_read_events(rocpd);
}

static bool read_set(struct rocpd *rocpd, struct tpa_error *err)
{
    if (!read_schema(rocpd, err))
        return false;
    char *command = rocpd_read_process(rocpd);
    rocpd->recorder = recorder_open(rocpd->builder, rocpd->pid, command);
    free(command);
    read_facts(rocpd);
    bool ok = read_regions(rocpd, err) && rocpd_read_samples(rocpd, err) && read_kernels(rocpd, err) &&
              read_copies(rocpd, err);
    if (ok) {
        read_memory(rocpd);
        rocpd_read_counters(rocpd);
        name_threads(rocpd);
        recorder_finish(rocpd->recorder);
        ok = recorder_append(rocpd->recorder, err);
        recorder_describe(rocpd->recorder);
        rocpd_describe(rocpd, "no_event",
                       "regions and work have no entry in the table of events: what launched them is unknown",
                       rocpd->no_event);
        rocpd_describe(rocpd, "no_symbol", "kernels have no symbol, which would give their names",
                       rocpd->no_symbol);
    }
    return ok;
}

static void release_set(struct rocpd *rocpd)
{
    recorder_free(rocpd->recorder);
    struct rows *all[] = { &rocpd->strings, &rocpd->threads, &rocpd->agents, &rocpd->kernels,
                           &rocpd->pmcs,    &rocpd->events,  &rocpd->times };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        VEC_FREE(all[i]);
    arena_release(&rocpd->arena);
}

/* Sets are found by this table: every set has strings. */
static const char set_table[] = "rocpd_string";

bool rocpd_is_one(const struct database *db)
{
    return ANY(i, database_table_count(db),
               strncasecmp(database_table(db, i), set_table, sizeof set_table - 1) == 0) ||
           rpd_is_one(db);
}

static void fill_file(struct database *db, struct source *source, struct trace_builder *builder)
{
    struct trace_file *file = trace_builder_current_file(builder);
    file->format = "rocpd SQLite";
    file->producer = PRODUCER_ROCPROF;
    file->packing = source_packing(source);
    file->packed_size = source_packed_size(source);
    file->size = database_size(db);
}

bool rocpd_read(struct database *db, struct source *source, struct trace_builder *builder,
                const struct ingest_options *options, struct tpa_error *err)
{
    if (rpd_is_one(db))
        return rpd_read(db, source, builder, err);
    bool ok = true, first = true;
    SCOPED_BY(step_guess_free_at) struct step_guess *guess = step_guess_open();
    for (size_t i = 0; i < database_table_count(db) && ok; i++) {
        const char *table = database_table(db, i);
        if (strncasecmp(table, set_table, sizeof set_table - 1) != 0)
            continue;
        if (!first)
            trace_builder_file(builder, source_name(source), "rocpd SQLite");
        fill_file(db, source, builder);
        struct rocpd rocpd = { .db = db,
                               .builder = builder,
                               .options = options,
                               .guess = guess,
                               .ending = table + sizeof set_table - 1 };
        ok = read_set(&rocpd, err);
        release_set(&rocpd);
        database_notice(db, builder);
        first = false;
    }
    if (ok)
        step_guess_notice(guess, builder);
    return ok;
}
