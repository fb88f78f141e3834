/* storage.c - what trace.h gives that only the memory behind a trace knows; see storage.h. */
#include "trace/storage.h"

void trace_free(struct trace *trace)
{
    if (!trace || trace->is_kept)
        return;
    struct trace_storage *storage = trace->storage;
    trace_release_derived(storage);
    size_t capacity = storage->capacity;
    EACH(packing_release, &storage->start_ns, &storage->dur_ns);
    column_free(storage->name, capacity * sizeof *storage->name);
    column_free(storage->track, capacity * sizeof *storage->track);
    column_free(storage->category, capacity * sizeof *storage->category);
    column_free(storage->kind, capacity * sizeof *storage->kind);
    column_free(storage->flags, capacity * sizeof *storage->flags);
    for (int arg = 0; arg < ARG_COUNT; arg++)
        arg_storage_release(&storage->args[arg]);
    EACH(names_free, storage->names, storage->texts, storage->track_keys, storage->category_keys);
    for (size_t i = 0; i < storage->files.count; i++) {
        EACH(VEC_FREE, &storage->files.at[i].devices, &storage->files.at[i].properties,
             &storage->files.at[i].groups);
    }
    for (size_t i = 0; i < storage->containers.count; i++)
        trace_container_free(storage->containers.at[i]);
    EACH(VEC_FREE, &storage->containers, &storage->tracks, &storage->categories, &storage->files,
         &storage->notices, &storage->samples);
    flow_columns_release(&storage->flows);
    arena_release(&trace->arena);
    EACH(free, storage, trace);
}

struct trace_flow trace_flow(const struct trace *trace, size_t i)
{
    return flow_columns_at(&trace->storage->flows, i);
}

const struct trace_flow *flow_scan_get(struct flow_scan *scan, const struct trace *trace, size_t i)
{
    enum { ROOM = sizeof scan->at / sizeof *scan->at };
    if (i < scan->first || i >= scan->end) {
        scan->first = i - i % ROOM;
        scan->end = scan->first + ROOM < trace->flow_count ? scan->first + ROOM : trace->flow_count;
        flow_columns_read(&trace->storage->flows, scan->first, scan->end - scan->first, scan->at);
    }
    return &scan->at[i - scan->first];
}
