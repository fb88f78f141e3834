/*
 * buffer.h - text that grows.
 *
 *     struct buffer text = { 0 };
 *     buffer_printf(&text, "%d rows", n);
 *     fwrite(text.at, 1, text.count, out);
 *     buffer_release(&text);
 */
#ifndef TPA_BASE_BUFFER_H
#define TPA_BASE_BUFFER_H

#include "base/error.h"
#include "base/memory.h"

struct buffer {
    VEC_OF(char); /* NUL-terminated once anything was added; NULL before */
};

/* Append LEN bytes; a NUL-terminated text; a character; text formatted as by printf. */
void buffer_add(struct buffer *buffer, const char *bytes, size_t len);
void buffer_puts(struct buffer *buffer, const char *text);
void buffer_putc(struct buffer *buffer, char c);
void buffer_printf(struct buffer *buffer, const char *fmt, ...) TPA_PRINTF(2, 3);

/* Add COUNT times the character C. */
void buffer_pad(struct buffer *buffer, char c, size_t count);

/* Empty it and keep the memory. */
void buffer_clear(struct buffer *buffer);

/* Free the memory; the buffer is empty again. */
void buffer_release(struct buffer *buffer);

#endif
