/*
 * chrome.c - the Chrome trace format: who writes it, and how it is told from other files.
 */
#include "ingest/chrome.h"

#include "ingest/json_text.h"
#include <string.h>

/* The first byte that is neither blank, comma nor byte order mark; LEN when there is none. */
static size_t first_byte(const char *bytes, size_t len)
{
    size_t at = len >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    while (at < len && json_is_blank(bytes[at]))
        at++;
    return at;
}

static size_t skip(const char *bytes, size_t len, size_t at)
{
    while (at < len && (json_is_blank(bytes[at]) || bytes[at] == ','))
        at++;
    return at;
}

static int sniff_chrome(const char *bytes, size_t len)
{
    size_t at = first_byte(bytes, len);
    if (at == len || (bytes[at] != '{' && bytes[at] != '['))
        return 0;
    char bracket = bytes[at];
    at = skip(bytes, len, at + 1);
    if (at == len)
        return 30;
    if (bracket == '[')
        return bytes[at] == '{' || bytes[at] == ']' ? 80 : 0;
    return bytes[at] == '"' || bytes[at] == '}' ? 60 : 0;
}

const struct format format_chrome = {
    .name = "Chrome JSON",
    .description = "PyTorch (Kineto), TensorFlow, JAX, VizTracer, Chrome: trace events as JSON",
    .sniff = sniff_chrome,
    .read = chrome_read_windows,
};
