/* Brackets are counted, not matched: metadata is small and usually valid. */

#include "ingest/json_text.h"

static void skip_blanks(struct json_pull *in)
{
    while (in->at < in->end && json_is_blank(*in->at))
        in->at++;
}

bool json_enter(struct json_pull *in, char bracket)
{
    skip_blanks(in);
    if (in->at >= in->end || *in->at != bracket)
        return false;
    in->at++;
    return true;
}

bool json_enter_or_skip(struct json_pull *in, char bracket)
{
    return json_enter(in, bracket) || (json_skip(in) && false);
}

/* Skip blanks and commas. Is there something other than CLOSE? Consumes CLOSE. */
static bool more_before(struct json_pull *in, char close)
{
    while (in->at < in->end && (json_is_blank(*in->at) || *in->at == ','))
        in->at++;
    if (in->at >= in->end)
        return false;
    if (*in->at == close) {
        in->at++;
        return false;
    }
    return true;
}

/* The closing quote of the string that begins after AT, or END. */
static const char *string_end(const char *at, const char *end)
{
    while (at < end && *at != '"')
        at += *at == '\\' && at + 1 < end ? 2 : 1;
    return at < end ? at : end;
}

bool json_next_key(struct json_pull *in, struct json_text *key)
{
    if (!more_before(in, '}') || *in->at != '"')
        return false;
    const char *start = in->at + 1, *close = string_end(start, in->end);
    if (close == in->end)
        return false;
    *key = (struct json_text){ start, (size_t)(close - start), true };
    in->at = close + 1;
    skip_blanks(in);
    if (in->at >= in->end || *in->at != ':')
        return false;
    in->at++;
    return true;
}

bool json_next_element(struct json_pull *in)
{
    return more_before(in, ']');
}

bool json_read(struct json_pull *in, struct json_text *value)
{
    skip_blanks(in);
    const char *start = in->at, *at = start;
    if (at >= in->end)
        return false;
    if (*at == '"') {
        const char *close = string_end(at + 1, in->end);
        if (close == in->end)
            return false;
        *value = (struct json_text){ start + 1, (size_t)(close - start - 1), true };
        in->at = close + 1;
        return true;
    }
    size_t depth = 0;
    for (; at < in->end; at++) {
        if (*at == '"') {
            at = string_end(at + 1, in->end);
            if (at == in->end)
                return false;
        } else if (*at == '{' || *at == '[') {
            depth++;
        } else if (*at == '}' || *at == ']') {
            if (depth == 0)
                break;
            if (--depth == 0) {
                at++;
                break;
            }
        } else if (depth == 0 && (*at == ',' || json_is_blank(*at))) {
            break;
        }
    }
    if (depth || at == start)
        return false;
    *value = (struct json_text){ start, (size_t)(at - start), false };
    in->at = at;
    return true;
}

bool json_skip(struct json_pull *in)
{
    struct json_text ignored;
    return json_read(in, &ignored);
}

void json_text_decode(const struct json_text *text, struct buffer *out)
{
    buffer_clear(out);
    if (text->is_string)
        json_unescape(text->at, text->at + text->len, out);
    else
        buffer_add(out, text->at, text->len);
    buffer_add(out, "", 0);
}

bool json_text_is(const struct json_text *text, const char *word)
{
    size_t len = strlen(word);
    return text->len == len && memcmp(text->at, word, len) == 0;
}

int64_t json_text_integer(const struct json_text *text, int64_t missing)
{
    int64_t value;
    return json_integer(text->at, text->at + text->len, &value) ? value : missing;
}

int64_t json_read_integer(struct json_pull *in, int64_t missing)
{
    struct json_text value;
    return json_read(in, &value) ? json_text_integer(&value, missing) : missing;
}
