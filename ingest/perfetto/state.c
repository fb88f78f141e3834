/*
 * state.c - the state of a sequence of packets: what is interned, and the defaults of packets.
 *
 * Both hold until the sequence is cleared. Ids are the sequence's own, and each kind of interned data counts for itself.
 */
#include "ingest/perfetto/parts.h"

struct pf_sequence *pf_sequence_of(struct pf_sequences *sequences, uint32_t id)
{
    if (sequences->last < sequences->at.count && sequences->at.at[sequences->last].id == id)
        return &sequences->at.at[sequences->last];
    uint32_t place = id_table_find(&sequences->places, id);
    if (place == ID_TABLE_NONE) {
        place = (uint32_t)sequences->at.count;
        *VEC_PUSH(&sequences->at) = (struct pf_sequence){ .id = id, .pid = -1, .tid = -1 };
        id_table_set(&sequences->places, id, place);
    }
    sequences->last = place;
    return &sequences->at.at[place];
}

void pf_sequence_clear(struct pf_sequence *sequence)
{
    id_table_release(&sequence->places);
    sequence->interned.count = 0;
    sequence->default_clock = 0;
    sequence->has_default_track = false;
    sequence->default_counters.count = 0;
    sequence->is_valid = true;
}

static uint64_t key_of(enum pf_interned_kind kind, uint64_t iid)
{
    return iid ^ (uint64_t)kind << 50;
}

void pf_sequence_intern(struct pf_sequence *sequence, struct wire in)
{
    struct wire_field field, part;
    while (wire_next(&in, &field) && field.type != WIRE_GROUP) {
        if (field.type != WIRE_BYTES)
            continue;
        struct pf_interned entry = { .message = wire_in(&field) };
        struct wire message = entry.message;
        uint64_t iid = 0;
        while (wire_next(&message, &part) && part.type != WIRE_GROUP) {
            if (wire_is(&part, 1, WIRE_VARINT))
                iid = part.value;
            else if (wire_is(&part, 2, WIRE_BYTES))
                entry.text = wire_text_of(&part);
        }
        *VEC_PUSH(&sequence->interned) = entry;
        id_table_set(&sequence->places, key_of((enum pf_interned_kind)field.number, iid),
                     (uint32_t)sequence->interned.count - 1);
    }
}

struct pf_interned *pf_sequence_find(const struct pf_sequence *sequence, enum pf_interned_kind kind,
                                     uint64_t iid)
{
    uint32_t place = id_table_find(&sequence->places, key_of(kind, iid));
    return place == ID_TABLE_NONE ? NULL : &sequence->interned.at[place];
}

/* Of TrackEventDefaults: the track, and the tracks of extra counters. */
static void read_event_defaults(struct pf_sequence *sequence, struct wire in)
{
    struct wire_field field;
    while (wire_next(&in, &field) && field.type != WIRE_GROUP) {
        if (wire_is(&field, 11, WIRE_VARINT)) {
            sequence->default_track = field.value;
            sequence->has_default_track = true;
        } else if (wire_is(&field, 31, WIRE_VARINT)) {
            *VEC_PUSH(&sequence->default_counters) = field.value;
        } else if (wire_is(&field, 31, WIRE_BYTES)) {
            struct wire packed = wire_in(&field);
            uint64_t uuid;
            while (packed.at < packed.end && wire_varint(&packed, &uuid))
                *VEC_PUSH(&sequence->default_counters) = uuid;
        }
    }
}

/* New defaults replace the old ones as a whole. */
void pf_sequence_defaults(struct pf_sequence *sequence, struct wire in)
{
    struct wire_field field;
    sequence->default_clock = 0;
    sequence->has_default_track = false;
    sequence->default_counters.count = 0;
    while (wire_next(&in, &field) && field.type != WIRE_GROUP) {
        if (wire_is(&field, 58, WIRE_VARINT))
            sequence->default_clock = field.value;
        else if (wire_is(&field, 11, WIRE_BYTES))
            read_event_defaults(sequence, wire_in(&field));
    }
}

void pf_sequences_release(struct pf_sequences *sequences)
{
    FOR_EACH(sequence, &sequences->at) {
        id_table_release(&sequence->places);
        EACH(VEC_FREE, &sequence->interned, &sequence->default_counters);
    }
    VEC_FREE(&sequences->at);
    id_table_release(&sequences->places);
    sequences->last = 0;
}
