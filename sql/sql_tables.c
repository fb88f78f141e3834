/* sql_tables.c - the list of tables; and the cells of those without events. */
#include "sql/parts.h"

#include "derive/step_list.h"
#include "trace/arg_rows.h"

#define KINDS_OF(kind) (1u << (kind))
#define WORK_KINDS (KINDS_OF(EVENT_KERNEL) | KINDS_OF(EVENT_MEMCPY) | KINDS_OF(EVENT_MEMSET))
#define ALL_ARGS (UINT64_MAX >> (64 - ARG_COUNT))

static void emit_texts(const struct trace *trace, name_id id, sqlite3_context *out)
{
    sql_add_name(out, trace->texts, id);
}

static void emit_string(sqlite3_context *out, const char *text)
{
    sql_add_text(out, text, text ? strlen(text) : 0);
}

static void emit_unless(sqlite3_context *out, int64_t value, int64_t missing)
{
    if (value != missing)
        sqlite3_result_int64(out, value);
}

/* ---- steps ---- */

static const struct sql_column step_columns[] = {
    { "step", TABLE_COUNT, "its number: N of ProfilerStep#N" },
    { "file", TABLE_COUNT, "files.id" },
    { "rank", TABLE_COUNT, "of its file, as --rank understands it" },
    { "start_ns", TABLE_MOMENT, "when it began, on the clock of events" },
    { "end_ns", TABLE_MOMENT, "when it ended" },
    { "dur_ns", TABLE_NS, "how long it took" },
    { "event", TABLE_COUNT, "the event that marks it: events.id" },
    { "at_ns", TABLE_MOMENT, "when it began, from the origin of the file" },
};

static int64_t count_steps(struct sql_source *source)
{
    return (int64_t)step_list_of(source->trace)->count;
}

static void step_cell(struct sql_source *source, int64_t row, size_t column, sqlite3_context *out)
{
    const struct step *step = &step_list_of(source->trace)->at[row];
    int64_t shift_ns = source->shift_ns[step->file];
    const int64_t values[] = { step->number,
                               step->file,
                               source->rank[step->file],
                               step->start_ns + shift_ns,
                               step->end_ns + shift_ns,
                               step->end_ns - step->start_ns };
    if (column < sizeof values / sizeof *values)
        sqlite3_result_int64(out, values[column]);
    else if (column > sizeof values / sizeof *values)
        sqlite3_result_int64(out, step->start_ns - source->origin_ns[step->file]);
    else
        emit_unless(out, step->evidence == STEP_IS_MARKED ? step->event : EVENT_NONE, EVENT_NONE);
}

/* ---- tracks ---- */

static const struct sql_column track_columns[] = {
    { "id", TABLE_COUNT, "number of the track" },
    { "file", TABLE_COUNT, "files.id" },
    { "rank", TABLE_COUNT, "of its file, as --rank understands it" },
    { "kind", TABLE_TEXT, "thread, stream or other" },
    { "process", TABLE_TEXT, "name of the process" },
    { "pid", TABLE_COUNT, "its number; a text where the file has one" },
    { "thread", TABLE_TEXT, "name of the thread or stream" },
    { "tid", TABLE_COUNT, "its number; a text where the file has one" },
    { "device", TABLE_COUNT, "of a stream" },
    { "stream", TABLE_COUNT, "of a stream" },
    { "events", TABLE_COUNT, "how many lie on it" },
};

static int64_t count_tracks(struct sql_source *source)
{
    return (int64_t)source->trace->track_count;
}

static void emit_id(const struct trace *trace, int64_t number, name_id text, sqlite3_context *out)
{
    if (text != NAME_NONE)
        emit_texts(trace, text, out);
    else
        sqlite3_result_int64(out, number);
}

static void track_cell(struct sql_source *source, int64_t row, size_t column, sqlite3_context *out)
{
    static const char *const kinds[] = { "thread", "stream", "other" };
    const struct trace *trace = source->trace;
    const struct track *track = &trace->tracks[row];
    switch (column) {
    case 0: sqlite3_result_int64(out, row); break;
    case 1: sqlite3_result_int64(out, track->file); break;
    case 2: sqlite3_result_int64(out, source->rank[track->file]); break;
    case 3: emit_string(out, kinds[track->kind]); break;
    case 4: emit_texts(trace, track->process_name, out); break;
    case 5: emit_id(trace, track->pid, track->pid_text, out); break;
    case 6: emit_texts(trace, track->thread_name, out); break;
    case 7: emit_id(trace, track->tid, track->tid_text, out); break;
    case 8:
    case 9:
        if (track->kind == TRACK_STREAM)
            sqlite3_result_int64(out, column == 8 ? track->device : track->stream);
        break;
    default: sqlite3_result_int64(out, track->event_count); break;
    }
}

/* ---- args: one row for each argument of each event ---- */

static const struct sql_column arg_columns[] = {
    { "event", TABLE_COUNT, "events.id" },
    { "key", TABLE_TEXT, "as files spell it: External id, Input Dims ..." },
    { "value", TABLE_TEXT, "an integer, a decimal or a text" },
};

static int64_t count_args(struct sql_source *source)
{
    return (int64_t)source->trace->event_count * ARG_COUNT;
}

static bool is_arg(struct sql_source *source, int64_t row)
{
    const struct trace_arg_column *column = &source->trace->args[row % ARG_COUNT];
    event_id e = (event_id)(row / ARG_COUNT);
    return column->count && column->present[e / 64] >> e % 64 & 1;
}

static void arg_cell(struct sql_source *source, int64_t row, size_t column, sqlite3_context *out)
{
    enum trace_arg arg = (enum trace_arg)(row % ARG_COUNT);
    event_id e = (event_id)(row / ARG_COUNT);
    const char *keys = arg_rows[arg].keys;
    int64_t value;
    if (column == 0)
        sqlite3_result_int64(out, e);
    else if (column == 1)
        sql_add_text(out, keys, strcspn(keys, "|"));
    else if (arg_rows[arg].form == FORM_DECIMAL)
        sqlite3_result_double(out, trace_arg_decimal(source->trace, arg, e));
    else if (!trace_arg(source->trace, arg, e, &value))
        return;
    else if (arg_rows[arg].form == FORM_TEXT || arg_rows[arg].form == FORM_JSON)
        emit_texts(source->trace, (name_id)value, out);
    else
        sqlite3_result_int64(out, value);
}

/* ---- memory ---- */

static const struct sql_column memory_columns[] = {
    { "event", TABLE_COUNT, "the record: events.id" },
    { "file", TABLE_COUNT, "files.id" },
    { "rank", TABLE_COUNT, "of its file, as --rank understands it" },
    { "device_type", TABLE_TEXT, "cpu, cuda ..." },
    { "device", TABLE_COUNT, "of the memory; missing on the host" },
    { "start_ns", TABLE_MOMENT, "when, on the clock of events" },
    { "bytes", TABLE_BYTES, "of the block: positive when allocated, negative when freed" },
    { "allocated_bytes", TABLE_BYTES, "in use on the device from then on" },
    { "reserved_bytes", TABLE_BYTES, "held by the allocator from then on" },
    { "category", TABLE_TEXT, "of the block, where recorded" },
    { "at_ns", TABLE_MOMENT, "when, from the origin of the file" },
};

static const struct memory_records *memory_of(struct sql_source *source)
{
    if (!source->memory)
        source->memory = memory_records_of(source->trace, MEMORY_LEVELS);
    return source->memory;
}

static int64_t count_memory(struct sql_source *source)
{
    return memory_of(source)->count;
}

/* The device of record ROW: the last that begins at or before it. */
static const struct memory_device *memory_device_of(const struct memory_records *records, int64_t row)
{
    size_t low = 0, high = records->device_count;
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (records->devices[middle].first <= row)
            low = middle;
        else
            high = middle;
    }
    while (low > 0 && row >= records->devices[low].first + records->devices[low].count)
        low--;
    return &records->devices[low];
}

static void memory_cell(struct sql_source *source, int64_t row, size_t column, sqlite3_context *out)
{
    const struct memory_records *records = memory_of(source);
    const struct memory_record *record = &records->at[row];
    const struct memory_device *device = memory_device_of(records, row);
    switch (column) {
    case 0: sqlite3_result_int64(out, record->event); break;
    case 1: sqlite3_result_int64(out, device->file); break;
    case 2: sqlite3_result_int64(out, source->rank[device->file]); break;
    case 3: emit_string(out, memory_device_type_name(device->type)); break;
    case 4: emit_unless(out, memory_is_host(device) ? -1 : device->id, -1); break;
    case 5: sqlite3_result_int64(out, sql_start_ns(source, record->event)); break;
    case 6: sqlite3_result_int64(out, record->bytes); break;
    case 7: sqlite3_result_int64(out, record->allocated); break;
    case 8: emit_unless(out, record->reserved, -1); break;
    case 9: emit_texts(source->trace, record->category, out); break;
    default:
        sqlite3_result_int64(out, sql_start_ns(source, record->event) - source->shift_ns[device->file] -
                                      source->origin_ns[device->file]);
        break;
    }
}

/* ---- flows and counters ---- */

static const struct sql_column flow_columns[] = {
    { "id", TABLE_COUNT, "the same at both ends" },
    { "phase", TABLE_TEXT, "s: start, t: step, f: end" },
    { "start_ns", TABLE_MOMENT, "when, on the clock of events" },
    { "track", TABLE_COUNT, "tracks.id" },
    { "category", TABLE_TEXT, "as the file writes it" },
    { "name", TABLE_TEXT, "as the file writes it" },
    { "at_ns", TABLE_MOMENT, "when, from the origin of the file" },
};

static int64_t count_flows(struct sql_source *source)
{
    return (int64_t)source->trace->flow_count;
}

static void flow_cell(struct sql_source *source, int64_t row, size_t column, sqlite3_context *out)
{
    const struct trace_flow flow = trace_flow(source->trace, (size_t)row);
    uint32_t file = source->trace->tracks[flow.track].file;
    switch (column) {
    case 0: sqlite3_result_int64(out, flow.id); break;
    case 1: sql_add_text(out, flow.phase == 's' ? "s" : flow.phase == 't' ? "t" : "f", 1); break;
    case 2: sqlite3_result_int64(out, flow.ts_ns + source->shift_ns[file]); break;
    case 3: sqlite3_result_int64(out, flow.track); break;
    case 4: emit_texts(source->trace, flow.category, out); break;
    case 5: emit_texts(source->trace, flow.name, out); break;
    default: sqlite3_result_int64(out, flow.ts_ns - source->origin_ns[file]); break;
    }
}

static const struct sql_column counter_columns[] = {
    { "name", TABLE_TEXT, "of the counter and the series" },
    { "start_ns", TABLE_MOMENT, "when, on the clock of events" },
    { "value", TABLE_NUMBER, "from then on" },
    { "track", TABLE_COUNT, "tracks.id" },
    { "at_ns", TABLE_MOMENT, "when, from the origin of the file" },
};

static int64_t count_counters(struct sql_source *source)
{
    return (int64_t)source->trace->sample_count;
}

static void counter_cell(struct sql_source *source, int64_t row, size_t column, sqlite3_context *out)
{
    const struct trace_sample *sample = &source->trace->samples[row];
    uint32_t file = source->trace->tracks[sample->track].file;
    switch (column) {
    case 0: emit_texts(source->trace, sample->counter, out); break;
    case 1: sqlite3_result_int64(out, sample->ts_ns + source->shift_ns[file]); break;
    case 2: sqlite3_result_double(out, sample->value); break;
    case 3: sqlite3_result_int64(out, sample->track); break;
    default: sqlite3_result_int64(out, sample->ts_ns - source->origin_ns[file]); break;
    }
}

/* ---- files ---- */

static const struct sql_column file_columns[] = {
    { "id", TABLE_COUNT, "number of the file" },
    { "path", TABLE_TEXT, "as it was given" },
    { "format", TABLE_TEXT, "Chrome JSON ..." },
    { "producer", TABLE_TEXT, "what wrote it" },
    { "rank", TABLE_COUNT, "as --rank understands it" },
    { "world_size", TABLE_COUNT, "ranks of the job, where recorded" },
    { "backend", TABLE_TEXT, "of the process groups: nccl ..." },
    { "host", TABLE_TEXT, "name of the machine" },
    { "events", TABLE_COUNT, "how many it holds" },
    { "size_bytes", TABLE_BYTES, "of its text, unpacked" },
    { "base_ns", TABLE_COUNT, "what start_ns counts from: nanoseconds from 1970, where recorded" },
    { "shift_ns", TABLE_COUNT, "what was added to its times to put it beside the others" },
    { "origin_ns", TABLE_MOMENT, "start_ns of its origin, from which analyses count" },
};

static int64_t count_files(struct sql_source *source)
{
    return (int64_t)source->trace->file_count;
}

static void file_cell(struct sql_source *source, int64_t row, size_t column, sqlite3_context *out)
{
    const struct trace_file *file = &source->trace->files[row];
    switch (column) {
    case 0: sqlite3_result_int64(out, row); break;
    case 1: emit_string(out, file->path); break;
    case 2: emit_string(out, file->format); break;
    case 3: emit_string(out, trace_producer_name(file->producer)); break;
    case 4: sqlite3_result_int64(out, source->rank[row]); break;
    case 5: emit_unless(out, file->world_size, -1); break;
    case 6: emit_string(out, file->backend); break;
    case 7: emit_string(out, file->host_name); break;
    case 8: sqlite3_result_int64(out, file->event_count); break;
    case 9: sqlite3_result_int64(out, file->size); break;
    case 10:
        if (file->has_base)
            sqlite3_result_int64(out, file->base_ns);
        break;
    case 11: sqlite3_result_int64(out, source->shift_ns[row]); break;
    default: sqlite3_result_int64(out, source->origin_ns[row] + source->shift_ns[row]); break;
    }
}

/* ---- the tables ---- */

/* clang-format off */
#define ROWS_OF(name_, help_, columns_, count_, cell_, ...) \
    { .name = name_, .help = help_, .columns = columns_, .column_count = sizeof(columns_) / sizeof *(columns_), \
      .count = count_, .cell = cell_, __VA_ARGS__ }

#define KERNEL_ARGS (WANT(CORRELATION) | WANT(EXTERNAL_ID) | WANT(GRID) | WANT(BLOCK) | WANT(REGISTERS) | WANT(SHARED_MEMORY) | \
                     WANT(BLOCKS_PER_SM) | WANT(WARPS_PER_SM) | WANT(OCCUPANCY) | WANT(GRAPH_ID) | WANT(GRAPH_NODE_ID) | \
                     WANT(COLLECTIVE) | WANT(GROUP_NAME) | WANT(DTYPE) | WANT(IN_ELEMENTS) | WANT(OUT_ELEMENTS))
#define OPERATOR_ARGS (WANT(EXTERNAL_ID) | WANT(SEQUENCE) | WANT(FWD_THREAD) | WANT(INPUT_DIMS) | WANT(INPUT_TYPES) | \
                       WANT(INPUT_STRIDES) | WANT(CONCRETE_INPUTS) | WANT(CALL_STACK) | WANT(MODULE_HIERARCHY))

const struct sql_table sql_tables[] = {
    { .name = "events", .help = "everything that was recorded, with all arguments", .kinds = UINT32_MAX, .args = ALL_ARGS },
    { .name = "operators", .help = "what the framework ran", .kinds = KINDS_OF(EVENT_OP), .args = OPERATOR_ARGS,
      .nests = true },
    { .name = "kernels", .help = "what computed or communicated on a device", .kinds = KINDS_OF(EVENT_KERNEL),
      .args = KERNEL_ARGS, .links = true },
    { .name = "copies", .help = "copies and memsets of a device", .kinds = KINDS_OF(EVENT_MEMCPY) | KINDS_OF(EVENT_MEMSET),
      .args = WANT(BYTES) | WANT(BANDWIDTH) | WANT(CORRELATION) | WANT(EXTERNAL_ID), .links = true },
    { .name = "calls", .help = "calls of the runtime and the driver", .kinds = KINDS_OF(EVENT_RUNTIME) | KINDS_OF(EVENT_DRIVER),
      .args = WANT(CORRELATION) | WANT(EXTERNAL_ID) | WANT(CBID) | WANT(BYTES), .links = true },
    { .name = "launches", .help = "work of devices, with the call that launched it and the operator that made that call",
      .kinds = WORK_KINDS, .links = true },
    { .name = "annotations", .help = "record_function, NVTX ranges, steps; on the host and as their shadows on devices",
      .kinds = KINDS_OF(EVENT_ANNOTATION) | KINDS_OF(EVENT_GPU_ANNOTATION), .args = WANT(EXTERNAL_ID) | WANT(NVTX_CATEGORY) },
    ROWS_OF("steps", "the steps of the run", step_columns, count_steps, step_cell),
    ROWS_OF("tracks", "threads and streams", track_columns, count_tracks, track_cell),
    ROWS_OF("args", "the arguments of events, one a row", arg_columns, count_args, arg_cell, .is_row = is_arg,
            .wants = { .args = ALL_ARGS }),
    ROWS_OF("memory", "allocations and frees, device after device", memory_columns, count_memory, memory_cell,
            .wants = { .args = MEMORY_RECORDS_WANTS }),
    ROWS_OF("flows", "the ends of arrows between events", flow_columns, count_flows, flow_cell, .wants = { .flows = true }),
    ROWS_OF("counters", "samples of counters", counter_columns, count_counters, counter_cell, .wants = { .counters = true }),
    ROWS_OF("files", "the files that were read", file_columns, count_files, file_cell),
    { 0 },
};
/* clang-format on */

void sql_add_type(struct buffer *out, enum table_kind kind)
{
    const char *affinity = table_is_text(kind) ? "TEXT" : table_is_number(kind) ? "REAL" : "INT";
    buffer_puts(out, affinity);
    bool plain = kind == TABLE_TEXT || kind == TABLE_COUNT || kind == TABLE_TALLY || kind == TABLE_NUMBER ||
                 kind == TABLE_RATE;
    if (!plain)
        buffer_printf(out, "_%s", table_kind_name(kind));
}

bool sql_table_column(const struct sql_table *table, size_t index, struct buffer *text,
                      struct sql_column *column)
{
    if (table->kinds)
        return sql_event_column(table, index, text, column);
    if (index < table->column_count)
        *column = table->columns[index];
    return index < table->column_count;
}

void sql_add_schema(struct buffer *out, const struct sql_table *table)
{
    SCOPED struct buffer name = { 0 };
    struct sql_column column;
    buffer_printf(out, "CREATE TABLE %s(", table->name);
    for (size_t i = 0; sql_table_column(table, i, &name, &column); i++) {
        buffer_printf(out, "%s\"%s\" ", i ? ", " : "", column.name);
        sql_add_type(out, column.kind);
    }
    buffer_puts(out, ")");
}
