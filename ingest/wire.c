#include "ingest/wire.h"

bool wire_long_varint(struct wire *in, uint64_t *value)
{
    const uint8_t *at = in->at;
    if (in->end - at >= 8 && wire_quick_varint(&at, value)) { /* the usual case, without a branch per byte */
        in->at = at;
        return true;
    }
    uint64_t sum = 0;
    for (unsigned shift = 0; shift < 70 && at < in->end; shift += 7) {
        uint8_t byte = *at++;
        sum |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            *value = sum;
            in->at = at;
            return true;
        }
    }
    in->damaged = true;
    return false;
}

static bool read_fixed(struct wire *in, size_t size, uint64_t *value)
{
    if ((size_t)(in->end - in->at) < size)
        return false;
    *value = 0;
    for (size_t i = 0; i < size; i++)
        *value |= (uint64_t)in->at[i] << (8 * i);
    in->at += size;
    return true;
}

bool wire_other_value(struct wire *in, struct wire_field *field)
{
    switch (field->type) {
    case WIRE_BYTES:
        if (!wire_varint(in, &field->value) || field->value > (uint64_t)(in->end - in->at))
            return false;
        field->bytes = in->at;
        in->at += field->value;
        return true;
    case WIRE_FIXED64: return read_fixed(in, 8, &field->value);
    case WIRE_FIXED32: return read_fixed(in, 4, &field->value);
    case WIRE_GROUP: field->value = 0; return true;
    default: return false;
    }
}

bool wire_cut(struct wire *in, struct wire_field *field, uint64_t *len)
{
    struct wire here = { in->at, in->end, false };
    uint64_t tag;
    if (!in->damaged || !wire_varint(&here, &tag) || tag >> 3 == 0 || tag >> 32 || (tag & 7) != WIRE_BYTES ||
        !wire_varint(&here, len) || *len <= (uint64_t)(here.end - here.at))
        return false;
    *field = (struct wire_field){ (uint32_t)(tag >> 3), WIRE_BYTES, (uint64_t)(here.end - here.at), here.at };
    in->at = in->end;
    return true;
}

/* A group ends with the number it began with; inside, only the depth matters. */
bool wire_skip_group(struct wire *in, uint32_t number)
{
    const uint8_t *start = in->at;
    for (uint64_t depth = 1; in->at < in->end && !in->damaged;) {
        uint64_t tag;
        struct wire_field field;
        if (!wire_varint(in, &tag) || tag >> 3 == 0 || tag >> 32)
            break;
        field.type = (uint8_t)(tag & 7);
        if (field.type == WIRE_GROUP_END) {
            if (--depth == 0 && tag >> 3 == number)
                return true;
            if (depth == 0)
                break;
        } else if (field.type == WIRE_GROUP) {
            depth++;
        } else if (field.type == WIRE_VARINT ? !wire_varint(in, &field.value)
                                             : !wire_other_value(in, &field)) {
            break;
        }
    }
    in->damaged = true;
    in->at = start;
    return false;
}
