/*
 * builder.c - joins chunks into the columns of a trace.
 *
 * Appending is the one serial step of reading a file with many workers, so it does little: it
 * copies columns and maps the chunk's ids to the trace's. A map is filled the first time an id is
 * met, in the order of events, so the trace's ids do not depend on who read which part.
 */
#include "trace/storage.h"

#include "base/runs.h"
#include <assert.h>

size_t trace_ceiling = 4000000000;

bool builder_check_ceiling(const struct trace_builder *builder, size_t events, size_t ends,
                           struct tpa_error *err)
{
    const struct trace_storage *storage = builder->storage;
    const struct {
        size_t count;
        const char *what;
    } counted[] = {
        { storage->count + events, "events" },
        { builder->ends.count + ends, "ends of events" },
        { names_count(storage->names), "different names" },
        { names_count(storage->texts), "different texts" },
        { storage->tracks.count, "threads and streams" },
    };
    for (size_t i = 0; i < sizeof counted / sizeof *counted; i++) {
        if (counted[i].count <= trace_ceiling)
            continue;
        tpa_fail(err, TPA_NOWHERE, "more than %zu %s, which is the most that one trace can hold",
                 trace_ceiling, counted[i].what);
        return tpa_hint(err, "give fewer files at a time, or record for a shorter time");
    }
    return true;
}

struct trace_builder *trace_builder_open(const struct trace_wants *wants)
{
    struct trace_builder *builder = mem_zalloc(1, sizeof *builder);
    builder->trace = mem_zalloc(1, sizeof *builder->trace);
    builder->storage = builder->trace->storage = mem_zalloc(1, sizeof *builder->storage);
    builder->trace->wants = *wants;
    /* Whether an end can be is judged by it (settle_times.c): no figure may hang on what else a command wants. */
    builder->trace->wants.args |= UINT64_C(1) << ARG_CORRELATION;
    builder->storage->names = names_open();
    builder->storage->texts = names_open();
    builder->storage->track_keys = names_open();
    builder->storage->category_keys = names_open();
    builder->notice_keys = names_open();
    return builder;
}

static void free_scaffold(struct trace_builder *builder)
{
    EACH(VEC_FREE, &builder->marks, &builder->ends, &builder->end_args);
    names_free(builder->notice_keys);
    buffer_release(&builder->notice_key);
    free(builder);
}

void trace_builder_free(struct trace_builder *builder)
{
    if (!builder)
        return;
    trace_free(builder->trace);
    free_scaffold(builder);
}

char *trace_builder_strndup(struct trace_builder *builder, const char *s, size_t len)
{
    return arena_strndup(&builder->trace->arena, s, len);
}

/* A file of which nothing is known; PATH and FORMAT are borrowed. */
static struct trace_file unknown_file(const char *path, const char *format, size_t first_event)
{
    return (struct trace_file){
        .path = path,
        .format = format,
        .packed_size = -1,
        .first_event = (event_id)first_event,
        .rank = -1,
        .world_size = -1,
        .record_shapes = -1,
        .profile_memory = -1,
        .with_stack = -1,
        .with_flops = -1,
        .with_modules = -1,
    };
}

uint32_t trace_builder_file(struct trace_builder *builder, const char *path, const char *format)
{
    struct trace_storage *storage = builder->storage;
    *VEC_PUSH(&storage->files) =
        unknown_file(trace_builder_strndup(builder, path, strlen(path)),
                     trace_builder_strndup(builder, format, strlen(format)), storage->count);
    trace_builder_progress(builder, 0, 0);
    return (uint32_t)storage->files.count - 1;
}

static void release_file(struct trace_file *file)
{
    EACH(VEC_FREE, &file->devices, &file->properties, &file->groups);
}

void trace_builder_reset_file(struct trace_builder *builder)
{
    struct trace_file *file = trace_builder_current_file(builder);
    int packing = file->packing;
    unsigned lacks = file->lacks;
    release_file(file);
    *file = unknown_file(file->path, file->format, file->first_event);
    file->packing = packing;
    file->lacks = lacks;
}

struct trace_file *trace_builder_current_file(struct trace_builder *builder)
{
    assert(builder->storage->files.count > 0);
    return &builder->storage->files.at[builder->storage->files.count - 1];
}

bool trace_builder_drop_file(struct trace_builder *builder)
{
    struct trace_file *file = trace_builder_current_file(builder);
    uint32_t index = (uint32_t)builder->storage->files.count - 1;
    if (file->first_event != builder->storage->count)
        return false;
    for (size_t i = 0; i < builder->storage->notices.count; i++) /* their keys cannot be taken back */
        if (!builder->storage->notices.at[i].of_all && builder->storage->notices.at[i].file == index)
            builder->storage->notices.at[i].count = 0;
    release_file(file);
    builder->storage->files.count--;
    return true;
}

void trace_builder_add_property(struct trace_builder *builder, const char *key, const char *value)
{
    const char *kept = trace_builder_strndup(builder, value, strlen(value));
    for (size_t i = 0; i < builder->storage->files.count; i++)
        *VEC_PUSH(&builder->storage->files.at[i].properties) = (struct trace_property){ key, kept, true };
}

/* What KIND of FILE is found by, until the next call. */
static struct buffer *notice_key(struct trace_builder *builder, uint32_t file, const char *kind)
{
    buffer_clear(&builder->notice_key);
    buffer_add(&builder->notice_key, (const char *)&file, sizeof file);
    buffer_puts(&builder->notice_key, kind);
    return &builder->notice_key;
}

/* Those of files that were dropped go. */
static void drop_notices(struct trace_storage *storage)
{
    size_t kept = 0;
    for (size_t i = 0; i < storage->notices.count; i++)
        if (storage->notices.at[i].count)
            storage->notices.at[kept++] = storage->notices.at[i];
    storage->notices.count = kept;
}

static struct trace_notice *find_notice(struct trace_builder *builder, uint32_t file, const char *kind)
{
    const struct buffer *key = notice_key(builder, file, kind);
    name_id found = names_find(builder->notice_keys, key->at, key->count);
    return found == NAME_NONE ? NULL : &builder->storage->notices.at[found];
}

struct trace_notice *trace_builder_find_notice(struct trace_builder *builder, const char *kind)
{
    struct trace_notice *notice = find_notice(builder, (uint32_t)builder->storage->files.count - 1, kind);
    return notice && notice->count ? notice : NULL;
}

/* Tables show counts as signed numbers, and a file may tell any. */
static void builder_count_more(struct trace_notice *notice, uint64_t count)
{
    notice->count = count > INT64_MAX - notice->count ? INT64_MAX : notice->count + count;
}

void builder_notice(struct trace_builder *builder, uint32_t file, const char *kind, const char *text,
                    uint64_t count, int64_t offset)
{
    struct trace_notice *notice = find_notice(builder, file, kind);
    if (count > 0)
        builder->storage->files.at[file].lacks |= lacks_of_word(kind);
    if (!notice) {
        const struct buffer *key = notice_key(builder, file, kind);
        names_add(builder->notice_keys, key->at, key->count);
        *VEC_PUSH(&builder->storage->notices) = (struct trace_notice){ kind, text, file, count, offset };
        return;
    }
    if (notice->count == 0) /* of a file that was dropped */
        *notice = (struct trace_notice){ kind, text, file, 0, offset };
    builder_count_more(notice, count);
    if (notice->offset == TPA_NOWHERE)
        notice->offset = offset;
}

void trace_builder_notice(struct trace_builder *builder, const char *kind, const char *text, uint64_t count,
                          int64_t offset)
{
    builder_notice(builder, (uint32_t)builder->storage->files.count - 1, kind, text, count, offset);
}

void trace_builder_lacks(struct trace_builder *builder, enum lack lack, const char *text, uint64_t count,
                         int64_t offset)
{
    trace_builder_notice(builder, lack_word(lack), text, count, offset);
}

void trace_builder_lacks_files(struct trace_builder *builder, enum lack lack, const char *text,
                               uint64_t count)
{
    trace_builder_tell(builder, lack_word(lack), text, count);
}

void trace_builder_tell(struct trace_builder *builder, const char *kind, const char *text, uint64_t count)
{
    struct buffer *key = notice_key(builder, UINT32_MAX, kind); /* no file has this number */
    builder->trace->lacks_of_all |= lacks_of_word(kind);
    buffer_putc(key, '\0');
    buffer_puts(key, text);
    name_id known = names_find(builder->notice_keys, key->at, key->count);
    if (known != NAME_NONE) {
        builder_count_more(&builder->storage->notices.at[known], count);
        return;
    }
    names_add(builder->notice_keys, key->at, key->count);
    *VEC_PUSH(&builder->storage->notices) = (struct trace_notice){
        .kind = kind,
        .text = trace_builder_strndup(builder, text, strlen(text)),
        .count = count,
        .offset = TPA_NOWHERE,
        .of_all = true,
    };
}

bool trace_builder_wants(const struct trace_builder *builder, enum trace_arg arg)
{
    return builder->trace->wants.args >> arg & 1;
}

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

name_id builder_category(struct trace_builder *builder, const char *text, size_t len)
{
    struct trace_storage *storage = builder->storage;
    bool full = storage->categories.count >= TRACE_MAX_CATEGORIES;
    if (full && names_find(storage->category_keys, text, len) == NAME_NONE) {
        if (!trace_builder_find_notice(builder, "many_categories"))
            trace_builder_notice(
                builder, "many_categories",
                "there are more than 65000 categories: all others count as one without a name", 1,
                TPA_NOWHERE);
        text = "";
        len = 0;
    }
    name_id category = names_add(storage->category_keys, text, len);
    if (category == storage->categories.count)
        *VEC_PUSH(&storage->categories) = (struct trace_category){
            .text = names_add(storage->texts, text, len),
            .kind = category_kind(text),
        };
    return category;
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

track_id builder_track(struct trace_storage *storage, const char *key_bytes, size_t len,
                       const struct track_key *written)
{
    uint32_t file = (uint32_t)storage->files.count - 1;
    /* The key with the file before it. */
    char *key = mem_alloc(sizeof file + len);
    memcpy(key, &file, sizeof file);
    memcpy(key + sizeof file, key_bytes, len);
    track_id track = names_add(storage->track_keys, key, sizeof file + len);
    free(key);
    if (track == storage->tracks.count) {
        const char *pid = written->pid_text, *tid = written->tid_text;
        *VEC_PUSH(&storage->tracks) = (struct track){
            .file = file,
            .pid = pid ? 0 : written->pid,
            .tid = tid ? 0 : written->tid,
            .pid_text = pid ? names_add(storage->texts, pid, written->pid_len) : NAME_NONE,
            .tid_text = tid ? names_add(storage->texts, tid, written->tid_len) : NAME_NONE,
            .process_name = NAME_NONE,
            .process_labels = NAME_NONE,
            .thread_name = NAME_NONE,
            .device = -1,
            .stream = -1,
        };
    }
    return track;
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

/* From so many events on columns grow by a quarter: they are not copied for it, and addresses count where `ulimit -v` is set. */
enum { GROW_GENTLY = 512 << 10 };

static void *grow(void *column, size_t size, size_t old_count, size_t new_count)
{
    return column_resize(column, old_count * size, new_count * size);
}

void builder_reserve_events(struct trace_storage *storage, size_t more)
{
    size_t wanted = storage->count + more;
    if (wanted <= storage->capacity)
        return;
    size_t old = storage->capacity, next = old ? old : 4096;
    while (next < wanted)
        next += next < GROW_GENTLY ? next : next / 4;
    storage->name = grow(storage->name, sizeof *storage->name, old, next);
    storage->track = grow(storage->track, sizeof *storage->track, old, next);
    storage->category = grow(storage->category, sizeof *storage->category, old, next);
    storage->kind = grow(storage->kind, sizeof *storage->kind, old, next);
    storage->flags = grow(storage->flags, sizeof *storage->flags, old, next);
    storage->capacity = next;
}

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
    for (size_t i = 0; i < chunk->facts.count; i++) {
        const struct chunk_fact *fact = &chunk->facts.at[i];
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
    for (size_t i = 0; i < chunk->flows.count; i++) {
        struct trace_flow *flow = &chunk->flows.at[i];
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
    for (size_t i = 0; i < chunk->notices.count; i++) {
        const struct chunk_notice *notice = &chunk->notices.at[i];
        trace_builder_notice(builder, notice->kind, notice->text, notice->count, notice->offset);
    }
    trace_chunk_clear(chunk);
    return builder_check_ceiling(builder, 0, 0, err) && builder_check_room(builder, err);
}

/* ---- finishing ---- */

/* Are all durations together at most MOST_NS? Without a look at each where the blocks tell that none is a COUNT-th of it. */
static bool durations_add_up_to(struct trace_storage *storage, uint64_t most_ns)
{
    const struct packed dur_ns = packing_finish(&storage->dur_ns);
    size_t short_blocks = 0, blocks = packed_blocks(storage->count);
    while (short_blocks < blocks &&
           (uint64_t)packed_most(&dur_ns.blocks[short_blocks]) <= most_ns / storage->count)
        short_blocks++;
    if (short_blocks == blocks)
        return true;
    uint64_t sum_ns = 0;
    for (size_t e = 0; e < storage->count && sum_ns <= most_ns; e++)
        sum_ns += (uint64_t)packed_value(&dur_ns, e);
    return sum_ns <= most_ns;
}

struct bound {
    struct trace_storage *storage;
    int64_t longest_ns;
    uint64_t left_out;
};

static int64_t bounded_duration(void *context, size_t e, int64_t dur_ns)
{
    struct bound *bound = context;
    if (dur_ns <= bound->longest_ns)
        return dur_ns;
    bound->storage->flags[e] |= EVENT_NO_DURATION;
    bound->left_out++;
    return 0;
}

/* Let any sum of durations fit 64 bits. All events of a trace together do not last 73 years; where they do, a damaged file
 * or a stranger made some up, and those that could not be repeated by every event count as unknown. */
static void bound_durations(struct trace_builder *builder)
{
    const uint64_t most_ns = UINT64_C(1) << 61;
    struct trace_storage *storage = builder->storage;
    if (durations_add_up_to(storage, most_ns))
        return;
    struct bound bound = { storage, (int64_t)(most_ns / storage->count), 0 };
    packing_change(&storage->dur_ns, bounded_duration, &bound);
    trace_builder_notice(
        builder, "absurd_duration",
        "events last so long that all of them would take more than 73 years; their duration is taken as not known",
        bound.left_out, TPA_NOWHERE);
}

static void freeze_args(struct trace_builder *builder)
{
    struct trace_storage *storage = builder->storage;
    for (int arg = 0; arg < ARG_COUNT; arg++)
        if (storage->args[arg].values.count)
            builder->trace->args[arg] = arg_storage_freeze(&storage->args[arg], storage->count);
}

/* What a .tpa file lacks may be of any of the files in it. */
static void spread_lacks_of_containers(struct trace_storage *storage)
{
    for (size_t i = 0; i < storage->notices.count; i++) {
        const struct trace_notice *notice = &storage->notices.at[i];
        unsigned lacks = notice->of_container && notice->count ? lacks_of_word(notice->kind) : 0;
        for (size_t f = 0; lacks && f < storage->files.count; f++)
            if (storage->files.at[f].container == storage->files.at[notice->file].container)
                storage->files.at[f].lacks |= lacks;
    }
}

static void settle_files(struct trace_builder *builder)
{
    struct trace_storage *storage = builder->storage;
    for (size_t i = 0; i < storage->files.count; i++) {
        struct trace_file *file = &storage->files.at[i];
        size_t end = i + 1 < storage->files.count ? storage->files.at[i + 1].first_event : storage->count;
        file->event_count = (event_id)(end - file->first_event);
        for (size_t e = file->first_event; e < end && !file->has_window; e++) {
            if (storage->kind[e] != EVENT_SPAN)
                continue;
            file->has_window = true;
            file->window_start_ns = storage_start_ns(storage, e);
            file->window_end_ns = storage_end_ns(storage, e);
        }
    }
}

void storage_lend(struct trace *trace)
{
    struct trace_storage *storage = trace->storage;
    trace->event_count = storage->count;
    trace->start_ns = packing_finish(&storage->start_ns);
    trace->dur_ns = packing_finish(&storage->dur_ns);
    trace->name = storage->name;
    trace->track = storage->track;
    trace->category = storage->category;
    trace->kind = storage->kind;
    trace->flags = storage->flags;
    trace->names = storage->names;
    trace->texts = storage->texts;
    trace->tracks = storage->tracks.at;
    trace->track_count = storage->tracks.count;
    trace->categories = storage->categories.at;
    trace->category_count = storage->categories.count;
    trace->files = storage->files.at;
    trace->file_count = storage->files.count;
    drop_notices(storage);
    trace->notices = storage->notices.at;
    trace->notice_count = storage->notices.count;
    flow_columns_finish(&storage->flows);
    trace->flow_count = flow_columns_count(&storage->flows);
    trace->samples = storage->samples.at;
    trace->sample_count = storage->samples.count;
}

static bool belongs_behind(const void *context, const void *left, const void *right)
{
    const struct trace_device *a = left, *b = right;
    (void)context;
    return a->id > b->id;
}

/* trace_file_device looks for them by their order. */
static void sort_devices(struct trace_builder *builder)
{
    for (size_t f = 0; f < builder->storage->files.count; f++) {
        struct trace_file *file = &builder->storage->files.at[f];
        if (file->devices.count > 1)
            runs_sort(file->devices.at, file->devices.count, sizeof *file->devices.at, belongs_behind, NULL);
    }
}

void trace_builder_set_workers(struct trace_builder *builder, unsigned workers)
{
    builder->trace->workers = workers;
}

struct trace *trace_builder_finish(struct trace_builder *builder)
{
    struct trace *trace = builder->trace;
    builder_join_ends(builder);
    bound_durations(builder);
    settle_files(builder);
    spread_lacks_of_containers(builder->storage);
    sort_devices(builder);
    builder_classify(builder);
    if (!trace->wants.as_written)
        builder_settle_links(builder);
    freeze_args(builder);
    if (!trace->wants.as_written) {
        builder_settle_times(builder);
        storage_lend(trace);
        builder_settle_losses(builder);
    }
    storage_lend(trace);
    free_scaffold(builder);
    return trace;
}
