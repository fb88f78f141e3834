/*
 * json_pull.h - a small JSON document, token by token, so that the reading code has the structure of the document.
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
#ifndef TPA_INGEST_JSON_PULL_H
#define TPA_INGEST_JSON_PULL_H

#include "base/buffer.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* Read the next key of the object, and consume its colon; false after the last, with the '}' consumed. */
bool json_next_key(struct json_pull *in, struct json_text *key);

/* Is there another element in the array? False after the last, with the ']' consumed. */
bool json_next_element(struct json_pull *in);

/* Read the next value as text; objects and arrays as a whole. False if there is none. */
bool json_read(struct json_pull *in, struct json_text *value);

/* Skip the next value. False if there is none. */
bool json_skip(struct json_pull *in);

/* The characters of a string, unescaped; any other value unchanged. OUT is replaced; the result, borrowed from it, is
 * never NULL. */
void json_text_decode(const struct json_text *text, struct buffer *out);

/* Is TEXT equal to WORD? */
bool json_text_is(const struct json_text *text, const char *word);

/* The value as an integer (also from a string of digits), or MISSING. */
int64_t json_text_integer(const struct json_text *text, int64_t missing);

#endif
