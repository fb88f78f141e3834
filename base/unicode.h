/*
 * unicode.h - what is in a text: characters one by one, which of them can be seen, and how wide they are.
 */
#ifndef TPA_BASE_UNICODE_H
#define TPA_BASE_UNICODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UTF8_INVALID UINT32_MAX

/*
 * The character that the LEN > 0 bytes at S begin with, and how many bytes it takes. Strict UTF-8: no overlong forms,
 * no surrogates, nothing above U+10FFFF. Where it is not, the character is UTF8_INVALID and the bytes are those that
 * one replacement character stands for (at least one, and only what could have begun a character).
 */
size_t utf8_decode(const char *s, size_t len, uint32_t *character);

/*
 * Is it a control, or one of the characters that cannot be seen but change what is: bidirectional overrides,
 * zero-width spaces and joiners, variation selectors, line separators, tags? Combining accents are not.
 */
bool unicode_is_hidden(uint32_t character);

/*
 * Columns it takes in a terminal, by libc's table for UTF-8 (which needs no locale of the program's): 0 for a combining
 * mark, 2 for most of East Asia and emoji, -1 when libc does not know it as printable.
 */
int unicode_width(uint32_t character);

/* Columns the LEN bytes at S take, which must all be visible (use escape_terminal first). */
size_t unicode_text_width(const char *s, size_t len);

#endif
