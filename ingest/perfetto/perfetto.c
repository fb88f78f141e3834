/*
 * perfetto.c - the reader of Perfetto's protobuf traces: .pftrace, .perfetto-trace.
 *
 * A file is a run of TracePackets, each `0A length packet`; no header, no trailer, and two files one after the other are one
 * trace. Fields of TracePacket that are looked at (protos/perfetto/trace/trace_packet.proto):
 *
 *     8 timestamp, 58 timestamp_clock_id, 10 trusted_packet_sequence_id, 13 sequence_flags (1 clears, 2 needs state),
 *     41 incremental_state_cleared, 42 previous_packet_dropped, 12 interned_data, 59 trace_packet_defaults,
 *     11 track_event, 60 track_descriptor, 43, 44 process and thread descriptors (old), 2 process_tree, 6 clock_snapshot,
 *     52 gpu_counter_event, 53 gpu_render_stage_event, 50 compressed_packets (zlib), 133 the same by zstd
 *
 * All others (scheduling, heap profiles, ...) are counted. A packet that is damaged costs that packet: its length is outside.
 *
 * Descriptors and clock snapshots hold for the whole file, also for what stands before them, and nothing says how long a
 * slice is until it ends. So the packets are walked three times: for these; for begins and ends; and for the events. A file is
 * read in each walk; only packets with text that is needed later stay in memory.
 */
#include "ingest/perfetto/parts.h"

/* Events in a chunk before it is handed over. */
enum { EVENTS_PER_CHUNK = 1 << 15 };

/* Packed packets may become this many bytes, and so many times their size beyond that. */
enum { INFLATED_FREE = 64 << 20, MOST_RATIO = 500 };

void pf_notice(struct pf_reader *reader, const char *kind, const char *text)
{
    if (reader->pass == PF_READ)
        trace_chunk_notice(reader->chunk, kind, text, reader->packet_offset);
}

void pf_lacks(struct pf_reader *reader, enum lack lack, const char *text)
{
    pf_notice(reader, lack_word(lack), text);
}

/* ---- time ---- */

bool pf_in_range(struct pf_reader *reader, int64_t ns)
{
    if (ns >= -TRACE_LATEST_NS && ns <= TRACE_LATEST_NS)
        return true;
    pf_lacks(reader, LACK_BAD_TIME, "events lie more than 73 years from the origin and were left out");
    return false;
}

/* The clock of SEQUENCE that counts on from packet to packet; NULL: CLOCK is none. */
static int64_t *own_clock(struct pf_sequence *sequence, uint64_t clock, int64_t *multiplier)
{
    for (size_t i = 0; i < sequence->own_clock_count; i++) {
        if (sequence->own_clocks[i].clock != clock)
            continue;
        *multiplier = sequence->own_clocks[i].multiplier;
        return &sequence->own_clocks[i].value;
    }
    return NULL;
}

bool pf_time(struct pf_reader *reader, struct pf_sequence *sequence, const struct pf_packet *packet,
             int64_t *ts_ns)
{
    uint64_t clock = packet->has_clock ? packet->clock : sequence->default_clock;
    int64_t at = (int64_t)packet->timestamp, multiplier = 1;
    if (!packet->has_timestamp) {
        pf_notice(reader, "no_time", "events have no time and were left out");
        return false;
    }
    int64_t *value = clock ? own_clock(sequence, clock, &multiplier) : NULL;
    if (value) {
        if (__builtin_add_overflow(*value, at, &at) || __builtin_mul_overflow(at, multiplier, ts_ns))
            return pf_in_range(reader, INT64_MAX);
        *value = at;
        at = *ts_ns;
    }
    *ts_ns = at;
    if (clock && !pf_clocks_convert(&reader->clocks, pf_clock_key(clock, sequence->id), at, ts_ns)) {
        pf_notice(reader, "unknown_clock",
                  "events have times of a clock that the file ties to no other, and were left out");
        return false;
    }
    if (__builtin_sub_overflow(*ts_ns, reader->base_ns, ts_ns))
        *ts_ns = INT64_MAX;
    return pf_in_range(reader, *ts_ns);
}

/* Incremental clocks start anew at a snapshot in their sequence. */
static void restart_clocks(struct pf_sequence *sequence, struct wire in)
{
    struct wire_field field, part;
    while (wire_next(&in, &field) && field.type != WIRE_GROUP) {
        if (!wire_is(&field, 1, WIRE_BYTES))
            continue;
        struct wire clock = wire_in(&field);
        uint64_t id = 0, multiplier = 1;
        int64_t value = 0, unused;
        bool is_incremental = false;
        while (wire_next(&clock, &part) && part.type != WIRE_GROUP) {
            if (part.type != WIRE_VARINT)
                continue;
            id = part.number == 1 ? part.value : id;
            value = part.number == 2 ? (int64_t)part.value : value;
            is_incremental |= part.number == 3 && part.value;
            multiplier = part.number == 4 && part.value ? part.value : multiplier;
        }
        if (!is_incremental)
            continue;
        size_t most = sizeof sequence->own_clocks / sizeof *sequence->own_clocks;
        int64_t *known = own_clock(sequence, id, &unused);
        size_t place = sequence->own_clock_count;
        for (size_t i = 0; known && i < sequence->own_clock_count; i++)
            if (sequence->own_clocks[i].clock == id)
                place = i;
        if (place == most)
            continue;
        sequence->own_clock_count += place == sequence->own_clock_count;
        sequence->own_clocks[place].clock = id;
        sequence->own_clocks[place].value = value;
        sequence->own_clocks[place].multiplier = (int64_t)multiplier;
    }
}

/* ---- packets ---- */

/* Is the field of a packet one of its payloads, or something about it? */
static bool is_payload(uint32_t number)
{
    static const uint8_t others[] = { 3, 4, 8, 10, 12, 13, 41, 42, 58, 59, 79, 87, 98 };
    return !ANY(i, sizeof others, number == others[i]);
}

static bool read_packet(struct wire in, struct pf_packet *packet)
{
    struct wire_field field;
    *packet = (struct pf_packet){ .at = in.at };
    while (wire_next(&in, &field)) {
        switch (field.number << 3 | field.type) {
        case 8 << 3 | WIRE_VARINT:
            packet->timestamp = field.value;
            packet->has_timestamp = true;
            break;
        case 58 << 3 | WIRE_VARINT:
            packet->clock = field.value;
            packet->has_clock = true;
            break;
        case 10 << 3 | WIRE_VARINT: packet->sequence = (uint32_t)field.value; break;
        case 13 << 3 | WIRE_VARINT: packet->flags = (uint32_t)field.value; break;
        case 41 << 3 | WIRE_VARINT: packet->clears = field.value != 0; break;
        case 42 << 3 | WIRE_VARINT: packet->lost = field.value != 0; break;
        case 12 << 3 | WIRE_BYTES:
            packet->interned = wire_in(&field);
            packet->has_interned = true;
            break;
        case 59 << 3 | WIRE_BYTES:
            packet->defaults = wire_in(&field);
            packet->has_defaults = true;
            break;
        default:
            if (field.type == WIRE_GROUP)
                return false;
            if (field.type == WIRE_BYTES && is_payload(field.number)) {
                packet->payload = field.number;
                packet->body = wire_in(&field);
            }
        }
    }
    return !in.damaged;
}

/* torch's mark: BOOTTIME and REALTIME show the same, which is the time of the packet, too: the base of all its times. */
static void look_for_torch(struct pf_reader *reader, const struct pf_packet *packet)
{
    struct wire in = packet->body;
    struct wire_field field, part;
    uint64_t boot = 0, real = 0;
    while (wire_next(&in, &field) && field.type != WIRE_GROUP) {
        if (!wire_is(&field, 1, WIRE_BYTES))
            continue;
        struct wire clock = wire_in(&field);
        uint64_t id = 0, at = 0;
        while (wire_next(&clock, &part) && part.type != WIRE_GROUP) {
            id = wire_is(&part, 1, WIRE_VARINT) ? part.value : id;
            at = wire_is(&part, 2, WIRE_VARINT) ? part.value : at;
        }
        boot = id == PF_BOOTTIME ? at : boot;
        real = id == PF_REALTIME ? at : real;
    }
    if (boot == 0 || boot != real || packet->timestamp != boot || boot > (uint64_t)TRACE_LATEST_NS)
        return;
    reader->is_torch = true;
    reader->base_ns = (int64_t)boot;
}

static void describe(struct pf_reader *reader, const struct pf_packet *packet)
{
    switch (packet->payload) {
    case 2: pf_tracks_add_process_tree(&reader->tracks, packet->body); break;
    case 6:
        pf_clocks_add(&reader->clocks, packet->body, packet->sequence);
        if (!reader->is_torch)
            look_for_torch(reader, packet);
        break;
    case 43: pf_tracks_add_process(&reader->tracks, packet->body); break;
    case 60: pf_tracks_add(&reader->tracks, packet->body); break;
    default: break;
    }
}

/* The ThreadDescriptor of an old file: whose the sequence is, and when it begins. */
static void perfetto_read_thread(struct pf_reader *reader, struct pf_sequence *sequence, struct wire in)
{
    struct wire_field field;
    struct wire_text name = { NULL, 0 };
    sequence->pid = sequence->tid = 0;
    while (wire_next(&in, &field) && field.type != WIRE_GROUP) {
        if (wire_is(&field, 1, WIRE_VARINT))
            sequence->pid = (int32_t)field.value;
        else if (wire_is(&field, 2, WIRE_VARINT))
            sequence->tid = (int64_t)field.value;
        else if (wire_is(&field, 5, WIRE_BYTES))
            name = wire_text_of(&field);
        else if (wire_is(&field, 6, WIRE_VARINT))
            sequence->old_time_us = (int64_t)field.value;
    }
    uint32_t place = pf_tracks_thread(&reader->tracks, sequence->pid, sequence->tid);
    if (name.len)
        reader->tracks.at.at[place].thread_name = name;
}

static void skip_payload(struct pf_reader *reader, const struct pf_packet *packet)
{
    if (packet->payload)
        pf_notice(
            reader, "skipped_packets",
            "packets of other kinds (scheduling, heap profiles, the tracing service's own) were skipped");
}

/* The payload of a packet, whose sequence is in the right state. */
static void read_payload(struct pf_reader *reader, struct pf_sequence *sequence,
                         const struct pf_packet *packet)
{
    int64_t ts_ns;
    switch (packet->payload) {
    case 11: pf_event(reader, sequence, packet); break;
    case 44: perfetto_read_thread(reader, sequence, packet->body); break;
    case 52:
        if (reader->pass == PF_READ && pf_time(reader, sequence, packet, &ts_ns))
            pf_gpu_counters(reader, sequence, packet->body, ts_ns);
        break;
    case 53:
        if (reader->pass == PF_READ && pf_time(reader, sequence, packet, &ts_ns))
            pf_render_stage(reader, sequence, packet->body, ts_ns);
        break;
    case 2:
    case 6:
    case 43:
    case 60: break;
    default: skip_payload(reader, packet);
    }
}

/* Names that tpa interned stand in the order that they had: number them so, and what is listed by it is the same again. */
static void number_names(struct pf_reader *reader, struct wire in)
{
    struct wire_field field, part;
    while (wire_next(&in, &field) && field.type != WIRE_GROUP) {
        struct wire entry =
            field.type == WIRE_BYTES && field.number == PF_NAME ? wire_in(&field) : wire_over("", 0);
        while (wire_next(&entry, &part) && part.type != WIRE_GROUP)
            if (wire_is(&part, 2, WIRE_BYTES))
                trace_chunk_name(reader->chunk, (const char *)part.bytes, (size_t)part.value);
    }
}

/* The order inside of a packet: clear or loss, defaults, interned data, the check for state, the payload. */
static void use_packet(struct pf_reader *reader, const struct pf_packet *packet)
{
    struct pf_sequence *sequence = pf_sequence_of(&reader->sequences, packet->sequence);
    bool needs_state = packet->flags & 2;
    if (packet->clears || packet->flags & 1)
        pf_sequence_clear(sequence);
    else if (packet->lost)
        sequence->is_valid = false;
    bool is_lost = needs_state && (!sequence->is_valid || packet->sequence == 0);
    if (is_lost) {
        pf_lacks(reader, LACK_LOST_STATE,
                 "packets need earlier ones, which were lost when the recorder's buffer was full; they were "
                 "left out");
        return;
    }
    if (packet->has_defaults)
        pf_sequence_defaults(sequence, packet->defaults);
    if (packet->has_interned) {
        pf_sequence_intern(sequence, packet->interned);
        if (reader->is_tpa && reader->pass == PF_READ)
            number_names(reader, packet->interned);
    }
    if (packet->payload == 6)
        restart_clocks(sequence, packet->body);
    read_payload(reader, sequence, packet);
}

static bool hand_over(struct pf_reader *reader)
{
    reader->serial++;
    return trace_builder_append(reader->builder, reader->chunk, reader->err);
}

/* ---- compressed packets ---- */

/* Adler-32, with which zlib's format ends. */
static uint32_t checksum(const uint8_t *at, size_t len)
{
    uint32_t a = 1, b = 0;
    while (len > 0) {
        size_t some = len < 5552 ? len : 5552;
        for (size_t i = 0; i < some; i++)
            b += a += at[i];
        a %= 65521;
        b %= 65521;
        at += some;
        len -= some;
    }
    return b << 16 | a;
}

/* Unpack what SOURCE holds into INFLATED, as long as the limit on inflation holds. */
static void unpack(struct pf_reader *reader, struct source *source, size_t packed,
                   struct pf_inflated *inflated)
{
    struct buffer out = { 0 };
    char bytes[1 << 14];
    int64_t count;
    while ((count = source_read(source, bytes, sizeof bytes, NULL)) > 0) {
        buffer_add(&out, bytes, (size_t)count);
        reader->inflated_bytes += (uint64_t)count;
        if (reader->inflated_bytes > INFLATED_FREE &&
            reader->inflated_bytes / MOST_RATIO > reader->whole.size + packed) {
            out.count = 0;
            break;
        }
    }
    inflated->at = (uint8_t *)out.at;
    inflated->len = out.count;
    if (out.count == 0) {
        buffer_release(&out);
        inflated->at = NULL;
    }
}

/* zlib's format is the same as gzip's between other headers; source.h reads gzip. */
static bool inflate_zlib(struct pf_reader *reader, struct wire in, struct pf_inflated *inflated)
{
    static const uint8_t header[10] = { 0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff };
    size_t len = (size_t)(in.end - in.at);
    if (len < 6 || (in.at[0] & 0x0f) != 8 || (in.at[0] << 8 | in.at[1]) % 31 != 0 || in.at[1] & 0x20)
        return false;
    SCOPED struct buffer text = { 0 };
    buffer_add(&text, (const char *)header, sizeof header);
    buffer_add(&text, (const char *)in.at + 2, len - 6);
    buffer_add(&text, "\0\0\0\0\0\0\0\0", 8);
    SCOPED_BY(source_free_at)
    struct source *source = source_open_memory(text.at, text.count, "compressed packets", NULL);
    if (source)
        unpack(reader, source, len, inflated);
    const uint8_t *sum = in.end - 4;
    uint32_t expected = (uint32_t)sum[0] << 24 | (uint32_t)sum[1] << 16 | (uint32_t)sum[2] << 8 | sum[3];
    return inflated->at && checksum(inflated->at, inflated->len) == expected;
}

static bool inflate_zstd(struct pf_reader *reader, struct wire in, struct pf_inflated *inflated)
{
    SCOPED_BY(source_free_at)
    struct source *source = source_open_memory(in.at, (size_t)(in.end - in.at), "compressed packets", NULL);
    if (source && source_packing(source) == SOURCE_ZSTD)
        unpack(reader, source, (size_t)(in.end - in.at), inflated);
    return inflated->at && !source_damage(source);
}

/* The packets in the compressed packet; they are unpacked in the first pass and kept. */
static struct wire unpacked(struct pf_reader *reader, const struct pf_packet *packet)
{
    if (reader->pass == PF_DESCRIBE) {
        struct pf_inflated inflated = { NULL, 0 };
        bool fine = packet->payload == 50 ? inflate_zlib(reader, packet->body, &inflated)
                                          : inflate_zstd(reader, packet->body, &inflated);
        if (!fine)
            trace_chunk_lacks(
                reader->chunk, LACK_BAD_COMPRESSED,
                "compressed packets are damaged or unpack to more than is allowed; what could be unpacked was read",
                reader->packet_offset);
        *VEC_PUSH(&reader->inflated) = inflated;
    }
    if (reader->next_inflated == reader->inflated.count) /* the file is another one by now */
        return wire_over("", 0);
    struct pf_inflated *inflated = &reader->inflated.at[reader->next_inflated++];
    return wire_over(inflated->at ? inflated->at : (const uint8_t *)"", inflated->len);
}

/* ---- the file ---- */

static bool is_compressed(const struct pf_packet *packet)
{
    return packet->payload == 50 || packet->payload == 133;
}

static void take_packet(struct pf_reader *reader, const struct pf_packet *packet)
{
    if (reader->pass == PF_DESCRIBE)
        describe(reader, packet);
    else
        use_packet(reader, packet);
}

void pf_keep(struct pf_reader *reader)
{
    if (reader->in_file.at != reader->in_file.end)
        whole_keep(&reader->whole, reader->in_file.at, (size_t)(reader->in_file.end - reader->in_file.at));
}

/* Is text of PACKET used after it: of descriptors, and what is interned? What events need, they keep themselves. */
static bool is_needed_later(const struct pf_packet *packet)
{
    return packet->has_interned || packet->payload == 2 || packet->payload == 43 || packet->payload == 44 ||
           packet->payload == 60;
}

/* The next field of a message Trace, which is in the file, where it is made valid, or IS_INNER. */
static bool next_packet(struct pf_reader *reader, struct wire *in, struct wire_field *field, bool is_inner)
{
    if (is_inner)
        return wire_next(in, field);
    if (!whole_next(&reader->whole, in, field))
        return false;
    if (field->type == WIRE_BYTES) {
        whole_need(&reader->whole, field->bytes, (size_t)field->value);
        reader->packet_offset = field->bytes - reader->whole.at;
        reader->in_file = wire_in(field);
    }
    return true;
}

/* Walk the packets of one message Trace; those in compressed packets, which are not nested, too. */
static bool walk(struct pf_reader *reader, struct wire in, bool is_inner)
{
    struct wire_field field;
    bool ok = true;
    while (ok && next_packet(reader, &in, &field, is_inner)) {
        struct pf_packet packet;
        if (field.type == WIRE_GROUP)
            break;
        if (!wire_is(&field, 1, WIRE_BYTES) || field.value == 0)
            continue;
        if (!read_packet(wire_in(&field), &packet)) {
            pf_lacks(reader, LACK_BAD_PACKET, "damaged packets could not be read and were left out");
        } else if (!is_compressed(&packet)) {
            if (is_needed_later(&packet))
                pf_keep(reader);
            take_packet(reader, &packet);
        } else if (!is_inner) {
            struct wire packets = unpacked(reader, &packet);
            reader->in_file = wire_over("", 0);
            ok = walk(reader, packets, true);
        }
        if (trace_chunk_count_events(reader->chunk) >= EVENTS_PER_CHUNK)
            ok = ok && hand_over(reader);
    }
    if ((in.damaged || in.at < in.end) && ok && !is_inner) {
        reader->packet_offset = in.at - reader->whole.at;
        pf_lacks(reader, LACK_CUT_SHORT, "the file is cut or damaged here; what comes after was not read");
    }
    return ok;
}

static bool pass(struct pf_reader *reader, enum pf_pass pass)
{
    reader->pass = pass;
    reader->next_inflated = 0;
    pf_sequences_release(&reader->sequences);
    reader->sequences = (struct pf_sequences){ 0 };
    return walk(reader, wire_over(reader->whole.at, reader->whole.size), false);
}

/* The origin in the file: the time since 1970 at 0. */
static void settle_base(struct pf_reader *reader)
{
    struct trace_file *file = trace_builder_current_file(reader->builder);
    pf_clocks_settle(&reader->clocks);
    if (reader->is_torch) {
        file->has_base = true;
        file->base_ns = reader->base_ns;
        file->producer = PRODUCER_KINETO;
    } else if (reader->clocks.has_real && reader->clocks.primary == PF_BOOTTIME &&
               reader->clocks.real_minus_boot_ns >= -TRACE_LATEST_WALL_NS &&
               reader->clocks.real_minus_boot_ns <= TRACE_LATEST_WALL_NS) {
        file->has_base = true;
        file->base_ns = reader->clocks.real_minus_boot_ns;
    }
}

static void open_categories(struct pf_reader *reader)
{
    struct trace_chunk *chunk = reader->chunk;
    reader->no_category = trace_chunk_category(chunk, "", 0);
    reader->kernel = trace_chunk_category(chunk, "kernel", 6);
    reader->copy = trace_chunk_category(chunk, "gpu_memcpy", 10);
    reader->memset = trace_chunk_category(chunk, "gpu_memset", 10);
    reader->annotation = trace_chunk_category(chunk, "gpu_user_annotation", 19);
    reader->gpu_other = trace_chunk_category(chunk, "gpu_other", 9);
}

static void release(struct pf_reader *reader)
{
    pf_clocks_release(&reader->clocks);
    pf_tracks_release(&reader->tracks);
    pf_sequences_release(&reader->sequences);
    for (size_t i = 0; i < reader->inflated.count; i++)
        free(reader->inflated.at[i].at);
    EACH(VEC_FREE, &reader->inflated, &reader->marks);
    id_table_release(&reader->flows);
    EACH(buffer_release, &reader->text, &reader->json);
    names_free(reader->gpu_names);
    trace_chunk_free(reader->chunk);
    whole_free(&reader->whole);
}

/* What tpa wrote holds the head of the same trace as JSON, in the description of the root. */
static bool read_head(struct pf_reader *reader)
{
    static const char begin[] = "tpa head ";
    uint32_t place = id_table_find(&reader->tracks.places, 0);
    struct wire_text text =
        place == ID_TABLE_NONE ? (struct wire_text){ NULL, 0 } : reader->tracks.at.at[place].description;
    if (!text.len || !wire_text_begins(text, begin))
        return true;
    size_t len = sizeof begin - 1;
    reader->is_tpa = true;
    struct ingest_options options = { .wants = reader->options->wants, .workers = 1 };
    struct source *source = source_open_memory(text.at + len, text.len - len, "head", reader->err);
    bool ok = source && chrome_read_windows(source, reader->builder, &options, NULL, reader->err);
    source_free(source);
    trace_builder_current_file(reader->builder)->size = (int64_t)reader->whole.size;
    return ok;
}

static bool read_all(struct pf_reader *reader)
{
    if (!pass(reader, PF_DESCRIBE) || !read_head(reader))
        return false;
    settle_base(reader);
    if (!reader->options->wants.only_count && !pass(reader, PF_PAIR))
        return false;
    uint64_t lone_ends = pf_pair(&reader->marks, reader->tracks.at.count, reader->is_torch);
    if (reader->is_torch)
        pf_nest(&reader->marks, &reader->tracks);
    open_categories(reader);
    if (!pass(reader, PF_READ) || !hand_over(reader))
        return false;
    if (lone_ends)
        trace_builder_notice(reader->builder, "end_without_begin",
                             "end events have no begin event that they could end and were left out",
                             lone_ends, TPA_NOWHERE);
    if (reader->is_tpa)
        chrome_split_files(reader->builder);
    return true;
}

static bool read_perfetto(struct source *source, struct trace_builder *builder,
                          const struct ingest_options *options, struct tpa_error *err)
{
    struct pf_reader reader = {
        .builder = builder,
        .chunk = trace_chunk_open(builder),
        .options = options,
        .err = err,
        .serial = 1,
        .gpu_names = names_open(),
    };
    chrome_arg_table_init(&reader.args, &options->wants);
    bool ok = whole_open(&reader.whole, source, options, err);
    whole_notice(&reader.whole, source, builder);
    ok = ok && read_all(&reader) && whole_close(&reader.whole, builder, err);
    release(&reader);
    return ok;
}

/* ---- sniffing ---- */

/* Type of the field NUMBER of a TracePacket: WIRE_GROUP when there is none that is often seen. */
static enum wire_type type_of(uint32_t number)
{
    static const uint8_t numbers[] = { 8, 10, 13, 41, 42, 58, 3, 4, 79, 87, 98 };
    if (number > 1200 || number == 0)
        return WIRE_GROUP;
    if (ANY(i, sizeof numbers, number == numbers[i]))
        return number == 3 || number == 4 ? WIRE_GROUP : WIRE_VARINT;
    return WIRE_BYTES;
}

/* How many fields of the packet IN, of which maybe only the beginning is seen, are like a TracePacket's; -1: one is not. */
static int count_fields(struct wire in)
{
    struct wire_field field;
    int count = 0;
    while (wire_next(&in, &field)) {
        enum wire_type type = type_of(field.number);
        if (type != field.type && !(type == WIRE_GROUP && field.type <= WIRE_FIXED32))
            return -1;
        count += field.number >= 6 && type == field.type;
        count += field.number <= 2 && type == field.type && field.value > 1;
    }
    uint64_t tag;
    struct wire rest =
        wire_over(in.at, (size_t)(in.end - in.at)); /* a long field, of which the end is not seen */
    if (in.damaged && wire_varint(&rest, &tag) && tag >> 3 >= 6 && tag >> 3 <= 1200 &&
        type_of((uint32_t)(tag >> 3)) == (tag & 7))
        count++;
    return count;
}

static int sniff_perfetto(const char *bytes, size_t len)
{
    struct wire in = wire_over(bytes, len);
    int fields = 0;
    while (in.at < in.end && *in.at == 0x0a) {
        uint64_t tag, size;
        if (!wire_varint(&in, &tag) || !wire_varint(&in, &size))
            break;
        size_t there = (size_t)(in.end - in.at), seen = size < there ? (size_t)size : there;
        int count = count_fields(wire_over(in.at, seen));
        if (count < 0)
            break;
        fields += count;
        in.at += seen;
    }
    return fields > 2 ? 80 : fields > 0 ? 60 : len >= 2 && bytes[0] == 0x0a && bytes[1] == 0 ? 30 : 0;
}

const struct format format_perfetto = {
    .name = "Perfetto",
    .description = "PyTorch's CUPTI backend, rocprofv3, Perfetto's SDK, Chrome: Perfetto's .pftrace",
    .sniff = sniff_perfetto,
    .read = read_perfetto,
};
