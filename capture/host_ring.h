/*
 * host_ring.h - passes NVTX ranges and steps from the application's threads to the writer.
 *
 * Each thread has a ring of its own, into which only it writes and from which only the writer reads, so that an event
 * costs one clock read and one copy, without a lock. A full ring loses events and counts them. Beginnings and ends of
 * ranges carry their depth, so that the writer pairs them correctly even if some were lost or occurred while recording
 * was off.
 */
#ifndef TPA_CAPTURE_HOST_RING_H
#define TPA_CAPTURE_HOST_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    HOST_RING_SIZE = 1 << 18,
    HOST_LONGEST_TEXT = 16 << 10, /* longer messages are cut */
    HOST_MOST_DOMAINS = 256,
    HOST_MOST_CATEGORIES = 256, /* named categories of a domain, searched linearly */
};

/* The name of a category of a domain. Never freed, like domains. */
struct host_category {
    struct host_category *next;
    uint32_t category;
    char name[];
};

/* An NVTX domain; never freed, because ranges point at it. */
struct host_domain {
    struct host_domain *next;
    _Atomic(struct host_category *) categories; /* last named first */
    atomic_uint category_count;
    uint16_t index; /* below HOST_MOST_DOMAINS; 0 is the default domain */
    char name[];
};

enum host_event_kind {
    HOST_PAD, /* padding up to the end of the ring */
    HOST_MARK,
    HOST_PUSH,
    HOST_POP,
    HOST_OPEN, /* nvtxRangeStart */
    HOST_CLOSE,
    HOST_STEP,
    HOST_NAME_THREAD, /* id: the thread */
};

struct host_event {
    uint32_t size; /* including its text, a multiple of 8 */
    uint8_t kind;  /* enum host_event_kind */
    uint8_t payload_type;
    uint16_t depth;  /* HOST_PUSH, HOST_POP: 0 is the outermost range of its domain */
    int64_t time_ns; /* CLOCK_MONOTONIC */
    uint64_t id;     /* HOST_OPEN, HOST_CLOSE: of the range; HOST_STEP: its number */
    const struct host_domain *domain;
    uint32_t category, color;
    uint64_t payload;
    uint32_t text_len;
    bool has_color;
    char text[]; /* UTF-8, text_len bytes */
};

struct host_ring {
    struct host_ring *next;
    uint32_t tid;
    atomic_bool orphan;          /* its thread has ended */
    atomic_bool half_full;       /* the writer was woken */
    _Atomic uint64_t head, tail; /* bytes written, read, since the beginning */
    _Atomic uint64_t dropped;
    uint16_t depth[HOST_MOST_DOMAINS]; /* by domain: open pushes. Only its thread uses these two */
    /* by domain: 1 + depth of the range that --range requested; 0: none */
    uint16_t trigger[HOST_MOST_DOMAINS];
    char bytes[HOST_RING_SIZE] __attribute__((aligned(64)));
};

/* New, for the calling thread; NULL if out of memory. A forked child sees it empty. */
struct host_ring *host_ring_open(void);
void host_ring_free(struct host_ring *ring);

/* Called by its thread: reserve room for an event with TEXT_LEN bytes of text, all zero except the sizes; NULL if the
 * ring is full, which is counted. The event becomes visible with host_ring_publish; *WAKE is set if the writer should
 * be woken. */
struct host_event *host_ring_reserve(struct host_ring *ring, size_t text_len);
void host_ring_publish(struct host_ring *ring, struct host_event *event, bool *wake);

/* Called by the writer: the oldest event, or NULL; after use, host_ring_consume frees its room. */
const struct host_event *host_ring_first(struct host_ring *ring);
void host_ring_consume(struct host_ring *ring, const struct host_event *event);

#endif
