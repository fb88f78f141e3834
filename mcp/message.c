#include "mcp/message.h"

#include "base/unicode.h"

static bool is_utf8(const char *text, size_t len)
{
    uint32_t character;
    for (size_t at = 0; at < len; at += utf8_decode(text + at, len - at, &character)) {
        utf8_decode(text + at, len - at, &character);
        if (character == UTF8_INVALID || character == 0)
            return false;
    }
    return true;
}

bool message_is_object(const struct json_text *value)
{
    return value->len > 0 && !value->is_string && value->at[0] == '{';
}

bool message_is_array(const struct json_text *value)
{
    return value->len > 0 && !value->is_string && value->at[0] == '[';
}

bool message_is_integer(const struct json_text *value)
{
    size_t minus = value->len > 0 && !value->is_string && value->at[0] == '-';
    return !ANY_FROM(i, minus, value->len, value->is_string || value->at[i] < '0' || value->at[i] > '9') &&
           !value->is_string && value->len > minus;
}

bool message_string(const struct json_text *value, struct buffer *out)
{
    if (!value->is_string || memmem(value->at, value->len, "\\u0000", 6))
        return false;
    json_text_decode(value, out);
    buffer_putc(out, '\0');
    out->count--;
    return true;
}

static bool is_key(const struct json_text *key, const char *word)
{
    struct buffer decoded = { 0 };
    if (!memchr(key->at, '\\', key->len))
        return json_text_is(key, word);
    bool is = message_string(key, &decoded) && strcmp(decoded.at, word) == 0;
    buffer_release(&decoded);
    return is;
}

bool message_member(const struct json_text *object, const char *key, struct json_text *value)
{
    struct json_text name, member;
    bool found = false;
    if (!message_is_object(object))
        return false;
    struct json_pull in = { object->at, object->at + object->len };
    if (!json_enter(&in, '{'))
        return false;
    while (json_next_key(&in, &name) && json_read(&in, &member))
        if (is_key(&name, key)) {
            *value = member;
            found = true;
        }
    return found;
}

/* The id as it was written; false if it is none that a request may have. */
static bool read_id(const struct json_text *object, struct json_text *id)
{
    if (!message_member(object, "id", id))
        return false;
    if (id->is_string) {
        *id = (struct json_text){ id->at - 1, id->len + 2, true };
        return true;
    }
    bool good = message_is_integer(id);
    if (!good)
        id->len = 0;
    return good;
}

static void read_object(const struct json_text *object, struct message *message)
{
    struct json_text value;
    struct buffer text = { 0 };
    bool has_id = message_member(object, "id", &value), good_id = read_id(object, &message->id);
    bool version =
        message_member(object, "jsonrpc", &value) && value.is_string && json_text_is(&value, "2.0");
    bool has_method = message_member(object, "method", &value);
    message->kind = MESSAGE_INVALID;
    if (has_method && message_string(&value, &text))
        message->method = mem_strdup(text.at);
    buffer_release(&text);
    if (message_member(object, "params", &value)) {
        message->bad_params = !message_is_object(&value);
        if (!message->bad_params)
            message->params = value;
    }
    if (!version)
        return;
    if (!has_method && (message_member(object, "result", &value) || message_member(object, "error", &value)))
        message->kind = MESSAGE_RESPONSE;
    else if (message->method && !has_id)
        message->kind = MESSAGE_NOTIFICATION;
    else if (message->method && good_id)
        message->kind = MESSAGE_REQUEST;
}

void message_read(const char *line, size_t len, struct message *message)
{
    struct json_pull in = { line, line + len };
    struct json_text value;
    *message = (struct message){ .kind = MESSAGE_NO_JSON };
    if (!is_utf8(line, len) || !json_is_value(line, len) || !json_read(&in, &value))
        return;
    message->kind = MESSAGE_INVALID;
    if (message_is_array(&value))
        message->kind = MESSAGE_BATCH;
    else if (message_is_object(&value))
        read_object(&value, message);
}
