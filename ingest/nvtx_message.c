#define _GNU_SOURCE /* memmem */
#include "ingest/nvtx_message.h"

static const char *nvtx_message_find(const char *text, size_t len, const char *word)
{
    return memmem(text, len, word, strlen(word));
}

size_t nvtx_message_name(const char *text, size_t len)
{
    static const char *const parts[] = { ", seq = ", ", op_id = ", ", sizes = [" };
    size_t first = len;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const char *found = nvtx_message_find(text, first, parts[i]);
        if (found)
            first = (size_t)(found - text);
    }
    return first;
}

bool nvtx_message_is_operator(const char *text, size_t len)
{
    return nvtx_message_name(text, len) < len || (len > 6 && memcmp(text, "aten::", 6) == 0);
}

bool nvtx_message_sequence(const char *text, size_t len, int64_t *sequence)
{
    static const char word[] = ", seq = ";
    const char *at = nvtx_message_find(text, len, word), *end = text + len;
    if (!at)
        return false;
    int64_t number = 0;
    const char *digits = at + sizeof word - 1;
    for (at = digits; at < end && *at >= '0' && *at <= '9' && at - digits < 18; at++)
        number = 10 * number + (*at - '0');
    *sequence = number;
    return at > digits;
}

bool nvtx_message_dims(const char *text, size_t len, struct buffer *out)
{
    static const char word[] = ", sizes = [";
    const char *at = nvtx_message_find(text, len, word), *end = text + len;
    buffer_clear(out);
    if (!at)
        return false;
    int depth = 0;
    at += sizeof word - 2;
    do {
        depth += (*at == '[') - (*at == ']');
        if (*at != ' ')
            buffer_putc(out, *at);
        at++;
    } while (at < end && depth > 0);
    return depth == 0;
}
