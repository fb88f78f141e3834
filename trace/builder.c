/* builder.c - a trace in the making: its files, notices, categories, tracks and columns, until it is finished. */
#include "trace/builder.h"

#include "base/runs.h"
#include "trace/storage.h"
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

/* ---- categories and tracks ---- */

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
    FOR_EACH(notice, &storage->notices) {
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
    FOR_EACH(file, &builder->storage->files)
        if (file->devices.count > 1)
            runs_sort(file->devices.at, file->devices.count, sizeof *file->devices.at, belongs_behind, NULL);
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
