/* Open ranges are few, so pushed ranges are kept in one array per thread and domain,
 * indexed by depth, and started ranges in one array that is searched from its end. */
#include "capture/parts.h"

#include <stdlib.h>
#include <string.h>

struct open_range {
    bool open, half_written;
    uint8_t payload_type;
    int64_t start_ns;
    int64_t id;
    uint64_t key; /* of nvtxRangeStart */
    uint32_t tid;
    int64_t domain, category, category_name, color, payload;
    struct tpafile_message message;
};

struct range_list {
    struct open_range *at;
    size_t count, capacity;
};

struct thread_ranges {
    uint32_t tid;
    uint16_t domain;
    struct range_list pushed; /* by depth */
};

/* The end of a range that another thread began, read before its beginning, because rings are emptied one after the
 * other. */
struct early_end {
    uint64_t key; /* 0: none */
    int64_t end_ns;
    uint32_t tid;
};
enum { MOST_EARLY_ENDS = 256 };

struct host_log {
    struct translator *translator;
    struct early_end early[MOST_EARLY_ENDS]; /* the oldest is overwritten */
    size_t next_early;
    struct thread_ranges *threads;
    size_t thread_count, thread_capacity;
    struct range_list started;
    int64_t next_id;
};

struct host_log *host_log_open(struct translator *translator)
{
    struct host_log *log = calloc(1, sizeof *log);
    if (log)
        *log = (struct host_log){ .translator = translator, .next_id = 1 };
    return log;
}

void host_log_free(struct host_log *log)
{
    if (!log)
        return;
    for (size_t i = 0; i < log->thread_count; i++)
        free(log->threads[i].pushed.at);
    free(log->threads);
    free(log->started.at);
    free(log);
}

static bool host_log_add(struct host_log *log, enum tpafile_kind kind, const int64_t *values)
{
    bool added = tpafile_writer_add(log->translator->log, kind, values);
    log->translator->failed |= !added;
    return added;
}

/* Room for COUNT ranges; new ones are not open. */
static bool list_reserve(struct range_list *list, size_t count)
{
    if (count > list->capacity) {
        size_t next = list->capacity ? list->capacity * 2 : 16;
        while (next < count)
            next *= 2;
        struct open_range *moved = realloc(list->at, next * sizeof *moved);
        if (!moved)
            return false;
        list->at = moved;
        list->capacity = next;
    }
    if (count > list->count) {
        memset(list->at + list->count, 0, (count - list->count) * sizeof *list->at);
        list->count = count;
    }
    return true;
}

/* The pushed ranges of a thread and domain: the same pair comes again and again, so search from the most recent one. */
static struct range_list *pushed_list(struct host_log *log, uint32_t tid, uint16_t domain)
{
    for (size_t i = log->thread_count; i-- > 0;)
        if (log->threads[i].tid == tid && log->threads[i].domain == domain)
            return &log->threads[i].pushed;
    if (log->thread_count == log->thread_capacity) {
        size_t next = log->thread_capacity ? log->thread_capacity * 2 : 16;
        struct thread_ranges *moved = realloc(log->threads, next * sizeof *moved);
        if (!moved)
            return NULL;
        log->threads = moved;
        log->thread_capacity = next;
    }
    log->threads[log->thread_count] = (struct thread_ranges){ .tid = tid, .domain = domain };
    return &log->threads[log->thread_count++].pushed;
}

/* The text id of the category's name; TPAFILE_NONE if it has no name. */
static int64_t category_name(struct tpafile_writer *writer, const struct host_domain *domain,
                             uint32_t category)
{
    const struct host_category *at = category && domain ? atomic_load(&domain->categories) : NULL;
    while (at && at->category != category)
        at = at->next;
    return at ? tpafile_writer_text(writer, at->name, strlen(at->name)) : TPAFILE_NONE;
}

static struct open_range begin_range(struct host_log *log, uint32_t tid, const struct host_event *event)
{
    struct tpafile_writer *writer = log->translator->log;
    const struct host_domain *domain = event->domain;
    return (struct open_range){
        .open = true,
        .payload_type = event->payload_type,
        .start_ns = event->time_ns,
        .id = log->next_id++,
        .key = event->id,
        .tid = tid,
        .domain =
            domain && domain->index ? tpafile_writer_text(writer, domain->name, strlen(domain->name)) : 0,
        .category = event->category ? (int64_t)event->category : TPAFILE_NONE,
        .category_name = category_name(writer, domain, event->category),
        .color = event->has_color ? (int64_t)event->color : TPAFILE_NONE,
        .payload = event->payload_type != TPAFILE_PAYLOAD_NONE ? (int64_t)event->payload : TPAFILE_NONE,
        .message = tpafile_writer_message(writer, event->text, event->text_len),
    };
}

static int64_t payload_type_of(const struct open_range *range)
{
    return range->payload_type == TPAFILE_PAYLOAD_NONE ? TPAFILE_NONE : range->payload_type;
}

static bool write_half(struct host_log *log, const struct open_range *range, enum tpafile_marker type,
                       int64_t time_ns, uint32_t tid)
{
    bool ends = type == TPAFILE_POP || type == TPAFILE_CLOSE;
    int64_t values[TPAFILE_MARKER_FIELDS_END] = {
        [TPAFILE_MARKER_TIME] = time_ns,
        [TPAFILE_MARKER_TYPE] = type,
        [TPAFILE_MARKER_ID] = range->id,
        [TPAFILE_MARKER_THREAD] = tid,
        [TPAFILE_MARKER_DOMAIN] = range->domain,
        [TPAFILE_MARKER_NAME] = ends ? 0 : range->message.name,
        [TPAFILE_MARKER_NUMBER] = ends ? TPAFILE_NONE : range->message.number,
        [TPAFILE_MARKER_CATEGORY] = ends ? TPAFILE_NONE : range->category,
        [TPAFILE_MARKER_CATEGORY_NAME] = ends ? TPAFILE_NONE : range->category_name,
        [TPAFILE_MARKER_COLOR] = ends ? TPAFILE_NONE : range->color,
        [TPAFILE_MARKER_PAYLOAD_TYPE] = ends ? TPAFILE_NONE : payload_type_of(range),
        [TPAFILE_MARKER_PAYLOAD] = ends ? TPAFILE_NONE : range->payload,
        [TPAFILE_MARKER_NUMBER_2] = ends ? TPAFILE_NONE : range->message.number_2,
        [TPAFILE_MARKER_TAIL] = ends ? 0 : range->message.tail,
    };
    return host_log_add(log, TPAFILE_MARKER, values);
}

static bool host_log_end_range(struct host_log *log, struct open_range *range, bool pushed, int64_t end_ns,
                               uint32_t tid)
{
    range->open = false;
    if (range->half_written)
        return write_half(log, range, pushed ? TPAFILE_POP : TPAFILE_CLOSE, end_ns, tid);
    int64_t values[TPAFILE_RANGE_FIELDS_END] = {
        [TPAFILE_RANGE_START] = range->start_ns,
        [TPAFILE_RANGE_DURATION] = end_ns - range->start_ns,
        [TPAFILE_RANGE_TYPE] = pushed ? TPAFILE_PUSH : TPAFILE_OPEN,
        [TPAFILE_RANGE_ID] = range->id,
        [TPAFILE_RANGE_THREAD] = range->tid,
        [TPAFILE_RANGE_DOMAIN] = range->domain,
        [TPAFILE_RANGE_NAME] = range->message.name,
        [TPAFILE_RANGE_NUMBER] = range->message.number,
        [TPAFILE_RANGE_CATEGORY] = range->category,
        [TPAFILE_RANGE_CATEGORY_NAME] = range->category_name,
        [TPAFILE_RANGE_COLOR] = range->color,
        [TPAFILE_RANGE_PAYLOAD_TYPE] = payload_type_of(range),
        [TPAFILE_RANGE_PAYLOAD] = range->payload,
        [TPAFILE_RANGE_NUMBER_2] = range->message.number_2,
        [TPAFILE_RANGE_TAIL] = range->message.tail,
    };
    return host_log_add(log, TPAFILE_RANGE, values);
}

/* End a range whose end was not recorded: it was lost, or occurred while recording was off. */
static void give_up_range(struct host_log *log, struct open_range *range)
{
    if (range->open && !range->half_written)
        write_half(log, range, TPAFILE_PUSH, range->start_ns, range->tid);
    range->open = false;
}

static void collect_push(struct host_log *log, uint32_t tid, const struct host_event *event)
{
    struct range_list *list = pushed_list(log, tid, event->domain ? event->domain->index : 0);
    if (!list || !list_reserve(list, (size_t)event->depth + 1))
        return;
    for (size_t i = event->depth; i < list->count; i++)
        give_up_range(log, &list->at[i]);
    list->count = (size_t)event->depth + 1;
    list->at[event->depth] = begin_range(log, tid, event);
}

static void collect_pop(struct host_log *log, uint32_t tid, const struct host_event *event)
{
    struct range_list *list = pushed_list(log, tid, event->domain ? event->domain->index : 0);
    if (!list || event->depth >= list->count)
        return;
    for (size_t i = (size_t)event->depth + 1; i < list->count; i++)
        give_up_range(log, &list->at[i]);
    list->count = event->depth;
    if (list->at[event->depth].open)
        host_log_end_range(log, &list->at[event->depth], true, event->time_ns, tid);
}

static void collect_close(struct host_log *log, uint32_t tid, const struct host_event *event)
{
    struct range_list *list = &log->started;
    for (size_t i = list->count; i-- > 0;) {
        if (list->at[i].key != event->id)
            continue;
        host_log_end_range(log, &list->at[i], false, event->time_ns, tid);
        list->at[i] = list->at[--list->count];
        return;
    }
    log->early[log->next_early++ % MOST_EARLY_ENDS] = (struct early_end){ event->id, event->time_ns, tid };
}

static void collect_open(struct host_log *log, uint32_t tid, const struct host_event *event)
{
    struct open_range range = begin_range(log, tid, event);
    for (size_t i = 0; i < MOST_EARLY_ENDS; i++) {
        if (log->early[i].key != event->id)
            continue;
        log->early[i].key = 0;
        host_log_end_range(log, &range, false, log->early[i].end_ns, log->early[i].tid);
        return;
    }
    if (list_reserve(&log->started, log->started.count + 1))
        log->started.at[log->started.count - 1] = range;
}

static void collect_step(struct host_log *log, uint32_t tid, const struct host_event *event)
{
    int64_t values[TPAFILE_STEP_FIELDS_END] = {
        [TPAFILE_STEP_TIME] = event->time_ns,
        [TPAFILE_STEP_NUMBER] = (int64_t)event->id,
        [TPAFILE_STEP_THREAD] = tid,
    };
    host_log_add(log, TPAFILE_STEP, values);
}

void host_log_collect(struct host_log *log, uint32_t tid, const struct host_event *event)
{
    switch ((enum host_event_kind)event->kind) {
    case HOST_PUSH: collect_push(log, tid, event); break;
    case HOST_POP: collect_pop(log, tid, event); break;
    case HOST_CLOSE: collect_close(log, tid, event); break;
    case HOST_STEP: collect_step(log, tid, event); break;
    case HOST_OPEN: collect_open(log, tid, event); break;
    case HOST_MARK: {
        struct open_range mark = begin_range(log, tid, event);
        write_half(log, &mark, TPAFILE_MARK, event->time_ns, tid);
        break;
    }
    case HOST_NAME_THREAD:
        translate_thread_name(log->translator, (int64_t)event->id, event->text, event->text_len);
        break;
    case HOST_PAD: break;
    }
}

bool host_log_drain(struct host_log *log, struct host_ring *ring)
{
    const struct host_event *event;
    bool any = false;
    while ((event = host_ring_first(ring)) != NULL) {
        if (!any)
            translate_thread(log->translator, ring->tid);
        any = true;
        host_log_collect(log, ring->tid, event);
        host_ring_consume(ring, event);
    }
    return !log->translator->failed;
}

static void flush_list(struct host_log *log, struct range_list *list, enum tpafile_marker type)
{
    for (size_t i = 0; i < list->count; i++) {
        struct open_range *range = &list->at[i];
        if (!range->open || range->half_written)
            continue;
        write_half(log, range, type, range->start_ns, range->tid);
        range->half_written = true;
    }
}

bool host_log_flush(struct host_log *log)
{
    for (size_t i = 0; i < log->thread_count; i++)
        flush_list(log, &log->threads[i].pushed, TPAFILE_PUSH);
    flush_list(log, &log->started, TPAFILE_OPEN);
    return !log->translator->failed;
}

void host_log_forget_thread(struct host_log *log, uint32_t tid)
{
    for (size_t i = log->thread_count; i-- > 0;) {
        if (log->threads[i].tid != tid)
            continue;
        flush_list(log, &log->threads[i].pushed, TPAFILE_PUSH);
        free(log->threads[i].pushed.at);
        log->threads[i] = log->threads[--log->thread_count];
    }
}
