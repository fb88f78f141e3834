/* derived.c - see derived.h. A trace has a handful of derived things, so they are a list. */
#include "trace/derived.h"

#include "base/memory.h"
#include "trace/storage.h"
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock =
    PTHREAD_MUTEX_INITIALIZER; /* of the lists of all traces; held for a few steps only */

/* The value that is in the list already; else VALUE, which goes into it unless it is NULL. */
static void *find_or_add(struct trace_storage *storage, const struct derivation *derivation, void *value)
{
    pthread_mutex_lock(&lock);
    void *found = NULL;
    for (size_t i = 0; i < storage->derived.count && !found; i++)
        if (storage->derived.at[i].derivation == derivation)
            found = storage->derived.at[i].value;
    if (!found && value) {
        *VEC_PUSH(&storage->derived) = (struct trace_derived){ derivation, value };
        found = value;
    }
    pthread_mutex_unlock(&lock);
    return found;
}

const void *trace_derive(const struct trace *trace, const struct derivation *derivation)
{
    void *value = find_or_add(trace->storage, derivation, NULL);
    if (value)
        return value;
    value = derivation->derive(trace);
    void *kept = find_or_add(trace->storage, derivation, value);
    if (kept != value) /* another thread was faster */
        derivation->release(value);
    return kept;
}

void trace_attach(const struct trace *trace, const struct derivation *derivation, void *value)
{
    void *kept = find_or_add(trace->storage, derivation, value);
    assert(kept == value);
    (void)kept;
}

void trace_release_derived(struct trace_storage *storage)
{
    for (size_t i = storage->derived.count; i-- > 0;) /* the last may use those before it */
        storage->derived.at[i].derivation->release(storage->derived.at[i].value);
    VEC_FREE(&storage->derived);
}
