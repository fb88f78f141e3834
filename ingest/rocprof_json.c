/*
 * rocprof_json.c - the JSON of rocprofv3 (ROCm 6.2 and later): NAME_results.json.
 *
 *     { "rocprofiler-sdk-tool": [ one object per process: {
 *         "metadata": { "pid", "node": { "hostname" }, "command": [...] }, "agents": [...], "kernel_symbols": [...],
 *         "strings": { "buffer_records": [ { "kind": NAME, "operations": [...] } ], "marker_api": [{ key, value }] },
 *         "counters": [...], "callback_records": { "counter_collection": [...] },
 *         "buffer_records": { "kernel_dispatch": [...], "hip_api": [...], "memory_copy": [...], ... } } ] }
 *
 * A record's `kind` and `operation` are indices of this file's own strings, which differ between versions. Work has the
 * internal correlation id of the call that launched it. The whole text is held in memory, because records may precede
 * the names that they use.
 */
#include "ingest/formats.h"
#include "base/search.h"
#include "base/rows.h"

#include "ingest/json_text.h"
#include "ingest/rocm.h"
#include "ingest/step_guess.h"
#include "ingest/csv.h"
#include <inttypes.h>
#include <math.h>

static const char top_key[] = "rocprofiler-sdk-tool";

/* Values of "strings": the operations of kind I are those from first[I] up to first[I + 1]. */
struct operations {
    VEC_OF(size_t) first;
    VEC_OF(struct json_text) names, kinds;
};

/* The meaning of ids in a process. */
struct entry {
    int64_t id, number;
    struct json_text text;
};

struct entries {
    VEC_OF(struct entry); /* by id */
};

struct tool {
    struct trace_builder *builder;
    const struct ingest_options *options;
    struct recorder *recorder;
    struct step_guess *guess; /* of the file, all processes together */
    struct operations operations;
    struct entries agents, kernels, markers, counters;
    struct buffer text; /* an unescaped string */
    uint64_t unknown_operations, no_symbol;
    bool full; /* the builder is full: *err is set */
    struct tpa_error *err;
};

/* ---- helpers ---- */

/* The number under KEY of the next object: {"handle": 17}, {"internal": 4, "external": 0}. */
static int64_t read_member(struct json_pull *in, const char *key)
{
    int64_t number = RECORDER_NONE;
    struct json_text name;
    if (!json_enter_or_skip(in, '{'))
        return number;
    while (json_next_key(in, &name))
        if (json_text_is(&name, key))
            number = json_read_integer(in, RECORDER_NONE);
        else if (!json_skip(in))
            break;
    return number;
}

/* An address: a number, or a string of hexadecimal digits. */
static int64_t read_address(struct json_pull *in)
{
    struct json_text value;
    if (!json_read(in, &value))
        return 0;
    char digits[32];
    if (!value.is_string || value.len >= sizeof digits)
        return json_text_integer(&value, 0);
    memcpy(digits, value.at, value.len);
    digits[value.len] = '\0';
    return (int64_t)strtoull(digits, NULL, 0);
}

static const struct key by_id[] = { ASC(struct entry, id), KEY_END };

static const struct entry *find_entry(const struct entries *entries, int64_t id)
{
    size_t i = PLACE(k, entries->count, entries->at[k].id < id);
    return i < entries->count && entries->at[i].id == id ? &entries->at[i] : NULL;
}

/* TEXT unescaped; borrowed until the next call. */
static const char *rocprof_json_decode(struct tool *tool, const struct json_text *text)
{
    json_text_decode(text, &tool->text);
    return tool->text.at ? tool->text.at : "";
}

/* ---- facts ---- */

/* Read a list of objects with an id, a number and a text. The id may be {"handle": N}. */
static void rocprof_json_read_entries(struct json_pull *in, const char *id, const char *number,
                                      const char *text, struct entries *entries)
{
    struct json_text key;
    if (!json_enter_or_skip(in, '['))
        return;
    while (json_next_element(in)) {
        struct entry entry = { RECORDER_NONE, RECORDER_NONE, { 0 } };
        if (!json_enter(in, '{'))
            break;
        while (json_next_key(in, &key)) {
            bool ok = true;
            struct json_pull ahead = *in;
            if (json_text_is(&key, id))
                entry.id = json_enter(&ahead, '{') ? read_member(in, "handle")
                                                   : json_read_integer(in, RECORDER_NONE);
            else if (number && json_text_is(&key, number))
                entry.number = json_read_integer(in, RECORDER_NONE);
            else if (text && json_text_is(&key, text))
                ok = json_read(in, &entry.text);
            else
                ok = json_skip(in);
            if (!ok)
                return;
        }
        if (entry.id != RECORDER_NONE)
            *VEC_PUSH(entries) = entry;
    }
    SORT(entries, by_id);
}

static void rocprof_json_read_agents(struct tool *tool, struct json_pull *in)
{
    enum { GPU = 2 };
    struct trace_file *file = trace_builder_current_file(tool->builder);
    struct json_text key;
    if (!json_enter_or_skip(in, '['))
        return;
    while (json_next_element(in) && json_enter(in, '{')) {
        struct entry agent = { RECORDER_NONE, -1, { 0 } };
        struct json_text name = { 0 };
        int64_t type = 0, index = -1, units = 0, wave = 0;
        bool ok = true;
        while (ok && json_next_key(in, &key)) {
            if (json_text_is(&key, "id"))
                agent.id = read_member(in, "handle");
            else if (json_text_is(&key, "type"))
                type = json_read_integer(in, RECORDER_NONE);
            else if (json_text_is(&key, "logical_node_type_id"))
                index = json_read_integer(in, RECORDER_NONE);
            else if (json_text_is(&key, "cu_count"))
                units = json_read_integer(in, RECORDER_NONE);
            else if (json_text_is(&key, "wave_front_size"))
                wave = json_read_integer(in, RECORDER_NONE);
            else if (json_text_is(&key, "product_name") || (json_text_is(&key, "name") && !name.len))
                ok = json_read(in, &name);
            else
                ok = json_skip(in);
        }
        agent.number = type == GPU ? index : -1;
        *VEC_PUSH(&tool->agents) = agent;
        if (type != GPU || index < 0 || index > INT32_MAX || file->devices.count >= 1024)
            continue;
        const char *text = rocprof_json_decode(tool, &name);
        *VEC_PUSH(&file->devices) = (struct trace_device){
            .id = (int32_t)index,
            .name = name.len ? trace_builder_strndup(tool->builder, text, strlen(text)) : NULL,
            .sm_count = units > 0 && units < INT32_MAX ? (int)units : 0,
            .warp_size = wave > 0 && wave < 1024 ? (int)wave : 0,
        };
        recorder_device(tool->recorder, index, units, wave);
    }
    SORT(&tool->agents, by_id);
}

static void read_operations(struct tool *tool, struct json_pull *in)
{
    struct json_text key, value;
    struct operations *operations = &tool->operations;
    if (!json_enter_or_skip(in, '['))
        return;
    while (json_next_element(in) && json_enter(in, '{')) {
        *VEC_PUSH(&operations->first) = operations->names.count;
        *VEC_PUSH(&operations->kinds) = (struct json_text){ "", 0, true };
        while (json_next_key(in, &key)) {
            if (json_text_is(&key, "kind") && json_read(in, &value))
                operations->kinds.at[operations->kinds.count - 1] = value;
            else if (json_text_is(&key, "operations") && json_enter(in, '['))
                while (json_next_element(in) && json_read(in, &value))
                    *VEC_PUSH(&operations->names) = value;
            else if (!json_skip(in))
                return;
        }
    }
}

static void read_strings(struct tool *tool, struct json_pull *in)
{
    struct json_text key;
    if (!json_enter_or_skip(in, '{'))
        return;
    while (json_next_key(in, &key)) {
        if (json_text_is(&key, "buffer_records"))
            read_operations(tool, in);
        else if (json_text_is(&key, "marker_api"))
            rocprof_json_read_entries(in, "key", NULL, "value", &tool->markers);
        else if (!json_skip(in))
            return;
    }
}

/* Read the words of the command line, of which the first is stored in NAME. */
static void read_command(struct tool *tool, struct json_pull *in, struct buffer *name)
{
    struct json_text value;
    SCOPED struct buffer line = { 0 };
    while (json_next_element(in) && json_read(in, &value)) {
        if (name->count == 0)
            json_text_decode(&value, name);
        buffer_printf(&line, "%s%s", line.count ? " " : "", rocprof_json_decode(tool, &value));
    }
    if (line.count)
        *VEC_PUSH(&trace_builder_current_file(tool->builder)->properties) =
            (struct trace_property){ "command", trace_builder_strndup(tool->builder, line.at, line.count),
                                     true };
}

/* The process id; stores the command in NAME. */
static int64_t read_metadata(struct tool *tool, struct json_pull *in, struct buffer *name)
{
    struct trace_file *file = trace_builder_current_file(tool->builder);
    int64_t pid = 0;
    struct json_text key, value;
    if (!json_enter_or_skip(in, '{'))
        return pid;
    while (json_next_key(in, &key)) {
        if (json_text_is(&key, "pid")) {
            pid = json_read_integer(in, RECORDER_NONE);
        } else if (json_text_is(&key, "command") && json_enter(in, '[')) {
            read_command(tool, in, name);
        } else if (json_text_is(&key, "node") && json_enter(in, '{')) {
            while (json_next_key(in, &key))
                if (json_text_is(&key, "hostname") && json_read(in, &value)) {
                    const char *text = rocprof_json_decode(tool, &value);
                    file->host_name = trace_builder_strndup(tool->builder, text, strlen(text));
                } else if (!json_skip(in)) {
                    return pid;
                }
        } else if (!json_skip(in)) {
            return pid;
        }
    }
    return pid == RECORDER_NONE ? 0 : pid;
}

/* ---- records ---- */

struct record {
    int64_t kind, operation, thread, correlation, start_ns, end_ns;
    int64_t agent, from, to, bytes, address, queue, stream, kernel, shared;
    int64_t grid[3], block[3];
};

static void read_three(struct json_pull *in, int64_t numbers[3])
{
    struct json_text key;
    numbers[0] = numbers[1] = numbers[2] = RECORDER_NONE;
    if (!json_enter_or_skip(in, '{'))
        return;
    while (json_next_key(in, &key)) {
        int64_t number = json_read_integer(in, RECORDER_NONE);
        if (key.len == 1 && *key.at >= 'x' && *key.at <= 'z')
            numbers[*key.at - 'x'] = number;
    }
}

/* The members that are numbers. */
static const struct {
    const char *key, *member; /* NULL: a number */
    size_t offset;
} record_fields[] = {
    { "kind", NULL, offsetof(struct record, kind) },
    { "operation", NULL, offsetof(struct record, operation) },
    { "thread_id", NULL, offsetof(struct record, thread) },
    { "correlation_id", "internal", offsetof(struct record, correlation) },
    { "start_timestamp", NULL, offsetof(struct record, start_ns) },
    { "end_timestamp", NULL, offsetof(struct record, end_ns) },
    { "agent_id", "handle", offsetof(struct record, agent) },
    { "src_agent_id", "handle", offsetof(struct record, from) },
    { "dst_agent_id", "handle", offsetof(struct record, to) },
    { "queue_id", "handle", offsetof(struct record, queue) },
    { "stream_id", "handle", offsetof(struct record, stream) },
    { "kernel_id", NULL, offsetof(struct record, kernel) },
    { "group_segment_size", NULL, offsetof(struct record, shared) },
    { "bytes", NULL, offsetof(struct record, bytes) },
    { "allocation_size", NULL, offsetof(struct record, bytes) },
};

enum { RECORD_FIELDS = sizeof record_fields / sizeof *record_fields };

static int64_t *record_number(struct record *record, size_t field)
{
    return (int64_t *)((char *)record + record_fields[field].offset);
}

static bool read_field(struct json_pull *in, const struct json_text *key, struct record *record)
{
    for (size_t i = 0; i < RECORD_FIELDS; i++)
        if (json_text_is(key, record_fields[i].key)) {
            const char *member = record_fields[i].member;
            *record_number(record, i) =
                member ? read_member(in, member) : json_read_integer(in, RECORDER_NONE);
            return true;
        }
    if (json_text_is(key, "address"))
        record->address = read_address(in);
    else if (json_text_is(key, "grid_size"))
        read_three(in, record->grid);
    else if (json_text_is(key, "workgroup_size"))
        read_three(in, record->block);
    else
        return json_skip(in);
    return true;
}

/* Read the next record; false if damaged. */
static bool rocprof_json_read_record(struct json_pull *in, struct record *record)
{
    struct json_text key;
    *record = (struct record){ .grid = { RECORDER_NONE }, .block = { RECORDER_NONE } };
    for (size_t i = 0; i < RECORD_FIELDS; i++)
        *record_number(record, i) = RECORDER_NONE;
    if (!json_enter(in, '{'))
        return false;
    while (json_next_key(in, &key)) {
        bool nested = json_text_is(&key, "dispatch_info") && json_enter(in, '{');
        if (nested)
            while (json_next_key(in, &key))
                if (!read_field(in, &key, record))
                    return false;
        if (!nested && !read_field(in, &key, record))
            return false;
    }
    return true;
}

/* The name of the record: its operation by this file's index. Borrowed until the next decode. */
static const char *operation_of(struct tool *tool, const struct record *record)
{
    const struct operations *operations = &tool->operations;
    if (record->kind >= 0 && (uint64_t)record->kind < operations->first.count && record->operation >= 0) {
        size_t kind = (size_t)record->kind, first = operations->first.at[kind];
        size_t end =
            kind + 1 < operations->first.count ? operations->first.at[kind + 1] : operations->names.count;
        if ((uint64_t)record->operation < end - first)
            return rocprof_json_decode(tool, &operations->names.at[first + (size_t)record->operation]);
    }
    tool->unknown_operations++;
    buffer_clear(&tool->text);
    buffer_printf(&tool->text, "[operation %" PRId64 " of kind %" PRId64 "]", record->operation,
                  record->kind);
    return tool->text.at;
}

static int64_t rocprof_json_gpu_of(const struct tool *tool, int64_t agent)
{
    const struct entry *entry = find_entry(&tool->agents, agent);
    return entry ? entry->number : tool->agents.count ? -1 : 0;
}

static void add_kernel(struct tool *tool, const struct record *record)
{
    struct recorder_work work = RECORDER_WORK_NONE;
    const struct entry *symbol = find_entry(&tool->kernels, record->kernel);
    work.kind = RECORDER_KERNEL;
    if (symbol && symbol->text.at) {
        const char *name = rocprof_json_decode(tool, &symbol->text);
        work.name = recorder_name(tool->recorder, name, strlen(name));
    } else {
        buffer_clear(&tool->text);
        buffer_printf(&tool->text, "[kernel %" PRId64 " has no symbol]", record->kernel);
        work.name = recorder_name(tool->recorder, tool->text.at, tool->text.count);
        tool->no_symbol++;
    }
    int64_t gpu = rocprof_json_gpu_of(tool, record->agent);
    work.start_ns = record->start_ns;
    work.end_ns = record->end_ns;
    work.device = gpu >= 0 ? gpu : 0;
    work.stream = record->stream != RECORDER_NONE ? record->stream : record->queue;
    work.correlation = record->correlation;
    work.static_shared = record->shared;
    bool sized = true;
    for (size_t i = 0; i < 3; i++) {
        work.block[i] = record->block[i];
        work.grid[i] = rocm_blocks(record->grid[i], record->block[i]);
        sized &= work.grid[i] != RECORDER_NONE;
    }
    if (!sized)
        work.grid[0] = work.block[0] = RECORDER_NONE;
    recorder_work(tool->recorder, &work);
}

static void add_copy(struct tool *tool, const struct record *record)
{
    struct recorder_work work = RECORDER_WORK_NONE;
    int64_t to = rocprof_json_gpu_of(tool, record->to), from = rocprof_json_gpu_of(tool, record->from);
    work.kind = RECORDER_MEMCPY;
    work.name = rocm_copy_name(tool->recorder, operation_of(tool, record));
    work.start_ns = record->start_ns;
    work.end_ns = record->end_ns;
    work.device = to >= 0 ? to : from >= 0 ? from : 0;
    work.stream = record->stream;
    work.correlation = record->correlation;
    work.bytes = record->bytes;
    recorder_work(tool->recorder, &work);
}

static void rocprof_json_add_memory(struct tool *tool, const struct record *record)
{
    const char *operation = operation_of(tool, record);
    if (strstr(operation, "VMEM") || strstr(operation, "VIRTUAL")) /* addresses only */
        return;
    bool release = strstr(operation, "FREE") != NULL;
    int64_t gpu = rocprof_json_gpu_of(tool, record->agent);
    recorder_memory(tool->recorder, &(struct recorder_memory){
                                        .time_ns = record->end_ns,
                                        .address = record->address,
                                        .bytes = record->bytes,
                                        .device = release && gpu < 0 ? RECORDER_NONE : gpu,
                                        .memory_kind = 0,
                                        .pid = recorder_pid(tool->recorder),
                                        .tid = record->thread,
                                        .correlation = record->correlation,
                                        .release = release,
                                    });
}

static void add_call(struct tool *tool, const char *list, const struct record *record)
{
    const char *name = operation_of(tool, record);
    enum recorder_kind kind = rocm_host_kind(list, name);
    const struct entry *marker =
        kind == RECORDER_ANNOTATION ? find_entry(&tool->markers, record->correlation) : NULL;
    if (marker)
        name = rocprof_json_decode(tool, &marker->text);
    bool is_mark = kind == RECORDER_ANNOTATION && record->start_ns == record->end_ns;
    int64_t pid = recorder_pid(tool->recorder);
    int64_t thread = record->thread == RECORDER_NONE ? pid : record->thread;
    if (!recorder_event(tool->recorder, kind, recorder_thread(tool->recorder, thread),
                        recorder_name(tool->recorder, name, strlen(name)), record->start_ns, record->end_ns,
                        is_mark ? EVENT_POINT : 0))
        return;
    if (kind != RECORDER_ANNOTATION)
        recorder_arg(tool->recorder, ARG_CORRELATION, record->correlation);
    else if (!is_mark)
        step_guess_record(tool->guess, name, strlen(name), step_guess_thread(pid, thread), record->start_ns,
                          record->end_ns);
}

/* The records of the list LIST: "kernel_dispatch", "hip_api" ... */
static bool rocprof_json_read_list(struct tool *tool, struct json_pull *in, const struct json_text *list)
{
    char name[48];
    snprintf(name, sizeof name, "%.*s", (int)(list->len < 47 ? list->len : 47), list->at);
    size_t len = strlen(name); /* less than list->len where a zero byte is in it */
    bool is_call = len > 4 && strcmp(name + len - 4, "_api") == 0;
    bool is_kernel = strcmp(name, "kernel_dispatch") == 0, is_copy = strcmp(name, "memory_copy") == 0,
         is_memory = strcmp(name, "memory_allocation") == 0;
    if (!is_call && !is_kernel && !is_copy && !is_memory)
        return json_skip(in);
    if (!json_enter_or_skip(in, '['))
        return true;
    while (!tool->full && json_next_element(in)) {
        struct record record;
        if (!rocprof_json_read_record(in, &record))
            return false;
        if (is_kernel)
            add_kernel(tool, &record);
        else if (is_copy)
            add_copy(tool, &record);
        else if (is_memory)
            rocprof_json_add_memory(tool, &record);
        else
            add_call(tool, name, &record);
        tool->full = tool->full || !recorder_flush(tool->recorder, tool->err);
    }
    return !tool->full;
}

/* One entry of counter_collection: values of counters of one dispatch. */
static bool read_counted(struct tool *tool, struct json_pull *in)
{
    struct record record = { .start_ns = RECORDER_NONE, .agent = RECORDER_NONE };
    struct json_text key, value;
    if (!json_enter(in, '{'))
        return false;
    while (json_next_key(in, &key)) {
        if (json_text_is(&key, "dispatch_data")) {
            if (!rocprof_json_read_record(in, &record))
                return false;
        } else if (json_text_is(&key, "records") && json_enter(in, '[')) {
            while (json_next_element(in) && json_enter(in, '{')) {
                int64_t counter = RECORDER_NONE;
                double number = (double)NAN;
                while (json_next_key(in, &key))
                    if (json_text_is(&key, "counter_id"))
                        counter = read_member(in, "handle");
                    else if (json_text_is(&key, "value") && json_read(in, &value))
                        json_decimal(value.at, value.at + value.len, &number);
                    else if (!json_skip(in))
                        return false;
                const struct entry *entry = find_entry(&tool->counters, counter);
                int64_t gpu = rocprof_json_gpu_of(tool, record.agent);
                recorder_sample(tool->recorder, recorder_counters(tool->recorder, gpu < 0 ? 0 : gpu),
                                entry ? rocprof_json_decode(tool, &entry->text) : "counter", record.start_ns,
                                number);
            }
        } else if (!json_skip(in)) {
            return false;
        }
    }
    return true;
}

static void rocprof_json_read_counters(struct tool *tool, struct json_pull *in)
{
    struct json_text key;
    if (!tool->options->wants.counters || !json_enter(in, '{'))
        return;
    while (json_next_key(in, &key)) {
        if (!json_text_is(&key, "counter_collection") || !json_enter(in, '[')) {
            if (!json_skip(in))
                return;
            continue;
        }
        while (json_next_element(in))
            if (!read_counted(tool, in))
                return;
    }
}

/* The positions of the values of a process, which are needed in another order than in the file. */
struct sections {
    struct json_pull metadata, agents, strings, kernels, counters, callbacks, records;
};

static struct sections find_sections(struct json_pull *in)
{
    struct sections sections = { 0 };
    const struct {
        const char *key;
        struct json_pull *section;
    } wanted[] = {
        { "metadata", &sections.metadata },      { "agents", &sections.agents },
        { "strings", &sections.strings },        { "kernel_symbols", &sections.kernels },
        { "counters", &sections.counters },      { "callback_records", &sections.callbacks },
        { "buffer_records", &sections.records },
    };
    struct json_text key;
    while (json_next_key(in, &key)) {
        for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
            if (json_text_is(&key, wanted[i].key))
                *wanted[i].section = *in;
        if (!json_skip(in)) { /* cut: use the available part */
            in->at = in->end;
            break;
        }
    }
    return sections;
}

static void release_tool(struct tool *tool)
{
    recorder_free(tool->recorder);
    EACH(VEC_FREE, &tool->operations.first, &tool->operations.names, &tool->operations.kinds, &tool->agents,
         &tool->kernels, &tool->markers, &tool->counters);
    buffer_release(&tool->text);
}

static void rocprof_json_describe(struct tool *tool, const char *kind, const char *text, uint64_t count)
{
    if (count)
        trace_builder_notice(tool->builder, kind, text, count, TPA_NOWHERE);
}

/* Read the process whose object was just entered. */
static bool rocprof_json_read_process(struct json_pull *in, struct trace_builder *builder,
                                      struct step_guess *guess, const struct ingest_options *options,
                                      struct tpa_error *err)
{
    struct sections sections = find_sections(in);
    struct tool tool = { .builder = builder, .options = options, .guess = guess, .err = err };
    struct buffer command = { 0 };
    struct json_text key;
    trace_builder_current_file(builder)->producer = PRODUCER_ROCPROF;
    int64_t pid = read_metadata(&tool, &sections.metadata, &command);
    tool.recorder = recorder_open(builder, pid, command.count ? command.at : NULL);
    buffer_release(&command);
    rocprof_json_read_agents(&tool, &sections.agents);
    read_strings(&tool, &sections.strings);
    rocprof_json_read_entries(&sections.kernels, "kernel_id", NULL, "formatted_kernel_name", &tool.kernels);
    rocprof_json_read_entries(&sections.counters, "id", NULL, "name", &tool.counters);
    rocprof_json_read_counters(&tool, &sections.callbacks);
    bool ok = true;
    if (json_enter(&sections.records, '{'))
        while (!tool.full && json_next_key(&sections.records, &key))
            if (!rocprof_json_read_list(&tool, &sections.records, &key))
                break;
    ok = !tool.full;
    recorder_finish(tool.recorder);
    ok = ok && recorder_append(tool.recorder, err);
    recorder_describe(tool.recorder);
    rocprof_json_describe(&tool, "unknown_operations",
                          "records are of kinds or operations that the file has no names for",
                          tool.unknown_operations);
    rocprof_json_describe(&tool, "no_symbol", "kernels have no symbol, which would give their names",
                          tool.no_symbol);
    release_tool(&tool);
    return ok;
}

static bool read_rocprof(struct source *source, struct trace_builder *builder,
                         const struct ingest_options *options, struct tpa_error *err)
{
    SCOPED struct buffer text = { 0 };
    struct json_text key;
    bool ok = csv_read_all(source, &text, err), first = true;
    SCOPED_BY(step_guess_free_at) struct step_guess *guess = step_guess_open();
    if (ok && source_damage(source))
        trace_builder_lacks(
            builder, LACK_DAMAGED,
            trace_builder_strndup(builder, source_damage(source), strlen(source_damage(source))), 1,
            (int64_t)text.count);
    else if (ok && !json_is_value(text.at, text.count))
        trace_builder_lacks(builder, LACK_CUT_SHORT,
                            "the file is cut short or damaged: what could be read is shown", 1,
                            (int64_t)text.count);
    struct json_pull in = { text.at, text.at + text.count };
    if (ok && json_enter(&in, '{'))
        while (ok && json_next_key(&in, &key)) {
            if (!json_text_is(&key, top_key) || !json_enter(&in, '[')) {
                if (!json_skip(&in))
                    break;
                continue;
            }
            while (ok && json_next_element(&in) && json_enter(&in, '{')) {
                if (!first)
                    trace_builder_file(builder, source_name(source), "rocprofv3 JSON");
                struct trace_file *file = trace_builder_current_file(builder);
                file->packing = source_packing(source);
                file->packed_size = source_packed_size(source);
                file->size = (int64_t)text.count;
                ok = rocprof_json_read_process(&in, builder, guess, options, err);
                first = false;
            }
        }
    if (ok && first)
        trace_builder_notice(builder, "no_process", "the file holds results of no process", 1, TPA_NOWHERE);
    if (ok)
        step_guess_notice(guess, builder);
    return ok;
}

static int sniff_rocprof(const char *bytes, size_t len)
{
    size_t at = json_behind_blanks(bytes, len, 0);
    if (at == len || bytes[at++] != '{')
        return 0;
    at = json_behind_blanks(bytes, len, at);
    return len - at > sizeof top_key && bytes[at] == '"' &&
                   memcmp(bytes + at + 1, top_key, sizeof top_key - 1) == 0
               ? 95
               : 0;
}

const struct format format_rocprof_json = {
    .name = "rocprofv3 JSON",
    .description = "AMD rocprofv3: --output-format json",
    .sniff = sniff_rocprof,
    .read = read_rocprof,
};
