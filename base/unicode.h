/* unicode.h - characters of a text: decoding, visibility and width. */
#ifndef TPA_BASE_UNICODE_H
#define TPA_BASE_UNICODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UTF8_INVALID UINT32_MAX

/* Decode the first character of the LEN > 0 bytes at S, and its length in bytes. Strict UTF-8: no overlong forms, no
 * surrogates, nothing above U+10FFFF. For invalid UTF-8, the character is UTF8_INVALID and the bytes are those that one
 * replacement character replaces (at least one, and only what could have begun a character). */
size_t utf8_decode(const char *s, size_t len, uint32_t *character);

/* Is it a control, or an invisible character that changes its surroundings: bidirectional override, zero-width space or
 * joiner, variation selector, line separator, tag? Combining accents are not. */
bool unicode_is_hidden(uint32_t character);

/* Columns it takes in a terminal, by libc's table for UTF-8 (independent of the program's locale): 0 for a combining
 * mark, 2 for most of East Asia and emoji, -1 if libc does not consider it printable. */
int unicode_width(uint32_t character);

/* Columns the LEN bytes at S take, which must all be visible (use escape_terminal first). */
size_t unicode_text_width(const char *s, size_t len);

/* Characters in the LEN bytes of valid UTF-8 at S. */
size_t utf8_count(const char *s, size_t len);

#endif
