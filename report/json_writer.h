/*
 * json_writer.h - JSON text, begun, appended to and ended; commas come by themselves.
 *
 *     struct json_writer json = { .text = &text };
 *     json_begin_object(&json);
 *     json_key(&json, "name");  json_emit_string(&json, "aten::mm", 8);
 *     json_key(&json, "shape");
 *     json_begin_array(&json);
 *     json_emit_integer(&json, 64);
 *     json_end_array(&json);
 *     json_end_object(&json);                     {"name": "aten::mm", "shape": [64]}
 *
 * A value follows each key, and what is begun is ended, in order: asserted. Nothing can fail.
 */
#ifndef TPA_REPORT_JSON_WRITER_H
#define TPA_REPORT_JSON_WRITER_H

#include "base/buffer.h"

enum { JSON_WRITER_MAX_DEPTH = 16 };

struct json_writer {
    struct buffer *text; /* borrowed; the caller may empty it at any time */
    unsigned depth;
    bool compact; /* no blanks and no ends of lines */
    bool after_key, line_due;
    char closing[JSON_WRITER_MAX_DEPTH]; /* '}' or ']' of each level that is open */
    bool has_items[JSON_WRITER_MAX_DEPTH];
};

/* Begin and end an object or an array: these four functions. */
void json_begin_object(struct json_writer *json);
void json_end_object(struct json_writer *json);
void json_begin_array(struct json_writer *json);
void json_end_array(struct json_writer *json);

/* The key of the next value of an object, NUL-terminated. */
void json_key(struct json_writer *json, const char *key);

/* As json_key, of a key that json_quote_key made: for keys that come back in every row. */
void json_quoted_key(struct json_writer *json, const char *quoted, size_t len);
void json_quote_key(struct buffer *out, const char *key, size_t len);

/* LEN bytes at S; what is not UTF-8 becomes U+FFFD. */
void json_emit_string(struct json_writer *json, const char *s, size_t len);
void json_emit_text(struct json_writer *json, const char *s); /* NUL-terminated; NULL is null */
void json_emit_integer(struct json_writer *json, int64_t value);
void json_emit_double(struct json_writer *json,
                      double value); /* null where JSON has no number: NaN, infinity */
void json_emit_bool(struct json_writer *json, bool value);
void json_emit_null(struct json_writer *json);

/* The next item, or the end, goes on a line of its own. */
void json_newline(struct json_writer *json);

/* A key and its value. */
void json_add_text(struct json_writer *json, const char *key, const char *value);
void json_add_integer(struct json_writer *json, const char *key, int64_t value);
void json_add_bool(struct json_writer *json, const char *key, bool value);

#endif
