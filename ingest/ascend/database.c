/*
 * database.c - ascend_pytorch_profiler[_N].db of torch_npu, and msprof_*.db of the msprof program.
 *
 *     TASK                        startNs endNs deviceId connectionId globalTaskId taskType contextId streamId taskId
 *     COMPUTE_TASK_INFO           globalTaskId -> name, taskType: kernels
 *     COMMUNICATION_OP            opName startNs endNs connectionId dataType algType count (rankSize): one a collective
 *     COMMUNICATION_TASK_INFO, COMMUNICATION_SCHEDULE_TASK_INFO   globalTaskId: their pieces
 *     MEMCPY_INFO (1.1)           globalTaskId -> size, memcpyOperation
 *     CANN_API                    startNs endNs type globalTid connectionId name: calls
 *     PYTORCH_API                 startNs endNs (texts) globalTid connectionId name type ...: operators, queue, Python
 *     CONNECTION_IDS              id (PYTORCH_API.connectionId) -> connectionId
 *     PYTORCH_CALLCHAINS          id -> stack, stackDepth
 *     MSTX_EVENTS                 ranges; a task with the connection of one is its shadow
 *     OP_MEMORY, MEMORY_RECORD    PyTorch's allocator
 *     STRING_IDS                  id -> value; names of the others are ids of it
 *
 * globalTid is pid << 32 | tid. 4294967295 stands for no context. A row of TASK without context, whose device, stream and
 * task another row has with a context, contains that one. Columns and tables vary (schema 1.0 of January 2025 to 1.2), so
 * all are read by name, and what is missing counts as not recorded. Older writers number the links of the framework and
 * those of CANN in one space: PYTORCH_API's are followed among rows of the queue only.
 */
#define _GNU_SOURCE /* asprintf */
#include "ingest/ascend/database.h"

#include "ingest/ascend/ascend.h"
#include "base/id_table.h"
#include "base/rows.h"
#include <inttypes.h>
#include <math.h>

#define NO_CONTEXT INT64_C(4294967295)

/* Of an operator of PYTORCH_API, by row. */
struct host_args {
    int64_t sequence, forward_thread, shapes, types, chain; /* RECORDER_NONE: none */
};

/* Of COMPUTE_TASK_INFO, ids of texts; and of MEMCPY_INFO. */
struct compute {
    int64_t name, type;
};
struct copy {
    int64_t bytes, operation;
};

/* Of COMMUNICATION_TASK_INFO: ranks, and the id of a text. */
struct peer {
    int64_t source, target, type;
};

/* A task that has a context. */
struct part {
    int64_t device, stream, task;
};

/* Text for each id. */
struct texts {
    struct id_table ids;
    VEC_OF(const char *) at;
};

/* An operator of the forward pass, or of the backward pass, that has a number of autograd. */
struct pass {
    int64_t sequence, start_ns, pid, tid;
    bool backward;
};

struct reading {
    struct database *db;
    struct trace_builder *builder;
    const struct ingest_options *options;
    struct ascend *ascend;
    struct arena arena;
    struct texts strings, stacks;
    struct texts element_types, operations, api_types;
    struct id_table computes, pieces, peers, copies, queue_links, shadows, first_task;
    VEC_OF(struct compute) compute_rows;
    VEC_OF(struct copy) copy_rows;
    VEC_OF(struct peer) peer_rows;
    VEC_OF(int64_t) link_rows, shadow_rows; /* connections; names */
    VEC_OF(int32_t) device_rows;
    int32_t first_device; /* that of the first task */
    bool has_task;
    VEC_OF(struct part) parts;
    VEC_OF(struct host_args) host_rows; /* by row of hosts */
    VEC_OF(struct pass) passes;         /* if arrows are wanted */
    bool swapped;                       /* inputShapes holds the types: torch_npu's schema 1.0.0 */
    struct buffer text;
};

/* ---- tables of ids ---- */

static const char *text_of(const struct texts *texts, int64_t id, const char *missing)
{
    uint32_t place = id == RECORDER_NONE ? ID_TABLE_NONE : id_table_find(&texts->ids, (uint64_t)id);
    return place == ID_TABLE_NONE ? missing : texts->at.at[place];
}

static const char *string_of(const struct reading *reading, int64_t id)
{
    return text_of(&reading->strings, id, "");
}

/* Read the table NAME of ids and texts, in the columns ID and VALUE. */
static void read_texts(struct reading *reading, const char *name, const char *id, const char *value,
                       struct texts *texts)
{
    FOR_ROWS(scan, table_scan_begin(reading->db, &scan, name, (const char *const[]){ id, value }, 2), true) {
        int64_t key = table_scan_int_or(&scan, 0, RECORDER_NONE);
        size_t len;
        const char *text = table_scan_text(&scan, 1, &len);
        if (key == RECORDER_NONE || !text)
            continue;
        id_table_set(&texts->ids, (uint64_t)key, (uint32_t)texts->at.count);
        *VEC_PUSH(&texts->at) = arena_strndup(&reading->arena, text, len);
    }
}

/* Map each value of the column KEY of TABLE to its place; PUSH appends a row from the further COLUMNS. */
static void read_ids(struct reading *reading, const char *table, const char *const *columns, size_t count,
                     struct id_table *ids, void (*push)(struct reading *reading, struct table_scan *scan))
{
    uint32_t place = 0;
    FOR_ROWS(scan, table_scan_begin(reading->db, &scan, table, columns, count), true) {
        int64_t key = table_scan_int_or(&scan, 0, RECORDER_NONE);
        if (key == RECORDER_NONE || id_table_find(ids, (uint64_t)key) != ID_TABLE_NONE)
            continue;
        id_table_set(ids, (uint64_t)key, place++);
        if (push)
            push(reading, &scan);
    }
}

static void push_compute(struct reading *reading, struct table_scan *scan)
{
    *VEC_PUSH(&reading->compute_rows) = (struct compute){ table_scan_int_or(scan, 1, RECORDER_NONE),
                                                          table_scan_int_or(scan, 2, RECORDER_NONE) };
}

static void push_copy(struct reading *reading, struct table_scan *scan)
{
    *VEC_PUSH(&reading->copy_rows) =
        (struct copy){ table_scan_int_or(scan, 1, RECORDER_NONE), table_scan_int_or(scan, 2, RECORDER_NONE) };
}

static void push_peer(struct reading *reading, struct table_scan *scan)
{
    *VEC_PUSH(&reading->peer_rows) =
        (struct peer){ table_scan_int_or(scan, 1, RECORDER_NONE), table_scan_int_or(scan, 2, RECORDER_NONE),
                       table_scan_int_or(scan, 3, RECORDER_NONE) };
}

static void push_link(struct reading *reading, struct table_scan *scan)
{
    *VEC_PUSH(&reading->link_rows) = table_scan_int_or(scan, 1, RECORDER_NONE);
}

static void push_shadow(struct reading *reading, struct table_scan *scan)
{
    *VEC_PUSH(&reading->shadow_rows) = table_scan_int_or(scan, 1, RECORDER_NONE);
}

#define COLUMNS(...)                                                                                         \
    (const char *const[]){ __VA_ARGS__ }, sizeof(const char *[]){ __VA_ARGS__ } / sizeof(char *)

static void read_all_ids(struct reading *reading)
{
    read_texts(reading, "STRING_IDS", "id", "value", &reading->strings);
    read_texts(reading, "ENUM_HCCL_DATA_TYPE", "id", "name", &reading->element_types);
    read_texts(reading, "ENUM_MEMCPY_OPERATION", "id", "name", &reading->operations);
    read_texts(reading, "ENUM_API_TYPE", "id", "name", &reading->api_types);
    read_ids(reading, "COMPUTE_TASK_INFO", COLUMNS("globalTaskId", "name", "taskType"), &reading->computes,
             push_compute);
    read_ids(reading, "COMMUNICATION_TASK_INFO", COLUMNS("globalTaskId"), &reading->pieces, NULL);
    read_ids(reading, "COMMUNICATION_TASK_INFO", COLUMNS("globalTaskId", "srcRank", "dstRank", "taskType"),
             &reading->peers, push_peer);
    read_ids(reading, "COMMUNICATION_SCHEDULE_TASK_INFO", COLUMNS("globalTaskId"), &reading->pieces, NULL);
    read_ids(reading, "MEMCPY_INFO", COLUMNS("globalTaskId", "size", "memcpyOperation"), &reading->copies,
             push_copy);
    read_ids(reading, "CONNECTION_IDS", COLUMNS("id", "connectionId"), &reading->queue_links, push_link);
    read_ids(reading, "MSTX_EVENTS", COLUMNS("connectionId", "message"), &reading->shadows, push_shadow);
}

/* The frames of a stack are rows of one id, the innermost first. */
static void read_stacks(struct reading *reading)
{
    struct table_scan scan;
    int64_t last = RECORDER_NONE;
    buffer_clear(&reading->text);
    if (!trace_builder_wants(reading->builder, ARG_CALL_STACK))
        return;
    bool more =
        table_scan_begin(reading->db, &scan, "PYTORCH_CALLCHAINS", (const char *const[]){ "id", "stack" }, 2);
    do {
        more = more && table_scan_next(&scan);
        int64_t id = more ? table_scan_int_or(&scan, 0, RECORDER_NONE) : RECORDER_NONE;
        if (id != last && last != RECORDER_NONE) {
            id_table_set(&reading->stacks.ids, (uint64_t)last, (uint32_t)reading->stacks.at.count);
            *VEC_PUSH(&reading->stacks.at) =
                arena_strndup(&reading->arena, reading->text.at, reading->text.count);
            buffer_clear(&reading->text);
        }
        if (more && id != RECORDER_NONE) {
            const char *frame = string_of(reading, table_scan_int_or(&scan, 1, RECORDER_NONE));
            if (reading->text.count)
                buffer_putc(&reading->text, ';');
            buffer_puts(&reading->text, frame);
        }
        last = id;
    } while (more);
    table_scan_end(&scan);
}

/* ---- the host ---- */

static name_id name_of(struct reading *reading, const char *prefix, const char *name)
{
    buffer_clear(&reading->text);
    buffer_printf(&reading->text, "%s%s", prefix, name);
    return recorder_name(ascend_recorder(reading->ascend), reading->text.at, reading->text.count);
}

static void add_host(struct reading *reading, enum ascend_host_kind kind, name_id name, int64_t start_ns,
                     int64_t end_ns, int64_t global_tid, int64_t link, const struct host_args *args)
{
    ascend_add_host(reading->ascend, &(struct ascend_host){
                                         .start_ns = start_ns,
                                         .end_ns = end_ns,
                                         .pid = global_tid == RECORDER_NONE ? 0 : global_tid >> 32,
                                         .tid = global_tid == RECORDER_NONE ? 0 : global_tid & UINT32_MAX,
                                         .link = link,
                                         .name = name,
                                         .row = (uint32_t)reading->host_rows.count,
                                         .kind = (uint8_t)kind,
                                     });
    *VEC_PUSH(&reading->host_rows) = args ? *args
                                          : (struct host_args){ RECORDER_NONE, RECORDER_NONE, RECORDER_NONE,
                                                                RECORDER_NONE, RECORDER_NONE };
}

/* "AscendCL@" before the names of calls, as in the JSON of the same profiler. */
static const char *call_prefix(const struct reading *reading, int64_t type, const char *name)
{
    static const struct {
        const char *type, *prefix;
    } prefixes[] = {
        { "acl", "AscendCL@" }, { "model", "Model@" },     { "node", "Node@" },
        { "hccl", "Hccl@" },    { "runtime", "Runtime@" }, { "communication", "Communication@" },
    };
    const char *text = text_of(&reading->api_types, type, "");
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes && !strchr(name, '@'); i++)
        if (strcmp(prefixes[i].type, text) == 0)
            return prefixes[i].prefix;
    return "";
}

static void read_calls(struct reading *reading)
{
    enum { START, END, TYPE, TID, LINK, NAME };
    FOR_ROWS(scan,
             table_scan_begin(reading->db, &scan, "CANN_API",
                              COLUMNS("startNs", "endNs", "type", "globalTid", "connectionId", "name")),
             true) {
        const char *name = string_of(reading, table_scan_int_or(&scan, NAME, RECORDER_NONE));
        const char *prefix = call_prefix(reading, table_scan_int_or(&scan, TYPE, RECORDER_NONE), name);
        add_host(reading, ASCEND_CALL, name_of(reading, prefix, name),
                 table_scan_int_or(&scan, START, RECORDER_NONE), table_scan_int_or(&scan, END, RECORDER_NONE),
                 table_scan_int_or(&scan, TID, RECORDER_NONE), table_scan_int_or(&scan, LINK, RECORDER_NONE),
                 NULL);
    }
}

enum { API_OPERATOR = 50001, API_QUEUE, API_PYTHON, API_MSTX };

static bool holds_sizes(const char *text)
{
    return strpbrk(text, "0123456789") && !text[strspn(text, "0123456789,;\r\n")];
}

/* Are the texts of the ids SHAPES and TYPES in each other's place? A type is a word, sizes are numbers. */
static bool are_swapped(const struct reading *reading, int64_t shapes, int64_t types)
{
    return holds_sizes(string_of(reading, types)) && !holds_sizes(string_of(reading, shapes));
}

/* Keep the operator for arrows. THREAD: that of its forward pass, 0 if it is of that itself. */
static void keep_pass(struct reading *reading, int64_t sequence, int64_t thread, int64_t start_ns,
                      int64_t global_tid)
{
    if (!reading->options->wants.flows || sequence < 0 || thread < 0 || start_ns == RECORDER_NONE ||
        global_tid == RECORDER_NONE)
        return;
    *VEC_PUSH(&reading->passes) =
        (struct pass){ sequence, start_ns, global_tid >> 32, global_tid & UINT32_MAX, thread > 0 };
}

static const struct key by_pass[] = { ASC(struct pass, sequence), ASC(struct pass, backward),
                                      ASC(struct pass, start_ns), KEY_END };
static const struct key by_sequence[] = { ASC(struct pass, sequence), KEY_END };

/* Arrows from the operators to those of their backward pass, which the JSON of the same profiler has: from the last of the forward
 * pass with a number to the first of the backward pass. */
static void write_arrows(struct reading *reading)
{
    struct recorder *recorder = ascend_recorder(reading->ascend);
    struct trace_chunk *chunk = recorder_chunk(recorder);
    if (reading->passes.count)
        SORT(&reading->passes, by_pass);
    FOR_GROUPS(&reading->passes, by_sequence, first, end) {
        size_t behind = first;
        while (behind < end && !reading->passes.at[behind].backward)
            behind++;
        for (size_t i = behind - 1; behind > first && behind < end && i <= behind; i++) {
            const struct pass *pass = &reading->passes.at[i];
            trace_chunk_flow(
                chunk, &(struct trace_flow){ .id = pass->sequence,
                                             .ts_ns = pass->start_ns,
                                             .category = trace_chunk_text(chunk, "fwdbwd", 6),
                                             .name = trace_chunk_text(chunk, "fwdbwd", 6),
                                             .track = recorder_thread_of(recorder, pass->pid, pass->tid),
                                             .phase = pass->backward ? 'f' : 's',
                                             .bind_enclosing = true });
        }
    }
}

static void read_framework(struct reading *reading)
{
    enum { START, END, TID, LINK, NAME, SEQUENCE, FORWARD, TYPES, SHAPES, CHAIN, TYPE };
    FOR_ROWS(
        scan,
        table_scan_begin(reading->db, &scan, "PYTORCH_API",
                         COLUMNS("startNs", "endNs", "globalTid", "connectionId", "name", "sequenceNumber",
                                 "fwdThreadId", "inputDtypes", "inputShapes", "callchainId", "type")),
        true) {
        const char *name = string_of(reading, table_scan_int_or(&scan, NAME, RECORDER_NONE));
        int64_t type = table_scan_int_or(&scan, TYPE, API_OPERATOR), link = RECORDER_NONE;
        enum ascend_host_kind kind = type == API_PYTHON                 ? ASCEND_PYTHON
                                     : type == API_MSTX                 ? ASCEND_ANNOTATION
                                     : type != API_QUEUE                ? ASCEND_OPERATOR
                                     : strncmp(name, "Enqueue", 7) == 0 ? ASCEND_ENQUEUE
                                                                        : ASCEND_DEQUEUE;
        if (type == API_QUEUE) {
            int64_t id = table_scan_int_or(&scan, LINK, RECORDER_NONE);
            uint32_t place =
                id == RECORDER_NONE ? ID_TABLE_NONE : id_table_find(&reading->queue_links, (uint64_t)id);
            link = place == ID_TABLE_NONE ? RECORDER_NONE : reading->link_rows.at[place];
        }
        if (kind == ASCEND_OPERATOR)
            keep_pass(reading, table_scan_int_or(&scan, SEQUENCE, RECORDER_NONE),
                      table_scan_int_or(&scan, FORWARD, RECORDER_NONE),
                      table_scan_int_or(&scan, START, RECORDER_NONE),
                      table_scan_int_or(&scan, TID, RECORDER_NONE));
        int64_t shapes = table_scan_int_or(&scan, SHAPES, RECORDER_NONE),
                types = table_scan_int_or(&scan, TYPES, RECORDER_NONE);
        reading->swapped |= are_swapped(reading, shapes, types);
        add_host(reading, kind, name_of(reading, "", name), table_scan_int_or(&scan, START, RECORDER_NONE),
                 table_scan_int_or(&scan, END, RECORDER_NONE), table_scan_int_or(&scan, TID, RECORDER_NONE),
                 link,
                 &(struct host_args){ table_scan_int_or(&scan, SEQUENCE, RECORDER_NONE),
                                      table_scan_int_or(&scan, FORWARD, RECORDER_NONE), shapes, types,
                                      table_scan_int_or(&scan, CHAIN, RECORDER_NONE) });
    }
}

static void read_ranges(struct reading *reading)
{
    enum { START, END, MESSAGE, TID };
    FOR_ROWS(scan,
             table_scan_begin(reading->db, &scan, "MSTX_EVENTS",
                              COLUMNS("startNs", "endNs", "message", "globalTid")),
             true) {
        const char *name = string_of(reading, table_scan_int_or(&scan, MESSAGE, RECORDER_NONE));
        add_host(reading, ASCEND_ANNOTATION, name_of(reading, "", name),
                 table_scan_int_or(&scan, START, RECORDER_NONE), table_scan_int_or(&scan, END, RECORDER_NONE),
                 table_scan_int_or(&scan, TID, RECORDER_NONE), RECORDER_NONE, NULL);
    }
}

static void set_text(struct reading *reading, struct recorder *recorder, enum trace_arg arg, int64_t id,
                     void (*convert)(const char *text, struct buffer *out))
{
    const char *text = text_of(&reading->strings, id, NULL);
    if (!text || !recorder_wants(recorder, arg))
        return;
    convert(text, &reading->text);
    recorder_arg(recorder, arg,
                 trace_chunk_text(recorder_chunk(recorder), reading->text.at ? reading->text.at : "",
                                  reading->text.count));
}

static void database_set_args(void *context, struct recorder *recorder, const struct ascend_host *host)
{
    struct reading *reading = context;
    const struct host_args *args = &reading->host_rows.at[host->row];
    recorder_arg(recorder, ARG_SEQUENCE, args->sequence);
    recorder_arg(recorder, ARG_FWD_THREAD, args->forward_thread);
    if (host->kind == ASCEND_PYTHON) /* a frame, which JSON numbers */
        recorder_arg(recorder, ARG_PYTHON_ID, host->row);
    set_text(reading, recorder, ARG_INPUT_DIMS, reading->swapped ? args->types : args->shapes, ascend_shapes);
    set_text(reading, recorder, ARG_INPUT_TYPES, reading->swapped ? args->shapes : args->types, ascend_types);
    const char *stack = text_of(&reading->stacks, args->chain, NULL);
    if (stack && host->kind == ASCEND_OPERATOR)
        recorder_arg(recorder, ARG_CALL_STACK, recorder_text(recorder, stack));
}

/* ---- tasks ---- */

static int compare_parts(const void *left, const void *right)
{
    const struct part *a = left, *b = right;
    if (a->device != b->device)
        return a->device < b->device ? -1 : 1;
    if (a->stream != b->stream)
        return a->stream < b->stream ? -1 : 1;
    return (a->task > b->task) - (a->task < b->task);
}

enum {
    TASK_START,
    TASK_END,
    TASK_DEVICE,
    TASK_LINK,
    TASK_ID,
    TASK_TYPE,
    TASK_CONTEXT,
    TASK_STREAM,
    TASK_TASK
};
static const char *const task_columns[] = { "startNs",      "endNs",        "deviceId",
                                            "connectionId", "globalTaskId", "taskType",
                                            "contextId",    "streamId",     "taskId" };
enum { TASK_COLUMNS = sizeof task_columns / sizeof *task_columns };

static struct part part_of(struct table_scan *scan)
{
    return (struct part){ table_scan_int_or(scan, TASK_DEVICE, 0), table_scan_int_or(scan, TASK_STREAM, -1),
                          table_scan_int_or(scan, TASK_TASK, -1) };
}

static int32_t device_of_part(const struct part *part)
{
    return part->device >= 0 && part->device <= INT32_MAX ? (int32_t)part->device : 0;
}

/* The tasks with a context; and a device for each connection. */
static void read_parts(struct reading *reading)
{
    FOR_ROWS(scan, table_scan_begin(reading->db, &scan, "TASK", task_columns, TASK_COLUMNS), true) {
        struct part part = part_of(&scan);
        int64_t link = table_scan_int_or(&scan, TASK_LINK, RECORDER_NONE);
        if (!reading->has_task)
            reading->first_device = device_of_part(&part);
        reading->has_task = true;
        if (table_scan_int_or(&scan, TASK_CONTEXT, NO_CONTEXT) != NO_CONTEXT)
            *VEC_PUSH(&reading->parts) = part;
        if (link != RECORDER_NONE && id_table_find(&reading->first_task, (uint64_t)link) == ID_TABLE_NONE) {
            id_table_set(&reading->first_task, (uint64_t)link, (uint32_t)reading->device_rows.count);
            *VEC_PUSH(&reading->device_rows) = device_of_part(&part);
        }
    }
    if (reading->parts.count)
        qsort(reading->parts.at, reading->parts.count, sizeof *reading->parts.at, compare_parts);
}

static uint32_t find_task(const struct id_table *table, int64_t id)
{
    return id == RECORDER_NONE ? ID_TABLE_NONE : id_table_find(table, (uint64_t)id);
}

static enum ascend_copy copy_by_number(const struct reading *reading, int64_t operation)
{
    static const enum ascend_copy copies[] = { ASCEND_COPY_HTOH, ASCEND_COPY_HTOD,    ASCEND_COPY_DTOH,
                                               ASCEND_COPY_DTOD, ASCEND_COPY_MANAGED, ASCEND_COPY_DTOD,
                                               ASCEND_COPY_HTOD, ASCEND_COPY_DTOH };
    const char *text = text_of(&reading->operations, operation, NULL);
    if (text)
        return ascend_copy_of(text);
    return operation >= 0 && operation < (int64_t)(sizeof copies / sizeof *copies) ? copies[operation]
                                                                                   : ASCEND_COPY_UNKNOWN;
}

static void database_add_task(struct reading *reading, struct table_scan *scan)
{
    int64_t id = table_scan_int_or(scan, TASK_ID, RECORDER_NONE);
    struct part part = part_of(scan);
    const char *type = string_of(reading, table_scan_int_or(scan, TASK_TYPE, RECORDER_NONE));
    struct ascend_task task = {
        .start_ns = table_scan_int_or(scan, TASK_START, RECORDER_NONE),
        .end_ns = table_scan_int_or(scan, TASK_END, RECORDER_NONE),
        .stream = part.stream,
        .link = table_scan_int_or(scan, TASK_LINK, RECORDER_NONE),
        .bytes = RECORDER_NONE,
        .elements = RECORDER_NONE,
        .rank_count = RECORDER_NONE,
        .source = RECORDER_NONE,
        .target = RECORDER_NONE,
        .name = type,
        .type = type,
        .device = device_of_part(&part),
    };
    uint32_t compute = find_task(&reading->computes, id), copy = find_task(&reading->copies, id),
             peer = find_task(&reading->peers, id), shadow = find_task(&reading->shadows, task.link);
    if (find_task(&reading->pieces, id) != ID_TABLE_NONE) {
        task.role = ASCEND_PIECE;
        if (peer != ID_TABLE_NONE) {
            task.source = reading->peer_rows.at[peer].source;
            task.target = reading->peer_rows.at[peer].target;
            task.name = task.type = string_of(reading, reading->peer_rows.at[peer].type);
        }
    } else if (compute != ID_TABLE_NONE) {
        task.role = ASCEND_KERNEL;
        task.name = string_of(reading, reading->compute_rows.at[compute].name);
        task.type = string_of(reading, reading->compute_rows.at[compute].type);
    } else if (shadow != ID_TABLE_NONE) {
        task.role = ASCEND_SHADOW;
        task.name = string_of(reading, reading->shadow_rows.at[shadow]);
    } else if (table_scan_int_or(scan, TASK_CONTEXT, NO_CONTEXT) == NO_CONTEXT) {
        task.contains = reading->parts.count && bsearch(&part, reading->parts.at, reading->parts.count,
                                                        sizeof part, compare_parts) != NULL;
    }
    if (copy != ID_TABLE_NONE && task.role == ASCEND_BY_TYPE) {
        task.role = ASCEND_COPY;
        task.bytes = reading->copy_rows.at[copy].bytes;
        task.copy = (uint8_t)copy_by_number(reading, reading->copy_rows.at[copy].operation);
    }
    ascend_add_task(reading->ascend, &task);
}

static void read_tasks(struct reading *reading)
{
    FOR_ROWS(scan, table_scan_begin(reading->db, &scan, "TASK", task_columns, TASK_COLUMNS), true)
        database_add_task(reading, &scan);
}

static void read_collectives(struct reading *reading)
{
    enum { NAME, START, END, LINK, TYPE, COUNT, RANKS };
    FOR_ROWS(scan,
             table_scan_begin(
                 reading->db, &scan, "COMMUNICATION_OP",
                 COLUMNS("opName", "startNs", "endNs", "connectionId", "dataType", "count", "rankSize")),
             true) {
        int64_t link = table_scan_int_or(&scan, LINK, RECORDER_NONE);
        uint32_t place = find_task(&reading->first_task, link);
        ascend_add_task(
            reading->ascend,
            &(struct ascend_task){
                .start_ns = table_scan_int_or(&scan, START, RECORDER_NONE),
                .end_ns = table_scan_int_or(&scan, END, RECORDER_NONE),
                .stream = RECORDER_NONE,
                .link = link,
                .bytes = RECORDER_NONE,
                .elements = table_scan_int_or(&scan, COUNT, RECORDER_NONE),
                .rank_count = table_scan_int_or(&scan, RANKS, RECORDER_NONE),
                .source = RECORDER_NONE,
                .target = RECORDER_NONE,
                .name = string_of(reading, table_scan_int_or(&scan, NAME, RECORDER_NONE)),
                .type = "",
                .element =
                    text_of(&reading->element_types, table_scan_int_or(&scan, TYPE, RECORDER_NONE), NULL),
                .device = place == ID_TABLE_NONE ? reading->first_device : reading->device_rows.at[place],
                .role = ASCEND_COLLECTIVE,
            });
    }
}

/* ---- memory and counters ---- */

/* Rows without a stream are of the graph engine's pool of workspaces. */
static void database_read_blocks(struct reading *reading)
{
    enum { NAME, SIZE, ALLOCATED, RELEASED, IN_USE, RESERVED, IN_USE_THEN, RESERVED_THEN, STREAM, DEVICE };
    FOR_ROWS(
        scan,
        table_scan_begin(reading->db, &scan, "OP_MEMORY",
                         COLUMNS("name", "size", "allocationTime", "releaseTime", "allocationTotalAllocated",
                                 "allocationTotalReserved", "releaseTotalAllocated", "releaseTotalReserved",
                                 "streamPtr", "deviceId")),
        true) {
        if (table_scan_int_or(&scan, STREAM, RECORDER_NONE) == RECORDER_NONE)
            continue;
        ascend_add_block(
            reading->ascend,
            &(struct ascend_block){
                .allocated_ns = table_scan_int_or(&scan, ALLOCATED, RECORDER_NONE),
                .released_ns = table_scan_int_or(&scan, RELEASED, RECORDER_NONE),
                .bytes = table_scan_int_or(&scan, SIZE, RECORDER_NONE),
                .device = table_scan_int_or(&scan, DEVICE, 0),
                .allocated_total = table_scan_int_or(&scan, IN_USE, RECORDER_NONE),
                .allocated_reserved = table_scan_int_or(&scan, RESERVED, RECORDER_NONE),
                .released_total = table_scan_int_or(&scan, IN_USE_THEN, RECORDER_NONE),
                .released_reserved = table_scan_int_or(&scan, RESERVED_THEN, RECORDER_NONE),
                .name =
                    name_of(reading, "", string_of(reading, table_scan_int_or(&scan, NAME, RECORDER_NONE))),
            });
    }
}

static void database_read_levels(struct reading *reading)
{
    enum { COMPONENT, MOMENT, ALLOCATED, RESERVED, DEVICE };
    struct table_scan scan;
    if (table_scan_begin(reading->db, &scan, "MEMORY_RECORD",
                         COLUMNS("component", "timestamp", "totalAllocated", "totalReserved", "deviceId")))
        while (table_scan_next(&scan))
            if (strcmp(string_of(reading, table_scan_int_or(&scan, COMPONENT, RECORDER_NONE)), "PTA") == 0)
                ascend_add_level(reading->ascend,
                                 &(struct ascend_level){
                                     .time_ns = table_scan_int_or(&scan, MOMENT, RECORDER_NONE),
                                     .device = table_scan_int_or(&scan, DEVICE, 0),
                                     .allocated = table_scan_int_or(&scan, ALLOCATED, RECORDER_NONE),
                                     .reserved = table_scan_int_or(&scan, RESERVED, RECORDER_NONE),
                                 });
    table_scan_end(&scan);
}

/* A counter: the column VALUE of TABLE. KIND, the id of a text, and NUMBER tell rows of several series apart. */
static const struct counter {
    const char *table, *value, *name, *kind, *number;
} counters[] = {
    { "AICORE_FREQ", "freq", "AI Core Freq MHz", NULL, NULL },
    { "HBM", "bandwidth", "HBM", "type", "hbmId" },
    { "LLC", "hitRate", "LLC hit rate", "mode", "llcId" },
    { "LLC", "throughput", "LLC throughput", "mode", "llcId" },
    { "NPU_MEM", "ddr", "DDR", "type", NULL },
    { "NPU_MEM", "hbm", "HBM", "type", NULL },
    { "SOC_BANDWIDTH_LEVEL", "l2BufferBwLevel", "L2 Buffer Bw Level", NULL, NULL },
    { "SOC_BANDWIDTH_LEVEL", "mataBwLevel", "Mata Bw Level", NULL, NULL },
    { "ACC_PMU", "readBwLevel", "read bandwidth", NULL, "accId" },
    { "ACC_PMU", "writeBwLevel", "write bandwidth", NULL, "accId" },
    { "ACC_PMU", "readOstLevel", "read outstanding", NULL, "accId" },
    { "ACC_PMU", "writeOstLevel", "write outstanding", NULL, "accId" },
};

static void read_counter(struct reading *reading, const struct counter *counter)
{
    enum { MOMENT, DEVICE, VALUE, KIND, NUMBER };
    struct recorder *recorder = ascend_recorder(reading->ascend);
    FOR_ROWS(scan,
             table_scan_begin(reading->db, &scan, counter->table,
                              (const char *const[]){ "timestampNs", "deviceId", counter->value, counter->kind,
                                                     counter->number },
                              5),
             true) {
        double value = table_scan_double(&scan, VALUE);
        if (isnan(value))
            continue;
        char process[80];
        int len = snprintf(process, sizeof process, "NPU %" PRId64 " %.40s",
                           table_scan_int_or(&scan, DEVICE, 0), counter->table);
        track_id track = trace_chunk_track(
            recorder_chunk(recorder),
            &(struct track_key){
                .pid_text = process, .pid_len = (size_t)len, .tid_text = "counters", .tid_len = 8 });
        buffer_clear(&reading->text);
        buffer_puts(&reading->text, counter->name);
        if (counter->number)
            buffer_printf(&reading->text, " %" PRId64, table_scan_int_or(&scan, NUMBER, 0));
        if (counter->kind)
            buffer_printf(&reading->text, " %.40s",
                          string_of(reading, table_scan_int_or(&scan, KIND, RECORDER_NONE)));
        recorder_sample(recorder, track, reading->text.at, table_scan_int_or(&scan, MOMENT, RECORDER_NONE),
                        value);
    }
}

static void fill_file(struct reading *reading, struct source *source)
{
    struct trace_file *file = trace_builder_current_file(reading->builder);
    struct table_scan scan;
    file->format = "Ascend SQLite";
    file->packing = source_packing(source);
    file->packed_size = source_packed_size(source);
    file->size = database_size(reading->db);
    bool several = false;
    if (table_scan_begin(reading->db, &scan, "RANK_DEVICE_MAP", COLUMNS("rankId", "deviceId")))
        while (table_scan_next(&scan)) {
            several = several || file->rank >= 0;
            file->rank = table_scan_int_or(&scan, 0, -1);
        }
    table_scan_end(&scan);
    if (several)
        file->rank = -1;
    if (file->rank < 0 && !several)
        file->rank = ascend_folder_rank(file->path);
    if (table_scan_begin(reading->db, &scan, "HOST_INFO", COLUMNS("hostName")) && table_scan_next(&scan)) {
        size_t len;
        const char *text = table_scan_text(&scan, 0, &len);
        file->host_name = text ? trace_builder_strndup(reading->builder, text, len) : NULL;
    }
    table_scan_end(&scan);
}

/* NPU_INFO has the number and name of each device; older ones number them apart from the tasks' devices. */
static void read_devices(struct reading *reading)
{
    struct trace_file *file = trace_builder_current_file(reading->builder);
    struct table_scan scan;
    if (table_scan_begin(reading->db, &scan, "NPU_INFO", COLUMNS("id", "name")))
        while (table_scan_next(&scan) && file->devices.count < 1024) {
            int64_t id = table_scan_int_or(&scan, 0, -1);
            size_t len;
            const char *text = table_scan_text(&scan, 1, &len);
            if (id >= 0 && id <= INT32_MAX && text)
                *VEC_PUSH(&file->devices) =
                    (struct trace_device){ .id = (int32_t)id,
                                           .name = trace_builder_strndup(reading->builder, text, len) };
        }
    table_scan_end(&scan);
}

/* The process that the database is of: that of the first row with a thread. */
static int64_t find_pid(struct database *db)
{
    static const char *const tables[] = { "PYTORCH_API", "CANN_API" };
    int64_t tid = RECORDER_NONE;
    for (size_t i = 0; i < sizeof tables / sizeof *tables && tid == RECORDER_NONE; i++) {
        struct table_scan scan;
        if (table_scan_begin(db, &scan, tables[i], COLUMNS("globalTid")) && table_scan_next(&scan))
            tid = table_scan_int_or(&scan, 0, RECORDER_NONE);
        table_scan_end(&scan);
    }
    return tid == RECORDER_NONE ? 0 : tid >> 32;
}

bool ascend_database_is_one(struct database *db)
{
    struct table_scan scan;
    if (!database_has(db, "TASK") || !database_has(db, "STRING_IDS"))
        return false;
    bool is_one =
        table_scan_begin(db, &scan, "TASK", COLUMNS("startNs", "endNs", "globalTaskId", "connectionId"));
    for (size_t i = 0; i < 4 && is_one; i++)
        is_one = table_scan_has(&scan, i);
    table_scan_end(&scan);
    return is_one;
}

bool ascend_database_is_analysis(const struct database *db)
{
    static const char *const tables[] = { "StepTraceTime", "CommAnalyzerTime", "CommAnalyzerBandwidth",
                                          "CommAnalyzerMatrix" };
    return ANY(i, sizeof tables / sizeof *tables, database_has(db, tables[i]));
}

static void release(struct reading *reading)
{
    struct texts *texts[] = { &reading->strings, &reading->stacks, &reading->element_types,
                              &reading->operations, &reading->api_types };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        id_table_release(&texts[i]->ids);
        VEC_FREE(&texts[i]->at);
    }
    struct id_table *tables[] = { &reading->computes,  &reading->pieces,      &reading->peers,
                                  &reading->copies,    &reading->queue_links, &reading->shadows,
                                  &reading->first_task };
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        id_table_release(tables[i]);
    EACH(VEC_FREE, &reading->compute_rows, &reading->copy_rows, &reading->peer_rows, &reading->link_rows,
         &reading->shadow_rows, &reading->device_rows, &reading->parts, &reading->host_rows,
         &reading->passes);
    buffer_release(&reading->text);
    arena_release(&reading->arena);
    ascend_free(reading->ascend);
}

bool ascend_database_read(struct database *db, struct source *source, struct trace_builder *builder,
                          const struct ingest_options *options, struct tpa_error *err)
{
    struct reading reading = { .db = db, .builder = builder, .options = options };
    reading.ascend = ascend_open(builder, find_pid(db),
                                 database_has(db, "PYTORCH_API") ? PRODUCER_TORCH_NPU : PRODUCER_MSPROF);
    fill_file(&reading, source);
    read_devices(&reading);
    read_all_ids(&reading);
    read_stacks(&reading);
    read_framework(&reading);
    write_arrows(&reading);
    read_calls(&reading);
    read_ranges(&reading);
    read_parts(&reading);
    read_tasks(&reading);
    read_collectives(&reading);
    database_read_blocks(&reading);
    database_read_levels(&reading);
    for (size_t i = 0; i < sizeof counters / sizeof *counters && options->wants.counters; i++)
        read_counter(&reading, &counters[i]);
    bool ok = ascend_write(reading.ascend, database_set_args, &reading, err);
    database_notice(db, builder);
    release(&reading);
    return ok;
}
