/*
 * records.c - converts the records of the capture library to events: kernels, copies, calls, waits, memory.
 *
 * A block of records is converted to columns of events as a whole. Names, tracks and arguments are those of PyTorch's
 * profiler, so that every analysis applies to a log:
 *
 *     KERNEL, GRAPH   kernel        on device / stream         MARKER, RANGE   ranges.c
 *     MEMCPY          gpu_memcpy                               MEMORY          memory.c
 *     MEMSET          gpu_memset                               WINDOW          Trace: the recording window
 *     SYNC            cuda_sync                                DROPPED, NOTE   notices
 *     API             cuda_runtime, cuda_driver on process / thread
 *     OVERHEAD        overhead
 *
 * Numbers that CUPTI enumerates are those of CUDA 11.8 to 13.
 */
#include "ingest/tpalog/log.h"

#include <inttypes.h>

/* Result of polling calls: not a failure. */
enum { NOT_READY = 600 };

static name_id records_add_text(struct tpalog_reader *reader, const char *text)
{
    return trace_builder_text(reader->builder, text, strlen(text));
}

static name_id add_name(struct tpalog_reader *reader, const char *text)
{
    return trace_builder_name(reader->builder, text, strlen(text));
}

/* The conversion of one part. */
struct making {
    struct tpalog_reader *reader;
    struct tpalog_part *part;
    struct log_columns columns;
};

static void records_set_arg(struct making *making, enum trace_arg arg, int64_t value)
{
    int64_t *to = value == TPAFILE_NONE
                      ? NULL
                      : tpalog_columns_arg(making->reader, making->part, &making->columns, arg);
    if (to)
        *to = value;
}

static void set_decimal(struct making *making, enum trace_arg arg, double value)
{
    int64_t bits;
    memcpy(&bits, &value, sizeof bits);
    records_set_arg(making, arg, bits);
}

/* "[x,y,z]", which most kernels share with others: cached by a hash of the numbers. */
static name_id json_of(struct tpalog_reader *reader, int64_t x, int64_t y, int64_t z)
{
    uint64_t hash = ((uint64_t)x * 31 + (uint64_t)y) * 31 + (uint64_t)z;
    struct log_json *known = &reader->log->facts->json[hash * UINT64_C(0x9E3779B97F4A7C15) >> 56];
    if (known->id != NAME_NONE && known->x == x && known->y == y && known->z == z)
        return known->id;
    char text[80];
    int len = snprintf(text, sizeof text, "[%" PRId64 ",%" PRId64 ",%" PRId64 "]", x, y, z);
    *known = (struct log_json){ x, y, z, trace_builder_text(reader->builder, text, (size_t)len) };
    return known->id;
}

static int64_t or_zero(int64_t value)
{
    return value == TPAFILE_NONE ? 0 : value;
}

/* The common part of kernels, copies and memsets, whose field numbers differ. False if it has no time. */
struct work_fields {
    unsigned start, duration, correlation, device, context, stream, graph, graph_node;
};
#define WORK_FIELDS(kind)                                                                                    \
    {                                                                                                        \
        TPAFILE_##kind##_START, TPAFILE_##kind##_DURATION, TPAFILE_##kind##_CORRELATION,                     \
            TPAFILE_##kind##_DEVICE, TPAFILE_##kind##_CONTEXT, TPAFILE_##kind##_STREAM,                      \
            TPAFILE_##kind##_GRAPH, TPAFILE_##kind##_GRAPH_NODE                                              \
    }

static bool begin_work(struct making *making, const struct work_fields *fields, size_t row,
                       enum log_category category)
{
    const struct tpalog_part *part = making->part;
    struct log_columns *columns = &making->columns;
    if (!tpalog_columns_time(making->reader, columns, tpalog_field(part, fields->start, row),
                             tpalog_field(part, fields->duration, row)))
        return false;
    int64_t device = tpalog_field(part, fields->device, row),
            stream = tpalog_field(part, fields->stream, row);
    columns->track[columns->count] = tpalog_stream_track(making->reader, device, stream);
    columns->category[columns->count] = tpalog_category(making->reader, category);
    records_set_arg(making, ARG_CORRELATION, tpalog_field(part, fields->correlation, row));
    records_set_arg(making, ARG_DEVICE, device);
    records_set_arg(making, ARG_CONTEXT, tpalog_field(part, fields->context, row));
    records_set_arg(making, ARG_STREAM, stream);
    if (or_zero(tpalog_field(part, fields->graph, row)) != 0)
        records_set_arg(making, ARG_GRAPH_ID, tpalog_field(part, fields->graph, row));
    if (or_zero(tpalog_field(part, fields->graph_node, row)) != 0)
        records_set_arg(making, ARG_GRAPH_NODE_ID, tpalog_field(part, fields->graph_node, row));
    return true;
}

/* The blocks of a launch per multiprocessor of its device. */
static void set_spread(struct making *making, int64_t device, double blocks, double threads)
{
    const struct log_facts *facts = making->reader->log->facts;
    FOR_EACH(known, &facts->devices) {
        if (known->number != device || known->sm_count == 0)
            continue;
        set_decimal(making, ARG_BLOCKS_PER_SM, blocks / known->sm_count);
        if (known->warp_size)
            set_decimal(making, ARG_WARPS_PER_SM, blocks * threads / known->warp_size / known->sm_count);
        return;
    }
}

static bool join_kernels(struct tpalog_reader *reader, struct tpalog_part *part, struct tpa_error *err)
{
    static const struct work_fields fields = WORK_FIELDS(KERNEL);
    struct making making = { reader, part, { 0 } };
    tpalog_columns_begin(part, &making.columns);
    bool wants_grid = trace_builder_wants(reader->builder, ARG_GRID);
    bool wants_block = trace_builder_wants(reader->builder, ARG_BLOCK);
    for (size_t i = 0; i < part->head.rows; i++) {
        if (!begin_work(&making, &fields, i, LOG_KERNEL))
            continue;
        making.columns.name[making.columns.count] =
            tpalog_name_id(&reader->texts, reader->builder, tpalog_field(part, TPAFILE_KERNEL_NAME, i));
        records_set_arg(&making, ARG_REGISTERS, tpalog_field(part, TPAFILE_KERNEL_REGISTERS, i));
        int64_t fixed = tpalog_field(part, TPAFILE_KERNEL_STATIC_SHARED, i);
        int64_t given = tpalog_field(part, TPAFILE_KERNEL_DYNAMIC_SHARED, i);
        if (fixed != TPAFILE_NONE || given != TPAFILE_NONE)
            records_set_arg(&making, ARG_SHARED_MEMORY,
                            (int64_t)((uint64_t)or_zero(fixed) + (uint64_t)or_zero(given)));
        int64_t grid[] = { tpalog_field(part, TPAFILE_KERNEL_GRID_X, i),
                           tpalog_field(part, TPAFILE_KERNEL_GRID_Y, i),
                           tpalog_field(part, TPAFILE_KERNEL_GRID_Z, i) };
        int64_t block[] = { tpalog_field(part, TPAFILE_KERNEL_BLOCK_X, i),
                            tpalog_field(part, TPAFILE_KERNEL_BLOCK_Y, i),
                            tpalog_field(part, TPAFILE_KERNEL_BLOCK_Z, i) };
        if (wants_grid && grid[0] != TPAFILE_NONE)
            records_set_arg(&making, ARG_GRID, json_of(reader, grid[0], grid[1], grid[2]));
        if (wants_block && block[0] != TPAFILE_NONE)
            records_set_arg(&making, ARG_BLOCK, json_of(reader, block[0], block[1], block[2]));
        if (grid[0] != TPAFILE_NONE && block[0] != TPAFILE_NONE)
            set_spread(&making, tpalog_field(part, TPAFILE_KERNEL_DEVICE, i),
                       (double)grid[0] * (double)grid[1] * (double)grid[2],
                       (double)block[0] * (double)block[1] * (double)block[2]);
        making.columns.count++;
    }
    return tpalog_columns_end(reader, &making.columns, err);
}

/* ---- copies ---- */

static const char *memory_word(int64_t kind)
{
    static const char *const words[] = { "Unknown", "Pageable", "Pinned",        "Device",
                                         "Array",   "Managed",  "Device Static", "Managed Static" };
    return kind >= 0 && kind < (int64_t)(sizeof words / sizeof *words) ? words[kind] : "Unknown";
}

static const char *direction_word(int64_t kind)
{
    static const char *const words[] = { "Unknown", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA",
                                         "AtoD",    "DtoA", "DtoD", "HtoH", "PtoP" };
    return kind >= 0 && kind < (int64_t)(sizeof words / sizeof *words) ? words[kind] : "Unknown";
}

/* GB/s, which are bytes per nanosecond. */
static void set_bytes(struct making *making, int64_t bytes)
{
    records_set_arg(making, ARG_BYTES, bytes);
    int64_t dur_ns = making->columns.dur_ns[making->columns.count];
    if (bytes > 0 && dur_ns > 0)
        set_decimal(making, ARG_BANDWIDTH, (double)bytes / (double)dur_ns);
}

static bool join_copies(struct tpalog_reader *reader, struct tpalog_part *part, struct tpa_error *err)
{
    static const struct work_fields fields = WORK_FIELDS(MEMCPY);
    struct making making = { reader, part, { 0 } };
    tpalog_columns_begin(part, &making.columns);
    for (size_t i = 0; i < part->head.rows; i++) {
        if (!begin_work(&making, &fields, i, LOG_MEMCPY))
            continue;
        char name[96];
        snprintf(name, sizeof name, "Memcpy %s (%s -> %s)",
                 direction_word(tpalog_field(part, TPAFILE_MEMCPY_KIND, i)),
                 memory_word(tpalog_field(part, TPAFILE_MEMCPY_SOURCE_KIND, i)),
                 memory_word(tpalog_field(part, TPAFILE_MEMCPY_TARGET_KIND, i)));
        making.columns.name[making.columns.count] = add_name(reader, name);
        set_bytes(&making, tpalog_field(part, TPAFILE_MEMCPY_BYTES, i));
        making.columns.count++;
    }
    return tpalog_columns_end(reader, &making.columns, err);
}

static bool join_memsets(struct tpalog_reader *reader, struct tpalog_part *part, struct tpa_error *err)
{
    static const struct work_fields fields = WORK_FIELDS(MEMSET);
    struct making making = { reader, part, { 0 } };
    tpalog_columns_begin(part, &making.columns);
    for (size_t i = 0; i < part->head.rows; i++) {
        if (!begin_work(&making, &fields, i, LOG_MEMSET))
            continue;
        char name[48];
        snprintf(name, sizeof name, "Memset (%s)",
                 memory_word(tpalog_field(part, TPAFILE_MEMSET_MEMORY_KIND, i)));
        making.columns.name[making.columns.count] = add_name(reader, name);
        set_bytes(&making, tpalog_field(part, TPAFILE_MEMSET_BYTES, i));
        making.columns.count++;
    }
    return tpalog_columns_end(reader, &making.columns, err);
}

/* A graph whose kernels are not recorded individually is one operation of its device. */
static bool join_graphs(struct tpalog_reader *reader, struct tpalog_part *part, struct tpa_error *err)
{
    static const struct work_fields fields = { TPAFILE_GRAPH_START,       TPAFILE_GRAPH_DURATION,
                                               TPAFILE_GRAPH_CORRELATION, TPAFILE_GRAPH_DEVICE,
                                               TPAFILE_GRAPH_CONTEXT,     TPAFILE_GRAPH_STREAM,
                                               TPAFILE_GRAPH_GRAPH,       TPAFILE_MOST_FIELDS - 1 };
    struct making making = { reader, part, { 0 } };
    tpalog_columns_begin(part, &making.columns);
    for (size_t i = 0; i < part->head.rows; i++) {
        if (!begin_work(&making, &fields, i, LOG_KERNEL))
            continue;
        char name[48];
        snprintf(name, sizeof name, "CUDA graph %" PRId64,
                 or_zero(tpalog_field(part, TPAFILE_GRAPH_GRAPH, i)));
        making.columns.name[making.columns.count++] = add_name(reader, name);
    }
    return tpalog_columns_end(reader, &making.columns, err);
}

/* ---- calls and waits ---- */

static name_id call_name(struct tpalog_reader *reader, int64_t api, int64_t cbid,
                         const struct log_function *function)
{
    if (function && function->name > 0)
        return tpalog_name_id(&reader->texts, reader->builder, function->name);
    char name[64];
    snprintf(name, sizeof name, "%s call %" PRId64, api == 1 ? "driver" : "runtime", cbid);
    return add_name(reader, name);
}

static bool join_calls(struct tpalog_reader *reader, struct tpalog_part *part, struct tpa_error *err)
{
    struct log_facts *facts = reader->log->facts;
    struct making making = { reader, part, { 0 } };
    struct log_columns *columns = &making.columns;
    tpalog_columns_begin(part, columns);
    for (size_t i = 0; i < part->head.rows; i++) {
        if (!tpalog_columns_time(reader, columns, tpalog_field(part, TPAFILE_API_START, i),
                                 tpalog_field(part, TPAFILE_API_DURATION, i)))
            continue;
        int64_t api = tpalog_field(part, TPAFILE_API_API, i), cbid = tpalog_field(part, TPAFILE_API_CBID, i);
        const struct log_function *function = tpalog_function(facts, api, cbid);
        int64_t thread = tpalog_field(part, TPAFILE_API_THREAD, i);
        int64_t correlation = tpalog_field(part, TPAFILE_API_CORRELATION, i);
        columns->name[columns->count] = call_name(reader, api, cbid, function);
        columns->track[columns->count] = tpalog_thread_track(reader, thread);
        columns->category[columns->count] = tpalog_category(reader, api == 1 ? LOG_DRIVER : LOG_RUNTIME);
        records_set_arg(&making, ARG_CORRELATION, correlation);
        records_set_arg(&making, ARG_CBID, cbid);
        int64_t result = or_zero(tpalog_field(part, TPAFILE_API_RESULT, i));
        if (result != 0 && result != NOT_READY && facts->failed_calls++ == 0) {
            facts->first_failed_name = function ? function->name : 0;
            facts->first_failed_result = result;
        }
        if (function && function->allocates)
            tpalog_memory_record_call(reader, correlation, thread);
        columns->count++;
    }
    return tpalog_columns_end(reader, columns, err);
}

static bool join_waits(struct tpalog_reader *reader, struct tpalog_part *part, struct tpa_error *err)
{
    static const char *const names[] = { "Unknown Sync", "Event Sync", "Stream Wait Event", "Stream Sync",
                                         "Context Sync" };
    struct making making = { reader, part, { 0 } };
    struct log_columns *columns = &making.columns;
    tpalog_columns_begin(part, columns);
    for (size_t i = 0; i < part->head.rows; i++) {
        if (!tpalog_columns_time(reader, columns, tpalog_field(part, TPAFILE_SYNC_START, i),
                                 tpalog_field(part, TPAFILE_SYNC_DURATION, i)))
            continue;
        int64_t type = tpalog_field(part, TPAFILE_SYNC_TYPE, i);
        const char *name = names[type >= 1 && type <= 4 ? type : 0];
        int64_t context = tpalog_field(part, TPAFILE_SYNC_CONTEXT, i);
        int64_t stream = tpalog_field(part, TPAFILE_SYNC_STREAM, i);
        int64_t device = tpalog_device_of_context(reader->log->facts, context);
        columns->name[columns->count] = add_name(reader, name);
        columns->track[columns->count] = tpalog_stream_track(reader, device, stream);
        columns->category[columns->count] = tpalog_category(reader, LOG_SYNC);
        records_set_arg(&making, ARG_CORRELATION, tpalog_field(part, TPAFILE_SYNC_CORRELATION, i));
        records_set_arg(&making, ARG_DEVICE, device);
        records_set_arg(&making, ARG_CONTEXT, context);
        records_set_arg(&making, ARG_STREAM, stream);
        if (trace_builder_wants(reader->builder, ARG_SYNC_KIND))
            records_set_arg(&making, ARG_SYNC_KIND, records_add_text(reader, name));
        columns->count++;
    }
    return tpalog_columns_end(reader, columns, err);
}

static bool join_overhead(struct tpalog_reader *reader, struct tpalog_part *part, struct tpa_error *err)
{
    struct making making = { reader, part, { 0 } };
    struct log_columns *columns = &making.columns;
    tpalog_columns_begin(part, columns);
    for (size_t i = 0; i < part->head.rows; i++) {
        if (!tpalog_columns_time(reader, columns, tpalog_field(part, TPAFILE_OVERHEAD_START, i),
                                 tpalog_field(part, TPAFILE_OVERHEAD_DURATION, i)))
            continue;
        int64_t name = tpalog_field(part, TPAFILE_OVERHEAD_NAME, i);
        columns->name[columns->count] = name > 0 ? tpalog_name_id(&reader->texts, reader->builder, name)
                                                 : add_name(reader, "CUPTI overhead");
        columns->track[columns->count] =
            tpalog_thread_track(reader, tpalog_field(part, TPAFILE_OVERHEAD_THREAD, i));
        columns->category[columns->count++] = tpalog_category(reader, LOG_OVERHEAD);
    }
    return tpalog_columns_end(reader, columns, err);
}

static bool join_windows(struct tpalog_reader *reader, struct tpalog_part *part, struct tpa_error *err)
{
    struct log_columns columns;
    tpalog_keep_windows(reader, part);
    tpalog_columns_begin(part, &columns);
    for (size_t i = 0; i < part->head.rows; i++) {
        if (!tpalog_columns_time(reader, &columns, tpalog_field(part, TPAFILE_WINDOW_START, i),
                                 tpalog_field(part, TPAFILE_WINDOW_DURATION, i)))
            continue;
        columns.name[columns.count] = add_name(reader, "tpa capture");
        columns.track[columns.count] = trace_builder_track(
            reader->builder,
            &(struct track_key){
                .pid_text = "Spans", .pid_len = 5, .tid_text = "tpa capture", .tid_len = 11 });
        columns.category[columns.count++] = tpalog_category(reader, LOG_WINDOW);
    }
    return tpalog_columns_end(reader, &columns, err);
}

/* ---- metadata of the log ---- */

static void join_dropped(struct log_facts *facts, const struct tpalog_part *part)
{
    for (size_t i = 0; i < part->head.rows; i++) {
        int64_t reason = tpalog_field(part, TPAFILE_DROPPED_WHY, i);
        int64_t count = tpalog_field(part, TPAFILE_DROPPED_COUNT, i);
        size_t r = reason >= 0 && reason < TPALOG_DROPPED ? (size_t)reason : TPAFILE_DROPPED_BY_CUPTI;
        facts->dropped[r] += count > 0 ? (uint64_t)count : 0;
    }
}

static void join_notes(struct tpalog_reader *reader, const struct tpalog_part *part)
{
    for (size_t i = 0; i < part->head.rows; i++) {
        size_t number;
        int64_t word_number = tpalog_field(part, TPAFILE_NOTE_WORD, i);
        int64_t text_number = tpalog_field(part, TPAFILE_NOTE_TEXT, i);
        int64_t recorded = tpalog_field(part, TPAFILE_NOTE_COUNT, i);
        uint64_t count = recorded > 0 ? (uint64_t)recorded : 1;
        if (!tpalog_takes_notice(reader, word_number, text_number, count, &number))
            continue;
        const char *word = tpalog_copy_text(reader, word_number);
        const char *text = tpalog_copy_text(reader, text_number);
        if (text)
            trace_builder_notice(reader->builder, word ? word : "note", text, count, TPA_NOWHERE);
    }
}

bool tpalog_join_record(struct tpalog_reader *reader, struct tpalog_part *part, struct tpa_error *err)
{
    reader->log->blocks++;
    if (tpalog_join_fact(reader, part))
        return true;
    switch ((enum tpafile_kind)part->head.kind) {
    case TPAFILE_KERNEL: return join_kernels(reader, part, err);
    case TPAFILE_MEMCPY: return join_copies(reader, part, err);
    case TPAFILE_MEMSET: return join_memsets(reader, part, err);
    case TPAFILE_GRAPH: return join_graphs(reader, part, err);
    case TPAFILE_API: return join_calls(reader, part, err);
    case TPAFILE_SYNC: return join_waits(reader, part, err);
    case TPAFILE_OVERHEAD: return join_overhead(reader, part, err);
    case TPAFILE_MARKER: return tpalog_join_markers(reader, part, err);
    case TPAFILE_RANGE: return tpalog_join_ranges(reader, part, err);
    case TPAFILE_STEP: tpalog_join_steps(reader, part); return true;
    case TPAFILE_MEMORY: tpalog_join_memory(reader, part); return true;
    case TPAFILE_WINDOW: return join_windows(reader, part, err);
    case TPAFILE_DROPPED: join_dropped(reader->log->facts, part); return true;
    case TPAFILE_NOTE: join_notes(reader, part); return true;
    default: return true; /* EXTERNAL: correlations with frameworks' own numbers; no analysis uses them yet */
    }
}

/* Add a notice about COUNT cases, with the text FORMAT for the count. */
static void records_describe(struct tpalog_reader *reader, const char *kind, uint64_t count,
                             const char *format)
{
    char text[256];
    if (count == 0)
        return;
    int len = snprintf(text, sizeof text, format, count);
    trace_builder_notice(reader->builder, kind, trace_builder_strndup(reader->builder, text, (size_t)len),
                         count, TPA_NOWHERE);
}

static void records_describe_losses(struct tpalog_reader *reader)
{
    static const struct {
        enum lack lack;
        const char *format;
    } dropped[TPALOG_DROPPED] = {
        [TPAFILE_DROPPED_BY_CUPTI] = { LACK_DROPPED_BY_CUPTI,
                                       "%" PRIu64
                                       " records were dropped by CUPTI before tpa capture saw them" },
        [TPAFILE_DROPPED_BEHIND] = { LACK_DROPPED_BEHIND,
                                     "%" PRIu64 " records were dropped because they came faster than "
                                     "they could be written" },
        [TPAFILE_DROPPED_MEMORY] = { LACK_DROPPED_MEMORY,
                                     "%" PRIu64 " records were dropped for want of memory" },
        [TPAFILE_DROPPED_DISK] = { LACK_DROPPED_DISK,
                                   "%" PRIu64 " records were dropped because the file could not be written" },
        [TPAFILE_DROPPED_UNKNOWN] = { LACK_DROPPED_UNKNOWN,
                                      "%" PRIu64 " records of kinds that tpa capture does not know "
                                      "were left out" },
    };
    const struct log_facts *facts = reader->log->facts;
    for (size_t i = 0; i < TPALOG_DROPPED; i++)
        records_describe(reader, lack_word(dropped[i].lack), facts->dropped[i], dropped[i].format);
    records_describe(reader, "no_time", facts->without_time,
                     "%" PRIu64 " records without a time were left out: CUPTI had none for them");
    if (facts->failed_calls) {
        char text[256];
        const struct tpalog_text *name = tpalog_text(&reader->texts, facts->first_failed_name);
        int len = snprintf(text, sizeof text,
                           "%" PRIu64
                           " CUDA call%s returned an error; the first was %.80s, which returned %" PRId64,
                           facts->failed_calls, facts->failed_calls == 1 ? "" : "s",
                           name ? name->at : "a call", facts->first_failed_result);
        trace_builder_notice(reader->builder, "failed_calls",
                             trace_builder_strndup(reader->builder, text, (size_t)len), facts->failed_calls,
                             TPA_NOWHERE);
    }
}

bool tpalog_log_finish(struct tpalog_reader *reader, struct tpa_error *err)
{
    struct tpalog_log *log = reader->log;
    if (log->blocks == 0)
        return true;
    struct trace_file *file = trace_builder_current_file(reader->builder);
    file->producer = PRODUCER_TPA;
    reader->container->is_log = true;
    if (!tpalog_ranges_finish(reader, err) || !tpalog_memory_finish(reader, err))
        return false;
    records_describe_losses(reader);
    return true;
}
