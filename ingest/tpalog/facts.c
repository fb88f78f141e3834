/* facts.c - facts in a log about the process, its clock, devices and threads; the tracks of events; and the columns
 * that hold events. */
#include "ingest/recorder.h"
#include "ingest/tpalog/log.h"

#include <inttypes.h>

static const char *const category_names[LOG_CATEGORIES] = {
    [LOG_KERNEL] = "kernel",
    [LOG_MEMCPY] = "gpu_memcpy",
    [LOG_MEMSET] = "gpu_memset",
    [LOG_SYNC] = "cuda_sync",
    [LOG_RUNTIME] = "cuda_runtime",
    [LOG_DRIVER] = "cuda_driver",
    [LOG_OVERHEAD] = "overhead",
    [LOG_OPERATOR] = "cpu_op",
    [LOG_ANNOTATION] = "user_annotation",
    [LOG_INSTANT] = "cpu_instant_event",
    [LOG_WINDOW] = "Trace",
};

struct tpalog_log *tpalog_log_open(void)
{
    struct tpalog_log *log = mem_zalloc(1, sizeof *log);
    log->facts = mem_zalloc(1, sizeof *log->facts);
    for (size_t i = 0; i < LOG_CATEGORIES; i++)
        log->facts->categories[i] = UINT16_MAX;
    for (size_t i = 0; i < JSON_TEXTS; i++)
        log->facts->json[i].id = NAME_NONE;
    log->end_ns = INT64_MIN;
    return log;
}

void tpalog_log_free(struct tpalog_log *log)
{
    struct log_facts *facts = log->facts;
    EACH(VEC_FREE, &facts->functions, &facts->devices, &facts->contexts, &facts->threads, &facts->tracks);
    tpalog_ranges_release(log);
    tpalog_memory_release(log);
    EACH(free, log, facts);
}

/* ---- facts ---- */

uint16_t tpalog_category(struct tpalog_reader *reader, enum log_category category)
{
    uint16_t *id = &reader->log->facts->categories[category];
    if (*id == UINT16_MAX)
        *id = trace_builder_category(reader->builder, category_names[category],
                                     strlen(category_names[category]));
    return *id;
}

/* There are few of each: a linear search suffices. */
static const struct log_number *find_number(const struct log_number *list, size_t count, int64_t number)
{
    return FIND_OF(one, list, count, one->pid == number);
}

static int64_t system_thread(const struct log_facts *facts, int64_t thread)
{
    const struct log_number *known = find_number(facts->threads.at, facts->threads.count, thread);
    return known ? known->tid : thread == TPAFILE_NONE ? facts->process_pid : thread;
}

int64_t tpalog_device_of_context(const struct log_facts *facts, int64_t context)
{
    const struct log_number *known = find_number(facts->contexts.at, facts->contexts.count, context);
    return known ? known->tid : 0;
}

/* The track, and whether it is new and needs names. */
static track_id find_track(struct tpalog_reader *reader, int64_t pid, int64_t tid, bool *is_new)
{
    struct log_facts *facts = reader->log->facts;
    *is_new = false;
    if (facts->last_track < facts->tracks.count && facts->tracks.at[facts->last_track].pid == pid &&
        facts->tracks.at[facts->last_track].tid == tid)
        return facts->tracks.at[facts->last_track].id;
    size_t looked = facts->tracks.count < MOST_STREAMS ? facts->tracks.count : MOST_STREAMS;
    for (size_t i = 0; i < looked; i++) {
        if (facts->tracks.at[i].pid == pid && facts->tracks.at[i].tid == tid) {
            facts->last_track = i;
            return facts->tracks.at[i].id;
        }
    }
    track_id id = trace_builder_track(reader->builder, &(struct track_key){ .pid = pid, .tid = tid });
    const struct track *track = trace_builder_track_at(reader->builder, id);
    *is_new = track->thread_name == NAME_NONE && track->process_name == NAME_NONE;
    if (facts->tracks.count < MOST_STREAMS)
        *VEC_PUSH(&facts->tracks) = (struct log_number){ pid, tid, id };
    return id;
}

static name_id facts_add_text(struct tpalog_reader *reader, const char *text)
{
    return trace_builder_text(reader->builder, text, strlen(text));
}

/* The name of the program without folders. */
static name_id process_name(struct tpalog_reader *reader)
{
    const struct tpalog_text *path = tpalog_text(&reader->texts, reader->log->facts->process_name);
    if (!path || path->len == 0)
        return NAME_NONE;
    const char *slash = strrchr(path->at, '/');
    return facts_add_text(reader, slash ? slash + 1 : path->at);
}

track_id tpalog_thread_track(struct tpalog_reader *reader, int64_t thread)
{
    struct log_facts *facts = reader->log->facts;
    bool is_new;
    int64_t tid = system_thread(facts, thread);
    track_id id = find_track(reader, facts->process_pid, tid, &is_new);
    if (is_new)
        trace_builder_track_at(reader->builder, id)->process_name = process_name(reader);
    return id;
}

track_id tpalog_stream_track(struct tpalog_reader *reader, int64_t device, int64_t stream)
{
    bool is_new;
    device = device == TPAFILE_NONE ? 0 : device;
    stream = stream == TPAFILE_NONE ? -1 : stream;
    track_id id = find_track(reader, device, stream, &is_new);
    if (is_new) {
        char label[32], name[48];
        snprintf(label, sizeof label, "GPU %" PRId64, device);
        snprintf(name, sizeof name, "stream %" PRId64, stream);
        name_id labels = facts_add_text(reader, label),
                thread = stream < 0 ? NAME_NONE : facts_add_text(reader, name);
        name_id process = process_name(reader);
        struct track *track = trace_builder_track_at(reader->builder, id);
        track->process_name = process;
        track->process_labels = labels;
        track->thread_name = thread;
    }
    return id;
}

const char *tpalog_copy_text(struct tpalog_reader *reader, int64_t number)
{
    const char *text = tpalog_keep_text(&reader->texts, reader->builder, number);
    return text && *text ? text : NULL;
}

static void add_property(struct tpalog_reader *reader, const char *key, const char *value, bool is_string)
{
    struct trace_file *file = trace_builder_current_file(reader->builder);
    if (value)
        *VEC_PUSH(&file->properties) = (struct trace_property){ key, value, is_string };
}

static void add_version(struct tpalog_reader *reader, const char *key, int64_t version)
{
    char text[48];
    if (version == TPAFILE_NONE)
        return;
    /* Formatted from CUDA's number: 12040 is 12.4. */
    int len = snprintf(text, sizeof text, "%" PRId64 ".%" PRId64, version / 1000, version % 1000 / 10);
    add_property(reader, key, trace_builder_strndup(reader->builder, text, (size_t)len), true);
}

static void join_process(struct tpalog_reader *reader, const struct tpalog_part *part)
{
    if (part->head.rows == 0)
        return;
    struct log_facts *facts = reader->log->facts;
    struct trace_file *file = trace_builder_current_file(reader->builder);
    facts->process_pid = tpalog_field(part, TPAFILE_PROCESS_PID, 0);
    if (facts->process_pid == TPAFILE_NONE)
        facts->process_pid = 0;
    facts->process_name = tpalog_field(part, TPAFILE_PROCESS_EXECUTABLE, 0);
    file->host_name = tpalog_copy_text(reader, tpalog_field(part, TPAFILE_PROCESS_HOST, 0));
    int64_t rank = tpalog_field(part, TPAFILE_PROCESS_RANK, 0);
    int64_t world_size = tpalog_field(part, TPAFILE_PROCESS_WORLD_SIZE, 0);
    file->rank = rank >= 0 ? rank : -1;
    file->world_size = world_size > 0 ? world_size : -1;
    add_property(reader, "command", tpalog_copy_text(reader, tpalog_field(part, TPAFILE_PROCESS_COMMAND, 0)),
                 true);
    add_property(reader, "recorded by",
                 tpalog_copy_text(reader, tpalog_field(part, TPAFILE_PROCESS_WRITER, 0)), true);
    add_property(reader, "recorded kinds",
                 tpalog_copy_text(reader, tpalog_field(part, TPAFILE_PROCESS_KINDS, 0)), true);
    add_property(reader, "driver",
                 tpalog_copy_text(reader, tpalog_field(part, TPAFILE_PROCESS_DRIVER_NAME, 0)), true);
    add_property(reader, "CUPTI subscription",
                 tpalog_copy_text(reader, tpalog_field(part, TPAFILE_PROCESS_SUBSCRIBED_BY, 0)), true);
    if (tpalog_field(part, TPAFILE_PROCESS_HARDWARE_TIMES, 0) == 1)
        add_property(reader, "kernel times", "hardware event system", true);
    add_version(reader, "CUDA driver", tpalog_field(part, TPAFILE_PROCESS_DRIVER_VERSION, 0));
    add_version(reader, "CUDA runtime", tpalog_field(part, TPAFILE_PROCESS_RUNTIME_VERSION, 0));
}

/* The first one defines the log's clock. */
static void join_clock(struct tpalog_reader *reader, const struct tpalog_part *part)
{
    struct log_facts *facts = reader->log->facts;
    for (size_t i = 0; i < part->head.rows && !facts->has_clock; i++) {
        int64_t time = tpalog_field(part, TPAFILE_CLOCK_TIME, i),
                wall = tpalog_field(part, TPAFILE_CLOCK_WALL, i);
        int64_t base;
        if (time == TPAFILE_NONE || wall == TPAFILE_NONE || __builtin_sub_overflow(wall, time, &base) ||
            base < -TPAFILE_LATEST_WALL || base > TPAFILE_LATEST_WALL)
            continue;
        struct trace_file *file = trace_builder_current_file(reader->builder);
        file->has_base = facts->has_clock = true;
        file->base_ns = base;
    }
}

static int known_int(int64_t value)
{
    return value > 0 && value <= INT32_MAX ? (int)value : 0;
}

static void join_devices(struct tpalog_reader *reader, const struct tpalog_part *part)
{
    struct trace_file *file = trace_builder_current_file(reader->builder);
    for (size_t i = 0; i < part->head.rows; i++) {
        int64_t total = tpalog_field(part, TPAFILE_DEVICE_TOTAL_MEMORY, i);
        int64_t shared = tpalog_field(part, TPAFILE_DEVICE_SHARED_PER_SM, i);
        struct trace_device device = {
            .id = (int32_t)tpalog_field(part, TPAFILE_DEVICE_DEVICE, i),
            .name = tpalog_copy_text(reader, tpalog_field(part, TPAFILE_DEVICE_NAME, i)),
            .total_memory = total > 0 ? total : 0,
            .compute_major = known_int(tpalog_field(part, TPAFILE_DEVICE_COMPUTE_MAJOR, i)),
            .compute_minor = known_int(tpalog_field(part, TPAFILE_DEVICE_COMPUTE_MINOR, i)),
            .sm_count = known_int(tpalog_field(part, TPAFILE_DEVICE_SM_COUNT, i)),
            .warp_size = known_int(tpalog_field(part, TPAFILE_DEVICE_WARP_SIZE, i)),
            .max_threads_per_sm = known_int(tpalog_field(part, TPAFILE_DEVICE_MAX_THREADS_PER_SM, i)),
            .max_threads_per_block = known_int(tpalog_field(part, TPAFILE_DEVICE_MAX_THREADS_PER_BLOCK, i)),
            .regs_per_sm = known_int(tpalog_field(part, TPAFILE_DEVICE_REGISTERS_PER_SM, i)),
            .shared_memory_per_sm = shared > 0 ? shared : 0,
        };
        *VEC_PUSH(&file->devices) = device;
        *VEC_PUSH(&reader->log->facts->devices) =
            (struct log_device){ device.id, device.sm_count, device.warp_size };
    }
}

static void join_contexts(struct log_facts *facts, const struct tpalog_part *part)
{
    for (size_t i = 0; i < part->head.rows && facts->contexts.count < 4096; i++)
        *VEC_PUSH(&facts->contexts) = (struct log_number){ tpalog_field(part, TPAFILE_CONTEXT_CONTEXT, i),
                                                           tpalog_field(part, TPAFILE_CONTEXT_DEVICE, i), 0 };
}

static void join_threads(struct tpalog_reader *reader, const struct tpalog_part *part)
{
    struct log_facts *facts = reader->log->facts;
    for (size_t i = 0; i < part->head.rows; i++) {
        int64_t thread = tpalog_field(part, TPAFILE_THREAD_THREAD, i),
                tid = tpalog_field(part, TPAFILE_THREAD_TID, i);
        if (thread != tid && tid != TPAFILE_NONE && facts->threads.count < 4096)
            *VEC_PUSH(&facts->threads) = (struct log_number){ thread, tid, 0 };
        int64_t name = tpalog_field(part, TPAFILE_THREAD_NAME, i);
        if (name <= 0)
            continue;
        track_id id = tpalog_thread_track(reader, thread);
        name_id text = tpalog_text_id(&reader->texts, reader->builder, name);
        trace_builder_track_at(reader->builder, id)->thread_name = text;
    }
}

static void join_streams(struct tpalog_reader *reader, const struct tpalog_part *part)
{
    for (size_t i = 0; i < part->head.rows; i++) {
        int64_t name = tpalog_field(part, TPAFILE_STREAM_NAME, i);
        if (name <= 0)
            continue;
        int64_t device =
            tpalog_device_of_context(reader->log->facts, tpalog_field(part, TPAFILE_STREAM_CONTEXT, i));
        track_id id = tpalog_stream_track(reader, device, tpalog_field(part, TPAFILE_STREAM_STREAM, i));
        name_id text = tpalog_text_id(&reader->texts, reader->builder, name);
        trace_builder_track_at(reader->builder, id)->thread_name = text;
    }
}

/* ---- functions ---- */

static void facts_join_functions(struct tpalog_reader *reader, const struct tpalog_part *part)
{
    struct log_facts *facts = reader->log->facts;
    for (size_t i = 0; i < part->head.rows && facts->functions.count < 4096; i++) {
        int64_t name = tpalog_field(part, TPAFILE_FUNCTION_NAME, i);
        const struct tpalog_text *text = tpalog_text(&reader->texts, name);
        *VEC_PUSH(&facts->functions) =
            (struct log_function){ tpalog_field(part, TPAFILE_FUNCTION_API, i),
                                   tpalog_field(part, TPAFILE_FUNCTION_CBID, i), name,
                                   text && recorder_is_memory_call(text->at) };
    }
}

const struct log_function *tpalog_function(struct log_facts *facts, int64_t api, int64_t cbid)
{
    for (size_t tried = 0; tried < facts->functions.count; tried++) {
        size_t i = (facts->last_function + tried) % facts->functions.count;
        if (facts->functions.at[i].cbid == cbid && facts->functions.at[i].api == api) {
            facts->last_function = i;
            return &facts->functions.at[i];
        }
    }
    return NULL;
}

bool tpalog_join_fact(struct tpalog_reader *reader, const struct tpalog_part *part)
{
    switch ((enum tpafile_kind)part->head.kind) {
    case TPAFILE_PROCESS: join_process(reader, part); return true;
    case TPAFILE_CLOCK: join_clock(reader, part); return true;
    case TPAFILE_DEVICE: join_devices(reader, part); return true;
    case TPAFILE_CONTEXT: join_contexts(reader->log->facts, part); return true;
    case TPAFILE_STREAM: join_streams(reader, part); return true;
    case TPAFILE_THREAD: join_threads(reader, part); return true;
    case TPAFILE_FUNCTION: facts_join_functions(reader, part); return true;
    default: return false;
    }
}

/* ---- columns of events ---- */

void tpalog_columns_begin(struct tpalog_part *part, struct log_columns *columns)
{
    size_t rows = part->head.rows + 1;
    *columns = (struct log_columns){
        .start_ns = tpalog_part_room(part, rows * sizeof *columns->start_ns),
        .dur_ns = tpalog_part_room(part, rows * sizeof *columns->dur_ns),
        .name = tpalog_part_room(part, rows * sizeof *columns->name),
        .track = tpalog_part_room(part, rows * sizeof *columns->track),
        .category = tpalog_part_room(part, rows * sizeof *columns->category),
        .flags = tpalog_part_room(part, rows),
    };
}

bool tpalog_columns_time(struct tpalog_reader *reader, struct log_columns *columns, int64_t start,
                         int64_t duration)
{
    if (start <= 0) { /* includes TPAFILE_NONE */
        reader->log->facts->without_time++;
        return false;
    }
    size_t i = columns->count;
    bool known = duration >= 0 && duration <= TPAFILE_LARGEST;
    columns->start_ns[i] = start;
    columns->dur_ns[i] = known ? duration : 0;
    columns->flags[i] = known ? 0 : EVENT_NO_DURATION;
    if (start + columns->dur_ns[i] > reader->log->end_ns)
        reader->log->end_ns = start + columns->dur_ns[i];
    return true;
}

int64_t *tpalog_columns_arg(struct tpalog_reader *reader, struct tpalog_part *part,
                            struct log_columns *columns, enum trace_arg arg)
{
    if (!trace_builder_wants(reader->builder, arg))
        return NULL;
    struct log_arg *to = &columns->args[arg];
    if (!to->values) {
        size_t words = part->head.rows / 64 + 1;
        to->values = tpalog_part_room(part, (part->head.rows + 1) * sizeof *to->values);
        to->present = tpalog_part_room(part, words * sizeof *to->present);
        memset(to->present, 0, words * sizeof *to->present);
    }
    to->present[columns->count / 64] |= UINT64_C(1) << columns->count % 64;
    return &to->values[to->count++];
}

bool tpalog_columns_end(struct tpalog_reader *reader, const struct log_columns *columns,
                        struct tpa_error *err)
{
    struct trace_columns events = {
        .count = columns->count,
        .start_ns = columns->start_ns,
        .dur_ns = columns->dur_ns,
        .name = columns->name,
        .track = columns->track,
        .category = columns->category,
        .flags = columns->flags,
    };
    for (int arg = 0; arg < ARG_COUNT; arg++) {
        const struct log_arg *from = &columns->args[arg];
        events.args[arg] = (struct trace_columns_arg){ .present = from->present,
                                                       .values = from->values,
                                                       .count = from->count };
    }
    return trace_builder_add_columns(reader->builder, &events, err);
}
