/*
 * chunk_append.c - joins chunks into the columns of a trace: trace_builder_append of builder.h.
 *
 * Appending is the one serial step of reading a file with many workers, so it does little: it
 * copies columns and maps the chunk's ids to the trace's. A map is filled the first time an id is
 * met, in the order of events, so the trace's ids do not depend on who read which part.
 */
#include "trace/chunk.h"

#include <assert.h>

/* ---- ids of a chunk -> ids of the trace ---- */

/* Every id of the chunk has a place in its map; those the builder has not met are NAME_NONE. */
static void cover_map(struct chunk_ids *ids)
{
    size_t needed = names_count(ids->names);
    VEC_RESERVE(&ids->map, needed - ids->map.count);
    while (ids->map.count < needed)
        ids->map.at[ids->map.count++] = NAME_NONE;
}

static void map_strings(struct chunk_ids *ids, struct names *into)
{
    cover_map(ids);
    for (size_t i = 0; i < ids->in_order.count; i++) {
        name_id id = ids->in_order.at[i];
        if (ids->map.at[id] == NAME_NONE)
            ids->map.at[id] = names_add(into, names_text(ids->names, id), names_length(ids->names, id));
    }
}

static name_id map_text(const struct trace_chunk *chunk, name_id id)
{
    return id == NAME_NONE ? NAME_NONE : chunk->texts.map.at[id];
}

static void map_categories(struct trace_builder *builder, struct chunk_ids *ids)
{
    cover_map(ids);
    for (size_t i = 0; i < ids->in_order.count; i++) {
        name_id id = ids->in_order.at[i];
        if (ids->map.at[id] == NAME_NONE)
            ids->map.at[id] =
                builder_category(builder, names_text(ids->names, id), names_length(ids->names, id));
    }
}

static track_id map_track(struct trace_storage *storage, const struct trace_chunk *chunk, track_id id)
{
    return builder_track(storage, names_text(chunk->tracks.names, id), names_length(chunk->tracks.names, id),
                         &chunk->track_keys.at[id]);
}

static void map_tracks(struct trace_storage *storage, struct trace_chunk *chunk)
{
    struct chunk_ids *ids = &chunk->tracks;
    if (chunk->mapped_file != storage->files.count) { /* tracks belong to a file */
        chunk->mapped_file = (uint32_t)storage->files.count;
        ids->map.count = 0;
    }
    cover_map(ids);
    for (size_t i = 0; i < ids->in_order.count; i++) {
        track_id id = ids->in_order.at[i];
        if (ids->map.at[id] == TRACK_NONE)
            ids->map.at[id] = map_track(storage, chunk, id);
    }
}

/* ---- columns ---- */

/* How the text of an argument's values is kept, by argument. */
enum arg_value { VALUE_INT, VALUE_DECIMAL, VALUE_TEXT, VALUE_JSON, VALUE_BOOL };
static const uint8_t arg_values[ARG_COUNT] = {
#define ARG_VALUE(id, kind, keys) VALUE_##kind,
    TRACE_ARGS(ARG_VALUE)
#undef ARG_VALUE
};

static bool is_text(enum trace_arg arg)
{
    return arg_values[arg] == VALUE_TEXT || arg_values[arg] == VALUE_JSON;
}

static void append_args(struct trace_builder *builder, struct trace_chunk *chunk, size_t base)
{
    for (int arg = 0; arg < ARG_COUNT; arg++) {
        if (!(chunk->args_used >> arg & 1))
            continue;
        struct chunk_arg *from = &chunk->args[arg];
        struct arg_storage *to = &builder->storage->args[arg];
        for (size_t i = 0; is_text((enum trace_arg)arg) && i < from->values.count; i++)
            from->values.at[i] = map_text(chunk, (name_id)from->values.at[i]);
        arg_storage_add_all(to, (event_id)base, from->events.at, from->values.at, from->events.count);
    }
}

static void append_facts(struct trace_builder *builder, struct trace_chunk *chunk)
{
    FOR_EACH(fact, &chunk->facts) {
        track_id id = chunk->tracks.map.at[fact->track];
        name_id text = map_text(chunk, fact->text);
        struct track *track = &builder->storage->tracks.at[id];
        switch (fact->fact) {
        case FACT_PROCESS_NAME: track->process_name = text; break;
        case FACT_THREAD_NAME: track->thread_name = text; break;
        case FACT_PROCESS_LABELS: track->process_labels = text; break;
        case FACT_PROCESS_SORT_INDEX: track->process_sort_index = fact->number; break;
        case FACT_THREAD_SORT_INDEX: track->thread_sort_index = fact->number; break;
        }
    }
}

static void append_open_ends(struct trace_builder *builder, struct trace_chunk *chunk, size_t base)
{
    for (size_t i = 0; i < chunk->marks.count; i++) {
        struct chunk_mark mark = chunk->marks.at[i];
        mark.event += (uint32_t)base;
        *VEC_PUSH(&builder->marks) = mark;
    }
    size_t first_end = builder->ends.count;
    for (size_t i = 0; i < chunk->ends.count; i++) {
        struct chunk_end end = chunk->ends.at[i];
        end.name = end.name == NAME_NONE ? NAME_NONE : chunk->names.map.at[end.name];
        end.track = chunk->tracks.map.at[end.track];
        end.category = (uint16_t)chunk->categories.map.at[end.category];
        end.after += (uint32_t)base;
        *VEC_PUSH(&builder->ends) = end;
    }
    for (size_t i = 0; i < chunk->end_args.count; i++) {
        struct chunk_end_arg arg = chunk->end_args.at[i];
        arg.end += (uint32_t)first_end;
        if (is_text(arg.arg))
            arg.value = map_text(chunk, (name_id)arg.value);
        *VEC_PUSH(&builder->end_args) = arg;
    }
}

static void append_events(struct trace_storage *storage, const struct trace_chunk *chunk, size_t base)
{
    size_t count = chunk->count;
    if (count == 0)
        return;
    builder_reserve_events(storage, count);
    packing_add_all(&storage->start_ns, chunk->start_ns, count);
    packing_add_all(&storage->dur_ns, chunk->dur_ns, count);
    memcpy(storage->flags + base, chunk->flags, count * sizeof *chunk->flags);
    for (size_t i = 0; i < count; i++) {
        name_id category = chunk->categories.map.at[chunk->category[i]];
        track_id track = chunk->tracks.map.at[chunk->track[i]];
        enum event_kind kind = storage->categories.at[category].kind;
        if (kind == EVENT_OTHER && chunk->flags[i] & EVENT_POINT)
            kind = EVENT_INSTANT;
        storage->name[base + i] = chunk->names.map.at[chunk->name[i]];
        storage->track[base + i] = track;
        storage->category[base + i] = (uint16_t)category;
        storage->kind[base + i] = (uint8_t)kind;
        storage->categories.at[category].event_count++;
        storage->tracks.at[track].event_count++;
    }
    storage->count += count;
}

static void append_flows_and_samples(struct trace_builder *builder, struct trace_chunk *chunk)
{
    struct trace_storage *storage = builder->storage;
    FOR_EACH(flow, &chunk->flows) {
        flow->category = map_text(chunk, flow->category);
        flow->name = map_text(chunk, flow->name);
        flow->track = chunk->tracks.map.at[flow->track];
    }
    flow_columns_add(&storage->flows, chunk->flows.at, chunk->flows.count);
    for (size_t i = 0; i < chunk->samples.count; i++) {
        struct trace_sample sample = chunk->samples.at[i];
        sample.counter = map_text(chunk, sample.counter);
        sample.track = chunk->tracks.map.at[sample.track];
        *VEC_PUSH(&storage->samples) = sample;
    }
    builder->trace->flows_seen += chunk->flows_seen;
    builder->trace->samples_seen += chunk->samples_seen;
    builder->trace->metadata_seen += chunk->metadata_seen;
}

bool trace_builder_append(struct trace_builder *builder, struct trace_chunk *chunk, struct tpa_error *err)
{
    struct trace_storage *storage = builder->storage;
    assert(storage->files.count > 0);
    size_t base = storage->count;
    if (builder->trace->wants.only_count) {
        builder->trace->events_counted += chunk->count;
        builder->trace->flows_counted += chunk->flows.count;
        builder->trace->samples_counted += chunk->samples.count;
        trace_chunk_clear(chunk);
        return true;
    }
    if (!builder_check_ceiling(builder, chunk->count, chunk->ends.count, err))
        return false;
    map_strings(&chunk->names, storage->names);
    map_strings(&chunk->texts, storage->texts);
    map_categories(builder, &chunk->categories);
    map_tracks(storage, chunk);

    append_events(storage, chunk, base);
    append_args(builder, chunk, base);
    append_open_ends(builder, chunk, base);
    append_facts(builder, chunk);
    append_flows_and_samples(builder, chunk);
    FOR_EACH(notice, &chunk->notices)
        trace_builder_notice(builder, notice->kind, notice->text, notice->count, notice->offset);
    trace_chunk_clear(chunk);
    return builder_check_ceiling(builder, 0, 0, err) && builder_check_room(builder, err);
}
