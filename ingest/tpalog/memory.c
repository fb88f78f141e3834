/*
 * memory.c - converts allocations and frees of a log to `[memory]` events as of PyTorch's profiler.
 *
 * They are allocations of the driver, so a framework's caching allocator appears with its reserved memory. Records
 * refer to their call, but not to a thread, which the call gives; so they wait until all calls are read. Pinned memory
 * counts as memory of the host; managed memory as the device's.
 */
#include "ingest/tpalog/log.h"
#include "base/rows.h"

enum { RELEASE = 2, PAGEABLE = 1, PINNED = 2 };
enum { TYPE_HOST = 0, TYPE_CUDA = 1 }; /* c10::DeviceType */

struct memory_row {
    int64_t time, operation, address, bytes, memory_kind, device, correlation, thread, in_use;
};

struct call {
    int64_t correlation, thread;
};

/* The memory of a kind in use on a device. */
struct usage {
    int64_t type, device, memory_kind, in_use;
};

struct log_memory {
    VEC_OF(struct memory_row) rows;
    VEC_OF(struct call) calls;
    VEC_OF(struct usage) usages;
};

static struct log_memory *memory_of(struct tpalog_reader *reader)
{
    if (!reader->log->memory)
        reader->log->memory = mem_zalloc(1, sizeof *reader->log->memory);
    return reader->log->memory;
}

void tpalog_memory_release(struct tpalog_log *log)
{
    if (!log->memory)
        return;
    EACH(VEC_FREE, &log->memory->rows, &log->memory->calls, &log->memory->usages);
    free(log->memory);
    log->memory = NULL;
}

void tpalog_memory_record_call(struct tpalog_reader *reader, int64_t correlation, int64_t thread)
{
    *VEC_PUSH(&memory_of(reader)->calls) = (struct call){ correlation, thread };
}

void tpalog_join_memory(struct tpalog_reader *reader, const struct tpalog_part *part)
{
    struct log_memory *memory = memory_of(reader);
    for (size_t i = 0; i < part->head.rows; i++)
        *VEC_PUSH(&memory->rows) = (struct memory_row){
            .time = tpalog_field(part, TPAFILE_MEMORY_TIME, i),
            .operation = tpalog_field(part, TPAFILE_MEMORY_OPERATION, i),
            .address = tpalog_field(part, TPAFILE_MEMORY_ADDRESS, i),
            .bytes = tpalog_field(part, TPAFILE_MEMORY_BYTES, i),
            .memory_kind = tpalog_field(part, TPAFILE_MEMORY_MEMORY_KIND, i),
            .device = tpalog_field(part, TPAFILE_MEMORY_DEVICE, i),
            .correlation = tpalog_field(part, TPAFILE_MEMORY_CORRELATION, i),
            .thread = tpalog_field(part, TPAFILE_MEMORY_THREAD, i),
            .in_use = tpalog_field(part, TPAFILE_MEMORY_IN_USE, i),
        };
}

static const struct key by_correlation[] = { ASC(struct call, correlation), KEY_END };

static const struct key by_rows[] = { ASC(struct memory_row, time), KEY_END };

/* The thread of the record; the first of the process if unknown. */
static int64_t thread_of(const struct log_memory *memory, const struct memory_row *row)
{
    if (row->thread != TPAFILE_NONE || row->correlation == TPAFILE_NONE || memory->calls.count == 0)
        return row->thread;
    struct call key = { row->correlation, 0 };
    const struct call *call =
        rows_find(memory->calls.at, memory->calls.count, sizeof key, by_correlation, &key);
    return call ? call->thread : TPAFILE_NONE;
}

/* Apply CHANGE. Returns the memory in use on the device afterwards, over all kinds. */
static int64_t count_usage(struct log_memory *memory, int64_t type, int64_t device,
                           const struct memory_row *row, int64_t change)
{
    struct usage *usage = NULL;
    for (size_t i = 0; i < memory->usages.count && !usage; i++) {
        struct usage *known = &memory->usages.at[i];
        if (known->type == type && known->device == device && known->memory_kind == row->memory_kind)
            usage = known;
    }
    if (!usage) {
        usage = VEC_PUSH(&memory->usages);
        *usage = (struct usage){ type, device, row->memory_kind, 0 };
    }
    if (row->in_use != TPAFILE_NONE)
        usage->in_use = row->in_use;
    else if (__builtin_add_overflow(usage->in_use, change, &usage->in_use) || usage->in_use < 0)
        usage->in_use = 0; /* it freed memory allocated before the log began */
    int64_t sum = 0;
    FOR_EACH(known, &memory->usages) {
        if (known->type == type && known->device == device &&
            __builtin_add_overflow(sum, known->in_use, &sum))
            sum = INT64_MAX;
    }
    return sum;
}

static void memory_set_arg(struct tpalog_reader *reader, struct tpalog_part *part,
                           struct log_columns *columns, enum trace_arg arg, int64_t value)
{
    int64_t *to = tpalog_columns_arg(reader, part, columns, arg);
    if (to)
        *to = value;
}

static void add_row(struct tpalog_reader *reader, struct tpalog_part *part, struct log_columns *columns,
                    const struct memory_row *row)
{
    struct log_memory *memory = reader->log->memory;
    bool usable = row->bytes >= 0 && (row->operation == 1 || row->operation == RELEASE);
    if (!usable || !tpalog_columns_time(reader, columns, row->time, 0))
        return;
    bool host = row->memory_kind == PAGEABLE || row->memory_kind == PINNED;
    int64_t type = host ? TYPE_HOST : TYPE_CUDA;
    int64_t device = host ? -1 : row->device == TPAFILE_NONE ? 0 : row->device;
    int64_t change = row->operation == RELEASE ? -row->bytes : row->bytes;
    size_t i = columns->count;
    columns->name[i] = trace_builder_name(reader->builder, "[memory]", 8);
    columns->track[i] = tpalog_thread_track(reader, thread_of(memory, row));
    columns->category[i] = tpalog_category(reader, LOG_INSTANT);
    columns->flags[i] = EVENT_POINT;
    memory_set_arg(reader, part, columns, ARG_BYTES, change);
    memory_set_arg(reader, part, columns, ARG_DEVICE_TYPE, type);
    memory_set_arg(reader, part, columns, ARG_DEVICE_ID, device);
    if (row->address != TPAFILE_NONE)
        memory_set_arg(reader, part, columns, ARG_ADDRESS, row->address);
    memory_set_arg(reader, part, columns, ARG_TOTAL_ALLOCATED,
                   count_usage(memory, type, device, row, change));
    columns->count++;
}

bool tpalog_memory_finish(struct tpalog_reader *reader, struct tpa_error *err)
{
    struct log_memory *memory = reader->log->memory;
    size_t count = memory ? memory->rows.count : 0;
    if (count == 0)
        return true;
    SORT(&memory->calls, by_correlation);
    SORT_ARRAY(memory->rows.at, count, by_rows);
    struct tpalog_part part = { .head.rows = (uint32_t)count };
    struct log_columns columns;
    tpalog_columns_begin(&part, &columns);
    for (size_t i = 0; i < count; i++)
        add_row(reader, &part, &columns, &memory->rows.at[i]);
    bool ok = tpalog_columns_end(reader, &columns, err);
    tpalog_part_release(&part);
    return ok;
}
