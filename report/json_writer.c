#include "report/json_writer.h"

#include "base/escape.h"
#include "report/exact.h"
#include <assert.h>
#include <math.h>

static void json_writer_break_line(struct json_writer *json)
{
    if (json->line_due && !json->compact)
        buffer_putc(json->text, '\n');
    json->line_due = false;
}

/* What stands between items: a comma, and a blank or the end of the line. */
static void separate(struct json_writer *json)
{
    if (!json->depth)
        return;
    bool *has_items = &json->has_items[json->depth - 1];
    if (*has_items)
        buffer_add(json->text, ", ", json->line_due || json->compact ? 1 : 2);
    json_writer_break_line(json);
    *has_items = true;
}

static void before_value(struct json_writer *json)
{
    if (json->after_key) {
        json->after_key = false;
        return;
    }
    assert(!json->depth || json->closing[json->depth - 1] == ']');
    separate(json);
}

static void json_writer_begin(struct json_writer *json, char opening, char closing)
{
    before_value(json);
    assert(json->depth < JSON_WRITER_MAX_DEPTH);
    buffer_putc(json->text, opening);
    json->closing[json->depth] = closing;
    json->has_items[json->depth] = false;
    json->depth++;
}

static void end(struct json_writer *json, char closing)
{
    assert(json->depth && !json->after_key && json->closing[json->depth - 1] == closing);
    json->depth--;
    json_writer_break_line(json);
    buffer_putc(json->text, closing);
}

void json_begin_object(struct json_writer *json)
{
    json_writer_begin(json, '{', '}');
}

void json_end_object(struct json_writer *json)
{
    end(json, '}');
}

void json_begin_array(struct json_writer *json)
{
    json_writer_begin(json, '[', ']');
}

void json_end_array(struct json_writer *json)
{
    end(json, ']');
}

void json_quote_key(struct buffer *out, const char *key, size_t len)
{
    buffer_putc(out, '"');
    escape_json(out, key, len);
    buffer_add(out, "\": ", 3);
}

static void before_key(struct json_writer *json)
{
    assert(json->depth && !json->after_key && json->closing[json->depth - 1] == '}');
    separate(json);
    json->after_key = true;
}

void json_key(struct json_writer *json, const char *key)
{
    before_key(json);
    json_quote_key(json->text, key, strlen(key));
    if (json->compact)
        json->text->count--; /* the blank */
}

void json_quoted_key(struct json_writer *json, const char *quoted, size_t len)
{
    before_key(json);
    buffer_add(json->text, quoted, len);
}

void json_emit_string(struct json_writer *json, const char *s, size_t len)
{
    before_value(json);
    buffer_putc(json->text, '"');
    escape_json(json->text, s, len);
    buffer_putc(json->text, '"');
}

void json_emit_text(struct json_writer *json, const char *s)
{
    if (s)
        json_emit_string(json, s, strlen(s));
    else
        json_emit_null(json);
}

void json_emit_integer(struct json_writer *json, int64_t value)
{
    before_value(json);
    exact_add_integer(json->text, value);
}

void json_emit_double(struct json_writer *json, double value)
{
    if (!isfinite(value)) {
        json_emit_null(json);
        return;
    }
    before_value(json);
    exact_add_double(json->text, value);
}

void json_emit_bool(struct json_writer *json, bool value)
{
    before_value(json);
    buffer_puts(json->text, value ? "true" : "false");
}

void json_emit_null(struct json_writer *json)
{
    before_value(json);
    buffer_add(json->text, "null", 4);
}

void json_newline(struct json_writer *json)
{
    json->line_due = true;
}

void json_add_text(struct json_writer *json, const char *key, const char *value)
{
    json_key(json, key);
    json_emit_text(json, value);
}

void json_add_integer(struct json_writer *json, const char *key, int64_t value)
{
    json_key(json, key);
    json_emit_integer(json, value);
}

void json_add_bool(struct json_writer *json, const char *key, bool value)
{
    json_key(json, key);
    json_emit_bool(json, value);
}
