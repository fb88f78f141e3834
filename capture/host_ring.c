#include "capture/host_ring.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

struct host_ring *host_ring_open(void)
{
    struct host_ring *ring =
        mmap(NULL, sizeof *ring, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (ring == MAP_FAILED)
        return NULL;
    madvise(ring, sizeof *ring, MADV_WIPEONFORK);
    ring->tid = (uint32_t)syscall(SYS_gettid);
    return ring;
}

void host_ring_free(struct host_ring *ring)
{
    munmap(ring, sizeof *ring);
}

struct host_event *host_ring_reserve(struct host_ring *ring, size_t text_len)
{
    size_t size = (offsetof(struct host_event, text) + text_len + 7) & ~(size_t)7;
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_acquire);
    size_t at = head % HOST_RING_SIZE;
    size_t pad = at + size > HOST_RING_SIZE ? HOST_RING_SIZE - at : 0;
    if (head + pad + size - tail > HOST_RING_SIZE) {
        atomic_fetch_add_explicit(&ring->dropped, 1, memory_order_relaxed);
        return NULL;
    }
    if (pad) {
        struct host_event *rest = (struct host_event *)(void *)(ring->bytes + at);
        rest->size = (uint32_t)pad; /* at least 8 bytes are left: all sizes are multiples of 8 */
        rest->kind = HOST_PAD;
        atomic_store_explicit(&ring->head, head + pad, memory_order_release);
        at = 0;
    }
    struct host_event *event = (struct host_event *)(void *)(ring->bytes + at);
    memset(event, 0, offsetof(struct host_event, text));
    event->size = (uint32_t)size;
    event->text_len = (uint32_t)text_len;
    return event;
}

void host_ring_publish(struct host_ring *ring, struct host_event *event, bool *wake)
{
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed) + event->size;
    atomic_store_explicit(&ring->head, head, memory_order_release);
    bool half = head - atomic_load_explicit(&ring->tail, memory_order_relaxed) > HOST_RING_SIZE / 2;
    *wake = half && !atomic_exchange_explicit(&ring->half_full, true, memory_order_relaxed);
}

const struct host_event *host_ring_first(struct host_ring *ring)
{
    uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
    while (tail != atomic_load_explicit(&ring->head, memory_order_acquire)) {
        struct host_event *event = (struct host_event *)(void *)(ring->bytes + tail % HOST_RING_SIZE);
        if (event->kind != HOST_PAD)
            return event;
        tail += event->size;
        atomic_store_explicit(&ring->tail, tail, memory_order_release);
    }
    atomic_store_explicit(&ring->half_full, false, memory_order_relaxed);
    return NULL;
}

void host_ring_consume(struct host_ring *ring, const struct host_event *event)
{
    uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
    atomic_store_explicit(&ring->tail, tail + event->size, memory_order_release);
}
