/* A buffer is a mapping of its own with a page before the bytes. In a forked child the pool is
 * empty: it is useless there, and sharing would cost the parent a copy of each page that CUPTI fills. */
#include "capture/parts.h"

#include <string.h>
#include <sys/mman.h>

enum { HEAD_SIZE = 4096 };

void pool_init(struct pool *pool, size_t limit)
{
    size_t most = limit / POOL_BUFFER_SIZE;
    *pool = (struct pool){ .lock = PTHREAD_MUTEX_INITIALIZER, .most = most < 2 ? 2 : most };
}

struct pool_buffer *pool_buffer_of(uint8_t *bytes)
{
    return (struct pool_buffer *)(void *)(bytes - HEAD_SIZE);
}

uint8_t *pool_bytes(struct pool_buffer *buffer)
{
    return (uint8_t *)buffer + HEAD_SIZE;
}

static struct pool_buffer *map_buffer(void)
{
    void *block =
        mmap(NULL, HEAD_SIZE + POOL_BUFFER_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED)
        return NULL;
    madvise(block, HEAD_SIZE + POOL_BUFFER_SIZE, MADV_WIPEONFORK);
    return block;
}

/* Count one more buffer, if the limit allows. */
static bool reserve(struct pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    bool may = pool->count < pool->most;
    pool->count += may;
    pthread_mutex_unlock(&pool->lock);
    return may;
}

static void unreserve(struct pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    pool->count--;
    pthread_mutex_unlock(&pool->lock);
}

static void pool_push(struct pool *pool, struct pool_buffer *buffer)
{
    pthread_mutex_lock(&pool->lock);
    buffer->next = pool->ready;
    pool->ready = buffer;
    pool->ready_count++;
    pthread_mutex_unlock(&pool->lock);
}

uint8_t *pool_collect(struct pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    struct pool_buffer *buffer = pool->ready;
    if (buffer) {
        pool->ready = buffer->next;
        pool->ready_count--;
    }
    pthread_mutex_unlock(&pool->lock);
    if (!buffer && reserve(pool)) {
        buffer = map_buffer();
        if (!buffer)
            unreserve(pool);
    }
    if (!buffer) {
        pthread_mutex_lock(&pool->lock);
        pool->refused++;
        pthread_mutex_unlock(&pool->lock);
        return NULL;
    }
    buffer->next = NULL;
    buffer->valid = 0;
    return pool_bytes(buffer);
}

void pool_assign(struct pool *pool, struct pool_buffer *buffer)
{
    memset(pool_bytes(buffer), 0, buffer->valid < POOL_BUFFER_SIZE ? buffer->valid : POOL_BUFFER_SIZE);
    pool_push(pool, buffer);
}

void pool_prepare(struct pool *pool, size_t count)
{
    for (;;) {
        pthread_mutex_lock(&pool->lock);
        bool enough = pool->ready_count >= count;
        pthread_mutex_unlock(&pool->lock);
        if (enough || !reserve(pool))
            return;
        struct pool_buffer *buffer = map_buffer();
        if (!buffer) {
            unreserve(pool);
            return;
        }
        memset(pool_bytes(buffer), 0, POOL_BUFFER_SIZE); /* touch the pages here, not in the application */
        pool_push(pool, buffer);
    }
}

void pool_release(struct pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    struct pool_buffer *buffer = pool->ready;
    pool->count -= pool->ready_count;
    pool->ready = NULL;
    pool->ready_count = 0;
    pthread_mutex_unlock(&pool->lock);
    while (buffer) {
        struct pool_buffer *next = buffer->next;
        munmap(buffer, HEAD_SIZE + POOL_BUFFER_SIZE);
        buffer = next;
    }
}
