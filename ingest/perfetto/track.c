/*
 * track.c - descriptors of tracks, made processes, threads and streams.
 *
 * A track is known by its uuid; its descriptor holds for the whole file. It is a process, a thread, or a plain track that
 * hangs below another one. A plain track below a thread is the thread's: writers put there what crosses. Names of GPU's
 * queues ("[007] stream 7", "COMPUTE GPU [2] STREAM [0]") make streams of a device, numbered as PyTorch's JSON does.
 * A description "tpa pid=7 tid=7", which tpa writes, says the track as it was.
 */
#define _GNU_SOURCE /* memmem, memrchr */
#include "ingest/perfetto/parts.h"

#include "ingest/json_text.h"
#include "base/quantity.h"
#include <inttypes.h>

/* How far up parents are followed: they may loop. */
enum { MOST_PARENTS = 32 };

uint32_t pf_tracks_place(struct pf_tracks *tracks, uint64_t uuid)
{
    uint32_t place = id_table_find(&tracks->places, uuid);
    if (place != ID_TABLE_NONE)
        return place;
    place = (uint32_t)tracks->at.count;
    *VEC_PUSH(&tracks->at) = (struct pf_track){ .uuid = uuid, .multiplier = 1, .category = UINT16_MAX };
    id_table_set(&tracks->places, uuid, place);
    return place;
}

/* ---- reading ---- */

static void read_process(struct pf_track *track, struct wire in)
{
    struct wire_field field;
    while (wire_next(&in, &field) && field.type != WIRE_GROUP) {
        if (wire_is(&field, 1, WIRE_VARINT))
            track->pid = (int32_t)field.value;
        else if (wire_is(&field, 3, WIRE_VARINT))
            track->process_order = (int32_t)field.value;
        else if (wire_is(&field, 6, WIRE_BYTES))
            track->process_name = wire_text_of(&field);
        else if (wire_is(&field, 8, WIRE_BYTES))
            track->label = wire_text_of(&field);
    }
    track->has_process = true;
}

static void track_read_thread(struct pf_track *track, struct wire in)
{
    struct wire_field field;
    while (wire_next(&in, &field) && field.type != WIRE_GROUP) {
        if (wire_is(&field, 1, WIRE_VARINT))
            track->pid = (int32_t)field.value;
        else if (wire_is(&field, 2, WIRE_VARINT))
            track->tid = (int64_t)field.value;
        else if (wire_is(&field, 3, WIRE_VARINT))
            track->thread_order = (int32_t)field.value;
        else if (wire_is(&field, 5, WIRE_BYTES))
            track->thread_name = wire_text_of(&field);
    }
    track->has_thread = true;
}

static void read_counter(struct pf_track *track, struct wire in)
{
    struct wire_field field;
    while (wire_next(&in, &field) && field.type != WIRE_GROUP) {
        if (wire_is(&field, 4, WIRE_VARINT) && field.value)
            track->multiplier = (int64_t)field.value;
        else if (wire_is(&field, 5, WIRE_VARINT))
            track->is_incremental = field.value != 0;
    }
    track->is_counter = true;
}

static void know_process(struct pf_tracks *tracks, uint32_t place)
{
    const struct pf_track *track = &tracks->at.at[place];
    if (track->has_process && track->process_name.len)
        id_table_set(&tracks->process_places, (uint64_t)track->pid, place);
}

uint32_t pf_tracks_add(struct pf_tracks *tracks, struct wire in)
{
    struct wire_field field;
    struct wire all = in;
    uint64_t uuid = 0;
    while (wire_next(&in, &field) && field.type != WIRE_GROUP)
        if (wire_is(&field, 1, WIRE_VARINT))
            uuid = field.value;
    uint32_t place = pf_tracks_place(tracks, uuid);
    struct pf_track *track = &tracks->at.at[place];
    track->is_described = true;
    while (wire_next(&all, &field) && field.type != WIRE_GROUP) {
        switch (field.number << 3 | field.type) {
        case 2 << 3 | WIRE_BYTES:
        case 10 << 3 | WIRE_BYTES: track->name = wire_text_of(&field); break;
        case 3 << 3 | WIRE_BYTES: read_process(track, wire_in(&field)); break;
        case 4 << 3 | WIRE_BYTES: track_read_thread(track, wire_in(&field)); break;
        case 5 << 3 | WIRE_VARINT:
            track->parent = field.value;
            track->has_parent = true;
            break;
        case 8 << 3 | WIRE_BYTES: read_counter(track, wire_in(&field)); break;
        case 14 << 3 | WIRE_BYTES:
            track->description = wire_text_of(&field);
            track->is_derived = wire_text_is(track->description, "tpa derived");
            break;
        default: break;
        }
    }
    know_process(tracks, place);
    return place;
}

/* Uuids that we give to what has none in the file. */
static uint64_t own_uuid(int64_t pid, int64_t tid, bool is_thread)
{
    int64_t numbers[3] = { pid, tid, is_thread };
    return (uint64_t)trace_async_id(77, (const char *)numbers, sizeof numbers);
}

uint32_t pf_tracks_thread(struct pf_tracks *tracks, int64_t pid, int64_t tid)
{
    uint32_t place = pf_tracks_place(tracks, own_uuid(pid, tid, true));
    struct pf_track *track = &tracks->at.at[place];
    track->is_described = track->has_thread = true;
    track->pid = pid;
    track->tid = tid;
    return place;
}

static uint32_t own_process(struct pf_tracks *tracks, int64_t pid)
{
    uint32_t place = pf_tracks_place(tracks, own_uuid(pid, 0, false));
    tracks->at.at[place].is_described = tracks->at.at[place].has_process = true;
    tracks->at.at[place].pid = pid;
    return place;
}

void pf_tracks_add_process(struct pf_tracks *tracks, struct wire in)
{
    struct pf_track read = { 0 };
    read_process(&read, in);
    uint32_t place = own_process(tracks, read.pid);
    tracks->at.at[place].process_name = read.process_name;
    know_process(tracks, place);
}

void pf_tracks_add_process_tree(struct pf_tracks *tracks, struct wire in)
{
    struct wire_field field, part;
    while (wire_next(&in, &field) && field.type != WIRE_GROUP) {
        if (field.type != WIRE_BYTES || field.number > 2)
            continue;
        struct wire entry = wire_in(&field);
        int64_t number = 0, group = 0;
        struct wire_text name = { NULL, 0 };
        bool is_thread = field.number == 2;
        while (wire_next(&entry, &part) && part.type != WIRE_GROUP) {
            if (wire_is(&part, 1, WIRE_VARINT))
                number = (int64_t)part.value;
            else if (wire_is(&part, 3, WIRE_VARINT) && is_thread)
                group = (int64_t)part.value;
            else if (wire_is(&part, is_thread ? 2 : 3, WIRE_BYTES) && name.len == 0)
                name = wire_text_of(&part);
        }
        if (is_thread) {
            uint32_t place = pf_tracks_thread(tracks, group, number);
            tracks->at.at[place].thread_name = name;
        } else {
            uint32_t place = own_process(tracks, number);
            tracks->at.at[place].process_name = name;
            know_process(tracks, place);
        }
    }
}

void pf_tracks_release(struct pf_tracks *tracks)
{
    VEC_FREE(&tracks->at);
    EACH(id_table_release, &tracks->places, &tracks->process_places);
    names_free(tracks->taken);
}

/* ---- numbers in names ---- */

int64_t pf_last_number(struct wire_text text, int64_t missing)
{
    size_t end = text.len, first;
    int64_t number = 0;
    while (end > 0 && !quantity_is_digit(text.at[end - 1]))
        end--;
    for (first = end; first > 0 && quantity_is_digit(text.at[first - 1]) && end - first < 18;)
        first--;
    for (size_t i = first; i < end; i++)
        number = number * 10 + (text.at[i] - '0');
    return end ? number : missing;
}

/* The number behind WORD in TEXT, with blanks, brackets and quotes between; -1 when there is none. */
static int64_t number_behind(struct wire_text text, const char *word)
{
    size_t len = strlen(word);
    for (size_t i = 0; i + len <= text.len; i++) {
        if (memcmp(text.at + i, word, len) != 0)
            continue;
        size_t at = i + len;
        while (at < text.len && text.at[at] && strchr(" [\"(", text.at[at]))
            at++;
        int64_t number = 0;
        size_t first = at;
        while (at < text.len && quantity_is_digit(text.at[at]) && at - first < 18)
            number = number * 10 + (text.at[at++] - '0');
        if (at > first)
            return number;
    }
    return -1;
}

/* ---- places ---- */

/* A pid or tid of a description: a number, or a text in quotes. */
static const char *read_half(const char *at, const char *end, const char *word, int64_t *number,
                             const char **text, size_t *len)
{
    size_t word_len = strlen(word);
    if ((size_t)(end - at) < word_len || memcmp(at, word, word_len) != 0)
        return NULL;
    at += word_len;
    if (at < end && *at == '"') {
        const char *close = memrchr(at + 1, '"', (size_t)(end - at - 1));
        const char *middle = memmem(at + 1, (size_t)(end - at - 1), "\" tid=", 6);
        close = middle ? middle : close;
        if (!close)
            return NULL;
        *text = at + 1;
        *len = (size_t)(close - at - 1);
        return close + 1;
    }
    const char *stop = at;
    while (stop < end && *stop != ' ')
        stop++;
    return json_integer(at, stop, number) ? stop : NULL;
}

/* A name that a description tells behind pid and tid, from *AT on: WORD="name". */
static struct wire_text read_recorded_name(const char **at, const char *end, const char *word)
{
    struct wire_text name = { NULL, 0 };
    size_t len = strlen(word);
    if ((size_t)(end - *at) < len || memcmp(*at, word, len) != 0)
        return name;
    const char *first = *at + len, *next = memmem(first, (size_t)(end - first), "\" thread=\"", 10);
    const char *close = next ? next : memrchr(first, '"', (size_t)(end - first));
    if (!close)
        return name;
    *at = close + 1;
    return (struct wire_text){ first, (size_t)(close - first) };
}

/* The key that a description of ours tells, and names of its process and thread, where it tells them. */
static bool read_description(struct wire_text text, struct track_key *key, struct wire_text *process,
                             struct wire_text *thread)
{
    if (!wire_text_begins(text, "tpa pid="))
        return false;
    const char *end = text.at + text.len;
    const char *at = read_half(text.at + 4, end, "pid=", &key->pid, &key->pid_text, &key->pid_len);
    at = at ? read_half(at, end, " tid=", &key->tid, &key->tid_text, &key->tid_len) : NULL;
    if (!at)
        return false;
    *process = read_recorded_name(&at, end, " process=\"");
    *thread = read_recorded_name(&at, end, " thread=\"");
    return true;
}

/* The nearest track from PLACE upwards that is a thread or a process; ID_TABLE_NONE: none. */
static uint32_t find_owner(const struct pf_tracks *tracks, uint32_t place)
{
    for (int i = 0; i < MOST_PARENTS && place != ID_TABLE_NONE; i++) {
        const struct pf_track *track = &tracks->at.at[place];
        if (track->has_thread || track->has_process || wire_text_begins(track->description, "tpa pid="))
            return place;
        place = track->has_parent ? id_table_find(&tracks->places, track->parent) : ID_TABLE_NONE;
    }
    return ID_TABLE_NONE;
}

/* "COMPUTE GPU [2] QUEUE [3] GPU", "COPY to AGENT [1] THREAD [2] (GPU)", "GPU 0 / stream 7": a queue of a device. */
static bool is_gpu_lane(struct wire_text name, int64_t process_device, int64_t *device, int64_t *lane)
{
    *device = number_behind(name, "GPU");
    if (*device < 0)
        *device = wire_text_begins(name, "COPY to") ? number_behind(name, "AGENT") : process_device;
    static const char *const words[] = { "stream", "STREAM", "QUEUE", "queue", "THREAD" };
    *lane = -1;
    for (size_t i = 0; i < sizeof words / sizeof *words && *lane < 0; i++)
        if (i < 4 || wire_text_begins(name, "COPY"))
            *lane = number_behind(name, words[i]);
    return *device >= 0 && *lane >= 0;
}

/* A key for a track of no thread: its name, with its uuid behind where another one has the same. */
static void name_track(struct pf_reader *reader, const struct pf_track *track, struct track_key *key)
{
    struct pf_tracks *tracks = &reader->tracks;
    struct buffer *text = &reader->text;
    struct wire_text name = track->name;
    if (!tracks->taken)
        tracks->taken = names_open();
    buffer_clear(text);
    if (name.len)
        buffer_add(text, name.at, name.len);
    else
        buffer_printf(text, "track %" PRIu64, track->uuid);
    size_t shown = text->count;
    buffer_printf(text, "\n%" PRId64, key->pid);
    size_t known = names_count(tracks->taken);
    names_add(tracks->taken, text->at, text->count);
    text->count = shown;
    if (names_count(tracks->taken) == known)
        buffer_printf(text, " (%" PRIu64 ")", track->uuid);
    key->tid_text = text->at;
    key->tid_len = text->count;
}

static struct wire_text process_name(const struct pf_tracks *tracks, int64_t pid)
{
    uint32_t place = id_table_find(&tracks->process_places, (uint64_t)pid);
    return place == ID_TABLE_NONE ? (struct wire_text){ NULL, 0 } : tracks->at.at[place].process_name;
}

static void describe_fact(struct pf_reader *reader, track_id track, enum track_fact fact,
                          struct wire_text text)
{
    if (text.len)
        trace_chunk_fact(reader->chunk, track, fact, 0, trace_chunk_text(reader->chunk, text.at, text.len));
}

/* The process that TRACK is of: its own descriptor, or what the nearest above it says; NULL: none. */
static const struct pf_track *find_process(const struct pf_tracks *tracks, uint32_t place)
{
    for (int i = 0; i < MOST_PARENTS && place != ID_TABLE_NONE; i++) {
        const struct pf_track *track = &tracks->at.at[place];
        if (track->has_process || track->has_thread) {
            uint32_t process = id_table_find(&tracks->process_places, (uint64_t)track->pid);
            return process == ID_TABLE_NONE ? track : &tracks->at.at[process];
        }
        place = track->has_parent ? id_table_find(&tracks->places, track->parent) : ID_TABLE_NONE;
    }
    return NULL;
}

/* Names and order, from the track itself, its thread and its process. */
static void describe_facts(struct pf_reader *reader, uint32_t place, const struct pf_track *owner,
                           track_id id)
{
    const struct pf_track *track = &reader->tracks.at.at[place];
    const struct pf_track *process = find_process(&reader->tracks, place);
    if (process) {
        describe_fact(reader, id, FACT_PROCESS_NAME, process->process_name);
        describe_fact(reader, id, FACT_PROCESS_LABELS, process->label);
        if (process->process_order)
            trace_chunk_fact(reader->chunk, id, FACT_PROCESS_SORT_INDEX, process->process_order, NAME_NONE);
    }
    bool is_named = track->process_name.len && !track->has_process; /* by a description of ours */
    if (is_named) {
        describe_fact(reader, id, FACT_PROCESS_NAME, track->process_name);
        describe_fact(reader, id, FACT_THREAD_NAME, track->thread_name);
    } else if (owner && owner->has_thread) {
        describe_fact(reader, id, FACT_THREAD_NAME, owner->thread_name);
        if (owner->thread_order)
            trace_chunk_fact(reader->chunk, id, FACT_THREAD_SORT_INDEX, owner->thread_order, NAME_NONE);
    } else if (track->is_async) {
        return; /* its name tells how such events are shown, and no thread */
    } else if (!track->has_process && !track->is_counter && owner == track) {
        describe_fact(reader, id, FACT_THREAD_NAME, track->name);
    } else if (!owner) {
        describe_fact(reader, id, FACT_THREAD_NAME, track->name);
    }
}

/* torch: no category tells what is overhead, or a wait of a stream, but the track does. */
static void read_torch_track(struct pf_reader *reader, struct pf_track *track, struct track_key *key)
{
    struct wire_text process = process_name(&reader->tracks, key->pid);
    if (!reader->is_torch || !track->has_thread)
        return;
    if (key->pid == INT32_MAX) {
        track->category = trace_chunk_category(reader->chunk, "overhead", 8);
        key->pid = -1;
    } else if (wire_text_begins(process, "GPU ") && wire_text_begins(track->thread_name, "stream ")) {
        track->category = trace_chunk_category(reader->chunk, "cuda_sync", 9);
        key->pid = pf_last_number(process, 0);
        key->tid = pf_last_number(track->thread_name, 0);
    }
}

static void make_key(struct pf_reader *reader, struct pf_track *track, const struct pf_track *owner,
                     struct track_key *key)
{
    int64_t device, lane;
    if (read_description(track->description, key, &track->process_name, &track->thread_name) ||
        (owner && owner != track &&
         read_description(owner->description, key, &track->process_name, &track->thread_name)))
        return;
    *key = (struct track_key){ .pid = owner ? owner->pid : 0 };
    if (owner && owner->has_thread) {
        key->tid = owner->tid;
        read_torch_track(reader, track, key);
        return;
    }
    int64_t on_gpu = owner ? number_behind(owner->process_name, "GPU") : -1;
    if (is_gpu_lane(track->name, on_gpu, &device, &lane)) {
        key->pid = device;
        key->tid = lane;
        return;
    }
    int64_t thread = wire_text_begins(track->name, "THREAD ") ? (memchr(track->name.at, '(', track->name.len)
                                                                     ? pf_last_number(track->name, -1)
                                                                     : number_behind(track->name, "THREAD"))
                                                              : -1;
    if (thread >= 0)
        key->tid = thread;
    else
        name_track(reader, track, key);
}

track_id pf_track_of(struct pf_reader *reader, uint32_t place)
{
    struct pf_track *track = &reader->tracks.at.at[place];
    if (track->is_resolved)
        return track->track;
    struct track_key key = { 0 };
    uint32_t owner = find_owner(&reader->tracks, place);
    const struct pf_track *of = owner == ID_TABLE_NONE ? NULL : &reader->tracks.at.at[owner];
    if (!track->is_described)
        pf_notice(reader, "unknown_track", "events lie on tracks that the file does not describe");
    make_key(reader, track, of, &key);
    track->track = trace_chunk_track(reader->chunk, &key);
    track->is_resolved = true;
    track->is_async =
        wire_text_begins(track->description, "tpa pid=") && wire_text_ends(track->description, " async");
    describe_facts(reader, place, of, track->track);
    return track->track;
}

track_id pf_gpu_track(struct pf_reader *reader, int64_t gpu, struct wire_text lane)
{
    struct track_key key = { .pid = gpu, .tid = pf_last_number(lane, -1) };
    if (key.tid < 0 || !memmem(lane.at, lane.len, "stream", 6)) {
        key.tid = 0;
        key.tid_text = lane.at;
        key.tid_len = lane.len;
    }
    if (lane.len == 0)
        key.tid_text = NULL;
    return trace_chunk_track(reader->chunk, &key);
}
