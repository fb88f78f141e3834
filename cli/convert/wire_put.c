#include "cli/convert/parts.h"

enum { MOST_VARINT = 10, MOST_FIELD = 2 * MOST_VARINT };

/* Write VALUE at AT; behind it. */
static uint8_t *emit_varint(uint8_t *at, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        *at++ = (uint8_t)(value | 0x80);
    *at++ = (uint8_t)value;
    return at;
}

/* Where the next field goes: nearly all that is written is a few bytes, so it is written in its place. */
static uint8_t *begin_field(struct buffer *out)
{
    VEC_RESERVE(out, (size_t)MOST_FIELD + 1);
    return (uint8_t *)out->at + out->count;
}

static void end_field(struct buffer *out, uint8_t *end)
{
    *end = '\0';
    out->count = (size_t)((char *)end - out->at);
}

void wire_append_number(struct buffer *out, uint32_t number, int64_t value)
{
    end_field(out, emit_varint(emit_varint(begin_field(out), (uint64_t)number << 3), (uint64_t)value));
}

void wire_append_fixed64(struct buffer *out, uint32_t number, uint64_t value)
{
    uint8_t *at = emit_varint(begin_field(out), (uint64_t)number << 3 | 1);
    for (int i = 0; i < 8; i++)
        *at++ = (uint8_t)(value >> (8 * i));
    end_field(out, at);
}

void wire_append_double(struct buffer *out, uint32_t number, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    wire_append_fixed64(out, number, bits);
}

void wire_append_text(struct buffer *out, uint32_t number, const char *text, size_t len)
{
    end_field(out, emit_varint(emit_varint(begin_field(out), (uint64_t)number << 3 | 2), len));
    if (len)
        buffer_add(out, text, len);
}

/* A byte is kept for the length, which most messages need no more than; wire_close makes room for longer ones. */
size_t wire_open(struct buffer *out, uint32_t number)
{
    uint8_t *at = emit_varint(begin_field(out), (uint64_t)number << 3 | 2);
    *at++ = 0;
    end_field(out, at);
    return out->count;
}

void wire_close(struct buffer *out, size_t start)
{
    size_t size = out->count - start;
    uint8_t bytes[MOST_VARINT];
    if (size < 0x80) {
        out->at[start - 1] = (char)size;
        return;
    }
    size_t len = (size_t)(emit_varint(bytes, size) - bytes);
    buffer_pad(out, '\0', len - 1);
    memmove(out->at + start + len - 1, out->at + start, size);
    memcpy(out->at + start - 1, bytes, len);
}
