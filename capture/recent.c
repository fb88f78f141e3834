/* Chunks are kept in order of arrival: records of CUPTI, or events of threads. Names in CUPTI's records are pointers
 * into memory that CUPTI keeps, and the events point at domains, which are never freed; so a copy of the bytes is
 * enough. */
#include "capture/parts.h"

#include <stdlib.h>
#include <string.h>

enum {
    EVENT_CHUNK = 64 << 10,
    /* open ranges whose beginnings were dropped; beyond this number the oldest is forgotten */
    MOST_OPEN = 4096,
};

struct chunk {
    struct chunk *next;
    int64_t came_ns;
    size_t size, capacity; /* of the bytes */
    bool holds_events;     /* struct kept_event, contiguous; else records of CUPTI */
    uint8_t bytes[] __attribute__((aligned(8)));
};

struct kept_event {
    uint32_t tid, pad;
    struct host_event event; /* with its text */
};

/* The beginning of a range that is not in the log. */
struct open_begin {
    struct open_begin *next;
    struct kept_event *kept; /* a copy */
};

struct recent {
    size_t most, bytes;
    struct chunk *first, *last;
    int64_t since_ns;
    struct open_begin *open, **open_end; /* oldest first */
    size_t open_count;
    struct translator *translator;
    struct host_log *host_log;
};

struct recent *recent_open(size_t most, struct translator *translator, struct host_log *host_log)
{
    struct recent *recent = calloc(1, sizeof *recent);
    if (!recent)
        return NULL;
    *recent = (struct recent){
        .most = most,
        .since_ns = clock_now_ns(),
        .translator = translator,
        .host_log = host_log,
    };
    recent->open_end = &recent->open;
    return recent;
}

/* ---- events ---- */

static size_t size_of_kept(const struct kept_event *kept)
{
    return offsetof(struct kept_event, event) + kept->event.size;
}

static void forget_begin(struct recent *recent, struct open_begin **place)
{
    struct open_begin *begin = *place;
    *place = begin->next;
    if (recent->open_end == &begin->next)
        recent->open_end = place;
    recent->open_count--;
    free(begin->kept);
    free(begin);
}

static void keep_begin(struct recent *recent, const struct kept_event *kept)
{
    struct open_begin *begin = malloc(sizeof *begin);
    struct kept_event *copy = malloc(size_of_kept(kept));
    if (!begin || !copy) {
        free(begin);
        free(copy);
        return;
    }
    memcpy(copy, kept, size_of_kept(kept));
    if (recent->open_count == MOST_OPEN)
        forget_begin(recent, &recent->open);
    *begin = (struct open_begin){ .kept = copy };
    *recent->open_end = begin;
    recent->open_end = &begin->next;
    recent->open_count++;
}

/* Is KEPT at the depth of END or deeper, on its thread and in its domain? */
static bool is_within(const struct kept_event *kept, const struct kept_event *end)
{
    return kept->event.kind == HOST_PUSH && kept->tid == end->tid &&
           kept->event.domain == end->event.domain && kept->event.depth >= end->event.depth;
}

/* Forget the beginnings that END ends or makes impossible. Was there one? */
static bool end_begins(struct recent *recent, const struct kept_event *end)
{
    bool any = false;
    for (struct open_begin **place = &recent->open; *place;) {
        const struct kept_event *kept = (*place)->kept;
        bool same = end->event.kind == HOST_CLOSE
                        ? kept->event.kind == HOST_OPEN && kept->event.id == end->event.id
                        : is_within(kept, end);
        if (same) {
            forget_begin(recent, place);
            any = true;
        } else {
            place = &(*place)->next;
        }
    }
    return any;
}

/* Drop an event. The range that it ends may be in the log, if the ring was written before. */
static void drop_event(struct recent *recent, const struct kept_event *kept)
{
    switch ((enum host_event_kind)kept->event.kind) {
    case HOST_PUSH:
        end_begins(recent, kept);
        keep_begin(recent, kept);
        break;
    case HOST_OPEN: keep_begin(recent, kept); break;
    case HOST_POP:
    case HOST_CLOSE:
        if (!end_begins(recent, kept))
            host_log_collect(recent->host_log, kept->tid, &kept->event);
        break;
    case HOST_PAD:
    case HOST_MARK:
    case HOST_STEP:
    case HOST_NAME_THREAD: break;
    }
}

/* ---- chunks ---- */

static const struct kept_event *event_at(const struct chunk *chunk, size_t at)
{
    return (const struct kept_event *)(const void *)(chunk->bytes + at);
}

static struct chunk *collect_first(struct recent *recent)
{
    struct chunk *chunk = recent->first;
    recent->first = chunk->next;
    if (!recent->first)
        recent->last = NULL;
    recent->bytes -= sizeof *chunk + chunk->capacity;
    return chunk;
}

static void drop_first(struct recent *recent)
{
    struct chunk *chunk = collect_first(recent);
    if (!chunk->holds_events)
        translate_environment(recent->translator, chunk->bytes, chunk->size);
    for (size_t at = 0; chunk->holds_events && at < chunk->size; at += size_of_kept(event_at(chunk, at)))
        drop_event(recent, event_at(chunk, at));
    if (chunk->came_ns > recent->since_ns) /* buffers return in any order */
        recent->since_ns = chunk->came_ns;
    free(chunk);
}

/* A new chunk at the end, for SIZE bytes; NULL if there is no memory even after dropping all others. */
static struct chunk *add_chunk(struct recent *recent, size_t size)
{
    size_t whole = sizeof(struct chunk) + size;
    struct chunk *chunk = NULL;
    while (recent->first && recent->bytes + whole > recent->most)
        drop_first(recent);
    while (!(chunk = malloc(whole)) && recent->first)
        drop_first(recent);
    if (!chunk)
        return NULL;
    *chunk = (struct chunk){ .capacity = size };
    if (recent->last)
        recent->last->next = chunk;
    else
        recent->first = chunk;
    recent->last = chunk;
    recent->bytes += whole;
    return chunk;
}

void recent_add_records(struct recent *recent, uint8_t *bytes, size_t size, int64_t came_ns)
{
    if (size == 0)
        return;
    struct chunk *chunk = add_chunk(recent, size);
    if (!chunk) {
        translate_buffer(recent->translator, bytes, size); /* this needs no more memory */
        return;
    }
    memcpy(chunk->bytes, bytes, size);
    chunk->size = size;
    chunk->came_ns = came_ns;
}

static void keep_event(struct recent *recent, uint32_t tid, const struct host_event *event)
{
    size_t size = offsetof(struct kept_event, event) + event->size;
    struct chunk *chunk = recent->last;
    if (!chunk || !chunk->holds_events || chunk->capacity - chunk->size < size) {
        chunk = add_chunk(recent, EVENT_CHUNK);
        if (!chunk) {
            host_log_collect(recent->host_log, tid, event);
            return;
        }
        chunk->holds_events = true;
    }
    struct kept_event *kept = (struct kept_event *)(void *)(chunk->bytes + chunk->size);
    kept->tid = tid;
    memcpy(&kept->event, event, event->size);
    chunk->came_ns = clock_now_ns();
    chunk->size += size;
}

void recent_drain(struct recent *recent, struct host_ring *ring)
{
    const struct host_event *event;
    bool any = false;
    while ((event = host_ring_first(ring)) != NULL) {
        if (!any)
            translate_thread(recent->translator, ring->tid); /* it may have ended when its name is needed */
        any = true;
        if (event->kind == HOST_NAME_THREAD)
            host_log_collect(recent->host_log, ring->tid, event);
        else
            keep_event(recent, ring->tid, event);
        host_ring_consume(ring, event);
    }
}

int64_t recent_write(struct recent *recent)
{
    int64_t since_ns = recent->since_ns;
    while (recent->open) {
        host_log_collect(recent->host_log, recent->open->kept->tid, &recent->open->kept->event);
        forget_begin(recent, &recent->open);
    }
    while (recent->first) {
        struct chunk *chunk = collect_first(recent);
        if (!chunk->holds_events)
            translate_buffer(recent->translator, chunk->bytes, chunk->size);
        for (size_t at = 0; chunk->holds_events && at < chunk->size; at += size_of_kept(event_at(chunk, at)))
            host_log_collect(recent->host_log, event_at(chunk, at)->tid, &event_at(chunk, at)->event);
        free(chunk);
    }
    recent->since_ns = clock_now_ns();
    return since_ns;
}

void recent_free(struct recent *recent)
{
    if (!recent)
        return;
    while (recent->first)
        free(collect_first(recent));
    while (recent->open)
        forget_begin(recent, &recent->open);
    free(recent);
}
