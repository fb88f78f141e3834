#include "cli/convert/parts.h"

#include "base/escape.h"
#include "ingest/json_text.h"

bool json_value_is_plain(const char *text, size_t len)
{
    return !ANY(i, len, text[i] < ' ' || text[i] > '~') && json_is_value(text, len);
}

/* The quote that ends the string whose text begins at AT. */
static const char *end_of_string(const char *at)
{
    for (; *at != '"'; at++)
        if (*at == '\\')
            at++;
    return at;
}

void json_value_append(struct buffer *out, const char *text, size_t len)
{
    if (!json_is_value(text, len)) {
        escape_json_string(out, text, len);
        return;
    }
    SCOPED struct buffer string = { 0 };
    for (const char *at = text; at < text + len; at++) {
        if (*at != '"') {
            buffer_putc(out, *at);
            continue;
        }
        const char *end = end_of_string(at + 1);
        json_unescape(at + 1, end, &string);
        escape_json_string(out, string.at ? string.at : "", string.count);
        at = end;
    }
}
