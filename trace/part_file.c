/* Columns are written anew in the order of the parts. */
#include "trace/part_file.h"

#include "trace/arg_scan.h"
#include "trace/storage.h"

/* New, by new place: the event that comes there. */
static event_id *order_events(const struct trace *trace, const struct trace_file *file,
                              const uint32_t *part_of, uint32_t count, event_id *first)
{
    event_id *order = mem_alloc(mem_times(trace->event_count + 1, sizeof *order));
    for (event_id e = 0; e < trace->event_count; e++)
        order[e] = e;
    for (uint32_t part = 0; part <= count; part++)
        first[part] = 0;
    for (event_id e = file->first_event; e < file->first_event + file->event_count; e++)
        first[part_of[trace->track[e]] + 1]++;
    first[0] = file->first_event;
    for (uint32_t part = 0; part < count; part++)
        first[part + 1] += first[part];
    SCOPED event_id *next = mem_alloc(mem_times(count + 1, sizeof *next));
    memcpy(next, first, count * sizeof *next);
    for (event_id e = file->first_event; e < file->first_event + file->event_count; e++)
        order[next[part_of[trace->track[e]]]++] = e;
    return order;
}

static void move_times(struct trace *trace, const event_id *order)
{
    struct trace_storage *storage = trace->storage;
    struct packing start_ns = { 0 }, dur_ns = { 0 };
    for (size_t e = 0; e < storage->count; e++) {
        packing_add(&start_ns, storage_start_ns(storage, order[e]));
        packing_add(&dur_ns, packing_value(&storage->dur_ns, order[e]));
    }
    EACH(packing_release, &storage->start_ns, &storage->dur_ns);
    storage->start_ns = start_ns;
    storage->dur_ns = dur_ns;
}

static void move_arg(struct trace *trace, enum trace_arg arg, const event_id *order)
{
    struct trace_storage *storage = trace->storage;
    struct arg_storage moved = { 0 };
    struct arg_scan values = arg_scan_of(trace, arg);
    int64_t value;
    for (size_t e = 0; e < storage->count; e++)
        if (arg_scan_get(&values, order[e], &value))
            arg_storage_add(&moved, (event_id)e, value);
    arg_storage_release(&storage->args[arg]);
    storage->args[arg] = moved;
    trace->args[arg] = arg_storage_freeze(&storage->args[arg], storage->count);
}

/* The plain columns: those of FILE alone change. */
static void move_columns(struct trace_storage *storage, const struct trace_file *file, const event_id *order)
{
    size_t count = file->event_count, first = file->first_event;
    SCOPED name_id *name = mem_alloc(mem_times(count + 1, sizeof *name));
    SCOPED track_id *track = mem_alloc(mem_times(count + 1, sizeof *track));
    SCOPED uint16_t *category = mem_alloc(mem_times(count + 1, sizeof *category));
    SCOPED uint8_t *kind = mem_alloc(count + 1), *flags = mem_alloc(count + 1);
    for (size_t i = 0; i < count; i++) {
        event_id e = order[first + i];
        name[i] = storage->name[e];
        track[i] = storage->track[e];
        category[i] = storage->category[e];
        kind[i] = storage->kind[e];
        flags[i] = storage->flags[e];
    }
    memcpy(storage->name + first, name, count * sizeof *name);
    memcpy(storage->track + first, track, count * sizeof *track);
    memcpy(storage->category + first, category, count * sizeof *category);
    memcpy(storage->kind + first, kind, count);
    memcpy(storage->flags + first, flags, count);
}

static struct trace_file copy_of(const struct trace_file *from)
{
    struct trace_file file = *from;
    memset(&file.groups, 0, sizeof file.groups);
    memset(&file.devices, 0, sizeof file.devices);
    memset(&file.properties, 0, sizeof file.properties);
    for (size_t i = 0; i < from->groups.count; i++)
        *VEC_PUSH(&file.groups) = from->groups.at[i];
    for (size_t i = 0; i < from->devices.count; i++)
        *VEC_PUSH(&file.devices) = from->devices.at[i];
    for (size_t i = 0; i < from->properties.count; i++)
        *VEC_PUSH(&file.properties) = from->properties.at[i];
    return file;
}

/* Does the part record its own window? Else that of the whole, which may be of another, holds for none. */
static void find_window(const struct trace_storage *storage, struct trace_file *file)
{
    file->has_window = false;
    for (size_t e = file->first_event; e < file->first_event + file->event_count && !file->has_window; e++) {
        if (storage->kind[e] != EVENT_SPAN)
            continue;
        file->has_window = true;
        file->window_start_ns = storage_start_ns(storage, e);
        file->window_end_ns = storage_end_ns(storage, e);
    }
}

void trace_part_file(struct trace *trace, uint32_t file, const uint32_t *part_of, uint32_t count)
{
    struct trace_storage *storage = trace->storage;
    SCOPED event_id *first = mem_alloc(mem_times(count + 1, sizeof *first));
    trace_release_derived(storage);
    SCOPED event_id *order = order_events(trace, &storage->files.at[file], part_of, count, first);
    for (int arg = 0; arg < ARG_COUNT; arg++)
        if (trace->args[arg].count)
            move_arg(trace, (enum trace_arg)arg, order);
    move_times(trace, order);
    move_columns(storage, &storage->files.at[file], order);
    for (size_t t = 0; t < storage->tracks.count; t++) {
        struct track *track = &storage->tracks.at[t];
        track->file += track->file == file ? part_of[t] : track->file > file ? count - 1 : 0;
    }
    for (size_t i = 0; i < storage->notices.count; i++)
        if (!storage->notices.at[i].of_all && storage->notices.at[i].file > file)
            storage->notices.at[i].file += count - 1;
    for (uint32_t part = 1; part < count; part++)
        *VEC_PUSH(&storage->files) = (struct trace_file){ 0 };
    for (size_t f = storage->files.count; f-- > file + count;)
        storage->files.at[f] = storage->files.at[f - (count - 1)];
    for (uint32_t part = 0; part < count; part++) {
        struct trace_file *of = &storage->files.at[file + part];
        if (part) {
            *of = copy_of(&storage->files.at[file]);
            of->packed_size = of->size = 0;
        }
        of->first_event = first[part];
        of->event_count = first[part + 1] - first[part];
    }
    storage_lend(trace);
    for (uint32_t part = 0; part < count; part++)
        find_window(storage, &storage->files.at[file + part]);
}

struct trace_file *trace_file_to_change(struct trace *trace, uint32_t file)
{
    return &trace->storage->files.at[file];
}

void trace_track_rename(struct trace *trace, track_id track, int64_t pid)
{
    struct track *of = &trace->storage->tracks.at[track];
    of->pid = pid;
    of->pid_text = NAME_NONE;
}
