/* A trace has a handful of derived things, so they are a list. */
#include "trace/derived.h"

#include "trace/storage.h"
#include <assert.h>
#include <pthread.h>

/* Of the lists of all traces; held for a few steps only. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t finished = PTHREAD_COND_INITIALIZER; /* something was derived */

static void *find(const struct trace_storage *storage, const struct derivation *derivation)
{
    for (size_t i = 0; i < storage->derived.count; i++)
        if (storage->derived.at[i].derivation == derivation)
            return storage->derived.at[i].value;
    return NULL;
}

/* The place of DERIVATION among those that are being computed; their count: it is none of them. */
static size_t find_unfinished(const struct trace_storage *storage, const struct derivation *derivation)
{
    size_t i = 0;
    while (i < storage->deriving.count && storage->deriving.at[i] != derivation)
        i++;
    return i;
}

/* The value, once another thread that works it out has done so. NULL: it falls to the caller. */
static void *find_or_begin(struct trace_storage *storage, const struct derivation *derivation)
{
    pthread_mutex_lock(&lock);
    void *value = find(storage, derivation);
    while (!value && find_unfinished(storage, derivation) < storage->deriving.count) {
        pthread_cond_wait(&finished, &lock);
        value = find(storage, derivation);
    }
    if (!value)
        *VEC_PUSH(&storage->deriving) = derivation;
    pthread_mutex_unlock(&lock);
    return value;
}

static void finish(struct trace_storage *storage, const struct derivation *derivation, void *value)
{
    arena_keep(value, true);
    pthread_mutex_lock(&lock);
    if (value) /* else it cannot be computed, and is requested again */
        *VEC_PUSH(&storage->derived) = (struct trace_derived){ derivation, value };
    size_t place = find_unfinished(storage, derivation);
    storage->deriving.at[place] = storage->deriving.at[--storage->deriving.count];
    pthread_cond_broadcast(&finished);
    pthread_mutex_unlock(&lock);
}

const void *trace_derive(const struct trace *trace, const struct derivation *derivation)
{
    void *value = find_or_begin(trace->storage, derivation);
    if (!value) {
        value = derivation->derive(trace);
        finish(trace->storage, derivation, value);
    }
    return value;
}

const void *trace_derived(const struct trace *trace, const struct derivation *derivation)
{
    const struct trace_storage *storage = trace->storage;
    const void *value = NULL;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < storage->derived.count && !value; i++)
        value = storage->derived.at[i].derivation == derivation ? storage->derived.at[i].value : NULL;
    pthread_mutex_unlock(&lock);
    return value;
}

void trace_attach(const struct trace *trace, const struct derivation *derivation, void *value)
{
    void *before = find_or_begin(trace->storage, derivation);
    assert(!before);
    (void)before;
    finish(trace->storage, derivation, value);
}

void trace_offer(const struct trace *trace, const struct derivation *derivation, void *value)
{
    struct trace_storage *storage = trace->storage;
    pthread_mutex_lock(&lock);
    bool taken =
        !find(storage, derivation) && find_unfinished(storage, derivation) == storage->deriving.count;
    if (taken)
        *VEC_PUSH(&storage->deriving) = derivation;
    pthread_mutex_unlock(&lock);
    if (taken)
        finish(storage, derivation, value);
    else
        arena_free(value);
}

size_t trace_count_derived(const struct trace *trace)
{
    pthread_mutex_lock(&lock);
    size_t count = trace->storage->derived.count;
    pthread_mutex_unlock(&lock);
    return count;
}

/* The last of STORAGE, taken out of it, unless there are no more than COUNT. */
static struct trace_derived take_last(struct trace_storage *storage, size_t count)
{
    struct trace_derived last = { 0 };
    pthread_mutex_lock(&lock);
    if (storage->derived.count > count)
        last = storage->derived.at[--storage->derived.count];
    pthread_mutex_unlock(&lock);
    return last;
}

static void drop_last(struct trace_storage *storage, size_t count)
{
    struct trace_derived last;
    while ((last = take_last(storage, count)).derivation) { /* the last may use those before it */
        arena_keep(last.value, false);
        arena_free(last.value);
    }
}

void trace_drop_derived(const struct trace *trace, size_t count)
{
    drop_last(trace->storage, count);
}

void trace_release_derived(struct trace_storage *storage)
{
    drop_last(storage, 0);
    EACH(VEC_FREE, &storage->derived, &storage->deriving);
}
