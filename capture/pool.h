/*
 * pool.h - the buffers that CUPTI fills: taken ready and zeroed, given back dirty, never more than a limit.
 *
 * CUPTI requests a buffer in the middle of an application's launch. So buffers are made and zeroed beforehand, by the
 * writer's thread; only when that has fallen behind is one mapped on the spot, and when the limit is reached CUPTI
 * gets none and drops records, which it counts.
 *
 * Every function may be called from any thread.
 */
#ifndef TPA_CAPTURE_POOL_H
#define TPA_CAPTURE_POOL_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { POOL_BUFFER_SIZE = 4 << 20 };

/* Stands in the page before the bytes. */
struct pool_buffer {
    struct pool_buffer *next;
    size_t valid;    /* bytes that CUPTI filled */
    int64_t came_ns; /* when it came back */
};

struct pool {
    pthread_mutex_t lock;
    struct pool_buffer *ready; /* zeroed */
    size_t ready_count, count, most;
    uint64_t refused; /* times that a buffer was wanted and there was none */
};

/* Buffers of LIMIT bytes in all, at least two. */
void pool_init(struct pool *pool, size_t limit);

/* The POOL_BUFFER_SIZE bytes of a buffer, all zero; NULL at the limit. */
uint8_t *pool_take(struct pool *pool);

/* The buffer whose bytes were taken. */
struct pool_buffer *pool_buffer_of(uint8_t *bytes);
uint8_t *pool_bytes(struct pool_buffer *buffer);

/* Zero what was filled, and make the buffer ready. */
void pool_give(struct pool *pool, struct pool_buffer *buffer);

/* Have COUNT buffers ready, their pages touched, if the limit allows. */
void pool_prepare(struct pool *pool, size_t count);

/* Unmap what is ready. Buffers that are out may still be given back, or not. */
void pool_release(struct pool *pool);

#endif
