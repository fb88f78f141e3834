/*
 * pool.h - the buffers that CUPTI fills: handed out zeroed, given back dirty, limited in total size.
 *
 * CUPTI requests a buffer in the middle of an application's launch. So buffers are made and zeroed beforehand, by the
 * writer's thread; only if that thread falls behind is one mapped on demand, and at the limit CUPTI gets none, drops
 * records and counts them.
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

/* Header in the page before the bytes. */
struct pool_buffer {
    struct pool_buffer *next;
    size_t valid;    /* bytes that CUPTI filled */
    int64_t came_ns; /* when CUPTI returned it */
};

struct pool {
    pthread_mutex_t lock;
    struct pool_buffer *ready; /* zeroed */
    size_t ready_count, count, most;
    uint64_t refused; /* requests that failed because of the limit */
};

/* Set up a pool of LIMIT bytes in total, at least two buffers. */
void pool_init(struct pool *pool, size_t limit);

/* The POOL_BUFFER_SIZE bytes of a buffer, all zero; NULL at the limit. */
uint8_t *pool_collect(struct pool *pool);

/* The buffer that BYTES belong to. */
struct pool_buffer *pool_buffer_of(uint8_t *bytes);
uint8_t *pool_bytes(struct pool_buffer *buffer);

/* Zero the filled bytes, and make the buffer ready again. */
void pool_assign(struct pool *pool, struct pool_buffer *buffer);

/* Prepare buffers until COUNT are ready, with their pages touched, if the limit allows. */
void pool_prepare(struct pool *pool, size_t count);

/* Unmap ready buffers. Buffers in use may still be given back later. */
void pool_release(struct pool *pool);

#endif
