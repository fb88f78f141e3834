#include "cli/convert/perfetto.h"

#include "base/packer.h"
#include "base/search.h"
#include "cli/convert/parts.h"
#include "cli/timeline.h"
#include <inttypes.h>

/* Bytes from which on the description of the root is compressed. */
enum { LONG_ROOT = 4096 };

/* Process numbers that we assign: above those of systems, which end at 2^22. */
enum { OWN_PIDS = 10000000 };

static bool is_stream(const struct trace *trace, track_id track)
{
    return trace->tracks[track].kind == TRACK_STREAM;
}

/* Give each process a number of its own. */
static void number_processes(struct perfetto_tracks *tracks)
{
    const struct trace *trace = tracks->all;
    SCOPED int64_t *taken = mem_alloc(mem_times(tracks->processes.count + 1, sizeof *taken));
    size_t count = tracks->processes.count;
    for (size_t i = 0; i < count; i++)
        taken[i] = trace->tracks[tracks->processes.at[i].track].pid;
    SORT_NUMBERS(taken, count);
    for (size_t i = 0; i < count; i++) {
        struct perfetto_process *process = &tracks->processes.at[i];
        const struct track *track = &trace->tracks[process->track];
        size_t same = search_from(taken, count, track->pid);
        bool is_single = same + 1 >= count || taken[same + 1] != track->pid;
        process->is_renumbered = track->pid_text != NAME_NONE || !is_single || track->pid < 0 ||
                                 track->pid >= OWN_PIDS || tracks->shared[process->track];
        process->pid = process->is_renumbered ? OWN_PIDS + (int64_t)i : track->pid;
    }
}

/* What a process is distinguished by. */
struct process_key {
    int64_t pid;
    uint32_t file;
    name_id pid_text;
};

/* The processes of the host; the one with the most events in each file gets its streams. */
static void find_processes(struct perfetto_tracks *tracks, const bool *has_samples)
{
    const struct trace *trace = tracks->all;
    tracks->process_of = mem_alloc(mem_times(trace->track_count + 1, sizeof *tracks->process_of));
    tracks->host_of = mem_alloc(mem_times(trace->file_count + 1, sizeof *tracks->host_of));
    uint64_t *events = mem_zalloc(trace->track_count + 1, sizeof *events); /* by process */
    struct names *keys = names_open();
    tracks->is_empty = mem_alloc(mem_times(trace->track_count + 1, sizeof *tracks->is_empty));
    for (track_id t = 0; t < trace->track_count; t++)
        tracks->is_empty[t] = trace->tracks[t].event_count == 0 && !has_samples[t];
    for (track_id t = 0; t < trace->track_count; t++) {
        tracks->process_of[t] = UINT32_MAX;
        if (is_stream(trace, t) || tracks->is_empty[t])
            continue;
        const struct track *track = &trace->tracks[t];
        struct process_key key = { track->pid, track->file, track->pid_text };
        uint32_t place = names_add(keys, (const char *)&key, sizeof key);
        if (place == tracks->processes.count)
            *VEC_PUSH(&tracks->processes) =
                (struct perfetto_process){ .track = t, .file = track->file, .uuid = place + 1 };
        tracks->process_of[t] = place;
        events[place] += trace->tracks[t].event_count;
    }
    for (uint32_t f = 0; f < trace->file_count; f++)
        tracks->host_of[f] = UINT32_MAX;
    for (uint32_t i = 0; i < tracks->processes.count; i++) {
        const struct perfetto_process *process = &tracks->processes.at[i];
        uint32_t *host = &tracks->host_of[process->file];
        if (trace->tracks[process->track].kind == TRACK_THREAD &&
            (*host == UINT32_MAX || events[i] > events[*host]))
            *host = i;
    }
    names_free(keys);
    free(events);
    number_processes(tracks);
}

/* Of a track of ALL. Processes come first. */
uint32_t perfetto_track_uuid(const struct perfetto_tracks *tracks, track_id track)
{
    return (uint32_t)tracks->processes.count + 1 + track;
}

/* Write the pid and tid of TRACK in the trace, for reading back. */
void perfetto_append_description(const struct perfetto_tracks *tracks, struct buffer *out, track_id id,
                                 const char *more)
{
    const struct trace *trace = tracks->all;
    const struct track *track = &trace->tracks[id];
    SCOPED struct buffer pid = { 0 }, text = { 0 };
    bool quoted = timeline_add_pid(&pid, trace, track, tracks->shared[id]);
    buffer_printf(&text, quoted ? "tpa pid=\"%s\"" : "tpa pid=%s", pid.at ? pid.at : "");
    if (track->tid_text != NAME_NONE)
        buffer_printf(&text, " tid=\"%s\"", names_text(trace->texts, track->tid_text));
    else
        buffer_printf(&text, " tid=%" PRId64, track->tid);
    buffer_puts(&text, more);
    wire_append_text(out, 14, text.at, text.count);
}

size_t perfetto_open_packet(struct buffer *out, enum perfetto_sequence sequence)
{
    size_t packet = wire_open(out, 1);
    wire_append_number(out, 10, sequence); /* trusted_packet_sequence_id: always */
    return packet;
}

static size_t open_descriptor(struct buffer *out, uint32_t uuid, uint32_t parent, size_t *packet)
{
    *packet = perfetto_open_packet(out, PERFETTO_PLAIN_SEQUENCE);
    size_t descriptor = wire_open(out, 60);
    wire_append_number(out, 1, uuid);
    if (parent)
        wire_append_number(out, 5, parent);
    return descriptor;
}

void perfetto_close_track(struct buffer *out, size_t packet, size_t descriptor)
{
    wire_close(out, descriptor);
    wire_close(out, packet);
}

/* Write the order of siblings: explicit ranks; and prevent merging of equal names. */
static void append_order(struct buffer *out, int64_t rank)
{
    wire_append_number(out, 12, rank);
    wire_append_number(out, 11, 3);
    wire_append_number(out, 15, 2);
}

static void perfetto_tracks_append_name(struct buffer *out, uint32_t number, const struct names *names,
                                        name_id id)
{
    if (id != NAME_NONE)
        wire_append_text(out, number, names_text(names, id), names_length(names, id));
}

static void perfetto_tracks_append_process_name(const struct perfetto_tracks *tracks, struct buffer *out,
                                                const struct perfetto_process *process)
{
    const struct trace *trace = tracks->all;
    const struct track *track = &trace->tracks[process->track];
    SCOPED struct buffer name = { 0 };
    if (trace->file_count > 1) {
        timeline_add_file(&name, trace, process->file);
        buffer_puts(&name, " ");
    }
    if (track->process_name != NAME_NONE)
        buffer_add(&name, names_text(trace->texts, track->process_name),
                   names_length(trace->texts, track->process_name));
    else if (track->pid_text != NAME_NONE)
        buffer_add(&name, names_text(trace->texts, track->pid_text),
                   names_length(trace->texts, track->pid_text));
    if (name.count)
        wire_append_text(out, 6, name.at, name.count);
}

static void perfetto_tracks_append_process(const struct perfetto_tracks *tracks, struct buffer *out,
                                           const struct perfetto_process *process)
{
    size_t packet;
    const struct track *track = &tracks->all->tracks[process->track];
    size_t descriptor = open_descriptor(out, process->uuid, 0, &packet);
    size_t message = wire_open(out, 3);
    wire_append_number(out, 1, process->pid);
    perfetto_tracks_append_process_name(tracks, out, process);
    if (track->process_sort_index >= INT32_MIN && track->process_sort_index <= INT32_MAX)
        wire_append_number(out, 3, track->process_sort_index);
    perfetto_tracks_append_name(out, 8, tracks->all->texts, track->process_labels);
    wire_close(out, message);
    append_order(out, (int64_t)process->file * 1000 + process->uuid);
    perfetto_close_track(out, packet, descriptor);
}

static void append_thread(const struct perfetto_tracks *tracks, struct buffer *out, track_id id)
{
    const struct track *track = &tracks->all->tracks[id];
    const struct perfetto_process *process = &tracks->processes.at[tracks->process_of[id]];
    size_t packet, descriptor = open_descriptor(out, perfetto_track_uuid(tracks, id), process->uuid, &packet);
    size_t message = wire_open(out, 4);
    wire_append_number(out, 1, process->pid);
    wire_append_number(out, 2, track->tid_text == NAME_NONE ? track->tid : OWN_PIDS + (int64_t)id);
    perfetto_tracks_append_name(out, 5, tracks->all->texts,
                                track->thread_name != NAME_NONE ? track->thread_name : track->tid_text);
    if (track->thread_sort_index && track->thread_sort_index >= INT32_MIN &&
        track->thread_sort_index <= INT32_MAX)
        wire_append_number(out, 3, track->thread_sort_index);
    wire_close(out, message);
    append_order(out, track->thread_sort_index);
    if (process->is_renumbered || track->tid_text != NAME_NONE)
        perfetto_append_description(tracks, out, id, "");
    perfetto_close_track(out, packet, descriptor);
}

/* A name in a description after pid and tid: ` process="/device:GPU:0"`. */
static void add_recorded_name(struct buffer *out, const struct trace *trace, const char *word, name_id name)
{
    if (name != NAME_NONE)
        buffer_printf(out, "%s=\"%s\"", word, names_text(trace->texts, name));
}

static void append_stream(const struct perfetto_tracks *tracks, struct buffer *out, track_id id)
{
    const struct track *track = &tracks->all->tracks[id];
    uint32_t host = tracks->host_of[track->file];
    uint32_t parent = host == UINT32_MAX ? 0 : tracks->processes.at[host].uuid;
    size_t packet, descriptor = open_descriptor(out, perfetto_track_uuid(tracks, id), parent, &packet);
    SCOPED struct buffer name = { 0 };
    if (host == UINT32_MAX && tracks->all->file_count > 1) {
        timeline_add_file(&name, tracks->all, track->file);
        buffer_puts(&name, " ");
    }
    buffer_printf(&name, "GPU %" PRId32 " / stream %" PRId64, track->device, track->stream);
    wire_append_text(out, 2, name.at, name.count);
    append_order(out, INT64_C(1000000) + (int64_t)track->device * 1000 +
                          (track->stream < 1000 ? track->stream : 999));
    SCOPED struct buffer names = { 0 };
    add_recorded_name(&names, tracks->all, " process", track->process_name);
    add_recorded_name(&names, tracks->all, " thread", track->thread_name);
    perfetto_append_description(tracks, out, id, names.at ? names.at : "");
    perfetto_close_track(out, packet, descriptor);
}

void perfetto_append_lane(const struct perfetto_tracks *tracks, track_id first_track,
                          const struct perfetto_lane *lane, struct buffer *out)
{
    char name[64];
    track_id track = first_track + lane->track;
    size_t packet, descriptor = open_descriptor(out, lane->uuid, perfetto_track_uuid(tracks, track), &packet);
    int len =
        snprintf(name, sizeof name, "%s %" PRIu32, lane->is_async ? "asynchronous" : "overlap", lane->number);
    wire_append_text(out, 2, name, (size_t)len);
    append_order(out, lane->number);
    if (lane->is_async)
        perfetto_append_description(tracks, out, track, " async");
    perfetto_close_track(out, packet, descriptor);
}

/* The root: ranks below it count, and the head of the trace for reading back. */
static void append_plain_root(const struct perfetto_tracks *tracks, struct buffer *out)
{
    size_t packet = perfetto_open_packet(out, PERFETTO_PLAIN_SEQUENCE), descriptor = wire_open(out, 60);
    SCOPED struct buffer head = { 0 };
    wire_append_number(out, 1, 0);
    wire_append_number(out, 19, 1);
    wire_append_number(out, 20, 1);
    wire_append_number(out, 11, 3);
    buffer_puts(&head, "tpa head ");
    chrome_head_append(tracks->all, &head);
    buffer_puts(&head, "]}");
    wire_append_text(out, 14, head.at, head.count);
    perfetto_close_track(out, packet, descriptor);
}

/* Append the packets in TEXT to OUT as one that holds them compressed. */
void perfetto_append_compressed(struct buffer *out, const struct buffer *text)
{
    size_t packet = perfetto_open_packet(out, PERFETTO_PLAIN_SEQUENCE), packets = wire_open(out, 50);
    packer_deflate(text, out);
    wire_close(out, packets);
    wire_close(out, packet);
}

/* The same, compressed where it is long: the head may hold the configuration of a whole job. */
static void append_root(const struct perfetto_tracks *tracks, struct buffer *out)
{
    SCOPED struct buffer root = { 0 };
    append_plain_root(tracks, &root);
    if (root.count > LONG_ROOT)
        perfetto_append_compressed(out, &root);
    else
        buffer_add(out, root.at, root.count);
}

void perfetto_open_counter(struct buffer *out, uint32_t uuid, uint32_t parent, const char *name, size_t len,
                           bool is_bytes, size_t *packet, size_t *descriptor)
{
    *descriptor = open_descriptor(out, uuid, parent, packet);
    wire_append_text(out, 2, name, len);
    size_t counter = wire_open(out, 8);
    if (is_bytes)
        wire_append_number(out, 3, 3);
    wire_close(out, counter);
    append_order(out, 2000000 + uuid);
}

void perfetto_tracks_init(struct perfetto_tracks *tracks, const struct trace *all, const bool *has_samples)
{
    *tracks = (struct perfetto_tracks){ .all = all, .shared = timeline_shared_processes(all) };
    find_processes(tracks, has_samples);
}

void perfetto_append_root(const struct perfetto_tracks *tracks, struct buffer *out)
{
    append_root(tracks, out);
    for (size_t i = 0; i < tracks->processes.count; i++)
        perfetto_tracks_append_process(tracks, out, &tracks->processes.at[i]);
}

void perfetto_append_track(const struct perfetto_tracks *tracks, track_id track, struct buffer *out)
{
    if (tracks->is_empty[track])
        return;
    if (is_stream(tracks->all, track))
        append_stream(tracks, out, track);
    else
        append_thread(tracks, out, track);
}

uint32_t perfetto_host_uuid(const struct perfetto_tracks *tracks, uint32_t file)
{
    uint32_t host = tracks->host_of[file];
    return host == UINT32_MAX ? 0 : tracks->processes.at[host].uuid;
}

uint32_t perfetto_process_uuid(const struct perfetto_tracks *tracks, track_id track)
{
    uint32_t process = tracks->process_of[track];
    return process == UINT32_MAX ? perfetto_host_uuid(tracks, tracks->all->tracks[track].file)
                                 : tracks->processes.at[process].uuid;
}
