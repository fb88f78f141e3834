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

bool text_begins_with(const char *text, const char *beginning);

/* Does TEXT, which is longer than ENDING, end in it? */
bool text_ends_with(const char *text, const char *ending);

/* Go beyond WORD, with which *TEXT begins; false, and *TEXT untouched, if it does not. */
bool text_skip(const char **text, const char *word);

/* The order of two texts by their bytes; of two that begin alike the shorter one comes first. */
int text_compare(const char *a, size_t a_len, const char *b, size_t b_len);

#endif
