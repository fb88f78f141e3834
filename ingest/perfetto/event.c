/*
 * event.c - TrackEvents: slices, instants, counters, and the flows between them.
 *
 * They are read twice: once to find which END closes which BEGIN, and once to add each slice where it begins.
 */
#include "ingest/perfetto/parts.h"

/* The parts of a TrackEvent that are not annotations. */
struct track_event {
    enum pf_event_type type;
    bool has_track, has_time_us, has_absolute_us;
    uint64_t track;
    struct wire_text name, category;
    struct pf_interned *name_entry;
    bool dangles;
    int64_t time_us, counter, duration_us;
    double decimal;
    bool is_decimal;
    bool has_annotations, has_flows, has_extra;
    int64_t pid, tid; /* of old events that say it themselves; -1: not */
    bool is_async;    /* of an old event: it belongs to an id and not to the track */
};

static struct pf_interned *find(const struct pf_sequence *sequence, enum pf_interned_kind kind, uint64_t iid,
                                bool *dangles)
{
    struct pf_interned *entry = iid ? pf_sequence_find(sequence, kind, iid) : NULL;
    *dangles |= iid && !entry;
    return entry;
}

static void read_legacy(const struct pf_sequence *sequence, struct wire in, struct track_event *event)
{
    struct wire_field field;
    uint64_t phase = 0;
    while (wire_next(&in, &field) && field.type != WIRE_GROUP) {
        if (field.type != WIRE_VARINT)
            continue;
        switch (field.number) {
        case 1: event->name_entry = find(sequence, PF_NAME, field.value, &event->dangles); break;
        case 2: phase = field.value; break;
        case 3: event->duration_us = (int64_t)field.value; break;
        case 18: event->pid = (int32_t)field.value; break;
        case 19: event->tid = (int32_t)field.value; break;
        default: break;
        }
    }
    if (event->type != PF_NOTHING)
        return;
    switch (phase) {
    case 'B': event->type = PF_BEGIN; break;
    case 'E': event->type = PF_END; break;
    case 'X': event->type = PF_COMPLETE; break;
    case 'i':
    case 'I':
    case 'R': event->type = PF_INSTANT; break;
    default: event->is_async = phase != 0; break;
    }
}

static void set_type(struct track_event *event, uint64_t type)
{
    static const enum pf_event_type types[] = { PF_NOTHING, PF_BEGIN, PF_END, PF_INSTANT, PF_COUNTER };
    event->type = type < sizeof types / sizeof *types ? types[type] : PF_NOTHING;
}

static bool read_event(const struct pf_sequence *sequence, struct wire in, struct track_event *event)
{
    struct wire_field field;
    struct wire legacy = wire_over(NULL, 0);
    *event = (struct track_event){ .pid = -1, .tid = -1 };
    bool has_category = false;
    while (wire_next(&in, &field)) {
        switch (field.number << 3 | field.type) {
        case 1 << 3 | WIRE_VARINT:
            event->time_us = (int64_t)field.value;
            event->has_time_us = true;
            break;
        case 16 << 3 | WIRE_VARINT:
            event->time_us = (int64_t)field.value;
            event->has_absolute_us = true;
            break;
        case 9 << 3 | WIRE_VARINT: set_type(event, field.value); break;
        case 11 << 3 | WIRE_VARINT:
            event->track = field.value;
            event->has_track = true;
            break;
        case 23 << 3 | WIRE_BYTES: event->name = wire_text_of(&field); break;
        case 10 << 3 | WIRE_VARINT:
            event->name_entry = find(sequence, PF_NAME, field.value, &event->dangles);
            break;
        case 22 << 3 | WIRE_BYTES:
            if (!has_category)
                event->category = wire_text_of(&field);
            has_category = true;
            break;
        case 3 << 3 | WIRE_VARINT:
        case 3 << 3 | WIRE_BYTES: {
            uint64_t iid = field.value;
            struct wire packed = field.type == WIRE_BYTES ? wire_in(&field) : wire_over(NULL, 0);
            if (field.type == WIRE_BYTES && !wire_varint(&packed, &iid))
                break;
            const struct pf_interned *entry = find(sequence, PF_CATEGORY, iid, &event->dangles);
            if (entry && !has_category) {
                event->category = entry->text;
                has_category = true;
            }
            break;
        }
        case 30 << 3 | WIRE_VARINT: event->counter = (int64_t)field.value; break;
        case 44 << 3 | WIRE_FIXED64:
            event->decimal = wire_double(field.value);
            event->is_decimal = true;
            break;
        case 4 << 3 | WIRE_BYTES: event->has_annotations = true; break;
        case 6 << 3 | WIRE_BYTES: legacy = wire_in(&field); break;
        case 12 << 3 | WIRE_VARINT:
        case 12 << 3 | WIRE_BYTES:
        case 33 << 3 | WIRE_FIXED64: event->has_extra = true; break;
        case 36 << 3 | WIRE_VARINT:
        case 42 << 3 | WIRE_VARINT:
        case 47 << 3 | WIRE_FIXED64:
        case 48 << 3 | WIRE_FIXED64:
        case 47 << 3 | WIRE_BYTES:
        case 48 << 3 | WIRE_BYTES: event->has_flows = true; break;
        default:
            if (field.type == WIRE_GROUP)
                return false;
        }
    }
    if (legacy.at != legacy.end)
        read_legacy(sequence, legacy, event);
    if (event->name.len == 0 && event->name_entry)
        event->name = event->name_entry->text;
    return !in.damaged;
}

/* ---- where and when ---- */

static uint32_t track_of(struct pf_reader *reader, const struct pf_sequence *sequence,
                         const struct track_event *event)
{
    if (event->has_track)
        return pf_tracks_place(&reader->tracks, event->track);
    if (event->tid >= 0)
        return pf_tracks_thread(&reader->tracks, event->pid >= 0 ? event->pid : sequence->pid, event->tid);
    if (sequence->has_default_track)
        return pf_tracks_place(&reader->tracks, sequence->default_track);
    if (sequence->tid >= 0)
        return pf_tracks_thread(&reader->tracks, sequence->pid, sequence->tid);
    return pf_tracks_place(&reader->tracks, 0);
}

/* Old files give microseconds in the event: since the one before it in the sequence, or absolute. */
static bool time_of(struct pf_reader *reader, struct pf_sequence *sequence, const struct pf_packet *packet,
                    const struct track_event *event, int64_t *ts_ns)
{
    int64_t time_us = event->time_us;
    if (!event->has_time_us && !event->has_absolute_us)
        return pf_time(reader, sequence, packet, ts_ns);
    if (event->has_time_us && !event->has_absolute_us) {
        if (__builtin_add_overflow(sequence->old_time_us, time_us, &time_us))
            time_us = sequence->old_time_us;
        sequence->old_time_us = time_us;
    }
    if (__builtin_mul_overflow(time_us, INT64_C(1000), ts_ns) ||
        __builtin_sub_overflow(*ts_ns, reader->base_ns, ts_ns))
        *ts_ns = INT64_MAX;
    return pf_in_range(reader, *ts_ns);
}

/* ---- flows ---- */

static void add_flow(struct pf_reader *reader, uint64_t id, bool ends, const struct chunk_event *event,
                     const char *category)
{
    bool is_first = id_table_find(&reader->flows, id) == ID_TABLE_NONE;
    trace_chunk_count_skipped(reader->chunk, 1, 0, 0);
    if (is_first)
        id_table_set(&reader->flows, id, 0);
    if (!reader->options->wants.flows)
        return;
    name_id text = trace_chunk_text(reader->chunk, category, strlen(category));
    trace_chunk_flow(reader->chunk, &(struct trace_flow){
                                        .id = (int64_t)id,
                                        .ts_ns = event->start_ns,
                                        .category = text,
                                        .name = text,
                                        .track = event->track,
                                        .phase = is_first && !ends ? 's' : 'f',
                                        .bind_enclosing = !is_first || ends,
                                    });
}

/* Flows have no category; PyTorch has two kinds: from a call to what it launched, and from forward to backward. */
static void add_flows(struct pf_reader *reader, struct wire body, const struct chunk_event *event,
                      struct wire_text category)
{
    const char *word = wire_text_is(category, "cpu_op") ? "fwdbwd" : "ac2g";
    struct wire_field field;
    while (wire_next(&body, &field) && field.type != WIRE_GROUP) {
        bool ends = field.number == 42 || field.number == 48;
        if (field.number != 36 && field.number != 47 && !ends)
            continue;
        if (field.type != WIRE_BYTES) {
            add_flow(reader, field.value, ends, event, word);
            continue;
        }
        for (size_t i = 0; i + 8 <= field.value; i += 8) {
            uint64_t id;
            memcpy(&id, field.bytes + i, sizeof id);
            add_flow(reader, id, ends, event, word);
        }
    }
}

/* ---- counters ---- */

static void add_sample(struct pf_reader *reader, uint32_t place, int64_t ts_ns, int64_t number,
                       double decimal, bool is_decimal)
{
    struct pf_track *track = &reader->tracks.at.at[place];
    if (track->is_derived)
        return;
    trace_chunk_count_skipped(reader->chunk, 0, 1, 0);
    if (is_decimal && track->is_incremental)
        decimal = track->counted_double += decimal;
    if (!is_decimal && track->is_incremental &&
        __builtin_add_overflow(track->counted, number, &track->counted))
        track->counted = number;
    if (!is_decimal)
        decimal = (double)(track->is_incremental ? track->counted : number);
    decimal *= (double)track->multiplier;
    track_id id = pf_track_of(reader, place); /* wanted or not: names of processes tell who wrote the file */
    if (!reader->options->wants.counters)
        return;
    track = &reader->tracks.at.at[place];
    buffer_clear(&reader->text);
    if (track->name.len)
        buffer_add(&reader->text, track->name.at, track->name.len);
    /* "counter series" is how the model calls it; a name with blanks is all counter. */
    if (!wire_text_begins(track->description, "tpa "))
        buffer_puts(&reader->text, " value");
    trace_chunk_sample(reader->chunk,
                       &(struct trace_sample){
                           .ts_ns = ts_ns,
                           .value = decimal,
                           .counter = trace_chunk_text(reader->chunk, reader->text.at ? reader->text.at : "",
                                                       reader->text.count),
                           .track = id,
                       });
}

/* Counters that an event of another type brings along: values, and the tracks that they belong to in order. */
static void add_extra_counters(struct pf_reader *reader, const struct pf_sequence *sequence, struct wire body,
                               int64_t ts_ns)
{
    SCOPED VEC_OF(uint64_t) uuids = { 0 };
    struct wire_field field;
    struct wire in = body;
    size_t next = 0;
    while (wire_next(&in, &field) && field.type != WIRE_GROUP)
        if (wire_is(&field, 31, WIRE_VARINT))
            *VEC_PUSH(&uuids) = field.value;
    const uint64_t *tracks = uuids.count ? uuids.at : sequence->default_counters.at;
    size_t count = uuids.count ? uuids.count : sequence->default_counters.count;
    while (wire_next(&body, &field) && field.type != WIRE_GROUP) {
        if (wire_is(&field, 12, WIRE_VARINT) && next < count)
            add_sample(reader, pf_tracks_place(&reader->tracks, tracks[next++]), ts_ns, (int64_t)field.value,
                       0, false);
        uint64_t value;
        if (!wire_is(&field, 12, WIRE_BYTES))
            continue;
        struct wire packed = wire_in(&field);
        while (next < count && packed.at < packed.end && wire_varint(&packed, &value))
            add_sample(reader, pf_tracks_place(&reader->tracks, tracks[next++]), ts_ns, (int64_t)value, 0,
                       false);
    }
}

/* ---- adding ---- */

static name_id name_of(struct pf_reader *reader, const struct track_event *event)
{
    static const char none[] = "[no name]";
    struct pf_interned *entry = event->name_entry;
    if (event->name.len == 0)
        return trace_chunk_name(reader->chunk, none, sizeof none - 1);
    if (!entry || entry->text.at != event->name.at)
        return trace_chunk_name(reader->chunk, event->name.at, event->name.len);
    if (entry->serial == reader->serial)
        return entry->id;
    if (entry->serial)
        trace_chunk_name_again(reader->chunk, entry->id);
    else
        entry->id = trace_chunk_name(reader->chunk, event->name.at, event->name.len);
    entry->serial = reader->serial;
    return entry->id;
}

static void add_slice(struct pf_reader *reader, const struct pf_sequence *sequence,
                      const struct pf_packet *packet, const struct track_event *event, uint32_t place,
                      struct chunk_event *slice, struct wire of_end)
{
    if (reader->tracks.at.at[place].is_derived)
        return;
    slice->track = pf_track_of(reader, place);
    const struct pf_track *track = &reader->tracks.at.at[place];
    struct wire_text category = event->category;
    slice->name = name_of(reader, event);
    slice->category =
        category.len == 0 && track->category != UINT16_MAX
            ? track->category
            : trace_chunk_category(reader->chunk, category.len ? category.at : "", category.len);
    if (event->has_annotations && slice->phase == 'X' && pf_says_unfinished(sequence, packet->body))
        slice->flags |= EVENT_UNFINISHED;
    if (track->is_async)
        slice->flags |= EVENT_ASYNC;
    if (event->dangles)
        pf_lacks(reader, LACK_DANGLING_ID, "names or texts refer to something that is not in the file");
    trace_chunk_event(reader->chunk, slice);
    if (of_end.at != of_end.end)
        pf_annotations(reader, sequence, of_end);
    if (event->has_annotations)
        pf_annotations(reader, sequence, packet->body);
    if (event->has_flows)
        add_flows(reader, packet->body, slice, category);
}

/* The slice that begins: how long it is was found before. */
static void add_begin(struct pf_reader *reader, const struct pf_sequence *sequence,
                      const struct pf_packet *packet, const struct track_event *event, uint32_t place,
                      int64_t ts_ns)
{
    /* Who only counts slices did not look for their ends; and a file may have changed meanwhile. */
    static const struct pf_mark none = { .end = UINT32_MAX };
    bool is_marked = reader->next_mark < reader->marks.count;
    const struct pf_mark *mark = is_marked ? &reader->marks.at[reader->next_mark++] : &none;
    struct chunk_event slice = { .phase = 'B', .start_ns = ts_ns, .dur_ns = -1 };
    struct wire of_end = wire_over(NULL, 0);
    if (mark->end != UINT32_MAX) {
        const struct pf_mark *end = &reader->marks.at[mark->end];
        slice.phase = 'X';
        slice.start_ns = mark->ts_ns;
        slice.dur_ns = end->ts_ns - mark->ts_ns;
        of_end = end->body;
        if (slice.dur_ns < 0) {
            pf_notice(reader, lack_word(LACK_NEGATIVE_DURATION),
                      "events of negative duration are taken to last 0 ns");
            slice.dur_ns = 0;
        }
    }
    add_slice(reader, sequence, packet, event, place, &slice, of_end);
}

static void add(struct pf_reader *reader, const struct pf_sequence *sequence, const struct pf_packet *packet,
                const struct track_event *event, uint32_t place, int64_t ts_ns)
{
    struct chunk_event slice = { .phase = 'i', .start_ns = ts_ns };
    if (event->has_extra)
        add_extra_counters(reader, sequence, packet->body, ts_ns);
    switch (event->type) {
    case PF_BEGIN: add_begin(reader, sequence, packet, event, place, ts_ns); break;
    case PF_END: reader->next_mark++; break;
    case PF_COMPLETE:
        slice.phase = 'X';
        if (event->duration_us < 0 ||
            __builtin_mul_overflow(event->duration_us, INT64_C(1000), &slice.dur_ns) ||
            slice.dur_ns > TRACE_LATEST_NS)
            slice.dur_ns = -1;
        add_slice(reader, sequence, packet, event, place, &slice, wire_over(NULL, 0));
        break;
    case PF_INSTANT: add_slice(reader, sequence, packet, event, place, &slice, wire_over(NULL, 0)); break;
    case PF_COUNTER:
        add_sample(reader, place, ts_ns, event->counter, event->decimal, event->is_decimal);
        break;
    case PF_NOTHING:
        pf_notice(reader, "skipped_event", "track events of a type that holds no time span were left out");
    }
}

void pf_event(struct pf_reader *reader, struct pf_sequence *sequence, const struct pf_packet *packet)
{
    struct track_event event;
    int64_t ts_ns;
    if (!read_event(sequence, packet->body, &event)) {
        pf_lacks(reader, LACK_BAD_PACKET, "damaged packets could not be read and were left out");
        return;
    }
    if (!time_of(reader, sequence, packet, &event, &ts_ns))
        return;
    uint32_t place = track_of(reader, sequence, &event);
    if (reader->pass == PF_READ) {
        add(reader, sequence, packet, &event, place, ts_ns);
        return;
    }
    if (event.type != PF_BEGIN && event.type != PF_END)
        return;
    bool is_end = event.type == PF_END;
    bool has_own_name = event.name.len && !(event.name_entry && event.name_entry->text.at == event.name.at);
    if (has_own_name || (is_end && event.has_annotations))
        pf_keep(reader);
    *VEC_PUSH(&reader->marks) = (struct pf_mark){
        .ts_ns = ts_ns,
        .track = place,
        .end = UINT32_MAX,
        .is_end = is_end,
        .name = event.name,
        .body = is_end && event.has_annotations ? packet->body : wire_over(NULL, 0),
    };
}
