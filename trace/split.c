/* split.c - a file that several were written into becomes several files again (see trace_builder_split). */

#include "trace/builder.h"
#include "trace/storage.h"

#define NO_PART UINT32_MAX

static bool is_process(const struct trace_storage *storage, const struct track *track,
                       const struct part_process *process)
{
    if (track->pid_text == NAME_NONE || !process->written_text)
        return track->pid_text == NAME_NONE && !process->written_text && track->pid == process->written_pid;
    return strcmp(names_text(storage->texts, track->pid_text), process->written_text) == 0;
}

/* By track: the process it is of. New, free(); NULL when a track of FILE is of none. */
static const struct part_process **find_processes(const struct trace_storage *storage, uint32_t file,
                                                  const struct trace_parts *parts)
{
    const struct part_process **of = mem_zalloc(storage->tracks.count + 1, sizeof *of);
    for (size_t t = 0; t < storage->tracks.count; t++) {
        if (storage->tracks.at[t].file != file)
            continue;
        for (size_t p = 0; p < parts->process_count && !of[t]; p++)
            if (is_process(storage, &storage->tracks.at[t], &parts->processes[p]))
                of[t] = &parts->processes[p];
        if (!of[t] && storage->tracks.at[t].event_count > 0) {
            free(of);
            return NULL;
        }
    }
    return of;
}

/* The first event of each part; false when the events are not part after part. */
static bool find_first_events(const struct trace_storage *storage, const struct part_process *const *of,
                              const struct trace_parts *parts, event_id first, event_id *first_events)
{
    uint32_t part = 0;
    first_events[0] = first;
    for (size_t e = first; e < storage->count; e++) {
        uint32_t own = of[storage->track[e]]->part;
        if (own < part)
            return false;
        while (part < own)
            first_events[++part] = (event_id)e;
    }
    while (part + 1 < parts->count)
        first_events[++part] = (event_id)storage->count;
    return true;
}

/* Give TRACK the number and the name back that it had before several files were written into one. */
static void restore_track(struct trace_storage *storage, struct track *track,
                          const struct part_process *process, const char *part_name)
{
    size_t len = strlen(part_name);
    track->pid = process->own_text ? 0 : process->own_pid;
    track->pid_text = process->own_text
                          ? names_add(storage->texts, process->own_text, strlen(process->own_text))
                          : NAME_NONE;
    if (track->process_name == NAME_NONE)
        return;
    const char *name = names_text(storage->texts, track->process_name);
    if (strcmp(name, part_name) == 0)
        track->process_name = NAME_NONE;
    else if (strncmp(name, part_name, len) == 0 && name[len] == ' ')
        track->process_name = names_add(storage->texts, name + len + 1, strlen(name) - len - 1);
}

bool trace_builder_split(struct trace_builder *builder, const struct trace_parts *parts,
                         event_id *first_events)
{
    struct trace_storage *storage = builder->storage;
    uint32_t file = (uint32_t)storage->files.count - 1;
    const struct part_process **of = find_processes(storage, file, parts);
    bool good =
        of && find_first_events(storage, of, parts, storage->files.at[file].first_event, first_events);
    for (size_t t = 0; good && t < storage->tracks.count; t++)
        if (of[t]) {
            storage->tracks.at[t].file = file + of[t]->part;
            restore_track(storage, &storage->tracks.at[t], of[t], parts->names[of[t]->part]);
        }
    free(of);
    return good;
}
