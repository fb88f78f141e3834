/* wire_put.c - see wire_put.h. */
#include "cli/convert/wire_put.h"

#include <string.h>

static size_t encode(uint8_t *bytes, uint64_t value)
{
    size_t len = 0;
    for (; value >= 0x80; value >>= 7)
        bytes[len++] = (uint8_t)(value | 0x80);
    bytes[len++] = (uint8_t)value;
    return len;
}

static void wire_put_varint(struct buffer *out, uint64_t value)
{
    uint8_t bytes[10];
    buffer_add(out, (const char *)bytes, encode(bytes, value));
}

void wire_put_number(struct buffer *out, uint32_t number, int64_t value)
{
    uint8_t bytes[20];
    size_t len = encode(bytes, (uint64_t)number << 3);
    len += encode(bytes + len, (uint64_t)value);
    buffer_add(out, (const char *)bytes, len);
}

void wire_put_fixed64(struct buffer *out, uint32_t number, uint64_t value)
{
    uint8_t bytes[20];
    size_t len = encode(bytes, (uint64_t)number << 3 | 1);
    for (int i = 0; i < 8; i++)
        bytes[len++] = (uint8_t)(value >> (8 * i));
    buffer_add(out, (const char *)bytes, len);
}

void wire_put_double(struct buffer *out, uint32_t number, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    wire_put_fixed64(out, number, bits);
}

void wire_put_text(struct buffer *out, uint32_t number, const char *text, size_t len)
{
    wire_put_varint(out, (uint64_t)number << 3 | 2);
    wire_put_varint(out, len);
    if (len)
        buffer_add(out, text, len);
}

/* A byte is kept for the length, which most messages need no more than; wire_close makes room for longer ones. */
size_t wire_open(struct buffer *out, uint32_t number)
{
    wire_put_varint(out, (uint64_t)number << 3 | 2);
    buffer_putc(out, '\0');
    return out->count;
}

void wire_close(struct buffer *out, size_t start)
{
    uint8_t bytes[10];
    size_t size = out->count - start, len = encode(bytes, size);
    if (len > 1) {
        buffer_pad(out, '\0', len - 1);
        memmove(out->at + start + len - 1, out->at + start, size);
    }
    memcpy(out->at + start - 1, bytes, len);
}
