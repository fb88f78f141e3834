/* What a task is, in this order: a container of other tasks; a piece of a collective, by its connection; a wait or a mark,
 * by its type; a copy; and all else computes (task schedulers differ in their words for kernels, which grow with each
 * generation of the hardware). Only kernels, copies and collectives are work. */
#define _GNU_SOURCE /* strcasestr */
#include "ingest/ascend/ascend.h"

#include "base/rows.h"
#include "base/escape.h"
#include "base/search.h"
#include <ctype.h>

/* External ids of operators are above this, and connections are below: so no id equals the number of a call. */
#define FIRST_ID (INT64_C(1) << 32)

struct arrow {
    int64_t start_ns, stream, pid, tid, call_ns;
    int32_t device;
};

/* The call of a connection, or the first task of it. */
struct connection {
    int64_t link;
    uint32_t at;
};
struct connections {
    VEC_OF(struct connection); /* by link, then by index */
};

/* Whom a collective, an index of tasks, waited for: the peer whose notification came last. Ranks count within the group. */
struct wait_for_peer {
    uint32_t collective;
    int64_t peer, until_ns; /* the moment of the notification */
    int64_t longest_ns;     /* the wait for it */
    int64_t source, most;   /* the rank itself; the highest rank met */
    uint64_t met;           /* the ranks below 64 that were met: bits */
};

struct ascend {
    struct trace_builder *builder;
    struct recorder *recorder;
    VEC_OF(struct ascend_host) hosts;
    VEC_OF(struct ascend_task) tasks;
    VEC_OF(struct ascend_block) blocks;
    VEC_OF(struct ascend_level) levels;
    VEC_OF(struct arrow) arrows;
    /* For writing: */
    struct connections calls, collectives, pieces;
    VEC_OF(struct wait_for_peer) waits; /* by collective, in order of tasks */
    struct ascend_links *links;
    uint32_t
        *id_of_host; /* by host: 1 and more for operators that issued work, and the calls that launched it */
    uint32_t next_id;
    uint64_t left_pieces, left_containers;
    bool has_collectives;
};

struct ascend *ascend_open(struct trace_builder *builder, int64_t pid, enum trace_producer producer)
{
    struct ascend *ascend = mem_zalloc(1, sizeof *ascend);
    trace_builder_current_file(builder)->producer = producer;
    ascend->builder = builder;
    ascend->recorder = recorder_open(builder, pid, producer == PRODUCER_TORCH_NPU ? "python" : NULL);
    recorder_call_devices(ascend->recorder, "NPU");
    return ascend;
}

void ascend_free(struct ascend *ascend)
{
    if (!ascend)
        return;
    recorder_free(ascend->recorder);
    EACH(VEC_FREE, &ascend->hosts, &ascend->tasks, &ascend->blocks, &ascend->levels, &ascend->arrows,
         &ascend->waits, &ascend->calls, &ascend->collectives, &ascend->pieces);
    ascend_links_free(ascend->links);
    EACH(free, ascend->id_of_host, ascend);
}

struct recorder *ascend_recorder(struct ascend *ascend)
{
    return ascend->recorder;
}

void ascend_add_host(struct ascend *ascend, const struct ascend_host *host)
{
    *VEC_PUSH(&ascend->hosts) = *host;
}

void ascend_add_task(struct ascend *ascend, const struct ascend_task *task)
{
    *VEC_PUSH(&ascend->tasks) = *task;
}

void ascend_add_block(struct ascend *ascend, const struct ascend_block *block)
{
    *VEC_PUSH(&ascend->blocks) = *block;
}

void ascend_add_level(struct ascend *ascend, const struct ascend_level *level)
{
    *VEC_PUSH(&ascend->levels) = *level;
}

void ascend_add_arrow(struct ascend *ascend, int32_t device, int64_t stream, int64_t start_ns, int64_t pid,
                      int64_t tid, int64_t call_ns)
{
    *VEC_PUSH(&ascend->arrows) = (struct arrow){ start_ns, stream, pid, tid, call_ns, device };
}

/* ---- words ---- */

/* PREFIX begins with a letter, which tells most texts apart. */
static inline bool task_starts_with(const char *text, const char *prefix)
{
    return ((*text ^ *prefix) & ~0x20) == 0 && strncasecmp(text, prefix, strlen(prefix)) == 0;
}

static bool task_starts_with_one_of(const char *text, const char *const *prefixes)
{
    while (*prefixes && !task_starts_with(text, *prefixes))
        prefixes++;
    return *prefixes != NULL;
}

/* Types, and names where a type says nothing, of tasks that wait for another. */
static bool is_wait(const struct ascend_task *task)
{
    static const char *const waits[] = { "EVENT_WAIT", "NOTIFY_WAIT", "Notify Wait", NULL };
    return task_starts_with_one_of(task->type, waits) || task_starts_with_one_of(task->name, waits);
}

/* Tasks that neither compute nor move anything. */
static bool is_mark(const struct ascend_task *task)
{
    static const char *const types[] = { "EVENT_RECORD",
                                         "NOTIFY_",
                                         "Notify ",
                                         "WRITE_VALUE",
                                         "Write Value",
                                         "PLACE_HOLDER",
                                         "PROFILING_ENABLE",
                                         "PROFILING_DISABLE",
                                         "MODEL_",
                                         "MAINTENANCE",
                                         "HOST_CPU",
                                         "CDQM",
                                         NULL };
    static const char *const names[] = { "EVENT_RECORD", "PROFILING_ENABLE", "PROFILING_DISABLE", NULL };
    return task_starts_with_one_of(task->type, types) || task_starts_with_one_of(task->name, names);
}

static bool is_copy(const struct ascend_task *task)
{
    return task_starts_with(task->name, "MEMCPY") || task_starts_with(task->type, "MEMCPY") ||
           task_starts_with(task->type, "SDMA_SQE") || task_starts_with(task->type, "PCIE_DMA_SQE");
}

enum ascend_copy ascend_copy_of(const char *words)
{
    static const struct {
        const char *words;
        enum ascend_copy copy;
    } known[] = {
        { "managed", ASCEND_COPY_MANAGED },       { "host to host", ASCEND_COPY_HTOH },
        { "host to device", ASCEND_COPY_HTOD },   { "device to host", ASCEND_COPY_DTOH },
        { "device to device", ASCEND_COPY_DTOD },
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        for (const char *at = words; *at; at++) {
            size_t len = 0;
            while (known[i].words[len] && (tolower((unsigned char)at[len]) == known[i].words[len] ||
                                           (known[i].words[len] == ' ' && at[len] == '_')))
                len++;
            if (!known[i].words[len])
                return known[i].copy;
        }
    return ASCEND_COPY_UNKNOWN;
}

/* ---- lists in texts ---- */

/* The end of the entry at AT: entries are separated by ';', and perhaps a line break. */
static const char *entry_end(const char *at)
{
    return at + strcspn(at, ";");
}

static const char *next_entry(const char *end)
{
    return *end ? end + 1 + strspn(end + 1, "\r\n") : NULL;
}

void ascend_shapes(const char *text, struct buffer *out)
{
    buffer_clear(out);
    buffer_putc(out, '[');
    for (const char *at = text, *end; at; at = next_entry(end)) {
        end = entry_end(at);
        bool plain = strspn(at, "0123456789,") == (size_t)(end - at);
        buffer_printf(out, "%s[%.*s]", at == text ? "" : ",", plain ? (int)(end - at) : 0, at);
    }
    buffer_putc(out, ']');
}

void ascend_types(const char *text, struct buffer *out)
{
    buffer_clear(out);
    buffer_putc(out, '[');
    for (const char *at = text, *end; at; at = next_entry(end)) {
        end = entry_end(at);
        if (at != text)
            buffer_putc(out, ',');
        escape_json_string(out, at, (size_t)(end - at));
    }
    buffer_putc(out, ']');
}

void ascend_stack(const char *text, struct buffer *out)
{
    buffer_clear(out);
    for (; *text; text++)
        if (*text != '\r' && *text != '\n')
            buffer_putc(out, *text);
}

/* ---- connections ---- */

static const struct key by_connections[] = { ASC(struct connection, link), ASC(struct connection, at),
                                             KEY_END };

static void sort_connections(struct connections *all)
{
    SORT(all, by_connections);
}

/* The first entry of LINK; NULL if there is none. */
static const struct connection *find_connection(const struct connections *all, int64_t link)
{
    size_t i = PLACE(k, all->count, all->at[k].link < link);
    return link != RECORDER_NONE && i < all->count && all->at[i].link == link ? &all->at[i] : NULL;
}

static const struct key by_arrows[] = { ASC(struct arrow, start_ns), KEY_END };

static void collect_connections(struct ascend *ascend)
{
    for (size_t i = 0; i < ascend->hosts.count; i++)
        if (ascend->hosts.at[i].kind == ASCEND_CALL && ascend->hosts.at[i].link != RECORDER_NONE)
            *VEC_PUSH(&ascend->calls) = (struct connection){ ascend->hosts.at[i].link, (uint32_t)i };
    for (size_t i = 0; i < ascend->tasks.count; i++)
        ascend->has_collectives |= ascend->tasks.at[i].role == ASCEND_COLLECTIVE;
    for (size_t i = 0; i < ascend->tasks.count; i++)
        if (ascend->tasks.at[i].link != RECORDER_NONE && ascend->tasks.at[i].role == ASCEND_COLLECTIVE)
            *VEC_PUSH(&ascend->collectives) = (struct connection){ ascend->tasks.at[i].link, (uint32_t)i };
    sort_connections(&ascend->calls);
    sort_connections(&ascend->collectives);
    SORT(&ascend->arrows, by_arrows);
}

/* The arrow that ends at TASK; NULL if there is none. */
static const struct arrow *find_arrow(const struct ascend *ascend, const struct ascend_task *task)
{
    size_t i = PLACE(k, ascend->arrows.count, ascend->arrows.at[k].start_ns < task->start_ns);
    for (; i < ascend->arrows.count && ascend->arrows.at[i].start_ns == task->start_ns; i++) {
        const struct arrow *arrow = &ascend->arrows.at[i];
        if (arrow->device == task->device &&
            (task->role == ASCEND_COLLECTIVE ? arrow->stream == RECORDER_NONE
                                             : arrow->stream == task->stream))
            return arrow;
    }
    return NULL;
}

/* A task that has no role yet gets one: a piece of a collective has its connection, but a wait for an event is of the
 * stream's own. */
static void settle_role(struct ascend *ascend, struct ascend_task *task)
{
    bool is_event_wait =
        task_starts_with(task->type, "EVENT_WAIT") || task_starts_with(task->name, "EVENT_WAIT");
    if (task->role == ASCEND_BY_TYPE && !is_event_wait && find_connection(&ascend->collectives, task->link))
        task->role = ASCEND_PIECE;
    if (task->role == ASCEND_PIECE && task->stream != RECORDER_NONE && task->link != RECORDER_NONE)
        *VEC_PUSH(&ascend->pieces) = (struct connection){ task->link, (uint32_t)(task - ascend->tasks.at) };
    if (task->role == ASCEND_BY_TYPE && !is_wait(task) && !is_mark(task))
        task->role = is_copy(task) ? ASCEND_COPY : task->contains ? ASCEND_CONTAINER : ASCEND_KERNEL;
}

/* ---- whom collectives waited for ---- */

struct ascend_collective {
    int64_t device, start_ns, end_ns;
    uint32_t task;
};

static const struct key by_device_start[] = { ASC(struct ascend_collective, device),
                                              ASC(struct ascend_collective, start_ns),
                                              ASC(struct ascend_collective, task), KEY_END };

struct ascend_collectives {
    VEC_OF(struct ascend_collective); /* by device and start */
};

/* That of the collective at index TASK; NULL: none. */
static struct wait_for_peer *find_wait(const struct ascend *ascend, uint32_t task)
{
    size_t i;
    SEARCH(i, ascend->waits.count, ascend->waits.at[i].collective < task);
    return i < ascend->waits.count && ascend->waits.at[i].collective == task ? &ascend->waits.at[i] : NULL;
}

/* Of the collective that PIECE is of: that of its connection, else the only one of ALL that runs when it begins; NULL: not known. */
static struct wait_for_peer *wait_of_piece(const struct ascend *ascend, const struct ascend_collectives *all,
                                           const struct ascend_task *piece)
{
    const struct connection *linked = find_connection(&ascend->collectives, piece->link);
    const struct ascend_collective *found = NULL;
    size_t after;
    if (linked)
        return find_wait(ascend, linked->at);
    SEARCH(after, all->count,
           all->at[after].device < piece->device ||
               (all->at[after].device == piece->device && all->at[after].start_ns <= piece->start_ns));
    for (size_t i = after; i > 0 && i + 2 > after; i--) { /* hardly more than two are under way at once */
        const struct ascend_collective *one = &all->at[i - 1];
        if (one->device != piece->device || one->end_ns <= piece->start_ns)
            continue;
        if (found)
            return NULL;
        found = one;
    }
    return found ? find_wait(ascend, found->task) : NULL;
}

/* Is NUMBER that of a rank? Large ones stand for none. */
static bool is_rank(int64_t number)
{
    enum { RANKS_AT_MOST = 1 << 24 };
    return number >= 0 && number < RANKS_AT_MOST;
}

static void add_piece(struct wait_for_peer *wait, const struct ascend_task *piece)
{
    int64_t most = piece->target > piece->source ? piece->target : piece->source;
    wait->source = piece->source;
    wait->most = most > wait->most ? most : wait->most;
    wait->met |= piece->target < 64 ? UINT64_C(1) << piece->target : 0;
    wait->met |= piece->source < 64 ? UINT64_C(1) << piece->source : 0;
    if (!is_wait(piece) || piece->end_ns - piece->start_ns <= wait->longest_ns)
        return;
    wait->longest_ns = piece->end_ns - piece->start_ns;
    wait->until_ns = piece->end_ns;
    wait->peer = piece->target;
}

static void find_waits(struct ascend *ascend)
{
    struct ascend_collectives all = { 0 };
    for (size_t i = 0; i < ascend->tasks.count; i++) {
        const struct ascend_task *task = &ascend->tasks.at[i];
        if (task->role != ASCEND_COLLECTIVE)
            continue;
        *VEC_PUSH(&all) =
            (struct ascend_collective){ task->device, task->start_ns, task->end_ns, (uint32_t)i };
        *VEC_PUSH(&ascend->waits) = (struct wait_for_peer){ .collective = (uint32_t)i,
                                                            .peer = RECORDER_NONE,
                                                            .source = RECORDER_NONE };
    }
    if (all.count)
        SORT(&all, by_device_start);
    for (size_t i = 0; i < ascend->tasks.count; i++) {
        const struct ascend_task *task = &ascend->tasks.at[i];
        if (task->role != ASCEND_PIECE || !is_rank(task->source) || !is_rank(task->target) ||
            task->source == task->target)
            continue;
        struct wait_for_peer *wait = wait_of_piece(ascend, &all, task);
        if (wait)
            add_piece(wait, task);
    }
    VEC_FREE(&all);
}

/* How many ranks the group of WAIT has, if it met all of them; RECORDER_NONE: unknown. */
static int64_t group_size_of(const struct wait_for_peer *wait)
{
    bool all = wait->most > 0 && wait->most < 63 && wait->met == (UINT64_C(2) << wait->most) - 1;
    return all ? wait->most + 1 : RECORDER_NONE;
}

/* Are the ranks of WAIT's group those of the job? Numbers count within the group: they are, as far as can be told, if the rank has its own
 * number in it, and no other group of the file is larger. */
static bool counts_as_job(const struct ascend *ascend, const struct wait_for_peer *wait)
{
    if (wait->source != trace_builder_current_file(ascend->builder)->rank)
        return false;
    return !ANY(i, ascend->waits.count, ascend->waits.at[i].most > wait->most);
}

/* The id of the operator at index OP of the hosts. */
static uint32_t id_of(struct ascend *ascend, uint32_t op)
{
    if (!ascend->id_of_host[op])
        ascend->id_of_host[op] = ++ascend->next_id;
    return ascend->id_of_host[op];
}

/* The operator, and the moment of issue, of what TASK is. Marks the operator and the call. */
static struct ascend_link link_task(struct ascend *ascend, const struct ascend_task *task)
{
    struct ascend_link link = { ASCEND_NO_HOST, ASCEND_NO_HOST, false, 0 };
    const struct connection *call = find_connection(&ascend->calls, task->link);
    const struct arrow *arrow = call ? NULL : find_arrow(ascend, task);
    if (call) {
        const struct ascend_host *host = &ascend->hosts.at[call->at];
        link = ascend_links_find(ascend->links, host->pid, host->tid, host->start_ns);
        if (link.op != ASCEND_NO_HOST)
            ascend->id_of_host[call->at] = id_of(ascend, link.op);
    } else if (arrow) {
        link = ascend_links_find(ascend->links, arrow->pid, arrow->tid, arrow->call_ns);
        if (link.op != ASCEND_NO_HOST)
            id_of(ascend, link.op);
    }
    return link;
}

static const enum recorder_kind kind_of_host[] = {
    [ASCEND_OPERATOR] = RECORDER_OPERATOR,     [ASCEND_PYTHON] = RECORDER_PYTHON,
    [ASCEND_ANNOTATION] = RECORDER_ANNOTATION, [ASCEND_ENQUEUE] = RECORDER_TASK_QUEUE,
    [ASCEND_DEQUEUE] = RECORDER_TASK_QUEUE,    [ASCEND_CALL] = RECORDER_CANN,
    [ASCEND_OTHER] = RECORDER_OVERHEAD,
};

static bool write_hosts(struct ascend *ascend, ascend_set_args *set_args, void *context,
                        struct tpa_error *err)
{
    struct recorder *recorder = ascend->recorder;
    bool ok = true;
    for (size_t i = 0; i < ascend->hosts.count && ok; i++) {
        const struct ascend_host *host = &ascend->hosts.at[i];
        trace_chunk_name_again(recorder_chunk(recorder), host->name);
        if (!recorder_event(recorder, kind_of_host[host->kind],
                            recorder_thread_of(recorder, host->pid, host->tid), host->name, host->start_ns,
                            host->end_ns, 0))
            continue;
        if (host->kind == ASCEND_CALL)
            recorder_arg(recorder, ARG_CORRELATION, host->link);
        if (ascend->id_of_host[i])
            recorder_arg(recorder, ARG_EXTERNAL_ID, FIRST_ID + ascend->id_of_host[i]);
        set_args(context, recorder, host);
        ok = recorder_flush(ascend->recorder, err);
    }
    return ok;
}

/* The name of a collective without the numbers that tell it apart: "hcom_allReduce" of "hcom_allReduce__586_0_1", which is
 * kind, group, the how manieth of the group, run. Returns its length. */
static size_t collective_name(const char *name, int64_t *group, int64_t *index)
{
    *group = *index = RECORDER_NONE;
    for (const char *at = name; (at = strstr(at, "__")); at++) {
        char *end;
        if (!isdigit((unsigned char)at[2]))
            continue;
        long long number = strtoll(at + 2, &end, 10);
        if (*end != '_' || !isdigit((unsigned char)end[1]))
            continue;
        *group = number;
        *index = strtoll(end + 1, &end, 10);
        return (size_t)(at - name);
    }
    return strlen(name);
}

static void set_collective_args(struct ascend *ascend, const struct ascend_task *task, size_t name_len,
                                int64_t group, int64_t index)
{
    struct recorder *recorder = ascend->recorder;
    char number[24];
    snprintf(number, sizeof number, "%lld", (long long)group);
    const char *group_name = task->group ? task->group : group != RECORDER_NONE ? number : NULL;
    recorder_arg(recorder, ARG_COLLECTIVE, trace_chunk_text(recorder_chunk(recorder), task->name, name_len));
    if (task->element)
        recorder_arg(recorder, ARG_DTYPE, recorder_text(recorder, task->element));
    if (group_name)
        recorder_arg(recorder, ARG_GROUP_NAME, recorder_text(recorder, group_name));
    recorder_arg(recorder, ARG_SEQ_IN_GROUP, index);
    const struct wait_for_peer *wait = find_wait(ascend, (uint32_t)(task - ascend->tasks.at));
    recorder_arg(recorder, ARG_GROUP_SIZE,
                 task->rank_count == RECORDER_NONE && wait ? group_size_of(wait) : task->rank_count);
    if (wait && wait->peer != RECORDER_NONE) {
        recorder_arg(recorder, ARG_WAITED_NS, wait->until_ns - task->start_ns);
        if (counts_as_job(ascend, wait))
            recorder_arg(recorder, ARG_WAITED_RANK, wait->peer);
    }
    /* HCCL counts the elements that a rank receives of a reduce-scatter, and those that it sends of all others. */
    bool received = strcasestr(task->name, "reduceScatter") != NULL;
    recorder_arg(recorder, received ? ARG_OUT_ELEMENTS : ARG_IN_ELEMENTS, task->elements);
}

static name_id copy_name(struct recorder *recorder, enum ascend_copy copy, const char *written)
{
    static const char *const names[] = {
        [ASCEND_COPY_UNKNOWN] = NULL,       [ASCEND_COPY_HTOH] = "Memcpy HtoH",
        [ASCEND_COPY_HTOD] = "Memcpy HtoD", [ASCEND_COPY_DTOH] = "Memcpy DtoH",
        [ASCEND_COPY_DTOD] = "Memcpy DtoD", [ASCEND_COPY_MANAGED] = "Memcpy (managed)",
    };
    const char *name = names[copy] ? names[copy] : written;
    return recorder_name(recorder, name, strlen(name));
}

/* The direction of a copy whose record has none. A copy through PCIe crosses to the host, which way is not known. */
static enum ascend_copy guess_copy(const struct ascend *ascend, const struct ascend_task *task,
                                   const struct ascend_link *link)
{
    enum ascend_copy copy = (enum ascend_copy)task->copy;
    if (copy == ASCEND_COPY_UNKNOWN && link->dequeue != ASCEND_NO_HOST) {
        name_id name = ascend->hosts.at[link->dequeue].name;
        copy = ascend_copy_of(recorder_name_text(ascend->recorder, name));
    }
    return copy == ASCEND_COPY_UNKNOWN && task_starts_with(task->type, "SDMA_SQE") ? ASCEND_COPY_DTOD : copy;
}

static void write_work(struct ascend *ascend, const struct ascend_task *task, const struct ascend_link *link)
{
    struct recorder *recorder = ascend->recorder;
    struct recorder_work work = RECORDER_WORK_NONE;
    int64_t group = RECORDER_NONE, index = RECORDER_NONE;
    bool is_collective = task->role == ASCEND_COLLECTIVE;
    size_t name_len = is_collective ? collective_name(task->name, &group, &index) : strlen(task->name);
    work.kind = task->role == ASCEND_COPY ? RECORDER_MEMCPY : RECORDER_KERNEL;
    work.start_ns = task->start_ns;
    work.end_ns = task->end_ns;
    work.device = task->device;
    work.stream = task->stream;
    work.correlation = task->link;
    work.bytes = task->bytes;
    if (task->role == ASCEND_COPY)
        work.name = copy_name(recorder, guess_copy(ascend, task, link), task->name);
    else
        work.name = recorder_name(recorder, task->name, name_len);
    if (is_collective) {
        const struct connection *piece = find_connection(&ascend->pieces, task->link);
        work.stream = piece ? ascend->tasks.at[piece->at].stream : task->stream;
    }
    if (!recorder_work(recorder, &work))
        return;
    if (link->op != ASCEND_NO_HOST)
        recorder_arg(recorder, ARG_EXTERNAL_ID, FIRST_ID + ascend->id_of_host[link->op]);
    if (link->is_issued && link->issued_ns <= task->start_ns)
        recorder_arg(recorder, ARG_ISSUED_AHEAD, task->start_ns - link->issued_ns);
    if (is_collective)
        set_collective_args(ascend, task, name_len, group, index);
}

/* A wait of a stream, or a mark on it. */
static void write_mark(struct ascend *ascend, const struct ascend_task *task)
{
    struct recorder *recorder = ascend->recorder;
    bool is_point =
        task_starts_with(task->name, "EVENT_RECORD") || task_starts_with(task->type, "EVENT_RECORD");
    enum recorder_kind kind = task->role == ASCEND_SHADOW ? RECORDER_GPU_ANNOTATION
                              : is_wait(task)             ? RECORDER_SYNC
                                                          : RECORDER_GPU_OTHER;
    recorder_event(recorder, kind, recorder_stream(recorder, task->device, task->stream),
                   recorder_name(recorder, task->name, strlen(task->name)), task->start_ns,
                   is_point ? task->start_ns : task->end_ns, is_point ? EVENT_POINT : 0);
}

/* ---- memory ---- */

static void write_block(struct ascend *ascend, const struct ascend_block *block, int64_t address)
{
    struct recorder *recorder = ascend->recorder;
    int64_t moment = block->allocated_ns != RECORDER_NONE ? block->allocated_ns : block->released_ns;
    int64_t pid = recorder_pid(recorder), tid = pid;
    ascend_links_thread(ascend->links, block->name, moment, &pid, &tid);
    track_id thread = recorder_thread_of(recorder, pid, tid);
    struct recorder_block event = { block->allocated_ns, block->bytes,           address,
                                    block->device,       block->allocated_total, block->allocated_reserved };
    if (block->allocated_ns != RECORDER_NONE)
        recorder_block(recorder, thread, &event);
    event.time_ns = block->released_ns;
    event.bytes = block->bytes == RECORDER_NONE ? RECORDER_NONE : -block->bytes;
    event.allocated = block->released_total;
    event.reserved = block->released_reserved;
    if (block->released_ns != RECORDER_NONE)
        recorder_block(recorder, thread, &event);
}

static bool write_memory(struct ascend *ascend, struct tpa_error *err)
{
    bool ok = true;
    for (size_t i = 0; i < ascend->blocks.count && ok; i++) {
        write_block(ascend, &ascend->blocks.at[i], (int64_t)i + 1);
        ok = recorder_flush(ascend->recorder, err);
    }
    for (size_t i = 0; i < ascend->levels.count && ok; i++) {
        const struct ascend_level *level = &ascend->levels.at[i];
        int64_t pid = recorder_pid(ascend->recorder);
        recorder_block(ascend->recorder, recorder_thread_of(ascend->recorder, pid, pid),
                       &(struct recorder_block){ .time_ns = level->time_ns,
                                                 .device = level->device,
                                                 .allocated = level->allocated,
                                                 .reserved = level->reserved });
        ok = recorder_flush(ascend->recorder, err);
    }
    return ok;
}

bool ascend_write(struct ascend *ascend, ascend_set_args *set_args, void *context, struct tpa_error *err)
{
    collect_connections(ascend);
    for (size_t i = 0; i < ascend->tasks.count; i++)
        settle_role(ascend, &ascend->tasks.at[i]);
    sort_connections(&ascend->pieces);
    find_waits(ascend);
    ascend->links = ascend_links_open(ascend->hosts.at, ascend->hosts.count);
    ascend->id_of_host = mem_zalloc(ascend->hosts.count + 1, sizeof *ascend->id_of_host);
    struct ascend_link *links = mem_alloc(mem_times(ascend->tasks.count + 1, sizeof *links));
    for (size_t i = 0; i < ascend->tasks.count; i++) {
        const struct ascend_task *task = &ascend->tasks.at[i];
        if (task->role == ASCEND_KERNEL || task->role == ASCEND_COPY || task->role == ASCEND_COLLECTIVE)
            links[i] = link_task(ascend, task);
    }
    bool ok = write_hosts(ascend, set_args, context, err);
    for (size_t i = 0; i < ascend->tasks.count && ok; i++) {
        const struct ascend_task *task = &ascend->tasks.at[i];
        if (task->role == ASCEND_PIECE)
            ascend->left_pieces++;
        else if (task->role == ASCEND_CONTAINER)
            ascend->left_containers++;
        else if (task->role == ASCEND_BY_TYPE || task->role == ASCEND_SHADOW)
            write_mark(ascend, task);
        else
            write_work(ascend, task, &links[i]);
        ok = recorder_flush(ascend->recorder, err);
    }
    free(links);
    ok = ok && write_memory(ascend, err) && recorder_append(ascend->recorder, err);
    recorder_describe(ascend->recorder);
    if (ascend->calls.count == 0 && ascend->tasks.count > 0)
        trace_builder_notice(
            ascend->builder, "no_calls",
            "calls of CANN were not recorded: level 1 of the profiler records them (profiler_level=ProfilerLevel.Level1)",
            1, TPA_NOWHERE);
    if (ascend->left_pieces && !ascend->has_collectives)
        trace_builder_lacks(
            ascend->builder, LACK_BAD_RECORD,
            "tasks are pieces of collectives, which themselves are not in the file: communication is unknown",
            ascend->left_pieces, TPA_NOWHERE);
    else if (ascend->left_pieces)
        trace_builder_notice(
            ascend->builder, "parts_of_collectives",
            "tasks are pieces of collectives and were left out: each collective counts once, whole",
            ascend->left_pieces, TPA_NOWHERE);
    if (ascend->left_containers)
        trace_builder_notice(ascend->builder, "containers",
                             "tasks only contain others, which are recorded as well, and were left out",
                             ascend->left_containers, TPA_NOWHERE);
    return ok;
}
