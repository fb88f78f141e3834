/* buffer.c - text that grows; see buffer.h. Room for the final NUL is always kept. */
#include "base/buffer.h"

#include <stdarg.h>

static char *room(struct buffer *buffer, size_t more)
{
    VEC_RESERVE(buffer, more + 1);
    return buffer->at + buffer->count;
}

void buffer_add(struct buffer *buffer, const char *bytes, size_t len)
{
    char *at = room(buffer, len);
    if (len)
        memcpy(at, bytes, len);
    at[len] = '\0';
    buffer->count += len;
}

void buffer_puts(struct buffer *buffer, const char *text)
{
    buffer_add(buffer, text, strlen(text));
}

void buffer_putc(struct buffer *buffer, char c)
{
    buffer_add(buffer, &c, 1);
}

void buffer_pad(struct buffer *buffer, char c, size_t count)
{
    char *at = room(buffer, count);
    memset(at, c, count);
    at[count] = '\0';
    buffer->count += count;
}

/* Into the room that there is; only what does not fit is printed twice. */
void buffer_printf(struct buffer *buffer, const char *fmt, ...)
{
    va_list args;
    VEC_RESERVE(buffer, 64);
    size_t spare = buffer->capacity - buffer->count;
    va_start(args, fmt);
    int len = vsnprintf(buffer->at + buffer->count, spare, fmt, args);
    va_end(args);
    if (len >= 0 && (size_t)len >= spare) {
        char *at = room(buffer, (size_t)len);
        va_start(args, fmt);
        len = vsnprintf(at, (size_t)len + 1, fmt, args);
        va_end(args);
    }
    if (len >= 0)
        buffer->count += (size_t)len;
    buffer->at[buffer->count] = '\0';
}

void buffer_clear(struct buffer *buffer)
{
    buffer->count = 0;
    if (buffer->at)
        buffer->at[0] = '\0';
}

void buffer_release(struct buffer *buffer)
{
    VEC_FREE(buffer);
}

bool text_begins_with(const char *text, const char *beginning)
{
    return strncmp(text, beginning, strlen(beginning)) == 0;
}

bool text_ends_with(const char *text, const char *ending)
{
    size_t len = strlen(text), end = strlen(ending);
    return len > end && strcmp(text + len - end, ending) == 0;
}

bool text_skip(const char **text, const char *word)
{
    bool begins = text_begins_with(*text, word);
    *text += begins ? strlen(word) : 0;
    return begins;
}

int text_compare(const char *a, size_t a_len, const char *b, size_t b_len)
{
    size_t shorter = a_len < b_len ? a_len : b_len;
    int order = shorter ? memcmp(a, b, shorter) : 0;
    return order ? order : (a_len > b_len) - (a_len < b_len);
}
