#include "trace/append.h"

#include "trace/builder.h"
#include "trace/storage.h"

/* What is added to what. */
struct appending {
    struct trace *trace;
    struct trace_storage *storage; /* of TRACE */
    const struct trace *other;
    uint32_t first_file;
    track_id first_track;
};

struct trace *trace_open(void)
{
    return trace_builder_finish(trace_builder_open(&(struct trace_wants){ 0 }));
}

static name_id read_text(const struct appending *appending, name_id id)
{
    const struct names *texts = appending->other->texts;
    return id == NAME_NONE
               ? NAME_NONE
               : names_add(appending->storage->texts, names_text(texts, id), names_length(texts, id));
}

static const char *read_string(const struct appending *appending, const char *text)
{
    return text ? arena_strndup(&appending->trace->arena, text, strlen(text)) : NULL;
}

/* ---- files, tracks, notices ---- */

static void read_file(const struct appending *appending, const struct trace_file *from)
{
    struct trace_file file = *from;
    file.path = read_string(appending, from->path);
    file.format = read_string(appending, from->format);
    file.host_name = read_string(appending, from->host_name);
    file.trace_name = read_string(appending, from->trace_name);
    file.trace_id = read_string(appending, from->trace_id);
    file.backend = read_string(appending, from->backend);
    file.nccl_version = read_string(appending, from->nccl_version);
    if (from->container) {
        file.container = mem_zalloc(1, sizeof *file.container);
        file.container->path = read_string(appending, from->container->path);
        *VEC_PUSH(&appending->storage->containers) = file.container;
    }
    memset(&file.groups, 0, sizeof file.groups);
    memset(&file.devices, 0, sizeof file.devices);
    memset(&file.properties, 0, sizeof file.properties);
    for (size_t i = 0; i < from->groups.count; i++) {
        struct trace_group group = from->groups.at[i];
        group.name = read_text(appending, group.name);
        group.description = read_text(appending, group.description);
        group.ranks = read_text(appending, group.ranks);
        group.backends = read_string(appending, group.backends);
        *VEC_PUSH(&file.groups) = group;
    }
    for (size_t i = 0; i < from->devices.count; i++) {
        struct trace_device device = from->devices.at[i];
        device.name = read_string(appending, device.name);
        *VEC_PUSH(&file.devices) = device;
    }
    for (size_t i = 0; i < from->properties.count; i++) {
        struct trace_property property = from->properties.at[i];
        property.key = read_string(appending, property.key);
        property.value = read_string(appending, property.value);
        *VEC_PUSH(&file.properties) = property;
    }
    *VEC_PUSH(&appending->storage->files) = file;
}

static void read_tracks(const struct appending *appending)
{
    const struct trace *other = appending->other;
    for (track_id t = 0; t < other->track_count; t++) {
        struct track track = other->tracks[t];
        track.file += appending->first_file;
        track.pid_text = read_text(appending, track.pid_text);
        track.tid_text = read_text(appending, track.tid_text);
        track.process_name = read_text(appending, track.process_name);
        track.process_labels = read_text(appending, track.process_labels);
        track.thread_name = read_text(appending, track.thread_name);
        *VEC_PUSH(&appending->storage->tracks) = track;
    }
}

/* What says the same of the files as a whole is counted together. */
static bool count_again(const struct appending *appending, const struct trace_notice *notice)
{
    for (size_t i = 0; i < appending->storage->notices.count && notice->of_all; i++) {
        struct trace_notice *known = &appending->storage->notices.at[i];
        if (!known->of_all || strcmp(known->kind, notice->kind) != 0 ||
            strcmp(known->text, notice->text) != 0)
            continue;
        known->count = notice->count > INT64_MAX - known->count ? INT64_MAX : known->count + notice->count;
        return true;
    }
    return false;
}

static void read_notices(const struct appending *appending)
{
    const struct trace *other = appending->other;
    for (size_t i = 0; i < other->notice_count; i++) {
        struct trace_notice notice = other->notices[i];
        if (count_again(appending, &notice))
            continue;
        notice.file = notice.of_all ? 0 : notice.file + appending->first_file;
        notice.kind = read_string(appending, notice.kind);
        notice.text = read_string(appending, notice.text);
        *VEC_PUSH(&appending->storage->notices) = notice;
    }
}

/* ---- events ---- */

/* By category of OTHER: that of TRACE. New; free(). */
static uint16_t *read_categories(const struct appending *appending)
{
    const struct trace *other = appending->other;
    struct trace_storage *storage = appending->storage;
    uint16_t *category_of = mem_zalloc(other->category_count + 1, sizeof *category_of);
    for (size_t i = 0; i < other->category_count; i++) {
        struct trace_category category = other->categories[i];
        const char *text = names_text(other->texts, category.text);
        size_t len = names_length(other->texts, category.text);
        bool full = storage->categories.count >= TRACE_MAX_CATEGORIES;
        name_id id = full ? names_find(storage->category_keys, text, len)
                          : names_add(storage->category_keys, text, len);
        if (id == NAME_NONE)
            id = 0;
        category.text = read_text(appending, category.text);
        category.event_count = 0;
        if (id == storage->categories.count)
            *VEC_PUSH(&storage->categories) = category;
        category_of[i] = (uint16_t)id;
    }
    return category_of;
}

static void read_event(const struct appending *appending, const uint16_t *category_of, event_id from)
{
    const struct trace *other = appending->other;
    struct trace_storage *storage = appending->storage;
    event_id e = (event_id)storage->count++;
    packing_add(&storage->start_ns, trace_start_ns(other, from));
    packing_add(&storage->dur_ns, trace_dur_ns(other, from));
    storage->name[e] = names_add(storage->names, names_text(other->names, other->name[from]),
                                 names_length(other->names, other->name[from]));
    storage->track[e] = appending->first_track + other->track[from];
    storage->category[e] = category_of[other->category[from]];
    storage->kind[e] = other->kind[from];
    storage->flags[e] = other->flags[from];
    storage->categories.at[storage->category[e]].event_count++;
}

/* File after file, as events of a file lie side by side. */
static void read_events(const struct appending *appending, const bool *keep)
{
    const struct trace *other = appending->other;
    struct trace_storage *storage = appending->storage;
    SCOPED uint16_t *category_of = read_categories(appending);
    size_t kept = 0;
    for (size_t e = 0; keep && e < other->event_count; e++)
        kept += keep[e];
    builder_reserve_events(storage, kept);
    for (uint32_t f = 0; f < other->file_count; f++) {
        const struct trace_file *from = &other->files[f];
        struct trace_file *to = &storage->files.at[appending->first_file + f];
        to->first_event = (event_id)storage->count;
        for (event_id e = from->first_event; keep && e < from->first_event + from->event_count; e++)
            if (keep[e])
                read_event(appending, category_of, e);
        to->event_count = (event_id)storage->count - to->first_event;
    }
}

void trace_append(struct trace *trace, const struct trace *other, const bool *keep)
{
    struct trace_storage *storage = trace->storage;
    struct appending appending = { trace, storage, other, (uint32_t)storage->files.count,
                                   (track_id)storage->tracks.count };
    trace_release_derived(storage);
    for (size_t f = 0; f < other->file_count; f++)
        read_file(&appending, &other->files[f]);
    read_tracks(&appending);
    read_notices(&appending);
    trace->lacks_of_all |= other->lacks_of_all;
    read_events(&appending, keep);
    trace->workers = other->workers;
    storage_lend(trace);
}
