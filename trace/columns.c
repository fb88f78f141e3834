/* columns.c - see columns.h. */
#include "trace/columns.h"

#include "trace/chunk.h"
#include <assert.h>

name_id trace_builder_name(struct trace_builder *builder, const char *s, size_t len)
{
    return names_add(builder->storage->names, s, len);
}

name_id trace_builder_text(struct trace_builder *builder, const char *s, size_t len)
{
    return names_add(builder->storage->texts, s, len);
}

uint16_t trace_builder_category(struct trace_builder *builder, const char *s, size_t len)
{
    return (uint16_t)builder_category(builder, s, len);
}

track_id trace_builder_track(struct trace_builder *builder, const struct track_key *written)
{
    struct track_key key = track_key_plain(written);
    SCOPED char *bytes = mem_alloc(track_key_room(&key));
    return builder_track(builder->storage, bytes, track_key_bytes(&key, bytes), &key);
}

struct track *trace_builder_track_at(struct trace_builder *builder, track_id id)
{
    assert(id < builder->storage->tracks.count);
    return &builder->storage->tracks.at[id];
}

/* What kind each event is, and how many of each category there are. They mostly come several in a row. */
static void read_kinds(struct trace_storage *storage, const struct trace_columns *columns, uint8_t *kinds)
{
    for (size_t i = 0, next; i < columns->count; i = next) {
        struct trace_category *category = &storage->categories.at[columns->category[i]];
        enum event_kind kind = category->kind;
        enum event_kind kind_of_points = kind == EVENT_OTHER ? EVENT_INSTANT : kind;
        for (next = i; next < columns->count && columns->category[next] == columns->category[i]; next++)
            kinds[next] = (uint8_t)(columns->flags[next] & EVENT_POINT ? kind_of_points : kind);
        category->event_count += next - i;
    }
}

static void count_tracks(struct trace_storage *storage, const struct trace_columns *columns)
{
    for (size_t i = 0, next; i < columns->count; i = next) {
        for (next = i + 1; next < columns->count && columns->track[next] == columns->track[i];)
            next++;
        storage->tracks.at[columns->track[i]].event_count += (uint32_t)(next - i);
    }
}

static void add_events(struct trace_storage *storage, const struct trace_columns *columns)
{
    size_t base = storage->count, count = columns->count;
    builder_reserve_events(storage, count);
    packing_add_all(&storage->start_ns, columns->start_ns, count);
    packing_add_all(&storage->dur_ns, columns->dur_ns, count);
    memcpy(storage->name + base, columns->name, count * sizeof *columns->name);
    memcpy(storage->track + base, columns->track, count * sizeof *columns->track);
    memcpy(storage->category + base, columns->category, count * sizeof *columns->category);
    memcpy(storage->flags + base, columns->flags, count * sizeof *columns->flags);
    read_kinds(storage, columns, storage->kind + base);
    count_tracks(storage, columns);
    storage->count += count;
}

/* Or COUNT bits into BITS from bit AT on; FROM is NULL when all are set. */
static void add_bits(uint64_t *bits, size_t at, const uint64_t *from, size_t count)
{
    for (size_t i = 0; i < count; i += 64) {
        uint64_t word = from ? from[i / 64] : UINT64_MAX;
        if (count - i < 64)
            word &= (UINT64_C(1) << (count - i)) - 1;
        size_t shift = (at + i) % 64;
        bits[(at + i) / 64] |= word << shift;
        if (shift && word >> (64 - shift))
            bits[(at + i) / 64 + 1] |= word >> (64 - shift);
    }
}

/* The argument of COUNT events, of which the first is BASE. */
static void add_arg(struct arg_storage *to, size_t base, size_t count, const struct trace_columns_arg *from)
{
    arg_storage_reserve_present(to, base + count);
    add_bits(to->present, base, from->present, count);
    if (from->narrow)
        packing_add_narrow(&to->values, from->narrow, from->count);
    else
        packing_add_all(&to->values, from->values, from->count);
}

bool trace_builder_add_columns(struct trace_builder *builder, const struct trace_columns *columns,
                               struct tpa_error *err)
{
    struct trace_storage *storage = builder->storage;
    assert(storage->files.count > 0);
    size_t base = storage->count;
    if (builder->trace->wants.only_count) {
        builder->trace->events_counted += columns->count;
        return true;
    }
    if (!builder_check_ceiling(builder, columns->count, 0, err))
        return false;
    if (columns->count == 0)
        return true;
    add_events(storage, columns);
    for (int arg = 0; arg < ARG_COUNT; arg++)
        if (columns->args[arg].count && trace_builder_wants(builder, (enum trace_arg)arg))
            add_arg(&storage->args[arg], base, columns->count, &columns->args[arg]);
    return builder_check_room(builder, err);
}

void trace_builder_add_flow(struct trace_builder *builder, const struct trace_flow *flow)
{
    if (builder->trace->wants.only_count)
        builder->trace->flows_counted++;
    else
        flow_columns_add(&builder->storage->flows, flow, 1);
}

void trace_builder_add_sample(struct trace_builder *builder, const struct trace_sample *sample)
{
    if (builder->trace->wants.only_count)
        builder->trace->samples_counted++;
    else
        *VEC_PUSH(&builder->storage->samples) = *sample;
}

struct trace_container *trace_builder_container(struct trace_builder *builder, const char *path)
{
    struct trace_container *container = mem_zalloc(1, sizeof *container);
    container->path = trace_builder_strndup(builder, path, strlen(path));
    *VEC_PUSH(&builder->storage->containers) = container;
    return container;
}

void trace_builder_count_seen(struct trace_builder *builder, uint64_t flows, uint64_t samples,
                              uint64_t metadata)
{
    builder->trace->flows_seen += flows;
    builder->trace->samples_seen += samples;
    builder->trace->metadata_seen += metadata;
}
