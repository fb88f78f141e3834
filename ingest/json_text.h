/* json_text.h - JSON: its values, texts and places. */
#ifndef TPA_INGEST_JSON_TEXT_H
#define TPA_INGEST_JSON_TEXT_H

#include "trace/columns.h"

/*
 * json_text.c - the values of a JSON text: numbers, times, strings.
 *
 * All functions take the text between START and END (or from START on, when a terminating byte is
 * certain to follow) and allocate nothing.
 */

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

/* The place of the first of LEN bytes, from AT on, that is no white space; LEN if there is none. */
static inline size_t json_behind_blanks(const char *bytes, size_t len, size_t at)
{
    while (at < len && json_is_blank(bytes[at]))
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

/* A decimal number of microseconds as integer nanoseconds, exactly, rounded half away from zero if it has more than
 * three decimals. Leading '+', leading zeros and exponents are accepted. False when the bytes START..END are not a
 * number, or its nanoseconds are 2^61 (73 years) or more, before or after 0. */
bool json_microseconds(const char *start, const char *end, int64_t *ns);

/* An integer: decimal digits, or a decimal fraction or exponent that is truncated towards zero. Values of 2^63 ..
 * 2^64-1 (addresses) keep their bits. False if it is not a number or is larger. */
bool json_integer(const char *start, const char *end, int64_t *value);

/* A double, as read by strtod in the C locale, but without hex, NaN and infinity. False if it is not one. */
bool json_decimal(const char *start, const char *end, double *value);

/* Unescape the string between quotes at START..END; OUT is replaced. Invalid escapes are kept unchanged, lone
 * surrogates become U+FFFD; \u0000 becomes U+FFFD too, so that texts hold no NUL. False if an escape was
 * invalid. */
bool json_unescape(const char *start, const char *end, struct buffer *out);

/* Copy the JSON value START..END without the blanks outside of strings; OUT is replaced. */
void json_compact(const char *start, const char *end, struct buffer *out);

/*
 * json_pull.c - a small JSON document, token by token, so that the reading code has the structure of the document.
 *
 *     struct json_pull in = { at, end };
 *     struct json_text key, value;
 *     if (json_enter(&in, '{'))
 *         while (json_next_key(&in, &key))
 *             if (json_text_is(&key, "rank")) json_read(&in, &value);   // the value's text
 *             else json_skip(&in);
 *
 * For metadata and the like; events have a faster parser (chrome/event.c). Nothing is allocated, and damage ends the
 * innermost loop: data read before it is kept.
 */

struct json_pull {
    const char *at, *end;
};

struct json_text {
    const char *at; /* a string's without its quotes, escapes as written */
    size_t len;
    bool is_string;
};

/* Step into the object ('{') or array ('[') that comes next. False, and nothing consumed, if it is something else. */
bool json_enter(struct json_pull *in, char bracket);

/* The same; something else is skipped. */
bool json_enter_or_skip(struct json_pull *in, char bracket);

/* Read the next key of the object, and consume its colon; false after the last, with the '}' consumed. */
bool json_next_key(struct json_pull *in, struct json_text *key);

/* Is there another element in the array? False after the last, with the ']' consumed. */
bool json_next_element(struct json_pull *in);

/* Read the next value as text; objects and arrays as a whole. False if there is none. */
bool json_read(struct json_pull *in, struct json_text *value);

/* Skip the next value. False if there is none. */
bool json_skip(struct json_pull *in);

/* Read the next value as an integer (also a string of digits); MISSING if it is none. */
int64_t json_read_integer(struct json_pull *in, int64_t missing);

/* The characters of a string, unescaped; any other value unchanged. OUT is replaced; the result, borrowed from it, is
 * never NULL. */
void json_text_decode(const struct json_text *text, struct buffer *out);

/* Is TEXT equal to WORD? */
bool json_text_is(const struct json_text *text, const char *word);

/* The value as an integer (also from a string of digits), or MISSING. */
int64_t json_text_integer(const struct json_text *text, int64_t missing);

/* json_check.c - is a text JSON, strictly? The readers of traces are more lenient. */

/* Are the LEN bytes at TEXT one value according to RFC 8259, with optional blanks around it? Bytes of strings are only
 * checked for control characters. A value nested deeper than 1024 is rejected. */
bool json_is_value(const char *text, size_t len);

/* json_keep.c - values of a JSON document that live as long as the trace. */

/* The characters of a string, unescaped; any other value unchanged. The trace owns the text. */
char *json_text_keep(struct trace_builder *builder, const struct json_text *text);

/* The same as an id of the trace's texts. */
name_id json_text_name(struct trace_builder *builder, const struct json_text *text);

#endif
