/*
 * json_text.h - the values of a JSON text: numbers, times, strings.
 *
 * All functions take the text between START and END (or from START on, when a terminating byte is
 * certain to follow) and allocate nothing.
 */
#ifndef TPA_INGEST_JSON_TEXT_H
#define TPA_INGEST_JSON_TEXT_H

#include "base/buffer.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Is C white space of JSON? */
static inline bool json_is_blank(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* The first byte from AT on that is no white space. */
static inline const char *json_skip_blanks(const char *at)
{
    while (json_is_blank(*at))
        at++;
    return at;
}

/* Can a number or a word (true, NaN) end before C? */
static inline bool json_ends_value(char c)
{
    return c == ',' || c == '}' || c == ']' || c == '\0' || json_is_blank(c);
}

/* The end of the number or word that starts at AT: the first byte that cannot belong to it. */
const char *json_word_end(const char *at);

/*
 * A decimal number of microseconds as integer nanoseconds, exactly, rounded half away from zero if it has more than
 * three decimals. Leading '+', leading zeros and exponents are accepted. False when the bytes START..END are not a
 * number, or its nanoseconds are 2^61 (73 years) or more, before or after 0.
 */
bool json_microseconds(const char *start, const char *end, int64_t *ns);

/*
 * An integer: decimal digits, or a decimal fraction or exponent that is truncated towards zero. Values of 2^63 ..
 * 2^64-1 (addresses) keep their bits. False if it is not a number or is larger.
 */
bool json_integer(const char *start, const char *end, int64_t *value);

/* A double, as read by strtod in the C locale, but without hex, NaN and infinity. False if it is not one. */
bool json_decimal(const char *start, const char *end, double *value);

/*
 * Unescape the string between quotes at START..END; OUT is replaced. Invalid escapes are kept unchanged, lone
 * surrogates become U+FFFD; \u0000 becomes U+FFFD too, so that texts hold no NUL. False if an escape was invalid.
 */
bool json_unescape(const char *start, const char *end, struct buffer *out);

/* Copy the JSON value START..END without the blanks outside of strings; OUT is replaced. */
void json_compact(const char *start, const char *end, struct buffer *out);

#endif
