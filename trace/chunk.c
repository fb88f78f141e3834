/*
 * chunk.c - columns that one worker fills by itself, with ids of its own.
 *
 * Names, texts, tracks and categories are interned per chunk, so workers never wait for each other;
 * the builder maps the ids when the chunk is appended, in file order, which makes the trace's ids
 * independent of how many workers there were.
 */
#include "trace/chunk.h"

/* What a chunk remembers over appends saves time while it is little. Of a file in which every name is another one it would
 * be all of them once more. */
enum {
    MOST_NAME_BYTES = 64 << 20,
    MOST_CATEGORIES =
        65500, /* in one chunk: more than in one trace, so that the builder decides which are kept */
    MANY_CATEGORIES = 32 << 10, /* then they are forgotten, so that the next ones have room */
};

static void release_ids(struct chunk_ids *ids)
{
    names_free(ids->names);
    EACH(VEC_FREE, &ids->met, &ids->in_order, &ids->map);
}

static void forget_ids(struct chunk_ids *ids)
{
    names_free(ids->names);
    ids->names = names_open();
    ids->met.count = ids->map.count = 0;
}

/* Note that ID came up. True the first time since the chunk was emptied. */
static bool chunk_meet(struct trace_chunk *chunk, struct chunk_ids *ids, name_id id)
{
    while (ids->met.count <= id)
        *VEC_PUSH(&ids->met) = 0;
    if (ids->met.at[id] == chunk->serial)
        return false;
    ids->met.at[id] = chunk->serial;
    *VEC_PUSH(&ids->in_order) = id;
    return true;
}

struct trace_chunk *trace_chunk_open(const struct trace_builder *builder)
{
    struct trace_chunk *chunk = mem_zalloc(1, sizeof *chunk);
    for (int arg = 0; arg < ARG_COUNT; arg++)
        if (trace_builder_wants(builder, (enum trace_arg)arg))
            chunk->wanted_args |= UINT64_C(1) << arg;
    chunk->names.names = names_open();
    chunk->texts.names = names_open();
    chunk->tracks.names = names_open();
    chunk->categories.names = names_open();
    chunk->serial = 1;
    chunk->last_track = TRACK_NONE;
    return chunk;
}

void trace_chunk_free(struct trace_chunk *chunk)
{
    if (!chunk)
        return;
    EACH(free, chunk->start_ns, chunk->dur_ns, chunk->name, chunk->track, chunk->category, chunk->flags);
    EACH(VEC_FREE, &chunk->marks, &chunk->ends, &chunk->end_args);
    for (int arg = 0; arg < ARG_COUNT; arg++)
        EACH(VEC_FREE, &chunk->args[arg].events, &chunk->args[arg].values);
    EACH(VEC_FREE, &chunk->flows, &chunk->samples, &chunk->facts, &chunk->notices);
    release_ids(&chunk->names);
    release_ids(&chunk->texts);
    release_ids(&chunk->tracks);
    release_ids(&chunk->categories);
    VEC_FREE(&chunk->track_keys);
    free(chunk);
}

void trace_chunk_clear(struct trace_chunk *chunk)
{
    chunk->count = 0;
    chunk->marks.count = chunk->ends.count = chunk->end_args.count = 0;
    for (int arg = 0; arg < ARG_COUNT && chunk->args_used >> arg; arg++)
        chunk->args[arg].events.count = chunk->args[arg].values.count = 0;
    chunk->args_used = 0;
    chunk->last_is_end = false;
    chunk->flows.count = chunk->samples.count = chunk->facts.count = chunk->notices.count = 0;
    chunk->flows_seen = chunk->samples_seen = chunk->metadata_seen = 0;
    chunk->names.in_order.count = chunk->texts.in_order.count = 0;
    chunk->tracks.in_order.count = chunk->categories.in_order.count = 0;
    if (names_bytes(chunk->names.names) > MOST_NAME_BYTES)
        forget_ids(&chunk->names);
    if (names_count(chunk->categories.names) > MANY_CATEGORIES)
        forget_ids(&chunk->categories);
    chunk->serial++;
    chunk->last_track = TRACK_NONE;
}

size_t trace_chunk_count_events(const struct trace_chunk *chunk)
{
    return chunk->count + chunk->ends.count;
}

static name_id add_id(struct trace_chunk *chunk, struct chunk_ids *ids, const char *s, size_t len)
{
    name_id id = names_add(ids->names, s, len);
    chunk_meet(chunk, ids, id);
    return id;
}

name_id trace_chunk_name(struct trace_chunk *chunk, const char *s, size_t len)
{
    return add_id(chunk, &chunk->names, s, len);
}

void trace_chunk_name_again(struct trace_chunk *chunk, name_id id)
{
    chunk_meet(chunk, &chunk->names, id);
}

const char *trace_chunk_name_text(const struct trace_chunk *chunk, name_id id)
{
    return names_text(chunk->names.names, id);
}

name_id trace_chunk_text(struct trace_chunk *chunk, const char *s, size_t len)
{
    return add_id(chunk, &chunk->texts, s, len);
}

uint16_t trace_chunk_category(struct trace_chunk *chunk, const char *s, size_t len)
{
    struct chunk_ids *ids = &chunk->categories;
    name_id id = names_find(ids->names, s, len);
    if (id == NAME_NONE) {
        if (names_count(ids->names) >= MOST_CATEGORIES)
            return trace_chunk_category(chunk, "", 0);
        if (names_count(ids->names) == 0)
            names_add(ids->names, "", 0); /* so that there is always room for it */
        id = names_add(ids->names, s, len);
    }
    if (chunk_meet(chunk, ids, id))
        trace_chunk_text(chunk, s, len); /* the trace will want its text, numbered in this order */
    return (uint16_t)id;
}

/* A track key as bytes, so that names.h can tell keys apart: 'n' and the number, or 't', length and text. */
static size_t append_half(char *out, int64_t number, const char *text, size_t len)
{
    out[0] = text ? 't' : 'n';
    memcpy(out + 1, &number, sizeof number);
    if (!text)
        return 1 + sizeof number;
    memcpy(out + 1, &len, sizeof len);
    memcpy(out + 1 + sizeof len, text, len);
    return 1 + sizeof len + len;
}

size_t track_key_room(const struct track_key *key)
{
    return 2 * (1 + sizeof(int64_t)) + key->pid_len + key->tid_len;
}

size_t track_key_bytes(const struct track_key *key, char *bytes)
{
    size_t len = append_half(bytes, key->pid, key->pid_text, key->pid_len);
    return len + append_half(bytes + len, key->tid, key->tid_text, key->tid_len);
}

/* Is TEXT a number as one would print it ("25738", "-1", no "+7", "007" or "7 ")? Then in *NUMBER. */
static bool is_plain_number(const char *text, size_t len, int64_t *number)
{
    enum { MOST_DIGITS = 18 }; /* fewer than 64 bits hold */
    bool negative = len > 0 && text[0] == '-';
    size_t first = negative;
    if (len == first || len - first > MOST_DIGITS || (text[first] == '0' && len > 1))
        return false;
    int64_t value = 0;
    for (size_t i = first; i < len; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        value = value * 10 + (text[i] - '0');
    }
    *number = negative ? -value : value;
    return true;
}

struct track_key track_key_plain(const struct track_key *written)
{
    struct track_key key = *written;
    if (key.pid_text && is_plain_number(key.pid_text, key.pid_len, &key.pid))
        key.pid_text = NULL, key.pid_len = 0;
    if (key.tid_text && is_plain_number(key.tid_text, key.tid_len, &key.tid))
        key.tid_text = NULL, key.tid_len = 0;
    return key;
}

static track_id find_track(struct trace_chunk *chunk, const struct track_key *key)
{
    char small[256];
    size_t need = track_key_room(key);
    char *bytes = need <= sizeof small ? small : mem_alloc(need);
    track_id track = names_add(chunk->tracks.names, bytes, track_key_bytes(key, bytes));
    if (bytes != small)
        free(bytes);
    if (track == chunk->track_keys.count)
        *VEC_PUSH(&chunk->track_keys) = *key;
    if (chunk_meet(chunk, &chunk->tracks, track)) {
        /* Its texts must outlive the caller's, and the trace will want them. */
        struct track_key *kept = &chunk->track_keys.at[track];
        const struct names *texts = chunk->texts.names;
        if (key->pid_text)
            kept->pid_text = names_text(texts, trace_chunk_text(chunk, key->pid_text, key->pid_len));
        if (key->tid_text)
            kept->tid_text = names_text(texts, trace_chunk_text(chunk, key->tid_text, key->tid_len));
    }
    return track;
}

track_id trace_chunk_track(struct trace_chunk *chunk, const struct track_key *written)
{
    struct track_key plain;
    const struct track_key *key = written;
    if (written->pid_text || written->tid_text) {
        plain = track_key_plain(written);
        key = &plain;
    }
    if (key->pid_text || key->tid_text)
        return find_track(chunk, key);
    if (chunk->last_track == TRACK_NONE || key->pid != chunk->last_pid || key->tid != chunk->last_tid) {
        chunk->last_track = find_track(chunk, key);
        chunk->last_pid = key->pid;
        chunk->last_tid = key->tid;
    }
    return chunk->last_track;
}

int64_t trace_async_id(int64_t scope, const char *s, size_t len)
{
    /* FNV-1a. An interned id would be the chunk's own; a hash is the same in every chunk. */
    uint64_t hash = UINT64_C(1469598103934665603) ^ (uint64_t)scope * UINT64_C(0x9E3779B97F4A7C15);
    for (size_t i = 0; i < len; i++)
        hash = (hash ^ (unsigned char)s[i]) * UINT64_C(1099511628211);
    return (int64_t)hash;
}

static void grow_columns(struct trace_chunk *chunk)
{
    chunk->capacity = chunk->capacity ? chunk->capacity * 2 : 512;
    chunk->start_ns = mem_realloc(chunk->start_ns, mem_times(chunk->capacity, sizeof *chunk->start_ns));
    chunk->dur_ns = mem_realloc(chunk->dur_ns, mem_times(chunk->capacity, sizeof *chunk->dur_ns));
    chunk->name = mem_realloc(chunk->name, mem_times(chunk->capacity, sizeof *chunk->name));
    chunk->track = mem_realloc(chunk->track, mem_times(chunk->capacity, sizeof *chunk->track));
    chunk->category = mem_realloc(chunk->category, mem_times(chunk->capacity, sizeof *chunk->category));
    chunk->flags = mem_realloc(chunk->flags, mem_times(chunk->capacity, sizeof *chunk->flags));
}

static void append_end(struct trace_chunk *chunk, const struct chunk_event *event)
{
    *VEC_PUSH(&chunk->ends) = (struct chunk_end){
        .ts_ns = event->start_ns,
        .name = event->name,
        .track = event->track,
        .category = event->category,
        .phase = event->phase,
        .async_id = event->async_id,
        .after = (uint32_t)chunk->count,
    };
    chunk->last_is_end = true;
}

static bool begins(char phase)
{
    return phase == 'B' || phase == 'b' || phase == 'S';
}

/* EVENT, the next one, is of another phase than X: the flags that say which, and a mark if its end comes later. */
static uint8_t begin_or_point(struct trace_chunk *chunk, const struct chunk_event *event)
{
    char phase = event->phase;
    uint8_t flags = 0;
    if (phase == 'b' || phase == 'S' || phase == 'n' || phase == 'T' || phase == 'p')
        flags |= EVENT_ASYNC;
    if (phase == 'i' || phase == 'n' || phase == 'T' || phase == 'p')
        flags |= EVENT_POINT;
    if (begins(phase))
        *VEC_PUSH(&chunk->marks) = (struct chunk_mark){ (uint32_t)chunk->count, phase, event->async_id };
    return flags;
}

static inline void add_to_columns(struct trace_chunk *chunk, const struct chunk_event *event, int64_t dur_ns,
                                  uint8_t flags)
{
    if (chunk->count == chunk->capacity)
        grow_columns(chunk);
    size_t i = chunk->count++;
    chunk->start_ns[i] = event->start_ns;
    chunk->dur_ns[i] = dur_ns;
    chunk->name[i] = event->name;
    chunk->track[i] = event->track;
    chunk->category[i] = event->category;
    chunk->flags[i] = flags;
    chunk->last_is_end = false;
}

void trace_chunk_event(struct trace_chunk *chunk, const struct chunk_event *event)
{
    char phase = event->phase;
    uint8_t flags = event->flags;
    if (phase == 'X' && event->dur_ns >= 0) { /* nearly all */
        add_to_columns(chunk, event, event->dur_ns, flags);
        return;
    }
    if (phase == 'E' || phase == 'e' || phase == 'F') {
        append_end(chunk, event);
        return;
    }
    flags |= begin_or_point(chunk, event);
    if (event->dur_ns < 0 && !(flags & EVENT_POINT) && !begins(phase))
        flags |= EVENT_NO_DURATION;
    add_to_columns(chunk, event, event->dur_ns < 0 ? 0 : event->dur_ns, flags);
}

void trace_chunk_arg(struct trace_chunk *chunk, enum trace_arg arg, int64_t value)
{
    if (!(chunk->wanted_args >> arg & 1))
        return;
    if (chunk->last_is_end) {
        *VEC_PUSH(&chunk->end_args) = (struct chunk_end_arg){ (uint32_t)chunk->ends.count - 1, arg, value };
        return;
    }
    struct chunk_arg *column = &chunk->args[arg];
    uint32_t event = (uint32_t)chunk->count - 1;
    size_t count = column->events.count;
    if (count && column->events.at[count - 1] == event) {
        column->values.at[count - 1] = value; /* a repeated key: the last one counts */
        return;
    }
    *VEC_PUSH(&column->events) = event;
    *VEC_PUSH(&column->values) = value;
    chunk->args_used |= UINT64_C(1) << arg;
}

void trace_chunk_arg_decimal(struct trace_chunk *chunk, enum trace_arg arg, double value)
{
    int64_t bits;
    memcpy(&bits, &value, sizeof bits);
    trace_chunk_arg(chunk, arg, bits);
}

void trace_chunk_flow(struct trace_chunk *chunk, const struct trace_flow *flow)
{
    *VEC_PUSH(&chunk->flows) = *flow;
}

void trace_chunk_sample(struct trace_chunk *chunk, const struct trace_sample *sample)
{
    *VEC_PUSH(&chunk->samples) = *sample;
}

void trace_chunk_fact(struct trace_chunk *chunk, track_id track, enum track_fact fact, int64_t number,
                      name_id text)
{
    *VEC_PUSH(&chunk->facts) = (struct chunk_fact){ track, fact, number, text };
}

void trace_chunk_notice(struct trace_chunk *chunk, const char *kind, const char *text, int64_t offset)
{
    for (size_t i = 0; i < chunk->notices.count; i++) {
        if (strcmp(chunk->notices.at[i].kind, kind) == 0) {
            chunk->notices.at[i].count++;
            return;
        }
    }
    *VEC_PUSH(&chunk->notices) = (struct chunk_notice){ kind, text, 1, offset };
}

void trace_chunk_lacks(struct trace_chunk *chunk, enum lack lack, const char *text, int64_t offset)
{
    trace_chunk_notice(chunk, lack_word(lack), text, offset);
}

void trace_chunk_count_skipped(struct trace_chunk *chunk, uint64_t flows, uint64_t samples, uint64_t metadata)
{
    chunk->flows_seen += flows;
    chunk->samples_seen += samples;
    chunk->metadata_seen += metadata;
}

bool trace_chunk_is_empty(const struct trace_chunk *chunk)
{
    return chunk->count == 0 && chunk->ends.count == 0 && chunk->flows_seen == 0 &&
           chunk->samples_seen == 0 && chunk->metadata_seen == 0 && chunk->flows.count == 0 &&
           chunk->samples.count == 0 && chunk->facts.count == 0;
}
